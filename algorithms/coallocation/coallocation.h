/* coallocation/coallocation.h - a parallel job over several clusters, near its files.
 *
 * A job has components, each a number of processors on one site and at most one input
 * file. A placement gives every component an execution site with enough available
 * processors and a file site to copy its file from. A policy chooses for one component
 * at a time; the driver goes through them, those with a fixed site first, then by
 * decreasing size, and keeps the count of what is left. A flexible job says only how many
 * processors it wants: its policy splits them first.
 *
 * Times are seconds, FTT is the longest transfer of a job. Everything is deterministic;
 * ties go to the lower index, that is, to the site that comes first by name, or to the
 * component that comes first in the request.
 *
 * Source: spec coallocation.md 3, 6; 001_546dfcc428821807 (H. H. Mohamed, KOALA, 2007)
 * 2.2.2, 3.1, 4.3.
 */
#ifndef GRIDPLAN_COALLOCATION_H
#define GRIDPLAN_COALLOCATION_H

#include "algorithms/coallocation/grid.h"
#include "models/base/budget.h"
#include "models/base/policy.h"

/* ---- jobs ---- */

enum co_request_type { CO_NON_FIXED, CO_FIXED, CO_SEMI_FIXED, CO_FLEXIBLE };
extern const char *const co_request_type_names[]; /* ended by NULL */

/* Ranks of jobs, the least first. */
enum co_level { CO_SUPER_LOW, CO_LOW, CO_HIGH, CO_SUPER_HIGH, CO_LEVEL_COUNT };
extern const char *const co_level_names[]; /* ended by NULL */

struct co_component {
    const char *id;
    size_t processors; /* >= 1 */
    size_t fixed_site; /* given by the user; CO_NONE: free */
    size_t file;       /* CO_NONE: no input */
    double bytes;      /* of the file or of its chunk */
};

/* Why a site is not for a job, or a component has no site. */
enum co_reason {
    CO_NO_REASON, /* as an answer: not_tried, the time was up */
    CO_NOT_USABLE,
    CO_CAPABILITY,
    CO_AVOIDED,
    CO_ALREADY_USED, /* components on distinct sites */
    CO_TOO_FEW_PROCESSORS,
    CO_NO_HISTORY_PAIR,
    CO_NO_LINK,
    /* of a component only: */
    CO_NO_REPLICA,
    CO_FIXED_SITE_FULL,
    CO_NO_SITE_WITH_ENOUGH_PROCESSORS,
    CO_BOUNDS, /* the bounds of a flexible job */
    CO_REASON_COUNT,
};
extern const char *const co_reason_names[]; /* ended by NULL */

struct policy;

struct co_job {
    const char *id;
    enum co_request_type type;
    const struct policy *policy;
    const double *param; /* bound by policy_bind() */
    enum co_level level;
    bool atomic;        /* all components or none */
    size_t min_placed;  /* not atomic: so many components at least; >= 1 */
    bool distinct;      /* components on different sites */
    const char *barred; /* of each site: enum co_reason why the job must not use it,
                           0: it may; NULL: it may use every site that is usable */
    bool avoid_soft;    /* CO_AVOIDED sites are tried when it fails without them */
    const struct co_component *components; /* not flexible */
    size_t component_count;
    /* Flexible: the scheduler makes the components. */
    size_t total_processors;
    size_t min_components, max_components; /* max 0: no limit */
    size_t min_processors, max_processors; /* of a component; max 0: no limit */
    bool equal_components;
    size_t file; /* which every component reads; CO_NONE: none */
};

/* ---- placements ---- */

struct co_choice {
    size_t site;       /* CO_NONE: not placed */
    size_t file_site;  /* CO_NONE: no input */
    double transfer_s; /* T(site, file_site) */
};

struct co_pair {
    size_t execution_site, file_site;
};

struct co_transfer {
    size_t file, from_site, to_site;
    double bytes, estimated_s;
};

