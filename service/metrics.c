/* metrics.c - what is counted, for Prometheus.
 *
 * Counters are 64-bit and added to atomically; sums of seconds and ratios are
 * kept in billionths, so that they are counters too. A table of series is
 * filled under a lock and read without: a slot's `ready` is set last.
 */
#include "service/metrics.h"

#include "models/base/names.h"
#include "service/clock.h"
#include "service/governor.h"
#include "service/log.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STATUS_FIRST = 100,
    STATUS_COUNT = 500,
    BUCKETS_MAX = 20,
    NAME_SIZE = 64,
    SERIES_SLOTS = 512, /* power of two */
    SERIES_MAX = 256,   /* what is beyond is "other" */
    ASKED_MAX = 64,
};

static const double BILLION = 1e9;

/* Upper bounds, ended by 0. */
static const double duration_bounds_s[] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25,   0.5,     1,      2.5,   5,      10,    30,   60,    300,  0};
static const double ratio_bounds[] = {0.0001, 0.001, 0.0025, 0.005, 0.01, 0.02,
                                      0.05,   0.1,   0.2,    0.5,   1,    0};
static const double estimate_bounds[] = {0.01, 0.05, 0.1, 0.25, 0.5, 0.75,
                                         1,    1.5,  2,   4,    8,   0};
static const char *const work_names[] = {"inline", "query", "compute"};

struct histogram {
    uint64_t
        bucket_counts[BUCKETS_MAX]; /* not cumulative; the last one: above all bounds */
    uint64_t sum_billionths;
};

struct route_counts {
    uint64_t status_counts[STATUS_COUNT];
    uint64_t check_failure_count;
    struct histogram duration;
};

/* One combination of labels. */
struct series {
    bool ready;
    const struct route *route; /* NULL: the name is the only label */
    char name[NAME_SIZE];
    uint64_t count;
    struct histogram duration, gap;
};

struct series_table {
    pthread_mutex_t lock; /* for adding */
    size_t used_count;
    struct series slots[SERIES_SLOTS];
};

struct asked {
    enum metric_type type;
    const char *name, *labels, *help;
    metric_fn *read;
    void *context;
};

struct metrics {
    const struct route *routes;
    size_t route_count;
    double started_at_s;
    struct series_table decisions, reasons;
    struct histogram model_error;
    struct histogram estimates[WORK_COMPUTE + 1];
    uint64_t renamed_count;
    struct asked asked[ASKED_MAX];
    size_t asked_count;
    struct route_counts counts[]; /* one more than routes: none fitted */
};

/* ---- counting ---- */

