// cluster_replay_test.cpp - jobs on clusters whose nodes may fail.
#include "tests/queue_support.hpp"

#include <array>
#include <deque>
#include <set>

extern "C" {
#include "algorithms/cluster_replay/bits.h"
#include "algorithms/cluster_replay/replay.h"
}

namespace
{

// A cluster with its jobs; what points into it stays.
struct site {
    std::deque<std::vector<int64_t>> lists;
    std::deque<std::vector<uint64_t>> set_words;
    std::deque<std::vector<uint32_t>> numbers;
    std::vector<replay_nodes> groups;
    std::vector<replay_job> jobs;
    std::vector<replay_set> sets;
    std::vector<replay_outage> outages;
    std::vector<replay_reservation> reservations;
    std::vector<int64_t> shared;
    std::vector<replay_burst> bursts;
    replay_in in{};

    site()
    {
        in.amount_count = 1;
        in.rules = replay_rules_default();
        in.seed = 1;
        in.stop_ms = REPLAY_NEVER;
        in.keep_nodes = true;
    }
    const int64_t *list(std::vector<int64_t> values)
    {
        lists.push_back(std::move(values));
        return lists.back().data();
    }
    void nodes(size_t count, std::vector<int64_t> amounts)
    {
        replay_nodes g{};

        g.count = count;
        g.amounts = list(std::move(amounts));
        g.speed = 1;
        g.weight = 1;
        g.burst = REPLAY_NONE;
        g.expected_repair_ms = -1;
        g.id = "n";
        groups.push_back(g);
    }
    // Times in ms; limit and estimate < 0: none.
    replay_job &job(int64_t submit, uint32_t nodes, int64_t run, int64_t limit,
                    std::vector<int64_t> need = {1})
    {
        replay_job j{};

        j.submit_ms = submit;
        j.cancel_ms = REPLAY_NEVER;
        j.run_ms = run;
        j.limit_ms = limit < 0 ? REPLAY_NEVER : limit;
        j.estimate_ms = -1;
        j.nodes = nodes;
        j.need = list(std::move(need));
        jobs.push_back(j);
        return jobs.back();
    }
    replay_in input()
    {
        in.groups = groups.data();
        in.group_count = groups.size();
        in.jobs = jobs.data();
        in.job_count = jobs.size();
        in.sets = sets.data();
        in.set_count = sets.size();
        in.outages = outages.data();
        in.outage_count = outages.size();
        in.reservations = reservations.data();
        in.reservation_count = reservations.size();
        in.shared = shared.data();
        in.shared_count = shared.size();
        in.bursts = bursts.data();
        in.burst_count = bursts.size();
        return in;
    }
    size_t node_count() const
    {
        size_t count = 0;

        for (auto &g : groups)
            count += g.count;
        return count;
    }
};

struct played {
    std::vector<replay_outcome> outcomes;
    std::vector<std::vector<uint32_t>> nodes;
    std::vector<replay_held> held;
    replay_totals totals{};
    bool is_cut = false;
};

played play(site &s)
{
    test_arena a, scratch;
    replay_in in = s.input();
    replay_out out{};
    error err{};
    played p;

    REQUIRE(computed(a, &err, [&] {
                return replay_play(&in, nullptr, &out, a, scratch, &err);
            }) == OK);
    p.outcomes.assign(out.outcomes, out.outcomes + in.job_count);
    for (auto &o : p.outcomes)
        p.nodes.emplace_back(o.node_ids, o.node_ids + (o.node_ids ? o.nodes : 0));
    p.held.assign(out.held, out.held + in.group_count);
    p.totals = out.totals;
    p.is_cut = out.is_cut;
    return p;
}

// Where all times of all nodes are.
int64_t sum_of(const replay_totals &t)
{
    int64_t sum = 0;

    for (int64_t ms : t.node_ms)
        sum += ms;
    return sum;
}

// Options of a checkpoint policy with a fixed interval.
std::array<double, CHECKPOINT_PARAM_COUNT> checkpoint_options(const policy *p,
                                                              double interval_s)
{
    std::array<double, CHECKPOINT_PARAM_COUNT> param{};

    for (size_t i = 0; i < CHECKPOINT_PARAM_COUNT; i++)
        param[i] = p->params[i].preset;
    param[CHECKPOINT_INITIAL_INTERVAL] = interval_s;
    return param;
}

} // namespace

