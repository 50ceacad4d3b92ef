/* json_scan.c - the checks on JSON text that cJSON does not make.
 *
 * cJSON takes any byte up to 0x20 for white space, lets control characters and
 * broken UTF-8 into strings, ends a string at \u0000, reads numbers with
 * strtod, and recurses. One pass over the bytes, before it sees them, closes
 * these doors. Cost: linear, no memory.
 */
#include "service/json_scan.h"

#include "models/base/budget_read.h"

#include <stdint.h>
#include <string.h>

struct scan {
    const unsigned char *at, *start, *end;
    struct error *err;
};

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool is_letter(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Between the bracket there and what stands before it, or before other brackets. */
static bool ends_in_comma(const char *text, size_t at)
{
    size_t i = at;

    if (text[at] != '}' && text[at] != ']')
        return false;
    while (i > 0 && (is_space((unsigned char)text[i - 1]) || text[i - 1] == '}' ||
                     text[i - 1] == ']'))
        i--;
    return i > 0 && text[i - 1] == ',';
}

/* Brackets that are open at the end, those in strings aside. */
static long open_count(const char *text, size_t length)
{
    bool in_string = false;
    long count = 0;

    for (size_t i = 0; i < length; i++) {
        if (in_string && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            in_string = !in_string;
        else if (!in_string)
            count +=
                (text[i] == '{' || text[i] == '[') - (text[i] == '}' || text[i] == ']');
    }
    return count;
}

/* What other languages write there, and JSON does not; NULL: it is nothing of that. */
static const char *meant(const char *text, size_t length, size_t at)
{
    static const struct {
        const char *begins, *hint;
    } foreign[] = {
        {"'", "strings stand in double quotes"},
        {".", "a number begins with a digit: 0.5"},
        {"+", "a number has no plus before it"},
        {"@", "this is the name of a file, not what stands in it"},
        {"/", "JSON has no comments"},
        {"#", "JSON has no comments"},
        {"NaN", "JSON has no NaN; leave the member out"},
        {"nan", "JSON has no NaN; leave the member out"},
        {"Inf", "JSON has no infinity; leave the member out"},
        {"-Inf", "JSON has no infinity; leave the member out"},
        {"inf", "JSON has no infinity; leave the member out"},
        {"True", "did you mean true?"},
        {"False", "did you mean false?"},
        {"None", "did you mean null?"},
        {"\\", "behind a backslash stands one of \" \\ / b f n r t, or u and four hex "
               "digits; \\uD800 to \\uDFFF come in pairs"},
        {"\xef\xbb\xbf", "leave out the byte order mark; JSON is UTF-8 anyway"},
    };
    size_t before = at;

    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        size_t n = strlen(foreign[i].begins);

        if (length - at >= n && memcmp(text + at, foreign[i].begins, n) == 0)
            return foreign[i].hint;
    }
    while (before > 0 && is_space((unsigned char)text[before - 1]))
        before--;
    if (at < length && ends_in_comma(text, at))
        return "the last one has no comma behind it";
    if (at + 1 >= length && open_count(text, length) > 0)
        return "a bracket is not closed";
    while (at + 1 < length && (text[at] == '{' || is_space((unsigned char)text[at])))
        at++;
    if (at >= length)
        return NULL;
    if (is_letter(text[at]) || (before > 0 && is_letter(text[before - 1])))
        return "names and texts stand in double quotes";
    return NULL;
}

enum error_code json_refuse(const char *text, size_t length, size_t at, const char *what,
                            struct error *err)
{
    size_t line = 1, column = 1;

    err->hint = meant(text, length, at);
    for (const char *p = text; p < text + at; p++) {
        column++;
        if (*p == '\n') {
            line++;
            column = 1;
        }
    }
    return fail(err, ERR_MALFORMED, "", "not JSON: line %zu, column %zu (byte %zu): %s",
                line, column, at + 1, what);
}

static enum error_code refuse(const struct scan *s, const char *what)
{
    return json_refuse((const char *)s->start, (size_t)(s->end - s->start),
                       (size_t)(s->at - s->start), what, s->err);
}

/* As refuse(), of a text in quotes: what else could be meant there does not matter. */
static enum error_code refuse_text(const struct scan *s, const char *what,
                                   const char *hint)
{
    enum error_code code = refuse(s, what);

    s->err->hint = hint;
    return code;
}

static bool is_continuation(const struct scan *s, size_t i)
{
    return s->at + i < s->end && (s->at[i] & 0xc0) == 0x80;
}

/* Steps over one character beyond ASCII; false if it is not UTF-8. */
static bool skip_multibyte(struct scan *s)
{
    unsigned char c = s->at[0];
    unsigned char next = s->at + 1 < s->end ? s->at[1] : 0;
    size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

    if (c < 0xc2 || c > 0xf4)
        return false;
    if ((c == 0xe0 && next < 0xa0) || (c == 0xed && next > 0x9f) ||
        (c == 0xf0 && next < 0x90) || (c == 0xf4 && next > 0x8f))
        return false; /* overlong, a surrogate, or beyond U+10FFFF */
    for (size_t i = 1; i < length; i++)
        if (!is_continuation(s, i))
            return false;
    s->at += length;
    return true;
}

/* From the opening quote to behind the closing one. */
static enum error_code scan_string(struct scan *s)
{
    for (s->at++; s->at < s->end && *s->at != '"';) {
        if (*s->at < 0x20)
            return refuse_text(
                s, "a control character in a string; write it as \\n, \\t or \\uXXXX",
                NULL);
        if (*s->at >= 0x80) {
            if (!skip_multibyte(s))
                return refuse_text(s, "bytes that are not UTF-8", NULL);
            continue;
        }
        if (*s->at == '\\' && s->end - s->at >= 6 && memcmp(s->at, "\\u0000", 6) == 0)
            return refuse_text(s, "U+0000 in a string", "leave it out");
        s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
    }
    if (s->at >= s->end)
        return refuse_text(s, "a string without its end", "close it with \"");
    s->at++;
    return OK;
}

static size_t skip_digits(struct scan *s)
{
    const unsigned char *from = s->at;

    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return (size_t)(s->at - from);
}

static enum error_code scan_number(struct scan *s)
{
    const unsigned char *from = s->at;
    bool leading_zero;

    if (*s->at == '-')
        s->at++;
    leading_zero = s->at < s->end && *s->at == '0';
    if (skip_digits(s) == 0 || (leading_zero && s->at[-1] != '0') ||
        (leading_zero && s->at - from > (*from == '-' ? 2 : 1)))
        return refuse(s, "this is not a JSON number");
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (skip_digits(s) == 0)
            return refuse(s, "digits are missing behind the decimal point");
    }
    if (s->at < s->end && (*s->at | 0x20) == 'e') {
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        if (skip_digits(s) == 0)
            return refuse(s, "digits are missing in the exponent");
    }
    if (s->at - from > 60)
        return refuse(s, "a number of more than 60 characters");
    return OK;
}

