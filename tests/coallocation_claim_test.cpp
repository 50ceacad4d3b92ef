// coallocation_claim_test.cpp - claiming: schedule, queue, and the policy ICP.
#include "tests/coallocation_support.hpp"

#include <algorithm>
#include <random>

extern "C" {
#include "algorithms/coallocation/claim.h"
}

using namespace coallocation_support;

namespace
{

using names = std::vector<std::string>;

// The job of 9.1: c0:16@A, c1:8@B, c2:8@C, placed at 1000, to start at 1400.
struct trial {
    clusters g;
    job_on job;
    std::vector<co_choice> choices;
    std::vector<char> started;
    std::vector<co_running_part> parts;
    std::vector<co_running_job> running;
    co_claim_options options = CO_CLAIM_OPTIONS;
    co_claim_in in{};
    co_claim_out out{};

    trial(const std::vector<double> &idle, double t, co_level level,
          const std::vector<const char *> &copies = {"D"},
          const std::vector<double> &outstanding = {16, 8, 8, 0, 0},
          bool with_running = true, const std::vector<co_named_pair> *history = nullptr,
          const char *policy = "worst_fit")
        : g(idle, copies, outstanding, 1000, history),
          job("j", policy, level, {16, 8, 8}, g.file())
    {
        for (size_t s = 0; s < 3; s++)
            choices.push_back({s, g.site(copies[0]), 0});
        started = {0, 0, 0};
        parts = {{g.site("C"), 4}, {g.site("C"), 6}, {g.site("C"), 3}};
        if (with_running)
            running = {{"s1", CO_SUPER_LOW, 900, &parts[0], 1},
                       {"s2", CO_SUPER_LOW, 1100, &parts[1], 1},
                       {"s3", CO_SUPER_LOW, 1000, &parts[2], 1}};
        options.t_threshold = t;
        in.base_level = level;
        in.jst_s = 1400;
        in.now_s = in.jct_s = 1300;
        in.l = 0.75;
    }
    const co_claim_out &run()
    {
        error err = collecting_error(g.a);
        std::vector<bool> flags(started.begin(), started.end());
        bool *list = NEW(g.a.a, bool, flags.size());

        std::copy(flags.begin(), flags.end(), list);
        in.grid = &g.grid;
        in.job = job.bound();
        in.components = job.parts.data();
        in.component_count = job.parts.size();
        in.choices = choices.data();
        in.started = list;
        in.running = running.data();
        in.running_count = running.size();
        REQUIRE(co_claim(&in, &options, &out, g.a, &err) == OK);
        return out;
    }
    names named(const size_t *list, size_t count) const
    {
        names out_names;
        for (size_t i = 0; i < count; i++)
            out_names.push_back(job.parts[list[i]].id);
        return out_names;
    }
    names start() const
    {
        return named(out.start, out.start_count);
    }
    names waiting() const
    {
        return named(out.waiting, out.waiting_count);
    }
    // "c1 B-E 40"
    names moves() const
    {
        names list;
        for (size_t i = 0; i < out.move_count; i++)
            list.push_back(std::string(job.parts[out.moves[i].component].id) + " " +
                           g.grid.sites[out.moves[i].from_site].id + "-" +
                           g.grid.sites[out.moves[i].to.site].id + " " +
                           std::to_string(std::lround(out.moves[i].to.transfer_s)));
        return list;
    }
    names preempted() const
    {
        names list;
        for (size_t i = 0; i < out.preemption_count; i++)
            list.push_back(running[out.preemptions[i].running].id);
        return list;
    }
    std::vector<size_t> released() const
    {
        return std::vector<size_t>(out.released, out.released + g.grid.site_count);
    }
};

} // namespace

TEST_CASE("the claiming queue goes by JCT, submission, id, coallocation.md 8",
          "[coallocation]")
{
    co_claim_waiting list[] = {{"d", 20, 1, 0},
                               {"c", 10, 5, 1},
                               {"b", 10, 3, 2},
                               {"a", 10, 3, 3},
                               {"e", 10, NAN, 4}};
    co_claim_queue_sort(list, 5);
    std::string order;
    for (const auto &w : list)
        order += w.id;
    CHECK(order == "abced");
    co_claim_queue_sort(list, 0);
}

