// round_support.hpp - rounds of a grid scheduler, built and read by name.
#pragma once
#include "tests/support.hpp"

#include <limits>
#include <map>
#include <set>

extern "C" {
#include "algorithms/replication/round.h"
}

inline const double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

// A grid and its jobs; indexes follow the order of the calls.
struct grid {
    std::vector<round_resource> resources;
    std::vector<round_job> jobs;
    std::vector<std::vector<round_replica>> replicas; // of each job
    size_t site_count = 0;
    uint64_t seed = 1;
    round_mode mode_before = ROUND_MODE_NONE;
    bool has_finished = false, can_checkpoint = false, explain = true;

    size_t resource(size_t site, double mips = 1, size_t n_max = 2, size_t job_count = 0)
    {
        resources.push_back(
            {site, true, mips, n_max, job_count, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN});
        site_count = std::max(site_count, site + 1);
        return resources.size() - 1;
    }
    size_t job(double length_mi = 1000)
    {
        round_job j{};
        j.length_mi = length_mi;
        jobs.push_back(j);
        replicas.emplace_back();
        return jobs.size() - 1;
    }
    // A copy that takes its slot (job_count goes up).
    void copy(size_t job, size_t resource, double completed_mi = 0,
              replica_state state = REPLICA_RUNNING)
    {
        replicas[job].push_back({resource, state, false, completed_mi, nullptr, 0});
        jobs[job].started_count++;
        if (state == REPLICA_RUNNING || state == REPLICA_TRANSFERRING)
            resources[resource].job_count++;
    }
    round_in in()
    {
        round_in in{};
        for (size_t j = 0; j < jobs.size(); j++) {
            jobs[j].replicas = replicas[j].data();
            jobs[j].replica_count = replicas[j].size();
        }
        in.resources = resources.data();
        in.resource_count = resources.size();
        in.site_count = site_count;
        in.jobs = jobs.data();
        in.job_count = jobs.size();
        in.random_state = seed;
        in.mode_before = mode_before;
        in.has_finished = has_finished;
        in.can_checkpoint = can_checkpoint;
        in.explain = explain;
        return in;
    }
    // Carries the actions out: starts run at once, cancelled copies are gone.
    void apply(const round_out &out)
    {
        std::vector<size_t> later; // once the copy started before runs
        for (size_t i = 0; i < out.action_count; i++) {
            const round_action &a = out.actions[i];
            auto &list = replicas.at(a.job);
            switch (a.kind) {
            case ROUND_START:
                REQUIRE(a.replica == list.size());
                copy(a.job, a.resource);
                break;
            case ROUND_CANCEL:
                REQUIRE(replica_is_active(&list.at(a.replica)));
                REQUIRE(list.at(a.replica).resource == a.resource);
                list.at(a.replica).state = REPLICA_FAILED;
                if (!list.at(a.replica).is_ghost)
                    resources[a.resource].job_count--;
                break;
            case ROUND_CHECKPOINT_ON:
                REQUIRE(replica_is_active(&list.at(a.replica)));
                jobs[a.job].is_checkpointing = true;
                break;
            case ROUND_CHECKPOINT_OFF:
                if (a.when_running)
                    later.push_back(i);
                else
                    jobs[a.job].is_checkpointing = false;
                break;
            case ROUND_MIGRATE:
                resources[list.at(a.replica).resource].job_count--;
                list.at(a.replica).resource = a.resource;
                resources[a.resource].job_count++;
                break;
            }
        }
        for (size_t i : later) {
            const round_action &start = out.actions[i - 1];
            REQUIRE(start.kind == ROUND_START);
            REQUIRE(start.job == out.actions[i].job);
            if (replica_is_active(&replicas[start.job].at(start.replica)))
                jobs[start.job].is_checkpointing = false;
        }
    }
};

// What an action says, "start J0 R1": for comparisons that can be read.
inline std::string action_text(const round_action &a)
{
    static const char *const kinds[] = {"start", "cancel", "on", "off", "migrate"};
    std::string text = kinds[a.kind];
    text += " J" + std::to_string(a.job) + " R" + std::to_string(a.resource);
    if (a.from_checkpoint)
        text += " image";
    if (a.when_running)
        text += " later";
    if (a.reason == ROUND_JOB_FINISHED)
        text += " finished";
    return text;
}

