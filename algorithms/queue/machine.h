/* queue/machine.h - a cluster with its queue, played by events.
 *
 * One implementation for decisions and for replays: a decision plays the present, and
 * to estimate starts the future in which every job takes its estimate; a replay plays
 * a log. At an instant jobs end first, then others arrive, then the policy decides,
 * once for all of them.
 *
 * A job whose estimate is 0 is taken to need the least time that there is, so that it
 * has its place in the profile; when it has taken none it ends at the instant at which
 * it started, and that is then played once more.
 */
#ifndef GRIDPLAN_QUEUE_MACHINE_H
#define GRIDPLAN_QUEUE_MACHINE_H

#include "algorithms/queue/hints.h"
#include "algorithms/queue/profile.h"
#include "algorithms/queue/waiting.h"
#include "models/base/budget.h"

struct job_end {
    double at_s;
    size_t job; /* of the machine's jobs, or from job_count on of those that ran before */
};

struct machine {
    const struct policy *policy;
    uint64_t processors;
    const struct queue_job *jobs; /* in order of arrival */
    size_t job_count;
    const double *run_s;                 /* of each job, at most its estimate */
    const struct queue_running *running; /* from the begin on */
    size_t running_count;

    double now_s;
    double *start_s;        /* of each job; NAN: not yet, or never */
    struct profile profile; /* free processors by estimates, reservations, plans */
    struct waiting waiting;
    size_t arrived_count;
    struct job_end *ends; /* heap of the running jobs */
    size_t end_count;
    const double *wake_s; /* ends of reservations, ascending */
    size_t wake_count, wake_next;
    uint64_t ended_count, event_count;

    /* conservative */
    double *plan_s;          /* planned start of each waiting job; NAN: none yet */
    uint64_t *planned;       /* bits: who has a plan, by rank */
    size_t planned_count;    /* those that arrived, and were looked at */
    bool ended_early;        /* a job did, at this instant */
    struct hints *hints;     /* for arrivals; NULL: none */
    const double *promise_s; /* start that each job was promised; NAN, NULL: none */
    bool keeps_gaps;         /* who was promised a start does not move up */

    size_t head;         /* easy: first job of the queue, if it waits; else SIZE_MAX */
    double head_start_s; /* when it is to start */

    struct budget *budget;
    uint64_t next_look; /* work at which the budget is asked again */
    bool cut;           /* the budget is spent: of what is played, starts count */
    struct arena *arena;
};

/* A machine without jobs at a time from which all the others follow. The arrays stay
 * the caller's; jobs must be in order of arrival, and those that are too wide for the
 * machine never get into the queue. */
enum error_code machine_open(struct machine *m, const struct policy *policy,
                             const struct queue_in *in, const double *run_s,
                             struct budget *budget, struct arena *a, struct error *err);

/* When something happens next; infinite: never. */
double machine_next_s(const struct machine *m);

/* Plays the next instant; *more false: there is none. */
enum error_code machine_step(struct machine *m, bool *more, struct error *err);

/* Plays all. */
enum error_code machine_run(struct machine *m, struct error *err);

/* When a job ends by its estimate. */
double machine_end_s(double start_s, double estimate_s);

/* The same of one that ran before. */
double machine_running_end_s(const struct queue_running *running, double now_s);

/* ---- for rules.c ---- */

/* Processors that are free at this moment. */
uint64_t machine_free(const struct machine *m);

/* Whether there is room for a job from now on. */
bool machine_fits_now(struct machine *m, size_t job);

/* Starts a waiting job, for which there is room. */
enum error_code machine_start(struct machine *m, size_t job, struct error *err);

/* The same for one that has its place in the profile already. */
void machine_start_planned(struct machine *m, size_t job);

/* Asks the budget from time to time; counts a piece of work. */
bool machine_is_cut(struct machine *m);

/* Starts what the policy's rule starts. */
enum error_code machine_decide(struct machine *m, struct error *err);

/* The same for the rule conservative, in conservative.c. */
enum error_code conservative_decide(struct machine *m, struct error *err);

#endif
