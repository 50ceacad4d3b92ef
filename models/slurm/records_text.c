/* records_text.c - what scontrol, squeue, sinfo, sshare, sacctmgr and sacct print, to
 * records.
 *
 * Three forms: records of key=value (scontrol show), key = value on lines of their own
 * (scontrol show config), and tables with | between columns, the first line naming them.
 *
 * A value of scontrol ends where the next " Key=" begins, so that blanks in it are kept.
 * What users may write themselves could hold such a text too: JobName ends only before
 * UserId, and comments, commands and paths take the rest of their line. The first value
 * of a key counts.
 *
 * In a table a | in a name or a comment gives a row too many fields: what is left and
 * right of that column is counted from both ends.
 */
#include "models/slurm/records.h"

#include "models/base/budget_read.h"
#include "models/slurm/values.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = 256, KEY_BYTES = 64 };

static const char *const first_keys[] = {
#define X(symbol, list, key) key,
    SLURM_KINDS(X)
#undef X
};

/* ---- key=value ---- */

/* Bytes of a key with its = at `at`; 0: there is none. */
static size_t key_length(const char *at, const char *end)
{
    const char *from = at;

    while (at < end && (isalnum((unsigned char)*at) || strchr("_:/", *at)))
        at++;
    return at < end && at > from && *at == '=' ? (size_t)(at - from) : 0;
}

static bool is_key(const char *at, size_t length, const char *key)
{
    return strlen(key) == length && strncmp(at, key, length) == 0;
}

/* Texts that users write: the rest of the line is theirs. */
static bool takes_the_line(const char *key, size_t length)
{
    static const char *const own[] = {
        "Comment", "AdminComment", "SystemComment", "Command", "WorkDir",
        "StdErr",  "StdIn",        "StdOut",        "Extra",   NULL};

    for (size_t i = 0; own[i]; i++)
        if (is_key(key, length, own[i]))
            return true;
    return false;
}

/* Where the value that begins at `at` ends. */
static const char *value_end(const char *key, size_t length, const char *at,
                             const char *end)
{
    bool is_name = is_key(key, length, "JobName");

    if (takes_the_line(key, length))
        return end;
    for (; at < end; at++)
        if (*at == ' ' && key_length(at + 1, end) > 0 &&
            (!is_name || strncmp(at, " UserId=", 8) == 0))
            return at;
    return end;
}

static const char *trimmed(struct slurm_reader *r, const char *from, const char *to)
{
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return arena_text(r->arena, from, (size_t)(to - from));
}

/* "Nodes=node[2-5] CPU_IDs=0-15 Mem=8000 GRES=gpu:2(IDX:0-1)" of a job. */
static void held_line(struct slurm_reader *r, struct slurm_record *record,
                      const char *line, const char *end)
{
    struct slurm_held *all = NEW(r->arena, struct slurm_held, record->held_count + 1);
    struct slurm_held one = {.cpus = NAN, .cores = NAN, .memory_bytes = NAN};
    size_t count;
    double unused;

    while (line < end) {
        size_t length = key_length(line, end);
        const char *from = line + length + 1, *to;

        if (length == 0) {
            line++;
            continue;
        }
        to = value_end(line, length, from, end);
        if (is_key(line, length, "Nodes"))
            one.nodes = trimmed(r, from, to);
        else if (is_key(line, length, "CPU_IDs") &&
                 slurm_tasks(trimmed(r, from, to), &count, &unused))
            one.cpus = (double)count;
        else if (is_key(line, length, "Mem"))
            one.memory_bytes = slurm_bytes(trimmed(r, from, to), NULL);
        else if (is_key(line, length, "GRES"))
            one.gres = trimmed(r, from, to);
        line = to + (to < end);
    }
    if (!one.nodes)
        return;
    if (record->held_count > 0)
        memcpy(all, record->held, record->held_count * sizeof(*all));
    all[record->held_count++] = one;
    record->held = all;
}

static bool is_held_line(const char *line, const char *end)
{
    return end - line > 6 && strncmp(line, "Nodes=", 6) == 0 &&
           memmem(line, (size_t)(end - line), " CPU_IDs=", 9);
}

/* The kind whose records begin with this key. */
static bool begins_record(const char *line, size_t length, enum slurm_kind *kind)
{
    for (int i = 0; i < SLURM_KIND_COUNT; i++)
        if (first_keys[i] && is_key(line, length, first_keys[i])) {
            *kind = (enum slurm_kind)i;
            return true;
        }
    return false;
}

static const char *line_end(const char *at, const char *end)
{
    const char *found = memchr(at, '\n', (size_t)(end - at));

    return found ? found : end;
}

