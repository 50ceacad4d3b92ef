// queue_property_test.cpp - what must hold for every queue policy and any log.
#include "tests/queue_support.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <numeric>
#include <set>

extern "C" {
#include "algorithms/queue/machine.h"
}

namespace
{

struct log_kind {
    size_t jobs;
    uint64_t processors;
    double gap_s, run_s, excess; // means; estimates are up to `excess` times the run
    bool whole;                  // seconds
    double wide;                 // share of jobs that are wider than the cluster
};

const log_kind kinds[] = {
    {0, 10, 1, 1, 1, true, 0},       {1, 1, 1, 1, 1, true, 0},
    {60, 1, 5, 10, 3, true, 0.1},    {80, 10, 3, 20, 1, true, 0},
    {80, 10, 3, 20, 4, true, 0.05},  {80, 16, 2.5, 13.7, 3, false, 0},
    {120, 100, 0, 50, 5, true, 0},   {120, 7, 1, 2, 2, true, 0.02},
    {100, 64, 30, 200, 1, false, 0},
};

std::vector<swf_job> random_log(const log_kind &k, uint64_t seed)
{
    rng r = rng_stream(seed, "queue log");
    std::vector<swf_job> jobs;
    double submit_s = 0;

    for (size_t i = 0; i < k.jobs; i++) {
        double run_s = -k.run_s * std::log(1 - rng_uniform(&r));
        double processors = std::ceil(std::pow(double(k.processors), rng_uniform(&r)));
        double ask = 1 + (k.excess - 1) * rng_uniform(&r);

        if (rng_uniform(&r) < 0.3)
            processors = 1;
        if (rng_uniform(&r) < k.wide)
            processors = double(k.processors + 1 + rng_index(&r, 5));
        if (rng_uniform(&r) < 0.08)
            run_s = 0;
        if (rng_uniform(&r) < 0.6)
            submit_s += -k.gap_s * 2 * std::log(1 - rng_uniform(&r));
        if (k.whole) {
            run_s = std::floor(run_s);
            submit_s = std::floor(submit_s);
        }
        jobs.push_back(logged(double(i + 1), submit_s, run_s, processors,
                              k.whole ? std::ceil(run_s * ask) : run_s * ask));
        if (rng_uniform(&r) < 0.1)
            jobs.back().requested_s = std::nan("");
    }
    return jobs;
}

double estimate(const swf_job &j)
{
    return swf_estimate_s(&j);
}

// Processors in use, summed up at every instant after the ends of that instant.
void check_capacity(const std::vector<swf_job> &jobs, const replayed &r,
                    uint64_t processors)
{
    std::vector<std::pair<double, double>> steps;
    double used = 0;

    for (size_t i = 0; i < jobs.size(); i++) {
        if (std::isnan(r.start_s[i]) || r.run_s[i] == 0)
            continue;
        steps.push_back({r.start_s[i], swf_processors(&jobs[i])});
        steps.push_back({r.start_s[i] + r.run_s[i], -swf_processors(&jobs[i])});
    }
    std::sort(steps.begin(), steps.end());
    size_t exceeded = 0;
    for (auto &step : steps) {
        used += step.second;
        exceeded += used > double(processors);
    }
    REQUIRE(exceeded == 0);
}

void check_starts(const std::vector<swf_job> &jobs, const replayed &r,
                  uint64_t processors)
{
    uint64_t never = 0, wrong = 0;

    for (size_t i = 0; i < jobs.size(); i++) {
        bool fits = swf_processors(&jobs[i]) <= double(processors);

        never += !fits;
        wrong += fits ? !(r.start_s[i] >= jobs[i].submit_s) : !std::isnan(r.start_s[i]);
    }
    REQUIRE(wrong == 0);
    CHECK(r.never_fit_count == never);
    CHECK(r.run_count == jobs.size() - never);
}

// The rules again, as one would write them down: lists, and a walk over all of them at
// every instant.
class plain
{
  public:
    plain(const std::vector<swf_job> &jobs, uint64_t processors,
          const struct policy &policy)
        : jobs_(jobs), policy_(policy), free_(double(processors)),
          start_s(jobs.size(), std::nan(""))
    {
        size_t next = 0;

        while (next < jobs.size() || !ends_.empty()) {
            double now_s = next < jobs.size() ? jobs[next].submit_s : HUGE_VAL;

            if (!ends_.empty())
                now_s = std::min(now_s, ends_.begin()->first);
            while (!ends_.empty() && ends_.begin()->first <= now_s) {
                size_t i = ends_.begin()->second;

                free_ += swf_processors(&jobs[i]);
                running_.remove(i);
                ends_.erase(ends_.begin());
            }
            for (; next < jobs.size() && jobs[next].submit_s <= now_s; next++)
                if (swf_processors(&jobs[next]) <= double(processors))
                    queue_.push_back(next);
            now_s_ = now_s;
            decide();
        }
    }

