/* openapi_compare.c - what a changed description of the API breaks for its clients.
 *
 * Both documents are walked side by side from their operations, so that a schema is
 * judged where it is used: in a request or in an answer. A schema that contains itself
 * ends at its second visit. Cost: linear in the descriptions with their references
 * written out.
 */
#include "service/openapi_compare.h"

#include "models/base/names.h"
#include "service/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACE_MAX = 1024,
    PARTS_MAX = 16, /* of one schema: what its references and allOf lead to */
    KINDS_MAX = 64, /* of one schema */
};

enum role { IN_REQUEST, IN_ANSWER };

/* One of the two documents, with its components by "#/components/GROUP/NAME". */
struct side {
    const cJSON *root;
    struct name_index names;
    const cJSON **components;
};

struct found {
    struct openapi_difference difference;
    size_t operation, number; /* for the order */
};

/* A kind of request that is new. */
struct new_kind {
    const char *name;
    size_t operation;
    struct new_kind *next;
};

struct compare {
    struct side old, new;
    struct arena *arena;
    const char *operation; /* that is looked at */
    size_t operation_number;
    bool has_body; /* its requests have one */
    char place[PLACE_MAX];
    struct found *list;
    size_t count, size;
    struct new_kind *new_kinds;
    const char *released, *present, *breaks; /* as they were sent */
    struct openapi_comparison *out;
    struct error *err;
    enum error_code code;
};

/* ---- what is found ---- */

static void note(struct compare *c, bool breaking, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void note(struct compare *c, bool breaking, const char *format, ...)
{
    struct openapi_difference d = {.operation = c->operation, .breaking = breaking};
    va_list args;

    va_start(args, format);
    d.what = arena_vprintf(c->arena, format, args);
    va_end(args);
    d.place = arena_text(c->arena, c->place, strlen(c->place));
    if (c->count == c->size) {
        size_t size = c->size ? 2 * c->size : 64;

        c->list = GROW(c->arena, c->list, struct found, c->size, size);
        c->size = size;
    }
    c->list[c->count] = (struct found){d, c->operation_number, c->count};
    c->count++;
}

/* More may be sent, or may come back, than before: the latter breaks. */
static bool widens(enum role role)
{
    return role == IN_ANSWER;
}

static bool narrows(enum role role)
{
    return role == IN_REQUEST;
}

/* Goes to a place below this one; the length to come back to. */
static size_t enter(struct compare *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static size_t enter(struct compare *c, const char *format, ...)
{
    size_t before = strlen(c->place);
    va_list args;

    va_start(args, format);
    vsnprintf(c->place + before, PLACE_MAX - before, format, args);
    va_end(args);
    return before;
}

static void leave(struct compare *c, size_t before)
{
    c->place[before] = 0;
}

/* ---- documents ---- */

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *v)
{
    return cJSON_IsString(v) ? v->valuestring : "";
}

static bool lists(const cJSON *list, const char *text)
{
    const cJSON *v;

    cJSON_ArrayForEach(v, list) if (strcmp(text_of(v), text) == 0) return true;
    return false;
}

/* What a reference leads to, or the value itself. */
static const cJSON *resolve(const struct side *s, const cJSON *v)
{
    for (int hops = 0; hops < PARTS_MAX; hops++) {
        const char *reference = text_of(member(v, "$ref"));
        size_t at = *reference ? name_index_find(&s->names, reference) : NAME_NOT_FOUND;

        if (at == NAME_NOT_FOUND)
            break;
        v = s->components[at];
    }
    return v;
}

static enum error_code side_read(struct side *s, const char *text, const char *which,
                                 struct arena *a, struct error *err)
{
    const cJSON *group, *component;
    cJSON *root;
    size_t count = 0;

    TRY(json_tree(text, strlen(text), &root, a, err));
    if (!cJSON_IsObject(member(root, "paths")))
        return fail(err, ERR_INVALID, which, "this is no description: it has no paths");
    s->root = root;
    cJSON_ArrayForEach(group, member(root, "components")) count +=
        (size_t)cJSON_GetArraySize(group);
    s->components = NEW(a, const cJSON *, count);
    name_index_create(&s->names, count, a);
    count = 0;
    cJSON_ArrayForEach(group, member(root, "components"))
    {
        cJSON_ArrayForEach(component, group)
        {
            const char *name =
                arena_printf(a, "#/components/%s/%s", group->string, component->string);

            name_index_add(&s->names, name, count);
            s->components[count++] = component;
        }
    }
    return OK;
}

/* ---- schemas ---- */

/* A schema with what its reference and its allOf lead to: their keywords hold together.
 */
struct parts {
    const cJSON *at[PARTS_MAX];
    size_t count;
};

static void add_parts(const struct side *s, const cJSON *schema, struct parts *p)
{
    const cJSON *target = resolve(s, schema), *v;

    if (p->count < PARTS_MAX)
        p->at[p->count++] = schema;
    if (target != schema && p->count < PARTS_MAX)
        p->at[p->count++] = target;
    cJSON_ArrayForEach(v, member(target, "allOf")) if (p->count < PARTS_MAX)
        add_parts(s, v, p);
}

static struct parts parts_of(const struct side *s, const cJSON *schema)
{
    struct parts p = {.count = 0};

    add_parts(s, schema, &p);
    return p;
}

static const cJSON *keyword(const struct parts *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++) {
        const cJSON *v = member(p->at[i], name);

        if (v)
            return v;
    }
    return NULL;
}

