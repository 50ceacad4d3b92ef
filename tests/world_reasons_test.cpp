// world_reasons_test.cpp - why jobs have no place: worked numbers, and against a scan.
#include "support.hpp"
#include "world_support.hpp"

extern "C" {
#include "algorithms/world/reasons.h"
}

namespace
{

// A plan without any place.
struct no_plan {
    std::vector<world_placed> placed;
    world_plan plan{};

    explicit no_plan(const world *w) : placed(w->job_count)
    {
        for (auto &p : placed)
            p.wait_on = WORLD_NONE;
        plan.placed = placed.data();
    }
};

world_reason reason_of(const world *w, size_t job, arena *a, bool starts_now = false)
{
    no_plan none(w);
    world_reason out{};

    reasons_of(reasons_create(w, &none.plan, starts_now, a), job, &out);
    return out;
}

given_resource node(std::string id, double cpus, double memory)
{
    given_resource r;

    r.id = std::move(id);
    r.cpus = cpus;
    r.memory = memory;
    return r;
}

given_job job_of(std::string id, double cpus, double memory)
{
    given_job j;

    j.id = std::move(id);
    j.cpus = cpus;
    j.memory = memory;
    j.estimate_s = 10;
    return j;
}

given_holder holder(std::string id, size_t position, double cpus, double end_s)
{
    given_holder h{};

    h.id = std::move(id);
    h.positions = {position};
    h.cpus = cpus;
    h.end_s = end_s;
    return h;
}

// ---- the same by a scan ----

double shortfall(const world *w, size_t job, size_t position, size_t *lacking)
{
    double sum = 0;

    *lacking = 0;
    for (size_t k = 0; k < w->node_amount_count; k++) {
        int64_t need = w->jobs[job].needs[k], has = w->resources[position].capacity[k];
        if (need <= has)
            continue;
        ++*lacking;
        sum +=
            ((double)need - (double)has) / std::max((double)need, w->amounts[k].per_one);
    }
    return sum;
}

void compare_size(const world *w, size_t job, const world_reason &got)
{
    const uint64_t *mask = w->jobs[job].choices[0].mask;
    size_t passed = 0, too_small = 0, nearest = WORLD_NONE, fewest = SIZE_MAX;
    std::vector<size_t> is_short(w->node_amount_count), alone(w->node_amount_count);
    std::vector<int64_t> largest(w->node_amount_count, INT64_MIN);
    double least = 0;

    for (size_t i = 0; i < w->resource_count; i++) {
        if (!world_mask_has(mask, i))
            continue;
        size_t lacking;
        double lacks = shortfall(w, job, i, &lacking);
        passed++;
        too_small += lacking > 0;
        for (size_t k = 0; k < w->node_amount_count; k++) {
            bool less = w->jobs[job].needs[k] > w->resources[i].capacity[k];
            is_short[k] += less;
            alone[k] += less && lacking == 1;
            largest[k] = std::max(largest[k], w->resources[i].capacity[k]);
        }
        if (lacking > 0 && (lacking < fewest || (lacking == fewest && lacks < least))) {
            fewest = lacking;
            least = lacks;
            nearest = i;
        }
    }
    CHECK(got.passed_count == passed);
    CHECK(got.too_small.short_count == too_small);
    CHECK(got.nearest == nearest);
    if (nearest != WORLD_NONE)
        CHECK(got.nearest_shortfall == least);
    size_t listed = 0;
    for (size_t k = 0; k < w->node_amount_count; k++) {
        if (is_short[k] == 0)
            continue;
        REQUIRE(listed < got.too_small.amount_count);
        const reason_amount &a = got.too_small.amounts[listed++];
        CHECK(a.amount == k);
        CHECK(a.needed == w->jobs[job].needs[k]);
        CHECK(a.short_count == is_short[k]);
        CHECK(a.alone_count == alone[k]);
        CHECK(a.largest == largest[k]);
    }
    CHECK(got.too_small.amount_count == listed);
    CHECK((got.wait == WORLD_WAIT_FILTERED) == (passed == too_small));
}

given_world draw(rng *r, size_t resources)
{
    given_world g;

    for (size_t i = 0; i < resources; i++) {
        given_resource n = node("n" + std::to_string(i), (double)rng_index(r, 20),
                                (double)rng_index(r, 20));
        if (rng_index(r, 3) == 0)
            n.cpus = NAN;
        if (rng_index(r, 2))
            n.capacities["gpus"] = (double)rng_index(r, 4);
        if (rng_index(r, 4) == 0)
            n.n_max = (double)rng_index(r, 2);
        g.resources.push_back(n);
    }
    for (size_t i = 0; i < 8; i++) {
        given_job j = job_of("j" + std::to_string(i), (double)(1 + rng_index(r, 60)) / 2,
                             (double)rng_index(r, 25));
        if (rng_index(r, 3) == 0)
            j.needs["gpus"] = (double)rng_index(r, 5);
        if (rng_index(r, 3) == 0 && resources > 0)
            for (size_t p = 0; p < resources; p++)
                if (p == 0 || rng_index(r, 3) == 0)
                    j.only.push_back(p);
        g.jobs.push_back(j);
    }
    return g;
}

} // namespace

