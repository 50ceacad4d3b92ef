/* explain.c - a decision in sentences.
 *
 * What an answer says is told as it says it. Why a job is not elsewhere no answer says:
 * the request is asked again with a requirement that holds the job on one resource, for
 * each resource, and the plans are compared. The seed is that of the request, so the same
 * document is explained by the same words.
 */
#include "service/client/explain.h"

#include "models/base/duration.h"
#include "models/base/plural.h"
#include "models/base/text_width.h"
#include "service/client/set.h"
#include "service/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_MAX = 10, NEXT_BEST = 3, TRY_ARENA_BYTES = 1 << 30 };

struct explaining {
    const struct explain *e;
    cJSON *request, *answer, *snapshot;
    struct text_buffer *b;
    struct arena *arena;
};

/* A plan with the job on one resource. */
struct elsewhere {
    const char *resource_id;
    double speed;                /* mips_total, 1 when it is not said */
    double makespan_s, finish_s; /* NAN: not known */
    const char *lacks;           /* why not there; NULL: it can run there */
};

/* ---- JSON ---- */

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
}

static const char *text(const cJSON *object, const char *name)
{
    const cJSON *m = member(object, name);

    return cJSON_IsString(m) ? m->valuestring : "";
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *m = member(object, name);

    if (!cJSON_IsNumber(m))
        return NAN;
    return m->valuedouble;
}

static size_t length_of(const cJSON *list)
{
    return cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
}

static const char *id_of(const cJSON *row)
{
    const char *id = text(row, "job_id");

    if (!*id)
        id = text(row, "task_id");
    return *id ? id : text(row, "id");
}

/* Behind the name of a job with count: which copies of it the row is about. */
struct copies_text {
    char text[48];
};

static struct copies_text copies_of(const cJSON *row)
{
    const cJSON *both = member(row, "indexes"), *one = member(row, "index");
    struct copies_text said = {""};

    if (cJSON_IsNumber(one))
        snprintf(said.text, sizeof(said.text), "[%.0f]", one->valuedouble);
    else if (cJSON_IsArray(both) && cJSON_GetArraySize(both) == 2)
        snprintf(said.text, sizeof(said.text), "[%.0f-%.0f]", both->child->valuedouble,
                 both->child->next->valuedouble);
    return said;
}

static bool lists_id(const cJSON *ids, const char *id)
{
    for (const cJSON *i = ids ? ids->child : NULL; i; i = i->next)
        if (cJSON_IsString(i) && strcmp(i->valuestring, id) == 0)
            return true;
    return false;
}

/* The row of this id; NULL: there is none. */
static const cJSON *row_of(const cJSON *list, const char *id)
{
    for (const cJSON *r = list ? list->child : NULL; r; r = r->next)
        if (strcmp(id_of(r), id) == 0)
            return r;
    return NULL;
}

/* ---- words ---- */

/* Names come from others: what a terminal might obey becomes '?'. */
static void add_safe(struct text_buffer *b, const char *words)
{
    while (*words) {
        struct text_character c = text_character(words);

        text_add(b, c.is_control ? "?" : words, c.is_control ? 1 : c.length);
        words += c.length;
    }
}

