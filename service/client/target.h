/* target.h - which service a command asks, and with which key.
 *
 * From the weakest to the strongest: client.conf (its general keys, then those of the
 * profile), GRIDPLAN_URL and GRIDPLAN_KEY_FILE, flags. client.conf is
 * $XDG_CONFIG_HOME/gridplan/client.conf, or ~/.config/gridplan/client.conf; a line is
 * `key = value`, # begins a comment:
 *
 *     url, key_file, ca_file, timeout_s (60), color (auto, always, never)
 *     profile.NAME.url, profile.NAME.key_file ...     for --profile NAME
 */
#ifndef GRIDPLAN_CLIENT_TARGET_H
#define GRIDPLAN_CLIENT_TARGET_H

#include "service/client/ask.h"

struct target_flags {
    const char *url, *key_file, *profile; /* NULL: not given */
};

/* Fills url ("" counts as none), key_file, ca_file, time_limit_s and colour; the rest
 * stays. ERR_INVALID with the file and line, or when there is no such profile.
 */
enum error_code target_find(const struct target_flags *flags, struct asked *out,
                            struct arena *a, struct error *err);

/* The file that is read, whether it is there or not; NULL: there is no home. */
const char *target_file(struct arena *a);

#endif
