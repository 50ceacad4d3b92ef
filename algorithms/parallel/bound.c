/* parallel/bound.c - a score that no set of machines goes below. */
#include "algorithms/parallel/bound.h"

#include "algorithms/parallel/exact_parts.h"

enum { BOXES_MAX = 2000 };

enum error_code parallel_bound(const struct parallel_search *s, double score_s,
                               double *bound_s)
{
    const struct exact_options options = {.bound_only = true, .max_boxes = BOXES_MAX};
    struct parallel_in in = *s->in;
    struct parallel_search run;
    size_t fastest = search_fastest(s);
    bool structured;

    search_fork(s, &run);
    in.work_budget = 0; /* what a bound costs is not the policy's */
    run.in = &in;
    if (run.min_procs == 1)
        search_keep(&run, search_score(s, 1, s->cpu[fastest], HUGE_VAL), &fastest, 1);
    TRY(exact_tree(&run, &structured));
    if (structured && !run.stopped) {
        *bound_s = run.best_s;
        return OK;
    }
    run.best_s = fmin(run.best_s, score_s);
    return exact_boxes(&run, &options, 0, bound_s);
}
