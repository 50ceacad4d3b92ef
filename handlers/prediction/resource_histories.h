/* resource_histories.h - how reliable the resources of a decision are.
 *
 * From what the request says of its resources and, where it says nothing, from the
 * stored failures: two statements for all resources together. A service without a
 * database, or with one that is down, knows what the request says. What is read is
 * kept with a decision that is stored: its replay reads nothing.
 */
#ifndef GRIDPLAN_RESOURCE_HISTORIES_H
#define GRIDPLAN_RESOURCE_HISTORIES_H

#include "models/at_risk.h"
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
    bool is_own_fit;               /* these are the fit of its own gaps */
    double site_shape;             /* of the stored gaps of its site, where these are best
                                      by weibull, with weibull_if_best; NAN: they are not */
    double *gap_s;                 /* between the begins of failures, all above 0 */
    size_t gap_count;

    /* Of the store, else left out: */
    bool is_stored;
    bool is_cut;                       /* it has more failures than were read */
    const char *site_id;               /* as its observations say, or else its newest
                                          failure; NULL: they do not */
    struct at_risk risk;               /* what was seen of it */
    enum rate_prior_scope prior_scope; /* which hosts taught the next */
    struct rate_prior prior;
    bool has_rate;            /* mean_s is that of `rate` */
    struct failure_rate rate; /* with what is not known of it */
};

struct resource_histories {
    struct resource_history *list;
    size_t count;
    struct name_index index; /* of the ids */
    double now_s;            /* NAN: by the clock, until histories_read() */
    bool unavailable;        /* the stored history was needed and could not be read */
    bool peers_cut;          /* there are more stored hosts than a prior was fitted to */
};

struct histories_options {
    enum mf_estimator estimator;
    double site_weight;          /* 0: the site has no part in mean_s */
    bool weibull;                /* fit the gaps */
    bool weibull_if_best;        /* ... but only where no other model is better: its own
                                    gaps, or those of its site, if these are 30 or more,
                                    for the shape alone */
    enum rate_prior_scope prior; /* which hosts teach, if the estimator asks for it */
    double mean_floor_s;         /* of failure_rate_of() */
    double burst_window_s;       /* of at_risk_of(), likewise the next */
    double from_s, to_s;         /* NAN: not given */
    const char *component;       /* NULL: resources as a whole */
};

/* Those that nobody asked for: MF_AUTO, the site's prior, a floor of a day. */
struct histories_options histories_options_preset(void);

/* All resources of the snapshot, none wanted; without one, room for `expected` ids. */
void histories_begin(const struct snapshot *snapshot, size_t expected,
                     struct resource_histories *out, struct arena *a);

/* Position of a resource; with `add` a new one gets one. Else NAME_NOT_FOUND. */
size_t histories_find(struct resource_histories *h, const char *id, bool add);

/* Notes what makes no sense in the snapshot's histories, "/snapshot/resources/...". */
void histories_check(const struct resource_histories *h, struct error *err);

/* Fills the wanted ones, as of h->now_s (sets it if it is NAN), and with weibull or a
 * site_weight all of their sites. ERR_WOULD_BLOCK: on an I/O thread, when the database is
 * needed. */
enum error_code histories_read(struct request *rq, struct resource_histories *h,
                               const struct histories_options *options);

/* A warning of the wanted resources that are down, with the first of them and since when;
 * NULL: none is. */
const char *histories_warn_down(const struct resource_histories *h, struct arena *a);

#endif
