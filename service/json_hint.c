/* json_hint.c - what a mistake in JSON may have meant. */
#include "service/json_hint.h"

#include "models/base/names.h"
#include "models/base/spelling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KNOWN_MAX = 64, /* members of a table */
    NAME_BYTES = JSON_NAME_BYTES
};

/* ---- letters: ASCII, whatever the locale ---- */

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char to_small(char c)
{
    return is_capital(c) ? (char)(c | 0x20) : c;
}

/* ---- nouns ---- */

static bool is_vowel(char c)
{
    return strchr("aeio", c) || c == 'u';
}

/* Names whose noun is not what their words say. */
static const struct {
    const char *name, *noun;
} nouns[] = {
    {"User", "a user"},
    {"UserUsage", "a user's usage"},
    {"Snapshot", "the snapshot"},
    {"Timings", "the timings"},
};

/* "Settings", and not "Access". */
static bool is_plural(const char *word, size_t length)
{
    return length >= 2 && word[length - 1] == 's' && word[length - 2] != 's';
}

const char *json_noun(const struct json_object *table, char *buffer, size_t size)
{
    char words[NOUN_BYTES - 3];
    size_t used = 0;
    const char *name = table->name;

    for (size_t i = 0; i < sizeof(nouns) / sizeof(nouns[0]); i++)
        if (strcmp(nouns[i].name, name) == 0)
            name = nouns[i].noun;
    if (strchr(name, ' ')) {
        snprintf(buffer, size, "%s", name);
        return buffer;
    }
    for (const char *c = name; *c && used + 2 < sizeof(words); c++) {
        bool begins = is_capital(*c) && c > name && (is_small(c[-1]) || is_small(c[1]));

        if (begins)
            words[used++] = ' ';
        words[used++] = to_small(*c);
    }
    words[used] = 0;
    snprintf(buffer, size, "%s %s",
             is_plural(words, used) ? "the"
             : is_vowel(words[0])   ? "an"
                                    : "a",
             words);
    return buffer;
}

/* ---- values ---- */

struct unit {
    const char *word;
    double factor;      /* to the unit of the suffix */
    double alternative; /* another reading of the word; 0: none */
    const char *suffix;
};

/* The longest words first: "ms" is no "s". */
static const struct unit units[] = {
    {"milliseconds", 1e-3, 0, "_s"},
    {"minutes", 60, 0, "_s"},
    {"seconds", 1, 0, "_s"},
    {"percent", 0.01, 0, "_ratio"},
    {"millis", 1e-3, 0, "_s"},
    {"bytes", 1, 0, "_bytes"},
    {"hours", 3600, 0, "_s"},
    {"ratio", 1, 0, "_ratio"},
    {"days", 86400, 0, "_s"},
    {"gbps", 1000, 0, "_mbps"},
    {"kbps", 1e-3, 0, "_mbps"},
    {"mbps", 1, 0, "_mbps"},
    {"mins", 60, 0, "_s"},
    {"msec", 1e-3, 0, "_s"},
    {"secs", 1, 0, "_s"},
    {"gib", 1024.0 * 1024 * 1024, 0, "_bytes"},
    {"kib", 1024, 0, "_bytes"},
    {"mib", 1024.0 * 1024, 0, "_bytes"},
    {"min", 60, 0, "_s"},
    {"pct", 0.01, 0, "_ratio"},
    {"sec", 1, 0, "_s"},
    {"gb", 1e9, 1024.0 * 1024 * 1024, "_bytes"},
    {"kb", 1e3, 1024, "_bytes"},
    {"mb", 1e6, 1024.0 * 1024, "_bytes"},
    {"ms", 1e-3, 0, "_s"},
    {"tb", 1e12, 1024.0 * 1024 * 1024 * 1024, "_bytes"},
    {"us", 1e-6, 0, "_s"},
    {"d", 86400, 0, "_s"},
    {"h", 3600, 0, "_s"},
    {"s", 1, 0, "_s"},
};

enum { UNITS = sizeof(units) / sizeof(units[0]) };

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), rest = strlen(end);

    return length >= rest && strcmp(text + length - rest, end) == 0;
}

/* Whole numbers in full, others with 12 digits. */
static const char *number_text(double number, char *buffer, size_t size)
{
    bool whole = number == floor(number) && fabs(number) < 1e15;

    snprintf(buffer, size, whole ? "%.0f" : "%.12g", number);
    return buffer;
}

