// governor_threads_test.cpp - the governor with its threads: computations that spin,
// park, are cancelled, and wait for memory; and what settings come to.
#include "tests/test_governor.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include <unistd.h>

extern "C" {
#include "service/clock.h"
#include "service/config.h"
#include "service/system_limits.h"
}

using namespace std::chrono_literals;

namespace
{
// A computation of a test: its run() is a function.
struct work {
    std::string owner;
    std::function<void(work &)> body;
    governor_job job{};
    bool cancelled = false; // atomic
    std::atomic<int> runs{0};
    std::atomic<bool> ended{false};
    governor_answer answer = GOVERNOR_OK;
    bool gives = false; // its lease back, when it has ended

    work(std::string owner_name, std::function<void(work &)> run_body)
        : owner(std::move(owner_name)), body(std::move(run_body))
    {
        job.queue = GOVERNOR_COMPUTE;
        job.cancelled = &cancelled;
        job.context = this;
        job.run = [](void *context) {
            work *w = static_cast<work *>(context);

            w->runs++;
            w->body(*w);
        };
        job.ended = [](void *context, governor_answer how) {
            work *w = static_cast<work *>(context);

            w->answer = how;
            if (w->gives)
                governor_give(w->job.governor, &w->job.work, SIZE_MAX);
            w->ended = true; // from here on it may be gone
        };
    }
    governor_answer submit(governor *g)
    {
        governor_who who{};

        who.owner.name = owner.c_str();
        return governor_submit(g, &who, &job);
    }
    void cancel()
    {
        __atomic_store_n(&cancelled, true, __ATOMIC_RELAXED);
    }
    bool is_cancelled() const
    {
        return __atomic_load_n(&cancelled, __ATOMIC_RELAXED);
    }
};

bool eventually(const std::function<bool()> &condition)
{
    for (int i = 0; i < 10000; i++) {
        if (condition())
            return true;
        std::this_thread::sleep_for(1ms);
    }
    return false;
}

// Computes until `enough`, or cancelled, or the deadline; looks as searches do.
void spin(work &w, const std::function<bool()> &enough, double deadline_s = HUGE_VAL,
          bool may_park = true)
{
    for (double now_s = clock_monotonic_s();
         !enough() && !w.is_cancelled() && now_s < deadline_s;
         now_s = clock_monotonic_s())
        governor_look(&w.job, now_s, deadline_s, may_park);
}

struct closer {
    governor *g;
    explicit closer(const governor_options &options) : g(governor_create(&options))
    {
        REQUIRE(g);
    }
    ~closer()
    {
        governor_close(g);
    }
    closer(const closer &) = delete;
    closer &operator=(const closer &) = delete;
    operator governor *() const
    {
        return g;
    }
    governor_queue_stats compute() const
    {
        struct governor_stats s;

        governor_stats(g, &s);
        return s.queues[GOVERNOR_COMPUTE];
    }
    size_t leased(governor_pool pool) const
    {
        struct governor_stats s;

        governor_stats(g, &s);
        return s.leased_bytes[pool];
    }
};

governor_options quick_options(size_t slots)
{
    governor_options options = test_governor_options(slots, 16);

    options.quantum_s = 0.05;
    return options;
}
} // namespace

TEST_CASE("computations run in slots, and what does not fit the queue is refused",
          "[governor][threads]")
{
    std::atomic<bool> open{false};
    auto wait = [&](work &) {
        while (!open)
            std::this_thread::sleep_for(1ms);
    };
    std::vector<std::unique_ptr<work>> all;
    governor_options options = test_governor_options(2, 3);
    closer g(options);

    for (int i = 0; i < 6; i++)
        all.push_back(std::make_unique<work>("a", wait));
    for (int i = 0; i < 5; i++) {
        REQUIRE(all[(size_t)i]->submit(g) == GOVERNOR_OK);
        if (i == 1)
            REQUIRE(eventually([&] { return all[0]->runs + all[1]->runs == 2; }));
    }
    CHECK(governor_is_full(g, GOVERNOR_COMPUTE));
    CHECK(all[5]->submit(g) == GOVERNOR_BUSY);
    CHECK(g.compute().queued_count == 3);
    CHECK(g.compute().running_count == 2);
    REQUIRE(g.compute().owner_count == 1);
    CHECK(g.compute().owners[0].name == std::string("a"));
    CHECK(g.compute().owners[0].queued_count == 3);
    open = true;
    for (int i = 0; i < 5; i++)
        REQUIRE(eventually([&] { return all[(size_t)i]->ended.load(); }));
    CHECK(g.compute().owner_count == 0);
    CHECK(all[5]->runs == 0);
    CHECK_FALSE(all[5]->ended);
}

