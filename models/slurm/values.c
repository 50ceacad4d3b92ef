/* values.c - numbers, times, amounts and lists of hosts. */
#include "models/slurm/values.h"

#include "models/base/budget_read.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(text, *words) != 0)
        words++;
    return *words;
}

bool slurm_says_nothing(const char *text)
{
    static const char *const nothing[] = {
        "", "(null)", "N/A", "n/a", "None", "NONE", "Unknown", "None assigned", NULL};

    return !text || is_one_of(text, nothing);
}

/* A number that may mean something else. 2^64 - 1 and - 2 are one double: with either
 * there is nothing that limits. */
static double meant(double number)
{
    if (number == 4294967294.0 || number >= 18446744073709549568.0)
        return NAN;
    return number == 4294967295.0 ? (double)INFINITY : number;
}

static bool is_endless(const char *text)
{
    static const char *const words[] = {"UNLIMITED", "INFINITE", "unlimited",
                                        "infinite",  "Infinite", "18446744073709551615",
                                        "-1",        NULL};

    return is_one_of(text, words);
}

/* Digits with a point at most; where they end. */
static double digits(const char *text, const char **end)
{
    char *behind;
    double number;

    *end = text;
    if (!isdigit((unsigned char)*text) && *text != '-' && *text != '.')
        return NAN;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return NAN;
    number = strtod(text, &behind);
    *end = behind;
    return isfinite(number) ? number : (double)NAN;
}

double slurm_number(const char *text)
{
    const char *end;
    double number;

    if (slurm_says_nothing(text) || strcmp(text, "18446744073709551614") == 0)
        return NAN;
    if (is_endless(text))
        return INFINITY;
    number = digits(text, &end);
    return *end ? (double)NAN : meant(number);
}

/* hours:minutes:seconds and less of it. */
static double clock_s(const char *text, bool has_days, double days)
{
    double part[3] = {0};
    size_t count = 0;
    const char *end = text;

    for (;; text = end + 1) {
        if (count == 3 || !isdigit((unsigned char)*text))
            return NAN;
        part[count++] = digits(text, &end);
        if (*end != ':')
            break;
    }
    if (*end)
        return NAN;
    if (has_days) /* days-hours[:minutes[:seconds]] */
        return days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
    if (count == 3)
        return part[0] * 3600 + part[1] * 60 + part[2];
    return part[0] * 60 + part[1];
}

double slurm_duration_s(const char *text, double unit_s)
{
    static const struct {
        const char *word;
        double s;
    } units[] = {{" sec", 1},
                 {" min", 60},
                 {" hours", 3600},
                 {" usec", 0.000001},
                 {" days", 86400}};
    const char *end;
    double number;

    if (slurm_says_nothing(text) || strcmp(text, "18446744073709551614") == 0)
        return NAN;
    if (is_endless(text))
        return INFINITY;
    number = digits(text, &end);
    if (end == text || number < 0)
        return NAN;
    if (!*end)
        return meant(number) * unit_s;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].word) == 0)
            return number * units[i].s;
    if (*end == '-')
        return clock_s(end + 1, true, number);
    return *end == ':' ? clock_s(text, false, 0) : (double)NAN;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar. */
static double day_number(int year, int month, int day)
{
    int y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;

    int days =
        365 * y + y / 4 - y / 100 + y / 400 + (m * 306 + 5) / 10 + day - 1 - 719468;

    return days;
}

/* What SLURM_TIME_FORMAT may put behind a time: nothing, Z, +0100 or +01:00. */
static bool zone_of(const char *text, double *zone_s)
{
    int hours, minutes, length = 0;

    if (!*text)
        return true;
    if (strcmp(text, "Z") == 0) {
        *zone_s = 0;
        return true;
    }
    if ((*text != '+' && *text != '-') ||
        (sscanf(text + 1, "%2d%2d%n", &hours, &minutes, &length) != 2 &&
         sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &length) != 2) ||
        text[1 + length] || hours < 0 || hours > 15 || minutes < 0 || minutes > 59)
        return false;
    *zone_s = (*text == '-' ? -60.0 : 60.0) * (hours * 60 + minutes);
    return true;
}

double slurm_instant_s(const char *text, double tz_offset_s)
{
    int year, month, day, hour, minute, second, length = 0;
    double number, zone_s = tz_offset_s;

    if (slurm_says_nothing(text))
        return NAN;
    number = slurm_number(text);
    if (!isnan(number))
        return number > 0 && isfinite(number) ? number : (double)NAN;
    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &year, &month, &day, &hour,
               &minute, &second, &length) != 6 ||
        !zone_of(text + length, &zone_s) || year < 1970 || month < 1 || month > 12 ||
        day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
        second < 0 || second > 60)
        return NAN;
    return day_number(year, month, day) * 86400 + hour * 3600 + minute * 60 + second -
           zone_s;
}

