// cluster_orders_test.cpp - POST /v1/queue-orders with a cluster, by the policies of
// pools of processors.
#include "tests/api.hpp"

#include <random>

namespace
{

using nlohmann::json;

json decide(api &service, const json &body)
{
    api_reply r = service.post("/v1/queue-orders", body.dump());
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == 200);
    return r.json();
}

// Start of each job, now or estimated.
std::map<std::string, double> starts(const json &answer)
{
    std::map<std::string, double> list;
    for (const json &row : answer["starts"])
        list[row["job_id"].get<std::string>()] = row["start_s"].get<double>();
    for (const json &row : answer["waiting"])
        list[row["job_id"].get<std::string>()] = row["estimated_start_s"].get<double>();
    return list;
}

const char *const policies[] = {"conservative", "easy",      "easy_sjbf",     "easy_sjf",
                                "fcfs",         "first_fit", "largest_first", "sjf"};

} // namespace

TEST_CASE("promises that come back are kept, on a cluster too", "[api][cluster]")
{
    api service;
    json body = json::parse(R"({"now_s": 10, "algorithm": "conservative",
        "cluster": {"resources": [{"id": "n", "cpus": 10}], "running": [
            {"id": "R1", "resource_ids": ["n"], "cpus": 3, "expected_end_s": 100},
            {"id": "R2", "resource_ids": ["n"], "cpus": 7, "expected_end_s": 50}]},
        "jobs": [{"id": "J1", "cpus": 10, "time_limit_s": 300},
                 {"id": "J2", "cpus": 3, "time_limit_s": 50},
                 {"id": "J3", "cpus": 6, "time_limit_s": 50}]})");
    using told = std::map<std::string, double>;
    CHECK(starts(decide(service, body)) == told{{"J1", 100}, {"J2", 50}, {"J3", 400}});

    body["now_s"] = 20; // R1 has ended
    body["cluster"]["running"] = json::array({body["cluster"]["running"][1]});
    CHECK(starts(decide(service, body)) == told{{"J1", 50}, {"J2", 350}, {"J3", 350}});
    body["jobs"][0]["planned_start_s"] = 100;
    body["jobs"][1]["planned_start_s"] = 50;
    body["jobs"][2]["planned_start_s"] = 400;
    json kept = decide(service, body);
    CHECK(starts(kept) == told{{"J1", 100}, {"J2", 20}, {"J3", 50}});
    CHECK(kept["waiting"][0]["planned_start_s"] == 100);
    CHECK(kept["waiting"][0]["planned_resource_ids"] == json::array({"n"}));

    body["cluster"]["running"][0]["expected_end_s"] = 130; // takes longer than it said
    json broken = decide(service, body);
    CHECK(broken["waiting"][0]["promise_broken"]["by_s"] == 350); // J3 keeps its 400
    CHECK(broken["warnings"][0].get<std::string>().rfind("promise_broken: 1 job", 0) ==
          0);
}

TEST_CASE("who should have ended is there for a second more", "[api][cluster]")
{
    api service;
    json body = json::parse(R"({"now_s": 100,
        "cluster": {"resources": [{"id": "n", "cpus": 1}], "running": [
            {"id": "R", "resource_ids": ["n"], "cpus": 1, "expected_end_s": 100}]},
        "jobs": [{"id": "J", "time_limit_s": 10}]})");
    for (const char *policy : policies) {
        INFO(policy);
        body["algorithm"] = policy;
        CHECK(starts(decide(service, body)) == std::map<std::string, double>{{"J", 101}});
    }
}

TEST_CASE("on one node a decision is that of a pool of processors", "[api][cluster]")
{
    api service;
    std::mt19937_64 random(3);
    int cases = is_shorter() ? 15 : 200;

    for (int i = 0; i < cases; i++) {
        int processors = 1 + int(random() % 10), used = 0;
        json pool = {{"processors", processors}, {"now_s", 100}}, one = {{"now_s", 100}};
        pool["running"] = pool["jobs"] = one["jobs"] = json::array();
        one["cluster"]["resources"] =
            json::array({json{{"id", "n"}, {"cpus", processors}}});
        one["cluster"]["running"] = json::array();
        for (int k = 0; used < processors && k < 4; k++) {
            int has = 1 + int(random() % uint64_t(processors - used));
            double end_s = 100 + double(random() % 60);
            used += has;
            std::string id = "r" + std::to_string(k);
            pool["running"].push_back(
                {{"id", id}, {"processors", has}, {"expected_end_s", end_s}});
            one["cluster"]["running"].push_back({{"id", id},
                                                 {"cpus", has},
                                                 {"resource_ids", json::array({"n"})},
                                                 {"expected_end_s", end_s}});
        }
        for (int k = 0, n = int(random() % 9); k < n; k++) {
            int width = 1 + int(random() % uint64_t(processors));
            double limit_s = 1 + double(random() % 40), at_s = double(random() % 3);
            std::string id = "j" + std::to_string(k);
            pool["jobs"].push_back({{"id", id},
                                    {"processors", width},
                                    {"estimate_s", limit_s},
                                    {"submit_s", at_s}});
            one["jobs"].push_back({{"id", id},
                                   {"cpus", width},
                                   {"time_limit_s", limit_s},
                                   {"submit_s", at_s}});
        }
        for (const char *policy : policies) {
            INFO("case " << i << ", " << policy << ", " << pool.dump());
            pool["algorithm"] = one["algorithm"] = policy;
            json want = decide(service, pool), got = decide(service, one);
            CHECK(starts(got) == starts(want));
            CHECK(got["starts"].size() == want["starts"].size());
        }
    }
}

