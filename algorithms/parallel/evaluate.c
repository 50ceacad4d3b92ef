/* parallel/evaluate.c - scoring of machine sets, the best so far, and the budget. */
#include "algorithms/parallel/evaluate.h"

#include "models/base/names.h"
#include "models/performance/functions.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_EVERY = 512 }; /* evaluations between two looks at the clock */

/* ---- a run ---- */

static uint64_t stream_state(const struct parallel_in *in, const char *purpose,
                             struct arena *a)
{
    const char *name;

    if (!in->site_id)
        return in->seed;
    name = arena_printf(a, "%s.%s", purpose, in->site_id);
    return in->seed ^ hash_fnv1a(name);
}

static bool communicates(const struct perf_term *t)
{
    return t->bw_id != PERF_NONE && t->comm != 0;
}

/* The place of a function of bandwidth in s->comms, made if it is not there. */
static struct search_comm *comm_of(struct parallel_search *s, int bw_id)
{
    size_t i = 0;

    while (i < s->comm_count && s->comms[i].bw_id != bw_id)
        i++;
    if (i == s->comm_count)
        s->comms[s->comm_count++].bw_id = bw_id;
    return &s->comms[i];
}

static void add_term(struct parallel_search *s, const struct perf_term *t, double *comp_s,
                     double *per[])
{
    struct search_comm *comm = communicates(t) ? comm_of(s, t->bw_id) : NULL;

    s->comp1_s += t->comp_s;
    for (size_t p = 2; p <= s->n; p++)
        comp_s[p] += t->comp_s / perf_p_value(t->pcomp_id, (double)p);
    if (!comm)
        return;
    comm->one += t->comm;
    for (size_t p = 2; p <= s->n; p++)
        per[comm - s->comms][p] += t->comm / perf_p_value(t->pcomm_id, (double)p);
}

/* What depends on the number of machines alone. */
static void fill_tables(struct parallel_search *s)
{
    const struct perf_terms *model = s->in->model;
    double *comp_s = NEW(s->arena, double, s->n + 1);
    double *per[PERF_BW_IDS] = {0};

    s->comms = NEW(s->arena, struct search_comm, PERF_BW_IDS);
    for (size_t i = 0; i < PERF_BW_IDS; i++) {
        per[i] = NEW(s->arena, double, s->n + 1);
        s->comms[i].per = per[i];
    }
    for (size_t i = 0; i < model->term_count; i++)
        add_term(s, &model->terms[i], comp_s, per);
    comp_s[1] = perf_time_s(model, 1, 1, 1);
    s->comp_s = comp_s;
}

enum error_code search_create(const struct parallel_in *in, struct parallel_search *s,
                              struct arena *a)
{
    size_t n = in->machines->count;

    assert(n > 0);
    *s = (struct parallel_search){
        .in = in,
        .arena = a,
        .n = n,
        .min_procs = in->min_procs ? in->min_procs : 1,
        .cpu = in->machines->cpu_available_ratio,
        .links = in->machines->bandwidth_mbps,
        .monotone = perf_terms_monotone(in->model) && !in->queue_wait_s,
        .random = stream_state(in, "parallel", a),
        .perturb = stream_state(in, "perturbation", a),
        .best_s = HUGE_VAL,
        .best = NEW(a, size_t, n),
        .bound_s = (double)NAN,
    };
    fill_tables(s);
    return OK;
}

void search_fork(const struct parallel_search *s, struct parallel_search *fork)
{
    size_t *best = NEW(s->arena, size_t, s->n);

    *fork = *s;
    fork->random = stream_state(s->in, "parallel", s->arena);
    fork->perturb = stream_state(s->in, "perturbation", s->arena);
    fork->algorithm = NULL;
    fork->best_s = HUGE_VAL;
    fork->best = best;
    fork->best_count = 0;
    fork->evaluations = fork->iterations = 0;
    fork->work_units = fork->invalid_count = 0;
    fork->next_look = 0;
    fork->stopped = false;
    fork->bound_s = (double)NAN;
}

void search_join(struct parallel_search *s, const struct parallel_search *fork,
                 const char *algorithm)
{
    s->evaluations += fork->evaluations;
    s->iterations += fork->iterations;
    s->work_units += fork->work_units;
    s->invalid_count += fork->invalid_count;
    if (fork->best_s < s->best_s) {
        s->algorithm = algorithm;
        search_keep(s, fork->best_s, fork->best, fork->best_count);
    }
}

/* ---- budget ---- */

static bool units_spent(const struct parallel_search *s)
{
    return s->in->work_budget > 0 && (double)s->work_units >= s->in->work_budget;
}

bool search_stop_now(struct parallel_search *s)
{
    s->next_look = s->evaluations + LOOK_EVERY;
    if (units_spent(s) || budget_spent(s->in->budget))
        s->stopped = true;
    return s->stopped;
}

