/* store_coallocation.h - where copies of files are, and the history table of
 * Close-to-Files.
 *
 * As store.h, whose rules hold here. Decisions ask for all names at once: `ids` is a JSON
 * array of them.
 *
 * Source: spec coallocation.md 5, 6.2, 19.
 */
#ifndef GRIDPLAN_STORE_COALLOCATION_H
#define GRIDPLAN_STORE_COALLOCATION_H

#include "service/store.h"

/* ---- catalogue of replicas ---- */

struct store_replica {
    const char *file_id, *site_id;
    const char *url;     /* NULL: not known */
    double bytes;        /* NAN: not known */
    double updated_at_s; /* instant; set by the database */
};

/* Stores all or none. One that is known already (same file and site) is replaced; of
 * several in the list the last counts, and *stored counts them once. */
enum error_code store_replicas(struct db_session *s, const char *tenant,
                               const struct store_replica *list, size_t count,
                               size_t *stored, struct arena *a, struct error *err);

/* By file_id, then site_id (bytewise); NULL: any. Without a file_id, but with a site_id,
 * the cost grows with the catalogue, not with the page. *next_token is NULL on the last
 * page. */
enum error_code store_replicas_read(struct db_session *s, const char *tenant,
                                    const char *file_id, const char *site_id,
                                    const struct store_page *page,
                                    const struct store_replica **list, size_t *count,
                                    const char **next_token, struct arena *a,
                                    struct error *err);

/* Forgets the replicas of a file, of a site, or, with both, one; NULL: any. */
enum error_code store_replicas_delete(struct db_session *s, const char *tenant,
                                      const char *file_id, const char *site_id,
                                      size_t *deleted, struct error *err);

struct store_location {
    uint64_t file; /* index into the ids */
    const char *site_id, *url;
    double bytes;
};

/* All replicas of the files, by the place of the id, then by site_id. */
enum error_code store_replicas_find(struct db_session *s, const char *tenant,
                                    const char *ids, const struct store_location **list,
                                    size_t *count, struct arena *a, struct error *err);

/* ---- history table of Close-to-Files ---- */

struct store_pair {
    uint64_t execution, file; /* indexes into the ids */
};

/* The pairs of which both sites are among the ids, in their order. */
enum error_code store_history_pairs_find(struct db_session *s, const char *tenant,
                                         const char *ids, const struct store_pair **list,
                                         size_t *count, struct arena *a,
                                         struct error *err);

struct store_pair_uses {
    const char *execution_site_id, *file_site_id;
    uint64_t uses;
};

/* Adds pairs, each at most once in the list, and their uses to those that are known. */
enum error_code store_history_pairs(struct db_session *s, const char *tenant,
                                    const struct store_pair_uses *list, size_t count,
                                    struct arena *a, struct error *err);

#endif
