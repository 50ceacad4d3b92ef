/* parallel/annealing.h - what simulated_annealing and sa_random_start share. */
#ifndef GRIDPLAN_PARALLEL_ANNEALING_H
#define GRIDPLAN_PARALLEL_ANNEALING_H

#include "algorithms/parallel/evaluate.h"

enum {
    SA_START_TEMPERATURE,
    SA_END_TEMPERATURE,
    SA_START_RATIO,
    SA_COOLING,
    SA_STEPS,
    SA_ACCEPT_LIMIT,
    SA_BREAK,
    SA_PARAM_COUNT,
};

extern const char *const sa_break_names[];

/* The table of a policy: {SA_ROWS, {0}}. */
#define SA_ROWS                                                                          \
    [SA_START_TEMPERATURE] =                                                             \
        {"start_temperature", 1e-6, 1e12, 100, "First temperature, s (source)",          \
         PARAM_NUMBER,        NULL},                                                     \
    [SA_END_TEMPERATURE] =                                                               \
        {"end_temperature", 1e-9, 1e12, 1, "No temperature below this, s (source)",      \
         PARAM_NUMBER,      NULL},                                                       \
    [SA_START_RATIO] = {"start_ratio",                                                   \
                        0,                                                               \
                        100,                                                             \
                        0,                                                               \
                        "First temperature as a share of the first set's score, the "    \
                        "last one in proportion, for jobs of any length (0.2 is "        \
                        "sensible); 0: start_temperature",                               \
                        PARAM_NUMBER,                                                    \
                        NULL},                                                           \
    [SA_COOLING] =                                                                       \
        {"cooling",    0.01, 0.999, 0.8, "Factor between temperatures (source)",         \
         PARAM_NUMBER, NULL},                                                            \
    [SA_STEPS] =                                                                         \
        {"steps",       1,   1e6, 80, "Exchanges tried at a temperature (source)",       \
         PARAM_INTEGER, NULL},                                                           \
    [SA_ACCEPT_LIMIT] = {"accept_limit",                                                 \
                         0,                                                              \
                         1e6,                                                            \
                         20,                                                             \
                         "More accepted exchanges than this end a size, or a "           \
                         "temperature (source)",                                         \
                         PARAM_INTEGER,                                                  \
                         NULL},                                                          \
    [SA_BREAK] = {"sa_break",                                                            \
                  0,                                                                     \
                  1,                                                                     \
                  0,                                                                     \
                  "After a temperature with many accepted exchanges: literal: the next " \
                  "size; per_temperature: the next temperature, at once",                \
                  PARAM_CHOICE,                                                          \
                  sa_break_names}

/* Is an exchange that leads from score to score taken? A worse one with probability
 * exp((current_s - new_s) / temperature). */
bool sa_accepts(double current_s, double new_s, double temperature, uint64_t *random);

/* Keys by which the first set of each size is chosen: the time on one machine, with
 * the communication over the mean of its links. n values. */
double *sa_keys(const struct parallel_search *s);

/* For each size from n down to max(2, min_procs): the first set, then exchanges of a
 * member and another machine while the temperature falls. Sets begin with the first
 * machines of `order`, or NULL: at random. */
void sa_run(struct parallel_search *s, const double *param, const size_t *order);

#endif
