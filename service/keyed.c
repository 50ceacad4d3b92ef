/* keyed.c - requests with an Idempotency-Key: each is done once, its answer given again.
 *
 * Only the attempt whose owner_id stands in the key's row can publish, publishing takes
 * the row's lock, and taking over changes the owner_id: of two attempts that both have
 * computed exactly one publishes, whatever clocks and pauses do. The leases only decide
 * when waste begins.
 */
#include "service/keyed.h"

#include "service/clock.h"
#include "service/config.h"
#include "service/json_scan.h"
#include "service/problem.h"
#include "service/service.h"
#include "service/session_cache.h"
#include "service/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    CONFLICTS_MAX = 3,
    DOUBTS_MAX = 20, /* looks at how a transaction ended that was not answered */
    DERIVED_VERSION = 8,
};

static const struct timespec doubt = {0, 50000000}; /* between two of them */

static const double WAIT_S = 5; /* for who computes the same; unless Prefer: wait= */
static const double WAIT_MAX_S = 60;

static const char local_warning[] =
    "idempotency_local: the answer is not kept under its Idempotency-Key, as there is no "
    "database; the same request has the same decision_id, but is computed again";

/* ---- what makes two requests the same ---- */

static enum error_code check_key(const struct request *rq)
{
    const char *key = rq->message->idempotency_key;
    size_t length = strlen(key);
    bool bad = length == 0 || length > KEYED_KEY_MAX_BYTES || !json_is_utf8(key, length);

    for (size_t i = 0; i < length && !bad; i++)
        bad = (unsigned char)key[i] < ' ' || key[i] == 127;
    if (bad)
        return fail_header(
            rq->err, ERR_MALFORMED, "Idempotency-Key", ITEM_MALFORMED,
            "Idempotency-Key must have 1 to %d bytes of UTF-8, none of them a control "
            "character",
            KEYED_KEY_MAX_BYTES);
    return OK;
}

/* The path, the query, and the body. */
static enum error_code request_digest(struct request *rq, const struct content *body,
                                      unsigned char *digest)
{
    const struct message *m = rq->message;
    struct text_buffer b = {.arena = rq->arena};

    json_print_text(m->path, &b);
    for (size_t i = 0; i < m->query_count; i++) {
        json_print_text(m->query[i].name, &b);
        json_print_text(m->query[i].value, &b);
    }
    if (b.failed)
        return fail_memory(rq->err);
    if (rq->route->flags & ROUTE_STREAMS)
        return request_body_sha256(rq, &(struct hash_part){b.data, b.length}, digest);
    if (!hash_sha256_parts(
            (const struct hash_part[]){{b.data, b.length}, {body->text, body->length}}, 2,
            digest))
        return fail_memory(rq->err);
    return OK;
}

/* RFC 9562, version 8: the same request has the same id on every replica. */
static enum error_code derive_decision_id(struct request *rq, const struct content *body)
{
    const char *tenant = rq->principal.tenant, *key = rq->message->idempotency_key;
    const char *route = rq->route->path;
    const struct hash_part parts[] = {{tenant, strlen(tenant) + 1},
                                      {key, strlen(key) + 1},
                                      {route, strlen(route) + 1},
                                      {body->text, body->length},
                                      {"", 1}};
    char *id = TRY_NEW(rq->arena, char, UUID_TEXT_SIZE);
    unsigned char digest[SHA256_BYTES];

    if (!id || !hash_sha256_parts(parts, sizeof(parts) / sizeof(parts[0]), digest))
        return fail_memory(rq->err);
    digest[6] = (unsigned char)(DERIVED_VERSION << 4 | (digest[6] & 15));
    digest[8] = (unsigned char)(0x80 | (digest[8] & 0x3f)); /* RFC 9562's variant */
    uuid_print(digest, id);
    rq->keyed_id = id;
    return OK;
}

/* ---- an answer that was given before ---- */

static struct store_answer answer_of(const struct reply *reply)
{
    return (struct store_answer){
        (uint64_t)reply->status,
        reply->content_type,
        route_reply_header(reply, "Location"),
        route_reply_header(reply, "ETag"),
        {(const unsigned char *)reply->body, reply->body_length}};
}

/* What was kept is JSON; who asks for another form has it drawn from that. */
static enum error_code draw_form(struct request *rq, const struct store_answer *stored)
{
    enum answer_form form = request_answer_form(rq);
    const char *type = stored->content_type;
    struct content body;

