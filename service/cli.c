/* cli.c - the program's commands, and flags. */
#include "service/cli.h"

#include "models/base/names.h"
#include "models/base/plural.h"
#include "service/auth.h"
#include "service/client/explain.h"
#include "service/client/page_text.h"
#include "service/client/slurm.h"
#include "service/client/table.h"
#include "service/client/target.h"
#include "service/clock.h"
#include "service/completion.h"
#include "service/config.h"
#include "service/health.h"
#include "service/log.h"
#include "service/manual.h"
#include "service/migrate.h"
#include "service/openapi.h"
#include "service/openapi_compare.h"
#include "service/serve.h"
#include "service/service.h"
#include "service/store.h"
#include "service/store_quota.h"
#include "service/store_simulation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CLI_ARENA_BYTES = 256 * 1024 * 1024,
    READ_BYTES = 8192, /* of a file at once */
    WORDS_MAX = 3,
    SETS_MAX = 64,
    KEYS_A_PAGE = 1000,
    EXIT_USAGE = 2,
    EXIT_DOWN = 3,
    EXIT_SHORT = 4,
};

static const size_t SIMULATE_ARENA_BYTES = (size_t)4 << 30; /* used as needed */

/* The command line, taken apart. */
struct cli {
    const struct cli_parts *parts;
    struct arena *arena;
    struct config config;
    const char *words[WORDS_MAX + 1]; /* "key", "create" ...; the rest are flags */
    size_t word_count;
    bool check_config, help, version;
    bool expand;                  /* of `simulate` */
    const char *compare, *breaks; /* files, of `openapi`; NULL: not given */
    const char *out;              /* folder, of `docs` */
    struct ask ask;               /* of `ask` */
    const char *ask_width, *colour;
    bool ask_json, ask_svg, ask_table, ask_gantt, strict;
    struct target_flags target;
    struct asked who;
    const char *sets[SETS_MAX];
    struct health_target health;
    int exit_status; /* of a command that is done; 0 unless it says otherwise */
    bool reported;   /* the command has printed its errors itself */
    bool down;       /* there is no answer of a service */
    const char *tenant, *scopes, *label, *expires_days; /* of `key` */
    const char *quotas[QUOTA_COUNT]; /* of `key` and `tenant`, as given; NULL: not */
};

typedef enum error_code command_fn(struct cli *c, struct error *err);

/* ---- commands ---- */

static enum error_code open_database(const struct cli *c, struct db **db,
                                     struct error *err)
{
    TRY(serve_open_database(&c->config, db, err));
    if (*db)
        return OK;
    return fail(err, ERR_INVALID, "database",
                "no database is set: use --database, GRIDPLAN_DATABASE or DATABASE_URL");
}

static enum error_code run_migrate(struct cli *c, struct error *err)
{
    struct db *db = NULL;
    size_t applied = 0;
    enum error_code code;

    TRY(open_database(c, &db, err));
    code = migrate_run(db, migrations, migration_count, &applied, err);
    if (code == OK)
        printf("%zu of %zu migrations applied\n", applied, migration_count);
    db_close(db);
    return code;
}

/* What the flags say, of a key or of a tenant, over what *quota says. All mistakes are
 * told. */
static enum error_code read_quotas(const struct cli *c, bool of_key, struct quota *quota,
                                   struct error *err)
{
    enum error_code code = OK;

    for (size_t i = 0; i < QUOTA_COUNT; i++) {
        const struct quota_member *member = &quota_members[i];
        struct error one = {.code = OK};

        if (!c->quotas[i])
            continue;
        if (of_key && !member->of_key)
            fail(&one, ERR_INVALID, "",
                 "a tenant has it, not a key: gridplan tenant set");
        else
            quota_read(member, c->quotas[i], quota, &one);
        if (one.code != OK)
            code = invalid(err, arena_try_printf(c->arena, "--%s", member->flag),
                           ITEM_QUOTA, "%s", one.text);
    }
    return code;
}

static void print_quotas(const struct quota *quota)
{
    for (size_t i = 0; i < QUOTA_COUNT; i++) {
        double value = *(const double *)((const char *)quota + quota_members[i].offset);

        if (value > 0)
            printf("  --%s %.10g", quota_members[i].flag, value);
        else if (value == 0)
            printf("  --%s none", quota_members[i].flag);
    }
    putchar('\n');
}

static enum error_code key_create(struct cli *c, struct db_session *session,
                                  struct error *err)
{
    struct auth_key key = {0};
    struct store_key row = {
        .tenant = c->tenant,
        .label = c->label,
        .expires_at_s = NAN,
        .revoked_at_s = NAN,
        .quota = quota_none(),
    };
    char text[AUTH_KEY_SIZE], *end;

    TRY(auth_scopes_read(c->scopes, &key.scopes, err));
    TRY(read_quotas(c, true, &row.quota, err));
    if (!*c->tenant || strlen(c->tenant) >= AUTH_TENANT_SIZE)
        return fail(err, ERR_INVALID, "--tenant", "1 to %d bytes", AUTH_TENANT_SIZE - 1);
    if (c->expires_days) {
        double days = strtod(c->expires_days, &end);

        if (*end || !(days > 0) || days > 36500)
            return fail(err, ERR_INVALID, "--expires-days",
                        "a number up to 36500, not '%s'", c->expires_days);
        row.expires_at_s = clock_wall_s() + days * 86400;
    }
    if (!auth_key_make(text, &key))
        return fail(err, ERR_INTERNAL, "", "no random numbers");
    row.key_id = key.key_id;
    row.scopes = key.scopes;
    row.digest_sha256 = (struct db_bytes){key.digest_sha256, sizeof(key.digest_sha256)};
    TRY(store_key_create(session, &row, err));
    fprintf(stderr, "key %s of tenant %s, scopes %s; it is shown only now:\n", key.key_id,
            c->tenant, c->scopes);
    puts(text);
    return OK;
}

