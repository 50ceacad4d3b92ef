/* record.c - the statements of all stored records.
 *
 * They are made from the rows when they are needed: PostgreSQL sees conditions only for
 * what was asked, and plans by the values. `n` is a new row, `s` a stored one. Lists go
 * as one array a column; all that writes several rows does so in the order of the key, so
 * that two of them cannot wait for each other.
 */
#include "service/records/record.h"

#include "service/db_value.h"
#include "service/store_token.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const record_policies[] = {"refuse", "keep", "replace", NULL};

/* ---- rows ---- */

/* As the database has them: the struct, its row_id, and the text of each member that is
 * none in C. */
struct layout {
    struct db_column columns[RECORD_COLUMNS_MAX + 2];
    size_t count;
    size_t item_size, row_size, row_id_offset;
    bool has_texts;
};

static const struct json_field *field_of(const struct record *record, size_t place)
{
    return &record->json->fields[place];
}

static bool is_other_in_c(const struct json_field *f)
{
    return f->type == JSON_TYPE_CHOICE || f->type == JSON_TYPE_TEXTS;
}

static struct layout layout_of(const struct record *record, bool is_read)
{
    struct layout l = {.item_size = record->json->size,
                       .row_id_offset = record->json->size};

    l.row_size = l.item_size + sizeof(uint64_t);
    for (size_t i = 0; record->columns[i].name; i++) {
        const struct record_column *c = &record->columns[i];
        const struct json_field *f = field_of(record, i);
        size_t offset = f->offset;

        if (is_other_in_c(f)) {
            offset = l.row_size;
            l.row_size += sizeof(const char *);
            l.has_texts = true;
        }
        if (is_read || !(c->role & RECORD_GENERATED))
            l.columns[l.count++] = (struct db_column){c->name, c->type, offset};
    }
    if (is_read)
        l.columns[l.count] = (struct db_column){"row_id", DB_INTEGER, l.row_id_offset};
    return l;
}

static const void *member_of(const struct json_field *f, const void *item)
{
    return (const char *)item + f->offset;
}

static double number_of(const struct json_field *f, const void *item)
{
    double number;

    memcpy(&number, member_of(f, item), sizeof(number));
    return number;
}

static const char *text_of(const struct json_field *f, const void *item)
{
    const char *text;

    memcpy(&text, member_of(f, item), sizeof(text));
    return text;
}

static size_t length_of(const struct json_field *f, const void *item)
{
    size_t length;

    memcpy(&length, (const char *)item + f->count_offset, sizeof(length));
    return length;
}

/* The text that stands for a member in its column. */
static const char *column_text(const struct json_field *f, const void *item,
                               struct arena *a)
{
    struct text_buffer b = {.arena = a};
    const char *const *texts;
    int choice;

    if (f->type == JSON_TYPE_CHOICE) {
        memcpy(&choice, member_of(f, item), sizeof(choice));
        return f->choices[choice];
    }
    memcpy(&texts, member_of(f, item), sizeof(texts));
    text_add(&b, "[", 1);
    for (size_t i = 0; i < length_of(f, item); i++) {
        if (i > 0)
            text_add(&b, ",", 1);
        json_print_text(texts[i], &b);
    }
    text_add(&b, "]", 1);
    return b.failed ? NULL : b.data;
}

/* Room for so many of a size, without anything in it. */
static enum error_code take_room(struct arena *a, size_t size, size_t count, void **out,
                                 struct error *err)
{
    *out = arena_try(a, size, count);
    return *out ? OK : fail_memory(err);
}

/* The list as the database takes it. */
static enum error_code pack(const struct record *record, struct layout *l,
                            const void **list, size_t count, struct arena *a,
                            struct error *err)
{
    void *room;
    char *rows;

    if (!l->has_texts) {
        l->row_size = l->item_size;
        return OK;
    }
    TRY(take_room(a, l->row_size, count + 1, &room, err));
    rows = room;
    for (size_t i = 0; i < count; i++) {
        const char *item = (const char *)*list + i * l->item_size;
        char *row = rows + i * l->row_size, *text = row + l->row_id_offset;

        memcpy(row, item, l->item_size);
        for (size_t c = 0; record->columns[c].name; c++) {
            const char *made;

            if (!is_other_in_c(field_of(record, c)))
                continue;
            made = column_text(field_of(record, c), item, a);
            if (!made)
                return fail_memory(err);
            text += sizeof(made);
            memcpy(text, &made, sizeof(made));
        }
    }
    *list = rows;
    return OK;
}

/* The texts of a JSON array. */
static enum error_code read_texts(const struct record *record, const struct json_field *f,
                                  const char *text, char *item, struct arena *a,
                                  struct error *err)
{
    const struct json_field fields[] = {*f, {0}};
    const struct json_object table = {record->table, "", record->json->size, fields};
    const char *object = arena_try_printf(a, "{\"%s\":%s}", f->name, text);
    char *read = arena_try(a, table.size, 1);

