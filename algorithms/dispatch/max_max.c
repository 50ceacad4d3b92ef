/* dispatch/max_max.c - longest job first, on the fastest resource.
 *
 * The waiting job of most work goes to the free resource of largest mips / (n + 1),
 * until none is free.
 *
 * Source: 000_168dd5aef5075332.txt, 2.2 [L713-L748]; spec simulator.md 10.
 * Cost: O(jobs + resources + starts * (log resources + log jobs)).
 */
#include "algorithms/dispatch/dispatch.h"
#include "algorithms/dispatch/queue.h"

const struct param dispatch_max_max_params[] = {{0}};

enum error_code dispatch_max_max(const struct round_in *in, const double *param,
                                 struct round_out *out, struct arena *a,
                                 struct error *err)
{
    (void)param;
    return queue_round(in, QUEUE_LONGEST, out, a, err);
}
