/* wfformat.c - a WfFormat document to a workflow, read front to back without a tree.
 *
 * Places are numbers: which list, which element, which member, which element of that.
 */
#include "models/wfformat.h"

#include "models/json_walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Lists of objects, where mistakes can be. */
enum list_kind { SPEC_TASKS, SPEC_FILES, EXEC_TASKS, OLD_TASKS, OLD_JOBS };
static const char *const list_pointers[] = {
    [SPEC_TASKS] = "/workflow/specification/tasks",
    [SPEC_FILES] = "/workflow/specification/files",
    [EXEC_TASKS] = "/workflow/execution/tasks",
    [OLD_TASKS] = "/workflow/tasks",
    [OLD_JOBS] = "/workflow/jobs",
};

/* Their members. */
enum member {
    ITSELF,
    ID,
    RUN_TIME,
    SIZE,
    PARENTS,
    CHILDREN,
    INPUTS,
    OUTPUTS,
    FILES,
    CORES,
    MEMORY
};
static const char *const member_pointers[] = {
    [ITSELF] = "",
    [ID] = "/id",
    [RUN_TIME] = "/runtimeInSeconds",
    [SIZE] = "/sizeInBytes",
    [PARENTS] = "/parents",
    [CHILDREN] = "/children",
    [INPUTS] = "/inputFiles",
    [OUTPUTS] = "/outputFiles",
    [FILES] = "/files",
    [CORES] = "/coreCount",
    [MEMORY] = "/memoryInBytes",
};

enum { LIST_SHIFT = 60, INDEX_SHIFT = 32, MEMBER_SHIFT = 28, NO_ELEMENT = (1 << 28) - 1 };

struct reader {
    struct json_walk walk;
    struct workflow_builder *b;
    struct arena *arena;
    struct error *err;
    const char *pointer;
    enum error_code code; /* of the builder; not OK: stop */
    enum list_kind list;
    uint64_t index;
    char *id, *label, *file; /* of what is read now */
    size_t id_size, label_size, file_size;
    bool has_id, has_label;
    size_t task;
    struct workflow_ran ran;
    bool has_run_time;
};

static uint64_t place(const struct reader *r, enum member member, size_t element)
{
    return (uint64_t)r->list << LIST_SHIFT | r->index << INDEX_SHIFT |
           (uint64_t)member << MEMBER_SHIFT |
           (element < NO_ELEMENT ? element : NO_ELEMENT);
}

static void locate(uint64_t at, char *pointer, size_t size)
{
    uint64_t element = at & NO_ELEMENT;
    char last[24] = "";

    if (element != NO_ELEMENT)
        snprintf(last, sizeof(last), "/%llu", (unsigned long long)element);
    snprintf(pointer, size, "%s/%llu%s%s", list_pointers[at >> LIST_SHIFT],
             (unsigned long long)(at >> INDEX_SHIFT & 0xfffffff),
             member_pointers[at >> MEMBER_SHIFT & 0xf], last);
}

static bool goes_on(const struct reader *r)
{
    return r->code == OK && !r->walk.failed;
}

static void check(struct reader *r, enum error_code code)
{
    if (r->code == OK)
        r->code = code;
}

static void wrong_type(struct reader *r, enum member member, size_t element,
                       const char *expected)
{
    workflow_mistake(r->b, place(r, member, element), ITEM_WRONG_TYPE, "must be %s",
                     expected);
    json_walk_skip(&r->walk);
}

/* Steps over a member that is not used, of an object at a place of the document. */
static void leave_out(struct reader *r, const char *where, const char *member)
{
    char place_of[96];

    snprintf(place_of, sizeof(place_of), "%.48s/%.40s", where, member);
    if (r->b)
        workflow_leave_out(r->b, place_of);
    json_walk_skip(&r->walk);
}

/* The same of an element of the list that is read. */
static void leave_out_of_list(struct reader *r, const char *member)
{
    char where[64];

    snprintf(where, sizeof(where), "%s/*", list_pointers[r->list]);
    leave_out(r, where, member);
}

/* A number that may be null; NAN then, and with a mistake for what is none. */
static double number(struct reader *r, enum member member)
{
    char type = json_walk_type(&r->walk);
    double found = NAN;

    if (type == '0')
        found = json_walk_number(&r->walk);
    else if (type == 'n')
        json_walk_skip(&r->walk);
    else
        wrong_type(r, member, NO_ELEMENT, "a number");
    if (fabs(found) > 1e15) {
        workflow_mistake(r->b, place(r, member, NO_ELEMENT), ITEM_OUT_OF_BOUNDS,
                         "must be at most 1e15, not %g", found);
        return NAN;
    }
    return found;
}

