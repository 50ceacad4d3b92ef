/* store_rollup.h - rows of roll-ups (models/rollup/rollup.h) as they are stored. */
#ifndef GRIDPLAN_STORE_ROLLUP_H
#define GRIDPLAN_STORE_ROLLUP_H

#include "models/rollup/rollup.h"
#include "service/store.h"

/* Every column but the tenant, as SQL names them and as struct load_rollup has them. */
extern const char store_rollup_names[];
extern const struct db_column store_rollup_columns[];

/* Adds rows. Those that are there already: ERR_CONFLICT, and nothing is added. */
enum error_code store_rollup_copy(struct db_session *s, const char *tenant,
                                  const struct load_rollup *rows, size_t count,
                                  struct error *err);

/* What there is. Instants; -HUGE_VAL: all. */
struct store_rollup_kept {
    double samples_from_s; /* before it all samples have been removed; the same: */
    double minutes_from_s, hours_from_s, days_from_s;
    double known_until_s; /* hours that begin before it are made, unless they are due */
};
enum error_code store_rollup_kept(struct db_session *s, struct store_rollup_kept *out,
                                  struct arena *a, struct error *err);

/* Samples with the measure in the hours that begin in the filter's range. */
enum error_code store_rollup_estimate(struct db_session *s, const char *tenant,
                                      const struct store_filter *filter,
                                      enum load_measure measure, uint64_t *count,
                                      struct arena *a, struct error *err);

/* One measure of a row, or of a sample: then its count is 1 and it has no sketch. */
struct store_rollup_point {
    double at_s;
    struct rollup_measure of;
};

/* What [from, to) of the filter has of the measure, as rows of at most `level_s` (60,
 * 3600 or 86400): as long ones as are made, kept and inside the range, samples for the
 * rest. In no order. */
enum error_code store_rollup_points(struct db_session *s, const char *tenant,
                                    const struct store_filter *filter,
                                    enum load_measure measure, double level_s,
                                    const struct store_rollup_kept *kept,
                                    const struct store_rollup_point **list, size_t *count,
                                    struct arena *a, struct error *err);

/* A page of rows of a level of the resource, by time and link. */
enum error_code store_rollups_list(struct db_session *s, const char *tenant,
                                   const struct store_filter *filter, double level_s,
                                   const struct store_page *page,
                                   const struct load_rollup **list, size_t *count,
                                   const char **next_token, struct arena *a,
                                   struct error *err);

#endif
