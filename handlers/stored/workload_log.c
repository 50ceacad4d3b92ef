/* workload_log.c - a stored workload as a job log, whatever it was stored as. */
#include "handlers/stored/workload_log.h"

#include <math.h>
#include <string.h>

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

static enum error_code read_accounting(const char *text, size_t length,
                                       struct workload_log *out, struct arena *a,
                                       struct error *err)
{
    struct slurm_records *records = NEW(a, struct slurm_records, 1);
    struct slurm_workload *workload = NEW(a, struct slurm_workload, 1);

    records->updated_s = (double)NAN;
    TRY(slurm_records_read(text, length, "", records, a, err));
    slurm_workload_read(records, 0, workload, a);
    *out = (struct workload_log){
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
    };
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

const char *workload_left_out(const struct workload_log *w, bool on_cluster,
                              struct arena *a)
{
    const struct slurm_workload *from = w->accounting;
    size_t never = from ? from->never_ran + (on_cluster ? 0 : from->withdrawn_count) : 0;

    if (!from || from->not_ended + never + from->unusable + from->merged == 0)
        return NULL;
    return arena_printf(a,
                        "skipped: of accounting %zu row(s) of jobs that had not ended, "
                        "%zu of jobs that never ran, %zu without an id, a state or a "
                        "submission, %zu of attempts before the last",
                        from->not_ended, never, from->unusable, from->merged);
}

const char *workload_name(const struct slurm_names *names, double number, struct arena *a)
{
    if (names && number >= 1 && number <= (double)names->count)
        return names->name[(size_t)number];
    return arena_printf(a, "%.15g", number);
}
