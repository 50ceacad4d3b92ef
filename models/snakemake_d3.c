/* snakemake_d3.c - what `snakemake --d3dag` prints to a workflow. */
#include "models/snakemake_d3.h"

#include "models/base/budget_read.h"
#include "models/json_walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITEM_STEPS = 64, NAME_MAX_BYTES = 300 };

enum list_kind { NODES, LINKS };
static const char *const list_pointers[] = {"/nodes", "/links"};

/* Places of pieces: list * PLACES + index. */
#define PLACES (UINT64_C(1) << 32)

struct reader {
    struct json_walk walk;
    struct workflow_builder *b;
    const char *pointer;
    uint64_t at;
    enum error_code code; /* of what is no mistake */
    struct error *err;
};

static void locate(uint64_t at, char *pointer, size_t size)
{
    snprintf(pointer, size, "%s/%llu", list_pointers[at / PLACES],
             (unsigned long long)(at % PLACES));
}

static bool goes_on(const struct reader *r)
{
    return r->code == OK && !r->walk.failed;
}

/* An id: a whole number or a string, as text; false: neither. */
static bool take_id(struct reader *r, char *id)
{
    char type = json_walk_type(&r->walk);

    if (type == '"') {
        snprintf(id, NAME_MAX_BYTES, "%s", json_walk_string(&r->walk));
        return *id;
    }
    if (type == '0') {
        double number = json_walk_number(&r->walk);

        snprintf(id, NAME_MAX_BYTES, "%.0f", number);
        return fabs(number) < 9e15 && floor(number) == number;
    }
    json_walk_skip(&r->walk);
    return false;
}

static void take_text(struct reader *r, char *text)
{
    if (json_walk_type(&r->walk) == '"')
        snprintf(text, NAME_MAX_BYTES, "%s", json_walk_string(&r->walk));
    else
        json_walk_skip(&r->walk);
}

/* The rule, else the label. */
static void read_value(struct reader *r, char *rule)
{
    char label[NAME_MAX_BYTES] = "";
    const char *member;

    if (json_walk_type(&r->walk) != '{') {
        json_walk_skip(&r->walk);
        return;
    }
    json_walk_enter(&r->walk, '{');
    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        if (strcmp(member, "rule") == 0)
            take_text(r, rule);
        else if (strcmp(member, "label") == 0)
            take_text(r, label);
        else
            json_walk_skip(&r->walk);
    }
    if (!*rule)
        memcpy(rule, label, sizeof(label));
}

static void read_node(struct reader *r)
{
    char id[NAME_MAX_BYTES] = "", rule[NAME_MAX_BYTES] = "";
    bool has_id = false;
    const char *member;
    size_t task;

    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        if (strcmp(member, "id") == 0)
            has_id = take_id(r, id);
        else if (strcmp(member, "value") == 0)
            read_value(r, rule);
        else
            json_walk_skip(&r->walk);
    }
    if (!goes_on(r))
        return;
    if (has_id)
        r->code = workflow_add_task(r->b, id, *rule ? rule : id, NAN, r->at, &task);
    else
        workflow_mistake(r->b, r->at, ITEM_REQUIRED,
                         "the node has no id, a whole number or a text");
}

static void read_link(struct reader *r)
{
    char from[NAME_MAX_BYTES], to[NAME_MAX_BYTES];
    bool has_from = false, has_to = false;
    const char *member;

    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        if (strcmp(member, "u") == 0)
            has_from = take_id(r, from);
        else if (strcmp(member, "v") == 0)
            has_to = take_id(r, to);
        else
            json_walk_skip(&r->walk);
    }
    if (!goes_on(r))
        return;
    if (has_from && has_to)
        r->code = workflow_add_dependency(r->b, from, to, NAN, WORKFLOW_BY_BOTH, r->at);
    else
        workflow_mistake(r->b, r->at, ITEM_REQUIRED, "the link has no u or no v");
}

static void read_list(struct reader *r, enum list_kind list)
{
    char pointer[128];

    if (json_walk_type(&r->walk) != '[') {
        snprintf(pointer, sizeof(pointer), "%.100s%s", r->pointer, list_pointers[list]);
        invalid(r->err, pointer, ITEM_WRONG_TYPE, "must be a list");
        json_walk_skip(&r->walk);
        return;
    }
    json_walk_enter(&r->walk, '[');
    for (r->at = list * PLACES; goes_on(r) && json_walk_element(&r->walk); r->at++) {
        if (budget_read_step(ITEM_STEPS)) {
            r->code = fail(r->err, ERR_CANCELLED, "", "the client went away");
            return;
        }
        if (json_walk_type(&r->walk) != '{') {
            workflow_mistake(r->b, r->at, ITEM_WRONG_TYPE, "must be an object");
            json_walk_skip(&r->walk);
            continue;
        }
        json_walk_enter(&r->walk, '{');
        if (list == NODES)
            read_node(r);
        else
            read_link(r);
    }
}

enum error_code snakemake_d3_read(const char *text, size_t length, const char *pointer,
                                  struct workflow_import *out, struct arena *a,
                                  struct error *err)
{
    const struct workflow_source source = {WORKFLOW_IN_SNAKEMAKE_D3, pointer, locate};
    struct reader r = {.err = err, .pointer = pointer};
    const char *member;

    r.b = workflow_builder_open(&source, a, err);
    json_walk_open(&r.walk, text, length, a);
    if (json_walk_type(&r.walk) != '{' && json_walk_type(&r.walk))
        return invalid(err, pointer, ITEM_WRONG_TYPE, "must be an object");
    json_walk_enter(&r.walk, '{');
    while (goes_on(&r) && (member = json_walk_member(&r.walk))) {
        if (strcmp(member, "nodes") == 0)
            read_list(&r, NODES);
        else if (strcmp(member, "links") == 0)
            read_list(&r, LINKS);
        else {
            char place[96];

            snprintf(place, sizeof(place), "/%.80s", member);
            workflow_leave_out(r.b, place);
            json_walk_skip(&r.walk);
        }
    }
    TRY(r.code);
    TRY(json_walk_end(&r.walk, pointer, err));
    return workflow_build(r.b, out);
}
