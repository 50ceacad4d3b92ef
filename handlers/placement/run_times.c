/* run_times.c - run times of jobs that fitted models tell.
 *
 *     source     what jobs name: a stored model, or an application's models of one phase
 *     class      resources of which a source has the same model and sees the same inputs
 *     question   what jobs ask a source; it has one answer for each class
 *
 * A job of one class gets its time as estimate_s; of several classes the times of all
 * resources as etc_s, a list that jobs with the same question share.
 *
 * Deviation: a bandwidth that nobody has said is the mean of those of the runs that the
 * model remembers, or where it remembers none the middle of the range that it has seen.
 */
#include "handlers/placement/run_times.h"

#include "algorithms/placement/problem.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/learning/first_requests.h"
#include "handlers/placement/machine_priors.h"
#include "handlers/prediction/prediction_models.h"
#include "models/base/names.h"

#include <stdio.h>
#include <string.h>

enum {
    SOURCES_MAX = 1000,         /* each is a look into the database */
    JOBS_WITH_OWN_BASIS = 1000, /* more jobs share rows of a list */
    STEPS_PER_ANSWER = 64
};
static const double LEVEL = 0.9; /* of the intervals that are told */

#define T struct job_model
static const struct json_field model_rows[] = {
    JSON_ID(T, model_id, JSON_NULLABLE, "A stored model of run times",
            JSON_NOT_WITH("application_id"), JSON_UNLESS("application_id")),
    JSON_ID(T, application_id, JSON_NULLABLE,
            "Instead: the models of this application, on each resource that of its site, "
            "else the one without a site"),
    JSON_NUMBER(T, phase_index, 0, 2147483647, NAN, JSON_NULLABLE | JSON_WHOLE,
                "Phase of the application, from 0; default: whole runs"),
    JSON_NUMBER(T, problem_size, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "As in the executions that it has learnt"),
    JSON_NUMBER(T, processors, 1, 1e9, NAN, JSON_NULLABLE | JSON_WHOLE,
                "Default: 1 if all runs of the model had one, else cpus * nodes"),
    {.name = "parameters",
     .doc = "Further inputs, by the names in the model's settings.inputs",
     .type = JSON_TYPE_VALUES,
     .offset = JSON_AT(T, parameters, const struct named_value *),
     .count_offset = JSON_AT(T, parameter_count, size_t),
     .max = 256},
    JSON_NUMBER(T, quantile, 0.01, 0.99, 0.5, 0,
                "Share of runs that are to be shorter than the time that is planned "
                "with; default 0.5"),
    JSON_BOOLEAN(T, resources, false, 0,
                 "Have memory_bytes replaced by what the first attempt is to ask for, as "
                 "POST /v1/resource-sizings says by its presets; default false"),
    {0},
};
#undef T
const struct json_object job_model_json = {
    "JobModel", "What a stored model is to be asked for the run time of a job",
    sizeof(struct job_model), model_rows};

#define FROM_ETC      "etc"
#define FROM_ESTIMATE "estimate"
#define FROM_MODEL    "model"
#define FROM_LIMIT    "limit"
static const char *const source_names[] = {FROM_ETC, FROM_ESTIMATE, FROM_MODEL,
                                           FROM_LIMIT, NULL};

#define T struct run_time_basis
static const struct json_field basis_rows[] = {
    JSON_WORD(T, source, source_names, 0,
              "etc: etc_s; estimate: estimate_ref_s or estimate_s; model; limit: "
              "time_limit_s"),
    JSON_TEXT(T, model_id, JSON_OPTIONAL, "Of model: which"),
    JSON_INTEGER(T, model_version, 0, JSON_EXACT, 0, JSON_OPTIONAL, "Of model: which"),
    JSON_NUMBER(T, low_s, 0, 0, 0, JSON_OPTIONAL, "Of model: lower end of its interval"),
    JSON_NUMBER(T, high_s, 0, 0, 0, JSON_OPTIONAL, "Of model: upper end of its interval"),
    JSON_NUMBER(T, level, 0, 0, 0, JSON_OPTIONAL,
                "Share of the runs that are to fall into the interval"),
    JSON_WORD(T, interval_basis, fitted_basis_names, JSON_OPTIONAL,
              "What the interval rests on, as interval_basis of predictions"),
    JSON_NUMBER(T, extrapolation_ratio, 0, 0, 0, JSON_OPTIONAL,
                "Of model: how far the question lies outside what was seen; 1: inside"),
    JSON_NUMBER(T, memory_bytes, 0, 0, 0, JSON_OPTIONAL,
                "With model.resources: what took the place of the job's memory_bytes"),
    {0},
};
#undef T
const struct json_object run_time_basis_json = {
    "RunTimeBasis", "Where a run time comes from", sizeof(struct run_time_basis),
    basis_rows};

/* A model, and what it says of intervals. */
struct model_use {
    const struct model_at_hand *model;  /* NULL: there is none */
    struct fitted_interval told;        /* of LEVEL */
    struct fitted_interval asked;       /* of the quantile asked for last, */
    double quantile;                    /* this one; 0.5: none yet */
    double bandwidth_mbps;              /* where none is said; NAN: none is known */
    const char *site_id;                /* of the resources; NULL: of all */
    const struct machine_prior *priors; /* by resource; NULL: none are looked at */
};

struct run_class {
    struct model_use *use;
    double cpu_available_ratio;           /* 1 where the model does not look at it */
    const char *resource_class, *site_id; /* of kind auto, else NULL */
    struct machine_prior prior;           /* its type is none that was seen */
};

