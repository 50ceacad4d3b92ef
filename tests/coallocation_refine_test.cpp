// coallocation_refine_test.cpp - what co-allocation learns, and fuzzy reservations:
// numbers worked out by hand.
#include "tests/support.hpp"

#include <random>

extern "C" {
#include "algorithms/coallocation/claim_choice.h"
#include "algorithms/coallocation/coallocation.h"
#include "algorithms/coallocation/faults.h"
#include "algorithms/coallocation/slot.h"
}

namespace
{

// Sites A, B, C with a link of 800 Mbit/s and 1 s between each two; a file of 1e9 bytes.
struct small_grid {
    test_arena a;
    error err = collecting_error(a);
    co_site sites[3]{};
    co_link links[3] = {
        {"A", "B", 800, 1, true}, {"A", "C", 800, 1, true}, {"B", "C", 800, 1, true}};
    const char *at[2] = {"A", "B"};
    co_file file = {"f", 1e9, CO_WHOLE, at, 2};
    co_snapshot snapshot{};
    co_grid grid{};

    explicit small_grid(double idle)
    {
        const char *const names[] = {"A", "B", "C"};
        for (size_t i = 0; i < 3; i++) {
            sites[i].id = names[i];
            sites[i].processors_total = sites[i].processors_busy = NAN;
            sites[i].processors_erroneous = NAN;
            sites[i].processors_idle = idle;
            sites[i].usable = true;
            sites[i].measured_at_s = NAN;
        }
        snapshot.taken_at_s = NAN;
        snapshot.sites = sites;
        snapshot.site_count = 3;
        snapshot.links = links;
        snapshot.link_count = 3;
        snapshot.default_bandwidth_mbps = NAN;
        snapshot.files = &file;
        snapshot.file_count = 1;
        REQUIRE(co_grid_create(&snapshot, "/snapshot", &grid, a, &err) == OK);
    }
};

std::vector<size_t> placed_on(small_grid &g, const char *policy,
                              const std::vector<co_component> &components)
{
    double value[PARAMS_MAX];
    co_job job{};
    co_placement out{};
    size_t available[3];
    co_place_in in{};
    std::vector<size_t> sites;

    job.policy = policy_find(coallocation_policies, policy);
    REQUIRE(policy_bind(job.policy, nullptr, 0, value, &g.err) == OK);
    job.param = value;
    job.atomic = true;
    job.min_placed = 1;
    job.components = components.data();
    job.component_count = components.size();
    co_available_all(&g.grid, available);
    in.grid = &g.grid;
    in.job = &job;
    in.available = available;
    REQUIRE(co_place(&in, &out, g.a, &g.err) == OK);
    REQUIRE(out.placed);
    for (size_t i = 0; i < out.component_count; i++)
        sites.push_back(out.choices[i].site);
    return sites;
}

} // namespace

TEST_CASE("L is chosen by what placements came to, numbers by hand", "[coallocation]")
{
    const co_l_outcome list[] = {
        {0.5, 40, 38, 140, 130}, {0.75, 100, 80, 300, 240}, {1, 10, 10, 60, 30}};
    co_l_choice_in in{list, 3, 0.25, 32, 400, 400, 10, 20};
    co_l_choice out{};
    test_arena a;

    co_choose_l(&in, &out, a);
    CHECK(out.learnt);
    CHECK(out.l == 0.75);
    CHECK(out.ends == 150);
    REQUIRE(out.candidate_count == 2); // 1 has too few placements
    CHECK(out.candidates[0].success_ratio == Approx(0.944).epsilon(1e-12));
    CHECK(out.candidates[1].success_ratio == Approx(0.8).epsilon(1e-12));
    CHECK(out.candidates[0].cost_processor_s == Approx(7116.8).epsilon(1e-12));
    CHECK(out.candidates[1].cost_processor_s == Approx(5760).epsilon(1e-12));

    in.requeue_cost_s = 2000; // being placed again is dear: claim earlier
    co_choose_l(&in, &out, a);
    CHECK(out.l == 0.5);
    CHECK(out.candidates[0].cost_processor_s == Approx(9984).epsilon(1e-12));
    CHECK(out.candidates[1].cost_processor_s == Approx(16000).epsilon(1e-12));

    in.ftt_s = in.requeue_cost_s = 0; // all alike: the nearest to the given one
    co_choose_l(&in, &out, a);
    CHECK(out.l == 0.5);
    in.given_l = 0.7;
    co_choose_l(&in, &out, a);
    CHECK(out.l == 0.75);

    in.min_samples = 1000;
    co_choose_l(&in, &out, a);
    CHECK_FALSE(out.learnt);
    CHECK(out.l == 0.7);
    in.count = 0;
    co_choose_l(&in, &out, a);
    CHECK_FALSE(out.learnt);
}

