/* parallel/box_elimination.c - rules out boxes of (cpu, bandwidth, size) points.
 *
 * The score depends on three numbers only, so the search is over a grid of them. A
 * point (c, b, p) is mapped to a large set in which every cpu reaches c and every link
 * b (mapping.h). What the set dominates is no better: cpu, bandwidth and size at or
 * below its own. What asks for more machines under limits at least as tight as the
 * point's does not exist, as far as the mapping finds the largest set. Both boxes are
 * taken out until no point is left.
 *
 * The first point is the centre of the grid. The further ones are drawn from the
 * octants of the first set's point, save the lowest and the highest: a wheel with six
 * sectors that begin equal, and each grows by one when it gives a new best.
 *
 * be_mode `literal` takes the second box from the mapped point, sizes at or above its
 * own, and the drawn point itself, as the source's figure does. It may lose better sets.
 *
 * A score that may rise with the size (a reciprocal function of P, a queue wait) does
 * not let the first box go: then every column is mapped, and the prefixes of its set by
 * falling cpu, and by falling sum of links, are evaluated too.
 *
 * Source: 003_a5f9349f46eae656 4.2.6, figures 4.6-4.8; spec parallel-scheduling.md 4.6.
 * At most one mapping, O(n^2), a column of the grid; the source's claim of
 * log(points) steps does not hold on fine grids.
 * Deviation: the source rounds to the closest grid point and takes points out that may
 * be better, and may leave the drawn one in; see be_mode.
 */
#include "algorithms/parallel/grid.h"
#include "algorithms/parallel/mapping.h"

enum { BE_MODE };
enum { SOUND, LITERAL }; /* indexes of modes */

static const char *const modes[] = {"sound", "literal", NULL};

const struct param parallel_box_elimination_params[] = {
    [BE_MODE] = {"be_mode", 0, 1, 0,
                 "Boxes that are taken out: those that cannot be better, or those of the "
                 "source's figure",
                 PARAM_CHOICE, modes},
    {0},
};

struct elimination {
    struct parallel_search *s;
    struct box_grid grid;
    struct mapping mapping;
    struct grid_point reference; /* the first set's */
    double wheel[OCTANTS];
    bool literal;
};

/* Maps the point and takes its boxes out; returns the set's point. *better: it is a new
 * best. */
static struct grid_point look(struct elimination *x, struct grid_point at, bool *better)
{
    struct parallel_search *s = x->s;
    double best_s = s->best_s;
    struct grid_point cell, corner;

    search_charge(s, x->grid.cpu_levels * x->grid.bandwidth_levels);
    mapping_find(s, grid_cpu(&x->grid, at.i), grid_bandwidth_mbps(&x->grid, at.j),
                 &x->mapping);
    mapping_try(s, &x->mapping);
    *better = s->best_s < best_s;
    cell = grid_cell(&x->grid, x->mapping.min_cpu, x->mapping.min_bandwidth_mbps,
                     x->mapping.count);
    /* The set meets the point's limits, but for the mapping's tolerance. */
    cell.i = cell.i > at.i ? cell.i : at.i;
    cell.j = cell.j > at.j ? cell.j : at.j;
    corner = x->literal ? cell : (struct grid_point){at.i, at.j, cell.p + 1};
    grid_remove_below(&x->grid, cell);
    grid_remove_above(&x->grid, corner);
    if (x->literal)
        grid_take_out(&x->grid, at);
    s->iterations++;
    return cell;
}

/* A sector by the wheel; OCTANTS: none has points. */
static size_t turn(struct elimination *x, const size_t count[OCTANTS])
{
    size_t last = OCTANTS;
    double sum = 0, r;

    for (size_t k = 1; k + 1 < OCTANTS; k++)
        sum += count[k] ? x->wheel[k] : 0;
    r = sum > 0 ? random_unit(&x->s->random) * sum : 0;
    for (size_t k = 1; k + 1 < OCTANTS; k++) {
        if (count[k] == 0)
            continue;
        last = k;
        r -= x->wheel[k];
        if (r < 0)
            break;
    }
    return last;
}

