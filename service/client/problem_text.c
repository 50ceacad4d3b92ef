/* problem_text.c - a problem document as lines for people. */
#include "service/client/problem_text.h"

#include "models/base/text_width.h"
#include "models/json_walk.h"

#include <string.h>

/* One of `errors`. */
struct mistake {
    const char *pointer, *in, *name, *detail, *hint;
};

static void add_plain(struct text_buffer *b, const char *text)
{
    while (*text) {
        struct text_character c = text_character(text);

        text_add(b, c.is_control ? "?" : text, c.is_control ? 1 : c.length);
        text += c.length;
    }
}

static void add_mistake(struct text_buffer *b, const struct mistake *m)
{
    text_addf(b, "  ");
    if (m->in && m->name) {
        add_plain(b, m->in);
        text_addf(b, " ");
        add_plain(b, m->name);
    } else {
        add_plain(b, m->pointer && *m->pointer ? m->pointer : "the document");
    }
    text_addf(b, ": ");
    add_plain(b, m->detail ? m->detail : "");
    if (m->hint) {
        text_addf(b, "; ");
        add_plain(b, m->hint);
    }
    text_addf(b, "\n");
}

/* Takes one of the members that are texts. */
static void take_text(struct json_walk *w, const char *name,
                      const char *const *const names, const char **const *to,
                      struct arena *a)
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0) {
            *to[i] = json_walk_text(w, a);
            return;
        }
    json_walk_skip(w);
}

static void take_mistakes(struct json_walk *w, struct text_buffer *b)
{
    static const char *const names[] = {"pointer", "in", "name", "detail", "hint", NULL};
    const char *name;

    if (!json_walk_enter_if(w, '['))
        return;
    while (json_walk_element(w)) {
        struct mistake m = {0};
        const char **const to[] = {&m.pointer, &m.in, &m.name, &m.detail, &m.hint};

        if (!json_walk_enter_if(w, '{'))
            continue;
        while ((name = json_walk_member(w)))
            take_text(w, name, names, to, b->arena);
        add_mistake(b, &m);
    }
}

void problem_print(int status, const char *body, struct text_buffer *b)
{
    static const char *const names[] = {"title", "detail", "hint", "code", NULL};
    const char *title = NULL, *detail = NULL, *hint = NULL, *code = NULL, *name;
    const char **const to[] = {&title, &detail, &hint, &code};
    struct text_buffer mistakes = {.arena = b->arena};
    struct json_walk w;

    json_walk_open(&w, body, strlen(body), b->arena);
    if (json_walk_enter_if(&w, '{'))
        while ((name = json_walk_member(&w))) {
            if (strcmp(name, "errors") == 0)
                take_mistakes(&w, &mistakes);
            else
                take_text(&w, name, names, to, b->arena);
        }
    if (!title) {
        text_addf(b, "%d %s\n", status, body);
        return;
    }
    text_addf(b, "%d %s", status, title);
    if (detail && !mistakes.length)
        text_addf(b, ": ");
    if (!mistakes.length)
        add_plain(b, detail ? detail : "");
    text_addf(b, "\n");
    text_add(b, mistakes.length ? mistakes.data : "", mistakes.length);
    if (hint) {
        text_addf(b, "  ");
        add_plain(b, hint);
        text_addf(b, "\n");
    }
    if (code)
        text_addf(b, "  see: gridplan errors %s\n", code);
    b->failed = b->failed || mistakes.failed;
}
