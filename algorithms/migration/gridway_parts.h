/* migration/gridway_parts.h - what the files of gridway share. */
#ifndef GRIDPLAN_MIGRATION_GRIDWAY_PARTS_H
#define GRIDPLAN_MIGRATION_GRIDWAY_PARTS_H

#include "algorithms/migration/gridway.h"
#include "algorithms/migration/gridway_contract.h"
#include "algorithms/placement/gridway_round.h"

/* Resources that a running job is on, by snapshot index. */
struct gridway_nodes {
    size_t *at, count;
};

/* The request as a placement problem: pending jobs first, then those that run. Restart
 * files and queued outputs are files of its snapshot behind the given ones. */
struct gridway_request {
    const struct gridway_in *in;
    struct placement_in placement;
    struct snapshot snapshot;
    struct name_index resources; /* indexes in the snapshot by id */
    size_t *present;             /* by running job: index in the snapshot */
    struct gridway_nodes *nodes; /* the same, all of a job on several nodes */
    size_t *holds;               /* the same, NO_INDEX: it has ended */
    size_t *restart_host;        /* ... that its restart file is on; NO_INDEX: on none */
    size_t *restart_file;        /* in the snapshot; NO_INDEX: there is none */
    size_t *output_file;         /* queued outputs; NO_INDEX: there are none */
};

/* Checks what placement does not know of, and makes the problem's input. All mistakes are
 * collected in *err. O(size of *given). */
enum error_code gridway_request_make(const struct gridway_in *given,
                                     struct gridway_request *request, struct arena *a,
                                     struct error *err);

/* Mistakes behind `after` (NULL: all) point into placement's list of jobs: now into those
 * of the request. */
void gridway_rename_pointers(const struct gridway_in *in, const struct error_item *after,
                             struct error *err);

/* A running job in a round. */
struct gridway_case {
    const struct reschedule_job *given;
    size_t job, number; /* of the problem; of the request's list */
    size_t pos;         /* where it is; on several nodes, the first of them */
    enum reschedule_event_kind event;
    bool failed_stage; /* no retry is left: reschedule */
    bool runs;         /* its wrapper does */
    bool host_down;
    bool forced, rank_test; /* forced: neither test */
    bool skip_history;
    double stay_s; /* HUGE_VAL: without end; NAN: not known */
    double rank_present;
};

/* A resource that a job may go to. */
struct gridway_candidate {
    size_t pos;
    double wait_s, stage_s, execution_s, move_s; /* HUGE_VAL: not known */
    double rank, key; /* key: rank, or the resource's priority; larger is first */
    double bytes, lost_ref_s;
    double hold_s;           /* of a world: how long it is held, without the wait */
    bool restart;            /* from nothing */
    const size_t *positions; /* of a job on several nodes: position_count of them */
    size_t position_count;
};

/* Busy slots of a resource that jobs of this round wait for. */
struct gridway_waits {
    double *free_s; /* rising; NULL: not sorted yet */
    size_t taken;
};

struct gridway_run {
    const struct gridway_request *request;
    const double *param;
    const struct placement_problem *problem;
    struct placement_plan *plan;       /* of slots; NULL: there is */
    struct gridway_world *world;       /* a world of amounts; NULL */
    const struct named_value *options; /* as given */
    size_t option_count;
    struct round round;
    struct gridway_waits *waits; /* by position */
    uint64_t *open;              /* bit set: a slot there may be free soon enough */
    uint64_t *mask;              /* scratch: resources that suit the job at hand */
    struct gridway_candidate *candidates; /* of the job at hand */
    size_t candidate_count;
    uint64_t *dropped; /* of the job at hand: filters, then enum gridway_dropped */
    size_t wait_count; /* jobs that wait for a busy slot */
    double bytes_moved;
    size_t moved_count;
    struct arena *arena;
};

enum gridway_dropped {
#define X(symbol, name) symbol,
    GRIDWAY_DROPS(X)
#undef X
        DROP_COUNT
};

/* Makes the scratch room. O(m). */
void gridway_run_begin(struct gridway_run *run);

/* The work that the job has to do on the resource, restart file or not; *restart: from
 * nothing. NAN: it has no estimate. */
double gridway_left_ref_s(const struct gridway_run *run, const struct gridway_case *c,
                          size_t pos, bool *restart);

/* Time of so much of the job's work on the resource; HUGE_VAL: never, not known. */
double gridway_execution_s(const struct gridway_run *run, const struct gridway_case *c,
                           size_t pos, double work_ref_s);

/* Seconds until the queued outputs are where they are needed if the job goes to `pos`. */
double gridway_outputs_s(const struct gridway_run *run, const struct gridway_case *c,
                         size_t pos);

/* What expressions may ask about the resource that the job is on. */
struct select_state gridway_present_state(const struct gridway_run *run,
                                          const struct gridway_case *c);

/* Fills run->candidates with those that have a slot, best first, and run->dropped. */
void gridway_candidates_find(struct gridway_run *run, const struct gridway_case *c);

/* No move of the job ends before; HUGE_VAL: it has nowhere to go, NAN: not known. */
double gridway_move_bound_s(const struct gridway_run *run, const struct gridway_case *c);

/* What happened to running job `number`: fills *c, and *v with its verdict unless *moves
 * says that it may move. O(m / 64); with a matrix O(m). */
void gridway_case_make(struct gridway_run *run, size_t number, struct gridway_case *c,
                       struct gridway_verdict *v, bool *moves);

/* Counts work, and asks the clock now and then. */
bool gridway_spent(struct gridway_run *run, size_t work);

/* Takes the candidate's slot; its files count as present from then on. */
enum error_code gridway_dispatch(struct gridway_run *run, const struct gridway_case *c,
                                 const struct gridway_candidate *to, struct error *err);

#endif
