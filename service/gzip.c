/* gzip.c - compressed requests and replies: the only user of zlib in the program. */
#include "service/gzip.h"

#include "service/json.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#define ZLIB_CONST
#include <zlib.h>

enum {
    GZIP_WRAPPER = 16, /* added to windowBits: a gzip header, not zlib's */
    WINDOW_BITS_MIN = 9,
    WINDOW_BITS_MAX = 15,
    FIRST_PIECE_BYTES = 16 * 1024,
    LOOK_BYTES = 64 * 1024,     /* between two looks at whether anybody waits */
    INFLATE_STEPS = 128 * 1024, /* what so many cost, about */
    DEFLATE_STEPS = 512 * 1024,
    INFLATED_PIECE_BYTES = 256 * 1024,
};

/* zlib's memory comes from the request's arena and goes with it. */
static voidpf arena_zalloc(voidpf arena, uInt items, uInt size)
{
    return arena_try(arena, size, items);
}

static void arena_zfree(voidpf arena, voidpf address)
{
    (void)arena;
    (void)address;
}

/* What zlib gets at a time. */
static uInt piece(size_t length)
{
    return length > LOOK_BYTES ? LOOK_BYTES : (uInt)length;
}

/* Doubles the room, up to max_bytes. */
static enum error_code output_grow(struct gzip_output *o, size_t max_bytes,
                                   struct error *err)
{
    size_t size = o->size ? o->size * 2 : o->first_bytes;

    if (size > max_bytes)
        size = max_bytes;
    if (o->data && size == o->size)
        return OK;
    TRY(o->room(o->context, &o->data, o->length, size, err));
    o->size = size;
    return OK;
}

static enum error_code fail_length(size_t max_bytes, struct error *err)
{
    return fail(err, ERR_TOO_LARGE, "",
                "the body has more than %zu bytes when decompressed", max_bytes);
}

/* What inflate() says about the stream. */
static enum error_code check_status(const z_stream *z, int status, struct error *err)
{
    if (status == Z_OK || status == Z_STREAM_END)
        return OK;
    if (status == Z_MEM_ERROR)
        return fail_memory(err);
    if (status == Z_BUF_ERROR)
        return fail(err, ERR_MALFORMED, "", "the gzip stream is cut short");
    return fail(err, ERR_MALFORMED, "", "not a gzip stream: %s",
                z->msg ? z->msg : "damaged");
}

/* One call of inflate(); *status is what it says. At max_bytes the place of the NUL shows
 * whether there is more. */
static enum error_code inflate_some(z_stream *z, struct gzip_output *o, size_t max_bytes,
                                    int *status, struct error *err)
{
    if (!o->data || o->length == o->size)
        TRY(output_grow(o, max_bytes, err));
    z->next_out = (Bytef *)(o->data + o->length);
    z->avail_out = o->length == o->size ? 1 : piece(o->size - o->length);
    *status = inflate(z, Z_NO_FLUSH);
    o->length = (size_t)((char *)z->next_out - o->data);
    if (o->length > max_bytes)
        return fail_length(max_bytes, err);
    return check_status(z, *status, err);
}

enum error_code gzip_inflate_to(const char *data, size_t length, size_t max_bytes,
                                struct gzip_output *out, struct arena *a,
                                struct error *err)
{
    z_stream z = {.zalloc = arena_zalloc, .zfree = arena_zfree, .opaque = a};
    const char *end = data + length;
    int status = Z_OK;

    if (inflateInit2(&z, WINDOW_BITS_MAX + GZIP_WRAPPER) != Z_OK)
        return fail_memory(err);
    z.next_in = (const Bytef *)data;
    do {
        z.avail_in = piece((size_t)(end - (const char *)z.next_in));
        TRY(json_go_on(INFLATE_STEPS, err));
        TRY(inflate_some(&z, out, max_bytes, &status, err));
        if (status == Z_STREAM_END && (const char *)z.next_in < end) {
            inflateReset(&z); /* another member must follow, nothing else */
            status = Z_OK;
        }
    } while (status != Z_STREAM_END);
    assert(out->data); /* inflate_some() made room */
    out->data[out->length] = '\0';
    return OK;
}

enum error_code gzip_inflate_pieces(const char *data, size_t length, size_t max_bytes,
                                    gzip_piece_fn *take, void *context, struct arena *a,
                                    struct error *err)
{
    z_stream z = {.zalloc = arena_zalloc, .zfree = arena_zfree, .opaque = a};
    char *room = arena_try(a, 1, INFLATED_PIECE_BYTES);
    const char *end = data + length;
    size_t total = 0;
    int status = Z_OK;

    if (!room || inflateInit2(&z, WINDOW_BITS_MAX + GZIP_WRAPPER) != Z_OK)
        return fail_memory(err);
    z.next_in = (const Bytef *)data;
    do {
        size_t made;

        z.avail_in = piece((size_t)(end - (const char *)z.next_in));
        z.next_out = (Bytef *)room;
        z.avail_out = INFLATED_PIECE_BYTES;
        TRY(json_go_on(INFLATE_STEPS, err));
        status = inflate(&z, Z_NO_FLUSH);
        made = INFLATED_PIECE_BYTES - z.avail_out;
        TRY(check_status(&z, status, err));
        total += made;
        if (total > max_bytes)
            return fail_length(max_bytes, err);
        if (made)
            TRY(take(context, room, made, err));
        if (status == Z_STREAM_END && (const char *)z.next_in < end) {
            inflateReset(&z); /* another member must follow, nothing else */
            status = Z_OK;
        }
    } while (status != Z_STREAM_END);
    return OK;
}

