/* parallel/dynamic_programming.c - grows the two best sets machine by machine.
 *
 * Begins with the fastest machine. Each of the (one or two) sets of a size gives its
 * best and its second best set of one machine more; the two best different ones of these
 * go on, to the end, also while the score rises. Greedy: not exact.
 *
 * Source: 003_a5f9349f46eae656 4.2.5, Eq. 4.2, figure 4.5; spec parallel-scheduling.md
 * 4.5. At most 2 n evaluations a size, O(n^2) in all.
 * Deviation: the figure adds 2 to the size at its end and leaves equal sets in, which
 * then are the whole beam; here 1, and the two sets differ.
 */
#include "algorithms/parallel/evaluate.h"

const struct param parallel_dynamic_programming_params[] = {{0}};

enum { BEAM = 2 };

struct candidate {
    size_t parent; /* place in the beam */
    size_t comes;
    double score_s;
};

struct growth {
    struct parallel_search *s;
    struct parallel_set sets[2 * BEAM];
    struct parallel_set *beam[BEAM], *next[BEAM];
    size_t width;
};

/* The best and the second best machine to add to one set of the beam; returns how many
 * there are. */
static size_t extend(struct growth *g, size_t parent, struct candidate best[BEAM])
{
    struct parallel_set *set = g->beam[parent];
    struct set_minima minima = set_minima(set, NO_MACHINE);
    size_t found = 0;

    for (size_t y = 0; y < g->s->n && !search_stop(g->s); y++) {
        struct set_minima m;
        struct candidate c = {parent, y, 0};

        if (set_has(set, y))
            continue;
        m = set_with(set, minima, NO_MACHINE, y);
        c.score_s = search_try(g->s, set->count + 1, m.cpu, m.bandwidth_mbps);
        set_keep(g->s, c.score_s, set, NO_MACHINE, y);
        if (found == 0 || c.score_s < best[0].score_s) {
            best[1] = best[0];
            best[0] = c;
            found += found < BEAM;
        } else if (found == 1 || c.score_s < best[1].score_s) {
            best[1] = c;
            found = BEAM;
        }
    }
    return found;
}

/* Do two candidates make the same set? */
static bool same(const struct growth *g, const struct candidate *a,
                 const struct candidate *b)
{
    const struct parallel_set *x = g->beam[a->parent], *y = g->beam[b->parent];

    if (a->parent == b->parent)
        return a->comes == b->comes;
    if (!set_has(y, a->comes) && a->comes != b->comes)
        return false;
    for (size_t i = 0; i < x->count; i++)
        if (!set_has(y, x->order[i]) && x->order[i] != b->comes)
            return false;
    return true;
}

/* The candidate with the least score that does not make the set of `other` (NULL:
 * any); NULL if there is none. */
static const struct candidate *least(const struct growth *g, const struct candidate *c,
                                     size_t count, const struct candidate *other)
{
    const struct candidate *best = NULL;

    for (size_t i = 0; i < count; i++)
        if ((!best || c[i].score_s < best->score_s) && !(other && same(g, &c[i], other)))
            best = &c[i];
    return best;
}

static void step(struct growth *g)
{
    struct candidate all[BEAM * BEAM];
    const struct candidate *chosen[BEAM];
    size_t count = 0, width = 0;

    for (size_t b = 0; b < g->width; b++) {
        struct candidate two[BEAM] = {0};
        size_t found = extend(g, b, two);

        for (size_t i = 0; i < found; i++)
            all[count++] = two[i];
    }
    chosen[0] = least(g, all, count, NULL);
    chosen[1] = chosen[0] ? least(g, all, count, chosen[0]) : NULL;
    for (size_t b = 0; b < BEAM && chosen[b]; b++) {
        set_copy(g->next[b], g->beam[chosen[b]->parent]);
        set_add(g->next[b], chosen[b]->comes);
        width++;
    }
    for (size_t b = 0; b < BEAM; b++) {
        struct parallel_set *swapped = g->beam[b];

        g->beam[b] = g->next[b];
        g->next[b] = swapped;
    }
    g->width = width;
}

enum error_code parallel_dynamic_programming(struct parallel_search *s,
                                             const double *param, struct error *err)
{
    struct growth g = {.s = s, .width = 1};
    size_t fastest = search_fastest(s);

    (void)err;
    (void)param;
    for (size_t i = 0; i < BEAM; i++) {
        set_create(s, &g.sets[i]);
        set_create(s, &g.sets[BEAM + i]);
        g.beam[i] = &g.sets[i];
        g.next[i] = &g.sets[BEAM + i];
    }
    if (search_stop_now(s))
        return OK;
    search_keep(s, search_try(s, 1, s->cpu[fastest], HUGE_VAL), &fastest, 1);
    set_add(g.beam[0], fastest);
    for (size_t size = 2; size <= s->n && !search_stop(s); size++) {
        step(&g);
        s->iterations++;
    }
    return OK;
}
