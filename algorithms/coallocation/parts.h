/* coallocation/parts.h - what the driver, the policies and the split share. */
#ifndef GRIDPLAN_COALLOCATION_PARTS_H
#define GRIDPLAN_COALLOCATION_PARTS_H

#include "algorithms/coallocation/coallocation.h"

/* Components that the split of a flexible job may make. */
enum { CO_SPLIT_MAX = 100000 };

/* Transfer times of one file to every site, and the pairs that were added to the history
 * table during a placement. */
struct co_cache {
    bool filled;
    size_t file; /* of the lists */
    double bytes;
    double *reach_s, *history_s;
    size_t *reach_file, *history_file;
    struct co_pair *added;
    size_t added_count, added_size;
    size_t last_site, last_file; /* of the last pairs */
    struct arena *arena;
};

/* A state with room for its lists; `available` is copied. */
void co_state_create(const struct co_place_in *in, struct co_state *out, struct arena *a);

/* Fills the state's lists for a component's file. O(S R), nothing for the same file. */
void co_state_reach(struct co_state *s, const struct co_component *component);

/* Adds (site, F) for every replica F of the file at hand to the history table. */
void co_history_insert(struct co_state *s, size_t site);

/* The pairs that were added, sorted, each once. */
void co_state_added(struct co_state *s, const struct co_pair **list, size_t *count);

/* Why the job must not use a site; CO_NO_REASON: it may. */
enum co_reason co_site_bar(const struct co_grid *grid, const struct co_job *job,
                           size_t site, bool avoid);

/* The same of every site. */
void co_site_bars(const struct co_grid *grid, const struct co_job *job, bool avoid,
                  char *bars);

/* The site of the candidates with most processors left, which some replica reaches; with
 * `among`, one of these if there is any. */
bool co_choose_fullest(const struct co_state *s, const bool *among,
                       struct co_choice *out);

/* Positions of components in the order in which they are placed: those with a site
 * first, then by decreasing size. */
void co_component_order(const struct co_component *components, size_t count,
                        size_t **order, struct arena *a);

/* Places components one by one; out->placed false: refused, with the reason. `avoid`:
 * not on the sites to avoid. */
void co_place_components(const struct co_place_in *in, const struct policy *policy,
                         const struct co_component *components, size_t count, bool avoid,
                         struct co_placement *out, struct arena *a);

/* Both lists of pairs into the second: what a first try added stays in the history
 * table. */
void co_merge_added(const struct co_placement *first, struct co_placement *second,
                    struct arena *a);

/* split.c: a flexible job. */
enum error_code co_place_flexible(const struct co_place_in *in, bool avoid,
                                  struct co_placement *out, struct arena *a,
                                  struct error *err);

/* pack.c: components that the policy could not place one by one, all at once. *cut: the
 * search did not end. */
void co_pack(const struct co_place_in *in, const struct co_component *components,
             size_t count, bool avoid, struct co_choice *choices, bool *found, bool *cut,
             struct arena *a);

/* bound.c: with `avoid`, the sites to avoid are none. */
enum error_code co_bound(const struct co_place_in *in,
                         const struct co_component *components, size_t count, bool avoid,
                         double *bound_s, struct arena *a, struct error *err);

#endif
