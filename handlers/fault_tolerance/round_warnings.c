/* round_warnings.c - what is to be known of the histories and the choices of a round. */
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "handlers/fault_tolerance/rounds.h"

#include "models/base/plural.h"
#include <math.h>

static void warn(struct round_call *call, const char *text)
{
    call->warnings[call->warning_count++] = text;
}

/* ---- how resources fail, by what is stored ---- */

static bool start_is_unknown(const struct resource_history *h)
{
    return h->risk.start_unknown;
}

static bool has_ended(const struct resource_history *h)
{
    return h->risk.history_ended;
}

static bool is_outside(const struct resource_history *h)
{
    return h->risk.outside_count > 0;
}

static bool is_cut(const struct resource_history *h)
{
    return h->is_cut;
}

static bool has_few_failures(const struct resource_history *h)
{
    return h->rate.few_failures;
}

static bool is_at_floor(const struct resource_history *h)
{
    return h->rate.floor_applied;
}

static bool is_wide(const struct resource_history *h)
{
    struct failure_range range = failure_rate_range(&h->rate);

    return range.high_s > FAILURE_RANGE_WIDE * range.low_s;
}

static const struct {
    bool (*holds)(const struct resource_history *h);
    const char *code, *what;
} of_histories[] = {
    {start_is_unknown, "observation_start_unknown",
     "nobody said since when it is watched (POST /v1/observations): its first failure "
     "only begins the history"},
    {has_ended, "history_ended",
     "nothing was heard of it for long: its time ends with the last event"},
    {is_outside, "outside_observation",
     "failures lie outside every observation of it: these have no part in its rate"},
    {is_cut, "history_cut", "it has more failures than were read: the newest decided"},
    {has_few_failures, "few_failures",
     "fewer than 3 failures were seen: its mean is mostly what was known before them"},
    {is_at_floor, "mean_floor_applied",
     "so little was seen that options.mean_floor_s was taken"},
    {is_wide, "wide_interval", "its mean may as well be several times as long or short"},
};

void round_call_warn_histories(struct round_call *call)
{
    const char *down;

    if (!call->has_histories)
        return;
    down = histories_warn_down(&call->histories, call->rq->arena);
    if (down)
        warn(call, down);
    if (call->histories.peers_cut)
        warn(call, "peers_cut: there are more stored hosts than the prior was fitted to");
    for (size_t i = 0; i < sizeof(of_histories) / sizeof(*of_histories); i++) {
        const char *first = NULL;
        size_t count = 0;

        budget_step(&call->rq->budget, call->in.resource_count);
        for (size_t r = 0; r < call->in.resource_count; r++) {
            const struct resource_history *h =
                &call->histories.list[call->resources_at[r]];

            if (!call->resources[r].up || !h->is_stored || !h->has_rate ||
                !of_histories[i].holds(h))
                continue;
            first = count++ ? first : h->id;
        }
        if (count)
            warn(call, arena_printf(call->rq->arena, "%s: of %s, first '%.256s', %s",
                                    of_histories[i].code, counted(count, "resource").text,
                                    first, of_histories[i].what));
    }
}

/* ---- choices ---- */

static const char *id_of(const struct round_call *call, const struct round_choice *c)
{
    return call->body->jobs[call->jobs_at[c->job]].id;
}

static bool is_floored(const struct round_choice *c)
{
    for (size_t i = 0; i < c->host_count; i++)
        if (c->hosts[i].copy.plan.at_floor)
            return true;
    return false;
}

/* Options of several copies without a time, though one such copy ends. */
static size_t skipped_of(const struct round_choice *c)
{
    size_t count = 0;

    for (size_t i = 0; i < c->option_count; i++) {
        const struct remedy_option *o = &c->options[i];
        const struct remedy_option *one = &c->options[o->remedy == REMEDY_BOTH];

        count += o->replicas > 1 && !isfinite(o->expected_time_s) &&
                 isfinite(one->expected_time_s);
    }
    return count;
}

void round_call_warn_choices(struct round_call *call)
{
    const char *floored = NULL, *skipped = NULL;
    size_t floored_count = 0, skipped_count = 0;

    for (size_t i = 0; i < call->out.choice_count; i++) {
        const struct round_choice *c = &call->out.choices[i];
        size_t count = skipped_of(c);

        budget_step(&call->rq->budget, c->option_count + c->host_count);
        if (is_floored(c) && floored_count++ == 0)
            floored = id_of(call, c);
        skipped = count && !skipped ? id_of(call, c) : skipped;
        skipped_count += count;
    }
    if (floored_count)
        warn(call, arena_printf(call->rq->arena,
                                "at_floor: %s, first '%.256s', would be "
                                "checkpointed more often than once a second, or than "
                                "1.0001 times what a checkpoint takes",
                                counted(floored_count, "job").text, floored));
    if (skipped_count)
        warn(call,
             arena_printf(call->rq->arena,
                          "expected_skipped: %s, first of job '%.256s', %s "
                          "several copies with too many checkpoints, or failures, to be "
                          "followed together: no times are known, and %s not chosen",
                          counted(skipped_count, "option").text, skipped,
                          plural(skipped_count, "has", "have"),
                          plural(skipped_count, "it is", "they are")));
}
