// queue_figures_test.cpp - figures of a replay: percentiles, tables, fairness, use of the
// cluster, and intervals of a study; by worked numbers and against slow counts.
#include "tests/queue_support.hpp"

extern "C" {
#include "algorithms/queue/fairness.h"
#include "algorithms/queue/spread.h"
#include "algorithms/queue/study.h"
#include "algorithms/queue/usage.h"
#include "models/base/rng.h"
}

#include <algorithm>
#include <map>

namespace
{

queue_outcome ran(double submit_s, double wait_s, double run_s, double cores,
                  double user = NAN, double priority = 0)
{
    queue_outcome o{};

    o.submit_s = submit_s;
    o.start_s = submit_s + wait_s;
    o.wait_s = wait_s;
    o.run_s = run_s;
    o.response_s = wait_s + run_s;
    o.cores = cores;
    o.bounded = queue_bounded_slowdown(wait_s + run_s, run_s, 10);
    o.priority = priority;
    o.key[QUEUE_KEY_USER] = user;
    for (int k = QUEUE_KEY_ACCOUNT; k < QUEUE_KEY_COUNT; k++)
        o.key[k] = NAN;
    return o;
}

queue_outcome never(double submit_s, double user = NAN)
{
    queue_outcome o = ran(submit_s, NAN, NAN, 1, user);

    o.bounded = NAN;
    return o;
}

// Whole and broken numbers, ties, zeros, jobs that never ran.
std::vector<queue_outcome> some(size_t count, uint64_t seed)
{
    rng r = rng_stream(seed, "outcomes");
    std::vector<queue_outcome> list;
    bool whole = seed % 2, tied = seed % 3 == 0;

    for (size_t i = 0; i < count; i++) {
        auto draw = [&](double most) {
            double x = rng_uniform(&r) * (tied ? std::min(most, 4.0) : most);
            return whole || tied ? std::floor(x) : x;
        };
        double submit_s = draw(1000), user = draw(6);

        if (rng_uniform(&r) < 0.1)
            list.push_back(never(submit_s, user));
        else
            list.push_back(ran(submit_s, draw(300), draw(200), 1 + std::floor(draw(70)),
                               user == 5 ? NAN : user, std::floor(draw(3))));
        list.back().key[QUEUE_KEY_ACCOUNT] = std::floor(draw(3));
    }
    return list;
}

// Overlap of two times.
double shared_s(double a, double b, double c, double d)
{
    return std::max(0.0, std::min(b, d) - std::max(a, c));
}

} // namespace

TEST_CASE("percentiles are linear between order statistics", "[queue]")
{
    test_arena a;
    std::vector<queue_outcome> jobs = {ran(0, 100, 10, 1), ran(0, 0, 10, 1),
                                       ran(0, 20, 10, 1), never(3), ran(0, 10, 10, 1)};
    struct queue_spread s {
    };

    REQUIRE(queue_spread(jobs.data(), jobs.size(), &s, a));
    CHECK(s.wait_s.p50 == Approx(15));
    CHECK(s.wait_s.p75 == Approx(40));
    CHECK(s.wait_s.p90 == Approx(76));
    CHECK(s.wait_s.p95 == Approx(88));
    CHECK(s.wait_s.p99 == Approx(97.6));
    CHECK(s.response_s.p50 == Approx(25));
    CHECK_FALSE(queue_spread(&jobs[3], 1, &s, a));
    CHECK_FALSE(queue_spread(nullptr, 0, &s, a));
}

