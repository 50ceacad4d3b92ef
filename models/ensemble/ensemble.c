/* ensemble/ensemble.c - members, their weights, and what is known of configurations. */
#include "models/ensemble/ensemble.h"

#include "models/base/order.h"
#include "models/ensemble/internal.h"
#include "models/ensemble/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMBERS = ENSEMBLE_MEMBER_COUNT,
    CONFIGURATIONS_LEAST = 3, /* of a cross-validation */
    CUTS_MAX = 3, /* inputs whose greatest values are predicted from the rest */
    CUT_VALUES_LEAST = 4,
};
#define UNKNOWN_DISTANCE 1.5
#define PRIOR_RUNS       4.0
#define ERROR_MOST       1.0 /* that counts */
#define ERROR_LEAST      0.01
#define LONG_RUNS        0.25 /* of ln time: long runs count more */
#define LONG_MOST        5.0
#define NEAR_GROUP       0.5 /* what an error of the next group counts */
#define HISTORY_PRIOR    0.5 /* runs */

const char *const ensemble_member_names[] = {
#define X(symbol, name, same, inside, outside) #name,
    ENSEMBLE_MEMBERS(X)
#undef X
        NULL,
};

static const double PRIOR[LOG_GROUP_COUNT][MEMBERS] = {
#define X(symbol, name, same, inside, outside) same,
    {ENSEMBLE_MEMBERS(X)},
#undef X
#define X(symbol, name, same, inside, outside) inside,
    {ENSEMBLE_MEMBERS(X)},
#undef X
#define X(symbol, name, same, inside, outside) outside,
    {ENSEMBLE_MEMBERS(X)},
#undef X
};

/* ---- parts ---- */

double ensemble_error_of(double prior, const double *weight, const double *error,
                         size_t count)
{
    double sum = PRIOR_RUNS * prior, weights = PRIOR_RUNS;

    for (size_t i = 0; i < count; i++) {
        sum += weight[i] * fmin(fabs(error[i]), ERROR_MOST);
        weights += weight[i];
    }
    return sum / weights;
}

double ensemble_weight(double error)
{
    double e = fmax(error, ERROR_LEAST);

    return 1 / (e * e * e * e);
}

void ensemble_mix(const double *member, const double *weight, double *y, double *spread)
{
    double sum = 0, weights = 0, squares = 0;

    for (size_t m = 0; m < MEMBERS; m++) {
        if (isnan(member[m]))
            continue;
        sum += weight[m] * member[m];
        weights += weight[m];
    }
    *y = weights > 0 ? sum / weights : (double)NAN;
    for (size_t m = 0; m < MEMBERS; m++)
        if (!isnan(member[m]))
            squares += weight[m] * (member[m] - *y) * (member[m] - *y);
    *spread = weights > 0 ? sqrt(squares / weights) : 0;
}

double ensemble_moved(const double *residual, size_t count)
{
    double list[ENSEMBLE_HISTORY_MAX];

    if (count == 0)
        return 0;
    memcpy(list, residual, count * sizeof(*list));
    return sort_median(list, count) * (double)count / ((double)count + HISTORY_PRIOR);
}

void members_fit(const struct part *part, const struct tree_rules *rules,
                 struct budget *budget, struct ensemble_members *out, struct arena *a)
{
    *out = (struct ensemble_members){.has_ridge = part->count > 0};
    if (part->count == 0)
        return;
    ridge_fit(part, budget, &out->ridge, a);
    trees_fit(part, &out->ridge, rules, budget, &out->trees, a);
    contexts_fit(part, budget, &out->contexts, a);
}

void members_answer(const struct ensemble *e, const struct ensemble_members *m,
                    const double *x, double bandwidth_mbps, double context,
                    double *answer)
{
    for (size_t i = 0; i < MEMBERS; i++)
        answer[i] = (double)NAN;
    if (!m->has_ridge)
        return;
    answer[ENSEMBLE_RIDGE] = ridge_answer(e, &m->ridge, x);
    if (m->trees.tree_count > 0)
        answer[ENSEMBLE_TREES] = answer[ENSEMBLE_RIDGE] + trees_answer(e, &m->trees, x);
    contexts_answer(e, &m->contexts, x, context, &answer[ENSEMBLE_SCALE_OUT],
                    &answer[ENSEMBLE_LINEAR]);
    answer[ENSEMBLE_COMPREHENSIVE] =
        comprehensive_answer(e, &m->comprehensive, x, bandwidth_mbps);
}

