/* performance/row.c - a run with every function of its values worked out. */
#include "models/performance/row.h"

#include "models/performance/least_squares.h"
#include "models/performance/triangle.h"

#include <math.h>

void perf_row_of(const struct perf_sample *sample, struct perf_row *row)
{
    perf_bases(sample->problem_size, row->basis);
    row->parallel = sample->processors >= 2;
    row->size_log_ok = sample->problem_size > 1;
    row->bw_log_ok = sample->bandwidth_mbps > 1;
    row->cpu_inverse = 1 / sample->cpu_available_ratio;
    row->time_s = sample->time_s;
    for (int id = 0; id < PERF_P_SLOTS; id++)
        row->p_inverse[id] = row->parallel ? 1 / perf_p_value(id, sample->processors) : 1;
    for (int id = 1; id < PERF_BW_SLOTS; id++) {
        bool usable = row->parallel && (id < 7 || row->bw_log_ok);

        row->bw_inverse[id] = usable ? 1 / perf_bw_value(id, sample->bandwidth_mbps) : 0;
    }
    row->bw_inverse[0] = 1;
}

bool perf_row_taken(const struct perf_combination *c, const struct perf_row *row)
{
    if (!row->size_log_ok && perf_mask_needs_log(c->comp_mask | c->comm_mask))
        return false;
    return !row->parallel || c->comm_mask == 0 || c->bw_id < 7 || row->bw_log_ok;
}

size_t perf_row_terms(const struct perf_combination *c, const struct perf_row *row,
                      bool relative, double *out)
{
    double weight = relative ? 1 / row->time_s : 1;
    double comp = weight * row->cpu_inverse, comm = row->parallel ? weight : 0;
    size_t count = 0;

    if (c->pcomp_id != PERF_NONE)
        comp *= row->p_inverse[c->pcomp_id];
    if (c->pcomm_id != PERF_NONE)
        comm *= row->p_inverse[c->pcomm_id];
    if (c->bw_id != PERF_NONE)
        comm *= row->bw_inverse[c->bw_id];
    for (int bit = 0; bit < PERF_BASES; bit++) {
        if (c->comp_mask >> bit & 1U)
            out[count++] = row->basis[bit] * comp;
    }
    for (int bit = 0; bit < PERF_BASES; bit++) {
        if (c->comm_mask >> bit & 1U)
            out[count++] = row->basis[bit] * comm;
    }
    out[count] = relative ? 1 : row->time_s;
    return count;
}

void perf_row_add(struct perf_combination *c, const struct perf_row *row,
                  struct perf_fit_rule rule)
{
    double values[PERF_TERMS_MAX + 1];
    size_t terms;

    if (!perf_row_taken(c, row)) {
        c->refused_count++;
        return;
    }
    terms = perf_row_terms(c, row, rule.relative, values);
    c->sample_count++;
    c->time_sum += values[terms];
    perf_triangle_add(c->triangle, terms, values);
}

void perf_rows_fit(struct perf_combination *c, const struct perf_row *rows, size_t count,
                   struct perf_fit_rule rule, double *matrix, double *work)
{
    double values[PERF_TERMS_MAX + 1];
    size_t terms = perf_term_count(c), used = 0;

    perf_combination_clear(c);
    for (size_t i = 0; i < count; i++)
        c->refused_count += !perf_row_taken(c, &rows[i]);
    c->sample_count = count - c->refused_count;
    for (size_t i = 0; i < count; i++) {
        if (!perf_row_taken(c, &rows[i]))
            continue;
        perf_row_terms(c, &rows[i], rule.relative, values);
        for (size_t j = 0; j <= terms; j++)
            matrix[j * c->sample_count + used] = values[j];
        c->time_sum += values[terms];
        used++;
    }
    least_squares_triangle(matrix, c->sample_count, terms, c->triangle, work);
    perf_combination_solve(c, rule);
    c->appe_ratio = perf_rows_appe(c, rows, count);
}

double perf_rows_appe(const struct perf_combination *c, const struct perf_row *rows,
                      size_t count)
{
    double values[PERF_TERMS_MAX + 1], sum = 0;

    for (size_t i = 0; i < count; i++) {
        size_t terms = perf_row_terms(c, &rows[i], true, values);
        double fitted = 0;

        for (size_t k = 0; k < terms; k++)
            fitted += c->coefficients[k] * values[k];
        sum += fabs(1 - fitted);
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}
