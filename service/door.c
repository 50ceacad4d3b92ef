/* door.c - requests that a browser was talked into, and those meant for another host. */
#include "service/door.h"

#include "service/address.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A host, and the port behind it; no port: length 0. */
struct place {
    const char *name, *port;
    size_t name_length, port_length;
};

/* "name", "name:80", "[::1]", "[::1]:80"; the brackets do not count. */
static struct place read_place(const char *text)
{
    const char *end = text + strlen(text), *bracket = strchr(text, ']'), *colon;
    struct place place = {.name = text, .port = end};

    if (*text == '[' && bracket) {
        place.name = text + 1;
        place.name_length = (size_t)(bracket - text - 1);
        colon = bracket[1] == ':' ? bracket + 1 : NULL;
    } else {
        colon = strrchr(text, ':');
        place.name_length = (size_t)((colon ? colon : end) - text);
    }
    if (colon) {
        place.port = colon + 1;
        place.port_length = (size_t)(end - colon - 1);
    }
    return place;
}

static bool same(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && strncasecmp(a, b, a_length) == 0;
}

static bool is_name(const struct place *place, const char *name)
{
    size_t length = place->name_length;

    if (length > 1 && place->name[length - 1] == '.') /* a name that is complete */
        length--;
    return same(place->name, length, name, strlen(name));
}

/* Whether it is the host of the address that clients are told. */
static bool is_public(const struct door *door, const struct place *place)
{
    const char *scheme_end = door->public_url ? strstr(door->public_url, "://") : NULL;
    struct place public;
    char authority[256];

    if (!scheme_end)
        return false;
    snprintf(authority, sizeof(authority), "%.*s", (int)strcspn(scheme_end + 3, "/"),
             scheme_end + 3);
    public = read_place(authority);
    return same(place->name, place->name_length, public.name, public.name_length);
}

/* `auto`: what no page can make its own name lead to. An address is no name, and a page
 * loaded from an address has that address as its origin. */
static bool is_ours(const struct door *door, const struct place *place)
{
    struct address address;

    return door->keys_required || is_name(place, "localhost") ||
           is_name(place, door->machine) || is_public(door, place) ||
           address_read(place->name, place->name_length, &address);
}

static bool host_allowed(const struct door *door, const char *host)
{
    struct place place = read_place(host);

    for (const char *p = door->allowed_hosts; *p;) {
        char name[256];
        size_t length;

        p += strspn(p, ", ");
        length = strcspn(p, ", ");
        if (length > 0 && length < sizeof(name)) {
            memcpy(name, p, length);
            name[length] = '\0';
            if (strcmp(name, "*") == 0 || is_name(&place, name) ||
                (strcmp(name, "auto") == 0 && is_ours(door, &place)))
                return true;
        }
        p += length;
    }
    return false;
}

static bool same_port(const struct place *a, const struct place *b, const char *preset)
{
    size_t preset_length = strlen(preset);

    return same(a->port_length ? a->port : preset,
                a->port_length ? a->port_length : preset_length,
                b->port_length ? b->port : preset,
                b->port_length ? b->port_length : preset_length);
}

/* Whether the page came from where the request goes. */
static bool is_own_origin(const struct door_head *head)
{
    const char *scheme = head->https ? "https://" : "http://";
    struct place page, here;

    if (!head->host || strncasecmp(head->origin, scheme, strlen(scheme)) != 0)
        return false;
    page = read_place(head->origin + strlen(scheme));
    here = read_place(head->host);
    return same(page.name, page.name_length, here.name, here.name_length) &&
           same_port(&page, &here, head->https ? "443" : "80");
}

bool door_allows_origin(const char *allowed, const char *origin)
{
    size_t length = strlen(origin);

    for (const char *p = allowed; *p;) {
        size_t entry;

        p += strspn(p, ", ");
        entry = strcspn(p, ", ");
        if ((entry == 1 && *p == '*') ||
            (entry == length && strncmp(p, origin, entry) == 0))
            return true;
        p += entry;
    }
    return false;
}

static bool only_reads(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
           strcmp(method, "OPTIONS") == 0;
}

static enum error_code check_page(const struct door *door, const struct door_head *head,
                                  struct error *err)
{
    if (door->keys_required || only_reads(head->method))
        return OK;
    if (head->origin && !door_allows_origin(door->cors_origins, head->origin) &&
        !is_own_origin(head))
        return fail(err, ERR_FORBIDDEN, "",
                    "a page of %.100s may not write here; see the setting cors_origins",
                    head->origin);
    if (!head->origin && head->sec_fetch_site &&
        strcasecmp(head->sec_fetch_site, "cross-site") == 0)
        return fail(err, ERR_FORBIDDEN, "",
                    "a page of another site may not write here; see the setting "
                    "cors_origins");
    return OK;
}

enum error_code door_check(const struct door *door, const struct door_head *head,
                           struct error *err)
{
    if (!head->host && head->host_needed)
        return fail_header(err, ERR_MALFORMED, "Host", ITEM_REQUIRED,
                           "the Host header is missing");
    if (head->host && !host_allowed(door, head->host))
        return fail(err, ERR_MISDIRECTED, "",
                    "'%.100s' is not served here; see the setting allowed_hosts",
                    head->host);
    return check_page(door, head, err);
}
