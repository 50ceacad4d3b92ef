// governor_test.cpp - who is next, who fits: the decisions of the governor, played with a
// simulated clock. Numbers are worked examples, to 1e-9 s.
#include "tests/governor_support.hpp"

#include <algorithm>
#include <map>
#include <random>

static std::vector<double> ends_of(const player &p, const std::string &owner)
{
    std::vector<double> ends;

    for (auto &t : p.tasks())
        if (t->owner == owner)
            ends.push_back(t->ended_s);
    std::sort(ends.begin(), ends.end());
    return ends;
}

static void check_same(const std::vector<double> &got, const std::vector<double> &want)
{
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < got.size(); i++) {
        CAPTURE(i, got[i]);
        CHECK(got[i] == Approx(want[i]).epsilon(0).margin(1e-9));
    }
}

// ---- the fair queue ----

TEST_CASE("owners get the processor by their weights, quantum by quantum", "[governor]")
{
    player p(example_options(1));

    for (int i = 0; i < 3; i++)
        p.post("a", 0, 2);
    for (int i = 0; i < 6; i++)
        p.post("b", 0, 1, NAN, 2);
    p.play_until(11.99);
    CHECK(p.virtual_s("a") == Approx(5.99).epsilon(0).margin(1e-9));
    p.play_all();
    check_same(ends_of(p, "b"), {2, 3, 5, 6, 8, 9});
    check_same(ends_of(p, "a"), {4, 10, 12});
    CHECK(p.core()->queues[GOVERNOR_COMPUTE].virtual_s ==
          Approx(6).epsilon(0).margin(1e-9));
}

TEST_CASE("a small request does not wait behind another's searches", "[governor]")
{
    player p(example_options(2));

    for (int i = 0; i < 10; i++)
        p.post("bob", 0, 6);
    p.post("alice", 1, 0.01);
    p.play_all();
    check_same(ends_of(p, "alice"), {1.01});
    CHECK(ends_of(p, "bob").back() == Approx(30.01).epsilon(0).margin(1e-9));
}

TEST_CASE("parking bounds the wait behind long computations", "[governor]")
{
    struct {
        size_t slots;
        bool parks;
        std::vector<double> latencies_s; // the first and the last, without parking
    } cases[] = {
        {1, true, {0.05, 0.1, 0.15, 0.2, 0.25}},
        {2, true, {0.05, 0.1, 0.05, 0.1, 0.15}},
        {4, true, {0.05, 0.05, 0.05, 0.05, 0.1}},
        {1, false, {59.05, 169.1}},
        {4, false, {19.1, 59.05}},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.slots << " slots, parking " << c.parks)
        {
            player p(example_options(c.slots), c.parks);
            std::vector<double> latencies_s;

            for (const char *owner : {"bob", "carol", "dave"})
                for (int i = 0; i < 10; i++)
                    p.post(owner, 0, 60);
            for (int i = 0; i < 5; i++)
                p.post("alice", 1 + 10 * i, 0.05);
            p.play_until(300);
            for (auto &t : p.tasks())
                if (t->owner == "alice")
                    latencies_s.push_back(t->ended_s - t->at_s);
            if (c.parks) {
                check_same(latencies_s, c.latencies_s);
            } else {
                auto [least, most] =
                    std::minmax_element(latencies_s.begin(), latencies_s.end());
                check_same({*least, *most}, c.latencies_s);
            }
        }
}

