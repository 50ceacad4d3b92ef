/* cluster_replay/attempt.c - how far a job has come on its nodes.
 *
 * An attempt is a pause, a restart, work and checkpoints; nothing happens in it but what
 * the checkpoint policy asked for when its last request was answered. So its course is
 * known when it begins, and is worked out then, for its end, and once more when it is
 * cut short: checkpoints are no events.
 *
 * What a policy knows of failures is of the attempt's begin: later ones of other nodes
 * do not change it. So its nodes are looked at once in a walk.
 *
 * Where images share a file system others decide how long one takes: then the same is
 * done phase by phase, each an event.
 */
#include "algorithms/cluster_replay/parts.h"

#include <math.h>

enum { LAWS_MAX = 16 };

/* The laws of its nodes, one for each class, with the mean of their ages. */
static size_t laws_of(const struct engine *e, const struct run *r, int64_t at_ms,
                      struct failure_law *laws)
{
    uint32_t classes[LAWS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < r->node_count - r->spare_count; i++) {
        const struct node *n = &e->nodes[r->nodes[i]];
        const struct distribution *d = e->classes[n->klass].of->failure;
        size_t at = 0;

        while (at < count && classes[at] != n->klass)
            at++;
        if (!d || at == LAWS_MAX)
            continue;
        if (at == count) {
            bool weibull = d->kind == DISTRIBUTION_WEIBULL;

            classes[count] = n->klass;
            laws[count++] =
                (struct failure_law){.shape = weibull ? d->shape : (double)NAN,
                                     .scale_s = weibull ? d->scale : (double)NAN,
                                     .mean_s = distribution_mean(d)};
        }
        laws[at].age_s += 1e-3 * (double)(at_ms - n->up_since_ms);
        laws[at].count++;
        budget_step(e->budget, at + 1);
    }
    for (size_t i = 0; i < count; i++)
        laws[i].age_s /= laws[i].count;
    return count;
}

struct walk {
    struct engine *e;
    const struct run *r;
    const struct replay_job *job;
    struct progress *out;
    int64_t until_ms, work_ms; /* work_ms: done, at speed 1 */
    double interval_s;
    uint64_t omissions;
    struct failure_law laws[LAWS_MAX], aged[LAWS_MAX]; /* at its begin; at a request */
    size_t law_count;
    bool has_laws;
};

/* Its nodes stay up all the time, and grow older together. */
static void age_laws(struct walk *w)
{
    double elapsed_s = 1e-3 * (double)(w->out->at_ms - w->r->begin_ms);

    if (!w->has_laws)
        w->law_count = laws_of(w->e, w->r, w->r->begin_ms, w->laws);
    w->has_laws = true;
    for (size_t i = 0; i < w->law_count; i++) {
        w->aged[i] = w->laws[i];
        w->aged[i].age_s += elapsed_s;
    }
}

/* Of a level; SIZE_MAX: of the last one. */
static int64_t checkpoint_ms(const struct walk *w, size_t level)
{
    const struct replay_rules *rules = w->e->rules;

    if (rules->level_count == 0)
        return w->job->checkpoint_ms;
    if (level >= rules->level_count)
        level = rules->level_count - 1;
    return kernel_ms(rules->levels[level].overhead_s);
}