    if (form == ANSWER_JSON || stored->status >= 300 || !type ||
        strcmp(type, "application/json") != 0)
        return OK;
    if (!rq->service->draw)
        return fail(rq->err, ERR_NOT_ACCEPTABLE, "",
                    "the answer was kept as JSON; accept application/json");
    TRY(route_content(rq, &body));
    rq->body = body.text;
    rq->body_length = body.length;
    return route_draw(rq, form, (const char *)stored->body.data);
}

static enum error_code repeat_answer(struct request *rq,
                                     const struct store_answer *stored)
{
    struct reply *reply = rq->reply;

    TRY(draw_form(rq, stored));
    reply->status = (int)stored->status;
    reply->content_type = stored->content_type;
    reply->body = (const char *)stored->body.data;
    reply->body_length = stored->body.length;
    reply_header_add(reply, "Location", stored->location);
    reply_header_add(reply, "ETag", stored->etag);
    reply_header_add(reply, "Idempotency-Replayed", "true");
    idempotency_count_replay(rq->service->idempotency);
    route_send_form(rq);
    return OK;
}

/* The same for an answer that the database keeps: counted there, and so acknowledged only
 * when it is as safe as the database makes it. */
static enum error_code repeat_stored(struct request *rq,
                                     const struct store_answer *stored)
{
    struct db_session *db;

    TRY(request_db(rq, &db));
    TRY(store_answer_repeat(db, rq->principal.tenant, rq->message->idempotency_key,
                            rq->err));
    return repeat_answer(rq, stored);
}

/* ---- requests that only store: one transaction ---- */

static enum error_code store_once(struct request *rq, const struct content *body,
                                  struct db_bytes request_sha256, struct db_session *db)
{
    const char *key = rq->message->idempotency_key, *tenant = rq->principal.tenant;
    struct store_answer answer = {0};
    bool found;

    TRY(db_begin(db, rq->err));
    TRY(store_answer_find(db, tenant, key, rq->route->path, request_sha256, &found,
                          &answer, rq->arena, rq->err));
    if (found) {
        TRY(store_answer_repeat(db, tenant, key, rq->err));
        TRY(db_commit(db, rq->err));
        return repeat_answer(rq, &answer);
    }
    TRY(route_run_whole(rq, body));
    answer = answer_of(rq->reply);
    TRY(store_answer_save(db, tenant, key, rq->route->path, request_sha256, &answer,
                          rq->err));
    return db_commit(db, rq->err);
}

/* How often a transaction was begun again, and why. */
struct tries {
    int conflicts, doubts;
};

/* A transaction that was not answered: its key tells whether it was done, as soon as its
 * server process has ended; until then that has the key's lock. */
static bool may_try_again(struct tries *tries, const struct db_session *db,
                          enum error_code code)
{
    if (db_has_conflicted(db) || db_is_undone(db))
        return ++tries->conflicts < CONFLICTS_MAX;
    if (!db_is_in_doubt(db) && (tries->doubts == 0 || code != ERR_CONFLICT))
        return false;
    if (++tries->doubts > DOUBTS_MAX)
        return false;
    nanosleep(&doubt, NULL);
    return true;
}

enum error_code keyed_store(struct request *rq, const struct content *body)
{
    const struct request before = *rq;
    const struct reply reply_before = *rq->reply;
    const struct error err_before = *rq->err;
    unsigned char digest[SHA256_BYTES];
    struct db_session *db;

    TRY(check_key(rq));
    TRY(request_digest(rq, body, digest));
    TRY(request_db(rq, &db));
    for (struct tries tries = {0};;) {
        enum error_code code =
            store_once(rq, body, (struct db_bytes){digest, sizeof(digest)}, db);

        db_rollback(db);
        if (code == OK)
            session_hold_committed(rq->held);
        else
            session_hold_undone(rq->held);
        if (code == OK || !may_try_again(&tries, db, code))
            return code;
        /* All of it anew: the rows are still in the request. */
        *rq = before;
        rq->db = db;
        *rq->reply = reply_before;
        *rq->err = err_before;
    }
}

/* ---- long computations: who has the key ---- */

static struct store_attempt key_of(const struct request *rq)
{
    struct attempt *t = rq->attempt;

    return (struct store_attempt){
        .tenant = rq->principal.tenant,
        .key = rq->message->idempotency_key,
        .route = rq->route->path,
        .request_sha256 = {t->digest, sizeof(t->digest)},
        .owner_id = t->owner_id,
    };
}