TEST_CASE("claim schedules of coallocation.md 8", "[coallocation]")
{
    struct {
        double jpt_s, ftt_s, l;
        size_t count;
        std::vector<double> first, last;
    } cases[] = {
        {1000, 400, 1, 1, {1400}, {1400}},
        {1000, 400, 0.75, 5, {1300, 1375, 1393.75, 1398.4375, 1400}, {1400}},
        {1000,
         400,
         0.5,
         9,
         {1200, 1300, 1350, 1375, 1387.5, 1393.75, 1396.875, 1398.4375, 1400},
         {1400}},
        {1000,
         400,
         0.25,
         20,
         {1100, 1175, 1231.25, 1273.4375, 1305.078125},
         {1396.9932212727144, 1397.9932212727144, 1398.9932212727144, 1400}},
        {1000, 400, 0, 41, {1000, 1010}, {1390, 1400}},
        {0, 160, 0.75, 4, {120, 150, 157.5, 160}, {160}},
        {5, 0, 0.75, 1, {5}, {5}},
        {0, 3, 0.75, 1, {3}, {3}},
        {0, 3.9, 0.75, 1, {3.9}, {3.9}},
        {0, 4, 0.75, 2, {3, 4}, {4}},
    };
    const co_claim_steps steps = CO_CLAIM_STEPS;
    for (const auto &c : cases) {
        test_arena a;
        error err{};
        const double *list = nullptr;
        size_t count = 0;

        INFO("FTT " << c.ftt_s << ", L " << c.l);
        REQUIRE(co_claim_schedule(c.jpt_s, c.ftt_s, c.l, &steps, &list, &count, a,
                                  &err) == OK);
        REQUIRE(count == c.count);
        for (size_t i = 0; i < c.first.size(); i++)
            CHECK(list[i] == Approx(c.first[i]).epsilon(1e-15));
        for (size_t i = 0; i < c.last.size(); i++)
            CHECK(list[count - c.last.size() + i] == Approx(c.last[i]).epsilon(1e-15));
    }
}

TEST_CASE("E1: late components go where the file is in time", "[coallocation]")
{
    trial t({16, 4, 0, 20, 8}, 0.3, CO_LOW);
    const co_claim_out &out = t.run();
    CHECK(out.decision == CO_START_ALL);
    CHECK(out.fraction_f == Approx(1.0 / 3).epsilon(1e-15));
    CHECK(out.tries == 1);
    CHECK(t.start() == names{"c0", "c1", "c2"});
    CHECK(t.moves() == names{"c1 B-D 0", "c2 C-D 0"});
    CHECK(t.preempted().empty());
    CHECK(std::isnan(out.next_jct_s));
    CHECK(out.l == 0.75);
    CHECK(t.released() == std::vector<size_t>{16, 8, 8, 0, 0});
}

TEST_CASE("E2: the last to start are preempted, no more than needed", "[coallocation]")
{
    trial t({16, 4, 0, 0, 8}, 0.3, CO_LOW);
    t.run();
    CHECK(t.out.decision == CO_START_ALL);
    CHECK(t.moves() == names{"c1 B-E 40"});
    CHECK(t.preempted() == names{"s2", "s3"});
    CHECK(t.out.preemptions[0].processors == 6);
    CHECK(t.out.preemptions[1].processors == 3);
    CHECK(t.out.preemptions[0].site == t.g.site("C"));
    CHECK(t.released() == std::vector<size_t>{16, 8, 8, 0, 0});
}

