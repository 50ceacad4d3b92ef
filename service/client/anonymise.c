/* anonymise.c - a converted Slurm queue without names of people and their work.
 *
 * The members that hold names are known; each kind of name is numbered by itself, so that
 * whoever appears twice is the same. ACCOUNT/USER, an association's id, is both.
 */
#include "service/client/anonymise.h"

#include "models/base/names.h"
#include "models/json_walk.h"

#include <stdio.h>
#include <string.h>

enum kind { USERS, ACCOUNTS, JOBS, KIND_COUNT, KEPT, DROPPED };

enum { DEPTH_MAX = 24 };

struct numbered {
    struct name_index index;
    size_t count;
};

struct rewriting {
    struct json_walk walk;
    struct text_buffer *out;
    struct arena *arena;
    struct numbered of[KIND_COUNT];
    bool names;
};

/* What a member is, in the list that it is in. */
static enum kind kind_of(const char *list, const char *name)
{
    static const struct {
        const char *list, *name;
        enum kind kind;
    } rows[] = {
        {NULL, "user", USERS},
        {NULL, "user_id", USERS},
        {NULL, "users_allowed", USERS},
        {NULL, "account_id", ACCOUNTS},
        {NULL, "accounts_allowed", ACCOUNTS},
        {NULL, "accounts_denied", ACCOUNTS},
        {NULL, "parent_id", ACCOUNTS},
        {"accounts", "id", ACCOUNTS},
        {"jobs", "name", JOBS},
        {"running", "name", JOBS},
        {"", "name", DROPPED},
        {"", "warnings", DROPPED},
        {"", "lost", DROPPED},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if ((!rows[i].list || strcmp(rows[i].list, list) == 0) &&
            strcmp(rows[i].name, name) == 0)
            return rows[i].kind;
    return KEPT;
}

static void print_number(struct rewriting *w, enum kind kind, const char *name)
{
    static const char letters[] = "uaj";
    struct numbered *n = &w->of[kind];
    size_t at = name_index_find(&n->index, name);

    if (at == NAME_NOT_FOUND) {
        const char *kept = arena_try_text(w->arena, name, strlen(name));

        at = n->count++;
        if (kept)
            name_index_add(&n->index, kept, at);
    }
    text_addf(w->out, "%c%zu", letters[kind], at + 1);
}

static void print_account(struct rewriting *w, const char *name)
{
    if (strcmp(name, "root") == 0)
        text_addf(w->out, "root"); /* the tree's, everywhere */
    else
        print_number(w, ACCOUNTS, name);
}

static void print_string(struct rewriting *w, enum kind kind)
{
    const char *text = json_walk_string(&w->walk), *slash = strchr(text, '/');

    if (kind == KEPT || !w->names) {
        json_print_text(text, w->out);
        return;
    }
    text_add(w->out, "\"", 1);
    if (kind == ACCOUNTS && slash) {
        const char *user = arena_try_text(w->arena, slash + 1, strlen(slash + 1));
        const char *account = arena_try_text(w->arena, text, (size_t)(slash - text));

        if (!user || !account)
            w->out->failed = true;
        else {
            print_account(w, account);
            text_add(w->out, "/", 1);
            print_number(w, USERS, user);
        }
    } else if (kind == ACCOUNTS)
        print_account(w, text);
    else
        print_number(w, kind, text);
    text_add(w->out, "\"", 1);
}

/* `list`: the member whose list this is in. */
static void rewrite(struct rewriting *w, const char *list, enum kind kind, int depth)
{
    char type = json_walk_type(&w->walk), name[64];
    const char *from, *found;
    bool first = true;

    if (depth == DEPTH_MAX) {
        json_walk_skip(&w->walk);
        text_addf(w->out, "null");
    } else if (type == '"')
        print_string(w, kind);
    else if (type == '[') {
        json_walk_enter(&w->walk, '[');
        text_add(w->out, "[", 1);
        for (; json_walk_element(&w->walk); first = false) {
            text_addf(w->out, first ? "" : ",");
            rewrite(w, list, kind, depth + 1);
        }
        text_add(w->out, "]", 1);
    } else if (type == '{') {
        json_walk_enter(&w->walk, '{');
        text_add(w->out, "{", 1);
        while ((found = json_walk_member(&w->walk))) {
            enum kind of = kind_of(list, found);

            snprintf(name, sizeof(name), "%s", found);
            if (of == DROPPED && w->names) {
                json_walk_skip(&w->walk);
                continue;
            }
            text_addf(w->out, first ? "" : ",");
            json_print_text(name, w->out);
            text_add(w->out, ":", 1);
            rewrite(w, name, of, depth + 1);
            first = false;
        }
        text_add(w->out, "}", 1);
    } else {
        from = w->walk.at;
        json_walk_skip(&w->walk);
        text_add(w->out, from, (size_t)(w->walk.at - from));
    }
}

enum error_code anonymise(const char *imported, const char *schema, bool names,
                          struct text_buffer *out, struct arena *a, struct error *err)
{
    struct rewriting w = {.out = out, .arena = a, .names = names};
    size_t length = strlen(imported);
    const char *found;
    char name[64];

    for (int i = 0; i < KIND_COUNT; i++)
        if (!name_index_try(&w.of[i].index, length / 8 + 16, a))
            return fail_memory(err);
    json_walk_open(&w.walk, imported, length, a);
    json_walk_enter(&w.walk, '{');
    text_addf(out, "{\"schema\":");
    json_print_text(schema, out);
    while ((found = json_walk_member(&w.walk))) {
        enum kind of = kind_of("", found);

        snprintf(name, sizeof(name), "%s", found);
        if (strcmp(name, "schema") == 0 || (of == DROPPED && names)) {
            json_walk_skip(&w.walk);
            continue;
        }
        text_add(out, ",", 1);
        json_print_text(name, out);
        text_add(out, ":", 1);
        rewrite(&w, name, of, 0);
    }
    text_add(out, "}", 1);
    TRY(json_walk_end(&w.walk, "", err));
    return text_finish(out, err);
}