static void add(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static uint64_t get(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void observe(struct histogram *h, const double *bounds, double value)
{
    size_t i = 0;

    value = fmin(fmax(value, 0), 1e6); /* also NAN */
    while (bounds[i] > 0 && value > bounds[i])
        i++;
    add(&h->bucket_counts[i], 1);
    add(&h->sum_billionths, (uint64_t)(value * BILLION));
}

struct metrics *metrics_create(const struct route *route_table)
{
    struct metrics *m;
    size_t n = 0;

    while (route_table[n].method)
        n++;
    m = calloc(1, sizeof(*m) + (n + 1) * sizeof(m->counts[0]));
    if (!m)
        return NULL;
    m->routes = route_table;
    m->route_count = n;
    m->started_at_s = clock_wall_s();
    pthread_mutex_init(&m->decisions.lock, NULL);
    pthread_mutex_init(&m->reasons.lock, NULL);
    return m;
}

void metrics_close(struct metrics *m)
{
    if (!m)
        return;
    pthread_mutex_destroy(&m->reasons.lock);
    pthread_mutex_destroy(&m->decisions.lock);
    free(m);
}

void metrics_request(struct metrics *m, const struct route *route, int status,
                     double duration_s)
{
    struct route_counts *counts;

    if (!m || status < STATUS_FIRST || status >= STATUS_FIRST + STATUS_COUNT)
        return;
    counts = &m->counts[route ? (size_t)(route - m->routes) : m->route_count];
    add(&counts->status_counts[status - STATUS_FIRST], 1);
    observe(&counts->duration, duration_bounds_s, duration_s);
}

/* The slot of these labels, or the free one where they belong. */
static struct series *series_slot(struct series_table *table, const struct route *route,
                                  const char *name)
{
    size_t i = (size_t)(hash_fnv1a(name) ^ (uintptr_t)route / sizeof(struct route));

    for (;; i++) {
        struct series *s = &table->slots[i % SERIES_SLOTS];

        if (!__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE) ||
            (s->route == route && strncmp(s->name, name, NAME_SIZE - 1) == 0))
            return s;
    }
}

static struct series *series_find(struct series_table *table, const struct route *route,
                                  const char *name)
{
    struct series *s = series_slot(table, route, name);

    if (__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE))
        return s;
    pthread_mutex_lock(&table->lock);
    s = series_slot(table, route, name);
    if (!s->ready && table->used_count >= SERIES_MAX) { /* `other` is there, or fits */
        route = NULL;
        name = "other";
        s = series_slot(table, route, name);
    }
    if (!s->ready) {
        s->route = route;
        snprintf(s->name, sizeof(s->name), "%s", name);
        table->used_count++;
        __atomic_store_n(&s->ready, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&table->lock);
    return s;
}

void metrics_decision(struct metrics *m, const struct route *route, const char *algorithm,
                      double duration_s, double gap_ratio)
{
    struct series *s;

    if (!m)
        return;
    s = series_find(&m->decisions, route, algorithm ? algorithm : "");
    observe(&s->duration, duration_bounds_s, duration_s);
    if (!isnan(gap_ratio))
        observe(&s->gap, ratio_bounds, gap_ratio);
}

void metrics_unplaced(struct metrics *m, const char *reason, size_t count)
{
    if (m && count > 0)
        add(&series_find(&m->reasons, NULL, reason)->count, count);
}

void metrics_check_failure(struct metrics *m, const struct route *route)
{
    if (m)
        add(&m->counts[route ? (size_t)(route - m->routes) : m->route_count]
                 .check_failure_count,
            1);
}

void metrics_estimate(struct metrics *m, const struct route *route, double ratio)
{
    if (m && route)
        observe(&m->estimates[route->work], estimate_bounds, ratio);
}

void metrics_model_error(struct metrics *m, double error_ratio)
{
    if (m && !isnan(error_ratio))
        observe(&m->model_error, ratio_bounds, error_ratio);
}

void metrics_renamed(struct metrics *m, size_t count)
{
    if (m)
        add(&m->renamed_count, count);
}

bool metrics_add(struct metrics *m, enum metric_type type, const char *name,
                 const char *labels, const char *help, metric_fn *read, void *context)
{
    if (m->asked_count == ASKED_MAX)
        return false;
    m->asked[m->asked_count++] = (struct asked){type, name, labels, help, read, context};
    return true;
}

/* ---- printing ---- */

bool metrics_wants_openmetrics(const char *accept)
{
    return accept && strstr(accept, "application/openmetrics-text");
}

struct printer {
    struct text_buffer *out;
    bool openmetrics;
};

/* HELP and TYPE. In OpenMetrics a counter's family has no _total. */
static void print_family(const struct printer *p, const char *name, const char *type,
                         const char *help)
{
    size_t length = strlen(name);

    if (p->openmetrics && strcmp(type, "counter") == 0 && length > 6)
        length -= strlen("_total");
    text_addf(p->out, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)length, name, help,
              (int)length, name, type);
}

/* A value in quotes, escaped. */
static void print_label(struct text_buffer *out, const char *name, const char *value)
{
    text_addf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\n')
            text_add(out, "\\n", 2);
        else if (*value == '"' || *value == '\\')
            text_addf(out, "\\%c", *value);
        else
            text_add(out, value, 1);
    }
    text_add(out, "\"", 1);
}

/* 0.25, 1.0: OpenMetrics wants floats to look like floats. */
static void print_bound(struct text_buffer *out, double bound)
{
    text_addf(out, bound == floor(bound) ? "%.1f" : "%g", bound);
}

/* `labels`: "" or with a comma behind. */
static void print_histogram(struct text_buffer *out, const char *name, const char *labels,
                            const struct histogram *h, const double *bounds)
{
    uint64_t total = 0;
    int length = (int)strlen(labels);
    size_t above = 0;

    for (; bounds[above] > 0; above++) {
        total += get(&h->bucket_counts[above]);
        text_addf(out, "%s_bucket{%sle=\"", name, labels);
        print_bound(out, bounds[above]);
        text_addf(out, "\"} %llu\n", (unsigned long long)total);
    }
    total += get(&h->bucket_counts[above]);
    text_addf(out, "%s_bucket{%sle=\"+Inf\"} %llu\n", name, labels,
              (unsigned long long)total);
    if (length > 0) /* without the comma */
        text_addf(out, "%s_sum{%.*s} %.9g\n%s_count{%.*s} %llu\n", name, length - 1,
                  labels, (double)get(&h->sum_billionths) / BILLION, name, length - 1,
                  labels, (unsigned long long)total);
    else
        text_addf(out, "%s_sum %.9g\n%s_count %llu\n", name,
                  (double)get(&h->sum_billionths) / BILLION, name,
                  (unsigned long long)total);
}

