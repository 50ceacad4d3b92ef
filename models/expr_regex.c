/* expr_regex.c - POSIX extended regular expressions in bounded time and memory.
 *
 * Every character of the pattern that consumes something is a position. Position
 * q follows p if some match uses q right after p; which positions can be first,
 * last and follow each other comes out of one pass over the pattern (Glushkov's
 * automaton). Matching keeps the set of positions where a match can be:
 *
 *     S' = (follow(S) | first) & accepts(byte)     match if S' meets last
 *
 * `first` is there at every byte because the match may begin anywhere. An anchor
 * is a position that accepts only the imaginary symbol before or behind the text.
 *
 * Source: V. M. Glushkov, "The abstract theory of automata", 1961.
 * Syntax: POSIX.1-2017 Base Definitions 9.4, C locale (bytes), without intervals
 * {n,m}, which double in size as they nest. An empty alternative matches "".
 * Cost: with n positions, n^2 / 64 words to build, per byte |S| * n / 64 steps.
 */
#include "models/expr_internal.h"

#include <ctype.h>
#include <string.h>

enum {
    BYTES = 256,
    SYMBOL_BEGIN = BYTES, /* before the text */
    SYMBOL_END,           /* behind it */
    SYMBOLS,
    WORD_BITS = 64,
    WORDS = EXPR_PATTERN_MAX / WORD_BITS,
};

struct expr_regex {
    size_t words;      /* of 64 positions, of every set below */
    bool empty;        /* matches the empty text, so every text */
    uint64_t *first;   /* where a match can begin */
    uint64_t *last;    /* where it can end */
    uint64_t *follow;  /* [position][word] */
    uint64_t *accepts; /* [symbol][word]: the positions that accept it */
};

/* A set of positions, or of bytes. */
struct set {
    uint64_t word[WORDS];
};

struct part {
    struct set first, last;
    bool empty;
};

struct builder {
    const char *next; /* of the pattern */
    size_t count;     /* positions so far */
    struct set follow[EXPR_PATTERN_MAX];
    struct set bytes[EXPR_PATTERN_MAX]; /* that a position accepts */
    int anchor[EXPR_PATTERN_MAX];       /* the symbol it accepts instead, or 0 */
};

static const char *parse_alternatives(struct builder *b, struct part *out);