__attribute__((format(printf, 2, 3))) static void say(struct explaining *x,
                                                      const char *format, ...)
{
    va_list args;
    int length;
    char *line;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    line = length < 0 ? NULL : TRY_NEW(x->arena, char, (size_t)length + 1);
    if (!line) {
        x->b->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(line, (size_t)length + 1, format, args);
    va_end(args);
    add_safe(x->b, line);
}

static void end_paragraph(struct explaining *x)
{
    while (x->b->length && x->b->data[x->b->length - 1] == ' ')
        x->b->length--;
    text_addf(x->b, "\n");
}

struct spoken {
    char text[40];
};

static struct spoken time_of(double time_s)
{
    struct spoken said;

    duration_text(time_s, said.text, sizeof(said.text));
    return said;
}

/* ---- the decision ---- */

static void tell_algorithm(struct explaining *x)
{
    const char *asked = text(x->request, "algorithm"), *by = text(x->answer, "algorithm");
    const char *because = text(x->answer, "because");

    say(x, "%s", x->e->endpoint + strlen("/v1/"));
    if (*by)
        say(x, " by %s: ", by);
    if (!*by)
        say(x, ".");
    else if (strcmp(asked, "auto") == 0)
        say(x, "auto chose it.");
    else if (*asked)
        say(x, "the request names it.");
    else
        say(x, "the request names none, and it is the one that is taken then.");
    if (*because)
        say(x, " Because: %s.", because);
    end_paragraph(x);
}

/* The bound that is largest. */
static const char *bound_kind(const struct explaining *x)
{
    const cJSON *list = member(x->answer, "bounds");
    double most = -HUGE_VAL;
    const char *kind = "";

    for (const cJSON *r = list ? list->child : NULL; r; r = r->next)
        if (number(r, "value_s") > most) {
            most = number(r, "value_s");
            kind = text(r, "kind");
        }
    return kind;
}

static void tell_quality(struct explaining *x)
{
    const cJSON *o = member(x->answer, "objective");
    const char *status = text(x->answer, "status"), *kind = bound_kind(x);
    double makespan_s = number(o, "makespan_s"), bound_s = number(o, "lower_bound_s");
    double gap = number(o, "gap_ratio");
    bool is_optimal = strcmp(status, "optimal") == 0;

    if (!isnan(makespan_s))
        say(x, "All that has a place has ended after %s. ", time_of(makespan_s).text);
    if (is_optimal)
        say(x, "It is proven that no plan is better. ");
    else if (bound_s > 0)
        say(x, "No plan can be faster than %s", time_of(bound_s).text);
    if (!is_optimal && bound_s > 0 && *kind)
        say(x, " (bound: %s)", kind);
    if (!is_optimal && bound_s > 0 && gap > 0)
        say(x, ": this one is at most %.1f %% above the best possible. ", 100 * gap);
    else if (!is_optimal && bound_s > 0)
        say(x, gap <= 0 ? ": this one is not slower. " : ". ");
    if (strcmp(status, "cut") == 0)
        say(x, "The search ended with its time limit; more time may find a better one. ");
    if (strcmp(status, "infeasible") == 0)
        say(x, "It is infeasible: not all that was asked for can be. ");
    end_paragraph(x);
}

/* The chain that ends last, in the order of time. */
static void tell_critical(struct explaining *x)
{
    const cJSON *path = member(x->answer, "critical_path");
    const cJSON *list = length_of(path) ? path : member(x->answer, "critical_tasks");
    size_t count = length_of(list), told = 0;

    if (!count)
        return;
    if (count == 1)
        say(x, "The end hangs on 1 task: ");
    else
        say(x, "The end hangs on %zu tasks, one behind the other: ", count);
    for (const cJSON *r = list->child; r && told < 4 * LISTED_MAX; r = r->next, told++) {
        const char *id = cJSON_IsString(r) ? r->valuestring : id_of(r);
        double wait_s = number(r, "wait_s");

        say(x, "%s%s", told ? ", " : "", id);
        if (*text(r, "reason"))
            say(x, " (%s%s%s)", text(r, "reason"), wait_s > 0 ? ", " : "",
                wait_s > 0 ? time_of(wait_s).text : "");
    }
    say(x, told < count ? " ..." : ".");
    end_paragraph(x);
}

/* ---- what has no place ---- */

static void tell_reason(struct explaining *x, const cJSON *reason)
{
    const cJSON *miss = member(reason, "nearest_miss");
    const cJSON *amounts = member(reason, "amounts");
    double count = number(reason, "resource_count"), short_of = number(miss, "shortfall");

    say(x, " %s", text(reason, "reason"));
    if (count > 0)
        say(x, " (on %.0f resource%s)", count, count == 1 ? "" : "s");
    if (*text(reason, "detail"))
        say(x, ": %s", text(reason, "detail"));
    for (const cJSON *m = length_of(amounts) ? amounts->child : NULL; m; m = m->next)
        say(x, "%s %s needs %.10g, the largest has %.10g",
            m == amounts->child ? ":" : ",", text(m, "name"), number(m, "needed"),
            number(m, "largest"));
    say(x, ".");
    if (short_of > 0 && short_of < 1)
        say(x, " What would help: the nearest miss is %s, which has %.3g %% too little.",
            text(miss, "resource_id"), 100 * short_of);
    else if (short_of > 0)
        say(x, " The nearest miss is %s.", text(miss, "resource_id"));
}

static void tell_unplaced_row(struct explaining *x, const cJSON *row)
{
    const cJSON *reasons = member(row, "reasons");
    const char *detail = text(row, "detail"), *reason = text(row, "reason");

    say(x, "%s%s has no place:", id_of(row), copies_of(row).text);
    if (*reason || (*detail && !length_of(reasons)))
        say(x, " %s%s%s.", reason, *reason && *detail ? ": " : "", detail);
    for (const cJSON *r = reasons ? reasons->child : NULL; r; r = r->next)
        tell_reason(x, r);
    end_paragraph(x);
}

/* Jobs with equal needs and reasons; of one that is named, its class. */
static void tell_class(struct explaining *x, const cJSON *row)
{
    const cJSON *reasons = member(row, "reasons");
    double count = number(row, "job_count");

    if (x->e->job_id)
        say(x, "%s has no place, as %.0f other%s:", x->e->job_id, count - 1,
            count - 1 == 1 ? "" : "s");
    else
        say(x, "%.0f job%s, as %s, ha%s no place:", count, count == 1 ? "" : "s",
            text(row, "example_job_id"), count == 1 ? "s" : "ve");
    for (const cJSON *r = reasons ? reasons->child : NULL; r; r = r->next)
        tell_reason(x, r);
    end_paragraph(x);
}

static void tell_waiting_row(struct explaining *x, const cJSON *row)
{
    double now_s = number(x->request, "now_s"), at_s = number(row, "estimated_start_s");

    say(x, "%s%s waits (%s): %s.", id_of(row), copies_of(row).text, text(row, "reason"),
        text(row, "detail"));
    if (!isnan(at_s))
        say(x, " It is expected to start in %s.",
            time_of(fmax(0, at_s - (isnan(now_s) ? 0 : now_s))).text);
    end_paragraph(x);
}

typedef void tell_fn(struct explaining *x, const cJSON *row);

static void tell_list(struct explaining *x, const char *name, tell_fn *tell)
{
    const cJSON *list = member(x->answer, name);
    size_t count = length_of(list), told = 0;

    for (const cJSON *r = count ? list->child : NULL; r && told < LISTED_MAX; r = r->next)
        if (!x->e->job_id || strcmp(id_of(r), x->e->job_id) == 0 ||
            lists_id(member(r, "job_ids"), x->e->job_id)) {
            tell(x, r);
            told++;
        }
    if (!x->e->job_id && told < count) {
        say(x, "... and %zu more in `%s`; name one to hear of it.", count - told, name);
        end_paragraph(x);
    }
}

/* ---- why here ---- */

/* Place of the row of this id in a list; -1: it has none. */
static int place_in(const cJSON *list, const char *id)
{
    int place = 0;

    for (const cJSON *r = list ? list->child : NULL; r; r = r->next, place++)
        if (strcmp(id_of(r), id) == 0)
            return place;
    return -1;
}

/* JSON pointer to the job in the request, and the job; NULL: it is not there. */
static const char *pointer_to_job(const struct explaining *x, const cJSON **job)
{
    const cJSON *jobs = member(x->request, "jobs"), *w = member(x->request, "workflow");
    const cJSON *list = length_of(jobs) ? jobs : member(w, "tasks");
    int place = place_in(list, x->e->job_id), number_of = 0;

    if (place >= 0) {
        *job = cJSON_GetArrayItem(list, place);
        return arena_try_printf(x->arena, "%s/%d", jobs ? "/jobs" : "/workflow/tasks",
                                place);
    }
    w = member(x->request, "workflows");
    for (w = w ? w->child : NULL; w; w = w->next, number_of++) {
        place = place_in(member(w, "tasks"), x->e->job_id);
        if (place < 0)
            continue;
        *job = cJSON_GetArrayItem(member(w, "tasks"), place);
        return arena_try_printf(x->arena, "/workflows/%d/tasks/%d", number_of, place);
    }
    return NULL;
}

/* The requirement that holds a job on one resource; NULL: its name cannot be written. */
static const char *held_on(const char *requirement, const char *resource_id,
                           struct arena *a)
{
    if (strpbrk(resource_id, "\"\\"))
        return NULL;
    return *requirement ? arena_try_printf(a, "(%s) && resource_id == \"%s\"",
                                           requirement, resource_id)
                        : arena_try_printf(a, "resource_id == \"%s\"", resource_id);
}

/* Sets a member of the document, if it has a value. */
static enum error_code put(const char **document, const char *pointer, const char *value,
                           struct arena *a, struct error *err)
{
    const char *change = arena_try_printf(a, "%s=%s", pointer, value);

    return change ? set_value(*document, strlen(*document), change, document, a, err)
                  : fail_memory(err);
}

/* The request with the job held there. */
static enum error_code asked_elsewhere(const struct explaining *x,
                                       const char *resource_id, const char **document,
                                       struct arena *a, struct error *err)
{
    const cJSON *job;
    const char *pointer = pointer_to_job(x, &job), *held;

    held = pointer ? held_on(text(job, "requirement"), resource_id, a) : NULL;
    pointer = held ? arena_try_printf(a, "%s/requirement", pointer) : NULL;
    if (!pointer)
        return fail(err, ERR_INVALID, "", "it cannot be held there");
    *document = x->e->request;
    TRY(put(document, pointer, held, a, err));
    if (member(x->request, "store"))
        TRY(put(document, "/store", "false", a, err));
    if (member(x->request, "lease"))
        TRY(put(document, "/lease", "null", a, err));
    if (!x->snapshot)
        return OK;
    TRY(put(document, "/snapshot", x->e->snapshot, a, err));
    return member(x->request, "snapshot_id")
               ? put(document, "/snapshot_id", "null", a, err)
               : OK;
}

static const cJSON *place_of(const cJSON *answer, const char *id)
{
    const cJSON *row = row_of(member(answer, "placements"), id);

    return row ? row : row_of(member(answer, "schedule"), id);
}

/* Why the job cannot be there: a reason beside the one that holds it there. */
static const char *lack_of(const struct explaining *x, const cJSON *answer)
{
    const cJSON *row = row_of(member(answer, "unplaced"), x->e->job_id);
    const cJSON *reasons = member(row, "reasons");
    const char *said = "its requirement is not true there";

    for (const cJSON *r = reasons ? reasons->child : NULL; r; r = r->next)
        if (strcmp(text(r, "reason"), "requirement") != 0)
            said = *text(r, "detail") ? text(r, "detail") : text(r, "reason");
    return arena_try_text(x->arena, said, strlen(said));
}

/* All of it takes its memory from `a`. */
static enum error_code ask_elsewhere(const struct explaining *x, struct elsewhere *there,
                                     struct arena *a, struct error *err)
{
    struct asked_reply reply = {.text = ""};
    const char *body;
    const cJSON *row;
    cJSON *answer;

    TRY(asked_elsewhere(x, there->resource_id, &body, a, err));
    TRY(ask_reply(x->e->who, x->e->endpoint, body, strlen(body), &reply, a, err));
    if (reply.status >= 300)
        return fail(err, ERR_INVALID, "", "status %d", reply.status);
    TRY(json_tree(reply.text, strlen(reply.text), &answer, a, err));
    row = place_of(answer, x->e->job_id);
    if (row) {
        there->makespan_s = number(member(answer, "objective"), "makespan_s");
        there->finish_s = number(row, "finish_s");
    } else {
        there->lacks = lack_of(x, answer);
    }
    return OK;
}

/* false: nobody can say. */
static bool try_elsewhere(const struct explaining *x, struct elsewhere *there)
{
    struct arena *a = arena_create(TRY_ARENA_BYTES);
    struct error ignored = {.arena = a};
    bool known;

    there->makespan_s = there->finish_s = NAN;
    there->lacks = NULL;
    known = a && ask_elsewhere(x, there, a, &ignored) == OK;
    arena_close(a);
    return known;
}

static int faster_first(const void *a, const void *b)
{
    const struct elsewhere *x = a, *y = b;

    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    return x < y ? -1 : 1;
}

/* The better plan first; those that cannot be last, as they came. */
static bool is_better(const struct elsewhere *x, const struct elsewhere *y)
{
    if (!x->lacks != !y->lacks)
        return !x->lacks;
    if (x->lacks)
        return false;
    if (x->makespan_s != y->makespan_s)
        return x->makespan_s < y->makespan_s;
    return x->finish_s < y->finish_s;
}

/* "5 s later than here", "as early as here". */
static void say_more(struct explaining *x, double more_s)
{
    if (isnan(more_s))
        return;
    if (fabs(more_s) < 1e-9)
        say(x, "as early as here");
    else
        say(x, "%s %s than here", time_of(fabs(more_s)).text,
            more_s > 0 ? "later" : "earlier");
}

static void tell_next_best(struct explaining *x, struct elsewhere *list, size_t count,
                           const struct elsewhere *here)
{
    for (size_t told = 0; told < NEXT_BEST && told < count; told++) {
        size_t best = told;
        struct elsewhere taken;

        for (size_t i = told + 1; i < count; i++)
            if (is_better(&list[i], &list[best]))
                best = i;
        taken = list[best];
        memmove(list + told + 1, list + told, (best - told) * sizeof(*list));
        list[told] = taken;
        if (taken.lacks) {
            say(x, " Not on %s: %s.", taken.resource_id, taken.lacks);
        } else {
            say(x, " On %s it would end ", taken.resource_id);
            say_more(x, taken.finish_s - here->finish_s);
            if (!isnan(taken.makespan_s - here->makespan_s))
                say(x, ", and the whole plan ");
            say_more(x, taken.makespan_s - here->makespan_s);
            say(x, ".");
        }
    }
}

/* Resources but the one, the fastest first; their number. */
static size_t others(const struct explaining *x, const char *resource_id,
                     struct elsewhere **out)
{
    const cJSON *snapshot = x->snapshot ? x->snapshot : member(x->request, "snapshot");
    const cJSON *list = member(snapshot, "resources");
    size_t count = 0;

    *out = TRY_NEW(x->arena, struct elsewhere, length_of(list) + 1);
    for (const cJSON *r = *out && length_of(list) ? list->child : NULL; r; r = r->next)
        if (*text(r, "id") && strcmp(text(r, "id"), resource_id) != 0)
            (*out)[count++] = (struct elsewhere){
                .resource_id = text(r, "id"),
                .speed = isnan(number(r, "mips_total")) ? 1 : number(r, "mips_total")};
    if (count)
        qsort(*out, count, sizeof(**out), faster_first);
    return count;
}

static void tell_place(struct explaining *x, const cJSON *row)
{
    const char *resource_id = text(row, "resource_id");
    struct elsewhere *list, here = {.resource_id = resource_id};
    size_t count = others(x, resource_id, &list), tried = 0, known = 0;
    double start_s = number(row, "start_s"), finish_s = number(row, "finish_s");

    say(x, "%s%s runs on %s", id_of(row), copies_of(row).text,
        *resource_id ? resource_id : "several resources");
    if (!isnan(start_s))
        say(x, ", from %s", time_of(start_s).text);
    if (!isnan(finish_s))
        say(x, " to %s", time_of(finish_s).text);
    say(x, ".");
    if (!*resource_id || !count || !try_elsewhere(x, &here) || here.lacks) {
        end_paragraph(x);
        return;
    }
    for (; tried < count && tried < EXPLAIN_RESOURCES_MAX; tried++) {
        struct elsewhere there = list[tried];

        if (try_elsewhere(x, &there))
            list[known++] = there;
    }
    say(x, " Held on another one and planned anew:");
    tell_next_best(x, list, known, &here);
    if (tried < count)
        say(x, " (%zu of %s %s tried, the fastest first.)", tried,
            counted(count, "other resource").text, plural(tried, "was", "were"));
    end_paragraph(x);
}

static void tell_start(struct explaining *x, const cJSON *row)
{
    say(x, "%s%s starts now.", id_of(row), copies_of(row).text);
    end_paragraph(x);
}

static enum error_code tell_job(struct explaining *x, struct error *err)
{
    const cJSON *row = place_of(x->answer, x->e->job_id);
    size_t before = x->b->length;

    if (row)
        tell_place(x, row);
    tell_list(x, "starts", tell_start);
    tell_list(x, "waiting", tell_waiting_row);
    tell_list(x, "unplaced", tell_unplaced_row);
    tell_list(x, "unplaced_classes", tell_class);
    if (x->b->length == before)
        return fail(err, ERR_INVALID, "JOB_ID", "the answer does not speak of '%.100s'",
                    x->e->job_id);
    return OK;
}

static void tell_warnings(struct explaining *x)
{
    const cJSON *list = member(x->answer, "warnings");

    for (const cJSON *w = length_of(list) ? list->child : NULL; w; w = w->next) {
        say(x, "Warning: %s", cJSON_IsString(w) ? w->valuestring : text(w, "detail"));
        end_paragraph(x);
    }
}

static enum error_code tell(struct explaining *x, struct error *err)
{
    if (!cJSON_IsObject(x->request) || !cJSON_IsObject(x->answer))
        return fail(err, ERR_INVALID, "", "there is no request with its answer");
    tell_algorithm(x);
    tell_quality(x);
    if (x->e->job_id) {
        TRY(tell_job(x, err));
    } else {
        tell_critical(x);
        tell_list(x, "waiting", tell_waiting_row);
        tell_list(x, "unplaced", tell_unplaced_row);
        tell_list(x, "unplaced_classes", tell_class);
        tell_warnings(x);
    }
    return text_finish(x->b, err);
}

enum error_code explain(const struct explain *e, struct text_buffer *b, struct error *err)
{
    struct explaining x = {.e = e, .b = b, .arena = b->arena};

    TRY(json_tree(e->request, strlen(e->request), &x.request, b->arena, err));
    TRY(json_tree(e->answer, strlen(e->answer), &x.answer, b->arena, err));
    if (e->snapshot)
        TRY(json_tree(e->snapshot, strlen(e->snapshot), &x.snapshot, b->arena, err));
    return tell(&x, err);
}
