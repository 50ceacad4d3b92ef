/* sites_models.c - the models of applications and phases at sites: given, or stored.
 *
 * A stored model goes by its name, or is the trained one of the application and the
 * site, else that of the application without a site. Models of a site and of none are
 * read once for all phases, models by name once for all sites. What was found is kept
 * for a replay, with what is wrong with the others.
 *
 * Source: spec parallel-scheduling.md 2, 6.1, 11; performance-models.md 9, 11;
 * rescheduling-plans.md 1.1.
 */
#include "handlers/sites/sites_lookup.h"

#include "handlers/common/decision.h"
#include "handlers/model/model_learn.h"
#include "handlers/sites/sites_terms.h"
#include "models/base/names.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

enum { MODEL_STEPS = 5000 }; /* to read a model and ask it for its terms */

/* ---- what is kept ---- */

struct kept {
    const struct stored_model *models; /* in the order of what is wanted */
    size_t model_count;
    const char *const *warnings;
    size_t warning_count;
};

#define T struct stored_model
static const struct json_field stored_rows[] = {
    JSON_ID(T, site_id, JSON_REQUIRED, "The site that it is used for"),
    JSON_NUMBER(T, phase, 1, JSON_EXACT, NAN, JSON_NULLABLE,
                "The phase, from 1; null: whole runs"),
    JSON_ID(T, model_id, JSON_REQUIRED, "The model"),
    JSON_NUMBER(T, version, 0, JSON_EXACT, 0, JSON_REQUIRED, "Its version"),
    JSON_BOOLEAN(T, own, 0, 0, "It was fitted at the site"),
    JSON_BOOLEAN(T, is_approximate, 0, 0, "Its terms follow its times as well as may be"),
    JSON_LIST(T, terms, term_count, struct site_term, &site_term_json, SITE_TERMS_MAX,
              JSON_REQUIRED, "Worked out for the problem size"),
    JSON_NUMBER(T, single_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Time on one free processor"),
    JSON_RATIO(T, error_ratio, error_pct, 0, JSON_LARGEST, JSON_NULLABLE,
               "Its mean error on runs that it had not seen",
               JSON_WAS({"error_pct", 0.01})),
    JSON_NUMBERS(T, reach, reach_count, -JSON_LARGEST, JSON_LARGEST, 0,
                 "Ranges seen, scales and quantiles of errors"),
    {0},
};
#undef T
static const struct json_object stored_json = {"ScheduleStoredModel",
                                               "A stored model as it was",
                                               sizeof(struct stored_model), stored_rows};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_LIST(T, models, model_count, struct stored_model, &stored_json, 0, 0,
              "Models by site"),
    JSON_TEXTS(T, warnings, warning_count, 0, 0, "Models that could not be used"),
    {0},
};
#undef T
static const struct json_object kept_json = {"ScheduleModelsLookedUp",
                                             "Stored models as they were",
                                             sizeof(struct kept), kept_rows};

/* ---- terms ---- */

/* A term that a schedule can use: both sides finite and not negative. */
static bool usable(const struct perf_term *t)
{
    return t->comp_s >= 0 && isfinite(t->comp_s) && t->comm >= 0 && isfinite(t->comm);
}

static struct site_term term_row(const struct perf_term *t)
{
    bool communicates = t->bw_id != PERF_NONE && t->comm > 0;

    return (struct site_term){
        .comp_coefficient_s = t->comp_s,
        .f_pcomp_id = t->pcomp_id == PERF_NONE ? 0 : t->pcomp_id,
        .comm_coefficient = communicates ? t->comm : 0,
        .f_bw_id = communicates ? t->bw_id : (double)NAN,
        .f_pcomm_id = communicates ? t->pcomm_id : (double)NAN,
    };
}

static bool whole(double value, double low, double high)
{
    return value >= low && value <= high && value == floor(value);
}

static int id_of(double id)
{
    return isnan(id) ? PERF_NONE : (int)id;
}