/* A decision that has all it needs in its request can be made without the database; what
 * it lacks it will say itself. */
static bool may_be_local(const struct request *rq, enum error_code code)
{
    return rq->route->flags & ROUTE_DECISION && code == ERR_UNAVAILABLE &&
           !route_writes(rq);
}

static void compute_next(struct request *rq, enum keyed_stage stage)
{
    rq->attempt->stage = stage;
    rq->next = ROUTE_NEEDS_COMPUTE;
}

static void forget_error(struct request *rq)
{
    *rq->err = (struct error){.arena = rq->err->arena};
}

/* How long this client waits from now on. */
static double wait_end_s(const struct request *rq)
{
    double wait_s = preference_read(rq->message->prefer).wait_s;

    return clock_monotonic_s() + (isnan(wait_s) ? WAIT_S : fmin(wait_s, WAIT_MAX_S));
}

/* Somebody else is at it: wait, if the time that the client has is not over. */
static enum error_code wait_more(struct request *rq)
{
    struct attempt *t = rq->attempt;

    if (t->stage != KEYED_WAITS)
        t->wait_until_s = wait_end_s(rq);
    if (rq->cancelled && __atomic_load_n(rq->cancelled, __ATOMIC_RELAXED))
        return fail(rq->err, ERR_CANCELLED, "", "the client went away");
    if (clock_monotonic_s() >= t->wait_until_s)
        return fail_still_running(rq->err);
    t->stage = KEYED_WAITS;
    rq->next = ROUTE_NEEDS_TIME;
    return OK;
}

static enum error_code reserve_stored(struct request *rq, enum attempt_state *state,
                                      struct store_answer *answer)
{
    struct attempt *t = rq->attempt;
    const struct store_attempt key = key_of(rq);
    struct db_session *db;

    TRY(request_db(rq, &db));
    if (t->stage == KEYED_WAITS) {
        TRY(store_attempt_look(db, &key, state, answer, rq->arena, rq->err));
        if (*state != ATTEMPT_FREE)
            return OK;
    }
    for (struct tries tries = {0};;) {
        enum error_code code =
            store_attempt_reserve(db, &key, rq->service->config->idempotency_lease_s,
                                  state, &t->begun_count, answer, rq->arena, rq->err);
        bool is_locked = code == OK && *state == ATTEMPT_RUNNING && tries.doubts > 0;

        if ((code == OK && !is_locked) ||
            !may_try_again(&tries, db, is_locked ? ERR_CONFLICT : code))
            return code;
        forget_error(rq);
    }
}

/* It is ours: the lease is kept up until it is let go. */
static void begin_ours(struct request *rq)
{
    struct attempt *t = rq->attempt;

    t->held.owner_id = t->owner_id;
    if (!t->in_memory) {
        idempotency_hold(rq->service->idempotency, &t->held);
        if (t->begun_count > 1)
            idempotency_count_takeover(rq->service->idempotency);
    }
    compute_next(rq, KEYED_OURS);
}

/* Takes the key, where it is kept; ATTEMPT_FREE: it cannot be kept. */
static enum error_code take_key(struct request *rq, enum attempt_state *state,
                                struct store_answer *answer)
{
    struct attempt *t = rq->attempt;
    enum error_code code;

    uuid_make(t->owner_id);
    t->in_memory = !rq->service->db && rq->route->flags & ROUTE_DECISION;
    if (t->in_memory) {
        const struct store_attempt key = key_of(rq);

        return memory_reserve(rq->service->idempotency, &key, state, answer, rq->arena,
                              rq->err);
    }
    code = reserve_stored(rq, state, answer);
    if (!may_be_local(rq, code))
        return code;
    forget_error(rq);
    *state = ATTEMPT_FREE;
    return OK;
}

static enum error_code reserve(struct request *rq)
{
    struct attempt *t = rq->attempt;
    struct store_answer answer = {0};
    enum attempt_state state = ATTEMPT_FREE;

    TRY(take_key(rq, &state, &answer));
    if (state == ATTEMPT_RUNNING)
        return wait_more(rq);
    if (state == ATTEMPT_DONE && t->in_memory)
        reply_header_add(rq->reply, "Idempotency-Stored", "false");
    if (state == ATTEMPT_DONE)
        return t->in_memory ? repeat_answer(rq, &answer) : repeat_stored(rq, &answer);
    if (state == ATTEMPT_FREE)
        compute_next(rq, KEYED_LOCAL);
    else
        begin_ours(rq);
    return OK;
}