    if (!object || !read)
        return fail_memory(err);
    TRY(json_read(&table, object, strlen(object), read, NULL, a, err));
    memcpy(item + f->offset, read + f->offset, sizeof(const char *const *));
    memcpy(item + f->count_offset, read + f->count_offset, sizeof(size_t));
    return OK;
}

static int choice_of(const struct json_field *f, const char *name)
{
    int choice = 0;

    for (int k = 0; f->choices[k]; k++)
        if (strcmp(f->choices[k], name) == 0)
            choice = k;
    return choice;
}

/* A row becomes a struct, in place. */
static enum error_code unpack_row(const struct record *record, const struct layout *l,
                                  char *row, struct arena *a, struct error *err)
{
    char *at = row + l->row_id_offset;

    for (size_t c = 0; record->columns[c].name; c++) {
        const struct json_field *f = field_of(record, c);
        const char *text;
        int choice;

        if (!is_other_in_c(f))
            continue;
        at += sizeof(text);
        memcpy(&text, at, sizeof(text));
        if (f->type == JSON_TYPE_TEXTS) {
            TRY(read_texts(record, f, text, row, a, err));
            continue;
        }
        choice = choice_of(f, text);
        memcpy(row + f->offset, &choice, sizeof(choice));
    }
    return OK;
}

static enum error_code unpack(const struct record *record, const struct layout *l,
                              char *rows, size_t count, struct arena *a,
                              struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        char *row = rows + i * l->row_size;

        TRY(unpack_row(record, l, row, a, err));
        memmove(rows + i * l->item_size, row, l->item_size);
    }
    return OK;
}

bool record_has_value(const struct json_field *field, const void *item)
{
    switch (field->type) {
    case JSON_TYPE_NUMBER:
    case JSON_TYPE_INSTANT:
        return !isnan(number_of(field, item));
    case JSON_TYPE_TEXT:
    case JSON_TYPE_RAW:
        return text_of(field, item) != NULL;
    default:
        return true;
    }
}

size_t record_place(const struct record *record, const char *name)
{
    for (size_t i = 0; record->columns[i].name; i++)
        if (strcmp(field_of(record, i)->name, name) == 0)
            return i;
    return RECORD_COLUMNS_MAX;
}

bool record_same(const struct record *record, size_t place, const void *left,
                 const void *right)
{
    const struct json_field *f = field_of(record, place);
    bool has_left = record_has_value(f, left), has_right = record_has_value(f, right);

    if (record->columns[place].role & RECORD_KEY_MEASURE)
        return has_left == has_right;
    if (f->type == JSON_TYPE_TEXT) {
        const char *x = has_left ? text_of(f, left) : "";
        const char *y = has_right ? text_of(f, right) : "";

        return strcmp(x, y) == 0;
    }
    if (f->type == JSON_TYPE_INSTANT && has_left && has_right)
        return db_instant_us(number_of(f, left)) == db_instant_us(number_of(f, right));
    return has_left == has_right &&
           (!has_left || !(number_of(f, left) < number_of(f, right) ||
                           number_of(f, left) > number_of(f, right)));
}

/* ---- texts of statements ---- */

/* The columns of rows that are written, with something before each name. */
static void add_names_but(const struct record *record, unsigned left_out,
                          const char *before, struct text_buffer *b)
{
    bool first = true;

    for (const struct record_column *c = record->columns; c->name; c++) {
        if (c->role & left_out)
            continue;
        if (c->role & (RECORD_MINUS_ONE | RECORD_EMPTY) && strcmp(before, "n.") == 0)
            text_addf(b, "%scoalesce(n.%s, %s)", first ? "" : ", ", c->name,
                      c->role & RECORD_EMPTY ? "''" : "-1");
        else
            text_addf(b, "%s%s%s", first ? "" : ", ", before, c->name);
        first = false;
    }
}

static void add_names(const struct record *record, const char *before,
                      struct text_buffer *b)
{
    add_names_but(record, RECORD_GENERATED, before, b);
}

/* " FROM unnest($2, $3 ...) WITH ORDINALITY AS n (resource_id, ..., place)" */
static void add_new_rows(const struct record *record, struct text_buffer *b)
{
    size_t number = 1;

    text_addf(b, " FROM unnest(");
    for (const struct record_column *c = record->columns; c->name; c++) {
        if (c->role & RECORD_GENERATED)
            continue;
        number++;
        text_addf(b, number > 2 ? ", $%zu" : "$%zu", number);
    }
    text_addf(b, ") WITH ORDINALITY AS n (");
    add_names(record, "", b);
    text_addf(b, ", place)");
}

