/* db_copy.c - how fast load samples are committed, without HTTP.
 *
 *     tests/postgres.sh run DIR bench build/release/tests/bench_db_copy
 *
 * Stores 2,000,000 samples of 1,000 resources, in batches of several sizes by 1 and
 * 2 threads, into a partition as in use; then reads them back. Design, section 6:
 * at least 100,000 samples/s.
 */
#include "service/maintenance.h"
#include "service/migrate.h"
#include "service/records/records.h"
#include "service/store.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 2000000, RESOURCES = 1000, THREADS_MAX = 2 };

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

int main(void)
{
    struct db_options options = {.conninfo = getenv("GRIDPLAN_TEST_DATABASE_URL"),
                                 .pool_size = THREADS_MAX + 1,
                                 .prepared = true,
                                 .connect_timeout_s = 5,
                                 .wait_timeout_s = 5};
    struct maintenance_options upkeep = {.months_ahead = 1};
    static const size_t batches[] = {1000, 10000, 100000};
    struct arena *a = arena_create(SIZE_MAX);
    struct load_sample *rows = NEW(a, struct load_sample, ROWS);
    struct error err = {.code = OK};
    struct db_session *s;
    struct db *db;
    size_t applied;

    check(db_create(&options, &db, &err), &err);
    check(migrate_run(db, migrations, migration_count, &applied, &err), &err);
    check(maintenance_run(db, &upkeep, FIRST_AT_S, &err), &err);
    s = db_session_create(db, NULL, a);
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
    db_close(db);
    arena_close(a);
    return 0;
}
