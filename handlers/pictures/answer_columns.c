/* answer_columns.c - see answer_columns.h.
 *
 * What is read was printed by the service, and the database has read it as JSON. It is
 * gone through by pointers, which never pass the NUL at its end.
 */
#include "handlers/pictures/answer_columns.h"

#include <string.h>

enum { FEW_CELLS = 8, FIRST_CELLS = 256, NAMES_PART = 4, STEPS = 8, DIGITS = 20 };

/* A value of one element, by where it is in the answer: a text of PostgreSQL has less
 * than 2^30 bytes. */
struct cell {
    uint32_t at, length;
};

/* Texts of a column that are different. */
struct names {
    const struct cell **items;
    size_t count, most;
    uint32_t *slots; /* 1 + which; 0: free */
    size_t slot_count;
    uint32_t *index; /* of each cell; NULL: they are not worth it */
};

struct column {
    const char *name; /* with its quotes */
    size_t name_length;
    struct cell *cells;
    uint32_t *elements;       /* of each cell; NULL: that of the same number */
    size_t count, size, last; /* element of the last cell */
    struct names names;
};

/* A list that stands in columns. */
struct table {
    struct arena *arena;
    const char *text; /* the answer */
    const char *name; /* with its quotes */
    size_t name_length;
    struct column columns[ANSWER_COLUMNS_MAX];
    size_t column_count, element_count;
    size_t next;      /* where the next member is, if objects are alike */
    size_t cell_room; /* of a column: elements, if they are as long as the first */
    struct table *other;
};