/* One member of the key, of the rows `t`. */
static void add_key(const struct record_column *c, const char *t, struct text_buffer *b)
{
    if (c->role & RECORD_KEY_MEASURE)
        text_addf(b, "%s.%s IS NULL", t, c->name);
    else if (c->role & RECORD_KEY_OR_EMPTY)
        text_addf(b, "coalesce(%s.%s, '')", t, c->name);
    else if (c->role & RECORD_MINUS_ONE)
        text_addf(b, "coalesce(%s.%s, -1)", t, c->name);
    else
        text_addf(b, "%s.%s", t, c->name);
}

/* The key's members of the new rows, with commas. */
static void add_key_list(const struct record *record, struct text_buffer *b)
{
    bool first = true;

    for (const struct record_column *c = record->columns; c->name; c++) {
        if (!(c->role & RECORD_IN_KEY))
            continue;
        if (!first)
            text_addf(b, ", ");
        add_key(c, "n", b);
        text_addf(b, c->type == DB_TEXT ? " COLLATE \"C\"" : "");
        first = false;
    }
}

/* " s.tenant = $1 AND ...": the stored row has the key of the new one. */
static void add_key_match(const struct record *record, struct text_buffer *b)
{
    text_addf(b, " s.tenant = $1");
    for (const struct record_column *c = record->columns; c->name; c++) {
        if (!(c->role & RECORD_IN_KEY))
            continue;
        text_addf(b, " AND (");
        if (c->role & (RECORD_MINUS_ONE | RECORD_EMPTY))
            text_addf(b, "s.%s", c->name);
        else
            add_key(c, "s", b);
        text_addf(b, ") = (");
        add_key(c, "n", b);
        text_addf(b, ")");
    }
}

/* Instants between which the new rows are, where that leaves partitions out. */
static void add_span(const struct record *record, const void *list, size_t count,
                     struct text_buffer *b)
{
    size_t place = record_place(record, record->at);
    double least = HUGE_VAL, greatest = -HUGE_VAL;
    char from[48], to[48];

    if (!(record->columns[place].role & RECORD_KEY))
        return;
    for (size_t i = 0; i < count; i++) {
        const char *item = (const char *)list + i * record->json->size;

        least = fmin(least, number_of(field_of(record, place), item));
        greatest = fmax(greatest, number_of(field_of(record, place), item));
    }
    instant_print(least - 1, from, sizeof(from));
    instant_print(greatest + 1, to, sizeof(to));
    if (*from && *to)
        text_addf(b, " AND s.%s BETWEEN '%s' AND '%s'", record->at, from, to);
}

/* " AND (n.a, n.b) IS DISTINCT FROM (s.a, s.b)", but for columns of these roles, and for
 * members of the key in which none and the empty text are the same. */
static void add_differ(const struct record *record, unsigned left_out,
                       struct text_buffer *b)
{
    left_out |= RECORD_KEY_OR_EMPTY;
    text_addf(b, " AND (");
    add_names_but(record, RECORD_GENERATED | left_out, "n.", b);
    text_addf(b, ") IS DISTINCT FROM (");
    add_names_but(record, RECORD_GENERATED | left_out, "s.", b);
    text_addf(b, ")");
}

static enum error_code statement_of(const struct record *record, const char *what,
                                    const struct text_buffer *b, unsigned flags,
                                    struct db_statement *out, struct error *err)
{
    const char *name = arena_try_printf(b->arena, "%s_%s", what, record->table);

    if (!name || b->failed)
        return fail_memory(err);
    *out = (struct db_statement){name, b->data, flags | DB_ONCE};
    return OK;
}

/* ---- storing ---- */

/* Rows of one statement that inserts or compares. */
static size_t part_rows(const struct record *record)
{
    return record->part_rows ? record->part_rows : 20000;
}

/* One call of record_store(). */
struct storing {
    const char *tenant;
    const struct record *record;
    const void *items;
    struct layout layout;
    const void *rows; /* the items as the database takes them */
    size_t count;
    enum record_policy policy;
    bool all_or_none;
    struct record_stored *out;
    struct arena *arena;
};

static enum error_code run_list(struct db_session *s, const struct storing *w,
                                const struct db_statement *statement, size_t *affected,
                                struct error *err)
{
    return db_run_list(s, statement, w->tenant, w->layout.columns, w->layout.row_size,
                       w->rows, w->count, affected, w->arena, err);
}

/* Those of the tenant and the first member of each key, in rising order. */
static enum error_code take_locks(struct db_session *s, const struct storing *w,
                                  struct error *err)
{
    const struct record *record = w->record;
    struct text_buffer b = {.arena = w->arena};
    struct db_column columns[2] = {{0}};
    struct db_statement statement;
    size_t first = 0;

