/* simulation_run.c - several policies on the same scenario, several times. */
#include "handlers/simulation/simulation_run.h"

#include "handlers/simulation/simulation_kept.h"
#include "models/base/rng.h"
#include "service/store_simulation.h"

#include <string.h>

const char *const simulation_seed_schemes[] = {"spread", "sequence", NULL};

uint64_t simulation_seed(uint64_t seed, enum simulation_seeds scheme, uint64_t run)
{
    uint64_t state = seed, drawn = 0;

    if (run == 0 || scheme == SIMULATION_SEEDS_SEQUENCE)
        return seed + run;
    for (uint64_t i = 0; i < run; i++)
        drawn = splitmix64(&state);
    return drawn >> 11;
}

/* What is under way. */
struct play {
    struct request *rq;
    const struct simulation_plan *plan;
    struct sim_metrics *metrics; /* of each label, one for each run */
    size_t games_done;           /* a game: one label in one run */
    uint64_t runs_done, events_done;
    struct sim_progress game;
};

static void note_progress(const struct play *p)
{
    double games = (double)(p->plan->run_count * p->plan->label_count);

    if (p->rq->progress)
        progress_write(p->rq->progress,
                       (struct store_progress){
                           fmin(1, ((double)p->games_done + p->game.time_ratio) / games),
                           p->events_done + p->game.events, p->runs_done});
}

/* The request's clock, asked by the simulator; a good moment to say how far it is. */
static double time_used(void *context)
{
    const struct play *p = context;

    note_progress(p);
    return budget_used(&p->rq->budget);
}

static uint64_t part_of(const struct play *p, uint64_t run, size_t label)
{
    return run * p->plan->label_count + label;
}

/* Of the runs that an earlier owner of the simulation has played. */
static bool find_game(struct play *p, uint64_t run, size_t label, struct sim_run_out *out)
{
    const struct store_part *part =
        store_parts_find(p->rq->parts, part_of(p, run, label));

    return part && simulation_unpack(part->content, out, p->rq->arena);
}

/* For a later owner. Without memory it is played again then. */
static void keep_game(struct play *p, uint64_t run, size_t label,
                      const struct sim_run_out *out)
{
    struct store_part part = {.number = part_of(p, run, label)};

    if (!p->rq->parts)
        return;
    part.content = simulation_pack(out, p->rq->arena);
    if (part.content.data)
        p->rq->parts->keep(p->rq->parts->context, &part);
}

static void count_game(struct play *p, const struct sim_run_out *out, bool ended)
{
    p->events_done += (uint64_t)out->metrics.events;
    p->game = (struct sim_progress){0};
    p->games_done += ended;
}

/* Plays one label in one run; *ended false: the budget or the events are spent. */
static enum error_code play_game(struct play *p, uint64_t run, size_t label,
                                 struct sim_run_out *out, bool *ended)
{
    const struct simulation_plan *plan = p->plan;
    struct sim_scenario scenario = *plan->scenario;
    struct budget budget = {.used = time_used, .context = p};

    *ended = find_game(p, run, label, out);
    if (*ended) {
        count_game(p, out, true);
        return OK;
    }
    if ((plan->max_events && p->events_done >= plan->max_events) ||
        budget_spent(&p->rq->budget)) /* short games never ask */
        return OK;
    if (plan->max_events)
        scenario.max_events = plan->max_events - p->events_done;
    p->game = (struct sim_progress){0};
    *out = (struct sim_run_out){0};
    TRY(sim_run(&scenario, &plan->labels[label].policy,
                simulation_seed(plan->seed, plan->seed_scheme, run), &budget,
                run == 0 ? &plan->wanted : NULL, &p->game, out, p->rq->arena,
                p->rq->err));
    *ended = out->status != DECISION_CUT;
    count_game(p, out, *ended);
    if (*ended)
        keep_game(p, run, label, out);
    return OK;
}

static enum error_code play_run(struct play *p, uint64_t run,
                                struct simulation_outcome *out, bool *ended)
{
    double truncated_s = (double)NAN; /* of all labels the same, if it comes to that */

    *ended = true;
    for (size_t i = 0; i < p->plan->label_count && *ended; i++) {
        struct sim_run_out game = {.truncated_s = (double)NAN}; /* without time */

        TRY(play_game(p, run, i, &game, ended));
        p->metrics[i * p->plan->run_count + run] = game.metrics;
        truncated_s = fmin(truncated_s, game.truncated_s);
        if (run == 0)
            out->results[i].first = game;
    }
    if (*ended && !isnan(truncated_s)) {
        out->truncated_count++;
        out->truncated_s = fmin(out->truncated_s, truncated_s);
    }
    return OK;
}

/* Without complete runs there is no rank either: as they were given. */
static void summarise(const struct play *p, struct simulation_outcome *out,
                      struct arena *a)
{
    size_t count = p->plan->label_count;
    const struct sim_summary **summaries = NEW(a, const struct sim_summary *, count);
    const char **labels = NEW(a, const char *, count);

    out->ranking = NEW(a, size_t, count);
    for (size_t i = 0; i < count; i++) {
        sim_aggregate(&p->metrics[i * p->plan->run_count], p->runs_done,
                      out->results[i].metrics);
        summaries[i] = out->results[i].metrics;
        labels[i] = p->plan->labels[i].policy.label;
        out->ranking[i] = i;
    }
    if (p->runs_done)
        sim_rank(labels, summaries, count, out->ranking);
}

enum error_code simulation_play(struct request *rq, const struct simulation_plan *plan,
                                struct simulation_outcome *out)
{
    struct play p = {.rq = rq, .plan = plan};
    bool ended = true;

    out->truncated_s = (double)NAN;
    p.metrics = NEW(rq->arena, struct sim_metrics, plan->run_count * plan->label_count);
    out->results = NEW(rq->arena, struct simulation_result, plan->label_count);
    while (p.runs_done < plan->run_count && ended) {
        TRY(play_run(&p, p.runs_done, out, &ended));
        p.runs_done += ended;
    }
    note_progress(&p);
    out->status = ended ? DECISION_FEASIBLE : DECISION_CUT;
    out->events_spent = !ended && plan->max_events && p.events_done >= plan->max_events;
    out->runs_completed = p.runs_done;
    out->events_executed = p.events_done;
    if (p.runs_done == 0)
        for (size_t i = 0; i < plan->label_count; i++)
            out->results[i].first = (struct sim_run_out){0};
    summarise(&p, out, rq->arena);
    return OK;
}
