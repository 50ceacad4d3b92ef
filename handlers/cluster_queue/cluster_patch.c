/* cluster_patch.c - changes of a cluster's partitions and settings, as merge patches. */
#include "handlers/cluster_queue/cluster_patch.h"

#include "models/base/pointer.h"
#include "models/json_walk.h"

#include <string.h>

enum { PATCHED_MAX = 64 }; /* members of a partition */

/* What is changed of a partition, which is read as one that has nothing else. */
struct patch {
    struct cluster_partition_in of;
    const char *member[PATCHED_MAX];
    size_t member_count;
};

static void copy_bytes(const struct json_field *row, const void *from, void *to,
                       size_t bytes)
{
    memcpy((char *)to + row->offset, (const char *)from + row->offset, bytes);
}

static void copy_member(const struct json_field *row, const void *from, void *to)
{
    switch (row->type) {
    case JSON_TYPE_NUMBER:
    case JSON_TYPE_INSTANT:
        copy_bytes(row, from, to, sizeof(double));
        break;
    case JSON_TYPE_INTEGER:
        copy_bytes(row, from, to, sizeof(uint64_t));
        break;
    case JSON_TYPE_BOOLEAN:
        copy_bytes(row, from, to, sizeof(bool));
        break;
    case JSON_TYPE_CHOICE:
        copy_bytes(row, from, to, sizeof(int));
        break;
    default: /* a pointer, of a list with its count */
        copy_bytes(row, from, to, sizeof(void *));
        if (row->count_offset)
            memcpy((char *)to + row->count_offset, (const char *)from + row->count_offset,
                   sizeof(size_t));
    }
}

/* The object that comes next, as text without its nulls. */
static const char *text_of(struct request *rq, struct json_walk *w, const char *id,
                           struct patch *patch)
{
    struct text_buffer b = {.arena = rq->arena};
    const char *name;

    text_addf(&b, "{\"id\":");
    json_print_text(id, &b);
    json_walk_enter(w, '{');
    while ((name = json_walk_member(w))) {
        const char *kept = arena_text(rq->arena, name, strlen(name)), *from;
        bool is_null = json_walk_type(w) == 'n';

        from = w->at;
        json_walk_skip(w);
        budget_step(&rq->budget, (size_t)(w->at - from));
        if (patch->member_count < PATCHED_MAX)
            patch->member[patch->member_count++] = kept;
        if (is_null)
            continue;
        text_addf(&b, ",");
        json_print_text(kept, &b);
        text_addf(&b, ":");
        text_add(&b, from, (size_t)(w->at - from));
    }
    text_addf(&b, "}");
    text_add(&b, "", 1);
    if (b.failed)
        arena_leave(rq->arena);
    return b.data;
}

/* Whether the patch of a partition makes sense. */
static bool read_patch(struct request *rq, struct json_walk *w, const char *id,
                       const char *pointer, struct patch *patch)
{
    struct error found = {.arena = rq->arena};
    const char *text;

    if (json_walk_type(w) != '{') {
        json_walk_skip(w);
        invalid(rq->err, pointer, ITEM_WRONG_TYPE, "must be an object");
        return false;
    }
    text = text_of(rq, w, id, patch);
    if (w->failed)
        return false;
    for (size_t i = 0; i < patch->member_count; i++)
        if (strcmp(patch->member[i], "id") == 0)
            invalid(rq->err, pointer_of(pointer, "id").text, ITEM_CONFLICT,
                    "it is the name of this member already");
    if (json_read(&cluster_partition_json, text, strlen(text), &patch->of, NULL,
                  rq->arena, &found) == OK)
        return true;
    for (const struct error_item *i = found.first; i; i = i->next)
        invalid_again(rq->err, pointer, i);
    return false;
}

static void apply(struct request *rq, const struct patch *patch,
                  struct cluster_partition_in *to)
{
    for (const struct json_field *row = cluster_partition_json.fields; row->name; row++) {
        budget_step(&rq->budget, patch->member_count);
        for (size_t i = 0; i < patch->member_count; i++)
            if (strcmp(patch->member[i], row->name) == 0)
                copy_member(row, &patch->of, to);
    }
}

