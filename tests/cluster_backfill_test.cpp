// cluster_backfill_test.cpp - what starts on a cluster, and what backfill plans.
#include "tests/cluster_support.hpp"

namespace
{

// n1 is full until 1003600, half of n2 is taken until 1007200.
small_cluster two_run(size_t nodes)
{
    small_cluster s(nodes, 4, 1000030);
    s.runs("r1", {0}, 4, 1003600);
    s.runs("r2", {1}, 2, 1007200);
    return s;
}

} // namespace

TEST_CASE("a plan takes its nodes as a whole", "[cluster]")
{
    small_cluster s = two_run(2);
    s.waits("A", 1, 4, 3600);
    s.waits("B", 1, 1, 1800);
    s.waits("C", 1, 1, 1800);
    s.waits("D", 1, 2, 7200);
    auto told = s.decide();
    CHECK(told["A"] == "1003600-1007160 n1");
    CHECK(told["B"] == "starts n2");
    CHECK(told["C"] == "starts n2");
    CHECK(told["D"] == "1001830-1009020 n2");
}

TEST_CASE("a wide job at the head keeps its nodes", "[cluster]")
{
    small_cluster s = two_run(3);
    s.waits("H", 3, 4, 3600);
    s.waits("S", 1, 2, 3500);
    s.waits("L", 1, 2, 7200);
    s.waits("M", 1, 2, 10800);
    auto told = s.decide();
    CHECK(told["H"] == "1007200-1010760 n1 n2 n3");
    CHECK(told["S"] == "starts n2");
    CHECK(told["L"].substr(0, 7) == "1010760");
    CHECK(told["L"].substr(16) == "n3");
    CHECK(told["M"].substr(0, 7) == "1010760");
    CHECK(told["M"].substr(16) == "n2");
}

TEST_CASE("jobs that end close together are released together", "[cluster]")
{
    small_cluster s(4, 4, 0);
    s.runs("r1", {0}, 4, 1000);
    s.runs("r2", {1}, 4, 1020);
    s.runs("r3", {2}, 4, 1029);
    s.runs("r4", {3}, 4, 1100);
    for (const char *id : {"A", "B", "C", "D"})
        s.waits(id, 1, 4, 600);
    auto starts = [](std::map<std::string, std::string> told) {
        std::string text;
        for (auto &[id, what] : told)
            text += what.substr(0, what.find('-')) + what.substr(what.find(' ')) + ";";
        return text;
    };
    CHECK(starts(s.decide()) == "1029 n1;1029 n2;1029 n3;1100 n4;");
    s.settings.ends_one_by_one = true;
    CHECK(starts(s.decide()) == "1000 n1;1020 n2;1029 n3;1100 n4;");
}

TEST_CASE("starts and ends are rounded down to the resolution", "[cluster]")
{
    small_cluster s(1, 4, 1000030);
    s.settings.bf_resolution_s = 300;
    s.runs("r", {0}, 4, 1003641);
    s.waits("A", 1, 4, 1234);
    s.waits("B", 1, 4, 600);
    auto told = s.decide();
    CHECK(told["A"] == "1003641-1004700 n1");
    CHECK(told["B"].substr(0, 7) == "1004700");
}

TEST_CASE("nothing is planned into a reservation", "[cluster]")
{
    small_cluster s(2, 4, 0);
    s.reserve(1, 2, 1800, 5400);
    s.waits("A", 2, 4, 3600);
    s.waits("B", 1, 4, 3600);
    s.waits("C", 1, 4, 7200);
    auto told = s.decide();
    CHECK(told["A"] == "5401-9000 n1 n2");
    CHECK(told["B"] == "starts n1");
    CHECK(told["C"].substr(0, 4) == "9000");
    CHECK(told["C"].substr(11) == "n2");
}

TEST_CASE("a row that lacks licences alone does not close its partition", "[cluster]")
{
    small_cluster s(1, 4, 0);
    s.shared = {3};
    s.waits("x", 1, 1, 600);
    s.waits("y", 1, 1, 600);
    s.waits("z", 1, 1, 600);
    s.takes_shared(s.jobs[0], 0, 2);
    s.takes_shared(s.jobs[1], 0, 2);
    s.takes_shared(s.jobs[2], 0, 1);
    auto told = s.decide();
    CHECK(told["x"] == "starts n1");
    CHECK(told["y"] == "licence");
    CHECK(told["z"] == "starts n1");
    s.settings.bf_licenses = true;
    told = s.decide();
    CHECK(told["y"].substr(0, 4) == "600-");
}

