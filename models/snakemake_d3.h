/* snakemake_d3.h - workflows from what `snakemake --d3dag` prints.
 *
 * {"nodes": [{"id": 0, "value": {"jobid": 0, "label": "all", "rule": "all"}}, ...],
 *  "links": [{"u": 1, "v": 0}, ...]}: job v needs job u. A job's class is its rule. Run
 * times are not known; other members are counted and left out.
 *
 * Source: output of Snakemake 7.21.
 */
#ifndef GRIDPLAN_SNAKEMAKE_D3_H
#define GRIDPLAN_SNAKEMAKE_D3_H

#include "models/workflow_build.h"

/* Mistakes are collected in *err, each with a JSON Pointer that begins with `pointer`. */
enum error_code snakemake_d3_read(const char *text, size_t length, const char *pointer,
                                  struct workflow_import *out, struct arena *a,
                                  struct error *err);

#endif
