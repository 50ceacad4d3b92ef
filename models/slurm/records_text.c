/* records_text.c - what scontrol prints, to records; tables are read by records_table.c.
 *
 * Two forms: records of key=value (scontrol show), with -o on one line each, and
 * key = value on lines of their own (scontrol show config, slurm.conf).
 *
 * A value of scontrol ends where the next " Key=" begins, so that blanks in it are kept.
 * What users may write themselves could hold such a text too: JobName ends only before
 * UserId, and comments, commands and paths take the rest of their line. The first value
 * of a key counts.
 */
#include "models/slurm/records.h"

#include "models/base/budget_read.h"
#include "models/slurm/values.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { KEY_BYTES = 64 };

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

/* Where such a line, which with -o is a part of the job's, ends; NULL: it is none. */
static const char *held_end(const char *line, const char *end)
{
    static const char *const keys[] = {"CPU_IDs", "Mem", "GRES"};
    size_t length = key_length(line, end), count = 0;
    const char *at = line;

    if (!is_key(line, length, "Nodes"))
        return NULL;
    for (;;) {
        at = value_end(at, length, at + length + 1, end);
        at += at < end; /* the blank before the next key */
        length = key_length(at, end);
        if (count == sizeof(keys) / sizeof(keys[0]) || !is_key(at, length, keys[count]))
            return count > 0 ? at : NULL;
        count++;
    }
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
        while (line < stop) {
            size_t length = key_length(line, stop);
            const char *from = line + length + 1, *to = held_end(line, stop);

            if (to) {
                held_line(r, record, line, to);
                line = to;
                continue;
            }

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

/* slurm.conf: comments at most before its first line. */
static bool is_configuration(const char *text)
{
    static const char *const firsts[] = {
        "ClusterName=", "ControlMachine=", "SlurmctldHost=", NULL};

    while (*text == '#' || isspace((unsigned char)*text))
        text += *text == '#' ? strcspn(text, "\n") : 1;
    for (size_t i = 0; firsts[i]; i++)
        if (strncasecmp(text, firsts[i], strlen(firsts[i])) == 0)
            return true;
    return false;
}

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

enum error_code slurm_text_read(struct slurm_reader *r, const char *text, size_t length)
{
    const char *end = text + length, *stop = line_end(text, end);
    enum slurm_kind kind;

    if (begins_record(text, key_length(text, stop), &kind))
        read_keys(r, text, end);
    else if (strncmp(text, "Configuration data as of", 24) == 0 ||
             memmem(text, (size_t)(stop - text), " = ", 3) || is_configuration(text))
        read_config(r, text, end);
    else
        return slurm_table_read(r, text, length);
    return OK;
}
