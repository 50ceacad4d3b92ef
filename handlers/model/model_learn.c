/* model_learn.c - stored models learn their executions.
 *
 * One transaction: lock the model's row, read the version that predicts and the
 * executions nobody has looked at, predict and learn each, write the next version. Under
 * an Idempotency-Key it is read without the lock, and the next version is written when
 * the answer is published, if the model is still the same.
 *
 * In the profile robust a version remembers its runs (models/fitted/core.h): what is due
 * is trained from them. A model without a version learns its latest 2,000 executions from
 * the first on. In the profile thesis, and for what was ported, a model that is to be
 * trained is trained from its latest 2,000 executions instead; a list that is due is
 * formed anew from them. A model that knows a run that was corrected or removed since
 * begins anew with the others, which keep what was found of them.
 */
#include "handlers/model/model_learn.h"

#include "handlers/learning/machine_effects.h"
#include "models/base/names.h"
#include "models/fitted/core.h"
#include "models/json_walk.h"
#include "service/metrics.h"
#include "service/service.h"
#include "service/store_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RETRY_S = 60; /* after a failure that is not the executions' */
enum { TRAIN_ATTEMPTS = 3 };

#define T struct learn_outcome
static const struct json_field outcome_rows[] = {
    JSON_INTEGER(T, version, 0, JSON_EXACT, 0, 0, "Version that predicts now; 0: none"),
    JSON_WORD(
        T, cause, store_cause_names, JSON_OPTIONAL,
        "train, refine, reform, change (the run times have changed) or correction (runs "
        "that it knew were corrected or removed); left out when there is no new version"),
    JSON_INTEGER(T, learnt_count, 0, JSON_EXACT, 0, 0, "Executions that were looked at"),
    JSON_WORD(T, reason, fitted_reason_names, JSON_OPTIONAL,
              "Why there is no model, or the old one stays: insufficient_samples, "
              "rank_deficient ..."),
    {0},
};
#undef T
const struct json_object learn_outcome_json = {
    "LearnOutcome", "What a model learnt", sizeof(struct learn_outcome), outcome_rows};

/* ---- stored models ---- */

enum error_code stored_settings(const struct store_model *model, enum model_kind *kind,
                                struct model_settings *settings, struct arena *a,
                                struct error *err)
{
    size_t k = 0;

    while (model_kind_names[k] && strcmp(model_kind_names[k], model->kind) != 0)
        k++;
    if (!model_kind_names[k])
        return fail(err, ERR_INTERNAL, "", "the stored model has the kind '%.40s'",
                    model->kind);
    *kind = (enum model_kind)k;
    return json_read(&model_settings_json, model->settings, strlen(model->settings),
                     settings, NULL, a, err);
}

enum error_code stored_fitted(const struct store_model *model,
                              const struct store_model_version *version,
                              struct fitted_model *out, struct arena *a,
                              struct error *err)
{
    struct model_settings settings;
    enum model_kind kind;
    const double *numbers;
    size_t count;

    TRY(stored_settings(model, &kind, &settings, a, err));
    if (version->version == 0) {
        TRY(fitted_train(kind, &settings, NULL, 0, NULL, out, NULL, a, err));
        out->reason = FITTED_UNTRAINED;
        return OK;
    }
    numbers = store_numbers_read(version->numbers, &count, a);
    if (!numbers)
        arena_leave(a);
    if (version->layout == FITTED_LAYOUT) {
        enum error_code code =
            fitted_unpack(kind, &settings, numbers, count, out, a, err);

        if (code == OK)
            return code;
    }
    *err = (struct error){.arena = err->arena};
    return fail(err, ERR_INTERNAL, "",
                "version %llu of model '%.100s' was written by another version of the "
                "service; train it anew",
                (unsigned long long)version->version, model->model_id);
}

/* A number that is a member of the parameters of a run. */
static enum error_code parameter_of(const struct store_sample *s, const char *name,
                                    double *value, struct arena *a, struct error *err)
{
    const char *text = NULL;
    char *end;

    *value = (double)NAN;
    if (!s->parameters)
        return OK;
    TRY(json_member(s->parameters, name, &text, a, err));
    if (!text)
        return OK;
    *value = strtod(text, &end);
    if (end == text || *end)
        *value = (double)NAN;
    return OK;
}

void model_parameters_read(const char *text, struct named_value *list, size_t *count,
                           struct arena *a)
{
    struct json_walk w;
    const char *name;

    *count = 0;
    json_walk_open(&w, text, strlen(text), a);
    json_walk_enter(&w, '{');
    while (*count < MODEL_PARAMETERS_MAX && (name = json_walk_member(&w))) {
        struct named_value *v = &list[*count];
        char type = json_walk_type(&w);

        *v = (struct named_value){.name = arena_text(a, name, strlen(name))};
        if (type == '0') {
            v->type = VALUE_NUMBER;
            v->number = json_walk_number(&w);
        } else if (type == '"') {
            v->type = VALUE_TEXT;
            v->text = json_walk_string(&w);
            v->text = arena_text(a, v->text, strlen(v->text));
        } else {
            v->type = type == 't' || type == 'f' ? VALUE_BOOLEAN : VALUE_UNDEFINED;
            v->number = type == 't';
            json_walk_skip(&w);
        }
        *count += v->type != VALUE_UNDEFINED;
    }
}