static void read_keys(struct slurm_reader *r, const char *text, const char *end)
{
    struct slurm_record *record = NULL;
    enum slurm_kind kind;
    char key[KEY_BYTES];

    for (const char *line = text, *stop; line < end; line = stop + 1) {
        bool is_first = !isspace((unsigned char)*line);

        stop = line_end(line, end);
        budget_read_step((size_t)(stop - line));
        while (line < stop && isspace((unsigned char)*line))
            line++;
        if (is_first && begins_record(line, key_length(line, stop), &kind))
            record = slurm_record_add(r, kind, SLURM_KEYS);
        if (!record)
            continue;
        if (is_held_line(line, stop)) {
            held_line(r, record, line, stop);
            continue;
        }
        while (line < stop) {
            size_t length = key_length(line, stop);
            const char *from = line + length + 1, *to;

            if (length == 0) { /* a word without a key: nobody's */
                line++;
                continue;
            }
            to = value_end(line, length, from, stop);
            if (length < KEY_BYTES) {
                memcpy(key, line, length);
                key[length] = 0;
                slurm_record_set(r, record, key, trimmed(r, from, to));
            }
            line = to + (to < stop);
        }
    }
}

/* ---- key = value ---- */

static void read_config(struct slurm_reader *r, const char *text, const char *end)
{
    struct slurm_record *record = slurm_record_add(r, SLURM_CONFIG, SLURM_KEYS);
    struct slurm_pair *pairs = NULL;
    size_t count = 0, size = 0;

    for (const char *line = text, *stop; line < end; line = stop + 1) {
        const char *equals;

        stop = line_end(line, end);
        equals = memchr(line, '=', (size_t)(stop - line));
        budget_read_step((size_t)(stop - line));
        if (!equals || *line == '#')
            continue;
        if (count == size) {
            pairs = GROW(r->arena, pairs, struct slurm_pair, size, size ? 2 * size : 256);
            size = size ? 2 * size : 256;
        }
        while (isspace((unsigned char)*line))
            line++;
        pairs[count].key = trimmed(r, line, equals);
        while (++equals < stop && *equals == ' ')
            ;
        pairs[count++].value = trimmed(r, equals, stop);
    }
    record->pairs = pairs;
    record->pair_count = count;
}

/* ---- tables ---- */

/* Fields of a line, which is written on. */
static size_t cut_fields(char *line, char **fields)
{
    size_t count = 0;

    for (char *at = line;; at++) {
        if (count < COLUMNS_MAX)
            fields[count] = line;
        at += strcspn(at, "|");
        count++;
        if (!*at)
            return count;
        *at = 0;
        line = at + 1;
    }
}

static bool has_column(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* What the rows of a table are: one of the columns says. */
static bool table_kind(char *const *names, size_t count, enum slurm_kind *kind)
{
    static const struct {
        const char *column;
        enum slurm_kind kind;
    } by[] = {
        {"JobID", SLURM_JOB},       {"JobIDRaw", SLURM_JOB},
        {"JOBID", SLURM_JOB},       {"RawShares", SLURM_SHARE},
        {"TimeStart", SLURM_EVENT}, {"UsageFactor", SLURM_QOS},
        {"Preempt", SLURM_QOS},     {"Share", SLURM_ASSOCIATION},
        {"MEMORY", SLURM_NODE},     {"NODELIST", SLURM_NODE},
        {"HOSTNAMES", SLURM_NODE},  {"ARRAY_JOB_ID", SLURM_JOB},
    };

    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
        if (has_column(names, count, by[i].column)) {
            *kind = by[i].kind;
            return true;
        }
    return false;
}

/* Column that may hold a |: the one that users write. */
static size_t free_column(char *const *names, size_t count)
{
    static const char *const own[] = {"JobName", "NAME",       "Comment",
                                      "Reason",  "SubmitLine", NULL};

    for (size_t k = 0; own[k]; k++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(names[i], own[k]) == 0)
                return i;
    return count;
}

/* "13_4" and "13_[1-5%2]" are of array 13; "15+0" is a part of a heterogeneous job.
 * The last column of squeue has the nodes, or the reason in parentheses. */
static void complete_job(struct slurm_reader *r, struct slurm_record *record)
{
    const char *id = record->value[SLURM_F_ID], *at = id ? strchr(id, '_') : NULL;
    const char *where = record->value[SLURM_F_NODES_OR_REASON];
    size_t length = where ? strlen(where) : 0;

    if (at && !record->value[SLURM_F_ARRAY_JOB] && !record->value[SLURM_F_ARRAY_TASK]) {
        const char *task = at + 1 + (at[1] == '[');

        record->value[SLURM_F_ARRAY_JOB] = arena_text(r->arena, id, (size_t)(at - id));
        record->value[SLURM_F_ARRAY_TASK] =
            arena_text(r->arena, task, strcspn(task, "]"));
    }
    if (id && !record->value[SLURM_F_HET_JOB] && strchr(id, '+'))
        record->value[SLURM_F_HET_JOB] = arena_text(r->arena, id, strcspn(id, "+"));
    if (length > 2 && *where == '(' && where[length - 1] == ')') {
        if (!record->value[SLURM_F_REASON])
            record->value[SLURM_F_REASON] = arena_text(r->arena, where + 1, length - 2);
    } else if (length > 0 && !record->value[SLURM_F_NODES])
        record->value[SLURM_F_NODES] = where;
}

/* A row of sinfo is of some nodes in one partition, the default one with a * behind. */
static void complete_node(struct slurm_reader *r, struct slurm_record *record)
{
    static const enum slurm_field both[] = {
        SLURM_F_NODES,  SLURM_F_TIME_MAX, SLURM_F_TIME_DEFAULT, SLURM_F_TIER,
        SLURM_F_FACTOR, SLURM_F_SHARED,   SLURM_F_CLUSTER};
    const char *name = record->value[SLURM_F_PARTITION];
    size_t length = name ? strlen(name) : 0;
    struct slurm_record *partition;

    if (length == 0)
        return;
    partition = slurm_record_add(r, SLURM_SINFO_PARTITION, SLURM_TABLE);
    if (name[length - 1] == '*') {
        partition->value[SLURM_F_IS_DEFAULT] = "YES";
        length--;
    }
    partition->value[SLURM_F_NAME] = arena_text(r->arena, name, length);
    partition->value[SLURM_F_STATE] = record->value[SLURM_F_AVAIL];
    for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++)
        partition->value[both[i]] = record->value[both[i]];
    if (!partition->value[SLURM_F_NODES])
        partition->value[SLURM_F_NODES] = record->value[SLURM_F_HOST];
}