/* Digits, with a decimal point or without; *rest is what follows. NAN: none. */
static double unsigned_number(const char *text, const char **rest)
{
    char *end;
    double number;

    *rest = text;
    if (!is_digit(*text) || strlen(text) > 60 || strpbrk(text, "xX"))
        return NAN;
    number = strtod(text, &end);
    *rest = end;
    return isfinite(number) ? number : (double)NAN;
}

/* "D-HH:MM:SS", "D-HH:MM", "H:MM:SS", "MM:SS": as Slurm writes times. */
static double clock_seconds(const char *text)
{
    double part[3], days = 0, number = unsigned_number(text, &text);
    bool has_days = *text == '-';
    size_t count = 0;

    if (has_days) {
        days = number;
        number = unsigned_number(text + 1, &text);
    }
    part[count++] = number;
    while (*text == ':' && count < 3)
        part[count++] = unsigned_number(text + 1, &text);
    if (*text || count < 2)
        return NAN;
    if (count == 3)
        return days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
    return has_days ? days * 86400 + part[0] * 3600 + part[1] * 60
                    : part[0] * 60 + part[1];
}

/* "PT1H30M" (ISO 8601), without months and years, which have no length. */
static double iso_seconds(const char *text)
{
    static const char *const letters = "DHMS";
    static const double lengths[] = {86400, 3600, 60, 1};
    double sum = 0;
    bool in_time = false, some = false;

    if (*text++ != 'P')
        return NAN;
    while (*text) {
        const char *letter;
        double number;

        if (*text == 'T' && !in_time) {
            in_time = true;
            text++;
            continue;
        }
        number = unsigned_number(text, &text);
        letter = *text ? strchr(letters, *text) : NULL;
        if (isnan(number) || !letter || (*letter == 'D') == in_time)
            return NAN;
        sum += number * lengths[letter - letters];
        some = true;
        text++;
    }
    return some ? sum : (double)NAN;
}

double json_seconds(const char *text)
{
    const char *rest;
    double number = unsigned_number(text, &rest);

    if (*text == 'P')
        return iso_seconds(text);
    if (*rest == ':' || *rest == '-')
        return clock_seconds(text);
    while (*rest == ' ')
        rest++;
    if (!*rest)
        return number;
    if (strcmp(rest, "m") == 0)
        return number * 60;
    for (size_t i = 0; i < UNITS; i++)
        if (strcmp(units[i].suffix, "_s") == 0 && strcmp(units[i].word, rest) == 0)
            return number * units[i].factor;
    return NAN;
}

double json_bytes(const char *text)
{
    static const char *const letters = "kmgt";
    const char *rest, *letter;
    double number = unsigned_number(text, &rest), base = 1000;

    while (*rest == ' ')
        rest++;
    letter = *rest ? strchr(letters, to_small(*rest)) : NULL;
    if (letter) {
        rest++;
        if (*rest == 'i') {
            base = 1024;
            rest++;
        }
        for (const char *c = letters; c <= letter; c++)
            number *= base;
    }
    if (*rest == 'B')
        rest++;
    return *rest ? (double)NAN : number;
}

/* A text that is a number and no more, with a sign or without; NAN: it is none. */
static double plain_number(const char *text)
{
    bool minus = *text == '-';
    const char *rest;
    double number = unsigned_number(text + minus, &rest);

    return *rest ? (double)NAN : minus ? -number : number;
}

/* "75%" as 0.75; NAN: it is no percentage. */
static double percentage(const char *text)
{
    const char *rest;
    double number = unsigned_number(text, &rest);

    while (*rest == ' ')
        rest++;
    return strcmp(rest, "%") == 0 ? number / 100 : (double)NAN;
}

/* The number that a text means in the unit of a member; NAN: none. */
static double text_value(const char *member, const char *text)
{
    double number = ends_in(member, "_bytes")   ? json_bytes(text)
                    : ends_in(member, "_s")     ? json_seconds(text)
                    : ends_in(member, "_ratio") ? percentage(text)
                                                : (double)NAN;

    return isfinite(number) ? number : plain_number(text);
}

void json_hint_text(const char *member, const char *text, struct error *err)
{
    double number = text_value(member, text);
    char buffer[40];

    if (isfinite(number))
        error_hint(err, "did you mean %s?", number_text(number, buffer, sizeof(buffer)));
}

