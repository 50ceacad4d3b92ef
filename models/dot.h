/* dot.h - workflows from graphs in the DOT language, as `snakemake --dag` prints them.
 *
 * Understood is a `digraph` of nodes and edges, chains a -> b -> c, attributes, bare and
 * quoted ids, and comments; an edge a -> b means that b needs a. A node's class is the
 * first line of its label, its id without one; a node whose style has "dashed" is done.
 * The attributes gridplan_estimate_ref_s, gridplan_cpus, gridplan_memory_bytes say what
 * the task takes; run times are not known otherwise. Refused are undirected graphs,
 * subgraphs, ports and labels in HTML.
 *
 * Source: Gansner, Koutsofios, North, "The DOT Language", of the Graphviz documentation;
 * output of Snakemake 7.21.
 */
#ifndef GRIDPLAN_DOT_H
#define GRIDPLAN_DOT_H

#include "models/workflow_build.h"

enum { DOT_EDGES_MAX = 1000000 };

/* Mistakes are collected in *err with `pointer`, each with its line. */
enum error_code dot_read(const char *text, size_t length, const char *pointer,
                         struct workflow_import *out, struct arena *a, struct error *err);

#endif
