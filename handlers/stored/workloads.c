/* workloads.c - /v1/workloads: job logs for simulations, in Standard Workload Format, or
 * as Slurm's accounting has them. */
#include "handlers/stored/workloads.h"

#include "handlers/stored/stored_name.h"
#include "handlers/stored/workload_log.h"
#include "models/base/plural.h"
#include "service/stream.h"

struct create_query {
    const char *id;
    int kind;
};

/* What the log says of itself, and what was left out. */
struct workload_summary {
    const char *computer;
    double processor_count, started_at_s;
    double first_submit_s, last_submit_s, longest_run_s, most_processors;
    const struct upload_skip *skipped;
    size_t skipped_count;
    const struct upload_mistake *first_skipped;
    size_t first_skipped_count;
    const char *warnings[5];
    const char *const *warning_list;
    size_t warning_count;
};

#define T struct create_query
static const struct json_field create_query_rows[] = {
    UPLOAD_ID_ROW(T),
    JSON_CHOICE(
        T, kind, workload_kinds, WORKLOAD_AS_SWF, 0,
        "Format of the body. swf: Standard Workload Format; sacct: what sacct -P -D "
        "-a -o ALL or sacct --json prints; default swf"),
    {0},
};
#undef T
const struct json_object workload_create_query_json = {
    "WorkloadCreateQuery", "Name of a new workload", sizeof(struct create_query),
    create_query_rows};

#define T struct workload_summary
static const struct json_field summary_rows[] = {
    JSON_TEXT(T, computer, JSON_OPTIONAL, "Header field Computer"),
    JSON_NUMBER(T, processor_count, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "Header field MaxProcs"),
    JSON_INSTANT(T, started_at, JSON_OPTIONAL, "Header field UnixStartTime"),
    JSON_NUMBER(T, first_submit_s, 0, 0, 0, 0, "Arrival of the first job"),
    JSON_NUMBER(T, last_submit_s, 0, 0, 0, 0, "Arrival of the last job"),
    JSON_NUMBER(T, longest_run_s, 0, 0, 0, 0, "Longest run time"),
    JSON_NUMBER(T, most_processors, 0, 0, 0, JSON_WHOLE, "Most processors of a job"),
    JSON_LIST(T, skipped, skipped_count, struct upload_skip, &upload_skip_json, 0, 0,
              "Lines left out, by reason"),
    JSON_LIST(T, first_skipped, first_skipped_count, struct upload_mistake,
              &upload_mistake_json, 0, 0, "The first of them"),
    {.name = "warnings",
     .doc = "What the caller should know: lines that were left out, or are not in the "
            "order of arrival",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, warning_list, const char *const *),
     .count_offset = JSON_AT(T, warning_count, size_t)},
    {0},
};
#undef T
static const struct json_object summary_json = {
    "WorkloadSummary", "What a log says", sizeof(struct workload_summary), summary_rows};

#define T struct store_trace
static const struct json_field info_rows[] = {
    UPLOAD_ROWS(T, workload_kinds, "job_count", "Jobs that a simulation can use",
                &summary_json),
    {0},
};
#undef T
const struct json_object workload_info_json = {"WorkloadInfo", "A stored job log",
                                               sizeof(struct store_trace), info_rows};

#define T struct uploads_page
static const struct json_field page_rows[] = {
    {.name = "items",
     .doc = "The workloads by id",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, items, const struct store_trace *),
     .count_offset = JSON_AT(T, item_count, size_t),
     .of = &workload_info_json},
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object workloads_page_json = {"WorkloadsPage", "A page of workloads",
                                                sizeof(struct uploads_page), page_rows};

/* Logs may hold any number; NAN stays. */
static double whole(double count)
{
    return count > JSON_EXACT ? JSON_EXACT : count;
}

/* A sink: keeps extremes, not jobs. */
static enum error_code look_at(void *context, const struct swf_job *job,
                               struct error *err)
{
    struct workload_summary *s = context;

    (void)err;
    s->first_submit_s = fmin(s->first_submit_s, job->submit_s);
    s->last_submit_s = fmax(s->last_submit_s, job->submit_s);
    s->longest_run_s = fmax(s->longest_run_s, job->run_s);
    s->most_processors = fmax(s->most_processors, whole(ceil(swf_processors(job))));
    return OK;
}

static void list_skipped(const struct swf_counts *counts, struct workload_summary *s,
                         struct arena *a)
{
    struct upload_skip *skipped = NEW(a, struct upload_skip, SWF_SKIP_COUNT);
    struct upload_mistake *first = NEW(a, struct upload_mistake, counts->issue_count);

