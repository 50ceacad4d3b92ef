/* pegasus.c - a workflow of Pegasus 5 to a workflow. */
#include "models/pegasus.h"

#include "models/base/budget_read.h"
#include "models/lines.h"
#include "models/yaml.h"

#include <math.h>
#include <string.h>

enum { JOB_STEPS = 64 };

#define BYTES_PER_MB 1e6

struct reader {
    struct workflow_builder *b;
    struct error *err;
};

static void wrong_type(struct reader *r, const struct yaml_node *node, const char *what,
                       const char *expected)
{
    workflow_mistake(r->b, node->line, ITEM_WRONG_TYPE, "column %u: %s must be %s",
                     node->column, what, expected);
}

/* A member that is a text; NULL: there is none, or a mistake. */
static const char *text_of(struct reader *r, const struct yaml_node *map,
                           const char *member)
{
    const struct yaml_node *node = yaml_member(map, member);

    if (yaml_is_null(node))
        return NULL;
    if (node->kind == YAML_SCALAR && *node->text)
        return node->text;
    wrong_type(r, node, member, "a text");
    return NULL;
}

/* Times `unit`; NAN: there is none, or a mistake. */
static double number_of(struct reader *r, const struct yaml_node *map, const char *member,
                        double unit)
{
    const struct yaml_node *node = yaml_member(map, member);
    double number;

    if (yaml_is_null(node))
        return NAN;
    if (yaml_number(node, &number))
        return number * unit;
    wrong_type(r, node, member, "a number of at most 1e15");
    return NAN;
}

/* "2048" MB, or "2 GB", of which each unit is 1024 of the one below: bytes. */
static double megabytes_of(struct reader *r, const struct yaml_node *map,
                           const char *member)
{
    static const struct {
        const char *unit;
        double mb;
    } units[] = {{"KB", 1.0 / 1024}, {"MB", 1}, {"GB", 1024}, {"TB", 1024 * 1024.0}};
    const struct yaml_node *node = yaml_member(map, member);
    char number[24];
    double count;

    if (!node || node->kind != YAML_SCALAR)
        return number_of(r, map, member, BYTES_PER_MB);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t length = strspn(node->text, "0123456789.");
        const char *unit = node->text + length + strspn(node->text + length, " ");

        if (length == 0 || length >= sizeof(number) || strcmp(unit, units[i].unit) != 0)
            continue;
        memcpy(number, node->text, length);
        number[length] = 0;
        if (line_number(number, &count))
            return count * units[i].mb * BYTES_PER_MB;
    }
    return number_of(r, map, member, BYTES_PER_MB);
}

/* A member that is a list; its length is 0 if there is none. */
static const struct yaml_node *list_of(struct reader *r, const struct yaml_node *map,
                                       const char *member)
{
    static const struct yaml_node none = {.kind = YAML_LIST};
    const struct yaml_node *node = yaml_member(map, member);

    if (yaml_is_null(node))
        return &none;
    if (node->kind == YAML_LIST)
        return node;
    wrong_type(r, node, member, "a list");
    return &none;
}

static enum error_code read_use(struct reader *r, size_t task,
                                const struct yaml_node *use)
{
    const char *file = text_of(r, use, "lfn"), *type = text_of(r, use, "type");
    double bytes = number_of(r, use, "size", 1);
    bool both = type && (strcmp(type, "inout") == 0 || strcmp(type, "checkpoint") == 0);

    if (isnan(bytes))
        bytes = number_of(r, yaml_member(use, "metadata"), "size", 1);
    if (use->kind != YAML_MAP || !file)
        return workflow_mistake(r->b, use->line, ITEM_REQUIRED,
                                "column %u: a use without lfn", use->column);
    if (!type || (!both && strcmp(type, "input") != 0 && strcmp(type, "output") != 0))
        return workflow_mistake(r->b, use->line, ITEM_NOT_A_CHOICE,
                                "column %u: the type of '%.40s' must be input, output, "
                                "inout or checkpoint",
                                use->column, file);
    if (type[0] == 'c')
        return OK; /* its own, of an earlier try */
    if (both || strcmp(type, "input") == 0)
        TRY(workflow_add_use(r->b, task, WORKFLOW_READS, file, bytes));
    if (both || strcmp(type, "output") == 0)
        TRY(workflow_add_use(r->b, task, WORKFLOW_WRITES, file, bytes));
    return OK;
}

