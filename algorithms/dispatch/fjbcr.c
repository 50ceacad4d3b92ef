/* dispatch/fjbcr.c - first job to the best computational resource.
 *
 * Jobs in the order of arrival, each on the free resource of largest mips / (n + 1).
 * The source asks for highest speed and fewest jobs; to divide one by the other is
 * ours.
 *
 * Source: 000_168dd5aef5075332.txt, 2.2 [L713-L748]; spec simulator.md 10.
 * Cost: O(jobs + resources + starts * (log resources + log jobs)).
 */
#include "algorithms/dispatch/dispatch.h"
#include "algorithms/dispatch/queue.h"

const struct param dispatch_fjbcr_params[] = {{0}};

enum error_code dispatch_fjbcr(const struct round_in *in, const double *param,
                               struct round_out *out, struct arena *a, struct error *err)
{
    (void)param;
    return queue_round(in, QUEUE_ARRIVAL, out, a, err);
}
