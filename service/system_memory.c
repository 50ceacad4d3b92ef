/* system_memory.c - how much memory this process may use at most. */
#include "service/system_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 4096 };

/* The number in a file; SIZE_MAX: none, or "max". */
static size_t read_limit(const char *path)
{
    FILE *file = fopen(path, "re");
    char text[64] = "";
    char *end = text;
    unsigned long long value;

    if (!file)
        return SIZE_MAX;
    if (!fgets(text, sizeof(text), file))
        text[0] = '\0';
    fclose(file);
    errno = 0;
    value = strtoull(text, &end, 10);
    return end == text || errno || value > SIZE_MAX ? SIZE_MAX : (size_t)value;
}

/* The least limit of the group and all above it; `group` is cut. In a container the
 * mounted tree may begin anywhere above: what is not there does not limit. */
static size_t least_limit(const char *root, const char *mount, char *group,
                          const char *name)
{
    size_t least = SIZE_MAX;

    for (;;) {
        char path[PATH_MAX];
        char *slash = strrchr(group, '/');
        size_t limit = SIZE_MAX;

        if (snprintf(path, sizeof(path), "%s%s%s/%s", root, mount, group, name) <
            (int)sizeof(path))
            limit = read_limit(path);
        if (limit < least)
            least = limit;
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Whether the comma-separated list of a line "ID:LIST:GROUP" names the controller. */
static int has_controller(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *p = strstr(list, name); p; p = strstr(p + 1, name))
        if ((p == list || p[-1] == ',') && (!p[length] || p[length] == ','))
            return 1;
    return 0;
}

static size_t group_limit(const char *root, char *line)
{
    char *list = strchr(line, ':');
    char *group = list ? strchr(list + 1, ':') : NULL;

    if (!group)
        return SIZE_MAX;
    *list++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (strcmp(line, "0") == 0 && !*list)
        return least_limit(root, "/sys/fs/cgroup", group, "memory.max");
    if (has_controller(list, "memory"))
        return least_limit(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    return SIZE_MAX;
}

size_t system_memory_bytes(const char *root)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    size_t least = pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes
                                               : (size_t)1 << 30;
    char path[PATH_MAX], line[LINE_SIZE];
    FILE *file;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    if (!file)
        return least;
    while (fgets(line, sizeof(line), file)) {
        size_t limit = group_limit(root, line);

        if (limit < least)
            least = limit;
    }
    fclose(file);
    return least;
}
