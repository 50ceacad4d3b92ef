/* ask.c - a question to gridplan: of a service by its URL, or answered in process.
 *
 * HTTP is curl's matter, which runs as a program of its own: the key goes to it by a file
 * without a name, so that it stands in no list of processes.
 */
#include "service/client/ask.h"

#include "models/json_walk.h"
#include "service/client/child.h"
#include "service/metrics.h"
#include "service/service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES_MAX = 4096, ARGUMENTS_MAX = 24 };

/* What a problem says. */
struct said {
    const char *detail, *at, *first; /* of its errors */
};

/* A text that must be one; "" if it is none. */
static const char *text_of(struct json_walk *w, struct arena *a)
{
    const char *text, *kept;

    if (json_walk_type(w) != '"') {
        json_walk_skip(w);
        return "";
    }
    text = json_walk_string(w);
    kept = arena_try_text(a, text, strlen(text));
    return kept ? kept : "";
}

static void read_errors(struct json_walk *w, struct said *s, struct arena *a)
{
    const char *name;

    json_walk_enter(w, '[');
    while (json_walk_element(w)) {
        if (*s->first || json_walk_type(w) != '{') {
            json_walk_skip(w);
            continue;
        }
        json_walk_enter(w, '{');
        while ((name = json_walk_member(w)))
            if (strcmp(name, "pointer") == 0)
                s->at = text_of(w, a);
            else if (strcmp(name, "detail") == 0)
                s->first = text_of(w, a);
            else
                json_walk_skip(w);
    }
}

/* A problem's detail and the first of its errors. */
static enum error_code refused(const char *path, int status, const char *body,
                               struct arena *a, struct error *err)
{
    struct said s = {"", "", ""};
    struct json_walk w;
    const char *name;

    json_walk_open(&w, body, strlen(body), a);
    if (json_walk_type(&w) == '{') {
        json_walk_enter(&w, '{');
        while ((name = json_walk_member(&w)))
            if (strcmp(name, "detail") == 0)
                s.detail = text_of(&w, a);
            else if (strcmp(name, "errors") == 0 && json_walk_type(&w) == '[')
                read_errors(&w, &s, a);
            else
                json_walk_skip(&w);
    }
    if (strcmp(s.detail, s.first) == 0) /* the detail of one mistake is that */
        s.detail = "";
    return fail(err, ERR_UNAVAILABLE, "", "%s: status %d: %.150s%s%.60s%s%.100s", path,
                status, s.detail, *s.detail && *s.first ? "; " : "", s.at,
                *s.first ? ": " : "", s.first);
}

static enum error_code ask_here(const struct asked *who, const char *path,
                                const char *body, size_t length,
                                struct asked_reply *reply, struct arena *a,
                                struct error *err)
{
    struct service service = {.config = who->config, .routes = who->routes};
    struct message m = {.method = body ? "POST" : "GET",
                        .path = path,
                        .body = body,
                        .body_length = length,
                        .remote_address = "unix",
                        .content_type = "application/json"};
    struct reply answer = {0};

    service.metrics = metrics_create(false);
    if (!service.metrics)
        return fail_memory(err);
    route_answer(&service, &m, NULL, true, &answer, a);
    metrics_close(service.metrics);
    reply->status = answer.status;
    reply->text = arena_try_text(a, answer.body ? answer.body : "", answer.body_length);
    return reply->text ? OK : fail_memory(err);
}