TEST_CASE("a set of numbers finds the lowest and the next", "[cluster_replay]")
{
    for (size_t room : {1u, 64u, 65u, 4096u, 4097u, 100000u}) {
        test_arena a;
        bits b = bits_create(room, a);
        std::set<size_t> want;
        std::mt19937 random(7);

        for (int i = 0; i < 3000; i++) {
            size_t n = random() % room, from = random() % room;
            auto next = want.lower_bound(from);

            CHECK(bits_next(&b, from) == (next == want.end() ? BITS_NONE : *next));
            CHECK(b.count == want.size());
            if (random() % 3) {
                bits_add(&b, n);
                want.insert(n);
            } else {
                bits_remove(&b, n);
                want.erase(n);
            }
            REQUIRE(bits_has(&b, n) == (want.count(n) > 0));
        }
    }
}

TEST_CASE("three jobs on four nodes, one of which fails", "[cluster_replay]")
{
    // Worked by hand: easy, an image after 100 s of work, C 10, R 5; node 0 is down from
    // 250 to 400 s.
    const policy *periodic = policy_find(checkpoint_policies, "periodic");
    auto param = checkpoint_options(periodic, 100);
    site s;

    s.nodes(4, {1});
    s.job(0, 3, 300000, 1000000);
    s.job(10000, 2, 100000, 200000);
    s.job(20000, 1, 50000, 100000);
    for (auto &j : s.jobs) {
        j.checkpoint_ms = 10000;
        j.restart_ms = 5000;
    }
    s.outages.push_back({0, 250000, 400000});
    s.in.rules.checkpoint = periodic;
    s.in.rules.checkpoint_param = param.data();
    SECTION("it keeps its place in the queue")
    {
        played p = play(s);

        CHECK(p.outcomes[0].first_start_ms == 0);
        CHECK(p.outcomes[0].start_ms == 250000);
        CHECK(p.outcomes[0].end_ms == 355000);
        CHECK(p.nodes[0] == std::vector<uint32_t>{1, 2, 3});
        CHECK(p.outcomes[0].restarts == 1);
        CHECK(p.outcomes[0].failure_kills == 1);
        CHECK(p.outcomes[0].checkpoints == 2);
        CHECK(p.outcomes[1].start_ms == 355000);
        CHECK(p.outcomes[1].end_ms == 455000);
        CHECK(p.outcomes[2].start_ms == 20000);
        CHECK(p.outcomes[2].end_ms == 70000);
        CHECK(p.nodes[2] == std::vector<uint32_t>{3});
        CHECK(p.totals.end_ms == 455000);
        CHECK(p.totals.is_exact);
        const int64_t want[] = {1150000, 90000, 60000, 15000, 355000, 150000};
        for (int t = 0; t < REPLAY_TIME_COUNT; t++)
            CHECK(p.totals.node_ms[t] == want[t]);
        // A: 3 nodes 250 and 105 s; B: 2 nodes 100 s; C: 1 node 50 s
        CHECK(p.held[0].node_s == 3 * 355 + 2 * 100 + 50);
        CHECK(p.held[0].cpu_s == p.held[0].node_s);
    }
    SECTION("it goes to the end of the queue")
    {
        s.in.rules.requeue = REPLAY_REQUEUE_BACK;
        played p = play(s);

        CHECK(p.outcomes[1].start_ms == 250000);
        CHECK(p.outcomes[1].end_ms == 350000);
        CHECK(p.nodes[1] == std::vector<uint32_t>{1, 2});
        CHECK(p.outcomes[0].start_ms == 350000);
        CHECK(p.outcomes[0].end_ms == 455000);
        CHECK(sum_of(p.totals) == 4 * p.totals.end_ms);
    }
}

TEST_CASE("a node whose outages overlap is back when the last is over",
          "[cluster_replay]")
{
    struct {
        const char *when;
        int64_t down_ms, up_ms, want_ms;
    } second[] = {
        {"it begins within the first", 200000, 400000, 400000},
        {"it is within the first", 150000, 250000, 300000},
        {"it begins when the first ends", 300000, 400000, 400000},
        {"it comes later", 350000, 400000, 300000},
    };
    for (auto &c : second) {
        INFO(c.when);
        site s;

        s.nodes(1, {1});
        s.job(160000, 1, 10000, -1);
        s.outages.push_back({0, 100000, 300000});
        s.outages.push_back({0, c.down_ms, c.up_ms});
        played p = play(s);
        CHECK(p.outcomes[0].start_ms == c.want_ms);
        CHECK(p.outcomes[0].end_ms == c.want_ms + 10000);
    }
}

