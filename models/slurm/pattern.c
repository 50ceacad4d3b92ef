/* pattern.c - names of applications from rows of accounting. */
#include "models/slurm/pattern.h"

#include "models/base/budget_read.h"
#include "models/expr_internal.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { NAME_BYTES = 512, APPLICATION_BYTES = 256 };

static const struct {
    const char *name;
    enum slurm_field field;
} members[] = {
    {"name", SLURM_F_NAME}, {"account", SLURM_F_ACCOUNT},
    {"user", SLURM_F_USER}, {"partition", SLURM_F_PARTITION},
    {"qos", SLURM_F_QOS},   {"comment", SLURM_F_COMMENT},
};

enum { MEMBER_COUNT = sizeof(members) / sizeof(members[0]) };

static size_t member_at(const char *at, size_t length)
{
    size_t i = 0;

    while (i < MEMBER_COUNT && (strlen(members[i].name) != length ||
                                strncmp(members[i].name, at, length) != 0))
        i++;
    return i;
}

/* ---- reading ---- */

/* Up to the next / that has no \ before it, which goes; NULL: there is none. */
static char *take_part(const char **at, struct arena *a)
{
    char *part = arena_text(a, *at, strlen(*at));
    size_t length = 0;

    for (const char *from = *at; *from; from++) {
        if (*from == '/') {
            *at = from + 1;
            part[length] = 0;
            return part;
        }
        if (*from == '\\' && from[1]) {
            if (from[1] != '/')
                part[length++] = *from;
            from++;
        }
        part[length++] = *from;
    }
    return NULL;
}

static const char *read_step(const char **at, struct slurm_pattern *out, struct arena *a)
{
    struct slurm_step *step = &out->steps[out->step_count];
    const char *regex, *problem;

    if (strncmp(*at, "s/", 2) != 0)
        return "behind a step s/REGEX/TEXT/ may stand another one";
    if (out->step_count == SLURM_STEPS_MAX)
        return "at most 16 steps";
    *at += 2;
    regex = take_part(at, a);
    step->text = regex ? take_part(at, a) : NULL;
    if (!step->text || !*regex)
        return "a step is s/REGEX/TEXT/";
    step->all = **at == 'g';
    *at += step->all;
    problem = expr_regex_compile(regex, &step->regex, a);
    out->step_count += !problem;
    return problem;
}

const char *slurm_pattern_read(const char *text, struct slurm_pattern *out,
                               struct arena *a)
{
    const char *steps = strncmp(text, "s/", 2) == 0 ? text : strstr(text, " s/");
    size_t length = steps ? (size_t)(steps - text) : strlen(text);
    const char *problem = NULL;

    *out = (struct slurm_pattern){.members = arena_text(a, text, length)};
    if (steps == text)
        out->members = "{name}";
    if (!*out->members)
        return "it is empty";
    for (const char *at = out->members; (at = strchr(at, '{')); at++) {
        size_t named = strcspn(at + 1, "{}");

        if (at[1 + named] != '}' || member_at(at + 1, named) == MEMBER_COUNT)
            return "in braces may stand name, account, user, partition, qos and comment";
    }
    while (!problem && steps && *(steps += strspn(steps, " ")))
        problem = read_step(&steps, out, a);
    return problem;
}

/* ---- applying ---- */

/* run_001 and run_002 are one program: digits at the end of a name, and what stands
 * before them, go. */
static size_t stem(const char *name)
{
    size_t length = strlen(name), end = length;

    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    while (end < length && end > 0 && strchr("_-.", name[end - 1]))
        end--;
    return end > 0 ? end : length;
}

static size_t add(char *text, size_t length, const char *more, size_t more_length)
{
    if (more_length > NAME_BYTES - 1 - length)
        more_length = NAME_BYTES - 1 - length;
    memcpy(text + length, more, more_length);
    return length + more_length;
}

static size_t fill_members(const char *pattern, const struct slurm_record *r, char *text)
{
    size_t length = 0;

    for (const char *at = pattern; *at; at++) {
        size_t named = *at == '{' ? strcspn(at + 1, "{}") : 0;
        size_t i = *at == '{' ? member_at(at + 1, named) : MEMBER_COUNT;
        const char *value;

        if (i == MEMBER_COUNT) {
            length = add(text, length, at, 1);
            continue;
        }
        value = slurm_value(r, members[i].field);
        value = value ? value : "";
        length = add(text, length, value, i == 0 ? stem(value) : strlen(value));
        at += named + 1;
    }
    return length;
}

/* `text` changed by a step, in place. */
static size_t apply(const struct slurm_step *step, char *text, size_t length)
{
    char out[NAME_BYTES];
    size_t done = 0, out_length = 0, last_end = SIZE_MAX, from, to;

    while (done <= length &&
           expr_regex_find(step->regex, text, length, done, &from, &to)) {
        budget_read_step((to - done + 1) * 8);
        out_length = add(out, out_length, text + done, from - done);
        if (to > from || from != last_end) /* nothing right behind a match is none */
            out_length = add(out, out_length, step->text, strlen(step->text));
        done = last_end = to;
        if (to == from && done < length) /* nothing matched: one byte further */
            out_length = add(out, out_length, text + done, 1);
        done += to == from;
        if (!step->all)
            break;
    }
    if (done < length)
        out_length = add(out, out_length, text + done, length - done);
    memcpy(text, out, out_length);
    return out_length;
}

const char *slurm_pattern_apply(const struct slurm_pattern *pattern,
                                const struct slurm_record *r, struct arena *a)
{
    char text[NAME_BYTES];
    size_t length = fill_members(pattern->members, r, text);

    for (size_t i = 0; i < pattern->step_count; i++) {
        budget_read_step(length * length / 8 + 8);
        length = apply(&pattern->steps[i], text, length);
    }
    if (length == 0)
        return "job";
    return arena_text(a, text, length < APPLICATION_BYTES ? length : APPLICATION_BYTES);
}
