/* stg.c - a Standard Task Graph to a workflow. */
#include "models/stg.h"

#include "models/base/budget_read.h"
#include "models/base/plural.h"
#include "models/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WORD_MAX = 40,
    TASK_STEPS = 256 /* what a task costs, about */
};

/* A number of the text; `line` 0: there is none. */
struct word {
    char text[WORD_MAX];
    double number;
    uint64_t line;
};

struct reader {
    const char *at, *end;
    uint64_t line;
    struct workflow_builder *b;
    struct error *err;
    bool costs;   /* each predecessor is followed by a cost */
    bool decided; /* whether that is known */
};

/* Steps over blanks and comments. */
static void skip_blanks(struct reader *r)
{
    while (r->at < r->end) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        else if (*r->at == '\n' || *r->at == '\r' || *r->at == ' ' || *r->at == '\t')
            r->line += *r->at++ == '\n';
        else
            return;
    }
}

static enum error_code next_word(struct reader *r, struct word *w)
{
    size_t length = 0;

    skip_blanks(r);
    w->line = 0;
    if (r->at == r->end)
        return OK;
    w->line = r->line;
    for (; r->at < r->end && !strchr(" \t\r\n#", *r->at); r->at++)
        if (length + 1 < WORD_MAX)
            w->text[length++] = *r->at;
    w->text[length] = 0;
    if (line_number(w->text, &w->number))
        return OK;
    return workflow_mistake(r->b, w->line, ITEM_WRONG_TYPE,
                            "'%.30s' is no number below 1e15", w->text);
}

/* A number that must be there. */
static enum error_code need_word(struct reader *r, const char *what, struct word *w)
{
    TRY(next_word(r, w));
    if (w->line)
        return OK;
    return workflow_mistake(r->b, r->line, ITEM_CUT, "the text ends where %s is expected",
                            what);
}

/* A whole number, 0 to WORKFLOW_BUILD_TASKS_MAX + 1; written without zeros before it it
 * is the id of a task. */
static enum error_code need_whole(struct reader *r, const char *what, struct word *w)
{
    TRY(need_word(r, what, w));
    if (!(w->number >= 0 && w->number <= WORKFLOW_BUILD_TASKS_MAX + 1 &&
          floor(w->number) == w->number))
        return workflow_mistake(r->b, w->line, ITEM_OUT_OF_BOUNDS,
                                "%s must be a whole number from 0 to %d, not %s", what,
                                WORKFLOW_BUILD_TASKS_MAX + 1, w->text);
    snprintf(w->text, sizeof(w->text), "%.0f", w->number);
    return OK;
}

/* How many numbers stand on the rest of the line. */
static size_t words_on_line(const struct reader *r)
{
    size_t count = 0;
    bool inside = false;

    for (const char *p = r->at; p < r->end && *p != '\n' && *p != '#'; p++) {
        bool blank = *p == ' ' || *p == '\t' || *p == '\r';

        count += !blank && !inside;
        inside = !blank;
    }
    return count;
}

/* The form of the file, by its first task with predecessors. */
static void decide(struct reader *r, size_t predecessors)
{
    size_t words = words_on_line(r);

    if (r->decided || !predecessors)
        return;
    r->costs = words == 0 || words == 2 * predecessors;
    r->decided = true;
}

static enum error_code read_task(struct reader *r, const struct word *id)
{
    struct word run_s = {0}, count = {0}, parent = {0}, cost = {0};
    size_t task;

    TRY(need_word(r, "a run time", &run_s));
    TRY(need_whole(r, "a number of predecessors", &count));
    TRY(workflow_add_task(r->b, id->text, NULL, run_s.number, id->line, &task));
    decide(r, (size_t)count.number);
    for (size_t i = 0; i < (size_t)count.number; i++) {
        TRY(need_whole(r, "a predecessor", &parent));
        if (r->costs)
            TRY(need_word(r, "a cost of communication", &cost));
        if (cost.number < 0)
            TRY(workflow_mistake(r->b, cost.line, ITEM_OUT_OF_BOUNDS,
                                 "a cost of communication is negative: %s", cost.text));
        TRY(workflow_add_dependency(r->b, parent.text, id->text, cost.number,
                                    WORKFLOW_BY_BOTH, parent.line));
    }
    return OK;
}

enum error_code stg_read(const char *text, size_t length, const char *pointer,
                         struct workflow_import *out, struct arena *a, struct error *err)
{
    const struct workflow_source source = {WORKFLOW_IN_STG, pointer, NULL};
    struct reader r = {.at = text, .end = text + length, .line = 1, .err = err};
    struct word declared = {0}, id = {0};
    size_t tasks = 0, rest;

    r.b = workflow_builder_open(&source, a, err);
    TRY(need_whole(&r, "the number of tasks", &declared));
    rest = words_on_line(&r);
    if (rest == 1)
        TRY(next_word(&r, &id)); /* processors */
    while (skip_blanks(&r), r.at < r.end) {
        if (budget_read_step(TASK_STEPS))
            return fail(err, ERR_CANCELLED, "", "the client went away");
        TRY(need_whole(&r, "the number of a task", &id));
        TRY(read_task(&r, &id));
        tasks++;
    }
    if ((double)tasks < declared.number)
        return workflow_mistake(r.b, r.line, ITEM_CUT,
                                "%s %s there, the first line says %.0f and two dummies",
                                counted(tasks, "task").text, plural(tasks, "is", "are"),
                                declared.number);
    if ((double)tasks != declared.number && (double)tasks != declared.number + 2)
        workflow_count(r.b, WORKFLOW_REPAIR_missing_counts, 1);
    return workflow_build(r.b, out);
}
