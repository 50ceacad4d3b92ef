/* simulation/parts.h - the state of a run, and what its parts offer each other.
 *
 * A job has replicas; a replica is on a host, or was there when that failed and is
 * still believed to run: a ghost. All of them live in pools and are used again. Nobody
 * but sim_run() returns an error: whoever finds one notes it in sim.failed, and the
 * main loop ends.
 */
#ifndef GRIDPLAN_SIMULATION_PARTS_H
#define GRIDPLAN_SIMULATION_PARTS_H

#include "algorithms/simulation/kernel.h"
#include "algorithms/simulation/network.h"
#include "algorithms/simulation/simulation.h"
#include "algorithms/simulation/vm.h"
#include "algorithms/simulation/workload.h"
#include "models/reliability.h"

struct host;
struct replica;
struct grid_job;

/* ---- transfers (network.c) ---- */

enum transfer_kind {
    TRANSFER_INPUT,     /* storage to resource */
    TRANSFER_RESTART,   /* checkpoint server to resource */
    TRANSFER_OUTPUT,    /* resource to storage */
    TRANSFER_IMAGE,     /* resource to checkpoint server */
    TRANSFER_MIGRATION, /* resource to resource */
};

/* Capacity that flows share. */
struct net_link {
    double mbps;
    struct transfer **flows;
    size_t flow_count, flow_size;
    uint64_t mark; /* of the search for what shares links */
    size_t mark_index;
};

/* The links of a way, and what it is as a whole. */
struct net_route {
    double latency_s;
    double cap_mbps; /* infinite: none */
    size_t link_count;
    struct net_link *link[FLOW_LINKS];
};

struct transfer {
    enum transfer_kind kind;
    uint32_t version; /* of its events; goes on when it is used again */
    struct replica *replica;
    struct transfer *next; /* of the same replica, or free */
    double progress_mi;    /* of an image */
    /* A flow, in a shared network. */
    double left_mbit, rate_mbps;
    int64_t updated_ms;
    double weight;
    uint64_t mark; /* of the search for what it shares links with */
    struct net_route route;
    size_t position[FLOW_LINKS]; /* in the flows of each link */
};

/* ---- replicas and jobs (life.c) ---- */

enum stage {
    STAGE_PREPARE, /* dispatch delay; of a migration, its checkpoint */
    STAGE_INPUT,
    STAGE_RESTART,
    STAGE_ROLLBACK,
    STAGE_RUN,
    STAGE_CHECKPOINT, /* stands still */
    STAGE_OUTPUT,
    STAGE_GHOST, /* lost, and still believed in */
    STAGE_FREE,  /* in the pool */
};

struct replica {
    struct grid_job *job;
    struct host *host;
    struct replica *next, *previous; /* on the host: there, or its ghosts */
    enum stage stage;
    uint32_t version;         /* of its events; goes on when it is used again */
    uint32_t request_version; /* of its checkpoint requests */
    uint32_t boot;            /* of the host when it was assigned */
    bool from_image;
    bool migrated;         /* its progress came along */
    bool checkpoints;      /* takes checkpoints, as soon as it runs */
    bool ends_checkpoints; /* of its job's other replicas, when it runs */
    bool is_haunting;      /* lost, and in its host's ghosts */
    bool is_noticed;       /* lost, and the scheduler hears of it at its next round */
    struct host *source;   /* of a migration on its way */
    size_t index;          /* in the job's replicas */
    size_t position;       /* in host->running */
    double mips;           /* work for a second of host->v */
    double progress_mi;    /* when it last began to work */
    double begin_v, finish_v;
    int64_t assigned_ms, work_done_ms;
    struct storage *storage; /* where its output goes */
    struct transfer *transfers;
    /* Of its checkpoint policy. */
    double interval_s, next_request_s;
    uint64_t omissions;
};

enum { REPLICAS_FEW = 3 };

