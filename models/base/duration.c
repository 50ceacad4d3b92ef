/* duration.c - lengths of time as people say them. */
#include "models/base/duration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    double seconds;
    const char *name;
} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};

void duration_add_whole(double time_s, char *text, size_t used, size_t size)
{
    size_t first = 0;

    while (first < 3 && time_s < units[first].seconds)
        first++;
    for (size_t i = first; i < 4 && i < first + 2 && used < size; i++) {
        double whole = floor(time_s / units[i].seconds);

        time_s -= whole * units[i].seconds;
        if (whole > 0 || first == 3)
            used += (size_t)snprintf(text + used, size - used, "%s%.0f %s",
                                     i > first ? " " : "", whole, units[i].name);
    }
}

void duration_text(double time_s, char *text, size_t size)
{
    double length_s = fabs(time_s), unit_s = length_s < 1e-3 ? 1e-6
                                             : length_s < 1  ? 1e-3
                                                             : 1;
    const char *name = length_s < 1e-3 ? "\xc2\xb5s" : length_s < 1 ? "ms" : "s";
    const char *sign = time_s < 0 ? "-" : "";
    char digits[32];

    if (length_s == 0 || (length_s < 60 && length_s >= 1e-9)) {
        snprintf(digits, sizeof(digits), "%.2e", length_s / unit_s);
        snprintf(text, size, "%s%.10g %s", sign, strtod(digits, NULL),
                 length_s == 0 ? "s" : name);
    } else if (length_s < 60) {
        snprintf(text, size, "0 s");
    } else {
        size_t used = (size_t)snprintf(text, size, "%s", sign);

        duration_add_whole(floor(length_s + 0.5), text, used, size);
    }
}
