/* clients.c - GET /clients/...: programs for users of engines. */
#include "handlers/engines/routes.h"
#include "service/asset.h"
#include "service/hash.h"

#include <string.h>

static void send_text(struct request *rq, const char *text, size_t length)
{
    rq->reply->body = text;
    rq->reply->body_length = length;
    rq->reply->content_type = "text/plain; charset=utf-8";
}

enum error_code get_client(struct request *rq, const void *in, void *out)
{
    const char *path =
        arena_printf(rq->arena, "%s/%s", rq->path_value[0], rq->path_value[1]);
    const struct asset *file = asset_find(client_files, path);
    const char *text;

    (void)in;
    (void)out;
    if (!file)
        return fail(rq->err, ERR_NOT_FOUND, "/file",
                    "there is no client '%.100s'; /clients/SHA256SUMS lists them", path);
    TRY(asset_text(file, &text, rq->arena, rq->err));
    send_text(rq, text, file->length);
    return OK;
}

enum error_code get_client_sums(struct request *rq, const void *in, void *out)
{
    static const char digits[] = "0123456789abcdef";
    const char *all = "", *text;

    (void)in;
    (void)out;
    for (const struct asset *f = client_files; f->path; f++) {
        unsigned char sum[SHA256_BYTES];
        char hex[2 * SHA256_BYTES + 1] = "";

        TRY(asset_text(f, &text, rq->arena, rq->err));
        hash_sha256(text, f->length, sum);
        for (size_t i = 0; i < SHA256_BYTES; i++) {
            hex[2 * i] = digits[sum[i] >> 4];
            hex[2 * i + 1] = digits[sum[i] & 15];
        }
        all = arena_printf(rq->arena, "%s%s  %s\n", all, hex, f->path);
    }
    send_text(rq, all, strlen(all));
    return OK;
}
