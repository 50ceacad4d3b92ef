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

/* Notes a mistake unless the setting is empty, "/", or a path of A-Z a-z 0-9 . _ ~ -
 * without a slash at its end that is no other part of the service's. */
void facade_check_mount(const char *mount, struct error *err);

/* A path below the mount of nf-cws becomes that below /compat/cws. With mount "" or "/"
 * those of its paths that it fixes do: /v1/scheduler/..., /v1/file/..., /health, with or
 * without /k/KEY before them. To be called before facade_take_key(); twice is as once.
 * Fails for lack of memory. */
enum error_code facade_mount(struct message *m, const char *mount, struct arena *a,
                             struct error *err);

/* Takes "/k/KEY" out of m->path, if it is there: then m->authorization is that key and
 * m->key_in_path is set. Twice is as once. Fails for lack of memory. */
enum error_code facade_take_key(struct message *m, struct arena *a, struct error *err);

/* The failure as its status and a line of plain text. */
void facade_problem(const struct error *err, struct reply *reply, struct arena *a);

#endif
