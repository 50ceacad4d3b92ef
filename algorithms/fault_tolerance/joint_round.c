/* fault_tolerance/joint_round.c - for each job the hosts, the remedy and the number of
 * copies of least expected time.
 *
 * Jobs in the order of arrival, each on what those before it have left free. On every
 * host with a free slot the job has a run time E, under the load that it makes, and that
 * host's own mean time between failures M; hosts alike in both are one class. Of all
 * remedies (remedy.c), each on the hosts that are best for it (host_sets.c), with a cost
 * of max_cost_ratio * E at most, the one of least expected time is taken, where each copy
 * more must save min_gain_ratio of it: its copies are started and checkpointed, or not.
 * A job that has copies keeps them, as the first ones; copies are added, never
 * cancelled. Without a remedy within the limit a job is not started.
 *
 * Of many classes those are left out that as many hosts as there are copies surpass in
 * both E and M: no best set of copies without checkpoints needs them. With checkpoints,
 * which are cut otherwise on each host, that is all but sure, and counts as not proved.
 *
 * Copies of a job on several nodes go on the sets of node_sets.h.
 *
 * Source: spec reliability.md 2.5, 4.4 and 6.5. Deviation: the spec says nothing of jobs
 * that run.
 * Cost: O(jobs * resources * classes), and for each job that of host_sets.h.
 */
#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/fault_tolerance/copies_play.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/node_sets.h"

#include <math.h>

/* More classes than this are thinned out first. */
enum { CLASSES_MANY = 32 };

/* Two grids of the same copies agree to this. */
#define CHECK_RATIO 2e-3

/* A class of hosts, or of sets of nodes. */
struct kind {
    double work_s, mean_s;
    double left_mi;
    const size_t
        *nodes[REMEDY_COPIES_MAX]; /* of each host; more than copies go nowhere */
    size_t host_count;
};

struct hosts {
    struct kind kinds[COPIES_MAX]; /* active copies first */
    size_t count, active;
    size_t copies_max;
    bool is_thin;         /* surpassed ones are left out */
    double left_out_s[2]; /* as in struct remedy_in */
};

struct pricing {
    struct round_work *w;
    const struct joint_options *options;
    const struct round_job *job;
    size_t node_count;   /* of each copy */
    double left_mi;      /* work of a copy that is started now */
    struct hosts *hosts; /* memory, as the rest */
    struct host_class *plain, *saved;
    struct copies *work;
    size_t *places; /* of each resource itself */
    bool *is_held;  /* by a copy of the job */
};

/* ---- copies ---- */

/* A copy of so much work on nodes that fail like that. */
static struct finite_job job_of(const struct pricing *p, double work_s, double mean_s)
{
    const struct round_job *j = p->job;

    return (struct finite_job){
        .work_s = work_s,
        .mean_s = mean_s,
        .overhead_s = j->checkpoint_overhead_s,
        .restart_s = j->restart_s,
        .scratch_s = j->has_checkpoint ? j->restart_s : j->restart_from_scratch_s,
        .delay_s = work_delay_s(j, mean_s),
        .least_s = fmax(1, j->checkpoint_overhead_s * 1.0001),
    };
}

/* E of `left_mi` on a node whose speed is shared by `sharing` jobs. */
static double work_on(const struct pricing *p, size_t resource, double left_mi,
                      size_t sharing)
{
    double mips = round_show(p->w->in, resource)->mips;

    if (!(left_mi > 0))
        return 0;
    return mips > 0 ? left_mi * (double)sharing / mips : HUGE_VAL;
}

static double mean_on(const struct pricing *p, size_t resource)
{
    double mean_s = round_show(p->w->in, resource)->mean_failure_interval_s;

    if (isinf(mean_s)) /* never fails: longer than any job */
        return CHECKPOINT_LONGEST_S * CHECKPOINT_LONGEST_S;
    return fmax(mean_s, CHECKPOINT_SHORTEST_S);
}

/* ---- classes ---- */

static bool surpasses(const struct kind *a, const struct kind *b)
{
    return a->work_s <= b->work_s && a->mean_s >= b->mean_s &&
           (a->work_s < b->work_s || a->mean_s > b->mean_s);
}

