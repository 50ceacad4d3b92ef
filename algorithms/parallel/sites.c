/* parallel/sites.c - the choice among several sites, and what a site gives a policy. */
#include "algorithms/parallel/sites.h"

#include "models/base/names.h"
#include "models/base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_HEAVY_RATIO 0.35 /* machines with no more count as heavily loaded (7.2) */

/* ---- machines ---- */

/* What is wrong with a member of a site; returns false. */
__attribute__((format(printf, 5, 6))) static bool
mistake(struct error *err, const char *pointer, const char *member, enum item_code code,
        const char *format, ...)
{
    char path[128], text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(path, sizeof(path), "%s%s", pointer, member);
    invalid(err, path, code, "%s", text);
    return false;
}

static bool is_usable(const struct site *site, const struct site_machine *m)
{
    double cpu = m->cpu_available_ratio;

    return site->kind == SITE_BATCH ? !(cpu <= 0) : cpu > 0;
}

/* The resources that can be used, and their cpu. On a batch site they are idle. */
static void choose_machines(const struct site *site, struct site_machines *out,
                            struct arena *a)
{
    size_t *resource = NEW(a, size_t, site->resource_count);
    double *cpu = NEW(a, double, site->resource_count);
    size_t n = 0;

    for (size_t i = 0; i < site->resource_count; i++) {
        double available = site->resources[i].cpu_available_ratio;

        if (!is_usable(site, &site->resources[i])) {
            out->unusable_count++;
            continue;
        }
        if (site->kind == SITE_BATCH)
            available = 1;
        if (available < PERF_CPU_LEAST_RATIO) {
            available = PERF_CPU_LEAST_RATIO;
            out->raised_cpu_count++;
        }
        resource[n] = i;
        cpu[n++] = available;
    }
    out->resource = resource;
    out->machines.cpu_available_ratio = cpu;
    out->machines.count = n;
}

/* ---- links ---- */

/* A bandwidth as the scores take it: unknown is none, little is at least some. */
static double usable_mbps(double bandwidth_mbps, size_t *raised_count)
{
    if (!(bandwidth_mbps > 0))
        return 0;
    if (bandwidth_mbps >= PERF_BW_LEAST_MBPS)
        return bandwidth_mbps;
    ++*raised_count;
    return PERF_BW_LEAST_MBPS;
}

static void set_link(double *links, size_t n, size_t i, size_t k, double bandwidth_mbps)
{
    links[i * n + k] = bandwidth_mbps;
    links[k * n + i] = bandwidth_mbps;
}

static bool check_triangle(const struct site *site, const char *pointer,
                           struct error *err)
{
    size_t n = site->resource_count, wanted = n > 0 ? n * (n - 1) / 2 : 0;

    if (site->links.bandwidth_count == wanted)
        return true;
    return mistake(err, pointer, "/links/bandwidth_mbps", ITEM_WRONG_LENGTH,
                   "%s %s %s, but there %s %s", counted(n, "resource").text,
                   plural(n, "has", "have"), counted(wanted, "pair").text,
                   plural(site->links.bandwidth_count, "is", "are"),
                   counted(site->links.bandwidth_count, "number").text);
}

static void link_triangle(const struct site *site, double *links,
                          struct site_machines *out)
{
    size_t n = out->machines.count, all = site->resource_count;

    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            size_t row = out->resource[i], column = out->resource[k];
            size_t at = row * all - row * (row + 1) / 2 + column - row - 1;

            set_link(
                links, n, i, k,
                usable_mbps(site->links.bandwidth_mbps[at], &out->raised_link_count));
        }
}

static bool check_uplinks(const struct site *site, const char *pointer, struct error *err)
{
    for (size_t i = 0; i < site->resource_count; i++) {
        char member[64];

        if (!isnan(site->resources[i].uplink_mbps))
            continue;
        snprintf(member, sizeof(member), "/resources/%zu/uplink_mbps", i);
        mistake(err, pointer, member, ITEM_REQUIRED,
                "links of the form uplinks need the uplink of every resource");
    }
    return err->code == OK;
}

static enum error_code link_uplinks(const struct site *site, double *links,
                                    struct site_machines *out, struct arena *a)
{
    size_t n = out->machines.count;
    double *uplink = NEW(a, double, n);

    for (size_t i = 0; i < n; i++)
        uplink[i] = usable_mbps(site->resources[out->resource[i]].uplink_mbps,
                                &out->raised_link_count);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            set_link(links, n, i, k, fmin(uplink[i], uplink[k]));
    out->machines.uplink_mbps = uplink;
    return OK;
}

