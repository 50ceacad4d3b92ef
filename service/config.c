/* config.c - the settings of the service: one table, sorted by name. */
#include "service/config.h"

#include "models/base/names.h"
#include "service/address.h"
#include "service/facade.h"
#include "service/governor.h"
#include "service/listen.h"
#include "service/system_limits.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum setting_type { CHOICE, TEXT, SECRET, COUNT, NUMBER, BOOLEAN };

enum {
    NAME_SIZE = 64,
    SECRET_FILE_MAX_BYTES = 64 * 1024,
    MEMORY_LEAST_BYTES = 32 * 1024 * 1024 /* for bodies and work */
};

struct setting {
    const char *name;
    enum setting_type type;
    const char *preset;
    double least, most;
    const char *choices;   /* "a|b|c" */
    const char *customary; /* a further environment variable */
    const char *doc;
    size_t offset;
};

static const struct setting settings[] = {
#define X(type, name, ...) {#name, type, __VA_ARGS__, offsetof(struct config, name)},
    CONFIG_SETTINGS(X)
#undef X
};

enum { SETTING_COUNT = sizeof(settings) / sizeof(settings[0]) };

static void *member(struct config *config, const struct setting *row)
{
    return (char *)config + row->offset;
}

static const void *member_of(const struct config *config, const struct setting *row)
{
    return (const char *)config + row->offset;
}

/* ---- names ---- */

/* "max_body_bytes" to "GRIDPLAN_MAX_BODY_BYTES". */
static const char *variable_name(const struct setting *row, char *name)
{
    char *p = stpcpy(name, "GRIDPLAN_");

    for (const char *c = row->name; *c; c++)
        *p++ = (char)toupper((unsigned char)*c);
    *p = '\0';
    return name;
}

/* "max_body_bytes" to "--max-body-bytes". */
static const char *flag_name(const struct setting *row, char *name)
{
    strcpy(stpcpy(name, "--"), row->name);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return name;
}

/* The value of NAME in "NAME=value" texts. */
static const char *lookup(const char *const *environment, const char *name)
{
    size_t length = strlen(name);

    for (; *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

/* ---- values ---- */

/* Index of `text` in "a|b|c"; -1: not there. */
static int choice_index(const char *choices, const char *text)
{
    size_t length = strlen(text);

    for (int i = 0; *choices; i++) {
        size_t n = strcspn(choices, "|");

        if (n == length && strncmp(choices, text, n) == 0)
            return i;
        choices += n + (choices[n] == '|');
    }
    return -1;
}

static const char *choice_name(const char *choices, int index, int *length)
{
    while (index-- > 0)
        choices += strcspn(choices, "|") + 1;
    *length = (int)strcspn(choices, "|");
    return choices;
}

static void set_number(struct config *config, const struct setting *row, const char *text,
                       const char *from, struct error *err)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value))
        invalid(err, from, ITEM_WRONG_TYPE, "'%s' is not a number", text);
    else if (value < row->least || value > row->most)
        invalid(err, from, ITEM_OUT_OF_BOUNDS, "%s is not between %.15g and %.15g", text,
                row->least, row->most);
    else if (row->type == NUMBER)
        *(double *)member(config, row) = value;
    else if (value != floor(value))
        invalid(err, from, ITEM_WRONG_TYPE, "'%s' is not a whole number", text);
    else
        *(size_t *)member(config, row) = (size_t)value;
}

/* Sets one member from its text form; `from` says in messages where it came from. */
static void set(struct config *config, const struct setting *row, const char *text,
                const char *from, struct error *err)
{
    static const char *const yes = "true|on|1|yes", *const no = "false|off|0|no";

    switch (row->type) {
    case TEXT:
    case SECRET:
        *(const char **)member(config, row) = text;
        break;
    case NUMBER:
    case COUNT:
        set_number(config, row, text, from, err);
        break;
    case BOOLEAN:
        if (choice_index(yes, text) < 0 && choice_index(no, text) < 0)
            invalid(err, from, ITEM_WRONG_TYPE, "'%s' is neither true nor false", text);
        else
            *(bool *)member(config, row) = choice_index(yes, text) >= 0;
        break;
    case CHOICE:
        if (choice_index(row->choices, text) < 0)
            invalid(err, from, ITEM_NOT_A_CHOICE, "'%s' is none of %s", text,
                    row->choices);
        else
            *(int *)member(config, row) = choice_index(row->choices, text);
        break;
    }
}