bool search_stop(struct parallel_search *s)
{
    if (s->evaluations >= s->next_look)
        return search_stop_now(s);
    if (units_spent(s))
        s->stopped = true;
    return s->stopped;
}

/* ---- scores ---- */

double search_score(const struct parallel_search *s, size_t count, double cpu,
                    double bandwidth_mbps)
{
    double time_s = s->comp_s[count] / fmax(cpu, PERF_CPU_LEAST_RATIO);

    if (!(cpu > 0) || (count > 1 && !(bandwidth_mbps > 0)))
        return HUGE_VAL;
    for (size_t i = 0; i < s->comm_count && count > 1; i++) {
        int id = s->comms[i].bw_id;
        double least = id >= 7 ? PERF_BW_LOG_LEAST_MBPS : PERF_BW_LEAST_MBPS;

        time_s += s->comms[i].per[count] / perf_bw_value(id, fmax(bandwidth_mbps, least));
    }
    if (!(isfinite(time_s) && time_s > 0))
        return HUGE_VAL;
    return s->in->queue_wait_s ? time_s + s->in->queue_wait_s[count] : time_s;
}

double search_try_known(struct parallel_search *s, size_t count, double score_s)
{
    double p = s->in->perturbation_ratio;

    s->evaluations++;
    s->work_units += count + count * (count - 1) / 2;
    return p > 0 ? score_s * (1 + p * (2 * random_unit(&s->perturb) - 1)) : score_s;
}

double search_try(struct parallel_search *s, size_t count, double cpu,
                  double bandwidth_mbps)
{
    double score_s = search_score(s, count, cpu, bandwidth_mbps);

    if (score_s == HUGE_VAL && (count == 1 || bandwidth_mbps > 0))
        s->invalid_count++;
    return search_try_known(s, count, score_s);
}

double search_least_link(const struct parallel_search *s, const size_t *members,
                         size_t count)
{
    double least = HUGE_VAL;

    for (size_t i = 1; i < count; i++) {
        const double *row = s->links + members[i] * s->n;

        for (size_t k = 0; k < i; k++)
            least = row[members[k]] < least ? row[members[k]] : least;
    }
    return least;
}

double search_least_cpu(const struct parallel_search *s, const size_t *members,
                        size_t count)
{
    double least = HUGE_VAL;

    for (size_t i = 0; i < count; i++)
        least = fmin(least, s->cpu[members[i]]);
    return least;
}

size_t search_fastest(const struct parallel_search *s)
{
    size_t fastest = 0;

    for (size_t i = 1; i < s->n; i++)
        if (s->cpu[i] > s->cpu[fastest])
            fastest = i;
    return fastest;
}

size_t *search_order(const struct parallel_search *s, const double *key)
{
    struct keyed_machine *items = NEW(s->arena, struct keyed_machine, s->n);
    size_t *order = NEW(s->arena, size_t, s->n);

    for (size_t i = 0; i < s->n; i++)
        items[i] = (struct keyed_machine){key[i], i};
    keyed_sort(items, s->n);
    for (size_t i = 0; i < s->n; i++)
        order[i] = items[i].machine;
    return order;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed_machine *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->machine > y->machine) - (x->machine < y->machine);
}

void keyed_sort(struct keyed_machine *items, size_t count)
{
    qsort(items, count, sizeof(*items), by_key);
}

size_t *search_by_cpu(const struct parallel_search *s)
{
    double *key = NEW(s->arena, double, s->n);

    for (size_t i = 0; i < s->n; i++)
        key[i] = -s->cpu[i];
    return search_order(s, key);
}

void random_choose(uint64_t *state, size_t *items, size_t n, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = i + random_index(state, n - i);
        size_t moved = items[i];

        items[i] = items[k];
        items[k] = moved;
    }
}

/* ---- a set that changes ---- */

void set_create(const struct parallel_search *s, struct parallel_set *set)
{
    *set = (struct parallel_set){
        .search = s,
        .order = NEW(s->arena, size_t, s->n),
        .position = NEW(s->arena, size_t, s->n),
        .low = NEW(s->arena, struct set_low, s->n),
    };
    for (size_t i = 0; i < s->n; i++)
        set->order[i] = set->position[i] = i;
    set_clear(set);
}

void set_clear(struct parallel_set *set)
{
    set->count = 0;
    set->ends.known = false;
    for (size_t i = 0; i < set->search->n; i++)
        set->low[i] = (struct set_low){HUGE_VAL, HUGE_VAL, NO_MACHINE, NO_MACHINE};
}

void set_copy(struct parallel_set *to, const struct parallel_set *from)
{
    size_t n = from->search->n;

    memcpy(to->order, from->order, n * sizeof(*to->order));
    memcpy(to->position, from->position, n * sizeof(*to->position));
    memcpy(to->low, from->low, n * sizeof(*to->low));
    to->count = from->count;
    to->ends = from->ends;
}

