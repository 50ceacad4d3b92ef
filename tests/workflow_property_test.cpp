// What holds for every static policy of workflows on random graphs.
#include "tests/workflow_support.hpp"

#include <algorithm>
#include <functional>

using namespace flows;

namespace
{

enum shape { LAYERED, FORK_JOIN, CHAINS, RANDOM, SHAPES };

struct drawn {
    rng r;

    double between(double low, double high)
    {
        return low + (high - low) * rng_uniform(&r);
    }
    size_t index(size_t count)
    {
        return rng_index(&r, count);
    }
    bool chance(double ratio)
    {
        return rng_uniform(&r) < ratio;
    }
};

drawn draw_from(uint64_t seed)
{
    return {rng_stream(seed, "workflow tests")};
}

// May task i depend on the earlier task j?
bool linked(drawn &d, shape s, size_t n, size_t j, size_t i)
{
    switch (s) {
    case LAYERED:
        return i / 4 == j / 4 + 1 && d.chance(0.5);
    case FORK_JOIN:
        return j == 0 || i == n - 1;
    case CHAINS:
        return j + 3 == i;
    default:
        return d.chance(0.2);
    }
}

void add_edges(drawn &d, request &r, shape s, bool bytes)
{
    auto &tasks = r.tasks();

    for (size_t i = 1; i < tasks.size(); i++) {
        for (size_t j = 0; j < i; j++) {
            if (!linked(d, s, tasks.size(), j, i))
                continue;
            if (bytes)
                tasks[i].parents.push_back({j, none, std::floor(d.between(0, 3)) * 1e8});
            else
                tasks[i].parents.push_back({j, d.between(0, 10), none});
        }
    }
}

// Times by matrix (with holes) or by speed, transfers by seconds or by bytes and sites.
request draw(uint64_t seed, size_t n, size_t processors)
{
    drawn d = draw_from(seed);
    request r;
    bool bytes = d.chance(0.5), matrix = d.chance(0.5);
    static const char *const sites[] = {"s0", "s1", "s2"};

    for (size_t p = 0; p < processors; p++)
        r.add_resource(d.between(0.5, 3), bytes ? sites[d.index(3)] : nullptr);
    r.grid.network.wan_mbps = 1000;
    r.grid.network.wan_latency_s = 0.1;
    r.grid.network.lan_mbps = 10000;
    if (bytes)
        r.routes.push_back({"s0", "s1", 400, 0.01});
    for (size_t i = 0; i < n; i++) {
        task &t = r.add_task("t" + std::to_string(i), d.between(0, 20));

        for (size_t p = 0; matrix && p < processors; p++)
            t.etc_s.push_back(p && d.chance(0.1) ? none : d.between(0, 20));
    }
    add_edges(d, r, (shape)d.index(SHAPES), bytes);
    return r;
}

// Windows, releases, busy and failed resources, tasks that have begun or failed.
void complicate(uint64_t seed, request &r)
{
    drawn d = draw_from(seed + 1000);
    auto &tasks = r.tasks();

    for (resource &x : r.resources)
        x.ready_s = d.chance(0.3) ? d.between(0, 20) : 0;
    if (r.resources.size() > 2)
        r.resources.back().failed = d.chance(0.5);
    r.windows.push_back({r.resources[0].id, 5, 40});
    r.windows.push_back({r.resources[0].id, 50, none});
    r.files.clear();
    for (size_t i = 0; i < tasks.size(); i++) {
        workflow_task &t = tasks[i].given;

        t.release_s = d.chance(0.2) ? d.between(0, 30) : 0;
        t.resource_id = r.resources[d.index(r.resources.size())].id;
        t.status = WORKFLOW_IDLE;
        if (i < tasks.size() / 4) {
            t.status = d.chance(0.7) ? WORKFLOW_DONE : WORKFLOW_RUNNING;
            t.progress_pct = 50;
            if (t.status == WORKFLOW_DONE)
                t.finish_s = -d.between(0, 10);
        } else if (d.chance(0.2)) {
            t.status = WORKFLOW_FAILED;
            t.checkpoint_work_ref_s = t.estimate_ref_s / 2;
            t.checkpoint_bytes = 1e8;
        } else if (d.chance(0.1)) {
            t.status = WORKFLOW_STAGING;
            t.transfer_remaining_s = d.between(0, 5);
        }
    }
}

void same(const decision &a, const decision &b, double factor)
{
    REQUIRE(a.schedule.size() == b.schedule.size());
    for (size_t i = 0; i < a.schedule.size(); i++) {
        CHECK(a.schedule[i].task == b.schedule[i].task);
        CHECK(a.schedule[i].resource == b.schedule[i].resource);
        if (!std::isnan(a.schedule[i].start_s))
            CHECK(a.schedule[i].start_s * factor == b.schedule[i].start_s);
    }
    CHECK(a.objective.makespan_s * factor == b.objective.makespan_s);
}

void check_all(request &r)
{
    for (const struct policy *p = workflow_policies; p->name; p++) {
        decision d = decide(r, p->name);
        test_arena a;
        workflow_check_out c = check(r, d.schedule, a);

        INFO(p->name);
        for (const refused &u : d.unplaced)
            CHECK(u.reason != "");
        if (d.unplaced.empty()) {
            if (c.violation_count)
                INFO(c.violations[0].kind << " " << c.violations[0].task_id << " "
                                          << c.violations[0].by_s);
            CHECK(c.valid);
            CHECK(c.objective.makespan_s ==
                  Approx(d.objective.makespan_s).epsilon(1e-12));
            CHECK(c.repaired_makespan_s <= d.objective.makespan_s * (1 + 1e-12));
            CHECK(d.objective.lower_bound_s <= d.objective.makespan_s);
            CHECK(c.repaired_makespan_s >= d.objective.lower_bound_s * (1 - 1e-12));
        }
        CHECK((d.objective.gap_ratio >= 0 || std::isnan(d.objective.gap_ratio)));
        same(d, decide(r, p->name), 1);
    }
}

} // namespace

