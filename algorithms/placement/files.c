/* placement/files.c - the input files of jobs, and variables in their names.
 *
 * Source: 004_f687c06842f61aec.txt section 4; spec gridway.md 3.5.
 */
#include "algorithms/placement/files.h"

#include <stdio.h>
#include <string.h>

enum { NAME_STEPS = 32 }; /* what a name costs, about */

enum variable {
    VARIABLE_ARCH,
    VARIABLE_TASK,
    VARIABLE_JOB,
    VARIABLE_TOTAL,
    VARIABLE_PARAM,
    VARIABLE_NONE
};

static const struct {
    const char *name;
    bool template_only; /* a name of GridWay job templates */
    enum variable is;
} variables[] = {
    {"GW_ARCH", false, VARIABLE_ARCH}, {"GW_TASK_ID", false, VARIABLE_TASK},
    {"ARCH", true, VARIABLE_ARCH},     {"TASK_ID", true, VARIABLE_TASK},
    {"JOB_ID", true, VARIABLE_JOB},    {"TOTAL_TASKS", true, VARIABLE_TOTAL},
    {"PARAM", true, VARIABLE_PARAM},
};

/* What a job's file names are resolved with. */
struct resolver {
    struct placement_problem *p;
    const struct name_index *file_ids;
    struct error *err;
    bool templates; /* dialect gridway */
    bool warned;
};

static enum variable variable_find(const struct resolver *v, const char *name,
                                   size_t length)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (strlen(variables[i].name) == length &&
            strncmp(variables[i].name, name, length) == 0 &&
            (v->templates || !variables[i].template_only))
            return variables[i].is;
    return VARIABLE_NONE;
}

static const char *variable_value(const struct resolver *v, enum variable variable,
                                  size_t job, const char *arch, char *buffer, size_t size)
{
    const struct job *given = v->p->jobs[job].given;
    double task = isnan(given->task_index) ? (double)job : given->task_index;
    double start = isnan(given->param_start) ? 0 : given->param_start;
    double increment = isnan(given->param_increment) ? 1 : given->param_increment;

    if (variable == VARIABLE_ARCH)
        return arch;
    if (variable == VARIABLE_JOB)
        return given->id;
    if (variable == VARIABLE_TOTAL)
        snprintf(buffer, size, "%zu", v->p->job_count);
    else if (variable == VARIABLE_PARAM)
        snprintf(buffer, size, "%.0f", start + increment * task + 0.0); /* never -0 */
    else
        snprintf(buffer, size, "%.0f", task);
    return buffer;
}

static bool has_arch(const struct resolver *v, const char *text)
{
    return strstr(text, "${GW_ARCH}") || (v->templates && strstr(text, "${ARCH}"));
}

/* Text that grows, up to 4 kB. */
struct text {
    char bytes[4096];
    size_t used;
    bool full;
};

static void append(struct text *t, const char *part, size_t length)
{
    t->full = t->full || length >= sizeof(t->bytes) - t->used;
    if (t->full)
        return;
    memcpy(t->bytes + t->used, part, length);
    t->used += length;
}

/* Appends the value of "${NAME}", of `length` bytes, or the text itself. */
static void append_variable(struct resolver *v, size_t job, const char *arch,
                            const char *written, size_t length, struct text *t)
{
    enum variable variable = variable_find(v, written + 2, length - 3);
    char number[32];
    const char *value;

    if (variable == VARIABLE_NONE) {
        if (!v->warned)
            problem_warn(v->p, "unknown_variable: %.*s in a file name stays as it is",
                         (int)(length < 80 ? length : 80), written);
        v->warned = true;
        append(t, written, length);
        return;
    }
    value = variable_value(v, variable, job, arch, number, sizeof(number));
    append(t, value, strlen(value));
}