    while (!(record->columns[first].role & RECORD_KEY))
        first++;
    columns[0] = (struct db_column){record->columns[first].name, DB_TEXT,
                                    field_of(record, first)->offset};
    text_addf(&b,
              "SELECT pg_advisory_xact_lock(%" PRIu64 " + bucket) FROM (SELECT DISTINCT"
              " hashtext($1 || ' ' || k) & %d AS bucket FROM unnest($2) AS u (k)"
              " ORDER BY 1) AS locks",
              record->lock_base, RECORD_LOCKS - 1);
    TRY(statement_of(record, "lock", &b, 0, &statement, err));
    return db_run_list(s, &statement, w->tenant, columns, w->layout.row_size, w->rows,
                       w->count, NULL, w->arena, err);
}

/* The rows from `from` on, as many as a statement takes. */
static struct storing part_of(const struct storing *w, size_t from)
{
    struct storing part = *w;
    size_t most = part_rows(w->record);

    part.items = (const char *)w->items + from * w->record->json->size;
    part.rows = (const char *)w->rows + from * w->layout.row_size;
    part.count = w->count - from < most ? w->count - from : most;
    return part;
}

/* What is not there yet. In parts, whose sorts need no disk and each of which has the
 * time limit of a statement for itself; a key's first row is in the first of them. */
static enum error_code insert(struct db_session *s, const struct storing *w,
                              struct error *err)
{
    const struct record *record = w->record;
    struct text_buffer b = {.arena = w->arena};
    struct db_statement statement;

    text_addf(&b, "INSERT INTO %s (tenant, ", record->table);
    add_names(record, "", &b);
    text_addf(&b, ") SELECT ");
    if (record->lock_base) {
        text_addf(&b, "DISTINCT ON (");
        add_key_list(record, &b);
        text_addf(&b, ") ");
    }
    text_addf(&b, "$1, ");
    add_names(record, "n.", &b);
    add_new_rows(record, &b);
    if (record->lock_base) {
        /* Not NOT EXISTS, which may become a join that reads the whole table for each
         * body: this is always a look into the index for each row. */
        text_addf(&b, " WHERE (SELECT true FROM %s AS s WHERE", record->table);
        add_key_match(record, &b);
        text_addf(&b, " LIMIT 1) IS NULL");
    }
    text_addf(&b, " ORDER BY ");
    add_key_list(record, &b);
    text_addf(&b, ", place ON CONFLICT DO NOTHING");
    TRY(statement_of(record, "insert", &b, DB_REPEATABLE, &statement, err));
    for (size_t from = 0; from < w->count; from += part_rows(record)) {
        const struct storing part = part_of(w, from);
        size_t stored = 0;

        TRY(run_list(s, &part, &statement, &stored, err));
        w->out->stored += stored;
    }
    return OK;
}

/* Which of these rows have the key of a stored one and other values. */
static enum error_code find_differing_in(struct db_session *s, const struct storing *w,
                                         const uint64_t **found, size_t *count,
                                         struct error *err)
{
    static const struct db_column columns[] = {{"place", DB_INTEGER, 0}, {0}};
    const struct record *record = w->record;
    struct text_buffer b = {.arena = w->arena};
    struct db_statement statement;
    void *list;

    text_addf(&b, "SELECT n.place - 1");
    add_new_rows(record, &b);
    text_addf(&b, " JOIN %s AS s ON", record->table);
    add_key_match(record, &b);
    add_span(record, w->items, w->count, &b);
    text_addf(&b, " WHERE true");
    add_differ(record, RECORD_FILLED, &b);
    text_addf(&b, " ORDER BY 1");
    TRY(statement_of(record, "compare", &b, DB_REPEATABLE, &statement, err));
    TRY(db_list_rows(s, &statement, w->tenant, w->layout.columns, w->layout.row_size,
                     w->rows, w->count, columns, sizeof(**found), &list, count, w->arena,
                     err));
    *found = list;
    return OK;
}

static enum error_code find_differing(struct db_session *s, const struct storing *w,
                                      struct error *err)
{
    uint64_t *places;
    void *room;

    if (w->count <= part_rows(w->record))
        return find_differing_in(s, w, &w->out->refused, &w->out->refused_count, err);
    TRY(take_room(w->arena, sizeof(*places), w->count, &room, err));
    places = room;
    w->out->refused = places;
    for (size_t from = 0; from < w->count; from += part_rows(w->record)) {
        const struct storing part = part_of(w, from);
        const uint64_t *found;
        size_t count;

        TRY(find_differing_in(s, &part, &found, &count, err));
        for (size_t i = 0; i < count; i++)
            places[w->out->refused_count++] = from + found[i];
    }
    return OK;
}