static void read_row(struct slurm_reader *r, enum slurm_kind kind, char *const *names,
                     size_t column_count, bool has_end, size_t user_column, char *line)
{
    char *fields[COLUMNS_MAX] = {NULL};
    size_t count, extra;
    struct slurm_record *record;

    count = cut_fields(line, fields);
    if (has_end && count > 1 && count <= COLUMNS_MAX && !*fields[count - 1])
        count--;
    if (count < column_count || count > COLUMNS_MAX) {
        r->out->cut_rows++;
        return;
    }
    extra = count - column_count;
    if (extra > 0 && user_column == column_count) {
        r->out->cut_rows++;
        return;
    }
    r->out->odd_rows += extra > 0;
    record = slurm_record_add(r, kind, SLURM_TABLE);
    for (size_t i = 0; i < column_count; i++) {
        size_t at = i > user_column ? i + extra : i;
        char *field = fields[at];

        if (i == user_column)
            for (size_t k = 0; k < extra; k++)
                field[strlen(field)] = '|';          /* the next one is behind its end */
        while (*field == ' ' && kind != SLURM_SHARE) /* there blanks say how deep */
            field++;
        slurm_record_set(r, record, names[i], field);
    }
    if (kind == SLURM_JOB)
        complete_job(r, record);
    else if (kind == SLURM_NODE)
        complete_node(r, record);
}

static enum error_code read_table(struct slurm_reader *r, const char *text,
                                  const char *end)
{
    char *copy = arena_text(r->arena, text, (size_t)(end - text)), *line = copy,
         *last = copy + (end - text), *names[COLUMNS_MAX] = {NULL};
    size_t column_count = 0, user_column = 0;
    enum slurm_kind kind = SLURM_JOB;
    bool has_end = false; /* lines of -p end in a | */

    for (bool is_header = true; line < last; is_header = false) {
        char *stop = (char *)line_end(line, last);

        *stop = 0;
        if (stop > line && stop[-1] == '\r')
            stop[-1] = 0;
        budget_read_step((size_t)(stop - line));
        if (is_header) {
            column_count = cut_fields(line, names);
            if (column_count > COLUMNS_MAX)
                break;
            has_end = column_count > 1 && !*names[column_count - 1];
            column_count -= has_end;
            if (!table_kind(names, column_count, &kind))
                break;
            user_column = free_column(names, column_count);
            r->out->of[kind].pointer = r->pointer;
        } else if (*line)
            read_row(r, kind, names, column_count, has_end, user_column, line);
        line = stop + 1;
    }
    if (!r->out->of[kind].pointer || user_column > column_count || column_count < 2)
        return invalid(r->err, r->pointer, ITEM_MALFORMED,
                       "no known column in the first line of the table");
    return OK;
}

enum error_code slurm_text_read(struct slurm_reader *r, const char *text, size_t length)
{
    const char *end = text + length, *stop = line_end(text, end);
    enum slurm_kind kind;

    if (begins_record(text, key_length(text, stop), &kind))
        read_keys(r, text, end);
    else if (strncmp(text, "Configuration data as of", 24) == 0 ||
             memmem(text, (size_t)(stop - text), " = ", 3) ||
             strncmp(text, "ClusterName=", 12) == 0)
        read_config(r, text, end);
    else if (memchr(text, '|', (size_t)(stop - text)))
        return read_table(r, text, end);
    else
        return invalid(r->err, r->pointer, ITEM_MALFORMED,
                       "neither JSON with jobs[] nor key=value records nor a table");
    return OK;
}
