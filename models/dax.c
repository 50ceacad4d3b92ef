/* dax.c - a DAX document to a workflow; the only file that sees expat. */
#include "models/dax.h"

#include "models/base/budget_read.h"
#include "models/lines.h"

#include <expat.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    DEPTH_MAX = 64,
    TEXT_MAX = 64,
    ELEMENT_STEPS = 256 /* what an element costs, about */
};

/* What the text of an element is wanted for. */
enum wanted { NOTHING, RUN_TIME, USE_SIZE, FILE_SIZE };

struct reader {
    XML_Parser parser;
    struct workflow_builder *b;
    struct arena *arena;
    struct error *err;
    size_t depth, inside_left_out; /* 0: no; else its depth */
    enum error_code code;          /* not OK: stopped */

    bool in_job;
    size_t task;
    const char *child; /* of the <child> that is open; NULL: none */

    /* The <uses> or <file> that is open: it is added at its end, when its metadata is
     * known. */
    const char *file; /* NULL: none */
    bool is_use, reads, writes;
    double bytes;

    enum wanted wanted;
    char text[TEXT_MAX];
    size_t text_length;

    double declared_jobs; /* NAN: not said */
    size_t jobs;
};

static uint64_t line_of(const struct reader *r)
{
    return XML_GetCurrentLineNumber(r->parser);
}

static void stop(struct reader *r, enum error_code code)
{
    if (r->code == OK)
        r->code = code;
    XML_StopParser(r->parser, XML_FALSE);
}

/* Notes a failure of the builder, which ends the reading. */
static void check(struct reader *r, enum error_code code)
{
    if (code != OK)
        stop(r, code);
}

static const char *attribute(const XML_Char **attributes, const char *name)
{
    for (size_t i = 0; attributes[i]; i += 2)
        if (strcmp(attributes[i], name) == 0)
            return attributes[i + 1];
    return NULL;
}

/* An attribute that must be there; NULL and a mistake without it. */
static const char *needed(struct reader *r, const XML_Char **attributes, const char *name,
                          const char *element)
{
    const char *value = attribute(attributes, name);

    if (value && *value)
        return value;
    workflow_mistake(r->b, line_of(r), ITEM_REQUIRED, "<%s> needs the attribute %s",
                     element, name);
    return NULL;
}

/* NAN without a text, and with a mistake when it is no number. */
static double number_of(struct reader *r, const char *text, const char *what)
{
    double number;

    if (!text)
        return NAN;
    if (line_number(text, &number))
        return number;
    workflow_mistake(r->b, line_of(r), ITEM_WRONG_TYPE,
                     "%s '%.40s' is no number below 1e15", what, text);
    return NAN;
}

static const char *keep(struct reader *r, const char *text)
{
    return arena_text(r->arena, text, strlen(text));
}

/* ---- elements ---- */

static void open_job(struct reader *r, const XML_Char **attributes)
{
    const char *id = needed(r, attributes, "id", "job");
    const char *label = attribute(attributes, "name");

    r->jobs++;
    if (!label)
        label = attribute(attributes, "file"); /* of <dax> and <dag> */
    if (!id)
        return;
    r->in_job = true;
    check(r, workflow_add_task(
                 r->b, id, label,
                 number_of(r, attribute(attributes, "runtime"), "the run time"),
                 line_of(r), &r->task));
}

static void open_file(struct reader *r, const XML_Char **attributes, bool is_use)
{
    const char *name = attribute(attributes, "file"); /* 2.x */
    const char *link = attribute(attributes, "link");

    if (!name)
        name = needed(r, attributes, "name", is_use ? "uses" : "file");
    if (!name)
        return;
    r->is_use = is_use;
    r->reads = link && (strcmp(link, "input") == 0 || strcmp(link, "inout") == 0);
    r->writes = link && (strcmp(link, "output") == 0 || strcmp(link, "inout") == 0);
    r->bytes = number_of(r, attribute(attributes, "size"), "the size");
    r->file = keep(r, name);
}

