/* placement/amounts_files.c - input files and outputs of jobs where amounts count. */
#include "algorithms/placement/amounts_files.h"

#include "algorithms/placement/amounts_parts.h"
#include "algorithms/placement/pair_map.h"

#include <string.h>

bool amounts_have_files(const struct placement_problem *p)
{
    return p->has_files || (p->has_outputs && p->home_site != NO_INDEX);
}

enum filter amounts_file_filter(const struct placement_problem *p, size_t job,
                                size_t position)
{
    const struct problem_job *j = &p->jobs[job];
    const size_t *files = j->file_count ? problem_files(p, j, position) : NULL;

    for (size_t k = 0; k < j->file_count; k++)
        if (!files || files[k] == NO_INDEX)
            return FILTER_FILE_UNRESOLVED;
    for (size_t k = 0; k < j->file_count; k++)
        if (problem_transfer_s(p, files[k], p->resources[position].site) > LONGEST_S)
            return FILTER_FILE_UNREACHABLE;
    return problem_output_s(p, j, position) > LONGEST_S ? FILTER_FILE_UNREACHABLE
                                                        : FILTER_PASSED;
}

const char *const *amounts_file_names(const struct placement_problem *p, size_t job,
                                      size_t position)
{
    const struct problem_job *j = &p->jobs[job];
    size_t arch = p->resources[position].arch;

    return j->names ? j->names + (j->by_arch ? arch * j->file_count : 0) : NULL;
}

/* ---- what has come for whom ---- */

/* A file at a store, for the job that has moved it. */
struct file_arrival {
    double at_s; /* NAN: its job lost its place */
    size_t file, store, job;
};

struct file_arrivals {
    const struct placement_problem *p;
    struct pair_map map; /* of a file and a store: index in `list` */
    struct file_arrival *list;
    size_t room, live;
    struct board_files files;
};

static struct file_arrivals *arrivals_create(const struct placement_problem *p)
{
    struct file_arrivals *x = NEW(p->arena, struct file_arrivals, 1);
    size_t most = 16;

    for (size_t i = 0; i < p->job_count; i++)
        most += p->jobs[i].file_count;
    budget_step(p->in->budget, p->job_count);
    x->p = p;
    x->room = 2 * most;
    x->list = NEW(p->arena, struct file_arrival, x->room);
    pair_map_create(&x->map, x->room, p->arena);
    return x;
}

static struct file_arrival *arrival_of(const struct file_arrivals *x, size_t file,
                                       size_t store)
{
    const struct pair_place *place = pair_map_at(&x->map, file, store);

    return place->a && !isnan(x->list[place->value].at_s) ? &x->list[place->value] : NULL;
}

/* Forgets the places of files whose jobs lost theirs. */
static void sweep(struct file_arrivals *x)
{
    size_t count = x->map.count, kept = 0;

    memset(x->map.places, 0, (x->map.mask + 1) * sizeof(*x->map.places));
    x->map.count = 0;
    for (size_t k = 0; k < count; k++) {
        if (isnan(x->list[k].at_s))
            continue;
        x->list[kept] = x->list[k];
        pair_map_number(&x->map, x->list[kept].file, x->list[kept].store);
        kept++;
    }
    budget_step(x->p->in->budget, x->map.mask / 4 + count);
}

static void note_arrival(struct file_arrivals *x, size_t file, size_t store, size_t job,
                         double at_s)
{
    if (x->map.count == x->room)
        sweep(x);
    x->list[pair_map_number(&x->map, file, store)] =
        (struct file_arrival){at_s, file, store, job};
    x->live++;
}

/* A job that takes no time holds nothing: its files have come when it starts. */
static bool takes_no_time(const struct placement_problem *p, size_t job, size_t position)
{
    const struct problem_job *j = &p->jobs[job];

    return j->etc_s || !isnan(j->estimate_ref_s)
               ? problem_execution_s(p, j, position) <= 0
               : j->given->estimate_s <= 0;
}

/* When the last file is there, if they begin to move at t_s. `notes`: those that move are
 * there for others from then on; *bytes: of them. HUGE_VAL: one cannot come. */
static double move_files(struct file_arrivals *x, size_t job, size_t position, double t_s,
                         bool notes, double *bytes)
{
    double latest_s = takes_no_time(x->p, job, position) ? t_s : HUGE_VAL;
    const struct placement_problem *p = x->p;
    const struct problem_job *j = &p->jobs[job];
    const struct problem_resource *r = &p->resources[position];
    const size_t *files = problem_files(p, j, position);

    budget_step(p->in->budget, j->file_count);
    for (size_t k = 0; k < j->file_count; k++) {
        const struct file_arrival *there;
        double move_s;

        if (!files || files[k] == NO_INDEX)
            return HUGE_VAL;
        there = arrival_of(x, files[k], r->store);
        if (there) {
            t_s = fmax(t_s, there->at_s);
            continue;
        }
        move_s = problem_transfer_s(p, files[k], r->site);
        if (move_s > LONGEST_S)
            return HUGE_VAL;
        t_s += move_s;
        if (move_s <= 0)
            continue; /* there from the beginning */
        *bytes += p->in->snapshot->files[files[k]].bytes;
        if (notes && p->in->snapshot->files[files[k]].shared)
            note_arrival(x, files[k], r->store, job, fmin(t_s, latest_s));
    }
    return t_s;
}

/* ---- for a board ---- */

