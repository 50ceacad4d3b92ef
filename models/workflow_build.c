/* workflow_build.c - names to numbers, dependencies and files to edges with bytes.
 *
 * Every text is kept once and then is a number, so that a mention costs 16 to 32 bytes.
 * Finishing goes in steps, each a pass over arrays: tasks by id, dependencies resolved
 * and sorted by child, uses sorted by file, bytes of dependencies, order, result.
 */
#include "models/workflow_build.h"

#include "models/base/budget_read.h"
#include "models/base/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_STEPS = 32 }; /* what a dependency or a use of a file costs, about */

enum {
    NO_TASK = UINT32_MAX,
    AMBIGUOUS = UINT32_MAX - 1,
    CIRCLE_NAMES_MAX = 6,
    ID_MAX_BYTES = 256,
    LEFT_OUT_MAX = 64
};
#define NO_TASK   UINT32_MAX
#define AMBIGUOUS (UINT32_MAX - 1)

/* More is not believed. */
#define CPUS_MAX  1e9
#define BYTES_MAX 1e18

struct task {
    uint32_t id, label; /* symbols; label NO_TASK: none */
    double run_time_s;
    uint64_t at;
    double cpus, memory_bytes; /* 0: not known */
    struct workflow_more more;
};

struct ran {
    uint32_t id;
    struct workflow_ran how;
    uint64_t at;
};

/* A mention of a dependency; symbols, later numbers of tasks. */
struct mention {
    uint32_t parent, child;
    double transfer_s;
    uint64_t at;
    unsigned sides;
};

struct use {
    uint32_t file, task;
    double bytes;
    unsigned char role;
};

struct declared {
    uint32_t file;
    double bytes;
};

/* A member that is not used. */
struct left_out {
    char place[96];
    uint64_t count;
};

struct list {
    void *items;
    size_t count, size;
};

struct workflow_builder {
    struct workflow_source source;
    struct arena *arena;
    struct error *err;

    struct name_index index; /* of symbols */
    const char **symbols;
    size_t symbol_count, symbol_size;

    struct list tasks, rans, mentions, uses, declared;
    uint64_t repairs[WORKFLOW_REPAIR_COUNT];
    struct left_out left_out[LEFT_OUT_MAX]; /* the last one: all others */
    size_t left_out_count;

    /* Filled by workflow_build(). */
    uint32_t *task_of; /* [symbol_count], by id; then by label */
    uint32_t *task_of_label;
    struct mention *edges; /* by child, then parent, once each */
    size_t edge_count;
    uint32_t *first_edge;    /* [tasks + 1]: of a child */
    struct use *sorted;      /* uses by file, writers first, then task; once each */
    uint32_t *first_use;     /* [symbol_count + 1]: of a file */
    double *bytes;           /* [edge_count] */
    double *input_bytes;     /* [tasks] */
    double *output_bytes;    /* [tasks] */
    uint32_t *order;         /* [tasks]: topological */
    struct mention *implied; /* dependencies that only files show */
    size_t implied_count, implied_size;
};

const char *const workflow_repair_names[] = {
#define X(name, doc) #name,
    WORKFLOW_REPAIRS(X)
#undef X
        [WORKFLOW_REPAIR_COUNT] = "left_out",
    NULL};

static const struct {
    const char *kind, *detail;
} repair_kinds[] = {
#define X(name, doc) {#name, doc},
    WORKFLOW_REPAIRS(X)
#undef X
};

/* ---- taking pieces ---- */

struct workflow_builder *workflow_builder_open(const struct workflow_source *source,
                                               struct arena *a, struct error *err)
{
    struct workflow_builder *b = NEW(a, struct workflow_builder, 1);

    name_index_create(&b->index, 512, a);
    b->source = *source;
    b->arena = a;
    b->err = err;
    return b;
}

enum error_code workflow_mistake(struct workflow_builder *b, uint64_t at,
                                 enum item_code code, const char *format, ...)
{
    char pointer[256], text[256];
    size_t length;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    length = (size_t)snprintf(pointer, sizeof(pointer), "%.100s", b->source.pointer);
    if (!b->source.locate)
        return invalid(b->err, pointer, code, "line %llu: %s", (unsigned long long)at,
                       text);
    b->source.locate(at, pointer + length, sizeof(pointer) - length);
    return invalid(b->err, pointer, code, "%s", text);
}

static enum error_code too_many(struct workflow_builder *b, const char *what,
                                size_t limit)
{
    return fail(b->err, ERR_TOO_LARGE, b->source.pointer, "more than %zu %s", limit,
                what);
}

