// snapshot_at_test.cpp - a snapshot as it is at a later instant.
#include "tests/support.hpp"

extern "C" {
#include "models/snapshot_at.h"
}

#include <cmath>

namespace
{
taken_running runs(double end_s, double elapsed_s, double end_at_s = NAN,
                   double started_at_s = NAN)
{
    taken_running r{};
    r.expected_end_s = end_s;
    r.expected_end_at_s = end_at_s;
    r.elapsed_s = elapsed_s;
    r.started_at_s = started_at_s;
    return r;
}

taken_reservation reserves(double start_s, double end_s, double start_at_s = NAN,
                           double end_at_s = NAN)
{
    taken_reservation r{};
    r.start_s = start_s;
    r.end_s = end_s;
    r.start_at_s = start_at_s;
    r.end_at_s = end_at_s;
    return r;
}
} // namespace

TEST_CASE("as time goes by, ends come nearer and what has ended is gone", "[snapshot]")
{
    test_arena a;
    const taken_running running[] = {runs(100, 5), runs(20, NAN),
                                     runs(NAN, NAN, 1500, 900),
                                     runs(NAN, NAN, NAN, 1040)};
    const taken_reservation reserved[] = {
        reserves(10, 30), reserves(10, 31), reserves(NAN, NAN),
        reserves(NAN, NAN, 990, 1030), reserves(NAN, NAN, 1200, 1300)};
    const double free_at_s[] = {10, 50, NAN};
    resource r{};
    r.running = running;
    r.running_count = 4;
    r.free_at_s = free_at_s;
    r.free_at_count = 3;
    r.ready_s = 40;
    snapshot s{};
    s.taken_at_s = NAN;
    s.resources = &r;
    s.resource_count = 1;
    s.running = running;
    s.running_count = 1;
    s.reservations = reserved;
    s.reservation_count = 5;

    snapshot now = snapshot_at(&s, 1000, 1030, a);
    CHECK(now.taken_at_s == 1030);
    const resource &later = now.resources[0];
    CHECK(later.ready_s == 10);
    CHECK(later.free_at_s[0] == 0);
    CHECK(later.free_at_s[1] == 20);
    CHECK(std::isnan(later.free_at_s[2]));
    CHECK(later.running[0].expected_end_s == 70);
    CHECK(later.running[0].elapsed_s == 35);
    CHECK(later.running[1].expected_end_s == -10);
    CHECK(later.running[1].elapsed_s == 30);
    CHECK(later.running[2].expected_end_at_s == 1500);
    CHECK(later.running[2].started_at_s == 900);
    CHECK(std::isnan(later.running[2].elapsed_s));
    CHECK(later.running[3].started_at_s == 1030);
    CHECK(now.running_count == 1);
    CHECK(now.running[0].expected_end_s == 70);
    REQUIRE(now.reservation_count == 3);
    CHECK(now.reservations[0].start_s == -20);
    CHECK(now.reservations[0].end_s == 1);
    CHECK(std::isnan(now.reservations[1].end_s));
    CHECK(now.reservations[2].start_at_s == 1200);
    CHECK(s.resources[0].ready_s == 40);

    snapshot same = snapshot_at(&s, 1000, 1000, a);
    CHECK(same.reservation_count == 5);
    CHECK(same.resources[0].running[1].expected_end_s == 20);
}
