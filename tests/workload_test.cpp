// workload_test.cpp - the jobs that the grid simulator gets.
#include "tests/support.hpp"

#include <fstream>
#include <memory>
#include <set>
#include <sstream>

extern "C" {
#include "algorithms/simulation/workload.h"
}

static const double NONE = std::nan("");
static const double WEEK_S = 7 * 86400.0;

static workload prepared(arena *a, workload w)
{
    error err = collecting_error(a);
    error_code code = workload_prepare(&w, "/workload", a, &err);
    INFO(err.field << " " << err.text);
    REQUIRE(code == OK);
    return w;
}

static workload preset(arena *a, const char *name)
{
    workload w;
    error err{};
    REQUIRE(workload_from_preset(name, &w, a, &err) == OK);
    return prepared(a, w);
}

// The first `limit` jobs of a run.
static std::vector<sim_job> jobs_of(const workload &w, uint64_t seed, double horizon_s,
                                    size_t limit = SIZE_MAX)
{
    test_arena a;
    error err{};
    workload_source *source;
    std::vector<sim_job> jobs;
    sim_job job;
    REQUIRE(workload_open(&w, seed, horizon_s, &source, a, &err) == OK);
    while (jobs.size() < limit && workload_next(source, &job))
        jobs.push_back(job);
    return jobs;
}

static sim_job given_job(double arrival_s, double length_mi)
{
    sim_job j{};
    j.arrival_s = arrival_s;
    j.length_mi = length_mi;
    j.input_bytes = j.output_bytes = j.checkpoint_bytes = j.checkpoint_overhead_s = NONE;
    j.user = SIM_ANY_USER;
    j.resource = SIM_NOT_PINNED;
    j.mips_required = j.session_s = j.requested_s = NONE;
    return j;
}

static swf_job log_job(double submit_s, double run_s, double processors, double user)
{
    swf_job j;
    for (size_t i = 0; i < SWF_COLUMN_COUNT; i++)
        reinterpret_cast<double *>(&j)[i] = NONE;
    j.submit_s = submit_s;
    j.run_s = run_s;
    j.processors = processors;
    j.user = user;
    return j;
}

static const distribution *keep(arena *a, distribution d)
{
    auto *kept = NEW(a, distribution, 1);
    *kept = d;
    return kept;
}

TEST_CASE("the Lublin weights are those of simulator.md 9.1", "[workload]")
{
    double w[48], sum = 0, day = 0;
    lublin_weights(6.1271, 5.2740, w);
    CHECK(w[0] == Approx(0.5462).margin(6e-5));
    CHECK(w[14] == Approx(0.7964).margin(6e-5));
    CHECK(w[28] == Approx(1.6448).margin(6e-5));
    CHECK(w[42] == Approx(0.8720).margin(6e-5));
    for (int i = 0; i < 48; i++) {
        sum += w[i];
        day += i >= 14 && i < 42 ? w[i] : 0;
    }
    CHECK(sum == Approx(48).epsilon(1e-12));
    CHECK(day / 48 == Approx(0.788).margin(6e-4));
    lublin_weights(8.1737, 3.9631, w);
    for (int i = day = 0; i < 48; i++)
        day += i >= 14 && i < 42 ? w[i] : 0;
    CHECK(day / 48 == Approx(0.818).margin(6e-4));
}

TEST_CASE("the high preset has the outcomes of simulator.md 9.1", "[workload]")
{
    test_arena a;
    workload w = preset(a, "ch4_high");
    double jobs = 0, day = 0, hours = 0, below_1 = 0, above_10 = 0, in_1_to_6 = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        for (auto &j : jobs_of(w, seed, WEEK_S)) {
            double hour = std::fmod(j.arrival_s, 86400) / 3600,
                   length = j.length_mi / 3600;
            jobs++;
            day += hour >= 7 && hour < 21;
            hours += length;
            below_1 += length < 1;
            above_10 += length > 10;
            in_1_to_6 += length >= 1 && length <= 6;
        }
    }
    CHECK(jobs / 30 == Approx(6990).margin(400)); // a mean of 30 has sd 130
    CHECK(day / jobs == Approx(0.788).margin(0.01));
    CHECK(hours / jobs == Approx(2.51).margin(0.01));
    CHECK(in_1_to_6 / jobs == Approx(0.85).margin(0.01));
    CHECK(below_1 / jobs == Approx(0.108).margin(0.004));
    CHECK(above_10 / jobs == Approx(0.006).margin(0.001));
}

