/* pattern.h - which runs of accounting are one application.
 *
 * A pattern is a text with members in braces, {name} {account} {user} {partition} {qos}
 * {comment}, and behind it, each after a blank, steps s/REGEX/TEXT/ that change what
 * comes out: the first match, the leftmost and of these the longest, becomes TEXT; with a
 * g behind the step each one does. "\\/" is a / of either part. Of a name digits at its
 * end, and one mark before them, go: run_001 and run_002 are one program.
 */
#ifndef GRIDPLAN_SLURM_PATTERN_H
#define GRIDPLAN_SLURM_PATTERN_H

#include "models/slurm/records.h"

enum { SLURM_STEPS_MAX = 16 };

struct expr_regex;

struct slurm_step {
    const struct expr_regex *regex;
    const char *text; /* in place of what matches */
    bool all;
};

struct slurm_pattern {
    const char *members; /* the text with members in braces */
    struct slurm_step steps[SLURM_STEPS_MAX];
    size_t step_count;
};

/* Reads a pattern; NULL, or what is wrong with it. Steps alone are those of {name}. */
const char *slurm_pattern_read(const char *text, struct slurm_pattern *out,
                               struct arena *a);

/* The application of a row, of 256 bytes at most; "job" when nothing is left. */
const char *slurm_pattern_apply(const struct slurm_pattern *pattern,
                                const struct slurm_record *r, struct arena *a);

#endif
