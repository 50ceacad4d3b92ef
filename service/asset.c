/* asset.c - files that the program carries. */
#include "service/asset.h"

#include "service/gzip.h"

#include <string.h>

const struct asset *asset_find(const struct asset *list, const char *path)
{
    for (const struct asset *f = list; f->path; f++)
        if (strcmp(f->path, path) == 0)
            return f;
    return NULL;
}

/* gzip_room_fn; asked once, as the length is known. */
static enum error_code room(void *context, char **data, size_t length, size_t size,
                            struct error *err)
{
    *data = arena_try_extend(context, *data, 1, *data ? length + 1 : 0, size + 1);
    return *data ? OK : fail_memory(err);
}

enum error_code asset_text(const struct asset *asset, const char **text, struct arena *a,
                           struct error *err)
{
    struct gzip_output output = {
        .first_bytes = asset->length + 1, .room = room, .context = a};

    *text = asset->data;
    if (asset->data)
        return OK;
    TRY(gzip_inflate_to(asset->gz, asset->gz_length, asset->length + 1, &output, a, err));
    *text = output.data;
    return OK;
}
