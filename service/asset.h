/* asset.h - files that the program carries: migrations, examples, pages, the dashboard.
 *
 * embed.c makes the tables when the program is built; CMakeLists.txt says of which files.
 */
#ifndef GRIDPLAN_ASSET_H
#define GRIDPLAN_ASSET_H

#include "models/base/arena.h"
#include "models/base/error.h"

#include <stddef.h>

/* One file. Tables of them are ended by {0}. */
struct asset {
    const char *path;         /* "/ui/app.0123456789.js", "placement-mct.json" */
    const char *content_type; /* by the ending of the path */
    const char *sha256;       /* of the file: the first 16 hexadecimal digits */
    const char *data;         /* with a NUL behind it; NULL: only compressed */
    size_t length;            /* of the file */
    const char *gz;           /* compressed by gzip; NULL: only `data` */
    size_t gz_length;
};

/* migrations/NNNN_name.sql, plain, by number: the path is the name without its ending. */
extern const struct asset migrations[];
extern const size_t migration_count;

/* openapi/examples/, packed, by name. */
extern const struct asset example_files[];
extern const size_t example_file_count;

/* service/ui/, packed; what has a hash in its name is below /ui/. */
extern const struct asset ui_files[];
extern const size_t ui_file_count;

/* openapi/, packed: "CHANGES.md", "docs/which.md", "docs/algorithms/queue.easy.md". */
extern const struct asset doc_files[];
extern const size_t doc_file_count;

/* openapi/clients/, packed: "snakemake/gridplan_snakemake.py". */
extern const struct asset client_files[];
extern const size_t client_file_count;

/* The row of this path; NULL: none. */
const struct asset *asset_find(const struct asset *list, const char *path);

/* The file with a NUL behind it, inflated into the arena unless it is there already.
 * Fails without memory only. */
enum error_code asset_text(const struct asset *asset, const char **text, struct arena *a,
                           struct error *err);

#endif
