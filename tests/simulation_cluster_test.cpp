// simulation_cluster_test.cpp - simulations of kind "cluster" through the API: worked
// examples, real logs against kind queue, figures, policies, bad input.
#include "tests/api.hpp"
#include "tests/queue_support.hpp"

#include <thread>

extern "C" {
#include "algorithms/checkpoint/levels.h"
#include "algorithms/simulation/simulation.h"
}

using nlohmann::json;

namespace
{

json play(api &a, const json &body)
{
    api_reply r = a.post("/v1/simulations", body.dump());

    INFO(r.body.substr(0, 3000));
    REQUIRE(r.status == 200);
    return r.json();
}

std::vector<std::string> refused(api &a, const json &body)
{
    api_reply r = a.post("/v1/simulations", body.dump());

    INFO(r.body.substr(0, 3000));
    CHECK(r.status == 422);
    return r.status == 422 ? r.pointers() : std::vector<std::string>{};
}

double mean_of(const json &answer, size_t label, const char *metric)
{
    const json &m = answer["results"][label]["metrics"][metric]["mean"];

    return m.is_null() ? NAN : m.get<double>();
}

bool warns(const json &answer, const std::string &code)
{
    for (const std::string w : answer["warnings"])
        if (w.rfind(code + ":", 0) == 0)
            return true;
    return false;
}

json timeless(json answer)
{
    answer.erase("decision_id");
    answer.erase("timings");
    return answer;
}

// Worked example 19 of spec reliability.md 7.
json example19()
{
    return json::parse(R"({
        "kind": "cluster",
        "cluster": {"resources": [
            {"id": "n0", "outages": [{"down_s": 250, "up_s": 400}]},
            {"id": "n", "number": 3}]},
        "jobs": [
            {"id": "A", "arrival_s": 0, "nodes": 3, "execution_time_s": 300,
             "time_limit_s": 1000},
            {"id": "B", "arrival_s": 10, "nodes": 2, "execution_time_s": 100,
             "time_limit_s": 200},
            {"id": "C", "arrival_s": 20, "execution_time_s": 50, "time_limit_s": 100}],
        "job_defaults": {"checkpoint_overhead_s": 10, "restart_s": 5},
        "compare": [
            {"label": "old place", "checkpoint": {"algorithm": "periodic",
                "options": {"initial_interval_s": 100}}},
            {"label": "back", "requeue": "back", "checkpoint": {"algorithm": "periodic",
                "options": {"initial_interval_s": 100}}}],
        "output": {"per_job": true}})");
}

// Nodes that fail, and jobs of several of them.
json failing()
{
    json body = json::parse(R"({
        "kind": "cluster", "seed": 7, "runs": 3,
        "sites": [{"id": "s", "resources": [{"id": "n", "number": 12, "cpus": 4,
            "memory_bytes": 16e9,
            "failure": {"distribution": "weibull", "shape": 0.7, "mean": 40000},
            "restore": {"distribution": "lognormal", "mean": 600, "sigma": 1}}]}],
        "job_defaults": {"checkpoint_overhead_s": 20, "restart_s": 30,
                         "restart_from_scratch_s": 5, "reschedule_delay_s": 10},
        "compare": [
            {"label": "easy", "queue": {"algorithm": "easy"},
             "checkpoint": {"algorithm": "finite"}},
            {"label": "fcfs", "queue": {"algorithm": "fcfs"}},
            {"label": "lost", "queue": {"algorithm": "conservative"},
             "requeue": "none"}]})");

    for (int i = 0; i < 60; i++)
        body["jobs"].push_back({{"id", "j" + std::to_string(i)},
                                {"arrival_s", 97 * i},
                                {"execution_time_s", 200 + i * 7919 % 5000},
                                {"nodes", 1 + i * 31 % 8},
                                {"cpus", 1 + i % 4},
                                {"exclusive", i % 3 == 0}});
    return body;
}

} // namespace

TEST_CASE("three jobs on four nodes, one of which fails: worked example 19",
          "[simulation_cluster][api]")
{
    api a;
    json r = play(a, example19());
    const json &jobs = r["results"][0]["jobs"], &back = r["results"][1]["jobs"];

    CHECK(r["host_count"] == 4);
    CHECK(r["job_count"] == 3);
    CHECK(r["runs_done"] == 1); // nothing is drawn
    CHECK_FALSE(r.contains("differences"));
    CHECK(jobs[0]["start_s"] == 0);
    CHECK(jobs[0]["last_start_s"] == 250);
    CHECK(jobs[0]["finish_s"] == 355);
    CHECK(jobs[0]["resource_ids"] == json({"n1", "n2", "n3"}));
    CHECK(jobs[0]["failure_kills"] == 1);
    CHECK(jobs[0]["restarts"] == 1);
    CHECK(jobs[0]["checkpoints"] == 2);
    CHECK(jobs[1]["start_s"] == 355);
    CHECK(jobs[1]["finish_s"] == 455);
    CHECK(jobs[2]["start_s"] == 20);
    CHECK(jobs[2]["finish_s"] == 70);
    CHECK(jobs[2]["resource_id"] == "n3");
    CHECK(mean_of(r, 0, "job_wait_s") == Approx(345. / 3).epsilon(1e-12));
    CHECK(r["results"][0]["metrics"]["job_wait_s"]["p50"] == 0);
    CHECK(r["results"][0]["metrics"]["job_wait_s"]["p90"] == 345);
    const std::pair<const char *, double> want[] = {{"useful", 1150}, {"checkpoint", 60},
                                                    {"restart", 15},  {"lost", 90},
                                                    {"down", 150},    {"idle", 355}};
    for (auto [name, seconds] : want)
        CHECK(mean_of(r, 0, (std::string("node_seconds_") + name).c_str()) == seconds);
    CHECK(mean_of(r, 0, "duration_s") == 455);
    CHECK(back[1]["start_s"] == 250);
    CHECK(back[1]["finish_s"] == 350);
    CHECK(back[1]["resource_ids"] == json({"n1", "n2"}));
    CHECK(back[0]["last_start_s"] == 350);
    CHECK(back[0]["finish_s"] == 455);
}

TEST_CASE("bursts keep the mean time between failures: worked example 17",
          "[simulation_cluster][api]")
{
    api a;
    const struct {
        double p, added, kept;
    } rows[] = {{0, 100437, 99460},
                {0.1, 59252, 100358},
                {0.5, 22624, 100624},
                {1, 12857, 101173}};
    const double SPAN_S = 4e8;

    for (auto &row : rows)
        for (std::string rate : {"added", "kept"}) {
            json body = {
                {"kind", "cluster"},
                {"runs", 1},
                {"stop", {{"time_s", SPAN_S}}},
                {"failure_groups",
                 {{{"id", "g"}, {"burst_probability", row.p}, {"burst_rate", rate}}}},
                {"cluster",
                 {{"resources",
                   {{{"id", "n"},
                     {"number", 8},
                     {"failure_group", "g"},
                     {"failure", {{"distribution", "exponential"}, {"mean_s", 100000}}},
                     {"restore", 1000}}}}}},
                {"jobs", {{{"arrival_s", SPAN_S - 1}, {"execution_time_s", 9}}}},
                {"compare", {{{"label", "x"}}}}};
            json r = play(a, body);
            double up_s = 8 * SPAN_S - mean_of(r, 0, "node_seconds_down");
            double mean_s = up_s / mean_of(r, 0, "failure_count");

            INFO(row.p << " " << rate << ": " << mean_s);
            CHECK(mean_s == Approx(rate == "kept" ? row.kept : row.added).epsilon(0.03));
            if (rate == "kept")
                CHECK(mean_s == Approx(100000).epsilon(0.025));
        }
}

TEST_CASE("bursts keep it also when repairs are long", "[simulation_cluster][api]")
{
    api a;

    for (double repair_s : {20000., 100000.})
        for (double probability : {0.3, 1.}) {
            json body = {
                {"kind", "cluster"},
                {"runs", 1},
                {"stop", {{"time_s", 4e8}}},
                {"failure_groups", {{{"id", "g"}, {"burst_probability", probability}}}},
                {"cluster",
                 {{"resources",
                   {{{"id", "n"},
                     {"number", 8},
                     {"failure_group", "g"},
                     {"failure", {{"distribution", "exponential"}, {"mean", 100000}}},
                     {"restore",
                      {{"distribution", "exponential"}, {"mean", repair_s}}}}}}}},
                {"jobs", {{{"arrival_s", 4e8 - 1}, {"execution_time_s", 9}}}},
                {"compare", {{{"label", "x"}}}}};
            json r = play(a, body);
            double mean_s = (8 * 4e8 - mean_of(r, 0, "node_seconds_down")) /
                            mean_of(r, 0, "failure_count");

            INFO(probability << ", " << repair_s << ": " << mean_s);
            CHECK(mean_s == Approx(100000).epsilon(0.04));
        }
}