static const char *key_state(const struct store_key *key)
{
    if (!isnan(key->revoked_at_s))
        return "revoked";
    return !isnan(key->expires_at_s) && key->expires_at_s <= clock_wall_s() ? "expired"
                                                                            : "valid";
}

static enum error_code key_list(struct cli *c, struct db_session *session,
                                struct error *err)
{
    struct store_page page = {.token = NULL, .limit = KEYS_A_PAGE};
    const struct store_key *list;
    char created[40], expires[40];
    size_t count;

    do {
        TRY(store_keys_list(session, c->tenant, &page, &list, &count, &page.token,
                            c->arena, err));
        for (size_t i = 0; i < count; i++) {
            printf("%s  %-8s %-20s created %s  expires %s  %s", list[i].key_id,
                   key_state(&list[i]),
                   auth_scopes_print((unsigned)list[i].scopes, c->arena),
                   instant_print(list[i].created_at_s, created, sizeof(created)),
                   isnan(list[i].expires_at_s)
                       ? "never"
                       : instant_print(list[i].expires_at_s, expires, sizeof(expires)),
                   list[i].label ? list[i].label : "");
            print_quotas(&list[i].quota);
        }
    } while (page.token);
    return OK;
}

static enum error_code key_revoke(struct cli *c, struct db_session *session,
                                  struct error *err)
{
    struct store_key key;

    if (c->word_count != 3)
        return fail(err, ERR_INVALID, "",
                    "key revoke ID: the first part of the key, after gp_");
    TRY(store_key_find(session, c->words[2], &key, c->arena, err));
    TRY(store_key_revoke(session, key.tenant, key.key_id, err));
    printf("key %s of tenant %s is revoked; replicas notice within %d s, or at SIGHUP\n",
           key.key_id, key.tenant, AUTH_FRESH_S);
    return OK;
}

static enum error_code key_set(struct cli *c, struct db_session *session,
                               struct error *err)
{
    struct store_key key;

    if (c->word_count != 3)
        return fail(err, ERR_INVALID, "",
                    "key set ID, and what changes: the first part of the key, after gp_");
    TRY(store_key_find(session, c->words[2], &key, c->arena, err));
    TRY(read_quotas(c, true, &key.quota, err));
    TRY(store_key_set_quota(session, key.tenant, key.key_id, &key.quota, err));
    printf("key %s of tenant %s:", key.key_id, key.tenant);
    print_quotas(&key.quota);
    return OK;
}

/* "tenant set NAME", and "tenant show NAME", which changes nothing. */
static enum error_code tenant_change(struct cli *c, struct db_session *session,
                                     struct error *err)
{
    const char *tenant = c->words[2];
    struct quota quota;

    if (c->word_count != 3 || !*tenant || strlen(tenant) >= AUTH_TENANT_SIZE)
        return fail(err, ERR_INVALID, "", "tenant %s NAME: of 1 to %d bytes", c->words[1],
                    AUTH_TENANT_SIZE - 1);
    TRY(store_quota_find(session, tenant, &quota, c->arena, err));
    TRY(read_quotas(c, false, &quota, err));
    if (strcmp(c->words[1], "set") == 0)
        TRY(store_quota_set(session, tenant, &quota, err));
    printf("tenant %s:", tenant);
    print_quotas(&quota);
    return OK;
}

typedef enum error_code verb_fn(struct cli *c, struct db_session *session,
                                struct error *err);

/* The second word of a command, and what it does; `usage` is what is wrong otherwise. */
struct verb {
    const char *name;
    verb_fn *run;
};

static enum error_code run_verb(struct cli *c, const struct verb *verbs, size_t count,
                                const char *usage, struct error *err)
{
    struct db_session *session = NULL;
    struct db *db = NULL;
    enum error_code code;
    size_t i = 0;

    while (i < count && (c->word_count < 2 || strcmp(verbs[i].name, c->words[1]) != 0))
        i++;
    if (i == count)
        return fail(err, ERR_INVALID, "", "%s", usage);
    TRY(open_database(c, &db, err));
    session = db_session_create(db, NULL, c->arena);
    code = session ? verbs[i].run(c, session, err) : fail_memory(err);
    db_session_close(session);
    db_close(db);
    return code;
}

static enum error_code run_key(struct cli *c, struct error *err)
{
    static const struct verb verbs[] = {{"create", key_create},
                                        {"list", key_list},
                                        {"revoke", key_revoke},
                                        {"set", key_set}};

    return run_verb(c, verbs, 4, "key create, key list, key revoke ID or key set ID",
                    err);
}

static enum error_code run_tenant(struct cli *c, struct error *err)
{
    static const struct verb verbs[] = {{"set", tenant_change}, {"show", tenant_change}};

    return run_verb(c, verbs, 2, "tenant set NAME or tenant show NAME", err);
}

static enum error_code run_health(struct cli *c, struct error *err)
{
    char line[HEALTH_LINE_SIZE];
    bool healthy;

    TRY(health_ask(&c->health, &c->config, &healthy, line, err));
    puts(line);
    c->exit_status = healthy ? EXIT_SUCCESS : HEALTH_EXIT_DOWN;
    return OK;
}

