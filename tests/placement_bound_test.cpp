// placement_bound_test.cpp - the lower bound where cpus and memory are short.
#include "tests/placement_support.hpp"

#include <algorithm>
#include <numeric>

namespace
{

double some(rng &r, double low, double high)
{
    return low + (high - low) * rng_uniform(&r);
}

// Something that holds a slot, cpus and memory of a host.
struct holder {
    double start_s, end_s, cpus, memory_bytes;
};

std::vector<holder> busy_now(const resource &h)
{
    std::vector<holder> v;
    double slots = static_cast<double>(resource_slots(&h));
    for (size_t k = 0; k < static_cast<size_t>(h.job_count); k++)
        v.push_back({0, h.free_at_s[k], std::isnan(h.cpus) ? 0 : h.cpus / slots,
                     std::isnan(h.memory_bytes) ? 0 : h.memory_bytes / slots});
    return v;
}

bool room_at(const resource &h, const std::vector<holder> &v, double t_s, const job &j)
{
    double cpus = j.cpus, memory = j.memory_bytes;
    size_t used = 1;
    for (auto &x : v)
        if (x.start_s <= t_s && x.end_s > t_s) {
            cpus += x.cpus;
            memory += x.memory_bytes;
            used++;
        }
    bool slots = std::isfinite(h.n_max) || !std::isfinite(h.cpus);
    return (!slots || used <= resource_slots(&h)) && !(cpus > h.cpus * (1 + 1e-9)) &&
           !(memory > h.memory_bytes * (1 + 1e-9));
}

// Earliest start at which the job has room until its end.
double start_s(const resource &h, const std::vector<holder> &v, const job &j,
               double time_s)
{
    double best_s = HUGE_VAL;
    std::vector<double> starts{h.ready_s};
    for (auto &x : v)
        starts.push_back(std::max(x.end_s, h.ready_s));
    for (double t_s : starts) {
        bool room = room_at(h, v, t_s, j);
        for (auto &x : v)
            if (x.start_s > t_s && x.start_s < t_s + time_s)
                room = room && room_at(h, v, x.start_s, j);
        if (room)
            best_s = std::min(best_s, t_s);
    }
    return best_s;
}

double execution_s(const job &j, const resource &h, size_t index)
{
    return j.etc_count ? j.etc_s[index] : j.estimate_ref_s / h.mips_total;
}

// Least makespan over all orders of jobs, each at its earliest start, on all hosts.
double least_s(const world &w, std::vector<std::vector<holder>> &on,
               std::vector<bool> &placed, double makespan_s, double best_s)
{
    bool all = true;
    if (makespan_s >= best_s)
        return best_s;
    for (size_t i = 0; i < w.jobs.size(); i++) {
        if (placed[i])
            continue;
        all = false;
        placed[i] = true;
        for (size_t k = 0; k < w.resources.size(); k++) {
            double time_s = execution_s(w.jobs[i], w.resources[k], k);
            double at_s = start_s(w.resources[k], on[k], w.jobs[i], time_s);
            if (!(at_s + time_s < HUGE_VAL))
                continue;
            on[k].push_back(
                {at_s, at_s + time_s, w.jobs[i].cpus, w.jobs[i].memory_bytes});
            best_s = least_s(w, on, placed, std::max(makespan_s, at_s + time_s), best_s);
            on[k].pop_back();
        }
        placed[i] = false;
    }
    return all ? makespan_s : best_s;
}

double brute_force_s(const world &w)
{
    std::vector<std::vector<holder>> on;
    std::vector<bool> placed(w.jobs.size());
    for (auto &h : w.resources)
        on.push_back(busy_now(h));
    return least_s(w, on, placed, 0, HUGE_VAL);
}

struct style {
    bool matrix, busy, requirements, shapes;
};

const style styles[] = {
    {false, false, false, false}, {true, false, false, false}, {false, true, false, true},
    {true, true, false, true},    {false, true, true, true},   {true, true, true, true},
};

void random_world(world &w, rng &r, const style &s, size_t hosts, size_t jobs)
{
    for (size_t i = 0; i < hosts; i++) {
        resource &h = w.host("r" + std::to_string(i), some(r, 0.5, 3));
        if (i == 0 || rng_index(&r, 8))
            h.cpus = s.shapes ? some(r, 2, 9) : 4;
        if (i == 0 || rng_index(&r, 4))
            h.memory_bytes = s.shapes ? some(r, 30, 90) : 64;
        if (rng_index(&r, 4) == 0)
            h.n_max = 1 + static_cast<double>(rng_index(&r, 4));
        if (i == 0 && !(h.n_max >= 0))
            h.n_max = 3;
        if (s.busy && rng_index(&r, 2)) {
            std::vector<double> ends(rng_index(&r, resource_slots(&h) + 1));
            for (double &end : ends)
                end = some(r, 0, 40);
            w.busy(h, ends);
        }
        if (s.busy && rng_index(&r, 4) == 0)
            h.ready_s = some(r, 0, 10);
        w.attributes(h, {{"score", VALUE_NUMBER, some(r, 0, 10), nullptr}});
    }
    for (size_t i = 0; i < jobs; i++) {
        std::vector<double> times(hosts);
        for (double &t : times)
            t = some(r, 1, 60);
        job &j = s.matrix ? w.row("j" + std::to_string(i), times)
                          : w.task("j" + std::to_string(i), some(r, 1, 60));
        j.cpus = s.shapes ? some(r, 0, 2) : static_cast<double>(rng_index(&r, 4));
        j.memory_bytes = s.shapes ? some(r, 0, 30) : 16.0 * rng_index(&r, 4);
        if (s.requirements)
            j.requirement = w.text("score > " + std::to_string(rng_index(&r, 6)) + "." +
                                   std::to_string(rng_index(&r, 100)));
    }
}

void check_bound(const placement_out &out)
{
    CHECK(std::isfinite(out.objective.lower_bound_s));
    CHECK(out.objective.lower_bound_s >= 0);
    CHECK(out.objective.lower_bound_s <= out.objective.makespan_s);
}

} // namespace

