/* resource_histories.h - how reliable the resources of a decision are.
 *
 * From what the request says of its resources and, where it says nothing, from the
 * stored failures: two statements for all resources together. A service without a
 * database, or with one that is down, knows what the request says. What is read is
 * kept with a decision that is stored: its replay reads nothing.
 */
#ifndef GRIDPLAN_RESOURCE_HISTORIES_H
#define GRIDPLAN_RESOURCE_HISTORIES_H

#include "models/base/names.h"
#include "models/reliability.h"
#include "models/snapshot.h"
#include "service/route.h"

struct resource_history {
    const char *id;
    const struct resource *resource; /* NULL: not in a snapshot */
    bool wanted;                     /* set by the caller; the rest holds for these */
    bool known;                      /* it was observed for some time */
    struct reliability reliability;
    double mean_s;                 /* mean time between failures; NAN: not known */
    double weibull_shape, scale_s; /* NAN: too few gaps, or not asked for */
    double *gap_s;                 /* between the begins of failures, all above 0 */
    size_t gap_count;
};

struct resource_histories {
    struct resource_history *list;
    size_t count;
    struct name_index index; /* of the ids */
    double now_s;            /* NAN: by the clock, until histories_read() */
    bool unavailable;        /* the stored history was needed and could not be read */
};

struct histories_options {
    enum mf_estimator estimator;
    double site_weight; /* 0: the site has no part in mean_s */
    bool weibull;       /* fit the gaps */
};

/* All resources of the snapshot, none wanted; without one, room for `expected` ids. */
enum error_code histories_begin(const struct snapshot *snapshot, size_t expected,
                                struct resource_histories *out, struct arena *a,
                                struct error *err);

/* Position of a resource; with `add` a new one gets one. Else NAME_NOT_FOUND. */
size_t histories_find(struct resource_histories *h, const char *id, bool add);

/* Notes what makes no sense in the snapshot's histories, "/snapshot/resources/...". */
void histories_check(const struct resource_histories *h, struct error *err);

/* Fills the wanted ones, as of h->now_s (sets it if it is NAN), and with weibull or a
 * site_weight all of their sites. ERR_WOULD_BLOCK: on an I/O thread, when the database is
 * needed. */
enum error_code histories_read(struct request *rq, struct resource_histories *h,
                               const struct histories_options *options);

#endif