/* ---- simulations without a service ---- */

static void print_errors(const struct error *err)
{
    if (!err->first)
        fprintf(stderr, "gridplan: %s%s%s\n", err->field, *err->field ? ": " : "",
                err->text);
    for (const struct error_item *item = err->first; item; item = item->next)
        fprintf(stderr, "gridplan: %s: %s\n", item->pointer, item->detail);
}

static enum error_code read_stream(FILE *file, struct text_buffer *b, struct error *err)
{
    char piece[READ_BYTES];
    size_t length;

    while ((length = fread(piece, 1, sizeof(piece), file)) > 0)
        text_add(b, piece, length);
    if (ferror(file))
        return fail(err, ERR_INVALID, "FILE", "%s", strerror(errno));
    TRY(text_finish(b, err));
    if (b->length == 0 || memchr(b->data, 0, b->length))
        return fail(err, ERR_INVALID, "FILE", "%s",
                    b->length ? "a NUL is no JSON" : "it is empty");
    return OK;
}

static enum error_code read_text(const char *name, struct text_buffer *b,
                                 struct error *err)
{
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
    enum error_code code;

    if (!file)
        return fail(err, ERR_INVALID, name, "%s", strerror(errno));
    code = read_stream(file, b, err);
    if (file != stdin)
        fclose(file);
    return code;
}

/* The file beside `name`; NULL without memory. */
static const char *beside(const char *name, const char *other, struct arena *a)
{
    const char *slash = strrchr(name, '/');

    return arena_try_printf(a, "%.*s%s", slash ? (int)(slash - name) + 1 : 0, name,
                            other);
}

/* Exit status 1: something breaks for clients of the description in the file. */
static enum error_code compare_openapi(struct cli *c, const struct text_buffer *present,
                                       struct error *err)
{
    struct text_buffer released = {.arena = c->arena}, breaks = {.arena = c->arena};
    const char *name = c->breaks ? c->breaks : beside(c->compare, "breaks.txt", c->arena);
    bool has_breaks;
    struct openapi_comparison r;

    if (!name)
        return fail_memory(err);
    has_breaks = c->breaks || access(name, F_OK) == 0;
    TRY(read_text(c->compare, &released, err));
    if (has_breaks)
        TRY(read_text(name, &breaks, err));
    TRY(openapi_compare(released.data, present->data, has_breaks ? breaks.data : NULL, &r,
                        c->arena, err));
    for (size_t i = 0; i < r.count; i++) {
        const struct openapi_difference *d = &r.list[i];

        printf("%-8s  %s%s%s: %s\n",
               d->allowed    ? "allowed"
               : d->breaking ? "breaking"
                             : "addition",
               d->operation, *d->place ? " " : "", d->place, d->what);
    }
    printf("%zu breaking, %zu allowed, %s\n", r.breaking_count, r.allowed_count,
           counted(r.addition_count, "addition").text);
    c->exit_status = r.breaking_count ? EXIT_FAILURE : EXIT_SUCCESS;
    return OK;
}

static enum error_code run_openapi(struct cli *c, struct error *err)
{
    struct text_buffer b = {.arena = c->arena};

    openapi_print_lines(c->parts->routes, &b);
    TRY(text_finish(&b, err));
    if (c->compare)
        return compare_openapi(c, &b, err);
    fwrite(b.data, 1, b.length, stdout);
    putchar('\n');
    return OK;
}

/* The answer of POST /v1/simulations, by the one route that is needed. */
static enum error_code simulate(struct cli *c, struct arena *a, struct error *err)
{
    struct service service = {.config = &c->config,
                              .routes =
                                  c->expand ? c->parts->expansion : c->parts->routes};
    struct text_buffer body = {.arena = a};
    struct store_progress progress = {0};
    struct stored_request request = {
        .tenant = c->tenant, .path = "/v1/simulations", .progress = &progress};
    enum decision_status status;
    struct reply reply;

    TRY(read_text(c->words[1], &body, err));
    request.body = body.data;
    TRY(route_answer_stored(&service, &request, &status, &reply, a, err));
    fwrite(reply.body, 1, reply.body_length, stdout);
    putchar('\n');
    return OK;
}

/* A command on the one FILE, in an arena of its own. */
static enum error_code run_on_file(struct cli *c, const char *usage,
                                   enum error_code (*work)(struct cli *, struct arena *,
                                                           struct error *),
                                   struct error *err)
{
    struct arena *a;
    enum error_code code;

    if (c->word_count != 2)
        return fail(err, ERR_INVALID, "", "%s", usage);
    a = arena_create(SIMULATE_ARENA_BYTES);
    if (!a)
        return fail_memory(err);
    code = work(c, a, err);
    if (code != OK)
        print_errors(err); /* they are in the arena */
    arena_close(a);
    err->first = NULL;
    c->reported = true;
    return code;
}

static enum error_code run_simulate(struct cli *c, struct error *err)
{
    return run_on_file(c, "simulate FILE, or - for standard input", simulate, err);
}

/* Columns of the terminal, if it is one; else 100. */
static size_t terminal_width(const struct cli *c)
{
    struct winsize size;

    if (c->ask_width)
        return strtoul(c->ask_width, NULL, 10);
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col
                                                                       : 100;
}

/* ---- docs ---- */

/* The folders of a file's path. */
static bool make_folders(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return false;
        *p = '/';
    }
    return true;
}

