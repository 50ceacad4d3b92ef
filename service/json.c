/* json.c - JSON text to structs, by their tables; the only file that sees cJSON.
 *
 * cJSON builds its tree in an arena: its allocation hooks are process-wide, so
 * they look up the arena that the calling thread has set. Strings of the tree
 * serve as the struct's texts without another copy; the reader of NDJSON, whose
 * trees go after each line, copies them.
 */
#include "service/json.h"

#include "models/base/budget_read.h"
#include "models/base/names.h"
#include "models/base/policy.h"
#include "service/json_hint.h"
#include "service/json_holds.h"
#include "service/json_scan.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a value is, for its JSON Pointer; a chain down the C stack. */
struct place {
    const struct place *up;
    const char *name; /* NULL: an element */
    size_t index;
};

static const struct json_field any_rows[] = {{0}};
const struct json_object json_any_object = {"Object", "Any object", 0, any_rows};

const char *json_word_at(const struct json_words *words, size_t i)
{
    for (const struct policy *const *table = words->tables; *table; table++)
        for (const struct policy *p = *table; p->name; p++)
            if (i-- == 0)
                return p->name;
    for (const char *const *word = words->others; word && *word; word++)
        if (i-- == 0)
            return *word;
    return NULL;
}

struct reader {
    struct arena *arena; /* lists and copied texts */
    struct error *err;
    bool copy_texts;                 /* the tree goes before the struct does */
    struct json_renames *renames;    /* NULL: nobody wants to know */
    const struct json_object *table; /* whose member is being read */
    const struct json_field *kinds;  /* of an object that names none; NULL */
    const cJSON *kinds_object;       /* ... that object, */
    const struct place *kinds_at;    /* its place, */
    size_t kind;                     /* and what it is taken for */
    double factor; /* of the former name that is being read; 0: numbers as they are */
};

static _Thread_local struct arena *tree_arena;

/* The place that all members of a query are in: no pointer of a body begins so. */
#define IN_QUERY SIZE_MAX

enum { NODE_STEPS = 32, OBJECT_STEPS = 64 }; /* what one costs, about */
enum { HINT_VALUE_BYTES = 80 };              /* longer values are in no hint */

void json_count_on(struct budget *budget)
{
    budget_read_on(budget);
}

bool json_is_over(size_t steps)
{
    return budget_read_step(steps);
}

static enum error_code fail_cancelled(struct error *err)
{
    return fail(err, ERR_CANCELLED, "", "the client went away");
}

enum error_code json_go_on(size_t steps, struct error *err)
{
    return json_is_over(steps) ? fail_cancelled(err) : OK;
}

static void *tree_alloc(size_t size)
{
    return tree_arena && !json_is_over(NODE_STEPS) ? arena_try(tree_arena, 1, size)
                                                   : NULL;
}

static void tree_free(void *p)
{
    (void)p; /* goes with the arena */
}

static void install_hooks(void)
{
    cJSON_Hooks hooks = {tree_alloc, tree_free};

    cJSON_InitHooks(&hooks);
}

static void use_arena(struct arena *a)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, install_hooks);
    tree_arena = a;
}

static size_t pointer_append(const struct place *p, char *buffer, size_t size)
{
    size_t used;

    if (!p)
        return 0;
    used = pointer_append(p->up, buffer, size);
    if (used + 2 >= size)
        return used;
    if (!p->name && p->index == IN_QUERY)
        return (size_t)snprintf(buffer, size, "?");
    if (!p->name)
        return used + (size_t)snprintf(buffer + used, size - used, "/%zu", p->index);
    buffer[used++] = '/';
    for (const char *c = p->name; *c && used + 3 < size; c++) {
        if (*c == '~' || *c == '/')
            buffer[used++] = '~';
        buffer[used++] = *c == '~' ? '0' : *c == '/' ? '1' : *c;
    }
    buffer[used] = 0;
    return used;
}

