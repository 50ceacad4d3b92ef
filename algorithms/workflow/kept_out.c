/* workflow/kept_out.c - why no resource takes a task, before anything is planned. */
#include "algorithms/workflow/kept_out.h"

#include "algorithms/workflow/words.h"
#include "algorithms/world/world.h"

static const struct {
    const char *reason, *detail;
} rows[] = {
#define X(symbol, name, detail) [symbol] = {name, detail},
    KEPT_OUT(X)
#undef X
};

const char *const workflow_reason_names[] = {
#define X(name) #name,
    WORKFLOW_REASONS(X)
#undef X
#define X(symbol, name, detail) name,
        KEPT_OUT(X)
#undef X
#define X(symbol, name) name,
            WORLD_WAITS(X)
#undef X
                NULL};

void workflow_tell_kept_out(const size_t counts[KEPT_OUT_COUNT],
                            struct workflow_unplaced *out)
{
    size_t most = 0;

    for (size_t k = 1; k < KEPT_OUT_COUNT; k++)
        if (counts[k] > counts[most])
            most = k;
    out->reason = counts[most] ? rows[most].reason : WORKFLOW_REASON(no_resource);
    out->detail = counts[most] ? rows[most].detail : "the snapshot has no resource";
    out->resource_count = counts[most];
}
