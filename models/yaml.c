/* yaml.c - a subset of YAML 1.2 as a tree.
 *
 * Recursive descent. A node of a block stands right of its parent's column `outer` (a
 * list below a key may stand at the key's own). Whether a line begins a map is decided by
 * looking ahead for a ':' behind its first scalar. After a mistake the rest of the text
 * is taken as read, so that everything ends at once.
 */
#include "models/yaml.h"

#include "models/base/budget_read.h"
#include "models/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODE_STEPS = 16,     /* what a node costs, about */
    KEY_MAX_BYTES = 1024 /* of a key, which stands on one line */
};

struct anchor {
    const char *name;
    const struct yaml_node *node; /* NULL: it is being read */
    struct anchor *next;
};

struct text {
    char *bytes;
    size_t length, size;
};

struct reader {
    const char *begin, *at, *end;
    const char *line_begin;
    uint32_t line;
    size_t depth, alias_nodes;
    struct anchor *anchors; /* the last one first */
    const char *pointer;
    bool failed, cancelled;
    struct arena *arena;
    struct error *err;
};

/* ---- places and mistakes ---- */

static uint32_t column(const struct reader *r)
{
    return (uint32_t)(r->at - r->line_begin) + 1;
}

__attribute__((format(printf, 5, 6))) static void mistake(struct reader *r, uint32_t line,
                                                          uint32_t at_column,
                                                          enum item_code code,
                                                          const char *format, ...)
{
    char text[256];
    va_list args;

    if (r->failed)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    invalid(r->err, r->pointer, code, "line %u, column %u: %s", line, at_column, text);
    r->failed = true;
    r->at = r->end;
}

/* Of the text at the place that is reached. */
#define HERE(r) (r)->line, column(r)

