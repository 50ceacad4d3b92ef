/* advice.c - changes of a queue, for scontrol, slurmrestd and sbatch. */
#include "models/slurm/advice.h"

#include "models/base/budget_read.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const slurm_action_names[] = {
#define X(symbol, word) #word,
    SLURM_ACTIONS(X)
#undef X
        NULL,
};

#define NICE_MAX      2147483645.0
#define PRIORITY_MOST 4294967293.0

/* ---- which changes ---- */

/* Number of a job, and of the task behind it. */
static bool is_older(const char *id, const char *other)
{
    double x = strtod(id, NULL), y = strtod(other, NULL);
    const char *task = strchr(id, '_'), *other_task = strchr(other, '_');

    if (x != y)
        return x < y;
    return task && other_task && strtod(task + 1, NULL) < strtod(other_task + 1, NULL);
}

/* Slurm takes equal priorities by age, which ids follow. */
static bool falls(const struct slurm_ordered *before, double priority,
                  const struct slurm_ordered *after, double next)
{
    return priority != next ? priority > next : is_older(before->id, after->id);
}

static void add(struct slurm_changes *out, const struct slurm_order *how,
                const struct slurm_action *action)
{
    if (out->count < how->changes_max)
        out->list[out->count++] = *action;
    else
        out->left_out++;
}

static struct slurm_action change(enum slurm_action_kind kind, const char *job_id,
                                  double value, double before)
{
    return (struct slurm_action){
        .kind = kind, .job_id = job_id, .value = value, .before = before};
}

/* How many of the first jobs get a priority: the others' fall already, and are below. */
static size_t count_raised(const struct slurm_order *how,
                           const struct slurm_ordered *jobs, size_t count)
{
    size_t first = count;

    while (first > 0) {
        const struct slurm_ordered *job = &jobs[first - 1];

        if (job->held || !(job->priority >= 1))
            break;
        if (first < count &&
            !falls(job, job->priority, &jobs[first], jobs[first].priority))
            break;
        first--;
    }
    while (first < count && first > 0 &&
           !(how->base - how->step * (double)(first - 1) > jobs[first].priority))
        first++;
    return first;
}

static void by_priority(const struct slurm_order *how, const struct slurm_ordered *jobs,
                        size_t count, struct slurm_changes *out)
{
    size_t raised = count_raised(how, jobs, count);

    for (size_t i = 0; i < raised; i++) {
        const struct slurm_ordered *job = &jobs[i];
        double priority = how->base - how->step * (double)i;
        struct slurm_action action;

        budget_read_step(8);
        if (priority < 1) {
            out->too_small++;
            continue;
        }
        if (job->held) {
            action = change(SLURM_ACT_RELEASE, job->id, NAN, NAN);
            add(out, how, &action);
        }
        if (job->held || job->priority != priority) {
            action = change(SLURM_ACT_PRIORITY, job->id, priority, job->priority);
            add(out, how, &action);
        }
    }
}

static void by_nice(const struct slurm_order *how, const struct slurm_ordered *jobs,
                    size_t count, struct slurm_changes *out)
{
    const struct slurm_ordered *last = NULL;
    double below = INFINITY; /* priority of the one before */

    for (size_t i = 0; i < count; i++) {
        const struct slurm_ordered *job = &jobs[i];
        double nice = job->nice > 0 ? job->nice : 0;
        double without = job->priority + job->nice, priority = without - nice;
        struct slurm_action action;

        budget_read_step(8);
        if (job->held || isnan(job->priority)) { /* what it will have nobody knows */
            if (job->held) {
                action = change(SLURM_ACT_RELEASE, job->id, NAN, NAN);
                add(out, how, &action);
            }
            continue;
        }
        if (last && !falls(last, below, job, priority))
            priority = falls(last, below, job, below) ? below : below - 1;
        if (priority < 1 || without - priority > NICE_MAX) {
            out->too_small++;
            continue;
        }
        nice = without - priority;
        if (nice != job->nice) {
            action = change(SLURM_ACT_NICE, job->id, nice, job->nice);
            add(out, how, &action);
        }
        below = priority;
        last = job;
    }
}

void slurm_order_changes(const struct slurm_order *how, const struct slurm_ordered *jobs,
                         size_t count, struct slurm_changes *out, struct arena *a)
{
    size_t most = 2 * count < how->changes_max ? 2 * count : how->changes_max;

    *out = (struct slurm_changes){.list = NEW(a, struct slurm_action, most)};
    if (how->mode == SLURM_BY_NICE)
        by_nice(how, jobs, count, out);
    else
        by_priority(how, jobs, count, out);
}

/* ---- what may be written ---- */

bool slurm_is_job_id(const char *id)
{
    size_t digits = strspn(id, "0123456789"), more = 0;

    if (digits == 0 || digits > 18)
        return false;
    if (id[digits] == '_') {
        more = strspn(id + digits + 1, "0123456789");
        return more > 0 && more <= 18 && !id[digits + 1 + more];
    }
    return !id[digits];
}