  private:
    void start(size_t i)
    {
        start_s[i] = now_s_;
        free_ -= swf_processors(&jobs_[i]);
        running_.push_back(i);
        queue_.remove(i);
        ends_.insert({now_s_ + jobs_[i].run_s, i});
    }

    std::vector<size_t> sorted(queue_order order) const
    {
        std::vector<size_t> list(queue_.begin(), queue_.end());

        std::sort(list.begin(), list.end());
        std::stable_sort(list.begin(), list.end(), [&](size_t l, size_t r) {
            if (order == QUEUE_SHORTEST)
                return estimate(jobs_[l]) < estimate(jobs_[r]);
            if (order == QUEUE_LARGEST)
                return swf_processors(&jobs_[l]) > swf_processors(&jobs_[r]);
            return false;
        });
        return list;
    }

    void decide()
    {
        double shadow_s = HUGE_VAL, extra = HUGE_VAL;
        size_t head = SIZE_MAX;

        for (size_t i : queue_discipline_of(&policy_)->rule == QUEUE_FIT
                            ? std::vector<size_t>{}
                            : sorted(queue_discipline_of(&policy_)->order)) {
            head = i;
            if (swf_processors(&jobs_[i]) > free_)
                break;
            start(i);
            head = SIZE_MAX;
        }
        if (queue_discipline_of(&policy_)->rule == QUEUE_HEAD ||
            (queue_discipline_of(&policy_)->rule == QUEUE_EASY && head == SIZE_MAX))
            return;
        if (head != SIZE_MAX)
            find_shadow(swf_processors(&jobs_[head]), &shadow_s, &extra);
        if (shadow_s <= now_s_) // held by jobs that take no time
            return;
        for (size_t i : sorted(queue_discipline_of(&policy_)->backfill_order)) {
            double processors = swf_processors(&jobs_[i]);
            bool in_time = now_s_ + estimate(jobs_[i]) <= shadow_s;

            if (i == head || processors > free_ || (!in_time && processors > extra))
                continue;
            extra -= in_time ? 0 : processors;
            start(i);
        }
    }

    // When the head can start by the estimates, and what is then left over.
    void find_shadow(double processors, double *shadow_s, double *extra) const
    {
        std::vector<size_t> list(running_.begin(), running_.end());
        double there = free_;

        std::sort(list.begin(), list.end(),
                  [&](size_t l, size_t r) { return end_s(l) < end_s(r); });
        for (size_t k = 0; k < list.size(); k++) {
            there += swf_processors(&jobs_[list[k]]);
            if (there < processors)
                continue;
            if (k + 1 < list.size() && end_s(list[k + 1]) == end_s(list[k]))
                continue;
            *shadow_s = end_s(list[k]);
            *extra = there - processors;
            return;
        }
    }

    double end_s(size_t i) const
    {
        return start_s[i] + estimate(jobs_[i]);
    }

    const std::vector<swf_job> &jobs_;
    const struct policy &policy_;
    double free_, now_s_ = 0;
    std::list<size_t> running_, queue_;
    std::multimap<double, size_t> ends_;

  public:
    std::vector<double> start_s;
};

// A machine that is played step by step.
struct stepped {
    test_arena a;
    error err{};
    machine m;
    std::vector<queue_job> jobs;
    std::vector<double> run_s;

    stepped(const std::vector<swf_job> &log, uint64_t processors, const char *policy,
            bool exact)
    {
        queue_in in{};

        for (auto &j : log) {
            jobs.push_back({j.submit_s, exact ? j.run_s : estimate(j),
                            uint64_t(swf_processors(&j))});
            run_s.push_back(j.run_s);
        }
        in.processors = processors;
        in.jobs = jobs.data();
        in.job_count = jobs.size();
        REQUIRE(machine_open(&m, policy_find(queue_policies, policy), &in, run_s.data(),
                             nullptr, a, &err) == OK);
    }
    bool step()
    {
        bool more = false;

        REQUIRE(machine_step(&m, &more, &err) == OK);
        return more;
    }
};

} // namespace