/* The text of a file without the line's end; NULL, with *err, when there is none. */
static const char *read_secret(const char *path, const char *from, struct arena *a,
                               struct error *err)
{
    FILE *file = fopen(path, "re");
    char *text = arena_try(a, 1, SECRET_FILE_MAX_BYTES + 1);
    size_t length = 0;

    if (file && text)
        length = fread(text, 1, SECRET_FILE_MAX_BYTES, file);
    if (!file || !text || ferror(file)) {
        invalid(err, from, ITEM_MALFORMED, "cannot read %s: %s", path, strerror(errno));
        text = NULL;
    }
    if (file)
        fclose(file);
    while (text && length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* ---- the environment ---- */

/* Kubernetes gives the containers beside a Service called "gridplan" variables
 * of its own, GRIDPLAN_PORT=tcp://10.0.0.1:8080 among them. */
static bool is_service_link(const char *text)
{
    return strncmp(text, "tcp://", 6) == 0 || strncmp(text, "udp://", 6) == 0;
}

static void set_from_variable(struct config *config, const struct setting *row,
                              const char *const *environment, const char *name,
                              struct arena *a, struct error *err)
{
    char file_name[NAME_SIZE + sizeof("_FILE")];
    const char *text = lookup(environment, name);

    if (row->type == SECRET && !text) {
        strcpy(stpcpy(file_name, name), "_FILE");
        text = lookup(environment, file_name);
        if (text && *text)
            text = read_secret(text, file_name, a, err);
    }
    if (text && *text && !(row->type == COUNT && is_service_link(text)))
        set(config, row, text, name, err);
}

static bool is_known_variable(const char *name, size_t length)
{
    char known[NAME_SIZE + sizeof("_FILE")];

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        variable_name(&settings[i], known);
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return true;
        strcat(known, "_FILE");
        if (settings[i].type == SECRET && strlen(known) == length &&
            strncmp(known, name, length) == 0)
            return true;
    }
    return false;
}

__attribute__((format(printf, 3, 4))) static void
warn(struct config *config, struct arena *a, const char *format, ...)
{
    const char *text;
    va_list args;

    if (config->warning_count == CONFIG_WARNINGS_MAX)
        return;
    va_start(args, format);
    text = arena_try_vprintf(a, format, args);
    va_end(args);
    if (text)
        config->warnings[config->warning_count++] = text;
}

/* A misspelt variable would be silently without effect: say so. */
static void warn_of_unknown(struct config *config, const char *const *environment,
                            struct arena *a)
{
    for (; *environment; environment++) {
        const char *name = *environment, *equals = strchr(name, '=');
        size_t length = equals ? (size_t)(equals - name) : strlen(name);

        if (strncmp(name, "GRIDPLAN_", 9) != 0 || is_known_variable(name, length) ||
            strncmp(name, "GRIDPLAN_TEST_", 14) == 0 ||
            (equals && is_service_link(equals + 1)) ||
            strncmp(name, "GRIDPLAN_SERVICE_", 17) == 0 ||
            strncmp(name, "GRIDPLAN_PORT_", 14) == 0)
            continue;
        warn(config, a, "there is no setting %.*s; --help lists them all", (int)length,
             name);
    }
}

/* ---- flags ---- */

static const struct setting *flag_find(const char *flag, size_t length)
{
    char name[NAME_SIZE];

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        flag_name(&settings[i], name);
        if (strlen(name) == length && strncmp(name, flag, length) == 0)
            return &settings[i];
    }
    return NULL;
}

