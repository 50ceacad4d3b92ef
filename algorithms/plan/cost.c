/* plan/cost.c - what moving an application costs. */
#include "algorithms/plan/cost.h"

#include "models/network.h"

double plan_intra_cost_s(const struct plan_move *move)
{
    double write_s = transfer_s(move->checkpoint_bytes, move->old_mbps, 0);

    return move->stop_s + write_s + move->launch_s +
           write_s * move->redistribution_factor + move->queue_wait_s;
}

double plan_inter_cost_s(const struct plan_move *move)
{
    return move->stop_s + transfer_s(move->checkpoint_bytes, move->old_mbps, 0) +
           transfer_s(move->checkpoint_bytes, move->between_mbps, 0) + move->launch_s +
           transfer_s(move->checkpoint_bytes, move->new_mbps, 0) *
               move->redistribution_factor +
           move->queue_wait_s;
}