TEST_CASE("E3, E7: below T nothing starts", "[coallocation]")
{
    for (double threshold : {1.0, 0.5}) {
        trial t({16, 4, 0, 20, 8}, threshold, CO_LOW);
        t.run();
        CHECK(t.out.decision == CO_WAIT);
        CHECK(t.out.fraction_f == Approx(1.0 / 3).epsilon(1e-15));
        CHECK(t.out.start_count + t.out.move_count + t.out.preemption_count == 0);
        CHECK(t.waiting() == names{"c0", "c1", "c2"});
        CHECK(t.out.next_jct_s == 1375);
        CHECK(t.released() == std::vector<size_t>(5));
    }
}

TEST_CASE("E4, E6: super_low preempts nobody, and goes on later", "[coallocation]")
{
    trial t({16, 4, 0, 0, 8}, 0.3, CO_SUPER_LOW);
    t.run();
    CHECK(t.out.decision == CO_START_PARTIAL);
    CHECK(t.moves() == names{"c1 B-E 40"});
    CHECK(t.start() == names{"c0", "c1"});
    CHECK(t.waiting() == names{"c2"});
    CHECK(t.out.next_jct_s == 1375);
    CHECK(t.released() == std::vector<size_t>{16, 8, 0, 0, 0});

    trial after({0, 0, 9, 0, 0}, 0.3, CO_LOW, {"D"}, {0, 0, 8, 0, 0});
    after.in.now_s = after.in.jct_s = 1375;
    after.in.tries = 1;
    after.choices[1].site = after.g.site("E");
    after.started = {1, 1, 0};
    after.run();
    CHECK(after.out.decision == CO_START_ALL);
    CHECK(after.out.fraction_f == 1);
    CHECK(after.start() == names{"c2"});
    CHECK(after.preempted().empty());
    CHECK(after.out.tries == 2);
    CHECK(after.released() == std::vector<size_t>{0, 0, 8, 0, 0});
}

TEST_CASE("E5: a site whose file comes late is none", "[coallocation]")
{
    trial t({16, 4, 0, 0, 8}, 0.3, CO_LOW, {"A"});
    t.run();
    CHECK(t.out.decision == CO_START_PARTIAL);
    CHECK(t.start() == names{"c0", "c2"});
    CHECK(t.waiting() == names{"c1"});
    CHECK(t.preempted() == names{"s2", "s3"});
    CHECK(t.out.next_jct_s == 1375);

    trial careful({16, 4, 0, 0, 8}, 0.3, CO_LOW, {"A"}); // ours: not for a part
    careful.options.preempt_only_if_complete = true;
    careful.run();
    CHECK(careful.out.decision == CO_START_PARTIAL);
    CHECK(careful.start() == names{"c0"});
    CHECK(careful.preempted().empty());
    trial whole({16, 4, 0, 0, 8}, 0.3, CO_LOW);
    whole.options.preempt_only_if_complete = true;
    whole.run();
    CHECK(whole.preempted() == names{"s2", "s3"}); // E2: then it is complete
}

TEST_CASE("E8: at JST it is all or nothing", "[coallocation]")
{
    trial t({16, 8, 0, 0, 0}, 0, CO_LOW, {"D"}, {16, 8, 8, 0, 0}, false);
    t.in.now_s = 1400;
    t.run();
    CHECK(t.out.decision == CO_REQUEUE_PLACEMENT);
    CHECK(t.start().empty());
    CHECK(t.waiting().empty());
    CHECK(t.out.l == 0.5);
    CHECK(std::isnan(t.out.next_jct_s));
    CHECK(t.released() == std::vector<size_t>{16, 8, 8, 0, 0});

    trial held({0, 0, 0, 0, 0}, 0, CO_LOW, {"D"}, {0, 0, 8, 0, 0}, false);
    held.in.now_s = 1400 - 1e-10; // JST, as far as clocks go
    held.started = {1, 1, 0};
    held.options.l_min = 0.6;
    held.run();
    CHECK(held.out.decision == CO_REQUEUE_PLACEMENT);
    CHECK(held.named(held.out.abort, held.out.abort_count) == names{"c0", "c1"});
    CHECK(held.out.l == 0.6);
    CHECK(held.released() == std::vector<size_t>{0, 0, 8, 0, 0});

    trial last({0, 0, 0, 0, 0}, 0, CO_LOW, {"D"}, {0, 0, 8, 0, 0}, false);
    last.in.now_s = 1400;
    last.started = {1, 1, 0};
    last.in.tries = 4;
    last.options.max_tries = 4;
    last.run();
    CHECK(last.out.decision == CO_CLAIM_FAIL); // before a return to the queue
    CHECK(last.out.abort_count == 2);
    CHECK(last.out.tries == 5);
    last.options.max_tries = 5;
    CHECK(last.run().decision == CO_REQUEUE_PLACEMENT);
}

