/* priority/fair_share.h - factors of accounts and users by what they used before.
 *
 * Accounts form a tree below a root; users are leaves of it. Each has shares among its
 * siblings and some use.
 *
 * Fair tree: level value = (shares / shares of all siblings) / (use / use of all
 * siblings), endless without use. The tree is walked depth first from the root, larger
 * values first; the k-th of n users has the factor (n - k + 1) / n. Members of a tie are
 * taken together: users alone have the factor at which the tie begins, and all count as
 * visited behind it; with accounts among them, the children of these form one list, which
 * comes next, and the users of the tie join the first users that this list comes to.
 *
 * Classic: S = product over levels of shares / shares of all siblings; effective use
 * UE = U + (UE_parent - U) shares / shares of all siblings, below the root U; U = use /
 * all use; factor 2^(-(UE / S) / damping). No use at all: 1; no shares: 0.
 *
 * Cost: O(n log n), the tree's depth does not matter.
 *
 * Source: Slurm's documentation, pages "Fair Tree Fairshare Algorithm" and "Classic
 * Fairshare Algorithm"; ties of accounts and users as Slurm 22.05 takes them.
 */
#ifndef GRIDPLAN_PRIORITY_FAIR_SHARE_H
#define GRIDPLAN_PRIORITY_FAIR_SHARE_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stdbool.h>
#include <stddef.h>

enum { FAIR_SHARE_ROOT = -1 };

struct fair_share_member {
    ptrdiff_t parent; /* index; FAIR_SHARE_ROOT: below the root. No cycles */
    bool is_user;     /* has no children */
    double shares;    /* >= 0 */
    double use;       /* >= 0, on any scale; an account's is that of all below it */
};

struct fair_share {
    double factor;    /* 0..1; fair tree: of users alone, 0 for accounts */
    double level;     /* fair tree: the level value, may be endless */
    double shares;    /* part of its siblings' shares, 0..1 */
    double use;       /* part of all use, 0..1 */
    double effective; /* classic: UE */
};

/* Ties that are left are taken by index. */
void fair_share_tree(const struct fair_share_member *members, size_t count,
                     struct fair_share *out, struct budget *budget, struct arena *a);

/* damping > 0. */
void fair_share_classic(const struct fair_share_member *members, size_t count,
                        double damping, struct fair_share *out, struct budget *budget,
                        struct arena *a);

/* Sets the use of each account to the sum of what its users have. */
void fair_share_sum(struct fair_share_member *members, size_t count, struct arena *a);

/* What is left of some use after elapsed_s >= 0; half_life_s 0: all of it. */
double fair_share_left(double use, double elapsed_s, double half_life_s);

#endif