    s->skipped = skipped;
    s->first_skipped = first;
    s->first_skipped_count = counts->issue_count;
    for (size_t i = 0; i < SWF_SKIP_COUNT; i++)
        if (counts->skipped_by[i])
            skipped[s->skipped_count++] =
                (struct upload_skip){swf_skip_names[i], counts->skipped_by[i]};
    for (size_t i = 0; i < counts->issue_count; i++)
        first[i] = (struct upload_mistake){counts->issues[i].line,
                                           swf_skip_names[counts->issues[i].reason]};
}

static void warn(struct workload_summary *s, const char *text)
{
    s->warnings[s->warning_count++] = text;
    s->warning_list = s->warnings;
}

static void warn_lines(const struct swf_counts *counts, struct workload_summary *s,
                       struct arena *a)
{
    if (counts->skipped)
        warn(s, arena_printf(
                    a, "skipped: %s, first line %llu, %s, see skipped",
                    counted(counts->skipped, "line").text,
                    (unsigned long long)counts->issues[0].line,
                    plural(counts->skipped, "is no usable job", "are no usable jobs")));
    if (counts->unsorted)
        warn(s, arena_printf(a,
                             "unsorted: %s, first line %llu, %s not in the "
                             "order of arrival; simulations sort %s",
                             counted(counts->unsorted, "line").text,
                             (unsigned long long)counts->first_unsorted_line,
                             plural(counts->unsorted, "is", "are"),
                             plural(counts->unsorted, "it", "them")));
}

enum {
    LINES_MAX = 20000000,
    BYTE_STEPS = 4, /* bytes of a log that are read in a step */
};

/* A body that is read as it is unpacked. */
struct reading {
    struct swf_reader swf;
    uint64_t length;
};

/* gzip_piece_fn */
static enum error_code read_piece(void *context, const char *piece, size_t length,
                                  struct error *err)
{
    struct reading *r = context;

    r->length += length;
    TRY(json_go_on(length / BYTE_STEPS, err));
    TRY(swf_reader_feed(&r->swf, piece, length, err));
    if (r->swf.counts.lines > LINES_MAX)
        return fail(err, ERR_TOO_LARGE, "",
                    "the log has more than %d lines; send parts of it, each under an id "
                    "of its own",
                    LINES_MAX);
    return OK;
}

/* Fills all of *trace but name and document. */
static enum error_code read_log(struct request *rq, struct store_trace *trace,
                                uint64_t *length)
{
    struct workload_summary summary = {.first_submit_s = NAN,
                                       .last_submit_s = NAN,
                                       .longest_run_s = NAN,
                                       .most_processors = NAN};
    struct arena *a = rq->arena;
    struct error *err = rq->err;
    struct text_buffer text = {.arena = a};
    struct reading *reading = NEW(a, struct reading, 1);
    const struct swf_reader *reader = &reading->swf;

    swf_reader_open(&reading->swf, look_at, &summary);
    TRY(request_pieces(rq, read_piece, reading));
    TRY(swf_reader_end(&reading->swf, err));
    *length = reading->length;
    if (reader->counts.jobs == 0)
        return fail(err, ERR_INVALID, "",
                    "none of %s is a job of the Standard Workload Format: a line has 18 "
                    "numbers, -1 for what is not known",
                    counted(reader->counts.lines, "line").text);
    list_skipped(&reader->counts, &summary, a);
    warn_lines(&reader->counts, &summary, a);
    summary.computer = reader->header.computer[0] ? reader->header.computer : NULL;
    summary.processor_count = whole(floor(reader->header.max_procs));
    summary.started_at_s = reader->header.unix_start_at_s;
    json_print(&summary_json, &summary, &text);
    trace->format = workload_kinds[WORKLOAD_AS_SWF];
    trace->line_count = reader->counts.lines;
    trace->record_count = reader->counts.jobs;
    trace->skipped_count = reader->counts.skipped;
    trace->summary = text_end(&text);
    return OK;
}

/* A body of accounting that is read as it is unpacked. */
struct accounting_body {
    struct accounting_log *log;
    uint64_t length;
};

/* gzip_piece_fn */
static enum error_code read_rows(void *context, const char *piece, size_t length,
                                 struct error *err)
{
    struct accounting_body *body = context;

    body->length += length;
    return accounting_log_feed(body->log, piece, length, err);
}

/* By rows, or what cannot be read so as a whole. */
static enum error_code read_accounting_body(struct request *rq, struct workload_log *read,
                                            uint64_t *length)
{
    struct accounting_body body = {accounting_log_open(rq->arena), 0};
    struct raw_body whole;
    bool needs_whole;

    TRY(request_pieces(rq, read_rows, &body));
    *length = body.length;
    TRY(accounting_log_end(body.log, &needs_whole, read, rq->err));
    if (!needs_whole)
        return OK;
    rq->err->hint = "JSON of accounting is read as a whole; what sacct -P prints is "
                    "read row by row, of any length";
    TRY(request_whole_body(rq, &whole.text, &whole.length));
    *length = whole.length;
    TRY(workload_log_read(workload_kinds[WORKLOAD_AS_SACCT], whole.text, whole.length,
                          read, rq->arena, rq->err));
    rq->err->hint = NULL;
    return OK;
}

