/* governor_core.h - what the governor decides: who fits, who is next, who is parked.
 *
 * No thread, no lock, no clock: times and CPU seconds are passed in, so that tests play
 * it with a clock of their own. governor.c puts one mutex around it. Times are seconds of
 * any one clock that does not go back.
 */
#ifndef GRIDPLAN_GOVERNOR_CORE_H
#define GRIDPLAN_GOVERNOR_CORE_H

#include "service/governor.h"

enum {
    GOVERNOR_ACCOUNT_BUCKETS = 1024,
    RESERVATION_AFTER = 16 /* later arrivals that began while a job did not fit */
};

/* Lives while something refers to it: a lease, a job, a share. */
struct governor_account {
    struct governor_account *next; /* of the same bucket */
    char *name;
    bool is_key;
    struct governor_quota quota;
    size_t leased_bytes[GOVERNOR_POOLS];
    size_t queued_count[GOVERNOR_QUEUES];
    size_t running_count[GOVERNOR_QUEUES];
    size_t work_count; /* jobs queued, parked, running or ending, of all queues */
    size_t reference_count;
    struct governor_share *shares[GOVERNOR_QUEUES][2]; /* [1]: background */
};

/* An owner in one queue. Lives while it has work, or has had more than others. */
struct governor_share {
    struct governor_share *next;
    struct governor_account *account;
    bool background;
    double weight;
    double virtual_s; /* CPU seconds / weight, as charged */
    size_t running_count, ending_count, queued_count, parked_count;
    struct governor_job *queued, *queued_last; /* in the order of receipt */
    struct governor_job *parked, *parked_last; /* likewise */
};

struct governor_core_queue {
    size_t slot_count, queue_length;
    size_t thread_count; /* that exist: jobs begun at most */
    bool parks;
    double virtual_s;     /* the system's: never goes back */
    double waiting_est_s; /* of all that are queued */
    size_t running_count, ending_count, queued_count, parked_count;
    uint64_t look_count, parking_count;
    struct governor_share *shares;
    size_t share_count;
};

struct governor_core {
    struct governor_options options;
    struct governor_sizes sizes;
    size_t share_bytes[GOVERNOR_POOLS]; /* of one owner that has something already */
    size_t leased_bytes[GOVERNOR_POOLS];
    uint64_t refused_count[GOVERNOR_POOLS][GOVERNOR_ANSWERS];
    struct governor_core_queue queues[GOVERNOR_QUEUES];
    uint64_t next_number;
    size_t busy_count;             /* owners' accounts with work */
    struct governor_job *reserved; /* the holder of the reservation; NULL: none */
    uint64_t reservation_number;   /* of that one, or of the last */
    size_t begun_bytes;            /* leases of what began under it */
    struct governor_account *buckets[GOVERNOR_ACCOUNT_BUCKETS];
};

void core_open(struct governor_core *c, const struct governor_options *options);

/* Releases what is left of accounts and shares. */
void core_close(struct governor_core *c);

/* ---- memory: governor_memory.c ---- */

/* The account of the name, with one more reference; NULL without memory. */
struct governor_account *core_account(struct governor_core *c,
                                      const struct governor_party *party, bool is_key);
void core_account_release(struct governor_core *c, struct governor_account *account);

struct governor_holding core_holding(struct governor_core *c, const char *name,
                                     bool is_key);

enum governor_answer core_body_check(struct governor_core *c,
                                     const struct governor_who *who, size_t bytes);
enum governor_answer core_body_take(struct governor_core *c,
                                    const struct governor_who *who,
                                    struct governor_lease *lease, size_t bytes);
enum governor_answer core_work_take(struct governor_core *c,
                                    const struct governor_who *who,
                                    struct governor_lease *lease, size_t bytes);
void core_give(struct governor_core *c, struct governor_lease *lease, size_t bytes);

/* Whether a job of the accounts may begin with a lease of `bytes` now, but for the
 * reservation. `key` NULL: none. */
bool core_work_fits(const struct governor_core *c, const struct governor_account *owner,
                    const struct governor_account *key, size_t bytes);

/* Whether the reservation lets the queued job begin. */
bool core_reservation_allows(const struct governor_core *c,
                             const struct governor_job *job);

/* The job begins: takes its lease, which fits, and counts for those that wait longer. */
void core_work_begin(struct governor_core *c, struct governor_job *job);

/* The job waits no more; its reservation goes to the next. */
void core_reservation_end(struct governor_core *c, const struct governor_job *job);

enum governor_answer core_grow(struct governor_core *c, struct governor_job *job,
                               size_t bytes);
enum governor_answer core_reserve(struct governor_core *c, struct governor_job *job,
                                  size_t bytes);

/* Whether a need of `bytes` can ever be had. */
enum governor_answer core_work_possible(const struct governor_core *c,
                                        const struct governor_account *owner,
                                        const struct governor_account *key, size_t bytes);

/* ---- the queues: governor_queue.c ---- */

enum governor_answer core_submit(struct governor_core *c, const struct governor_who *who,
                                 struct governor_job *job, double now_s);

/* For a free slot, if there is one: the job that begins in it, or goes on when its
 * `thread` is set. NULL: none. */
struct governor_job *core_next(struct governor_core *c, enum governor_queue queue,
                               double now_s);

/* Charges; true: the job is parked now, its slot is free. */
bool core_look(struct governor_core *c, struct governor_job *job, double cpu_s,
               double now_s, bool may_park);

/* The job has run to its end; true: it is queued again (governor_reserve()). */
bool core_end(struct governor_core *c, struct governor_job *job, double cpu_s,
              double now_s);

/* A queued job that waits no longer, taken from its queue: *answer says why. */
struct governor_job *core_overdue(struct governor_core *c, enum governor_queue queue,
                                  double now_s, enum governor_answer *answer);

/* A parked job that is cancelled or past its deadline: from now on it runs without a
 * slot. NULL: none. */
struct governor_job *core_parked_overdue(struct governor_core *c,
                                         enum governor_queue queue, double now_s);

/* One parked job likewise, whatever its deadline. */
void core_parked_end(struct governor_core *c, struct governor_job *job);

void core_charge(struct governor_core *c, enum governor_queue queue,
                 const struct governor_who *who, double cpu_s);

int core_retry_after_s(const struct governor_core *c, enum governor_queue queue);

void core_stats(const struct governor_core *c, struct governor_stats *stats);

#endif
