/* times.c - the expected run time of a task of a session on a resource.
 *
 * The first that is there: what the task says for the resource, or for speed 1; what a
 * model says that earlier runs have taught (learnt.c); ended attempts of its class on the
 * resource; those on others, scaled by the speeds; what it is to be when nothing is
 * known, by the speed. (A start-up does not scale with the speed: therefore the
 * resource's own attempts stand before all.)
 *
 * Of ended attempts the mean; of three or more with different problem sizes the line of
 * least squares through their run times, not falling, and not below a twentieth of the
 * mean.
 */
#include "handlers/session_run/run.h"

#include "models/base/names.h"

#include <stdio.h>

const char *const session_source_names[] = {"etc",    "estimate", "model", "session",
                                            "scaled", "default",  NULL};

/* Attempts of a class on a resource, or on all with their work at speed 1. */
struct sums {
    size_t count;
    double x, y, xx, xy;        /* sums; x: problem sizes */
    double first_size;          /* of the first attempt; NAN: not said */
    bool has_sizes, sizes_vary; /* all have one; two differ */
};

struct session_times {
    const struct session_run *run;
    struct name_index classes;
    size_t *class_of;               /* [task] */
    struct sums *here, *everywhere; /* [class x resource], [class] */
};

static const double LEAST_OF_MEAN = 0.05;

const char *session_class_of(const struct session_task_body *task)
{
    return task->class_name ? task->class_name : task->task.id;
}

static double size_of(const struct session_task_body *task)
{
    return task->model ? task->model->problem_size : (double)NAN;
}

static void add_to(struct sums *s, double size, double time_s)
{
    if (s->count == 0) {
        s->first_size = size;
        s->has_sizes = true;
    }
    s->has_sizes = s->has_sizes && !isnan(size);
    s->sizes_vary = s->sizes_vary || size != s->first_size;
    s->count++;
    s->y += time_s;
    if (isnan(size))
        return;
    s->x += size;
    s->xx += size * size;
    s->xy += size * time_s;
}

static double from_sums(const struct sums *s, double size)
{
    double n = (double)s->count, mean_s = s->y / n, spread, slope;

    if (s->count < 3 || !s->has_sizes || !s->sizes_vary || isnan(size))
        return mean_s;
    spread = s->xx - s->x * s->x / n;
    slope = spread > 0 ? fmax(0, (s->xy - s->x * s->y / n) / spread) : 0;
    return fmax(mean_s + slope * (size - s->x / n), LEAST_OF_MEAN * mean_s);
}

/* Of an ended attempt; NAN: not known. */
static double lasted_s(const struct session_attempt *t)
{
    if (t->status != SESSION_TRY_ENDED || !t->started)
        return NAN;
    if (!isnan(t->terminal->run_time_s))
        return t->terminal->run_time_s;
    return fmax(0, t->terminal->observed_at_s - t->started->observed_at_s);
}

/* On several nodes it took as long as on the slowest of them. */
static size_t slowest_of(const struct session_run *run,
                         const struct session_event *started)
{
    size_t slowest = NAME_NOT_FOUND;

    for (size_t k = 0; k < session_place_count(started); k++) {
        size_t r = name_index_find(&run->resources, session_place(started, k));

        if (r == NAME_NOT_FOUND)
            return r;
        if (slowest == NAME_NOT_FOUND ||
            resource_speed_mips(&run->world.resources[r]) <
                resource_speed_mips(&run->world.resources[slowest]))
            slowest = r;
    }
    return slowest;
}

static void add_attempt(struct session_times *x, size_t task,
                        const struct session_attempt *t)
{
    const struct session_run *run = x->run;
    double time_s = lasted_s(t), speed, size = size_of(&run->tasks[task]);
    size_t r;

    if (isnan(time_s))
        return;
    r = slowest_of(run, t->started);
    if (r == NAME_NOT_FOUND)
        return;
    add_to(&x->here[x->class_of[task] * run->world.resource_count + r], size, time_s);
    speed = resource_speed_mips(&run->world.resources[r]);
    add_to(&x->everywhere[x->class_of[task]], size, time_s * speed);
}

const struct session_times *session_times_of(struct session_run *run)
{
    struct arena *a = run->rq->arena;
    struct session_times *x = NEW(a, struct session_times, 1);
    size_t resources = run->world.resource_count, classes = 0;

    x->run = run;
    x->class_of = NEW(a, size_t, run->task_count);
    name_index_create(&x->classes, run->task_count, a);
    for (size_t i = 0; i < run->task_count; i++) {
        size_t at =
            name_index_add(&x->classes, session_class_of(&run->tasks[i]), classes);

        x->class_of[i] = at == NAME_NOT_FOUND ? classes++ : at;
    }
    x->here = NEW(a, struct sums, classes * resources);
    x->everywhere = NEW(a, struct sums, classes);
    for (size_t i = 0; i < run->task_count; i++) {
        budget_step(&run->rq->finish, 8);
        for (const struct session_attempt *t = run->state.of[i].attempts; t; t = t->next)
            add_attempt(x, i, t);
    }
    return x;
}

double session_time_s(const struct session_times *times, size_t task, size_t resource,
                      enum session_source *source)
{
    const struct session_run *run = times->run;
    const struct session_task_body *body = &run->tasks[task];
    const struct workflow_task *t = &body->task;
    double speed = resource_speed_mips(&run->world.resources[resource]);
    size_t class_number = times->class_of[task];
    const struct sums *here =
        &times->here[class_number * run->world.resource_count + resource];
    double size = size_of(body), default_ref_s, learnt_s;

    *source = SESSION_FROM_ETC;
    if (resource < t->etc_count)
        return t->etc_s[resource];
    *source = SESSION_FROM_ESTIMATE;
    if (!isnan(t->estimate_ref_s))
        return speed > 0 ? t->estimate_ref_s / speed : (double)NAN;
    if (!isnan(t->estimate_s))
        return t->estimate_s;
    *source = SESSION_FROM_MODEL;
    learnt_s = session_learnt_s(run, task, resource);
    if (!isnan(learnt_s))
        return learnt_s;
    *source = SESSION_FROM_SESSION;
    if (here->count)
        return from_sums(here, size);
    *source = SESSION_FROM_OTHERS;
    if (!(speed > 0))
        return NAN;
    if (times->everywhere[class_number].count)
        return from_sums(&times->everywhere[class_number], size) / speed;
    *source = SESSION_FROM_DEFAULT;
    default_ref_s =
        isnan(body->default_ref_s) ? run->definition.default_ref_s : body->default_ref_s;
    return default_ref_s / speed;
}

double session_time_on_s(const struct session_times *times, size_t task,
                         struct session_places places, enum session_source *source,
                         size_t *slowest)
{
    double longest_s = -1;

    budget_step(&times->run->rq->finish, places.count);
    *source = SESSION_FROM_DEFAULT;
    *slowest = NAME_NOT_FOUND;
    for (size_t k = 0; k < places.count; k++) {
        size_t r = name_index_find(&times->run->resources, places.ids[k]);
        enum session_source its;
        double time_s;

        if (r == NAME_NOT_FOUND)
            return NAN;
        time_s = session_time_s(times, task, r, &its);
        if (isnan(time_s))
            return NAN;
        if (time_s <= longest_s)
            continue;
        longest_s = time_s;
        *source = its;
        *slowest = r;
    }
    return longest_s;
}

double session_started_s(const struct session_times *times, size_t task,
                         const struct session_event *started, enum session_source *source)
{
    size_t slowest;

    return session_time_on_s(times, task, session_places_started(started), source,
                             &slowest);
}
