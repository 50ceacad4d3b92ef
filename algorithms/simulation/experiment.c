/* simulation/experiment.c - labels that are compared in several runs. */
#include "algorithms/simulation/experiment.h"

#include "models/base/names.h"
#include "models/base/rng.h"

#include <math.h>
#include <string.h>

const char *const experiment_seed_schemes[] = {"spread", "sequence", NULL};

uint64_t experiment_seed(uint64_t seed, enum experiment_seeds scheme, uint64_t run)
{
    uint64_t state = seed, drawn = 0;

    if (run == 0 || scheme == EXPERIMENT_SEEDS_SEQUENCE)
        return seed + run;
    for (uint64_t i = 0; i < run; i++)
        drawn = splitmix64(&state);
    return drawn >> 11;
}

/* What is under way. */
struct playing {
    struct experiment *e;
    struct experiment_trial trial;
    struct budget budget; /* of the trials: asks the experiment's, and tells its owner */
    size_t labels_at_once, trials_per_run;
    uint64_t mark; /* of the program and of what its figures are */
    /* Trials that an earlier owner has ended, [kept_from, kept_to), and their events:
     * they are done from the beginning, though they are taken later. */
    size_t kept_from, kept_to;
    uint64_t kept_events, first_events; /* first: of the trials before kept_from */
    struct arena *arena;
};

static void note(const struct playing *p)
{
    const struct experiment *e = p->e;
    double trials = (double)(e->in->run_count * p->trials_per_run);
    double done = (double)e->trials_done + p->trial.progress.time_ratio;
    uint64_t events = e->event_count + p->trial.progress.events;
    size_t runs = e->runs_done;

    if (e->trials_done < p->kept_from) {
        done += (double)(p->kept_to - p->kept_from);
        events += p->kept_events;
        runs += (p->kept_to - p->kept_from) / p->trials_per_run;
    } else if (e->trials_done < p->kept_to) {
        done = (double)p->kept_to;
        events = p->first_events + p->kept_events;
        runs = p->kept_to / p->trials_per_run;
    }
    e->in->owner->note(e->in->owner->context, fmin(1, done / trials), events, runs);
}

/* The clock, asked by the simulator; a good moment to say how far it is. */
static double time_used(void *context)
{
    const struct playing *p = context;

    note(p);
    return budget_used(p->e->in->budget);
}

/* ---- for a later owner ---- */

/* A trial that has ended: this, its figures and its rest. */
struct kept_head {
    uint64_t mark, event_count;
};

static uint64_t mark_of(const struct experiment_in *in)
{
    uint64_t mark = hash_fnv1a(GRIDPLAN_VERSION) + sizeof(size_t);

    for (const char *const *name = in->figure_names; *name; name++)
        mark = 31 * mark + hash_fnv1a(*name);
    return mark;
}

static size_t figures_length(const struct playing *p)
{
    return p->labels_at_once * p->e->figure_count * sizeof(double);
}

static bool is_kept(const struct playing *p)
{
    return p->e->in->owner->keep && (p->trial.run > 0 || !p->e->in->first_run_again);
}

/* What is kept of a trial of this program. */
static bool look_up(const struct playing *p, size_t trial, struct kept_head *head,
                    struct experiment_bytes *content)
{
    const struct experiment_owner *owner = p->e->in->owner;

    if (!owner->find(owner->context, trial, content) ||
        content->length < sizeof(*head) + figures_length(p))
        return false;
    memcpy(head, content->data, sizeof(*head));
    return head->mark == p->mark;
}

/* How many are kept, without a gap. */
static void count_kept(struct playing *p)
{
    const struct experiment_in *in = p->e->in;
    size_t trials = in->run_count * p->trials_per_run;
    struct experiment_bytes content;
    struct kept_head head;

    p->kept_from = p->kept_to = in->first_run_again ? p->trials_per_run : 0;
    while (in->owner->keep && p->kept_to < trials &&
           look_up(p, p->kept_to, &head, &content)) {
        budget_step(in->budget, 1);
        p->kept_events += head.event_count;
        p->kept_to++;
    }
}

static bool find_trial(struct playing *p)
{
    const struct experiment_in *in = p->e->in;
    size_t length = sizeof(struct kept_head) + figures_length(p);
    struct experiment_bytes content, rest;
    struct kept_head head;
    const char *data;

    if ((!is_kept(p) && !in->apart) || !look_up(p, p->e->trials_done, &head, &content))
        return false;
    data = content.data;
    memcpy(p->trial.figures, data + sizeof(head), figures_length(p));
    rest = (struct experiment_bytes){data + length, content.length - length};
    if (!(in->take ? in->take(in->context, &p->trial, rest) : rest.length == 0))
        return false;
    p->trial.progress.events = head.event_count;
    return true;
}

/* All that is kept of a trial; NULL without memory. */
static struct experiment_bytes content_of(const struct experiment_trial *trial,
                                          uint64_t mark, size_t figures_bytes,
                                          struct arena *a)
{
    struct kept_head head = {mark, trial->progress.events};
    size_t length = sizeof(head) + figures_bytes + trial->rest.length;
    char *data = TRY_NEW(a, char, length);

    if (!data)
        return (struct experiment_bytes){0};
    memcpy(data, &head, sizeof(head));
    memcpy(data + sizeof(head), trial->figures, figures_bytes);
    if (trial->rest.length)
        memcpy(data + length - trial->rest.length, trial->rest.data, trial->rest.length);
    return (struct experiment_bytes){data, length};
}

