/* copies.c - jobs of a request that stand for several equal ones. */
#include "handlers/placement/copies.h"

#include "models/base/names.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t count_of(const struct job *j)
{
    return j->count > 1 ? j->count : 1;
}

/* ---- how many ---- */

/* Pairs of a copy that waits and one that is waited for. */
static double count_waits(const struct request *rq, const struct job *rows,
                          size_t row_count)
{
    struct name_index ids;
    double pairs = 0;

    name_index_create(&ids, row_count, rq->arena);
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].id)
            name_index_add(&ids, rows[i].id, i);
    for (size_t i = 0; i < row_count; i++)
        for (size_t k = 0; k < rows[i].after_count; k++) {
            const char *id = rows[i].after[k].job_id;
            size_t other = id ? name_index_find(&ids, id) : NAME_NOT_FOUND;

            if (other != NAME_NOT_FOUND)
                pairs += (double)count_of(&rows[i]) * (double)count_of(&rows[other]);
        }
    return pairs;
}

enum error_code copies_check(struct request *rq, const struct job *rows, size_t row_count,
                             const char *list, size_t most, size_t bytes)
{
    uint64_t sum = 0, waits = 0;
    double pairs;

    for (size_t i = 0; i < row_count; i++) {
        sum += count_of(&rows[i]);
        waits += rows[i].after_count;
        if (sum > most)
            return fail(rq->err, ERR_TOO_LARGE, pointer_in(list, i, "count").text,
                        "the jobs and their copies up to this one are more than %zu",
                        most);
    }
    if (sum == row_count)
        return OK;
    pairs = waits ? count_waits(rq, rows, row_count) : 0;
    if (pairs > COPY_WAITS_MAX)
        return fail(rq->err, ERR_TOO_LARGE, list,
                    "each copy that waits waits for each copy of the other job: that are "
                    "%.0f pairs, and more than %d",
                    pairs, COPY_WAITS_MAX);
    return request_reserve(rq, (double)bytes * (double)sum);
}

void copies_make(struct request *rq, const struct job *rows, size_t row_count,
                 const char *list, struct copies *out)
{
    size_t sum = 0, at = 0, *row_of;
    struct job *jobs;

    *out = (struct copies){rows, row_count, rows, row_count, NULL, list, rq};
    for (size_t i = 0; i < row_count; i++)
        sum += (size_t)count_of(&rows[i]);
    if (sum == row_count)
        return;
    jobs = NEW(rq->arena, struct job, sum);
    row_of = NEW(rq->arena, size_t, sum);
    for (size_t i = 0; i < row_count; i++)
        for (size_t k = 0; k < count_of(&rows[i]); k++, at++) {
            jobs[at] = rows[i];
            jobs[at].copy = k;
            row_of[at] = i;
        }
    out->jobs = jobs;
    out->count = sum;
    out->row_of = row_of;
}

/* ---- texts ---- */

const char *copies_text(const char *text, const char *list, const size_t *row_of,
                        size_t count, struct arena *a)
{
    const char *rest = text, *at;
    const char *out = "";

    while ((at = strstr(rest, list)) != NULL) {
        const char *digits = at + strlen(list);
        char *end;
        size_t number = strtoull(digits, &end, 10);

        if (end == digits || number >= count) /* a name that looks like it */
            out = arena_printf(a, "%s%.*s", out, (int)(end - rest), rest);
        else
            out = arena_printf(a, "%s%.*s%zu", out, (int)(digits - rest), rest,
                               row_of[number]);
        rest = end;
    }
    return rest == text ? text : arena_printf(a, "%s%s", out, rest);
}

enum error_code copies_refused(const struct copies *c, const struct error_item *before)
{
    struct error *err = c->rq->err;

    if (!c->row_of || err->code == OK)
        return err->code;
    for (struct error_item *e = before ? before->next : err->first; e; e = e->next) {
        e->pointer = copies_text(e->pointer, c->list, c->row_of, c->count, c->rq->arena);
        e->detail = copies_text(e->detail, c->list, c->row_of, c->count, c->rq->arena);
    }
    if (err->first)
        snprintf(err->field, sizeof(err->field), "%s", err->first->pointer);
    return err->code;
}

