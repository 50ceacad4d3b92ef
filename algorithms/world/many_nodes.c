/* world/many_nodes.c - the least completion of a job on several nodes.
 *
 * With a limit on the run time, p, each node says in which intervals the job may start
 * there: those from which on enough is free for as long as it then holds it. A sweep over
 * these intervals by rising start finds the first time at which enough nodes are open; of
 * those the fastest are taken. The limits are the run times of the nodes themselves: in
 * the best plan the slowest node is one of them, and with that limit the sweep starts no
 * later than that plan. What promises most is looked at first, by when so many nodes
 * could start if the job held them for the least limit; what promises no more than is
 * found is left out.
 *
 * Shared amounts are open and shut in the same sweep. So is each further place of a value
 * of a group's key (the second is open where two are free): a value counts with the
 * smaller of its open nodes and its open places.
 *
 * Starts are compared as everywhere: start + held <= the double at which something
 * begins.
 *
 * Source: world-model.md 4.2. Deviation: only run times at which enough nodes are there
 * are counted, so that the quantiles, where they are needed, lie closer; between two
 * quantiles only sets that are not within the first of them are looked for.
 */
#include "algorithms/world/many_nodes.h"

#include "models/base/heap.h"

#include <stdlib.h>
#include <string.h>

enum stream_kind { STREAM_NODE, STREAM_PLACE, STREAM_SHARED };

/* The times at which one thing is open, one after the other. */
struct stream {
    const struct profile *profile;
    const int64_t *at_least;
    int64_t one_amount; /* at_least of a profile of one amount */
    enum stream_kind kind;
    size_t value;           /* of a node or place */
    size_t step;            /* of the profile: the first behind close_s */
    double open_s, close_s; /* enough is free in between, as far as was looked */
    bool on;
};

/* When a stream opens, or when it has to be looked at again. */
struct moment {
    double at_s;
    size_t stream;
};

static bool moment_before(const struct moment *a, const struct moment *b)
{
    return a->at_s < b->at_s || (a->at_s == b->at_s && a->stream < b->stream);
}

HEAP(moments, struct moment, moment_before)

struct chosen {
    size_t index, position;
};

/* The first time at which a node is open for held_s; for longer times, which are of use
 * up to an earlier start only, it is not before that. */
struct opening {
    double held_s, least_run_s; /* of the sweep that asked */
    double open_s;              /* HUGE_VAL: none up to the last start of use */
    double close_s;             /* as of a stream */
    size_t step;
};

/* Working memory, see the header. */
struct nodes_room {
    struct stream *streams;
    struct moment *waiting, *active;
    size_t *nodes_on, *places_on; /* by value */
    struct chosen *chosen;
    struct opening *first; /* by candidate: for the least limit */
    struct opening *later; /* the same, for the limit asked last for which it grew */
    double *least;         /* heap of the least of the first openings */
    struct profile always; /* of a node that is never reserved as a whole */
};

struct sweep {
    struct nodes_room *room;
    const struct nodes_question *q;
    size_t node_count; /* of the candidates, the first so many */
    double held_s;
    double least_run_s; /* no completion below start + that is looked for */
    double last_s;      /* later starts are not looked for */
    size_t stream_count, waiting_count, active_count;
    size_t shared_on, shared_count;
    bool can_open; /* enough nodes ever do */
    size_t usable; /* nodes that could be taken together */
    bool cut;
};

struct nodes_room *nodes_room_create(size_t candidate_count, size_t shared_count,
                                     size_t value_count, struct arena *a)
{
    struct nodes_room *room = NEW(a, struct nodes_room, 1);
    size_t stream_count = 2 * candidate_count + shared_count;

    room->streams = NEW(a, struct stream, stream_count);
    room->waiting = NEW(a, struct moment, stream_count);
    room->active = NEW(a, struct moment, stream_count);
    room->nodes_on = NEW(a, size_t, value_count);
    room->places_on = NEW(a, size_t, value_count);
    room->first = NEW(a, struct opening, candidate_count);
    room->later = NEW(a, struct opening, candidate_count);
    room->least = NEW(a, double, candidate_count);
    room->chosen = NEW(a, struct chosen, candidate_count);
    profile_reset(&room->always, (int64_t[]){1}, 1, a);
    return room;
}

static double step_s(const struct profile *p, size_t step)
{
    return step < p->count ? p->at_s[step] : HUGE_VAL;
}

