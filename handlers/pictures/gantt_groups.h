/* gantt_groups.h - which bars have one colour: those of a group.
 *
 * A bar is of the group that it names, else of that of its name: what the name begins
 * with up to its first digit or '/', behind what all names begin with. The GANTT_GROUPS
 * groups with the most work (time, times rows) have a colour each, ties by name; the rest
 * are "others".
 *
 * Source: spec face.md 5.3.
 */
#ifndef GRIDPLAN_GANTT_GROUPS_H
#define GRIDPLAN_GANTT_GROUPS_H

#include "handlers/pictures/gantt.h"

enum { GANTT_GROUPS = 7, GANTT_OTHERS = GANTT_GROUPS };

struct gantt_groups {
    const char *names[GANTT_GROUPS];
    size_t count;
    bool others;  /* whether some bars are in none of them */
    unsigned *of; /* [bar_count]: 0..count-1, or GANTT_OTHERS */
};

/* `prefix`: characters that all names begin with. O(n log n) of the bars. */
enum error_code gantt_group(const struct gantt *chart, size_t prefix,
                            struct gantt_groups *out, struct arena *a, struct error *err);

#endif
