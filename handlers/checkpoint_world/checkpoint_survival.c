/* checkpoint_survival.c - which failures checkpoints of a level survive, by those stored.
 *
 * A stored failure may say the lowest level of checkpoints that survives it. The share f
 * of a level is that of the failures with a level of at most its own, among all that say
 * one: those of the resources of the job if they are enough for a share, else those of
 * all resources of the tenant. The last level is taken to survive everything, also
 * failures that ask for a higher one, which is said.
 *
 * Source: reliability.md 5. Ours: how many failures are enough, and the scopes.
 */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "service/store_reliability.h"

#include <string.h>

/* Failures of a job's own resources that decide: a share has a standard error of at most
 * 0.11 then. */
enum { OWN_MIN = 20 };

struct tally {
    const char *resource_id; /* "": all resources */
    double level, failure_count;
};

struct tallies {
    const struct tally *list; /* of one resource beside each other */
    size_t count;
};

#define KEPT "failure_levels"

#define T    struct tally
static const struct json_field tally_rows[] = {
    JSON_TEXT(T, resource_id, JSON_REQUIRED, "The resource; empty: all"),
    JSON_NUMBER(T, level, 0, JSON_LARGEST, NAN, JSON_REQUIRED, "Level"),
    JSON_NUMBER(T, failure_count, 0, JSON_LARGEST, NAN, JSON_REQUIRED, "Failures"),
    {0},
};
#undef T
static const struct json_object tally_json = {"KeptFailureLevel", "Failures of a level",
                                              sizeof(struct tally), tally_rows};

#define T struct tallies
static const struct json_field tallies_rows[] = {
    JSON_LIST(T, list, count, struct tally, &tally_json, 0, 0, "By resource and level"),
    {0},
};
#undef T
static const struct json_object tallies_json = {
    "KeptFailureLevels", "Levels that failures of a decision asked for",
    sizeof(struct tallies), tallies_rows};

static const char *const scopes[] = {"resources", "all", NULL};

#define T struct checkpoint_survival
static const struct json_field survival_rows[] = {
    JSON_WORD(T, scope, scopes, 0,
              "Whose: resources, those of the job; all, of the tenant"),
    JSON_NUMBER(T, failure_count, 0, 0, 0, JSON_WHOLE, "Stored failures with a level"),
    JSON_NUMBERS(T, ratios, ratio_count, 0, 0, 0,
                 "survives_ratio of the levels of the request"),
    {0},
};
#undef T
const struct json_object checkpoint_survival_json = {
    "CheckpointSurvival", "What stored failures say of levels",
    sizeof(struct checkpoint_survival), survival_rows};

bool checkpoint_learns_survival(const struct checkpoint_job *job)
{
    for (size_t l = 0; l < job->world.level_count; l++)
        if (!isnan(job->world.levels[l].survives_ratio))
            return false;
    return job->world.level_count > 1;
}

/* ---- what is stored ---- */

/* The ids of the resources of jobs that are to learn, by their places in `ids`. */
static const char *name_ids(struct checkpoint_work *w, const char **ids)
{
    bool *is_named = NEW(w->rq->arena, bool, w->histories.count);
    struct text_buffer text = {.arena = w->rq->arena};
    size_t count = 0;

    for (size_t i = 0; i < w->body->job_count; i++) {
        const struct checkpoint_job *job = &w->body->jobs[i];
        size_t resources =
            checkpoint_learns_survival(job) ? checkpoint_resource_count(w, job) : 0;

        for (size_t r = 0; r < resources; r++) {
            const struct resource_history *h = checkpoint_resource_at(w, job, r);

            if (is_named[h - w->histories.list])
                continue;
            is_named[h - w->histories.list] = true;
            text_add(&text, count ? "," : "[", 1);
            json_print_text(h->id, &text);
            ids[count++] = h->id;
        }
    }
    if (count == 0)
        return NULL;
    text_add(&text, "]", 2); /* with the NUL */
    return text_end(&text);
}

static enum error_code query(struct checkpoint_work *w, struct tallies *out)
{
    struct arena *a = w->rq->arena;
    const char **ids = NEW(a, const char *, w->histories.count);
    const char *named = name_ids(w, ids);
    const struct store_failure_level *own = NULL, *all;
    size_t own_count = 0, all_count;
    struct tally *list;
    struct db_session *db;

    TRY(request_db(w->rq, &db));
    if (named)
        TRY(store_failure_levels(db, w->rq->principal.tenant, named, &own, &own_count, a,
                                 w->rq->err));
    TRY(store_failure_levels(db, w->rq->principal.tenant, NULL, &all, &all_count, a,
                             w->rq->err));
    list = NEW(a, struct tally, own_count + all_count);
    for (size_t i = 0; i < own_count; i++)
        list[i] = (struct tally){ids[own[i].resource], (double)own[i].level,
                                 (double)own[i].failure_count};
    for (size_t i = 0; i < all_count; i++)
        list[own_count + i] =
            (struct tally){"", (double)all[i].level, (double)all[i].failure_count};
    *out = (struct tallies){list, own_count + all_count};
    return OK;
}

static enum error_code read_tallies(struct checkpoint_work *w, struct tallies *out)
{
    bool replayed;

    TRY(decision_lookup(w->rq, KEPT, &tallies_json, out, &replayed));
    if (replayed)
        return OK;
    TRY(query(w, out));
    return decision_keep_lookup(w->rq, KEPT, &tallies_json, out);
}

/* ---- what it says of a job ---- */