/* As many hosts as there are copies are better in both. */
static bool is_surpassed(const struct hosts *h, const struct kind *kind)
{
    size_t count = 0;

    for (size_t i = h->active; i < h->count && count < h->copies_max; i++)
        count += surpasses(&h->kinds[i], kind) ? h->kinds[i].host_count : 0;
    return count >= h->copies_max;
}

static void thin_out(struct hosts *h)
{
    size_t kept = h->active;
    bool is_out[COPIES_MAX] = {false};

    for (size_t i = h->active; i < h->count; i++)
        is_out[i] = is_surpassed(h, &h->kinds[i]);
    for (size_t i = h->active; i < h->count; i++) {
        if (is_out[i])
            h->left_out_s[1] = fmin(h->left_out_s[1], h->kinds[i].work_s);
        else
            h->kinds[kept++] = h->kinds[i];
    }
    h->count = kept;
    h->is_thin = true;
}

static double alone_s(const struct pricing *p, const struct kind *kind)
{
    struct finite_job job = job_of(p, kind->work_s, kind->mean_s);

    return remedy_copy(&job, true).plan.expected_s;
}

/* All classes are taken: the one that is worst alone goes, of equal ones the last. */
static void leave_out(const struct pricing *p, const struct kind *kind)
{
    struct hosts *h = p->hosts;
    size_t worst = h->count;
    double worst_s = alone_s(p, kind), out_s;

    for (size_t i = h->count; i-- > h->active;) {
        double time_s = alone_s(p, &h->kinds[i]);

        if (time_s > worst_s) {
            worst = i;
            worst_s = time_s;
        }
    }
    out_s = worst < h->count ? h->kinds[worst].work_s : kind->work_s;
    h->left_out_s[0] = fmin(h->left_out_s[0], out_s);
    h->left_out_s[1] = fmin(h->left_out_s[1], out_s);
    if (worst == h->count)
        return;
    for (size_t i = worst + 1; i < h->count; i++)
        h->kinds[i - 1] = h->kinds[i];
    h->kinds[h->count - 1] = *kind;
}

/* A host of that speed and reliability; hosts come by id. */
static void add_host(const struct pricing *p, double work_s, double mean_s,
                     const size_t *nodes)
{
    struct hosts *h = p->hosts;
    struct kind kind = {.work_s = work_s,
                        .mean_s = mean_s,
                        .left_mi = p->left_mi,
                        .nodes = {nodes},
                        .host_count = 1};

    for (size_t i = h->count; i-- > h->active;) {
        struct kind *same = &h->kinds[i];

        if (same->work_s != work_s || same->mean_s != mean_s)
            continue;
        if (same->host_count < h->copies_max)
            same->nodes[same->host_count++] = nodes;
        return;
    }
    if (h->is_thin && is_surpassed(h, &kind)) {
        h->left_out_s[1] = fmin(h->left_out_s[1], work_s);
        return;
    }
    if (h->count == COPIES_MAX)
        thin_out(h);
    if (h->count == COPIES_MAX)
        leave_out(p, &kind);
    else
        h->kinds[h->count++] = kind;
}

/* ---- hosts ---- */

/* Its most advanced active replica; NULL: it has none. */
static const struct round_replica *leader_of(const struct round_job *job)
{
    const struct round_replica *leader = NULL;

    for (size_t i = 0; i < job->replica_count; i++) {
        const struct round_replica *r = &job->replicas[i];

        if (replica_is_active(r) && (!leader || r->completed_mi > leader->completed_mi))
            leader = r;
    }
    return leader;
}

/* A copy that is active is as fast as the slowest of its nodes. */
static struct kind active_kind(const struct pricing *p, const struct round_replica *r)
{
    struct kind kind = {.host_count = 1};
    double rate = 0;
    size_t count;

