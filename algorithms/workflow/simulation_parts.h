/* workflow/simulation_parts.h - what the files of the simulator of workflows share.
 *
 * simulation.c plays the events, simulation_hosts.c has resources and their shares,
 * simulation_tasks.c the life of a task, simulation_transfers.c the network,
 * simulation_reports.c what tasks say of their progress, simulation_rounds.c the
 * scheduler. Who finds an error notes it in wsim.failed.
 */
#ifndef GRIDPLAN_WORKFLOW_SIMULATION_PARTS_H
#define GRIDPLAN_WORKFLOW_SIMULATION_PARTS_H

#include "algorithms/simulation/kernel.h"
#include "algorithms/simulation/network.h"
#include "algorithms/workflow/simulation.h"

struct wsim_task;

enum wsim_stage {
    WSIM_WAITING,    /* for parents, or not arrived */
    WSIM_READY,      /* in the queue */
    WSIM_STAGE_IN,   /* has a slot, as in the next four */
    WSIM_CHECKPOINT, /* without a host: on its way to the queue */
    WSIM_MOVE,       /* input and checkpoint are on their way */
    WSIM_RESTART,
    WSIM_RUNNING,
    WSIM_STAGE_OUT,
    WSIM_DONE
};

/* The link of a resource to its site's switch. */
struct wsim_link {
    struct wsim_task **flows;
    size_t flow_count, flow_size;
    uint64_t mark; /* of the search for what shares links */
    size_t mark_index;
};

struct wsim_host {
    const struct workflow_sim_resource *given;
    size_t index;
    double mips_external;
    /* All that run make the same progress: v is that of one since the start. */
    double v, rate;
    int64_t v_ms;
    struct wsim_task **running; /* [n_max] */
    size_t running_count;
    size_t slot_count; /* taken */
    uint32_t version;  /* of its WORK event */
    struct rng load;
    double seen_speed; /* V, as the information service has it */
    double processed_ref_s, possible_ref_s, slot_s;
    struct wsim_link link;
};

struct wsim_flow {
    double left_mbit, rate_mbps, weight, cap_mbps, latency_s;
    int64_t updated_ms;
    struct wsim_link *link[2];
    size_t position[2]; /* in the flows of each link */
    size_t link_count;
    uint64_t mark;
};

/* What is known of a task's progress. */
struct wsim_reported {
    struct rng rng;
    double seen_work_ref_s;    /* at the last look */
    double elapsed_s;          /* run time until then */
    double reported_ref_s;     /* work at the last report */
    double estimate_ref_s;     /* of the last report; NAN: none */
    double estimate_sum_ref_s; /* of all */
    double recent_ref_s[8];    /* the last ones, oldest first */
    size_t report_count;
    struct progress_point *points; /* for fits */
    size_t point_count;
    double predicted_ref_s;
    double spread_ref_s;    /* half the width of its interval; 0: none */
    size_t predicted_count; /* reports that it is from; 0: none */
};

struct wsim_task {
    const struct workflow_sim_task *given;
    struct wsim_job *job;
    size_t number; /* in the job */
    enum wsim_stage stage;
    uint32_t version;     /* of its events */
    size_t waiting_count; /* parents whose output is not there */
    struct wsim_host *host;
    struct wsim_host *source; /* of a move */
    size_t image_site;        /* where its checkpoint is; WORKFLOW_SIM_NONE: none */
    size_t position;          /* in host->running */
    double work_ref_s;        /* when it last began to run, or stopped */
    double start_v;
    double elapsed_s;           /* run time until then */
    int64_t began_ms;           /* to run, the last time */
    int64_t until_ms;           /* of a stage that takes a known time */
    int64_t ready_ms, moved_ms; /* moved_ms < 0: never */
    struct wsim_flow flow;
    struct wsim_reported reported;
    struct workflow_sim_task_row row;
    size_t plain; /* its number in this round */
};

struct wsim_job {
    const struct workflow_sim_job *given;
    struct wsim_task *tasks;
    size_t *child_first, *children;  /* as parent_first, parents */
    struct workflow_plain_set *sets; /* tasks by their number in the job */
    size_t set_count;
    bool *free_root;
    size_t done_count;
    struct workflow_sim_job_row row;
};

