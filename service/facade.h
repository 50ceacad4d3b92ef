/* facade.h - what is special about paths that other tools call.
 *
 * Below /compat/ and /v1/ingest/ the service speaks as other tools expect: their bodies,
 * their answers, errors as plain text. Some of these tools send no header; their URL then
 * has a key, /compat/NAME/k/KEY/..., which is taken out before anything else sees the
 * path. Only a key with the scope `facade` and no other may stand there.
 */
#ifndef GRIDPLAN_FACADE_H
#define GRIDPLAN_FACADE_H

#include "service/route.h"

/* Names of facades: of the setting `facades`, and of labels of metrics. */
extern const char *const facade_names[]; /* ended by NULL */

/* The facade that a path belongs to, "/compat/NAME..." or "/v1/ingest/NAME..."; NULL:
 * none, or none of that name. */
const char *facade_of(const char *path);

/* Whether the setting (names with commas, or "all") has the facade. */
bool facade_is_on(const char *setting, const char *name);

/* Notes a mistake for each name of the setting that is no facade. */
void facade_check_setting(const char *setting, struct error *err);

/* Takes "/k/KEY" out of m->path, if it is there: then m->authorization is that key and
 * m->key_in_path is set. Twice is as once. Fails for lack of memory. */
enum error_code facade_take_key(struct message *m, struct arena *a, struct error *err);

/* The failure as its status and a line of plain text. */
void facade_problem(const struct error *err, struct reply *reply, struct arena *a);

#endif
