/* search.c - GET /docs/search?q=: words in titles, names and texts of pages.
 *
 * Words are compared by what they begin with: "failures", "failing" and "failed" are one
 * word, "license" is "licence". Of a question ("how do I correct a wrong run") the words
 * that any page has are left out. A word counts by where it stands, the more the fewer
 * pages have it, and in a long text less than in a short one; a word of the same meaning
 * counts half. A page counts by the share of what was asked that it has.
 */
#include "handlers/docs/docs.h"

#include "service/service.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TITLE_WEIGHT = 8,
    NAME_WEIGHT = 4,
    PART_WEIGHT = 2, /* of a name: "deadline" of deadline_s */
    TEXT_WEIGHT = 1,
    FOUND_MAX = 50,
    WORDS_MAX = 32,
    STEM_SIZE = 40,
    STEM_LEAST = 4,     /* letters that an ending leaves */
    SHORT_BYTES = 2500, /* what is no longer speaks of one thing */
    SHORT_TIMES = 4,
    EXCERPT_BYTES = 180
};

/* ---- words ---- */

/* Words of questions that say nothing of what is asked. */
static const char *const plain_words[] = {
    "a",      "about", "all",  "am",    "an",     "and",  "any",  "are",   "as",
    "at",     "be",    "by",   "can",   "could",  "did",  "do",   "does",  "for",
    "from",   "get",   "give", "had",   "happen", "has",  "have", "how",   "i",
    "if",     "in",    "into", "is",    "it",     "its",  "let",  "many",  "me",
    "much",   "my",    "of",   "on",    "one",    "or",   "our",  "own",   "say",
    "should", "so",    "some", "tell",  "than",   "that", "the",  "their", "them",
    "then",   "there", "they", "this",  "to",     "us",   "use",  "want",  "was",
    "we",     "what",  "when", "where", "which",  "who",  "will", "with",  "would",
    "you",    "your",  "must", "not",   "two",
};

/* Words that people have for the same; the first row that has a word counts. */
enum { ALIKE_MAX = 7 };
static const char *const alike[][ALIKE_MAX] = {
    {"correct", "fix", "change", "edit", "update", "wrong", "mistake"},
    {"delete", "remove", "erase", "purge"},
    {"machine", "node", "host", "resource", "computer"},
    {"cpu", "core", "processor"},
    {"ram", "memory"},
    {"key", "token", "password", "login", "auth", "authentication"},
    {"seed", "random", "reproducible", "deterministic", "repeatable"},
    {"database", "postgresql", "postgres"},
    {"outage", "failure", "crash", "fault", "down", "unavailable"},
    {"limit", "maximum", "max"},
    {"quota", "throttle", "429"},
    {"why", "reason", "explain", "because"},
    {"log", "trace", "history", "past"},
    {"twice", "retry", "idempotency", "duplicate", "resend"},
    {"install", "package", "docker", "container", "deploy"},
    {"alert", "monitor", "prometheus", "grafana"},
    {"energy", "power", "watt"},
    {"gpu", "accelerator"},
    {"cost", "price", "money", "cheap"},
    {"forecast", "predict"},
    {"chart", "picture", "svg", "gantt", "image"},
    {"async", "asynchronous", "background"},
    {"pagination", "paging", "next_page_token"},
    {"gap", "gap_ratio"},
    {"bound", "lower_bound_s"},
    {"deadline", "due", "deadline_s", "late"},
    {"unplaced", "unschedulable", "rejected"},
    {"pending", "waiting", "wait"},
    {"dependency", "depends_on", "dependent"},
    {"file", "data", "input"},
    {"error", "problem"},
    {"rollback", "roll"},
    {"workflow", "dag"},
};

static bool is_letter(char c, bool parts)
{
    return isalnum((unsigned char)c) || (c == '_' && !parts) || (c & 0x80);
}

static bool cut(char *word, size_t *length, const char *ending, size_t least)
{
    size_t n = strlen(ending);

    if (*length < least + n || memcmp(word + *length - n, ending, n) != 0)
        return false;
    *length -= n;
    return true;
}