static void auto_inputs_of(const struct store_sample *s, const struct perf_query *query,
                           struct ensemble_names *names, struct fitted_run *out,
                           struct arena *a)
{
    struct named_value list[MODEL_PARAMETERS_MAX];
    size_t count = 0;

    if (s->parameters)
        model_parameters_read(s->parameters, list, &count, a);
    out->names = names;
    fitted_auto_inputs(names, query, list, count, s->resource_class, s->site_id,
                       out->inputs, a);
}

static enum error_code run_of(enum model_kind kind, const struct model_settings *settings,
                              const struct store_sample *s, struct ensemble_names *names,
                              struct fitted_run *out, struct arena *a, struct error *err)
{
    bool is_free = s->dedicated && isnan(s->cpu_available_ratio);
    struct perf_query query = {s->problem_size, s->processors,
                               is_free ? 1 : s->cpu_available_ratio, s->bandwidth_mbps};
    size_t input_count;
    const char *const *chosen = fitted_inputs(kind, settings, &input_count);

    *out = (struct fitted_run){.run = {query.problem_size, query.processors,
                                       query.cpu_available_ratio, query.bandwidth_mbps,
                                       s->run_time_s, s->dedicated,
                                       strcmp(s->verdict, "outlier") == 0},
                               .started_at_s = s->started_at_s};
    if (kind == MODEL_AUTO && names)
        auto_inputs_of(s, &query, names, out, a);
    out->is_bound = s->is_bound;
    for (size_t k = 0; kind >= MODEL_LINEAR && k < input_count; k++) {
        out->inputs[k] = fitted_input(chosen[k], &query, NULL, 0);
        if (isnan(out->inputs[k]))
            TRY(parameter_of(s, chosen[k], &out->inputs[k], a, err));
    }
    return OK;
}

enum error_code stored_runs(enum model_kind kind, const struct model_settings *settings,
                            struct ensemble_names *names,
                            const struct store_sample *samples, size_t count, bool all,
                            struct fitted_run **runs, size_t **place, size_t *run_count,
                            struct arena *a, struct error *err)
{
    struct fitted_run *list = NEW(a, struct fitted_run, count + 1);
    size_t *places = NEW(a, size_t, count + 1);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (!all && strcmp(samples[i].verdict, "left_out") == 0)
            continue;
        TRY(run_of(kind, settings, &samples[i], names, &list[n], a, err));
        places[n++] = i;
    }
    *runs = list;
    *place = places;
    *run_count = n;
    return OK;
}

enum error_code model_write(struct db_session *db, const struct store_model *model,
                            const struct fitted_model *fitted, const char *cause,
                            const struct model_origins *origins,
                            const struct store_sample *looked_at, size_t looked_at_count,
                            struct arena *a, struct error *err)
{
    bool is_ported = fitted->kind == MODEL_COMPREHENSIVE && fitted->set.reference;
    struct text_buffer b = {.arena = a};
    struct model_summary summary;
    struct model_change change;
    struct store_model_version version = {
        .parent_version = strcmp(cause, store_cause_names[STORE_TRAIN]) == 0 ||
                                  strcmp(cause, store_cause_names[STORE_PORT]) == 0 ||
                                  strcmp(cause, store_cause_names[STORE_CORRECTION]) == 0
                              ? 0
                              : model->version,
        .cause = cause,
        .state = store_model_states[is_ported ? STORE_PORTED : STORE_TRAINED],
        .layout = FITTED_LAYOUT,
    };
    struct store_model_advance advance = {
        .version = &version, .looked_at = looked_at, .looked_at_count = looked_at_count};
    const double *numbers;
    size_t count;

    fitted_pack(fitted, true, &numbers, &count, a);
    version.numbers = store_numbers(numbers, count, a);
    model_summary_of(fitted, origins->reference_model_id, &summary, a);
    if (summary.change) {
        change = *summary.change;
        change.at_execution_id = origins->change_execution_id;
        if (fitted->core->change_scope == CORE_SCOPE_CLASS)
            change.resource_class = origins->change_spot;
        if (fitted->core->change_scope == CORE_SCOPE_SITE)
            change.site_id = origins->change_spot;
        summary.change = &change;
    }
    json_print(&model_summary_json, &summary, &b);
    text_add(&b, "", 1);
    if (!version.numbers.data)
        arena_leave(a);
    version.summary = text_end(&b);
    return store_model_advance(db, model, &advance, a, err);
}

/* ---- learning ---- */

/* What came of it, to be written. */
struct learnt_result {
    bool is_there;
    const char *cause; /* of the next version; NULL: there is none, and why is `note` */
    const char *note;
    bool forgets; /* ... and the model has no version any more */
    const struct store_sample *looked_at;
    size_t looked_at_count;
};

