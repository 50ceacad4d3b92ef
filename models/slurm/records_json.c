/* records_json.c - JSON of Slurm's commands and of slurmrestd to records.
 *
 * Members of members are fields by their path. Which nodes a running job has, and what
 * of each, is a list in the job: job_resources.allocated_nodes before v0.0.40,
 * job_resources.nodes.allocation since.
 */
#include "models/slurm/records.h"

#include "models/base/budget_read.h"
#include "models/base/plural.h"
#include "models/json_walk.h"
#include "models/slurm/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 160, LIST_BYTES_MAX = 1 << 20 };

static const char *const list_names[] = {
#define X(symbol, list, key) list,
    SLURM_KINDS(X)
#undef X
};

struct json_reader {
    struct slurm_reader *r;
    struct json_walk walk;
    struct slurm_record *record;
    struct slurm_held *held; /* of the record, as it grows */
    size_t held_size;
};

/* A scalar as text, NULL for null; good until the next. Numbers as they are written. */
static const char *scalar(struct json_reader *j, char *buffer, size_t size)
{
    char type = json_walk_type(&j->walk);
    const char *from = j->walk.at;

    switch (type) {
    case '"':
        return json_walk_string(&j->walk);
    case '0':
        json_walk_number(&j->walk);
        if (j->walk.failed || (size_t)(j->walk.at - from) >= size)
            return NULL;
        memcpy(buffer, from, (size_t)(j->walk.at - from));
        buffer[j->walk.at - from] = 0;
        return buffer;
    default:
        json_walk_skip(&j->walk);
        return type == 't' ? "true" : type == 'f' ? "false" : NULL;
    }
}

static double number_of(struct json_reader *j);

/* The number of {set, infinite, number}. */
static double number_object(struct json_reader *j)
{
    bool set = true, infinite = false;
    double number = NAN;
    const char *name;
    char text[64];

    json_walk_enter(&j->walk, '{');
    while ((name = json_walk_member(&j->walk))) {
        const char *value;

        if (strcmp(name, "number") == 0) {
            number = number_of(j);
            continue;
        }
        if (strcmp(name, "set") == 0)
            set = (value = scalar(j, text, sizeof(text))) && strcmp(value, "true") == 0;
        else if (strcmp(name, "infinite") == 0)
            infinite =
                (value = scalar(j, text, sizeof(text))) && strcmp(value, "true") == 0;
        else
            json_walk_skip(&j->walk);
    }
    return infinite ? (double)INFINITY : set ? number : (double)NAN;
}

/* The number of a value, whatever its form; NAN: none. */
static double number_of(struct json_reader *j)
{
    char text[64];

    if (json_walk_type(&j->walk) == '{')
        return number_object(j);
    if (json_walk_type(&j->walk) == '[') {
        json_walk_skip(&j->walk);
        return NAN;
    }
    return slurm_number(scalar(j, text, sizeof(text)));
}

/* How many cores of a tree of sockets and cores are allocated. */
static size_t allocated_cores(struct json_reader *j)
{
    size_t count = 0;
    char text[64];
    const char *value;

    switch (json_walk_type(&j->walk)) {
    case '{':
        json_walk_enter(&j->walk, '{');
        while (json_walk_member(&j->walk))
            count += allocated_cores(j);
        return count;
    case '[':
        json_walk_enter(&j->walk, '[');
        while (json_walk_element(&j->walk))
            count += allocated_cores(j);
        return count;
    default:
        value = scalar(j, text, sizeof(text));
        return value && strncasecmp(value, "allocated", 9) == 0;
    }
}

static const char *keep(struct json_reader *j, const char *text)
{
    return text ? arena_text(j->r->arena, text, strlen(text)) : NULL;
}

/* A member of a node of a running job, at a path of at most two names. */
static void held_member(struct json_reader *j, const char *name, struct slurm_held *held)
{
    char text[64];
    const char *inner;
    bool cpus = strcmp(name, "cpus") == 0, memory = strcmp(name, "memory") == 0;

    if (strcmp(name, "nodename") == 0 || strcmp(name, "name") == 0)
        held->nodes = keep(j, scalar(j, text, sizeof(text)));
    else if (strcmp(name, "sockets") == 0)
        held->cores = (double)allocated_cores(j);
    else if (strcmp(name, "memory_allocated") == 0)
        held->memory_bytes = number_of(j) * 1048576;
    else if ((cpus || memory) && json_walk_type(&j->walk) == '{') {
        json_walk_enter(&j->walk, '{');
        while ((inner = json_walk_member(&j->walk)))
            if (cpus && strcmp(inner, "count") == 0)
                held->cpus = number_of(j);
            else if (memory && strcmp(inner, "allocated") == 0)
                held->memory_bytes = number_of(j) * 1048576;
            else
                json_walk_skip(&j->walk);
    } else
        json_walk_skip(&j->walk);
}