TEST_CASE("the low preset has the outcomes of simulator.md 9.1", "[workload]")
{
    test_arena a;
    workload w = preset(a, "ch4_low");
    double jobs = 0, hours = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        for (auto &j : jobs_of(w, seed, WEEK_S)) {
            jobs++;
            hours += j.length_mi / 3600;
        }
    }
    CHECK(jobs / 300 == Approx(700).margin(45));
    CHECK(hours / jobs == Approx(0.301).margin(0.003));
}

TEST_CASE("the published sets have their mean gaps and run times", "[workload]")
{
    // (1 - barr)^-(aarr * arar) without truncation; run times computed from the model
    struct {
        lublin_set set;
        double below_1h;
    } cases[] = {{LUBLIN_BATCH, 0.63}, {LUBLIN_INTERACTIVE, NONE}, {LUBLIN_ALL, NONE}};
    for (auto &c : cases) {
        test_arena a;
        workload w = workload_blank(WORKLOAD_LUBLIN);
        w.lublin.set = c.set;
        w = prepared(a, w);
        double below = 0, n = 0;
        for (auto &j : jobs_of(w, 1, HUGE_VAL, 20000)) {
            below += j.length_mi < 3600;
            n++;
            if (!(j.length_mi > 0 && j.length_mi <= std::exp(12)))
                FAIL(j.length_mi);
        }
        CHECK(n == 20000);
        if (!std::isnan(c.below_1h))
            CHECK(below / n == Approx(c.below_1h).margin(0.01));
    }
    test_arena a;
    workload high = preset(a, "ch4_high");
    CHECK(std::pow(1 - high.lublin.barr, -high.lublin.aarr * high.lublin.arar) ==
          Approx(86.4).margin(0.3));
}

TEST_CASE("a job count for lublin keeps the daily cycle", "[workload]")
{
    test_arena a;
    workload w;
    error err{};
    REQUIRE(workload_from_preset("ch4_high", &w, a, &err) == OK);
    w.job_count = 7000;
    w = prepared(a, w);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        auto jobs = jobs_of(w, seed, WEEK_S);
        double day = 0;
        CHECK(jobs.size() == 7000);
        for (auto &j : jobs) {
            double hour = std::fmod(j.arrival_s, 86400) / 3600;
            day += hour >= 7 && hour < 21;
        }
        CHECK(day / 7000 == Approx(0.788).margin(0.03));
        CHECK(jobs.back().arrival_s > WEEK_S - 86400);
    }
    workload_source *source;
    CHECK(workload_open(&w, 1, HUGE_VAL, &source, a, &err) == ERR_INVALID);
}

TEST_CASE("simple_daily has exactly its number of jobs in its cycle", "[workload]")
{
    test_arena a;
    workload w = preset(a, "ch4_high_daily");
    double day = 0, hours = 0, first_days = 0, square = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        auto jobs = jobs_of(w, seed, WEEK_S);
        REQUIRE(jobs.size() == 7000);
        for (auto &j : jobs) {
            double hour = std::fmod(j.arrival_s, 86400) / 3600;
            day += hour >= 7 && hour < 21;
            square += hour >= 7 && hour < 21 ? (hour - 14) * (hour - 14) : 0;
            first_days += j.arrival_s < 3 * 86400;
            hours += j.length_mi / 3600;
        }
    }
    CHECK(day / 70000 == Approx(0.8).margin(0.006));
    CHECK(square / day == Approx(49.0 / 6).margin(0.15)); // of the triangle
    CHECK(first_days / 70000 == Approx(3.0 / 7).margin(0.008));
    CHECK(hours / 70000 == Approx(2.5).margin(0.03));
    // a horizon of any length
    for (double horizon_s : {1e-3, 100.0, 40000.0, 86400.0, 100000.0, 1e9}) {
        auto jobs = jobs_of(w, 1, horizon_s);
        CHECK(jobs.size() == 7000);
        CHECK(jobs.back().arrival_s < horizon_s);
    }
    CHECK(jobs_of(w, 1, 0).empty());
    error err{};
    workload_source *source;
    CHECK(workload_open(&w, 1, HUGE_VAL, &source, a, &err) == ERR_INVALID);
}

