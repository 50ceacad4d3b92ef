/* cluster_work.c - the jobs of a cluster simulation: given, of a log, or generated. */
#include "algorithms/queue/replay.h"
#include "handlers/common/world_json.h"
#include "handlers/simulation_cluster/cluster_simulation_parts.h"
#include "handlers/stored/workload_log.h"
#include "models/base/rng.h"
#include "service/config.h"
#include "service/service.h"

#include "models/base/plural.h"

#include <stdlib.h>
#include <string.h>

enum { NEEDS = 4096, SETS = 1024, WIDE_LISTED = 10, POINTER_BYTES = 128 };
static const double NAMED_UNITS = 1000;

/* What a job needs of each node, and once. */
struct needed {
    double cpus, memory_bytes, disk_bytes;
    const struct named_value *needs;
    size_t need_count;
};

/* So many nodes could take the job, the most of its sets. */
struct fit {
    const int64_t *need;
    const uint32_t *sets;
    uint64_t count;
};

struct cluster_interned {
    const int64_t *needs[NEEDS];
    struct {
        const uint32_t *list;
        size_t count;
    } sets[SETS];
    struct fit fits[NEEDS];
};

/* Jobs while they are made. */
struct making {
    struct cluster_playing *p;
    struct arena *a;
    struct cluster_interned *known;
    struct replay_job *jobs;
    size_t count;
    double *tiers; /* of each; NULL: there is one tier */
    size_t rounded;
};

/* ---- lists that are kept once ---- */

static uint64_t hash_of(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t h = 14695981039346656037U;

    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 1099511628211U;
    return h ^ h >> 29;
}

static const int64_t *keep_needs(struct making *m, const int64_t *units)
{
    size_t size = m->p->site.amount_count * sizeof(*units);
    const int64_t **slot = &m->known->needs[hash_of(units, size) % NEEDS];

    if (!*slot || memcmp(*slot, units, size) != 0) {
        int64_t *copy = NEW(m->a, int64_t, m->p->site.amount_count);

        memcpy(copy, units, size);
        *slot = copy;
    }
    return *slot;
}

static const uint32_t *keep_sets(struct making *m, const uint32_t *list, size_t count)
{
    size_t size = count * sizeof(*list), at = hash_of(list, size) % SETS;

    if (count == 0)
        return NULL;
    if (m->known->sets[at].count != count ||
        memcmp(m->known->sets[at].list, list, size) != 0) {
        uint32_t *copy = NEW(m->a, uint32_t, count);

        memcpy(copy, list, size);
        m->known->sets[at].list = copy;
        m->known->sets[at].count = count;
    }
    return m->known->sets[at].list;
}

/* ---- amounts ---- */

static int64_t to_units(struct making *m, double value, double units)
{
    m->rounded += fabs(value * units - round(value * units)) > 1e-6;
    return cluster_units_up(value, units);
}

/* Mistakes of names are noted at `pointer`, if there is one. */
static void take_needs(struct making *m, const struct needed *n, const char *pointer,
                       struct replay_job *to)
{
    const struct cluster_site *s = &m->p->site;
    int64_t units[REPLAY_AMOUNTS_MAX] = {0};
    struct replay_shared *shared = NULL;

    units[REPLAY_CPUS] = to_units(m, n->cpus, s->cpu_units);
    units[CLUSTER_HOST_MEMORY] = to_units(m, n->memory_bytes, 1);
    units[CLUSTER_HOST_DISK] = to_units(m, n->disk_bytes, 1);
    for (size_t i = 0; i < n->need_count; i++) {
        size_t named = name_index_find(&s->amounts, n->needs[i].name);
        size_t once = name_index_find(&s->shared_names, n->needs[i].name);
        int64_t amount = to_units(m, n->needs[i].number, NAMED_UNITS);

        if (once != NAME_NOT_FOUND) {
            shared = shared ? shared : NEW(m->a, struct replay_shared, n->need_count);
            shared[to->shared_count++] = (struct replay_shared){(uint32_t)once, amount};
        } else if (named != NAME_NOT_FOUND) {
            units[named] = amount;
        } else if (amount > 0 && pointer) {
            invalid(m->p->err, pointer, ITEM_UNKNOWN_ID,
                    "no node has '%.64s', and shared_capacities do not either",
                    n->needs[i].name);
        }
    }
    to->shared = shared;
    to->need = keep_needs(m, units);
}

static double first_of(double given, double otherwise, double last)
{
    return !isnan(given) ? given : !isnan(otherwise) ? otherwise : last;
}

/* An image that has the file system to itself; NAN: its size is not known. */
static double alone_s(const struct cluster_playing *p, double bytes)
{
    return p->body->io ? 8 * bytes / (p->body->io->bandwidth_mbps * 1e6) : (double)NAN;
}

/* What job_defaults say of all members that have one. */
static struct replay_job default_job(const struct cluster_playing *p)
{
    const struct cluster_job_defaults *d = &p->body->job_defaults;

