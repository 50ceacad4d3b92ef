/* json.h - structs described to JSON by tables.
 *
 * One row per member (name, type, bounds, a line of documentation) serves
 * parsing, validation, printing and the API description. The macros take the
 * C member's name as the JSON name and check its C type when compiling.
 *
 * Reading: the text is parsed by cJSON with every allocation in the request's
 * arena, then bound to a plain struct. Refused are: what is not JSON or has
 * text behind it, invalid UTF-8, U+0000 in a string, numbers beyond double,
 * nesting beyond JSON_DEPTH_MAX, repeated and unknown members (with the nearest
 * known name), wrong types, values out of bounds, missing members, too long
 * lists. All mistakes are collected in *err, each with its JSON Pointer.
 *
 * A table whose only row is a JSON_KIND stands for one of several objects: the
 * member "kind" of the JSON says which, and without it the first is meant.
 * With JSON_KIND_HINTED the values of a second member tell the kind of an object that
 * lacks it.
 *
 * A member may have former names (JSON_WAS): the reader takes them as the member, and
 * tells the caller; they are neither printed nor described.
 *
 * Printing: a member without a value is left out when its row is JSON_OPTIONAL, and null
 * when it is JSON_MAY_BE_NULL. No value is: NAN; a NULL text, RAW or object pointer; an
 * empty list (without JSON_OPTIONAL it is []); an INTEGER of JSON_NO_INTEGER and a CHOICE
 * of -1; a BOOLEAN of a JSON_OPTIONAL row that is false. A row with neither flag promises
 * a value: see json_broken_promises(). Numbers read back the same; those with more than
 * nine decimals have 17 digits.
 */
#ifndef GRIDPLAN_JSON_H
#define GRIDPLAN_JSON_H

#include "models/base/arena.h"
#include "models/base/error.h"
#include "models/base/value.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AMOUNT_LIST_MAX = 32, /* names in an object of amounts, */
    AMOUNT_NAME_MAX = 64, /* letters of one */
    JSON_DEPTH_MAX = 32,
    JSON_LIST_MAX = 1000000,   /* elements of a list, unless its row says less */
    JSON_TEXT_MAX_BYTES = 4096 /* of a string, unless its row says otherwise */
};

enum json_type {
    JSON_END,
    JSON_TYPE_NUMBER,  /* double */
    JSON_TYPE_INTEGER, /* uint64_t, at most 2^53 */
    JSON_TYPE_BOOLEAN, /* bool */
    JSON_TYPE_TEXT,    /* const char * */
    JSON_TYPE_CHOICE,  /* enum: index into choices */
    JSON_TYPE_INSTANT, /* double: seconds since the epoch; RFC 3339 in JSON, or a number
                        */
    JSON_TYPE_OBJECT,  /* struct X, or const struct X * when JSON_POINTER is set */
    JSON_TYPE_LIST,    /* const struct X * and a count */
    JSON_TYPE_NUMBERS, /* const double * and a count; null reads as NAN if nullable */
    JSON_TYPE_TEXTS,   /* const char *const * and a count */
    JSON_TYPE_VALUES,  /* const struct named_value * and a count: an object of scalars */
    JSON_TYPE_RAW,     /* const char *: any JSON, kept as text */
    JSON_TYPE_KIND,    /* struct json_of_kind: the whole object, of one of the kinds */
};

enum json_flag {
    JSON_REQUIRED = 1, /* reading: must be there */
    JSON_NULLABLE =
        2, /* reading: null is taken as absent; NUMBERS: elements may be null */
    JSON_POINTER = 4,       /* OBJECT: the member is a pointer, NULL when absent */
    JSON_ABOVE_MIN = 8,     /* NUMBER: min itself is refused */
    JSON_OPTIONAL = 16,     /* printing: leave the member out when it has no value */
    JSON_UNIQUE_IDS = 32,   /* LIST: the elements' "id" members must differ */
    JSON_OR_NUMBER = 64,    /* OBJECT: reading: a number stands for {"value": number} */
    JSON_MAY_BE_NULL = 128, /* printing: null when there is no value */
    JSON_OPEN = 256,       /* CHOICE, TEXT with choices: of an answer; a later version may
                              know more words */
    JSON_BOUND_ONLY = 512, /* the preset means "not given": the description has none */
    JSON_OR_TEXT = 1024,   /* LIST: reading: a string stands for {first member: string} */
    JSON_PERCENT = 2048,   /* NUMBER: a ratio, of which the C member is the percent */
    JSON_TIME_LIMIT = 4096,     /* NUMBER: the handler refuses what is above the setting
                                   time_limit_max_s; the description says what that is, */
    JSON_RUN_TIME_LIMIT = 8192, /* or, of what may run without a client, the larger of
                                   it and simulation_time_limit_s */
    JSON_AMOUNTS_ONLY = 16384,  /* VALUES: names of amounts, each with a number, */
    JSON_ALL_AMOUNTS = 32768,   /* cpus, memory_bytes and disk_bytes among them; bytes up
                                   to AMOUNT_BYTES_MAX */
    JSON_OR_BOOLEAN = 65536,    /* OBJECT with JSON_POINTER: reading: true stands for {},
                                   false for a member that is absent */
    JSON_MAYBE = 131072,        /* BOOLEAN: the C member is a double, 1 or 0, and NAN when
                                   absent */
    JSON_WHOLE = 262144         /* NUMBER, NUMBERS: whole numbers, which may be absent */
};