/* ---- lists of names ---- */

static void take_name(struct reader *r, enum member member, const char *name, size_t i)
{
    uint64_t at = place(r, member, i);

    switch (member) {
    case PARENTS:
        check(r, workflow_add_dependency(r->b, name, r->id, NAN, WORKFLOW_BY_CHILD, at));
        break;
    case CHILDREN:
        check(r, workflow_add_dependency(r->b, r->id, name, NAN, WORKFLOW_BY_PARENT, at));
        break;
    case INPUTS:
        check(r, workflow_add_use(r->b, r->task, WORKFLOW_READS, name, NAN));
        break;
    default:
        check(r, workflow_add_use(r->b, r->task, WORKFLOW_WRITES, name, NAN));
        break;
    }
}

static void take_names(struct reader *r, enum member member)
{
    if (json_walk_type(&r->walk) == 'n') {
        json_walk_skip(&r->walk);
        return;
    }
    if (json_walk_type(&r->walk) != '[') {
        wrong_type(r, member, NO_ELEMENT, "a list");
        return;
    }
    json_walk_enter(&r->walk, '[');
    for (size_t i = 0; goes_on(r) && json_walk_element(&r->walk); i++) {
        if (json_walk_type(&r->walk) == '"')
            take_name(r, member, json_walk_string(&r->walk), i);
        else
            wrong_type(r, member, i, "a string");
    }
}

/* ---- files ---- */

/* A copy of a string that lasts until the next one of them. */
static const char *keep(struct reader *r, const char *text, char **kept, size_t *size)
{
    size_t needed = strlen(text) + 1;

    if (needed > *size) {
        *kept = NEW(r->arena, char, needed * 2);
        *size = needed * 2;
    }
    memcpy(*kept, text, needed);
    return *kept;
}

/* A string member; NULL: null, or a mistake. */
static const char *text_member(struct reader *r, enum member member)
{
    char type = json_walk_type(&r->walk);

    if (type == '"')
        return json_walk_string(&r->walk);
    if (type == 'n')
        json_walk_skip(&r->walk);
    else
        wrong_type(r, member, NO_ELEMENT, "a string");
    return NULL;
}

static bool is_size(const char *member)
{
    return strcmp(member, "sizeInBytes") == 0 || strcmp(member, "size") == 0;
}

/* A file of a task, up to 1.4: name or id, size, link. */
struct old_file {
    bool named, reads, writes;
    double bytes;
};

static void take_link(struct reader *r, struct old_file *file)
{
    const char *link = text_member(r, FILES);
    bool both = link && strcmp(link, "inout") == 0;

    file->reads = both || (link && strcmp(link, "input") == 0);
    file->writes = both || (link && strcmp(link, "output") == 0);
}

static void read_old_file(struct reader *r, struct old_file *file)
{
    const char *member, *text;

    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        if (is_size(member)) {
            file->bytes = number(r, FILES);
        } else if (strcmp(member, "link") == 0) {
            take_link(r, file);
        } else if (strcmp(member, "name") == 0 ||
                   (strcmp(member, "id") == 0 && !file->named)) {
            text = text_member(r, FILES);
            if (!text || !*text)
                continue;
            file->named = true;
            keep(r, text, &r->file, &r->file_size);
        } else {
            leave_out_of_list(r, member);
        }
    }
}

static void take_old_file(struct reader *r, size_t i)
{
    struct old_file file = {.bytes = NAN};
    uint64_t at = place(r, FILES, i);

    json_walk_enter(&r->walk, '{');
    read_old_file(r, &file);
    if (!goes_on(r))
        return;
    if (!file.named) {
        workflow_mistake(r->b, at, ITEM_REQUIRED, "the file has no name");
        return;
    }
    if (file.reads)
        check(r, workflow_add_use(r->b, r->task, WORKFLOW_READS, r->file, file.bytes));
    if (file.writes)
        check(r, workflow_add_use(r->b, r->task, WORKFLOW_WRITES, r->file, file.bytes));
}

static void take_old_files(struct reader *r)
{
    if (json_walk_type(&r->walk) != '[') {
        wrong_type(r, FILES, NO_ELEMENT, "a list");
        return;
    }
    json_walk_enter(&r->walk, '[');
    for (size_t i = 0; goes_on(r) && json_walk_element(&r->walk); i++) {
        if (json_walk_type(&r->walk) == '{')
            take_old_file(r, i);
        else
            wrong_type(r, FILES, i, "an object");
    }
}

