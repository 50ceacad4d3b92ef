/* performance/term.c - the run time of an application at one problem size. */
#include "models/performance/term.h"

#include "models/performance/functions.h"

#include <math.h>

/* Bandwidth as its function sees it. */
static double usable_mbps(int bw_id, double bandwidth_mbps)
{
    double least = bw_id >= 7 ? PERF_BW_LOG_LEAST_MBPS : PERF_BW_LEAST_MBPS;

    return fmax(bandwidth_mbps, least);
}

static bool communicates(const struct perf_term *t)
{
    return t->bw_id != PERF_NONE && t->comm != 0;
}

/* A share of work; infinite when powers of P have left the range of a double. */
static double over(double work, double divisor)
{
    return divisor > 0 ? work / divisor : HUGE_VAL;
}

void perf_term_parts(const struct perf_term *term, double processors,
                     double cpu_available_ratio, double bandwidth_mbps,
                     double *computation_s, double *communication_s)
{
    double cpu = fmax(cpu_available_ratio, PERF_CPU_LEAST_RATIO);

    *computation_s = over(term->comp_s, cpu * perf_p_value(term->pcomp_id, processors));
    *communication_s = 0;
    if (!communicates(term))
        return;
    if (!(bandwidth_mbps > 0)) {
        *communication_s = HUGE_VAL;
        return;
    }
    bandwidth_mbps = usable_mbps(term->bw_id, bandwidth_mbps);
    *communication_s = over(term->comm, perf_bw_value(term->bw_id, bandwidth_mbps) *
                                            perf_p_value(term->pcomm_id, processors));
}

static double single_time_s(const struct perf_terms *model, double cpu_available_ratio)
{
    double cpu = fmax(cpu_available_ratio, PERF_CPU_LEAST_RATIO), work_s = 0;

    if (!isnan(model->single_s))
        return model->single_s / cpu;
    for (size_t i = 0; i < model->term_count; i++)
        work_s += model->terms[i].comp_s;
    return work_s / cpu;
}

double perf_time_s(const struct perf_terms *model, double processors,
                   double cpu_available_ratio, double bandwidth_mbps)
{
    double time_s = 0;

    if (!(cpu_available_ratio > 0) || !(processors >= 1))
        return HUGE_VAL;
    if (processors < 2) {
        time_s = single_time_s(model, cpu_available_ratio);
    } else {
        for (size_t i = 0; i < model->term_count; i++) {
            double computation_s, communication_s;

            perf_term_parts(&model->terms[i], processors, cpu_available_ratio,
                            bandwidth_mbps, &computation_s, &communication_s);
            time_s += computation_s + communication_s;
        }
    }
    return isfinite(time_s) && time_s > 0 ? time_s : HUGE_VAL;
}

/* An id of P that stands for a time that falls, or stays, as P grows. */
static bool falls(int p_id)
{
    return p_id >= 0 && p_id <= 8;
}

bool perf_terms_monotone(const struct perf_terms *model)
{
    for (size_t i = 0; i < model->term_count; i++) {
        const struct perf_term *t = &model->terms[i];

        if (!(t->comp_s >= 0) || !(t->comm >= 0) || !falls(t->pcomp_id) ||
            (communicates(t) && !falls(t->pcomm_id)))
            return false;
    }
    return true;
}
