/* coallocation/simulation_parts.h - what the files of the simulator share.
 *
 * simulation.c plays the events, simulation_sites.c has the clusters with their local
 * jobs, simulation_jobs.c what happens to the scheduler's jobs.
 */
#ifndef GRIDPLAN_COALLOCATION_SIMULATION_PARTS_H
#define GRIDPLAN_COALLOCATION_SIMULATION_PARTS_H

#include "algorithms/coallocation/simulation.h"
#include "models/base/precise_sum.h"
#include "models/base/rng.h"

/* What happens; at equal times in this order. */
enum event_kind {
    EVENT_LOCAL_END,     /* index: site; size: processors */
    EVENT_END,           /* index: job */
    EVENT_LAUNCH,        /* likewise: its JST */
    EVENT_READMIT,       /* index: site */
    EVENT_LOCAL_ARRIVAL, /* likewise */
    EVENT_ARRIVAL,       /* index: job */
    EVENT_CLAIM,         /* likewise: its JCT */
    EVENT_MONITOR,
    EVENT_SCAN,
};

struct event {
    double at_s;
    enum event_kind kind;
    size_t number; /* equal ones in the order in which they were made */
    size_t index, size;
    size_t epoch; /* of the job: an event of an earlier placement is void */
};

struct event_heap {
    struct event *items;
    size_t count, capacity;
    size_t made;
};

/* A local job that waits. */
struct local_job {
    size_t processors;
    double run_time_s, arrived_s;
};

struct sim_site {
    size_t processors;
    size_t local, dummy;     /* busy with local jobs, with dummies */
    size_t held;             /* claimed by the scheduler */
    struct local_job *queue; /* queue_count of them from queue_head on */
    size_t queue_head, queue_count, queue_capacity;
    struct rng rng;
    double gap_s; /* mean, between local jobs; infinite: none */
    double failure_ratio;
    struct co_site_errors errors;
    double exceeded_since_s; /* above the range without dummies; NAN: it is not */
};

enum job_state {
    JOB_AHEAD,   /* has not arrived */
    JOB_QUEUED,  /* in its placement queue */
    JOB_PLACED,  /* in the claiming queue, perhaps with some components started */
    JOB_CLAIMED, /* all started, it is not JST yet */
    JOB_RUNNING,
    JOB_DONE, /* or failed */
};

struct sim_job {
    const struct co_sim_job *source;
    struct co_job job;
    enum co_level base_level;
    bool never_fits; /* not even on an empty grid */
    enum job_state state;
    size_t epoch;
    size_t placement_tries, claim_tries, overtaken;
    double submit_s, queue_entry_s, jpt_s, jst_s, l;
    double start_s, finish_s;
    char *barred; /* for job.barred; NULL as long as there is none */
    /* The present placement. */
    const struct co_component *components;
    struct co_choice *choices;
    bool *started;
    struct co_run_component *record; /* components of the last of records */
    size_t component_count;
    struct co_run_placement *records;
    size_t record_count, record_capacity;
    size_t active_at; /* position in sim.active; CO_NONE: it holds nothing */
};

struct job_list {
    size_t *items;
    size_t count;
};

struct sim {
    const struct co_sim_in *in;
    const struct co_sim_settings *set;
    struct arena *a;
    struct error *err;
    struct co_grid grid;
    struct co_history history;
    struct sim_site *sites; /* by the grid's index */
    size_t *outstanding;    /* of each site */
    size_t *number;         /* scratch, of each site */
    struct sim_job *jobs;
    struct job_list queues[CO_LEVEL_COUNT];
    struct job_list active; /* jobs that hold processors */
    struct co_queued *queued;
    size_t *scanned;
    size_t cursor; /* of the cycle of scans */
    struct event_heap events;
    struct rng errors;
    double now_s, started_s, last_arrival_s;
    size_t next_job, done_count;
    size_t arriving;     /* for the backlog, this very moment */
    double scan_due_s;   /* event_driven: a scan is on its way for then */
    double background_s; /* processor-seconds so far */
    struct precise_sum
        busy_s; /* likewise, all, after the warm-up, while jobs were to come */
    struct precise_sum busy_window_s; /* and how long that was */
    double held_s;                    /* processor-seconds that were claimed */
    double local_response_s;
    size_t local_count;
    struct co_sim_out out; /* counts */
};

/* ---- simulation.c ---- */

void sim_event(struct sim *s, double at_s, enum event_kind kind, size_t index,
               size_t size, size_t epoch);

/* ---- simulation_sites.c; `at`: index of a site ---- */

static inline size_t sim_idle(const struct sim_site *site)
{
    size_t busy = site->local + site->dummy + site->held;

    return busy < site->processors ? site->processors - busy : 0;
}

void sim_sites_begin(struct sim *s);
void sim_local_arrival(struct sim *s, size_t at);
void sim_local_end(struct sim *s, size_t at, size_t processors);

/* Local jobs take what is idle, first come first served. */
void sim_local_start(struct sim *s, size_t at);

/* The controller of the load; every monitor_interval_s. */
void sim_monitor(struct sim *s);

/* ---- simulation_jobs.c ---- */

void sim_jobs_begin(struct sim *s);
enum error_code sim_arrival(struct sim *s, size_t job);
enum error_code sim_scan(struct sim *s);
enum error_code sim_claim(struct sim *s, size_t job);
void sim_launch(struct sim *s, size_t job);
void sim_end(struct sim *s, size_t job);

#endif