void json_hint_boolean(const char *text, struct error *err)
{
    static const char *const words[][5] = {{"false", "no", "off", "0", "n"},
                                           {"true", "yes", "on", "1", "y"}};
    char small[8];
    size_t length = 0;

    for (; text[length] && length + 1 < sizeof(small); length++)
        small[length] = to_small(text[length]);
    small[length] = 0;
    for (size_t i = 0; i < 5; i++)
        for (size_t value = 0; value < 2; value++)
            if (strcmp(small, words[value][i]) == 0) {
                error_hint(err, "did you mean %s?", words[value][0]);
                return;
            }
    error_hint(err, "write true or false");
}

void json_hint_ratio(const char *member, double number, double most, struct error *err)
{
    char buffer[40];

    if (ends_in(member, "_ratio") && number > most && number / 100 <= most)
        error_hint(err, "1 is 100 %%; did you mean %s?",
                   number_text(number / 100, buffer, sizeof(buffer)));
}

bool json_has_member(const struct json_object *table, const char *name)
{
    const struct json_field *f = table->fields;

    while (f->type != JSON_END && strcmp(f->name, name) != 0)
        f++;
    return f->type != JSON_END;
}

/* An object as small as it may be. */
static void hint_required(const struct json_object *table, struct error *err)
{
    char text[256] = "";
    size_t used = 0;

    for (const struct json_field *f = table->fields; f->type != JSON_END; f++)
        if (f->flags & JSON_REQUIRED && used < sizeof(text))
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\"%s\": ...",
                                     used ? ", " : "", f->name);
    if (used && used < sizeof(text))
        error_hint(err, "did you mean {%s}?", text);
}

/* The list that the object is about: the first that must be there, else the first; NULL.
 */
static const struct json_field *list_of(const struct json_object *table)
{
    const struct json_field *first = NULL;

    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        if (f->type != JSON_TYPE_LIST)
            continue;
        if (f->flags & JSON_REQUIRED)
            return f;
        first = first ? first : f;
    }
    return first;
}

void json_hint_object(const struct json_object *table, bool is_array, const char *text,
                      struct error *err)
{
    const struct json_field *f = table->fields, *list;

    if (is_array) {
        list = list_of(table);
        if (list)
            error_hint(err, "a list goes into a member of it: {\"%s\": [...]}",
                       list->name);
        else
            hint_required(table, err);
    } else if (text) {
        while (f->type != JSON_END &&
               !(f->type == JSON_TYPE_TEXT && f->flags & JSON_REQUIRED))
            f++;
        if (f->type == JSON_TYPE_TEXT)
            error_hint(err, "did you mean {\"%s\": %s}?", f->name, text);
    }
}

/* The text as RFC 3339 has it, with what it lacks: a time, a zone, a colon in it; NULL:
 * that is no time either. */
static const char *repaired(const char *text, char *buffer, size_t size)
{
    size_t length = strlen(text);
    double at_s;

    if (length < 10 || length > 40)
        return NULL;
    snprintf(buffer, size, "%sT00:00:00Z", text);
    if (instant_read(buffer, &at_s))
        return buffer;
    snprintf(buffer, size, "%s:00Z", text);
    if (instant_read(buffer, &at_s))
        return buffer;
    snprintf(buffer, size, "%sZ", text);
    if (instant_read(buffer, &at_s))
        return buffer;
    snprintf(buffer, size, "%.*s:%s", (int)(length - 2), text, text + length - 2);
    return instant_read(buffer, &at_s) ? buffer : NULL;
}

void json_hint_instant(const char *text, double number, struct error *err)
{
    size_t length = text ? strlen(text) : 0;
    const char *blank = text ? strrchr(text, ' ') : NULL;
    const char *meant;
    char buffer[64];

    meant = text ? repaired(text, buffer, sizeof(buffer)) : NULL;
    if (meant)
        error_hint(err, "did you mean \"%s\"?", meant);
    if (text && isfinite(plain_number(text)))
        error_hint(err, "did you mean the number %s?", text);

    if (blank && text + length - blank == 6 && blank[3] == ':' && strchr(text, 'T'))
        error_hint(err, "a '+' in a query must be written %%2B");
    if (text || !(number >= 1e11 && number < 1e17))
        return;
    error_hint(err, "looks like %s; did you mean %s?",
               number < 1e14 ? "milliseconds" : "microseconds",
               number_text(number / (number < 1e14 ? 1e3 : 1e6), buffer, sizeof(buffer)));
}

/* ---- members ---- */

/* What other tools call things, and what it is called here. "needs." stands before what
 * has no member of its own. */
