/* search.c - the gap of `search` on 512 x 16 matrices after 1 s and 10 s,
 * over HTTP. Needs the Braun files of GRIDPLAN_DATA.
 *
 * The plan is added up here from the matrix, so a wrong makespan shows; the
 * bound is checked against the best plan known and the linear program's bound
 * of reference/etc_heuristics.csv. */
#include "tests/bench/bench.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MACHINES_MAX = 64, INSTANCES_MAX = 64 };

struct instance {
    char name[64];
    size_t tasks, machines;
    double *etc_s;                   /* row by row */
    double lp_bound_s, best_known_s; /* NAN: not in the reference */
};

static const char *data_folder(void)
{
    const char *folder = getenv("GRIDPLAN_DATA");

    if (!folder)
        bench_stop("GRIDPLAN_DATA does not name the data folder");
    return folder;
}

static void read_reference(struct instance *x)
{
    char path[1024], line[2048];
    FILE *f;

    x->lp_bound_s = x->best_known_s = NAN;
    snprintf(path, sizeof(path), "%s/reference/etc_heuristics.csv", data_folder());
    f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
        char *cell, *rest = line;

        for (int column = 0; (cell = strsep(&rest, ",")); column++) {
            if (column == 1 && strcmp(cell, x->name) != 0)
                break;
            if (column == 12)
                x->lp_bound_s = strtod(cell, NULL);
            if (column == 16)
                x->best_known_s = strtod(cell, NULL);
        }
    }
    if (f)
        fclose(f);
}

static bool read_instance(const char *name, struct instance *x)
{
    char path[1024];
    FILE *f;
    double ignored;

    snprintf(path, sizeof(path), "%s/03-etc/braun-512x16/%s", data_folder(), name);
    f = fopen(path, "r");
    if (!f)
        return false;
    snprintf(x->name, sizeof(x->name), "%s", name);
    if (fscanf(f, "%zu %zu %lf", &x->tasks, &x->machines, &ignored) != 3 ||
        x->machines > MACHINES_MAX)
        bench_stop("%s does not begin with tasks, machines, 0", path);
    x->etc_s = calloc(x->tasks * x->machines, sizeof(double));
    for (size_t i = 0; i < x->tasks * x->machines; i++) {
        if (!x->etc_s || fscanf(f, "%lf", &x->etc_s[i]) != 1)
            bench_stop("%s is cut after %zu numbers", path, i);
    }
    fclose(f);
    read_reference(x);
    return true;
}

static void print_body(const struct instance *x, int limit_s, struct bench_text *body)
{
    bench_add(body, "{\"algorithm\":\"search\",\"time_limit_s\":%d,\"snapshot\":{",
              limit_s);
    bench_add(body, "\"resources\":[");
    for (size_t m = 0; m < x->machines; m++)
        bench_add(body, "%s{\"id\":\"%zu\"}", m ? "," : "", m);
    bench_add(body, "]},\"jobs\":[");
    for (size_t t = 0; t < x->tasks; t++) {
        bench_add(body, "%s{\"id\":\"%zu\",\"etc_s\":[", t ? "," : "", t);
        for (size_t m = 0; m < x->machines; m++)
            bench_add(body, "%s%.17g", m ? "," : "", x->etc_s[t * x->machines + m]);
        bench_add(body, "]}");
    }
    bench_add(body, "]}");
}

static double member(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(value) ? value->valuedouble : (double)NAN;
}

static size_t index_of(const cJSON *placement, const char *name)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(placement, name));

    return text ? strtoul(text, NULL, 10) : 0;
}

/* The makespan that the plan has by the matrix. */
static double add_up(const struct instance *x, const cJSON *answer)
{
    double load_s[MACHINES_MAX] = {0}, makespan_s = 0;
    const cJSON *placement;
    size_t count = 0;

    cJSON_ArrayForEach(placement, cJSON_GetObjectItemCaseSensitive(answer, "placements"))
    {
        size_t task = index_of(placement, "job_id");
        size_t machine = index_of(placement, "resource_id");

        load_s[machine % MACHINES_MAX] += x->etc_s[task * x->machines + machine];
        count++;
    }
    if (count != x->tasks)
        bench_stop("%s: %zu of %zu jobs placed", x->name, count, x->tasks);
    for (size_t m = 0; m < x->machines; m++)
        makespan_s = fmax(makespan_s, load_s[m]);
    return makespan_s;
}