bool slurm_is_node_name(const char *name)
{
    size_t length = 0;

    for (; name[length]; length++)
        if (!isalnum((unsigned char)name[length]) && !strchr("._-", name[length]))
            return false;
    return length > 0 && length <= 256 && name[0] != '-';
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

/* Bounds of the value of each kind; NAN: it has none. */
static const struct {
    double least, most;
} bounds[] = {
    [SLURM_ACT_RELEASE] = {NAN, NAN},  [SLURM_ACT_PRIORITY] = {1, PRIORITY_MOST},
    [SLURM_ACT_NICE] = {0, NICE_MAX},  [SLURM_ACT_HOLD] = {NAN, NAN},
    [SLURM_ACT_TIME_LIMIT] = {1, 1e9}, [SLURM_ACT_BEGIN] = {1, 253402300799.0},
    [SLURM_ACT_REQUEUE] = {NAN, NAN},  [SLURM_ACT_DRAIN] = {NAN, NAN},
    [SLURM_ACT_RESUME] = {NAN, NAN},
};

static bool is_of_node(enum slurm_action_kind kind)
{
    return kind == SLURM_ACT_DRAIN || kind == SLURM_ACT_RESUME;
}

enum error_code slurm_action_check(const struct slurm_action *action, const char *pointer,
                                   struct error *err)
{
    const char *word = slurm_action_names[action->kind];
    double least = bounds[action->kind].least, most = bounds[action->kind].most;
    char at[128];

    if (is_of_node(action->kind)) {
        snprintf(at, sizeof(at), "%.90s/resource_id", pointer);
        if (!action->resource_id)
            return invalid(err, at, ITEM_REQUIRED, "%s needs a node", word);
        if (!slurm_is_node_name(action->resource_id))
            return invalid(err, at, ITEM_BAD_CHARACTERS,
                           "a node's name is of letters, digits and . _ - only");
    } else {
        snprintf(at, sizeof(at), "%.90s/job_id", pointer);
        if (!action->job_id)
            return invalid(err, at, ITEM_REQUIRED, "%s needs a job", word);
        if (!slurm_is_job_id(action->job_id))
            return invalid(err, at, ITEM_BAD_CHARACTERS,
                           "an id is digits, or digits_digits for a task of an array");
    }
    if (action->reason && (has_control(action->reason) || strlen(action->reason) > 256)) {
        snprintf(at, sizeof(at), "%.90s/reason", pointer);
        return invalid(err, at, ITEM_BAD_CHARACTERS,
                       "at most 256 bytes, without control characters");
    }
    if (!isnan(least) && !(action->value >= least && action->value <= most)) {
        snprintf(at, sizeof(at), "%.90s/value", pointer);
        return invalid(err, at, ITEM_OUT_OF_BOUNDS, "%s: from %.15g to %.15g", word,
                       least, most);
    }
    return OK;
}

/* ---- scontrol ---- */

/* 2026-11-22T11:00:00 */
static const char *local_time(double at_s, double tz_offset_s, struct arena *a)
{
    double whole = floor(at_s + tz_offset_s), days = floor(whole / 86400);
    int second = (int)(whole - days * 86400), month;
    /* Days from 0000-03-01 to a date of the Gregorian calendar. */
    long z = (long)days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
    long day_of_era = z - era * 146097;
    long year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    long day = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    long shifted = (5 * day + 2) / 153;

    month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    return arena_printf(a, "%04ld-%02d-%02ldT%02d:%02d:%02d",
                        year_of_era + era * 400 + (month <= 2), month,
                        day - (153 * shifted + 2) / 5 + 1, second / 3600,
                        second / 60 % 60, second % 60);
}

static double minutes_up(double limit_s)
{
    return ceil(limit_s / 60);
}

static void word(struct slurm_command *out, const char *text)
{
    out->argument[out->count++] = text;
}

void slurm_action_command(const struct slurm_action *action, double tz_offset_s,
                          struct slurm_command *out, struct arena *a)
{
    static const char *const verbs[] = {
        [SLURM_ACT_RELEASE] = "release",   [SLURM_ACT_PRIORITY] = "update",
        [SLURM_ACT_NICE] = "update",       [SLURM_ACT_HOLD] = "hold",
        [SLURM_ACT_TIME_LIMIT] = "update", [SLURM_ACT_BEGIN] = "update",
        [SLURM_ACT_REQUEUE] = "requeue",   [SLURM_ACT_DRAIN] = "update",
        [SLURM_ACT_RESUME] = "update",
    };
    bool updates = strcmp(verbs[action->kind], "update") == 0;

    *out = (struct slurm_command){0};
    word(out, "scontrol");
    word(out, verbs[action->kind]);
    if (is_of_node(action->kind))
        word(out, arena_printf(a, "nodename=%s", action->resource_id));
    else
        word(out, updates ? arena_printf(a, "jobid=%s", action->job_id) : action->job_id);
    switch (action->kind) {
    case SLURM_ACT_PRIORITY:
    case SLURM_ACT_NICE:
        word(out,
             arena_printf(a, "%s=%.0f", slurm_action_names[action->kind], action->value));
        break;
    case SLURM_ACT_TIME_LIMIT:
        word(out, arena_printf(a, "timelimit=%.0f", minutes_up(action->value)));
        break;
    case SLURM_ACT_BEGIN:
        word(out,
             arena_printf(a, "starttime=%s", local_time(action->value, tz_offset_s, a)));
        break;
    case SLURM_ACT_DRAIN:
        word(out, "state=drain");
        word(out, arena_printf(a, "reason=gridplan: %s",
                               action->reason ? action->reason : "advice"));
        break;
    case SLURM_ACT_RESUME:
        word(out, "state=resume");
        break;
    default:
        break;
    }
}

const char *slurm_command_line(const struct slurm_command *command, struct arena *a)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./:=,@%+-";
    size_t size = 1, length = 0;
    char *line;

    for (size_t i = 0; i < command->count; i++)
        size += 4 * strlen(command->argument[i]) + 3;
    line = NEW(a, char, size);
    for (size_t i = 0; i < command->count; i++) {
        const char *text = command->argument[i];
        bool quoted = !*text || text[strspn(text, plain)];

        if (i > 0)
            line[length++] = ' ';
        if (quoted)
            line[length++] = '\'';
        for (; *text; text++)
            if (*text == '\'') { /* '\'' */
                for (const char *quote = "'\\''"; *quote; quote++)
                    line[length++] = *quote;
            } else
                line[length++] = *text;
        if (quoted)
            line[length++] = '\'';
    }
    return line;
}