static bool enough(const struct stream *s)
{
    const struct profile *p = s->profile;
    const int64_t *free_now = p->free + s->step * p->amount_count;

    for (size_t k = 0; k < p->amount_count; k++)
        if (free_now[k] < s->at_least[k])
            return false;
    return true;
}

/* A run of no length may begin until something else does. */
static bool is_long_enough(double start_s, double held_s, double close_s)
{
    return held_s > 0 ? start_s + held_s <= close_s : start_s < close_s;
}

/* Open from start_s for held_s: looks on as far as that needs. */
static bool stream_holds(struct stream *s, double start_s, double held_s, size_t *looks)
{
    while (!is_long_enough(start_s, held_s, s->close_s)) {
        ++*looks;
        if (s->step >= s->profile->count || !enough(s))
            return false;
        s->close_s = step_s(s->profile, ++s->step);
    }
    return true;
}

/* The next start from from_s on, up to last_s; false: none. */
static bool stream_open(struct stream *s, double from_s, double last_s, double held_s,
                        size_t *looks)
{
    while (from_s <= last_s) {
        while (s->step < s->profile->count &&
               (step_s(s->profile, s->step + 1) <= from_s || !enough(s))) {
            s->step++;
            ++*looks;
        }
        if (s->step == s->profile->count)
            break;
        s->open_s = fmax(from_s, s->profile->at_s[s->step]);
        s->close_s = s->open_s;
        if (s->open_s > last_s)
            break;
        if (stream_holds(s, s->open_s, held_s, looks))
            return true;
    }
    return false;
}

static void tick(struct sweep *sw, size_t looks)
{
    if (budget_step(sw->q->w->budget, looks + 1))
        sw->cut = true;
}

/* From from_s on the stream waits for its next start. */
static void put_off(struct sweep *sw, size_t i, double from_s)
{
    struct nodes_room *room = sw->room;
    size_t looks = 0;

    if (stream_open(&room->streams[i], from_s, sw->last_s, sw->held_s, &looks))
        moments_push(room->waiting, &sw->waiting_count,
                     (struct moment){room->streams[i].open_s, i});
    tick(sw, looks);
}

static void add_stream(struct sweep *sw, struct stream stream, double from_s)
{
    size_t i = sw->stream_count++;
    struct stream *s = &sw->room->streams[i];

    *s = stream;
    if (!s->at_least)
        s->at_least = &s->one_amount;
    if (from_s > sw->last_s)
        return;
    s->step = profile_at(s->profile, from_s);
    put_off(sw, i, from_s);
}

/* Opened, or shut. */
static void turn(struct sweep *sw, struct stream *s, bool on)
{
    size_t *nodes = &sw->room->nodes_on[s->value],
           *places = &sw->room->places_on[s->value];
    size_t before = *nodes < *places ? *nodes : *places, after;

    s->on = on;
    if (s->kind == STREAM_SHARED) {
        sw->shared_on += on ? 1 : (size_t)-1;
        return;
    }
    *(s->kind == STREAM_NODE ? nodes : places) += on ? 1 : (size_t)-1;
    after = *nodes < *places ? *nodes : *places;
    sw->usable = sw->usable - before + after;
}

/* When the node is open for held_s. */
static struct stream node_stream(const struct nodes_room *room,
                                 const struct nodes_question *q, size_t candidate,
                                 double held_s)
{
    const struct nodes_candidate *c = &q->candidates[candidate];
    struct stream s = {.profile = c->profile,
                       .at_least = q->at_least,
                       .one_amount = 1,
                       .kind = STREAM_NODE,
                       .value = c->value};

    if (held_s > 0)
        return s;
    s.profile = c->closed ? c->closed : &room->always;
    s.at_least = NULL;
    return s;
}

/* A node waits for its first start, or is left out if that is too late. What was found
 * for shorter times is gone on from. */
