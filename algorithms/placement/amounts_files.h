/* placement/amounts_files.h - input files and outputs of jobs where amounts count.
 *
 * A job holds its amounts from when its first file moves until it is done. A file that is
 * there, or on its way for a job placed earlier, is waited for; others come one after the
 * other, in the job's order, each from its nearest replica. Files that are not shared
 * count for their job alone. Outputs leave when the run is over and hold nothing.
 *
 * Source: spec gridway.md 2.1, 5.1; world-model.md 4.3.
 */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_FILES_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_FILES_H

#include "algorithms/placement/problem.h"
#include "algorithms/world/board.h"

/* Does any job have input files, or outputs that go somewhere? */
bool amounts_have_files(const struct placement_problem *p);

/* Whether files or outputs keep the job from the resource; else FILTER_PASSED. */
enum filter amounts_file_filter(const struct placement_problem *p, size_t job,
                                size_t position);

/* What a board has to know of them; NULL: no job has input files. Each board needs its
 * own. O(files of all jobs). */
const struct board_files *amounts_board_files(const struct placement_problem *p);

/* Bytes that each job of the plan moves. O(files of its jobs). */
const double *amounts_bytes_moved(const struct placement_problem *p,
                                  const struct world_plan *plan);

/* Names of the job's files on the resource, if they have variables; NULL. */
const char *const *amounts_file_names(const struct placement_problem *p, size_t job,
                                      size_t position);

#endif
