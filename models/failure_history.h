/* failure_history.h - when resources were down. */
#ifndef GRIDPLAN_FAILURE_HISTORY_H
#define GRIDPLAN_FAILURE_HISTORY_H

#include <stddef.h>

struct failure {
    const char *resource_id;
    double down_at_s;      /* instant */
    double up_at_s;        /* instant, >= down_at_s; NAN: still down */
    const char *cause;     /* free text: "hardware", "network" ...; NULL: not known */
    const char *component; /* the part that failed; NULL: the whole resource */
};

#endif