TEST_CASE("backlogged owners get shares by weight, whatever they claim", "[governor]")
{
    for (size_t slots : {1u, 4u})
        DYNAMIC_SECTION(slots << " slots")
        {
            const std::pair<const char *, double> owners[] = {
                {"a", 1}, {"b", 2}, {"c", 1}};
            std::mt19937_64 random(20261122 + slots);
            std::uniform_real_distribution<double> cost(0.1, 3), wrong(-1, 1);
            player p(example_options(slots));
            double worst_s = 0, all_s = 100.0 * (double)slots;

            while (p.now_s() < 100 - 1e-9) {
                double least = HUGE_VAL, most = -HUGE_VAL;

                for (auto &[owner, weight] : owners)
                    for (size_t left = 2 * slots - p.queued_count(owner); left > 0;) {
                        double cost_s = std::round(cost(random) * 100) / 100;

                        p.post(owner, p.now_s(), cost_s,
                               cost_s * std::pow(5, wrong(random)), weight);
                        left--;
                    }
                p.settle();
                p.step();
                for (auto &[owner, weight] : owners) {
                    least = std::min(least, p.virtual_s(owner));
                    most = std::max(most, p.virtual_s(owner));
                }
                worst_s = std::max(worst_s, most - least);
            }
            CHECK(p.used_s("a") / all_s == Approx(0.25).margin(0.01));
            CHECK(p.used_s("b") / all_s == Approx(0.5).margin(0.01));
            CHECK(p.used_s("c") / all_s == Approx(0.25).margin(0.01));
            CHECK(worst_s <= 1.01 + 1e-9);
        }
}

TEST_CASE("a false estimate hurts nobody else", "[governor]")
{
    player p(example_options(1));
    std::vector<double> latencies_s;

    for (int i = 0; i < 40; i++)
        p.post("a", 0, 5, 0.001);
    for (int i = 0; i < 200; i++)
        p.post("b", i, 0.1);
    p.play_all();
    for (auto &t : p.tasks())
        if (t->owner == "b")
            latencies_s.push_back(t->ended_s - t->at_s);
    std::sort(latencies_s.begin(), latencies_s.end());
    CHECK(latencies_s[latencies_s.size() / 2] == Approx(0.6).epsilon(0).margin(1e-9));
    CHECK(latencies_s.back() == Approx(1.1).epsilon(0).margin(1e-9));
}

TEST_CASE("a parked computation goes on where it was", "[governor]")
{
    player p(example_options(1));
    task &a = p.post("a", 0, 3), &b = p.post("b", 0.5, 1);

    p.play_until(0.5);
    CHECK(p.virtual_s("b") == Approx(0.5).epsilon(0).margin(1e-9));
    p.play_until(1);
    CHECK(a.job.state == JOB_PARKED);
    CHECK(b.job.state == JOB_RUNNING);
    p.play_until(1.99);
    CHECK(p.virtual_s("b") == Approx(1.49).epsilon(0).margin(1e-9));
    p.play_until(3.99);
    CHECK(p.virtual_s("a") == Approx(2.99).epsilon(0).margin(1e-9));
    p.play_all();
    check_same({b.ended_s, a.ended_s}, {2, 4});
    CHECK(p.core()->queues[GOVERNOR_COMPUTE].virtual_s ==
          Approx(3).epsilon(0).margin(1e-9));
    CHECK(p.core()->queues[GOVERNOR_COMPUTE].parking_count == 1);
}

TEST_CASE("inside an owner the short ones go first", "[governor]")
{
    player p(example_options(1));
    task &ten = p.post("a", 0, 10), &two = p.post("a", 0, 2), &one = p.post("a", 0, 1);
    task &half = p.post("a", 1, 0.5);

    p.play_all();
    check_same({one.ended_s, half.ended_s, two.ended_s, ten.ended_s},
               {1, 1.5, 3.5, 13.5});
}

TEST_CASE("to have been idle earns nothing", "[governor]")
{
    player p(example_options(1));
    double a_s, b_s;

    for (int i = 0; i < 40; i++)
        p.post("b", 0, 4);
    for (int i = 0; i < 20; i++)
        p.post("a", 100, 4);
    p.play_until(100);
    a_s = p.used_s("a");
    b_s = p.used_s("b");
    p.play_until(140);
    CHECK(p.used_s("a") - a_s == Approx(20).epsilon(0).margin(1e-9));
    CHECK(p.used_s("b") - b_s == Approx(20).epsilon(0).margin(1e-9));
}

// ---- memory ----

