/* health.h - asks a running service whether it is well; for containers without curl. */
#ifndef GRIDPLAN_HEALTH_H
#define GRIDPLAN_HEALTH_H

#include "service/config.h"

enum { HEALTH_LINE_SIZE = 512, HEALTH_EXIT_DOWN = 3 };

struct health_target {
    const char *url;         /* "http://host:port"; NULL: what the settings say */
    const char *unix_socket; /* its path, instead of a URL; NULL: none */
    bool ready;              /* /readyz, not /livez */
};

/* GET, within 3 s. `line` (HEALTH_LINE_SIZE) says what came. True: 200. ERR_INVALID: the
 * URL is none, or of https, which this program does not speak. */
enum error_code health_ask(const struct health_target *target,
                           const struct config *config, bool *healthy, char *line,
                           struct error *err);

#endif
