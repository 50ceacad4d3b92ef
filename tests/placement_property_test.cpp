// placement_property_test.cpp - what every placement policy keeps, on random requests.
#include "tests/placement_support.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace
{

struct style {
    bool matrix, files, capacity, slots, releases, requirements, identical;
};

double some(rng &r, double low, double high)
{
    return low + (high - low) * rng_uniform(&r);
}

void random_hosts(world &w, rng &r, const style &s, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        std::string site =
            s.files ? std::string(1, static_cast<char>('A' + rng_index(&r, 3))) : "";
        resource &h = w.host("r" + std::to_string(i),
                             rng_index(&r, 12) ? some(r, 0.5, 4) : 0, site);
        if (s.slots)
            h.n_max = static_cast<double>(rng_index(&r, 4));
        if (s.slots && rng_index(&r, 3) == 0)
            w.busy(h, {some(r, 0, 50), NAN, some(r, 0, 50)});
        if (s.slots && rng_index(&r, 5) == 0)
            h.ready_s = some(r, 0, 20);
        if (s.capacity && rng_index(&r, 4)) {
            h.cpus = 1 + static_cast<double>(rng_index(&r, 6));
            h.memory_bytes = some(r, 5, 40);
        }
        w.attributes(h, {{"score", VALUE_NUMBER, some(r, 0, 10), nullptr},
                         {"arch", VALUE_TEXT, 0, rng_index(&r, 2) ? "i686" : "alpha"}});
    }
}

void random_jobs(world &w, rng &r, const style &s, size_t count)
{
    static const char *const requirements[] = {nullptr, "score > 3", "arch == \"alpha\"",
                                               "execution_s < 40",
                                               "nothing > 1 || score < 8"};
    for (size_t i = 0; i < count; i++) {
        std::vector<std::string> input;
        if (s.files)
            for (size_t k = rng_index(&r, 3); k > 0; k--)
                input.push_back("f" + std::to_string(rng_index(&r, w.files.size())));
        std::vector<double> times(w.resources.size());
        for (double &t : times)
            t = rng_index(&r, 8) ? some(r, 1, 60) : NAN;
        job &j = s.matrix && rng_index(&r, 10)
                     ? w.row("j" + std::to_string(i), times)
                     : w.task("j" + std::to_string(i), s.identical ? 10 : some(r, 0, 60),
                              input);
        if (s.capacity) {
            j.cpus = some(r, 0, 5);
            j.memory_bytes = some(r, 0, 30);
        }
        if (s.releases && rng_index(&r, 3) == 0)
            j.release_s = some(r, 0, 40);
        if (s.requirements)
            j.requirement = requirements[rng_index(&r, 5)];
        if (s.files && rng_index(&r, 4) == 0)
            j.output_bytes = 1e6;
        j.deadline_s = rng_index(&r, 2) ? some(r, 0, 100) : NAN;
        j.user = rng_index(&r, 2) ? "alice" : "bob";
    }
}

void random_request(world &w, uint64_t seed, const style &s, size_t hosts, size_t jobs)
{
    rng r = rng_create(seed);
    if (s.files) {
        w.snap.home_site_id = "H";
        w.route("H", "A", 8);
        w.route("B", "H", 4, 0.5);
        if (rng_index(&r, 2))
            w.snap.network.wan_mbps = 2;
        for (int i = 0; i < 4; i++)
            w.data("f" + std::to_string(i), some(r, 0, 3e7),
                   {rng_index(&r, 4) ? "H" : "B"}, rng_index(&r, 4) != 0);
    }
    random_hosts(w, r, s, hosts);
    random_jobs(w, r, s, jobs);
}

const style styles[] = {
    {},
    {true, false, false, false, false, false, false},
    {false, true, false, false, false, false, false},
    {false, false, true, false, false, false, false},
    {false, false, false, true, true, false, false},
    {false, false, false, false, false, true, false},
    {true, true, true, true, true, true, false},
    {false, true, true, true, true, true, false},
    {false, false, false, false, false, false, true},
    {false, false, false, true, false, true, true},
};

