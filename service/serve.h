/* serve.h - a running service, from its settings to its end. */
#ifndef GRIDPLAN_SERVE_H
#define GRIDPLAN_SERVE_H

#include "service/config.h"
#include "service/route.h"

struct db;

/* Serves until SIGTERM or SIGINT; the value is the exit status of the process. `draw`
 * draws answers that were stored. */
int serve_run(const struct config *config, const struct route *route_table,
              answer_form_fn *draw);

/* The database of the settings; *db NULL when none is set. */
enum error_code serve_open_database(const struct config *config, struct db **db,
                                    struct error *err);

#endif
