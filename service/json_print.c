/* json_print.c - structs to JSON text, by their tables. */
#include "service/json.h"

#include "service/log.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FIRST_SIZE = 1024,
    DOUBLE_UP_TO = 16 * 1024 * 1024, /* larger texts grow by a quarter */
    BROKEN_PROMISES_LOGGED = 100
};

static uint64_t broken_promises;

uint64_t json_broken_promises(void)
{
    return __atomic_load_n(&broken_promises, __ATOMIC_RELAXED);
}

/* The row promises a value and there is none, or a whole number and it has a fraction: a
 * bug, which must not go unseen. */
static void break_promise(const struct json_object *table, const struct json_field *f,
                          const char *what)
{
    if (__atomic_fetch_add(&broken_promises, 1, __ATOMIC_RELAXED) <
        BROKEN_PROMISES_LOGGED)
        log_write(LOG_ERROR, "%s.%s has %s, but its description promises otherwise",
                  table->name, f->name, what);
    assert(!"a member is not what its description promises");
}

/* Makes room for `more` bytes and a NUL. */
static bool reserve(struct text_buffer *b, size_t more)
{
    size_t size = b->size ? b->size : FIRST_SIZE;
    char *data;

    if (b->failed)
        return false;
    if (b->length + more < b->size)
        return true;
    while (size <= b->length + more)
        size += size < DOUBLE_UP_TO ? size : size / 4;
    data = arena_try_extend(b->arena, b->data, 1, b->size, size);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->size = size;
    return true;
}

void text_add(struct text_buffer *b, const char *text, size_t length)
{
    if (!reserve(b, length))
        return;
    memcpy(b->data + b->length, text, length);
    b->length += length;
    b->data[b->length] = 0;
}

