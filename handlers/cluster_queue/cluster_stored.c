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

/* ---- of a snapshot without one ---- */

static void add_amounts(struct text_buffer *b, const char *name,
                        const struct named_value *list, size_t count)
{
    text_addf(b, ",\"%s\":{", name);
    for (size_t i = 0, n = 0; i < count; i++) {
        if (list[i].type != VALUE_NUMBER)
            continue;
        text_addf(b, n++ ? "," : "");
        json_print_text(list[i].name, b);
        text_addf(b, ":");
        json_print_number(list[i].number, b);
    }
    text_addf(b, "}");
}

static void add_number(struct text_buffer *b, const char *name, double number)
{
    if (isnan(number))
        return;
    text_addf(b, ",\"%s\":", name);
    json_print_number(number, b);
}

static void add_partition(struct text_buffer *b, const struct partition *p)
{
    text_addf(b, "{\"id\":");
    json_print_text(p->id, b);
    text_addf(b, ",\"resource_ids\":[");
    for (size_t i = 0; i < p->resource_id_count; i++) {
        text_addf(b, i ? "," : "");
        json_print_text(p->resource_ids[i], b);
    }
    text_addf(b, "],\"default\":%s", p->is_default ? "true" : "false");
    add_number(b, "time_limit_max_s", p->time_limit_max_s);
    add_number(b, "priority_tier", p->priority_tier);
    if (p->nodes_per_job_max > 0)
        add_number(b, "nodes_per_job_max", (double)p->nodes_per_job_max);
    text_addf(b, "}");
}

/* Resources that have not failed, and partitions that name theirs. */
static const char *text_of(struct request *rq, const struct snapshot *s)
{
    struct text_buffer b = {.arena = rq->arena};
    size_t n = 0;

    text_addf(&b, "{\"resources\":[");
    for (size_t i = 0; i < s->resource_count; i++) {
        const struct resource *r = &s->resources[i];

        budget_step(&rq->budget, 8);
        text_addf(&b, i ? ",{\"id\":" : "{\"id\":");
        json_print_text(r->id, &b);
        add_number(&b, "cpus", r->cpus);
        add_number(&b, "memory_bytes", r->memory_bytes);
        add_amounts(&b, "capacities", r->capacities, r->capacity_count);
        text_addf(&b, r->failed ? ",\"state\":\"down\"}" : "}");
    }
    text_addf(&b, "]");
    add_amounts(&b, "shared_capacities", s->shared_capacities, s->shared_capacity_count);
    for (size_t i = 0; i < s->partition_count; i++) {
        budget_step(&rq->budget, 8 + s->partitions[i].resource_id_count);
        if (s->partitions[i].requirement)
            continue;
        text_addf(&b, n++ ? "," : ",\"partitions\":[");
        add_partition(&b, &s->partitions[i]);
    }
    text_addf(&b, n ? "]}" : "}");
    text_add(&b, "", 1);
    if (b.failed)
        arena_leave(rq->arena);
    return b.data;
}

enum error_code cluster_of_any_snapshot(struct request *rq, const struct snapshot *given,
                                        const char *snapshot_id, double now_s,
                                        const struct cluster_in **out)
{
    const struct snapshot *snapshot;

    TRY(cluster_of_snapshot(rq, given, snapshot_id, now_s, out));
    if (*out)
        return OK;
    TRY(decision_queue_snapshot(rq, given, snapshot_id, &snapshot));
    cluster_text_read(text_of(rq, snapshot), snapshot_id ? "/snapshot_id" : "/snapshot",
                      out, rq->arena, rq->err);
    return rq->err->code;
}
