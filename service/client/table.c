/* table.c - rows of an answer as lines for a terminal. */
#include "service/client/table.h"

#include "models/base/text_width.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 32, CELL_MAX_BYTES = 64, GAP = 2 };

struct column {
    const char *name;
    size_t width; /* columns of the terminal */
    bool numbers;
};

struct table {
    struct column columns[COLUMNS_MAX];
    size_t count;
};

/* Lists that say what went wrong, or how it was found. */
static bool is_aside(const char *name)
{
    static const char *const names[] = {
        "warnings", "unplaced", "unplaced_classes",  "unplaced_ids",
        "bounds",   "tiers",    "improved_at_steps", "errors"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static const cJSON *main_list(const cJSON *answer)
{
    for (const cJSON *m = answer->child; m; m = m->next)
        if (cJSON_IsArray(m) && cJSON_IsObject(m->child) && !is_aside(m->string))
            return m;
    return NULL;
}

static void add_short(char text[CELL_MAX_BYTES], const char *more)
{
    size_t length = strlen(text);

    snprintf(text + length, CELL_MAX_BYTES - length, "%s%s", length ? ", " : "", more);
}

/* Of a list its texts, or the first text of each of its objects: the reasons of what has
 * no place. */
static bool list_cell(const cJSON *list, char text[CELL_MAX_BYTES])
{
    *text = 0;
    for (const cJSON *v = list->child; v; v = v->next) {
        const cJSON *m = cJSON_IsObject(v) ? v->child : v;

        while (m && m != v && !cJSON_IsString(m))
            m = m->next;
        if (m && cJSON_IsString(m))
            add_short(text, m->valuestring);
    }
    return *text;
}

/* The first and the last copy of a job: "0-7". */
static bool span_cell(const cJSON *v, char text[CELL_MAX_BYTES])
{
    if (!v->string || strcmp(v->string, "indexes") != 0 || cJSON_GetArraySize(v) != 2)
        return false;
    snprintf(text, CELL_MAX_BYTES, "%.0f-%.0f", v->child->valuedouble,
             v->child->next->valuedouble);
    return true;
}

/* Control characters become '?'. */
static void make_plain(char *text)
{
    char *to = text;

    while (*text) {
        struct text_character c = text_character(text);

        if (c.is_control)
            *to = '?';
        else
            memmove(to, text, c.length);
        to += c.is_control ? 1 : c.length;
        text += c.length;
    }
    *to = 0;
}

/* A value as text; false: it has no short one. Control characters are shown as '?'. */
static bool cell(const cJSON *v, char text[CELL_MAX_BYTES])
{
    if (cJSON_IsNumber(v))
        snprintf(text, CELL_MAX_BYTES, "%.10g", v->valuedouble);
    else if (cJSON_IsString(v))
        snprintf(text, CELL_MAX_BYTES, "%s", v->valuestring);
    else if (cJSON_IsBool(v))
        snprintf(text, CELL_MAX_BYTES, "%s", cJSON_IsTrue(v) ? "yes" : "no");
    else if (!v || cJSON_IsNull(v))
        snprintf(text, CELL_MAX_BYTES, "-");
    else if (!cJSON_IsArray(v) || (!span_cell(v, text) && !list_cell(v, text)))
        return false;
    if (strlen(text) + 1 == CELL_MAX_BYTES)
        for (size_t n = CELL_MAX_BYTES - 1; n > 0 && (text[n - 1] & 0x80); n--)
            text[n - 1] = 0; /* no half of a character */
    make_plain(text);
    return true;
}

static struct column *column_of(struct table *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return &t->columns[i];
    if (t->count == COLUMNS_MAX)
        return NULL;
    t->columns[t->count] = (struct column){name, text_columns(name), true};
    return &t->columns[t->count++];
}

static void measure(const cJSON *list, struct table *t)
{
    char text[CELL_MAX_BYTES];

    for (const cJSON *row = list->child; row; row = row->next)
        for (const cJSON *v = row->child; v; v = v->next) {
            struct column *c = cell(v, text) ? column_of(t, v->string) : NULL;
            size_t width = c ? text_columns(text) : 0;

            if (!c)
                continue;
            c->width = width > c->width ? width : c->width;
            c->numbers = c->numbers && !cJSON_IsString(v) && !cJSON_IsArray(v);
        }
}

/* Columns that fit; at least one. */
static size_t fitting(const struct table *t, size_t width)
{
    size_t used = 0, count = 0;

    while (count < t->count && (count == 0 || used + t->columns[count].width <= width))
        used += t->columns[count++].width + GAP;
    return count;
}

static void add_cell(struct text_buffer *b, const struct column *c, const char *text,
                     bool last)
{
    size_t length = text_columns(text);
    int blanks = (int)(c->width > length ? c->width - length : 0);

    if (c->numbers)
        text_addf(b, "%*s%s%s", blanks, "", text, last ? "\n" : "  ");
    else if (last)
        text_addf(b, "%s\n", text);
    else
        text_addf(b, "%s%*s  ", text, blanks, "");
}

static void print_rows(const cJSON *list, const struct table *t, size_t count,
                       struct text_buffer *b)
{
    char text[CELL_MAX_BYTES];

    for (size_t i = 0; i < count; i++)
        add_cell(b, &t->columns[i], t->columns[i].name, i + 1 == count);
    for (const cJSON *row = list->child; row; row = row->next)
        for (size_t i = 0; i < count; i++) {
            const cJSON *v = cJSON_GetObjectItemCaseSensitive(row, t->columns[i].name);

            if (!cell(v, text))
                snprintf(text, sizeof(text), "...");
            add_cell(b, &t->columns[i], text, i + 1 == count);
        }
    if (count == t->count)
        return;
    text_addf(b, "(left out:");
    for (size_t i = count; i < t->count; i++)
        text_addf(b, " %s", t->columns[i].name);
    text_addf(b, ")\n");
}

enum error_code table_print(const char *answer, const char *of, size_t width,
                            struct text_buffer *b, bool *found, struct error *err)
{
    const cJSON *list;
    struct table t = {0};
    cJSON *root;

    *found = false;
    TRY(json_tree(answer, strlen(answer), &root, b->arena, err));
    list = of ? cJSON_GetObjectItemCaseSensitive(root, of) : main_list(root);
    if (cJSON_IsArray(list) && cJSON_IsObject(list->child)) {
        measure(list, &t);
        *found = t.count > 0;
        print_rows(list, &t, fitting(&t, width), b);
    }
    return text_finish(b, err);
}

/* ---- texts ---- */

static const char *text_member(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static bool is_meant(const cJSON *object, const char *const *by, const char *word)
{
    for (size_t i = 0; by[i]; i++) {
        const char *name = text_member(object, by[i]);

        if (name && (!word || strcmp(name, word) == 0))
            return true;
    }
    return false;
}

static void add_line(const cJSON *object, const char *const *by, struct text_buffer *b)
{
    static const char *const says[] = {"title", "purpose", "meaning"};
    const char *text = NULL;

    for (size_t i = 0; by[i]; i++) {
        const char *name = text_member(object, by[i]);

        if (name)
            text_addf(b, "%s%-*s", i ? "  " : "", i ? 1 : 28, name);
    }
    for (size_t i = 0; !text && i < sizeof(says) / sizeof(says[0]); i++)
        text = text_member(object, says[i]);
    text_addf(b, "  %s\n", text ? text : "");
}

/* Scalars as they are, in lists one line for each element. */
static void add_value(const cJSON *v, struct text_buffer *b)
{
    char text[CELL_MAX_BYTES];

    if (cJSON_IsString(v))
        text_addf(b, "%s", v->valuestring);
    else if (!cJSON_IsArray(v) && cell(v, text))
        text_addf(b, "%s", text);
    for (const cJSON *m = cJSON_IsObject(v) ? v->child : NULL; m; m = m->next) {
        text_addf(b, "%s%s: ", m == v->child ? "" : "; ", m->string);
        add_value(m, b);
    }
    for (const cJSON *m = cJSON_IsArray(v) ? v->child : NULL; m; m = m->next) {
        if (cJSON_IsObject(m))
            text_addf(b, "\n    - ");
        else
            text_addf(b, m == v->child ? "" : ", ");
        add_value(m, b);
    }
}

static void add_all(const cJSON *object, struct text_buffer *b)
{
    for (const cJSON *m = object->child; m; m = m->next) {
        text_addf(b, "%s: ", m->string);
        add_value(m, b);
        text_addf(b, "\n");
    }
    text_addf(b, "\n");
}

enum error_code table_texts(const char *answer, const char *const *by, const char *word,
                            struct text_buffer *b, bool *found, struct error *err)
{
    cJSON *root;

    *found = false;
    TRY(json_tree(answer, strlen(answer), &root, b->arena, err));
    for (const cJSON *list = root->child; list; list = list->next)
        for (const cJSON *o = cJSON_IsArray(list) ? list->child : NULL; o; o = o->next) {
            if (!is_meant(o, by, word))
                continue;
            *found = true;
            if (word)
                add_all(o, b);
            else
                add_line(o, by, b);
        }
    return text_finish(b, err);
}
