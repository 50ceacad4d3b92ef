/* expr.c - evaluating expressions; the program is made by expr_parse.c. */
#include "models/expr_internal.h"

#include <assert.h>
#include <fnmatch.h>
#include <math.h>
#include <string.h>

const struct expr_derived_name expr_derived_names[] = {
#define X(symbol, name, alias, on_plan) [symbol] = {name, alias, on_plan},
    EXPR_DERIVED(X)
#undef X
        [EXPR_ATTRIBUTE] = {NULL, NULL, false},
};

/* A boolean counts as 1 or 0. */
static bool is_number(const struct expr_value *v)
{
    return v->type == VALUE_NUMBER || v->type == VALUE_BOOLEAN;
}

static enum expr_truth truth_of(const struct expr_value *v)
{
    if (v->type != VALUE_BOOLEAN)
        return EXPR_UNDEFINED;
    return v->number != 0 ? EXPR_TRUE : EXPR_FALSE;
}

static struct expr_value value_of(enum expr_truth truth)
{
    return truth == EXPR_UNDEFINED ? expr_text(NULL) : expr_boolean(truth == EXPR_TRUE);
}

static enum expr_truth both(enum expr_truth a, enum expr_truth b)
{
    if (a == EXPR_FALSE || b == EXPR_FALSE)
        return EXPR_FALSE;
    return a == EXPR_TRUE && b == EXPR_TRUE ? EXPR_TRUE : EXPR_UNDEFINED;
}

static enum expr_truth either(enum expr_truth a, enum expr_truth b)
{
    if (a == EXPR_TRUE || b == EXPR_TRUE)
        return EXPR_TRUE;
    return a == EXPR_FALSE && b == EXPR_FALSE ? EXPR_FALSE : EXPR_UNDEFINED;
}

static enum expr_truth negation(enum expr_truth a)
{
    if (a == EXPR_UNDEFINED)
        return EXPR_UNDEFINED;
    return a == EXPR_TRUE ? EXPR_FALSE : EXPR_TRUE;
}

/* Does the order of a number to another, -1, 0 or 1, belong to the set? */
static enum expr_truth in_orders(unsigned how, int order)
{
    return how >> (order + 1) & 1 ? EXPR_TRUE : EXPR_FALSE;
}

static enum expr_truth compare_numbers(unsigned how, double a, double b)
{
    return in_orders(how, (a > b) - (a < b));
}

static enum expr_truth compare_texts(unsigned how, const char *a, const char *b)
{
    int order = a == b ? 0 : strcmp(a, b);

    return in_orders(how, (order > 0) - (order < 0));
}

static enum expr_truth compare(unsigned how, const struct expr_value *a,
                               const struct expr_value *b)
{
    if (is_number(a) && is_number(b))
        return compare_numbers(how, a->number, b->number);
    if (a->type == VALUE_TEXT && b->type == VALUE_TEXT)
        return compare_texts(how, a->text, b->text);
    return EXPR_UNDEFINED;
}

/* The value of a name as the dialect sees it. */
static struct expr_value load(const struct expr_op *op, const struct expr_value *values)
{
    struct expr_value v = values[op->at];

    if (op->integer && v.type == VALUE_NUMBER)
        v.number = trunc(v.number);
    return v;
}

/* OP_TEST: most clauses are nothing else. */
static enum expr_truth test(const struct expr_op *op, const struct expr_value *values)
{
    const struct expr_value *v = &values[op->at];

    if (op->value.type == VALUE_TEXT)
        return v->type == VALUE_TEXT ? compare_texts(op->how, v->text, op->value.text)
                                     : EXPR_UNDEFINED;
    if (!is_number(v))
        return EXPR_UNDEFINED;
    return compare_numbers(op->how, op->integer ? trunc(v->number) : v->number,
                           op->value.number);
}

static enum expr_truth match(const struct expr_op *op, const struct expr_value *v)
{
    size_t length;
    bool matches;

    if (v->type != VALUE_TEXT)
        return EXPR_UNDEFINED;
    length = strnlen(v->text, EXPR_SUBJECT_MAX + 1);
    if (length > EXPR_SUBJECT_MAX)
        return EXPR_UNDEFINED;
    if (op->code == OP_REGEX)
        return expr_regex_match(op->regex, v->text, length) ? EXPR_TRUE : EXPR_FALSE;
    matches = fnmatch(op->value.text, v->text, 0) == 0;
    return in_orders(op->how, matches ? 0 : 1);
}

