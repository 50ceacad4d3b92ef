/* world/goal.c - objectives by their names, and what an answer says of each. */
#include "algorithms/world/goal.h"

#include <stdio.h>
#include <string.h>

const char *const world_objective_names[] = {
#define X(symbol, name, most) name,
    WORLD_OBJECTIVES(X)
#undef X
        NULL,
};

const char *const world_bound_sides[] = {"lower", "upper", NULL};

static const bool is_most[] = {
#define X(symbol, name, most) most,
    WORLD_OBJECTIVES(X)
#undef X
};

/* Values within this share of each other are equal. */
#define EQUAL 1e-9

static size_t find_name(const char *name)
{
    size_t i = 0;

    while (i < OBJECTIVE_COUNT && strcmp(world_objective_names[i], name) != 0)
        i++;
    return i;
}

bool world_goal_has(const struct world_goal *goal, enum world_objective objective)
{
    for (size_t k = 0; k < goal->level_count; k++)
        if (goal->level[k] == objective)
            return true;
    return false;
}

static void read_name(const char *name, size_t i, struct world_goal *out,
                      struct error *err)
{
    char pointer[64], hint[NAMES_HINT_BYTES];
    size_t found = find_name(name);

    snprintf(pointer, sizeof(pointer), "/objective/%zu", i);
    if (found == OBJECTIVE_COUNT) {
        const char *meant = names_meant(name, world_objective_names, OBJECTIVE_COUNT);

        invalid(
            err, pointer, ITEM_NOT_A_CHOICE, "'%.64s' is no objective; %s", name,
            names_hint(name, world_objective_names, OBJECTIVE_COUNT, hint, sizeof(hint)));
        if (meant)
            error_hint(err, "did you mean '%s'?", meant);
        error_allow(err, name, world_objective_names, OBJECTIVE_COUNT);
    } else if (world_goal_has(out, (enum world_objective)found)) {
        invalid(err, pointer, ITEM_DUPLICATE, "'%s' is there already", name);
    } else {
        out->level[out->level_count++] = (enum world_objective)found;
    }
}

enum error_code world_goal_read(const char *const *names, size_t count,
                                struct world_goal *out, struct error *err)
{
    size_t before = err->item_count;

    *out = (struct world_goal){{OBJECTIVE_MAKESPAN}, 1};
    if (!names)
        return OK;
    out->level_count = 0;
    if (count == 0)
        return invalid(err, "/objective", ITEM_TOO_SHORT,
                       "name an objective, or leave it out: the makespan is meant");
    if (count > OBJECTIVE_LEVELS_MAX)
        return invalid(err, "/objective", ITEM_TOO_LONG, "at most %d objectives",
                       OBJECTIVE_LEVELS_MAX);
    for (size_t i = 0; i < count; i++)
        read_name(names[i] ? names[i] : "", i, out, err);
    return err->item_count > before ? ERR_INVALID : OK;
}

/* A value that is to be small, or large, and a bound that it cannot pass. */
static void compare(struct world_value *v, bool most)
{
    double slack = EQUAL * fmax(1, fmax(fabs(v->value), fabs(v->bound)));
    double least, largest;

    v->bound = most ? fmax(v->bound, v->value) : fmin(v->bound, v->value);
    least = most ? v->value : v->bound;
    largest = most ? v->bound : v->value;
    v->proven = largest - least <= slack;
    if (least > 0)
        v->gap_ratio = v->proven ? 0 : largest / least - 1;
}

bool world_values(const struct world_goal *goal, const struct world_worth *worth,
                  const struct world_bound *bounds, struct world_value *out)
{
    bool all = true;

    for (size_t k = 0; k < goal->level_count; k++) {
        enum world_objective objective = goal->level[k];
        struct world_value *v = &out[k];

        *v = (struct world_value){
            .name = world_objective_names[objective],
            .value = worth->value[k],
            .bound = NAN,
            .bound_kind = world_bound_sides[is_most[objective]],
            .gap_ratio = NAN,
        };
        if (bounds && bounds[k].known) {
            v->bound = bounds[k].value;
            compare(v, is_most[objective]);
        }
        all = all && v->proven;
    }
    return all;
}
