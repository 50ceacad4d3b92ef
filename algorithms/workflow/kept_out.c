/* workflow/kept_out.c - why no resource takes a task, before anything is planned. */
#include "algorithms/workflow/kept_out.h"

static const struct {
    const char *reason, *detail;
} rows[] = {
#define X(symbol, name, detail) [symbol] = {name, detail},
    KEPT_OUT(X)
#undef X
};

void workflow_tell_kept_out(const size_t counts[KEPT_OUT_COUNT],
                            struct workflow_unplaced *out)
{
    size_t most = 0;

    for (size_t k = 1; k < KEPT_OUT_COUNT; k++)
        if (counts[k] > counts[most])
            most = k;
    out->reason = counts[most] ? rows[most].reason : "no_resource";
    out->detail = counts[most] ? rows[most].detail : "the snapshot has no resource";
    out->resource_count = counts[most];
}
