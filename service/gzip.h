/* gzip.h - compressed requests and replies (RFC 1952). */
#ifndef GRIDPLAN_GZIP_H
#define GRIDPLAN_GZIP_H

#include "models/base/error.h"

#include <stdbool.h>

enum { GZIP_REPLY_MIN_BYTES = 1024 }; /* smaller replies are not worth it */

/* Makes room for `size` bytes and a NUL, with the first `length` of *data kept. */
typedef enum error_code gzip_room_fn(void *context, char **data, size_t length,
                                     size_t size, struct error *err);

/* Where inflated bytes go: first_bytes, doubled as they come. */
struct gzip_output {
    size_t first_bytes;
    gzip_room_fn *room;
    void *context;
    char *data; /* NULL at first; what room() made also stays after a failure */
    size_t length, size;
};

/* The content of a gzip stream, with a NUL behind it that is not counted. There is never
 * room for more than max_bytes. ERR_TOO_LARGE beyond them; ERR_MALFORMED for what is
 * damaged, cut short, or has something other than a further gzip member behind it. `a`:
 * for zlib's own memory. */
enum error_code gzip_inflate_to(const char *data, size_t length, size_t max_bytes,
                                struct gzip_output *out, struct arena *a,
                                struct error *err);

/* The same into the arena. */
enum error_code gzip_inflate(const char *data, size_t length, size_t max_bytes,
                             const char **out, size_t *out_length, struct arena *a,
                             struct error *err);

/* Gets what is inflated, piece by piece; *piece lives during the call. A failure stops
 * the inflating. */
typedef enum error_code gzip_piece_fn(void *context, const char *piece, size_t length,
                                      struct error *err);

/* The content of a gzip stream without having it whole: in pieces of at most 256 KiB,
 * with the same errors as gzip_inflate_to(). */
enum error_code gzip_inflate_pieces(const char *data, size_t length, size_t max_bytes,
                                    gzip_piece_fn *take, void *context, struct arena *a,
                                    struct error *err);

/* ---- packing what comes in pieces (level 1) ---- */

struct gzip_packer;

enum { GZIP_PACKER_BYTES = 320 * 1024 }; /* that one takes, about */

struct gzip_packer *gzip_packer_create(void); /* NULL: no memory */
void gzip_packer_close(struct gzip_packer *p);

/* The next piece, which must live until gzip_pack() says that it is done with it. */
void gzip_packer_feed(struct gzip_packer *p, const char *piece, size_t length);

/* Writes packed bytes to `out`, at most `size`; *length of them. True: there may be more,
 * call again. `is_last`: nothing comes behind what was fed. */
bool gzip_pack(struct gzip_packer *p, bool is_last, char *out, size_t size,
               size_t *length);

/* Whether an Accept-Encoding header allows gzip. NULL: no. */
bool gzip_accepted(const char *accept_encoding);

/* Compresses at level 1. False, with nothing changed, when it does not get
 * smaller or memory is short. */
bool gzip_deflate(const char *data, size_t length, const char **out, size_t *out_length,
                  struct arena *a);

/* The same at level 9, for what is compressed once and sent often. */
bool gzip_deflate_best(const char *data, size_t length, const char **out,
                       size_t *out_length, struct arena *a);

#endif