    kind.left_mi = fmax(0, p->job->length_mi - r->completed_mi);
    kind.nodes[0] = replica_nodes(r, &count);
    for (size_t i = 0; i < count; i++) {
        size_t node = kind.nodes[0][i], sharing = p->w->slots.job_count[node];

        kind.work_s =
            fmax(kind.work_s, work_on(p, node, kind.left_mi, sharing ? sharing : 1));
        rate += 1 / mean_on(p, node);
    }
    kind.mean_s = count == 1 ? mean_on(p, kind.nodes[0][0]) : 1 / rate;
    return kind;
}

/* The active copies, the most advanced first. */
static void keep_active(const struct pricing *p)
{
    const struct round_replica *leader = leader_of(p->job);
    struct hosts *h = p->hosts;

    for (size_t i = 0; i < p->job->replica_count; i++) {
        const struct round_replica *r = &p->job->replicas[i];

        if (!replica_is_active(r) || h->count == h->copies_max)
            continue;
        h->kinds[h->count] = h->kinds[0];
        h->kinds[r == leader ? 0 : h->count] = active_kind(p, r);
        h->count++;
    }
    h->active = h->count;
}

static bool may_take(const struct pricing *p, size_t resource)
{
    return slots_is_open(&p->w->slots, resource) && !p->is_held[resource];
}

/* Of a job on one node each free one, by id. */
static void add_hosts(const struct pricing *p)
{
    const struct round_in *in = p->w->in;
    size_t count = p->job->allowed ? p->job->allowed_count : in->resource_count;

    for (size_t i = 0; i < count; i++) {
        size_t r = p->job->allowed ? p->job->allowed[i] : i;

        if (budget_step(in->budget, CLASSES_MANY))
            return;
        if (may_take(p, r))
            add_host(p, work_on(p, r, p->left_mi, p->w->slots.job_count[r] + 1),
                     mean_on(p, r), &p->places[r]);
    }
}

/* Of a job on several the sets of free ones. */
static void add_sets(const struct pricing *p)
{
    const struct round_in *in = p->w->in;
    size_t all = p->job->allowed ? p->job->allowed_count : in->resource_count;
    struct free_node *nodes = NEW(p->w->arena, struct free_node, all);
    struct node_set *sets;
    double left_out_s;
    size_t count = 0, set_count;

    for (size_t i = 0; i < all; i++) {
        size_t r = p->job->allowed ? p->job->allowed[i] : i;

        if (budget_step(in->budget, 1))
            return;
        if (may_take(p, r))
            nodes[count++] = (struct free_node){
                .resource = r,
                .site = p->job->allowed_is_exact ? 0 : in->resources[r].site,
                .time_s = work_on(p, r, p->left_mi, p->w->slots.job_count[r] + 1),
                .mean_s = mean_on(p, r)};
    }
    node_sets_find(nodes, count, p->node_count, p->hosts->copies_max, &sets, &set_count,
                   &left_out_s, in->budget, p->w->arena);
    for (size_t i = 0; i < set_count; i++)
        add_host(p, sets[i].time_s, sets[i].mean_s, sets[i].nodes);
    for (size_t kind = 0; kind < 2; kind++)
        p->hosts->left_out_s[kind] = fmin(p->hosts->left_out_s[kind], left_out_s);
}

static void find_hosts(const struct pricing *p)
{
    struct hosts *h = p->hosts;

    h->count = h->active = 0;
    h->copies_max = p->options->replicas_max;
    h->is_thin = false;
    h->left_out_s[0] = h->left_out_s[1] = HUGE_VAL;
    for (size_t i = 0; i < p->w->held_count; i++)
        p->is_held[p->w->held[i]] = true;
    keep_active(p);
    if (h->active < h->copies_max && p->node_count > 1)
        add_sets(p);
    else if (h->active < h->copies_max)
        add_hosts(p);
    if (h->count - h->active > CLASSES_MANY)
        thin_out(h);
    for (size_t i = 0; i < p->w->held_count; i++)
        p->is_held[p->w->held[i]] = false;
}

/* ---- the choice ---- */

/* Copies that there is room for, at most as many as are allowed. */
static size_t room_of(const struct hosts *h)
{
    size_t room = h->active;

    for (size_t i = h->active; i < h->count && room < h->copies_max; i++)
        room += h->kinds[i].host_count;
    return room < h->copies_max ? room : h->copies_max;
}