/* Room for one more. */
static enum error_code list_room(struct workflow_builder *b, struct list *list,
                                 size_t item_size)
{
    size_t size = list->size ? list->size * 2 : 256;
    void *items;

    if (list->count == WORKFLOW_BUILD_PIECES_MAX)
        return too_many(b, "pieces of one kind", WORKFLOW_BUILD_PIECES_MAX);
    if (list->count < list->size)
        return OK;
    items = list->items ? arena_grow(b->arena, list->items, item_size, list->size, size)
                        : arena_alloc(b->arena, item_size, size);
    list->items = items;
    list->size = size;
    return OK;
}

#define ADD(b, list, value)                                                         \
    do {                                                                            \
        TRY(list_room((b), &(b)->list, sizeof(value)));                             \
        memcpy((char *)(b)->list.items + (b)->list.count * sizeof(value), &(value), \
               sizeof(value));                                                      \
        (b)->list.count++;                                                          \
    } while (0)

static void grow_symbols(struct workflow_builder *b)
{
    size_t size = b->symbol_size ? b->symbol_size * 2 : 512;
    const char **grown =
        b->symbols ? GROW(b->arena, b->symbols, const char *, b->symbol_size, size)
                   : NEW(b->arena, const char *, size);

    name_index_create(&b->index, size, b->arena);
    b->symbols = grown;
    b->symbol_size = size;
    for (size_t i = 0; i < b->symbol_count; i++)
        name_index_add(&b->index, b->symbols[i], i);
}

/* The number of a text. */
static void symbol(struct workflow_builder *b, const char *text, uint32_t *number)
{
    size_t found = name_index_find(&b->index, text);

    if (found != NAME_NOT_FOUND) {
        *number = (uint32_t)found;
        return;
    }
    if (b->symbol_count == b->symbol_size)
        grow_symbols(b);
    b->symbols[b->symbol_count] = arena_text(b->arena, text, strlen(text));
    name_index_add(&b->index, b->symbols[b->symbol_count], b->symbol_count);
    *number = (uint32_t)b->symbol_count++;
}

void workflow_count(struct workflow_builder *b, enum workflow_repair kind, uint64_t count)
{
    b->repairs[kind] += count;
}

void workflow_leave_out(struct workflow_builder *b, const char *place)
{
    size_t k = 0;

    while (k < b->left_out_count && strcmp(b->left_out[k].place, place) != 0)
        k++;
    if (k >= LEFT_OUT_MAX - 1) {
        k = LEFT_OUT_MAX - 1;
        place = "others";
    }
    if (k == b->left_out_count)
        b->left_out_count++;
    snprintf(b->left_out[k].place, sizeof(b->left_out[k].place), "%.90s", place);
    b->left_out[k].count++;
}

enum error_code workflow_add_task(struct workflow_builder *b, const char *id,
                                  const char *label, double run_time_s, uint64_t at,
                                  size_t *task)
{
    struct task added = {
        .label = NO_TASK, .run_time_s = run_time_s, .at = at, .more = {NAN, NAN, false}};

    if (b->tasks.count == WORKFLOW_BUILD_TASKS_MAX)
        return too_many(b, "tasks", WORKFLOW_BUILD_TASKS_MAX);
    if (strlen(id) > ID_MAX_BYTES)
        workflow_mistake(b, at, ITEM_TOO_LONG, "the id '%.40s...' has more than %d bytes",
                         id, ID_MAX_BYTES);
    symbol(b, id, &added.id);
    if (label && *label)
        symbol(b, label, &added.label);
    *task = b->tasks.count;
    ADD(b, tasks, added);
    return OK;
}

void workflow_task_run_time(struct workflow_builder *b, size_t task, double run_time_s)
{
    ((struct task *)b->tasks.items)[task].run_time_s = run_time_s;
}

void workflow_task_needs(struct workflow_builder *b, size_t task,
                         const struct workflow_ran *ran)
{
    struct task *t = &((struct task *)b->tasks.items)[task];

    if (ran->cpus > 0 && ran->cpus <= CPUS_MAX)
        t->cpus = ran->cpus;
    else if (!isnan(ran->cpus))
        workflow_leave_out(b, "cpus that cannot be");
    if (ran->memory_bytes > 0 && ran->memory_bytes <= BYTES_MAX)
        t->memory_bytes = ran->memory_bytes;
    else if (ran->memory_bytes < 0 || ran->memory_bytes > BYTES_MAX)
        workflow_leave_out(b, "memory that cannot be");
}