static void mistake(struct reader *r, const struct place *p, enum item_code code,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

static void mistake(struct reader *r, const struct place *p, enum item_code code,
                    const char *format, ...)
{
    char pointer[512] = "";
    char text[sizeof(r->err->text)];
    va_list args;

    pointer_append(p, pointer, sizeof(pointer));
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    invalid(r->err, pointer, code, "%s", text);
}

enum error_code json_tree(const char *text, size_t length, cJSON **tree, struct arena *a,
                          struct error *err)
{
    const char *end = NULL;
    cJSON *root;

    TRY(json_scan(text, length, JSON_DEPTH_MAX, err));
    use_arena(a);
    root = cJSON_ParseWithLengthOpts(text, length, &end, false);
    if (!root && json_is_over(0))
        return fail_cancelled(err);
    if (!root && (arena_lacks_lease(a) ||
                  arena_used_bytes(a) + length / 2 + 4096 > arena_cap_bytes(a)))
        return fail_memory(err);
    if (!root && length == 0)
        err->hint = "send a JSON object, and its length";
    if (!root && length == 0)
        return fail(err, ERR_MALFORMED, "", "the body is empty; JSON is expected");
    if (!root)
        return json_refuse(text, length, end ? (size_t)(end - text) : length,
                           "the text breaks off or is wrong here", err);
    while (end < text + length && strchr(" \t\r\n", *end))
        end++;
    if (end != text + length) {
        json_refuse(text, length, (size_t)(end - text),
                    "there is more text behind the value", err);
        if (*end == '{' && !err->hint)
            err->hint = "several stand in [ ] with commas between them, or a line each "
                        "under Content-Type: application/x-ndjson where many are taken";
        return err->code;
    }
    *tree = root;
    return OK;
}

static const char *type_of(const cJSON *v)
{
    return cJSON_IsObject(v)   ? "an object"
           : cJSON_IsArray(v)  ? "an array"
           : cJSON_IsString(v) ? "a string"
           : cJSON_IsNumber(v) ? "a number"
           : cJSON_IsBool(v)   ? "a boolean"
                               : "null";
}

static void wrong_type(struct reader *r, const struct place *p, const cJSON *v,
                       const char *expected)
{
    mistake(r, p, ITEM_WRONG_TYPE, "must be %s, not %s", expected, type_of(v));
    if (cJSON_IsNull(v) && p && p->name)
        error_hint(r->err, "give a value, or leave the member out");
}

static void print_item(const cJSON *v, struct text_buffer *b);

/* The value as it was sent, for hints; NULL: it is too long for one. */
static const char *as_sent(struct reader *r, const cJSON *v)
{
    struct text_buffer b = {.arena = r->arena};

    if (!r->err->noted || cJSON_IsObject(v) || cJSON_IsArray(v) || cJSON_IsNull(v))
        return NULL;
    print_item(v, &b);
    return b.failed || b.length > HINT_VALUE_BYTES ? NULL : b.data;
}

/* What is no list, and would be one in brackets. */
static void hint_list(struct reader *r, const struct json_field *f, const cJSON *v)
{
    const char *value = as_sent(r, v);
    bool texts = f->type == JSON_TYPE_TEXTS || f->flags & JSON_OR_TEXT;

    if (f->type == JSON_TYPE_LIST && cJSON_IsObject(v) && cJSON_IsObject(v->child) &&
        json_has_member(f->of, "id") && !json_has_member(f->of, v->child->string))
        error_hint(r->err,
                   "each element of the list names itself: [{\"id\": \"%.60s\", ...}]",
                   v->child->string);
    else if (f->type == JSON_TYPE_LIST && cJSON_IsObject(v))
        error_hint(r->err, "a list of one stands in brackets: [{...}]");
    else if (value && (texts ? cJSON_IsString(v) : cJSON_IsNumber(v)))
        error_hint(r->err, "a list of one stands in brackets: [%s]", value);
}

/* What is no object: the list that one has, the name of what is stored, or an id. */
static void hint_object(struct reader *r, const struct json_object *table, const cJSON *v,
                        const struct place *p)
{
    const char *value = as_sent(r, v);
    char stored[JSON_NAME_BYTES];

    snprintf(stored, sizeof(stored), "%.60s_id", p && p->name ? p->name : "");
    if (cJSON_IsString(v) && r->table && json_has_member(r->table, stored))
        error_hint(r->err, "the name of a stored one goes into '%s'", stored);
    else
        json_hint_object(table, cJSON_IsArray(v), cJSON_IsString(v) ? value : NULL,
                         r->err);
}

static void read_object(struct reader *r, const struct json_object *table, const cJSON *v,
                        const struct place *p, char *base);

/* A hundredth is not a double, but a hundred is: 35 % are 0.35 to the last bit. */
static double scaled(double number, double factor)
{
    if (factor < 0)
        return ceil(number);
    if (!(factor > 0))
        return number;
    return factor < 1 ? number / (1 / factor) : number * factor;
}

/* What may be taken instead, where the bound is one that is met. */
static void hint_bounds(struct reader *r, const struct json_field *f, double d)
{
    bool is_below = d < f->min || d <= f->min;
    double bound = is_below ? f->min : f->max;

    if (fabs(bound) < 1e15)
        error_hint(r->err, "take %s %.15g",
                   !is_below                   ? "at most"
                   : f->flags & JSON_ABOVE_MIN ? "more than"
                                               : "at least",
                   bound);
    json_hint_ratio(f->name, d, f->max, r->err);
}

static void refuse_fraction(struct reader *r, const struct json_field *f, double d,
                            const struct place *p, const char *what)
{
    mistake(r, p, ITEM_NOT_AN_INTEGER, "%s", what);
    if (d < JSON_EXACT && round(d) >= f->min && round(d) <= f->max)
        error_hint(r->err, "did you mean %.0f?", round(d));
}

/* A number within the row's bounds; false when a mistake was noted. */
static bool read_number(struct reader *r, const struct json_field *f, const cJSON *v,
                        const struct place *p, double *number)
{
    double d = scaled(v->valuedouble, r->factor);

    if (!cJSON_IsNumber(v)) {
        wrong_type(r, p, v, "a number");
        if (cJSON_IsString(v))
            json_hint_text(f->name, v->valuestring, r->err);
        return false;
    }
    if (!isfinite(d)) {
        mistake(r, p, ITEM_OUT_OF_BOUNDS, "the number is too large for a double");
        return false;
    }
    if (d < f->min || d > f->max || (d <= f->min && (f->flags & JSON_ABOVE_MIN))) {
        mistake(r, p, ITEM_OUT_OF_BOUNDS, "%.15g is not %s %.15g and at most %.15g", d,
                f->flags & JSON_ABOVE_MIN ? "above" : "at least", f->min, f->max);
        hint_bounds(r, f, d);
        return false;
    }
    if (f->flags & JSON_WHOLE && d != floor(d)) {
        refuse_fraction(r, f, d, p, "must be a whole number");
        return false;
    }
    *number = d;
    return true;
}

/* The percent of which it is the ratio: 0.07 times 100 is not quite 7. */
static double percent_of(double ratio)
{
    double percent = ratio * 100, decimal;
    char digits[32];

    snprintf(digits, sizeof(digits), "%.15g", percent);
    decimal = strtod(digits, NULL);
    return decimal / 100 < ratio || decimal / 100 > ratio ? percent : decimal;
}

static void read_ratio(struct reader *r, const struct json_field *f, const cJSON *v,
                       const struct place *p, double *percent)
{
    double ratio;

    if (read_number(r, f, v, p, &ratio))
        *percent = percent_of(ratio);
}

static void read_integer(struct reader *r, const struct json_field *f, const cJSON *v,
                         const struct place *p, void *at)
{
    double d;

    if (!read_number(r, f, v, p, &d))
        return;
    if (d != floor(d) || d > JSON_EXACT)
        refuse_fraction(r, f, d, p, "must be a whole number below 2^53");
    else
        *(uint64_t *)at = (uint64_t)d;
}

static const char *keep(struct reader *r, const char *text)
{
    return r->copy_texts ? arena_text(r->arena, text, strlen(text)) : text;
}

/* Code points of valid UTF-8, as JSON Schema counts a text's length. */
static size_t character_count(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static bool check_text(struct reader *r, const cJSON *v, const struct place *p,
                       double shortest, double longest)
{
    double length;

    if (!cJSON_IsString(v)) {
        const char *value;

        wrong_type(r, p, v, "a string");
        value = as_sent(r, v);
        if (!value && v->child && cJSON_IsString(v->child))
            value = v->child->valuestring;
        if (value)
            error_hint(r->err, "did you mean \"%.80s\"?", value);
        return false;
    }
    length = (double)character_count(v->valuestring);
    if (length < shortest) {
        mistake(r, p, ITEM_TOO_SHORT, "must not be empty");
        return false;
    }
    if (length > longest) {
        mistake(r, p, ITEM_TOO_LONG, "%.0f characters are more than %.0f", length,
                longest);
        return false;
    }
    return true;
}

/* What may be there instead of a text that is no choice, the nearest first. */
static void hint_choice(struct reader *r, const char *text, const char *const *choices,
                        size_t count)
{
    const char *nearest = names_meant(text, choices, count);

    if (nearest)
        error_hint(r->err, "did you mean '%s'?", nearest);
    error_allow(r->err, text, choices, count);
}

static void read_choice(struct reader *r, const struct json_field *f, const cJSON *v,
                        const struct place *p, void *at)
{
    char hint[NAMES_HINT_BYTES];
    size_t count = 0;

    if (!cJSON_IsString(v)) {
        wrong_type(r, p, v, "a string");
        return;
    }
    for (; f->choices[count]; count++) {
        if (strcmp(f->choices[count], v->valuestring) == 0) {
            *(int *)at = (int)count;
            return;
        }
    }
    mistake(r, p, ITEM_NOT_A_CHOICE, "no such value; %s",
            names_hint(v->valuestring, f->choices, count, hint, sizeof(hint)));
    hint_choice(r, v->valuestring, f->choices, count);
}

/* Larger numbers are no instants but milliseconds since 1970: the year 5138 is far. */
#define MILLISECONDS_FROM 1e11

static void read_instant(struct reader *r, const cJSON *v, const struct place *p,
                         void *at)
{
    if (cJSON_IsNumber(v) && v->valuedouble >= INSTANT_FIRST_S &&
        v->valuedouble < MILLISECONDS_FROM) {
        *(double *)at = v->valuedouble;
    } else if (!cJSON_IsString(v) || !instant_read(v->valuestring, at)) {
        mistake(r, p, ITEM_NOT_AN_INSTANT,
                "must be a time as in RFC 3339 (\"2026-01-31T12:00:00Z\") or seconds "
                "since 1970");
        json_hint_instant(cJSON_GetStringValue(v), v->valuedouble, r->err);
    }
}

/* Checks type and length of a list; its length, or SIZE_MAX on a mistake. */
static size_t list_length(struct reader *r, const struct json_field *f, const cJSON *v,
                          const struct place *p)
{
    double longest = f->type == JSON_TYPE_NUMBERS || f->max <= 0 ? JSON_LIST_MAX : f->max;
    size_t length = 0;

    if (!cJSON_IsArray(v)) {
        wrong_type(r, p, v, "an array");
        hint_list(r, f, v);
        return SIZE_MAX;
    }
    for (const cJSON *e = v->child; e; e = e->next)
        length++;
    if ((double)length > longest) {
        mistake(r, p, ITEM_TOO_LONG, "%zu elements are more than %.0f", length, longest);
        return SIZE_MAX;
    }
    if (length < f->least) {
        mistake(r, p, ITEM_TOO_SHORT, "there must be at least %zu", f->least);
        return SIZE_MAX;
    }
    return length;
}

static void set_list(const struct json_field *f, char *base, const void *list,
                     size_t count)
{
    *(const void **)(void *)(base + f->offset) = list;
    *(size_t *)(void *)(base + f->count_offset) = count;
}

static void read_numbers(struct reader *r, const struct json_field *f, const cJSON *v,
                         const struct place *p, char *base)
{
    size_t count = list_length(r, f, v, p);
    struct place here = {p, NULL, 0};
    double *list;

    if (count == SIZE_MAX)
        return;
    list = NEW(r->arena, double, count);
    for (const cJSON *e = v->child; e; e = e->next, here.index++) {
        list[here.index] = NAN;
        if (!(cJSON_IsNull(e) && (f->flags & JSON_NULLABLE)))
            read_number(r, f, e, &here, &list[here.index]);
    }
    set_list(f, base, list, count);
}

static void read_texts(struct reader *r, const struct json_field *f, const cJSON *v,
                       const struct place *p, char *base)
{
    size_t count = list_length(r, f, v, p);
    struct place here = {p, NULL, 0};
    const char **list;

    if (count == SIZE_MAX)
        return;
    list = NEW(r->arena, const char *, count);
    for (const cJSON *e = v->child; e; e = e->next, here.index++) {
        list[here.index] = "";
        if (check_text(r, e, &here, 0, JSON_TEXT_MAX_BYTES))
            list[here.index] = keep(r, e->valuestring);
    }
    set_list(f, base, list, count);
}

static void fill_presets(const struct json_object *table, char *base);

static void refuse_id(struct reader *r, const struct place *p, const char *id,
                      size_t earlier)
{
    mistake(r, p, ITEM_DUPLICATE, "'%.100s' is also the id of element %zu", id, earlier);
    error_hint(r->err, "give each an id of its own");
}

/* Reports the elements whose "id" another element has. */
static void check_ids(struct reader *r, const struct json_object *of, const char *list,
                      size_t count, const struct place *p)
{
    const struct json_field *id = of->fields;
    struct place element = {p, NULL, 0};
    struct place here = {&element, "id", 0};
    struct name_index index;

    while (id->type != JSON_END && strcmp(id->name, "id") != 0)
        id++;
    name_index_create(&index, count, r->arena);
    for (; element.index < count; element.index++) {
        const char *at = list + element.index * of->size + id->offset;
        const char *name = *(const char *const *)(const void *)at;
        size_t earlier =
            name ? name_index_add(&index, name, element.index) : NAME_NOT_FOUND;

        if (earlier != NAME_NOT_FOUND)
            refuse_id(r, &here, name, earlier);
    }
}

/* JSON_OR_TEXT: a string is an object of its first member alone. */
static void read_element(struct reader *r, const struct json_field *f, const cJSON *e,
                         const struct place *p, char *base)
{
    const struct json_field *first = f->of->fields;

    if (!(f->flags & JSON_OR_TEXT) || !cJSON_IsString(e)) {
        read_object(r, f->of, e, p, base);
        return;
    }
    fill_presets(f->of, base);
    if (check_text(r, e, p, first->min, first->max))
        *(const char **)(void *)(base + first->offset) = keep(r, e->valuestring);
}

static void read_list(struct reader *r, const struct json_field *f, const cJSON *v,
                      const struct place *p, char *base)
{
    size_t count = list_length(r, f, v, p);
    struct place here = {p, NULL, 0};
    char *list;

    if (count == SIZE_MAX)
        return;
    list = arena_alloc(r->arena, f->of->size, count);
    for (const cJSON *e = v->child; e; e = e->next, here.index++)
        read_element(r, f, e, &here, list + here.index * f->of->size);
    if (f->flags & JSON_UNIQUE_IDS)
        check_ids(r, f->of, list, count, p);
    set_list(f, base, list, count);
}

/* Notes numbers that no double holds, at any depth: kept as text they would be null. */
static void refuse_infinite(struct reader *r, const cJSON *v, const struct place *p)
{
    struct place here = {p, NULL, 0};

    if (cJSON_IsNumber(v) && !isfinite(v->valuedouble))
        mistake(r, p, ITEM_OUT_OF_BOUNDS, "the number is too large for a double");
    for (const cJSON *e = v->child; e; e = e->next, here.index++) {
        here.name = e->string;
        refuse_infinite(r, e, &here);
    }
}

static void read_value(struct reader *r, const cJSON *e, const struct place *p,
                       struct named_value *value)
{
    if (cJSON_IsString(e)) {
        value->type = VALUE_TEXT;
        value->text = keep(r, e->valuestring);
    } else if (cJSON_IsBool(e)) {
        value->type = VALUE_BOOLEAN;
        value->number = cJSON_IsTrue(e) ? 1 : 0;
    } else if (cJSON_IsNumber(e)) {
        value->type = VALUE_NUMBER;
        value->number = e->valuedouble;
        refuse_infinite(r, e, p);
    } else if (!cJSON_IsNull(e)) {
        wrong_type(r, p, e, "a number, a boolean, a string or null");
    }
}

/* Whether an earlier member has the name of `e`: quadratic, so only for objects
 * whose length is bounded. */
static bool is_repeated(const cJSON *first, const cJSON *e)
{
    for (; first != e; first = first->next)
        if (first->string && strcmp(first->string, e->string) == 0)
            return true;
    return false;
}

/* Names that are members of their own, where all amounts are not of one list, or kept. */
static const char *const member_amounts[] = {"cpus", "memory_bytes", "disk_bytes", NULL};
static const char *const reserved_amounts[] = {"n_max", "exclusive", NULL};

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

static bool is_amount_name(const char *name)
{
    size_t length = strlen(name);

    return length >= 1 && length <= AMOUNT_NAME_MAX && isalpha((unsigned char)name[0]) &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                        "0123456789_.:/-") == length;
}

static void read_amount(struct reader *r, const cJSON *e, const struct place *p, bool all,
                        struct named_value *value)
{
    bool is_member = is_one_of(e->string, member_amounts);
    bool bytes = is_member && strcmp(e->string, "cpus") != 0;
    double most = all && bytes ? AMOUNT_BYTES_MAX : AMOUNT_MAX;

    value->type = VALUE_NUMBER;
    if ((is_member && !all) || is_one_of(e->string, reserved_amounts)) {
        mistake(r, p, ITEM_NOT_ALLOWED, "'%s' is a member of its own", e->string);
        error_hint(r->err, "write \"%s\" beside it, not into it", e->string);
    }
    if (!is_amount_name(e->string))
        mistake(r, p, ITEM_NOT_ALLOWED,
                "the name of an amount is a letter, then at most %d letters, digits "
                "and _ . : / -",
                AMOUNT_NAME_MAX - 1);
    if (!cJSON_IsNumber(e)) {
        wrong_type(r, p, e, "a number");
        if (cJSON_IsString(e))
            json_hint_text(e->string, e->valuestring, r->err);
    } else if (!isfinite(e->valuedouble)) {
        refuse_infinite(r, e, p);
    } else if (!(e->valuedouble >= 0 && e->valuedouble <= most)) {
        mistake(r, p, ITEM_OUT_OF_BOUNDS, "%.15g is not from 0 to %.15g", e->valuedouble,
                most);
    } else {
        value->number = e->valuedouble;
    }
}

static void read_values(struct reader *r, const struct json_field *f, const cJSON *v,
                        const struct place *p, char *base)
{
    struct place here = {p, "", 0};
    bool amounts = f->flags & JSON_AMOUNTS_ONLY;
    struct named_value *list;
    size_t count = 0;

    if (!cJSON_IsObject(v)) {
        wrong_type(r, p, v, "an object");
        if (cJSON_IsArray(v) && v->child && cJSON_IsString(v->child))
            error_hint(r->err, "did you mean {\"%.64s\": %s}?", v->child->valuestring,
                       amounts ? "1" : "true");
        return;
    }
    for (const cJSON *e = v->child; e; e = e->next)
        count++;
    if ((double)count > f->max) {
        mistake(r, p, amounts ? ITEM_TOO_MANY : ITEM_TOO_LONG,
                "%zu members are more than %.0f", count, f->max);
        return;
    }
    list = NEW(r->arena, struct named_value, count);
    count = 0;
    for (const cJSON *e = v->child; e; e = e->next, count++) {
        here.name = e->string;
        if (is_repeated(v->child, e))
            mistake(r, &here, ITEM_DUPLICATE, "the member is there twice");
        list[count].name = keep(r, e->string);
        if (amounts)
            read_amount(r, e, &here, f->flags & JSON_ALL_AMOUNTS, &list[count]);
        else
            read_value(r, e, &here, &list[count]);
    }
    set_list(f, base, list, count);
}

static void print_items(const cJSON *v, const char *ends, struct text_buffer *b)
{
    text_add(b, ends, 1);
    for (const cJSON *e = v->child; e; e = e->next) {
        if (cJSON_IsObject(v)) {
            json_print_text(e->string, b);
            text_add(b, ":", 1);
        }
        print_item(e, b);
        if (e->next)
            text_add(b, ",", 1);
    }
    text_add(b, ends + 1, 1);
}

/* cJSON's own printing may change the last bit of a number. As deep as parsing was. */
static void print_item(const cJSON *v, struct text_buffer *b)
{
    if (cJSON_IsObject(v))
        print_items(v, "{}", b);
    else if (cJSON_IsArray(v))
        print_items(v, "[]", b);
    else if (cJSON_IsString(v))
        json_print_text(v->valuestring, b);
    else if (cJSON_IsNumber(v))
        json_print_number(v->valuedouble, b);
    else if (cJSON_IsNull(v))
        text_add(b, "null", 4);
    else
        text_addf(b, "%s", cJSON_IsTrue(v) ? "true" : "false");
}

enum error_code json_tree_text(const cJSON *v, const char **text, struct arena *a,
                               struct error *err)
{
    struct text_buffer b = {.arena = a};

    print_item(v, &b);
    TRY(text_finish(&b, err));
    *text = b.data;
    return OK;
}

static void read_raw(struct reader *r, const struct json_field *f, const cJSON *v,
                     const struct place *p, char *base)
{
    const char **to = (const char **)(void *)(base + f->offset);

    if (f->of == &json_any_object && !cJSON_IsObject(v))
        wrong_type(r, p, v, "an object");
    else if (json_tree_text(v, to, r->arena, r->err) != OK)
        arena_leave(r->arena);
    refuse_infinite(r, v, p);
}

/* An object of which there is no more than its member "value". */
static void read_value_member(struct reader *r, const struct json_object *table,
                              const cJSON *v, const struct place *p, char *base)
{
    fill_presets(table, base);
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++)
        if (f->type == JSON_TYPE_NUMBER && strcmp(f->name, "value") == 0)
            read_number(r, f, v, p, (double *)(void *)(base + f->offset));
}

