/* expr.h - requirement and rank expressions over the names of a resource.
 *
 * A job says which resources will do (`arch == "i686" && cpu_mhz > 1000`) and
 * which it likes best (`-turnaround_s`). An expression is read once per request
 * and evaluated on every resource: names become slots, the caller fills one
 * struct expr_value per slot, and evaluation neither looks up a name nor
 * allocates, nor keeps any state. Logic has three values: a name without a value
 * is undefined, and so is whatever cannot be known without it.
 *
 * Source: spec gridway.md, sections 2.2 and 2.3; the two expressions are those of
 * seed 004_f687c06842f61aec.txt, section 3.
 * Cost: reading is linear in the text, but for distinct names (each is compared
 * with all before it) and regular expressions (below 256^2 steps each);
 * evaluation is one step per node at most, and a pattern match at most 256 steps
 * per byte of its subject.
 * Deviation: the spec bounds what makes regcomp(3) blow up, but nested `+` still
 * doubles its memory per level and regexec(3) allocates states without bound as
 * it matches. We have our own matcher (expr_regex.c) in the arena, so there is
 * nothing to release either. A backslash in a pattern must stand before a
 * character that is neither a letter nor a digit: GNU's \w and the like are not
 * POSIX.
 */
#ifndef GRIDPLAN_EXPR_H
#define GRIDPLAN_EXPR_H

#include "models/base/arena.h"
#include "models/base/error.h"
#include "models/base/value.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    EXPR_BYTES_MAX = 4096,   /* of the text */
    EXPR_DEPTH_MAX = 64,     /* brackets, braces, calls and prefix signs around a point;
                                chains like a + b + c do not count */
    EXPR_NODES_MAX = 1000,   /* values, names, operators, calls, lists */
    EXPR_PATTERN_MAX = 256,  /* bytes of a regular expression or a shell pattern */
    EXPR_SUBJECT_MAX = 1024, /* bytes; a pattern match on a longer text is undefined */
    EXPR_ARGUMENTS_MAX = 16, /* of min and max */
};

/* NATIVE is the language of spec 2.2. GRIDWAY reads GridWay job templates, with
 * integers only: literals are integers, the value of a name counts without its
 * fraction, and division truncates. */
enum expr_dialect { EXPR_NATIVE, EXPR_GRIDWAY };

/* The native dialect is the same for both. */
enum expr_purpose { EXPR_REQUIREMENT, EXPR_RANK };

/* What the service knows about a job and a resource: symbol, name, GridWay's name
 * for it, whether it changes while a plan fills slots. These names hide attributes
 * of the same name. GridWay's names are read as the name they stand for, in both
 * dialects; cpu_free is 100 * mips_free / mips_total. */
#define EXPR_DERIVED(X)                                           \
    X(EXPR_RESOURCE_ID, "resource_id", "hostname", false)         \
    X(EXPR_SITE_ID, "site_id", NULL, false)                       \
    X(EXPR_MIPS_TOTAL, "mips_total", NULL, false)                 \
    X(EXPR_MIPS_EXTERNAL, "mips_external", NULL, false)           \
    X(EXPR_MIPS_FREE, "mips_free", NULL, false)                   \
    X(EXPR_CPU_FREE, "cpu_free", NULL, false)                     \
    X(EXPR_N_MAX, "n_max", "nodecount", false)                    \
    X(EXPR_SLOTS_FREE, "slots_free", "queue_freenodecount", true) \
    X(EXPR_QUEUE_WAIT_S, "queue_wait_s", NULL, true)              \
    X(EXPR_EXECUTION_S, "execution_s", NULL, false)               \
    X(EXPR_TRANSFER_S, "transfer_s", NULL, true)                  \
    X(EXPR_TURNAROUND_S, "turnaround_s", NULL, true)

enum expr_name_kind {
#define X(symbol, name, alias, on_plan) symbol,
    EXPR_DERIVED(X)
#undef X
        EXPR_ATTRIBUTE, /* an attribute of the resource, or unknown */
};

struct expr_derived_name {
    const char *name;
    const char *alias; /* NULL: none */
    bool on_plan;
};

/* Indexed by enum expr_name_kind; EXPR_ATTRIBUTE entries. */
extern const struct expr_derived_name expr_derived_names[];

/* A number is finite; a boolean is the number 1 or 0. All bits zero: undefined. */
struct expr_value {
    enum value_type type;
    union {
        double number;
        const char *text;
    };
};

enum expr_truth { EXPR_FALSE, EXPR_TRUE, EXPR_UNDEFINED };

/* A name that occurs; its place in the list is its slot. */
struct expr_name {
    const char *name;    /* lower case, GridWay's aliases resolved */
    const char *written; /* as first written, for messages */
    enum expr_name_kind kind;
};

/* One operand of the outermost chain of `&&` (`&` in the gridway dialect). */
struct expr_clause {
    const char *text;          /* as written, without white space around it */
    const struct expr_op *ops; /* its part of the program */
    size_t op_count;
};

