// world_queue_test.cpp - a batch queue on resources with amounts, against the checker,
// the pool of processors and the list policy.
#include "tests/world_check_support.hpp"
#include "tests/world_draw.hpp"
#include "tests/world_plan_support.hpp"

extern "C" {
#include "algorithms/world/check.h"
#include "algorithms/world/list.h"
#include "algorithms/world/queue.h"
}

namespace
{

const queue_discipline &discipline(const char *name)
{
    const policy *found = policy_find(queue_policies, name);
    REQUIRE(found);
    return *queue_discipline_of(found);
}

world_queue_out decide(const world *w, const char *name, test_arena &a,
                       const world_queue_promises *promises = nullptr)
{
    world_queue_out out{};
    world_queue(w, &discipline(name), promises, &out, a);
    return out;
}

std::vector<std::string> names()
{
    std::vector<std::string> list;
    for (const policy *p = queue_policies; p->name; p++)
        list.push_back(p->name);
    return list;
}

board_spot spot_of(const world_placed &p)
{
    return {p.positions,  p.position_count, p.choice, p.start_s,
            p.stage_in_s, p.run_s,          p.end_s,  p.done_s};
}

// The head's least completion once the starters that come before it, or all, have begun.
double head_done_s(const world *w, const world_queue_out &out, bool all, test_arena &a)
{
    board *b = board_create(w, nullptr, a);
    bool before = true;

    for (size_t k = 0; k < w->job_count; k++) {
        size_t job = out.order[k];
        const world_placed &p = out.plan->placed[job];
        board_spot spot = spot_of(p);

        before = before && job != out.head;
        if (p.positions && p.start_s <= 0 && (before || all))
            board_take(b, job, &spot);
    }
    return board_best(b, out.head).done_s;
}

bool is_unit(const world *w, size_t job)
{
    size_t group = w->jobs[job].group;

    return group != WORLD_NONE && (w->groups[group].policy == GROUP_GANG ||
                                   w->groups[group].policy == GROUP_PACK);
}

// A cluster of some processors, as a pool and as one resource.
struct twin {
    given_world given;
    std::vector<queue_job> jobs;
    std::vector<queue_running> running;
    std::vector<queue_reservation> reservations;
    uint64_t processors;
};

void draw_taken(twin &t, rng &r)
{
    uint64_t left = t.processors;

    for (size_t k = rng_index(&r, 4); k > 0 && left > 0; k--) {
        uint64_t some = 1 + rng_index(&r, left);
        double end_s = 1 + (double)rng_index(&r, 9);

        left -= some;
        t.running.push_back({end_s, some});
        t.given.holders.push_back({"r", {0}, end_s, (double)some});
    }
    if (rng_index(&r, 2) == 0)
        return;
    double start_s = (double)rng_index(&r, 9);
    double end_s = start_s + 1 + (double)rng_index(&r, 5);
    uint64_t some = 1 + rng_index(&r, t.processors);
    given_holder x{"x", {0}, end_s, (double)some};

    x.reservation = true;
    x.start_s = start_s;
    t.given.holders.push_back(x);
    t.reservations.push_back({start_s, end_s, some});
}

twin draw_twin(uint64_t seed)
{
    rng r = rng_create(seed);
    twin t{};
    given_resource pool{"pool"};

    t.processors = 1 + rng_index(&r, 8);
    pool.cpus = (double)t.processors;
    t.given.resources.push_back(pool);
    draw_taken(t, r);
    for (size_t k = rng_index(&r, 9); k > 0; k--) {
        given_job j{"j"};
        uint64_t some = 1 + rng_index(&r, t.processors + 1);

        j.cpus = (double)some;
        j.estimate_s = 1 + (double)rng_index(&r, 7);
        t.given.jobs.push_back(j);
        t.jobs.push_back({0, j.estimate_s, some});
    }
    return t;
}

} // namespace

TEST_CASE("a queue on amounts starts nothing that does not fit", "[world][queue]")
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        drawn_world drawn(seed, true);
        const world *w = drawn.given.build();

        for (const std::string &name : names()) {
            test_arena a;
            world_queue_out out = decide(w, name.c_str(), a);

            INFO(seed << " " << name);
            CHECK(wrong_with(w, out.plan).empty());
            require_valid(w, out.plan);
            CHECK_FALSE(out.cut);
            bool fits = discipline(name.c_str()).rule == QUEUE_FIT;
            for (size_t i = 0; i < w->job_count; i++) {
                const world_placed &p = out.plan->placed[i];
                // Whoever fits starts: nobody waits for whom he would delay.
                CHECK((!fits || out.verdicts[i].reason != QUEUE_REASON_WOULD_DELAY));
                CHECK((out.verdicts[i].reason == QUEUE_REASON_STARTS &&
                       out.verdicts[i].wait == WORLD_WAIT_NONE) ==
                      (p.positions && p.start_s <= 0));
            }
        }
    }
}

