/* parallel/mapping.c - a large set in which every cpu and every link reaches a limit.
 *
 * The violations of a machine are its links into the set below the limit. Removing a
 * machine takes one from each machine at the other end, so the whole costs O(n^2).
 */
#include "algorithms/parallel/mapping.h"

#include <stdlib.h>

void mapping_create(const struct parallel_search *s, struct mapping *m)
{
    *m = (struct mapping){
        .members = NEW(s->arena, size_t, s->n),
        .removed = NEW(s->arena, size_t, s->n),
        .violations = NEW(s->arena, size_t, s->n),
        .sum_mbps = NEW(s->arena, double, s->n),
        .inside = NEW(s->arena, bool, s->n),
    };
}

/* Machines with the cpu, their violations and the sums of their links. */
static void begin(struct parallel_search *s, double cpu_ratio, double limit_mbps,
                  struct mapping *m)
{
    m->count = 0;
    for (size_t i = 0; i < s->n; i++) {
        m->inside[i] = s->cpu[i] >= cpu_ratio - MAPPING_TOLERANCE;
        m->violations[i] = 0;
        m->sum_mbps[i] = 0;
        if (m->inside[i])
            m->members[m->count++] = i;
    }
    for (size_t a = 1; a < m->count; a++) {
        size_t i = m->members[a];
        const double *row = s->links + i * s->n;

        for (size_t b = 0; b < a; b++) {
            size_t k = m->members[b];
            size_t below = row[k] < limit_mbps;

            m->violations[i] += below;
            m->violations[k] += below;
            m->sum_mbps[i] += row[k];
            m->sum_mbps[k] += row[k];
        }
    }
    search_charge(s, s->n);
    if (m->count > 1)
        search_charge(s, m->count * (m->count - 1));
}

/* Is machine i the next to go rather than k? The one with more violations; tie: the
 * least mean of its links, then the lower index. */
static bool goes_before(const struct mapping *m, size_t i, size_t k)
{
    if (m->violations[i] != m->violations[k])
        return m->violations[i] > m->violations[k];
    if (m->sum_mbps[i] != m->sum_mbps[k])
        return m->sum_mbps[i] < m->sum_mbps[k];
    return i < k;
}

/* Takes what the links `row` of a machine that left count for from the others (NULL: it
 * is the first look); returns the place in members of the next to go. */
static size_t next_to_go(struct mapping *m, const double *row, double limit_mbps)
{
    size_t next = 0;

    for (size_t a = 0; a < m->count; a++) {
        size_t k = m->members[a];

        if (row) {
            m->violations[k] -= row[k] < limit_mbps;
            m->sum_mbps[k] -= row[k];
        }
        if (goes_before(m, k, m->members[next]))
            next = a;
    }
    return next;
}

/* Takes the worst machines out until no link is below the limit; returns how many. */
static size_t remove_offenders(struct parallel_search *s, double limit_mbps,
                               struct mapping *m)
{
    size_t removed = 0, next = next_to_go(m, NULL, limit_mbps);

    while (m->count > 1 && m->violations[m->members[next]] > 0) {
        size_t gone = m->members[next];

        search_charge(s, 2 * m->count);
        m->members[next] = m->members[--m->count];
        m->inside[gone] = false;
        m->removed[removed++] = gone;
        next = next_to_go(m, s->links + gone * s->n, limit_mbps);
    }
    return removed;
}

static bool fits(const struct parallel_search *s, const struct mapping *m, size_t machine,
                 double limit_mbps)
{
    const double *row = s->links + machine * s->n;

    for (size_t a = 0; a < m->count; a++)
        if (row[m->members[a]] < limit_mbps)
            return false;
    return true;
}

static int by_index(const void *a, const void *b)
{
    const size_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void mapping_find(struct parallel_search *s, double cpu_ratio, double bandwidth_mbps,
                  struct mapping *m)
{
    double limit_mbps = bandwidth_mbps - MAPPING_TOLERANCE;
    size_t removed;

    begin(s, cpu_ratio, limit_mbps, m);
    removed = remove_offenders(s, limit_mbps, m);
    qsort(m->removed, removed, sizeof(*m->removed), by_index);
    for (size_t r = 0; r < removed; r++) {
        search_charge(s, m->count);
        if (fits(s, m, m->removed[r], limit_mbps)) {
            m->inside[m->removed[r]] = true;
            m->members[m->count++] = m->removed[r];
        }
    }
    m->min_cpu = search_least_cpu(s, m->members, m->count);
    m->min_bandwidth_mbps = search_least_link(s, m->members, m->count);
}

double mapping_try(struct parallel_search *s, const struct mapping *m)
{
    double score_s;

    if (m->count == 0)
        return HUGE_VAL;
    score_s = search_try(s, m->count, m->min_cpu, m->min_bandwidth_mbps);
    search_keep(s, score_s, m->members, m->count);
    return score_s;
}