TEST_CASE("too small: what is short, what alone, and the nearest miss", "[world]")
{
    given_world g;
    test_arena a;
    g.resources = {node("A", 8, 32), node("B", 16, 16)};
    g.jobs = {job_of("u4", 16, 20)};
    given_world alone = g;
    alone.resources.pop_back();
    world_reason r = reason_of(g.build(), 0, a);

    CHECK(r.wait == WORLD_WAIT_FILTERED);
    CHECK(r.passed_count == 2);
    CHECK(r.too_small.short_count == 2);
    REQUIRE(r.too_small.amount_count == 2);
    CHECK(r.too_small.amounts[0].amount == AMOUNT_CPUS);
    CHECK(r.too_small.amounts[0].short_count == 1);
    CHECK(r.too_small.amounts[0].alone_count == 1);
    CHECK(r.too_small.amounts[0].largest == 16 * AMOUNT_UNITS_PER_ONE);
    CHECK(r.too_small.amounts[0].largest_position == 1);
    CHECK(r.too_small.amounts[1].amount == AMOUNT_MEMORY);
    CHECK(r.too_small.amounts[1].short_count == 1);
    CHECK(r.too_small.amounts[1].alone_count == 1);
    CHECK(r.nearest == 1);
    CHECK(r.nearest_shortfall == Approx(0.2).epsilon(1e-12));
    CHECK(reason_of(alone.build(), 0, a).nearest_shortfall == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("what runs without an end is named", "[world]")
{
    given_world g;
    test_arena a;
    g.resources = {node("n", 4, NAN)};
    g.jobs = {job_of("a", 2, 0), job_of("b", 1, 0)};
    g.holders = {holder("r", 0, 3, HUGE_VAL)};
    g.holders[0].end_unknown = true;
    const world *w = g.build();
    world_reason r = reason_of(w, 0, a);

    CHECK(r.wait == WORLD_WAIT_UNKNOWN_END);
    CHECK(r.resource_count == 1);
    REQUIRE(r.blocker_count == 1);
    CHECK(std::string(w->holders[r.blockers[0]].id) == "r");
    CHECK(r.too_small.amount_count == 0);
    CHECK(reason_of(w, 1, a).wait == WORLD_WAIT_NONE); // it fits
}

TEST_CASE("each cause of waiting is told from the others", "[world]")
{
    given_world g;
    test_arena a;
    g.resources = {node("n", 4, NAN), node("m", 2, NAN)};
    g.shared["licence"] = 2;
    g.jobs = {job_of("j", 3, 0)};

    SECTION("reserved for ever")
    {
        g.holders = {holder("r", 0, 0, HUGE_VAL)};
        g.holders[0].reservation = g.holders[0].all = true;
        world_reason r = reason_of(g.build(), 0, a);
        CHECK(r.wait == WORLD_WAIT_RESERVED_FOR_EVER);
        CHECK(r.resource_count == 1);
    }
    SECTION("too few nodes")
    {
        g.jobs[0].nodes = 2;
        world_reason r = reason_of(g.build(), 0, a);
        CHECK(r.wait == WORLD_WAIT_TOO_FEW_NODES);
        CHECK(r.resource_count == 1);
        CHECK(r.needed == 2);
    }
    SECTION("more of a licence than there is")
    {
        g.jobs[0].needs["licence"] = 3;
        world_reason r = reason_of(g.build(), 0, a);
        CHECK(r.wait == WORLD_WAIT_SHARED_SHORT);
        CHECK(r.needed == 3 * AMOUNT_UNITS_PER_ONE);
        CHECK(r.free == 2 * AMOUNT_UNITS_PER_ONE);
    }
    SECTION("a licence that somebody has until nobody knows when")
    {
        g.jobs[0].needs["licence"] = 1;
        g.holders = {holder("r", 1, 1, HUGE_VAL)};
        g.holders[0].needs["licence"] = 2;
        g.holders[0].end_unknown = true;
        world_reason r = reason_of(g.build(), 0, a);
        CHECK(r.wait == WORLD_WAIT_UNKNOWN_END);
        CHECK(r.blocker_count == 1);
    }
    SECTION("no run time")
    {
        g.jobs[0].estimate_s = NAN;
        CHECK(reason_of(g.build(), 0, a).wait == WORLD_WAIT_NO_ESTIMATE);
    }
    SECTION("nothing free now")
    {
        g.holders = {holder("r", 0, 2, 100)};
        world_reason r = reason_of(g.build(), 0, a, true);
        CHECK(r.wait == WORLD_WAIT_NO_FREE_NOW);
        CHECK(r.resource_count == 1);
        REQUIRE(r.free_now.amount_count == 1);
        CHECK(r.free_now.amounts[0].amount == AMOUNT_CPUS);
        CHECK(r.free_now.amounts[0].short_count == 1);
        CHECK(r.free_now.amounts[0].largest == 2 * AMOUNT_UNITS_PER_ONE);
        CHECK(r.later_count == 0);
        REQUIRE(r.too_small.amount_count == 1); // m is too small
        CHECK(r.too_small.amounts[0].alone_count == 1);
    }
    SECTION("free now, but not for as long as it runs")
    {
        g.holders = {holder("r", 0, 2, 100)};
        g.holders[0].reservation = true;
        g.holders[0].start_s = 5;
        world_reason r = reason_of(g.build(), 0, a, true);
        CHECK(r.wait == WORLD_WAIT_NO_FREE_NOW);
        CHECK(r.free_now.amount_count == 0);
        CHECK(r.later_count == 1);
    }
    SECTION("no licence now")
    {
        g.jobs[0].needs["licence"] = 1;
        g.holders = {holder("r", 1, 1, 100)};
        g.holders[0].needs["licence"] = 2;
        world_reason r = reason_of(g.build(), 0, a, true);
        CHECK(r.wait == WORLD_WAIT_SHARED_SHORT);
        CHECK(r.free == 0);
    }
    SECTION("what the policy says that is not about amounts")
    {
        const world *w = g.build();
        no_plan plan(w);
        world_reason r{};
        plan.placed[0].wait = WORLD_WAIT_GROUP_GANG;
        plan.placed[0].wait_on = 7;
        reasons_of(reasons_create(w, &plan.plan, false, a), 0, &r);
        CHECK(r.wait == WORLD_WAIT_GROUP_GANG);
        CHECK(r.wait_on == 7);
    }
}

TEST_CASE("reasons take what the plan starts now into account", "[world]")
{
    given_world g;
    test_arena a;
    g.resources = {node("n", 4, NAN)};
    g.jobs = {job_of("placed", 3, 0), job_of("j", 2, 0)};
    const world *w = g.build();
    no_plan plan(w);
    const size_t at = 0;
    world_reason r{};
    plan.placed[0].positions = &at;
    plan.placed[0].position_count = 1;
    plan.placed[0].end_s = 10;
    reasons_of(reasons_create(w, &plan.plan, true, a), 1, &r);
    CHECK(r.wait == WORLD_WAIT_NO_FREE_NOW);
    REQUIRE(r.free_now.amount_count == 1);
    CHECK(r.free_now.amounts[0].largest == AMOUNT_UNITS_PER_ONE);
}

TEST_CASE("reasons equal a scan", "[world][property]")
{
    rng r = rng_stream(1, "world.reasons");
    int count = is_shorter() ? 150 : 600;
    for (int i = 0; i < count; i++) {
        CAPTURE(i);
        test_arena a;
        size_t sizes[] = {1, 2, 5, 63, 64, 65, 200};
        given_world g = draw(&r, sizes[rng_index(&r, 7)]);
        const world *w = g.build();
        no_plan none(w);
        reasons *all = reasons_create(w, &none.plan, false, a);
        for (size_t j = 0; j < w->job_count; j++) {
            world_reason got{};
            reasons_of(all, j, &got);
            compare_size(w, j, got);
        }
    }
}

namespace
{

// Free when all that ends has ended; `known`: as if all ends were known.
bool fits_at_last(const world *w, size_t job, size_t position, bool known)
{
    for (size_t k = 0; k < w->node_amount_count; k++) {
        int64_t free = w->resources[position].capacity[k];
        bool closed = false;
        for (size_t h = 0; h < w->holder_count; h++) {
            const world_holder &o = w->holders[h];
            if (o.positions[0] != position || o.end_s < HUGE_VAL ||
                (known && o.end_unknown))
                continue;
            closed |= o.all;
            if (free < AMOUNT_UNLIMITED)
                free -= o.amounts[k];
        }
        if (w->jobs[job].needs[k] > 0 && (closed || w->jobs[job].needs[k] > free))
            return false;
    }
    return true;
}

world_wait wait_by_scan(const world *w, size_t job, size_t *count)
{
    size_t large = 0, last = 0, known = 0;

    for (size_t i = 0; i < w->resource_count; i++) {
        if (!world_mask_has(w->jobs[job].choices[0].mask, i) ||
            !world_large_enough(w, &w->jobs[job], i))
            continue;
        bool at_last = fits_at_last(w, job, i, false);
        large++;
        last += at_last;
        known += !at_last && fits_at_last(w, job, i, true);
    }
    *count = known > 0 ? known : large - last;
    return large == 0  ? WORLD_WAIT_FILTERED
           : last > 0  ? WORLD_WAIT_NONE
           : known > 0 ? WORLD_WAIT_UNKNOWN_END
                       : WORLD_WAIT_RESERVED_FOR_EVER;
}

} // namespace

TEST_CASE("causes of waiting equal a scan", "[world][property]")
{
    rng r = rng_stream(2, "world.reasons");
    int count = is_shorter() ? 150 : 600;
    size_t seen[4] = {0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        CAPTURE(i);
        test_arena a;
        given_world g = draw(&r, 1 + rng_index(&r, 6));
        for (size_t n = rng_index(&r, 10); n-- > 0;) {
            given_holder h =
                holder("h" + std::to_string(n), rng_index(&r, g.resources.size()),
                       (double)rng_index(&r, 12), rng_index(&r, 4) ? HUGE_VAL : 9);
            h.end_unknown = h.end_s == HUGE_VAL && rng_index(&r, 2);
            h.reservation = h.end_s == HUGE_VAL && !h.end_unknown;
            h.all = h.reservation && rng_index(&r, 2);
            g.holders.push_back(h);
        }
        const world *w = g.build();
        no_plan none(w);
        reasons *all = reasons_create(w, &none.plan, false, a);
        for (size_t j = 0; j < w->job_count; j++) {
            world_reason got{};
            size_t waiting;
            world_wait want = wait_by_scan(w, j, &waiting);
            reasons_of(all, j, &got);
            REQUIRE(got.wait == want);
            if (want == WORLD_WAIT_UNKNOWN_END || want == WORLD_WAIT_RESERVED_FOR_EVER)
                CHECK(got.resource_count == waiting);
            if (want == WORLD_WAIT_UNKNOWN_END)
                CHECK(got.blocker_count > 0);
            seen[want == WORLD_WAIT_FILTERED      ? 0
                 : want == WORLD_WAIT_NONE        ? 1
                 : want == WORLD_WAIT_UNKNOWN_END ? 2
                                                  : 3]++;
        }
    }
    for (size_t n : seen)
        CHECK(n > 20);
}