TEST_CASE("a pool of processors is a resource with so many cpus", "[world][queue]")
{
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        twin t = draw_twin(seed);
        const world *w = t.given.build();

        for (const std::string &name : names()) {
            test_arena a;
            error err = collecting_error(a);
            world_queue_out out = decide(w, name.c_str(), a);
            queue_in in{};
            queue_out pool{};

            in.processors = t.processors;
            in.jobs = t.jobs.data();
            in.job_count = t.jobs.size();
            in.running = t.running.data();
            in.running_count = t.running.size();
            in.reservations = t.reservations.data();
            in.reservation_count = t.reservations.size();
            REQUIRE(queue_decide(policy_find(queue_policies, name.c_str()), &in, &pool, a,
                                 &err) == OK);
            INFO(seed << " " << name);
            CHECK(out.start_count == pool.start_count);
            for (size_t i = 0; i < in.job_count; i++) {
                const world_placed &p = out.plan->placed[i];

                INFO(i);
                REQUIRE((p.positions == nullptr) == std::isnan(pool.verdicts[i].start_s));
                if (p.positions)
                    CHECK(p.start_s == pool.verdicts[i].start_s);
            }
        }
    }
}

TEST_CASE("conservative is mct in the order of arrival", "[world][queue]")
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        drawn_world drawn(seed, true);
        const world *w = drawn.given.build();
        test_arena a;
        std::vector<size_t> order;
        board *b = board_create(w, nullptr, a);

        for (size_t i = 0; i < w->job_count; i++)
            order.push_back(i);
        world_list(b, WORLD_MCT, order.data(), 1);
        INFO(seed);
        CHECK(where_all(w, decide(w, "conservative", a).plan) ==
              where_all(w, board_plan(b)));
    }
}

TEST_CASE("easy never delays the completion of the head", "[world][queue]")
{
    size_t seen = 0;

    for (uint64_t seed = 1; seed <= 600; seed++) {
        drawn_world drawn(seed, false);
        for (given_job &j : drawn.given.jobs)
            j.after.clear();
        const world *w = drawn.given.build();

        for (const char *name : {"easy", "easy_sjbf", "easy_sjf"}) {
            test_arena a;
            world_queue_out out = decide(w, name, a);

            if (out.head == WORLD_NONE || is_unit(w, out.head))
                continue; // of a unit the others count as well
            INFO(seed << " " << name);
            seen++;
            CHECK(head_done_s(w, out, true, a) <= head_done_s(w, out, false, a));
        }
    }
    CHECK(seen > 100);
}

TEST_CASE("a job goes where the head would, if the head loses nothing", "[world][queue]")
{
    given_world given;
    given.resources = {{"n1", 4}, {"n2", 4}};
    given.holders = {{"r1", {0}, 10, 2}, {"r2", {1}, 10, 2}};
    given_job head{"head"}, narrow{"narrow"}, wide{"wide"};
    head.cpus = 4;
    narrow.cpus = 2;
    wide.cpus = 2;
    head.estimate_s = 5;
    narrow.estimate_s = wide.estimate_s = 50;
    narrow.only = {0};
    given.jobs = {head, narrow, wide};
    const world *w = given.build();
    test_arena a;
    world_queue_out out = decide(w, "easy", a);

    CHECK(where_all(w, out.plan) ==
          std::vector<std::string>{"n2 10-15", "n1 0-50", "n1 10-60"});
    CHECK(out.verdicts[0].wait == WORLD_WAIT_NO_FREE_NOW);
    CHECK(out.verdicts[0].by == QUEUE_BY_RUNNING);
    CHECK(out.verdicts[0].until_s == 10);
    CHECK(out.verdicts[2].reason == QUEUE_REASON_WOULD_DELAY);
    CHECK(out.verdicts[2].blocker == 0);
    CHECK(out.verdicts[2].until_s == 10);
    CHECK(decide(w, "fcfs", a).start_count == 0);
    CHECK(decide(w, "first_fit", a).start_count == 2);
}