struct co_placement {
    bool placed;
    const struct co_component *components; /* the job's, or those of the split */
    size_t component_count;
    struct co_choice *choices; /* of each component */
    size_t placed_count;       /* less than component_count: only if not atomic */
    size_t site_count;         /* distinct execution sites */
    double ftt_s;
    double lower_bound_s;        /* no placement has a smaller FTT */
    double gap_ratio;            /* NAN: the bound is 0 and the FTT is not */
    const struct co_pair *added; /* inserted into the history table, sorted, also when
                                    the job was refused */
    size_t added_count;
    const char *algorithm; /* the policy that placed the components */
    bool avoided_used;     /* only with the sites to avoid a place was found */
    bool cut;              /* pack_retry was stopped by the time limit */
    /* Refused: */
    size_t failed_component; /* CO_NONE: none in particular (a split) */
    enum co_reason reason;
    size_t reason_count[CO_REASON_COUNT]; /* every site counts once */
    size_t nearest_site;                  /* CO_NONE: none has too few processors */
    size_t processors_short;              /* what it lacks */
    bool never_fits;                      /* not even on an empty grid */
};

struct co_place_in {
    const struct co_grid *grid;
    const struct co_job *job;
    const size_t *available;    /* of each site; not changed */
    struct co_history *history; /* Close-to-Files adds pairs */
    struct budget *budget;      /* NULL: none */
};

/* Places one job. Refusing it is an answer, not an error. O(C log C + C S), and once for
 * each file O(S R). */
enum error_code co_place(const struct co_place_in *in, struct co_placement *out,
                         struct arena *a, struct error *err);

/* Takes the processors of a placement from available[]. */
void co_hold(const struct co_placement *placement, size_t *available);

/* The transfers of a placement: one for each whole file and pair of sites, one for each
 * chunk; none inside a site. In the order of the components. */
void co_transfers(const struct co_grid *grid, const struct co_placement *placement,
                  const struct co_transfer **list, size_t *count, struct arena *a);

/* ---- policies ---- */

/* One placement under way, which policies look at. */
struct co_state {
    const struct co_grid *grid;
    const struct co_job *job;
    size_t *available;     /* what is left of each site */
    bool *used;            /* sites with a component of this job */
    const bool *candidate; /* sites the component may have: it fits, no rule forbids it */
    const double *reach_s; /* T from the best replica to each site; 0 without input */
    const size_t *reach_file; /* that replica; CO_NONE: none reaches the site */
    struct co_history *history;
    const double *history_s; /* T from the best replica in the history table */
    const size_t *history_file;
    struct co_cache *cache; /* parts.h: behind the four lists */
};

/* The site and the replica for one component; false: none. */
typedef bool co_choose_fn(struct co_state *s, const struct co_component *component,
                          const double *param, struct co_choice *out);

/* How a policy splits a flexible job. */
enum co_split_rule {
    CO_SPLIT_NONE,
    CO_SPLIT_FULLEST,
    CO_SPLIT_BALANCED,
    CO_SPLIT_NEAREST
};

enum co_policy_flag {
    CO_FLEXIBLE_ONLY = 1, /* takes no other jobs */
    CO_USES_HISTORY = 2,  /* only pairs of the history table */
    CO_NEEDS_DATA = 4,    /* only sites that have the file */
};

/* What runs a policy of this table. */
static inline co_choose_fn *co_choose_fn_of(const struct policy *policy)
{
    return (co_choose_fn *)policy->run;
}

/* CO_SPLIT_NONE: it takes no flexible jobs. */
static inline enum co_split_rule co_split_of(const struct policy *policy)
{
    return *(const enum co_split_rule *)policy->traits;
}

/* clang-format off */
/* Every placement policy: name, abbreviation, rule for flexible jobs, flags, purpose,
 * source. To add one, write coallocation/NAME.c with coallocation_NAME() and
 * coallocation_NAME_params[], and its row here. */
