/* checkpoint/trials.c - a plan of checkpoints played with drawn failures. */
#include "algorithms/checkpoint/trials.h"

#include <math.h>
#include <string.h>

/* Failures of one trial; a plan that meets more never ends. */
enum { FAILURES_MAX = 1000000 };

/* Nodes of equal law and age. */
struct group {
    struct failure_law law; /* as of born_s */
    double born_s;          /* on the clock of the machine, which delays do not move */
    double fails_s;         /* their next failure, on it */
};

struct trials_room {
    struct group *groups;
    size_t count, capacity;
    struct arena *arena;
    bool is_endless; /* a trial met more than FAILURES_MAX failures */
};

/* One trial. */
struct run {
    const struct trials_in *in;
    struct trials_room *room;
    struct rng rng;
    double clock_s, delays_s;
    double image_s[TRIAL_LEVELS_MAX];       /* work in the last image of each level */
    size_t image_segment[TRIAL_LEVELS_MAX]; /* attempts that led there */
    bool is_image[TRIAL_LEVELS_MAX];        /* there is one */
    size_t failed_level;                    /* class of the failure in hand */
    bool is_restarted;
    double checkpoints;
};

struct trials_room *trials_room_create(const struct trials_in *in, struct arena *a)
{
    struct trials_room *room;

    if (in->foresight)
        return NULL;
    room = NEW(a, struct trials_room, 1);
    room->capacity = in->hazard.count + 16;
    room->groups = NEW(a, struct group, room->capacity);
    room->arena = a;
    return room;
}

/* ---- nodes ---- */

/* The next failure of a group, all of whose nodes live now. */
static void draw(struct run *r, struct group *g)
{
    struct failure_law now = g->law;
    double sum = -log1p(-rng_uniform(&r->rng)) / now.count;

    now.age_s += r->clock_s - g->born_s;
    g->fails_s = r->clock_s + failure_law_time_s(&now, sum);
}

static void begin_nodes(struct run *r)
{
    struct trials_room *room = r->room;

    room->count = r->in->hazard.count;
    for (size_t i = 0; i < room->count; i++) {
        room->groups[i].law = r->in->hazard.laws[i];
        room->groups[i].born_s = 0;
        draw(r, &room->groups[i]);
    }
}

/* The group that fails first; ties: the first of them. */
static struct group *first_to_fail(const struct trials_room *room)
{
    struct group *first = room->groups;

    for (size_t i = 1; i < room->count; i++)
        if (room->groups[i].fails_s < first->fails_s)
            first = &room->groups[i];
    return first;
}

/* One more group of a node that is new. */
static struct group *add_group(struct trials_room *room)
{
    if (room->count == room->capacity) {
        struct group *wider = NEW(room->arena, struct group, 2 * room->capacity);

        memcpy(wider, room->groups, room->count * sizeof(*wider));
        room->groups = wider;
        room->capacity *= 2;
    }
    return &room->groups[room->count++];
}

/* A node of the group has failed, and is new. */
static void renew(struct run *r, struct group *g)
{
    struct group fresh = {.law = g->law, .born_s = r->clock_s};

    fresh.law.age_s = 0;
    if (!failure_law_is_weibull(&g->law)) {
        draw(r, g);
        return;
    }
    fresh.law.count = 1;
    if (!(g->law.count > 1)) {
        *g = fresh;
        draw(r, g);
        return;
    }
    g->law.count -= 1;
    draw(r, g);
    g = add_group(r->room);
    *g = fresh;
    draw(r, g);
}

/* ---- a trial ---- */

static size_t level_count(const struct trials_in *in)
{
    return in->level_count > 0 ? in->level_count : 1;
}

static size_t draw_class(struct run *r)
{
    const struct trials_in *in = r->in;
    double at;
    size_t level = 0;

    if (in->level_count < 2)
        return 0;
    at = rng_uniform(&r->rng);
    while (level + 1 < in->level_count && at >= in->levels[level].failure_ratio)
        at -= in->levels[level++].failure_ratio;
    return level;
}

/* The images that a failure of the class in hand leaves. */
static void lose(struct run *r, size_t class)
{
    size_t level = r->is_restarted && r->failed_level > class ? r->failed_level : class;

    for (size_t l = 0; l < level; l++) {
        r->image_s[l] = r->image_s[level];
        r->image_segment[l] = r->image_segment[level];
        r->is_image[l] = r->is_image[level];
    }
    r->failed_level = level;
    r->is_restarted = true;
}

static double restart_s(const struct run *r)
{
    const struct trials_in *in = r->in;

    if (!r->is_restarted)
        return 0;
    if (!r->is_image[r->failed_level])
        return in->scratch_s;
    return in->level_count > 0 ? in->levels[r->failed_level].restart_s : in->restart_s;
}

static struct trial_segment next_segment(const struct run *r)
{
    const struct group *only = r->room->groups;
    bool is_one = r->room->count == 1 && !(only->law.count > 1);
    struct trial_state state = {
        .done_s = r->image_s[0],
        .left_s = r->in->work_s - r->image_s[0],
        .segment = r->image_segment[0],
        .age_s = is_one ? only->law.age_s + r->clock_s - only->born_s : (double)NAN,
        .is_restarted = r->is_restarted,
    };

    return r->in->next(r->in->plan, &state);
}

static void save(struct run *r, const struct trial_segment *segment)
{
    double done_s = r->image_s[0] + segment->work_s;
    size_t number = r->image_segment[0] + 1;
    size_t levels = r->in->level_count > 0 ? segment->level + 1 : 1;

    for (size_t l = 0; l < levels; l++) {
        r->image_s[l] = done_s;
        r->image_segment[l] = number;
        r->is_image[l] = true;
    }
    r->is_restarted = false;
    r->checkpoints++;
}

