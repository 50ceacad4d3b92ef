/* launch_plan.h - how launch plans look in JSON: by themselves and in placements.
 *
 * An answer struct T has them among its own members by having `struct launch_plan plan`
 * and LAUNCH_PLAN_ROWS(T) in its table.
 *
 * Source: spec coallocation.md 6.7, 13.
 */
#ifndef GRIDPLAN_LAUNCH_PLAN_H
#define GRIDPLAN_LAUNCH_PLAN_H

#include "algorithms/coallocation/launch.h"
#include "service/json.h"

enum { LAUNCH_PER_JOB, LAUNCH_POOLED };
extern const char *const launch_nameserver_modes[];

struct launch_plan_nameserver {
    int mode;
    const char *site_id, *instance_id;
};

struct launch_plan_barrier {
    const char *type;
    double release_at_s;
};

struct launch_plan_component {
    const char *component_id, *site_id;
    double claim_at_s;
    uint64_t wave;
    const char *const *pre_submission;
    size_t pre_submission_count;
};

struct launch_plan {
    const char *runner;
    double launch_at_s;
    int order_rule;
    const char *const *order;
    size_t order_count;
    struct launch_plan_barrier barrier;
    const char *const *pre_phase;
    size_t pre_phase_count;
    const struct launch_plan_nameserver *nameserver;
    const struct launch_plan_component *per_component;
    size_t component_count;
    const char *const *post_phase;
    size_t post_phase_count;
    const char *required_capability;
    bool atomic, maps_components;
    int on_failure;
};

extern const struct json_object launch_plan_nameserver_json;
extern const struct json_object launch_plan_barrier_json;
extern const struct json_object launch_plan_component_json;

/* A struct that has nothing but a plan, for the table below. */
struct launch_plan_alone {
    struct launch_plan plan;
};
extern const struct json_object launch_plan_json;

#define LAUNCH_PLAN_TEXTS(T, m, counter, ...)                                \
    {                                                                        \
        .name = #m, .type = JSON_TYPE_TEXTS,                                 \
        .offset = JSON_AT(T, plan.m, const char *const *),                   \
        .count_offset = JSON_AT(T, plan.counter, size_t), .doc = __VA_ARGS__ \
    }
#define LAUNCH_PLAN_ROW(T, m, ctype, json_type_, text) \
    .name = #m, .doc = text, .type = json_type_, .offset = JSON_AT(T, plan.m, ctype)

#define LAUNCH_PLAN_ROWS(T)                                                              \
    {LAUNCH_PLAN_ROW(T, runner, const char *, JSON_TYPE_TEXT, "Its runner"),             \
     .choices = co_runner_names, .flags = JSON_OPEN},                                    \
        {LAUNCH_PLAN_ROW(T, launch_at_s, double, JSON_TYPE_NUMBER, "When to launch")},   \
        {LAUNCH_PLAN_ROW(T, order_rule, int, JSON_TYPE_CHOICE,                           \
                         "any: the order does not matter; simultaneous: all at the "     \
                         "barrier; topological: each after those it depends on"),        \
         .choices = co_order_rule_names},                                                \
        LAUNCH_PLAN_TEXTS(T, order, order_count,                                         \
                          "All components, in the order of launching"),                  \
        {LAUNCH_PLAN_ROW(T, barrier, struct launch_plan_barrier, JSON_TYPE_OBJECT,       \
                         "Common start"),                                                \
         .of = &launch_plan_barrier_json},                                               \
        LAUNCH_PLAN_TEXTS(T, pre_phase, pre_phase_count,                                 \
                          "Steps before the job, in order",                              \
                          .choices = co_pre_phase_names, .flags = JSON_OPEN),            \
        {LAUNCH_PLAN_ROW(T, nameserver, const struct launch_plan_nameserver *,           \
                         JSON_TYPE_OBJECT,                                               \
                         "Where components find each other; null: they do not"),         \
         .of = &launch_plan_nameserver_json, .flags = JSON_POINTER | JSON_MAY_BE_NULL},  \
        {LAUNCH_PLAN_ROW(T, per_component, const struct launch_plan_component *,         \
                         JSON_TYPE_LIST, "Components, in the order of the request"),     \
         .count_offset = JSON_AT(T, plan.component_count, size_t),                       \
         .of = &launch_plan_component_json},                                             \
        LAUNCH_PLAN_TEXTS(T, post_phase, post_phase_count,                               \
                          "Steps after the job, in order",                               \
                          .choices = co_post_phase_names, .flags = JSON_OPEN),           \
        {LAUNCH_PLAN_ROW(T, required_capability, const char *, JSON_TYPE_TEXT,           \
                         "What every site must have; null: nothing"),                    \
         .flags = JSON_MAY_BE_NULL},                                                     \
        {LAUNCH_PLAN_ROW(T, atomic, bool, JSON_TYPE_BOOLEAN, "All components or none")}, \
        {LAUNCH_PLAN_ROW(T, maps_components, bool, JSON_TYPE_BOOLEAN,                    \
                         "The runner decides which component runs on which of the "      \
                         "sites")},                                                      \
    {                                                                                    \
        LAUNCH_PLAN_ROW(T, on_failure, int, JSON_TYPE_CHOICE,                            \
                        "What it does when a component fails"),                          \
            .choices = co_failure_default_names                                          \
    }

/* Plans the launch of *in (co_plan_launch(), with its errors), and puts it into names. */
enum error_code launch_plan_make(const struct co_launch_in *in, struct launch_plan *out,
                                 struct arena *a, struct error *err);

#endif