const resource &host_of(const world &w, const placement &x)
{
    for (auto &h : w.resources)
        if (std::string(h.id) == x.resource_id)
            return h;
    FAIL("unknown resource");
    return w.resources[0];
}

const job &job_of(const world &w, const placement &x)
{
    for (auto &j : w.jobs)
        if (std::string(j.id) == x.job_id)
            return j;
    FAIL("unknown job");
    return w.jobs[0];
}

double done_s(const placement &x)
{
    return x.start_s + x.stage_in_s + x.run_time_s;
}

void check_slots(const world &w, const placement_out &out)
{
    for (size_t i = 0; i < out.placement_count; i++) {
        const placement &x = out.placements[i];
        const resource &h = host_of(w, x);
        const job &j = job_of(w, x);
        size_t index = static_cast<size_t>(&h - w.resources.data());
        double time_s = j.etc_count ? j.etc_s[index] : j.estimate_ref_s / h.mips_total;
        CHECK(x.run_time_s == Approx(time_s).epsilon(1e-12).margin(1e-300));
        CHECK(std::isfinite(x.finish_s));
        CHECK(x.finish_s >= done_s(x) * (1 - 1e-12));
        CHECK(x.start_s >= std::max(j.release_s, h.ready_s));
        if (std::isfinite(h.n_max) || !std::isfinite(h.cpus))
            CHECK(x.slot < resource_slots(&h));
        CHECK(!(j.cpus > h.cpus));
        CHECK(!(j.memory_bytes > h.memory_bytes));
        for (size_t k = 0; k < i; k++) {
            const placement &y = out.placements[k];
            CHECK(std::string(x.job_id) != y.job_id);
            if (std::string(x.resource_id) == y.resource_id && x.slot == y.slot)
                CHECK((x.start_s >= done_s(y) * (1 - 1e-12) ||
                       y.start_s >= done_s(x) * (1 - 1e-12)));
        }
    }
}

void check_capacity(const world &w, const placement_out &out)
{
    for (size_t i = 0; i < out.placement_count; i++) {
        const placement &x = out.placements[i];
        const resource &h = host_of(w, x);
        double cpus = 0, memory = 0;
        for (size_t k = 0; k < out.placement_count; k++) {
            const placement &y = out.placements[k];
            if (std::string(x.resource_id) != y.resource_id)
                continue;
            if (y.start_s <= x.start_s &&
                (done_s(y) > x.start_s * (1 + 1e-12) || k == i)) {
                cpus += job_of(w, y).cpus;
                memory += job_of(w, y).memory_bytes;
            }
        }
        CHECK(!(cpus > h.cpus * (1 + 1e-9)));
        CHECK(!(memory > h.memory_bytes * (1 + 1e-9)));
    }
}

void check_numbers(const world &w, const placement_out &out)
{
    double makespan_s = 0, flow_s = 0;
    for (size_t i = 0; i < out.placement_count; i++) {
        makespan_s = std::max(makespan_s, out.placements[i].finish_s);
        flow_s += out.placements[i].finish_s;
    }
    CHECK(out.objective.makespan_s == makespan_s);
    CHECK(out.objective.flow_time_s == Approx(flow_s).epsilon(1e-12).margin(1e-300));
    CHECK(std::isfinite(makespan_s));
    CHECK(out.objective.lower_bound_s <= makespan_s);
    CHECK((out.objective.gap_ratio >= 0 || out.objective.lower_bound_s == 0));
    CHECK(out.objective.utilisation_ratio <= 1);
    for (size_t i = 0; i < out.load_count; i++)
        CHECK(out.loads[i].utilisation_ratio <= 1);
    CHECK(out.placement_count + out.unplaced_count == w.jobs.size());
    for (size_t i = 0; i < out.unplaced_count; i++) {
        CHECK(out.unplaced[i].reason_count > 0);
        CHECK(out.unplaced[i].considered_count == w.resources.size());
    }
    if (out.status == DECISION_OPTIMAL)
        CHECK(out.unplaced_count == 0);
    size_t loads = 0;
    for (size_t i = 0; i < out.load_count; i++)
        loads += out.loads[i].job_count;
    CHECK(loads == out.placement_count);
}

