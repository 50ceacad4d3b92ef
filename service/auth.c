/* auth.c - who asks, by the key in the Authorization header.
 *
 * The cache is a table in shards, each with its own lock, held to copy an entry
 * in or out and never while waiting for the database. An entry says what the
 * database said last, also "no such key". One thread at a time looks a known
 * key up again, shortly before it is stale; the others go on with what is there.
 */
#include "service/auth.h"

#include "service/clock.h"
#include "service/hash.h"
#include "service/ratelimit.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum {
    SHARDS = 16,
    SHARD_SLOTS = 256,
    WINDOW = 8, /* slots in which a key may live */
    KEY_ID_LENGTH = AUTH_KEY_ID_SIZE - 1,
    SECRET_LENGTH = 64,
    KEY_LENGTH = AUTH_KEY_SIZE - 1,
    UNKNOWN_RETRY_S = 1,
    BASIC_MAX_LENGTH = 512,
    UNKNOWN_BUCKETS = 4096, /* addresses */
};

static const double REFRESH_S = 0.8 * AUTH_FRESH_S;
static const double UNKNOWN_KEPT_S = 5;
static const double RETRY_S = 1; /* after the database failed */

struct entry {
    bool used, known;    /* known false: the database has no such key */
    bool asking;         /* a thread is looking it up */
    double refresh_at_s; /* when one thread asks again; monotonic, as the next */
    double stale_at_s;   /* when nobody goes on without having asked */
    struct auth_key key;
};

struct shard {
    pthread_mutex_t lock;
    struct entry *entries; /* made with the first key */
};

struct auth {
    bool required;
    auth_find_fn *find;
    void *context;
    double unknown_per_s;
    struct ratelimit *unknown; /* look-ups of keys that are not remembered */
    struct shard shards[SHARDS];
};

struct auth *auth_create(bool required, double unknown_per_s, auth_find_fn *find,
                         void *context)
{
    struct auth *auth = calloc(1, sizeof(*auth));

    if (!auth)
        return NULL;
    auth->required = required;
    auth->find = find;
    auth->context = context;
    auth->unknown_per_s = unknown_per_s;
    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&auth->shards[i].lock, NULL);
    auth->unknown = ratelimit_create(UNKNOWN_BUCKETS);
    if (!auth->unknown) {
        auth_close(auth);
        return NULL;
    }
    return auth;
}

void auth_close(struct auth *auth)
{
    if (!auth)
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        free(auth->shards[i].entries);
        pthread_mutex_destroy(&auth->shards[i].lock);
    }
    ratelimit_close(auth->unknown);
    free(auth);
}

void auth_reload(struct auth *auth)
{
    for (size_t i = 0; auth && i < SHARDS; i++) {
        struct shard *shard = &auth->shards[i];

        pthread_mutex_lock(&shard->lock);
        for (size_t k = 0; shard->entries && k < SHARD_SLOTS; k++)
            shard->entries[k].stale_at_s = 0;
        pthread_mutex_unlock(&shard->lock);
    }
}

/* ---- keys ---- */

/* "gp_ID_SECRET", hex digits of the right number: nothing else is looked up. */
static bool is_key(const char *text, size_t length)
{
    if (length != KEY_LENGTH || memcmp(text, "gp_", 3) != 0 ||
        text[3 + KEY_ID_LENGTH] != '_')
        return false;
    for (size_t i = 3; i < length; i++)
        if (i != 3 + KEY_ID_LENGTH && !isxdigit((unsigned char)text[i]))
            return false;
    return true;
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* The bytes of a base64 text; 0 when it is none or has more than `size`. */
static size_t base64_decode(const char *text, char *out, size_t size)
{
    unsigned bits = 0, bit_count = 0;
    size_t length = 0;

    for (; *text && *text != '=' && *text != ' '; text++) {
        int value = base64_value(*text);

        if (value < 0 || length == size)
            return 0;
        bits = (bits << 6 | (unsigned)value) & 0xffff;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            out[length++] = (char)(bits >> bit_count & 0xff);
        }
    }
    return length;
}

/* The key in the header, into `key` (AUTH_KEY_SIZE). ERR_UNAUTHENTICATED: there is none;
 * ERR_MALFORMED: something follows it, which other servers may take for the key. */
static enum error_code read_header(const char *header, char *key, struct error *err)
{
    char decoded[BASIC_MAX_LENGTH];
    const char *text = NULL;
    size_t length = 0;

