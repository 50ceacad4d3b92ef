/* simulation_kept.c - rows of a run of the grid simulator, as bytes.
 *
 * One function for each kind of row says what is in it, in both directions.
 */
#include "handlers/simulation/simulation_kept.h"

#include <string.h>

struct packing {
    unsigned char *data; /* written so far, or all there is to read */
    size_t length, size, at;
    bool is_read, failed;
    struct arena *arena;
};

static void make_room(struct packing *p, size_t length)
{
    size_t size = 2 * (p->size + length);
    unsigned char *data;

    if (p->size - p->length >= length)
        return;
    data = GROW(p->arena, p->data, unsigned char, p->length, size);
    p->data = data;
    p->size = size;
}

static void pack_bytes(struct packing *p, void *value, size_t length)
{
    if (p->failed)
        return;
    if (p->is_read) {
        p->failed = p->length - p->at < length;
        if (!p->failed)
            memcpy(value, p->data + p->at, length);
        p->at += p->failed ? 0 : length;
        return;
    }
    make_room(p, length);
    memcpy(p->data + p->length, value, length);
    p->length += length;
}

#define PACK(p, member) pack_bytes(p, &(member), sizeof(member))

/* With its end; NULL has the length 0. */
static void pack_text(struct packing *p, const char **text)
{
    const char *old = p->is_read ? NULL : *text;
    uint64_t length = old ? strlen(old) + 1 : 0;
    char *copy = NULL;

    PACK(p, length);
    if (p->is_read)
        *text = NULL;
    if (p->failed || length == 0)
        return;
    if (!p->is_read || length <= p->length - p->at)
        copy = NEW(p->arena, char, length);
    if (!copy) {
        p->failed = true;
        return;
    }
    if (old)
        memcpy(copy, old, length);
    pack_bytes(p, copy, length);
    p->failed = p->failed || copy[length - 1] != '\0';
    *text = copy;
}

static void pack_resource(struct packing *p, void *at)
{
    struct sim_resource_row *row = at;

    pack_text(p, &row->resource_id);
    pack_text(p, &row->site_id);
    PACK(p, row->mips_total);
    PACK(p, row->availability_ratio);
    PACK(p, row->downtime_s);
    PACK(p, row->non_idle_s);
    PACK(p, row->fully_loaded_s);
    PACK(p, row->processed_mi);
    PACK(p, row->failures);
    PACK(p, row->copies_started);
    PACK(p, row->jobs_done);
    PACK(p, row->received_bytes);
    PACK(p, row->sent_bytes);
}

static void pack_storage(struct packing *p, void *at)
{
    struct sim_storage_row *row = at;

    pack_text(p, &row->storage_id);
    PACK(p, row->used_mean_bytes);
    PACK(p, row->used_end_bytes);
    PACK(p, row->refused_count);
}

static void pack_path(struct packing *p, void *at)
{
    struct sim_path_row *row = at;

    pack_text(p, &row->from_node_id);
    pack_text(p, &row->to_node_id);
    PACK(p, row->jobs_allocated);
    PACK(p, row->jobs_allocated_ratio);
    PACK(p, row->transfer_count);
    PACK(p, row->bytes);
}

static void pack_job(struct packing *p, void *at)
{
    struct sim_job_row *row = at;

    PACK(p, row->number);
    PACK(p, row->given);
    PACK(p, row->state);
    PACK(p, row->length_mi);
    PACK(p, row->arrival_s);
    PACK(p, row->start_s);
    PACK(p, row->finish_s);
    pack_text(p, &row->resource_id);
    PACK(p, row->started_count);
    PACK(p, row->failed_count);
    PACK(p, row->checkpoint_count);
    PACK(p, row->processed_mi);
}

static void pack_log(struct packing *p, void *at)
{
    struct sim_log_row *row = at;

    PACK(p, row->at_s);
    PACK(p, row->kind);
    PACK(p, row->job_number);
    pack_text(p, &row->resource_id);
    PACK(p, row->value);
}

/* Rows of such a size; returns them, or those that were read. */
static const void *pack_rows(struct packing *p, const void *list, size_t *count,
                             size_t size, void (*pack_row)(struct packing *p, void *row))
{
    char *rows;

    PACK(p, *count);
    if (p->failed || (p->is_read && *count > p->length - p->at)) {
        p->failed = true; /* a row has more bytes than one */
        return NULL;
    }
    rows = arena_alloc(p->arena, size, *count);
    if (list && !p->is_read)
        memcpy(rows, list, size * *count);
    for (size_t i = 0; i < *count && !p->failed; i++)
        pack_row(p, rows + i * size);
    return rows;
}

static void pack_all(struct packing *p, struct sim_run_out *run)
{
    run->resources = pack_rows(p, run->resources, &run->resource_count,
                               sizeof(*run->resources), pack_resource);
    run->storages = pack_rows(p, run->storages, &run->storage_count,
                              sizeof(*run->storages), pack_storage);
    run->paths =
        pack_rows(p, run->paths, &run->path_count, sizeof(*run->paths), pack_path);
    run->jobs = pack_rows(p, run->jobs, &run->job_count, sizeof(*run->jobs), pack_job);
    run->log = pack_rows(p, run->log, &run->log_count, sizeof(*run->log), pack_log);
}

struct experiment_bytes simulation_pack(const struct sim_run_out *run, struct arena *a)
{
    struct packing p = {.arena = a};
    struct sim_run_out copy = *run;

    pack_all(&p, &copy);
    return (struct experiment_bytes){p.data, p.length};
}

bool simulation_unpack(struct experiment_bytes bytes, struct sim_run_out *run,
                       struct arena *a)
{
    struct packing p = {.is_read = true, .length = bytes.length, .arena = a};
    struct sim_run_out read = {.status = DECISION_FEASIBLE};

    p.data = NEW(a, unsigned char, bytes.length);
    memcpy(p.data, bytes.data, bytes.length);
    pack_all(&p, &read);
    if (p.failed || p.at != p.length)
        return false;
    *run = read;
    return true;
}
