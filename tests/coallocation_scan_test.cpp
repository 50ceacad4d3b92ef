// coallocation_scan_test.cpp - placement queues, levels, errors, states, launch plans.
#include "tests/coallocation_support.hpp"

#include <algorithm>
#include <deque>
#include <random>

extern "C" {
#include "algorithms/coallocation/faults.h"
#include "algorithms/coallocation/flow.h"
#include "algorithms/coallocation/launch.h"
#include "algorithms/coallocation/priority.h"
#include "algorithms/coallocation/scan.h"
}

using namespace coallocation_support;

namespace
{

using names = std::vector<std::string>;

// N_h, N_l, n_1 .. n_4 as the spec writes them.
co_scan_weights weights(size_t n_h, size_t n_l, size_t n_1, size_t n_2, size_t n_3,
                        size_t n_4)
{
    return {n_h, n_l, {n_4, n_3, n_2, n_1}};
}

std::string letter(co_level level)
{
    const char *const letters[] = {"SL", "L", "H", "SH"};
    return letters[level];
}

std::string cycle(const co_scan_weights &w)
{
    std::string text;
    for (size_t i = 0; i < co_scan_cycle_length(&w); i++)
        text += letter(co_scan_cycle_at(&w, i, nullptr)) + " ";
    return text;
}

// "H2 H3 L4": queue and cursor behind it, from cursor 0 on.
std::string scans(const co_scan_weights &w, const std::vector<co_level> &queues,
                  size_t count)
{
    bool nonempty[CO_LEVEL_COUNT] = {};
    size_t cursor = 0;
    std::string text;

    for (co_level q : queues)
        nonempty[q] = true;
    for (size_t i = 0; i < count; i++) {
        co_level level;
        REQUIRE(co_scan_next(&w, cursor, nonempty, &level, &cursor));
        text += letter(level) + std::to_string(cursor) + " ";
    }
    return text;
}

// A queue of jobs, kept between scans.
struct queue {
    clusters g;
    std::deque<job_on> jobs;
    std::vector<co_queued> list;
    std::vector<size_t> available;
    co_scan_options options = CO_SCAN_OPTIONS;
    co_scan_in in{};
    co_scan_out out{};

    explicit queue(const std::vector<double> &idle, co_level level = CO_HIGH)
        : g(idle, {"A"})
    {
        in.level = level;
        available.resize(idle.size());
        co_available_all(&g.grid, available.data());
    }
    void add(const char *id, const std::vector<size_t> &sizes,
             const char *policy = "worst_fit", double entry_s = 0)
    {
        jobs.emplace_back(id, policy, in.level, sizes, CO_NONE);
        co_queued q{};
        q.job = jobs.back().bound();
        q.queue_entry_s = entry_s;
        list.push_back(q);
    }
    // One scan; its counts become those of the list.
    std::string scan()
    {
        error err{};
        std::string text;

        in.grid = &g.grid;
        in.jobs = list.data();
        in.job_count = list.size();
        REQUIRE(co_scan(&in, &options, available.data(), &out, g.a, &err) == OK);
        for (size_t i = 0; i < list.size(); i++) {
            text += std::string(list[i].job->id) + ":" +
                    co_scan_outcome_names[out.jobs[i].outcome] + " ";
            list[i].tries = out.jobs[i].tries;
            list[i].overtaken = out.jobs[i].overtaken;
        }
        return text;
    }
};

} // namespace

// ---- levels ----

TEST_CASE("levels by run time, group and class, coallocation.md 4", "[coallocation]")
{
    struct {
        double run_time_s;
        co_level want;
    } cases[] = {{300, CO_SUPER_HIGH}, {600, CO_HIGH},        {1800, CO_HIGH},
                 {14400, CO_LOW},      {14401, CO_SUPER_LOW}, {NAN, CO_SUPER_LOW}};
    for (const auto &c : cases)
        CHECK(co_priority_by_runtime(c.run_time_s, co_runtime_thresholds_s, 3) == c.want);
    const co_group_level groups[] = {{"demo", CO_HIGH}, {"night", CO_SUPER_LOW}};
    co_level level = CO_LOW;
    CHECK(co_priority_by_group("night", groups, 2, &level));
    CHECK(level == CO_SUPER_LOW);
    CHECK_FALSE(co_priority_by_group("day", groups, 2, &level));
    CHECK(co_level_above(CO_LOW) == CO_HIGH);
    CHECK(co_level_above(CO_SUPER_HIGH) == CO_SUPER_HIGH);
}