static void read_nested(struct reader *r, const struct json_field *f, const cJSON *v,
                        const struct place *p, char *base)
{
    char *nested = base + f->offset;

    if (f->flags & JSON_OR_BOOLEAN && cJSON_IsFalse(v))
        return;
    if (f->flags & JSON_POINTER) {
        nested = arena_alloc(r->arena, f->of->size, 1);
        *(const void **)(void *)(base + f->offset) = nested;
    }
    if (f->flags & JSON_OR_NUMBER && cJSON_IsNumber(v))
        read_value_member(r, f->of, v, p, nested);
    else if (f->flags & JSON_OR_BOOLEAN && cJSON_IsTrue(v))
        fill_presets(f->of, nested);
    else
        read_object(r, f->of, v, p, nested);
}

static void wrong_boolean(struct reader *r, const struct place *p, const cJSON *v)
{
    wrong_type(r, p, v, "a boolean");
    if (cJSON_IsString(v))
        json_hint_boolean(v->valuestring, r->err);
    else if (cJSON_IsNumber(v) && (v->valueint == 0 || v->valueint == 1))
        json_hint_boolean(v->valueint ? "1" : "0", r->err);
}

static void read_member(struct reader *r, const struct json_field *f, const cJSON *v,
                        const struct place *p, char *base)
{
    void *at = base + f->offset;

    if (cJSON_IsNull(v) && (f->flags & JSON_NULLABLE))
        return;
    switch (f->type) {
    case JSON_TYPE_NUMBER:
        if (f->flags & JSON_PERCENT)
            read_ratio(r, f, v, p, at);
        else
            read_number(r, f, v, p, at);
        break;
    case JSON_TYPE_INTEGER:
        read_integer(r, f, v, p, at);
        break;
    case JSON_TYPE_BOOLEAN:
        if (!cJSON_IsBool(v))
            wrong_boolean(r, p, v);
        else if (f->flags & JSON_MAYBE)
            *(double *)at = cJSON_IsTrue(v);
        else
            *(bool *)at = cJSON_IsTrue(v);
        break;
    case JSON_TYPE_TEXT:
        if (check_text(r, v, p, f->min, f->max))
            *(const char **)at = keep(r, v->valuestring);
        break;
    case JSON_TYPE_CHOICE:
        read_choice(r, f, v, p, at);
        break;
    case JSON_TYPE_INSTANT:
        read_instant(r, v, p, at);
        break;
    case JSON_TYPE_OBJECT:
        read_nested(r, f, v, p, base);
        break;
    case JSON_TYPE_LIST:
        read_list(r, f, v, p, base);
        break;
    case JSON_TYPE_NUMBERS:
        read_numbers(r, f, v, p, base);
        break;
    case JSON_TYPE_TEXTS:
        read_texts(r, f, v, p, base);
        break;
    case JSON_TYPE_VALUES:
        read_values(r, f, v, p, base);
        break;
    case JSON_TYPE_RAW:
        read_raw(r, f, v, p, base);
        break;
    case JSON_TYPE_KIND: /* read_object() */
    case JSON_END:
        break;
    }
}

