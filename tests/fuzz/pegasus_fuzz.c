/* pegasus_fuzz.c - any bytes as a workflow in the format pegasus. */
#include "tests/fuzz/workflow_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_workflow(WORKFLOW_PEGASUS, data, size);
    return 0;
}