TEST_CASE("Jain's index and the Gini coefficient", "[queue]")
{
    double slowdowns[] = {1, 2, 3}, waits[] = {100, 0, 10, 20}, none[] = {0, 0};
    double one[] = {5}, all[] = {0, 0, 0, 8};

    CHECK(queue_jain(slowdowns, 3) == Approx(36.0 / 42).epsilon(1e-12));
    CHECK(queue_jain(none, 2) == 1);
    CHECK(queue_jain(one, 1) == Approx(1).epsilon(1e-15));
    CHECK(queue_jain(all, 4) == Approx(0.25).epsilon(1e-15));
    CHECK(queue_gini(waits, 4) == Approx(620.0 / 1040).epsilon(1e-12));
    CHECK(queue_gini(none, 2) == 0);
    CHECK(queue_gini(one, 1) == 0);
    CHECK(queue_gini(all, 4) == Approx(0.75).epsilon(1e-15));
}

TEST_CASE("fairness is as counted pair by pair", "[queue][property]")
{
    for (uint64_t seed = 0; seed < 40; seed++)
        for (size_t count : {0, 1, 2, 17, 60}) {
            test_arena a;
            std::vector<queue_outcome> jobs = some(count, seed);
            std::map<double, std::vector<const queue_outcome *>> users;
            struct queue_fairness f {
            };
            size_t overtaken = 0, n = 0;

            for (const queue_outcome &i : jobs) {
                bool passed = false;

                if (!queue_ran(&i))
                    continue;
                n++;
                double user = i.key[QUEUE_KEY_USER];
                users[std::isnan(user) ? 99 : user].push_back(&i);
                for (const queue_outcome &k : jobs)
                    passed |= queue_ran(&k) && k.submit_s > i.submit_s &&
                              k.priority <= i.priority && k.start_s < i.start_s;
                overtaken += passed;
            }
            INFO("seed " << seed << ", " << count << " jobs");
            REQUIRE(queue_fairness(jobs.data(), count, nullptr, &f, a) == (n > 0));
            if (!n)
                continue;
            double sum = 0, squares = 0, differences = 0, total = 0;
            std::vector<double> waits;
            for (auto &[user, list] : users) {
                double wait_s = 0, bounded = 0;
                for (const queue_outcome *o : list) {
                    wait_s += o->wait_s / double(list.size());
                    bounded += o->bounded / double(list.size());
                }
                sum += bounded;
                squares += bounded * bounded;
                waits.push_back(wait_s);
            }
            for (double x : waits) {
                total += x;
                for (double y : waits)
                    differences += std::abs(x - y);
            }
            double u = double(users.size());
            CHECK(f.user_count == users.size());
            CHECK(f.overtaken_ratio == double(overtaken) / double(n));
            CHECK(f.jain_index == Approx(sum * sum / (u * squares)).epsilon(1e-9));
            CHECK(f.gini_wait ==
                  Approx(total > 0 ? differences / (2 * u * total) : 0).margin(1e-9));
        }
}

TEST_CASE("a job is overtaken by a later one of no higher priority", "[queue]")
{
    test_arena a;
    struct queue_fairness f {
    };
    std::vector<queue_outcome> jobs = {ran(0, 50, 1, 1), ran(10, 0, 1, 1)};

    REQUIRE(queue_fairness(jobs.data(), 2, nullptr, &f, a));
    CHECK(f.overtaken_ratio == 0.5);
    jobs[1].priority = 1; // it may
    REQUIRE(queue_fairness(jobs.data(), 2, nullptr, &f, a));
    CHECK(f.overtaken_ratio == 0);
    jobs[1] = ran(0, 10, 1, 1); // as early
    REQUIRE(queue_fairness(jobs.data(), 2, nullptr, &f, a));
    CHECK(f.overtaken_ratio == 0);
    jobs[1] = ran(10, 40, 1, 1); // together
    REQUIRE(queue_fairness(jobs.data(), 2, nullptr, &f, a));
    CHECK(f.overtaken_ratio == 0);
}