static void add_node(struct sweep *sw, size_t candidate)
{
    struct nodes_room *room = sw->room;
    struct opening *later = &room->later[candidate];
    bool grew = sw->held_s >= later->held_s && sw->least_run_s >= later->least_run_s;
    const struct opening *from = grew ? later : &room->first[candidate];
    size_t i = sw->stream_count++, looks = 0;
    struct stream *s = &room->streams[i];
    bool opens = from->open_s <= sw->last_s;

    s->on = false;
    if (!opens)
        return;
    *s = node_stream(room, sw->q, candidate, sw->held_s);
    if (!s->at_least)
        s->at_least = &s->one_amount;
    s->open_s = from->open_s;
    if (from->held_s > 0 || !(sw->held_s > 0)) {
        s->close_s = from->close_s;
        s->step = from->step;
        opens = stream_holds(s, s->open_s, sw->held_s, &looks);
    } else { /* another profile */
        s->step = profile_at(s->profile, s->open_s);
        opens = false;
    }
    opens = opens || stream_open(s, s->open_s, sw->last_s, sw->held_s, &looks);
    if (opens)
        moments_push(room->waiting, &sw->waiting_count, (struct moment){s->open_s, i});
    *later = (struct opening){sw->held_s, sw->least_run_s, opens ? s->open_s : HUGE_VAL,
                              s->close_s, s->step};
    tick(sw, looks);
}

/* The second place of a value is open when two are free, and so on. */
static void add_places(struct sweep *sw)
{
    const struct nodes_question *q = sw->q;
    size_t *of_value = sw->room->nodes_on; /* no node is open yet */

    for (size_t i = 0; i < sw->node_count; i++) {
        size_t v = q->candidates[i].value;

        if (of_value[v] < q->wanted)
            add_stream(sw,
                       (struct stream){.profile = q->places[v],
                                       .one_amount = (int64_t)++of_value[v],
                                       .kind = STREAM_PLACE,
                                       .value = v},
                       q->from_s);
    }
    memset(of_value, 0, q->value_count * sizeof *of_value);
}

/* Streams of all that must be open; those of nodes first, in the order of candidates. */
static void begin(struct sweep *sw)
{
    const struct nodes_question *q = sw->q;
    bool timeless = !(sw->held_s > 0);

    memset(sw->room->nodes_on, 0, q->value_count * sizeof *sw->room->nodes_on);
    for (size_t v = 0; v < q->value_count; v++)
        sw->room->places_on[v] = q->room ? q->room[v] : timeless ? SIZE_MAX : 0;
    for (size_t i = 0; i < sw->node_count; i++)
        add_node(sw, i);
    sw->can_open = sw->waiting_count >= q->wanted;
    if (!sw->can_open)
        return;
    sw->shared_count = timeless ? 0 : q->shared_count;
    for (size_t k = 0; k < sw->shared_count; k++)
        add_stream(sw,
                   (struct stream){.profile = q->shared[k].profile,
                                   .one_amount = q->shared[k].at_least,
                                   .kind = STREAM_SHARED},
                   q->from_s);
    if (!q->room && !timeless)
        add_places(sw);
}

/* All that opens at t_s, the earliest opening, and all that shuts until then. */
static void step_to(struct sweep *sw, double t_s)
{
    struct nodes_room *room = sw->room;

    while (sw->active_count > 0 &&
           !is_long_enough(t_s, sw->held_s, room->active[0].at_s)) {
        size_t i = moments_pop(room->active, &sw->active_count).stream, looks = 0;
        struct stream *s = &room->streams[i];

        if (stream_holds(s, t_s, sw->held_s, &looks)) {
            moments_push(room->active, &sw->active_count, (struct moment){s->close_s, i});
        } else {
            turn(sw, s, false);
            put_off(sw, i, t_s);
        }
        tick(sw, looks);
    }
    while (sw->waiting_count > 0 && room->waiting[0].at_s <= t_s) {
        size_t i = moments_pop(room->waiting, &sw->waiting_count).stream;

        turn(sw, &room->streams[i], true);
        moments_push(room->active, &sw->active_count,
                     (struct moment){room->streams[i].close_s, i});
        tick(sw, 0);
    }
}

/* Better than what is found, if it ended at done_s. */
static bool is_better(const struct nodes_answer *best, double start_s, double done_s)
{
    return done_s < best->done_s || (done_s == best->done_s && start_s < best->start_s);
}

/* The least time at which enough is open; HUGE_VAL: none that could be better. */
static double sweep_start(struct sweep *sw, const struct nodes_answer *best)
{
    const struct nodes_question *q = sw->q;

    sw->last_s = q->latest_s;
    if (best->done_s < HUGE_VAL)
        sw->last_s =
            fmin(sw->last_s, best->done_s - sw->least_run_s + 1e-15 * best->done_s);
    begin(sw);
    while (sw->can_open && sw->waiting_count > 0 && !sw->cut) {
        double t_s = sw->room->waiting[0].at_s;

        if (t_s > q->latest_s || !is_better(best, t_s, t_s + sw->least_run_s))
            break;
        step_to(sw, t_s);
        if (sw->usable >= q->wanted && sw->shared_on == sw->shared_count)
            return t_s;
    }
    return HUGE_VAL;
}