// ---- queues ----

TEST_CASE("cycles of coallocation.md 10", "[coallocation]")
{
    CHECK(cycle(weights(1, 1, 1, 1, 1, 1)) == "SH H L SL ");
    CHECK(cycle(weights(2, 1, 1, 1, 1, 1)) == "SH H SH H L SL ");
    CHECK(cycle(weights(2, 1, 3, 1, 2, 1)) == "SH SH SH H SH SH SH H L L SL ");
    CHECK(scans(weights(1, 1, 1, 2, 1, 1), {CO_HIGH, CO_LOW}, 6) == "H2 H3 L4 H2 H3 L4 ");
    CHECK(scans(weights(2, 1, 3, 1, 2, 1), {CO_HIGH, CO_LOW, CO_SUPER_LOW}, 6) ==
          "H4 H8 L9 L10 SL0 H4 ");
    const co_scan_weights used = weights(1, 1, 1, 2, 1, 1), kept = CO_SCAN_WEIGHTS;
    CHECK_FALSE(co_scan_weights_ordered(&used)); // by the source itself
    CHECK(co_scan_weights_ordered(&kept));
}

TEST_CASE("with all queues empty the cursor stays", "[coallocation]")
{
    co_scan_weights w = weights(2, 1, 3, 1, 2, 1);
    const bool nonempty[CO_LEVEL_COUNT] = {};
    co_level level;
    size_t next = 99;
    CHECK_FALSE(co_scan_next(&w, 7, nonempty, &level, &next));
    CHECK(next == 7);
}

TEST_CASE("overtaking, coallocation.md 10", "[coallocation]")
{
    struct {
        size_t max_overtakes;
        const char *want;
        size_t overtaken, free_c;
    } cases[] = {
        {SIZE_MAX, "J1:kept J2:placed J3:placed ", 2, 6},
        {2, "J1:kept J2:placed J3:placed ", 2, 6},
        {1, "J1:kept J2:placed J3:not_reached ", 1, 30},
        {0, "J1:kept J2:not_reached J3:not_reached ", 0, 30},
    };
    for (const auto &c : cases) {
        queue q({16, 40, 30});
        q.add("J1", {50});
        q.add("J2", {8, 8});
        q.add("J3", {24});
        q.options.max_overtakes = c.max_overtakes;
        CHECK(q.scan() == c.want);
        CHECK(q.list[0].overtaken == c.overtaken);
        CHECK(q.available[2] == c.free_c);
        CHECK(q.available[1] == (c.overtaken ? 24 : 40));
        CHECK(q.out.reached_count == q.list[0].tries + q.list[1].tries + q.list[2].tries);
        if (c.max_overtakes == 1) { // the count survives: then nobody passes any more
            q.list.erase(q.list.begin() + 1);
            CHECK(q.scan() == "J1:kept J3:not_reached ");
            CHECK(q.list[1].tries == 0);
        }
    }
}

TEST_CASE("promotion every P tries, coallocation.md 10", "[coallocation]")
{
    std::string text;
    co_level level = CO_LOW;
    queue q({4}, level);
    q.options.promotion = 3;
    q.add("j", {5});
    for (int scan = 1; scan <= 12; scan++) {
        q.in.level = level;
        text += letter(level) + " ";
        if (q.scan() == "j:promoted ")
            level = co_level_above(level);
    }
    CHECK(text == "L L L H H H SH SH SH SH SH SH ");
    CHECK(q.list[0].tries == 12);

    queue least({4}, CO_SUPER_LOW);
    least.options.promotion = 1;
    least.add("j", {5});
    CHECK(least.scan() == "j:kept ");
}

