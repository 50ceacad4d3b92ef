/* prediction_targets.c - what else is predicted of a run: the peaks of its memory and of
 * its disk space, the cpus that it uses.
 *
 * An application has a model of kind auto for each target. One that is asked for a run
 * time can be asked for the others with the same question.
 *
 * Source: learning.md 7, 16.2.
 */
#include "handlers/learning/prediction_targets.h"

#include "handlers/learning/sizing_models.h"
#include "models/base/pointer.h"

#include <math.h>
#include <string.h>

#define T struct predicted_target
static const struct json_field target_rows[] = {
    JSON_NUMBER(T, value, 0, 0, 0, 0, "What half of the runs do not exceed"),
    JSON_NUMBER(T, low, 0, 0, 0, 0, "Lower end of the interval"),
    JSON_NUMBER(T, high, 0, 0, 0, 0, "Upper end"),
    JSON_WORD(T, interval_basis, fitted_basis_names, JSON_OPTIONAL,
              "What its interval rests on, as that of run times"),
    {0},
};
#undef T
const struct json_object predicted_target_json = {
    "PredictedTarget", "Another target than the run time, in its own unit",
    sizeof(struct predicted_target), target_rows};

static bool is_named(const char *const *list, size_t count, enum model_target target)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], model_target_names[target]) == 0)
            return true;
    return false;
}

static bool is_asked(const char *const *list, size_t count, int target)
{
    return target != TARGET_RUN_TIME && is_named(list, count, (enum model_target)target);
}

void prediction_targets_check(const char *const *list, size_t count,
                              const char *application_id, struct error *err)
{
    size_t names = 0;

    while (model_target_names[names])
        names++;
    for (size_t i = 0; i < count && i <= names; i++) {
        struct pointer at = pointer_in("/targets", i, NULL);
        bool is_known = false;

        for (size_t k = 0; k < names; k++)
            is_known = is_known || strcmp(list[i], model_target_names[k]) == 0;
        for (size_t k = 0; k < i; k++)
            if (strcmp(list[i], list[k]) == 0)
                invalid(err, at.text, ITEM_NOT_ALLOWED, "it is there already");
        if (is_known)
            continue;
        invalid(err, at.text, ITEM_NOT_A_CHOICE,
                "one of run_time_s, memory_peak_bytes, disk_peak_bytes and cpus_used");
        error_allow(err, list[i], model_target_names, names);
    }
    if (count > names)
        invalid(err, "/targets", ITEM_TOO_MANY, "there are %zu targets", names);
    for (int t = 0; t < TARGET_COUNT && !application_id; t++) {
        if (!is_asked(list, count, t))
            continue;
        invalid(err, "/targets", ITEM_INVALID_COMBINATION,
                "%s has a model of its own: name the application_id",
                model_target_names[t]);
        break;
    }
}

enum error_code prediction_targets_begin(struct request *rq, const char *const *list,
                                         size_t count, const char *application_id,
                                         double level, struct asked_targets *out,
                                         const char **warning)
{
    struct sizing_subject subjects[TARGET_COUNT];
    const char *pointers[TARGET_COUNT], *missing = NULL;
    struct sizing_models models[TARGET_COUNT] = {0};
    size_t asked = 0, at = 0;
    bool unavailable;

    *warning = NULL;
    for (int t = 0; t < TARGET_COUNT; t++) {
        if (!is_asked(list, count, t))
            continue;
        subjects[asked] =
            (struct sizing_subject){.application_id = application_id, .target = t};
        pointers[asked++] = "/application_id";
    }
    if (asked == 0)
        return OK;
    TRY(sizing_models_read(rq, subjects, pointers, asked, models, &unavailable));
    for (int t = 0; t < TARGET_COUNT; t++) {
        struct asked_target *target = &out->of[t];

        if (!is_asked(list, count, t))
            continue;
        target->model = models[at++].peak;
        if (target->model)
            TRY(fitted_interval(target->model, level, &target->interval, rq->arena,
                                rq->err));
        else
            missing = missing ? arena_printf(rq->arena, "%s, %s", missing,
                                             model_target_names[t])
                              : model_target_names[t];
    }
    if (missing)
        *warning = arena_printf(rq->arena,
                                "model_missing: no run of the application that was "
                                "learnt tells its %s",
                                missing);
    return OK;
}

const struct predicted_target *prediction_target_of(const struct asked_target *asked,
                                                    const struct perf_query *query,
                                                    const double *inputs, struct arena *a)
{
    struct fitted_prediction p;
    struct predicted_target *out;

    fitted_predict(asked->model, query, inputs, &asked->interval, &p);
    if (p.reason || !isfinite(p.high_s))
        return NULL;
    out = NEW(a, struct predicted_target, 1);
    *out = (struct predicted_target){p.time_s, p.low_s, p.high_s, p.own_basis};
    return out;
}
