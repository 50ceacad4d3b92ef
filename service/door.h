/* door.h - requests that a browser was talked into, and those meant for another host.
 *
 * A web page can make its visitor's browser send requests to any address, also to a
 * service that listens on that machine for its user alone. Without keys nothing else
 * tells such a request from an honest one: so its Host must be one that is served here
 * (a page whose own name was made to lead here comes with that name), and what writes
 * must not come from a foreign page. With keys a foreign page has none to send.
 * Pure functions on the header's values.
 */
#ifndef GRIDPLAN_DOOR_H
#define GRIDPLAN_DOOR_H

#include "models/base/error.h"

#include <stdbool.h>

/* What is served. */
struct door {
    bool keys_required;
    const char *allowed_hosts; /* the settings of that name */
    const char *cors_origins;
    const char *machine;    /* name of this machine */
    const char *public_url; /* the setting: its host is served too; "": none */
};

/* What came; NULL: no such header. */
struct door_head {
    const char *method;
    const char *host, *origin, *sec_fetch_site;
    bool host_needed; /* from HTTP/1.1 on */
    bool https;       /* a trusted proxy says that the client came that way */
};

/* ERR_MALFORMED: no Host; ERR_MISDIRECTED: it is not served here; ERR_FORBIDDEN: a
 * foreign page wants to write. */
enum error_code door_check(const struct door *door, const struct door_head *head,
                           struct error *err);

/* Whether `origin` is one of the comma-separated `allowed`, or that is "*". */
bool door_allows_origin(const char *allowed, const char *origin);

#endif