struct wsim {
    const struct workflow_sim_in *in;
    const struct workflow_sim_settings *set;
    struct arena *a;
    struct error *err;
    enum error_code failed;
    struct kernel kernel;
    struct wsim_host *hosts;
    struct wsim_job *jobs;
    size_t arrived_count;
    size_t *active; /* jobs that are here, by arrival */
    size_t active_count;
    double *site_mbps, *site_latency_s; /* [site_count^2], as the scheduler is told */
    /* Sets that wait, as the last round left them; tasks by pointer. */
    struct wsim_task **carry;
    size_t *carry_first;
    size_t carry_count, carry_size;
    /* Search in the network. */
    uint64_t mark;
    struct wsim_task **found;
    struct wsim_link **found_links;
    struct network_flow *found_flows;
    double *found_left, *found_weight;
    size_t found_count, found_link_count, found_size;
    /* What the policy's options mean here. */
    bool fits, final_sets;
    struct progress_options prediction;
    uint64_t look_count; /* of the information service */
    int64_t looked_ms;
    double wait_s; /* sum */
    struct workflow_sim_out out;
};

static inline double wsim_now_s(const struct wsim *s)
{
    return 1e-3 * (double)s->kernel.now_ms;
}

/* ---- simulation_hosts.c ---- */

void wsim_hosts_begin(struct wsim *s);
/* Brings v and the figures up to now. */
void wsim_host_advance(struct wsim *s, struct wsim_host *h);
void wsim_host_run(struct wsim *s, struct wsim_task *t);
/* The task stops; its work is up to date. */
void wsim_host_stop(struct wsim *s, struct wsim_task *t);
void wsim_host_take_slot(struct wsim *s, struct wsim_host *h);
void wsim_host_give_slot(struct wsim *s, struct wsim_host *h);
void wsim_on_work(struct wsim *s, struct wsim_host *h);
void wsim_on_load(struct wsim *s, struct wsim_host *h);
double wsim_host_speed(const struct wsim_host *h);

/* ---- simulation_tasks.c ---- */

enum error_code wsim_jobs_begin(struct wsim *s);
void wsim_on_arrival(struct wsim *s);
void wsim_task_start(struct wsim *s, struct wsim_task *t, struct wsim_host *h);
/* Checkpoint and cancel; wsim_task_send() follows. */
void wsim_task_take_off(struct wsim *s, struct wsim_task *t);
/* h NULL: to the queue. */
void wsim_task_send(struct wsim *s, struct wsim_task *t, struct wsim_host *h);
void wsim_task_work_done(struct wsim *s, struct wsim_task *t);
/* STAGE, CHECKPOINT_DONE, TRANSFER: the present stage is over. */
void wsim_task_proceed(struct wsim *s, struct wsim_task *t);
double wsim_task_work(const struct wsim_task *t);
/* Until it runs; of a task with a slot that does not run. */
double wsim_task_pending_s(const struct wsim *s, const struct wsim_task *t);

/* ---- simulation_transfers.c ---- */

/* Seconds without others; 0 for no bytes. */
double wsim_route_s(const struct wsim *s, size_t from_site, size_t to_site, double bytes);
/* TRANSFER follows. A host NULL: somewhere in the site. */
void wsim_flow_begin(struct wsim *s, struct wsim_task *t, struct wsim_host *from,
                     size_t from_site, struct wsim_host *to, size_t to_site,
                     double bytes);
/* FLOW: the last bit has left. */
void wsim_flow_drained(struct wsim *s, struct wsim_task *t);
double wsim_flow_left_s(const struct wsim *s, const struct wsim_task *t);

/* ---- simulation_reports.c ---- */

/* The information service looks at all resources. */
void wsim_poll(struct wsim *s);
/* As the scheduler has it; NAN: no estimate. */
double wsim_remaining_ref_s(struct wsim *s, struct wsim_task *t);

/* ---- simulation_rounds.c ---- */

void wsim_round(struct wsim *s);

#endif