std::string everything(const placement_out &out)
{
    std::string s = plan_text(out);
    for (size_t i = 0; i < out.placement_count; i++) {
        const placement &x = out.placements[i];
        char line[200];
        snprintf(line, sizeof(line), " %zu %a %a %a %a", static_cast<size_t>(x.slot),
                 x.start_s, x.stage_in_s, x.run_time_s, x.bytes_moved);
        s += line;
    }
    char line[200];
    snprintf(line, sizeof(line), "%a %a %d %zu", out.objective.makespan_s,
             out.objective.lower_bound_s, static_cast<int>(out.status),
             out.unplaced_count);
    return s + line;
}

// Runs the policy; false where identical_optimum says that it does not apply.
bool runs(world &w, const std::string &policy, placement_out &out, arena *a,
          const std::vector<named_value> &options = {})
{
    error err = collecting_error(a);
    error_code code = decide(w, policy, out, a, err, options);
    INFO(policy << ": " << err.field << " " << err.text);
    if (policy == "identical_optimum" && code == ERR_INVALID) {
        CHECK(std::string(err.field) == "/algorithm");
        return false;
    }
    REQUIRE(code == OK);
    return true;
}

// Least makespan over all assignments and orders with which mct-like decoding could
// start, by trying every order of jobs and every place.
double brute_force_s(const world &w, std::vector<std::vector<double>> time_s,
                     std::vector<double> free_s)
{
    double best_s = HUGE_VAL;
    std::vector<size_t> place(time_s.size(), 0);
    for (;;) {
        std::vector<double> load = free_s;
        double makespan_s = 0;
        for (size_t i = 0; i < place.size(); i++)
            makespan_s = std::max(makespan_s, load[place[i]] += time_s[i][place[i]]);
        best_s = std::min(best_s, makespan_s);
        size_t i = 0;
        while (i < place.size() && ++place[i] == w.resources.size())
            place[i++] = 0;
        if (i == place.size())
            return best_s;
    }
}

} // namespace

TEST_CASE("every placement policy keeps slots, capacity, eligibility and bound",
          "[placement][property]")
{
    for (auto &policy : policy_names())
        for (auto &s : styles)
            for (uint64_t seed = 1; seed <= 4; seed++) {
                world w;
                test_arena a;
                random_request(w, seed, s, 1 + seed * 3, seed * 6);
                placement_out out{}, again{};
                INFO(policy << " style " << &s - styles << " seed " << seed);
                if (!runs(w, policy, out, a,
                          policy == "search" || policy == "auto"
                              ? std::vector<named_value>{option("max_steps", 30.0)}
                              : std::vector<named_value>{}))
                    continue;
                check_slots(w, out);
                check_capacity(w, out);
                check_numbers(w, out);
                CHECK_FALSE(out.check_failed);
                test_arena b;
                runs(w, policy, again, b,
                     policy == "search" || policy == "auto"
                         ? std::vector<named_value>{option("max_steps", 30.0)}
                         : std::vector<named_value>{});
                CHECK(everything(out) == everything(again));
            }
}

