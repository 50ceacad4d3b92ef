/* facade.c - what is special about paths that other tools call. */
#include "service/facade.h"

#include <string.h>

const char *const facade_names[] = {"cws", "k8s", "nextflow", "tpv", NULL};

static const char *const prefixes[] = {"/compat/", "/v1/ingest/", NULL};

/* The table's name of `length` letters; NULL: none. */
static const char *find_name(const char *name, size_t length)
{
    for (size_t i = 0; facade_names[i]; i++)
        if (strlen(facade_names[i]) == length &&
            memcmp(facade_names[i], name, length) == 0)
            return facade_names[i];
    return NULL;
}

const char *facade_of(const char *path)
{
    for (size_t i = 0; prefixes[i]; i++) {
        size_t length = strlen(prefixes[i]);

        if (strncmp(path, prefixes[i], length) == 0)
            return find_name(path + length, strcspn(path + length, "/"));
    }
    return NULL;
}

/* The next name of a list with commas, without blanks around it; NULL: the end. */
static const char *next_name(const char **at, size_t *length)
{
    const char *name = *at;

    name += strspn(name, ", ");
    *length = strcspn(name, ",");
    *at = name + *length;
    while (*length > 0 && name[*length - 1] == ' ')
        --*length;
    return *name ? name : NULL;
}

static bool is_name(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

bool facade_is_on(const char *setting, const char *name)
{
    const char *at = setting, *found;
    size_t length;

    while ((found = next_name(&at, &length)))
        if (is_name(found, length, "all") || is_name(found, length, name))
            return true;
    return false;
}

void facade_check_setting(const char *setting, struct error *err)
{
    const char *at = setting, *found;
    size_t length;

    while ((found = next_name(&at, &length)))
        if (!is_name(found, length, "all") && !find_name(found, length))
            invalid(err, "facades", ITEM_NOT_A_CHOICE,
                    "'%.*s' is none of all, cws, k8s, nextflow, tpv", (int)length, found);
}

enum error_code facade_take_key(struct message *m, struct arena *a, struct error *err)
{
    const char *name = m->path + strlen(prefixes[0]), *key, *rest;

    if (strncmp(m->path, prefixes[0], strlen(prefixes[0])) != 0)
        return OK;
    key = name + strcspn(name, "/");
    if (strncmp(key, "/k/", 3) != 0)
        return OK;
    rest = key + 3 + strcspn(key + 3, "/");
    m->authorization = arena_try_printf(a, "Bearer %.*s", (int)(rest - key - 3), key + 3);
    m->path = arena_try_printf(a, "%.*s%s", (int)(key - m->path), m->path, rest);
    m->key_in_path = true;
    return m->authorization && m->path ? OK : fail_memory(err);
}

void facade_problem(const struct error *err, struct reply *reply, struct arena *a)
{
    const struct error_kind *kind = &error_kinds[err->code];
    const char *text = NULL;

    if (err->first)
        text = arena_try_printf(a, "%s: %s\n", err->first->pointer, err->first->detail);
    else
        text = arena_try_printf(a, "%s\n", err->text[0] ? err->text : kind->title);
    reply->status = kind->http_status;
    reply->body = text ? text : "";
    reply->body_length = strlen(reply->body);
    reply->content_type = "text/plain; charset=utf-8";
}
