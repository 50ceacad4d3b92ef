/* uuid.h - identifiers that nobody else makes. */
#ifndef GRIDPLAN_UUID_H
#define GRIDPLAN_UUID_H

#include <stdbool.h>
#include <stddef.h>

enum { UUID_TEXT_SIZE = 37 }; /* 36 characters and the NUL */

/* RFC 9562 version 7: begins with the time, in milliseconds, so that rows
 * sort by age. Unique, but not secret. `text` has UUID_TEXT_SIZE bytes. */
void uuid_make(char *text);

/* RFC 9562 version 5: the same for the same bytes, within a name space of this service.
 * `text` has UUID_TEXT_SIZE bytes. */
void uuid_name(const void *name, size_t length, char *text);

/* The first 16 bytes as they are, in the usual form. `text` has UUID_TEXT_SIZE bytes. */
void uuid_print(const unsigned char *bytes, char *text);

/* Whether the text is a UUID, of any version. */
bool uuid_is(const char *text);

#endif