/* A page or a file as GET of its path answers; a page is the index.html of a folder.
 * *written: false when there is none, as of an example that cannot be drawn. */
static enum error_code write_page(struct cli *c, struct service *service,
                                  const char *path, bool *written, struct arena *a,
                                  struct error *err)
{
    struct message m = {.method = "GET", .path = path};
    struct reply reply;
    bool is_page;
    char *file;
    FILE *out;

    route_answer(service, &m, NULL, true, &reply, a);
    *written = reply.status == 200;
    if (!*written)
        return OK;
    is_page = strncmp(reply.content_type, "text/html", 9) == 0;
    file = arena_try_printf(a, "%s%s%s", c->out, path,
                            !is_page                        ? ""
                            : path[strlen(path) - 1] == '/' ? "index.html"
                                                            : "/index.html");
    if (!file)
        return fail_memory(err);
    out = make_folders(file) ? fopen(file, "w") : NULL;
    if (!out)
        return fail(err, ERR_INVALID, "out", "%s: %s", file, strerror(errno));
    fwrite(reply.body, 1, reply.body_length, out);
    return fclose(out) == 0
               ? OK
               : fail(err, ERR_INVALID, "out", "%s: %s", file, strerror(errno));
}

static enum error_code write_pages(struct cli *c, struct service *service,
                                   struct arena *a, struct error *err)
{
    const char *const *paths;
    size_t count, done = 0;

    paths = c->parts->pages(c->parts->routes, &count, c->arena);
    for (size_t i = 0; i < count; i++) {
        bool written;

        arena_reset(a);
        TRY(write_page(c, service, paths[i], &written, a, err));
        done += written;
    }
    printf("%s below %s\n", counted(done, "file").text, c->out);
    return OK;
}

/* A page by its path below /docs/, or by its last part; a file as it is. */
static enum error_code show_page(struct cli *c, struct service *service, struct arena *a,
                                 struct error *err)
{
    static const char *const folders[] = {"", "api/", "algorithms/", "rooms/", "errors/"};
    const char *name = c->word_count > 1 ? c->words[1] : "";
    struct message m = {.method = "GET"};
    struct text_buffer text = {.arena = a};
    struct reply reply = {0};

    enum { FOLDERS = sizeof(folders) / sizeof(folders[0]) };

    for (size_t i = 0; i <= FOLDERS && reply.status != 200; i++) {
        m.path = arena_try_printf(a, "/docs/%s%s", folders[i % FOLDERS], name);
        if (!m.path)
            return fail_memory(err);
        route_answer(service, &m, NULL, true, &reply, a); /* at last: what is near */
    }
    if (strncmp(reply.content_type, "text/html", 9) == 0)
        page_text(reply.body, terminal_width(c), &text);
    else
        text_add(&text, reply.body, reply.body_length);
    TRY(text_finish(&text, err));
    fputs(text.data, reply.status == 200 ? stdout : stderr);
    c->exit_status = reply.status == 200 ? 0 : 1;
    return OK;
}

static enum error_code run_docs(struct cli *c, struct error *err)
{
    struct service service = {
        .config = &c->config, .routes = c->parts->routes, .draw = c->parts->draw};
    struct arena *a = arena_create(SIMULATE_ARENA_BYTES);
    enum error_code code;

    if (!a)
        return fail_memory(err);
    c->config.docs = true;
    log_open(LOG_ERROR, STDERR_FILENO);
    code = c->out ? write_pages(c, &service, a, err) : show_page(c, &service, a, err);
    log_close();
    arena_close(a);
    return code;
}

/* ---- ask ---- */

/* Whether the environment says that texts are UTF-8. */
static bool speaks_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

/* --color, then client.conf, then NO_COLOR, then whether it is a terminal. */
static bool wants_colour(const struct cli *c)
{
    const char *said = c->colour ? c->colour : c->who.colour, *no = getenv("NO_COLOR");

    if (said && strcmp(said, "auto") != 0)
        return strcmp(said, "always") == 0;
    return !(no && *no) && isatty(STDOUT_FILENO);
}

static enum ask_form ask_form(const struct cli *c)
{
    if (c->ask_svg)
        return ASK_SVG;
    if (c->ask_json)
        return ASK_JSON;
    if (c->ask_table)
        return ASK_TABLE;
    if (c->ask_gantt)
        return ASK_GANTT;
    return c->ask_width || isatty(STDOUT_FILENO) ? ASK_TEXT : ASK_JSON;
}

static enum error_code ask_file(struct cli *c, struct arena *a, struct error *err)
{
    struct service service = {
        .config = &c->config, .routes = c->parts->routes, .draw = c->parts->draw};
    struct text_buffer document = {.arena = a};
    enum ask_outcome outcome;
    const char *text, *asked;
    size_t length;
    bool told; /* that it is refused, or failed */

