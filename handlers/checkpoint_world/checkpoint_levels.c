/* checkpoint_levels.c - jobs with checkpoints of several levels: their pattern, and it
 * as settings of FTI, SCR, VeloC and DMTCP.
 *
 * FTI has four levels and counts in minutes, 0 for a level that is off. SCR is told how
 * often it checkpoints, after how many of them one goes to the file system (SCR_FLUSH),
 * and with three levels or more the redundancy of those below, from a single copy on the
 * node over a partner to an XOR set. VeloC has an interval for its erasure code, its
 * second level, and one for the file system, -1 for off. DMTCP has one level.
 */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "algorithms/checkpoint/trials.h"

#define WORSE_BY_ROUNDING 1.01

static struct levels_job job_of(const struct checkpoint_work *w,
                                const struct checkpoint_job *job,
                                const struct checkpoint_in *in)
{
    const struct checkpoint_job_world *x = &job->world;
    struct level *levels = NEW(w->rq->arena, struct level, x->level_count);

    for (size_t l = 0; l < x->level_count; l++)
        levels[l] = (struct level){x->levels[l].checkpoint_overhead_s,
                                   x->levels[l].restart_s, x->levels[l].survives_ratio};
    return (struct levels_job){levels, x->level_count, in->mean_failure_interval_s,
                               in->reschedule_delay_s, &w->rq->budget};
}

/* The pattern as it is answered. */
static const struct checkpoint_pattern *print(const struct checkpoint_work *w,
                                              const struct checkpoint_job *job,
                                              const struct levels_pattern *found)
{
    const struct checkpoint_job_world *x = &job->world;
    struct checkpoint_pattern *out = NEW(w->rq->arena, struct checkpoint_pattern, 1);
    struct checkpoint_pattern_level *levels =
        NEW(w->rq->arena, struct checkpoint_pattern_level, found->level_count);
    double *dropped = NEW(w->rq->arena, double, x->level_count);
    size_t used = 0;

    for (size_t l = 0; l < x->level_count; l++) {
        if (used < found->level_count && found->levels[used] == l) {
            levels[used] =
                (struct checkpoint_pattern_level){x->levels[l].level, found->every[used],
                                                  found->every[used] * found->segment_s};
            used++;
        } else {
            dropped[out->dropped_count++] = x->levels[l].level;
        }
    }
    out->levels = levels;
    out->level_count = used;
    out->segment_s = found->segment_s;
    out->segment_count = found->every[found->level_count - 1];
    out->overhead_ratio =
        isinf(found->overhead_ratio) ? (double)NAN : found->overhead_ratio;
    out->first_order_ratio = found->first_order_ratio;
    out->dropped_levels = dropped;
    out->survival = x->survival;
    return out;
}

/* Near the end the policy asked whether a checkpoint of the last level pays; the next
 * one may be of the first. */
static void ask_again(const struct checkpoint_in *in, struct checkpoint_interval *out)
{
    struct checkpoint_in near = *in;
    struct finite_request question;
    struct finite_answer answer;

    near.checkpoint_overhead_s = out->world.overheads_s[0];
    if (out->out.reason != CHECKPOINT_REASON_CHEAPER_TO_REDO ||
        !checkpoint_question(&near, out->out.interval_s, CHECKPOINT_SHORTEST_S,
                             &question))
        return;
    answer = finite_decide(&question);
    out->out.next_request_in_s = answer.in_s;
    if (!answer.take)
        return;
    out->out.action = CHECKPOINT_TAKE;
    out->out.reason = CHECKPOINT_REASON_BEST_INTERVAL;
    out->out.next_request_in_s = out->out.interval_s;
    out->out.consecutive_omissions = 0;
}

/* No segment is shorter than any policy's interval may be, by the cheapest level. true:
 * it would have been. */
