/* nextflow.c - what Nextflow tells of its tasks.
 *
 * One table says which field of a task is which member, and in which form trace files
 * have it; messages have all numbers bare: milliseconds, bytes, percent.
 */
#include "models/nextflow.h"

#include "models/base/budget_read.h"
#include "models/json_walk.h"
#include "models/lines.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CELL_STEPS = 8, NO_EXIT_CODE = 2147483647 };

/* ---- cells ---- */

static bool is_missing(const char *cell)
{
    return !*cell || strcmp(cell, "-") == 0;
}

/* A number without sign at *at, with a point at most; steps over it. */
static bool take_number(const char **at, double *number)
{
    char text[40];
    size_t length = strspn(*at, "0123456789.");

    if (length == 0 || length >= sizeof(text))
        return false;
    memcpy(text, *at, length);
    text[length] = 0;
    *at += length;
    return line_number(text, number);
}

/* The factor of the unit at *at, of a list that ends with {NULL}; 0: none. */
struct unit {
    const char *name;
    double factor;
};

static double take_unit(const char **at, const struct unit *units)
{
    size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

    for (; units->name; units++)
        if (strlen(units->name) == length && strncmp(units->name, *at, length) == 0) {
            *at += length;
            return units->factor;
        }
    return 0;
}

bool nextflow_duration(const char *cell, double *seconds, bool *rounded)
{
    static const struct unit units[] = {{"ms", 0.001}, {"s", 1},     {"m", 60},
                                        {"h", 3600},   {"d", 86400}, {NULL, 0}};
    double number, sum = 0, smallest = INFINITY;
    const char *at = cell;

    *rounded = false;
    *seconds = NAN;
    if (is_missing(cell))
        return true;
    if (line_number(cell, &number) && number >= 0) {
        *seconds = number / 1000;
        return true;
    }
    while (*at) {
        double factor;

        if (!take_number(&at, &number))
            return false;
        at += strspn(at, " ");
        factor = take_unit(&at, units);
        if (factor == 0 || factor >= smallest)
            return false;
        smallest = factor;
        sum += number * factor;
        at += strspn(at, " ");
    }
    *seconds = sum;
    *rounded = true;
    return true;
}

bool nextflow_size(const char *cell, double *bytes, bool *rounded)
{
    static const struct unit units[] = {{"B", 1},       {"KB", 1024.0}, {"MB", 0x1p20},
                                        {"GB", 0x1p30}, {"TB", 0x1p40}, {"PB", 0x1p50},
                                        {NULL, 0}};
    const char *at = cell;
    double factor;

    *rounded = false;
    *bytes = NAN;
    if (is_missing(cell))
        return true;
    if (!take_number(&at, bytes))
        return false;
    if (!*at)
        return true;
    at += strspn(at, " ");
    factor = take_unit(&at, units);
    if (factor == 0 || *at)
        return false;
    *bytes *= factor;
    *rounded = factor > 1;
    return true;
}

bool nextflow_percent(const char *cell, double *ratio)
{
    const char *at = cell;

    *ratio = NAN;
    if (is_missing(cell))
        return true;
    if (!take_number(&at, ratio) || (*at && strcmp(at, "%") != 0))
        return false;
    *ratio /= 100;
    return true;
}

/* Whole digits of a fixed number of places, within bounds. */
static bool take_digits(const char **at, size_t places, int least, int most, int *number)
{
    *number = 0;
    for (size_t i = 0; i < places; i++, ++*at) {
        if (**at < '0' || **at > '9')
            return false;
        *number = *number * 10 + (**at - '0');
    }
    return *number >= least && *number <= most;
}

static bool take(const char **at, char c)
{
    if (**at != c)
        return false;
    ++*at;
    return true;
}