TEST_CASE("too many tries, too long a wait", "[coallocation]")
{
    queue q({4});
    q.options.max_tries = 2;
    q.add("j", {5});
    CHECK(q.scan() == "j:kept ");
    CHECK(q.scan() == "j:kept ");
    CHECK(q.scan() == "j:max_placement_tries ");

    queue w({4});
    w.options.max_wait_s = 100;
    w.add("old", {5}, "worst_fit", 0);
    w.add("new", {5}, "worst_fit", 50);
    w.add("unknown", {5}, "worst_fit", NAN);
    w.in.now_s = 120;
    CHECK(w.scan() == "old:max_wait_s new:kept unknown:kept ");
}

TEST_CASE("a job that has failed or risen is not overtaken", "[coallocation]")
{
    queue q({16}, CO_LOW);
    q.options.max_tries = 0; // its first try is one too many
    q.options.max_overtakes = 0;
    q.add("big", {50});
    q.add("small", {8});
    CHECK(q.scan() == "big:max_placement_tries small:placed ");
    queue p({16}, CO_LOW);
    p.options.promotion = 1;
    p.options.max_overtakes = 0;
    p.add("big", {50});
    p.add("small", {8});
    CHECK(p.scan() == "big:promoted small:placed ");
}

TEST_CASE("a job that never fits stays queued and says so", "[coallocation]")
{
    queue q({16, 40, 30});
    q.add("huge", {2000});
    CHECK(q.scan() == "huge:kept ");
    CHECK(q.out.jobs[0].placement.never_fits);
}

TEST_CASE("the time limit ends a scan", "[coallocation]")
{
    queue q({16});
    q.add("j", {5});
    budget spent = make_budget([](void *) { return 1.0; }, nullptr);
    q.in.budget = &spent;
    CHECK(q.scan() == "j:not_reached ");
    CHECK(q.list[0].tries == 0);
}

TEST_CASE("coming back to a queue", "[coallocation]")
{
    const double entry_s[] = {10, 20, 30};
    CHECK(co_requeue_position(entry_s, 3, CO_REQUEUE_TAIL, 15) == 3);
    CHECK(co_requeue_position(entry_s, 3, CO_REQUEUE_ORIGINAL, 15) == 1);
    CHECK(co_requeue_position(entry_s, 3, CO_REQUEUE_ORIGINAL, 20) == 2);
    CHECK(co_requeue_position(entry_s, 0, CO_REQUEUE_ORIGINAL, 20) == 0);
}

TEST_CASE("a cycle gives every queue its share", "[coallocation][property]")
{
    std::mt19937_64 random(3);
    for (int round = 0; round < 200; round++) {
        auto n = [&random] { return static_cast<size_t>(random() % 6 + 1); };
        co_scan_weights w = weights(n(), n(), n(), n(), n(), n());
        size_t length = co_scan_cycle_length(&w);
        CHECK(length ==
              w.higher * (w.level[3] + w.level[2]) + w.lower * (w.level[1] + w.level[0]));
        bool nonempty[CO_LEVEL_COUNT];
        for (bool &one : nonempty)
            one = random() % 2;
        size_t counts[CO_LEVEL_COUNT] = {}, cursor = random() % length, scans_done = 0;
        size_t want = 0;
        for (int l = 0; l < CO_LEVEL_COUNT; l++)
            if (nonempty[l])
                want += w.level[l] * (l >= CO_HIGH ? w.higher : w.lower);
        for (; scans_done < want; scans_done++) { // one cycle without the empty ones
            co_level level;
            size_t before = cursor, slow = cursor;
            REQUIRE(co_scan_next(&w, cursor, nonempty, &level, &cursor));
            counts[level]++;
            while (!nonempty[co_scan_cycle_at(&w, slow, nullptr)])
                slow = (slow + 1) % length; // one scan at a time
            CHECK(level == co_scan_cycle_at(&w, slow, nullptr));
            CHECK(cursor == (slow + 1) % length);
            CHECK(before < length);
        }
        for (int l = 0; l < CO_LEVEL_COUNT; l++)
            CHECK(counts[l] ==
                  (nonempty[l] ? w.level[l] * (l >= CO_HIGH ? w.higher : w.lower) : 0));
    }
}

