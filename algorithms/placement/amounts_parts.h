/* placement/amounts_parts.h - what the amounts_*.c share. */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_PARTS_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_PARTS_H

#include "algorithms/placement/amounts.h"

/* Names of amounts, in the order in which they first came. */
struct amount_names {
    const char *name[AMOUNT_NAMES_MAX];
    bool shared[AMOUNT_NAMES_MAX];  /* in shared_capacities */
    bool on_node[AMOUNT_NAMES_MAX]; /* in a resource's capacities */
    size_t row[AMOUNT_NAMES_MAX];   /* in the world */
    size_t count;
    struct name_index index;
};

/* A row of what runs; rows of one id are a chain. */
struct running_ref {
    const struct taken_running *row;
    size_t owner, number; /* resource whose row it is, or NO_INDEX; its place there */
    const size_t *at;     /* resources, by snapshot index */
    size_t at_count;
    size_t next;   /* of the same id; NO_INDEX: the last */
    bool is_first; /* of its id */
};

/* A reservation, likewise. */
struct reservation_ref {
    const struct taken_reservation *row;
    size_t owner, number;
    const size_t *at;
    size_t at_count;
};

/* When something that runs ends. */
struct running_end {
    double end_s; /* HUGE_VAL: not known */
    bool overdue;
};

struct amounts {
    const struct placement_in *in;
    bool plan_with_limit, starts_now, counts_limits;
    struct amount_names names;
    struct name_index resources, jobs, leased, finished, running, groups, partitions;
    struct running_ref *runs;
    size_t run_count;
    struct reservation_ref *reserves;
    size_t reserve_count;
    const struct job_group **group; /* the first row of each id */
    size_t *group_of;               /* by job; NO_INDEX */
    size_t group_count;
    struct arena *arena;
};

/* Rows of what runs and is reserved. */
void amounts_list_taken(struct amounts *x, struct error *err);

/* Mistakes of each kind; amounts_check() calls them in this order. */
void amounts_check_names(struct amounts *x, struct error *err);
void amounts_check_taken(struct amounts *x, struct error *err);
void amounts_check_jobs(struct amounts *x, struct error *err);
void amounts_check_groups(struct amounts *x, struct error *err);
void amounts_check_after(struct amounts *x, struct error *err);
void amounts_check_partitions(struct amounts *x, struct error *err);

/* Where a row stands: "/snapshot/resources/3/running/0", without a NUL too much. */
enum { AMOUNT_PATH_BYTES = 160 };
const char *amounts_path(char *buffer, size_t owner, const char *list, size_t number);

/* A mistake at path/member. */
void amounts_mistake(struct error *err, const char *path, const char *member,
                     enum item_code code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The instant that counts as now minus nothing: seconds of `at_s` from it. */
double amounts_from_now_s(const struct amounts *x, double given_s, double at_s);

/* When the job of the row ends. */
struct running_end amounts_end_of(const struct amounts *x,
                                  const struct taken_running *row);

/* The world while it is made. */
struct world_maker {
    const struct amounts *x;
    struct placement_problem *p;
    struct world *w;
    struct world_resource *resources;
    struct world_holder *holders;
    size_t holder_count;
    struct world_job *jobs;
    const char **waits_for;
    const struct mask_store *masks;
    struct amount_store *store;
    struct arena *arena;
};

/* Vectors of amounts, equal ones once. */
const int64_t *amounts_keep(struct world_maker *m, const int64_t *vector);

/* What is needed of each amount, in units, into `vector` (amount_count of them). */
struct amount_needs {
    double cpus, memory_bytes, disk_bytes; /* NAN: none */
    const struct named_value *needs;
    size_t need_count;
    int64_t jobs, presence;
};
void amounts_vector(const struct world_maker *m, const struct amount_needs *of,
                    int64_t *vector);

/* The member of the partition that closes it to the job; NULL: it is open. */
const char *amounts_closed(const struct partition *p, const struct world_job *j,
                           const char *user);

/* The member of the partition by which no job of the user can ever be let in that needs
 * as much as this one; NULL: it can. */
const char *amounts_beyond(const struct partition *p, const struct world_job *j,
                           const char *user);

/* Limits of users while choices are made. */
struct limit_store;

/* NULL: no partition has a limit, or they do not count. Masks of partitions are by
 * position. `most`: pairs of a job and a partition. */
struct limit_store *amounts_limits_open(struct world_maker *m,
                                        uint64_t *const *partitions, size_t most);

/* Those of the job's user in the partition. */
void amounts_limit_choice(struct limit_store *s, size_t job, size_t partition,
                          struct world_choice *choice);

/* What runs has its part; warnings. */
void amounts_limits_close(struct limit_store *s);

void amounts_make_holders(struct world_maker *m);
void amounts_warn_overcommitted(struct world_maker *m);
void amounts_make_jobs(struct world_maker *m);
void amounts_make_groups(struct world_maker *m);
void amounts_make_keys(struct world_maker *m, struct world_group *groups, size_t count);
void amounts_make_after(struct world_maker *m);
void amounts_make_choices(struct world_maker *m);
void amounts_make_files(struct world_maker *m); /* behind the choices */

#endif