/* A model on its way to the next version. */
struct learning {
    struct request *rq;
    struct db_session *db;
    struct store_model model;
    enum model_kind kind;
    struct model_settings settings;
    struct fitted_model fitted;
    struct model_origins origins;
    bool change_is_earlier;        /* ... began with a run of before the batch */
    struct store_sample *unlearnt; /* nobody has looked at them */
    size_t unlearnt_count;
    bool train_due, reform_due;
    const struct training_window *window; /* NULL: as it is */
    const char *new_settings;             /* JSON; NULL: as they are */
    struct learnt_result result;
    const struct learn_outcome *out; /* what the request is answered */
};

static void conclude(struct learning *l, const char *cause,
                     const struct store_sample *looked_at, size_t looked_at_count)
{
    l->result = (struct learnt_result){.is_there = true,
                                       .cause = cause,
                                       .looked_at = looked_at,
                                       .looked_at_count = looked_at_count};
}

/* No model came of it: the new runs have been looked at, and why is noted. */
static void conclude_without(struct learning *l, const char *reason)
{
    conclude(l, NULL, l->unlearnt, l->unlearnt_count);
    l->result.note = reason;
}

/* Of a model that is locked, and as it was read. */
static enum error_code write_result(const struct learning *l, struct db_session *db)
{
    const struct learnt_result *r = &l->result;
    struct store_model_advance advance = {.note = r->note,
                                          .forgets = r->forgets,
                                          .looked_at = r->looked_at,
                                          .looked_at_count = r->looked_at_count};

    if (!r->is_there)
        return OK;
    if (!r->cause)
        return store_model_advance(db, &l->model, &advance, l->rq->arena, l->rq->err);
    if (l->kind == MODEL_AUTO && l->settings.target == TARGET_RUN_TIME)
        TRY(store_machine_effects_stale(db, l->model.tenant, l->rq->err));
    return model_write(db, &l->model, &l->fitted, r->cause, &l->origins, r->looked_at,
                       r->looked_at_count, l->rq->arena, l->rq->err);
}

/* Every run that the model may learn: those of before, then the new runs. */
static enum error_code all_runs(const struct learning *l, bool left_out_too,
                                struct store_sample **samples, struct fitted_run **runs,
                                size_t **place, size_t *run_count)
{
    struct arena *a = l->rq->arena;
    const struct store_sample *stored;
    size_t count;

    TRY(store_model_samples(l->db, l->model.tenant, l->model.model_id, STORE_SAMPLES_ALL,
                            &stored, &count, a, l->rq->err));
    *samples = NEW(a, struct store_sample, count + 1);
    if (count)
        memcpy(*samples, stored, count * sizeof(**samples));
    return stored_runs(l->kind, &l->settings, NULL, *samples, count, left_out_too, runs,
                       place, run_count, a, l->rq->err);
}

/* What was found of the new runs just now, for rows that were read again: what they were
 * predicted as, and which are outliers. *older gets the new runs that are not among the
 * latest runs any more. */
static void apply_unlearnt(const struct learning *l, struct store_sample *samples,
                           struct fitted_run *runs, const size_t *place, size_t count,
                           struct store_sample **older, size_t *older_count)
{
    struct arena *a = l->rq->arena;
    bool *seen = NEW(a, bool, l->unlearnt_count + 1);
    struct name_index index;

    *older = NEW(a, struct store_sample, l->unlearnt_count + 1);
    *older_count = 0;
    name_index_create(&index, l->unlearnt_count, a);
    for (size_t i = 0; i < l->unlearnt_count; i++)
        name_index_add(&index, l->unlearnt[i].execution_id, i);
    for (size_t i = 0; i < count; i++) {
        struct store_sample *s = &samples[place[i]];
        size_t at = name_index_find(&index, s->execution_id);

        if (at == NAME_NOT_FOUND)
            continue;
        seen[at] = true;
        s->predicted_s = l->unlearnt[at].predicted_s;
        s->predicted_version = l->unlearnt[at].predicted_version;
        if (strcmp(l->unlearnt[at].verdict, fitted_verdict_names[RUN_OUTLIER]) == 0)
            runs[i].run.outlier = true;
    }
    for (size_t i = 0; i < l->unlearnt_count; i++)
        if (!seen[i])
            (*older)[(*older_count)++] = l->unlearnt[i];
}

/* Trains from all runs; *done false: there is no model, and why is in `reason`. */
static enum error_code train(struct learning *l, struct learn_outcome *out, bool *done)
{
    struct request *rq = l->rq;
    struct fitted_model trained;
    struct store_sample *samples, *older, *looked_at;
    struct fitted_run *runs;
    enum fitted_verdict *verdict;
    size_t *place, count, older_count;

