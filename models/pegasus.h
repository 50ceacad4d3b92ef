/* pegasus.h - workflows of Pegasus 5, in YAML.
 *
 * Of the document are read `jobs` with their id, name (the class), uses, and the profiles
 * pegasus (runtime in seconds, cores, memory and diskspace in MB of 10^6 bytes) and
 * globus (maxWallTime or maxwalltime, in minutes), and `jobDependencies`. Who reads what
 * another writes depends on it, too. Numbers may stand in quotes, and memory have a unit:
 * "2 GB", each of which is 1024 of the one below. The size of a file may stand in its
 * metadata. Other members are not looked at.
 *
 * Source: Pegasus 5.0, "Workflow API", schema wf-5.0.yml; YAML as in yaml.h.
 */
#ifndef GRIDPLAN_PEGASUS_H
#define GRIDPLAN_PEGASUS_H

#include "models/workflow_build.h"

/* Mistakes are collected in *err with `pointer`, each with its line. */
enum error_code pegasus_read(const char *text, size_t length, const char *pointer,
                             struct workflow_import *out, struct arena *a,
                             struct error *err);

#endif