struct json_object;
struct policy;

/* Words that members of several answers have, as a schema of its own: names of policies,
 * and others. */
struct json_words {
    const char *name;                   /* schema name, "QueuePolicy" */
    const char *doc;                    /* one line */
    const struct policy *const *tables; /* ended by NULL */
    const char *const *others;          /* ended by NULL; NULL: none */
};

/* A name that is no member of a table, and what to say to who writes it. */
struct json_note {
    const char *name, *hint;
};

/* One of the objects that a JSON_KIND row stands for. Its table has a member "kind"
 * of its own, with this name as the only choice. */
struct json_kind {
    const char *name;
    const struct json_object *of;
};

/* A value of a JSON_KIND_HINTED row's second member, and the kind that it means. */
struct json_hint {
    const char *value, *kind;
};

/* An object of one of several kinds. */
struct json_of_kind {
    size_t kind; /* index into the row's kinds */
    void *value; /* the struct of its table; printing NULL: {} */
};

/* A former name of a member, or one of others. */
struct json_alias {
    const char *name;
    double factor; /* NUMBER, INTEGER, NUMBERS: what its values are multiplied by; 0: as
                      they are; below 0: they are rounded up */
};

struct json_field {
    const char *name;              /* JSON name, the C member's */
    const char *doc;               /* one line: meaning, unit, default */
    const struct json_object *of;  /* OBJECT, LIST: the element */
    const char *const *choices;    /* CHOICE; TEXT: known words, if any; ended by NULL */
    const struct json_kind *kinds; /* KIND: ended by {0} */
    const char *hint_member;       /* KIND: the second member; NULL: none */
    const struct json_hint *hints; /* KIND: ended by {0} */
    double min, max; /* NUMBER, INTEGER, NUMBERS elements: inclusive bounds; TEXT, lists:
                        length */
    double preset;   /* NUMBER, INTEGER, BOOLEAN, CHOICE, INSTANT when absent */
    size_t offset;   /* of the member */
    size_t count_offset; /* of the count, a size_t */
    enum json_type type;
    unsigned flags;
    const struct json_alias *aliases; /* ended by {0}; NULL: none */
    size_t least; /* LIST, TEXTS, NUMBERS: reading: elements that there must be */
    const char *const *not_with;    /* reading: members that exclude it, ended by NULL */
    const char *const *unless;      /* reading: it must be there when none of these is, */
    const char *const *with;        /* and with it all of these */
    const struct json_words *words; /* TEXT of an answer: known words, for choices */
    const struct json_note *notes;  /* the end of a table: ended by {0}; NULL: none */
};

struct json_object {
    const char *name;                /* schema name, "PlacementRequest" */
    const char *doc;                 /* one line */
    size_t size;                     /* sizeof the struct */
    const struct json_field *fields; /* ended by {0} */
};

/* An offset that compiles only if the member has the type. */
#define JSON_AT(T, member, type) \
    (offsetof(T, member) + 0 * sizeof(&((T *)0)->member == (type *)0))

#define JSON_NO_INTEGER  UINT64_MAX /* an INTEGER without a value */
#define AMOUNT_MAX       1e9        /* of a named amount */
#define AMOUNT_BYTES_MAX 1e18       /* of an amount in bytes */
#define JSON_LARGEST     1e308      /* bound for a number that has no other */
#define JSON_EXACT \
    9007199254740991.0 /* largest integer that JSON carries safely: 2^53 - 1 */

/* Behind the text of a row: former names, as JSON_WAS({"run_s", 0}, {"run_ms", 0.001}).
 */
#define JSON_WAS(...)                      \
    .aliases = (const struct json_alias[]) \
    {                                      \
        __VA_ARGS__,                       \
        {                                  \
            0                              \
        }                                  \
    }

