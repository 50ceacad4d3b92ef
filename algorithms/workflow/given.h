/* workflow/given.h - schedules that requests bring: names to numbers. */
#ifndef GRIDPLAN_WORKFLOW_GIVEN_H
#define GRIDPLAN_WORKFLOW_GIVEN_H

#include "algorithms/workflow/verify.h"

/* One row of such a schedule. */
struct workflow_given {
    const char *workflow_id; /* NULL: the only one */
    const char *task_id;
    const char *resource_id; /* NULL, start_s NAN: only where the task has begun */
    double start_s;
    double finish_s; /* NAN: start_s and the run time */
    double slot;     /* of the resource, from 0; NAN: any; read of plans to start from */
    const char *const *resource_ids; /* of a task on several nodes; resource_id is one */
    size_t resource_id_count;
};

/* The rows of open tasks; those of tasks that have begun are only counted. */
struct workflow_given_rows {
    struct workflow_run *runs;
    size_t *row; /* [run]: which row it was */
    size_t run_count, begun_count;
    size_t *run_of; /* [task]: its first run + 1; 0: none */
    size_t *first;  /* [resource]: its first processor; WORKFLOW_NONE */
};

/* Mistakes (unknown ids, what is no time) are all collected, with pointers below `at`,
 * which is "/schedule" or the like. `assessed`: a row without start_s is one of them, and
 * finish_s counts; else a run ends after its run time, and a second row of a task is. */
enum error_code workflow_given_read(const struct workflow_problem *problem,
                                    const struct workflow_given *given,
                                    size_t given_count, const char *at, bool assessed,
                                    struct workflow_given_rows *out, struct arena *a,
                                    struct error *err);

#endif
