/* workflow/round_params.c - the dynamic policies and their options.
 *
 * All take the same options; the policies are presets of them (workflows.md 6.5).
 * cool_down_s, max_moves, max_bytes_moved, min_gain_s and confidence are ours, and do
 * nothing unless given.
 */
#include "algorithms/workflow/round_plan.h"

#include <math.h>

static const char *const group_pick_names[] = {"fastest_first", "random", NULL};
static const char *const balance_names[] = {"all", "longest_only", NULL};
static const char *const delay_rule_names[] = {"parent_set", "any_task", NULL};
static const char *const evicted_rule_names[] = {"best_finish", "fastest", NULL};
static const char *const predictor_names[] = {"extrapolation", "fit", NULL};
static const char *const remaining_rule_names[] = {"work", "pct", NULL};
static const char *const filter_names[] = {"none", "average", "auto", NULL};
static const char *const method_names[] = {"varpro", "simplex", NULL};
static const char *const abscissa_names[] = {"auto", "elapsed_s", "work_ref_s", NULL};
static const char *const smoothing_names[] = {"none", "median", "mean", NULL};

#define NUMBER(name, min, max, preset, doc)             \
    {                                                   \
        name, min, max, preset, doc, PARAM_NUMBER, NULL \
    }
#define WHOLE(name, min, max, preset, doc)               \
    {                                                    \
        name, min, max, preset, doc, PARAM_INTEGER, NULL \
    }
#define FLAG(name, preset, doc)                      \
    {                                                \
        name, 0, 1, preset, doc, PARAM_BOOLEAN, NULL \
    }
#define CHOICE(name, names, doc)                                                    \
    {                                                                               \
        name, 0, (int)(sizeof(names) / sizeof(*(names))) - 2, 0, doc, PARAM_CHOICE, \
            names                                                                   \
    }