TEST_CASE("what a policy knows of history is without the time that a node was down",
          "[cluster_replay]")
{
    // M = (3000 - 1000) s / (1 + 1/2), so I = sqrt(2 * 10 * 1333.3) = 163.3 s: six images
    // in 1,100 s of work.
    const policy *young = policy_find(checkpoint_policies, "young");
    auto param = checkpoint_options(young, 100);
    site s;

    param[CHECKPOINT_MEAN_FLOOR] = 1;
    s.nodes(1, {1});
    s.job(3000000, 1, 1100000, -1).checkpoint_ms = 10000;
    s.outages.push_back({0, 1000000, 2000000});
    s.in.rules.checkpoint = young;
    s.in.rules.checkpoint_param = param.data();
    s.in.rules.knows = REPLAY_KNOWS_HISTORY;
    played p = play(s);
    CHECK(p.outcomes[0].checkpoints == 6);
    CHECK(p.outcomes[0].end_ms == 4160000);
}

namespace
{

// A log on a cluster: one processor a node, or one node of all.
site site_of(const std::vector<swf_job> &log, uint64_t processors, bool one_node)
{
    site s;

    if (one_node)
        s.nodes(1, {static_cast<int64_t>(processors)});
    else
        s.nodes(processors, {1});
    for (auto &j : log) {
        double run_s = j.run_s, asked_s = std::max(j.requested_s, j.run_s);
        auto width = static_cast<int64_t>(swf_processors(&j));
        replay_job &made =
            s.job(static_cast<int64_t>(j.submit_s * 1000),
                  one_node ? 1 : static_cast<uint32_t>(width),
                  static_cast<int64_t>(run_s * 1000), -1, {one_node ? width : 1});

        made.estimate_ms =
            static_cast<int64_t>((std::isnan(j.requested_s) ? run_s : asked_s) * 1000);
    }
    s.in.rules.backfill_depth = SIZE_MAX;
    return s;
}

void compare_with_queue(const std::vector<swf_job> &log, uint64_t processors,
                        const char *policy, bool one_node)
{
    queue_replay_in in = replay_of(log, processors);
    replayed want = replay(policy, in);
    site s = site_of(log, processors, one_node);

    s.in.rules.policy = policy_find(queue_policies, policy);
    played p = play(s);
    INFO(policy << (one_node ? " on one node" : " on nodes of one processor"));
    size_t different = 0;
    for (size_t i = 0; i < log.size(); i++) {
        bool never = p.outcomes[i].state == REPLAY_NEVER_FITS;
        bool same =
            never ? std::isnan(want.start_s[i])
                  : static_cast<double>(p.outcomes[i].start_ms) == want.start_s[i] * 1000;

        different += !same;
        if (!same && different < 5)
            UNSCOPED_INFO("job " << i << " at " << p.outcomes[i].start_ms
                                 << " instead of " << want.start_s[i]);
    }
    CHECK(different == 0);
}

} // namespace

TEST_CASE("a cluster of processors is a batch queue, on real logs", "[cluster_replay]")
{
    const std::pair<const char *, uint64_t> logs[] = {{"KTH-SP2-first1000.swf", 100},
                                                      {"HPC2N-2002-first3171.swf", 240}};
    std::string data = data_folder();

    if (data.empty())
        return;
    for (auto [file, processors] : logs) {
        auto log = read_swf(data + "/01-workloads/swf/" + file);

        INFO(file);
        for (const policy *p = queue_policies; p->name; p++)
            for (bool one_node : {false, true})
                compare_with_queue(log, processors, p->name, one_node);
    }
}

namespace
{

// ---- the same, plainly: second by second, and everything looked at each time ----

struct plain_job {
    bool arrived = false, over = false, running = false, started = false, image = false;
    int64_t eligible = 0, arrival = 0, front = 0;
    int64_t saved = 0, unsaved = 0, restart_left = 0, image_left = 0, start = 0;
    int64_t kept_nodes = 0; // node-seconds of work that is saved
    int64_t first_start = -1, end = -1;
    std::vector<size_t> nodes;
    int state = REPLAY_NOT_ARRIVED;
    uint32_t restarts = 0;
};

struct plain {
    const site &s;
    int64_t interval, repair, now = 0, fronts = 0;
    std::vector<plain_job> jobs;
    std::vector<int> down, owner;
    int64_t sums[REPLAY_TIME_COUNT] = {};
    bool changed = false; // in this second: the queue decides when something happens