TEST_CASE("a long computation is parked for another owner's", "[governor][threads]")
{
    closer g(quick_options(1));
    std::atomic<bool> small_ended{false};
    work large("bob", [&](work &w) { spin(w, [&] { return small_ended.load(); }); });
    work small("alice", [&](work &w) {
        spin(w, [n = 0]() mutable { return ++n > 1000; });
        small_ended = true;
    });

    REQUIRE(large.submit(g) == GOVERNOR_OK);
    REQUIRE(eventually([&] { return large.runs == 1; }));
    REQUIRE(small.submit(g) == GOVERNOR_OK); // would wait for ever without parking
    REQUIRE(eventually([&] { return large.ended && small.ended; }));
    CHECK(g.compute().parking_count >= 1);
    CHECK(g.compute().look_count >= 10);
    CHECK(g.compute().thread_count == 2); // made for it
    CHECK(large.job.cpu_s > 0.045);
    CHECK(small.job.wait_s > 0);
}

TEST_CASE("what a computation sleeps is not charged to its owner", "[governor][threads]")
{
    closer g(quick_options(1));
    work asleep("a", [](work &) { std::this_thread::sleep_for(200ms); });
    work at_work("a", [](work &w) {
        double until_s = clock_thread_cpu_s() + 0.03;

        spin(w, [=] { return clock_thread_cpu_s() >= until_s; });
    });
    work brief("a", [](work &) {});

    REQUIRE(brief.submit(g) == GOVERNOR_OK);
    REQUIRE(asleep.submit(g) == GOVERNOR_OK);
    REQUIRE(at_work.submit(g) == GOVERNOR_OK);
    REQUIRE(eventually([&] { return brief.ended && asleep.ended && at_work.ended; }));
    CHECK(brief.job.cpu_s >= 0);
    CHECK(asleep.job.cpu_s < 0.1);
    CHECK(at_work.job.cpu_s > 0.029);
}

TEST_CASE("what holds a connection is not parked", "[governor][threads]")
{
    closer g(quick_options(1));
    std::atomic<bool> stop{false};
    work large("bob", [&](work &w) {
        spin(
            w, [&] { return stop.load(); }, HUGE_VAL, false);
    });
    work small("alice", [](work &) {});

    REQUIRE(large.submit(g) == GOVERNOR_OK);
    REQUIRE(eventually([&] { return large.runs == 1; }));
    REQUIRE(small.submit(g) == GOVERNOR_OK);
    std::this_thread::sleep_for(200ms); // four times the quantum
    CHECK(small.runs == 0);
    CHECK(g.compute().parking_count == 0);
    stop = true;
    REQUIRE(eventually([&] { return large.ended && small.ended; }));
}

TEST_CASE("a parked computation ends when it is cancelled or at its limit",
          "[governor][threads]")
{
    closer g(quick_options(1));
    std::atomic<bool> stop{false};
    bool by_deadline = GENERATE(false, true);
    work parked("bob", [&](work &w) {
        spin(
            w, [] { return false; }, by_deadline ? clock_monotonic_s() + 2 : HUGE_VAL);
    });
    work other("alice", [&](work &) {
        while (!stop)
            std::this_thread::sleep_for(1ms);
    });

    REQUIRE(parked.submit(g) == GOVERNOR_OK);
    REQUIRE(eventually([&] { return parked.runs == 1; }));
    REQUIRE(other.submit(g) == GOVERNOR_OK);
    REQUIRE(eventually([&] { return g.compute().parked_count == 1; }));
    if (!by_deadline)
        parked.cancel();
    REQUIRE(eventually([&] { return parked.ended.load(); }));
    CHECK(parked.answer == GOVERNOR_OK); // it has run to its end
    CHECK_FALSE(other.ended);
    stop = true;
    REQUIRE(eventually([&] { return other.ended.load(); }));
}

