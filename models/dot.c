/* dot.c - a graph in the DOT language to a workflow.
 *
 * Nodes are collected in the order in which they are first named, since an edge may name
 * one before its own statement does; they become tasks at the end.
 */
#include "models/dot.h"

#include "models/base/budget_read.h"
#include "models/base/names.h"
#include "models/lines.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { TOKEN_STEPS = 8 };

enum token_kind {
    TOKEN_END,
    TOKEN_ID,
    TOKEN_ARROW, /* -> */
    TOKEN_LINE,  /* -- */
    TOKEN_MARK,  /* one of { } [ ] = ; , : */
    TOKEN_HTML,
    TOKEN_WRONG,
};

struct token {
    enum token_kind kind;
    char mark;
    bool quoted;
    const char *text; /* of an id: as written, quotes and \" undone */
    uint64_t line;
};

struct node {
    const char *id, *label;
    uint64_t line;
    bool dashed;
    double estimate_ref_s, cpus, memory_bytes;
};

struct reader {
    const char *at, *end;
    uint64_t line;
    struct token next;
    struct node *nodes;
    size_t node_count, node_room;
    struct name_index index;
    size_t edge_count;
    bool failed;
    enum error_code code; /* of what is no mistake: memory, too large */
    struct workflow_builder *b;
    struct arena *arena;
    struct error *err;
};

/* ---- tokens ---- */

static void skip_to(struct reader *r, char c)
{
    while (r->at < r->end && *r->at != c)
        r->line += *r->at++ == '\n';
}

static bool begins(const struct reader *r, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(r->end - r->at) >= length && memcmp(r->at, text, length) == 0;
}

static void skip_comment(struct reader *r)
{
    r->at += 2;
    while (r->at < r->end && !begins(r, "*/"))
        r->line += *r->at++ == '\n';
    r->at += begins(r, "*/") ? 2 : 0;
}

/* Blanks and comments; a line that begins with '#' is one. */
static void skip_blanks(struct reader *r, bool line_begins)
{
    while (r->at < r->end) {
        if (*r->at == '\n') {
            r->line++;
            r->at++;
            line_begins = true;
        } else if (strchr(" \t\r\f\v", *r->at) && *r->at) {
            r->at++;
        } else if (begins(r, "//") || (line_begins && *r->at == '#')) {
            skip_to(r, '\n');
        } else if (begins(r, "/*")) {
            skip_comment(r);
        } else {
            return;
        }
    }
}

/* A letter of a bare id; beyond ASCII all are. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void fail_at(struct reader *r, uint64_t line, enum item_code code,
                    const char *text)
{
    if (!r->failed)
        workflow_mistake(r->b, line, code, "%s", text);
    r->failed = true;
    r->at = r->end;
    r->next.kind = TOKEN_END;
}

/* A part in quotes behind its first one, into `text` from `used` on. */
static size_t unquote(struct reader *r, char *text, size_t used)
{
    uint64_t line = r->line;

    while (r->at < r->end && *r->at != '"') {
        if (begins(r, "\\\"")) {
            r->at++;
        } else if (begins(r, "\\\n")) {
            r->at += 2;
            r->line++;
            continue;
        } else if (begins(r, "\\\\")) {
            text[used++] = *r->at++; /* the second one is no escape */
        }
        r->line += *r->at == '\n';
        text[used++] = *r->at++;
    }
    if (r->at == r->end)
        fail_at(r, line, ITEM_CUT, "the quotes are not closed");
    else
        r->at++;
    return used;
}

/* Parts may be joined by '+'. */
static void read_quoted(struct reader *r, struct token *t)
{
    const char *p = r->at + 1;
    size_t used;
    char *text;

    while (p < r->end && *p != '"')
        p += *p == '\\' && p + 1 < r->end ? 2 : 1;
    text = NEW(r->arena, char, (size_t)(p - r->at) + 2);
    r->at++;
    used = unquote(r, text, 0);
    text[used] = 0;
    t->text = text;
    for (;;) {
        struct reader before = *r;

        skip_blanks(r, false);
        if (!begins(r, "+")) {
            *r = before;
            return;
        }
        r->at++;
        skip_blanks(r, false);
        if (!begins(r, "\"")) {
            fail_at(r, r->line, ITEM_MALFORMED, "quotes are expected behind '+'");
            return;
        }
        p = r->at + 1;
        while (p < r->end && *p != '"')
            p += *p == '\\' && p + 1 < r->end ? 2 : 1;
        text = NEW(r->arena, char, used + (size_t)(p - r->at) + 2);
        memcpy(text, t->text, used);
        r->at++;
        used = unquote(r, text, used);
        text[used] = 0;
        t->text = text;
    }
}

