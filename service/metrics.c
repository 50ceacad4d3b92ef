/* metrics.c - what is counted, for Prometheus.
 *
 * A family has chains of series, one for each combination of labels that has been seen.
 * A series is added under a lock, at the front of its chain, and stays: chains are read
 * without the lock. Counters are 64-bit and added to atomically; sums of seconds and
 * ratios are kept in billionths, so that they are counters too.
 */
#include "service/metrics.h"

#include "models/base/names.h"
#include "service/clock.h"
#include "service/facade.h"
#include "service/governor.h"
#include "service/log.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    STATUS_FIRST = 100,
    STATUS_COUNT = 500,
    STATUS_SIZE = 12, /* of it as a text */
    LABELS_MAX = 3,
    CHAIN_COUNT = 128, /* power of two */
    ASKED_MAX = 64,
};

static const double BILLION = 1e9;

/* What all names begin with; names without it are those of the release before. */
#define PREFIX "gridplan_"

/* Upper bounds of buckets, ended by INFINITY. */
static const double request_bounds_s[] = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3,
                                          1,     3,     10,   30,   100, INFINITY};
static const double decision_bounds_s[] = {
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, INFINITY};
static const double wait_bounds_s[] = {0.001, 0.01, 0.1, 1, 10, INFINITY};
static const double gap_bounds[] = {0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, INFINITY};
static const double error_bounds[] = {0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1, INFINITY};
static const double estimate_bounds[] = {0.01, 0.05, 0.1, 0.25, 0.5, 0.75,
                                         1,    1.5,  2,   4,    8,   INFINITY};
static const double former_bounds_s[] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25,   0.5,     1,      2.5,   5,      10,    30,   60,    300,  INFINITY};
static const double former_ratio_bounds[] = {
    0.0001, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, INFINITY};
static const char *const work_names[] = {"inline", "query", "compute"};

/* What of a series is shown. */
enum family_type { EVENTS, SECONDS, HISTOGRAM };

/* Symbol, type, name, labels, bounds, help. Those without the prefix are shown only
 * under GRIDPLAN_METRICS_NAMES=both. Labels come from closed tables. */