/* Spellings on both sides of the ocean as one: "ise" is "ize", "our" is "or". */
static size_t spell(char *word, size_t length)
{
    size_t n = 0;

    for (size_t i = 0; i < length; i++) {
        bool doubled = word[i] == 'l' && n && word[n - 1] == 'l';
        bool our = word[i] == 'u' && n && word[n - 1] == 'o' && i + 1 < length &&
                   word[i + 1] == 'r' && length > 4;
        bool nse = word[i] == 's' && n && word[n - 1] == 'n' && i + 1 < length &&
                   word[i + 1] == 'e';

        if (!doubled && !our)
            word[n++] = nse || word[i] == 'z' ? (char)(nse ? 'c' : 's') : word[i];
    }
    return n;
}

/* What a word is compared by, in small letters; what has an underscore is a name. */
static size_t stem(const char *word, size_t length, char *to)
{
    static const char *const endings[] = {"ability", "ibility", "able", "ible", "ment",
                                          "ing",     "ion",     "ed",   "er",   "ure"};
    bool name = memchr(word, '_', length) != NULL;

    if (length > STEM_SIZE)
        length = STEM_SIZE;
    for (size_t i = 0; i < length; i++)
        to[i] = (char)tolower((unsigned char)word[i]);
    if (name)
        return length;
    length = spell(to, length);
    if (!(length > 2 && to[length - 2] == 's'))
        cut(to, &length, "s", 3);
    if (cut(to, &length, "ie", STEM_LEAST - 1))
        return length;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (cut(to, &length, endings[i], STEM_LEAST - 1)) {
            if (to[length - 1] == to[length - 2] && to[length - 1] != 's')
                length--;
            break;
        }
    if (!cut(to, &length, "e", STEM_LEAST))
        cut(to, &length, "y", STEM_LEAST - 1);
    cut(to, &length, "at", STEM_LEAST);
    return length;
}

/* A word that is looked for: itself and those of the same meaning. */
struct wanted {
    char stems[ALIKE_MAX + 1][STEM_SIZE];
    size_t lengths[ALIKE_MAX + 1], count;
    bool number;
};

/* The first of its stems that it is; SIZE_MAX: none. */
static size_t match(const struct wanted *w, const char *word, size_t length)
{
    for (size_t k = 0; k < w->count; k++)
        if (w->lengths[k] == length && memcmp(w->stems[k], word, length) == 0)
            return k;
    return SIZE_MAX;
}

/* Twice the weight of a word that is wanted itself, once that of one like it. */
static void weigh_word(const char *word, size_t length, size_t weight,
                       const struct wanted *w, size_t word_count, size_t *weights)
{
    for (size_t i = 0; i < word_count; i++) {
        size_t k = match(&w[i], word, length);
        size_t value = k == SIZE_MAX ? 0 : weight * (k ? 1 : 2);

        if (value > weights[i])
            weights[i] = value;
    }
}

/* Steps over what is no word; the length of the word there, 0 at the end. */
static size_t next_word(const char **at, bool parts)
{
    size_t n = 0;

    while (**at && !is_letter(**at, parts))
        (*at)++;
    while (is_letter((*at)[n], parts))
        n++;
    return n;
}

/* Twice the weight of the best that is in `text`: `whole` for its words and, with
 * `parts`, `part` for those between underscores. */
static void weigh(const char *text, size_t whole, size_t part, const struct wanted *w,
                  size_t word_count, size_t *weights)
{
    for (int parts = 0; text && parts < (part ? 2 : 1); parts++) {
        const char *p = text;
        char here[STEM_SIZE];

        for (size_t n = next_word(&p, parts); n; n = next_word(&p, parts)) {
            weigh_word(here, stem(p, n, here), parts ? part : whole, w, word_count,
                       weights);
            p += n;
        }
    }
}

static void add_alike(struct wanted *w)
{
    for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
        bool fits = false;

        for (size_t k = 0; k < ALIKE_MAX && alike[i][k]; k++) {
            char other[STEM_SIZE];
            size_t n = stem(alike[i][k], strlen(alike[i][k]), other);

            fits = fits || (n == w->lengths[0] && memcmp(other, w->stems[0], n) == 0);
        }
        for (size_t k = 0; fits && k < ALIKE_MAX && alike[i][k]; k++) {
            w->lengths[w->count] =
                stem(alike[i][k], strlen(alike[i][k]), w->stems[w->count]);
            w->count++;
        }
        if (fits)
            return;
    }
}

