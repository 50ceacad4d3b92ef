/* embed.c - host tool: files become a C file that the program is built with.
 *
 *     embed OUT.c LIST
 *
 * The first line of LIST names the table, a `const struct asset []` of asset.h ended by
 * {0}, and behind a blank the variable with the number of its rows. Each further line is
 * a row: PATH, FILE and HOW with a tab between, where HOW says
 *
 *     plain    the bytes as they are, with a NUL behind them
 *     packed   compressed by gzip, level 9, without name and time: the same file gives
 *              the same bytes
 *     named    packed, and ten digits of the bytes' SHA-256 stand in PATH, before its
 *              ending: /ui/app.js becomes /ui/app.0123456789.js. Where the old path
 * stands in the text of a later row, the new one does: list first what is named.
 *
 * Bytes are one string literal of octal escapes, which compiles in a tenth of the time
 * that a list of numbers takes.
 */
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { NAMED_MAX = 256, PATH_MAX_BYTES = 512, LINE_BYTES = 4000, NAME_DIGITS = 10 };

struct bytes {
    unsigned char *data;
    size_t length;
};

/* Paths that were given another name. */
static struct renamed {
    char old[PATH_MAX_BYTES], now[PATH_MAX_BYTES + NAME_DIGITS + 2];
} renamed[NAMED_MAX];
static size_t renamed_count;

static void stop(const char *what, const char *name)
{
    fprintf(stderr, "embed: %s: %s\n", name, what);
    exit(1);
}

static void *take(size_t size)
{
    void *p = malloc(size);

    if (!p)
        stop("no memory", "-");
    return p;
}

static struct bytes read_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    struct bytes b = {0};
    long size;

    if (!f || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0)
        stop("cannot be read", name);
    rewind(f);
    b.length = (size_t)size;
    b.data = take(b.length + 1);
    if (fread(b.data, 1, b.length, f) != b.length)
        stop("cannot be read", name);
    b.data[b.length] = 0;
    fclose(f);
    return b;
}

/* `old` by `now`, wherever it stands. */
static struct bytes replace(struct bytes in, const char *old, const char *now)
{
    size_t old_length = strlen(old), now_length = strlen(now), from = 0;
    struct bytes out = {take(in.length * (1 + now_length / old_length) + now_length + 1),
                        0};

    while (from < in.length) {
        if (in.length - from >= old_length &&
            memcmp(in.data + from, old, old_length) == 0) {
            memcpy(out.data + out.length, now, now_length);
            out.length += now_length;
            from += old_length;
        } else {
            out.data[out.length++] = in.data[from++];
        }
    }
    out.data[out.length] = 0;
    free(in.data);
    return out;
}

static struct bytes compress_bytes(struct bytes in)
{
    z_stream z = {0};
    struct bytes out;

    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        stop("no memory", "gzip");
    out.length = deflateBound(&z, in.length) + 64;
    out.data = take(out.length);
    z.next_in = in.data;
    z.avail_in = (uInt)in.length;
    z.next_out = out.data;
    z.avail_out = (uInt)out.length;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        stop("does not compress", "gzip");
    out.length -= z.avail_out;
    deflateEnd(&z);
    return out;
}

static void write_bytes(FILE *out, const char *kind, size_t number, struct bytes b)
{
    fprintf(out, "static const char %s_%zu[] =", kind, number);
    for (size_t i = 0; i < b.length || i == 0; i++) {
        if (i % LINE_BYTES == 0)
            fprintf(out, "%s\n    \"", i ? "\"" : "");
        if (i < b.length)
            fprintf(out, "\\%03o", b.data[i]);
    }
    fputs("\";\n", out);
}

static const char *content_type(const char *path)
{
    static const char *const types[][2] = {
        {".css", "text/css; charset=utf-8"},       {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"}, {".json", "application/json"},
        {".md", "text/markdown; charset=utf-8"},   {".svg", "image/svg+xml"},
    };
    const char *ending = strrchr(path, '.');

    for (size_t i = 0; ending && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i][0], ending) == 0)
            return types[i][1];
    return "text/plain; charset=utf-8";
}

/* The path with `hex` before its ending, noted for later files. */
static const char *rename_path(const char *path, const char *hex)
{
    const char *ending = strrchr(path, '.');
    struct renamed *r = &renamed[renamed_count];

    if (!ending || renamed_count == NAMED_MAX || strlen(path) >= PATH_MAX_BYTES)
        stop("has no ending, or there are too many", path);
    snprintf(r->old, sizeof(r->old), "%s", path);
    snprintf(r->now, sizeof(r->now), "%.*s.%.*s%s", (int)(ending - path), path,
             NAME_DIGITS, hex, ending);
    renamed_count++;
    return r->now;
}

/* Writes the bytes of one row; the row itself goes to `rows`. */
static void embed(FILE *out, FILE *rows, size_t number, const char *path,
                  const char *file, const char *how)
{
    struct bytes text = read_file(file), packed = {0};
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char hex[2 * SHA256_DIGEST_LENGTH + 1];
    bool is_plain = strcmp(how, "plain") == 0, is_named = strcmp(how, "named") == 0;

    if (!is_plain && !is_named && strcmp(how, "packed") != 0)
        stop("is plain, packed or named", how);
    for (size_t i = 0; !is_plain && i < renamed_count; i++)
        text = replace(text, renamed[i].old, renamed[i].now);
    SHA256(text.data, text.length, digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        sprintf(hex + 2 * i, "%02x", digest[i]);
    if (is_named)
        path = rename_path(path, hex);
    if (is_plain) {
        write_bytes(out, "text", number, text);
    } else {
        packed = compress_bytes(text);
        write_bytes(out, "gzip", number, packed);
    }
    fprintf(rows, "    {\"%s\", \"%s\", \"%.16s\", ", path, content_type(path), hex);
    if (is_plain)
        fprintf(rows, "text_%zu, %zu, NULL, 0},\n", number, text.length);
    else
        fprintf(rows, "NULL, %zu, gzip_%zu, %zu},\n", text.length, number, packed.length);
    free(text.data);
    free(packed.data);
}

int main(int argc, char **argv)
{
    FILE *list, *out, *rows;
    char line[4 * PATH_MAX_BYTES], table[64], counter[64], *text = NULL;
    size_t size = 0, number = 0;

    if (argc != 3)
        stop("use: embed OUT.c LIST", "");
    list = fopen(argv[2], "r");
    out = fopen(argv[1], "w");
    rows = open_memstream(&text, &size);
    if (!list || !out || !rows || !fgets(line, sizeof(line), list))
        stop("cannot be opened", argv[1]);
    if (sscanf(line, "%63s %63s", table, counter) != 2)
        stop("the first line names a table and a counter", argv[2]);
    fprintf(out, "/* %s: made by embed. */\n#include \"service/asset.h\"\n\n", table);
    fprintf(rows, "\nconst struct asset %s[] = {\n", table);
    while (fgets(line, sizeof(line), list)) {
        const char *path = strtok(line, "\t\r\n"), *file = strtok(NULL, "\t\r\n"),
                   *how = strtok(NULL, "\t\r\n");

        if (path && (!file || !how))
            stop("a row is PATH, FILE and HOW", path);
        if (path)
            embed(out, rows, ++number, path, file, how);
    }
    fprintf(rows, "    {0},\n};\nconst size_t %s = %zu;\n", counter, number);
    fclose(rows);
    fputs(text, out);
    free(text);
    fclose(list);
    if (fclose(out) != 0)
        stop("cannot be written", argv[1]);
    return 0;
}