/* Operations that replace the value on top. */
static struct expr_value apply_one(const struct expr_op *op, const struct expr_value *a)
{
    switch (op->code) {
    case OP_NOT:
        return value_of(negation(truth_of(a)));
    case OP_NEGATE:
        return is_number(a) ? expr_number(-a->number) : expr_text(NULL);
    case OP_PLUS:
        return is_number(a) ? expr_number(a->number) : expr_text(NULL);
    case OP_MATH1:
        return is_number(a) ? expr_number(op->math1(a->number)) : expr_text(NULL);
    case OP_IS_UNDEFINED:
        return expr_boolean(a->type == VALUE_UNDEFINED);
    default:
        return value_of(match(op, a));
    }
}

/* Operations that replace the two values on top. */
static struct expr_value apply_two(const struct expr_op *op, const struct expr_value *a,
                                   const struct expr_value *b)
{
    switch (op->code) {
    case OP_COMPARE:
        return value_of(compare(op->how, a, b));
    case OP_AND:
        return value_of(both(truth_of(a), truth_of(b)));
    case OP_OR:
        return value_of(either(truth_of(a), truth_of(b)));
    case OP_MATH2:
        return is_number(a) && is_number(b) ? expr_number(op->math2(a->number, b->number))
                                            : expr_text(NULL);
    default: /* OP_MEMBER_END */
        return *b;
    }
}

/* How many operations to skip; `top` stays or, for OP_POP_SKIP_FALSE, goes. */
static size_t skip(const struct expr_op *op, struct expr_value *top)
{
    enum expr_truth truth = truth_of(top);
    bool skips = true;

    if (op->code == OP_SKIP_TRUE)
        skips = truth == EXPR_TRUE;
    else if (op->code == OP_SKIP_FALSE || op->code == OP_POP_SKIP_FALSE)
        skips = truth == EXPR_FALSE;
    else if (op->code == OP_SKIP_UNDEFINED)
        skips = truth == EXPR_UNDEFINED;
    if (skips && op->code == OP_SKIP_UNDEFINED)
        *top = expr_text(NULL);
    return skips ? op->at : 0;
}

static struct expr_value run(const struct expr_op *op, size_t op_count,
                             const struct expr_value *values)
{
    const struct expr_op *end = op + op_count;
    struct expr_value stack[EXPR_STACK_MAX + 1];
    struct expr_value *top = stack; /* stack[0] stays unused */

    for (; op < end; op++) {
        assert(top < stack + EXPR_STACK_MAX);
        switch (op->code) {
        case OP_LITERAL:
            *++top = op->value;
            break;
        case OP_NAME:
            *++top = load(op, values);
            break;
        case OP_TEST:
            *++top = value_of(test(op, values));
            break;
        case OP_NOT:
        case OP_NEGATE:
        case OP_PLUS:
        case OP_MATH1:
        case OP_IS_UNDEFINED:
        case OP_REGEX:
        case OP_GLOB:
            assert(top > stack);
            *top = apply_one(op, top);
            break;
        case OP_SKIP_FALSE:
        case OP_SKIP_TRUE:
        case OP_SKIP_UNDEFINED:
        case OP_SKIP:
            assert(top > stack);
            op += skip(op, top);
            break;
        case OP_POP_SKIP_FALSE:
            assert(top > stack);
            op += skip(op, top--);
            break;
        case OP_MEMBER_FIRST:
            assert(top > stack + 1);
            *top = value_of(compare(ORDER_EQUAL, top - 1, top));
            break;
        case OP_MEMBER_NEXT:
            assert(top > stack + 2);
            top--;
            *top =
                value_of(either(truth_of(top), compare(ORDER_EQUAL, top - 1, top + 1)));
            break;
        default:
            assert(top > stack + 1);
            top--;
            *top = apply_two(op, top, top + 1);
        }
    }
    assert(top > stack);
    return *top;
}

struct expr_value expr_eval(const struct expr *e, const struct expr_value *values)
{
    return run(e->ops, e->op_count, values);
}