struct source {
    const struct job_model *of;
    size_t job; /* the first that names it */
    struct model_use *uses;
    size_t use_count;
    size_t *class_of; /* by resource */
    struct run_class *classes;
    size_t class_count;
};

struct told {
    double time_s;       /* NAN: none */
    const char *silence; /* why there is none */
    unsigned warnings;   /* as of a prediction, */
    bool no_quantile;    /* and the model knows no such quantile */
    struct run_time_basis basis;
    size_t row; /* of the answer's list, from 1; 0: not there yet */
};

struct asked {
    struct source *source;
    const struct job_model *of;
    double processors;
    size_t job, job_count; /* the first that asks, and how many */
    struct told *told;     /* by class of the source */
    bool is_told;          /* for all classes; */
    bool is_silent;        /* for none */
    const double *etc_s;   /* by resource; NULL: one time for all, or none */
    double memory_bytes;   /* that jobs are to ask for; NAN: it is not said */
};

/* The memory of jobs that ask the same, and have the same memory_bytes. */
struct sized {
    double bytes;  /* NAN: nothing is known, and nothing is asked for */
    size_t row[4]; /* of the answer's list, by enum basis_kind, from 1; 0: not there */
};

struct run_times {
    struct request *rq;
    const struct snapshot *snapshot;
    struct run_time_jobs of;
    const struct job *given;
    struct job *jobs;
    size_t job_count;
    struct source *sources;
    size_t source_count;
    struct asked *asked;
    size_t asked_count;
    size_t *asked_of; /* by job; NO_INDEX: no model, or its time stands already */
    size_t unused_count, unused_first; /* jobs whose time stands already */
    struct model_shelf *shelf;
    struct sized *sized;
    size_t *sized_of; /* by job; NO_INDEX: its memory stays; NULL: everybody's does */
    struct {
        size_t count, first;
    } unsized;               /* jobs of which nothing is known */
    bool memory_unavailable; /* the models of peaks cannot be read */
};

/* ---- what is asked ---- */

static bool has_time(const struct job *j)
{
    return j->etc_count || !isnan(j->estimate_ref_s) || !isnan(j->estimate_s);
}

/* The pointer of the job's model, or of a member of it: "/model_id". */
static const char *pointer_of(const struct run_times *t, size_t job, const char *member)
{
    struct arena *a = t->rq->arena;

    return t->of.at
               ? arena_printf(a, "%s/model%s", t->of.at(t->of.context, job, a), member)
               : arena_printf(a, "/jobs/%zu/model%s", job, member);
}

static const char *source_key(const struct job_model *m, struct arena *a)
{
    return m->model_id ? arena_printf(a, "m%s", m->model_id)
                       : arena_printf(a, "a%.17g %s", m->phase_index, m->application_id);
}

/* memory_bytes: with model.resources, else NAN. */
static const char *question_key(size_t source, const struct job_model *m,
                                double processors, double memory_bytes, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    text_addf(&b, "%zu %.17g %.17g %.17g %.17g", source, m->problem_size, processors,
              m->quantile, memory_bytes);
    for (size_t i = 0; i < m->parameter_count; i++) {
        const struct named_value *v = &m->parameters[i];

        json_print_text(v->name, &b);
        if (v->type == VALUE_TEXT)
            json_print_text(v->text, &b);
        else
            text_addf(&b, " %.17g", v->number);
    }
    text_add(&b, "", 1);
    return text_end(&b);
}

static struct source *add_source(struct run_times *t, struct name_index *index,
                                 const struct job_model *m, size_t job)
{
    size_t at = name_index_add(index, source_key(m, t->rq->arena), t->source_count);

    if (at != NAME_NOT_FOUND)
        return &t->sources[at];
    if (t->source_count == SOURCES_MAX) {
        invalid(t->rq->err, pointer_of(t, job, ""), ITEM_TOO_MANY,
                "the request names more than %d different models", SOURCES_MAX);
    }
    if (t->source_count >= SOURCES_MAX)
        return NULL;
    t->sources[t->source_count] = (struct source){.of = m, .job = job};
    return &t->sources[t->source_count++];
}

/* As the model says, or below 0 how many its cpus are. */
static double processors_of(const struct job *j)
{
    return isnan(j->model->processors)
               ? -ceil(j->cpus * (double)(j->nodes ? j->nodes : 1))
               : j->model->processors;
}

/* A job of a request stands for its copies, which warnings count. */
static size_t copies_in(const struct job *j)
{
    return j->count > 1 ? (size_t)j->count : 1;
}

static void count_copies(size_t *count, size_t *first, size_t i, const struct job *j)
{
    if (*count == 0)
        *first = i;
    *count += copies_in(j);
}

/* Sources and questions, each once, in the order of the jobs. false: they are too many.
 */