static const cJSON *property(const struct parts *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++) {
        const cJSON *v = member(member(p->at[i], "properties"), name);

        if (v)
            return v;
    }
    return NULL;
}

static bool requires(const struct parts *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (lists(member(p->at[i], "required"), name))
            return true;
    return false;
}

enum type { NONE, TRUTH, INTEGER, NUMBER, TEXT, LIST, OBJECT, TYPE_COUNT };

static const char *const type_names[TYPE_COUNT] = {
    "null", "boolean", "integer", "number", "string", "array", "object"};

/* What a value may be: for each type the schema that says more, or one of several objects
 * that a member tells apart. */
struct variety {
    const cJSON *schema[TYPE_COUNT]; /* NULL: it may not */
    bool any;                        /* nothing is said */
    const char *discriminator;       /* NULL: no kinds */
    struct {
        const char *name;
        const cJSON *schema;
    } kinds[KINDS_MAX];
    size_t kind_count;
};

/* The name under which the discriminator knows a branch; "" if it does not. */
static const char *kind_name(const cJSON *discriminator, const cJSON *branch)
{
    const char *reference = text_of(member(branch, "$ref"));
    const cJSON *v;

    cJSON_ArrayForEach(
        v, member(discriminator, "mapping")) if (strcmp(text_of(v), reference) ==
                                                 0) return v->string;
    return "";
}

static void spread(const struct side *s, const cJSON *schema, struct variety *v)
{
    struct parts p = parts_of(s, schema);
    const cJSON *one = keyword(&p, "oneOf"), *any = keyword(&p, "anyOf");
    const cJSON *type = keyword(&p, "type"), *teller = keyword(&p, "discriminator");
    const cJSON *branches = one ? one : any, *branch;
    bool said = false;

    cJSON_ArrayForEach(branch, branches)
    {
        said = true;
        if (!teller) {
            spread(s, branch, v);
        } else if (v->kind_count < KINDS_MAX) {
            v->discriminator = text_of(member(teller, "propertyName"));
            v->kinds[v->kind_count].name = kind_name(teller, branch);
            v->kinds[v->kind_count++].schema = branch;
            v->schema[OBJECT] = schema;
        }
    }
    for (enum type t = NONE; !said && t < TYPE_COUNT; t++)
        if (!type || strcmp(text_of(type), type_names[t]) == 0 ||
            lists(type, type_names[t]))
            v->schema[t] = schema;
    v->any = v->any || (!said && !type);
}

/* May a value of type `t` be, be it as an integer among numbers? */
static const cJSON *taken(const struct variety *v, enum type t)
{
    return t == INTEGER && !v->schema[t] ? v->schema[NUMBER] : v->schema[t];
}

/* ---- values ---- */

/* Values that are listed: an enum, or a const alone. */
static bool has_value(const cJSON *values, const cJSON *wanted)
{
    const cJSON *v;

    if (!cJSON_IsArray(values))
        return cJSON_Compare(values, wanted, true);
    cJSON_ArrayForEach(v, values) if (cJSON_Compare(v, wanted, true)) return true;
    return false;
}

static const cJSON *values_of(const struct parts *p)
{
    const cJSON *list = keyword(p, "enum");

    return list ? list : keyword(p, "const");
}

