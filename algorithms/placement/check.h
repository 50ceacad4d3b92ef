/* placement/check.h - what a request must fulfil before it is looked at. */
#ifndef GRIDPLAN_PLACEMENT_CHECK_H
#define GRIDPLAN_PLACEMENT_CHECK_H

#include "algorithms/placement/placement.h"
#include "models/base/names.h"

/* Checks every number and id; all mistakes go to *err with their pointers.
 * Fills the indexes of the resources' and the files' ids. O(size of *in). */
enum error_code check_request(const struct placement_in *in, struct name_index *resources,
                              struct name_index *files, struct arena *a,
                              struct error *err);

#endif