/* Stored rows take the values of the last new one of their key. */
static enum error_code replace(struct db_session *s, const struct storing *w,
                               size_t *replaced, struct error *err)
{
    const struct record *record = w->record;
    struct text_buffer b = {.arena = w->arena};
    struct db_statement statement;

    text_addf(&b, "UPDATE %s AS s SET (", record->table);
    add_names(record, "", &b);
    text_addf(&b, ") = ROW(");
    add_names(record, "n.", &b);
    text_addf(&b, ") FROM (SELECT DISTINCT ON (");
    add_key_list(record, &b);
    text_addf(&b, ") n.*");
    add_new_rows(record, &b);
    text_addf(&b, " ORDER BY ");
    add_key_list(record, &b);
    text_addf(&b, ", place DESC) AS n WHERE");
    add_key_match(record, &b);
    add_span(record, w->items, w->count, &b);
    add_differ(record, 0, &b);
    TRY(statement_of(record, "replace", &b, DB_REPEATABLE, &statement, err));
    return run_list(s, w, &statement, replaced, err);
}

/* What becomes of records that were there. */
static enum error_code meet_stored(struct db_session *s, const struct storing *w,
                                   struct error *err)
{
    struct record_stored *out = w->out;

    if (w->policy == RECORD_KEEP)
        return OK;
    if (w->policy == RECORD_REPLACE)
        return replace(s, w, &out->replaced, err);
    TRY(find_differing(s, w, err));
    if (!w->all_or_none || out->refused_count == 0)
        return OK;
    out->stored = 0;
    return fail(err, ERR_CONFLICT, "", "some are stored with other values");
}

/* Nothing is stored with what may not stand beside the rest. */
static enum error_code verify_stored(struct db_session *s, const struct storing *w,
                                     struct error *err)
{
    struct record_clashes clashes = {0};

    TRY(w->record->verify(s, w->tenant, w->items, w->count, &clashes, w->arena, err));
    if (clashes.count == 0)
        return OK;
    *w->out = (struct record_stored){
        .refused = clashes.places, .refused_count = clashes.count, .why = clashes.why};
    return fail(err, ERR_CONFLICT, "", "some may not stand beside others");
}

static enum error_code store_rows(struct db_session *s, void *context, struct error *err)
{
    const struct storing *w = context;
    struct record_stored *out = w->out;

    *out = (struct record_stored){0};
    if (w->record->lock_base)
        TRY(take_locks(s, w, err));
    TRY(insert(s, w, err));
    if (out->stored < w->count)
        TRY(meet_stored(s, w, err));
    return w->record->verify ? verify_stored(s, w, err) : OK;
}

/* A statement alone is whole or not at all; several are so in a transaction. When the
 * connection is lost in it, perhaps with the answer to COMMIT, it is sent again: by their
 * keys rows that are there already are only counted as duplicates. */
static enum error_code store_whole(struct db_session *s, struct storing *w,
                                   struct error *err)
{
    const struct error before = *err;
    enum error_code code;
    bool one_statement =
        !w->record->lock_base && w->policy != RECORD_REPLACE &&
        (w->count <= 1 || (!w->all_or_none && w->count <= part_rows(w->record)));

    if (db_in_transaction(s) || one_statement)
        return store_rows(s, w, err);
    code = db_transaction(s, store_rows, w, err);
    if (code != ERR_UNAVAILABLE || !db_lost_connection(s))
        return code;
    *err = before;
    return db_transaction(s, store_rows, w, err);
}

static enum error_code store_once(struct db_session *s, const char *tenant,
                                  const struct record *record, const void *list,
                                  size_t count, enum record_policy policy,
                                  bool all_or_none, struct record_stored *out,
                                  struct arena *a, struct error *err)
{
    struct storing w = {tenant, record, list,   layout_of(record, false),
                        list,   count,  policy, all_or_none,
                        out,    a};
    const struct error before = *err;
    enum error_code code;

    *out = (struct record_stored){0};
    if (count == 0)
        return OK;
    TRY(pack(record, &w.layout, &w.rows, count, a, err));
    code = store_whole(s, &w, err);
    if (code == ERR_CONFLICT && out->refused_count > 0) {
        *err = before; /* the caller says which */
        return OK;
    }
    if (code == ERR_UNAVAILABLE && count > 1 && db_took_too_long(s)) {
        int later_s = err->retry_after_s;

        fail(err, code, "",
             "the database took too long to store %zu records, and none of them is "
             "stored; send them in several requests",
             count);
        err->retry_after_s = later_s;
    }
    return code;
}

enum { THINNED_MOST = 20 }; /* turns */

/* A list of which those that clash are left out, time and again. */
struct thinned {
    char *items;
    uint64_t *place; /* of each in the whole list */
    size_t count;
    const char **why; /* by place in the whole list; NULL: it is not refused by this */
    bool *is_refused; /* likewise, for any reason */
};

static enum error_code thin_start(const struct record *record, const void *list,
                                  size_t count, struct thinned *t, struct arena *a,
                                  struct error *err)
{
    size_t size = record->json->size;
    void *room[4];

