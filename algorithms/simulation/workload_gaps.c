/* simulation/workload_gaps.c - arrivals at independent gaps: uniform_stream, poisson,
 * vm_session.
 *
 * The first job arrives one gap after the start. A session's work is what its share of
 * a resource does while it lasts.
 *
 * Source: spec simulator.md 9; 000_168dd5aef5075332 chapters 2 and 3.
 */
#include "algorithms/simulation/workload_parts.h"

static bool next(struct workload_source *s, struct sim_job *job)
{
    const struct workload *w = s->config;

    job->arrival_s = s->arrival_s + stream_draw(&s->arrival, w->arrival_gap_s);
    if (w->generator == WORKLOAD_VM_SESSION) {
        job->mips_required = stream_draw(&s->mips, w->mips_required);
        job->session_s = stream_draw(&s->session, w->session_s);
        job->length_mi = job->mips_required * job->session_s;
    }
    return true;
}

const struct workload_maker workload_gaps = {NULL, NULL, next};
