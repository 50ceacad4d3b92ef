/* tags.h - the rooms of the API, as its description shows them.
 *
 * Each operation is in one: they become the modules of generated clients and the chapters
 * of the documentation. The folders of handlers/ are those of the code.
 */
#ifndef GRIDPLAN_TAGS_H
#define GRIDPLAN_TAGS_H

#include "service/route.h"

enum { API_TAGS = 11 };

/* In the order of the description. */
extern const struct route_tag api_tags[API_TAGS];

#define TAG_PLACEMENT       (&api_tags[0])
#define TAG_WORKFLOWS       (&api_tags[1])
#define TAG_QUEUES          (&api_tags[2])
#define TAG_COALLOCATION    (&api_tags[3])
#define TAG_PARALLEL        (&api_tags[4])
#define TAG_FAULT_TOLERANCE (&api_tags[5])
#define TAG_MODELS          (&api_tags[6])
#define TAG_LOAD            (&api_tags[7])
#define TAG_SIMULATION      (&api_tags[8])
#define TAG_DECISIONS       (&api_tags[9])
#define TAG_OPERATIONS      (&api_tags[10])

#endif