/* Finds an end of an override among the resources. */
static size_t find_end(const struct name_index *names, const char *id,
                       const char *pointer, size_t i, const char *member,
                       struct error *err)
{
    size_t place = name_index_find(names, id);
    char path[64];

    snprintf(path, sizeof(path), "/links/overrides/%zu/%s", i, member);
    if (place == NAME_NOT_FOUND)
        mistake(err, pointer, path, ITEM_UNKNOWN_ID, "the site has no resource '%.100s'",
                id);
    return place;
}

static void link_override(const struct site *site, const struct name_index *names,
                          const char *pointer, size_t i, const size_t *machine,
                          double *links, struct site_machines *out, struct error *err)
{
    const struct site_link *link = &site->links.overrides[i];
    size_t n = out->machines.count;
    size_t one = find_end(names, link->resource_id, pointer, i, "resource_id", err);
    size_t other = find_end(names, link->peer_id, pointer, i, "peer_id", err);
    char path[64];

    if (one == NAME_NOT_FOUND || other == NAME_NOT_FOUND)
        return;
    if (one == other) {
        snprintf(path, sizeof(path), "/links/overrides/%zu/peer_id", i);
        mistake(err, pointer, path, ITEM_CONFLICT, "a link needs two resources");
        return;
    }
    if (machine[one] < n && machine[other] < n)
        set_link(links, n, machine[one], machine[other],
                 usable_mbps(link->bandwidth_mbps, &out->raised_link_count));
}

static void link_default(const struct site *site, const char *pointer, double *links,
                         struct site_machines *out, struct arena *a, struct error *err)
{
    size_t n = out->machines.count;
    size_t *machine = NEW(a, size_t, site->resource_count);
    size_t raised_count = 0;
    double usual = usable_mbps(site->links.default_mbps, &raised_count);
    struct name_index names;

    name_index_create(&names, site->resource_count, a);
    for (size_t i = 0; i < site->resource_count; i++) {
        name_index_add(&names, site->resources[i].id, i);
        machine[i] = SIZE_MAX;
    }
    for (size_t i = 0; i < n; i++)
        machine[out->resource[i]] = i;
    for (size_t i = 0; i < n * n; i++)
        links[i] = usual;
    if (raised_count > 0 && n > 1)
        out->raised_link_count += n * (n - 1) / 2;
    for (size_t i = 0; i < site->links.override_count; i++)
        link_override(site, &names, pointer, i, machine, links, out, err);
}

static enum error_code make_links(const struct site *site, const char *pointer,
                                  double *links, struct site_machines *out,
                                  struct arena *a, struct error *err)
{
    switch (site->links.form) {
    case SITE_LINKS_UPPER_TRIANGLE:
        if (check_triangle(site, pointer, err))
            link_triangle(site, links, out);
        return OK;
    case SITE_LINKS_UPLINKS:
        return check_uplinks(site, pointer, err) ? link_uplinks(site, links, out, a) : OK;
    default:
        link_default(site, pointer, links, out, a, err);
        return OK;
    }
}

/* The greatest link, when the site does not say what its links can carry. */
static double greatest_link(const struct parallel_machines *m)
{
    double greatest = 0;

    for (size_t i = 0; i < m->count; i++)
        for (size_t k = i + 1; k < m->count; k++)
            greatest = fmax(greatest, m->bandwidth_mbps[i * m->count + k]);
    return greatest > 0 ? greatest : 1;
}

/* ---- queue ---- */

/* Past waits with the same number of machines. */
struct waits {
    double processors, sum_s, count;
};

static int by_processors(const void *left, const void *right)
{
    const struct waits *l = left, *r = right;

    return l->processors < r->processors ? -1 : l->processors > r->processors;
}

/* The history by rising numbers of machines. */
static void sum_waits(const struct site *site, struct waits **waits, size_t *count,
                      struct arena *a)
{
    struct waits *list = NEW(a, struct waits, site->wait_count);

    for (size_t i = 0; i < site->wait_count; i++)
        list[i] = (struct waits){site->queue_wait_history[i].processors,
                                 site->queue_wait_history[i].wait_s, 1};
    qsort(list, site->wait_count, sizeof(*list), by_processors);
    *count = 0;
    for (size_t i = 0; i < site->wait_count; i++) {
        if (*count == 0 || list[i].processors != list[*count - 1].processors) {
            list[(*count)++] = list[i];
            continue;
        }
        list[*count - 1].sum_s += list[i].sum_s;
        list[*count - 1].count++;
    }
    *waits = list;
}

