/* coallocation/refine.c - what the past says of a grid: links that are slower or faster
 * than their estimates, and idle processors that stay idle.
 *
 * Source: spec coallocation.md 19 (1), (3). Deviation: the source names the ideas only;
 * the mean of logarithms, so that twice as long and half as long cancel out, the draw of
 * few transfers towards all, and the count of instants are ours.
 */
#include "algorithms/coallocation/grid.h"

#include <math.h>

void co_correct_links(struct co_grid *grid, const struct co_link_bias *list, size_t count,
                      double prior_weight, struct arena *a)
{
    size_t n = grid->site_count;
    double sum = 0, all = 0, overall;
    double *log_factor = NEW(a, double, n *n);

    for (size_t i = 0; i < count; i++) {
        sum += list[i].count * list[i].mean_log_ratio;
        all += list[i].count;
    }
    overall = all + prior_weight > 0 ? sum / (all + prior_weight) : 0;
    for (size_t i = 0; i < n * n; i++)
        log_factor[i] = overall;
    for (size_t i = 0; i < count; i++)
        if (list[i].count + prior_weight > 0)
            log_factor[list[i].from * n + list[i].to] =
                (list[i].count * list[i].mean_log_ratio + prior_weight * overall) /
                (list[i].count + prior_weight);
    for (size_t i = 0; i < n * n; i++) {
        grid->bandwidth_mbps[i] /= exp(log_factor[i]);
        if (grid->latency_s)
            grid->latency_s[i] *= exp(log_factor[i]);
    }
}

double co_stay_ratio(const double *at_s, const double *value, size_t count,
                     double horizon_s)
{
    size_t seen = 0, stayed = 0;

    for (size_t i = 0; i < count; i++) {
        bool fell = false;

        if (at_s[count - 1] < at_s[i] + horizon_s)
            break;
        for (size_t k = i + 1; k < count && at_s[k] <= at_s[i] + horizon_s && !fell; k++)
            fell = value[k] < value[i];
        seen++;
        stayed += !fell;
    }
    return seen ? (double)(stayed + 1) / (double)(seen + 2) : (double)NAN;
}