bool slurm_is_local(const char *text)
{
    double here_s = slurm_instant_s(text, 0);

    return here_s - slurm_instant_s(text, 3600) > 0;
}

double slurm_bytes(const char *text, bool *per_cpu)
{
    static const char suffixes[] = "KMGTP";
    double number, unit = MIB;
    const char *end, *suffix;

    if (per_cpu)
        *per_cpu = false;
    if (slurm_says_nothing(text) || strcmp(text, "18446744073709551614") == 0)
        return NAN;
    if (is_endless(text))
        return INFINITY;
    number = digits(text, &end);
    if (end == text || number < 0)
        return NAN;
    if (*end && (suffix = strchr(suffixes, toupper((unsigned char)*end)))) {
        unit = pow(1024, (double)(suffix - suffixes + 1));
        end++;
    } else
        number = meant(number);
    if (*end == 'c' || *end == 'n') { /* of a cpu, of a node */
        if (per_cpu)
            *per_cpu = *end == 'c';
        end++;
    }
    return *end ? (double)NAN : number * unit;
}

size_t slurm_split(const char *text, char separator, const char *const **list,
                   struct arena *a)
{
    size_t count = 0, size = 1;
    const char **found;

    *list = NULL;
    if (slurm_says_nothing(text))
        return 0;
    for (const char *at = text; *at; at++)
        size += *at == separator;
    found = NEW(a, const char *, size);
    for (const char *from = text;;) {
        const char *to = from;
        int depth = 0;

        for (; *to && (depth > 0 || *to != separator); to++)
            depth += (*to == '[' || *to == '(') - (*to == ']' || *to == ')');
        if (to > from)
            found[count++] = arena_text(a, from, (size_t)(to - from));
        if (!*to)
            break;
        from = to + 1;
    }
    *list = found;
    return count;
}

size_t slurm_tracked(const char *text, const struct slurm_amount **list, struct arena *a)
{
    const char *const *parts;
    size_t part_count = slurm_split(text, ',', &parts, a), count = 0;
    struct slurm_amount *found = NEW(a, struct slurm_amount, part_count);

    for (size_t i = 0; i < part_count; i++) {
        const char *equals = strchr(parts[i], '='), *colon;
        struct slurm_amount *one = &found[count];

        if (!equals)
            continue;
        one->name = arena_text(a, parts[i], (size_t)(equals - parts[i]));
        if (strncmp(one->name, "gres/", 5) == 0 && (colon = strchr(one->name, ':'))) {
            one->type = arena_text(a, colon + 1, strlen(colon + 1));
            one->name = arena_text(a, one->name, (size_t)(colon - one->name));
        }
        if (strcmp(one->name, "mem") == 0)
            one->count = slurm_bytes(equals + 1, NULL);
        else
            one->count = slurm_number(equals + 1);
        count += isfinite(one->count) && one->count >= 0;
    }
    *list = found;
    return count;
}

/* 2, 4K */
static bool is_count(const char *text, double *count)
{
    const char *end;

    *count = digits(text, &end);
    if (end == text || *count < 0)
        return false;
    if (*end && strchr("kKmMgG", *end)) {
        *count *= *end == 'k' || *end == 'K'   ? 1024
                  : *end == 'm' || *end == 'M' ? MIB
                                               : 1024 * MIB;
        end++;
    }
    return !*end;
}

/* One of a list: "gpu:tesla:2(S:0)" to "gpu:tesla:2". A type that is not known is
 * "(null)", and newer versions have an = before the number. */
static const char *generic_words(const char *from, struct arena *a)
{
    static const char null[] = ":(null)";
    const char *unknown = strstr(from, null);
    char *text, *equals;

    if (unknown)
        from = arena_printf(a, "%.*s%s", (int)(unknown - from), from,
                            unknown + sizeof(null) - 1);
    text = arena_text(a, from, strcspn(from, "("));
    equals = strrchr(text, '=');
    if (equals)
        *equals = ':';
    return text;
}

size_t slurm_generic(const char *text, const struct slurm_amount **list, struct arena *a)
{
    const char *const *parts;
    size_t part_count = slurm_split(text, ',', &parts, a), count = 0;
    struct slurm_amount *found = NEW(a, struct slurm_amount, part_count);

    for (size_t i = 0; i < part_count; i++) {
        const char *from = parts[i];
        const char *const *words;
        struct slurm_amount *one = &found[count];
        size_t word_count;

        if (strncmp(from, "gres:", 5) == 0 || strncmp(from, "gres/", 5) == 0)
            from += 5;
        word_count = slurm_split(generic_words(from, a), ':', &words, a);
        if (word_count == 0)
            continue;
        *one = (struct slurm_amount){.name = words[0], .count = 1};
        if (word_count > 1 && !is_count(words[word_count - 1], &one->count)) {
            one->count = 1;
            one->type = words[1];
        } else if (word_count > 2)
            one->type = words[1];
        count++;
    }
    *list = found;
    return count;
}

