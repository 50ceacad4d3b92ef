/* db_copy.c - how fast load samples are committed, without HTTP.
 *
 *     tests/postgres.sh run DIR bench build/release/tests/bench_db_copy
 *
 * Stores 2,000,000 samples of 1,000 resources, in batches of several sizes by 1 and
 * 2 threads, into a partition as in use; then reads them back. Design, section 6:
 * at least 100,000 samples/s. Then stores reports of progress, whose keys are looked up
 * under locks, and sends the same rows by COPY into a table with the same indexes:
 * contract.md 12, at least half as fast. With the argument "reports" only these.
 */
#include "service/maintenance.h"
#include "service/migrate.h"
#include "service/records/records.h"
#include "service/store.h"
#include "service/store_progress_samples.h"

#include <libpq-fe.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 2000000, RESOURCES = 1000, THREADS_MAX = 2 };
enum { REPORTS = 400000, REPORTS_EACH = 100, REPORT_ROUNDS = 3 };

static const double FIRST_AT_S = 1764000000; /* 2025-11-24 */

struct writer {
    struct db *db;
    const struct load_sample *rows;
    size_t row_count, batch;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(enum error_code code, const struct error *err)
{
    if (code == OK)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static void *write_rows(void *context)
{
    const struct writer *w = context;
    struct arena *a = arena_create(SIZE_MAX), *rows = arena_create(SIZE_MAX);
    struct db_session *s = db_session_create(w->db, NULL, a);
    struct error err = {.code = OK};
    struct record_stored stored;

    for (size_t i = 0; i < w->row_count; i += w->batch) {
        size_t count = w->row_count - i < w->batch ? w->row_count - i : w->batch;

        arena_reset(rows);
        check(record_store(s, "bench", &load_sample_record, w->rows + i, count,
                           RECORD_REFUSE, true, &stored, rows, &err),
              &err);
    }
    db_session_close(s);
    arena_close(rows);
    arena_close(a);
    return NULL;
}

static void run(struct db *db, struct db_session *s, const struct load_sample *rows,
                size_t thread_count, size_t batch)
{
    struct writer writers[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    struct error err = {.code = OK};
    double start_s, took_s;

    check(db_execute(s, "TRUNCATE load_sample", &err), &err);
    start_s = now_s();
    for (size_t i = 0; i < thread_count; i++) {
        size_t share = ROWS / thread_count;

        writers[i] = (struct writer){db, rows + i * share, share, batch};
        if (pthread_create(&threads[i], NULL, write_rows, &writers[i]) != 0)
            exit(1);
    }
    for (size_t i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    took_s = now_s() - start_s;
    printf("%zu thread(s), %7zu a batch: %8.0f samples/s\n", thread_count, batch,
           ROWS / took_s);
}

static void read_back(struct db_session *s, struct arena *a)
{
    const struct load_sample like = {.resource_id = "host-17.example.org"};
    struct record_filter which = {.like = &like,
                                  .columns = 1, /* resource_id */
                                  .from_at_s = FIRST_AT_S,
                                  .to_at_s = FIRST_AT_S + ROWS / RESOURCES};
    struct store_filter filter = {.resource_id = like.resource_id,
                                  .from_at_s = which.from_at_s,
                                  .to_at_s = which.to_at_s};
    struct store_page page = {NULL, 1000};
    const struct load_interval *intervals;
    const void *list;
    struct error err = {.code = OK};
    size_t count;
    double start_s = now_s();

    check(record_read(s, "bench", &load_sample_record, &which, &page, &list, &count,
                      &page.token, a, &err),
          &err);
    printf("a page of %zu: %.1f ms\n", count, (now_s() - start_s) * 1e3);
    start_s = now_s();
    check(store_load_intervals(s, "bench", &filter, LOAD_CPU_AVAILABLE_RATIO, 60,
                               &intervals, &count, a, &err),
          &err);
    printf("%zu intervals: %.1f ms\n", count, (now_s() - start_s) * 1e3);
}

static void run_samples(struct db *db, struct arena *a)
{
    static const size_t batches[] = {1000, 10000, 100000};
    struct load_sample *rows = NEW(a, struct load_sample, ROWS);
    struct db_session *s = db_session_create(db, NULL, a);

    for (size_t i = 0; i < ROWS; i++)
        rows[i] = (struct load_sample){
            .resource_id = i < RESOURCES ? arena_printf(a, "host-%zu.example.org", i)
                                         : rows[i % RESOURCES].resource_id,
            .observed_at_s = FIRST_AT_S + (double)(i / RESOURCES),
            .cpu_available_ratio = 0.5 + 0.5 * sin((double)i),
            .memory_available_bytes = 1e9 + (double)i,
            .bandwidth_mbps = (double)NAN,
            .latency_s = (double)NAN,
        };
    for (size_t threads = 1; threads <= THREADS_MAX; threads++)
        for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++)
            run(db, s, rows, threads, batches[i]);
    read_back(s, a);
    db_session_close(s);
}

/* ---- reports of progress ---- */

static double store_reports(struct db *db, const struct store_progress_sample *rows,
                            size_t batch)
{
    struct arena *a = arena_create(SIZE_MAX), *work = arena_create(SIZE_MAX);
    struct db_session *s = db_session_create(db, NULL, a);
    struct error err = {.code = OK};
    struct record_stored stored;
    double start_s;

    check(db_execute(s, "TRUNCATE progress_sample, progress_task", &err), &err);
    start_s = now_s();
    for (size_t i = 0; i < REPORTS; i += batch) {
        check(record_store(s, "bench", &progress_sample_record, rows + i, batch,
                           RECORD_REFUSE, true, &stored, work, &err),
              &err);
        arena_reset(work);
    }
    start_s = now_s() - start_s;
    db_session_close(s);
    arena_close(work);
    arena_close(a);
    return start_s;
}

static void ask(PGconn *connection, const char *statement, ExecStatusType wanted)
{
    PGresult *result = PQexec(connection, statement);

    if (PQresultStatus(result) != wanted) {
        fprintf(stderr, "%s: %s\n", statement, PQerrorMessage(connection));
        exit(1);
    }
    PQclear(result);
}

static double copy_reports(PGconn *connection, const struct store_progress_sample *rows,
                           size_t batch)
{
    double start_s;

    ask(connection,
        "DROP TABLE IF EXISTS plain_report; CREATE TABLE plain_report"
        " (LIKE progress_sample INCLUDING DEFAULTS INCLUDING INDEXES)",
        PGRES_COMMAND_OK);
    start_s = now_s();
    for (size_t i = 0; i < REPORTS; i += batch) {
        ask(connection,
            "COPY plain_report (tenant, task_id, application_id, elapsed_s, progress_pct,"
            " extrapolated_ref_s) FROM STDIN",
            PGRES_COPY_IN);
        for (size_t k = i; k < i + batch; k++) {
            char line[256];
            int length = snprintf(
                line, sizeof(line), "bench\t%s\t%s\t%.17g\t%.17g\t%.17g\n",
                rows[k].task_id, rows[k].application_id, rows[k].sample.elapsed_s,
                rows[k].sample.progress_pct, rows[k].extrapolated_ref_s);

            PQputCopyData(connection, line, length);
        }
        PQputCopyEnd(connection, NULL);
        PQclear(PQgetResult(connection));
        PQclear(PQgetResult(connection));
    }
    return now_s() - start_s;
}

/* Both in turn, several times: the ratio holds when the machine's speed drifts. */
static void run_reports(struct db *db, const char *conninfo, struct arena *a)
{
    static const size_t batches[] = {1000, 10000, 100000};
    struct store_progress_sample *rows = NEW(a, struct store_progress_sample, REPORTS);
    PGconn *connection = PQconnectdb(conninfo);

    if (PQstatus(connection) != CONNECTION_OK) {
        fprintf(stderr, "%s\n", PQerrorMessage(connection));
        exit(1);
    }
    for (size_t i = 0; i < REPORTS; i++) {
        double share = 100.0 * (double)(i % REPORTS_EACH + 1) / (REPORTS_EACH + 1);

        rows[i] = (struct store_progress_sample){
            .task_id = i % REPORTS_EACH ? rows[i - 1].task_id
                                        : arena_printf(a, "task-%zu", i / REPORTS_EACH),
            .application_id = "align",
            .sample = {.elapsed_s = (double)(i % REPORTS_EACH) * 10,
                       .progress_pct = share,
                       .mips_total = (double)NAN,
                       .mips_external = (double)NAN,
                       .job_count = (double)NAN,
                       .work_done_ref_s = (double)NAN},
            .extrapolated_ref_s = 1000,
            .actual_ref_s = (double)NAN,
        };
    }
    for (size_t b = 0; b < sizeof(batches) / sizeof(batches[0]); b++)
        for (int round = 0; round < REPORT_ROUNDS; round++) {
            double by_copy_s = copy_reports(connection, rows, batches[b]);
            double by_record_s = store_reports(db, rows, batches[b]);

            printf(
                "reports of progress, %7zu a batch: %8.0f/s, COPY alone %8.0f/s: %.2f\n",
                batches[b], REPORTS / by_record_s, REPORTS / by_copy_s,
                by_copy_s / by_record_s);
        }
    PQfinish(connection);
}

int main(int argc, char **argv)
{
    struct db_options options = {.conninfo = getenv("GRIDPLAN_BENCH_DATABASE"),
                                 .pool_size = THREADS_MAX + 1,
                                 .prepared = true,
                                 .connect_timeout_s = 5,
                                 .wait_timeout_s = 5};
    struct maintenance_options upkeep = {.months_ahead = 1};
    struct arena *a = arena_create(SIZE_MAX);
    struct error err = {.code = OK};
    struct db *db;
    size_t applied;

    check(db_create(&options, &db, &err), &err);
    check(migrate_run(db, migrations, migration_count, &applied, &err), &err);
    check(maintenance_run(db, &upkeep, FIRST_AT_S, &err), &err);
    if (argc < 2 || strcmp(argv[1], "reports") != 0)
        run_samples(db, a);
    run_reports(db, options.conninfo, a);
    db_close(db);
    arena_close(a);
    return 0;
}