#define FAMILIES(X)                                                                      \
    X(HTTP_REQUESTS, EVENTS, PREFIX "http_requests_total", ("route", "code"), NULL,      \
      "Requests answered.")                                                              \
    X(HTTP_DURATION, HISTOGRAM, PREFIX "http_request_duration_seconds", ("work"),        \
      request_bounds_s, "Time from a request's header to its answer.")                   \
    X(HTTP_SECONDS, SECONDS, PREFIX "http_request_seconds_total", ("route"), NULL,       \
      "Time from requests' headers to their answers, added up.")                         \
    X(DECISION_DURATION, HISTOGRAM, PREFIX "decision_duration_seconds", ("endpoint"),    \
      decision_bounds_s, "Time to make a decision.")                                     \
    X(DECISIONS, EVENTS, PREFIX "decisions_total", ("endpoint", "algorithm"), NULL,      \
      "Decisions made.")                                                                 \
    X(DECISION_SECONDS, SECONDS, PREFIX "decision_seconds_total",                        \
      ("endpoint", "algorithm"), NULL, "Time to make decisions, added up.")              \
    X(DECISION_STATUS, EVENTS, PREFIX "decision_status_total", ("endpoint", "status"),   \
      NULL, "How decisions ended.")                                                      \
    X(DECISION_GAP, HISTOGRAM, PREFIX "decision_gap_ratio", ("endpoint"), gap_bounds,    \
      "How far a decision may be from optimal.")                                         \
    X(UNPLACED, EVENTS, PREFIX "jobs_unplaced_total", ("reason"), NULL,                  \
      "Jobs that found no resource.")                                                    \
    X(CHECK_FAILURES, EVENTS, PREFIX "check_failures_total", ("endpoint"), NULL,         \
      "Plans that the independent checker refused.")                                     \
    X(MODEL_ERROR, HISTOGRAM, PREFIX "model_error_ratio", ("kind"), error_bounds,        \
      "Relative error of the run times that models predicted, once they were observed.") \
    X(FORECAST_ERROR, HISTOGRAM, PREFIX "forecast_error_ratio", ("method"),              \
      error_bounds,                                                                      \
      "Mean absolute error so far of what forecasts a load, relative to "                \
      "the forecast.")                                                                   \
    X(INGESTED, EVENTS, PREFIX "ingest_rows_total", ("history", "result"), NULL,         \
      "Records of histories that were sent.")                                            \
    X(FACADE_EVENTS, EVENTS, PREFIX "facade_events_total", ("facade", "result"), NULL,   \
      "Messages of other tools, and what became of them.")                               \
    X(FACADE_REQUESTS, EVENTS, PREFIX "facade_requests_total", ("facade", "code"), NULL, \
      "Requests of other tools that were answered.")                                     \
    X(FACADE_DROPPED, EVENTS, PREFIX "facade_dropped_total", ("facade", "reason"), NULL, \
      "Messages of other tools that told something that cannot be kept.")                \
    X(REFITS, EVENTS, PREFIX "refits_total", ("kind", "result"), NULL,                   \
      "Times a model was to learn what is new.")                                         \
    X(REFIT_SECONDS, SECONDS, PREFIX "refit_seconds_total", ("kind", "result"), NULL,    \
      "Time that learning took, added up.")                                              \
    X(SESSION_EVENTS, EVENTS, PREFIX "workflow_session_events_total",                    \
      ("kind", "result"), NULL, "Events of workflow sessions that were sent.")           \
    X(SESSION_PLANS, HISTOGRAM, PREFIX "workflow_session_plan_seconds", (NULL),          \
      decision_bounds_s, "Time that a plan of a workflow session took.")                 \
    X(QUEUE_WAIT, HISTOGRAM, PREFIX "worker_queue_wait_seconds", ("work"),               \
      wait_bounds_s, "Time that a request waited for a worker or for memory.")           \
    X(MEMORY_ESTIMATE, HISTOGRAM, PREFIX "memory_estimate_ratio", ("work"),              \
      estimate_bounds, "Memory that requests took, of what they were guessed to take.")  \
    X(FORMER_REQUESTS, EVENTS, "http_requests_total", ("route", "method", "code"), NULL, \
      "Requests answered.")                                                              \
    X(FORMER_DURATION, HISTOGRAM, "http_request_duration_seconds", ("route", "method"),  \
      former_bounds_s, "Time from a request's header to its answer.")                    \
    X(FORMER_DECISIONS, HISTOGRAM, "decision_duration_seconds",                          \
      ("endpoint", "algorithm"), former_bounds_s, "Time to make a decision.")            \
    X(FORMER_GAP, HISTOGRAM, "decision_gap_ratio", ("endpoint", "algorithm"),            \
      former_ratio_bounds, "How far a decision may be from optimal.")                    \
    X(FORMER_UNPLACED, EVENTS, "jobs_unplaced_total", ("reason"), NULL,                  \
      "Jobs that found no resource.")                                                    \
    X(FORMER_ERROR, HISTOGRAM, "model_error_ratio", (NULL), former_ratio_bounds,         \
      "Relative error of predicted run times against observed ones.")

enum family_id {
#define X(symbol, ...) symbol,
    FAMILIES(X)
#undef X
        FAMILY_COUNT
};

struct family {
    enum family_type type;
    const char *name;
    const char *labels[LABELS_MAX]; /* NULL behind the last */
    const double *bounds;           /* of a histogram */
    const char *help;
};

#define UNWRAP(...) __VA_ARGS__
static const struct family families[] = {
#define X(symbol, type, name, labels, bounds, help) \
    {type, name, {UNWRAP labels}, bounds, help},
    FAMILIES(X)
#undef X
};

/* One combination of labels. Their values are behind it, each ended by NUL. */
struct series {
    struct series *next;
    const char *values[LABELS_MAX]; /* NULL behind the last */
    uint64_t count, sum_billionths;
    uint64_t bucket_counts[]; /* of a histogram; not cumulative */
};

