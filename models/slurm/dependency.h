/* dependency.h - what a job of Slurm waits for, as sbatch takes it and squeue shows it.
 *
 * "afterok:12_3:13(unfulfilled),afterany:14+5?singleton": clauses of a kind and jobs,
 * with , between for all of them, ? for any; behind + minutes from then on. Slurm takes
 * one of both in a text; here one ? makes it any.
 *
 * Source: Slurm's manual pages sbatch(1), option --dependency, and squeue(1).
 */
#ifndef GRIDPLAN_SLURM_DEPENDENCY_H
#define GRIDPLAN_SLURM_DEPENDENCY_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct slurm_after {
    const char *job_id; /* 12, 12_3; 12_* is 12 */
    const char *kind;   /* ok, any, notok, start, corr */
    double delay_s;
};

struct slurm_dependency {
    const struct slurm_after *after;
    size_t after_count;
    bool singleton, is_any, is_mixed; /* is_mixed: with , and ? */
    size_t burst_count;               /* clauses of burst buffers, read as any */
    const char *const *bad;           /* clauses that cannot be read, once for each job */
    size_t bad_count;
};

/* text: NULL: nothing. */
void slurm_dependency_read(const char *text, struct slurm_dependency *out,
                           struct arena *a);

/* The value of an option of the command that submitted a job, "--dependency=afterok:12",
 * "--dependency afterok:12", "-d afterok:12", "-dafterok:12", whose long name may be cut
 * down to `least` bytes; NULL: it is not there. What a script is given as arguments is
 * not told from it. */
const char *slurm_option(const char *submit_line, const char *name, size_t least,
                         char letter, struct arena *a);

#endif