static bool list_questions(struct run_times *t)
{
    struct arena *a = t->rq->arena;
    struct name_index sources, questions;

    t->sources = NEW(a, struct source, SOURCES_MAX);
    t->asked = NEW(a, struct asked, t->job_count);
    t->asked_of = NEW(a, size_t, t->job_count);
    name_index_create(&sources, SOURCES_MAX + 1, a);
    name_index_create(&questions, t->job_count, a);
    for (size_t i = 0; i < t->job_count; i++) {
        const struct job *j = &t->given[i];
        double processors;
        struct source *source;
        size_t at;

        t->asked_of[i] = NO_INDEX;
        budget_step(&t->rq->finish, 8);
        if (!j->model)
            continue;
        prediction_parameters_check(j->model->parameters, j->model->parameter_count,
                                    pointer_of(t, i, "/parameters"), t->rq->err);
        if (t->of.lacks_memory && j->model->resources)
            invalid(t->rq->err, pointer_of(t, i, "/resources"), ITEM_NOT_ALLOWED,
                    "no memory is replaced here");
        if (has_time(j))
            count_copies(&t->unused_count, &t->unused_first, i, j);
        if (has_time(j))
            continue;
        source = add_source(t, &sources, j->model, i);
        if (!source)
            return false;
        processors = processors_of(j);
        at = name_index_add(
            &questions,
            question_key((size_t)(source - t->sources), j->model, processors,
                         j->model->resources ? j->memory_bytes : (double)NAN, a),
            t->asked_count);
        if (at == NAME_NOT_FOUND) {
            at = t->asked_count++;
            t->asked[at] = (struct asked){
                .source = source,
                .of = j->model,
                .processors = processors,
                .job = i,
                .memory_bytes = (double)NAN,
            };
        }
        t->asked[at].job_count += copies_in(j);
        t->asked_of[i] = at;
    }
    return true;
}

/* ---- the models ---- */

/* The mean bandwidth of the runs that it remembers. */
static double usual_bandwidth_mbps(const struct fitted_model *m)
{
    const struct perf_range *seen = &m->seen.bandwidth_mbps;
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; m->core && i < m->core->row_count; i++) {
        const struct perf_sample *run = &m->core->rows[i].run.run;

        if (run->processors < 2 || isnan(run->bandwidth_mbps))
            continue;
        sum += run->bandwidth_mbps;
        count++;
    }
    return count ? sum / (double)count : (seen->low + seen->high) / 2;
}

static enum error_code use_model(struct run_times *t, const struct model_at_hand *model,
                                 struct model_use *use)
{
    use->model = model;
    use->quantile = 0.5;
    use->bandwidth_mbps = usual_bandwidth_mbps(&model->fitted);
    return fitted_interval(&model->fitted, LEVEL, &use->told, t->rq->arena, t->rq->err);
}

/* What the source means at a site; *model NULL: there is none. */
static enum error_code look_up(struct run_times *t, const struct job_model *m,
                               const char *site_id, const struct model_at_hand **model)
{
    /* Its name may tell a time; alike inputs alone are too little to plan with. */
    const struct similar_question like = {0};
    struct model_source source = {.model_id = m->model_id,
                                  .application_id = m->application_id,
                                  .site_id = site_id,
                                  .phase_index = m->phase_index,
                                  .model_kind = -1,
                                  .like = site_id ? NULL : &like};

    return model_shelf_find(t->shelf, &source, model);
}

/* Each job that names it. */
static void refuse_source(struct run_times *t, const struct source *s,
                          enum item_code code, const char *why)
{
    budget_step(&t->rq->finish, t->job_count);
    for (size_t i = 0; i < t->job_count; i++)
        if (t->asked_of[i] != NO_INDEX && t->asked[t->asked_of[i]].source == s)
            invalid(t->rq->err, pointer_of(t, i, "/model_id"), code, "%s", why);
}

/* A model of anything else has no run time to tell. */
static void check_target(struct run_times *t, const struct source *s)
{
    const struct fitted_model *m = &s->uses[0].model->fitted;

    if (m->settings.target == TARGET_RUN_TIME)
        return;
    if (t->of.are_stored)
        s->uses[0].model = NULL;
    else
        refuse_source(
            t, s, ITEM_CONFLICT,
            arena_printf(t->rq->arena, "model '%.100s' predicts %s, not run times",
                         s->of->model_id, model_target_names[m->settings.target]));
}

/* The application's model of a site, in the next place, if there is one. */
static enum error_code read_site(struct run_times *t, struct source *s,
                                 const char *site_id, size_t *found, size_t *at)
{
    const struct model_at_hand *model;

    TRY(look_up(t, s->of, site_id, &model));
    if (!model)
        return OK;
    TRY(use_model(t, model, &s->uses[*found]));
    s->uses[*found].site_id = site_id;
    *at = (*found)++;
    return OK;
}

/* Models of an application, one for each site that resources are at, and for none. */
static enum error_code read_sites(struct run_times *t, struct source *s,
                                  size_t *use_of_resource)
{
    size_t count = t->snapshot->resource_count, found = 0;
    const struct model_at_hand *model;
    struct name_index sites;
    size_t without = NO_INDEX;

    s->uses = NEW(t->rq->arena, struct model_use, count + 1);
    name_index_create(&sites, count, t->rq->arena);
    TRY(look_up(t, s->of, NULL, &model));
    if (model)
        TRY(use_model(t, model, &s->uses[found++]));
    without = found++; /* of sites without their own: that one, or none */
    s->uses[without] = model ? s->uses[0] : (struct model_use){.quantile = 0.5};
    for (size_t i = 0; i < count; i++) {
        const char *site_id = t->snapshot->resources[i].site_id;
        size_t at = site_id ? name_index_find(&sites, site_id) : without;

        budget_step(&t->rq->finish, 1);
        if (at == NAME_NOT_FOUND) {
            at = without;
            TRY(read_site(t, s, site_id, &found, &at));
            name_index_add(&sites, site_id, at);
        }
        use_of_resource[i] = at;
    }
    s->use_count = found;
    return OK;
}

static bool looks_at_cpu(const struct fitted_model *m)
{
    size_t count;
    const char *const *names;

    if (m->kind < MODEL_LINEAR)
        return true;
    names = fitted_inputs(m->kind, &m->settings, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], "cpu_available_ratio") == 0)
            return true;
    return false;
}