static void ask(struct walk *w, bool start, struct checkpoint_out *answer)
{
    const struct engine *e = w->e;
    struct checkpoint_in in = checkpoint_in_unknown();
    double speed = w->r->speed,
           elapsed_s = 1e-3 * (double)(w->out->at_ms - w->r->begin_ms);
    enum error_code code;

    in.checkpoint_overhead_s = 1e-3 * (double)checkpoint_ms(w, SIZE_MAX);
    in.restart_s = 1e-3 * (double)w->job->restart_ms;
    if (e->rules->level_count)
        in.restart_s = e->rules->levels[e->rules->level_count - 1].restart_s;
    in.restart_from_scratch_s = 1e-3 * (double)w->job->scratch_ms;
    in.reschedule_delay_s = 1e-3 * (double)w->job->delay_ms;
    in.execution_time_s = 1e-3 * (double)w->job->run_ms / speed;
    in.remaining_s = 1e-3 * (double)(w->job->run_ms - w->work_ms) / speed;
    in.remaining_is_known = true;
    in.work_since_checkpoint_s = 1e-3 * (double)(w->work_ms - w->out->image_ms) / speed;
    in.has_checkpoint = w->out->has_image;
    in.mean_failure_interval_s = w->r->mean_s;
    in.uptime_s = w->r->uptime_s + elapsed_s;
    in.failure_age_s = w->r->age_s + elapsed_s;
    in.start = start;
    if (!start) {
        in.interval_cur_s = w->interval_s;
        in.consecutive_omissions = w->omissions;
    }
    if (e->rules->knows == REPLAY_KNOWS_LAW) {
        age_laws(w);
        in.law_count = w->law_count;
        in.laws = in.law_count ? w->aged : NULL;
    }
    *answer = (struct checkpoint_out){0};
    code = checkpoint_fn_of(e->rules->checkpoint)(&in, e->rules->checkpoint_param, answer,
                                                  e->err);
    if (code != OK) {
        w->e->failed = code;
        answer->next_request_in_s = HUGE_VAL;
        answer->action = CHECKPOINT_NONE;
    }
    w->interval_s = answer->interval_s;
    w->omissions = answer->consecutive_omissions;
    budget_step(e->budget, 32);
}

/* A stretch of wall time; false: it is cut. *sum grows by what there is of it. */
static bool pass(struct walk *w, int64_t span_ms, int64_t *sum)
{
    int64_t end_ms = later(w->out->at_ms, span_ms);
    bool whole = end_ms <= w->until_ms;

    if (!whole)
        end_ms = w->until_ms;
    *sum += end_ms - w->out->at_ms;
    w->out->at_ms = end_ms;
    return whole;
}

static int64_t wall_ms(const struct walk *w, int64_t work_ms)
{
    return w->r->speed == 1 ? work_ms : kernel_ms(1e-3 * (double)work_ms / w->r->speed);
}

/* Stands still, and has an image, of a level or the last one; false: it was cut. */
static bool take_image(struct walk *w, size_t level)
{
    if (!pass(w, checkpoint_ms(w, level), &w->out->checkpoint_ms))
        return false;
    for (size_t l = 0; l < w->e->rules->level_count && l <= level; l++)
        w->out->level_ms[l] = w->work_ms;
    w->out->saved_ms += w->out->unsaved_ms;
    w->out->unsaved_ms = 0;
    w->out->image_ms = w->work_ms;
    w->out->has_image = true;
    w->out->checkpoints++;
    return true;
}

/* Work up to the next request, and what the policy says then; false: it is over. */
static bool work(struct walk *w, double *next_s)
{
    int64_t left_ms = w->job->run_ms - w->work_ms, piece_ms = left_ms;
    struct checkpoint_out answer;

    if (w->e->rules->checkpoint && *next_s * w->r->speed * 1000 < (double)left_ms) {
        piece_ms = kernel_ms(fmax(*next_s, 1e-3) * w->r->speed);
        piece_ms = piece_ms < 1 ? 1 : piece_ms > left_ms ? left_ms : piece_ms;
    }
    if (!pass(w, wall_ms(w, piece_ms), &w->out->unsaved_ms))
        return false;
    w->work_ms += piece_ms;
    w->out->ended = w->work_ms == w->job->run_ms;
    if (w->out->ended || !w->e->rules->checkpoint) /* without a policy it has ended */
        return false;
    ask(w, false, &answer);
    *next_s = answer.next_request_in_s;
    return answer.action != CHECKPOINT_TAKE || take_image(w, SIZE_MAX);
}