    if (header && strncasecmp(header, "Bearer ", 7) == 0) {
        text = header + 7 + strspn(header + 7, " ");
        length = strcspn(text, " \t");
        if (text[length + strspn(text + length, " \t")])
            return fail(err, ERR_MALFORMED, "",
                        "something follows the key in the Authorization header");
    } else if (header && strncasecmp(header, "Basic ", 6) == 0) {
        size_t n =
            base64_decode(header + 6 + strspn(header + 6, " "), decoded, sizeof(decoded));
        const char *colon = memchr(decoded, ':', n);

        text = colon ? colon + 1 : NULL;
        length = colon ? (size_t)(decoded + n - text) : 0;
    }
    if (!text || !is_key(text, length))
        return fail(err, ERR_UNAUTHENTICATED, "",
                    header ? "the Authorization header holds no key of this service "
                             "(Bearer gp_..., or Basic with it as the password)"
                           : "an Authorization header with a key is needed");
    memcpy(key, text, length);
    key[length] = '\0';
    return OK;
}

bool auth_has_key(const char *authorization)
{
    struct error ignored = {0};
    char key[AUTH_KEY_SIZE];

    return read_header(authorization, key, &ignored) == OK;
}

bool auth_key_make(char *text, struct auth_key *key)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[(KEY_ID_LENGTH + SECRET_LENGTH) / 2];
    char *p = text;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return false;
    p = stpcpy(p, "gp_");
    for (size_t i = 0; i < sizeof(bytes); i++) {
        if (i == KEY_ID_LENGTH / 2)
            *p++ = '_';
        *p++ = digits[bytes[i] >> 4];
        *p++ = digits[bytes[i] & 15];
    }
    *p = '\0';
    memcpy(key->key_id, text + 3, KEY_ID_LENGTH);
    key->key_id[KEY_ID_LENGTH] = '\0';
    hash_sha256(text, KEY_LENGTH, key->digest_sha256);
    return true;
}

/* ---- scopes ---- */

static const struct {
    const char *name;
    unsigned bit;
} scope_names[] = {
    {"decide", SCOPE_DECIDE}, {"ingest", SCOPE_INGEST}, {"admin", SCOPE_ADMIN},
    {"read", SCOPE_READ},     {"facade", SCOPE_FACADE},
};

enum { SCOPE_NAME_COUNT = sizeof(scope_names) / sizeof(scope_names[0]) };

static unsigned scope_bit(const char *name, size_t length)
{
    for (size_t i = 0; i < SCOPE_NAME_COUNT; i++)
        if (strlen(scope_names[i].name) == length &&
            strncmp(scope_names[i].name, name, length) == 0)
            return scope_names[i].bit;
    return 0;
}

enum error_code auth_scopes_read(const char *text, unsigned *scopes, struct error *err)
{
    unsigned bits = 0;

    for (const char *p = text; *p;) {
        size_t length = strcspn(p, ",");
        unsigned bit = scope_bit(p, length);

        if (!bit)
            return fail(
                err, ERR_INVALID, "/scopes",
                "no scope '%.*s'; there are decide, ingest, admin, read and facade",
                (int)length, p);
        bits |= bit;
        p += length + (p[length] == ',');
    }
    if (!bits)
        return fail(err, ERR_INVALID, "/scopes",
                    "at least one of decide, ingest, admin, read and facade");
    *scopes = bits;
    return OK;
}

const char *auth_scopes_print(unsigned scopes, struct arena *a)
{
    const char *text = "";

    for (size_t i = 0; i < SCOPE_NAME_COUNT && text; i++)
        if (scopes & scope_names[i].bit)
            text = arena_try_printf(a, "%s%s%s", text, *text ? "," : "",
                                    scope_names[i].name);
    return text;
}

/* ---- the cache ---- */

static uint64_t id_hash(const char *key_id)
{
    uint64_t h = strtoull(key_id, NULL, 16); /* random already */

    return h ^ h >> 24;
}

static struct shard *shard_of(struct auth *auth, const char *key_id)
{
    return &auth->shards[id_hash(key_id) % SHARDS];
}

/* The entry of the id, or NULL; `*spare` is the one to give up for it: free,
 * else an unknown key, else the one asked longest ago. Under the shard's lock. */
static struct entry *entry_find(struct shard *shard, const char *key_id,
                                struct entry **spare)
{
    size_t first = (size_t)(id_hash(key_id) / SHARDS);
    double best_s = HUGE_VAL;

    for (size_t i = 0; shard->entries && i < WINDOW; i++) {
        struct entry *e = &shard->entries[(first + i) % SHARD_SLOTS];
        double rank_s = !e->used   ? -2e9
                        : e->known ? e->refresh_at_s
                                   : e->refresh_at_s - 1e9;

        if (e->used && strcmp(e->key.key_id, key_id) == 0)
            return e;
        if (rank_s < best_s) {
            best_s = rank_s;
            *spare = e;
        }
    }
    return NULL;
}

enum lookup { FRESH, ASK, ASK_ANYWAY };

