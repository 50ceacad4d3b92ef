/* ask_meant.c - what a document looks like to be a request of. */
#include "service/ask_meant.h"

#include "models/json_walk.h"

#include <string.h>

/* What a document has. */
struct seen {
    const char *kind; /* NULL: none */
    bool preset, workflow, jobs, snapshot, cluster, processors, links;
    bool job_overhead, job_components, job_model, job_size;
};

/* A member that says something by being there. */
struct sign {
    const char *name;
    bool *seen;
};

bool ask_decides(const struct route *r)
{
    return strcmp(r->method, "POST") == 0 && r->flags & ROUTE_DECISION && r->request;
}

static bool note(const struct sign *signs, const char *name)
{
    for (const struct sign *s = signs; s->name; s++)
        if (strcmp(name, s->name) == 0)
            return *s->seen = true;
    return false;
}

/* The members of each object of a list. */
static void look_at_list(struct json_walk *w, const struct sign *signs)
{
    const char *name;

    if (!json_walk_enter_if(w, '['))
        return;
    while (json_walk_element(w)) {
        if (!json_walk_enter_if(w, '{'))
            continue;
        while ((name = json_walk_member(w))) {
            note(signs, name);
            json_walk_skip(w);
        }
    }
}

/* Whether sites say what links they have. */
static void look_at_snapshot(struct json_walk *w, struct seen *s)
{
    const struct sign links[] = {{"links", &s->links}, {0}};
    const char *name;

    if (!json_walk_enter_if(w, '{'))
        return;
    while ((name = json_walk_member(w)))
        if (strcmp(name, "sites") == 0)
            look_at_list(w, links);
        else
            json_walk_skip(w);
}

static void look(struct json_walk *w, struct seen *s, struct arena *a)
{
    const struct sign jobs[] = {{"checkpoint_overhead_s", &s->job_overhead},
                                {"components", &s->job_components},
                                {"model", &s->job_model},
                                {"problem_size", &s->job_size},
                                {0}};
    const struct sign signs[] = {{"workflow", &s->workflow},
                                 {"workflows", &s->workflow},
                                 {"dax", &s->workflow},
                                 {"stg", &s->workflow},
                                 {"dot", &s->workflow},
                                 {"wfformat", &s->workflow},
                                 {"preset", &s->preset},
                                 {"snapshot_id", &s->snapshot},
                                 {"snapshot", &s->snapshot},
                                 {"jobs", &s->jobs},
                                 {"cluster", &s->cluster},
                                 {"processors", &s->processors},
                                 {0}};
    const char *name;

    if (!json_walk_enter_if(w, '{'))
        return;
    while ((name = json_walk_member(w))) {
        note(signs, name);
        if (strcmp(name, "kind") == 0)
            s->kind = json_walk_text(w, a);
        else if (strcmp(name, "jobs") == 0)
            look_at_list(w, jobs);
        else if (strcmp(name, "snapshot") == 0)
            look_at_snapshot(w, s);
        else
            json_walk_skip(w);
    }
}

static bool has_kind(const struct route *r, const char *kind)
{
    for (const struct json_field *row = r->request->fields; row->name; row++) {
        if (strcmp(row->name, "kind") != 0)
            continue;
        for (const struct json_kind *k = row->kinds; k && k->name; k++)
            if (strcmp(k->name, kind) == 0)
                return true;
        for (const char *const *c = row->choices; c && *c; c++)
            if (strcmp(*c, kind) == 0)
                return true;
    }
    return false;
}

static const struct route *at(const struct route *routes, const char *path)
{
    for (const struct route *r = routes; path && r->method; r++)
        if (ask_decides(r) && strcmp(r->path, path) == 0)
            return r;
    return NULL;
}

static const struct route *by_kind(const struct route *routes, const char *kind)
{
    static const char *const first[] = {"/v1/simulations", "/v1/reschedules",
                                        "/v1/claims"};

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        const struct route *r = at(routes, first[i]);

        if (r && has_kind(r, kind))
            return r;
    }
    for (const struct route *r = routes; r->method; r++)
        if (ask_decides(r) && has_kind(r, kind))
            return r;
    return NULL;
}

/* The first that fits; NULL: none. */
static const char *by_members(const struct seen *s)
{
    const struct {
        bool fits;
        const char *path;
    } rules[] = {
        {s->preset, "/v1/simulations"},
        {s->workflow, "/v1/workflow-schedules"},
        {s->jobs & s->job_overhead, "/v1/checkpoint-intervals"},
        {(s->jobs & s->processors) | s->cluster, "/v1/queue-orders"},
        {s->job_components, "/v1/coallocations"},
        {s->job_model & s->job_size & s->links, "/v1/parallel-schedules"},
        {s->snapshot & s->jobs, "/v1/placements"},
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].fits)
            return rules[i].path;
    return NULL;
}

const struct route *ask_meant(const struct route *routes, const char *document,
                              size_t length, struct arena *a)
{
    struct seen s = {0};
    struct json_walk w;
    struct error ignored = {.arena = a};
    const struct route *r;

    json_walk_open(&w, document, length, a);
    look(&w, &s, a);
    if (json_walk_end(&w, "", &ignored) != OK)
        return NULL;
    r = s.kind ? by_kind(routes, s.kind) : NULL;
    return r ? r : at(routes, by_members(&s));
}
