/* models.c - /v1/models: models of applications' run times, stored under a name. */
#include "handlers/model/routes.h"

#include "handlers/common/page.h"
#include "handlers/model/model_learn.h"
#include "handlers/stored/stored_name.h"
#include "models/fitted/core.h"
#include "service/etag.h"
#include "service/json_holds.h"
#include "service/refits.h"
#include "service/service.h"
#include "service/stored_hint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX 2147483647.0
enum { COMBINATIONS_PRESET = 10 };

enum { ANY = -1 };

/* ---- what a caller sends ---- */

struct create_request {
    const char *id, *application_id, *site_id;
    double phase_index;
    int kind;
    struct model_settings settings;
    bool train;
};

#define T struct create_request
static const struct json_field create_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE,
            "Name of the model: at most 128 of A-Z a-z 0-9 . _ ~ -; default: a UUID"),
    JSON_ID(T, application_id, JSON_REQUIRED,
            "The application whose executions it learns"),
    JSON_ID(T, site_id, JSON_NULLABLE,
            "The site whose executions it learns; default: those that name no site"),
    JSON_NUMBER(T, phase_index, 0, WHOLE_MAX, NAN, JSON_NULLABLE | JSON_WHOLE,
                "Phase whose executions it learns, from 0; default: whole runs"),
    JSON_CHOICE(
        T, kind, model_kind_names, MODEL_AUTO, 0,
        "auto: whatever the runs have, answers from the first run on; comprehensive: "
        "computation and communication, searched for; preliminary: "
        "polynomials of given degrees on one number of processors; linear, "
        "scale_out, normal_form, power_law: formulas of chosen inputs; default auto"),
    JSON_OBJECT(T, settings, struct model_settings, &model_settings_json, 0,
                "How it is trained"),
    JSON_BOOLEAN(T, train, 1, 0,
                 "Train it at once from the executions that are stored; false: when the "
                 "next one is reported, or when asked; default true"),
    {0},
};
#undef T
const struct json_object model_create_json = {"ModelCreate", "A new model",
                                              sizeof(struct create_request), create_rows};

/* ---- training ---- */

#define T struct training_window
static const struct json_field training_rows[] = {
    JSON_INSTANT(T, since, JSON_NULLABLE | JSON_OPTIONAL,
                 "From now on runs that started before are left out; default: as it is"),
    JSON_NUMBER(T, window_s, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
                "From now on runs that started so much before the newest are forgotten; "
                "default: as it is"),
    JSON_NUMBER(T, window_runs, 20, 20000, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_WHOLE,
                "From now on so many of the latest runs are remembered; default: as it "
                "is"),
    {0},
};
#undef T
const struct json_object model_training_json = {
    "ModelTraining", "Which runs it is trained from, now and later; may be left out",
    sizeof(struct training_window), training_rows};

struct roll_back_request {
    uint64_t version;
};

#define T struct roll_back_request
static const struct json_field roll_back_rows[] = {
    JSON_INTEGER(T, version, 1, JSON_EXACT, 1, JSON_REQUIRED,
                 "An earlier version, which is to predict again"),
    {0},
};
#undef T
const struct json_object model_roll_back_json = {
    "ModelRollBack", "Which version", sizeof(struct roll_back_request), roll_back_rows};

struct port_request {
    const char *reference_model_id;
    const struct model_run *reference_runs, *target_runs;
    size_t reference_run_count, target_run_count;
};

#define T struct port_request
static const struct json_field port_rows[] = {
    JSON_ID(T, reference_model_id, JSON_REQUIRED, "A trained model of another site"),
    JSON_LIST(T, reference_runs, reference_run_count, struct model_run, &model_run_json,
              MODEL_RUNS_MAX, 0,
              "Dedicated runs there; default: its stored dedicated executions"),
    JSON_LIST(T, target_runs, target_run_count, struct model_run, &model_run_json,
              MODEL_RUNS_MAX, 0,
              "Dedicated runs here; default: this model's stored dedicated executions"),
    {0},
};
#undef T
const struct json_object model_port_json = {"ModelPort",
                                            "From which model, by which runs",
                                            sizeof(struct port_request), port_rows};

struct models_query {
    const char *application_id, *site_id;
    int kind, state;
    struct page_query page;
};