void workflow_task_more(struct workflow_builder *b, size_t task,
                        const struct workflow_more *more)
{
    struct workflow_more kept = *more;

    if (kept.disk_bytes < 0 || kept.disk_bytes > BYTES_MAX) {
        workflow_leave_out(b, "disk space that cannot be");
        kept.disk_bytes = NAN;
    }
    if (kept.time_limit_s <= 0) {
        workflow_leave_out(b, "time limits that cannot be");
        kept.time_limit_s = NAN;
    }
    ((struct task *)b->tasks.items)[task].more = kept;
}

enum error_code workflow_add_ran(struct workflow_builder *b, const char *id,
                                 const struct workflow_ran *ran, uint64_t at)
{
    struct ran added = {0, *ran, at};

    symbol(b, id, &added.id);
    ADD(b, rans, added);
    return OK;
}

/* A size as the rules have it: what is none is not known. */
static double size_or_nan(double bytes)
{
    return bytes >= 0 && isfinite(bytes) ? bytes : (double)NAN;
}

enum error_code workflow_add_use(struct workflow_builder *b, size_t task,
                                 enum workflow_role role, const char *file, double bytes)
{
    struct use added = {0, (uint32_t)task, size_or_nan(bytes), (unsigned char)role};

    symbol(b, file, &added.file);
    ADD(b, uses, added);
    return OK;
}

enum error_code workflow_add_file(struct workflow_builder *b, const char *file,
                                  double bytes)
{
    struct declared added = {0, size_or_nan(bytes)};

    symbol(b, file, &added.file);
    ADD(b, declared, added);
    return OK;
}

enum error_code workflow_add_dependency(struct workflow_builder *b, const char *parent,
                                        const char *child, double transfer_s,
                                        enum workflow_side side, uint64_t at)
{
    struct mention added = {0, 0, transfer_s, at, side};

    symbol(b, parent, &added.parent);
    symbol(b, child, &added.child);
    ADD(b, mentions, added);
    return OK;
}

/* ---- tasks by name, run times ---- */

static struct task *tasks_of(const struct workflow_builder *b)
{
    return b->tasks.items;
}

static const char *task_id(const struct workflow_builder *b, size_t task)
{
    return b->symbols[tasks_of(b)[task].id];
}

static void index_tasks(struct workflow_builder *b)
{
    b->task_of = NEW(b->arena, uint32_t, b->symbol_count + 1);
    b->task_of_label = NEW(b->arena, uint32_t, b->symbol_count + 1);
    memset(b->task_of, 0xff, (b->symbol_count + 1) * sizeof(uint32_t));
    memset(b->task_of_label, 0xff, (b->symbol_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < b->tasks.count; i++) {
        const struct task *t = &tasks_of(b)[i];

        if (b->task_of[t->id] != NO_TASK)
            workflow_mistake(b, t->at, ITEM_DUPLICATE, "there is a task '%.80s' already",
                             b->symbols[t->id]);
        else
            b->task_of[t->id] = i;
        if (t->label != NO_TASK)
            b->task_of_label[t->label] =
                b->task_of_label[t->label] == NO_TASK ? i : AMBIGUOUS;
    }
}

/* The task that a text names, by its id, else by a name that only one has; NO_TASK and
 * a mistake if there is none. */
static uint32_t task_named(struct workflow_builder *b, uint32_t symbol_number,
                           uint64_t at)
{
    uint32_t task = b->task_of[symbol_number];

    if (task != NO_TASK)
        return task;
    task = b->task_of_label[symbol_number];
    if (task == AMBIGUOUS)
        workflow_mistake(b, at, ITEM_AMBIGUOUS,
                         "several tasks have the name '%.80s', and none this id",
                         b->symbols[symbol_number]);
    else if (task == NO_TASK)
        workflow_mistake(b, at, ITEM_UNKNOWN_ID, "there is no task '%.80s'",
                         b->symbols[symbol_number]);
    else
        b->repairs[WORKFLOW_REPAIR_references_by_name]++;
    return task == AMBIGUOUS ? NO_TASK : task;
}

static void set_run_times(struct workflow_builder *b)
{
    const struct ran *rans = b->rans.items;
    struct task *tasks = tasks_of(b);

    for (size_t i = 0; i < b->rans.count; i++) {
        uint32_t task = b->task_of[rans[i].id];

        if (task == NO_TASK)
            task = b->task_of_label[rans[i].id];
        if (task == NO_TASK || task == AMBIGUOUS) {
            b->repairs[WORKFLOW_REPAIR_run_times_of_no_task]++;
            continue;
        }
        tasks[task].run_time_s = rans[i].how.run_time_s;
        workflow_task_needs(b, task, &rans[i].how);
    }
    for (size_t i = 0; i < b->tasks.count; i++)
        if (!(tasks[i].run_time_s >= 0)) {
            tasks[i].run_time_s = NAN;
            b->repairs[WORKFLOW_REPAIR_unknown_run_times]++;
        }
}

/* ---- dependencies ---- */

static int compare_edges(const void *x, const void *y)
{
    const struct mention *p = x, *q = y;

    if (p->child != q->child)
        return p->child < q->child ? -1 : 1;
    if (p->parent != q->parent)
        return p->parent < q->parent ? -1 : 1;
    return p->at < q->at ? -1 : p->at > q->at;
}

/* Puts mentions of the same dependency together. */
static void merge_edges(struct workflow_builder *b, struct mention *edges, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct mention *last = kept ? &edges[kept - 1] : NULL;

        if (!last || last->child != edges[i].child || last->parent != edges[i].parent) {
            edges[kept++] = edges[i];
            continue;
        }
        if (last->sides & edges[i].sides)
            b->repairs[WORKFLOW_REPAIR_repeated_dependencies]++;
        last->sides |= edges[i].sides;
    }
    b->edges = edges;
    b->edge_count = kept;
}

