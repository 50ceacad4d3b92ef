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

/* symbol, HTTP status, name on the wire, title */
#define ERROR_CODES(X)                                                              \
    X(OK, 200, "ok", "Done")                                                        \
    X(ERR_MALFORMED, 400, "malformed", "The request cannot be read")                \
    X(ERR_UNAUTHENTICATED, 401, "unauthenticated", "A valid key is needed")         \
    X(ERR_FORBIDDEN, 403, "forbidden", "This is not allowed")                       \
    X(ERR_NOT_FOUND, 404, "not_found", "There is nothing of that name")             \
    X(ERR_METHOD, 405, "method_not_allowed", "The method does not fit the path")    \
    X(ERR_NOT_ACCEPTABLE, 406, "not_acceptable", "No such representation")          \
    X(ERR_SLOW_CLIENT, 408, "slow_client", "The request took too long to arrive")   \
    X(ERR_CONFLICT, 409, "conflict", "The state does not allow this now")           \
    X(ERR_STALE, 412, "stale", "The stored version is another one")                 \
    X(ERR_TOO_LARGE, 413, "too_large", "The request is larger than a limit")        \
    X(ERR_TARGET_LENGTH, 414, "target_too_long", "The path and query are too long") \
    X(ERR_MEDIA_TYPE, 415, "unsupported_media_type", "The content type is wrong")   \
    X(ERR_MISDIRECTED, 421, "misdirected", "The host is not served here")           \
    X(ERR_INVALID, 422, "invalid", "Some values are not acceptable")                \
    X(ERR_NO_CONDITION, 428, "precondition_required", "If-Match is needed")         \
    X(ERR_RATE_LIMITED, 429, "rate_limited", "Too many requests")                   \
    X(ERR_HEADER_LENGTH, 431, "header_too_large", "The header fields are too long") \
    X(ERR_CANCELLED, 499, "cancelled", "The client went away")                      \
    X(ERR_INTERNAL, 500, "internal", "The service failed")                          \
    X(ERR_UNAVAILABLE, 503, "unavailable", "A part of the service is down")         \
    X(ERR_BUSY, 503, "busy", "The service is at its limit")                         \
    X(ERR_WOULD_BLOCK, 500, "would_block", "Internal: a worker has to answer")

enum error_code {
#define X(symbol, status, name, title) symbol,
    ERROR_CODES(X)
#undef X
};

struct error_kind {
    int http_status;
    const char *name;  /* on the wire, stable */
    const char *title; /* one line for people, the same for every occurrence */
};

/* Indexed by enum error_code. */
extern const struct error_kind error_kinds[];

/* One mistake in a request. */
struct error_item {
    const char *pointer; /* JSON Pointer to the value, "" for the whole body */
    const char *kind;    /* "required", "unknown_member", "out_of_bounds" ... */
    const char *detail;  /* what was found and what is expected */
    const char
        *header; /* the request header that is wrong, instead of the pointer; NULL */
    struct error_item *next;
};

enum { ERROR_ITEMS_MAX = 100 }; /* further mistakes are only counted */

struct error {
    enum error_code code;
    char field[128];             /* JSON Pointer at fault; "" if none */
    char text[384];              /* for the caller: what is wrong, what to do next */
    int retry_after_s;           /* with 429 and 503; 0: not said */
    const char *violated_policy; /* the quota that refused it; NULL: none */
    bool lacks_lease;    /* ERR_TOO_LARGE is for lack of memory that others have */
    struct arena *arena; /* where items go; NULL: only the first is kept */
    struct error_item *first, *last;
    size_t item_count; /* found, also beyond ERROR_ITEMS_MAX */
};

/* Fills *err and returns `code`. `field` is a JSON Pointer or "". */
enum error_code fail(struct error *err, enum error_code code, const char *field,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds one mistake of the client and returns ERR_INVALID. `kind` must be a
 * string literal. */
enum error_code invalid(struct error *err, const char *pointer, const char *kind,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/* As fail(), for one mistake in a request header; `header` and `kind` must be string
 * literals. */
enum error_code fail_header(struct error *err, enum error_code code, const char *header,
                            const char *kind, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

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
