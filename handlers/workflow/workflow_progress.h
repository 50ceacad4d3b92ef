/* workflow_progress.h - what is stored of the progress of tasks that run, for decisions
 * about workflows.
 */
#ifndef GRIDPLAN_WORKFLOW_PROGRESS_H
#define GRIDPLAN_WORKFLOW_PROGRESS_H

#include "handlers/workflow/workflow_json.h"

/* Member `progress` of a request. */
enum workflow_progress {
    WORKFLOW_PROGRESS_STORED,
    WORKFLOW_PROGRESS_GIVEN,
    WORKFLOW_PROGRESS_IGNORE
};

enum { WORKFLOW_PROGRESS_TASKS_MAX = 10000, WORKFLOW_PROGRESS_SAMPLES_MAX = 100 };

/* Makes copies of the lists of tasks of call->in, which may be changed. */
void workflow_copy_tasks(struct workflow_call *call);

/* Gives every running task of call->in that says nothing of its progress the latest
 * reports that are stored of a task of its id; with "ignore" takes what they say away.
 * Without a database nothing is stored; one that is away costs a warning. What was looked
 * up is kept for replays. */
enum error_code workflow_progress_read(struct workflow_call *call,
                                       enum workflow_progress mode);

#endif