inline std::vector<std::string> action_texts(const round_out &out)
{
    std::vector<std::string> texts;
    for (size_t i = 0; i < out.action_count; i++)
        texts.push_back(action_text(out.actions[i]));
    return texts;
}

using texts = std::vector<std::string>;

// A round with options by name; the arena lives as long as the test.
class rounds
{
  public:
    round_out run(const struct policy *policy, grid &g,
                  const std::map<std::string, double> &options = {})
    {
        error err = collecting_error(arena_);
        double param[PARAMS_MAX];
        round_in in = g.in();
        round_out out{};

        REQUIRE(policy != nullptr);
        REQUIRE(params_bind(policy->params, nullptr, 0, param, &err) == OK);
        for (const auto &[name, value] : options) {
            size_t i = 0;
            while (policy->params[i].name && name != policy->params[i].name)
                i++;
            INFO(name);
            REQUIRE(policy->params[i].name != nullptr);
            param[i] = value;
        }
        enum error_code code = round_fn_of(policy)(&in, param, &out, arena_, &err);
        INFO(err.text);
        REQUIRE(code == OK);
        return out;
    }

  private:
    test_arena arena_;
};

// Random grids with jobs in every state that callers may give.
inline grid random_grid(rng &r, bool with_finished)
{
    auto below = [&r](size_t count) { return rng_index(&r, count); };
    grid g;
    size_t site_count = 1 + below(4), resource_count = 1 + below(12);

    g.seed = rng_next(&r);
    g.has_finished = with_finished;
    g.can_checkpoint = below(2) == 1;
    g.mode_before = static_cast<round_mode>(below(3));
    for (size_t i = 0; i < resource_count; i++) {
        size_t n_max = below(4);
        g.resource(below(site_count), below(8) ? 1 + 0.5 * (double)below(6) : 0, n_max,
                   n_max ? below(n_max) : 0);
        g.resources.back().up = below(5) > 0;
        g.resources.back().mean_failure_interval_s =
            below(8) ? 100.0 + 1e4 * rng_uniform(&r) : UNKNOWN;
        if (below(3) == 0) {
            g.resources.back().uptime_s = 1000 * rng_uniform(&r);
            g.resources.back().weibull_shape = 0.7;
            g.resources.back().weibull_scale_s = 5000;
        }
    }
    g.site_count = site_count;
    for (size_t j = below(30); j > 0; j--) {
        size_t job = g.job(below(20) ? 5000 * rng_uniform(&r) : 0);
        g.jobs[job].has_checkpoint = below(3) == 0;
        g.jobs[job].checkpoint_overhead_s = 5 * rng_uniform(&r);
        g.jobs[job].restart_s = 20 * rng_uniform(&r);
        g.jobs[job].reschedule_delay_s = 900 * rng_uniform(&r);
        std::set<size_t> held;
        bool finished = false;
        for (size_t i = below(4); i > 0; i--) {
            size_t at = below(resource_count);
            replica_state state = static_cast<replica_state>(below(4));
            if (state == REPLICA_FINISHED && (!with_finished || finished))
                state = REPLICA_FAILED;
            bool active = state == REPLICA_RUNNING || state == REPLICA_TRANSFERRING;
            if (active &&
                (held.count(at) || g.resources[at].job_count >= g.resources[at].n_max))
                continue;
            g.copy(job, at, g.jobs[job].length_mi * rng_uniform(&r), state);
            if (active)
                held.insert(at);
            finished = finished || state == REPLICA_FINISHED;
        }
        g.jobs[job].is_checkpointing = held.size() && below(3) == 0;
    }
    return g;
}