static bool raise_to_floor(const struct checkpoint_work *w,
                           const struct checkpoint_job *job,
                           const struct levels_job *levels,
                           const struct checkpoint_in *in,
                           const struct checkpoint_out *out, struct levels_pattern *found)
{
    struct checkpoint_in cheapest = *in;
    double floor_s;

    cheapest.checkpoint_overhead_s =
        job->world.levels[found->levels[0]].checkpoint_overhead_s;
    floor_s = checkpoint_floor_s(&cheapest, w->param, out);
    if (found->segment_s >= floor_s)
        return false;
    found->segment_s = floor_s;
    found->pattern_s = levels_pattern_s(levels, found);
    found->overhead_ratio =
        found->pattern_s / (found->every[found->level_count - 1] * floor_s) - 1;
    return true;
}

void checkpoint_add_pattern(struct checkpoint_work *w, const struct checkpoint_job *job,
                            const struct checkpoint_in *in,
                            struct checkpoint_interval *out)
{
    struct levels_job levels = job_of(w, job, in);
    struct levels_pattern found;
    double expected_s = NAN;
    bool is_raised;

    if (!(in->mean_failure_interval_s > 0) || isinf(in->mean_failure_interval_s))
        return;
    checkpoint_note_survival(w, job);
    found = levels_best(&levels);
    if (found.is_cut)
        checkpoint_affect(w, CHECKPOINT_WARNS_CUT_WORLD, job);
    is_raised = raise_to_floor(w, job, &levels, in, &out->out, &found);
    if (isinf(found.overhead_ratio))
        checkpoint_affect(w, CHECKPOINT_WARNS_HOPELESS, job);
    if (in->execution_time_s > 0 && !isinf(in->execution_time_s)) {
        expected_s = levels_expected_s(&levels, &found, in->execution_time_s,
                                       in->restart_from_scratch_s);
        if (isnan(expected_s))
            checkpoint_affect(w, CHECKPOINT_WARNS_CUT_WORLD, job);
    }
    checkpoint_put_interval(in, found.segment_s, expected_s, out);
    out->out.at_floor = out->out.at_minimum = is_raised;
    out->out.floor_s = found.segment_s;
    out->out.expected_time_ratio = 1 + found.overhead_ratio;
    if (isnan(expected_s))
        out->out.waste_ratio = 1 - 1 / out->out.expected_time_ratio;
    out->world.found = found;
    for (size_t l = 0; l < found.level_count; l++)
        out->world.overheads_s[l] =
            job->world.levels[found.levels[l]].checkpoint_overhead_s;
    ask_again(in, out);
    out->world.pattern = print(w, job, &found);
    w->is_unproved = true;
}

/* ---- trials ---- */

static struct trial_segment next_segment(const void *plan,
                                         const struct trial_state *state)
{
    const struct checkpoint_interval *x = plan;
    const struct levels_pattern *p = &x->world.found;
    double boundary = round(state->done_s / p->segment_s) + 1;
    struct trial_segment out = {.work_s = p->segment_s};

    if (state->left_s <= p->segment_s * (1 + 1e-9))
        out.work_s = state->left_s;
    while (out.level + 1 < p->level_count && fmod(boundary, p->every[out.level + 1]) <= 0)
        out.level++;
    out.checkpoint_s = x->world.overheads_s[out.level];
    return out;
}

bool checkpoint_world_play(struct checkpoint_work *w, const struct checkpoint_job *job,
                           const struct checkpoint_interval *out,
                           struct trials_in *trials)
{
    const struct levels_pattern *p = &out->world.found;
    struct trial_level *levels;
    double below = 0;

    if (p->level_count == 0)
        return false;
    levels = NEW(w->rq->arena, struct trial_level, p->level_count);
    for (size_t l = 0; l < p->level_count; l++) {
        const struct checkpoint_level *level = &job->world.levels[p->levels[l]];

        levels[l] = (struct trial_level){level->restart_s, level->survives_ratio - below};
        below = level->survives_ratio;
    }
    trials->levels = levels;
    trials->level_count = p->level_count;
    trials->next = next_segment;
    trials->plan = out;
    return true;
}

/* ---- settings ---- */

static double whole(double units)
{
    return fmax(1, floor(units + 0.5));
}

/* FTI's number of a level: its own if all are 1 to 4, else the last is 4 and the others
 * count from 1. */
