/* session/part.c - of a session's definition only the tasks that events are about.
 *
 * To read all of it takes as long as to store thousands of events. What is left out of
 * the text is looked over once: its ids, and where it ends.
 */
#include "models/session/part.h"

#include "models/json_walk.h"

#include <string.h>

struct cutting {
    struct json_walk w;
    const struct name_index *wanted;
    const char *from; /* what of the text is neither in `out` nor left out */
    char *out, *end;  /* as long as the text at most */
    bool has_tasks;
};

static void add(struct cutting *c, const char *from, const char *to)
{
    memcpy(c->end, from, (size_t)(to - from));
    c->end += to - from;
}

static void take_up_to(struct cutting *c, const char *at)
{
    add(c, c->from, at);
    c->from = at;
}

/* Goes past a task. */
static bool is_wanted(struct cutting *c)
{
    const char *name;
    bool found = false;

    json_walk_enter(&c->w, '{');
    while ((name = json_walk_member(&c->w)))
        if (strcmp(name, "id") == 0)
            found = name_index_find(c->wanted, json_walk_string(&c->w)) != NAME_NOT_FOUND;
        else
            json_walk_skip(&c->w);
    return found;
}

static void cut_tasks(struct cutting *c)
{
    size_t kept = 0;

    json_walk_enter(&c->w, '[');
    take_up_to(c, c->w.at);
    while (json_walk_element(&c->w)) {
        const char *begin = c->w.at;

        if (!is_wanted(c))
            continue;
        if (kept++ > 0)
            *c->end++ = ',';
        add(c, begin, c->w.at);
    }
    c->from = c->w.at - 1; /* the bracket */
    c->has_tasks = true;
}

/* Which tasks wait for which is not asked. */
static void cut_edges(struct cutting *c)
{
    json_walk_enter(&c->w, '[');
    take_up_to(c, c->w.at);
    while (json_walk_element(&c->w))
        json_walk_skip(&c->w);
    c->from = c->w.at - 1;
}

static void cut_workflow(struct cutting *c)
{
    const char *name;

    json_walk_enter(&c->w, '{');
    while ((name = json_walk_member(&c->w))) {
        bool is_list = json_walk_type(&c->w) == '[';

        if (is_list && strcmp(name, "tasks") == 0)
            cut_tasks(c);
        else if (is_list && strcmp(name, "edges") == 0)
            cut_edges(c);
        else
            json_walk_skip(&c->w);
    }
}

const char *session_definition_part(const char *text, const struct name_index *wanted,
                                    struct arena *a)
{
    size_t length = strlen(text);
    struct cutting c = {.wanted = wanted, .from = text, .out = NEW(a, char, length + 1)};
    const char *name;

    c.end = c.out;
    json_walk_open(&c.w, text, length, a);
    json_walk_enter(&c.w, '{');
    while ((name = json_walk_member(&c.w)))
        if (strcmp(name, "workflow") == 0 && json_walk_type(&c.w) == '{')
            cut_workflow(&c);
        else
            json_walk_skip(&c.w);
    if (c.w.failed || !c.has_tasks)
        return text;
    take_up_to(&c, c.w.end);
    return c.out;
}
