/* dependency.c - what a job of Slurm waits for. */
#include "models/slurm/dependency.h"

#include "models/base/budget_read.h"
#include "models/slurm/values.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

struct clauses {
    struct slurm_dependency *out;
    struct slurm_after *after;
    const char **bad;
    size_t size; /* of both */
    struct arena *arena;
};

static void note_bad(struct clauses *c, const char *clause)
{
    c->bad[c->out->bad_count++] = clause;
}

static const char *kind_of(struct clauses *c, const char *word)
{
    static const char *const kinds[][2] = {
        {"afterok", "ok"},  {"afterany", "any"},   {"afternotok", "notok"},
        {"after", "start"}, {"aftercorr", "corr"}, {"afterburstbuffer", "any"}};

    for (size_t i = 0; i < 6; i++)
        if (strcmp(word, kinds[i][0]) == 0) {
            c->out->burst_count += i == 5;
            return kinds[i][1];
        }
    return NULL;
}

/* 12_3+5, 75_* */
static bool read_job(struct arena *a, const char *text, const char *kind,
                     struct slurm_after *after)
{
    const char *plus = strchr(text, '+');
    size_t length = plus ? (size_t)(plus - text) : strlen(text);

    if (length > 2 && strncmp(text + length - 2, "_*", 2) == 0)
        length -= 2;
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]) && text[i] != '_')
            return false;
    after->job_id = arena_text(a, text, length);
    after->kind = kind;
    after->delay_s = plus ? slurm_duration_s(plus + 1, 60) : 0;
    return length > 0 && isfinite(after->delay_s);
}

/* "afterok:12_3:13(unfulfilled)" or "singleton". */
static void read_clause(struct clauses *c, const char *clause)
{
    const char *const *words;
    size_t count = slurm_split(clause, ':', &words, c->arena);
    const char *first =
        count ? arena_text(c->arena, words[0], strcspn(words[0], "(")) : "";
    const char *kind;

    if (strcmp(first, "singleton") == 0) {
        c->out->singleton = true;
        return;
    }
    kind = kind_of(c, first);
    if (!kind || count < 2)
        note_bad(c, clause);
    for (size_t k = 1; kind && k < count; k++) {
        const char *id = arena_text(c->arena, words[k], strcspn(words[k], "("));

        if (c->out->after_count < c->size &&
            read_job(c->arena, id, kind, &c->after[c->out->after_count]))
            c->out->after_count++;
        else
            note_bad(c, clause);
    }
    budget_read_step(8 * count);
}

void slurm_dependency_read(const char *text, struct slurm_dependency *out,
                           struct arena *a)
{
    struct clauses c = {.out = out, .arena = a};
    const char *const *list;
    size_t count;
    char *copy;

    *out = (struct slurm_dependency){.is_any = text && strchr(text, '?')};
    if (!text)
        return;
    copy = arena_text(a, text, strlen(text));
    out->is_mixed = out->is_any && strchr(text, ',');
    for (char *at = copy; *at; at++) {
        c.size += *at == ':';
        if (*at == '?')
            *at = ',';
    }
    count = slurm_split(copy, ',', &list, a);
    out->after = c.after = NEW(a, struct slurm_after, c.size);
    out->bad = c.bad = NEW(a, const char *, c.size + count);
    for (size_t i = 0; i < count; i++)
        read_clause(&c, list[i]);
}

/* Bytes of "--dependency=" or "-d" at the begin of a word; 0: it is another one.
 * *is_whole: the value is the next word. */
static size_t option_length(const char *word, size_t length, const char *name,
                            size_t least, char letter, bool *is_whole)
{
    size_t cut = length > 2 ? strcspn(word + 2, "= \t") : 0;

    *is_whole = false;
    if (length < 2 || word[0] != '-')
        return 0;
    if (word[1] == letter) {
        *is_whole = length == 2;
        return 2;
    }
    if (word[1] != '-' || cut < least || cut > strlen(name) ||
        strncmp(word + 2, name, cut) != 0)
        return 0;
    *is_whole = cut + 2 >= length;
    return *is_whole ? cut + 2 : cut + 3;
}

const char *slurm_option(const char *submit_line, const char *name, size_t least,
                         char letter, struct arena *a)
{
    const char *at = submit_line ? submit_line : "";

    while (*(at += strspn(at, " \t"))) {
        size_t length = strcspn(at, " \t"), used;
        bool is_whole;

        budget_read_step(length + 1);
        used = option_length(at, length, name, least, letter, &is_whole);
        if (used && is_whole) {
            at += length;
            at += strspn(at, " \t");
            return *at ? arena_text(a, at, strcspn(at, " \t")) : NULL;
        }
        if (used)
            return arena_text(a, at + used, length - used);
        at += length;
    }
    return NULL;
}
