/* placement/batch.c - the machinery of min_min, max_min and the sufferages. */
#include "algorithms/placement/batch_parts.h"
#include "models/base/heap.h"

static double estimate_of(const struct batch *b, size_t job)
{
    const struct problem_job *j = &b->plan->problem->jobs[job];

    return j->etc_s ? 0 : j->estimate_ref_s;
}

/* Turns a list by rising estimate into one by falling estimate, in which equal ones
 * keep their order. */
static void turn(const struct batch *b, const size_t *jobs, size_t count, size_t *out)
{
    size_t end = count, filled = 0;

    while (end > 0) {
        size_t first = end - 1;

        while (first > 0 &&
               estimate_of(b, jobs[first - 1]) >= estimate_of(b, jobs[end - 1]))
            first--;
        for (size_t i = first; i < end; i++)
            out[filled++] = jobs[i];
        end = first;
    }
}

static void add_stream(struct batch *b, const size_t *jobs, size_t count)
{
    b->streams[b->count++] =
        (struct batch_stream){.jobs = jobs, .end = jobs + count, .stale = true};
}

/* Sufferage does not grow with the estimate: equal estimates only. */
static void add_equal_parts(struct batch *b, const size_t *jobs, size_t count)
{
    size_t first = 0;

    for (size_t i = 1; i <= count; i++) {
        if (i < count && estimate_of(b, jobs[i]) <= estimate_of(b, jobs[first]))
            continue;
        add_stream(b, jobs + first, i - first);
        first = i;
    }
}

static void make_streams(struct batch *b)
{
    const struct placement_problem *p = b->plan->problem;
    bool parts = b->rule == BATCH_SUFFERAGE || b->rule == BATCH_XSUFFERAGE;
    struct arena *a = b->plan->arena;
    size_t *turned = NULL;

    b->streams = NEW(a, struct batch_stream, parts ? p->job_count : p->stream_count);
    b->version = NEW(a, size_t, p->resource_count);
    if (b->rule == BATCH_LARGEST)
        turned = NEW(a, size_t, p->job_count);
    for (size_t i = 0; i < p->stream_count; i++) {
        const struct problem_stream *s = &p->streams[i];
        const size_t *jobs = p->stream_jobs + s->first;

        if (turned) {
            turn(b, jobs, s->count, turned + s->first);
            jobs = turned + s->first;
        }
        if (parts)
            add_equal_parts(b, jobs, s->count);
        else
            add_stream(b, jobs, s->count);
    }
}

static void set_key(const struct batch *b, struct batch_stream *s)
{
    bool sufferage = b->rule == BATCH_SUFFERAGE || b->rule == BATCH_XSUFFERAGE;

    s->version = b->version[s->choice.pos];
    s->same_job = true;
    s->key = sufferage ? s->choice.rival_s - s->choice.done_s : s->choice.done_s;
}

void batch_choose(struct batch *b, struct batch_stream *s)
{
    size_t all = b->plan->problem->resource_count;

    s->stale = false;
    for (; s->jobs < s->end; s->jobs++) {
        s->choice = plan_best(b->plan, *s->jobs, b->rival, all);
        if (s->choice.pos != NO_INDEX)
            break;
    }
    if (s->jobs == s->end)
        return;
    set_key(b, s);
}

bool batch_still_best(struct batch *b, struct batch_stream *s)
{
    double done_s;

    if (b->rival != RIVAL_RESOURCE || s->choice.pos == NO_INDEX || !s->same_job)
        return false;
    done_s = plan_fit(b->plan, *s->jobs, s->choice.pos).done_s;
    if (!(done_s < s->choice.rival_s))
        return false;
    s->choice.done_s = done_s;
    s->stale = false;
    set_key(b, s);
    return true;
}

/* ---- min_min without files: a heap of lower bounds ---- */

static bool stream_before(const struct batch_stream *a, const struct batch_stream *b)
{
    return a->key < b->key || (a->key <= b->key && *a->jobs < *b->jobs);
}

HEAP(streams, struct batch_stream, stream_before)

static enum error_code place_least(struct batch *b, struct error *err)
{
    struct batch_stream *heap = b->streams;
    size_t count = b->count;

