/* sizing_models.c - the models that a sizing asks. */
#include "handlers/learning/sizing_models.h"

#include "handlers/common/decision.h"
#include "handlers/model/model_learn.h"
#include "models/fitted/core.h"
#include "service/store_model.h"

#include <math.h>
#include <string.h>

/* A stored model as it was when it was looked up. */
struct kept_model {
    const char *model_id, *settings, *packed; /* packed NULL: there is none */
    uint64_t version;
    double largest;
    uint64_t run_count;
};

struct kept_subject {
    struct kept_model peak, run_time;
    double failure_share, failure_share_runs;
};

enum { SHARES_LEAST = 10 /* failed runs that say how long one lasts */ };

struct kept_subjects {
    const struct kept_subject *subjects;
    size_t subject_count;
    bool unavailable;
};

#define T struct kept_model
static const struct json_field kept_rows[] = {
    JSON_TEXT(T, model_id, JSON_NULLABLE | JSON_OPTIONAL, "Its name"),
    JSON_RAW(T, settings, JSON_NULLABLE | JSON_OPTIONAL, "Its settings"),
    {.name = "packed",
     .doc = "Its numbers",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, packed, const char *),
     .max = MODEL_PACKED_MAX_BYTES,
     .flags = JSON_NULLABLE | JSON_OPTIONAL},
    JSON_INTEGER(T, version, 0, JSON_EXACT, 0, 0, "Its version"),
    JSON_NUMBER(T, largest, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Largest value that it has seen"),
    JSON_INTEGER(T, run_count, 0, JSON_EXACT, 0, 0, "Runs that it has seen"),
    {0},
};
#undef T
static const struct json_object kept_json = {
    "KeptSizingModel", "A stored model as it was", sizeof(struct kept_model), kept_rows};

