/* records_table.c - tables of squeue, sinfo, sshare, sacctmgr and sacct to records.
 *
 * The first line names the columns. Between them stands |, or another mark (--delimiter),
 * or they are set by blanks: as wide as the rule of dashes below the names, or else found
 * from where all lines have a blank. What is set by blanks may be cut off, with a + at
 * its end where Slurm says so.
 *
 * A mark in a name or a comment gives a row too many fields: what is left and right of
 * that column is counted from both ends.
 *
 * Row by row (rows.h) the first lines say all that is known of the columns, and a row
 * lives as long as its reader wants.
 */
#include "models/slurm/rows.h"

#include "models/base/budget_read.h"
#include "models/base/names.h"
#include "models/lines.h"
#include "models/slurm/values.h"

#include <ctype.h>
#include <math.h>
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

/* Words of a line. The last of `most` may be a sentence in parentheses, as a reason. */
static size_t cut_at_blanks(char *line, char **fields, size_t most)
{
    size_t count = 0;

    for (char *at = line; *(at += strspn(at, " ")); count++) {
        if (count < COLUMNS_MAX)
            fields[count] = at;
        if (count + 1 == most && *at == '(')
            return most;
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
        good = cut_at_blanks(line, fields, t->column_count) == t->column_count;
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
    invalid(r->err, r->pointer, ITEM_MALFORMED, "%s",
            has_marks ? "no known column in the first line of the table: it must name "
                        "them (no -h, -n, --noheader)"
                      : "neither JSON with jobs[] nor key=value records nor a table");
    error_hint(r->err, "%s",
               has_marks ? "run the command again without -h, -n or --noheader; a part "
                           "of a long table begins with its first line too"
                         : "squeue --json, sinfo --json, scontrol show and sacct -P -D "
                           "-a -o ALL print what is read");
    return r->err->code;
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

static enum error_code refuse_clusters(struct slurm_reader *r)
{
    invalid(r->err, r->pointer, ITEM_MALFORMED,
            "tables of several clusters: one at a time");
    error_hint(r->err, "ask for each by its name, as -M NAME");
    return r->err->code;
}

static bool is_cluster(const char *line)
{
    return strncmp(line, "CLUSTER: ", 9) == 0;
}

static void read_row(struct table *t, char *line)
{
    if (t->mark)
        read_marked_row(t, line);
    else
        read_set_row(t, line);
}

enum error_code slurm_table_read(struct slurm_reader *r, const char *text, size_t length)
{
    char *at = arena_text(r->arena, text, length), *end = at + length, *line;
    bool is_ended = length > 0 && text[length - 1] == '\n';
    size_t cut_before;
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
    while ((line = next_line(&at, end))) {
        if (is_cluster(line))
            return refuse_clusters(r);
        cut_before = r->out->cut_rows;
        if (*line)
            read_row(t, line);
        r->out->broken_off = at >= end && !is_ended && r->out->cut_rows > cut_before;
    }
    return OK;
}

/* ---- row by row ---- */

enum stage { AT_HEAD, AT_RULE, AT_ROWS, AT_WHOLE };

struct slurm_rows {
    struct slurm_reader reader; /* its arena is that of the rows */
    struct name_index fields;
    struct table table;
    enum stage stage;
    char *head; /* at the rule: the line before it */
    slurm_row_fn *take;
    void *context;
    struct arena *arena; /* of what stays */
    uint64_t line_count;
    size_t length;
    bool too_long;
    char line[SLURM_ROW_MAX_BYTES + 1];
};

struct slurm_rows *slurm_rows_open(struct slurm_records *out, const char *pointer,
                                   slurm_row_fn *take, void *context, struct arena *a)
{
    struct slurm_rows *r = NEW(a, struct slurm_rows, 1);

    *out = (struct slurm_records){.updated_s = (double)NAN};
    r->reader = (struct slurm_reader){
        .out = out, .pointer = pointer, .fields = &r->fields, .arena = a};
    r->take = take;
    r->context = context;
    r->arena = a;
    slurm_fields_index(&r->fields, a);
    return r;
}

void slurm_rows_use(struct slurm_rows *r, struct arena *a)
{
    r->reader.arena = a;
}

bool slurm_rows_need_whole(const struct slurm_rows *r)
{
    return r->stage == AT_WHOLE;
}

uint64_t slurm_rows_line_count(const struct slurm_rows *r)
{
    return r->line_count;
}

static void begin_rows(struct slurm_rows *r)
{
    struct table *t = &r->table;

    if (t->column_count < 2 || !find_kind(t)) {
        r->stage = AT_WHOLE; /* no table, or none that is known: who reads it all says */
        return;
    }
    t->user_column = t->mark ? free_column(t) : t->column_count;
    r->reader.out->of[t->kind].pointer = r->reader.pointer;
    r->stage = AT_ROWS;
}

/* The first lines: what names the columns, and perhaps a rule below. */
static enum error_code take_head(struct slurm_rows *r, char *line)
{
    struct table *t = &r->table;
    char *head;

    if (!line[strspn(line, " \t")] || stands_before(line))
        return OK;
    TRY(slurm_document_check(line, r->reader.pointer, r->reader.err));
    head = arena_text(r->arena, line, strlen(line));
    t->r = &r->reader;
    t->mark = *head == '{' ? 0 : find_mark(head);
    if (*head == '{') {
        r->stage = AT_WHOLE;
    } else if (t->mark) {
        char *fields[COLUMNS_MAX];

        t->column_count = cut_at_marks(head, t->mark, fields);
        if (t->column_count > COLUMNS_MAX) {
            r->stage = AT_WHOLE;
            return OK;
        }
        memcpy(t->names, fields, t->column_count * sizeof(*fields));
        t->has_end = t->column_count > 1 && !*t->names[t->column_count - 1];
        t->column_count -= t->has_end;
        begin_rows(r);
    } else {
        r->head = head;
        r->stage = AT_RULE;
    }
    return OK;
}

static void take_rule(struct slurm_rows *r, const char *line)
{
    struct arena *of_rows = r->reader.arena;

    r->stage = AT_WHOLE; /* where columns begin, all lines say together */
    if (!is_rule(line))
        return;
    r->reader.arena = r->arena;
    take_columns(&r->table, r->head, line);
    r->reader.arena = of_rows;
    begin_rows(r);
}

static enum error_code take_row(struct slurm_rows *r, const char *line, bool is_last)
{
    struct slurm_records *out = r->reader.out;
    struct table *t = &r->table;
    const struct slurm_list *list = &out->of[t->kind];
    size_t count = list->count, cut = out->cut_rows;

    if (is_cluster(line))
        return refuse_clusters(&r->reader);
    if (!*line)
        return OK;
    if (r->too_long)
        out->cut_rows++;
    else
        read_row(t, arena_text(r->reader.arena, line, r->length));
    out->broken_off = is_last && out->cut_rows > cut;
    return list->count > count ? r->take(r->context, t->kind, r->reader.err) : OK;
}

/* A line that is complete, or the last one. */
static enum error_code take_line(struct slurm_rows *r, bool is_last)
{
    char *line = r->line;
    enum error_code code = OK;

    r->line_count++;
    if (r->length > 0 && line[r->length - 1] == '\r')
        r->length--;
    line[r->length] = 0;
    budget_read_step(r->length);
    if (r->line_count == 1)
        line += lines_mark_bytes(line, r->length);
    if (r->stage == AT_ROWS)
        code = take_row(r, line, is_last);
    else if (r->stage == AT_HEAD)
        code = take_head(r, line);
    else if (r->stage == AT_RULE)
        take_rule(r, line);
    r->length = 0;
    r->too_long = false;
    return code;
}

static void add_to_line(struct slurm_rows *r, const char *bytes, size_t length)
{
    size_t room = SLURM_ROW_MAX_BYTES - r->length;

    r->too_long |= length > room;
    length = length < room ? length : room;
    memcpy(r->line + r->length, bytes, length);
    r->length += length;
}

enum error_code slurm_rows_feed(struct slurm_rows *r, const char *bytes, size_t length,
                                struct error *err)
{
    const char *end = bytes + length;

    r->reader.err = err;
    while (bytes < end && r->stage != AT_WHOLE) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));

        add_to_line(r, bytes, (size_t)((stop ? stop : end) - bytes));
        if (!stop)
            return OK;
        TRY(take_line(r, false));
        bytes = stop + 1;
    }
    return OK;
}

enum error_code slurm_rows_end(struct slurm_rows *r, struct error *err)
{
    r->reader.err = err;
    if (r->length > 0 && r->stage != AT_WHOLE)
        TRY(take_line(r, true));
    if (r->stage == AT_RULE)
        r->stage = AT_WHOLE;
    if (r->stage != AT_HEAD)
        return OK;
    invalid(err, r->reader.pointer, ITEM_REQUIRED, "there is nothing in the document");
    error_hint(err,
               "a command that failed prints nothing but an error: run it again, and "
               "look at what it prints on standard error");
    return err->code;
}
