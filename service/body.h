/* body.h - the body of a request as it comes, and as it inflates: one buffer that grows
 * only as far as the governor's body pool allows.
 *
 * Buffers of 256 KiB or more are mapped, and grow where they are: what is given back to
 * the pool is given back to the system, and growing never needs the old and the new.
 *
 * A body that is read piece by piece (stream.h) need not stand there as it came: behind
 * its first 8 MiB it is packed as it comes.
 */
#ifndef GRIDPLAN_BODY_H
#define GRIDPLAN_BODY_H

#include "service/governor.h"

enum {
    BODY_FIRST_BYTES = 64 * 1024,       /* the first step, and what may be kept */
    BODY_PLAIN_BYTES = 8 * 1024 * 1024, /* what is larger is packed, if it may be */
};

struct gzip_packer; /* gzip.h */

/* {0} with the first two members set is an empty one. */
struct body {
    struct governor *governor;      /* NULL: nothing is leased */
    const struct governor_who *who; /* who leases; stays while the body lives */
    char *data;                     /* has room for a NUL behind `size` bytes */
    size_t length, size;
    struct governor_lease lease; /* of `size` bytes, or less while the body is empty; */
    size_t beside;               /* and of so many that are not in `data` */
    bool is_inflated;
    bool is_packed;             /* `data` is a gzip stream of what came */
    struct gzip_packer *packer; /* while more comes of it */
};

/* Makes room for `more` bytes: 64 KiB, then doubling, never beyond `most` in all, which
 * must not be less than what is needed. Else nothing is changed. */
enum governor_answer body_reserve(struct body *b, size_t more, size_t most);

/* Takes the next bytes of a body of `most` in all; one that may be packed is. */
enum governor_answer body_add(struct body *b, const char *data, size_t length,
                              size_t most, bool may_pack);

/* Behind the last ones. */
enum governor_answer body_end(struct body *b);

/* Fills *err for an answer that is not OK, about a body of `bytes`. */
enum error_code body_fail(const struct body *b, enum governor_answer answer, size_t bytes,
                          struct error *err);

/* The body becomes what is packed in it (gzip), at most `max_bytes`; once only. The
 * packed bytes are given back at the end. `a`: for the decompressor's own memory. */
enum error_code body_inflate(struct body *b, size_t max_bytes, struct arena *a,
                             struct error *err);

/* What to do about a body that is larger than its route's limit. */
const char *body_limit_hint(bool is_upload);

/* Forgets the bytes and gives the lease back; a small buffer stays for the next body. */
void body_empty(struct body *b);

/* Releases everything. */
void body_release(struct body *b);

#endif
