/* experiment.c - the experiments of simulations, played for a request. */
#include "handlers/common/experiment.h"

#include "service/store_simulation.h"

static void note(void *context, double ratio, uint64_t event_count, size_t runs_done)
{
    const struct request *rq = context;

    if (rq->progress)
        progress_write(rq->progress,
                       (struct store_progress){ratio, event_count, runs_done});
}

static bool find(void *context, uint64_t number, struct experiment_bytes *content)
{
    const struct request *rq = context;
    const struct store_part *part = store_parts_find(rq->parts, number);

    if (part)
        *content = (struct experiment_bytes){part->content.data, part->content.length};
    return part;
}

static void keep(void *context, uint64_t number, struct experiment_bytes content)
{
    const struct request *rq = context;
    struct store_part part = {number, {content.data, content.length}};

    rq->parts->keep(rq->parts->context, &part);
}

enum error_code simulation_experiment(struct request *rq, struct experiment_in *in,
                                      struct experiment *out)
{
    struct experiment_owner owner = {note, find, rq->parts ? keep : NULL, rq};
    enum error_code code;

    in->budget = &rq->budget;
    in->owner = &owner;
    in->trial = arena_create_beside(rq->arena, arena_cap_bytes(rq->arena));
    in->scratch = arena_create_beside(rq->arena, arena_cap_bytes(rq->arena));
    code = experiment_play(in, out, rq->arena);
    arena_close(in->trial);
    arena_close(in->scratch);
    in->trial = in->scratch = NULL;
    in->owner = NULL;
    return code;
}

enum error_code simulation_warn_cut(struct request *rq, const struct experiment *played,
                                    const char *what, struct decision_answer *out)
{
    if (!played->is_cut)
        return OK;
    return decision_warn(rq, out,
                         "time_limit: the time was up, or the simulation was cancelled, "
                         "when %zu of %zu %s; with Prefer: respond-async it may take "
                         "longer",
                         played->runs_done, played->in->run_count, what);
}
