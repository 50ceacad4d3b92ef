/* plan_costs.c - what moving a multi-phase application costs.
 *
 * For each pair of sites, and inside each, in this order: the cost that the request
 * gives; that of the checkpoint's way, if sizes and bandwidths are given; the running
 * mean of the moves that were reported for the pair; 120 s inside a site, 300 s between
 * two.
 *
 * Source: spec rescheduling-plans.md 2.2, 7.2, 9.
 */
#include "handlers/rescheduling/plan_parts.h"

#include "algorithms/plan/cost.h"
#include "models/base/pointer.h"
#include "service/service.h"
#include "service/store_reschedule.h"

#include <string.h>

const char *const plan_cost_names[] = {"fixed", "modelled", "learnt", "default", NULL};

#define KEPT "move_costs"

/* ---- what is learnt ---- */

struct learnt {
    const char *from_site_id, *to_site_id;
    uint64_t event_count;
    double mean_cost_s;
};

struct kept {
    bool unavailable;
    const struct learnt *costs;
    size_t cost_count;
};

#define T struct learnt
static const struct json_field learnt_rows[] = {
    JSON_TEXT(T, from_site_id, JSON_REQUIRED, "The site that is left"),
    JSON_TEXT(T, to_site_id, JSON_REQUIRED, "The site that is entered"),
    JSON_INTEGER(T, event_count, 0, JSON_EXACT, 0, JSON_REQUIRED, "Reported moves"),
    JSON_NUMBER(T, mean_cost_s, 0, JSON_LARGEST, 0, JSON_REQUIRED, "Mean cost"),
    {0},
};
#undef T
static const struct json_object learnt_json = {"KeptMoveCost",
                                               "What moves between two sites had cost",
                                               sizeof(struct learnt), learnt_rows};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_BOOLEAN(T, unavailable, 0, 0, "The stored costs could not be read"),
    JSON_LIST(T, costs, cost_count, struct learnt, &learnt_json, 0, 0,
              "Pairs of sites of which moves were reported"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptMoveCosts", "The costs of a decision",
                                             sizeof(struct kept), kept_rows};

static enum error_code query(struct plan_call *call, struct kept *kept)
{
    struct request *rq = call->rq;
    struct text_buffer ids = {.arena = rq->arena};
    const struct store_move_cost *rows;
    struct learnt *list;
    struct db_session *db;
    size_t count;

    for (size_t s = 0; s < call->in.site_count; s++) {
        text_add(&ids, s ? "," : "[", 1);
        json_print_text(call->given[s].site.id, &ids);
    }
    text_add(&ids, "]", 2); /* with the NUL */
    TRY(request_db(rq, &db));
    TRY(store_move_costs(db, rq->principal.tenant, text_end(&ids), &rows, &count,
                         rq->arena, rq->err));
    list = NEW(rq->arena, struct learnt, count);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct learnt){call->given[rows[i].from].site.id,
                                  call->given[rows[i].to].site.id, rows[i].event_count,
                                  rows[i].mean_cost_s};
    *kept = (struct kept){false, list, count};
    return OK;
}

static enum error_code look_up(struct plan_call *call, struct kept *kept)
{
    struct request *rq = call->rq;
    struct error before = *rq->err;
    enum error_code code;
    bool replayed;

    TRY(decision_lookup(rq, KEPT, &kept_json, kept, &replayed));
    if (replayed)
        return OK;
    code = query(call, kept);
    if (code == ERR_UNAVAILABLE || code == ERR_BUSY) {
        *rq->err = before;
        *kept = (struct kept){.unavailable = true};
    } else if (code != OK) {
        return code;
    }
    return decision_keep_lookup(rq, KEPT, &kept_json, kept);
}

/* ---- costs ---- */

/* Bandwidth from site to site by the routes into between[from * sites + to]; NAN: no
 * route. A route serves both directions unless the other one is listed too. Unknown
 * sites are mistakes of a request; a stored snapshot may have routes to any. */
static enum error_code read_routes(struct plan_call *call, double *between)
{
    size_t n = call->in.site_count;