static void mix(const struct ensemble *e, enum log_group group, const double *answer,
                double *y, double *spread)
{
    double weight[MEMBERS];

    for (size_t m = 0; m < MEMBERS; m++)
        weight[m] = ensemble_weight(e->member_error[group][m]);
    ensemble_mix(answer, weight, y, spread);
}

/* ---- the runs ---- */

static void make_table(const struct ensemble_data *data, const struct ensemble *e,
                       struct table *t, struct arena *a)
{
    double raw[ENSEMBLE_INPUTS_MAX];
    bool has_bandwidth = false;

    for (size_t k = 0; data->order && k < data->input_count; k++)
        has_bandwidth = has_bandwidth || data->order[k] == ENSEMBLE_BANDWIDTH_MBPS;
    *t = (struct table){
        .e = e,
        .x = NEW(a, double, data->run_count * e->input_count + 1),
        .y = NEW(a, double, data->run_count + 1),
        .weight = NEW(a, double, data->run_count + 1),
        .configuration = NEW(a, double, data->run_count + 1),
        .context = NEW(a, double, data->run_count + 1),
        .is_bound = NEW(a, bool, data->run_count + 1),
        .bandwidth = data->has_terms ? NEW(a, double, data->run_count + 1) : NULL,
        .count = data->run_count,
    };
    for (size_t i = 0; i < data->run_count; i++) {
        const struct ensemble_run *run = &data->run[i];

        inputs_code(e, run->value, false, t->x + i * e->input_count, raw);
        t->configuration[i] = inputs_key(e, raw, true);
        t->context[i] = inputs_key(e, raw, false);
        t->y[i] = run->y;
        t->weight[i] = run->weight;
        t->is_bound[i] = run->is_bound;
        if (t->bandwidth)
            t->bandwidth[i] =
                has_bandwidth ? run->value[ENSEMBLE_BANDWIDTH_MBPS] : (double)NAN;
    }
    tree_sort(t, a);
}

