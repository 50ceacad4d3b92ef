/* parallel/genetic.c - crossover, and mutation steered by the model.
 *
 * For each number of machines p from all of them down to 2: 60 random sets; in each of
 * 50 generations they are paired at random, exchange their tails behind a random cut
 * (a machine that then stands twice is replaced by a random one), and each child has a
 * fifth of its machines, drawn at random, replaced one after another by the best machine
 * outside, even if that is worse. The best 60 of parents and children go on.
 *
 * Source: 003_a5f9349f46eae656 4.2.2, figure 4.2; spec parallel-scheduling.md 4.2. A
 * generation takes 60 * p / 5 * (n - p) evaluations of O(1), and O(n p) a child.
 * Deviation: the source's crossover may repeat machines; repaired as above.
 */
#include "algorithms/parallel/evaluate.h"

#include <string.h>

enum { POPULATION, GENERATIONS, MUTATION_SHARE };

const struct param parallel_genetic_params[] = {
    [POPULATION] = {"population", 2, 1000, 60,
                    "Sets of a generation, an odd number is taken one lower (source)",
                    PARAM_INTEGER, NULL},
    [GENERATIONS] = {"generations", 1, 1e6, 50, "For each number of machines (source)",
                     PARAM_INTEGER, NULL},
    [MUTATION_SHARE] = {"mutation_share", 0, 1, 0.2,
                        "Of a child's machines are replaced, at least one (source)",
                        PARAM_NUMBER, NULL},
    {0},
};

struct chromosome {
    size_t *machines; /* p of them, in the order that crossover cuts */
    double plain_s;   /* score without perturbation; -1: not known yet */
    double score_s;   /* as compared */
};

struct genetic {
    struct parallel_search *s;
    const double *param;
    struct parallel_set set;
    struct chromosome *all; /* parents, then children: 2 * half */
    struct chromosome *sorted;
    struct keyed_machine *ranks;
    bool *taken; /* of each machine: in the child at hand */
    size_t *order;
    size_t half, p;
};

/* Evaluates a chromosome; the score of a set does not change, only its perturbation. */
static void evaluate(struct genetic *g, struct chromosome *c)
{
    struct parallel_search *s = g->s;

    if (c->plain_s < 0)
        c->plain_s = search_score(s, g->p, search_least_cpu(s, c->machines, g->p),
                                  search_least_link(s, c->machines, g->p));
    c->score_s = search_try_known(s, g->p, c->plain_s);
    search_keep(s, c->score_s, c->machines, g->p);
}

/* Fills a child: the first of `cut` machines from one parent, the rest from the other,
 * each machine once, the gap at the end with random others. */
static void cross(struct genetic *g, const size_t *head, const size_t *tail, size_t cut,
                  struct chromosome *child)
{
    size_t used = 0, outside = 0;

    memset(g->taken, 0, g->s->n * sizeof(*g->taken));
    for (size_t i = 0; i < g->p; i++) {
        size_t machine = i < cut ? head[i] : tail[i];

        if (!g->taken[machine])
            child->machines[used++] = machine;
        g->taken[machine] = true;
    }
    for (size_t i = 0; used < g->p && i < g->s->n; i++)
        if (!g->taken[i])
            g->order[outside++] = i;
    random_choose(&g->s->random, g->order, outside, g->p - used);
    for (size_t i = 0; used < g->p; i++)
        child->machines[used++] = g->order[i];
    child->plain_s = -1;
}

static void breed(struct genetic *g)
{
    uint64_t *random = &g->s->random;

    for (size_t i = g->half - 1; i > 0; i--) {
        size_t k = random_index(random, i + 1);
        struct chromosome moved = g->all[i];

        g->all[i] = g->all[k];
        g->all[k] = moved;
    }
    for (size_t i = 0; i + 1 < g->half; i += 2) {
        const size_t *a = g->all[i].machines, *b = g->all[i + 1].machines;
        size_t cut = 1 + random_index(random, g->p - 1);

        cross(g, a, b, cut, &g->all[g->half + i]);
        cross(g, b, a, cut, &g->all[g->half + i + 1]);
    }
}

