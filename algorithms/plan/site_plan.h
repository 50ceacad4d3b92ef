/* plan/site_plan.h - what planners of one cluster share.
 *
 * A table keeps the answers of a source, so that a planner may ask for the same
 * interval again and again. A planner gets a table and gives pieces.
 *
 * Source: spec rescheduling-plans.md 3.
 */
#ifndef GRIDPLAN_PLAN_SITE_PLAN_H
#define GRIDPLAN_PLAN_SITE_PLAN_H

#include "models/base/budget.h"
#include "models/base/param.h"

#include <stdint.h>

/* ---- sources ---- */

/* The fastest way known to run phases first..last on one cluster. */
struct plan_best {
    size_t schedule; /* number that the source gave it */
    double time_s;   /* > 0; HUGE_VAL: the cluster cannot run them */
    double bound_s;  /* no schedule is faster; 0: not known */
    bool proven;     /* nor faster than time_s */
    bool clocked;    /* the clock ended the look for it: another run may find another */
};

struct plan_source {
    void *context;
    /* *out comes with a schedule and its time, which one faster is looked for than; with
     * time_s 0 none is known. */
    enum error_code (*best)(void *context, size_t first, size_t last,
                            struct plan_best *out, struct error *err);
    /* Time of phases on a schedule under the loads of now; HUGE_VAL: impossible. */
    double (*time_on)(void *context, size_t schedule, size_t first, size_t last);
    /* No schedule is faster; known_s: time of one, HUGE_VAL: none is known. */
    double (*bound)(void *context, size_t first, size_t last, double known_s);
    bool (*same)(void *context, size_t schedule, size_t other); /* NULL: same number */
    /* The part of a time that waiting in a queue is: not for who runs there already;
     * NULL: none. */
    double (*wait_s)(void *context, size_t schedule);
};

/* ---- tables ---- */

/* Questions of all clusters: what a step of a planner is. */
struct plan_steps {
    uint64_t asked, most; /* most 0: no limit */
    uint64_t clocked;     /* times that the clock decided, and another run may not */
};

struct plan_table {
    const struct plan_source *source; /* NULL: takes no part */
    struct plan_steps *steps;         /* NULL: not counted */
    size_t phase_count;
    struct plan_best *cells; /* of first <= last; time_s 0: not asked yet */
    struct budget *budget;
    size_t last_schedule; /* of the last answer; SIZE_MAX: none yet */
    uint64_t calls;
    bool cut;      /* something was asked for after the budget had ended */
    bool unproven; /* some answer was not proven */
    struct error *err;
    enum error_code code; /* of a source that failed: planners stop, and pass it up */
};

enum error_code plan_table_create(const struct plan_source *source, size_t phase_count,
                                  struct budget *budget, struct plan_table *table,
                                  struct arena *a, struct error *err);

/* The loads have changed: asks anew. */
void plan_table_forget(struct plan_table *table);

/* NULL: the budget or the steps have ended (never with the first question), or the source
 * failed. */
const struct plan_best *plan_table_best(struct plan_table *table, size_t first,
                                        size_t last);

/* Likewise, but looks for one faster than the schedules of the two intervals that are a
 * phase shorter, as far as these are known: what it gives is no slower. */
const struct plan_best *plan_table_seeded(struct plan_table *table, size_t first,
                                          size_t last);

/* Likewise, but no slower than a schedule that is known. */
const struct plan_best *plan_table_from(struct plan_table *table, size_t first,
                                        size_t last, size_t schedule);

/* What is known of it; NULL: it was not asked for yet. */
const struct plan_best *plan_table_known(const struct plan_table *table, size_t first,
                                         size_t last);

/* Whether the budget has ended, between two questions: what a planner does then another
 * run may not do. */
bool plan_time_over(struct plan_table *table);

double plan_table_time_on(const struct plan_table *table, size_t schedule, size_t first,
                          size_t last);

/* Likewise for an application that is on it already. */
double plan_table_keep_s(const struct plan_table *table, size_t schedule, size_t first,
                         size_t last);

/* Lower bound of the time of first..last on this cluster. */
double plan_table_bound(const struct plan_table *table, size_t first, size_t last);

/* ---- planners ---- */

enum plan_option {
    PLAN_MIN_INTERVAL,
    PLAN_POPULATION,
    PLAN_GENERATIONS,
    PLAN_SEEDED,
    PLAN_SCHEDULER,
    PLAN_INTER_COST,
    PLAN_REDISTRIBUTION,
    PLAN_USE_FORECAST,
    PLAN_MAX_STEPS,
    PLAN_BOUND_EFFORT, /* 0: auto; else as enum bound_effort, plus one */
    PLAN_START_LIST,   /* 0: all; else plan_start_names */
    PLAN_OPTION_COUNT
};

/* What a planner computes in; made once, used by one planner after the other. */
struct plan_work {
    size_t phase_count, population;
    struct plan_piece *pieces;  /* phase_count */
    double *least;              /* phase_count + 1 */
    size_t *back;               /* phase_count + 1 */
    bool *marks, *best_marks;   /* phase_count: is there a marker after the phase? */
    bool *genes;                /* 2 * population lists of marks */
    double *fitness;            /* 2 * population */
    size_t *order, *order_copy; /* 2 * population */
    bool *is_near;              /* phase_count + 1, for plan_near_ask() */
    size_t *distance, *numbers; /* phase_count + 1, of plan_near_ask() */
    bool *kept;                 /* population lists: the next generation */
    double *kept_fitness;
};

void plan_work_create(size_t phase_count, size_t population, struct plan_work *work,
                      struct arena *a);

struct plan_site_in {
    struct plan_table *table;
    size_t first, last;   /* phases to plan */
    double cost_s;        /* of each move */
    const double *option; /* PLAN_OPTION_COUNT */
    uint64_t seed;
    const char *stream; /* of random numbers */
    struct plan_work *work;
};

struct plan_piece {
    size_t first, last, schedule;
    double time_s;
};

struct plan_site_out {
    const struct plan_piece *pieces; /* in work, until the next planner runs */
    size_t count;
    double total_s; /* with the cost of each move */
    bool valid;     /* all pieces are */
    bool cut;
};

typedef enum error_code plan_site_fn(const struct plan_site_in *in,
                                     struct plan_site_out *out, struct error *err);

/* ---- for planners ---- */

static inline bool plan_long_enough(const struct plan_site_in *in, double time_s)
{
    return time_s >= in->option[PLAN_MIN_INTERVAL];
}

/* What a list of marks is worth. */
struct plan_worth {
    double total_s;
    size_t interval_count, invalid_count;
    double missing_s; /* sum over invalid intervals of what they lack */
};

/* Whether in->table could tell. `marks` has an element per phase in->first ..
 * in->last, the last of which counts as set. O(phases). */
bool plan_marks_worth(const struct plan_site_in *in, const bool *marks,
                      struct plan_worth *worth);

/* The plan of these marks, whose intervals must all be in the table. */
enum error_code plan_marks_answer(const struct plan_site_in *in, const bool *marks,
                                  struct plan_site_out *out);

/* The plan of `count` pieces in in->work->pieces, which reach from in->first to a
 * phase before in->last or to it: the rest becomes one piece. `cut` says that the
 * planner did not end; the rest then runs on the last schedule that was found. */
enum error_code plan_pieces_answer(const struct plan_site_in *in, size_t count, bool cut,
                                   struct plan_site_out *out);

#endif