/* A combination from a request at the problem size; NULL, or what is wrong with it. */
static const char *read_combination(const struct combination_row *row,
                                    double problem_size, struct perf_term *term)
{
    struct perf_combination c = {0};

    if (!whole(row->f_comp_mask, 0, 4095) || !whole(row->f_comm_mask, 0, 4095))
        return "f_comp_mask and f_comm_mask are whole numbers from 0 to 4095";
    c.comp_mask = (unsigned)row->f_comp_mask;
    c.comm_mask = (unsigned)row->f_comm_mask;
    c.bw_id = id_of(row->f_bw_id);
    c.pcomp_id = id_of(row->f_pcomp_id);
    c.pcomm_id = id_of(row->f_pcomm_id);
    if (!perf_combination_valid(&c))
        return "it names functions that there are not, or too many";
    if (perf_term_count(&c) != row->coefficient_count)
        return "coefficients has not one number for each bit of the two masks";
    for (size_t i = 0; i < row->coefficient_count; i++)
        c.coefficients[i] = row->coefficients[i];
    *term = perf_combination_term(&c, problem_size, 1, 1);
    if (!usable(term))
        return "at this problem size f_comp or f_comm is negative, or no number";
    return NULL;
}

/* The first combination of a list with a usable term at the problem size. */
static bool first_usable(const struct perf_list *list, double problem_size,
                         double cpu_factor, double bandwidth_factor,
                         struct perf_term *term)
{
    for (size_t i = 0; i < list->count; i++) {
        *term = perf_combination_term(&list->items[i], problem_size, cpu_factor,
                                      bandwidth_factor);
        if (usable(term))
            return true;
    }
    return false;
}

/* The terms of a fitted model: of a ported one the reference's, by its factors. */
static bool fitted_term(const struct fitted_model *m, double problem_size,
                        struct perf_term *term, double *single_s)
{
    const struct perf_model_set *set = &m->set;
    struct perf_reference *r = set->reference;
    struct perf_list sorted = r ? (struct perf_list){&r->top, 1} : set->sorted;
    const struct perf_list *single = r ? &r->single : &set->single;
    double cpu = r ? r->cpu_factor : 1, bandwidth = r ? r->bandwidth_factor : 1;
    struct perf_term alone;

    if (m->reason || !first_usable(&sorted, problem_size, cpu, bandwidth, term))
        return false;
    *single_s = (double)NAN;
    if (first_usable(single, problem_size, cpu, bandwidth, &alone) && alone.comp_s > 0)
        *single_s = alone.comp_s;
    return true;
}

/* ---- given models ---- */

void site_model_check(const struct site_model *model, double problem_size,
                      const char *pointer, struct error *err)
{
    int ways =
        (model->terms != NULL) + (model->combination != NULL) + (model->model_id != NULL);

    if (ways != 1)
        invalid(err, pointer, ways ? ITEM_CONFLICT : ITEM_REQUIRED,
                "give exactly one of terms, combination and model_id");
    if (model->terms && model->term_count == 0)
        invalid(err, pointer_of(pointer, "terms").text, ITEM_TOO_SHORT,
                "a model has at least one term");
    if ((model->combination || model->model_id) && isnan(problem_size))
        invalid(err, "/jobs/0/problem_size", ITEM_REQUIRED,
                "the member is missing: a combination or a stored model needs it");
}

enum error_code site_model_read(const struct site_model *model, double problem_size,
                                const char *pointer, struct perf_terms *out,
                                struct arena *a, struct error *err)
{
    struct pointer path = pointer_of(pointer, model->terms ? "terms" : "combination");
    struct perf_term *term;
    const char *wrong;

    if (model->terms)
        return site_terms_read(model->terms, model->term_count, path.text, out, a, err);
    term = NEW(a, struct perf_term, 1);
    wrong = read_combination(model->combination, problem_size, term);
    if (wrong)
        return invalid(err, path.text, ITEM_NOT_USABLE, "%s", wrong);
    *out = (struct perf_terms){term, 1, (double)NAN};
    return OK;
}

enum error_code stored_model_read(const struct stored_model *model,
                                  const struct site *site, bool own,
                                  struct perf_terms *out, struct arena *a,
                                  struct error *err)
{
    struct perf_terms plain;

    TRY(site_terms_read(model->terms, model->term_count, "", &plain, a, err));
    plain.single_s = model->single_s;
    if (!own)
        return site_scale_model(site, &plain, out, a);
    *out = plain;
    return OK;
}

/* ---- stored models ---- */