/* The machine outside by which `leaves` is best replaced; NO_MACHINE: the budget is
 * spent. */
static size_t best_for(struct genetic *g, size_t leaves)
{
    struct parallel_search *s = g->s;
    struct set_minima minima = set_minima(&g->set, leaves);
    size_t best = NO_MACHINE;
    double best_s = 0;

    for (size_t y = 0; y < s->n; y++) {
        struct set_minima m;
        double score_s;

        if (set_has(&g->set, y))
            continue;
        if (search_stop(s))
            return NO_MACHINE;
        m = set_with(&g->set, minima, leaves, y);
        score_s = search_try(s, g->p, m.cpu, m.bandwidth_mbps);
        set_keep(s, score_s, &g->set, leaves, y);
        if (best == NO_MACHINE || score_s < best_s) {
            best = y;
            best_s = score_s;
        }
    }
    return best;
}

static void mutate(struct genetic *g, struct chromosome *child)
{
    size_t steps = (size_t)floor(g->param[MUTATION_SHARE] * (double)g->p);
    struct set_minima m;

    set_load(&g->set, child->machines, g->p);
    for (size_t k = 0; k < (steps ? steps : 1); k++) {
        size_t place = random_index(&g->s->random, g->p);
        size_t leaves = child->machines[place], comes = best_for(g, leaves);

        if (comes == NO_MACHINE)
            return;
        set_replace(&g->set, leaves, comes);
        child->machines[place] = comes;
    }
    m = set_minima(&g->set, NO_MACHINE);
    child->plain_s = search_score(g->s, g->p, m.cpu, m.bandwidth_mbps);
}

/* The better half becomes the parents; ties: the earlier one. */
static void select_best(struct genetic *g)
{
    size_t count = 2 * g->half;

    for (size_t i = 0; i < count; i++)
        g->ranks[i] = (struct keyed_machine){g->all[i].score_s, i};
    keyed_sort(g->ranks, count);
    for (size_t i = 0; i < count; i++)
        g->sorted[i] = g->all[g->ranks[i].machine];
    memcpy(g->all, g->sorted, count * sizeof(*g->all));
}

static void generation(struct genetic *g)
{
    breed(g);
    for (size_t i = g->half; i < 2 * g->half && !search_stop_now(g->s); i++)
        mutate(g, &g->all[i]);
    for (size_t i = 0; i < 2 * g->half && !search_stop(g->s); i++)
        evaluate(g, &g->all[i]);
    select_best(g);
    g->s->iterations++;
}

/* One number of machines. */
static void evolve(struct genetic *g)
{
    struct parallel_search *s = g->s;

    for (size_t i = 0; i < s->n; i++)
        g->order[i] = i;
    for (size_t i = 0; i < g->half && !search_stop_now(s); i++) {
        random_choose(&s->random, g->order, s->n, g->p);
        memcpy(g->all[i].machines, g->order, g->p * sizeof(*g->order));
        g->all[i].plain_s = -1;
        evaluate(g, &g->all[i]);
    }
    for (size_t k = 0; g->p < s->n && (double)k < g->param[GENERATIONS]; k++) {
        if (search_stop(s))
            return;
        generation(g);
    }
}

enum error_code parallel_genetic(struct parallel_search *s, const double *param,
                                 struct error *err)
{
    size_t half = (size_t)param[POPULATION] / 2 * 2;
    struct genetic g = {
        .s = s,
        .param = param,
        .all = NEW(s->arena, struct chromosome, 2 * half),
        .sorted = NEW(s->arena, struct chromosome, 2 * half),
        .ranks = NEW(s->arena, struct keyed_machine, 2 * half),
        .taken = NEW(s->arena, bool, s->n),
        .order = NEW(s->arena, size_t, s->n),
        .half = half,
    };
    size_t least = s->min_procs > 2 ? s->min_procs : 2;

    (void)err;
    set_create(s, &g.set);
    for (size_t i = 0; i < 2 * half; i++) {
        g.all[i].machines = NEW(s->arena, size_t, s->n);
    }
    for (g.p = s->n; g.p >= least && !search_stop_now(s); g.p--)
        evolve(&g);
    return OK;
}