/* A file without a name with the header of the key; -1: *err says why. */
static int key_header(const char *key_file, struct error *err)
{
    char key[KEY_BYTES_MAX], header[KEY_BYTES_MAX + 64];
    int fd = open(key_file, O_RDONLY | O_CLOEXEC), made;
    ssize_t length = fd < 0 ? -1 : read(fd, key, sizeof(key) - 1);
    struct stat s;
    int used;

    if (length <= 0) {
        fail(err, ERR_INVALID, "--key-file", "%s: %s", key_file,
             fd < 0 ? strerror(errno) : "there is no key in it");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    if (fstat(fd, &s) == 0 && (s.st_mode & 077))
        fprintf(stderr, "gridplan: warning: %s: others may read it\n", key_file);
    close(fd);
    key[length] = 0;
    key[strcspn(key, "\r\n")] = 0;
    used = snprintf(header, sizeof(header), "Authorization: Bearer %s\n", key);
    made = memfd_create("header", 0); /* the child inherits it */
    if (made < 0 || write(made, header, (size_t)used) != used) {
        fail(err, ERR_INTERNAL, "", "%s", strerror(errno));
        if (made >= 0)
            close(made);
        return -1;
    }
    lseek(made, 0, SEEK_SET);
    return made;
}

/* Behind those that are there; both are ended by NULL. */
static void add_arguments(const char **list, const char *const *more)
{
    while (*list)
        list++;
    while ((*list++ = *more++))
        ;
}

static enum error_code ask_there(const struct asked *who, const char *path,
                                 const char *body, size_t length,
                                 struct asked_reply *reply, struct arena *a,
                                 struct error *err)
{
    char limit[32], header[64] = "Expect:";
    const char *accept = arena_try_printf(
        a, "Accept: %s", reply->accept ? reply->accept : "application/json");
    size_t slashes = strlen(who->url);
    const char *url, *arguments[ARGUMENTS_MAX] = {NULL};
    struct child c = {.arguments = arguments,
                      .input = body,
                      .input_length = length,
                      .time_limit_s = who->time_limit_s + 5};
    int key = -1;
    enum error_code code;

    while (slashes > 0 && who->url[slashes - 1] == '/')
        slashes--;
    url = arena_try_printf(a, "%.*s%s", (int)slashes, who->url, path);
    if (!url || !accept)
        return fail_memory(err);
    if (who->key_file) {
        key = key_header(who->key_file, err);
        if (key < 0)
            return err->code;
        snprintf(header, sizeof(header), "@/proc/self/fd/%d", key);
    }
    snprintf(limit, sizeof(limit), "%.0f", who->time_limit_s);
    add_arguments(arguments,
                  (const char *[]){"curl", "-q", "-sS", "--max-time", limit, "-H",
                                   "Content-Type: application/json", "-H", accept, "-H",
                                   header, "-w", "\n%{http_code}", NULL});
    if (body)
        add_arguments(arguments, (const char *[]){"--data-binary", "@-", NULL});
    if (who->ca_file)
        add_arguments(arguments, (const char *[]){"--cacert", who->ca_file, NULL});
    add_arguments(arguments, (const char *[]){"--url", url, NULL});
    code = child_run(&c, a, err);
    if (key >= 0)
        close(key);
    TRY(code);
    if (c.status != 0)
        return fail(err, ERR_UNAVAILABLE, "", "%s", child_problem(&c, a));
    reply->status = c.output_length > 3 ? atoi(c.output + c.output_length - 3) : 0;
    if (c.output_length > 3)
        c.output[c.output_length - 4] = 0;
    reply->text = c.output;
    return OK;
}

enum error_code ask_reply(const struct asked *who, const char *path, const char *body,
                          size_t length, struct asked_reply *reply, struct arena *a,
                          struct error *err)
{
    return who->url ? ask_there(who, path, body, length, reply, a, err)
                    : ask_here(who, path, body, length, reply, a, err);
}

enum error_code ask_post(const struct asked *who, const char *path, const char *body,
                         size_t length, const char **answer, struct arena *a,
                         struct error *err)
{
    struct asked_reply reply = {.text = ""};

    TRY(ask_reply(who, path, body, length, &reply, a, err));
    if (reply.status < 200 || reply.status >= 300)
        return refused(path, reply.status, reply.text, a, err);
    *answer = reply.text;
    return OK;
}
