/* lines.c - the lines of a text that comes in pieces. */
#include "models/lines.h"

#include "models/base/budget_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 1e15 /* exact in a double, with room for fractions */

enum { LINE_STEPS = 256 }; /* what a line costs beside its bytes, about */

void line_reader_open(struct line_reader *r)
{
    r->count = 0;
    r->length = 0;
    r->too_long = false;
}

static void keep(struct line_reader *r, const char *bytes, size_t length)
{
    size_t room = LINE_MAX_BYTES - r->length;

    if (length > room) {
        r->too_long = true;
        length = room;
    }
    if (length)
        memcpy(r->buffer + r->length, bytes, length);
    r->length += length;
}

static enum error_code hand_over(struct line_reader *r, bool ended, line_fn *on_line,
                                 void *context, struct error *err)
{
    struct line line = {r->buffer, r->length, ++r->count, r->too_long, ended};

    if (budget_read_step(LINE_STEPS + r->length))
        return fail(err, ERR_CANCELLED, "", "the client went away");
    if (ended && !line.too_long && line.length && r->buffer[line.length - 1] == '\r')
        line.length--;
    line.text[line.length] = 0;
    r->length = 0;
    r->too_long = false;
    return on_line(context, &line, err);
}

enum error_code line_reader_feed(struct line_reader *r, const char *bytes, size_t length,
                                 line_fn *on_line, void *context, struct error *err)
{
    while (length) {
        const char *end = memchr(bytes, '\n', length);
        size_t part = end ? (size_t)(end - bytes) : length;

        keep(r, bytes, part);
        if (!end)
            break;
        TRY(hand_over(r, true, on_line, context, err));
        bytes += part + 1;
        length -= part + 1;
    }
    return OK;
}

enum error_code line_reader_end(struct line_reader *r, line_fn *on_line, void *context,
                                struct error *err)
{
    if (r->length == 0 && !r->too_long)
        return OK;
    return hand_over(r, false, on_line, context, err);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

size_t line_fields(char *text, char **fields, size_t max)
{
    size_t count = 0;

    for (;;) {
        while (is_blank(*text))
            text++;
        if (!*text)
            return count;
        if (count < max)
            fields[count] = text;
        count++;
        while (*text && !is_blank(*text))
            text++;
        if (*text)
            *text++ = 0;
    }
}

/* Ends the text before the blanks at its end. */
static void trim_end(const char *begin, char *end)
{
    while (end > begin && is_blank(end[-1]))
        end--;
    *end = 0;
}

/* Moves what stands in quotes to the front of the cell; where the cell's text ends. */
static char *unquote(char **from)
{
    char *in = *from + 1, *out = *from;

    while (*in && (*in != '"' || in[1] == '"')) {
        in += *in == '"';
        *out++ = *in++;
    }
    *from = *in ? in + 1 : in;
    return out;
}

size_t line_cells(char *text, char **fields, size_t max)
{
    size_t count = 0;

    for (;;) {
        char *begin, *end, *next;
        bool more;

        while (is_blank(*text))
            text++;
        begin = text;
        next = text;
        end = *text == '"' ? unquote(&next) : NULL;
        next += strcspn(next, ",");
        more = *next == ',';
        if (end)
            *end = 0;
        else
            trim_end(begin, next);
        if (count < max)
            fields[count] = begin;
        count++;
        if (!more)
            return count;
        text = next + 1;
    }
}

bool line_number(const char *text, double *number)
{
    char *end;
    double value;

    if (!*text || text[strspn(text, "0123456789+-.eE")])
        return false;
    value = strtod(text, &end);
    if (*end || !(fabs(value) <= NUMBER_MAX))
        return false;
    *number = value;
    return true;
}

bool line_is_printable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return true;
}

size_t lines_mark_bytes(const char *text, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t bytes = sizeof(mark) - 1;

    return length >= bytes && memcmp(text, mark, bytes) == 0 ? bytes : 0;
}
