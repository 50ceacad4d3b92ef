/* this_build.c - what differs between builds that share the objects of test files. */
#include "tests/this_build.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const bool build_is_sanitized = true;
#else
const bool build_is_sanitized = false;
#endif
const char build_binary[] = GRIDPLAN_BINARY;
const char build_embed[] = GRIDPLAN_EMBED;