    plain(const site &from, int64_t interval_s, int64_t repair_s)
        : s(from), interval(interval_s), repair(repair_s), jobs(from.jobs.size()),
          down(from.node_count()), owner(from.node_count(), -1)
    {
    }
    int64_t seconds(int64_t ms) const
    {
        return ms == REPLAY_NEVER ? REPLAY_NEVER : ms / 1000;
    }
    int64_t estimate(size_t j) const
    {
        return seconds(s.jobs[j].limit_ms == REPLAY_NEVER ? s.jobs[j].run_ms
                                                          : s.jobs[j].limit_ms);
    }
    void leave(size_t j)
    {
        changed = true;
        for (size_t n : jobs[j].nodes)
            owner[n] = -1;
        jobs[j].nodes.clear();
        jobs[j].running = false;
    }
    void finish(size_t j, replay_state state)
    {
        plain_job &p = jobs[j];

        p.over = true;
        p.end = now;
        p.state = state;
        sums[state == REPLAY_DONE ? REPLAY_TIME_useful : REPLAY_TIME_lost] +=
            p.kept_nodes;
        p.kept_nodes = 0;
    }
    void kill(size_t j, bool by_limit)
    {
        plain_job &p = jobs[j];
        const replay_rules &rules = s.in.rules;
        auto width = static_cast<int64_t>(p.nodes.size());

        sums[REPLAY_TIME_lost] += p.unsaved * width;
        p.unsaved = 0;
        leave(j);
        bool back =
            by_limit ? rules.requeue_at_limit : rules.requeue != REPLAY_REQUEUE_NONE;
        if (!back || p.restarts >= rules.max_restarts) {
            finish(j, by_limit ? REPLAY_KILLED : REPLAY_LOST);
            return;
        }
        p.eligible = now + seconds(s.jobs[j].delay_ms);
        if (rules.requeue == REPLAY_REQUEUE_BACK)
            p.arrival = now;
        if (rules.requeue == REPLAY_REQUEUE_FRONT)
            p.front = s.jobs[j].delay_ms ? -1 : -2 - fronts++; // -1: when it is queued
        p.state = REPLAY_WAITING;
    }
    // A second passes.
    void work()
    {
        for (size_t n = 0; n < down.size(); n++)
            if (down[n])
                sums[REPLAY_TIME_down]++;
            else if (owner[n] < 0)
                sums[REPLAY_TIME_idle]++;
        for (auto &p : jobs) {
            auto width = static_cast<int64_t>(p.nodes.size());
            size_t j = static_cast<size_t>(&p - jobs.data());

            if (!p.running)
                continue;
            if (p.restart_left > 0) {
                p.restart_left--;
                sums[REPLAY_TIME_restart] += width;
                continue;
            }
            if (p.image_left > 0) {
                sums[REPLAY_TIME_checkpoint] += width;
                if (--p.image_left == 0)
                    take_image(p);
                continue;
            }
            p.unsaved++;
            if (p.unsaved == interval &&
                p.saved + p.unsaved < seconds(s.jobs[j].run_ms)) {
                p.image_left = seconds(s.jobs[j].checkpoint_ms);
                if (p.image_left == 0)
                    take_image(p);
            }
        }
        now++;
    }
    void take_image(plain_job &p)
    {
        p.kept_nodes += p.unsaved * static_cast<int64_t>(p.nodes.size());
        p.saved += p.unsaved;
        p.unsaved = 0;
        p.image = true;
    }
    std::vector<size_t> queue(bool shortest)
    {
        std::vector<size_t> list;

        for (size_t j = 0; j < jobs.size(); j++)
            if (jobs[j].arrived && !jobs[j].over && !jobs[j].running &&
                jobs[j].eligible <= now)
                list.push_back(j);
        for (size_t j : list)
            if (jobs[j].front == -1)
                jobs[j].front = -2 - fronts++; // who came last is the first
        std::sort(list.begin(), list.end(), [&](size_t a, size_t b) {
            auto key = [&](size_t j) {
                return std::make_tuple(-s.jobs[j].priority, jobs[j].front,
                                       shortest ? estimate(j) : 0, jobs[j].arrival, j);
            };
            return key(a) < key(b);
        });
        return list;
    }
    std::vector<size_t> idle() const
    {
        std::vector<size_t> list;

        for (size_t n = 0; n < owner.size(); n++)
            if (!down[n] && owner[n] < 0)
                list.push_back(n);
        return list;
    }
    bool start(size_t j)
    {
        plain_job &p = jobs[j];
        auto free = idle();

        if (free.size() < s.jobs[j].nodes)
            return false;
        p.nodes.assign(free.begin(), free.begin() + s.jobs[j].nodes);
        for (size_t n : p.nodes)
            owner[n] = static_cast<int>(j);
        p.running = true;
        p.start = now;
        p.state = REPLAY_RUNNING;
        p.first_start = p.first_start < 0 ? now : p.first_start;
        p.restart_left =
            !p.started ? 0
                       : seconds(p.image ? s.jobs[j].restart_ms : s.jobs[j].scratch_ms);
        p.restarts += p.started;
        p.started = true;
        p.unsaved = p.image_left = 0;
        return true;
    }
    // When so many nodes are free, if all end as expected, and how many are then.
    int64_t shadow(size_t wanted, int64_t *free_then) const
    {
        std::map<int64_t, size_t> more;
        size_t free = idle().size();

        for (size_t j = 0; j < jobs.size(); j++)
            if (jobs[j].running) {
                int64_t end = jobs[j].start + estimate(j);

                more[end > now ? end : now + 1] += jobs[j].nodes.size();
            }
        for (int d : down)
            if (d && repair >= 0)
                more[now + repair]++;
        for (auto [at, count] : more) {
            free += count;
            if (free >= wanted) {
                *free_then = static_cast<int64_t>(free);
                return at;
            }
        }
        return REPLAY_NEVER;
    }
    void decide(const queue_discipline *d)
    {
        std::vector<size_t> list = queue(d->order == QUEUE_SHORTEST);
        size_t i = 0;
        int64_t at = REPLAY_NEVER, then = 0;

        while (d->rule != QUEUE_FIT && i < list.size() && start(list[i]))
            i++;
        if (d->rule == QUEUE_HEAD || i == list.size())
            return;
        size_t first = list[i];
        if (d->rule == QUEUE_EASY) {
            at = shadow(s.jobs[first].nodes, &then);
            then -= s.jobs[first].nodes;
        }
        for (size_t j : queue(d->backfill_order == QUEUE_SHORTEST)) {
            bool beyond = now + estimate(j) > at;

            if (d->rule == QUEUE_EASY &&
                (j == first || (beyond && s.jobs[j].nodes > then)))
                continue;
            if (start(j) && beyond && at < REPLAY_NEVER)
                then -= s.jobs[j].nodes;
        }
    }
    void play()
    {
        size_t left = 1;

        for (; left > 0 && now < 100000; work()) {
            for (size_t j = 0; j < jobs.size(); j++) {
                plain_job &p = jobs[j];

                if (!p.running)
                    continue;
                if (p.saved + p.unsaved == seconds(s.jobs[j].run_ms) && !p.restart_left) {
                    sums[REPLAY_TIME_useful] +=
                        p.unsaved * static_cast<int64_t>(p.nodes.size());
                    leave(j);
                    finish(j, REPLAY_DONE);
                } else if (seconds(s.jobs[j].limit_ms) != REPLAY_NEVER &&
                           now - p.start == seconds(s.jobs[j].limit_ms)) {
                    kill(j, true);
                }
            }
            for (auto &o : s.outages)
                if (seconds(o.up_ms) == now) {
                    down[o.node] = 0;
                    changed = true;
                }
            for (auto &o : s.outages)
                if (seconds(o.down_ms) == now) {
                    down[o.node] = 1;
                    changed = true;
                    if (owner[o.node] >= 0)
                        kill(static_cast<size_t>(owner[o.node]), false);
                }
            for (size_t j = 0; j < jobs.size(); j++)
                if (!jobs[j].arrived && seconds(s.jobs[j].submit_ms) <= now) {
                    jobs[j].arrived = changed = true;
                    jobs[j].arrival = now;
                    jobs[j].state = REPLAY_WAITING;
                    if (s.jobs[j].nodes > owner.size())
                        finish(j, REPLAY_NEVER_FITS);
                }
            left = 0;
            for (auto &p : jobs)
                left += !p.over;
            if (!left)
                break;
            for (auto &p : jobs)
                changed |= p.arrived && p.eligible == now && now > 0;
            if (changed)
                decide(queue_discipline_of(s.in.rules.policy));
            changed = false;
        }
    }
};

site random_site(std::mt19937 &random, int64_t *repair)
{
    auto below = [&](uint32_t n) { return random() % n; };
    site s;
    size_t nodes = 1 + below(6);
    int64_t submit = 0;

    s.nodes(nodes, {1});
    *repair = below(2) ? -1 : static_cast<int64_t>(5 + below(40));
    s.groups[0].expected_repair_ms = *repair < 0 ? REPLAY_NEVER : *repair * 1000;
    for (uint32_t j = below(14); j > 0; j--) {
        int64_t run = 1 + static_cast<int64_t>(below(60));
        bool limited = below(3) == 0;
        replay_job &job = s.job(
            submit * 1000, 1 + below(static_cast<uint32_t>(nodes) + (below(9) == 0)),
            run * 1000, limited ? (1 + run * (1 + below(5)) / 2) * 1000 : -1);

        job.checkpoint_ms = static_cast<int64_t>(below(4)) * 1000;
        job.restart_ms = static_cast<int64_t>(below(4)) * 1000;
        job.scratch_ms = static_cast<int64_t>(below(3)) * 1000;
        job.delay_ms = static_cast<int64_t>(below(3) == 0 ? below(9) : 0) * 1000;
        job.priority = below(4) == 0 ? 1 : 0;
        submit += below(3) ? below(20) : 0;
    }
    for (uint32_t n = 0; n < nodes; n++)
        for (int64_t at = below(100); at < 250; at += 1 + below(90)) {
            int64_t up = at + 1 + below(30);

            s.outages.push_back({n, at * 1000, up * 1000});
            at = up;
        }
    return s;
}

} // namespace