TEST_CASE("chapter 3's workloads", "[workload]")
{
    test_arena a;
    struct {
        const char *name;
        double length_mi;
    } cases[] = {{"ch3_desktop_short", 600},
                 {"ch3_desktop_medium", 5400},
                 {"ch3_desktop_long", 12600}};
    for (auto &c : cases) {
        double last = 0;
        auto jobs = jobs_of(preset(a, c.name), 1, 5 * WEEK_S);
        for (auto &j : jobs) {
            bool ok = j.length_mi == c.length_mi && j.arrival_s - last >= 60 - 1e-6 &&
                      j.arrival_s - last <= 300 + 1e-6 && j.input_bytes == 0 &&
                      j.output_bytes == 0;
            if (!ok)
                FAIL("job " << j.number);
            last = j.arrival_s;
        }
        CHECK(double(jobs.size()) == Approx(5 * WEEK_S / 180).epsilon(0.02));
    }
    auto jobs = jobs_of(preset(a, "ch3_tornado"), 1, 10 * 86400);
    std::vector<size_t> of_user(10);
    std::set<double> instants;
    double sum = 0;
    for (auto &j : jobs) {
        of_user.at(j.user)++;
        instants.insert(j.arrival_s);
        sum += j.length_mi;
        if (j.length_mi < 60 || j.input_bytes != 2e6 || j.output_bytes != 10e6)
            FAIL("job " << j.number);
    }
    CHECK(jobs.size() == 1000 * instants.size());
    CHECK(instants.size() >= 100); // 10 users, 10 days, once or twice
    CHECK(instants.size() <= 200);
    for (size_t n : of_user)
        CHECK((n % 1000 == 0 && n >= 10000 && n <= 20000));
    CHECK(sum / double(jobs.size()) == Approx(600).margin(1));
}

TEST_CASE("poisson and vm_session have exponential gaps", "[workload]")
{
    test_arena a;
    for (auto generator : {WORKLOAD_POISSON, WORKLOAD_VM_SESSION}) {
        workload w = workload_blank(generator);
        w.arrival_gap_s = keep(a, distribution_exponential(10));
        w.length_mi = keep(a, distribution_exponential(8));
        w.mips_required = keep(a, distribution_uniform(1, 3));
        w.session_s = keep(a, distribution_exponential(100));
        w = prepared(a, w);
        auto jobs = jobs_of(w, 1, 5e5);
        double n = double(jobs.size()), sum = 0, squares = 0, last = 0, length = 0;
        for (auto &j : jobs) {
            sum += j.arrival_s - last;
            squares += (j.arrival_s - last) * (j.arrival_s - last);
            last = j.arrival_s;
            length += j.length_mi;
            bool session = generator == WORKLOAD_VM_SESSION;
            if (session ? j.length_mi != j.mips_required * j.session_s
                        : !std::isnan(j.mips_required))
                FAIL("job " << j.number);
        }
        CHECK(sum / n == Approx(10).epsilon(0.02));
        CHECK(squares / n == Approx(200).epsilon(0.05));
        CHECK(length / n ==
              Approx(generator == WORKLOAD_POISSON ? 8 : 200).epsilon(0.03));
    }
}