/* Models as they came from the store, and what was made of them. */
struct shelf {
    const char *site_id; /* NULL: of no site */
    bool is_read;
    const struct store_model_now *list;
    size_t count;
    struct stored_model *made; /* of each; model_id NULL: not usable, or not looked at */
    bool *is_seen;
};

struct looking {
    struct request *rq;
    const struct stored_models_question *question;
    struct shelf site, none; /* of the application, at the site in hand and at none */
    struct name_index names; /* of models by name: places in `named` */
    struct stored_model *named;
    bool *exists; /* of each of them */
    int *target;  /* enum model_target, of those that exist; */
    int made_of;  /* of the model that was made last */
    size_t named_count;
    struct name_index mistakes; /* pointers of names that cannot be used */
    const struct stored_model_wanted **unknown; /* one for each of them */
    size_t unknown_count;
    const char **warnings;
    size_t warning_count, warning_room;
};

static void add_warning(struct looking *l, const char *text)
{
    struct arena *a = l->rq->arena;

    if (l->warning_count == l->warning_room) {
        size_t room = 2 * l->warning_room + 16;

        l->warnings = GROW(a, l->warnings, const char *, l->warning_room, room);
        l->warning_room = room;
    }
    l->warnings[l->warning_count++] = text;
}

/* A model of kind auto. */
static void warn_of_curve(struct looking *l, const char *model_id, double off)
{
    add_warning(l,
                arena_printf(l->rq->arena,
                             "model_approximated: the times of model '%.100s', of kind "
                             "auto, are followed by a + b/P + c ln P + d P within %.2g "
                             "%%; links and types of machines make no difference to "
                             "it, and no set is called optimal",
                             model_id, 100 * expm1(off)));
}

/* It cannot be used, or only as a constant. */
static void warn_of_model(struct looking *l, const char *model_id, bool is_constant)
{
    add_warning(
        l, arena_printf(
               l->rq->arena,
               is_constant
                   ? "processors_ignored: the times of model '%.100s' depend on the "
                     "problem size alone: more machines make no difference to it"
                   : "model_unusable: model '%.100s' has no usable terms for this "
                     "problem size; only trained models of the problem size, and of the "
                     "processors in the kinds auto, comprehensive and scale_out, have",
               model_id));
}

/* The terms of a fitted model; 0: it has none that can be used. *off: what they miss its
 * times by. */
static size_t terms_of(const struct fitted_model *m, double problem_size,
                       struct site_term out[SITE_FITTED_TERMS], double *single_s,
                       double *off, struct arena *a)
{
    struct perf_term term;

    *off = 0;
    if (m->kind == MODEL_AUTO)
        return site_terms_of_auto(m, problem_size, out, single_s, off, a);
    if (m->kind != MODEL_COMPREHENSIVE)
        return site_terms_of_fitted(m, problem_size, out, single_s);
    if (!fitted_term(m, problem_size, &term, single_s))
        return 0;
    *out = term_row(&term);
    return 1;
}

/* *out gets the terms, but no site; model_id NULL: it cannot be used, with a warning. */
static enum error_code make_model(struct looking *l, const struct store_model_now *now,
                                  struct stored_model *out)
{
    struct request *rq = l->rq;
    struct site_term *rows = NEW(rq->arena, struct site_term, SITE_FITTED_TERMS);
    struct fitted_model fitted;
    double off = 0;

    *out = (struct stored_model){0};
    budget_step(&rq->budget, MODEL_STEPS);
    TRY(stored_fitted(&now->model, &now->version, &fitted, rq->arena, rq->err));
    l->made_of = fitted.settings.target;
    if (fitted.settings.target == TARGET_RUN_TIME)
        out->term_count = terms_of(&fitted, l->question->problem_size, rows,
                                   &out->single_s, &off, rq->arena);
    if (out->term_count == 0) {
        warn_of_model(l, now->model.model_id, false);
        return OK;
    }
    if (site_terms_ignore_machines(&fitted))
        warn_of_model(l, now->model.model_id, true);
    out->is_approximate = fitted.kind == MODEL_AUTO;
    if (out->is_approximate)
        warn_of_curve(l, now->model.model_id, off);
    out->site_id = now->model.site_id;
    out->model_id = now->model.model_id;
    out->version = (double)now->version.version;
    out->terms = rows;
    out->error_pct = fitted_unseen_appe_pct(&fitted);
    site_reach_of_fitted(&fitted, off, &out->reach, &out->reach_count, rq->arena);
    return OK;
}