TEST_CASE("every policy keeps within the cluster and starts everybody",
          "[queue][property]")
{
    for (const struct policy *p = queue_policies; p->name; p++)
        for (auto &kind : kinds)
            for (uint64_t seed = 1; seed <= 6; seed++) {
                auto jobs = random_log(kind, seed);
                queue_replay_in in = replay_of(jobs, kind.processors);

                INFO(p->name << " kind " << &kind - kinds << " seed " << seed);
                in.estimates = seed % 2 ? QUEUE_REQUESTED : QUEUE_EXACT;
                in.cut_at_request = seed % 3 == 0;
                replayed r = replay(p->name, in);
                check_starts(jobs, r, kind.processors);
                check_capacity(jobs, r, kind.processors);
                if (r.run_count)
                    CHECK(r.figures.mean_bounded_slowdown >= 1);

                replayed again = replay(p->name, in);
                for (size_t i = 0; i < jobs.size(); i++)
                    REQUIRE(memcmp(&r.start_s[i], &again.start_s[i], sizeof(double)) ==
                            0);
            }
}

TEST_CASE("all but conservative start jobs as a plain walk over the queue does",
          "[queue][property]")
{
    for (const struct policy *p = queue_policies; p->name; p++)
        for (auto &kind : kinds)
            for (uint64_t seed = 1; seed <= 6; seed++) {
                auto jobs = random_log(kind, seed);

                if (queue_discipline_of(p)->rule == QUEUE_CONSERVATIVE)
                    continue;
                replayed r = replay(p->name, replay_of(jobs, kind.processors));
                plain want(jobs, kind.processors, *p);
                INFO(p->name << " kind " << &kind - kinds << " seed " << seed);
                for (size_t i = 0; i < jobs.size(); i++) {
                    INFO("job " << i);
                    if (!std::isnan(want.start_s[i]))
                        REQUIRE(r.start_s[i] == want.start_s[i]);
                }
            }
}

TEST_CASE("fcfs starts in the order of arrival", "[queue][property]")
{
    for (auto &kind : kinds)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            auto jobs = random_log(kind, seed);
            replayed r = replay("fcfs", replay_of(jobs, kind.processors));
            double last_s = 0;

            for (double start_s : r.start_s) {
                if (std::isnan(start_s))
                    continue;
                REQUIRE(start_s >= last_s);
                last_s = start_s;
            }
        }
}

TEST_CASE("easy never delays what the first job was promised", "[queue][property]")
{
    for (const char *policy : {"easy", "easy_sjbf"})
        for (auto &kind : kinds)
            for (uint64_t seed = 1; seed <= 12; seed++) {
                auto jobs = random_log(kind, seed);
                stepped s(jobs, kind.processors, policy, seed % 2);
                std::vector<double> promised(jobs.size(), HUGE_VAL);

                while (s.step())
                    if (s.m.head != SIZE_MAX)
                        promised[s.m.head] =
                            std::min(promised[s.m.head], s.m.head_start_s);
                for (size_t i = 0; i < jobs.size(); i++) {
                    INFO(policy << " kind " << &kind - kinds << " seed " << seed);
                    if (!std::isnan(s.m.start_s[i]))
                        REQUIRE(s.m.start_s[i] <= promised[i]);
                }
            }
}

TEST_CASE("conservative keeps every promise, exactly when estimates are exact",
          "[queue][property]")
{
    for (auto &kind : kinds)
        for (uint64_t seed = 1; seed <= 12; seed++) {
            auto jobs = random_log(kind, seed);
            bool exact = seed % 2;
            stepped s(jobs, kind.processors, "conservative", exact);
            std::vector<double> promised(jobs.size(), std::nan(""));

            while (s.step())
                for (size_t i = 0; i < s.m.arrived_count; i++)
                    if (std::isnan(promised[i]))
                        promised[i] = s.m.plan_s[i];
            for (size_t i = 0; i < jobs.size(); i++) {
                INFO("kind " << &kind - kinds << " seed " << seed << " job " << i);
                if (std::isnan(s.m.start_s[i]))
                    continue;
                REQUIRE(s.m.start_s[i] <= promised[i]);
                if (exact) // but for the least time that jobs of no time are given
                    REQUIRE(s.m.start_s[i] ==
                            Approx(promised[i]).epsilon(1e-12).margin(1e-6));
            }
        }
}