TEST_CASE("E9: a site that the user gave is kept", "[coallocation]")
{
    trial t({16, 4, 0, 20, 8}, 0.3, CO_LOW);
    t.job.parts[1].fixed_site = t.g.site("B");
    t.run();
    CHECK(t.out.decision == CO_START_PARTIAL);
    CHECK(t.start() == names{"c0", "c2"});
    CHECK(t.moves() == names{"c2 C-D 0"});
    CHECK(t.waiting() == names{"c1"});
    CHECK(t.out.next_jct_s == 1375);
}

TEST_CASE("E10: what was promised to others is left to them", "[coallocation]")
{
    trial t({16, 4, 0, 20, 8}, 0.3, CO_LOW, {"D"}, {16, 8, 8, 12, 0});
    t.run();
    CHECK(t.out.decision == CO_START_ALL);
    CHECK(t.moves() == names{"c1 B-D 0", "c2 C-E 40"});
    CHECK(t.preempted().empty());
}

TEST_CASE("what is outstanding is the job's own and others' together", "[coallocation]")
{
    // Of the 16 outstanding at D 8 are c1's own: with it, others' 8 and c2 it is full.
    for (double idle : {24.0, 23.0}) {
        INFO(idle);
        trial t({16, 0, 0, idle, 0}, 0.3, CO_LOW, {"D"}, {16, 0, 8, 16, 0}, false);
        t.choices[1].site = t.g.site("D");
        t.run();
        bool fits = idle >= 24;
        CHECK((t.out.decision == CO_START_ALL) == fits);
        CHECK(t.moves() == (fits ? names{"c2 C-D 0"} : names{}));
    }
}

TEST_CASE("E11: at JST no other site is early enough", "[coallocation]")
{
    trial t({16, 8, 0, 20, 8}, 0, CO_LOW);
    t.in.now_s = 1400;
    t.run();
    CHECK(t.out.decision == CO_START_ALL);
    CHECK(t.moves().empty());
    CHECK(t.preempted() == names{"s2", "s3"});
    t.options.allow_start_equal = true;
    t.run();
    CHECK(t.moves() == names{"c2 C-D 0"});
    CHECK(t.preempted().empty());
}

TEST_CASE("a claim before its time is no try", "[coallocation]")
{
    trial t({16, 8, 8, 20, 8}, 0, CO_LOW);
    t.in.now_s = 1299;
    t.run();
    CHECK(t.out.decision == CO_WAIT);
    CHECK(t.out.tries == 0);
    CHECK(t.out.next_jct_s == 1300);
    CHECK(std::isnan(t.out.fraction_f));
    t.in.now_s = 1300 - 1e-10;
    CHECK(t.run().decision == CO_START_ALL);
    t.in.now_s = 1200;
    t.in.jct_s = NAN; // not planned: now
    CHECK(t.run().decision == CO_START_ALL);
}

TEST_CASE("the next try counts from now, coallocation.md 8 rule 6", "[coallocation]")
{
    trial t({0, 0, 0, 0, 0}, 1, CO_LOW);
    t.in.now_s = 1320;
    CHECK(t.run().next_jct_s == 1380);
    t.in.l = 0;
    CHECK(t.run().next_jct_s == 1330);
    t.in.l = 1;
    CHECK(t.run().next_jct_s == 1400);
}