TEST_CASE("labels are compared run by run: worked example 18",
          "[simulation_cluster][api]")
{
    const double left[] = {100.2, 98.1, 103.5, 99.0, 101.7};
    const double right[] = {98.9, 97.2, 102.1, 98.2, 100.5};
    double difference[5];

    for (int i = 0; i < 5; i++)
        difference[i] = left[i] - right[i];
    sim_summary s = sim_summarise(difference, 5);
    CHECK(s.mean == Approx(1.12).epsilon(1e-12));
    CHECK(s.ci95 == Approx(0.321345).epsilon(2e-4)); // t as printed: 2.776
    // What the two would be known by if their runs were not the same.
    CHECK(std::hypot(sim_summarise(left, 5).ci95, sim_summarise(right, 5).ci95) ==
          Approx(3.596393).epsilon(2e-4));

    // The same through the API, against runs that are played alone by their seeds.
    api a;
    json body = failing(), r = play(a, body);
    REQUIRE(r["runs_done"] == 3);
    REQUIRE(r["seeds"].size() == 3);
    CHECK(r["seeds"][0] == 7);
    std::vector<double> waits[3];
    for (auto &seed : r["seeds"]) {
        json one = body;

        one["seed"] = seed;
        one["runs"] = 1;
        json alone = play(a, one);
        for (size_t i = 0; i < 3; i++)
            waits[i].push_back(mean_of(alone, i, "job_wait_s"));
        CHECK_FALSE(alone.contains("differences"));
    }
    size_t found = 0;
    for (auto &d : r["differences"]) {
        size_t label = d["label"] == "fcfs" ? 1 : 2;

        CHECK(d["baseline"] == "easy");
        if (d["metric"] != "job_wait_s")
            continue;
        for (int i = 0; i < 3; i++)
            difference[i] = waits[label][size_t(i)] - waits[0][size_t(i)];
        sim_summary want = sim_summarise(difference, 3);
        CHECK(d["mean"].get<double>() == Approx(want.mean).epsilon(1e-9).margin(1e-9));
        CHECK(d["ci95"].get<double>() == Approx(want.ci95).epsilon(1e-9).margin(1e-9));
        CHECK(d["significant"] == (std::fabs(want.mean) > want.ci95));
        found++;
    }
    CHECK(found == 2);
    body["baseline"] = "lost";
    CHECK(play(a, body)["differences"][0]["baseline"] == "lost");
}

TEST_CASE("the time of all nodes is somewhere, and answers repeat",
          "[simulation_cluster][api]")
{
    api a;
    json body = failing();

    for (bool whole : {false, true})
        for (std::string knows : {"law", "history"}) {
            if (whole)
                for (auto &j : body["jobs"])
                    j["exclusive"] = true;
            body["knows"] = knows;
            json r = play(a, body);
            CHECK(timeless(r) == timeless(play(a, body)));
            for (size_t i = 0; i < 3; i++) {
                json one = body;
                double sum = 0;

                one["runs"] = 1;
                one["compare"] = json::array({body["compare"][i]});
                json alone = play(a, one);
                for (auto name :
                     {"useful", "lost", "checkpoint", "restart", "idle", "down"})
                    sum +=
                        mean_of(alone, 0, (std::string("node_seconds_") + name).c_str());
                double want = 12 * mean_of(alone, 0, "duration_s");
                CHECK(sum == Approx(want).epsilon(whole ? 1e-15 : 1e-9));
                CHECK(mean_of(alone, 0, "jobs_done") + mean_of(alone, 0, "jobs_lost") ==
                      60);
            }
            CHECK(mean_of(r, 0, "jobs_lost") == 0);
            CHECK(mean_of(r, 2, "jobs_lost") > 0);
            CHECK(mean_of(r, 2, "restarts_per_job") == 0);
            CHECK(mean_of(r, 0, "checkpoint_count") > 0);
        }
}

namespace
{

// A log as jobs of nodes of one cpu, as kind queue counts on them.
json jobs_of(const std::vector<swf_job> &log)
{
    json jobs = json::array();

    for (auto &j : log)
        jobs.push_back(
            {{"arrival_s", j.submit_s},
             {"execution_time_s", j.run_s},
             {"estimate_s",
              std::isnan(j.requested_s) ? j.run_s : std::max(j.requested_s, j.run_s)},
             {"nodes", std::ceil(swf_processors(&j))}});
    return jobs;
}

} // namespace

TEST_CASE("without failures it is kind queue, job by job, on real logs",
          "[simulation_cluster][api][heavy]")
{
    const struct {
        const char *file;
        int processors;
        double slowdown; // of easy
    } logs[] = {{"KTH-SP2-first1000.swf", 100, 47.74},
                {"HPC2N-2002-first3171.swf", 240, 16.86}};
    std::string data = data_folder();

    if (data.empty())
        return;
    for (auto &log : logs) {
        api a;
        std::string path = data + "/01-workloads/swf/" + log.file;
        json asked = {{"kind", "queue"},
                      {"processors", log.processors},
                      {"policies", {"easy", "fcfs", "conservative"}},
                      {"per_job", true},
                      {"swf", text_of(path)}};
        json queue = play(a, asked);
        json body = {
            {"kind", "cluster"},
            {"sites",
             {{{"id", "s"}, {"resources", {{{"id", "n"}, {"number", log.processors}}}}}}},
            {"jobs", jobs_of(read_swf(path))},
            {"backfill_depth", 0},
            {"output", {{"per_job", true}}}};

        for (std::string policy : {"easy", "fcfs", "conservative"})
            body["compare"].push_back({{"queue", {{"algorithm", policy}}}});
        json r = play(a, body);
        INFO(log.file);
        CHECK(mean_of(r, 0, "bounded_slowdown") == Approx(log.slowdown).margin(0.005));
        for (size_t i = 0; i < 3; i++) {
            const json &have = r["results"][i]["jobs"],
                       &want = queue["results"][i]["jobs"];
            size_t different = 0;

            REQUIRE(have.size() == want.size());
            for (size_t j = 0; j < have.size(); j++)
                different += have[j]["start_s"] != want[j]["start_s"] ||
                             have[j]["finish_s"] != want[j]["finish_s"];
            CHECK(different == 0);
            CHECK(mean_of(r, i, "bounded_slowdown") ==
                  Approx(queue["results"][i]["mean_bounded_slowdown"].get<double>())
                      .epsilon(1e-9));
        }
    }
}

TEST_CASE("a limit of a generator has no part in a list of jobs, and that is said",
          "[simulation_cluster][api]")
{
    api a;
    json body = failing();

    CHECK(play(a, body)["warnings"].dump().find("jobs_max") == std::string::npos);
    body["jobs_max"] = 1;
    json r = play(a, body);
    CHECK(r["job_count"] == body["jobs"].size());
    CHECK(r["warnings"].dump().find("ignored: jobs_max is of a generator at /workload; "
                                    "all jobs of the list are played") !=
          std::string::npos);
}

TEST_CASE("a job alone takes the time that the policy finite expects",
          "[simulation_cluster][api]")
{
    // 20 settings: the mean of 200 runs is E(n) of 3.1 within its 95 % interval for 19.
    api a;
    int outside = 0;

    for (int i = 0; i < 20; i++) {
        int nodes = 1 + i % 5 * 4;
        double work_s = 5000 + 700 * i, mean_s = 4000 + 400 * i, c_s = 30 + 10 * (i % 3);
        json costs = {{"checkpoint_overhead_s", c_s},
                      {"restart_s", 20 * (i % 4)},
                      {"restart_from_scratch_s", 15 * (i % 2)},
                      {"reschedule_delay_s", 25 * (i % 3)}};
        json job = costs;

        job.update({{"id", "j"},
                    {"execution_time_s", work_s},
                    {"mean_failure_interval_s", mean_s}});
        json plan = a.post("/v1/checkpoint-intervals",
                           json{{"algorithm", "finite"}, {"jobs", {job}}}.dump())
                        .json();
        INFO(plan.dump(1).substr(0, 2000));
        double want = plan["intervals"][0]["expected_completion_s"];
        json r =
            play(a, {{"kind", "cluster"},
                     {"runs", 200},
                     {"seed", 1000 + i},
                     {"sites",
                      {{{"id", "s"},
                        {"resources",
                         {{{"id", "n"},
                           {"number", nodes},
                           {"failure",
                            {{"distribution", "exponential"}, {"mean", mean_s * nodes}}},
                           {"restore", 0}}}}}}},
                     {"jobs", {{{"nodes", nodes}, {"execution_time_s", work_s}}}},
                     {"job_defaults", costs},
                     {"compare", {{{"checkpoint", {{"algorithm", "finite"}}}}}}});
        const json &m = r["results"][0]["metrics"]["job_turnaround_s"];
        double off = std::fabs(m["mean"].get<double>() - want), ci95 = m["ci95"];
        INFO("setting " << i << ": " << m["mean"] << " +- " << ci95 << ", expected "
                        << want);
        outside += off > ci95;
        CHECK(off < 2 * ci95);
    }
    CHECK(outside <= 1);
}