/* What the one list has and the other has not; null is a type. */
static void note_values(struct compare *c, bool breaking, const cJSON *in,
                        const cJSON *without, const char *what)
{
    const cJSON *v = cJSON_IsArray(in) ? in->child : in;

    for (; v; v = cJSON_IsArray(in) ? v->next : NULL)
        if (!cJSON_IsNull(v) && !has_value(without, v))
            note(c, breaking, "%s: %s", what,
                 cJSON_IsString(v) ? v->valuestring : cJSON_PrintUnformatted(v));
}

static void compare_values(struct compare *c, enum role role, const struct parts *old,
                           const struct parts *new)
{
    const cJSON *was = values_of(old), *is = values_of(new);
    const cJSON *known = keyword(old, "x-known-values"),
                *knows = keyword(new, "x-known-values");

    if (was && is) {
        note_values(c, widens(role), is, was, "a value that clients do not know");
        note_values(c, narrows(role), was, is, "a value that is gone");
    } else if (was) {
        note(c, widens(role), "any value, no longer those of a list");
    } else if (is) {
        note(c, narrows(role), "only the values of a list");
    }
    if (known && knows) {
        note_values(c, false, knows, known, "a further value of an open list");
        note_values(c, false, known, knows, "a value that an open list has no more");
    }
}

struct limit {
    double at;
    bool outside; /* itself is refused */
};

static const struct limit_row {
    const char *name, *exclusive; /* keywords; NULL: there is none */
    bool is_least;
    double otherwise;
} limit_rows[] = {
    {"minimum", "exclusiveMinimum", true, -HUGE_VAL},
    {"maximum", "exclusiveMaximum", false, HUGE_VAL},
    {"minLength", NULL, true, 0},
    {"maxLength", NULL, false, HUGE_VAL},
    {"minItems", NULL, true, 0},
    {"maxItems", NULL, false, HUGE_VAL},
    {"minProperties", NULL, true, 0},
    {"maxProperties", NULL, false, HUGE_VAL},
};
enum { LIMITS = sizeof(limit_rows) / sizeof(limit_rows[0]) };

static struct limit limit_of(const struct parts *p, const struct limit_row *row)
{
    const cJSON *inside = keyword(p, row->name);
    const cJSON *outside = row->exclusive ? keyword(p, row->exclusive) : NULL;

    if (outside && cJSON_IsNumber(outside))
        return (struct limit){outside->valuedouble, true};
    return (struct limit){
        inside && cJSON_IsNumber(inside) ? inside->valuedouble : row->otherwise, false};
}

/* Above 0: the new one lets less through. */
static int tightness(const struct limit_row *row, struct limit old, struct limit new)
{
    double more = row->is_least ? new.at : -new.at,
           less = row->is_least ? old.at : -old.at;

    return more > less ? 1 : more < less ? -1 : new.outside - old.outside;
}

/* A list that is one no longer bounded what its words bound: their lengths. */
static struct limit limit_of_words(const struct limit_row *row, const cJSON *words)
{
    struct limit found = {row->is_least ? HUGE_VAL : 0, false};
    const cJSON *word;

    cJSON_ArrayForEach(word, words)
    {
        double length =
            cJSON_IsString(word) ? (double)strlen(word->valuestring) : (double)NAN;

        found.at = row->is_least ? fmin(found.at, length) : fmax(found.at, length);
    }
    return found;
}

static bool is_length(const struct limit_row *row)
{
    return strcmp(row->name, "minLength") == 0 || strcmp(row->name, "maxLength") == 0;
}

/* Of requests: answers have no bounds. What a setting bounds is whoever sets it's. */
static void compare_limits(struct compare *c, const struct parts *old,
                           const struct parts *new)
{
    for (size_t i = 0; i < LIMITS; i++) {
        struct limit was = limit_of(old, &limit_rows[i]);
        struct limit is = limit_of(new, &limit_rows[i]);
        const cJSON *words = keyword(new, "enum") ? NULL : keyword(old, "enum");
        int tighter;

        if (words && is_length(&limit_rows[i]))
            was = limit_of_words(&limit_rows[i], words);
        tighter = tightness(&limit_rows[i], was, is);
        if (tighter && !(keyword(new, "x-gridplan-setting") && !limit_rows[i].is_least))
            note(c, tighter > 0, "%s %s: %.15g, was %.15g", limit_rows[i].name,
                 tighter > 0 ? "is tighter" : "is wider", is.at, was.at);
    }
}