static const struct {
    const char *word, *member;
} foreign[] = {
    {"name", "id"},
    {"job", "id"},
    {"node", "id"},
    {"hostname", "id"},
    {"host", "resource_id"},
    {"machine", "resource_id"},
    {"resource", "resource_id"},
    {"runtime", "estimate_s"},
    {"run_time", "estimate_s"},
    {"time", "estimate_s"},
    {"duration", "estimate_s"},
    {"copies", "count"},
    {"replicas", "count"},
    {"array_size", "count"},
    {"walltime", "time_limit_s"},
    {"wall_time", "time_limit_s"},
    {"timelimit", "time_limit_s"},
    {"mem", "memory_bytes"},
    {"memory", "memory_bytes"},
    {"ram", "memory_bytes"},
    {"disk", "disk_bytes"},
    {"cpu", "cpus"},
    {"cpus", "cpus"}, /* of jobs that have processors */
    {"cores", "cpus"},
    {"ncpus", "cpus"},
    {"ntasks", "cpus"},
    {"threads", "cpus"},
    {"procs", "cpus"},
    {"processors", "cpus"},
    {"num_cpus", "cpus"},
    {"gpu", "needs.gpus"},
    {"gpus", "needs.gpus"},
    {"gres", "needs"},
    {"dependencies", "depends_on"},
    {"parents", "depends_on"},
    {"deps", "depends_on"},
    {"speed", "mips_total"},
    {"mips", "mips_total"},
    {"submit_time", "submit_s"},
    {"queue", "partition_ids"},
    {"partition", "partition_ids"},
    {"nice", "priority"},
    {"mtbf", "mean_failure_interval_s"},
    {"mttf", "mean_failure_interval_s"},
    {"mtti", "mean_failure_interval_s"},
    {"checkpoint_cost", "checkpoint_overhead_s"},
    {"checkpoint_time", "checkpoint_overhead_s"},
    {"checkpoint_duration", "checkpoint_overhead_s"},
    {"recovery_time", "restart_s"},
    {"restart_time", "restart_s"},
};

/* What people call members when nothing above fits, the best first; words that are no
 * member here either are looked for one level down. */
static const struct {
    const char *word, *member;
} loose[] = {
    {"after", "from"},
    {"allowed", "resource_ids"},
    {"allowed", "requirement"},
    {"app", "application_id"},
    {"application", "application_id"},
    {"arrival", "release_s"},
    {"arrival_s", "release_s"},
    {"arrival_time", "release_s"},
    {"available", "failed"},
    {"before", "to"},
    {"cluster", "snapshot"},
    {"config", "options"},
    {"cpu", "cpu_available_ratio"},
    {"count", "number"},
    {"count", "page_size"},
    {"criterion", "objective"},
    {"cursor", "page_token"},
    {"data", "bytes"},
    {"date", "observed_at"},
    {"date", "down_at"},
    {"date", "started_at"},
    {"due", "deadline_s"},
    {"due_s", "deadline_s"},
    {"due_date", "deadline_at"},
    {"end", "up_at"},
    {"end", "to"},
    {"end_time", "up_at"},
    {"estimate_ref_s", "execution_time_s"},
    {"estimate_ref_s", "run_time_s"},
    {"estimate_s", "execution_time_s"},
    {"estimate_s", "requested_s"},
    {"estimate_s", "run_time_s"},
    {"exit_status", "exit_code"},
    {"exitcode", "exit_code"},
    {"failed_at", "down_at"},
    {"failure_at", "down_at"},
    {"failure_time", "down_at"},
    {"fixed_at", "up_at"},
    {"from", "task_id"},
    {"goal", "objective"},
    {"grid", "snapshot"},
    {"host_id", "resource_id"},
    {"hostname", "resource_id"},
    {"hosts", "resources"},
    {"infrastructure", "snapshot"},
    {"input_size", "problem_size"},
    {"id", "execution_id"},
    {"id", "resource_id"},
    {"job_id", "execution_id"},
    {"job_name", "id"},
    {"jobs", "tasks"},
    {"limit", "page_size"},
    {"machine_id", "resource_id"},
    {"machines", "resources"},
    {"max_rss", "memory_peak_bytes"},
    {"max_time", "time_limit_s"},
    {"max_time_s", "time_limit_s"},
    {"maxrss", "memory_peak_bytes"},
    {"meta", "labels"},
    {"metadata", "labels"},
    {"method", "algorithm"},
    {"node", "resource_id"},
    {"node_id", "resource_id"},
    {"nodes", "resources"},
    {"nodes", "tasks"},
    {"offset", "page_token"},
    {"page", "page_token"},
    {"parameters", "options"},
    {"params", "options"},
    {"parent", "task_id"},
    {"peak_rss", "memory_peak_bytes"},
    {"platform", "snapshot"},
    {"policy", "algorithm"},
    {"program", "application_id"},
    {"random_seed", "seed"},
    {"ready", "jobs"},
    {"recovered_at", "up_at"},
    {"repaired_at", "up_at"},
    {"restored_at", "up_at"},
    {"reason", "cause"},
    {"rss", "memory_peak_bytes"},
    {"run_id", "execution_id"},
    {"scheduler", "algorithm"},
    {"servers", "resources"},
    {"settings", "options"},
    {"since", "from"},
    {"size", "bytes"},
    {"size", "problem_size"},
    {"start", "started_at"},
    {"start", "down_at"},
    {"start", "from"},
    {"start_time", "started_at"},
    {"start_time", "down_at"},
    {"state", "failed"},
    {"status", "failed"},
    {"strategy", "algorithm"},
    {"submit", "arrival_s"},
    {"submit", "release_s"},
    {"submit_s", "arrival_s"},
    {"submit_s", "release_s"},
    {"submit_time", "arrival_s"},
    {"submit_time", "release_s"},
    {"system", "snapshot"},
    {"tags", "labels"},
    {"task", "task_id"},
    {"task_id", "execution_id"},
    {"tasks", "jobs"},
    {"time", "observed_at"},
    {"time", "down_at"},
    {"time", "started_at"},
    {"timeout", "time_limit_s"},
    {"timeout_s", "time_limit_s"},
    {"timestamp", "observed_at"},
    {"timestamp", "down_at"},
    {"timestamp", "started_at"},
    {"tool", "application_id"},
    {"until", "to"},
    {"workers", "resources"},
};