TEST_CASE("the bound counts cpus and memory", "[placement]")
{
    struct {
        const char *when;
        double cpus, memory_bytes, job_cpus, job_memory_bytes, want_s;
    } cases[] = {
        {"half of the cpus each", 4, NAN, 2, 0, 40},
        {"all of the memory each", 4, 100, 1, 100, 80},
        {"cpus are shorter than memory", 4, 100, 4, 50, 80},
        {"memory is shorter than cpus", 4, 100, 2, 75, 60},
        {"slots are shortest", 4, 100, 1, 25, 20},
        {"a need of nothing", 4, 100, 0, 0, 10}, // without n_max only amounts limit
    };
    for (bool matrix : {false, true})
        for (auto &c : cases)
            DYNAMIC_SECTION(c.when << (matrix ? ", matrix" : ""))
            {
                world w;
                test_arena a;
                resource &h = w.host("r");
                h.cpus = c.cpus;
                h.memory_bytes = c.memory_bytes;
                for (int i = 0; i < 8; i++) {
                    std::string id = "j" + std::to_string(i);
                    job &j = matrix ? w.row(id, {10}) : w.task(id, 10);
                    j.cpus = c.job_cpus;
                    j.memory_bytes = c.job_memory_bytes;
                }
                CHECK(decided(w, "mct", a).objective.lower_bound_s ==
                      Approx(c.want_s).epsilon(1e-6));
            }
}

TEST_CASE("the bound knows where a job has room, and what is held now", "[placement]")
{
    world w;
    test_arena a;
    w.host("small", 1).cpus = 4;
    w.host("large", 1).cpus = 8;
    for (int i = 0; i < 4; i++)
        w.task("j" + std::to_string(i), 10).cpus = 8;
    CHECK(decided(w, "mct", a).objective.lower_bound_s == Approx(40).epsilon(1e-3));
    // Half of the cpus for 10 s: as much as the whole for 5 s.
    w.busy(w.resources[1], {10, 10, 10, 10});
    CHECK(decided(w, "mct", a).objective.lower_bound_s == Approx(45).epsilon(1e-3));
}

TEST_CASE("needs that slots cover leave the bound as it is, to the bit", "[placement]")
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rng r = rng_create(seed);
        world given, plain;
        test_arena a;
        for (int i = 0; i < 5; i++) {
            std::string id = "r" + std::to_string(i);
            double speed = some(r, 1, 4);
            resource &h = given.host(id, speed);
            h.cpus = 1 + static_cast<double>(rng_index(&r, 4));
            h.memory_bytes = 10 * h.cpus;
            plain.host(id, speed).n_max = h.cpus;
        }
        for (int i = 0; i < 30; i++) {
            double work = some(r, 1, 60);
            given.task("j" + std::to_string(i), work).memory_bytes = some(r, 0, 10);
            plain.task("j" + std::to_string(i), work);
        }
        CHECK(decided(given, "mct", a).objective.lower_bound_s ==
              decided(plain, "mct", a).objective.lower_bound_s);
    }
}

