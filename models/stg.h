/* stg.h - Standard Task Graphs of the Kasahara laboratory.
 *
 * The text: the number of tasks n (a number of processors may follow), then for each of
 * the n + 2 tasks its number, its run time, how many predecessors it has, and their
 * numbers. Tasks 0 and n + 1 are dummies; they stay. With costs of communication each
 * predecessor is followed by the cost of what it sends, on the same line or one line for
 * each predecessor; which of the two forms a file has, the first task with predecessors
 * decides. '#' begins a comment. Costs are seconds between different resources.
 *
 * Source: T. Tobita, H. Kasahara 2002, "A standard task graph set for fair evaluation
 * of multiprocessor scheduling algorithms"; the laboratory's description of the format.
 */
#ifndef GRIDPLAN_STG_H
#define GRIDPLAN_STG_H

#include "models/workflow_build.h"

/* Mistakes are collected in *err with `pointer`, each with its line. A file that ends
 * before its last task is refused. */
enum error_code stg_read(const char *text, size_t length, const char *pointer,
                         struct workflow_import *out, struct arena *a, struct error *err);

#endif