namespace
{

// A cluster whose queue is decided again and again, with what was promised before.
struct promised_queue {
    struct waiting {
        json job;
        double submit_s, run_s, told_s = NAN, start_s = NAN, end_s = NAN;
        json nodes;
    };
    api service;
    std::vector<waiting> jobs;
    size_t later = 0;

    explicit promised_queue(std::mt19937_64 &random, size_t count)
    {
        double at_s = 0;
        for (size_t i = 0; i < count; i++) {
            at_s += double(random() % 50);
            double limit_s = 20 + double(random() % 200);
            waiting w{};
            w.job = {{"id", "j" + std::to_string(i)},
                     {"nodes", 1 + random() % 3},
                     {"cpus", 1 + random() % 4},
                     {"time_limit_s", limit_s},
                     {"submit_s", at_s}};
            if (i % 7 == 0)
                w.job["exclusive"] = true;
            if (i % 11 == 0)
                w.job["needs"] = {{"licence.m", 1}};
            w.submit_s = at_s;
            w.run_s = limit_s * double(random() % 5) / 4;
            w.told_s = w.start_s = w.end_s = NAN;
            jobs.push_back(w);
        }
    }
    json request(double now_s)
    {
        json body = {
            {"now_s", now_s}, {"algorithm", "conservative"}, {"jobs", json::array()}};
        body["cluster"] = json::parse(R"({"resources": [
            {"id": "n1", "cpus": 4}, {"id": "n2", "cpus": 4}, {"id": "n3", "cpus": 4}],
            "shared_capacities": {"licence.m": 1}})");
        body["cluster"]["running"] = json::array();
        for (const waiting &w : jobs) {
            if (w.submit_s > now_s || w.end_s <= now_s)
                continue;
            if (std::isnan(w.start_s)) {
                json job = w.job;
                if (!std::isnan(w.told_s))
                    job["planned_start_s"] = w.told_s;
                body["jobs"].push_back(job);
                continue;
            }
            json row = {
                {"id", w.job["id"]},
                {"resource_ids", w.nodes},
                {"cpus", w.job["cpus"]},
                {"elapsed_s", now_s - w.start_s},
                {"expected_end_s", w.start_s + w.job["time_limit_s"].get<double>()}};
            if (w.job.contains("exclusive"))
                row["exclusive"] = true;
            if (w.job.contains("needs"))
                row["needs"] = w.job["needs"];
            body["cluster"]["running"].push_back(row);
        }
        return body;
    }
    waiting &find(const json &row)
    {
        return jobs[size_t(std::stoi(row["job_id"].get<std::string>().substr(1)))];
    }
    void step(double now_s)
    {
        json answer = decide(service, request(now_s));
        for (const json &row : answer["starts"]) {
            waiting &w = find(row);
            later += w.told_s < now_s - 1e-6;
            w.start_s = now_s;
            w.end_s = now_s + w.run_s;
            w.nodes = row.contains("resource_ids") ? row["resource_ids"]
                                                   : json::array({row["resource_id"]});
        }
        for (const json &row : answer["waiting"]) {
            waiting &w = find(row);
            double plan_s = row["planned_start_s"].get<double>();
            later += plan_s > w.told_s + 1e-6;
            w.told_s = plan_s;
        }
    }
    double next(double now_s) const
    {
        double next_s = HUGE_VAL;
        for (const waiting &w : jobs)
            for (double at_s :
                 {w.submit_s, w.end_s, std::isnan(w.start_s) ? w.told_s : (double)NAN})
                if (at_s > now_s)
                    next_s = std::min(next_s, at_s);
        return next_s;
    }
};

} // namespace

TEST_CASE("of 300 jobs on a cluster none starts later than it was told", "[api][cluster]")
{
    std::mt19937_64 random(9);
    size_t rounds = is_shorter() ? 2 : 6, ran = 0;

    for (size_t i = 0; i < rounds; i++) {
        promised_queue q(random, 50);
        for (double now_s = 0; std::isfinite(now_s); now_s = q.next(now_s))
            q.step(now_s);
        CHECK(q.later == 0);
        for (const auto &w : q.jobs)
            ran += !std::isnan(w.end_s);
    }
    CHECK(ran == rounds * 50);
}
