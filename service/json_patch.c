/* json_patch.c - changes of a JSON document: merge patches, and elements by their ids. */
#include "service/json_patch.h"

#include "service/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_STEPS = 16 }; /* what finding an element takes, about */

/* A change, made in a computation: it holds nothing but trees in the arena. */
struct patching {
    struct arena *arena;
    struct error *err;
    enum error_code (*change)(struct patching *);
    const char *target, *text;           /* what is changed, and by what; NULL: nothing */
    const struct json_keyed_list *lists; /* all of them, or the one of the element */
    const char *id;                      /* of the element */
    enum json_element_change how;        /* likewise */
    bool found;                          /* likewise */
    struct json_patched *out;
    enum error_code code;
};

/* ---- pointers ---- */

/* `parent`/`name`, escaped. */
static const char *pointer_to(const char *parent, const char *name, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    text_add(&b, parent, strlen(parent));
    text_add(&b, "/", 1);
    for (const char *c = name; *c; c++) {
        if (*c == '~' || *c == '/')
            text_add(&b, *c == '~' ? "~0" : "~1", 2);
        else
            text_add(&b, c, 1);
    }
    text_add(&b, "", 1);
    if (b.failed)
        arena_leave(a);
    return b.data;
}

/* Of an element of a list or of an object. */
static const char *pointer_below(const char *parent, const cJSON *e, size_t index,
                                 struct arena *a)
{
    return e->string ? pointer_to(parent, e->string, a)
                     : arena_printf(a, "%s/%zu", parent, index);
}

static enum error_code refuse(struct patching *p, const char *parent, const char *name,
                              enum item_code code, const char *text)
{
    return invalid(p->err, pointer_to(parent, name, p->arena), code, "%s", text);
}

/* ---- members by name ---- */

static int by_name(const void *x, const void *y)
{
    const cJSON *const *a = x, *const *b = y;

    return strcmp((*a)->string, (*b)->string);
}

/* The members of an object, sorted by name. */
struct members {
    const cJSON **list;
    size_t count;
};

static enum error_code members_of(const cJSON *object, struct members *m,
                                  struct patching *p)
{
    size_t count = 0;

    for (const cJSON *e = object->child; e; e = e->next)
        count++;
    *m = (struct members){NEW(p->arena, const cJSON *, count + 1), 0};
    for (const cJSON *e = object->child; e; e = e->next)
        m->list[m->count++] = e;
    qsort(m->list, m->count, sizeof(const cJSON *), by_name);
    return json_go_on(count * LOOK_STEPS, p->err);
}

static const cJSON *const *find_member(const struct members *m, const char *name)
{
    const cJSON key = {.string = (char *)(uintptr_t)name}, *at = &key;

    return m->count ? bsearch(&at, m->list, m->count, sizeof(const cJSON *), by_name)
                    : NULL;
}

/* Notes members that are there twice and numbers that no double holds, which would be
 * stored as null, at any depth. */
static enum error_code check_tree(const cJSON *v, const char *pointer, struct patching *p)
{
    struct members m;
    size_t index = 0;

    if (cJSON_IsObject(v)) {
        TRY(members_of(v, &m, p));
        for (size_t i = 1; i < m.count; i++)
            if (strcmp(m.list[i]->string, m.list[i - 1]->string) == 0)
                refuse(p, pointer, m.list[i]->string, ITEM_DUPLICATE,
                       "the member is there twice");
    }
    for (const cJSON *e = v->child; e; e = e->next, index++) {
        if (cJSON_IsNumber(e) && !isfinite(e->valuedouble))
            invalid(p->err, pointer_below(pointer, e, index, p->arena),
                    ITEM_OUT_OF_BOUNDS, "the number is too large for a double");
        if (e->child)
            TRY(check_tree(e, pointer_below(pointer, e, index, p->arena), p));
    }
    return OK;
}

