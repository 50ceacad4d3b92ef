/* plan/plan_simulation.c - multi-phase applications on clusters whose loads change. */
#include "algorithms/plan/plan_simulation.h"

#include "algorithms/plan/plan_run.h"
#include "models/base/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DRAW_STEPS = 4 }; /* what a draw costs, about */

const char *const plan_redraw_names[] = {"never", "interval", "phase", NULL};
const char *const plan_sim_mode_names[] = {"single", "fixed", "remade", "no_model", NULL};

/* ---- one run ---- */

struct sim_site {
    struct parallel_machines machines;
    double *cpu, *links; /* those of `machines` */
    struct plan_machines *source;
    char id[24];
};

struct sim {
    const struct plan_sim_in *in;
    size_t run;
    struct sim_site *sites;
    struct plan_site *plan_sites;
    struct plan_source *sources;
    struct plan_in plan;
    struct plan_grid grid;
    uint64_t asked;
    size_t epoch; /* that the loads are of; SIZE_MAX: none yet */
    size_t *met;  /* of each phase: epoch that policies without markers meet */
    bool met_known;
    struct plan_run executed; /* intervals of the policy that runs */
    double expected_s;        /* predicted at its start */
    bool stopped;             /* the budget ended */
    struct arena *arena;      /* of the run */
    struct error *err;
};

static struct rng stream_of(const struct sim *sim, const char *what, size_t epoch)
{
    char name[96];

    snprintf(name, sizeof(name), "plan.%s.%zu.%zu", what, sim->run, epoch);
    return rng_stream(sim->in->seed, name);
}

static double draw(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_uniform(r);
}

static size_t draw_count(struct rng *r, size_t low, size_t high)
{
    return low + rng_index(r, high - low + 1);
}

/* Loads of all machines and links in an epoch; cached answers are then void. */
static void load_epoch(struct sim *sim, size_t epoch)
{
    const struct plan_sim_grid *grid = &sim->in->grid;
    struct rng r = stream_of(sim, "loads", epoch);

    if (epoch == sim->epoch)
        return;
    for (size_t s = 0; s < sim->plan.site_count; s++) {
        struct sim_site *site = &sim->sites[s];
        size_t n = site->machines.count;
        double capacity_mbps = site->machines.link_capacity_mbps;

        for (size_t i = 0; i < n; i++)
            site->cpu[i] = draw(&r, grid->cpu_min, grid->cpu_max);
        for (size_t i = 0; i < n && !sim->stopped; i++) {
            sim->stopped = budget_step(sim->in->budget, DRAW_STEPS * i);
            for (size_t k = 0; k < i; k++)
                site->links[i * n + k] = site->links[k * n + i] =
                    capacity_mbps * draw(&r, grid->link_share_min, grid->link_share_max);
        }
        plan_machines_forget(site->source);
        plan_table_forget(&sim->grid.tables[s]);
    }
    sim->epoch = epoch;
}

/* The models on a cluster that takes `factor` times as long to compute. */
static struct perf_terms *scaled(const struct perf_terms *phases, size_t count,
                                 double factor, struct arena *a)
{
    struct perf_terms *copy = NEW(a, struct perf_terms, count);

    for (size_t k = 0; k < count; k++) {
        struct perf_term *terms = NEW(a, struct perf_term, phases[k].term_count);

        for (size_t i = 0; i < phases[k].term_count; i++) {
            terms[i] = phases[k].terms[i];
            terms[i].comp_s *= factor;
        }
        copy[k] =
            (struct perf_terms){terms, phases[k].term_count, phases[k].single_s * factor};
    }
    return copy;
}

