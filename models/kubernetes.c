/* kubernetes.c - what the scheduler of Kubernetes asks an extender. */
#include "models/kubernetes.h"

#include "models/base/budget_read.h"
#include "models/json_walk.h"
#include "models/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NODE_STEPS = 64, NUMBER_MAX_BYTES = 40 };

/* ---- quantities ---- */

bool kubernetes_quantity(const char *text, double *value)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {{"", 1},        {"n", 1e-9},    {"u", 1e-6},    {"m", 1e-3},
                    {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
                    {"P", 1e15},    {"E", 1e18},    {"Ki", 0x1p10}, {"Mi", 0x1p20},
                    {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60}};
    size_t length = strspn(text, "0123456789.+");
    char number[NUMBER_MAX_BYTES];

    /* An exponent has digits behind it; "E" alone is a suffix. */
    if ((text[length] == 'e' || text[length] == 'E') &&
        text[length + 1 + strspn(text + length + 1, "+-")] >= '0' &&
        text[length + 1 + strspn(text + length + 1, "+-")] <= '9')
        length += 1 + strspn(text + length + 1, "0123456789+-");
    if (length == 0 || length >= sizeof(number))
        return false;
    memcpy(number, text + (*text == '+'), length - (*text == '+'));
    number[length - (*text == '+')] = 0;
    if (!line_number(number, value) || *value < 0)
        return false;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (strcmp(text + length, suffixes[i].suffix) == 0) {
            *value *= suffixes[i].factor;
            return true;
        }
    return false;
}

/* ---- reading ---- */

struct amounts {
    double cpus, memory_bytes, disk_bytes;
};

struct reader {
    struct json_walk walk;
    struct kubernetes_args *out;
    struct kubernetes_node *nodes;
    size_t room;
    struct arena *a;
};

/* A quantity is a string or a number; 0 if it cannot be read. */
static double take_quantity(struct reader *r)
{
    double value = 0;

    if (json_walk_type(&r->walk) == '"') {
        if (!kubernetes_quantity(json_walk_string(&r->walk), &value))
            value = 0;
    } else if (json_walk_type(&r->walk) == '0') {
        value = fmax(0, json_walk_number(&r->walk));
    } else {
        json_walk_skip(&r->walk);
    }
    return value;
}

static void read_requests(struct reader *r, struct amounts *x)
{
    const char *member;

    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk)))
        if (strcmp(member, "cpu") == 0)
            x->cpus = take_quantity(r);
        else if (strcmp(member, "memory") == 0)
            x->memory_bytes = take_quantity(r);
        else if (strcmp(member, "ephemeral-storage") == 0)
            x->disk_bytes = take_quantity(r);
        else
            json_walk_skip(&r->walk);
}

static void read_resources(struct reader *r, struct amounts *x)
{
    const char *member;

    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk)))
        if (strcasecmp(member, "requests") == 0)
            read_requests(r, x);
        else
            json_walk_skip(&r->walk);
}

static struct amounts plus(struct amounts x, struct amounts y)
{
    return (struct amounts){x.cpus + y.cpus, x.memory_bytes + y.memory_bytes,
                            x.disk_bytes + y.disk_bytes};
}

static struct amounts greater(struct amounts x, struct amounts y)
{
    return (struct amounts){fmax(x.cpus, y.cpus), fmax(x.memory_bytes, y.memory_bytes),
                            fmax(x.disk_bytes, y.disk_bytes)};
}

/* A container; *stays: it is one that begins before the others, and goes on beside them
 * (restartPolicy of an init container). */
static struct amounts read_container(struct reader *r, bool *stays)
{
    struct amounts one = {0};
    const char *member, *policy;

    *stays = false;
    if (!json_walk_enter_if(&r->walk, '{'))
        return one;
    while ((member = json_walk_member(&r->walk)))
        if (strcasecmp(member, "resources") == 0) {
            read_resources(r, &one);
        } else if (strcasecmp(member, "restartPolicy") == 0) {
            policy = json_walk_text(&r->walk, r->a);
            *stays = policy && strcmp(policy, "Always") == 0;
        } else {
            json_walk_skip(&r->walk);
        }
    return one;
}

/* All together. */
static struct amounts read_containers(struct reader *r)
{
    struct amounts sum = {0};
    bool ignored;

    if (!json_walk_enter_if(&r->walk, '['))
        return sum;
    while (json_walk_element(&r->walk)) {
        if (budget_read_step(NODE_STEPS))
            break;
        sum = plus(sum, read_container(r, &ignored));
    }
    return sum;
}

/* The most that they take at once, one after the other; *stay: those that go on. */
static struct amounts read_init_containers(struct reader *r, struct amounts *stay)
{
    struct amounts most = {0};

