/* fuzz.h - what every tests/fuzz/NAME_fuzz.c defines.
 *
 * A fuzz target reads bytes and must neither crash, hang, leak nor trip a
 * sanitizer, whatever they are. It gets its answer wrong by calling abort().
 */
#ifndef GRIDPLAN_TESTS_FUZZ_H
#define GRIDPLAN_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Called once an input; always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