/* ---- slurmrestd, sbatch ---- */

/* From v0.0.40 on. */
static bool has_number_objects(const char *version)
{
    return strncmp(version, "v0.0.", 5) == 0 && strtol(version + 5, NULL, 10) >= 40;
}

static const char *rest_number(const char *name, double value, bool object,
                               struct arena *a)
{
    return arena_printf(a,
                        object ? "{\"%s\": {\"set\": true, \"infinite\": false, "
                                 "\"number\": %.0f}}"
                               : "{\"%s\": %.0f}",
                        name, value);
}

/* A text that has no control characters, as JSON. */
static const char *json_text(const char *text, struct arena *a)
{
    char *out = NEW(a, char, 2 * strlen(text) + 3), *at = out;

    *at++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            *at++ = '\\';
        *at++ = *text;
    }
    *at = '"';
    return out;
}

bool slurm_action_rest(const struct slurm_action *action, const char *version,
                       struct slurm_rest *out, struct arena *a)
{
    bool objects = has_number_objects(version);
    const char *body = NULL;

    switch (action->kind) {
    case SLURM_ACT_PRIORITY:
        body = rest_number("priority", action->value, objects, a);
        break;
    case SLURM_ACT_NICE: /* a plain number in all versions */
        body = rest_number("nice", action->value, false, a);
        break;
    case SLURM_ACT_TIME_LIMIT:
        body = rest_number("time_limit", minutes_up(action->value), objects, a);
        break;
    case SLURM_ACT_BEGIN:
        body = rest_number("begin_time", floor(action->value), objects, a);
        break;
    case SLURM_ACT_HOLD:
        body = "{\"hold\": true}";
        break;
    case SLURM_ACT_RELEASE:
        body = "{\"hold\": false}";
        break;
    case SLURM_ACT_DRAIN:
    case SLURM_ACT_RESUME:
        if (!objects)
            return false; /* nodes cannot be changed before */
        body = action->kind == SLURM_ACT_RESUME
                   ? "{\"state\": [\"RESUME\"]}"
                   : arena_printf(a, "{\"state\": [\"DRAIN\"], \"reason\": %s}",
                                  json_text(arena_printf(a, "gridplan: %s",
                                                         action->reason ? action->reason
                                                                        : "advice"),
                                            a));
        break;
    default:
        return false;
    }
    *out = (struct slurm_rest){
        .method = "POST",
        .path = is_of_node(action->kind)
                    ? arena_printf(a, "/slurm/%s/node/%s", version, action->resource_id)
                    : arena_printf(a, "/slurm/%s/job/%s", version, action->job_id),
        .body = body,
    };
    return true;
}

const char *slurm_action_option(const struct slurm_action *action, double tz_offset_s,
                                struct arena *a)
{
    switch (action->kind) {
    case SLURM_ACT_PRIORITY:
        return arena_printf(a, "--priority=%.0f", action->value);
    case SLURM_ACT_NICE:
        return arena_printf(a, "--nice=%.0f", action->value);
    case SLURM_ACT_TIME_LIMIT:
        return arena_printf(a, "--time=%.0f", minutes_up(action->value));
    case SLURM_ACT_BEGIN:
        return arena_printf(a, "--begin=%s", local_time(action->value, tz_offset_s, a));
    case SLURM_ACT_HOLD:
        return "--hold";
    default:
        return NULL;
    }
}
