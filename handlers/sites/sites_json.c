/* sites_json.c - how sites with their machines and links look in JSON. */
#include "handlers/sites/sites_json.h"

#include "models/base/pointer.h"
#include "models/performance/functions.h"

#include <stdio.h>

const char *const site_kind_names[] = {"interactive", "batch", NULL};

static const char *const forms[] = {"upper_triangle", "uplinks", "default_with_overrides",
                                    NULL};

#define T struct site_machine
static const struct json_field machine_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the site"),
    JSON_NUMBER(T, cpu_available_ratio, 0, 1, NAN, JSON_NULLABLE,
                "Share of its cpu that will be available; 0 or not given: it is not "
                "used, unless the site is a batch site; below 0.01 counts as 0.01"),
    JSON_NUMBER(T, uplink_mbps, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Bandwidth between it and the others, for links of the form uplinks"),
    {0},
};
#undef T
const struct json_object site_machine_json = {"SiteMachine", "A machine of a site",
                                              sizeof(struct site_machine), machine_rows};

#define T struct site_link
static const struct json_field link_rows[] = {
    JSON_ID(T, resource_id, JSON_REQUIRED, "One machine"),
    JSON_ID(T, peer_id, JSON_REQUIRED, "The other"),
    JSON_NUMBER(T, bandwidth_mbps, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Bandwidth in 10^6 bits per second; 0, null: no link"),
    {0},
};
#undef T
static const struct json_object link_json = {"SiteLink",
                                             "The link between two machines of a site",
                                             sizeof(struct site_link), link_rows};

#define T struct site_links
static const struct json_field links_rows[] = {
    JSON_CHOICE(T, form, forms, 0, JSON_REQUIRED,
                "upper_triangle: bandwidth_mbps has a number for each pair; uplinks: a "
                "link is as good as the worse uplink_mbps of its ends; "
                "default_with_overrides: default_mbps, but for the overrides"),
    JSON_NUMBERS(T, bandwidth_mbps, bandwidth_count, 0, JSON_LARGEST, JSON_NULLABLE,
                 "Of the first resource and each later one, then of the second and each "
                 "later one ...; 0, null: no link; below 0.01 counts as 0.01"),
    JSON_NUMBER(T, default_mbps, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Of all pairs without an override; default: no link"),
    JSON_LIST(T, overrides, override_count, struct site_link, &link_json, 1000000, 0,
              "Pairs that are not as the others; the last of a pair counts"),
    {0},
};
#undef T
const struct json_object site_links_json = {"SiteLinks",
                                            "Bandwidth between the machines of a site",
                                            sizeof(struct site_links), links_rows};

#define T struct site_wait
static const struct json_field wait_rows[] = {
    JSON_NUMBER(T, processors, 1, 1e9, 0, JSON_REQUIRED,
                "Machines that the job asked for"),
    JSON_NUMBER(T, wait_s, 0, JSON_LARGEST, 0, JSON_REQUIRED, "How long it waited"),
    {0},
};
#undef T
const struct json_object site_wait_json = {"SiteWait", "A past job of a batch queue",
                                           sizeof(struct site_wait), wait_rows};

struct plain_site {
    struct site site;
};
_Static_assert(sizeof(struct plain_site) == sizeof(struct site), "the same struct");

#define T struct plain_site
static const struct json_field site_rows[] = {
    SITE_ROWS(T),
    {0},
};
#undef T
const struct json_object site_json = {"Site", "A cluster of machines with their links",
                                      sizeof(struct site), site_rows};

#define T struct site_term
static const struct json_field term_rows[] = {
    JSON_NUMBER(T, comp_coefficient_s, 0, JSON_LARGEST, 0, JSON_REQUIRED,
                "f_comp(N): computation in seconds on one free processor"),
    JSON_NUMBER(
        T, f_pcomp_id, 0, 18, 0, JSON_REQUIRED,
        "What it is divided by for P processors: 1 sqrt(P), 2 P, 3 P^1.5, 4 P^2, 5 "
        "P^2.5, 6 P^3, 7 ln P, 8 P ln P, 9..16 the reciprocals of 1..8, 0 one, 17 "
        "P / ln P, 18 ln P / P"),
    JSON_NUMBER(T, comm_coefficient, 0, JSON_LARGEST, 0, 0,
                "f_comm(N): communication, in seconds times what f_bw gives; default 0"),
    JSON_NUMBER(T, f_bw_id, 1, 8, NAN, JSON_NULLABLE,
                "What it is divided by for x Mbit/s: 1 sqrt(x), 2 x, 3 x^1.5, 4 x^2, 5 "
                "x^2.5, 6 x^3, 7 ln x, 8 x ln x; needed with comm_coefficient"),
    JSON_NUMBER(T, f_pcomm_id, 0, 18, NAN, JSON_NULLABLE,
                "What it is divided by for P processors, as f_pcomp_id; needed with "
                "comm_coefficient"),
    {0},
};
#undef T
const struct json_object site_term_json = {
    "ModelTerm",
    "Run time of a phase on P machines with cpu c and bandwidth b at least: "
    "f_comp(N) / (c f_Pcomp(P)) + f_comm(N) / (f_bw(b) f_Pcomm(P))",
    sizeof(struct site_term), term_rows};

static void mistake(const char *pointer, size_t i, const char *member,
                    enum item_code code, const char *detail, struct error *err)
{
    invalid(err, pointer_in(pointer, i, member).text, code, "%s", detail);
}

/* A whole number, or the mistake that it is none; PERF_NONE if it is not needed. */
static int read_id(double id, bool needed, const char *pointer, size_t i,
                   const char *member, struct error *err)
{
    if (isnan(id)) {
        if (needed)
            mistake(pointer, i, member, ITEM_REQUIRED,
                    "the member is missing: comm_coefficient is above 0", err);
        return PERF_NONE;
    }
    if (id != floor(id)) {
        mistake(pointer, i, member, ITEM_WRONG_TYPE, "must be a whole number", err);
        return PERF_NONE;
    }
    return (int)id;
}

enum error_code site_terms_read(const struct site_term *terms, size_t term_count,
                                const char *pointer, struct perf_terms *out,
                                struct arena *a, struct error *err)
{
    struct perf_term *list = NEW(a, struct perf_term, term_count);
    size_t before = err->item_count;

    for (size_t i = 0; i < term_count; i++) {
        const struct site_term *t = &terms[i];
        bool communicates = t->comm_coefficient > 0;

        list[i] = (struct perf_term){
            .comp_s = t->comp_coefficient_s,
            .pcomp_id = read_id(t->f_pcomp_id, true, pointer, i, "f_pcomp_id", err),
            .comm = t->comm_coefficient,
            .bw_id = read_id(t->f_bw_id, communicates, pointer, i, "f_bw_id", err),
            .pcomm_id =
                read_id(t->f_pcomm_id, communicates, pointer, i, "f_pcomm_id", err),
        };
    }
    if (err->item_count > before)
        return err->code;
    *out = (struct perf_terms){list, term_count, (double)NAN};
    return OK;
}