/* What a resource is to the source. */
static struct run_class class_at(struct model_use *use, const struct resource *r,
                                 size_t place)
{
    struct run_class out = {use, 1, NULL, NULL, {(double)NAN, 0, 0}};

    if (!use->model)
        return out;
    if (looks_at_cpu(&use->model->fitted))
        out.cpu_available_ratio = r->cpu_available_ratio;
    if (use->model->fitted.kind != MODEL_AUTO)
        return out;
    out.resource_class = r->resource_class;
    out.site_id = use->site_id ? use->site_id : r->site_id;
    if (use->priors && r->resource_class && use->model->fitted.ensemble &&
        !fitted_has_seen_machine(&use->model->fitted, ensemble_text(r->resource_class)))
        out.prior = use->priors[place];
    return out;
}

static const char *class_key(size_t use, const struct run_class *c, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    text_addf(&b, "%zu %.17g ", use, c->cpu_available_ratio);
    json_print_text(c->resource_class ? c->resource_class : "", &b);
    json_print_text(c->site_id ? c->site_id : "", &b);
    text_add(&b, "", 1);
    return text_end(&b);
}

/* Types of machines that models of kind auto have not seen. */
static void find_priors(struct run_times *t, struct source *s)
{
    for (size_t i = 0; i < s->use_count; i++) {
        const struct model_at_hand *model = s->uses[i].model;
        struct machine_prior *priors;

        if (!model || model->fitted.kind != MODEL_AUTO || !model->fitted.effect_count)
            continue;
        priors = NEW(t->rq->arena, struct machine_prior, t->snapshot->resource_count);
        machine_priors(t->snapshot, model->fitted.effects, model->fitted.effect_count,
                       &t->rq->finish, priors, t->rq->arena);
        s->uses[i].priors = priors;
    }
}

/* Resources that look the same to the source. */
static void list_classes(struct run_times *t, struct source *s,
                         const size_t *use_of_resource)
{
    size_t count = t->snapshot->resource_count;
    struct arena *a = t->rq->arena;
    struct name_index index;

    s->class_of = NEW(a, size_t, count);
    s->classes = NEW(a, struct run_class, count + 1);
    name_index_create(&index, count, a);
    for (size_t i = 0; i < count; i++) {
        struct run_class c =
            class_at(&s->uses[use_of_resource[i]], &t->snapshot->resources[i], i);
        size_t at =
            name_index_add(&index, class_key(use_of_resource[i], &c, a), s->class_count);

        budget_step(&t->rq->finish, 4);
        if (at == NAME_NOT_FOUND) {
            at = s->class_count++;
            s->classes[at] = c;
        }
        s->class_of[i] = at;
    }
}

static enum error_code read_source(struct run_times *t, struct source *s)
{
    size_t *use_of_resource = NEW(t->rq->arena, size_t, t->snapshot->resource_count);
    const struct model_at_hand *model;
    bool found = false;

    if (s->of->model_id) {
        s->uses = NEW(t->rq->arena, struct model_use, 1);
        s->use_count = 1;
        TRY(look_up(t, s->of, NULL, &model));
        if (model) {
            TRY(use_model(t, model, s->uses));
            check_target(t, s);
        }
    } else {
        TRY(read_sites(t, s, use_of_resource));
    }
    for (size_t i = 0; i < s->use_count; i++)
        found |= s->uses[i].model != NULL;
    if (found)
        find_priors(t, s);
    if (found)
        list_classes(t, s, use_of_resource);
    else if (s->of->model_id && !t->of.are_stored)
        refuse_source(
            t, s, ITEM_UNKNOWN_ID,
            arena_printf(t->rq->arena, "there is no model '%.100s'", s->of->model_id));
    return OK; /* else the application has run nothing yet: no mistake of the caller's */
}

/* ---- the answers ---- */

/* What a question is to a model; *silence: why it cannot be asked. */
static struct perf_query query_of(const struct run_times *t, const struct asked *q,
                                  const struct run_class *c, double *inputs,
                                  const char **silence)
{
    const struct fitted_model *m = &c->use->model->fitted;
    struct perf_query query = {q->of->problem_size, fabs(q->processors),
                               c->cpu_available_ratio, c->use->bandwidth_mbps};
    size_t count;
    const char *const *names;

    if (q->processors < 0 && m->seen.processors.high <= 1)
        query.processors = 1;
    if (m->kind == MODEL_AUTO) { /* asks for nothing: it was learnt from what there was */
        fitted_auto_inputs(m->names, &query, q->of->parameters, q->of->parameter_count,
                           c->resource_class, c->site_id, inputs, NULL);
        return query;
    }
    if (m->kind < MODEL_LINEAR) {
        if (isnan(query.problem_size))
            *silence = "it predicts from problem_size, which is not given";
        return query;
    }
    names = fitted_inputs(m->kind, &m->settings, &count);
    for (size_t i = 0; i < count; i++) {
        budget_step(&t->rq->finish, q->of->parameter_count + 1);
        inputs[i] =
            fitted_input(names[i], &query, q->of->parameters, q->of->parameter_count);
        if (isnan(inputs[i]))
            *silence = arena_printf(t->rq->arena, "it needs the input '%.60s'", names[i]);
    }
    return query;
}