static void read_file(struct reader *r)
{
    bool named = false;
    double bytes = NAN;
    const char *member, *text;

    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        if (is_size(member)) {
            bytes = number(r, SIZE);
        } else if (strcmp(member, "id") == 0) {
            text = text_member(r, ID);
            named = text && *text;
            if (named)
                keep(r, text, &r->file, &r->file_size);
        } else {
            leave_out_of_list(r, member);
        }
    }
    if (!goes_on(r))
        return;
    if (!named)
        workflow_mistake(r->b, place(r, ITSELF, NO_ELEMENT), ITEM_REQUIRED,
                         "the file has no id");
    else
        check(r, workflow_add_file(r->b, r->file, bytes));
}

/* ---- tasks ---- */

/* A task that ran on several machines counts as on one. */
static void take_machines(struct reader *r)
{
    size_t count = 0;

    if (json_walk_type(&r->walk) != '[') {
        json_walk_skip(&r->walk);
        return;
    }
    json_walk_enter(&r->walk, '[');
    for (; goes_on(r) && json_walk_element(&r->walk); count++)
        json_walk_skip(&r->walk);
    workflow_count(r->b, WORKFLOW_REPAIR_several_machines, count > 1);
}

/* The lists of a task that read_lists() reads. */
static bool is_list_of_task(const char *member)
{
    static const char *const lists[] = {"parents", "children", "inputFiles",
                                        "outputFiles", "files"};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (strcmp(member, lists[i]) == 0)
            return true;
    return false;
}

static bool is_run_time(const char *member)
{
    return strcmp(member, "runtimeInSeconds") == 0 || strcmp(member, "runtime") == 0;
}

/* How it ran, if the member says that. */
static bool take_ran(struct reader *r, const char *member)
{
    if (is_run_time(member)) {
        r->ran.run_time_s = number(r, RUN_TIME);
        r->has_run_time = true;
    } else if (strcmp(member, "coreCount") == 0 || strcmp(member, "cores") == 0) {
        r->ran.cpus = number(r, CORES);
    } else if (strcmp(member, "memoryInBytes") == 0) {
        r->ran.memory_bytes = number(r, MEMORY);
    } else {
        return false;
    }
    return true;
}

/* What a task is, before its lists: id, name, run time. Leaves the walk at its end. */
static void read_head(struct reader *r)
{
    const char *member, *text;

    r->has_run_time = r->has_id = r->has_label = false;
    r->ran = (struct workflow_ran){NAN, NAN, NAN};
    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        if (strcmp(member, "id") == 0) {
            text = text_member(r, ID);
            r->has_id = text && *text;
            if (r->has_id)
                keep(r, text, &r->id, &r->id_size);
        } else if (strcmp(member, "name") == 0) {
            text = text_member(r, ITSELF);
            r->has_label = text && *text;
            if (r->has_label)
                keep(r, text, &r->label, &r->label_size);
        } else if (take_ran(r, member)) {
            continue;
        } else if (strcmp(member, "machines") == 0) {
            take_machines(r);
        } else if (is_list_of_task(member) && r->list != EXEC_TASKS) {
            json_walk_skip(&r->walk); /* read_lists() reads it */
        } else {
            leave_out_of_list(r, member);
        }
    }
    if (goes_on(r) && !r->has_id && r->has_label) {
        keep(r, r->label, &r->id, &r->id_size);
        r->has_id = true;
    }
}

static void read_lists(struct reader *r)
{
    static const struct {
        const char *name;
        enum member member;
    } lists[] = {{"parents", PARENTS},
                 {"children", CHILDREN},
                 {"inputFiles", INPUTS},
                 {"outputFiles", OUTPUTS}};
    const char *member;

    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        size_t i = 0;

        while (i < 4 && strcmp(member, lists[i].name) != 0)
            i++;
        if (i < 4)
            take_names(r, lists[i].member);
        else if (strcmp(member, "files") == 0)
            take_old_files(r);
        else
            json_walk_skip(&r->walk);
    }
}

/* Its lists need its id, which may stand behind them: read twice. */
static void read_task(struct reader *r)
{
    struct json_walk begin = r->walk;

    read_head(r);
    if (!goes_on(r))
        return;
    if (!r->has_id) {
        workflow_mistake(r->b, place(r, ITSELF, NO_ELEMENT), ITEM_REQUIRED,
                         "the task has neither id nor name");
        return;
    }
    check(r, workflow_add_task(r->b, r->id, r->has_label ? r->label : NULL,
                               r->ran.run_time_s, place(r, ID, NO_ELEMENT), &r->task));
    if (r->code == OK)
        workflow_task_needs(r->b, r->task, &r->ran);
    begin.string = r->walk.string; /* the longer one */
    begin.string_size = r->walk.string_size;
    r->walk = begin;
    read_lists(r);
}