bool nextflow_instant(const char *cell, double utc_offset_s, double *at_s)
{
    struct tm tm = {0};
    const char *at = cell;
    double number;
    time_t seconds;
    int day;

    *at_s = NAN;
    if (is_missing(cell))
        return true;
    if (line_number(cell, &number)) {
        *at_s = number > 0 ? number / 1000 : (double)NAN; /* 0: not yet */
        return number >= 0;
    }
    if (!take_digits(&at, 4, 1970, 9999, &tm.tm_year) || !take(&at, '-') ||
        !take_digits(&at, 2, 1, 12, &tm.tm_mon) || !take(&at, '-') ||
        !take_digits(&at, 2, 1, 31, &tm.tm_mday) || !take(&at, ' ') ||
        !take_digits(&at, 2, 0, 23, &tm.tm_hour) || !take(&at, ':') ||
        !take_digits(&at, 2, 0, 59, &tm.tm_min) || !take(&at, ':') ||
        !take_digits(&at, 2, 0, 59, &tm.tm_sec))
        return false;
    number = 0;
    if (*at == '.') {
        size_t digits = strspn(++at, "0123456789");

        if (digits == 0 || digits > 9 || !take_number(&at, &number))
            return false;
        number /= pow(10, (double)digits);
    }
    if (*at)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    day = tm.tm_mday;
    seconds = timegm(&tm);
    if (tm.tm_mday != day)
        return false; /* the 31st of April */
    *at_s = (double)seconds + number - utc_offset_s;
    return true;
}

/* ---- fields ---- */

enum form { TEXT, NUMBER, INSTANT, DURATION, SIZE, PERCENT, EXIT_CODE };

#define AT(member) offsetof(struct nextflow_task, member)

/* Of two fields for one member the first that says something counts. */
static const struct field {
    const char *name;
    enum form form;
    size_t offset;
} fields[] = {
    {"task_id", TEXT, AT(task_id)},
    {"hash", TEXT, AT(task_id)},
    {"native_id", TEXT, AT(task_id)},
    {"process", TEXT, AT(process)},
    {"name", TEXT, AT(process)},
    {"status", TEXT, AT(status)},
    {"hostname", TEXT, AT(host)},
    {"queue", TEXT, AT(host)},
    {"attempt", NUMBER, AT(attempt)},
    {"submit", INSTANT, AT(submit_at_s)},
    {"start", INSTANT, AT(start_at_s)},
    {"duration", DURATION, AT(duration_s)},
    {"realtime", DURATION, AT(realtime_s)},
    {"exit", EXIT_CODE, AT(exit_code)},
    {"cpus", NUMBER, AT(cpus)},
    {"%cpu", PERCENT, AT(cpu_ratio)},
    {"memory", SIZE, AT(memory_bytes)},
    {"peak_rss", SIZE, AT(peak_rss_bytes)},
    {"rchar", SIZE, AT(rchar_bytes)},
    {"read_bytes", SIZE, AT(read_bytes)},
    {"write_bytes", SIZE, AT(write_bytes)},
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

static int field_of(const char *name)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (strcmp(fields[i].name, name) == 0)
            return i;
    return -1;
}

/* Values of one task, by field, until all of them are there. */
struct values {
    const char *text[FIELD_COUNT];
    double number[FIELD_COUNT];
};

static void clear(struct values *v)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        v->text[i] = NULL;
        v->number[i] = NAN;
    }
}

/* "ALIGN (s1)" is of the process ALIGN. */
static const char *process_of(const char *name, struct arena *a)
{
    const char *tag = strstr(name, " (");

    return tag ? arena_text(a, name, (size_t)(tag - name)) : name;
}

static void fill(const struct values *v, struct nextflow_task *task, struct arena *a)
{
    *task = (struct nextflow_task){0};
    for (int i = FIELD_COUNT - 1; i >= 0; i--) {
        char *member = (char *)task + fields[i].offset;
        const char *text = v->text[i];

        if (fields[i].form != TEXT)
            memcpy(member, &v->number[i], sizeof(double));
        else if (text && strcmp(fields[i].name, "name") == 0)
            task->process = process_of(text, a);
        else if (text)
            memcpy(member, &text, sizeof(text));
    }
    if (task->exit_code == NO_EXIT_CODE)
        task->exit_code = NAN;
}