static double staged_s(void *context, size_t job, size_t position, double start_s)
{
    double bytes = 0;

    return move_files(context, job, position, start_s, false, &bytes);
}

static void give_back(struct file_arrivals *x, size_t job, size_t position)
{
    const struct problem_job *j = &x->p->jobs[job];
    const size_t *files = problem_files(x->p, j, position);

    for (size_t k = 0; files && k < j->file_count; k++) {
        struct file_arrival *there =
            arrival_of(x, files[k], x->p->resources[position].store);

        if (!there || there->job != job)
            continue;
        there->at_s = NAN;
        x->live--;
    }
    budget_step(x->p->in->budget, j->file_count);
    if (x->live == 0 && x->map.count)
        sweep(x);
}

static void placed(void *context, size_t job, size_t position, double start_s, bool taken)
{
    double bytes = 0;

    if (!taken)
        give_back(context, job, position);
    else
        move_files(context, job, position, start_s, true, &bytes);
}

static bool has_files(void *context, size_t job)
{
    const struct file_arrivals *x = context;

    return x->p->jobs[job].file_count > 0;
}

const struct board_files *amounts_board_files(const struct placement_problem *p)
{
    struct file_arrivals *x;

    if (!p->has_files)
        return NULL;
    x = arrivals_create(p);
    x->files = (struct board_files){
        .context = x, .staged_s = staged_s, .placed = placed, .has_files = has_files};
    return &x->files;
}

const double *amounts_bytes_moved(const struct placement_problem *p,
                                  const struct world_plan *plan)
{
    double *bytes = NEW(p->arena, double, p->job_count);
    struct file_arrivals *x;

    if (!p->has_files)
        return bytes;
    x = arrivals_create(p);
    for (size_t k = 0; k < plan->placed_count; k++) {
        size_t job = plan->sequence[k];
        const struct world_placed *at = &plan->placed[job];

        if (p->jobs[job].file_count)
            move_files(x, job, at->positions[0], at->start_s, true, &bytes[job]);
    }
    return bytes;
}

/* ---- in the world ---- */

/* Out of each choice, those where files or outputs keep the job away. */
static void narrow(struct world_maker *m, size_t job)
{
    struct world_job *j = &m->jobs[job];
    size_t words = m->p->block_count + 1;
    struct world_choice *list = NEW(m->arena, struct world_choice, j->choice_count);

    for (size_t c = 0; c < j->choice_count; c++) {
        uint64_t *mask = NEW(m->arena, uint64_t, words);

        memcpy(mask, j->choices[c].mask, m->p->block_count * sizeof(*mask));
        list[c] = j->choices[c];
        for (size_t pos = 0; pos < m->w->resource_count; pos++) {
            if (!world_mask_has(mask, pos) ||
                amounts_file_filter(m->p, job, pos) == FILTER_PASSED)
                continue;
            mask[pos / BLOCK] &= ~(UINT64_C(1) << (pos % BLOCK));
            list[c].count--;
        }
        list[c].mask = mask;
        budget_step(m->w->budget, m->w->resource_count);
    }
    j->choices = list;
}

/* By site: whether the job's files can be there and its outputs come home; by_arch: each
 * resource has to be asked. */
static bool is_kept_away(const struct world_maker *m, size_t job, const size_t *example)
{
    if (m->p->jobs[job].by_arch)
        return true;
    budget_step(m->w->budget, m->p->site_count * (1 + m->p->jobs[job].file_count));
    for (size_t site = 0; site < m->p->site_count; site++)
        if (example[site] != NO_INDEX &&
            amounts_file_filter(m->p, job, example[site]) != FILTER_PASSED)
            return true;
    return false;
}

/* How long outputs take from each site. */
static void time_outputs(struct world_maker *m, size_t job, const size_t *example)
{
    struct world_job *j = &m->jobs[job];
    double *out_s = NEW(m->arena, double, m->p->site_count);

    if (m->p->jobs[job].given->output_bytes <= 0)
        return;
    j->stage_out_s = HUGE_VAL;
    for (size_t site = 0; site < m->p->site_count; site++) {
        if (example[site] == NO_INDEX)
            continue;
        out_s[site] = problem_output_s(m->p, &m->p->jobs[job], example[site]);
        if (out_s[site] > LONGEST_S)
            out_s[site] = 0; /* no job goes there */
        else
            j->stage_out_s = fmin(j->stage_out_s, out_s[site]);
    }
    if (j->stage_out_s == HUGE_VAL)
        j->stage_out_s = 0;
    j->stage_out_of_site_s = out_s;
}

void amounts_make_files(struct world_maker *m)
{
    size_t *example; /* a resource of each site */

    m->w->without_files = !amounts_have_files(m->p);
    if (m->w->without_files)
        return;
    example = NEW(m->arena, size_t, m->p->site_count);
    for (size_t site = 0; site < m->p->site_count; site++)
        example[site] = NO_INDEX;
    for (size_t pos = m->w->resource_count; pos-- > 0;)
        example[m->w->resources[pos].site] = pos;
    for (size_t i = 0; i < m->w->job_count; i++) {
        if (m->p->jobs[i].file_count == 0 && m->p->jobs[i].given->output_bytes <= 0)
            continue;
        if (m->p->home_site != NO_INDEX)
            time_outputs(m, i, example);
        if (is_kept_away(m, i, example))
            narrow(m, i);
    }
}