/* Fewer where nobody asks for figures and k copies cannot save what they must: they take
 * the least E at least. */
static size_t worth_of(const struct pricing *p, const struct round_choice *c, size_t room)
{
    const struct hosts *h = p->hosts;
    size_t copies = 1, singles = h->active ? 1 : h->count;
    double one_s = HUGE_VAL, most_s;

    if (p->w->in->explain || p->options->shares_images ||
        !isnan(p->options->max_cost_ratio))
        return room;
    for (size_t i = 0; i < singles; i++) {
        one_s = fmin(one_s, p->plain[i].copy.plan.expected_s);
        one_s = fmin(one_s, p->saved[i].copy.plan.expected_s);
    }
    most_s = one_s * (1 - p->options->min_gain_ratio);
    while (copies < room && c->lower_bound_s < most_s) {
        copies++;
        most_s *= 1 - p->options->min_gain_ratio;
    }
    return copies > h->active ? copies : h->active;
}

/* Copies on each class, and what there is without a comparison. */
static void price_hosts(const struct pricing *p, struct round_choice *c)
{
    size_t first = 0;

    for (size_t i = 0; i < p->hosts->count; i++) {
        const struct kind *kind = &p->hosts->kinds[i];
        struct finite_job job = job_of(p, kind->work_s, kind->mean_s);

        p->plain[i] = (struct host_class){remedy_copy(&job, false), kind->host_count};
        p->saved[i] = (struct host_class){remedy_copy(&job, true), kind->host_count};
        c->lower_bound_s = fmin(c->lower_bound_s, kind->work_s);
        if (p->hosts->active == 0 &&
            p->plain[i].copy.plan.expected_s < p->plain[first].copy.plan.expected_s)
            first = i;
    }
    c->lower_bound_s = fmin(c->lower_bound_s, p->hosts->left_out_s[0]);
    c->execution_s = p->hosts->kinds[first].work_s;
    c->mean_failure_interval_s = p->hosts->kinds[first].mean_s;
}

/* Trials for a time that is compared, and how exact it need be. */
enum { SHARED_TRIALS = 10000 };
#define SHARED_RATIO 2e-3

/* Copies that read each other's images: what was worked out without is the bound above.
 * The cost falls with the time. */
static void share_images(const struct pricing *p, const struct round_choice *c,
                         struct remedy_option *o)
{
    struct copy list[REMEDY_COPIES_MAX];
    double left[REMEDY_COPIES_MAX];
    struct play_in in = {.copies = list,
                         .left = left,
                         .count = o->replicas,
                         .shares_images = true,
                         .seed = p->w->in->random_state,
                         .stream = "fault_tolerance.joint",
                         .trial_count = SHARED_TRIALS,
                         .precision_ratio = SHARED_RATIO,
                         .budget = p->w->in->budget};
    struct played played;

    if (o->remedy != REMEDY_BOTH || isnan(o->expected_time_s))
        return;
    for (size_t i = 0; i < o->replicas; i++) {
        list[i] = p->saved[o->classes[i]].copy;
        left[i] = p->hosts->kinds[o->classes[i]].left_mi;
    }
    copies_play(&in, &played);
    o->independent_s = o->expected_time_s;
    o->lower_bound_s = c->lower_bound_s;
    o->is_proved = false;
    if (played.mean_s < o->independent_s) {
        o->expected_cost_cpu_s *= played.mean_s / o->independent_s;
        o->expected_time_s = played.mean_s;
    }
}