static void close_file(struct reader *r)
{
    const char *file = r->file;

    r->file = NULL;
    if (!file || r->code != OK)
        return;
    if (!r->is_use) {
        check(r, workflow_add_file(r->b, file, r->bytes));
        return;
    }
    if (r->reads)
        check(r, workflow_add_use(r->b, r->task, WORKFLOW_READS, file, r->bytes));
    if (r->writes)
        check(r, workflow_add_use(r->b, r->task, WORKFLOW_WRITES, file, r->bytes));
}

static void open_parent(struct reader *r, const XML_Char **attributes)
{
    const char *parent = needed(r, attributes, "ref", "parent");

    if (parent)
        check(r, workflow_add_dependency(r->b, parent, r->child, NAN, WORKFLOW_BY_BOTH,
                                         line_of(r)));
}

static void leave_out_profile(struct reader *r, const char *space, const char *key)
{
    char place[96];

    snprintf(place, sizeof(place), "<%s> %.30s %.40s", r->in_job ? "job" : "adag",
             space ? space : "profile", key);
    workflow_leave_out(r->b, place);
}

static void open_text(struct reader *r, const XML_Char **attributes, bool is_profile)
{
    const char *key = attribute(attributes, "key");
    const char *space = attribute(attributes, "namespace");

    if (!key)
        return;
    r->text_length = 0;
    if (is_profile && r->in_job && space && strcasecmp(space, "pegasus") == 0 &&
        strcmp(key, "runtime") == 0)
        r->wanted = RUN_TIME;
    else if (is_profile)
        leave_out_profile(r, space, key);
    else if (r->file && strcmp(key, "size") == 0)
        r->wanted = r->is_use ? USE_SIZE : FILE_SIZE;
    else
        leave_out_profile(r, "metadata", key);
}

static void close_text(struct reader *r)
{
    char *text = r->text + strspn(r->text, " \t\r\n");
    double number;

    text[strcspn(text, " \t\r\n")] = 0;
    number = number_of(r, text, r->wanted == RUN_TIME ? "the run time" : "the size");
    if (r->wanted == RUN_TIME)
        workflow_task_run_time(r->b, r->task, number);
    else if (isnan(r->bytes))
        r->bytes = number;
    r->wanted = NOTHING;
}

static void open_root(struct reader *r, const char *name, const XML_Char **attributes)
{
    if (strcmp(name, "adag") != 0) {
        stop(r, workflow_mistake(r->b, line_of(r), ITEM_NOT_DAX,
                                 "the outermost element is <%.40s>, not <adag>", name));
        return;
    }
    r->declared_jobs = number_of(r, attribute(attributes, "jobCount"), "jobCount");
}

static bool is_job(const char *name)
{
    return strcmp(name, "job") == 0 || strcmp(name, "dax") == 0 ||
           strcmp(name, "dag") == 0;
}

/* "pegasus:job" is a job. */
static const char *local_name(const char *name)
{
    const char *colon = strchr(name, ':');

    return colon ? colon + 1 : name;
}

/* An element that is not used, with all that is in it. */
static void leave_out(struct reader *r, const char *name)
{
    char place[96];

    snprintf(place, sizeof(place), "<%.40s>", name);
    workflow_leave_out(r->b, place);
    r->inside_left_out = r->depth;
}

static void XMLCALL on_start(void *context, const XML_Char *element,
                             const XML_Char **attributes)
{
    struct reader *r = context;
    const char *name = local_name(element), *child;

    if (r->code != OK)
        return;
    if (budget_read_step(ELEMENT_STEPS)) {
        stop(r, fail(r->err, ERR_CANCELLED, "", "the client went away"));
    } else if (++r->depth > DEPTH_MAX) {
        stop(r, workflow_mistake(r->b, line_of(r), ITEM_TOO_DEEP,
                                 "more than %d elements in each other", DEPTH_MAX));
    } else if (r->depth == 1) {
        open_root(r, name, attributes);
    } else if (r->depth == 2 && is_job(name)) {
        open_job(r, attributes);
    } else if (r->depth == 2 && strcmp(name, "child") == 0) {
        child = needed(r, attributes, "ref", "child");
        r->child = child ? keep(r, child) : NULL;
    } else if (r->depth == 3 && r->child && strcmp(name, "parent") == 0) {
        open_parent(r, attributes);
    } else if (r->depth == 3 && r->in_job && strcmp(name, "uses") == 0) {
        open_file(r, attributes, true);
    } else if (r->depth == 2 && strcmp(name, "file") == 0) {
        open_file(r, attributes, false);
    } else if (strcmp(name, "profile") == 0 || strcmp(name, "metadata") == 0) {
        open_text(r, attributes, name[0] == 'p');
    } else if (!r->inside_left_out) {
        leave_out(r, name);
    }
}