/* Behind the text of a row of a list: it has so many elements at least. */
#define JSON_LEAST(count) .least = count

/* Instead of the {0} that ends a table: what to say to who writes one of these names, in
 * snake_case, as JSON_END_NOTES({"id", "it stands in the path"}). */
#define JSON_END_NOTES(...)                 \
    {                                       \
        .notes = (const struct json_note[]) \
        {                                   \
            __VA_ARGS__,                    \
            {                               \
                0                           \
            }                               \
        }                                   \
    }

/* Behind the text of a row: the mistake `conflict` when it is given together with one of
 * these; `required` when neither it is given nor one of these; `required` at those of
 * these that are missing when it is given. null and an empty list are not given. A row
 * without a value of its own (BOOLEAN, a preset) says nothing by its preset. */
#define JSON_NAMES(...)   \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }
#define JSON_NOT_WITH(...) .not_with = JSON_NAMES(__VA_ARGS__)
#define JSON_UNLESS(...)   .unless = JSON_NAMES(__VA_ARGS__)
#define JSON_WITH(...)     .with = JSON_NAMES(__VA_ARGS__)

#define JSON_NUMBER(T, m, lo, hi, dflt, flag, ...)                              \
    {                                                                           \
        .name = #m, .type = JSON_TYPE_NUMBER, .offset = JSON_AT(T, m, double),  \
        .min = lo, .max = hi, .preset = dflt, .flags = flag, .doc = __VA_ARGS__ \
    }
/* A ratio, named `ratio`, 0.25 where the C member is 25 (percent); bounds are the
 * ratio's. */
#define JSON_RATIO(T, ratio, m, lo, hi, flag, ...)                                 \
    {                                                                              \
        .name = #ratio, .type = JSON_TYPE_NUMBER, .offset = JSON_AT(T, m, double), \
        .min = lo, .max = hi, .preset = NAN, .flags = (flag) | JSON_PERCENT,       \
        .doc = __VA_ARGS__                                                         \
    }
#define JSON_INTEGER(T, m, lo, hi, dflt, flag, ...)                               \
    {                                                                             \
        .name = #m, .type = JSON_TYPE_INTEGER, .offset = JSON_AT(T, m, uint64_t), \
        .min = lo, .max = hi, .preset = dflt, .flags = flag, .doc = __VA_ARGS__   \
    }
#define JSON_BOOLEAN(T, m, dflt, flag, ...)                                   \
    {                                                                         \
        .name = #m, .type = JSON_TYPE_BOOLEAN, .offset = JSON_AT(T, m, bool), \
        .preset = dflt, .flags = flag, .doc = __VA_ARGS__                     \
    }
#define JSON_TEXT(T, m, flag, ...)                                                 \
    {                                                                              \
        .name = #m, .type = JSON_TYPE_TEXT, .offset = JSON_AT(T, m, const char *), \
        .max = JSON_TEXT_MAX_BYTES, .flags = flag, .doc = __VA_ARGS__              \
    }
#define JSON_ID(T, m, flag, ...)                                                   \
    {                                                                              \
        .name = #m, .type = JSON_TYPE_TEXT, .offset = JSON_AT(T, m, const char *), \
        .min = 1, .max = 256, .flags = flag, .doc = __VA_ARGS__                    \
    }
#define JSON_CHOICE(T, m, names, dflt, flag, ...)                                \
    {                                                                            \
        .name = #m, .type = JSON_TYPE_CHOICE, .choices = names, .preset = dflt,  \
        .offset = offsetof(T, m) +                                               \
                  0 * sizeof(char[sizeof(((T *)0)->m) == sizeof(int) ? 1 : -1]), \
        .flags = flag, .doc = __VA_ARGS__                                        \
    }
/* A TEXT of an answer that is one of these names today. */
#define JSON_WORD(T, m, names, flag, ...)                                   \
    {                                                                       \
        .name = #m, .type = JSON_TYPE_TEXT, .choices = names,               \
        .offset = JSON_AT(T, m, const char *), .flags = (flag) | JSON_OPEN, \
        .doc = __VA_ARGS__                                                  \
    }
/* `m` without the trailing _s of the C member: observed_at for observed_at_s. */
#define JSON_INSTANT(T, m, flag, ...)                                               \
    {                                                                               \
        .name = #m, .type = JSON_TYPE_INSTANT, .offset = JSON_AT(T, m##_s, double), \
        .preset = NAN, .flags = flag, .doc = __VA_ARGS__                            \
    }
