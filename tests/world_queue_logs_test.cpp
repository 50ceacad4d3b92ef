// world_queue_logs_test.cpp - real logs of clusters through a snapshot: one resource with
// so many cpus, asked at every event, starts each job when the pool of processors does.
#include "tests/queue_support.hpp"

#include <map>
#include <set>

extern "C" {
#include "algorithms/placement/amounts_queue.h"
}

namespace
{

// An engine that asks the queue on a snapshot at each event and plays what it is told.
class live
{
    const std::vector<swf_job> &log_;
    const policy *policy_;
    double cpus_;
    std::vector<std::string> names_;
    std::map<size_t, double> plan_s_; // of what waits; by job
    std::set<size_t> running_;
    const char *pool_ = "cluster";

    double cpus(size_t i) const
    {
        return double(swf_processors(&log_[i]));
    }
    double end_s(size_t i) const
    {
        return start_s[i] + log_[i].run_s;
    }
    job row(size_t i) const
    {
        job j{};

        j.id = names_[i].c_str();
        j.estimate_ref_s = j.deadline_s = j.queued_at_s = j.deadline_at_s = NAN;
        j.task_index = j.param_start = j.param_increment = j.time_limit_s = NAN;
        j.cpus = cpus(i);
        j.nodes = 1;
        j.weight = 1;
        j.estimate_s = swf_estimate_s(&log_[i]);
        return j;
    }
    taken_running taken(size_t i, double now_s) const
    {
        taken_running r{};

        r.id = names_[i].c_str();
        r.cpus = cpus(i);
        r.expected_end_s = start_s[i] + swf_estimate_s(&log_[i]) - now_s;
        r.expected_end_at_s = r.time_limit_s = r.elapsed_s = r.started_at_s = NAN;
        r.weight = 1;
        return r;
    }
    void ask(double now_s, bool early)
    {
        test_arena a(size_t{1} << 28);
        error err = collecting_error(a);
        std::vector<taken_running> rows;
        std::vector<job> jobs;
        std::vector<size_t> numbers;
        std::vector<amounts_queue_promise> promises;
        resource pool{};
        snapshot snap{};
        placement_world given{};
        placement_in in{};
        amounts_queue_in q{};
        amounts_queue_out out{};

        for (size_t i : running_)
            rows.push_back(taken(i, now_s));
        for (auto [i, planned_s] : plan_s_) {
            jobs.push_back(row(i));
            numbers.push_back(i);
            promises.push_back({planned_s - now_s, nullptr, 0});
        }
        pool.id = pool_;
        pool.mips_total = pool.cpu_available_ratio = pool.fixed_priority = 1;
        pool.cpus = cpus_;
        pool.memory_bytes = pool.disk_bytes = pool.n_max = pool.observed_at_s = NAN;
        pool.running = rows.data();
        pool.running_count = rows.size();
        for (auto &p : promises) {
            p.resource_ids = &pool_;
            p.resource_id_count = 1;
        }
        snap.taken_at_s = snap.list_observed_at_s = NAN;
        snap.network.wan_mbps = snap.network.wan_latency_s = NAN;
        snap.network.lan_mbps = snap.network.lan_latency_s = NAN;
        snap.resources = &pool;
        snap.resource_count = 1;
        in.snapshot = &snap;
        in.jobs = jobs.data();
        in.job_count = jobs.size();
        in.world = &given;
        q.of = &in;
        q.policy = policy_;
        if (queue_discipline_of(policy_)->rule == QUEUE_CONSERVATIVE)
            q.promises = promises.data();
        q.keeps_gaps = !early;
        if (amounts_queue(&q, &out, a, &err) != OK)
            FAIL(err.text);
        for (size_t k = 0; k < numbers.size(); k++) {
            const world_placed &p = out.queue.plan->placed[k];

            REQUIRE(p.positions);
            plan_s_[numbers[k]] = now_s + p.start_s;
            if (p.start_s > 0)
                continue;
            start_s[numbers[k]] = now_s;
            running_.insert(numbers[k]);
            plan_s_.erase(numbers[k]);
        }
        questions++;
    }

  public:
    std::vector<double> start_s;
    size_t questions = 0;

    live(const char *name, const std::vector<swf_job> &log, uint64_t cpus)
        : log_(log), policy_(policy_find(queue_policies, name)), cpus_(double(cpus)),
          start_s(log.size(), NAN)
    {
        size_t next = 0;

        for (size_t i = 0; i < log.size(); i++)
            names_.push_back(std::to_string(i));
        while (next < log.size() || !running_.empty()) {
            double now_s = next < log.size() ? log[next].submit_s : HUGE_VAL;
            bool early = false;

            for (size_t i : running_)
                now_s = std::min(now_s, end_s(i));
            if (queue_discipline_of(policy_)->rule == QUEUE_CONSERVATIVE)
                for (auto [i, planned_s] :
                     plan_s_) // it may be told to start between ends
                    now_s = std::min(now_s, planned_s);
            for (auto i = running_.begin(); i != running_.end();) {
                bool ended = end_s(*i) <= now_s;

                early |= ended && log[*i].run_s < swf_estimate_s(&log[*i]);
                i = ended ? running_.erase(i) : std::next(i);
            }
            for (; next < log.size() && log[next].submit_s <= now_s; next++)
                plan_s_[next] = NAN;
            ask(now_s, early);
        }
    }
};

void check_log(const char *file, uint64_t processors, size_t count, const char *policy)
{
    std::string data = data_folder();

    if (data.empty())
        return;
    auto jobs = read_swf(data + "/01-workloads/swf/" + file);
    jobs.resize(std::min(count, jobs.size()));
    replayed pool = replay(policy, replay_of(jobs, processors));
    live world(policy, jobs, processors);
    size_t differ = 0;

    for (size_t i = 0; i < jobs.size(); i++) {
        if (world.start_s[i] == pool.start_s[i])
            continue;
        if (differ++ == 0)
            UNSCOPED_INFO("job " << i << " starts at " << world.start_s[i] << ", not "
                                 << pool.start_s[i]);
    }
    INFO(file << " " << policy << ": " << world.questions << " questions");
    CHECK(differ == 0);
}

const char *const disciplines[] = {"conservative",  "easy", "easy_sjbf",
                                   "easy_sjf",      "fcfs", "first_fit",
                                   "largest_first", "sjf"};

} // namespace

TEST_CASE("a real log starts the same on a resource as on its processors",
          "[world][queue]")
{
    for (const char *policy : disciplines) {
        check_log("KTH-SP2-first1000.swf", 100, 200, policy);
        check_log("HPC2N-2002-first3171.swf", 240, 200, policy);
    }
}

// Ten seconds with sanitizers: gridplan_tests '[world_logs]'
TEST_CASE("whole real logs start the same on a resource as on their processors",
          "[.][world_logs]")
{
    for (const char *policy : disciplines) {
        check_log("KTH-SP2-first1000.swf", 100, SIZE_MAX, policy);
        check_log("HPC2N-2002-first3171.swf", 240, SIZE_MAX, policy);
    }
}
