/* sessions.c - a run of a workflow of 1,000 tasks over HTTP: what a step of its engine
 * costs, what it costs to hear that nothing has changed, and how many events a second are
 * stored. */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TASKS = 1000, WIDTH = 20, STEPS = 300, BATCHES = 100, BATCH = 100 };

#define PATH "/v1/workflow-sessions/bench"

/* Layers of WIDTH tasks, each of which waits for two of the layer before; three hosts of
 * speeds 1, 2 and 4 with two cpus. */
static struct bench_text definition(void)
{
    struct bench_text body = {0};

    bench_add(&body, "{\"workflow\":{\"tasks\":[");
    for (int i = 0; i < TASKS; i++) {
        bench_add(&body, "%s{\"id\":\"task-%d\",\"class\":\"rule%d\",\"cpus\":1",
                  i ? "," : "", i, i % 5);
        if (i >= WIDTH)
            bench_add(&body, ",\"depends_on\":[\"task-%d\",\"task-%d\"]", i - WIDTH,
                      i / WIDTH * WIDTH - WIDTH + (i + 7) % WIDTH);
        bench_add(&body, "}");
    }
    bench_add(&body, "]},\"snapshot\":{\"resources\":[");
    for (int i = 0; i < 3; i++)
        bench_add(&body, "%s{\"id\":\"n%d\",\"mips_total\":%d,\"cpus\":2}", i ? "," : "",
                  i, 1 << i);
    bench_add(&body, "]}}");
    return body;
}

static struct bench_reply ask(int fd, const char *method, const char *path,
                              const struct bench_text *body, int wanted)
{
    struct bench_reply reply =
        bench_request(fd, method, path, "application/json", body->data, body->length);

    if (reply.status != wanted)
        bench_stop("%s %s answers %d: %.600s", method, path, reply.status, reply.body);
    return reply;
}

/* CPU seconds of the service so far. */
static double cpu_s(const struct bench_process *service)
{
    unsigned long user = 0, system = 0;
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)service->pid);
    f = fopen(path, "r");
    if (!f || fscanf(f, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                     &user, &system) != 2)
        bench_stop("cannot read %s", path);
    fclose(f);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* The text of the member behind `name`, in the first start; "": there is none. */
static void read_member(const char *body, const char *name, char *out, size_t size)
{
    const char *at = strstr(body, "\"start\":[{");

    out[0] = '\0';
    at = at ? strstr(at, name) : NULL;
    if (!at)
        return;
    at += strlen(name);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
}

/* One call for each step of an engine: it says what has started or ended, and is told
 * what to start. */
static void measure_steps(int fd, const struct bench_process *service)
{
    double times[STEPS], bytes = 0, cpu_before_s = cpu_s(service);
    char running[8][64] = {""};
    int count = 0, next_id = 0;
    double clock_s = (double)time(NULL) - 100000;

    for (int i = 0; i < STEPS; i++) {
        struct bench_text body = {0};
        struct bench_reply reply;
        char task[64], host[64];
        double began_s;

        bench_add(&body, "{\"holder\":\"engine\",\"max_count\":1");
        if (count == 6) { /* the one that runs for longest ends */
            bench_add(&body,
                      ",\"events\":[{\"event_id\":\"%d\",\"kind\":\"ended\","
                      "\"observed_at\":%.3f,\"task_id\":\"%s\"}]",
                      next_id++, clock_s += 10, running[0]);
            memmove(running[0], running[1], sizeof(running) - sizeof(running[0]));
            count--;
        }
        bench_add(&body, "}");
        began_s = bench_now_s();
        reply = ask(fd, "POST", PATH "/starts", &body, 200);
        times[i] = bench_now_s() - began_s;
        bytes = bytes > (double)body.length ? bytes : (double)body.length;
        free(body.data);
        read_member(reply.body, "\"task_id\":\"", task, sizeof(task));
        read_member(reply.body, "\"resource_id\":\"", host, sizeof(host));
        if (!task[0])
            bench_stop("nothing to start at step %d: %.600s", i, reply.body);
        body = (struct bench_text){0};
        bench_add(&body,
                  "{\"event_id\":\"%d\",\"kind\":\"started\",\"observed_at\":%.3f,"
                  "\"task_id\":\"%s\",\"resource_id\":\"%s\"}",
                  next_id++, clock_s += 1, task, host);
        ask(fd, "POST", PATH "/events", &body, 200);
        free(body.data);
        snprintf(running[count++], sizeof(running[0]), "%s", task);
    }
    bench_row(
        "A step of the engine of a workflow of 1,000 tasks: `starts` with an event "
        "that it has to plan anew for",
        "under 20 ms, body under 1 kB",
        bench_quantile(times, STEPS, 0.5) < 0.020 && bytes < 1000 ? BENCH_MET
                                                                  : BENCH_MISSED,
        "%.1f ms (median of %d, 95 %% under %.1f ms; %.1f ms of CPU of the service, "
        "with the event of its start; body %.0f bytes)",
        1e3 * bench_quantile(times, STEPS, 0.5), STEPS,
        1e3 * bench_quantile(times, STEPS, 0.95),
        1e3 * (cpu_s(service) - cpu_before_s) / STEPS, bytes);
}

