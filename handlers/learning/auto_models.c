/* auto_models.c - models that come by themselves. */
#include "handlers/learning/auto_models.h"

#include "handlers/model/model_json.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "service/config.h"
#include "service/service.h"
#include "service/store_model.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum {
    APPLICATIONS_MAX = 1000, /* of one request; the others' come with their next runs */
    ID_BYTES_MAX = 100,
    RUNS_RUN_TIME = 1,
    RUNS_OTHER = 2, /* of the other targets */
};

/* What their names end in. */
static const char *const suffixes[TARGET_COUNT] = {
    [TARGET_RUN_TIME] = "",
    [TARGET_MEMORY_PEAK] = "-memory",
    [TARGET_DISK_PEAK] = "-disk",
    [TARGET_CPUS_USED] = "-cpus",
};

/* What a run says of a target. */
static double said_of(const struct execution *run, int target)
{
    switch (target) {
    case TARGET_MEMORY_PEAK:
        return run->memory_peak_bytes;
    case TARGET_DISK_PEAK:
        return run->disk_peak_bytes;
    case TARGET_CPUS_USED:
        return run->cpus_used;
    default:
        return run->run_time_s;
    }
}

/* The applications whose runs say something of the target, as a JSON array; NULL: none.
 */
static const char *applications_of(const struct request *rq, const struct execution *list,
                                   size_t count, int target)
{
    struct text_buffer b = {.arena = rq->arena};
    struct name_index seen;
    size_t found = 0;

    name_index_create(&seen, count, rq->arena);
    for (size_t i = 0; i < count && found < APPLICATIONS_MAX; i++) {
        const char *id = list[i].application_id;

        if (!(said_of(&list[i], target) > 0) || !isnan(list[i].phase_index) ||
            name_index_add(&seen, id, i) != NAME_NOT_FOUND)
            continue;
        text_add(&b, found++ ? "," : "[", 1);
        json_print_text(id, &b);
    }
    if (found == 0)
        return NULL;
    text_add(&b, "]", 2);
    return text_end(&b);
}

/* A name for the model: the application's, with what no path can have replaced. */
static const char *id_of(const char *application_id, const char *suffix, bool taken,
                         struct arena *a)
{
    char *id = arena_text(a, application_id, strlen(application_id));

    if (strlen(id) > ID_BYTES_MAX)
        id[ID_BYTES_MAX] = '\0';
    for (char *c = id; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._~-", *c))
            *c = '-';
    return taken ? arena_printf(a, "%s-auto%s-%08llx", id, suffix,
                                (unsigned long long)hash_fnv1a(application_id) >> 32)
                 : arena_printf(a, "%s%s", id, suffix);
}

static const char *settings_of(int target, struct arena *a)
{
    struct model_settings settings = {0};
    struct text_buffer b = {.arena = a};
    struct error ignored = {.arena = a};

    json_read(&model_settings_json, "{}", 2, &settings, NULL, a, &ignored);
    settings.target = target;
    json_print(&model_settings_json, &settings, &b);
    text_add(&b, "", 1);
    return text_end(&b);
}

static enum error_code make_one(struct request *rq, struct db_session *db,
                                const char *application_id, int target)
{
    const char *suffix = suffixes[target];
    struct store_model made;
    enum error_code code = ERR_CONFLICT;

    for (int taken = 0; taken < 2 && code == ERR_CONFLICT; taken++) {
        struct store_model wanted = {
            .tenant = rq->principal.tenant,
            .model_id = id_of(application_id, suffix, taken, rq->arena),
            .application_id = application_id,
            .phase_index = (double)NAN,
            .kind = model_kind_names[MODEL_AUTO],
            .target = model_target_names[target],
            .settings = settings_of(target, rq->arena),
        };

        *rq->err = (struct error){.arena = rq->err->arena};
        code = store_model_create(db, wanted.tenant, &wanted, false, &made, rq->arena,
                                  rq->err);
    }
    return code;
}

static enum error_code make_missing(struct request *rq, struct db_session *db,
                                    const char *applications, int target, size_t runs,
                                    const char **warning)
{
    uint64_t most = (uint64_t)rq->service->config->auto_models_max, have;
    const struct store_application *missing;
    size_t count;

    if (!applications)
        return OK;
    TRY(store_models_missing(db, rq->principal.tenant, applications,
                             model_target_names[target], runs, APPLICATIONS_MAX, &missing,
                             &count, rq->arena, rq->err));
    if (count == 0)
        return OK;
    TRY(store_models_count(db, rq->principal.tenant, &have, rq->arena, rq->err));
    for (size_t i = 0; i < count; i++, have++) {
        enum error_code code;

        if (have >= most) {
            *warning = arena_printf(
                rq->arena,
                "auto_models_full: there %s %s, so %s %s none by %s; POST "
                "/v1/models makes one",
                plural(have, "is", "are"), counted(have, "model").text,
                counted(count - i, "application").text, plural(count - i, "gets", "get"),
                plural(count - i, "itself", "themselves"));
            return OK;
        }
        code = make_one(rq, db, missing[i].application_id, target);
        if (code != OK && code != ERR_CONFLICT)
            return code;
    }
    return OK;
}

void auto_models_make(struct request *rq, struct db_session *db,
                      const struct execution *list, size_t count, const char **warning)
{
    struct error before = *rq->err;
    enum error_code code = OK;

    *warning = NULL;
    if (!rq->service->config || !rq->service->config->auto_models || count == 0)
        return;
    for (int target = 0; target < TARGET_COUNT && code == OK; target++)
        code =
            make_missing(rq, db, applications_of(rq, list, count, target), target,
                         target == TARGET_RUN_TIME ? RUNS_RUN_TIME : RUNS_OTHER, warning);
    *rq->err = before;
}
