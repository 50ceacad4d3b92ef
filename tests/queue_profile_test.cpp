// queue_profile_test.cpp - the profile of free processors, and plans and promises of
// conservative on it, against the engine that was there before and a live loop.
#include "tests/queue_reference.hpp"
#include "tests/queue_support.hpp"

#include <map>
#include <set>

extern "C" {
#include "algorithms/queue/profile.h"
}

namespace
{

// ---- the profile as one would write it down ----

class steps
{
    std::map<double, int64_t> delta_; // changes, those up to now at now
    double now_s_;

  public:
    steps(double now_s, int64_t free) : delta_{{now_s, free}}, now_s_(now_s)
    {
    }
    void change(double start_s, double end_s, int64_t delta)
    {
        start_s = std::max(start_s, now_s_);
        if (!(end_s > start_s))
            return;
        delta_[start_s] += delta;
        delta_[end_s] -= delta;
    }
    void advance(double now_s)
    {
        int64_t free = 0;

        while (!delta_.empty() && delta_.begin()->first <= now_s) {
            free += delta_.begin()->second;
            delta_.erase(delta_.begin());
        }
        delta_[now_s] = free;
        now_s_ = now_s;
    }
    // Free from each time on.
    using cell_list = std::vector<std::pair<double, int64_t>>;
    cell_list cells() const
    {
        cell_list list;
        int64_t free = 0;

        for (auto [at_s, delta] : delta_)
            list.push_back({at_s, free += delta});
        return list;
    }
    static double first(const cell_list &list, int64_t need, bool below)
    {
        for (auto [at_s, free] : list)
            if (below ? free < need : free >= need)
                return at_s;
        return HUGE_VAL;
    }
    static bool bears(const cell_list &list, double start_s, double end_s, int64_t need)
    {
        for (size_t i = 0; i < list.size(); i++) {
            double till_s = i + 1 < list.size() ? list[i + 1].first : HUGE_VAL;
            bool first = list[i].first <= start_s && start_s < till_s;

            if ((first || (list[i].first > start_s && list[i].first < end_s)) &&
                list[i].second < need)
                return false;
        }
        return true;
    }
    static double fit(const cell_list &list, int64_t need, double duration_s,
                      double from_s)
    {
        double start_s = from_s;
        bool runs = false;

        for (size_t i = 0; i < list.size(); i++) {
            double till_s = i + 1 < list.size() ? list[i + 1].first : HUGE_VAL;

            if (till_s <= start_s)
                continue;
            if (list[i].second < need) {
                if (runs && start_s + duration_s <= list[i].first)
                    return start_s;
                runs = false;
            } else if (!runs) {
                start_s = std::max(start_s, list[i].first);
                runs = true;
            }
        }
        return runs ? start_s : HUGE_VAL;
    }
};

// Times of three kinds: few whole ones, many, and such with all digits.
double draw_time(rng *r, int kind, double most_s)
{
    if (kind == 0)
        return double(rng_index(r, 40));
    return kind == 1 ? std::floor(most_s * rng_uniform(r)) : most_s * rng_uniform(r);
}

// ---- queues ----

struct scene {
    std::vector<queue_job> jobs;
    std::vector<queue_running> running;
    std::vector<queue_reservation> reservations;
    queue_in in{};