TEST_CASE("jobs keep out of reservations", "[queue][property]")
{
    const std::vector<queue_reservation> reservations = {
        {20, 40, 5}, {30, 60, 5}, {100, 130, 10}, {131, 133, 10}, {200, 260, 3}};
    const log_kind kind = {60, 10, 3, 12, 1, true, 0};

    for (const struct policy *p = queue_policies; p->name; p++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            auto jobs = random_log(kind, seed);
            queue_replay_in in = replay_of(jobs, kind.processors);

            in.reservations = reservations.data();
            in.reservation_count = reservations.size();
            in.estimates = QUEUE_EXACT;
            replayed r = replay(p->name, in);
            INFO(p->name << " seed " << seed);
            check_starts(jobs, r, kind.processors);
            for (auto &v : reservations) {
                jobs.push_back(
                    logged(0, v.start_s, v.end_s - v.start_s, double(v.processors)));
                r.start_s.push_back(v.start_s);
                r.run_s.push_back(v.end_s - v.start_s);
            }
            check_capacity(jobs, r, kind.processors);
        }
}

TEST_CASE("a decision agrees with the replay of what it sees", "[queue][property]")
{
    for (const struct policy *p = queue_policies; p->name; p++)
        for (auto &kind : kinds)
            for (uint64_t seed = 1; seed <= 4; seed++) {
                auto log = random_log(kind, seed);
                std::vector<queue_job> jobs;
                test_arena a;
                error err = collecting_error(a);
                queue_in in{};
                queue_out out{};

                for (auto &j : log) {
                    jobs.push_back(
                        {j.submit_s, estimate(j), uint64_t(swf_processors(&j))});
                    j.run_s = estimate(j);
                    j.submit_s = 1e6;
                }
                in.now_s = 1e6;
                in.processors = kind.processors;
                in.jobs = jobs.data();
                in.job_count = jobs.size();
                INFO(p->name << " kind " << &kind - kinds << " seed " << seed);
                REQUIRE(queue_decide(p, &in, &out, a, &err) == OK);
                replayed r = replay(p->name, replay_of(log, kind.processors));
                std::set<size_t> order(out.order, out.order + jobs.size());
                CHECK(order.size() == jobs.size());
                CHECK(out.makespan_s >= out.lower_bound_s * (1 - 1e-12));
                for (size_t i = 0; i < jobs.size(); i++) {
                    const queue_verdict &v = out.verdicts[i];

                    INFO("job " << i);
                    if (jobs[i].processors > kind.processors) {
                        REQUIRE(v.reason == QUEUE_REASON_NEVER_FITS);
                        continue;
                    }
                    REQUIRE(v.start_s == r.start_s[i]);
                    REQUIRE((v.reason == QUEUE_REASON_STARTS) == (v.start_s == in.now_s));
                    if (v.reason != QUEUE_REASON_STARTS) {
                        REQUIRE(v.by != QUEUE_NOTHING);
                        REQUIRE(v.until_s > in.now_s);
                    }
                }
            }
}

TEST_CASE("100,000 jobs at the same instant", "[queue][property]")
{
    const log_kind kind = {100000, 100, 0, 50, 1, true, 0};
    const auto all = random_log(kind, 1);

    for (const struct policy *p = queue_policies; p->name; p++) {
        std::string name = p->name; // the others take seconds with sanitizers: fewer
        size_t count = name == "easy" || name == "fcfs" ? all.size() : all.size() / 10;
        std::vector<swf_job> jobs(all.begin(), all.begin() + long(count));
        queue_replay_in in = replay_of(jobs, kind.processors);

        in.estimates = QUEUE_EXACT;
        replayed r = replay(p->name, in);
        INFO(p->name);
        check_starts(jobs, r, kind.processors);
        check_capacity(jobs, r, kind.processors);
    }
}

TEST_CASE("a spent budget cuts a replay", "[queue][property]")
{
    const log_kind kind = {20000, 100, 0, 50, 3, true, 0};
    auto jobs = random_log(kind, 1);
    size_t asked = 0;
    budget limit = make_budget(
        [](void *context) { return ++*static_cast<size_t *>(context) > 3 ? 1.0 : 0.5; },
        &asked);

    for (const struct policy *p = queue_policies; p->name; p++) {
        asked = 0;
        CHECK(replay(p->name, replay_of(jobs, kind.processors), &limit).is_cut);
    }
}