/* A configuration and one of its rows, for sorting. */
struct keyed {
    double key;
    size_t row;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows by configuration, those without one left out. */
static size_t sort_rows(const struct table *t, struct keyed *out)
{
    size_t n = 0;

    for (size_t i = 0; i < t->count; i++)
        if (!isnan(t->configuration[i]))
            out[n++] = (struct keyed){t->configuration[i], i};
    qsort(out, n, sizeof(*out), compare_keyed);
    return n;
}

/* Numbers configurations from 0 by first appearance; a row without one is its own. */
static size_t number_configurations(const struct table *t, const struct keyed *sorted,
                                    size_t sorted_count, size_t *number, struct arena *a)
{
    size_t *first = NEW(a, size_t, t->count + 1), count = 0;

    for (size_t i = 0; i < t->count; i++)
        first[i] = i;
    for (size_t i = 1; i < sorted_count; i++)
        if (sorted[i].key <= sorted[i - 1].key)
            first[sorted[i].row] = first[sorted[i - 1].row];
    for (size_t i = 0; i < t->count; i++)
        number[i] = first[i] == i ? count++ : number[first[i]];
    return count;
}

/* ---- cross-validation ---- */

/* A row that was predicted without it. */
struct held_out {
    size_t row;
    enum log_group group;
    double answer[MEMBERS];
};

struct validation {
    const struct table *t;
    struct budget *budget;
    size_t *number; /* of each row's configuration */
    bool *is_out;   /* of each row: it is predicted now */
    size_t *part;   /* room */
    struct held_out *list;
    size_t count, room;
    struct arena *a;
};

static double part_distance(const struct table *t, const double *low, const double *high,
                            size_t row)
{
    const double *x = t->x + row * t->e->input_count;
    double distance = 1;

    for (size_t k = 0; k < t->e->input_count; k++)
        if (!t->e->input[k].is_text && !isnan(x[k]) && low[k] <= high[k])
            distance = fmax(distance, log_distance(x[k], low[k], high[k]));
    return distance;
}

static void part_ranges(const struct part *part, double *low, double *high)
{
    for (size_t k = 0; k < ENSEMBLE_INPUTS_MAX; k++) {
        low[k] = HUGE_VAL;
        high[k] = -HUGE_VAL;
    }
    for (size_t i = 0; i < part->count; i++) {
        const double *x = part_x(part, i);

        for (size_t k = 0; k < part->table->e->input_count; k++) {
            low[k] = x[k] < low[k] ? x[k] : low[k];
            high[k] = x[k] > high[k] ? x[k] : high[k];
        }
    }
}

/* Predicts the rows that are out from the others. */
static void predict_rows(struct validation *v)
{
    const struct table *t = v->t;
    struct arena_mark mark = arena_mark(v->a);
    struct ensemble_members *m = NEW(v->a, struct ensemble_members, 1);
    struct part part = {t, v->part, 0};
    double low[ENSEMBLE_INPUTS_MAX], high[ENSEMBLE_INPUTS_MAX];

    for (size_t i = 0; i < t->count; i++)
        if (!v->is_out[i] && t->weight[i] > 0)
            v->part[part.count++] = i;
    if (part.count > 0 && !budget_step(v->budget, t->count)) {
        members_fit(&part, &tree_rules_fold, v->budget, m, v->a);
        part_ranges(&part, low, high);
        for (size_t i = 0; i < t->count; i++) {
            struct held_out *h = &v->list[v->count];

            if (!v->is_out[i] || t->is_bound[i] || v->count == v->room)
                continue;
            budget_step(v->budget, 100);
            h->row = i;
            h->group = part_distance(t, low, high, i) > 1 ? LOG_OUTSIDE : LOG_INSIDE;
            members_answer(t->e, m, t->x + i * t->e->input_count, (double)NAN,
                           t->context[i], h->answer);
            v->count++;
        }
    }
    arena_rewind(v->a, mark);
}

static void validate_folds(struct validation *v, size_t configurations)
{
    size_t folds = log_fold_count(configurations);

    for (size_t fold = 0; fold < folds; fold++) {
        for (size_t i = 0; i < v->t->count; i++)
            v->is_out[i] = log_fold_of(v->number[i], configurations) == fold;
        predict_rows(v);
    }
}

/* The value at which an input is cut; false: it has too few. */
static bool find_cut(const struct table *t, size_t k, double *cut, double *room)
{
    size_t count = 0, values = 0, above, place;

    for (size_t i = 0; i < t->count; i++)
        if (t->weight[i] > 0 && !isnan(t->x[i * t->e->input_count + k]))
            room[count++] = t->x[i * t->e->input_count + k];
    sort_numbers(room, count);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || room[i] > room[i - 1])
            room[values++] = room[i];
    if (values < CUT_VALUES_LEAST)
        return false;
    above = 3 * values / 10;
    place = values - (above > 1 ? above : 1);
    *cut = room[place - 1];
    return true;
}

/* What was greatest is predicted from the rest: where errors outside come from. */
static void validate_cuts(struct validation *v)
{
    const struct table *t = v->t;
    double *room = NEW(v->a, double, t->count + 1), cut;
    size_t cuts = 0;

    for (size_t k = 0; k < t->e->input_count && cuts < CUTS_MAX; k++) {
        if (t->e->input[k].is_text || !t->e->input[k].is_used ||
            !find_cut(t, k, &cut, room))
            continue;
        for (size_t i = 0; i < t->count; i++)
            v->is_out[i] = t->x[i * t->e->input_count + k] > cut;
        predict_rows(v);
        cuts++;
    }
}

/* What an error of a row in one group counts for another. */
static double counts_for(enum log_group group, enum log_group of_row)
{
    if (group == of_row)
        return 1;
    return (group == LOG_SAME && of_row == LOG_INSIDE) ||
                   (group == LOG_INSIDE && of_row == LOG_OUTSIDE)
               ? NEAR_GROUP
               : 0;
}

/* What a row of this y counts. */
static double row_weight(double y, double mean)
{
    return exp(LONG_RUNS * fmin(y - mean, LONG_MOST));
}