struct grid_job {
    uint64_t number;
    double length_mi;
    double input_bytes, output_bytes, checkpoint_bytes, checkpoint_overhead_s;
    double mips_required, session_s;
    size_t user, given;
    int64_t arrival_ms, first_start_ms;
    bool is_counted; /* it arrived after the warm-up */
    bool is_listed;  /* policies see it */
    bool is_touched; /* its entry in the list is not up to date */
    bool is_pinned;
    bool is_session;
    bool checkpoints; /* of its active replica, as policies see it */
    bool has_image;
    double image_mi;
    double made_mi; /* work done by replicas that are gone */
    size_t started_count, failed_count, checkpoint_count;
    size_t alive_count;   /* replicas that exist in truth */
    size_t noticed_count; /* ghosts of which the scheduler hears at its next round */
    /* Replicas the scheduler believes in, and how it sees them. */
    struct replica **replicas;
    struct round_replica *views;
    size_t replica_count, replica_size;
    struct grid_job *next, *previous; /* all unfinished jobs; next also: free, queued */
    struct grid_job *next_queued;     /* on its host, when pinned */
    /* What comes next is not cleared when it is used again. */
    struct replica *few_replicas[REPLICAS_FEW];
    struct round_replica few_views[REPLICAS_FEW];
};

/* ---- hosts (host.c) ---- */

struct host_stats {
    double non_idle_s, fully_loaded_s, job_s, processed_mi, down_s;
    uint64_t failures, jobs_done, copies_started;
    double possible_mi;                /* while up */
    double received_bytes, sent_bytes; /* over its link */
};

struct host {
    /* What most events touch comes first. */
    bool is_fraction;
    bool is_there; /* has registered */
    bool is_up;
    uint32_t version;              /* of the event at posted_ms */
    int64_t planned_ms, posted_ms; /* end of `first`; the event for it, maybe earlier */
    struct replica *first;         /* of least finish_v; NULL: not known */
    /* All that work equally make the same progress: v is that of one since some
     * time, and a replica is done when v reaches its finish_v. */
    double v, rate; /* MI; MI/s. fraction: s; 1 */
    int64_t v_ms;   /* when v was so */
    double mips_total, mips_external;
    size_t n_max;
    struct replica **running; /* sharing the speed, those that stand still included */
    size_t running_count, running_size;
    size_t working_count;               /* of them, making progress */
    double working_mips;                /* fraction: their speeds */
    size_t reserved_count;              /* slots of those not running yet */
    double demand_mips;                 /* fraction: of all of them */
    struct replica *there;              /* whatever they do */
    struct grid_job *queue, *queue_end; /* pinned jobs that wait */
    struct host_stats stats;
    uint32_t boot; /* failures so far */
    bool is_open;  /* counted in sim.open_count */
    size_t index;  /* by id */

    const char *id;
    const char *name; /* the id, as long as the rows live */
    size_t number;    /* in its group */
    size_t site;      /* by name */
    const struct sim_group *group;
    const struct sim_trace *trace;

    struct rng failure, restore, load, burst;
    size_t failure_at, restore_at, load_at; /* positions, should they be lists */
    double load_step_mips;
    uint32_t failure_version;
    double slowed; /* times up are so much longer than its law says, for bursts */
    bool by_burst; /* the failure that is posted */
    const struct failure_interval *outages; /* of a trace: merged, ascending */
    size_t outage_count, outage_next, load_next;
    int64_t down_ms, up_ms; /* last failure, last restore */
    int64_t since_ms;       /* figures count from here */
    int64_t down_since_ms;  /* likewise, of the present outage */

    /* As the information service and the scheduler have it. */
    uint32_t seen_boot;
    struct reliability reliability;
    struct hazard *hazard; /* NULL: nobody asks */
    struct replica *ghosts;
    struct host *next_haunted; /* hosts with ghosts */
    bool is_haunted;

    size_t node;          /* of the network */
    struct net_link link; /* to its site's switch */
};

/* ---- rounds (scheduler.c) ---- */

