// cluster_line_test.cpp - logs of jobs on a cluster by the policies of queue.h: on one
// node, and on nodes of one cpu, they are those of a pool of processors.
#include "tests/cluster_support.hpp"
#include "tests/queue_support.hpp"

extern "C" {
#include "algorithms/cluster_queue/replay.h"
}

namespace
{

struct replayed_cluster {
    std::vector<cluster_replay_outcome> outcomes;
    cluster_replayed out;
};

// A log whose jobs are cut at what they ask for.
struct logged_cluster : small_cluster {
    std::vector<cluster_replay_job> plays;
    std::vector<size_t> order; // of arrival, of the log
    test_arena keep, run;

    logged_cluster(const std::vector<swf_job> &log, size_t nodes, double cpus)
        : small_cluster(nodes, cpus, 0)
    {
        for (size_t i = 0; i < log.size(); i++)
            order.push_back(i);
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return std::pair(log[a].submit_s, log[a].number) <
                   std::pair(log[b].submit_s, log[b].number);
        });
        now_s = log.empty() ? 0 : log[order[0]].submit_s;
        for (size_t i : order) {
            const swf_job &j = log[i];
            double width = swf_processors(&j);
            double limit_s = std::isnan(j.requested_s) ? j.run_s : j.requested_s;
            cluster_job &made =
                waits(name("j" + std::to_string(i)), nodes == 1 ? 1 : size_t(width),
                      nodes == 1 ? width : 1, limit_s);
            made.submit_s = made.eligible_s = j.submit_s;
            plays.push_back({j.run_s, true, true, false});
        }
    }
    replayed_cluster play(const char *policy)
    {
        replayed_cluster r;
        cluster_replay_in in{};
        in.of = &get();
        in.policy = policy_find(queue_policies, policy);
        in.jobs = plays.data();
        in.first_pass_s = NAN;
        cluster_replay(&in, &r.out, keep, run);
        r.outcomes.assign(r.out.outcomes, r.out.outcomes + jobs.size());
        return r;
    }
};

void compare(const std::vector<swf_job> &log, uint64_t processors, const char *policy,
             bool one_node)
{
    queue_replay_in in = replay_of(log, processors);
    in.cut_at_request = true;
    replayed want = replay(policy, in);
    logged_cluster c(log, one_node ? 1 : processors, one_node ? double(processors) : 1);
    replayed_cluster got = c.play(policy);
    size_t different = 0;

    INFO(policy << (one_node ? " on one node" : " on nodes of one cpu") << ", "
                << log.size() << " jobs, " << processors << " processors");
    for (size_t k = 0; k < c.order.size(); k++) {
        double start_s = got.outcomes[k].start_s, wanted_s = want.start_s[c.order[k]];
        // Behind jobs that take no time others are planned for the least time later.
        bool same = std::abs(start_s - wanted_s) < 1e-9 * std::max(1.0, wanted_s) ||
                    (std::isnan(start_s) && std::isnan(wanted_s));

        different += !same;
        if (!same && different < 5)
            UNSCOPED_INFO("job " << c.order[k] << " at " << start_s << " instead of "
                                 << wanted_s);
    }
    CHECK(different == 0);
}

// conservative plans behind jobs that are to take no time for the least time later, and
// what that leaves depends on the order in which such plans are looked at.
bool has_instants(const std::vector<swf_job> &log)
{
    return std::any_of(log.begin(), log.end(), [](const swf_job &j) {
        return !((std::isnan(j.requested_s) ? j.run_s : j.requested_s) > 0);
    });
}

// Few kinds of times and widths, so that much falls together; zeros among them.
std::vector<swf_job> draw_log(std::mt19937_64 &random, uint64_t processors)
{
    auto pick = [&](int n) { return int(random() % uint64_t(n)); };
    std::vector<swf_job> log;
    double step = pick(2) ? 1 : 0.5, now_s = pick(3) ? 0 : 1000.25;
    int count = pick(5) ? pick(60) : pick(3);

    for (int i = 0; i < count; i++) {
        now_s += step * pick(3) * pick(8);
        double run_s = step * (pick(20) + (i % 3 && pick(3))),
               width = 1 + pick(int(processors) + (i % 9 == 0));
        swf_job j =
            logged(i + 1, now_s, run_s, width, pick(4) ? run_s + step * pick(9) : run_s);
        if (pick(6) == 0)
            j.requested_s = std::max(0.0, run_s - step * pick(3));
        log.push_back(j);
    }
    if (pick(3) == 0)
        std::shuffle(log.begin(), log.end(), random);
    return log;
}

} // namespace

TEST_CASE("on one node a cluster's queue is one of processors, by every policy",
          "[cluster][property]")
{
    std::mt19937_64 random(7);
    int cases = is_shorter() ? 60 : 200;

    for (int i = 0; i < cases; i++) {
        uint64_t processors = 1 + random() % 12;
        std::vector<swf_job> log = draw_log(random, processors);
        INFO("case " << i);
        for (const policy *p = queue_policies; p->name; p++)
            for (bool one_node : {true, false})
                if (strcmp(p->name, "conservative") != 0 ||
                    (one_node && !has_instants(log)))
                    compare(log, processors, p->name, one_node);
    }
}
