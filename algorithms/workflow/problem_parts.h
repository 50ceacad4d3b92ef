/* workflow/problem_parts.h - what the files of a workflow problem share. */
#ifndef GRIDPLAN_WORKFLOW_PROBLEM_PARTS_H
#define GRIDPLAN_WORKFLOW_PROBLEM_PARTS_H

#include "algorithms/placement/pair_map.h"
#include "algorithms/workflow/problem.h"
#include "models/base/names.h"

struct workflow_link {
    double bandwidth_mbps; /* 0: no time at all, but the latency */
    double latency_s;      /* HUGE_VAL: no link */
};

struct workflow_parts {
    struct name_index resources, files; /* of the snapshot, by id */

    size_t *resource_of;        /* [task]: resource_id, or the first of resource_ids in
                                   the snapshot; WORKFLOW_NONE */
    size_t **nodes_of;          /* [task]: by rising number, of one that names several;
                                   NULL: resource_of alone */
    size_t *slowest_of;         /* [task]: of these the one that it waits for */
    double *left_ratio;         /* [task]: part of its run time that is still to do */
    bool *guessed;              /* [task]: its run time is that of others */
    struct workflow_left *left; /* [task]: of those that run; source NULL: others */
    double *mean_time_s;        /* [task] */
    double *table_s;            /* [processor]: of all open tasks with etc_s, summed up;
                                   NULL: the time was up before they were */
    size_t *task_file;          /* task_file[task_file_first[i] ...]: its files */
    size_t *task_file_first;
    size_t *input_site, *checkpoint_site; /* [task]: WORKFLOW_NONE: nothing to move */
    bool *staged;                         /* [task]: something has to be moved */

    size_t resource_site_count; /* sites with resources come first */
    size_t site_count;
    size_t *site_of;             /* [resource] */
    struct workflow_link *dense; /* [from * site_count + to]; NULL: too many sites */
    struct pair_map routes;      /* of two sites: index of the route + 1 */
    bool no_network;             /* nothing said: data moves in no time */
    bool several;                /* usable resources: transfers can happen */
    double mean_s_per_byte, mean_latency_s;

    size_t *replica_first, *replica_site;
    double *file_s; /* [file * resource_site_count + site]; NULL: when asked */
};

/* JSON Pointer to a workflow: "/workflow", or "/workflows/I". */
const char *workflow_path(const struct workflow_in *in, size_t workflow, char *buffer,
                          size_t size);

/* ---- problem_check.c: all mistakes but those of the edges ---- */

/* Numbers the tasks and resolves the names that they carry. */
enum error_code workflow_check_request(struct workflow_problem *problem,
                                       struct error *err);

/* Whether a resource that the task is on has failed. */
bool workflow_on_failed(const struct workflow_problem *problem, size_t task);

/* Resources that the task is on, and how many. */
const size_t *workflow_nodes_of(const struct workflow_problem *problem, size_t task,
                                size_t *count);

/* `count` tasks run on several nodes, of which they name one. */
void workflow_warn_halves(struct workflow_problem *problem, size_t count);

/* ---- unused.c ---- */

/* Warns of members of tasks that nothing looks at. */
void workflow_warn_unused(struct workflow_problem *problem);

/* ---- problem_estimates.c ---- */

/* Tasks without a run time get one if any task has one; a warning says how many. Needs
 * the numbers of tasks and resources. */
enum error_code workflow_guess_run_times(struct workflow_problem *problem,
                                         struct error *err);

/* Run times that are the same everywhere (estimate_s) become rows of times, as of etc_s.
 * Where a task has another run time, that counts. */
void workflow_read_estimates(struct workflow_problem *problem);

/* A task's reports, the present one last. */
struct workflow_reports {
    struct progress_sample *list;
    size_t count;
    double share; /* that it has now; NAN: it has no place */
};
void workflow_reports_of(const struct workflow_task *task, double share,
                         struct workflow_reports *out, struct arena *a);

/* Work done by now, as far as it can be told, in reference seconds; NAN. */
double workflow_work_now(const struct workflow_task *task,
                         const struct workflow_reports *r,
                         const struct progress_history *h);

/* What is left of a task on its resource of that speed. */
enum error_code workflow_left_of(const struct workflow_problem *problem, size_t task,
                                 double speed_mips, struct workflow_left *out);

/* ---- problem_dag.c ---- */

/* Edges, children, order. Mistakes are collected. */
void workflow_read_edges(struct workflow_problem *problem, struct error *err);

/* ---- problem_links.c ---- */

void workflow_read_links(struct workflow_problem *problem);

/* Time to move bytes between two sites, in s. Nothing to move: 0. */
double workflow_link_s(const struct workflow_problem *problem, double bytes, size_t from,
                       size_t to);

/* The file on a site, from its nearest replica, in s. */
double workflow_file_s(const struct workflow_problem *problem, size_t file, size_t site);

/* Means over pairs of usable resources; needs processors. */
void workflow_mean_links(struct workflow_problem *problem);

/* ---- problem.c ---- */

/* Several entry or exit tasks are fine, but worth a word (workflows.md 3.1): a warning
 * for each workflow that has them; needs edges. */
void workflow_report_ends(struct workflow_problem *problem);

/* ---- problem_processors.c ---- */

/* Processors, fixed tasks, and what is blocked. */
enum error_code workflow_read_processors(struct workflow_problem *problem, bool slots,
                                         struct error *err);

#endif
