/* set.c - one value of a JSON document, from the command line. */
#include "service/client/set.h"

#include "service/json.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_MAX_BYTES = 256 };

/* The next token of a pointer, without its escapes; false: it is too long. */
static bool next_token(const char **at, const char *end, char *token)
{
    size_t length = 0;

    for (++*at; *at < end && **at != '/'; ++*at) {
        char c = **at;

        if (length + 1 == TOKEN_MAX_BYTES)
            return false;
        if (c == '~' && *at + 1 < end && ((*at)[1] == '0' || (*at)[1] == '1'))
            c = *++*at == '0' ? '~' : '/';
        token[length++] = c;
    }
    token[length] = 0;
    return true;
}

/* Place in a list, or its length for "-"; -1: it is none. */
static int place_of(const cJSON *list, const char *token)
{
    char *end;
    long place = strtol(token, &end, 10);

    if (strcmp(token, "-") == 0)
        return cJSON_GetArraySize(list);
    return *token && !*end && place >= 0 && place < cJSON_GetArraySize(list) ? (int)place
                                                                             : -1;
}

/* Puts the value into an object or a list; false: there is no such place. */
static bool put(cJSON *into, const char *token, cJSON *value)
{
    int place;

    if (cJSON_IsObject(into)) {
        return cJSON_GetObjectItemCaseSensitive(into, token)
                   ? cJSON_ReplaceItemInObjectCaseSensitive(into, token, value)
                   : cJSON_AddItemToObject(into, token, value);
    }
    place = cJSON_IsArray(into) ? place_of(into, token) : -1;
    if (place < 0)
        return false;
    if (place == cJSON_GetArraySize(into))
        return cJSON_AddItemToArray(into, value);
    return cJSON_ReplaceItemInArray(into, place, value);
}

static cJSON *step(cJSON *from, const char *token)
{
    cJSON *next;

    if (cJSON_IsArray(from))
        return cJSON_GetArrayItem(from, place_of(from, token));
    next = cJSON_GetObjectItemCaseSensitive(from, token);
    return next || !cJSON_IsObject(from) ? next : cJSON_AddObjectToObject(from, token);
}

/* What stands behind "=": JSON, or else a text. */
static cJSON *value_of(const char *text, struct arena *a)
{
    struct error ignored = {.arena = a};
    cJSON *value;

    return json_tree(text, strlen(text), &value, a, &ignored) == OK
               ? value
               : cJSON_CreateString(text);
}

static bool set(cJSON *root, const char *pointer, const char *end, cJSON *value)
{
    char token[TOKEN_MAX_BYTES];
    cJSON *at = root;

    while (at && next_token(&pointer, end, token)) {
        if (pointer == end)
            return put(at, token, value);
        at = step(at, token);
    }
    return false;
}

enum error_code set_value(const char *document, size_t length, const char *assignment,
                          const char **text, struct arena *a, struct error *err)
{
    const char *equals = strchr(assignment, '=');
    cJSON *root, *value;

    if (*assignment != '/' || !equals)
        return fail(err, ERR_INVALID, "--set",
                    "--set /path/to/member=value is expected, not '%.100s'", assignment);
    TRY(json_tree(document, length, &root, a, err));
    value = value_of(equals + 1, a);
    if (!value)
        return fail_memory(err);
    if (!set(root, assignment, equals, value))
        return fail(err, ERR_INVALID, "--set",
                    "nothing can stand at %.*s: what is above it is no object, or a "
                    "shorter list",
                    (int)(equals - assignment), assignment);
    return json_tree_text(root, text, a, err);
}