static void fill_presets(const struct json_object *table, char *base)
{
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        void *at = base + f->offset;

        if (f->type == JSON_TYPE_NUMBER || f->type == JSON_TYPE_INSTANT ||
            f->flags & JSON_MAYBE)
            *(double *)at = f->preset;
        else if (f->type == JSON_TYPE_INTEGER)
            *(uint64_t *)at = (uint64_t)f->preset;
        else if (f->type == JSON_TYPE_BOOLEAN)
            *(bool *)at = f->preset != 0;
        else if (f->type == JSON_TYPE_CHOICE)
            *(int *)at = (int)f->preset;
        else if (f->type == JSON_TYPE_OBJECT && !(f->flags & JSON_POINTER))
            fill_presets(f->of, base + f->offset);
    }
}

enum { FIELDS_MAX = 64 }; /* of one table: a bit each in `seen` */

static size_t fields_count(const struct json_object *table)
{
    size_t count = 0;

    while (table->fields[count].type != JSON_END)
        count++;
    return count;
}

/* Of the first members of the object those that the table has. */
static size_t shared_count(const struct json_object *table, const cJSON *object)
{
    size_t count = 0, seen = 0;

    for (const cJSON *e = object->child; e && seen < FIELDS_MAX; e = e->next, seen++)
        count += json_has_member(table, e->string);
    return count;
}

