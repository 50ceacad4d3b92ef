/* system_limits.c - how much memory and processor time this process may use at most. */
#include "service/system_limits.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 4096 };

/* One kind of limit. `v1` is read below the mount of the controller, `v2` below that of
 * all; both give HUGE_VAL where there is no limit. */
struct kind {
    const char *controller;
    const char *mounts[3]; /* of version 1; ended by NULL */
    double (*v1)(const char *folder);
    double (*v2)(const char *folder);
};

/* Up to `count` numbers at the begin of a file; how many there are. */
static size_t read_numbers(const char *folder, const char *name, double *out,
                           size_t count)
{
    char path[PATH_MAX], text[64] = "";
    char *at = text;
    size_t n = 0;
    FILE *file;

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return 0;
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(text, sizeof(text), file))
        text[0] = '\0';
    fclose(file);
    while (n < count) {
        char *end = at;
        double value = (double)strtoll(at, &end, 10);

        if (end == at) /* also "max" */
            break;
        out[n++] = value;
        at = end;
    }
    return n;
}

static double memory_v2(const char *folder)
{
    double bytes;

    return read_numbers(folder, "memory.max", &bytes, 1) == 1 ? bytes : HUGE_VAL;
}

static double memory_v1(const char *folder)
{
    double bytes;

    return read_numbers(folder, "memory.limit_in_bytes", &bytes, 1) == 1 ? bytes
                                                                         : HUGE_VAL;
}

/* Quota and period in microseconds; no quota is "max", or -1. */
static double share_of(const double *time_us)
{
    return time_us[0] > 0 && time_us[1] > 0 ? time_us[0] / time_us[1] : HUGE_VAL;
}

static double processors_v2(const char *folder)
{
    double time_us[2];

    return read_numbers(folder, "cpu.max", time_us, 2) == 2 ? share_of(time_us)
                                                            : HUGE_VAL;
}

static double processors_v1(const char *folder)
{
    double time_us[2];

    return read_numbers(folder, "cpu.cfs_quota_us", &time_us[0], 1) == 1 &&
                   read_numbers(folder, "cpu.cfs_period_us", &time_us[1], 1) == 1
               ? share_of(time_us)
               : HUGE_VAL;
}

static const struct kind memory = {
    "memory", {"/sys/fs/cgroup/memory"}, memory_v1, memory_v2};
static const struct kind processor = {
    "cpu",
    {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"},
    processors_v1,
    processors_v2};

/* The least limit of the group and all above it. In a container the mounted tree may
 * begin anywhere above: what is not there does not limit. */
static double least_limit(const char *root, const char *mount, const char *group,
                          double (*read)(const char *))
{
    double least = HUGE_VAL;
    size_t length = strlen(group);

    for (;;) {
        char folder[PATH_MAX];

        if (snprintf(folder, sizeof(folder), "%s%s%.*s", root, mount, (int)length,
                     group) < (int)sizeof(folder))
            least = fmin(least, read(folder));
        if (length == 0)
            return least;
        while (length > 0 && group[--length] != '/')
            ;
    }
}

/* Whether the comma-separated list of a line "ID:LIST:GROUP" names the controller. */
static bool has_controller(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *p = strstr(list, name); p; p = strstr(p + 1, name))
        if ((p == list || p[-1] == ',') && (!p[length] || p[length] == ','))
            return true;
    return false;
}

/* The line is cut. */
static double group_limit(const char *root, const struct kind *kind, char *line)
{
    char *list = strchr(line, ':');
    char *group = list ? strchr(list + 1, ':') : NULL;
    double least = HUGE_VAL;

    if (!group)
        return least;
    *list++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (strcmp(line, "0") == 0 && !*list)
        return least_limit(root, "/sys/fs/cgroup", group, kind->v2);
    if (has_controller(list, kind->controller))
        for (size_t i = 0; kind->mounts[i]; i++)
            least = fmin(least, least_limit(root, kind->mounts[i], group, kind->v1));
    return least;
}

static double least_of_groups(const char *root, const struct kind *kind)
{
    char path[PATH_MAX], line[LINE_SIZE];
    double least = HUGE_VAL;
    FILE *file;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    if (!file)
        return least;
    while (fgets(line, sizeof(line), file))
        least = fmin(least, group_limit(root, kind, line));
    fclose(file);
    return least;
}

size_t system_memory_bytes(const char *root)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    size_t machine = pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes
                                                 : (size_t)1 << 30;
    double least = least_of_groups(root, &memory);

    return least < (double)machine ? (size_t)fmax(0, least) : machine;
}

double system_processors(const char *root)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    double processors = online > 0 ? (double)online : 1;

    /* With more processors than a set has room for this fails, and all count. */
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        processors = fmin(processors, CPU_COUNT(&set));
    return fmin(processors, least_of_groups(root, &processor));
}

size_t system_slots(double processors, size_t most)
{
    return (size_t)fmin(fmax(1, ceil(processors)), (double)most);
}