/* The time of a quantile other than the middle. */
static enum error_code ask_quantile(struct run_times *t, const struct asked *q,
                                    struct model_use *use, const struct perf_query *query,
                                    const double *inputs,
                                    const struct machine_prior *prior, struct told *out)
{
    double quantile = q->of->quantile, time_s;
    struct fitted_interval interval;
    struct fitted_prediction p;

    if (use->quantile != quantile)
        TRY(fitted_interval(&use->model->fitted, fabs(2 * quantile - 1), &use->asked,
                            t->rq->arena, t->rq->err));
    use->quantile = quantile;
    interval = machine_prior_interval(prior, &use->asked);
    fitted_predict(&use->model->fitted, query, inputs, &interval, &p);
    machine_prior_apply(prior, &p);
    time_s = quantile > 0.5 ? p.high_s : p.low_s;
    out->no_quantile = !isfinite(time_s);
    if (!out->no_quantile)
        out->time_s = time_s;
    return OK;
}

static enum error_code ask(struct run_times *t, const struct asked *q,
                           const struct run_class *c, struct told *out)
{
    double inputs[FITTED_INPUTS_MAX] = {0};
    struct model_use *use = c->use;
    struct fitted_interval interval;
    struct fitted_prediction p;
    struct perf_query query;
    bool plain;

    *out = (struct told){.time_s = NAN};
    budget_step(&t->rq->finish, STEPS_PER_ANSWER);
    if (!use->model) {
        out->silence = "there is no model of the application for the resource's site";
        return OK;
    }
    query = query_of(t, q, c, inputs, &out->silence);
    if (out->silence)
        return OK;
    interval = machine_prior_interval(&c->prior, &use->told);
    fitted_predict(&use->model->fitted, &query, inputs, &interval, &p);
    machine_prior_apply(&c->prior, &p);
    if (p.reason || !isfinite(p.time_s) || p.time_s < 0) {
        out->silence = p.reason ? prediction_reason_text(p.reason)
                                : "it has no time that makes sense";
        return OK;
    }
    out->time_s = p.time_s;
    out->warnings = p.warnings;
    if (fitted_unused(&use->model->fitted, q->of->parameters, q->of->parameter_count))
        out->warnings |= FITTED_WARN_UNUSED;
    if (q->of->quantile != 0.5)
        TRY(ask_quantile(t, q, use, &query, inputs, &c->prior, out));
    plain = !use->told.by_group && !p.own_basis;
    out->basis = (struct run_time_basis){
        .source = FROM_MODEL,
        .model_id = use->model->fitted.guess ? NULL : use->model->id,
        .model_version = use->model->fitted.guess ? JSON_NO_INTEGER : use->model->version,
        .low_s = p.low_s,
        .high_s = p.high_s,
        .level = LEVEL,
        .interval_basis = p.own_basis,
        .extrapolation_ratio = p.extrapolation_ratio,
    };
    if (plain)
        out->basis.interval_basis =
            prediction_interval_basis(&use->model->fitted, &use->told);
    return OK;
}

/* All classes, and what the jobs get of it. */
static enum error_code answer(struct run_times *t, struct asked *q)
{
    const struct source *s = q->source;
    size_t resources = t->snapshot->resource_count, told = 0;
    bool equal = true;
    double *etc_s;

    q->told = NEW(t->rq->arena, struct told, s->class_count);
    for (size_t c = 0; c < s->class_count; c++) {
        TRY(ask(t, q, &s->classes[c], &q->told[c]));
        told += isnan(q->told[c].time_s) ? 0 : 1;
        equal = equal && q->told[c].time_s == q->told[0].time_s;
    }
    q->is_told = told == s->class_count && told > 0;
    q->is_silent = told == 0;
    if (q->is_silent || (q->is_told && equal))
        return OK;
    TRY(request_reserve(t->rq, (double)resources * sizeof(*etc_s)));
    etc_s = NEW(t->rq->arena, double, resources);
    budget_step(&t->rq->finish, resources);
    for (size_t r = 0; r < resources; r++)
        etc_s[r] = q->told[s->class_of[r]].time_s;
    q->etc_s = etc_s;
    return OK;
}

/* Where the model is silent a job with a limit is planned with that. */
static const double *with_limit(struct run_times *t, const struct asked *q,
                                double limit_s)
{
    size_t count = t->snapshot->resource_count;
    double *etc_s = NEW(t->rq->arena, double, count);

    budget_step(&t->rq->finish, count);
    for (size_t r = 0; r < count; r++)
        etc_s[r] = isnan(q->etc_s[r]) ? limit_s : q->etc_s[r];
    return etc_s;
}

static void fill_job(struct run_times *t, size_t i)
{
    const struct asked *q = &t->asked[t->asked_of[i]];
    struct job *j = &t->jobs[i];

    if (q->is_silent) {
        j->model_silence =
            q->source->class_count ? q->told[0].silence
            : q->of->model_id
                ? arena_printf(t->rq->arena, "there is no model '%.100s' of run times",
                               q->of->model_id)
                : arena_printf(t->rq->arena,
                               "there is no model of the application '%.100s'",
                               q->of->application_id);
    } else if (!q->etc_s) {
        j->estimate_s = q->told[0].time_s;
    } else {
        j->etc_s = q->is_told || isnan(j->time_limit_s)
                       ? q->etc_s
                       : with_limit(t, q, j->time_limit_s);
        j->etc_count = t->snapshot->resource_count;
    }
}

/* ---- memory ---- */

