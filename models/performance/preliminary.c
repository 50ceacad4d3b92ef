/* performance/preliminary.c - the earlier model: fixed processors, given degrees.
 *
 * Columns: N^d .. 1, the same over the CPU, and N^e .. 1 over the bandwidth. The fit
 * is one factorisation; an update rotates one row into its triangle.
 *
 * Source: spec performance-models.md 4; 003_a5f9349f46eae656 3.3 (Eq. 3.1-3.5).
 */
#include "models/performance/preliminary.h"

#include "models/performance/least_squares.h"
#include "models/performance/triangle.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = PERF_PRELIMINARY_TERMS_MAX + 1 };

/* The columns of a run or a query, without the time; how many. One processor has no
 * bandwidth: those columns are 0, and the fit says that it cannot tell them apart. */
static size_t fill_row(const struct perf_preliminary *m, double size, double cpu,
                       double bandwidth_mbps, double *row)
{
    size_t comp = m->comp_degree + 1, comm = m->comm_degree + 1;
    double power = 1;

    for (size_t d = 0; d < comp; d++, power *= size) {
        row[comp - 1 - d] = power;
        row[2 * comp - 1 - d] = power / cpu;
    }
    power = 1;
    for (size_t d = 0; d < comm; d++, power *= size)
        row[2 * comp + comm - 1 - d] = bandwidth_mbps > 0 ? power / bandwidth_mbps : 0;
    return 2 * comp + comm;
}

/* The row of a sample as it goes into the fit, time last. */
static size_t sample_row(const struct perf_preliminary *m,
                         const struct perf_sample *sample, double *row)
{
    size_t terms = fill_row(m, sample->problem_size, sample->cpu_available_ratio,
                            sample->bandwidth_mbps, row);

    row[terms] = sample->time_s;
    for (size_t k = 0; k <= terms && m->relative; k++)
        row[k] /= sample->time_s;
    return terms;
}

static void solve(struct perf_preliminary *m)
{
    size_t terms = m->coefficient_count, count = m->seen.sample_count;
    double x[PERF_PRELIMINARY_TERMS_MAX] = {0};

    memset(m->coefficients, 0, sizeof(m->coefficients));
    m->standard_error = HUGE_VAL;
    m->appe_ratio = (double)NAN;
    m->status = PERF_INSUFFICIENT_SAMPLES;
    if (count <= terms)
        return;
    m->status = PERF_RANK_DEFICIENT;
    if (!perf_triangle_solve(m->triangle, terms, x))
        return;
    memcpy(m->coefficients, x, sizeof(x));
    m->standard_error = fabs(m->triangle[TRIANGLE_AT(terms, terms, terms)]) /
                        sqrt((double)(count - terms));
    m->status = PERF_READY;
}

static double fitted_time_s(const struct perf_preliminary *m, const double *row,
                            size_t from, size_t to)
{
    double sum = 0;

    for (size_t k = from; k < to; k++)
        sum += m->coefficients[k] * row[k];
    return sum;
}

static double appe_of(const struct perf_preliminary *m, const struct perf_sample *samples,
                      size_t count)
{
    double row[COLUMNS_MAX], sum = 0;

    for (size_t i = 0; i < count; i++) {
        size_t terms = sample_row(m, &samples[i], row);

        if (!perf_sample_fault(&samples[i]))
            sum += fabs(1 - fitted_time_s(m, row, 0, terms) / row[terms]);
    }
    return sum / (double)m->seen.sample_count;
}

static enum error_code check(const struct perf_sample *samples, size_t count,
                             size_t comp_degree, size_t comm_degree, struct error *err)
{
    double processors = 0;

    if (comp_degree > PERF_DEGREE_MAX)
        return fail(err, ERR_INVALID, "/comp_degree", "at most %d", PERF_DEGREE_MAX);
    if (comm_degree > PERF_DEGREE_MAX)
        return fail(err, ERR_INVALID, "/comm_degree", "at most %d", PERF_DEGREE_MAX);
    for (size_t i = 0; i < count; i++) {
        if (perf_sample_fault(&samples[i]))
            continue;
        if (processors > 0 && samples[i].processors != processors)
            return fail(err, ERR_INVALID, "/samples",
                        "a preliminary model is of one number of processors, "
                        "here are %g and %g",
                        processors, samples[i].processors);
        processors = samples[i].processors;
    }
    return OK;
}

enum error_code perf_preliminary_fit(const struct perf_sample *samples, size_t count,
                                     size_t comp_degree, size_t comm_degree,
                                     bool relative, struct perf_preliminary *out,
                                     struct arena *a, struct error *err)
{
    struct perf_preliminary m = {
        .comp_degree = comp_degree,
        .comm_degree = comm_degree,
        .relative = relative,
        .coefficient_count = 2 * (comp_degree + 1) + comm_degree + 1,
        .version = 1,
    };
    double *matrix = NEW(a, double, COLUMNS_MAX *count);
    double *work = NEW(a, double, LEAST_SQUARES_WORK(COLUMNS_MAX));
    size_t used = 0, next = 0;

