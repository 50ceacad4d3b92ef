/* advice.h - a decision about a queue as changes that Slurm's operators can make.
 *
 * Nothing is started by force: the order that jobs should start in is expressed by their
 * priorities, or by their nices, and Slurm starts them. Only what is not so already is
 * changed. A change is a vector of arguments for scontrol, which no shell reads, its text
 * for people, quoted for a shell, a request of slurmrestd, or options of sbatch.
 *
 * By priority: jobs of the order's end whose priorities fall already stay; those before
 * get base, base - step ... Slurm takes no priority of a held job, and releasing one sets
 * its priority anew: a held job is released first. By nice, which users may raise: the
 * least nices that bring about the order; the priority without nice stays as it is.
 *
 * Source: Slurm's manual pages scontrol(1), sbatch(1) and the description of its REST
 * interface; what becomes of held jobs was seen of Slurm 22.05.8.
 */
#ifndef GRIDPLAN_SLURM_ADVICE_H
#define GRIDPLAN_SLURM_ADVICE_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* What may be changed: symbol, word. */
#define SLURM_ACTIONS(X)      \
    X(RELEASE, release)       \
    X(PRIORITY, priority)     \
    X(NICE, nice)             \
    X(HOLD, hold)             \
    X(TIME_LIMIT, time_limit) \
    X(BEGIN, begin)           \
    X(REQUEUE, requeue)       \
    X(DRAIN, drain)           \
    X(RESUME, resume)

enum slurm_action_kind {
#define X(symbol, word) SLURM_ACT_##symbol,
    SLURM_ACTIONS(X)
#undef X
        SLURM_ACTION_COUNT
};

extern const char *const slurm_action_names[]; /* by enum, ended by NULL */

struct slurm_action {
    enum slurm_action_kind kind;
    const char *job_id;      /* or */
    const char *resource_id; /* of DRAIN, RESUME */
    double value; /* priority, nice; seconds of a limit; instant of a begin; NAN: none */
    const char *reason; /* of DRAIN */
    double before;      /* what undoes it: priority, nice; NAN: not known */
};

/* A job as it is now, and in the order that is asked for. */
struct slurm_ordered {
    const char *id;
    double priority; /* NAN: not known, is set anew */
    double nice;
    bool held;
};

enum slurm_order_mode { SLURM_BY_PRIORITY, SLURM_BY_NICE };

struct slurm_order {
    enum slurm_order_mode mode;
    double base, step; /* BY_PRIORITY: >= 1 */
    size_t changes_max;
};

struct slurm_changes {
    struct slurm_action *list;
    size_t count;
    size_t left_out;  /* beyond changes_max */
    size_t too_small; /* jobs whose priority would have to be below 1: left as they are */
};

/* Changes that bring the jobs into their order; the first of them matter most. O(n). */
void slurm_order_changes(const struct slurm_order *how, const struct slurm_ordered *jobs,
                         size_t count, struct slurm_changes *out, struct arena *a);

/* "digits" or "digits_digits". */
bool slurm_is_job_id(const char *id);

/* Letters, digits and . _ - at least one. */
bool slurm_is_node_name(const char *name);

/* Notes what cannot be written, with the pointer of the action: an id or name of other
 * characters, control characters, a value out of its bounds. */
enum error_code slurm_action_check(const struct slurm_action *action, const char *pointer,
                                   struct error *err);

enum { SLURM_ARGUMENTS_MAX = 8 };

/* Arguments of scontrol, ended by NULL, after slurm_action_check(). Instants are local
 * times, so far ahead of UTC. */
struct slurm_command {
    const char *argument[SLURM_ARGUMENTS_MAX];
    size_t count;
};
void slurm_action_command(const struct slurm_action *action, double tz_offset_s,
                          struct slurm_command *out, struct arena *a);

/* The command as a line that a shell reads as these very arguments. */
const char *slurm_command_line(const struct slurm_command *command, struct arena *a);

/* A request of slurmrestd. `version` as v0.0.38; from v0.0.40 on numbers are objects.
 * False: its interface has nothing for that (release of a held job is `hold` false). */
struct slurm_rest {
    const char *method, *path, *body;
};
bool slurm_action_rest(const struct slurm_action *action, const char *version,
                       struct slurm_rest *out, struct arena *a);

/* An option of sbatch for the next submission of the job; NULL: there is none. */
const char *slurm_action_option(const struct slurm_action *action, double tz_offset_s,
                                struct arena *a);

#endif