TEST_CASE("tasks of an array follow one another, four exclusive nodes each", "[cluster]")
{
    small_cluster s(8, 16, 1000007);
    s.runs("17", {0}, 1, 1000607).exclusive = true;
    s.arrays.push_back({"6", 2});
    for (const char *id : {"0", "1", "2", "3", "4", "5"}) {
        cluster_job &j = s.waits(id, 4, 1, 1800);
        j.exclusive = true;
        j.of.array = 0;
    }
    auto told = s.decide();
    CHECK(told["0"] == "starts n2 n3 n4 n5");
    CHECK(told["1"] == "1000607-1002360 n1 n6 n7 n8");
    CHECK(told["2"] == "1001807-1003560 n2 n3 n4 n5");
    CHECK(told["3"].substr(0, 7) == "1002360");
    CHECK(told["3"].substr(16) == "n1 n6 n7 n8");
    CHECK(told["4"].substr(0, 7) == "1003560");
    CHECK(told["5"].substr(16) == "n1 n6 n7 n8");
}

TEST_CASE("a partition that is closed keeps its nodes from all rows behind", "[cluster]")
{
    small_cluster s(2, 4, 0);
    s.settings.bf_interval_s = -1;
    size_t debug = s.add_partition("debug", 0, 1, 10);
    s.runs("r", {0}, 2, 1000);
    s.waits("d", 1, 4, 100, debug);
    s.waits("b", 1, 2, 100);
    s.waits("c", 1, 4, 100);
    auto told = s.decide();
    CHECK(told["d"] == "processors");
    CHECK(told["b"] == "starts n2");
    CHECK(told["c"] == "processors");
}

TEST_CASE("what no node of the partition can do never runs", "[cluster]")
{
    small_cluster s(2, 4, 0);
    s.waits("wide", 3, 1, 100);
    s.waits("deep", 1, 5, 100);
    s.waits("late", 1, 1, 100).deadline_s = 50;
    s.waits("held", 1, 1, 100).held = true;
    s.waits("soon", 1, 1, 100).eligible_s = 10;
    s.waits("long", 1, 1, 100);
    s.rows.back().limit_s = 1000;
    s.partitions[0].limit_max_s = 500;
    s.waits("fits", 1, 1, 100);
    auto told = s.decide();
    CHECK(told["wide"] == "never requirement");
    CHECK(told["deep"] == "never requirement");
    CHECK(told["late"] == "never deadline");
    CHECK(told["long"] == "never partition_limit");
    CHECK(told["held"] == "held");
    CHECK(told["soon"] == "begin");
    CHECK(told["fits"] == "starts n1");
}

TEST_CASE("a limit holds a user's jobs back, not those of others", "[cluster]")
{
    small_cluster s(1, 4, 0);
    s.users = 2;
    s.accounts = {{"a", -1, false, 0, 0, nullptr, no_limits()},
                  {"a/u", 0, true, 0, 0, nullptr, no_limits()},
                  {"a/v", 0, true, 0, 0, nullptr, no_limits()}};
    s.accounts[1].limits.jobs = 1;
    for (const char *id : {"u1", "u2", "v1"}) {
        cluster_job &j = s.waits(id, 1, 1, 100);
        j.of.user = id[0] == 'v';
        j.of.account = 1 + j.of.user;
    }
    auto told = s.decide();
    CHECK(told["u1"] == "starts n1");
    CHECK(told["u2"] == "limit");
    CHECK(told["v1"] == "starts n1");

    SECTION("the account's limit comes behind the user's")
    {
        s.accounts[1].limits.jobs = HUGE_VAL;
        s.accounts[0].limits.group.jobs = 2;
        test_arena a;
        cluster_decision out{};
        cluster_decide(&s.get(), &out, a);
        CHECK(out.verdicts[2].reason == CLUSTER_REASON_LIMIT);
        CHECK(out.verdicts[2].limit.id == std::string("a"));
        CHECK(out.verdicts[2].limit.scope == CLUSTER_SCOPE_account);
        CHECK(out.verdicts[2].limit.value == 2);
        CHECK(out.verdicts[2].limit.used == 2);
    }
}

TEST_CASE("a job with a least limit is shortened when that lets it start", "[cluster]")
{
    small_cluster s(2, 4, 0);
    s.runs("r", {0}, 4, 3600);
    s.waits("head", 2, 4, 600);
    s.waits("flexible", 1, 4, 7200).limit_min_s = 600;
    test_arena a;
    cluster_decision out{};
    cluster_decide(&s.get(), &out, a);
    CHECK(out.verdicts[1].outcome == CLUSTER_STARTS);
    CHECK(out.verdicts[1].limit_s == 3540);
}

