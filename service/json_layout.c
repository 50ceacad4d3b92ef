/* json_layout.c - JSON text for readers. */
#include "service/json_layout.h"

#include "models/json_walk.h"

#include <string.h>

struct layout {
    const char *at; /* in a text that is JSON */
    struct text_buffer *b;
};

static const char *skip_spaces(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* Behind a text, number or word. */
static const char *skip_scalar(const char *p)
{
    if (*p != '"')
        return p + strcspn(p, ",]} \t\r\n");
    for (p++; *p && *p != '"'; p++)
        p += *p == '\\' && p[1];
    return *p ? p + 1 : p;
}

/* Bytes of the value on one line; more than `most`: it does not fit. */
static size_t length_of(const char *p, size_t most)
{
    size_t length = 0, depth = 0;

    do {
        const char *end;

        p = skip_spaces(p);
        if (strchr("[{]}", *p)) {
            depth = *p == '[' || *p == '{' ? depth + 1 : depth - 1;
            end = p + 1;
            length++;
        } else if (*p == ',' || *p == ':') {
            end = p + 1;
            length += 2;
        } else {
            end = skip_scalar(p);
            length += (size_t)(end - p);
        }
        p = end;
    } while (depth && *p && length <= most);
    return length;
}

/* The value on one line. */
static void add_line(struct layout *l)
{
    size_t depth = 0;

    do {
        const char *end;

        l->at = skip_spaces(l->at);
        end = strchr("[{]},:", *l->at) ? l->at + 1 : skip_scalar(l->at);
        depth += *l->at == '[' || *l->at == '{';
        depth -= *l->at == ']' || *l->at == '}';
        text_add(l->b, l->at, (size_t)(end - l->at));
        if (*l->at == ',' || *l->at == ':')
            text_add(l->b, " ", 1);
        l->at = end;
    } while (depth && *l->at);
}

static void new_line(struct layout *l, size_t depth)
{
    text_addf(l->b, "\n%*s", (int)(depth * JSON_LAYOUT_INDENT), "");
}

/* Columns that are used of the last line. */
static size_t column(const struct layout *l)
{
    size_t used = 0;

    while (used < l->b->length && l->b->data[l->b->length - 1 - used] != '\n')
        used++;
    return used;
}

/* Whether one more part of a list goes on the line that has been begun. */
static bool goes_on(const struct layout *l, const char *part, bool first)
{
    size_t used = column(l),
           rest = used < JSON_LAYOUT_WIDTH ? JSON_LAYOUT_WIDTH - used : 0;

    return !first && !strchr("[{", *part) && rest > 2 &&
           length_of(part, rest) + 2 <= rest;
}

/* A name and its colon, if one stands there. */
static void add_name(struct layout *l)
{
    const char *end = skip_scalar(l->at);

    text_add(l->b, l->at, (size_t)(end - l->at));
    l->at = skip_spaces(skip_spaces(end) + 1);
    text_add(l->b, ": ", 2);
}

static void add_value(struct layout *l, size_t depth)
{
    bool object = *l->at == '{', first = true;
    size_t used = column(l),
           rest = used < JSON_LAYOUT_WIDTH ? JSON_LAYOUT_WIDTH - used : 0;

    if (!strchr("[{", *l->at) || length_of(l->at, rest) <= rest) {
        add_line(l);
        return;
    }
    text_add(l->b, l->at, 1);
    for (l->at = skip_spaces(l->at + 1); *l->at && !strchr("]}", *l->at); first = false) {
        if (!object && goes_on(l, l->at, first))
            text_add(l->b, " ", 1);
        else
            new_line(l, depth + 1);
        if (object)
            add_name(l);
        add_value(l, depth + 1);
        l->at = skip_spaces(l->at);
        if (*l->at != ',')
            break;
        text_add(l->b, ",", 1);
        l->at = skip_spaces(l->at + 1);
    }
    new_line(l, depth);
    text_add(l->b, object ? "}" : "]", 1);
    l->at += *l->at != 0;
}

void json_layout(const char *json, struct text_buffer *b)
{
    struct error ignored = {.arena = b->arena};
    struct layout l = {.at = skip_spaces(json), .b = b};
    struct json_walk w;

    json_walk_open(&w, json, strlen(json), b->arena);
    json_walk_skip(&w);
    if (json_walk_end(&w, "", &ignored) != OK)
        text_add(b, json, strlen(json));
    else
        add_value(&l, 0);
}
