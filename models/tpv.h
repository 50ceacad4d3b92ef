/* tpv.h - what Galaxy's Total Perspective Vortex asks: which destination for a job.
 *
 * Source: the documentation of Total Perspective Vortex and of its remote ranking of
 * destinations (`POST process_data`), request and answer.
 */
#ifndef GRIDPLAN_TPV_H
#define GRIDPLAN_TPV_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct tpv_place {
    const char *id;
    double latitude, longitude; /* degrees; NAN: not said */
    double gigabytes;           /* of an object store: of the datasets that it has */
};

struct tpv_request {
    const char *tool_id; /* NULL: not said */
    const struct tpv_place *destinations;
    size_t destination_count;
    const struct tpv_place *stores;
    size_t store_count;
};

/* ERR_MALFORMED: it is no JSON object. Destinations without an id are left out, and those
 * that come again. */
enum error_code tpv_read(const char *text, size_t length, struct tpv_request *out,
                         struct arena *a, struct error *err);

/* Great-circle distance on a sphere of 6371 km; NAN: a place is not said. */
double tpv_distance_km(const struct tpv_place *from, const struct tpv_place *to);

/* Numbers of the destinations, best first: those with a known time by that, the others by
 * the distance to the store that holds most, those without one as they came.
 * finish_s: by destination, wait and run time; NAN: not known; NULL: of none. */
void tpv_sort(const struct tpv_request *request, const double *finish_s, size_t *order,
              struct arena *a);

#endif