/* A keyword with a text, pattern or format. */
static void compare_form(struct compare *c, enum role role, const char *name,
                         const struct parts *old, const struct parts *new)
{
    const char *was = text_of(keyword(old, name)), *is = text_of(keyword(new, name));

    if (strcmp(was, is) == 0)
        return;
    note(c,
         !*was  ? narrows(role)
         : !*is ? widens(role)
                : true,
         "%s: '%s', was '%s'", name, is, was);
}

static void compare_default(struct compare *c, const struct parts *old,
                            const struct parts *new)
{
    const cJSON *was = keyword(old, "default"), *is = keyword(new, "default");

    if (!was && is)
        note(c, false, "a default is said: %s", cJSON_PrintUnformatted(is));
    else if (was && !cJSON_Compare(was, is, true))
        note(c, true, "the default is %s, was %s",
             is ? cJSON_PrintUnformatted(is) : "gone", cJSON_PrintUnformatted(was));
}

/* ---- objects ---- */

/* The schemas within which this one is, up to the operation. */
struct trail {
    const struct trail *up;
    const cJSON *old, *new;
};

static void compare_schema(struct compare *c, enum role role, const cJSON *old,
                           const cJSON *new, const struct trail *trail);

static void compare_member(struct compare *c, enum role role, const struct parts *old,
                           const struct parts *new, const cJSON *was,
                           const struct trail *trail)
{
    const char *name = was->string;
    const cJSON *is = property(new, name);
    size_t before = enter(c, "/%s", name);

    if (!is) {
        note(c, true, "the member is gone%s",
             role == IN_REQUEST ? "; an alias would still take it" : "");
        leave(c, before);
        return;
    }
    if (!requires(old, name) && requires(new, name))
        note(c, narrows(role),
             role == IN_REQUEST ? "the member must be there now"
                                : "the member is always there now");
    else if (requires(old, name) && !requires(new, name))
        note(c, widens(role),
             role == IN_REQUEST ? "the member may be left out now"
                                : "the member is not always there now");
    compare_schema(c, role, was, is, trail);
    leave(c, before);
}

/* Members of any name: of requests none (false), of one schema, or anything. */
static void compare_others(struct compare *c, enum role role, const struct parts *old,
                           const struct parts *new, const struct trail *trail)
{
    const cJSON *was = keyword(old, "additionalProperties");
    const cJSON *is = keyword(new, "additionalProperties");
    int before_open = cJSON_IsFalse(was) ? 0 : cJSON_IsObject(was) ? 1 : 2;
    int now_open = cJSON_IsFalse(is) ? 0 : cJSON_IsObject(is) ? 1 : 2;
    size_t before = enter(c, "/*");

    if (before_open == 1 && now_open == 1)
        compare_schema(c, role, was, is, trail);
    else if (before_open < now_open && (role == IN_REQUEST || before_open == 1))
        note(c, widens(role), "members of other names and types");
    else if (before_open > now_open && (role == IN_REQUEST || now_open == 1))
        note(c, narrows(role), "fewer members of other names");
    leave(c, before);
}

static void compare_objects(struct compare *c, enum role role, const struct parts *old,
                            const struct parts *new, const struct trail *trail)
{
    const cJSON *v;

    for (size_t i = 0; i < old->count; i++)
        cJSON_ArrayForEach(v, member(old->at[i], "properties"))
            compare_member(c, role, old, new, v, trail);
    for (size_t i = 0; i < new->count; i++)
        cJSON_ArrayForEach(v, member(new->at[i], "properties"))
        {
            size_t before;

            if (property(old, v->string))
                continue;
            before = enter(c, "/%s", v->string);
            if (role == IN_REQUEST && requires(new, v->string))
                note(c, true, "a new member that must be there");
            else
                note(c, false, "a new member");
            leave(c, before);
        }
    compare_others(c, role, old, new, trail);
}

/* ---- kinds ---- */

static const cJSON *kind_schema(const struct variety *v, const char *name)
{
    for (size_t i = 0; i < v->kind_count; i++)
        if (strcmp(v->kinds[i].name, name) == 0)
            return v->kinds[i].schema;
    return NULL;
}

/* Can only a request of a new kind lead to an answer of this one? An operation without a
 * body answers what others have stored. */
static bool is_asked_for(const struct compare *c, const char *name)
{
    for (const struct new_kind *k = c->new_kinds; k; k = k->next)
        if (strcmp(k->name, name) == 0 &&
            (!c->has_body || k->operation == c->operation_number))
            return true;
    return false;
}