    return (struct replay_job){
        .cancel_ms = REPLAY_NEVER,
        .limit_ms = isnan(d->time_limit_s) ? REPLAY_NEVER : kernel_ms(d->time_limit_s),
        .estimate_ms = -1,
        .given = (double)NAN,
        .nodes = 1,
        .spare_nodes = (uint32_t)d->spare_nodes,
        .exclusive = d->exclusive,
        .checkpoint_ms = kernel_ms(
            first_of(d->checkpoint_overhead_s, alone_s(p, d->checkpoint_bytes), 0)),
        .restart_ms =
            kernel_ms(first_of(d->restart_s, alone_s(p, d->checkpoint_bytes), 0)),
        .scratch_ms = kernel_ms(d->restart_from_scratch_s),
        .delay_ms = kernel_ms(d->reschedule_delay_s),
    };
}

static struct needed default_needs(const struct cluster_playing *p)
{
    const struct cluster_job_defaults *d = &p->body->job_defaults;

    return (struct needed){
        first_of(d->cpus, (double)NAN, 1), first_of(d->memory_bytes, (double)NAN, 0),
        first_of(d->disk_bytes, (double)NAN, 0), d->needs, d->need_count};
}

/* ---- partitions ---- */

static bool allows(const struct partition *x, const struct replay_job *j,
                   const char *user)
{
    double wall_s = 1e-3 * (double)(j->limit_ms < REPLAY_NEVER ? j->limit_ms : j->run_ms);
    bool known = !x->users_allowed;

    for (size_t i = 0; i < x->users_allowed_count && user && !known; i++)
        known = strcmp(x->users_allowed[i], user) == 0;
    return known && !(wall_s > x->time_limit_max_s) &&
           (x->nodes_per_job_max == 0 || j->nodes <= x->nodes_per_job_max);
}

/* The sets of a job that names these partitions; false: none of them takes it. */
static bool take_sets(struct making *m, const char *const *ids, size_t count,
                      const char *user, const char *pointer, size_t job)
{
    const struct cluster_site *s = &m->p->site;
    struct replay_job *j = &m->jobs[job];
    uint32_t list[64];
    size_t n = 0, tried = 0;

    for (size_t i = 0; i < count || (i == 0 && s->default_partition >= 0); i++) {
        size_t at = i < count ? name_index_find(&s->partitions, ids[i])
                              : (size_t)s->default_partition;
        char here[POINTER_BYTES];

        budget_step(&m->p->rq->budget, 8);
        tried++;
        if (at == NAME_NOT_FOUND) {
            snprintf(here, sizeof(here), "%.80s/partition_ids/%zu", pointer, i);
            invalid(m->p->err, here, ITEM_UNKNOWN_ID, "there is no partition '%.80s'",
                    ids[i]);
            return true; /* noted */
        }
        if (n == sizeof(list) / sizeof(*list) ||
            !allows(&s->with->partitions[at], j, user))
            continue;
        list[n++] = (uint32_t)at;
        if (m->tiers)
            m->tiers[job] =
                n > 1 ? fmax(m->tiers[job], s->with->partitions[at].priority_tier)
                      : s->with->partitions[at].priority_tier;
    }
    j->sets = keep_sets(m, list, n);
    j->set_count = (uint16_t)n;
    return n > 0 || tried == 0;
}

/* ---- what could never start ---- */

static bool group_takes(const struct making *m, size_t group, const int64_t *need)
{
    const int64_t *has = m->p->site.nodes[group].amounts;

    for (size_t i = 0; i < m->p->site.amount_count; i++)
        if (need[i] > has[i])
            return false;
    return true;
}

static uint64_t count_fitting(const struct making *m, const int64_t *need,
                              const uint64_t *set)
{
    const struct cluster_site *s = &m->p->site;
    uint64_t count = 0;

    for (size_t g = 0; g < s->group_count; g++) {
        budget_step(&m->p->rq->budget, 4);
        if (!group_takes(m, g, need))
            continue;
        if (!set)
            count += s->nodes[g].count;
        for (size_t i = 0; set && i < s->nodes[g].count; i++)
            count += cluster_set_has(set, s->groups[g].first + i);
        budget_step(&m->p->rq->budget, set ? s->nodes[g].count : 1);
    }
    return count;
}

static uint64_t most_fitting(struct making *m, const struct replay_job *j)
{
    size_t at = (((uintptr_t)j->need >> 3) ^ ((uintptr_t)j->sets >> 2)) % NEEDS;
    struct fit *f = &m->known->fits[at];

    if (f->need == j->need && f->sets == j->sets)
        return f->count;
    *f = (struct fit){j->need, j->sets, 0};
    for (size_t i = 0; i < j->set_count; i++) {
        uint64_t here = count_fitting(m, j->need, m->p->site.sets[j->sets[i]].nodes);

        f->count = here > f->count ? here : f->count;
    }
    if (j->set_count == 0)
        f->count = count_fitting(m, j->need, NULL);
    return f->count;
}

static bool shared_suffice(const struct making *m, const struct replay_job *j)
{
    for (size_t i = 0; i < j->shared_count; i++)
        if (j->shared[i].amount > m->p->site.shared[j->shared[i].name])
            return false;
    return true;
}

/* ---- priorities of tiers ---- */

struct ranked {
    double tier, priority;
    size_t job;
};

