/* site_errors_threshold.c - how many errors in a row make a site unusable, from how often
 * components fail there. */
#include "handlers/site_history/site_errors_threshold.h"

#include "algorithms/coallocation/faults.h"
#include "handlers/common/decision.h"
#include "models/base/names.h"
#include "service/clock.h"
#include "service/store_claim.h"

#define KEPT "site_starts"

static const char *const bases[] = {"option", "history", NULL};
_Static_assert(sizeof(enum threshold_basis) == sizeof(int), "a choice is an int");

#define T struct threshold_request
static const struct json_field request_rows[] = {
    JSON_NUMBER(T, min_samples, 1, 1e9, 20, 0,
                "Components that must have been started on a site; default 20"),
    JSON_NUMBER(T, prior_weight, 0, 1e6, 10, 0,
                "Few of them are drawn towards those of all sites by the weight of so "
                "many; default 10"),
    JSON_NUMBER(T, window_s, 1, 315360000, 2592000, 0,
                "How far to look back; default 2592000"),
    JSON_NUMBER(T, broken_ratio, 1e-9, 0.999, 0.01, 0,
                "How likely a site is broken before it errs; default 0.01"),
    JSON_NUMBER(T, confidence, 1e-3, 0.999999, 0.95, 0,
                "How sure it must be that it is broken; default 0.95"),
    JSON_NUMBER(T, max_error_ratio, 0, 1, 0.5, 0,
                "A site that fails a larger share of its components as usual is unusable "
                "with its next error; default 0.5"),
    JSON_INSTANT(T, at, JSON_NULLABLE, "Look back from here; default: now"),
    {0},
};
#undef T
const struct json_object threshold_request_json = {
    "ErrorThresholdChoice", "How to find thresholds", sizeof(struct threshold_request),
    request_rows};

#define T struct site_threshold
static const struct json_field threshold_rows[] = {
    JSON_TEXT(T, site_id, 0, "The site"),
    JSON_INTEGER(T, error_threshold, 1, JSON_EXACT, 1, 0,
                 "Soft errors in a row that make it unusable"),
    JSON_CHOICE(T, basis, bases, 0, 0, "option: too little is known of the site"),
    JSON_INTEGER(T, samples, 0, JSON_EXACT, 0, 0,
                 "Components that were started there, as reported"),
    JSON_NUMBER(T, error_ratio, 0, 1, 0, JSON_MAY_BE_NULL,
                "Share of them that failed, the other sites considered; null: too few"),
    {0},
};
#undef T
const struct json_object site_threshold_json = {
    "SiteErrorThreshold", "When a site becomes unusable", sizeof(struct site_threshold),
    threshold_rows};

/* ---- what was looked up ---- */

struct kept_site {
    const char *site_id; /* NULL: all sites together */
    double error_count, start_count;
};

struct kept {
    bool unavailable;
    const struct kept_site *sites;
    size_t site_count;
};

#define T struct kept_site
static const struct json_field kept_site_rows[] = {
    JSON_TEXT(T, site_id, JSON_NULLABLE | JSON_OPTIONAL, "The site; none: all together"),
    JSON_NUMBER(T, error_count, 0, JSON_LARGEST, 0, JSON_REQUIRED, "Errors"),
    JSON_NUMBER(T, start_count, 0, JSON_LARGEST, 0, JSON_REQUIRED, "Good starts"),
    {0},
};
#undef T
static const struct json_object kept_site_json = {
    "KeptSiteStarts", "Errors and starts of a site", sizeof(struct kept_site),
    kept_site_rows};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_BOOLEAN(T, unavailable, 0, 0, "The reports could not be read"),
    JSON_LIST(T, sites, site_count, struct kept_site, &kept_site_json, 0, 0,
              "Errors and starts of sites"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptStarts", "The reports of a decision",
                                             sizeof(struct kept), kept_rows};

