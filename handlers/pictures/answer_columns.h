/* answer_columns.h - an answer whose lists of objects stand column by column.
 *
 * A list of 100,000 objects says the names of its members 100,000 times, and the ids of a
 * few machines as often. In columns it is read in a fifth of the time:
 *
 *     "jobs": [{"id": "a", "on": "m"}, {"id": "b", "on": "m", "late": true}]
 *
 *     "jobs": {"count": 2, "columns": {"id": {"values": ["a", "b"]},
 *              "on": {"values": ["m"]}, "late": {"at": [1], "values": [true]}}}
 *
 * `at`: the elements, from 0 and in order, that have the member; without it all have. One
 * value is that of all of them. With `index` the values are different texts, and it says
 * for each of them which; else there are as many values as elements. Values, and what
 * they contain, are written as they were: nothing is lost but spaces between the
 * elements.
 */
#ifndef GRIDPLAN_ANSWER_COLUMNS_H
#define GRIDPLAN_ANSWER_COLUMNS_H

#include "service/json.h"

enum { ANSWER_COLUMNS_MAX = 64 };

/* Takes from the answer, a JSON object as this service prints it, its members that are
 * lists of objects, and gives them by name in *columns. Left where they are: empty lists,
 * lists of other things too, with objects that have a name twice, or of more than
 * ANSWER_COLUMNS_MAX names. Cost: O(length). */
enum error_code answer_columns(const char *answer, const char **rest,
                               const char **columns, struct arena *a, struct error *err);

#endif
