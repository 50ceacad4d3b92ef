/* commit_pace.h - how long the database takes to commit, and who has to wait for that.
 *
 * While the median of the last COMMITs is above a second, those who store in bulk are
 * told to come again later: after 1 s, and twice as long each time, up to 30 s. Whoever
 * has waited so long is let in once, so that it is seen when commits are quick again.
 * Each owner waits for itself.
 */
#ifndef GRIDPLAN_COMMIT_PACE_H
#define GRIDPLAN_COMMIT_PACE_H

#include <pthread.h>
#include <stddef.h>

enum { PACE_COMMITS = 100, PACE_OWNERS = 64, PACE_OWNER_BYTES = 64 };

struct commit_pace {
    pthread_mutex_t mutex;
    double took_s[PACE_COMMITS], at_s[PACE_COMMITS]; /* the newest ones, in turn */
    size_t count;                                    /* of all, ever */
    struct {
        char owner[PACE_OWNER_BYTES]; /* "": free; longer names are cut */
        double next_at_s, wait_s;
    } waiting[PACE_OWNERS];
};

void commit_pace_init(struct commit_pace *p);
void commit_pace_close(struct commit_pace *p);

/* A COMMIT that ended at `now_s` (of a clock that does not jump) took so long. */
void commit_pace_note(struct commit_pace *p, double now_s, double took_s);

/* In how many seconds the owner should come again; 0: it may store. */
int commit_pace_wait_s(struct commit_pace *p, const char *owner, double now_s);

#endif