#define JSON_OBJECT(T, m, ctype, table, flag, ...)                            \
    {                                                                         \
        .name = #m, .type = JSON_TYPE_OBJECT, .offset = JSON_AT(T, m, ctype), \
        .of = table, .flags = flag, .doc = __VA_ARGS__                        \
    }
#define JSON_LIST(T, m, counter, ctype, table, hi, flag, ...)                       \
    {                                                                               \
        .name = #m, .type = JSON_TYPE_LIST, .offset = JSON_AT(T, m, const ctype *), \
        .count_offset = JSON_AT(T, counter, size_t), .of = table, .max = hi,        \
        .flags = flag, .doc = __VA_ARGS__                                           \
    }
/* Every element between lo and hi; the length is bounded by JSON_LIST_MAX. */
#define JSON_NUMBERS(T, m, counter, lo, hi, flag, ...)                                  \
    {                                                                                   \
        .name = #m, .type = JSON_TYPE_NUMBERS, .offset = JSON_AT(T, m, const double *), \
        .count_offset = JSON_AT(T, counter, size_t), .min = lo, .max = hi,              \
        .flags = flag, .doc = __VA_ARGS__                                               \
    }
#define JSON_TEXTS(T, m, counter, hi, flag, ...)                               \
    {                                                                          \
        .name = #m, .type = JSON_TYPE_TEXTS,                                   \
        .offset = JSON_AT(T, m, const char *const *),                          \
        .count_offset = JSON_AT(T, counter, size_t), .max = hi, .flags = flag, \
        .doc = __VA_ARGS__                                                     \
    }
#define JSON_VALUES(T, m, counter, flag, ...)                                   \
    {                                                                           \
        .name = #m, .type = JSON_TYPE_VALUES,                                   \
        .offset = JSON_AT(T, m, const struct named_value *),                    \
        .count_offset = JSON_AT(T, counter, size_t), .max = 256, .flags = flag, \
        .doc = __VA_ARGS__                                                      \
    }
/* Amounts by name, at most AMOUNT_LIST_MAX, each from 0 to AMOUNT_MAX. */
#define JSON_AMOUNTS(T, m, counter, flag, ...)                               \
    {                                                                        \
        .name = #m, .type = JSON_TYPE_VALUES,                                \
        .offset = JSON_AT(T, m, const struct named_value *),                 \
        .count_offset = JSON_AT(T, counter, size_t), .max = AMOUNT_LIST_MAX, \
        .flags = (flag) | JSON_AMOUNTS_ONLY, .doc = __VA_ARGS__              \
    }
#define JSON_RAW(T, m, flag, ...)                                                 \
    {                                                                             \
        .name = #m, .type = JSON_TYPE_RAW, .offset = JSON_AT(T, m, const char *), \
        .flags = flag, .doc = __VA_ARGS__                                         \
    }
/* The only row of its table: objects are told apart by their member `kind`. */
#define JSON_KIND(T, m, table, ...)                                                      \
    {                                                                                    \
        .name = "kind", .type = JSON_TYPE_KIND,                                          \
        .offset = JSON_AT(T, m, struct json_of_kind), .kinds = table, .doc = __VA_ARGS__ \
    }
/* Without the member, `second` says the kind, by the rows of `hint_table`; without both,
 * or with another value, the first kind is meant. */
#define JSON_KIND_HINTED(T, m, table, second, hint_table, ...)          \
    {                                                                   \
        .name = "kind", .type = JSON_TYPE_KIND,                         \
        .offset = JSON_AT(T, m, struct json_of_kind), .kinds = table,   \
        .hint_member = #second, .hints = hint_table, .doc = __VA_ARGS__ \
    }

/* What reading took under former names, each pair of names once, as they came. */
struct json_rename {
    const char *old, *now;
    struct json_rename *next;
};

/* {0} to begin with; several texts may be read into one. */
struct json_renames {
    struct json_rename *first;
    size_t pair_count;
    size_t total_count; /* members */
};

/* Reads `length` bytes of JSON into *out, a struct of table->size bytes, which
 * is zeroed and filled with presets first. Texts and lists live in `a`, as does what is
 * added to *renames (NULL: nobody wants to know, as with what is stored). */
enum error_code json_read(const struct json_object *table, const char *text,
                          size_t length, void *out, struct json_renames *renames,
                          struct arena *a, struct error *err);

/* The bodies of bulk ingest: JSON, or NDJSON with an object a line, each on its
 * own; empty lines are skipped. */