TEST_CASE("the order of preemption", "[coallocation]")
{
    auto crowd = [](trial &t) {
        t.parts = {{t.g.site("C"), 2}, {t.g.site("C"), 2},   {t.g.site("C"), 2},
                   {t.g.site("C"), 2}, {t.g.site("C"), 100}, {t.g.site("B"), 50},
                   {t.g.site("C"), 2}, {t.g.site("C"), 2}};
        t.running = {{"r1", CO_LOW, 1000, &t.parts[0], 1},
                     {"r2", CO_SUPER_LOW, 1000, &t.parts[1], 1},
                     {"r0", CO_SUPER_LOW, 1000, &t.parts[2], 1},
                     {"r4", CO_LOW, 1100, &t.parts[3], 1},
                     {"r5", CO_HIGH, 1200, &t.parts[4], 1},      // not lower
                     {"r6", CO_LOW, 2000, &t.parts[5], 1},       // not there
                     {"r7", CO_SUPER_LOW, 900, &t.parts[6], 2}}; // two parts there
    };
    trial t({16, 8, 0, 0, 0}, 0, CO_HIGH, {"A"});
    crowd(t);
    t.run();
    CHECK(t.preempted() == names{"r4", "r0", "r2", "r1"});
    t.options.preempt_order = CO_LOWEST_PRIORITY_THEN_NEWEST;
    t.run();
    CHECK(t.preempted() == names{"r0", "r2", "r7"});
    CHECK(t.out.preemptions[2].processors == 4);
    t.options.preempt_with_base_priority = true; // only promoted to high
    t.in.base_level = CO_LOW;
    t.run();
    CHECK(t.preempted() == names{"r0", "r2", "r7"});
    t.in.base_level = CO_SUPER_LOW;
    CHECK(t.run().decision == CO_START_PARTIAL);
}

TEST_CASE("a job that was preempted for one component is gone everywhere",
          "[coallocation]")
{
    // x holds 8 at B and 8 at C: c1 takes its 8 at B; at C nothing is left to preempt,
    // and what x had there is not counted in this try.
    trial t({16, 0, 0, 0, 0}, 0, CO_LOW, {"A"});
    t.parts = {{t.g.site("B"), 8}, {t.g.site("C"), 8}};
    t.running = {{"x", CO_SUPER_LOW, 1000, &t.parts[0], 2}};
    t.run();
    CHECK(t.out.decision == CO_START_PARTIAL);
    CHECK(t.start() == names{"c0", "c1"});
    CHECK(t.preempted() == names{"x"});
    CHECK(t.waiting() == names{"c2"});
}

TEST_CASE("preemption at the new site, if asked", "[coallocation]")
{
    // The new site E is late (640 s): with preempt_site replacement the component goes
    // there all the same, since it has room.
    trial t({16, 8, 0, 0, 8}, 0.3, CO_LOW, {"A"});
    t.options.preempt_site = CO_PREEMPT_REPLACEMENT;
    t.run();
    CHECK(t.out.decision == CO_START_ALL);
    CHECK(t.moves() == names{"c2 C-E 640"});
    CHECK(t.preempted().empty());
}

TEST_CASE("all started already, unknown sites, unusable sites", "[coallocation]")
{
    trial t({0, 0, 0, 0, 0}, 1, CO_LOW);
    t.started = {1, 1, 1};
    t.run();
    CHECK(t.out.decision == CO_START_ALL);
    CHECK(t.out.start_count == 0);
    CHECK(t.out.fraction_f == 1);

    trial lost({16, 8, 8, 20, 0}, 0, CO_LOW);
    lost.choices[2].site = CO_NONE;
    lost.run();
    CHECK(lost.out.decision == CO_START_ALL);
    CHECK(lost.out.move_count == 1);
    CHECK(lost.out.moves[0].from_site == CO_NONE);
    CHECK(lost.out.moves[0].to.site == lost.g.site("D"));
    CHECK(lost.released() == std::vector<size_t>{16, 8, 0, 0, 0});

    trial down({16, 8, 8, 0, 0}, 0, CO_LOW); // C is unusable: not even by preemption
    down.g.grid.sites[2].usable = false;
    down.run();
    CHECK(down.out.decision == CO_START_PARTIAL);
    CHECK(down.waiting() == names{"c2"});
    CHECK(down.preempted().empty());
}