TEST_CASE("every job that can run is placed by the policies that plan ahead",
          "[placement][property]")
{
    for (auto &s : styles)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            size_t want = SIZE_MAX;
            for (auto &policy : policy_names()) {
                if (policy == "gridway")
                    continue;
                world w;
                test_arena a;
                random_request(w, seed, s, 8, 15);
                placement_out out{};
                if (!runs(w, policy, out, a,
                          policy == "search" || policy == "auto"
                              ? std::vector<named_value>{option("max_steps", 5.0)}
                              : std::vector<named_value>{}))
                    continue;
                INFO(policy << " style " << &s - styles << " seed " << seed);
                if (want == SIZE_MAX)
                    want = out.placement_count;
                CHECK(out.placement_count == want);
            }
        }
}

TEST_CASE("the bound never exceeds the true optimum", "[placement][property]")
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        rng r = rng_create(seed);
        world w;
        test_arena a;
        size_t hosts = 2 + rng_index(&r, 2), jobs = 2 + rng_index(&r, 4);
        std::vector<double> free_s(hosts);
        std::vector<std::vector<double>> times;
        for (size_t i = 0; i < hosts; i++) {
            resource &h = w.host("r" + std::to_string(i), some(r, 0.5, 3));
            free_s[i] = rng_index(&r, 2) ? some(r, 0, 30) : 0;
            if (free_s[i] > 0)
                w.busy(h, {free_s[i]});
        }
        bool matrix = rng_index(&r, 2);
        for (size_t i = 0; i < jobs; i++) {
            std::vector<double> row;
            double work = some(r, 1, 60);
            for (size_t k = 0; k < hosts; k++)
                row.push_back(matrix ? some(r, 1, 60) : work / w.resources[k].mips_total);
            times.push_back(row);
            if (matrix)
                w.row("j" + std::to_string(i), row);
            else
                w.task("j" + std::to_string(i), work);
        }
        double best_s = brute_force_s(w, times, free_s);
        INFO("seed " << seed);
        placement_out out = decided(w, "search", a, {option("max_steps", 300.0)});
        CHECK(out.objective.lower_bound_s <= best_s * (1 + 1e-12));
        CHECK(out.objective.makespan_s >= best_s * (1 - 1e-12));
        CHECK(out.objective.makespan_s <= best_s * (1 + 1e-9));
        for (const char *policy : {"min_min", "max_min", "mct", "sufferage"})
            CHECK(decided(w, policy, a).objective.lower_bound_s <= best_s * (1 + 1e-12));
    }
}

TEST_CASE("related speeds give what a matrix of the same times gives",
          "[placement][property]")
{
    for (const char *policy : {"mct", "min_min", "max_min", "met", "olb", "kpb",
                               "sufferage", "sufferage_pass"})
        for (uint64_t seed = 1; seed <= 5; seed++) {
            rng r = rng_create(seed);
            world related, matrix;
            test_arena a;
            size_t hosts = 5 + rng_index(&r, 200), jobs = 5 + rng_index(&r, 100);
            for (size_t i = 0; i < hosts; i++) {
                double mips = 1 + static_cast<double>(rng_index(&r, 5));
                related.host("r" + std::to_string(i), mips);
                matrix.host("r" + std::to_string(i), mips);
            }
            for (size_t i = 0; i < jobs; i++) {
                double work = 1 + static_cast<double>(rng_index(&r, 1000));
                std::vector<double> row;
                for (auto &h : related.resources)
                    row.push_back(work / h.mips_total);
                related.task("j" + std::to_string(i), work);
                matrix.row("j" + std::to_string(i), row);
            }
            INFO(policy << " seed " << seed << " " << hosts << " x " << jobs);
            CHECK(plan_text(decided(related, policy, a)) ==
                  plan_text(decided(matrix, policy, a)));
        }
}