/* An object that does not say of which kind it is has a member of another kind: the one
 * that has most of its members. */
static bool hint_kind(struct reader *r, const struct place *p)
{
    const struct json_kind *meant = NULL;
    size_t most = 0;

    if (!r->kinds || p->up != r->kinds_at)
        return false;
    for (const struct json_kind *k = r->kinds->kinds; k->name; k++) {
        size_t count = shared_count(k->of, r->kinds_object);

        if (!json_has_member(k->of, p->name) || count <= most)
            continue;
        meant = k;
        most = count;
    }
    if (meant)
        error_hint(r->err, "say \"%s\": \"%s\"; without it this is '%s'", r->kinds->name,
                   meant->name, r->kinds->kinds[r->kind].name);
    return meant;
}

static void unknown_member(struct reader *r, const struct json_object *table,
                           const cJSON *v, const struct place *p)
{
    struct json_value value = {.is_number = cJSON_IsNumber(v),
                               .number = v->valuedouble,
                               .text = cJSON_GetStringValue(v),
                               .is_structure = cJSON_IsObject(v) || cJSON_IsArray(v)};
    char noun[NOUN_BYTES];
    struct text_buffer b = {.arena = r->arena};

    mistake(r, p, ITEM_UNKNOWN_MEMBER, "%s has no member '%.100s'",
            json_noun(table, noun, sizeof(noun)), p->name);
    if (!r->err->noted)
        return;
    if (cJSON_IsNumber(v) || cJSON_IsString(v))
        print_item(v, &b);
    value.json = b.length && !b.failed ? b.data : NULL;
    if (!hint_kind(r, p))
        json_hint_member(table, p->name, &value, r->err);
}

/* The row's former name; NULL: it has not this one. */
static const struct json_alias *find_alias(const struct json_field *f, const char *name)
{
    for (const struct json_alias *alias = f->aliases; alias && alias->name; alias++)
        if (strcmp(alias->name, name) == 0)
            return alias;
    return NULL;
}

/* Members mostly come in the order of the rows: look from the last hit on. Then it may be
 * a former name. */
static size_t find_field(const struct json_object *table, size_t count, const char *name,
                         size_t from)
{
    size_t i;

    for (size_t k = 0; k < count; k++) {
        const char *field;

        i = from + k < count ? from + k : from + k - count;
        field = table->fields[i].name;
        if (*field == *name && strcmp(field, name) == 0) /* most differ at once */
            return i;
    }
    for (i = 0; i < count && !find_alias(&table->fields[i], name);)
        i++;
    return i;
}

/* Adds the former name to the list, once. */
static void note_rename(struct reader *r, const char *old, const char *now)
{
    struct json_renames *all = r->renames;
    struct json_rename *one, **end;

    if (!all)
        return;
    all->total_count++;
    for (end = &all->first; *end; end = &(*end)->next)
        if (strcmp((*end)->old, old) == 0 && strcmp((*end)->now, now) == 0)
            return;
    one = NEW(r->arena, struct json_rename, 1);
    *one = (struct json_rename){old, now, NULL};
    *end = one;
    all->pair_count++;
}

/* A member is there under two names: refuses both. */
static void refuse_names(struct reader *r, const struct place *up, const char *first,
                         const char *second)
{
    const char *const names[] = {first, second};

    for (size_t i = 0; i < 2; i++) {
        struct place here = {up, names[i], 0};

        mistake(r, &here, ITEM_CONFLICT, "'%.60s' and '%.60s' are the same member",
                names[0], names[1]);
    }
}

/* The row was read already, from an element before `e`. */
static void refuse_second(struct reader *r, const struct json_field *f,
                          const cJSON *first, const cJSON *e, const struct place *p)
{
    struct place here = {p, e->string, 0};

    while (strcmp(first->string, f->name) != 0 && !find_alias(f, first->string))
        first = first->next;
    if (strcmp(first->string, e->string) == 0)
        mistake(r, &here, ITEM_DUPLICATE, "the member is there twice");
    else
        refuse_names(r, p, first->string, e->string);
}

/* The kind of an object without the member: as the second one says, else the first. */
static size_t hinted_kind(const struct json_field *f, const cJSON *v)
{
    const cJSON *second =
        f->hint_member ? cJSON_GetObjectItemCaseSensitive(v, f->hint_member) : NULL;
    const char *value = second ? cJSON_GetStringValue(second) : NULL;

    if (!value)
        return 0;
    for (const struct json_hint *h = f->hints; h->value; h++) {
        if (strcmp(h->value, value) != 0)
            continue;
        for (size_t kind = 0; f->kinds[kind].name; kind++)
            if (strcmp(f->kinds[kind].name, h->kind) == 0)
                return kind;
    }
    return 0;
}

/* The member that tells the kind, under whatever name; NULL: there is none. False: it is
 * there under two. */
static bool find_property(struct reader *r, const struct json_field *f, const cJSON *v,
                          const struct place *p, cJSON **property)
{
    *property = cJSON_GetObjectItemCaseSensitive(v, f->name);
    for (const struct json_alias *old = f->aliases; old && old->name; old++) {
        cJSON *former = cJSON_GetObjectItemCaseSensitive(v, old->name);

        if (former && *property) {
            refuse_names(r, p, (*property)->string, old->name);
            return false;
        }
        if (former)
            *property = former;
    }
    return true;
}

/* The table of the kind knows the member by its present name alone. */
static void rename_property(struct reader *r, const struct json_field *f, cJSON *property)
{
    const struct json_alias *old = find_alias(f, property->string);

    if (!old)
        return;
    note_rename(r, old->name, f->name);
    property->string = arena_text(r->arena, f->name, strlen(f->name));
}

