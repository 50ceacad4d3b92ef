/* child.h - another program, run without a shell and under a time limit. */
#ifndef GRIDPLAN_CLIENT_CHILD_H
#define GRIDPLAN_CLIENT_CHILD_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct child {
    const char *const *arguments; /* ended by NULL; the first is found on PATH */
    const char *input;            /* written to its standard input; NULL: none */
    size_t input_length;
    double time_limit_s; /* it is killed then, with all that it started */
    /* What became of it. */
    char *output; /* ended by NUL */
    size_t output_length;
    const char *complaint; /* what it wrote to standard error, the first 4000 bytes */
    int status;            /* its exit status; 128 + N: signal N; 127: it cannot be run */
    bool timed_out;
};

/* Runs it to its end. Its clock is UTC, its language C. Fails only where no child can be
 * made, or for lack of memory. */
enum error_code child_run(struct child *c, struct arena *a, struct error *err);

/* Why it went wrong, for people; "" if it did not. */
const char *child_problem(const struct child *c, struct arena *a);

#endif