static bool is_between(unsigned char c)
{
    return is_space(c) || c == ':' || c == ',' || (c >= 'a' && c <= 'z');
}

/* A text, a number, a bracket, or a character between them. */
static enum error_code scan_token(struct scan *s, size_t *depth, size_t depth_max)
{
    unsigned char c = *s->at;

    if (c == '"')
        return scan_string(s);
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(s);
    if (c == '{' || c == '[') {
        if (++*depth > depth_max)
            return refuse(s, "nested too deeply");
    } else if (c == '}' || c == ']') {
        *depth -= *depth > 0;
    } else if (!is_between(c)) {
        return refuse(s, c < 0x20 ? "a control character" : "an unexpected character");
    }
    s->at++;
    return OK;
}

enum { TOKEN_STEPS = 16 }; /* what a comma and what is before it cost, about */

enum error_code json_scan(const char *text, size_t length, size_t depth_max,
                          struct error *err)
{
    struct scan s = {(const unsigned char *)text, (const unsigned char *)text,
                     (const unsigned char *)text + length, err};
    size_t depth = 0;

    while (s.at < s.end) {
        if (*s.at == ',' && budget_read_step(TOKEN_STEPS))
            return fail(err, ERR_CANCELLED, "", "the client went away");
        TRY(scan_token(&s, &depth, depth_max));
    }
    return OK;
}

size_t json_utf8_length(const char *text, size_t length)
{
    struct scan s = {(const unsigned char *)text, (const unsigned char *)text,
                     (const unsigned char *)text + length, NULL};

    while (s.at < s.end) {
        if (*s.at < 0x80)
            s.at++;
        else if (!skip_multibyte(&s))
            break;
    }
    return (size_t)(s.at - s.start);
}

bool json_is_utf8(const char *text, size_t length)
{
    return json_utf8_length(text, length) == length;
}