TEST_CASE("batch policies keep their choices where files make them look again",
          "[placement][property]")
{
    const char *needs[] = {"", "speed > 40", "speed < 70 && fast", "!fast", "speed > 95"};
    for (uint64_t seed = 1; seed <= 40; seed++)
        for (std::string policy : {"max_min", "sufferage", "xsufferage"}) {
            world w;
            test_arena a;
            rng r = rng_create(seed);
            size_t hosts = 1 + rng_index(&r, 90), tasks = 1 + rng_index(&r, 120);
            for (size_t i = 0; i < hosts; i++) {
                resource &h = w.host("r" + std::to_string(i),
                                     seed % 2 ? 1 + static_cast<double>(rng_index(&r, 4))
                                              : 1 + 9 * rng_uniform(&r),
                                     i % 2 ? "A" : "B");
                w.attributes(
                    h, {{"speed", VALUE_NUMBER, floor(100 * rng_uniform(&r)), nullptr},
                        {"fast", VALUE_BOOLEAN, i % 3 ? 1.0 : 0.0, nullptr}});
                if (seed % 3)
                    h.cpus = 1 + static_cast<double>(rng_index(&r, 5));
                if (seed % 5 > 2)
                    w.busy(h, std::vector<double>(rng_index(&r, 3), 50.0));
            }
            for (size_t i = 0; i < tasks; i++) {
                job &j = w.task("j" + std::to_string(i),
                                seed % 2 ? 1 + static_cast<double>(rng_index(&r, 6))
                                         : 1 + 99 * rng_uniform(&r));
                j.cpus = 1 + static_cast<double>(rng_index(&r, 3)) / 2;
                j.requirement = needs[rng_index(&r, 5)];
                j.release_s = rng_index(&r, 4) ? 0 : 20;
            }
            w.data("f", 1, {"A", "B"}); // already everywhere
            std::string quick = everything(decided(w, policy, a));
            const char *const name[] = {"f"};
            w.jobs[0].input_file_ids = name;
            w.jobs[0].input_file_count = 1;
            INFO(policy << " seed " << seed);
            CHECK(everything(decided(w, policy, a)) == quick);
        }
}

TEST_CASE("shared and distinct clauses count as resource by resource",
          "[placement][property]")
{
    const char *clauses[] = {"speed > 40",
                             "speed >= 40",
                             "speed < 40",
                             "40 >= speed",
                             "speed == 40",
                             "speed != 40",
                             "arch == \"x\"",
                             "arch != \"x\"",
                             "regexp(\"^x\", arch)",
                             "speed > 30 || fast",
                             "speed > 60 || speed < 20",
                             "fast",
                             "fast == 1",
                             "slots_free > 0",
                             "mips_free > 50",
                             "n_max > 2 || arch == \"y\"",
                             "isUndefined(arch)",
                             "nothing > 3",
                             "execution_s < 2",
                             "resource_id != \"r7\""};
    for (const char *dialect : {"native", "gridway"}) {
        world w;
        test_arena a;
        rng r = rng_create(3);
        for (size_t i = 0; i < 150; i++) {
            resource &h = w.host("r" + std::to_string(i), 1 + 99 * rng_uniform(&r));
            std::vector<named_value> values;
            h.n_max = static_cast<double>(rng_index(&r, 4));
            if (rng_index(&r, 5))
                values.push_back({"speed", VALUE_NUMBER,
                                  39.5 + 0.5 * static_cast<double>(rng_index(&r, 4)),
                                  nullptr});
            else if (rng_index(&r, 2))
                values.push_back({"speed", VALUE_TEXT, 0.0, "quick"});
            if (rng_index(&r, 4))
                values.push_back({"ARCH", VALUE_TEXT, 0.0, rng_index(&r, 2) ? "x" : "y"});
            if (rng_index(&r, 4))
                values.push_back({"fast", VALUE_BOOLEAN, rng_index(&r, 2) ? 1. : 0., ""});
            h.cpus = 1;
            w.attributes(h, values);
        }
        bool native = std::string(dialect) == "native";
        // The second of two looks at a value of the job, and so at each resource.
        auto add = [&](const std::string &requirement) {
            for (const char *more :
                 {"", native ? " && execution_s >= 0" : " & EXECUTION_S > 0"}) {
                job &j = w.task("j" + std::to_string(w.jobs.size()), 1e4);
                j.requirement = w.text(requirement + more);
                j.cpus = 1e6; // never placed: all reasons are told
            }
        };
        for (const char *left : clauses)
            for (const char *right : clauses)
                if (native)
                    add(std::string(left) + " && (" + right + ")");
        if (!native)
            for (const char *text : {"SPEED > 39", "SPEED = 39 & SPEED < 40",
                                     "!(SPEED > 39)", "ARCH = \"x*\" & SPEED > 39"})
                add(text);
        placement_out out = decided(w, "mct", a, {option("dialect", dialect)});
        REQUIRE(out.unplaced_count == w.jobs.size());
        for (size_t i = 0; i < w.jobs.size(); i += 2) {
            INFO(w.jobs[i].requirement);
            uint64_t all = 0;
            for (const char *name : {"too_small", "requirement"}) {
                const placement_reason *once = reason_of(out, w.jobs[i].id, name);
                const placement_reason *each = reason_of(out, w.jobs[i + 1].id, name);
                REQUIRE((once == nullptr) == (each == nullptr));
                if (!once)
                    continue;
                all += once->resource_count;
                CHECK(once->resource_count == each->resource_count);
                CHECK(std::string(once->detail) == each->detail);
            }
            CHECK(all == w.resources.size());
        }
    }
}