struct expr {
    const struct expr_name *names; /* distinct, in order of first use */
    size_t name_count;
    const struct expr_clause *clauses; /* in order; none if the text is blank */
    size_t clause_count;
    bool on_plan;        /* uses a name that changes while a plan fills slots */
    struct expr_op *ops; /* the program; see expr_internal.h */
    size_t op_count;
};

/* On how many resources a clause is untrue, and on how many it alone is: without
 * it they would qualify. */
struct expr_tally {
    size_t untrue;
    size_t alone;
};

/* How far a resource is from meeting a requirement. */
struct expr_miss {
    size_t untrue_count; /* clauses that are false or undefined; 0: it qualifies */
    double shortfall;    /* sum of expr_clause_shortfall(), >= 0 */
};

/* Reads `text`. A blank requirement is true; a blank rank is `-turnaround_s` (give
 * "0" for a job without an estimate). All memory is `a`'s, and so is *out; `text`
 * is not needed afterwards. ERR_INVALID: a mistake of kind "expression" at the
 * JSON pointer `pointer`, its detail beginning "column N: " with N counting bytes
 * from 1. */
enum error_code expr_parse(const char *text, enum expr_purpose purpose,
                           enum expr_dialect dialect, const char *pointer,
                           struct expr *out, struct arena *a, struct error *err);

/* The value with values[i] for names[i]. A text in it is a literal of the
 * expression or one of `values`. */
struct expr_value expr_eval(const struct expr *e, const struct expr_value *values);

/* As a requirement: only EXPR_TRUE passes; a number or a text counts as
 * EXPR_UNDEFINED. Stops at the first clause that is false. */
enum expr_truth expr_requirement(const struct expr *e, const struct expr_value *values);

/* As a rank: larger is better, a boolean is 1 or 0, NAN stands for undefined. */
double expr_rank(const struct expr *e, const struct expr_value *values);

/* One clause on its own, index < clause_count. */
enum expr_truth expr_clause_truth(const struct expr *e, size_t index,
                                  const struct expr_value *values);

/* 0 for a true clause. For an untrue `name op number` or `number op name`:
 * |value - number| / max(|number|, 1); for any other, or without a value: 1. */
double expr_clause_shortfall(const struct expr *e, size_t index,
                             const struct expr_value *values);

/* The clause in a form of its own: one space where it is to be, names in lower case and
 * without aliases, no brackets round it, `name op constant` in this order. The dialect is
 * that which it was read in. */
const char *expr_clause_canonical(const struct expr *e, size_t index,
                                  enum expr_dialect dialect, struct arena *a);

/* Slots of the names that the clause uses, in order and as often as it does; their
 * number, at most EXPR_NODES_MAX. */
size_t expr_clause_names(const struct expr *e, size_t index, size_t *slots);

/* A clause `name op number` or `number op name`: true where the value, which must be a
 * number or a boolean, is less than, equal to or greater than `number`, as the three
 * members say, and false otherwise. */
struct expr_threshold {
    bool less, equal, greater;
    bool whole; /* the value counts without its fraction */
    double number;
};

/* Is the clause of that form? It has one name then. */
bool expr_clause_threshold(const struct expr *e, size_t index,
                           struct expr_threshold *out);

/* Evaluates every clause on one resource and adds to tally[0 .. clause_count - 1].
 * `tally` may be NULL. */
struct expr_miss expr_tally_add(const struct expr *e, const struct expr_value *values,
                                struct expr_tally *tally);

/* Is `a` strictly nearer than `b`: fewer untrue clauses, then less shortfall. Go
 * through the resources in order and keep the first of equals. */
bool expr_miss_nearer(const struct expr_miss *a, const struct expr_miss *b);

/* Replaces every text that the expression compares with by intern(context, text),
 * which must return an equal text: texts that are the same pointer are equal
 * without a look at their bytes. */
void expr_intern(struct expr *e, const char *(*intern)(void *context, const char *text),
                 void *context);

/* Undefined, if x is not finite. */
static inline struct expr_value expr_number(double x)
{
    struct expr_value v = {VALUE_UNDEFINED, {0}};

    if (__builtin_isfinite(x)) {
        v.type = VALUE_NUMBER;
        v.number = x;
    }
    return v;
}

static inline struct expr_value expr_boolean(bool x)
{
    struct expr_value v = {VALUE_BOOLEAN, {x ? 1.0 : 0.0}};

    return v;
}

/* Undefined, if text is NULL. Keeps the pointer. */
static inline struct expr_value expr_text(const char *text)
{
    struct expr_value v = {VALUE_UNDEFINED, {0}};

    if (text) {
        v.type = VALUE_TEXT;
        v.text = text;
    }
    return v;
}

/* The value of an attribute; its name, in any case, is for the caller to match. */
static inline struct expr_value expr_attribute(const struct named_value *attribute)
{
    if (attribute->type == VALUE_NUMBER)
        return expr_number(attribute->number);
    if (attribute->type == VALUE_BOOLEAN)
        return expr_boolean(attribute->number != 0);
    return expr_text(attribute->type == VALUE_TEXT ? attribute->text : NULL);
}

#endif
