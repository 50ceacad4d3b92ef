/* cws_graph.h - the abstract graph of a run of nf-cws, and how far from its end each
 * process is.
 *
 * Which tasks wait for which is never said, only which processes do. So a task is as
 * urgent as its process: by the longest path, in seconds of mean run times, from its
 * vertex to the end of the graph, itself included. What is no process takes no time.
 */
#ifndef GRIDPLAN_CWS_GRAPH_H
#define GRIDPLAN_CWS_GRAPH_H

#include "models/base/budget.h"
#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CWS_VERTICES_MAX = 10000, /* of a run */
    CWS_EDGES_MAX = 100000
};

#define CWS_NO_VERTEX ((size_t)-1)

struct cws_vertex {
    uint64_t uid;
    const char *label; /* of a process: its name; NULL: none */
    const char *kind;  /* "PROCESS", "OPERATOR", "ORIGIN", "NODE" or another word */
};

struct cws_edge {
    uint64_t uid, from_uid, to_uid;
};

/* Lists as they are sent. `ignored`: elements without a number, or edges without an end,
 * which say nothing. Without any text: an empty list. ERR_MALFORMED: no list of objects
 * or numbers. */
enum error_code cws_vertices_read(const char *text, size_t length,
                                  struct cws_vertex **list, size_t *count,
                                  size_t *ignored, struct arena *a, struct error *err);
enum error_code cws_edges_read(const char *text, size_t length, struct cws_edge **list,
                               size_t *count, size_t *ignored, struct arena *a,
                               struct error *err);

/* Numbers of what is to go: a list of them, or of objects that have them. */
enum error_code cws_uids_read(const char *text, size_t length, uint64_t **list,
                              size_t *count, size_t *ignored, struct arena *a,
                              struct error *err);

bool cws_is_process(const struct cws_vertex *vertex);

/* rank_s[vertex_count] from time_s[vertex_count], seconds >= 0. Edges count in their
 * order: one that closes a cycle is cut (*cut_count), one whose end is not there is not
 * looked at (*loose_count).
 * Source: D. J. Pearce and P. H. J. Kelly 2007, "A Dynamic Topological Sort Algorithm for
 * Directed Acyclic Graphs". O(vertices + edges) without a cycle and with edges in the
 * order of their vertices, else O(edges * (vertices + edges)) at worst. */
void cws_ranks(const struct cws_vertex *vertices, const double *time_s,
               size_t vertex_count, const struct cws_edge *edges, size_t edge_count,
               double *rank_s, size_t *cut_count, size_t *loose_count,
               struct budget *budget, struct arena *a);

#endif