    if (!json_walk_enter_if(&r->walk, '['))
        return most;
    while (json_walk_element(&r->walk)) {
        struct amounts one;
        bool stays;

        if (budget_read_step(NODE_STEPS))
            break;
        one = read_container(r, &stays);
        most = greater(most, plus(*stay, one));
        if (stays)
            *stay = plus(*stay, one);
    }
    return most;
}

static void read_spec(struct reader *r)
{
    struct kubernetes_pod *pod = &r->out->pod;
    struct amounts all = {0}, first = {0}, stay = {0}, whole = {0}, overhead = {0};
    const char *member;

    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk)))
        if (strcasecmp(member, "containers") == 0)
            all = read_containers(r);
        else if (strcasecmp(member, "initContainers") == 0)
            first = read_init_containers(r, &stay);
        else if (strcasecmp(member, "resources") == 0)
            read_resources(r, &whole);
        else if (strcasecmp(member, "overhead") == 0)
            read_requests(r, &overhead);
        else
            json_walk_skip(&r->walk);
    all = greater(plus(all, stay), first);
    pod->cpus = (whole.cpus > 0 ? whole.cpus : all.cpus) + overhead.cpus;
    pod->memory_bytes = (whole.memory_bytes > 0 ? whole.memory_bytes : all.memory_bytes) +
                        overhead.memory_bytes;
    pod->disk_bytes =
        (whole.disk_bytes > 0 ? whole.disk_bytes : all.disk_bytes) + overhead.disk_bytes;
}

static void read_annotations(struct reader *r, struct kubernetes_pod *pod)
{
    const char *member;

    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk)))
        if (strcmp(member, "gridplan.session") == 0)
            pod->session_id = json_walk_text(&r->walk, r->a);
        else if (strcmp(member, "gridplan.task") == 0)
            pod->task_id = json_walk_text(&r->walk, r->a);
        else
            json_walk_skip(&r->walk);
}

/* The name; of a pod (not NULL) its annotations, too. */
static const char *read_metadata(struct reader *r, struct kubernetes_pod *pod)
{
    const char *member, *name = NULL;

    if (!json_walk_enter_if(&r->walk, '{'))
        return NULL;
    while ((member = json_walk_member(&r->walk)))
        if (strcasecmp(member, "name") == 0)
            name = json_walk_text(&r->walk, r->a);
        else if (pod && strcasecmp(member, "annotations") == 0)
            read_annotations(r, pod);
        else
            json_walk_skip(&r->walk);
    return name;
}

static void read_pod(struct reader *r)
{
    const char *member;

    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk)))
        if (strcasecmp(member, "metadata") == 0)
            r->out->pod.name = read_metadata(r, &r->out->pod);
        else if (strcasecmp(member, "spec") == 0)
            read_spec(r);
        else
            json_walk_skip(&r->walk);
}

static void add_node(struct reader *r, const struct kubernetes_node *node)
{
    size_t count = r->out->node_count;

    if (count == r->room) {
        size_t room = r->room ? 2 * r->room : 64;

        r->nodes = r->room ? GROW(r->a, r->nodes, struct kubernetes_node, r->room, room)
                           : NEW(r->a, struct kubernetes_node, room);
        r->room = room;
    }
    r->nodes[count] = *node;
    r->out->nodes = r->nodes;
    r->out->node_count++;
}

/* Where the next value begins. */
static const char *here(struct reader *r)
{
    json_walk_type(&r->walk); /* steps over blanks */
    return r->walk.at;
}

static void read_node(struct reader *r)
{
    struct kubernetes_node node = {.name = NULL};
    const char *member;

    node.object = here(r);
    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk)))
        if (strcasecmp(member, "metadata") == 0)
            node.name = read_metadata(r, NULL);
        else
            json_walk_skip(&r->walk);
    node.object_length = (size_t)(r->walk.at - node.object);
    if (!node.name)
        node.name = "";
    add_node(r, &node);
}

static void read_items(struct reader *r)
{
    if (!json_walk_enter_if(&r->walk, '['))
        return;
    while (json_walk_element(&r->walk)) {
        if (budget_read_step(NODE_STEPS))
            return;
        read_node(r);
    }
}

static void read_nodes(struct reader *r)
{
    const char *member;

    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk)))
        if (strcasecmp(member, "items") == 0 && !r->out->by_name)
            read_items(r);
        else
            json_walk_skip(&r->walk);
}

static void read_names(struct reader *r)
{
    if (!json_walk_enter_if(&r->walk, '['))
        return;
    r->out->by_name = true;
    r->out->node_count = 0; /* names go before objects, where there are both */
    while (json_walk_element(&r->walk)) {
        struct kubernetes_node node = {.name = json_walk_text(&r->walk, r->a)};

        if (budget_read_step(NODE_STEPS))
            return;
        if (node.name)
            add_node(r, &node);
    }
}

enum error_code kubernetes_args_read(const char *text, size_t length,
                                     struct kubernetes_args *out, struct arena *a,
                                     struct error *err)
{
    struct reader r = {.out = out, .a = a};
    const char *member;