    TRY(all_runs(l, l->model.train_requested, &samples, &runs, &place, &count));
    apply_unlearnt(l, samples, runs, place, count, &older, &older_count);
    verdict = NEW(rq->arena, enum fitted_verdict, count + 1);
    looked_at = NEW(rq->arena, struct store_sample, count + older_count + 1);
    TRY(fitted_train(l->kind, &l->settings, runs, count, &rq->budget, &trained, verdict,
                     rq->arena, rq->err));
    *done = !trained.reason;
    out->reason = trained.reason;
    if (trained.reason)
        return OK;
    fitted_keep_errors(&l->fitted, &trained);
    for (size_t i = 0; i < count; i++) {
        looked_at[i] = samples[place[i]];
        if (strcmp(looked_at[i].verdict, fitted_verdict_names[RUN_LEFT_OUT]) == 0)
            looked_at[i].version = (double)NAN;
        looked_at[i].verdict = fitted_verdict_names[verdict[i]];
    }
    for (size_t i = 0; i < older_count; i++) {
        looked_at[count + i] = older[i];
        looked_at[count + i].verdict = fitted_verdict_names[RUN_LEFT_OUT];
    }
    l->fitted = trained;
    out->cause = store_cause_names[STORE_TRAIN];
    out->version = l->model.last_version + 1;
    conclude(l, out->cause, looked_at, count + older_count);
    return OK;
}

/* The rows that a list ranked by APPE needs: all runs of before, room for the new ones.
 */
static enum error_code rows_before(const struct learning *l, struct perf_sample **rows,
                                   size_t *count)
{
    struct request *rq = l->rq;
    const struct store_sample *known;
    struct fitted_run *runs;
    size_t *place, known_count;

    *rows = NULL;
    *count = 0;
    if (l->kind != MODEL_COMPREHENSIVE || l->settings.selection_metric != 1)
        return OK;
    TRY(store_model_samples(l->db, l->model.tenant, l->model.model_id,
                            STORE_SAMPLES_KNOWN, &known, &known_count, rq->arena,
                            rq->err));
    TRY(stored_runs(l->kind, &l->settings, NULL, known, known_count, false, &runs, &place,
                    count, rq->arena, rq->err));
    *rows = NEW(rq->arena, struct perf_sample, *count + l->unlearnt_count + 1);
    for (size_t i = 0; i < *count; i++)
        (*rows)[i] = runs[i].run;
    return OK;
}

/* Predicts and learns the new runs, each in O(k^2). */
static enum error_code refine(struct learning *l)
{
    struct request *rq = l->rq;
    struct perf_sample *rows;
    size_t row_count;

    TRY(rows_before(l, &rows, &row_count));
    for (size_t i = 0; i < l->unlearnt_count; i++) {
        struct store_sample *s = &l->unlearnt[i];
        struct fitted_update update;
        struct fitted_run run;

        TRY(run_of(l->kind, &l->settings, s, NULL, &run, rq->arena, rq->err));
        if (rows)
            rows[row_count++] = run.run;
        fitted_learn(&l->fitted, &run, rows, row_count, &update);
        s->predicted_s = update.predicted_s;
        s->predicted_version =
            isnan(update.predicted_s) ? (double)NAN : (double)l->model.version;
        s->verdict = fitted_verdict_names[update.verdict];
        l->train_due = l->train_due || update.train_due;
        l->reform_due = l->reform_due || update.reform_due;
    }
    return OK;
}

static enum error_code reform(struct learning *l)
{
    struct store_sample *samples, *older;
    struct fitted_run *runs;
    size_t *place, count, older_count;

    TRY(all_runs(l, false, &samples, &runs, &place, &count));
    apply_unlearnt(l, samples, runs, place, count, &older, &older_count);
    return fitted_reform(&l->fitted, runs, count, &l->rq->budget, l->rq->arena,
                         l->rq->err);
}

/* ---- with a memory of its runs ---- */

/* Whether it learns its first runs, or all of them anew. */
static bool is_starting(const struct learning *l)
{
    return l->model.version == 0 || l->model.corrected;
}

/* Runs of before a batch that are no outliers after a change. */
struct taken {
    size_t count; /* the latest of the spot */
    struct core_spot spot;
};

/* What a batch of runs did to the model. */
struct batch {
    bool changed, reformed;
    struct taken *earlier; /* for each change that began before the batch */
    size_t earlier_count;
};

/* What the model is to learn now: the new runs; without a version, or anew, all there
 * are; where it is to be trained also what a roll-back left out. */
static enum error_code gather_unlearnt(struct learning *l)
{
    bool takes_all = is_starting(l);
    struct arena *a = l->rq->arena;
    const struct store_sample *stored;
    struct store_sample *list;
    size_t count, kept = 0;

    if (!takes_all && !l->model.train_requested)
        return OK;
    TRY(store_model_samples(l->db, l->model.tenant, l->model.model_id, STORE_SAMPLES_ALL,
                            &stored, &count, a, l->rq->err));
    list = NEW(a, struct store_sample, count + l->unlearnt_count + 1);
    for (size_t i = 0; i < count; i++) {
        bool is_left_out =
            strcmp(stored[i].verdict, fitted_verdict_names[RUN_LEFT_OUT]) == 0;
        bool is_unlearnt = isnan(stored[i].version);

        if (is_left_out && l->model.corrected)
            continue; /* it stays so */
        if (!takes_all ? is_left_out || is_unlearnt
                       : !is_left_out || l->model.train_requested)
            list[kept++] = stored[i];
        if (is_left_out && l->model.train_requested)
            list[kept - 1].version = (double)NAN;
    }
    l->unlearnt = list;
    l->unlearnt_count = kept;
    return OK;
}

