/* copies.h - jobs of a request that stand for several equal ones: `count` of a job.
 *
 * A decision sees each copy as a job of its own, next to one another and sharing all that
 * they point to; an answer has a row for all copies that have everything alike. As they
 * are equal, who of them is who is said at the end: the numbers rise with start and
 * resource, and those without a place are the last. A copy that a lease has, and copies
 * whose files have names of their own, keep their numbers.
 *
 * Source: world-model.md 13.
 */
#ifndef GRIDPLAN_PLACEMENT_COPIES_H
#define GRIDPLAN_PLACEMENT_COPIES_H

#include "algorithms/placement/placement.h"
#include "service/json.h"
#include "service/route.h"

enum { COPIES_MAX = 1000000, COPY_WAITS_MAX = 10000000 };

/* Of a T that is, or begins with, a struct job. */
#define JOB_COUNT_ROW(T)                                                             \
    JSON_INTEGER(T, count, 1, COPIES_MAX, 1, 0,                                      \
                 "So many equal jobs, its copies, which answers number from 0; who " \
                 "waits for it waits for all of them; default 1")

/* Of a row of an answer T with the member struct placement_copies copies. */
#define COPIES_ROWS(T)                                                                   \
    {.name = "index",                                                                    \
     .doc = "Which copy of a job with count, from 0",                                    \
     .type = JSON_TYPE_INTEGER,                                                          \
     .offset = JSON_AT(T, copies.index, uint64_t),                                       \
     .max = JSON_EXACT,                                                                  \
     .flags = JSON_OPTIONAL},                                                            \
    {                                                                                    \
        .name = "indexes",                                                               \
        .doc = "Or its copies from the first to the last of "                            \
               "these two",                                                              \
        .type = JSON_TYPE_NUMBERS, .offset = JSON_AT(T, copies.indexes, const double *), \
        .count_offset = JSON_AT(T, copies.indexes_count, size_t), .max = JSON_EXACT,     \
        .flags = JSON_OPTIONAL | JSON_WHOLE                                              \
    }

/* The same as a client sends it. */
struct copies_said {
    double index; /* NAN: not said */
    const double *indexes;
    size_t indexes_count;
    const double *slots;
    size_t slot_count;
};

/* Of a row of a request T with the member struct copies_said copies. */
#define COPIES_SAID_ROWS(T)                                                            \
    {.name = "index",                                                                  \
     .doc = "Which copy of a job with count, from 0",                                  \
     .type = JSON_TYPE_NUMBER,                                                         \
     .offset = JSON_AT(T, copies.index, double),                                       \
     .max = COPIES_MAX,                                                                \
     .preset = NAN,                                                                    \
     .flags = JSON_NULLABLE | JSON_WHOLE},                                             \
        {.name = "indexes",                                                            \
         .doc = "Or its copies from the first to the last of these two",               \
         .type = JSON_TYPE_NUMBERS,                                                    \
         .offset = JSON_AT(T, copies.indexes, const double *),                         \
         .count_offset = JSON_AT(T, copies.indexes_count, size_t),                     \
         .max = COPIES_MAX,                                                            \
         .flags = JSON_WHOLE},                                                         \
    {                                                                                  \
        .name = "slots", .doc = "Their slots, where they do not follow each other",    \
        .type = JSON_TYPE_NUMBERS, .offset = JSON_AT(T, copies.slots, const double *), \
        .count_offset = JSON_AT(T, copies.slot_count, size_t), .max = JSON_EXACT,      \
        .flags = JSON_WHOLE                                                            \
    }

/* A list of a request as decisions see it. */
struct copies {
    const struct job *rows; /* as they were given */
    size_t row_count;
    const struct job *jobs; /* one for each copy; `rows`: none has several */
    size_t count;
    const size_t *row_of; /* by job; NULL: its own number */
    const char *list;     /* how pointers to it begin: "/jobs/" */
    struct request *rq;
};

/* Refuses more copies than `most` (ERR_TOO_LARGE), or more than COPY_WAITS_MAX pairs of
 * one that waits and one that is waited for, and reserves the room for them, `bytes`
 * each. Call it before anything is done for each job. O(rows). */
enum error_code copies_check(struct request *rq, const struct job *rows, size_t row_count,
                             const char *list, size_t most, size_t bytes);

/* The jobs of the rows that copies_check() has seen, whose times are known. `list`: with
 * a slash behind it. O(copies). */
void copies_make(struct request *rq, const struct job *rows, size_t row_count,
                 const char *list, struct copies *out);

/* Where the request has it: pointers and texts of mistakes found in c->jobs; `before`:
 * the last mistake that was noted earlier, NULL: none was. Returns rq->err->code. */
enum error_code copies_refused(const struct copies *c, const struct error_item *before);

/* The same of warnings. */
const char *const *copies_warnings(const struct copies *c, const char *const *warnings,
                                   size_t count);

/* Likewise of any text and list ("/initial/"), whose rows are more than were given. */
const char *copies_text(const char *text, const char *list, const size_t *row_of,
                        size_t count, struct arena *a);

/* Numbers the copies, and makes one row of those that have everything alike: placements,
 * what is without a place, preemptions. The numbers of others stay as they are.
 * O(copies log copies). */
void copies_fold(const struct copies *c, const struct snapshot *s,
                 struct placement_out *plan);

/* For other lists: by job, which number its copy has; those of `order` get theirs first,
 * in this order. fixed: by job, it keeps its own. */
const size_t *copies_number(const struct copies *c, const size_t *order, size_t count,
                            const bool *fixed);

/* What a row says that begins with the job, and whether the job can be added to a row
 * that begins with `first`: it is the next copy. */
struct placement_copies copies_begin(const struct copies *c, const size_t *index_of,
                                     size_t job);
bool copies_add(const struct copies *c, const size_t *index_of, size_t first, size_t job,
                struct placement_copies *x);

/* Which copies a row of a plan is about, of a job of the rows; a job that is not there
 * has one. Mistakes are noted at LIST/NUMBER. *first <= *last. */
struct copies_reader {
    struct request *rq;
    const struct job *rows;
    struct name_index ids;
    const char *list; /* "/placements" */
    uint64_t sum;     /* of the rows read */
};
void copies_reader_make(struct request *rq, const struct job *rows, size_t row_count,
                        const char *list, struct copies_reader *out);
void copies_read(struct copies_reader *r, size_t number, const char *job_id,
                 const struct copies_said *said, uint64_t *first, uint64_t *last);

/* ERR_TOO_LARGE: the rows are about more copies than a plan can have. */
enum error_code copies_read_all(const struct copies_reader *r);

#endif