TEST_CASE("replays are those of a plain program that looks at each second",
          "[cluster_replay][property]")
{
    const char *const policies[] = {"fcfs", "easy",      "easy_sjbf",
                                    "sjf",  "first_fit", "easy_sjf"};
    const policy *periodic = policy_find(checkpoint_policies, "periodic");
    std::mt19937 random(3);
    int killed = 0;

    for (int round = 0; round < 600; round++) {
        int64_t repair, interval = 3 + static_cast<int64_t>(random() % 20);
        site s = random_site(random, &repair);
        auto param = checkpoint_options(periodic, static_cast<double>(interval));

        s.in.rules.policy = policy_find(queue_policies, policies[random() % 6]);
        s.in.rules.checkpoint = periodic;
        s.in.rules.checkpoint_param = param.data();
        s.in.rules.requeue = static_cast<replay_requeue>(random() % 4);
        s.in.rules.requeue_at_limit = random() % 2;
        s.in.rules.max_restarts = random() % 3 ? 5 : random() % 2;
        plain want(s, interval, repair);
        want.play();
        played got = play(s);

        INFO("round " << round << ", " << s.in.rules.policy->name << ", "
                      << replay_requeue_names[s.in.rules.requeue]);
        for (size_t j = 0; j < s.jobs.size(); j++) {
            const replay_outcome &o = got.outcomes[j];

            INFO("job " << j);
            REQUIRE(int{o.state} == want.jobs[j].state);
            REQUIRE(o.end_ms == want.jobs[j].end * 1000);
            REQUIRE((o.first_start_ms == REPLAY_NEVER ? -1 : o.first_start_ms / 1000) ==
                    want.jobs[j].first_start);
            REQUIRE(o.restarts == want.jobs[j].restarts);
            killed += static_cast<int>(o.failure_kills);
        }
        if (s.jobs.empty())
            continue;
        REQUIRE(got.totals.end_ms == want.now * 1000);
        for (int t = 0; t < REPLAY_TIME_COUNT; t++) {
            INFO("time " << t);
            REQUIRE(got.totals.node_ms[t] == want.sums[t] * 1000);
        }
    }
    CHECK(killed > 300); // it is about failures
}

