/* plan/cost.h - what moving an application costs.
 *
 * The application stops and writes its checkpoint, the checkpoint goes to the servers
 * of the other site (or stays where it is), and the application starts and reads it:
 *
 *     intra = stop + write(old) + launch + read(old) + queue wait
 *     inter = stop + write(old) + move + launch + read(new) + queue wait
 *
 * with 8 bytes / (10^6 Mbit/s) for each transfer, reading times redistribution_factor.
 *
 * Source: spec rescheduling-plans.md 2.2 (ours; 003_a5f9349f46eae656 has constants).
 */
#ifndef GRIDPLAN_PLAN_COST_H
#define GRIDPLAN_PLAN_COST_H

/* When nothing else is known. */
#define PLAN_INTRA_COST_S 120.0
#define PLAN_INTER_COST_S 300.0

struct plan_move {
    double checkpoint_bytes;      /* >= 0 */
    double old_mbps, new_mbps;    /* to the checkpoint servers of both sites, > 0 */
    double between_mbps;          /* between the sites, > 0; not read inside a site */
    double stop_s, launch_s;      /* >= 0 */
    double redistribution_factor; /* >= 0 */
    double queue_wait_s;          /* >= 0 */
};

/* Seconds; to other machines of the same site, and to another site. */
double plan_intra_cost_s(const struct plan_move *move);
double plan_inter_cost_s(const struct plan_move *move);

#endif