/* Who is to be sized, each question once. */
static size_t list_sized(struct run_times *t, struct first_request *list)
{
    struct arena *a = t->rq->arena;
    struct name_index index;
    size_t count = 0;

    t->sized_of = NEW(a, size_t, t->job_count);
    name_index_create(&index, t->job_count, a);
    for (size_t i = 0; i < t->job_count; i++) {
        const struct job *j = &t->given[i];
        const struct job_model *m = j->model;
        const char *key;
        size_t at;

        t->sized_of[i] = NO_INDEX;
        budget_step(&t->rq->finish, 8);
        if (!m || !m->resources)
            continue;
        key = arena_printf(a, "%s %s",
                           question_key(0, m, processors_of(j), j->memory_bytes, a),
                           source_key(m, a));
        at = name_index_add(&index, key, count);
        if (at == NAME_NOT_FOUND) {
            at = count++;
            list[at] = (struct first_request){
                .application_id = m->application_id,
                .model_id = m->model_id,
                .problem_size = m->problem_size,
                .processors = processors_of(j),
                .parameters = m->parameters,
                .parameter_count = m->parameter_count,
                .memory_bytes = j->memory_bytes > 0 ? j->memory_bytes : (double)NAN,
            };
        }
        t->sized_of[i] = at;
    }
    return count;
}

/* Jobs get the memory that their first attempts are to ask for. */
static enum error_code size_memory(struct run_times *t)
{
    struct first_request *list;
    double *bytes;
    size_t count, i = 0;

    while (i < t->job_count && !(t->given[i].model && t->given[i].model->resources))
        i++;
    if (i == t->job_count)
        return OK;
    list = NEW(t->rq->arena, struct first_request, t->job_count);
    count = list_sized(t, list);
    bytes = NEW(t->rq->arena, double, count);
    TRY(first_requests(t->rq, list, count, bytes, &t->memory_unavailable));
    t->sized = NEW(t->rq->arena, struct sized, count);
    for (i = 0; i < count; i++)
        t->sized[i].bytes = bytes[i];
    for (i = 0; i < t->job_count; i++) {
        size_t at = t->sized_of[i];

        budget_step(&t->rq->finish, 1);
        if (at == NO_INDEX)
            continue;
        if (!isnan(bytes[at]))
            t->jobs[i].memory_bytes = bytes[at];
        else
            count_copies(&t->unsized.count, &t->unsized.first, i, &t->given[i]);
        if (t->asked_of[i] != NO_INDEX) /* all jobs of the question have this one */
            t->asked[t->asked_of[i]].memory_bytes = bytes[at];
    }
    return OK;
}

enum error_code run_times_any_machine(struct request *rq, const char *id,
                                      const struct snapshot **out)
{
    struct snapshot *one = NEW(rq->arena, struct snapshot, 1);
    const char *text = arena_printf(rq->arena, "{\"resources\":[{\"id\":\"%s\"}]}", id);

    *out = one;
    return json_read(&snapshot_json, text, strlen(text), one, NULL, rq->arena, rq->err);
}

enum error_code run_times_resolve(struct request *rq, const struct snapshot *s,
                                  const struct run_time_jobs *of, const struct job **out,
                                  struct run_times **times)
{
    const struct job *jobs = of->jobs;
    size_t job_count = of->count, i = 0, mistakes = rq->err->item_count;
    struct run_times *t;

    *out = jobs;
    *times = NULL;
    while (i < job_count && !jobs[i].model)
        i++;
    if (i == job_count || !s)
        return OK;
    t = NEW(rq->arena, struct run_times, 1);
    *t = (struct run_times){
        .rq = rq, .snapshot = s, .of = *of, .given = jobs, .job_count = job_count};
    *times = t;
    if (!list_questions(t) || mistakes)
        return OK;
    TRY(model_shelf_open(rq, "job_models", &t->shelf));
    for (i = 0; i < t->source_count; i++)
        TRY(read_source(t, &t->sources[i]));
    if (rq->err->item_count)
        return OK;
    TRY(model_shelf_keep(t->shelf));
    for (i = 0; i < t->asked_count; i++)
        TRY(answer(t, &t->asked[i]));
    t->jobs = NEW(rq->arena, struct job, job_count);
    memcpy(t->jobs, jobs, job_count * sizeof(*jobs));
    for (i = 0; i < job_count; i++)
        if (t->asked_of[i] != NO_INDEX)
            fill_job(t, i);
    TRY(size_memory(t));
    for (i = 0; i < t->asked_count; i++)
        for (size_t c = 0; t->asked[i].told && c < t->asked[i].source->class_count; c++)
            t->asked[i].told[c].basis.memory_bytes = t->asked[i].memory_bytes;
    *out = t->jobs;
    return OK;
}

/* ---- what is said of it ---- */

/* Jobs that are counted, and the first of them. */
struct counted {
    size_t count, first;
};

static void count_jobs(struct counted *c, const struct asked *q)
{
    if (c->count == 0 || q->job < c->first)
        c->first = q->job;
    c->count += q->job_count;
}

static const char *jobs_text(const struct run_times *t, size_t count)
{
    if (count == 1)
        return t->of.one ? t->of.one : "job";
    return t->of.many ? t->of.many : "jobs";
}

/* What is wrong with answers, and of how many jobs. */
struct answers_counted {
    struct counted silent, missing, no_quantile, by_bit[PREDICTION_WARNINGS];
    const char *why; /* the first silence */
};

