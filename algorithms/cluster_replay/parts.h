/* cluster_replay/parts.h - the state of a run, and what its parts offer each other; only
 * for the files of this folder. */
#ifndef GRIDPLAN_CLUSTER_REPLAY_PARTS_H
#define GRIDPLAN_CLUSTER_REPLAY_PARTS_H

#include "algorithms/cluster_replay/bits.h"
#include "algorithms/cluster_replay/line.h"
#include "algorithms/cluster_replay/replay.h"
#include "algorithms/simulation/kernel.h"
#include "models/base/rng.h"

/* Sums of cpu-ms over many nodes and years. */
__extension__ typedef __int128 wide;

/* Nodes that are alike and in the same sets. */
struct klass {
    const struct replay_nodes *of;
    const int64_t *amounts;
    int64_t cpus;
    uint32_t *nodes; /* their numbers, ascending; a node is `local` here */
    size_t count, down_count;
    struct bits idle;    /* up and without any job */
    struct bits *levels; /* shared nodes: up, by free cpus; [level_count] */
    size_t level_count;
    uint32_t *at_least; /* nodes of that level or a higher one; [level_count + 1] */
    int64_t level_cpus; /* a level stands for so many cpus */
    int64_t free_cpus;  /* of nodes that are up */
    int64_t since_ms;   /* sums are up to then */
    wide sums[REPLAY_TIME_COUNT]; /* cpu-ms */
    double mean_s; /* of its failures' law, as slow as its group makes it; NAN: none */
    int64_t repair_ms; /* expected; REPLAY_NEVER: none is */
};

struct node {
    uint32_t klass, local;
    uint32_t down_depth; /* laws and outages that hold it down; 0: up */
    uint32_t version;    /* of its events */
    uint32_t group;
    uint32_t run_count, run_room;
    struct run **runs;
    uint32_t job_count; /* of the runs, without those that clean up */
    int64_t held_ms;    /* since when there is one */
    bool by_burst;
    struct rng failure, restore, burst, class;
    size_t failure_at, restore_at;
    uint64_t failures;
    int64_t down_since_ms, down_sum_ms, up_since_ms, failed_ms; /* -1: never failed */
};

/* What an attempt has come to. */
struct progress {
    bool ended;
    int64_t at_ms;    /* when it ended, or until when this is */
    int64_t image_ms; /* of work, saved */
    bool has_image;
    bool has_restarted;           /* nothing is left to read */
    int64_t level_ms[LEVELS_MAX]; /* of images that survive a class; -1: there is none */
    int64_t pause_ms, restart_ms, saved_ms, unsaved_ms, checkpoint_ms; /* wall time */
    uint32_t checkpoints;
};

enum course_phase { COURSE_PAUSE, COURSE_READ, COURSE_WORK, COURSE_SAVE };

/* An attempt whose course is not known beforehand: images share a file system. */
struct course {
    struct progress done;      /* before the present phase, which began at done.at_ms */
    int64_t work_ms, piece_ms; /* done; of the phase */
    double next_s, interval_s; /* work to the next request; what the policy remembers */
    uint64_t omissions;
    uint8_t phase;
    bool is_transfer;          /* of the phase */
    bool has_place;            /* the next image is due at the end of the piece */
    double period_s, offset_s; /* NAN: has none */
};

/* Jobs that run, and nodes that are cleaned up behind them. */
struct run {
    uint32_t job, version;
    uint32_t node_count, spare_count; /* the last ones are spares */
    uint32_t room;                    /* of nodes, a power of 2 */
    uint32_t *nodes;
    uint32_t klass; /* of all; REPLAY_NONE: of several */
    uint32_t set;
    bool exclusive, cleans;
    int64_t start_ms;    /* of the attempt */
    int64_t charged_ms;  /* what it used until then counts in priorities */
    int64_t begin_ms;    /* of what goes on since a spare took over, or the start */
    int64_t expected_ms; /* end that the queue expects */
    int64_t limit_at_ms; /* killed then; REPLAY_NEVER: never */
    int64_t pause_ms, restart_ms; /* at begin_ms: to take over, then to read an image */
    double speed, mean_s, uptime_s, age_s;
    const struct levels_pattern *pattern; /* that it goes by; NULL: none */
    struct course course;
    uint64_t sequence;
    struct run *next_free;
};