TEST_CASE("tasks without a number of nodes fill node after node", "[cluster]")
{
    small_cluster s(3, 4, 0);
    s.waits("t", 1, 1, 100).tasks = 6;
    test_arena a;
    cluster_decision out{};
    cluster_decide(&s.get(), &out, a);
    REQUIRE(out.verdicts[0].pick.count == 2);
    CHECK(out.verdicts[0].pick.tasks[0] == 4);
    CHECK(out.verdicts[0].pick.tasks[1] == 2);
}

// Whether jobs that start or run are within the nodes at every time, and whether plans
// of whole nodes do not meet, on random clusters.
TEST_CASE("starts fit, and plans do not meet each other", "[cluster][property]")
{
    rng r = rng_stream(3, "clusters");

    for (int round = 0; round < 400; round++) {
        small_cluster s(1 + rng_index(&r, 5), 4, double(rng_index(&r, 3) * 31));
        std::vector<double> used(s.nodes.size());
        for (size_t i = 0; i < s.nodes.size(); i++)
            if (rng_index(&r, 2)) {
                double cpus = double(1 + rng_index(&r, 4));
                used[i] += cpus;
                s.runs("r", {uint32_t(i)}, cpus, double(rng_index(&r, 20) * 100));
            }
        for (size_t i = rng_index(&r, 12); i > 0; i--)
            s.waits(s.name("j" + std::to_string(i)), 1 + rng_index(&r, s.nodes.size()),
                    double(1 + rng_index(&r, 4)), double((1 + rng_index(&r, 30)) * 60));
        test_arena a;
        cluster_decision out{};
        cluster_decide(&s.get(), &out, a);
        for (size_t i = 0; i < s.rows.size(); i++) {
            const cluster_verdict &v = out.verdicts[i];
            INFO("round " << round << " row " << i);
            REQUIRE(v.pick.count == (std::isnan(v.start_s) ? 0 : s.jobs[i].nodes));
            for (size_t k = 0; k < v.pick.count && v.outcome == CLUSTER_STARTS; k++)
                used[v.pick.nodes[k]] += double(s.rows[i].need[0]) / 1e6;
            for (size_t j = 0; j < i && v.outcome == CLUSTER_WAITS; j++) {
                const cluster_verdict &w = out.verdicts[j];
                bool apart = w.outcome != CLUSTER_WAITS || std::isnan(w.start_s) ||
                             std::isnan(v.start_s) ||
                             std::floor(v.start_s / 60) * 60 >= w.until_s ||
                             std::floor(w.start_s / 60) * 60 >= v.until_s;
                for (size_t k = 0; k < v.pick.count && !apart; k++)
                    for (size_t m = 0; m < w.pick.count; m++)
                        REQUIRE(v.pick.nodes[k] != w.pick.nodes[m]);
            }
        }
        for (double u : used)
            REQUIRE(u <= 4);
    }
}

TEST_CASE("jobs of lower qualities of service are stopped, only those that are needed",
          "[cluster]")
{
    small_cluster s(3, 4, 1000);
    const bool preempts[] = {false, true};
    cluster_qos low{}, high{};
    low.limits = high.limits = no_limits();
    low.id = "low";
    high.id = "high";
    high.preempts = preempts;
    s.qos = {high, low};
    s.settings.preempt_type = CLUSTER_PREEMPT_QOS;
    struct {
        const char *id;
        uint32_t node;
        double cpus, priority, start_s;
        int qos;
    } running[] = {{"a", 0, 2, 5, 100, 1},
                   {"b", 1, 4, 7, 100, 1},
                   {"c", 2, 4, 9, 100, 0},
                   {"d", 0, 2, 5, 200, 1}};
    for (const auto &r : running) {
        cluster_running &x = s.runs(r.id, {r.node}, r.cpus, 9000);
        x.of.qos = r.qos;
        x.priority = r.priority;
        x.start_s = r.start_s;
    }
    s.waits("h", 1, 4, 600).of.qos = 0;

    auto stopped = [&] {
        test_arena a;
        cluster_decision out{};
        std::string text;
        cluster_decide(&s.get(), &out, a);
        for (size_t i = 0; i < out.verdicts[0].stopped_count; i++)
            text += s.running[out.verdicts[0].stopped[i]->running].id;
        return text + " " + s.tell(out.verdicts[0]).substr(0, 9);
    };
    CHECK(stopped() == "da starts n1");
    s.running[0].priority = 8;
    CHECK(stopped() == "b starts n2"); // d was stopped first, and is not needed
    s.settings.preempt_exempt_s = 850;
    CHECK(stopped() == "b starts n2");
    s.settings.preempt_exempt_s = 950;
    CHECK(stopped().substr(0, 5) == " 9000");
    s.settings.preempt_exempt_s = 0;
    s.jobs[0].of.qos = 1;
    CHECK(stopped().substr(0, 5) == " 9000");
    s.qos[0].preempts = nullptr;
    s.jobs[0].of.qos = 0;
    CHECK(stopped().substr(0, 5) == " 9000");
}

