/* store_claim.h - what became of claims, of components on their sites, of transfers.
 *
 * As store.h, whose rules hold here; the pages are read by its store_filter. For
 * decisions, which ask for all sites at once, `ids` is a JSON array of site ids, and only
 * what happened in [from, to) counts, of much of it the latest.
 *
 * Source: spec coallocation.md 19.
 */
#ifndef GRIDPLAN_STORE_CLAIM_H
#define GRIDPLAN_STORE_CLAIM_H

#include "service/store.h"

/* ---- tries to claim ---- */

struct store_claim_attempt {
    const char *job_id;
    double attempted_at_s; /* instant */
    const char *site_ids;  /* JSON array, each once, sorted bytewise */
    double processors;     /* whole, >= 1 */
    double l_value;        /* 0..1 */
    double claim_tries;    /* whole, >= 1 */
    double fraction_f;     /* 0..1; NAN: not known */
    double ftt_s;          /* >= 0; NAN: not known */
    const char *decision;  /* as co_claim_decision_names */
};

/* Those of the same job_id and attempted_at_s as a stored one are left alone; *stored
 * counts the new ones. */
enum error_code store_claim_attempts(struct db_session *s, const char *tenant,
                                     const struct store_claim_attempt *list, size_t count,
                                     size_t *stored, struct arena *a, struct error *err);

/* By attempted_at; filters job_id and site_id. Without a job_id the cost grows with the
 * rows in the range. */
enum error_code store_claim_attempts_read(struct db_session *s, const char *tenant,
                                          const struct store_filter *filter,
                                          const struct store_page *page,
                                          const struct store_claim_attempt **list,
                                          size_t *count, const char **next_token,
                                          struct arena *a, struct error *err);

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

enum error_code store_site_errors(struct db_session *s, const char *tenant,
                                  const struct store_site_error *list, size_t count,
                                  struct error *err);

/* By observed_at; filters site_id and job_id. */
enum error_code store_site_errors_read(struct db_session *s, const char *tenant,
                                       const struct store_filter *filter,
                                       const struct store_page *page,
                                       const struct store_site_error **list,
                                       size_t *count, const char **next_token,
                                       struct arena *a, struct error *err);

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

enum error_code store_transfers(struct db_session *s, const char *tenant,
                                const struct store_transfer *list, size_t count,
                                struct error *err);

/* By finished_at; filters from_site_id and to_site_id. Quick with the first. */
enum error_code store_transfers_read(struct db_session *s, const char *tenant,
                                     const struct store_filter *filter,
                                     const struct store_page *page,
                                     const struct store_transfer **list, size_t *count,
                                     const char **next_token, struct arena *a,
                                     struct error *err);

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