struct gzip_packer {
    z_stream z;
};

struct gzip_packer *gzip_packer_create(void)
{
    struct gzip_packer *p = calloc(1, sizeof(*p));

    if (p && deflateInit2(&p->z, 1, Z_DEFLATED, WINDOW_BITS_MAX + GZIP_WRAPPER,
                          WINDOW_BITS_MAX - 7, Z_DEFAULT_STRATEGY) == Z_OK)
        return p;
    free(p);
    return NULL;
}

void gzip_packer_close(struct gzip_packer *p)
{
    if (!p)
        return;
    deflateEnd(&p->z);
    free(p);
}

void gzip_packer_feed(struct gzip_packer *p, const char *piece, size_t length)
{
    assert(p->z.avail_in == 0 && length <= UINT32_MAX);
    p->z.next_in = (const Bytef *)piece;
    p->z.avail_in = (uInt)length;
}

bool gzip_pack(struct gzip_packer *p, bool is_last, char *out, size_t size,
               size_t *length)
{
    uInt room = size > UINT32_MAX ? UINT32_MAX : (uInt)size;
    int status;

    p->z.next_out = (Bytef *)out;
    p->z.avail_out = room;
    status = deflate(&p->z, is_last ? Z_FINISH : Z_NO_FLUSH);
    *length = room - p->z.avail_out;
    return is_last ? status != Z_STREAM_END : p->z.avail_out == 0;
}

/* gzip_room_fn */
static enum error_code arena_room(void *context, char **data, size_t length, size_t size,
                                  struct error *err)
{
    char *wide = arena_try_extend(context, *data, 1, *data ? length + 1 : 0, size + 1);

    if (!wide)
        return fail_memory(err);
    *data = wide;
    return OK;
}

enum error_code gzip_inflate(const char *data, size_t length, size_t max_bytes,
                             const char **out, size_t *out_length, struct arena *a,
                             struct error *err)
{
    struct gzip_output output = {
        .first_bytes = FIRST_PIECE_BYTES, .room = arena_room, .context = a};

    TRY(gzip_inflate_to(data, length, max_bytes, &output, a, err));
    *out = output.data;
    *out_length = output.length;
    return OK;
}

/* "q=0", "q=0.0" ... in what follows a coding. */
static bool weight_is_zero(const char *parameters, const char *end)
{
    const char *q = parameters;

    while (q < end && *q != '=')
        q++;
    if (q + 1 >= end)
        return false;
    for (q++; q < end; q++)
        if (*q >= '1' && *q <= '9')
            return false;
    return true;
}

bool gzip_accepted(const char *accept_encoding)
{
    const char *p = accept_encoding;
    bool any = false;

    while (p && *p) {
        const char *end, *name;
        size_t length;

        p += strspn(p, " \t,");
        name = p;
        length = strcspn(p, " \t;,");
        end = p + strcspn(p, ",");
        if (length == 4 && strncasecmp(name, "gzip", 4) == 0)
            return !weight_is_zero(name + length, end);
        if (length == 1 && *name == '*')
            any = !weight_is_zero(name + length, end);
        p = end;
    }
    return any;
}

static bool deflate_text(int level, const char *data, size_t length, const char **out,
                         size_t *out_length, struct arena *a)
{
    z_stream z = {.zalloc = arena_zalloc, .zfree = arena_zfree, .opaque = a};
    int window_bits = WINDOW_BITS_MIN;
    size_t bound = length - length / 16; /* less than a sixteenth saved: not worth it */
    char *packed = arena_try(a, 1, bound);
    int status;

    /* Small texts need a small window, whose tables cost less to clear. */
    while (window_bits < WINDOW_BITS_MAX && (size_t)1 << window_bits < length)
        window_bits++;
    if (!packed || length >= 1u << 30 ||
        deflateInit2(&z, level, Z_DEFLATED, window_bits + GZIP_WRAPPER, window_bits - 7,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    z.next_in = (const Bytef *)data;
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)bound;
    do {
        size_t rest = length - (size_t)((const char *)z.next_in - data);

        z.avail_in = piece(rest);
        if (json_is_over(DEFLATE_STEPS))
            return false;
        status = deflate(&z, z.avail_in == rest ? Z_FINISH : Z_NO_FLUSH);
    } while (status == Z_OK && z.avail_in == 0);
    if (status != Z_STREAM_END)
        return false;
    *out = packed;
    *out_length = z.total_out;
    return true;
}

bool gzip_deflate(const char *data, size_t length, const char **out, size_t *out_length,
                  struct arena *a)
{
    return deflate_text(1, data, length, out, out_length, a);
}

bool gzip_deflate_best(const char *data, size_t length, const char **out,
                       size_t *out_length, struct arena *a)
{
    return deflate_text(9, data, length, out, out_length, a);
}
