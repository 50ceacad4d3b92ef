/* sites_json.h - how sites with their machines and links look in JSON.
 *
 * What a request about tightly coupled applications carries: sites, each with machines,
 * links in one of three forms and, for a batch queue, past waits; and models of run
 * times as terms.
 *
 * A request's own element is a struct with `struct site site` and a table that begins
 * with SITE_ROWS; members of its own follow.
 *
 * algorithms/parallel/sites.h makes a problem of a site, and checks what tables cannot.
 *
 * Source: spec parallel-scheduling.md 11.
 */
#ifndef GRIDPLAN_SITES_JSON_H
#define GRIDPLAN_SITES_JSON_H

#include "models/performance/term.h"
#include "models/site.h"
#include "service/json.h"

/* Machines of a site; its links then fit the longest list that JSON takes. */
enum { SITES_MAX = 1000, SITE_MACHINES_MAX = 1414, SITE_TERMS_MAX = 1000 };

extern const struct json_object site_machine_json;
extern const struct json_object site_links_json;
extern const struct json_object site_wait_json;
extern const char *const site_kind_names[];

/* A plain struct site, as stored snapshots have it. */
extern const struct json_object site_json;

#define SITE_NUMBER(T, m, low, dflt, flag, text)                             \
    {                                                                        \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, .min = low,       \
        .max = JSON_LARGEST, .preset = dflt, .flags = flag | JSON_ABOVE_MIN, \
        .offset = JSON_AT(T, site.m, double)                                 \
    }

/* clang-format off */
#define SITE_ROWS(T)                                                                     \
    {.name = "id",                                                                       \
     .doc = "Name, unique in the request",                                               \
     .type = JSON_TYPE_TEXT,                                                             \
     .min = 1,                                                                           \
     .max = 256,                                                                         \
     .flags = JSON_REQUIRED,                                                             \
     .offset = JSON_AT(T, site.id, const char *)},                                       \
    {.name = "kind",                                                                     \
     .doc = "interactive: machines are shared; batch: a job waits, then has them alone " \
            "and cpu_available_ratio counts as 1; default interactive",                  \
     .type = JSON_TYPE_CHOICE,                                                           \
     .choices = site_kind_names,                                                         \
     .offset = JSON_AT(T, site.kind, enum site_kind)},                                   \
    SITE_NUMBER(T, link_capacity_mbps, 0, NAN, JSON_NULLABLE,                            \
                "What the fastest link can carry; sets the step of box_elimination's "   \
                "grid; default: the greatest bandwidth given"),                          \
    SITE_NUMBER(T, cpu_scaling_factor, 0, 1, 0,                                          \
                "Computation takes so many times what the model says; above 1: a slower "\
                "site; default 1; 1 with a model of its own"),                           \
    SITE_NUMBER(T, bandwidth_scaling_factor, 0, 1, 0,                                    \
                "The same of communication; default 1"),                                 \
    {.name = "resources",                                                                \
     .doc = "Its machines; their order breaks ties",                                     \
     .type = JSON_TYPE_LIST,                                                             \
     .of = &site_machine_json,                                                           \
     .max = SITE_MACHINES_MAX,                                                           \
     .flags = JSON_REQUIRED | JSON_UNIQUE_IDS,                                           \
     .offset = JSON_AT(T, site.resources, const struct site_machine *),                  \
     .count_offset = JSON_AT(T, site.resource_count, size_t)},                           \
    {.name = "links",                                                                    \
     .doc = "Bandwidth between its machines",                                            \
     .type = JSON_TYPE_OBJECT,                                                           \
     .of = &site_links_json,                                                             \
     .flags = JSON_REQUIRED,                                                             \
     .offset = JSON_AT(T, site.links, struct site_links)},                               \
    {.name = "queue_wait_history",                                                       \
     .doc = "Past waits of a batch site; a job waits as those with as many processors "  \
            "did, or the nearest number; default: no wait",                              \
     .type = JSON_TYPE_LIST,                                                             \
     .of = &site_wait_json,                                                              \
     .max = 100000,                                                                      \
     .offset = JSON_AT(T, site.queue_wait_history, const struct site_wait *),            \
     .count_offset = JSON_AT(T, site.wait_count, size_t)}
/* clang-format on */

/* ---- models of run times ---- */

/* f_comp(N) / (c f_Pcomp(P)) + f_comm(N) / (f_bw(b) f_Pcomm(P)), worked out for N. */
struct site_term {
    double comp_coefficient_s; /* f_comp(N), >= 0 */
    double f_pcomp_id;
    double comm_coefficient; /* f_comm(N), >= 0 */
    double f_bw_id;          /* NAN: no communication */
    double f_pcomm_id;       /* NAN: likewise */
};
extern const struct json_object site_term_json;

/* Terms from a request as a model; `pointer` names their list. Every id that there is
 * no function for is noted in *err: then *out stays as it is. */
enum error_code site_terms_read(const struct site_term *terms, size_t term_count,
                                const char *pointer, struct perf_terms *out,
                                struct arena *a, struct error *err);

#endif
