/* replay.c - feeds a folder of inputs to a fuzz target, without libFuzzer.
 *
 *     NAME_fuzz FOLDER
 *
 * Runs the empty input, every file of FOLDER as it is, and each file cut short
 * at some places. This is how the corpus runs under ctest with any compiler; a
 * target built with GRIDPLAN_FUZZ has libFuzzer's main instead.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTS 16

/* An exact copy each time, so that a read past the end is seen. */
static int run(const char *name, const char *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy) {
        fprintf(stderr, "replay: out of memory\n");
        return 1;
    }
    memcpy(copy, bytes, size);
    if (LLVMFuzzerTestOneInput(copy, size) != 0) {
        fprintf(stderr, "replay: %s: refused by the target\n", name);
        free(copy);
        return 1;
    }
    free(copy);
    return 0;
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t size = 0;
    size_t capacity = 0;
    int code = 1;

    if (!file) {
        fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
        return 1;
    }
    do {
        if (size == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            char *grown = realloc(bytes, capacity);
            if (!grown)
                goto out;
            bytes = grown;
        }
        size += fread(bytes + size, 1, capacity - size, file);
    } while (!feof(file) && !ferror(file));
    if (ferror(file)) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        goto out;
    }
    fprintf(stderr, "%s\n", path); /* the last line names the input of a crash */
    code = run(path, bytes, size);
    for (size_t i = 1; i < CUTS && code == 0; i++)
        code = run(path, bytes, size * i / CUTS);
out:
    free(bytes);
    fclose(file);
    return code;
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    int count;
    int code;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    count = scandir(argv[1], &entries, NULL, alphasort);
    if (count < 0) {
        fprintf(stderr, "replay: %s: %s; every target has at least one input there\n",
                argv[1], strerror(errno));
        return 1;
    }
    code = run("the empty input", "", 0);
    for (int i = 0; i < count; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);

        if (entries[i]->d_name[0] != '.' && length < (int)sizeof path)
            code |= replay_file(path);
        free(entries[i]);
    }
    free(entries);
    return code;
}