    *out = (struct kubernetes_args){.by_name = false};
    json_walk_open(&r.walk, text, length, a);
    json_walk_enter(&r.walk, '{');
    while ((member = json_walk_member(&r.walk)))
        if (strcasecmp(member, "pod") == 0)
            read_pod(&r);
        else if (strcasecmp(member, "nodes") == 0)
            read_nodes(&r);
        else if (strcasecmp(member, "nodenames") == 0)
            read_names(&r);
        else
            json_walk_skip(&r.walk);
    if (json_walk_end(&r.walk, "", &(struct error){.arena = a}) != OK)
        return fail(err, ERR_MALFORMED, "", "the body is no JSON object");
    return OK;
}

/* ---- answers ---- */

struct text {
    char *bytes;
    size_t length, size;
    struct arena *a;
};

static void add(struct text *t, const char *bytes, size_t length)
{
    if (t->length + length + 1 > t->size) {
        size_t size = t->size ? 2 * t->size : 1024;

        while (size < t->length + length + 1)
            size *= 2;
        t->bytes =
            t->size ? GROW(t->a, t->bytes, char, t->size, size) : NEW(t->a, char, size);
        t->size = size;
    }
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
    t->bytes[t->length] = 0;
}

static void add_text(struct text *t, const char *text)
{
    add(t, text, strlen(text));
}

/* As a string of JSON. */
static void add_string(struct text *t, const char *text)
{
    add(t, "\"", 1);
    for (const char *p = text; *p; p++) {
        char code[8];

        if (*p == '"' || *p == '\\')
            add(t, "\\", 1);
        if ((unsigned char)*p < 0x20) {
            snprintf(code, sizeof(code), "\\u%04x", (unsigned)(unsigned char)*p);
            add_text(t, code);
        } else {
            add(t, p, 1);
        }
    }
    add(t, "\"", 1);
}

static void add_passed(struct text *t, const struct kubernetes_args *args,
                       const char *const *failed)
{
    bool first = true;

    for (size_t i = 0; i < args->node_count; i++) {
        if (failed && failed[i])
            continue;
        add_text(t, first ? "" : ",");
        if (args->by_name)
            add_string(t, args->nodes[i].name);
        else
            add(t, args->nodes[i].object, args->nodes[i].object_length);
        first = false;
    }
}

const char *kubernetes_filter_answer(const struct kubernetes_args *args,
                                     const char *const *failed, const char *error,
                                     struct arena *a)
{
    struct text t = {.a = a};
    bool first = true;

    add_text(&t,
             args->by_name || *error ? "{\"Nodes\":null," : "{\"Nodes\":{\"items\":[");
    if (!args->by_name && !*error) {
        add_passed(&t, args, failed);
        add_text(&t, "]},");
    }
    add_text(&t, args->by_name && !*error ? "\"NodeNames\":[" : "\"NodeNames\":null,");
    if (args->by_name && !*error) {
        add_passed(&t, args, failed);
        add_text(&t, "],");
    }
    add_text(&t, "\"FailedNodes\":{");
    for (size_t i = 0; failed && i < args->node_count; i++) {
        if (!failed[i])
            continue;
        add_text(&t, first ? "" : ",");
        add_string(&t, args->nodes[i].name);
        add_text(&t, ":");
        add_string(&t, failed[i]);
        first = false;
    }
    add_text(&t, "},\"FailedAndUnresolvableNodes\":{},\"Error\":");
    add_string(&t, error);
    add_text(&t, "}");
    return t.bytes;
}

const char *kubernetes_prioritize_answer(const struct kubernetes_args *args,
                                         const int *scores, struct arena *a)
{
    struct text t = {.a = a};
    char score[24];

    add_text(&t, "[");
    for (size_t i = 0; i < args->node_count; i++) {
        add_text(&t, i ? ",{\"Host\":" : "{\"Host\":");
        add_string(&t, args->nodes[i].name);
        snprintf(score, sizeof(score), ",\"Score\":%d}", scores ? scores[i] : 0);
        add_text(&t, score);
    }
    add_text(&t, "]");
    return t.bytes;
}

void kubernetes_scores(const double *finish_s, size_t count, int *scores)
{
    double earliest_s = INFINITY, latest_s = -INFINITY;

    for (size_t i = 0; i < count; i++)
        if (isfinite(finish_s[i])) {
            earliest_s = fmin(earliest_s, finish_s[i]);
            latest_s = fmax(latest_s, finish_s[i]);
        }
    for (size_t i = 0; i < count; i++) {
        scores[i] = 0;
        if (isfinite(finish_s[i]) && latest_s > earliest_s)
            scores[i] = (int)floor(KUBERNETES_SCORE_MAX * (latest_s - finish_s[i]) /
                                       (latest_s - earliest_s) +
                                   0.5);
    }
}
