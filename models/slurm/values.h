/* values.h - how Slurm writes numbers, times, amounts and lists of hosts.
 *
 * Texts that stand for "nothing": empty, (null), N/A, n/a, None, NONE, Unknown,
 * "None assigned", and the numbers that mean "not set": 2^32 - 2, 2^64 - 2. Those for
 * "no limit": UNLIMITED, INFINITE, infinite, 2^32 - 1, 2^64 - 1; they are INFINITY here.
 *
 * Source: Slurm's manual pages squeue(1), scontrol(1), sacct(1), slurm.conf(5) and the
 * description of its REST interface, versions 22.05 to 24.05.
 */
#ifndef GRIDPLAN_SLURM_VALUES_H
#define GRIDPLAN_SLURM_VALUES_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLURM_HOSTS_MAX = 100000, SLURM_TASKS_MAX = 100000 };

/* Whether a text says nothing; NULL does not. */
bool slurm_says_nothing(const char *text);

/* A plain number; NAN: none, or none that is set; INFINITY: no limit. */
double slurm_number(const char *text);

/* A duration in seconds: a plain number counts `unit_s` each; else [days-]hours:min[:s],
 * where days are given, and [hours:]minutes:seconds. Words behind a number are units:
 * "5 sec", "10 min". NAN, INFINITY as above. */
double slurm_duration_s(const char *text, double unit_s);

/* An instant: seconds since the epoch, or 2026-11-22T10:24:57, which is so far ahead of
 * UTC unless a zone stands behind it (Z, +0100, +01:00); a blank may stand for the T.
 * NAN: none; 0 counts as none. */
double slurm_instant_s(const char *text, double tz_offset_s);

/* Whether that is a time that depends on the zone. */
bool slurm_is_local(const char *text);

/* Memory in bytes: MiB unless a suffix says K, M, G, T or P, powers of 1024. `per_cpu`
 * (may be NULL): the suffix ends in c, as sacct has it. */
double slurm_bytes(const char *text, bool *per_cpu);

/* One of "cpu=4,mem=2000M,gres/gpu:tesla=2", "gpu:tesla:4(S:0)", "matlab:2". */
struct slurm_amount {
    const char *name; /* cpu, mem, gres/gpu, license/matlab; gpu; matlab */
    const char *type; /* tesla; NULL: not said */
    double count;     /* mem: bytes */
};

/* Reads a list of resources, as they are tracked, `=` between name and number. */
size_t slurm_tracked(const char *text, const struct slurm_amount **list, struct arena *a);

/* Reads a list of generic resources or licences, `:` between, or = before the number;
 * "gres:gpu:2", "gres/gpu:2" and "gpu:(null):2" are gpu; without a number it is 1. */
size_t slurm_generic(const char *text, const struct slurm_amount **list, struct arena *a);

/* The amount of that name and no type; 0: none. */
double slurm_amount_of(const struct slurm_amount *list, size_t count, const char *name);

/* "a[01-03,7]b[1-2],c" to its names, padded as they are written: false for what is no
 * such list, or has more than SLURM_HOSTS_MAX names. */
bool slurm_hosts(const char *text, const char *const **names, size_t *count,
                 struct arena *a);

/* "0-7,9:2%3", "0-10:5": how many tasks; running_max 0: not said. False for what is none:
 * downward ranges, steps of 0, more than SLURM_TASKS_MAX. */
bool slurm_tasks(const char *text, size_t *count, double *running_max);

/* Elements of a list with `separator` outside brackets and parentheses. */
size_t slurm_split(const char *text, char separator, const char *const **list,
                   struct arena *a);

#endif
