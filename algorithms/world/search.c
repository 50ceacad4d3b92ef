/* world/search.c - which search, and the best plan. */
#include "algorithms/world/search_parts.h"

#include <string.h>

struct world_copy world_copy_create(const struct board *b, struct arena *a)
{
    const struct world *w = b->w;
    struct world_copy c = {.placed = NEW(a, struct world_placed, w->job_count),
                           .state = NEW(a, unsigned char, w->job_count),
                           .sequence = NEW(a, size_t, w->job_count)};
    size_t total = 0;

    if (!b->positions)
        return c;
    c.begin = NEW(a, size_t, w->job_count);
    for (size_t i = 0; i < w->job_count; i++) {
        c.begin[i] = total;
        total += w->jobs[i].nodes > w->resource_count ? 0 : w->jobs[i].nodes;
    }
    c.positions = NEW(a, size_t, total);
    return c;
}

void world_copy_save(struct world_copy *c, struct board *b)
{
    const struct world *w = b->w;
    const struct world_plan *plan = board_plan(b);

    memcpy(c->placed, plan->placed, w->job_count * sizeof(*c->placed));
    memcpy(c->state, b->state, w->job_count);
    memcpy(c->sequence, plan->sequence, plan->placed_count * sizeof(*c->sequence));
    c->count = plan->placed_count;
    for (size_t i = 0; c->begin && i < c->count; i++) {
        struct world_placed *p = &c->placed[c->sequence[i]];

        if (p->position_count > 1) {
            memcpy(c->positions + c->begin[c->sequence[i]], p->positions,
                   p->position_count * sizeof(*p->positions));
            p->positions = c->positions + c->begin[c->sequence[i]];
        }
        budget_step(w->budget, p->position_count);
    }
}

void world_copy_refuse(const struct world_copy *c, struct board *b)
{
    for (size_t i = 0; i < b->w->job_count; i++)
        if (c->state[i] == BOARD_REFUSED)
            board_refuse(b, i, c->placed[i].wait, c->placed[i].wait_on);
}

void world_copy_load(const struct world_copy *c, struct board *b)
{
    board_reset(b);
    for (size_t i = 0; i < c->count; i++) {
        struct board_spot spot = board_spot_of(&c->placed[c->sequence[i]]);

        board_take(b, c->sequence[i], &spot);
    }
    world_copy_refuse(c, b);
}

bool world_search_is_over(struct world_searching *x, size_t steps)
{
    const struct world_search *s = x->s;

    x->s->steps += steps;
    if (board_tick(x->b))
        x->s->cut = true;
    return s->cut || s->steps >= x->steps_until ||
           (s->goal->level_count == 1 &&
            x->best.worth.unplaced_count <= s->without_place &&
            x->best.worth.value[0] <= s->enough);
}

void world_search_worth(struct world_searching *x, struct world_worth *worth)
{
    struct arena_mark mark = arena_mark(x->a);

    world_worth(x->b->w, x->s->goal, board_plan(x->b), worth, x->a);
    arena_rewind(x->a, mark);
}

bool world_search_keep(struct world_searching *x, const struct world_worth *worth)
{
    struct world_search *s = x->s;

    if (world_compare(s->goal, worth, &x->best.worth) >= 0)
        return false;
    world_copy_save(&x->best, x->b);
    x->best.worth = *worth;
    if (s->improved_count == WORLD_IMPROVED_MAX) {
        memmove(s->improved, s->improved + 1,
                (WORLD_IMPROVED_MAX - 1) * sizeof(*s->improved));
        s->improved_count--;
    }
    s->improved[s->improved_count++] = (struct world_improved){s->steps, worth->value[0]};
    return true;
}

static void search(struct world_searching *x, size_t steps_max)
{
    struct pack_search *pack = pack_search_create(x);

    x->steps_until = steps_max;
    if (world_search_is_over(x, 0))
        return;
    if (pack)
        pack_search_run(pack);
    else
        order_search_run(order_search_create(x));
}

void world_search(struct board *b, struct world_search *s)
{
    const struct world *w = b->w;
    struct world_searching x = {
        .b = b, .s = s, .rng = rng_stream(w->seed, "placement.search")};
    bool has_clock = w->budget && w->budget->used;

    s->steps = s->improved_count = 0;
    s->cut = false;
    if (w->job_count == 0 || (w->budget && w->budget->no_steps))
        return;
    x.a = arena_create_beside(b->a, arena_cap_bytes(b->a));
    x.best = world_copy_create(b, x.a);
    world_copy_save(&x.best, b);
    world_search_worth(&x, &x.best.worth);
    search(&x, s->max_steps ? s->max_steps
               : has_clock  ? SIZE_MAX / 8
                            : WORLD_SEARCH_STEPS * w->job_count);
    world_copy_load(&x.best, b);
    arena_close(x.a);
}