TEST_CASE("a queue without time looks at its first job", "[world][queue]")
{
    given_world given;
    given.resources = {{"n1", 4}};
    given_job j{"j"};
    j.estimate_s = 5;
    given.jobs.assign(50, j);
    struct budget none {
    };
    none.used = [](void *) { return 1.0; };
    given.budget = &none;
    const world *w = given.build();
    test_arena a;
    world_queue_out out = decide(w, "easy", a);

    CHECK(out.cut);
    CHECK(out.start_count >= 1);
    CHECK(out.plan->placed_count == 50);
    CHECK(out.behind_count > 0);
    CHECK(out.verdicts[49].reason == QUEUE_REASON_TIME_LIMIT);
}

TEST_CASE("a queue that was cut has a start for every job that ever fits",
          "[world][queue][property]")
{
    size_t behind = 0, left = 0;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        drawn_world drawn(seed, false), free_drawn(seed, false);
        struct budget none {
        };
        none.used = [](void *) { return 1.0; };
        for (drawn_world *d : {&drawn, &free_drawn})
            for (given_job &j : d->given.jobs)
                j.group = WORLD_NONE;
        drawn.given.budget = &none;
        const world *w = drawn.given.build(), *unlimited = free_drawn.given.build();

        for (const std::string &name : names()) {
            test_arena a;
            world_queue_out out = decide(w, name.c_str(), a);
            world_queue_out all = decide(unlimited, name.c_str(), a);
            bool for_ever = false;

            INFO(seed << " " << name);
            CHECK(wrong_with(w, out.plan).empty());
            behind += out.behind_count;
            for (size_t h = 0; h < w->holder_count; h++)
                for_ever = for_ever || !(w->holders[h].end_s < HUGE_VAL);
            for (size_t i = 0; i < w->job_count; i++) {
                const world_placed &p = out.plan->placed[i];
                if (!for_ever && all.plan->placed[i].positions)
                    CHECK(p.positions != nullptr);
                left += !p.positions;
                if (!p.positions)
                    CHECK(p.wait != WORLD_WAIT_NONE);
            }
        }
    }
    CHECK(behind > 1000);
    CHECK(left > 0); // some never fit
}

TEST_CASE("a queue holds amounts until the limits where it plans with them",
          "[world][queue]")
{
    for (const std::string &name : names())
        for (bool limit : {false, true}) {
            given_world given;
            given.resources = {{"n1", 4}};
            given_job a{"a"}, b{"b"};
            a.cpus = b.cpus = 4;
            a.estimate_s = b.estimate_s = 10;
            a.time_limit_s = 100;
            given.jobs = {a, b};
            given.plan_with_limit = limit;
            test_arena arena;
            const world *w = given.build();
            CHECK(where_all(w, decide(w, name.c_str(), arena).plan) ==
                  std::vector<std::string>{"n1 0-10", limit ? "n1 100-110" : "n1 10-20"});
        }
}

namespace
{
// What a conservative queue told, to be kept by the next decision.
struct told_queue {
    std::vector<world_queue_promise> of;
    std::vector<std::vector<size_t>> positions;
    world_queue_promises promises{};

    told_queue(const world_queue_out &out, size_t count)
        : of(count, world_queue_promise{NAN, nullptr, 0}), positions(count)
    {
        for (size_t i = 0; i < count; i++) {
            const world_placed &p = out.plan->placed[i];
            if (!p.positions)
                continue;
            positions[i].assign(p.positions, p.positions + p.position_count);
            of[i].start_s = p.start_s;
            of[i].positions = positions[i].data();
            of[i].position_count = p.position_count;
        }
        promises.of = of.data();
    }
};

// A drawn world without jobs that are placed as one.
drawn_world single_jobs(uint64_t seed)
{
    drawn_world drawn(seed, false);

    for (given_job &j : drawn.given.jobs)
        if (j.group != WORLD_NONE && (drawn.given.groups[j.group].policy == GROUP_GANG ||
                                      drawn.given.groups[j.group].policy == GROUP_PACK))
            j.group = WORLD_NONE;
    return drawn;
}
} // namespace