/* ---- long computations: the end ---- */

/* A session that no hang-up ends: what it writes says that all is over. */
static struct db_session *last_session(const struct request *rq)
{
    return db_session_create(rq->service->db, NULL, rq->arena);
}

void keyed_give_back(struct service *service, struct attempt *attempt, struct arena *a)
{
    struct error ignored = {.code = OK}; /* the lease ends by itself */
    struct db_session *db;

    if (attempt->stage != KEYED_OURS)
        return;
    attempt->stage = KEYED_NEW;
    if (attempt->in_memory) {
        memory_release(service->idempotency, attempt->owner_id);
        return;
    }
    idempotency_let_go(service->idempotency, &attempt->held);
    db = db_session_create(service->db, NULL, a);
    if (db)
        store_attempt_release(db, attempt->owner_id, &ignored);
    db_session_close(db);
}

/* Nobody has an answer: the next one computes it. */
static void give_back(struct request *rq)
{
    keyed_give_back(rq->service, rq->attempt, rq->arena);
}

/* The key is somebody else's now: their answer is ours, when it is there. */
static enum error_code follow(struct request *rq)
{
    struct attempt *t = rq->attempt;

    idempotency_let_go(rq->service->idempotency, &t->held);
    if (t->held.cancelled && __atomic_load_n(&t->held.lost, __ATOMIC_RELAXED))
        __atomic_store_n(t->held.cancelled, false, __ATOMIC_RELAXED);
    forget_error(rq);
    t->wait_until_s = wait_end_s(rq);
    t->stage = KEYED_WAITS;
    rq->next = ROUTE_NEEDS_TIME;
    return OK;
}

/* Adds the text to the member `warnings` of an answer, of which kind it may be. */
static enum error_code add_warning(const struct json_object *table, void *out,
                                   const char *text, struct arena *a, struct error *err)
{
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        void *member = (char *)out + f->offset;

        if (f->type == JSON_TYPE_KIND) {
            const struct json_of_kind *of = member;

            if (of->value)
                TRY(add_warning(f->kinds[of->kind].of, of->value, text, a, err));
        } else if (f->type == JSON_TYPE_TEXTS && strcmp(f->name, "warnings") == 0) {
            size_t *count = (size_t *)(void *)((char *)out + f->count_offset);
            const char *const *old = *(const char *const **)member;
            const char **list = TRY_NEW(a, const char *, *count + 1);

            if (!list)
                return fail_memory(err);
            for (size_t i = 0; i < *count; i++)
                list[i] = old[i];
            list[(*count)++] = text;
            *(const char *const **)member = list;
        }
    }
    return OK;
}

/* The answer of a decision whose key is not in a database. */
static enum error_code answer_locally(struct request *rq)
{
    struct attempt *t = rq->attempt;

    reply_header_add(rq->reply, "Idempotency-Stored", "false");
    rq->reply->body = NULL;
    if (rq->out && rq->route->response)
        TRY(add_warning(rq->route->response, rq->out, local_warning, rq->arena, rq->err));
    TRY(route_print(rq));
    if (t->stage == KEYED_OURS && t->in_memory) {
        const struct store_attempt key = key_of(rq);
        const struct store_answer answer = answer_of(rq->reply);

        memory_publish(rq->service->idempotency, &key, &answer);
    }
    route_send_form(rq);
    return OK;
}

/* What db_transaction() may repeat. */
struct publication {
    struct request *rq;
    const struct content *body;
    const struct reply *reply; /* a refusal; NULL: the answer, and what it writes */
    bool taken_over;
};

static enum error_code publish(struct db_session *db, void *context, struct error *err)
{
    struct publication *p = context;
    struct request *rq = p->rq;
    const struct store_attempt key = key_of(rq);
    struct store_answer answer;
    bool published;

    if (!p->reply)
        TRY(route_write(rq, db, p->body));
    answer = answer_of(p->reply ? p->reply : rq->reply);
    TRY(store_attempt_publish(db, &key, &answer, &published, err));
    p->taken_over = !published;
    if (!published)
        return fail(err, ERR_CONFLICT, "", "the key was taken over");
    return OK;
}