/* The kind that the member `name` says, or what speaks for it; SIZE_MAX: a mistake. */
static size_t find_kind(struct reader *r, const struct json_field *f, const cJSON *v,
                        const cJSON *name, const struct place *p)
{
    const struct json_kind *kinds = f->kinds;
    struct place here = {p, name ? name->string : f->name, 0};
    const char *known[FIELDS_MAX];
    char hint[NAMES_HINT_BYTES];
    size_t count = 0;

    if (!name)
        return hinted_kind(f, v);
    if (!cJSON_IsString(name)) {
        wrong_type(r, &here, name, "a string");
        return SIZE_MAX;
    }
    for (; kinds[count].name && count < FIELDS_MAX; count++) {
        known[count] = kinds[count].name;
        if (strcmp(known[count], name->valuestring) == 0)
            return count;
    }
    mistake(r, &here, ITEM_NOT_A_CHOICE, "no such value; %s",
            names_hint(name->valuestring, known, count, hint, sizeof(hint)));
    hint_choice(r, name->valuestring, known, count);
    return SIZE_MAX;
}

static void read_kind(struct reader *r, const struct json_field *f, const cJSON *v,
                      const struct place *p, char *base)
{
    struct json_of_kind *to = (void *)(base + f->offset);
    cJSON *property;
    size_t kind;

    if (!find_property(r, f, v, p, &property))
        return;
    kind = find_kind(r, f, v, property, p);
    if (kind == SIZE_MAX)
        return;
    if (property)
        rename_property(r, f, property);
    to->kind = kind;
    to->value = arena_alloc(r->arena, f->kinds[kind].of->size, 1);
    if (!property) {
        r->kinds = f;
        r->kinds_object = v;
        r->kinds_at = p;
        r->kind = kind;
    }
    read_object(r, f->kinds[kind].of, v, p, to->value);
    r->kinds = NULL;
}

/* The first letter of a text that goes on a sentence: small, unless it begins a name or
 * an abbreviation. */
static char sentence_part(const char *text)
{
    bool is_word =
        text[0] >= 'A' && text[0] <= 'Z' && (text[1] == ' ' || islower(text[1]));

    return is_word ? (char)(text[0] | 0x20) : text[0];
}

/* A member under its name, or under a former one. */
static void read_named(struct reader *r, const struct json_field *f, const cJSON *e,
                       const struct place *p, char *base)
{
    const struct json_alias *old =
        strcmp(f->name, e->string) == 0 ? NULL : find_alias(f, e->string);

    if (old) {
        note_rename(r, old->name, f->name);
        r->factor = old->factor;
    }
    read_member(r, f, e, p, base);
    if (old)
        r->factor = 0;
}

static bool has_value(const cJSON *v)
{
    return !cJSON_IsNull(v) && (!cJSON_IsArray(v) || v->child);
}

/* An object with what it gives, a bit for each row: neither null nor an empty list. */
struct given {
    const struct json_object *table;
    const struct place *at;
    uint64_t rows;
};

static bool gives(const struct given *g, const char *name)
{
    size_t i = find_field(g->table, fields_count(g->table), name, 0);

    return g->rows & (uint64_t)1 << i;
}

/* The first of the names that the object gives; NULL: it gives none of them. */
static const char *first_given(const struct given *g, const char *const *names)
{
    for (; names && *names; names++)
        if (gives(g, *names))
            return *names;
    return NULL;
}

/* A row that says which others it cannot stand with, or cannot do without. */
static void check_company(struct reader *r, const struct json_field *f,
                          const struct given *g)
{
    bool given = gives(g, f->name);
    const char *other = first_given(g, given ? f->not_with : f->unless);
    struct place here = {g->at, f->name, 0};

    if (given && other) {
        mistake(r, &here, ITEM_CONFLICT, "give either %s or %s, not both", other,
                f->name);
        error_hint(r->err, "leave one of them out");
    } else if (!given && f->unless && !other) {
        mistake(r, &here, ITEM_REQUIRED, "the member is missing: %c%s; or give %s%s%s",
                sentence_part(f->doc), f->doc + 1, f->unless[0],
                f->unless[1] ? " or " : "", f->unless[1] ? f->unless[1] : "");
    }
    for (const char *const *name = given ? f->with : NULL; name && *name; name++) {
        here.name = *name;
        if (!gives(g, *name))
            mistake(r, &here, ITEM_REQUIRED, "the member is missing: it goes with %s",
                    f->name);
    }
}

/* "task_id" in a workflow task without "id": there it is something else. */
static void hint_own_id(struct reader *r, const struct given *g)
{
    char own[OWN_ID_BYTES];
    const char *name = json_own_id(g->table, own);

    if (json_has_member(g->table, name) && gives(g, name))
        error_hint(r->err, "did you mean 'id' by '%s'? it is something else here", name);
}

/* What an object lacks; seen: a bit for each row that is there at all. */
static void check_members(struct reader *r, uint64_t seen, const struct given *g)
{
    const struct json_field *f = g->table->fields;

    for (size_t i = 0; f[i].type != JSON_END; i++) {
        struct place here = {g->at, f[i].name, 0};

        if ((f[i].flags & JSON_REQUIRED) && !(seen & (uint64_t)1 << i)) {
            mistake(r, &here, ITEM_REQUIRED, "the member is missing: %c%s",
                    sentence_part(f[i].doc), f[i].doc + 1);
            if (strcmp(f[i].name, "id") == 0)
                hint_own_id(r, g);
        }
        if (f[i].not_with || f[i].unless || f[i].with)
            check_company(r, &f[i], g);
    }
}

static void read_object(struct reader *r, const struct json_object *table, const cJSON *v,
                        const struct place *p, char *base)
{
    size_t count = fields_count(table);
    struct given given = {.table = table, .at = p};
    uint64_t seen = 0;
    size_t next = 0;

    if (json_is_over(OBJECT_STEPS)) {
        if (r->err->code != ERR_CANCELLED)
            fail_cancelled(r->err);
        return;
    }
    fill_presets(table, base);
    if (!cJSON_IsObject(v)) {
        wrong_type(r, p, v, "an object");
        if (!cJSON_IsNull(v))
            hint_object(r, table, v, p);
        return;
    }
    if (table->fields->type == JSON_TYPE_KIND) {
        read_kind(r, table->fields, v, p, base);
        return;
    }
    for (const cJSON *e = v->child; e; e = e->next) {
        struct place here = {p, e->string, 0};
        size_t i = find_field(table, count, e->string, next);

        if (i == count) {
            unknown_member(r, table, e, &here);
        } else if (seen & (uint64_t)1 << i) {
            refuse_second(r, &table->fields[i], v->child, e, p);
        } else {
            seen |= (uint64_t)1 << i;
            given.rows |= (uint64_t)has_value(e) << i;
            r->table = table;
            read_named(r, &table->fields[i], e, &here, base);
            next = i + 1 < count ? i + 1 : 0;
        }
    }
    check_members(r, seen, &given);
}

/* ---- whole texts ---- */

/* A text is read in a computation of its own: nothing but arenas is held meanwhile. */
struct reading {
    enum error_code (*read)(struct reading *);
    const struct json_object *table;
    const char *text;
    size_t length;
    const struct query_pair *pairs; /* instead of a text */
    size_t pair_count;
    void *out; /* struct json_lines for lists and lines */
    struct reader r;
    enum error_code code;
};

static void run_reading(void *context)
{
    struct reading *x = context;

    x->code = x->read(x);
}

static enum error_code compute(struct reading *x)
{
    struct arena *a = x->r.arena;
    size_t cap_bytes = arena_cap_bytes(a);

