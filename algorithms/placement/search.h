/* placement/search.h - what `search` and `auto` share. */
#ifndef GRIDPLAN_PLACEMENT_SEARCH_H
#define GRIDPLAN_PLACEMENT_SEARCH_H

#include "algorithms/placement/portfolio.h"

struct search_options {
    double max_steps; /* 0: as the request's clock says */
    size_t start;     /* of portfolio_starts */
    bool effort_given;
    enum bound_effort effort;
    size_t steps_without_limit; /* 0: MAKESPAN_STEPS */
    bool no_steps;              /* only the portfolio */
};

enum { SEARCH_MAX_STEPS, SEARCH_BOUND_EFFORT, SEARCH_START, SEARCH_PARAM_COUNT };

/* Names of the option bound_effort; 0: as the time allows. */
extern const char *const search_efforts[];

/* Rows of a policy's table of options, before its own. */
#define SEARCH_PARAMS                                                       \
    [SEARCH_MAX_STEPS] =                                                    \
        {"max_steps",                                                       \
         0,                                                                 \
         1e12,                                                              \
         0,                                                                 \
         "Steps of the search, for answers that can be repeated to the "    \
         "bit; 0: as long as the time limit says",                          \
         PARAM_INTEGER,                                                     \
         NULL},                                                             \
    [SEARCH_BOUND_EFFORT] =                                                 \
        {"bound_effort",                                                    \
         0,                                                                 \
         3,                                                                 \
         0,                                                                 \
         "Work on the bound before the first step; auto: as much as "       \
         "the time limit allows",                                           \
         PARAM_CHOICE,                                                      \
         search_efforts},                                                   \
    [SEARCH_START] = {                                                      \
        "start",                                                            \
        0,                                                                  \
        11,                                                                 \
        0,                                                                  \
        "List policy to try beside mct, and to start from where the order " \
        "of jobs is searched; best: all that the time allows",              \
        PARAM_CHOICE,                                                       \
        portfolio_starts}

struct search_options search_read_options(const double *param);

/* Searches after the portfolio was run, and leaves in *plan the best of all. */
enum error_code search_run(struct placement_plan *plan, const struct portfolio *pf,
                           const struct search_options *options, struct error *err);

#endif
