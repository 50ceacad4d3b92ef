/* prediction_models.c - which model answers a prediction. */
#include "handlers/prediction/prediction_models.h"

#include "handlers/common/decision.h"
#include "handlers/learning/machine_effects.h"
#include "handlers/model/model_learn.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "models/forecast/forecast.h"

#include <math.h>
#include <string.h>

/* A stored model as it was when it was looked up. */
struct kept_model {
    const char *model_id, *kind, *settings, *state;
    double phase_index;
    uint64_t version;
    const char *packed; /* NULL: without a version */
    /* Instead, of applications that are like it: */
    double guess_s; /* NAN: there is none */
    const double *guess_distances;
    size_t guess_distance_count;
    bool guess_by_name;
    const char *guess_first;
};

struct kept_models {
    const struct kept_model *models;
    size_t model_count;
};

#define T struct kept_model
static const struct json_field kept_rows[] = {
    JSON_TEXT(T, model_id, 0, "Its name"),
    JSON_TEXT(T, kind, 0, "Its kind"),
    JSON_RAW(T, settings, 0, "Its settings"),
    JSON_TEXT(T, state, 0, "Its state"),
    JSON_NUMBER(T, phase_index, 0, JSON_LARGEST, NAN, JSON_NULLABLE, "Its phase"),
    JSON_INTEGER(T, version, 0, JSON_EXACT, 0, 0, "Its version"),
    {.name = "packed",
     .doc = "Its numbers",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, packed, const char *),
     .max = MODEL_PACKED_MAX_BYTES,
     .flags = JSON_NULLABLE | JSON_OPTIONAL},
    JSON_NUMBER(T, guess_s, 0, JSON_LARGEST, NAN, JSON_OPTIONAL,
                "Of similar applications instead"),
    JSON_NUMBERS(T, guess_distances, guess_distance_count, 0, JSON_LARGEST, JSON_OPTIONAL,
                 "How far their times lie apart"),
    JSON_BOOLEAN(T, guess_by_name, 0, JSON_OPTIONAL, "Whether by their names"),
    JSON_TEXT(T, guess_first, JSON_OPTIONAL, "One of them"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptModel", "A stored model as it was",
                                             sizeof(struct kept_model), kept_rows};

#define T struct kept_models
static const struct json_field kept_list_rows[] = {
    JSON_LIST(T, models, model_count, struct kept_model, &kept_json, JSON_LIST_MAX, 0,
              "The models"),
    {0},
};
#undef T
static const struct json_object kept_list_json = {
    "KeptModels", "Stored models as they were", sizeof(struct kept_models),
    kept_list_rows};

/* ---- words ---- */

const char *prediction_warning_name(unsigned bit)
{
    static const char *const ours[] = {"input_far",         "floored",
                                       "far_extrapolation", "input_never_varied",
                                       "inputs_unused",     "inputs_missing"};

    return bit < PERF_WARNING_COUNT ? perf_warning_names[bit]
                                    : ours[bit - PERF_WARNING_COUNT];
}

const char *prediction_warning_text(unsigned bit)
{
    static const char *const ours[] = {
        "An input is more than twice outside what was seen",
        "The formula gives no time above 0 there: the answer is the least time seen",
        "The question lies more than twice outside what was seen",
        "An input differs that was the same in all runs: nobody knows what it does",
        "A parameter is no input of the model, and has no part in the answer",
        "An input that the model has learnt from is missing: the usual one was taken"};

    return bit < PERF_WARNING_COUNT ? perf_warning_texts[bit]
                                    : ours[bit - PERF_WARNING_COUNT];
}

const char *const prediction_reason_names[] = {FITTED_REASON_WORDS, FORECAST_NO_HISTORY,
                                               NULL};

const char *prediction_reason_text(const char *reason)
{
    static const struct {
        const char *reason, *detail;
    } ours[] = {
        {FITTED_UNTRAINED, "The model has no version yet: store executions, or train it"},
        {FORECAST_NO_HISTORY, "A resource or link has no load samples to forecast from"},
        {FITTED_MIXED_PROCESSORS,
         "A preliminary model needs runs on one number of processors"},
        {0},
    };

    for (size_t i = 0; ours[i].reason; i++)
        if (strcmp(ours[i].reason, reason) == 0)
            return ours[i].detail;
    for (size_t i = 0; i < PERF_STATUS_COUNT; i++)
        if (strcmp(perf_status_names[i], reason) == 0)
            return perf_status_texts[i];
    return "The model has no answer for these inputs";
}

