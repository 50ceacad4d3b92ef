/* coallocation/grid.c - a multicluster: sites, links, files with replicas. */
#include "algorithms/coallocation/grid.h"

#include "models/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSORS_MAX = 1000000000 };

const char *const co_file_mode_names[] = {"whole", "chunk", NULL};

/* A snapshot on its way to be a grid. */
struct reading {
    const struct co_snapshot *in;
    const char *pointer;
    struct co_grid *out;
    struct arena *arena;
    struct error *err;
};

/* A mistake in member `member` of element `i` of `list`. */
static void mistake(const struct reading *r, const char *list, size_t i,
                    const char *member, enum item_code code, const char *detail)
{
    char pointer[160];

    snprintf(pointer, sizeof(pointer), "%s/%s/%zu%s%s", r->pointer, list, i,
             member ? "/" : "", member ? member : "");
    invalid(r->err, pointer, code, "%s", detail);
}

/* CO_NONE after noting that there is no such site. */
static size_t site_of(const struct reading *r, const char *id, const char *list, size_t i,
                      const char *member)
{
    size_t site = co_site_find(r->out, id);

    if (site == CO_NONE)
        mistake(r, list, i, member, ITEM_UNKNOWN_ID, "the snapshot has no such site");
    return site;
}

/* ---- sites ---- */

static bool is_count(double number)
{
    return number >= 0 && number <= PROCESSORS_MAX && number == floor(number);
}

/* The number, or 0 where it is not known or wrong (then noted). */
static double count_of(const struct reading *r, size_t i, const char *member,
                       double number)
{
    if (isnan(number))
        return 0;
    if (is_count(number))
        return number;
    mistake(r, "sites", i, member, ITEM_OUT_OF_BOUNDS,
            "must be a whole number from 0 to 10^9");
    return 0;
}

static void read_site(const struct reading *r, size_t i, struct co_grid_site *out)
{
    const struct co_site *in = &r->in->sites[i];
    double total = count_of(r, i, "processors_total", in->processors_total);
    double taken = count_of(r, i, "processors_busy", in->processors_busy) +
                   count_of(r, i, "processors_erroneous", in->processors_erroneous);
    double idle = count_of(r, i, "processors_idle", in->processors_idle);

    *out = (struct co_grid_site){
        .id = in->id, .source = in, .total = in->processors_total, .usable = in->usable};
    out->outstanding =
        (size_t)count_of(r, i, "processors_outstanding", in->processors_outstanding);
    if (!isnan(in->processors_idle)) {
        out->idle = (size_t)idle;
        return;
    }
    if (isnan(in->processors_total))
        mistake(r, "sites", i, "processors_idle", ITEM_REQUIRED,
                "the member is missing: give processors_total, or processors_idle");
    out->inconsistent = taken > total;
    out->idle = taken > total ? 0 : (size_t)(total - taken);
}

struct named {
    const char *id;
    size_t index;
};

static int by_id(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->id, b->id);

    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static enum error_code read_sites(const struct reading *r)
{
    size_t count = r->in->site_count;
    struct named *order = NEW(r->arena, struct named, count);
    struct co_grid *out = r->out;

    out->sites = NEW(r->arena, struct co_grid_site, count);
    out->source_index = NEW(r->arena, size_t, count);
    name_index_create(&out->site_index, count, r->arena);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct named){r->in->sites[i].id, i};
    qsort(order, count, sizeof(*order), by_id);
    out->site_count = count;
    for (size_t s = 0; s < count; s++) {
        out->source_index[s] = order[s].index;
        read_site(r, order[s].index, &out->sites[s]);
        if (name_index_add(&out->site_index, order[s].id, s) != NAME_NOT_FOUND)
            mistake(r, "sites", order[s].index, "id", ITEM_DUPLICATE,
                    "another site has this id");
    }
    return OK;
}

/* ---- links ---- */

/* One direction; false: it is set already. */
static bool set_link(struct co_grid *out, size_t from, size_t to,
                     const struct co_link *link)
{
    size_t at = from * out->site_count + to;

    if (!isnan(out->bandwidth_mbps[at]))
        return false;
    out->bandwidth_mbps[at] = link->bandwidth_mbps;
    out->latency_s[at] = link->latency_s;
    return true;
}