static bool is_plain(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(plain_words) / sizeof(plain_words[0]); i++)
        if (strlen(plain_words[i]) == length &&
            strncasecmp(plain_words[i], word, length) == 0)
            return true;
    return false;
}

/* The words of what was asked; `all`: the plain ones, too. At most WORDS_MAX. */
static size_t split_words(const char *q, bool all, struct wanted *words)
{
    size_t count = 0;
    /* "what does it mean", but "mean time between failures" */
    bool meaning = strcasestr(q, "what ") || strcasestr(q, "does ");

    while (*q && count < WORDS_MAX) {
        size_t length = 0;

        while (*q && !is_letter(*q, false))
            q++;
        while (is_letter(q[length], false))
            length++;
        if (length && (all || !(is_plain(q, length) || (meaning && length == 4 &&
                                                        !strncasecmp(q, "mean", 4))))) {
            struct wanted *w = &words[count++];

            *w = (struct wanted){.count = 1, .number = isdigit((unsigned char)*q) != 0};
            w->lengths[0] = stem(q, length, w->stems[0]);
            add_alike(w);
        }
        q += length;
    }
    return count;
}

/* ---- pages ---- */

struct found {
    const struct docs_entry *entry;
    const char *source; /* the text of its file; NULL: none */
    size_t weights[WORDS_MAX];
    size_t words; /* how many of the words it has */
    double score;
};

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int order;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    order = strcmp(x->entry->path, y->entry->path);
    return order ? order : strcmp(x->entry->title, y->entry->title);
}

/* The weight of what stands in a text. */
static size_t weight_of(const char *text, size_t weight)
{
    return text && strlen(text) <= SHORT_BYTES ? SHORT_TIMES * weight : weight;
}

static struct found found_in(const struct docs_entry *e, const struct wanted *words,
                             size_t word_count, struct arena *a)
{
    struct found f = {.entry = e, .source = e->source ? docs_file(e->source, a) : NULL};

    weigh(e->title, TITLE_WEIGHT, NAME_WEIGHT, words, word_count, f.weights);
    weigh(e->names, NAME_WEIGHT, PART_WEIGHT, words, word_count, f.weights);
    weigh(e->text, weight_of(e->text, TEXT_WEIGHT), 0, words, word_count, f.weights);
    weigh(f.source, weight_of(f.source, TEXT_WEIGHT), 0, words, word_count, f.weights);
    for (size_t i = 0; i < word_count; i++)
        f.words += f.weights[i] > 0;
    return f;
}

/* Scores: a word's weight by how rare it is, all by the share of what is rare. */
static void rate(struct found *list, size_t count, size_t all, const struct wanted *words,
                 size_t word_count)
{
    double rarity[WORDS_MAX], whole = 0;

    for (size_t i = 0; i < word_count; i++) {
        size_t having = 0;

        for (size_t k = 0; k < count; k++)
            having += list[k].weights[i] > 0;
        rarity[i] = fmax(0.1, log2((double)(all + 1) / (double)(having + 1)));
        if (words[i].number || !having) /* the best of the others */
            rarity[i] = 1;
        whole += rarity[i];
    }
    for (size_t k = 0; k < count; k++) {
        double share = 0;

        for (size_t i = 0; i < word_count; i++)
            if (list[k].weights[i]) {
                list[k].score += (double)list[k].weights[i] * rarity[i];
                share += rarity[i] / whole;
            }
        list[k].score *= share;
    }
}

/* ---- what is shown of a page ---- */

/* What is in the brackets that begin there is a link's text, not a list. */
static bool is_link(const char *p)
{
    const char *end = p + strcspn(p, "]\n");

    return end[0] == ']' && end[1] == '(';
}