static const char *skip_spaces(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

/* Behind a text. */
static const char *skip_text(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        p += *p == '\\' && p[1];
    return *p ? p + 1 : p;
}

/* Behind a value. */
static const char *skip_value(const char *p)
{
    size_t depth = 0;

    if (*p == '"')
        return skip_text(p);
    if (*p != '[' && *p != '{')
        return p + strcspn(p, ",]} \t\r\n");
    do {
        if (*p == '"') {
            p = skip_text(p);
            continue;
        }
        depth += *p == '[' || *p == '{';
        depth -= *p == ']' || *p == '}';
        p++;
    } while (depth && *p);
    return p;
}

/* ---- taking ---- */

/* NULL: there are too many. */
static struct column *column_of(struct table *t, const char *name, size_t length)
{
    for (size_t i = 0; i < t->column_count; i++) {
        struct column *c = &t->columns[(t->next + i) % t->column_count];

        if (c->name_length == length && memcmp(c->name, name, length) == 0)
            return c;
    }
    if (t->column_count == ANSWER_COLUMNS_MAX)
        return NULL;
    t->columns[t->column_count] = (struct column){.name = name, .name_length = length};
    return &t->columns[t->column_count++];
}

static void grow(struct table *t, struct column *c)
{
    size_t size = c->size                 ? 2 * c->size
                  : t->element_count == 0 ? t->cell_room
                                          : FIRST_CELLS;

    c->cells = GROW(t->arena, c->cells, struct cell, c->size, size);
    if (c->elements)
        c->elements = GROW(t->arena, c->elements, uint32_t, c->size, size);
    c->size = size;
}

/* An element lacks it: from now on it is said which have it. */
static void number_elements(struct table *t, struct column *c)
{
    c->elements = NEW(t->arena, uint32_t, c->size);
    for (size_t i = 0; i < c->count; i++)
        c->elements[i] = (uint32_t)i;
}

static bool add_cell(struct table *t, struct column *c, const char *at, size_t length)
{
    if (c->count && c->last == t->element_count)
        return false;
    if (c->count == c->size)
        grow(t, c);
    if (!c->elements && c->count < t->element_count)
        number_elements(t, c);
    if (c->elements)
        c->elements[c->count] = (uint32_t)t->element_count;
    c->cells[c->count++] = (struct cell){(uint32_t)(at - t->text), (uint32_t)length};
    c->last = t->element_count;
    t->next = (size_t)(c - t->columns) + 1;
    return true;
}

/* Behind an object, of which each member goes to its column; NULL: it does not fit. */
static const char *take_object(struct table *t, const char *p)
{
    t->next = 0;
    for (p = skip_spaces(p + 1); *p == '"'; p = skip_spaces(p)) {
        const char *name = p, *end = skip_text(p), *value;
        struct column *c = column_of(t, name, (size_t)(end - name));

        p = skip_spaces(end);
        if (!c || *p != ':')
            return NULL;
        value = skip_spaces(p + 1);
        p = skip_value(value);
        if (!add_cell(t, c, value, (size_t)(p - value)))
            return NULL;
        p = skip_spaces(p);
        if (*p == ',')
            p = skip_spaces(p + 1);
    }
    return *p == '}' ? p + 1 : NULL;
}

/* Takes the elements of a list, which ends there; false: they do not stand in columns. */
static bool take_list(struct table *t, const char *p, const char *end)
{
    p = skip_spaces(p + 1);
    if (*p == '{')
        t->cell_room = FEW_CELLS + (size_t)(end - p) / (size_t)(skip_value(p) - p);
    for (; *p == '{'; p = skip_spaces(p)) {
        p = take_object(t, p);
        if (!p || json_is_over(STEPS))
            return false;
        t->element_count++;
        p = skip_spaces(p);
        if (*p == ',')
            p = skip_spaces(p + 1);
    }
    return *p == ']' && t->element_count > 0;
}

/* ---- different texts ---- */

static bool is_same(const char *text, const struct cell *x, const struct cell *y)
{
    return x->length == y->length && memcmp(text + x->at, text + y->at, x->length) == 0;
}

static size_t hash_of(const char *text, const struct cell *cell)
{
    uint64_t hash = 14695981039346656037U;

    for (size_t i = 0; i < cell->length; i++)
        hash = (hash ^ (unsigned char)text[cell->at + i]) * 1099511628211U;
    return (size_t)(hash ^ hash >> 32);
}

/* Numbers the text; false: there are too many different ones. */
static bool add_name(struct names *n, const char *text, const struct cell *cell,
                     uint32_t *number)
{
    size_t at = hash_of(text, cell) & (n->slot_count - 1);

    while (n->slots[at] && !is_same(text, n->items[n->slots[at] - 1], cell))
        at = (at + 1) & (n->slot_count - 1);
    if (!n->slots[at]) {
        if (n->count == n->most)
            return false;
        n->items[n->count++] = cell;
        n->slots[at] = (uint32_t)n->count;
    }
    *number = n->slots[at] - 1;
    return true;
}

static bool is_of_texts(const char *text, const struct column *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (text[c->cells[i].at] != '"')
            return false;
    return true;
}

/* Numbers the texts of a column, if these come several times. */
static void find_names(const struct table *t, struct column *c)
{
    struct names *n = &c->names;
    uint32_t *index;

    n->most = c->count / NAMES_PART;
    if (n->most == 0 || !is_of_texts(t->text, c))
        return;
    for (n->slot_count = 2; n->slot_count < 2 * n->most;)
        n->slot_count *= 2;
    n->items = NEW(t->arena, const struct cell *, n->most);
    n->slots = NEW(t->arena, uint32_t, n->slot_count);
    index = NEW(t->arena, uint32_t, c->count);
    for (size_t i = 0; i < c->count; i++)
        if (json_is_over(1) || !add_name(n, t->text, &c->cells[i], &index[i]))
            return;
    n->index = index;
}

/* ---- printing ---- */

static void add_literal(struct text_buffer *b, const char *text)
{
    text_add(b, text, strlen(text));
}

/* With a comma before all but the first. */
static void add_number(struct text_buffer *b, size_t i, uint32_t number)
{
    char text[DIGITS];
    size_t at = sizeof(text);

    do
        text[--at] = (char)('0' + number % 10);
    while (number /= 10);
    if (i)
        text[--at] = ',';
    text_add(b, text + at, sizeof(text) - at);
}

static void add_values(struct text_buffer *b, const struct table *t,
                       const struct column *c)
{
    const struct names *n = c->names.index ? &c->names : NULL;
    size_t count = n ? n->count : c->count, same = 1;

    while (!n && same < c->count && is_same(t->text, &c->cells[same], &c->cells[0]))
        same++;
    if (same == c->count)
        count = 1;
    add_literal(b, "\"values\":[");
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = n ? n->items[i] : &c->cells[i];

        if (i)
            text_add(b, ",", 1);
        text_add(b, t->text + cell->at, cell->length);
    }
    add_literal(b, "]");
}

