/* coallocation_refine.c - what the stored past says of links and sites.
 *
 *     links          the forecast of the load samples from one site to another, in either
 *                    direction if the other has none, goes before the snapshot's links
 *     transfer_bias  reported transfers correct T for each link
 *     idle           load samples whose resource is a site: how often its share of idle
 *                    processors did not fall for the horizon; it breaks ties
 *
 * Latencies stay as they are given.
 */
#include "handlers/coallocation/coallocation_refine.h"

#include "handlers/prediction/loads.h"
#include "models/base/names.h"
#include "service/clock.h"
#include "service/store_claim.h"

#define KEPT "coallocation_history"

#define T    struct co_from_history
static const struct json_field from_history_rows[] = {
    JSON_BOOLEAN(
        T, links, 0, 0,
        "Bandwidths: the forecast of the load samples between sites (resource_id "
        "and to_resource_id are site ids) goes before links; default false"),
    JSON_BOOLEAN(T, transfer_bias, 0, 0,
                 "Transfer times: times the mean ratio of actual to estimated times of "
                 "the reported transfers (/v1/transfers) of the link; default false"),
    JSON_NUMBER(
        T, idle_horizon_s, 600, 1e7, NAN, JSON_NULLABLE,
        "Ties: by how likely the idle processors of a site stay idle for so long, "
        "from load samples whose resource_id is the site; default: by name"),
    JSON_NUMBER(T, window_s, 600, 31536000, 604800, 0,
                "How far to look back; default 604800"),
    JSON_NUMBER(T, prior_weight, 0, 1e6, 5, 0,
                "transfer_bias: few transfers are drawn towards all by the weight of so "
                "many; default 5"),
    JSON_INSTANT(T, at, JSON_NULLABLE, "Look back from here; default: now"),
    {0},
};
#undef T
const struct json_object co_from_history_json = {
    "CoallocationFromHistory", "What to take from the stored history",
    sizeof(struct co_from_history), from_history_rows};

#define T struct co_link_row
static const struct json_field link_rows[] = {
    JSON_TEXT(T, from_site_id, 0, "Site that sends"),
    JSON_TEXT(T, to_site_id, 0, "Site that receives"),
    JSON_NUMBER(T, bandwidth_mbps, 0, 0, 0, 0, "Forecast that was used"),
    JSON_INTEGER(T, bucket_count, 0, JSON_EXACT, 0, 0, "Averages of 600 s behind it"),
    {0},
};
#undef T
static const struct json_object link_json = {"CoallocationLinkBasis",
                                             "A link whose bandwidth was forecast",
                                             sizeof(struct co_link_row), link_rows};

#define T struct co_bias_row
static const struct json_field bias_rows[] = {
    JSON_TEXT(T, from_site_id, 0, "Site that sends"),
    JSON_TEXT(T, to_site_id, 0, "Site that receives"),
    JSON_NUMBER(T, factor, 0, 0, 0, 0, "Its transfers take so many times as long"),
    JSON_INTEGER(T, transfer_count, 0, JSON_EXACT, 0, 0, "Reported transfers behind it"),
    {0},
};
#undef T
static const struct json_object bias_json = {"CoallocationBiasBasis",
                                             "A link whose transfer times were corrected",
                                             sizeof(struct co_bias_row), bias_rows};

#define T struct co_idle_row
static const struct json_field idle_rows[] = {
    JSON_TEXT(T, site_id, 0, "The site"),
    JSON_NUMBER(T, stay_ratio, 0, 0, 0, 0, "How likely idle processors stay idle"),
    JSON_INTEGER(T, bucket_count, 0, JSON_EXACT, 0, 0, "Averages of 600 s behind it"),
    {0},
};
#undef T
static const struct json_object idle_json = {"CoallocationIdleBasis",
                                             "A site and its idle processors",
                                             sizeof(struct co_idle_row), idle_rows};