static void note_new_kind(struct compare *c, enum role role, const char *name)
{
    struct new_kind *k;

    if (role == IN_ANSWER) {
        note(c, !is_asked_for(c, name), "a kind that clients do not know: %s", name);
        return;
    }
    note(c, false, "a new kind: %s", name);
    k = NEW(c->arena, struct new_kind, 1);
    *k = (struct new_kind){name, c->operation_number, c->new_kinds};
    c->new_kinds = k;
}

static void compare_kinds(struct compare *c, enum role role, const struct variety *old,
                          const struct variety *new, const struct trail *trail)
{
    if (strcmp(old->discriminator, new->discriminator) != 0)
        note(c, true, "kinds are told by %s, were by %s", new->discriminator,
             old->discriminator);
    for (size_t i = 0; i < old->kind_count; i++) {
        const char *name = old->kinds[i].name;
        const cJSON *is = kind_schema(new, name);
        size_t before;

        if (!is) {
            note(c, narrows(role), "a kind that is gone: %s", name);
            continue;
        }
        before = enter(c, "<%s>", name);
        compare_schema(c, role, old->kinds[i].schema, is, trail);
        leave(c, before);
    }
    for (size_t i = 0; i < new->kind_count; i++)
        if (!kind_schema(old, new->kinds[i].name))
            note_new_kind(c, role, new->kinds[i].name);
}

/* ---- one schema ---- */

static void compare_types(struct compare *c, enum role role, const struct variety *old,
                          const struct variety *new)
{
    if (old->any || new->any) {
        if (!old->any)
            note(c, widens(role), "any value is possible");
        else if (!new->any)
            note(c, narrows(role), "no longer any value");
        return;
    }
    for (enum type t = NONE; t < TYPE_COUNT; t++) {
        if (new->schema[t] && !taken(old, t))
            note(c, widens(role), "type that clients do not know: %s", type_names[t]);
        if (old->schema[t] && !taken(new, t))
            note(c, narrows(role), "type that is gone: %s", type_names[t]);
    }
}

/* What both may be, in detail. */
static void compare_typed(struct compare *c, enum role role, enum type type,
                          const cJSON *was, const cJSON *is, const struct trail *trail)
{
    struct trail here = {trail, resolve(&c->old, was), resolve(&c->new, is)};
    struct parts old = parts_of(&c->old, was), new = parts_of(&c->new, is);
    const cJSON *items = keyword(&old, "items"), *items_now = keyword(&new, "items");
    size_t before;

    for (const struct trail *t = trail; t; t = t->up)
        if (t->old == here.old && t->new == here.new)
            return;
    switch (type) {
    case OBJECT:
        compare_objects(c, role, &old, &new, &here);
        break;
    case LIST:
        before = enter(c, "[]");
        if (items && items_now)
            compare_schema(c, role, items, items_now, &here);
        else if (items || items_now)
            note(c, items ? widens(role) : narrows(role), "elements of %s type",
                 items ? "any" : "one");
        leave(c, before);
        break;
    case TEXT:
    case NUMBER:
    case INTEGER:
        compare_values(c, role, &old, &new);
        compare_form(c, role, "format", &old, &new);
        compare_form(c, role, "pattern", &old, &new);
        break;
    default:
        break;
    }
    if (role == IN_REQUEST)
        compare_limits(c, &old, &new);
}

static void compare_schema(struct compare *c, enum role role, const cJSON *old,
                           const cJSON *new, const struct trail *trail)
{
    struct variety was = {.any = false}, is = {.any = false};
    struct parts old_parts, new_parts;

    spread(&c->old, old, &was);
    spread(&c->new, new, &is);
    compare_types(c, role, &was, &is);
    if (role == IN_REQUEST) {
        old_parts = parts_of(&c->old, old);
        new_parts = parts_of(&c->new, new);
        compare_default(c, &old_parts, &new_parts);
    }
    if (was.any || is.any)
        return;
    if (was.discriminator && is.discriminator)
        compare_kinds(c, role, &was, &is, trail);
    else if (was.schema[OBJECT] && is.schema[OBJECT] &&
             (was.discriminator || is.discriminator))
        note(c, true,
             was.discriminator ? "one object, no longer one of several kinds"
                               : "one of several kinds, no longer one object");
    for (enum type t = NONE; t < TYPE_COUNT; t++)
        if (was.schema[t] && taken(&is, t) &&
            !(t == OBJECT && (was.discriminator || is.discriminator)))
            compare_typed(c, role, t, was.schema[t], taken(&is, t), trail);
}