/* The same of what is not fitted anew for each part: from the runs as they came. */
static void weigh_noted(struct ensemble *e, double mean)
{
    double weight[ENSEMBLE_NOTED_MAX], error[ENSEMBLE_NOTED_MAX];

    for (size_t g = 0; g < LOG_GROUP_COUNT; g++) {
        size_t n = 0;

        for (size_t i = 0; i < e->noted_count; i++) {
            const struct ensemble_noted *noted = &e->noted[i];
            double counts = counts_for((enum log_group)g, noted->group);

            if (counts <= 0)
                continue;
            weight[n] = counts * row_weight(noted->y, mean);
            error[n++] = noted->error;
        }
        e->member_error[g][ENSEMBLE_COMPREHENSIVE] =
            ensemble_error_of(PRIOR[g][ENSEMBLE_COMPREHENSIVE], weight, error, n);
    }
    if (e->members->comprehensive.is_there)
        e->member_runs[ENSEMBLE_COMPREHENSIVE] = e->noted_count;
}

/* The members' errors in each group, from which their weights come. */
static void weigh_members(const struct validation *v, struct ensemble *e)
{
    const struct table *t = v->t;
    double *weight = NEW(v->a, double, v->count + 1);
    double *error = NEW(v->a, double, v->count + 1);
    double mean = 0, weights = 0;

    for (size_t i = 0; i < t->count; i++) {
        mean += t->weight[i] * t->y[i];
        weights += t->weight[i];
    }
    mean /= weights > 0 ? weights : 1;
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++)
        for (size_t m = 0; m < MEMBERS; m++) {
            size_t n = 0;

            for (size_t i = 0; i < v->count; i++) {
                const struct held_out *h = &v->list[i];
                double counts = counts_for((enum log_group)g, h->group);

                if (counts <= 0 || isnan(h->answer[m]))
                    continue;
                weight[n] = counts * row_weight(t->y[h->row], mean);
                error[n++] = t->y[h->row] - h->answer[m];
            }
            e->member_error[g][m] = ensemble_error_of(PRIOR[g][m], weight, error, n);
        }
    for (size_t m = 0; m < MEMBERS; m++)
        for (size_t i = 0; i < v->count; i++)
            e->member_runs[m] += isnan(v->list[i].answer[m]) ? 0 : 1;
    weigh_noted(e, mean);
}

static void note_errors(const struct validation *v, struct ensemble *e)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct held_out *h = &v->list[i];
        struct ensemble_error *out = &e->error[e->error_count];
        double y;

        mix(e, h->group, h->answer, &y, &out->spread);
        if (isnan(y))
            continue;
        out->error = v->t->y[h->row] - y;
        out->configuration = (double)v->number[h->row];
        out->group = h->group;
        e->error_count++;
    }
}

/* ---- configurations that were seen ---- */

