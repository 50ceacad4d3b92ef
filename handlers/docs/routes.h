/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_DOCS_ROUTES_H
#define GRIDPLAN_DOCS_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route docs_routes[];

/* ---- site.c - the dashboard and its parts. */

handler_fn get_root;
handler_fn get_asset;

/* ---- docs.c - the manual. */

extern const struct json_object docs_query_json;

handler_fn get_docs;
handler_fn get_docs_folder;

#endif