    queue_in *with(uint64_t processors)
    {
        in.processors = processors;
        in.jobs = jobs.data();
        in.job_count = jobs.size();
        in.running = running.data();
        in.running_count = running.size();
        in.reservations = reservations.data();
        in.reservation_count = reservations.size();
        return &in;
    }
};

enum lengths { DISTINCT_16, LOG_UNIFORM, OCTAVES, WHOLE };

double draw_length(rng *r, lengths kind)
{
    switch (kind) {
    case DISTINCT_16:
        return 900.0 * double(1 + rng_index(r, 16));
    case LOG_UNIFORM:
        return 10 * std::exp(std::log(10080.0) * rng_uniform(r));
    case OCTAVES:
        return std::ldexp(50 * (1 + rng_uniform(r)), int(rng_index(r, 11)));
    default:
        return double(1 + rng_index(r, 30));
    }
}

// Running jobs fill the machine; widths are 2^U(0, 9), at most as wide as it is.
scene draw_queue(size_t count, uint64_t processors, lengths kind, uint64_t seed,
                 size_t reservations)
{
    rng r = rng_stream(seed, "queue profile");
    auto width = [&] {
        double wide = std::floor(std::exp2(9 * rng_uniform(&r)));
        return uint64_t(std::min(wide, double(processors)));
    };
    scene w;
    uint64_t used = 0;

    w.in.now_s = 1000;
    for (uint64_t next = width(); used + next <= processors; next = width()) {
        w.running.push_back({1000 + draw_length(&r, kind), next});
        used += next;
    }
    for (size_t i = 0; i < count; i++)
        w.jobs.push_back({double(i), draw_length(&r, kind), width()});
    for (size_t i = 0; i < reservations; i++) {
        double start_s = 5000.0 * double(i + 1) + double(rng_index(&r, 4000));
        w.reservations.push_back({start_s, start_s + 900, 1 + rng_index(&r, processors)});
    }
    w.with(processors);
    return w;
}

queue_out decide(const queue_in &in, arena *a, const char *policy = "conservative")
{
    error err = collecting_error(a);
    queue_out out{};

    if (queue_decide(policy_find(queue_policies, policy), &in, &out, a, &err) != OK)
        FAIL(err.text);
    return out;
}

// ---- the live loop ----

// An engine that asks at every event, plays what it is told, and sends the promises
// back. It compresses when a job ended before its estimate, or always.
struct live {
    const std::vector<swf_job> &jobs;
    uint64_t processors;
    bool always;
    std::vector<double> start_s, first_s, plan_s;
    uint64_t broken = 0;