/* The job has one host at least. */
static void compare(const struct pricing *p, struct round_choice *c)
{
    struct round_work *w = p->w;
    struct remedy_option *options =
        NEW(w->arena, struct remedy_option, REMEDY_OPTIONS_MAX);
    struct remedy_in in = {
        .plain = p->plain,
        .saved = p->saved,
        .class_count = p->hosts->count,
        .fixed_count = p->hosts->active,
        .left_out_s = {p->hosts->left_out_s[0], p->hosts->left_out_s[1]},
        .deadline_s = p->job->deadline_s > 0 ? p->job->deadline_s : (double)NAN,
        .wants_bounds = w->in->explain};
    double ratio = p->options->max_cost_ratio;

    price_hosts(p, c);
    c->options = options;
    c->placeable_count = room_of(p->hosts);
    in.max_cost_s = isnan(ratio) ? HUGE_VAL : ratio * c->execution_s;
    in.copies_max = worth_of(p, c, c->placeable_count);
    remedy_compare(&in, p->work, options, &c->option_count, w->arena);
    for (size_t i = 0; i < c->option_count && p->options->shares_images; i++)
        share_images(p, c, &options[i]);
    c->chosen = remedy_choose(options, c->option_count, in.max_cost_s, in.copies_max,
                              p->options->min_gain_ratio);
    c->cheapest = remedy_cheapest(options, c->option_count, in.copies_max);
    for (size_t i = 0; i < c->option_count; i++)
        options[i].expected_cost_cpu_s *= (double)p->node_count;
}

static bool is_saved(const struct remedy_option *o)
{
    return o->remedy == REMEDY_CHECKPOINTING || o->remedy == REMEDY_BOTH;
}

/* The hosts of the chosen copies: of a class those of lowest id. */
static void fill_hosts(const struct pricing *p, const struct remedy_option *chosen,
                       struct round_choice *c)
{
    struct round_host *list = NEW(p->w->arena, struct round_host, chosen->replicas);

    for (size_t i = 0, nth = 0; i < chosen->replicas; i++) {
        size_t class = chosen->classes[i];
        const struct kind *kind = &p->hosts->kinds[class];

        nth = i > 0 && class == chosen->classes[i - 1] ? nth + 1 : 0;
        list[i] = (struct round_host){
            .nodes = kind->nodes[nth],
            .node_count = p->node_count,
            .copy = is_saved(chosen) ? p->saved[class].copy : p->plain[class].copy,
            .left_mi = kind->left_mi,
        };
    }
    c->hosts = list;
    c->host_count = chosen->replicas;
}

/* Starts the copies behind the active ones. */
static void start_copies(struct round_work *w, const struct round_choice *c,
                         size_t active, bool is_checkpointed)
{
    const struct round_job *j = &w->in->jobs[c->job];

    for (size_t i = active; i < c->host_count; i++) {
        const struct round_host *host = &c->hosts[i];

        work_start_nodes(w, c->job, i - active, host->nodes, host->node_count,
                         j->has_checkpoint);
        if (is_checkpointed)
            work_act(w, (struct round_action){.kind = ROUND_CHECKPOINT_ON,
                                              .job = c->job,
                                              .replica = j->replica_count + i - active,
                                              .resource = host->nodes[0]});
    }
}

/* Copies that are active already follow the choice. */
static void switch_active(struct round_work *w, size_t job, bool is_checkpointed)
{
    const struct round_job *j = &w->in->jobs[job];

    for (size_t i = 0; i < j->replica_count && j->is_checkpointing != is_checkpointed;
         i++) {
        if (replica_is_active(&j->replicas[i]))
            work_act(w,
                     (struct round_action){.kind = is_checkpointed ? ROUND_CHECKPOINT_ON
                                                                   : ROUND_CHECKPOINT_OFF,
                                           .job = job,
                                           .replica = i,
                                           .resource = j->replicas[i].resource});
    }
}

/* *is_seen: there was a host to compare remedies for. */
static void decide_job(const struct pricing *p, size_t job, struct round_choice *c,
                       bool *is_seen)
{
    struct round_work *w = p->w;
    size_t active = work_active_count(p->job);
    const struct remedy_option *chosen;

    work_hold(w, job);
    find_hosts(p);
    *is_seen = p->hosts->count > 0;
    w->targets[job] = 1;
    if (!*is_seen)
        return;
    *c = (struct round_choice){.job = job, .lower_bound_s = HUGE_VAL};
    compare(p, c);
    if (c->chosen == SIZE_MAX) {
        w->out.status = DECISION_INFEASIBLE;
        w->targets[job] = active;
        return;
    }
    chosen = &c->options[c->chosen];
    fill_hosts(p, chosen, c);
    c->execution_s = c->hosts[0].copy.job.work_s;
    c->mean_failure_interval_s = c->hosts[0].copy.job.mean_s;
    w->targets[job] = chosen->replicas;
    switch_active(w, job, is_saved(chosen));
    start_copies(w, c, active, is_saved(chosen));
}