TEST_CASE("use of the cluster is weighted by time", "[queue]")
{
    test_arena a;
    // 4 cores: 10 s of 2 cores, then a job that waited from 5 to 10 and runs to 25
    std::vector<queue_outcome> jobs = {ran(0, 0, 10, 2), ran(5, 5, 15, 4)};
    struct queue_usage u {
    };

    queue_usage_begin(&u, 0, 25, 10, a);
    REQUIRE(u.step_count == 3);
    queue_usage_of(&u, jobs.data(), 2);
    queue_usage_row *rows = queue_usage_rows(&u, 4, a);
    CHECK(rows[0].busy_ratio == 0.5);
    CHECK(rows[0].running_count == 1);
    CHECK(rows[0].waiting_count == 0.5);
    CHECK(rows[0].queued_core_s == 20);
    CHECK(rows[1].from_s == 10);
    CHECK(rows[1].busy_ratio == 1);
    CHECK(rows[1].waiting_count == 0);
    CHECK(rows[2].busy_ratio == 0.5);
    CHECK(rows[2].allocated_ratio == 0.5);
    CHECK(queue_usage_step(0, 200) == 1);
    CHECK(queue_usage_step(200, 200) == 1);
    CHECK(queue_usage_step(201, 200) == 2);
}

TEST_CASE("steps of use are exact sums of what overlaps them", "[queue][property]")
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        test_arena a;
        std::vector<queue_outcome> jobs = some(seed % 40, seed);
        double step_s = seed % 4 == 0 ? 1 : 7 + double(seed % 50), to_s = 0;
        bool exact = seed % 2 || seed % 3 == 0;
        struct queue_usage u {
        };

        for (const queue_outcome &o : jobs)
            if (queue_ran(&o))
                to_s = std::max(to_s, o.start_s + o.run_s);
        queue_usage_begin(&u, 0, to_s, step_s, a);
        queue_usage_of(&u, jobs.data(), jobs.size());
        queue_usage_row *rows = queue_usage_rows(&u, 50, a);
        for (size_t i = 0; i < u.step_count; i++) {
            double b = double(i) * step_s, e = b + step_s;
            double busy = 0, running = 0, waiting = 0, queued = 0;

            for (const queue_outcome &o : jobs) {
                if (!queue_ran(&o))
                    continue;
                double w = shared_s(o.submit_s, o.start_s, b, e);
                double r = shared_s(o.start_s, o.start_s + o.run_s, b, e);
                waiting += w;
                queued += w * o.cores;
                running += r;
                busy += r * o.cores;
            }
            INFO("seed " << seed << ", step " << i);
            double margin = exact ? 0 : 1e-7;
            // Sums are exact, and a quotient is rounded once, from a long double.
            auto is_quotient = [&](double found, double sum, double of) {
                return std::abs(found - sum / of) <= margin + 3e-16 * found;
            };
            REQUIRE(std::abs(rows[i].queued_core_s - queued) <= margin);
            REQUIRE(is_quotient(rows[i].busy_ratio, busy, step_s * 50));
            REQUIRE(is_quotient(rows[i].allocated_ratio, busy, step_s * 50));
            REQUIRE(is_quotient(rows[i].running_count, running, step_s));
            REQUIRE(is_quotient(rows[i].waiting_count, waiting, step_s));
        }
    }
}

TEST_CASE("tables have all jobs that ran, once", "[queue][property]")
{
    for (uint64_t seed = 0; seed < 40; seed++)
        for (int grouping :
             {int(QUEUE_KEY_USER), int(QUEUE_KEY_ACCOUNT), int(QUEUE_BY_SIZE)})
            for (size_t rows : {size_t{1}, size_t{2}, size_t{100}}) {
                test_arena a;
                std::vector<queue_outcome> jobs = some(50, seed);
                queue_table t{};
                size_t count = 0, want = 0;
                double core_s = 0, want_s = 0;

                queue_tabulate(jobs.data(), jobs.size(), grouping, rows, &t, a);
                for (const queue_outcome &o : jobs)
                    if (queue_ran(&o)) {
                        want++;
                        want_s += o.run_s * o.cores;
                    }
                for (size_t i = 0; i < t.count; i++) {
                    count += t.groups[i].job_count;
                    core_s += t.groups[i].core_s;
                    CHECK(t.groups[i].is_others == (i >= rows));
                    if (i && !t.groups[i].is_others)
                        CHECK(t.groups[i - 1].core_s >= t.groups[i].core_s);
                }
                CHECK(count == want);
                CHECK(core_s == Approx(want_s));
                CHECK(t.count <= rows + 1);
            }
}