#define ROWS(re_min_s, gamma, theta)                                                     \
    {                                                                                    \
        [WF_RE_MIN_S] = NUMBER("re_min_s", 0, 1e12, re_min_s,                            \
                               "A task with less left, s, is not moved"),                \
        [WF_GAMMA] =                                                                     \
            NUMBER("gamma", 0, 1, gamma, "Least gain of a move, of what it improves"),   \
        [WF_THETA] =                                                                     \
            WHOLE("theta", 1, 1e6, theta, "Most resources of a group; 1: no groups"),    \
        [WF_GROUP_PICK] = CHOICE("group_pick", group_pick_names,                         \
                                 "Which one of a group the longest task tries first"),   \
        [WF_BALANCE] =                                                                   \
            CHOICE("balance", balance_names, "Move shorter siblings as well, or not"),   \
        [WF_DELAY_RULE] =                                                                \
            CHOICE("delay_rule", delay_rule_names,                                       \
                   "What a move may not hold up: a parent set, or any task in one"),     \
        [WF_EVICTED_ROOT_RULE] = CHOICE("evicted_root_rule", evicted_rule_names,         \
                                        "Where an interrupted root goes"),               \
        [WF_ALLOW_ROOT_EVICTION] =                                                       \
            FLAG("allow_root_eviction", 1, "Roots may be interrupted for dependents"),   \
        [WF_ROOTS_LAST] =                                                                \
            FLAG("roots_last", 1, "Ready roots wait for ready dependents"),              \
        [WF_FINAL_TASK_AS_SET] =                                                         \
            FLAG("final_task_as_set", 1, "Final tasks are a parent set too"),            \
        [WF_INCLUDE_CHECKPOINT_COST] =                                                   \
            FLAG("include_checkpoint_cost", 0,                                           \
                 "checkpoint_s and restart_s are part of what a move costs"),            \
        [WF_CHECKPOINT_S] =                                                              \
            NUMBER("checkpoint_s", 0, 1e9, 2, "Time to write a checkpoint, s"),          \
        [WF_RESTART_S] =                                                                 \
            NUMBER("restart_s", 0, 1e9, 0, "Time to go on from a checkpoint, s"),        \
        [WF_MAX_AGE_S] = NUMBER("max_age_s", 0, 1e12, (double)NAN,                       \
                                "Resources observed longer ago, s, get no task"),        \
        [WF_COOL_DOWN_S] =                                                               \
            NUMBER("cool_down_s", 0, 1e12, 0,                                            \
                   "A task moved less than this ago, s, stays where it is"),             \
        [WF_MAX_MOVES] = WHOLE("max_moves", 0, 1e9, (double)NAN,                         \
                               "Most tasks that a round moves or interrupts"),           \
        [WF_MAX_BYTES_MOVED] = NUMBER("max_bytes_moved", 0, 1e18, (double)NAN,           \
                                      "Most bytes that the moves of a round take"),      \
        [WF_MIN_GAIN_S] = NUMBER("min_gain_s", 0, 1e12, 0,                               \
                                 "Least time, s, that a move improves something by"),    \
        [WF_CONFIDENCE] =                                                                \
            NUMBER("confidence", 0, 100, 0,                                              \
                   "A gain must exceed this many half widths of the interval of the "    \
                   "task's estimate (predictor fit)"),                                   \
        [WF_PREDICTOR] = CHOICE("predictor", predictor_names,                            \
                                "How the run time of a running task is estimated"),      \
        [WF_REMAINING_RULE] = CHOICE("remaining_rule", remaining_rule_names,             \
                                     "What is left: estimate - work done, or estimate "  \
                                     "(1 - progress)"),                                  \
        [WF_ESTIMATE_FILTER] = CHOICE("estimate_filter", filter_names,                   \
                                      "Extrapolations as they are, their mean, or "      \
                                      "their mean if they oscillate"),                   \
        [WF_FILTER_WINDOW] = WHOLE("filter_window", 5, 1000, 8,                          \
                                   "Estimates that an oscillation is looked for in"),    \
        [WF_FIT_METHOD] = CHOICE("fit_method", method_names, "Predictor fit: method"),   \
        [WF_FIT_MIN_SAMPLES] =                                                           \
            WHOLE("fit_min_samples", 2, 10000, 8,                                        \
                  "Predictor fit: with fewer reports it is the extrapolation"),          \
        [WF_FIT_ABSCISSA] = CHOICE("fit_abscissa", abscissa_names,                       \
                                   "Predictor fit: estimates over which time"),          \
        [WF_FIT_SMOOTHING] =                                                             \
            CHOICE("fit_smoothing", smoothing_names, "Predictor fit: what comes first"), \
        [WF_OPTION_COUNT] = {0},                                                         \
    }

const struct param workflow_balanced_params[] = ROWS(0, 0, 1);
const struct param workflow_balanced_grouped_params[] = ROWS(0, 0, 4);
const struct param workflow_balanced_reduced_overhead_params[] = ROWS(240, 0.2, 1);
const struct param workflow_balanced_static_params[] = ROWS(0, 0, 1);
const struct param workflow_workflow_fastest_params[] = ROWS(0, 0, 1);

const struct policy workflow_round_policies[] = {
#define X(policy, does, described, flag)   \
    {.name = #policy,                      \
     .purpose = does,                      \
     described,                            \
     .params = workflow_##policy##_params, \
     .flags = WORKFLOW_ROUND_##flag},
    WORKFLOW_ROUND_POLICIES(X)
#undef X
        {0},
};

const char *const workflow_action_names[] = {"migrate", "evict", "postpone", NULL};

const char *const workflow_skip_names[] = {
#define X(name, meaning) #name,
    WORKFLOW_SKIP_REASONS(X)
#undef X
        NULL,
};

const char *const workflow_skip_texts[] = {
#define X(name, meaning) meaning,
    WORKFLOW_SKIP_REASONS(X)
#undef X
        NULL,
};