/* ---- messages ---- */

/* A text that says something. */
static const char *keep_text(const char *text, struct arena *a)
{
    return is_missing(text) ? NULL : arena_text(a, text, strlen(text));
}

/* A number of a message as the member has it. */
static double scaled(enum form form, double number)
{
    switch (form) {
    case INSTANT:
        return number > 0 ? number / 1000 : (double)NAN;
    case DURATION:
        return number / 1000;
    case PERCENT:
        return number / 100;
    default:
        return number;
    }
}

/* What a text says, with its unit or bare; false: it is not of that form. */
static bool read_text(enum form form, const char *text, double utc_offset_s,
                      double *number, bool *rounded)
{
    *rounded = false;
    switch (form) {
    case INSTANT:
        return nextflow_instant(text, utc_offset_s, number);
    case DURATION:
        return nextflow_duration(text, number, rounded);
    case SIZE:
        return nextflow_size(text, number, rounded);
    case PERCENT:
        return nextflow_percent(text, number);
    default:
        return is_missing(text) || line_number(text, number);
    }
}

/* A number may stand in a string, and have a unit there. */
static void take_value(struct json_walk *w, int field, struct values *v, bool *bad,
                       struct arena *a)
{
    char type = json_walk_type(w);
    const char *text;
    double number;
    bool rounded;

    if (type == '"') {
        text = json_walk_string(w);
        if (fields[field].form == TEXT)
            v->text[field] = keep_text(text, a);
        else
            *bad |= !read_text(fields[field].form, text, 0, &v->number[field], &rounded);
    } else if (type == '0') {
        number = json_walk_number(w);
        if (fields[field].form == TEXT && floor(number) == number && fabs(number) < 1e15)
            v->text[field] = arena_printf(a, "%.0f", number);
        else if (fields[field].form != TEXT)
            v->number[field] = scaled(fields[field].form, number);
    } else {
        *bad |= type != 'n';
        json_walk_skip(w);
    }
}

static void read_task(struct json_walk *w, struct nextflow_message *out, struct arena *a)
{
    struct values v;
    bool bad = false;
    const char *member;

    if (json_walk_type(w) != '{') {
        json_walk_skip(w);
        return;
    }
    clear(&v);
    json_walk_enter(w, '{');
    while ((member = json_walk_member(w))) {
        int field = field_of(member);

        if (field < 0)
            json_walk_skip(w);
        else
            take_value(w, field, &v, &bad, a);
    }
    fill(&v, &out->task, a);
    out->task.bad_number = bad;
    out->has_task = true;
}

static const char *take_text(struct json_walk *w, struct arena *a)
{
    if (json_walk_type(w) == '"')
        return keep_text(json_walk_string(w), a);
    json_walk_skip(w);
    return NULL;
}

/* The value of one member of the object that is next; all others are stepped over. */
static const char *text_within(struct json_walk *w, const char *wanted, struct arena *a)
{
    const char *member, *found = NULL;

    if (json_walk_type(w) != '{') {
        json_walk_skip(w);
        return NULL;
    }
    json_walk_enter(w, '{');
    while ((member = json_walk_member(w)))
        if (strcmp(member, wanted) == 0)
            found = take_text(w, a);
        else
            json_walk_skip(w);
    return found;
}

/* metadata.workflow: its manifest's name, else the project's. */
static void read_workflow(struct json_walk *w, struct nextflow_message *out,
                          struct arena *a)
{
    const char *member, *manifest = NULL, *project = NULL;