static void add_column(struct text_buffer *b, const struct table *t,
                       const struct column *c)
{
    text_add(b, c->name, c->name_length);
    add_literal(b, ":{");
    if (c->count < t->element_count) {
        add_literal(b, "\"at\":[");
        for (size_t i = 0; i < c->count; i++)
            add_number(b, i, c->elements ? c->elements[i] : (uint32_t)i);
        add_literal(b, "],");
    }
    if (c->names.index && c->names.count > 1) {
        add_literal(b, "\"index\":[");
        for (size_t i = 0; i < c->count; i++)
            add_number(b, i, c->names.index[i]);
        add_literal(b, "],");
    }
    add_values(b, t, c);
    add_literal(b, "}");
}

/* Begins the next member of an object. */
static void begin_member(struct text_buffer *b, const char *name, size_t length)
{
    if (b->data[b->length - 1] != '{')
        text_add(b, ",", 1);
    text_add(b, name, length);
    text_add(b, ":", 1);
}

static void add_table(struct text_buffer *b, const struct table *t)
{
    begin_member(b, t->name, t->name_length);
    text_addf(b, "{\"count\":%zu,\"columns\":{", t->element_count);
    for (size_t i = 0; i < t->column_count; i++) {
        if (i)
            text_add(b, ",", 1);
        add_column(b, t, &t->columns[i]);
    }
    add_literal(b, "}}");
}

/* The list as a table; NULL: it stays. */
static struct table *table_of(const char *text, const char *list, const char *end,
                              struct arena *a)
{
    struct table *t = NEW(a, struct table, 1);

    *t = (struct table){.arena = a, .text = text};
    if (!take_list(t, list, end))
        return NULL;
    for (size_t i = 0; i < t->column_count; i++)
        find_names(t, &t->columns[i]);
    return t;
}

/* All tables before the first is printed: a text grows where it is while it is the last.
 */
static void print_tables(const struct table *first, struct text_buffer *b)
{
    text_add(b, "{", 1);
    for (const struct table *t = first; t; t = t->other)
        add_table(b, t);
    text_add(b, "}", 1);
}

enum error_code answer_columns(const char *answer, const char **rest,
                               const char **columns, struct arena *a, struct error *err)
{
    struct text_buffer others = {.arena = a}, lists = {.arena = a};
    struct table *first = NULL, **last = &first;
    const char *p = skip_spaces(answer);

    text_add(&others, "{", 1);
    p = *p == '{' ? skip_spaces(p + 1) : p;
    while (*p == '"') {
        const char *name = p, *name_end = skip_text(p), *value, *end;
        struct table *t = NULL;

        p = skip_spaces(name_end);
        value = skip_spaces(p + (*p == ':'));
        end = skip_value(value);
        TRY(json_go_on(1 + (size_t)(end - value) / STEPS, err));
        if (*value == '[')
            t = table_of(answer, value, end, a);
        if (t) {
            t->name = name;
            t->name_length = (size_t)(name_end - name);
            *last = t;
            last = &t->other;
        } else {
            begin_member(&others, name, (size_t)(name_end - name));
            text_add(&others, value, (size_t)(end - value));
        }
        p = skip_spaces(end);
        p = *p == ',' ? skip_spaces(p + 1) : p;
    }
    text_add(&others, "}", 1);
    print_tables(first, &lists);
    *rest = text_end(&others);
    *columns = text_end(&lists);
    return OK;
}
