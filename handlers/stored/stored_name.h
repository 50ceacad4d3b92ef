/* stored_name.h - the name under which a client stores something: part of its path. */
#ifndef GRIDPLAN_STORED_NAME_H
#define GRIDPLAN_STORED_NAME_H

#include "service/route.h"

/* *name: `wanted`, or a new UUID if that is NULL. Notes a mistake at `pointer` unless it
 * is at most 128 of A-Z a-z 0-9 . _ ~ - and neither "." nor "..". */
enum error_code stored_name_choose(struct request *rq, const char *wanted,
                                   const char *pointer, const char **name);

#endif
