/* markdown.c - our own texts in Markdown as HTML.
 *
 * Line by line: what a line begins with says what block it belongs to; a block ends at an
 * empty line, or where another one begins.
 */
#include "handlers/docs/markdown.h"

#include "handlers/docs/html.h"

#include <ctype.h>
#include <string.h>

enum { LEVEL_MAX = 6 };

enum block { NONE, PARAGRAPH, BULLETS, NUMBERS, TABLE };

static const char *const openings[] = {"", "<p>", "<ul>\n<li>", "<ol>\n<li>",
                                       "<div class=\"wide\"><table>\n"};
static const char *const closings[] = {"", "</p>\n", "</li>\n</ul>\n", "</li>\n</ol>\n",
                                       "</tbody></table></div>\n"};

struct printer {
    struct text_buffer *b;
    enum block block;
    int level;
    size_t formula_count;
    size_t table_rows; /* of the table that is open */
};

struct line {
    const char *text;
    size_t length;
};

/* ---- within a line ---- */

/* Whether a link may lead there: within the service, or by https. */
static bool is_safe_target(const char *target, size_t length)
{
    if (length > 8 && strncmp(target, "https://", 8) == 0)
        return true;
    if (length > 1 && target[0] == '/' && target[1] == '/')
        return false; /* another host */
    return length > 0 && !memchr(target, ':', length);
}

/* The end of `code` or **bold** that begins at `from`; SIZE_MAX: it does not end. */
static size_t find_end(const char *text, size_t length, size_t from, const char *mark)
{
    size_t width = strlen(mark);

    for (size_t i = from; i + width <= length; i++)
        if (memcmp(text + i, mark, width) == 0)
            return i > from ? i : SIZE_MAX;
    return SIZE_MAX;
}

/* Prints [text](target) if that is one; the characters that it takes, 0: it is none. */
static size_t print_link(const char *text, size_t length, struct text_buffer *b)
{
    size_t close = find_end(text, length, 1, "]"), end;

    if (close == SIZE_MAX || close + 1 >= length || text[close + 1] != '(')
        return 0;
    end = find_end(text, length, close + 2, ")");
    if (end == SIZE_MAX || !is_safe_target(text + close + 2, end - close - 2))
        return 0;
    text_addf(b, "<a href=\"");
    html_text(b, text + close + 2, end - close - 2);
    text_addf(b, "\">");
    markdown_print_line(text + 1, close - 1, b);
    text_addf(b, "</a>");
    return end + 1;
}

/* Prints what begins at `text` with a mark; the characters taken, 0: none does. */
static size_t print_marked(const char *text, size_t length, struct text_buffer *b)
{
    size_t end;

    if (text[0] == '[')
        return print_link(text, length, b);
    if (text[0] == '`' && (end = find_end(text, length, 1, "`")) != SIZE_MAX) {
        text_addf(b, "<code>");
        html_text(b, text + 1, end - 1);
        text_addf(b, "</code>");
        return end + 1;
    }
    if (length > 2 && text[0] == '*' && text[1] == '*' &&
        (end = find_end(text, length, 2, "**")) != SIZE_MAX) {
        text_addf(b, "<strong>");
        markdown_print_line(text + 2, end - 2, b);
        text_addf(b, "</strong>");
        return end + 2;
    }
    return 0;
}

void markdown_print_line(const char *text, size_t length, struct text_buffer *b)
{
    size_t plain = 0;

    for (size_t i = 0; i < length;) {
        size_t taken = 0;

        if (strchr("[`*", text[i])) {
            html_text(b, text + plain, i - plain);
            plain = i;
            taken = print_marked(text + i, length - i, b);
        }
        i += taken ? taken : 1;
        if (taken)
            plain = i;
    }
    html_text(b, text + plain, length - plain);
}

/* ---- blocks ---- */

static void begin(struct printer *p, enum block block)
{
    if (p->block != block)
        text_addf(p->b, "%s%s", closings[p->block], openings[block]);
    p->block = block;
    p->table_rows = 0;
}

static struct line trim(struct line l)
{
    while (l.length && isspace((unsigned char)l.text[l.length - 1]))
        l.length--;
    while (l.length && isspace((unsigned char)*l.text))
        l.text++, l.length--;
    return l;
}

/* Number of # of a heading; 0: it is none. */
static size_t heading_depth(struct line l)
{
    size_t depth = 0;

    while (depth < l.length && l.text[depth] == '#')
        depth++;
    return depth < l.length && depth <= LEVEL_MAX && l.text[depth] == ' ' ? depth : 0;
}

static void print_heading(struct printer *p, struct line l, size_t depth)
{
    struct line title = trim((struct line){l.text + depth, l.length - depth});
    int level = p->level + (int)depth - 1;

    begin(p, NONE);
    if (level > LEVEL_MAX)
        level = LEVEL_MAX;
    text_addf(p->b, "<h%d id=\"", level);
    html_anchor(p->b, title.text, title.length);
    text_addf(p->b, "\">");
    markdown_print_line(title.text, title.length, p->b);
    text_addf(p->b, "</h%d>\n", level);
}