/* A model that was made, for a wanted one. */
static struct stored_model model_for(const struct stored_model_wanted *wanted,
                                     const struct stored_model *made)
{
    struct stored_model m = *made;

    m.own = made->site_id && strcmp(made->site_id, wanted->site_id) == 0;
    m.site_id = wanted->site_id;
    m.phase = wanted->phase;
    return m;
}

/* Each pointer once, however many sites use the model; noted when all has been read,
 * because reading takes an error without mistakes. */
static void add_unknown(struct looking *l, const struct stored_model_wanted *wanted)
{
    if (name_index_add(&l->mistakes, wanted->pointer, 0) == NAME_NOT_FOUND)
        l->unknown[l->unknown_count++] = wanted;
}

static enum error_code note_unknown(const struct looking *l)
{
    for (size_t i = 0; i < l->unknown_count; i++) {
        const struct stored_model_wanted *wanted = l->unknown[i];
        size_t at = name_index_find(&l->names, wanted->model_id);

        if (l->exists[at])
            invalid(l->rq->err, wanted->pointer, ITEM_CONFLICT,
                    "model '%.100s' predicts %s, not run times", wanted->model_id,
                    model_target_names[l->target[at]]);
        else
            invalid(l->rq->err, wanted->pointer, ITEM_UNKNOWN_ID,
                    "there is no model '%.100s'", wanted->model_id);
    }
    return l->rq->err->code;
}

/* The model of that name; read at its first use. */
static enum error_code find_named(struct looking *l,
                                  const struct stored_model_wanted *wanted,
                                  struct stored_model *out)
{
    struct request *rq = l->rq;
    size_t at = name_index_add(&l->names, wanted->model_id, l->named_count);
    struct store_model_now now = {0};
    struct error before = *rq->err;
    struct db_session *db;
    enum error_code code;

    if (at == NAME_NOT_FOUND) {
        at = l->named_count++;
        TRY(request_db(rq, &db));
        code = store_model_now(db, rq->principal.tenant, wanted->model_id, &now,
                               rq->arena, rq->err);
        if (code == ERR_NOT_FOUND)
            *rq->err = before;
        else if (code != OK)
            return code;
        else
            TRY(make_model(l, &now, &l->named[at]));
        l->exists[at] = code == OK;
        l->target[at] = l->made_of;
    }
    if (l->exists[at] && l->target[at] == TARGET_RUN_TIME)
        *out = model_for(wanted, &l->named[at]);
    else
        add_unknown(l, wanted);
    return OK;
}

/* Reads the models of the application at a site, or at none. */
static enum error_code fill_shelf(struct looking *l, struct shelf *shelf,
                                  const char *site_id, double phase)
{
    struct request *rq = l->rq;
    struct db_session *db;

    *shelf = (struct shelf){.site_id = site_id, .is_read = true};
    TRY(request_db(rq, &db));
    TRY(store_models_now(db, rq->principal.tenant, l->question->application_id, site_id,
                         isnan(phase) ? phase : STORE_ALL_PHASES, &shelf->list,
                         &shelf->count, rq->arena, rq->err));
    shelf->made = NEW(rq->arena, struct stored_model, shelf->count);
    shelf->is_seen = NEW(rq->arena, bool, shelf->count);
    return OK;
}

/* Where models of the phase may begin: they are in the order of phases. */
static size_t first_of_phase(const struct shelf *shelf, double phase)
{
    size_t low = 0, high = shelf->count;

    while (low < high && !isnan(phase)) {
        size_t middle = low + (high - low) / 2;

        if (shelf->list[middle].model.phase_index + 1 >= phase)
            high = middle;
        else
            low = middle + 1; /* also for a model of whole runs, whose phase is NAN */
    }
    return low;
}

/* The kinds in the order in which they are asked. */
static size_t kind_rank(const struct store_model_now *now)
{
    size_t kind = 0;

    while (kind < MODEL_KIND_COUNT &&
           strcmp(model_kind_names[kind], now->model.kind) != 0)
        kind++;
    return kind;
}

/* The first trained model for the phase that can be used, by kind: of kind auto, or of
 * the others. */