TEST_CASE("jobs that are given come in order and are completed", "[workload]")
{
    test_arena a;
    sim_job given[] = {given_job(70, 1200), given_job(10, 600), given_job(20, 600),
                       given_job(20, 36000), given_job(5000, 1)};
    given[1].resource = 4;
    given[1].user = 7;
    given[1].checkpoint_overhead_s = 3;
    given[1].input_bytes = 5;
    given[2].mips_required = 2;
    given[2].session_s = 50;
    given[2].length_mi = NONE;
    workload w = workload_blank(WORKLOAD_BATCH);
    w.jobs = given;
    w.given_count = 5;
    w.input_bytes = keep(a, distribution_constant(9));
    w.checkpoint_overhead_factor = 10;
    w = prepared(a, w);
    auto jobs = jobs_of(w, 1, 1000);
    REQUIRE(jobs.size() == 4);
    size_t order[] = {1, 2, 3, 0};
    for (size_t i = 0; i < 4; i++) {
        CHECK(jobs[i].number == i);
        CHECK(jobs[i].given == order[i]);
        CHECK(jobs[i].arrival_s == given[order[i]].arrival_s);
        CHECK(jobs[i].cpus == 1);
        CHECK(jobs[i].user < 8);
    }
    CHECK(jobs[0].resource == 4);
    CHECK(jobs[0].user == 7);
    CHECK(jobs[0].checkpoint_overhead_s == 3);
    CHECK(jobs[0].input_bytes == 5);
    CHECK(jobs[1].length_mi == 100);
    CHECK(jobs[1].input_bytes == 9);
    CHECK(jobs[2].checkpoint_overhead_s == Approx(50).epsilon(1e-12));
    CHECK(jobs[3].resource == SIM_NOT_PINNED);

    test_arena b;
    error err{};
    workload_source *source;
    REQUIRE(workload_open(&w, 1, 1000, &source, b, &err) == OK);
    CHECK(workload_user_count(source) == 8);
    w.start_s = 100;
    w.stop_s = 121;
    jobs = jobs_of(w, 1, 1000);
    REQUIRE(jobs.size() == 3);
    CHECK(jobs[0].arrival_s == 110);
}

TEST_CASE("the overhead of a checkpoint grows with the job", "[workload]")
{
    CHECK(checkpoint_overhead_of(0) == Approx(0.1).epsilon(1e-14));
    CHECK(checkpoint_overhead_of(18000) == Approx(2.55).epsilon(1e-14));
    CHECK(checkpoint_overhead_of(36000) == Approx(5).epsilon(1e-14));
    CHECK(checkpoint_overhead_of(1e9) == Approx(5).epsilon(1e-14));
    test_arena a;
    for (auto &j : jobs_of(preset(a, "ch4_checkpoint_stress"), 1, WEEK_S, 100))
        CHECK(j.checkpoint_overhead_s ==
              Approx(10 * checkpoint_overhead_of(j.length_mi)).epsilon(1e-12));
    workload w = workload_blank(WORKLOAD_UNIFORM_STREAM);
    w.checkpoint_overhead_s = keep(a, distribution_constant(7));
    for (auto &j : jobs_of(prepared(a, w), 1, 5000))
        CHECK(j.checkpoint_overhead_s == 7);
}

TEST_CASE("a log's jobs start at 0, users numbered from 0", "[workload]")
{
    test_arena a;
    swf_job log[] = {log_job(130, 10, 4, 12), log_job(100, 20, 1, NONE),
                     log_job(100, 30, 2, 5)};
    log[0].requested_s = 600;
    workload w = workload_blank(WORKLOAD_SWF);
    w.swf_jobs = log;
    w.swf_job_count = 3;
    w.swf_mips = 1e18; // the most of the description
    w.checkpoint_overhead_factor = 1e18;
    CHECK(jobs_of(prepared(a, w), 1, 1000)[0].length_mi == 2e19);
    w.checkpoint_overhead_factor = NAN;
    w.swf_mips = 2;
    w = prepared(a, w);
    auto jobs = jobs_of(w, 1, 1000);
    REQUIRE(jobs.size() == 3);
    CHECK(jobs[0].given == 1);
    CHECK(jobs[0].arrival_s == 0);
    CHECK(jobs[0].length_mi == 40);
    CHECK(jobs[0].user == 0);
    CHECK(jobs[1].given == 2);
    CHECK(jobs[1].user == 1);
    CHECK(jobs[1].cpus == 2);
    CHECK(jobs[2].arrival_s == 30);
    CHECK(jobs[2].user == 2);
    CHECK(jobs[2].requested_s == 600);
    workload_source *source;
    error err{};
    REQUIRE(workload_open(&w, 1, 1000, &source, a, &err) == OK);
    CHECK(workload_user_count(source) == 3);
}