/* Passes on what is no mistake of the file. */
static enum error_code unless_mistake(enum error_code code)
{
    return code == ERR_INVALID ? OK : code;
}

/* Of the two ways to write it. */
static double minutes_of(struct reader *r, const struct yaml_node *globus)
{
    double minutes = number_of(r, globus, "maxWallTime", 1);

    return isnan(minutes) ? number_of(r, globus, "maxwalltime", 1) : minutes;
}

static enum error_code read_job(struct reader *r, const struct yaml_node *job)
{
    const struct yaml_node *profiles = yaml_member(job, "profiles");
    const struct yaml_node *own = yaml_member(profiles, "pegasus"), *uses;
    const char *id = text_of(r, job, "id");
    double run_time_s = number_of(r, own, "runtime", 1);
    double minutes = minutes_of(r, yaml_member(profiles, "globus"));
    size_t task;

    if (job->kind != YAML_MAP || !id)
        return workflow_mistake(r->b, job->line, ITEM_REQUIRED,
                                "column %u: a job without id", job->column);
    TRY(workflow_add_task(r->b, id, text_of(r, job, "name"), run_time_s, job->line,
                          &task));
    workflow_task_needs(r->b, task,
                        &(struct workflow_ran){NAN, number_of(r, own, "cores", 1),
                                               megabytes_of(r, own, "memory")});
    workflow_task_more(
        r->b, task,
        &(struct workflow_more){megabytes_of(r, own, "diskspace"), minutes * 60, false});
    uses = list_of(r, job, "uses");
    for (size_t i = 0; i < uses->count; i++)
        TRY(unless_mistake(read_use(r, task, uses->items[i].value)));
    return OK;
}

static enum error_code read_children(struct reader *r, const struct yaml_node *row)
{
    const char *parent = text_of(r, row, "id");
    const struct yaml_node *children = list_of(r, row, "children");

    if (!parent)
        return workflow_mistake(r->b, row->line, ITEM_REQUIRED,
                                "column %u: a dependency without id", row->column);
    for (size_t i = 0; i < children->count; i++) {
        const struct yaml_node *child = children->items[i].value;

        if (child->kind != YAML_SCALAR || !*child->text)
            wrong_type(r, child, "a child", "the id of a job");
        else
            TRY(workflow_add_dependency(r->b, parent, child->text, NAN, WORKFLOW_BY_BOTH,
                                        children->items[i].line));
    }
    return OK;
}

typedef enum error_code row_fn(struct reader *r, const struct yaml_node *row);

static enum error_code read_rows(struct reader *r, const struct yaml_node *root,
                                 const char *member, row_fn *read)
{
    const struct yaml_node *list = list_of(r, root, member);

    for (size_t i = 0; i < list->count; i++) {
        if (budget_read_step(JOB_STEPS))
            return fail(r->err, ERR_CANCELLED, "", "the client went away");
        TRY(unless_mistake(read(r, list->items[i].value)));
    }
    return OK;
}

enum error_code pegasus_read(const char *text, size_t length, const char *pointer,
                             struct workflow_import *out, struct arena *a,
                             struct error *err)
{
    const struct workflow_source source = {WORKFLOW_IN_PEGASUS, pointer, NULL};
    struct reader r = {.err = err};
    const struct yaml_node *root;
    const char *version;

    TRY(yaml_read(text, length, pointer, &root, a, err));
    r.b = workflow_builder_open(&source, a, err);
    if (root->kind != YAML_MAP)
        return invalid(err, pointer, ITEM_WRONG_TYPE, "must be a map");
    version = text_of(&r, root, "pegasus");
    if (!version || strncmp(version, "5", 1) != 0 || (version[1] && version[1] != '.'))
        return invalid(err, pointer, ITEM_NOT_A_CHOICE,
                       "'pegasus: \"5.0\"' is required; other versions are not "
                       "understood");
    TRY(read_rows(&r, root, "jobs", read_job));
    TRY(read_rows(&r, root, "jobDependencies", read_children));
    return workflow_build(r.b, out);
}