/* What stands between two | of a row. */
static void print_cells(struct printer *p, struct line l, const char *tag)
{
    struct line rest = trim(l);

    text_addf(p->b, "<tr>");
    rest.text++, rest.length--; /* the first | */
    while (rest.length) {
        const char *bar = memchr(rest.text, '|', rest.length);
        size_t length = bar ? (size_t)(bar - rest.text) : rest.length;
        struct line cell = trim((struct line){rest.text, length});

        text_addf(p->b, "<%s%s>", tag, tag[1] == 'h' ? " scope=\"col\"" : "");
        markdown_print_line(cell.text, cell.length, p->b);
        text_addf(p->b, "</%s>", tag);
        rest.text += length + (bar != NULL);
        rest.length -= length + (bar != NULL);
    }
    text_addf(p->b, "</tr>\n");
}

static bool is_rule(struct line l)
{
    for (size_t i = 0; i < l.length; i++)
        if (!strchr("|-: ", l.text[i]))
            return false;
    return l.length > 0;
}

static void print_table_row(struct printer *p, struct line l)
{
    size_t before = p->block == TABLE ? p->table_rows : 0;

    begin(p, TABLE);
    p->table_rows = before + 1;
    if (before == 0)
        text_addf(p->b, "<thead>");
    if (!(before == 1 && is_rule(l)))
        print_cells(p, l, before == 0 ? "th" : "td");
    if (before == 0)
        text_addf(p->b, "</thead><tbody>\n");
}

/* Length of what an element of a list begins with: "- " or "1. "; 0: it is none. */
static size_t item_mark(struct line l, enum block *block)
{
    size_t digits = 0;

    *block = BULLETS;
    if (l.length > 1 && l.text[0] == '-' && l.text[1] == ' ')
        return 2;
    while (digits < l.length && isdigit((unsigned char)l.text[digits]))
        digits++;
    *block = NUMBERS;
    return digits && digits + 1 < l.length && l.text[digits] == '.' &&
                   l.text[digits + 1] == ' '
               ? digits + 2
               : 0;
}

/* A line of text: of a new block, or of the one that is open. */
static void print_text(struct printer *p, struct line l)
{
    enum block block;
    size_t mark = item_mark(l, &block);

    if (mark) {
        if (p->block == block)
            text_addf(p->b, "</li>\n<li>");
        else
            begin(p, block);
        markdown_print_line(l.text + mark, l.length - mark, p->b);
        return;
    }
    if (p->block != PARAGRAPH &&
        !((p->block == BULLETS || p->block == NUMBERS) && l.text[0] == ' '))
        begin(p, PARAGRAPH);
    else
        text_addf(p->b, "\n");
    l = trim(l);
    markdown_print_line(l.text, l.length, p->b);
}

static struct line next_line(const char **text)
{
    struct line l = {*text, strcspn(*text, "\n")};

    *text += l.length + ((*text)[l.length] == '\n');
    return l;
}

static bool is_fence(struct line l)
{
    return l.length >= 3 && memcmp(l.text, "```", 3) == 0;
}

static void print_fenced(struct printer *p, struct line first, const char **text)
{
    struct line word = trim((struct line){first.text + 3, first.length - 3});
    bool formula = word.length == 7 && memcmp(word.text, "formula", 7) == 0;

    begin(p, NONE);
    text_addf(p->b, "<pre");
    if (formula)
        text_addf(p->b, " id=\"eq-%zu\"", ++p->formula_count);
    if (word.length) {
        text_addf(p->b, " class=\"");
        html_anchor(p->b, word.text, word.length);
        text_addf(p->b, "\"");
    }
    text_addf(p->b, ">");
    while (**text) {
        struct line l = next_line(text);

        if (is_fence(l))
            break;
        html_text(p->b, l.text, l.length);
        text_addf(p->b, "\n");
    }
    text_addf(p->b, "</pre>\n");
}

static bool is_indented(struct line l)
{
    return l.length > 4 && memcmp(l.text, "    ", 4) == 0;
}

/* Lines that are indented by four blanks: commands. */
static void print_indented(struct printer *p, struct line l, const char **text)
{
    begin(p, NONE);
    text_addf(p->b, "<pre class=\"sh\">");
    for (;;) {
        const char *next = *text;

        html_text(p->b, l.text + 4, l.length - 4);
        text_addf(p->b, "\n");
        l = next_line(&next);
        if (!is_indented(l))
            break;
        *text = next;
    }
    text_addf(p->b, "</pre>\n");
}

void markdown_print(const char *text, int level, struct text_buffer *b)
{
    struct printer p = {.b = b, .level = level};

    while (*text) {
        struct line l = next_line(&text);
        size_t depth = heading_depth(l);

        if (is_indented(l) && (p.block == NONE || p.block == PARAGRAPH))
            print_indented(&p, l, &text);
        else if (is_fence(l))
            print_fenced(&p, l, &text);
        else if (depth)
            print_heading(&p, l, depth);
        else if (trim(l).length == 0)
            begin(&p, NONE);
        else if (trim(l).length > 1 && *trim(l).text == '|')
            print_table_row(&p, l);
        else
            print_text(&p, l);
    }
    begin(&p, NONE);
}