TEST_CASE("jobs that are not atomic start what they can at JST", "[coallocation]")
{
    trial t({16, 8, 0, 0, 0}, 1, CO_LOW, {"D"}, {16, 8, 8, 0, 0}, false);
    t.job.job.atomic = false;
    CHECK(t.run().decision == CO_WAIT); // T holds until JST
    t.in.now_s = 1400;
    t.run();
    CHECK(t.out.decision == CO_START_PARTIAL);
    CHECK(t.start() == names{"c0", "c1"});
    CHECK(t.waiting().empty());
    CHECK(t.named(t.out.requeue, t.out.requeue_count) == names{"c2"});
    CHECK(t.out.l == 0.5);
    CHECK(t.out.abort_count == 0);
    CHECK(t.released() == std::vector<size_t>{16, 8, 8, 0, 0});
    CHECK(std::isnan(t.out.next_jct_s));

    trial none({0, 0, 0, 0, 0}, 0, CO_LOW, {"D"}, {16, 8, 8, 0, 0}, false);
    none.job.job.atomic = false;
    none.in.now_s = 1400;
    CHECK(none.run().decision == CO_REQUEUE_PLACEMENT);
}

TEST_CASE("distinct sites and cluster_minimisation look at the other components",
          "[coallocation]")
{
    trial t({16, 8, 0, 30, 8}, 0, CO_LOW);
    t.job.job.distinct = true;
    t.choices[0].site = t.g.site("D"); // 16 of its 30: room for c2, but not distinct
    t.choices[1].site = t.g.site("A");
    t.run();
    CHECK(t.moves() == names{"c2 C-E 40"});

    trial cm({16, 16, 0, 28, 28}, 0, CO_LOW, {"D"}, {16, 8, 8, 0, 0}, true, nullptr,
             "cluster_minimisation");
    cm.run(); // B has room and one of its components; D and E have more
    CHECK(cm.moves() == names{"c2 C-B 80"});
    trial fcm({16, 16, 0, 28, 28}, 0, CO_LOW, {"D"}, {16, 8, 8, 0, 0}, true, nullptr,
              "flexible_cluster_minimisation");
    fcm.run();
    CHECK(fcm.moves() == cm.moves());
}

TEST_CASE("Close-to-Files keeps to its history, and adds to it", "[coallocation]")
{
    const std::vector<co_named_pair> none, pair = {{"E", "D"}};
    trial t({16, 8, 0, 0, 8}, 0, CO_LOW, {"D"}, {16, 8, 8, 0, 0}, false, &none,
            "close_to_files");
    CHECK(t.run().decision == CO_START_PARTIAL);
    trial known({16, 8, 0, 0, 8}, 0, CO_LOW, {"D"}, {16, 8, 8, 0, 0}, false, &pair,
                "close_to_files");
    known.run();
    CHECK(known.moves() == names{"c2 C-E 40"});
    REQUIRE(known.out.added_count == 1);
    CHECK(known.out.added[0].execution_site == known.g.site("E"));
}

TEST_CASE("a time limit ends the search for other sites", "[coallocation]")
{
    trial t({16, 4, 0, 20, 8}, 0.3, CO_SUPER_LOW);
    budget spent = make_budget([](void *) { return 1.0; }, nullptr);
    t.in.budget = &spent;
    t.run();
    CHECK(t.out.decision == CO_START_PARTIAL);
    CHECK(t.start() == names{"c0"});
    CHECK(t.out.cut);
}

