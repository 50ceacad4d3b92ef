/* checkpoint/finite.c - the best checkpoints of a job that ends.
 *
 * At the start the plan of least expected time (finite_plan.h): its first segment is
 * the first request. At a request, with u work since the last image and q left, the
 * least of
 *
 *     never again         what a failure now costs, times its chance
 *     after s more work   s and the segments behind it chosen for the least time
 *
 * decides: s = 0 takes the checkpoint, else it is omitted, and asked for again after
 * s, or never. Of all policies it alone needs to know where the job ends. Nothing
 * known of failures: as the formulas, the initial interval.
 *
 * Source: spec reliability.md 3.1 and 3.2.
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_finite_params[] = {CHECKPOINT_ROWS(0), {0}};

static void start(const struct checkpoint_in *in, struct checkpoint_out *out)
{
    const struct finite_plan *plan = &out->plan;
    double between_s = isnan(plan->middle_s) ? plan->first_s : plan->middle_s;

    checkpoint_set_interval(in, between_s, CHECKPOINT_REASON_STARTED, out);
    out->action = CHECKPOINT_NONE;
    out->reason = CHECKPOINT_REASON_STARTED;
    out->next_request_in_s = plan->first_s;
    if (plan->count <= 1) {
        out->reason = CHECKPOINT_REASON_TOO_SHORT;
        out->next_request_in_s = HUGE_VAL;
    } else if (!(plan->first_s > 0)) {
        out->interval_s = isnan(plan->middle_s) ? plan->last_s : plan->middle_s;
        out->action = CHECKPOINT_TAKE;
        out->reason = CHECKPOINT_REASON_IMAGE_FIRST;
        out->next_request_in_s = plan->count > 2 ? plan->middle_s : HUGE_VAL;
    }
}

static void request(const struct checkpoint_in *in, const struct finite_request *asked,
                    struct checkpoint_out *out)
{
    struct finite_answer answer = finite_decide(asked);
    double between_s = isfinite(answer.next_s) ? answer.next_s : asked->left_s;

    if (!answer.take)
        between_s = asked->since_image_s + fmin(answer.in_s, asked->left_s);
    checkpoint_set_interval(in, between_s, CHECKPOINT_REASON_BEST_INTERVAL, out);
    out->next_request_in_s = answer.next_s;
    if (!answer.take)
        checkpoint_omit(in, answer.in_s, out);
}

enum error_code checkpoint_finite(const struct checkpoint_in *in, const double *param,
                                  struct checkpoint_out *out, struct error *err)
{
    struct finite_request asked;
    struct finite_job job;
    double least_s, first_s;

    if (isnan(in->execution_time_s))
        return fail(err, ERR_INVALID, "", "finite needs the execution time");
    checkpoint_set_minimum(in, param, out);
    least_s = checkpoint_floor_s(in, param, out);
    if (!checkpoint_finite_job(in, least_s, &job)) {
        checkpoint_set_interval(in, checkpoint_initial_s(in, param),
                                CHECKPOINT_REASON_UNKNOWN_FAILURES, out);
        return OK;
    }
    out->plan = finite_best(&job);
    first_s = out->plan.first_s;
    if (in->start)
        start(in, out);
    else if (checkpoint_question(in, first_s, least_s, &asked))
        request(in, &asked, out);
    else
        checkpoint_set_interval(in, first_s, CHECKPOINT_REASON_BEST_INTERVAL, out);
    if (!in->start && in->remaining_s <= 0)
        checkpoint_omit(in, HUGE_VAL, out);
    out->has_image = checkpoint_image(in, first_s);
    if (out->has_image > 0 && job.scratch_s != job.restart_s) {
        job.scratch_s = job.restart_s; /* as was not known before the plan was */
        out->plan = finite_best(&job);
    }
    out->at_floor = out->plan.at_floor;
    out->floor_s = least_s;
    out->at_minimum = out->at_minimum || out->at_floor;
    return OK;
}
