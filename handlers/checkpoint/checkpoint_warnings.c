/* checkpoint_warnings.c - what is to be known of decided checkpoint intervals. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "models/base/plural.h"

#include <string.h>

/* A gap_ratio of a job that ends that is worth a warning. */
#define FEW_INTERVALS_GAP 0.01

/* Settings below it are worth one, too. */
#define INTERVAL_SHORT_S 10.0

void checkpoint_affect(struct checkpoint_work *w, enum checkpoint_warning warning,
                       const struct checkpoint_job *job)
{
    struct checkpoint_affected *jobs = &w->affected[warning];

    if (jobs->last == job)
        return;
    jobs->last = job;
    if (jobs->count++ == 0)
        jobs->first_id = job->id;
}

void checkpoint_warn_all(struct checkpoint_work *w)
{
    static const struct {
        const char *code, *what;
    } rows[] = {
#define X(symbol, code, what) {code, what},
        CHECKPOINT_JOB_WARNINGS(X)
#undef X
    };
    const char *down;

    for (size_t i = 0; i < CHECKPOINT_WARNING_COUNT; i++) {
        const struct checkpoint_affected *jobs = &w->affected[i];
        const char *more = "";

        if (jobs->count == 0)
            continue;
        if (i == CHECKPOINT_WARNS_NO_HISTORY)
            more = arena_printf(w->rq->arena, "; %s in all",
                                counted(w->unknown_nodes, "node").text);
        if (i == CHECKPOINT_WARNS_FLOOR)
            more =
                arena_printf(w->rq->arena, "; for the first that is %.9g s", w->floor_s);
        if (i == CHECKPOINT_WARNS_OFFERS)
            more = arena_printf(w->rq->arena, "; for the first %s",
                                counted(w->not_offered, "resource").text);
        w->warnings[w->warning_count++] =
            arena_printf(w->rq->arena, "%s: %s, first '%.256s', %s%s", rows[i].code,
                         counted(jobs->count, "job").text, jobs->first_id,
                         plural_text(jobs->count, rows[i].what, w->rq->arena), more);
    }
    down = histories_warn_down(&w->histories, w->rq->arena);
    if (down)
        w->warnings[w->warning_count++] = down;
    if (w->histories.peers_cut)
        w->warnings[w->warning_count++] =
            "peers_cut: there are more stored hosts than the prior was fitted to";
    if (w->histories.unavailable)
        w->warnings[w->warning_count++] =
            "history_unavailable: the stored failures cannot be read now; resources "
            "without a history in the request count as never seen to fail";
}

void checkpoint_note(struct checkpoint_work *w, const struct checkpoint_job *job,
                     const struct checkpoint_in *in, const struct checkpoint_out *out)
{
    if (in->checkpoint_overhead_s >= in->mean_failure_interval_s || out->never_ends)
        checkpoint_affect(w, CHECKPOINT_WARNS_HOPELESS, job);
    if (out->at_floor) {
        checkpoint_affect(w, CHECKPOINT_WARNS_FLOOR, job);
        if (w->affected[CHECKPOINT_WARNS_FLOOR].count == 1)
            w->floor_s = out->floor_s;
    }
    if (out->gap_is_finite && out->gap_ratio > FEW_INTERVALS_GAP &&
        out->bound != CHECKPOINT_BOUND_DP && /* the bound's gap as well */
        w->policy->flags & CHECKPOINT_NEEDS_MEAN &&
        !(w->policy->flags & CHECKPOINT_NEEDS_TIME))
        checkpoint_affect(w, CHECKPOINT_WARNS_FEW_INTERVALS, job);
    if (out->min_interval_raised)
        checkpoint_affect(w, CHECKPOINT_WARNS_RAISED, job);
    if (out->was_cut)
        checkpoint_affect(w, CHECKPOINT_WARNS_CUT_TO_MIDPOINT, job);
    if (out->history_too_short)
        checkpoint_affect(w, CHECKPOINT_WARNS_TOO_SHORT, job);
    if ((w->policy->flags & CHECKPOINT_NEEDS_MEAN && !(checkpoint_mean_s(in) > 0) &&
         !checkpoint_has_weibull(w, in)) ||
        (w->policy->flags & CHECKPOINT_NEEDS_AGE && isnan(in->failure_age_s)))
        checkpoint_affect(w, CHECKPOINT_WARNS_UNKNOWN, job);
}

static bool wants_tool(const struct checkpoint_work *w, const char *name)
{
    for (size_t i = 0; i < w->body->render_count; i++)
        if (strcmp(w->body->render[i], name) == 0)
            return true;
    return false;
}

bool checkpoint_wants_limit(const struct checkpoint_work *w)
{
    return !isnan(w->param[CHECKPOINT_SLURM_QUANTILE]) && wants_tool(w, "slurm");
}

/* Whether whole units of unit_s make the interval much worse. */
static bool is_worse_rounded(const struct checkpoint_in *in, double interval_s,
                             double unit_s)
{
    struct checkpoint_in known = *in;
    double rounded_s = unit_s * fmax(1, floor(interval_s / unit_s + 0.5));

    known.mean_failure_interval_s = checkpoint_mean_s(in);
    if (!(known.mean_failure_interval_s > 0) || isinf(interval_s))
        return false;
    return checkpoint_expected_time_ratio(&known, rounded_s) - 1 >
           1.01 * (checkpoint_expected_time_ratio(&known, interval_s) - 1);
}

/* What is to be known of settings for other tools. */
void checkpoint_note_render(struct checkpoint_work *w, const struct checkpoint_job *job,
                            const struct checkpoint_in *in, double interval_s,
                            double saving_s)
{
    bool has_seconds =
        wants_tool(w, "scr") || wants_tool(w, "veloc") || wants_tool(w, "dmtcp");

    if (wants_tool(w, "slurm") &&
        checkpoint_slurm_lead_s(saving_s) > CHECKPOINT_SLURM_LEAD_MAX_S)
        checkpoint_affect(w, CHECKPOINT_WARNS_SLURM, job);
    if (has_seconds && interval_s < INTERVAL_SHORT_S)
        checkpoint_affect(w, CHECKPOINT_WARNS_VERY_SHORT, job);
    if (job->world.level_count > 0) /* its segment is not that of the last level alone */
        return;
    if ((has_seconds && is_worse_rounded(in, interval_s, 1)) ||
        (wants_tool(w, "fti") && is_worse_rounded(in, interval_s, 60)))
        checkpoint_affect(w, CHECKPOINT_WARNS_ROUNDED, job);
}
