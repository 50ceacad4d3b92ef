/* stream.h - a request's body piece by piece, for routes with ROUTE_STREAMS.
 *
 * The body may be packed where it stands, by the client or as it came (body.h): whoever
 * reads it piece by piece needs no room for the whole. It may be read again and again.
 */
#ifndef GRIDPLAN_STREAM_H
#define GRIDPLAN_STREAM_H

#include "service/gzip.h"
#include "service/route.h"

/* Calls `take` for every piece, of at most 256 KiB, in order. Fails as it does, and
 * with the errors of gzip_inflate_pieces() beyond route_body_limit() or for a damaged
 * stream. */
enum error_code request_pieces(struct request *rq, gzip_piece_fn *take, void *context);

/* The whole body as one text in the request's arena, with a NUL behind it. For
 * computations only. */
enum error_code request_whole_body(struct request *rq, const char **text, size_t *length);

/* SHA-256 of `head` and the whole body behind it; `digest` has SHA256_BYTES. */
struct hash_part;
enum error_code request_body_sha256(struct request *rq, const struct hash_part *head,
                                    unsigned char *digest);

#endif