    if (!arena_run(a, run_reading, x))
        x->code = fail_memory(x->r.err);
    use_arena(a); /* others may be gone */
    arena_set_cap(a, cap_bytes);
    return x->code;
}

static enum error_code read_small(struct reading *x)
{
    cJSON *tree;

    TRY(json_tree(x->text, x->length, &tree, x->r.arena, x->r.err));
    read_object(&x->r, x->table, tree, NULL, x->out);
    return x->r.err->code;
}

enum { LARGE_BYTES = 1024 * 1024 };

/* The tree of a large text is several times as large as what is read from it: it goes
 * before the request is answered. Until then it counts as the request's. */
static enum error_code read_large(struct reading *x)
{
    struct arena *a = x->r.arena, *trees;
    size_t cap_bytes = arena_cap_bytes(a), used_bytes = arena_used_bytes(a);
    enum error_code code;
    cJSON *tree;

    trees = arena_create_beside(a, cap_bytes > used_bytes ? cap_bytes - used_bytes : 0);
    x->r.copy_texts = true;
    code = json_tree(x->text, x->length, &tree, trees, x->r.err);
    if (code == OK) {
        arena_set_cap(a, cap_bytes - arena_used_bytes(trees));
        read_object(&x->r, x->table, tree, NULL, x->out);
        code = x->r.err->code;
    }
    arena_close(trees);
    return code;
}

enum error_code json_read(const struct json_object *table, const char *text,
                          size_t length, void *out, struct json_renames *renames,
                          struct arena *a, struct error *err)
{
    memset(out, 0, table->size);
    return compute(
        &(struct reading){.read = length >= LARGE_BYTES ? read_large : read_small,
                          .table = table,
                          .text = text,
                          .length = length,
                          .out = out,
                          .r = {.arena = a, .err = err, .renames = renames}});
}

static enum error_code read_elements(struct reading *x)
{
    struct place here = {NULL, NULL, 0};
    struct json_lines *out = x->out;
    size_t n = 0;
    cJSON *tree;
    char *items;

    TRY(json_tree(x->text, x->length, &tree, x->r.arena, x->r.err));
    for (const cJSON *e = tree->child; e && cJSON_IsArray(tree); e = e->next)
        n++;
    if (n > JSON_LIST_MAX)
        return fail(x->r.err, ERR_TOO_LARGE, "",
                    "%zu elements are more than %d; send them in parts", n,
                    JSON_LIST_MAX);
    if (!cJSON_IsArray(tree))
        n = 1;
    items = arena_alloc(x->r.arena, x->table->size, n);
    *out = (struct json_lines){
        .items = items, .count = n, .is_single = !cJSON_IsArray(tree)};
    if (out->is_single)
        read_object(&x->r, x->table, tree, NULL, items);
    for (const cJSON *e = tree->child; e && !out->is_single; e = e->next, here.index++)
        read_object(&x->r, x->table, e, &here, items + here.index * x->table->size);
    return x->r.err->code;
}

enum error_code json_read_list(const struct json_object *table, const char *text,
                               size_t length, struct json_lines *out,
                               struct json_renames *renames, struct arena *a,
                               struct error *err)
{
    return compute(&(struct reading){.read = read_elements,
                                     .table = table,
                                     .text = text,
                                     .length = length,
                                     .out = out,
                                     .r = {.arena = a, .err = err, .renames = renames}});
}

/* Finds the line that starts at *from; its length without the line's end. */
static size_t next_line(const char *text, size_t length, size_t *from)
{
    const char *start = text + *from;
    const char *end = memchr(start, '\n', length - *from);
    size_t bytes = end ? (size_t)(end - start) : length - *from;

    *from += bytes + 1;
    while (bytes && strchr(" \t\r", start[bytes - 1]))
        bytes--;
    return bytes;
}

static size_t count_lines(const char *text, size_t length)
{
    size_t count = 1;

    for (const char *p = text; (p = memchr(p, '\n', length - (size_t)(p - text))); p++)
        count++;
    return count;
}

/* One line into *item; its mistakes go to *all with the line's number. */
static bool read_line(const struct json_object *table, const char *line, size_t bytes,
                      uint64_t line_number, char *item, struct arena *scratch,
                      struct reader *r, struct error *all)
{
    struct error one = {.arena = scratch};
    struct reader reader = {
        .arena = r->arena, .err = &one, .copy_texts = true, .renames = r->renames};
    cJSON *tree;

    if (json_tree(line, bytes, &tree, scratch, &one) == OK)
        read_object(&reader, table, tree, NULL, item);
    if (one.code == OK)
        return true;
    if (!one.first) {
        static const char first_line[] = "not JSON: line 1, ";
        size_t n = sizeof(first_line) - 1;
        bool is_placed = strncmp(one.text, first_line, n) == 0;

        invalid(all, "", one.code == ERR_MALFORMED ? ITEM_MALFORMED : ITEM_TOO_LONG,
                "%s%s", is_placed ? "not JSON: " : "", one.text + (is_placed ? n : 0));
        if (one.hint)
            error_hint(all, "%s", one.hint);
        error_at_line(all, line_number);
    }
    for (const struct error_item *i = one.first; i; i = i->next) {
        invalid_again(all, "", i);
        error_at_line(all, line_number);
    }
    return false;
}

static enum error_code read_lines(struct reading *x)
{
    struct arena *a = x->r.arena;
    struct arena *scratch = arena_create_beside(a, arena_cap_bytes(a));
    struct json_lines *out = x->out;
    struct error refused = {.arena = a};
    size_t room = count_lines(x->text, x->length), size = x->table->size;
    char *items = arena_alloc(a, size, room);
    uint64_t *line = NEW(a, uint64_t, room);
    uint64_t line_number = 1;

    *out = (struct json_lines){.items = items, .line = line};
    for (size_t from = 0; from < x->length; line_number++) {
        const char *start = x->text + from;
        size_t bytes = next_line(x->text, x->length, &from);
        char *item = items + out->count * size;

        if (!bytes)
            continue;
        arena_reset(scratch);
        if (read_line(x->table, start, bytes, line_number, item, scratch, &x->r,
                      &refused)) {
            line[out->count++] = line_number;
        } else {
            memset(item, 0, size);
            out->refused_count++;
        }
        if (arena_used_bytes(a) + 65536 > arena_cap_bytes(a))
            arena_leave(a);
    }
    out->refused = refused.first;
    arena_close(scratch);
    return OK;
}

enum error_code json_read_lines(const struct json_object *table, const char *text,
                                size_t length, struct json_lines *out,
                                struct json_renames *renames, struct arena *a,
                                struct error *err)
{
    return compute(&(struct reading){.read = read_lines,
                                     .table = table,
                                     .text = text,
                                     .length = length,
                                     .out = out,
                                     .r = {.arena = a, .err = err, .renames = renames}});
}

/* The texts between commas; NULL without memory. */
static cJSON *split_texts(const char *text)
{
    cJSON *list = cJSON_CreateArray();

    for (bool more = list; more;) {
        size_t length = strcspn(text, ",");
        char *part = arena_try_text(tree_arena, text, length);
        cJSON *item = part ? cJSON_CreateString(part) : NULL;

        if (!item || !cJSON_AddItemToArray(list, item))
            return NULL;
        more = text[length];
        text += length + more;
    }
    return list;
}