TEST_CASE("scans of every policy keep the rules", "[coallocation][property]")
{
    std::mt19937_64 random(4);
    for (const struct policy *p = coallocation_policies; p->name; p++) {
        if (p->flags & CO_FLEXIBLE_ONLY)
            continue;
        for (int round = 0; round < 25; round++) {
            queue q({static_cast<double>(random() % 60), 40, 30},
                    static_cast<co_level>(random() % CO_LEVEL_COUNT));
            std::vector<std::string> ids;
            q.options.max_overtakes = random() % 3 ? random() % 4 : SIZE_MAX;
            q.options.max_tries = random() % 3 ? 5 : SIZE_MAX;
            q.options.promotion = random() % 4;
            for (int j = 0; j < 12; j++)
                ids.push_back("j" + std::to_string(j));
            for (const std::string &id : ids)
                q.add(id.c_str(), {random() % 40 + 1, random() % 20 + 1}, p->name);
            for (int scan = 0; scan < 4; scan++) {
                std::vector<co_queued> before = q.list;
                std::vector<size_t> free_before = q.available;
                q.scan();
                size_t tried = 0, used = 0, given = 0;
                for (size_t i = 0; i < q.list.size(); i++) {
                    CHECK(q.list[i].tries >= before[i].tries); // never reset
                    CHECK(q.list[i].overtaken >= before[i].overtaken);
                    CHECK(q.list[i].overtaken - before[i].overtaken <=
                          q.out.placed_count);
                    tried += q.list[i].tries - before[i].tries;
                    if (q.out.jobs[i].outcome == CO_SCAN_KEPT &&
                        before[i].overtaken <= q.options.max_overtakes)
                        CHECK(q.list[i].overtaken <= q.options.max_overtakes);
                    if (q.out.jobs[i].outcome == CO_SCAN_PLACED)
                        for (size_t c = 0; c < q.list[i].job->component_count; c++)
                            used += q.list[i].job->components[c].processors;
                }
                for (size_t s = 0; s < q.available.size(); s++) {
                    CHECK(q.available[s] <= free_before[s]);
                    given += free_before[s] - q.available[s];
                }
                CHECK(tried == q.out.reached_count);
                CHECK(used == given);
                for (size_t i = q.list.size(); i-- > 0;) // those placed leave
                    if (q.out.jobs[i].outcome == CO_SCAN_PLACED)
                        q.list.erase(q.list.begin() + static_cast<long>(i));
            }
        }
    }
}

// ---- errors ----

TEST_CASE("soft errors in a row, coallocation.md 12", "[coallocation]")
{
    struct {
        const char *stream;
        size_t unusable_after; // 0: never
    } cases[] = {{"EESEEE", 6}, {"EESEE", 0}, {"EEE", 3}, {"EEEEE", 3}};
    for (const auto &c : cases) {
        co_site_errors site = CO_SITE_ERRORS;
        size_t at = 0;
        for (size_t i = 0; c.stream[i]; i++) {
            if (c.stream[i] == 'S')
                co_site_success(&site);
            else if (co_site_error(&site, 3, static_cast<double>(i)))
                at = at ? SIZE_MAX : i + 1; // told once
        }
        CHECK(at == c.unusable_after);
        CHECK(site.unusable == (c.unusable_after > 0));
    }
    co_site_errors site = {3, true, 100};
    CHECK_FALSE(co_site_readmit(&site, HUGE_VAL, 1e9));
    CHECK_FALSE(co_site_readmit(&site, 50, 149));
    CHECK(co_site_readmit(&site, 50, 150));
    CHECK_FALSE(site.unusable);
    CHECK(site.consecutive == 0);
}