const char *prediction_model_note(const struct model_at_hand *at, unsigned bit,
                                  struct arena *a)
{
    const struct fitted_core *core = at->fitted.core;
    const char *id = at->id ? at->id : "in the request";

    if (!core || !(core->notes & 1u << bit))
        return NULL;
    if (bit == CORE_BIT_CHANGED)
        return arena_printf(
            a, "%s: %s: model '%.100s', by a factor of %.3g%s%s, %s since",
            core_note_names[bit], core_note_texts[bit], id, core->change_factor,
            core->change_scope == CORE_SCOPE_ALL ? "" : " for one ",
            core->change_scope == CORE_SCOPE_ALL ? ""
                                                 : core_scope_names[core->change_scope],
            counted(core->runs_since_change, "run").text);
    return arena_printf(a, "%s: %s: model '%.100s'", core_note_names[bit],
                        core_note_texts[bit], id);
}

const char *prediction_guess_note(const struct model_at_hand *at, struct arena *a)
{
    const struct fitted_guess *g = at->fitted.guess;

    return !g ? NULL
              : arena_printf(a,
                             "no_runs: no run of '%.100s' is known: its time is that of "
                             "%s with %s (first '%.100s')",
                             at->id, counted(g->count, "application").text,
                             g->by_name ? "the same name" : "such inputs", g->first);
}

const char *prediction_interval_basis(const struct fitted_model *m,
                                      const struct fitted_interval *interval)
{
    if (m->guess)
        return FITTED_BY_SIMILAR;
    return m->kind >= MODEL_LINEAR && interval->basis == PREDICTION_BASIS_NONE
               ? prediction_basis_names[PREDICTION_BASIS_TRAINING]
               : prediction_basis_names[interval->basis];
}

enum { PARAMETERS_MAX = 64 };
#define PARAMETER_MAX 1e300

void prediction_parameters_check(const struct named_value *list, size_t count,
                                 const char *at, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].type == VALUE_NUMBER && fabs(list[i].number) > PARAMETER_MAX)
            invalid(err, pointer_named(at, list[i].name).text, ITEM_NOT_ALLOWED,
                    "parameters are numbers up to 1e300");
    if (count > PARAMETERS_MAX)
        invalid(err, pointer_named(at, list[PARAMETERS_MAX].name).text, ITEM_NOT_ALLOWED,
                "a question has at most %d parameters, not %zu", PARAMETERS_MAX, count);
}

static enum error_code no_model(const struct model_source *s, struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "/application_id",
                "there is no model of the application '%.80s'%s%.60s%s; GET /v1/models "
                "lists those there are",
                s->application_id, s->site_id ? " at site '" : " without a site",
                s->site_id ? s->site_id : "", s->site_id ? "'" : "");
}

/* ---- stored models, now or then ---- */

static void keep_guess(const struct fitted_guess *g, struct kept_model *out)
{
    out->guess_s = g->time_s;
    out->guess_distances = g->distances;
    out->guess_distance_count = g->count;
    out->guess_by_name = g->by_name;
    out->guess_first = g->first;
}

/* It stands for the application's model. */
static void use_guess(struct request *rq, const struct fitted_guess *g,
                      const char *application_id, struct model_at_hand *out)
{
    struct fitted_guess *guess = NEW(rq->arena, struct fitted_guess, 1);

    *guess = *g;
    *out = (struct model_at_hand){
        .id = application_id, .phase_index = (double)NAN, .state = ""};
    out->fitted.kind = MODEL_AUTO;
    out->fitted.guess = guess;
    fitted_auto_names(&out->fitted, rq->arena);
}

/* The names of a question's inputs, as a JSON array. */
static const char *input_names(const struct similar_question *q, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    text_add(&b, "[", 1);
    for (size_t i = 0; i < q->parameter_count; i++) {
        text_add(&b, ",", i > 0);
        json_print_text(q->parameters[i].name, &b);
    }
    if (q->has_problem_size) {
        text_add(&b, ",", q->parameter_count > 0);
        json_print_text("problem_size", &b);
    }
    text_add(&b, "]", 2);
    return text_end(&b);
}

