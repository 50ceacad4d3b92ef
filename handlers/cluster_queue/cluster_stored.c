/* cluster_stored.c - the cluster of a snapshot, inline or stored. */
#include "handlers/cluster_queue/cluster_stored.h"

#include "handlers/common/decision.h"

#include <math.h>
#include <string.h>

void cluster_text_read(const char *text, const char *pointer,
                       const struct cluster_in **out, struct arena *a, struct error *err)
{
    struct error found = {.arena = a};
    struct cluster_in *read = NEW(a, struct cluster_in, 1);

    *out = NULL;
    if (json_read(&cluster_json, text, strlen(text), read, NULL, a, &found) == OK) {
        *out = read;
        return;
    }
    for (const struct error_item *i = found.first; i; i = i->next)
        invalid_again(err, pointer, i);
    err->item_count += found.item_count - err->item_count;
    if (!found.first)
        *err = found;
}

static const struct cluster_running_in *
move_running(struct request *rq, const struct cluster_running_in *list, size_t count,
             double by_s)
{
    struct cluster_running_in *moved = NEW(rq->arena, struct cluster_running_in, count);

    budget_step(&rq->budget, count);
    for (size_t i = 0; i < count; i++) {
        moved[i] = list[i];
        moved[i].expected_end_s += by_s;
    }
    return moved;
}

/* Times of what runs and is reserved, from seconds from now to the scale of now_s. */
static const struct cluster_in *moved_by(struct request *rq, const struct cluster_in *in,
                                         double by_s)
{
    struct arena *a = rq->arena;
    struct cluster_in *out = NEW(a, struct cluster_in, 1);
    struct cluster_resource_in *resources =
        NEW(a, struct cluster_resource_in, in->resource_count);
    struct cluster_reservation_in *reservations =
        NEW(a, struct cluster_reservation_in, in->reservation_count);

    *out = *in;
    for (size_t i = 0; i < in->resource_count; i++) {
        resources[i] = in->resources[i];
        resources[i].running =
            move_running(rq, resources[i].running, resources[i].running_count, by_s);
        budget_step(&rq->budget, 1);
    }
    for (size_t i = 0; i < in->reservation_count; i++) {
        reservations[i] = in->reservations[i];
        reservations[i].start_s += by_s;
        reservations[i].end_s += by_s;
        budget_step(&rq->budget, 1);
    }
    out->resources = resources;
    out->reservations = reservations;
    out->running = move_running(rq, in->running, in->running_count, by_s);
    return out;
}

enum error_code cluster_of_snapshot(struct request *rq, const struct snapshot *given,
                                    const char *snapshot_id, double now_s,
                                    const struct cluster_in **out)
{
    const struct snapshot *snapshot;

    *out = NULL;
    TRY(decision_queue_snapshot(rq, given, snapshot_id, &snapshot));
    if (!snapshot || !snapshot->cluster)
        return OK;
    cluster_text_read(snapshot->cluster,
                      snapshot_id ? "/snapshot_id" : "/snapshot/cluster", out, rq->arena,
                      rq->err);
    if (!*out)
        return rq->err->code;
    *out = moved_by(rq, *out, now_s);
    return OK;
}

enum error_code cluster_of_any_snapshot(struct request *rq, const struct snapshot *given,
                                        const char *snapshot_id, double now_s,
                                        const struct cluster_in **out)
{
    const struct snapshot *snapshot;
    const char *text;

    TRY(cluster_of_snapshot(rq, given, snapshot_id, now_s, out));
    if (*out)
        return OK;
    TRY(decision_world_snapshot(rq, given, snapshot_id, true, &snapshot));
    TRY(cluster_text_of_world(rq, snapshot, &text));
    cluster_text_read(text, snapshot_id ? "/snapshot_id" : "/snapshot", out, rq->arena,
                      rq->err);
    if (!*out)
        return rq->err->code;
    *out = moved_by(rq, *out, now_s);
    return OK;
}