TEST_CASE("an interval is that of weeks drawn again", "[queue]")
{
    // of the 27 resamples the least is -40 and the greatest 20, each 1 in 27
    const double sums[] = {-400, 100, -150}, counts[] = {10, 5, 5};
    size_t hits = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        test_arena a;
        struct queue_study s {
        };
        double low = 0, high = 0;

        s.block_count = 3;
        s.seed = seed;
        s.resamples = 1000;
        s.confidence = 0.95;
        REQUIRE(queue_study_interval(&s, sums, counts, &low, &high, a));
        CHECK(low >= -40);
        CHECK(low <= -38);
        CHECK(high <= 20);
        CHECK(high >= 10.0 / 3 - 1e-12);
        hits += low == -40 && high == 20;
    }
    CHECK(hits >= 50); // about 95 % of the seeds
}

TEST_CASE("an interval is as drawn by hand from the stream of each resample", "[queue]")
{
    const double sums[] = {3, -7, 0, 12.5, 1}, counts[] = {1, 2, 4, 3, 0};
    test_arena a;
    struct queue_study s {
    };
    double low = 0, high = 0;
    std::vector<double> means;

    s.block_count = 5;
    s.seed = 42;
    s.resamples = 11;
    s.confidence = 0.8;
    REQUIRE(queue_study_interval(&s, sums, counts, &low, &high, a));
    for (int k = 0; k < 11; k++) {
        rng r = rng_stream(42, ("study." + std::to_string(k)).c_str());
        double sum = 0, n = 0;
        for (int i = 0; i < 5; i++) {
            size_t b = rng_index(&r, 5);
            sum += sums[b];
            n += counts[b];
        }
        REQUIRE(n > 0);
        means.push_back(sum / n);
    }
    std::sort(means.begin(), means.end());
    CHECK(low == Approx(means[1]).epsilon(1e-12)); // (11 - 1) * 0.1
    CHECK(high == Approx(means[9]).epsilon(1e-12));
}

