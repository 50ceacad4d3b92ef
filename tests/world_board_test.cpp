// world_board_test.cpp - a plan in the making: where jobs go, and taking it back.
#include "tests/world_plan_support.hpp"

namespace
{

using texts = std::vector<std::string>;

// Jobs in order, each where it completes first.
world_plan *place_all(board *b)
{
    const world *w = board_world(b);
    for (size_t j = 0; j < w->job_count; j++) {
        board_spot spot = board_best(b, j);
        if (spot.done_s < HUGE_VAL)
            board_take(b, j, &spot);
    }
    return board_plan(b);
}

texts plan_of(given_world &given)
{
    test_arena arena;
    const world *w = given.build();
    board *b = board_create(w, nullptr, arena.a);
    world_plan *plan = place_all(b);

    CHECK(wrong_with(w, plan) == "");
    return where_all(w, plan);
}

given_holder reserve(double start, double end)
{
    given_holder h{"", {0}, end};
    h.start_s = start;
    h.reservation = h.all = true;
    return h;
}

} // namespace

TEST_CASE("what runs counts", "[world][board]")
{
    given_world given;
    given.resources = {{"n", 64, 256e9}};
    given.holders = {{"r", {0}, 100, 60, 200e9}};
    given.jobs = {{"p", NAN, 10, 60, 200e9}, {"q", NAN, 200, 4, 56e9}};
    CHECK(plan_of(given) == texts{"n 100-110", "n 0-200"});
}

TEST_CASE("a short job starts before a wide one that waits", "[world][board]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.holders = {{"r", {0}, 10, 2}};
    given.jobs = {{"w", NAN, 10, 4}, {"s1", NAN, 10, 2}, {"s2", NAN, 12, 2}};
    CHECK(plan_of(given) == texts{"n 10-20", "n 0-10", "n 20-32"});
}

TEST_CASE("jobs beside what runs for ever", "[world][board]")
{
    test_arena arena;
    given_world given;
    given.resources = {{"n", 4}};
    given.holders = {{"r", {0}, HUGE_VAL, 3}};
    given.holders[0].end_unknown = true;
    given.jobs = {{"a", NAN, 10, 2}, {"b", NAN, 10, 1}};
    CHECK(plan_of(given) == texts{"", "n 0-10"});
}

TEST_CASE("shared amounts are on no resource", "[world][board]")
{
    given_world given;
    given.resources = {{"n1", 8}, {"n2", 8}};
    given.shared = {{"licence", 1}};
    given.jobs = {{"a", NAN, 10, 4}, {"b", NAN, 10, 4}, {"c", NAN, 10, 8}};
    given.jobs[0].needs = given.jobs[1].needs = {{"licence", 1}};
    CHECK(plan_of(given) == texts{"n1 0-10", "n1 10-20", "n2 0-10"});
}

TEST_CASE("a resource reserved as a whole, and a release", "[world][board]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.holders = {reserve(5, 10)};
    given.jobs = {{"a", NAN, 6, 1}, {"b", NAN, 5, 1}, {"c", NAN, 7, 4}};
    CHECK(plan_of(given) == texts{"n 10-16", "n 0-5", "n 16-23"});

    given_world later;
    later.resources = {{"n", 1}};
    later.jobs = {{"a", NAN, 10}, {"b", NAN, 10}};
    later.jobs[0].release_s = 1000;
    CHECK(plan_of(later) == texts{"n 1000-1010", "n 0-10"});
}

TEST_CASE("fractions of cpus add up exactly", "[world][board]")
{
    given_world given;
    given.resources = {{"n", 1}};
    for (int i = 0; i < 10; i++)
        given.jobs.push_back({"j", NAN, 10, 0.1});
    CHECK(plan_of(given) == texts(10, "n 0-10"));

    given_world parts;
    parts.resources = {{"n", 1}};
    parts.jobs = {{"a", NAN, 10, 0.7}, {"b", NAN, 10, 0.2}, {"c", NAN, 10, 0.1}};
    CHECK(plan_of(parts) == texts(3, "n 0-10"));
}

TEST_CASE("what lasts no time takes nothing", "[world][board]")
{
    given_world given;
    given.resources = {{"n", 1}};
    given.jobs = {{"a", NAN, 10}, {"z", NAN, 0}, {"b", NAN, 10}};
    CHECK(plan_of(given) == texts{"n 0-10", "n 0-0", "n 10-20"});

    given_world closed;
    closed.resources = {{"n", 1}};
    closed.holders = {reserve(7, 8), reserve(5, 7), reserve(0, 1)};
    closed.jobs = {{"z", NAN, 0}, {"z6", NAN, 0}, {"b", NAN, 10}};
    closed.jobs[1].release_s = 6;
    CHECK(plan_of(closed) == texts{"n 1-1", "n 8-8", "n 8-18"});

    given_world large; // only what is there at all
    large.resources = {{"n", 1}, {"m", 2}};
    large.shared = {{"licence", 1}};
    large.jobs = {{"z", NAN, 0, 2}, {"y", NAN, 0}};
    large.jobs[1].needs = {{"licence", 2}};
    CHECK(plan_of(large) == texts{"m 0-0", ""});
}