TEST_CASE("a job alone with images of several levels takes what its pattern takes",
          "[simulation_cluster][api]")
{
    // 12 settings: the mean of 200 runs is the exact time of the pattern.
    api a;
    int outside = 0;

    for (int i = 0; i < 12; i++) {
        int nodes = 1 + i % 4 * 3;
        double work_s = 9000 + 1300 * i, mean_s = 3000 + 500 * i;
        double scratch_s = 10 * (i % 2), delay_s = 20 * (i % 3);
        std::vector<level> levels = {{4. + i % 3, 3, 0.5}, {20, 25, 0.8}, {90, 120, 1}};
        if (i % 3 == 2)
            levels.erase(levels.begin());
        if (i % 4 == 3)
            levels[0].survives_ratio = 0.02; // not worth it
        levels_job job = {levels.data(), levels.size(), mean_s, delay_s, nullptr};
        levels_pattern best = levels_best(&job);
        double want = levels_expected_s(&job, &best, work_s, scratch_s);
        json listed = json::array();

        for (size_t l = 0; l < levels.size(); l++)
            listed.push_back({{"level", l + 1},
                              {"checkpoint_overhead_s", levels[l].overhead_s},
                              {"restart_s", levels[l].restart_s},
                              {"survives_ratio", levels[l].survives_ratio}});
        json body = {
            {"kind", "cluster"},
            {"runs", 200},
            {"seed", 7000 + i},
            {"sites",
             {{{"id", "s"},
               {"resources",
                {{{"id", "n"},
                  {"number", nodes},
                  {"failure",
                   {{"distribution", "exponential"}, {"mean", mean_s * nodes}}},
                  {"restore", 0}}}}}}},
            {"jobs", {{{"nodes", nodes}, {"execution_time_s", work_s}}}},
            {"job_defaults",
             {{"restart_from_scratch_s", scratch_s}, {"reschedule_delay_s", delay_s}}},
            {"compare",
             {{{"checkpoint", {{"algorithm", "exact"}, {"levels", listed}}}}}}};
        json r = play(a, body);
        const json &m = r["results"][0]["metrics"]["job_turnaround_s"];
        double off = std::fabs(m["mean"].get<double>() - want), ci95 = m["ci95"], sum = 0;
        INFO("setting " << i << ": " << m["mean"] << " +- " << ci95 << ", expected "
                        << want);
        outside += off > ci95;
        CHECK(off < 2 * ci95);
        for (auto name : {"useful", "lost", "checkpoint", "restart", "idle", "down"})
            sum += mean_of(r, 0, (std::string("node_seconds_") + name).c_str());
        CHECK(sum == Approx(nodes * mean_of(r, 0, "duration_s")).epsilon(1e-9));
        CHECK(mean_of(r, 0, "node_seconds_useful") ==
              Approx(nodes * work_s).epsilon(1e-9)); // whatever was lost with an image
    }
    CHECK(outside <= 1);
}

TEST_CASE("levels in a cluster: on shared nodes, of several speeds, with spares",
          "[simulation_cluster][api]")
{
    api a;
    json body = failing(), levels = json::parse(R"([
        {"level": 1, "checkpoint_overhead_s": 2, "restart_s": 2, "survives_ratio": 0.6},
        {"level": 4, "checkpoint_overhead_s": 30, "restart_s": 40, "survives_ratio": 1}])");

    body["sites"][0]["resources"].push_back(
        {{"id", "slow"},
         {"number", 3},
         {"cpus", 4},
         {"speed", 0.7},
         {"failure", {{"distribution", "exponential"}, {"mean", 9000}}},
         {"restore", 100}});
    body["job_defaults"]["spare_nodes"] = 1;
    body["compare"] = {
        {{"label", "two"}, {"checkpoint", {{"algorithm", "finite"}, {"levels", levels}}}},
        {{"label", "file system"},
         {"checkpoint", {{"algorithm", "exact"}, {"levels", json::array({levels[1]})}}}},
        {{"label", "history"},
         {"checkpoint",
          {{"algorithm", "young"},
           {"options", {{"knows", "history"}}},
           {"levels", levels}}}}};
    body["compare"][1]["checkpoint"]["levels"][0].erase("survives_ratio"); // alone: 1
    json r = play(a, body);
    CHECK(timeless(r) == timeless(play(a, body)));
    for (size_t i = 0; i < 3; i++) {
        double sum = 0;

        for (auto name : {"useful", "lost", "checkpoint", "restart", "idle", "down"})
            sum += mean_of(r, i, (std::string("node_seconds_") + name).c_str());
        CHECK(sum == Approx(15 * mean_of(r, i, "duration_s")).epsilon(1e-9));
        CHECK(mean_of(r, i, "jobs_done") == 60);
        CHECK(mean_of(r, i, "checkpoint_count") > 0);
    }
    CHECK(mean_of(r, 0, "checkpoint_count") > mean_of(r, 1, "checkpoint_count"));

    // All mistakes of a list at once.
    for (auto name : {"periodic", "weibull", "none"}) {
        body["compare"] = {{{"checkpoint", {{"algorithm", name}, {"levels", levels}}}}};
        CHECK(refused(a, body) ==
              std::vector<std::string>{"/compare/0/checkpoint/levels"});
    }
    body["compare"][0]["checkpoint"] = json::parse(R"({"algorithm": "exact", "levels": [
        {"level": 2, "checkpoint_overhead_s": 9, "survives_ratio": 0.6},
        {"level": 2, "checkpoint_overhead_s": 8, "survives_ratio": 0.5},
        {"level": 3, "checkpoint_overhead_s": 9, "survives_ratio": 0.9}]})");
    CHECK(refused(a, body) ==
          std::vector<std::string>{"/compare/0/checkpoint/levels/1/level",
                                   "/compare/0/checkpoint/levels/1/checkpoint_overhead_s",
                                   "/compare/0/checkpoint/levels/1/survives_ratio",
                                   "/compare/0/checkpoint/levels/2/survives_ratio"});
}

namespace
{

// Jobs on nodes of their own that write images of the same file system.
json sharing(std::vector<double> runs_s, double interval_s)
{
    json body = {{"kind", "cluster"},
                 {"cluster", {{"resources", {{{"id", "n"}, {"number", runs_s.size()}}}}}},
                 {"io", {{"bandwidth_mbps", 80}}},
                 {"job_defaults", {{"checkpoint_bytes", 100e6}}}, // 10 s alone
                 {"compare",
                  {{{"checkpoint",
                     {{"algorithm", "periodic"},
                      {"options", {{"initial_interval_s", interval_s}}}}}}}},
                 {"output", {{"per_job", true}}}};

    for (double run_s : runs_s)
        body["jobs"].push_back({{"execution_time_s", run_s}});
    return body;
}

double finish(const json &answer, size_t job, size_t label = 0)
{
    return answer["results"][label]["jobs"][job]["finish_s"];
}

} // namespace

TEST_CASE("images share a file system equally", "[simulation_cluster][api]")
{
    api a;

    // One alone: 250 s with images at 100 s and 200 s of work.
    json r = play(a, sharing({250}, 100));
    CHECK(finish(r, 0) == 270);
    CHECK(mean_of(r, 0, "node_seconds_checkpoint") == 20);
    // Two that always write at the same time: each takes 20 s.
    r = play(a, sharing({250, 250}, 100));
    CHECK(finish(r, 0) == 290);
    CHECK(finish(r, 1) == 290);
    CHECK(mean_of(r, 0, "node_seconds_checkpoint") == 80);
    // The second begins 4 s later: the first has 6 s left, which take 12; then the second
    // has 4 s left, alone. 100..116, 104..120.
    json body = sharing({150, 150}, 100);
    body["jobs"][1]["arrival_s"] = 4;
    r = play(a, body);
    CHECK(finish(r, 0) == 166);
    CHECK(finish(r, 1) == 170);
    // Three of different sizes from 100 s on: 10, 20, 30 s alone. The first has its 10 at
    // 130, the second 10 more at 150, the third then 10 more alone at 160.
    body = sharing({150, 150, 150}, 100);
    body["jobs"][1]["checkpoint_bytes"] = 200e6;
    body["jobs"][2]["checkpoint_overhead_s"] = 30;
    r = play(a, body);
    CHECK(finish(r, 0) == 180);
    CHECK(finish(r, 1) == 200);
    CHECK(finish(r, 2) == 210);
    CHECK(timeless(r) == timeless(play(a, body)));
}

TEST_CASE("a restart reads its image over the file system", "[simulation_cluster][api]")
{
    api a;
    json body = sharing({250, 250}, 100);

    // The first is killed at 150 with an image of 100 s of work (written 100..120), and
    // reads it alone, 150..160; 100 s of work to 260, where it writes; the second writes
    // 220..240 alone from 220..230 and ends at 280.
    body["cluster"]["resources"] = json::parse(R"([
        {"id": "n0", "outages": [{"down_s": 150, "up_s": 150.001}]},
        {"id": "n1"}, {"id": "n2"}])");
    json r = play(a, body);
    CHECK(finish(r, 0) == 150 + 10 + 100 + 10 + 50);
    CHECK(finish(r, 1) == 120 + 100 + 10 + 50);
    CHECK(mean_of(r, 0, "node_seconds_restart") == 10);
    CHECK(mean_of(r, 0, "node_seconds_lost") == 30);
    // Killed while it writes: what it had shared is the other's at once.
    body["cluster"]["resources"][0]["outages"][0] = {{"down_s", 106}, {"up_s", 106.001}};
    r = play(a, body);
    // 3 of its 10 s are there; from 206 and 213 on both write again
    CHECK(finish(r, 1) == 106 + 7 + 100 + 13 + 50);
    CHECK(finish(r, 0) == 106 + 100 + 13 + 100 + 10 + 50); // nothing was to be read
    // At its time limit, while it writes.
    body = sharing({250, 250}, 100);
    body["jobs"][0]["time_limit_s"] = 110;
    r = play(a, body);
    CHECK(r["results"][0]["jobs"][0]["state"] == "killed");
    CHECK(finish(r, 0) == 110);
    CHECK(finish(r, 1) == 100 + 10 + 5 + 100 + 10 + 50);
    body["jobs"][0]["time_limit_s"] = 290; // just enough
    r = play(a, body);
    CHECK(r["results"][0]["jobs"][0]["state"] == "done");
}

