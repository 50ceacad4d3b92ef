/* records.c - which form a document has, and its records' fields by name. */
#include "models/slurm/records.h"

#include "models/base/budget_read.h"
#include "models/lines.h"
#include "models/slurm/values.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *const field_names[] = {
#define X(symbol, names) (names), /* of several literals, some of them */
    SLURM_FIELDS(X)
#undef X
};

enum { NAMES_MAX = 512 };

static void index_fields(struct name_index *index, struct arena *a)
{
    const char *const *names;

    name_index_create(index, NAMES_MAX, a);
    for (size_t i = 0; i < SLURM_FIELD_COUNT; i++) {
        size_t count = slurm_split(field_names[i], '|', &names, a);

        for (size_t k = 0; k < count; k++)
            name_index_add(index, names[k], i);
    }
}

struct slurm_record *slurm_record_add(struct slurm_reader *r, enum slurm_kind kind,
                                      enum slurm_form form)
{
    struct slurm_list *list = &r->out->of[kind];

    budget_read_step(SLURM_FIELD_COUNT);
    if (list->count == list->size) {
        size_t size = list->size ? 2 * list->size : 16;

        list->records =
            GROW(r->arena, list->records, struct slurm_record, list->size, size);
        list->size = size;
    }
    list->pointer = r->pointer;
    list->records[list->count] =
        (struct slurm_record){.form = form, .index = list->count};
    return &list->records[list->count++];
}

void slurm_record_reserve(struct slurm_reader *r, enum slurm_kind kind, size_t count)
{
    struct slurm_list *list = &r->out->of[kind];

    if (count <= list->size - list->count)
        return;
    list->records = GROW(r->arena, list->records, struct slurm_record, list->size,
                         list->count + count);
    list->size = list->count + count;
}

void slurm_record_keep(struct slurm_reader *r, struct slurm_record *record,
                       const char *name, const char *value)
{
    size_t field = name_index_find(r->fields, name);

    if (field != NAME_NOT_FOUND && !record->value[field])
        record->value[field] = value;
}

void slurm_record_set(struct slurm_reader *r, struct slurm_record *record,
                      const char *name, const char *value)
{
    size_t field = name_index_find(r->fields, name);

    if (field != NAME_NOT_FOUND && !record->value[field])
        record->value[field] = arena_text(r->arena, value, strlen(value));
}

const char *slurm_value(const struct slurm_record *r, enum slurm_field field)
{
    const char *value = r->value[field];

    return slurm_says_nothing(value) ? NULL : value;
}

/* What a command prints instead of a document. */
static const char *what_else(const char *text)
{
    static const struct {
        const char *begin, *what;
    } known[] = {
        {"<", "HTML or XML, as a proxy answers"},
        {"slurm_load_", "an error of a Slurm command"},
        {"squeue: error", "an error of squeue"},
        {"sinfo: error", "an error of sinfo"},
        {"scontrol: error", "an error of scontrol"},
        {"sacct: error", "an error of sacct"},
        {"sacctmgr: error", "an error of sacctmgr"},
        {"Unable to contact slurm", "an error of a Slurm command"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(text, known[i].begin, strlen(known[i].begin)) == 0)
            return known[i].what;
    return NULL;
}

/* scontrol says so instead of an empty list. */
static bool says_none(const char *text)
{
    return strncmp(text, "No ", 3) == 0 && strstr(text, " in the system");
}

enum error_code slurm_records_read(const char *text, size_t length, const char *pointer,
                                   struct slurm_records *out, struct arena *a,
                                   struct error *err)
{
    struct name_index fields;
    struct slurm_reader r = {
        .out = out, .pointer = pointer, .fields = &fields, .arena = a, .err = err};
    size_t mark_bytes = lines_mark_bytes(text, length);
    const char *from, *what;

    assert(text[length] == 0);
    text += mark_bytes;
    length -= mark_bytes;
    from = text;
    while (isspace((unsigned char)*from))
        from++;
    if (!*from || says_none(from))
        return OK;
    what = what_else(from);
    if (what)
        return invalid(err, pointer, ITEM_MALFORMED, "%s, not a document: %.200s", what,
                       from);
    index_fields(&fields, a);
    while (*from != '{' && from > text && from[-1] == ' ')
        from--; /* columns may be set by blanks */
    length -= (size_t)(from - text);
    return *from == '{' ? slurm_json_read(&r, from, length)
                        : slurm_text_read(&r, from, length);
}