/* Work of a copy that starts now: from the image, which holds what the leader has
 * done, or all of it. */
static double left_mi(const struct round_job *job)
{
    const struct round_replica *leader = leader_of(job);

    if (job->has_checkpoint && leader)
        return fmax(0, job->length_mi - leader->completed_mi);
    return fmax(0, job->length_mi - (job->has_checkpoint ? job->checkpoint_mi : 0));
}

/* For each remedy and number of copies no other hosts are better, and none was passed by
 * for its cost. */
static bool is_proved(const struct round_choice *c, double max_cost_ratio)
{
    for (size_t i = 0; i < c->option_count; i++)
        if (!c->options[i].is_proved || !isnan(max_cost_ratio))
            return false;
    return true;
}

/* On a grid of its hosts alone the choice takes the same time. */
static bool is_checked(const struct round_choice *c, struct copies *work, struct arena *a)
{
    const struct remedy_option *o = &c->options[c->chosen];
    struct copy list[REMEDY_COPIES_MAX];
    size_t places[REMEDY_COPIES_MAX];
    double time_s;
    bool is_good;

    for (size_t i = 0; i < c->host_count; i++) {
        list[i] = c->hosts[i].copy;
        places[i] = i;
    }
    if (c->host_count == 0 || !(list[0].job.work_s > 0))
        return c->host_count > 0;
    copies_follow(work, list, c->host_count, &is_good, a);
    if (!is_good)
        return false;
    time_s = copies_together(work, places, c->host_count).time_s;
    return fabs(time_s - o->expected_time_s) <= CHECK_RATIO * time_s;
}

static void begin_pricing(struct pricing *p, struct round_work *w,
                          const struct joint_options *options)
{
    struct arena *a = w->arena;

    *p = (struct pricing){
        .w = w,
        .options = options,
        .hosts = NEW(a, struct hosts, 1),
        .plain = NEW(a, struct host_class, COPIES_MAX),
        .saved = NEW(a, struct host_class, COPIES_MAX),
        .work = NEW(a, struct copies, 1),
        .places = NEW(a, size_t, w->in->resource_count),
        .is_held = NEW(a, bool, w->in->resource_count),
    };
    p->work->budget = w->in->budget;
    for (size_t r = 0; r < w->in->resource_count; r++)
        p->places[r] = r;
}

enum error_code joint_round(const struct round_in *in,
                            const struct joint_options *options, struct round_out *out,
                            struct arena *a, struct error *err)
{
    struct round_work w;
    struct round_choice *choices;
    struct pricing p;
    size_t count = 0;

    TRY(work_begin(&w, in, options->unit, a, err));
    w.counts_active = true;
    choices = NEW(a, struct round_choice, in->job_count);
    w.targets = NEW(a, size_t, in->job_count);
    begin_pricing(&p, &w, options);
    for (size_t job = 0; job < in->job_count; job++) {
        bool is_seen = false;

        if (budget_spent(in->budget)) {
            w.out.status = DECISION_CUT;
            break;
        }
        p.job = &in->jobs[job];
        p.node_count = p.job->node_count ? p.job->node_count : 1;
        p.left_mi = left_mi(p.job);
        if (!work_is_finished(in, job))
            decide_job(&p, job, &choices[count], &is_seen);
        count += is_seen;
    }
    if (in->budget && in->budget->spent)
        w.out.status = DECISION_CUT;
    w.out.choices = choices;
    w.out.choice_count = count;
    work_end(&w, out);
    if (options->proves && in->explain && in->job_count == 1 && count == 1 &&
        out->status == DECISION_FEASIBLE && choices[0].chosen != SIZE_MAX &&
        is_proved(&choices[0], options->max_cost_ratio) &&
        is_checked(&choices[0], p.work, a))
        out->status = DECISION_OPTIMAL;
    return OK;
}