TEST_CASE("a file system that suffices changes nothing",
          "[simulation_cluster][api][heavy]")
{
    // Alone on the cluster a job takes what it takes without a file system; so do many
    // that write in no time.
    api a;
    json body = failing();

    auto same = [&](const json &with, const json &without) {
        REQUIRE(with["runs_done"] == without["runs_done"]);
        REQUIRE(with["runs_done"].get<int>() > 0);
        for (size_t i = 0; i < with["results"].size(); i++) {
            CHECK(with["results"][i]["jobs"] == without["results"][i]["jobs"]);
            for (auto &m : with["results"][i]["metrics"].items())
                CHECK(mean_of(without, i, m.key().c_str()) ==
                      Approx(m.value()["mean"].get<double>()).epsilon(1e-12));
        }
    };

    body["runs"] = 1;
    body["compare"].erase(2);
    body["output"] = {{"per_job", true}};
    json crowd = body;
    while (body["jobs"].size() > 20)
        body["jobs"].erase(body["jobs"].size() - 1);
    for (auto &j : body["jobs"]) {
        j["exclusive"] = true;
        j["nodes"] = 12; // one after the other
    }
    json alone = play(a, body);
    body["io"] = {{"bandwidth_mbps", 1}};
    same(play(a, body), alone);

    crowd["job_defaults"]["checkpoint_overhead_s"] = 0;
    crowd["job_defaults"]["restart_s"] = 0;
    crowd["job_defaults"]["spare_nodes"] = 1;
    alone = play(a, crowd);
    crowd["io"] = {{"bandwidth_mbps", 1}};
    same(play(a, crowd), alone);
}

TEST_CASE("jobs write at places of their own", "[simulation_cluster][api]")
{
    api a;
    json body = json::parse(R"({
        "kind": "cluster", "seed": 3, "runs": 3, "io": {"bandwidth_mbps": 800},
        "cluster": {"resources": [{"id": "n", "number": 24,
            "failure": {"distribution": "exponential", "mean": 60000}, "restore": 60}]},
        "job_defaults": {"checkpoint_bytes": 6e9, "nodes": 2},
        "compare": [{"checkpoint": {"algorithm": "finite"}},
                    {"checkpoint": {"algorithm": "periodic",
                                    "options": {"initial_interval_s": 2000}}}]})");

    for (int j = 0; j < 12; j++)
        body["jobs"].push_back({{"execution_time_s", 80000}});
    json crowd = play(a, body);
    body["io"]["stagger"] = true;
    json r = play(a, body);
    CHECK(timeless(r) == timeless(play(a, body)));
    // Each image takes nearer to its 60 s alone.
    auto each_s = [](const json &x) {
        return mean_of(x, 0, "node_seconds_checkpoint") /
               mean_of(x, 0, "checkpoint_count") / 2;
    };
    INFO(each_s(crowd) << " " << each_s(r));
    CHECK(each_s(crowd) > 75);
    CHECK(each_s(r) < 75);
    CHECK(each_s(r) > 59.9);
    CHECK(mean_of(r, 0, "node_seconds_checkpoint") + mean_of(r, 0, "node_seconds_lost") <
          mean_of(crowd, 0, "node_seconds_checkpoint") +
              mean_of(crowd, 0, "node_seconds_lost"));
    // Other policies go by their own intervals, and it is said.
    CHECK(r["results"][1] == crowd["results"][1]);
    CHECK(warns(r, "stagger_unused"));
    CHECK_FALSE(warns(crowd, "stagger_unused"));
    for (size_t i = 0; i < 2; i++) {
        double sum = 0;

        for (auto name : {"useful", "lost", "checkpoint", "restart", "idle", "down"})
            sum += mean_of(r, i, (std::string("node_seconds_") + name).c_str());
        CHECK(sum == Approx(24 * mean_of(r, i, "duration_s")).epsilon(1e-12));
    }
}

TEST_CASE("mistakes about a shared file system", "[simulation_cluster][api]")
{
    api a;
    json body = sharing({10}, 5);

    body["jobs"][0]["checkpoint_bytes"] = 5;
    body["jobs"][0]["checkpoint_overhead_s"] = 5;
    body["job_defaults"]["checkpoint_overhead_s"] = 5;
    body["compare"][0]["checkpoint"] = json::parse(R"({"algorithm": "exact", "levels": [
        {"level": 1, "checkpoint_overhead_s": 9, "survives_ratio": 1}]})");
    CHECK(refused(a, body) == std::vector<std::string>{"/compare/0/checkpoint/levels",
                                                       "/job_defaults/checkpoint_bytes"});
    body["compare"][0].erase("checkpoint");
    body["job_defaults"].erase("checkpoint_overhead_s");
    CHECK(refused(a, body) == std::vector<std::string>{"/jobs/0/checkpoint_bytes"});
    body.erase("io");
    CHECK(refused(a, body) == std::vector<std::string>{"/job_defaults/checkpoint_bytes"});
    body["io"] = {{"bandwidth_mbps", 0}, {"use_max_ratio", 0}};
    CHECK(refused(a, body) ==
          std::vector<std::string>{"/io/bandwidth_mbps", "/io/use_max_ratio"});
}

TEST_CASE("several at the same time answer what one answers alone",
          "[simulation_cluster][api]")
{
    json body = failing();

    body["io"] = {{"bandwidth_mbps", 100}, {"stagger", true}};
    body["compare"].erase(2);
    body["time_limit_s"] = 300;
    api a;
    std::string alone = timeless(play(a, body)).dump();
    std::vector<std::string> answers(4);
    std::vector<std::thread> threads;
    for (auto &answer : answers)
        threads.emplace_back([&answer, text = body.dump()] {
            api own;
            api_reply r = own.post("/v1/simulations", text);

            answer = r.status == 200 ? timeless(r.json()).dump() : r.body;
        });
    for (auto &t : threads)
        t.join();
    for (auto &answer : answers)
        CHECK(answer == alone);
}

TEST_CASE("runs are added until a mean is known", "[simulation_cluster][api]")
{
    api a;
    json body = failing();

    body.erase("runs");
    body["confidence"] = {{"metric", "job_turnaround_s"}, {"half_width_ratio", 0.2}};
    json r = play(a, body);
    int runs = r["runs_done"];
    CHECK(runs >= 2);
    CHECK(runs < 200);
    for (auto &x : r["results"]) {
        const json &m = x["metrics"]["job_turnaround_s"];
        CHECK(m["ci95"].get<double>() <= 0.2 * m["mean"].get<double>());
    }
    if (runs > 2) { // with one run less they were not
        body["confidence"]["runs_max"] = runs - 1;
        json less = play(a, body);
        bool wide = false;
        CHECK(less["runs_done"] == runs - 1);
        for (auto &x : less["results"]) {
            const json &m = x["metrics"]["job_turnaround_s"];
            wide |= m["ci95"].get<double>() > 0.2 * m["mean"].get<double>();
        }
        CHECK(wide);
    }
    body["confidence"]["metric"] = "job_wait";
    CHECK(refused(a, body) == std::vector<std::string>{"/confidence/metric"});
}

TEST_CASE("generated jobs stop at the limit, and it is said", "[simulation_cluster][api]")
{
    api a;
    json body = {
        {"kind", "cluster"},
        {"runs", 2},
        {"stop", {{"time_s", 100000}}},
        {"cluster", {{"resources", {{{"id", "n"}, {"number", 8}, {"cpus", 2}}}}}},
        {"workload",
         {{"generator", "poisson"},
          {"length_mi", {{"distribution", "exponential"}, {"mean", 600}}},
          {"arrival_gap_s", 100}}},
        {"job_defaults",
         {{"nodes", {{"distribution", "empirical"}, {"values", {1, 2, 4}}}},
          {"cpus", 2}}},
        {"compare",
         {{{"queue", {{"algorithm", "easy"}}}}, {{"queue", {{"algorithm", "fcfs"}}}}}}};
    json r = play(a, body);

    CHECK(r["status"] == "feasible");
    CHECK(r["job_count"].get<int>() > 900);
    CHECK(mean_of(r, 0, "duration_s") == Approx(100000).epsilon(0.05));
    CHECK(r["results"][0]["metrics"]["jobs_done"]["variance"].is_number());
    body["jobs_max"] = 50;
    json cut = play(a, body);
    CHECK(cut["status"] == "cut");
    CHECK(warns(cut, "workload_truncated"));
    CHECK(cut["job_count"] == 50);
    CHECK(mean_of(cut, 0, "duration_s") < 10000);
    body["stop"] = {{"time_s", 100000}, {"jobs", 5000}};
    body.erase("jobs_max");
    CHECK(warns(play(a, body), "stop_unreachable"));
    body["stop"] = {{"time_s", 100000}, {"jobs", 10}};
    CHECK(mean_of(play(a, body), 0, "jobs_done") >= 10);
    body["max_events"] = 300;
    json spent = play(a, body);
    body["max_events"] = 30;
    spent = play(a, body);
    CHECK(spent["status"] == "cut");
    CHECK(warns(spent, "max_events"));
    CHECK(spent["runs_done"].get<int>() < 2);
}