/* The name with its variables replaced, in the arena; NULL: too long. */
static const char *expand(struct resolver *v, size_t job, const char *arch,
                          const char *name)
{
    struct text t = {.used = 0};
    const char *open, *close;

    while ((open = strstr(name, "${")) != NULL && (close = strchr(open, '}')) != NULL) {
        append(&t, name, (size_t)(open - name));
        append_variable(v, job, arch, open, (size_t)(close - open + 1), &t);
        name = close + 1;
    }
    append(&t, name, strlen(name));
    return t.full ? NULL : arena_text(v->p->arena, t.bytes, t.used);
}

/* The same has been said of the copy before. */
static bool is_said(const struct resolver *v, size_t job, size_t k)
{
    const struct job *given = v->p->jobs[job].given;
    const char *name = given->input_file_ids[k];

    return given->copy && !(name && strstr(name, "${"));
}

static void unknown_file(struct resolver *v, size_t job, size_t k, const char *name)
{
    char pointer[96];

    if (is_said(v, job, k))
        return;
    snprintf(pointer, sizeof(pointer), "/jobs/%zu/input_file_ids/%zu", job, k);
    invalid(v->err, pointer, ITEM_UNKNOWN_ID, "no file '%.100s' in snapshot.files", name);
}

static void long_name(struct resolver *v, size_t job, size_t k)
{
    char pointer[96];

    snprintf(pointer, sizeof(pointer), "/jobs/%zu/input_file_ids/%zu", job, k);
    invalid(v->err, pointer, ITEM_TOO_LONG,
            "with its variables replaced the name has %zu bytes or more",
            sizeof(((struct text *)0)->bytes));
}

/* Resolves name k of the job in every row; reports it if no row knows it. */
static void resolve_name(struct resolver *v, size_t job, size_t k, size_t row_count,
                         size_t *files, const char **names)
{
    const struct problem_job *j = &v->p->jobs[job];
    const char *given = j->given->input_file_ids[k];
    bool found = false;

    if (!given) {
        unknown_file(v, job, k, "");
        return;
    }
    for (size_t row = 0; row < row_count; row++) {
        size_t at = row * j->file_count + k;

        names[at] = given;
        if (row_count > 1 && budget_step(v->p->in->budget, NAME_STEPS)) {
            files[at] = NAME_NOT_FOUND; /* as on an architecture that has no such file */
            found = v->p->cut = true;
            continue;
        }
        if (strstr(given, "${"))
            names[at] = expand(v, job, j->by_arch ? v->p->archs[row] : "", given);
        if (!names[at]) {
            long_name(v, job, k);
            return;
        }
        files[at] = name_index_find(v->file_ids, names[at]);
        found = found || files[at] != NAME_NOT_FOUND;
    }
    if (!found && row_count)
        unknown_file(v, job, k, names[k]);
}

static void resolve_job(struct resolver *v, size_t job)
{
    struct problem_job *j = &v->p->jobs[job];
    const struct job *given = j->given;
    bool variable = false;
    size_t rows, *files;
    const char **names;

    j->file_count = given->input_file_count;
    for (size_t k = 0; k < given->input_file_count; k++) {
        const char *name = given->input_file_ids[k];

        variable = variable || (name && strstr(name, "${"));
        j->by_arch = j->by_arch || (name && has_arch(v, name));
    }
    rows = j->by_arch ? v->p->arch_count : 1;
    if (rows && j->file_count > SIZE_MAX / rows)
        arena_leave(v->p->arena);
    files = NEW(v->p->arena, size_t, rows * j->file_count);
    names = NEW(v->p->arena, const char *, rows * j->file_count);
    for (size_t k = 0; k < j->file_count; k++)
        resolve_name(v, job, k, rows, files, names);
    j->files = files;
    j->names = variable ? names : NULL;
}

enum error_code files_resolve(struct placement_problem *p,
                              const struct name_index *file_ids, struct error *err)
{
    struct resolver v = {
        .p = p,
        .file_ids = file_ids,
        .err = err,
        .templates = (int)p->common[COMMON_DIALECT] != 0,
    };
    size_t before = err->item_count;

    for (size_t i = 0; i < p->job_count; i++)
        if (p->jobs[i].given->input_file_count)
            resolve_job(&v, i);
    return err->item_count > before ? ERR_INVALID : OK;
}
