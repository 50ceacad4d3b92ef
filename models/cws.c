/* cws.c - what nf-cws sends. */
#include "models/cws.h"

#include "models/json_walk.h"

#include <math.h>
#include <string.h>

/* A member of the object: its name, and where its value goes. */
struct member {
    const char *name;
    const char **text; /* NULL: a number */
    double *number;
};

static void take(struct json_walk *w, const struct member *m, struct arena *a)
{
    char type = json_walk_type(w);

    if (m->text && type == '"') {
        const char *text = json_walk_string(w);

        *m->text = *text ? arena_text(a, text, strlen(text)) : NULL;
    } else if (!m->text && type == '0') {
        double number = json_walk_number(w);

        *m->number = number > 0 && isfinite(number) ? number : (double)NAN;
    } else {
        json_walk_skip(w);
    }
}

/* Members up to one without a name. */
static enum error_code read_object(const char *text, size_t length,
                                   const struct member *members, struct arena *a,
                                   struct error *err)
{
    struct json_walk w;
    const char *name;

    json_walk_open(&w, text, length, a);
    json_walk_enter(&w, '{');
    while ((name = json_walk_member(&w))) {
        const struct member *m = members;

        while (m->name && strcmp(m->name, name) != 0)
            m++;
        if (m->name)
            take(&w, m, a);
        else
            json_walk_skip(&w);
    }
    if (json_walk_end(&w, "", &(struct error){.arena = a}) != OK)
        return fail(err, ERR_MALFORMED, "", "the body is no JSON object");
    return OK;
}

enum error_code cws_strategy_read(const char *text, size_t length, const char **strategy,
                                  struct arena *a, struct error *err)
{
    const struct member members[] = {{"strategy", strategy, NULL}, {0}};

    *strategy = NULL;
    return read_object(text, length, members, a, err);
}

enum error_code cws_task_read(const char *text, size_t length, struct cws_task *out,
                              struct arena *a, struct error *err)
{
    double repetition = NAN;
    const struct member members[] = {
        {"task", &out->process, NULL},
        {"runName", &out->pod, NULL},
        {"cpus", NULL, &out->cpus},
        {"memoryInBytes", NULL, &out->memory_bytes},
        {"inputSize", NULL, &out->input_bytes},
        {"repetition", NULL, &repetition},
        {0},
    };

    *out = (struct cws_task){.cpus = NAN, .memory_bytes = NAN, .input_bytes = NAN};
    TRY(read_object(text, length, members, a, err));
    out->attempt = 1 + (isnan(repetition) ? 0 : floor(fmin(repetition, 1e6)));
    if (!out->process)
        return fail(err, ERR_MALFORMED, "", "the task does not name its process");
    return OK;
}

enum error_code cws_metrics_read(const char *text, size_t length, struct cws_metrics *out,
                                 struct arena *a, struct error *err)
{
    const struct member members[] = {
        {"peakRss", NULL, &out->peak_rss_bytes},
        {"realtime", NULL, &out->run_time_s},
        {0},
    };

    *out = (struct cws_metrics){NAN, NAN};
    TRY(read_object(text, length, members, a, err));
    out->run_time_s /= 1000;
    return OK;
}