/* W(P): the mean of those with P machines, or of the nearest number; ties in distance:
 * the larger number, to be cautious. */
static void make_waits(const struct site *site, struct site_machines *out,
                       struct arena *a)
{
    size_t n = out->machines.count, count = 0, at = 0;
    double *wait_s = NEW(a, double, n + 1);
    struct waits *waits = NULL;

    sum_waits(site, &waits, &count, a);
    for (size_t p = 1; p <= n && count > 0; p++) {
        while (at + 1 < count && fabs(waits[at + 1].processors - (double)p) <=
                                     fabs(waits[at].processors - (double)p))
            at++;
        wait_s[p] = waits[at].sum_s / waits[at].count;
    }
    out->queue_wait_s = wait_s;
    out->queue_wait_known = count > 0;
}

enum error_code site_machines_make(const struct site *site, const char *pointer,
                                   struct site_machines *out, struct arena *a,
                                   struct error *err)
{
    size_t n;
    double *links;

    *out = (struct site_machines){0};
    choose_machines(site, out, a);
    n = out->machines.count;
    links = NEW(a, double, n *n);
    TRY(make_links(site, pointer, links, out, a, err));
    out->machines.bandwidth_mbps = links;
    out->machines.link_capacity_mbps = site->link_capacity_mbps;
    if (!(out->machines.link_capacity_mbps > 0))
        out->machines.link_capacity_mbps = greatest_link(&out->machines);
    if (site->kind == SITE_BATCH)
        make_waits(site, out, a);
    return err->code;
}

enum error_code site_scale_model(const struct site *site, const struct perf_terms *model,
                                 struct perf_terms *scaled, struct arena *a)
{
    struct perf_term *terms = NEW(a, struct perf_term, model->term_count);

    for (size_t i = 0; i < model->term_count; i++) {
        terms[i] = model->terms[i];
        terms[i].comp_s *= site->cpu_scaling_factor;
        terms[i].comm *= site->bandwidth_scaling_factor;
    }
    *scaled = (struct perf_terms){terms, model->term_count,
                                  model->single_s * site->cpu_scaling_factor};
    return OK;
}

double site_weight(const struct site *site, const struct site_machines *machines)
{
    const struct parallel_machines *m = &machines->machines;
    size_t strong = 0;

    for (size_t i = 0; i < m->count; i++)
        strong += m->cpu_available_ratio[i] > CPU_HEAVY_RATIO;
    return (double)strong / site->cpu_scaling_factor;
}

/* ---- several sites ---- */

static struct parallel_in input_of(const struct sites_in *in, size_t k,
                                   struct budget *budget, double known_s)
{
    const struct sites_problem *p = &in->sites[k];

    return (struct parallel_in){
        .machines = &p->machines.machines,
        .model = p->model,
        .min_procs = in->min_processors,
        .queue_wait_s = p->machines.queue_wait_s,
        .pre_evaluate = in->param[PARALLEL_PRE_EVALUATE] != 0,
        .perturbation_ratio = in->param[PARALLEL_PERTURBATION],
        .work_budget = in->param[PARALLEL_WORK_BUDGET],
        .budget = budget,
        .known_s = known_s,
        .seed = in->seed,
        .site_id = p->site->id,
    };
}

static enum error_code decide_site(const struct sites_in *in, size_t k, double known_s,
                                   struct parallel_out *out, struct arena *a,
                                   struct error *err)
{
    double used = budget_used(in->budget);
    struct budget budget = budget_part(
        in->budget, used, used + fmax(0, 1 - used) / (double)(in->site_count - k));
    struct parallel_in one = input_of(in, k, &budget, known_s);

    return parallel_decide(&one, in->policy, in->param + PARALLEL_COMMON_COUNT, out, a,
                           err);
}

/* A site without a model has no part in it. */
static struct parallel_out left_out(const struct sites_in *in)
{
    return (struct parallel_out){
        .algorithm = in->policy->name,
        .status = DECISION_INFEASIBLE,
        .score_s = HUGE_VAL,
        .time_s = HUGE_VAL,
        .min_bandwidth_mbps = NAN,
        .lower_bound_s = HUGE_VAL,
        .gap_ratio = NAN,
        .monotone = true,
    };
}

