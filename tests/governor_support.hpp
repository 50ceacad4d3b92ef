// governor_support.hpp - plays the decisions of governor_core.h with a clock of its own.
#pragma once
#include "tests/support.hpp"

#include <deque>
#include <memory>

extern "C" {
#include "service/governor_core.h"
}

inline constexpr size_t MIB = 1024 * 1024;

// The pools of the worked examples: B 350 MiB, W 1,050 MiB.
inline governor_options example_options(size_t slots, size_t queue_length = 100000)
{
    governor_options o{};

    o.memory_bytes = 14000 * MIB / 9;
    o.body_memory_ratio = 0.225; // of 1,555.6 MiB; K is a tenth
    o.tenant_memory_ratio = 0.5;
    o.quantum_s = 1;
    o.queue_wait_s = 1e9;
    o.tenant_queue_length = 1000000;
    for (auto &queue : o.queues)
        queue = {"test", slots, 1000, queue_length, 0};
    return o;
}

// One computation of a played example.
struct task {
    std::string owner;
    double at_s, cost_s, est_s;
    double weight = 1;
    governor_job job{};
    int ticks_left = 0;
    double ended_s = NAN;
};

// Slots that compute in steps of 10 ms, with a look after each. In a step: what was used
// is charged, computations end, others arrive, then comes the look.
class player
{
  public:
    explicit player(const governor_options &options, bool parks = true)
        : core_(std::make_unique<governor_core>())
    {
        core_open(core_.get(), &options);
        core_->queues[GOVERNOR_COMPUTE].parks = parks;
        slots_ = options.queues[GOVERNOR_COMPUTE].slot_count;
    }
    ~player()
    {
        core_close(core_.get());
    }
    player(const player &) = delete;
    player &operator=(const player &) = delete;

    double now_s() const
    {
        return (double)tick_ / 100;
    }
    governor_core *core()
    {
        return core_.get();
    }
    // A task that arrives at at_s, in the order of the calls.
    task &post(const std::string &owner, double at_s, double cost_s, double est_s = NAN,
               double weight = 1)
    {
        tasks_.push_back(std::make_unique<task>());
        task &t = *tasks_.back();
        t.owner = owner;
        t.at_s = at_s;
        t.cost_s = cost_s;
        t.est_s = std::isnan(est_s) ? cost_s : est_s;
        t.weight = weight;
        t.ticks_left = (int)std::lround(cost_s * 100);
        t.job.est_s = t.est_s;
        t.job.context = &t;
        waiting_.push_back(&t);
        return t;
    }
    const std::vector<std::unique_ptr<task>> &tasks() const
    {
        return tasks_;
    }
    // v of an owner with work; NAN: none, or forgotten.
    double virtual_s(const std::string &owner) const
    {
        for (governor_share *s = core_->queues[GOVERNOR_COMPUTE].shares; s; s = s->next)
            if (owner == s->account->name)
                return s->virtual_s;
        return NAN;
    }
    double used_s(const std::string &owner) const
    {
        double sum = 0;

        for (auto &t : tasks_)
            sum += t->owner == owner ? t->cost_s - t->ticks_left / 100.0 : 0;
        return sum;
    }
    size_t queued_count(const std::string &owner) const
    {
        for (governor_share *s = core_->queues[GOVERNOR_COMPUTE].shares; s; s = s->next)
            if (owner == s->account->name)
                return s->queued_count;
        return 0;
    }
    // The state at the instant now: arrivals and looks.
    void settle()
    {
        for (size_t i = 0; i < waiting_.size();) {
            if (waiting_[i]->at_s > now_s() + 1e-9) {
                i++;
                continue;
            }
            submit(*waiting_[i]);
            waiting_.erase(waiting_.begin() + (std::ptrdiff_t)i);
        }
        for (size_t i = 0; i < running_.size();)
            if (core_look(core(), &running_[i]->job, 0, now_s(), true))
                running_.erase(running_.begin() + (std::ptrdiff_t)i);
            else
                i++;
        fill();
    }
    void step()
    {
        tick_++;
        for (size_t i = 0; i < running_.size();) {
            task &t = *running_[i];

            if (--t.ticks_left > 0) {
                core_look(core(), &t.job, 0.01, now_s(), false);
                i++;
                continue;
            }
            REQUIRE_FALSE(core_end(core(), &t.job, 0.01, now_s()));
            t.ended_s = now_s();
            running_.erase(running_.begin() + (std::ptrdiff_t)i);
        }
        settle();
    }
    void play_until(double end_s)
    {
        if (tick_ == 0)
            settle();
        while (now_s() < end_s - 1e-9)
            step();
    }
    void play_all()
    {
        play_until(0.01);
        while (!waiting_.empty() || !running_.empty())
            step();
    }

  private:
    void submit(task &t)
    {
        governor_who who{};

        who.owner.name = t.owner.c_str();
        who.owner.quota.weight = t.weight;
        REQUIRE(core_submit(core(), &who, &t.job, now_s()) == GOVERNOR_OK);
    }
    void fill()
    {
        while (governor_job *job = core_next(core(), GOVERNOR_COMPUTE, now_s())) {
            job->thread = job; // it has begun
            running_.push_back(static_cast<task *>(job->context));
        }
        REQUIRE(running_.size() <= slots_);
    }

    std::unique_ptr<governor_core> core_;
    size_t slots_;
    long tick_ = 0;
    std::vector<std::unique_ptr<task>> tasks_;
    std::vector<task *> waiting_, running_;
};