double slurm_amount_of(const struct slurm_amount *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!list[i].type && strcmp(list[i].name, name) == 0)
            return list[i].count;
    return 0;
}

/* ---- lists of hosts ---- */

struct hosts {
    struct arena *arena;
    const char **names;
    size_t count, size;
};

static bool add_host(struct hosts *h, const char *text, size_t length)
{
    if (h->count == SLURM_HOSTS_MAX || length == 0 || budget_read_step(length + 8))
        return false;
    if (h->count == h->size) {
        size_t size = h->size ? 2 * h->size : 16;

        h->names = GROW(h->arena, h->names, const char *, h->size, size);
        h->size = size;
    }
    h->names[h->count++] = arena_text(h->arena, text, length);
    return true;
}

enum { HOST_MAX_BYTES = 1024 };

struct range {
    unsigned long long first, last;
    int width;        /* as it is written */
    const char *stop; /* the comma behind it, or `close` */
};

/* "01-03" or "7" in brackets that end at `close`. */
static bool read_range(const char *at, const char *close, struct range *r)
{
    const char *dash;

    if (!isdigit((unsigned char)*at))
        return false;
    r->stop = memchr(at, ',', (size_t)(close - at));
    r->stop = r->stop ? r->stop : close;
    dash = memchr(at, '-', (size_t)(r->stop - at));
    r->width = (int)((dash ? dash : r->stop) - at);
    if (r->width > 18 ||
        (dash && (r->stop - dash > 19 || !isdigit((unsigned char)dash[1]))))
        return false;
    r->first = strtoull(at, NULL, 10);
    r->last = dash ? strtoull(dash + 1, NULL, 10) : r->first;
    return r->last >= r->first && r->last - r->first < SLURM_HOSTS_MAX;
}

static bool expand(struct hosts *h, char *name, size_t length, const char *rest,
                   const char *end);

/* The names of one range, each with all that stands behind the brackets. */
static bool expand_range(struct hosts *h, char *name, size_t length,
                         const struct range *r, const char *rest, const char *end)
{
    for (unsigned long long number = r->first; number <= r->last; number++) {
        int more =
            snprintf(name + length, HOST_MAX_BYTES - length, "%0*llu", r->width, number);

        if (length + (size_t)more >= HOST_MAX_BYTES ||
            !expand(h, name, length + (size_t)more, rest, end))
            return false;
    }
    return true;
}

/* Appends what `rest` (up to `end`) stands for behind the `length` bytes of `name`. */
static bool expand(struct hosts *h, char *name, size_t length, const char *rest,
                   const char *end)
{
    const char *open = memchr(rest, '[', (size_t)(end - rest)), *close;
    size_t plain = (size_t)((open ? open : end) - rest);
    struct range r;

    if (length + plain >= HOST_MAX_BYTES || memchr(rest, ']', plain))
        return false;
    memcpy(name + length, rest, plain);
    length += plain;
    if (!open)
        return add_host(h, name, length);
    close = memchr(open, ']', (size_t)(end - open));
    if (!close)
        return false;
    for (const char *at = open + 1; at < close; at = r.stop + 1)
        if (!read_range(at, close, &r) ||
            !expand_range(h, name, length, &r, close + 1, end))
            return false;
    return close > open + 1;
}

bool slurm_hosts(const char *text, const char *const **names, size_t *count,
                 struct arena *a)
{
    struct hosts h = {.arena = a};
    const char *const *parts;
    size_t part_count = slurm_split(text, ',', &parts, a);
    char *name = NEW(a, char, HOST_MAX_BYTES);

    for (size_t i = 0; i < part_count; i++)
        if (!expand(&h, name, 0, parts[i], parts[i] + strlen(parts[i])))
            return false;
    *names = h.names;
    *count = h.count;
    return true;
}

/* A number that begins with a digit; NAN: none. */
static double whole(const char *at, const char **end)
{
    *end = at;
    return isdigit((unsigned char)*at) ? digits(at, end) : (double)NAN;
}

/* "0-7:2": how many numbers that are; NAN: it is none. */
static double count_range(const char *at, const char **end)
{
    double first = whole(at, end), last = first, step = 1;

    if (**end == '-')
        last = whole(*end + 1, end);
    if (**end == ':')
        step = whole(*end + 1, end);
    return last >= first && step >= 1 ? floor((last - first) / step) + 1 : (double)NAN;
}

bool slurm_tasks(const char *text, size_t *count, double *running_max)
{
    const char *end = text;
    double sum = 0;

    *running_max = 0;
    for (const char *at = text;; at = end + 1) {
        sum += count_range(at, &end);
        if (!(sum <= SLURM_TASKS_MAX)) /* or NAN */
            return false;
        if (*end != ',')
            break;
    }
    if (*end == '%')
        *running_max = whole(end + 1, &end);
    if (*end || !(*running_max >= 0))
        return false;
    *count = (size_t)sum;
    return true;
}
