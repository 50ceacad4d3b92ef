/* ask.h - a question to gridplan: of a service by its URL, or answered in process. */
#ifndef GRIDPLAN_CLIENT_ASK_H
#define GRIDPLAN_CLIENT_ASK_H

#include "service/route.h"

struct asked {
    const struct route *routes; /* for answers in process, without a database */
    const struct config *config;
    const char *url;      /* NULL: in process */
    const char *key_file; /* NULL: without a key */
    const char *ca_file;  /* whom certificates must come from; NULL: the system's */
    double time_limit_s;
    const char *colour; /* of what a terminal shows: auto, always, never; NULL: auto */
};

struct asked_reply {
    const char *accept; /* what is asked for; NULL: JSON */
    int status;         /* of HTTP */
    const char *text;
};

/* Posts a JSON body, or gets the path if it is NULL; a reply of any status is one.
 * ERR_UNAVAILABLE: there is none. */
enum error_code ask_reply(const struct asked *who, const char *path, const char *body,
                          size_t length, struct asked_reply *reply, struct arena *a,
                          struct error *err);

/* Posts a JSON body; *answer is the answer of a status below 300. Fails with what the
 * problem says: its status, its title, its errors. */
enum error_code ask_post(const struct asked *who, const char *path, const char *body,
                         size_t length, const char **answer, struct arena *a,
                         struct error *err);

#endif
