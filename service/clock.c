/* clock.c - a wall clock that can be made to jump, in builds for tests. */
#include "service/clock.h"

#ifdef NDEBUG

double clock_offset_s(void)
{
    return 0;
}

#else

#include <stdio.h>
#include <stdlib.h>

double clock_offset_s(void)
{
    const char *name = getenv("GRIDPLAN_TEST_CLOCK_FILE");
    double offset_s = 0;
    FILE *file = name ? fopen(name, "re") : NULL;

    if (!file)
        return 0;
    if (fscanf(file, "%lf", &offset_s) != 1)
        offset_s = 0;
    fclose(file);
    return offset_s;
}

#endif