    TRY(read_text(c->words[1], &document, err));
    asked = document.data;
    length = document.length;
    if (length > c->config.max_body_bytes)
        return fail(err, ERR_INVALID, c->words[1],
                    "%zu bytes are more than max_body_bytes, %zu, which "
                    "--max-body-bytes changes",
                    length, c->config.max_body_bytes);
    TRY(ask_wrap(c->words[1], &asked, &length, a, err));
    c->ask.draw = c->parts->show;
    c->ask.endpoint_of = c->parts->endpoint_of;
    c->ask.look.width = terminal_width(c);
    c->ask.look.utf8 = speaks_utf8();
    c->ask.form = ask_form(c);
    c->ask.json_problems = c->ask_json;
    c->ask.sets = c->sets;
    c->who.routes = c->parts->routes;
    c->who.config = &c->config;
    c->target.url = c->health.url;
    if (c->colour && strcmp(c->colour, "auto") != 0 && strcmp(c->colour, "always") != 0 &&
        strcmp(c->colour, "never") != 0)
        return fail(err, ERR_INVALID, "--color", "auto, always or never, not '%.60s'",
                    c->colour);
    TRY(target_find(&c->target, &c->who, a, err));
    c->ask.look.colour = wants_colour(c);
    c->ask.who = &c->who;
    log_open(LOG_ERROR, STDERR_FILENO);
    err->code = ask(&service, &c->ask, asked, length, &outcome, &text, a, err);
    log_close();
    if (err->code == ERR_UNAVAILABLE)
        c->down = true;
    TRY(err->code);
    told = outcome == ASK_REFUSED || outcome == ASK_FAILED;
    fputs(text, told && !c->ask_json ? stderr : stdout);
    if (*text && text[strlen(text) - 1] != '\n')
        putchar('\n');
    c->exit_status = outcome == ASK_REFUSED              ? 1
                     : outcome == ASK_FAILED             ? EXIT_DOWN
                     : outcome == ASK_SHORT && c->strict ? EXIT_SHORT
                                                         : 0;
    return OK;
}

static enum error_code run_ask(struct cli *c, struct error *err)
{
    return run_on_file(c, "ask FILE, or - for standard input", ask_file, err);
}

/* ---- explain ---- */

/* A member of an object as text; NULL: it has none, or null. */
static const char *part(const char *object, const char *name, struct arena *a)
{
    struct error ignored = {.arena = a};
    const char *value = NULL;

    return json_member(object, name, &value, a, &ignored) == OK && value &&
                   strcmp(value, "null") != 0
               ? value
               : NULL;
}

/* A decision that was stored, by its id. */
static enum error_code stored_decision(struct cli *c, const char *id, const char **text,
                                       struct arena *a, struct error *err)
{
    struct asked_reply reply = {.text = ""};
    const char *path;

    if (!c->who.url)
        return fail(err, ERR_INVALID, id,
                    "there is no such file; an id is asked of a service: --url");
    if (id[strspn(id, "0123456789abcdefABCDEF-")])
        return fail(err, ERR_INVALID, id, "neither a file nor the id of a decision");
    path = arena_try_printf(a, "/v1/decisions/%s", id);
    if (!path)
        return fail_memory(err);
    TRY(ask_reply(&c->who, path, NULL, 0, &reply, a, err));
    *text = reply.text;
    if (reply.status >= 500)
        return fail(err, ERR_UNAVAILABLE, "", "status %d", reply.status);
    return reply.status < 300 ? OK
                              : fail(err, ERR_NOT_FOUND, id, "status %d: %.300s",
                                     reply.status, reply.text);
}

/* The answer to a request of a file. */
static enum error_code answer_file(struct cli *c, const char *request,
                                   struct explain *out, struct arena *a,
                                   struct error *err)
{
    const struct route *route;
    size_t length = strlen(request);

    TRY(ask_wrap(c->words[1], &request, &length, a, err));
    c->ask.endpoint_of = c->parts->endpoint_of;
    TRY(ask_route(c->parts->routes, &c->ask, request, strlen(request), &route, a, err));
    out->endpoint = route->path;
    out->request = request;
    return ask_post(&c->who, route->path, request, strlen(request), &out->answer, a, err);
}

static enum error_code explain_words(struct cli *c, struct text_buffer *b,
                                     struct arena *a, struct error *err)
{
    struct explain e = {.who = &c->who, .job_id = c->word_count > 2 ? c->words[2] : NULL};
    struct text_buffer file = {.arena = a};
    const char *text = "", *endpoint;

    if (strcmp(c->words[1], "-") != 0 && access(c->words[1], F_OK) != 0) {
        TRY(stored_decision(c, c->words[1], &text, a, err));
    } else {
        TRY(read_text(c->words[1], &file, err));
        text = file.data;
    }
    e.request = part(text, "request", a);
    e.answer = part(text, "answer", a);
    endpoint = part(text, "endpoint", a);
    if (e.request && e.answer && endpoint && strlen(endpoint) > 2) {
        e.endpoint = arena_try_text(a, endpoint + 1, strlen(endpoint) - 2);
        if (!e.endpoint)
            return fail_memory(err);
        e.snapshot = part(text, "snapshot", a);
    } else {
        TRY(answer_file(c, text, &e, a, err));
    }
    return explain(&e, b, err);
}

static enum error_code run_explain(struct cli *c, struct error *err)
{
    struct arena *a = arena_create(SIMULATE_ARENA_BYTES);
    struct text_buffer b = {.arena = a};
    enum error_code code;

    if (!a)
        return fail_memory(err);
    if (c->word_count < 2) {
        arena_close(a);
        return fail(err, ERR_INVALID, "", "explain ID|FILE [JOB_ID]");
    }
    c->who.routes = c->parts->routes;
    c->who.config = &c->config;
    c->target.url = c->health.url;
    log_open(LOG_ERROR, STDERR_FILENO);
    code = target_find(&c->target, &c->who, a, err);
    if (code == OK)
        code = explain_words(c, &b, a, err);
    log_close();
    c->down = code == ERR_UNAVAILABLE && c->who.url;
    if (code == OK)
        fputs(b.data, stdout);
    arena_close(a);
    return code;
}

/* ---- what there is to know ---- */