/* "1,2.5": a list of numbers; one that is none stays a text, to be refused. */
static cJSON *split_numbers(const char *text)
{
    cJSON *list = split_texts(text);
    cJSON *item = list ? list->child : NULL;

    for (; item; item = item->next) {
        char *end;
        double number = strtod(item->valuestring, &end);

        if (end == item->valuestring || *end || !isfinite(number))
            continue;
        item->type = cJSON_Number;
        item->valuedouble = number;
    }
    return list;
}

/* A query value as the JSON it stands for. */
static cJSON *query_value(const struct json_field *f, const char *text)
{
    char *end = NULL;
    double number = strtod(text, &end);
    bool is_number = *text && end && !*end && isfinite(number);

    if (is_number && (f->type == JSON_TYPE_NUMBER || f->type == JSON_TYPE_INTEGER ||
                      f->type == JSON_TYPE_INSTANT))
        return cJSON_CreateNumber(number);
    if (f->type == JSON_TYPE_BOOLEAN &&
        (!*text || strcmp(text, "true") == 0 || strcmp(text, "1") == 0))
        return cJSON_CreateTrue(); /* `?verbose` is a flag */
    if (f->type == JSON_TYPE_BOOLEAN &&
        (strcmp(text, "false") == 0 || strcmp(text, "0") == 0))
        return cJSON_CreateFalse();
    if (f->type == JSON_TYPE_TEXTS)
        return split_texts(text);
    if (f->type == JSON_TYPE_NUMBERS)
        return split_numbers(text);
    return cJSON_CreateString(text);
}

static enum error_code read_query(struct reading *x)
{
    struct place here = {NULL, NULL, IN_QUERY};
    size_t count = fields_count(x->table);
    cJSON *object;

    use_arena(x->r.arena);
    object = cJSON_CreateObject();
    for (size_t i = 0; i < x->pair_count; i++) {
        const struct query_pair *pair = &x->pairs[i];
        size_t at = find_field(x->table, count, pair->name, 0);
        const struct json_field text = {.type = JSON_TYPE_TEXT};
        cJSON *v = query_value(at < count ? &x->table->fields[at] : &text, pair->value);

        if (!v || !cJSON_AddItemToObject(object, pair->name, v))
            arena_leave(x->r.arena);
    }
    if (!object)
        arena_leave(x->r.arena);
    memset(x->out, 0, x->table->size);
    read_object(&x->r, x->table, object, &here, x->out);
    return x->r.err->code;
}

enum error_code json_read_query(const struct json_object *table,
                                const struct query_pair *pairs, size_t pair_count,
                                void *out, struct json_renames *renames, struct arena *a,
                                struct error *err)
{
    return compute(&(struct reading){.read = read_query,
                                     .table = table,
                                     .pairs = pairs,
                                     .pair_count = pair_count,
                                     .out = out,
                                     .r = {.arena = a, .err = err, .renames = renames}});
}

enum error_code json_replace_member(const char *object, size_t length, const char *name,
                                    const char *value, const char **changed,
                                    struct arena *a, struct error *err)
{
    cJSON *o, *v = NULL;

    TRY(json_tree(object, length, &o, a, err));
    if (value)
        TRY(json_tree(value, strlen(value), &v, a, err));
    cJSON_DeleteItemFromObjectCaseSensitive(o, name);
    if (v)
        cJSON_AddItemToObject(o, name, v);
    return json_tree_text(o, changed, a, err);
}

enum error_code json_member(const char *object, const char *name, const char **value,
                            struct arena *a, struct error *err)
{
    const cJSON *member;
    cJSON *tree;

    TRY(json_tree(object, strlen(object), &tree, a, err));
    member = cJSON_GetObjectItemCaseSensitive(tree, name);
    *value = NULL;
    return member ? json_tree_text(member, value, a, err) : OK;
}

/* ---- comparing two texts ---- */

struct differences {
    struct arena *arena;
    const char **pointers;
    size_t count, limit;
    bool failed; /* no memory */
};

static void differ(struct differences *d, const struct place *p)
{
    char pointer[512] = "";
    size_t used = pointer_append(p, pointer, sizeof(pointer));

    if (d->count == d->limit)
        return;
    d->pointers[d->count] = arena_try_text(d->arena, pointer, used);
    if (d->pointers[d->count])
        d->count++;
    else
        d->failed = true;
}

/* The member named `name`; mostly it is `next`, the one at the same position. */
static const cJSON *counterpart(const cJSON *object, const cJSON *next, const char *name)
{
    return next && strcmp(next->string, name) == 0
               ? next
               : cJSON_GetObjectItemCaseSensitive(object, name);
}

static void compare(struct differences *d, const cJSON *l, const cJSON *r,
                    const struct place *p);

static void compare_objects(struct differences *d, const cJSON *l, const cJSON *r,
                            const struct place *p)
{
    const cJSON *next = r->child;

    for (const cJSON *e = l->child; e; e = e->next) {
        struct place here = {p, e->string, 0};
        const cJSON *other = counterpart(r, next, e->string);

        if (other)
            compare(d, e, other, &here);
        else
            differ(d, &here);
        next = other ? other->next : next;
    }
    next = l->child;
    for (const cJSON *e = r->child; e; e = e->next) {
        struct place here = {p, e->string, 0};
        const cJSON *other = counterpart(l, next, e->string);

        if (!other)
            differ(d, &here);
        next = other ? other->next : next;
    }
}

static void compare_arrays(struct differences *d, const cJSON *l, const cJSON *r,
                           const struct place *p)
{
    struct place here = {p, NULL, 0};
    const cJSON *left = l->child, *right = r->child;

    for (; left && right; left = left->next, right = right->next, here.index++)
        compare(d, left, right, &here);
    for (; left || right; here.index++) {
        differ(d, &here);
        left = left ? left->next : NULL;
        right = right ? right->next : NULL;
    }
}

static bool scalars_equal(const cJSON *l, const cJSON *r)
{
    if (cJSON_IsNumber(l))
        return !(l->valuedouble < r->valuedouble || l->valuedouble > r->valuedouble);
    return !cJSON_IsString(l) || strcmp(l->valuestring, r->valuestring) == 0;
}

static void compare(struct differences *d, const cJSON *l, const cJSON *r,
                    const struct place *p)
{
    if ((l->type & 0xff) != (r->type & 0xff))
        differ(d, p);
    else if (cJSON_IsObject(l))
        compare_objects(d, l, r, p);
    else if (cJSON_IsArray(l))
        compare_arrays(d, l, r, p);
    else if (!scalars_equal(l, r))
        differ(d, p);
}

enum error_code json_differences(const char *left, const char *right,
                                 const char *const *except, size_t limit,
                                 const char *const **pointers, size_t *count,
                                 struct arena *a, struct error *err)
{
    struct differences d = {a, TRY_NEW(a, const char *, limit), 0, limit, false};
    cJSON *l = NULL, *r = NULL;

    TRY(json_tree(left, strlen(left), &l, a, err));
    TRY(json_tree(right, strlen(right), &r, a, err));
    assert(l && r);
    for (; *except; except++) {
        cJSON_DeleteItemFromObjectCaseSensitive(l, *except);
        cJSON_DeleteItemFromObjectCaseSensitive(r, *except);
    }
    if (d.pointers)
        compare(&d, l, r, NULL);
    if (!d.pointers || d.failed)
        return fail_memory(err);
    *pointers = d.pointers;
    *count = d.count;
    return OK;
}