TEST_CASE("claim_schedule has the closed form", "[coallocation][property]")
{
    // JST - JCT_n = (1 - L)^(n+1) FTT, as long as steps are longer than the least.
    std::mt19937_64 random(7);
    const co_claim_steps steps = CO_CLAIM_STEPS;
    for (int round = 0; round < 200; round++) {
        double jpt = std::uniform_real_distribution<>(0, 1e5)(random);
        double ftt = std::uniform_real_distribution<>(0, 2e3)(random);
        double l = std::uniform_real_distribution<>(0.05, 1)(random);
        double jst = co_jst_s(jpt, ftt);
        const double *list = nullptr;
        size_t count = 0;
        test_arena a;
        error err{};
        bool longer = true;

        REQUIRE(co_claim_schedule(jpt, ftt, l, &steps, &list, &count, a, &err) == OK);
        REQUIRE(count >= 1);
        CHECK(list[count - 1] == jst);
        for (size_t n = 0; n < count; n++) {
            double left = std::pow(1 - l, static_cast<double>(n + 1)) * ftt;
            if (n > 0) {
                REQUIRE(list[n] > list[n - 1]);
                longer = longer && list[n] - list[n - 1] > 1 + 1e-9;
            }
            if (n + 1 < count && longer)
                CHECK(jst - list[n] == Approx(left).epsilon(1e-6).margin(1e-6));
        }
    }
}

TEST_CASE("a first try at L = 0.75 gains three times what it wastes",
          "[coallocation][property]")
{
    std::mt19937_64 random(8);
    const co_claim_steps steps = CO_CLAIM_STEPS;
    for (int round = 0; round < 200; round++) {
        co_times t{};
        double ftt = std::uniform_real_distribution<>(4, 1e4)(random);
        t.submitted_s = t.queue_entry_s = 0;
        t.jpt_s = std::uniform_real_distribution<>(0, 1e4)(random);
        t.jst_s = co_jst_s(t.jpt_s, ftt);
        t.claimed_s = co_first_claim_s(t.jpt_s, ftt, 0.75, &steps);
        t.transfers_done_at_s = t.original_jst_s = NAN;
        auto *durations = &co_durations; // also the name of its result
        auto d = durations(&t);
        CHECK(d.gained_s == Approx(3 * d.wasted_s).epsilon(1e-9));
    }
}

namespace
{

// A random try; what must hold of any.
struct fuzzed {
    std::mt19937_64 random;
    size_t pick(size_t low, size_t high)
    {
        return std::uniform_int_distribution<size_t>(low, high)(random);
    }

    void round(const struct policy *policy)
    {
        std::vector<double> idle, outstanding;
        std::vector<const char *> copies = {"D"};
        for (int s = 0; s < 5; s++) {
            idle.push_back(static_cast<double>(pick(0, 30)));
            outstanding.push_back(static_cast<double>(pick(0, 20)));
        }
        if (pick(0, 1))
            copies.push_back("A");
        trial t(idle, pick(0, 4) / 4.0, static_cast<co_level>(pick(0, 3)), copies,
                outstanding, false, nullptr, policy->name);
        t.job = job_on("j", policy->name, t.job.job.level,
                       {pick(1, 16), pick(1, 16), pick(1, 8), pick(1, 8)},
                       pick(0, 3) ? t.g.file() : CO_NONE);
        t.job.job.atomic = pick(0, 3) > 0;
        t.job.job.distinct = pick(0, 3) == 0;
        t.choices.clear();
        t.started.clear();
        for (size_t i = 0; i < 4; i++) {
            t.choices.push_back({pick(0, 4), CO_NONE, 0});
            t.started.push_back(pick(0, 3) == 0);
        }
        const size_t running_count = pick(0, 8);
        std::vector<std::string> ids;
        t.parts.clear();
        for (size_t i = 0; i < 2 * running_count; i++)
            t.parts.push_back({pick(0, 4), pick(1, 10)});
        for (size_t i = 0; i < running_count; i++)
            ids.push_back("r" + std::to_string(i));
        for (size_t i = 0; i < running_count; i++)
            t.running.push_back({ids[i].c_str(), static_cast<co_level>(pick(0, 3)),
                                 static_cast<double>(pick(0, 5)), &t.parts[2 * i],
                                 pick(1, 2)});
        t.in.now_s = t.in.jct_s = pick(0, 3) ? 1300 : 1400;
        t.options.preempt_order = static_cast<co_preempt_order>(pick(0, 1));
        t.options.preempt_only_if_complete = pick(0, 1);
        t.options.allow_start_equal = pick(0, 1);
        t.run();
        check(t);
    }

