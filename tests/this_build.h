/* this_build.h - what differs between builds that share the objects of test files. */
#ifndef GRIDPLAN_TESTS_THIS_BUILD_H
#define GRIDPLAN_TESTS_THIS_BUILD_H

#include <stdbool.h>

extern const bool build_is_sanitized; /* the code, wherever the tests are from */
extern const char build_binary[];     /* path of gridplan */
extern const char build_embed[];      /* of the host tool that makes files into C */

#endif
