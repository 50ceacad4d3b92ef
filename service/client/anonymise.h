/* anonymise.h - a converted Slurm queue without names of people and their work. */
#ifndef GRIDPLAN_CLIENT_ANONYMISE_H
#define GRIDPLAN_CLIENT_ANONYMISE_H

#include "service/json.h"

/* Prints the answer of POST /v1/imports/slurm as a bundle of that schema. With `names`
 * users are u1 ..., accounts a1 ..., names of jobs j1 ..., the cluster and all others
 * unnamed, by first appearance; texts that people wrote (warnings, lost) are left out. */
enum error_code anonymise(const char *imported, const char *schema, bool names,
                          struct text_buffer *out, struct arena *a, struct error *err);

#endif