TEST_CASE("what waits too long is refused, what is cancelled is forgotten",
          "[governor][threads]")
{
    governor_options options = test_governor_options(1, 16);
    std::atomic<bool> stop{false};

    options.queue_wait_s = 0.1;
    closer g(options);
    work first("a", [&](work &) {
        while (!stop)
            std::this_thread::sleep_for(1ms);
    });
    work late("a", [](work &) {}), gone("a", [](work &) {});
    error err{};

    REQUIRE(first.submit(g) == GOVERNOR_OK);
    REQUIRE(late.submit(g) == GOVERNOR_OK);
    REQUIRE(gone.submit(g) == GOVERNOR_OK);
    gone.cancel();
    REQUIRE(eventually([&] { return late.ended && gone.ended; }));
    CHECK(late.answer == GOVERNOR_BUSY);
    CHECK(late.job.wait_s >= 0.1);
    CHECK(gone.answer == GOVERNOR_GONE);
    CHECK(late.runs + gone.runs == 0);
    CHECK(governor_fail(g, late.answer, 0, &err) == ERR_BUSY);
    CHECK(err.retry_after_s == 1);
    CHECK(err.violated_policy == nullptr);
    CHECK(governor_fail(g, GOVERNOR_QUOTA_CONCURRENT, 0, &err) == ERR_RATE_LIMITED);
    CHECK(err.violated_policy == std::string("concurrent"));
    CHECK(governor_fail(g, GOVERNOR_QUOTA_MEMORY, 5, &err) == ERR_TOO_LARGE);
    CHECK(err.violated_policy == std::string("memory"));
    stop = true;
    REQUIRE(eventually([&] { return first.ended.load(); }));
}

TEST_CASE("a computation that needs more than there is now begins again later",
          "[governor][threads]")
{
    governor_options options = test_governor_options(2, 16);
    struct governor_sizes sizes = governor_sizes(&options);
    size_t most = sizes.work_bytes - sizes.reserve_bytes;
    closer g(options);
    governor_who upkeep{};
    governor_lease held{};
    std::vector<governor_answer> answers;
    work w("a", [&](work &self) {
        answers.push_back(governor_reserve(&self.job, most));
        if (answers.back() == GOVERNOR_OK)
            answers.push_back(governor_grow(&self.job, sizes.reserve_bytes + 1));
    });

    upkeep.owner.name = "upkeep";
    REQUIRE(governor_work_take(g, &upkeep, &held, most / 2) == GOVERNOR_OK);
    w.job.work_bytes = 1024;
    REQUIRE(w.submit(g) == GOVERNOR_OK);
    REQUIRE(eventually([&] { return w.runs == 1 && g.compute().queued_count == 1; }));
    CHECK_FALSE(w.ended);
    CHECK(g.leased(GOVERNOR_WORK) == most / 2); // it gave its own back
    governor_give(g, &held, SIZE_MAX);
    REQUIRE(eventually([&] { return w.ended.load(); }));
    CHECK(w.runs == 2);
    CHECK(answers ==
          std::vector<governor_answer>{GOVERNOR_AGAIN, GOVERNOR_OK, GOVERNOR_BUSY});
    CHECK(w.job.work.bytes == most);
    governor_give(g, &w.job.work, SIZE_MAX);
    CHECK(g.leased(GOVERNOR_WORK) == 0);
}

