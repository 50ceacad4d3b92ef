/* performance/log_interval.c - intervals from errors of runs that were not fitted to. */
#include "models/performance/log_interval.h"

#include "models/base/arena.h"
#include "models/base/order.h"

#include <math.h>
#include <stdlib.h>

const char *const log_group_names[] = {
#define X(symbol, name, meaning) #name,
    LOG_GROUPS(X)
#undef X
        NULL,
};

enum { TABLE_COUNT = 20, ENOUGH = 20, FOLDS = 5, FOLDS_EACH = 10 };
static const double TABLE[TABLE_COUNT] = {0.044, 0.134, 0.224, 0.315, 0.409, 0.505, 0.605,
                                          0.710, 0.820, 0.938, 1.065, 1.204, 1.359, 1.535,
                                          1.741, 1.992, 2.313, 2.763, 3.505, 5.460};
#define PRIOR_ERROR     0.1 /* stands for PRIOR_COUNT errors before any was seen */
#define PRIOR_COUNT     2.0
#define DISTANCE_FACTOR 0.3
#define DISTANCE_MAX    1000.0

void log_recent_add(struct log_recent *recent, double value)
{
    recent->value[recent->next] = value;
    recent->next = (recent->next + 1) % LOG_RECENT_MAX;
    if (recent->count < LOG_RECENT_MAX)
        recent->count++;
}

/* ---- the set of a group ---- */

struct weighted {
    double value, weight;
};

