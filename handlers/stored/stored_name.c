/* stored_name.c - the name under which a client stores something. */
#include "handlers/stored/stored_name.h"

#include "service/uuid.h"

#include <string.h>

enum { NAME_MAX_BYTES = 128 };

#define NAME_CHARACTERS \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-"

static enum error_code check(const char *name, const char *pointer, struct error *err)
{
    if (strlen(name) > NAME_MAX_BYTES)
        return invalid(err, pointer, ITEM_TOO_LONG, "more than %d characters",
                       NAME_MAX_BYTES);
    if (name[strspn(name, NAME_CHARACTERS)] || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return invalid(err, pointer, ITEM_BAD_CHARACTERS,
                       "only A-Z a-z 0-9 . _ ~ - are allowed, as it is part of a path");
    return OK;
}

enum error_code stored_name_choose(struct request *rq, const char *wanted,
                                   const char *pointer, const char **name)
{
    char *id;

    *name = wanted;
    if (wanted)
        return check(wanted, pointer, rq->err);
    id = NEW(rq->arena, char, UUID_TEXT_SIZE);
    uuid_make(id);
    *name = id;
    return OK;
}
