/* json_scan.h - the checks on JSON text that cJSON does not make. */
#ifndef GRIDPLAN_JSON_SCAN_H
#define GRIDPLAN_JSON_SCAN_H

#include "models/base/error.h"

#include <stdbool.h>

/* Refuses invalid UTF-8, control characters, U+0000, numbers that are not JSON
 * numbers and nesting beyond `depth_max`, with line and column. What passes may
 * still not be JSON: structure is the parser's business. It counts on
 * budget_read_on(): ERR_CANCELLED. */
enum error_code json_scan(const char *text, size_t length, size_t depth_max,
                          struct error *err);

/* ERR_MALFORMED: what is wrong at the byte of that index, with its line and column, and
 * a hint where other languages write it so. */
enum error_code json_refuse(const char *text, size_t length, size_t at, const char *what,
                            struct error *err);

/* Bytes up to the first that is not UTF-8. */
size_t json_utf8_length(const char *text, size_t length);

/* Whether the bytes are UTF-8. */
bool json_is_utf8(const char *text, size_t length);

#endif