static cJSON *member_of(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *id_of(const cJSON *element)
{
    const cJSON *id = member_of(element, "id");

    return cJSON_IsString(id) ? id->valuestring : "";
}

/* ---- what a patch may not say ---- */

static enum error_code check_element(const cJSON *element,
                                     const struct json_keyed_list *of,
                                     const char *pointer, struct patching *p);

/* The elements that a patch gives, as a list or by id. */
static enum error_code check_elements(const cJSON *elements,
                                      const struct json_keyed_list *of,
                                      const char *pointer, struct patching *p)
{
    size_t index = 0;

    for (const cJSON *e = elements->child; e; e = e->next, index++)
        TRY(check_element(e, of, pointer_below(pointer, e, index, p->arena), p));
    return OK;
}

/* The lists of an object of a patch. */
static enum error_code check_lists(const cJSON *object,
                                   const struct json_keyed_list *lists,
                                   const char *pointer, struct patching *p)
{
    for (const struct json_keyed_list *l = lists; l && l->list; l++) {
        const cJSON *list = member_of(object, l->list);
        const cJSON *by_id = member_of(object, l->by_id);

        if (cJSON_IsArray(list))
            TRY(check_elements(list, l, pointer_to(pointer, l->list, p->arena), p));
        if (by_id && !cJSON_IsObject(by_id))
            refuse(p, pointer, l->by_id, ITEM_WRONG_TYPE,
                   "must be an object: id -> what is merged into it, or null");
        else if (by_id && list)
            refuse(p, pointer, l->by_id, ITEM_CONFLICT,
                   "give the whole list or its elements by id, not both");
        else if (by_id)
            TRY(check_elements(by_id, l, pointer_to(pointer, l->by_id, p->arena), p));
    }
    return OK;
}

static enum error_code check_element(const cJSON *element,
                                     const struct json_keyed_list *of,
                                     const char *pointer, struct patching *p)
{
    const cJSON *id = member_of(element, "id");

    if (element->string && cJSON_IsNull(element))
        return OK;
    if (!cJSON_IsObject(element)) {
        if (element->string)
            invalid(p->err, pointer, ITEM_WRONG_TYPE,
                    "must be an object, or null to take the element out");
        return OK; /* of a list: whoever reads the result says so */
    }
    if (element->string && id && strcmp(id_of(element), element->string) != 0)
        refuse(p, pointer, "id", ITEM_CONFLICT,
               "differs from the id that it is given under");
    for (const struct json_instead *i = of->instead; i && i->seconds; i++) {
        const cJSON *seconds = member_of(element, i->seconds);

        if (!seconds || cJSON_IsNull(seconds))
            continue;
        refuse(p, pointer, i->seconds, ITEM_NOT_ALLOWED,
               "seconds from now mean nothing here, as each change has its own now");
        error_hint(p->err, "give the instant, as '%s'", i->instant);
    }
    return check_lists(element, of->inner, pointer, p);
}

/* ---- merging ---- */

static cJSON *merge_object(cJSON *target, const cJSON *patch,
                           const struct json_keyed_list *lists, struct patching *p);

/* RFC 7396, section 2; recursion is bounded by JSON_DEPTH_MAX. NULL: see merge_object().
 */
static cJSON *merge(cJSON *target, const cJSON *patch,
                    const struct json_keyed_list *lists, struct patching *p)
{
    if (!cJSON_IsObject(patch))
        return cJSON_Duplicate(patch, true);
    if (!cJSON_IsObject(target))
        target = cJSON_CreateObject();
    return target ? merge_object(target, patch, lists, p) : NULL;
}

/* An element with its patch; `element` NULL: there was none. */
static cJSON *merge_element(cJSON *element, const cJSON *patch,
                            const struct json_keyed_list *of, struct patching *p)
{
    if (!element)
        element = cJSON_CreateObject();
    if (element && !member_of(element, "id") &&
        !cJSON_AddStringToObject(element, "id", patch->string))
        return NULL;
    for (const struct json_instead *i = of->instead; element && i && i->seconds; i++)
        if (member_of(patch, i->instant))
            cJSON_DeleteItemFromObjectCaseSensitive(element, i->seconds);
    return element ? merge_object(element, patch, of->inner, p) : NULL;
}

/* What has a place in the list is changed or taken out there. */
static bool merge_present(cJSON *list, const struct members *patches,
                          const struct json_keyed_list *of, bool *seen,
                          struct patching *p)
{
    for (cJSON *e = list->child, *next; e; e = next) {
        const cJSON *const *at =
            *id_of(e) ? find_member(patches, id_of(e)) : NULL; /* some have none */

        next = e->next;
        if (json_is_over(LOOK_STEPS))
            return false;
        if (!at)
            continue;
        seen[at - patches->list] = true;
        if (cJSON_IsNull(*at))
            cJSON_Delete(cJSON_DetachItemViaPointer(list, e));
        else if (!merge_element(e, *at, of, p))
            return false;
    }
    return true;
}

/* The others go behind it, in the order of the patch. */
static bool append_absent(cJSON *list, const cJSON *by_id, const struct members *patches,
                          const struct json_keyed_list *of, const bool *seen,
                          struct patching *p)
{
    for (const cJSON *e = by_id->child; e; e = e->next) {
        const cJSON *const *at = find_member(patches, e->string);
        cJSON *made;

        if (cJSON_IsNull(e) || (at && seen[at - patches->list]))
            continue;
        made = merge_element(NULL, e, of, p);
        if (!made || !cJSON_AddItemToArray(list, made))
            return false;
    }
    return true;
}

static bool merge_elements(cJSON *target, const cJSON *by_id,
                           const struct json_keyed_list *of, struct patching *p)
{
    cJSON *list = member_of(target, of->list);
    struct members patches;
    bool *seen;

    if (!list)
        list = cJSON_AddArrayToObject(target, of->list);
    if (!list || members_of(by_id, &patches, p) != OK)
        return false;
    seen = TRY_NEW(p->arena, bool, patches.count + 1);
    return seen && merge_present(list, &patches, of, seen, p) &&
           append_absent(list, by_id, &patches, of, seen, p);
}

static const struct json_keyed_list *list_named(const struct json_keyed_list *lists,
                                                const char *by_id)
{
    for (const struct json_keyed_list *l = lists; l && l->list; l++)
        if (strcmp(l->by_id, by_id) == 0)
            return l;
    return NULL;
}

/* NULL: no memory, or no time. */
static cJSON *merge_object(cJSON *target, const cJSON *patch,
                           const struct json_keyed_list *lists, struct patching *p)
{
    for (const cJSON *e = patch->child; e; e = e->next) {
        const struct json_keyed_list *of = list_named(lists, e->string);
        cJSON *old, *new;

        if (of && cJSON_IsObject(e)) {
            if (!merge_elements(target, e, of, p))
                return NULL;
            continue;
        }
        old = cJSON_DetachItemFromObjectCaseSensitive(target, e->string);
        if (cJSON_IsNull(e))
            continue;
        new = merge(old, e, NULL, p);
        if (!new || !cJSON_AddItemToObject(target, e->string, new))
            return NULL;
    }
    return target;
}

/* ---- whole documents ---- */

/* Of what cJSON could not make. */
static enum error_code fail_merge(struct patching *p)
{
    if (p->err->code != OK)
        return p->err->code;
    TRY(json_go_on(0, p->err));
    arena_leave(p->arena);
}

static enum error_code finish(struct patching *p, const cJSON *document)
{
    if (!document)
        return fail_merge(p);
    p->out->document = document;
    return json_tree_text(document, &p->out->text, p->arena, p->err);
}

static void run_change(void *context)
{
    struct patching *p = context;

    p->code = p->change(p);
}

static enum error_code compute(struct patching *p)
{
    return arena_run(p->arena, run_change, p) ? p->code : fail_memory(p->err);
}

static enum error_code patch_all(struct patching *p)
{
    cJSON *t, *patch;

    TRY(json_tree(p->target, strlen(p->target), &t, p->arena, p->err));
    TRY(json_tree(p->text, strlen(p->text), &patch, p->arena, p->err));
    TRY(check_tree(patch, "", p));
    if (cJSON_IsObject(patch))
        TRY(check_lists(patch, p->lists, "", p));
    if (p->err->code != OK)
        return p->err->code;
    *p->out = (struct json_patched){.patch = patch, .lists = p->lists};
    return finish(p, merge(t, patch, p->lists, p));
}

enum error_code json_patch(const char *target, const char *patch,
                           const struct json_keyed_list *lists, struct json_patched *out,
                           struct arena *a, struct error *err)
{
    return compute(&(struct patching){.arena = a,
                                      .err = err,
                                      .change = patch_all,
                                      .target = target,
                                      .text = patch,
                                      .lists = lists,
                                      .out = out});
}

enum error_code json_merge_patch(const char *target, const char *patch,
                                 const char **merged, struct arena *a, struct error *err)
{
    struct json_patched out;

    TRY(json_patch(target, patch, NULL, &out, a, err));
    *merged = out.text;
    return OK;
}

/* ---- single elements ---- */

static cJSON *find_element(const cJSON *list, const char *id)
{
    for (cJSON *e = list ? list->child : NULL; e; e = e->next)
        if (json_is_over(1) || strcmp(id_of(e), id) == 0)
            return e;
    return NULL;
}

/* What is merged into an element, or takes its place. */
static enum error_code check_body(const cJSON *body, const struct json_keyed_list *of,
                                  const char *id, struct patching *p)
{
    const cJSON *given = member_of(body, "id");

    if (!cJSON_IsObject(body))
        return invalid(p->err, "", ITEM_WRONG_TYPE, "must be an object");
    TRY(check_tree(body, "", p));
    TRY(check_element(body, of, "", p));
    if (given && strcmp(id_of(body), id) != 0)
        invalid(p->err, "/id", ITEM_CONFLICT, "differs from the id in the path");
    return p->err->code;
}

/* `element` NULL: there is none. */
static bool change_element(cJSON *list, cJSON *element, const cJSON *body,
                           struct patching *p)
{
    cJSON *new;

    switch (p->how) {
    case JSON_ELEMENT_MERGE:
        return merge_element(element, body, p->lists, p);
    case JSON_ELEMENT_REMOVE:
        cJSON_Delete(cJSON_DetachItemViaPointer(list, element));
        return true;
    default:
        new = cJSON_Duplicate(body, true);
        if (new && !member_of(new, "id") && !cJSON_AddStringToObject(new, "id", p->id))
            return false;
        return new && (element ? cJSON_ReplaceItemViaPointer(list, element, new)
                               : cJSON_AddItemToArray(list, new));
    }
}

static enum error_code patch_element(struct patching *p)
{
    cJSON *t, *list, *element, *new = NULL;

    TRY(json_tree(p->target, strlen(p->target), &t, p->arena, p->err));
    if (p->how != JSON_ELEMENT_REMOVE) {
        TRY(json_tree(p->text, strlen(p->text), &new, p->arena, p->err));
        TRY(check_body(new, p->lists, p->id, p));
    }
    list = member_of(t, p->lists->list);
    if (!list)
        list = cJSON_AddArrayToObject(t, p->lists->list);
    element = find_element(list, p->id);
    TRY(json_go_on(0, p->err));
    p->found = element;
    *p->out = (struct json_patched){
        .patch = p->how == JSON_ELEMENT_MERGE ? new : NULL, .of = p->lists, .id = p->id};
    if (!element && p->how != JSON_ELEMENT_REPLACE)
        return OK;
    if (!list || !change_element(list, element, new, p))
        return fail_merge(p);
    return finish(p, t);
}

enum error_code json_change_element(const char *target, const struct json_keyed_list *of,
                                    const char *id, enum json_element_change change,
                                    const char *body, bool *found,
                                    struct json_patched *out, struct arena *a,
                                    struct error *err)
{
    struct patching p = {.arena = a,
                         .err = err,
                         .change = patch_element,
                         .target = target,
                         .text = body,
                         .lists = of,
                         .id = id,
                         .how = change,
                         .out = out};

    TRY(compute(&p));
    *found = p.found;
    return OK;
}

enum error_code json_element(const char *target, const struct json_keyed_list *of,
                             const char *id, const char **text, struct arena *a,
                             struct error *err)
{
    const cJSON *element;
    cJSON *t;

    TRY(json_tree(target, strlen(target), &t, a, err));
    element = find_element(member_of(t, of->list), id);
    TRY(json_go_on(0, err));
    *text = NULL;
    return element ? json_tree_text(element, text, a, err) : OK;
}

/* ---- where a mistake of the changed document is in what changed it ---- */

/* Reads "/LIST/INDEX" from *pointer: that element of `object`, with the pointer behind
 * it; NULL: the pointer is not about one. */
static const cJSON *read_element(const cJSON *object, const struct json_keyed_list *of,
                                 const char **pointer)
{
    size_t length = strlen(of->list);
    const char *at = *pointer;
    char *end;
    unsigned long index;

    if (at[0] != '/' || strncmp(at + 1, of->list, length) != 0 || at[length + 1] != '/')
        return NULL;
    index = strtoul(at + length + 2, &end, 10);
    if (end == at + length + 2 || (*end && *end != '/'))
        return NULL;
    *pointer = end;
    return cJSON_GetArrayItem(member_of(object, of->list), (int)index);
}

/* The part of `pointer` that goes through lists by id is written to `b`; what remains is
 * the value. */
static const char *translate(const cJSON *document, const cJSON *patch,
                             const struct json_keyed_list *lists, const char *pointer,
                             struct text_buffer *b)
{
    for (const struct json_keyed_list *l = lists; l && l->list; l++) {
        const cJSON *by_id = member_of(patch, l->by_id), *element, *change;
        const char *rest = pointer;

        if (!by_id)
            continue;
        if (pointer[0] == '/' && strcmp(pointer + 1, l->list) == 0) {
            text_addf(b, "/%s", l->by_id);
            return "";
        }
        element = read_element(document, l, &rest);
        change = element ? member_of(by_id, id_of(element)) : NULL;
        if (!change)
            continue;
        text_addf(b, "/%s%s", l->by_id, pointer_to("", change->string, b->arena));
        return translate(element, change, l->inner, rest, b);
    }
    return pointer;
}

const char *json_patch_pointer(const struct json_patched *p, const char *pointer,
                               struct arena *a)
{
    struct text_buffer b = {.arena = a};
    const cJSON *at = p->document, *element;
    const char *rest = pointer;

    if (p->of) {
        element = read_element(at, p->of, &rest);
        if (!element || strcmp(id_of(element), p->id) != 0)
            return pointer;
        at = element;
    }
    rest = translate(at, p->patch, p->of ? p->of->inner : p->lists, rest, &b);
    text_add(&b, rest, strlen(rest) + 1);
    if (b.failed)
        arena_leave(a);
    return b.data;
}
