// checkpoint_shared_io_test.cpp - many jobs that checkpoint to one file system.
#include "tests/support.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "algorithms/checkpoint/shared_io.h"
}

namespace
{
shared_io_job job_of(const char *id, double c, double m, double nodes)
{
    shared_io_job job{};

    job.id = id;
    job.overhead_s = c;
    job.mean_s = m;
    job.nodes = nodes;
    return job;
}

std::vector<shared_io_job> worked()
{
    return {job_of("a", 600, 20000, 512), job_of("b", 300, 40000, 256),
            job_of("c", 120, 80000, 64), job_of("d", 400, 30000, 128)};
}

shared_io_load stagger(std::vector<shared_io_job> &jobs, double use)
{
    arena *a = arena_create(1 << 28);
    shared_io_load load{};

    shared_io_intervals(jobs.data(), jobs.size(), use, &load);
    shared_io_stagger(jobs.data(), jobs.size(), use, &load, a, nullptr);
    arena_close(a);
    return load;
}

double lost(const std::vector<shared_io_job> &jobs)
{
    double sum = 0;

    for (auto &j : jobs)
        sum += j.nodes * (j.overhead_s / j.interval_s + j.interval_s / (2 * j.mean_s));
    return sum;
}

double load_of(const std::vector<shared_io_job> &jobs)
{
    double sum = 0;

    for (auto &j : jobs)
        sum += j.overhead_s / j.interval_s;
    return sum;
}

// Time that two trains of checkpoints share within [0, span), by all pairs of them.
double shared_s(const shared_io_job &a, const shared_io_job &b, double span_s)
{
    double sum_s = 0;

    for (double x = a.offset_s - a.period_s; x < span_s; x += a.period_s)
        for (double y = b.offset_s - b.period_s; y < span_s; y += b.period_s) {
            double from_s = std::max({x, y, 0.0});
            double to_s = std::min({x + a.overhead_s, y + b.overhead_s, span_s});
            sum_s += std::max(0.0, to_s - from_s);
        }
    return sum_s;
}
} // namespace

TEST_CASE("the worked file system", "[checkpoint]")
{
    std::vector<shared_io_job> jobs = worked();
    shared_io_load load = stagger(jobs, 0.9);
    const double interval_s[] = {4898.979, 4898.979, 4381.780, 4898.979};
    const double offset_s[] = {0, 1000, 1300, 600};

    CHECK(load.mu == 0);
    CHECK(load.unconstrained_ratio == Approx(0.292748).margin(5e-7));
    CHECK(load.load_ratio == Approx(0.324069).margin(5e-7));
    for (size_t i = 0; i < 4; i++) {
        CHECK(jobs[i].interval_s == Approx(interval_s[i]).margin(6e-4));
        CHECK(jobs[i].period_s == Approx(4381.780).margin(6e-4));
        CHECK(jobs[i].offset_s == Approx(offset_s[i]).margin(1e-9));
        CHECK(jobs[i].overlap_s == 0);
    }
    load = stagger(jobs, 0.2);
    const double capped_s[] = {6056.891, 7026.510, 10019.476, 8645.443};
    CHECK(load.mu == Approx(270.633016).epsilon(1e-8));
    CHECK(load.load_ratio == Approx(0.2).epsilon(1e-9));
    CHECK(load_of(jobs) == Approx(0.2).epsilon(1e-9));
    for (size_t i = 0; i < 4; i++) {
        CHECK(jobs[i].interval_s == Approx(capped_s[i]).margin(6e-4));
        CHECK(jobs[i].period_s == Approx(7100).epsilon(1e-9));
        CHECK(jobs[i].offset_s == Approx(offset_s[i]).margin(1e-9));
        CHECK(jobs[i].overlap_s == 0);
    }
}

TEST_CASE("no other intervals lose less under the cap", "[checkpoint][property]")
{
    std::mt19937_64 random(12);
    std::uniform_real_distribution<double> u;

    for (int i = 0; i < 50; i++) {
        std::vector<shared_io_job> jobs;
        size_t count = 1 + random() % 8;
        double use = 0.02 + 0.9 * u(random);
        shared_io_load load{};

        for (size_t j = 0; j < count; j++)
            jobs.push_back(job_of("j", 10 + 600 * u(random), pow(10, 4 + 2 * u(random)),
                                  std::floor(1 + 500 * u(random))));
        shared_io_intervals(jobs.data(), count, use, &load);
        double best = lost(jobs);
        CHECK(load_of(jobs) <= use * (1 + 1e-9));
        CHECK((load.mu == 0) == (load.unconstrained_ratio <= use));
        for (int trial = 0; trial < 200; trial++) {
            std::vector<shared_io_job> other = jobs;
            for (auto &job : other)
                job.interval_s *= exp(0.3 * (u(random) - 0.5));
            double scale = std::max(1.0, load_of(other) / use);
            for (auto &job : other)
                job.interval_s *= scale;
            CHECK(lost(other) >= best * (1 - 1e-12));
        }
    }
}

