/* workflow/unused.c - what tasks carry that plans of workflows do not look at. */
#include "algorithms/workflow/problem_parts.h"

#include <math.h>

static bool has_priority(const struct workflow_task *t)
{
    return t->priority != 0;
}

static bool has_weight(const struct workflow_task *t)
{
    return !isnan(t->weight) && t->weight != 1;
}

static bool is_preemptible(const struct workflow_task *t)
{
    return t->preemptible;
}

static const struct {
    const char *member;
    bool (*given)(const struct workflow_task *t);
    const char *why;
} rows[] = {
    {"priority", has_priority, "tasks go by what depends on them"},
    {"weight", has_weight, "the objective is the makespan"},
    {"preemptible", is_preemptible, "nothing is stopped for others"},
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

void workflow_warn_unused(struct workflow_problem *problem)
{
    size_t count[ROWS] = {0}, first[ROWS] = {0};
    char path[64];

    for (size_t i = 0; i < problem->task_count; i++) {
        budget_step(problem->in->budget, ROWS);
        for (size_t k = 0; k < ROWS; k++)
            if (rows[k].given(problem->tasks[i]) && count[k]++ == 0)
                first[k] = i;
    }
    for (size_t k = 0; k < ROWS; k++) {
        size_t workflow, of = first[k];

        if (count[k] == 0)
            continue;
        workflow = problem->workflow_of[of];
        budget_step(problem->in->budget, workflow);
        for (size_t w = 0; w < workflow; w++)
            of -= problem->in->workflows[w].task_count;
        workflow_warn(problem, "ignored: %s of %zu task%s (first %s/tasks/%zu/%s): %s",
                      rows[k].member, count[k], count[k] == 1 ? "" : "s",
                      workflow_path(problem->in, workflow, path, sizeof(path)), of,
                      rows[k].member, rows[k].why);
    }
}
