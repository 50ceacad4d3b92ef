/* execution_loads.c - the load that runs had, from the load samples that are stored.
 *
 * One question to the database for all of them. Like what is measured with a run, the
 * load is the least over the machines of each one's mean.
 */
#include "handlers/history/execution_loads.h"

#include "service/json.h"
#include "service/store_model.h"

#include <math.h>
#include <string.h>

static const char *question_of(const struct execution_load *list, size_t count,
                               struct arena *a)
{
    struct text_buffer b = {.arena = a};

    text_addf(&b, "[");
    for (size_t i = 0; i < count; i++) {
        const struct execution *run = list[i].run;
        double pad_s = fmax(0, EXECUTION_LOAD_LEAST_S - run->run_time_s) / 2;

        for (size_t k = 0; k < list[i].resource_count; k++) {
            text_addf(&b, "%s[%zu,", b.length > 1 ? "," : "", i);
            json_print_text(list[i].resource_ids[k], &b);
            text_addf(&b, ",%.17g,%.17g]", run->started_at_s - pad_s,
                      run->started_at_s + run->run_time_s + pad_s);
        }
    }
    text_addf(&b, "]");
    text_add(&b, "", 1);
    return text_end(&b);
}

static bool is_one_of(const struct execution_load *load, const char *id)
{
    for (size_t k = 0; k < load->resource_count; k++)
        if (strcmp(load->resource_ids[k], id) == 0)
            return true;
    return false;
}

/* The rows of one run. */
static void fill_one(struct execution_load *load, const struct store_load_during *rows,
                     size_t count)
{
    double cpu = HUGE_VAL, bandwidth_mbps = HUGE_VAL;
    size_t machines = 0;

    for (size_t i = 0; i < count; i++) {
        const struct store_load_during *row = &rows[i];

        if (json_is_over(1 + load->resource_count))
            return;
        if (!row->to_resource_id && row->cpu_available_ratio > 0) {
            cpu = fmin(cpu, row->cpu_available_ratio);
            machines++;
        } else if (row->to_resource_id && row->bandwidth_mbps > 0 &&
                   is_one_of(load, row->to_resource_id)) {
            bandwidth_mbps = fmin(bandwidth_mbps, row->bandwidth_mbps);
        }
    }
    if (machines < load->resource_count)
        return;
    load->filled = true;
    load->run->cpu_available_ratio = fmin(cpu, 1);
    if (bandwidth_mbps < HUGE_VAL)
        load->run->bandwidth_mbps = bandwidth_mbps;
}

enum error_code execution_loads_fill(struct request *rq, struct db_session *db,
                                     struct execution_load *list, size_t count)
{
    const char *question = question_of(list, count, rq->arena);
    const struct store_load_during *rows;
    size_t row_count, first = 0;

    if (count == 0)
        return OK;
    TRY(store_load_during(db, rq->principal.tenant, question, &rows, &row_count,
                          rq->arena, rq->err));
    while (first < row_count) {
        size_t end = first;

        while (end < row_count && rows[end].run == rows[first].run)
            end++;
        if (rows[first].run < count)
            fill_one(&list[rows[first].run], rows + first, end - first);
        first = end;
    }
    return OK;
}
