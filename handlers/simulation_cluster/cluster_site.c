/* cluster_site.c - the nodes of a cluster simulation: groups, partitions, reservations,
 * outages.
 *
 * A node is called by its group and a number, as in kind grid; the name of a group stands
 * for all of it. Amounts become whole units: cpus and named amounts thousandths where one
 * of them is not whole, bytes as they are. What a node does not say of memory and disk is
 * not limited; of a named amount it has nothing.
 */
#include "handlers/simulation_cluster/cluster_simulation_parts.h"
#include "models/base/plural.h"
#include "service/config.h"
#include "service/service.h"

#include <stdlib.h>
#include <string.h>

enum { LAWS_MAX = 256, POINTER_BYTES = 256 };
static const int64_t UNLIMITED = (int64_t)4e18;
static const double NAMED_UNITS = 1000;

int64_t cluster_units_up(double value, double units)
{
    return (int64_t)fmin(ceil(value * units - 1e-6), 4e18);
}

int64_t cluster_units_down(double value, double units)
{
    return (int64_t)fmin(floor(value * units + 1e-6), 4e18);
}

static void mistake(struct cluster_playing *p, const char *at, const char *member,
                    enum item_code code, const char *text)
{
    char pointer[2 * POINTER_BYTES];

    snprintf(pointer, sizeof(pointer), "%s/%s", at, member);
    invalid(p->err, pointer, code, "%s", text);
}

/* ---- groups ---- */

/* Laws that are the same are one: nodes that fail alike are alike. */
struct laws {
    const struct distribution *given[LAWS_MAX], *made[LAWS_MAX];
    size_t count;
};

static bool is_same_law(const struct distribution *a, const struct distribution *b)
{
    const double x[] = {a->value, a->l_bound, a->u_bound, a->mean,  a->sd,
                        a->min,   a->mu,      a->sigma,   a->shape, a->scale,
                        a->p,     a->shape2,  a->scale2};
    const double y[] = {b->value, b->l_bound, b->u_bound, b->mean,  b->sd,
                        b->min,   b->mu,      b->sigma,   b->shape, b->scale,
                        b->p,     b->shape2,  b->scale2};

    if (a->kind != b->kind || a->value_count || b->value_count)
        return false;
    for (size_t i = 0; i < sizeof(x) / sizeof(*x); i++)
        if (x[i] != y[i] && !(isnan(x[i]) && isnan(y[i])))
            return false;
    return true;
}

static const struct distribution *law_of(struct cluster_playing *p, struct laws *laws,
                                         const struct distribution *given,
                                         const char *pointer)
{
    struct distribution *made;

    for (size_t i = 0; i < laws->count; i++)
        if (is_same_law(laws->given[i], given))
            return laws->made[i];
    made = NEW(p->a, struct distribution, 1);
    *made = *given;
    distribution_prepare(made, pointer, p->a, p->err);
    if (laws->count < LAWS_MAX) {
        laws->given[laws->count] = given;
        laws->made[laws->count++] = made;
    }
    return made;
}

static void take_laws(struct cluster_playing *p, struct laws *laws,
                      const struct cluster_group *g, struct replay_nodes *n)
{
    const struct cluster_group_in *in = g->in;
    size_t at;

    if (in->failure && !in->restore)
        mistake(p, g->pointer, "restore", ITEM_REQUIRED, "needed with failure");
    if (in->restore && !in->failure)
        mistake(p, g->pointer, "failure", ITEM_REQUIRED, "needed with restore");
    if (in->failure && in->restore) {
        n->failure =
            law_of(p, laws, in->failure, arena_printf(p->a, "%s/failure", g->pointer));
        n->restore =
            law_of(p, laws, in->restore, arena_printf(p->a, "%s/restore", g->pointer));
        p->site.draws = true;
    }
    if (!in->failure_group)
        return;
    at = name_index_find(&p->site.failure_groups, in->failure_group);
    if (at == NAME_NOT_FOUND)
        mistake(p, g->pointer, "failure_group", ITEM_UNKNOWN_ID,
                "not one of failure_groups");
    else
        n->burst = (uint32_t)at;
}

