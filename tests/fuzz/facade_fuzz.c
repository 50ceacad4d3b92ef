/* facade_fuzz.c - any bytes as what other tools send: a message and a trace file of
 * Nextflow, a body of kube-scheduler, one of Galaxy. What is read is within its bounds.
 */
#include "models/kubernetes.h"
#include "models/nextflow.h"
#include "models/tpv.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_task(const struct nextflow_task *task, struct arena *a)
{
    struct execution run;
    bool guessed;

    if (nextflow_execution(task, "w", "r", &run, &guessed, a) != NEXTFLOW_COUNTS)
        return;
    if (!run.execution_id || !run.application_id || !(run.run_time_s > 0) ||
        isnan(run.started_at_s) || !(run.processors >= 1) || run.parameters[0] != '{')
        abort();
}

static void fuzz_nextflow(const char *text, size_t size, struct arena *a)
{
    struct error err = {.arena = a};
    struct nextflow_message message;
    struct nextflow_trace trace;
    struct nextflow_task task;
    const char *wrong, *cell;

    if (nextflow_message_read(text, size, &message, a, &err) == OK &&
        message.kind == NEXTFLOW_TASK_DONE)
        check_task(&message.task, a);
    err = (struct error){.arena = a};
    if (nextflow_trace_open(&trace, text, size, 0, "", a, &err) != OK)
        return;
    while (nextflow_trace_next(&trace, &task, &wrong, &cell, a))
        if (!wrong)
            check_task(&task, a);
}

static void fuzz_kubernetes(const char *text, size_t size, struct arena *a)
{
    struct error err = {.arena = a};
    struct kubernetes_args args;

    if (kubernetes_args_read(text, size, &args, a, &err) != OK)
        return;
    for (size_t i = 0; i < args.node_count; i++)
        if (!args.nodes[i].name ||
            (!args.by_name && args.nodes[i].object &&
             args.nodes[i].object + args.nodes[i].object_length > text + size))
            abort();
    if (!(args.pod.cpus >= 0) || !kubernetes_prioritize_answer(&args, NULL, a) ||
        !kubernetes_filter_answer(&args, NULL, "", a))
        abort();
}

static void fuzz_tpv(const char *text, size_t size, struct arena *a)
{
    struct error err = {.arena = a};
    struct tpv_request request;
    bool *seen;
    size_t *order;

    if (tpv_read(text, size, &request, a, &err) != OK)
        return;
    seen = NEW(a, bool, request.destination_count);
    order = NEW(a, size_t, request.destination_count);
    tpv_sort(&request, NULL, order, a);
    for (size_t i = 0; i < request.destination_count; i++) {
        if (order[i] >= request.destination_count || seen[order[i]])
            abort();
        seen[order[i]] = true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_create(256 * 1024 * 1024);

    if (!a)
        return 0;
    fuzz_nextflow((const char *)data, size, a);
    fuzz_kubernetes((const char *)data, size, a);
    fuzz_tpv((const char *)data, size, a);
    arena_close(a);
    return 0;
}