/* ---- operations ---- */

static const cJSON *operation_of(const struct side *s, const cJSON *path,
                                 const cJSON *operation)
{
    return member(member(member(s->root, "paths"), path->string), operation->string);
}

/* Does it answer only those who have a key? */
static bool needs_key(const struct side *s, const cJSON *operation)
{
    const cJSON *own = member(operation, "security");

    return cJSON_GetArraySize(own ? own : member(s->root, "security")) > 0;
}

static void compare_heads(struct compare *c, const cJSON *old, const cJSON *new)
{
    const char *was = text_of(member(old, "operationId"));
    const char *is = text_of(member(new, "operationId"));
    bool needed = needs_key(&c->old, old), needs = needs_key(&c->new, new);

    if (strcmp(was, is) != 0)
        note(c, true, "the operation's id is %s, was %s", is, was);
    if (!cJSON_Compare(member(old, "tags"), member(new, "tags"), true))
        note(c, true, "the tags differ");
    if (needed != needs)
        note(c, needs, needs ? "a key is needed" : "no key is needed any more");
}

static bool is_true(const cJSON *object, const char *name)
{
    return cJSON_IsTrue(member(object, name));
}

/* Of the path and of the operation itself: the one with this name, resolved. */
static const cJSON *parameter_of(const struct side *s, const cJSON *operation,
                                 const cJSON *wanted)
{
    const cJSON *v;

    cJSON_ArrayForEach(v, member(operation, "parameters"))
    {
        const cJSON *parameter = resolve(s, v);

        if (strcmp(text_of(member(parameter, "name")), text_of(member(wanted, "name"))) ==
                0 &&
            strcmp(text_of(member(parameter, "in")), text_of(member(wanted, "in"))) == 0)
            return parameter;
    }
    return NULL;
}

static size_t enter_parameter(struct compare *c, const cJSON *parameter)
{
    return enter(c, "%s %s", text_of(member(parameter, "in")),
                 text_of(member(parameter, "name")));
}

static void compare_parameters(struct compare *c, const cJSON *old, const cJSON *new)
{
    const cJSON *v;
    size_t before;

    cJSON_ArrayForEach(v, member(old, "parameters"))
    {
        const cJSON *was = resolve(&c->old, v), *is = parameter_of(&c->new, new, was);

        before = enter_parameter(c, was);
        if (!is) {
            note(c, true, "the parameter is gone");
        } else {
            if (is_true(is, "required") != is_true(was, "required"))
                note(c, is_true(is, "required"), "the parameter %s now",
                     is_true(is, "required") ? "must be there" : "may be left out");
            compare_schema(c, IN_REQUEST, member(was, "schema"), member(is, "schema"),
                           NULL);
        }
        leave(c, before);
    }
    cJSON_ArrayForEach(v, member(new, "parameters"))
    {
        const cJSON *is = resolve(&c->new, v);

        if (parameter_of(&c->old, old, is))
            continue;
        before = enter_parameter(c, is);
        note(c, is_true(is, "required"), "a new parameter%s",
             is_true(is, "required") ? " that must be there" : "");
        leave(c, before);
    }
}

/* Is it there as content, or among the forms that are only named? */
static bool has_type(const cJSON *content, const cJSON *named, const char *type)
{
    return member(content, type) || lists(named, type);
}

static void compare_type(struct compare *c, const cJSON *content, const cJSON *named,
                         const char *type, bool gone)
{
    if (!has_type(content, named, type))
        note(c, gone, gone ? "the content type is gone: %s" : "a new content type: %s",
             type);
}

/* The bodies of a request or of an answer; `named`: their types in x-also-answers. */
static void compare_contents(struct compare *c, enum role role, const cJSON *old,
                             const cJSON *new, const cJSON *old_named,
                             const cJSON *new_named)
{
    const cJSON *v;

    cJSON_ArrayForEach(v, old)
    {
        const cJSON *is = member(new, v->string);
        bool json = strstr(v->string, "json") != NULL;
        size_t before;

        compare_type(c, new, new_named, v->string, true);
        if (!member(v, "schema") || !is || !member(is, "schema"))
            continue;
        before = enter(c, "%s%s", json ? "" : " ", json ? "" : v->string);
        compare_schema(c, role, member(v, "schema"), member(is, "schema"), NULL);
        leave(c, before);
    }
    cJSON_ArrayForEach(v, old_named) compare_type(c, new, new_named, text_of(v), true);
    cJSON_ArrayForEach(v, new) compare_type(c, old, old_named, v->string, false);
    cJSON_ArrayForEach(v, new_named) compare_type(c, old, old_named, text_of(v), false);
}