static void count_answers(struct request *rq, const struct run_times *t,
                          struct answers_counted *out)
{
    for (size_t i = 0; i < t->asked_count; i++) {
        const struct asked *q = &t->asked[i];
        unsigned warnings = 0;
        bool quantile_lost = false;

        budget_step(&rq->finish, q->source->class_count + PREDICTION_WARNINGS);
        for (size_t c = 0; c < q->source->class_count; c++) {
            warnings |= q->told[c].warnings;
            quantile_lost |= q->told[c].no_quantile;
            if (q->told[c].silence && !out->why)
                out->why = q->told[c].silence;
        }
        if (!q->is_told)
            count_jobs(q->source->class_count ? &out->silent : &out->missing, q);
        if (quantile_lost)
            count_jobs(&out->no_quantile, q);
        for (unsigned bit = 0; bit < PREDICTION_WARNINGS; bit++)
            if (warnings & 1u << bit)
                count_jobs(&out->by_bit[bit], q);
    }
}

static void warn_answers(struct request *rq, const struct run_times *t,
                         struct decision_answer *answer)
{
    struct answers_counted n = {0};

    count_answers(rq, t, &n);
    if (n.silent.count)
        decision_warn(rq, answer,
                      "model_no_answer: the models of %zu %s have no run time, at least "
                      "on some resources (first %s): %s",
                      n.silent.count, jobs_text(t, n.silent.count),
                      pointer_of(t, n.silent.first, ""), n.why);
    if (n.missing.count)
        decision_warn(
            rq, answer, "model_missing: there is no model that %zu %s %s (first %s)",
            n.missing.count, jobs_text(t, n.missing.count),
            n.missing.count == 1 ? "names" : "name", pointer_of(t, n.missing.first, ""));
    if (n.no_quantile.count)
        decision_warn(rq, answer,
                      "quantile_not_known: the models of %zu %s know too few errors for "
                      "the quantile, their best guess is taken (first %s)",
                      n.no_quantile.count, jobs_text(t, n.no_quantile.count),
                      pointer_of(t, n.no_quantile.first, "/quantile"));
    for (unsigned bit = 0; bit < PREDICTION_WARNINGS; bit++)
        if (n.by_bit[bit].count)
            decision_warn(rq, answer, "%s: %s: %zu %s, first %s",
                          prediction_warning_name(bit), prediction_warning_text(bit),
                          n.by_bit[bit].count, jobs_text(t, n.by_bit[bit].count),
                          pointer_of(t, n.by_bit[bit].first, ""));
}

/* What is to be known of the k-th model of a source, if it is there the first time. */
static void warn_model(struct request *rq, const struct source *s, size_t k,
                       struct decision_answer *answer)
{
    const struct model_at_hand *model = s->uses[k].model;
    const char *unused, *guess;

    budget_step(&rq->finish, FITTED_INPUTS_MAX);
    if (!model || (k > 0 && model == s->uses[k - 1].model))
        return;
    unused = model_unused_inputs(&model->fitted, rq->arena);
    if (unused)
        decision_warn(rq, answer, "%s", unused);
    guess = prediction_guess_note(model, rq->arena);
    if (guess)
        decision_warn(rq, answer, "%s", guess);
    for (unsigned bit = 0; bit < CORE_NOTE_COUNT; bit++) {
        const char *note = prediction_model_note(model, bit, rq->arena);

        if (note)
            decision_warn(rq, answer, "%s", note);
    }
}

static void warn_memory(struct request *rq, const struct run_times *t,
                        struct decision_answer *answer)
{
    if (t->unsized.count && !t->memory_unavailable)
        decision_warn(rq, answer,
                      "memory_not_known: of %zu %s no two peaks are known, and no memory "
                      "is asked for (first %s): it is not replaced",
                      t->unsized.count, jobs_text(t, t->unsized.count),
                      pointer_of(t, t->unsized.first, "/resources"));
    if (t->memory_unavailable)
        decision_warn(rq, answer,
                      "history_unavailable: the models of memory cannot be read now, "
                      "requests stay as they are: /jobs");
}

void run_times_warn(struct request *rq, const struct run_times *t,
                    struct decision_answer *answer)
{
    if (!t)
        return;
    warn_memory(rq, t, answer);
    if (t->unused_count)
        decision_warn(
            rq, answer,
            "model_not_used: %zu %s %s a run time in the request besides the model "
            "(first %s): it comes first",
            t->unused_count, jobs_text(t, t->unused_count),
            t->unused_count == 1 ? "has" : "have", pointer_of(t, t->unused_first, ""));
    warn_answers(rq, t, answer);
    for (size_t i = 0; i < t->source_count; i++)
        for (size_t k = 0; k < t->sources[i].use_count; k++)
            warn_model(rq, &t->sources[i], k, answer);
}

struct run_time_teller {
    const struct run_times *times; /* NULL: nothing is learnt */
    const struct job *jobs;
    struct name_index resource_ids;
    bool all, listed;
    struct run_time_basis *list;
    size_t count, room;
    size_t row_of_kind[4]; /* in the list, from 1; 0: not there yet */
    struct arena *arena;
};

enum basis_kind { BASIS_ETC, BASIS_ESTIMATE, BASIS_LIMIT, BASIS_NONE };
#define PLAIN(name)                                                               \
    {                                                                             \
        name, NULL, JSON_NO_INTEGER, (double)NAN, (double)NAN, (double)NAN, NULL, \
            (double)NAN, (double)NAN                                              \
    }
static const struct run_time_basis plain_bases[] = {[BASIS_ETC] = PLAIN(FROM_ETC),
                                                    [BASIS_ESTIMATE] =
                                                        PLAIN(FROM_ESTIMATE),
                                                    [BASIS_LIMIT] = PLAIN(FROM_LIMIT)};
#undef PLAIN

