/* plural.h - words that agree with a count, in texts that people read: "1 job, first 'a',
 * is late", "3 jobs, first 'a', are late".
 */
#ifndef GRIDPLAN_PLURAL_H
#define GRIDPLAN_PLURAL_H

#include <stdint.h>

struct arena;

struct counted {
    char text[64];
};

/* "1 job", "3 jobs", "0 jobs": a noun that takes an s, of at most 40 bytes. */
struct counted counted(uint64_t count, const char *noun);

/* The word for this count: `one` for 1, else `many`. */
const char *plural(uint64_t count, const char *one, const char *many);

/* A sentence with both forms, "{has|have} no end in sight", in the one of the count. What
 * stands in no braces with a bar stays as it is. The text is the arena's. */
const char *plural_text(uint64_t count, const char *text, struct arena *a);

#endif
