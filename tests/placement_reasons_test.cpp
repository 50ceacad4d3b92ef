// placement_reasons_test.cpp - why jobs have no place, at any size.
#include "tests/placement_support.hpp"

extern "C" {
#include "algorithms/placement/need_counts.h"
}

TEST_CASE("counts by sorted columns are those of the tests one by one", "[placement]")
{
    const double few[] = {0, 0.5, 1, 2, 2, 4};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        rng r = rng_create(seed);
        world w;
        test_arena a;
        size_t hosts = rng_index(&r, seed % 10 ? 8 : 200), jobs = 1 + rng_index(&r, 6);
        for (size_t i = 0; i < hosts; i++) {
            resource &h = w.host("r" + std::to_string(i), few[rng_index(&r, 6)]);
            if (rng_index(&r, 3))
                h.cpus = few[rng_index(&r, 6)];
            if (rng_index(&r, 3))
                h.memory_bytes = few[rng_index(&r, 6)] * 1e9;
            if (rng_index(&r, 3) == 0)
                h.n_max = static_cast<double>(rng_index(&r, 3));
            if (rng_index(&r, 3) == 0)
                w.busy(h, {rng_index(&r, 2) ? NAN : 3.0});
            w.attributes(h, {{"a", VALUE_NUMBER, few[rng_index(&r, 6)], nullptr}});
        }
        for (size_t i = 0; i < jobs; i++) {
            const double estimates[] = {0, 1, NAN, 1e99, 1e101};
            job &j = w.task("j" + std::to_string(i), estimates[rng_index(&r, 5)]);
            j.cpus = few[rng_index(&r, 6)];
            j.memory_bytes = few[rng_index(&r, 6)] * 1e9;
            j.requirement = rng_index(&r, 2) ? "a >= 1" : nullptr;
        }
        std::vector<double> common;
        for (const param *p = placement_common_params; p->name; p++)
            common.push_back(p->preset);
        placement_problem p{};
        error err = collecting_error(a);
        REQUIRE(problem_prepare(w.request(), common.data(), &p, a, &err) == OK);
        for (bool estimate : {false, true}) {
            need_counter *counter = need_counter_create(&p, estimate, a);
            REQUIRE(counter != nullptr);
            for (size_t i = 0; i < jobs; i++) {
                need_counts got{}, want{};
                need_counts_of(counter, i, &got);
                need_counts_scan(&p, i, estimate, &want);
                INFO("seed " << seed << " job " << i);
                CHECK(got.known);
                CHECK(got.passed == want.passed);
                CHECK(got.cpus.count == want.cpus.count);
                CHECK(got.cpus.alone == want.cpus.alone);
                CHECK(got.cpus.nearest == want.cpus.nearest);
                CHECK(got.cpus.largest == want.cpus.largest);
                CHECK(got.memory.count == want.memory.count);
                CHECK(got.memory.alone == want.memory.alone);
                CHECK(got.memory.nearest == want.memory.nearest);
                CHECK(got.memory.largest == want.memory.largest);
                for (size_t f = 0; f < FILTER_COUNT; f++)
                    CHECK(got.dropped[f] == want.dropped[f]);
            }
        }
    }
}

TEST_CASE("no reason is false at 2,000 x 32,000 different jobs", "[placement]")
{
    world w;
    test_arena a;
    for (size_t i = 0; i < 2000; i++) {
        resource &h = w.host("r" + std::to_string(i));
        h.cpus = 16;
        h.memory_bytes = 64e9;
    }
    for (size_t i = 0; i < 32000; i++) {
        job &j = w.task("j" + std::to_string(i), 100);
        j.cpus = 4;
        j.memory_bytes = 1e9 + static_cast<double>(i);
    }
    placement_out out = decided(w, "gridway", a);
    CHECK(out.placement_count == 8000);
    REQUIRE(out.unplaced_count == 24000);
    size_t wrong = 0;
    for (size_t i = 0; i < out.unplaced_count; i++) {
        const placement_unplaced &u = out.unplaced[i];
        wrong += u.reason_count != 1 ||
                 std::string(u.reasons[0].reason) != "no_free_now" ||
                 u.reasons[0].resource_count != 2000;
    }
    CHECK(wrong == 0);
    CHECK(out.unplaced_class_count == 24000); // their needs differ
}

