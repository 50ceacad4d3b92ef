/* batches.c - accounting in batches, for texts that are never there as a whole. */
#include "models/slurm/batches.h"

#include "models/slurm/history.h"
#include "models/slurm/values.h"

#include <math.h>
#include <string.h>

struct slurm_batches {
    struct slurm_records records;
    struct slurm_rows *rows;
    struct arena *side[2]; /* one has the rows of the batch */
    int now;
    struct arena_mark mark; /* in it, behind the last row that is kept */
    size_t row_count;
    struct slurm_record *room; /* of row_count + 1 */
    slurm_batch_fn *take;
    void *context;
};

/* ---- steps ---- */

/* Whether a step began in the run of a job, whose row is before it. */
static bool is_step_of(const struct slurm_record *step, const struct slurm_record *job)
{
    const char *id = slurm_row_id(step), *of = slurm_row_id(job);
    size_t length = of ? strlen(of) : 0;
    double start_s = slurm_instant_s(slurm_value(job, SLURM_F_START), 0);

    return length > 0 && strncmp(id, of, length) == 0 && id[length] == '.' &&
           !(start_s > slurm_instant_s(slurm_value(step, SLURM_F_START), 0));
}

/* Of a step only the peak of memory counts: it goes to the row before, its job's, and the
 * step's own row is forgotten. False: it is of another. */
static bool fold_step(struct slurm_batches *b, struct slurm_list *list)
{
    const struct slurm_record *step = &list->records[list->count - 1];
    struct slurm_record *job = list->records + list->count - 2;
    double peak_bytes = slurm_peak_bytes(slurm_value(step, SLURM_F_RSS_MAX));

    if (!is_step_of(step, job))
        return false;
    list->count--;
    arena_rewind(b->side[b->now], b->mark);
    if (peak_bytes > fmax(0, slurm_peak_bytes(slurm_value(job, SLURM_F_RSS_MAX))))
        job->value[SLURM_F_RSS_MAX] = arena_printf(b->side[b->now], "%.17g", peak_bytes);
    b->mark = arena_mark(b->side[b->now]);
    return true;
}

/* ---- batches ---- */

static struct slurm_record copy_of(const struct slurm_record *row, struct arena *a)
{
    struct slurm_record copy = *row;

    for (size_t i = 0; i < SLURM_FIELD_COUNT; i++)
        if (row->value[i])
            copy.value[i] = arena_text(a, row->value[i], strlen(row->value[i]));
    return copy;
}

/* Hands over all rows but the last `kept` (0 or 1), which begins the next batch. */
static enum error_code hand_over(struct slurm_batches *b, enum slurm_kind kind,
                                 size_t kept, struct error *err)
{
    struct slurm_list *list = &b->records.of[kind];
    struct arena *full = b->side[b->now], *next = b->side[!b->now];

    list->count -= kept;
    if (list->count > 0)
        TRY(b->take(b->context, &b->records, full, err));
    if (kept)
        b->room[0] = copy_of(&list->records[list->count], next);
    list->records = b->room; /* a job of very many steps had it moved */
    list->size = b->row_count + 1;
    list->count = kept;
    b->now = !b->now;
    arena_reset(full);
    slurm_rows_use(b->rows, next);
    return OK;
}

static bool is_step(const struct slurm_record *row)
{
    const char *id = slurm_row_id(row);

    return id && strchr(id, '.');
}

/* slurm_row_fn */
static enum error_code take_row(void *context, enum slurm_kind kind, struct error *err)
{
    struct slurm_batches *b = context;
    struct slurm_list *list = &b->records.of[kind];
    bool is_job = kind == SLURM_JOB;

    if (!is_job && kind != SLURM_EVENT) {
        invalid(err, list->pointer, ITEM_MALFORMED,
                "a table, but neither of sacct nor of sacctmgr show event");
        error_hint(err,
                   "sacct -P -D -a -o ALL -S 2026-01-01 prints the jobs of accounting");
        return err->code;
    }
    if (is_job && is_step(&list->records[list->count - 1])) {
        if (list->count < 2 || !fold_step(b, list))
            b->mark = arena_mark(b->side[b->now]);
        return OK;
    }
    if (list->count > b->row_count)
        TRY(hand_over(b, kind, 1, err));
    b->mark = arena_mark(b->side[b->now]);
    return OK;
}

struct slurm_batches *slurm_batches_open(const char *pointer, size_t row_count,
                                         slurm_batch_fn *take, void *context,
                                         struct arena *a)
{
    struct slurm_batches *b = NEW(a, struct slurm_batches, 1);

    b->take = take;
    b->context = context;
    b->row_count = row_count;
    b->room = NEW(a, struct slurm_record, row_count + 1);
    for (int i = 0; i < 2; i++)
        b->side[i] = arena_create_beside(a, arena_cap_bytes(a));
    b->rows = slurm_rows_open(&b->records, pointer, take_row, b, a);
    for (size_t i = 0; i < 2; i++) {
        struct slurm_list *list = &b->records.of[i ? SLURM_EVENT : SLURM_JOB];

        list->records = b->room; /* a table has rows of one kind */
        list->size = row_count + 1;
    }
    slurm_rows_use(b->rows, b->side[0]);
    b->mark = arena_mark(b->side[0]);
    return b;
}

enum error_code slurm_batches_feed(struct slurm_batches *b, const char *bytes,
                                   size_t length, struct error *err)
{
    return slurm_rows_feed(b->rows, bytes, length, err);
}

enum error_code slurm_batches_end(struct slurm_batches *b, struct error *err)
{
    TRY(slurm_rows_end(b->rows, err));
    for (size_t i = 0; i < 2; i++) {
        enum slurm_kind kind = i ? SLURM_EVENT : SLURM_JOB;

        if (b->records.of[kind].count > 0)
            TRY(hand_over(b, kind, 0, err));
    }
    return OK;
}

bool slurm_batches_need_whole(const struct slurm_batches *b)
{
    return slurm_rows_need_whole(b->rows);
}

const struct slurm_records *slurm_batches_records(const struct slurm_batches *b)
{
    return &b->records;
}

uint64_t slurm_batches_line_count(const struct slurm_batches *b)
{
    return slurm_rows_line_count(b->rows);
}
