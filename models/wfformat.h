/* wfformat.h - workflows of WfCommons: WfFormat 1.5, and what was written before it.
 *
 * 1.5: workflow.specification has tasks (id, name, parents, children, inputFiles,
 * outputFiles) and files (id, sizeInBytes); workflow.execution.tasks has
 * runtimeInSeconds. Up to 1.4 workflow.tasks has it all, files in each task with link
 * and sizeInBytes; before 1.4 run times were called runtime, sizes size, tasks jobs.
 * Each of these is read wherever it stands, whatever schemaVersion says.
 *
 * A task without an id has its name for one; references are by id, else by a name that
 * only one task has. Machines and everything else is passed over.
 *
 * Source: WfCommons' WfFormat schema, versions 1.3 to 1.5.
 */
#ifndef GRIDPLAN_WFFORMAT_H
#define GRIDPLAN_WFFORMAT_H

#include "models/workflow_build.h"

/* Mistakes are collected in *err, each with `pointer` and the JSON Pointer into the
 * document behind it; text that is no JSON with line and column. */
enum error_code wfformat_read(const char *text, size_t length, const char *pointer,
                              struct workflow_import *out, struct arena *a,
                              struct error *err);

#endif