static bool is_empty(const struct histogram *h)
{
    for (size_t i = 0; i < BUCKETS_MAX; i++)
        if (get(&h->bucket_counts[i]))
            return false;
    return true;
}

/* Labels as a text of their own, in the arena of the output; "" without memory. */
static const char *labels_of(const struct printer *p, const char *first,
                             const char *first_value, const char *second,
                             const char *second_value)
{
    struct text_buffer labels = {.arena = p->out->arena};

    print_label(&labels, first, first_value);
    text_add(&labels, ",", 1);
    if (second) {
        print_label(&labels, second, second_value);
        text_add(&labels, ",", 1);
    }
    text_add(&labels, "", 1);
    return labels.failed ? "" : labels.data;
}

static const char *route_name(const struct metrics *m, size_t i)
{
    return i < m->route_count ? m->routes[i].path : "none";
}

/* Routes of one path, one for each method, are one label: the method is another. */
static const char *method_name(const struct metrics *m, size_t i)
{
    return i < m->route_count ? m->routes[i].method : "any";
}

static void print_check_failures(const struct metrics *m, const struct printer *p)
{
    print_family(p, "gridplan_check_failures_total", "counter",
                 "Plans that the independent checker refused.");
    for (size_t i = 0; i <= m->route_count; i++) {
        uint64_t n = get(&m->counts[i].check_failure_count);

        if (!n)
            continue;
        text_add(p->out, "gridplan_check_failures_total{", 30);
        print_label(p->out, "endpoint", route_name(m, i));
        text_addf(p->out, "} %llu\n", (unsigned long long)n);
    }
}

static void print_requests(const struct metrics *m, const struct printer *p)
{
    print_family(p, "http_requests_total", "counter", "Requests answered.");
    for (size_t i = 0; i <= m->route_count; i++)
        for (size_t code = 0; code < STATUS_COUNT; code++) {
            uint64_t n = get(&m->counts[i].status_counts[code]);

            if (n)
                text_addf(
                    p->out, "http_requests_total{%scode=\"%zu\"} %llu\n",
                    labels_of(p, "route", route_name(m, i), "method", method_name(m, i)),
                    code + STATUS_FIRST, (unsigned long long)n);
        }
    print_family(p, "http_request_duration_seconds", "histogram",
                 "Time from a request's header to its answer.");
    for (size_t i = 0; i <= m->route_count; i++)
        if (!is_empty(&m->counts[i].duration))
            print_histogram(
                p->out, "http_request_duration_seconds",
                labels_of(p, "route", route_name(m, i), "method", method_name(m, i)),
                &m->counts[i].duration, duration_bounds_s);
}

static void print_decisions(const struct metrics *m, const struct printer *p)
{
    print_family(p, "decision_duration_seconds", "histogram", "Time to make a decision.");
    for (size_t i = 0; i < SERIES_SLOTS; i++) {
        const struct series *s = &m->decisions.slots[i];

        if (__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE))
            print_histogram(p->out, "decision_duration_seconds",
                            labels_of(p, "endpoint", s->route ? s->route->path : "other",
                                      "algorithm", s->name),
                            &s->duration, duration_bounds_s);
    }
    print_family(p, "decision_gap_ratio", "histogram",
                 "How far a decision may be from optimal.");
    for (size_t i = 0; i < SERIES_SLOTS; i++) {
        const struct series *s = &m->decisions.slots[i];

        if (__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE) && !is_empty(&s->gap))
            print_histogram(p->out, "decision_gap_ratio",
                            labels_of(p, "endpoint", s->route ? s->route->path : "other",
                                      "algorithm", s->name),
                            &s->gap, ratio_bounds);
    }
    print_family(p, "jobs_unplaced_total", "counter", "Jobs that found no resource.");
    for (size_t i = 0; i < SERIES_SLOTS; i++) {
        const struct series *s = &m->reasons.slots[i];

        if (!__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE))
            continue;
        text_add(p->out, "jobs_unplaced_total{", 20);
        print_label(p->out, "reason", s->name);
        text_addf(p->out, "} %llu\n", (unsigned long long)get(&s->count));
    }
    print_check_failures(m, p);
    print_family(p, "gridplan_memory_estimate_ratio", "histogram",
                 "Memory that requests took, of what they were guessed to take.");
    for (size_t i = 0; i <= WORK_COMPUTE; i++)
        if (!is_empty(&m->estimates[i]))
            print_histogram(p->out, "gridplan_memory_estimate_ratio",
                            labels_of(p, "work", work_names[i], NULL, NULL),
                            &m->estimates[i], estimate_bounds);
    print_family(p, "model_error_ratio", "histogram",
                 "Relative error of predicted run times against observed ones.");
    print_histogram(p->out, "model_error_ratio", "", &m->model_error, ratio_bounds);
}