TEST_CASE("nothing to place, nowhere to place", "[placement][property]")
{
    for (auto &policy : policy_names()) {
        world w;
        test_arena a;
        placement_out out{};
        INFO(policy);
        REQUIRE(runs(w, policy, out, a));
        CHECK(out.status == DECISION_OPTIMAL);
        w.host("r");
        REQUIRE(runs(w, policy, out, a));
        CHECK(out.placement_count == 0);
        world x;
        x.task("a", 1);
        REQUIRE(runs(x, policy, out, a));
        CHECK(out.status == DECISION_INFEASIBLE);
        REQUIRE(out.unplaced_count == 1);
        CHECK(std::string(out.unplaced[0].reasons[0].reason) == "no_resource");
    }
}

TEST_CASE("extreme numbers neither crash nor leave the finite", "[placement][property]")
{
    for (auto &policy : policy_names()) {
        world w;
        test_arena a;
        w.host("huge", 1e308).n_max = 1e9;
        w.host("tiny", 1e-308).n_max = 2;
        w.host("none", 0);
        w.host("busy").job_count = 1e9;
        w.host("nothing").n_max = 0;
        w.host("small").cpus = 0;
        w.resources[3].free_at_s = w.array({1e308, NAN, -5});
        w.resources[3].free_at_count = 3;
        for (double estimate : {0.0, 1e308, 1e-308, 1e99, 1.0})
            w.task("e" + std::to_string(w.jobs.size()), estimate).deadline_s = -1e99;
        if (policy != "identical_optimum")
            w.row("etc", {1e308, HUGE_VAL, NAN, 0, 1e100, 1e-300});
        w.row("etc2", {1e99, 1e99, 1e99, 1e99, 1e99, 1e99});
        placement_out out{};
        INFO(policy);
        if (!runs(w, policy, out, a))
            continue;
        for (size_t i = 0; i < out.placement_count; i++) {
            const placement &x = out.placements[i];
            INFO(x.job_id << " " << x.resource_id);
            CHECK(std::isfinite(x.start_s + x.stage_in_s));
            CHECK((x.late_s >= 0 || std::isnan(x.finish_s) ||
                   std::string(x.job_id)[1] == 't'));
            CHECK((std::isfinite(x.finish_s) || policy == "gridway"));
        }
        CHECK(std::isfinite(out.objective.makespan_s));
        CHECK(std::isfinite(out.objective.flow_time_s));
        CHECK(std::isfinite(out.objective.lower_bound_s));
        CHECK(out.objective.lower_bound_s <= out.objective.makespan_s);
    }
}

