/* base/spelling.h - how names are spelt here. */
#ifndef GRIDPLAN_BASE_SPELLING_H
#define GRIDPLAN_BASE_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

/* A name as names are spelt here: small letters (of ASCII), `_` for `-` and blanks, and
 * before a capital behind a small letter or a digit: "timeLimitS" time_limit_s, "Min-Min"
 * min_min. false: it does not fit into `size` bytes with its NUL. */
bool name_spell(const char *name, size_t length, char *spelling, size_t size);

#endif
