/* base/error.c - the one error type. */
#include "models/base/error.h"

#include <stdarg.h>
#include <stdio.h>

const struct error_kind error_kinds[] = {
#define X(symbol, status, name, title) [symbol] = {status, name, title},
    ERROR_CODES(X)
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

/* Adds a mistake to the list; NULL when there is no room for it. */
static struct error_item *add_item(struct error *err, const char *pointer,
                                   const char *kind, const char *text)
{
    struct error_item *item;

    if (!err->arena || err->item_count > ERROR_ITEMS_MAX)
        return NULL;
    item = NEW(err->arena, struct error_item, 1);
    if (!item)
        return NULL;
    item->pointer = arena_printf(err->arena, "%s", pointer);
    item->kind = kind;
    item->detail = arena_printf(err->arena, "%s", text);
    if (!item->pointer || !item->detail)
        return NULL;
    if (err->last)
        err->last->next = item;
    else
        err->first = item;
    err->last = item;
    return item;
}

enum error_code invalid(struct error *err, const char *pointer, const char *kind,
                        const char *format, ...)
{
    char text[sizeof(err->text)];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (err->item_count++ == 0 && err->code == OK) /* lack of memory outweighs mistakes */
        fail(err, ERR_INVALID, pointer, "%s", text);
    add_item(err, pointer, kind, text);
    return ERR_INVALID;
}

enum error_code fail_header(struct error *err, enum error_code code, const char *header,
                            const char *kind, const char *format, ...)
{
    char text[sizeof(err->text)];
    struct error_item *item;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fail(err, code, "", "%s", text);
    err->item_count++;
    item = add_item(err, "", kind, text);
    if (item)
        item->header = header;
    return code;
}