/* GET next with the ETag that there is. */
static void measure_unchanged(int fd)
{
    struct bench_reply reply = ask(fd, "GET", PATH "/next", &(struct bench_text){0}, 200);
    double times[STEPS];
    char tag[80] = "", request[400];
    const char *at = reply.body;

    while (strncmp(at, "HTTP/1.1", 8) != 0) /* the head is before the body */
        at--;
    at = strstr(at, "ETag: ");
    if (!at || at > reply.body)
        bench_stop("GET next has no ETag");
    snprintf(tag, sizeof(tag), "%.*s", (int)strcspn(at + 6, "\r"), at + 6);
    snprintf(request, sizeof(request),
             "GET " PATH "/next HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: %s\r\n\r\n",
             tag);
    for (int i = 0; i < STEPS; i++) {
        double began_s = bench_now_s();

        bench_send_all(fd, request, strlen(request));
        reply = bench_receive(fd);
        times[i] = bench_now_s() - began_s;
        if (reply.status != 304)
            bench_stop("GET next answers %d", reply.status);
    }
    bench_row("`next` when nothing has changed", "under 1 ms",
              bench_quantile(times, STEPS, 0.5) < 0.001 ? BENCH_MET : BENCH_MISSED,
              "%.2f ms (median of %d, 95 %% under %.2f ms)",
              1e3 * bench_quantile(times, STEPS, 0.5), STEPS,
              1e3 * bench_quantile(times, STEPS, 0.95));
}

static void measure_events(int fd, const struct bench_process *service)
{
    struct bench_text bodies[BATCHES];
    double began_s, seconds, cpu_before_s;
    int event = 0;

    for (int b = 0; b < BATCHES; b++) {
        bodies[b] = (struct bench_text){0};
        for (int i = 0; i < BATCH; i++, event++)
            bench_add(&bodies[b],
                      "%s{\"event_id\":\"x%d\",\"kind\":\"%s\",\"observed_at\":%d,"
                      "\"task_id\":\"task-%d\",\"resource_id\":\"n%d\",\"attempt\":%d}",
                      i ? "," : "[", event, event % 2 ? "ended" : "started",
                      1700000000 + event, event / 2 % TASKS, event / 2 % 3,
                      2 + event / 2 / TASKS);
        bench_add(&bodies[b], "]");
    }
    cpu_before_s = cpu_s(service);
    began_s = bench_now_s();
    for (int b = 0; b < BATCHES; b++)
        ask(fd, "POST", PATH "/events", &bodies[b], 200);
    seconds = bench_now_s() - began_s;
    for (int b = 0; b < BATCHES; b++)
        free(bodies[b].data);
    bench_row("Events stored, 100 a request, one client", "at least 5,000/s",
              event / seconds >= 5000 ? BENCH_MET : BENCH_MISSED,
              "%.0f/s (%d events in %.2f s, %.2f s of CPU of the service; executions are "
              "learnt)",
              event / seconds, event, seconds, cpu_s(service) - cpu_before_s);
}

int main(void)
{
    struct bench_process service = bench_start_service(true, NULL);
    struct bench_text body = definition();
    int fd = bench_connect(service.port);

    ask(fd, "PUT", PATH, &body, 201);
    free(body.data);
    measure_steps(fd, &service);
    measure_unchanged(fd);
    measure_events(fd, &service);
    close(fd);
    bench_end(&service);
    return 0;
}