static void move_to(struct parallel_set *set, size_t machine, size_t place)
{
    size_t from = set->position[machine], other = set->order[place];

    set->order[from] = other;
    set->position[other] = from;
    set->order[place] = machine;
    set->position[machine] = place;
}

static inline void lower(struct set_low *low, double link, size_t at)
{
    if (link < low->first) {
        low->second = low->first;
        low->second_at = low->first_at;
        low->first = link;
        low->first_at = at;
    } else if (link < low->second) {
        low->second = link;
        low->second_at = at;
    }
}

void set_add(struct parallel_set *set, size_t machine)
{
    size_t n = set->search->n;
    const double *row = set->search->links + machine * n;
    struct set_low own = set->low[machine];

    for (size_t z = 0; z < n; z++)
        lower(&set->low[z], row[z], machine);
    set->low[machine] = own; /* the diagonal is no link */
    move_to(set, machine, set->count++);
    set->ends.known = false;
}

void set_load(struct parallel_set *set, const size_t *members, size_t count)
{
    set_clear(set);
    for (size_t i = 0; i < count; i++)
        set_add(set, members[i]);
}

/* The least links of one machine into the set, from the beginning. */
static void scan_low(struct parallel_set *set, size_t machine)
{
    const double *row = set->search->links + machine * set->search->n;
    struct set_low low = {HUGE_VAL, HUGE_VAL, NO_MACHINE, NO_MACHINE};

    for (size_t i = 0; i < set->count; i++)
        if (set->order[i] != machine)
            lower(&low, row[set->order[i]], set->order[i]);
    set->low[machine] = low;
}

void set_remove(struct parallel_set *set, size_t machine)
{
    move_to(set, machine, --set->count);
    for (size_t z = 0; z < set->search->n; z++) {
        const struct set_low *low = &set->low[z];

        if (z != machine && (low->first_at == machine || low->second_at == machine))
            scan_low(set, z);
    }
    set->ends.known = false;
}

void set_replace(struct parallel_set *set, size_t leaves, size_t comes)
{
    set_remove(set, leaves);
    set_add(set, comes);
}

/* Least link of the set without `machine`. */
static double link_avoiding(const struct parallel_set *set, size_t machine)
{
    double least = HUGE_VAL;

    for (size_t i = 0; i < set->count; i++) {
        const struct set_low *low = &set->low[set->order[i]];

        if (set->order[i] != machine)
            least = fmin(least, low->first_at == machine ? low->second : low->first);
    }
    return least;
}

static void find_ends(struct parallel_set *set)
{
    struct set_ends e = {
        .known = true,
        .all = {HUGE_VAL, HUGE_VAL},
        .slowest = NO_MACHINE,
        .second_cpu = HUGE_VAL,
        .end = {NO_MACHINE, NO_MACHINE},
    };

    for (size_t i = 0; i < set->count; i++) {
        size_t m = set->order[i];
        double cpu = set->search->cpu[m];

        if (cpu < e.all.cpu) {
            e.second_cpu = e.all.cpu;
            e.all.cpu = cpu;
            e.slowest = m;
        } else {
            e.second_cpu = fmin(e.second_cpu, cpu);
        }
        if (set->low[m].first < e.all.bandwidth_mbps) {
            e.all.bandwidth_mbps = set->low[m].first;
            e.end[0] = m;
            e.end[1] = set->low[m].first_at;
        }
    }
    for (size_t i = 0; i < 2 && e.end[i] != NO_MACHINE; i++)
        e.avoiding[i] = link_avoiding(set, e.end[i]);
    set->ends = e;
}

struct set_minima set_minima(struct parallel_set *set, size_t without)
{
    const struct set_ends *e = &set->ends;
    struct set_minima m;

    if (!e->known)
        find_ends(set);
    m = e->all;
    if (without == NO_MACHINE)
        return m;
    if (without == e->slowest)
        m.cpu = e->second_cpu;
    if (without == e->end[0])
        m.bandwidth_mbps = e->avoiding[0];
    else if (without == e->end[1])
        m.bandwidth_mbps = e->avoiding[1];
    return m;
}

void set_keep(struct parallel_search *s, double score_s, const struct parallel_set *set,
              size_t leaves, size_t comes)
{
    size_t count = set->count - (leaves != NO_MACHINE) + (comes != NO_MACHINE);
    size_t used = 0;

    if (!search_better(s, count, score_s))
        return;
    for (size_t i = 0; i < set->count; i++)
        if (set->order[i] != leaves)
            s->best[used++] = set->order[i];
    if (comes != NO_MACHINE)
        s->best[used++] = comes;
    s->best_s = score_s;
    s->best_count = count;
}