/* What is used of a processor, where here stands what is free. */
static const char *const used_words[] = {
    "busy",     "cpu_busy",        "cpu_load",        "cpu_usage",
    "cpu_used", "cpu_utilisation", "cpu_utilization", "load",
    "usage",    "utilisation",     "utilization",     NULL};

/* The names of a table's members; behind them former ones, with the member's. */
struct known {
    const char *names[KNOWN_MAX];
    const struct json_field *members[KNOWN_MAX];
    const struct json_alias *former[KNOWN_MAX];
    size_t count;     /* of members */
    size_t all_count; /* with former names */
};

static void add_former(struct known *known, const struct json_field *f)
{
    for (const struct json_alias *old = f->aliases; old && old->name; old++) {
        size_t i = known->all_count;

        if (i == KNOWN_MAX)
            return;
        known->names[i] = old->name;
        known->members[i] = f;
        known->former[i] = old;
        known->all_count++;
    }
}

static void list_names(const struct json_object *table, struct known *known)
{
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++)
        if (known->count < KNOWN_MAX)
            known->names[known->count++] = f->name;
    known->all_count = known->count;
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++)
        add_former(known, f);
}

/* Which of the names it is, SIZE_MAX: none. */
static size_t find_any(const struct known *known, const char *name)
{
    size_t i = 0;

    while (i < known->all_count && strcmp(known->names[i], name) != 0)
        i++;
    return i < known->all_count ? i : SIZE_MAX;
}

/* The table's own text of the name, or that of a member which had this name and was
 * counted alike; NULL: it has no such member. */
static const char *find(const struct known *known, const char *name)
{
    size_t i = find_any(known, name);

    if (i == SIZE_MAX || i < known->count)
        return i == SIZE_MAX ? NULL : known->names[i];
    return known->former[i]->factor > 0 ? NULL : known->members[i]->name;
}

static const char *foreign_member(const char *word)
{
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (strcmp(foreign[i].word, word) == 0)
            return foreign[i].member;
    return NULL;
}

static void allow(const char *name, struct error *err)
{
    error_allow(err, NULL, &name, 1);
}

/* Without its unit, in `rest`; false: the name does not end in the unit. */
static bool strip_unit(const char *name, const struct unit *unit, char *rest)
{
    size_t length = strlen(name), word = strlen(unit->word);
    bool has_bar;

    if (length <= word || !ends_in(name, unit->word))
        return false;
    length -= word;
    has_bar = name[length - 1] == '_';
    if (word == 1 && !has_bar)
        return false;
    length -= has_bar;
    memcpy(rest, name, length);
    rest[length] = 0;
    return length > 0;
}

/* The table's member that is meant; batch systems of one pool count processors, and how
 * long something runs has other names where it is no estimate. */