    static void check(const trial &t)
    {
        const co_claim_out &out = t.out;
        std::vector<size_t> taken(5), freed(5);
        std::vector<int> seen(4);
        bool final_try = t.in.now_s >= t.in.jst_s;

        std::vector<size_t> site(4);
        for (size_t i = 0; i < 4; i++)
            site[i] = t.choices[i].site;
        for (size_t i = 0; i < out.move_count; i++)
            site[out.moves[i].component] = out.moves[i].to.site;
        for (size_t i = 0; i < out.start_count; i++) {
            taken[site[out.start[i]]] += t.job.parts[out.start[i]].processors;
            seen[out.start[i]]++;
        }
        for (size_t i = 0; i < out.preemption_count; i++) {
            const co_running_job &job = t.running[out.preemptions[i].running];
            CHECK(job.level < t.job.job.level);
            freed[out.preemptions[i].site] += out.preemptions[i].processors;
        }
        for (size_t s = 0; s < 5; s++) // never more than there is
            CHECK(taken[s] <= co_claimable(&t.g.grid, s) + freed[s]);
        for (size_t i = 0; i < out.waiting_count; i++)
            seen[out.waiting[i]]++;
        for (size_t i = 0; i < out.requeue_count; i++)
            seen[out.requeue[i]]++;
        bool over = out.decision == CO_REQUEUE_PLACEMENT || out.decision == CO_CLAIM_FAIL;
        for (size_t i = 0; i < 4 && !over; i++)
            CHECK(seen[i] == (t.started[i] ? 0 : 1));
        if (over) {
            CHECK(out.start_count + out.preemption_count + out.move_count == 0);
            CHECK(out.l == 0.5);
        }
        if (final_try && t.job.job.atomic)
            CHECK((out.decision == CO_START_ALL || over));
        if (out.decision == CO_WAIT || (out.decision == CO_START_PARTIAL && !final_try)) {
            CHECK(out.next_jct_s > t.in.now_s);
            CHECK(out.next_jct_s <= t.in.jst_s);
        }
        CHECK((out.fraction_f >= 0 && out.fraction_f <= 1));
    }
};

} // namespace

TEST_CASE("tries of every policy keep the rules", "[coallocation][property]")
{
    fuzzed f;
    f.random.seed(11);
    for (const struct policy *p = coallocation_policies; p->name; p++)
        for (int i = 0; i < 60; i++)
            f.round(p);
}

TEST_CASE("F never falls when more processors are idle", "[coallocation][property]")
{
    std::mt19937_64 random(12);
    for (int round = 0; round < 100; round++) {
        std::vector<double> idle;
        for (int s = 0; s < 5; s++)
            idle.push_back(static_cast<double>(random() % 20));
        trial less(idle, 1, CO_LOW, {"D"}, {16, 8, 8, 0, 0}, false);
        for (double &processors : idle)
            processors += static_cast<double>(random() % 10);
        trial more(idle, 1, CO_LOW, {"D"}, {16, 8, 8, 0, 0}, false);
        CHECK(less.run().fraction_f <= more.run().fraction_f);
    }
}

TEST_CASE("claims with any memory limit", "[coallocation][memory]")
{
    for (size_t cap = 0; cap < 20000; cap += 500) {
        trial t({16, 4, 0, 0, 8}, 0.3, CO_LOW);
        t.run();
        test_arena small(cap);
        error err{};
        co_claim_out out{};
        error_code code = computed(
            small, &err, [&] { return co_claim(&t.in, &t.options, &out, small, &err); });
        CHECK((code == OK || code == ERR_TOO_LARGE));
    }
}