/* A segment of the pattern, and the checkpoint that is due behind it. */
static bool work_by_pattern(struct walk *w)
{
    const struct levels_pattern *p = w->r->pattern;
    int64_t left_ms = w->job->run_ms - w->work_ms;
    int64_t segment_ms = kernel_ms(p->segment_s * w->r->speed), piece_ms;

    segment_ms = segment_ms < 1 ? 1 : segment_ms;
    piece_ms = segment_ms < left_ms ? segment_ms : left_ms;
    if (!pass(w, wall_ms(w, piece_ms), &w->out->unsaved_ms))
        return false;
    w->work_ms += piece_ms;
    w->out->ended = w->work_ms == w->job->run_ms;
    return !w->out->ended && take_image(w, levels_due(p, w->work_ms, segment_ms));
}

/* ---- phase by phase ---- */

static int64_t *sum_of(struct progress *p, enum course_phase phase)
{
    switch (phase) {
    case COURSE_PAUSE:
        return &p->pause_ms;
    case COURSE_READ:
        return &p->restart_ms;
    case COURSE_SAVE:
        return &p->checkpoint_ms;
    default:
        return &p->unsaved_ms;
    }
}

static void reach(const struct course *c, int64_t at_ms, struct progress *out)
{
    *sum_of(out, (enum course_phase)c->phase) += at_ms - out->at_ms;
    out->at_ms = at_ms;
}

/* What the policy says; whether an image is due now. */
static bool ask_now(struct engine *e, struct run *r, bool start)
{
    struct course *c = &r->course;
    struct walk w = {.e = e,
                     .r = r,
                     .job = &e->in->jobs[r->job],
                     .out = &c->done,
                     .work_ms = c->work_ms,
                     .interval_s = c->interval_s,
                     .omissions = c->omissions};
    struct checkpoint_out answer;

    ask(&w, start, &answer);
    c->interval_s = w.interval_s;
    c->omissions = w.omissions;
    c->next_s = answer.next_request_in_s;
    return answer.action == CHECKPOINT_TAKE;
}

/* Whether it is to write an image now, at its begin or after some work. */
static bool is_due(struct engine *e, struct run *r, bool start)
{
    struct course *c = &r->course;

    if (!e->rules->checkpoint || c->work_ms == e->in->jobs[r->job].run_ms)
        return false;
    if (!start && c->has_place)
        return true;
    return ask_now(e, r, start) && isnan(flows_place_s(e, r));
}

static int64_t begin_work(struct engine *e, struct run *r)
{
    struct course *c = &r->course;
    int64_t left_ms = e->in->jobs[r->job].run_ms - c->work_ms;
    struct walk w = {.e = e, .r = r};
    double place_s = e->rules->checkpoint ? flows_place_s(e, r) : (double)NAN;

    c->has_place = !isnan(place_s);
    if (c->has_place)
        c->next_s = place_s;
    c->piece_ms = left_ms;
    if (e->rules->checkpoint && c->next_s * r->speed * 1000 < (double)left_ms) {
        c->piece_ms = kernel_ms(fmax(c->next_s, 1e-3) * r->speed);
        c->piece_ms = c->piece_ms < 1 ? 1 : c->piece_ms > left_ms ? left_ms : c->piece_ms;
    }
    return wall_ms(&w, c->piece_ms);
}

