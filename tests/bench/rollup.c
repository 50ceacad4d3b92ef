/* rollup.c - how fast roll-ups of load samples are made, and what they cost ingest.
 *
 *     tests/bench/run rollup
 *
 * Stores 3 hours of 2,000 resources (a sample each 10 s, two measures: 2,160,000 rows) of
 * a day ago, in batches of 20,000, with and without the triggers that mark late hours;
 * then makes their roll-ups: 360,000 rows of minutes, 6,000 of hours, 2,000 or 4,000 of
 * days. Wanted: 100,000 rows stored and 300,000 samples rolled up a second, on an idle
 * machine.
 */
#include "service/rollup.h"
#include "service/maintenance.h"
#include "service/migrate.h"
#include "service/records/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RESOURCES = 2000, HOURS = 3, EVERY_S = 10, BATCH = 20000, HOUR_S = 3600 };

static double clock_of(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(enum error_code code, const struct error *err)
{
    if (code == OK)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static double next_share(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1 << 24);
}

/* The samples of one hour, by time. */
static struct load_sample *samples_of(double from_s, char (*names)[16], size_t *count)
{
    struct load_sample *list;
    uint64_t state = 18;

    *count = (size_t)RESOURCES * (HOUR_S / EVERY_S);
    list = calloc(*count, sizeof(*list));
    if (!list)
        exit(1);
    for (size_t i = 0; i < *count; i++)
        list[i] = (struct load_sample){
            .resource_id = names[i % RESOURCES],
            .observed_at_s = from_s + EVERY_S * (double)(i / RESOURCES),
            .cpu_available_ratio = next_share(&state),
            .memory_available_bytes = floor(6.4e10 * next_share(&state)),
            .bandwidth_mbps = (double)NAN,
            .latency_s = (double)NAN,
        };
    return list;
}

static void store(struct db_session *s, const struct load_sample *list, size_t count)
{
    struct arena *rows = arena_create(SIZE_MAX);
    struct error err = {.code = OK};
    struct record_stored stored;

    for (size_t i = 0; i < count; i += BATCH) {
        arena_reset(rows);
        check(record_store(s, "bench", &load_sample_record, list + i,
                           count - i < BATCH ? count - i : BATCH, RECORD_REFUSE, false,
                           &stored, rows, &err),
              &err);
    }
    arena_close(rows);
}

static void store_all(struct db_session *s, double from_s, const char *what)
{
    static char names[RESOURCES][16];
    double seconds = 0;
    size_t count, all = 0;

    for (int i = 0; i < RESOURCES; i++)
        snprintf(names[i], sizeof(names[i]), "host-%05d", i);
    for (int hour = 0; hour < HOURS; hour++) {
        struct load_sample *list = samples_of(from_s + HOUR_S * hour, names, &count);
        double began_s = clock_of(CLOCK_MONOTONIC);

        store(s, list, count);
        seconds += clock_of(CLOCK_MONOTONIC) - began_s;
        all += count;
        free(list);
    }
    printf("stored %s: %.0f rows/s (%zu rows in %.2f s)\n", what, (double)all / seconds,
           all, seconds);
}

int main(void)
{
    struct db_options options = {.conninfo = getenv("GRIDPLAN_BENCH_DATABASE"),
                                 .pool_size = 2,
                                 .prepared = true,
                                 .connect_timeout_s = 2,
                                 .wait_timeout_s = 5,
                                 .statement_timeout_s = 600};
    double now_s = clock_of(CLOCK_REALTIME), began_s, cpu_s;
    double from_s = floor(now_s / 86400 - 1) * 86400 + 36000;
    struct maintenance_options upkeep = {.load_partition_by_day = true};
    struct arena *a = arena_create(SIZE_MAX);
    struct rollup_counts counts = {0};
    struct rollup_options rollups = {.counts = &counts};
    struct error err = {.code = OK};
    struct db_session *s;
    struct db *db;
    size_t applied;

    check(db_create(&options, &db, &err), &err);
    check(migrate_run(db, migrations, migration_count, &applied, &err), &err);
    check(maintenance_run(db, &upkeep, from_s, &err), &err);
    s = db_session_create(db, NULL, a);
    check(db_execute(s, "ALTER TABLE load_sample DISABLE TRIGGER ALL", &err), &err);
    store_all(s, from_s, "without marks");
    check(db_execute(s,
                     "TRUNCATE load_sample; ALTER TABLE load_sample ENABLE TRIGGER ALL",
                     &err),
          &err);
    store_all(s, from_s, "with marks, all of it late");
    check(db_execute(s, "ANALYZE load_sample", &err), &err);
    began_s = clock_of(CLOCK_MONOTONIC);
    cpu_s = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    check(rollup_run(db, &rollups, now_s, &err), &err);
    began_s = clock_of(CLOCK_MONOTONIC) - began_s;
    cpu_s = clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    printf(
        "rolled up: %.0f samples/s (%zu samples, %zu rows in %.2f s; %.2f us of our own "
        "processor time a sample)\n",
        (double)counts.samples_read / began_s, (size_t)counts.samples_read,
        (size_t)counts.rows_written, began_s, 1e6 * cpu_s / (double)counts.samples_read);
    db_session_close(s);
    db_close(db);
    arena_close(a);
    return 0;
}