    for (size_t i = 0; i < n * n; i++)
        between[i] = NAN;
    for (size_t i = 0; i < 2 * call->route_count; i++) {
        size_t place = i % call->route_count;
        const struct network_route *r = &call->routes[place];
        size_t from = plan_site_named(call, r->from_site_id);
        size_t to = plan_site_named(call, r->to_site_id);
        bool first_pass = i == place;

        if (from == SIZE_MAX || to == SIZE_MAX) {
            const char *pointer =
                pointer_keep("/snapshot/routes", place, NULL, call->rq->arena);

            if (first_pass && call->body->snapshot)
                invalid(call->rq->err, pointer, ITEM_UNKNOWN_ID,
                        "there is no site '%.100s'",
                        from == SIZE_MAX ? r->from_site_id : r->to_site_id);
        } else if (first_pass) {
            between[from * n + to] = r->bandwidth_mbps;
        } else if (isnan(between[to * n + from])) {
            between[to * n + from] = r->bandwidth_mbps;
        }
    }
    return OK;
}

static double *cost_at(struct plan_call *call, size_t from, size_t to)
{
    return from == to ? &call->sites[from].intra_cost_s
                      : &call->inter_cost_s[from * call->in.site_count + to];
}

/* What is given goes before what is worked out. */
static void cost_of_pair(struct plan_call *call, size_t from, size_t to,
                         const double *between)
{
    const struct plan_site_request *old = &call->given[from];
    const struct plan_site_request *new = &call->given[to];
    size_t n = call->in.site_count;
    struct plan_move move = {
        .checkpoint_bytes = call->job->checkpoint_bytes,
        .old_mbps = old->checkpoint_bandwidth_mbps,
        .new_mbps = new->checkpoint_bandwidth_mbps,
        .between_mbps = between[from * n + to],
        .stop_s = old->stop_s,
        .launch_s = new->launch_s,
        .redistribution_factor = call->option[PLAN_REDISTRIBUTION],
    };
    double worked_s = from == to ? plan_intra_cost_s(&move) : plan_inter_cost_s(&move);
    double given_s = from == to ? old->intra_site_cost_s : call->option[PLAN_INTER_COST];
    struct plan_cost_basis *basis = &call->basis[from * n + to];
    double *cost_s = cost_at(call, from, to);

    if (!isnan(given_s)) {
        *cost_s = given_s;
        basis->name = plan_cost_names[PLAN_COST_FIXED];
    } else if (!isnan(worked_s)) {
        *cost_s = fmin(worked_s, 1e100);
        basis->name = plan_cost_names[PLAN_COST_MODELLED];
    } else {
        *cost_s = from == to ? PLAN_INTRA_COST_S : PLAN_INTER_COST_S;
        basis->name = plan_cost_names[PLAN_COST_DEFAULT];
    }
}

enum error_code plan_costs_make(struct plan_call *call)
{
    size_t n = call->in.site_count;
    double *between = NEW(call->rq->arena, double, n *n);

    TRY(read_routes(call, between));
    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++)
            cost_of_pair(call, from, to, between);
    return OK;
}

enum error_code plan_costs_learn(struct plan_call *call)
{
    size_t n = call->in.site_count, assumed = 0;
    struct kept kept = {0};

    for (size_t i = 0; i < n * n; i++)
        assumed += strcmp(call->basis[i].name, "default") == 0;
    if (assumed == 0 || !(call->rq->service->db || call->rq->replay))
        return OK;
    TRY(look_up(call, &kept));
    for (size_t i = 0; i < kept.cost_count; i++) {
        const struct learnt *l = &kept.costs[i];
        size_t from = plan_site_named(call, l->from_site_id);
        size_t to = plan_site_named(call, l->to_site_id);

        if (from == SIZE_MAX || to == SIZE_MAX ||
            strcmp(call->basis[from * n + to].name, "default") != 0)
            continue;
        *cost_at(call, from, to) = l->mean_cost_s;
        call->basis[from * n + to] =
            (struct plan_cost_basis){plan_cost_names[PLAN_COST_LEARNT], l->event_count};
    }
    return kept.unavailable
               ? plan_call_warn(call, "history_unavailable: the costs of reported moves "
                                      "cannot be read now; 120 and 300 s are assumed")
               : OK;
}
