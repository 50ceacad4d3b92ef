/* routes.c - the endpoints of this room: pages for people, which are not described. */
#include "handlers/docs/routes.h"

#include "handlers/common/tags.h"
#include "handlers/operations/routes.h"

#define PAGE TAG_OPERATIONS

const struct route docs_routes[] = {
    {"GET", "/", "getDashboard", PAGE, get_root, NULL, &service_info_json, NULL,
     WORK_INLINE, SCOPE_NONE, ROUTE_ASSET, "The dashboard",
     "HTML when Accept prefers it over JSON, else as GET /v1/service-info.", NULL},
    {"GET", "/docs", "getDocsFolder", PAGE, get_docs_folder, NULL, NULL, NULL,
     WORK_INLINE, SCOPE_NONE, ROUTE_ASSET, "The manual", "308 to /docs/.", NULL},
    {"GET", "/docs/*", "getDocs", PAGE, get_docs, NULL, NULL, &docs_query_json,
     WORK_INLINE, SCOPE_NONE, ROUTE_ASSET, "A page of the manual", "HTML.", NULL},
    {"GET", "/favicon.svg", "getIcon", PAGE, get_asset, NULL, NULL, NULL, WORK_INLINE,
     SCOPE_NONE, ROUTE_ASSET, "The icon of pages", "SVG.", NULL},
    {"GET", "/ui/*", "getAsset", PAGE, get_asset, NULL, NULL, NULL, WORK_INLINE,
     SCOPE_NONE, ROUTE_ASSET, "A part of the dashboard", "Modules and styles.", NULL},
    {0},
};
