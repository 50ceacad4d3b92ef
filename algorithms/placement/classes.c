/* placement/classes.c - jobs that the same resources suit. */
#include "algorithms/placement/classes.h"

#include "algorithms/placement/clauses.h"
#include "algorithms/placement/pair_map.h"
#include "algorithms/placement/priority.h"
#include "algorithms/placement/select.h"

#include <string.h>

/* Which resources the tests before the requirement leave to a user and his
 * organisations; the same for many classes. */
struct rights {
    uint64_t *mask; /* NULL: not made yet */
    size_t dropped[FILTER_COUNT];
};

/* What the class filters of one request share. */
struct filters {
    struct placement_problem *p;
    enum filter *always; /* by position: FILTER_FAILED, FILTER_STALE or FILTER_PASSED */
    bool *zero;          /* by position: not to be used; NULL: priorities are not asked */
    bool grants;         /* a resource has `allowed` */
    struct rights *rights;
    size_t right_count;
    struct clauses *clauses;
    uint64_t *no; /* scratch: where the requirement is false */
};

/* False also when the time is up. */
static bool is_allowed(const struct resource *r, const struct job *job,
                       struct budget *budget)
{
    if (!r->allowed)
        return true;
    for (size_t k = 0; k < r->allowed_count; k++) {
        const char *grant = r->allowed[k];

        if (budget_step(budget, 1 + job->organisation_count))
            return false;
        if (strncmp(grant, "user:", 5) == 0) {
            if (job->user && strcmp(grant + 5, job->user) == 0)
                return true;
            continue;
        }
        for (size_t o = 0; o < job->organisation_count; o++)
            if (job->organisations[o] && strcmp(grant + 3, job->organisations[o]) == 0)
                return true;
    }
    return false;
}

/* What the state of the resource says, whoever asks. */
static enum filter state_filter(const struct placement_problem *p, size_t pos,
                                bool *stale)
{
    const struct resource *r = p->resources[pos].given;
    bool exclude = (int)p->common[COMMON_STALE_POLICY] == STALE_EXCLUDE;

    *stale = p->in->snapshot->taken_at_s - r->observed_at_s > p->common[COMMON_STATE_TTL];
    return r->failed ? FILTER_FAILED : *stale && exclude ? FILTER_STALE : FILTER_PASSED;
}

/* The first of the tests before the requirement that the job fails there. */
static enum filter right_filter(const struct filters *f, size_t job, size_t pos)
{
    if (f->always[pos] != FILTER_PASSED)
        return f->always[pos];
    if (f->grants &&
        !is_allowed(f->p->resources[pos].given, f->p->jobs[job].given, f->p->in->budget))
        return FILTER_UNAUTHORISED;
    if (priority_banned(f->p, job, pos))
        return FILTER_BANNED;
    return f->zero && f->zero[pos] ? FILTER_PRIORITY_ZERO : FILTER_PASSED;
}

/* *cut: the time was up before all was looked at. */
static const struct rights *find_rights(struct filters *f, size_t right, size_t job,
                                        bool *cut)
{
    struct rights *r = &f->rights[right];
    bool counts = f->grants || f->right_count > 1; /* else it is one pass */

    if (r->mask) {
        *cut = counts && budget_step(f->p->in->budget, 1);
        return r;
    }
    r->mask = NEW(f->p->arena, uint64_t, f->p->block_count);
    for (size_t pos = 0; pos < f->p->resource_count; pos++) {
        enum filter filter = right_filter(f, job, pos);

        *cut = counts && budget_step(f->p->in->budget, 1);
        if (*cut)
            return r;
        if (filter == FILTER_PASSED)
            r->mask[pos / BLOCK] |= UINT64_C(1) << (pos % BLOCK);
        else
            r->dropped[filter]++;
    }
    return r;
}

/* For a requirement with values of the job; false: the time is up. */
static bool narrow_by_job(const struct filters *f, const struct expr *e, size_t job,
                          uint64_t *yes, uint64_t *no)
{
    const struct placement_problem *p = f->p;

    for (size_t b = 0; b < p->block_count; b++) {
        if (b % 4 == 0 && budget_used(p->in->budget) >= TOO_LATE)
            return false;
        for (uint64_t left = yes[b]; left; left &= left - 1) {
            uint64_t bit = left & -left;
            size_t pos = b * BLOCK + (size_t)__builtin_ctzll(left);
            struct select_state state = {0};
            enum expr_truth truth;

            if (e->on_plan)
                state = select_state_now(p, job, pos);
            truth = expr_requirement(e, select_values(p, e, job, pos, &state));
            if (truth != EXPR_TRUE)
                yes[b] &= ~bit;
            if (truth == EXPR_FALSE)
                no[b] |= bit;
        }
    }
    return true;
}