namespace
{
// A request of the memory examples: a body, work memory, a time in a slot.
struct piece {
    std::string owner;
    double at_s, run_s;
    size_t body_bytes, work_bytes;
    double estimate_ratio = 1;   // of work_bytes
    size_t concurrent_count = 0; // in slots at once
    governor_lease body{};
    governor_job job{};
    double ended_s = NAN;
    governor_answer answer = GOVERNOR_OK;
    bool is_at_door = false; // refused there
};

// Plays them on slots without parking, from event to event.
class memory_player
{
  public:
    explicit memory_player(const governor_options &options)
        : core_(std::make_unique<governor_core>())
    {
        core_open(core_.get(), &options);
        core_->queues[GOVERNOR_COMPUTE].parks = false;
        wait_s_ = options.queue_wait_s;
    }
    ~memory_player()
    {
        core_close(core_.get());
    }
    memory_player(const memory_player &) = delete;
    memory_player &operator=(const memory_player &) = delete;

    void play(std::deque<piece> &pieces)
    {
        for (auto &p : pieces)
            events_.emplace(p.at_s, event{ARRIVES, &p});
        while (!events_.empty()) {
            auto [at_s, e] = *events_.begin();

            events_.erase(events_.begin());
            now_s_ = at_s;
            happen(e.kind, *e.p);
            settle();
            peak_bytes = std::max(peak_bytes, leased_bytes());
        }
    }
    size_t leased_bytes() const
    {
        return core_->leased_bytes[GOVERNOR_BODY] + core_->leased_bytes[GOVERNOR_WORK];
    }
    size_t queued_count() const
    {
        return core_->queues[GOVERNOR_COMPUTE].queued_count;
    }
    size_t peak_bytes = 0;

  private:
    enum kind { ARRIVES, GROWS, ENDS, LOOKS };
    struct event {
        enum kind kind;
        piece *p;
    };

    void happen(enum kind kind, piece &p)
    {
        switch (kind) {
        case ARRIVES:
            arrive(p);
            break;
        case GROWS:
            if (p.work_bytes > p.job.work.bytes)
                p.answer =
                    core_grow(core_.get(), &p.job, p.work_bytes - p.job.work.bytes);
            events_.emplace(now_s_ + (p.answer == GOVERNOR_OK ? p.run_s / 2 : 0),
                            event{ENDS, &p});
            break;
        case ENDS:
            REQUIRE_FALSE(core_end(core_.get(), &p.job, 0, now_s_));
            core_give(core_.get(), &p.job.work, SIZE_MAX);
            leave(p, p.answer);
            break;
        case LOOKS:
            break;
        }
    }
    void arrive(piece &p)
    {
        governor_who who{};

        who.owner.name = p.owner.c_str();
        who.owner.quota.concurrent_count = p.concurrent_count;
        p.answer = core_body_take(core_.get(), &who, &p.body, p.body_bytes);
        p.is_at_door = p.answer != GOVERNOR_OK;
        if (p.is_at_door)
            return;
        p.job.context = &p;
        p.job.est_s = p.run_s;
        p.job.work_bytes = (size_t)(p.estimate_ratio * (double)p.work_bytes);
        who.owner.quota.concurrent_count = 0; // as many may wait as come
        p.answer = core_submit(core_.get(), &who, &p.job, now_s_);
        p.body.owner->quota.concurrent_count = p.concurrent_count;
        p.is_at_door = p.answer != GOVERNOR_OK;
        if (p.is_at_door)
            core_give(core_.get(), &p.body, SIZE_MAX);
        else
            events_.emplace(now_s_ + wait_s_ + 1e-6, event{LOOKS, &p});
    }
    void leave(piece &p, governor_answer answer)
    {
        p.answer = answer;
        p.ended_s = now_s_;
        core_give(core_.get(), &p.body, SIZE_MAX);
    }
    void settle()
    {
        governor_answer answer;

        while (governor_job *job =
                   core_overdue(core_.get(), GOVERNOR_COMPUTE, now_s_, &answer))
            leave(*static_cast<piece *>(job->context), answer);
        while (governor_job *job = core_next(core_.get(), GOVERNOR_COMPUTE, now_s_)) {
            piece &p = *static_cast<piece *>(job->context);

            events_.emplace(now_s_ + p.run_s / 2, event{GROWS, &p});
        }
    }

