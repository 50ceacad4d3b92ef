/* page_text.c - a page of the manual as lines of a terminal. */
#include "service/client/page_text.h"

#include <stdlib.h>
#include <string.h>

struct printing {
    struct text_buffer *b;
    size_t width, column, indent;
    size_t empty_lines; /* that the next word needs before it */
    size_t cells;       /* of the row so far */
    bool space, pre;
};

/* What a tag does: lines before what stands in it and behind it. */
static const struct {
    const char *name;
    size_t lines;
} blocks[] = {{"h1", 2},      {"h2", 2},     {"h3", 2},         {"h4", 2},
              {"p", 2},       {"ul", 2},     {"ol", 2},         {"table", 2},
              {"pre", 2},     {"figure", 2}, {"figcaption", 2}, {"details", 2},
              {"summary", 1}, {"li", 1},     {"tr", 1},         {"dt", 2},
              {"dd", 1},      {"div", 1},    {"form", 2},       {"br", 1}};

static void want_lines(struct printing *p, size_t lines)
{
    if (lines > p->empty_lines && p->b->length)
        p->empty_lines = lines;
    p->space = false;
}

static void start_line(struct printing *p)
{
    for (; p->empty_lines; p->empty_lines--)
        text_add(p->b, "\n", 1);
    text_addf(p->b, "%*s", (int)p->indent, "");
    p->column = p->indent;
}

/* Characters, not bytes. */
static size_t characters(const char *text, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += (text[i] & 0xc0) != 0x80;
    return count;
}

static void add_plain(struct printing *p, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        text_add(p->b, (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? "?" : &text[i],
                 1);
}

static void add_word(struct printing *p, const char *word, size_t length)
{
    size_t wide = characters(word, length);
    bool first = p->empty_lines || !p->b->length;

    if (!first && p->space && p->column + 1 + wide > p->width) {
        p->empty_lines = 1;
        first = true;
    }
    if (first) {
        start_line(p);
    } else if (p->space) {
        text_add(p->b, " ", 1);
        p->column++;
    }
    p->space = false;
    add_plain(p, word, length);
    p->column += wide;
}

/* A character that an entity stands for; its length in the page, 0: it is none. */
static size_t entity(const char *at, char *c)
{
    static const struct {
        const char *text;
        char c;
    } named[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}};
    char *end;
    long number;

    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (strncmp(at, named[i].text, strlen(named[i].text)) == 0) {
            *c = named[i].c;
            return strlen(named[i].text);
        }
    if (strncmp(at, "&#", 2) != 0)
        return 0;
    number = strtol(at + 2, &end, 10);
    if (*end != ';' || number <= 0 || number > 126)
        return 0;
    *c = (char)number;
    return (size_t)(end + 1 - at);
}

/* The text up to the next tag without entities. */
static char *decoded(const char *at, size_t length, struct arena *a)
{
    char *text = arena_try(a, length + 1, 1);
    size_t used = 0;

    for (size_t i = 0; text && i < length;) {
        size_t taken = entity(at + i, &text[used]);

        if (!taken)
            text[used] = at[i];
        used++;
        i += taken ? taken : 1;
    }
    return text;
}

static void add_pre(struct printing *p, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");

        if (length && (p->empty_lines || !p->b->length))
            start_line(p);
        add_plain(p, text, length);
        text += length;
        if (*text) {
            p->empty_lines++;
            text++;
        }
    }
}

static void add_text(struct printing *p, const char *at, size_t length)
{
    char *text = decoded(at, length, p->b->arena);

    if (!text) {
        p->b->failed = true;
        return;
    }
    if (p->pre) {
        add_pre(p, text);
        return;
    }
    while (*text) {
        size_t spaces = strspn(text, " \t\r\n"), word;

        p->space = p->space || spaces;
        text += spaces;
        word = strcspn(text, " \t\r\n");
        if (word)
            add_word(p, text, word);
        text += word;
    }
}

/* The tag that begins at `at`, which is "<". */
static void take_tag(struct printing *p, const char *at)
{
    bool closes = at[1] == '/';
    const char *name = at + 1 + closes;
    size_t length = strcspn(name, " >/");

    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        if (strncmp(name, blocks[i].name, length) == 0 && !blocks[i].name[length])
            want_lines(p, blocks[i].lines);
    if (strncmp(name, "pre", length) == 0 && length == 3) {
        p->pre = !closes;
        p->indent = closes ? 0 : 4;
    } else if (strncmp(name, "tr", length) == 0 && length == 2) {
        p->cells = 0;
    } else if (length == 2 &&
               (strncmp(name, "td", 2) == 0 || strncmp(name, "th", 2) == 0)) {
        if (!closes && p->cells++) {
            p->space = true;
            add_word(p, "|", 1);
        }
        p->space = true;
    } else if (length == 2 && strncmp(name, "li", 2) == 0) {
        p->indent = 0;
        if (!closes) {
            add_word(p, "-", 1);
            p->space = true;
            p->indent = 2;
        }
    }
}

void page_text(const char *html, size_t width, struct text_buffer *b)
{
    struct printing p = {.b = b, .width = width};
    const char *main = strstr(html, "<main"), *end;

    main = main ? main : html;
    end = strstr(main, "</main>");
    end = end ? end : main + strlen(main);
    for (const char *at = main; at < end;) {
        size_t length = *at == '<' ? strcspn(at, ">") + 1 : strcspn(at, "<");

        if (length > (size_t)(end - at))
            length = (size_t)(end - at);
        if (*at == '<')
            take_tag(&p, at);
        else
            add_text(&p, at, length);
        at += length;
    }
    text_add(b, "\n", 1);
}