static enum basis_kind plain_kind(const struct job *j)
{
    if (j->etc_count)
        return BASIS_ETC;
    if (!isnan(j->estimate_ref_s) || !isnan(j->estimate_s))
        return BASIS_ESTIMATE;
    return isnan(j->time_limit_s) ? BASIS_NONE : BASIS_LIMIT;
}

/* What the model said of the resource, or of several the longest time; NULL: it was not
 * asked, or does not say. */
static struct told *told_of(const struct run_time_teller *x, size_t job,
                            const char *const *ids, size_t count)
{
    const struct asked *q;
    struct told *longest = NULL;

    if (!x->times || x->times->asked_of[job] == NO_INDEX)
        return NULL;
    q = &x->times->asked[x->times->asked_of[job]];
    if (!q->source->class_count)
        return NULL;
    for (size_t k = 0; k < count; k++) {
        size_t r = name_index_find(&x->resource_ids, ids[k]);
        struct told *told = &q->told[q->source->class_of[r]];

        if (!isnan(told->time_s) && (!longest || told->time_s > longest->time_s))
            longest = told;
    }
    return longest;
}

/* The memory of a job that was told its time; NULL: it is as it was. */
static struct sized *sized_of(const struct run_time_teller *x, size_t job)
{
    const struct run_times *t = x->times;
    size_t at = t && t->sized_of ? t->sized_of[job] : NO_INDEX;

    return at == NO_INDEX || isnan(t->sized[at].bytes) ? NULL : &t->sized[at];
}

static const struct run_time_basis *sized_basis(const struct run_time_teller *x,
                                                enum basis_kind kind, double bytes)
{
    struct run_time_basis *basis = NEW(x->arena, struct run_time_basis, 1);

    *basis = plain_bases[kind];
    basis->memory_bytes = bytes;
    return basis;
}

/* *row: where the list has it, from 1. */
static size_t list_row(struct run_time_teller *x, const struct run_time_basis *basis,
                       size_t *row)
{
    if (*row == 0) {
        if (x->count == x->room) {
            size_t room = 2 * x->room + 16;

            x->list = GROW(x->arena, x->list, struct run_time_basis, x->room, room);
            x->room = room;
        }
        x->list[x->count++] = *basis;
        *row = x->count;
    }
    return *row - 1;
}

struct run_time_teller *run_time_teller_create(struct request *rq,
                                               const struct run_times *times,
                                               const struct snapshot *s,
                                               const struct job *jobs, size_t job_count,
                                               bool all)
{
    struct run_time_teller *x;

    if (!times && !all)
        return NULL;
    x = NEW(rq->arena, struct run_time_teller, 1);
    *x = (struct run_time_teller){
        .times = times,
        .jobs = jobs || !times ? jobs : times->given,
        .all = all,
        .listed = (jobs || !times ? job_count : times->job_count) > JOBS_WITH_OWN_BASIS,
        .arena = rq->arena};
    name_index_create(&x->resource_ids, s->resource_count, rq->arena);
    for (size_t r = 0; r < s->resource_count; r++)
        name_index_add(&x->resource_ids, s->resources[r].id, r);
    return x;
}

void run_time_tell(struct run_time_teller *x, size_t job, const char *const *resource_ids,
                   size_t resource_id_count, const struct run_time_basis **basis,
                   uint64_t *index)
{
    struct told *told;
    struct sized *sized;
    enum basis_kind kind;
    const struct run_time_basis *found;

    if (!x)
        return;
    told = told_of(x, job, resource_ids, resource_id_count);
    sized = told ? NULL : sized_of(x, job);
    kind = plain_kind(&x->jobs[job]);
    if (!told && (!(x->all || sized) || kind == BASIS_NONE))
        return;
    found = told    ? &told->basis
            : sized ? sized_basis(x, kind, sized->bytes)
                    : &plain_bases[kind];
    if (x->listed)
        *index = list_row(x, found,
                          told    ? &told->row
                          : sized ? &sized->row[kind]
                                  : &x->row_of_kind[kind]);
    else
        *basis = found;
}

const struct run_time_basis *run_time_list(const struct run_time_teller *x, size_t *count)
{
    *count = x ? x->count : 0;
    return x ? x->list : NULL;
}

void run_time_tell_plan(struct request *rq, struct run_time_teller *x,
                        const struct job *jobs, size_t job_count,
                        struct placement_out *plan)
{
    struct name_index ids;
    struct placement *rows;

    if (!x)
        return;
    name_index_create(&ids, job_count, rq->arena);
    for (size_t i = 0; i < job_count; i++)
        name_index_add(&ids, jobs[i].id, i);
    rows = NEW(rq->arena, struct placement, plan->placement_count);
    for (size_t i = 0; i < plan->placement_count; i++) {
        struct placement *p = &rows[i];

        *p = plan->placements[i];
        budget_step(&rq->finish, p->resource_id_count + 1);
        run_time_tell(x, name_index_find(&ids, p->job_id),
                      p->resource_id ? &p->resource_id : p->resource_ids,
                      p->resource_id ? 1 : p->resource_id_count, &p->run_time_basis,
                      &p->run_time_index);
    }
    plan->placements = rows;
}

void run_times_tell(struct request *rq, const struct run_times *times,
                    const struct snapshot *s, const struct job *jobs, size_t job_count,
                    bool all, struct placement_out *plan,
                    const struct run_time_basis **list, size_t *count)
{
    struct run_time_teller *x =
        run_time_teller_create(rq, times, s, jobs, job_count, all);

    if (!x)
        return;
    run_time_tell_plan(rq, x, jobs, job_count, plan);
    *list = run_time_list(x, count);
}