enum life_stage {
    LIFE_AHEAD, /* not arrived */
    LIFE_HELD,  /* arrived, but not eligible */
    LIFE_WAITS,
    LIFE_RUNS,
    LIFE_OVER
};

struct life {
    int64_t image_ms;   /* work saved */
    int64_t arrival_ms; /* by which it queues */
    int64_t estimate_ms;
    double key, backfill_key;
    double rank; /* of slurm: its priority, when that is reckoned */
    struct run *run;
    int64_t *level_ms; /* with levels: images, as struct progress has them; NULL: none */
    size_t read_level; /* the next restart reads one that survived this class */
    uint32_t saved;    /* list of what was useful so far */
    uint32_t version;  /* of its events */
    uint8_t stage;
    bool has_image, in_front, has_started;
};

/* Useful work of a job that may still be lost. */
struct saved {
    wide cpu_ms;
    int64_t from_ms, to_ms; /* of its work */
    uint32_t klass, next;
};

/* An image on its way: it is there when so much of the file system was shared out to
 * each.
 */
struct flow {
    double ends;
    struct run *run;
    uint32_t version;
};

struct flows {
    double shared; /* ms alone that each has had since there was none */
    int64_t at_ms; /* when that was so */
    struct flow *list;
    size_t count, room, active; /* count: void ones too */
    uint32_t version;
    bool is_stale; /* others run than when places were made */
    struct arena *scratch;
};

struct running_entry {
    int64_t end_ms;
    struct run *run;
};

/* The first of the queue, and what it leaves to others. */
struct shadow {
    uint32_t job; /* REPLAY_NONE: nobody waits, or nothing is known */
    uint32_t set;
    int64_t at_ms;  /* when it starts; REPLAY_NEVER: never */
    int64_t spare;  /* nodes on which it could start then, and does not need */
    bool by_repair; /* nodes that are down count in it */
    uint64_t stamp;
};

struct engine {
    const struct replay_in *in;
    const struct replay_watch *watch;
    const struct replay_rules *rules;
    const struct queue_discipline *discipline;
    struct replay_out *out;
    struct kernel kernel;
    size_t node_count, amount_count;
    bool whole; /* all jobs take nodes as a whole */
    struct node *nodes;
    wide *held_ms, *held_cpu_ms; /* by group of nodes */
    int64_t *free;               /* shared nodes: [node][amount] */
    struct klass *classes;
    size_t class_count;
    uint32_t **set_classes; /* [set_count + 1]: classes by choice; the last one: all */
    size_t *set_class_count;
    const struct replay_reservation **class_reservations; /* [class]: lists */
    size_t *class_reservation_count;
    struct cursor *cursors; /* of a pick */
    uint32_t *candidates;   /* likewise */
    int64_t *shared_free;
    struct life *lives;
    uint32_t *over; /* jobs whose dependents are still to be told */
    size_t over_count, over_room;
    bool telling;
    uint32_t *dependents,
        *dependents_at;         /* who waits for a job: [at[job], at[job + 1]) */
    struct line line, backfill; /* backfill: where its order is another */
    bool has_backfill_line;
    struct running_entry *running;
    size_t running_count, running_room;
    struct run *free_runs;
    void *free_lists[32]; /* of numbers of nodes */
    struct saved *saved;
    size_t saved_count, saved_room;
    uint32_t free_saved;
    size_t arrived;  /* jobs */
    size_t through;  /* jobs that are over */
    int64_t last_ms; /* when something happened */
    uint64_t sequence;
    double front_key;
    struct replay_change now;
    bool changed;
    /* What a round is about. */
    bool freed;         /* something since the last full one */
    bool queue_changed; /* jobs came */
    uint32_t *fresh;    /* those */
    size_t fresh_count, fresh_room;
    struct shadow shadow;
    int64_t *class_fitting; /* [class]: of a walk ahead */
    int64_t *shadow_free;   /* shared nodes: [node][amount] at the shadow's time */
    uint64_t *shadow_stamp; /* [node]: that it is */
    int64_t *shadow_shared; /* what the first leaves of shared amounts */
    bool *shadow_classes;   /* [class]: where the first may start then */
    uint32_t *picked;       /* nodes for a job */
    size_t picked_count, picked_harm; /* harm: of those that the first needs */
    struct timeline *timeline;        /* conservative */
    struct slurm *slurm;              /* slurm_backfill */
    bool irregular; /* nodes came or went, or a job came back: plans are made anew */
    size_t next_outage, outage_count;
    struct replay_outage *outages;
    struct arena *a, *keep; /* of the run; of outcomes */
    struct budget *budget;
    uint64_t looked_at;
    struct known_pattern *patterns; /* levels.c */
    struct flows flows;
    double failed_at; /* 0..1: the class of the failure in hand */
    bool cut;
    struct error *err;
    enum error_code failed;
};