static void eliminate(struct elimination *x)
{
    struct box_grid *g = &x->grid;
    struct grid_point centre = {(g->cpu_levels - 1) / 2, (g->bandwidth_levels - 1) / 2,
                                (1 + g->n) / 2};
    bool better;

    if (search_stop_now(x->s))
        return;
    for (size_t k = 0; k < OCTANTS; k++)
        x->wheel[k] = 1;
    x->reference = look(x, centre, &better);
    while (!search_stop_now(x->s)) {
        size_t count[OCTANTS], sector;
        struct grid_point at;

        grid_count(g, x->reference, count);
        sector = turn(x, count);
        if (sector == OCTANTS)
            return;
        at = grid_pick(g, x->reference, sector,
                       random_index(&x->s->random, count[sector]));
        look(x, at, &better);
        if (better)
            x->wheel[sector]++;
    }
}

/* ---- a score that may rise with the size ---- */

struct prefixes {
    struct keyed_machine *by_cpu, *by_links;
    size_t *members;
};

/* Evaluates every prefix of the mapping's set in this order. */
static void try_prefixes(struct elimination *x, struct keyed_machine *order,
                         size_t *members)
{
    struct parallel_search *s = x->s;
    double cpu = HUGE_VAL, link = HUGE_VAL;

    keyed_sort(order, x->mapping.count);
    for (size_t p = 1; p <= x->mapping.count && !search_stop(s); p++) {
        size_t machine = order[p - 1].machine;

        for (size_t k = 0; k + 1 < p; k++)
            link = fmin(link, search_link(s, machine, members[k]));
        cpu = fmin(cpu, s->cpu[machine]);
        members[p - 1] = machine;
        search_keep(s, search_try(s, p, cpu, link), members, p);
    }
}

static void try_column(struct elimination *x, size_t i, size_t j, struct prefixes *pre)
{
    struct parallel_search *s = x->s;
    const struct mapping *m = &x->mapping;

    mapping_find(s, grid_cpu(&x->grid, i), grid_bandwidth_mbps(&x->grid, j), &x->mapping);
    mapping_try(s, m);
    for (size_t a = 0; a < m->count; a++) {
        size_t machine = m->members[a];
        double sum = 0;

        for (size_t b = 0; b < m->count; b++)
            sum += a == b ? 0 : search_link(s, machine, m->members[b]);
        pre->by_cpu[a] = (struct keyed_machine){-s->cpu[machine], machine};
        pre->by_links[a] = (struct keyed_machine){-sum, machine};
    }
    try_prefixes(x, pre->by_cpu, pre->members);
    try_prefixes(x, pre->by_links, pre->members);
    s->iterations++;
}

static void try_all_columns(struct elimination *x)
{
    struct parallel_search *s = x->s;
    struct prefixes pre = {
        .by_cpu = NEW(s->arena, struct keyed_machine, s->n),
        .by_links = NEW(s->arena, struct keyed_machine, s->n),
        .members = NEW(s->arena, size_t, s->n),
    };

    for (size_t i = 0; i < x->grid.cpu_levels; i++)
        for (size_t j = 0; j < x->grid.bandwidth_levels && !search_stop_now(s); j++)
            try_column(x, i, j, &pre);
}

enum error_code parallel_box_elimination(struct parallel_search *s, const double *param,
                                         struct error *err)
{
    struct elimination x = {.s = s, .literal = (size_t)param[BE_MODE] == LITERAL};

    (void)err;
    TRY(grid_create(s, x.literal, &x.grid));
    mapping_create(s, &x.mapping);
    if (x.grid.cpu_levels == 0)
        return OK;
    if (!s->monotone) {
        try_all_columns(&x);
        return OK;
    }
    eliminate(&x);
    return OK;
}
