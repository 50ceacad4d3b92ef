/* model_json.c - fitted models in JSON. */
#include "handlers/model/model_json.h"

#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "models/fitted/core.h"
#include "service/hash.h"
#include "service/store_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WHOLE_MAX 2147483647.0

/* ---- settings ---- */

static const char *const searches[] = {"exhaustive", "pruned", NULL};
static const char *const metrics[] = {"standard_error", "appe", NULL};

#define T struct drift_rule
static const struct json_field robustness_rows[] = {
    JSON_NUMBER(T, cusum_slack, 0.25, 3, 1, 0,
                "Error, in scales, that a run may have before it counts; default 1"),
    JSON_NUMBER(T, cusum_limit, 2, 20, 5, 0,
                "Sum of what counts, above which the run times have changed; default 5"),
    JSON_NUMBER(T, error_clamp, 2, 10, 3, 0,
                "Most, in scales, that one run counts for; default 3"),
    JSON_NUMBER(T, scale_floor, 0.001, 1, 0.05, 0,
                "Least scale of errors, a logarithm: 0.05 is about 5 percent; default "
                "0.05"),
    JSON_NUMBER(T, outlier_ratio, 1.5, 100, 3, 0,
                "A run that is off by a smaller factor is no outlier; default 3"),
    JSON_NUMBER(T, window_runs, 20, 20000, 2000, 0,
                "Latest runs that are remembered; default 2000"),
    {0},
};
#undef T
static const struct json_object robustness_json = {
    "ModelRobustness",
    "What is an outlier, and what a change of the run times (not in the profile thesis)",
    sizeof(struct drift_rule), robustness_rows};

#define T struct model_settings
static const struct json_field settings_rows[] = {
    JSON_CHOICE(T, profile, perf_profile_names, PERF_ROBUST, 0,
                "robust: relative errors, no negative coefficients, without outliers, "
                "careful far from what was seen; thesis: as the source; default robust"),
    JSON_CHOICE(T, search, searches, 0, 0,
                "How a comprehensive model with min_processors above 1 is searched; "
                "default exhaustive"),
    JSON_CHOICE(T, selection_metric, metrics, 0, 0,
                "What ranks the combinations; default standard_error"),
    JSON_NUMBER(T, threshold_factor, 1, 1e6, 2, JSON_ABOVE_MIN,
                "Of the pruned search: times the least error so far; default 2"),
    JSON_INTEGER(T, seed, 0, JSON_EXACT, 1, 0, "Of the pruned search; default 1"),
    JSON_BOOLEAN(T, extended_functions, 0, 0,
                 "Also functions of P beyond the source: 1, P / ln P, ln P / P"),
    JSON_BOOLEAN(T, replace_on_reform, 0, 0,
                 "A list that is formed anew replaces the old one; default: joins it"),
    JSON_INTEGER(T, min_processors, 1, 1000000, 1, 0,
                 "Least number of processors that the application runs on; default 1"),
    JSON_INTEGER(T, comp_degree, 0, PERF_DEGREE_MAX, 3, 0,
                 "preliminary: degree of the computation; default 3"),
    JSON_INTEGER(T, comm_degree, 0, PERF_DEGREE_MAX, 2, 0,
                 "preliminary: degree of the communication; default 2"),
    JSON_TEXTS(
        T, inputs, input_count, FITTED_INPUTS_MAX, 0,
        "auto: all inputs that may be used, default whatever the runs have; linear, "
        "scale_out, normal_form, power_law: problem_size, processors, "
        "cpu_available_ratio, bandwidth_mbps, or names of parameters; scale_out: "
        "machines, then data; default problem_size (scale_out: processors, "
        "problem_size)"),
    JSON_NUMBER(T, min_input, -JSON_LARGEST, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_OPTIONAL,
                "power_law: runs with a smaller input are passed over; default: none"),
    JSON_OBJECT(T, robustness, struct drift_rule, &robustness_json, 0,
                "How outliers and changes are told apart"),
    JSON_INSTANT(T, since, JSON_NULLABLE | JSON_OPTIONAL,
                 "Runs that started before are left out; default: none"),
    JSON_NUMBER(
        T, window_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
        "Runs that started so much before the newest are forgotten; default: none"),
    JSON_CHOICE(T, target, model_target_names, TARGET_RUN_TIME, 0,
                "What it predicts: run_time_s, or (auto only) memory_peak_bytes, "
                "disk_peak_bytes or cpus_used, which size requests; default run_time_s"),
    {0},
};
#undef T
const struct json_object model_settings_json = {"ModelSettings", "How a model is trained",
                                                sizeof(struct model_settings),
                                                settings_rows};

/* ---- runs ---- */