/* What applications like this one tell of it; *found: they do. */
static enum error_code guess(struct request *rq, const struct model_source *s,
                             struct model_at_hand *out, bool *found)
{
    const struct store_similar *list;
    struct fitted_guess g = {0};
    struct db_session *db;
    size_t count;
    double *medians;

    TRY(request_db(rq, &db));
    TRY(store_similar(db, rq->principal.tenant, s->application_id,
                      input_names(s->like, rq->arena), SIMILAR_APPLICATIONS_MAX, &list,
                      &count, &g.by_name, rq->arena, rq->err));
    medians = NEW(rq->arena, double, count + 1);
    for (size_t i = 0; i < count; i++)
        medians[i] = list[i].median_s;
    *found = fitted_guess_make(medians, count, &g, rq->arena);
    g.first = *found ? list[0].application_id : NULL;
    if (*found)
        use_guess(rq, &g, s->application_id, out);
    return OK;
}

static enum error_code keep(struct request *rq, const char *name,
                            const struct model_at_hand *list, size_t count)
{
    struct kept_model *kept = NEW(rq->arena, struct kept_model, count + 1);
    struct kept_models all = {kept, count};

    if (!rq->store_decision)
        return OK;
    for (size_t i = 0; i < count; i++) {
        const struct model_at_hand *m = &list[i];
        struct text_buffer b = {.arena = rq->arena};

        if (!m->id) { /* there was none */
            kept[i] = (struct kept_model){.model_id = "",
                                          .kind = "",
                                          .settings = "{}",
                                          .state = "",
                                          .phase_index = (double)NAN,
                                          .guess_s = (double)NAN};
            continue;
        }
        json_print(&model_settings_json, &m->fitted.settings, &b);
        text_add(&b, "", 1);
        kept[i] = (struct kept_model){
            .model_id = m->id,
            .kind = model_kind_names[m->fitted.kind],
            .settings = text_end(&b),
            .state = m->state,
            .phase_index = m->phase_index,
            .version = m->version,
            .guess_s = (double)NAN,
        };
        if (m->fitted.guess)
            keep_guess(m->fitted.guess, &kept[i]);
        if (m->version)
            model_packed_text(&m->fitted, &kept[i].packed, rq->arena);
    }
    return decision_keep_lookup(rq, name, &kept_list_json, &all);
}

static enum error_code take_kept(struct request *rq, const struct kept_model *kept,
                                 struct model_at_hand *out)
{
    struct model_document document = {.packed = kept->packed};
    struct store_model model = {.kind = kept->kind, .settings = kept->settings};
    struct store_model_version none = {0};
    enum model_kind kind;

    *out = (struct model_at_hand){.id = kept->model_id,
                                  .phase_index = kept->phase_index,
                                  .version = kept->version,
                                  .state = kept->state};
    if (!isnan(kept->guess_s)) {
        use_guess(rq,
                  &(struct fitted_guess){
                      .time_s = kept->guess_s,
                      .distances = kept->guess_distances,
                      .count = kept->guess_distance_count,
                      .by_name = kept->guess_by_name,
                      .first = kept->guess_first,
                  },
                  kept->model_id, out);
        return OK;
    }
    if (!kept->packed)
        return stored_fitted(&model, &none, &out->fitted, rq->arena, rq->err);
    TRY(stored_settings(&model, &kind, &document.settings, rq->arena, rq->err));
    document.kind = (int)kind;
    return model_document_read(&document, "/models", NULL, &out->fitted, rq->arena,
                               rq->err);
}

/* Effects of machines as they are now, read once. */
struct effects_now {
    const struct fitted_effect *list;
    size_t count;
    bool is_read;
};

/* What others taught of machines since the model was fitted. */
static enum error_code add_effects(struct request *rq, struct effects_now *now,
                                   struct fitted_model *m)
{
    struct db_session *db;

