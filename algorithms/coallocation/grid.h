/* coallocation/grid.h - a multicluster: sites, links, files with replicas.
 *
 * What a caller sees of the clusters (struct co_snapshot, with names) and the same ready
 * for policies (struct co_grid, with indexes). Sites are numbered in the byte-wise order
 * of their ids, so "alphabetical" in a rule is "lower index" in the code.
 *
 *     idle        processors that the site's own queueing system would grant now:
 *                 total - busy - erroneous, at least 0, or what the caller says
 *     outstanding placed by this scheduler and not claimed yet
 *     available   usable ? max(0, idle - outstanding) : 0    for placement
 *     claimable   usable ? idle : 0                          for claiming
 *
 *     T(E, F) = 0                                  F is E, or there is nothing to move
 *             = latency + 8 bytes / bandwidth      there is a link from F to E
 *             = infinity                           there is none
 *
 * Source: spec coallocation.md 2, 3.2, 5; 001_546dfcc428821807 2.2.1, 4.1, 5.1.4.
 */
#ifndef GRIDPLAN_COALLOCATION_GRID_H
#define GRIDPLAN_COALLOCATION_GRID_H

#include "models/base/error.h"
#include "models/base/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sites of a grid: it keeps a matrix of links. */
enum { CO_SITES_MAX = 1000 };

#define CO_NONE SIZE_MAX /* no site, no file */

/* ---- as a caller describes it ---- */

/* Numbers of processors are whole and >= 0; NAN: not known. */
struct co_site {
    const char *id;
    double processors_total;
    double processors_busy, processors_erroneous; /* NAN counts as 0 */
    double processors_idle; /* instead of the three above; NAN: worked out of them */
    double processors_outstanding; /* placed by this scheduler, not claimed yet */
    bool usable;                   /* false: the error counter took it out */
    bool supports_reservation;
    const char *const *capabilities;
    size_t capability_count;
    double measured_at_s; /* NAN: fresh */
};

struct co_link {
    const char *from_site_id, *to_site_id;
    double bandwidth_mbps; /* 0: no link, whatever the default says */
    double latency_s;
    bool symmetric; /* also good for the other direction, unless that is listed */
};

enum co_file_mode { CO_WHOLE, CO_CHUNK };
extern const char *const co_file_mode_names[];

struct co_file {
    const char *id;
    double bytes; /* NAN: what its replicas say */
    enum co_file_mode mode;
    const char *const *site_ids; /* sites with a copy, beside the replicas */
    size_t site_count;
};

struct co_replica {
    const char *file_id, *site_id;
    const char *url; /* NULL: not said */
    double bytes;    /* NAN: what the file says */
};

/* A row of the history table of Close-to-Files. */
struct co_named_pair {
    const char *execution_site_id, *file_site_id;
};

struct co_snapshot {
    double taken_at_s; /* NAN: not said */
    const struct co_site *sites;
    size_t site_count;
    const struct co_link *links;
    size_t link_count;
    double default_bandwidth_mbps; /* of pairs without a link; NAN: none */
    const struct co_file *files;   /* may be left out: mode whole */
    size_t file_count;
    const struct co_replica *replicas;
    size_t replica_count;
    const struct co_named_pair *history_pairs; /* NULL: all pairs; empty: none */
    size_t history_pair_count;
};

/* ---- as policies see it ---- */

struct co_grid_site {
    const char *id;
    const struct co_site *source;
    double total; /* NAN: not known */
    size_t idle, outstanding;
    bool usable;
    bool inconsistent; /* busy + erroneous > total: idle is 0 */
};

struct co_grid_file {
    const char *id;
    double bytes;
    enum co_file_mode mode;
    const size_t *sites; /* with a replica, ascending, each once */
    size_t site_count;   /* 0: no replica */
};

struct co_grid {
    size_t site_count;
    struct co_grid_site *sites; /* by id */
    size_t *source_index;       /* position of each site in the snapshot */
    size_t file_count;
    struct co_grid_file *files; /* files[file_count]: any file that the snapshot does not
                                   have; it has no replica */
    double *bandwidth_mbps;     /* [from * site_count + to]; 0: no link */
    double *latency_s;          /* likewise; NULL: none has any */
    const char *history; /* [execution * site_count + file]: 1, a pair of the history
                            table; NULL: all pairs */
    const double *stays; /* of each site: how likely what is idle now stays idle until a
                            job starts, 0..1; breaks ties; NULL: not known */
    struct name_index site_index, file_index;
};

/* Checks what a snapshot says and notes every mistake in *err with its pointer below
 * `pointer` ("/snapshot"): unknown and repeated sites, files and pairs of sites, sizes
 * that disagree, processors that are no whole numbers. O(S^2 + links + replicas log). */
enum error_code co_grid_create(const struct co_snapshot *in, const char *pointer,
                               struct co_grid *out, struct arena *a, struct error *err);

/* Index of a site, of a file; CO_NONE if there is none. */
size_t co_site_find(const struct co_grid *grid, const char *id);
size_t co_file_find(const struct co_grid *grid, const char *id);

/* Processors that a placement may use now, that a claim may take now. */
size_t co_available(const struct co_grid *grid, size_t site);
size_t co_claimable(const struct co_grid *grid, size_t site);

/* co_available() of every site into free_count[site_count]. */
void co_available_all(const struct co_grid *grid, size_t *free_count);

/* T(E, F) in seconds for `bytes`; infinite without a link. */
double co_transfer_s(const struct co_grid *grid, size_t execution_site, size_t file_site,
                     double bytes);

/* The replica with the least T; ties to the lower index. *file_site CO_NONE when no
 * replica reaches the site (then the time is infinite), or there is no file (CO_NONE;
 * then it is 0). */
double co_replica_s(const struct co_grid *grid, size_t execution_site, size_t file,
                    double bytes, size_t *file_site);

/* co_replica_s() of every site at once, which is quicker. */
void co_replica_all(const struct co_grid *grid, size_t file, double bytes, double *time_s,
                    size_t *file_site);

/* What either costs for all sites, about: looks at pairs of sites. */
size_t co_reach_steps(const struct co_grid *grid, size_t file);

/* Of two sites that are alike otherwise: whether the first goes before the second for
 * what is known of them. */
static inline bool co_stays_longer(const struct co_grid *grid, size_t first,
                                   size_t second)
{
    return grid->stays && grid->stays[first] > grid->stays[second];
}

/* ---- what the past says of a grid (refine.c) ---- */

/* Transfers over one link: the mean of ln(actual / estimated) of so many. */
struct co_link_bias {
    size_t from, to; /* sites */
    double count, mean_log_ratio;
};

/* Corrects T of each link: times the factor exp(b), where b is the mean of its transfers,
 * drawn by a weight of so many transfers towards that of all links of the list, which is
 * drawn so towards 0; links without any get the latter. */
void co_correct_links(struct co_grid *grid, const struct co_link_bias *list, size_t count,
                      double prior_weight, struct arena *a);

/* Share of the instants of a series after which a value did not fall for horizon_s,
 * (n + 1) / (all + 2); NAN: no instant has so much after it. at_s ascends. O(count^2) at
 * worst, O(count * values in the horizon). */
double co_stay_ratio(const double *at_s, const double *value, size_t count,
                     double horizon_s);

/* ---- the history table of Close-to-Files, which it fills ---- */

struct co_history {
    size_t site_count;
    char *known; /* [execution * site_count + file]; NULL: all pairs */
};

/* A copy of the grid's own that placements may change. */
enum error_code co_history_create(const struct co_grid *grid, struct co_history *out,
                                  struct arena *a);

#endif
