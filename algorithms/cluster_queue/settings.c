/* settings.c - settings of the policy slurm_backfill. */
#include "algorithms/cluster_queue/settings.h"

#include <stddef.h>

static const struct param params[] = {
#define X(name, least, most, preset, text) \
    {#name, least, most, preset, text, PARAM_NUMBER, NULL},
    CLUSTER_NUMBERS(X)
#undef X
#define X(name, preset, text) {#name, 0, 1, preset, text, PARAM_BOOLEAN, NULL},
        CLUSTER_SWITCHES(X)
#undef X
            {0},
};

const struct policy cluster_policies[] = {
    {.name = "slurm_backfill",
     .purpose =
         "Priorities, limits, main loop and backfill of a cluster as Slurm has them",
     CITES(IN_WORK(slurm2022, "slurm.conf(5), sbatch(1), Scheduling Configuration Guide, "
                              "Multifactor Priority, Fair Tree, Classic Fairshare")),
     BUT("No plan meets another plan on a node"),
     .params = params},
    {0},
};