TEST_CASE("a study compares job by job, in weeks, else in days", "[queue]")
{
    const double day_s = 86400;

    for (auto [days, want] :
         {std::pair(7.0, int(QUEUE_NO_BLOCKS)), std::pair(8.0, int(QUEUE_DAYS)),
          std::pair(49.0, int(QUEUE_DAYS)), std::pair(50.0, int(QUEUE_WEEKS))}) {
        test_arena a;
        std::vector<queue_outcome> base, variant;
        std::vector<double> submit_s;

        for (double at_s = 1e6; at_s < 1e6 + days * day_s; at_s += day_s / 4) {
            double user = double(base.size() % 3);
            base.push_back(ran(at_s, 100, 50, 1, user));
            // user 0 gains, 1 loses, 2 is served alike
            variant.push_back(ran(at_s,
                                  user == 0   ? 20
                                  : user == 1 ? 130
                                              : 100,
                                  50, 1, user));
            submit_s.push_back(at_s);
        }
        struct queue_study s {
        };
        queue_comparison c{};
        s.seed = 1;
        s.resamples = 200;
        s.confidence = 0.95;
        queue_study_begin(&s, base.data(), submit_s.data(), base.size(), 0, 0, a);
        INFO(days);
        CHECK(int(s.block) == want);
        CHECK(s.counted == base.size());
        CHECK(s.block_count == (want == QUEUE_NO_BLOCKS ? 1
                                : want == QUEUE_DAYS    ? size_t(days)
                                                        : size_t(std::ceil(days / 7))));
        queue_study_compare(&s, variant.data(), &c, a, a);
        CHECK_FALSE(c.is_cut);
        CHECK(c.job_count == base.size());
        const queue_change &wait = c.change[QUEUE_STUDY_wait_s];
        double mean = 0;
        for (size_t i = 0; i < base.size(); i++)
            mean += (variant[i].wait_s - base[i].wait_s) / double(base.size());
        CHECK(wait.mean == Approx(mean).epsilon(1e-12));
        CHECK(wait.better_ratio == Approx(1.0 / 3).margin(0.03));
        CHECK(wait.worse_ratio == Approx(1.0 / 3).margin(0.03));
        if (want == QUEUE_NO_BLOCKS) {
            CHECK(std::isnan(wait.low));
            CHECK(wait.verdict == QUEUE_UNDECIDED);
        } else {
            CHECK(wait.low <= wait.mean);
            CHECK(wait.high >= wait.mean);
            CHECK(wait.verdict == (wait.high < 0 ? QUEUE_BETTER : QUEUE_UNDECIDED));
        }
        REQUIRE(c.hurt_count == 1);
        CHECK(c.hurt[0].user == 1);
        CHECK(c.hurt[0].mean_wait_change_s == 30);

        // the other way round, all is the other way round
        struct queue_study back = s;
        queue_comparison d{};
        queue_study_begin(&back, variant.data(), submit_s.data(), base.size(), 0, 0, a);
        queue_study_compare(&back, base.data(), &d, a, a);
        const queue_change &other = d.change[QUEUE_STUDY_wait_s];
        CHECK(other.mean == Approx(-wait.mean));
        if (want != QUEUE_NO_BLOCKS) {
            CHECK(other.low == Approx(-wait.high));
            CHECK(other.high == Approx(-wait.low));
        }
        // with itself: nothing changes
        queue_study_begin(&back, base.data(), submit_s.data(), base.size(), 0, 0, a);
        queue_study_compare(&back, base.data(), &d, a, a);
        CHECK(d.change[QUEUE_STUDY_wait_s].mean == 0);
        CHECK(d.change[QUEUE_STUDY_wait_s].verdict == QUEUE_UNDECIDED);
        CHECK(d.hurt_count == 0);
    }
}

TEST_CASE("a study leaves out what did not run in both, warm-up and cool-down", "[queue]")
{
    test_arena a;
    std::vector<queue_outcome> base = {ran(0, 1, 5, 1), ran(10, 1, 5, 1), never(20),
                                       ran(30, 1, 5, 1), ran(40, 1, 5, 1)};
    std::vector<queue_outcome> variant = {ran(0, 9, 5, 1), ran(10, 3, 5, 1),
                                          ran(20, 3, 5, 1), never(30), ran(40, 9, 5, 1)};
    std::vector<double> submit_s = {0, 10, 20, 30, 40};
    struct queue_study s {
    };
    queue_comparison c{};

    s.resamples = 1;
    s.confidence = 0.9;
    queue_study_begin(&s, base.data(), submit_s.data(), 5, 10, 10, a);
    CHECK(s.counted == 2); // those at 10 and 30
    queue_study_compare(&s, variant.data(), &c, a, a);
    CHECK(c.job_count == 1);
    CHECK(c.change[QUEUE_STUDY_wait_s].mean == 2);
    CHECK(c.change[QUEUE_STUDY_response_s].mean == 2);
    CHECK(c.change[QUEUE_STUDY_wait_s].worse_ratio == 1);
    queue_study_begin(&s, base.data(), submit_s.data(), 5, 41, 0, a);
    queue_study_compare(&s, variant.data(), &c, a, a);
    CHECK(s.counted == 0);
    CHECK(c.job_count == 0);
    CHECK(std::isnan(c.change[QUEUE_STUDY_wait_s].mean));
}