static enum expr_truth clause_truth(const struct expr_clause *clause,
                                    const struct expr_value *values)
{
    struct expr_value v;

    if (clause->op_count == 1 && clause->ops->code == OP_TEST)
        return test(clause->ops, values);
    v = run(clause->ops, clause->op_count, values);
    return truth_of(&v);
}

enum expr_truth expr_clause_truth(const struct expr *e, size_t index,
                                  const struct expr_value *values)
{
    return clause_truth(&e->clauses[index], values);
}

enum expr_truth expr_requirement(const struct expr *e, const struct expr_value *values)
{
    enum expr_truth all = EXPR_TRUE;

    for (size_t i = 0; i < e->clause_count; i++) {
        enum expr_truth truth = clause_truth(&e->clauses[i], values);

        if (truth == EXPR_FALSE)
            return EXPR_FALSE;
        if (truth == EXPR_UNDEFINED)
            all = EXPR_UNDEFINED;
    }
    return all;
}

double expr_rank(const struct expr *e, const struct expr_value *values)
{
    struct expr_value v = run(e->ops, e->op_count, values);

    return is_number(&v) ? v.number : (double)NAN;
}

/* Of an untrue clause. */
static double shortfall(const struct expr_clause *clause, const struct expr_value *values)
{
    const struct expr_op *op = clause->ops;
    struct expr_value v;
    double wanted;

    if (clause->op_count != 1 || op->code != OP_TEST || op->value.type != VALUE_NUMBER)
        return 1;
    v = load(op, values);
    if (!is_number(&v))
        return 1;
    wanted = op->value.number;
    return fabs(v.number - wanted) / fmax(fabs(wanted), 1);
}

double expr_clause_shortfall(const struct expr *e, size_t index,
                             const struct expr_value *values)
{
    const struct expr_clause *clause = &e->clauses[index];

    return clause_truth(clause, values) == EXPR_TRUE ? 0 : shortfall(clause, values);
}

size_t expr_clause_names(const struct expr *e, size_t index, size_t *slots)
{
    const struct expr_clause *clause = &e->clauses[index];
    size_t count = 0;

    for (size_t i = 0; i < clause->op_count; i++)
        if (clause->ops[i].code == OP_NAME || clause->ops[i].code == OP_TEST)
            slots[count++] = clause->ops[i].at;
    return count;
}

bool expr_clause_threshold(const struct expr *e, size_t index, struct expr_threshold *out)
{
    const struct expr_clause *clause = &e->clauses[index];
    const struct expr_op *op = clause->ops;

    if (clause->op_count != 1 || op->code != OP_TEST || !is_number(&op->value))
        return false;
    *out = (struct expr_threshold){
        .less = op->how & ORDER_LESS,
        .equal = op->how & ORDER_EQUAL,
        .greater = op->how & ORDER_GREATER,
        .whole = op->integer,
        .number = op->value.number,
    };
    return true;
}

struct expr_miss expr_tally_add(const struct expr *e, const struct expr_value *values,
                                struct expr_tally *tally)
{
    struct expr_miss miss = {0};
    size_t last = 0;

    for (size_t i = 0; i < e->clause_count; i++) {
        if (clause_truth(&e->clauses[i], values) == EXPR_TRUE)
            continue;
        last = i;
        miss.untrue_count++;
        miss.shortfall += shortfall(&e->clauses[i], values);
        if (tally)
            tally[i].untrue++;
    }
    if (tally && miss.untrue_count == 1)
        tally[last].alone++;
    return miss;
}

bool expr_miss_nearer(const struct expr_miss *a, const struct expr_miss *b)
{
    if (a->untrue_count != b->untrue_count)
        return a->untrue_count < b->untrue_count;
    return a->shortfall < b->shortfall;
}

void expr_intern(struct expr *e, const char *(*intern)(void *context, const char *text),
                 void *context)
{
    for (size_t i = 0; i < e->op_count; i++) {
        struct expr_op *op = &e->ops[i];

        if ((op->code == OP_LITERAL || op->code == OP_TEST) &&
            op->value.type == VALUE_TEXT)
            op->value.text = intern(context, op->value.text);
    }
}
