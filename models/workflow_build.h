/* workflow_build.h - a workflow put together from what a file says, piece by piece.
 *
 * Readers of file formats (dax.h, stg.h, wfformat.h) report tasks, files and
 * dependencies in any order, by name, each with the place where it stands. Finishing
 * resolves the names, repairs by stated rules what can be repaired, counts each repair,
 * and refuses the rest, all mistakes at once, each with its place.
 *
 * Rules
 *   run time missing or negative     not known (NAN); counted
 *   size missing or negative         0 bytes; counted
 *   sizes of one file differ         what the writer says counts; counted
 *   dependency given twice           once; counted
 *   file of a task that is no parent the dependency is added, counted; if all of these
 *                                    together close a circle none is, and such files
 *                                    are staged in
 *   file that nobody writes          staged in from the home site: input_bytes
 *   two tasks of one id, unknown id, circle, no task: refused
 *
 * Bytes of a dependency are the sum of the sizes, as the parent has them, of the files
 * that the parent writes and the child reads.
 */
#ifndef GRIDPLAN_WORKFLOW_BUILD_H
#define GRIDPLAN_WORKFLOW_BUILD_H

#include "models/base/error.h"
#include "models/workflow.h"

#include <stdint.h>

/* Formats, workflow_import.format. */
#define WORKFLOW_IN_DAX          "dax"
#define WORKFLOW_IN_STG          "stg"
#define WORKFLOW_IN_WFFORMAT     "wfformat"
#define WORKFLOW_IN_DOT          "dot"
#define WORKFLOW_IN_SNAKEMAKE_D3 "snakemake_d3"
#define WORKFLOW_IN_PEGASUS      "pegasus"

/* What was repaired or left out: name on the wire, meaning. */
#define WORKFLOW_REPAIRS(X)                                                             \
    X(unknown_run_times, "Tasks without a run time, or with a negative one: not known") \
    X(run_time_defaulted,                                                               \
      "Tasks without a run time: default_ref_s, or their time limit "                   \
      "if that is shorter")                                                             \
    X(zero_run_times, "Tasks without a run time, of zero_classes: 0")                   \
    X(unknown_sizes, "Files without a size, or with a negative one: 0 bytes")           \
    X(differing_sizes,                                                                  \
      "Uses of a file with another size than where it is written: that "                \
      "counts")                                                                         \
    X(repeated_files, "Files that a task names twice in one role: once")                \
    X(repeated_dependencies, "Dependencies that are given twice: once")                 \
    X(one_sided_dependencies, "Dependencies that only one of parents and children has") \
    X(added_dependencies, "Dependencies that only files show: added")                   \
    X(unordered_reads, "Files of tasks that are no parents, where such dependencies "   \
                       "would close a circle: staged in")                               \
    X(references_by_name, "References to a task by its name instead of its id")         \
    X(run_times_of_no_task, "Run times of tasks that the workflow does not have: "      \
                            "left out")                                                 \
    X(machines, "Machines that the file describes: left out, resources are those of "   \
                "the snapshot")                                                         \
    X(several_machines, "Tasks that ran on several machines: counted as on one")        \
    X(missing_counts, "Declared numbers of tasks that are not those of the file")

enum workflow_repair {
#define X(name, doc) WORKFLOW_REPAIR_##name,
    WORKFLOW_REPAIRS(X)
#undef X
        WORKFLOW_REPAIR_COUNT
};

/* By enum, then left_out: members that are not used. Ended by NULL. */
extern const char *const workflow_repair_names[];

/* One kind of repair that was made. */
struct workflow_repaired {
    const char *kind, *detail;
    uint64_t count; /* >= 1 */
};

struct workflow_builder;

/* A workflow from a file. Dependencies have their bytes (or, from STG with costs, their
 * transfer_s), tasks estimate_ref_s, input_bytes, output_bytes. */
struct workflow_import {
    const char *format; /* one of those above */
    struct workflow workflow;
    const char *const *labels; /* [task_count]: what kind of task it is; NULL: not said */
    uint64_t task_count, dependency_count;
    double dependency_bytes, input_bytes; /* sums */
    double run_time_s;                    /* sum of the run times that are known */
    double critical_path_s; /* longest chain of run times, without transfers */
    const struct workflow_repaired *repairs;
    size_t repair_count;
    const char *const *warnings; /* the repairs as sentences */
    size_t warning_count;
    struct workflow_builder *builder; /* for workflow_import_assume() */
};

