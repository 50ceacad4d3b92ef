/* json_walk.c - a JSON text without a tree. Cost: linear in the text. */
#include "models/json_walk.h"

#include "models/base/budget_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBER_MAX_BYTES = 64,
    STRING_FIRST_BYTES = 128,
    VALUE_STEPS = 32 /* what an element or a member costs, about */
};

void json_walk_open(struct json_walk *w, const char *text, size_t length, struct arena *a)
{
    *w = (struct json_walk){.at = text, .start = text, .end = text + length, .arena = a};
}

static void refuse(struct json_walk *w, const char *what)
{
    if (w->failed)
        return;
    w->failed = true;
    w->what = what;
}

static void skip_blanks(struct json_walk *w)
{
    while (w->at < w->end &&
           (*w->at == ' ' || *w->at == '\n' || *w->at == '\t' || *w->at == '\r'))
        w->at++;
}

/* The next character that is no blank; 0: none, or failed. */
static char peek(struct json_walk *w)
{
    if (w->failed)
        return 0;
    skip_blanks(w);
    return w->at < w->end ? *w->at : 0;
}

char json_walk_type(struct json_walk *w)
{
    char c = peek(w);

    if (c == '-' || (c >= '0' && c <= '9'))
        return '0';
    return c && strchr("{[\"tfn", c) ? c : 0;
}

bool json_walk_enter(struct json_walk *w, char open)
{
    if (peek(w) != open) {
        refuse(w, open == '{' ? "an object is expected" : "a list is expected");
        return false;
    }
    if (++w->depth > JSON_WALK_DEPTH_MAX) {
        refuse(w, "nested too deeply");
        return false;
    }
    w->at++;
    w->first = true;
    return true;
}

bool json_walk_enter_if(struct json_walk *w, char open)
{
    if (json_walk_type(w) == open)
        return json_walk_enter(w, open);
    json_walk_skip(w);
    return false;
}

/* Whether the innermost list or object goes on, at its next item. */
static bool goes_on(struct json_walk *w, char close)
{
    char c = peek(w);

    if (c == close) {
        w->at++;
        w->depth--;
        w->first = false;
        return false;
    }
    if (budget_read_step(VALUE_STEPS)) {
        w->failed = w->cancelled = true;
        return false;
    }
    if (!w->first && c != ',') {
        refuse(w, close == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
        return false;
    }
    if (!w->first) {
        w->at++;
        skip_blanks(w);
    }
    w->first = false;
    return !w->failed;
}

bool json_walk_element(struct json_walk *w)
{
    return goes_on(w, ']');
}

const char *json_walk_member(struct json_walk *w)
{
    const char *name;

    if (!goes_on(w, '}'))
        return NULL;
    name = json_walk_string(w);
    if (peek(w) != ':') {
        refuse(w, "':' is expected");
        return NULL;
    }
    w->at++;
    return w->failed ? NULL : name;
}

/* ---- strings ---- */

static void string_room(struct json_walk *w, size_t size)
{
    size_t doubled = w->string_size ? w->string_size : STRING_FIRST_BYTES;

    if (size <= w->string_size)
        return;
    while (doubled < size)
        doubled *= 2;
    w->string = NEW(w->arena, char, doubled);
    w->string_size = doubled;
}

/* Length of the string that begins behind `at`, to its closing quote, as written. */
static size_t written_length(struct json_walk *w)
{
    const char *p = w->at;

    while (p < w->end && *p != '"') {
        if ((unsigned char)*p < 0x20)
            break;
        p += *p == '\\' && w->end - p > 1 ? 2 : 1;
    }
    if (p >= w->end || *p != '"') {
        w->at = p < w->end ? p : w->end;
        refuse(w, p < w->end ? "a control character in a string"
                             : "a string without its end");
        return 0;
    }
    return (size_t)(p - w->at);
}

/* Four hexadecimal digits at `p`; -1: there are not. */
static int hex4(const char *p, const char *end)
{
    int value = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static char *put_utf8(char *to, int c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* \uXXXX, or two of them, at `p`; *to moves on. Where it goes on; NULL: refused. */
static const char *take_unicode(struct json_walk *w, const char *p, const char *end,
                                char **to)
{
    int c = hex4(p + 2, end);

    p += 6;
    if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        int low = hex4(p + 2, end);

        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        }
    }
    if (c <= 0 || (c >= 0xd800 && c < 0xe000)) {
        refuse(w, "a wrong \\u escape, or U+0000");
        return NULL;
    }
    *to = put_utf8(*to, c);
    return p;
}

/* One escape at `p`. */
static const char *take_escape(struct json_walk *w, const char *p, const char *end,
                               char **to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *found = p[1] ? strchr(names, p[1]) : NULL;

    if (p[1] == 'u')
        return take_unicode(w, p, end, to);
    if (!found) {
        refuse(w, "a wrong escape in a string");
        return NULL;
    }
    *(*to)++ = values[found - names];
    return p + 2;
}

const char *json_walk_string(struct json_walk *w)
{
    const char *p, *end;
    size_t length;
    char *to;

    if (peek(w) != '"') {
        refuse(w, "a string is expected");
        return "";
    }
    w->at++;
    length = written_length(w);
    if (w->failed)
        return "";
    string_room(w, length + 1);
    p = w->at;
    end = p + length;
    to = w->string;
    while (p && p < end) {
        const char *plain = memchr(p, '\\', (size_t)(end - p));
        size_t run = (size_t)((plain ? plain : end) - p);

        memcpy(to, p, run);
        to += run;
        p += run;
        if (p < end)
            p = take_escape(w, p, end, &to);
    }
    *to = 0;
    if (!p)
        return "";
    w->at = end + 1;
    return w->string;
}

/* ---- numbers, and what is passed over ---- */

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* The end of the JSON number at `p`; NULL: it is none. */
static const char *number_end(const char *p, const char *end)
{
    const char *from;

    p += p < end && *p == '-';
    from = p;
    p = digits(p, end);
    if (p == from || (*from == '0' && p - from > 1))
        return NULL;
    if (p < end && *p == '.') {
        from = ++p;
        p = digits(p, end);
        if (p == from)
            return NULL;
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        from = p;
        p = digits(p, end);
        if (p == from)
            return NULL;
    }
    return p;
}

const char *json_walk_text(struct json_walk *w, struct arena *a)
{
    const char *text;

    if (json_walk_type(w) != '"') {
        json_walk_skip(w);
        return NULL;
    }
    text = json_walk_string(w);
    return arena_text(a, text, strlen(text));
}

double json_walk_number(struct json_walk *w)
{
    char text[NUMBER_MAX_BYTES];
    const char *end;
    double number;

    if (json_walk_type(w) != '0') {
        json_walk_skip(w);
        return NAN;
    }
    end = number_end(w->at, w->end);
    if (!end || end - w->at >= NUMBER_MAX_BYTES) {
        refuse(w, "this is not a JSON number");
        return NAN;
    }
    memcpy(text, w->at, (size_t)(end - w->at));
    text[end - w->at] = 0;
    number = strtod(text, NULL);
    w->at = end;
    return isfinite(number) ? number : (double)NAN;
}

static void skip_word(struct json_walk *w, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(w->end - w->at) < length || memcmp(w->at, word, length) != 0)
        refuse(w, "a value is expected");
    else
        w->at += length;
}

