/* experiment.c - the experiments of simulations, played for a request. */
#include "handlers/common/experiment.h"

#include "models/base/plural.h"
#include "service/aside.h"
#include "service/store_simulation.h"

#include <string.h>

/* An experiment of a request. */
struct played {
    struct request *rq;
    struct experiment_in *in;
    struct experiment *out;
    struct aside *aside; /* whoever plays trials beside it; NULL: nobody */
    enum error_code code;
};

static void note(void *context, double ratio, uint64_t event_count, size_t runs_done)
{
    const struct request *rq = ((struct played *)context)->rq;

    if (rq->progress)
        progress_write(rq->progress,
                       (struct store_progress){ratio, event_count, runs_done});
}

static void keep(void *context, uint64_t number, struct experiment_bytes content)
{
    const struct request *rq = ((struct played *)context)->rq;
    struct store_part part = {number, {content.data, content.length}};

    rq->parts->keep(rq->parts->context, &part);
}

/* What was played beside it is kept as what it plays itself. */
static void keep_copy(struct played *p, uint64_t number, struct experiment_bytes content)
{
    char *copy = p->rq->parts ? TRY_NEW(p->rq->arena, char, content.length) : NULL;

    if (!copy)
        return;
    memcpy(copy, content.data, content.length);
    keep(p, number, (struct experiment_bytes){copy, content.length});
}

static bool find(void *context, uint64_t number, struct experiment_bytes *content)
{
    struct played *p = context;
    const struct store_part *part = store_parts_find(p->rq->parts, number);

    if (part) {
        *content = (struct experiment_bytes){part->content.data, part->content.length};
        return true;
    }
    if (!aside_take(p->aside, (size_t)number, &content->data, &content->length))
        return false;
    keep_copy(p, number, *content);
    return true;
}

/* aside_fn */
static bool play_beside(void *context, struct aside_part *part)
{
    const struct played *p = context;
    struct experiment_bytes content;

    if (!experiment_play_apart(p->in, part->number, part->budget, part->trial,
                               part->scratch, &content, part->result))
        return false;
    part->data = content.data;
    part->length = content.length;
    return true;
}

static void play(void *context)
{
    struct played *p = context;

    p->code = experiment_play(p->in, p->out, p->rq->arena);
}

enum error_code simulation_experiment(struct request *rq, struct experiment_in *in,
                                      struct experiment *out)
{
    struct played p = {.rq = rq, .in = in, .out = out};
    struct experiment_owner owner = {note, find, rq->parts ? keep : NULL, &p};
    bool is_left;

    in->budget = &rq->budget;
    in->owner = &owner;
    in->trial = arena_create_beside(rq->arena, arena_cap_bytes(rq->arena));
    in->scratch = arena_create_beside(rq->arena, arena_cap_bytes(rq->arena));
    /* Of one that is taken up again the first trials are there. */
    if (in->apart && in->run_count > 1 && !(rq->parts && rq->parts->found_count))
        p.aside = aside_begin(rq, in->run_count, play_beside, &p);
    is_left = !arena_run(rq->arena, play, &p);
    aside_end(p.aside);
    if (is_left)
        arena_leave(rq->arena);
    arena_close(in->trial);
    arena_close(in->scratch);
    in->trial = in->scratch = NULL;
    in->owner = NULL;
    return p.code;
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
                         played->runs_done, played->in->run_count,
                         plural_text(played->in->run_count, what, rq->arena));
}