static int by_tier(const void *left, const void *right)
{
    const struct ranked *l = left, *r = right;

    if (l->tier != r->tier)
        return l->tier < r->tier ? -1 : 1;
    return (l->priority > r->priority) - (l->priority < r->priority);
}

/* One number for both: how many pairs are below. */
static void rank_tiers(struct making *m)
{
    struct ranked *list;
    double rank = 0;

    if (!m->tiers || m->count == 0)
        return;
    list = NEW(m->a, struct ranked, m->count);
    for (size_t i = 0; i < m->count; i++)
        list[i] = (struct ranked){m->tiers[i], m->jobs[i].priority, i};
    qsort(list, m->count, sizeof(*list), by_tier);
    for (size_t i = 0; i < m->count; i++) {
        rank += i > 0 && by_tier(&list[i - 1], &list[i]) != 0;
        m->jobs[list[i].job].priority = rank;
        budget_step(&m->p->rq->budget, 32);
    }
}

static bool has_tiers(const struct cluster_site *s)
{
    for (size_t i = 0; i < s->with->partition_count; i++)
        if (s->with->partitions[i].priority_tier != 0)
            return true;
    return false;
}

static struct making make(struct cluster_playing *p, size_t count, struct arena *a)
{
    return (struct making){.p = p,
                           .a = a,
                           .known = NEW(a, struct cluster_interned, 1),
                           .jobs = NEW(a, struct replay_job, count),
                           .tiers = has_tiers(&p->site) ? NEW(a, double, count) : NULL};
}

/* ---- jobs that are given ---- */

/* By arrival, then as they came. */
struct arrival {
    int64_t at_ms;
    uint32_t given;
};

static int by_arrival(const void *left, const void *right)
{
    const struct arrival *l = left, *r = right;

    if (l->at_ms != r->at_ms)
        return l->at_ms < r->at_ms ? -1 : 1;
    return (l->given > r->given) - (l->given < r->given);
}

/* Sizes of images say something with a file system, and instead of times. */
static void check_bytes(struct cluster_playing *p, const char *at, double bytes,
                        double overhead_s)
{
    char pointer[POINTER_BYTES];

    if (isnan(bytes))
        return;
    snprintf(pointer, sizeof(pointer), "%.80s/checkpoint_bytes", at);
    if (!p->body->io)
        invalid(p->err, pointer, ITEM_INVALID_COMBINATION,
                "only with io, which says how fast they are written");
    else if (!isnan(overhead_s))
        invalid(p->err, pointer, ITEM_CONFLICT, "not beside checkpoint_overhead_s");
    else if (alone_s(p, bytes) > SIM_TIME_MAX_S)
        invalid(p->err, pointer, ITEM_OUT_OF_BOUNDS,
                "takes longer than %g s to write alone", (double)SIM_TIME_MAX_S);
}

static void refuse(struct cluster_playing *p, const char *at,
                   const struct cluster_sim_job *j)
{
    const struct {
        const char *given, *name, *why;
    } members[] = {{j->group, "group", "groups of jobs have no part in a simulation"},
                   {j->input_file_ids, "input_file_ids", "files are not simulated"},
                   {j->output_bytes, "output_bytes", "files are not simulated"}};
    char pointer[POINTER_BYTES];

    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        if (!members[i].given)
            continue;
        snprintf(pointer, sizeof(pointer), "%.80s/%s", at, members[i].name);
        invalid(p->err, pointer, ITEM_NOT_ALLOWED, "%s", members[i].why);
    }
}

/* What a job says itself of its images comes before what all say. */
static void take_images(const struct cluster_playing *p, const struct cluster_sim_job *in,
                        struct replay_job *j)
{
    double own_s = alone_s(p, in->checkpoint_bytes);

    if (!isnan(in->checkpoint_overhead_s) || !isnan(own_s))
        j->checkpoint_ms = kernel_ms(first_of(in->checkpoint_overhead_s, own_s, 0));
    if (!isnan(in->restart_s))
        j->restart_ms = kernel_ms(in->restart_s);
    else if (!isnan(own_s) && isnan(p->body->job_defaults.restart_s))
        j->restart_ms = kernel_ms(own_s);
}

static void fill_given(struct making *m, const struct cluster_sim_job *in,
                       struct replay_job *j)
{
    const struct cluster_job_defaults *d = &m->p->body->job_defaults;

    *j = default_job(m->p);
    j->submit_ms = kernel_ms(in->arrival_s);
    j->begin_ms = isnan(in->begin_s) ? 0 : kernel_ms(in->begin_s);
    j->run_ms = kernel_ms(in->execution_time_s);
    if (!isnan(in->time_limit_s))
        j->limit_ms = kernel_ms(in->time_limit_s);
    if (!isnan(in->estimate_s))
        j->estimate_ms = kernel_ms(in->estimate_s);
    j->given = in->priority;
    j->priority = isnan(in->priority) ? 0 : in->priority;
    j->nodes = in->nodes  ? (uint32_t)in->nodes
               : d->nodes ? (uint32_t)fmax(1, ceil(distribution_mean(&m->p->nodes_drawn)))
                          : 1;
    if (in->spare_nodes != CLUSTER_NOT_SAID)
        j->spare_nodes = (uint32_t)in->spare_nodes;
    if (!isnan(in->exclusive))
        j->exclusive = in->exclusive > 0;
    take_images(m->p, in, j);
    j->scratch_ms =
        kernel_ms(first_of(in->restart_from_scratch_s, d->restart_from_scratch_s, 0));
    j->delay_ms = kernel_ms(first_of(in->reschedule_delay_s, d->reschedule_delay_s, 0));
    j->any_after = in->after_mode == 1;
}

