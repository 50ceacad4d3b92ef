/* workload_log.c - a stored workload as a job log, whatever it was stored as. */
#include "handlers/stored/workload_log.h"

#include "models/base/plural.h"
#include "models/slurm/rows.h"
#include "service/json.h"

#include <math.h>
#include <string.h>

enum { BYTE_STEPS = 4 }; /* bytes of a log that are read in a step */

const char *const workload_kinds[] = {"swf", "sacct", NULL};

static void count_lines(const char *text, size_t length, struct swf_counts *counts)
{
    const char *end = text + length;

    while (text < end) {
        const char *line = memchr(text, '\n', (size_t)(end - text));

        counts->lines++;
        text = line ? line + 1 : end;
    }
}

static struct workload_log log_of(const struct slurm_workload *workload,
                                  const struct slurm_records *records, struct arena *a)
{
    return (struct workload_log){
        .log = {workload->jobs, workload->job_count, workload->job_count, a},
        .header = {.version = NAN,
                   .unix_start_at_s = workload->begin_s,
                   .time_zone_s = NAN,
                   .max_jobs = NAN,
                   .max_records = NAN,
                   .max_nodes = NAN,
                   .max_procs = NAN},
        .counts = {.jobs = workload->job_count},
        .accounting = workload,
        .cut_rows = records->cut_rows,
        .broken_off = records->broken_off,
        .warned = records->warned,
    };
}

static enum error_code read_accounting(const char *text, size_t length,
                                       struct workload_log *out, struct arena *a,
                                       struct error *err)
{
    struct slurm_records *records = NEW(a, struct slurm_records, 1);
    struct slurm_workload *workload = NEW(a, struct slurm_workload, 1);

    records->updated_s = (double)NAN;
    TRY(slurm_records_read(text, length, "", records, a, err));
    slurm_workload_read(records, 0, workload, a);
    *out = log_of(workload, records, a);
    count_lines(text, length, &out->counts);
    return OK;
}

enum error_code workload_log_read(const char *format, const char *text, size_t length,
                                  struct workload_log *out, struct arena *a,
                                  struct error *err)
{
    if (strcmp(format, workload_kinds[WORKLOAD_AS_SACCT]) == 0)
        return read_accounting(text, length, out, a, err);
    out->accounting = NULL;
    return swf_read(text, length, &out->log, &out->header, &out->counts, a, err);
}

/* ---- accounting by rows ---- */

struct accounting_log {
    struct slurm_records records;
    struct slurm_rows *rows;
    struct slurm_workload workload;
    struct slurm_workload_reader *reader;
    struct arena *arena, *of_row;
};

/* slurm_row_fn */
static enum error_code take_row(void *context, enum slurm_kind kind, struct error *err)
{
    struct accounting_log *log = context;
    struct slurm_list *list = &log->records.of[kind];

    (void)err;
    if (kind == SLURM_JOB) {
        slurm_workload_row(log->reader, &list->records[0]);
        list->count = 0;
    } else /* it has no jobs; who reads on finds none */
        memset(log->records.of, 0, sizeof(log->records.of));
    arena_reset(log->of_row);
    return OK;
}

struct accounting_log *accounting_log_open(struct arena *a)
{
    struct accounting_log *log = NEW(a, struct accounting_log, 1);

    log->arena = a;
    log->of_row = arena_create_beside(a, arena_cap_bytes(a));
    log->reader = slurm_workload_open(0, &log->workload, a);
    log->rows = slurm_rows_open(&log->records, "", take_row, log, a);
    log->records.of[SLURM_JOB].records = NEW(a, struct slurm_record, 1);
    log->records.of[SLURM_JOB].size = 1;
    slurm_rows_use(log->rows, log->of_row);
    return log;
}

enum error_code accounting_log_feed(void *log, const char *piece, size_t length,
                                    struct error *err)
{
    struct accounting_log *to = log;

    TRY(json_go_on(length / BYTE_STEPS, err));
    return slurm_rows_feed(to->rows, piece, length, err);
}

enum error_code accounting_log_end(struct accounting_log *log, bool *needs_whole,
                                   struct workload_log *out, struct error *err)
{
    TRY(slurm_rows_end(log->rows, err));
    *needs_whole = slurm_rows_need_whole(log->rows);
    if (*needs_whole)
        return OK;
    slurm_workload_end(log->reader);
    *out = log_of(&log->workload, &log->records, log->arena);
    out->counts.lines = slurm_rows_line_count(log->rows);
    return OK;
}

/* ---- in pieces ---- */

/* store_piece_fn */
static enum error_code add_to_text(void *context, const char *piece, size_t length,
                                   struct error *err)
{
    char **end = context;

    (void)err;
    memcpy(*end, piece, length);
    *end += length;
    return OK;
}