/* The text without the marks of Markdown and the targets of links. */
static const char *without_marks(const char *text, struct arena *a)
{
    struct text_buffer b = {.arena = a};
    bool blank = true;

    for (const char *p = text; p && *p; p++) {
        if (*p == ']' && p[1] == '(')
            p += strcspn(p, ")\n");
        else if (strchr("*`#|", *p) || (*p == '[' && is_link(p)))
            continue;
        else if (!isspace((unsigned char)*p))
            text_add(&b, p, 1), blank = false;
        else if (!blank)
            text_addf(&b, " "), blank = true;
        if (!*p)
            break;
    }
    return text_end(&b);
}

static bool is_wanted(const char *word, size_t length, const struct wanted *words,
                      size_t word_count)
{
    char here[STEM_SIZE];
    size_t stem_length = stem(word, length, here), i = 0;

    while (i < word_count && match(&words[i], here, stem_length) == SIZE_MAX)
        i++;
    return i < word_count;
}

/* Where in the text the first of the words is, at the beginning of a sentence. */
static size_t place_of(const char *text, const struct wanted *words, size_t word_count)
{
    size_t sentence = 0;

    for (size_t at = 0, n; text[at]; at += n) {
        n = 0;
        while (is_letter(text[at + n], false))
            n++;
        if (n && is_wanted(text + at, n, words, word_count))
            return at - sentence < EXCERPT_BYTES / 2 ? sentence : at - EXCERPT_BYTES / 2;
        if (text[at] == '.' && text[at + 1] == ' ')
            sentence = at + 2;
        n += n == 0;
    }
    return 0;
}

static void print_excerpt(struct docs_page *p, const struct found *f,
                          const struct wanted *words, size_t word_count)
{
    const char *text =
        without_marks(f->source ? f->source : f->entry->text, p->rq->arena);
    size_t from, length;

    if (!text || !*text)
        return;
    from = place_of(text, words, word_count);
    while (from && text[from] && text[from - 1] != ' ')
        from++;
    length = strlen(text + from);
    if (length > EXCERPT_BYTES) {
        length = EXCERPT_BYTES;
        while (length && text[from + length] != ' ')
            length--;
    }
    if (!length) /* one long word */
        return;
    html_add(p->b, "<br><span class=\"dim\">%t", from ? "… " : "");
    html_text(p->b, text + from, length);
    html_add(p->b, "%t</span>", text[from + length] ? " …" : "");
}

static void print_nothing(struct docs_page *p, size_t word_count)
{
    html_add(p->b,
             "<p>No place has %t. Other words may find some; or look at "
             "<a href=\"/docs/questions\">How do I?</a>, "
             "<a href=\"/docs/which\">Which endpoint?</a>, "
             "<a href=\"/docs/glossary\">Words</a>.</p>\n",
             word_count == 1 ? "this word" : "any of these words");
}

static void print_found(struct docs_page *p, const char *q)
{
    struct arena *a = p->rq->arena;
    struct docs_index ix = docs_index(p->rq->service->routes, a);
    struct found *list = NEW(a, struct found, ix.count);
    struct wanted *words = NEW(a, struct wanted, WORDS_MAX);
    size_t word_count = split_words(q, false, words), count = 0, whole = 0;

    if (!word_count)
        word_count = split_words(q, true, words);
    for (size_t i = 0; i < ix.count && word_count; i++) {
        struct found f = found_in(&ix.items[i], words, word_count, a);

        whole += f.words == word_count;
        if (f.words)
            list[count++] = f;
    }
    rate(list, count, ix.count, words, word_count);
    if (!count) {
        print_nothing(p, word_count);
        return;
    }
    qsort(list, count, sizeof(*list), compare_found);
    html_add(p->b, "<p>%z %t%t these words%t%t.</p>\n<ol>\n", whole ? whole : count,
             (whole ? whole : count) == 1 ? "place has " : "places have ",
             whole || word_count < 2 ? "all of" : "some of",
             whole || word_count < 2 ? "" : ", none has all",
             count > FOUND_MAX ? "; the best 50 of those that have some" : "");
    for (size_t i = 0; i < count && i < FOUND_MAX; i++) {
        const struct docs_entry *e = list[i].entry;

        html_add(p->b, "<li><a href=\"%u%t%t\">%t</a>", e->path, e->anchor ? "#" : "",
                 e->anchor, e->title);
        print_excerpt(p, &list[i], words, word_count);
        html_add(p->b, "</li>\n");
    }
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
