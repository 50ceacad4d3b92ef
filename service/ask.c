/* ask.c - a decision without a service. */
#include "service/ask.h"

#include "models/base/duration.h"
#include "models/json_walk.h"
#include "service/ask_meant.h"
#include "service/client/problem_text.h"
#include "service/client/set.h"
#include "service/client/table.h"
#include "service/json.h"
#include "service/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FITTING_MAX = 64 };

/* ---- which endpoint ---- */

/* A member of an object as text, without quotes; "": there is none. */
static const char *member(const char *object, const char *name, struct arena *a)
{
    struct error err = {.arena = a};
    const char *value = NULL;

    if (!object || json_member(object, name, &value, a, &err) != OK || !value ||
        strcmp(value, "null") == 0)
        return "";
    if (*value != '"')
        return value;
    value = arena_try_text(a, value + 1, strlen(value) - 2);
    return value ? value : "";
}

/* Whether the table takes the document. */
static bool fits(const struct route *r, const char *document, size_t length,
                 struct arena *a)
{
    struct error err = {.arena = a};
    void *in = arena_try(a, r->request->size, 1);

    return in && json_read(r->request, document, length, in, NULL, a, &err) == OK;
}

size_t ask_endpoints(const struct route *routes, const char *document, size_t length,
                     const struct route **list, struct arena *a)
{
    size_t count = 0;

    for (const struct route *r = routes; r->method && count < FITTING_MAX; r++)
        if (ask_decides(r) && fits(r, document, length, a))
            list[count++] = r;
    return count;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);

    return length > wanted && strcasecmp(text + length - wanted, end) == 0;
}

enum error_code ask_wrap(const char *name, const char **document, size_t *length,
                         struct arena *a, struct error *err)
{
    static const char *const members[][2] = {{".dax", "{\"dax\":"},
                                             {".xml", "{\"dax\":"},
                                             {".stg", "{\"stg\":"},
                                             {".dot", "{\"dot\":"},
                                             {".wfformat.json", "{\"wfformat\":"},
                                             {".swf", "{\"kind\":\"queue\",\"swf\":"}};
    struct text_buffer b = {.arena = a};

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (!ends_in(name, members[i][0]))
            continue;
        text_addf(&b, "%s", members[i][1]);
        json_print_text(*document, &b);
        text_add(&b, "}", 1);
        TRY(text_finish(&b, err));
        *document = b.data;
        *length = b.length;
        return OK;
    }
    return OK;
}

/* Which of those that it fits, or looks like, is meant; NULL: that is not clear. */
static const struct route *choose(const struct route *const *list, size_t count,
                                  const struct ask *how, const char *algorithm,
                                  const struct route *meant)
{
    const char *path =
        *algorithm && how->endpoint_of ? how->endpoint_of(algorithm) : NULL;

    if (count == 1)
        return list[0];
    for (size_t i = 0; i < count; i++)
        if (path && strcmp(list[i]->path, path) == 0)
            return list[i];
    for (size_t i = 0; i < count; i++)
        if (list[i] == meant)
            return meant;
    return count ? NULL : meant;
}

static const struct route *named(const struct route *routes, const char *endpoint)
{
    for (const struct route *r = routes; r->method; r++)
        if (ask_decides(r) &&
            (strcmp(r->path, endpoint) == 0 || strcmp(r->path + 4, endpoint) == 0))
            return r;
    return NULL;
}

enum error_code ask_route(const struct route *routes, const struct ask *how,
                          const char *document, size_t length, const struct route **found,
                          struct arena *a, struct error *err)
{
    const struct route *list[FITTING_MAX];
    struct text_buffer names = {.arena = a};
    struct json_walk w;
    size_t count;

    if (how->endpoint) {
        *found = named(routes, how->endpoint);
        return *found ? OK
                      : fail(err, ERR_INVALID, "endpoint", "there is no endpoint '%s'",
                             how->endpoint);
    }
    json_walk_open(&w, document, length, a);
    json_walk_skip(&w);
    TRY(json_walk_end(&w, "document", err));
    count = ask_endpoints(routes, document, length, list, a);
    *found = choose(list, count, how, member(document, "algorithm", a),
                    ask_meant(routes, document, length, a));
    if (*found)
        return OK;
    if (!count)
        return fail(err, ERR_INVALID, "endpoint",
                    "this does not look like a request of any decision; with --endpoint "
                    "NAME, as --endpoint placements, the answer says what is wrong with "
                    "it; 'gridplan docs which' tells which there are");
    for (size_t i = 0; i < count; i++)
        text_addf(&names, " %s", list[i]->path + 4);
    TRY(text_finish(&names, err));
    return fail(err, ERR_INVALID, "endpoint",
                "the document may be for several; choose one by --endpoint:%.*s",
                (int)names.length, names.data);
}

/* ---- the answer for people ---- */

static void add_time(struct text_buffer *b, const char *name, double time_s)
{
    char text[40];

    duration_text(time_s, text, sizeof(text));
    text_addf(b, ", %s %s", name, text);
}

