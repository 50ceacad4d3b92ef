/* tidy.h - what clang-tidy cannot see from one file: a failure is never OK.
 *
 * .ci/run puts it before every source. Without it the analyzer follows paths on
 * which fail() returns OK, and finds outputs that were left unset there.
 */
#include "models/base/error.h"

#define fail(err, code, ...) (fail(err, code, __VA_ARGS__), (code))
#define invalid(err, ...)    (invalid(err, __VA_ARGS__), ERR_INVALID)
#define fail_memory(err)     (fail_memory(err), ERR_TOO_LARGE)