static size_t fti_level(const struct checkpoint_pattern *p, size_t l)
{
    if (p->levels[p->level_count - 1].level <= 4)
        return (size_t)p->levels[l].level;
    return l + 1 == p->level_count ? 4 : l + 1;
}

static const char *fti(const struct checkpoint_pattern *p, struct arena *a)
{
    double minutes[4] = {0};

    for (size_t l = 0; l < p->level_count; l++)
        if (fti_level(p, l) <= 4)
            minutes[fti_level(p, l) - 1] = whole(p->levels[l].interval_s / 60);
    return arena_printf(a,
                        "ckpt_l1 = %.0f\nckpt_l2 = %.0f\nckpt_l3 = %.0f\nckpt_l4 = %.0f",
                        minutes[0], minutes[1], minutes[2], minutes[3]);
}

static const char *scr(const struct checkpoint_pattern *p, struct arena *a)
{
    static const char *const types[] = {"SINGLE", "PARTNER", "XOR"};
    const char *text =
        arena_printf(a, "SCR_CHECKPOINT_SECONDS=%.0f\nSCR_FLUSH=%.0f",
                     whole(p->segment_s), p->levels[p->level_count - 1].every);

    for (size_t l = 0; p->level_count >= 3 && l + 1 < p->level_count; l++)
        text = arena_printf(a, "%s\nCKPT=%zu INTERVAL=%.0f TYPE=%s", text, l,
                            p->levels[l].every, types[l < 2 ? l : 2]);
    return text;
}

static const char *veloc(const struct checkpoint_pattern *p, struct arena *a)
{
    const struct checkpoint_pattern_level *last = &p->levels[p->level_count - 1];
    double code_s = -1;

    for (size_t l = 0; l + 1 < p->level_count; l++)
        if (p->levels[l].level == 2)
            code_s = whole(p->levels[l].interval_s);
    return arena_printf(a, "ec_interval = %.0f\npersistent_interval = %.0f", code_s,
                        whole(last->interval_s));
}

/* Whether whole units make the pattern lose much more. */
static bool is_worse_rounded(const struct checkpoint_work *w,
                             const struct checkpoint_job *job, double mean_s,
                             double delay_s, const struct levels_pattern *found,
                             double unit_s)
{
    struct checkpoint_in in = job->in;
    struct levels_pattern rounded = *found;
    struct levels_job levels;
    double segments, ratio;

    in.mean_failure_interval_s = mean_s;
    in.reschedule_delay_s = delay_s;
    levels = job_of(w, job, &in);
    rounded.segment_s = unit_s * whole(found->segment_s / unit_s);
    segments = found->every[found->level_count - 1];
    ratio = levels_pattern_s(&levels, &rounded) / (segments * rounded.segment_s) - 1;
    return ratio > WORSE_BY_ROUNDING * found->overhead_ratio;
}

void checkpoint_world_render(struct checkpoint_work *w, const struct checkpoint_job *job,
                             struct checkpoint_interval *out)
{
    const struct checkpoint_pattern *p = out->world.pattern;
    struct checkpoint_rendered *texts;
    struct arena *a = w->rq->arena;
    double minute_s = 60;

    if (!p || !out->rendered)
        return;
    texts = NEW(a, struct checkpoint_rendered, 1);
    *texts = *out->rendered;
    if (texts->fti)
        texts->fti = fti(p, a);
    if (texts->scr)
        texts->scr = scr(p, a);
    if (texts->veloc)
        texts->veloc = veloc(p, a);
    if (texts->dmtcp)
        texts->dmtcp = arena_printf(a, "--interval %.0f",
                                    whole(p->levels[p->level_count - 1].interval_s));
    out->rendered = texts;
    if (isnan(p->overhead_ratio))
        return;
    if ((texts->fti &&
         is_worse_rounded(w, job, out->mean_failure_interval_s,
                          job->in.reschedule_delay_s, &out->world.found, minute_s)) ||
        ((texts->scr || texts->veloc) &&
         is_worse_rounded(w, job, out->mean_failure_interval_s,
                          job->in.reschedule_delay_s, &out->world.found, 1)))
        checkpoint_affect(w, CHECKPOINT_WARNS_ROUNDED, job);
}