static void check_outages(struct cluster_playing *p, const struct cluster_group *g)
{
    const struct cluster_group_in *in = g->in;

    if (in->outage_count && in->number > 1)
        mistake(p, g->pointer, "outages", ITEM_CONFLICT,
                "only of a single node: number must be 1");
    if (in->outage_count && in->failure)
        mistake(p, g->pointer, "outages", ITEM_CONFLICT,
                "give either failure or outages");
    for (size_t i = 0; i < in->outage_count; i++) {
        char member[64];

        snprintf(member, sizeof(member), "outages/%zu/up_s", i);
        if (in->outages[i].up_at_s < in->outages[i].down_at_s)
            mistake(p, g->pointer, member, ITEM_OUT_OF_BOUNDS,
                    "the failure ends before it begins");
        budget_step(&p->rq->budget, 4);
    }
}

static bool is_whole(double value)
{
    return value == floor(value);
}

static void note_amounts(struct cluster_playing *p, const struct cluster_group *g)
{
    struct cluster_site *s = &p->site;

    for (size_t i = 0; i < g->in->capacity_count; i++) {
        const struct named_value *v = &g->in->capacities[i];

        if (name_index_find(&s->shared_names, v->name) != NAME_NOT_FOUND)
            mistake(p, g->pointer, "capacities", ITEM_CONFLICT,
                    "a name is a capacity of nodes, or in shared_capacities, not both");
        if (name_index_find(&s->amounts, v->name) != NAME_NOT_FOUND)
            continue;
        if (s->amount_count == REPLAY_AMOUNTS_MAX) {
            mistake(p, g->pointer, "capacities", ITEM_TOO_MANY,
                    "all nodes together have more than 29 names of capacities");
            return;
        }
        name_index_add(&s->amounts, v->name, s->amount_count);
        s->amount_names[s->amount_count++] = v->name;
    }
}

static const int64_t *amounts_of(struct cluster_playing *p, const struct cluster_group *g)
{
    struct cluster_site *s = &p->site;
    const struct cluster_group_in *in = g->in;
    int64_t *units = NEW(p->a, int64_t, s->amount_count);

    units[REPLAY_CPUS] = cluster_units_down(in->cpus, s->cpu_units);
    if (units[REPLAY_CPUS] < 1)
        mistake(p, g->pointer, "cpus", ITEM_OUT_OF_BOUNDS, "not at least 0.001");
    units[CLUSTER_HOST_MEMORY] =
        isnan(in->memory_bytes) ? UNLIMITED : cluster_units_down(in->memory_bytes, 1);
    units[CLUSTER_HOST_DISK] =
        isnan(in->disk_bytes) ? UNLIMITED : cluster_units_down(in->disk_bytes, 1);
    for (size_t i = 0; i < in->capacity_count; i++) {
        size_t at = name_index_find(&s->amounts, in->capacities[i].name);

        if (at != NAME_NOT_FOUND)
            units[at] = cluster_units_down(in->capacities[i].number, NAMED_UNITS);
    }
    return units;
}

/* As kind grid calls them. */
static void name_group(struct cluster_playing *p, const struct cluster_site_in *site,
                       size_t index, struct cluster_group *g)
{
    g->first_number = 1;
    if (g->in->id) {
        g->id = g->in->id;
        g->first_number = g->in->number > 1;
    } else if (site) {
        g->id = index == 0 ? arena_printf(p->a, "%s-", site->id)
                           : arena_printf(p->a, "%s-%zu-", site->id, index + 1);
    } else {
        g->id = "";
        mistake(p, g->pointer, "id", ITEM_REQUIRED, "which name?");
    }
}

static void add_groups(struct cluster_playing *p, const struct cluster_site_in *site,
                       const struct cluster_group_in *list, size_t count, const char *at)
{
    struct cluster_site *s = &p->site;

    for (size_t i = 0; i < count; i++) {
        struct cluster_group *g = &s->groups[s->group_count];

        *g = (struct cluster_group){.in = &list[i],
                                    .pointer = arena_printf(p->a, "%s/%zu", at, i),
                                    .first = s->host_count};
        name_group(p, site, i, g);
        if (name_index_add(&s->group_names, g->id, s->group_count) != NAME_NOT_FOUND)
            mistake(p, g->pointer, "id", ITEM_DUPLICATE, "another group has this name");
        s->host_count += (size_t)list[i].number;
        s->largest_cpus = fmax(s->largest_cpus, list[i].cpus);
        if (!is_whole(list[i].cpus))
            s->cpu_units = 1000;
        note_amounts(p, g);
        check_outages(p, g);
        s->group_count++;
        budget_step(&p->rq->budget, 32);
    }
}

