/* base/error.h - the one error type.
 *
 * A function that can fail returns enum error_code, fills *err exactly when
 * that is not OK, and then leaves its other outputs untouched. fail() fills
 * and returns in one statement, TRY() passes a failure up unchanged.
 *
 * What a client sent wrong is collected with invalid(), so that one answer
 * names every mistake: check everything, then `return err->code`.
 */
#ifndef GRIDPLAN_BASE_ERROR_H
#define GRIDPLAN_BASE_ERROR_H

#include "models/base/arena.h"
#include "models/base/error_codes.h"
#include "models/base/names.h"

#include <stdint.h>

enum error_code {
#define X(symbol, status, name, title, cause, remedy) symbol,
    ERROR_CODES(X)
#undef X
};

struct error_kind {
    int http_status;
    const char *name;           /* on the wire, stable */
    const char *title;          /* one line for people, the same for every occurrence */
    const char *cause, *remedy; /* "" for what is never sent */
};

/* Indexed by enum error_code. */
extern const struct error_kind error_kinds[];

enum item_code {
#define X(symbol, name, title, cause, remedy) symbol,
    ITEM_CODES(X)
#undef X
        ITEM_CODE_COUNT
};

/* A kind of mistake, for people: what leads to it, and what to do then. */
struct item_kind {
    const char *name; /* on the wire, stable */
    const char *title, *cause, *remedy;
};

/* Indexed by enum item_code. */
extern const struct item_kind item_kinds[];

/* One mistake in a request. */
struct error_item {
    enum item_code code;
    const char *pointer;        /* JSON Pointer to the value, "" for the whole body */
    const char *in;             /* "query", "path", "header" instead of the body; NULL */
    const char *name;           /* of that parameter or header field; NULL */
    const char *detail;         /* what was found and what is expected */
    const char *hint;           /* one sentence: what to do; NULL: none */
    const char *const *allowed; /* what would be accepted, nearest first; NULL: none */
    size_t allowed_count;
    const double *allowed_number; /* likewise, the one that is; NULL: none */
    const char *amount;           /* of which too little is free: its name; NULL: none */
    double needed, free;
    const char *const *owners; /* who has it; NULL: not said */
    size_t owner_count;
    uint64_t line; /* of NDJSON, from 1; 0: the body has none */
    struct error_item *next;
};

enum {
    ERROR_ITEMS_MAX = 100,  /* further mistakes are only counted */
    ERROR_ALLOWED_MAX = 20, /* values that are named */
};

struct error {
    enum error_code code;
    char field[128];             /* JSON Pointer at fault; "" if none */
    char text[384];              /* for the caller: what is wrong, what to do next */
    int retry_after_s;           /* with 429 and 503; 0: not said */
    const char *in, *name;       /* without items: as those of an item; NULL */
    const char *hint;            /* likewise */
    const char *violated_policy; /* the quota that refused it; NULL: none */
    bool lacks_lease;    /* ERR_TOO_LARGE is for lack of memory that others have */
    struct arena *arena; /* where items go; NULL: only the first is kept */
    struct error_item *first, *last;
    struct error_item *noted; /* by the last invalid(); NULL: there was no room */
    size_t item_count;        /* found, also beyond ERROR_ITEMS_MAX */
};

/* Fills *err and returns `code`. `field` is a JSON Pointer or "". */
enum error_code fail(struct error *err, enum error_code code, const char *field,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds one mistake of the client and returns ERR_INVALID. The pointer of a query
 * parameter is "?/NAME". */
enum error_code invalid(struct error *err, const char *pointer, enum item_code code,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/* As fail(), for one mistake in a request header; `header` must be a string literal. */
enum error_code fail_header(struct error *err, enum error_code code, const char *header,
                            enum item_code item, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The mistakes that were noted are of a state that does not allow it: ERR_CONFLICT, not
 * ERR_INVALID. Returns that. */
enum error_code error_is_conflict(struct error *err);

/* What to do about the mistake that the last invalid() noted. */
void error_hint(struct error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What would be accepted instead of `value` there: up to ERROR_ALLOWED_MAX of the names
 * (which end at a NULL before `count`), the nearest first. The names must outlive the
 * error. NULL `value`: in their order. */
void error_allow(struct error *err, const char *value, const char *const *names,
                 size_t count);
/* Likewise for names that are no array (names.h). */
void error_allow_in(struct error *err, const char *value, names_at_fn *at,
                    const void *list);
void error_allow_number(struct error *err, double number);

/* Of what too little is free (NULL: of nothing), and who has it, as of leases. The texts
 * must outlive the error. */
void error_short(struct error *err, const char *amount, double needed, double free,
                 const char *const *owners, size_t owner_count);

/* Where the mistake is, if not in the body: `in` is "query", "path" or "header". Both
 * must outlive the error. */
void error_place(struct error *err, const char *in, const char *name);

/* The line of NDJSON, from 1, that the mistake is in. */
void error_at_line(struct error *err, uint64_t line);

/* Adds a mistake of another list, with all that belongs to it; `prefix` goes before its
 * pointer. Copies everything. */
enum error_code invalid_again(struct error *err, const char *prefix,
                              const struct error_item *item);

#define TRY(call)                       \
    do {                                \
        enum error_code code_ = (call); \
        if (code_ != OK)                \
            return code_;               \
    } while (0)

/* What every allocation in a request says when it gets NULL: ERR_TOO_LARGE, which is
 * answered as ERR_BUSY when err->arena was refused a lease. */
enum error_code fail_memory(struct error *err);

#endif