/* After a transaction of which nobody knows how it ended: what is there. */
static enum error_code look_again(struct request *rq, enum attempt_state *state,
                                  struct store_answer *answer)
{
    const struct store_attempt key = key_of(rq);
    struct db_session *db = last_session(rq);
    struct error err = {.code = OK};
    enum error_code code;

    if (!db)
        return ERR_UNAVAILABLE;
    code = store_attempt_look(db, &key, state, answer, rq->arena, &err);
    db_session_close(db);
    return code;
}

static enum error_code publish_once(struct request *rq, struct publication *p)
{
    struct db_session *db = last_session(rq);
    enum error_code code;

    if (!db)
        return fail_memory(rq->err);
    p->taken_over = false;
    code = db_transaction(db, publish, p, rq->err);
    db_session_close(db);
    return code;
}

/* The second transaction. OK: published, or what has become of the key is answered
 * (*followed). */
static enum error_code publish_all(struct request *rq, struct publication *p,
                                   bool *followed)
{
    struct store_answer answer = {0};
    enum attempt_state state = ATTEMPT_OURS;

    *followed = false;
    for (int i = 0; state == ATTEMPT_OURS; i++) {
        enum error_code code = publish_once(rq, p);

        if (code == OK || (code != ERR_UNAVAILABLE && !p->taken_over))
            return code;
        if (i == CONFLICTS_MAX || look_again(rq, &state, &answer) != OK)
            return code;
        forget_error(rq);
    }
    *followed = true;
    if (state != ATTEMPT_FREE)
        return follow(rq);
    idempotency_let_go(rq->service->idempotency, &rq->attempt->held);
    rq->err->retry_after_s = 1;
    return fail(rq->err, ERR_UNAVAILABLE, "",
                "the Idempotency-Key was deleted while its request was computed; send "
                "it again");
}

/* Refusals that sending it again would not change. */
static bool is_final(enum error_code code)
{
    int status = error_kinds[code].http_status;

    switch (code) {
    case ERR_UNAUTHENTICATED:
    case ERR_FORBIDDEN:
    case ERR_SLOW_CLIENT:
    case ERR_CONFLICT:
    case ERR_STALE:
    case ERR_TOO_LARGE:
    case ERR_RATE_LIMITED:
    case ERR_CANCELLED:
        return false;
    default:
        return status >= 400 && status < 500;
    }
}

/* The refusal is what this request is answered, also the next time. */
static enum error_code publish_refusal(struct request *rq, const struct content *body,
                                       enum error_code code)
{
    const struct error refusal = *rq->err;
    struct reply problem = {.status = 500};
    struct publication p = {.rq = rq, .body = body, .reply = &problem};
    enum error_code published;
    bool followed;

    problem_reply(rq->service->config, rq->err, rq->message->path, rq->id, &problem,
                  rq->arena);
    if (rq->attempt->in_memory) {
        const struct store_attempt key = key_of(rq);
        const struct store_answer answer = answer_of(&problem);

        memory_publish(rq->service->idempotency, &key, &answer);
        return code;
    }
    published = publish_all(rq, &p, &followed);
    if (followed)
        return published;
    idempotency_let_go(rq->service->idempotency, &rq->attempt->held);
    *rq->err = refusal; /* kept or not: it is right */
    return code;
}

/* Publishes what was computed, computing it again as long as it is overtaken. */
static enum error_code publish_newest(struct request *rq, const struct content *body,
                                      struct route_tries *tries, bool *followed)
{
    struct publication p = {.rq = rq, .body = body};
    enum error_code code;

    for (;;) {
        *followed = false;
        if (!rq->publish_first)
            TRY(route_print(rq)); /* without a connection */
        code = publish_all(rq, &p, followed);
        if (code == OK || *followed || !route_try_again(tries, rq))
            return code;
        TRY(route_run(rq, body));
    }
}

static enum error_code publish_answer(struct request *rq, const struct content *body,
                                      struct route_tries *tries)
{
    enum error_code code;
    bool followed;

    code = publish_newest(rq, body, tries, &followed);
    if (followed || code == ERR_WOULD_BLOCK) /* the key stays ours until there is room */
        return code;
    if (code == OK) {
        idempotency_let_go(rq->service->idempotency, &rq->attempt->held);
        route_send_form(rq);
        return OK;
    }
    if (may_be_local(rq, code)) {
        give_back(rq); /* as far as that is possible */
        forget_error(rq);
        return answer_locally(rq);
    }
    if (is_final(code))
        return publish_refusal(rq, body, code);
    give_back(rq);
    return code;
}