static const char *find_meant(const struct known *known, const char *member)
{
    static const char *const others[][2] = {{"cpus", "processors"},
                                            {"estimate_s", "execution_time_s"},
                                            {"estimate_s", "run_time_s"}};
    const char *found = find(known, member);

    for (size_t i = 0; !found && i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(member, others[i][0]) == 0)
            found = find(known, others[i][1]);
    return found;
}

/* The member that the name without its unit is, here; NULL: none. */
static const char *unit_target(const struct known *known, const char *name,
                               const struct unit *unit)
{
    char rest[NAME_BYTES], whole[NAME_BYTES + 8];
    const char *member;

    if (!strip_unit(name, unit, rest))
        return NULL;
    member = foreign_member(rest);
    if (member && ends_in(member, unit->suffix))
        return find_meant(known, member);
    snprintf(whole, sizeof(whole), "%s%s", rest, unit->suffix);
    member = find(known, whole);
    return !member && strcmp(unit->suffix, "_bytes") == 0 ? find(known, "bytes") : member;
}

static void hint_unit(const char *member, const struct unit *unit,
                      const struct json_value *value, struct error *err)
{
    char here[40], other[40];

    number_text(value->number * unit->factor, here, sizeof(here));
    number_text(value->number * unit->alternative, other, sizeof(other));
    if (!value->is_number || unit->factor == 1)
        error_hint(err, "did you mean '%s'?", member);
    else if (unit->alternative > 0)
        error_hint(err,
                   "did you mean '%s'? Here: %s (or %s, if yours are powers of 1024)",
                   member, here, other);
    else
        error_hint(err, "did you mean '%s'? Here: %s", member, here);
    allow(member, err);
}

static bool by_unit(const struct known *known, const char *name,
                    const struct json_value *value, struct error *err)
{
    for (size_t i = 0; i < UNITS; i++) {
        const char *member = unit_target(known, name, &units[i]);

        if (!member)
            continue;
        hint_unit(member, &units[i], value, err);
        return true;
    }
    return false;
}

/* A number in quotes, as it would stand without them. */
static bool is_number_text(const char *text)
{
    char *end;
    double number = strtod(text, &end);

    return *text && !*end && isfinite(number) && text[strcspn(text, "xXiInN ")] == 0;
}

static bool by_foreign_word(const struct known *known, const char *name,
                            const char *as_sent, const struct json_value *value,
                            struct error *err)
{
    const char *member = foreign_member(name);
    bool is_need = member && strncmp(member, "needs.", 6) == 0;
    double number = NAN;
    char here[40];

    if (is_need) /* of what asks for it, or of what has it */
        member = find(known, "needs") ? "needs" : "capacities";
    member = member ? find_meant(known, member) : NULL;
    if (!member)
        return false;
    if (value->text)
        number = text_value(member, value->text);
    if (is_need)
        error_hint(err, "consumables of a free name go into '%s': {\"%s\": %.60s}",
                   member, as_sent,
                   value->text && is_number_text(value->text) ? value->text
                   : value->json                              ? value->json
                                                              : "...");
    else if (isfinite(number))
        error_hint(err, "did you mean '%s'? Here: %s", member,
                   number_text(number, here, sizeof(here)));
    else
        error_hint(err, "did you mean '%s'?", member);
    allow(member, err);
    return true;
}

/* A number of what a pool has, where its amounts stand in a member by their names. */
static bool by_pool(const struct known *known, const char *name,
                    const struct json_value *value, struct error *err)
{
    const char *pool = find(known, "capacities"), *member = foreign_member(name);

    if (!pool || find(known, "needs") || find(known, "id") || !value->is_number ||
        !value->json)
        return false;
    member = member ? member : name;
    if (strcmp(member, "cpus") != 0 && strcmp(member, "memory_bytes") != 0)
        return false;
    error_hint(err, "amounts of the pool go into '%s': {\"%s\": %.60s}", pool, member,
               value->json);
    allow(pool, err);
    return true;
}

/* Kubernetes' and others' "requests": {"cpu": 1}, where the amounts are members here. */
static bool by_amounts(const struct known *known, const char *name,
                       const struct json_value *value, struct error *err)
{
    static const char *const words[] = {
        "limits",    "requests", "request", "requirements", "resource_requests",
        "resources", "required", NULL};
    size_t i = 0;

    while (words[i] && strcmp(words[i], name) != 0)
        i++;
    if (!words[i] || !value->is_structure || !find(known, "needs") ||
        !find(known, "cpus"))
        return false;
    error_hint(err, "amounts stand here themselves: 'cpus', 'memory_bytes', and in "
                    "'needs' those of a free name");
    allow("needs", err);
    return true;
}