TEST_CASE("what an error does, coallocation.md 12", "[coallocation]")
{
    struct {
        co_error_group group;
        bool handles_soft, handles_application, atomic;
        const char *want;
        bool requeue, free_job, failed;
    } cases[] = {
        {CO_ERROR_SOFT, true, false, true, "component_retry_by_runner ", false, false,
         false},
        {CO_ERROR_SOFT, false, true, true, "abort_job restart_job ", true, true, false},
        {CO_ERROR_SOFT, false, false, false, "replace_components ", true, false, false},
        {CO_ERROR_APPLICATION, false, true, true, "pass_through ", false, false, false},
        {CO_ERROR_APPLICATION, true, false, true, "abort_job_and_runner ", false, true,
         true},
        {CO_ERROR_HARD, true, true, true, "notify_runner abort_job_and_runner ", false,
         true, true},
    };
    for (const auto &c : cases) {
        co_fault_in in = {c.group, c.handles_soft, c.handles_application, c.atomic};
        co_fault_out out = co_fault_decide(&in);
        std::string text;
        for (size_t i = 0; i < out.action_count; i++)
            text += std::string(co_fault_action_names[out.actions[i]]) + " ";
        CHECK(text == c.want);
        CHECK(out.requeue == c.requeue);
        CHECK(out.avoid_site == c.requeue);
        CHECK(out.free_job == c.free_job);
        CHECK(out.failed == c.failed);
    }
    const double rates[] = {0, 0, 0.5, 2.0 / 3, 0.75};
    for (size_t k = 0; k < 5; k++)
        CHECK(co_failure_rate(k) == Approx(rates[k]).epsilon(1e-15));
    CHECK_FALSE(co_runner_dead(40, 100, 60));
    CHECK(co_runner_dead(39, 100, 60));
}

// ---- states ----

namespace
{

std::string step(co_flow_state state, co_flow_event event,
                 void (*change)(co_flow_in &) = nullptr)
{
    co_flow_in in{};
    co_flow_out out{};
    error err{};

    in.state = state;
    in.event = event;
    in.now_s = 1000;
    in.max_tries = SIZE_MAX;
    in.ftt_s = 400;
    in.jct_s = 1300;
    in.jst_s = 1400;
    in.next_jct_s = 1375;
    in.max_run_time_s = NAN;
    in.l = 0.75;
    in.l_decrement = 0.25;
    in.atomic = true;
    if (change)
        change(in);
    if (co_flow_step(&in, &out, &err) != OK)
        return "refused";
    std::string text = std::string(co_flow_state_names[out.next]) + ":";
    for (size_t i = 0; i < out.action_count; i++) {
        text += std::string(" ") + co_flow_action_names[out.actions[i].what];
        if (!std::isnan(out.actions[i].at_s))
            text += "@" + std::to_string(std::lround(out.actions[i].at_s));
    }
    if (out.l != in.l)
        text += " L" + std::to_string(std::lround(100 * out.l));
    return text;
}

} // namespace