static void held_nodes(struct json_reader *j)
{
    const char *name;

    json_walk_enter(&j->walk, '[');
    while (json_walk_element(&j->walk)) {
        struct slurm_held one = {.cpus = NAN, .cores = NAN, .memory_bytes = NAN};

        if (json_walk_type(&j->walk) != '{') {
            json_walk_skip(&j->walk);
            continue;
        }
        json_walk_enter(&j->walk, '{');
        while ((name = json_walk_member(&j->walk)))
            held_member(j, name, &one);
        if (!one.nodes)
            continue;
        if (j->record->held_count == j->held_size) {
            size_t size = j->held_size ? 2 * j->held_size : 4;

            j->held = GROW(j->r->arena, j->held, struct slurm_held, j->held_size, size);
            j->held_size = size;
        }
        j->held[j->record->held_count++] = one;
        j->record->held = j->held;
    }
}

struct joined {
    char *text;
    size_t length, size;
};

static void join(struct json_reader *j, struct joined *out, const char *text,
                 char separator, bool first)
{
    size_t more = strlen(text) + 1;

    if (out->length + more + 1 > LIST_BYTES_MAX)
        return;
    if (out->length + more + 1 > out->size) {
        size_t size = 2 * (out->length + more + 1) + 62;

        out->text = GROW(j->r->arena, out->text, char, out->size, size);
        out->size = size;
    }
    if (!first)
        out->text[out->length++] = separator;
    memcpy(out->text + out->length, text, more);
    out->length += more - 1;
}

/* {type, name, count} of the database's lists, as "gres/gpu=2"; else what the object is
 * called. */
static const char *element_object(struct json_reader *j)
{
    const char *type = NULL, *name = NULL, *member;
    double count = NAN;
    char text[64];

    json_walk_enter(&j->walk, '{');
    while ((member = json_walk_member(&j->walk)))
        if (strcmp(member, "type") == 0)
            type = keep(j, scalar(j, text, sizeof(text)));
        else if (strcmp(member, "name") == 0)
            name = keep(j, scalar(j, text, sizeof(text)));
        else if (strcmp(member, "count") == 0)
            count = number_of(j);
        else
            json_walk_skip(&j->walk);
    if (type && isfinite(count))
        return arena_printf(j->r->arena, "%s%s%s=%.15g", type, name && *name ? "/" : "",
                            name ? name : "", count);
    return name ? name : "";
}

/* A list as one text. */
static void list_value(struct json_reader *j, const char *path)
{
    struct joined all = {0};
    char separator = strcmp(path, "gres_detail") == 0 ? ';' : ',', text[64];
    bool first = true;

    json_walk_enter(&j->walk, '[');
    while (json_walk_element(&j->walk)) {
        char type = json_walk_type(&j->walk);
        const char *element = NULL;

        if (type == '{')
            element = element_object(j);
        else if (type == '[')
            json_walk_skip(&j->walk);
        else
            element = scalar(j, text, sizeof(text));
        if (!element)
            continue;
        join(j, &all, element, separator, first);
        first = false;
    }
    if (all.text)
        slurm_record_set(j->r, j->record, path, all.text);
}

/* The member of that name of an object that comes next, read as it is; the others are
 * passed over. */
static bool enter_member(struct json_reader *j, const char *wanted, char type)
{
    const char *name = json_walk_member(&j->walk);

    while (name && (strcmp(name, wanted) != 0 || json_walk_type(&j->walk) != type)) {
        json_walk_skip(&j->walk);
        name = json_walk_member(&j->walk);
    }
    if (name)
        json_walk_enter(&j->walk, type);
    return name;
}

static void leave_object(struct json_reader *j)
{
    while (json_walk_member(&j->walk))
        json_walk_skip(&j->walk);
}