static void make_site(struct sim *sim, size_t s, struct rng *r, size_t count,
                      const struct perf_terms *phases)
{
    const struct plan_sim_in *in = sim->in;
    struct sim_site *site = &sim->sites[s];
    double factor = in->grid.cpu_scaling_factors[rng_index(r, in->grid.factor_count)];
    double capacity_mbps =
        in->grid.capacities_mbps[rng_index(r, in->grid.capacity_count)];
    struct perf_terms *models = scaled(phases, sim->plan.phase_count, factor, sim->arena);

    site->cpu = NEW(sim->arena, double, count);
    site->links = NEW(sim->arena, double, count *count);
    snprintf(site->id, sizeof(site->id), "%zu", s);
    site->machines =
        (struct parallel_machines){count, site->cpu, site->links, NULL, capacity_mbps};
    plan_machines_create(
        &(struct plan_machines_in){
            .machines = &site->machines,
            .phases = models,
            .phase_count = sim->plan.phase_count,
            .min_procs = 1,
            .scheduler = in->scheduler,
            .scheduler_param = in->scheduler_param,
            .scheduler_share = 1,
            .keeps_answers = true,
            .questions = 1,
            .asked = &sim->asked,
            .site_id = site->id,
            .seed = in->seed,
            .budget = in->budget,
            .scratch = in->scratch,
        },
        &site->source, &sim->sources[s], sim->arena);
    sim->sources[s].bound = NULL; /* nobody asks how good these plans are */
    sim->plan_sites[s] = (struct plan_site){.id = site->id,
                                            .source = &sim->sources[s],
                                            .intra_cost_s = in->grid.intra_cost_s};
}

/* Sizes of the clusters: their number, and the machines of each. */
static size_t *draw_sizes(struct sim *sim, struct rng *r, size_t *count)
{
    const struct plan_sim_grid *grid = &sim->in->grid;
    size_t *sizes;

    *count = draw_count(r, grid->sites_min, grid->sites_max);
    sizes = NEW(sim->arena, size_t, *count);
    for (size_t s = 0; s < *count; s++)
        sizes[s] = draw_count(r, grid->machines_min, grid->machines_max);
    return sizes;
}

/* The application: as given, or a substitute for the mean size. */
static void find_phases(struct sim *sim, const size_t *sizes, size_t count,
                        const struct perf_terms **phases)
{
    double sum = 0;

    for (size_t s = 0; s < count; s++)
        sum += (double)sizes[s];
    *phases = sim->in->phases;
    sim->plan.phase_count = sim->in->phase_count;
    if (sim->in->application != PLAN_APP_GIVEN)
        *phases = plan_substitute(sim->in->application, sum / (double)count,
                                  sim->in->merged, &sim->plan.phase_count, sim->arena);
}

static enum error_code make_run(struct sim *sim)
{
    const struct plan_sim_in *in = sim->in;
    struct arena *a = sim->arena;
    struct rng r = stream_of(sim, "grid", 0);
    const struct perf_terms *phases;
    double *inter;
    size_t n, *sizes = draw_sizes(sim, &r, &n);

    find_phases(sim, sizes, n, &phases);
    sim->sites = NEW(a, struct sim_site, n);
    sim->plan_sites = NEW(a, struct plan_site, n);
    sim->sources = NEW(a, struct plan_source, n);
    sim->met = NEW(a, size_t, sim->plan.phase_count + 1);
    sim->executed.intervals = NEW(a, struct plan_interval, sim->plan.phase_count);
    inter = NEW(a, double, n *n);
    for (size_t i = 0; i < n * n; i++)
        inter[i] = in->grid.inter_cost_s;
    for (size_t s = 0; s < n; s++)
        make_site(sim, s, &r, sizes[s], phases);
    sim->plan.as_found = true;
    sim->plan.sites = sim->plan_sites;
    sim->plan.site_count = n;
    sim->plan.inter_cost_s = inter;
    sim->plan.first_phase = 1;
    sim->plan.current = (struct plan_place){SIZE_MAX, SIZE_MAX};
    sim->plan.seed = in->seed;
    sim->plan.budget = in->budget;
    sim->epoch = SIZE_MAX;
    return plan_grid_create(&sim->plan, NULL, in->option, &sim->grid, a, sim->err);
}

/* ---- running an application ---- */

