/* json_hint.h - what a mistake in JSON may have meant.
 *
 * Names that other tools use, other units and other ways to write a value are told apart
 * from slips of the pen; what is meant goes into the hint of the mistake, and with it
 * the value as it would have to be here. Nothing is accepted by this.
 */
#ifndef GRIDPLAN_JSON_HINT_H
#define GRIDPLAN_JSON_HINT_H

#include "service/json.h"

enum {
    NOUN_BYTES = 128,    /* a buffer for json_noun() */
    JSON_NAME_BYTES = 80 /* longer names are nothing that we know */
};

/* How a message names an object of the table: "a job". A name with blanks in it is
 * a noun already. Returns `buffer`. */
const char *json_noun(const struct json_object *table, char *buffer, size_t size);

/* Enough for a noun and "_id". */
enum { OWN_ID_BYTES = NOUN_BYTES + 4 };

/* "job_id" of a job, "task_id" of a workflow task: what such an object is called, and its
 * id. Returns `buffer`. */
const char *json_own_id(const struct json_object *table, char buffer[OWN_ID_BYTES]);

/* The value of a member that there is not. */
struct json_value {
    bool is_number;
    double number;
    const char *text;  /* NULL: it is no string */
    const char *json;  /* as it was sent; NULL: without memory, or a structure */
    bool is_structure; /* a list or an object */
};

/* Adds hint and allowed names to the mistake that the table has no member `name`. */
void json_hint_member(const struct json_object *table, const char *name,
                      const struct json_value *value, struct error *err);

/* Adds a hint to the mistake that the member, whose unit its name tells, is the text. */
void json_hint_text(const char *member, const char *text, struct error *err);

/* Likewise for what is neither true nor false. */
void json_hint_boolean(const char *text, struct error *err);

/* Likewise for a number above `most` that may be the percent of a ratio. */
void json_hint_ratio(const char *member, double number, double most, struct error *err);

/* Likewise for what is no object of the table: an array, which may be the list of one of
 * its members, or the JSON string `text` (else NULL), which may be its first one. */
void json_hint_object(const struct json_object *table, bool is_array, const char *text,
                      struct error *err);

bool json_has_member(const struct json_object *table, const char *name);

/* Likewise for what is no instant: `text` NULL: it is the number. */
void json_hint_instant(const char *text, double number, struct error *err);

/* "1:00:00", "1-12:00:00", "90:00", "1-06:00", "2h", "1500ms", "PT1H30M" as seconds, and
 * "4G", "4GiB", "1.5T" as bytes; NAN: it is none. */
double json_seconds(const char *text);
double json_bytes(const char *text);

#endif
