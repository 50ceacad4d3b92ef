/* workflow_fuzz.h - any bytes as a workflow file: what is read is a workflow, what is
 * refused says why, twice is the same. */
#ifndef GRIDPLAN_WORKFLOW_FUZZ_H
#define GRIDPLAN_WORKFLOW_FUZZ_H

#include "handlers/workflow/workflow_import.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fuzz_check_task(const struct workflow_import *in, size_t i)
{
    const struct workflow_task *t = &in->workflow.tasks[i];

    if (!t->id || !*t->id || t->estimate_ref_s < 0 || isinf(t->estimate_ref_s) ||
        !(t->input_bytes >= 0) || !(t->output_bytes >= 0))
        abort();
    for (size_t k = 0; k < t->dependency_count; k++)
        if (!t->depends_on[k].task_id || !(t->depends_on[k].bytes >= 0) ||
            strcmp(t->depends_on[k].task_id, t->id) == 0)
            abort();
}

static void fuzz_workflow(enum workflow_format format, const uint8_t *data, size_t size)
{
    struct arena *a = arena_create(256 * 1024 * 1024);
    struct error err = {.arena = a}, again_err = {.arena = a};
    struct workflow_import in = {0}, again = {0};
    enum error_code code, again_code;
    uint64_t edges = 0;

    if (!a)
        return;
    code = workflow_import_text(format, (const char *)data, size, "/x", &in, a, &err);
    again_code = workflow_import_text(format, (const char *)data, size, "/x", &again, a,
                                      &again_err);
    if (code != err.code || (code == ERR_INVALID && !err.first))
        abort();
    if (code != OK && code != ERR_INVALID && code != ERR_TOO_LARGE)
        abort();
    if (code != again_code && again_code != ERR_TOO_LARGE)
        abort();
    for (size_t i = 0; code == OK && i < in.workflow.task_count; i++) {
        fuzz_check_task(&in, i);
        edges += in.workflow.tasks[i].dependency_count;
    }
    if (edges != in.dependency_count || in.task_count != in.workflow.task_count ||
        (code == OK &&
         (in.task_count == 0 || in.critical_path_s > in.run_time_s * 1.0001)))
        abort();
    if (again_code == OK &&
        (in.dependency_count != again.dependency_count ||
         in.dependency_bytes != again.dependency_bytes ||
         in.input_bytes != again.input_bytes || in.repair_count != again.repair_count))
        abort();
    arena_close(a);
}

#endif
