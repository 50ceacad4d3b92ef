/* records_table.c - tables of squeue, sinfo, sshare, sacctmgr and sacct to records.
 *
 * The first line names the columns. Between them stands |, or another mark (--delimiter),
 * or they are set by blanks: as wide as the rule of dashes below the names, or else found
 * from where all lines have a blank. What is set by blanks may be cut off, with a + at
 * its end where Slurm says so.
 *
 * A mark in a name or a comment gives a row too many fields: what is left and right of
 * that column is counted from both ends.
 */
#include "models/slurm/records.h"

#include "models/base/budget_read.h"
#include "models/slurm/values.h"

#include <ctype.h>
#include <string.h>

enum { COLUMNS_MAX = 256, OUTPUT_WIDTH = 20 /* of a column of squeue -O */ };

struct table {
    struct slurm_reader *r;
    enum slurm_kind kind;
    char *names[COLUMNS_MAX];
    size_t column_count;
    size_t user_column;       /* may hold the mark; column_count: none does */
    char mark;                /* 0: columns are set by blanks */
    bool has_end;             /* lines end in the mark: -p */
    size_t from[COLUMNS_MAX]; /* set by blanks: where the columns begin, in bytes */
    bool by_words;            /* ... each field is a word */
};

/* ---- which table ---- */

static bool has_column(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->column_count; i++)
        if (t->names[i] && strcmp(t->names[i], name) == 0)
            return true;
    return false;
}

/* What the rows are: one of the columns says. */
static bool find_kind(struct table *t)
{
    static const struct {
        const char *column;
        enum slurm_kind kind;
    } by[] = {
        {"JobID", SLURM_JOB},         {"JobIDRaw", SLURM_JOB},
        {"JOBID", SLURM_JOB},         {"ARRAY_JOB_ID", SLURM_JOB},
        {"RawShares", SLURM_SHARE},   {"TimeStart", SLURM_EVENT},
        {"UsageFactor", SLURM_QOS},   {"Preempt", SLURM_QOS},
        {"Share", SLURM_ASSOCIATION}, {"MEMORY", SLURM_NODE},
        {"NODELIST", SLURM_NODE},     {"HOSTNAMES", SLURM_NODE},
    };

    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
        if (has_column(t, by[i].column)) {
            t->kind = by[i].kind;
            return true;
        }
    return false;
}

/* The column that users write. */
static size_t free_column(const struct table *t)
{
    static const char *const own[] = {"JobName", "NAME",       "Comment",
                                      "Reason",  "SubmitLine", NULL};

    for (size_t k = 0; own[k]; k++)
        for (size_t i = 0; i < t->column_count; i++)
            if (strcmp(t->names[i], own[k]) == 0)
                return i;
    return t->column_count;
}

/* ---- lines ---- */

/* The line at *at, which ends there now; NULL: none. Steps behind it. */
static char *next_line(char **at, char *end)
{
    char *line = *at, *stop;

    if (line >= end)
        return NULL;
    stop = memchr(line, '\n', (size_t)(end - line));
    stop = stop ? stop : end;
    *at = stop + 1;
    *stop = 0;
    if (stop > line && stop[-1] == '\r')
        stop[-1] = 0;
    budget_read_step((size_t)(stop - line));
    return line;
}

/* Lines that are long enough for so many columns. */
static size_t count_rows(const char *at, const char *end, size_t column_count)
{
    size_t count = 0;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        stop = stop ? stop : end;
        budget_read_step(8);
        count += (size_t)(stop - at) + 1 >= column_count;
        at = stop + 1;
    }
    return count;
}

/* Fields of a line between marks. */
static size_t cut_at_marks(char *line, char mark, char **fields)
{
    const char marks[] = {mark, 0};
    size_t count = 0;

    for (char *at = line;; at++) {
        if (count < COLUMNS_MAX)
            fields[count] = line;
        at += strcspn(at, marks);
        count++;
        if (!*at)
            return count;
        *at = 0;
        line = at + 1;
    }
}

static size_t cut_at_blanks(char *line, char **fields)
{
    size_t count = 0;

    for (char *at = line; *(at += strspn(at, " ")); count++) {
        if (count < COLUMNS_MAX)
            fields[count] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = 0;
    }
    return count;
}