TEST_CASE("every policy's schedule keeps all rules", "[workflow][property]")
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        request r = draw(seed, 1 + seed % 30, 1 + seed % 5);

        INFO("seed " << seed);
        check_all(r);
    }
}

TEST_CASE("schedules go around what is taken, closed or not yet released",
          "[workflow][property]")
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        request r = draw(seed, 1 + seed % 30, 1 + seed % 5);

        INFO("seed " << seed);
        complicate(seed, r);
        check_all(r);
    }
}

TEST_CASE("tasks that get their resources in turn keep all rules", "[workflow][property]")
{
    budget spent = make_budget([](void *) { return 1.0; }, nullptr);
    size_t complete = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        request r = draw(seed, 1 + seed % 30, 1 + seed % 5);

        INFO("seed " << seed);
        if (seed % 2)
            complicate(seed, r);
        for (const char *policy : {"heft", "cpop", "peft"}) {
            decision d = decide(r, policy, false, &spent);
            test_arena a;
            r.in.budget = nullptr;
            workflow_check_out c = check(r, d.schedule, a);

            INFO(policy);
            for (const refused &u : d.unplaced)
                CHECK(u.reason != "");
            if (!d.unplaced.empty())
                continue;
            complete++;
            CHECK(c.valid);
            CHECK(c.objective.makespan_s ==
                  Approx(d.objective.makespan_s).epsilon(1e-12));
        }
    }
    CHECK(complete > 60); // of 180
}

TEST_CASE("all times twice as long: the schedule too", "[workflow][property]")
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        request r = draw(seed, 1 + seed % 30, 1 + seed % 5);
        request twice;

        INFO("seed " << seed);
        r.grid.network.wan_latency_s = 0;
        for (auto &route : r.routes)
            route.latency_s = 0;
        twice = r;
        for (task &t : twice.tasks()) {
            t.given.estimate_ref_s *= 2;
            for (double &time_s : t.etc_s)
                time_s *= 2;
            for (dependency &e : t.parents) {
                e.transfer_s *= 2;
                e.bytes *= 2;
            }
        }
        for (const struct policy *p = workflow_policies; p->name; p++) {
            if (std::strcmp(p->name, "cpop") == 0)
                continue; // cpop's ties are within 1e-9, whatever the scale
            INFO(p->name);
            same(decide(r, p->name), decide(twice, p->name), 2);
        }
    }
}

namespace
{

// Least makespan over all orders and places, each task behind those before it: one of
// these schedules is optimal, for no task gains by waiting.
struct brute_force {
    const workflow_problem *problem;
    workflow_plan *plan;
    std::vector<double> free_s;
    std::vector<bool> done;
    double best_s = HUGE_VAL;

    bool ready(size_t task) const
    {
        for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
             e++)
            if (!done[problem->edges[e].parent])
                return false;
        return !done[task];
    }
    void descend(size_t depth, double makespan_s)
    {
        if (makespan_s >= best_s)
            return;
        if (depth == problem->task_count) {
            best_s = makespan_s;
            return;
        }
        for (size_t i = 0; i < problem->task_count; i++)
            for (size_t p = 0; ready(i) && p < problem->processor_count; p++)
                try_place(depth, makespan_s, i, p);
    }
    void try_place(size_t depth, double makespan_s, size_t i, size_t p)
    {
        double time_s = workflow_time_s(problem, i, p), before_s = free_s[p];
        double ready_s = std::max(time_s > 0 ? before_s : 0,
                                  workflow_plan_ready_s(problem, plan, i, p));

        if (!(ready_s + time_s < HUGE_VAL))
            return;
        done[i] = true;
        if (time_s > 0)
            free_s[p] = ready_s + time_s;
        workflow_plan_set(problem, plan, i, p, ready_s, ready_s + time_s);
        descend(depth + 1, std::max(makespan_s, ready_s + time_s));
        plan->processor[i] = WORKFLOW_NONE;
        free_s[p] = before_s;
        done[i] = false;
    }
};

