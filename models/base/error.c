/* base/error.c - the one error type. */
#include "models/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct error_kind error_kinds[] = {
#define X(symbol, status, name, title, cause, remedy) \
    [symbol] = {status, name, title, cause, remedy},
    ERROR_CODES(X)
#undef X
};

const struct item_kind item_kinds[] = {
#define X(symbol, name, title, cause, remedy) [symbol] = {name, title, cause, remedy},
    ITEM_CODES(X)
#undef X
};

enum error_code fail(struct error *err, enum error_code code, const char *field,
                     const char *format, ...)
{
    va_list args;

    err->code = code;
    err->lacks_lease = false;
    snprintf(err->field, sizeof(err->field), "%s", field);
    va_start(args, format);
    vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    return code;
}

enum error_code fail_memory(struct error *err)
{
    if (err->arena && arena_lacks_lease(err->arena)) {
        fail(err, ERR_TOO_LARGE, "",
             "other requests take the memory that this one needs; try again");
        err->lacks_lease = true;
        return err->code;
    }
    return fail(err, ERR_TOO_LARGE, "",
                "the request needs more memory than one request may take; send a "
                "smaller one or raise GRIDPLAN_REQUEST_MEMORY_BYTES");
}

/* "?/NAME", which no JSON Pointer is: a parameter of the query. */
static void set_place(struct error_item *item)
{
    if (item->pointer[0] != '?')
        return;
    item->in = "query";
    item->name = item->pointer[1] == '/' ? item->pointer + 2 : item->pointer + 1;
}

/* Adds a mistake to the list; NULL when there is no room for it. */
static struct error_item *add_item(struct error *err, const char *pointer,
                                   enum item_code code, const char *text)
{
    struct error_item *item;

    err->noted = NULL;
    if (!err->arena || err->item_count > ERROR_ITEMS_MAX)
        return NULL;
    item = TRY_NEW(err->arena, struct error_item, 1);
    if (!item)
        return NULL;
    item->pointer = arena_try_printf(err->arena, "%s", pointer);
    item->code = code;
    item->detail = arena_try_printf(err->arena, "%s", text);
    if (!item->pointer || !item->detail)
        return NULL;
    set_place(item);
    if (err->last)
        err->last->next = item;
    else
        err->first = item;
    err->last = item;
    err->noted = item;
    return item;
}

enum error_code invalid(struct error *err, const char *pointer, enum item_code code,
                        const char *format, ...)
{
    char text[sizeof(err->text)];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (err->item_count++ == 0 && err->code == OK) /* lack of memory outweighs mistakes */
        fail(err, ERR_INVALID, pointer, "%s", text);
    add_item(err, pointer, code, text);
    return ERR_INVALID;
}

enum error_code fail_header(struct error *err, enum error_code code, const char *header,
                            enum item_code item, const char *format, ...)
{
    char text[sizeof(err->text)];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fail(err, code, "", "%s", text);
    if (add_item(err, "", item, text)) {
        err->item_count++;
        error_place(err, "header", header);
    } else { /* no list, then, but still where it is */
        err->in = "header";
        err->name = header;
    }
    return code;
}

enum error_code error_is_conflict(struct error *err)
{
    return err->code = ERR_CONFLICT;
}

void error_hint(struct error *err, const char *format, ...)
{
    va_list args;

    if (!err->noted)
        return;
    va_start(args, format);
    err->noted->hint = arena_try_vprintf(err->arena, format, args);
    va_end(args);
}

/* Room for what would be accepted; NULL: it is not noted. */
static const char **allowed_room(const struct error *err)
{
    return err->noted ? TRY_NEW(err->arena, const char *, ERROR_ALLOWED_MAX) : NULL;
}

static void note_allowed(struct error *err, const char **sorted, size_t count)
{
    err->noted->allowed_count = count;
    err->noted->allowed = count ? sorted : NULL;
}

void error_allow_in(struct error *err, const char *value, names_at_fn *at,
                    const void *list)
{
    const char **sorted = allowed_room(err);

    if (sorted)
        note_allowed(err, sorted,
                     names_by_distance_in(value, at, list, sorted, ERROR_ALLOWED_MAX));
}

void error_allow(struct error *err, const char *value, const char *const *names,
                 size_t count)
{
    const char **sorted = allowed_room(err);

    if (sorted)
        note_allowed(err, sorted,
                     names_by_distance(value, names, count, sorted, ERROR_ALLOWED_MAX));
}

void error_allow_number(struct error *err, double number)
{
    double *kept = err->noted ? TRY_NEW(err->arena, double, 1) : NULL;

    if (!kept)
        return;
    *kept = number;
    err->noted->allowed_number = kept;
}

void error_short(struct error *err, const char *amount, double needed, double free,
                 const char *const *owners, size_t owner_count)
{
    struct error_item *i = err->noted;

    if (!i)
        return;
    i->amount = amount;
    i->needed = needed;
    i->free = free;
    i->owners = owners;
    i->owner_count = owner_count;
}

void error_place(struct error *err, const char *in, const char *name)
{
    if (!err->noted)
        return;
    err->noted->in = in;
    err->noted->name = name;
}

void error_at_line(struct error *err, uint64_t line)
{
    if (err->noted)
        err->noted->line = line;
}

/* A copy of the names in the error's arena; NULL without memory. */
static const char *const *copy_names(struct error *err, const char *const *names,
                                     size_t count)
{
    const char **list = TRY_NEW(err->arena, const char *, count);

    for (size_t i = 0; list && i < count; i++) {
        list[i] = arena_try_printf(err->arena, "%s", names[i]);
        if (!list[i])
            return NULL;
    }
    return list;
}

enum error_code invalid_again(struct error *err, const char *prefix,
                              const struct error_item *item)
{
    char pointer[512];
    enum error_code code;

    snprintf(pointer, sizeof(pointer), "%s%s", prefix, item->pointer);
    code = invalid(err, pointer, item->code, "%s", item->detail);
    error_at_line(err, item->line);
    if (item->hint)
        error_hint(err, "%s", item->hint);
    if (item->allowed_number)
        error_allow_number(err, *item->allowed_number);
    if (item->amount || item->owners)
        error_short(err, item->amount, item->needed, item->free, item->owners,
                    item->owner_count);
    if (err->noted && item->allowed) {
        err->noted->allowed = copy_names(err, item->allowed, item->allowed_count);
        err->noted->allowed_count = err->noted->allowed ? item->allowed_count : 0;
    }
    return code;
}