/* The largest {"type": "mem", "count": BYTES} of a list; NAN: none. */
static double largest_memory(struct json_reader *j)
{
    double most = NAN;
    const char *name;
    char text[64];

    while (json_walk_element(&j->walk)) {
        bool is_memory = false;
        double count = NAN;

        if (json_walk_type(&j->walk) != '{') {
            json_walk_skip(&j->walk);
            continue;
        }
        json_walk_enter(&j->walk, '{');
        while ((name = json_walk_member(&j->walk)))
            if (strcmp(name, "type") == 0) {
                const char *type = scalar(j, text, sizeof(text));

                is_memory = type && strcmp(type, "mem") == 0;
            } else if (strcmp(name, "count") == 0)
                count = number_of(j);
            else
                json_walk_skip(&j->walk);
        if (is_memory)
            most = fmax(most, count);
    }
    return most;
}

/* Steps of accounting: of all of them the most memory that a task had, in bytes, which
 * stands in tres.requested.max. */
static void read_steps(struct json_reader *j)
{
    double most = NAN;

    json_walk_enter(&j->walk, '[');
    while (json_walk_element(&j->walk)) {
        if (json_walk_type(&j->walk) != '{') {
            json_walk_skip(&j->walk);
            continue;
        }
        json_walk_enter(&j->walk, '{');
        if (!enter_member(j, "tres", '{'))
            continue;
        if (enter_member(j, "requested", '{')) {
            if (enter_member(j, "max", '[')) {
                most = fmax(most, largest_memory(j));
                leave_object(j);
            }
            leave_object(j);
        }
        leave_object(j);
    }
    if (most > 0 && isfinite(most))
        slurm_record_set(j->r, j->record, "MaxRSS",
                         arena_printf(j->r->arena, "%.0f", most));
}

/* The members of an object below `path`, which may be a number itself. */
static void members(struct json_reader *j, char *path, size_t length);

static void value(struct json_reader *j, char *path, size_t length)
{
    char type = json_walk_type(&j->walk), text[64];
    const char *found;

    if (type == '{') {
        members(j, path, length);
    } else if (type == '[') {
        if (strcmp(path, "job_resources.allocated_nodes") == 0 ||
            strcmp(path, "job_resources.nodes.allocation") == 0)
            held_nodes(j);
        else if (strcmp(path, "steps") == 0)
            read_steps(j);
        else
            list_value(j, path);
    } else {
        found = scalar(j, text, sizeof(text));
        if (found)
            slurm_record_set(j->r, j->record, path, found);
    }
}

/* {set, infinite, number} as it is read, or {number} alone. */
struct number_parts {
    bool is_number, unset, infinite, has_others;
    char number[64];
};

/* Whether the member is such a part; then it has been read. */
static bool read_number_part(struct json_reader *j, const char *name,
                             struct number_parts *n)
{
    char type = json_walk_type(&j->walk), text[64];
    bool is_set = strcmp(name, "set") == 0;
    const char *found;

    if ((type == '0' || type == '"') && strcmp(name, "number") == 0) {
        found = scalar(j, text, sizeof(text));
        snprintf(n->number, sizeof(n->number), "%s", found ? found : "");
        return true;
    }
    if ((type != 't' && type != 'f') || (!is_set && strcmp(name, "infinite") != 0))
        return false;
    json_walk_skip(&j->walk);
    n->is_number = true;
    if (is_set)
        n->unset = type == 'f';
    else
        n->infinite = type == 't';
    return true;
}

static void members(struct json_reader *j, char *path, size_t length)
{
    struct number_parts n = {.number = ""};
    const char *name;

    json_walk_enter(&j->walk, '{');
    while ((name = json_walk_member(&j->walk))) {
        size_t more = strlen(name), longer = length;

        budget_read_step(more);
        if (read_number_part(j, name, &n))
            continue;
        n.has_others = true;
        if (length + more + 2 > PATH_BYTES) {
            json_walk_skip(&j->walk);
            continue;
        }
        if (length > 0)
            path[longer++] = '.';
        memcpy(path + longer, name, more + 1);
        value(j, path, longer + more);
        path[length] = 0;
    }
    if (n.is_number && n.infinite)
        slurm_record_set(j->r, j->record, path, "infinite");
    else if ((n.is_number || !n.has_others) && !n.unset && *n.number)
        slurm_record_set(j->r, j->record, path, n.number);
}