static void compare_requests(struct compare *c, const cJSON *old, const cJSON *new)
{
    const cJSON *was = resolve(&c->old, member(old, "requestBody"));
    const cJSON *is = resolve(&c->new, member(new, "requestBody"));
    size_t before = enter(c, "request");

    if (was && !is)
        note(c, true, "no body is taken any more");
    else if (!was && is)
        note(c, is_true(is, "required"), "a body");
    else if (was && is_true(is, "required") != is_true(was, "required"))
        note(c, is_true(is, "required"), "the body %s now",
             is_true(is, "required") ? "must be there" : "may be left out");
    if (was && is)
        compare_contents(c, IN_REQUEST, member(was, "content"), member(is, "content"),
                         NULL, NULL);
    leave(c, before);
}

static void compare_headers(struct compare *c, const cJSON *old, const cJSON *new)
{
    const cJSON *v;

    cJSON_ArrayForEach(v, old)
    {
        const cJSON *is = resolve(&c->new, member(new, v->string));
        size_t before = enter(c, " header %s", v->string);

        if (!is)
            note(c, true, "the header is gone");
        else if (member(resolve(&c->old, v), "schema") && member(is, "schema"))
            compare_schema(c, IN_ANSWER, member(resolve(&c->old, v), "schema"),
                           member(is, "schema"), NULL);
        leave(c, before);
    }
    cJSON_ArrayForEach(v, new) if (!member(old, v->string))
        note(c, false, "a new header: %s", v->string);
}

static void compare_answers(struct compare *c, const cJSON *old, const cJSON *new)
{
    const cJSON *all = member(new, "responses"), *v;
    size_t before;

    cJSON_ArrayForEach(v, member(old, "responses"))
    {
        const cJSON *was = resolve(&c->old, v);
        const cJSON *is = resolve(&c->new, member(all, v->string));
        bool good = v->string[0] == '2';

        before = enter(c, "%s", v->string);
        if (!is) {
            note(c, good, "the status is gone");
        } else {
            compare_headers(c, member(was, "headers"), member(is, "headers"));
            compare_contents(c, IN_ANSWER, member(was, "content"), member(is, "content"),
                             good ? member(old, "x-also-answers") : NULL,
                             good ? member(new, "x-also-answers") : NULL);
        }
        leave(c, before);
    }
    cJSON_ArrayForEach(v, all)
    {
        if (member(member(old, "responses"), v->string))
            continue;
        before = enter(c, "%s", v->string);
        note(c, v->string[0] == '2' || v->string[0] == '3', "a new status");
        leave(c, before);
    }
}

static bool is_operation(const cJSON *v)
{
    return cJSON_IsObject(v) && member(v, "responses");
}

/* Sets what differences are noted under. */
static void begin_operation(struct compare *c, const cJSON *path, const cJSON *operation)
{
    char method[16];
    size_t length = strlen(operation->string);

    for (size_t i = 0; i <= length && i < sizeof(method); i++)
        method[i] = (char)(operation->string[i] >= 'a' ? operation->string[i] - 32
                                                       : operation->string[i]);
    method[sizeof(method) - 1] = 0;
    c->operation = arena_printf(c->arena, "%s %s", method, path->string);
    c->has_body = member(operation, "requestBody");
    c->operation_number++;
}

/* The operations of one document, each with that of the other, if there is one. */
static void for_each(struct compare *c, const struct side *in, const struct side *other,
                     void (*visit)(struct compare *c, const cJSON *one,
                                   const cJSON *other))
{
    const cJSON *path, *operation;

    cJSON_ArrayForEach(path, member(in->root, "paths"))
    {
        cJSON_ArrayForEach(operation, path)
        {
            if (!is_operation(operation))
                continue;
            begin_operation(c, path, operation);
            visit(c, operation, operation_of(other, path, operation));
        }
    }
}

static void visit_request(struct compare *c, const cJSON *old, const cJSON *new)
{
    if (!new) {
        note(c, true, "the operation is gone");
        return;
    }
    compare_heads(c, old, new);
    compare_parameters(c, old, new);
    compare_requests(c, old, new);
}

static void visit_answer(struct compare *c, const cJSON *old, const cJSON *new)
{
    if (new)
        compare_answers(c, old, new);
}