// The promises that every policy keeps, whatever comes in.
inline void check_round(const struct policy *policy, grid g, const round_out &out,
                        size_t replicas_max)
{
    std::vector<size_t> active_before;
    for (auto &list : g.replicas)
        active_before.push_back((size_t)std::count_if(
            list.begin(), list.end(), [](auto &x) { return replica_is_active(&x); }));
    grid before = g;
    g.apply(out);
    for (size_t r = 0; r < g.resources.size(); r++) {
        CAPTURE(policy->name, r);
        if (g.resources[r].job_count != before.resources[r].job_count)
            CHECK(g.resources[r].job_count <=
                  std::max(g.resources[r].n_max, before.resources[r].job_count));
    }
    for (size_t i = 0; i < out.action_count; i++)
        if (out.actions[i].kind == ROUND_START || out.actions[i].kind == ROUND_MIGRATE)
            CHECK(g.resources[out.actions[i].resource].up);
    for (size_t j = 0; j < g.jobs.size(); j++) {
        std::set<size_t> held;
        size_t active = 0;
        bool finished = false;
        for (auto &replica : g.replicas[j]) {
            finished = finished || replica.state == REPLICA_FINISHED;
            if (!replica_is_active(&replica))
                continue;
            active++;
            held.insert(replica.resource);
        }
        CAPTURE(policy->name, j);
        CHECK(held.size() == active);
        CHECK(active <= std::max(replicas_max, active_before[j]));
        if (finished)
            CHECK(active == 0);
        if (out.mode == ROUND_CHECKPOINTING)
            CHECK(active <= 1);
        if (out.mode == ROUND_CHECKPOINTING && active && !finished)
            CHECK(g.jobs[j].is_checkpointing);
    }
    for (size_t i = 0; i < out.wait_count; i++) {
        size_t sum = 0;
        for (size_t count : out.waits[i].count)
            sum += count;
        CHECK(sum <= g.resources.size());
        CHECK(sum > 0);
    }
}

// Random rounds of every policy of a table.
inline void check_table(const struct policy *table, const char *stream)
{
    rng r = rng_stream(1, stream);
    for (const struct policy *p = table; p->name; p++) {
        // these follow the copies of each job through their failures
        bool is_slow = std::strcmp(p->name, "expected_time") == 0 ||
                       std::strcmp(p->name, "joint") == 0;
        int count = is_slow ? is_long_run() ? 200 : 6 : 400;
        for (int i = 0; i < count; i++) {
            rounds rs;
            grid g = random_grid(r, i % 2);
            std::map<std::string, double> options;
            size_t replicas_max = 1;
            for (const param *row = p->params; row->name; row++) {
                std::string name = row->name;
                double value = row->preset;
                if (row->type == PARAM_CHOICE)
                    value = (double)rng_index(&r, (size_t)row->max + 1);
                else if (name == "replicas" || name == "replicas_max")
                    value = (double)(replicas_max = 1 + rng_index(&r, 4));
                else if (name == "free_cpu_limit")
                    value = (double)(1 + rng_index(&r, 8));
                else if (name == "switch_hysteresis")
                    value = (double)rng_index(&r, 3);
                else if (name == "target_success")
                    value = rng_uniform(&r);
                else if (name == "max_cost_ratio" && i % 3)
                    value = 1 + 2 * rng_uniform(&r);
                options[name] = value;
            }
            round_out out = rs.run(p, g, options);
            check_round(p, g, out, replicas_max);
            round_out again = rs.run(p, g, options);
            CHECK(action_texts(out) == action_texts(again));
            CHECK(out.random_state == again.random_state);
            g.explain = false; // reasons change nothing
            again = rs.run(p, g, options);
            CHECK(action_texts(out) == action_texts(again));
            CHECK(out.mode == again.mode);
        }
    }
}

// Rows are sorted, documented, have defaults within bounds, and are found.
inline void check_rows(const struct policy *table)
{
    for (const struct policy *p = table; p->name; p++) {
        CAPTURE(p->name);
        CHECK(policy_find(table, p->name) == p);
        CHECK((!p[1].name || std::strcmp(p->name, p[1].name) < 0));
        CHECK(std::strlen(p->purpose) > 0);
        CHECK((p->cites || p->idea));
        for (const param *row = p->params; row->name; row++) {
            CHECK(std::strlen(row->doc) > 0);
            CHECK((std::isnan(row->preset) ||
                   (row->preset >= row->min && row->preset <= row->max)));
        }
    }
    CHECK(policy_find(table, "") == nullptr);
}
