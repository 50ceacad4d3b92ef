/* dot_fuzz.c - any bytes as a workflow in the format dot. */
#include "tests/fuzz/workflow_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_workflow(WORKFLOW_DOT, data, size);
    return 0;
}