TEST_CASE("KTH-SP2 arrives as it is in the log", "[workload]")
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    std::ifstream in(std::string(data) + "/01-workloads/swf/KTH-SP2-first1000.swf");
    std::ostringstream stream;
    stream << in.rdbuf();
    std::string text = stream.str();
    test_arena a;
    error err{};
    swf_log log;
    swf_header header;
    swf_counts counts;
    REQUIRE(swf_read(text.data(), text.size(), &log, &header, &counts, a, &err) == OK);
    workload w = workload_blank(WORKLOAD_SWF);
    w.swf_jobs = log.jobs;
    w.swf_job_count = log.count;
    auto jobs = jobs_of(prepared(a, w), 1, HUGE_VAL);
    REQUIRE(jobs.size() == 1000);
    for (size_t i = 0; i < 1000; i++) {
        CHECK(jobs[i].given == i);
        CHECK(jobs[i].arrival_s == log.jobs[i].submit_s);
        CHECK(jobs[i].length_mi == log.jobs[i].run_s);
    }
}

TEST_CASE("mistakes in a workload are named all at once", "[workload]")
{
    test_arena a;
    distribution negative = distribution_blank(DISTRIBUTION_NORMAL);
    negative.mean = negative.sd = 1;
    sim_job bad_jobs[] = {given_job(NONE, 1), given_job(1, -5), given_job(1, 1)};
    bad_jobs[2].output_bytes = 1e308;
    bad_jobs[2].user = 1000000;
    swf_job bad_log[] = {log_job(NONE, 1, 1, 1), log_job(1, NONE, NONE, 1)};
    struct {
        const char *what;
        workload_generator generator;
        void (*set)(workload &, arena *, const void *);
        const void *with;
        std::vector<std::string> pointers;
    } cases[] = {
        {"numbers",
         WORKLOAD_POISSON,
         [](auto &w, arena *, const void *) {
             w.start_s = -1;
             w.stop_s = 1e308;
             w.checkpoint_overhead_factor = HUGE_VAL;
             w.job_count = w.user_count = UINT64_MAX;
         },
         nullptr,
         {"start_s", "stop_s", "checkpoint_overhead_factor", "job_count", "user_count"}},
        {"distributions",
         WORKLOAD_POISSON,
         [](auto &w, arena *b, const void *with) {
             w.length_mi = static_cast<const distribution *>(with);
             w.input_bytes = keep(b, distribution_blank(DISTRIBUTION_UNIFORM));
         },
         &negative,
         {"length_mi", "input_bytes/l_bound", "input_bytes/u_bound"}},
        {"gaps of 0",
         WORKLOAD_UNIFORM_STREAM,
         [](auto &w, arena *b, const void *) {
             w.arrival_gap_s = keep(b, distribution_constant(0));
         },
         nullptr,
         {"arrival_gap_s"}},
        {"tornado",
         WORKLOAD_TORNADO_BATCH,
         [](auto &w, arena *, const void *) { w.batches_min = 5, w.batches_max = 3; },
         nullptr,
         {"batches_max"}},
        {"too many batches",
         WORKLOAD_TORNADO_BATCH,
         [](auto &w, arena *, const void *) {
             w.user_count = 1000, w.batches_max = 1001;
         },
         nullptr,
         {"user_count"}},
        {"lublin bounds",
         WORKLOAD_LUBLIN,
         [](auto &w, arena *, const void *) { w.lublin.aarr = 0, w.lublin.pb = 1e308; },
         nullptr,
         {"lublin/aarr", "lublin/pb"}},
        {"lublin for ever",
         WORKLOAD_LUBLIN,
         [](auto &w, arena *, const void *) {
             w.lublin.barr = 10, w.lublin.b1 = 100, w.lublin.b2 = 100;
             w.lublin.bnum = 1e-6;
         },
         nullptr,
         {"lublin/barr", "lublin/b1", "lublin/b2", "lublin/bnum"}},
        {"batch",
         WORKLOAD_BATCH,
         [](auto &w, arena *, const void *with) {
             w.jobs = static_cast<const sim_job *>(with), w.given_count = 3;
         },
         bad_jobs,
         {"jobs/0/arrival_s", "jobs/1/length_mi", "jobs/2/output_bytes", "jobs/2/user"}},
        {"swf",
         WORKLOAD_SWF,
         [](auto &w, arena *, const void *with) {
             w.swf_jobs = static_cast<const swf_job *>(with), w.swf_job_count = 2;
         },
         bad_log,
         {"swf_jobs/0/submit_s", "swf_jobs/1/run_s", "swf_jobs/1/processors"}},
    };
    for (auto &c : cases) {
        DYNAMIC_SECTION(c.what)
        {
            workload w = workload_blank(c.generator);
            error err = collecting_error(a);
            c.set(w, a, c.with);
            CHECK(workload_prepare(&w, "/w", a, &err) == ERR_INVALID);
            std::vector<std::string> found;
            for (error_item *i = err.first; i; i = i->next)
                found.push_back(std::string(i->pointer).substr(3));
            CHECK(found == c.pointers);
        }
    }
    workload w;
    error err{};
    CHECK(workload_from_preset("ch9", &w, a, &err) == ERR_NOT_FOUND);
}