TEST_CASE("a site's threshold comes from how often it fails", "[coallocation]")
{
    co_threshold_rule rule = CO_THRESHOLD_RULE;
    // ln(0.01 * 0.05 / (0.99 * 0.95)) = -7.5396
    struct {
        double error_ratio;
        size_t threshold;
    } cases[] = {{0, 2},   {1e-9, 2}, {0.001, 2}, {0.05, 3},  {0.2, 5},
                 {0.4, 9}, {0.5, 11}, {0.6, 1},   {0.999, 1}, {1, 1}};
    for (auto &c : cases) {
        CAPTURE(c.error_ratio);
        CHECK(co_site_threshold(c.error_ratio, &rule) == c.threshold);
    }
    rule.max_error_ratio = 1;
    CHECK(co_site_threshold(0.6, &rule) == 15);
    CHECK(co_site_threshold(1, &rule) == 1);
    // (10 + 1) / (100 + 2) = 0.107843; (3 + 10 * 0.107843) / 30
    CHECK(co_site_error_ratio(3, 17, 10, 90, 10) == Approx(0.1359477).epsilon(1e-6));
    CHECK(co_site_error_ratio(3, 17, 10, 90, 0) == 0.15);
    CHECK(co_site_error_ratio(0, 0, 0, 0, 0) == 0.5);
}

TEST_CASE("reported transfers correct the time of a link", "[coallocation]")
{
    small_grid g(10);
    const co_link_bias biases[] = {{0, 1, 15, log(2)}};

    CHECK(co_transfer_s(&g.grid, 1, 0, 1e9) == 11);
    co_correct_links(&g.grid, biases, 1, 5, g.a);
    // All links: 15 / 20 of ln 2; this one: (15 + 5 * 0.75) / 20 of it.
    CHECK(co_transfer_s(&g.grid, 1, 0, 1e9) == Approx(11 * pow(2, 0.9375)));
    CHECK(co_transfer_s(&g.grid, 0, 1, 1e9) == Approx(11 * pow(2, 0.75)));
    CHECK(co_transfer_s(&g.grid, 2, 1, 1e9) == Approx(11 * pow(2, 0.75)));

    small_grid plain(10);
    co_correct_links(&plain.grid, nullptr, 0, 0, plain.a);
    CHECK(co_transfer_s(&plain.grid, 1, 0, 1e9) == 11);
    co_correct_links(&plain.grid, biases, 1, 0, plain.a);
    CHECK(co_transfer_s(&plain.grid, 1, 0, 1e9) == Approx(22));
}

TEST_CASE("how often idle processors stay idle", "[coallocation]")
{
    const double at_s[] = {0, 600, 1200, 1800, 2400}, value[] = {5, 5, 3, 4, 4};

    CHECK(co_stay_ratio(at_s, value, 5, 600) == Approx(4.0 / 6));
    CHECK(co_stay_ratio(at_s, value, 5, 1200) == Approx(2.0 / 5));
    CHECK(std::isnan(co_stay_ratio(at_s, value, 5, 2401)));
    CHECK(std::isnan(co_stay_ratio(at_s, value, 0, 600)));
}

TEST_CASE("ties go to the site that is likelier to stay idle", "[coallocation]")
{
    small_grid g(10);
    const double stays[] = {0.2, 0.9, 0.5};
    const std::vector<co_component> files = {{"c", 4, CO_NONE, 0, 1e9}};
    const std::vector<co_component> none = {{"c", 4, CO_NONE, CO_NONE, 0},
                                            {"d", 4, CO_NONE, CO_NONE, 0}};

    CHECK(placed_on(g, "close_to_files", files) == std::vector<size_t>{0});
    CHECK(placed_on(g, "worst_fit", none) == std::vector<size_t>{0, 1});
    g.grid.stays = stays;
    CHECK(placed_on(g, "close_to_files", files) == std::vector<size_t>{1});
    CHECK(placed_on(g, "worst_fit", none) == std::vector<size_t>{1, 2});
    // No tie: the larger site, the nearer file.
    g.sites[0].processors_idle = 11;
    REQUIRE(co_grid_create(&g.snapshot, "/snapshot", &g.grid, g.a, &g.err) == OK);
    g.grid.stays = stays;
    CHECK(placed_on(g, "worst_fit", none) == std::vector<size_t>{0, 1});
}

// ---- fuzzy reservations ----