TEST_CASE("the rows of coallocation.md 11", "[coallocation]")
{
    CHECK(step(CO_SUBMITTED, CO_EVENT_ACCEPTED) == "in_placement_queue: enqueue");
    CHECK(step(CO_IN_PLACEMENT_QUEUE, CO_EVENT_PLACED) ==
          "claim_wait: start_transfers set_timer@1300");
    CHECK(step(CO_IN_PLACEMENT_QUEUE, CO_EVENT_PLACED,
               [](co_flow_in &in) { in.ftt_s = 0; }) == "claim_wait: set_timer@1000");
    CHECK(step(CO_IN_PLACEMENT_QUEUE, CO_EVENT_PLACEMENT_FAILED) ==
          "in_placement_queue: wait_next_scan");
    CHECK(step(CO_IN_PLACEMENT_QUEUE, CO_EVENT_PLACEMENT_FAILED, [](co_flow_in &in) {
              in.tries = in.max_tries = 3;
          }) == "in_placement_queue: wait_next_scan");
    CHECK(step(CO_IN_PLACEMENT_QUEUE, CO_EVENT_PLACEMENT_FAILED, [](co_flow_in &in) {
              in.tries = 4;
              in.max_tries = 3;
          }) == "failed: report");
    CHECK(step(CO_CLAIM_WAIT, CO_EVENT_JCT_REACHED) == "claiming: call_claim");
    CHECK(step(CO_CLAIMING, CO_EVENT_START_ALL) ==
          "launching: send_components barrier@1400");
    CHECK(step(CO_CLAIMING, CO_EVENT_START_PARTIAL) ==
          "claim_wait: send_components set_timer@1375");
    CHECK(step(CO_CLAIMING, CO_EVENT_START_PARTIAL, [](co_flow_in &in) {
              in.atomic = false;
              in.now_s = 1400;
          }) == "launching: send_components barrier@1400 lower_l enqueue L50");
    CHECK(step(CO_CLAIMING, CO_EVENT_WAIT) == "claim_wait: set_timer@1375");
    CHECK(step(CO_CLAIMING, CO_EVENT_REQUEUE_PLACEMENT) ==
          "in_placement_queue: abort_started lower_l enqueue L50");
    CHECK(step(CO_CLAIMING, CO_EVENT_CLAIM_FAIL) == "failed: abort_started report");
    CHECK(step(CO_LAUNCHING, CO_EVENT_COMPONENTS_STARTED) == "running:");
    CHECK(step(CO_LAUNCHING, CO_EVENT_COMPONENTS_STARTED, [](co_flow_in &in) {
              in.max_run_time_s = 900;
          }) == "running: set_timer@1900");
    CHECK(step(CO_RUNNING, CO_EVENT_SOFT_ERROR) ==
          "in_placement_queue: abort_job free_processors enqueue");
    CHECK(step(CO_RUNNING, CO_EVENT_SOFT_ERROR, [](co_flow_in &in) {
              in.handles_soft = true;
          }) == "running: component_retry_by_runner");
    CHECK(step(CO_LAUNCHING, CO_EVENT_SOFT_ERROR, [](co_flow_in &in) {
              in.atomic = false;
          }) == "launching: replace_components");
    CHECK(step(CO_RUNNING, CO_EVENT_APPLICATION_ERROR) ==
          "failed: abort_job_and_runner free_processors report");
    CHECK(step(CO_RUNNING, CO_EVENT_APPLICATION_ERROR, [](co_flow_in &in) {
              in.handles_application = true;
          }) == "running: pass_through");
    CHECK(step(CO_RUNNING, CO_EVENT_RUNTIME_EXCEEDED) ==
          "failed: abort_job free_processors report");
    CHECK(step(CO_CLAIM_WAIT, CO_EVENT_PREEMPTED) ==
          "in_placement_queue: stop_components free_processors enqueue");
    CHECK(step(CO_RUNNING, CO_EVENT_ALL_COMPONENTS_DONE) ==
          "finished: stage_out post_phase");
    CHECK(step(CO_SUBMITTED, CO_EVENT_HARD_ERROR) ==
          "failed: notify_runner abort_job_and_runner free_processors report");
    CHECK(step(CO_CLAIMING, CO_EVENT_RUNNER_DEAD) ==
          "failed: abort_job free_processors report");
}

TEST_CASE("an event happens only where it can", "[coallocation][property]")
{
    size_t possible = 0;
    for (int s = 0; s < CO_FLOW_STATE_COUNT; s++)
        for (int e = 0; e < CO_FLOW_EVENT_COUNT; e++) {
            auto state = static_cast<co_flow_state>(s);
            auto event = static_cast<co_flow_event>(e);
            bool can = co_flow_possible(state, event);
            CHECK((step(state, event) == "refused") == !can);
            possible += can;
            if (state == CO_FINISHED || state == CO_FAILED)
                CHECK_FALSE(can); // nothing happens to what is over
        }
    CHECK(possible == 3 + 1 + 5 + 1 + 4 + 1 + 3 + 1 + 12);
}

// ---- launch plans ----

namespace
{

struct launch {
    test_arena a;
    std::vector<co_launch_component> components;
    co_launch_in in{};
    co_launch_plan plan{};
    error err = collecting_error(a);

    explicit launch(const char *runner)
    {
        components = {{"c0", 16, "A", 360, nullptr, 0},
                      {"c1", 8, "B", 360, nullptr, 0},
                      {"c2", 16, "A", 360, nullptr, 0}};
        in.runner = co_runner_find(runner);
        REQUIRE(in.runner);
        in.jst_s = 460;
        in.stages_files = true;
    }
    error_code run()
    {
        in.components = components.data();
        in.component_count = components.size();
        return co_plan_launch(&in, &plan, a, &err);
    }
    std::string order() const
    {
        std::string text;
        for (size_t i = 0; i < components.size(); i++)
            text += components[plan.order[i]].id;
        return text;
    }
    static std::string steps(const char *const *list, size_t count)
    {
        std::string text;
        for (size_t i = 0; i < count; i++)
            text += std::string(list[i]) + " ";
        return text;
    }
};

} // namespace

