/* duration.h - lengths of time as people say them, the same in charts, in commands and in
 * the dashboard (service/ui/format.js).
 */
#ifndef GRIDPLAN_DURATION_H
#define GRIDPLAN_DURATION_H

#include <stddef.h>

/* "87 s" is "1 min 27 s": below a minute three digits in us, ms or s, without an exponent
 * and without zeros that say nothing; else whole seconds, of which the two largest units
 * are told. With a minus below 0. `size` >= 32 is enough for all below 1e15 s. */
void duration_text(double time_s, char *text, size_t size);

/* The two largest units of whole seconds >= 0, written behind `used`. */
void duration_add_whole(double time_s, char *text, size_t used, size_t size);

#endif
