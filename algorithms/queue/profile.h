/* queue/profile.h - how many processors are free from now on.
 *
 * A step function of time as sorted cells, from each to the next so many are free. The
 * cells lie in blocks, and a directory knows the least and the most that is free in
 * each block. What changes all cells of a block is noted there only. A block also
 * knows, for levels of processors, the longest run of cells with at least so many: a
 * question passes it by when that is too short, and looks at cells only where it may
 * begin or end.
 *
 * Equal times are one cell; cells without a step may stay, they change no answer.
 *
 * Cost, with n steps in blocks of B: O(B + n / B) for a change and for a question; less
 * where blocks are passed by. A profile of some hundred steps is a flat array.
 */
#ifndef GRIDPLAN_QUEUE_PROFILE_H
#define GRIDPLAN_QUEUE_PROFILE_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PROFILE_CELLS = 128, /* of a block at most */
    PROFILE_LEVELS = 64  /* 1, 2, 3, 4, 6, 8, 12, ... processors */
};

struct profile_block {
    double at_s[PROFILE_CELLS];
    int64_t free[PROFILE_CELLS]; /* but for the span's `add` */
    size_t begin, end;           /* cells in use; never none */
    uint64_t known;              /* levels whose run_s is */
    double run_s[PROFILE_LEVELS];
    struct profile_block *next_spare;
};

/* A block in the directory. */
struct profile_span {
    double from_s;     /* its first cell */
    int64_t add;       /* to all its cells */
    int64_t low, high; /* least and most that is free; bounds once time has gone on */
    struct profile_block *block;
};

struct profile {
    double now_s; /* the first cell */
    int64_t free; /* now; may be negative when more was promised than there is */
    struct profile_span *spans;
    size_t begin, end, room; /* of spans */
    struct profile_block *spare;
    uint64_t work; /* cells and blocks that were looked at */
    struct arena *arena;
};

void profile_create(struct profile *p, double now_s, uint64_t free, struct arena *a);

/* `processors` less from start_s to end_s. */
enum error_code profile_take(struct profile *p, double start_s, double end_s,
                             uint64_t processors, struct error *err);

/* Undoes it. */
enum error_code profile_give(struct profile *p, double start_s, double end_s,
                             uint64_t processors, struct error *err);

/* Time goes on; what was before is forgotten. */
void profile_advance(struct profile *p, double now_s);

/* The first time from now on at which fewer than `processors` are free, or at least
 * so many; infinite: never. */
double profile_first_below(struct profile *p, uint64_t processors);
double profile_first_above(struct profile *p, uint64_t processors);

/* The last step: from there on *free stay free for ever. */
double profile_end_s(const struct profile *p, uint64_t *free);

/* Whether so many are free from start_s to end_s. */
bool profile_bears(struct profile *p, double start_s, double end_s, uint64_t processors);

/* The first time from now, and from from_s, on from which so many are free so long.
 * Infinite when never that many are. */
double profile_fit(struct profile *p, uint64_t processors, double duration_s,
                   double from_s);

/* The same for a job that has its place at planned_s and may move up: the first such
 * time before it if the job left its place, else planned_s. */
double profile_fit_before(struct profile *p, uint64_t processors, double duration_s,
                          double planned_s);

#endif