#define T struct co_history_basis
static const struct json_field basis_rows[] = {
    JSON_LIST(T, links, link_count, struct co_link_row, &link_json, 0, 0,
              "Links with a forecast"),
    JSON_LIST(T, transfer_biases, bias_count, struct co_bias_row, &bias_json, 0, 0,
              "Links with reported transfers; the others have the mean of these, drawn "
              "towards 1"),
    JSON_LIST(T, idle, idle_count, struct co_idle_row, &idle_json, 0, 0,
              "Sites with load samples; the others have the mean of these"),
    {0},
};
#undef T
const struct json_object co_history_basis_json = {
    "CoallocationHistoryBasis", "What was found in the history",
    sizeof(struct co_history_basis), basis_rows};

/* ---- what was looked up ---- */

struct kept_bias {
    const char *from_site_id, *to_site_id;
    double transfer_count, mean_log_ratio;
};

struct kept {
    bool unavailable;
    const struct kept_bias *biases;
    size_t bias_count;
};

#define T struct kept_bias
static const struct json_field kept_bias_rows[] = {
    JSON_ID(T, from_site_id, JSON_REQUIRED, "Site that sends"),
    JSON_ID(T, to_site_id, JSON_REQUIRED, "Site that receives"),
    JSON_NUMBER(T, transfer_count, 0, JSON_EXACT, 0, JSON_REQUIRED, "Its transfers"),
    JSON_NUMBER(T, mean_log_ratio, -JSON_LARGEST, JSON_LARGEST, 0, JSON_REQUIRED,
                "Mean of ln(actual / estimated)"),
    {0},
};
#undef T
static const struct json_object kept_bias_json = {
    "KeptLinkBias", "A link's transfers", sizeof(struct kept_bias), kept_bias_rows};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_BOOLEAN(T, unavailable, 0, 0, "The history could not be read"),
    JSON_LIST(T, biases, bias_count, struct kept_bias, &kept_bias_json, 0, 0,
              "Transfers of the links"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptCoallocationHistory",
                                             "The history of a decision",
                                             sizeof(struct kept), kept_rows};

struct refining {
    struct request *rq;
    const struct co_from_history *in;
    struct co_grid *grid;
    double at_s;
    struct kept kept;
    struct load_history_read loads;
    struct co_history_basis *basis;
};

static enum error_code query_biases(struct refining *r)
{
    const struct co_grid *grid = r->grid;
    struct text_buffer ids = {.arena = r->rq->arena};
    const struct store_link_bias *rows;
    struct kept_bias *list;
    struct db_session *db;
    size_t count;

    text_add(&ids, "[", 1);
    for (size_t s = 0; s < grid->site_count; s++) {
        if (s)
            text_add(&ids, ",", 1);
        json_print_text(grid->sites[s].id, &ids);
    }
    text_add(&ids, "]", 2); /* with the NUL */
    TRY(request_db(r->rq, &db));
    TRY(store_link_biases(db, r->rq->principal.tenant, text_end(&ids),
                          r->at_s - r->in->window_s, r->at_s, &rows, &count, r->rq->arena,
                          r->rq->err));
    list = NEW(r->rq->arena, struct kept_bias, count);
    for (size_t i = 0; i < count; i++)
        list[i] =
            (struct kept_bias){grid->sites[rows[i].from].id, grid->sites[rows[i].to].id,
                               (double)rows[i].transfer_count, rows[i].mean_log_ratio};
    r->kept.biases = list;
    r->kept.bias_count = count;
    return OK;
}

static bool wants_loads(const struct refining *r)
{
    return r->in->links || !isnan(r->in->idle_horizon_s);
}

static enum error_code read_loads(struct refining *r)
{
    const char **ids = NEW(r->rq->arena, const char *, r->grid->site_count);
    struct load_request question = {.resource_ids = ids,
                                    .resource_count = r->grid->site_count,
                                    .history_s = r->in->window_s,
                                    .at_s = r->at_s};