static void flag_unknown(const char *flag, struct error *err)
{
    char names[SETTING_COUNT][NAME_SIZE];
    const char *candidates[SETTING_COUNT];
    const char *nearest;

    for (size_t i = 0; i < SETTING_COUNT; i++)
        candidates[i] = flag_name(&settings[i], names[i]);
    nearest = names_nearest(flag, candidates, SETTING_COUNT);
    if (nearest)
        invalid(err, flag, ITEM_NOT_A_CHOICE, "no such flag; did you mean %s?", nearest);
    else
        invalid(err, flag, ITEM_NOT_A_CHOICE, "no such flag; --help lists them all");
}

static void read_flags(struct config *config, const char *const *flags, struct error *err)
{
    for (; *flags; flags++) {
        size_t length = strcspn(*flags, "=");
        const struct setting *row = flag_find(*flags, length);
        char name[NAME_SIZE];

        if (!row)
            flag_unknown(*flags, err);
        else if ((*flags)[length] == '=')
            set(config, row, *flags + length + 1, flag_name(row, name), err);
        else if (row->type == BOOLEAN && (!flags[1] || flags[1][0] == '-'))
            set(config, row, "true", flag_name(row, name), err);
        else if (flags[1])
            set(config, row, *++flags, flag_name(row, name), err);
        else
            invalid(err, *flags, ITEM_REQUIRED, "the value is missing");
    }
}

/* ---- what belongs together ---- */

