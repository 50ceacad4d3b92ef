/* simulation/check.c - whether a scenario can be played. */
#include "algorithms/simulation/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTER_SIZE = 128, MEMBER_SIZE = 64 };

struct check {
    struct sim_scenario *s;
    const char *pointer;
    struct arena *arena;
    struct error *err;
};

static void complain(const struct check *c, const char *member, const char *kind,
                     const char *text)
{
    char pointer[POINTER_SIZE];

    snprintf(pointer, sizeof(pointer), "%s/%s", c->pointer, member);
    invalid(c->err, pointer, kind, "%s", text);
}

static void check_between(const struct check *c, const char *member, double value,
                          double min, double max)
{
    char pointer[POINTER_SIZE];

    if (value >= min && value <= max)
        return;
    snprintf(pointer, sizeof(pointer), "%s/%s", c->pointer, member);
    invalid(c->err, pointer, "out_of_bounds", "%g is not between %g and %g", value, min,
            max);
}

static void check_distribution(const struct check *c, const char *member,
                               struct distribution *d, double least)
{
    char pointer[POINTER_SIZE];
    size_t before = c->err->item_count;

    snprintf(pointer, sizeof(pointer), "%s/%s", c->pointer, member);
    if (distribution_prepare(d, pointer, c->arena, c->err) != OK ||
        c->err->item_count != before)
        return;
    if (distribution_least(d) < least && d->kind != DISTRIBUTION_NORMAL)
        invalid(c->err, pointer, "out_of_bounds", "values must be at least %g", least);
}

/* ---- groups ---- */

static void check_outages(const struct check *c, const struct sim_trace *t)
{
    for (size_t i = 0; i < t->outage_count; i++) {
        const struct failure_interval *f = &t->outages[i];

        if (!isfinite(f->down_at_s) || f->up_at_s < f->down_at_s ||
            fabs(f->down_at_s) > SIM_TIME_MAX_S) {
            complain(c, "failure_trace", "out_of_bounds",
                     "an outage ends before it begins, or lies beyond all time");
            return;
        }
    }
}

static void check_load_trace(const struct check *c, const struct sim_trace *t)
{
    for (size_t i = 0; i < t->load_count; i++) {
        const struct sim_load_point *p = &t->load[i];

        if (!(p->at_s <= SIM_TIME_MAX_S) || !(p->mips_external >= 0) ||
            !isfinite(p->mips_external) || (i > 0 && p->at_s < p[-1].at_s)) {
            complain(c, "load_trace", "out_of_bounds",
                     "instants must ascend, and loads be at least 0");
            return;
        }
    }
}

static void check_load(const struct check *c, struct sim_load *load)
{
    check_between(c, "load/interval_s", load->interval_s, 0, SIM_TIME_MAX_S);
    if (!(load->interval_s > 0))
        return;
    if (load->interval_s < 1e-3)
        complain(c, "load/interval_s", "out_of_bounds", "must be 0.001 s or more");
    check_distribution(c, "load/change_percent", &load->change_percent, 0);
    check_distribution(c, "load/initial_fraction", &load->initial_fraction, 0);
}

static void check_failures(const struct check *c, struct sim_group *g)
{
    if (g->traces) {
        for (size_t i = 0; i < g->count; i++) {
            check_outages(c, &g->traces[i]);
            check_load_trace(c, &g->traces[i]);
        }
    } else if (g->fails) {
        check_distribution(c, "failure", &g->failure, 0);
        check_distribution(c, "restore", &g->restore, 0);
    }
    if (g->failure_group == SIM_NO_FAILURE_GROUP)
        return;
    if (g->failure_group >= c->s->failure_group_count)
        complain(c, "failure_group", "unknown", "there is no such failure group");
    else if (g->traces || !g->fails)
        complain(c, "failure_group", "conflict",
                 "members of a failure group need failure and restore");
}

static void check_group(const struct check *outer, struct sim_group *g)
{
    struct check c = *outer;

    c.pointer = g->pointer;
    if (g->count < 1 || g->count > 1000000)
        complain(&c, "number", "out_of_bounds", "must be between 1 and 1000000");
    if (g->n_max < 1)
        complain(&c, "n_max", "out_of_bounds", "must be at least 1");
    if (g->site >= c.s->site_count)
        complain(&c, "site_id", "unknown", "there is no such site");
    check_distribution(&c, "mips_total", &g->mips_total, 0);
    check_between(&c, "register_s", g->register_s, 0, SIM_TIME_MAX_S);
    check_failures(&c, g);
    if (!g->traces)
        check_load(&c, &g->load);
}

