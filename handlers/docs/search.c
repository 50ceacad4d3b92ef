/* search.c - GET /docs/search?q=: whole words in titles, names and texts of pages. */
#include "handlers/docs/docs.h"

#include "service/service.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    TITLE_WEIGHT = 8,
    NAME_WEIGHT = 4,
    PART_WEIGHT = 2, /* of a name: "deadline" of deadline_s */
    TEXT_WEIGHT = 1,
    FOUND_MAX = 50,
    WORDS_MAX = 32
};

struct found {
    const struct docs_entry *entry;
    size_t words, score; /* how many of the words it has */
};

static bool is_letter(char c, bool parts)
{
    return isalnum((unsigned char)c) || (c == '_' && !parts) || (c & 0x80);
}

/* Length of a word without the s of a plural. */
static size_t singular(const char *word, size_t length)
{
    bool plural = length > 3 && tolower((unsigned char)word[length - 1]) == 's' &&
                  tolower((unsigned char)word[length - 2]) != 's';

    return length - plural;
}

/* Whether the word stands in the text, in whichever case; "gpu" is "GPUs", too. With
 * `parts` words end at underscores. */
static bool has_word(const char *text, const char *word, bool parts)
{
    size_t length = singular(word, strlen(word));

    for (const char *p = text; p && *p;) {
        size_t here = 0;

        while (*p && !is_letter(*p, parts))
            p++;
        while (is_letter(p[here], parts))
            here++;
        if (singular(p, here) == length && strncasecmp(p, word, length) == 0)
            return true;
        p += here;
    }
    return false;
}

static struct found score_of(const struct docs_entry *e, const char *text,
                             const char *const *words, size_t word_count)
{
    struct found f = {.entry = e};

    for (size_t i = 0; i < word_count; i++) {
        size_t here = 0;

        if (has_word(e->title, words[i], false))
            here += TITLE_WEIGHT;
        if (has_word(e->names, words[i], false))
            here += NAME_WEIGHT;
        else if (has_word(e->names, words[i], true))
            here += PART_WEIGHT;
        if (has_word(e->text, words[i], false) || has_word(text, words[i], false))
            here += TEXT_WEIGHT;
        f.words += here > 0;
        f.score += here;
    }
    return f;
}

/* The words of what was asked, each once; at most WORDS_MAX. */
static size_t split_words(const char *q, const char **words, struct arena *a)
{
    size_t count = 0;

    while (*q && count < WORDS_MAX) {
        size_t length = 0;

        while (*q && !is_letter(*q, false))
            q++;
        while (is_letter(q[length], false))
            length++;
        if (length)
            words[count++] = arena_text(a, q, length);
        q += length;
    }
    return count;
}

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->words != y->words)
        return x->words > y->words ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return strcmp(x->entry->path, y->entry->path);
}

static void print_found(struct docs_page *p, const char *q)
{
    struct arena *a = p->rq->arena;
    struct docs_index ix = docs_index(p->rq->service->routes, a);
    struct found *list = NEW(a, struct found, ix.count);
    const char *words[WORDS_MAX];
    size_t word_count = split_words(q, words, a), count = 0, whole = 0;

    for (size_t i = 0; i < ix.count && word_count; i++) {
        const struct docs_entry *e = &ix.items[i];
        struct found f =
            score_of(e, e->source ? docs_file(e->source, a) : NULL, words, word_count);

        whole += f.words == word_count;
        if (f.words)
            list[count++] = f;
    }
    qsort(list, count, sizeof(*list), compare_found);
    if (whole)
        count = whole;
    html_add(p->b, "<p>%z pages have %t of these words%t.</p>\n<ol>\n", count,
             whole || word_count < 2 ? "all" : "some, none has all",
             count > FOUND_MAX ? "; the first 50" : "");
    for (size_t i = 0; i < count && i < FOUND_MAX; i++)
        html_add(p->b, "<li><a href=\"%u\">%t</a></li>\n", list[i].entry->path,
                 list[i].entry->title);
    html_add(p->b, "</ol>\n");
}

enum error_code docs_search(struct docs_page *p, const char *rest)
{
    const struct docs_query *query = p->rq->query;
    const char *q = query && query->q ? query->q : "";

    (void)rest;
    p->title = "Search";
    html_add(p->b,
             "<form action=\"/docs/search\" method=\"get\" role=\"search\"><label>Words "
             "<input name=\"q\" type=\"search\" maxlength=\"200\" value=\"%t\"></label> "
             "<button>Search</button></form>\n",
             q);
    if (*q)
        print_found(p, q);
    return OK;
}