#define T struct models_query
static const struct json_field models_query_rows[] = {
    JSON_ID(T, application_id, 0, "Models of this application only; default: any"),
    JSON_ID(T, site_id, 0, "Models of this site only; default: any"),
    JSON_CHOICE(T, kind, model_kind_names, ANY, 0,
                "Models of this kind only; default: any"),
    JSON_CHOICE(T, state, store_model_states, ANY, 0,
                "Models in this state only; default: any"),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object models_query_json = {
    "ModelsQuery", "Which models", sizeof(struct models_query), models_query_rows};

struct model_query {
    uint64_t combinations;
};

#define T struct model_query
static const struct json_field model_query_rows[] = {
    JSON_INTEGER(T, combinations, 0, MODEL_COMBINATIONS_MAX, COMBINATIONS_PRESET, 0,
                 "How many of the combinations; default 10"),
    {0},
};
#undef T
const struct json_object model_query_json = {
    "ModelQuery", "How much of the model", sizeof(struct model_query), model_query_rows};

struct part_query {
    struct page_query page;
};

#define T struct part_query
static const struct json_field part_query_rows[] = {PAGE_ROWS(T), {0}};
#undef T
const struct json_object model_page_query_json = {
    "ModelPageQuery", "Which page", sizeof(struct part_query), part_query_rows};

/* ---- what a caller gets ---- */

/* Runs of one level, between changes. */
struct window_row {
    double version, from_at_s, run_count, factor;
    const char *scope;
};

#define T struct window_row
static const struct json_field window_rows[] = {
    JSON_NUMBER(T, version, 0, 0, 0, JSON_WHOLE,
                "First version of it that is still kept"),
    JSON_INSTANT(T, from_at, JSON_OPTIONAL,
                 "When its first run started; left out: from the first run on"),
    JSON_NUMBER(T, run_count, 0, 0, 0, JSON_WHOLE, "Runs that it had, or has so far"),
    JSON_NUMBER(T, factor, 0, 0, 0, JSON_OPTIONAL,
                "Its run times over those of the window before; left out of the first"),
    JSON_WORD(T, scope, core_scope_names, JSON_OPTIONAL,
              "Of which runs that is: all, or those of one resource_class or site_id; "
              "left out of the first, and by versions of before revision 3"),
    {0},
};
#undef T
static const struct json_object window_json = {
    "ModelWindow", "Runs of one level, from a change of the run times to the next",
    sizeof(struct window_row), window_rows};

struct model_answer {
    struct store_model model;
    const char *summary; /* of its version; NULL: none */
    struct model_details details;
    uint64_t combinations_total;
    struct learn_outcome outcome;
    const char *needs; /* NULL: nothing is lacking */
    const struct window_row *windows;
    size_t window_count;
    const char *const *warnings;
    size_t warning_count;
};

#define T struct model_answer
#define MODEL_MEMBER(m, kind, text)                                           \
    {                                                                         \
        .name = #m, .doc = text, .type = kind, .offset = offsetof(T, model.m) \
    }
#define MODEL_WORD(m, words, text)                                         \
    {                                                                      \
        .name = #m, .doc = text, .type = JSON_TYPE_TEXT, .choices = words, \
        .offset = JSON_AT(T, model.m, const char *), .flags = JSON_OPEN    \
    }
#define INFO_ROWS                                                                       \
    {.name = "id",                                                                      \
     .doc = "Name of the model",                                                        \
     .type = JSON_TYPE_TEXT,                                                            \
     .offset = offsetof(T, model.model_id)},                                            \
        MODEL_MEMBER(application_id, JSON_TYPE_TEXT, "The application"),                \
        {.name = "site_id",                                                             \
         .doc = "The site; left out: executions that name none",                        \
         .type = JSON_TYPE_TEXT,                                                        \
         .offset = offsetof(T, model.site_id),                                          \
         .flags = JSON_OPTIONAL},                                                       \
        {.name = "phase_index",                                                         \
         .doc = "The phase; left out: whole runs",                                      \
         .type = JSON_TYPE_NUMBER,                                                      \
         .offset = offsetof(T, model.phase_index),                                      \
         .flags = JSON_OPTIONAL | JSON_WHOLE},                                          \
        MODEL_WORD(kind, model_kind_names, "Kind of model"),                            \
        {.name = "settings",                                                            \
         .doc = "How it is trained",                                                    \
         .type = JSON_TYPE_RAW,                                                         \
         JSON_HOLDS(&model_settings_json),                                              \
         .offset = offsetof(T, model.settings)},                                        \
        MODEL_WORD(state, store_model_states,                                           \
                   "untrained, trained, ported; or stale: what it had learnt was "      \
                   "corrected, and it is "                                              \
                   "trained anew"),                                                     \
        MODEL_MEMBER(version, JSON_TYPE_INTEGER, "Version that predicts; 0: none"),     \
        MODEL_MEMBER(last_version, JSON_TYPE_INTEGER, "Highest version so far"),        \
        MODEL_MEMBER(generation, JSON_TYPE_INTEGER, "Number of changes of any kind"),   \
        {.name = "waiting_count",                                                       \
         .doc = "Executions that it has not looked at yet",                             \
         .type = JSON_TYPE_INTEGER,                                                     \
         .offset = offsetof(T, model.unlearnt_count)},                                  \
        MODEL_MEMBER(train_requested, JSON_TYPE_BOOLEAN, "It waits to be trained"),     \
        {.name = "note",                                                                \
         .doc = "Why the last training or refinement gave no version",                  \
         .type = JSON_TYPE_TEXT,                                                        \
         .offset = offsetof(T, model.note),                                             \
         .flags = JSON_OPTIONAL},                                                       \
        {.name = "created_at",                                                          \
         .doc = "When it was made",                                                     \
         .type = JSON_TYPE_INSTANT,                                                     \
         .offset = offsetof(T, model.created_at_s)},                                    \
    {                                                                                   \
        .name = "updated_at", .doc = "When it last changed", .type = JSON_TYPE_INSTANT, \
        .offset = offsetof(T, model.updated_at_s)                                       \
    }

#define SUMMARY_ROW                                                                \
    {                                                                              \
        .name = "summary",                                                         \
        .doc = "What the version was fitted to, and how well; left out without a " \
               "version",                                                          \
        .type = JSON_TYPE_RAW, .offset = JSON_AT(T, summary, const char *),        \
        JSON_HOLDS(&model_summary_json), .flags = JSON_OPTIONAL                    \
    }

static const struct json_field info_rows[] = {INFO_ROWS, {0}};
static const struct json_field listed_rows[] = {INFO_ROWS, SUMMARY_ROW, {0}};
static const struct json_field created_rows[] = {
    INFO_ROWS,
    JSON_TEXTS(T, warnings, warning_count, 0, JSON_OPTIONAL,
               "Settings that are not used"),
    {0},
};
static const struct json_field stored_rows[] = {
    INFO_ROWS,
    JSON_TEXT(T, needs, JSON_OPTIONAL,
              "Without a version: which executions its kind needs, and how many of those "
              "stored can be used"),
    SUMMARY_ROW,
    JSON_LIST(T, windows, window_count, struct window_row, &window_json, 0, JSON_OPTIONAL,
              "Since when the run times are on which level, the present one last: as far "
              "back as versions are kept"),
    JSON_INTEGER(T, combinations_total, 0, JSON_EXACT, 0, 0,
                 "Combinations that there are, of which the first are listed"),
    MODEL_DETAILS_ROWS(T),
    {0},
};
static const struct json_field learnt_rows[] = {
    INFO_ROWS,
    JSON_OBJECT(T, outcome, struct learn_outcome, &learn_outcome_json, 0,
                "What was done"),
    {0},
};
#undef T
const struct json_object model_info_json = {"ModelInfo",
                                            "A stored model without its coefficients",
                                            sizeof(struct model_answer), info_rows};
const struct json_object created_model_json = {"CreatedModel", "A new model",
                                               sizeof(struct model_answer), created_rows};
const struct json_object stored_model_json = {"StoredModel", "A stored model",
                                              sizeof(struct model_answer), stored_rows};
const struct json_object learnt_model_json = {
    "LearntModel", "A stored model after it was trained or refined",
    sizeof(struct model_answer), learnt_rows};

static const struct json_object listed_model_json = {
    "ListedModel", "A stored model, and how well it predicts",
    sizeof(struct model_answer), listed_rows};

struct models_page {
    const struct model_answer *items;
    size_t item_count;
    const char *next_page_token;
};

#define T struct models_page
static const struct json_field models_page_rows[] = {
    JSON_LIST(T, items, item_count, struct model_answer, &listed_model_json, 0, 0,
              "The models by id"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object models_page_json = {
    "ModelsPage", "A page of models", sizeof(struct models_page), models_page_rows};

struct version_answer {
    struct store_model_version version;
    struct model_details details;
    uint64_t combinations_total;
};

#define T struct version_answer
#define VERSION_MEMBER(m, kind, text)                                           \
    {                                                                           \
        .name = #m, .doc = text, .type = kind, .offset = offsetof(T, version.m) \
    }
#define VERSION_WORD(m, words, text)                                       \
    {                                                                      \
        .name = #m, .doc = text, .type = JSON_TYPE_TEXT, .choices = words, \
        .offset = JSON_AT(T, version.m, const char *), .flags = JSON_OPEN  \
    }
#define VERSION_ROWS                                                                  \
    VERSION_MEMBER(model_id, JSON_TYPE_TEXT, "The model"),                            \
        VERSION_MEMBER(version, JSON_TYPE_INTEGER, "Number of the version, from 1"),  \
        VERSION_MEMBER(parent_version, JSON_TYPE_INTEGER,                             \
                       "Version that was refined; 0: trained from executions"),       \
        VERSION_WORD(cause, store_cause_names,                                        \
                     "train, refine, reform, change, correction or port"),            \
        VERSION_WORD(state, store_model_states + STORE_TRAINED, "trained or ported"), \
        VERSION_MEMBER(abandoned, JSON_TYPE_BOOLEAN, "A roll-back went behind it"),   \
        {.name = "created_at",                                                        \
         .doc = "When it was fitted",                                                 \
         .type = JSON_TYPE_INSTANT,                                                   \
         .offset = offsetof(T, version.created_at_s)},                                \
    {                                                                                 \
        .name = "summary", .doc = "What it was fitted to, and how well",              \
        .type = JSON_TYPE_RAW, JSON_HOLDS(&model_summary_json),                       \
        .offset = offsetof(T, version.summary)                                        \
    }
static const struct json_field version_info_rows[] = {VERSION_ROWS, {0}};
static const struct json_field version_rows[] = {
    VERSION_ROWS,
    JSON_INTEGER(T, combinations_total, 0, JSON_EXACT, 0, 0,
                 "Combinations that there are, of which the first are listed"),
    MODEL_DETAILS_ROWS(T),
    {0},
};
#undef T
static const struct json_object version_info_json = {
    "ModelVersionInfo", "A version of a model without its coefficients",
    sizeof(struct version_answer), version_info_rows};
const struct json_object model_version_json = {
    "ModelVersion", "A version of a model", sizeof(struct version_answer), version_rows};

struct versions_page {
    const struct version_answer *items;
    size_t item_count;
    const char *next_page_token;
};

#define T struct versions_page
static const struct json_field versions_page_rows[] = {
    JSON_LIST(T, items, item_count, struct version_answer, &version_info_json, 0, 0,
              "The versions, newest first"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object model_versions_page_json = {
    "ModelVersionsPage", "A page of versions", sizeof(struct versions_page),
    versions_page_rows};

#define T struct store_sample
static const struct json_field sample_rows[] = {
    JSON_TEXT(T, execution_id, 0, "The execution"),
    JSON_INSTANT(T, started_at, 0, "When it started"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, 0, "How long it ran"),
    JSON_NUMBER(T, problem_size, 0, 0, 0, JSON_OPTIONAL, "Size of the problem"),
    JSON_NUMBER(T, processors, 0, 0, 0, JSON_WHOLE, "Processors used"),
    JSON_NUMBER(T, cpu_available_ratio, 0, 0, 0, JSON_OPTIONAL, "CPU that it got"),
    JSON_NUMBER(T, bandwidth_mbps, 0, 0, 0, JSON_OPTIONAL, "Bandwidth that it had"),
    JSON_BOOLEAN(T, dedicated, 0, 0, "Nothing else ran on the machines"),
    JSON_NUMBER(T, predicted_s, 0, 0, 0, JSON_OPTIONAL,
                "Run time that was predicted before it was learnt"),
    JSON_NUMBER(T, predicted_version, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "By this version"),
    JSON_WORD(T, verdict, fitted_verdict_names, 0,
              "fit: learnt; outlier: left out, predicted much too badly; unusable: lacks "
              "what the kind needs; left_out: by a roll-back, or too old; new: waits"),
    JSON_NUMBER(T, version, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "First version that knows it"),
    {0},
};
#undef T
static const struct json_object sample_json = {"ModelSample",
                                               "An execution as a model sees it",
                                               sizeof(struct store_sample), sample_rows};

struct samples_page {
    const struct store_sample *items;
    size_t item_count;
    const char *next_page_token;
};

#define T struct samples_page
static const struct json_field samples_page_rows[] = {
    JSON_LIST(T, items, item_count, struct store_sample, &sample_json, 0, 0,
              "The executions, newest first"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object model_samples_page_json = {
    "ModelSamplesPage", "A page of a model's executions", sizeof(struct samples_page),
    samples_page_rows};

/* ---- conditions ---- */

/* A strong ETag; the instant tells a model from a deleted one of the same name. */
static enum error_code add_etag(struct request *rq, const struct store_model *m)
{
    const char *tag =
        arena_printf(rq->arena, "\"g%llu-%llx\"", (unsigned long long)m->generation,
                     (unsigned long long)llround(m->created_at_s * 1e6));

    reply_header_add(rq->reply, "ETag", tag);
    return OK;
}

/* The generation that If-Match asks for; 0: any. What is no tag of this model is
 * stale; that of one deleted since is found by its instant. */
static enum error_code expected_generation(struct request *rq, struct db_session *db,
                                           uint64_t *expected)
{
    const char *if_match = rq->message->if_match;
    struct store_model m;
    const char *tag;

    *expected = 0;
    if (!if_match || strcmp(if_match, "*") == 0)
        return OK;
    TRY(store_model_read(db, rq->principal.tenant, rq->path_value[0], &m, rq->arena,
                         rq->err));
    tag = arena_printf(rq->arena, "\"g%llu-%llx\"", (unsigned long long)m.generation,
                       (unsigned long long)llround(m.created_at_s * 1e6));
    *expected = m.generation;
    if (etag_matches(if_match, tag))
        return OK;
    return etag_refuse_stale(rq->err, "model", if_match, tag);
}

/* ---- create, read, list, delete ---- */

static void wake(const struct request *rq)
{
    refits_wake(__atomic_load_n(&rq->service->refits, __ATOMIC_ACQUIRE));
}

static const char *settings_text(const struct request *rq, const struct model_settings *s)
{
    struct text_buffer b = {.arena = rq->arena};

    json_print(&model_settings_json, s, &b);
    text_add(&b, "", 1);
    return text_end(&b);
}

enum error_code post_model(struct request *rq, const void *in, void *out)
{
    const struct create_request *body = in;
    struct model_answer *answer = out;
    struct store_model wanted = {
        .application_id = body->application_id,
        .site_id = body->site_id,
        .phase_index = body->phase_index,
        .kind = model_kind_names[body->kind],
        .target = model_target_names[body->settings.target],
    };
    struct db_session *db;
    const char **warning = NEW(rq->arena, const char *, 1);

    stored_name_choose(rq, body->id, "/id", &wanted.model_id);
    fitted_check_settings((enum model_kind)body->kind, &body->settings, "/settings",
                          rq->err);
    if (rq->err->code != OK)
        return rq->err->code;
    wanted.settings = settings_text(rq, &body->settings);
    TRY(request_db(rq, &db));
    TRY(store_model_create(db, rq->principal.tenant, &wanted, body->train, &answer->model,
                           rq->arena, rq->err));
    model_unused_settings((enum model_kind)body->kind, &body->settings, "/settings",
                          warning, rq->arena);
    answer->warnings = *warning ? warning : NULL;
    answer->warning_count = *warning ? 1 : 0;
    wake(rq);
    rq->reply->status = 201;
    reply_header_add(rq->reply, "Location",
                     arena_printf(rq->arena, "/v1/models/%s", wanted.model_id));
    return add_etag(rq, &answer->model);
}

/* What an untrained model waits for, from its executions. */
static enum error_code tell_needs(struct request *rq, struct db_session *db,
                                  const struct store_model *model, const char **out)
{
    const struct store_sample *samples;
    struct model_settings settings;
    struct fitted_run *runs;
    enum model_kind kind;
    size_t *place, count, run_count;

    TRY(stored_settings(model, &kind, &settings, rq->arena, rq->err));
    TRY(store_model_samples(db, rq->principal.tenant, model->model_id, STORE_SAMPLES_ALL,
                            &samples, &count, rq->arena, rq->err));
    TRY(stored_runs(kind, &settings, NULL, samples, count, true, &runs, &place,
                    &run_count, rq->arena, rq->err));
    *out = model_needs(kind, &settings, runs, run_count, rq->arena);
    return OK;
}

/* A member in percent becomes the ratio that it is today. */
static enum error_code renew_member(const char **object, const char *old, const char *now,
                                    struct arena *a, struct error *err)
{
    struct text_buffer b = {.arena = a};
    const char *percent;

    TRY(json_member(*object, old, &percent, a, err));
    if (!percent)
        return OK;
    if (strcmp(percent, "null") == 0)
        text_addf(&b, "null");
    else
        json_print_number(strtod(percent, NULL) / 100, &b);
    TRY(json_replace_member(*object, strlen(*object), old, NULL, object, a, err));
    return json_replace_member(*object, strlen(*object), now, text_end(&b), object, a,
                               err);
}

/* Summaries are stored as they were printed: release 1.0.0 had other names. */
static enum error_code renew_summary(const char **summary, struct arena *a,
                                     struct error *err)
{
    static const char *const of_model[][2] = {{"fit_appe_pct", "fit_appe_ratio"},
                                              {"cross_appe_pct", "cross_appe_ratio"},
                                              {"unseen_appe_pct", "unseen_appe_ratio"},
                                              {"recent_appe_pct", "recent_appe_ratio"}};
    static const char *const of_porting[][2] = {
        {"goodness_reference_pct", "goodness_reference_ratio"},
        {"goodness_target_pct", "goodness_target_ratio"}};
    const char *porting;

    if (!*summary || !strstr(*summary, "_pct\""))
        return OK;
    for (size_t i = 0; i < sizeof(of_model) / sizeof(of_model[0]); i++)
        TRY(renew_member(summary, of_model[i][0], of_model[i][1], a, err));
    TRY(json_member(*summary, "porting", &porting, a, err));
    if (!porting)
        return OK;
    for (size_t i = 0; i < sizeof(of_porting) / sizeof(of_porting[0]); i++)
        TRY(renew_member(&porting, of_porting[i][0], of_porting[i][1], a, err));
    return json_replace_member(*summary, strlen(*summary), "porting", porting, summary, a,
                               err);
}

enum error_code get_models(struct request *rq, const void *in, void *out)
{
    const struct models_query *query = rq->query;
    struct models_page *page = out;
    struct store_page part;
    struct store_model_filter filter = {
        .application_id = query->application_id,
        .site_id = query->site_id,
        .kind = query->kind == ANY ? NULL : model_kind_names[query->kind],
        .state = query->state == ANY ? NULL : store_model_states[query->state],
    };
    const struct store_model *list;
    struct model_answer *answers;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_models_list(db, rq->principal.tenant, &filter, &part, &list,
                          &page->item_count, &page->next_page_token, rq->arena, rq->err));
    answers = NEW(rq->arena, struct model_answer, page->item_count);
    for (size_t i = 0; i < page->item_count; i++) {
        answers[i].model = list[i];
        answers[i].summary = list[i].summary;
        TRY(renew_summary(&answers[i].summary, rq->arena, rq->err));
    }
    page->items = answers;
    return page_link(rq, &page->next_page_token);
}

/* A number of a summary, or of a member of it. */
static enum error_code number_in(const char *object, const char *name, double *out,
                                 struct arena *a, struct error *err)
{
    const char *text = NULL;

    *out = (double)NAN;
    if (!object)
        return OK;
    TRY(json_member(object, name, &text, a, err));
    if (text)
        *out = strtod(text, NULL);
    return OK;
}

/* The window that a version is in. */
static enum error_code read_window(const struct store_model_version *version,
                                   struct window_row *out, const char **key,
                                   struct arena *a, struct error *err)
{
    const char *change = NULL, *at = NULL, *scope = NULL;

    *out =
        (struct window_row){(double)version->version, (double)NAN, 0, (double)NAN, NULL};
    *key = "";
    TRY(json_member(version->summary, "change", &change, a, err));
    if (!change)
        return number_in(version->summary, "sample_count", &out->run_count, a, err);
    TRY(number_in(version->summary, "change_count", &out->from_at_s, a, err));
    *key = arena_printf(a, "%g", out->from_at_s);
    out->from_at_s = (double)NAN;
    TRY(json_member(change, "at", &at, a, err));
    if (at && at[0] == '"' && strlen(at) > 2 &&
        !instant_read(arena_text(a, at + 1, strlen(at) - 2), &out->from_at_s))
        out->from_at_s = (double)NAN;
    TRY(number_in(change, "run_count", &out->run_count, a, err));
    TRY(json_member(change, "scope", &scope, a, err));
    for (size_t i = 0; scope && core_scope_names[i]; i++)
        if (strncmp(scope + 1, core_scope_names[i], strlen(core_scope_names[i])) == 0)
            out->scope = core_scope_names[i];
    return number_in(change, "factor", &out->factor, a, err);
}

/* The windows of the versions that are kept; those behind a roll-back are none. */
static enum error_code list_windows(struct request *rq, struct db_session *db,
                                    struct model_answer *answer)
{
    const struct store_page all = {.limit = STORE_MODEL_VERSIONS_KEPT};
    const struct store_model_version *list;
    struct arena *a = rq->arena;
    struct window_row *rows;
    const char *next, *last = NULL;
    size_t count, at;

    TRY(store_model_versions_list(db, rq->principal.tenant, answer->model.model_id, &all,
                                  &list, &count, &next, a, rq->err));
    at = count;
    rows = NEW(a, struct window_row, count + 1);
    for (size_t i = 0; i < count; i++) { /* the newest first */
        struct window_row row;
        const char *key;

        if (list[i].abandoned || list[i].version > answer->model.version)
            continue;
        TRY(read_window(&list[i], &row, &key, a, rq->err));
        if (last && strcmp(last, key) == 0)
            rows[at].version = row.version;
        else
            rows[--at] = row;
        last = key;
    }
    answer->windows = rows + at;
    answer->window_count = count - at;
    return OK;
}

/* What no version keeps, as it can be no input. */
static enum error_code list_skipped(struct request *rq, struct db_session *db,
                                    const struct fitted_model *m,
                                    struct model_details *details)
{
    const struct store_skipped *list;
    size_t count;

    if (m->kind != MODEL_AUTO)
        return OK;
    TRY(store_model_skipped(db, rq->principal.tenant, rq->path_value[0], &list, &count,
                            rq->arena, rq->err));
    for (size_t i = 0; i < count; i++)
        model_details_skip(list[i].name, details, rq->arena);
    return OK;
}

enum error_code get_model(struct request *rq, const void *in, void *out)
{
    const struct model_query *query = rq->query;
    struct model_answer *answer = out;
    struct store_model_now now = {0};
    struct fitted_model fitted;
    struct db_session *db;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_model_now(db, rq->principal.tenant, rq->path_value[0], &now, rq->arena,
                        rq->err));
    answer->model = now.model;
    TRY(add_etag(rq, &now.model));
    if (now.version.version == 0)
        return tell_needs(rq, db, &now.model, &answer->needs);
    TRY(stored_fitted(&now.model, &now.version, &fitted, rq->arena, rq->err));
    model_details_of(&fitted, (size_t)query->combinations, &answer->details, rq->arena);
    answer->combinations_total = answer->details.combinations_total;
    TRY(list_skipped(rq, db, &fitted, &answer->details));
    TRY(list_windows(rq, db, answer));
    answer->summary = now.version.summary;
    return renew_summary(&answer->summary, rq->arena, rq->err);
}

enum error_code delete_model(struct request *rq, const void *in, void *out)
{
    struct db_session *db;
    uint64_t expected;

    (void)in;
    (void)out;
    TRY(request_db(rq, &db));
    TRY(expected_generation(rq, db, &expected));
    TRY(store_model_delete(db, rq->principal.tenant, rq->path_value[0], expected,
                           rq->arena, rq->err));
    rq->reply->status = 204;
    return OK;
}

/* ---- versions and samples ---- */

enum error_code get_model_versions(struct request *rq, const void *in, void *out)
{
    const struct part_query *query = rq->query;
    struct versions_page *page = out;
    struct store_page part;
    const struct store_model_version *list;
    struct version_answer *answers;
    struct store_model model;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_model_read(db, rq->principal.tenant, rq->path_value[0], &model, rq->arena,
                         rq->err));
    TRY(store_model_versions_list(db, rq->principal.tenant, rq->path_value[0], &part,
                                  &list, &page->item_count, &page->next_page_token,
                                  rq->arena, rq->err));
    answers = NEW(rq->arena, struct version_answer, page->item_count);
    for (size_t i = 0; i < page->item_count; i++)
        answers[i].version = list[i];
    page->items = answers;
    for (size_t i = 0; i < page->item_count; i++)
        TRY(renew_summary(&answers[i].version.summary, rq->arena, rq->err));
    return page_link(rq, &page->next_page_token);
}

static bool read_version(const char *text, uint64_t *version)
{
    char *end;

    *version = strtoull(text, &end, 10);
    return text[0] >= '1' && text[0] <= '9' && !*end && strlen(text) <= 15;
}

enum error_code get_model_version(struct request *rq, const void *in, void *out)
{
    const struct model_query *query = rq->query;
    struct version_answer *answer = out;
    struct store_model model;
    struct fitted_model fitted;
    struct db_session *db;
    uint64_t version;

    (void)in;
    if (!read_version(rq->path_value[1], &version))
        return fail(rq->err, ERR_NOT_FOUND, "", "'%.40s' is not the number of a version",
                    rq->path_value[1]);
    TRY(request_db(rq, &db));
    TRY(store_model_read(db, rq->principal.tenant, rq->path_value[0], &model, rq->arena,
                         rq->err));
    TRY(store_model_version_read(db, rq->principal.tenant, rq->path_value[0], version,
                                 &answer->version, rq->arena, rq->err));
    TRY(stored_fitted(&model, &answer->version, &fitted, rq->arena, rq->err));
    model_details_of(&fitted, (size_t)query->combinations, &answer->details, rq->arena);
    answer->combinations_total = answer->details.combinations_total;
    return renew_summary(&answer->version.summary, rq->arena, rq->err);
}

enum error_code get_model_samples(struct request *rq, const void *in, void *out)
{
    const struct part_query *query = rq->query;
    struct samples_page *page = out;
    struct store_page part;
    struct store_model model;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_model_read(db, rq->principal.tenant, rq->path_value[0], &model, rq->arena,
                         rq->err));
    TRY(store_model_samples_list(db, rq->principal.tenant, rq->path_value[0], &part,
                                 &page->items, &page->item_count, &page->next_page_token,
                                 rq->arena, rq->err));
    return page_link(rq, &page->next_page_token);
}

enum error_code post_model_roll_back(struct request *rq, const void *in, void *out)
{
    const struct roll_back_request *body = in;
    struct model_answer *answer = out;
    struct db_session *db;
    uint64_t expected;

    TRY(request_db(rq, &db));
    TRY(expected_generation(rq, db, &expected));
    TRY(store_model_roll_back(db, rq->principal.tenant, rq->path_value[0], expected,
                              body->version, &answer->model, rq->arena, rq->err));
    return add_etag(rq, &answer->model);
}

/* ---- train, refine, port ---- */

/* publish_fn: the model as it is after what was learnt. */
static enum error_code tell_learnt(struct request *rq, struct db_session *db,
                                   void *context)
{
    struct model_answer *answer = context;
    bool is_first = !answer->model.model_id; /* it may be published again */

    TRY(store_model_read(db, rq->principal.tenant, rq->path_value[0], &answer->model,
                         rq->arena, rq->err));
    return is_first ? add_etag(rq, &answer->model) : OK;
}

enum error_code post_model_train(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct training_window *window = NEW(rq->arena, struct training_window, 1);
    struct db_session *db;
    uint64_t expected;
    struct model_answer *answer = out;

    *window = (struct training_window){(double)NAN, (double)NAN, (double)NAN};
    if (body->length > 0)
        TRY(json_read(&model_training_json, body->text, body->length, window,
                      &rq->renames, rq->arena, rq->err));
    TRY(request_db(rq, &db));
    TRY(expected_generation(rq, db, &expected));
    if (rq->attempt) {
        TRY(model_learn_at_publish(rq, rq->path_value[0], true, expected, window,
                                   &answer->outcome));
        return request_at_publish(rq, tell_learnt, answer);
    }
    TRY(model_train(rq, rq->path_value[0], expected, window, &answer->outcome));
    return tell_learnt(rq, db, answer);
}

enum error_code post_model_refine(struct request *rq, const void *in, void *out)
{
    struct model_answer *answer = out;
    struct db_session *db;
    uint64_t expected = 0;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(expected_generation(rq, db, &expected));
    if (rq->attempt) {
        TRY(model_learn_at_publish(rq, rq->path_value[0], false, expected, NULL,
                                   &answer->outcome));
        return request_at_publish(rq, tell_learnt, answer);
    }
    TRY(model_refine(rq, rq->path_value[0], expected, &answer->outcome));
    return tell_learnt(rq, db, answer);
}

/* The runs that were given, or the stored dedicated ones of the model. */
static enum error_code port_runs(struct request *rq, struct db_session *db,
                                 const struct model_settings *settings,
                                 const char *model_id, const struct model_run *given,
                                 size_t given_count, struct fitted_run **runs,
                                 size_t *count)
{
    const struct store_sample *samples;
    size_t *place, stored_count, kept = 0;

    *count = given_count;
    if (given_count) {
        *runs =
            model_runs_read(MODEL_COMPREHENSIVE, settings, given, given_count, rq->arena);
        return OK;
    }
    TRY(store_model_samples(db, rq->principal.tenant, model_id, STORE_SAMPLES_ALL,
                            &samples, &stored_count, rq->arena, rq->err));
    TRY(stored_runs(MODEL_COMPREHENSIVE, settings, NULL, samples, stored_count, false,
                    runs, &place, count, rq->arena, rq->err));
    for (size_t i = 0; i < *count; i++)
        if ((*runs)[i].run.dedicated && !perf_sample_fault(&(*runs)[i].run))
            (*runs)[kept++] = (*runs)[i];
    *count = kept;
    return OK;
}

static enum error_code read_reference_model(struct request *rq, struct db_session *db,
                                            const char *model_id,
                                            struct fitted_model *out)
{
    struct store_model_now now = {0};
    enum error_code code =
        store_model_now(db, rq->principal.tenant, model_id, &now, rq->arena, rq->err);

    if (code == ERR_NOT_FOUND) {
        *rq->err = (struct error){.arena = rq->arena};
        invalid(rq->err, "/reference_model_id", ITEM_UNKNOWN_ID,
                "there is no model '%.100s'", model_id);
        stored_hint(rq, "model_id", model_id);
        return ERR_INVALID;
    }
    TRY(code);
    if (strcmp(now.model.kind, model_kind_names[MODEL_COMPREHENSIVE]) != 0 ||
        now.version.version == 0 ||
        strcmp(now.version.state, store_model_states[STORE_TRAINED]) != 0)
        return invalid(rq->err, "/reference_model_id", ITEM_NOT_TRAINED,
                       "only a trained comprehensive model can be carried over; '%.100s' "
                       "is %s of the kind %s",
                       model_id, now.model.state, now.model.kind);
    return stored_fitted(&now.model, &now.version, out, rq->arena, rq->err);
}

/* The target's own executions so far refit the functions that it took over. */
static enum error_code learn_own(struct request *rq, struct db_session *db,
                                 const struct store_model *target,
                                 struct fitted_model *ported,
                                 struct store_sample **samples, size_t *count)
{
    const struct store_sample *stored;
    struct fitted_run *runs;
    size_t *place, run_count;

    TRY(store_model_samples(db, rq->principal.tenant, target->model_id, STORE_SAMPLES_ALL,
                            &stored, count, rq->arena, rq->err));
    TRY(stored_runs(MODEL_COMPREHENSIVE, &ported->settings, NULL, stored, *count, false,
                    &runs, &place, &run_count, rq->arena, rq->err));
    *samples = NEW(rq->arena, struct store_sample, run_count + 1);
    *count = run_count;
    for (size_t i = 0; i < run_count; i++) {
        struct fitted_update update;

        fitted_learn(ported, &runs[i], NULL, 0, &update);
        (*samples)[i] = stored[place[i]];
        (*samples)[i].predicted_s = update.predicted_s;
        (*samples)[i].predicted_version =
            isnan(update.predicted_s) ? (double)NAN : (double)target->last_version + 1;
        (*samples)[i].verdict = fitted_verdict_names[update.verdict];
        (*samples)[i].version = (double)NAN;
    }
    return OK;
}

/* A model that is carried over, to be written. */
struct porting {
    const struct port_request *body;
    struct store_model target; /* as it was read */
    struct fitted_model ported;
    struct store_sample *samples;
    size_t sample_count;
    struct learn_outcome *outcome;
};

static enum error_code port(struct request *rq, struct db_session *db, struct porting *p)
{
    const struct port_request *body = p->body;
    const struct store_model *target = &p->target;
    struct learn_outcome *outcome = p->outcome;
    struct fitted_model reference;
    struct fitted_run *ours, *theirs;
    size_t our_count, their_count;
    struct model_settings settings;
    enum model_kind kind;

    TRY(stored_settings(target, &kind, &settings, rq->arena, rq->err));
    if (kind != MODEL_COMPREHENSIVE)
        return invalid(rq->err, "", ITEM_NOT_USED,
                       "a model of the kind %s cannot be ported", model_kind_names[kind]);
    TRY(read_reference_model(rq, db, body->reference_model_id, &reference));
    TRY(port_runs(rq, db, &settings, body->reference_model_id, body->reference_runs,
                  body->reference_run_count, &ours, &our_count));
    TRY(port_runs(rq, db, &settings, target->model_id, body->target_runs,
                  body->target_run_count, &theirs, &their_count));
    TRY(fitted_port(&reference, ours, our_count, theirs, their_count, &p->ported,
                    rq->arena));
    outcome->version = target->version;
    outcome->reason = p->ported.reason;
    if (p->ported.reason)
        return OK;
    outcome->cause = store_cause_names[STORE_PORT];
    outcome->version = target->last_version + 1;
    TRY(learn_own(rq, db, target, &p->ported, &p->samples, &p->sample_count));
    outcome->learnt_count = p->sample_count;
    return OK;
}

/* publish_fn, in a transaction: if the target is still the same. */
static enum error_code write_port(struct request *rq, struct db_session *db,
                                  void *context)
{
    const struct porting *p = context;
    const struct model_origins origins = {p->body->reference_model_id, NULL, NULL};
    struct store_model now;

    TRY(store_model_await(db, rq->principal.tenant, rq->path_value[0], &now, rq->arena,
                          rq->err));
    if (now.generation != p->target.generation)
        return model_is_busy(rq, now.model_id);
    if (p->ported.reason)
        return OK;
    return model_write(db, &p->target, &p->ported, "port", &origins, p->samples,
                       p->sample_count, rq->arena, rq->err);
}

/* Without an Idempotency-Key: a transaction of its own. */
static enum error_code write_port_now(struct request *rq, struct db_session *db,
                                      struct porting *p)
{
    enum error_code code;

    TRY(db_begin(db, rq->err));
    code = write_port(rq, db, p);
    if (code == OK)
        return db_commit(db, rq->err);
    db_rollback(db);
    return code;
}

enum error_code post_model_port(struct request *rq, const void *in, void *out)
{
    struct model_answer *answer = out;
    struct porting *p = NEW(rq->arena, struct porting, 1);
    struct db_session *db;
    uint64_t expected;

    p->body = in;
    p->outcome = &answer->outcome;
    TRY(request_db(rq, &db));
    TRY(expected_generation(rq, db, &expected));
    TRY(store_model_read(db, rq->principal.tenant, rq->path_value[0], &p->target,
                         rq->arena, rq->err));
    if (expected && p->target.generation != expected)
        return fail(rq->err, ERR_STALE, "", "the model has changed; read it again");
    TRY(port(rq, db, p));
    if (rq->attempt) {
        TRY(request_at_publish(rq, write_port, p));
        return request_at_publish(rq, tell_learnt, answer);
    }
    TRY(write_port_now(rq, db, p));
    return tell_learnt(rq, db, answer);
}