static void skip_scalar(struct json_walk *w, char type)
{
    const char *end;

    if (type == '"') {
        w->at++;
        w->at += written_length(w);
        w->at += !w->failed;
    } else if (type == '0') {
        end = number_end(w->at, w->end);
        if (end)
            w->at = end;
        else
            refuse(w, "this is not a JSON number");
    } else {
        skip_word(w, type == 't' ? "true" : type == 'f' ? "false" : "null");
    }
}

/* Steps over a comma and, in an object, a name; false: the end was stepped over. */
static bool skip_to_value(struct json_walk *w, bool object)
{
    if (!goes_on(w, object ? '}' : ']'))
        return false;
    if (!object)
        return true;
    if (peek(w) != '"') {
        refuse(w, "a name is expected");
        return false;
    }
    skip_scalar(w, '"');
    if (peek(w) != ':') {
        refuse(w, "':' is expected");
        return false;
    }
    w->at++;
    return true;
}

void json_walk_skip(struct json_walk *w)
{
    bool object[JSON_WALK_DEPTH_MAX + 1];
    size_t base = w->depth;

    do {
        char type = json_walk_type(w);

        if (type == '{' || type == '[') {
            if (!json_walk_enter(w, type))
                return;
            object[w->depth] = type == '{';
        } else if (type) {
            skip_scalar(w, type);
        } else {
            refuse(w, "a value is expected");
        }
        while (!w->failed && w->depth > base && !skip_to_value(w, object[w->depth]))
            ;
    } while (!w->failed && w->depth > base);
}

enum error_code json_walk_end(struct json_walk *w, const char *pointer, struct error *err)
{
    size_t line = 1, column = 1;

    if (!w->failed && peek(w))
        refuse(w, "there is more text behind the value");
    if (!w->failed)
        return OK;
    if (w->cancelled)
        return fail(err, ERR_CANCELLED, "", "the client went away");
    for (const char *p = w->start; p < w->at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    return invalid(err, pointer, ITEM_MALFORMED, "not JSON: line %zu, column %zu: %s",
                   line, column, w->what);
}