static void list_groups(struct cluster_playing *p)
{
    const struct cluster_simulation *body = p->body;
    struct cluster_site *s = &p->site;
    size_t count = body->cluster ? body->cluster->resource_count : 0;

    for (size_t i = 0; i < body->site_count; i++)
        count += body->sites[i].resource_count;
    s->groups = NEW(p->a, struct cluster_group, count);
    name_index_create(&s->group_names, count, p->a);
    for (size_t i = 0; i < body->site_count && !body->cluster; i++)
        add_groups(p, &body->sites[i], body->sites[i].resources,
                   body->sites[i].resource_count,
                   arena_printf(p->a, "/sites/%zu/resources", i));
    if (body->cluster)
        add_groups(p, NULL, body->cluster->resources, body->cluster->resource_count,
                   "/cluster/resources");
}

static void make_nodes(struct cluster_playing *p)
{
    struct cluster_site *s = &p->site;
    struct laws *laws = NEW(p->a, struct laws, 1);

    s->nodes = NEW(p->a, struct replay_nodes, s->group_count);
    for (size_t i = 0; i < s->group_count; i++) {
        const struct cluster_group_in *in = s->groups[i].in;

        s->nodes[i] = (struct replay_nodes){
            .count = (size_t)in->number,
            .amounts = amounts_of(p, &s->groups[i]),
            .speed = in->speed,
            .weight = in->weight,
            .burst = REPLAY_NONE,
            .expected_repair_ms =
                isnan(in->expected_repair_s) ? -1 : kernel_ms(in->expected_repair_s),
            .id = s->groups[i].id,
        };
        take_laws(p, laws, &s->groups[i], &s->nodes[i]);
        budget_step(&p->rq->budget, 32 + laws->count);
    }
}

static void make_bursts(struct cluster_playing *p)
{
    const struct cluster_simulation *body = p->body;
    struct cluster_site *s = &p->site;

    s->bursts = NEW(p->a, struct replay_burst, body->failure_group_count);
    for (size_t i = 0; i < body->failure_group_count; i++) {
        const struct sim_failure_group *b = &body->failure_groups[i].burst;

        s->bursts[i] = (struct replay_burst){.probability = b->burst_probability,
                                             .delay_s = b->burst_delay_s,
                                             .slowed = 1};
        if (p->err->code == OK) /* laws are prepared */
            s->bursts[i].slowed = cluster_burst_factor(p, i);
        budget_step(&p->rq->budget, s->group_count);
    }
}

/* ---- names of nodes ---- */

const char *cluster_host_name(const struct cluster_site *s, size_t host, struct arena *a)
{
    size_t low = 0, high = s->group_count;

    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;

        if (s->groups[middle].first <= host)
            low = middle;
        else
            high = middle;
    }
    if (s->groups[low].first_number == 0)
        return s->groups[low].id;
    return arena_printf(a, "%s%zu", s->groups[low].id, host - s->groups[low].first + 1);
}

/* The node "ID" or "IDn"; SIZE_MAX: there is none. */
static size_t find_host(struct cluster_playing *p, const char *name)
{
    const struct cluster_site *s = &p->site;
    size_t at = name_index_find(&s->group_names, name), length = strlen(name);

    if (at != NAME_NOT_FOUND && s->groups[at].first_number == 0)
        return s->groups[at].first;
    for (size_t i = length; i-- > 0 && name[i] >= '0' && name[i] <= '9';) {
        unsigned long long number = strtoull(name + i, NULL, 10);

        if (name[i] == '0' || length - i > 9)
            continue;
        at = name_index_find(&s->group_names, arena_text(p->a, name, i));
        if (at != NAME_NOT_FOUND && s->groups[at].first_number == 1 &&
            number <= s->groups[at].in->number)
            return s->groups[at].first + (size_t)number - 1;
    }
    return SIZE_MAX;
}

