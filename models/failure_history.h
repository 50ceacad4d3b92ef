/* failure_history.h - when resources were down, and when they were watched. */
#ifndef GRIDPLAN_FAILURE_HISTORY_H
#define GRIDPLAN_FAILURE_HISTORY_H

#include <stddef.h>

/* What a row of a history means for the jobs of its resource. */
enum failure_kind {
    FAILURE_FAILURE,     /* kills them, and counts */
    FAILURE_MAINTENANCE, /* nobody's fault: the resource is not at risk meanwhile */
    FAILURE_DEGRADED,    /* slower, or without a spare part: neither */
};

/* Names for JSON and SQL, ended by NULL. */
extern const char *const failure_kind_names[];

/* Of a name; FAILURE_FAILURE for NULL or another text. */
enum failure_kind failure_kind_of(const char *name);

struct failure {
    const char *resource_id;
    double down_at_s;      /* instant */
    double up_at_s;        /* instant, >= down_at_s; NAN: still down */
    const char *cause;     /* free text: "hardware", "network" ...; NULL: not known */
    const char *component; /* the part that failed; NULL: the whole resource */
    enum failure_kind kind;
    const char *site_id;  /* NULL: not known, likewise the next */
    double detected_at_s; /* instant; NAN: not known */
    const char *boot_id;  /* of the boot that it ended */
    double level;         /* lowest checkpoint level that survives it, 1 ..; NAN */
};

/* A time in which a resource, or a part of it, was watched: a failure in it would
 * have been stored. */
struct observation {
    const char *resource_id;
    const char *component;  /* NULL: the whole resource */
    double component_count; /* parts that are alike and have no names, >= 1 */
    const char *site_id;    /* NULL: not known */
    double from_at_s;       /* instant */
    double to_at_s;         /* instant, > from_at_s; NAN: it still is */
};

#endif