/* A computation that was told to stop has no answer that may be kept. */
static enum error_code stop(struct request *rq)
{
    give_back(rq);
    if (!__atomic_load_n(&rq->service->draining, __ATOMIC_RELAXED))
        return fail(rq->err, ERR_CANCELLED, "", "the client went away");
    rq->err->retry_after_s = 1;
    return fail(rq->err, ERR_UNAVAILABLE, "",
                "the service ends before the answer is there; send the request again");
}

/* Decides what the end of the computation means for who else has the key. */
static enum error_code conclude(struct request *rq, const struct content *body,
                                struct route_tries *tries, enum error_code code)
{
    const struct attempt *t = rq->attempt;
    bool given_up = t->begun_count > STORE_ATTEMPTS_MAX;

    if (t->stage == KEYED_LOCAL || t->in_memory) {
        if (code == OK && route_writes(rq))
            code = fail(rq->err, ERR_UNAVAILABLE, "",
                        "what the request stores needs the database, which cannot be "
                        "reached");
        if (code == OK)
            return answer_locally(rq);
    } else if (code == OK) {
        return publish_answer(rq, body, tries);
    }
    if (t->stage == KEYED_OURS && (is_final(code) || given_up))
        return publish_refusal(rq, body, code);
    give_back(rq);
    return code;
}

static enum error_code compute(struct request *rq, const struct content *body)
{
    struct attempt *t = rq->attempt;
    struct route_tries tries;
    enum error_code code = OK;

    if (t->begun_count > STORE_ATTEMPTS_MAX)
        code =
            fail(rq->err, ERR_INTERNAL, "",
                 "%d attempts have begun this and none has ended it", STORE_ATTEMPTS_MAX);
    if (code == OK && rq->route->flags & ROUTE_DECISION)
        code = derive_decision_id(rq, body);
    tries = route_tries_begin(rq);
    if (code == OK)
        code = route_run(rq, body);
    if (code == ERR_WOULD_BLOCK) /* the key stays ours until there is room */
        return code;
    if (__atomic_load_n(&t->held.lost, __ATOMIC_RELAXED))
        return follow(rq);
    if (t->stage == KEYED_OURS && rq->cancelled &&
        __atomic_load_n(rq->cancelled, __ATOMIC_RELAXED))
        return stop(rq);
    return conclude(rq, body, &tries, code);
}

enum error_code keyed_step(struct request *rq)
{
    struct attempt *t = rq->attempt;
    struct content body;

    TRY(check_key(rq));
    if (t->stage == KEYED_NEW) {
        TRY(route_content(rq, &body));
        TRY(request_digest(rq, &body, t->digest));
    }
    if (t->stage == KEYED_NEW || t->stage == KEYED_WAITS) {
        TRY(reserve(rq));
        if (rq->next != ROUTE_NEEDS_COMPUTE || rq->route->work != WORK_INLINE)
            return OK;
        rq->next = ROUTE_ANSWERED; /* so short that it goes on right here */
    }
    TRY(route_content(rq, &body));
    return compute(rq, &body);
}

struct attempt *attempt_create(void *exchange, void (*wake)(struct waiter *waiter),
                               bool *cancelled)
{
    struct attempt *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->exchange = exchange;
    t->held.cancelled = cancelled;
    t->waiter.wake = wake;
    return t;
}

enum error_code keyed_begin(struct request *rq, bool *begun)
{
    struct attempt *t = rq->attempt;

    *begun = t && t->started_s > 0;
    if (!*begun)
        return OK;
    for (size_t i = 0; i < t->header_count; i++) {
        const char *value =
            arena_try_text(rq->arena, t->headers[i].value, strlen(t->headers[i].value));

        if (!value)
            return fail_memory(rq->err);
        reply_header_add(rq->reply, t->headers[i].name, value);
    }
    return OK;
}

void keyed_admitted(struct request *rq)
{
    struct attempt *t = rq->attempt;

    if (!t)
        return;
    t->started_s = rq->started_s;
    for (size_t i = 0; i < rq->reply->header_count && i < KEYED_HEADERS_MAX; i++) {
        t->headers[i].name = rq->reply->headers[i].name;
        snprintf(t->headers[i].value, KEYED_HEADER_BYTES, "%s",
                 rq->reply->headers[i].value);
        t->header_count = i + 1;
    }
}