#define T struct model_run
static const struct json_field run_rows[] = {
    JSON_NUMBER(T, problem_size, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Size of the problem: N of the model"),
    JSON_NUMBER(T, processors, 1, WHOLE_MAX, 1, JSON_WHOLE, "Processors used; default 1"),
    JSON_NUMBER(T, cpu_available_ratio, 0, 1, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Share of the CPU that it got: least of the machines' means; default: 1 "
                "for a dedicated run"),
    JSON_NUMBER(T, bandwidth_mbps, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Bandwidth that it had: least of the links' means"),
    JSON_NUMBER(T, run_time_s, 0, JSON_LARGEST, NAN, JSON_REQUIRED | JSON_ABOVE_MIN,
                "How long it ran"),
    JSON_BOOLEAN(T, dedicated, 0, 0, "Nothing else ran on the machines; default false"),
    JSON_BOOLEAN(T, outlier, 0, 0, "Left out of robust fits; default false"),
    JSON_VALUES(
        T, parameters, parameter_count, 0,
        "Further inputs, by the names in settings.inputs; auto: numbers, texts and "
        "booleans of any names"),
    JSON_ID(T, resource_class, JSON_NULLABLE | JSON_OPTIONAL,
            "auto: type of the machine, an input as well"),
    {0},
};
#undef T
const struct json_object model_run_json = {"ModelRun", "A finished run of an application",
                                           sizeof(struct model_run), run_rows};

struct fitted_run *model_runs_read(enum model_kind kind,
                                   const struct model_settings *settings,
                                   const struct model_run *runs, size_t count,
                                   struct arena *a)
{
    struct fitted_run *list = NEW(a, struct fitted_run, count + 1);
    size_t input_count;
    const char *const *names = fitted_inputs(kind, settings, &input_count);
    struct ensemble_names *auto_names = NEW(a, struct ensemble_names, 1);

    ensemble_names_create(auto_names, settings->inputs, settings->input_count);
    for (size_t i = 0; i < count; i++) {
        const struct model_run *r = &runs[i];
        bool is_free = r->dedicated && isnan(r->cpu_available_ratio);
        struct perf_query query = {r->problem_size, r->processors,
                                   is_free ? 1 : r->cpu_available_ratio,
                                   r->bandwidth_mbps};

        list[i].run = (struct perf_sample){
            query.problem_size,   query.processors, query.cpu_available_ratio,
            query.bandwidth_mbps, r->run_time_s,    r->dedicated,
            r->outlier,
        };
        list[i].started_at_s = (double)NAN;
        list[i].names = auto_names;
        if (kind == MODEL_AUTO)
            fitted_auto_inputs(auto_names, &query, r->parameters, r->parameter_count,
                               r->resource_class, NULL, list[i].inputs, a);
        for (size_t k = 0; k < input_count && kind >= MODEL_LINEAR; k++)
            list[i].inputs[k] =
                fitted_input(names[k], &query, r->parameters, r->parameter_count);
    }
    return list;
}

/* ---- combinations ---- */

#define T struct combination_row
static const struct json_field combination_rows[] = {
    JSON_NUMBER(T, f_comp_mask, 0, 4095, NAN, JSON_REQUIRED | JSON_WHOLE,
                "Functions of N in the computation: sum of 1 1, 2 ln N, 4 N^0.5, 8 N, "
                "16 N ln N, 32 N (ln N)^2, 64 N^1.5, 128 N^2, 256 N^2 ln N, 512 N^2.5, "
                "1024 N^3, 2048 N^3 ln N"),
    JSON_NUMBER(T, f_comm_mask, 0, 4095, 0, JSON_WHOLE,
                "Likewise of the communication; 0: there is none; default 0"),
    JSON_NUMBER(T, f_bw_id, 1, PERF_BW_IDS, NAN,
                JSON_NULLABLE | JSON_MAY_BE_NULL | JSON_WHOLE,
                "Function of the bandwidth, in the denominator: 1 sqrt, 2 x, 3 x^1.5, 4 "
                "x^2, 5 x^2.5, 6 x^3, 7 ln x, 8 x ln x; null: no such part"),
    JSON_NUMBER(
        T, f_pcomp_id, 0, 18, NAN, JSON_NULLABLE | JSON_MAY_BE_NULL | JSON_WHOLE,
        "Function of the processors in the computation, in the denominator: 1 "
        "sqrt, 2 P, 3 P^1.5, 4 P^2, 5 P^2.5, 6 P^3, 7 ln P, 8 P ln P, 9 to 16 "
        "their reciprocals, 0 constant, 17 P / ln P, 18 ln P / P; null: no such part"),
    JSON_NUMBER(T, f_pcomm_id, 0, 18, NAN, JSON_NULLABLE | JSON_MAY_BE_NULL | JSON_WHOLE,
                "Likewise in the communication; null: no such part"),
    JSON_NUMBERS(T, coefficients, coefficient_count, -JSON_LARGEST, JSON_LARGEST,
                 JSON_REQUIRED,
                 "Of the computation's functions, then of the communication's, in the "
                 "order of their bits"),
    JSON_NUMBER(T, standard_error, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Of the fit: s, or a ratio in the robust profile"),
    JSON_NUMBER(T, low_rank_streak, 0, JSON_EXACT, 0, JSON_WHOLE,
                "Updates in a row among the worst tenth"),
    JSON_BOOLEAN(T, monotone_in_p, 0, 0, "The time never grows with the processors"),
    {0},
};
#undef T
const struct json_object combination_json = {
    "Combination",
    "Functions and coefficients of one term of computation and one of "
    "communication",
    sizeof(struct combination_row), combination_rows};

static double id_or_none(int id)
{
    return id == PERF_NONE ? (double)NAN : id;
}

static int id_of(double id)
{
    return isnan(id) ? PERF_NONE : (int)id;
}

static void list_rows(const struct perf_list *list, size_t limit,
                      const struct combination_row **out, size_t *count, struct arena *a)
{
    size_t n = list->count < limit ? list->count : limit;
    struct combination_row *rows = NEW(a, struct combination_row, n + 1);

    for (size_t i = 0; i < n; i++) {
        const struct perf_combination *c = &list->items[i];

        rows[i] = (struct combination_row){
            .f_comp_mask = c->comp_mask,
            .f_comm_mask = c->comm_mask,
            .f_bw_id = id_or_none(c->bw_id),
            .f_pcomp_id = id_or_none(c->pcomp_id),
            .f_pcomm_id = id_or_none(c->pcomm_id),
            .coefficients = c->coefficients,
            .coefficient_count = perf_term_count(c),
            .standard_error = c->standard_error,
            .low_rank_streak = (double)c->low_rank_streak,
            .monotone_in_p = perf_combination_monotone(c),
        };
    }
    *out = rows;
    *count = n;
}

/* Notes a combination that names no functions, or not as many as coefficients. */
static bool read_combination(const struct combination_row *row, const char *pointer,
                             struct perf_combination *out, struct error *err)
{
    *out = (struct perf_combination){
        .comp_mask = (unsigned)row->f_comp_mask,
        .comm_mask = (unsigned)row->f_comm_mask,
        .bw_id = id_of(row->f_bw_id),
        .pcomp_id = id_of(row->f_pcomp_id),
        .pcomm_id = id_of(row->f_pcomm_id),
        .standard_error = isnan(row->standard_error) ? 0 : row->standard_error,
        .appe_ratio = (double)NAN,
    };
    if (!perf_combination_valid(out)) {
        invalid(err, pointer, ITEM_INVALID_COMBINATION,
                "the masks and ids name no combination of 1 to %d functions; one with a "
                "f_comm_mask needs f_bw_id",
                PERF_TERMS_MAX);
        return false;
    }
    if (row->coefficient_count != perf_term_count(out)) {
        invalid(err, pointer, ITEM_INVALID_COMBINATION, "%s for %s",
                counted(row->coefficient_count, "coefficient").text,
                counted(perf_term_count(out), "function").text);
        return false;
    }
    memcpy(out->coefficients, row->coefficients,
           row->coefficient_count * sizeof(*row->coefficients));
    return true;
}

static enum error_code read_combinations(const struct combination_row *rows, size_t count,
                                         const char *at, const char *name,
                                         struct perf_combination **out, struct arena *a,
                                         struct error *err)
{
    struct perf_combination *list = NEW(a, struct perf_combination, count + 1);

    for (size_t i = 0; i < count; i++) {
        read_combination(&rows[i], pointer_in(pointer_of(at, name).text, i, NULL).text,
                         &list[i], err);
    }
    *out = list;
    return err->code;
}

/* A copy of their own: an answer outlives the model that it was made from. */
static void copy_coefficients(const double *list, size_t count, struct model_details *out,
                              struct arena *a)
{
    double *copy = NEW(a, double, count);

    if (count > 0)
        memcpy(copy, list, count * sizeof(*copy));
    out->coefficients = copy;
    out->coefficient_count = count;
}

#define T struct member_row
static const struct json_field member_rows[] = {
    JSON_WORD(T, group, log_group_names, 0,
              "same_configuration, inside or extrapolation: where questions lie"),
    JSON_WORD(T, name, ensemble_member_names, 0,
              "ridge, trees, scale_out, linear or comprehensive"),
    JSON_NUMBER(T, weight_ratio, 0, 0, 0, 0,
                "Its share of the estimate where all of the group answer"),
    JSON_NUMBER(T, error_ratio, 0, 0, 0, 0,
                "Its mean error on runs that it had not seen, as a logarithm"),
    JSON_INTEGER(T, run_count, 0, JSON_EXACT, 0, 0, "Runs that this comes from"),
    {0},
};
#undef T
const struct json_object member_json = {"ModelMember", "A member of a model of kind auto",
                                        sizeof(struct member_row), member_rows};

#define T struct interval_row
static const struct json_field interval_rows[] = {
    JSON_WORD(T, group, log_group_names, 0,
              "same_configuration, inside or extrapolation: where questions lie"),
    JSON_INTEGER(T, error_count, 0, JSON_EXACT, 0, 0,
                 "Errors on runs not fitted to that this comes from"),
    JSON_NUMBER(T, s0, 0, 0, 0, 0, "Scale of these errors, as a logarithm"),
    JSON_NUMBER(T, q90, 0, 0, 0, 0,
                "At the level 0.9 half of an interval, as a logarithm, over s0"),
    {0},
};
#undef T
const struct json_object interval_json = {
    "ModelInterval", "What the intervals of a group of questions are made of",
    sizeof(struct interval_row), interval_rows};

static void add_intervals(const struct fitted_model *m, struct model_details *out,
                          struct arena *a)
{
    struct fitted_interval interval;
    struct interval_row *rows;

    if (!m->core || m->reason)
        return;
    rows = NEW(a, struct interval_row, LOG_GROUP_COUNT);
    core_interval(m->core, 0.9, &interval, a);
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++)
        rows[g] = (struct interval_row){log_group_names[g], interval.error_count[g],
                                        interval.scale[g], interval.quantile[g]};
    out->intervals = rows;
    out->interval_count = LOG_GROUP_COUNT;
}

enum left_out { LEFT_SKIPPED, LEFT_CUT, LEFT_RARE, LEFT_UNIQUE };
static const char *const left_out_reasons[] = {"input_skipped", "inputs_cut",
                                               "input_rare", "input_unique", NULL};

#define T struct left_out_row
static const struct json_field left_out_rows[] = {
    JSON_TEXT(T, name, JSON_OPTIONAL,
              "Its name; left out for those beyond the 32 that a model keeps"),
    JSON_WORD(T, reason, left_out_reasons, 0,
              "input_skipped: a list or an object in runs; inputs_cut: beyond 24 numbers "
              "and 8 texts; input_rare: fewer than half of the runs have it; "
              "input_unique: a text of its own in each run, as names of files are"),
    {0},
};
#undef T
const struct json_object left_out_json = {"ModelInputLeftOut",
                                          "What runs tell that is no input",
                                          sizeof(struct left_out_row), left_out_rows};

static bool is_input_of(const struct ensemble *e, size_t column)
{
    for (size_t k = 0; k < e->input_count; k++)
        if (e->input[k].column == column)
            return true;
    return false;
}

static void leave_out(const char *name, enum left_out reason, struct model_details *out,
                      struct arena *a)
{
    struct left_out_row *rows = NEW(a, struct left_out_row, out->left_out_count + 1);

    if (out->left_out_count > 0)
        memcpy(rows, out->inputs_left_out, out->left_out_count * sizeof(*rows));
    rows[out->left_out_count++] = (struct left_out_row){name, left_out_reasons[reason]};
    out->inputs_left_out = rows;
}

/* Why a column that some runs have is no input. */
static void add_left_out(const struct fitted_model *m, size_t column,
                         struct model_details *out, struct arena *a)
{
    const struct ensemble *e = m->ensemble;
    const struct fitted_core *core = m->core;
    size_t count = 0, alike = 0;
    bool is_text = false;

    for (size_t i = 0; i < core->row_count; i++) {
        double value = core->rows[i].run.inputs[column];

        count += isnan(value) ? 0 : 1;
        is_text = is_text || ensemble_is_text(value);
    }
    for (size_t k = 0; k < e->input_count; k++)
        alike += e->input[k].is_text == is_text;
    if (count == 0)
        return;
    if (2 * count < core->row_count)
        leave_out(m->names->name[column], LEFT_RARE, out, a);
    else if (alike == (is_text ? ENSEMBLE_CATEGORICAL_MAX : ENSEMBLE_NUMBERS_MAX))
        leave_out(m->names->name[column], LEFT_CUT, out, a);
    else if (is_text)
        leave_out(m->names->name[column], LEFT_UNIQUE, out, a);
}

static void list_left_out(const struct fitted_model *m, struct model_details *out,
                          struct arena *a)
{
    size_t order[ENSEMBLE_INPUTS_MAX], count;

    if (!m->core)
        return;
    ensemble_names_order(m->names, order, &count);
    for (size_t i = 0; i < count; i++)
        if (!is_input_of(m->ensemble, order[i]))
            add_left_out(m, order[i], out, a);
    if (m->names->cut)
        leave_out(NULL, LEFT_CUT, out, a);
}

void model_details_skip(const char *name, struct model_details *details, struct arena *a)
{
    leave_out(name, LEFT_SKIPPED, details, a);
}

/* Members that answer at all, with their weights; and the inputs. */
static void details_of_auto(const struct fitted_model *m, struct model_details *out,
                            struct arena *a)
{
    const struct ensemble *e = m->ensemble;
    struct member_row *rows =
        NEW(a, struct member_row, LOG_GROUP_COUNT * ENSEMBLE_MEMBER_COUNT);
    const char **inputs = NEW(a, const char *, ENSEMBLE_INPUTS_MAX);

    out->formula = "weighted mean of the members, moved by what they were wrong by on "
                   "runs of the same configuration";
    if (!e)
        return;
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++) {
        double sum = 0;

        for (size_t k = 0; k < ENSEMBLE_MEMBER_COUNT; k++)
            if (e->member_runs[k] > 0)
                sum += ensemble_weight(e->member_error[g][k]);
        for (size_t k = 0; k < ENSEMBLE_MEMBER_COUNT; k++)
            if (e->member_runs[k] > 0)
                rows[out->member_count++] =
                    (struct member_row){log_group_names[g], ensemble_member_names[k],
                                        ensemble_weight(e->member_error[g][k]) / sum,
                                        e->member_error[g][k], e->member_runs[k]};
    }
    for (size_t k = 0; k < e->input_count; k++)
        inputs[out->input_count++] = m->names->name[e->input[k].column];
    out->members = rows;
    out->inputs = inputs;
    list_left_out(m, out, a);
}

void model_details_of(const struct fitted_model *m, size_t limit,
                      struct model_details *out, struct arena *a)
{
    *out = (struct model_details){0};
    add_intervals(m, out, a);
    if (m->kind == MODEL_COMPREHENSIVE) {
        out->combinations_total = m->set.sorted.count;
        list_rows(&m->set.sorted, limit, &out->combinations, &out->combination_count, a);
        list_rows(&m->set.single, limit, &out->single_combinations,
                  &out->single_combination_count, a);
        return;
    }
    if (m->kind == MODEL_PRELIMINARY) {
        out->formula = "p(N) + q(N) / cpu_available_ratio + r(N) / bandwidth_mbps, "
                       "coefficients of p, q and r from the highest power of N down";
        copy_coefficients(m->preliminary.coefficients, m->preliminary.coefficient_count,
                          out, a);
        return;
    }
    if (m->kind == MODEL_AUTO) {
        details_of_auto(m, out, a);
        return;
    }
    copy_coefficients(m->regression.coefficients, m->regression.coefficient_count, out,
                      a);
    if (!m->reason) {
        size_t input_count;
        const char *const *names = fitted_inputs(m->kind, &m->settings, &input_count);

        out->formula = regression_formula(regression_kind_find(model_kind_names[m->kind]),
                                          &m->regression, names, a);
    }
}

/* ---- what is known of a model ---- */

#define T struct model_range
static const struct json_field range_rows[] = {
    JSON_NUMBER(T, low, 0, 0, 0, JSON_MAY_BE_NULL, "Least; null: nothing seen"),
    JSON_NUMBER(T, high, 0, 0, 0, JSON_MAY_BE_NULL, "Greatest; null: nothing seen"),
    {0},
};
#undef T
static const struct json_object range_json = {"ModelRange",
                                              "Least and greatest value that was seen",
                                              sizeof(struct model_range), range_rows};

#define T struct model_porting
static const struct json_field porting_rows[] = {
    JSON_WORD(T, status, perf_porting_names, 0,
              "matched; not_matched: no factor fits this site as well as the reference; "
              "communication_not_identifiable"),
    JSON_NUMBER(T, cpu_factor, 0, 0, 0, 0, "Times of the reference's computation: R_cpu"),
    JSON_NUMBER(T, bandwidth_factor, 0, 0, 0, 0, "Likewise of its communication: R_bw"),
    JSON_NUMBER(T, best_bandwidth_factor, 0, 0, 0, JSON_OPTIONAL,
                "R_bw by least squares"),
    JSON_RATIO(T, goodness_reference_ratio, goodness_reference_pct, 0, 0, 0,
               "Mean error on the reference's dedicated runs"),
    JSON_RATIO(T, goodness_target_ratio, goodness_target_pct, 0, 0, 0,
               "Likewise on this site's"),
    JSON_TEXT(T, reference_model_id, JSON_OPTIONAL, "Model that it was ported from"),
    {0},
};
#undef T
static const struct json_object porting_json = {
    "ModelPorting", "How a model was carried over from another site",
    sizeof(struct model_porting), porting_rows};

#define T struct model_change
static const struct json_field change_rows[] = {
    JSON_TEXT(T, at_execution_id, JSON_OPTIONAL,
              "The first run since then; left out of a model that is not stored"),
    JSON_INSTANT(T, at, JSON_OPTIONAL, "When the first run since then started"),
    JSON_NUMBER(T, factor, 0, 0, 0, 0, "Run times since then over those of before"),
    JSON_INTEGER(T, earlier_run_count, 0, JSON_EXACT, 0, 0,
                 "Runs of before that were kept at first, scaled to the new level"),
    JSON_INTEGER(T, run_count, 0, JSON_EXACT, 0, 0, "Runs since then"),
    JSON_WORD(T, scope, core_scope_names, JSON_OPTIONAL,
              "Whose run times changed: all, or those of one resource_class or site_id; "
              "left out by versions of before revision 3: all"),
    JSON_TEXT(T, resource_class, JSON_OPTIONAL,
              "That one; left out of a model that is not stored"),
    JSON_TEXT(T, site_id, JSON_OPTIONAL, "Likewise"),
    {0},
};
#undef T
static const struct json_object change_json = {
    "ModelChange", "A change of the run times that was noticed",
    sizeof(struct model_change), change_rows};

#define T struct model_summary
static const struct json_field summary_rows[] = {
    JSON_INTEGER(T, sample_count, 0, JSON_EXACT, 0, 0, "Runs that it is fitted to"),
    JSON_INTEGER(T, outlier_count, 0, JSON_EXACT, 0, 0,
                 "Runs left out because they are far from the others"),
    JSON_INTEGER(T, unusable_count, 0, JSON_EXACT, 0, 0,
                 "Runs that lack what the kind needs"),
    JSON_NUMBER(T, standard_error, 0, 0, 0, JSON_MAY_BE_NULL,
                "Of the fit: s, or a ratio where errors are relative; null: not known"),
    JSON_RATIO(T, fit_appe_ratio, fit_appe_pct, 0, 0, JSON_MAY_BE_NULL,
               "Mean error on the runs that it is fitted to; null: not known"),
    JSON_RATIO(T, cross_appe_ratio, cross_appe_pct, 0, 0, JSON_MAY_BE_NULL,
               "Mean error on runs that it was fitted without: each run left out once, "
               "by itself or, when there are more than 50, with others; null: not known"),
    JSON_INTEGER(T, unseen_count, 0, JSON_EXACT, 0, 0,
                 "Runs that were predicted before they were learnt"),
    JSON_RATIO(T, unseen_appe_ratio, unseen_appe_pct, 0, 0, JSON_MAY_BE_NULL,
               "Mean error on them; null: there are none"),
    JSON_RATIO(T, recent_appe_ratio, recent_appe_pct, 0, 0, JSON_MAY_BE_NULL,
               "Likewise on the last 50 of them; null: there are none"),
    JSON_INTEGER(T, combination_count, 0, JSON_EXACT, 0, 0,
                 "comprehensive: combinations in the sorted list"),
    JSON_INTEGER(T, fits_evaluated, 0, JSON_EXACT, 0, 0,
                 "Least-squares problems of the last training"),
    JSON_BOOLEAN(T, cut, 0, 0, "The time limit ended the last training early"),
    JSON_OBJECT(T, problem_size, struct model_range, &range_json, 0, "Sizes seen"),
    JSON_OBJECT(T, processors, struct model_range, &range_json, 0, "Processors seen"),
    JSON_OBJECT(T, cpu_available_ratio, struct model_range, &range_json, 0, "CPU seen"),
    JSON_OBJECT(T, bandwidth_mbps, struct model_range, &range_json, 0, "Bandwidths seen"),
    JSON_OBJECT(T, porting, const struct model_porting *, &porting_json,
                JSON_POINTER | JSON_OPTIONAL, "Of a ported model"),
    JSON_INTEGER(T, change_count, 0, JSON_EXACT, 0, 0,
                 "Changes of the run times that were noticed"),
    JSON_OBJECT(T, change, const struct model_change *, &change_json,
                JSON_POINTER | JSON_OPTIONAL, "The last of them"),
    {0},
};
#undef T
const struct json_object model_summary_json = {
    "ModelSummary", "What a model was fitted to, and how well",
    sizeof(struct model_summary), summary_rows};

static struct model_range range_of(struct perf_range range)
{
    return (struct model_range){range.low, range.high};
}

void model_summary_of(const struct fitted_model *m, const char *reference_model_id,
                      struct model_summary *out, struct arena *a)
{
    struct model_porting *porting = NULL;
    struct model_change *change = NULL;

    if (m->core && m->core->change_count > 0) {
        change = NEW(a, struct model_change, 1);
        *change = (struct model_change){
            .at_s = m->core->change_at_s,
            .factor = m->core->change_factor,
            .earlier_run_count = m->core->change_earlier_count,
            .run_count = m->core->runs_since_change,
            .scope = core_scope_names[m->core->change_scope],
        };
    }
    if (m->kind == MODEL_COMPREHENSIVE && m->set.reference) {
        porting = NEW(a, struct model_porting, 1);
        *porting = (struct model_porting){
            perf_porting_names[m->porting.status],
            m->porting.cpu_factor,
            m->porting.bandwidth_factor,
            m->porting.best_factor,
            100 * m->porting.goodness_reference,
            100 * m->porting.goodness_target,
            reference_model_id,
        };
    }
    *out = (struct model_summary){
        .sample_count = m->sample_count,
        .outlier_count = m->outlier_count,
        .unusable_count = m->unusable_count,
        .standard_error = m->standard_error,
        .fit_appe_pct = m->fit_appe_pct,
        .cross_appe_pct = m->cross_appe_pct,
        .unseen_count = m->errors.count,
        .unseen_appe_pct = fitted_unseen_appe_pct(m),
        .recent_appe_pct = fitted_recent_appe_pct(m),
        .combination_count = m->set.sorted.count,
        .fits_evaluated = m->fits_evaluated,
        .cut = m->cut,
        .problem_size = range_of(m->seen.problem_size),
        .processors = range_of(m->seen.processors),
        .cpu_available_ratio = range_of(m->seen.cpu_available_ratio),
        .bandwidth_mbps = range_of(m->seen.bandwidth_mbps),
        .porting = porting,
        .change_count = m->core ? m->core->change_count : 0,
        .change = change,
    };
}

const char *model_unused_inputs(const struct fitted_model *m, struct arena *a)
{
    size_t count, used;
    const char *const *names = fitted_inputs(m->kind, &m->settings, &count);
    const char *text;

    if (m->reason || m->kind != MODEL_LINEAR || count < 2)
        return NULL;
    used = regression_linear_input(&m->regression);
    text =
        used < count
            ? arena_printf(a,
                           "inputs_unused: linear is a line over one input: of %zu it "
                           "uses '%.60s', which explains most; normal_form takes three",
                           count, names[used])
            : arena_printf(a,
                           "inputs_unused: none of %zu inputs explains the times: "
                           "linear answers their median",
                           count);
    return text;
}

/* Runs by what a comprehensive model can do with them. */
struct run_tally {
    size_t usable, single, pairs, lacks[5]; /* of the names below */
};
static const char *const run_members[] = {
    "problem_size", "processors", "cpu_available_ratio", "bandwidth_mbps", "time_s"};

static struct run_tally tally_runs(const struct fitted_run *runs, size_t count)
{
    struct run_tally t = {0};

    for (size_t i = 0; i < count; i++) {
        const char *fault = perf_sample_fault(&runs[i].run);

        for (size_t k = 0; fault && k < sizeof(run_members) / sizeof(run_members[0]); k++)
            t.lacks[k] += strcmp(run_members[k], fault) == 0;
        if (fault)
            continue;
        t.usable++;
        t.single += runs[i].run.processors < 2;
        t.pairs += runs[i].run.processors == 2;
    }
    return t;
}

static const char *needs_of_terms(enum model_kind kind, const struct fitted_run *runs,
                                  size_t count, struct arena *a)
{
    struct run_tally t = tally_runs(runs, count);

    return arena_printf(
        a,
        "%s needs runs with problem_size, cpu_available_ratio (or dedicated, or stored "
        "load samples of the machine) and, on two processors and more, bandwidth_mbps%s; "
        "of %s %zu can be used: %zu on one processor, %zu on two, %zu on "
        "more; lacking or out of bounds: problem_size %zu, cpu_available_ratio %zu, "
        "bandwidth_mbps %zu. Kinds that need a problem_size only: linear, power_law",
        model_kind_names[kind],
        kind == MODEL_COMPREHENSIVE
            ? ": 3 on one processor, 5 on two, 5 on two and more with two different "
              "numbers of processors"
            : ", all on one number of processors",
        counted(count, "execution").text, t.usable, t.single, t.pairs,
        t.usable - t.single - t.pairs, t.lacks[0], t.lacks[2], t.lacks[3]);
}

const char *model_needs(enum model_kind kind, const struct model_settings *settings,
                        const struct fitted_run *runs, size_t count, struct arena *a)
{
    struct text_buffer b = {.arena = a};
    size_t input_count, usable = 0;
    const char *const *names = fitted_inputs(kind, settings, &input_count);

    if (kind == MODEL_AUTO) {
        for (size_t i = 0; i < count; i++)
            usable += runs[i].run.time_s > 0 && !runs[i].run.outlier &&
                      !(runs[i].started_at_s < settings->since_s);
        return arena_printf(
            a,
            "auto needs one run that took time and is no outlier%s; of "
            "%s %zu can be used",
            isnan(settings->since_s) ? "" : ", and started after settings.since",
            counted(count, "execution").text, usable);
    }
    if (kind < MODEL_LINEAR)
        return needs_of_terms(kind, runs, count, a);
    for (size_t i = 0; i < count; i++) {
        bool all = runs[i].run.time_s > 0;

        for (size_t k = 0; k < input_count; k++)
            all = all && isfinite(runs[i].inputs[k]);
        usable += all;
    }
    text_addf(&b, "%s needs runs with", model_kind_names[kind]);
    for (size_t k = 0; k < input_count; k++)
        text_addf(&b, "%s %.60s", k ? "," : "", names[k]);
    text_addf(&b, " that differ; of %s %zu %s all of them",
              counted(count, "execution").text, usable, plural(usable, "has", "have"));
    text_add(&b, "", 1);
    return text_end(&b);
}

/* ---- a model in a request ---- */

enum { ANY_KIND = -1 };

#define T struct model_document
static const struct json_field document_rows[] = {
    JSON_CHOICE(T, kind, model_kind_names, ANY_KIND, 0,
                "Kind of model; default comprehensive, with packed its own"),
    JSON_OBJECT(T, settings, struct model_settings, &model_settings_json, 0,
                "How it is, or was, trained"),
    {.name = "packed",
     .doc = "All that a fit answered as `packed`: the model with its statistics",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, packed, const char *),
     .min = 1,
     .max = MODEL_PACKED_MAX_BYTES},
    JSON_LIST(T, combinations, combination_count, struct combination_row,
              &combination_json, MODEL_COMBINATIONS_MAX, 0,
              "Instead: combinations of a comprehensive model, best first"),
    JSON_LIST(T, single_combinations, single_combination_count, struct combination_row,
              &combination_json, MODEL_COMBINATIONS_MAX, 0,
              "With combinations: those for one processor"),
    JSON_LIST(T, samples, sample_count, struct model_run, &model_run_json, MODEL_RUNS_MAX,
              0, "Instead: runs to train it from, in the order of time"),
    {0},
};
#undef T
const struct json_object model_document_json = {
    "ModelDocument", "A model that is not stored: packed, combinations, or samples",
    sizeof(struct model_document), document_rows};