TEST_CASE("out-of-range numbers are refused, not computed with", "[placement]")
{
    world w;
    test_arena a;
    w.host("r").n_max = 1e300;
    w.host("s").cpus = -1;
    w.host("t").job_count = 0.5;
    w.task("j", 1).release_s = HUGE_VAL;
    w.task("k", 1).output_bytes = NAN;
    placement_out out{};
    error err = collecting_error(a);
    CHECK(decide(w, "mct", out, a, err) == ERR_INVALID);
    CHECK(err.item_count == 5);
}

TEST_CASE("every policy survives an arena of any size", "[placement][memory]")
{
    for (auto &policy : policy_names()) {
        bool done = false;
        INFO(policy);
        for (size_t cap = 0; !done; cap += cap / 8 + 200) {
            REQUIRE(cap < (size_t{1} << 24));
            world w;
            test_arena a(cap);
            random_request(w, 3, policy == "identical_optimum" ? styles[8] : styles[7], 6,
                           10);
            for (resource &h : w.resources)
                if (policy == "identical_optimum")
                    h.job_count = 0;
            const struct policy *p = policy_find(placement_policies, policy.c_str());
            named_value steps = option("max_steps", 3.0);
            bool takes_steps = policy == "search" || policy == "auto";
            placement_out out{};
            error err = collecting_error(a);
            error_code code = computed(a, &err, [&] {
                return placement_decide(w.request(), p, &steps, takes_steps, &out, a,
                                        &err);
            });
            REQUIRE((code == OK || code == ERR_TOO_LARGE));
            if (code != OK)
                CHECK(out.placements == nullptr);
            done = code == OK;
        }
    }
}

TEST_CASE("when the time is up the rest is placed by mct, or left", "[placement]")
{
    struct clock {
        double used;
    } clock;
    for (auto &policy : policy_names()) {
        if (policy == "identical_optimum")
            continue;
        for (double used : {0.9, 1e9}) {
            if (used < 1 && (policy == "search" || policy == "auto"))
                continue; // a search goes on until all of it is used
            world w;
            test_arena a;
            random_request(w, 5, styles[0], 700, 1500);
            for (resource &h : w.resources)
                h.mips_total = std::max(h.mips_total, 0.1);
            clock.used = used;
            w.limits.context = &clock;
            w.limits.used = [](void *c) { return static_cast<struct clock *>(c)->used; };
            w.in.time_limit_given = true;
            placement_out out{};
            INFO(policy << " used " << used);
            REQUIRE(runs(w, policy, out, a));
            CHECK(out.placement_count + out.unplaced_count == 1500);
            if (policy == "gridway")
                continue;                   // leaves the rest for the next round
            if (out.status != DECISION_CUT) // done before the clock was asked
                CHECK((policy == "met" || policy == "olb" ||
                       (used < 1 && policy == "mct")));
            else if (used < 1)
                CHECK(out.placement_count == 1500);
            else {
                CHECK(out.placement_count < 1500);
                CHECK(reason_of(out, out.unplaced[0].job_id, "time_limit") != nullptr);
            }
        }
    }
}

TEST_CASE("a search is repeated by its seed and steps", "[placement]")
{
    world w;
    test_arena a;
    random_request(w, 9, styles[2], 6, 12);
    placement_out first = decided(w, "search", a, {option("max_steps", 40.0)});
    CHECK(first.steps <= 40);
    CHECK(everything(decided(w, "search", a, {option("max_steps", 40.0)})) ==
          everything(first));
    CHECK(decided(w, "search", a, {option("max_steps", 4000.0)}).objective.makespan_s <=
          first.objective.makespan_s);
    CHECK(decided(w, "search", a).objective.makespan_s <=
          decided(w, "mct", a).objective.makespan_s);
}