/* The epoch of phase k for policies without markers of their own. */
static size_t epoch_met(const struct sim *sim, size_t k)
{
    if (sim->in->redraw == PLAN_REDRAW_PHASE)
        return k - 1;
    return sim->in->redraw == PLAN_REDRAW_NEVER ? 0 : sim->met[k];
}

/* Time of an interval, phase by phase through the epochs that it meets. */
static double run_through(struct sim *sim, const struct plan_interval *interval)
{
    double time_s = interval->cost_s;

    for (size_t k = interval->first; k <= interval->last; k++) {
        load_epoch(sim, epoch_met(sim, k));
        time_s += plan_table_time_on(&sim->grid.tables[interval->place.site],
                                     interval->place.schedule, k, k);
    }
    return time_s;
}

/* What a policy does next, at the start of a phase. */
static enum error_code next_interval(struct sim *sim, const struct policy *planner,
                                     size_t start, const struct plan_place *prev,
                                     struct plan_interval *next, bool *found)
{
    struct plan_in plan = sim->plan;
    struct plan_choice choice;
    struct plan_out out;

    if (plan_site_fn_of(planner)) {
        sim->grid.planner = plan_site_fn_of(planner);
        return plan_grid_next(&sim->grid, start, prev, next, &choice, found, sim->err);
    }
    plan.first_phase = start;
    plan.current = *prev;
    TRY(plan_decide(&plan, planner, sim->in->option, &out, sim->arena, sim->err));
    *found = out.interval_count > 0;
    if (*found)
        *next = out.intervals[0];
    return OK;
}

/* A new plan at each marker. *moves counts intervals that do not stay. */
static enum error_code run_remade(struct sim *sim, const struct policy *planner,
                                  double *time_s, size_t *moves)
{
    struct plan_place prev = {SIZE_MAX, SIZE_MAX};
    size_t count = 0;

    *time_s = 0;
    for (size_t start = 1; start <= sim->plan.phase_count && !sim->stopped; count++) {
        struct plan_interval next;
        bool found;

        load_epoch(sim, sim->in->redraw == PLAN_REDRAW_INTERVAL ? count
                        : sim->in->redraw == PLAN_REDRAW_PHASE  ? start - 1
                                                                : 0);
        TRY(next_interval(sim, planner, start, &prev, &next, &found));
        if (!found) {
            sim->stopped = true;
            return OK;
        }
        if (sim->in->redraw == PLAN_REDRAW_PHASE)
            *time_s += run_through(sim, &next);
        else
            *time_s += next.time_s + next.cost_s;
        for (size_t k = next.first; k <= next.last && !sim->met_known; k++)
            sim->met[k] = count;
        *moves += count > 0 && next.action != PLAN_KEEP ? 1U : 0U;
        prev = next.place;
        start = next.last + 1;
        sim->stopped = budget_spent(sim->in->budget);
    }
    sim->met_known = true;
    return OK;
}

/* A plan made for the loads of the start, kept whatever comes. */
static enum error_code run_planned(struct sim *sim, const struct policy *planner,
                                   double *time_s, size_t *moves)
{
    struct plan_out out;

    load_epoch(sim, epoch_met(sim, 1));
    TRY(plan_decide(&sim->plan, planner, sim->in->option, &out, sim->arena, sim->err));
    if (out.interval_count == 0 || out.status == DECISION_CUT) {
        sim->stopped = true;
        return OK;
    }
    sim->expected_s = out.total_s;
    *time_s = 0;
    for (size_t i = 0; i < out.interval_count; i++) {
        *time_s += run_through(sim, &out.intervals[i]);
        *moves += i > 0 && out.intervals[i].action != PLAN_KEEP ? 1U : 0U;
    }
    return OK;
}

static void run_no_model(struct sim *sim, double *time_s)
{
    size_t n = sim->sites[0].machines.count, *all = NEW(sim->arena, size_t, n);
    struct plan_interval whole = {.first = 1, .last = sim->plan.phase_count};

    for (size_t i = 0; i < n; i++)
        all[i] = i;
    plan_machines_add(sim->sites[0].source, all, n, &whole.place.schedule);
    *time_s = run_through(sim, &whole);
}