// Every generator with its presets, and with given jobs.
static std::vector<workload> all_workloads(arena *a, rng *r)
{
    std::vector<workload> list;
    size_t count = rng_index(r, 50);
    auto *jobs = NEW(a, sim_job, count + 1);
    auto *log = NEW(a, swf_job, count + 1);
    for (size_t i = 0; i < count; i++) {
        jobs[i] = given_job(std::floor(100 * rng_uniform(r)), 1000 * rng_uniform(r));
        log[i] =
            log_job(std::floor(100 * rng_uniform(r)), 1000 * rng_uniform(r),
                    1 + std::floor(9 * rng_uniform(r)), std::floor(9 * rng_uniform(r)));
    }
    for (int i = 0; i < WORKLOAD_GENERATOR_COUNT; i++) {
        workload w = workload_blank(workload_generator(i));
        w.jobs = jobs;
        w.given_count = count;
        w.swf_jobs = log;
        w.swf_job_count = count;
        list.push_back(prepared(a, w));
        w.user_count = 1 + rng_index(r, 20);
        w.job_count = 1 + rng_index(r, 300);
        w.start_s = 1e4 * rng_uniform(r);
        w.batch_size = 1 + rng_index(r, 100);
        w.lublin.set = lublin_set(rng_index(r, LUBLIN_SET_COUNT));
        w.length_mi = keep(a, distribution_exponential(1000));
        w.input_bytes = keep(a, distribution_uniform(0, 1e9));
        w.checkpoint_overhead_s = keep(a, distribution_exponential(3));
        list.push_back(prepared(a, w));
    }
    for (const workload_preset *p = workload_presets; p->name; p++)
        list.push_back(preset(a, p->name));
    return list;
}

static bool is_measure(double x)
{
    return std::isfinite(x) && x >= 0;
}

TEST_CASE("arrivals ascend, all numbers are sound, every run is the same",
          "[workload][property]")
{
    rng r = rng_stream(1, "workload_test.property");
    for (uint64_t seed = 0; seed < 10; seed++) {
        test_arena a;
        for (auto &w : all_workloads(a, &r)) {
            double horizon_s = 86400 * 3 * rng_uniform(&r), last = w.start_s;
            CAPTURE(workload_generator_names[w.generator], seed, horizon_s);
            auto jobs = jobs_of(w, seed, horizon_s, 2000),
                 again = jobs_of(w, seed, horizon_s, 2000);
            REQUIRE(jobs.size() == again.size());
            for (size_t i = 0; i < jobs.size(); i++) {
                const sim_job &j = jobs[i];
                bool ok = j.number == i && j.arrival_s >= last &&
                          j.arrival_s < horizon_s && is_measure(j.length_mi) &&
                          is_measure(j.input_bytes) && is_measure(j.output_bytes) &&
                          is_measure(j.checkpoint_bytes) &&
                          is_measure(j.checkpoint_overhead_s) && j.cpus >= 1 &&
                          j.user < 1000 && memcmp(&j, &again[i], sizeof(j)) == 0;
                if (!ok)
                    FAIL("job " << i);
                last = j.arrival_s;
            }
            if (w.job_count)
                CHECK(jobs.size() <= w.job_count);
            if (w.generator == WORKLOAD_SIMPLE_DAILY && horizon_s > w.start_s)
                CHECK(jobs.size() == std::min<uint64_t>(w.job_count, 2000));
            if (w.generator == WORKLOAD_LUBLIN && w.job_count && horizon_s > w.start_s)
                CHECK(jobs.size() == w.job_count);
        }
    }
}

