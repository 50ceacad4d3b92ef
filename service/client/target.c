/* target.c - which service a command asks, and with which key. */
#include "service/client/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, TIMEOUT_S = 60, TIMEOUT_MAX_S = 86400 };

enum key { KEY_URL, KEY_KEY_FILE, KEY_CA_FILE, KEY_TIMEOUT_S, KEY_COLOR, KEY_COUNT };
static const char *const key_names[] = {"url", "key_file", "ca_file", "timeout_s",
                                        "color"};

struct reading {
    const char *path, *profile;
    size_t line;
    bool profile_found;
    const char *values[KEY_COUNT], *of_profile[KEY_COUNT]; /* NULL: not said */
    struct arena *arena;
    struct error *err;
};

const char *target_file(struct arena *a)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (folder && *folder)
        return arena_try_printf(a, "%s/gridplan/client.conf", folder);
    return home && *home ? arena_try_printf(a, "%s/.config/gridplan/client.conf", home)
                         : NULL;
}

/* The text without blanks around it, changed in place. */
static char *trimmed(char *text)
{
    static const char blanks[] = " \t\r\n";
    size_t length;

    text += strspn(text, blanks);
    length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]))
        length--;
    text[length] = 0;
    return text;
}

static enum error_code refuse(const struct reading *r, const char *why, const char *what)
{
    return fail(r->err, ERR_INVALID, "client.conf", "%s:%zu: %s '%.60s'", r->path,
                r->line, why, what);
}

/* "profile.NAME.url" of the profile asked for becomes "url"; NULL: it is another's. */
static const char *without_profile(struct reading *r, const char *name, bool *of_profile)
{
    static const char prefix[] = "profile.";
    const char *end = strrchr(name, '.'), *rest = name + sizeof(prefix) - 1;

    *of_profile = strncmp(name, prefix, sizeof(prefix) - 1) == 0;
    if (!*of_profile)
        return name;
    if (end <= rest)
        return "";
    if (!r->profile || strlen(r->profile) != (size_t)(end - rest) ||
        strncmp(r->profile, rest, (size_t)(end - rest)) != 0)
        return NULL;
    r->profile_found = true;
    return end + 1;
}

static enum error_code take(struct reading *r, char *line)
{
    char *equals = strchr(line, '=');
    const char *name, *value;
    bool of_profile;

    line[strcspn(line, "#")] = 0;
    if (!*trimmed(line))
        return OK;
    if (!equals || !*equals)
        return refuse(r, "key = value is expected, not", trimmed(line));
    *equals = 0;
    name = without_profile(r, trimmed(line), &of_profile);
    if (!name)
        return OK;
    value = trimmed(equals + 1);
    for (size_t k = 0; k < KEY_COUNT; k++)
        if (strcmp(name, key_names[k]) == 0) {
            const char **to = of_profile ? &r->of_profile[k] : &r->values[k];

            *to = arena_try_text(r->arena, value, strlen(value));
            return *to ? OK : fail_memory(r->err);
        }
    return refuse(r,
                  "a key is one of url, key_file, ca_file, timeout_s, color, or of "
                  "profile.NAME.*, not",
                  trimmed(line));
}

static enum error_code read_file(struct reading *r)
{
    char line[LINE_MAX_BYTES];
    enum error_code code = OK;
    FILE *file = r->path ? fopen(r->path, "re") : NULL;

    if (!file && r->path && errno != ENOENT && errno != ENOTDIR)
        return fail(r->err, ERR_INVALID, "client.conf", "%s: %s", r->path,
                    strerror(errno));
    while (file && code == OK && fgets(line, sizeof(line), file)) {
        r->line++;
        code =
            strlen(line) == sizeof(line) - 1 ? refuse(r, "too long:", "") : take(r, line);
    }
    if (file)
        fclose(file);
    return code;
}

static enum error_code read_timeout(const struct reading *r, const char *text,
                                    double *time_limit_s)
{
    char *end;
    double value = text ? strtod(text, &end) : TIMEOUT_S;

    if (text && (*end || end == text || !(value > 0) || value > TIMEOUT_MAX_S))
        return fail(r->err, ERR_INVALID, "client.conf",
                    "%s: timeout_s is a number of seconds up to %d, not '%.60s'", r->path,
                    TIMEOUT_MAX_S, text);
    *time_limit_s = value;
    return OK;
}

static const char *some(const char *first, const char *second)
{
    return first && *first ? first : second && *second ? second : NULL;
}

enum error_code target_find(const struct target_flags *flags, struct asked *out,
                            struct arena *a, struct error *err)
{
    struct reading r = {
        .path = target_file(a), .profile = flags->profile, .arena = a, .err = err};
    const char *v[KEY_COUNT];

    TRY(read_file(&r));
    if (flags->profile && !r.profile_found)
        return fail(err, ERR_INVALID, "--profile", "%s has no line of profile.%s",
                    r.path ? r.path : "client.conf", flags->profile);
    for (size_t k = 0; k < KEY_COUNT; k++)
        v[k] = some(r.of_profile[k], r.values[k]);
    out->url = some(flags->url, some(getenv("GRIDPLAN_URL"), v[KEY_URL]));
    out->key_file =
        some(flags->key_file, some(getenv("GRIDPLAN_KEY_FILE"), v[KEY_KEY_FILE]));
    if (flags->url && !*flags->url) /* --url '' asks for the process itself */
        out->url = NULL;
    out->ca_file = v[KEY_CA_FILE];
    out->colour = v[KEY_COLOR];
    if (out->colour && strcmp(out->colour, "auto") != 0 &&
        strcmp(out->colour, "always") != 0 && strcmp(out->colour, "never") != 0)
        return fail(err, ERR_INVALID, "client.conf",
                    "%s: color is auto, always or never, not '%.60s'", r.path,
                    out->colour);
    return read_timeout(&r, v[KEY_TIMEOUT_S], &out->time_limit_s);
}
