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

enum { NAMES_MAX = 512, SHOWN_BYTES = 200 };

void slurm_fields_index(struct name_index *index, struct arena *a)
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

/* What is printed or answered instead of a document: how its first line begins, or what
 * stands anywhere in it; what that is; what to do about it. */
#define PROXY_HINT                                                                      \
    "a proxy or a portal answered: look at it with curl -i, or let the command itself " \
    "write the document, on a host that reaches slurmctld"
#define CONTROLLER_HINT                                                                 \
    "slurmctld did not answer: `scontrol ping` says whether it is up; run the command " \
    "again then"
#define ACCOUNTING_HINT                                                                 \
    "accounting is not to be had there: `sacctmgr show cluster` says whether slurmdbd " \
    "answers; a cluster without it has no history of jobs"
#define PATH_HINT                                                                  \
    "run it where Slurm's commands are on PATH, as on a login node (`module load " \
    "slurm`)"
#define COLUMNS_HINT                                                                   \
    "this Slurm does not know a column of -o: sacct -e lists those it has, and -P -D " \
    "-a "                                                                              \
    "-o ALL takes them all"
#define APART_HINT                                                                \
    "the command failed: run it again, and keep its errors out of the document, " \
    "2>errors.txt"

static const struct instead {
    const char *begin, *inside; /* NULL: anything */
    const char *what, *hint;
} instead[] = {
    {"<", NULL, "HTML or XML, as a proxy answers", PROXY_HINT},
    {NULL, "Unable to contact slurm controller", "an error of a Slurm command",
     CONTROLLER_HINT},
    {"Unable to contact slurm", NULL, "an error of a Slurm command", CONTROLLER_HINT},
    {NULL, "accounting storage is disabled", "an error of sacct", ACCOUNTING_HINT},
    {NULL, "Problem talking to the database", "an error of a Slurm command",
     ACCOUNTING_HINT},
    {NULL, "slurm_persist_conn_open", "an error of a Slurm command", ACCOUNTING_HINT},
    {NULL, "Invalid field requested", "an error of sacct", COLUMNS_HINT},
    {NULL, ": command not found", "an error of a shell", PATH_HINT},
    {NULL, ": not found", "an error of a shell", PATH_HINT},
    {"slurm_load_", NULL, "an error of a Slurm command", APART_HINT},
    {"squeue: ", NULL, "an error of squeue", APART_HINT},
    {"sinfo: ", NULL, "an error of sinfo", APART_HINT},
    {"scontrol: ", NULL, "an error of scontrol", APART_HINT},
    {"sacct: ", NULL, "an error of sacct", APART_HINT},
    {"sacctmgr: ", NULL, "an error of sacctmgr", APART_HINT},
    {"sshare: ", NULL, "an error of sshare", APART_HINT},
    {"error: ", NULL, "an error of a Slurm command", APART_HINT},
    {"fatal: ", NULL, "an error of a Slurm command", APART_HINT},
    {"ssh: ", NULL, "an error of ssh", APART_HINT},
};

/* Within the first line only, and not in what names columns or has values. */
static bool is_instead(const struct instead *of, const char *line, size_t length)
{
    if (of->begin && strncmp(line, of->begin, strlen(of->begin)) != 0)
        return false;
    return !of->inside || (!memchr(line, '|', length) && !memchr(line, '=', length) &&
                           memmem(line, length, of->inside, strlen(of->inside)));
}

enum error_code slurm_document_check(const char *text, const char *pointer,
                                     struct error *err)
{
    size_t length = strcspn(text, "\r\n");

    if (*text == '{') /* texts of a document may say anything */
        return OK;
    for (size_t i = 0; i < sizeof(instead) / sizeof(instead[0]); i++)
        if (is_instead(&instead[i], text, length)) {
            invalid(err, pointer, ITEM_MALFORMED, "%s, not a document: %.*s",
                    instead[i].what, (int)(length < SHOWN_BYTES ? length : SHOWN_BYTES),
                    text);
            error_hint(err, "%s", instead[i].hint);
            return err->code;
        }
    return OK;
}

/* scontrol says so instead of an empty list: "No jobs in the system", "No licenses
 * configured in Slurm." */
static bool says_none(const char *text)
{
    return strncmp(text, "No ", 3) == 0 &&
           (strstr(text, " in the system") || strstr(text, " configured in Slurm"));
}

enum error_code slurm_records_read(const char *text, size_t length, const char *pointer,
                                   struct slurm_records *out, struct arena *a,
                                   struct error *err)
{
    struct name_index fields;
    struct slurm_reader r = {
        .out = out, .pointer = pointer, .fields = &fields, .arena = a, .err = err};
    size_t mark_bytes = lines_mark_bytes(text, length);
    const char *from;

    assert(text[length] == 0);
    text += mark_bytes;
    length -= mark_bytes;
    from = text;
    while (isspace((unsigned char)*from))
        from++;
    if (!*from && !out->empty)
        out->empty = pointer;
    out->empty_count += !*from;
    if (!*from || says_none(from))
        return OK;
    TRY(slurm_document_check(from, pointer, err));
    slurm_fields_index(&fields, a);
    while (*from != '{' && from > text && from[-1] == ' ')
        from--; /* columns may be set by blanks */
    length -= (size_t)(from - text);
    return *from == '{' ? slurm_json_read(&r, from, length)
                        : slurm_text_read(&r, from, length);
}