/* A node that is alone must not be called as one of several. */
static void check_names(struct cluster_playing *p)
{
    const struct cluster_site *s = &p->site;

    for (size_t i = 0; i < s->group_count; i++) {
        const struct cluster_group *g = &s->groups[i];
        size_t length = strlen(g->id);
        bool ends_in_digit =
            length && g->id[length - 1] >= '0' && g->id[length - 1] <= '9';

        for (size_t k = length; ends_in_digit && g->first_number == 0 && k-- > 1;) {
            size_t at = name_index_find(&s->group_names, arena_text(p->a, g->id, k));

            if (g->id[k] < '0' || g->id[k] > '9' || length - k > 9)
                break;
            if (at == NAME_NOT_FOUND || s->groups[at].first_number == 0 ||
                g->id[k] == '0' ||
                strtoull(g->id + k, NULL, 10) > s->groups[at].in->number)
                continue;
            mistake(p, g->pointer, "id", ITEM_DUPLICATE,
                    "a node of another group has this name");
            break;
        }
        budget_step(&p->rq->budget, 32);
    }
}

/* ---- partitions and reservations ---- */

static void add_named(struct cluster_playing *p, const char *name, const char *pointer,
                      uint64_t *set)
{
    const struct cluster_site *s = &p->site;
    size_t at = name_index_find(&s->group_names, name), host;

    if (at != NAME_NOT_FOUND) {
        for (size_t i = 0; i < s->groups[at].in->number; i++)
            cluster_set_add(set, s->groups[at].first + i);
        budget_step(&p->rq->budget, (size_t)s->groups[at].in->number);
        return;
    }
    host = find_host(p, name);
    if (host == SIZE_MAX)
        invalid(p->err, pointer, ITEM_UNKNOWN_ID, "no node or group is called '%.80s'",
                name);
    else
        cluster_set_add(set, host);
    budget_step(&p->rq->budget, 16);
}

static const uint64_t *set_of(struct cluster_playing *p, const char *const *ids,
                              size_t count, bool all, const char *pointer)
{
    uint64_t *set = NEW(p->a, uint64_t, cluster_words(p->site.host_count));
    char here[POINTER_BYTES];

    for (size_t i = 0; all && i < p->site.host_count; i++)
        cluster_set_add(set, i);
    budget_step(&p->rq->budget, p->site.host_count / 16 + 1);
    for (size_t i = 0; ids && i < count; i++) {
        snprintf(here, sizeof(here), "%s/resource_ids/%zu", pointer, i);
        add_named(p, ids[i], here, set);
    }
    return set;
}

static void make_sets(struct cluster_playing *p)
{
    struct cluster_site *s = &p->site;
    const struct cluster_world_in *w = s->with;

    s->sets = NEW(p->a, struct replay_set, w->partition_count + w->reservation_count);
    s->reservations = NEW(p->a, struct replay_reservation, w->reservation_count);
    name_index_create(&s->partitions, w->partition_count, p->a);
    for (size_t i = 0; i < w->partition_count; i++) {
        const struct partition *x = &w->partitions[i];
        const char *at = arena_printf(p->a, "%s/partitions/%zu", s->with_at, i);

        name_index_add(&s->partitions, x->id, i);
        s->sets[i].tier = x->priority_tier;
        s->sets[i].nodes =
            set_of(p, x->resource_ids, x->resource_id_count, !x->resource_ids, at);
        if (x->is_default && s->default_partition >= 0)
            mistake(p, at, "default", ITEM_CONFLICT, "another one is the default");
        if (x->is_default)
            s->default_partition = (ptrdiff_t)i;
    }
    for (size_t i = 0; i < w->reservation_count; i++) {
        const struct cluster_reserved_in *r = &w->reservations[i];
        const char *at = arena_printf(p->a, "%s/reservations/%zu", s->with_at, i);
        size_t set = w->partition_count + i;

        s->sets[set].nodes = set_of(p, r->resource_ids, r->resource_id_count, false, at);
        if (r->end_s <= r->start_s)
            mistake(p, at, "end_s", ITEM_OUT_OF_BOUNDS, "not after start_s");
        s->reservations[i] = (struct replay_reservation){
            (uint32_t)set, kernel_ms(r->start_s), kernel_ms(r->end_s)};
    }
    s->set_count = w->partition_count + w->reservation_count;
    s->reservation_count = w->reservation_count;
}

