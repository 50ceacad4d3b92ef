/* performance/functions.c - the functions a performance model is made of. */
#include "models/performance/functions.h"

#include <math.h>

/* One bit k = 1 .. 11; the constant with each; then every pair of 1 .. 11. */
const unsigned short perf_candidates[] = {
    0x002, 0x004, 0x008, 0x010, 0x020, 0x040, 0x080, 0x100, 0x200, 0x400, 0x800,
    0x003, 0x005, 0x009, 0x011, 0x021, 0x041, 0x081, 0x101, 0x201, 0x401, 0x801,
    0x006, 0x00a, 0x012, 0x022, 0x042, 0x082, 0x102, 0x202, 0x402, 0x802, 0x00c,
    0x014, 0x024, 0x044, 0x084, 0x104, 0x204, 0x404, 0x804, 0x018, 0x028, 0x048,
    0x088, 0x108, 0x208, 0x408, 0x808, 0x030, 0x050, 0x090, 0x110, 0x210, 0x410,
    0x810, 0x060, 0x0a0, 0x120, 0x220, 0x420, 0x820, 0x0c0, 0x140, 0x240, 0x440,
    0x840, 0x180, 0x280, 0x480, 0x880, 0x300, 0x500, 0x900, 0x600, 0xa00, 0xc00,
};

_Static_assert(sizeof(perf_candidates) / sizeof(perf_candidates[0]) == PERF_CANDIDATES,
               "the number of candidates is part of the method");

/* x^0.5, x, x^1.5 ... x^3, ln x, x ln x by id 1 .. 8: tables 3.1 and 3.2 agree. */
static double rising(int id, double x)
{
    switch (id) {
    case 1:
        return sqrt(x);
    case 2:
        return x;
    case 3:
        return x * sqrt(x);
    case 4:
        return x * x;
    case 5:
        return x * x * sqrt(x);
    case 6:
        return x * x * x;
    case 7:
        return log(x);
    case 8:
        return x * log(x);
    default:
        return (double)NAN;
    }
}

/* 1 / x, without a division by zero. */
static double inverse(double x)
{
    return x > 0 ? 1 / x : HUGE_VAL;
}

double perf_p_value(int id, double processors)
{
    switch (id) {
    case 0:
        return 1;
    case 17:
        return processors * inverse(log(processors));
    case 18:
        return log(processors) / processors;
    default:
        return perf_p_id_valid(id) && id > 8 ? inverse(rising(id - 8, processors))
                                             : rising(id, processors);
    }
}

double perf_bw_value(int id, double bandwidth_mbps)
{
    return rising(id, bandwidth_mbps);
}

bool perf_p_id_valid(int id)
{
    return id >= 0 && id <= 18;
}

bool perf_bw_id_valid(int id)
{
    return id >= 1 && id <= PERF_BW_IDS;
}

void perf_bases(double problem_size, double value[])
{
    double n = problem_size, root = sqrt(n), ln = log(n);

    value[0] = 1;
    value[1] = ln;
    value[2] = root;
    value[3] = n;
    value[4] = n * ln;
    value[5] = n * ln * ln;
    value[6] = n * root;
    value[7] = n * n;
    value[8] = n * n * ln;
    value[9] = n * n * root;
    value[10] = n * n * n;
    value[11] = n * n * n * ln;
}

double perf_basis(int bit, double problem_size)
{
    double value[PERF_BASES];

    if (bit < 0 || bit >= PERF_BASES)
        return (double)NAN;
    perf_bases(problem_size, value);
    return value[bit];
}

bool perf_mask_needs_log(unsigned mask)
{
    return (mask & 0x932U) != 0; /* bits 1, 4, 5, 8, 11 */
}

int perf_candidate_of(unsigned mask)
{
    int low, high;

    if (mask < 2 || mask >> PERF_BASES || __builtin_popcount(mask) > 2)
        return 0;
    low = __builtin_ctz(mask);
    high = 31 - __builtin_clz(mask);
    if (low == high)
        return high;
    if (low == 0)
        return 11 + high;
    return 22 + (low - 1) * (22 - low) / 2 + high - low; /* 11 - i pairs begin with i */
}