static void read_link(const struct reading *r, size_t i)
{
    const struct co_link *link = &r->in->links[i];
    size_t from = site_of(r, link->from_site_id, "links", i, "from_site_id");
    size_t to = site_of(r, link->to_site_id, "links", i, "to_site_id");

    if (!(link->bandwidth_mbps >= 0 && link->bandwidth_mbps < HUGE_VAL))
        mistake(r, "links", i, "bandwidth_mbps", ITEM_OUT_OF_BOUNDS,
                "must be at least 0");
    else if (!(link->latency_s >= 0 && link->latency_s < HUGE_VAL))
        mistake(r, "links", i, "latency_s", ITEM_OUT_OF_BOUNDS, "must be at least 0");
    else if (from != CO_NONE && to != CO_NONE && !set_link(r->out, from, to, link))
        mistake(r, "links", i, NULL, ITEM_DUPLICATE,
                "this pair of sites is listed already, in the same direction");
}

static void read_links(const struct reading *r)
{
    const struct co_snapshot *in = r->in;
    struct co_grid *out = r->out;
    size_t count = out->site_count * out->site_count;
    double others = in->default_bandwidth_mbps > 0 ? in->default_bandwidth_mbps : 0;

    out->bandwidth_mbps = NEW(r->arena, double, count);
    out->latency_s = NEW(r->arena, double, count);
    for (size_t i = 0; i < count; i++)
        out->bandwidth_mbps[i] = (double)NAN;
    for (size_t i = 0; i < in->link_count; i++)
        read_link(r, i);
    for (size_t i = 0; i < in->link_count; i++) {
        const struct co_link *link = &in->links[i];
        size_t from = co_site_find(out, link->from_site_id);
        size_t to = co_site_find(out, link->to_site_id);

        if (link->symmetric && from != CO_NONE && to != CO_NONE)
            set_link(out, to, from, link);
    }
    for (size_t i = 0; i < count; i++)
        if (isnan(out->bandwidth_mbps[i]))
            out->bandwidth_mbps[i] = others;
}

/* ---- files ---- */

/* Every file, those that only replicas name behind the others. */
static enum error_code list_files(const struct reading *r)
{
    const struct co_snapshot *in = r->in;
    struct co_grid *out = r->out;
    size_t most = in->file_count + in->replica_count;

    out->files = NEW(r->arena, struct co_grid_file, most + 1);
    name_index_create(&out->file_index, most, r->arena);
    for (size_t i = 0; i < in->file_count; i++) {
        const struct co_file *file = &in->files[i];

        if (name_index_add(&out->file_index, file->id, i) != NAME_NOT_FOUND)
            mistake(r, "files", i, "id", ITEM_DUPLICATE, "another file has this id");
        out->files[i] = (struct co_grid_file){
            .id = file->id, .bytes = file->bytes, .mode = file->mode};
        if (file->bytes < 0 || file->bytes == HUGE_VAL)
            mistake(r, "files", i, "bytes", ITEM_OUT_OF_BOUNDS, "must be at least 0");
    }
    out->file_count = in->file_count;
    for (size_t i = 0; i < in->replica_count; i++) {
        const struct co_replica *replica = &in->replicas[i];

        if (name_index_add(&out->file_index, replica->file_id, out->file_count) ==
            NAME_NOT_FOUND)
            out->files[out->file_count++] = (struct co_grid_file){
                .id = replica->file_id, .bytes = (double)NAN, .mode = CO_WHOLE};
    }
    out->files[out->file_count].id = "";
    return OK;
}

struct copy {
    size_t file, site;
};

