/* performance/search.h - the three stages that find the combinations of a set.
 *
 * Each stage fits every candidate to its runs and keeps a list: stage 1 functions of
 * N for the computation (runs on one processor), stage 2 those with functions of N
 * and of the bandwidth for the communication (two processors), stage 3 those with
 * functions of P (two and more). Kept is what is within a stage's limit and not more
 * than 20 % worse than its best; see perf_combination_compare() for the order.
 *
 * What the search returns is fitted to the rows it was given, statistics included.
 * Of this folder only.
 *
 * Source: spec performance-models.md 6.3, 6.4, 7; 003_a5f9349f46eae656 3.4.5-3.4.8.
 */
#ifndef GRIDPLAN_PERFORMANCE_SEARCH_H
#define GRIDPLAN_PERFORMANCE_SEARCH_H

#include "models/performance/performance.h"
#include "models/performance/row.h"

#define SEARCH_KEEP_FACTOR 1.2

/* Runs of one stage. */
struct search_rows {
    const struct perf_row *rows;
    size_t count;
};

struct search {
    const struct perf_options *options;
    struct budget *budget;
    struct perf_report *report; /* counts fits and cells, notes a cut */
    struct arena *arena;
};

enum error_code search_single(struct search *s, struct search_rows rows,
                              struct perf_list *out, struct error *err);

/* For every f_comp of `single`. */
enum error_code search_pairs(struct search *s, struct search_rows rows,
                             const struct perf_list *single, struct perf_list *out,
                             struct error *err);

/* For applications that need several processors: stages 1 and 2 in one, over all
 * candidates or by random search with pruning. */
enum error_code search_joint(struct search *s, struct search_rows rows,
                             struct perf_list *out, struct error *err);

enum error_code search_sorted(struct search *s, struct search_rows rows,
                              const struct perf_list *pairs, struct perf_list *out,
                              struct error *err);

/* Sorts a list and cuts it by the keep rule; what cannot be fitted goes. */
void search_keep(struct perf_list *list, size_t limit);

/* Sorts a list, best first. */
void search_sort(struct perf_list *list);

/* Fits every entry to the rows and sets its rank by the options. */
void search_refit(const struct search *s, struct search_rows rows,
                  struct perf_list *list);

#endif