/* What is printed above the chart: names, and the figures that the answer has. */
static void add_head(struct text_buffer *b, const struct route *r, const char *answer)
{
    static const char *const figures[][2] = {{"makespan_s", "makespan"},
                                             {"lower_bound_s", "bound"}};
    const char *objective = member(answer, "objective", b->arena);
    const char *gap = *objective ? member(objective, "gap_ratio", b->arena) : "";

    text_addf(b, "%s, %s, %s", r->path + 4, member(answer, "algorithm", b->arena),
              member(answer, "status", b->arena));
    for (size_t i = 0; *objective && i < sizeof(figures) / sizeof(figures[0]); i++) {
        const char *value = member(objective, figures[i][0], b->arena);

        if (*value)
            add_time(b, figures[i][1], strtod(value, NULL));
    }
    if (*gap)
        text_addf(b, ", gap %.1f %%", 100 * strtod(gap, NULL));
    text_addf(b, "\n");
}

/* As the answer says, however it lists them; 0: it does not. */
static double unplaced_count(const char *answer, struct arena *a)
{
    return strtod(member(answer, "unplaced_count", a), NULL);
}

static bool is_short(const char *answer, struct arena *a)
{
    const char *unplaced = member(answer, "unplaced", a);

    return strcmp(member(answer, "status", a), "infeasible") == 0 ||
           unplaced_count(answer, a) > 0 || /* also when they are listed otherwise */
           (*unplaced && strcmp(unplaced, "[]") != 0);
}

static enum error_code show(struct request *rq, const struct ask *how,
                            const struct route *r, const char *document,
                            const char *answer, const char **text)
{
    struct text_buffer b = {.arena = rq->arena};
    bool chart_wanted = how->form != ASK_TABLE, rows_wanted = how->form != ASK_GANTT;
    const char *chart = NULL;
    bool found = false, unplaced;

    add_head(&b, r, answer);
    if (chart_wanted && how->draw(rq, document, answer, &how->look, &chart) == OK &&
        chart)
        text_addf(&b, "%s", chart);
    if (rows_wanted)
        TRY(table_print(answer, NULL, how->look.width, &b, &found, rq->err));
    if (!chart && !found)
        text_addf(&b, "%s\n", answer);
    if (rows_wanted) {
        size_t before = b.length;

        text_addf(&b, "without a place:\n");
        TRY(table_print(answer, "unplaced", how->look.width, &b, &unplaced, rq->err));
        if (!unplaced)
            TRY(table_print(answer, "unplaced_classes", how->look.width, &b, &unplaced,
                            rq->err));
        if (!unplaced)
            b.length = before;
        if (!unplaced && unplaced_count(answer, rq->arena) > 0)
            text_addf(&b, "without a place: %.0f\n", unplaced_count(answer, rq->arena));
    }
    TRY(text_finish(&b, rq->err));
    *text = b.data;
    return OK;
}

static enum error_code change(const struct ask *how, const char **document,
                              size_t *length, struct arena *a, struct error *err)
{
    for (size_t i = 0; i < how->set_count; i++) {
        TRY(set_value(*document, *length, how->sets[i], document, a, err));
        *length = strlen(*document);
    }
    return OK;
}

/* Of the service, or in the process. */
static enum error_code reply_of(struct service *service, const struct ask *how,
                                const struct route *r, const char *document,
                                size_t length, struct asked_reply *out, struct arena *a,
                                struct error *err)
{
    struct message m = {.method = "POST",
                        .path = r->path,
                        .body = document,
                        .body_length = length,
                        .accept = how->form == ASK_SVG ? "image/svg+xml" : NULL,
                        .content_type = "application/json"};
    struct reply reply;

    out->accept = m.accept;
    if (how->who && how->who->url)
        return ask_reply(how->who, r->path, document, length, out, a, err);
    route_answer(service, &m, NULL, true, &reply, a);
    out->status = reply.status;
    out->text = arena_try_text(a, reply.body, reply.body_length);
    return out->text ? OK : fail_memory(err);
}

static enum error_code save(const char *flag, const char *path, const char *text,
                            struct error *err)
{
    FILE *file = fopen(path, "we");
    bool written = file && fputs(text, file) >= 0;

    if (file && fclose(file) != 0)
        written = false;
    return written ? OK : fail(err, ERR_INVALID, flag, "%s: %s", path, strerror(errno));
}

static enum error_code tell_problem(const struct asked_reply *reply, const char **text,
                                    struct arena *a, struct error *err)
{
    struct text_buffer b = {.arena = a};

    problem_print(reply->status, reply->text, &b);
    TRY(text_finish(&b, err));
    *text = b.data;
    return OK;
}

enum error_code ask(struct service *service, const struct ask *how, const char *document,
                    size_t length, enum ask_outcome *outcome, const char **text,
                    struct arena *a, struct error *err)
{
    const struct route *r;
    struct error ignored = {.arena = a};
    struct request rq = {.service = service, .arena = a, .err = &ignored};
    struct asked_reply reply = {0};

    TRY(change(how, &document, &length, a, err));
    TRY(ask_route(service->routes, how, document, length, &r, a, err));
    TRY(reply_of(service, how, r, document, length, &reply, a, err));
    *text = reply.text;
    *outcome = reply.status >= 500   ? ASK_FAILED
               : reply.status >= 400 ? ASK_REFUSED
                                     : ASK_DONE;
    if (*outcome != ASK_DONE)
        return how->json_problems ? OK : tell_problem(&reply, text, a, err);
    if (how->save)
        TRY(save("--save", how->save, reply.text, err));
    if (how->form == ASK_SVG && how->svg_file) {
        *text = "";
        return save("--svg", how->svg_file, reply.text, err);
    }
    if (how->form == ASK_SVG)
        return OK;
    if (is_short(*text, a))
        *outcome = ASK_SHORT;
    return how->form == ASK_JSON ? OK : show(&rq, how, r, document, *text, text);
}