    std::unique_ptr<governor_core> core_;
    std::multimap<double, event> events_;
    double now_s_ = 0, wait_s_;
};
} // namespace

static size_t count_of(const std::deque<piece> &pieces, const std::string &owner,
                       governor_answer answer, bool at_door = false)
{
    return (size_t)std::count_if(pieces.begin(), pieces.end(), [&](const piece &p) {
        return p.owner == owner && p.answer == answer && p.is_at_door == at_door;
    });
}

TEST_CASE("ten requests that inflate meet the bounds of both pools", "[governor]")
{
    std::deque<piece> pieces;
    memory_player player(example_options(10));

    for (int i = 0; i < 2; i++)
        pieces.push_back({"a", 0, 2, MIB, 320 * MIB});
    for (int i = 0; i < 8; i++)
        pieces.push_back({"a", 1.5, 1.5, 61 * MIB, 180 * MIB});
    player.play(pieces);
    CHECK(count_of(pieces, "a", GOVERNOR_OK) == 4);
    CHECK(count_of(pieces, "a", GOVERNOR_BUSY, true) == 6);
    CHECK(player.peak_bytes == 944 * MIB);
    CHECK(player.leased_bytes() == 0);
}

TEST_CASE("a mix with wrong estimates is answered within the pools", "[governor]")
{
    std::mt19937_64 random(20261122);
    std::exponential_distribution<double> gap(20), one(1);
    std::lognormal_distribution<double> work(15, 2);
    std::uniform_real_distribution<double> unit(0, 1);
    governor_options options = example_options(10);
    std::deque<piece> pieces;
    size_t answered = 0;
    double at_s = 0;

    options.queue_wait_s = 30;
    memory_player player(options);
    for (int i = 0; i < 20000; i++) {
        size_t work_bytes = (size_t)std::min(work(random), 900.0 * (double)MIB);
        size_t body_bytes = std::min(work_bytes / 16, 64 * MIB);
        double who = unit(random);

        at_s += gap(random);
        pieces.push_back({who < 0.8   ? "a"
                          : who < 0.9 ? "b"
                                      : "c",
                          at_s, one(random) * (0.1 + (double)work_bytes / 2e9),
                          body_bytes, work_bytes, 0.5 + unit(random)});
    }
    player.play(pieces);
    for (auto &p : pieces)
        answered += p.answer == GOVERNOR_OK;
    CAPTURE(answered, player.peak_bytes / MIB);
    CHECK(answered >= 19960);
    CHECK(player.peak_bytes <= 1400 * MIB);
    CHECK(player.queued_count() == 0);
    CHECK(player.leased_bytes() == 0);
}

TEST_CASE("a flood of large requests leaves room for another owner", "[governor]")
{
    governor_options options = example_options(4);
    std::deque<piece> pieces;
    double worst_s = 0;

    options.queue_wait_s = 30;
    memory_player player(options);
    for (int i = 0; i < 2000; i++)
        pieces.push_back({"a", i / 20.0, 3, 4 * MIB, 300 * MIB, 1, 3});
    for (int i = 0; i < 100; i++)
        pieces.push_back({"b", (double)i, 0.05, MIB, 8 * MIB, 1, 3});
    player.play(pieces);
    for (auto &p : pieces)
        if (p.owner == "b")
            worst_s = std::max(worst_s, p.ended_s - p.at_s);
    CHECK(count_of(pieces, "b", GOVERNOR_OK) == 100);
    CHECK(worst_s <= 0.06);
    CHECK(count_of(pieces, "a", GOVERNOR_OK) == 132);
    CHECK(count_of(pieces, "a", GOVERNOR_BUSY, true) == 1828);
    CHECK(count_of(pieces, "a", GOVERNOR_BUSY) == 40);
    CHECK(player.queued_count() == 0);
    CHECK(player.leased_bytes() == 0);
}