TEST_CASE("the bound with cpus and memory never exceeds the true optimum",
          "[placement][property]")
{
    for (auto &s : styles)
        for (uint64_t seed = 1; seed <= 60; seed++) {
            rng r = rng_create(seed);
            world w;
            test_arena a;
            random_world(w, r, s, 1 + rng_index(&r, 3), 2 + rng_index(&r, 3));
            for (job &j : w.jobs)
                j.requirement = nullptr;
            double best_s = brute_force_s(w);
            INFO("style " << &s - styles << " seed " << seed);
            for (const char *policy : {"mct", "search"}) {
                placement_out out = decided(w, policy, a);
                if (out.unplaced_count)
                    continue;
                CHECK(out.objective.lower_bound_s <= best_s);
                CHECK(out.objective.makespan_s >= best_s * (1 - 1e-9));
            }
        }
}

TEST_CASE("no policy ends before the bound with cpus and memory", "[placement][property]")
{
    struct {
        size_t hosts, jobs;
    } sizes[] = {{3, 20}, {20, 60}, {600, 300}};
    for (auto &policy : policy_names())
        for (auto &s : styles)
            for (auto &size : sizes) {
                if (policy == "identical_optimum" ||
                    (size.hosts > 100 && policy != "mct" && policy != "gridway"))
                    continue;
                rng r = rng_create(size.jobs);
                world w;
                test_arena a;
                random_world(w, r, s, size.hosts, size.jobs);
                INFO(policy << " style " << &s - styles << " " << size.jobs);
                check_bound(
                    decided(w, policy, a,
                            policy == "search" || policy == "auto"
                                ? std::vector<named_value>{option("max_steps", 9.0)}
                                : std::vector<named_value>{}));
            }
}

TEST_CASE("extreme cpus and memory leave the bound finite", "[placement]")
{
    const double numbers[] = {0, 1e-308, 1e-99, 1, 1e5, 1e9, NAN};
    for (bool matrix : {false, true})
        for (double speed : {1e-308, 1e-99, 1.0, 1e99, 1e308})
            for (double need : {0.0, 1e-308, 1.0, 1e9}) {
                world w;
                test_arena a;
                for (double cpus : numbers)
                    for (double memory : numbers) {
                        resource &h =
                            w.host("r" + std::to_string(w.resources.size()), speed);
                        h.cpus = cpus;
                        h.memory_bytes = memory < 1e9 ? memory : memory * 1e91;
                        h.n_max = 1 + static_cast<double>(w.resources.size() % 3);
                    }
                for (double estimate : {0.0, 1e-308, 1.0, 1e99, 1e308}) {
                    std::string id = "j" + std::to_string(w.jobs.size());
                    job &j =
                        matrix
                            ? w.row(id, std::vector<double>(w.resources.size(), estimate))
                            : w.task(id, estimate);
                    j.cpus = need;
                    j.memory_bytes = need;
                }
                INFO("matrix " << matrix << " speed " << speed << " need " << need);
                check_bound(decided(w, "mct", a));
            }
}

TEST_CASE("bounds of placements that the time limit leaves no time for are told",
          "[placement]")
{
    bool skipped = false, full = false;
    for (int asked = 1; asked < 400 && !(skipped && full); asked++) {
        world w;
        test_arena a;
        rng r = rng_create(1);
        int left = asked;
        for (size_t i = 0; i < 40; i++)
            w.host("r" + std::to_string(i));
        for (size_t i = 0; i < 60; i++) {
            std::vector<double> etc;
            for (size_t k = 0; k < 40; k++)
                etc.push_back(1 + static_cast<double>(rng_index(&r, 100)));
            w.row("j" + std::to_string(i), etc);
        }
        w.limits.context = &left;
        w.limits.used = [](void *c) { return --*static_cast<int *>(c) > 0 ? 0.0 : 1.0; };
        placement_out out = decided(w, "mct", a);
        CAPTURE(asked);
        if (out.placement_count < 60)
            continue;
        CHECK(out.objective.lower_bound_s <= out.objective.makespan_s);
        CHECK_FALSE(has_warning(out, "time_limit"));
        (has_warning(out, "bound_skipped") ? skipped : full) = true;
    }
    CHECK(skipped);
    CHECK(full);
}

TEST_CASE("the bound with cpus and memory survives an arena of any size",
          "[placement][memory]")
{
    for (auto &s : styles) {
        bool done = false;
        for (size_t cap = 0; !done; cap += cap / 64 + 200) {
            rng r = rng_create(1);
            world w;
            test_arena a(cap);
            random_world(w, r, s, 5, 9);
            placement_out out{};
            error err = collecting_error(a);
            error_code code =
                computed(a, &err, [&] { return decide(w, "mct", out, a, err); });
            REQUIRE((code == OK || code == ERR_TOO_LARGE));
            done = code == OK;
        }
    }
}