/* The object that comes next, as a record. */
static void read_record(struct json_reader *j, enum slurm_kind kind)
{
    char path[PATH_BYTES] = "";

    j->record = slurm_record_add(j->r, kind, SLURM_JSON);
    j->held = NULL;
    j->held_size = 0;
    members(j, path, 0);
}

static void read_list(struct json_reader *j, enum slurm_kind kind)
{
    json_walk_enter(&j->walk, '[');
    while (json_walk_element(&j->walk))
        if (json_walk_type(&j->walk) == '{')
            read_record(j, kind);
        else
            json_walk_skip(&j->walk);
}

/* A row of `sinfo --json` since v0.0.40: nodes that are alike, in a partition, of which
 * it has all. */
static void read_row(struct json_reader *j)
{
    char path[PATH_BYTES] = "";
    struct slurm_record *partition = NULL, *nodes;
    const char *name;

    nodes = slurm_record_add(j->r, SLURM_NODE, SLURM_JSON);
    json_walk_enter(&j->walk, '{');
    while ((name = json_walk_member(&j->walk))) {
        size_t length = strlen(name);
        bool is_partition = strcmp(name, "partition") == 0;

        if (is_partition && json_walk_type(&j->walk) == '{') {
            read_record(j, SLURM_SINFO_PARTITION);
            partition = j->record;
        } else if (length >= PATH_BYTES) {
            json_walk_skip(&j->walk);
        } else {
            j->record = nodes;
            memcpy(path, name, length + 1);
            value(j, path, length);
        }
    }
    if (partition && partition->value[SLURM_F_NAME] && !partition->value[SLURM_F_NODES])
        partition->value[SLURM_F_NODES] = nodes->value[SLURM_F_NODES];
}

static void read_rows(struct json_reader *j)
{
    json_walk_enter(&j->walk, '[');
    while (json_walk_element(&j->walk))
        if (json_walk_type(&j->walk) == '{')
            read_row(j);
        else
            json_walk_skip(&j->walk);
}

/* At most SLURM_SAID_BYTES of a text, of which no character is cut. */
static const char *said_cut(const char *text, struct arena *a)
{
    size_t length = SLURM_SAID_BYTES;

    if (strlen(text) <= length)
        return text;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return arena_printf(a, "%.*s...", (int)length, text);
}