static void add(const struct parallel_out *one, size_t k, struct sites_out *out)
{
    out->evaluations += one->evaluations;
    out->iterations += one->iterations;
    out->work_units += one->work_units;
    out->invalid_count += one->invalid_count;
    out->stopped_early = out->stopped_early || one->stopped_early;
    out->perturbation_ignored = out->perturbation_ignored || one->perturbation_ignored;
    out->lower_bound_s = fmin(out->lower_bound_s, one->lower_bound_s);
    if (one->count > 0 &&
        (out->chosen == SIZE_MAX || one->score_s < out->each[out->chosen].score_s))
        out->chosen = k;
}

#define OPTIMAL_GAP 1e-12

/* Bound, gap and status of the whole. */
static void assess(struct sites_out *out)
{
    double score_s = out->chosen == SIZE_MAX ? HUGE_VAL : out->each[out->chosen].score_s;

    out->gap_ratio = NAN;
    if (out->chosen == SIZE_MAX) {
        out->status = out->lower_bound_s == HUGE_VAL ? DECISION_INFEASIBLE : DECISION_CUT;
        return;
    }
    if (out->lower_bound_s >= score_s * (1 - OPTIMAL_GAP)) {
        out->lower_bound_s = score_s;
        out->gap_ratio = 0;
        out->status = DECISION_OPTIMAL;
        out->stopped_early = false;
        return;
    }
    if (out->lower_bound_s > 0)
        out->gap_ratio = score_s / out->lower_bound_s - 1;
    out->status = out->stopped_early ? DECISION_CUT : DECISION_FEASIBLE;
}

static double heterogeneity(const struct sites_in *in)
{
    double least = HUGE_VAL, greatest = 0;

    for (size_t k = 0; k < in->site_count; k++) {
        double weight = site_weight(in->sites[k].site, &in->sites[k].machines);

        if (in->sites[k].machines.machines.count == 0)
            continue;
        least = fmin(least, weight);
        greatest = fmax(greatest, weight);
    }
    return least > 0 && greatest > 0 ? greatest / least : (double)NAN;
}

enum error_code sites_decide(const struct sites_in *in, struct sites_out *out,
                             struct arena *a, struct error *err)
{
    struct parallel_out *each = NEW(a, struct parallel_out, in->site_count);
    struct sites_out x = {
        .each = each, .chosen = SIZE_MAX, .lower_bound_s = HUGE_VAL, .monotone = true};

    for (size_t k = 0; k < in->site_count; k++) {
        double known_s = x.chosen == SIZE_MAX ? 0 : each[x.chosen].score_s;

        each[k] = left_out(in);
        if (in->sites[k].model && in->sites[k].machines.machines.count > 0) {
            TRY(decide_site(in, k, known_s, &each[k], a, err));
            x.monotone = x.monotone && each[k].monotone;
        }
        add(&each[k], k, &x);
    }
    assess(&x);
    x.heterogeneity_ratio = heterogeneity(in);
    *out = x;
    return OK;
}

/* Gap and status of a site whose set is not its best any more. */
static void reassess(struct parallel_out *one)
{
    bool is_best = one->lower_bound_s >= one->score_s * (1 - OPTIMAL_GAP);

    if (one->status == DECISION_OPTIMAL && !is_best)
        one->status = DECISION_FEASIBLE;
    one->gap_ratio = is_best                  ? 0
                     : one->lower_bound_s > 0 ? one->score_s / one->lower_bound_s - 1
                                              : (double)NAN;
}

void sites_prefer_fewer(const struct sites_in *in, double tolerance,
                        struct sites_out *out, struct arena *a)
{
    struct parallel_out *each;
    double limit_s;
    size_t chosen = out->chosen;

    if (chosen == SIZE_MAX)
        return;
    limit_s = out->each[chosen].score_s * exp(tolerance);
    each = NEW(a, struct parallel_out, in->site_count);
    memcpy(each, out->each, in->site_count * sizeof(*each));
    for (size_t k = 0; k < in->site_count; k++) {
        struct parallel_in one = input_of(in, k, in->budget, 0);
        struct parallel_out fewer = each[k];
        size_t below = each[chosen].count;

        if (!in->sites[k].model)
            continue;
        /* as few as another site, for less time */
        if (k != chosen && each[chosen].score_s > each[k].score_s)
            below++;
        if (!parallel_fewer(&one, limit_s, below, &fewer, a) ||
            (fewer.count == each[chosen].count && fewer.score_s >= each[chosen].score_s))
            continue;
        each[k] = fewer;
        reassess(&each[k]);
        chosen = k;
    }
    out->each = each;
    out->chosen = chosen;
    assess(out);
}