struct json_lines {
    const void *items; /* of the table's struct: what could be read */
    size_t count;
    size_t refused_count;             /* lines that could not */
    const struct error_item *refused; /* why, each with its line */
    const uint64_t *line;             /* of each item, from 1; NULL: the body was JSON */
    bool is_single;                   /* ... and an object, not an array */
};

/* A JSON array of objects, or one object: all of them, or what is wrong. */
enum error_code json_read_list(const struct json_object *table, const char *text,
                               size_t length, struct json_lines *out,
                               struct json_renames *renames, struct arena *a,
                               struct error *err);

/* NDJSON: what can be read, and what is wrong with the other lines. */
enum error_code json_read_lines(const struct json_object *table, const char *text,
                                size_t length, struct json_lines *out,
                                struct json_renames *renames, struct arena *a,
                                struct error *err);

/* Query parameters are a struct too: numbers, booleans, instants, choices and
 * texts from their text forms, lists of texts or numbers with commas between; mistakes
 * have the pointer "?/name". */
struct query_pair {
    const char *name, *value;
};
enum error_code json_read_query(const struct json_object *table,
                                const struct query_pair *pairs, size_t pair_count,
                                void *out, struct json_renames *renames, struct arena *a,
                                struct error *err);

/* The tree of `text`, which cJSON makes in the arena; what it refuses: as above. */
struct cJSON;
enum error_code json_tree(const char *text, size_t length, struct cJSON **tree,
                          struct arena *a, struct error *err);

/* A tree as text: numbers keep their bits. Fails without memory only. */
enum error_code json_tree_text(const struct cJSON *v, const char **text, struct arena *a,
                               struct error *err);

/* A text that grows in an arena. When the arena is full, `failed` is set and
 * what follows is dropped: check once at the end. */
struct text_buffer {
    struct arena *arena;
    char *data;
    size_t length, size;
    bool failed;
    bool
        prints_request; /* members without a value are left out: what json_read() takes */
};

void text_add(struct text_buffer *b, const char *text, size_t length);
void text_addf(struct text_buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* At the end, outside of computations: `data` is a text, "" if nothing was added. */
enum error_code text_finish(struct text_buffer *b, struct error *err);

/* The text, for computations only (arena.h): one that failed leaves them. NULL: nothing
 * was added. */
char *text_end(struct text_buffer *b);

/* As it stands in a URL (RFC 3986); the slashes of a path stay. */
void text_add_encoded(struct text_buffer *b, const char *text, bool is_path);

/* From here on reading on this thread counts its work on a budget, and ends with
 * ERR_CANCELLED when it is spent; printing ends as without memory. NULL: on none. */
struct budget;
void json_count_on(struct budget *budget);
bool json_is_over(size_t steps);

/* Counts on it what else reading and printing takes: ERR_CANCELLED when it is spent. */
enum error_code json_go_on(size_t steps, struct error *err);

/* Appends *in, described by `table`, as compact JSON. */
void json_print(const struct json_object *table, const void *in, struct text_buffer *b);

/* How often a member without a value was printed as null although its row promises one,
 * since the process began. Such a row is a bug: tests abort at it, the service says it in
 * its log and in gridplan_contract_violations_total. */
uint64_t json_broken_promises(void);

/* Appends a JSON string or number; for texts that no table describes. */
void json_print_text(const char *text, struct text_buffer *b);
void json_print_number(double number, struct text_buffer *b);

/* Instants of the years 1 to 9999, which four digits can write. */
#define INSTANT_FIRST_S (-62135596800.0)
#define INSTANT_END_S   253402300800.0

/* RFC 3339 in UTC, microseconds only when there are any: at least 40 bytes. "" for
 * what is no such instant. */
const char *instant_print(double at_s, char *buffer, size_t size);
bool instant_read(const char *text, double *at_s);

/* A member of a JSON object as JSON text; NULL if there is none. Used to keep
 * parts of a request as they came. */
enum error_code json_replace_member(const char *object, size_t length, const char *name,
                                    const char *value, const char **changed,
                                    struct arena *a, struct error *err);

/* The value of a member of a JSON object as JSON text; NULL if there is none. */
enum error_code json_member(const char *object, const char *name, const char **value,
                            struct arena *a, struct error *err);

/* Where two JSON texts differ: pointers to the values that are not equal or only
 * in one of them, `limit` at most, none: they are equal. The order of members
 * does not matter, nor do members of the outermost object that `except` names
 * (ended by NULL). */
enum error_code json_differences(const char *left, const char *right,
                                 const char *const *except, size_t limit,
                                 const char *const **pointers, size_t *count,
                                 struct arena *a, struct error *err);

#endif
