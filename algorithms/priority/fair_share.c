/* fair_share.c - factors of accounts and users by what they used before. */
#include "algorithms/priority/fair_share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tree: children of member m are list[first[m + 1]] to list[first[m + 2] - 1], those
 * of the root from first[0]. */
struct tree {
    const struct fair_share_member *members;
    size_t count;
    size_t *first, *list;
    double *shares, *use; /* sums over the children of m, at [m + 1] */
    double all_use;
};

static size_t slot(ptrdiff_t parent)
{
    return (size_t)(parent + 1);
}

static struct tree make_tree(const struct fair_share_member *members, size_t count,
                             struct arena *a)
{
    struct tree t = {.members = members, .count = count};
    size_t *fill = NEW(a, size_t, count + 2);

    t.first = NEW(a, size_t, count + 2);
    t.list = NEW(a, size_t, count + 1);
    t.shares = NEW(a, double, count + 1);
    t.use = NEW(a, double, count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t at = slot(members[i].parent);

        t.first[at + 1]++;
        t.shares[at] += members[i].shares;
        t.use[at] += members[i].use;
    }
    for (size_t i = 0; i <= count; i++)
        t.first[i + 1] += t.first[i];
    memcpy(fill, t.first, (count + 2) * sizeof(*fill));
    for (size_t i = 0; i < count; i++)
        t.list[fill[slot(members[i].parent)]++] = i;
    t.all_use = t.use[0];
    return t;
}

/* Members so that parents come before their children. */
static size_t *downwards(const struct tree *t, struct arena *a)
{
    size_t *order = NEW(a, size_t, t->count + 1), n = 0;

    for (size_t k = t->first[0]; k < t->first[1]; k++)
        order[n++] = t->list[k];
    for (size_t i = 0; i < n; i++)
        for (size_t k = t->first[order[i] + 1]; k < t->first[order[i] + 2]; k++)
            order[n++] = t->list[k];
    return order;
}

static double part_of(double part, double all)
{
    return all > 0 ? part / all : 0;
}

static void measure(const struct tree *t, struct fair_share *out)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct fair_share_member *m = &t->members[i];
        double use = part_of(m->use, t->use[slot(m->parent)]);

        out[i] = (struct fair_share){
            .shares = part_of(m->shares, t->shares[slot(m->parent)]),
            .use = part_of(m->use, t->all_use),
        };
        out[i].level = use > 0 ? out[i].shares / use : HUGE_VAL;
    }
}

void fair_share_classic(const struct fair_share_member *members, size_t count,
                        double damping, struct fair_share *out, struct budget *budget,
                        struct arena *a)
{
    struct tree t = make_tree(members, count, a);
    size_t *order = downwards(&t, a);
    double *shares = NEW(a, double, count + 1);

    measure(&t, out);
    budget_step(budget, count);
    for (size_t k = 0; k < count; k++) {
        size_t i = order[k];
        ptrdiff_t parent = members[i].parent;
        struct fair_share *f = &out[i];

        shares[i] = f->shares * (parent < 0 ? 1 : shares[parent]);
        f->effective =
            parent < 0 ? f->use : f->use + (out[parent].effective - f->use) * f->shares;
        if (shares[i] <= 0)
            f->factor = 0;
        else
            f->factor = exp2(-f->effective / shares[i] / damping);
    }
}

/* ---- fair tree ---- */

/* A list of siblings that is walked; `at` is the next of them. */
struct frame {
    size_t *list;
    size_t count, at;
};

struct walk {
    const struct tree *tree;
    struct fair_share *out;
    struct frame *frames;
    size_t depth;
    size_t *waiting; /* users of ties with accounts, for the next users that come */
    size_t waiting_count;
    size_t left, users; /* users without a rank yet, all */
};

static int by_level(const void *x, const void *y, void *context)
{
    const struct fair_share *of = context;
    size_t i = *(const size_t *)x, k = *(const size_t *)y;

    if (of[i].level > of[k].level)
        return -1;
    if (of[i].level < of[k].level)
        return 1;
    return (i > k) - (i < k);
}

static void push(struct walk *w, size_t *list, size_t count)
{
    qsort_r(list, count, sizeof(*list), by_level, w->out);
    w->frames[w->depth++] = (struct frame){list, count, 0};
}

static void rank(struct walk *w)
{
    double factor = part_of((double)w->left, (double)w->users);

    for (size_t i = 0; i < w->waiting_count; i++)
        w->out[w->waiting[i]].factor = factor;
    w->left -= w->waiting_count;
    w->waiting_count = 0;
}

/* The members of the next tie of the frame, whose users wait for their rank. */
static void next_tie(struct walk *w, struct frame *f, struct arena *a)
{
    const struct tree *t = w->tree;
    size_t begin = f->at, children = 0, n = 0, accounts = 0;
    double level = w->out[f->list[begin]].level;
    size_t *list;

    for (; f->at < f->count && w->out[f->list[f->at]].level >= level; f->at++) {
        size_t i = f->list[f->at];

        if (t->members[i].is_user) {
            w->waiting[w->waiting_count++] = i;
        } else {
            accounts++;
            children += t->first[i + 2] - t->first[i + 1];
        }
    }
    if (!accounts) {
        rank(w);
        return;
    }
    list = NEW(a, size_t, children + 1);
    for (size_t k = begin; k < f->at; k++) {
        size_t i = f->list[k];

        for (size_t c = t->first[i + 1]; c < t->first[i + 2]; c++)
            list[n++] = t->list[c];
    }
    push(w, list, n);
}

void fair_share_tree(const struct fair_share_member *members, size_t count,
                     struct fair_share *out, struct budget *budget, struct arena *a)
{
    struct tree t = make_tree(members, count, a);
    struct walk w = {
        .tree = &t,
        .out = out,
        .frames = NEW(a, struct frame, count + 2),
        .waiting = NEW(a, size_t, count + 1),
    };

    measure(&t, out);
    budget_step(budget, count);
    for (size_t i = 0; i < count; i++)
        w.users += members[i].is_user;
    w.left = w.users;
    push(&w, t.list, t.first[1]);
    while (w.depth > 0) {
        struct frame *f = &w.frames[w.depth - 1];

        budget_step(budget, 1);
        if (f->at < f->count)
            next_tie(&w, f, a);
        else
            w.depth--;
    }
    rank(&w); /* those in a tie with accounts without users, if nobody came behind */
}

/* ---- use ---- */

void fair_share_sum(struct fair_share_member *members, size_t count, struct arena *a)
{
    struct tree t = make_tree(members, count, a);
    size_t *order = downwards(&t, a);

    for (size_t i = 0; i < count; i++)
        if (!members[i].is_user)
            members[i].use = 0;
    for (size_t k = count; k-- > 0;) {
        ptrdiff_t parent = members[order[k]].parent;

        if (parent >= 0)
            members[parent].use += members[order[k]].use;
    }
}

double fair_share_left(double use, double elapsed_s, double half_life_s)
{
    return half_life_s > 0 ? use * exp2(-elapsed_s / half_life_s) : use;
}
