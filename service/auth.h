/* auth.h - who asks, by the key in the Authorization header.
 *
 * A key is "gp_ID_SECRET": 12 hex digits to find it, 64 hex digits (256 bits)
 * to prove it. The database holds the SHA-256 of the whole. It comes as
 * "Bearer KEY", or as the password of "Basic".
 *
 * Keys that were seen are kept in memory and looked up again every
 * AUTH_FRESH_S seconds, so revoking takes that long. While the database is
 * down the last known state is used. Unknown keys are remembered for a short
 * time, and each address may have only so many of them looked up a second: whoever
 * floods the service with them has only their own keys looked up late.
 */
#ifndef GRIDPLAN_AUTH_H
#define GRIDPLAN_AUTH_H

#include "service/quota.h"
#include "service/route.h"

enum {
    AUTH_FRESH_S = 10,
    AUTH_KEY_SIZE = 81, /* "gp_" + 12 + "_" + 64, and the NUL */
    AUTH_KEY_ID_SIZE = 13,
    AUTH_TENANT_SIZE = 129,
    AUTH_UNKNOWN_BURST = 20,
};

/* A key as it is stored; store_key of store.h without its texts' owner. */
struct auth_key {
    char key_id[AUTH_KEY_ID_SIZE];
    char tenant[AUTH_TENANT_SIZE];
    unsigned char digest_sha256[32];
    unsigned scopes;     /* bits of enum scope */
    double expires_at_s; /* instant; NAN: never */
    bool revoked;
    struct quota quota, tenant_quota;
};

/* Reads a key from the database. ERR_NOT_FOUND: there is none. */
typedef enum error_code auth_find_fn(void *context, const char *key_id,
                                     struct auth_key *key, struct error *err);

struct auth;

/* `required` false: everybody is tenant "default" with all scopes. `find` NULL:
 * no database. `unknown_per_s`: keys that are not remembered, looked up for one address
 * in a second, after the first AUTH_UNKNOWN_BURST. NULL without memory. */
struct auth *auth_create(bool required, double unknown_per_s, auth_find_fn *find,
                         void *context);
void auth_close(struct auth *auth);

/* Forgets all keys that were seen, so that changes hold at once (SIGHUP). They
 * are still used while the database is down. */
void auth_reload(struct auth *auth);

enum auth_result {
    AUTH_ALLOWED,
    AUTH_REFUSED,        /* *err: ERR_MALFORMED, ERR_UNAUTHENTICATED, ERR_FORBIDDEN,
                            ERR_RATE_LIMITED, ERR_UNAVAILABLE */
    AUTH_NEEDS_DATABASE, /* only without may_block: ask again where waiting is allowed */
    AUTH_NEEDS_REFRESH   /* only auth_glance(): likewise, and the key was known before */
};

struct auth_grant {
    struct principal who;             /* texts live in the arena */
    struct quota quota, tenant_quota; /* of the key, and of all keys of its tenant */
};

/* Whether the header that came from `address` (NULL: nowhere) allows `scope` (SCOPE_NONE:
 * anybody, then the header is not looked at). auth NULL: not required. */
enum auth_result auth_check(struct auth *auth, const char *authorization,
                            const char *address, enum scope scope, bool may_block,
                            struct auth_grant *grant, struct arena *a, struct error *err);

/* The same, without waiting, and with a key that is remembered but about to be looked
 * up again as it is remembered: for the moment before the body is read. */
enum auth_result auth_glance(struct auth *auth, const char *authorization,
                             const char *address, enum scope scope,
                             struct auth_grant *grant, struct arena *a,
                             struct error *err);

/* Whether the header holds what looks like a key of ours. */
bool auth_has_key(const char *authorization);

/* For WWW-Authenticate of a 401. */
#define AUTH_CHALLENGE \
    "Bearer realm=\"gridplan\", Basic realm=\"gridplan\", charset=\"UTF-8\""

/* Makes a new key: `text` (AUTH_KEY_SIZE) is shown once, key_id and digest of
 * *key are filled, the rest is left alone. False: no random numbers. */
bool auth_key_make(char *text, struct auth_key *key);

/* "decide,ingest,admin,facade" to bits and back. */
enum error_code auth_scopes_read(const char *text, unsigned *scopes, struct error *err);
const char *auth_scopes_print(unsigned scopes, struct arena *a);

#endif
