/* workflow.h - tasks that need each other's outputs, as a caller describes them.
 *
 * A workflow is a directed acyclic graph: a task starts when the outputs of all tasks
 * that it depends on are where it runs. A task may have begun: what it has done so far
 * is then part of the description.
 *
 * "Reference seconds" are the unit of work: what a machine of speed 1 (MIPS) with one
 * task does in a second.
 *
 * Source: spec workflows.md 1, 3, 4, 8.1, 13.
 */
#ifndef GRIDPLAN_WORKFLOW_MODEL_H
#define GRIDPLAN_WORKFLOW_MODEL_H

#include "models/base/value.h"
#include "models/job.h"
#include "models/progress/progress.h"

#include <stdbool.h>
#include <stddef.h>

enum workflow_status {
    WORKFLOW_IDLE,    /* not started */
    WORKFLOW_STAGING, /* has its slot, inputs are on their way */
    WORKFLOW_RUNNING,
    WORKFLOW_DONE,
    WORKFLOW_FAILED /* goes on from its last checkpoint, somewhere */
};

/* A task needs the output of another one. */
struct workflow_dependency {
    const char *task_id; /* the parent, of the same workflow */
    double transfer_s;   /* between different resources, >= 0; NAN: from bytes */
    double bytes;        /* >= 0; NAN: output_bytes of the parent */
};

struct workflow_task {
    const char *id;        /* unique in its workflow */
    const char *name;      /* what it runs: tasks of one name do alike work; NULL */
    double estimate_ref_s; /* total run time at speed 1, >= 0; NAN: not known */
    const double *etc_s;   /* run time on each resource of the snapshot, in its order; */
    size_t etc_count;      /* NAN: cannot run there; 0: estimate_ref_s / speed */
    const struct workflow_dependency *depends_on;
    size_t dependency_count;
    const char *const *input_file_ids; /* files of the snapshot, with their replicas */
    size_t input_file_count;
    double input_bytes;             /* to be staged in; from where: input_site_id; >= 0 */
    const char *input_site_id;      /* NULL: already everywhere */
    double output_bytes;            /* default size of what its children need, >= 0 */
    double checkpoint_bytes;        /* >= 0 */
    const char *checkpoint_site_id; /* where the last one is; NULL: unknown */
    double release_s;               /* not to start before, seconds from now, >= 0 */

    /* What it needs while it runs (world-model.md 2.3); schedules look at these. */
    double cpus, memory_bytes, disk_bytes; /* >= 0; NAN, 0: not said */
    const struct named_value *needs;       /* other amounts: numbers >= 0, of each node */
    size_t need_count;
    uint64_t nodes; /* different resources; 0: not said, one */
    bool exclusive;
    double estimate_s;       /* run time wherever it runs, >= 0; NAN: not said */
    double time_limit_s;     /* killed so long after its start; NAN, 0: never */
    const char *requirement; /* expression about resources; NULL */
    const char *const
        *partition_ids; /* of the snapshot, any one of them; NULL: default */
    size_t partition_id_count;
    const char *user; /* NULL: anonymous */
    const char *const *organisations;
    size_t organisation_count;
    const struct job_group *group; /* spread or exclude; NULL: none */
    double priority, weight;       /* not looked at; 0, NAN: not said */
    bool preemptible;              /* not looked at */
    const struct job_model *model; /* has told the times above, if the caller did not;
                                      NULL: none */
    bool deferred;                 /* list policies place it behind all that are not */

    int status;                      /* enum workflow_status */
    const char *resource_id;         /* where it is or was; NULL: nowhere yet */
    const char *const *resource_ids; /* of one on several nodes: all of them; NULL */
    size_t resource_id_count;
    double start_s;         /* done, running: seconds from now, <= 0; NAN: not said */
    double finish_s;        /* done: when; running: expected end; seconds from now; NAN */
    double progress_pct;    /* 0..100 of its work; NAN: not known */
    double elapsed_s;       /* run time so far, >= 0; NAN: not known */
    double work_done_ref_s; /* >= 0; NAN: from elapsed_s and progress_pct */
    double checkpoint_work_ref_s; /* what the last checkpoint holds, >= 0; NAN: 0 */
    double transfer_remaining_s;  /* of a staging task, >= 0 */
    double since_last_move_s;     /* NAN: never moved */
    const struct progress_sample *progress_samples;
    size_t progress_sample_count;
    bool progress_stored; /* they were not in the request */
    const char *task_id;  /* its name in what is stored of progress; NULL: its id */
};

struct workflow {
    const char *id;        /* unique in the request; NULL in a request with one */
    double submitted_at_s; /* instant; NAN: in the order of the request */
    const struct workflow_task *tasks;
    size_t task_count;
};

/* When a resource is there; one that no window names always is. */
struct workflow_window {
    const char *resource_id;
    double from_s, to_s; /* seconds from now; to_s NAN: for good */
};

#endif