static int compare_weighted(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static int compare_configurations(const void *a, const void *b)
{
    const struct log_error *x = *(const struct log_error *const *)a;
    const struct log_error *y = *(const struct log_error *const *)b;

    return (x->configuration > y->configuration) - (x->configuration < y->configuration);
}

/* Errors that were gathered, and what they weigh. */
struct gathered {
    const struct log_error **error;
    double *weight;
    size_t count, configuration_count;
};

/* By configuration: what weighs n_c^-0.5 each, of n_c errors of one configuration. */
static void weigh(struct gathered *g, bool alike)
{
    qsort(g->error, g->count, sizeof(const struct log_error *), compare_configurations);
    g->configuration_count = 0;
    for (size_t i = 0, end; i < g->count; i = end) {
        for (end = i; end < g->count &&
                      g->error[end]->configuration == g->error[i]->configuration;)
            end++;
        g->configuration_count++;
        for (size_t k = i; k < end; k++)
            g->weight[k] = alike ? 1 : 1 / sqrt((double)(end - i));
    }
}

/* The group's own errors; others join, whole groups at a time, while they are few. */
static void gather(const struct log_errors *errors, enum log_group group,
                   struct gathered *g)
{
    static const int order[LOG_GROUP_COUNT][LOG_GROUP_COUNT] = {
        [LOG_SAME] = {LOG_SAME, LOG_INSIDE, LOG_OUTSIDE},
        [LOG_INSIDE] = {LOG_INSIDE, LOG_OUTSIDE, -1},
        [LOG_OUTSIDE] = {LOG_OUTSIDE, LOG_INSIDE, -1},
    };

    g->count = g->configuration_count = 0;
    for (size_t k = 0; k < LOG_GROUP_COUNT && order[group][k] >= 0; k++) {
        const struct log_errors *from = &errors[order[group][k]];

        if ((group == LOG_SAME ? g->count : g->configuration_count) >= ENOUGH)
            return;
        for (size_t i = 0; i < from->count; i++)
            g->error[g->count++] = &from->list[i];
        weigh(g, group == LOG_SAME);
    }
}

static double median_size(const struct gathered *g, double *room)
{
    if (g->count == 0)
        return 0;
    for (size_t i = 0; i < g->count; i++)
        room[i] = fabs(g->error[i]->size);
    return sort_median(room, g->count);
}

/* Values in ascending order, with their weights. */
static void sort_values(struct log_set *set, struct weighted *list, struct arena *a)
{
    set->value = NEW(a, double, set->count + 1);
    set->weight = NEW(a, double, set->count + 1);
    qsort(list, set->count, sizeof(*list), compare_weighted);
    for (size_t i = 0; i < set->count; i++) {
        set->value[i] = list[i].value;
        set->weight[i] = list[i].weight;
        set->weight_sum += list[i].weight;
    }
}

void log_set_of(const struct log_errors *errors, const struct log_recent *recent,
                enum log_group group, struct log_set *out, struct arena *a)
{
    size_t most = recent[group].count;
    struct gathered g = {0};
    struct weighted *list;
    double *room, m = 0;
    struct log_set set = {0};

    for (size_t k = 0; k < LOG_GROUP_COUNT; k++)
        most += errors[k].count;
    g.error = NEW(a, const struct log_error *, most + 1);
    g.weight = NEW(a, double, most + 1);
    list = NEW(a, struct weighted, most + 1);
    room = NEW(a, double, most + 1);
    gather(errors, group, &g);
    for (size_t i = 0; i < g.count; i++)
        m += g.weight[i];
    set.scale =
        (m * median_size(&g, room) + PRIOR_COUNT * PRIOR_ERROR) / (m + PRIOR_COUNT);
    for (size_t i = 0; i < g.count; i++)
        list[set.count++] = (struct weighted){
            fabs(g.error[i]->size) / (set.scale + g.error[i]->spread), g.weight[i]};
    for (size_t i = 0; i < recent[group].count; i++)
        list[set.count++] = (struct weighted){recent[group].value[i], 1};
    set.error_count = set.count;
    sort_values(&set, list, a);
    *out = set;
}

size_t log_set_errors(const struct log_errors *errors, enum log_group group, double scale,
                      size_t most, double *out, struct arena *a)
{
    const struct log_errors *own = &errors[group];
    struct gathered g = {0};
    size_t room = 0, count = 0;

    if (own->count >= most) {
        for (size_t i = own->count - most; i < own->count; i++)
            out[count++] = own->list[i].size / (scale + own->list[i].spread);
        return count;
    }
    for (size_t k = 0; k < LOG_GROUP_COUNT; k++)
        room += errors[k].count;
    g.error = NEW(a, const struct log_error *, room + 1);
    g.weight = NEW(a, double, room + 1);
    gather(errors, group, &g);
    for (size_t i = 0; i < g.count && count < most; i++)
        out[count++] = g.error[i]->size / (scale + g.error[i]->spread);
    return count;
}

double log_set_quantile(const struct log_set *set, double level)
{
    double wanted = level * (set->weight_sum + TABLE_COUNT + 1) - 1e-9, sum = 0, last = 0;
    size_t own = 0, table = 0;

    while (own < set->count || table < TABLE_COUNT) {
        if (table == TABLE_COUNT ||
            (own < set->count && set->value[own] <= TABLE[table])) {
            last = set->value[own];
            sum += set->weight[own++];
        } else {
            last = TABLE[table++];
            sum += 1;
        }
        if (sum >= wanted)
            return last;
    }
    return last;
}

/* ---- a question ---- */

double log_half(double quantile, double scale, double spread, double distance,
                double runs, double constant_distance)
{
    double half = quantile * (scale + spread) *
                  (1 + DISTANCE_FACTOR * log(fmin(distance, DISTANCE_MAX)));

    if (runs > 0)
        half *= sqrt(1 + 1 / runs);
    /* Nobody knows how the time grows with an input that never varied. */
    return fmax(half, log(constant_distance));
}

double log_distance(double x, double low, double high)
{
    if (x >= low && x <= high)
        return 1;
    if (!(x > 0) || !(low > 0))
        return 2;
    return x > high ? x / high : low / x;
}

size_t log_fold_count(size_t count)
{
    return count < FOLDS_EACH ? count : FOLDS;
}

size_t log_fold_of(size_t i, size_t count)
{
    return count < FOLDS_EACH ? i : (7919 * i + 3) % 1000003 % FOLDS;
}