struct result {
    double gap_ratio, elapsed_s, makespan_s, bound_s;
};

static struct result measure(const struct instance *x, int limit_s, int fd)
{
    struct bench_text body = {0};
    struct bench_reply reply;
    struct result r;
    cJSON *answer;
    const cJSON *objective;

    print_body(x, limit_s, &body);
    reply = bench_post(fd, "/v1/placements", body.data, body.length);
    answer = cJSON_ParseWithLength(reply.body, reply.length);
    objective = cJSON_GetObjectItemCaseSensitive(answer, "objective");
    r.makespan_s = add_up(x, answer);
    r.bound_s = member(objective, "lower_bound_s");
    r.gap_ratio = r.makespan_s / r.bound_s - 1;
    r.elapsed_s = reply.seconds;
    if (!(fabs(r.makespan_s / member(objective, "makespan_s") - 1) < 1e-9))
        bench_stop("%s: makespan_s says %g, the plan adds up to %g", x->name,
                   member(objective, "makespan_s"), r.makespan_s);
    if (r.makespan_s < r.bound_s * (1 - 1e-9) || r.bound_s > x->best_known_s * (1 + 1e-9))
        bench_stop("%s: the bound %g is wrong (plan %g, best known %g)", x->name,
                   r.bound_s, r.makespan_s, x->best_known_s);
    fprintf(stderr, "%s %d s: makespan %.2f, bound %.2f, gap %.3f %%, %.3f s\n", x->name,
            limit_s, r.makespan_s, r.bound_s, 100 * r.gap_ratio, r.elapsed_s);
    cJSON_Delete(answer);
    free(body.data);
    return r;
}

static void measure_all(const struct instance *list, size_t count, int limit_s,
                        double target_ratio, int fd)
{
    double worst = -1, slowest_s = 0, worst_lp = NAN;
    const char *where = "";
    char what[128], target[64];

    for (size_t i = 0; i < count; i++) {
        struct result r = measure(&list[i], limit_s, fd);

        if (!(r.gap_ratio <= worst)) {
            worst = r.gap_ratio;
            where = list[i].name;
            worst_lp = r.makespan_s / list[i].lp_bound_s - 1;
        }
        slowest_s = fmax(slowest_s, r.elapsed_s);
    }
    snprintf(what, sizeof(what),
             "`search`, %zu Braun matrices of 512 x 16, %d s: worst gap", count, limit_s);
    snprintf(target, sizeof(target), "at most %.1f %%", 100 * target_ratio);
    bench_row(what, target, worst <= target_ratio ? BENCH_MET : BENCH_MISSED,
              "%.3f %% (%s; %.3f %% over the linear program's bound)", 100 * worst, where,
              100 * worst_lp);
    snprintf(what, sizeof(what), "`search`, time limit %d s: slowest reply", limit_s);
    bench_row(what, "within 10 %", slowest_s <= 1.1 * limit_s ? BENCH_MET : BENCH_MISSED,
              "%.2f s", slowest_s);
}

int main(void)
{
    static const char consistency[] = "cis";
    static const char *const classes[] = {"hihi", "hilo", "lohi", "lolo"};
    struct instance list[INSTANCES_MAX];
    struct bench_process service;
    size_t count = 0;
    int fd;

    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 4; k++) {
            char name[64];

            snprintf(name, sizeof(name), "u_%c_%s.0", consistency[c], classes[k]);
            count += read_instance(name, &list[count]);
        }
    if (count == 0)
        bench_stop("no Braun matrix below %s", data_folder());
    service = bench_start_service(false, NULL);
    fd = bench_connect(service.port);
    measure_all(list, count, 1, 0.007, fd);
    measure_all(list, count, 10, 0.006, fd);
    close(fd);
    bench_end(&service);
    return 0;
}