TEST_CASE("jobs with files are counted, or it is said that they were not", "[placement]")
{
    world w;
    test_arena a;
    const size_t hosts = 3000, jobs = 9000;
    w.data("f", 1e6, {"H"});
    for (size_t i = 0; i < hosts; i++)
        w.host("r" + std::to_string(i), 1, "S");
    for (size_t i = 0; i < jobs; i++) {
        job &j = w.task("j" + std::to_string(i), 1, {"f"});
        j.memory_bytes = static_cast<double>(i);
    }
    placement_out out = decided(w, "mct", a);
    REQUIRE(out.unplaced_count == jobs);
    size_t counted = 0, not_counted = 0;
    for (size_t i = 0; i < jobs; i++) {
        const placement_unplaced &u = out.unplaced[i];
        REQUIRE(u.reason_count == 1);
        CHECK(u.reasons[0].resource_count == hosts);
        counted += std::string(u.reasons[0].reason) == "file_unreachable";
        not_counted += std::string(u.reasons[0].reason) == "not_counted";
    }
    CHECK(counted + not_counted == jobs);
    CHECK(counted > 0);
    CHECK(not_counted > 0);
}

TEST_CASE("when the time is up no more than 100 jobs are explained", "[placement]")
{
    const size_t jobs = 5000;
    bool told = false;
    // The time is up at each question in turn.
    for (int asked = 1; asked < 60 && !told; asked++) {
        world w;
        test_arena a;
        int left = asked;
        for (size_t i = 0; i < 50; i++)
            w.host("r" + std::to_string(i)).cpus = 4;
        for (size_t i = 0; i < jobs; i++)
            w.task("j" + std::to_string(i), 1).cpus = 5 + static_cast<double>(i);
        w.limits.context = &left;
        w.limits.used = [](void *c) { return --*static_cast<int *>(c) > 0 ? 0.0 : 1.0; };
        placement_out out = decided(w, "mct", a);
        REQUIRE(out.unplaced_count == jobs);
        size_t counted = 0, not_counted = 0, late = 0;
        for (size_t i = 0; i < jobs; i++) {
            REQUIRE(out.unplaced[i].reason_count > 0);
            std::string reason = out.unplaced[i].reasons[0].reason;
            counted += reason == "too_small";
            not_counted += reason == "not_counted";
            late += reason == "time_limit";
        }
        CAPTURE(asked, counted, not_counted, late);
        CHECK(counted + not_counted + late >= jobs);
        CHECK(has_warning(out, "explained") == (not_counted > 0 || late > 100));
        told = not_counted > 0;
        if (told) {
            CHECK(counted >= 100);
            CHECK(has_warning(out, ("explained: " + std::to_string(jobs - not_counted) +
                                    " of 5000 jobs without a place")
                                       .c_str()));
        }
    }
    CHECK(told);
}

TEST_CASE("clauses of very many requirements are left out as a whole", "[placement]")
{
    world w;
    test_arena a;
    const size_t hosts = 2000, jobs = 20000;
    for (size_t i = 0; i < hosts; i++)
        w.attributes(w.host("r" + std::to_string(i)),
                     {{"a", VALUE_NUMBER, static_cast<double>(i), nullptr}});
    for (size_t i = 0; i < jobs; i++)
        w.task("j" + std::to_string(i), 1).requirement =
            w.text("a > " + std::to_string(hosts + i));
    placement_out out = decided(w, "mct", a);
    REQUIRE(out.unplaced_count == jobs);
    size_t without = 0;
    for (size_t i = 0; i < jobs; i++) {
        const placement_reason &r = out.unplaced[i].reasons[0];
        REQUIRE(std::string(r.reason) == "requirement");
        REQUIRE(r.resource_count == hosts);
        if (r.clause_count == 0)
            without++;
        else
            REQUIRE(r.clauses[0].untrue_count == hosts);
    }
    CHECK(without > 0);
    CHECK(without < jobs);
    CHECK(has_warning(out, "nearest_miss_omitted: clauses and nearest miss of " +
                               std::to_string(without) + " jobs"));
}

TEST_CASE("jobs with equal reasons and needs are one class", "[placement]")
{
    world w;
    test_arena a;
    w.host("n").cpus = 4;
    for (int i = 0; i < 30; i++)
        w.task("wide" + std::to_string(i), 10 + i).cpus = 8;
    w.task("wider", 10).cpus = 9;
    w.task("fits", 10);
    placement_out out = decided(w, "mct", a);
    CHECK(out.unplaced_count == 31);
    REQUIRE(out.unplaced_class_count == 2);
    const placement_unplaced_class &c = out.unplaced_classes[0];
    CHECK(c.job_count == 30);
    CHECK(c.cpus == 8);
    CHECK(std::string(c.example_job_id) == "wide0");
    REQUIRE(c.id_count == 10);
    CHECK(std::string(c.job_ids[9]) == "wide9");
    REQUIRE(c.reason_count == 1);
    CHECK(std::string(c.reasons[0].reason) == "too_small");
    CHECK(out.unplaced_classes[1].job_count == 1);
    CHECK(std::string(out.unplaced_classes[1].job_ids[0]) == "wider");
}
