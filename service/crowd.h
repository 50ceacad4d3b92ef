/* crowd.h - how many connections each address has. */
#ifndef GRIDPLAN_CROWD_H
#define GRIDPLAN_CROWD_H

#include "service/address.h"

struct crowd;

/* At most `limit` for each address (of IPv6: each /64); 0: nothing is counted. For about
 * `connection_count` connections. NULL without memory. */
struct crowd *crowd_create(size_t limit, size_t connection_count);
void crowd_close(struct crowd *crowd);

/* One more; false: the address has as many as it may, and it is not counted. */
bool crowd_enter(struct crowd *crowd, const struct address *address);

/* One less, of those that were counted. */
void crowd_leave(struct crowd *crowd, const struct address *address);

#endif
