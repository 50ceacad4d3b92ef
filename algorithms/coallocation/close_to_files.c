/* coallocation/close_to_files.c - the site with the file, else the one nearest to it.
 *
 * A component goes to the first site (by name) that has its file and enough processors.
 * If there is none, it goes to the execution site E and the file site F with the least
 * transfer time among the pairs of the history table H, and then H gets E with every
 * replica of the file. H bounds the search in large grids; without one all pairs count.
 * A component without a file goes where worst_fit puts it.
 *
 * O(S) for a component, O(S R) once for a file.
 *
 * Source: 001_546dfcc428821807 4.3.1 (algorithm 1) [L831-L869]; spec coallocation.md 6.2.
 * Deviation: ties among pairs go to the first E, then the first F, by name; the source
 * says nothing. Where it is known how likely idle processors stay idle, it goes before
 * the name, also among the sites with the file. An H that knows no pair fails as in the
 * source, unless full_search_on_miss.
 */
#include "algorithms/coallocation/parts.h"

#include <math.h>

enum { FULL_SEARCH_ON_MISS = CO_COMMON_COUNT };

const struct param coallocation_close_to_files_params[] = {
    {"full_search_on_miss", 0, 1, 0,
     "Look at all pairs when the history table has none that will do", PARAM_BOOLEAN,
     NULL},
    {0},
};

/* The candidate with the least of time_s[]; CO_NONE: all are infinite. */
static size_t nearest(const struct co_state *s, const double *time_s)
{
    double best_s = HUGE_VAL;
    size_t best = CO_NONE;

    for (size_t e = 0; e < s->grid->site_count; e++)
        if (s->candidate[e] &&
            (time_s[e] < best_s || (best != CO_NONE && time_s[e] == best_s &&
                                    co_stays_longer(s->grid, e, best)))) {
            best_s = time_s[e];
            best = e;
        }
    return best;
}

/* A candidate that has the file: the first by name, or the one most likely to stay idle.
 */
static size_t with_file(const struct co_state *s, const struct co_grid_file *file)
{
    size_t best = CO_NONE;

    for (size_t i = 0; i < file->site_count; i++) {
        size_t e = file->sites[i];

        if (s->candidate[e] && (best == CO_NONE || co_stays_longer(s->grid, e, best)))
            best = e;
    }
    return best;
}

bool coallocation_close_to_files(struct co_state *s, const struct co_component *component,
                                 const double *param, struct co_choice *out)
{
    const struct co_grid_file *file;
    size_t site;

    if (component->file == CO_NONE)
        return co_choose_fullest(s, NULL, out);
    file = &s->grid->files[component->file];
    site = with_file(s, file);
    if (site != CO_NONE) {
        *out = (struct co_choice){site, site, 0};
        return true;
    }
    site = nearest(s, s->history_s);
    if (site != CO_NONE) {
        *out = (struct co_choice){site, s->history_file[site], s->history_s[site]};
    } else {
        if (param[FULL_SEARCH_ON_MISS] != 0)
            site = nearest(s, s->reach_s);
        if (site == CO_NONE)
            return false;
        *out = (struct co_choice){site, s->reach_file[site], s->reach_s[site]};
    }
    co_history_insert(s, site);
    return true;
}