TEST_CASE("one quantity does not disturb another", "[workload][property]")
{
    // another length distribution leaves arrivals, bytes and users as they are
    for (auto generator : {WORKLOAD_POISSON, WORKLOAD_SIMPLE_DAILY,
                           WORKLOAD_TORNADO_BATCH, WORKLOAD_UNIFORM_STREAM}) {
        test_arena a;
        workload w = workload_blank(generator);
        w.user_count = 10;
        w.input_bytes = keep(a, distribution_uniform(0, 1e9));
        workload other = w;
        other.length_mi = keep(a, distribution_uniform(1, 2));
        auto x = jobs_of(prepared(a, w), 1, 86400, 500),
             y = jobs_of(prepared(a, other), 1, 86400, 500);
        REQUIRE(x.size() == y.size());
        size_t differ = 0;
        for (size_t i = 0; i < x.size(); i++) {
            if (x[i].arrival_s != y[i].arrival_s ||
                x[i].input_bytes != y[i].input_bytes || x[i].user != y[i].user)
                FAIL("job " << i);
            differ += x[i].length_mi != y[i].length_mi;
        }
        CHECK(differ > x.size() / 2);
    }
}

TEST_CASE("a stream of jobs needs no memory as it goes on", "[workload][memory]")
{
    test_arena a;
    rng r = rng_stream(2, "workload_test.memory");
    for (auto &w : all_workloads(a, &r)) {
        CAPTURE(workload_generator_names[w.generator]);
        error_code code = ERR_TOO_LARGE;
        for (size_t cap = 0; code != OK; cap += 256) {
            REQUIRE(cap < 100000);
            test_arena b(cap);
            error err{};
            workload_source *source;
            sim_job job;
            code = computed(b, &err,
                            [&] { return workload_open(&w, 1, 1e5, &source, b, &err); });
            CHECK((code == OK || code == ERR_TOO_LARGE));
            if (code != OK)
                continue;
            size_t used = arena_used_bytes(b);
            for (int i = 0; i < 3000 && workload_next(source, &job); i++)
                ;
            CHECK(arena_used_bytes(b) == used);
        }
    }
}

TEST_CASE("preparing a workload fails cleanly when memory is short", "[workload][memory]")
{
    for (int i = 0; i < WORKLOAD_GENERATOR_COUNT; i++) {
        error_code code = ERR_TOO_LARGE;
        for (size_t cap = 0; code != OK; cap += 100) {
            REQUIRE(cap < 100000);
            test_arena a(cap);
            error err{};
            workload w = workload_blank(workload_generator(i));
            code = computed(a, &err, [&] { return workload_prepare(&w, "", a, &err); });
            CHECK((code == OK || code == ERR_TOO_LARGE));
        }
    }
}

TEST_CASE("generators and presets have names", "[workload]")
{
    for (int i = 0; i < WORKLOAD_GENERATOR_COUNT; i++) {
        CHECK(std::string(workload_generators[i].name) == workload_generator_names[i]);
        CHECK(workload_generators[i].purpose[0]);
    }
    CHECK(workload_generators[WORKLOAD_GENERATOR_COUNT].name == nullptr);
    CHECK(workload_generator_names[WORKLOAD_GENERATOR_COUNT] == nullptr);
    CHECK(lublin_set_names[LUBLIN_SET_COUNT] == nullptr);
    for (const workload_preset *p = workload_presets; p[1].name; p++)
        CHECK(std::string(p->name) < p[1].name);
}
