/* site.c - what browsers get: the dashboard and its parts, and how pages are sent.
 *
 * Bytes of files come from the program itself, without copying. What has a hash in its
 * name never changes; all else is asked for again each time, by its ETag.
 */

#include "handlers/docs/docs.h"

#include "handlers/docs/routes.h"
#include "handlers/operations/routes.h"
#include "service/asset.h"
#include "service/config.h"
#include "service/etag.h"
#include "service/gzip.h"
#include "service/service.h"

#include <stdio.h>
#include <string.h>

#define FOR_EVER "public, max-age=31536000, immutable"

static void add_headers(struct request *rq, const char *content_type)
{
    struct reply *reply = rq->reply;

    reply_header_add(reply, "X-Content-Type-Options", "nosniff");
    if (strncmp(content_type, "text/html", 9) != 0 &&
        strncmp(content_type, "image/svg", 9) != 0)
        return;
    if (content_type[0] == 't')
        reply_header_add(reply, "Content-Security-Policy",
                         arena_printf(rq->arena,
                                      "default-src 'none'; script-src 'self'; style-src "
                                      "'self'; img-src 'self' data:; connect-src 'self'; "
                                      "base-uri 'none'; form-action 'self'; "
                                      "frame-ancestors %s",
                                      route_frame_ancestors(rq)));
    reply_header_add(reply, "Referrer-Policy", "no-referrer");
    reply_header_add(reply, "Cross-Origin-Opener-Policy", "same-origin");
    reply_header_add(reply, "Permissions-Policy",
                     "camera=(), microphone=(), geolocation=()");
}

enum error_code site_send(struct request *rq, const struct cached_page *page,
                          const char *cache_control, const char *vary)
{
    bool packed = gzip_accepted(rq->message->accept_encoding);
    const char *plain_tag = arena_printf(rq->arena, "\"%s\"", page->etag);
    const char *packed_tag = arena_printf(rq->arena, "\"%s-gzip\"", page->etag);
    const char *known = rq->message->if_none_match;
    const char *tag = packed ? packed_tag : plain_tag;
    size_t length;

    add_headers(rq, page->content_type);
    reply_header_add(rq->reply, "Vary", vary);
    reply_header_add(rq->reply, "Cache-Control", cache_control);
    rq->reply->content_type = page->content_type;
    rq->reply->body = "";
    if (rq->reply->status == 200 && (etag_matches_weakly(known, plain_tag) ||
                                     etag_matches_weakly(known, packed_tag))) {
        reply_header_add(rq->reply, "ETag",
                         etag_matches_weakly(known, tag) ? tag
                         : packed                        ? plain_tag
                                                         : packed_tag);
        rq->reply->status = 304;
        return OK;
    }
    reply_header_add(rq->reply, "ETag", tag);
    if (!packed)
        TRY(gzip_inflate(page->gz, page->gz_length, page->length, &rq->reply->body,
                         &length, rq->arena, rq->err));
    else
        reply_header_add(rq->reply, "Content-Encoding", "gzip");
    if (packed)
        rq->reply->body = page->gz;
    rq->reply->body_length = packed ? page->gz_length : page->length;
    return OK;
}

static enum error_code send_asset(struct request *rq, const struct asset *file,
                                  const char *cache_control, const char *vary)
{
    struct cached_page page = {
        file->content_type, file->gz, file->gz_length, file->length, {0}};

    snprintf(page.etag, sizeof(page.etag), "%s", file->sha256);
    return site_send(rq, &page, cache_control, vary);
}

const char *site_path(const char *stem, const char *ending)
{
    size_t length = strlen(stem);

    for (const struct asset *f = ui_files; f->path; f++) {
        const char *end = strrchr(f->path, '.');

        if (strncmp(f->path, stem, length) == 0 && f->path[length] == '.' && end &&
            strcmp(end, ending) == 0)
            return f->path;
    }
    return "";
}

enum error_code get_asset(struct request *rq, const void *in, void *out)
{
    const struct config *config = rq->service->config;
    const char *path = rq->message->path;
    const struct asset *file = asset_find(ui_files, path);
    bool is_named = file && strncmp(path, "/ui/", 4) == 0;

    (void)in, (void)out;
    if (!file || strcmp(path, "/ui/index.html") == 0 || !(config->ui || config->docs))
        return fail(rq->err, ERR_NOT_FOUND, "", "there is no file '%.100s'", path);
    return send_asset(rq, file, is_named ? FOR_EVER : "no-cache", "Accept-Encoding");
}

enum error_code get_root(struct request *rq, const void *in, void *out)
{
    const struct asset *index = asset_find(ui_files, "/ui/index.html");

    if (!request_prefers(rq, "text/html", "application/json")) {
        reply_header_add(rq->reply, "Vary", "Accept");
        return get_service_info(rq, in, out);
    }
    if (index && rq->service->config->ui)
        return send_asset(rq, index, "no-cache", "Accept, Accept-Encoding");
    rq->err->in = rq->err->name = "path";
    rq->err->hint = index ? "see the setting ui" : "it was built with GRIDPLAN_UI=OFF";
    return fail(rq->err, ERR_NOT_FOUND, "", "the dashboard is not served here");
}