TEST_CASE("nobody gets more than a node has, and all time is somewhere",
          "[cluster_replay][property]")
{
    std::mt19937 random(5);
    distribution up = distribution_exponential(300),
                 repair = distribution_exponential(40);

    for (int round = 0; round < 200; round++) {
        auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
        site s;
        int64_t submit = 0;

        s.in.amount_count = 2;
        for (int g = 0; g < 2; g++) {
            s.nodes(static_cast<size_t>(1 + below(5)), {2 + below(7), 10 + below(20)});
            s.groups.back().failure = &up;
            s.groups.back().restore = &repair;
            s.groups.back().weight = static_cast<double>(below(2));
        }
        for (int j = 0; j < 40; j++) {
            replay_job &job = s.job(submit, static_cast<uint32_t>(1 + below(3)),
                                    1000 * below(60), -1, {below(5), below(12)});

            job.exclusive = below(5) == 0;
            job.spare_nodes = below(6) == 0;
            job.restart_ms = below(3000);
            job.delay_ms = below(2) ? below(5000) : 0;
            submit += below(9000);
        }
        s.in.rules.policy = &queue_policies[below(8)];
        s.in.rules.choice = static_cast<replay_choice>(below(4));
        s.in.rules.cleanup_ms = below(2) * 3000;
        s.in.stop_ms = below(3) ? REPLAY_NEVER : 100000 + below(100000);
        s.in.seed = static_cast<uint64_t>(round);
        played p = play(s), again = play(s);
        double all = 0;

        INFO("round " << round << ", " << s.in.rules.policy->name);
        for (double node_s : p.totals.node_s)
            all += node_s;
        CHECK(all == Approx(static_cast<double>(s.node_count()) * 1e-3 *
                            static_cast<double>(p.totals.end_ms))
                         .epsilon(1e-9));
        for (double node_s : p.totals.node_s)
            CHECK(node_s >= -1e-9);
        for (size_t j = 0; j < s.jobs.size(); j++) {
            const replay_outcome &o = p.outcomes[j];

            CHECK(o.end_ms == again.outcomes[j].end_ms);
            if (s.in.stop_ms == REPLAY_NEVER)
                CHECK((o.state == REPLAY_DONE || o.state == REPLAY_NEVER_FITS));
            CHECK(p.nodes[j].size() ==
                  (o.state == REPLAY_NEVER_FITS || o.first_start_ms == REPLAY_NEVER
                       ? 0
                       : s.jobs[j].nodes));
            // The last attempts alone already must fit side by side.
            if (o.start_ms == REPLAY_NEVER || o.end_ms == o.start_ms ||
                s.jobs[j].spare_nodes || o.state == REPLAY_WAITING)
                continue;
            for (uint32_t n : p.nodes[j]) {
                int64_t cpus = 0, memory = 0;
                bool whole = false;
                size_t there = 0, first = s.groups[0].count;

                for (size_t k = 0; k < s.jobs.size(); k++) {
                    const replay_outcome &x = p.outcomes[k];
                    bool on = std::count(p.nodes[k].begin(), p.nodes[k].end(), n) > 0;

                    if (!on || x.start_ms > o.start_ms || x.end_ms <= o.start_ms ||
                        s.jobs[k].spare_nodes || x.state == REPLAY_WAITING)
                        continue;
                    cpus += s.jobs[k].need[0];
                    memory += s.jobs[k].need[1];
                    whole |= s.jobs[k].exclusive && x.cpus > 0;
                    there++;
                }
                const int64_t *has = s.groups[n >= first].amounts;
                CHECK(cpus <= has[0]);
                CHECK(memory <= has[1]);
                if (whole)
                    CHECK(there == 1);
            }
        }
    }
}

