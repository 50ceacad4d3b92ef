/* xml_text.c - XML documents of any usual encoding as UTF-8. */
#include "service/xml_text.h"

#include "service/json.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { LINE_STEPS = 256 }; /* what a line costs, about */

enum encoding {
    UTF_8,
    ASCII,
    LATIN_1,
    LATIN_9,
    WINDOWS_1252,
    UTF_16_LE,
    UTF_16_BE,
    UNKNOWN
};

static const struct {
    const char *name;
    enum encoding encoding;
} names[] = {
    {"UTF-8", UTF_8},         {"UTF8", UTF_8},          {"US-ASCII", ASCII},
    {"ASCII", ASCII},         {"ISO-8859-1", LATIN_1},  {"ISO8859-1", LATIN_1},
    {"ISO_8859-1", LATIN_1},  {"LATIN1", LATIN_1},      {"ISO-8859-15", LATIN_9},
    {"ISO8859-15", LATIN_9},  {"ISO_8859-15", LATIN_9}, {"WINDOWS-1252", WINDOWS_1252},
    {"CP1252", WINDOWS_1252},
};

/* Characters of 0x80 to 0x9f; 0: there is none. */
static const uint16_t windows_1252[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
    0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
};

struct reader {
    const unsigned char *at, *end;
    enum encoding encoding;
};

/* ---- which encoding ---- */

/* The value of `encoding` in the declaration; *length 0: it says none. */
static const char *declared(const char *text, size_t length, size_t *name_length)
{
    static const char word[] = "encoding";
    const char *end = length < 6 || memcmp(text, "<?xml", 5) != 0
                          ? NULL
                          : memmem(text, length, "?>", 2);
    const char *at = end ? memmem(text, (size_t)(end - text), word, strlen(word)) : NULL;
    const char *close;

    *name_length = 0;
    if (!at)
        return NULL;
    at += strlen(word);
    at += strspn(at, " \t\r\n");
    if (*at != '=')
        return NULL;
    at++;
    at += strspn(at, " \t\r\n");
    if (*at != '"' && *at != '\'')
        return NULL;
    close = memchr(at + 1, *at, (size_t)(end - at - 1));
    if (!close)
        return NULL;
    *name_length = (size_t)(close - at - 1);
    return at + 1;
}

/* Sets where the document begins, behind a mark, and how it is written. */
static enum error_code open_text(struct reader *r, const char *text, size_t length,
                                 const char *pointer, struct error *err)
{
    size_t name_length;
    const char *name;

    *r = (struct reader){(const unsigned char *)text,
                         (const unsigned char *)text + length, UTF_8};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        r->at += 3;
        return OK;
    }
    if (length >= 2 &&
        (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        r->encoding = r->at[0] == 0xff ? UTF_16_LE : UTF_16_BE;
        r->at += 2;
        return OK;
    }
    name = declared(text, length, &name_length);
    if (!name)
        return OK;
    r->encoding = UNKNOWN;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i].name) == name_length &&
            strncasecmp(names[i].name, name, name_length) == 0)
            r->encoding = names[i].encoding;
    return r->encoding == UNKNOWN
               ? invalid(err, pointer, ITEM_UNKNOWN_ENCODING,
                         "line 1: the encoding '%.*s' is not known; UTF-8, UTF-16, "
                         "US-ASCII, ISO-8859-1, ISO-8859-15 and windows-1252 are",
                         name_length < 40 ? (int)name_length : 40, name)
               : OK;
}

/* ---- characters ---- */

static uint32_t of_byte(unsigned char c, enum encoding encoding)
{
    static const struct {
        unsigned char byte;
        uint16_t character;
    } latin_9[] = {{0xa4, 0x20ac}, {0xa6, 0x160}, {0xa8, 0x161}, {0xb4, 0x17d},
                   {0xb8, 0x17e},  {0xbc, 0x152}, {0xbd, 0x153}, {0xbe, 0x178}};

    if (encoding == ASCII && c >= 0x80)
        return 0;
    if (encoding == WINDOWS_1252 && c >= 0x80 && c < 0xa0)
        return windows_1252[c - 0x80];
    for (size_t i = 0; encoding == LATIN_9 && i < 8; i++)
        if (latin_9[i].byte == c)
            return latin_9[i].character;
    return c;
}

/* A character of UTF-8, 0: there is none. */
static uint32_t of_utf8(struct reader *r)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = *r->at;
    size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t c = length == 1 ? first : first & (0x7fU >> length);

    if ((first & 0xc0) == 0x80 || first >= 0xf8 || (size_t)(r->end - r->at) < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((r->at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (r->at[i] & 0x3fU);
    }
    r->at += length;
    return c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : c;
}

static uint32_t unit_of_utf16(const struct reader *r, size_t place)
{
    const unsigned char *p = r->at + 2 * place;

    return r->encoding == UTF_16_LE ? p[0] | (uint32_t)p[1] << 8
                                    : p[1] | (uint32_t)p[0] << 8;
}

static uint32_t of_utf16(struct reader *r)
{
    uint32_t high, low;

    if (r->end - r->at < 2)
        return 0;
    high = unit_of_utf16(r, 0);
    if (high < 0xd800 || high >= 0xe000) {
        r->at += 2;
        return high;
    }
    low = r->end - r->at >= 4 ? unit_of_utf16(r, 1) : 0;
    if (high >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
        return 0;
    r->at += 4;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* The next character; 0: bytes that are none, or NUL. */
static uint32_t next_character(struct reader *r)
{
    if (r->encoding == UTF_8)
        return of_utf8(r);
    if (r->encoding == UTF_16_LE || r->encoding == UTF_16_BE)
        return of_utf16(r);
    return of_byte(*r->at++, r->encoding);
}

static char *put_character(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (c & 0x3f));
    return to;
}

enum error_code xml_text_to_utf8(const char *text, size_t length, const char *pointer,
                                 const char **out, size_t *out_length, struct arena *a,
                                 struct error *err)
{
    unsigned long long line = 1;
    struct reader r;
    char *copy, *to;

    TRY(open_text(&r, text, length, pointer, err));
    copy = to = TRY_NEW(a, char, 3 * length + 1); /* a byte is three in UTF-8 at most */
    if (!copy)
        return fail_memory(err);
    while (r.at < r.end) {
        unsigned char byte = *r.at;
        uint32_t c = next_character(&r);

        if (c == 0)
            return invalid(err, pointer, ITEM_MALFORMED,
                           "line %llu: byte 0x%02x is not of the document's encoding",
                           line, byte);
        if (c == '\n')
            TRY(json_go_on(LINE_STEPS, err));
        line += c == '\n';
        to = put_character(to, c);
    }
    *to = 0;
    *out = copy;
    *out_length = (size_t)(to - copy);
    return OK;
}