    for (size_t s = 0; s < r->grid->site_count; s++)
        ids[s] = r->grid->sites[s].id;
    return loads_read(r->rq, &question, &r->loads);
}

/* All that is asked for: of the database, or of a replay. */
static enum error_code look_up(struct refining *r)
{
    struct request *rq = r->rq;
    struct error before = *rq->err;
    enum error_code code = OK;
    bool replayed;

    TRY(decision_lookup(rq, KEPT, &kept_json, &r->kept, &replayed));
    if (replayed && r->kept.unavailable)
        return OK;
    r->at_s = isnan(r->in->at_s) ? clock_wall_s() : r->in->at_s;
    if (!replayed && r->in->transfer_bias)
        code = query_biases(r);
    if (code == OK && wants_loads(r))
        code = read_loads(r);
    if (code == ERR_UNAVAILABLE || code == ERR_BUSY) {
        *rq->err = before;
        r->kept = (struct kept){.unavailable = true};
        code = OK;
    }
    TRY(code);
    return replayed ? OK : decision_keep_lookup(rq, KEPT, &kept_json, &r->kept);
}

/* ---- links ---- */

static double forecast_of(const struct load_series *s)
{
    struct battery b = {0};

    for (size_t i = 0; i < s->bucket_count; i++)
        battery_add(&b, s->buckets[i].mean);
    return battery_forecast(&b).value;
}

/* The series of each pair of sites: [from * n + to]; NULL: none. */
static void series_of_pairs(struct refining *r, const struct load_series ***out)
{
    size_t n = r->grid->site_count;
    const struct load_series **of = NEW(r->rq->arena, const struct load_series *, n *n);

    for (size_t i = 0; i < r->loads.series_count; i++) {
        const struct load_series *s = &r->loads.series[i];
        size_t from = co_site_find(r->grid, s->resource_id);
        size_t to =
            s->to_resource_id ? co_site_find(r->grid, s->to_resource_id) : CO_NONE;

        if (from != CO_NONE && to != CO_NONE && from != to)
            of[from * n + to] = s;
    }
    *out = of;
}

static void use_links(struct refining *r)
{
    size_t n = r->grid->site_count, count = 0;
    const struct load_series **of = NULL;
    struct co_link_row *rows;

    series_of_pairs(r, &of);
    for (size_t i = 0; i < n * n; i++)
        count += of[i] || of[i % n * n + i / n];
    rows = NEW(r->rq->arena, struct co_link_row, count);
    for (size_t i = 0; i < n * n; i++) {
        const struct load_series *s = of[i] ? of[i] : of[i % n * n + i / n];
        double mbps = s ? forecast_of(s) : (double)NAN;

        if (!s || isnan(mbps))
            continue;
        r->grid->bandwidth_mbps[i] = fmax(0, mbps);
        rows[r->basis->link_count++] =
            (struct co_link_row){r->grid->sites[i / n].id, r->grid->sites[i % n].id,
                                 r->grid->bandwidth_mbps[i], s->bucket_count};
    }
    r->basis->links = rows;
}

/* ---- transfers ---- */

static void use_biases(struct refining *r)
{
    struct arena *a = r->rq->arena;
    size_t n = r->grid->site_count, count = 0;
    struct co_link_bias *list = NEW(a, struct co_link_bias, r->kept.bias_count);
    struct co_bias_row *rows = NEW(a, struct co_bias_row, r->kept.bias_count);
    double *before = NEW(a, double, n *n);

    for (size_t i = 0; i < r->kept.bias_count; i++) {
        const struct kept_bias *b = &r->kept.biases[i];
        size_t from = co_site_find(r->grid, b->from_site_id);
        size_t to = co_site_find(r->grid, b->to_site_id);

        if (from != CO_NONE && to != CO_NONE)
            list[count++] =
                (struct co_link_bias){from, to, b->transfer_count, b->mean_log_ratio};
    }
    for (size_t i = 0; i < n * n; i++)
        before[i] = r->grid->bandwidth_mbps[i];
    co_correct_links(r->grid, list, count, r->in->prior_weight, a);
    for (size_t i = 0; i < count; i++) {
        size_t link = list[i].from * n + list[i].to;

        if (before[link] > 0)
            rows[r->basis->bias_count++] = (struct co_bias_row){
                r->grid->sites[list[i].from].id, r->grid->sites[list[i].to].id,
                before[link] / r->grid->bandwidth_mbps[link], (uint64_t)list[i].count};
    }
    r->basis->transfer_biases = rows;
}