static bool is_loopback(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (inet_pton(AF_INET, address, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool is_address(const char *address)
{
    struct in6_addr any;

    return inet_pton(AF_INET, address, &any) == 1 ||
           inet_pton(AF_INET6, address, &any) == 1;
}

static bool is_origin(const char *origin, size_t length)
{
    const char *rest = memmem(origin, length, "://", 3);

    if (length == 1 && *origin == '*')
        return true;
    return rest && rest > origin && rest + 3 < origin + length &&
           !memchr(rest + 3, '/', length - (size_t)(rest + 3 - origin));
}

static void check_origins(const char *name, const char *origins, struct error *err)
{
    for (const char *p = origins; *p;) {
        size_t length;

        p += strspn(p, ", ");
        length = strcspn(p, ", ");
        if (length && !is_origin(p, length))
            invalid(err, name, ITEM_MALFORMED, "'%.*s' is not like https://host:port",
                    (int)length, p);
        p += length;
    }
}

static void check_networks(const char *networks, struct error *err)
{
    struct network_list list;
    const char *bad;
    size_t length = network_list_read(networks, &list, &bad);

    if (length)
        invalid(err, "/trusted_proxies", ITEM_MALFORMED,
                "'%.*s' is not like 10.0.0.0/8 or 2001:db8::/32, or one more than %d",
                (int)length, bad, NETWORKS_MAX);
}

static void check_listeners(struct config *config, struct error *err)
{
    config->has_admin = config->admin_port || *config->admin_bind;
    if (*config->admin_bind && !is_address(config->admin_bind))
        invalid(err, "/admin_bind", ITEM_MALFORMED, "'%s' is no IPv4 or IPv6 address",
                config->admin_bind);
    if (config->admin_port && config->admin_port == config->port)
        invalid(err, "/admin_port", ITEM_CONFLICT,
                "%zu is the port of the first listener", config->admin_port);
    if (strlen(config->unix_socket) > UNIX_PATH_MAX_BYTES)
        invalid(err, "/unix_socket", ITEM_TOO_LONG, "%zu bytes; at most %d are possible",
                strlen(config->unix_socket), UNIX_PATH_MAX_BYTES);
}

/* Memory: what it comes to, and what cannot be. */
static void settle_memory(struct config *config, struct arena *a)
{
    struct governor_options options;
    struct governor_sizes sizes;
    size_t least;

    if (config->memory_bytes == 0)
        config->memory_bytes = system_memory_bytes("") / 5 * 3;
    options = governor_options_of(config);
    sizes = governor_sizes(&options);
    least = sizes.kept_bytes + MEMORY_LEAST_BYTES;
    if (config->memory_bytes < least) {
        warn(config, a, "memory_bytes is raised from %zu to %zu, the least that works",
             config->memory_bytes, least);
        options.memory_bytes = config->memory_bytes = least;
        sizes = governor_sizes(&options);
    }
    if (config->total_body_bytes == 0)
        config->total_body_bytes = sizes.body_bytes;
    if (config->request_memory_bytes > sizes.work_bytes) {
        warn(config, a,
             "request_memory_bytes is lowered from %zu to %zu, what memory_bytes (%zu) "
             "leaves for work",
             config->request_memory_bytes, sizes.work_bytes - sizes.reserve_bytes,
             config->memory_bytes);
        config->request_memory_bytes = sizes.work_bytes - sizes.reserve_bytes;
    }
}

static void settle_threads(struct config *config, struct arena *a)
{
    enum { WORKERS_MAX = 1024 };

    config->processors = system_processors("");
    if (config->compute_workers == 0)
        config->compute_workers = system_slots(config->processors, WORKERS_MAX);
    if (config->compute_threads == 0)
        config->compute_threads = 4 * config->compute_workers + 64;
    if (config->compute_threads >= 2 * config->compute_workers)
        return;
    warn(config, a,
         "compute_threads is raised from %zu to %zu, twice compute_workers, so that "
         "computations can be parked",
         config->compute_threads, 2 * config->compute_workers);
    config->compute_threads = 2 * config->compute_workers;
}

static void check(struct config *config, struct arena *a, struct error *err)
{
    if (!is_address(config->bind))
        invalid(err, "bind", ITEM_MALFORMED, "'%s' is no IPv4 or IPv6 address",
                config->bind);
    check_origins("cors_origins", config->cors_origins, err);
    check_origins("frame_ancestors", config->frame_ancestors, err);
    facade_check_setting(config->facades, err);
    facade_check_mount(config->cws_mount, err);
    check_networks(config->trusted_proxies, err);
    check_listeners(config, err);
    if (config->request_memory_bytes < config->max_body_bytes)
        invalid(err, "request_memory_bytes", ITEM_OUT_OF_BOUNDS,
                "%zu is less than max_body_bytes, %zu", config->request_memory_bytes,
                config->max_body_bytes);
    if (config->total_body_bytes > 0 && config->total_body_bytes < config->max_body_bytes)
        invalid(err, "total_body_bytes", ITEM_OUT_OF_BOUNDS,
                "%zu is less than max_body_bytes, %zu", config->total_body_bytes,
                config->max_body_bytes);
    settle_threads(config, a);
    settle_memory(config, a);
    if (config->rate_burst_count < 1)
        config->rate_burst_count = fmax(1, 2 * config->rate_limit_per_s);
    config->auth_required =
        config->auth == CONFIG_AUTH_ON ||
        (config->auth == CONFIG_AUTH_AUTO && !is_loopback(config->bind));
}

enum error_code config_read(const char *const *environment, const char *const *flags,
                            struct config *config, struct arena *a, struct error *err)
{
    struct config read = {0};
    char name[NAME_SIZE];

    for (size_t i = 0; i < SETTING_COUNT; i++)
        set(&read, &settings[i], settings[i].preset, settings[i].name, err);
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (settings[i].customary)
            set_from_variable(&read, &settings[i], environment, settings[i].customary, a,
                              err);
    for (size_t i = 0; i < SETTING_COUNT; i++)
        set_from_variable(&read, &settings[i], environment,
                          variable_name(&settings[i], name), a, err);
    read_flags(&read, flags, err);
    check(&read, a, err);
    if (err->code != OK)
        return err->code;
    warn_of_unknown(&read, environment, a);
    *config = read;
    return OK;
}

/* ---- printing ---- */

/* Replaces in place the characters from `start` to `end` by "***". */
static const char *cut_out(const char *text, const char *start, const char *end,
                           struct arena *a)
{
    return arena_try_printf(a, "%.*s***%s", (int)(start - text), text, end);
}

/* The end of a value of a key=value text: quoted, or up to a space. */
static const char *value_end(const char *value)
{
    if (*value != '\'')
        return value + strcspn(value, " \t\n");
    for (value++; *value && *value != '\''; value++)
        if (*value == '\\' && value[1])
            value++;
    return *value ? value + 1 : value;
}

/* The value of `key` in key=value or in a URI's query; NULL: none. */
static const char *value_find(const char *text, const char *key)
{
    size_t length = strlen(key);

    for (const char *p = strcasestr(text, key); p; p = strcasestr(p + 1, key)) {
        const char *after = p + length + strspn(p + length, " \t");

        if (*after == '=' && (p == text || strchr(" \t\n?&", p[-1])))
            return after + 1 + strspn(after + 1, " \t");
    }
    return NULL;
}

static const char *mask_value(const char *text, const char *key, bool uri,
                              struct arena *a)
{
    const char *value = value_find(text, key);

    if (!value)
        return text;
    return cut_out(text, value, uri ? value + strcspn(value, "&") : value_end(value), a);
}

const char *config_mask(const char *conninfo, struct arena *a)
{
    static const char *const secrets[] = {"password", "sslpassword"};
    const char *authority = strstr(conninfo, "://");
    const char *text = conninfo;

    if (authority) {
        const char *at = strrchr(authority, '@'); /* rather too much than too little */
        const char *colon =
            at ? memchr(authority + 3, ':', (size_t)(at - authority - 3)) : NULL;

        if (colon)
            text = cut_out(text, colon + 1, at, a);
    }
    for (size_t i = 0; i < 2 && text; i++)
        text = mask_value(text, secrets[i], authority != NULL, a);
    return text ? text : "***";
}

static void print_value(const struct config *config, const struct setting *row,
                        struct arena *a, FILE *out)
{
    const void *at = member_of(config, row);
    const char *name;
    int length;

    switch (row->type) {
    case TEXT:
        fputs(*(const char *const *)at, out);
        break;
    case SECRET:
        fputs(a ? config_mask(*(const char *const *)at, a) : "***", out);
        break;
    case COUNT:
        fprintf(out, "%zu", *(const size_t *)at);
        break;
    case NUMBER:
        fprintf(out, "%.15g", *(const double *)at);
        break;
    case BOOLEAN:
        fputs(*(const bool *)at ? "true" : "false", out);
        break;
    case CHOICE:
        name = choice_name(row->choices, *(const int *)at, &length);
        fprintf(out, "%.*s", length, name);
        break;
    }
}

void config_print(const struct config *config, FILE *out)
{
    struct arena *a = arena_create(SECRET_FILE_MAX_BYTES * 8);

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        fprintf(out, "%-28s ", settings[i].name);
        print_value(config, &settings[i], a, out);
        fputc('\n', out);
    }
    arena_close(a);
}

/* What a value looks like. */
static const char *value_form(const struct setting *row)
{
    static const char *const forms[] = {[TEXT] = "TEXT",
                                        [SECRET] = "TEXT",
                                        [COUNT] = "COUNT",
                                        [NUMBER] = "NUMBER",
                                        [BOOLEAN] = "true|false"};

    return row->choices ? row->choices : forms[row->type];
}

void config_help(FILE *out)
{
    char name[NAME_SIZE];

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *row = &settings[i];

        fprintf(out, "  %s %s\n", flag_name(row, name), value_form(row));
        fprintf(out, "      %s.\n      %s", row->doc, variable_name(row, name));
        if (row->customary)
            fprintf(out, " or %s", row->customary);
        if (row->type == SECRET)
            fprintf(out, ", or a file named by %s_FILE", name);
        fprintf(out, "; default %s\n", *row->preset ? row->preset : "empty");
    }
}