static size_t word_count(const char *line)
{
    size_t count = 0;

    for (; *(line += strspn(line, " ")); line += strcspn(line, " "))
        count++;
    return count;
}

/* Fields of a line from column to column, without the blanks behind them. */
static void cut_at_columns(const struct table *t, const char *line, char **fields)
{
    size_t length = strlen(line);

    for (size_t i = 0; i < t->column_count; i++) {
        size_t from = t->from[i] < length ? t->from[i] : length;
        size_t to =
            i + 1 < t->column_count && t->from[i + 1] < length ? t->from[i + 1] : length;

        while (to > from && line[to - 1] == ' ')
            to--;
        fields[i] = arena_text(t->r->arena, line + from, to - from);
    }
}

/* "CLUSTER: name" of -M; a day of the week with date and time, of squeue and sinfo -l. */
static bool stands_before(const char *line)
{
    static const char days[] = "Mon Tue Wed Thu Fri Sat Sun ";
    char day[5] = {0};

    if (strncmp(line, "CLUSTER: ", 9) == 0)
        return true;
    memcpy(day, line, strnlen(line, 4));
    return strlen(day) == 4 && strstr(days, day) && !strchr(line, '|') &&
           strchr(line, ':') && isdigit((unsigned char)line[strlen(line) - 1]);
}

static bool is_rule(const char *line)
{
    return strstr(line, "--") && !line[strspn(line, "- ")];
}

/* ---- columns that are set by blanks ---- */

static char byte_of(const char *line, size_t length, size_t at)
{
    return at < length ? line[at] : ' ';
}

/* What all lines have at a place of the first one. */
struct places {
    const char *head;
    size_t length;
    bool *is_blank; /* all have a blank there */
    bool *is_begin; /* a word of all that are so long begins there */
    bool are_words; /* all lines have as many words as the first one */
};

static struct places look_at(char *text, char *end, const char *head, struct arena *a)
{
    struct places p = {.head = head, .length = strlen(head), .are_words = true};
    size_t words = word_count(head);

    p.is_blank = NEW(a, bool, 2 * (p.length + 1));
    p.is_begin = p.is_blank + p.length + 1;
    memset(p.is_blank, true, 2 * (p.length + 1));
    for (char *at = text; at < end;) {
        char *stop = memchr(at, '\n', (size_t)(end - at)), *line = at;
        size_t length = (size_t)((stop ? stop : end) - at), count = 0;

        at = stop ? stop + 1 : end;
        length -= length > 0 && line[length - 1] == '\r';
        budget_read_step(p.length + length);
        if (length == 0)
            continue;
        for (size_t i = 0; i <= p.length; i++) {
            bool before = i > 0 && byte_of(line, length, i - 1) != ' ';
            bool here = byte_of(line, length, i) != ' ';

            p.is_blank[i] &= !here;
            p.is_begin[i] &= i >= length || (here && !before);
        }
        for (size_t i = 0; i < length; i++)
            count += line[i] != ' ' && (i == 0 || line[i - 1] == ' ');
        p.are_words &= count == words;
    }
    return p;
}

/* Where the column whose name is at `begin` begins, behind a name that ends at `before`:
 * where its own name does, when all words are flush with that, else at the first blank
 * that all lines have. False: they have none. */
static bool column_begin(const struct places *p, size_t before, size_t begin,
                         size_t *column)
{
    *column = begin;
    if (p->is_begin[begin])
        return true;
    for (size_t i = before; i < begin; i++)
        if (p->is_blank[i]) {
            *column = i;
            return true;
        }
    return false;
}

/* Whether all names are where squeue -O has them, who leaves no blank between columns. */
static bool is_output(const char *head)
{
    size_t at = 0;

    for (; head[at]; at += strspn(head + at, " ")) {
        if (at % OUTPUT_WIDTH)
            return false;
        at += strcspn(head + at, " ");
    }
    return true;
}

/* By the names in the first line, and what stands below. */
static void find_columns(struct table *t, const char *head, const struct places *p)
{
    size_t at = strspn(head, " "), before = 0;
    bool good = true, output = is_output(head);

    t->by_words = p->are_words && !output;
    for (t->column_count = 0; head[at] && t->column_count < COLUMNS_MAX;
         t->column_count++) {
        size_t length = strcspn(head + at, " ");

        t->names[t->column_count] = arena_text(t->r->arena, head + at, length);
        t->from[t->column_count] = output ? at : 0;
        if (t->column_count > 0 && !output)
            good &= column_begin(p, before, at, &t->from[t->column_count]);
        before = at + length;
        at = before + strspn(head + before, " ");
    }
    t->by_words |= !good;
}