static enum error_code query(struct request *rq, const struct threshold_request *in,
                             const struct site_threshold *sites, size_t count,
                             struct kept *out)
{
    double at_s = isnan(in->at_s) ? clock_wall_s() : in->at_s;
    struct text_buffer ids = {.arena = rq->arena};
    const struct store_site_starts *rows;
    struct kept_site *list;
    struct db_session *db;

    text_add(&ids, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i)
            text_add(&ids, ",", 1);
        json_print_text(sites[i].site_id, &ids);
    }
    text_add(&ids, "]", 2); /* with the NUL */
    TRY(request_db(rq, &db));
    TRY(store_site_starts_find(db, rq->principal.tenant, text_end(&ids),
                               at_s - in->window_s, at_s, &rows, &out->site_count,
                               rq->arena, rq->err));
    list = NEW(rq->arena, struct kept_site, out->site_count);
    for (size_t i = 0; i < out->site_count; i++)
        list[i] = (struct kept_site){
            isnan(rows[i].site) ? NULL : sites[(size_t)rows[i].site].site_id,
            rows[i].error_count, rows[i].start_count};
    out->sites = list;
    return OK;
}

static enum error_code look_up(struct request *rq, const struct threshold_request *in,
                               const struct site_threshold *sites, size_t count,
                               struct kept *out)
{
    struct error before = *rq->err;
    enum error_code code;
    bool replayed;

    TRY(decision_lookup(rq, KEPT, &kept_json, out, &replayed));
    if (replayed)
        return OK;
    code = query(rq, in, sites, count, out);
    if (code == ERR_UNAVAILABLE || code == ERR_BUSY) {
        *rq->err = before;
        *out = (struct kept){.unavailable = true};
    } else if (code != OK) {
        return code;
    }
    return decision_keep_lookup(rq, KEPT, &kept_json, out);
}

/* ---- thresholds ---- */

static const struct kept_site *find(const struct kept *kept,
                                    const struct name_index *index, const char *site_id)
{
    size_t at = name_index_find(index, site_id);

    return at == NAME_NOT_FOUND ? NULL : &kept->sites[at];
}

enum error_code site_thresholds_find(struct request *rq,
                                     const struct threshold_request *in, size_t usual,
                                     struct site_threshold *sites, size_t count,
                                     const char **warning)
{
    const struct co_threshold_rule rule = {in->broken_ratio, in->confidence,
                                           in->max_error_ratio};
    struct kept_site all = {NULL, 0, 0};
    struct name_index index;
    struct kept kept = {0};
    size_t learnt = 0;

    TRY(look_up(rq, in, sites, count, &kept));
    name_index_create(&index, kept.site_count, rq->arena);
    for (size_t i = 0; i < kept.site_count; i++)
        if (kept.sites[i].site_id)
            name_index_add(&index, kept.sites[i].site_id, i);
        else
            all = kept.sites[i];
    for (size_t i = 0; i < count; i++) {
        const struct kept_site *seen = find(&kept, &index, sites[i].site_id);
        double samples = seen ? seen->error_count + seen->start_count : 0;

        sites[i] = (struct site_threshold){sites[i].site_id, usual, THRESHOLD_OPTION,
                                           (uint64_t)samples, (double)NAN};
        if (!seen || samples < in->min_samples)
            continue;
        sites[i].basis = THRESHOLD_HISTORY;
        sites[i].error_ratio =
            co_site_error_ratio(seen->error_count, seen->start_count, all.error_count,
                                all.start_count, in->prior_weight);
        sites[i].error_threshold = co_site_threshold(sites[i].error_ratio, &rule);
        learnt++;
    }
    *warning = NULL;
    if (kept.unavailable)
        *warning = "history_unavailable: the stored errors of sites cannot be read now; "
                   "the option error_threshold holds";
    else if (learnt < count)
        *warning = "few_samples: too few components are known to have been started on "
                   "some sites; the option error_threshold holds for them";
    return OK;
}