static enum error_code check_groups(const struct check *c)
{
    struct sim_group *groups = NEW(c->arena, struct sim_group, c->s->group_count);

    if (!groups)
        return fail_memory(c->err);
    if (c->s->group_count == 0)
        complain(c, "sites", "out_of_bounds", "there are no resources");
    for (size_t i = 0; i < c->s->group_count; i++) {
        groups[i] = c->s->groups[i];
        if (!groups[i].pointer)
            groups[i].pointer = arena_printf(c->arena, "%s/groups/%zu", c->pointer, i);
        if (!groups[i].pointer)
            return fail_memory(c->err);
        check_group(c, &groups[i]);
    }
    c->s->groups = groups;
    return OK;
}

static enum error_code check_names(const struct check *c)
{
    const struct sim_resource_name *names;
    size_t count;

    TRY(sim_resource_names(c->s, &names, &count, c->arena, c->err));
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1].id, names[i].id) == 0)
            invalid(c->err, c->s->groups[names[i].group].pointer, "duplicate",
                    "two resources are called '%s'", names[i].id);
    for (size_t i = 0; i < c->s->site_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(c->s->sites[i], c->s->sites[j]) == 0)
                invalid(c->err, c->pointer, "duplicate", "two sites are called '%s'",
                        c->s->sites[i]);
    return OK;
}

/* ---- the rest ---- */

static void check_network(const struct check *c)
{
    struct sim_network *n = &c->s->network;

    check_between(c, "network/latency_s", n->latency_s, 0, SIM_TIME_MAX_S);
    check_between(c, "network/lan_latency_s", n->lan_latency_s, 0, SIM_TIME_MAX_S);
    check_between(c, "network/bandwidth_mbps", n->bandwidth_mbps, 1e-9, 1e15);
    check_between(c, "network/lan_mbps", n->lan_mbps, 1e-9, 1e15);
    check_between(c, "network/wan_share_mbps", n->wan_share_mbps, 1e-9, HUGE_VAL);
    if (n->mode == SIM_NETWORK_SHARED)
        check_distribution(c, "network/wan_latency_s", &n->wan_latency_s, 0);
}

static void check_overhead(const struct check *c)
{
    const struct sim_overhead *o = &c->s->overhead;

    check_between(c, "overhead_s/is_query", o->is_query_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/prediction", o->prediction_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/scheduling", o->scheduling_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/rescheduling", o->rescheduling_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/dispatch", o->dispatch_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/rollback", o->rollback_s, 0, SIM_TIME_MAX_S);
}

/* A period of 0 has a meaning of its own; a very short one would never end. */
static void check_period(const struct check *c, const char *member, double value)
{
    check_between(c, member, value, 0, SIM_TIME_MAX_S);
    if (value > 0 && value < 1e-3)
        complain(c, member, "out_of_bounds", "must be 0, or 0.001 s or more");
}

static void check_bursts(const struct check *c)
{
    for (size_t i = 0; i < c->s->failure_group_count; i++) {
        const struct sim_failure_group *g = &c->s->failure_groups[i];
        char member[MEMBER_SIZE];

        snprintf(member, sizeof(member), "failure_groups/%zu/burst_probability", i);
        check_between(c, member, g->burst_probability, 0, 1);
        snprintf(member, sizeof(member), "failure_groups/%zu/burst_delay_s", i);
        check_between(c, member, g->burst_delay_s, 0, SIM_TIME_MAX_S);
    }
}

enum error_code sim_scenario_prepare(struct sim_scenario *s, const char *pointer,
                                     struct arena *a, struct error *err)
{
    struct check c = {s, pointer, a, err};
    size_t before = err->item_count;

    check_between(&c, "stop/time_s", s->stop_time_s, 1e-3, SIM_TIME_MAX_S);
    check_between(&c, "stable_after_s", s->stable_after_s, 0, SIM_TIME_MAX_S);
    check_between(&c, "warm_up_s", s->warm_up_s, 0, SIM_TIME_MAX_S);
    check_between(&c, "storage_bytes", s->storage_bytes, 0, 1e18);
    check_period(&c, "information_service/interval_s", s->is_interval_s);
    check_period(&c, "scheduler/interval_s", s->scheduler_interval_s);
    check_network(&c);
    check_overhead(&c);
    check_bursts(&c);
    TRY(check_groups(&c));
    if (err->item_count == before)
        TRY(check_names(&c));
    return err->item_count == before ? OK : err->code;
}
