// queue_test.cpp - decisions and replays of batch queues against known schedules.
#include "tests/queue_support.hpp"

#include <filesystem>

extern "C" {
#include "algorithms/queue/profile.h"
}

namespace
{

// ---- logs with known figures ----

struct expected {
    const char *file;
    uint64_t processors;
    size_t usable;
    double fcfs, easy, easy_sjbf; // mean bounded slowdown (10 s), data/README.md
};

const expected logs[] = {
    {"KTH-SP2-first1000.swf", 100, 1000, 418.52, 47.74, 38.11},
    {"HPC2N-2002-first3171.swf", 240, 3145, 47.12, 16.86, 16.12},
};

// ---- pyss-unit ----

// `arrival id est procs run ...`; the id's integer part is the expected end.
std::vector<swf_job> read_case(const std::filesystem::path &path)
{
    std::ifstream in(path);
    std::vector<swf_job> jobs;
    std::string line;

    while (std::getline(in, line)) {
        double arrival, id, estimate, processors, run;
        std::istringstream fields(line);

        if (line[0] != '#' && fields >> arrival >> id >> estimate >> processors >> run)
            jobs.push_back(logged(id, arrival, run, processors, estimate));
    }
    return jobs;
}

std::vector<const char *> policies_of(const std::string &name)
{
    if (name.rfind("basic", 0) == 0)
        return {"fcfs", "easy", "conservative"};
    if (name.rfind("bf", 0) == 0)
        return {"easy", "conservative"};
    if (name.rfind("cons_bf", 0) == 0)
        return {"conservative"};
    if (name.rfind("easy_bf", 0) == 0)
        return {"easy"};
    return {"fcfs"};
}

// ---- decisions ----

struct decided {
    std::vector<queue_verdict> verdicts;
    std::vector<size_t> order;
    queue_out out;
};

decided decide(const char *policy, const queue_in &in)
{
    test_arena a;
    error err = collecting_error(a);
    queue_out out{};

    INFO(policy);
    if (queue_decide(policy_find(queue_policies, policy), &in, &out, a, &err) != OK)
        FAIL(err.text);
    return {{out.verdicts, out.verdicts + in.job_count},
            {out.order, out.order + in.job_count},
            out};
}

// 100 processors, 88 of them busy until 1100; the first job needs 40.
const queue_running busy[] = {{1100, 50}, {1200, 38}};
const queue_job waiting_jobs[] = {
    {900, 500, 40},  // 0: the first
    {910, 90, 10},   // 1: ends before 1100
    {920, 5000, 10}, // 2: long, but beside the first job
    {930, 5000, 30}, // 3: long and wide
    {940, 10, 101},  // 4: wider than the cluster
    {950, 50, 2},    // 5: short
};

queue_in snapshot()
{
    queue_in in{};

    in.now_s = 1000;
    in.processors = 100;
    in.running = busy;
    in.running_count = 2;
    in.jobs = waiting_jobs;
    in.job_count = 6;
    return in;
}

} // namespace

TEST_CASE("mean bounded slowdowns are those of data/README.md", "[queue]")
{
    std::string data = data_folder();

    if (data.empty())
        return;
    for (auto &c : logs)
        DYNAMIC_SECTION(c.file)
        {
            auto jobs = read_swf(data + "/01-workloads/swf/" + c.file);
            queue_replay_in in = replay_of(jobs, c.processors);
            const std::pair<const char *, double> want[] = {
                {"fcfs", c.fcfs}, {"easy", c.easy}, {"easy_sjbf", c.easy_sjbf}};

            CHECK(jobs.size() == c.usable);
            for (auto [policy, slowdown] : want) {
                replayed r = replay(policy, in);

                INFO(policy);
                CHECK(r.run_count == c.usable);
                CHECK(r.figures.mean_bounded_slowdown ==
                      Approx(slowdown).epsilon(0).margin(0.005));
            }
        }
}