/* Without memory it is played again then. */
static void keep_trial(const struct playing *p)
{
    const struct experiment_owner *owner = p->e->in->owner;
    struct experiment_bytes content;

    if (!is_kept(p))
        return;
    content = content_of(&p->trial, p->mark, figures_length(p), p->arena);
    if (content.data)
        owner->keep(owner->context, p->e->trials_done, content);
}

/* ---- playing ---- */

static enum error_code play_trial(struct playing *p, size_t label)
{
    struct experiment *e = p->e;
    const struct experiment_in *in = e->in;
    double *run_figures = e->figures + e->runs_done * in->label_count * e->figure_count;

    arena_reset(in->trial);
    arena_reset(in->scratch);
    p->trial = (struct experiment_trial){
        .run = e->runs_done,
        .label = label,
        .seed = experiment_seed(in->seed, in->seed_scheme, e->runs_done),
        .budget = &p->budget,
        .arena = in->trial,
        .scratch = in->scratch,
        .run_figures = run_figures,
        .figures = run_figures + label * e->figure_count,
        .events_before = e->event_count,
    };
    if (!find_trial(p)) {
        p->trial.is_cut = budget_spent(&p->budget); /* short trials never ask */
        if (!p->trial.is_cut)
            TRY(in->play(in->context, &p->trial));
        e->is_cut = p->trial.is_cut;
        if (!e->is_cut)
            keep_trial(p);
    }
    e->event_count += p->trial.progress.events;
    e->trials_done += !e->is_cut;
    if (e->trials_done == p->kept_from)
        p->first_events = e->event_count;
    p->trial.progress.events = 0;
    if (!e->is_cut) /* else it stays as far as it came */
        p->trial.progress.time_ratio = 0;
    return OK;
}

bool experiment_play_apart(const struct experiment_in *in, size_t number,
                           struct budget *budget, struct arena *trial_arena,
                           struct arena *scratch, struct experiment_bytes *content,
                           struct arena *result)
{
    struct error ignored = {.code = OK};
    size_t figure_count = 0;
    struct experiment_trial trial = {
        .run = number,
        .seed = experiment_seed(in->seed, in->seed_scheme, number),
        .budget = budget,
        .arena = trial_arena,
        .scratch = scratch,
    };

    while (in->figure_names[figure_count])
        figure_count++;
    trial.figures = NEW(trial_arena, double, figure_count);
    trial.run_figures = trial.figures;
    if (budget_spent(budget) || in->apart(in->context, &trial, &ignored) != OK ||
        trial.is_cut)
        return false;
    *content =
        content_of(&trial, mark_of(in), figure_count * sizeof(*trial.figures), result);
    return content->data;
}

enum error_code experiment_play(const struct experiment_in *in, struct experiment *out,
                                struct arena *a)
{
    struct playing p = {.e = out, .arena = a, .mark = mark_of(in)};

    *out = (struct experiment){.in = in};
    while (in->figure_names[out->figure_count])
        out->figure_count++;
    out->figures = NEW(a, double, in->run_count * in->label_count * out->figure_count);
    p.labels_at_once = in->all_at_once ? in->label_count : 1;
    p.trials_per_run = in->label_count / p.labels_at_once;
    p.budget = *in->budget;
    p.budget.used = time_used;
    p.budget.context = &p;
    p.budget.from = p.budget.span = 0; /* the experiment's has seen to that */
    count_kept(&p);
    if (p.kept_to > p.kept_from)
        note(&p); /* not from 0 on */
    while (out->runs_done < in->run_count && !out->is_cut) {
        for (size_t i = 0; i < p.trials_per_run && !out->is_cut; i++)
            TRY(play_trial(&p, i));
        out->runs_done += !out->is_cut;
        note(&p);
        if (!out->is_cut && in->enough && in->enough(in->context, out))
            break;
    }
    return OK;
}

/* ---- over the runs ---- */

double experiment_figure(const struct experiment *e, size_t run, size_t label,
                         size_t figure)
{
    return e->figures[(run * e->in->label_count + label) * e->figure_count + figure];
}

struct sim_summary experiment_summary(const struct experiment *e, size_t label,
                                      size_t figure)
{
    return sim_summarise_every(&e->figures[label * e->figure_count + figure],
                               e->runs_done, e->in->label_count * e->figure_count);
}

/* ---- ranks ---- */

struct ranking {
    const double *values;
    size_t figure_count;
    const struct experiment_key *keys;
    size_t key_count;
    const char *const *names;
};

static bool ranks_before(const struct ranking *r, size_t a, size_t b)
{
    for (size_t k = 0; k < r->key_count; k++) {
        double x = r->values[a * r->figure_count + r->keys[k].figure];
        double y = r->values[b * r->figure_count + r->keys[k].figure];

        if (x < y || x > y)
            return (x > y) == r->keys[k].more_is_better;
    }
    return strcmp(r->names[a], r->names[b]) < 0;
}

void experiment_rank(const double *values, size_t count, size_t figure_count,
                     const struct experiment_key *keys, size_t key_count,
                     const char *const *names, size_t *order)
{
    struct ranking r = {values, figure_count, keys, key_count, names};

    for (size_t i = 0; i < count; i++) {
        size_t at = i;

        for (; at > 0 && ranks_before(&r, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}