TEST_CASE("partitions, shared amounts, prices, dependencies and limits",
          "[simulation_cluster][api]")
{
    api a;
    json body = json::parse(R"({
        "kind": "cluster",
        "sites": [{"id": "s", "resources": [
            {"id": "small", "number": 2, "cpus": 4, "price_per_s": 2,
             "power_per_cpu_w": 10},
            {"id": "big", "cpus": 8, "memory_bytes": 64, "capacities": {"gpus": 2},
             "speed": 2, "price_per_cpu_s": 0.5, "power_node_w": 100}]}],
        "shared_capacities": {"licence": 1},
        "partitions": [
            {"id": "small", "resource_ids": ["small"], "default": true},
            {"id": "big", "resource_ids": ["big"], "priority_tier": 1},
            {"id": "one", "resource_ids": ["small2"]}],
        "jobs": [
            {"id": "a", "execution_time_s": 100, "cpus": 4, "needs": {"licence": 1}},
            {"id": "b", "execution_time_s": 50, "cpus": 4, "needs": {"licence": 1}},
            {"id": "g", "execution_time_s": 100, "cpus": 2, "needs": {"gpus": 1},
             "partition_ids": ["big"]},
            {"id": "h", "execution_time_s": 40, "cpus": 0.5, "after": ["g"],
             "partition_ids": ["one", "big"]},
            {"id": "k", "execution_time_s": 80, "time_limit_s": 30,
             "partition_ids": ["big"], "arrival_s": 1},
            {"id": "x", "execution_time_s": 5, "after": [{"job_id": "k"}]}],
        "compare": [{"queue": {"algorithm": "easy"}},
                    {"label": "fit", "queue": {"algorithm": "first_fit",
                                               "options": {"node_choice": "spread"}}}],
        "output": {"per_job": true}})");
    json r = play(a, body);

    for (size_t i = 0; i < 2; i++) {
        const json &jobs = r["results"][i]["jobs"];
        INFO(jobs.dump(1));
        CHECK(jobs[0]["start_s"] == 0);
        CHECK(jobs[1]["start_s"] == 100); // the licence
        CHECK(jobs[2]["finish_s"] == 50); // of speed 2
        CHECK(jobs[2]["resource_id"] == "big");
        CHECK(jobs[3]["start_s"] == 50);
        CHECK(jobs[3]["resource_id"] == "small2"); // the first of its partitions
        CHECK(jobs[3]["cpus"] == 0.5);
        CHECK(jobs[5]["state"] == "killed"); // the last to arrive
        CHECK(jobs[5]["finish_s"] == 31);
        CHECK(jobs[4]["state"] == "never_fits");
        CHECK(jobs[4]["start_s"].is_null());
        CHECK(mean_of(r, i, "killed_count") == 1);
        CHECK(mean_of(r, i, "never_fit_count") == 1);
    }
    CHECK(warns(r, "never_fits"));
    // small: a 100 s, b 50 s, h 40 s; big: from 0 to 50 s, 2 cpus 50 s and 1 for 30 s
    double small_s = r["results"][0]["jobs"][0]["resource_id"] ==
                             r["results"][0]["jobs"][1]["resource_id"]
                         ? 190
                         : 190;
    CHECK(mean_of(r, 0, "cost") == Approx(2 * small_s + 0.5 * (2 * 50 + 30)));
    CHECK(mean_of(r, 0, "energy_j") ==
          Approx(10 * (4 * 150 + 0.5 * 40) + 100 * 50).epsilon(1e-9));

    // a job at its limit goes on from its image
    body["jobs"] = json::parse(R"([{"id": "k", "execution_time_s": 100,
        "time_limit_s": 60}])");
    body["job_defaults"] = {{"limit_action", "requeue"}, {"checkpoint_overhead_s", 1}};
    body["compare"] = json::parse(R"([{"checkpoint": {"algorithm": "periodic",
        "options": {"initial_interval_s": 20, "knows": "history"}}}])");
    r = play(a, body);
    CHECK(r["results"][0]["jobs"][0]["state"] == "done");
    CHECK(r["results"][0]["jobs"][0]["restarts"].get<int>() >= 1);
    body["job_defaults"]["max_restarts"] = 0;
    CHECK(play(a, body)["results"][0]["jobs"][0]["state"] == "killed");
    body["reservations"] = {
        {{"start_s", 0}, {"end_s", 500}, {"resource_ids", {"small"}}}};
    CHECK(play(a, body)["results"][0]["jobs"][0]["start_s"] == 500);
}

TEST_CASE("a job goes on with a spare node", "[simulation_cluster][api]")
{
    api a;
    json body = example19();

    body["jobs"] = {{{"id", "A"},
                     {"nodes", 2},
                     {"spare_nodes", 1},
                     {"execution_time_s", 300},
                     {"reschedule_delay_s", 7}}};
    json r = play(a, body);
    const json &job = r["results"][0]["jobs"][0];
    // images at 110 and 220 s, 30 s lost at 250; D 7, R 5, then 100 s
    CHECK(job["finish_s"] == 250 + 7 + 5 + 100);
    CHECK(job["failure_kills"] == 0);
    CHECK(job["restarts"] == 1);
    CHECK(job["last_start_s"] == 0);
}

TEST_CASE("slurm_backfill decides at events and at its own times",
          "[simulation_cluster][api]")
{
    api a;
    json body = json::parse(R"({
        "kind": "cluster",
        "cluster": {"resources": [{"id": "n", "number": 3, "memory_bytes": 100}]},
        "jobs": [
            {"id": "A", "nodes": 2, "execution_time_s": 100, "time_limit_s": 120},
            {"id": "B", "nodes": 3, "execution_time_s": 50, "time_limit_s": 60},
            {"id": "C", "execution_time_s": 20, "time_limit_s": 30}],
        "output": {"per_job": true}})");

    // A starts at once; B does not fit and closes the partition to C, which the backfill
    // pass finds: every 30 s, every 10 s, never.
    const std::pair<int, double> passes[] = {{30, 30}, {10, 10}, {-1, 150}};
    for (auto [interval_s, start_s] : passes)
        body["compare"].push_back({{"label", std::to_string(interval_s)},
                                   {"queue",
                                    {{"algorithm", "slurm_backfill"},
                                     {"options", {{"bf_interval_s", interval_s}}}}}});
    json r = play(a, body);
    for (size_t i = 0; i < 3; i++) {
        const json &jobs = r["results"][i]["jobs"];

        INFO(jobs.dump(1));
        CHECK(r["results"][i]["queue"] == "slurm_backfill");
        CHECK(jobs[0]["start_s"] == 0);
        CHECK(jobs[1]["start_s"] == 100);
        CHECK(jobs[2]["start_s"] == passes[i].second);
    }
    body["compare"][0]["queue"]["options"] = {{"bf_interval", 1}};
    body["compare"][1]["queue"]["algorithm"] = "slurm";
    body["compare"][2]["queue"]["options"] = {{"bf_interval_s", 0.5}};
    CHECK(refused(a, body) ==
          std::vector<std::string>{"/compare/0/queue/options/bf_interval",
                                   "/compare/1/queue/algorithm",
                                   "/compare/2/queue/options/bf_interval_s"});

    // Nodes that fail, with requeue, partitions and what they share.
    json fails = failing();
    fails["partitions"] = json::parse(R"([{"id": "p", "default": true},
        {"id": "q", "resource_ids": ["n1", "n2", "n3"], "priority_tier": 1}])");
    fails["shared_capacities"] = {{"licence", 2}};
    for (size_t j = 0; j < 60; j += 7) {
        fails["jobs"][j]["partition_ids"] = {"q", "p"};
        fails["jobs"][j]["needs"] = {{"licence", 1}};
    }
    fails["runs"] = 1;
    fails["output"] = {{"per_job", true}};
    fails["compare"] = json::parse(R"([{"queue": {"algorithm": "slurm_backfill"},
        "checkpoint": {"algorithm": "finite"}}])");
    r = play(a, fails);
    CHECK(timeless(r) == timeless(play(a, fails)));
    CHECK(mean_of(r, 0, "jobs_done") == 60);
    double sum = 0;
    for (auto name : {"useful", "lost", "checkpoint", "restart", "idle", "down"})
        sum += mean_of(r, 0, (std::string("node_seconds_") + name).c_str());
    CHECK(sum == Approx(12 * mean_of(r, 0, "duration_s")).epsilon(1e-9));
    CHECK(mean_of(r, 0, "failure_killed_count") > 0);
    // Nobody is given more than there is, by last attempts.
    for (const json &x : r["results"][0]["jobs"])
        for (const std::string name : {"n1", "n7", "n12"}) {
            double cpus = 0, at_s = x["last_start_s"];
            bool alone = false;
            int here = 0;

            for (const json &y : r["results"][0]["jobs"]) {
                bool is_there = y.value("resource_id", "") == name;
                for (auto &id : y.value("resource_ids", json::array()))
                    is_there |= id == name;
                if (!is_there || y["last_start_s"] > at_s || y["finish_s"] <= at_s)
                    continue;
                cpus += y["cpus"].get<double>();
                here++;
                alone |= y["cpus"] == 4;
            }
            CHECK(cpus <= 4);
            CHECK((!alone || here == 1));
        }
}