struct planned_action {
    enum round_action_kind kind;
    struct grid_job *job;
    uint64_t number;         /* of the job, should it be gone by then */
    struct replica *replica; /* NULL: one that this round starts */
    struct host *host;
    bool from_checkpoint, when_running;
};

struct listed_job {
    struct grid_job *job;
    uint64_t number;
};

struct storage {
    const char *id;
    size_t node;
    double capacity_bytes; /* HUGE_VAL: no limit */
    double used_bytes, used_byte_s;
    int64_t since_ms; /* used_byte_s is up to here */
    uint64_t refused;
};

/* What went over a path; a table of them by its two nodes. */
struct path {
    size_t from, to;
    uint64_t jobs, transfers; /* both 0: a free place */
    double bytes;
};

struct pools {
    struct grid_job *jobs;
    struct replica *replicas;
    struct transfer *transfers;
};

struct totals {
    uint64_t submitted, assigned, done, rejected, lost, ended_total;
    uint64_t copies_started, copies_done, copies_failed, copies_cancelled, refused;
    uint64_t migrations, taken, omitted, failures, detected;
    uint64_t rounds, skipped, storage_refused, failed_jobs;
    uint64_t light, light_accepted, heavy, heavy_accepted; /* sessions */
    double turnaround_s, wait_s, run_s, execution_s, length_mi, failed_length_mi;
    double checkpoints, submitted_mi, demand, demand_count;
    double input_bytes, output_bytes, checkpoint_bytes, restart_bytes;
    int64_t first_arrival_ms, last_done_ms;
};

struct sim {
    const struct sim_scenario *scenario;
    const struct sim_policy *policy;
    const struct sim_output *wanted;
    uint64_t seed;
    struct arena *arena;   /* of the run */
    struct arena *scratch; /* of one round */
    struct arena *rows;    /* of the caller */
    struct error *err;
    struct budget *budget; /* NULL: none */
    enum error_code failed;
    bool stopped;
    bool is_cut; /* a round has spent the budget */

    struct kernel kernel;
    struct host *hosts;
    size_t host_count;
    double *wan_latency_s; /* by pair of sites by name, the services being the last */
    size_t *site_rank;     /* of each site, and of the services, among them */
    struct net_link *links;
    struct sim_route *routes; /* by their nodes */
    size_t route_count;
    struct path *paths; /* if they are wanted */
    size_t path_count, path_size;
    struct pools pools;
    struct grid_job *unfinished;
    uint64_t alive_jobs;
    bool exhausted;     /* no more arrivals */
    double truncated_s; /* see struct sim_run_out */
    struct workload_source *source;
    struct sim_job arrival; /* the next one */
    uint64_t event_count;
    size_t work; /* since the budget was last asked */
    uint64_t event_hash;
    int64_t stable_ms;

    /* The scheduler. */
    bool is_dirty;   /* something has changed since the last round */
    bool is_planned; /* a plan waits for the middleware */
    unsigned flags;
    size_t replica_limit; /* a job with so many started is never started again */
    bool sees_running;    /* the policy may do something about such a job */
    struct round_resource *resources;
    struct slots_kept *slots; /* of these, from round to round */
    size_t open_count;        /* resources up, as seen, with a free slot */
    struct round_job *list;
    struct grid_job **listed;
    uint8_t *list_started, *list_active, *list_settled; /* as in round_in */
    size_t list_head, list_end, list_size;
    size_t held_count; /* jobs in the list with replicas */
    struct listed_job *touched;
    size_t touched_count, touched_size;
    struct replica **noticed; /* lost ones, of which the scheduler hears */
    uint32_t *noticed_version;
    size_t noticed_count, noticed_size;
    struct host *haunted;
    uint64_t random_state;
    enum round_mode mode;
    struct planned_action *plan;
    size_t plan_count, plan_size;

    struct site_hazard *site_hazards; /* hazard.c */
    double *site_gap_s;