/* The name without the unit at its end, if it has one. */
static const char *stem_of(const char *name, char *rest)
{
    for (size_t i = 0; i < UNITS; i++)
        if (strip_unit(name, &units[i], rest))
            return rest;
    return name;
}

/* What is used, of what is free. */
static bool by_use(const struct known *known, const char *name,
                   const struct json_value *value, struct error *err)
{
    const char *member = find(known, "cpu_available_ratio");
    char rest[NAME_BYTES], here[40];
    const char *stem = stem_of(name, rest);
    double used = value->is_number ? value->number : HUGE_VAL;
    size_t i = 0;

    while (used_words[i] && strcmp(used_words[i], stem) != 0)
        i++;
    if (!member || !used_words[i])
        return false;
    if (ends_in(name, "pct") || ends_in(name, "percent") || (used > 1 && used <= 100))
        used /= 100;
    if (used >= 0 && used <= 1)
        error_hint(err, "'%s' is what is free of a processor, not what is used; here: %s",
                   member, number_text(1 - used, here, sizeof(here)));
    else
        error_hint(err, "'%s' is what is free of a processor, not what is used", member);
    allow(member, err);
    return true;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void name_all(struct known *known, struct error *err)
{
    char text[ERROR_ALLOWED_MAX * NAME_BYTES];
    size_t used = 0;

    qsort(known->names, known->count, sizeof(*known->names), by_name);
    text[0] = 0;
    for (size_t i = 0; i < known->count && i < ERROR_ALLOWED_MAX; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.70s",
                                 i ? ", " : "", known->names[i]);
    error_hint(err, "known here: %s%s", known->count ? text : "nothing",
               known->count > ERROR_ALLOWED_MAX ? ", ..." : "");
    error_allow(err, NULL, known->names, known->count);
}

/* The member of that name that takes instants, for one. */
static const char *find_instant(const struct known *known, const char *name,
                                const char *text)
{
    char whole[NAME_BYTES + 8];
    double at_s;

    if (!text || !instant_read(text, &at_s))
        return NULL;
    snprintf(whole, sizeof(whole), "%s_at", name);
    return find(known, whole);
}

const char *json_own_id(const struct json_object *table, char buffer[OWN_ID_BYTES])
{
    char noun[NOUN_BYTES];
    const char *last = strrchr(json_noun(table, noun, sizeof(noun)), ' ');

    snprintf(buffer, OWN_ID_BYTES, "%s_id", last ? last + 1 : noun);
    return buffer;
}

static const char *find_own_id(const struct known *known, const struct json_object *table,
                               const char *name)
{
    char own[OWN_ID_BYTES];

    return strcmp(json_own_id(table, own), name) == 0 ? find(known, "id") : NULL;
}

/* The name lacks its unit, or is one of the loose words, or the only id that there is. */
static const char *find_loose(const struct known *known, const char *name)
{
    static const char *const units_of[] = {"_s", "_bytes", "_mbps", "_ratio", "_at"};
    const char *found = NULL, *id = NULL;
    char whole[NAME_BYTES + 8];
    for (size_t i = 0; i < sizeof(units_of) / sizeof(units_of[0]) && !found; i++) {
        snprintf(whole, sizeof(whole), "%s%s", name, units_of[i]);
        found = find(known, whole);
    }
    snprintf(whole, sizeof(whole), "%ss", name);
    if (!found)
        found = find(known, whole);
    for (size_t i = 0; i < sizeof(loose) / sizeof(loose[0]) && !found; i++)
        if (strcmp(loose[i].word, name) == 0)
            found = find(known, loose[i].member);
    for (size_t i = 0; i < known->count && !found; i++)
        if (ends_in(known->names[i], "_id")) {
            if (id)
                return NULL;
            id = known->names[i];
        }
    return found                                                  ? found
           : strcmp(name, "id") == 0 || strcmp(name, "name") == 0 ? id
                                                                  : NULL;
}

/* Whether the member may be what was sent: lists and objects are no numbers or texts. */
static bool may_take(const struct json_object *table, const char *name,
                     const struct json_value *value)
{
    const struct json_field *f = table->fields;

    while (f->type != JSON_END && strcmp(f->name, name) != 0)
        f++;
    return f->type != JSON_END &&
           (!value->is_structure ||
            (f->type != JSON_TYPE_NUMBER && f->type != JSON_TYPE_INTEGER &&
             f->type != JSON_TYPE_TEXT && f->type != JSON_TYPE_BOOLEAN));
}

/* The member of an object, or of a list's elements, one level down; NULL: none has it. */
static const struct json_field *find_below(const struct json_object *table,
                                           const char *name,
                                           const struct json_value *value)
{
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++)
        if ((f->type == JSON_TYPE_OBJECT || f->type == JSON_TYPE_LIST) &&
            f->of->fields->type != JSON_TYPE_KIND && may_take(f->of, name, value))
            return f;
    return NULL;
}

