/* history.c - what accounting says of jobs that ended, and of nodes that failed. */
#include "models/slurm/history.h"

#include "models/base/budget_read.h"
#include "models/slurm/values.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const size_t NO_ROW = SIZE_MAX;

struct reading {
    const struct slurm_history_options *options;
    struct slurm_history *out;
    struct name_index jobs; /* by id: place in last */
    size_t *last;           /* of each job: its last row */
    size_t *before;         /* of each row the row before of that job; NO_ROW: none */
    double *peak_bytes;     /* of each row; NAN: not known */
    size_t failure_size;
    struct arena *arena;
};

enum { TIME_LIMIT, MEMORY, ERROR, CANCELLED, HOST, COMPLETED };
const char *const slurm_failure_kind_names[] = {"time_limit", "memory", "error",
                                                "cancelled",  "host",   NULL};

/* States, and what a run that ended so says. */
static const struct {
    const char *state;
    int kind;
} states[] = {
    {"COMPLETED", COMPLETED}, {"TIMEOUT", TIME_LIMIT},  {"OUT_OF_MEMORY", MEMORY},
    {"FAILED", ERROR},        {"CANCELLED", CANCELLED}, {"PREEMPTED", CANCELLED},
    {"REQUEUED", CANCELLED},  {"NODE_FAIL", HOST},      {"BOOT_FAIL", HOST},
    {"DEADLINE", CANCELLED},  {"REVOKED", CANCELLED},
};

double slurm_peak_bytes(const char *text)
{
    double plain;

    if (!text)
        return (double)NAN;
    plain = isdigit((unsigned char)text[strlen(text) - 1]) ? strtod(text, NULL)
                                                           : slurm_bytes(text, NULL);
    return plain > 0 && isfinite(plain) ? plain : (double)NAN;
}

/* "12" of the step "12.batch"; NULL: it is a job. */
static const char *job_of_step(const struct reading *c, const char *id)
{
    const char *dot = id ? strchr(id, '.') : NULL;

    return dot ? arena_text(c->arena, id, (size_t)(dot - id)) : NULL;
}

const char *slurm_row_id(const struct slurm_record *r)
{
    const char *raw = slurm_value(r, SLURM_F_RAW_ID);

    return raw ? raw : slurm_value(r, SLURM_F_ID);
}

/* The row of the attempt that a step is of: the last one that began before it. One that
 * has not begun has no steps. */
static size_t attempt_of(const struct reading *c, const struct slurm_list *rows,
                         const char *job, const struct slurm_record *step)
{
    size_t known = name_index_find(&c->jobs, job);
    size_t last = known == NAME_NOT_FOUND ? NO_ROW : c->last[known], at = last;
    double start_s = slurm_instant_s(slurm_value(step, SLURM_F_START), 0);

    for (; at != NO_ROW; at = c->before[at]) {
        double row_s = slurm_instant_s(slurm_value(&rows->records[at], SLURM_F_START), 0);

        budget_read_step(4);
        if (row_s <= start_s || (isnan(start_s) && !isnan(row_s)))
            return at;
    }
    return last;
}

/* The rows of all jobs, and the peaks of memory of their steps. */
static void read_steps(struct reading *c, const struct slurm_list *rows)
{
    size_t job_count = 0;

    name_index_create(&c->jobs, rows->count + 1, c->arena);
    c->last = NEW(c->arena, size_t, rows->count + 1);
    c->before = NEW(c->arena, size_t, rows->count + 1);
    c->peak_bytes = NEW(c->arena, double, rows->count + 1);
    for (size_t i = 0; i < rows->count; i++) {
        const struct slurm_record *r = &rows->records[i];
        const char *id = slurm_row_id(r);
        size_t job;

        budget_read_step(16);
        c->peak_bytes[i] = slurm_peak_bytes(slurm_value(r, SLURM_F_RSS_MAX));
        c->before[i] = NO_ROW;
        if (!id || strchr(id, '.'))
            continue;
        job = name_index_add(&c->jobs, id, job_count);
        if (job == NAME_NOT_FOUND)
            job = job_count++;
        else
            c->before[i] = c->last[job];
        c->last[job] = i;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct slurm_record *r = &rows->records[i];
        const char *job = job_of_step(c, slurm_row_id(r));
        size_t at;

        if (!job || isnan(c->peak_bytes[i]))
            continue;
        at = attempt_of(c, rows, job, r);
        if (at == NO_ROW)
            c->out->loose_steps++;
        else
            c->peak_bytes[at] = fmax(c->peak_bytes[at], c->peak_bytes[i]);
    }
}