/* Failures by the level of the job that survives them. */
struct classes {
    double count[LEVELS_MAX], total;
    bool is_beyond; /* some ask for a level above the last */
};

static void add_tally(const struct checkpoint_job *job, const struct tally *t,
                      struct classes *out)
{
    const struct checkpoint_level *levels = job->world.levels;
    size_t l = 0;

    while (l + 1 < job->world.level_count && levels[l].level < t->level)
        l++;
    out->is_beyond = out->is_beyond || levels[l].level < t->level;
    out->count[l] += t->failure_count;
    out->total += t->failure_count;
}

/* Places of the first tally of each resource. */
static struct name_index index_tallies(const struct tallies *tallies, struct arena *a)
{
    struct name_index index;

    name_index_create(&index, tallies->count, a);
    for (size_t i = 0; i < tallies->count; i++)
        name_index_add(&index, tallies->list[i].resource_id, i);
    return index;
}

static void add_resource(const struct checkpoint_job *job, const struct tallies *tallies,
                         const struct name_index *index, const char *id,
                         struct classes *out)
{
    size_t i = name_index_find(index, id);

    for (; i != NAME_NOT_FOUND && i < tallies->count &&
           strcmp(tallies->list[i].resource_id, id) == 0;
         i++)
        add_tally(job, &tallies->list[i], out);
}

/* false: no stored failure says a level. */
static bool learn(struct checkpoint_work *w, const struct tallies *tallies,
                  const struct name_index *index, struct checkpoint_job *job)
{
    struct checkpoint_survival *survival =
        NEW(w->rq->arena, struct checkpoint_survival, 1);
    size_t count = job->world.level_count, resources = checkpoint_resource_count(w, job);
    struct checkpoint_level *levels = NEW(w->rq->arena, struct checkpoint_level, count);
    double *ratios = NEW(w->rq->arena, double, count), below = 0;
    struct classes found = {.total = 0};

    /* a budget that is spent here cuts the search of the pattern, and that is said */
    for (size_t r = 0; r < resources && !budget_step(&w->rq->budget, 16); r++)
        add_resource(job, tallies, index, checkpoint_resource_at(w, job, r)->id, &found);
    survival->scope = scopes[0];
    if (found.total < OWN_MIN) {
        found = (struct classes){.total = 0};
        survival->scope = scopes[1];
        add_resource(job, tallies, index, "", &found);
    }
    if (!(found.total > 0))
        return false;
    for (size_t l = 0; l < count; l++) {
        below += found.count[l];
        levels[l] = job->world.levels[l];
        levels[l].survives_ratio = ratios[l] = l + 1 < count ? below / found.total : 1;
    }
    survival->failure_count = found.total;
    survival->ratios = ratios;
    survival->ratio_count = count;
    job->world.levels = levels;
    job->world.survival = survival;
    job->world.is_beyond_levels = found.is_beyond;
    return true;
}

/* A level alone survives everything. */
static void use_only_level(struct checkpoint_work *w, struct checkpoint_job *job)
{
    struct checkpoint_level *level = NEW(w->rq->arena, struct checkpoint_level, 1);

    if (job->world.level_count != 1 || !isnan(job->world.levels[0].survives_ratio))
        return;
    *level = job->world.levels[0];
    level->survives_ratio = 1;
    job->world.levels = level;
}

enum error_code checkpoint_learn_survival(struct checkpoint_work *w)
{
    struct checkpoint_intervals_request *body;
    struct checkpoint_job *jobs;
    struct tallies tallies = {NULL, 0};
    struct name_index index;
    struct error before = *w->rq->err;
    bool is_needed = false, has_levels = false;

    for (size_t i = 0; i < w->body->job_count; i++) {
        has_levels = has_levels || w->body->jobs[i].world.level_count > 0;
        is_needed = is_needed || checkpoint_learns_survival(&w->body->jobs[i]);
    }
    if (!has_levels)
        return before.code;
    if (is_needed) {
        enum error_code code = read_tallies(w, &tallies);

        if ((code == ERR_UNAVAILABLE || code == ERR_BUSY) && before.code != OK) {
            *w->rq->err = before; /* these mistakes are known without the database */
            return before.code;
        }
        TRY(code);
    }
    index = index_tallies(&tallies, w->rq->arena);
    body = NEW(w->rq->arena, struct checkpoint_intervals_request, 1);
    jobs = NEW(w->rq->arena, struct checkpoint_job, w->body->job_count);
    *body = *w->body;
    body->jobs = jobs;
    for (size_t i = 0; i < w->body->job_count; i++) {
        jobs[i] = w->body->jobs[i];
        use_only_level(w, &jobs[i]);
        if (checkpoint_learns_survival(&jobs[i]) && !learn(w, &tallies, &index, &jobs[i]))
            checkpoint_job_mistake(
                w, i, "levels/0/survives_ratio", ITEM_REQUIRED,
                "the member is missing, and no stored failure says its level: give it "
                "for each level, or POST failures with a level to /v1/failures");
    }
    w->body = body;
    return w->rq->err->code;
}

void checkpoint_note_survival(struct checkpoint_work *w, const struct checkpoint_job *job)
{
    if (job->world.survival && job->world.survival->failure_count < OWN_MIN)
        checkpoint_affect(w, CHECKPOINT_WARNS_FEW_LEVELS, job);
    if (job->world.is_beyond_levels)
        checkpoint_affect(w, CHECKPOINT_WARNS_BEYOND_LEVELS, job);
}