namespace
{

struct fuzzy_case {
    std::vector<std::vector<co_window>> windows;
    std::vector<double> costs;
    std::vector<co_fuzzy_size> sizes;
    std::vector<co_slot_wish> wishes;
    double earliest_s = 0, latest_end_s = 1000;
    size_t max_sites = 1000;

    co_fuzzy_out solve(arena *a) const
    {
        std::vector<co_fuzzy_site> sites;
        for (size_t i = 0; i < windows.size(); i++)
            sites.push_back({windows[i].data(), windows[i].size(), costs[i]});
        co_fuzzy_in in{sites.data(),  sites.size(), sizes.data(), sizes.size(),
                       earliest_s,    latest_end_s, max_sites,    wishes.data(),
                       wishes.size(), nullptr};
        co_fuzzy_out out{};
        REQUIRE(co_fuzzy_slot(&in, &out, a) == OK);
        return out;
    }
};

// Sites A and B of spec 14; 3.5, 6, 10 and 14 times as fast on 4, 8, 16 and 32.
fuzzy_case two_sites()
{
    return {
        {{{0, 100, 4}, {100, 400, 16}, {400, 1000, 8}}, {{0, 250, 32}, {250, 1000, 6}}},
        {2, 1},
        {{4, 400}, {8, 400 * 3.5 / 6}, {16, 140}, {32, 100}},
        {{CO_SLOT_END, 0}}};
}

} // namespace

TEST_CASE("a slot may be beaten only by a spread that is not tried", "[coallocation]")
{
    const co_slot_wish cost{CO_SLOT_COST, 0}, sites{CO_SLOT_SITES, 0},
        end{CO_SLOT_END, 0};
    struct {
        std::vector<co_slot_wish> wishes;
        size_t max_sites;
        bool exact;
    } cases[] = {
        {{}, 2, true},
        {{end}, 2, true},
        {{end, sites}, 2, true},
        {{cost}, 1, true},
        {{cost}, 2, false},
        {{cost}, 3, true},
        {{end, cost}, 4, true},
        {{cost, sites}, 1, true},
        {{cost, sites}, 2, false},
        {{sites, cost}, 3, false},
    };
    for (auto &c : cases) {
        co_fuzzy_in in{};
        in.site_count = 3;
        in.max_sites = c.max_sites;
        in.wishes = c.wishes.data();
        in.wish_count = c.wishes.size();
        CHECK(co_fuzzy_is_exact(&in) == c.exact);
    }
}

TEST_CASE("fuzzy reservations, numbers by hand", "[coallocation]")
{
    test_arena a;
    struct {
        const char *when;
        std::vector<co_slot_wish> wishes;
        double earliest_s;
        size_t max_sites;
        double start_s, end_s, processors, cost;
        std::vector<double> parts; // of A and B
    } cases[] = {
        {"the sooner the better", {{CO_SLOT_END, 0}}, 0, 9, 0, 100, 32, 3200, {0, 32}},
        {"half as much later is as good, then cost",
         {{CO_SLOT_END, 0.5}, {CO_SLOT_COST, 0}},
         0,
         9,
         0,
         140,
         16,
         2240,
         {0, 16}},
        {"cost alone", {{CO_SLOT_COST, 0}}, 0, 9, 0, 400, 4, 1600, {0, 4}},
        {"few processors",
         {{CO_SLOT_PROCESSORS, 0}, {CO_SLOT_END, 0}},
         0,
         9,
         0,
         400,
         4,
         1600,
         {0, 4}},
        {"processor seconds", {{CO_SLOT_PROCESSOR_S, 0}}, 0, 9, 0, 400, 4, 1600, {0, 4}},
        {"later 32 have no room; one site",
         {{CO_SLOT_END, 0}},
         250,
         9,
         250,
         390,
         16,
         4480,
         {16, 0}},
        {"or two that cost less",
         {{CO_SLOT_END, 0}, {CO_SLOT_COST, 0}},
         250,
         9,
         250,
         390,
         16,
         3640,
         {10, 6}},
        {"not if one site is the limit",
         {{CO_SLOT_END, 0}, {CO_SLOT_COST, 0}},
         250,
         1,
         250,
         390,
         16,
         4480,
         {16, 0}},
        {"or few sites are wanted",
         {{CO_SLOT_SITES, 0}, {CO_SLOT_END, 0}},
         250,
         9,
         250,
         390,
         16,
         4480,
         {16, 0}},
        {"the earliest start is not all",
         {{CO_SLOT_START, 0}, {CO_SLOT_COST, 0}},
         390,
         9,
         390,
         790,
         4,
         1600,
         {0, 4}},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            fuzzy_case f = two_sites();
            f.wishes = c.wishes;
            f.earliest_s = c.earliest_s;
            f.max_sites = c.max_sites;
            co_fuzzy_out got = f.solve(a);
            REQUIRE(got.found);
            CHECK_FALSE(got.cut);
            CHECK(got.start_s == c.start_s);
            CHECK(got.end_s == Approx(c.end_s).epsilon(1e-12));
            CHECK(got.processors == c.processors);
            CHECK(got.cost == Approx(c.cost).epsilon(1e-12));
            std::vector<double> parts(2);
            for (size_t i = 0; i < got.part_count; i++)
                parts[got.parts[i].site] = got.parts[i].processors;
            CHECK(parts == c.parts);
        }
    fuzzy_case f = two_sites();
    f.latest_end_s = 99;
    CHECK_FALSE(f.solve(a).found);
    f.windows = {{}, {}};
    f.latest_end_s = 1e308;
    CHECK_FALSE(f.solve(a).found);
    f = two_sites();
    f.earliest_s = 1e308;
    CHECK_FALSE(f.solve(a).found);
    CHECK(co_speedup_amdahl(0.1, 9) == Approx(5));
    CHECK(co_speedup_amdahl(0, 8) == 8);
    CHECK(co_speedup_amdahl(1, 8) == 1);
}