    TRY(take_room(a, size, count, &room[0], err));
    TRY(take_room(a, sizeof(*t->place), count, &room[1], err));
    TRY(take_room(a, sizeof(*t->why), count, &room[2], err));
    TRY(take_room(a, sizeof(*t->is_refused), count, &room[3], err));
    *t = (struct thinned){room[0], room[1], count, room[2], room[3]};
    memcpy(t->items, list, size * count);
    for (size_t i = 0; i < count; i++) {
        t->place[i] = i;
        t->why[i] = NULL;
        t->is_refused[i] = false;
    }
    return OK;
}

static void thin_note(struct thinned *t, const struct record_stored *out)
{
    for (size_t k = 0; k < out->refused_count; k++) {
        uint64_t at = t->place[out->refused[k]];

        t->is_refused[at] = true;
        t->why[at] = out->why ? out->why[k] : NULL;
    }
}

/* Without those that were refused. */
static void thin_out(struct thinned *t, size_t size)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->count; i++) {
        if (t->is_refused[t->place[i]])
            continue;
        memmove(t->items + kept * size, t->items + i * size, size);
        t->place[kept++] = t->place[i];
    }
    t->count = kept;
}

/* All that were refused in any turn. */
static enum error_code thin_list(const struct thinned *t, size_t count,
                                 struct record_stored *out, struct arena *a,
                                 struct error *err)
{
    uint64_t *places;
    const char **why;
    void *room[2];

    TRY(take_room(a, sizeof(*places), count, &room[0], err));
    TRY(take_room(a, sizeof(*why), count, &room[1], err));
    places = room[0];
    why = room[1];
    out->refused_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!t->is_refused[i])
            continue;
        places[out->refused_count] = i;
        why[out->refused_count++] = t->why[i];
    }
    out->refused = places;
    out->why = why;
    return OK;
}

enum error_code record_store(struct db_session *s, const char *tenant,
                             const struct record *record, const void *list, size_t count,
                             enum record_policy policy, bool all_or_none,
                             struct record_stored *out, struct arena *a,
                             struct error *err)
{
    struct thinned t;

    TRY(store_once(s, tenant, record, list, count, policy, all_or_none, out, a, err));
    if (all_or_none || !out->why)
        return OK;
    TRY(thin_start(record, list, count, &t, a, err));
    for (int turn = 0; out->why && turn < THINNED_MOST; turn++) {
        thin_note(&t, out);
        thin_out(&t, record->json->size);
        TRY(store_once(s, tenant, record, t.items, t.count, policy, false, out, a, err));
    }
    if (out->why)
        return invalid(err, "", ITEM_CONFLICT,
                       "too many of these may not stand beside others: send them in "
                       "several requests");
    thin_note(&t, out);
    return thin_list(&t, count, out, a, err);
}

/* ---- which rows ---- */

/* The condition of a statement as it grows, and its values. */
struct condition {
    struct text_buffer text;
    struct db_param params[DB_PARAMS_MAX];
    size_t count;
};

static size_t add_param(struct condition *c, struct db_param param)
{
    c->params[c->count++] = param;
    return c->count;
}

static struct db_param param_of(const struct record *record, size_t place,
                                const void *item)
{
    const struct json_field *f = field_of(record, place);
    enum db_type type = record->columns[place].type;

    if (type == DB_TEXT)
        return db_text(text_of(f, item));
    return (struct db_param){.type = type, .number = number_of(f, item)};
}

static void add_value(const struct record *record, size_t place, const void *like,
                      struct condition *c)
{
    const struct record_column *column = &record->columns[place];

    if (column->role & RECORD_MINUS_ONE)
        text_addf(&c->text, " AND %s = coalesce($%zu, -1)", column->name,
                  add_param(c, param_of(record, place, like)));
    else if (column->role & RECORD_KEY_OR_EMPTY)
        text_addf(&c->text, " AND coalesce(%s, '') = coalesce($%zu, '')", column->name,
                  add_param(c, param_of(record, place, like)));
    else
        text_addf(&c->text, " AND %s = $%zu", column->name,
                  add_param(c, param_of(record, place, like)));
}

static void begin_condition(const char *tenant, const struct record *record,
                            const struct record_filter *filter, struct arena *a,
                            struct condition *c)
{
    *c = (struct condition){.text = {.arena = a}};
    text_addf(&c->text, "tenant = $%zu", add_param(c, db_text(tenant)));
    for (size_t i = 0; record->columns[i].name; i++) {
        const struct record_column *column = &record->columns[i];

        if (filter->columns & 1u << i)
            add_value(record, i, filter->like, c);
        if (filter->by_measures && column->role & RECORD_KEY_MEASURE)
            text_addf(&c->text, " AND %s IS%s NULL", column->name,
                      filter->measures & 1u << i ? " NOT" : "");
    }
    if (filter->under_way_at_s) {
        size_t at = add_param(c, db_instant(*filter->under_way_at_s));

        text_addf(&c->text, " AND %s <= $%zu AND (%s IS NULL OR %s > $%zu)", record->at,
                  at, record->until, record->until, at);
    }
    if (filter->other) {
        text_addf(&c->text, " AND %s $%zu", record->other_sql,
                  add_param(c, db_text(filter->other)));
    }
}