TEST_CASE("what is cleaned up, estimated again, and expected to be repaired",
          "[simulation_cluster][api]")
{
    api a;
    json body = example19();

    // n1 and n2 are cleaned up from 250 to 270 s
    body["cleanup_s"] = 20;
    json r = play(a, body);
    CHECK(r["results"][0]["jobs"][0]["last_start_s"] == 270);
    CHECK(r["results"][0]["jobs"][0]["finish_s"] == 375);

    // A is started again at 250 s with 100 s of work left: whether D, 252 to 452 s, may
    // start before B, which needs its nodes, is a matter of what is expected of A.
    body = example19();
    body["cluster"]["resources"][1]["number"] = 4;
    body["jobs"] = json::parse(R"([
        {"id": "A", "nodes": 3, "execution_time_s": 300},
        {"id": "B", "nodes": 4, "execution_time_s": 10, "arrival_s": 251},
        {"id": "D", "execution_time_s": 200, "arrival_s": 252}])");
    body["estimate_after_restart"] = "full";
    CHECK(play(a, body)["results"][0]["jobs"][2]["start_s"] == 252);
    body["estimate_after_restart"] = "remaining";
    CHECK(play(a, body)["results"][0]["jobs"][2]["start_s"] == 365);

    // B needs the node that is down until 100 s; D would run until 201 s.
    body = example19();
    body["cluster"]["resources"][0]["outages"] = {{{"down_s", 0}, {"up_s", 100}}};
    body["jobs"] = json::parse(R"([
        {"id": "B", "nodes": 4, "execution_time_s": 10},
        {"id": "D", "execution_time_s": 200, "arrival_s": 1}])");
    CHECK(play(a, body)["results"][0]["jobs"][1]["start_s"] == 1);
    body["cluster"]["resources"][0]["expected_repair_s"] = 50;
    r = play(a, body);
    CHECK(r["results"][0]["jobs"][0]["start_s"] == 100);
    CHECK(r["results"][0]["jobs"][1]["start_s"] == 110);
}

TEST_CASE("mistakes in a cluster simulation come all at once",
          "[simulation_cluster][api]")
{
    api a;
    json body = json::parse(R"({
        "kind": "cluster", "runs": 201,
        "sites": [{"id": "s", "resources": [
            {"id": "n", "number": 3, "failure": {"distribution": "exponential"}},
            {"id": "n2", "restore": 5, "failure_group": "none"},
            {"id": "m", "number": 2, "outages": [{"down_s": 5, "up_s": 3}]}]}],
        "partitions": [{"id": "p", "resource_ids": ["n4", "n3"], "default": true},
                       {"id": "q", "default": true}],
        "reservations": [{"start_s": 5, "end_s": 5, "resource_ids": ["m1"]}],
        "workload_id": "w", "jobs": [{"execution_time_s": 1}],
        "compare": [{"queue": {"algorithm": "eazy"}},
                    {"checkpoint": {"algorithm": "yung"}},
                    {"label": "a", "queue": {"algorithm": "easy",
                                             "options": {"depth": 1}}},
                    {"label": "a", "checkpoint": {"algorithm": "young",
                                                  "options": {"knows": "all"}}}],
        "baseline": "b"})");

    CHECK(refused(a, body) == std::vector<std::string>{"/runs"});
    body.erase("runs");
    std::vector<std::string> found = refused(a, body);
    for (std::string want :
         {"/sites/0/resources/0/restore", "/sites/0/resources/1/failure",
          "/sites/0/resources/1/failure_group", "/sites/0/resources/1/id",
          "/sites/0/resources/2/outages", "/sites/0/resources/2/outages/0/up_s",
          "/partitions/0/resource_ids/0", "/partitions/1/default",
          "/reservations/0/end_s", "/jobs", "/compare/0/queue/algorithm",
          "/compare/1/checkpoint/algorithm", "/compare/2/queue/options/depth",
          "/compare/3/label", "/compare/3/checkpoint/options/knows", "/baseline"}) {
        INFO(want << " in " << json(found).dump());
        CHECK(std::count(found.begin(), found.end(), want) == 1);
    }

    json jobs = json::parse(R"({
        "kind": "cluster", "cluster": {"resources": [{"id": "n", "number": 3}]},
        "jobs": [
            {"id": "a", "execution_time_s": 1, "nodes": 4},
            {"id": "a", "execution_time_s": 1, "cpus": 2},
            {"id": "b", "execution_time_s": 1, "needs": {"gpus": 1}},
            {"id": "c", "execution_time_s": 1, "after": ["d"]},
            {"id": "d", "execution_time_s": 1, "after": ["c"]},
            {"id": "e", "execution_time_s": 1, "after": ["f"], "group": {"id": "g"}},
            {"id": "h", "execution_time_s": 1, "partition_ids": ["p"],
             "input_file_ids": ["f"]}],
        "compare": [{}]})");
    CHECK(refused(a, jobs) ==
          std::vector<std::string>{"/jobs/0/nodes", "/jobs/1", "/jobs/2/needs",
                                   "/jobs/5/group", "/jobs/6/input_file_ids",
                                   "/jobs/6/partition_ids/0", "/jobs/1/id",
                                   "/jobs/5/after/0/job_id"});
    jobs["jobs"] = {jobs["jobs"][3], jobs["jobs"][4]};
    CHECK(refused(a, jobs) == std::vector<std::string>{"/jobs/0/after"});
    jobs["jobs"] = {{{"execution_time_s", 1}}};
    jobs["stop"] = {{"jobs", 2}};
    CHECK(refused(a, jobs) == std::vector<std::string>{"/stop/jobs"});
    jobs.erase("stop");
    jobs["sites"] = json::array({{{"id", "s"}, {"resources", json::array()}}});
    CHECK(refused(a, jobs) == std::vector<std::string>{"/sites"});
    jobs.erase("sites");
    jobs["cluster"]["resources"][0]["number"] = 10001;
    CHECK(refused(a, jobs) == std::vector<std::string>{"/cluster/resources"});
    jobs.erase("cluster");
    jobs.erase("jobs");
    CHECK(refused(a, jobs) == std::vector<std::string>{"/sites", "/jobs"});
}

TEST_CASE("sizes 0, 1 and 2, zeros and ties", "[simulation_cluster][api]")
{
    api a;

    for (int jobs : {1, 2})
        for (int hosts : {1, 2})
            for (double run_s : {0., 5.}) {
                json body = {
                    {"kind", "cluster"},
                    {"cluster", {{"resources", {{{"id", "n"}, {"number", hosts}}}}}},
                    {"compare", json::array()},
                    {"output", {{"per_job", true}}}};

                for (int j = 0; j < jobs; j++)
                    body["jobs"].push_back({{"execution_time_s", run_s}});
                for (const policy *p = queue_policies; p->name; p++)
                    for (const policy *c = checkpoint_policies; c->name; c++)
                        if (body["compare"].size() < 16 &&
                            (p == queue_policies || c == checkpoint_policies))
                            body["compare"].push_back(
                                {{"queue", {{"algorithm", p->name}}},
                                 {"checkpoint", {{"algorithm", c->name}}}});
                json r = play(a, body);
                for (auto &x : r["results"])
                    for (auto &job : x["jobs"]) {
                        CHECK(job["state"] == "done");
                        CHECK(job["finish_s"] == job["start_s"].get<double>() + run_s);
                    }
                CHECK(mean_of(r, 0, "duration_s") == (jobs > hosts ? 2 : 1) * run_s);
            }
}