/* By a rule of dashes below the names. */
static void take_columns(struct table *t, const char *head, const char *rule)
{
    size_t at = strspn(rule, " "), count = 0;

    for (; rule[at] && count < COLUMNS_MAX; count++) {
        t->from[count] = at;
        at += strcspn(rule + at, " ");
        at += strspn(rule + at, " ");
    }
    t->column_count = count;
    cut_at_columns(t, head, t->names);
    for (size_t i = 0; i < count; i++)
        t->names[i] += strspn(t->names[i], " ");
}

/* ---- rows ---- */

/* "13_4" and "13_[1-5%2]" are of array 13; "15+0" is a part of a heterogeneous job. */
static void complete_id(struct slurm_reader *r, struct slurm_record *record)
{
    const char *id = record->value[SLURM_F_ID], *at = id ? strchr(id, '_') : NULL;
    const char *array = record->value[SLURM_F_ARRAY_JOB];

    if (!slurm_value(record, SLURM_F_ARRAY_TASK)) /* squeue -o %F has the job itself */
        record->value[SLURM_F_ARRAY_JOB] = NULL;
    if (!id && array) {
        id = array;
        record->value[SLURM_F_ID] = record->value[SLURM_F_ARRAY_JOB]
                                        ? arena_printf(r->arena, "%s_%s", array,
                                                       record->value[SLURM_F_ARRAY_TASK])
                                        : array;
    }
    if (at && !record->value[SLURM_F_ARRAY_JOB] && !record->value[SLURM_F_ARRAY_TASK]) {
        const char *task = at + 1 + (at[1] == '[');

        record->value[SLURM_F_ARRAY_JOB] = arena_text(r->arena, id, (size_t)(at - id));
        record->value[SLURM_F_ARRAY_TASK] =
            arena_text(r->arena, task, strcspn(task, "]"));
    }
    if (id && !record->value[SLURM_F_HET_JOB] && strchr(id, '+'))
        record->value[SLURM_F_HET_JOB] = arena_text(r->arena, id, strcspn(id, "+"));
}

/* squeue -o %p has a priority as a part of the largest one. */
static void complete_priority(struct slurm_reader *r, struct slurm_record *record)
{
    const char *text = record->value[SLURM_F_PRIORITY];
    double share = slurm_number(text);

    if (text && strncmp(text, "0.", 2) == 0 && share < 1)
        record->value[SLURM_F_PRIORITY] =
            arena_printf(r->arena, "%.0f", share * 4294967295.0);
}