/* Members of an element of errors[] or warnings[] that are meant for people. */
static bool is_said(const char *name)
{
    static const char *const names[] = {"error", "description"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* What such an element says, which may be a text itself; "": nothing. */
static const char *said_text(struct json_reader *j)
{
    struct joined all = {0};
    const char *name, *found;
    char text[64];

    if (json_walk_type(&j->walk) != '{') {
        found = scalar(j, text, sizeof(text));
        return found ? keep(j, found) : "";
    }
    json_walk_enter(&j->walk, '{');
    while ((name = json_walk_member(&j->walk)))
        if (is_said(name) && json_walk_type(&j->walk) == '"')
            join(j, &all, json_walk_string(&j->walk), ' ', !all.text);
        else
            json_walk_skip(&j->walk);
    return all.text ? all.text : "";
}

static void read_said(struct json_reader *j, struct slurm_said *said)
{
    if (!said->count)
        said->pointer = j->r->pointer;
    json_walk_enter(&j->walk, '[');
    while (json_walk_element(&j->walk)) {
        const char *text = said_cut(said_text(j), j->r->arena);
        bool known = !*text;

        said->count++;
        for (size_t i = 0; i < said->text_count; i++)
            known |= strcmp(said->texts[i], text) == 0;
        if (!known && said->text_count < SLURM_SAID_MAX)
            said->texts[said->text_count++] = text;
    }
}

/* The texts, with "; " between; "": there are none. */
static const char *said_all(const struct slurm_said *said, struct arena *a)
{
    const char *all = "";

    for (size_t i = 0; i < said->text_count; i++)
        all = arena_printf(a, "%s%s%s", all, i ? "; " : "", said->texts[i]);
    return all;
}

const char *slurm_warned_text(const struct slurm_said *warned, struct arena *a)
{
    const char *all = said_all(warned, a);

    if (warned->count == 0)
        return NULL;
    return arena_printf(
        a, "slurm_warned: %s of Slurm itself, %sat %s%s%s",
        counted(warned->count, "warning").text, warned->count > 1 ? "the first " : "",
        *warned->pointer ? warned->pointer : "the document", *all ? ": " : "", all);
}

/* Version and cluster, which stand in meta. */
static void read_meta(struct json_reader *j)
{
    const char *name, *inner;
    char text[64];

    json_walk_enter(&j->walk, '{');
    while ((name = json_walk_member(&j->walk))) {
        bool is_plugin = strcmp(name, "plugin") == 0;

        if (!is_plugin || json_walk_type(&j->walk) != '{') {
            json_walk_skip(&j->walk);
            continue;
        }
        json_walk_enter(&j->walk, '{');
        while ((inner = json_walk_member(&j->walk))) {
            bool is_type =
                strcmp(inner, "type") == 0 || strcmp(inner, "data_parser") == 0;
            const char *found = scalar(j, text, sizeof(text));
            const char *version = is_type && found ? strstr(found, "v0.0.") : NULL;

            if (version)
                j->r->out->version = arena_text(j->r->arena, version,
                                                5 + strspn(version + 5, "0123456789"));
        }
    }
}

static bool find_kind(const char *name, enum slurm_kind *kind)
{
    for (int i = 0; i < SLURM_KIND_COUNT; i++)
        if (i != SLURM_CONFIG && strcmp(name, list_names[i]) == 0) {
            *kind = (enum slurm_kind)i;
            return true;
        }
    return false;
}

/* {"shares": {"shares": [...]}} */
static bool read_inner_shares(struct json_reader *j)
{
    const char *name;
    bool found = false;

    json_walk_enter(&j->walk, '{');
    while ((name = json_walk_member(&j->walk)))
        if (strcmp(name, "shares") == 0 && json_walk_type(&j->walk) == '[') {
            found = true;
            read_list(j, SLURM_SHARE);
        } else
            json_walk_skip(&j->walk);
    return found;
}

static void read_update(struct json_reader *j)
{
    double updated_s = number_of(j);

    if (updated_s > 0 && isfinite(updated_s) && !(updated_s <= j->r->out->updated_s))
        j->r->out->updated_s = updated_s;
}

/* A member of the document; whether it was a list of records. */
static bool read_member(struct json_reader *j, const char *name,
                        struct slurm_said *errors)
{
    char type = json_walk_type(&j->walk);
    enum slurm_kind kind;

    if (type == '[' && find_kind(name, &kind)) {
        read_list(j, kind);
        return true;
    }
    if (type == '[' && strcmp(name, "sinfo") == 0) {
        read_rows(j);
        return true;
    }
    if (type == '{' && strcmp(name, "shares") == 0)
        return read_inner_shares(j);
    if (type == '[' && strcmp(name, "errors") == 0)
        read_said(j, errors);
    else if (type == '[' && strcmp(name, "warnings") == 0)
        read_said(j, &j->r->out->warned);
    else if (type == '{' && strcmp(name, "meta") == 0)
        read_meta(j);
    else if (strcmp(name, "last_update") == 0)
        read_update(j);
    else
        json_walk_skip(&j->walk);
    return false;
}

enum error_code slurm_json_read(struct slurm_reader *r, const char *text, size_t length)
{
    struct json_reader j = {.r = r};
    struct slurm_said errors = {.count = 0};
    bool has_list = false;
    const char *name;

    json_walk_open(&j.walk, text, length, r->arena);
    json_walk_enter(&j.walk, '{');
    while ((name = json_walk_member(&j.walk)))
        has_list |= read_member(&j, name, &errors);
    if (j.walk.failed && !j.walk.cancelled && j.walk.at >= j.walk.end)
        return invalid(r->err, r->pointer, ITEM_CUT,
                       "the JSON breaks off at byte %zu: was the command killed?",
                       length);
    TRY(json_walk_end(&j.walk, r->pointer, r->err));
    if (errors.count)
        return invalid(r->err, r->pointer, ITEM_MALFORMED, "Slurm tells of %s%s%s",
                       counted(errors.count, "error").text, errors.text_count ? ": " : "",
                       said_all(&errors, r->arena));
    if (!has_list)
        return invalid(
            r->err, r->pointer, ITEM_MALFORMED,
            "JSON without jobs[], nodes[], sinfo[], partitions[], reservations[], "
            "licenses[], shares[], associations[] or qos[]");
    return OK;
}
