/* expr_fuzz.c - any text as a requirement and as a rank, in both dialects.
 *
 * Beyond not failing: reading twice gives the same, evaluating allocates nothing
 * and repeats itself, clauses are worth in the chain what their text is worth on
 * its own, and brackets around the whole change nothing.
 */
#include "models/base/names.h"
#include "models/expr.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = EXPR_NODES_MAX, ROUNDS = 4, CAP_BYTES = 64 * 1024 * 1024 };

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "expr_fuzz: %s\n", what);
    abort();
}

/* Values that depend on the name and the round only. */
static void fill(const struct expr *e, unsigned round, struct expr_value *values)
{
    static const char *const texts[] = {"", "a", "i686", "Linux 2.4", "\xc3\xa4*[\\"};

    for (size_t i = 0; i < e->name_count; i++) {
        uint64_t h = hash_fnv1a(e->names[i].name) / 7 + round;

        if (h % 4 == 0)
            values[i] = expr_text(texts[h / 4 % 5]);
        else if (h % 4 == 1)
            values[i] = expr_boolean(h / 4 % 2);
        else if (h % 4 == 2)
            values[i] = expr_number((double)(h / 4 % 4001) - 2000.5);
        else
            values[i] = expr_text(NULL);
    }
}

static bool same(const struct expr_value *a, const struct expr_value *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == VALUE_TEXT)
        return strcmp(a->text, b->text) == 0;
    return a->type == VALUE_UNDEFINED || a->number == b->number;
}

static enum expr_truth truth_of(const struct expr_value *v)
{
    if (v->type != VALUE_BOOLEAN)
        return EXPR_UNDEFINED;
    return v->number != 0 ? EXPR_TRUE : EXPR_FALSE;
}

/* The clauses' texts on their own, in round `round`. */
static void check_clauses(const struct expr *e, enum expr_dialect dialect, unsigned round,
                          const struct expr_value *values, struct arena *a)
{
    static struct expr_value own[SLOTS];
    struct expr_tally tally[EXPR_NODES_MAX] = {0};
    struct expr_miss miss = expr_tally_add(e, values, tally);
    struct error err = {0};
    size_t untrue = 0;

    for (size_t i = 0; i < e->clause_count; i++) {
        enum expr_truth truth = expr_clause_truth(e, i, values);
        struct expr clause;

        untrue += tally[i].untrue;
        check(tally[i].untrue == (truth != EXPR_TRUE), "a tally is wrong");
        check(expr_clause_shortfall(e, i, values) >= 0, "a shortfall is negative");
        check(expr_parse(e->clauses[i].text, EXPR_REQUIREMENT, dialect, "", &clause, a,
                         &err) == OK,
              "a clause cannot be read");
        fill(&clause, round, own);
        check(expr_requirement(&clause, own) == truth, "a clause has another value");
    }
    check(miss.untrue_count == untrue, "untrue clauses are miscounted");
    check((untrue == 0) == (expr_requirement(e, values) == EXPR_TRUE),
          "clauses and requirement disagree");
}

/* "(text)" may only fail at a limit. */
static void check_brackets(const struct expr *e, const char *text, struct arena *a)
{
    static struct expr_value values[SLOTS];
    const char *bracketed = arena_printf(a, "(%s)", text);
    struct error err = {0};
    struct expr other;
    struct expr_value x, y;

    if (e->clause_count == 0 || !bracketed)
        return;
    if (expr_parse(bracketed, EXPR_REQUIREMENT, EXPR_NATIVE, "", &other, a, &err) != OK) {
        check(strstr(err.text, "nested") || strstr(err.text, "at most"),
              "brackets make it unreadable");
        return;
    }
    fill(e, 1, values);
    x = expr_eval(e, values);
    y = expr_eval(&other, values);
    check(same(&x, &y), "brackets change the value");
}

static void check_values(const struct expr *e, enum expr_purpose purpose,
                         enum expr_dialect dialect, struct arena *a)
{
    static struct expr_value values[SLOTS];

    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t used_bytes = arena_used_bytes(a);
        struct expr_value first, second;
        double rank;

        fill(e, round, values);
        first = expr_eval(e, values);
        second = expr_eval(e, values);
        rank = expr_rank(e, values);
        check(same(&first, &second), "a value does not repeat");
        check(first.type != VALUE_NUMBER || isfinite(first.number), "not finite");
        check(isnan(rank) || rank == first.number, "rank and value disagree");
        check(expr_requirement(e, values) == truth_of(&first) || e->clause_count == 0,
              "requirement and value disagree");
        check(arena_used_bytes(a) == used_bytes, "evaluation allocates");
        if (purpose == EXPR_REQUIREMENT)
            check_clauses(e, dialect, round, values, a);
    }
}

static void check_text(const char *text, enum expr_purpose purpose,
                       enum expr_dialect dialect, struct arena *a)
{
    struct error err = {0}, again = {0};
    struct expr e, other;
    enum error_code code = expr_parse(text, purpose, dialect, "/x", &e, a, &err);

    check(expr_parse(text, purpose, dialect, "/x", &other, a, &again) == code &&
              strcmp(err.text, again.text) == 0,
          "reading twice differs");
    if (code != OK) {
        check(code == ERR_INVALID && strncmp(err.text, "column ", 7) == 0 &&
                  strtoul(err.text + 7, NULL, 10) <= strlen(text) + 1,
              "a mistake without a column in the text");
        return;
    }
    check(e.name_count <= SLOTS && e.op_count == other.op_count, "too much");
    check_values(&e, purpose, dialect, a);
    if (dialect == EXPR_NATIVE)
        check_brackets(&e, text, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_create(CAP_BYTES);
    char *text = a ? arena_text(a, (const char *)data, size) : NULL;

    if (text) {
        check_text(text, EXPR_REQUIREMENT, EXPR_NATIVE, a);
        check_text(text, EXPR_REQUIREMENT, EXPR_GRIDWAY, a);
        check_text(text, EXPR_RANK, EXPR_GRIDWAY, a);
    }
    arena_close(a);
    return 0;
}
