/* placement/files.h - the input files of jobs, and variables in their names. */
#ifndef GRIDPLAN_PLACEMENT_FILES_H
#define GRIDPLAN_PLACEMENT_FILES_H

#include "algorithms/placement/problem.h"
#include "models/base/names.h"

/* Fills files, file_count, by_arch and names of every job. A name may carry
 * ${GW_ARCH} (attribute `arch` of the resource) and ${GW_TASK_ID} (task_index,
 * else the job's position); in dialect gridway also ${ARCH}, ${TASK_ID},
 * ${JOB_ID} and ${TOTAL_TASKS}. Others stay as they are, with a warning.
 * Unknown names go to *err. Needs p->archs. O(file names * archs). */
enum error_code files_resolve(struct placement_problem *p,
                              const struct name_index *file_ids, struct error *err);

#endif