    json_walk_enter(w, '{');
    while ((member = json_walk_member(w)))
        if (strcmp(member, "manifest") == 0)
            manifest = text_within(w, "name", a);
        else if (strcmp(member, "projectName") == 0)
            project = take_text(w, a);
        else
            json_walk_skip(w);
    out->application = manifest ? manifest : project;
}

static void read_metadata(struct json_walk *w, struct nextflow_message *out,
                          struct arena *a)
{
    const char *member;

    if (json_walk_type(w) != '{') {
        json_walk_skip(w);
        return;
    }
    json_walk_enter(w, '{');
    while ((member = json_walk_member(w)))
        if (strcmp(member, "workflow") == 0 && json_walk_type(w) == '{')
            read_workflow(w, out, a);
        else
            json_walk_skip(w);
}

static enum nextflow_kind kind_of(const char *event, const struct nextflow_message *m)
{
    if (strcmp(event, "started") == 0)
        return NEXTFLOW_STARTED;
    if (strcmp(event, "process_completed") == 0 && m->has_task)
        return NEXTFLOW_TASK_DONE;
    return NEXTFLOW_OTHER;
}

enum error_code nextflow_message_read(const char *text, size_t length,
                                      struct nextflow_message *out, struct arena *a,
                                      struct error *err)
{
    const char *member, *event = NULL;
    struct json_walk w;

    *out = (struct nextflow_message){0};
    json_walk_open(&w, text, length, a);
    json_walk_enter(&w, '{');
    while ((member = json_walk_member(&w)))
        if (strcmp(member, "event") == 0)
            event = take_text(&w, a);
        else if (strcmp(member, "runId") == 0)
            out->run_id = take_text(&w, a);
        else if (strcmp(member, "trace") == 0)
            read_task(&w, out, a);
        else if (strcmp(member, "metadata") == 0)
            read_metadata(&w, out, a);
        else
            json_walk_skip(&w);
    if (w.cancelled)
        return fail(err, ERR_CANCELLED, "", "the client went away");
    if (json_walk_end(&w, "", &(struct error){.arena = a}) != OK)
        return fail(err, ERR_MALFORMED, "", "the body is no JSON object");
    if (!event)
        return fail(err, ERR_MALFORMED, "", "the message has no event");
    out->kind = kind_of(event, out);
    return OK;
}

/* ---- trace files ---- */

/* The next line without its end; false: none. */
static bool next_line(struct nextflow_trace *t, const char **text, size_t *length)
{
    const char *end;

    if (t->at == t->end)
        return false;
    end = memchr(t->at, '\n', (size_t)(t->end - t->at));
    *text = t->at;
    *length = (size_t)((end ? end : t->end) - t->at);
    t->at = end ? end + 1 : t->end;
    t->line++;
    if (*length > 0 && (*text)[*length - 1] == '\r')
        --*length;
    return true;
}

/* The next cell of a line, trimmed; NULL: none. */
static const char *next_cell(const char **at, const char *end, char mark, struct arena *a)
{
    const char *from = *at, *to;

    if (!from)
        return NULL;
    to = memchr(from, mark, (size_t)(end - from));
    *at = to ? to + 1 : NULL;
    to = to ? to : end;
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return arena_text(a, from, (size_t)(to - from));
}

/* What stands between columns: a tab, or what trace.sep says. */
static char mark_of(const char *line, size_t length)
{
    static const char marks[] = "\t,;|";

    for (const char *mark = marks; *mark; mark++)
        if (memchr(line, *mark, length))
            return *mark;
    return '\t';
}

static enum error_code read_columns(struct nextflow_trace *t, const char *line,
                                    size_t length, const char *pointer, struct arena *a,
                                    struct error *err)
{
    const char *at = line, *cell;
    bool seen[FIELD_COUNT] = {false};