static void read_bare(struct reader *r, struct token *t)
{
    const char *from = r->at;

    if (is_letter(*r->at)) {
        while (r->at < r->end && (is_letter(*r->at) || is_digit(*r->at)))
            r->at++;
    } else {
        r->at += *r->at == '-';
        while (r->at < r->end && is_digit(*r->at))
            r->at++;
        if (r->at < r->end && *r->at == '.')
            r->at++;
        while (r->at < r->end && is_digit(*r->at))
            r->at++;
    }
    t->text = arena_text(r->arena, from, (size_t)(r->at - from));
}

static bool begins_number(const struct reader *r)
{
    const char *p = r->at;

    p += *p == '-';
    p += p < r->end && *p == '.';
    return p < r->end && is_digit(*p);
}

/* Into r->next. */
static void advance(struct reader *r)
{
    struct token t = {.kind = TOKEN_WRONG};

    if (budget_read_step(TOKEN_STEPS)) {
        r->code = fail(r->err, ERR_CANCELLED, "", "the client went away");
        r->failed = true;
        r->at = r->end;
    }
    skip_blanks(r, false);
    t.line = r->line;
    if (r->at == r->end) {
        t.kind = TOKEN_END;
    } else if (begins(r, "->") || begins(r, "--")) {
        t.kind = r->at[1] == '>' ? TOKEN_ARROW : TOKEN_LINE;
        r->at += 2;
    } else if (*r->at == '"') {
        t.kind = TOKEN_ID;
        t.quoted = true;
        read_quoted(r, &t);
    } else if (is_letter(*r->at) || begins_number(r)) {
        t.kind = TOKEN_ID;
        read_bare(r, &t);
    } else if (*r->at == '<') {
        t.kind = TOKEN_HTML;
        r->at++;
    } else if (*r->at && strchr("{}[]=;,:", *r->at)) {
        t.kind = TOKEN_MARK;
        t.mark = *r->at++;
    }
    r->next = t;
    if (r->failed)
        r->next.kind = TOKEN_END;
}

static bool is_mark(const struct reader *r, char mark)
{
    return r->next.kind == TOKEN_MARK && r->next.mark == mark;
}

static bool is_word(const struct reader *r, const char *word)
{
    return r->next.kind == TOKEN_ID && !r->next.quoted &&
           strcasecmp(r->next.text, word) == 0;
}

/* Says what is wrong with the next token. */
static void unexpected(struct reader *r, const char *expected)
{
    if (r->next.kind == TOKEN_HTML)
        fail_at(r, r->next.line, ITEM_NOT_ALLOWED, "labels in HTML are not understood");
    else if (r->next.kind == TOKEN_LINE)
        fail_at(r, r->next.line, ITEM_NOT_ALLOWED,
                "an edge without direction; tasks need edges a -> b");
    else if (is_mark(r, ':'))
        fail_at(r, r->next.line, ITEM_NOT_ALLOWED, "ports are not understood");
    else if (is_mark(r, '{') || is_word(r, "subgraph"))
        fail_at(r, r->next.line, ITEM_NOT_ALLOWED, "subgraphs are not understood");
    else if (r->next.kind == TOKEN_END)
        fail_at(r, r->next.line, ITEM_CUT, "the text ends before the graph does");
    else
        fail_at(r, r->next.line, ITEM_MALFORMED, expected);
}

static void expect_mark(struct reader *r, char mark, const char *expected)
{
    if (is_mark(r, mark))
        advance(r);
    else
        unexpected(r, expected);
}

/* ---- nodes ---- */