static void add_failure(struct reading *c, const struct slurm_failure *failure)
{
    struct slurm_history *out = c->out;

    if (out->failure_count == c->failure_size) {
        size_t size = c->failure_size ? 2 * c->failure_size : 16;

        out->failures =
            GROW(c->arena, out->failures, struct slurm_failure, c->failure_size, size);
        c->failure_size = size;
    }
    out->failures[out->failure_count++] = *failure;
}

static double processors_of(const struct reading *c, const struct slurm_record *r)
{
    const char *given = slurm_value(r, SLURM_F_TRES_GIVEN);
    const struct slurm_amount *list;
    size_t count = slurm_tracked(given ? given : slurm_value(r, SLURM_F_TRES_ASKED),
                                 &list, c->arena);
    double cpus = slurm_amount_of(list, count, "cpu");

    if (!(cpus >= 1))
        cpus = slurm_number(slurm_value(r, SLURM_F_CPUS));
    return cpus >= 1 && isfinite(cpus) ? cpus : 1;
}

/* What was asked of memory, of a node's part of the job. */
static double requested_of(const struct reading *c, const struct slurm_record *r)
{
    const struct slurm_amount *list;
    size_t count = slurm_tracked(slurm_value(r, SLURM_F_TRES_ASKED), &list, c->arena);
    double nodes = slurm_amount_of(list, count, "node");
    double bytes = slurm_amount_of(list, count, "mem");

    if (!(nodes >= 1))
        nodes = slurm_number(slurm_value(r, SLURM_F_NODE_COUNT));
    if (!(nodes >= 1) || !isfinite(nodes))
        nodes = 1;
    if (!(bytes > 0)) {
        const char *text = slurm_value(r, SLURM_F_MEMORY_ASKED);
        bool per_cpu;

        bytes = slurm_bytes(text, &per_cpu);
        if (per_cpu)
            bytes *= processors_of(c, r);
        else if (text && text[strlen(text) - 1] == 'n') /* of a node, before 21.08 */
            bytes *= nodes;
    }
    return bytes > 0 && isfinite(bytes) ? bytes / nodes : (double)NAN;
}

/* "1:0": code and signal. Never 0 for what did not complete. */
static double exit_code_of(const struct slurm_record *r, const char *kind)
{
    const char *text = slurm_value(r, SLURM_F_EXIT_CODE);
    const char *colon = text ? strchr(text, ':') : NULL;
    double code = text ? strtod(text, NULL) : 0;
    double signal = colon ? strtod(colon + 1, NULL)
                          : slurm_number(slurm_value(r, SLURM_F_EXIT_SIGNAL));

    if (!kind)
        return 0;
    if (code > 0)
        return code;
    return signal > 0 && isfinite(signal) ? 128 + signal : 1;
}

static void read_run(struct reading *c, const struct slurm_record *r, size_t row,
                     const char *cluster)
{
    const char *state = r->value[SLURM_F_STATE], *id = slurm_row_id(r), *kind;
    double offset_s = c->options->tz_offset_s;
    double start_s = slurm_instant_s(slurm_value(r, SLURM_F_START), offset_s);
    double end_s = slurm_instant_s(slurm_value(r, SLURM_F_END), offset_s);
    double eligible_s = slurm_instant_s(slurm_value(r, SLURM_F_ELIGIBLE), offset_s);
    double elapsed_s = slurm_duration_s(slurm_value(r, SLURM_F_ELAPSED), 1);
    const char *const *nodes = NULL;
    size_t i = 0, node_count = 0;
    struct slurm_run *run;

    while (i < sizeof(states) / sizeof(states[0]) &&
           !(state && strncmp(state, states[i].state, strlen(states[i].state)) == 0))
        i++;
    if (!id || !state) {
        c->out->unusable++;
        return;
    }
    if (i == sizeof(states) / sizeof(states[0])) {
        bool waits =
            slurm_says_nothing(slurm_value(r, SLURM_F_END)) ||
            strstr("PENDING RUNNING SUSPENDED COMPLETING CONFIGURING RESIZING", state);

        c->out->not_ended += waits;
        c->out->unknown_states += !waits;
        return;
    }
    if (!r->value[SLURM_F_END]) /* the column is not there */
        end_s = start_s + elapsed_s;
    if (isnan(start_s) || !(end_s > start_s)) {
        c->out->never_ran++;
        return;
    }
    kind = slurm_failure_kind_names[states[i].kind]; /* of COMPLETED: NULL */
    c->out->local_times += slurm_is_local(slurm_value(r, SLURM_F_START));
    if (!slurm_hosts(slurm_value(r, SLURM_F_NODES) ? slurm_value(r, SLURM_F_NODES) : "",
                     &nodes, &node_count, c->arena))
        node_count = 0;
    run = &c->out->runs[c->out->run_count++];
    *run = (struct slurm_run){
        .execution_id =
            arena_printf(c->arena, "slurm:%.100s:%.64s:%.0f", cluster, id, start_s),
        .application_id = slurm_pattern_apply(c->options->application, r, c->arena),
        .resource_id = node_count == 1 ? nodes[0] : NULL,
        .started_at_s = start_s,
        .run_time_s = end_s - start_s,
        .queue_wait_s = start_s >= eligible_s ? start_s - eligible_s : (double)NAN,
        .processors = processors_of(c, r),
        .memory_peak_bytes = c->peak_bytes[row],
        .memory_requested_bytes = requested_of(c, r),
        .exit_code = exit_code_of(r, kind),
        .attempt = 1,
        .failure_kind = kind,
    };
    if (kind && strcmp(kind, "host") == 0)
        for (size_t k = 0; k < node_count; k++) /* how long it was down nobody says */
            add_failure(c,
                        &(struct slurm_failure){
                            nodes[k], end_s, end_s,
                            arena_printf(c->arena, "job %.64s: %.32s", id, state), true});
}