static struct ensemble_history *find_history(const struct ensemble *e, double key)
{
    size_t low = 0, high = e->history_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (e->history[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return e->history + low; /* where it is, or belongs */
}

static bool is_there(const struct ensemble *e, const struct ensemble_history *h,
                     double key)
{
    return h < e->history + e->history_count && h->key <= key;
}

static void add_residual(struct ensemble_history *h, double residual)
{
    if (h->count == ENSEMBLE_HISTORY_MAX) {
        memmove(h->residual, h->residual + 1, (h->count - 1) * sizeof(*h->residual));
        h->count--;
    }
    h->residual[h->count++] = (double)(float)residual; /* as it is kept: pack.c */
}

/* Of a configuration's runs each is predicted from the others of it. */
static void note_same(const double *residual, const double *spread, size_t count,
                      double number, struct ensemble *e)
{
    for (size_t i = 0; count >= 2 && i < count; i++) {
        double others[ENSEMBLE_HISTORY_MAX];
        struct ensemble_error *out = &e->error[e->error_count++];
        size_t n = 0;

        /* the last ones */
        for (size_t k = count; k-- > 0 && n < ENSEMBLE_HISTORY_MAX;)
            if (k != i)
                others[n++] = residual[k];
        out->error = (residual[i] - ensemble_moved(others, n)) / sqrt(1 + 1 / (double)n);
        out->spread = spread[i];
        out->configuration = number;
        out->group = LOG_SAME;
    }
}

static void make_history(const struct table *t, const struct keyed *sorted,
                         size_t sorted_count, const size_t *number, struct budget *budget,
                         struct ensemble *e, struct arena *a)
{
    double *residual = NEW(a, double, sorted_count + 1);
    double *spread = NEW(a, double, sorted_count + 1);

    e->history_room = sorted_count + 1;
    e->history = NEW(a, struct ensemble_history, e->history_room);
    for (size_t i = 0, end; i < sorted_count; i = end) {
        struct ensemble_history h = {.key = sorted[i].key};
        size_t n = 0;

        for (end = i; end < sorted_count && sorted[end].key <= sorted[i].key; end++) {
            size_t row = sorted[end].row;
            double answer[MEMBERS], y;

            if (!(t->weight[row] > 0))
                continue;
            budget_step(budget, 100);
            members_answer(e, e->members, t->x + row * e->input_count,
                           t->bandwidth ? t->bandwidth[row] : (double)NAN,
                           t->context[row], answer);
            mix(e, LOG_SAME, answer, &y, &spread[n]);
            add_residual(&h, t->y[row] - y);
            residual[n] = t->y[row] - y;
            n += t->is_bound[row] ? 0 : 1;
        }
        if (h.count == 0)
            continue;
        e->history[e->history_count++] = h;
        note_same(residual, spread, n, (double)number[sorted[i].row], e);
    }
}

/* ---- the fit ---- */

/* What a fold takes and gives back is there in one piece from now on: its pages need not
 * be asked for anew by each. Too little would cost time only. */
static void hold_room(const struct table *t, struct arena *a)
{
    enum { KEPT = 16 }; /* a block of which nothing is used would be given back as well */
    size_t columns = 1, bytes;
    unsigned char *room;

    for (size_t k = 0; k < t->e->input_count; k++)
        columns += t->e->input[k].is_text ? t->e->input[k].value_count + 1 : 2;
    bytes = sizeof(struct ensemble_members) + columns * columns * sizeof(double) +
            tree_room_bytes(t->e, t->count);
    room = NEW(a, unsigned char, KEPT + bytes);
    arena_give(a, room + KEPT, 1, bytes);
}

void ensemble_fit(const struct ensemble_data *data, struct budget *budget,
                  struct ensemble *out, struct arena *a)
{
    struct ensemble *e = NEW(a, struct ensemble, 1);
    struct validation v = {.budget = budget, .a = a};
    struct part whole;
    struct table t;
    struct keyed *sorted;
    size_t *rows, sorted_count, configurations;

    inputs_find(data, e, a);
    make_table(data, e, &t, a);
    sorted = NEW(a, struct keyed, t.count + 1);
    v.t = &t;
    v.number = NEW(a, size_t, t.count + 1);
    v.is_out = NEW(a, bool, t.count + 1);
    v.part = NEW(a, size_t, t.count + 1);
    v.room = (1 + CUTS_MAX) * t.count;
    v.list = NEW(a, struct held_out, v.room + 1);
    e->error = NEW(a, struct ensemble_error, v.room + t.count + 1);
    sorted_count = sort_rows(&t, sorted);
    configurations = number_configurations(&t, sorted, sorted_count, v.number, a);
    e->members = NEW(a, struct ensemble_members, 1);
    rows = NEW(a, size_t, t.count + 1);
    whole = (struct part){&t, rows, 0};
    for (size_t i = 0; i < t.count; i++)
        if (t.weight[i] > 0)
            rows[whole.count++] = i;
    e->run_count = whole.count;
    hold_room(&t, a);
    members_fit(&whole, &tree_rules_whole, budget, e->members, a);
    comprehensive_fit(&whole, data->before ? &data->before->members->comprehensive : NULL,
                      budget, &e->members->comprehensive, a);
    if (data->before) {
        e->noted_count = data->before->noted_count;
        memcpy(e->noted, data->before->noted, sizeof(e->noted));
    }
    if (configurations >= CONFIGURATIONS_LEAST && whole.count > 0) {
        validate_folds(&v, configurations);
        validate_cuts(&v);
    }
    weigh_members(&v, e);
    note_errors(&v, e);
    make_history(&t, sorted, sorted_count, v.number, budget, e, a);
    *out = *e;
}

/* ---- a question ---- */

static void place(const struct ensemble *e, const double *x, struct ensemble_answer *out)
{
    for (size_t k = 0; k < e->input_count; k++) {
        const struct ensemble_input *in = &e->input[k];
        double d;

        if (in->is_text || isnan(x[k]))
            continue;
        d = log_distance(x[k], in->low, in->high);
        if (d > out->distance) {
            out->distance = d;
            out->far_input = in->column;
        }
        if (!(in->low < in->high) && d > out->constant_distance) {
            out->constant_distance = d;
            out->constant_input = in->column;
        }
    }
}

/* Only of runs whose inputs are the terms. */
static double bandwidth_of(const struct ensemble *e, const double *value)
{
    return e->members->comprehensive.is_there ? value[ENSEMBLE_BANDWIDTH_MBPS]
                                              : (double)NAN;
}

void ensemble_predict(const struct ensemble *e, const double *value,
                      struct ensemble_answer *out)
{
    double x[ENSEMBLE_INPUTS_MAX], raw[ENSEMBLE_INPUTS_MAX], key;
    bool is_new = !inputs_code(e, value, true, x, raw);
    const struct ensemble_history *h;

    *out = (struct ensemble_answer){
        .group = LOG_INSIDE, .distance = 1, .constant_distance = 1};
    place(e, x, out);
    for (size_t k = 0; k < e->input_count; k++) {
        is_new = is_new || isnan(x[k]);
        if (isnan(raw[k]) && out->missing_count++ == 0)
            out->missing_input = e->input[k].column;
        if (isnan(raw[k]) || !isnan(x[k]))
            continue;
        out->new_text[e->input[k].column] = true;
        out->new_text_count++;
    }
    key = inputs_key(e, raw, true);
    h = isnan(key) ? e->history + e->history_count : find_history(e, key);
    if (is_there(e, h, key)) {
        out->group = LOG_SAME;
        out->runs = (double)h->count;
    } else if (is_new || out->distance > 1) {
        out->group = LOG_OUTSIDE;
        out->is_unknown = is_new || out->distance > UNKNOWN_DISTANCE;
    }
    members_answer(e, e->members, x, bandwidth_of(e, value), inputs_key(e, raw, false),
                   out->member);
    mix(e, out->group, out->member, &out->y, &out->spread);
    if (out->group == LOG_SAME)
        out->y += ensemble_moved(h->residual, h->count);
}

void ensemble_see(struct ensemble *e, const double *value, double y, struct arena *a)
{
    double x[ENSEMBLE_INPUTS_MAX], raw[ENSEMBLE_INPUTS_MAX], answer[MEMBERS];
    double key, predicted, spread;
    struct ensemble_history *h;

    inputs_code(e, value, false, x, raw);
    key = inputs_key(e, raw, true);
    if (isnan(key))
        return;
    members_answer(e, e->members, x, bandwidth_of(e, value), inputs_key(e, raw, false),
                   answer);
    mix(e, LOG_SAME, answer, &predicted, &spread);
    if (isnan(predicted))
        return;
    h = find_history(e, key);
    if (!is_there(e, h, key)) {
        size_t at = (size_t)(h - e->history);

        if (e->history_count == e->history_room) {
            size_t room = 2 * e->history_room + 16;

            e->history =
                GROW(a, e->history, struct ensemble_history, e->history_count, room);
            e->history_room = room;
        }
        h = e->history + at;
        memmove(h + 1, h, (e->history_count++ - at) * sizeof(*h));
        *h = (struct ensemble_history){.key = key};
    }
    add_residual(h, y - predicted);
}

void ensemble_note(struct ensemble *e, const double *value, double y)
{
    struct ensemble_answer answer;

    e->members->comprehensive.since_search++;
    if (!e->members->comprehensive.is_there)
        return;
    ensemble_predict(e, value, &answer);
    if (isnan(answer.member[ENSEMBLE_COMPREHENSIVE]))
        return;
    if (e->noted_count == ENSEMBLE_NOTED_MAX)
        memmove(e->noted, e->noted + 1, --e->noted_count * sizeof(*e->noted));
    e->noted[e->noted_count++] = (struct ensemble_noted){
        y - answer.member[ENSEMBLE_COMPREHENSIVE], y, answer.group};
}

void ensemble_forget(struct ensemble *e, size_t count)
{
    e->noted_count -= count < e->noted_count ? count : e->noted_count;
}