TEST_CASE("a job alone on nodes that fail takes the expected time", "[cluster_replay]")
{
    // 20 settings of nodes, interval and costs under exponential failures: the mean of
    // the end is what the formula for equal pieces of work says, within a 95 % interval
    // of it for 19 of them, and within twice that for all.
    const int RUNS = 400;
    const policy *periodic = policy_find(checkpoint_policies, "periodic");
    int outside = 0;

    for (int setting = 0; setting < 20; setting++) {
        uint32_t nodes = 1 + static_cast<uint32_t>(setting) % 5 * 3;
        double interval_s = 600 + 300 * (setting % 4), c_s = 20 + 10 * (setting % 3);
        double r_s = 30 * (setting % 2), delay_s = 15 * (setting % 3);
        double work_s = 7 * interval_s + 123, mean_s = 3000 + 500 * setting;
        distribution failure = distribution_exponential(mean_s * nodes);
        // Repaired at once: the same nodes are there again, and the delay is the job's.
        distribution repair = distribution_constant(0);
        auto param = checkpoint_options(periodic, interval_s);
        double sum = 0, squares = 0, expected = 0;
        int pieces = static_cast<int>(std::ceil(work_s / interval_s));
        site s;

        s.nodes(nodes, {1});
        s.groups[0].failure = &failure;
        s.groups[0].restore = &repair;
        replay_job &job = s.job(0, nodes, static_cast<int64_t>(work_s * 1000), -1);
        job.checkpoint_ms = static_cast<int64_t>(c_s * 1000);
        job.restart_ms = job.scratch_ms = static_cast<int64_t>(r_s * 1000);
        job.delay_ms = static_cast<int64_t>(delay_s * 1000);
        s.in.rules.checkpoint = periodic;
        s.in.rules.checkpoint_param = param.data();
        for (int run = 0; run < RUNS; run++) {
            s.in.seed = static_cast<uint64_t>(1000 * setting + run);
            double end_s = 1e-3 * static_cast<double>(play(s).outcomes[0].end_ms);

            sum += end_s;
            squares += end_s * end_s;
        }
        // The first piece begins without a restart, the last ends without an image.
        for (int i = 0; i < pieces; i++) {
            double w =
                i + 1 < pieces ? interval_s + c_s : work_s - (pieces - 1) * interval_s;

            expected +=
                (mean_s + delay_s) * std::exp(r_s / mean_s) * std::expm1(w / mean_s);
        }
        double mean = sum / RUNS;
        double error = 1.96 * std::sqrt((squares / RUNS - mean * mean) / (RUNS - 1));
        INFO("setting " << setting << ": " << mean << " +- " << error << ", expected "
                        << expected);
        outside += std::fabs(mean - expected) > error;
        CHECK(std::fabs(mean - expected) < 2 * error);
    }
    CHECK(outside <= 1);
}

