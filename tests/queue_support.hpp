// queue_support.hpp - job logs and replays for the tests of batch queues.
#pragma once
#include "tests/support.hpp"

#include <fstream>
#include <sstream>

extern "C" {
#include "algorithms/queue/replay.h"
}

// A job of a log; requested 0: not said.
inline swf_job logged(double number, double submit_s, double run_s, double processors,
                      double requested_s = 0)
{
    const double none = std::nan("");
    swf_job j = {none, none, none, none, none, none, none, none, none,
                 none, none, none, none, none, none, none, none, none};

    j.number = number;
    j.submit_s = submit_s;
    j.run_s = run_s;
    j.processors = processors;
    if (requested_s > 0)
        j.requested_s = requested_s;
    return j;
}

struct replayed {
    bool is_cut;
    uint64_t run_count, never_fit_count;
    queue_figures figures;
    std::vector<double> start_s, run_s;
};

inline queue_replay_in replay_of(const std::vector<swf_job> &jobs, uint64_t processors)
{
    queue_replay_in in{};

    in.jobs = jobs.data();
    in.job_count = jobs.size();
    in.processors = processors;
    in.bound_s = 10;
    return in;
}

inline replayed replay(const char *policy, const queue_replay_in &in,
                       budget *limit = nullptr)
{
    test_arena a(size_t{2} << 30);
    error err = collecting_error(a);
    queue_replay_watch watch = {limit, nullptr, nullptr};
    queue_replay_out out{};

    INFO(policy);
    REQUIRE(policy_find(queue_policies, policy) != nullptr);
    if (queue_replay(policy_find(queue_policies, policy), &in, &watch, &out, a, &err) !=
        OK)
        FAIL(err.text);
    return {out.is_cut,
            out.run_count,
            out.never_fit_count,
            out.figures,
            {out.start_s, out.start_s + in.job_count},
            {out.run_s, out.run_s + in.job_count}};
}

// Folder of the shared data; empty: the case is skipped.
inline std::string data_folder()
{
    const char *data = getenv("GRIDPLAN_DATA");

    if (!data)
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
    return data ? data : "";
}

inline std::string text_of(const std::string &path)
{
    std::ifstream in(path);
    std::stringstream text;

    INFO(path);
    REQUIRE(in);
    text << in.rdbuf();
    return text.str();
}

inline std::vector<swf_job> read_swf(const std::string &path)
{
    test_arena a;
    error err = collecting_error(a);
    std::string text = text_of(path);
    swf_log log{};
    swf_header header;
    swf_counts counts;

    REQUIRE(swf_read(text.data(), text.size(), &log, &header, &counts, a, &err) == OK);
    return {log.jobs, log.jobs + log.count};
}