/* What the cache says: FRESH: *e is good; ASK: the database must be asked, *e is
 * the last known when e->used; ASK_ANYWAY: *e is still good, and this caller is
 * the one to look it up again. */
static enum lookup cache_get(struct auth *auth, const char *key_id, bool may_block,
                             struct entry *e)
{
    struct shard *shard = shard_of(auth, key_id);
    struct entry *spare = NULL, *found;
    double now_s = clock_monotonic_s();
    enum lookup answer = ASK;

    e->used = false;
    pthread_mutex_lock(&shard->lock);
    found = entry_find(shard, key_id, &spare);
    if (found) {
        *e = *found;
        if (now_s >= found->stale_at_s)
            answer = ASK;
        else if (now_s >= found->refresh_at_s && !found->asking)
            answer = ASK_ANYWAY;
        else
            answer = FRESH;
        if (answer == ASK_ANYWAY && may_block)
            found->asking = true;
    }
    pthread_mutex_unlock(&shard->lock);
    return answer;
}

static void cache_put(struct auth *auth, const struct entry *e)
{
    struct shard *shard = shard_of(auth, e->key.key_id);
    struct entry *spare = NULL, *found;

    pthread_mutex_lock(&shard->lock);
    if (!shard->entries)
        shard->entries = calloc(SHARD_SLOTS, sizeof(*shard->entries));
    found = entry_find(shard, e->key.key_id, &spare);
    if (!found)
        found = spare;
    if (found)
        *found = *e;
    pthread_mutex_unlock(&shard->lock);
}

static enum error_code fail_unknown(struct error *err)
{
    err->retry_after_s = UNKNOWN_RETRY_S;
    return fail(err, ERR_RATE_LIMITED, "",
                "too many keys from this address that are not known here; try again in "
                "%d s",
                UNKNOWN_RETRY_S);
}

/* Whether one more key that is not remembered may be looked up now for the address. */
static bool unknown_take(struct auth *auth, const char *address)
{
    struct ratelimit_state state;

    return ratelimit_take(auth->unknown, address ? address : "", auth->unknown_per_s,
                          AUTH_UNKNOWN_BURST, clock_monotonic_s(), &state);
}

/* The same question without taking anything. */
static bool unknown_peek(struct auth *auth, const char *address)
{
    struct ratelimit_state state;

    ratelimit_look(auth->unknown, address ? address : "", auth->unknown_per_s,
                   AUTH_UNKNOWN_BURST, clock_monotonic_s(), &state);
    return state.remaining_count >= 1;
}

/* Asks the database and remembers the answer in *e and the cache. While it is
 * down the last known state stays good, and is not asked for RETRY_S. */
static enum error_code ask(struct auth *auth, const char *key_id, const char *address,
                           struct entry *e, struct error *err)
{
    struct entry fresh = {.used = true, .known = true};
    bool was_known = e->used && e->known;
    enum error_code code;
    double now_s;

    if (!was_known && !unknown_take(auth, address))
        return fail_unknown(err);
    code = auth->find ? auth->find(auth->context, key_id, &fresh.key, err)
                      : fail(err, ERR_UNAVAILABLE, "",
                             "keys are in the database, and none is configured");
    if (code != OK && code != ERR_NOT_FOUND && !was_known)
        return code;
    if (code == OK && !was_known) /* an honest caller, whose key was only new here */
        ratelimit_give(auth->unknown, address ? address : "", auth->unknown_per_s,
                       AUTH_UNKNOWN_BURST, clock_monotonic_s());
    if (code == ERR_NOT_FOUND)
        fresh.known = false;
    else if (code != OK)
        fresh.key = e->key;
    now_s = clock_monotonic_s();
    strcpy(fresh.key.key_id, key_id);
    fresh.refresh_at_s = now_s + (code == OK              ? REFRESH_S
                                  : code == ERR_NOT_FOUND ? UNKNOWN_KEPT_S
                                                          : RETRY_S);
    fresh.stale_at_s = fresh.refresh_at_s + AUTH_FRESH_S - REFRESH_S;
    cache_put(auth, &fresh);
    *e = fresh;
    err->code = OK;
    return OK;
}

/* ---- the check ---- */

static enum auth_result refuse(struct error *err, enum error_code code, const char *text)
{
    fail(err, code, "", "%s", text);
    return AUTH_REFUSED;
}

static enum auth_result allow(const struct auth_key *key, struct auth_grant *grant,
                              struct arena *a, struct error *err)
{
    const char *tenant = arena_try_text(a, key->tenant, strlen(key->tenant));
    const char *key_id = arena_try_text(a, key->key_id, strlen(key->key_id));