/* Whether an attempt's work is found wrong. */
static bool is_wrong(struct run *r, double work_s)
{
    return r->in->silent_mean_s > 0 &&
           -log1p(-rng_uniform(&r->rng)) * r->in->silent_mean_s < work_s;
}

/* What follows a restart. */
struct attempt {
    struct trial_segment segment; /* its checkpoint_s 0 where none is reached */
    bool is_last, is_wrong;
};

static struct attempt next_attempt(struct run *r)
{
    const struct trials_in *in = r->in;
    struct attempt a = {.segment = next_segment(r)};
    double left_s = in->work_s - r->image_s[0];

    a.is_last = a.segment.work_s >= left_s;
    if (a.is_last)
        a.segment.work_s = left_s;
    a.is_wrong = is_wrong(r, a.segment.work_s);
    if (a.is_last || a.is_wrong)
        a.segment.checkpoint_s = 0;
    return a;
}

/* false: the budget is spent. */
static bool play(struct run *r, double *time_s)
{
    const struct trials_in *in = r->in;
    struct group *next;
    size_t failures = 0;

    for (size_t l = 0; l < level_count(in); l++)
        r->is_image[l] = in->has_image;
    begin_nodes(r);
    next = first_to_fail(r->room);
    for (;;) {
        struct attempt attempt = next_attempt(r);
        double end_s = r->clock_s + restart_s(r) + attempt.segment.work_s +
                       in->verification_s + attempt.segment.checkpoint_s;

        if (budget_step(in->budget, 8))
            return false;
        if (end_s <= next->fails_s) {
            r->clock_s = end_s;
            r->room->is_endless = attempt.is_wrong && ++failures > FAILURES_MAX;
            if (r->room->is_endless)
                return false;
            if (attempt.is_wrong)
                r->is_restarted = true;
            else if (attempt.is_last)
                break;
            else
                save(r, &attempt.segment);
            continue;
        }
        r->room->is_endless = ++failures > FAILURES_MAX;
        if (r->room->is_endless || budget_step(in->budget, r->room->count + 16))
            return false;
        r->clock_s = next->fails_s;
        r->delays_s += in->delay_s;
        lose(r, draw_class(r));
        renew(r, next);
        next = first_to_fail(r->room);
    }
    *time_s = r->clock_s + r->delays_s;
    return true;
}

static bool play_once(const struct trials_in *in, struct trials_room *room,
                      struct rng *rng, double *time_s, double *checkpoints)
{
    struct run r = {.in = in, .room = room, .rng = *rng};

    if (in->foresight)
        return trials_play_foretold(in, rng, time_s, checkpoints);
    if (!play(&r, time_s))
        return false;
    *rng = r.rng;
    *checkpoints = r.checkpoints;
    return true;
}

bool trials_block(const struct trials_in *in, struct trials_room *room, size_t block,
                  size_t count, struct trials_sum *out)
{
    uint64_t mixed = in->seed ^ ((uint64_t)block + 1) * UINT64_C(0x9E3779B97F4A7C15);
    struct rng rng = rng_stream(splitmix64(&mixed), in->stream);
    double least_s = HUGE_VAL, at_least = 0;

    *out = (struct trials_sum){0, 0, 0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        double time_s, above_s, checkpoints;

        if (budget_step(in->budget, 4 * in->hazard.count) ||
            !play_once(in, room, &rng, &time_s, &checkpoints))
            return false;
        above_s = time_s - in->work_s;
        out->count++;
        out->above_s += above_s;
        out->square += above_s * above_s;
        out->checkpoints += checkpoints;
        if (time_s < least_s * (1 - 1e-9)) {
            least_s = time_s;
            at_least = 0;
        }
        at_least += time_s <= least_s * (1 + 1e-9);
        if (in->times_s)
            in->times_s[block * TRIALS_BLOCK + i] = time_s;
    }
    out->longer = out->count - at_least;
    return true;
}

void trials_add(struct trials_sum *sum, const struct trials_sum *block)
{
    sum->count += block->count;
    sum->above_s += block->above_s;
    sum->square += block->square;
    sum->checkpoints += block->checkpoints;
    sum->longer += block->longer;
}

struct trials_out trials_total(const struct trials_in *in, const struct trials_sum *sum)
{
    struct trials_out out = {(double)NAN,        (double)NAN, (double)NAN,
                             (size_t)sum->count, false,       false};
    double mean_s, variance;

    if (!(sum->count > 1))
        return out;
    mean_s = sum->above_s / sum->count;
    variance = (sum->square - sum->count * mean_s * mean_s) / (sum->count - 1);
    out.mean_s = in->work_s + mean_s;
    out.checkpoints = sum->checkpoints / sum->count;
    out.ci95_s = 1.96 * sqrt(fmax(0, variance) / sum->count);
    return out;
}

void trials_run(const struct trials_in *in, struct trials_out *out, struct arena *a)
{
    struct trials_room *room = trials_room_create(in, a);
    struct trials_sum sum = {0, 0, 0, 0, 0}, block;

    *out = trials_total(in, &sum);
    for (size_t at = 0; at < in->trial_count; at += TRIALS_BLOCK) {
        size_t count = in->trial_count - at;

        if (count > TRIALS_BLOCK)
            count = TRIALS_BLOCK;
        if (!trials_block(in, room, at / TRIALS_BLOCK, count, &block)) {
            out->cut = true;
            out->endless = room && room->is_endless;
            return;
        }
        trials_add(&sum, &block);
        *out = trials_total(in, &sum);
        if (sum.longer >= TRIALS_LONGER_MIN &&
            out->ci95_s <= in->half_width_ratio * out->mean_s)
            return;
    }
}