/* A name that belongs one level down, or that another tool's or a loose word means there.
 */
static bool by_place(const struct json_object *table, const char *name,
                     const struct json_value *value, struct error *err)
{
    const struct json_field *f = find_below(table, name, value);
    char rest[NAME_BYTES];
    const char *member = foreign_member(stem_of(name, rest));

    if (!f && member) {
        f = find_below(table, member, value);
        name = f ? member : name;
    }
    for (size_t i = 0; i < sizeof(loose) / sizeof(loose[0]) && !f; i++)
        if (strcmp(loose[i].word, name) == 0) {
            f = find_below(table, loose[i].member, value);
            name = f ? loose[i].member : name;
        }
    if (!f)
        return false;
    error_hint(err,
               f->type == JSON_TYPE_LIST ? "it belongs into '%s': [{\"%s\": ...}]"
                                         : "it belongs into '%s': {\"%s\": ...}",
               f->name, name);
    allow(f->name, err);
    return true;
}

/* What no name of a member says. */
static bool by_note(const struct json_object *table, const char *name, struct error *err)
{
    const struct json_field *end = table->fields;

    while (end->type != JSON_END)
        end++;
    for (const struct json_note *note = end->notes; note && note->name; note++)
        if (strcmp(note->name, name) == 0) {
            error_hint(err, "%s", note->hint);
            return true;
        }
    return false;
}

/* What needs another: jobs name it, tasks get its data as well. */
static bool by_endpoint(const struct known *known, const char *name, struct error *err)
{
    const char *meant = foreign_member(name), *after = find(known, "after");

    if (strcmp(meant ? meant : name, "depends_on") != 0)
        return false;
    if (!after) {
        error_hint(err, "what waits for others is a task of POST /v1/workflow-schedules");
        return true;
    }
    error_hint(err,
               "did you mean 'after': [{\"job_id\": ...}]? With data that goes from one "
               "to the other they are tasks of POST /v1/workflow-schedules");
    allow(after, err);
    return true;
}

/* The nearest name; a number under a former one is told as it would have to be here. */
static void hint_nearest(const struct known *known, const char *name,
                         const struct json_value *value, struct error *err)
{
    size_t i = find_any(known, name);
    const struct json_alias *old = i < known->count ? NULL : known->former[i];
    const char *member = old ? known->members[i]->name : name;
    char here[40];

    if (old && old->factor > 0 && value->is_number)
        error_hint(err, "did you mean '%s'? Here: %s", member,
                   number_text(value->number * old->factor, here, sizeof(here)));
    else
        error_hint(err, "did you mean '%s'?", member);
    allow(member, err);
}

void json_hint_member(const struct json_object *table, const char *name,
                      const struct json_value *value, struct error *err)
{
    struct known known = {.count = 0};
    char snake[NAME_BYTES], rest[NAME_BYTES];
    const char *member;

    list_names(table, &known);
    if (!name_spell(name, strlen(name), snake, NAME_BYTES)) {
        name_all(&known, err);
        return;
    }
    member = strcmp(snake, name) == 0 ? NULL : find(&known, snake);
    if (member) {
        error_hint(err, "did you mean '%s'? (names are snake_case)", member);
        allow(member, err);
        return;
    }
    if (by_note(table, snake, err) || by_unit(&known, snake, value, err) ||
        by_foreign_word(&known, snake, name, value, err) ||
        by_pool(&known, snake, value, err) || by_amounts(&known, snake, value, err) ||
        by_use(&known, snake, value, err))
        return;
    member = find_instant(&known, snake, value->text);
    if (!member)
        member = find_own_id(&known, table, snake);
    /* A word whose meaning is known is no other one with a letter wrong. */
    if (!member && !foreign_member(stem_of(snake, rest)))
        member = names_nearest(snake, known.names, known.all_count);
    if (!member)
        member = find_loose(&known, snake);
    if (member)
        hint_nearest(&known, member, value, err);
    else if (!by_place(table, snake, value, err) && !by_endpoint(&known, snake, err))
        name_all(&known, err);
}