static void warn_accounting(const struct workload_log *read, struct workload_summary *s,
                            struct arena *a)
{
    const char *left_out = workload_left_out(read, true, a);
    const char *warned = slurm_warned_text(&read->warned, a);

    if (warned)
        warn(s, warned);
    if (left_out)
        warn(s, left_out);
    if (read->cut_rows)
        warn(s, arena_printf(a, "skipped: %s %s too few or too many fields%s",
                             counted(read->cut_rows, "row").text,
                             plural(read->cut_rows, "has", "have"),
                             read->broken_off ? "; the last one breaks off: the command "
                                                "was ended before it was done, or the "
                                                "text was cut"
                                              : ""));
    if (read->accounting->withdrawn_count)
        warn(s,
             arena_printf(a,
                          "cancelled: %s left the queue before %s started, and %s on a "
                          "cluster alone, as jobs that wait until then",
                          counted(read->accounting->withdrawn_count, "job").text,
                          plural(read->accounting->withdrawn_count, "it", "they"),
                          plural(read->accounting->withdrawn_count, "counts", "count")));
    if (read->accounting->unlimited)
        warn(s,
             arena_printf(a,
                          "run_time_defaulted: %s %s no time limit; simulations count on "
                          "the time that %s took",
                          counted(read->accounting->unlimited, "job").text,
                          plural(read->accounting->unlimited, "has", "have"),
                          plural(read->accounting->unlimited, "it", "they")));
}

/* Likewise, of accounting. */
static enum error_code read_accounting(struct request *rq, struct store_trace *trace,
                                       uint64_t *length)
{
    struct arena *a = rq->arena;
    struct error *err = rq->err;
    struct workload_log *read = NEW(a, struct workload_log, 1);
    struct workload_summary summary = {.first_submit_s = NAN,
                                       .last_submit_s = NAN,
                                       .longest_run_s = NAN,
                                       .most_processors = NAN,
                                       .processor_count = NAN};
    struct text_buffer text = {.arena = a};

    TRY(read_accounting_body(rq, read, length));
    if (read->log.count == 0) {
        fail(err, ERR_INVALID, "",
             "none of the rows is a job that ran: accounting has columns JobID or "
             "JobIDRaw, Submit, Start, End and State");
        err->hint = "sacct -P -D -a -o ALL -S now-30days prints the jobs of all users of "
                    "30 days; without -a and -S it tells of one's own of today";
        return err->code;
    }
    for (size_t i = 0; i < read->log.count; i++)
        TRY(look_at(&summary, &read->log.jobs[i], err));
    warn_accounting(read, &summary, a);
    summary.started_at_s = read->header.unix_start_at_s;
    json_print(&summary_json, &summary, &text);
    trace->format = workload_kinds[WORKLOAD_AS_SACCT];
    trace->line_count = read->counts.lines;
    trace->record_count = read->log.count;
    trace->skipped_count = read->accounting->not_ended + read->accounting->never_ran +
                           read->accounting->unusable + read->cut_rows;
    trace->summary = text_end(&text);
    return OK;
}

enum error_code post_workload(struct request *rq, const void *in, void *out)
{
    const struct create_query *query = rq->query;
    struct store_trace trace = {0};
    uint64_t length;
    const char *name;

    (void)in;
    TRY(stored_name_choose(rq, query ? query->id : NULL, "?/id", &name));
    if (query && query->kind == WORKLOAD_AS_SACCT)
        TRY(read_accounting(rq, &trace, &length));
    else
        TRY(read_log(rq, &trace, &length));
    return upload_store(rq, STORE_WORKLOAD, name, length, &trace, out);
}

enum error_code get_workloads(struct request *rq, const void *in, void *out)
{
    (void)in;
    return upload_list(rq, STORE_WORKLOAD, out);
}

enum error_code get_workload(struct request *rq, const void *in, void *out)
{
    (void)in;
    return upload_read(rq, STORE_WORKLOAD, out);
}

enum error_code get_workload_document(struct request *rq, const void *in, void *out)
{
    (void)in, (void)out;
    return upload_document(rq, STORE_WORKLOAD);
}

enum error_code delete_workload(struct request *rq, const void *in, void *out)
{
    (void)in, (void)out;
    return upload_delete(rq, STORE_WORKLOAD);
}