TEST_CASE("other figures of the first 1000 jobs of KTH", "[queue]")
{
    // Computed by an independent program of some lines, which walks over the whole
    // queue at every event; it gives the README's slowdowns too.
    const struct {
        const char *policy;
        double slowdown, wait_s;
    } cases[] = {
        {"fcfs", 418.5224227415876, 15176.171},
        {"easy", 47.74488582784919, 2574.83},
        {"easy_sjbf", 38.11144993195819, 2311.216},
        {"sjf", 118.39648796376301, 5191.225},
    };
    std::string data = data_folder();

    if (data.empty())
        return;
    auto jobs = read_swf(data + "/01-workloads/swf/KTH-SP2-first1000.swf");
    for (auto &c : cases) {
        queue_replay_in in = replay_of(jobs, 100);
        replayed r = replay(c.policy, in);

        INFO(c.policy);
        CHECK(r.figures.mean_bounded_slowdown == Approx(c.slowdown).epsilon(1e-12));
        CHECK(r.figures.mean_wait_s == Approx(c.wait_s).epsilon(1e-12));
    }
}

TEST_CASE("figures of conservative on real logs", "[queue]")
{
    // As they were before its profile had blocks.
    const struct {
        const char *file;
        uint64_t processors;
        double slowdown, wait_s;
    } cases[] = {
        {"KTH-SP2-first1000.swf", 100, 42.5130031217, 2344.173},
        {"HPC2N-2002-first3171.swf", 240, 16.1628661209, 3444.02289348},
    };
    std::string data = data_folder();

    if (data.empty())
        return;
    for (auto &c : cases) {
        auto jobs = read_swf(data + "/01-workloads/swf/" + c.file);
        replayed r = replay("conservative", replay_of(jobs, c.processors));

        INFO(c.file);
        CHECK(r.figures.mean_bounded_slowdown == Approx(c.slowdown).epsilon(1e-11));
        CHECK(r.figures.mean_wait_s == Approx(c.wait_s).epsilon(1e-11));
    }
}

TEST_CASE("pyss-unit: every job ends when its id says", "[queue]")
{
    std::string data = data_folder();
    size_t case_count = 0;

    if (data.empty())
        return;
    for (auto &file :
         std::filesystem::directory_iterator(data + "/01-workloads/pyss-unit")) {
        std::string name = file.path().filename();
        auto jobs = read_case(file.path());
        queue_replay_in in = replay_of(jobs, 100);

        in.cut_at_request = true;
        case_count++;
        for (const char *policy : policies_of(name)) {
            replayed r = replay(policy, in);

            for (size_t i = 0; i < jobs.size(); i++) {
                INFO(name << " " << policy << " job " << jobs[i].number);
                CHECK(r.start_s[i] + r.run_s[i] == floor(jobs[i].number));
            }
        }
    }
    CHECK(case_count == 42);
}

TEST_CASE("a log in small: each rule starts other jobs first", "[queue]")
{
    // 10 processors. Job 1 holds 6 for 100 s; job 2 needs 8; 3 is short, 4 is long and
    // narrow, 5 is long and as wide as what is free.
    const std::vector<swf_job> jobs = {
        logged(1, 0, 100, 6), logged(2, 1, 50, 8),  logged(3, 2, 90, 2),
        logged(4, 3, 200, 2), logged(5, 4, 120, 2), logged(6, 5, 10, 4),
    };
    const struct {
        const char *policy;
        std::vector<double> start_s;
    } cases[] = {
        // Nobody overtakes 2, which waits for 1, nor 4, which waits for 2.
        {"fcfs", {0, 100, 100, 150, 150, 150}},
        // 3 ends before 100; 4 fits beside 2 for ever, then nothing is left over.
        {"easy", {0, 100, 2, 3, 150, 150}},
        // At 5 the others hold what is free.
        {"first_fit", {0, 203, 2, 3, 92, 100}},
        {"conservative", {0, 100, 2, 3, 150, 150}},
    };

    for (auto &c : cases) {
        queue_replay_in in = replay_of(jobs, 10);
        INFO(c.policy);
        CHECK(replay(c.policy, in).start_s == c.start_s);
    }
}