    struct vm_pool vm;
    double vm_mips, vm_session_s; /* means of the workload */
    struct storage *storages;     /* at least one */
    size_t storage_count;
    size_t image_node; /* of the checkpoint server */
    double *user_mi;
    size_t user_count;

    /* Search in the network. */
    uint64_t mark;
    struct transfer **found;
    struct net_link **found_links;
    struct network_flow *found_flows;
    double *found_left, *found_weight;
    size_t found_count, found_size, found_link_count, found_link_size;

    struct totals totals;
    struct sim_job_row *job_rows;
    size_t job_row_count, job_row_size;
    struct sim_log_row *log;
    size_t log_count, log_size;
};

static inline double sim_now_s(const struct sim *s)
{
    return 1e-3 * (double)s->kernel.now_ms;
}

/* What looks at so many things is as much work as some events. */
static inline void sim_count_work(struct sim *s, size_t things)
{
    enum { THINGS_OF_AN_EVENT = 16 };

    s->work += things / THINGS_OF_AN_EVENT;
}

/* ---- output.c ---- */

void sim_write_log(struct sim *s, enum sim_log_kind kind, const struct grid_job *job,
                   const struct host *host, double value);

static inline void sim_log(struct sim *s, enum sim_log_kind kind,
                           const struct grid_job *job, const struct host *host,
                           double value)
{
    if (s->log_count < s->wanted->log_rows_max)
        sim_write_log(s, kind, job, host, value);
}

void sim_note_job(struct sim *s, const struct grid_job *job, enum sim_job_state state,
                  const struct host *host);
enum error_code sim_close(struct sim *s, struct sim_run_out *out);
void sim_stable(struct sim *s);

/* What is stored there changes by so many bytes. */
void storage_count(const struct sim *s, struct storage *storage, double bytes);

/* ---- host.c ---- */

void hosts_create(struct sim *s);

/* Brings v and the figures up to now. */
void host_advance(struct sim *s, struct host *h);

/* After a change: the rate, and when the next replica is done. */
void host_replan(struct sim *s, struct host *h);

/* The replica begins to run, from progress_mi. */
void host_run(struct sim *s, struct replica *r);

/* It runs no more; its progress_mi is up to date. */
void host_stop(struct sim *s, struct replica *r);

/* It stands still, or works again. */
void host_pause(struct sim *s, struct replica *r);
void host_resume(struct sim *s, struct replica *r);

/* Counts what the replica has gained so far. */
void host_settle(struct host *h, struct replica *r);

double replica_progress_mi(const struct sim *s, const struct replica *r);

/* MI/s of one that runs now. */
double host_speed(const struct host *h, const struct replica *r);

/* A slot, and in fraction sharing the speed, for one job more. */
bool host_has_room(const struct host *h, const struct grid_job *job);

/* EVENT_WORK. */
void host_on_work(struct sim *s, struct host *h);

/* EVENT_LOAD. */
void host_on_load(struct sim *s, struct host *h);
void host_start_load(struct sim *s, struct host *h);

/* Counts the slots that the scheduler sees; call when n, up or mips has changed. */
void host_show(struct sim *s, struct host *h);

/* ---- failures.c ---- */

void failures_create(struct sim *s, struct host *h);

/* How much longer times up must be for bursts to keep the stated mean; 1 without. */
double failures_slowed(const struct sim *s, const struct host *h);
/* Registers the host at the present instant. */
void failures_start(struct sim *s, struct host *h);
void host_on_fail(struct sim *s, struct host *h);
void host_on_restore(struct sim *s, struct host *h);

/* ---- information.c ---- */

void information_start(struct sim *s);
void information_poll(struct sim *s);
/* The truth of a host has changed. */
void information_note(struct sim *s, struct host *h);
/* The scheduler has found it down. */
void information_mark_down(struct sim *s, struct host *h);
/* Into the view at once. */
void information_register(struct sim *s, struct host *h);
void information_see_progress(struct sim *s);
/* The same of the listed jobs with several replicas; entries must be up to date. */
void information_compare_progress(struct sim *s);

