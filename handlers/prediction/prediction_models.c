/* prediction_models.c - which model answers a prediction. */
#include "handlers/prediction/prediction_models.h"

#include "handlers/common/decision.h"
#include "handlers/model/model_learn.h"

#include <string.h>

/* A stored model as it was when it was looked up. */
struct kept_model {
    const char *model_id, *kind, *settings, *state;
    double phase_index;
    uint64_t version;
    const char *packed; /* NULL: without a version */
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

static enum error_code no_model(const struct model_source *s, struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "/application_id",
                "there is no model of the application '%.80s'%s%.60s%s; GET /v1/models "
                "lists those there are",
                s->application_id, s->site_id ? " at site '" : " without a site",
                s->site_id ? s->site_id : "", s->site_id ? "'" : "");
}

/* ---- stored models, now or then ---- */

static enum error_code keep(struct request *rq, const struct model_at_hand *list,
                            size_t count)
{
    struct kept_model *kept = NEW(rq->arena, struct kept_model, count + 1);
    struct kept_models all = {kept, count};

    if (!rq->store_decision)
        return OK;
    for (size_t i = 0; i < count; i++) {
        const struct model_at_hand *m = &list[i];
        struct text_buffer b = {.arena = rq->arena};

        json_print(&model_settings_json, &m->fitted.settings, &b);
        text_add(&b, "", 1);
        kept[i] = (struct kept_model){
            .model_id = m->id,
            .kind = model_kind_names[m->fitted.kind],
            .settings = text_end(&b),
            .state = m->state,
            .phase_index = m->phase_index,
            .version = m->version,
        };
        if (m->version)
            model_packed_text(&m->fitted, &kept[i].packed, rq->arena);
    }
    return decision_keep_lookup(rq, "models", &kept_list_json, &all);
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
    if (!kept->packed)
        return stored_fitted(&model, &none, &out->fitted, rq->arena, rq->err);
    TRY(stored_settings(&model, &kind, &document.settings, rq->arena, rq->err));
    document.kind = (int)kind;
    return model_document_read(&document, "/models", NULL, &out->fitted, rq->arena,
                               rq->err);
}

static enum error_code take_stored(struct request *rq, const struct store_model_now *now,
                                   struct model_at_hand *out)
{
    *out = (struct model_at_hand){.id = now->model.model_id,
                                  .phase_index = now->model.phase_index,
                                  .version = now->version.version,
                                  .state = now->model.state};
    return stored_fitted(&now->model, &now->version, &out->fitted, rq->arena, rq->err);
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
    return *count ? OK : no_model(s, rq->err);
}

static enum error_code stored_models(struct request *rq, const struct model_source *s,
                                     bool phases, struct model_at_hand **list,
                                     size_t *count)
{
    struct kept_models kept = {0};
    struct store_model_now *stored = NULL;
    bool found;

    TRY(decision_lookup(rq, "models", &kept_list_json, &kept, &found));
    *count = kept.model_count;
    if (!found)
        TRY(read_stored(rq, s, phases, &stored, count));
    *list = NEW(rq->arena, struct model_at_hand, *count + 1);
    for (size_t i = 0; i < *count; i++) {
        if (found)
            TRY(take_kept(rq, &kept.models[i], &(*list)[i]));
        else
            TRY(take_stored(rq, &stored[i], &(*list)[i]));
    }
    return found ? OK : keep(rq, *list, *count);
}

enum error_code models_at_hand(struct request *rq, const struct model_source *source,
                               bool phases, const struct model_at_hand **list,
                               size_t *count)
{
    int ways = (source->model_id != NULL) + (source->application_id != NULL) +
               (source->model != NULL);
    struct model_at_hand *models;

    if (ways != 1)
        return invalid(rq->err, "/model_id", ways ? ITEM_CONFLICT : ITEM_REQUIRED,
                       "give exactly one of model_id, application_id and model");
    if (phases && !source->application_id)
        return invalid(rq->err, "/application_id", ITEM_REQUIRED,
                       "phases have a model each: name the application");
    if (!source->model) {
        TRY(stored_models(rq, source, phases, &models, count));
        *list = models;
        return OK;
    }
    models = NEW(rq->arena, struct model_at_hand, 1);
    models->phase_index = (double)NAN;
    *count = 1;
    *list = models;
    return model_document_read(source->model, "/model", &rq->budget, &models->fitted,
                               rq->arena, rq->err);
}
