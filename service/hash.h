/* hash.h - SHA-256, base64 and base64url. */
#ifndef GRIDPLAN_HASH_H
#define GRIDPLAN_HASH_H

#include "models/base/arena.h"
#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { SHA256_BYTES = 32, SHA256_HEX_SIZE = 65 };

/* `digest` has SHA256_BYTES. */
void hash_sha256(const void *data, size_t length, unsigned char *digest);

/* Of the parts one behind the other; false: no memory. */
struct hash_part {
    const void *data;
    size_t length;
};
bool hash_sha256_parts(const struct hash_part *parts, size_t count,
                       unsigned char *digest);

/* Of what comes in pieces. That there was no memory for it is said at its end. */
struct hash_stream {
    void *context; /* NULL: no memory */
};
struct hash_stream hash_stream_open(void);
void hash_stream_add(struct hash_stream *h, const void *data, size_t length);

/* Closes it. `code` is what became of reading the pieces: if that is not OK it is
 * returned, and there is no digest. */
enum error_code hash_stream_end(struct hash_stream *h, enum error_code code,
                                unsigned char *digest, struct error *err);

/* `hex` has SHA256_HEX_SIZE, with the NUL; lower case. */
void hash_hex(const unsigned char *digest, char *hex);

/* `hex` has SHA256_HEX_SIZE, with the NUL; lower case. */
void hash_sha256_hex(const void *data, size_t length, char *hex);

/* Whether the bytes are equal, in a time that does not say where they differ. */
bool hash_equal(const void *a, const void *b, size_t length);

/* RFC 4648 section 4, with padding; for computations only. */
char *base64_encode(const void *data, size_t length, struct arena *a);

/* RFC 4648 section 5, without padding; NULL without memory. */
char *base64url_encode(const void *data, size_t length, struct arena *a);

/* NULL without memory or when `text` is no base64url. */
unsigned char *base64url_decode(const char *text, size_t *length, struct arena *a);

#endif
