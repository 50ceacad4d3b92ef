/* ask_meant.h - what a document looks like to be a request of. */
#ifndef GRIDPLAN_ASK_MEANT_H
#define GRIDPLAN_ASK_MEANT_H

#include "service/route.h"

/* Whether the row answers decisions, by POST. */
bool ask_decides(const struct route *r);

/* The first of these that the document has, whether or not all else in it is right: a
 * `kind` or `preset` of simulations, reschedules, claims, then of others; workflows or
 * files of them; jobs with checkpoint_overhead_s, on processors, on a cluster, with
 * components, with a model and problem_size on linked sites; a snapshot, or the name of
 * one, and jobs. NULL: none of these, or no JSON object. */
const struct route *ask_meant(const struct route *routes, const char *document,
                              size_t length, struct arena *a);

#endif
