/* store_claim.h - what became of claims, of components on their sites, of transfers.
 *
 * As store.h, whose rules hold here; for their pages see records/. For
 * decisions, which ask for all sites at once, `ids` is a JSON array of site ids, and only
 * what happened in [from, to) counts, of much of it the latest.
 *
 * Source: spec coallocation.md 19.
 */
#ifndef GRIDPLAN_STORE_CLAIM_H
#define GRIDPLAN_STORE_CLAIM_H

#include "service/store.h"

/* ---- tries to claim ---- */

enum { STORE_L_STEPS = 20 }; /* L is counted in steps of 1 / this */

/* How placements ended that were claimed with an L near step / STORE_L_STEPS. */
struct store_claim_outcome {
    bool same_sites; /* of these sites together; else of all sets of sites */
    uint64_t step;
    uint64_t end_count, success_count; /* a success: start_all */
};

/* Of these sites together the latest 1000, of all the latest 10000. */
enum error_code store_claim_outcomes(struct db_session *s, const char *tenant,
                                     const char *site_ids, double from_at_s,
                                     double to_at_s,
                                     const struct store_claim_outcome **list,
                                     size_t *count, struct arena *a, struct error *err);

/* ---- errors of sites ---- */

struct store_site_error {
    const char *site_id;
    double observed_at_s;            /* instant */
    double error_count, start_count; /* whole, >= 0 */
    double consecutive_errors;       /* whole, >= 0; NAN: not known */
    bool unusable;
    const char *job_id, *message; /* NULL: not known */
};

struct store_site_starts {
    double site; /* index into the ids; NAN: all sites together */
    double error_count, start_count;
};

/* Sums of the latest 1000 reports of each site that has any, and of the latest 10000 of
 * all. */
enum error_code store_site_starts_find(struct db_session *s, const char *tenant,
                                       const char *ids, double from_at_s, double to_at_s,
                                       const struct store_site_starts **list,
                                       size_t *count, struct arena *a, struct error *err);

/* ---- transfers ---- */

struct store_transfer {
    const char *from_site_id, *to_site_id;
    const char *file_id, *job_id; /* NULL: not known */
    double bytes;                 /* >= 0 */
    double estimated_s, actual_s; /* > 0 */
    double finished_at_s;         /* instant */
};

struct store_link_bias {
    uint64_t from, to; /* indexes into the ids */
    uint64_t transfer_count;
    double mean_log_ratio; /* of ln(actual / estimated) */
};

/* Of each pair of the sites that has any; of what a site sent the latest 10000. */
enum error_code store_link_biases(struct db_session *s, const char *tenant,
                                  const char *ids, double from_at_s, double to_at_s,
                                  const struct store_link_bias **list, size_t *count,
                                  struct arena *a, struct error *err);

/* ---- run times ---- */

struct store_run_time {
    double processors, run_time_s;
};

/* The latest `limit` whole runs of the application that ended well, or of which that is
 * not known. */
enum error_code store_run_times(struct db_session *s, const char *tenant,
                                const char *application_id, double from_at_s,
                                double to_at_s, size_t limit,
                                const struct store_run_time **list, size_t *count,
                                struct arena *a, struct error *err);

#endif