TEST_CASE("accounts and qualities of service hold jobs back under slurm_backfill",
          "[api][simulation]")
{
    api a;
    json body = json::parse(R"({"kind": "cluster", "seed": 1, "stop": {"when_done": true},
        "cluster": {"resources": [{"id": "n", "number": 4, "cpus": 2}],
            "qos": [{"id": "small", "limits": {"group": {"cpus": 1}}}, {"id": "big"}],
            "accounts": [{"id": "a", "limits": {"group": {"jobs_running": 1}}},
                         {"id": "ua", "parent_id": "a", "user_id": "ann"},
                         {"id": "b", "default_qos_id": "small", "qos_ids": ["small"]}]},
        "jobs": [{"id": "A1", "user": "ann", "account_id": "a", "execution_time_s": 100,
                  "time_limit_s": 100},
                 {"id": "A2", "user": "ann", "execution_time_s": 100,
                  "time_limit_s": 100},
                 {"id": "B1", "account_id": "b", "execution_time_s": 50},
                 {"id": "B2", "account_id": "b", "qos_id": "small",
                  "execution_time_s": 50},
                 {"id": "C", "execution_time_s": 10}],
        "compare": [{"queue": {"algorithm": "slurm_backfill"}}, {"label": "other"}],
        "output": {"per_job": true}})");
    auto start = [](const json &r, size_t label, size_t job) {
        const json &at = r["results"][label]["jobs"][job]["start_s"];
        return at.is_null() ? -1 : at.get<double>();
    };
    json r = play(a, body);
    const double held[] = {0, 100, 0, 50, 0};

    for (size_t i = 0; i < 5; i++) {
        CHECK(start(r, 0, i) == held[i]);
        CHECK(start(r, 1, i) == 0);
    }
    CHECK(warns(r, "limits_unused"));

    SECTION("limits count in the units of needs")
    {
        body["jobs"][2]["cpus"] = body["jobs"][3]["cpus"] = 0.5;
        r = play(a, body);
        CHECK(start(r, 0, 2) == 0);
        CHECK(start(r, 0, 3) == 0); // half a cpu each, one at most
    }
    SECTION("what an account has used counts")
    {
        body["cluster"]["accounts"][0]["limits"] =
            json::parse(R"({"group": {"cpu_s": 150}})");
        r = play(a, body);
        CHECK(start(r, 0, 0) == 0);
        CHECK(start(r, 0, 1) == -1);
        CHECK(r["results"][0]["jobs"][1]["state"] == "waiting");
        body["cluster"]["accounts"][0]["limits"]["group"]["cpu_s"] = 200;
        CHECK(start(play(a, body), 0, 1) == 0);
        body["cluster"]["accounts"][1]["usage_s"] = 100;
        CHECK(start(play(a, body), 0, 1) == -1);
    }
    SECTION("an attempt that a failure ends was used all the same")
    {
        body["cluster"]["resources"] = json::parse(
            R"([{"id": "n", "cpus": 2, "outages": [{"down_s": 60, "up_s": 70}]}])");
        body["cluster"]["accounts"][0]["limits"] =
            json::parse(R"({"group": {"cpu_s": 150}})");
        body["jobs"].erase(1);
        r = play(a, body);
        CHECK(r["results"][0]["jobs"][0]["state"] == "waiting");
        body["cluster"]["accounts"][0]["limits"]["group"]["cpu_s"] = 160;
        CHECK(play(a, body)["results"][0]["jobs"][0]["state"] == "done");
    }
    SECTION("names must be known, and allowed")
    {
        body["jobs"][0]["account_id"] = "zz";
        body["jobs"][1]["qos_id"] = "yy";
        body["jobs"][2]["qos_id"] = "big";
        CHECK(refused(a, body) == std::vector<std::string>{"/jobs/0/account_id",
                                                           "/jobs/1/qos_id",
                                                           "/jobs/2/qos_id"});
        body["cluster"]["qos"][1]["preempts"] = json::array({"small"});
        CHECK(refused(a, body)[0] == "/cluster/qos/1/preempts");
    }
    SECTION("a cluster without accounts says that they are ignored")
    {
        body["cluster"].erase("accounts");
        body["cluster"].erase("qos");
        body["jobs"][3].erase("qos_id");
        r = play(a, body);
        CHECK(warns(r, "account_ignored"));
        CHECK(start(r, 0, 1) == 0);
    }
}

namespace
{
// Two nodes that are full, and who comes after.
json preempting()
{
    return json::parse(R"({"kind": "cluster", "stop": {"when_done": true},
        "cluster": {"resources": [{"id": "n", "number": 2}],
            "qos": [{"id": "low"}, {"id": "high", "preempts": ["low"]}],
            "policy_settings": {"preempt_type": "qos", "preempt_mode": "requeue",
                                "requeue_delay_s": 30}},
        "job_defaults": {"checkpoint_overhead_s": 10, "restart_s": 5},
        "jobs": [{"id": "A", "qos_id": "low", "nodes": 1, "execution_time_s": 300},
                 {"id": "B", "qos_id": "low", "arrival_s": 1, "execution_time_s": 300},
                 {"id": "C", "qos_id": "high", "arrival_s": 150, "execution_time_s": 100},
                 {"id": "D", "qos_id": "low", "arrival_s": 151, "execution_time_s": 10}],
        "compare": [
            {"label": "saved", "queue": {"algorithm": "slurm_backfill"},
             "checkpoint": {"algorithm": "periodic",
                            "options": {"initial_interval_s": 100}}},
            {"label": "lost", "queue": {"algorithm": "slurm_backfill"}},
            {"label": "cancelled", "queue": {"algorithm": "slurm_backfill",
                "options": {"preempt_mode": "cancel"}}},
            {"label": "off", "queue": {"algorithm": "slurm_backfill",
                "options": {"preempt_type": "none"}}}],
        "output": {"per_job": true}})");
}
} // namespace

TEST_CASE("who is preempted goes on from its last image", "[simulation_cluster][api]")
{
    api a;
    json body = preempting(), r = play(a, body);
    auto at = [&](size_t label, size_t job) -> const json & {
        return r["results"][label]["jobs"][job];
    };

    // B started last: it leaves to C at 150, with the image of 111 (100 s of work).
    CHECK(at(0, 2)["start_s"] == 150);
    CHECK(at(0, 2)["finish_s"] == 250);
    CHECK(at(0, 1)["preemptions"] == 1);
    CHECK(at(0, 1)["failure_kills"] == 0);
    CHECK(at(0, 0)["preemptions"] == 0);
    // C's node is free at 250; B is before D, restarts in 5 s, has 200 s left, and saves
    // once more
    CHECK(at(0, 1)["last_start_s"] == 250);
    CHECK(at(0, 1)["finish_s"] == 250 + 5 + 100 + 10 + 100);
    CHECK(at(0, 0)["finish_s"] == 320);
    // without images all of it is done again, and the work of 149 s is lost
    CHECK(at(1, 1)["last_start_s"] == 250);
    CHECK(at(1, 1)["finish_s"] == 550);
    CHECK(mean_of(r, 1, "node_seconds_lost") == 149);
    CHECK(at(2, 1)["state"] == "cancelled");
    CHECK(at(2, 1)["finish_s"] == 150);
    CHECK(at(2, 1)["preemptions"] == 1);
    CHECK(at(3, 2)["start_s"] == 300);
    CHECK_FALSE(at(3, 2).contains("preemptions"));
    for (size_t label = 0; label < 4; label++) {
        double sum = 0;
        for (const char *part :
             {"useful", "lost", "checkpoint", "restart", "idle", "down"})
            sum += mean_of(r, label, (std::string("node_seconds_") + part).c_str());
        CHECK(sum == Approx(2 * mean_of(r, label, "duration_s")).epsilon(1e-12));
    }
    CHECK(timeless(play(a, body)) == timeless(r));

    SECTION("not before its delay, nor before it may be")
    {
        // C needs 10 s only: its node waits for the delay, if nobody else wants it
        body["jobs"][2]["execution_time_s"] = 10;
        body["jobs"].erase(3);
        r = play(a, body);
        CHECK(at(1, 1)["last_start_s"] == 180);
        body["cluster"]["policy_settings"]["requeue_delay_s"] = 0;
        r = play(a, body);
        CHECK(at(1, 1)["last_start_s"] == 160);
        body["cluster"]["policy_settings"]["preempt_exempt_s"] = 200;
        r = play(a, body); // B may be stopped from 201 on, A is from 200 on
        CHECK(at(1, 2)["start_s"].get<double>() >= 200);
    }
    SECTION("who may not restart is lost")
    {
        body["job_defaults"]["max_restarts"] = 0;
        r = play(a, body);
        CHECK(at(1, 1)["state"] == "lost");
    }
    SECTION("by tiers of partitions")
    {
        body["cluster"]["qos"] = json::array();
        body["cluster"]["partitions"] = json::parse(R"([{"id": "p", "default": true},
                            {"id": "q", "priority_tier": 5}])");
        for (json &job : body["jobs"])
            job.erase("qos_id");
        body["jobs"][2]["partition_ids"] = {"q"};
        body["cluster"]["policy_settings"]["preempt_type"] = "partition_prio";
        r = play(a, body);
        CHECK(at(0, 2)["start_s"] == 150);
        CHECK(at(0, 1)["preemptions"] == 1);
    }
    SECTION("what has no meaning here is refused, or said")
    {
        body["cluster"]["policy_settings"]["kill_wait_s"] = 5;
        body["cluster"]["policy_settings"]["priority"] = {{"calc_period_s", 60}};
        body["cluster"]["qos"][0]["grace_s"] = 60;
        body["cluster"]["policy_settings"]["priority"]["weight_assoc"] = 5;
        r = play(a, body);
        CHECK(warns(r, "without_effect"));
        CHECK(r["warnings"].dump().find("first weight_assoc: associations have no") !=
              std::string::npos);
        CHECK(r["warnings"].dump().find("kill_wait_s") != std::string::npos);
        json other = body;
        other["compare"] = {{{"queue", {{"algorithm", "easy"}}}}};
        other["cluster"]["qos"] = json::array();
        for (json &job : other["jobs"])
            job.erase("qos_id");
        CHECK(play(a, other)["warnings"].dump().find(
                  "without_effect: 4 settings, first /cluster/policy_settings/") !=
              std::string::npos);
        CHECK(r["warnings"].dump().find("grace_s") != std::string::npos);
        body["cluster"]["policy_settings"]["select"] = "whole_nodes";
        body["cluster"]["policy_settings"]["priority"] = {{"weight_partition", 1}};
        body["cleanup_s"] = 5;
        std::vector<std::string> found = refused(a, body);
        CHECK(std::count(found.begin(), found.end(), "/cleanup_s") > 0);
        body.erase("cleanup_s");
        found = refused(a, body);
        CHECK(found == std::vector<std::string>{
                           "/cluster/policy_settings/select",
                           "/cluster/policy_settings/priority/weight_partition"});
        body["compare"][0]["queue"]["options"]["preempt_type"] = "all";
        CHECK(refused(a, body)[0] == "/compare/0/queue/options/preempt_type");
    }
}

