/* json_patch.h - changes of a JSON document: merge patches, and elements by their ids.
 *
 * A merge patch (RFC 7396) replaces lists whole. Where the elements of a list have ids,
 * a patch may name them instead, by the member "X_by_id" of the object that has the list
 * "X": id -> what is merged into the element; null takes it out, and one that is not
 * there yet goes behind the others. Elements may have such lists in their turn.
 *
 * A patch has no "now": where an element gives seconds from now, its patch gives an
 * instant instead, which takes the place of the seconds.
 *
 * Every mistake has its pointer into what the caller sent.
 */
#ifndef GRIDPLAN_JSON_PATCH_H
#define GRIDPLAN_JSON_PATCH_H

#include "models/base/arena.h"
#include "models/base/error.h"

#include <stdbool.h>

/* A member in seconds, and the one that a patch has to give. */
struct json_instead {
    const char *seconds, *instant;
};

/* A list whose elements have ids. */
struct json_keyed_list {
    const char *by_id;                   /* "resources_by_id" */
    const char *list;                    /* "resources" */
    const struct json_keyed_list *inner; /* of its elements, ended by {0}; NULL: none */
    const struct json_instead *instead;  /* likewise */
};

/* A changed document. */
struct cJSON;
struct json_patched {
    const char *text;
    const struct cJSON *document, *patch;
    const struct json_keyed_list *lists; /* ended by {0}; NULL: of an element only */
    const struct json_keyed_list *of;    /* whose element was changed; NULL: all of it */
    const char *id;                      /* of that element */
};

/* `patch` on `target`, both JSON texts. */
enum error_code json_merge_patch(const char *target, const char *patch,
                                 const char **merged, struct arena *a, struct error *err);

/* The same with `lists`, ended by {0}. */
enum error_code json_patch(const char *target, const char *patch,
                           const struct json_keyed_list *lists, struct json_patched *out,
                           struct arena *a, struct error *err);

enum json_element_change {
    JSON_ELEMENT_MERGE,
    JSON_ELEMENT_REPLACE,
    JSON_ELEMENT_REMOVE
};

/* Changes one element of the document's list `of`: merges `body` into it, puts `body` in
 * its place (behind the others when there is none) or takes it out. *found: it was
 * there; if not, only JSON_ELEMENT_REPLACE does anything. */
enum error_code json_change_element(const char *target, const struct json_keyed_list *of,
                                    const char *id, enum json_element_change change,
                                    const char *body, bool *found,
                                    struct json_patched *out, struct arena *a,
                                    struct error *err);

/* The element as JSON text; NULL: there is none. */
enum error_code json_element(const char *target, const struct json_keyed_list *of,
                             const char *id, const char **text, struct arena *a,
                             struct error *err);

/* A pointer into the changed document as one into what changed it; the same if it is
 * about something else. For computations only. */
const char *json_patch_pointer(const struct json_patched *p, const char *pointer,
                               struct arena *a);

#endif
