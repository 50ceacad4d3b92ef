/* simulation/experiment.h - labels that are compared in several runs.
 *
 * Every label meets the same world in the run of the same number: its seed follows from
 * the experiment's. A simulator brings the names of its figures and a function that plays
 * a trial: one label in one run, or all of them where they meet each other. The rest is
 * here: which trial comes next, its seed, how far it all is, when to end, what an earlier
 * owner has played already, and what the figures come to over the runs.
 *
 * Runs are played one after the other, in each all labels. What has been played of a run
 * that could not be ended for all labels does not count.
 */
#ifndef GRIDPLAN_SIMULATION_EXPERIMENT_H
#define GRIDPLAN_SIMULATION_EXPERIMENT_H

#include "algorithms/simulation/simulation.h"

/* Where the seeds of the runs come from. */
enum experiment_seeds {
    EXPERIMENT_SEEDS_SPREAD,   /* the first is the experiment's, the others follow from it
                                  by splitmix64: neighbours share no run */
    EXPERIMENT_SEEDS_SEQUENCE, /* the experiment's and those after it */
};
extern const char *const experiment_seed_schemes[]; /* ended by NULL */

/* Seed of a run, below 2^53 if the experiment's is. */
uint64_t experiment_seed(uint64_t seed, enum experiment_seeds scheme, uint64_t run);

struct experiment_bytes {
    const void *data;
    size_t length;
};

/* One label in one run, or all of them. */
struct experiment_trial {
    size_t run, label; /* of all: 0 */
    uint64_t seed;
    struct budget *budget;
    struct arena *arena, *scratch; /* emptied before each trial */
    const double *run_figures;     /* [label][figure]: those of labels before this one */
    double *figures;               /* to be filled: [figure], of all: [label][figure] */
    bool is_cut;                   /* to be said: it was not ended, and does not count */
    struct sim_progress progress;  /* to be kept: also asked when the budget is */
    uint64_t events_before;        /* of all trials before this one */
    struct experiment_bytes rest;  /* for a later owner, besides figures; stays until the
                                      next trial */
};

/* Plays a trial. What fails ends the experiment. */
typedef enum error_code experiment_play_fn(void *context, struct experiment_trial *trial);

/* Takes the rest of a trial that an earlier owner has ended, beside its figures; false:
 * it is none of this program's, the trial is played. */
typedef bool experiment_take_fn(void *context, const struct experiment_trial *trial,
                                struct experiment_bytes rest);

/* Plays what takes long of a trial: its figures, its progress and its rest, from which
 * `take` makes all else. It may run on any thread, beside other trials. Failures go to
 * *err; the trial is then played, and ends the experiment. */
typedef enum error_code experiment_apart_fn(void *context, struct experiment_trial *trial,
                                            struct error *err);

/* Who is told how far it is, and keeps trials for a later owner. */
struct experiment_owner {
    void (*note)(void *context, double ratio, uint64_t event_count, size_t runs_done);
    /* What an earlier owner kept of this number; false: nothing. */
    bool (*find)(void *context, uint64_t number, struct experiment_bytes *content);
    /* The content stays where it is until the experiment has ended. NULL: nothing is. */
    void (*keep)(void *context, uint64_t number, struct experiment_bytes content);
    void *context;
};

struct experiment;

/* After a run that is complete: whether no more of them are needed. */
typedef bool experiment_enough_fn(void *context, const struct experiment *e);

struct experiment_in {
    const char *const *figure_names; /* ended by NULL, at least one */
    size_t label_count, run_count;   /* >= 1 */
    bool all_at_once;                /* a trial is a run of all labels */
    bool first_run_again; /* it has rows that nobody keeps: a later owner plays it */
    uint64_t seed;
    enum experiment_seeds seed_scheme;
    experiment_play_fn *play;
    experiment_take_fn *take;     /* NULL: there is no rest */
    experiment_apart_fn *apart;   /* with one label, and owner->find() is always asked:
                                     it may have what experiment_play_apart() says. NULL:
                                     trials are played in their order only */
    experiment_enough_fn *enough; /* NULL: run_count of them are */
    void *context;                /* of all four */
    struct budget *budget;
    struct arena *trial, *scratch; /* handed to trials */
    const struct experiment_owner *owner;
};

struct experiment {
    const struct experiment_in *in;
    double *figures; /* [run][label][figure] */
    size_t figure_count;
    size_t trials_done, runs_done; /* runs: complete for every label */
    uint64_t event_count;          /* of trials that were cut too */
    bool is_cut;                   /* not all runs were played */
};

/* Plays all runs, or those that the budget suffices for. Errors: the simulator's. */
enum error_code experiment_play(const struct experiment_in *in, struct experiment *out,
                                struct arena *a);

/* Trial `number` by in->apart, on any thread: what owner->find() may answer, in
 * `result`; false: it was not ended, or failed. */
bool experiment_play_apart(const struct experiment_in *in, size_t number,
                           struct budget *budget, struct arena *trial,
                           struct arena *scratch, struct experiment_bytes *content,
                           struct arena *result);

/* A figure of a run that is complete. */
double experiment_figure(const struct experiment *e, size_t run, size_t label,
                         size_t figure);

/* Over the complete runs in which it is known. */
struct sim_summary experiment_summary(const struct experiment *e, size_t label,
                                      size_t figure);

/* What decides between two: a figure. */
struct experiment_key {
    size_t figure;
    bool more_is_better;
};

/* Positions of `count` rows values[count][figure_count], best first: by the first key in
 * which they differ, then by name. */
void experiment_rank(const double *values, size_t count, size_t figure_count,
                     const struct experiment_key *keys, size_t key_count,
                     const char *const *names, size_t *order);

#endif