static void read_execution(struct reader *r)
{
    read_head(r);
    if (!goes_on(r) || !r->has_run_time)
        return;
    if (r->has_id)
        check(r, workflow_add_ran(r->b, r->id, &r->ran, place(r, RUN_TIME, NO_ELEMENT)));
    else
        workflow_mistake(r->b, place(r, ITSELF, NO_ELEMENT), ITEM_REQUIRED,
                         "the task has no id");
}

/* ---- the document ---- */

typedef void item_fn(struct reader *r);

/* A mistake that is in no list. */
static void wrong_at(struct reader *r, const char *where, const char *expected)
{
    char pointer[256];

    snprintf(pointer, sizeof(pointer), "%.100s%s", r->pointer, where);
    invalid(r->err, pointer, ITEM_WRONG_TYPE, "must be %s", expected);
    json_walk_skip(&r->walk);
}

static void read_list(struct reader *r, enum list_kind list, item_fn *read)
{
    char type = json_walk_type(&r->walk);

    r->list = list;
    r->index = 0;
    if (type != '[') {
        wrong_at(r, list_pointers[list], "a list");
        return;
    }
    json_walk_enter(&r->walk, '[');
    for (; goes_on(r) && json_walk_element(&r->walk); r->index++) {
        if (json_walk_type(&r->walk) != '{') {
            wrong_type(r, ITSELF, NO_ELEMENT, "an object");
        } else {
            json_walk_enter(&r->walk, '{');
            read(r);
        }
    }
}

/* Into the object that is next; a mistake and false if it is none. */
static bool enter_object(struct reader *r, const char *where)
{
    char type = json_walk_type(&r->walk);

    if (type == '{' || !type) /* nothing: let the walk say so */
        return json_walk_enter(&r->walk, '{');
    wrong_at(r, where, "an object");
    return false;
}

static void count_machines(struct reader *r)
{
    if (json_walk_type(&r->walk) != '[') {
        json_walk_skip(&r->walk);
        return;
    }
    json_walk_enter(&r->walk, '[');
    while (goes_on(r) && json_walk_element(&r->walk)) {
        json_walk_skip(&r->walk);
        workflow_count(r->b, WORKFLOW_REPAIR_machines, 1);
    }
}

static void read_specification(struct reader *r)
{
    const char *member;

    if (!enter_object(r, "/workflow/specification"))
        return;
    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        if (strcmp(member, "tasks") == 0)
            read_list(r, SPEC_TASKS, read_task);
        else if (strcmp(member, "files") == 0)
            read_list(r, SPEC_FILES, read_file);
        else
            leave_out(r, "/workflow/specification", member);
    }
}

static void read_executions(struct reader *r)
{
    const char *member;

    if (!enter_object(r, "/workflow/execution"))
        return;
    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        if (strcmp(member, "tasks") == 0)
            read_list(r, EXEC_TASKS, read_execution);
        else if (strcmp(member, "machines") == 0)
            count_machines(r);
        else
            leave_out(r, "/workflow/execution", member);
    }
}

static void read_workflow(struct reader *r)
{
    const char *member;

    if (!enter_object(r, "/workflow"))
        return;
    while (goes_on(r) && (member = json_walk_member(&r->walk))) {
        if (strcmp(member, "specification") == 0)
            read_specification(r);
        else if (strcmp(member, "execution") == 0)
            read_executions(r);
        else if (strcmp(member, "tasks") == 0)
            read_list(r, OLD_TASKS, read_task);
        else if (strcmp(member, "jobs") == 0)
            read_list(r, OLD_JOBS, read_task);
        else if (strcmp(member, "machines") == 0)
            count_machines(r);
        else
            leave_out(r, "/workflow", member);
    }
}

enum error_code wfformat_read(const char *text, size_t length, const char *pointer,
                              struct workflow_import *out, struct arena *a,
                              struct error *err)
{
    const struct workflow_source source = {WORKFLOW_IN_WFFORMAT, pointer, locate};
    struct reader r = {.arena = a, .err = err, .pointer = pointer};
    const char *member;

    r.b = workflow_builder_open(&source, a, err);
    json_walk_open(&r.walk, text, length, a);
    if (enter_object(&r, ""))
        while (goes_on(&r) && (member = json_walk_member(&r.walk))) {
            if (strcmp(member, "workflow") == 0)
                read_workflow(&r);
            else
                leave_out(&r, "", member);
        }
    TRY(r.code);
    TRY(json_walk_end(&r.walk, pointer, err));
    return workflow_build(r.b, out);
}
