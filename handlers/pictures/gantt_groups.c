/* gantt_groups.c - which bars have one colour. */
#include "handlers/pictures/gantt_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_STEPS = 64 }; /* what a bar costs, about */

/* A bar, and a group of bars when they have been put together. */
struct member {
    const char *name;
    size_t length; /* of it */
    size_t bar, first, count;
    double work;
};

static void name_it(struct member *m, const struct gantt_bar *bar, size_t prefix)
{
    m->name = bar->group ? bar->group : bar->id + prefix;
    m->length = bar->group ? strlen(bar->group) : strcspn(m->name, "0123456789/");
    if (!bar->group && m->length && strchr("_-.", m->name[m->length - 1]))
        m->length--;
    if (m->length)
        return;
    m->name = "others";
    m->length = strlen(m->name);
}

static int compare_names(const struct member *x, const struct member *y)
{
    size_t length = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->name, y->name, length);

    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int by_name(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = compare_names(x, y);

    return order ? order : (x->bar > y->bar) - (x->bar < y->bar);
}

static int by_work(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return compare_names(x, y);
}

/* Members sorted by name become groups; their number. */
static size_t put_together(const struct member *list, size_t count, struct member *groups)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        if (!found || compare_names(&groups[found - 1], &list[i]) != 0) {
            groups[found] = list[i];
            groups[found].first = i;
            groups[found].count = 0;
            groups[found++].work = 0;
        }
        groups[found - 1].count++;
        groups[found - 1].work += list[i].work;
    }
    return found;
}

enum error_code gantt_group(const struct gantt *chart, size_t prefix,
                            struct gantt_groups *out, struct arena *a, struct error *err)
{
    struct member *list = NEW(a, struct member, chart->bar_count + 1), *groups;
    size_t found;

    *out = (struct gantt_groups){.of = NEW(a, unsigned, chart->bar_count + 1)};
    for (size_t i = 0; i < chart->bar_count; i++) {
        const struct gantt_bar *bar = &chart->bars[i];
        double time_s = bar->finish_s - bar->start_s;

        TRY(json_go_on(BAR_STEPS, err));
        name_it(&list[i], bar, prefix);
        list[i].bar = i;
        list[i].work = isfinite(time_s) ? fmax(0, time_s) * (double)bar->row_count : 0;
    }
    qsort(list, chart->bar_count, sizeof(*list), by_name);
    groups = NEW(a, struct member, chart->bar_count + 1);
    found = put_together(list, chart->bar_count, groups);
    qsort(groups, found, sizeof(*groups), by_work);
    out->count = found < GANTT_GROUPS ? found : GANTT_GROUPS;
    out->others = found > GANTT_GROUPS;
    for (size_t g = 0; g < found; g++) {
        if (g < GANTT_GROUPS)
            out->names[g] = arena_text(a, groups[g].name, groups[g].length);
        for (size_t i = 0; i < groups[g].count; i++)
            out->of[list[groups[g].first + i].bar] =
                g < GANTT_GROUPS ? (unsigned)g : GANTT_OTHERS;
    }
    return OK;
}