    streams_heapify(heap, count); /* all bounds are 0 */
    while (count && !plan_spent(b->plan)) {
        struct batch_stream *top = &heap[0];

        if (top->stale || b->version[top->choice.pos] != top->version) {
            if (!batch_still_best(b, top))
                batch_choose(b, top);
        } else {
            TRY(plan_place(b->plan, *top->jobs, top->choice.pos, err));
            b->version[top->choice.pos]++;
            top->jobs++; /* the next one needs no less than this one's key */
            top->stale = true;
            top->same_job = false;
        }
        if (top->jobs == top->end)
            heap[0] = heap[--count];
        streams_first_changed(heap, count);
    }
    return OK;
}

/* ---- the others: all streams are looked at in each step ---- */

static bool uses_moved_file(const struct batch *b, size_t job)
{
    const struct placement_plan *plan = b->plan;
    const struct problem_job *j = &plan->problem->jobs[job];

    if (j->by_arch)
        return true;
    for (size_t k = 0; k < j->file_count; k++)
        if (plan->arrived[j->files[k]] == plan->placed_count)
            return true;
    return false;
}

/* The first job would not complete there at that time any more. */
static bool moved(const struct batch *b, const struct batch_stream *s, size_t pos,
                  double done_s)
{
    return s->jobs == s->end || b->plan->problem->has_files ||
           plan_fit(b->plan, *s->jobs, pos).done_s != done_s;
}

/* What the last placement, at `pos`, makes stale. */
static void mark_stale(struct batch *b, size_t pos)
{
    bool files = b->plan->problem->has_files;
    bool parts = b->rule == BATCH_SUFFERAGE || b->rule == BATCH_XSUFFERAGE;

    for (size_t i = 0; i < b->count; i++) {
        struct batch_stream *s = &b->streams[i];
        enum { NONE, BEST, OTHERS } change = NONE;

        if (files)
            b->plan->work += b->plan->problem->jobs[*s->jobs].file_count;
        if (files && uses_moved_file(b, *s->jobs))
            change = OTHERS;
        else if (parts && s->choice.rival == pos)
            change = moved(b, s, pos, s->choice.rival_s) ? OTHERS : NONE;
        else if (s->choice.pos == pos)
            change = moved(b, s, pos, s->choice.done_s) ? BEST : NONE;
        s->stale = s->stale || change != NONE;
        s->same_job = s->same_job && change != OTHERS;
    }
}

static bool goes_first(const struct batch *b, const struct batch_stream *s,
                       const struct batch_stream *best)
{
    if (!best)
        return true;
    if (s->key != best->key)
        return b->rule == BATCH_LEAST ? s->key < best->key : s->key > best->key;
    return *s->jobs < *best->jobs;
}

/* The stream whose first job comes next; ended ones are removed. NULL: none left. */
static struct batch_stream *next_stream(struct batch *b)
{
    struct batch_stream *best = NULL;

    for (size_t i = 0; i < b->count;) {
        struct batch_stream *s = &b->streams[i];

        if (s->jobs < s->end && s->stale && !batch_still_best(b, s))
            batch_choose(b, s);
        if (s->jobs == s->end) {
            *s = b->streams[--b->count];
            continue;
        }
        if (goes_first(b, s, best))
            best = s;
        i++;
        if (plan_spent(b->plan))
            return NULL;
    }
    return best;
}

static enum error_code place_all(struct batch *b, struct error *err)
{
    struct batch_stream *s;

    while ((s = next_stream(b)) != NULL) {
        size_t pos = s->choice.pos;

        TRY(plan_place(b->plan, *s->jobs, pos, err));
        b->plan->work += b->count;
        s->jobs++;
        s->stale = true;
        s->same_job = false;
        if (s->jobs == s->end)
            *s = b->streams[--b->count];
        mark_stale(b, pos);
    }
    return OK;
}

enum error_code batch_place(struct placement_plan *plan, enum batch_rule rule,
                            struct error *err)
{
    struct batch b = {.plan = plan, .rule = rule};

    if (rule == BATCH_SUFFERAGE || plan->problem->has_matrix)
        b.rival = RIVAL_RESOURCE;
    if (rule == BATCH_XSUFFERAGE)
        b.rival = RIVAL_STORE;
    make_streams(&b);
    if (rule == BATCH_LEAST && !plan->problem->has_files)
        return place_least(&b, err);
    if (rule == BATCH_LARGEST && !plan->problem->has_files)
        return batch_place_largest(&b, err);
    return place_all(&b, err);
}