static enum error_code unpack_text(const struct model_document *in, const char *at,
                                   struct fitted_model *out, struct arena *a,
                                   struct error *err)
{
    struct pointer pointer = pointer_of(at, "packed");
    struct db_bytes bytes = {NULL, 0};
    const double *numbers;
    size_t count;
    int kind = in->kind;

    bytes.data = base64url_decode(in->packed, &bytes.length, a);
    if (!bytes.data || bytes.length % sizeof(double))
        return invalid(err, pointer.text, ITEM_NOT_PACKED,
                       "this is not what a fit answers");
    numbers = store_numbers_read(bytes, &count, a);
    if (!numbers)
        arena_leave(a);
    if (kind < 0)
        kind = fitted_packed_kind(numbers, count);
    if (kind >= 0 && fitted_unpack((enum model_kind)kind, &in->settings, numbers, count,
                                   out, a, err) == OK)
        return OK;
    *err = (struct error){.arena = err->arena};
    return invalid(err, pointer.text, ITEM_NOT_PACKED,
                   "these are not the numbers of a model of %s%s with these settings",
                   kind < 0 ? "any kind" : "the kind ",
                   kind < 0 ? "" : model_kind_names[kind]);
}

static enum error_code from_combinations(const struct model_document *in, const char *at,
                                         struct fitted_model *out, struct arena *a,
                                         struct error *err)
{
    struct perf_combination *sorted = NULL, *single = NULL;