static char peek(const struct reader *r, size_t ahead)
{
    return (size_t)(r->end - r->at) > ahead ? r->at[ahead] : 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Blank, line end, or the end of the text. */
static bool is_space(const struct reader *r, size_t ahead)
{
    char c = peek(r, ahead);

    return (size_t)(r->end - r->at) <= ahead || is_blank(c) || c == '\n' || c == '\r';
}

static bool is_line_end(const struct reader *r)
{
    return r->at == r->end || *r->at == '\n' ||
           (*r->at == '\r' && (r->at + 1 == r->end || r->at[1] == '\n'));
}

static void skip_line_end(struct reader *r)
{
    if (r->at < r->end && *r->at == '\r')
        r->at++;
    if (r->at < r->end && *r->at == '\n') {
        r->at++;
        r->line++;
    }
    r->line_begin = r->at;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static void skip_rest_of_line(struct reader *r)
{
    while (!is_line_end(r))
        r->at++;
    skip_line_end(r);
}

/* Indentation at the beginning of a line. A tab there is only let pass where nothing
 * follows it. */
static void skip_indentation(struct reader *r)
{
    while (r->at < r->end && *r->at == ' ')
        r->at++;
    if (r->at < r->end && *r->at == '\t') {
        const char *tab = r->at;

        skip_blanks(r);
        if (is_line_end(r))
            return;
        r->at = tab;
        mistake(r, HERE(r), ITEM_NOT_ALLOWED, "a tab in the indentation");
    }
}

/* "---" or "..." at the beginning of a line. */
static bool is_mark(const struct reader *r, char c)
{
    return r->at == r->line_begin && peek(r, 0) == c && peek(r, 1) == c &&
           peek(r, 2) == c && is_space(r, 3);
}

/* Over blanks, comments and lines ends to what comes next. */
static void skip_to_token(struct reader *r)
{
    while (r->at < r->end) {
        if (budget_read_step(1)) {
            r->cancelled = r->failed = true;
            r->at = r->end;
            return;
        }
        if (r->at == r->line_begin)
            skip_indentation(r);
        else
            skip_blanks(r);
        if (r->at < r->end && *r->at == '#' &&
            (r->at == r->begin || r->at == r->line_begin || is_blank(r->at[-1])))
            while (!is_line_end(r))
                r->at++;
        if (r->at == r->end || !is_line_end(r))
            return;
        skip_line_end(r);
    }
}

/* Nothing but a comment may follow on the line. */
static void expect_line_end(struct reader *r)
{
    const char *from = r->at;

    skip_blanks(r);
    if (r->at < r->end && *r->at == '#' && (r->at > from || is_blank(from[-1])))
        while (!is_line_end(r))
            r->at++;
    if (!is_line_end(r))
        mistake(r, HERE(r), ITEM_MALFORMED, "'%.1s' is not expected here", r->at);
}

/* ---- texts ---- */

static void add(struct reader *r, struct text *t, const char *bytes, size_t count)
{
    if (t->length + count + 1 > t->size) {
        size_t size = t->size ? t->size * 2 : 64;

        while (size < t->length + count + 1)
            size *= 2;
        t->bytes = t->bytes ? GROW(r->arena, t->bytes, char, t->size, size)
                            : NEW(r->arena, char, size);
        t->size = size;
    }
    memcpy(t->bytes + t->length, bytes, count);
    t->length += count;
    t->bytes[t->length] = 0;
}

static void add_times(struct reader *r, struct text *t, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(r, t, &c, 1);
}

static void trim(struct text *t)
{
    while (t->length > 0 && is_blank(t->bytes[t->length - 1]))
        t->bytes[--t->length] = 0;
}

static struct yaml_node *new_node(struct reader *r, enum yaml_kind kind)
{
    struct yaml_node *node = NEW(r->arena, struct yaml_node, 1);

    if (budget_read_step(NODE_STEPS)) {
        r->cancelled = r->failed = true;
        r->at = r->end;
    }
    *node = (struct yaml_node){
        .kind = kind, .text = "", .line = r->line, .column = column(r), .size = 1};
    return node;
}

/* What is not there: null. */
static const struct yaml_node *nothing(struct reader *r)
{
    struct yaml_node *node = new_node(r, YAML_SCALAR);

    node->plain = true;
    return node;
}

/* Line ends between parts of a scalar: one is a blank, of more all but the first stay. */
static void fold(struct reader *r, struct text *t, size_t ends)
{
    if (ends == 1)
        add(r, t, " ", 1);
    else
        add_times(r, t, '\n', ends - 1);
}

/* ---- quoted scalars ---- */

/* A line end within quotes: blanks before it and behind go. */
static void fold_quoted(struct reader *r, struct text *t, size_t keep)
{
    size_t ends = 0;

    while (t->length > keep && is_blank(t->bytes[t->length - 1]))
        t->bytes[--t->length] = 0;
    while (r->at < r->end && is_line_end(r)) {
        skip_line_end(r);
        ends++;
        if (is_mark(r, '-') || is_mark(r, '.')) {
            mistake(r, HERE(r), ITEM_MALFORMED, "the document ends within quotes");
            return;
        }
        skip_blanks(r);
    }
    fold(r, t, ends);
}

static void read_single_quoted(struct reader *r, struct text *t)
{
    uint32_t line = r->line, at_column = column(r);

    r->at++;
    while (r->at < r->end) {
        if (*r->at == '\'' && peek(r, 1) == '\'') {
            add(r, t, "'", 1);
            r->at += 2;
        } else if (*r->at == '\'') {
            r->at++;
            return;
        } else if (is_line_end(r)) {
            fold_quoted(r, t, 0);
        } else {
            add(r, t, r->at++, 1);
        }
    }
    mistake(r, line, at_column, ITEM_CUT, "the quotes are not closed");
}

static void add_code_point(struct reader *r, struct text *t, uint32_t code)
{
    char bytes[4];
    size_t count;

    if (code < 0x80) {
        bytes[0] = (char)code;
        count = 1;
    } else if (code < 0x800) {
        bytes[0] = (char)(0xc0 | code >> 6);
        bytes[1] = (char)(0x80 | (code & 0x3f));
        count = 2;
    } else if (code < 0x10000) {
        bytes[0] = (char)(0xe0 | code >> 12);
        bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[2] = (char)(0x80 | (code & 0x3f));
        count = 3;
    } else {
        bytes[0] = (char)(0xf0 | code >> 18);
        bytes[1] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[2] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[3] = (char)(0x80 | (code & 0x3f));
        count = 4;
    }
    add(r, t, bytes, count);
}

static bool hex(const struct reader *r, size_t digits, uint32_t *code)
{
    *code = 0;
    for (size_t i = 0; i < digits; i++) {
        char c = peek(r, i);
        uint32_t digit;

        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (uint32_t)((c | 32) - 'a' + 10);
        else
            return false;
        *code = *code << 4 | digit;
    }
    return true;
}

/* Behind the backslash. */
static void read_escape(struct reader *r, struct text *t)
{
    static const struct {
        char letter;
        uint32_t code;
    } letters[] = {{'a', 7},      {'b', 8},     {'t', 9},     {'\t', 9},   {'n', 10},
                   {'v', 11},     {'f', 12},    {'r', 13},    {'e', 27},   {' ', ' '},
                   {'"', '"'},    {'/', '/'},   {'\\', '\\'}, {'N', 0x85}, {'_', 0xa0},
                   {'L', 0x2028}, {'P', 0x2029}};
    size_t digits;
    uint32_t code;
    char c = peek(r, 0);

    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        if (r->at < r->end && c == letters[i].letter) {
            r->at++;
            add_code_point(r, t, letters[i].code);
            return;
        }
    digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    r->at++;
    if (digits == 0 || !hex(r, digits, &code) || code == 0 || code > 0x10ffff ||
        (code >= 0xd800 && code < 0xe000)) {
        r->at--;
        mistake(r, HERE(r), ITEM_MALFORMED, "'\\%.1s' is no escape that is understood",
                r->at < r->end ? r->at : "");
        return;
    }
    r->at += digits;
    add_code_point(r, t, code);
}

static void read_double_quoted(struct reader *r, struct text *t)
{
    uint32_t line = r->line, at_column = column(r);
    size_t keep = 0; /* blanks that an escape wrote are not trimmed */

    r->at++;
    while (r->at < r->end) {
        if (*r->at == '"') {
            r->at++;
            return;
        }
        if (*r->at != '\\' && !is_line_end(r)) {
            add(r, t, r->at++, 1);
            continue;
        }
        if (*r->at != '\\') {
            fold_quoted(r, t, keep);
            continue;
        }
        r->at++;
        if (r->at < r->end && is_line_end(r)) { /* goes on, without a blank */
            skip_line_end(r);
            skip_blanks(r);
        } else {
            read_escape(r, t);
        }
        keep = t->length;
    }
    mistake(r, line, at_column, ITEM_CUT, "the quotes are not closed");
}

static struct yaml_node *read_quoted(struct reader *r)
{
    struct yaml_node *node = new_node(r, YAML_SCALAR);
    struct text t = {0};

    if (r->at == r->end)
        return node;
    add(r, &t, "", 0);
    if (*r->at == '"')
        read_double_quoted(r, &t);
    else
        read_single_quoted(r, &t);
    node->text = t.bytes;
    return node;
}

/* ---- plain scalars ---- */

/* May a plain scalar begin here? */
static bool begins_plain(const struct reader *r, bool flow)
{
    char c = peek(r, 0), next = peek(r, 1);

    if (r->at == r->end)
        return false;
    if (c == '-' || c == '?' || c == ':')
        return !is_space(r, 1) && !(flow && strchr(",[]{}", next));
    return !strchr(",[]{}#&*!|>'\"%@`", c);
}

/* It ends before this character of its line. */
static bool ends_plain(const struct reader *r, bool flow)
{
    char c = *r->at;

    if (c == ':')
        return is_space(r, 1) || (flow && strchr(",[]{}", peek(r, 1)));
    if (c == '#')
        return r->at > r->line_begin && is_blank(r->at[-1]);
    return flow && strchr(",[]{}", c);
}

static void read_plain_line(struct reader *r, bool flow, struct text *t)
{
    const char *from = r->at, *to;

    while (!is_line_end(r) && !ends_plain(r, flow))
        r->at++;
    to = r->at;
    while (to > from && is_blank(to[-1]))
        to--;
    add(r, t, from, (size_t)(to - from));
}

/* Whether the next line that is not empty goes on with the scalar; ends: line ends until
 * there. */
static bool goes_on(struct reader *r, uint32_t outer, bool flow, size_t *ends)
{
    struct reader before = *r;

    *ends = 0;
    if (r->at < r->end && *r->at == '#')
        return false;
    while (r->at < r->end && is_line_end(r)) {
        skip_line_end(r);
        ++*ends;
        skip_indentation(r);
    }
    if (*ends > 0 && r->at < r->end && !r->failed && (flow || column(r) > outer) &&
        *r->at != '#' &&
        !(r->at == r->line_begin && (is_mark(r, '-') || is_mark(r, '.'))) &&
        !(flow && strchr(",[]{}:", *r->at)))
        return true;
    if (r->failed)
        return false;
    *r = before;
    return false;
}

static struct yaml_node *read_plain(struct reader *r, uint32_t outer, bool flow)
{
    struct yaml_node *node = new_node(r, YAML_SCALAR);
    struct text t = {0};
    size_t ends;

    if (!begins_plain(r, flow)) {
        mistake(r, HERE(r), ITEM_MALFORMED, "a value cannot begin here");
        return node;
    }
    read_plain_line(r, flow, &t);
    while (!r->failed && goes_on(r, outer, flow, &ends)) {
        fold(r, &t, ends);
        read_plain_line(r, flow, &t);
        if (budget_read_step(1))
            break;
    }
    if (!flow && r->at < r->end && *r->at == ':' && is_space(r, 1))
        mistake(r, HERE(r), ITEM_MALFORMED, "a ':' within a value over several lines");
    trim(&t);
    node->text = t.bytes;
    node->plain = true;
    return node;
}

/* ---- blocks of text ---- */

struct block {
    bool folded;
    char chomp;      /* '-', '+' or 0 */
    uint32_t indent; /* columns of its text, 0: the first line says */
};

static void read_block_head(struct reader *r, uint32_t outer, struct block *b)
{
    b->folded = *r->at++ == '>';
    for (int i = 0; i < 2 && r->at < r->end; i++) {
        if (!b->chomp && (*r->at == '-' || *r->at == '+'))
            b->chomp = *r->at++;
        else if (!b->indent && *r->at >= '1' && *r->at <= '9')
            b->indent = outer + (uint32_t)(*r->at++ - '0');
    }
    expect_line_end(r);
    skip_line_end(r);
}

/* Columns of the first line that is not empty. */
static uint32_t find_indent(const struct reader *r, uint32_t outer)
{
    const char *p = r->at, *begin = r->at;

    while (p < r->end) {
        while (p < r->end && *p == ' ')
            p++;
        if (p < r->end && *p != '\n' && *p != '\r')
            break;
        while (p < r->end && *p != '\n')
            p++;
        p += p < r->end;
        begin = p;
    }
    return (uint32_t)(p - begin) > outer ? (uint32_t)(p - begin) : outer + 1;
}

/* Steps over the indentation; false: the line is no part of the block. */
static bool enter_line(struct reader *r, uint32_t indent, bool *empty)
{
    const char *p = r->at;

    while (p < r->end && *p == ' ' && (uint32_t)(p - r->at) < indent)
        p++;
    *empty = p == r->end || *p == '\n' || (*p == '\r' && p + 1 < r->end && p[1] == '\n');
    if (p == r->end && p == r->at)
        return false;
    if (!*empty && (uint32_t)(p - r->at) < indent)
        return false;
    r->at = p;
    return true;
}

static void read_block_lines(struct reader *r, const struct block *b, struct text *t)
{
    size_t ends = 0; /* line ends behind the last text */
    bool empty, was_text = false, was_wide = false;

    while (r->at < r->end && enter_line(r, b->indent, &empty)) {
        const char *from = r->at;

        if (budget_read_step(1))
            break;
        if (!empty) {
            bool wide = is_blank(*r->at); /* deeper lines keep their ends */

            if (was_text && b->folded && !wide && !was_wide)
                fold(r, t, ends);
            else
                add_times(r, t, '\n', ends);
            while (!is_line_end(r))
                r->at++;
            add(r, t, from, (size_t)(r->at - from));
            was_text = true;
            was_wide = wide;
            ends = 0;
        }
        ends += r->at < r->end;
        skip_line_end(r);
    }
    if (b->chomp == '+')
        add_times(r, t, '\n', ends);
    else if (b->chomp != '-' && was_text)
        add(r, t, "\n", 1);
}

static struct yaml_node *read_block(struct reader *r, uint32_t outer)
{
    struct yaml_node *node = new_node(r, YAML_SCALAR);
    struct block b = {0};
    struct text t = {0};

    add(r, &t, "", 0);
    read_block_head(r, outer, &b);
    if (b.indent == 0)
        b.indent = find_indent(r, outer);
    if (!r->failed)
        read_block_lines(r, &b, &t);
    node->text = t.bytes;
    return node;
}

/* ---- anchors and aliases ---- */

static const char *read_name(struct reader *r)
{
    const char *from = ++r->at;

    while (r->at < r->end && !is_space(r, 0) && !strchr(",[]{}", *r->at))
        r->at++;
    if (r->at == from)
        mistake(r, HERE(r), ITEM_MALFORMED, "the name of an anchor is missing");
    return arena_text(r->arena, from, (size_t)(r->at - from));
}

static const struct yaml_node *read_alias(struct reader *r)
{
    uint32_t line = r->line, at_column = column(r);
    const char *name = read_name(r);
    const struct anchor *x = r->anchors;

    while (x && strcmp(x->name, name) != 0)
        x = x->next;
    if (!x || !x->node) {
        mistake(r, line, at_column, ITEM_UNKNOWN_ID,
                x ? "the alias '%.40s' is within its own anchor"
                  : "there is no anchor '%.40s' before its alias",
                name);
        return new_node(r, YAML_SCALAR);
    }
    r->alias_nodes += x->node->size;
    if (r->alias_nodes > YAML_ALIAS_NODES_MAX)
        mistake(r, line, at_column, ITEM_TOO_LONG, "aliases stand for more than %d nodes",
                YAML_ALIAS_NODES_MAX);
    return x->node;
}

static struct anchor *new_anchor(struct reader *r)
{
    struct anchor *x = NEW(r->arena, struct anchor, 1);

    x->name = read_name(r);
    x->next = r->anchors;
    r->anchors = x;
    return x;
}

static void refuse_tag(struct reader *r)
{
    if (r->at < r->end && *r->at == '!')
        mistake(r, HERE(r), ITEM_NOT_ALLOWED, "tags are not understood");
}

/* ---- lists and maps ---- */

struct items {
    struct yaml_item *list;
    size_t count, room;
};

static void add_item(struct reader *r, struct items *x, struct yaml_node *of,
                     const struct yaml_item *item)
{
    if (x->count == x->room) {
        size_t room = x->room ? 2 * x->room : 4;

        x->list = x->list ? GROW(r->arena, x->list, struct yaml_item, x->room, room)
                          : NEW(r->arena, struct yaml_item, room);
        x->room = room;
    }
    x->list[x->count++] = *item;
    of->size += item->value->size;
    of->items = x->list;
    of->count = x->count;
}

static int by_key(const void *a, const void *b)
{
    const struct yaml_item *x = *(const struct yaml_item *const *)a;
    const struct yaml_item *y = *(const struct yaml_item *const *)b;
    int order = strcmp(x->key, y->key);

    if (order != 0)
        return order;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static void check_keys(struct reader *r, const struct yaml_node *map)
{
    const struct yaml_item **sorted = NEW(r->arena, const struct yaml_item *, map->count);

    for (size_t i = 0; i < map->count; i++)
        sorted[i] = &map->items[i];
    qsort(sorted, map->count, sizeof(*sorted), by_key);
    for (size_t i = 1; i < map->count; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            mistake(r, sorted[i]->line, sorted[i]->column, ITEM_DUPLICATE,
                    "the key '%.40s' is there twice", sorted[i]->key);
}

static void refuse_key(struct reader *r)
{
    if (r->at < r->end && strchr("?[{", *r->at))
        mistake(r, HERE(r), ITEM_NOT_ALLOWED, "a key must be a scalar");
    else
        mistake(r, HERE(r), ITEM_MALFORMED, "a key is missing");
}

static const char *read_plain_key(struct reader *r, bool flow,
                                  const struct yaml_item *item)
{
    struct text t = {0};
    bool plain = begins_plain(r, flow);

    add(r, &t, "", 0);
    if (plain)
        read_plain_line(r, flow, &t);
    else
        refuse_key(r);
    if (plain && strcmp(t.bytes, "<<") == 0)
        mistake(r, item->line, item->column, ITEM_NOT_ALLOWED,
                "merge keys are not understood");
    return t.bytes;
}

/* A key without anchor and tag. */
static const char *read_bare_key(struct reader *r, bool flow,
                                 const struct yaml_item *item)
{
    const struct yaml_node *key = NULL;
    char c = '\0';

    if (r->at < r->end)
        c = *r->at;
    if (c == '*') {
        key = read_alias(r);
        if (key->kind != YAML_SCALAR)
            mistake(r, item->line, item->column, ITEM_NOT_ALLOWED,
                    "a key must be a scalar");
    } else if (c == '"' || c == '\'') {
        key = read_quoted(r);
    } else if (flow && c == ':') {
        mistake(r, HERE(r), ITEM_MALFORMED, "a key is missing");
    } else {
        return read_plain_key(r, flow, item);
    }
    return key && key->text ? key->text : "";
}

/* The key of a map, a scalar; its place is that of *item. */
static void read_key(struct reader *r, bool flow, struct yaml_item *item)
{
    item->line = r->line;
    item->column = column(r);
    if (r->at < r->end && *r->at == '&') {
        struct anchor *x = new_anchor(r);

        skip_blanks(r);
        read_key(r, flow, item);
        if (!r->failed) {
            struct yaml_node *node = new_node(r, YAML_SCALAR);

            node->text = item->key;
            node->plain = true;
            x->node = node;
        }
        return;
    }
    refuse_tag(r);
    item->key = read_bare_key(r, flow, item);
}

static const struct yaml_node *read_flow(struct reader *r);

/* Behind the key, at its ':' if there is one. */
static void read_flow_value(struct reader *r, struct yaml_item *item)
{
    skip_to_token(r);
    if (r->at < r->end && *r->at == ':') {
        r->at++;
        skip_to_token(r);
        item->value = peek(r, 0) == ',' || peek(r, 0) == '}' || peek(r, 0) == ']'
                          ? nothing(r)
                          : read_flow(r);
    } else {
        item->value = nothing(r);
    }
}

/* [a: b] is a list of a map with one key. */
static const struct yaml_node *pair_of(struct reader *r, const struct yaml_node *key)
{
    struct yaml_node *map = new_node(r, YAML_MAP);
    struct items x = {0};
    struct yaml_item item = {.key = key->text, .line = key->line, .column = key->column};

    if (key->kind != YAML_SCALAR)
        mistake(r, key->line, key->column, ITEM_NOT_ALLOWED, "a key must be a scalar");
    else if (key->plain && strcmp(key->text, "<<") == 0)
        mistake(r, key->line, key->column, ITEM_NOT_ALLOWED,
                "merge keys are not understood");
    read_flow_value(r, &item);
    add_item(r, &x, map, &item);
    return map;
}

/* An element of a list, or a pair of a map, in brackets. */
static void read_element(struct reader *r, bool is_map, struct yaml_item *item)
{
    if (is_map) {
        read_key(r, true, item);
        read_flow_value(r, item);
        return;
    }
    item->line = r->line;
    item->column = column(r);
    item->value = read_flow(r);
    skip_to_token(r);
    if (r->at < r->end && *r->at == ':')
        item->value = pair_of(r, item->value);
}

/* What is behind an element. */
static void read_comma(struct reader *r, char close)
{
    skip_to_token(r);
    if (r->at < r->end && *r->at == ',')
        r->at++;
    else if (r->at < r->end && *r->at != close)
        mistake(r, HERE(r), ITEM_MALFORMED, "',' or '%c' is expected", close);
}

/* A list or a map in brackets. */
static const struct yaml_node *read_brackets(struct reader *r)
{
    bool is_map = *r->at == '{';
    struct yaml_node *node = new_node(r, is_map ? YAML_MAP : YAML_LIST);
    uint32_t line = r->line, at_column = column(r);
    char close = is_map ? '}' : ']';
    struct items x = {0};

    r->at++;
    for (;;) {
        struct yaml_item item = {0};

        skip_to_token(r);
        if (r->failed)
            return node;
        if (r->at == r->end) {
            mistake(r, line, at_column, ITEM_CUT, "the '%c' is not closed",
                    is_map ? '{' : '[');
            return node;
        }
        if (*r->at == close)
            break;
        read_element(r, is_map, &item);
        if (r->failed)
            return node;
        add_item(r, &x, node, &item);
        read_comma(r, close);
    }
    r->at++;
    if (is_map)
        check_keys(r, node);
    return node;
}

/* A node within brackets. */
static const struct yaml_node *read_flow(struct reader *r)
{
    struct anchor *anchor = NULL;
    const struct yaml_node *node;

    if (++r->depth > YAML_DEPTH_MAX)
        mistake(r, HERE(r), ITEM_TOO_DEEP, "nested deeper than %d", YAML_DEPTH_MAX);
    if (r->at < r->end && *r->at == '&') {
        anchor = new_anchor(r);
        skip_to_token(r);
    }
    refuse_tag(r);
    if (r->at < r->end && (*r->at == '[' || *r->at == '{'))
        node = read_brackets(r);
    else if (r->at < r->end && (*r->at == '"' || *r->at == '\''))
        node = read_quoted(r);
    else if (r->at < r->end && *r->at == '*' && !anchor)
        node = read_alias(r);
    else
        node = read_plain(r, 0, true);
    if (anchor)
        anchor->node = node;
    r->depth--;
    return node;
}

static const struct yaml_node *read_node(struct reader *r, uint32_t outer,
                                         bool below_key);

/* The ':' between a key and its value. */
static bool is_colon(const struct reader *r, const char *p)
{
    return *p == ':' &&
           (p + 1 == r->end || is_blank(p[1]) || p[1] == '\n' || p[1] == '\r');
}

/* Behind the quoted text at p, and blanks. */
static const char *behind_quoted(const char *p, const char *limit)
{
    char quote = *p++;

    while (p < limit && *p != quote && *p != '\n')
        p += *p == '\\' && quote == '"' && p + 1 < limit ? 2 : 1;
    p += p < limit;
    while (p < limit && is_blank(*p))
        p++;
    return p;
}

/* Is there a key, and ':' behind it, on this line? */
static bool begins_pair(const struct reader *r)
{
    const char *p = r->at, *limit = r->end;

    if ((size_t)(limit - p) > KEY_MAX_BYTES)
        limit = p + KEY_MAX_BYTES;
    if (p < limit && (*p == '"' || *p == '\'')) {
        p = behind_quoted(p, limit);
        return p < limit && is_colon(r, p);
    }
    if (p < limit && (*p == '[' || *p == '{'))
        return false;
    for (; p < limit && *p != '\n'; p++) {
        if (*p == '#' && p > r->at && is_blank(p[-1]))
            return false;
        if (is_colon(r, p))
            return true;
    }
    return false;
}

/* "- " */
static bool begins_entry(const struct reader *r)
{
    return peek(r, 0) == '-' && is_space(r, 1);
}

static const struct yaml_node *read_map(struct reader *r, uint32_t at_column)
{
    struct yaml_node *node = new_node(r, YAML_MAP);
    struct items x = {0};

    while (!r->failed && r->at < r->end && column(r) == at_column && !is_mark(r, '-') &&
           !is_mark(r, '.')) {
        struct yaml_item item = {0};

        if (begins_entry(r) || !begins_pair(r)) {
            mistake(r, HERE(r), ITEM_MALFORMED, "a key and ':' are expected");
            break;
        }
        read_key(r, false, &item);
        skip_blanks(r);
        if (r->failed || r->at == r->end || *r->at != ':') {
            mistake(r, HERE(r), ITEM_MALFORMED, "':' is expected behind the key");
            break;
        }
        r->at++;
        item.value = read_node(r, at_column, true);
        if (r->failed)
            break;
        add_item(r, &x, node, &item);
        skip_to_token(r);
    }
    if (!r->failed && r->at < r->end && column(r) > at_column)
        mistake(r, HERE(r), ITEM_MALFORMED,
                "this is indented deeper than the map it is in");
    check_keys(r, node);
    return node;
}

static const struct yaml_node *read_list(struct reader *r, uint32_t at_column)
{
    struct yaml_node *node = new_node(r, YAML_LIST);
    struct items x = {0};

    while (!r->failed && r->at < r->end && column(r) == at_column && begins_entry(r) &&
           !is_mark(r, '-')) {
        struct yaml_item item = {.line = r->line, .column = column(r)};

        r->at++;
        item.value = read_node(r, at_column, false);
        if (r->failed)
            break;
        add_item(r, &x, node, &item);
        skip_to_token(r);
    }
    if (!r->failed && r->at < r->end && column(r) > at_column)
        mistake(r, HERE(r), ITEM_MALFORMED,
                "this is indented deeper than the list it is in");
    return node;
}

/* A scalar, or something in brackets, that stands in a block. */
static const struct yaml_node *read_leaf(struct reader *r, uint32_t outer)
{
    const struct yaml_node *node;

    switch (*r->at) {
    case '|':
    case '>':
        return read_block(r, outer - (outer > 0));
    case '[':
    case '{':
        node = read_brackets(r);
        break;
    case '"':
    case '\'':
        node = read_quoted(r);
        break;
    case '*':
        node = read_alias(r);
        break;
    default:
        node = read_plain(r, outer, false);
        break;
    }
    if (!r->failed)
        expect_line_end(r);
    return node;
}

/* What stands here, or on the next lines right of the column `outer`. */
static const struct yaml_node *read_here(struct reader *r, uint32_t outer, bool below_key)
{
    uint32_t line = r->line;
    bool list;

    skip_to_token(r);
    if (r->failed || r->at == r->end || is_mark(r, '-') || is_mark(r, '.'))
        return nothing(r);
    list = begins_entry(r);
    if (column(r) <= outer &&
        !(list && below_key && r->line > line && column(r) == outer))
        return nothing(r);
    if (below_key && r->line == line) { /* behind "key:" */
        if (list) {
            mistake(r, HERE(r), ITEM_MALFORMED, "a list begins on a line of its own");
            return nothing(r);
        }
        if (begins_pair(r) && *r->at != '"' && *r->at != '\'') {
            mistake(r, HERE(r), ITEM_MALFORMED, "a map begins on a line of its own");
            return nothing(r);
        }
        return read_leaf(r, outer);
    }
    if (list)
        return read_list(r, column(r));
    if (peek(r, 0) == '?' && is_space(r, 1)) {
        mistake(r, HERE(r), ITEM_NOT_ALLOWED, "a key must be a scalar");
        return nothing(r);
    }
    if (begins_pair(r))
        return read_map(r, column(r));
    return read_leaf(r, outer);
}

static const struct yaml_node *read_node(struct reader *r, uint32_t outer, bool below_key)
{
    struct anchor *anchor = NULL;
    const struct yaml_node *node;
    uint32_t line = r->line;

    if (++r->depth > YAML_DEPTH_MAX)
        mistake(r, HERE(r), ITEM_TOO_DEEP, "nested deeper than %d", YAML_DEPTH_MAX);
    skip_blanks(r);
    if (r->line == line && r->at < r->end) {
        refuse_tag(r);
        /* On a line with a key the anchor is the key's. */
        if (peek(r, 0) == '&' && (below_key || !begins_pair(r))) {
            anchor = new_anchor(r);
            skip_blanks(r);
            refuse_tag(r);
        }
    }
    node = read_here(r, outer, below_key);
    if (anchor)
        anchor->node = node;
    r->depth--;
    return node;
}

/* ---- the document ---- */

/* "%YAML 1.2" and "---". */
static void read_head(struct reader *r)
{
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0)
        r->at = r->line_begin = r->begin = r->at + 3;
    skip_to_token(r);
    while (r->at < r->end && *r->at == '%' && r->at == r->line_begin) {
        if (r->end - r->at < 5 || memcmp(r->at, "%YAML", 5) != 0)
            mistake(r, HERE(r), ITEM_NOT_ALLOWED,
                    "only the directive %%YAML is understood");
        if (r->failed)
            return;
        skip_rest_of_line(r);
        skip_to_token(r);
    }
    if (is_mark(r, '-'))
        r->at += 3;
}

static void read_end(struct reader *r)
{
    skip_to_token(r);
    if (is_mark(r, '.')) {
        r->at += 3;
        skip_to_token(r);
    }
    if (r->failed || r->at == r->end)
        return;
    if (is_mark(r, '-'))
        mistake(r, HERE(r), ITEM_NOT_ALLOWED, "a second document");
    else
        mistake(r, HERE(r), ITEM_MALFORMED, "'%.1s' is not expected here", r->at);
}

enum error_code yaml_read(const char *text, size_t length, const char *pointer,
                          const struct yaml_node **root, struct arena *a,
                          struct error *err)
{
    const char *begin = text + lines_mark_bytes(text, length);
    struct reader r = {
        .begin = begin,
        .at = begin,
        .end = text + length,
        .line_begin = begin,
        .line = 1,
        .pointer = pointer,
        .arena = a,
        .err = err,
    };

    read_head(&r);
    *root = read_node(&r, 0, false);
    read_end(&r);
    if (r.cancelled)
        return fail(err, ERR_CANCELLED, "", "the client went away");
    return r.failed ? ERR_INVALID : OK;
}

const struct yaml_node *yaml_member(const struct yaml_node *map, const char *key)
{
    for (size_t i = 0; map && map->kind == YAML_MAP && i < map->count; i++)
        if (strcmp(map->items[i].key, key) == 0)
            return map->items[i].value;
    return NULL;
}

bool yaml_is_null(const struct yaml_node *node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};

    if (!node)
        return true;
    for (size_t i = 0; node->kind == YAML_SCALAR && node->plain && i < 5; i++)
        if (strcmp(node->text, words[i]) == 0)
            return true;
    return false;
}

bool yaml_number(const struct yaml_node *node, double *number)
{
    return node && node->kind == YAML_SCALAR && line_number(node->text, number);
}