static struct needed needs_of(const struct cluster_playing *p,
                              const struct cluster_sim_job *in)
{
    struct needed n = default_needs(p);

    n.cpus = first_of(in->cpus, n.cpus, 1);
    n.memory_bytes = first_of(in->memory_bytes, n.memory_bytes, 0);
    n.disk_bytes = first_of(in->disk_bytes, n.disk_bytes, 0);
    if (in->need_count) {
        n.needs = in->needs;
        n.need_count = in->need_count;
    }
    return n;
}

static void check_fits(struct making *m, size_t job, const char *at)
{
    const struct replay_job *j = &m->jobs[job];
    uint64_t wanted = (uint64_t)j->nodes + j->spare_nodes, fitting = most_fitting(m, j);
    char pointer[POINTER_BYTES];

    if (fitting >= wanted && shared_suffice(m, j))
        return;
    snprintf(pointer, sizeof(pointer), "%.80s/%s", at,
             fitting < wanted && fitting > 0 ? "nodes" : "needs");
    if (fitting >= wanted)
        invalid(m->p->err, pointer, ITEM_OUT_OF_BOUNDS,
                "it needs more of shared_capacities than there is: it never fits");
    else
        invalid(
            m->p->err, fitting > 0 ? pointer : at, ITEM_OUT_OF_BOUNDS,
            "it needs %s of those that it may use, and %llu %s all that it needs when "
            "all are up: it never fits",
            counted(wanted, "node").text, (unsigned long long)fitting,
            plural(fitting, "has", "have"));
}

static void make_given(struct making *m, const struct arrival *order)
{
    const struct cluster_simulation *body = m->p->body;
    size_t mistakes = m->p->err->item_count;

    for (size_t i = 0; i < m->count; i++) {
        const struct cluster_sim_job *in = &body->jobs[order[i].given];
        struct needed n = needs_of(m->p, in);
        char at[POINTER_BYTES], here[POINTER_BYTES];

        snprintf(at, sizeof(at), "/jobs/%u", order[i].given);
        snprintf(here, sizeof(here), "%.99s/needs",
                 in->need_count ? at : "/job_defaults");
        refuse(m->p, at, in);
        check_bytes(m->p, at, in->checkpoint_bytes, in->checkpoint_overhead_s);
        fill_given(m, in, &m->jobs[i]);
        take_needs(m, &n, here, &m->jobs[i]);
        if (!take_sets(m, in->partition_ids, in->partition_id_count, in->user, at, i)) {
            snprintf(here, sizeof(here), "%.99s/partition_ids", at);
            invalid(m->p->err, here, ITEM_NOT_ALLOWED,
                    "none of its partitions takes it: user, nodes or time limit");
        }
        if (m->p->err->item_count == mistakes)
            check_fits(m, i, at);
        cluster_owner_of(m->p, in, at, &m->jobs[i]);
        mistakes = m->p->err->item_count > mistakes ? m->p->err->item_count : mistakes;
        budget_step(&m->p->rq->budget, 128);
    }
}

/* ---- who waits for whom ---- */

static void take_after(struct making *m, const struct name_index *names,
                       const uint32_t *place, size_t given, struct replay_job *j)
{
    static const enum replay_after_kind kinds[] = {
        [JOB_AFTER_OK] = REPLAY_AFTER_OK,
        [JOB_AFTER_ANY] = REPLAY_AFTER_END,
        [JOB_AFTER_START] = REPLAY_AFTER_START,
    };
    const struct cluster_sim_job *in = &m->p->body->jobs[given];
    struct replay_after *list = NEW(m->a, struct replay_after, in->after_count);
    char pointer[POINTER_BYTES];

    for (size_t k = 0; k < in->after_count; k++) {
        size_t at = name_index_find(names, in->after[k].job_id);

        budget_step(&m->p->rq->budget, 16);
        snprintf(pointer, sizeof(pointer), "/jobs/%zu/after/%zu/job_id", given, k);
        if (at == NAME_NOT_FOUND)
            invalid(m->p->err, pointer, ITEM_UNKNOWN_ID, "there is no job '%.80s'",
                    in->after[k].job_id);
        else if (j->after_count == UINT16_MAX)
            invalid(m->p->err, pointer, ITEM_TOO_LONG, "more than %d jobs", UINT16_MAX);
        else
            list[j->after_count++] =
                (struct replay_after){place[at], kinds[in->after[k].kind], 0};
    }
    j->after = list;
}