TEST_CASE("launch plans of the runners, coallocation.md 13", "[coallocation]")
{
    launch d("DRunner");
    REQUIRE(d.run() == OK);
    CHECK(d.plan.rule == CO_ORDER_SIMULTANEOUS);
    CHECK(d.order() == "c0c2c1");
    CHECK(d.plan.barrier);
    CHECK(d.plan.launch_at_s == 460);
    CHECK_FALSE(d.plan.has_nameserver);
    CHECK(launch::steps(d.plan.pre_phase, d.plan.pre_phase_count) ==
          "create_sandbox stage_in ");
    CHECK(launch::steps(d.plan.post_phase, d.plan.post_phase_count) ==
          "stage_out cleanup ");

    launch k("KRunner");
    k.in.stages_files = false;
    REQUIRE(k.run() == OK);
    CHECK(k.plan.rule == CO_ORDER_ANY);
    CHECK_FALSE(k.plan.barrier);
    CHECK(k.plan.pre_phase_count == 1);
    CHECK_FALSE(co_runner_find("XRunner"));
}

TEST_CASE("nameservers: the least used, or one of its own", "[coallocation]")
{
    const co_nameserver pool[] = {{"n2", "B", 1}, {"n1", "C", 1}, {"n0", "A", 5}};
    launch i("IRunner");
    i.in.nameservers = pool;
    i.in.nameserver_count = 3;
    i.in.pooled = true;
    REQUIRE(i.run() == OK);
    CHECK(i.plan.nameserver == 1);
    CHECK(i.plan.nameserver_pooled);
    CHECK(std::string(i.plan.nameserver_site_id) == "C");
    i.in.nameserver_count = 0;
    REQUIRE(i.run() == OK);
    CHECK_FALSE(i.plan.nameserver_pooled);
    CHECK(std::string(i.plan.nameserver_site_id) == "A");
    CHECK(launch::steps(i.plan.pre_phase, i.plan.pre_phase_count) ==
          "create_sandbox stage_in start_nameserver ");
    i.in.nameserver_count = 3;
    i.in.pooled = false;
    REQUIRE(i.run() == OK);
    CHECK(i.plan.nameserver == CO_LAUNCH_NONE);
}

TEST_CASE("workflows start in topological order, circles are refused", "[coallocation]")
{
    const size_t second[] = {1}, zeroth[] = {0};
    launch w("KRunner");
    w.components[0].after = second; // c0 after c1
    w.components[0].after_count = 1;
    REQUIRE(w.run() == OK);
    CHECK(w.plan.rule == CO_ORDER_TOPOLOGICAL);
    CHECK(w.order() == "c2c1c0");
    w.components[1].after = zeroth;
    w.components[1].after_count = 1;
    CHECK(w.run() == ERR_INVALID);
    CHECK(std::string(w.err.first->pointer) == "/components/0/after");
}

TEST_CASE("launches of a site go in groups", "[coallocation]")
{
    launch k("KRunner");
    k.in.max_launches_per_site = 1;
    REQUIRE(k.run() == OK);
    CHECK(k.plan.wave[0] == 0);
    CHECK(k.plan.wave[1] == 0);
    CHECK(k.plan.wave[2] == 1); // behind c0, at A too
}

TEST_CASE("topological orders of random graphs", "[coallocation][property]")
{
    std::mt19937_64 random(5);
    for (int round = 0; round < 100; round++) {
        size_t count = random() % 30 + 1;
        std::vector<std::vector<size_t>> after(count);
        std::vector<std::string> ids;
        launch w("BoT");
        w.components.clear();
        for (size_t i = 0; i < count; i++) {
            ids.push_back("t" + std::to_string(i));
            for (size_t k = 0; k < i; k++)
                if (random() % 5 == 0)
                    after[i].push_back(k);
        }
        for (size_t i = 0; i < count; i++)
            w.components.push_back({ids[i].c_str(), random() % 9 + 1, "A", 0,
                                    after[i].data(), after[i].size()});
        REQUIRE(w.run() == OK);
        std::vector<size_t> position(count);
        for (size_t i = 0; i < count; i++)
            position[w.plan.order[i]] = i;
        for (size_t i = 0; i < count; i++)
            for (size_t k : after[i])
                CHECK(position[k] < position[i]);
    }
}