    if (m->kind != MODEL_AUTO || m->settings.target != TARGET_RUN_TIME || !m->ensemble)
        return OK;
    if (!now->is_read) {
        TRY(request_db(rq, &db));
        TRY(machine_effects_stored(rq, db, &now->list, &now->count));
    }
    now->is_read = true;
    fitted_add_effects(m, now->list, now->count, rq->arena);
    return OK;
}

static enum error_code take_stored(struct request *rq, const struct store_model_now *now,
                                   struct effects_now *effects, struct model_at_hand *out)
{
    *out = (struct model_at_hand){.id = now->model.model_id,
                                  .phase_index = now->model.phase_index,
                                  .version = now->version.version,
                                  .state = now->model.state};
    TRY(stored_fitted(&now->model, &now->version, &out->fitted, rq->arena, rq->err));
    return add_effects(rq, effects, &out->fitted);
}

static int kind_rank(const struct store_model_now *m)
{
    int kind = 0;

    while (model_kind_names[kind] && strcmp(model_kind_names[kind], m->model.kind) != 0)
        kind++;
    return m->version.version ? kind : kind + MODEL_KIND_COUNT;
}

/* The best of each phase: the kind that is asked for, or the first that has a version.
 * The list is by phase; the chosen ones go to its front. */
static size_t choose(const struct model_source *s, struct store_model_now *list,
                     size_t count, bool phases)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct store_model_now *m = &list[i];
        double phase = m->model.phase_index;
        bool same = kept && (list[kept - 1].model.phase_index == phase ||
                             (isnan(list[kept - 1].model.phase_index) && isnan(phase)));

        if ((phases && isnan(phase)) ||
            (s->model_kind >= 0 &&
             strcmp(m->model.kind, model_kind_names[s->model_kind]) != 0))
            continue;
        if (!same)
            list[kept++] = *m;
        else if (kind_rank(m) < kind_rank(&list[kept - 1]))
            list[kept - 1] = *m;
    }
    return kept;
}

static enum error_code read_stored(struct request *rq, const struct model_source *s,
                                   bool phases, struct store_model_now **list,
                                   size_t *count)
{
    const struct store_model_now *rows;
    struct db_session *db;

    TRY(request_db(rq, &db));
    if (s->model_id) {
        *list = NEW(rq->arena, struct store_model_now, 1);
        *count = 1;
        return store_model_now(db, rq->principal.tenant, s->model_id, *list, rq->arena,
                               rq->err);
    }
    TRY(store_models_now(db, rq->principal.tenant, s->application_id, s->site_id,
                         phases ? STORE_ALL_PHASES : s->phase_index, &rows, count,
                         rq->arena, rq->err));
    *list = NEW(rq->arena, struct store_model_now, *count + 1);
    if (*count)
        memcpy(*list, rows, *count * sizeof(*rows));
    *count = choose(s, *list, *count, phases);
    return OK;
}

/* Nothing is known of whole runs of it. */
static bool may_guess(const struct model_source *s, const struct store_model_now *list,
                      size_t count)
{
    return s->like && s->application_id && isnan(s->phase_index) &&
           (count == 0 || list[0].version.version == 0);
}

static enum error_code stored_models(struct request *rq, const struct model_source *s,
                                     bool phases, struct model_at_hand **list,
                                     size_t *count)
{
    struct kept_models kept = {0};
    struct store_model_now *stored = NULL;
    struct effects_now effects = {0};
    bool found, guessed;

    TRY(decision_lookup(rq, "models", &kept_list_json, &kept, &found));
    *count = kept.model_count;
    if (!found)
        TRY(read_stored(rq, s, phases, &stored, count));
    *list = NEW(rq->arena, struct model_at_hand, *count + 1);
    if (!found && may_guess(s, stored, *count)) {
        TRY(guess(rq, s, *list, &guessed));
        if (guessed)
            *count = 1;
        if (guessed)
            return keep(rq, "models", *list, 1);
    }
    if (*count == 0)
        return no_model(s, rq->err);
    for (size_t i = 0; i < *count; i++) {
        if (found)
            TRY(take_kept(rq, &kept.models[i], &(*list)[i]));
        else
            TRY(take_stored(rq, &stored[i], &effects, &(*list)[i]));
    }
    return found ? OK : keep(rq, "models", *list, *count);
}