/* Jobs that wait for each other, by leaving out all that can start. */
static void check_cycles(struct making *m, const uint32_t *given)
{
    uint32_t *open = NEW(m->a, uint32_t, m->count);
    uint32_t *at = NEW(m->a, uint32_t, m->count + 2), *waiting, *ready;
    size_t links = 0, ready_count = 0;

    for (size_t j = 0; j < m->count; j++) {
        open[j] = m->jobs[j].after_count;
        links += open[j];
        budget_step(&m->p->rq->budget, 4 + open[j]);
        for (size_t k = 0; k < open[j]; k++)
            at[m->jobs[j].after[k].job + 2]++;
    }
    waiting = NEW(m->a, uint32_t, links);
    ready = NEW(m->a, uint32_t, m->count);
    for (size_t j = 2; j < m->count + 2; j++)
        at[j] += at[j - 1];
    for (size_t j = 0; j < m->count; j++) {
        budget_step(&m->p->rq->budget, 4 + open[j]);
        for (size_t k = 0; k < open[j]; k++)
            waiting[at[m->jobs[j].after[k].job + 1]++] = (uint32_t)j;
        if (open[j] == 0)
            ready[ready_count++] = (uint32_t)j;
    }
    for (size_t i = 0; i < ready_count; i++)
        for (uint32_t k = at[ready[i]]; k < at[ready[i] + 1]; k++) {
            if (--open[waiting[k]] == 0)
                ready[ready_count++] = waiting[k];
            budget_step(&m->p->rq->budget, 4);
        }
    for (size_t j = 0; j < m->count && ready_count < m->count; j++) {
        char pointer[POINTER_BYTES];

        if (open[j] == 0)
            continue;
        snprintf(pointer, sizeof(pointer), "/jobs/%u/after", given[j]);
        invalid(m->p->err, pointer, ITEM_CYCLE, "%s %s",
                counted(m->count - ready_count, "job").text,
                plural(m->count - ready_count, "waits for itself",
                       "wait for each other, or for such ones"));
        return;
    }
}

static void link_given(struct making *m, const uint32_t *given)
{
    const struct cluster_simulation *body = m->p->body;
    struct name_index names;
    uint32_t *place = NEW(m->a, uint32_t, m->count);
    size_t mistakes = m->p->err->item_count;
    bool any = false;

    name_index_create(&names, m->count, m->a);
    for (size_t i = 0; i < m->count; i++) {
        place[given[i]] = (uint32_t)i;
        any |= body->jobs[i].after_count > 0;
        budget_step(&m->p->rq->budget, 16);
        if (body->jobs[i].id &&
            name_index_add(&names, body->jobs[i].id, i) != NAME_NOT_FOUND) {
            char pointer[POINTER_BYTES];

            snprintf(pointer, sizeof(pointer), "/jobs/%zu/id", i);
            invalid(m->p->err, pointer, ITEM_DUPLICATE, "another job has this name");
        }
    }
    for (size_t i = 0; any && i < m->count; i++)
        take_after(m, &names, place, given[i], &m->jobs[i]);
    if (any && m->p->err->item_count == mistakes)
        check_cycles(m, given);
}

/* Times above 0 that are less than a millisecond, which the simulation counts in. */
struct short_times {
    size_t count;
    char first[POINTER_BYTES];
};

static void note_short(struct short_times *s, double time_s, const char *member,
                       const char *at, size_t job)
{
    if (!(time_s > 0 && time_s < 1e-3) || s->count++ > 0)
        return;
    if (job == SIZE_MAX)
        snprintf(s->first, sizeof(s->first), "%s/%s", at, member);
    else
        snprintf(s->first, sizeof(s->first), "%s/%zu/%s", at, job, member);
}