#define T struct kept_subject
static const struct json_field subject_rows[] = {
    JSON_OBJECT(T, peak, struct kept_model, &kept_json, 0, "Of the target"),
    JSON_OBJECT(T, run_time, struct kept_model, &kept_json, 0, "Of run times"),
    JSON_NUMBER(T, failure_share, 0, 1, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Share of a run that passes before it fails"),
    JSON_NUMBER(T, failure_share_runs, 0, JSON_EXACT, 0, JSON_NULLABLE | JSON_OPTIONAL,
                "Failed runs that say so"),
    {0},
};
#undef T
static const struct json_object subject_json = {
    "KeptSizingSubject", "The models of an application", sizeof(struct kept_subject),
    subject_rows};

#define T struct kept_subjects
static const struct json_field subjects_rows[] = {
    JSON_LIST(T, subjects, subject_count, struct kept_subject, &subject_json,
              JSON_LIST_MAX, 0, "By the order of the tasks"),
    JSON_BOOLEAN(T, unavailable, 0, 0, "The history could not be read"),
    {0},
};
#undef T
static const struct json_object subjects_json = {
    "KeptSizingSubjects", "Stored models as they were", sizeof(struct kept_subjects),
    subjects_rows};

/* ---- now ---- */

static double largest_of(const struct fitted_model *m)
{
    double largest = (double)NAN;

    for (size_t i = 0; m->core && i < m->core->row_count; i++)
        if (!m->core->rows[i].is_outlier)
            largest = fmax(largest, m->core->rows[i].run.run.time_s);
    return largest;
}

static enum error_code keep_one(struct request *rq, const struct store_model_now *now,
                                struct kept_model *out)
{
    struct fitted_model fitted;

    if (now->version.version == 0)
        return OK;
    TRY(stored_fitted(&now->model, &now->version, &fitted, rq->arena, rq->err));
    if (fitted.reason || fitted.kind != MODEL_AUTO)
        return OK;
    *out = (struct kept_model){
        .model_id = now->model.model_id,
        .settings = now->model.settings,
        .version = now->version.version,
        .largest = largest_of(&fitted),
        .run_count = fitted.sample_count,
    };
    model_packed_text(&fitted, &out->packed, rq->arena);
    return OK;
}

/* The first of kind auto that has a version. */
static enum error_code find_auto(struct request *rq, struct db_session *db,
                                 const char *application_id, const char *target,
                                 struct kept_model *out)
{
    const struct store_model_now *list;
    size_t count;

    TRY(store_models_now_of(db, rq->principal.tenant, application_id, NULL, target,
                            (double)NAN, &list, &count, rq->arena, rq->err));
    for (size_t i = 0; i < count && !out->packed; i++)
        if (strcmp(list[i].model.kind, model_kind_names[MODEL_AUTO]) == 0)
            TRY(keep_one(rq, &list[i], out));
    return OK;
}

/* The model that a subject names, or the application of it. */
static enum error_code look_up_model(struct request *rq, struct db_session *db,
                                     const struct sizing_subject *subject,
                                     const char *pointer, struct kept_subject *out,
                                     const char **application_id)
{
    struct store_model_now named;
    const char *target = model_target_names[subject->target];
    enum error_code code = store_model_now(db, rq->principal.tenant, subject->model_id,
                                           &named, rq->arena, rq->err);

    if (code == ERR_NOT_FOUND) {
        *rq->err = (struct error){.arena = rq->err->arena};
        return subject->any_target
                   ? OK
                   : invalid(rq->err, pointer, ITEM_UNKNOWN_ID,
                             "there is no model '%.100s'", subject->model_id);
    }
    if (code != OK)
        return code;
    *application_id = named.model.application_id;
    if (strcmp(named.model.target, target) == 0)
        return keep_one(rq, &named, &out->peak);
    if (!subject->any_target)
        return invalid(rq->err, pointer, ITEM_CONFLICT,
                       "model '%.100s' predicts %.40s, not %s", subject->model_id,
                       named.model.target, target);
    return find_auto(rq, db, *application_id, target, &out->peak);
}

/* What the failed runs of the application say, if there are enough. */
static enum error_code look_up_share(struct request *rq, struct db_session *db,
                                     const char *application_id, int target,
                                     struct kept_subject *out)
{
    double share, count;

    TRY(store_failure_share(db, rq->principal.tenant, application_id,
                            target == TARGET_DISK_PEAK ? "disk" : "memory", &share,
                            &count, rq->arena, rq->err));
    if (count < SHARES_LEAST || !(share > 0))
        return OK;
    out->failure_share = fmin(share, 1);
    out->failure_share_runs = count;
    return OK;
}

static enum error_code look_up(struct request *rq, struct db_session *db,
                               const struct sizing_subject *subject, const char *pointer,
                               struct kept_subject *out)
{
    const char *application_id = subject->application_id;

    out->peak.largest = out->run_time.largest = out->failure_share = (double)NAN;
    if (subject->model_id)
        TRY(look_up_model(rq, db, subject, pointer, out, &application_id));
    else
        TRY(find_auto(rq, db, application_id, model_target_names[subject->target],
                      &out->peak));
    if (application_id && subject->with_share)
        TRY(look_up_share(rq, db, application_id, subject->target, out));
    if (!application_id || subject->any_target) /* the time is known otherwise */
        return OK;
    return find_auto(rq, db, application_id, STORE_TARGET_RUN_TIME, &out->run_time);
}

static enum error_code look_up_all(struct request *rq,
                                   const struct sizing_subject *subjects,
                                   const char *const *pointers, size_t count,
                                   struct kept_subjects *kept)
{
    struct kept_subject *list = NEW(rq->arena, struct kept_subject, count + 1);
    struct db_session *db;
    enum error_code code = request_db(rq, &db);

    for (size_t i = 0; i < count; i++)
        list[i].failure_share = (double)NAN;
    *kept = (struct kept_subjects){list, count, false};
    if (code == ERR_UNAVAILABLE) {
        *rq->err = (struct error){.arena = rq->err->arena};
        kept->unavailable = true;
        return OK;
    }
    if (code != OK)
        return code;
    for (size_t i = 0; i < count; i++) {
        code = look_up(rq, db, &subjects[i], pointers[i], &list[i]);
        if (code != OK && code != ERR_INVALID)
            return code;
    }
    return rq->err->code;
}

/* ---- then ---- */

static enum error_code unpack(struct request *rq, const struct kept_model *kept,
                              const struct fitted_model **out)
{
    struct model_document document = {.kind = MODEL_AUTO, .packed = kept->packed};
    struct fitted_model *m;

    if (!kept->packed)
        return OK;
    TRY(json_read(&model_settings_json, kept->settings, strlen(kept->settings),
                  &document.settings, NULL, rq->arena, rq->err));
    m = NEW(rq->arena, struct fitted_model, 1);
    TRY(model_document_read(&document, "/models", NULL, m, rq->arena, rq->err));
    *out = m;
    return OK;
}

enum error_code sizing_models_read(struct request *rq,
                                   const struct sizing_subject *subjects,
                                   const char *const *pointers, size_t count,
                                   struct sizing_models *out, bool *unavailable)
{
    struct kept_subjects kept = {0};
    bool found;

    TRY(decision_lookup(rq, "sizing_models", &subjects_json, &kept, &found));
    if (!found) {
        TRY(look_up_all(rq, subjects, pointers, count, &kept));
        TRY(decision_keep_lookup(rq, "sizing_models", &subjects_json, &kept));
    }
    *unavailable = kept.unavailable;
    for (size_t i = 0; i < count && i < kept.subject_count; i++) {
        const struct kept_subject *k = &kept.subjects[i];

        out[i] = (struct sizing_models){.peak_model_id = k->peak.model_id,
                                        .peak_version = k->peak.version,
                                        .largest = k->peak.largest,
                                        .run_count = (size_t)k->peak.run_count,
                                        .failure_share = k->failure_share,
                                        .failure_share_runs = k->failure_share_runs};
        TRY(unpack(rq, &k->peak, &out[i].peak));
        TRY(unpack(rq, &k->run_time, &out[i].run_time));
    }
    return OK;
}
