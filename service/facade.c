/* facade.c - what is special about paths that other tools call. */
#include "service/facade.h"

#include <ctype.h>
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

static const char cws_path[] = "/compat/cws";

/* An empty variable of the environment is none: then / says it. */
static bool is_top(const char *mount)
{
    return !*mount || strcmp(mount, "/") == 0;
}

void facade_check_mount(const char *mount, struct error *err)
{
    static const char *const own[] = {"compat", "v1", "docs", "clients", "ui", "k", NULL};
    size_t length = strlen(mount), first;
    bool good = true;

    if (is_top(mount) || strcmp(mount, cws_path) == 0)
        return;
    for (size_t i = 0; i < length; i++)
        good &= mount[i] == '/' ? mount[i + 1] && mount[i + 1] != '/'
                                : isalnum((unsigned char)mount[i]) ||
                                      strchr("._~-", mount[i]) != NULL;
    first = strcspn(mount + 1, "/");
    for (size_t i = 0; own[i]; i++)
        good &= !is_name(mount + 1, first, own[i]);
    if (*mount != '/' || !good)
        invalid(err, "cws_mount", ITEM_MALFORMED,
                "'%.100s' is neither empty nor a path like /cws that is nobody else's",
                mount);
}

/* Whether nf-cws asks for it where it fixes the path. */
static bool is_of_cws(const char *path)
{
    static const char *const begins[] = {"/v1/scheduler/", "/v1/file/", NULL};

    if (strncmp(path, "/k/", 3) == 0)
        path += 3 + strcspn(path + 3, "/");
    for (size_t i = 0; begins[i]; i++)
        if (strncmp(path, begins[i], strlen(begins[i])) == 0)
            return true;
    return strcmp(path, "/health") == 0;
}

enum error_code facade_mount(struct message *m, const char *mount, struct arena *a,
                             struct error *err)
{
    size_t length = is_top(mount) ? 0 : strlen(mount);
    const char *rest;

    if (strcmp(mount, cws_path) == 0 || strncmp(m->path, mount, length) != 0)
        return OK;
    rest = m->path + length;
    if (length > 0 ? *rest != '/' : !is_of_cws(rest))
        return OK;
    m->path = arena_try_printf(a, "%s%s", cws_path, rest);
    return m->path ? OK : fail_memory(err);
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
