/* body.c - the body of a request as it comes, and as it inflates. */
#include "service/body.h"

#include "service/gzip.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAPPED_BYTES = 256 * 1024 };

/* ---- the memory: `size` bytes and a NUL ---- */

static bool is_mapped(size_t size)
{
    return size >= MAPPED_BYTES;
}

static char *map(size_t size)
{
    void *p =
        mmap(NULL, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static void memory_free(char *data, size_t size)
{
    if (data && is_mapped(size))
        munmap(data, size + 1);
    else
        free(data);
}

/* `data` with more room; NULL, and `data` as it was, without memory. */
static char *memory_grow(char *data, size_t old_size, size_t length, size_t size)
{
    char *wide;

    if (data && is_mapped(old_size)) {
        wide = mremap(data, old_size + 1, size + 1, MREMAP_MAYMOVE);
        return (void *)wide == MAP_FAILED ? NULL : wide;
    }
    if (!is_mapped(size))
        return realloc(data, size + 1);
    wide = map(size);
    if (!wide)
        return NULL;
    if (data)
        memcpy(wide, data, length);
    free(data);
    return wide;
}

/* ---- the lease ---- */

static enum governor_answer take(struct body *b, size_t bytes)
{
    return b->governor && bytes > 0
               ? governor_body_take(b->governor, b->who, &b->lease, bytes)
               : GOVERNOR_OK;
}

static void give(struct body *b, size_t bytes)
{
    if (b->governor && bytes > 0)
        governor_give(b->governor, &b->lease, bytes);
}

/* ---- growing ---- */

static size_t next_size(size_t size, size_t needed, size_t most)
{
    size_t next = size > 0 ? 2 * size : BODY_FIRST_BYTES;

    if (next < needed)
        next = needed;
    return next < most ? next : most;
}

enum governor_answer body_reserve(struct body *b, size_t more, size_t most)
{
    size_t needed = b->length + more;
    size_t leased = b->governor ? b->lease.bytes - b->beside : b->size;
    size_t size = next_size(leased, needed, most);
    enum governor_answer answer;
    char *data = b->data;

    assert(needed <= most);
    if (needed <= leased && data)
        return GOVERNOR_OK;
    if (size < leased)
        size = leased;
    answer = take(b, size - leased);
    if (answer != GOVERNOR_OK)
        return answer;
    if (size > b->size || !data)
        data = memory_grow(b->data, b->size, b->length, size);
    if (!data) {
        give(b, size - leased);
        return GOVERNOR_BUSY;
    }
    if (size > b->size || !b->data)
        b->size = size;
    b->data = data;
    return GOVERNOR_OK;
}

/* ---- what comes ---- */

/* Moves what the packer has to the body, which grows by an eighth: how long it becomes
 * nobody knows, and what is mapped grows where it is. */
static enum governor_answer pack(struct body *b, bool is_last)
{
    bool more = true;

    while (more) {
        enum governor_answer answer = body_reserve(
            b, BODY_FIRST_BYTES, b->length + b->length / 8 + BODY_FIRST_BYTES);
        size_t length;

        if (answer != GOVERNOR_OK)
            return answer;
        more =
            gzip_pack(b->packer, is_last, b->data + b->length, BODY_FIRST_BYTES, &length);
        b->length += length;
    }
    return GOVERNOR_OK;
}

/* What has come so far is packed into a new buffer. */
static enum governor_answer begin_packing(struct body *b)
{
    const struct body plain = *b;
    size_t plain_bytes = b->governor ? b->lease.bytes : b->size;
    enum governor_answer answer = take(b, GZIP_PACKER_BYTES);

    if (answer != GOVERNOR_OK)
        return answer;
    b->packer = gzip_packer_create();
    b->is_packed = true;
    b->beside = plain_bytes + GZIP_PACKER_BYTES;
    b->data = NULL;
    b->length = b->size = 0;
    if (b->packer) {
        gzip_packer_feed(b->packer, plain.data, plain.length);
        answer = pack(b, false);
    } else {
        answer = GOVERNOR_BUSY;
    }
    memory_free(plain.data, plain.size);
    give(b, plain_bytes);
    b->beside -= plain_bytes;
    return answer;
}

enum governor_answer body_add(struct body *b, const char *data, size_t length,
                              size_t most, bool may_pack)
{
    enum governor_answer answer = GOVERNOR_OK;

    if (may_pack && !b->packer && b->length + length > BODY_PLAIN_BYTES)
        answer = begin_packing(b);
    if (answer == GOVERNOR_OK && b->packer) {
        gzip_packer_feed(b->packer, data, length);
        return pack(b, false);
    }
    if (answer == GOVERNOR_OK)
        answer = body_reserve(b, length, most);
    if (answer != GOVERNOR_OK)
        return answer;
    memcpy(b->data + b->length, data, length);
    b->length += length;
    return GOVERNOR_OK;
}

enum governor_answer body_end(struct body *b)
{
    enum governor_answer answer = b->packer ? pack(b, true) : GOVERNOR_OK;

    gzip_packer_close(b->packer);
    b->packer = NULL;
    give(b, b->beside);
    b->beside = 0;
    return answer;
}

enum error_code body_fail(const struct body *b, enum governor_answer answer, size_t bytes,
                          struct error *err)
{
    struct governor_stats stats;

    if (answer != GOVERNOR_TOO_LARGE) {
        err->retry_after_s = 1;
        if (b->governor)
            err->retry_after_s = governor_retry_after_s(b->governor, GOVERNOR_COMPUTE);
        return fail(err, ERR_BUSY, "",
                    "the bodies of other requests take all memory; try again in %d s",
                    err->retry_after_s);
    }
    governor_stats(b->governor, &stats);
    return fail(err, ERR_TOO_LARGE, "",
                "a body of %zu bytes or more is beyond the %zu that the service has for "
                "all bodies; raise GRIDPLAN_MEMORY_BYTES or GRIDPLAN_BODY_MEMORY_RATIO",
                bytes, stats.pool_bytes[GOVERNOR_BODY]);
}

/* ---- inflating ---- */

/* Inflated bytes, beside the packed ones: one lease of both. */
struct inflated {
    struct body *body;
    size_t size;
};

/* gzip_room_fn */
static enum error_code make_room(void *context, char **data, size_t length, size_t size,
                                 struct error *err)
{
    struct inflated *to = context;
    enum governor_answer answer = take(to->body, size - to->size);
    char *wide = NULL;

    if (answer == GOVERNOR_OK)
        wide = memory_grow(*data, to->size, length, size);
    if (answer == GOVERNOR_OK && !wide) {
        give(to->body, size - to->size);
        answer = GOVERNOR_BUSY;
    }
    if (answer != GOVERNOR_OK)
        return body_fail(to->body, answer, size, err);
    *data = wide;
    to->size = size;
    return OK;
}

enum error_code body_inflate(struct body *b, size_t max_bytes, struct arena *a,
                             struct error *err)
{
    struct inflated to = {b, 0};
    struct gzip_output output = {
        .first_bytes = BODY_FIRST_BYTES, .room = make_room, .context = &to};
    size_t packed_bytes = b->lease.bytes; /* nothing is beside it */
    enum error_code code =
        gzip_inflate_to(b->data ? b->data : "", b->length, max_bytes, &output, a, err);

    if (code != OK) {
        memory_free(output.data, to.size);
        give(b, to.size);
        return code;
    }
    memory_free(b->data, b->size);
    b->data = output.data;
    b->length = output.length;
    b->size = to.size;
    b->is_inflated = true;
    give(b, packed_bytes);
    return OK;
}

const char *body_limit_hint(bool is_upload)
{
    return is_upload ? "whoever runs the service can raise max_upload_bytes "
                       "(GRIDPLAN_MAX_UPLOAD_BYTES); or send parts of the log, each "
                       "under an id "
                       "of its own, of accounting the days of sacct's -S and -E"
                     : "whoever runs the service can raise max_body_bytes "
                       "(GRIDPLAN_MAX_BODY_BYTES); a job log may be larger in POST "
                       "/v1/workloads and be named by workload_id, Slurm's accounting in "
                       "POST /v1/imports/slurm/history, where what sacct -P prints is "
                       "read row by row, records go in several requests";
}

/* ---- the end ---- */

static void forget(struct body *b)
{
    gzip_packer_close(b->packer);
    b->packer = NULL;
    b->length = b->beside = 0;
    b->is_inflated = b->is_packed = false;
}

void body_release(struct body *b)
{
    forget(b);
    give(b, SIZE_MAX);
    memory_free(b->data, b->size);
    b->data = NULL;
    b->size = 0;
}

void body_empty(struct body *b)
{
    if (b->size > BODY_FIRST_BYTES) {
        body_release(b);
        return;
    }
    give(b, SIZE_MAX);
    forget(b);
}