static void index_edges(struct workflow_builder *b)
{
    size_t n = b->tasks.count;

    b->first_edge = NEW(b->arena, uint32_t, n + 1);
    for (size_t e = 0; e < b->edge_count; e++)
        b->first_edge[b->edges[e].child + 1]++;
    for (size_t i = 0; i < n; i++)
        b->first_edge[i + 1] += b->first_edge[i];
}

/* A file that has only one kind of list leaves nothing to be desired. */
static void count_one_sided(struct workflow_builder *b)
{
    unsigned sides = 0;

    for (size_t e = 0; e < b->edge_count; e++)
        sides |= b->edges[e].sides;
    for (size_t e = 0; e < b->edge_count && sides == WORKFLOW_BY_BOTH; e++)
        b->repairs[WORKFLOW_REPAIR_one_sided_dependencies] +=
            b->edges[e].sides != WORKFLOW_BY_BOTH;
}

static enum error_code resolve_edges(struct workflow_builder *b)
{
    struct mention *mentions = b->mentions.items;
    size_t kept = 0;

    for (size_t i = 0; i < b->mentions.count; i++) {
        struct mention *m = &mentions[i];
        uint32_t parent = task_named(b, m->parent, m->at);
        uint32_t child = task_named(b, m->child, m->at);

        if (budget_read_step(PIECE_STEPS))
            return fail(b->err, ERR_CANCELLED, "", "the client went away");
        if (parent == NO_TASK || child == NO_TASK)
            continue;
        mentions[kept] = *m;
        mentions[kept].parent = parent;
        mentions[kept++].child = child;
    }
    if (b->err->code != OK)
        return b->err->code;
    if (kept)
        qsort(mentions, kept, sizeof(*mentions), compare_edges);
    merge_edges(b, mentions, kept);
    count_one_sided(b);
    index_edges(b);
    return OK;
}