static size_t bit_count(const uint64_t *words, size_t count)
{
    size_t bits = 0;

    for (size_t i = 0; i < count; i++)
        bits += (size_t)__builtin_popcountll(words[i]);
    return bits;
}

/* Counts what the requirement drops of those that the rights leave. */
static void count_requirement(const struct filters *f, struct problem_class *c)
{
    size_t words = f->p->block_count;

    c->dropped[FILTER_REQUIREMENT] = bit_count(c->rights, words) - c->passed_count;
    for (size_t b = 0; b < words; b++)
        c->undefined_count +=
            (size_t)__builtin_popcountll(c->rights[b] & ~c->mask[b] & ~f->no[b]);
}

static void filter_class(struct filters *f, struct problem_class *c, size_t right)
{
    struct placement_problem *p = f->p;
    const struct expr *e = select_requirement(p, c->example);
    size_t bytes = p->block_count * sizeof(*c->mask);

    c->mask = NEW(p->arena, uint64_t, p->block_count);
    if (e && budget_used(p->in->budget) >= TOO_LATE)
        c->cut = true;
    if (!c->cut) {
        const struct rights *r = find_rights(f, right, c->example, &c->cut);

        c->rights = r->mask;
        memcpy(c->dropped, r->dropped, sizeof(c->dropped));
        memcpy(c->mask, c->rights, bytes);
        memset(f->no, 0, bytes);
    }
    if (e && !c->cut) {
        if (select_by_job(e))
            c->cut = !narrow_by_job(f, e, c->example, c->mask, f->no);
        else
            clauses_narrow(f->clauses, e, c->mask, f->no, &c->cut);
    }
    if (c->cut) {
        p->cut = true;
        memset(c->mask, 0, bytes);
        return;
    }
    c->passed_count = bit_count(c->mask, p->block_count);
    if (e)
        count_requirement(f, c);
}

static void find_filters(struct filters *f)
{
    struct placement_problem *p = f->p;
    const struct snapshot *s = p->in->snapshot;
    double state_ttl_s = p->common[COMMON_STATE_TTL];
    double list_ttl_s = p->common[COMMON_LIST_TTL];
    bool exclude = (int)p->common[COMMON_STALE_POLICY] == STALE_EXCLUDE;
    bool by_priority = (int)p->common[COMMON_RESOURCE_ORDER] == ORDER_PRIORITY;
    size_t stale_count = 0;

    f->always = NEW(p->arena, enum filter, p->resource_count);
    f->zero = by_priority ? NEW(p->arena, bool, p->resource_count) : NULL;
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct resource *r = p->resources[pos].given;
        bool stale;

        f->always[pos] = state_filter(p, pos, &stale);
        stale_count += stale;
        f->grants = f->grants || r->allowed;
        if (f->zero)
            f->zero[pos] = r->fixed_priority <= 0;
    }
    if (stale_count)
        problem_warn(p, "stale: %zu resource%s observed more than %g s before taken_at%s",
                     stale_count, stale_count == 1 ? " was" : "s were", state_ttl_s,
                     exclude ? " and left out" : "");
    if (s->taken_at_s - s->list_observed_at_s > list_ttl_s)
        problem_warn(p, "stale_list: the list of resources is %g s old, more than %g s",
                     s->taken_at_s - s->list_observed_at_s, list_ttl_s);
}

/* A number for the job's organisations, equal for equal lists. */
static size_t organisations_number(struct placement_problem *p, struct name_index *names,
                                   const struct job *job, size_t fallback)
{
    char text[1024];
    size_t used = 0, known;
    char *copy;

    for (size_t k = 0; k < job->organisation_count; k++) {
        size_t length = job->organisations[k] ? strlen(job->organisations[k]) : 0;

        if (used + length + 1 >= sizeof(text))
            return fallback; /* so long a list makes a class of its own */
        memcpy(text + used, job->organisations[k] ? job->organisations[k] : "", length);
        text[used + length] = '\n';
        used += length + 1;
    }
    known = name_index_find(names, (text[used] = 0, text));
    if (known != NAME_NOT_FOUND)
        return known;
    copy = arena_text(p->arena, text, used);
    name_index_add(names, copy, fallback);
    return fallback;
}

