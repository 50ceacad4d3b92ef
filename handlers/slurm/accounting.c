/* accounting.c - POST /v1/imports/slurm/history: Slurm's accounting, of any length, to
 * the history.
 *
 * A table is read row by row and stored in batches: in memory are the body, packed, and
 * two batches of rows. What is stored before a failure stays; as storing it again changes
 * nothing, the same body is sent again. Other forms than tables are read as a whole.
 */
#include "handlers/slurm/ingest.h"
#include "handlers/slurm/slurm.h"
#include "models/base/plural.h"
#include "models/slurm/batches.h"
#include "service/stream.h"

#include <math.h>
#include <string.h>

struct accounting_query {
    const char *application_pattern, *cluster;
    double tz_offset_s;
    bool drain_is_failure;
};

struct accounting_answer {
    uint64_t line_count;
    struct slurm_ingested ingested;
    const char *const *warnings;
    size_t warning_count;
};

#define T struct accounting_query
static const struct json_field query_rows[] = {
    JSON_TEXT(T, application_pattern, JSON_NULLABLE,
              "Which runs are one application, as in POST /v1/imports/slurm; default "
              "{name}"),
    JSON_TEXT(T, cluster, JSON_NULLABLE,
              "Name of the cluster, where the rows have no column Cluster; default "
              "cluster"),
    JSON_BOOLEAN(T, drain_is_failure, false, 0,
                 "DRAIN is a failure of a node too; default: it is not"),
    JSON_NUMBER(T, tz_offset_s, -86400, 86400, NAN, JSON_NULLABLE,
                "What texts of times are ahead of UTC; default 0"),
    {0},
};
#undef T
const struct json_object slurm_accounting_query_json = {
    "SlurmHistoryQuery", "How accounting is read", sizeof(struct accounting_query),
    query_rows};

#define T struct accounting_answer
static const struct json_field answer_rows[] = {
    JSON_INTEGER(T, line_count, 0, JSON_EXACT, 0, 0, "Lines of the text"),
    JSON_OBJECT(T, ingested, struct slurm_ingested, &slurm_ingested_json, 0,
                "What was stored"),
    JSON_TEXTS(T, warnings, warning_count, 0, 0,
               "What was guessed, left out or could not be read"),
    {0},
};
#undef T
const struct json_object slurm_accounting_answer_json = {
    "SlurmHistoryAnswer", "What became of Slurm's accounting",
    sizeof(struct accounting_answer), answer_rows};

struct accounting {
    struct request *rq;
    struct slurm_history_options options;
    struct slurm_history counts; /* of all batches; without their runs and failures */
    struct slurm_ingested *ingested;
    struct slurm_batches *batches;
    bool any;
};

static void add_counts(struct slurm_history *to, const struct slurm_history *more)
{
    to->not_ended += more->not_ended;
    to->never_ran += more->never_ran;
    to->unusable += more->unusable;
    to->unknown_states += more->unknown_states;
    to->local_times += more->local_times;
    to->loose_steps += more->loose_steps;
}

/* slurm_batch_fn */
static enum error_code store_batch(void *context, const struct slurm_records *batch,
                                   struct arena *a, struct error *err)
{
    struct accounting *c = context;
    struct slurm_history history;

    c->any = true;
    TRY(slurm_check_columns(batch, err));
    slurm_history_read(batch, &c->options, &history, a);
    add_counts(&c->counts, &history);
    return slurm_ingest(c->rq, &history, c->ingested, a);
}

enum { BYTE_STEPS = 4 }; /* bytes of a table that are read in a step */

/* gzip_piece_fn */
static enum error_code read_piece(void *context, const char *piece, size_t length,
                                  struct error *err)
{
    struct accounting *c = context;

    TRY(json_go_on(length / BYTE_STEPS, err));
    return slurm_batches_feed(c->batches, piece, length, err);
}

static uint64_t lines_of(const char *text, size_t length)
{
    uint64_t count = length > 0 && text[length - 1] != '\n';

    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n';
    return count;
}