static void add_range(const struct record *record, double from_s, double to_s,
                      struct condition *c)
{
    if (!isnan(from_s))
        text_addf(&c->text, " AND %s >= $%zu", record->at,
                  add_param(c, db_instant(from_s)));
    if (!isnan(to_s))
        text_addf(&c->text, " AND %s < $%zu", record->at, add_param(c, db_instant(to_s)));
}

/* "SELECT resource_id, ..., row_id FROM failure WHERE " */
static void add_select(const struct record *record, struct text_buffer *b)
{
    text_addf(b, "SELECT ");
    for (const struct record_column *c = record->columns; c->name; c++)
        text_addf(b,
                  c->role & RECORD_MINUS_ONE ? "nullif(%s, -1), "
                  : c->role & RECORD_EMPTY   ? "nullif(%s, ''), "
                                             : "%s, ",
                  c->name);
    text_addf(b, "row_id FROM %s WHERE ", record->table);
}

/* ---- reading ---- */

/* Where the page before ended. */
static enum error_code read_position(const struct store_page *page, double *at_s,
                                     uint64_t *row_id, struct arena *a, struct error *err)
{
    const char *text;

    TRY(token_read(page->token, at_s, &text, a, err));
    *row_id = strtoull(text, NULL, 10) & INT64_MAX;
    return OK;
}

static enum error_code token_of(const struct record *record, const struct layout *l,
                                const char *row, const char **token, struct arena *a,
                                struct error *err)
{
    double at_s = number_of(field_of(record, record_place(record, record->at)), row);
    char row_id[24];
    uint64_t number;

    memcpy(&number, row + l->row_id_offset, sizeof(number));
    snprintf(row_id, sizeof(row_id), "%" PRIu64, number);
    return token_make(at_s, row_id, token, a, err);
}

enum error_code record_read(struct db_session *s, const char *tenant,
                            const struct record *record,
                            const struct record_filter *filter,
                            const struct store_page *page, const void **list,
                            size_t *count, const char **next_token, struct arena *a,
                            struct error *err)
{
    struct layout l = layout_of(record, true);
    const char *down = filter->newest_first ? " DESC" : "";
    struct text_buffer b = {.arena = a};
    struct db_statement statement;
    struct condition c;
    const char *next = NULL; /* the caller may give the place of page->token */
    size_t row_count;
    void *rows;

    begin_condition(tenant, record, filter, a, &c);
    add_range(record, filter->from_at_s, filter->to_at_s, &c);
    if (page->token) {
        double at_s;
        uint64_t row_id;

        TRY(read_position(page, &at_s, &row_id, a, err));
        /* What the key says already, where it lets PostgreSQL skip partitions. */
        if (filter->newest_first)
            add_range(record, NAN, at_s + 2e-6, &c);
        else
            add_range(record, at_s, NAN, &c);
        text_addf(&c.text, " AND (%s, row_id) %s ($%zu, ", record->at,
                  filter->newest_first ? "<" : ">", add_param(&c, db_instant(at_s)));
        text_addf(&c.text, "$%zu)", add_param(&c, db_integer(row_id)));
    }
    add_select(record, &b);
    text_addf(&b, "%s ORDER BY %s%s, row_id%s LIMIT %zu",
              c.text.failed ? "" : c.text.data, record->at, down, down, page->limit + 1);
    TRY(statement_of(record, "read", &b, DB_REPEATABLE, &statement, err));
    TRY(db_rows(s, &statement, c.params, l.columns, l.row_size, &rows, &row_count, a,
                err));
    *count = page_count(page, row_count);
    if (row_count > page->limit)
        TRY(token_of(record, &l, (char *)rows + (*count - 1) * l.row_size, &next, a,
                     err));
    TRY(unpack(record, &l, rows, *count, a, err));
    *list = rows;
    *next_token = next;
    return OK;
}

enum error_code record_select(struct db_session *s, const char *tenant,
                              const struct record *record, const char *condition,
                              const struct db_param *params, size_t limit, void **list,
                              size_t *count, struct arena *a, struct error *err)
{
    struct layout l = layout_of(record, true);
    struct db_param all[DB_PARAMS_MAX] = {db_text(tenant)};
    struct text_buffer b = {.arena = a};
    struct db_statement statement;

    for (size_t i = 0; params[i].type != DB_END; i++)
        all[i + 1] = params[i];
    add_select(record, &b);
    text_addf(&b, "tenant = $1 AND %s ORDER BY %s, row_id LIMIT %zu", condition,
              record->at, limit);
    TRY(statement_of(record, "select", &b, DB_REPEATABLE, &statement, err));
    TRY(db_rows(s, &statement, all, l.columns, l.row_size, list, count, a, err));
    return unpack(record, &l, *list, *count, a, err);
}

