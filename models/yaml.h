/* yaml.h - a subset of YAML 1.2 as a tree: what people write by hand and tools write for
 * them.
 *
 * Understood are one document of maps, lists and scalars, in blocks or in flow, plain,
 * single-quoted and double-quoted scalars over several lines, `|` and `>` blocks with
 * their indicators, comments, anchors and aliases. Refused, with line and column, are
 * tags, merge keys (`<<`), keys that are no scalars, tabs in indentation, a key twice in
 * a map, a second document, more than YAML_ALIAS_NODES_MAX nodes by aliases, and nesting
 * beyond YAML_DEPTH_MAX. Scalars stay texts: what is a number or null the reader of the
 * tree decides.
 *
 * Source: Ben-Kiki, Evans, dot Net 2021, "YAML Ain't Markup Language, version 1.2.2".
 */
#ifndef GRIDPLAN_YAML_H
#define GRIDPLAN_YAML_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { YAML_DEPTH_MAX = 64, YAML_ALIAS_NODES_MAX = 10000 };

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node;

struct yaml_item {
    const char *key; /* of a map; NULL in a list */
    uint32_t line, column;
    const struct yaml_node *value; /* an alias: the node itself */
};

struct yaml_node {
    enum yaml_kind kind;
    const char *text; /* SCALAR; "" for an empty one */
    bool plain;       /* neither quoted nor a block: may be a number, null, true */
    uint32_t line, column;
    const struct yaml_item *items; /* LIST, MAP */
    size_t count;
    size_t size; /* nodes of it, aliases written out */
};

/* Mistakes are collected in *err with `pointer` ("/pegasus"), the first one ends the
 * reading. O(length), keys of a map O(k log k). */
enum error_code yaml_read(const char *text, size_t length, const char *pointer,
                          const struct yaml_node **root, struct arena *a,
                          struct error *err);

/* The value of a member; NULL: the node is no map, or has none of that name. O(count). */
const struct yaml_node *yaml_member(const struct yaml_node *map, const char *key);

/* Not there, or a plain scalar that says so: "", ~, null. */
bool yaml_is_null(const struct yaml_node *node);

/* A decimal number, plain or quoted; false: it is none. */
bool yaml_number(const struct yaml_node *node, double *number);

#endif