static void visit_new(struct compare *c, const cJSON *new, const cJSON *old)
{
    (void)new;
    if (!old)
        note(c, false, "a new operation");
}

static int by_operation(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->operation != y->operation)
        return x->operation < y->operation ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* ---- deliberate breaks ---- */

/* Cuts the next field off a line; blanks around it go. */
static char *next_field(char **line)
{
    char *begin = *line + strspn(*line, " \t"), *end = begin + strcspn(begin, "|");

    *line = *end ? end + 1 : end;
    *end = 0;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        *--end = 0;
    return begin;
}

static bool is_date(const char *text)
{
    const char *form = "0000-00-00";

    for (; *form; form++, text++)
        if (*form == '0' ? *text < '0' || *text > '9' : *text != *form)
            return false;
    return !*text;
}

/* Has the new document the operation's path in the next major version? */
static bool has_successor(const struct compare *c, const char *operation)
{
    const char *path = strchr(operation, '/');
    unsigned major = 0;
    int length = 0;

    if (!path || sscanf(path, "/v%u%n", &major, &length) != 1)
        return false;
    path = arena_printf(c->arena, "/v%u%s", major + 1, path + length);
    return member(member(c->new.root, "paths"), path);
}

static enum error_code allow(struct compare *c, char *line, size_t number,
                             struct error *err)
{
    char *operation = next_field(&line), *place = next_field(&line);
    char *why = next_field(&line), *sunset = next_field(&line);
    bool used = false;

    if (!*why || !is_date(sunset))
        return fail(err, ERR_INVALID, "breaks",
                    "line %zu is not 'operation | place | why | YYYY-MM-DD'", number);
    if (!has_successor(c, operation))
        return fail(err, ERR_INVALID, "breaks",
                    "line %zu: %s has no path in the next major version, and within one "
                    "nothing may break",
                    number, operation);
    for (size_t i = 0; i < c->count; i++) {
        struct openapi_difference *d = &c->list[i].difference;

        if (d->breaking && strcmp(d->operation, operation) == 0 &&
            strcmp(d->place, place) == 0)
            d->allowed = used = true;
    }
    if (!used)
        return fail(err, ERR_INVALID, "breaks", "line %zu: nothing breaks there", number);
    return OK;
}

static enum error_code allow_all(struct compare *c, const char *breaks, struct error *err)
{
    char *next = arena_text(c->arena, breaks, strlen(breaks));

    for (size_t number = 1; next && *next; number++) {
        char *line = next, *end = strchr(next, '\n');

        next = end ? end + 1 : NULL;
        if (end)
            *end = 0;
        line[strcspn(line, "#")] = 0;
        if (line[strspn(line, " \t\r")])
            TRY(allow(c, line, number, err));
    }
    return OK;
}

/* ---- all ---- */

static struct openapi_comparison result(const struct compare *c)
{
    struct openapi_comparison r = {.count = c->count};
    struct openapi_difference *list = NEW(c->arena, struct openapi_difference, c->count);

    for (size_t i = 0; i < c->count; i++) {
        list[i] = c->list[i].difference;
        r.allowed_count += list[i].allowed;
        r.breaking_count += list[i].breaking && !list[i].allowed;
        r.addition_count += !list[i].breaking;
    }
    r.list = list;
    return r;
}

static enum error_code compare_all(struct compare *c)
{
    TRY(side_read(&c->old, c->released, "released", c->arena, c->err));
    TRY(side_read(&c->new, c->present, "present", c->arena, c->err));
    /* Requests first: what is new in them explains what is new in answers. */
    for_each(c, &c->old, &c->new, visit_request);
    c->operation_number = 0;
    for_each(c, &c->old, &c->new, visit_answer);
    for_each(c, &c->new, &c->old, visit_new);
    if (c->count > 0)
        qsort(c->list, c->count, sizeof(*c->list), by_operation);
    if (c->breaks)
        TRY(allow_all(c, c->breaks, c->err));
    *c->out = result(c);
    return OK;
}

static void run(void *context)
{
    struct compare *c = context;

    c->code = compare_all(c);
}

enum error_code openapi_compare(const char *released, const char *present,
                                const char *breaks, struct openapi_comparison *out,
                                struct arena *a, struct error *err)
{
    struct compare c = {.arena = a,
                        .released = released,
                        .present = present,
                        .breaks = breaks,
                        .out = out,
                        .err = err};

    return arena_run(a, run, &c) ? c.code : fail_memory(err);
}
