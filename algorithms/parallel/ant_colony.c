/* parallel/ant_colony.c - ants choose by pheromone, and complete their sets by the model.
 *
 * For each number of machines p from all of them down to 2, with a pheromone of 1 on
 * each machine: 60 ants begin with random sets. In each of 50 rounds the best 30 leave
 * pheromone on their machines,
 *
 *     ph = 0.9 * ph + (worst - score) / (worst - best)      for each of them, best first,
 *
 * then each ant draws three quarters of its machines from those of the best 30, by
 * roulette on the pheromone, and adds the rest one by one: the machine y with the
 * greatest ph[y] / score of the set with y.
 *
 * Source: 003_a5f9349f46eae656 4.2.3, figure 4.3; spec parallel-scheduling.md 4.3. A
 * round takes 60 * p / 4 * (n - p) evaluations of O(1), and O(n p) an ant.
 * Deviation: the figure measures from the best score and divides by 0; here from the
 * worst of the 30, where score and worst are finite; an infinite score leaves nothing.
 */
#include "algorithms/parallel/ant_colony.h"

#include <string.h>

enum { ANTS, TOP_ANTS, RHO, ROUNDS, MODEL_SHARE, EVAPORATION };
enum { PER_ANT, PER_ITERATION }; /* indexes of evaporations */

static const char *const evaporations[] = {"per_ant", "per_iteration", NULL};

const struct param parallel_ant_colony_params[] = {
    [ANTS] = {"ants", 1, 1000, 60, "Sets of a round (source)", PARAM_INTEGER, NULL},
    [TOP_ANTS] = {"top_ants", 1, 1000, 30,
                  "Ants that leave pheromone, no more than all (source)", PARAM_INTEGER,
                  NULL},
    [RHO] = {"rho", 0, 1, 0.9, "Share of the pheromone that stays (source)", PARAM_NUMBER,
             NULL},
    [ROUNDS] = {"rounds", 1, 1e6, 50, "For each number of machines (source)",
                PARAM_INTEGER, NULL},
    [MODEL_SHARE] = {"model_share", 0, 1, 0.25,
                     "Of an ant's machines are added by the model (source)", PARAM_NUMBER,
                     NULL},
    [EVAPORATION] = {"evaporation", 0, 1, 0,
                     "Pheromone goes once for each of the top ants on a machine "
                     "(source), or once a round for all machines of the top ants",
                     PARAM_CHOICE, evaporations},
    {0},
};

struct colony {
    struct parallel_search *s;
    const double *param;
    struct parallel_set set;
    double *pheromone;
    struct ant *ants;
    struct keyed_machine *ranks;
    const struct ant **top;
    size_t ant_count, top_count, p;
    size_t *pool, *rest; /* machines to draw from; what is left of them */
    size_t pool_count;
    bool *in_pool;
};

/* What ant e leaves on its machines. */
static double deposit(double score_s, double best_s, double worst_s)
{
    if (best_s == HUGE_VAL)
        return 1;
    if (score_s == HUGE_VAL)
        return 0;
    return worst_s > best_s ? (worst_s - score_s) / (worst_s - best_s) : 1;
}

void ants_mark(const struct ant *const *top, size_t top_count, size_t p, double rho,
               bool per_ant, double *pheromone, const bool *in_pool, size_t n)
{
    double best_s = top_count ? top[0]->score_s : HUGE_VAL, worst_s = best_s;

    for (size_t k = 0; k < top_count; k++)
        if (top[k]->score_s < HUGE_VAL)
            worst_s = top[k]->score_s;
    for (size_t j = 0; !per_ant && j < n; j++)
        if (in_pool[j])
            pheromone[j] *= rho;
    for (size_t k = 0; k < top_count; k++) {
        double d = deposit(top[k]->score_s, best_s, worst_s);

        for (size_t i = 0; i < p; i++) {
            double *ph = &pheromone[top[k]->machines[i]];

            *ph = (per_ant ? rho * *ph : *ph) + d;
        }
    }
}

/* Scores of all ants; false when the budget is spent before the last. */
static bool evaluate(struct colony *c)
{
    struct parallel_search *s = c->s;

    for (size_t k = 0; k < c->ant_count; k++) {
        struct ant *ant = &c->ants[k];

        if (search_stop(s))
            return false;
        if (ant->plain_s < 0)
            ant->plain_s = search_score(s, c->p, search_least_cpu(s, ant->machines, c->p),
                                        search_least_link(s, ant->machines, c->p));
        ant->score_s = search_try_known(s, c->p, ant->plain_s);
        search_keep(s, ant->score_s, ant->machines, c->p);
    }
    return true;
}

/* The best ants in order, and the machines that they use, in c->pool. */
static void choose_top(struct colony *c)
{
    for (size_t k = 0; k < c->ant_count; k++)
        c->ranks[k] = (struct keyed_machine){c->ants[k].score_s, k};
    keyed_sort(c->ranks, c->ant_count);
    memset(c->in_pool, 0, c->s->n * sizeof(*c->in_pool));
    for (size_t k = 0; k < c->top_count; k++) {
        c->top[k] = &c->ants[c->ranks[k].machine];
        for (size_t i = 0; i < c->p; i++)
            c->in_pool[c->top[k]->machines[i]] = true;
    }
    c->pool_count = 0;
    for (size_t j = 0; j < c->s->n; j++)
        if (c->in_pool[j])
            c->pool[c->pool_count++] = j;
}