static inline int64_t later(int64_t at_ms, int64_t by_ms)
{
    return by_ms >= REPLAY_NEVER - at_ms ? REPLAY_NEVER : at_ms + by_ms;
}

/* ---- nodes.c ---- */

void nodes_create(struct engine *e);
/* cpus that a job has of a node of the class. */
int64_t nodes_cpus(const struct engine *e, uint32_t job, const struct klass *k);
bool nodes_could_ever(const struct engine *e, uint32_t job);
/* Whether nodes of a class may take the job from..until, if they are free. */
bool nodes_eligible(const struct engine *e, uint32_t job, size_t class, int64_t from_ms,
                    int64_t until_ms);
bool nodes_need_fits(const struct engine *e, const int64_t *need, const int64_t *free);
bool nodes_shared_fit(const struct engine *e, uint32_t job, const int64_t *free);
/* The classes of a job's i-th set. */
uint32_t nodes_set(const struct engine *e, uint32_t job, size_t i);
size_t nodes_set_count(const struct engine *e, uint32_t job);
/* Whether a node of the class with so much free at the shadow's time has room. */
bool nodes_room(const struct engine *e, uint32_t job, const struct klass *k,
                const int64_t *free);
/* Whether it may be on a node beside who is there: not with one that has the node as a
 * whole, even if it needs nothing of it, nor the other way round. */
bool nodes_shares(const struct engine *e, uint32_t job, uint32_t node);
/* What a node has free at the shadow's time. */
int64_t *nodes_later(struct engine *e, uint32_t node);
/* How many nodes of the class could take the job now; at least `enough`, or all. */
size_t nodes_fitting(struct engine *e, uint32_t job, size_t class, size_t enough);
/* Nodes for it now: in e->picked. With `beside` none that the shadow's job needs. */
bool nodes_pick(struct engine *e, uint32_t job, uint32_t *set, bool beside);
void nodes_take(struct engine *e, struct run *r);
/* Those that are down stay so. */
void nodes_give(struct engine *e, struct run *r);
void nodes_give_one(struct engine *e, struct run *r, uint32_t node);
/* It holds them up to now; they stay its own. */
void nodes_count_held(struct engine *e, const struct run *r);
void nodes_down(struct engine *e, uint32_t node);
void nodes_up(struct engine *e, uint32_t node);
void nodes_sum(struct engine *e, struct klass *k);
uint32_t *nodes_list(struct engine *e, size_t count, uint32_t *room);
void nodes_list_give(struct engine *e, uint32_t *list, uint32_t room);

/* ---- queue.c ---- */