/* The stored run's name of that scope; NULL: it has none. */
static const char *name_of(const struct store_sample *s, enum core_scope scope)
{
    return scope == CORE_SCOPE_CLASS  ? s->resource_class
           : scope == CORE_SCOPE_SITE ? s->site_id
                                      : NULL;
}

static bool is_of(const struct core_spot *spot, const struct store_sample *s)
{
    const char *name = name_of(s, spot->scope);
    double key = name ? ensemble_text(name) : (double)NAN;

    return spot->scope == CORE_SCOPE_ALL || (key >= spot->key && key <= spot->key);
}

/* After a change: the last `count` runs of the spot up to unlearnt[last] are no outliers.
 * Those that are not among the new runs go to the batch. */
static void take_back(struct learning *l, size_t last, const struct core_update *update,
                      struct batch *batch)
{
    size_t count = update->taken_back;

    for (size_t i = last + 1; i-- > 0 && count > 0;) {
        struct store_sample *s = &l->unlearnt[i];
        bool is_outlier = strcmp(s->verdict, fitted_verdict_names[RUN_OUTLIER]) == 0;

        if (strcmp(s->verdict, fitted_verdict_names[RUN_UNUSABLE]) == 0 ||
            (is_outlier && isnan(s->predicted_s)) || !is_of(&update->spot, s))
            continue; /* not one that the model remembers, or that changed */
        s->verdict = fitted_verdict_names[RUN_FIT];
        count--;
        l->origins.change_execution_id = s->execution_id;
    }
    l->origins.change_spot = name_of(&l->unlearnt[last], update->spot.scope);
    l->change_is_earlier = count > 0;
    if (count == 0)
        return;
    batch->earlier = GROW(l->rq->arena, batch->earlier, struct taken,
                          batch->earlier_count, batch->earlier_count + 1);
    batch->earlier[batch->earlier_count++] = (struct taken){count, update->spot};
}

/* Likewise for the latest of those that were learnt before: they join the new runs. */
static void take_back_known(struct learning *l, struct store_sample *known,
                            size_t known_count, const struct taken *taken, bool is_last)
{
    size_t count = taken->count;

    l->unlearnt = GROW(l->rq->arena, l->unlearnt, struct store_sample, l->unlearnt_count,
                       l->unlearnt_count + count + 1);
    for (size_t i = known_count; i-- > 0 && count > 0;) {
        bool is_outlier =
            strcmp(known[i].verdict, fitted_verdict_names[RUN_OUTLIER]) == 0;

        if (!(known[i].version > 0) || (is_outlier && isnan(known[i].predicted_s)) ||
            (!is_outlier &&
             strcmp(known[i].verdict, fitted_verdict_names[RUN_FIT]) != 0) ||
            !is_of(&taken->spot, &known[i]))
            continue;
        count--;
        if (is_last && l->change_is_earlier)
            l->origins.change_execution_id = known[i].execution_id;
        if (!is_outlier)
            continue;
        known[i].verdict = fitted_verdict_names[RUN_FIT]; /* once */
        l->unlearnt[l->unlearnt_count++] = known[i];
    }
}

static enum error_code take_back_earlier(struct learning *l, const struct batch *batch)
{
    struct arena *a = l->rq->arena;
    const struct store_sample *stored;
    struct store_sample *known;
    size_t count;

    if (batch->earlier_count == 0)
        return OK;
    TRY(store_model_samples(l->db, l->model.tenant, l->model.model_id,
                            STORE_SAMPLES_KNOWN, &stored, &count, a, l->rq->err));
    known = NEW(a, struct store_sample, count + 1);
    if (count)
        memcpy(known, stored, count * sizeof(*known));
    for (size_t i = 0; i < batch->earlier_count; i++) {
        budget_step(&l->rq->finish, count);
        take_back_known(l, known, count, &batch->earlier[i],
                        i + 1 == batch->earlier_count);
    }
    return OK;
}

static enum error_code learn_batch(struct learning *l, const struct fitted_room *room,
                                   struct batch *batch)
{
    struct request *rq = l->rq;
    bool starting = is_starting(l);

    for (size_t i = 0; i < l->unlearnt_count; i++) {
        struct store_sample *s = &l->unlearnt[i];
        struct core_update update;
        struct fitted_run run;

        if (l->kind == MODEL_AUTO &&
            i < fitted_auto_first(&l->settings, l->unlearnt_count)) {
            s->verdict = fitted_verdict_names[RUN_LEFT_OUT];
            continue;
        }
        TRY(run_of(l->kind, &l->settings, s, l->fitted.names, &run, rq->arena, rq->err));
        TRY(core_learn(&l->fitted, &run, starting, room, &update, rq->err));
        if (l->model.corrected && s->version > 0)
            continue; /* what was said of it stays */
        /* What no version has predicted yet is kept only where it tells of an outlier. */
        s->predicted_s =
            starting && update.verdict != RUN_OUTLIER ? (double)NAN : update.predicted_s;
        s->predicted_version = isnan(update.predicted_s) || starting
                                   ? (double)NAN
                                   : (double)l->model.version;
        s->verdict = fitted_verdict_names[update.verdict];
        batch->reformed = batch->reformed || update.reformed;
        if (update.taken_back == 0)
            continue;
        batch->changed = true;
        take_back(l, i, &update, batch);
    }
    return OK;
}