#define COALLOCATION_POLICIES(X)                                                         \
    X(close_to_files, "CF", CO_SPLIT_NEAREST, CO_USES_HISTORY,                           \
      "A site with the file, else the one that it gets to soonest",                      \
      FROM(CITES(IN_WORK(mohamed2007, "chapter 4.3.1")), BUT("Ties go to the site whose idle processors are most likely to stay idle where that is known, else by name")))                                                      \
    X(cluster_minimisation, "CM", CO_SPLIT_FULLEST, 0,                                   \
      "Few sites, so little traffic between them", FROM(CITES(IN_WORK(mohamed2007, NULL)), BUT("The work names the policy; the rule is ours: most processors left among the sites that the job uses already, else among all")))                \
    X(data_present, NULL, CO_SPLIT_NONE, CO_NEEDS_DATA,                                  \
      "Only sites that have the file", FROM(CITES(IN_WORK(mohamed2007, "chapter 2.4")), BUT("The first site by name with the file and enough processors; components without a file go by worst_fit")))                             \
    X(flexible_cluster_minimisation, "FCM", CO_SPLIT_FULLEST, CO_FLEXIBLE_ONLY,          \
      "Splits a flexible job over few sites", FROM(CITES(IN_WORK(mohamed2007, NULL)), BUT("The work names the policy; the rule is ours: the split fills the sites with most processors first")))                     \
    X(gridbus, "GB", CO_SPLIT_NONE, 0,                                                   \
      "The first replica, then the site with the widest link to it",                     \
      FROM(CITES(IN_WORK(mohamed2007, "chapter 2.4")), BUT("The file comes from the first replica by name, and ties go to the first site by name")))                                                        \
    X(worst_fit, "WF", CO_SPLIT_BALANCED, 0,                                             \
      "The site with most processors left", FROM(CITES(IN_WORK(mohamed2007, "chapter 4.3.2")), BUT("Ties go to the site whose idle processors are most likely to stay idle where that is known, else by name")))
/* clang-format on */

#define X(name, abbreviation, split, flags, purpose, source) \
    co_choose_fn coallocation_##name;                        \
    extern const struct param coallocation_##name##_params[];
COALLOCATION_POLICIES(X)
#undef X

extern const struct policy coallocation_policies[]; /* sorted by name, ended by {0} */

/* Options that every policy takes; its own begin at CO_COMMON_COUNT. */
enum co_common {
    CO_L_INITIAL,
    CO_PACK_RETRY,
    CO_CACHE_EXPIRY_S,
    CO_MIN_CLAIM_INTERVAL_S,
    CO_RESERVATION_MARGIN,
    CO_COMMON_COUNT,
};
extern const struct param co_common_params[];

/* ---- for claiming: one component by itself ---- */

/* The job's policy chooses a site for `component` alone; a flexible job is placed by the
 * policy that places its parts. `used`: sites with other components of the job, for
 * cluster_minimisation and distinct sites; NULL: none. *found false: no site. The pairs
 * that Close-to-Files adds go into *added. Only job->barred with CO_AVOIDED is passed
 * over if avoid_soft, once no other site will do. */
void co_choose(const struct co_place_in *in, const struct co_component *component,
               const bool *used, struct co_choice *out, bool *found,
               const struct co_pair **added, size_t *added_count, struct arena *a);

/* ---- bound.c ---- */

/* No placement of the components on these processors has a smaller FTT; infinite: they
 * cannot be placed. Flexible: of `total` processors. O(S C log). */
enum error_code co_ftt_bound(const struct co_place_in *in,
                             const struct co_component *components, size_t count,
                             double *bound_s, struct arena *a, struct error *err);

/* Whether a job could never be placed, however empty the grid is (spec 3.4). */
bool co_never_fits(const struct co_grid *grid, const struct co_job *job);

#endif
