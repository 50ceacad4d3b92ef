/* records.h - the stored records; each is a file of its name. */
#ifndef GRIDPLAN_RECORDS_H
#define GRIDPLAN_RECORDS_H

#include "service/records/record.h"

extern const struct record failure_record; /* struct failure */

#endif