struct chains {
    size_t series_count;               /* atomic */
    struct series *first[CHAIN_COUNT]; /* read with __atomic_load_n */
};

struct metrics {
    bool with_former;
    double started_at_s;
    pthread_mutex_t lock; /* for adding series */
    struct chains chains[FAMILY_COUNT];
    uint64_t dropped_count; /* events of series that were not added */
    uint64_t renamed_count;
    char status_texts[STATUS_COUNT][STATUS_SIZE];
    struct metric_row asked[ASKED_MAX];
    size_t asked_count;
};

/* ---- series ---- */

static void add(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static uint64_t get(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static bool is_former(const struct family *family)
{
    return strncmp(family->name, PREFIX, strlen(PREFIX)) != 0;
}

static size_t bucket_count(const struct family *family)
{
    size_t n = 0;

    if (!family->bounds)
        return 0;
    while (isfinite(family->bounds[n]))
        n++;
    return n + 1;
}

static struct series *find(struct series *const *chain, const char *const *values)
{
    for (struct series *s = __atomic_load_n(chain, __ATOMIC_ACQUIRE); s; s = s->next) {
        size_t i = 0;

        while (i < LABELS_MAX && values[i] && strcmp(s->values[i], values[i]) == 0)
            i++;
        if (i == LABELS_MAX || !values[i])
            return s;
    }
    return NULL;
}

static struct series *series_create(const struct family *family,
                                    const char *const *values)
{
    size_t counters = bucket_count(family), bytes = 0;
    struct series *s;
    char *text;

    for (size_t i = 0; i < LABELS_MAX && values[i]; i++)
        bytes += strlen(values[i]) + 1;
    s = calloc(1, sizeof(*s) + counters * sizeof(s->bucket_counts[0]) + bytes);
    if (!s)
        return NULL;
    text = (char *)&s->bucket_counts[counters];
    for (size_t i = 0; i < LABELS_MAX && values[i]; i++) {
        size_t size = strlen(values[i]) + 1;

        memcpy(text, values[i], size);
        s->values[i] = text;
        text += size;
    }
    return s;
}

/* Adds the series unless another thread was faster. NULL: there are too many. */
static struct series *series_add(struct metrics *m, enum family_id id,
                                 struct series **chain, const char *const *values)
{
    struct series *s;

    pthread_mutex_lock(&m->lock);
    s = find(chain, values);
    if (!s && m->chains[id].series_count < METRICS_SERIES_MAX) {
        s = series_create(&families[id], values);
        if (s) {
            __atomic_fetch_add(&m->chains[id].series_count, 1, __ATOMIC_RELAXED);
            s->next = *chain;
            __atomic_store_n(chain, s, __ATOMIC_RELEASE);
        }
    }
    pthread_mutex_unlock(&m->lock);
    return s;
}

/* `values`: LABELS_MAX of them, NULL behind the last. */
static struct series *series_of(struct metrics *m, enum family_id id,
                                const char *const *values)
{
    struct series **chain;
    struct series *s;
    size_t hash = 0;

    for (size_t i = 0; i < LABELS_MAX && values[i]; i++)
        hash = hash * 31 + (size_t)hash_fnv1a(values[i]);
    chain = &m->chains[id].first[hash % CHAIN_COUNT];
    s = find(chain, values);
    return s ? s : series_add(m, id, chain, values);
}

/* `n` events in the series with these labels, of which `value` is the sum or, of a
 * histogram, one value. */
static void note(struct metrics *m, enum family_id id, const char *const *values,
                 uint64_t n, double value)
{
    const double *bounds = families[id].bounds;
    struct series *s;
    size_t i = 0;

    if (!m->with_former && is_former(&families[id]))
        return;
    s = series_of(m, id, values);
    if (!s) {
        add(&m->dropped_count, n);
        return;
    }
    value = fmin(fmax(value, 0), 1e6); /* also NAN */
    add(&s->count, n);
    add(&s->sum_billionths, (uint64_t)(value * BILLION));
    if (!bounds)
        return;
    while (value > bounds[i])
        i++;
    add(&s->bucket_counts[i], n);
}

#define LABELS(...) ((const char *const[LABELS_MAX]){__VA_ARGS__})

/* ---- counting ---- */

struct metrics *metrics_create(bool with_former)
{
    struct metrics *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->with_former = with_former;
    m->started_at_s = clock_wall_s();
    for (int i = 0; i < STATUS_COUNT; i++)
        snprintf(m->status_texts[i], STATUS_SIZE, "%d", STATUS_FIRST + i);
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void metrics_close(struct metrics *m)
{
    if (!m)
        return;
    for (size_t id = 0; id < FAMILY_COUNT; id++)
        for (size_t i = 0; i < CHAIN_COUNT; i++)
            for (struct series *s = m->chains[id].first[i], *next; s; s = next) {
                next = s->next;
                free(s);
            }
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void metrics_request(struct metrics *m, const struct route *route, int status,
                     double duration_s)
{
    const char *path = route ? route->path : "none";
    const char *method = route ? route->method : "any";
    const char *code;

    if (!m || status < STATUS_FIRST || status >= STATUS_FIRST + STATUS_COUNT)
        return;
    code = m->status_texts[status - STATUS_FIRST];
    note(m, HTTP_REQUESTS, LABELS(path, code), 1, 0);
    note(m, HTTP_DURATION, LABELS(work_names[route ? route->work : WORK_INLINE]), 1,
         duration_s);
    note(m, HTTP_SECONDS, LABELS(path), 1, duration_s);
    if (route && facade_of(path))
        note(m, FACADE_REQUESTS, LABELS(facade_of(path), code), 1, 0);
    note(m, FORMER_REQUESTS, LABELS(path, method, code), 1, 0);
    note(m, FORMER_DURATION, LABELS(path, method), 1, duration_s);
}

void metrics_decision(struct metrics *m, const struct route *route, const char *algorithm,
                      enum decision_status status, double duration_s, double gap_ratio)
{
    const char *endpoint = route->path;

    if (!m)
        return;
    note(m, DECISION_DURATION, LABELS(endpoint), 1, duration_s);
    note(m, DECISIONS, LABELS(endpoint, algorithm), 1, 0);
    note(m, DECISION_SECONDS, LABELS(endpoint, algorithm), 1, duration_s);
    note(m, DECISION_STATUS, LABELS(endpoint, decision_status_names[status]), 1, 0);
    note(m, FORMER_DECISIONS, LABELS(endpoint, algorithm), 1, duration_s);
    if (isnan(gap_ratio))
        return;
    note(m, DECISION_GAP, LABELS(endpoint), 1, gap_ratio);
    note(m, FORMER_GAP, LABELS(endpoint, algorithm), 1, gap_ratio);
}

void metrics_unplaced(struct metrics *m, const char *reason, size_t count)
{
    if (!m || count == 0)
        return;
    note(m, UNPLACED, LABELS(reason), count, 0);
    note(m, FORMER_UNPLACED, LABELS(reason), count, 0);
}

void metrics_check_failure(struct metrics *m, const struct route *route)
{
    if (m)
        note(m, CHECK_FAILURES, LABELS(route->path), 1, 0);
}

void metrics_estimate(struct metrics *m, const struct route *route, double ratio)
{
    if (m && route)
        note(m, MEMORY_ESTIMATE, LABELS(work_names[route->work]), 1, ratio);
}

void metrics_queue_wait(struct metrics *m, const struct route *route, double wait_s)
{
    if (m && route)
        note(m, QUEUE_WAIT, LABELS(work_names[route->work]), 1, wait_s);
}

void metrics_model_error(struct metrics *m, const char *kind, double error_ratio)
{
    if (!m || isnan(error_ratio))
        return;
    note(m, MODEL_ERROR, LABELS(kind), 1, error_ratio);
    note(m, FORMER_ERROR, LABELS(NULL), 1, error_ratio);
}

void metrics_forecast_error(struct metrics *m, const char *method, double error_ratio)
{
    if (m && !isnan(error_ratio))
        note(m, FORECAST_ERROR, LABELS(method), 1, error_ratio);
}

void metrics_ingested(struct metrics *m, const struct route *route,
                      const struct metrics_rows *rows)
{
    const char *history = strrchr(route->path, '/') + 1;

    if (!m)
        return;
    if (rows->stored_count)
        note(m, INGESTED, LABELS(history, "stored"), rows->stored_count, 0);
    if (rows->duplicate_count)
        note(m, INGESTED, LABELS(history, "duplicate"), rows->duplicate_count, 0);
    if (rows->refused_count)
        note(m, INGESTED, LABELS(history, "refused"), rows->refused_count, 0);
}

void metrics_facade(struct metrics *m, const char *facade, const char *result,
                    size_t count)
{
    static const char *const dropped[] = {"incomplete", "no_run_time", "refused"};

    if (!m || count == 0)
        return;
    note(m, FACADE_EVENTS, LABELS(facade, result), count, 0);
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
        if (strcmp(result, dropped[i]) == 0)
            note(m, FACADE_DROPPED, LABELS(facade, dropped[i]), count, 0);
}

void metrics_refit(struct metrics *m, const char *kind, const char *result,
                   double duration_s)
{
    if (!m)
        return;
    note(m, REFITS, LABELS(kind, result), 1, 0);
    note(m, REFIT_SECONDS, LABELS(kind, result), 1, duration_s);
}

void metrics_session_event(struct metrics *m, const char *kind, const char *result,
                           size_t count)
{
    if (m && count)
        note(m, SESSION_EVENTS, LABELS(kind, result), count, 0);
}

void metrics_session_plan(struct metrics *m, double duration_s)
{
    if (m)
        note(m, SESSION_PLANS, LABELS(NULL), 1, duration_s);
}

void metrics_renamed(struct metrics *m, size_t count)
{
    if (m)
        add(&m->renamed_count, count);
}

bool metrics_add(struct metrics *m, const struct metric_row *row)
{
    size_t count = m->asked_count; /* rows are added by one thread, while others print */

    if (count == ASKED_MAX)
        return false;
    m->asked[count] = *row;
    __atomic_store_n(&m->asked_count, count + 1, __ATOMIC_RELEASE);
    return true;
}

/* ---- printing ---- */

bool metrics_names_openmetrics(const char *accept)
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

/* name_part{labels} and a blank; without labels the name alone. */
static void print_name(struct text_buffer *out, const struct family *family,
                       const struct series *s, const char *part, double bound)
{
    char separator = '{';

    text_addf(out, "%s%s", family->name, part);
    for (size_t i = 0; i < LABELS_MAX && family->labels[i]; i++, separator = ',') {
        text_add(out, &separator, 1);
        print_label(out, family->labels[i], s->values[i]);
    }
    if (!isnan(bound)) { /* 0.25, 1.0: OpenMetrics wants floats to look like floats */
        text_addf(out, "%cle=\"", separator);
        if (isfinite(bound))
            text_addf(out, bound == floor(bound) ? "%.1f" : "%g", bound);
        else
            text_add(out, "+Inf", 4);
        text_add(out, "\"", 1);
        separator = ',';
    }
    text_add(out, separator == '{' ? " " : "} ", separator == '{' ? 1 : 2);
}

static void print_histogram(struct text_buffer *out, const struct family *family,
                            const struct series *s)
{
    uint64_t total = 0;

    for (size_t i = 0; i < bucket_count(family); i++) {
        total += get(&s->bucket_counts[i]);
        print_name(out, family, s, "_bucket", family->bounds[i]);
        text_addf(out, "%llu\n", (unsigned long long)total);
    }
    print_name(out, family, s, "_sum", (double)NAN);
    text_addf(out, "%.9g\n", (double)get(&s->sum_billionths) / BILLION);
    print_name(out, family, s, "_count", (double)NAN);
    text_addf(out, "%llu\n", (unsigned long long)total);
}

static void print_series(struct text_buffer *out, const struct family *family,
                         const struct series *s)
{
    if (family->type == HISTOGRAM) {
        print_histogram(out, family, s);
        return;
    }
    print_name(out, family, s, "", (double)NAN);
    if (family->type == SECONDS)
        text_addf(out, "%.9g\n", (double)get(&s->sum_billionths) / BILLION);
    else
        text_addf(out, "%llu\n", (unsigned long long)get(&s->count));
}

static void print_counted(const struct metrics *m, const struct printer *p)
{
    for (size_t id = 0; id < FAMILY_COUNT; id++) {
        const struct family *family = &families[id];

        if (__atomic_load_n(&m->chains[id].series_count, __ATOMIC_RELAXED) == 0)
            continue;
        print_family(p, family->name, family->type == HISTOGRAM ? "histogram" : "counter",
                     family->help);
        for (size_t i = 0; i < CHAIN_COUNT; i++)
            for (const struct series *s =
                     __atomic_load_n(&m->chains[id].first[i], __ATOMIC_ACQUIRE);
                 s; s = s->next)
                print_series(p->out, family, s);
    }
}

static double resident_bytes(void *unused)
{
    FILE *file = fopen("/proc/self/statm", "re");
    size_t total = 0, resident = 0;

    (void)unused;
    if (!file)
        return 0;
    if (fscanf(file, "%zu %zu", &total, &resident) != 2)
        resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_s(void *unused)
{
    struct timespec t;

    (void)unused;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Those of /proc/self/fd, but for ".", ".." and the one that reads it. */
static double open_fds(void *unused)
{
    DIR *directory = opendir("/proc/self/fd");
    double count = -3;

    (void)unused;
    if (!directory)
        return 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static double max_fds(void *unused)
{
    struct rlimit limit;

    (void)unused;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : 0;
}

static double one(void *unused)
{
    (void)unused;
    return 1;
}

static double log_dropped(void *unused)
{
    (void)unused;
    return (double)log_dropped_count();
}

static double broken_promises(void *unused)
{
    (void)unused;
    return (double)json_broken_promises();
}

static double read_counter(void *counter)
{
    return (double)get(counter);
}

static double read_number(void *number)
{
    return *(const double *)number;
}

/* Under its name of now, or that of the release before. */
static void print_rows(const struct printer *p, const struct metric_row *rows,
                       size_t count, bool by_former_name)
{
    const char *family = "";

    for (size_t i = 0; i < count; i++) {
        const struct metric_row *row = &rows[i];
        const char *name = row->name + (by_former_name ? strlen(PREFIX) : 0);

        if (by_former_name && !row->had_no_prefix)
            continue;
        if (strcmp(family, row->name) != 0)
            print_family(p, name, row->type == METRIC_COUNTER ? "counter" : "gauge",
                         row->help);
        if (*row->labels)
            text_addf(p->out, "%s{%s} %.15g\n", name, row->labels,
                      row->read(row->context));
        else
            text_addf(p->out, "%s %.15g\n", name, row->read(row->context));
        family = row->name;
    }
}

/* What every process has. */
enum { PROCESS_ROWS = 10 };

/* What is known without being counted by anybody, and what is lost. */
static void process_rows(struct metrics *m, struct metric_row list[PROCESS_ROWS])
{
    const struct metric_row rows[PROCESS_ROWS] = {
        {METRIC_GAUGE, PREFIX "build_info", "version=\"" GRIDPLAN_VERSION "\"",
         "The version that runs.", one, NULL, true},
        {METRIC_GAUGE, "process_start_time_seconds", "",
         "When the process started, since the epoch.", read_number, &m->started_at_s,
         false},
        {METRIC_GAUGE, "process_resident_memory_bytes", "", "Memory in use.",
         resident_bytes, NULL, false},
        {METRIC_COUNTER, "process_cpu_seconds_total", "", "Processor time used.", cpu_s,
         NULL, false},
        {METRIC_GAUGE, "process_open_fds", "", "File descriptors that are open.",
         open_fds, NULL, false},
        {METRIC_GAUGE, "process_max_fds", "", "File descriptors at most.", max_fds, NULL,
         false},
        {METRIC_COUNTER, PREFIX "contract_violations_total", "",
         "Members of answers that had no value although they are described as never "
         "null.",
         broken_promises, NULL, false},
        {METRIC_COUNTER, PREFIX "renamed_members_total", "",
         "Members of requests that were called by a name of earlier releases.",
         read_counter, &m->renamed_count, false},
        {METRIC_COUNTER, PREFIX "metrics_dropped_total", "",
         "Events not counted, because their family has too many series.", read_counter,
         &m->dropped_count, false},
        {METRIC_COUNTER, PREFIX "log_lines_dropped_total", "",
         "Log lines lost because nobody read stderr.", log_dropped, NULL, true},
    };

    memcpy(list, rows, sizeof(rows));
}

static void print_process(struct metrics *m, const struct printer *p)
{
    struct metric_row rows[PROCESS_ROWS];

    process_rows(m, rows);
    print_rows(p, rows, PROCESS_ROWS, false);
    if (m->with_former)
        print_rows(p, rows, PROCESS_ROWS, true);
}

/* Of rows of one name the first. */
static void see_rows(const struct metric_row *rows, size_t count, metric_seen_fn *seen,
                     void *context)
{
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(rows[i].name, rows[i - 1].name) != 0)
            seen(context, rows[i].name,
                 rows[i].type == METRIC_GAUGE ? "gauge" : "counter", rows[i].labels,
                 rows[i].help);
}

void metrics_each(struct metrics *m, metric_seen_fn *seen, void *context)
{
    static const char *const types[] = {
        [EVENTS] = "counter", [SECONDS] = "counter", [HISTOGRAM] = "histogram"};
    struct metric_row own[PROCESS_ROWS];
    size_t asked_count = m ? __atomic_load_n(&m->asked_count, __ATOMIC_ACQUIRE) : 0;

    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        const struct family *f = &families[i];
        char labels[128] = "";

        for (size_t k = 0; k < LABELS_MAX && f->labels[k]; k++)
            snprintf(labels + strlen(labels), sizeof(labels) - strlen(labels), "%s%s",
                     k ? ", " : "", f->labels[k]);
        if (!is_former(f))
            seen(context, f->name, types[f->type], labels, f->help);
    }
    if (!m)
        return;
    see_rows(m->asked, asked_count, seen, context);
    process_rows(m, own);
    see_rows(own, PROCESS_ROWS, seen, context);
}

/* One series of an owner. */
static void print_owner(const struct printer *p, const char *owner, const char *work,
                        const char *state, size_t count)
{
    text_addf(p->out, PREFIX "owner_jobs{");
    print_label(p->out, "owner", owner);
    text_addf(p->out, ",work=\"%s\",state=\"%s\"} %zu\n", work, state, count);
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
    print_family(p, PREFIX "owner_jobs", "gauge",
                 "What the largest tenants or addresses have under way.");
    print_queue_owners(p, work_names[WORK_COMPUTE], &governor->queues[GOVERNOR_COMPUTE]);
    print_queue_owners(p, work_names[WORK_QUERY], &governor->queues[GOVERNOR_QUERY]);
}

void metrics_print(struct metrics *m, const struct governor_stats *governor,
                   bool openmetrics, struct text_buffer *out)
{
    const struct printer p = {out, openmetrics};
    size_t asked_count = __atomic_load_n(&m->asked_count, __ATOMIC_ACQUIRE);

    print_counted(m, &p);
    print_rows(&p, m->asked, asked_count, false);
    if (m->with_former)
        print_rows(&p, m->asked, asked_count, true);
    print_process(m, &p);
    if (governor)
        print_owners(&p, governor);
    if (openmetrics)
        text_add(out, "# EOF\n", 6);
}
