/* sites_warnings.c - what was changed or left out of a site, for the caller to know. */
#include "handlers/sites/sites_lookup.h"

static void add(struct site_warnings *w, const char *text)
{
    w->list[w->count++] = text;
}

void site_warnings_of(const struct site *site, const struct site_machines *m,
                      struct site_warnings *out, struct arena *a)
{
    out->count = 0;
    if (m->unusable_count > 0)
        add(out, arena_printf(a,
                              "resource_unusable: site '%.100s' has %zu resource(s) "
                              "without available cpu; they are left out",
                              site->id, m->unusable_count));
    if (m->raised_cpu_count > 0)
        add(out, arena_printf(a,
                              "cpu_raised: site '%.100s' has %zu resource(s) with less "
                              "than 0.01 of their cpu; 0.01 is used",
                              site->id, m->raised_cpu_count));
    if (m->raised_link_count > 0)
        add(out, arena_printf(a,
                              "bandwidth_raised: site '%.100s' has %zu link(s) below "
                              "0.01 Mbit/s; 0.01 is used",
                              site->id, m->raised_link_count));
    if (m->queue_wait_s && !m->queue_wait_known)
        add(out, arena_printf(a,
                              "queue_wait_unknown: batch site '%.100s' has no "
                              "queue_wait_history; its wait counts as 0",
                              site->id));
}