    live(const std::vector<swf_job> &log, uint64_t p, bool compresses_always)
        : jobs(log), processors(p), always(compresses_always),
          start_s(log.size(), std::nan("")), first_s(start_s), plan_s(start_s)
    {
        size_t next = 0;
        std::set<size_t> running, waiting;

        while (next < jobs.size() || !running.empty() || !waiting.empty()) {
            double now_s = next < jobs.size() ? jobs[next].submit_s : HUGE_VAL;
            bool early = false;

            for (size_t i : running)
                now_s = std::min(now_s, start_s[i] + jobs[i].run_s);
            for (size_t i : waiting)
                now_s = std::min(now_s, plan_s[i]);
            for (auto i = running.begin(); i != running.end();) {
                bool ended = start_s[*i] + jobs[*i].run_s <= now_s;

                early |= ended && jobs[*i].run_s < swf_estimate_s(&jobs[*i]);
                i = ended ? running.erase(i) : std::next(i);
            }
            for (; next < jobs.size() && jobs[next].submit_s <= now_s; next++)
                waiting.insert(next);
            ask(now_s, early, &running, &waiting);
        }
    }
    void ask(double now_s, bool early, std::set<size_t> *running,
             std::set<size_t> *waiting)
    {
        std::vector<size_t> order(waiting->begin(), waiting->end());
        std::vector<double> promises;
        scene w;
        test_arena a;

        for (size_t i : *running)
            w.running.push_back({start_s[i] + swf_estimate_s(&jobs[i]),
                                 uint64_t(swf_processors(&jobs[i]))});
        for (size_t i : order) {
            w.jobs.push_back({jobs[i].submit_s, swf_estimate_s(&jobs[i]),
                              uint64_t(swf_processors(&jobs[i]))});
            promises.push_back(plan_s[i]);
        }
        w.with(processors);
        w.in.now_s = now_s;
        w.in.planned_start_s = promises.data();
        w.in.keeps_gaps = !early && !always;
        queue_out out = decide(w.in, a);
        broken += out.broken_count;
        for (size_t k = 0; k < order.size(); k++) {
            size_t i = order[k];
            const queue_verdict &v = out.verdicts[k];

            plan_s[i] = v.start_s;
            if (std::isnan(first_s[i]))
                first_s[i] = v.start_s;
            if (v.reason != QUEUE_REASON_STARTS) {
                broken += v.plan_s != v.start_s;
                continue;
            }
            start_s[i] = now_s;
            running->insert(i);
            waiting->erase(i);
        }
    }
};

// Over-estimates up to five times; run times of whole seconds, or not.
std::vector<swf_job> draw_log(size_t count, uint64_t processors, uint64_t seed)
{
    rng r = rng_stream(seed, "queue live");
    std::vector<swf_job> jobs;
    double submit_s = 0;

    for (size_t i = 0; i < count; i++) {
        double run_s = 1 + 400 * rng_uniform(&r) * rng_uniform(&r);
        double wide = std::floor(std::pow(double(processors), rng_uniform(&r)));

        run_s = seed % 2 ? run_s : std::floor(run_s);
        submit_s += std::floor(70 * rng_uniform(&r));
        jobs.push_back(logged(double(i + 1), submit_s, run_s, wide,
                              std::ceil(run_s * (1 + 4 * rng_uniform(&r)))));
    }
    return jobs;
}

void check_same(const scene &w, bool explained)
{
    test_arena a(size_t{1} << 30);
    queue_out out = decide(w.in, a);
    auto want = reference::conservative(w.in);
    size_t starts = 0, reasons = 0, blockers = 0;

    for (size_t i = 0; i < want.size(); i++) {
        const queue_verdict &v = out.verdicts[i];
        bool named = want[i].by == v.by && want[i].blocker == v.blocker &&
                     (v.by == QUEUE_NOTHING || want[i].until_s == v.until_s);

        starts += v.start_s != want[i].start_s;
        reasons += v.reason != want[i].reason;
        blockers += !named;
    }
    CHECK(starts == 0);
    if (!explained)
        return;
    CHECK(reasons == 0);
    CHECK(blockers == 0);
}

// Every job that fits has a start, and nobody more processors than there are; who starts
// is one of those that start when there is time, and the first of the queue if it can.
void check_plan(const scene &w, const queue_out &out, const queue_out &all)
{
    const auto processors = int64_t(w.in.processors);
    steps fixed(w.in.now_s, processors), used = fixed;
    size_t wrong = 0, starts = 0;

    auto hold = [&](double start_s, double end_s, uint64_t wide) {
        fixed.change(start_s, end_s, -int64_t(wide));
        used.change(start_s, end_s, -int64_t(wide));
    };
    for (const queue_running &r : w.running)
        hold(w.in.now_s, r.expected_end_s, r.processors);
    for (const queue_reservation &r : w.reservations)
        hold(r.start_s, r.end_s, r.processors);
    for (size_t i = 0; i < w.jobs.size(); i++) {
        const queue_verdict &v = out.verdicts[i];
        bool starts_now = v.reason == QUEUE_REASON_STARTS;

        starts += starts_now;
        wrong += starts_now && all.verdicts[i].reason != QUEUE_REASON_STARTS;
        wrong += std::isnan(v.start_s) != (w.jobs[i].processors > w.in.processors);
        wrong += v.start_s < w.in.now_s || (starts_now && v.start_s != w.in.now_s);
        if (!std::isnan(v.start_s))
            used.change(v.start_s, v.start_s + w.jobs[i].estimate_s,
                        -int64_t(w.jobs[i].processors));
    }
    auto before = fixed.cells();
    for (auto [at_s, free] : used.cells()) {
        auto cell = std::upper_bound(before.begin(), before.end(),
                                     std::make_pair(at_s, INT64_MAX));
        wrong += free < std::min(int64_t(0), (cell - 1)->second);
    }
    CHECK(wrong == 0);
    CHECK((starts > 0) == (all.start_count > 0));
    CHECK(out.makespan_s >= out.lower_bound_s * (1 - 1e-12));
}

} // namespace