TEST_CASE("priorities are reckoned from weights, use is forgotten",
          "[simulation_cluster][api]")
{
    api a;
    // One node, taken until 100; of those that wait the priority decides.
    json body = json::parse(R"({"kind": "cluster", "stop": {"when_done": true},
        "cluster": {"resources": [{"id": "n"}],
            "qos": [{"id": "low", "priority": 1}, {"id": "high", "priority": 10}],
            "accounts": [{"id": "a"}, {"id": "ua", "parent_id": "a", "user_id": "ann"},
                         {"id": "b"}, {"id": "ub", "parent_id": "b", "user_id": "bob"}],
            "policy_settings": {"priority": {"weight_qos": 1000}}},
        "jobs": [{"id": "first", "user": "ann", "account_id": "a",
                  "execution_time_s": 100},
                 {"id": "A", "user": "ann", "account_id": "a", "qos_id": "low",
                  "arrival_s": 1, "execution_time_s": 50},
                 {"id": "B", "user": "bob", "account_id": "b", "qos_id": "high",
                  "arrival_s": 2, "execution_time_s": 50}],
        "compare": [{"queue": {"algorithm": "slurm_backfill"}},
                    {"label": "other"}],
        "output": {"per_job": true}})");
    auto start = [&](size_t job, size_t label = 0) {
        return play(a, body)["results"][label]["jobs"][job]["start_s"].get<double>();
    };
    json &priority = body["cluster"]["policy_settings"]["priority"];

    CHECK(start(2) == 100); // the better quality of service
    CHECK(start(2, 1) == 150);
    CHECK(warns(play(a, body), "limits_unused"));
    priority = json::object(); // without weights who came first
    CHECK(start(1) == 100);
    priority = {{"weight_age", 1000}, {"max_age_s", 1000}};
    CHECK(start(1) == 100);
    body["jobs"][2]["priority"] = 1e6; // what is given goes before
    CHECK(start(2) == 100);
    body["jobs"][2].erase("priority");
    body["jobs"][1]["begin_s"] = 50; // younger, as it was not eligible
    CHECK(start(2) == 100);
    priority["accrue_always"] = true;
    CHECK(start(1) == 100);
    body["jobs"][1].erase("begin_s");

    // ann has used the node until now
    for (const char *how : {"fair_tree", "classic"}) {
        priority = {{"weight_fair_share", 1000}, {"fair_share", how}};
        CHECK(start(2) == 100);
        // unless that use counts nothing
        body["cluster"]["qos"].push_back({{"id", "free"}, {"usage_factor", 0}});
        body["jobs"][0]["qos_id"] = "free";
        CHECK(start(1) == 100);
        body["jobs"][0].erase("qos_id");
        body["cluster"]["qos"].erase(2);
    }
    // but bob much more before
    body["cluster"]["accounts"][3]["usage_s"] = 100000;
    CHECK(start(1) == 100);
    // which is soon forgotten
    priority["decay_half_life_s"] = 5;
    CHECK(start(2) == 100);
    priority["decay_half_life_s"] = 0;
    CHECK(start(1) == 100);
    // sizes and amounts, without accounts
    body["cluster"].erase("accounts");
    body["cluster"].erase("qos");
    for (json &job : body["jobs"]) {
        job.erase("account_id");
        job.erase("qos_id");
    }
    body["cluster"]["resources"][0]["cpus"] = 4;
    body["jobs"][0]["cpus"] = body["jobs"][2]["cpus"] = 4;
    body["jobs"][1]["cpus"] = 3;
    priority = {{"weight_tres", {{"cpus", 1000}}}};
    CHECK(start(2) == 100);
    priority = {{"weight_job_size", 1000}};
    CHECK(start(2) == 100);
    priority["favor_small"] = true;
    CHECK(start(1) == 100);
}

TEST_CASE("jobs that nothing starts any more end a run, and are told",
          "[simulation_cluster][api]")
{
    api a;
    json body = json::parse(R"({
        "kind": "cluster",
        "cluster": {"resources": [{"id": "n", "outages": [{"down_s": 50}]}]},
        "jobs": [{"id": "A", "execution_time_s": 100, "time_limit_s": 500}],
        "compare": [{"label": "x"}], "output": {"per_job": true}})");
    json r = play(a, body);

    CHECK(r["results"][0]["jobs"][0]["state"] == "waiting");
    CHECK(mean_of(r, 0, "duration_s") == 50); // not the end that A would have had
    CHECK(mean_of(r, 0, "node_seconds_lost") == 50);
    CHECK(mean_of(r, 0, "node_seconds_down") == 0);
    CHECK(mean_of(r, 0, "utilisation_ratio") == 1);
    REQUIRE(r["warnings"].size() == 1);
    CHECK(r["warnings"][0].get<std::string>().find(
              "stop_unreachable: 1 run ended with jobs_unfinished") == 0);
    body["stop"] = {{"time_s", 80}};
    r = play(a, body);
    CHECK(mean_of(r, 0, "duration_s") == 80);
    CHECK(mean_of(r, 0, "node_seconds_down") == 30);
    CHECK(r["warnings"].empty());
}

TEST_CASE("the time of very large nodes adds up", "[simulation_cluster][api]")
{
    api a;
    json body = json::parse(R"({
        "kind": "cluster",
        "cluster": {"resources": [{"id": "n", "number": 2, "cpus": 1e9}]},
        "jobs": [{"execution_time_s": 1e9, "cpus": 1e9},
                 {"execution_time_s": 1e9, "cpus": 0.5e9, "spare_nodes": 0},
                 {"execution_time_s": 1e9, "cpus": 0.5e9, "time_limit_s": 5e8}],
        "compare": [{"label": "x"}]})");
    json r = play(a, body);

    CHECK(mean_of(r, 0, "duration_s") == 1e9);
    CHECK(mean_of(r, 0, "node_seconds_useful") == 1.5e9);
    CHECK(mean_of(r, 0, "node_seconds_lost") == 0.25e9);
    CHECK(mean_of(r, 0, "node_seconds_idle") == 0.25e9);
}

TEST_CASE("a confidence that runs_max does not reach is told",
          "[simulation_cluster][api]")
{
    api a;
    json body = json::parse(R"({
        "kind": "cluster", "runs": 2,
        "cluster": {"resources": [{"id": "n",
            "failure": {"distribution": "exponential", "mean": 500}, "restore": 50}]},
        "jobs": [{"execution_time_s": 1000}], "compare": [{"label": "x"}],
        "confidence": {"metric": "job_turnaround_s", "half_width_ratio": 1e-6,
                       "runs_max": 4}})");
    json r = play(a, body);

    CHECK(r["runs_done"] == 4);
    REQUIRE(r["warnings"].size() == 1);
    CHECK(r["warnings"][0].get<std::string>().find(
              "confidence_missed: after 4 runs, /confidence/runs_max, job_turnaround_s "
              "is not known to 1e-06 ") == 0);
    body["confidence"]["metric"] = "jobs_done"; // 1 in each run
    r = play(a, body);
    CHECK(r["runs_done"] == 2);
    CHECK(r["warnings"].empty());
}

TEST_CASE("times of less than a millisecond are said to be rounded", "[simulation][api]")
{
    api a;
    json body = example19();

    CHECK_FALSE(warns(play(a, body), "rounded"));
    body["jobs"][0]["restart_s"] = 0.0004;
    body["jobs"][1]["execution_time_s"] = 0.0006;
    json answer = play(a, body);
    REQUIRE(warns(answer, "rounded"));
    std::string text;
    for (const std::string w : answer["warnings"])
        if (w.rfind("rounded:", 0) == 0)
            text = w;
    CHECK(text.find("2 times of less than a millisecond are counted") !=
          std::string::npos);
    CHECK(text.find("first /jobs/0/restart_s") != std::string::npos);
    body["jobs"][0]["restart_s"] = 0.001;
    body["jobs"][1]["execution_time_s"] = 0;
    CHECK_FALSE(warns(play(a, body), "rounded"));
}
