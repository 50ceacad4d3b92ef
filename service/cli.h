/* cli.h - the program's commands: serve, migrate, key, health, openapi, simulate, docs,
 * flags. */
#ifndef GRIDPLAN_CLI_H
#define GRIDPLAN_CLI_H

#include "service/route.h"

/* Runs one command; the value is the exit status of the process. `expansion` has the
 * path of POST /v1/simulations and answers with the scenario drawn; `draw` draws answers
 * that were stored; `pages` lists what `docs` writes. */
typedef const char *const *pages_fn(const struct route *routes, size_t *count,
                                    struct arena *a);
int cli_run(int argc, char **argv, const struct route *route_table,
            const struct route *expansion, answer_form_fn *draw, pages_fn *pages);

/* The i-th command and what it does; false: there is none. */
bool cli_command(size_t i, const char **name, const char **doc);

#endif