/* The phase is over. The next one, and how long it takes (alone); it may have ended. */
static int64_t next_phase(struct engine *e, struct run *r)
{
    const struct replay_job *j = &e->in->jobs[r->job];
    struct course *c = &r->course;
    bool is_due_now = false;

    reach(c, e->kernel.now_ms, &c->done);
    c->is_transfer = false;
    switch ((enum course_phase)c->phase) {
    case COURSE_PAUSE:
        c->phase = COURSE_READ;
        c->is_transfer = c->done.has_image;
        return r->restart_ms;
    case COURSE_READ:
        c->done.has_restarted = true;
        is_due_now = is_due(e, r, true);
        break;
    case COURSE_WORK:
        c->work_ms += c->piece_ms;
        c->done.ended = c->work_ms == j->run_ms;
        is_due_now = is_due(e, r, false);
        break;
    case COURSE_SAVE:
        c->done.saved_ms += c->done.unsaved_ms;
        c->done.unsaved_ms = 0;
        c->done.image_ms = c->work_ms;
        c->done.has_image = true;
        c->done.checkpoints++;
        break;
    }
    if (is_due_now) {
        c->phase = COURSE_SAVE;
        c->is_transfer = true;
        return j->checkpoint_ms;
    }
    c->phase = COURSE_WORK;
    return c->done.ended ? 0 : begin_work(e, r);
}

/* Phases that take no time are over at once. */
static void go_on(struct engine *e, struct run *r)
{
    struct course *c = &r->course;

    while (e->failed == OK && !budget_step(e->budget, 16)) {
        int64_t span_ms = next_phase(e, r);

        if (!c->done.ended && span_ms == 0)
            continue;
        r->version++;
        if (c->is_transfer)
            flows_add(e, r, span_ms);
        else
            kernel_post(&e->kernel, later(e->kernel.now_ms, span_ms), EVENT_WORK, r,
                        r->version);
        return;
    }
}

void attempt_begin(struct engine *e, struct run *r)
{
    const struct life *life = &e->lives[r->job];

    r->course = (struct course){.done = {.at_ms = r->begin_ms,
                                         .image_ms = life->image_ms,
                                         .has_image = life->has_image},
                                .work_ms = life->image_ms,
                                .next_s = HUGE_VAL,
                                .phase = COURSE_PAUSE,
                                .period_s = (double)NAN};
    e->flows.is_stale = true; /* also where a spare took over */
    r->version++;
    if (r->pause_ms > 0)
        kernel_post(&e->kernel, later(e->kernel.now_ms, r->pause_ms), EVENT_WORK, r,
                    r->version);
    else
        go_on(e, r);
}

bool attempt_step(struct engine *e, struct run *r)
{
    if (!r->course.done.ended)
        go_on(e, r);
    return r->course.done.ended;
}

void attempt_walk(struct engine *e, const struct run *r, int64_t until_ms,
                  struct progress *out)
{
    const struct life *life = &e->lives[r->job];
    struct walk w = {.e = e,
                     .r = r,
                     .job = &e->in->jobs[r->job],
                     .out = out,
                     .until_ms = until_ms,
                     .work_ms = life->image_ms};
    struct checkpoint_out answer = {.next_request_in_s = HUGE_VAL};
    double next_s = HUGE_VAL;

    if (e->rules->io.is_shared) {
        *out = r->course.done;
        reach(&r->course, until_ms, out);
        return;
    }
    *out = (struct progress){
        .at_ms = r->begin_ms, .image_ms = life->image_ms, .has_image = life->has_image};
    for (size_t l = 0; l < e->rules->level_count; l++)
        out->level_ms[l] = life->level_ms ? life->level_ms[l] : -1;
    if (!pass(&w, r->pause_ms, &out->pause_ms) ||
        !pass(&w, r->restart_ms, &out->restart_ms))
        return;
    out->has_restarted = true;
    if (r->pattern) {
        while (e->failed == OK && work_by_pattern(&w))
            if (budget_step(e->budget, 8))
                break;
        return;
    }
    if (e->rules->checkpoint && w.job->run_ms > w.work_ms) {
        ask(&w, true, &answer);
        next_s = answer.next_request_in_s;
        if (answer.action == CHECKPOINT_TAKE && !take_image(&w, SIZE_MAX))
            return;
    }
    while (e->failed == OK && work(&w, &next_s))
        if (budget_step(e->budget, 8))
            break;
}
