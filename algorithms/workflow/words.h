/* workflow/words.h - words of answers, as tables that the description names, too. */
#ifndef GRIDPLAN_WORKFLOW_WORDS_H
#define GRIDPLAN_WORKFLOW_WORDS_H

/* Words of workflow_unplaced.reason besides those of KEPT_OUT and WORLD_WAITS. */
#define WORKFLOW_REASONS(X) \
    X(no_resource)          \
    X(no_estimate)          \
    X(after_unplaced)       \
    X(unreachable)          \
    X(no_window)            \
    X(too_small) X(too_few_nodes) X(shared_short) X(no_free_now) X(time_limit)
enum workflow_reason {
#define X(name) WORKFLOW_REASON_##name,
    WORKFLOW_REASONS(X)
#undef X
        WORKFLOW_REASON_COUNT
};
/* By enum workflow_reason, then the other words: some twice, some "", ended by NULL. */
extern const char *const workflow_reason_names[];
#define WORKFLOW_REASON(name) (workflow_reason_names[WORKFLOW_REASON_##name])

/* What the end of a running task follows from: workflow_placement.remaining_source. */
#define WORKFLOW_SOURCES(X) \
    X(finish_s) X(progress) X(stored) X(work) X(elapsed) X(estimate) X(guess)
enum workflow_left_source {
#define X(name) WORKFLOW_FROM_##name,
    WORKFLOW_SOURCES(X)
#undef X
        WORKFLOW_SOURCE_COUNT
};
extern const char *const workflow_source_names[]; /* by enum, ended by NULL */
#define WORKFLOW_SOURCE(name) (workflow_source_names[WORKFLOW_FROM_##name])

/* Of rounds, ended by NULL. */
extern const char *const workflow_how_names[];             /* workflow_start.how */
extern const char *const workflow_estimate_source_names[]; /* workflow_estimate.source */

#endif
