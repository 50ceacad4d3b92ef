/* sites_warnings.c - what was changed or left out of a site, for the caller to know. */
#include "handlers/sites/sites_lookup.h"

#include "models/base/plural.h"

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
                              "resource_unusable: site '%.100s' has %s "
                              "without available cpu; %s left out",
                              site->id, counted(m->unusable_count, "resource").text,
                              plural(m->unusable_count, "it is", "they are")));
    if (m->raised_cpu_count > 0)
        add(out, arena_printf(a,
                              "cpu_raised: site '%.100s' has %s with less "
                              "than 0.01 of %s cpu; 0.01 is used",
                              site->id, counted(m->raised_cpu_count, "resource").text,
                              plural(m->raised_cpu_count, "its", "their")));
    if (m->raised_link_count > 0)
        add(out, arena_printf(a,
                              "bandwidth_raised: site '%.100s' has %s below "
                              "0.01 Mbit/s; 0.01 is used",
                              site->id, counted(m->raised_link_count, "link").text));
    if (m->queue_wait_s && !m->queue_wait_known)
        add(out, arena_printf(a,
                              "queue_wait_unknown: batch site '%.100s' has no "
                              "queue_wait_history; its wait counts as 0",
                              site->id));
}