static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    size_t total = 0, resident = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%zu %zu", &total, &resident) != 2)
        resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / BILLION;
}

static void print_one(const struct printer *p, const char *type, const char *name,
                      const char *labels, const char *help, double value)
{
    if (help)
        print_family(p, name, type, help);
    if (*labels)
        text_addf(p->out, "%s{%s} %.15g\n", name, labels, value);
    else
        text_addf(p->out, "%s %.15g\n", name, value);
}

static void print_process(const struct metrics *m, const struct printer *p)
{
    print_one(p, "gauge", "build_info", "version=\"" GRIDPLAN_VERSION "\"",
              "The version that runs.", 1);
    print_one(p, "gauge", "process_start_time_seconds", "",
              "When the process started, since the epoch.", m->started_at_s);
    print_one(p, "gauge", "process_resident_memory_bytes", "", "Memory in use.",
              resident_bytes());
    print_one(p, "counter", "process_cpu_seconds_total", "", "Processor time used.",
              cpu_s());
    print_one(p, "counter", "gridplan_contract_violations_total", "",
              "Members of answers that had no value although they are described as never "
              "null.",
              (double)json_broken_promises());
    print_one(p, "counter", "gridplan_renamed_members_total", "",
              "Members of requests that were called by a name of earlier releases.",
              (double)get(&m->renamed_count));
    print_one(p, "counter", "log_lines_dropped_total", "",
              "Log lines lost because nobody read stderr.", (double)log_dropped_count());
}

/* One series of an owner. */
static void print_owner(const struct printer *p, const char *owner, const char *work,
                        const char *state, size_t count)
{
    text_addf(p->out, "gridplan_owner_jobs{%sstate=\"%s\"} %zu\n",
              labels_of(p, "owner", owner, "work", work), state, count);
}

static void print_owner_states(const struct printer *p, const char *work,
                               const struct governor_owner_stats *o)
{
    print_owner(p, o->name, o->background ? "background" : work, "queued",
                o->queued_count);
    print_owner(p, o->name, o->background ? "background" : work, "running",
                o->running_count);
    print_owner(p, o->name, o->background ? "background" : work, "parked",
                o->parked_count);
}

/* Owners of one queue; all that are not shown, and whoever is called so, are "other". */
static void print_queue_owners(const struct printer *p, const char *work,
                               const struct governor_queue_stats *queue)
{
    struct governor_owner_stats rest = {.name = "other"};

    for (size_t i = 0; i < queue->owner_count; i++) {
        const struct governor_owner_stats *o = &queue->owners[i];

        if (strcmp(o->name, rest.name) != 0) {
            print_owner_states(p, work, o);
            continue;
        }
        rest.queued_count += o->queued_count;
        rest.running_count += o->running_count;
        rest.parked_count += o->parked_count;
    }
    print_owner_states(p, work, &rest);
}

static void print_owners(const struct printer *p, const struct governor_stats *governor)
{
    print_family(p, "gridplan_owner_jobs", "gauge",
                 "What the largest tenants or addresses have under way.");
    print_queue_owners(p, work_names[WORK_COMPUTE], &governor->queues[GOVERNOR_COMPUTE]);
    print_queue_owners(p, work_names[WORK_QUERY], &governor->queues[GOVERNOR_QUERY]);
}

void metrics_print(const struct metrics *m, const struct governor_stats *governor,
                   bool openmetrics, struct text_buffer *out)
{
    const struct printer p = {out, openmetrics};
    const char *family = "";

    print_requests(m, &p);
    print_decisions(m, &p);
    for (size_t i = 0; i < m->asked_count; i++) {
        const struct asked *row = &m->asked[i];

        print_one(&p, row->type == METRIC_COUNTER ? "counter" : "gauge", row->name,
                  row->labels, strcmp(family, row->name) == 0 ? NULL : row->help,
                  row->read(row->context));
        family = row->name;
    }
    print_process(m, &p);
    if (governor)
        print_owners(&p, governor);
    if (openmetrics)
        text_add(out, "# EOF\n", 6);
}