/* ---- outages ---- */

static int by_node(const void *left, const void *right)
{
    const struct replay_outage *l = left, *r = right;

    if (l->node != r->node)
        return l->node < r->node ? -1 : 1;
    return (l->down_ms > r->down_ms) - (l->down_ms < r->down_ms);
}

/* Those of a node that meet are one. */
static size_t join_outages(struct replay_outage *list, size_t count, struct budget *b)
{
    size_t kept = 0;

    if (count)
        qsort(list, count, sizeof(*list), by_node);
    for (size_t i = 0; i < count; i++) {
        struct replay_outage *last = kept ? &list[kept - 1] : NULL;

        if (last && last->node == list[i].node && list[i].down_ms <= last->up_ms)
            last->up_ms = list[i].up_ms > last->up_ms ? list[i].up_ms : last->up_ms;
        else
            list[kept++] = list[i];
        budget_step(b, 16);
    }
    return kept;
}

static struct replay_outage outage_of(size_t node, const struct failure_interval *f)
{
    return (struct replay_outage){(uint32_t)node, kernel_ms(f->down_at_s),
                                  isnan(f->up_at_s) ? REPLAY_NEVER
                                                    : kernel_ms(f->up_at_s)};
}

static void make_outages(struct cluster_playing *p)
{
    struct cluster_site *s = &p->site;
    size_t count = 0;

    for (size_t i = 0; i < s->group_count; i++)
        count += s->groups[i].in->outage_count;
    s->outages = NEW(p->a, struct replay_outage, count);
    for (size_t i = 0; i < s->group_count; i++)
        for (size_t k = 0; k < s->groups[i].in->outage_count; k++) {
            s->outages[s->outage_count++] =
                outage_of(s->groups[i].first, &s->groups[i].in->outages[k]);
            budget_step(&p->rq->budget, 4);
        }
    s->outage_count = join_outages(s->outages, s->outage_count, &p->rq->budget);
}

/* ---- uploaded failures ---- */

struct named_host {
    const char *name;
    size_t host;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct named_host *)left)->name,
                  ((const struct named_host *)right)->name);
}

static struct named_host *names_of(struct cluster_playing *p)
{
    struct named_host *list = NEW(p->a, struct named_host, p->site.host_count);

    for (size_t i = 0; i < p->site.host_count; i++) {
        list[i] = (struct named_host){cluster_host_name(&p->site, i, p->a), i};
        budget_step(&p->rq->budget, 64);
    }
    qsort(list, p->site.host_count, sizeof(*list), by_name);
    return list;
}

enum error_code cluster_site_trace(struct cluster_playing *p)
{
    struct cluster_site *s = &p->site;
    struct simulation_trace trace;
    struct named_host *names;
    bool by_their_names = false;
    size_t used = 0;

    if (!p->body->failure_trace_id)
        return OK;
    TRY(simulation_trace_read(&p->shim, &trace));
    names = names_of(p);
    s->outages = NEW(p->a, struct replay_outage, trace.outage_count);
    s->outage_count = 0;
    s->draws = false;
    for (size_t i = 0; i < s->group_count; i++) {
        s->nodes[i].failure = s->nodes[i].restore = NULL;
        s->nodes[i].burst = REPLAY_NONE;
    }
    for (size_t i = 0; i < s->host_count && !by_their_names; i++)
        by_their_names = name_index_find(&trace.by_name, names[i].name) != NAME_NOT_FOUND;
    for (size_t i = 0; i < s->host_count; i++) {
        size_t node = by_their_names ? name_index_find(&trace.by_name, names[i].name) : i;

        if (node >= trace.node_count)
            continue;
        used++;
        for (size_t k = 0; k < trace.nodes[node].count; k++)
            s->outages[s->outage_count++] =
                outage_of(names[i].host, &trace.outages[trace.nodes[node].first + k]);
        budget_step(&p->rq->budget, 16 + 8 * trace.nodes[node].count);
    }
    s->outage_count = join_outages(s->outages, s->outage_count, &p->rq->budget);
    if (used < s->host_count || used < trace.node_count)
        TRY(decision_warn(
            p->rq, &p->answer->decision,
            "failure_trace: %zu of %s %s, by %s; %zu of %s of the trace %s "
            "used",
            used, counted(s->host_count, "node").text, plural(used, "fails", "fail"),
            by_their_names ? "their names" : "the order of names", used,
            counted(trace.node_count, "resource").text, plural(used, "is", "are")));
    return OK;
}