TEST_CASE("offsets are the earliest that meet least", "[checkpoint][property]")
{
    std::mt19937_64 random(13);
    std::uniform_real_distribution<double> u;

    for (int i = 0; i < 60; i++) {
        std::vector<shared_io_job> jobs;
        std::vector<std::string> ids;
        size_t count = 1 + random() % 9;
        bool is_integer = i % 2;

        for (size_t j = 0; j < count; j++)
            ids.push_back("job" + std::to_string(j));
        for (size_t j = 0; j < count; j++) {
            double c = is_integer ? static_cast<double>(1 + random() % 4) * 100
                                  : 10 + 600 * u(random);
            jobs.push_back(job_of(ids[j].c_str(), c, pow(10, 3.7 + 2.5 * u(random)), 10));
        }
        shared_io_load load = stagger(jobs, i % 3 ? 0.95 : 0.5);
        INFO("case " << i);
        CHECK(load.load_ratio <= 0.95 * (1 + 1e-9));
        std::vector<size_t> order(count);
        for (size_t j = 0; j < count; j++)
            order[j] = j;
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return std::make_tuple(jobs[a].period_s, -jobs[a].overhead_s, ids[a]) <
                   std::make_tuple(jobs[b].period_s, -jobs[b].overhead_s, ids[b]);
        });
        for (size_t k = 0; k < count; k++) {
            shared_io_job &job = jobs[order[k]];
            double own_s = 0, all_s = 0;

            REQUIRE(job.offset_s >= 0);
            REQUIRE(job.offset_s < job.period_s);
            // T rounded down to a power of two of the shortest
            double spread = log2(job.period_s / jobs[order[0]].period_s);
            CHECK(spread == Approx(std::round(spread)).margin(1e-9));
            for (size_t o = 0; o < count; o++) {
                double s = order[o] == order[k]
                               ? 0
                               : shared_s(job, jobs[order[o]], load.longest_s);
                all_s += s;
                own_s += o < k ? s : 0;
            }
            CHECK(job.overlap_s == Approx(all_s).margin(1e-6 * load.longest_s));
            // no candidate meets less of those before it
            std::vector<double> candidates{0};
            for (size_t o = 0; o < k; o++) {
                const shared_io_job &other = jobs[order[o]];
                for (double x = other.offset_s; x < job.period_s; x += other.period_s)
                    candidates.push_back(fmod(x + other.overhead_s, job.period_s));
            }
            for (double at_s : candidates) {
                shared_io_job trial = job;
                double s = 0;
                trial.offset_s = at_s;
                for (size_t o = 0; o < k; o++)
                    s += shared_s(trial, jobs[order[o]], load.longest_s);
                CHECK(s >= own_s - 1e-6 * load.longest_s);
            }
        }
    }
}

TEST_CASE("a shared file system at the edges", "[checkpoint]")
{
    std::vector<shared_io_job> one = {job_of("a", 100, 1e4, 1)};
    shared_io_load load = stagger(one, 1e-3);

    CHECK(load.load_ratio == Approx(1e-3).epsilon(1e-9));
    CHECK(one[0].period_s == Approx(1e5).epsilon(1e-9));
    CHECK(one[0].offset_s == 0);
    std::vector<shared_io_job> none;
    CHECK(stagger(none, 0.5).load_ratio == 0);
    // periods that differ too much are cut
    std::vector<shared_io_job> far = {job_of("a", 1, 100, 1), job_of("b", 1, 1e12, 1)};
    load = stagger(far, 0.9);
    CHECK(load.is_capped);
    CHECK(far[1].period_s == Approx(1024 * far[0].period_s));
    // equal jobs keep the order of their ids
    std::vector<shared_io_job> equal = {job_of("b", 10, 1e4, 1), job_of("a", 10, 1e4, 1)};
    stagger(equal, 0.9);
    CHECK(equal[1].offset_s == 0);
    CHECK(equal[0].offset_s == 10);
    // a budget that is spent leaves what has no place without one
    arena *a = arena_create(1 << 20);
    budget spent{};
    spent.used = [](void *) { return 1.0; };
    shared_io_intervals(equal.data(), 2, 0.9, &load);
    shared_io_stagger(equal.data(), 2, 0.9, &load, a, &spent);
    CHECK(load.is_cut);
    CHECK(std::isnan(equal[0].offset_s));
    arena_close(a);
}

TEST_CASE("as many jobs as are taken", "[checkpoint]")
{
    std::mt19937_64 random(14);
    std::uniform_real_distribution<double> u;
    std::vector<shared_io_job> jobs;
    std::vector<std::string> ids;
    const size_t count = is_sanitized() ? 2000 : SHARED_IO_JOBS_MAX;

    for (size_t j = 0; j < count; j++)
        ids.push_back(std::to_string(j));
    for (size_t j = 0; j < count; j++)
        jobs.push_back(
            job_of(ids[j].c_str(), 0.1 + u(random), pow(10, 4 + 3 * u(random)), 4));
    shared_io_load load = stagger(jobs, 0.9);
    CHECK_FALSE(load.is_cut);
    CHECK(load.load_ratio <= 0.9 * (1 + 1e-9));
    for (auto &job : jobs)
        CHECK((job.offset_s >= 0 && job.offset_s < job.period_s));
}
