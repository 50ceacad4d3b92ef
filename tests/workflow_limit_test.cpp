// workflow_limit_test.cpp - what a decision still does when its time is up.
//
// No clock: the budget ends at some question for the time. From then on the run times
// cannot be read without being noticed, page by page: who looks at every pair of a task
// and a resource again looks at all of them, who looks at tasks at some of each.
#include "tests/workflow_support.hpp"

#include <csignal>
#include <sys/mman.h>
#include <unistd.h>

using namespace flows;

namespace
{

constexpr size_t RESOURCES = 8192, TASKS_MOST = 64;
// Of the least bounds so much is worked out in any case.
constexpr double GRACE_LOOKS = 5e4;

// Run times, a row for each task, and how many of their pages are read after `close`.
struct guarded_table {
    double *times_s;
    size_t bytes, page_bytes;
    size_t volatile pages_read;

    guarded_table()
        : bytes(TASKS_MOST * RESOURCES * sizeof(double)),
          page_bytes((size_t)sysconf(_SC_PAGESIZE)), pages_read(0)
    {
        void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        rng r = rng_stream(1, "table");

        REQUIRE(memory != MAP_FAILED);
        times_s = static_cast<double *>(memory);
        for (size_t k = 0; k < TASKS_MOST * RESOURCES; k++)
            times_s[k] = 10 + 90 * rng_uniform(&r);
    }
    ~guarded_table()
    {
        munmap(times_s, bytes);
    }
    void close()
    {
        pages_read = 0;
        REQUIRE(mprotect(times_s, bytes, PROT_NONE) == 0);
    }
    void open()
    {
        REQUIRE(mprotect(times_s, bytes, PROT_READ | PROT_WRITE) == 0);
    }
    size_t pages_of(double looks) const
    {
        return (size_t)(looks * sizeof(double)) / page_bytes;
    }
};

guarded_table *guarded; // what the signal handler knows

void on_fault(int signal_number, siginfo_t *info, void *)
{
    auto *address = static_cast<char *>(info->si_addr);
    auto *base = reinterpret_cast<char *>(guarded->times_s);

    if (address < base || address >= base + guarded->bytes) {
        signal(signal_number, SIG_DFL); // a fault of ours: it comes again
        return;
    }
    guarded->pages_read = guarded->pages_read + 1;
    mprotect(base + (size_t)(address - base) / guarded->page_bytes * guarded->page_bytes,
             guarded->page_bytes, PROT_READ | PROT_WRITE);
}

struct fault_handler {
    struct sigaction before {
    };

    explicit fault_handler(guarded_table &table)
    {
        struct sigaction action {
        };

        guarded = &table;
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO;
        REQUIRE(sigaction(SIGSEGV, &action, &before) == 0);
    }
    ~fault_handler()
    {
        sigaction(SIGSEGV, &before, nullptr);
    }
};

// A clock that goes on by one with each question, and is up at the last.
struct asked {
    size_t questions, last;
    guarded_table *table;
};

double used(void *context)
{
    auto *a = static_cast<asked *>(context);

    if (++a->questions == a->last)
        a->table->close();
    return (double)a->questions / (double)a->last;
}

void draw_graph(request &r, rng &d)
{
    size_t tasks = 2 + rng_index(&d, TASKS_MOST - 1);

    r.tasks().clear();
    for (size_t i = 0; i < tasks; i++) {
        r.add_task(std::to_string(i));
        for (size_t parent = i > 6 ? i - 6 : 0; parent < i; parent++)
            if (rng_index(&d, 3) == 0)
                r.tasks()[i].parents.push_back({parent, 100 * rng_uniform(&d), none});
    }
}

const workflow_in *build(request &r, const guarded_table &table)
{
    const workflow_in *in = r.build();

    for (size_t i = 0; i < r.tasks().size(); i++) {
        auto &task = const_cast<workflow_task &>(in->workflows[0].tasks[i]);

        task.etc_s = table.times_s + i * RESOURCES;
        task.etc_count = RESOURCES;
    }
    return in;
}

} // namespace

TEST_CASE("a decision whose time is up does not look at all pairs again",
          "[workflow][property]")
{
    const char *const policies[] = {"search", "search", "auto", "heft", "cpop", "peft"};
    guarded_table table;
    fault_handler handler(table);
    request r;
    size_t ended = 0;

    for (size_t p = 0; p < RESOURCES; p++)
        r.add_resource(0);
    for (uint64_t seed = 0; seed < 80; seed++) {
        rng d = rng_stream(seed, "limit");
        const char *policy = policies[rng_index(&d, 6)];
        table.pages_read = 0;
        asked clock{0, 1 + rng_index(&d, 100), &table};
        budget limit = make_budget(used, &clock);
        test_arena a(size_t{1} << 30);
        error err = collecting_error(a);
        workflow_out out{};

        r.in.budget = &limit;
        r.in.time_limit_given = true;
        r.in.time_limit_s = seed % 2 ? 0.05 : 2; // how much effort the bounds may cost
        draw_graph(r, d);
        const workflow_in *in = build(r, table);
        size_t tasks = r.tasks().size();
        enum error_code code = workflow_decide(in, policy_find(workflow_policies, policy),
                                               nullptr, 0, &out, a, &err);
        table.open();
        INFO(policy << ", seed " << seed << ", " << tasks << " tasks, question "
                    << clock.last << " of " << clock.questions << ", " << table.pages_read
                    << " of " << table.pages_of((double)(tasks * RESOURCES))
                    << " pages read");
        REQUIRE(code == OK);
        CHECK(out.schedule_count + out.unplaced_count == tasks);
        if (clock.questions < clock.last)
            continue;
        ended++;
        CHECK(clock.questions <= clock.last + 16); // each part of it asks once
        CHECK(table.pages_read <= table.pages_of(GRACE_LOOKS) + 2 * tasks);
    }
    CHECK(ended > 50);
}