/* ---- all together ---- */

static void check_members(struct cluster_playing *p)
{
    const struct cluster_simulation *body = p->body;
    const struct {
        bool given;
        const char *pointer;
    } others[] = {{body->site_count, "/sites"},
                  {body->world.shared_capacity_count, "/shared_capacities"},
                  {body->world.partition_count, "/partitions"},
                  {body->world.reservation_count, "/reservations"}};

    for (size_t i = 0; body->cluster && i < sizeof(others) / sizeof(*others); i++)
        if (others[i].given)
            invalid(p->err, others[i].pointer, ITEM_CONFLICT,
                    "cluster says it: give either");
    p->site.with = body->cluster ? body->cluster : &body->world;
    p->site.with_at = body->cluster ? "/cluster" : "";
    p->site.groups_at = body->cluster ? "/cluster/resources" : "/sites";
}

static void check_size(struct cluster_playing *p)
{
    size_t most = (size_t)p->rq->service->config->simulation_resources_max;
    struct cluster_site *s = &p->site;

    if (s->host_count == 0)
        invalid(p->err, s->groups_at, ITEM_REQUIRED,
                "there are no nodes: give sites with resources, or a cluster");
    else if (s->host_count > most)
        invalid(p->err, s->groups_at, ITEM_TOO_LONG,
                "%zu nodes are more than %zu, the setting simulation_resources_max",
                s->host_count, most);
}

static void take_shared(struct cluster_playing *p)
{
    struct cluster_site *s = &p->site;
    const struct cluster_world_in *w = s->with;

    name_index_create(&s->amounts, REPLAY_AMOUNTS_MAX, p->a);
    name_index_create(&s->shared_names, w->shared_capacity_count, p->a);
    s->shared = NEW(p->a, int64_t, w->shared_capacity_count);
    s->amount_count = CLUSTER_HOST_NAMED;
    s->cpu_units = 1;
    s->default_partition = -1;
    for (size_t i = 0; i < w->shared_capacity_count; i++) {
        name_index_add(&s->shared_names, w->shared_capacities[i].name, i);
        s->shared[i] = cluster_units_down(w->shared_capacities[i].number, NAMED_UNITS);
    }
    name_index_create(&s->failure_groups, p->body->failure_group_count, p->a);
    for (size_t i = 0; i < p->body->failure_group_count; i++)
        name_index_add(&s->failure_groups, p->body->failure_groups[i].id, i);
}

/* Cpus of jobs that are not whole make units smaller. */
static void look_at_jobs(struct cluster_playing *p)
{
    const struct cluster_simulation *body = p->body;

    if (!isnan(body->job_defaults.cpus) && !is_whole(body->job_defaults.cpus))
        p->site.cpu_units = 1000;
    for (size_t i = 0; i < body->job_count && p->site.cpu_units < 2; i++) {
        if (!isnan(body->jobs[i].cpus) && !is_whole(body->jobs[i].cpus))
            p->site.cpu_units = 1000;
        budget_step(&p->rq->budget, 2);
    }
}

void cluster_site_bind(struct cluster_playing *p)
{
    check_members(p);
    take_shared(p);
    list_groups(p);
    check_size(p);
    check_names(p);
    look_at_jobs(p);
    make_nodes(p);
    make_bursts(p);
    make_sets(p);
    make_outages(p);
}