double optimum_s(request &r)
{
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    workflow_plan plan{};

    REQUIRE(workflow_problem_make(r.build(), false, &problem, a, &err) == OK);
    REQUIRE(workflow_plan_make(problem, &plan, a) == OK);
    brute_force b{problem, &plan, std::vector<double>(problem->processor_count, 0.0),
                  std::vector<bool>(problem->task_count, false), HUGE_VAL};
    b.descend(0, 0);
    return b.best_s;
}

} // namespace

TEST_CASE("bound <= optimum <= every policy on tiny graphs", "[workflow][property]")
{
    size_t proven = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        request r = draw(seed, 1 + seed % 5, 1 + seed % 3);
        double best_s = optimum_s(r);

        INFO("seed " << seed);
        for (const struct policy *p = workflow_policies; p->name; p++) {
            decision d = decide(r, p->name);

            INFO(p->name);
            if (!d.unplaced.empty())
                continue;
            CHECK(d.objective.makespan_s >= best_s * (1 - 1e-12));
            CHECK(d.objective.lower_bound_s <= best_s * (1 + 1e-9));
            if (d.status == DECISION_OPTIMAL)
                CHECK(d.objective.makespan_s == Approx(best_s).epsilon(1e-9));
            proven += d.status == DECISION_OPTIMAL;
        }
    }
    CHECK(proven > 20);
}

TEST_CASE("hostile sizes and numbers end in an answer or a mistake",
          "[workflow][property]")
{
    const double numbers[] = {0,     1e-308, 1e-9,     1,     1e99,
                              1e200, 1e308,  HUGE_VAL, -1e-9, none};
    drawn d = draw_from(7);

    for (size_t k = 0; k < 300; k++) {
        request r = draw(k, 6, 3);
        auto any = [&] { return numbers[d.index(10)]; };
        task &t = r.tasks()[d.index(6)];
        test_arena a;
        error err = collecting_error(a);
        workflow_out out{};

        t.given.estimate_ref_s = any();
        t.given.release_s = d.chance(0.5) ? 0 : any();
        t.given.output_bytes = d.chance(0.5) ? 0 : any();
        t.given.input_bytes = d.chance(0.5) ? 0 : any();
        t.given.checkpoint_work_ref_s = any();
        for (double &time_s : t.etc_s)
            time_s = any();
        for (dependency &e : t.parents)
            e = {e.parent, any(), any()};
        for (const struct policy *p = workflow_policies; p->name; p++) {
            named_value steps = {"max_steps", VALUE_NUMBER, 100, nullptr};
            bool searches = std::strcmp(p->name, "search") == 0;
            enum error_code code =
                workflow_decide(r.build(), p, &steps, searches ? 1 : 0, &out, a, &err);

            INFO(k << " " << p->name << " " << err.field << " " << err.text);
            REQUIRE((code == OK || code == ERR_INVALID));
            if (code != OK)
                break;
            CHECK(out.schedule_count + out.unplaced_count == 6);
            CHECK(std::isfinite(out.objective.makespan_s));
            CHECK(!std::isnan(out.objective.lower_bound_s));
        }
    }
}

TEST_CASE("as memory runs out, a policy refuses", "[workflow][property][memory]")
{
    request r = draw(11, 20, 3);
    const workflow_in *in = r.build();

    for (const struct policy *p = workflow_policies; p->name; p++) {
        enum error_code code = ERR_TOO_LARGE;
        size_t tries = 0;
        named_value steps = {"max_steps", VALUE_NUMBER, 100, nullptr};
        bool searches = std::strcmp(p->name, "search") == 0;

        INFO(p->name);
        for (size_t cap = 0; code != OK && tries < 5000; cap += 64 + cap / 32, tries++) {
            test_arena a(cap);
            error err{};
            workflow_out out{};

            code = computed(a, &err, [&] {
                return workflow_decide(in, p, &steps, searches ? 1 : 0, &out, a, &err);
            });
            REQUIRE((code == OK || code == ERR_TOO_LARGE));
        }
        CHECK(code == OK);
        CHECK(tries > 10);
    }
}