TEST_CASE("who waits is told for whom and until when", "[queue]")
{
    const queue_in in = snapshot();

    SECTION("easy")
    {
        decided d = decide("easy", in);

        CHECK(d.order == std::vector<size_t>{0, 1, 2, 3, 4, 5});
        CHECK(d.verdicts[0].reason == QUEUE_REASON_PROCESSORS);
        CHECK(d.verdicts[0].by == QUEUE_BY_RUNNING);
        CHECK(d.verdicts[0].blocker == 0);
        CHECK(d.verdicts[0].until_s == 1100);
        CHECK(d.verdicts[0].start_s == 1100);
        CHECK(d.verdicts[1].reason == QUEUE_REASON_STARTS);
        CHECK(d.verdicts[1].start_s == 1000);
        // 10 of the 12 are taken by job 1, which ends at 1090.
        CHECK(d.verdicts[2].reason == QUEUE_REASON_PROCESSORS);
        CHECK(d.verdicts[2].by == QUEUE_BY_JOB);
        CHECK(d.verdicts[2].blocker == 1);
        CHECK(d.verdicts[2].until_s == 1090);
        CHECK(d.verdicts[2].start_s == 1090);
        CHECK(d.verdicts[3].until_s == 1100);
        CHECK(d.verdicts[4].reason == QUEUE_REASON_NEVER_FITS);
        CHECK(std::isnan(d.verdicts[4].start_s));
        CHECK(d.verdicts[5].reason == QUEUE_REASON_STARTS);
        CHECK(d.out.start_count == 2);
        CHECK(d.out.free_processors == 0);
    }
    SECTION("fcfs: the others wait for the first")
    {
        decided d = decide("fcfs", in);

        for (size_t i : {size_t(1), size_t(2), size_t(5)}) {
            CHECK(d.verdicts[i].reason == QUEUE_REASON_ORDER);
            CHECK(d.verdicts[i].by == QUEUE_BY_JOB);
            CHECK(d.verdicts[i].blocker == 0);
            CHECK(d.verdicts[i].until_s == 1100);
            CHECK(d.verdicts[i].start_s == (i == 5 ? 1200 : 1100)); // 5 waits for 3 too
        }
        CHECK(d.out.start_count == 0);
        CHECK(d.out.free_processors == 12);
    }
    SECTION("a long job would delay the first")
    {
        const queue_job jobs[] = {{0, 100, 62}, {1, 101, 12}};
        queue_in two = in;

        two.jobs = jobs;
        two.job_count = 2;
        for (const char *policy : {"easy", "easy_sjbf", "easy_sjf", "conservative"}) {
            decided d = decide(policy, two);

            INFO(policy);
            CHECK(d.verdicts[0].start_s == 1100);
            CHECK(d.verdicts[1].reason == QUEUE_REASON_WOULD_DELAY);
            CHECK(d.verdicts[1].by == QUEUE_BY_JOB);
            CHECK(d.verdicts[1].blocker == 0);
            CHECK(d.verdicts[1].until_s == 1100);
            CHECK(d.verdicts[1].start_s == 1200);
        }
        CHECK(decide("first_fit", two).verdicts[1].start_s == 1000);
    }
    SECTION("nobody runs into a reservation")
    {
        const queue_reservation maintenance = {1040, 2000, 100};
        queue_in reserved = in;

        reserved.reservations = &maintenance;
        reserved.reservation_count = 1;
        for (const struct policy *p = queue_policies; p->name; p++) {
            decided d = decide(p->name, reserved);

            INFO(p->name);
            CHECK(d.out.start_count == 0);
            for (size_t i : {size_t(0), size_t(1), size_t(2), size_t(3), size_t(5)})
                CHECK(d.verdicts[i].start_s >= 2000);
            CHECK(d.verdicts[5].reason == QUEUE_REASON_RESERVATION);
            CHECK(d.verdicts[5].by == QUEUE_BY_RESERVATION);
            CHECK(d.verdicts[5].until_s == 1040);
        }
    }
}

TEST_CASE("running jobs that should have ended end soon", "[queue]")
{
    const queue_running late = {10, 100};
    const queue_job job = {0, 60, 1};
    queue_in in{};

    in.now_s = 1000;
    in.processors = 100;
    in.running = &late;
    in.running_count = 1;
    in.jobs = &job;
    in.job_count = 1;
    for (const struct policy *p = queue_policies; p->name; p++)
        CHECK(decide(p->name, in).verdicts[0].start_s == 1001);
}