    if (!tenant || !key_id) {
        fail_memory(err);
        return AUTH_REFUSED;
    }
    grant->who = (struct principal){tenant, key_id, key->scopes};
    grant->quota = key->quota;
    grant->tenant_quota = key->tenant_quota;
    return AUTH_ALLOWED;
}

/* Whether the key that was shown, whose digest is given, allows the scope. An
 * admin may do everything. */
static enum auth_result authorise(const struct entry *e, const unsigned char *digest,
                                  enum scope scope, struct auth_grant *grant,
                                  struct arena *a, struct error *err)
{
    const struct auth_key *key = &e->key;

    if (!e->known || !hash_equal(key->digest_sha256, digest, SHA256_BYTES))
        return refuse(err, ERR_UNAUTHENTICATED, "the key is not known here");
    if (key->revoked)
        return refuse(err, ERR_UNAUTHENTICATED, "the key has been revoked");
    if (!isnan(key->expires_at_s) && clock_wall_s() >= key->expires_at_s)
        return refuse(err, ERR_UNAUTHENTICATED, "the key has expired");
    if (scope & SCOPE_IN_PATH && key->scopes != SCOPE_FACADE)
        return refuse(err, ERR_NOT_FOUND,
                      "a path may have a key of the scope facade alone");
    scope &= (enum scope) ~SCOPE_IN_PATH;
    if (!(key->scopes & (scope | SCOPE_ADMIN))) {
        fail(err, ERR_FORBIDDEN, "", "the key has the scopes %s, and %s is needed",
             auth_scopes_print(key->scopes, a), auth_scopes_print(scope, a));
        return AUTH_REFUSED;
    }
    return allow(key, grant, a, err);
}

/* Allowed without a key: nobody needs one, or not for this. */
static bool is_open(const struct auth *auth, enum scope scope, struct auth_grant *grant)
{
    if (auth && auth->required && scope != SCOPE_NONE)
        return false;
    grant->who = (struct principal){"default", "",
                                    SCOPE_DECIDE | SCOPE_INGEST | SCOPE_ADMIN |
                                        SCOPE_READ | SCOPE_FACADE};
    grant->quota = grant->tenant_quota = quota_none();
    return true;
}

/* What the cache says of the key in the header; *e as by cache_get(). */
static enum error_code recall(struct auth *auth, const char *authorization,
                              bool may_block, char *text, struct entry *e,
                              enum lookup *lookup, struct error *err)
{
    char key_id[AUTH_KEY_ID_SIZE];

    TRY(read_header(authorization, text, err));
    memcpy(key_id, text + 3, KEY_ID_LENGTH);
    key_id[KEY_ID_LENGTH] = '\0';
    *lookup = cache_get(auth, key_id, may_block, e);
    strcpy(e->key.key_id, key_id);
    return OK;
}

static enum auth_result authorise_text(const struct entry *e, const char *text,
                                       enum scope scope, struct auth_grant *grant,
                                       struct arena *a, struct error *err)
{
    unsigned char digest[SHA256_BYTES];

    hash_sha256(text, KEY_LENGTH, digest);
    return authorise(e, digest, scope, grant, a, err);
}

enum auth_result auth_check(struct auth *auth, const char *authorization,
                            const char *address, enum scope scope, bool may_block,
                            struct auth_grant *grant, struct arena *a, struct error *err)
{
    char text[AUTH_KEY_SIZE], key_id[AUTH_KEY_ID_SIZE];
    enum lookup lookup;
    struct entry e = {0};

    if (is_open(auth, scope, grant))
        return AUTH_ALLOWED;
    if (recall(auth, authorization, may_block, text, &e, &lookup, err) != OK)
        return AUTH_REFUSED;
    if (lookup != FRESH && !may_block)
        return AUTH_NEEDS_DATABASE;
    strcpy(key_id, e.key.key_id);
    if (lookup != FRESH && ask(auth, key_id, address, &e, err) != OK)
        return AUTH_REFUSED;
    return authorise_text(&e, text, scope, grant, a, err);
}

enum auth_result auth_glance(struct auth *auth, const char *authorization,
                             const char *address, enum scope scope,
                             struct auth_grant *grant, struct arena *a, struct error *err)
{
    char text[AUTH_KEY_SIZE];
    enum lookup lookup;
    struct entry e = {0};

    if (is_open(auth, scope, grant))
        return AUTH_ALLOWED;
    if (recall(auth, authorization, false, text, &e, &lookup, err) != OK)
        return AUTH_REFUSED;
    if (lookup != ASK)
        return authorise_text(&e, text, scope, grant, a, err);
    if (e.used && e.known)
        return AUTH_NEEDS_REFRESH;
    if (unknown_peek(auth, address))
        return AUTH_NEEDS_DATABASE;
    fail_unknown(err);
    return AUTH_REFUSED;
}