static enum error_code conclude_batch(struct learning *l, const struct batch *batch,
                                      bool trained, struct learn_outcome *out)
{
    out->cause = store_cause_names[l->model.corrected ? STORE_CORRECTION
                                   : trained          ? STORE_TRAIN
                                   : batch->changed   ? STORE_CHANGE
                                   : batch->reformed  ? STORE_REFORM
                                                      : STORE_REFINE];
    out->version = l->model.last_version + 1;
    TRY(take_back_earlier(l, batch));
    conclude(l, out->cause, l->unlearnt, l->unlearnt_count);
    return OK;
}

static enum error_code learn_remembering(struct learning *l, struct arena *scratch,
                                         struct learn_outcome *out)
{
    struct fitted_room room = {l->rq->arena, scratch, &l->rq->budget};
    bool starting = is_starting(l), trained = false;
    struct fitted_errors before = {0};
    struct batch batch = {0};

    TRY(gather_unlearnt(l));
    if (l->model.version > 0 && starting) {
        before = l->fitted.errors;
        TRY(stored_fitted(&l->model, &(struct store_model_version){0}, &l->fitted,
                          l->rq->arena, l->rq->err));
    }
    if (l->kind == MODEL_AUTO && l->settings.target == TARGET_RUN_TIME)
        TRY(machine_effects_now(l->rq, l->db, &l->fitted.next_effects,
                                &l->fitted.next_effect_count));
    if (!starting)
        out->learnt_count = l->unlearnt_count;
    fitted_auto_names(&l->fitted, l->rq->arena);
    if (starting)
        core_create_empty(&l->fitted, l->rq->arena);
    TRY(learn_batch(l, &room, &batch));
    if (starting) /* nobody was told what it said on the way */
        l->fitted.errors = before;
    if (l->model.train_requested)
        core_narrow(&l->fitted);
    if (starting || l->model.train_requested || core_lags(&l->fitted))
        TRY(core_train(&l->fitted, &room, &trained, &out->reason, l->rq->err));
    if (l->fitted.reason) {
        for (size_t i = 0; i < l->unlearnt_count; i++)
            l->unlearnt[i].verdict = fitted_verdict_names[RUN_NEW];
        conclude_without(l, out->reason);
        l->result.forgets = /* no run is left, of those that it is to look at */
            l->model.corrected || (l->window && l->fitted.core->row_count == 0);
        return OK;
    }
    return conclude_batch(l, &batch, trained && !batch.changed, out);
}

static enum error_code learn_unlearnt(struct learning *l, struct learn_outcome *out)
{
    bool has_model = l->model.version > 0, trained = false;

    if (l->settings.profile == PERF_ROBUST && (!has_model || l->fitted.core)) {
        struct arena *scratch =
            arena_create_beside(l->rq->arena, arena_cap_bytes(l->rq->arena));
        enum error_code code = learn_remembering(l, scratch, out);

        arena_close(scratch);
        return code;
    }
    /* Of a layout that remembers no runs: it is trained from those that are stored. */
    l->train_due = l->settings.profile == PERF_ROBUST && !l->origins.reference_model_id;
    if (has_model)
        TRY(refine(l));
    if (!has_model || l->model.train_requested || l->train_due)
        TRY(train(l, out, &trained));
    if (trained)
        return OK;
    if (!has_model || l->unlearnt_count == 0) {
        conclude_without(l, out->reason);
        return OK;
    }
    if (l->reform_due)
        TRY(reform(l));
    out->cause = store_cause_names[l->reform_due ? STORE_REFORM : STORE_REFINE];
    out->version = l->model.last_version + 1;
    conclude(l, out->cause, l->unlearnt, l->unlearnt_count);
    return OK;
}

#define T struct model_origins
static const struct json_field origins_rows[] = {
    JSON_TEXT(T, change_execution_id, JSON_OPTIONAL, "The first run since a change"),
    JSON_TEXT(T, change_spot, JSON_OPTIONAL, "The class or site that it was of"),
    {0},
};
#undef T
static const struct json_object origins_json = {
    "ModelOrigins", "What is kept of a summary", sizeof(struct model_origins),
    origins_rows};