static int by_index(const void *left, const void *right)
{
    const struct chosen *a = left, *b = right;

    return a->index < b->index ? -1 : a->index > b->index;
}

/* The fastest of the open nodes, as many of each value as it has places, by rising index;
 * their longest run time. */
static double choose(struct sweep *sw)
{
    const struct nodes_question *q = sw->q;
    struct nodes_room *room = sw->room;
    size_t count = 0;
    double longest_s = 0;

    for (size_t i = 0; count < q->wanted; i++) {
        const struct nodes_candidate *c = &q->candidates[i];
        size_t *places = &room->places_on[c->value];

        if (!room->streams[i].on || !*places)
            continue;
        room->chosen[count++] = (struct chosen){c->index, c->position};
        longest_s = c->run_s;
        if (*places != SIZE_MAX)
            --*places;
    }
    tick(sw, sw->node_count);
    qsort(room->chosen, count, sizeof *room->chosen, by_index);
    return longest_s;
}

static int by_run_time(const void *left, const void *right)
{
    const struct nodes_candidate *a = left, *b = right;

    if (a->run_s != b->run_s)
        return a->run_s < b->run_s ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void sort_candidates(const struct nodes_question *q)
{
    for (size_t i = 1; i < q->candidate_count; i++)
        if (by_run_time(&q->candidates[i - 1], &q->candidates[i]) > 0) {
            qsort(q->candidates, q->candidate_count, sizeof *q->candidates, by_run_time);
            return;
        }
}

/* Enough candidates are as fast as i is, and the next is slower. */
static bool is_limit(const struct nodes_question *q, size_t i)
{
    return i + 1 >= q->wanted && (i + 1 == q->candidate_count ||
                                  q->candidates[i + 1].run_s > q->candidates[i].run_s);
}

/* Sets of which the slowest node is within a limit, but not within the one before. */
struct limit {
    size_t within; /* candidates, the fastest */
    double limit_s, least_run_s;
    double first_s; /* no set starts earlier */
    double found_s; /* the first start; HUGE_VAL: none, or none that was better */
};

/* Rising; of more than NODES_RUN_TIMES_MAX run times as many quantiles, rounded up. */
static size_t list_limits(const struct nodes_question *q,
                          struct limit limits[NODES_RUN_TIMES_MAX])
{
    size_t all = 0, seen = 0, count = 0, step = NODES_RUN_TIMES_MAX;
    double least_run_s = 0;

    for (size_t i = 0; i < q->candidate_count; i++)
        all += is_limit(q, i);
    if (all < step)
        step = all;
    for (size_t i = q->wanted - 1; i < q->candidate_count; i++) {
        if (i + 1 == q->wanted || (count && limits[count - 1].within == i))
            least_run_s = q->candidates[i].run_s;
        seen += is_limit(q, i);
        if (is_limit(q, i) && seen == ((count + 1) * all + step - 1) / step)
            limits[count++] = (struct limit){.within = i + 1,
                                             .limit_s = q->candidates[i].run_s,
                                             .least_run_s = least_run_s,
                                             .first_s = HUGE_VAL,
                                             .found_s = HUGE_VAL};
    }
    budget_step(q->w->budget, 4 * q->candidate_count);
    return count;
}

static bool is_later(const double *a, const double *b)
{
    return *a > *b;
}

HEAP(latest, double, is_later)

/* When each candidate, and each set, could start at the earliest: as if it were held for
 * the least limit only. */
static void find_first(struct nodes_room *room, const struct nodes_question *q,
                       struct limit *limits, size_t limit_count)
{
    double held_s = world_held_s(q->w, q->job, limits[0].limit_s);
    size_t count = 0, l = 0;

    for (size_t i = 0; i < q->candidate_count; i++) {
        struct stream s = node_stream(room, q, i, held_s);
        size_t looks = 0;

        if (!s.at_least)
            s.at_least = &s.one_amount;
        s.step = profile_at(s.profile, q->from_s);
        if (!stream_open(&s, q->from_s, q->latest_s, held_s, &looks))
            s.open_s = HUGE_VAL;
        room->first[i] = room->later[i] =
            (struct opening){held_s, 0, s.open_s, s.close_s, s.step};
        if (count < q->wanted) {
            latest_push(room->least, &count, s.open_s);
        } else if (s.open_s < room->least[0]) {
            room->least[0] = s.open_s;
            latest_first_changed(room->least, count);
        }
        if (l < limit_count && limits[l].within == i + 1)
            limits[l++].first_s = room->least[0];
        if (budget_step(q->w->budget, looks + 2))
            return;
    }
}

static int by_promise(const void *left, const void *right)
{
    const struct limit *a = left, *b = right;
    double x = a->first_s + a->least_run_s, y = b->first_s + b->least_run_s;

    if (x != y)
        return x < y ? -1 : 1;
    return a->within < b->within ? -1 : a->within > b->within;
}

/* The best within a limit, if that is better than *out; false: the budget is spent. */
static bool try_limit(struct nodes_room *room, const struct nodes_question *q,
                      struct limit *limit, size_t *positions, struct nodes_answer *out)
{
    struct sweep sw = {.room = room,
                       .q = q,
                       .node_count = limit->within,
                       .held_s = world_held_s(q->w, q->job, limit->limit_s),
                       .least_run_s = limit->least_run_s};
    double start_s = sweep_start(&sw, out), run_s;

    limit->found_s = start_s;
    if (sw.cut || start_s == HUGE_VAL)
        return !sw.cut;
    run_s = choose(&sw);
    if (!is_better(out, start_s, start_s + run_s))
        return true;
    *out = (struct nodes_answer){.start_s = start_s,
                                 .run_s = run_s,
                                 .done_s = start_s + run_s,
                                 .held_s = sw.held_s};
    for (size_t i = 0; i < q->wanted; i++)
        positions[i] = room->chosen[i].position;
    return true;
}

static const struct nodes_answer nowhere = {
    .start_s = HUGE_VAL, .run_s = HUGE_VAL, .done_s = HUGE_VAL, .others_s = HUGE_VAL};

/* Sets within other limits: from when on they may start is known where they were found,
 * and else that they were no better. */
static double others_done_s(const struct limit *limits, size_t count, size_t winner)
{
    double done_s = HUGE_VAL;

    for (size_t l = 0; l < count; l++)
        if (l != winner)
            done_s = fmin(done_s, limits[l].found_s + limits[l].least_run_s);
    return done_s;
}

void nodes_best(struct nodes_room *room, const struct nodes_question *q,
                size_t *positions, struct nodes_answer *out)
{
    struct limit limits[NODES_RUN_TIMES_MAX];
    size_t count, winner = SIZE_MAX;

    *out = nowhere;
    sort_candidates(q);
    count = list_limits(q, limits);
    if (count == 0)
        return;
    find_first(room, q, limits, count);
    qsort(limits, count, sizeof *limits, by_promise);
    for (size_t l = 0; l < count; l++) {
        const struct nodes_answer before = *out;
        double first_s = limits[l].first_s;

        if (first_s == HUGE_VAL ||
            !is_better(out, first_s, first_s + limits[l].least_run_s))
            continue;
        if (!try_limit(room, q, &limits[l], positions, out))
            return;
        if (out->done_s != before.done_s || out->start_s != before.start_s)
            winner = l;
    }
    out->others_s = others_done_s(limits, count, winner);
}

double nodes_first_start(struct nodes_room *room, const struct nodes_question *q)
{
    struct nodes_question earlier = *q;
    struct limit limits[NODES_RUN_TIMES_MAX];
    double first_s = HUGE_VAL;
    size_t count;

    sort_candidates(q);
    count = list_limits(q, limits);
    if (count > 0)
        find_first(room, q, limits, count);
    for (size_t l = 0; l < count; l++) {
        struct sweep sw = {.room = room,
                           .q = &earlier,
                           .node_count = limits[l].within,
                           .held_s = world_held_s(q->w, q->job, limits[l].limit_s)};
        double start_s =
            limits[l].first_s < first_s ? sweep_start(&sw, &nowhere) : HUGE_VAL;

        if (sw.cut)
            return HUGE_VAL;
        if (start_s < first_s)
            first_s = earlier.latest_s = start_s;
    }
    return first_s;
}