const struct cluster_partition_in *
cluster_patched_partitions(struct request *rq, const struct cluster_partition_in *list,
                           size_t count, const char *patch, const char *pointer,
                           size_t *patched_count)
{
    struct cluster_partition_in *patched =
        NEW(rq->arena, struct cluster_partition_in, CLUSTER_PARTITIONS_MAX);
    struct json_walk w;
    const char *name;

    *patched_count = count;
    if (count > 0)
        memcpy(patched, list, count * sizeof(*list));
    json_walk_open(&w, patch, strlen(patch), rq->arena);
    if (json_walk_type(&w) != '{') {
        invalid(rq->err, pointer, ITEM_WRONG_TYPE,
                "must be an object: what changes, by the partitions' ids");
        return patched;
    }
    json_walk_enter(&w, '{');
    while ((name = json_walk_member(&w))) {
        const char *id = arena_text(rq->arena, name, strlen(name));
        struct patch *p = NEW(rq->arena, struct patch, 1);
        size_t at = 0;

        if (!read_patch(rq, &w, id, pointer_named(pointer, id).text, p))
            continue;
        while (at < *patched_count && strcmp(patched[at].id, id) != 0)
            at++;
        budget_step(&rq->budget, 64 + at);
        if (at < *patched_count)
            apply(rq, p, &patched[at]);
        else if (at == CLUSTER_PARTITIONS_MAX)
            invalid(rq->err, pointer, ITEM_TOO_LONG, "more than %d partitions",
                    CLUSTER_PARTITIONS_MAX);
        else
            patched[(*patched_count)++] = p->of;
    }
    return patched;
}

/* ---- settings ---- */

/* The object that comes next, without members that are null, also of those in it. */
static void add_without_nulls(struct request *rq, struct json_walk *w,
                              struct text_buffer *b)
{
    const char *name;
    bool first = true;

    text_addf(b, "{");
    json_walk_enter(w, '{');
    while ((name = json_walk_member(w))) {
        const char *from;

        budget_step(&rq->budget, 16);
        if (json_walk_type(w) == 'n') {
            json_walk_skip(w);
            continue;
        }
        text_addf(b, first ? "" : ",");
        first = false;
        json_print_text(name, b);
        text_addf(b, ":");
        if (json_walk_type(w) == '{') {
            add_without_nulls(rq, w, b);
            continue;
        }
        from = w->at;
        json_walk_skip(w);
        text_add(b, from, (size_t)(w->at - from));
    }
    text_addf(b, "}");
}

/* The row of that name; NULL: there is none. */
static const struct json_field *row_of(const struct json_object *table, const char *name)
{
    for (const struct json_field *row = table->fields; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* Members that the object names, from `from`; of an object in it those that it names. */
static void merge(struct request *rq, const struct json_object *table,
                  struct json_walk *w, const void *from, void *to)
{
    const char *name;

    json_walk_enter(w, '{');
    while ((name = json_walk_member(w))) {
        const struct json_field *row = row_of(table, name);

        budget_step(&rq->budget, 64);
        if (row && row->type == JSON_TYPE_OBJECT && json_walk_type(w) == '{') {
            merge(rq, row->of, w, (const char *)from + row->offset,
                  (char *)to + row->offset);
            continue;
        }
        if (row && row->type == JSON_TYPE_OBJECT)
            copy_bytes(row, from, to, row->of->size);
        else if (row)
            copy_member(row, from, to);
        json_walk_skip(w);
    }
}

void cluster_patch_settings(struct request *rq, const char *patch, const char *pointer,
                            struct cluster_settings_in *to)
{
    struct cluster_settings_in *fresh = NEW(rq->arena, struct cluster_settings_in, 1);
    struct text_buffer b = {.arena = rq->arena};
    struct error found = {.arena = rq->arena};
    struct json_walk w;

    json_walk_open(&w, patch, strlen(patch), rq->arena);
    if (json_walk_type(&w) != '{') {
        invalid(rq->err, pointer, ITEM_WRONG_TYPE, "must be an object");
        return;
    }
    add_without_nulls(rq, &w, &b);
    text_add(&b, "", 1);
    if (json_read(&cluster_settings_json, text_end(&b), b.length - 1, fresh, NULL,
                  rq->arena, &found) != OK) {
        for (const struct error_item *i = found.first; i; i = i->next)
            invalid_again(rq->err, pointer, i);
        return;
    }
    json_walk_open(&w, patch, strlen(patch), rq->arena);
    merge(rq, &cluster_settings_json, &w, fresh, to);
}