/* The first run since the last change, and whose it was, stay in the summaries. */
static enum error_code read_change(struct learning *l,
                                   const struct store_model_version *version)
{
    struct arena *a = l->rq->arena;
    const char *change = NULL, *id = NULL, *spot = NULL, *text;
    struct model_origins kept;

    TRY(json_member(version->summary, "change", &change, a, l->rq->err));
    if (!change)
        return OK;
    TRY(json_member(change, "at_execution_id", &id, a, l->rq->err));
    for (size_t i = CORE_SCOPE_ALL + 1; !spot && i < CORE_SCOPE_COUNT; i++)
        TRY(json_member(change, core_scope_names[i], &spot, a, l->rq->err));
    text = arena_printf(a, "{%s%s%s%s%s}", id ? "\"change_execution_id\": " : "",
                        id ? id : "", id && spot ? ", " : "",
                        spot ? "\"change_spot\": " : "", spot ? spot : "");
    TRY(json_read(&origins_json, text, strlen(text), &kept, NULL, a, l->rq->err));
    l->origins.change_execution_id = kept.change_execution_id;
    l->origins.change_spot = kept.change_spot;
    return OK;
}

/* Which model a ported one came from stays in its summaries. */
static enum error_code read_reference(struct learning *l,
                                      const struct store_model_version *version)
{
    struct arena *a = l->rq->arena;
    const char *porting = NULL, *id = NULL;

    if (strcmp(version->state, store_model_states[STORE_PORTED]) != 0)
        return OK;
    TRY(json_member(version->summary, "porting", &porting, a, l->rq->err));
    if (porting)
        TRY(json_member(porting, "reference_model_id", &id, a, l->rq->err));
    if (id && strlen(id) > 2) /* a text without characters that are escaped */
        l->origins.reference_model_id = arena_text(a, id + 1, strlen(id) - 2);
    return OK;
}

static enum error_code learn_from_stored(struct learning *l, struct learn_outcome *out)
{
    struct request *rq = l->rq;
    struct arena *a = rq->arena;
    struct store_model_version version = {0};
    const struct store_sample *unlearnt;
    const struct fitted_effect *effects;
    size_t effect_count;

    out->version = l->model.version;
    if (l->model.version) {
        TRY(store_model_version_read(l->db, l->model.tenant, l->model.model_id,
                                     l->model.version, &version, a, rq->err));
        TRY(read_reference(l, &version));
        TRY(read_change(l, &version));
    }
    TRY(stored_settings(&l->model, &l->kind, &l->settings, a, rq->err));
    TRY(stored_fitted(&l->model, &version, &l->fitted, a, rq->err));
    TRY(store_model_samples(l->db, l->model.tenant, l->model.model_id, STORE_SAMPLES_NEW,
                            &unlearnt, &l->unlearnt_count, a, rq->err));
    out->learnt_count = l->unlearnt_count;
    if (l->unlearnt_count == 0 && !l->model.train_requested) /* or others were faster */
        return machine_effects_now(rq, l->db, &effects, &effect_count);
    l->unlearnt = NEW(a, struct store_sample, l->unlearnt_count + 1);
    if (l->unlearnt_count)
        memcpy(l->unlearnt, unlearnt, l->unlearnt_count * sizeof(*unlearnt));
    return learn_unlearnt(l, out);
}

/* What was predicted for the new runs before they were learnt, against what they took. */
static void count_errors(const struct learning *l, size_t new_count)
{
    for (size_t i = 0; i < new_count && i < l->unlearnt_count; i++)
        if (isnan(l->unlearnt[i].version))
            metrics_model_error(
                l->rq->service->metrics, l->model.kind,
                fabs(l->unlearnt[i].predicted_s - l->unlearnt[i].run_time_s) /
                    l->unlearnt[i].run_time_s);
}

/* That the model is written, or that nothing came of it. */
static void count_refit(const struct learning *l, enum error_code code)
{
    const char *cause = l->out->cause;
    const char *result = code != OK ? "failed" : cause ? cause : "none";

    metrics_refit(l->rq->service->metrics, l->model.kind, result,
                  request_elapsed_s(l->rq));
    if (code == OK)
        count_errors(l, l->out->learnt_count);
}

/* Not a thing that goes away by itself: others come first for a while. */
static void postpone(const struct learning *l, enum error_code code)
{
    const struct request *rq = l->rq;
    struct error ignored = {.arena = rq->arena};

    if (code == ERR_UNAVAILABLE || code == ERR_BUSY || code == ERR_CANCELLED ||
        code == ERR_STALE || code == ERR_WOULD_BLOCK)
        return;
    store_model_postpone(l->db, l->model.tenant, l->model.model_id, rq->err->text,
                         RETRY_S, &ignored);
}

enum error_code model_is_busy(struct request *rq, const char *model_id)
{
    rq->err->retry_after_s = 1;
    return fail(rq->err, ERR_CONFLICT, "",
                "the model '%.100s' is being trained or refined just now", model_id);
}

/* Writes what was learnt from the model as it was read, in the caller's transaction.
 * ERR_STALE: it is not the same any more. Its training is asked for first, which locks
 * it. */
static enum error_code write_training(struct db_session *db, void *context,
                                      struct error *err)
{
    struct learning *l = context;
    const char *tenant = l->rq->principal.tenant;
    struct store_model now;

    (void)err; /* the request's */
    TRY(store_model_train(db, tenant, l->model.model_id, l->model.generation,
                          l->new_settings, &now, l->rq->arena, l->rq->err));
    return write_result(l, db);
}