TEST_CASE("reservations beyond the cluster are mistakes", "[queue]")
{
    const queue_reservation list[] = {
        {0, 100, 60}, {50, 150, 40}, {99, 120, 1},     {100, 120, 60},
        {20, 20, 1},  {0, 10, 101},  {-50, -10, 1000},
    };
    queue_in in{};
    test_arena a;
    error err = collecting_error(a);

    in.processors = 100;
    in.reservations = list;
    in.reservation_count = 7;
    CHECK(queue_check(&in, a, &err) == ERR_INVALID);
    std::vector<std::string> pointers;
    for (const error_item *i = err.first; i; i = i->next)
        pointers.push_back(i->pointer);
    CHECK(pointers == std::vector<std::string>{"/reservations/2", "/reservations/4",
                                               "/reservations/5"});
}

TEST_CASE("a profile gives the first time that fits", "[queue]")
{
    test_arena a;
    error err{};
    profile p;

    profile_create(&p, 0, 10, a);
    REQUIRE(profile_take(&p, 0, 10, 4, &err) == OK);
    REQUIRE(profile_take(&p, 20, 30, 8, &err) == OK);
    CHECK(profile_fit(&p, 6, 20, 0) == 0);
    CHECK(profile_fit(&p, 6, 21, 0) == 30);
    CHECK(profile_fit(&p, 10, 10, 0) == 10);
    CHECK(profile_fit(&p, 10, 11, 0) == 30);
    CHECK(profile_fit(&p, 2, 1e9, 0) == 0);
    CHECK(std::isinf(profile_fit(&p, 11, 0, 0)));
    CHECK(profile_first_below(&p, 3) == 20);
    CHECK(profile_first_above(&p, 7) == 10);
    CHECK(profile_bears(&p, 10, 20, 10));
    CHECK_FALSE(profile_bears(&p, 10, 20.5, 10));
    profile_advance(&p, 25);
    CHECK(p.free == 2);
    CHECK(profile_fit(&p, 3, 1, 0) == 30);
    REQUIRE(profile_give(&p, 25, 30, 8, &err) == OK);
    CHECK(p.free == 10);
    CHECK(std::isinf(profile_first_below(&p, 10)));
}

TEST_CASE("figures of a replay", "[queue]")
{
    const std::vector<swf_job> jobs = {logged(2, 100, 20, 4, 50), logged(1, 100, 4, 3),
                                       logged(3, 110, 5, 9)};
    queue_replay_in in = replay_of(jobs, 4);
    replayed r = replay("fcfs", in);

    // Number 1 goes first; 3 never fits.
    CHECK(r.start_s[1] == 100);
    CHECK(r.start_s[0] == 104);
    CHECK(std::isnan(r.start_s[2]));
    CHECK(r.run_count == 2);
    CHECK(r.never_fit_count == 1);
    CHECK(r.figures.mean_wait_s == 2);
    CHECK(r.figures.max_wait_s == 4);
    CHECK(r.figures.mean_response_s == 14);
    CHECK(r.figures.mean_bounded_slowdown == Approx((1 + 1.2) / 2).epsilon(1e-15));
    CHECK(r.figures.makespan_s == 24);
    CHECK(r.figures.utilisation_ratio == Approx(92.0 / 96).epsilon(1e-15));
}

TEST_CASE("processors that are busy all the time are used by 1, and not by more",
          "[queue]")
{
    for (uint64_t processors : {1, 3, 7})
        for (double run_s : {0.1, 0.3, 1.0 / 3, 0.7, 1.1})
            for (double begin_s : {0.0, 100.3, 1e6 + 0.7}) {
                std::vector<swf_job> jobs;

                for (uint64_t i = 0; i < processors * 30; i++)
                    jobs.push_back(logged(double(i), begin_s, run_s, 1));
                CAPTURE(processors, run_s, begin_s);
                CHECK(replay("fcfs", replay_of(jobs, processors))
                          .figures.utilisation_ratio == 1);
            }
}