/* ---- hazard.c ---- */

void hazards_create(struct sim *s);

/* Seconds from a failure that was seen to the next one. */
void hazard_note(struct host *h, double gap_s);

/* Shape and scale, as far as they are known. */
void hazard_fill(struct sim *s, struct host *h, struct checkpoint_in *in);

/* ---- network.c ---- */

/* Begins a transfer; false: there is nothing to move, it is done. */
bool transfer_begin(struct sim *s, enum transfer_kind kind, struct replica *r,
                    double bytes, struct host *from, double progress_mi);

/* All of a replica, and those of a host with others. */
void transfers_abort(struct sim *s, struct replica *r);

/* EVENT_FLOW: the last bit has left. */
void transfer_on_drained(struct sim *s, struct transfer *t);

/* Takes a transfer that is done off its replica. */
void transfer_release(struct sim *s, struct transfer *t);

/* What it would take alone, seconds, from or to the nearest storage. */
double network_estimate_s(const struct sim *s, const struct host *h, double bytes);

/* ---- routes.c ---- */

/* Links, routes and storages. The hosts must be there. */
enum error_code routes_create(struct sim *s);

/* A place in the network; host NULL: not a resource. */
struct place {
    struct host *host;
    size_t node;
};

struct net_route route_between(const struct sim *s, struct place from, struct place to);

/* Seconds for so many bytes on an empty network. */
double route_time_s(const struct sim *s, const struct net_route *route, double bytes);

/* The nearest of the storages, or of those with room for so many bytes more; NULL: none
 * has. */
struct storage *storage_nearest(const struct sim *s, const struct host *h, double bytes,
                                bool needs_room);

/* Counts what goes over a path: bytes of a transfer, or a job. */
void path_count_transfer(struct sim *s, size_t from, size_t to, double bytes);
void path_count_job(struct sim *s, size_t from, size_t to);

/* Rows of the output. */
void paths_list(struct sim *s, struct sim_run_out *out);
void storages_list(struct sim *s, struct sim_run_out *out);

/* ---- life.c ---- */

void job_submit(struct sim *s, const struct sim_job *given);

/* A new replica on the host, which has room. */
struct replica *job_assign(struct sim *s, struct grid_job *job, struct host *h,
                           bool from_image);

/* The next stage, the present one being over. */
void replica_proceed(struct sim *s, struct replica *r);
void replica_work_done(struct sim *s, struct replica *r);
void replica_on_transfer(struct sim *s, struct transfer *t);
void replica_cancel(struct sim *s, struct replica *r);
void replica_send_image(struct sim *s, struct replica *r);
void replica_migrate(struct sim *s, struct replica *r, struct host *h);

/* Its host has failed. */
void replica_lose(struct sim *s, struct replica *r);

/* The job has no replica any more, and nobody will start one. */
void job_lose(struct sim *s, struct grid_job *job);

/* The scheduler believes in it no more. */
void replica_forget(struct sim *s, struct replica *r);

/* Pinned jobs that can start now do. */
void host_serve_queue(struct sim *s, struct host *h);

/* ---- checkpoints.c ---- */

void checkpoints_begin(struct sim *s, struct replica *r);
void checkpoints_turn(struct sim *s, struct replica *r, bool on);
void checkpoint_on_request(struct sim *s, struct replica *r);
void checkpoint_on_done(struct sim *s, struct replica *r);

/* ---- scheduler.c ---- */

void scheduler_create(struct sim *s);
void scheduler_list(struct sim *s, struct grid_job *job);
void scheduler_unlist(struct sim *s, struct grid_job *job);
void scheduler_touch(struct sim *s, struct grid_job *job);
void scheduler_notice(struct sim *s, struct replica *r);
void scheduler_haunt(struct sim *s, struct host *h);
void scheduler_round(struct sim *s);
void scheduler_apply(struct sim *s);

#endif