/* ---- correcting ---- */

enum error_code record_lock(struct db_session *s, const char *tenant,
                            const struct record *record,
                            const struct record_filter *filter, void *item, bool *found,
                            struct arena *a, struct error *err)
{
    struct layout l = layout_of(record, true);
    struct text_buffer b = {.arena = a};
    struct db_statement statement;
    struct condition c;
    size_t count;
    void *rows;

    if (record->verify)
        TRY(take_locks(s,
                       &(struct storing){.tenant = tenant,
                                         .record = record,
                                         .layout = layout_of(record, false),
                                         .rows = filter->like,
                                         .count = 1,
                                         .arena = a},
                       err));
    begin_condition(tenant, record, filter, a, &c);
    add_range(record, filter->from_at_s, filter->to_at_s, &c);
    add_select(record, &b);
    text_addf(&b, "%s ORDER BY %s LIMIT 1 FOR UPDATE", c.text.failed ? "" : c.text.data,
              record->at);
    TRY(statement_of(record, "lock_row", &b, DB_REPEATABLE, &statement, err));
    TRY(db_rows(s, &statement, c.params, l.columns, l.row_size, &rows, &count, a, err));
    *found = count > 0;
    if (!*found)
        return OK;
    TRY(unpack(record, &l, rows, 1, a, err));
    memcpy(item, rows, l.item_size);
    return OK;
}

enum error_code record_change(struct db_session *s, const char *tenant,
                              const struct record *record, const void *item,
                              size_t *changed, struct arena *a, struct error *err)
{
    struct storing w = {.tenant = tenant,
                        .record = record,
                        .items = item,
                        .layout = layout_of(record, false),
                        .rows = item,
                        .count = 1,
                        .arena = a};
    struct record_clashes clashes = {0};

    TRY(pack(record, &w.layout, &w.rows, 1, a, err));
    TRY(replace(s, &w, changed, err));
    if (!record->verify)
        return OK;
    TRY(record->verify(s, tenant, item, 1, &clashes, a, err));
    if (clashes.count)
        record_mistake(&(struct record_check){.err = err}, record->verified,
                       ITEM_CONFLICT, "%s", clashes.why[0]);
    return err->code;
}

static enum error_code count_rows(struct db_session *s, const struct record *record,
                                  const struct condition *c, size_t limit, size_t *count,
                                  struct arena *a, struct error *err)
{
    static const struct db_column columns[] = {{"count", DB_INTEGER, 0}, {0}};
    struct text_buffer b = {.arena = a};
    struct db_statement statement;
    uint64_t found_count = 0;
    bool found;

    text_addf(&b, "SELECT count(*) FROM (SELECT FROM %s WHERE %s LIMIT %zu) AS found",
              record->table, c->text.failed ? "" : c->text.data, limit);
    TRY(statement_of(record, "count", &b, DB_REPEATABLE, &statement, err));
    TRY(db_row(s, &statement, c->params, columns, sizeof(found_count), &found_count,
               &found, a, err));
    *count = found_count;
    return OK;
}

enum error_code record_remove(struct db_session *s, const char *tenant,
                              const struct record *record,
                              const struct record_filter *filter, bool only_count,
                              size_t *removed, bool *more, struct arena *a,
                              struct error *err)
{
    struct text_buffer b = {.arena = a};
    struct db_statement statement;
    struct condition c;
    size_t left = 0;

    begin_condition(tenant, record, filter, a, &c);
    add_range(record, filter->from_at_s, filter->to_at_s, &c);
    *more = false;
    if (only_count) {
        TRY(count_rows(s, record, &c, RECORD_REMOVED_MAX + 1, removed, a, err));
        *more = *removed > RECORD_REMOVED_MAX;
        *removed -= *more;
        return OK;
    }
    /* Up to the last one that may go; no join, which without statistics of the table
     * compares each of them with each. */
    text_addf(&b,
              "DELETE FROM %s WHERE %s AND ((%s, row_id) <= (SELECT %s, row_id FROM %s"
              " WHERE %s ORDER BY %s, row_id OFFSET %d LIMIT 1)) IS NOT FALSE",
              record->table, c.text.failed ? "" : c.text.data, record->at, record->at,
              record->table, c.text.failed ? "" : c.text.data, record->at,
              RECORD_REMOVED_MAX - 1);
    TRY(statement_of(record, "remove", &b, 0, &statement, err));
    TRY(db_run(s, &statement, c.params, removed, err));
    if (*removed == RECORD_REMOVED_MAX)
        TRY(count_rows(s, record, &c, 1, &left, a, err));
    *more = left > 0;
    return OK;
}