TEST_CASE("many threads submit, lease, park and cancel at once", "[governor][threads]")
{
    governor_options options = quick_options(2);

    options.quantum_s = 0.002;
    options.queues[GOVERNOR_COMPUTE].queue_length = 1000;
    options.queues[GOVERNOR_COMPUTE].thread_count = 5;
    options.memory_bytes = size_t{64} << 20;
    closer g(options);
    std::vector<std::thread> callers;
    std::atomic<size_t> answered{0}, refused{0};

    for (unsigned caller = 0; caller < 4; caller++)
        callers.emplace_back([&, caller] {
            std::mt19937 random(caller);
            std::vector<std::unique_ptr<work>> all;
            std::vector<governor_lease> bodies(60);
            governor_who who{};

            for (size_t i = 0; i < bodies.size(); i++) {
                int rounds = (int)(random() % 60000);
                size_t more = random() % (4u << 20);
                std::string owner(1, (char)('a' + random() % 3));

                all.push_back(std::make_unique<work>(owner, [=](work &w) {
                    spin(w, [n = 0, rounds]() mutable { return ++n > rounds; });
                    if (governor_reserve(&w.job, more) == GOVERNOR_OK)
                        governor_grow(&w.job, 1000);
                }));
                work &w = *all.back();
                w.gives = true;
                w.job.work_bytes = random() % (8u << 20);
                who.owner.name = w.owner.c_str();
                governor_body_take(g, &who, &bodies[i], random() % (1u << 20));
                refused += w.submit(g) != GOVERNOR_OK;
                if (random() % 8 == 0)
                    w.cancel();
            }
            for (size_t i = 0; i < bodies.size(); i++) {
                answered += eventually([&] { return all[i]->ended.load(); });
                governor_give(g, &bodies[i], SIZE_MAX);
            }
        });
    for (auto &t : callers)
        t.join();
    CHECK(refused == 0);
    CHECK(answered == 240);
    CHECK(g.compute().parking_count > 0);
    CHECK(g.leased(GOVERNOR_WORK) == 0);
    CHECK(g.leased(GOVERNOR_BODY) == 0);
    CHECK(g.compute().thread_count <= 5);
    CHECK(g.compute().queued_count + g.compute().running_count == 0);
}

TEST_CASE("closing finishes what was submitted", "[governor][threads]")
{
    governor_options options = quick_options(1);
    governor *g = governor_create(&options);
    work large("bob",
               [](work &w) { spin(w, [n = 0]() mutable { return ++n > 300000; }); });
    work small("alice", [](work &) {});

    REQUIRE(g);
    REQUIRE(large.submit(g) == GOVERNOR_OK);
    REQUIRE(small.submit(g) == GOVERNOR_OK);
    governor_close(g);
    CHECK(large.ended);
    CHECK(small.ended);
    governor_close(nullptr);
}

// ---- settings ----

static config read_settings(std::vector<const char *> flags, arena *a)
{
    const char *no_environment[] = {nullptr};
    config c{};
    error err = collecting_error(a);

    flags.push_back(nullptr);
    REQUIRE(config_read(no_environment, flags.data(), &c, a, &err) == OK);
    return c;
}

TEST_CASE("settings of memory and threads that cannot be are raised or lowered, and said",
          "[governor][config]")
{
    test_arena a;
    config c = read_settings(
        {"--memory-bytes", "1000", "--compute-workers", "3", "--compute-threads", "5"},
        a);

    CHECK(c.memory_bytes == (size_t{48} << 20)); // 16 MiB are kept
    CHECK(c.compute_threads == 6);
    CHECK(c.total_body_bytes == (size_t{12} << 20));
    CHECK(c.request_memory_bytes == (size_t{20} << 20) / 16 * 15);
    REQUIRE(c.warning_count == 3);
    CHECK_THAT(c.warnings[0], Catch::StartsWith("compute_threads is raised from 5 to 6"));
    CHECK_THAT(c.warnings[1], Catch::StartsWith("memory_bytes is raised from 1000 to"));
    CHECK_THAT(c.warnings[2], Catch::StartsWith("request_memory_bytes is lowered from"));

    c = read_settings({"--memory-bytes", "8000000000", "--compute-workers", "3"}, a);
    CHECK(c.warning_count == 0);
    CHECK(c.compute_threads == 76);
    CHECK(c.total_body_bytes == 2000000000);
    c = read_settings({"--memory-bytes", "8000000000", "--total-body-bytes", "100000000"},
                      a);
    CHECK(governor_sizes([&] {
              static governor_options options;
              options = governor_options_of(&c);
              return &options;
          }())
              .body_bytes == 100000000);
    c = read_settings({}, a);
    CHECK(c.memory_bytes == system_memory_bytes("") / 5 * 3);
}