TEST_CASE("a profile of blocks answers as a list of steps does", "[queue][property]")
{
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            rng r = rng_stream(seed * 3 + uint64_t(kind), "queue profile steps");
            test_arena a;
            error err{};
            profile p;
            double now_s = 0, most_s = kind == 1 ? 3000 : 1e9;
            const uint64_t processors = 1 + rng_index(&r, 100);
            steps want(now_s, int64_t(processors));
            size_t wrong = 0;

            profile_create(&p, now_s, processors, a);
            for (int i = 0; i < 500; i++) {
                double begin_s = now_s + draw_time(&r, kind, most_s) - 3;
                double end_s = begin_s + draw_time(&r, kind, most_s / 4);
                uint64_t k = rng_index(&r, 12), ask = rng_index(&r, 60);
                bool give = rng_uniform(&r) < 0.45;
                auto need = int64_t(ask);

                auto change = give ? profile_give : profile_take;
                wrong += change(&p, begin_s, end_s, k, &err) != OK;
                want.change(begin_s, end_s, give ? int64_t(k) : -int64_t(k));
                if (rng_uniform(&r) < 0.05) {
                    now_s += draw_time(&r, kind, most_s / 50);
                    profile_advance(&p, now_s);
                    want.advance(now_s);
                }
                auto cells = want.cells();
                wrong += p.free != cells[0].second;
                wrong += profile_first_below(&p, ask) != steps::first(cells, need, true);
                wrong += profile_first_above(&p, ask) != steps::first(cells, need, false);
                begin_s = now_s + draw_time(&r, kind, most_s);
                end_s = begin_s + draw_time(&r, kind, most_s / 20);
                wrong += profile_bears(&p, begin_s, end_s, ask) !=
                         steps::bears(cells, begin_s, end_s, need);
                for (double from_s : {now_s, begin_s})
                    wrong += profile_fit(&p, ask, end_s - begin_s, from_s) !=
                             steps::fit(cells, need, end_s - begin_s, from_s);
                wrong +=
                    profile_fit(&p, ask, 0, now_s) != steps::fit(cells, need, 0, now_s);
            }
            INFO("kind " << kind << " seed " << seed);
            CHECK(p.end - p.begin > (kind == 0 ? 0 : 3)); // of blocks
            CHECK(wrong == 0);
        }
}

TEST_CASE("a job that may move up goes where it would without its place",
          "[queue][property]")
{
    for (int kind = 0; kind < 3; kind++) {
        rng r = rng_stream(uint64_t(kind), "queue profile moves");
        test_arena a;
        error err{};
        profile p;
        size_t wrong = 0, moved = 0;
        double most_s = kind == 1 ? 3000 : 1e9;

        profile_create(&p, 0, 50, a);
        for (int i = 0; i < 600; i++) {
            uint64_t k = 1 + rng_index(&r, 20);
            double length_s = 1 + draw_time(&r, kind, most_s / 30);
            double from_s = draw_time(&r, kind, most_s);
            double plan_s = profile_fit(&p, k, length_s, from_s);
            double up_s;

            REQUIRE(profile_take(&p, plan_s, plan_s + length_s, k, &err) == OK);
            up_s = profile_fit_before(&p, k, length_s, plan_s);
            REQUIRE(profile_give(&p, plan_s, plan_s + length_s, k, &err) == OK);
            wrong += up_s != profile_fit(&p, k, length_s, 0);
            moved += up_s < plan_s;
            if (i % 3)
                REQUIRE(profile_take(&p, plan_s, plan_s + length_s, k, &err) == OK);
        }
        CHECK(wrong == 0);
        CHECK(moved > 20);
    }
}

TEST_CASE("plans and explanations are those of the engine before", "[queue][property]")
{
    for (lengths kind : {DISTINCT_16, LOG_UNIFORM, OCTAVES, WHOLE})
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (uint64_t processors : {3, 100, 2000}) {
                INFO("kind " << kind << " seed " << seed << " on " << processors);
                check_same(draw_queue(seed == 1 ? 3 : 400, processors, kind, seed,
                                      seed == 2 ? 0 : 7),
                           true);
            }
    check_same(draw_queue(0, 10, WHOLE, 1, 0), true);
    check_same(draw_queue(5000, 1000, LOG_UNIFORM, 1, 3), true);
}

TEST_CASE("20,000 starts are those of the engine before", "[queue][property]")
{
    check_same(draw_queue(20000, 10000, DISTINCT_16, 1, 0), false);
    check_same(draw_queue(20000, 10000, OCTAVES, 2, 0), false);
}