void queue_create(struct engine *e);
struct line_entry queue_entry(const struct engine *e, uint32_t job, bool backfill);
void queue_add(struct engine *e, uint32_t job);
void queue_take(struct engine *e, uint32_t job);
void running_add(struct engine *e, struct run *r);
void running_remove(struct engine *e, struct run *r);

/* When the queue takes it to end: not yet, if it is overdue. */
int64_t running_end_ms(const struct engine *e, const struct running_entry *x);

/* ---- life.c ---- */

void life_create(struct engine *e);
void life_arrive(struct engine *e);
void life_eligible(struct engine *e, struct life *life, uint32_t version);
void life_start(struct engine *e, uint32_t job, uint32_t set); /* on e->picked */
void life_end(struct engine *e, struct run *r);
/* In life_start's words: its time limit, if it is still that attempt. */
bool life_limit_holds(const struct engine *e, const struct run *r, uint32_t version);
void life_limit(struct engine *e, struct run *r, uint32_t version);
void life_fail(struct engine *e, struct run *r, uint32_t node);
void life_cancel(struct engine *e, uint32_t job);
/* Its nodes are free at once. */
void life_preempt(struct engine *e, struct run *r);
void life_over(struct engine *e, uint32_t job, enum replay_state state);
/* What runs when the run ends counts up to there. */
void life_close(struct engine *e);
/* How long it takes at speed 1 by what the queue believes, from now. */
int64_t life_estimate_ms(const struct engine *e, uint32_t job);

/* ---- attempt.c ---- */

/* From r->begin_ms until until_ms, or to its end. */
void attempt_walk(struct engine *e, const struct run *r, int64_t until_ms,
                  struct progress *out);

/* With a shared file system: it begins, and a phase is over; true: it has ended. */
void attempt_begin(struct engine *e, struct run *r);
bool attempt_step(struct engine *e, struct run *r);

/* ---- flows.c ---- */

void flows_create(struct engine *e);
void flows_close(struct engine *e);
void flows_add(struct engine *e, struct run *r, int64_t alone_ms);
/* It is cut short, if it is on its way. */
void flows_drop(struct engine *e, struct run *r);
void flows_tick(struct engine *e, uint32_t version);
/* Wall time to the place of its next image; NAN: it has none. */
double flows_place_s(struct engine *e, struct run *r);

/* ---- levels.c ---- */

/* The pattern for failures that are mean_s apart; NULL: there are no levels, or nothing
 * is known. */
const struct levels_pattern *levels_known(struct engine *e, double mean_s,
                                          int64_t delay_ms);
/* The level of the checkpoint after done_ms of work, of those that the rules name. */
size_t levels_due(const struct levels_pattern *p, int64_t done_ms, int64_t segment_ms);
/* What is left of a job's images after the failure in hand, which cut its attempt. */
void levels_lose(struct engine *e, struct life *life, const struct run *r,
                 const struct progress *p, bool failed);
/* How long a restart reads. */
int64_t levels_restart_ms(const struct engine *e, uint32_t job);

/* ---- failures.c ---- */

void failures_begin(struct engine *e);
void failures_on_fail(struct engine *e, struct node *n);
void failures_on_restore(struct engine *e, struct node *n);
void failures_on_outage(struct engine *e, size_t outage, bool down);

/* ---- rules.c, conservative.c, slurm.c ---- */

void rules_round(struct engine *e);
void conservative_create(struct engine *e);
void conservative_round(struct engine *e);
/* The nodes of a run are free, or a node of it alone. */
void conservative_give(struct engine *e, const struct run *r);

/* Also when nothing waits: the next pass of backfill is posted. */
void slurm_create(struct engine *e);
void slurm_close(struct engine *e);
void slurm_tick(struct engine *e);
void slurm_round(struct engine *e);
/* An attempt has ended: what it used is its accounts'. */
void slurm_charge(struct engine *e, struct run *r);

#endif
