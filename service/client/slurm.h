/* slurm.h - gridplan slurm: Slurm's commands on one side, gridplan on the other. */
#ifndef GRIDPLAN_CLIENT_SLURM_H
#define GRIDPLAN_CLIENT_SLURM_H

#include "service/route.h"

/* What the program ends with. */
enum slurm_exit {
    SLURM_EXIT_DONE,
    SLURM_EXIT_SLURM,   /* a command of Slurm failed */
    SLURM_EXIT_USAGE,   /* the command line is wrong */
    SLURM_EXIT_SERVICE, /* gridplan refused, or cannot be reached */
    SLURM_EXIT_NOTHING, /* there is nothing to do */
};

/* Runs what stands behind "slurm": arguments ended by NULL. The exit status. */
int slurm_run(char **arguments, const struct route *routes);

/* Lines of the program's help. */
extern const char slurm_help[];

#endif