TEST_CASE("what is held is counted by group, also of jobs that go on at the end",
          "[cluster_replay]")
{
    site s;

    s.nodes(1, {4});
    s.nodes(2, {8});
    s.job(0, 1, 100000, -1, {2});
    s.job(10000, 1, 20000, -1, {1});
    s.job(20000, 2, 1000000, -1, {8}); // on the larger ones
    s.in.stop_ms = 60000;
    played p = play(s);
    CHECK(p.held[0].node_s == 60);
    CHECK(p.held[0].cpu_s == 2 * 60 + 20);
    CHECK(p.held[1].node_s == 2 * 40);
    CHECK(p.held[1].cpu_s == 2 * 8 * 40);
}

TEST_CASE("dependencies, cancelled jobs and reservations are kept", "[cluster_replay]")
{
    const replay_after ok[] = {{0, REPLAY_AFTER_OK, 5000}};
    const replay_after not_ok[] = {{0, REPLAY_AFTER_NOT_OK, 0}};
    const replay_after started[] = {{3, REPLAY_AFTER_START, 0}};
    site s;

    s.nodes(2, {1});
    s.job(0, 2, 10000, -1);
    s.job(0, 1, 10000, -1);
    s.jobs.back().after = ok;
    s.jobs.back().after_count = 1;
    s.job(0, 1, 10000, -1);
    s.jobs.back().after = not_ok;
    s.jobs.back().after_count = 1;
    s.job(0, 2, 10000, -1);
    s.jobs.back().cancel_ms = 9000;
    s.job(0, 1, 1000, -1);
    s.jobs.back().after = started;
    s.jobs.back().after_count = 1;
    SECTION("dependencies")
    {
        played p = play(s);

        CHECK(p.outcomes[0].end_ms == 10000);
        CHECK(p.outcomes[1].start_ms == 15000);
        CHECK(int{p.outcomes[2].state} == REPLAY_NEVER_FITS);
        CHECK(int{p.outcomes[3].state} == REPLAY_CANCELLED);
        CHECK(p.outcomes[3].end_ms == 9000);
        CHECK(int{p.outcomes[4].state} == REPLAY_NEVER_FITS);
        CHECK(p.totals.never_count == 2);
        CHECK(replay_state_names[REPLAY_NEVER_FITS] == std::string("never_fits"));
        CHECK(replay_state_names[REPLAY_NEVER_FITS + 1] == nullptr);
    }
    SECTION("a reservation of all nodes is waited for by all policies")
    {
        std::vector<uint64_t> all = {3};

        s.sets.push_back({all.data(), 0});
        s.reservations.push_back({0, 5000, 20000});
        for (const policy *q = queue_policies; q->name; q++) {
            INFO(q->name);
            s.in.rules.policy = q;
            CHECK(play(s).outcomes[0].start_ms == 20000);
        }
    }
}
