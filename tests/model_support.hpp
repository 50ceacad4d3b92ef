// model_support.hpp - runs of an application whose run time is known, for tests of
// models: T = 2e-4 N^2 / (cpu P) + 0.5 N / (bw sqrt(P)), spec performance-models.md W3.
#pragma once
#include "tests/api.hpp"

#include <cstdlib>

extern "C" {
#include "service/uuid.h"
}

struct known_run {
    double problem_size, processors, cpu_available_ratio, bandwidth_mbps, run_time_s;
};

inline double known_time_s(double n, double p, double cpu, double bw)
{
    double computation_s = 2e-4 * n * n / (cpu * p);

    return p < 2 ? computation_s : computation_s + 0.5 * n / (bw * std::sqrt(p));
}

// The plan of 60 runs on 1, 2, 4 and 8 processors; loads differ, times are off by up to
// `noise`.
inline std::vector<known_run> known_runs(double noise = 0, uint64_t seed = 1)
{
    std::vector<known_run> runs;
    rng r = rng_create(seed);

    for (double p : {1., 2., 4., 8.}) {
        int count = p < 3 ? 20 : 10;
        for (int i = 0; i < count; i++) {
            known_run run{500 + i * 950. / (count - 1), p, 0.3 + 0.7 * rng_uniform(&r),
                          20 + 70 * rng_uniform(&r), 0};
            run.run_time_s = known_time_s(run.problem_size, p, run.cpu_available_ratio,
                                          run.bandwidth_mbps) *
                             (1 + noise * (2 * rng_uniform(&r) - 1));
            runs.push_back(run);
        }
    }
    return runs;
}

inline nlohmann::json sample_json(const known_run &run)
{
    nlohmann::json j = {{"problem_size", run.problem_size},
                        {"processors", run.processors},
                        {"cpu_available_ratio", run.cpu_available_ratio},
                        {"run_time_s", run.run_time_s}};
    if (run.processors > 1)
        j["bandwidth_mbps"] = run.bandwidth_mbps;
    return j;
}

inline nlohmann::json samples_json(const std::vector<known_run> &runs)
{
    nlohmann::json list = nlohmann::json::array();
    for (const known_run &run : runs)
        list.push_back(sample_json(run));
    return list;
}

// As it is posted to /v1/executions; started one after the other.
inline nlohmann::json execution_json_of(const known_run &run, const std::string &app,
                                        const std::string &id, size_t place)
{
    nlohmann::json j = sample_json(run);
    j["execution_id"] = id;
    j["application_id"] = app;
    j["site_id"] = "here";
    j["started_at"] = 1700000000.0 + 100. * (double)place;
    return j;
}

inline nlohmann::json executions_of(const std::vector<known_run> &runs,
                                    const std::string &app, size_t first = 0)
{
    nlohmann::json list = nlohmann::json::array();
    for (size_t i = 0; i < runs.size(); i++)
        list.push_back(execution_json_of(
            runs[i], app, app + "-" + std::to_string(first + i), first + i));
    return list;
}

inline std::string unique_name(const std::string &stem)
{
    char id[UUID_TEXT_SIZE];

    uuid_make(id);
    return stem + "-" + id;
}