TEST_CASE("20,000 starts are those of the engine before, all kinds",
          "[.][queue][property]")
{
    for (lengths kind : {DISTINCT_16, LOG_UNIFORM, OCTAVES, WHOLE})
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (uint64_t processors : {600, 10000}) {
                INFO("kind " << kind << " seed " << seed << " on " << processors);
                check_same(draw_queue(20000, processors, kind, seed, 5 * (seed - 1)),
                           true);
            }
}

TEST_CASE("promises are kept when a job ends early", "[queue]")
{
    // R1 and R2 run; J1 is as wide as the machine.
    const std::vector<queue_job> jobs = {{1, 300, 10}, {2, 50, 3}, {3, 50, 6}};
    scene w;
    auto starts = [](const queue_out &out) {
        return std::vector<double>{out.verdicts[0].start_s, out.verdicts[1].start_s,
                                   out.verdicts[2].start_s};
    };
    using list = std::vector<double>;

    w.jobs = jobs;
    w.running = {{100, 3}, {50, 7}};
    w.with(10)->now_s = 10;
    test_arena a;
    list told = starts(decide(w.in, a));
    CHECK(told == list{100, 50, 400});

    // R1 ends at 20.
    w.running = {{50, 7}};
    w.with(10)->now_s = 20;
    CHECK(starts(decide(w.in, a)) == list{50, 350, 350});
    w.in.planned_start_s = told.data();
    queue_out kept = decide(w.in, a);
    CHECK(starts(kept) == list{100, 20, 50});
    CHECK(kept.broken_count == 0);
    CHECK(kept.start_count == 1);
    told = starts(kept);
    w.in.planned_start_s = told.data();
    CHECK(starts(decide(w.in, a)) == list{100, 20, 50});
    w.in.keeps_gaps = true;
    told = {100, 50, 400};
    w.in.planned_start_s = told.data();
    CHECK(starts(decide(w.in, a)) == list{100, 50, 400});
}

TEST_CASE("a promise that cannot be kept is said, and breaks no other", "[queue]")
{
    // 10 processors. The first was promised 100, when the running one was to end.
    scene w;
    std::vector<double> told = {100, 100, 400, std::nan("")};
    test_arena a;

    w.jobs = {{1, 300, 8}, {2, 100, 2}, {3, 100, 10}, {4, 10, 2}};
    w.running = {{150, 8}};
    w.with(10)->now_s = 50;
    w.in.planned_start_s = told.data();
    w.in.keeps_gaps = true;
    queue_out out = decide(w.in, a);
    auto v = out.verdicts;

    // Its room ends at 400, which the third was promised.
    CHECK(out.broken_count == 1);
    CHECK(v[0].start_s == 500);
    CHECK(v[0].broken_by_s == 400);
    CHECK(v[0].breaker_by == QUEUE_BY_JOB);
    CHECK(v[0].breaker == 2);
    CHECK(v[1].start_s == 100);
    CHECK(std::isnan(v[1].broken_by_s));
    CHECK(v[2].start_s == 400);
    CHECK(v[3].start_s == 50);

    // Without the third it waits for the running one only.
    told[2] = std::nan("");
    out = decide(w.in, a);
    CHECK(out.verdicts[0].start_s == 150);
    CHECK(out.verdicts[0].broken_by_s == 50);
    CHECK(out.verdicts[0].breaker_by == QUEUE_BY_RUNNING);
    CHECK(out.verdicts[0].breaker == 0);

    // A new reservation, and a promise that is past, which counts as now.
    w.running.clear();
    w.reservations = {{60, 90, 10}};
    told = {40, std::nan(""), std::nan(""), std::nan("")};
    w.with(10);
    w.in.planned_start_s = told.data();
    out = decide(w.in, a);
    CHECK(out.verdicts[0].start_s == 90);
    CHECK(out.verdicts[0].broken_by_s == 40);
    CHECK(out.verdicts[0].breaker_by == QUEUE_BY_RESERVATION);
    w.reservations.clear();
    w.with(10);
    out = decide(w.in, a);
    CHECK(out.broken_count == 0);
    CHECK(out.verdicts[0].reason == QUEUE_REASON_STARTS);
}