/* Pairs that find_classes() may meet: one, unless jobs can differ. */
static size_t pairs_expected(const struct filters *f, bool by_user)
{
    const struct placement_problem *p = f->p;

    for (size_t i = 0; i < p->job_count; i++)
        if (by_user || f->grants || select_requirement(p, i))
            return p->job_count;
    return 1;
}

/* Room for one more class. */
static void make_room(struct placement_problem *p, size_t *room)
{
    if (p->class_count < *room)
        return;
    *room = *room ? 2 * *room : 16;
    p->classes = GROW(p->arena, p->classes, struct problem_class, p->class_count, *room);
}

/* Jobs are of one class if the filters up to the requirement see no difference.
 * rights: of each class, a number for its jobs' user and organisations. */
static void find_classes(struct filters *f, size_t *rights)
{
    struct placement_problem *p = f->p;
    struct name_index organisations;
    struct pair_map owners, classes;
    bool by_user = f->grants || p->in->usage_count;
    size_t expected = pairs_expected(f, by_user), room = 0;

    name_index_create(&organisations, f->grants ? p->job_count : 0, p->arena);
    pair_map_create(&owners, expected, p->arena);
    pair_map_create(&classes, expected, p->arena);
    for (size_t i = 0; i < p->job_count; i++) {
        struct problem_job *j = &p->jobs[i];
        const struct expr *e = select_requirement(p, i);
        size_t user = by_user ? j->user : 0;
        size_t group = f->grants && j->given->organisation_count
                           ? organisations_number(p, &organisations, j->given, i) + 1
                           : 0;
        size_t right = pair_map_number(&owners, user, group);
        size_t need = e && select_by_job(e) ? i + 1 : 0;

        /* An expression's address is its number; with values of the job in it,
         * the job's is. */
        if (need)
            e = NULL;
        j->job_class = pair_map_number(&classes, (size_t)(uintptr_t)e,
                                       right * (p->job_count + 1) + need);
        if (j->job_class == p->class_count) {
            make_room(p, &room);
            rights[p->class_count] = right;
            p->classes[p->class_count++].example = i;
        }
    }
    f->right_count = owners.count;
}

static void read_clauses(struct filters *f)
{
    struct placement_problem *p = f->p;
    const struct expr **list = NEW(p->arena, const struct expr *, p->class_count);

    for (size_t c = 0; c < p->class_count; c++) {
        const struct expr *e = select_requirement(p, p->classes[c].example);

        list[c] = e && !select_by_job(e) ? e : NULL;
    }
    f->clauses = clauses_create(p, list, p->class_count);
}

enum filter classes_filter(const struct placement_problem *p, size_t job, size_t pos)
{
    const struct resource *r = p->resources[pos].given;
    bool by_priority = (int)p->common[COMMON_RESOURCE_ORDER] == ORDER_PRIORITY, stale;
    enum filter state = state_filter(p, pos, &stale);

    if (state != FILTER_PASSED)
        return state;
    if (!is_allowed(r, p->jobs[job].given, p->in->budget))
        return FILTER_UNAUTHORISED;
    if (priority_banned(p, job, pos))
        return FILTER_BANNED;
    if (by_priority && r->fixed_priority <= 0)
        return FILTER_PRIORITY_ZERO;
    return problem_class_has(&p->classes[p->jobs[job].job_class], pos)
               ? FILTER_PASSED
               : FILTER_REQUIREMENT;
}

void classes_make(struct placement_problem *p)
{
    struct filters f = {.p = p};
    size_t *rights = NEW(p->arena, size_t, p->job_count);

    find_filters(&f);
    priority_prepare(p);
    find_classes(&f, rights);
    f.rights = NEW(p->arena, struct rights, f.right_count);
    f.no = NEW(p->arena, uint64_t, p->block_count);
    read_clauses(&f);
    p->clauses = f.clauses;
    for (size_t c = 0; c < p->class_count; c++)
        filter_class(&f, &p->classes[c], rights[c]);
}
