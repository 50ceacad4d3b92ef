/* slurm_fuzz.c - any bytes as a document of Slurm.
 *
 * The whole is taken as jobs, then again, behind a node, as text: whatever becomes of it
 * is a cluster whose numbers are in bounds.
 */
#include "models/slurm/cluster.h"
#include "models/slurm/history.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct call {
    const char *text;
    size_t length;
    struct arena *arena;
};

static void check_amounts(const struct slurm_amounts *amounts)
{
    for (size_t i = 0; i < amounts->count; i++)
        if (!amounts->list[i].name || !(amounts->list[i].number > 0) ||
            !isfinite(amounts->list[i].number))
            abort();
}

static void check(const struct slurm_cluster *c)
{
    for (size_t i = 0; i < c->node_count; i++) {
        const struct slurm_node *n = &c->nodes[i];

        if (!n->id || !n->state || n->cpus < 0 || n->memory_bytes < 0 || isinf(n->cpus) ||
            isinf(n->memory_bytes))
            abort();
        check_amounts(&n->capacities);
    }
    for (size_t i = 0; i < c->running_count; i++) {
        const struct slurm_running *r = &c->running[i];

        if (!r->id || r->resource_ids.count == 0 || !(r->cpus >= 0) ||
            !(r->memory_bytes >= 0) || r->time_limit_s <= 0)
            abort();
        check_amounts(&r->needs);
    }
    for (size_t i = 0; i < c->waiting_count; i++) {
        const struct slurm_waiting *w = &c->waiting[i];

        if (!w->id || !(w->time_limit_s > 0) || (isnan(w->tasks) && !(w->nodes >= 1)) ||
            w->held != !!w->held_by)
            abort();
        check_amounts(&w->needs);
        for (size_t k = 0; k < w->after_count; k++)
            if (!w->after[k].job_id || !w->after[k].kind)
                abort();
    }
    for (size_t i = 0; i < c->warning_count; i++)
        if (!strchr(c->warnings[i], ':'))
            abort();
}

static void convert(void *context)
{
    const struct call *call = context;
    struct slurm_records *records = NEW(call->arena, struct slurm_records, 1);
    struct slurm_options options = {
        .now_s = NAN, .received_s = 1795343000, .tz_offset_s = NAN};
    static const struct slurm_pattern application = {.members = "{name}"};
    struct slurm_history_options past = {.application = &application,
                                         .drain_is_failure = true};
    struct slurm_history history;
    struct slurm_cluster cluster;
    struct error err = {.arena = call->arena};
    static const char node[] = "NodeName=n[1-2] CPUTot=4\n\nNodeName=n1 CPUTot=4\n";

    records->updated_s = NAN;
    if (slurm_records_read(node, strlen(node), "/sinfo", records, call->arena, &err) !=
        OK)
        abort();
    if (slurm_records_read(call->text, call->length, "/squeue", records, call->arena,
                           &err) != OK &&
        err.item_count == 0 && err.code == OK)
        abort();
    slurm_cluster_read(records, &options, &cluster, call->arena);
    check(&cluster);
    slurm_history_read(records, &past, &history, call->arena);
    for (size_t i = 0; i < history.run_count; i++)
        if (!(history.runs[i].run_time_s > 0) || !(history.runs[i].processors >= 1) ||
            (history.runs[i].exit_code == 0) != !history.runs[i].failure_kind)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_create((size_t)256 << 20);
    char *text = malloc(size + 1);
    struct call call = {text, size, a};

    if (!a || !text)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    call.length = strlen(text);
    arena_run(a, convert, &call);
    arena_close(a);
    free(text);
    return 0;
}