    t->mark = mark_of(line, length);
    while ((cell = next_cell(&at, line + length, t->mark, a))) {
        int field = field_of(cell);

        if (t->column_count == NEXTFLOW_COLUMNS_MAX)
            return invalid(err, pointer, ITEM_TOO_MANY, "line 1: more than %d columns",
                           NEXTFLOW_COLUMNS_MAX);
        if (field >= 0 && seen[field])
            invalid(err, pointer, ITEM_DUPLICATE, "line 1: the column %s is there twice",
                    fields[field].name);
        if (field >= 0)
            seen[field] = true;
        t->field[t->column_count++] = field;
    }
    t->named_by = seen[field_of("task_id")]     ? "task_id"
                  : seen[field_of("hash")]      ? "hash"
                  : seen[field_of("native_id")] ? "native_id"
                                                : NULL;
    if (!t->named_by)
        invalid(err, pointer, ITEM_REQUIRED,
                "line 1: there is no column task_id, nor hash or native_id in its place");
    if (!seen[field_of("name")] && !seen[field_of("process")])
        invalid(err, pointer, ITEM_REQUIRED,
                "line 1: there is no column name or process");
    return err->code;
}

enum error_code nextflow_trace_open(struct nextflow_trace *t, const char *text,
                                    size_t length, double utc_offset_s,
                                    const char *pointer, struct arena *a,
                                    struct error *err)
{
    const char *line;
    size_t line_length;

    *t = (struct nextflow_trace){.at = text + lines_mark_bytes(text, length),
                                 .end = text + length,
                                 .utc_offset_s = utc_offset_s};
    if (!next_line(t, &line, &line_length))
        return invalid(err, pointer, ITEM_REQUIRED, "the file is empty");
    return read_columns(t, line, line_length, pointer, a, err);
}

/* Of a cell; false: it is not what the column has. */
static bool take_cell(struct nextflow_trace *t, int field, const char *cell,
                      struct values *v)
{
    bool rounded, good;

    if (fields[field].form == TEXT) {
        v->text[field] = is_missing(cell) ? NULL : cell;
        return true;
    }
    good =
        read_text(fields[field].form, cell, t->utc_offset_s, &v->number[field], &rounded);
    t->rounded_count += rounded;
    return good;
}

/* A row has as many cells as there are columns; it may leave out the last ones, but in
 * the last line of a file that breaks off there. */
static void check_width(struct nextflow_trace *t, const char *rest, bool is_short,
                        const char **wrong, const char **cell)
{
    t->short_count += is_short;
    if (*wrong || (rest == NULL && !(is_short && t->at == t->end && t->end[-1] != '\n')))
        return;
    *wrong = "";
    *cell = rest ? "more cells than columns" : "a row that breaks off";
}

bool nextflow_trace_next(struct nextflow_trace *t, struct nextflow_task *task,
                         const char **wrong, const char **cell, struct arena *a)
{
    struct values v;
    const char *line, *at;
    size_t length;
    bool text_missing = false;

    do
        if (!next_line(t, &line, &length))
            return false;
    while (length == 0);
    clear(&v);
    *wrong = NULL;
    at = line;
    for (size_t i = 0; i < t->column_count; i++) {
        const char *text = next_cell(&at, line + length, t->mark, a);

        if (budget_read_step(CELL_STEPS) || !text) {
            text_missing = true;
            break;
        }
        if (t->field[i] < 0 || take_cell(t, t->field[i], text, &v) || *wrong)
            continue;
        *wrong = fields[t->field[i]].name;
        *cell = text;
    }
    check_width(t, at, text_missing, wrong, cell);
    fill(&v, task, a);
    return true;
}

/* ---- as executions ---- */

static bool ran(const struct nextflow_task *task)
{
    return !task->status || strcmp(task->status, "COMPLETED") == 0 ||
           strcmp(task->status, "FAILED") == 0;
}

static bool has_exit_code(const struct nextflow_task *task)
{
    return fabs(task->exit_code) < NO_EXIT_CODE; /* false for NAN, too */
}

