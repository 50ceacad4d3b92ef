/* progress/extrapolation.c - what single reports say, and what a scheduler makes of it.
 *
 * Source: spec runtime-prediction.md 2 (5.4), (6.2) and 6; workflows.md 3.2, 5.3, 6.3.
 */
#include "models/progress/progress.h"

#include <math.h>

double progress_share(double mips_total, double mips_external, double job_count)
{
    return fmax(0, mips_total - mips_external) / job_count;
}

double progress_extrapolate_ref_s(double elapsed_s, double mips_total,
                                  double mips_external, double job_count,
                                  double progress_pct)
{
    return 100 * elapsed_s * progress_share(mips_total, mips_external, job_count) /
           progress_pct;
}

double progress_from_work_ref_s(double work_ref_s, double progress_pct)
{
    return 100 * work_ref_s / progress_pct;
}

double progress_work_ref_s(double work_ref_s, double duration_s, double share)
{
    return work_ref_s + duration_s * share;
}

double progress_pct_of(double done, double total)
{
    return fmin(100, 100 * done / total);
}

double progress_remaining_ref_s(enum progress_rule rule, double estimate_ref_s,
                                double work_ref_s, double progress_pct)
{
    if (rule == PROGRESS_RULE_PCT)
        return estimate_ref_s * (1 - progress_pct / 100);
    return fmax(0, estimate_ref_s - work_ref_s);
}

double progress_remaining_s(double remaining_ref_s, double mips_total,
                            double mips_external, double job_count)
{
    double share = progress_share(mips_total, mips_external, job_count);

    return share > 0 ? remaining_ref_s / share : HUGE_VAL;
}

bool progress_oscillates(const double *estimate_ref_s, size_t count, size_t window)
{
    size_t first = count > window ? count - window : 0, flips = 0;
    double mean = 0, before = 0;

    for (size_t i = first; i < count; i++)
        mean += estimate_ref_s[i] / (double)(count - first);
    for (size_t i = first + 1; i < count; i++) {
        double change = estimate_ref_s[i] - estimate_ref_s[i - 1];

        if (fabs(change) < 0.01 * fabs(mean))
            continue;
        flips += (before > 0 && change < 0) || (before < 0 && change > 0);
        before = change;
    }
    return flips >= 3;
}

double progress_filtered_ref_s(enum progress_filter filter, const double *estimate_ref_s,
                               size_t count, size_t window)
{
    double mean = 0;

    if (filter == PROGRESS_FILTER_NONE ||
        (filter == PROGRESS_FILTER_AUTO &&
         !progress_oscillates(estimate_ref_s, count, window)))
        return estimate_ref_s[count - 1];
    for (size_t i = 0; i < count; i++)
        mean += estimate_ref_s[i] / (double)count;
    return mean;
}