/* The same of what was refined. */
static enum error_code write_refinement(struct db_session *db, void *context,
                                        struct error *err)
{
    struct learning *l = context;
    struct request *rq = l->rq;
    struct store_model now;

    (void)err; /* the request's */
    if (!l->result.is_there)
        return OK;
    TRY(store_model_await(db, rq->principal.tenant, l->model.model_id, &now, rq->arena,
                          rq->err));
    if (now.generation != l->model.generation)
        return fail(rq->err, ERR_STALE, "", "the model has changed meanwhile");
    return write_result(l, db);
}

/* publish_fn */
static enum error_code publish_learning(struct request *rq, struct db_session *db,
                                        void *context)
{
    struct learning *l = context;
    enum error_code code = l->model.train_requested ? write_training(db, l, rq->err)
                                                    : write_refinement(db, l, rq->err);

    if (code == ERR_STALE) {
        *rq->err = (struct error){.arena = rq->err->arena};
        return model_is_busy(rq, l->model.model_id);
    }
    if (code == OK)
        count_refit(l, code);
    return code;
}

/* The model's settings with another window. */
static enum error_code change_window(struct learning *l)
{
    const struct training_window *w = l->window;
    struct arena *a = l->rq->arena;
    struct model_settings settings;
    enum model_kind kind;
    struct text_buffer b = {.arena = a};

    if (!w || (isnan(w->since_s) && isnan(w->window_s) && isnan(w->window_runs)))
        return OK;
    TRY(stored_settings(&l->model, &kind, &settings, a, l->rq->err));
    if (!isnan(w->since_s))
        settings.since_s = w->since_s;
    if (!isnan(w->window_s))
        settings.window_s = w->window_s;
    if (!isnan(w->window_runs))
        settings.robustness.window_runs = w->window_runs;
    json_print(&model_settings_json, &settings, &b);
    text_add(&b, "", 1);
    l->model.settings = l->new_settings = text_end(&b);
    return OK;
}

/* Reads the model and learns, without a transaction. */
static enum error_code learn_aside(struct learning *l, const char *model_id, bool train,
                                   uint64_t expected, struct learn_outcome *out)
{
    struct request *rq = l->rq;

    l->out = out;
    *out = (struct learn_outcome){0};
    TRY(request_db(rq, &l->db));
    TRY(store_model_read(l->db, rq->principal.tenant, model_id, &l->model, rq->arena,
                         rq->err));
    if (expected && l->model.generation != expected)
        return fail(rq->err, ERR_STALE, "",
                    "the model has changed since its ETag was looked at; read it again");
    l->model.train_requested = l->model.train_requested || train;
    TRY(change_window(l));
    return learn_from_stored(l, out);
}

enum error_code model_learn_at_publish(struct request *rq, const char *model_id,
                                       bool train, uint64_t expected,
                                       const struct training_window *window,
                                       struct learn_outcome *out)
{
    struct learning *l = NEW(rq->arena, struct learning, 1);

    l->rq = rq;
    l->window = window;
    TRY(learn_aside(l, model_id, train, expected, out));
    return request_at_publish(rq, publish_learning, l);
}

/* Learns and writes. No connection is held while it computes. *overtaken: the model has
 * changed meanwhile; a training begins again first, some times. */
static enum error_code learn_and_write(struct request *rq, const char *model_id,
                                       bool train, uint64_t expected,
                                       const struct training_window *window,
                                       struct learn_outcome *out, bool *overtaken,
                                       const char **new_settings)
{
    const int attempts = train ? TRAIN_ATTEMPTS : 1;

    *overtaken = false;
    for (int i = 0; i < attempts; i++) {
        struct learning l = {.rq = rq, .window = window};
        enum error_code code = learn_aside(&l, model_id, train, expected, out);

        *new_settings = l.new_settings;

        if (code == OK)
            code = db_transaction(l.db, train ? write_training : write_refinement, &l,
                                  rq->err);
        else if (!train && l.model.model_id)
            postpone(&l, code);
        if (code != ERR_STALE || expected) {
            if (l.model.model_id)
                count_refit(&l, code);
            return code;
        }
        *rq->err = (struct error){.arena = rq->err->arena};
    }
    *overtaken = true;
    return OK;
}

enum error_code model_refine(struct request *rq, const char *model_id, uint64_t expected,
                             struct learn_outcome *out)
{
    const char *none;
    bool overtaken;

    TRY(learn_and_write(rq, model_id, false, expected, NULL, out, &overtaken, &none));
    return overtaken ? model_is_busy(rq, model_id) : OK;
}

enum error_code model_train(struct request *rq, const char *model_id, uint64_t expected,
                            const struct training_window *window,
                            struct learn_outcome *out)
{
    struct store_model asked;
    struct db_session *db;
    const char *settings;
    bool overtaken;

    TRY(learn_and_write(rq, model_id, true, expected, window, out, &overtaken,
                        &settings));
    if (!overtaken)
        return OK;
    TRY(request_db(rq, &db));
    TRY(store_model_train(db, rq->principal.tenant, model_id, 0, settings, &asked,
                          rq->arena, rq->err));
    return model_is_busy(rq, model_id);
}
