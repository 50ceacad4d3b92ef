/* progress/history.c - reports, as they came, to the points that are fitted.
 *
 * Sorted by elapsed_s; of several at one instant the last one in the list counts; what
 * has no progress or no finite, positive estimate is left out. A report may say less than
 * the one before: it stays, as nobody knows which of the two was wrong.
 *
 * Source: spec runtime-prediction.md 2. Cost: O(n log n).
 */
#include "models/progress/progress.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define WARNINGS(X)                                                                   \
    X(progress_fell, "A report says less than the one before it: both were used")     \
    X(duplicate_reports, "Of reports of the same elapsed_s only the last was used")   \
    X(unusable_reports, "Reports without progress, work or a finite estimate were "   \
                        "left out")                                                   \
    X(thinned, "There were more reports than max_points: older ones were left out")   \
    X(share_changed, "The share of the resource changed: give work_done_ref_s, else " \
                     "the present share counts for the whole past")                   \
    X(work_fell, "The work done fell from one report to the next")                    \
    X(implausible_reports,                                                            \
      "Single reports that cannot be true beside their neighbours were left out")

const char *const progress_warning_names[] = {
#define X(name, text) #name,
    WARNINGS(X)
#undef X
        NULL};
const char *const progress_warning_texts[] = {
#define X(name, text) text,
    WARNINGS(X)
#undef X
};

struct report {
    struct progress_sample sample;
    size_t place; /* in the caller's list */
};

static int by_time(const void *x, const void *y)
{
    const struct report *a = x, *b = y;

    if (a->sample.elapsed_s != b->sample.elapsed_s)
        return a->sample.elapsed_s < b->sample.elapsed_s ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static double or_else(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

static double share_of(const struct progress_sample *s)
{
    return progress_share(or_else(s->mips_total, 1), or_else(s->mips_external, 0),
                          or_else(s->job_count, 1));
}

static struct progress_point point_of(const struct progress_sample *s)
{
    double work = or_else(s->work_done_ref_s, s->elapsed_s * share_of(s));

    return (struct progress_point){
        s->elapsed_s, work,
        s->progress_pct > 0 ? progress_from_work_ref_s(work, s->progress_pct) : 0};
}

static bool usable(const struct progress_point *p)
{
    return p->estimate_ref_s > 0 && isfinite(p->estimate_ref_s);
}

/* What two reports, one after the other, do not agree in. */
static unsigned compare(const struct progress_sample *before,
                        const struct progress_sample *s, double work_before, double work)
{
    bool known = !isnan(before->work_done_ref_s) && !isnan(s->work_done_ref_s);

    return (s->progress_pct < before->progress_pct ? PROGRESS_WARN_BACKWARDS : 0u) |
           (!known && share_of(s) != share_of(before) ? PROGRESS_WARN_SHARE : 0u) |
           (work < work_before ? PROGRESS_WARN_WORK_FELL : 0u);
}

/* The points of sorted reports, and what is to be said about them. */
static void read_reports(const struct report *reports, size_t count,
                         struct progress_point *points, struct progress_history *out)
{
    const struct progress_sample *before = NULL;

    out->work_known = count > 0;
    for (size_t i = 0; i < count; i++) {
        const struct progress_sample *s = &reports[i].sample;
        struct progress_point p = point_of(s);

        if (i + 1 < count && reports[i + 1].sample.elapsed_s == s->elapsed_s) {
            out->warnings |= PROGRESS_WARN_DUPLICATES;
            continue;
        }
        if (!usable(&p)) {
            out->warnings |= PROGRESS_WARN_UNUSABLE;
            continue;
        }
        if (before)
            out->warnings |=
                compare(before, s, points[out->count - 1].work_ref_s, p.work_ref_s);
        before = s;
        out->work_known &= !isnan(s->work_done_ref_s);
        points[out->count++] = p;
    }
    out->work_known &= out->count > 0;
    out->finished = before && before->progress_pct >= 100;
}

size_t progress_thin(struct progress_point *points, size_t count, size_t max_points)
{
    assert(max_points >= 3); /* of three points the older half is one: none to drop */
    while (count > max_points) {
        size_t half = count / 2, kept = 0;

        for (size_t i = 0; i < count; i++)
            if (i >= half || i % 2 == 0)
                points[kept++] = points[i];
        count = kept;
    }
    return count;
}

enum error_code progress_history_of(const struct progress_sample *samples, size_t count,
                                    size_t max_points, struct progress_history *out,
                                    struct arena *a)
{
    struct report *reports = NEW(a, struct report, count + 1);
    struct progress_point *points = NEW(a, struct progress_point, count + 1);
    struct progress_history history = {.points = points};

    for (size_t i = 0; i < count; i++)
        reports[i] = (struct report){samples[i], i};
    qsort(reports, count, sizeof(*reports), by_time);
    read_reports(reports, count, points, &history);
    history.sample_count = history.count;
    if (history.count > max_points)
        history.warnings |= PROGRESS_WARN_THINNED;
    history.count = progress_thin(points, history.count, max_points);
    *out = history;
    return OK;
}