static size_t node_of(struct reader *r, const char *id, uint64_t line)
{
    size_t found = name_index_find(&r->index, id);

    if (found != NAME_NOT_FOUND)
        return found;
    if (r->node_count == r->node_room) {
        size_t room = r->node_room ? 2 * r->node_room : 256;

        r->nodes = r->nodes ? GROW(r->arena, r->nodes, struct node, r->node_room, room)
                            : NEW(r->arena, struct node, room);
        r->node_room = room;
        name_index_create(&r->index, room, r->arena);
        for (size_t i = 0; i < r->node_count; i++)
            name_index_add(&r->index, r->nodes[i].id, i);
    }
    r->nodes[r->node_count] = (struct node){
        .id = id, .line = line, .estimate_ref_s = NAN, .cpus = NAN, .memory_bytes = NAN};
    name_index_add(&r->index, id, r->node_count);
    return r->node_count++;
}

/* The first line of a label, of which \n, \l and \r are line ends. */
static const char *first_line(struct reader *r, const char *label)
{
    char *line = NEW(r->arena, char, strlen(label) + 1);
    size_t used = 0;

    for (const char *p = label; *p && *p != '\n'; p++) {
        if (*p == '\\' && p[1] && strchr("nlr", p[1]))
            break;
        p += *p == '\\' && p[1];
        line[used++] = *p;
    }
    line[used] = 0;
    return line;
}

static void set_number(struct reader *r, const struct token *value, double *number)
{
    double found;

    if (!line_number(value->text, &found) || found < 0) {
        workflow_mistake(r->b, value->line, ITEM_WRONG_TYPE,
                         "'%.40s' is no number from 0 to 1e15", value->text);
        return;
    }
    *number = found;
}

/* An attribute; node NULL: of an edge, or of what follows, which says nothing here. */
static void set_attribute(struct reader *r, struct node *node, const char *name,
                          const struct token *value)
{
    if (!node) {
        if (strncmp(name, "gridplan_", 9) == 0)
            workflow_leave_out(r->b, "gridplan_ attributes of what is no node");
        return;
    }
    if (strcmp(name, "label") == 0)
        node->label = first_line(r, value->text);
    else if (strcmp(name, "style") == 0)
        node->dashed = strstr(value->text, "dashed");
    else if (strcmp(name, "gridplan_estimate_ref_s") == 0)
        set_number(r, value, &node->estimate_ref_s);
    else if (strcmp(name, "gridplan_cpus") == 0)
        set_number(r, value, &node->cpus);
    else if (strcmp(name, "gridplan_memory_bytes") == 0)
        set_number(r, value, &node->memory_bytes);
    else if (strncmp(name, "gridplan_", 9) == 0)
        workflow_leave_out(r->b, name);
}

/* a=b */
static bool read_attribute(struct reader *r, struct node *node)
{
    const char *name = r->next.text;
    struct token value = {.text = "true"};

    if (r->next.kind != TOKEN_ID) {
        unexpected(r, "the name of an attribute is expected");
        return false;
    }
    advance(r);
    if (is_mark(r, '=')) {
        advance(r);
        value = r->next;
        if (value.kind != TOKEN_ID) {
            unexpected(r, "the value of an attribute is expected");
            return false;
        }
        advance(r);
    }
    set_attribute(r, node, name, &value);
    return true;
}

/* [a=b, c=d] [...] */
static void read_attributes(struct reader *r, struct node *node)
{
    while (is_mark(r, '[')) {
        advance(r);
        while (!r->failed && !is_mark(r, ']')) {
            if (!read_attribute(r, node))
                return;
            if (is_mark(r, ',') || is_mark(r, ';'))
                advance(r);
        }
        expect_mark(r, ']', "']' is expected");
    }
}

/* ---- statements ---- */

static void add_edge(struct reader *r, const char *from, const char *to, uint64_t line)
{
    enum error_code code = OK;

    if (++r->edge_count > DOT_EDGES_MAX)
        code = fail(r->err, ERR_TOO_LARGE, "", "more than %d edges", DOT_EDGES_MAX);
    if (code == OK)
        code = workflow_add_dependency(r->b, from, to, NAN, WORKFLOW_BY_BOTH, line);
    if (code == OK)
        return;
    r->code = code;
    r->failed = true;
    r->at = r->end;
}