/* ---- idle processors ---- */

static void stay_ratio_of(struct refining *r, const struct load_series *s, double *ratio)
{
    double *at_s = NEW(r->rq->arena, double, s->bucket_count);
    double *value = NEW(r->rq->arena, double, s->bucket_count);

    for (size_t i = 0; i < s->bucket_count; i++) {
        at_s[i] = s->buckets[i].start_at_s;
        value[i] = s->buckets[i].mean;
    }
    *ratio = co_stay_ratio(at_s, value, s->bucket_count, r->in->idle_horizon_s);
}

static void use_idle(struct refining *r)
{
    size_t n = r->grid->site_count;
    double *stays = NEW(r->rq->arena, double, n), sum = 0;
    struct co_idle_row *rows = NEW(r->rq->arena, struct co_idle_row, n);

    for (size_t s = 0; s < n; s++)
        stays[s] = (double)NAN;
    for (size_t i = 0; i < r->loads.series_count; i++) {
        const struct load_series *s = &r->loads.series[i];
        size_t site = s->to_resource_id ? CO_NONE : co_site_find(r->grid, s->resource_id);
        double ratio = (double)NAN;

        if (site == CO_NONE || !isnan(stays[site]))
            continue;
        stay_ratio_of(r, s, &ratio);
        if (isnan(ratio))
            continue;
        stays[site] = ratio;
        sum += ratio;
        rows[r->basis->idle_count++] =
            (struct co_idle_row){r->grid->sites[site].id, ratio, s->bucket_count};
    }
    for (size_t s = 0; s < n; s++)
        if (isnan(stays[s]))
            stays[s] = r->basis->idle_count ? sum / (double)r->basis->idle_count : 0;
    r->grid->stays = stays;
    r->basis->idle = rows;
}

/* ---- all together ---- */

static bool found_nothing(const struct refining *r)
{
    const struct co_history_basis *b = r->basis;

    return b->link_count + b->bias_count + b->idle_count == 0;
}

enum error_code co_refine(struct request *rq, const struct co_from_history *in,
                          struct co_grid *grid, const struct co_history_basis **basis,
                          const char **warning)
{
    struct refining r = {.rq = rq, .in = in, .grid = grid};

    *warning = NULL;
    if (!in || (!in->links && !in->transfer_bias && isnan(in->idle_horizon_s)))
        return OK;
    r.basis = NEW(rq->arena, struct co_history_basis, 1);
    TRY(look_up(&r));
    *basis = r.basis;
    if (r.kept.unavailable) {
        *warning = "history_unavailable: the stored history cannot be read now; the "
                   "snapshot's own numbers are used";
        return OK;
    }
    if (in->links)
        use_links(&r);
    if (in->transfer_bias)
        use_biases(&r);
    if (!isnan(in->idle_horizon_s))
        use_idle(&r);
    if (found_nothing(&r))
        *warning = "no_history: nothing is stored of what from_history asks for; the "
                   "snapshot's own numbers are used";
    return OK;
}

void co_add_warning(const char *text, const char *const **list, size_t *count,
                    struct arena *a)
{
    const char **longer;

    if (!text)
        return;
    longer = NEW(a, const char *, *count + 1);
    for (size_t i = 0; i < *count; i++)
        longer[i] = (*list)[i];
    longer[(*count)++] = text;
    *list = longer;
}
