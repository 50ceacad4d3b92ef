/* snakemake_d3_fuzz.c - any bytes as a workflow in the format snakemake_d3. */
#include "tests/fuzz/workflow_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_workflow(WORKFLOW_SNAKEMAKE_D3, data, size);
    return 0;
}