#define NOTE_SHORT(s, of, member, at, job) \
    note_short((s), (of)->member, #member, (at), (job))

static void warn_of_short_times(const struct cluster_playing *p)
{
    const struct cluster_simulation *body = p->body;
    const struct cluster_job_defaults *d = &body->job_defaults;
    struct short_times s = {0};

    NOTE_SHORT(&s, d, checkpoint_overhead_s, "/job_defaults", SIZE_MAX);
    NOTE_SHORT(&s, d, restart_s, "/job_defaults", SIZE_MAX);
    NOTE_SHORT(&s, d, restart_from_scratch_s, "/job_defaults", SIZE_MAX);
    NOTE_SHORT(&s, d, reschedule_delay_s, "/job_defaults", SIZE_MAX);
    NOTE_SHORT(&s, d, time_limit_s, "/job_defaults", SIZE_MAX);
    for (size_t i = 0; i < body->job_count; i++) {
        const struct cluster_sim_job *j = &body->jobs[i];

        NOTE_SHORT(&s, j, arrival_s, "/jobs", i);
        NOTE_SHORT(&s, j, execution_time_s, "/jobs", i);
        NOTE_SHORT(&s, j, time_limit_s, "/jobs", i);
        NOTE_SHORT(&s, j, estimate_s, "/jobs", i);
        NOTE_SHORT(&s, j, checkpoint_overhead_s, "/jobs", i);
        NOTE_SHORT(&s, j, restart_s, "/jobs", i);
        NOTE_SHORT(&s, j, restart_from_scratch_s, "/jobs", i);
        NOTE_SHORT(&s, j, reschedule_delay_s, "/jobs", i);
    }
    if (s.count)
        decision_warn(
            p->rq, &p->answer->decision,
            "rounded: %s of less than a millisecond %s counted as 0 or 0.001 s, "
            "whichever is nearer, first %s",
            counted(s.count, "time").text, plural(s.count, "is", "are"), s.first);
}

static void bind_given(struct cluster_playing *p)
{
    const struct cluster_simulation *body = p->body;
    struct making m = make(p, body->job_count, p->a);
    struct arrival *order = NEW(p->a, struct arrival, body->job_count);
    uint32_t *given = NEW(p->a, uint32_t, body->job_count);

    m.count = body->job_count;
    for (size_t i = 0; i < m.count; i++)
        order[i] = (struct arrival){kernel_ms(body->jobs[i].arrival_s), (uint32_t)i};
    qsort(order, m.count, sizeof(*order), by_arrival);
    budget_step(&p->rq->budget, 32 * m.count);
    for (size_t i = 0; i < m.count; i++)
        given[i] = order[i].given;
    make_given(&m, order);
    link_given(&m, given);
    rank_tiers(&m);
    p->jobs = (struct cluster_jobs){m.jobs, m.count, given, NULL, (double)NAN};
    if (m.rounded)
        decision_warn(p->rq, &p->answer->decision,
                      "rounded: %s of /jobs %s of 0.001, and %s as the next one above",
                      counted(m.rounded, "amount").text,
                      plural(m.rounded, "is no multiple", "are no multiples"),
                      plural(m.rounded, "counts", "count"));
}

/* ---- a log ---- */

/* What is worth a warning: how many jobs. */
struct log_tally {
    size_t defaulted, raised, memory, preceding, partitions, dropped, refused;
    double numbers[WIDE_LISTED]; /* of the first that are too wide */
};

/* P processors as nodes and cpus of each. */
static void map_processors(const struct cluster_playing *p, double processors,
                           struct replay_job *j, struct needed *n)
{
    double cpus = fmax(1, floor(p->site.largest_cpus)), nodes = processors;

    if (p->body->swf_map == CLUSTER_SWF_NODE) {
        j->exclusive = true;
    } else {
        nodes = ceil(processors / cpus);
        n->cpus = ceil(processors / nodes);
    }
    j->nodes = (uint32_t)fmin(nodes, 4e9);
}

static void take_requested(const struct cluster_playing *p, const struct swf_job *in,
                           struct replay_job *j, struct log_tally *t)
{
    double asked_s = in->requested_s;
    bool requested = p->body->estimates == QUEUE_REQUESTED;

    t->defaulted += requested && isnan(asked_s);
    t->raised += requested && !p->body->cut_at_request && asked_s < in->run_s;
    if (p->body->cut_at_request && !isnan(asked_s))
        j->limit_ms = kernel_ms(asked_s);
    else if (!isnan(asked_s))
        asked_s = fmax(asked_s, in->run_s);
    j->estimate_ms = kernel_ms(requested && !isnan(asked_s) ? asked_s : in->run_s);
}

static void take_log_job(struct making *m, const struct swf_job *in, struct log_tally *t,
                         double *numbers)
{
    struct cluster_playing *p = m->p;
    struct replay_job *j = &m->jobs[m->count];
    struct needed n = default_needs(p);
    uint64_t widest;

    *j = default_job(p);
    j->submit_ms = kernel_ms(in->submit_s);
    j->run_ms = kernel_ms(in->run_s);
    take_requested(p, in, j, t);
    map_processors(p, ceil(swf_processors(in)), j, &n);
    take_needs(m, &n, m->count ? NULL : "/job_defaults/needs", j);
    take_sets(m, NULL, 0, NULL, "", m->count);
    widest = most_fitting(m, j);
    if ((uint64_t)j->nodes + j->spare_nodes > widest && widest > 0) {
        if (t->refused + t->dropped < WIDE_LISTED)
            t->numbers[t->refused + t->dropped] = in->number;
        *(p->body->wide_jobs == CLUSTER_WIDE_DROP ? &t->dropped : &t->refused) += 1;
        return;
    }
    numbers[m->count++] = in->number;
}

static void count_ignored(const struct swf_job *in, double partition, struct log_tally *t)
{
    t->memory += in->requested_memory_kb > 0;
    t->preceding += in->preceding_job > 0;
    t->partitions += !isnan(in->partition) && in->partition != partition;
}

static void warn_of(struct cluster_playing *p, size_t count, const char *code,
                    const char *what)
{
    if (count)
        decision_warn(p->rq, &p->answer->decision, "%s: %s of /workload_id %s", code,
                      counted(count, "job").text, plural_text(count, what, p->a));
}

static void tell_wide(struct cluster_playing *p, const struct log_tally *t)
{
    struct text_buffer b = {.arena = p->a};
    size_t count = t->refused + t->dropped;

    for (size_t i = 0; i < count && i < WIDE_LISTED; i++)
        text_addf(&b, "%s%.15g", i ? ", " : "", t->numbers[i]);
    if (t->refused)
        invalid(p->err, "/workload_id", ITEM_OUT_OF_BOUNDS,
                "%s %s wider than the machine, %s %s; wide_jobs: drop leaves %s out",
                counted(t->refused, "job").text, plural(t->refused, "is", "are"),
                plural(t->refused, "that of the number",
                       "the first are those of the numbers"),
                text_end(&b), plural(t->refused, "it", "them"));
    warn_of(p, t->dropped, "never_fits",
            "{is|are} wider than the machine, and {is|are} left out: refused_count");
    p->answer->refused_count = t->dropped;
}

static void tell_log(struct cluster_playing *p, const struct log_tally *t)
{
    tell_wide(p, t);
    warn_of(p, t->defaulted, "run_time_defaulted",
            "{asks|ask} for no run time; queue policies count on the one {it|they} took");
    warn_of(p, t->raised, "requested_raised",
            "ran longer than {it|they} asked for; queue policies count on the time "
            "{it|they} took, see cut_at_request");
    warn_of(p, t->preceding, "preceding_ignored",
            "{names|name} a preceding_job, which nobody waits for");
    warn_of(p, t->memory, "memory_ignored",
            "{asks|ask} for memory, which is not looked at; job_defaults.memory_bytes "
            "says it");
    warn_of(p, t->partitions, "partition_ignored",
            "{is|are} of another partition than the first");
}

static enum error_code too_many(struct cluster_playing *p, uint64_t count, size_t most)
{
    return invalid(p->err, "/workload_id", ITEM_TOO_LONG,
                   "%llu jobs are more than %zu, the setting simulation_jobs_max",
                   (unsigned long long)count, most);
}

static enum error_code read_log(struct cluster_playing *p, struct workload_log **out)
{
    struct workload_log *read = NEW(p->a, struct workload_log, 1);
    size_t most = (size_t)p->rq->service->config->simulation_jobs_max;
    struct store_trace trace = {0};
    struct db_session *db;
    const char *left_out;

    TRY(simulation_upload(&p->shim, STORE_WORKLOAD, "/workload_id", p->body->workload_id,
                          &trace));
    if (trace.piece_bytes && trace.record_count > most)
        return too_many(p, trace.record_count, most);
    TRY(request_db(p->rq, &db));
    TRY(workload_log_load(db, p->rq->principal.tenant, &trace, read, p->a, p->err));
    left_out = workload_left_out(read, false, p->a);
    if (left_out)
        TRY(decision_warn(p->rq, &p->answer->decision, "%s", left_out));
    if (read->counts.skipped)
        TRY(decision_warn(
            p->rq, &p->answer->decision,
            "skipped: %s of /workload_id, first line %llu (%s), %s",
            counted(read->counts.skipped, "line").text,
            (unsigned long long)read->counts.issues[0].line,
            swf_skip_names[read->counts.issues[0].reason],
            plural(read->counts.skipped, "is no usable job", "are no usable jobs")));
    if (read->counts.unsorted)
        TRY(decision_warn(p->rq, &p->answer->decision,
                          "unsorted: %s of /workload_id, first line %llu, %s "
                          "not in the order of arrival, and %s been sorted",
                          counted(read->counts.unsorted, "line").text,
                          (unsigned long long)read->counts.first_unsorted_line,
                          plural(read->counts.unsorted, "was", "were"),
                          plural(read->counts.unsorted, "has", "have")));
    if (read->log.count == 0)
        return invalid(p->err, "/workload_id", ITEM_NO_JOBS, "the log has no usable job");
    if (read->log.count > most)
        return too_many(p, read->log.count, most);
    *out = read;
    return OK;
}

static enum error_code bind_log(struct cluster_playing *p)
{
    struct workload_log *read = NULL;
    struct making m;
    struct log_tally t = {0};
    double partition = (double)NAN, *numbers;
    enum error_code code = read_log(p, &read);

    if (code != OK)
        return code;
    m = make(p, read->log.count, p->a);
    numbers = NEW(p->a, double, read->log.count);
    for (size_t i = 0; i < read->log.count; i++) {
        const struct swf_job *in = &read->log.jobs[i];

        partition = isnan(partition) ? in->partition : partition;
        count_ignored(in, partition, &t);
        take_log_job(&m, in, &t, numbers);
        budget_step(&p->rq->budget, 128);
    }
    rank_tiers(&m);
    tell_log(p, &t);
    p->jobs = (struct cluster_jobs){m.jobs, m.count, NULL, numbers, (double)NAN};
    return OK;
}

/* ---- a generator ---- */

static enum error_code bind_generator(struct cluster_playing *p)
{
    struct workload *w = &p->shim_setting.workload;
    size_t most = (size_t)p->rq->service->config->simulation_jobs_max;
    size_t mistakes = p->err->item_count;

    if (p->body->workload->job_count || p->body->workload->generator == WORKLOAD_BATCH)
        return invalid(p->err, "/workload/jobs", ITEM_NOT_ALLOWED,
                       "of kind cluster jobs that are given are the member jobs");
    if (p->body->workload->generator == WORKLOAD_VM_SESSION)
        return invalid(p->err, "/workload/generator", ITEM_NOT_ALLOWED,
                       "sessions are of kind grid");
    p->shim_body.workload = p->body->workload;
    TRY(simulation_workload(&p->shim));
    if (p->body->jobs_max > most)
        return invalid(p->err, "/jobs_max", ITEM_OUT_OF_BOUNDS,
                       "more than %zu, the setting simulation_jobs_max", most);
    most = p->body->jobs_max ? (size_t)p->body->jobs_max : most;
    if (w->truncates)
        w->job_count = most;
    for (size_t i = 0; i < p->shim_setting.warning_count; i++)
        TRY(decision_warn(p->rq, &p->answer->decision, "%s",
                          p->shim_setting.warnings[i]));
    p->generates = true;
    return p->err->item_count == mistakes ? OK : ERR_INVALID;
}

static void make_drawn(struct making *m, const struct sim_job *in, struct rng *r,
                       size_t *position)
{
    struct cluster_playing *p = m->p;
    const struct cluster_job_defaults *d = &p->body->job_defaults;
    struct replay_job *j = &m->jobs[m->count];
    struct needed n = default_needs(p);

    *j = default_job(p);
    j->submit_ms = kernel_ms(in->arrival_s);
    j->run_ms = kernel_ms(in->length_mi);
    if (isnan(d->checkpoint_overhead_s) && isnan(d->checkpoint_bytes))
        j->checkpoint_ms = kernel_ms(in->checkpoint_overhead_s);
    if (d->nodes)
        j->nodes = (uint32_t)fmin(
            JOB_NODES_MAX,
            fmax(1, ceil(distribution_draw(&p->nodes_drawn, r, position))));
    take_needs(m, &n, NULL, j);
    take_sets(m, NULL, 0, NULL, "", m->count);
    m->count++;
}

static void more_room(struct making *m, size_t *room)
{
    size_t next = 2 * *room;

    m->jobs = GROW(m->a, m->jobs, struct replay_job, *room, next);
    if (m->tiers)
        m->tiers = GROW(m->a, m->tiers, double, *room, next);
    *room = next;
}

enum error_code cluster_jobs_draw(struct cluster_playing *p, uint64_t seed,
                                  struct cluster_jobs *out, struct arena *a)
{
    struct workload_source *source;
    struct rng r = rng_stream(seed, "job.nodes");
    size_t room = 1024, position = 0, most;
    struct making m = make(p, room, a);
    struct sim_job job;
    double truncated_s = HUGE_VAL;

    most = p->body->jobs_max ? (size_t)p->body->jobs_max
                             : (size_t)p->rq->service->config->simulation_jobs_max;
    TRY(workload_open(&p->shim_setting.workload, seed, p->stop_s, &source, a, p->err));
    while (workload_next(source, &job)) {
        if (m.count == most) {
            truncated_s = job.arrival_s;
            break;
        }
        if (m.count == room)
            more_room(&m, &room);
        make_drawn(&m, &job, &r, &position);
        if (budget_step(&p->rq->budget, 128))
            break;
    }
    truncated_s = fmin(truncated_s, workload_truncated_s(source));
    rank_tiers(&m);
    *out = (struct cluster_jobs){m.jobs, m.count, NULL, NULL,
                                 isinf(truncated_s) ? (double)NAN : truncated_s};
    return OK;
}

/* ---- all together ---- */

static void prepare_nodes(struct cluster_playing *p)
{
    const struct distribution *nodes = p->body->job_defaults.nodes;

    if (!nodes)
        return;
    p->nodes_drawn = *nodes;
    distribution_prepare(&p->nodes_drawn, "/job_defaults/nodes", p->a, p->err);
}

/* Of a list and of a log all are played, or they are refused. */
static enum error_code warn_of_jobs_max(struct cluster_playing *p)
{
    if (!p->body->jobs_max || p->body->workload)
        return OK;
    return decision_warn(p->rq, &p->answer->decision,
                         "ignored: jobs_max is of a generator at /workload; all jobs of "
                         "%s are played",
                         p->body->workload_id ? "the log" : "the list");
}

enum error_code cluster_jobs_bind(struct cluster_playing *p)
{
    const struct cluster_simulation *body = p->body;
    size_t most = (size_t)p->rq->service->config->simulation_jobs_max;
    int given = !!body->job_count + !!body->workload_id + !!body->workload;

    prepare_nodes(p);
    check_bytes(p, "/job_defaults", body->job_defaults.checkpoint_bytes,
                body->job_defaults.checkpoint_overhead_s);
    warn_of_short_times(p);
    TRY(warn_of_jobs_max(p));
    if (given == 0)
        return invalid(p->err, "/jobs", ITEM_REQUIRED,
                       "which jobs? give jobs, workload_id or workload");
    if (given > 1)
        return invalid(p->err, body->job_count ? "/jobs" : "/workload", ITEM_CONFLICT,
                       "give one of jobs, workload_id and workload");
    if (body->job_count > most)
        return invalid(p->err, "/jobs", ITEM_TOO_LONG,
                       "%zu jobs are more than %zu, the setting simulation_jobs_max",
                       body->job_count, most);
    if (body->workload_id)
        return bind_log(p);
    if (body->workload)
        return bind_generator(p);
    if (p->err->code == OK)
        bind_given(p);
    return p->err->code;
}