    if (in->kind >= 0 && in->kind != MODEL_COMPREHENSIVE)
        return invalid(err, at, ITEM_NOT_USED, "the kind %s has no combinations",
                       model_kind_names[in->kind]);
    read_combinations(in->combinations, in->combination_count, at, "combinations",
                      &sorted, a, err);
    read_combinations(in->single_combinations, in->single_combination_count, at,
                      "single_combinations", &single, a, err);
    if (err->code != OK)
        return err->code;
    fitted_from_combinations(sorted, in->combination_count, single,
                             in->single_combination_count, &in->settings, out);
    return OK;
}

enum error_code model_document_read(const struct model_document *in, const char *at,
                                    struct budget *budget, struct fitted_model *out,
                                    struct arena *a, struct error *err)
{
    enum model_kind kind =
        in->kind >= 0 ? (enum model_kind)in->kind : MODEL_COMPREHENSIVE;
    int ways = (in->packed != NULL) + (in->combinations != NULL) + (in->samples != NULL);
    struct pointer settings_at = pointer_of(at, "settings");
    struct fitted_run *runs;

    if (in->kind >= 0 || in->samples)
        fitted_check_settings(kind, &in->settings, settings_at.text, err);
    if (ways != 1)
        return invalid(err, at, ITEM_CONFLICT,
                       "give exactly one of packed, combinations and samples");
    if (err->code != OK)
        return err->code;
    if (in->packed)
        return unpack_text(in, at, out, a, err);
    if (in->combinations)
        return from_combinations(in, at, out, a, err);
    runs = model_runs_read(kind, &in->settings, in->samples, in->sample_count, a);
    return fitted_train(kind, &in->settings, runs, in->sample_count, budget, out, NULL, a,
                        err);
}

void model_packed_text(const struct fitted_model *m, const char **text, struct arena *a)
{
    const double *numbers;
    struct db_bytes bytes;
    size_t count;

    fitted_pack(m, false, &numbers, &count, a);
    bytes = store_numbers(numbers, count, a);
    *text = bytes.data ? base64url_encode(bytes.data, bytes.length, a) : NULL;
    if (!*text)
        arena_leave(a);
}