/* ---- one after the other ---- */

struct model_shelf {
    struct request *rq;
    const char *name;
    bool replayed;
    struct kept_models kept;
    struct model_at_hand **found; /* id NULL: there was none */
    size_t count, room;
    struct effects_now effects;
};

enum error_code model_shelf_open(struct request *rq, const char *name,
                                 struct model_shelf **shelf)
{
    struct model_shelf *s = NEW(rq->arena, struct model_shelf, 1);

    *s = (struct model_shelf){.rq = rq, .name = name};
    *shelf = s;
    return decision_lookup(rq, name, &kept_list_json, &s->kept, &s->replayed);
}

static enum error_code find_now(struct model_shelf *shelf,
                                const struct model_source *source,
                                struct model_at_hand *out)
{
    const struct error before = *shelf->rq->err;
    struct store_model_now *stored;
    size_t count = 0;
    enum error_code code = read_stored(shelf->rq, source, false, &stored, &count);

    if (code == ERR_NOT_FOUND) { /* it may be all right without */
        *shelf->rq->err = before;
        return OK;
    }
    TRY(code);
    if (may_guess(source, stored, count)) {
        bool guessed;

        TRY(guess(shelf->rq, source, out, &guessed));
        if (guessed)
            return OK;
    }
    return count ? take_stored(shelf->rq, &stored[0], &shelf->effects, out) : OK;
}

enum error_code model_shelf_find(struct model_shelf *shelf,
                                 const struct model_source *source,
                                 const struct model_at_hand **model)
{
    struct model_at_hand *out = NEW(shelf->rq->arena, struct model_at_hand, 1);
    size_t at = shelf->count;

    if (at == shelf->room) {
        size_t room = 2 * shelf->room + 4;

        shelf->found = GROW(shelf->rq->arena, shelf->found, struct model_at_hand *,
                            shelf->room, room);
        shelf->room = room;
    }
    if (!shelf->replayed)
        TRY(find_now(shelf, source, out));
    else if (at < shelf->kept.model_count && shelf->kept.models[at].model_id[0])
        TRY(take_kept(shelf->rq, &shelf->kept.models[at], out));
    shelf->found[shelf->count++] = out;
    *model = out->id ? out : NULL;
    return OK;
}

enum error_code model_shelf_keep(struct model_shelf *shelf)
{
    struct model_at_hand *list =
        NEW(shelf->rq->arena, struct model_at_hand, shelf->count);

    if (shelf->replayed)
        return OK;
    for (size_t i = 0; i < shelf->count; i++)
        list[i] = *shelf->found[i];
    return keep(shelf->rq, shelf->name, list, shelf->count);
}

/* Bytes are no run time. */
static enum error_code check_target(const struct fitted_model *m, const char *pointer,
                                    struct error *err)
{
    if (m->settings.target == TARGET_RUN_TIME)
        return OK;
    return invalid(err, pointer, ITEM_CONFLICT,
                   "the model predicts %s, not run times; ask by application_id, with it "
                   "in targets",
                   model_target_names[m->settings.target]);
}

enum error_code models_at_hand(struct request *rq, const struct model_source *source,
                               bool phases, const struct model_at_hand **list,
                               size_t *count)
{
    int ways = (source->model_id != NULL) + (source->application_id != NULL) +
               (source->model != NULL);
    struct model_at_hand *models = NULL;

    if (ways != 1)
        return invalid(rq->err, "/model_id", ways ? ITEM_CONFLICT : ITEM_REQUIRED,
                       "give exactly one of model_id, application_id and model");
    if (phases && !source->application_id)
        return invalid(rq->err, "/application_id", ITEM_REQUIRED,
                       "phases have a model each: name the application");
    if (!source->model) {
        TRY(stored_models(rq, source, phases, &models, count));
        *list = models;
        return check_target(&models[0].fitted, "/model_id", rq->err);
    }
    models = NEW(rq->arena, struct model_at_hand, 1);
    models->phase_index = (double)NAN;
    *count = 1;
    *list = models;
    TRY(model_document_read(source->model, "/model", &rq->budget, &models->fitted,
                            rq->arena, rq->err));
    return check_target(&models->fitted, "/model/settings/target", rq->err);
}