/* The page of a list of one policy; NULL: of none, or of several. */
static const char *page_of_one(const char *list, struct arena *a)
{
    const char *name = strstr(list, "\nname: "), *family = "family: ";

    if (strncmp(list, family, strlen(family)) != 0 || !name || strstr(list, "\nfamily: "))
        return NULL;
    list += strlen(family);
    name += strlen("\nname: ");
    return arena_try_printf(a, "%.*s/%.*s", (int)strcspn(list, "\n"), list,
                            (int)strcspn(name, "\n"), name);
}

/* What GET path lists, as texts; of a name on the command line all there is to say, of
 * one policy its page. */
static enum error_code run_listed(struct cli *c, const char *path, bool pages,
                                  const char *const *by, struct error *err)
{
    struct service service = {
        .config = &c->config, .routes = c->parts->routes, .draw = c->parts->draw};
    struct message m = {.method = "GET",
                        .path = path,
                        .query = &(struct query_pair){"page_size", "1000"},
                        .query_count = pages ? 1 : 0,
                        .remote_address = "unix"};
    const char *word = c->word_count > 1 ? c->words[1] : NULL;
    struct arena *a = arena_create(SIMULATE_ARENA_BYTES);
    struct text_buffer b = {.arena = a};
    struct reply reply = {0};
    const char *page = NULL;
    bool found = false;
    enum error_code code;

    if (!a)
        return fail_memory(err);
    log_open(LOG_ERROR, STDERR_FILENO);
    route_answer(&service, &m, NULL, true, &reply, a);
    code = reply.status == 200
               ? table_texts(reply.body, by, word, &b, &found, err)
               : fail(err, ERR_INTERNAL, "", "%s: status %d", path, reply.status);
    if (code == OK && found && pages && word)
        page = page_of_one(b.data, a);
    if (page) {
        c->words[1] = page;
        c->config.docs = true;
        code = show_page(c, &service, a, err);
        c->words[1] = word;
    } else if (code == OK && found) {
        fwrite(b.data, 1, b.length, stdout);
    }
    log_close();
    arena_close(a);
    if (code == OK && !found)
        return fail(err, ERR_INVALID, "",
                    "there is no '%.60s'; without a name all are listed",
                    word ? word : "");
    return code;
}

static enum error_code run_errors(struct cli *c, struct error *err)
{
    return run_listed(c, "/v1/errors", false, (const char *const[]){"code", NULL}, err);
}

static enum error_code run_algorithms(struct cli *c, struct error *err)
{
    return run_listed(c, "/v1/algorithms", true,
                      (const char *const[]){"name", "family", NULL}, err);
}

static enum error_code print_manual(struct cli *c, const char *name, struct error *err)
{
    struct text_buffer b = {.arena = c->arena};

    TRY(manual_print(name, &b, err));
    fwrite(b.data, 1, b.length, stdout);
    return OK;
}

static enum error_code run_man(struct cli *c, struct error *err)
{
    return print_manual(c, c->word_count > 1 ? c->words[1] : "gridplan.1", err);
}

static enum error_code run_completion(struct cli *c, struct error *err)
{
    struct text_buffer b = {.arena = c->arena};

    TRY(completion_print(c->word_count > 1 ? c->words[1] : "bash", c->parts->routes, &b,
                         err));
    fwrite(b.data, 1, b.length, stdout);
    return OK;
}

static command_fn run_help;