TEST_CASE("a queue that is told what it has promised plans the same",
          "[world][queue][property]")
{
    for (uint64_t seed = 1; seed <= 800; seed++) {
        drawn_world drawn = single_jobs(seed);
        const world *w = drawn.given.build();
        test_arena a;
        world_queue_out first = decide(w, "conservative", a);
        told_queue told(first, w->job_count);

        INFO(seed);
        told.promises.keeps_gaps = true;
        world_queue_out again = decide(w, "conservative", a, &told.promises);
        for (size_t i = 0; i < w->job_count; i++) {
            bool placed = first.plan->placed[i].positions;
            CHECK((again.plan->placed[i].positions != nullptr) == placed);
            if (placed)
                CHECK(where(w, again.plan, i) == where(w, first.plan, i));
        }
        CHECK(again.broken_count == 0);
        require_valid(w, again.plan);
        told.promises.keeps_gaps = false;
        again = decide(w, "conservative", a, &told.promises);
        CHECK(again.broken_count == 0);
        require_valid(w, again.plan);
        for (size_t i = 0; i < w->job_count; i++) {
            const world_placed &was = first.plan->placed[i], &is = again.plan->placed[i];
            if (was.positions)
                CHECK((is.positions && is.start_s <= was.start_s &&
                       is.done_s <= was.done_s));
        }
    }
}

TEST_CASE("neither arrivals nor early ends break a promise", "[world][queue][property]")
{
    size_t moved_up = 0;

    for (uint64_t seed = 1; seed <= 800; seed++) {
        drawn_world before = single_jobs(seed), after = single_jobs(seed);
        const world *w = before.given.build();
        test_arena a;
        world_queue_out first = decide(w, "conservative", a);

        for (given_holder &h : after.given.holders)
            if (!h.reservation && h.end_s < HUGE_VAL)
                h.end_s = std::floor(h.end_s / 2) + 1 <= h.end_s
                              ? std::floor(h.end_s / 2) + 1
                              : h.end_s;
        for (int k = 0; k < 3; k++) { // they come later, and are no smaller
            given_job j = after.given.jobs[(size_t)k % w->job_count];
            j.group = WORLD_NONE;
            j.after.clear();
            after.given.jobs.push_back(j);
        }
        const world *later = after.given.build();
        told_queue told(first, later->job_count - 3);
        told.of.resize(later->job_count, world_queue_promise{NAN, nullptr, 0});
        told.promises.of = told.of.data();
        world_queue_out kept = decide(later, "conservative", a, &told.promises);

        INFO(seed);
        CHECK(kept.broken_count == 0);
        require_valid(later, kept.plan);
        for (size_t i = 0; i < w->job_count; i++) {
            const world_placed &was = first.plan->placed[i], &is = kept.plan->placed[i];
            if (!was.positions)
                continue;
            REQUIRE(is.positions);
            CHECK(is.start_s <= was.start_s);
            moved_up += is.start_s < was.start_s;
        }
    }
    CHECK(moved_up > 50);
}

TEST_CASE("a promise that cannot be kept is broken for as little as can be",
          "[world][queue]")
{
    // It was told to start at 10, when r ends; r goes on until 25, and then the
    // reservation begins at 30, which leaves no room before 40.
    given_world given;
    given.resources = {{"n1", 4}, {"n2", 1}};
    given.holders = {{"r", {0}, 25, 4}};
    given_holder closed{"m", {0}, 40, 4};
    closed.start_s = 30;
    closed.reservation = true;
    given.holders.push_back(closed);
    given_job wide{"wide"}, narrow{"narrow"}, late{"late"};
    wide.cpus = 4;
    wide.estimate_s = 10;
    narrow.cpus = 1;
    narrow.estimate_s = late.estimate_s = 5;
    late.cpus = 1;
    given.jobs = {wide, narrow, late};
    const world *w = given.build();
    test_arena a;
    const size_t second = 1;
    world_queue_promise of[] = {{10, nullptr, 0}, {3, &second, 1}, {NAN, nullptr, 0}};
    world_queue_promises promises{of, true};
    world_queue_out out = decide(w, "conservative", a, &promises);

    CHECK(where_all(w, out.plan) ==
          std::vector<std::string>{"n1 40-50", "n2 3-8", "n2 8-13"});
    CHECK(out.broken_count == 1);
    CHECK(out.verdicts[0].broken_by_s == 30);
    CHECK(out.verdicts[0].breaker_by == QUEUE_BY_RESERVATION);
    CHECK(std::isnan(out.verdicts[1].broken_by_s));
    // narrow keeps its gap, and late may not go before it: there is no room for both.
    CHECK(out.verdicts[1].reason == QUEUE_REASON_WOULD_DELAY);
    promises.keeps_gaps = false;
    out = decide(w, "conservative", a, &promises);
    CHECK(where_all(w, out.plan) ==
          std::vector<std::string>{"n1 40-50", "n2 0-5", "n2 5-10"});
}