    TRY(check(samples, count, comp_degree, comm_degree, err));
    perf_seen_clear(&m.seen);
    for (size_t i = 0; i < count; i++)
        used += !perf_sample_fault(&samples[i]);
    for (size_t i = 0; i < count; i++) {
        double row[COLUMNS_MAX];

        if (perf_sample_fault(&samples[i]))
            continue;
        sample_row(&m, &samples[i], row);
        for (size_t k = 0; k <= m.coefficient_count; k++)
            matrix[k * used + next] = row[k];
        next++;
        perf_seen_add(&m.seen, &samples[i]);
        m.processors = samples[i].processors;
    }
    least_squares_triangle(matrix, used, m.coefficient_count, m.triangle, work);
    solve(&m);
    if (m.status == PERF_READY)
        m.appe_ratio = appe_of(&m, samples, count);
    *out = m;
    return OK;
}

bool perf_preliminary_update(struct perf_preliminary *model,
                             const struct perf_sample *sample)
{
    double row[COLUMNS_MAX];

    if (perf_sample_fault(sample) ||
        (model->processors > 0 && sample->processors != model->processors))
        return false;
    model->processors = sample->processors;
    sample_row(model, sample, row);
    perf_triangle_add(model->triangle, model->coefficient_count, row);
    perf_seen_add(&model->seen, sample);
    model->version++;
    solve(model);
    return true;
}

static unsigned range_warnings(const struct perf_seen *seen, const struct perf_query *q)
{
    unsigned warnings = 0;

    if (q->problem_size > 2 * seen->problem_size.high ||
        q->problem_size < seen->problem_size.low / 2)
        warnings |= PERF_WARN_SIZE_FAR;
    if (q->cpu_available_ratio < seen->cpu_available_ratio.low)
        warnings |= PERF_WARN_CPU_BELOW;
    if (q->processors >= 2 && q->bandwidth_mbps < seen->bandwidth_mbps.low)
        warnings |= PERF_WARN_BANDWIDTH_BELOW;
    return seen->sample_count < PERF_TRAINED_SAMPLES ? warnings | PERF_WARN_FEW_SAMPLES
                                                     : warnings;
}

/* Fills the times of an answer; a load that is nearly nothing was raised. */
static void answer(const struct perf_preliminary *model, const struct perf_query *query,
                   struct perf_prediction *out)
{
    double cpu = fmax(query->cpu_available_ratio, PERF_CPU_LEAST_RATIO);
    double bandwidth_mbps = fmax(query->bandwidth_mbps, PERF_BW_LEAST_MBPS);
    double row[COLUMNS_MAX], computation_s, communication_s;
    size_t comp = 2 * (model->comp_degree + 1), terms;

    out->warnings = range_warnings(&model->seen, query);
    if (cpu > query->cpu_available_ratio)
        out->warnings |= PERF_WARN_CPU_RAISED;
    if (query->processors >= 2 && bandwidth_mbps > query->bandwidth_mbps)
        out->warnings |= PERF_WARN_BANDWIDTH_RAISED;
    terms = fill_row(model, query->problem_size, cpu, bandwidth_mbps, row);
    computation_s = fitted_time_s(model, row, 0, comp);
    communication_s = fitted_time_s(model, row, comp, terms);
    if (!isfinite(computation_s + communication_s) ||
        !(computation_s + communication_s > 0))
        return;
    out->status = PERF_READY;
    out->rank = 1;
    out->problem_size_ratio = query->problem_size / model->seen.problem_size.high;
    out->processors_ratio = 1;
    out->computation_s = computation_s;
    out->communication_s = communication_s;
    out->time_s = out->head_time_s = computation_s + communication_s;
}

void perf_preliminary_predict(const struct perf_preliminary *model,
                              const struct perf_query *query, struct perf_prediction *out)
{
    double none = (double)NAN;

    *out = (struct perf_prediction){
        .status = model->status,
        .time_s = none,
        .computation_s = none,
        .communication_s = none,
        .problem_size_ratio = none,
        .processors_ratio = none,
        .head_time_s = none,
    };
    if (model->status != PERF_READY)
        return;
    out->status = PERF_RESOURCE_UNUSABLE;
    if (!(query->cpu_available_ratio > 0) ||
        (query->processors >= 2 && !(query->bandwidth_mbps > 0)))
        return;
    out->status = PERF_NO_USABLE_COMBINATION;
    if (query->processors == model->processors && query->problem_size > 0)
        answer(model, query, out);
}