static enum error_code find_on(struct looking *l, struct shelf *shelf,
                               const struct stored_model_wanted *wanted, bool is_auto,
                               struct stored_model *out)
{
    size_t first = first_of_phase(shelf, wanted->phase), end = first;

    while (
        end < shelf->count &&
        (isnan(wanted->phase) || shelf->list[end].model.phase_index + 1 == wanted->phase))
        end++;
    for (size_t kind = is_auto ? MODEL_AUTO : MODEL_AUTO + 1;
         kind < (is_auto ? MODEL_AUTO + 1 : MODEL_KIND_COUNT); kind++)
        for (size_t i = first; i < end; i++) {
            const struct store_model_now *now = &shelf->list[i];

            if (now->version.version == 0 || kind_rank(now) != kind)
                continue;
            if (!shelf->is_seen[i])
                TRY(make_model(l, now, &shelf->made[i]));
            shelf->is_seen[i] = true;
            if (shelf->made[i].model_id) {
                *out = model_for(wanted, &shelf->made[i]);
                return OK;
            }
        }
    return OK;
}

/* out->model_id NULL: there is none. */
static enum error_code find_one(struct looking *l,
                                const struct stored_model_wanted *wanted,
                                struct stored_model *out)
{
    *out = (struct stored_model){0};
    if (wanted->model_id)
        return find_named(l, wanted, out);
    if (!l->site.is_read || strcmp(l->site.site_id, wanted->site_id) != 0)
        TRY(fill_shelf(l, &l->site, wanted->site_id, wanted->phase));
    if (!l->none.is_read)
        TRY(fill_shelf(l, &l->none, NULL, wanted->phase));
    /* What a model of kind auto says is no sum of terms: it comes last. */
    for (int is_auto = 0; is_auto < 2 && !out->model_id; is_auto++) {
        TRY(find_on(l, &l->site, wanted, is_auto, out));
        if (!out->model_id)
            TRY(find_on(l, &l->none, wanted, is_auto, out));
    }
    return OK;
}

static enum error_code find_all(struct looking *l, struct kept *kept)
{
    const struct stored_models_question *q = l->question;
    struct arena *a = l->rq->arena;
    struct stored_model *list = NEW(a, struct stored_model, q->wanted_count);

    l->named = NEW(a, struct stored_model, q->wanted_count);
    l->exists = NEW(a, bool, q->wanted_count);
    l->target = NEW(a, int, q->wanted_count);
    l->unknown = NEW(a, const struct stored_model_wanted *, q->wanted_count);
    name_index_create(&l->names, q->wanted_count, a);
    name_index_create(&l->mistakes, q->wanted_count, a);
    *kept = (struct kept){.models = list};
    for (size_t i = 0; i < q->wanted_count; i++) {
        TRY(find_one(l, &q->wanted[i], &list[kept->model_count]));
        kept->model_count += list[kept->model_count].model_id != NULL;
    }
    kept->warnings = l->warnings;
    kept->warning_count = l->warning_count;
    return note_unknown(l);
}

static bool is_for(const struct stored_model *m, const struct stored_model_wanted *wanted)
{
    bool same_phase = isnan(wanted->phase) ? isnan(m->phase) : m->phase == wanted->phase;

    return same_phase && strcmp(m->site_id, wanted->site_id) == 0;
}

enum error_code stored_models_find(struct request *rq,
                                   const struct stored_models_question *question,
                                   struct stored_models *out)
{
    struct looking l = {.rq = rq, .question = question};
    struct kept kept = {0};
    size_t at = 0;
    bool replayed;

    *out = (struct stored_models){
        .of_each = NEW(rq->arena, const struct stored_model *, question->wanted_count)};
    if (question->wanted_count == 0)
        return OK;
    TRY(decision_lookup(rq, "models", &kept_json, &kept, &replayed));
    if (!replayed) {
        TRY(find_all(&l, &kept));
        TRY(decision_keep_lookup(rq, "models", &kept_json, &kept));
    }
    for (size_t i = 0; i < question->wanted_count && at < kept.model_count; i++)
        if (is_for(&kept.models[at], &question->wanted[i]))
            out->of_each[i] = &kept.models[at++];
    out->warnings = kept.warnings;
    out->warning_count = kept.warning_count;
    return OK;
}