const char *const *copies_warnings(const struct copies *c, const char *const *warnings,
                                   size_t count)
{
    const char **out;

    if (!c->row_of || count == 0)
        return warnings;
    out = NEW(c->rq->arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        out[i] = copies_text(warnings[i], c->list, c->row_of, c->count, c->rq->arena);
    return out;
}

/* ---- numbers ---- */

/* A placement while it is sorted. */
struct entry {
    const struct placement *of;
    size_t row, place; /* of its job; of its first resource in the snapshot */
};

struct fold {
    const struct copies *c;
    struct placement_out *plan;
    struct entry *entries;  /* by row, start and resource */
    const size_t *index_of; /* by job: the number of the copy */
    bool *fixed;            /* by job: it keeps its number */
    struct arena *arena;
};

static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int compare_texts(const char *a, const char *b)
{
    return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int compare_lists(const char *const *a, size_t a_count, const char *const *b,
                         size_t b_count)
{
    if (a_count != b_count)
        return a_count < b_count ? -1 : 1;
    for (size_t i = 0; i < a_count; i++) {
        int order = compare_texts(a[i], b[i]);

        if (order != 0)
            return order;
    }
    return 0;
}

/* 0: all that a row says of them is alike, but for the slot. */
static int compare_places(const struct placement *a, const struct placement *b)
{
    const double x[] = {a->stage_in_s, a->run_time_s, a->held_s,      a->finish_s,
                        a->rank,       a->late_s,     -a->bytes_moved};
    const double y[] = {b->stage_in_s, b->run_time_s, b->held_s,      b->finish_s,
                        b->rank,       b->late_s,     -b->bytes_moved};
    int order = compare_lists(a->resource_ids, a->resource_id_count, b->resource_ids,
                              b->resource_id_count);

    if (order == 0)
        order = compare_texts(a->partition_id, b->partition_id);
    for (size_t i = 0; order == 0 && i < sizeof(x) / sizeof(*x); i++)
        order = compare_doubles(x[i], y[i]);
    if (order == 0)
        order = a->killed - b->killed;
    return order ? order
                 : compare_lists(a->files, a->file_count, b->files, b->file_count);
}

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    order = compare_doubles(x->of->start_s, y->of->start_s);
    if (order != 0)
        return order;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    order = compare_places(x->of, y->of);
    if (order != 0)
        return order;
    if (x->of->slot != y->of->slot)
        return x->of->slot < y->of->slot ? -1 : 1;
    return x->of->job < y->of->job ? -1 : x->of->job > y->of->job;
}

static void sort_places(struct fold *f, const struct snapshot *s)
{
    struct placement_out *plan = f->plan;
    struct name_index ids;

    f->entries = NEW(f->arena, struct entry, plan->placement_count);
    name_index_create(&ids, s->resource_count, f->arena);
    for (size_t i = 0; i < s->resource_count; i++)
        name_index_add(&ids, s->resources[i].id, i);
    for (size_t i = 0; i < plan->placement_count; i++) {
        const struct placement *x = &plan->placements[i];
        const char *id = x->resource_id ? x->resource_id : x->resource_ids[0];

        f->entries[i] =
            (struct entry){x, f->c->row_of[x->job], name_index_find(&ids, id)};
    }
    budget_step(&f->c->rq->finish, plan->placement_count);
    qsort(f->entries, plan->placement_count, sizeof(*f->entries), by_place);
}

/* A lease has it under its number. */
static bool is_leased(const struct placement_unplaced *x)
{
    for (size_t i = 0; i < x->reason_count; i++)
        if (strcmp(x->reasons[i].reason, "leased") == 0)
            return true;
    return false;
}

/* Jobs that cannot change their numbers with others. */
static void fix(struct fold *f)
{
    const struct placement_out *plan = f->plan;
    bool *whole = NEW(f->arena, bool, f->c->row_count);

    for (size_t i = 0; i < plan->placement_count; i++)
        if (plan->placements[i].files)
            whole[f->c->row_of[plan->placements[i].job]] = true;
    for (size_t job = 0; job < f->c->count; job++)
        f->fixed[job] = whole[f->c->row_of[job]];
    for (size_t i = 0; i < plan->unplaced_count; i++)
        if (is_leased(&plan->unplaced[i]))
            f->fixed[plan->unplaced[i].job] = true;
}

const size_t *copies_number(const struct copies *c, const size_t *order, size_t count,
                            const bool *fixed)
{
    size_t *index_of = NEW(c->rq->arena, size_t, c->count);
    size_t *next =
        NEW(c->rq->arena, size_t, c->row_count); /* a job whose number is free */
    bool *has = NEW(c->rq->arena, bool, c->count);

    for (size_t job = c->count; job-- > 0;)
        next[c->row_of[job]] = job;
    for (size_t i = 0; i < count + c->count; i++) {
        size_t job = i < count ? order[i] : i - count;
        size_t *free = &next[c->row_of[job]];

        if (has[job])
            continue;
        has[job] = true;
        if (fixed[job]) {
            index_of[job] = (size_t)c->jobs[job].copy;
            continue;
        }
        while (fixed[*free])
            ++*free;
        index_of[job] = (size_t)c->jobs[(*free)++].copy;
    }
    return index_of;
}

/* ---- rows ---- */

struct placement_copies copies_begin(const struct copies *c, const size_t *index_of,
                                     size_t job)
{
    struct placement_copies x = PLACEMENT_NO_COPIES;

    if (c->jobs[job].count > 1)
        x.index = index_of[job];
    return x;
}

bool copies_add(const struct copies *c, const size_t *index_of, size_t first, size_t job,
                struct placement_copies *x)
{
    uint64_t last = x->indexes ? (uint64_t)x->indexes[1] : x->index;
    double *both;

    if (c->jobs[job].count < 2 || c->row_of[job] != c->row_of[first] ||
        index_of[job] != last + 1)
        return false;
    if (x->indexes) {
        both = (double *)x->indexes;
    } else {
        both = NEW(c->rq->arena, double, 2);
        both[0] = (double)x->index;
        *x = (struct placement_copies){UINT64_MAX, both, 2};
    }
    both[1] = (double)index_of[job];
    return true;
}

/* Of a plan. */
static struct placement_copies begin(const struct fold *f, size_t job)
{
    return copies_begin(f->c, f->index_of, job);
}

static bool add(const struct fold *f, struct placement_copies *x, size_t first,
                size_t job)
{
    return copies_add(f->c, f->index_of, first, job, x);
}

static void number_copies(struct fold *f)
{
    size_t count = f->plan->placement_count;
    size_t *order = NEW(f->arena, size_t, count);

    for (size_t i = 0; i < count; i++)
        order[i] = f->entries[i].of->job;
    f->index_of = copies_number(f->c, order, count, f->fixed);
}

static bool same_place(const struct placement *a, const struct placement *b)
{
    return compare_doubles(a->start_s, b->start_s) == 0 &&
           compare_texts(a->resource_id, b->resource_id) == 0 &&
           (a->slot == UINT64_MAX) == (b->slot == UINT64_MAX) &&
           compare_places(a, b) == 0;
}

/* Slots of the copies of a row, unless each is one above that before it. */
static void list_slots(const struct fold *f, const struct entry *first, size_t count,
                       struct placement *row)
{
    bool rising = row->slot == UINT64_MAX;
    double *slots;

    if (rising || count == 1)
        return;
    rising = true;
    for (size_t i = 1; i < count; i++)
        rising = rising && first[i].of->slot == row->slot + i;
    if (rising)
        return;
    slots = NEW(f->arena, double, count);
    for (size_t i = 0; i < count; i++)
        slots[i] = (double)first[i].of->slot;
    row->slots = slots;
    row->slot_list_count = count;
}

static void fold_placements(struct fold *f)
{
    struct placement_out *plan = f->plan;
    size_t count = plan->placement_count, rows = 0, first = 0;
    struct placement *list = NEW(f->arena, struct placement, count);

    while (first < count) {
        struct placement row = *f->entries[first].of;
        size_t behind = first + 1;

        budget_step(&f->c->rq->finish, 1);
        row.copies = begin(f, row.job);
        while (behind < count && same_place(&row, f->entries[behind].of) &&
               add(f, &row.copies, row.job, f->entries[behind].of->job))
            behind++;
        list_slots(f, &f->entries[first], behind - first, &row);
        list[rows++] = row;
        first = behind;
    }
    plan->placements = list;
    plan->placement_count = rows;
}

/* A row of another list: which job, and its number. */
struct numbered {
    size_t row, index, at;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void fold_unplaced(struct fold *f)
{
    struct placement_out *plan = f->plan;
    size_t count = plan->unplaced_count, rows = 0;
    struct placement_unplaced *list = NEW(f->arena, struct placement_unplaced, count);
    struct numbered *order = NEW(f->arena, struct numbered, count);

    for (size_t i = 0; i < count; i++) {
        size_t job = plan->unplaced[i].job;

        order[i] = (struct numbered){f->c->row_of[job], f->index_of[job], i};
    }
    qsort(order, count, sizeof(*order), by_number);
    for (size_t i = 0; i < count; i++) {
        const struct placement_unplaced *x = &plan->unplaced[order[i].at];
        struct placement_unplaced *last = rows ? &list[rows - 1] : NULL;

        if (last && last->reasons == x->reasons &&
            add(f, &last->copies, last->job, x->job))
            continue;
        list[rows] = *x;
        list[rows++].copies = begin(f, x->job);
    }
    plan->unplaced = list;
    plan->unplaced_count = rows;
}

static bool same_stops(const struct placement_preemption *a,
                       const struct placement_preemption *b)
{
    return compare_lists(a->resource_ids, a->resource_id_count, b->resource_ids,
                         b->resource_id_count) == 0 &&
           compare_lists(a->stop, a->stop_count, b->stop, b->stop_count) == 0;
}

static void fold_preemptions(struct fold *f)
{
    struct placement_out *plan = f->plan;
    size_t count = plan->preemption_count, rows = 0;
    struct placement_preemption *list = NEW(f->arena, struct placement_preemption, count);

    for (size_t i = 0; i < count; i++) {
        const struct placement_preemption *x = &plan->preemptions[i];
        struct placement_preemption *last = rows ? &list[rows - 1] : NULL;

        if (last && same_stops(last, x) && add(f, &last->copies, last->job, x->job))
            continue;
        list[rows] = *x;
        list[rows++].copies = begin(f, x->job);
    }
    plan->preemptions = list;
    plan->preemption_count = rows;
}

void copies_fold(const struct copies *c, const struct snapshot *s,
                 struct placement_out *plan)
{
    struct fold f = {.c = c, .plan = plan, .arena = c->rq->arena};

    if (!c->row_of)
        return;
    f.fixed = NEW(f.arena, bool, c->count);
    sort_places(&f, s);
    fix(&f);
    number_copies(&f);
    fold_placements(&f);
    fold_unplaced(&f);
    fold_preemptions(&f);
}

/* ---- rows of a plan that somebody sends ---- */

void copies_reader_make(struct request *rq, const struct job *rows, size_t row_count,
                        const char *list, struct copies_reader *out)
{
    *out = (struct copies_reader){.rq = rq, .rows = rows, .list = list};
    name_index_create(&out->ids, row_count, rq->arena);
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].id)
            name_index_add(&out->ids, rows[i].id, i);
}