TEST_CASE("a plan may keep its amounts alone", "[cluster]")
{
    small_cluster s(2, 4, 0);
    s.runs("r1", {0}, 4, 1000);
    s.runs("r2", {1}, 4, 5000);
    s.waits("A", 1, 2, 600);
    s.waits("B", 1, 2, 600);
    s.waits("C", 1, 1, 600);
    s.waits("D", 1, 4, 600).exclusive = true;
    auto told = s.decide();
    CHECK(told["A"] == "1000-1560 n1");
    CHECK(told["B"] == "1560-2160 n1");
    CHECK(told["C"] == "2160-2760 n1");
    CHECK(told["D"] == "2760-3360 n1");
    s.settings.promises_amounts = true;
    told = s.decide();
    CHECK(told["A"] == "1000-1560 n1");
    CHECK(told["B"] == "1000-1560 n1");
    CHECK(told["C"] == "1560-2160 n1");
    CHECK(told["D"] == "2160-2760 n1");
}

TEST_CASE("amounts that are promised are there", "[cluster][property]")
{
    rng r = rng_stream(4, "amounts");

    for (int round = 0; round < 300; round++) {
        small_cluster s(1 + rng_index(&r, 3), 4, 0);
        s.settings.promises_amounts = true;
        for (size_t i = 0; i < s.nodes.size(); i++)
            if (rng_index(&r, 2))
                s.runs("r", {uint32_t(i)}, double(1 + rng_index(&r, 4)),
                       double(60 * (1 + rng_index(&r, 20))));
        for (size_t i = rng_index(&r, 10); i > 0; i--)
            s.waits(s.name("j" + std::to_string(i)), 1 + rng_index(&r, s.nodes.size()),
                    double(1 + rng_index(&r, 4)), double((1 + rng_index(&r, 10)) * 60))
                .exclusive = rng_index(&r, 5) == 0;
        test_arena a;
        cluster_decision out{};
        cluster_decide(&s.get(), &out, a);
        // All times are whole minutes: looks at each.
        for (int64_t t = 0; t < 60 * 400; t += 60)
            for (size_t n = 0; n < s.nodes.size(); n++) {
                double used = 0, jobs = 0, exclusive = 0;
                for (const auto &x : s.running)
                    if (x.nodes[0] == n && double(t) < x.end_s) {
                        used += double(x.taken[0]) / 1e6;
                        jobs++;
                    }
                for (size_t i = 0; i < s.rows.size(); i++) {
                    const cluster_verdict &v = out.verdicts[i];
                    for (size_t k = 0; k < v.pick.count; k++)
                        if (v.pick.nodes[k] == n &&
                            std::floor(v.start_s / 60) * 60 <= t && t < v.until_s) {
                            used += double(s.rows[i].need[0]) / 1e6;
                            jobs++;
                            exclusive += s.jobs[s.rows[i].job].exclusive;
                        }
                }
                INFO("round " << round << " at " << t << " node " << n);
                REQUIRE(used <= 4);
                REQUIRE((exclusive == 0 || jobs == 1));
            }
    }
}

TEST_CASE("nodes come from the shortest run that is enough, else from the longest",
          "[cluster]")
{
    small_cluster s(8, 4, 0);
    s.runs("a", {3}, 4, 1000); // runs of 3, 1 and 2 nodes
    s.runs("b", {5}, 4, 1000);
    s.waits("one", 1, 4, 100);
    CHECK(s.decide()["one"] == "starts n5");
    s.jobs[0].nodes = s.jobs[0].nodes_max = 2;
    CHECK(s.decide()["one"] == "starts n7 n8");
    s.jobs[0].nodes = s.jobs[0].nodes_max = 4;
    CHECK(s.decide()["one"] == "starts n1 n2 n3 n5");
    s.jobs[0].nodes = s.jobs[0].nodes_max = 5;
    CHECK(s.decide()["one"] == "starts n1 n2 n3 n7 n8");
    s.nodes[6].weight = s.nodes[7].weight = 0.5;
    s.jobs[0].nodes = s.jobs[0].nodes_max = 1;
    CHECK(s.decide()["one"] == "starts n7");
}