/* What a file does not say. */
struct workflow_assumed {
    const char *const *zero_classes; /* labels of tasks that take no time, else unsaid */
    size_t zero_class_count;
    double default_ref_s; /* run time that is not known, > 0; NAN: stays unknown */
};

enum {
    WORKFLOW_BUILD_TASKS_MAX = 1000000,
    WORKFLOW_BUILD_PIECES_MAX = 8000000 /* uses of files, dependencies: of each */
};

/* The parent's list names the child, or the child's the parent; or a format has one
 * list only. */
enum workflow_side {
    WORKFLOW_BY_CHILD = 1,
    WORKFLOW_BY_PARENT = 2,
    WORKFLOW_BY_BOTH = 3
};

enum workflow_role { WORKFLOW_READS, WORKFLOW_WRITES };

/* `at` of a piece says where it stands: with `locate` NULL it is a line, else locate()
 * writes what goes behind `pointer`. Texts are copied; numbers that are NAN are not
 * known. Failing are: memory, and the limits above (ERR_TOO_LARGE). */
struct workflow_source {
    const char *format;  /* "dax" */
    const char *pointer; /* to the text, "/dax" */
    void (*locate)(uint64_t at, char *pointer, size_t size);
};

struct workflow_builder *workflow_builder_open(const struct workflow_source *source,
                                               struct arena *a, struct error *err);

/* Notes a mistake at a place. Returns ERR_INVALID. */
enum error_code workflow_mistake(struct workflow_builder *b, uint64_t at,
                                 enum item_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* *task: its number. `label` NULL: none. */
enum error_code workflow_add_task(struct workflow_builder *b, const char *id,
                                  const char *label, double run_time_s, uint64_t at,
                                  size_t *task);

/* What was not known when it was added, before the next task. */
void workflow_task_run_time(struct workflow_builder *b, size_t task, double run_time_s);

/* How a task ran; NAN: not known. */
struct workflow_ran {
    double run_time_s, cpus, memory_bytes;
};

/* Cpus and memory of a task that was added. What is not above 0 is not known, and counted
 * as left out unless it is no memory. */
void workflow_task_needs(struct workflow_builder *b, size_t task,
                         const struct workflow_ran *ran);

/* What else a task may say. */
struct workflow_more {
    double disk_bytes;   /* NAN, 0: not said; below 0: left out, and counted */
    double time_limit_s; /* NAN: none; not above 0: left out, and counted */
    bool done;           /* it need not run any more */
};
void workflow_task_more(struct workflow_builder *b, size_t task,
                        const struct workflow_more *more);

/* How a task that is named ran, of those that were or will be added. */
enum error_code workflow_add_ran(struct workflow_builder *b, const char *id,
                                 const struct workflow_ran *ran, uint64_t at);

enum error_code workflow_add_use(struct workflow_builder *b, size_t task,
                                 enum workflow_role role, const char *file, double bytes);

/* The size of a file, for uses that do not say it. */
enum error_code workflow_add_file(struct workflow_builder *b, const char *file,
                                  double bytes);

enum error_code workflow_add_dependency(struct workflow_builder *b, const char *parent,
                                        const char *child, double transfer_s,
                                        enum workflow_side side, uint64_t at);

/* Counts what the reader itself repaired or left out. */
void workflow_count(struct workflow_builder *b, enum workflow_repair kind,
                    uint64_t count);

/* Counts a member that is not used, by its place in the document, "/workflow/name": all
 * of them are one repair "left_out". */
void workflow_leave_out(struct workflow_builder *b, const char *place);

/* Puts it together. Cost: linear in the pieces, and for files that many tasks write and
 * many read, the lesser of writers and parents for each use. */
enum error_code workflow_build(struct workflow_builder *b, struct workflow_import *out);

/* Fills in run times that the file did not say, and counts them. O(tasks * classes +
 * dependencies). */
void workflow_import_assume(struct workflow_import *in,
                            const struct workflow_assumed *assumed);

#endif