TEST_CASE("memory is what the machine and the control groups allow", "[governor][config]")
{
    namespace fs = std::filesystem;
    std::string root =
        (fs::temp_directory_path() / ("gridplan-memory-" + std::to_string(getpid())))
            .string();
    auto write = [&](const std::string &path, const std::string &text) {
        fs::create_directories(fs::path(root + path).parent_path());
        std::ofstream(root + path) << text;
    };
    size_t machine = system_memory_bytes(root.c_str()); // there is nothing yet

    CHECK(machine >= (size_t{64} << 20));
    write("/proc/self/cgroup", "0::/pods/one\n");
    write("/sys/fs/cgroup/memory.max", "max\n");
    CHECK(system_memory_bytes(root.c_str()) == machine);
    write("/sys/fs/cgroup/pods/one/memory.max", "50000000\n");
    CHECK(system_memory_bytes(root.c_str()) == 50000000);
    write("/sys/fs/cgroup/pods/memory.max", "40000000\n");
    CHECK(system_memory_bytes(root.c_str()) == 40000000);
    write("/proc/self/cgroup", "0::/\n");
    CHECK(system_memory_bytes(root.c_str()) == machine);
    write("/proc/self/cgroup", "12:cpu,cpuacct:/x\n3:memory:/x\n");
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "30000000\n"); // of a container
    CHECK(system_memory_bytes(root.c_str()) == 30000000);
    write("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK(system_memory_bytes(root.c_str()) == 30000000);
    write("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "20000000\n");
    CHECK(system_memory_bytes(root.c_str()) == 20000000);
    fs::remove_all(root);
}

TEST_CASE("processors are what the machine and the control groups allow",
          "[governor][config]")
{
    namespace fs = std::filesystem;
    std::string root =
        (fs::temp_directory_path() / ("gridplan-processors-" + std::to_string(getpid())))
            .string();
    auto write = [&](const std::string &path, const std::string &text) {
        fs::create_directories(fs::path(root + path).parent_path());
        std::ofstream(root + path) << text;
    };
    auto processors = [&] { return system_processors(root.c_str()); };
    double machine = processors(); // there is nothing yet

    CHECK(machine >= 1);
    CHECK(machine == std::floor(machine));
    write("/proc/self/cgroup", "0::/pods/one\n");
    for (const char *none : {"max 100000\n", "max\n", "", "0 100000\n", "50000 0\n",
                             "50000\n", "-1 100000\n", "x y\n"}) {
        INFO(none);
        write("/sys/fs/cgroup/pods/one/cpu.max", none);
        CHECK(processors() == machine);
    }
    write("/sys/fs/cgroup/pods/one/cpu.max", "50000 100000\n");
    CHECK(processors() == 0.5);
    write("/sys/fs/cgroup/pods/cpu.max", "1000 20000\n"); // the group above has less
    CHECK(processors() == 0.05);
    write("/sys/fs/cgroup/pods/cpu.max", "900000000 1000\n"); // more than there are
    CHECK(processors() == 0.5);
    write("/proc/self/cgroup", "0::/\n");
    CHECK(processors() == machine);

    // Version 1: -1 is no quota; the folder is named by one controller or by both.
    write("/proc/self/cgroup", "3:memory:/x\n4:cpu,cpuacct:/x/y\n5:cpuset:/x\n");
    write("/sys/fs/cgroup/cpu/x/y/cpu.cfs_quota_us", "-1\n");
    write("/sys/fs/cgroup/cpu/x/y/cpu.cfs_period_us", "100000\n");
    CHECK(processors() == machine);
    write("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "75000\n");
    CHECK(processors() == machine); // without a period it says nothing
    write("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
    CHECK(processors() == 0.75);
    write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "25000\n");
    write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    CHECK(processors() == 0.25);
    write("/proc/self/cgroup", "4:cpuacct:/x\n"); // counts, and limits nothing
    CHECK(processors() == machine);
    fs::remove_all(root);

    CHECK(system_slots(0.05, 1024) == 1);
    CHECK(system_slots(0.5, 1024) == 1);
    CHECK(system_slots(1, 1024) == 1);
    CHECK(system_slots(1.25, 1024) == 2);
    CHECK(system_slots(2, 1024) == 2);
    CHECK(system_slots(5000, 1024) == 1024);

    test_arena a;
    config c = read_settings({}, a);
    CHECK(c.processors == system_processors(""));
    CHECK(c.compute_workers == system_slots(c.processors, 1024));
    c = read_settings({"--compute-workers", "3"}, a);
    CHECK(c.compute_workers == 3);
    CHECK(c.processors == system_processors(""));
}