/* `count` machines of the pool by roulette, without putting back. */
static void draw(struct colony *c, struct ant *ant, size_t count)
{
    size_t left = c->pool_count;
    double sum = 0;

    memcpy(c->rest, c->pool, left * sizeof(*c->rest));
    for (size_t i = 0; i < left; i++)
        sum += c->pheromone[c->rest[i]];
    for (size_t k = 0; k < count; k++) {
        double r = random_unit(&c->s->random) * sum;
        size_t place = 0;

        while (place + 1 < left && (r -= c->pheromone[c->rest[place]]) >= 0)
            place++;
        ant->machines[k] = c->rest[place];
        sum = fmax(0, sum - c->pheromone[c->rest[place]]);
        memmove(c->rest + place, c->rest + place + 1,
                (--left - place) * sizeof(*c->rest));
    }
}

/* The machine that is most worth adding; NO_MACHINE: the budget is spent. */
static size_t best_to_add(struct colony *c)
{
    struct parallel_search *s = c->s;
    struct parallel_set *set = &c->set;
    struct set_minima minima = set_minima(set, NO_MACHINE);
    size_t best = NO_MACHINE;
    double best_weight = 0;

    for (size_t y = 0; y < s->n; y++) {
        struct set_minima m;
        double score_s, weight;

        if (set_has(set, y))
            continue;
        if (search_stop(s))
            return NO_MACHINE;
        m = set_with(set, minima, NO_MACHINE, y);
        score_s = search_try(s, set->count + 1, m.cpu, m.bandwidth_mbps);
        if (set->count + 1 == c->p)
            set_keep(s, score_s, set, NO_MACHINE, y);
        weight = c->pheromone[y] / score_s;
        if (best == NO_MACHINE || weight > best_weight) {
            best = y;
            best_weight = weight;
        }
    }
    return best;
}

/* A new set for one ant; false: the budget is spent. */
static bool walk(struct colony *c, struct ant *ant)
{
    size_t by_model = (size_t)floor(c->param[MODEL_SHARE] * (double)c->p);
    struct set_minima m;

    draw(c, ant, c->p - by_model);
    set_load(&c->set, ant->machines, c->p - by_model);
    while (c->set.count < c->p) {
        size_t comes = best_to_add(c);

        if (comes == NO_MACHINE)
            return false;
        ant->machines[c->set.count] = comes;
        set_add(&c->set, comes);
    }
    m = set_minima(&c->set, NO_MACHINE);
    ant->plain_s = search_score(c->s, c->p, m.cpu, m.bandwidth_mbps);
    return true;
}

static bool next_round(struct colony *c)
{
    c->s->iterations++;
    choose_top(c);
    ants_mark(c->top, c->top_count, c->p, c->param[RHO],
              (size_t)c->param[EVAPORATION] == PER_ANT, c->pheromone, c->in_pool,
              c->s->n);
    for (size_t k = 0; k < c->ant_count; k++)
        if (search_stop_now(c->s) || !walk(c, &c->ants[k]))
            return false;
    return true;
}

/* One number of machines. */
static void march(struct colony *c)
{
    struct parallel_search *s = c->s;

    for (size_t j = 0; j < s->n; j++) {
        c->pheromone[j] = 1;
        c->rest[j] = j;
    }
    for (size_t k = 0; k < c->ant_count; k++) {
        random_choose(&s->random, c->rest, s->n, c->p);
        memcpy(c->ants[k].machines, c->rest, c->p * sizeof(*c->rest));
        c->ants[k].plain_s = -1;
    }
    for (size_t round = 0; (double)round < c->param[ROUNDS]; round++)
        if (!evaluate(c) || c->p == s->n || !next_round(c))
            return;
}

static void prepare(struct colony *c)
{
    struct arena *a = c->s->arena;
    size_t n = c->s->n;

    c->ant_count = (size_t)c->param[ANTS];
    c->top_count = (size_t)fmin(c->param[TOP_ANTS], c->param[ANTS]);
    c->pheromone = NEW(a, double, n);
    c->ants = NEW(a, struct ant, c->ant_count);
    c->ranks = NEW(a, struct keyed_machine, c->ant_count);
    c->top = NEW(a, const struct ant *, c->top_count);
    c->pool = NEW(a, size_t, n);
    c->rest = NEW(a, size_t, n);
    c->in_pool = NEW(a, bool, n);
    for (size_t k = 0; k < c->ant_count; k++) {
        c->ants[k].machines = NEW(a, size_t, n);
    }
    set_create(c->s, &c->set);
}

enum error_code parallel_ant_colony(struct parallel_search *s, const double *param,
                                    struct error *err)
{
    struct colony c = {.s = s, .param = param};
    size_t least = s->min_procs > 2 ? s->min_procs : 2;

    (void)err;
    prepare(&c);
    for (c.p = s->n; c.p >= least && !search_stop_now(s); c.p--)
        march(&c);
    return OK;
}