static void read_event(struct reading *c, const struct slurm_record *r)
{
    const char *node = slurm_value(r, SLURM_F_NAME), *state = r->value[SLURM_F_STATE];
    double offset_s = c->options->tz_offset_s;
    double down_s = slurm_instant_s(slurm_value(r, SLURM_F_START), offset_s);

    if (!node || !state || isnan(down_s))
        return;
    if (!strstr(state, "DOWN") && !strstr(state, "FAIL") && !strchr(state, '*') &&
        !(c->options->drain_is_failure && strstr(state, "DRAIN")))
        return;
    add_failure(
        c, &(struct slurm_failure){node, down_s,
                                   slurm_instant_s(slurm_value(r, SLURM_F_END), offset_s),
                                   slurm_value(r, SLURM_F_REASON), false});
}

/* ---- attempts ---- */

struct start {
    size_t job; /* the place of its first run */
    double at_s;
    struct slurm_run *run;
};

static int compare_starts(const void *left, const void *right)
{
    const struct start *a = left, *b = right;

    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

/* A run's name without its start is its job's. Rows of one start are one attempt. */
static void number_attempts(struct reading *c)
{
    size_t count = c->out->run_count;
    struct start *starts = NEW(c->arena, struct start, count + 1);
    struct name_index jobs;

    name_index_create(&jobs, count + 1, c->arena);
    for (size_t i = 0; i < count; i++) {
        struct slurm_run *run = &c->out->runs[i];
        const char *id = run->execution_id;
        const char *job = arena_text(c->arena, id, (size_t)(strrchr(id, ':') - id));
        size_t first = name_index_add(&jobs, job, i);

        starts[i] =
            (struct start){first == NAME_NOT_FOUND ? i : first, run->started_at_s, run};
    }
    qsort(starts, count, sizeof(*starts), compare_starts);
    for (size_t i = 1; i < count; i++) {
        const struct start *before = &starts[i - 1];

        budget_read_step(16);
        if (starts[i].job == before->job)
            starts[i].run->attempt =
                before->run->attempt + (starts[i].at_s > before->at_s);
    }
}

void slurm_history_read(const struct slurm_records *from,
                        const struct slurm_history_options *options,
                        struct slurm_history *out, struct arena *a)
{
    const struct slurm_list *rows = &from->of[SLURM_JOB],
                            *events = &from->of[SLURM_EVENT];
    struct reading c = {.options = options, .out = out, .arena = a};

    *out = (struct slurm_history){.runs = NEW(a, struct slurm_run, rows->count + 1)};
    read_steps(&c, rows);
    for (size_t i = 0; i < rows->count; i++) {
        const struct slurm_record *r = &rows->records[i];
        const char *cluster = slurm_value(r, SLURM_F_CLUSTER), *id = slurm_row_id(r);

        budget_read_step(SLURM_FIELD_COUNT);
        if (!id || !strchr(id, '.'))
            read_run(&c, r, i, cluster ? cluster : options->cluster);
    }
    number_attempts(&c);
    for (size_t i = 0; i < events->count; i++)
        read_event(&c, &events->records[i]);
}