TEST_CASE("a live loop that sends promises back is the replay", "[queue][property]")
{
    for (uint64_t seed : {1, 2, 3}) {
        auto jobs = draw_log(300, 16, seed);
        replayed want = replay("conservative", replay_of(jobs, 16));
        live loop(jobs, 16, false);
        double worst_s = 0;
        size_t later = 0, waited = 0;

        for (size_t i = 0; i < jobs.size(); i++) {
            worst_s = std::max(worst_s, std::abs(loop.start_s[i] - want.start_s[i]));
            later += loop.start_s[i] > loop.first_s[i] + 1e-6;
            waited += loop.start_s[i] > jobs[i].submit_s;
        }
        INFO("seed " << seed);
        CHECK(waited > 100);
        CHECK(worst_s <= 1e-6);
        CHECK(later == 0);
        CHECK(loop.broken == 0);
    }
}

TEST_CASE("a loop that compresses at every call breaks no promise", "[queue][property]")
{
    auto jobs = draw_log(150, 16, 1);
    live loop(jobs, 16, true);
    size_t later = 0;

    for (size_t i = 0; i < jobs.size(); i++)
        later += loop.start_s[i] > loop.first_s[i] + 1e-6;
    CHECK(later == 0);
    CHECK(loop.broken == 0);
}

TEST_CASE("a cut decision keeps all plans that it made", "[queue]")
{
    scene w = draw_queue(30000, 2000, LOG_UNIFORM, 1, 0); // 29 looks arrive
    test_arena a(size_t{1} << 30);
    queue_out all = decide(w.in, a);
    size_t asked = 0;
    budget limit = make_budget(
        [](void *context) { return ++*static_cast<size_t *>(context) > 40 ? 0.9 : 0.1; },
        &asked);
    w.in.budget = &limit;
    for (const char *policy : {"conservative", "easy", "fcfs"}) {
        const struct policy *p = policy_find(queue_policies, policy);
        asked = 0;
        queue_out out = decide(w.in, a, policy);
        size_t known = 0, wrong = 0, unknown = 0;

        for (size_t i = 0; i < w.jobs.size(); i++) {
            const queue_verdict &v = out.verdicts[i];
            bool conservative = queue_discipline_of(p)->rule == QUEUE_CONSERVATIVE;

            bool planned = !std::isnan(v.plan_s) || v.reason == QUEUE_REASON_STARTS;

            known += planned;
            unknown += v.reason == QUEUE_REASON_TIME_LIMIT;
            if (conservative && !planned)
                wrong += v.reason != QUEUE_REASON_TIME_LIMIT;
            else if (conservative)
                wrong += v.start_s != all.verdicts[i].start_s;
        }
        INFO(p->name);
        CHECK(out.is_cut);
        CHECK(asked < 50);
        CHECK(known < w.jobs.size());
        CHECK(wrong == 0);
        if (queue_discipline_of(p)->rule == QUEUE_CONSERVATIVE) {
            CHECK(known > 100);
            CHECK(unknown > 100);
            CHECK(known + out.behind_count == w.jobs.size());
        }
    }
}

TEST_CASE("whoever there was no time for has a place behind all others",
          "[queue][property]")
{
    for (lengths kind : {LOG_UNIFORM, WHOLE})
        for (size_t count : {0, 1, 2, 3000})
            for (size_t looks : {0, 1, 4, 12, 40}) {
                scene w = draw_queue(count, 600, kind, count + looks, looks % 3 * 4);
                test_arena a(size_t{1} << 30);

                w.running.resize(w.running.size() / 2); // some can start
                if (count > 1)
                    w.jobs[1].estimate_s = 0;
                if (count > 2)
                    w.jobs[2].processors = 601;
                w.with(600);
                for (const struct policy *p = queue_policies; p->name; p++) {
                    std::pair<size_t, size_t> asked{0, looks};
                    budget limit = make_budget(
                        [](void *context) {
                            auto *seen =
                                static_cast<std::pair<size_t, size_t> *>(context);
                            return seen->first++ < seen->second ? 0.1 : 1.0;
                        },
                        &asked);
                    INFO(p->name << " kind " << kind << " jobs " << count << " looks "
                                 << looks);
                    queue_out all = decide(w.in, a, p->name);
                    w.in.budget = &limit;
                    check_plan(w, decide(w.in, a, p->name), all);
                    w.in.budget = nullptr;
                }
            }
}