static void set_add(struct set *s, size_t i)
{
    s->word[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
}

static bool set_has(const struct set *s, size_t i)
{
    return s->word[i / WORD_BITS] >> i % WORD_BITS & 1;
}

static void set_unite(struct set *s, const struct set *other)
{
    for (size_t w = 0; w < WORDS; w++)
        s->word[w] |= other->word[w];
}

/* Whatever ends a part may be followed by whatever begins the other. */
static void link_parts(struct builder *b, const struct part *left,
                       const struct part *right)
{
    for (size_t i = 0; i < b->count; i++)
        if (set_has(&left->last, i))
            set_unite(&b->follow[i], &right->first);
}

static void append_part(struct builder *b, struct part *left, const struct part *right)
{
    struct set last = right->last;

    link_parts(b, left, right);
    if (left->empty)
        set_unite(&left->first, &right->first);
    if (right->empty)
        set_unite(&last, &left->last);
    left->last = last;
    left->empty = left->empty && right->empty;
}

/* A part of one new position that accepts nothing yet. */
static size_t add_position(struct builder *b, struct part *out)
{
    size_t i = b->count++;

    memset(out, 0, sizeof(*out));
    set_add(&out->first, i);
    set_add(&out->last, i);
    return i;
}

static bool add_class(struct set *bytes, const char *name, size_t length)
{
    static const struct {
        const char *name;
        int (*holds)(int);
    } classes[] = {
        {"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
        {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
        {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
    };

    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (strlen(classes[i].name) != length ||
            memcmp(classes[i].name, name, length) != 0)
            continue;
        for (int c = 0; c < BYTES; c++)
            if (classes[i].holds(c))
                set_add(bytes, (size_t)c);
        return true;
    }
    return false;
}

/* [:class:] [.x.] [=x=] inside a list; *single is the byte of the last two, or
 * -1. b->next is at the inner bracket. */
static const char *parse_named(struct builder *b, struct set *bytes, int *single)
{
    char mark = b->next[1];
    const char ending[] = {mark, ']', '\0'};
    const char *name = b->next + 2;
    const char *end = *name ? strstr(name + (mark != ':'), ending) : NULL;

    if (!end)
        return "a [: [. or [= is not closed";
    b->next = end + 2;
    *single = -1;
    if (mark == ':')
        return add_class(bytes, name, (size_t)(end - name)) ? NULL
                                                            : "unknown character class";
    if (end != name + 1)
        return "[. .] and [= =] take a single character";
    *single = (unsigned char)*name;
    return NULL;
}

/* One byte of a list, or a class, for which *single is -1. */
static const char *parse_element(struct builder *b, struct set *bytes, int *single)
{
    if (b->next[0] == '[' && strchr(":.=", b->next[1]) && b->next[1])
        return parse_named(b, bytes, single);
    if (!*b->next)
        return "a [ is not closed";
    *single = (unsigned char)*b->next++;
    return NULL;
}

/* An element and, if it begins one, the range. */
static const char *parse_range(struct builder *b, struct set *bytes)
{
    int from, to;
    const char *problem = parse_element(b, bytes, &from);

    if (problem)
        return problem;
    to = from;
    if (b->next[0] == '-' && b->next[1] && b->next[1] != ']') {
        b->next++;
        problem = parse_element(b, bytes, &to);
        if (problem)
            return problem;
        if (from < 0 || to < 0 || from > to)
            return "a range in [] is the wrong way round or has a class at its end";
    }
    for (int c = from; c >= 0 && c <= to; c++)
        set_add(bytes, (size_t)c);
    return NULL;
}

/* b->next is behind the `[`. */
static const char *parse_list(struct builder *b, struct set *bytes)
{
    bool negated = *b->next == '^';

    if (negated)
        b->next++;
    do {
        const char *problem = parse_range(b, bytes);

        if (problem)
            return problem;
    } while (*b->next != ']');
    b->next++;
    for (size_t w = 0; w < WORDS && negated; w++)
        bytes->word[w] = ~bytes->word[w];
    return NULL;
}

static const char *parse_group(struct builder *b, struct part *out)
{
    const char *problem = parse_alternatives(b, out);

    if (problem)
        return problem;
    if (*b->next != ')')
        return "a ( is not closed";
    b->next++;
    return NULL;
}

static const char *parse_atom(struct builder *b, struct part *out)
{
    char c = *b->next++;
    size_t i;

    if (c == '(')
        return parse_group(b, out);
    if (c == '*' || c == '+' || c == '?')
        return "* + ? need something before them to repeat";
    i = add_position(b, out);
    if (c == '[')
        return parse_list(b, &b->bytes[i]);
    if (c == '^' || c == '$') {
        b->anchor[i] = c == '^' ? SYMBOL_BEGIN : SYMBOL_END;
    } else if (c == '.') {
        memset(&b->bytes[i], 0xff, sizeof(b->bytes[i]));
    } else {
        if (c == '\\') {
            c = *b->next;
            if (!c || isalnum((unsigned char)c))
                return "\\ must stand before a character that is no letter or digit";
            b->next++;
        }
        set_add(&b->bytes[i], (unsigned char)c);
    }
    return NULL;
}

static const char *parse_branch(struct builder *b, struct part *out)
{
    memset(out, 0, sizeof(*out));
    out->empty = true;
    while (*b->next && *b->next != '|' && *b->next != ')') {
        struct part piece;
        const char *problem = parse_atom(b, &piece);

        if (problem)
            return problem;
        for (; *b->next == '*' || *b->next == '+' || *b->next == '?'; b->next++) {
            if (*b->next != '?')
                link_parts(b, &piece, &piece);
            if (*b->next != '+')
                piece.empty = true;
        }
        append_part(b, out, &piece);
    }
    return NULL;
}

static const char *parse_alternatives(struct builder *b, struct part *out)
{
    const char *problem = parse_branch(b, out);

    while (!problem && *b->next == '|') {
        struct part other;

        b->next++;
        problem = parse_branch(b, &other);
        if (problem)
            return problem;
        set_unite(&out->first, &other.first);
        set_unite(&out->last, &other.last);
        out->empty = out->empty || other.empty;
    }
    return problem;
}

/* The automaton with sets as short as they can be. */
static const struct expr_regex *finish(const struct builder *b, const struct part *whole,
                                       struct arena *a)
{
    struct expr_regex *r = NEW(a, struct expr_regex, 1);
    size_t words = b->count / WORD_BITS + 1;
    size_t set_bytes;

    if (words > WORDS)
        words = WORDS;
    set_bytes = words * sizeof(uint64_t);
    r->words = words;
    r->empty = whole->empty;
    r->first = NEW(a, uint64_t, words * (2 + b->count + SYMBOLS));
    r->last = r->first + words;
    r->follow = r->last + words;
    r->accepts = r->follow + b->count * words;
    memcpy(r->first, whole->first.word, set_bytes);
    memcpy(r->last, whole->last.word, set_bytes);
    for (size_t i = 0; i < b->count; i++) {
        uint64_t bit = UINT64_C(1) << i % WORD_BITS;

        memcpy(r->follow + i * words, b->follow[i].word, set_bytes);
        for (size_t c = 0; c < BYTES; c++)
            if (set_has(&b->bytes[i], c))
                r->accepts[c * words + i / WORD_BITS] |= bit;
        if (b->anchor[i])
            r->accepts[(size_t)b->anchor[i] * words + i / WORD_BITS] |= bit;
    }
    return r;
}

const char *expr_regex_compile(const char *pattern, const struct expr_regex **out,
                               struct arena *a)
{
    struct builder b = {.next = pattern};
    struct part whole;
    const char *problem;

    if (strlen(pattern) > EXPR_PATTERN_MAX)
        return "a pattern has at most 256 bytes";
    if (strchr(pattern, '{'))
        return "a pattern may not contain {";
    problem = parse_alternatives(&b, &whole);
    if (problem)
        return problem;
    if (*b.next)
        return "a ) has no (";
    *out = finish(&b, &whole, a);
    return NULL;
}

/* *to becomes what can be reached from `from` by the symbol, or from the begin of a match
 * if there may be one. */
static void advance_from(const struct expr_regex *r, const uint64_t *from, bool begins,
                         size_t symbol, uint64_t *to)
{
    if (begins)
        memcpy(to, r->first, r->words * sizeof(*to));
    else
        memset(to, 0, r->words * sizeof(*to));
    for (size_t w = 0; w < r->words; w++) {
        for (uint64_t left = from[w]; left; left &= left - 1) {
            size_t i = w * WORD_BITS + (size_t)__builtin_ctzll(left);

            for (size_t v = 0; v < r->words; v++)
                to[v] |= r->follow[i * r->words + v];
        }
    }
    for (size_t w = 0; w < r->words; w++)
        to[w] &= r->accepts[symbol * r->words + w];
}

static void advance(const struct expr_regex *r, const uint64_t *from, size_t symbol,
                    uint64_t *to)
{
    advance_from(r, from, true, symbol, to);
}

/* Adds what anchors reach without consuming a byte. `symbol` counts as often as
 * the pattern likes; at the empty text so do both. */
static void pass_anchors_from(const struct expr_regex *r, uint64_t *at, bool begins,
                              bool begin, bool end)
{
    uint64_t to[WORDS];
    bool grown = true;

    while (grown) {
        grown = false;
        for (size_t symbol = SYMBOL_BEGIN; symbol < SYMBOLS; symbol++) {
            if (symbol == SYMBOL_BEGIN ? !begin : !end)
                continue;
            advance_from(r, at, begins, symbol, to);
            for (size_t w = 0; w < r->words; w++) {
                grown = grown || (to[w] & ~at[w]);
                at[w] |= to[w];
            }
        }
    }
}

static void pass_anchors(const struct expr_regex *r, uint64_t *at, bool begin, bool end)
{
    pass_anchors_from(r, at, true, begin, end);
}

static bool meets_last(const struct expr_regex *r, const uint64_t *at)
{
    for (size_t w = 0; w < r->words; w++)
        if (at[w] & r->last[w])
            return true;
    return false;
}

bool expr_regex_match(const struct expr_regex *r, const char *text, size_t length)
{
    uint64_t at[WORDS] = {0}, to[WORDS] = {0};

    if (r->empty)
        return true;
    pass_anchors(r, at, true, length == 0);
    for (size_t i = 0; i < length; i++) {
        if (meets_last(r, at))
            return true;
        advance(r, at, (unsigned char)text[i], to);
        memcpy(at, to, sizeof(at));
    }
    pass_anchors(r, at, length == 0, true);
    return meets_last(r, at);
}

/* Where the longest match that begins at `from` ends; SIZE_MAX: there is none. */
static size_t match_end(const struct expr_regex *r, const char *text, size_t length,
                        size_t from)
{
    uint64_t at[WORDS] = {0}, to[WORDS] = {0};
    size_t found = r->empty ? from : SIZE_MAX;

    pass_anchors_from(r, at, true, from == 0, from == length);
    if (meets_last(r, at))
        found = from;
    for (size_t i = from; i < length; i++) {
        bool lives = i == from;

        for (size_t w = 0; w < r->words; w++)
            lives = lives || at[w];
        if (!lives)
            break;
        advance_from(r, at, i == from, (unsigned char)text[i], to);
        memcpy(at, to, sizeof(at));
        if (i + 1 == length)
            pass_anchors_from(r, at, false, false, true);
        if (meets_last(r, at))
            found = i + 1;
    }
    return found;
}

bool expr_regex_find(const struct expr_regex *r, const char *text, size_t length,
                     size_t begin, size_t *from, size_t *to)
{
    for (*from = begin; *from <= length; ++*from) {
        *to = match_end(r, text, length, *from);
        if (*to != SIZE_MAX)
            return true;
    }
    return false;
}