static void XMLCALL on_end(void *context, const XML_Char *element)
{
    struct reader *r = context;

    (void)element;
    if (r->code != OK)
        return;
    if (r->wanted != NOTHING)
        close_text(r);
    if (r->depth == (r->is_use ? 3 : 2) && r->file)
        close_file(r);
    if (r->depth == r->inside_left_out)
        r->inside_left_out = 0;
    if (r->depth == 2) {
        r->in_job = false;
        r->child = NULL;
    }
    r->depth--;
}

static void XMLCALL on_text(void *context, const XML_Char *text, int length)
{
    struct reader *r = context;

    for (int i = 0; i < length && r->wanted != NOTHING; i++)
        if (r->text_length + 1 < TEXT_MAX)
            r->text[r->text_length++] = text[i];
    r->text[r->text_length] = 0;
}

static void XMLCALL on_doctype(void *context, const XML_Char *name,
                               const XML_Char *system_id, const XML_Char *public_id,
                               int has_internal_subset)
{
    struct reader *r = context;

    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_internal_subset;
    stop(r, workflow_mistake(r->b, line_of(r), ITEM_DOCTYPE,
                             "a document type declaration is refused; DAX needs none"));
}

/* ---- the whole ---- */

/* What is parsed: the callbacks take memory, and the parser must be released however they
 * end. */
struct document {
    struct reader *reader;
    const char *text;
    size_t length;
    enum XML_Status status;
};

static void run_parser(void *context)
{
    struct document *d = context;

    d->status = XML_Parse(d->reader->parser, d->text, (int)d->length, XML_TRUE);
}

static enum error_code parse(struct reader *r, const char *text, size_t length)
{
    struct document d = {r, text, length, XML_STATUS_ERROR};
    enum XML_Error error;

    if (!arena_run(r->arena, run_parser, &d)) {
        XML_ParserFree(r->parser);
        arena_leave(r->arena);
    }
    if (d.status == XML_STATUS_OK || r->code != OK)
        return r->code;
    error = XML_GetErrorCode(r->parser);
    if (error == XML_ERROR_NO_MEMORY) {
        XML_ParserFree(r->parser);
        arena_leave(r->arena);
    }
    return workflow_mistake(r->b, line_of(r), ITEM_MALFORMED, "column %llu: not XML: %s",
                            (unsigned long long)XML_GetCurrentColumnNumber(r->parser) + 1,
                            XML_ErrorString(error));
}

enum error_code dax_read(const char *text, size_t length, const char *pointer,
                         struct workflow_import *out, struct arena *a, struct error *err)
{
    const struct workflow_source source = {WORKFLOW_IN_DAX, pointer, NULL};
    struct reader r = {.arena = a, .err = err, .declared_jobs = NAN};
    enum error_code code;

    if (length > INT_MAX)
        return fail(err, ERR_TOO_LARGE, pointer, "the document has more than 2 GiB");
    r.b = workflow_builder_open(&source, a, err);
    r.parser = XML_ParserCreate("UTF-8");
    if (!r.parser)
        arena_leave(a);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    code = parse(&r, text, length);
    XML_ParserFree(r.parser);
    if (code != OK)
        return code;
    if (!isnan(r.declared_jobs) && r.declared_jobs != (double)r.jobs)
        workflow_count(r.b, WORKFLOW_REPAIR_missing_counts, 1);
    return workflow_build(r.b, out);
}
