/* coallocation/faults.c - errors of components, sites that err, runners that are silent.
 *
 *     soft         counted for the site; the runner deals with it, or the job starts
 *                  again elsewhere (atomic), or only the component does
 *     application  the runner decides, or job and runner are stopped
 *     hard         the runner is told, then job and runner are stopped
 *
 * Source: spec coallocation.md 12; 001_546dfcc428821807 3.2.2, 3.7 [L594-L607,
 * L723-L731].
 */
#include "algorithms/coallocation/faults.h"

#include "algorithms/coallocation/scan.h"

enum { THRESHOLD_LEAST = 2, THRESHOLD_MOST = 1000000000 };

const char *const co_error_group_names[] = {"hard", "soft", "application", NULL};
const char *const co_fault_action_names[] = {
    [CO_NOTIFY_RUNNER] = "notify_runner",
    [CO_COMPONENT_RETRY_BY_RUNNER] = "component_retry_by_runner",
    [CO_ABORT_JOB] = "abort_job",
    [CO_RESTART_JOB] = "restart_job",
    [CO_REPLACE_COMPONENTS] = "replace_components",
    [CO_PASS_THROUGH] = "pass_through",
    [CO_ABORT_JOB_AND_RUNNER] = "abort_job_and_runner",
    NULL,
};

/* ---- options ---- */

const struct param migration_component_error_params[] = {
    [CO_FAULT_THRESHOLD] = {"error_threshold", 1, 1e9, CO_ERROR_THRESHOLD,
                            "Soft errors in a row that make a site unusable",
                            PARAM_INTEGER, NULL},
    [CO_FAULT_COOLDOWN_S] = {"unusable_cooldown_s", 0, 1e12, NAN,
                             "An unusable site is taken back after so long; without: by "
                             "an administrator",
                             PARAM_NUMBER, NULL},
    [CO_FAULT_REQUEUE] = {"requeue_position", 0, 1, CO_REQUEUE_TAIL,
                          "Where in its queue a job comes back", PARAM_CHOICE,
                          co_requeue_rule_names},
    {0},
};
const struct param migration_runner_liveness_params[] = {
    [CO_LIVENESS_TIMEOUT] = {"timeout_s", 0, 1e9, CO_LIVENESS_TIMEOUT_S,
                             "A runner that is silent for longer has crashed",
                             PARAM_NUMBER, NULL},
    {0},
};

/* ---- counting ---- */

bool co_site_error(struct co_site_errors *site, size_t threshold, double now_s)
{
    site->consecutive++;
    if (site->unusable || site->consecutive < threshold)
        return false;
    site->unusable = true;
    site->unusable_at_s = now_s;
    return true;
}

void co_site_success(struct co_site_errors *site)
{
    site->consecutive = 0;
}

bool co_site_readmit(struct co_site_errors *site, double cooldown_s, double now_s)
{
    if (!site->unusable || !(now_s - site->unusable_at_s >= cooldown_s))
        return false;
    *site = CO_SITE_ERRORS;
    return true;
}

size_t co_site_threshold(double error_ratio, const struct co_threshold_rule *rule)
{
    double odds = rule->broken_ratio * (1 - rule->confidence) /
                  ((1 - rule->broken_ratio) * rule->confidence);
    double k;

    if (error_ratio > rule->max_error_ratio || error_ratio >= 1)
        return 1;
    if (error_ratio <= 0)
        return THRESHOLD_LEAST;
    /* A whole number that rounding put just above it is that number. */
    k = ceil(log(odds) / log(error_ratio) - 1e-9);
    return (size_t)fmin(fmax(k, THRESHOLD_LEAST), THRESHOLD_MOST);
}

double co_site_error_ratio(double errors, double starts, double all_errors,
                           double all_starts, double prior_weight)
{
    double all = (all_errors + 1) / (all_errors + all_starts + 2);
    double seen = errors + starts + prior_weight;

    return seen > 0 ? (errors + prior_weight * all) / seen : all;
}

/* ---- what to do ---- */

static void act(struct co_fault_out *out, enum co_fault_action action)
{
    out->actions[out->action_count++] = action;
}

static struct co_fault_out soft(const struct co_fault_in *in)
{
    struct co_fault_out out = {0};

    if (in->handles_soft) {
        act(&out, CO_COMPONENT_RETRY_BY_RUNNER);
        return out;
    }
    out.requeue = out.avoid_site = true;
    out.free_job = in->atomic;
    if (in->atomic)
        act(&out, CO_ABORT_JOB);
    act(&out, in->atomic ? CO_RESTART_JOB : CO_REPLACE_COMPONENTS);
    return out;
}

struct co_fault_out co_fault_decide(const struct co_fault_in *in)
{
    struct co_fault_out out = {0};

    if (in->group == CO_ERROR_SOFT)
        return soft(in);
    if (in->group == CO_ERROR_APPLICATION && in->handles_application) {
        act(&out, CO_PASS_THROUGH);
        return out;
    }
    if (in->group == CO_ERROR_HARD)
        act(&out, CO_NOTIFY_RUNNER);
    act(&out, CO_ABORT_JOB_AND_RUNNER);
    out.free_job = out.failed = true;
    return out;
}

/* ---- liveness, failure rate ---- */

bool co_runner_dead(double last_reply_s, double now_s, double timeout_s)
{
    return now_s - last_reply_s > timeout_s;
}

double co_failure_rate(size_t starts)
{
    return starts ? (double)(starts - 1) / (double)starts : 0;
}
