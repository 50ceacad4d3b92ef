/* coallocation_refine.h - what the stored past says of the links and sites of a decision
 * about parallel jobs, when it asks for that.
 *
 * A request struct T has the member `const struct co_from_history *from_history` and
 * CO_FROM_HISTORY_ROW, its answer `const struct co_history_basis *history_basis` and
 * CO_HISTORY_BASIS_ROW.
 *
 * Source: spec coallocation.md 5, 19.
 */
#ifndef GRIDPLAN_COALLOCATION_REFINE_H
#define GRIDPLAN_COALLOCATION_REFINE_H

#include "handlers/coallocation/coallocation_json.h"

struct co_from_history {
    bool links, transfer_bias;
    double idle_horizon_s; /* NAN: not asked for */
    double window_s, prior_weight;
    double at_s; /* instant; NAN: now */
};
extern const struct json_object co_from_history_json;

#define CO_FROM_HISTORY_ROW(T)                                                          \
    JSON_OBJECT(T, from_history, const struct co_from_history *, &co_from_history_json, \
                JSON_POINTER,                                                           \
                "What to take from the stored history, and not from the snapshot; "     \
                "default: nothing")

struct co_link_row {
    const char *from_site_id, *to_site_id;
    double bandwidth_mbps;
    uint64_t bucket_count;
};

struct co_bias_row {
    const char *from_site_id, *to_site_id;
    double factor;
    uint64_t transfer_count;
};

struct co_idle_row {
    const char *site_id;
    double stay_ratio;
    uint64_t bucket_count;
};

struct co_history_basis {
    const struct co_link_row *links;
    size_t link_count;
    const struct co_bias_row *transfer_biases;
    size_t bias_count;
    const struct co_idle_row *idle;
    size_t idle_count;
};
extern const struct json_object co_history_basis_json;

#define CO_HISTORY_BASIS_ROW(T)                                       \
    JSON_OBJECT(T, history_basis, const struct co_history_basis *,    \
                &co_history_basis_json, JSON_POINTER | JSON_OPTIONAL, \
                "What was found of what from_history asked for")

/* Changes the grid by what is stored of its sites; `in` NULL: nothing is asked for.
 * *warning (NULL: none) says that it could not be read, or that there is none. Kept with
 * a stored decision for its replay. Call it once the request has no mistakes. */
enum error_code co_refine(struct request *rq, const struct co_from_history *in,
                          struct co_grid *grid, const struct co_history_basis **basis,
                          const char **warning);

/* One more at the end of a list of warnings; NULL: nothing happens. */
void co_add_warning(const char *text, const char *const **list, size_t *count,
                    struct arena *a);

#endif