/* The dependency of a child on a parent; edge_count: there is none. */
static size_t find_edge(const struct workflow_builder *b, uint32_t parent, uint32_t child)
{
    size_t low = b->first_edge[child], high = b->first_edge[child + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (b->edges[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->first_edge[child + 1] && b->edges[low].parent == parent
               ? low
               : b->edge_count;
}

/* ---- order ---- */

/* Kahn, first in first out, into `order`; how many have a place in it. */
static void sort_tasks(struct workflow_builder *b, size_t *placed)
{
    size_t n = b->tasks.count, done = 0, next = 0;
    uint32_t *first = NEW(b->arena, uint32_t, n + 2);
    uint32_t *child = NEW(b->arena, uint32_t, b->edge_count + 1);
    uint32_t *waiting = NEW(b->arena, uint32_t, n + 1);

    if (!b->order)
        b->order = NEW(b->arena, uint32_t, n + 1);
    for (size_t e = 0; e < b->edge_count; e++)
        first[b->edges[e].parent + 2]++;
    for (size_t i = 2; i <= n; i++)
        first[i] += first[i - 1];
    for (size_t e = 0; e < b->edge_count; e++)
        child[first[b->edges[e].parent + 1]++] = b->edges[e].child;
    for (uint32_t i = 0; i < n; i++) {
        waiting[i] = b->first_edge[i + 1] - b->first_edge[i];
        if (waiting[i] == 0)
            b->order[done++] = i;
    }
    while (next < done) {
        uint32_t task = b->order[next++];

        for (uint32_t c = first[task]; c < first[task + 1]; c++)
            if (--waiting[child[c]] == 0)
                b->order[done++] = child[c];
    }
    *placed = done;
}

/* Names the tasks of a circle. From a task that has no place in the order, going to
 * parents that have none either must come back to a task. */
static enum error_code report_circle(struct workflow_builder *b, size_t placed)
{
    size_t n = b->tasks.count, start = 0, at;
    bool *ordered = NEW(b->arena, bool, n);
    uint32_t *via = NEW(b->arena, uint32_t, n); /* edge + 1 that was taken */
    char text[1024] = "";
    size_t used = 0, names = 0;

    for (size_t i = 0; i < placed; i++)
        ordered[b->order[i]] = true;
    while (ordered[start])
        start++;
    for (at = start; !via[at];) {
        uint32_t e = b->first_edge[at];

        while (ordered[b->edges[e].parent])
            e++;
        via[at] = e + 1;
        at = b->edges[e].parent;
    }
    start = at;
    do {
        if (names++ < CIRCLE_NAMES_MAX)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "'%.20s' needs ",
                                     task_id(b, at));
        at = b->edges[via[at] - 1].parent;
    } while (at != start);
    return workflow_mistake(b, b->edges[via[start] - 1].at, ITEM_CYCLE,
                            "%zu tasks need each other: %s%s'%.20s'", names, text,
                            names > CIRCLE_NAMES_MAX ? "... needs " : "",
                            task_id(b, start));
}

/* ---- files ---- */

static void declare_sizes(struct workflow_builder *b)
{
    const struct declared *declared = b->declared.items;
    struct use *uses = b->uses.items;
    double *size_of;

    if (!b->declared.count)
        return;
    size_of = NEW(b->arena, double, b->symbol_count);
    for (size_t i = 0; i < b->symbol_count; i++)
        size_of[i] = NAN;
    for (size_t i = 0; i < b->declared.count; i++)
        if (!isnan(declared[i].bytes))
            size_of[declared[i].file] = declared[i].bytes;
    for (size_t i = 0; i < b->uses.count; i++)
        if (isnan(uses[i].bytes))
            uses[i].bytes = size_of[uses[i].file];
}

static int compare_uses(const void *x, const void *y)
{
    const struct use *p = x, *q = y;

    if (p->file != q->file)
        return p->file < q->file ? -1 : 1;
    if (p->role != q->role)
        return p->role > q->role ? -1 : 1; /* writers first */
    if (p->task != q->task)
        return p->task < q->task ? -1 : 1;
    if (isnan(p->bytes) || isnan(q->bytes))
        return (isnan(p->bytes) != 0) - (isnan(q->bytes) != 0); /* known ones first */
    return (p->bytes < q->bytes) - (p->bytes > q->bytes);
}

/* Uses by file, once each; what is not known takes the size that another use of the
 * file has. */
static void sort_uses(struct workflow_builder *b)
{
    struct use *uses = b->uses.items;
    size_t kept = 0;

    if (b->uses.count)
        qsort(uses, b->uses.count, sizeof(*uses), compare_uses);
    for (size_t i = 0; i < b->uses.count; i++) {
        const struct use *last = kept ? &uses[kept - 1] : NULL;

        if (last && last->file == uses[i].file && last->role == uses[i].role &&
            last->task == uses[i].task)
            b->repairs[WORKFLOW_REPAIR_repeated_files]++;
        else
            uses[kept++] = uses[i];
    }
    b->uses.count = kept;
    b->sorted = uses;
    b->first_use = NEW(b->arena, uint32_t, b->symbol_count + 1);
    for (size_t i = 0; i < kept; i++)
        b->first_use[uses[i].file + 1]++;
    for (size_t i = 0; i < b->symbol_count; i++)
        b->first_use[i + 1] += b->first_use[i];
}

/* Sizes of the uses of one file, from..to. */
static void settle_sizes(struct workflow_builder *b, size_t from, size_t to)
{
    double known = NAN;

    for (size_t i = from; i < to && isnan(known); i++)
        known = b->sorted[i].bytes; /* of a writer, if one says it */
    if (isnan(known)) {
        b->repairs[WORKFLOW_REPAIR_unknown_sizes] += from < to;
        known = 0;
    }
    for (size_t i = from; i < to; i++) {
        struct use *u = &b->sorted[i];

        if (isnan(u->bytes))
            u->bytes = known;
        else if (u->bytes != known && u->role == WORKFLOW_READS)
            b->repairs[WORKFLOW_REPAIR_differing_sizes]++;
    }
}

/* Writers of a file are first_use[file] .. this. */
static size_t writers_end(const struct workflow_builder *b, uint32_t file)
{
    size_t end = b->first_use[file];

    while (end < b->first_use[file + 1] && b->sorted[end].role == WORKFLOW_WRITES)
        end++;
    return end;
}

static enum error_code add_implied(struct workflow_builder *b, const struct use *writer,
                                   uint32_t reader)
{
    if (b->implied_count == b->implied_size) {
        size_t size = b->implied_size ? b->implied_size * 2 : 64;
        struct mention *grown =
            b->implied ? GROW(b->arena, b->implied, struct mention, b->implied_size, size)
                       : NEW(b->arena, struct mention, size);

        if (b->implied_count >= WORKFLOW_BUILD_TASKS_MAX)
            return too_many(b, "dependencies that only files show",
                            WORKFLOW_BUILD_TASKS_MAX);
        b->implied = grown;
        b->implied_size = size;
    }
    b->implied[b->implied_count++] = (struct mention){
        writer->task, reader, NAN, tasks_of(b)[reader].at, WORKFLOW_BY_BOTH};
    return OK;
}

/* Adds the size of a file to the dependencies over which its reader gets it: over
 * those of its writers that are parents. How many there are. */
static size_t spread_bytes(struct workflow_builder *b, const struct use *reader,
                           size_t begin, size_t end)
{
    size_t parents = b->first_edge[reader->task + 1] - b->first_edge[reader->task];
    size_t found = 0;

    if (end - begin <= parents) {
        for (size_t w = begin; w < end; w++) {
            size_t e = find_edge(b, b->sorted[w].task, reader->task);

            if (e == b->edge_count)
                continue;
            b->bytes[e] += b->sorted[w].bytes;
            found++;
        }
        return found;
    }
    for (size_t e = b->first_edge[reader->task]; e < b->first_edge[reader->task + 1];
         e++) {
        size_t low = begin, high = end;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (b->sorted[middle].task < b->edges[e].parent)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < end && b->sorted[low].task == b->edges[e].parent) {
            b->bytes[e] += b->sorted[low].bytes;
            found++;
        }
    }
    return found;
}

/* One use of a file by a reader; `collect`: note writers that are no parents. */
static enum error_code read_file(struct workflow_builder *b, const struct use *reader,
                                 size_t begin, size_t end, bool collect)
{
    bool own = false;

    if (spread_bytes(b, reader, begin, end) > 0)
        return OK;
    for (size_t w = begin; w < end; w++) {
        own = own || b->sorted[w].task == reader->task;
        if (collect && b->sorted[w].task != reader->task)
            TRY(add_implied(b, &b->sorted[w], reader->task));
    }
    b->input_bytes[reader->task] += reader->bytes;
    if (!collect && end - begin > own)
        b->repairs[WORKFLOW_REPAIR_unordered_reads]++;
    return OK;
}

/* Bytes of dependencies and inputs, anew. */
static enum error_code count_bytes(struct workflow_builder *b, bool collect)
{
    b->bytes = NEW(b->arena, double, b->edge_count + 1);
    b->input_bytes = NEW(b->arena, double, b->tasks.count + 1);
    b->output_bytes = NEW(b->arena, double, b->tasks.count + 1);
    for (uint32_t file = 0; file < b->symbol_count; file++) {
        size_t begin = b->first_use[file], last = b->first_use[file + 1];
        size_t end = begin < last ? writers_end(b, file) : last;

        if (budget_read_step(PIECE_STEPS * (1 + last - begin)))
            return fail(b->err, ERR_CANCELLED, "", "the client went away");
        for (size_t w = begin; w < end; w++)
            b->output_bytes[b->sorted[w].task] += b->sorted[w].bytes;
        for (size_t r = end; r < last; r++)
            TRY(read_file(b, &b->sorted[r], begin, end, collect));
    }
    return OK;
}

/* With the dependencies that only files show, if that leaves an order. */
static enum error_code add_implied_edges(struct workflow_builder *b)
{
    struct mention *old = b->edges, *all;
    uint32_t *old_first = b->first_edge;
    uint64_t repeated = b->repairs[WORKFLOW_REPAIR_repeated_dependencies];
    size_t old_count = b->edge_count, placed;

    all = NEW(b->arena, struct mention, old_count + b->implied_count);
    if (old_count)
        memcpy(all, old, old_count * sizeof(*all));
    memcpy(all + old_count, b->implied, b->implied_count * sizeof(*all));
    qsort(all, old_count + b->implied_count, sizeof(*all), compare_edges);
    merge_edges(b, all, old_count + b->implied_count);
    b->repairs[WORKFLOW_REPAIR_repeated_dependencies] = repeated;
    index_edges(b);
    sort_tasks(b, &placed);
    if (placed == b->tasks.count) {
        b->repairs[WORKFLOW_REPAIR_added_dependencies] += b->edge_count - old_count;
        return count_bytes(b, false);
    }
    b->edges = old;
    b->edge_count = old_count;
    b->first_edge = old_first;
    sort_tasks(b, &placed);
    return count_bytes(b, false);
}

static enum error_code join_files(struct workflow_builder *b)
{
    declare_sizes(b);
    sort_uses(b);
    for (uint32_t file = 0; file < b->symbol_count; file++)
        settle_sizes(b, b->first_use[file], b->first_use[file + 1]);
    TRY(count_bytes(b, true));
    return b->implied_count ? add_implied_edges(b) : OK;
}

/* ---- the result ---- */

/* NULL: it has none. */
static const char *label_of(const struct workflow_builder *b, size_t task)
{
    uint32_t label = tasks_of(b)[task].label;

    return label == NO_TASK ? NULL : b->symbols[label];
}

static void fill_task(const struct workflow_builder *b, size_t i,
                      const struct workflow_dependency *dependencies,
                      struct workflow_task *t)
{
    const struct workflow_more *more = &tasks_of(b)[i].more;

    *t = (struct workflow_task){
        .id = task_id(b, i),
        .name = label_of(b, i),
        .estimate_ref_s = tasks_of(b)[i].run_time_s,
        .estimate_s = NAN,
        .weight = NAN,
        .cpus = tasks_of(b)[i].cpus,
        .memory_bytes = tasks_of(b)[i].memory_bytes,
        .disk_bytes = more->disk_bytes > 0 ? more->disk_bytes : 0,
        .time_limit_s = more->time_limit_s > 0 ? more->time_limit_s : 0,
        .status = more->done ? WORKFLOW_DONE : WORKFLOW_IDLE,
        .depends_on = dependencies + b->first_edge[i],
        .dependency_count = b->first_edge[i + 1] - b->first_edge[i],
        .input_bytes = b->input_bytes[i],
        .output_bytes = b->output_bytes[i],
        .start_s = NAN,
        .finish_s = NAN,
        .progress_pct = NAN,
        .elapsed_s = NAN,
        .work_done_ref_s = NAN,
        .checkpoint_work_ref_s = NAN,
        .since_last_move_s = NAN,
    };
}

static void fill_workflow(const struct workflow_builder *b, struct workflow_import *out)
{
    size_t n = b->tasks.count;
    struct workflow_task *tasks = NEW(b->arena, struct workflow_task, n);
    const char **labels = NEW(b->arena, const char *, n);
    struct workflow_dependency *dependencies =
        NEW(b->arena, struct workflow_dependency, b->edge_count + 1);

    for (size_t e = 0; e < b->edge_count; e++) {
        const struct mention *m = &b->edges[e];

        dependencies[e] = (struct workflow_dependency){
            task_id(b, m->parent), m->transfer_s, isnan(m->transfer_s) ? b->bytes[e] : 0};
        out->dependency_bytes += dependencies[e].bytes;
    }
    for (size_t i = 0; i < n; i++) {
        const struct task *t = &tasks_of(b)[i];

        fill_task(b, i, dependencies, &tasks[i]);
        labels[i] = label_of(b, i);
        out->input_bytes += b->input_bytes[i];
        out->run_time_s += isnan(t->run_time_s) ? 0 : t->run_time_s;
    }
    out->workflow = (struct workflow){NULL, NAN, tasks, n};
    out->labels = labels;
    out->task_count = n;
    out->dependency_count = b->edge_count;
}

/* Longest chain of run times; those that are not known count 0. */
static void critical_path(const struct workflow_builder *b, double *longest_s)
{
    double *finish_s = NEW(b->arena, double, b->tasks.count);

    *longest_s = 0;
    for (size_t i = 0; i < b->tasks.count; i++) {
        uint32_t task = b->order[i];
        double start_s = 0, run_s = tasks_of(b)[task].run_time_s;

        for (size_t e = b->first_edge[task]; e < b->first_edge[task + 1]; e++)
            start_s = fmax(start_s, finish_s[b->edges[e].parent]);
        finish_s[task] = start_s + (isnan(run_s) ? 0 : run_s);
        *longest_s = fmax(*longest_s, finish_s[task]);
    }
}

/* What was not used, as one repair. */
static struct workflow_repaired left_out_repair(const struct workflow_builder *b)
{
    struct workflow_repaired r = {workflow_repair_names[WORKFLOW_REPAIR_COUNT],
                                  "Members that are not used:", 0};

    for (size_t k = 0; k < b->left_out_count && r.detail; k++) {
        r.count += b->left_out[k].count;
        r.detail =
            arena_printf(b->arena, "%s%s %s (%llu)", r.detail, k ? "," : "",
                         b->left_out[k].place, (unsigned long long)b->left_out[k].count);
    }
    return r;
}

static void list_repairs(const struct workflow_builder *b, struct workflow_import *out)
{
    struct workflow_repaired *repairs =
        NEW(b->arena, struct workflow_repaired, WORKFLOW_REPAIR_COUNT + 1);
    const char **warnings = NEW(b->arena, const char *, WORKFLOW_REPAIR_COUNT + 1);
    size_t count = 0;

    for (size_t i = 0; i < WORKFLOW_REPAIR_COUNT; i++) {
        if (!b->repairs[i])
            continue;
        repairs[count++] = (struct workflow_repaired){
            repair_kinds[i].kind, repair_kinds[i].detail, b->repairs[i]};
    }
    if (b->left_out_count)
        repairs[count++] = left_out_repair(b);
    for (size_t k = 0; k < count; k++) {
        warnings[k] =
            arena_printf(b->arena, "%s: %s: %llu. %s", b->source.format, repairs[k].kind,
                         (unsigned long long)repairs[k].count, repairs[k].detail);
    }
    out->repairs = repairs;
    out->warnings = warnings;
    out->repair_count = out->warning_count = count;
}

enum error_code workflow_build(struct workflow_builder *b, struct workflow_import *out)
{
    struct workflow_import built = {.format = b->source.format, .builder = b};
    size_t placed;

    if (b->tasks.count == 0)
        invalid(b->err, b->source.pointer, ITEM_REQUIRED, "there is no task");
    index_tasks(b);
    set_run_times(b);
    TRY(resolve_edges(b));
    if (b->err->code != OK)
        return b->err->code;
    sort_tasks(b, &placed);
    if (placed < b->tasks.count)
        return report_circle(b, placed);
    TRY(join_files(b));
    fill_workflow(b, &built);
    critical_path(b, &built.critical_path_s);
    list_repairs(b, &built);
    *out = built;
    return OK;
}

/* ---- what the file does not say ---- */

static bool takes_no_time(const struct workflow_assumed *assumed, const char *label)
{
    for (size_t k = 0; label && k < assumed->zero_class_count; k++)
        if (assumed->zero_classes[k] && strcmp(assumed->zero_classes[k], label) == 0)
            return true;
    return false;
}

void workflow_import_assume(struct workflow_import *in,
                            const struct workflow_assumed *assumed)
{
    struct workflow_builder *b = in->builder;
    uint64_t *repairs = b->repairs;
    struct task *tasks = tasks_of(b);

    for (size_t i = 0; i < b->tasks.count; i++) {
        struct task *t = &tasks[i];

        if (budget_read_step(assumed->zero_class_count + 1))
            return;
        if (!isnan(t->run_time_s))
            continue;
        if (takes_no_time(assumed, in->labels[i])) {
            t->run_time_s = 0;
            repairs[WORKFLOW_REPAIR_zero_run_times]++;
        } else if (!isnan(assumed->default_ref_s)) {
            t->run_time_s =
                fmin(assumed->default_ref_s,
                     t->more.time_limit_s > 0 ? t->more.time_limit_s : HUGE_VAL);
            repairs[WORKFLOW_REPAIR_run_time_defaulted]++;
        } else {
            continue;
        }
        repairs[WORKFLOW_REPAIR_unknown_run_times]--;
    }
    in->input_bytes = in->dependency_bytes = in->run_time_s = 0;
    fill_workflow(b, in);
    critical_path(b, &in->critical_path_s);
    list_repairs(b, in);
}
