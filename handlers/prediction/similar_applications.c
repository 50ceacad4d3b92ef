/* similar_applications.c - run times for an application of which no run was learnt.
 *
 * Engines ask for a task before it ran for the first time. Others of the tenant may tell:
 * models/fitted/similar.h says which and what.
 */
#include "handlers/prediction/similar_applications.h"

#include "handlers/common/decision.h"
#include "service/store_model.h"

enum { SIMILAR_MAX = 100 }; /* applications */

#define LOOKUP "similar_applications"

struct kept_similar {
    bool no_model, is_cut;
    const struct similar_application *applications;
    size_t application_count;
};

#define T struct similar_application
static const struct json_field application_rows[] = {
    JSON_TEXT(T, application_id, 0, "Its name"),
    JSON_BOOLEAN(T, same_name, 0, 0, "Whether its name ends alike"),
    JSON_NUMBER(T, median_s, 0, JSON_LARGEST, 0, 0, "Median of its run times"),
    JSON_INTEGER(T, known_count, 0, JSON_EXACT, 0, 0, "Inputs that are known"),
    JSON_INTEGER(T, shared_count, 0, JSON_EXACT, 0, 0, "Of them, the question's"),
    {0},
};
#undef T
static const struct json_object application_json = {
    "KeptSimilarApplication", "An application that may be similar",
    sizeof(struct similar_application), application_rows};

#define T struct kept_similar
static const struct json_field kept_rows[] = {
    JSON_BOOLEAN(T, no_model, 0, 0, "Whether the application had no model"),
    JSON_BOOLEAN(T, is_cut, 0, 0, "Whether there were more"),
    JSON_LIST(T, applications, application_count, struct similar_application,
              &application_json, SIMILAR_MAX, 0, "Those that were looked at"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptSimilarApplications",
                                             "Applications that may be similar",
                                             sizeof(struct kept_similar), kept_rows};

enum error_code similar_applications_kept(struct request *rq, struct similar_lookup *out)
{
    struct kept_similar kept = {0};
    bool found;

    *out = (struct similar_lookup){0};
    TRY(decision_lookup(rq, LOOKUP, &kept_json, &kept, &found));
    if (!found) {
        /* A decision of before there was this: it had no answer, and has none. */
        out->is_kept = rq->replay && rq->history_document;
        return OK;
    }
    out->is_kept = true;
    out->no_model = kept.no_model;
    out->is_cut = kept.is_cut;
    similar_time_of(kept.applications, kept.application_count, &out->time, rq->arena);
    return OK;
}

static const char *list_of(const char *const *names, size_t count, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    text_add(&b, "[", 1);
    for (size_t i = 0; i < count; i++) {
        text_add(&b, ",", i > 0);
        json_print_text(names[i], &b);
    }
    text_add(&b, "]", 2); /* with the NUL */
    return text_end(&b);
}

enum error_code similar_applications_find(struct request *rq, const char *application_id,
                                          const char *const *inputs, size_t input_count,
                                          bool no_model, struct similar_lookup *out)
{
    struct kept_similar kept = {.no_model = no_model};
    struct db_session *db;

    if (out->is_kept)
        return OK;
    TRY(request_db(rq, &db));
    TRY(store_similar_applications(
        db, rq->principal.tenant, application_id, similar_name_end(application_id),
        list_of(inputs, input_count, rq->arena), SIMILAR_MAX + 1, &kept.applications,
        &kept.application_count, rq->arena, rq->err));
    kept.is_cut = kept.application_count > SIMILAR_MAX;
    if (kept.is_cut)
        kept.application_count = SIMILAR_MAX;
    out->is_cut = kept.is_cut;
    similar_time_of(kept.applications, kept.application_count, &out->time, rq->arena);
    return decision_keep_lookup(rq, LOOKUP, &kept_json, &kept);
}

const char *similar_applications_warning(const struct similar_lookup *found,
                                         struct arena *a)
{
    const struct similar_time *t = &found->time;

    return arena_printf(
        a,
        "no_runs: no run of the application was learnt: the time is the median of %zu "
        "similar application%s (%s), with the same interval at every level%s",
        t->count, t->count == 1 ? "" : "s",
        t->by == SIMILAR_BY_NAME ? "whose name ends alike"
                                 : "at least half of whose known inputs the question has",
        found->is_cut && (t->by == SIMILAR_BY_INPUTS || t->count == SIMILAR_MAX)
            ? "; of very many applications 100 were looked at"
            : "");
}