/* What is no table with a place for each column. */
static enum error_code read_whole(struct accounting *c, struct slurm_records *records,
                                  uint64_t *line_count)
{
    struct request *rq = c->rq;
    const char *text;
    size_t length;

    rq->err->hint = "JSON, and columns without a rule of dashes, are read as a whole; "
                    "what sacct -P prints is read row by row, of any length";
    TRY(request_whole_body(rq, &text, &length));
    *line_count = lines_of(text, length);
    *records = (struct slurm_records){.updated_s = (double)NAN};
    TRY(slurm_records_read(text, length, "", records, rq->arena, rq->err));
    rq->err->hint = NULL;
    if (records->of[SLURM_JOB].count + records->of[SLURM_EVENT].count == 0)
        return OK;
    return store_batch(c, records, rq->arena, rq->err);
}

/* A failure behind the first batch leaves what is stored. */
static void say_stored(const struct accounting *c, struct error *err)
{
    uint64_t stored = c->ingested->executions_stored + c->ingested->failures_stored;
    const char *known = err->noted ? err->noted->hint : err->hint, *text;

    if (stored == 0)
        return;
    text = arena_printf(
        c->rq->arena, "%s%s%llu %s of the text %s when it is sent again",
        known ? known : "", known ? "; " : "", (unsigned long long)stored,
        plural(stored, "run or failure", "runs and failures"),
        plural(stored, "is stored, and stays so", "are stored, and stay so"));
    if (err->noted)
        error_hint(err, "%s", text);
    else
        err->hint = text;
}

static enum error_code read_all(struct accounting *c, struct slurm_records *records,
                                uint64_t *line_count)
{
    enum error_code code = request_pieces(c->rq, read_piece, c);

    if (code == OK)
        code = slurm_batches_end(c->batches, c->rq->err);
    *records = *slurm_batches_records(c->batches);
    *line_count = slurm_batches_line_count(c->batches);
    if (code == OK && slurm_batches_need_whole(c->batches))
        return read_whole(c, records, line_count);
    if (code != OK)
        say_stored(c, c->rq->err);
    return code;
}

static void warn(struct accounting *c, const struct slurm_records *past, bool zone_given,
                 struct accounting_answer *answer)
{
    struct arena *a = c->rq->arena;
    const char **list = NEW(a, const char *, SLURM_HISTORY_WARNINGS + 1);

    if (!c->any)
        list[answer->warning_count++] = "no_rows: the document has no rows: sacct tells "
                                        "a user of that user's jobs of "
                                        "today alone, unless -a and -S say otherwise";
    answer->warning_count += slurm_history_warnings(
        &c->counts, past, zone_given, c->ingested, list + answer->warning_count, a);
    answer->warnings = list;
}

enum error_code post_slurm_history(struct request *rq, const void *in, void *out)
{
    static const struct accounting_query nothing = {.tz_offset_s = NAN};
    const struct accounting_query *query = rq->query ? rq->query : &nothing;
    struct accounting_answer *answer = out;
    struct slurm_pattern *application = NEW(rq->arena, struct slurm_pattern, 1);
    struct accounting *c = NEW(rq->arena, struct accounting, 1);
    bool zone_given = !isnan(query->tz_offset_s);
    struct slurm_records records;
    struct db_session *db;
    const char *problem;

    (void)in;
    problem = slurm_pattern_read(query->application_pattern ? query->application_pattern
                                                            : "{name}",
                                 application, rq->arena);
    if (problem)
        return invalid(rq->err, "?/application_pattern", ITEM_MALFORMED, "%s", problem);
    TRY(request_db(rq, &db)); /* say now that there is none */
    *c = (struct accounting){
        .rq = rq,
        .options = {.application = application,
                    .drain_is_failure = query->drain_is_failure,
                    .tz_offset_s = zone_given ? query->tz_offset_s : 0,
                    .cluster = query->cluster ? query->cluster : "cluster"},
        .ingested = &answer->ingested,
    };
    c->batches = slurm_batches_open("", SLURM_BATCH_ROWS, store_batch, c, rq->arena);
    TRY(read_all(c, &records, &answer->line_count));
    warn(c, &records, zone_given, answer);
    return OK;
}