enum error_code workload_text(struct db_session *db, const char *tenant,
                              enum store_trace_kind kind,
                              const struct store_trace *stored, const char **text,
                              size_t *length, struct arena *a, struct error *err)
{
    char *all, *end;

    if (!stored->piece_bytes) {
        *text = (const char *)stored->document.data;
        *length = stored->document.length;
        return OK;
    }
    all = end = NEW(a, char, stored->piece_bytes + 1);
    TRY(store_trace_pieces(db, tenant, kind, stored, add_to_text, &end, a, err));
    *text = all;
    *length = (size_t)(end - all);
    return OK;
}

/* store_piece_fn */
static enum error_code feed(void *context, const char *piece, size_t length,
                            struct error *err)
{
    TRY(json_go_on(length / BYTE_STEPS, err));
    return swf_reader_feed(context, piece, length, err);
}

static enum error_code load_swf(struct db_session *db, const char *tenant,
                                const struct store_trace *stored,
                                struct workload_log *out, struct arena *a,
                                struct error *err)
{
    struct swf_reader *reader = NEW(a, struct swf_reader, 1);

    out->accounting = NULL;
    out->log = (struct swf_log){.room = stored->record_count, .arena = a};
    out->log.jobs = NEW(a, struct swf_job, out->log.room);
    swf_reader_open(reader, swf_log_add, &out->log);
    TRY(store_trace_pieces(db, tenant, STORE_WORKLOAD, stored, feed, reader, a, err));
    TRY(swf_reader_end(reader, err));
    if (reader->counts.unsorted)
        swf_log_sort(&out->log);
    out->header = reader->header;
    out->counts = reader->counts;
    return OK;
}

static enum error_code load_accounting(struct db_session *db, const char *tenant,
                                       const struct store_trace *stored,
                                       bool *needs_whole, struct workload_log *out,
                                       struct arena *a, struct error *err)
{
    struct accounting_log *log = accounting_log_open(a);
    struct arena *of_piece = arena_create_beside(a, arena_cap_bytes(a));

    TRY(store_trace_pieces(db, tenant, STORE_WORKLOAD, stored, accounting_log_feed, log,
                           of_piece, err));
    arena_reset(of_piece);
    return accounting_log_end(log, needs_whole, out, err);
}

enum error_code workload_log_load(struct db_session *db, const char *tenant,
                                  const struct store_trace *stored,
                                  struct workload_log *out, struct arena *a,
                                  struct error *err)
{
    const char *text;
    size_t length;

    if (stored->piece_bytes &&
        strcmp(stored->format, workload_kinds[WORKLOAD_AS_SWF]) == 0)
        return load_swf(db, tenant, stored, out, a, err);
    if (stored->piece_bytes) {
        bool needs_whole;

        TRY(load_accounting(db, tenant, stored, &needs_whole, out, a, err));
        if (!needs_whole)
            return OK;
    }
    TRY(workload_text(db, tenant, STORE_WORKLOAD, stored, &text, &length, a, err));
    return workload_log_read(stored->format, text, length, out, a, err);
}

/* store_piece_fn */
static enum error_code add_to_hash(void *context, const char *piece, size_t length,
                                   struct error *err)
{
    TRY(json_go_on(length / BYTE_STEPS, err));
    hash_stream_add(context, piece, length);
    return OK;
}

enum error_code workload_sha256(struct db_session *db, const char *tenant,
                                enum store_trace_kind kind,
                                const struct store_trace *stored, char *hex,
                                struct arena *a, struct error *err)
{
    unsigned char digest[SHA256_BYTES];
    struct hash_stream hash;

    if (!stored->piece_bytes) {
        hash_sha256_hex(stored->document.data, stored->document.length, hex);
        return OK;
    }
    hash = hash_stream_open();
    TRY(hash_stream_end(
        &hash, store_trace_pieces(db, tenant, kind, stored, add_to_hash, &hash, a, err),
        digest, err));
    hash_hex(digest, hex);
    return OK;
}

const char *workload_left_out(const struct workload_log *w, bool on_cluster,
                              struct arena *a)
{
    const struct slurm_workload *from = w->accounting;
    size_t never = from ? from->never_ran + (on_cluster ? 0 : from->withdrawn_count) : 0;

    if (!from || from->not_ended + never + from->unusable + from->merged == 0)
        return NULL;
    return arena_printf(a,
                        "skipped: of accounting %s of jobs that had not ended, "
                        "%zu of jobs that never ran, %zu without an id, a state or a "
                        "submission, %zu of attempts before the last",
                        counted(from->not_ended, "row").text, never, from->unusable,
                        from->merged);
}

const char *workload_name(const struct slurm_names *names, double number, struct arena *a)
{
    if (names && number >= 1 && number <= (double)names->count)
        return names->name[(size_t)number];
    return arena_printf(a, "%.15g", number);
}
