/* record_check.c - what is wrong with a record that was read, beyond what its rows say.
 */
#include "service/records/record_check.h"

#include "service/store.h"

#include <stdarg.h>
#include <stdio.h>

void record_mistake(struct record_check *check, const char *member, enum item_code code,
                    const char *format, ...)
{
    char pointer[128] = "";
    char text[256];
    size_t used = 0;
    va_list args;

    if (check->in_list && !check->line)
        used = (size_t)snprintf(pointer, sizeof(pointer), "/%zu", check->index);
    if (*member)
        snprintf(pointer + used, sizeof(pointer) - used, "/%s", member);
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    invalid(check->err, pointer, code, "%s", text);
    if (check->line)
        error_at_line(check->err, check->line);
}

void record_check_instant(struct record_check *check, const char *member, double at_s)
{
    if (at_s > check->now_s + STORE_FUTURE_MAX_S)
        record_mistake(check, member, ITEM_IN_THE_FUTURE,
                       "%.0f s ahead of the service's clock; at most %d s are accepted",
                       at_s - check->now_s, STORE_FUTURE_MAX_S);
}