/* By the exit code, as schedulers end processes from outside; one that failed with none,
 * or with 0 (an output that is missing), has failed all the same. */
static int failure_of(const struct nextflow_task *task)
{
    bool failed = task->status && strcmp(task->status, "FAILED") == 0;

    if (!has_exit_code(task) || task->exit_code == 0)
        return failed ? RUN_FAILURE_ERROR : RUN_FAILURE_NONE;
    return task->exit_code == 137   ? RUN_FAILURE_MEMORY
           : task->exit_code == 140 ? RUN_FAILURE_TIME_LIMIT
                                    : RUN_FAILURE_ERROR;
}

/* What a record has no member for. */
static const char *parameters_of(const struct nextflow_task *task, struct arena *a)
{
    const struct {
        const char *name;
        double number;
    } numbers[] = {
        {"attempt", isnan(task->attempt) ? 1 : task->attempt},
        {"memory_requested_bytes", task->memory_bytes},
        {"read_bytes", task->read_bytes},
        {"write_bytes", task->write_bytes},
        {"cpu_ratio", task->cpu_ratio},
    };
    static const char *const kinds[] = {[RUN_FAILURE_ERROR] = "error",
                                        [RUN_FAILURE_MEMORY] = "memory",
                                        [RUN_FAILURE_TIME_LIMIT] = "time_limit"};
    int failure = failure_of(task);
    const char *text = "";

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (isfinite(numbers[i].number))
            text = arena_printf(a, "%s%s\"%s\":%.15g", text, *text ? "," : "",
                                numbers[i].name, numbers[i].number);
    if (failure != RUN_FAILURE_NONE)
        text = arena_printf(a, "%s,\"failure_kind\":\"%s\"", text, kinds[failure]);
    return arena_printf(a, "{%s}", text);
}

static double positive(double number)
{
    return number > 0 && isfinite(number) ? number : (double)NAN;
}

enum nextflow_use nextflow_execution(const struct nextflow_task *task,
                                     const char *application, const char *run_id,
                                     struct execution *out, bool *guessed,
                                     struct arena *a)
{
    double start_at_s = task->start_at_s;
    double before_s = positive(task->duration_s - task->realtime_s);

    if (!ran(task))
        return NEXTFLOW_NOT_RUN;
    *guessed = isnan(start_at_s) && !isnan(task->submit_at_s);
    if (*guessed)
        start_at_s = task->submit_at_s + (isnan(before_s) ? 0 : before_s);
    if (isnan(positive(task->realtime_s)) || isnan(start_at_s) || !task->task_id)
        return NEXTFLOW_NO_RUN_TIME;
    *out = (struct execution){
        .execution_id = arena_printf(a, "%s:%s:%.0f", run_id, task->task_id,
                                     isnan(task->attempt) ? 1 : task->attempt),
        .application_id =
            arena_printf(a, "%s/%s", application, task->process ? task->process : "-"),
        .resource_id = task->host,
        .parameters = parameters_of(task, a),
        .started_at_s = start_at_s,
        .run_time_s = task->realtime_s,
        .phase_index = NAN,
        .problem_size = positive(task->rchar_bytes),
        .processors = task->cpus >= 1 ? ceil(task->cpus) : 1,
        .cpu_available_ratio = NAN,
        .bandwidth_mbps = NAN,
        .memory_peak_bytes =
            task->peak_rss_bytes >= 0 ? task->peak_rss_bytes : (double)NAN,
        .memory_requested_bytes = positive(task->memory_bytes),
        .disk_peak_bytes = NAN,
        .cpus_used = NAN,
        .attempt = isnan(task->attempt) ? 1 : task->attempt,
        .failure_kind = failure_of(task),
        .exit_code = has_exit_code(task) ? task->exit_code : (double)NAN,
        .queue_wait_s = NAN,
        .predicted_s = NAN,
        .model_version = NAN,
    };
    return NEXTFLOW_COUNTS;
}
