// performance_support.hpp - runs whose truth is known, for tests of performance models.
#pragma once
#include "tests/support.hpp"

extern "C" {
#include "models/performance/performance.h"
}

// splitmix64 in [0, 1), the spec's reference generator.
inline double unit(uint64_t &state)
{
    return (double)(splitmix64(&state) >> 11) * 0x1p-53;
}

inline double between(uint64_t &state, double low, double high)
{
    return low + (high - low) * unit(state);
}

// The truths A, B and C of generator G1, and where their problem sizes lie.
struct g1_truth {
    double scale;
    double (*time_s)(double n, double p, double cpu, double bw);
};

inline double truth_a(double n, double p, double cpu, double bw)
{
    return 2e-4 * n * n / (cpu * p) + (p > 1 ? 0.5 * n / (bw * std::sqrt(p)) : 0);
}

inline double truth_b(double n, double p, double cpu, double bw)
{
    return 7.3e-9 * n * n * n / (cpu * p) + (p > 1 ? 6e-5 * n * n * std::log(p) / bw : 0);
}

inline double truth_c(double n, double p, double cpu, double bw)
{
    return 3e-3 * n * std::log(n) / (cpu * p) +
           (p > 1 ? 0.08 * n * std::log(p) / (bw * p) : 0);
}

// One group of G1: `count` runs on so many processors.
inline std::vector<perf_sample> g1_group(uint64_t &state, double processors, int count,
                                         double step, double noise, g1_truth truth)
{
    std::vector<perf_sample> runs;

    for (int i = 0; i < count; i++) {
        perf_sample s{};

        s.problem_size = truth.scale * (500 + step * i);
        s.processors = processors;
        s.cpu_available_ratio = between(state, 0.065, 0.72);
        s.bandwidth_mbps = between(state, 2, 80);
        double e = unit(state);
        s.time_s = truth.time_s(s.problem_size, s.processors, s.cpu_available_ratio,
                                s.bandwidth_mbps) *
                   (1 + noise * (2 * e - 1));
        runs.push_back(s);
    }
    return runs;
}

// The 60 runs of G1: 20, 20, 10, 10 on 1, 2, 4, 8 processors.
inline std::vector<perf_sample> g1_runs(uint64_t &state, double noise,
                                        g1_truth truth = {1, truth_a})
{
    std::vector<perf_sample> runs;

    for (double p : {1.0, 2.0, 4.0, 8.0}) {
        auto group = g1_group(state, p, p < 4 ? 20 : 10, p < 4 ? 50 : 100, noise, truth);
        runs.insert(runs.end(), group.begin(), group.end());
    }
    return runs;
}

inline perf_query g1_query(uint64_t &state, double scale = 1)
{
    perf_query q{};

    q.problem_size = scale * between(state, 500, 2900);
    q.processors = 2 + std::floor(unit(state) * 15);
    q.cpu_available_ratio = between(state, 0.065, 0.72);
    q.bandwidth_mbps = between(state, 2, 80);
    return q;
}

struct trained {
    perf_model_set set{};
    perf_report report{};
};

inline trained train(const std::vector<perf_sample> &runs, const perf_options &options,
                     arena *a, budget *b = nullptr)
{
    trained t;
    error err{};
    REQUIRE(perf_train(runs.data(), runs.size(), &options, b, &t.set, &t.report, a,
                       &err) == OK);
    return t;
}

inline perf_prediction predict(const perf_model_set &set, const perf_query &q)
{
    perf_prediction p{};
    perf_predict(&set, &q, &p);
    return p;
}

// The number of a function of N, F1 .. F77.
inline int f(unsigned mask)
{
    return perf_candidate_of(mask);
}

inline perf_combination combination(unsigned comp, unsigned comm, int bw, int pcomp,
                                    int pcomm, std::vector<double> coefficients = {})
{
    perf_combination c{};
    c.comp_mask = comp;
    c.comm_mask = comm;
    c.bw_id = bw;
    c.pcomp_id = pcomp;
    c.pcomm_id = pcomm;
    for (size_t i = 0; i < coefficients.size(); i++)
        c.coefficients[i] = coefficients[i];
    return c;
}

// A set of one combination that a caller gives inline.
inline perf_model_set inline_set(perf_combination *c)
{
    perf_model_set set{};
    set.status = PERF_READY;
    set.options = perf_options_of(PERF_THESIS);
    set.sorted = {c, 1};
    perf_seen_clear(&set.single_seen);
    perf_seen_clear(&set.parallel_seen);
    return set;
}