/* Mostly there is room, and it is printed once. */
void text_addf(struct text_buffer *b, const char *format, ...)
{
    va_list args, again;
    size_t room = b->failed ? 0 : b->size - b->length;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(room > 0 ? b->data + b->length : NULL, room, format, args);
    if (length >= 0 && (size_t)length < room) {
        b->length += (size_t)length;
    } else if (length >= 0 && reserve(b, (size_t)length)) {
        vsnprintf(b->data + b->length, (size_t)length + 1, format, again);
        b->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

enum error_code text_finish(struct text_buffer *b, struct error *err)
{
    text_add(b, "", 0);
    return b->failed ? fail_memory(err) : OK;
}

char *text_end(struct text_buffer *b)
{
    if (b->failed)
        arena_leave(b->arena);
    return b->data;
}

void text_add_encoded(struct text_buffer *b, const char *text, bool is_path)
{
    for (const char *c = text; *c; c++) {
        bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
                     (*c >= 'A' && *c <= 'Z') || strchr("-._~", *c) ||
                     (is_path && *c == '/');

        if (plain)
            text_add(b, c, 1);
        else
            text_addf(b, "%%%02X", (unsigned)(unsigned char)*c);
    }
}

static void add_char(struct text_buffer *b, char c)
{
    if (b->length + 1 < b->size && !b->failed) {
        b->data[b->length++] = c;
        b->data[b->length] = 0;
    } else {
        text_add(b, &c, 1);
    }
}

void json_print_text(const char *text, struct text_buffer *b)
{
    const char *plain = text; /* start of what needs no escape */
    const char *p = text;

    add_char(b, '"');
    for (; *p; p++) {
        unsigned char c = (unsigned char)*p;

        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        text_add(b, plain, (size_t)(p - plain));
        plain = p + 1;
        if (c == '"' || c == '\\') {
            add_char(b, '\\');
            add_char(b, (char)c);
        } else {
            text_addf(b, "\\u%04x", c);
        }
    }
    text_add(b, plain, (size_t)(p - plain));
    add_char(b, '"');
}

static void print_whole(uint64_t n, bool negative, struct text_buffer *b)
{
    char digits[24];
    size_t i = sizeof(digits);

    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    if (negative)
        digits[--i] = '-';
    text_add(b, digits + i, sizeof(digits) - i);
}

/* A number k / 10^decimals, without printf: such a quotient is rounded once, so
 * the digits of k with a point in them read back the same. */
static bool print_decimal(double number, size_t decimals, uint64_t scale,
                          struct text_buffer *b)
{
    double scaled = fabs(number) * (double)scale;
    uint64_t k, whole;
    char digits[16] = ".";
    size_t length = decimals + 1;

    if (!(scaled < 4503599627370496.0)) /* 2^52: k and its half are exact */
        return false;
    k = (uint64_t)(scaled + 0.5);
    if ((double)k / (double)scale != fabs(number))
        return false;
    whole = k / scale;
    k %= scale;
    print_whole(whole, number < 0, b);
    for (size_t i = decimals; i > 0; i--, k /= 10)
        digits[i] = (char)('0' + k % 10);
    while (length > 1 && digits[length - 1] == '0')
        length--;
    text_add(b, digits, length);
    return true;
}

/* Of the size that computed times have: with so many decimals it hardly ever is
 * a short number, and to find out takes as long as to print it. */
static bool is_usual(double number)
{
    return fabs(number) >= 1e-3 && fabs(number) < 1e12;
}

enum { DIGITS = 17 }; /* these tell every double from its neighbours */

/* Of a usual number, rounded to DIGITS digits: their value, and the exponent of the
 * first. The number is m * 2^e, and what is looked for m * 5^k * 2^(e + k): m has 53
 * bits, 5^k at most 45, and e + k is below 0, so nothing is lost before the last shift.
 */
static uint64_t leading_digits(double number, int *exponent)
{
    static const double powers[] = {1e-3, 1e-2, 1e-1, 1,   1e1, 1e2,  1e3, 1e4,
                                    1e5,  1e6,  1e7,  1e8, 1e9, 1e10, 1e11};
    const uint64_t least = 10000000000000000; /* the smallest of DIGITS digits */
    __extension__ typedef unsigned __int128 product;
    size_t at = sizeof(powers) / sizeof(powers[0]) - 1;
    uint64_t digits, power = 1;
    int binary, k, shift;
    product exact, rest, half;

    while (number < powers[at])
        at--;
    *exponent = (int)at - 3;
    k = DIGITS - 1 - *exponent;
    for (int i = 0; i < k; i++)
        power *= 5;
    exact = (product)(uint64_t)ldexp(frexp(number, &binary), 53) * power;
    shift = 53 - binary - k;
    half = (product)1 << (shift - 1);
    rest = exact & (2 * half - 1);
    digits = (uint64_t)(exact >> shift);
    digits += rest > half || (rest == half && digits & 1);
    if (digits < 10 * least)
        return digits;
    ++*exponent;
    return least;
}

/* The same characters as of "%.17g", many times as fast. */
static void print_usual(double number, struct text_buffer *b)
{
    char text[32], *p = text + sizeof(text);
    int exponent, decimals;
    uint64_t digits = leading_digits(fabs(number), &exponent);

    decimals = DIGITS - 1 - exponent;
    for (; decimals > 0 && digits % 10 == 0; decimals--)
        digits /= 10;
    if (decimals > 0) {
        for (int i = 0; i < decimals; i++, digits /= 10)
            *--p = (char)('0' + digits % 10);
        *--p = '.';
    }
    do {
        *--p = (char)('0' + digits % 10);
        digits /= 10;
    } while (digits);
    if (number < 0)
        *--p = '-';
    text_add(b, p, (size_t)(text + sizeof(text) - p));
}

static void print_boolean(bool is_true, struct text_buffer *b)
{
    text_add(b, is_true ? "true" : "false", is_true ? 4 : 5);
}

void json_print_number(double number, struct text_buffer *b)
{
    char text[40];
    int length;

    if (!isfinite(number)) {
        text_add(b, "null", 4);
        return;
    }
    if (fabs(number) <= JSON_EXACT && number == (double)(int64_t)number) {
        print_whole((uint64_t)fabs(number), number < 0, b);
        return;
    }
    if (print_decimal(number, 6, 1000000, b) || print_decimal(number, 9, 1000000000, b))
        return;
    if (is_usual(number)) {
        print_usual(number, b);
        return;
    }
    /* strfromd() writes as snprintf() does, which costs twice as much here: libquadmath,
     * below LAPACK, hooks into it. */
    length = strfromd(text, sizeof(text), "%.15g", number);
    if (strtod(text, NULL) != number)
        length = strfromd(text, sizeof(text), "%.17g", number);
    text_add(b, text, (size_t)length);
}

const char *instant_print(double at_s, char *buffer, size_t size)
{
    int64_t micros, seconds;
    time_t whole;
    struct tm tm;
    size_t used;

    if (!(at_s >= INSTANT_FIRST_S && at_s < INSTANT_END_S - 1))
        return "";
    micros = llround(at_s * 1e6);
    seconds = micros / 1000000 - (micros % 1000000 < 0);
    micros -= seconds * 1000000;
    whole = (time_t)seconds;
    gmtime_r(&whole, &tm);
    used =
        (size_t)snprintf(buffer, size, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900,
                         tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    if (micros)
        used += (size_t)snprintf(buffer + used, size - used, ".%06d", (int)micros);
    snprintf(buffer + used, size - used, "Z");
    return buffer;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static bool date_is_real(int year, int month, int day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] + (month == 2 && is_leap(year));
}

/* Exactly `count` digits at *p as a number; -1 if there is something else. */
static int take_digits(const char **p, int count)
{
    int value = 0;

    for (int i = 0; i < count; i++, (*p)++) {
        if (**p < '0' || **p > '9')
            return -1;
        value = value * 10 + (**p - '0');
    }
    return value;
}

static bool take_char(const char **p, const char *one_of)
{
    if (!**p || !strchr(one_of, **p))
        return false;
    (*p)++;
    return true;
}

/* "Z" or "+hh:mm": seconds east of Greenwich. */
static bool take_offset(const char **p, int *offset_s)
{
    int sign = **p == '-' ? -1 : 1;
    int hours, minutes;

    *offset_s = 0;
    if (take_char(p, "Zz"))
        return true;
    if (!take_char(p, "+-"))
        return false;
    hours = take_digits(p, 2);
    if (hours < 0 || hours > 23 || !take_char(p, ":"))
        return false;
    minutes = take_digits(p, 2);
    if (minutes < 0 || minutes > 59)
        return false;
    *offset_s = sign * (hours * 3600 + minutes * 60);
    return true;
}

bool instant_read(const char *text, double *at_s)
{
    const char *p = text;
    struct tm tm = {0};
    double fraction = 0, scale = 0.1;
    int offset_s;
    int year = take_digits(&p, 4);
    int month = take_char(&p, "-") ? take_digits(&p, 2) : -1;
    int day = take_char(&p, "-") ? take_digits(&p, 2) : -1;

    if (year < 0 || !date_is_real(year, month, day) || !take_char(&p, "Tt "))
        return false;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    tm.tm_mday = day;
    tm.tm_hour = take_digits(&p, 2);
    tm.tm_min = take_char(&p, ":") ? take_digits(&p, 2) : -1;
    tm.tm_sec = take_char(&p, ":") ? take_digits(&p, 2) : -1;
    if (tm.tm_hour < 0 || tm.tm_hour > 23 || tm.tm_min < 0 || tm.tm_min > 59 ||
        tm.tm_sec < 0 || tm.tm_sec > 60)
        return false;
    if (take_char(&p, ".")) {
        if (*p < '0' || *p > '9')
            return false;
        for (; *p >= '0' && *p <= '9'; p++, scale /= 10)
            fraction += scale * (*p - '0');
    }
    if (!take_offset(&p, &offset_s) || *p)
        return false;
    fraction += (double)timegm(&tm) - offset_s;
    if (!(fraction >= INSTANT_FIRST_S && fraction < INSTANT_END_S - 1))
        return false;
    *at_s = fraction;
    return true;
}

static void print_value(const struct named_value *v, struct text_buffer *b)
{
    if (v->type == VALUE_TEXT)
        json_print_text(v->text, b);
    else if (v->type == VALUE_NUMBER)
        json_print_number(v->number, b);
    else if (v->type == VALUE_BOOLEAN)
        print_boolean(v->number != 0, b);
    else
        text_add(b, "null", 4);
}

static void print_values(const struct named_value *values, size_t count,
                         struct text_buffer *b)
{
    add_char(b, '{');
    for (size_t i = 0; i < count; i++) {
        if (i)
            add_char(b, ',');
        json_print_text(values[i].name, b);
        add_char(b, ':');
        print_value(&values[i], b);
    }
    add_char(b, '}');
}

static void print_element(const struct json_object *table, const struct json_field *f,
                          double number, struct text_buffer *b)
{
    if (!isfinite(number) && !(f->flags & JSON_NULLABLE))
        break_promise(table, f, "no value");
    json_print_number(number, b);
}

enum { ELEMENT_STEPS = 64 }; /* what one costs, about */

static void print_elements(const struct json_object *table, const struct json_field *f,
                           const char *base, struct text_buffer *b)
{
    const char *list = *(const char *const *)(const void *)(base + f->offset);
    size_t count = *(const size_t *)(const void *)(base + f->count_offset);

    add_char(b, '[');
    for (size_t i = 0; i < count; i++) {
        if (json_is_over(ELEMENT_STEPS)) {
            b->failed = true;
            return;
        }
        if (i)
            add_char(b, ',');
        if (f->type == JSON_TYPE_LIST)
            json_print(f->of, list + i * f->of->size, b);
        else if (f->type == JSON_TYPE_NUMBERS)
            print_element(table, f, ((const double *)(const void *)list)[i], b);
        else
            json_print_text(((const char *const *)(const void *)list)[i], b);
    }
    add_char(b, ']');
}

static double number_at(const struct json_field *f, const char *base)
{
    return *(const double *)(const void *)(base + f->offset);
}

static const char *text_at(const struct json_field *f, const char *base)
{
    return *(const char *const *)(const void *)(base + f->offset);
}

static bool has_value(const struct json_field *f, const char *base)
{
    switch (f->type) {
    case JSON_TYPE_NUMBER:
        return isfinite(number_at(f, base));
    case JSON_TYPE_INSTANT: /* a later one cannot be written, nor be read again */
        return number_at(f, base) >= INSTANT_FIRST_S &&
               number_at(f, base) < INSTANT_END_S - 1;
    case JSON_TYPE_INTEGER:
        return *(const uint64_t *)(const void *)(base + f->offset) <=
               (uint64_t)JSON_EXACT;
    case JSON_TYPE_CHOICE:
        return *(const int *)(const void *)(base + f->offset) >= 0;
    case JSON_TYPE_BOOLEAN:
        if (f->flags & JSON_MAYBE)
            return !isnan(number_at(f, base));
        return !(f->flags & JSON_OPTIONAL) || *(const bool *)(base + f->offset);
    case JSON_TYPE_TEXT:
    case JSON_TYPE_RAW:
        return text_at(f, base) != NULL;
    case JSON_TYPE_OBJECT:
        return !(f->flags & JSON_POINTER) || text_at(f, base) != NULL;
    case JSON_TYPE_LIST:
    case JSON_TYPE_NUMBERS:
    case JSON_TYPE_TEXTS:
    case JSON_TYPE_VALUES:
        return *(const size_t *)(const void *)(base + f->count_offset) > 0;
    default:
        return true;
    }
}

static void print_instant(double at_s, struct text_buffer *b)
{
    char buffer[48];

    json_print_text(instant_print(at_s, buffer, sizeof(buffer)), b);
}

/* The value of a member that has one. */
static void print_member(const struct json_object *table, const struct json_field *f,
                         const char *base, struct text_buffer *b)
{
    const void *at = base + f->offset;

    switch (f->type) {
    case JSON_TYPE_NUMBER:
        if (f->flags & JSON_WHOLE && number_at(f, base) != floor(number_at(f, base)))
            break_promise(table, f, "a fraction");
        json_print_number(number_at(f, base) / (f->flags & JSON_PERCENT ? 100 : 1), b);
        break;
    case JSON_TYPE_INTEGER:
        print_whole(*(const uint64_t *)at, false, b);
        break;
    case JSON_TYPE_BOOLEAN:
        print_boolean(f->flags & JSON_MAYBE ? number_at(f, base) > 0 : *(const bool *)at,
                      b);
        break;
    case JSON_TYPE_TEXT:
        json_print_text(text_at(f, base), b);
        break;
    case JSON_TYPE_CHOICE:
        json_print_text(f->choices[*(const int *)at], b);
        break;
    case JSON_TYPE_INSTANT:
        print_instant(number_at(f, base), b);
        break;
    case JSON_TYPE_OBJECT:
        json_print(f->of, f->flags & JSON_POINTER ? (const void *)text_at(f, base) : at,
                   b);
        break;
    case JSON_TYPE_VALUES:
        print_values(*(const struct named_value *const *)at,
                     *(const size_t *)(const void *)(base + f->count_offset), b);
        break;
    case JSON_TYPE_RAW:
        text_add(b, text_at(f, base), strlen(text_at(f, base)));
        break;
    case JSON_TYPE_LIST:
    case JSON_TYPE_NUMBERS:
    case JSON_TYPE_TEXTS:
        print_elements(table, f, base, b);
        break;
    case JSON_TYPE_KIND: /* json_print() */
    case JSON_END:
        break;
    }
}

/* Lists and objects of values are printed also when empty, unless optional. */
static bool prints_when_empty(enum json_type type)
{
    return type == JSON_TYPE_LIST || type == JSON_TYPE_NUMBERS ||
           type == JSON_TYPE_TEXTS || type == JSON_TYPE_VALUES;
}

/* null, or the list without elements. What is printed to be read again may be null where
 * the reader takes that as absent. */
static void print_nothing(const struct json_object *table, const struct json_field *f,
                          const char *base, struct text_buffer *b)
{
    if (prints_when_empty(f->type)) {
        print_member(table, f, base, b);
        return;
    }
    if (!(f->flags & (JSON_MAY_BE_NULL | JSON_NULLABLE)))
        break_promise(table, f, "no value");
    text_add(b, "null", 4);
}

static void print_kind(const struct json_field *f, const char *base,
                       struct text_buffer *b)
{
    const struct json_of_kind *of = (const void *)(base + f->offset);

    if (of->value)
        json_print(f->kinds[of->kind].of, of->value, b);
    else
        text_add(b, "{}", 2);
}

/* Of what is read again: a list that is not there is another thing than an empty one. */
static bool is_not_given(const struct json_field *f, const char *base)
{
    if (prints_when_empty(f->type))
        return *(const void *const *)(const void *)(base + f->offset) == NULL;
    return true;
}

/* Its preset says that it is not given, and may be out of its bounds. */
static bool has_bare_preset(const struct json_field *f, const char *base)
{
    return f->type == JSON_TYPE_INTEGER && f->flags & JSON_BOUND_ONLY &&
           (double)*(const uint64_t *)(const void *)(base + f->offset) == f->preset;
}

void json_print(const struct json_object *table, const void *in, struct text_buffer *b)
{
    const char *base = in;
    bool first = true;

    if (table->fields->type == JSON_TYPE_KIND) {
        print_kind(table->fields, base, b);
        return;
    }
    add_char(b, '{');
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        bool present = has_value(f, base);

        if (!present &&
            (f->flags & JSON_OPTIONAL || (b->prints_request && is_not_given(f, base))))
            continue;
        if (b->prints_request && has_bare_preset(f, base))
            continue;
        if (!first)
            add_char(b, ',');
        first = false;
        add_char(b, '"');
        text_add(b, f->name, strlen(f->name));
        text_add(b, "\":", 2);
        if (present)
            print_member(table, f, base, b);
        else
            print_nothing(table, f, base, b);
    }
    add_char(b, '}');
}