static int by_file_and_site(const void *left, const void *right)
{
    const struct copy *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* The replica's size is that of its file, which may be known from it only. */
static void read_size(const struct reading *r, size_t i, struct co_grid_file *file)
{
    double bytes = r->in->replicas[i].bytes;

    if (isnan(bytes))
        return;
    if (!(bytes >= 0 && bytes < HUGE_VAL))
        mistake(r, "replicas", i, "bytes", ITEM_OUT_OF_BOUNDS, "must be at least 0");
    else if (isnan(file->bytes))
        file->bytes = bytes;
    else if (file->bytes != bytes)
        mistake(r, "replicas", i, "bytes", ITEM_SIZES_DISAGREE,
                "the file, or another replica of it, has another size");
}

/* All replicas, from both lists, into copies[]; how many. */
static size_t gather_copies(const struct reading *r, struct copy *copies)
{
    const struct co_snapshot *in = r->in;
    size_t count = 0;

    for (size_t i = 0; i < in->file_count; i++)
        for (size_t k = 0; k < in->files[i].site_count; k++) {
            char member[48];
            size_t site;

            snprintf(member, sizeof(member), "site_ids/%zu", k);
            site = site_of(r, in->files[i].site_ids[k], "files", i, member);
            if (site != CO_NONE)
                copies[count++] = (struct copy){i, site};
        }
    for (size_t i = 0; i < in->replica_count; i++) {
        size_t file = co_file_find(r->out, in->replicas[i].file_id);
        size_t site = site_of(r, in->replicas[i].site_id, "replicas", i, "site_id");

        read_size(r, i, &r->out->files[file]);
        if (site != CO_NONE)
            copies[count++] = (struct copy){file, site};
    }
    return count;
}

static void check_sizes(const struct reading *r)
{
    for (size_t i = 0; i < r->in->file_count; i++)
        if (isnan(r->out->files[i].bytes))
            mistake(r, "files", i, "bytes", ITEM_REQUIRED,
                    "the member is missing, and no replica says it");
    for (size_t i = 0; i < r->in->replica_count; i++) {
        size_t file = co_file_find(r->out, r->in->replicas[i].file_id);

        if (file >= r->in->file_count && isnan(r->out->files[file].bytes))
            mistake(r, "replicas", i, "bytes", ITEM_REQUIRED,
                    "the member is missing, and no other replica says it");
    }
}

static enum error_code read_files(const struct reading *r)
{
    struct co_grid *out = r->out;
    size_t most = r->in->replica_count, kept = 0, count;
    struct copy *copies;
    size_t *sites;

    TRY(list_files(r));
    for (size_t i = 0; i < r->in->file_count; i++)
        most += r->in->files[i].site_count;
    copies = NEW(r->arena, struct copy, most);
    sites = NEW(r->arena, size_t, most);
    count = gather_copies(r, copies);
    check_sizes(r);
    qsort(copies, count, sizeof(*copies), by_file_and_site);
    for (size_t i = 0; i < count; i++) {
        struct co_grid_file *file = &out->files[copies[i].file];

        if (i > 0 && by_file_and_site(&copies[i - 1], &copies[i]) == 0)
            continue; /* a replica that is listed twice counts once */
        sites[kept] = copies[i].site;
        if (file->site_count++ == 0)
            file->sites = &sites[kept];
        kept++;
    }
    return OK;
}

static void read_history(const struct reading *r)
{
    const struct co_snapshot *in = r->in;
    size_t sites = r->out->site_count;
    char *known;

    if (!in->history_pairs)
        return;
    known = NEW(r->arena, char, sites *sites);
    for (size_t i = 0; i < in->history_pair_count; i++) {
        const struct co_named_pair *pair = &in->history_pairs[i];
        size_t execution =
            site_of(r, pair->execution_site_id, "history_pairs", i, "execution_site_id");
        size_t file = site_of(r, pair->file_site_id, "history_pairs", i, "file_site_id");

        if (execution != CO_NONE && file != CO_NONE)
            known[execution * sites + file] = 1;
    }
    r->out->history = known;
}

enum error_code co_grid_create(const struct co_snapshot *in, const char *pointer,
                               struct co_grid *out, struct arena *a, struct error *err)
{
    struct reading r = {in, pointer, out, a, err};

    *out = (struct co_grid){0};
    TRY(read_sites(&r));
    read_links(&r);
    TRY(read_files(&r));
    read_history(&r);
    return err->code;
}

/* ---- reading a grid ---- */

size_t co_site_find(const struct co_grid *grid, const char *id)
{
    return name_index_find(&grid->site_index, id);
}

size_t co_file_find(const struct co_grid *grid, const char *id)
{
    return name_index_find(&grid->file_index, id);
}

size_t co_available(const struct co_grid *grid, size_t site)
{
    const struct co_grid_site *s = &grid->sites[site];

    return s->usable && s->idle > s->outstanding ? s->idle - s->outstanding : 0;
}

size_t co_claimable(const struct co_grid *grid, size_t site)
{
    return grid->sites[site].usable ? grid->sites[site].idle : 0;
}

void co_available_all(const struct co_grid *grid, size_t *free_count)
{
    for (size_t s = 0; s < grid->site_count; s++)
        free_count[s] = co_available(grid, s);
}

double co_transfer_s(const struct co_grid *grid, size_t execution_site, size_t file_site,
                     double bytes)
{
    size_t at = file_site * grid->site_count + execution_site;

    if (execution_site == file_site || bytes == 0)
        return 0;
    if (!(grid->bandwidth_mbps[at] > 0))
        return HUGE_VAL;
    return transfer_s(bytes, grid->bandwidth_mbps[at], grid->latency_s[at]);
}

double co_replica_s(const struct co_grid *grid, size_t execution_site, size_t file,
                    double bytes, size_t *file_site)
{
    double best_s = HUGE_VAL;
    size_t best = CO_NONE;

    if (file == CO_NONE) {
        *file_site = CO_NONE;
        return 0;
    }
    for (size_t i = 0; i < grid->files[file].site_count; i++) {
        size_t from = grid->files[file].sites[i];
        double time_s = co_transfer_s(grid, execution_site, from, bytes);

        if (time_s < best_s) {
            best_s = time_s;
            best = from;
        }
    }
    *file_site = best;
    return best_s;
}

/* The times from one site to all others, where they are less than those known. */
static void nearer(const struct co_grid *grid, size_t from, double bytes, double *time_s,
                   size_t *file_site)
{
    const double *bandwidth_mbps = &grid->bandwidth_mbps[from * grid->site_count];
    const double *latency_s = &grid->latency_s[from * grid->site_count];

    for (size_t e = 0; e < grid->site_count; e++) {
        bool linked = bandwidth_mbps[e] > 0; /* no branch: compilers do two at once */
        double t_s = transfer_s(bytes, linked ? bandwidth_mbps[e] : 1, latency_s[e]);
        bool is_nearer = linked && t_s < time_s[e];

        time_s[e] = is_nearer ? t_s : time_s[e];
        file_site[e] = is_nearer ? from : file_site[e];
    }
    if (time_s[from] > 0) {
        time_s[from] = 0;
        file_site[from] = from;
    }
}

size_t co_reach_steps(const struct co_grid *grid, size_t file)
{
    return grid->site_count * (1 + (file == CO_NONE ? 0 : grid->files[file].site_count));
}

void co_replica_all(const struct co_grid *grid, size_t file, double bytes, double *time_s,
                    size_t *file_site)
{
    for (size_t e = 0; e < grid->site_count; e++) {
        time_s[e] = file == CO_NONE ? 0 : HUGE_VAL;
        file_site[e] = CO_NONE;
    }
    if (bytes == 0 && file != CO_NONE && grid->files[file].site_count > 0) {
        for (size_t e = 0; e < grid->site_count; e++) {
            time_s[e] = 0;
            file_site[e] = grid->files[file].sites[0];
        }
        return;
    }
    for (size_t i = 0; file != CO_NONE && i < grid->files[file].site_count; i++)
        nearer(grid, grid->files[file].sites[i], bytes, time_s, file_site);
}

enum error_code co_history_create(const struct co_grid *grid, struct co_history *out,
                                  struct arena *a)
{
    size_t count = grid->site_count * grid->site_count;

    *out = (struct co_history){grid->site_count, NULL};
    if (!grid->history)
        return OK;
    out->known = NEW(a, char, count);
    memcpy(out->known, grid->history, count);
    return OK;
}