TEST_CASE("no reservation is better by one criterion, at any time",
          "[coallocation][property]")
{
    std::mt19937 random(7);
    auto draw = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    for (int round = 0; round < 150; round++) {
        CAPTURE(round);
        test_arena a;
        fuzzy_case f;
        for (int s = draw(1, 4); s > 0; s--) {
            std::vector<co_window> w;
            for (int t = draw(0, 5); t < 30; t += draw(0, 3)) {
                int end = t + draw(1, 12);
                w.push_back({double(t), double(end), double(draw(0, 8))});
                t = end;
            }
            f.windows.push_back(w);
            f.costs.push_back(draw(0, 4));
        }
        for (int i = draw(1, 3); i > 0; i--)
            f.sizes.push_back({double(draw(1, 14)), double(draw(1, 12))});
        f.earliest_s = draw(0, 8);
        f.latest_end_s = draw(15, 45);
        bool one_site = draw(0, 1);
        f.max_sites = one_site ? 1 : f.windows.size();
        auto criterion = one_site ? draw(0, 5) : draw(0, 4); // not sites
        f.wishes = {{co_slot_criterion(criterion), 0}};
        co_fuzzy_out got = f.solve(a);

        // Every start, every size; one site, or the cheapest of all.
        double best = HUGE_VAL;
        for (const co_fuzzy_size &z : f.sizes)
            for (double t = f.earliest_s; t + z.duration_s <= f.latest_end_s; t++) {
                std::vector<std::pair<double, double>> room; // cost, free
                double cheapest = HUGE_VAL, need = z.processors, cost = 0;
                for (size_t s = 0; s < f.windows.size(); s++) {
                    double least = HUGE_VAL;
                    for (double u = t; u < t + z.duration_s; u++) {
                        double here = 0;
                        for (const co_window &w : f.windows[s])
                            if (w.start_s <= u && u < w.end_s)
                                here = w.processors_free;
                        least = fmin(least, here);
                    }
                    room.push_back({f.costs[s], least});
                    if (least >= z.processors)
                        cheapest = fmin(cheapest, f.costs[s] * z.processors);
                }
                std::sort(room.begin(), room.end());
                for (auto &r : room) {
                    cost += fmin(need, r.second) * r.first;
                    need -= fmin(need, r.second);
                }
                if (!one_site && need <= 0)
                    cheapest = fmin(cheapest, cost);
                if (std::isinf(cheapest))
                    continue;
                double value[] = {t + z.duration_s - f.earliest_s, t - f.earliest_s,
                                  cheapest * z.duration_s,         z.processors,
                                  z.processors * z.duration_s,     1};
                best = fmin(best, value[criterion]);
            }
        CHECK(got.found == std::isfinite(best));
        if (!got.found)
            continue;
        double total = 0;
        for (size_t i = 0; i < got.part_count; i++)
            total += got.parts[i].processors;
        CHECK(total == got.processors);
        double value[] = {got.end_s - f.earliest_s,
                          got.start_s - f.earliest_s,
                          got.cost,
                          got.processors,
                          got.processors * (got.end_s - got.start_s),
                          double(got.part_count)};
        CHECK(value[criterion] == Approx(best).margin(1e-9));
    }
}