/* The last column of squeue has the nodes, or the reason in parentheses. */
static void complete_job(struct slurm_reader *r, struct slurm_record *record)
{
    const char *where = record->value[SLURM_F_NODES_OR_REASON];
    size_t length = where ? strlen(where) : 0;

    complete_id(r, record);
    complete_priority(r, record);
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

static void add_row(struct table *t, char *const *fields, size_t extra)
{
    struct slurm_record *record = slurm_record_add(t->r, t->kind, SLURM_TABLE);

    for (size_t i = 0; i < t->column_count; i++) {
        size_t at = i > t->user_column ? i + extra : i;
        char *field = fields[at];

        if (!field) /* rows of fewer fields were left out before */
            continue;
        if (i == t->user_column)
            for (size_t k = 0; k < extra; k++)
                field[strlen(field)] = t->mark; /* the next one is behind its end */
        if (t->kind != SLURM_SHARE || strcmp(t->names[i], "Account") != 0)
            field += strspn(field, " "); /* there they say how deep it is */
        slurm_record_keep(t->r, record, t->names[i], field);
    }
    if (t->kind == SLURM_JOB)
        complete_job(t->r, record);
    else if (t->kind == SLURM_NODE)
        complete_node(t->r, record);
}

static void read_marked_row(struct table *t, char *line)
{
    char *fields[COLUMNS_MAX] = {NULL};
    size_t count = cut_at_marks(line, t->mark, fields), extra;

    if (t->has_end && count > 1 && count <= COLUMNS_MAX && !*fields[count - 1])
        count--;
    extra = count - t->column_count;
    if (count < t->column_count || count > COLUMNS_MAX ||
        (extra > 0 && t->user_column == t->column_count)) {
        t->r->out->cut_rows++;
        return;
    }
    t->r->out->odd_rows += extra > 0;
    add_row(t, fields, extra);
}

/* What is cut off: a state is known all the same, a name is as good as it can be; of an
 * id or a list of nodes nothing is left. False: the row has no id. */
static bool mend_field(struct table *t, const char *name, char **field)
{
    size_t length = strlen(*field);

    if (length < 2 || (*field)[length - 1] != '+' || t->kind != SLURM_JOB)
        return true;
    if (strncmp(name, "JobID", 5) == 0)
        return false;
    if (strcmp(name, "State") == 0 && strncmp("OUT_OF_MEMORY", *field, length - 1) == 0)
        *field = arena_text(t->r->arena, "OUT_OF_MEMORY", 13);
    else if (strcmp(name, "NodeList") == 0)
        *field = arena_text(t->r->arena, "", 0);
    else if (strcmp(name, "JobName") == 0)
        t->r->out->cut_names++;
    return true;
}

static void read_set_row(struct table *t, char *line)
{
    char *fields[COLUMNS_MAX] = {NULL};
    bool good = true;

    if (t->by_words)
        good = cut_at_blanks(line, fields) == t->column_count;
    else
        cut_at_columns(t, line, fields);
    for (size_t i = 0; good && i < t->column_count; i++)
        good = mend_field(t, t->names[i], &fields[i]);
    if (good)
        add_row(t, fields, 0);
    else
        t->r->out->cut_rows++;
}

/* ---- the table ---- */

/* Between the names of the first line: |, else another mark, else blanks. */
static char find_mark(const char *head)
{
    const char *mark = "|\t;,^~";

    while (*mark && !strchr(head, *mark))
        mark++;
    return *mark;
}

static enum error_code no_table(struct slurm_reader *r, bool has_marks)
{
    if (has_marks)
        return invalid(r->err, r->pointer, ITEM_MALFORMED,
                       "no known column in the first line of the table: it must name "
                       "them (no -h, -n, --noheader)");
    return invalid(r->err, r->pointer, ITEM_MALFORMED,
                   "neither JSON with jobs[] nor key=value records nor a table");
}

/* Names and columns of the first line; the lines below it are from *at on. */
static bool read_head(struct table *t, char *head, char **at, char *end)
{
    struct arena *a = t->r->arena;

    t->mark = find_mark(head);
    if (t->mark) {
        t->column_count = cut_at_marks(head, t->mark, t->names);
        if (t->column_count > COLUMNS_MAX)
            return false;
        t->has_end = t->column_count > 1 && !*t->names[t->column_count - 1];
        t->column_count -= t->has_end;
    } else {
        char *below = *at, *rule = NULL;

        if (below < end && is_rule(arena_text(a, below, strcspn(below, "\r\n"))))
            rule = next_line(at, end);
        if (rule) {
            take_columns(t, head, rule);
        } else {
            struct places p = look_at(below, end, head, a);

            find_columns(t, head, &p);
        }
    }
    return t->column_count > 1 && find_kind(t);
}

enum error_code slurm_table_read(struct slurm_reader *r, const char *text, size_t length)
{
    char *at = arena_text(r->arena, text, length), *end = at + length, *line;
    struct table *t = NEW(r->arena, struct table, 1);

    t->r = r;
    do
        line = next_line(&at, end);
    while (line && (!*line || stands_before(line)));
    if (!line || !read_head(t, line, &at, end))
        return no_table(r, t->mark == '|');
    slurm_record_reserve(r, t->kind, count_rows(at, end, t->column_count));
    t->user_column = t->mark ? free_column(t) : t->column_count;
    r->out->of[t->kind].pointer = r->pointer;
    while ((line = next_line(&at, end)))
        if (strncmp(line, "CLUSTER: ", 9) == 0)
            return invalid(r->err, r->pointer, ITEM_MALFORMED,
                           "tables of several clusters: one at a time");
        else if (*line && t->mark)
            read_marked_row(t, line);
        else if (*line)
            read_set_row(t, line);
    return OK;
}