static enum error_code run_policy(struct sim *sim, const struct plan_sim_policy *policy,
                                  double *time_s, size_t *moves)
{
    sim->expected_s = NAN;
    switch (policy->mode) {
    case PLAN_SIM_SINGLE:
        return run_planned(sim, policy_find(plan_policies, "single_schedule"), time_s,
                           moves);
    case PLAN_SIM_FIXED:
        return run_planned(sim, policy->planner, time_s, moves);
    case PLAN_SIM_REMADE:
        return run_remade(sim, policy->planner, time_s, moves);
    case PLAN_SIM_NO_MODEL:
        run_no_model(sim, time_s);
        return OK;
    }
    return OK;
}

/* Remade policies run first: the others meet the epochs of the first of them. */
static enum error_code run_all(struct sim *sim, struct plan_sim_run *played)
{
    const struct plan_sim_in *in = sim->in;
    bool any = false;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t p = 0; p < in->policy_count && !sim->stopped; p++) {
            bool remade = in->policies[p].mode == PLAN_SIM_REMADE;
            size_t moves = 0;

            if (remade != (pass == 0))
                continue;
            any = any || remade;
            TRY(run_policy(sim, &in->policies[p], &played[p].time_s, &moves));
            played[p].expected_s = sim->expected_s;
            played[p].move_count = (double)moves;
        }
        if (pass == 0 && !any && in->redraw == PLAN_REDRAW_INTERVAL) {
            double reference_s;
            size_t reference_moves = 0;

            TRY(run_remade(sim, policy_find(plan_policies, "incremental"), &reference_s,
                           &reference_moves));
        }
    }
    return OK;
}

enum error_code plan_simulate(const struct plan_sim_in *in, size_t run,
                              struct plan_sim_run *played, bool *is_cut, struct arena *a,
                              struct error *err)
{
    struct sim sim = {.in = in, .run = run, .arena = a, .err = err};

    TRY(make_run(&sim));
    TRY(run_all(&sim, played));
    *is_cut = sim.stopped;
    return OK;
}

/* ---- all runs ---- */

static void add_run(const struct plan_sim_run *played, size_t policies,
                    struct plan_sim_result *sums)
{
    size_t best = 0;

    for (size_t p = 1; p < policies; p++)
        if (played[p].time_s < played[best].time_s)
            best = p;
    for (size_t p = 0; p < policies; p++) {
        struct plan_sim_result *t = &sums[p];
        double time_s = played[p].time_s;

        t->min_s = t->mean_s > 0 ? fmin(t->min_s, time_s) : time_s;
        t->max_s = fmax(t->max_s, time_s);
        t->mean_s += time_s;
        t->expected_mean_s += played[p].expected_s;
        t->mean_ratio += time_s / played[best].time_s;
        t->mean_moves += played[p].move_count;
        t->wins += p == best ? 1U : 0U;
    }
}

/* Of the sums; `played` are those of the policy, `step` apart. */
static void end_result(const struct plan_sim_run *played, size_t runs, size_t step,
                       struct plan_sim_result *r)
{
    double n = (double)runs, squares = 0;

    r->mean_s /= n;
    r->expected_mean_s /= n;
    r->mean_ratio /= n;
    r->mean_moves /= n;
    for (size_t i = 0; i < runs; i++) {
        double off_s = played[i * step].time_s - r->mean_s;

        squares += off_s * off_s;
    }
    r->sd_s = runs > 1 ? sqrt(squares / (n - 1)) : (double)NAN;
}

void plan_sim_summarise(const struct plan_sim_run *played, size_t runs, size_t policies,
                        struct plan_sim_result *results)
{
    memset(results, 0, policies * sizeof(results[0]));
    for (size_t i = 0; i < runs; i++)
        add_run(played + i * policies, policies, results);
    for (size_t p = 0; p < policies; p++)
        end_result(played + p, runs, policies, &results[p]);
}
