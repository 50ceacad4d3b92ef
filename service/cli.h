/* cli.h - the program's commands: serve, migrate, key, health, openapi, simulate, docs,
 * ask, flags. */
#ifndef GRIDPLAN_CLI_H
#define GRIDPLAN_CLI_H

#include "service/ask.h"
#include "service/route.h"

typedef const char *const *pages_fn(const struct route *routes, size_t *count,
                                    struct arena *a);

/* What the layers above give to the commands. */
struct cli_parts {
    const struct route *routes;
    const struct route *expansion; /* has the path of POST /v1/simulations and answers
                                      with the scenario drawn */
    answer_form_fn *draw;          /* draws answers that were stored */
    ask_draw_fn *show;             /* ... for a terminal */
    pages_fn *pages;               /* what `docs` writes */
    ask_algorithm_fn *endpoint_of; /* of an algorithm */
};

/* Runs one command; the value is the exit status of the process. */
int cli_run(int argc, char **argv, const struct cli_parts *parts);

/* The i-th command and what it does; false: there is none. */
bool cli_command(size_t i, const char **name, const char **doc);

#endif
