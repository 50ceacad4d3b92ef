/* gzip.h - compressed requests and replies (RFC 1952). */
#ifndef GRIDPLAN_GZIP_H
#define GRIDPLAN_GZIP_H

#include "models/base/error.h"

#include <stdbool.h>

enum { GZIP_REPLY_MIN_BYTES = 1024 }; /* smaller replies are not worth it */

/* The content of a gzip stream, with a NUL behind it that is not counted.
 * ERR_TOO_LARGE beyond max_bytes; ERR_MALFORMED for what is damaged, cut short,
 * or has something other than a further gzip member behind it. */
enum error_code gzip_inflate(const char *data, size_t length, size_t max_bytes,
                             const char **out, size_t *out_length, struct arena *a,
                             struct error *err);

/* Whether an Accept-Encoding header allows gzip. NULL: no. */
bool gzip_accepted(const char *accept_encoding);

/* Compresses at level 1. False, with nothing changed, when it does not get
 * smaller or memory is short. */
bool gzip_deflate(const char *data, size_t length, const char **out, size_t *out_length,
                  struct arena *a);

#endif