static const struct command {
    const char *name;
    command_fn *run; /* NULL: serve */
    const char *doc;
} commands[] = {
    {"help", run_help, "[COMMAND]: this, or what there is to know of a command"},
    {"serve", NULL, "answer requests; the default"},
    {"migrate", run_migrate,
     "bring the database's schema up to date (serve does it too)"},
    {"key", run_key,
     "create --tenant T --scopes decide,ingest,admin,facade,read [--expires-days N] "
     "[--label "
     "L],\n"
     "             list --tenant T, revoke ID, or set ID; with the quotas below"},
    {"tenant", run_tenant, "set NAME and its quotas, or show NAME"},
    {"health", run_health,
     "[--url http://HOST:PORT | --unix PATH] [--ready]: ask a running service; exit 0\n"
     "             when /livez, or /readyz, says 200, else 3"},
    {"ask", run_ask,
     "FILE|- [--endpoint NAME] [--url U] [--key-file F] [--profile P] [--set "
     "/path=value]...\n"
     "             [--json | --svg [FILE.svg] | --table | --gantt | --width N] [--color "
     "auto|always|never]\n"
     "             [--save FILE] [--strict]:\n"
     "             decide what the document asks for, by the service at U, else in the "
     "process\n"
     "             without a database; to a terminal as chart and rows, else as JSON; "
     "exit 1\n"
     "             when it is refused, 3 without an answer, with --strict 4 when "
     "something has\n"
     "             no place"},
    {"explain", run_explain,
     "ID|FILE [JOB_ID] [--endpoint NAME] [--url U] [--key-file F] [--profile P]: a "
     "decision in\n"
     "             sentences: why this algorithm, how far from the best, what has no "
     "place and what\n"
     "             would help; of a job why here, and what the next best places would "
     "cost or lack"},
    {"errors", run_errors, "[CODE]: what codes of errors mean, and what to do"},
    {"algorithms", run_algorithms,
     "[FAMILY | NAME]: policies, with their options and where they come from; of one\n"
     "             its page of the manual"},
    {"docs", run_docs,
     "[PAGE]: a page of the manual as text: which, glossary, an operation, a policy;\n"
     "             or --out FOLDER: write the manual, as /docs/ shows it, into files"},
    {"man", run_man,
     "[gridplan.1 | gridplan-ask.1 | gridplan-client.conf.5 | default]: print a manual "
     "page, or a file of "
     "settings"},
    {"completion", run_completion, "bash|zsh: print what completes commands and flags"},
    {"openapi", run_openapi,
     "print the description of the API; with --compare FILE what it breaks for clients\n"
     "             of that one, exit 1 if it does; --breaks FILE lists what may break\n"
     "             (breaks.txt beside the other)"},
    {"simulate", run_simulate,
     "FILE|- : answer it as POST /v1/simulations would, without a service; with\n"
     "             --expand print it with jobs, speeds and outages drawn for its seed"},
    {"slurm", NULL, slurm_help},
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

bool cli_command(size_t i, const char **name, const char **doc)
{
    if (i >= COMMAND_COUNT)
        return false;
    *name = commands[i].name;
    *doc = commands[i].doc;
    return true;
}

/* ---- the command line ---- */

static void print_quota_help(void)
{
    printf(
        "\nQuotas of key create, key set and tenant set: a number, none or default (the "
        "service's\nsetting):\n");
    for (size_t i = 0; i < QUOTA_COUNT; i++)
        printf("  --%-18s %s%s, %.10g to %.10g\n", quota_members[i].flag,
               quota_members[i].doc, quota_members[i].of_key ? "" : " (of a tenant)",
               quota_members[i].least, quota_members[i].most);
}

/* Of one command: what it does, and its flags. */
static void print_command_help(const struct command *command)
{
    bool has_quotas =
        strcmp(command->name, "key") == 0 || strcmp(command->name, "tenant") == 0;

    if (strstr(command->doc, ": ") || strstr(command->doc, ":\n"))
        printf("usage: gridplan %s ", command->name);
    else
        printf("gridplan %s - ", command->name);
    /* the rows are written for the list of all: its indent goes */
    for (const char *p = command->doc; *p; p++)
        if (*p != '\n')
            putchar(*p);
        else if (fputs("\n  ", stdout), p[1] == ' ')
            p += strspn(p + 1, " ");
    putchar('\n');
    if (has_quotas)
        print_quota_help();
    if (!command->run && strcmp(command->name, "serve") == 0) {
        puts("\nSettings: flags go before variables.\n");
        config_help(stdout);
    }
}

static void print_help(void)
{
    printf("gridplan " GRIDPLAN_VERSION " - scheduling decisions over HTTP\n\n"
           "usage: gridplan [COMMAND] [--SETTING VALUE]...\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].doc);
    print_quota_help();
    printf("\n  --check-config  check all settings, print what is in force, and end\n"
           "  --version, --help\n\nSettings: flags go before variables.\n\n");
    config_help(stdout);
}

/* Takes "--name VALUE" or "--name=VALUE"; the arguments used. */
static int take_flag(char **argv, const char *name, const char **value)
{
    size_t length = strlen(name);

    if (strncmp(argv[0], name, length) != 0)
        return 0;
    if (argv[0][length] == '=') {
        *value = argv[0] + length + 1;
        return 1;
    }
    if (argv[0][length] || !argv[1])
        return 0;
    *value = argv[1];
    return 2;
}

static int take_switch(const char *argument, const char *name, bool *on)
{
    if (strcmp(argument, name) != 0)
        return 0;
    *on = true;
    return 1;
}

/* Takes "--QUOTA VALUE" of `key` and `tenant`; the arguments used. Settings of the
 * service have some of these names, so the command must come first. */
static int take_quota(struct cli *c, char **argv)
{
    bool has_quotas = c->word_count && (strcmp(c->words[0], "key") == 0 ||
                                        strcmp(c->words[0], "tenant") == 0);
    char flag[64];
    int used = 0;

    for (size_t i = 0; has_quotas && !used && i < QUOTA_COUNT; i++) {
        snprintf(flag, sizeof(flag), "--%s", quota_members[i].flag);
        used = take_flag(argv, flag, &c->quotas[i]);
    }
    return used;
}

/* Takes a "--set /path=value"; the arguments used. One too many is left, and refused. */
static int take_set(struct cli *c, char **argv)
{
    int used = 0;

    if (c->ask.set_count < SETS_MAX)
        used = take_flag(argv, "--set", &c->sets[c->ask.set_count]);
    c->ask.set_count += used > 0;
    return used;
}

/* Takes "--svg", and a file's name behind it that ends in .svg; the arguments used. */
static int take_svg(struct cli *c, char **argv)
{
    const char *end;

    if (!take_switch(*argv, "--svg", &c->ask_svg))
        return 0;
    end = argv[1] ? strrchr(argv[1], '.') : NULL;
    if (!end || strcasecmp(end, ".svg") != 0)
        return 1;
    c->ask.svg_file = argv[1];
    return 2;
}

/* Keys are no arguments: other users of the machine see those. */
static bool is_key(const char *argument)
{
    static const char *const flags[] = {"--key", "--api-key", "--token"};
    size_t length = strcspn(argument, "=");

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strlen(flags[i]) == length && strncmp(argument, flags[i], length) == 0)
            return true;
    return false;
}

/* Takes what is not a setting out of argv; what is left goes to config_read(). */
static enum error_code take_apart(struct cli *c, char **argv, const char **rest,
                                  struct error *err)
{
    for (argv++; *argv;) {
        int used =
            take_switch(*argv, "--check-config", &c->check_config) +
            take_switch(*argv, "--help", &c->help) + take_switch(*argv, "-h", &c->help) +
            take_switch(*argv, "--version", &c->version) +
            take_switch(*argv, "--expand", &c->expand) +
            take_switch(*argv, "--ready", &c->health.ready) +
            take_flag(argv, "--compare", &c->compare) +
            take_flag(argv, "--out", &c->out) +
            take_flag(argv, "--endpoint", &c->ask.endpoint) +
            take_flag(argv, "--width", &c->ask_width) +
            take_flag(argv, "--color", &c->colour) +
            take_switch(*argv, "--json", &c->ask_json) + take_svg(c, argv) +
            take_switch(*argv, "--table", &c->ask_table) +
            take_switch(*argv, "--gantt", &c->ask_gantt) +
            take_flag(argv, "--key-file", &c->target.key_file) +
            take_flag(argv, "--profile", &c->target.profile) +
            take_flag(argv, "--save", &c->ask.save) + take_set(c, argv) +
            take_switch(*argv, "--strict", &c->strict) +
            take_flag(argv, "--breaks", &c->breaks) +
            take_flag(argv, "--url", &c->health.url) +
            take_flag(argv, "--unix", &c->health.unix_socket) +
            take_flag(argv, "--tenant", &c->tenant) +
            take_flag(argv, "--scopes", &c->scopes) +
            take_flag(argv, "--label", &c->label) +
            take_flag(argv, "--expires-days", &c->expires_days) + take_quota(c, argv);

        if (used) {
            argv += used;
        } else if (is_key(*argv)) {
            return fail(err, ERR_INVALID, "",
                        "other users of the machine see a key that is an argument; write "
                        "it to a file, and say --key-file FILE, or GRIDPLAN_KEY_FILE, or "
                        "key_file in client.conf");
        } else if (**argv != '-' || !(*argv)[1]) {
            if (c->word_count == WORDS_MAX)
                return fail(err, ERR_INVALID, *argv, "one argument too many");
            c->words[c->word_count++] = *argv++;
        } else {
            bool has_value = argv[1] && argv[1][0] != '-' && !strchr(*argv, '=');

            *rest++ = *argv++;
            if (has_value)
                *rest++ = *argv++;
        }
    }
    *rest = NULL;
    return OK;
}

static const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static const struct command *command_or_near(const char *name)
{
    const struct command *found = command_find(name);
    const char *names[COMMAND_COUNT], *nearest;

    if (found)
        return found;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    nearest = names_nearest(name, names, COMMAND_COUNT);
    fprintf(stderr, "gridplan: no command '%s'; ", name);
    if (nearest)
        fprintf(stderr, "did you mean %s?\n", nearest);
    else
        fputs("--help lists them\n", stderr);
    return NULL;
}

static enum error_code run_help(struct cli *c, struct error *err)
{
    const struct command *command =
        c->word_count > 1 ? command_or_near(c->words[1]) : NULL;

    (void)err;
    if (c->word_count < 2)
        print_help();
    else if (command)
        print_command_help(command);
    else
        c->exit_status = EXIT_USAGE;
    return OK;
}

/* -1: serve, else the exit status. */
static int run_command(struct cli *c, struct error *err)
{
    const struct command *command =
        command_or_near(c->word_count ? c->words[0] : "serve");

    if (!command)
        return EXIT_USAGE;
    if (!command->run)
        return -1;
    if (command->run(c, err) == OK)
        return c->exit_status;
    if (!c->reported)
        print_errors(err);
    if (c->down)
        return EXIT_DOWN;
    return err->code == ERR_INVALID ? EXIT_USAGE : EXIT_FAILURE;
}

static int run(struct cli *c, char **argv, const char **rest, struct error *err)
{
    if (take_apart(c, argv, rest, err) != OK) {
        print_errors(err);
        return EXIT_USAGE;
    }
    if (c->help || c->version) {
        const struct command *command =
            c->help && c->word_count ? command_or_near(c->words[0]) : NULL;

        if (!c->help)
            puts("gridplan " GRIDPLAN_VERSION);
        else if (!c->word_count)
            print_help();
        else if (command)
            print_command_help(command);
        return c->help && c->word_count && !command ? EXIT_USAGE : EXIT_SUCCESS;
    }
    if (config_read((const char *const *)environ, rest, &c->config, c->arena, err) !=
        OK) {
        print_errors(err);
        return EXIT_USAGE;
    }
    if (c->check_config) {
        for (size_t i = 0; i < c->config.warning_count; i++)
            fprintf(stderr, "gridplan: warning: %s\n", c->config.warnings[i]);
        config_print(&c->config, stdout);
        return EXIT_SUCCESS;
    }
    return run_command(c, err);
}

int cli_run(int argc, char **argv, const struct cli_parts *parts)
{
    struct cli c = {.parts = parts, .tenant = "default", .scopes = "decide"};
    struct error err = {0};
    const char **rest;
    int status = EXIT_FAILURE;

    if (argc > 1 && strcmp(argv[1], "slurm") == 0) /* its flags are its own */
        return slurm_run(argv + 2, parts->routes);
    rest = calloc((size_t)argc + 1, sizeof(*rest));
    c.arena = err.arena = arena_create(CLI_ARENA_BYTES);
    if (rest && c.arena)
        status = run(&c, argv, rest, &err);
    if (status < 0)
        status = serve_run(&c.config, parts->routes, parts->draw);
    arena_close(c.arena);
    free(rest);
    return status;
}