static void mistake(const struct copies_reader *r, size_t number, const char *member,
                    enum item_code code, const char *text)
{
    invalid(r->rq->err, pointer_in(r->list, number, member).text, code, "%s", text);
}

/* False: it is a mistake. */
static bool check_said(const struct copies_reader *r, size_t number, uint64_t count,
                       const struct copies_said *said)
{
    const char *member = said->indexes ? "indexes" : "index";
    bool both = said->indexes && said->indexes_count == 2;
    double first = both ? said->indexes[0] : said->index;
    double last = both ? said->indexes[1] : said->index;
    size_t before = r->rq->err->item_count;

    if (said->indexes && !isnan(said->index))
        mistake(r, number, "index", ITEM_CONFLICT, "give index or indexes, not both");
    if (said->indexes && said->indexes_count != 2)
        mistake(r, number, "indexes", ITEM_WRONG_LENGTH,
                "two numbers: the first copy and the last");
    else if (!said->indexes && isnan(said->index) && count > 1)
        mistake(r, number, "index", ITEM_REQUIRED,
                "the job has several copies: say which, by index or indexes");
    else if (first > last || last >= (double)count)
        mistake(r, number, member, ITEM_OUT_OF_BOUNDS,
                arena_printf(r->rq->arena, "the copies of the job are 0 to %llu",
                             (unsigned long long)count - 1));
    else if (said->slots && (double)said->slot_count != last - first + 1)
        mistake(r, number, "slots", ITEM_WRONG_LENGTH, "one for each copy of the row");
    return r->rq->err->item_count == before;
}

void copies_read(struct copies_reader *r, size_t number, const char *job_id,
                 const struct copies_said *said, uint64_t *first, uint64_t *last)
{
    size_t row = job_id ? name_index_find(&r->ids, job_id) : NAME_NOT_FOUND;

    *first = *last = 0;
    r->sum++;
    if (row == NAME_NOT_FOUND || !check_said(r, number, count_of(&r->rows[row]), said) ||
        (!said->indexes && isnan(said->index)))
        return;
    *first = (uint64_t)(said->indexes ? said->indexes[0] : said->index);
    *last = (uint64_t)(said->indexes ? said->indexes[1] : said->index);
    r->sum += *last - *first;
}

enum error_code copies_read_all(const struct copies_reader *r)
{
    return r->sum > COPIES_MAX
               ? fail(r->rq->err, ERR_TOO_LARGE, r->list,
                      "its rows are about more than %d jobs and copies", COPIES_MAX)
               : OK;
}