TEST_CASE("amounts are held for the limit, jobs wait for the end", "[world][board]")
{
    given_world given;
    given.resources = {{"n", 1}, {"m", 1}};
    given.plan_with_limit = true;
    given.jobs = {{"a", NAN, 10}, {"b", NAN, 10}, {"c", NAN, 10}, {"d", NAN, 200}};
    for (auto &j : given.jobs)
        j.time_limit_s = 100;
    for (auto &j : given.jobs)
        j.only = {0};
    given.jobs[2].only = {1};
    given.jobs[2].after = {{0, AFTER_OK}};
    CHECK(plan_of(given) == texts{"n 0-10", "n 100-110", "m 10-20", "n 200-300"});
}

TEST_CASE("after an end, after a start, after what has no place", "[world][board]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.jobs = {
        {"a", NAN, 10}, {"b", NAN, 1}, {"c", NAN, 1}, {"d", NAN, 5, 5}, {"e", NAN, 1}};
    given.jobs[0].release_s = 3;
    given.jobs[1].after = {{0, AFTER_ANY}};
    given.jobs[2].after = {{0, AFTER_START}};
    given.jobs[4].after = {{3, AFTER_START}};
    CHECK(plan_of(given) == texts{"n 3-13", "n 13-14", "n 3-4", "", ""});
}

TEST_CASE("alone on a node", "[world][board]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.jobs = {
        {"a", NAN, 10, 1}, {"x", NAN, 10, 1}, {"b", NAN, 10, 1}, {"c", NAN, 11, 1}};
    given.jobs[1].exclusive = true;
    CHECK(plan_of(given) == texts{"n 0-10", "n 10-20", "n 0-10", "n 20-31"});
}

TEST_CASE("ties go to the lowest snapshot index", "[world][board]")
{
    test_arena arena;
    given_world given;
    given.resources = {{"fast", 1}, {"slow", 1}};
    given.resources[0].speed = 2;
    given.resources[1].speed = 1;
    given.jobs = {{"a", NAN, 10}};
    world *w = const_cast<world *>(given.build());
    std::vector<world_resource> turned(w->resources, w->resources + 2);
    turned[0].index = 1;
    turned[1].index = 0;
    w->resources = turned.data();
    CHECK(where(w, place_all(board_create(w, nullptr, arena.a)), 0) == "slow 0-10");
}

TEST_CASE("giving back leaves no trace", "[world][board]")
{
    test_arena arena;
    given_world given;
    given.resources = {{"n", 2}, {"m", 2}};
    given.shared = {{"licence", 1}};
    for (int i = 0; i < 8; i++) {
        given.jobs.push_back({"j", NAN, 1.0 + i, 1.0 + i % 2});
        if (i % 3 == 0)
            given.jobs.back().needs = {{"licence", 1}};
    }
    const world *w = given.build();
    board *b = board_create(w, nullptr, arena.a);
    texts first = where_all(w, place_all(b));

    for (size_t j : {5, 0, 7, 3, 1, 2, 6, 4})
        board_give(b, j);
    CHECK(board_plan(b)->placed_count == 0);
    CHECK(where_all(w, place_all(b)) == first);
    board_reset(b);
    CHECK(board_plan(b)->placed_count == 0);
    CHECK(where_all(w, place_all(b)) == first);
    CHECK(order_of(w, board_plan(b)).size() == 8);
}

namespace
{

// Each start is `late` seconds before the files are there, but not before `arrive`.
struct file_times {
    double late, arrive;
    std::vector<std::string> told;
};

double staged(void *context, size_t, size_t, double start)
{
    auto *f = static_cast<file_times *>(context);
    return std::max(start + f->late, f->arrive);
}

void placed(void *context, size_t job, size_t, double, bool taken)
{
    static_cast<file_times *>(context)->told.push_back((taken ? "+" : "-") +
                                                       std::to_string(job));
}

} // namespace

TEST_CASE("amounts are held while files come", "[world][board]")
{
    test_arena arena;
    given_world given;
    given.resources = {{"n", 1}};
    given.holders = {reserve(5, 10)};
    given.jobs = {{"a", NAN, 3}, {"z", NAN, 0}, {"b", NAN, 3}};
    const world *w = given.build();
    file_times times = {3, 12, {}};
    board_files files = {&times, staged, placed, nullptr};
    board *b = board_create(w, &files, arena.a);
    world_plan *plan = place_all(b);

    // a: from 0 it would be held for 15 s; from 10 on the files come at 13.
    CHECK(where_all(w, plan) == texts{"n 10-16", "n 12-12", "n 16-22"});
    CHECK(plan->placed[0].stage_in_s == 3);
    CHECK(plan->placed[1].stage_in_s == 0);
    CHECK(wrong_with(w, plan) == "");
    board_give(b, 2);
    CHECK(times.told == texts{"+0", "+1", "+2", "-2"});
}
