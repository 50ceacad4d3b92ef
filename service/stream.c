/* stream.c - a request's body piece by piece. */
#include "service/stream.h"

#include "service/body.h"
#include "service/hash.h"
#include "service/service.h"

#include <string.h>
#include <strings.h>

enum {
    PIECE_BYTES = 256 * 1024,
    PIECE_STEPS = 64 * 1024, /* what one costs at least, about */
};

/* Whether what is there is a gzip stream. */
static bool is_packed(const struct message *m)
{
    return (m->received && m->received->is_packed) ||
           (m->content_encoding && strcasecmp(m->content_encoding, "identity") != 0);
}

enum error_code request_pieces(struct request *rq, gzip_piece_fn *take, void *context)
{
    const struct message *m = rq->message;
    size_t max_bytes = route_body_limit(rq->route, rq->service->config);

    if (is_packed(m)) {
        enum error_code code = gzip_inflate_pieces(m->body, m->body_length, max_bytes,
                                                   take, context, rq->arena, rq->err);

        if (code == ERR_TOO_LARGE && !rq->err->hint)
            rq->err->hint = body_limit_hint(true);
        return code;
    }
    for (size_t at = 0; at < m->body_length; at += PIECE_BYTES) {
        size_t left = m->body_length - at;

        TRY(json_go_on(PIECE_STEPS, rq->err));
        TRY(take(context, m->body + at, left < PIECE_BYTES ? left : PIECE_BYTES,
                 rq->err));
    }
    return OK;
}

/* gzip_piece_fn */
static enum error_code add_to_text(void *context, const char *piece, size_t length,
                                   struct error *err)
{
    struct text_buffer *to = context;

    (void)err;
    text_add(to, piece, length);
    return to->failed ? fail_memory(err) : OK;
}

enum error_code request_whole_body(struct request *rq, const char **text, size_t *length)
{
    struct text_buffer to = {.arena = rq->arena};

    if (!is_packed(rq->message)) {
        *text = rq->message->body;
        *length = rq->message->body_length;
        return OK;
    }
    TRY(request_pieces(rq, add_to_text, &to));
    *length = to.length;
    *text = text_end(&to);
    return OK;
}

/* gzip_piece_fn */
static enum error_code add_to_hash(void *context, const char *piece, size_t length,
                                   struct error *err)
{
    (void)err;
    hash_stream_add(context, piece, length);
    return OK;
}

enum error_code request_body_sha256(struct request *rq, const struct hash_part *head,
                                    unsigned char *digest)
{
    struct hash_stream hash = hash_stream_open();

    hash_stream_add(&hash, head->data, head->length);
    return hash_stream_end(&hash, request_pieces(rq, add_to_hash, &hash), digest,
                           rq->err);
}