/* Behind the first node: -> b -> c */
static void read_chain(struct reader *r, const char *from)
{
    while (!r->failed && r->next.kind == TOKEN_ARROW) {
        advance(r);
        if (r->next.kind != TOKEN_ID || is_word(r, "subgraph")) {
            unexpected(r, "a node is expected behind '->'");
            return;
        }
        node_of(r, r->next.text, r->next.line);
        add_edge(r, from, r->next.text, r->next.line);
        from = r->next.text;
        if (!r->failed)
            advance(r);
    }
    read_attributes(r, NULL);
}

/* A default: graph, node, edge with attributes, or name = value. */
static bool read_default(struct reader *r)
{
    bool keyword = is_word(r, "graph") || is_word(r, "node") || is_word(r, "edge");

    if (!keyword)
        return false;
    advance(r);
    if (is_mark(r, '['))
        read_attributes(r, NULL);
    else
        unexpected(r, "'[' is expected");
    return true;
}

static void read_statement(struct reader *r)
{
    struct token first = r->next;
    size_t node;

    if (first.kind != TOKEN_ID || is_word(r, "subgraph")) {
        unexpected(r, "a node is expected");
        return;
    }
    if (read_default(r))
        return;
    advance(r);
    if (is_mark(r, '=')) {
        advance(r);
        if (r->next.kind == TOKEN_ID)
            advance(r);
        else
            unexpected(r, "a value is expected");
        return;
    }
    node = node_of(r, first.text, first.line);
    if (r->next.kind == TOKEN_ARROW)
        read_chain(r, first.text);
    else if (r->next.kind == TOKEN_LINE || is_mark(r, ':'))
        unexpected(r, "");
    else
        read_attributes(r, &r->nodes[node]);
}

static void read_graph(struct reader *r)
{
    if (is_word(r, "strict"))
        advance(r);
    if (is_word(r, "graph")) {
        fail_at(r, r->next.line, ITEM_NOT_ALLOWED,
                "an undirected graph; tasks need a digraph");
        return;
    }
    if (!is_word(r, "digraph")) {
        unexpected(r, "'digraph' is expected");
        return;
    }
    advance(r);
    if (r->next.kind == TOKEN_ID)
        advance(r);
    expect_mark(r, '{', "'{' is expected");
    while (!r->failed && !is_mark(r, '}')) {
        if (is_mark(r, ';'))
            advance(r);
        else
            read_statement(r);
    }
    if (!r->failed)
        advance(r); /* the brace */
    if (!r->failed && r->next.kind != TOKEN_END)
        fail_at(r, r->next.line, ITEM_MALFORMED, "there is more behind the graph");
}

/* ---- tasks ---- */

static enum error_code add_tasks(struct reader *r)
{
    for (size_t i = 0; i < r->node_count; i++) {
        const struct node *n = &r->nodes[i];
        const char *label = n->label && *n->label ? n->label : n->id;
        size_t task;

        TRY(workflow_add_task(r->b, n->id, label, n->estimate_ref_s, n->line, &task));
        if (!*n->id)
            workflow_mistake(r->b, n->line, ITEM_TOO_SHORT, "a node without a name");
        workflow_task_needs(r->b, task,
                            &(struct workflow_ran){NAN, n->cpus, n->memory_bytes});
        workflow_task_more(r->b, task, &(struct workflow_more){NAN, NAN, n->dashed});
    }
    return OK;
}

enum error_code dot_read(const char *text, size_t length, const char *pointer,
                         struct workflow_import *out, struct arena *a, struct error *err)
{
    const struct workflow_source source = {WORKFLOW_IN_DOT, pointer, NULL};
    struct reader r = {.at = text + lines_mark_bytes(text, length),
                       .end = text + length,
                       .line = 1,
                       .arena = a,
                       .err = err};

    r.b = workflow_builder_open(&source, a, err);
    name_index_create(&r.index, 1, a);
    skip_blanks(&r, true);
    advance(&r);
    read_graph(&r);
    TRY(r.code);
    if (err->code != OK)
        return err->code;
    TRY(add_tasks(&r));
    return workflow_build(r.b, out);
}
