// reschedule_jobs_property_test.cpp - what holds of every round of migration/gridway, bad
// input, and very many jobs.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <set>

extern "C" {
#include "algorithms/migration/gridway.h"
}

using nlohmann::json;

namespace
{

struct dice {
    ::rng r;
    explicit dice(uint64_t seed) : r(rng_stream(seed, "reschedule_jobs"))
    {
    }
    size_t below(size_t n)
    {
        return static_cast<size_t>(rng_uniform(&r) * static_cast<double>(n));
    }
    double number(double low, double high)
    {
        return low + (high - low) * rng_uniform(&r);
    }
    bool chance(double p)
    {
        return rng_uniform(&r) < p;
    }
};

const char *const sites[] = {"A", "B", "C"};

json random_snapshot(dice &d)
{
    json resources = json::array();
    for (size_t i = 0, n = 2 + d.below(12); i < n; i++) {
        size_t slots = 1 + d.below(4), busy = d.below(slots + 1);
        resources.push_back({{"id", "r" + std::to_string(i)},
                             {"site_id", sites[d.below(3)]},
                             {"mips_total", d.number(0.5, 4)},
                             {"n_max", slots},
                             {"job_count", busy},
                             {"failed", d.chance(0.15)},
                             {"attributes", {{"score", d.below(5)}}}});
        if (d.chance(0.5))
            resources.back()["free_at_s"] = std::vector<double>(busy, d.number(0, 100));
    }
    json s = {{"resources", resources},
              {"home_site_id", "A"},
              {"files",
               {{{"id", "f"}, {"bytes", 1e7}, {"shared", true}, {"site_ids", {"A"}}},
                {{"id", "g"}, {"bytes", 5e6}, {"site_ids", {"B"}}}}}};
    s["network"] = {
        {"routes",
         {{{"from_site_id", "A"}, {"to_site_id", "B"}, {"bandwidth_mbps", 8}}}}};
    if (d.chance(0.6))
        s["network"]["wan_mbps"] = 40;
    return s;
}

json random_job(dice &d, const json &snapshot, size_t i)
{
    static const char *const stages[] = {"submission", "prolog", "wrapper", "epilog"};
    static const char *const kinds[] = {"staging", "connection", "credential_expired",
                                        "job_manager_silent"};
    size_t count = snapshot["resources"].size();
    double estimate = d.number(10, 5000), done = estimate * d.number(0, 1);
    json j = {{"id", "j" + std::to_string(i)},
              {"resource_id", "r" + std::to_string(d.below(count))},
              {"user", d.chance(0.5) ? "u" : "v"},
              {"work_done_ref_s", done},
              {"estimate_ref_s", estimate},
              {"event", reschedule_event_names[d.below(EVENT_NONE + 1)]},
              {"history", {"r" + std::to_string(d.below(count))}}};
    if (d.chance(0.7))
        j["restart"] = {{"work_done_ref_s", done * d.number(0, 1)}, {"bytes", 1e6}};
    if (d.chance(0.3) && j.contains("restart"))
        j["restart"]["site_id"] = sites[d.below(3)];
    if (d.chance(0.3))
        j["input_file_ids"] = {d.chance(0.5) ? "f" : "g"};
    if (d.chance(0.2))
        j["queued_output_bytes"] = 1e6;
    if (d.chance(0.2))
        j["rank"] = "score";
    if (d.chance(0.2))
        j["requirement"] = d.chance(0.5) ? "score > 1" : "execution_s < 500";
    if (d.chance(0.2))
        j["failure"] = {{"stage", stages[d.below(4)]},
                        {"kind", kinds[d.below(4)]},
                        {"failed_attempts", 1 + d.below(3)},
                        {"gatekeeper_answers", d.chance(0.5)}};
    if (d.chance(0.2)) {
        j["contract"] = {{"expected_per_s", 1}, {"window", 1}};
        j["samples"] = {{{"t_s", 0}, {"value", 0}},
                        {{"t_s", 10}, {"value", d.number(0, 15)}}};
    }
    return j;
}

json random_body(dice &d)
{
    json snapshot = random_snapshot(d), jobs = json::array(), pending = json::array();
    for (size_t i = 0, n = d.below(20); i < n; i++)
        jobs.push_back(random_job(d, snapshot, i));
    for (size_t i = 0, n = d.below(4); i < n; i++)
        pending.push_back(
            {{"id", "p" + std::to_string(i)}, {"estimate_ref_s", d.number(1, 100)}});
    json options = json::object();
    if (d.chance(0.3))
        options["max_moves"] = d.below(4);
    if (d.chance(0.3))
        options["max_bytes_moved"] = d.number(0, 2e7);
    if (d.chance(0.3))
        options["limits"] = d.chance(0.5) ? "gridway5" : "gridway5_flood";
    if (d.chance(0.2))
        options["resource_order"] = "gridway_priority";
    if (d.chance(0.2))
        options["job_order"] = "gridway_priority";
    if (d.chance(0.2))
        options["hold_back"] = true;
    if (d.chance(0.2))
        options["file_scope"] = "resource";
    return {{"snapshot", snapshot},
            {"jobs", jobs},
            {"pending", pending},
            {"options", options},
            {"algorithm", "gridway"}};
}

json timeless(json answer)
{
    answer.erase("decision_id");
    answer.erase("timings");
    return answer;
}

json answered(api &service, const json &body, const char *path = "/v1/reschedules")
{
    api_reply r = service.post(path, body.dump());
    INFO(body.dump());
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == 200);
    return r.json();
}

const json &resource_of(const json &body, const std::string &id)
{
    for (const json &r : body["snapshot"]["resources"])
        if (r["id"] == id)
            return r;
    FAIL("no resource " << id);
    return body;
}

void check_slots(const json &body, const json &out, double wait_s)
{
    std::map<std::string, size_t> taken;
    for (const json &p : out["placements"])
        taken[p["resource_id"]]++;
    for (const json &v : out["jobs"])
        if (!v["resource_id"].is_null())
            taken[v["resource_id"]]++;
    for (const auto &[id, count] : taken) {
        const json &r = resource_of(body, id);
        size_t slots = r["n_max"].get<size_t>();
        INFO(id);
        CHECK(r["failed"] == false);
        CHECK(count <= (wait_s > 0 ? slots : slots - r["job_count"].get<size_t>()));
    }
}

void check_verdict(const json &body, const json &job, const json &v)
{
    const std::string action = v["action"];
    bool moves = action == "migrate" || action == "reschedule";
    uint64_t counted = moves;

    INFO(v.dump());
    CHECK(v["job_id"] == job["id"]);
    CHECK(moves == !v["resource_id"].is_null());
    CHECK(v["resource_id"] != job["resource_id"]);
    if (v["event"] == "resource_failed" || v["event"] == "cancelled_by_owner")
        CHECK((moves || action == "requeue"));
    for (const json &c : v["candidates"])
        counted += c["resource_count"].get<uint64_t>();
    if (!v["candidates"].empty())
        CHECK(counted == body["snapshot"]["resources"].size());
    if (!moves)
        return;
    CHECK(v["steps"].size() >= 2);
    CHECK(v["start_s"] >= 0);
    if (!v["move_s"].is_null())
        CHECK(v["move_s"].get<double>() >= v["move_bound_s"].get<double>() * (1 - 1e-12));
    if (v["forced"] == false)
        CHECK(v["gain_s"].get<double>() > 0.1 * v["stay_s"].get<double>());
}

// A grid and jobs as plain data.
struct many {
    std::vector<std::string> names;
    std::vector<resource> hosts;
    std::vector<reschedule_job> jobs;
    ::budget limits{};
    snapshot snap{};
    gridway_in in{};

    many(size_t host_count, size_t job_count)
    {
        names.resize(host_count + job_count);
        snap.taken_at_s = snap.list_observed_at_s = NAN;
        snap.network.wan_mbps = 100;
        snap.network.wan_latency_s = NAN;
        snap.network.lan_mbps = snap.network.lan_latency_s = NAN;
        for (size_t i = 0; i < host_count; i++) {
            resource r{};
            names[i] = "r" + std::to_string(i);
            r.id = names[i].c_str();
            r.mips_total = 1 + static_cast<double>(i % 7);
            r.cpu_available_ratio = 1;
            r.n_max = 100;
            r.job_count = i % 2 ? 100 : 50;
            r.cpus = r.memory_bytes = r.observed_at_s = NAN;
            r.fixed_priority = 1;
            hosts.push_back(r);
        }
        for (size_t i = 0; i < job_count; i++) {
            reschedule_job j{};
            names[host_count + i] = "j" + std::to_string(i);
            j.job.id = names[host_count + i].c_str();
            j.job.estimate_ref_s = 1000 + static_cast<double>(i % 100);
            j.job.cpus = 1;
            j.job.deadline_s = j.job.queued_at_s = j.job.deadline_at_s = NAN;
            j.job.task_index = j.job.param_start = j.job.param_increment = NAN;
            j.resource_id = hosts[i % host_count].id;
            j.work_done_ref_s = static_cast<double>(i % 900);
            j.event = static_cast<int>(i % (EVENT_NONE + 1));
            j.job_cpu_ratio = j.idle_cpu_ratio = j.elapsed_s = j.last_moved_s_ago = NAN;
            jobs.push_back(j);
        }
        snap.resources = hosts.data();
        snap.resource_count = host_count;
        in.round.snapshot = &snap;
        in.round.budget = &limits;
        in.jobs = jobs.data();
        in.job_count = job_count;
    }
};

} // namespace

TEST_CASE("what holds of every round of running jobs", "[property][reschedule_jobs]")
{
    api service;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        dice d(seed);
        json body = random_body(d);
        json out = answered(service, body);
        INFO("seed " << seed);
        REQUIRE(out["jobs"].size() == body["jobs"].size());
        CHECK(out["placements"].size() + out["unplaced"].size() ==
              body["pending"].size());
        check_slots(body, out, 0);
        for (size_t i = 0; i < body["jobs"].size(); i++)
            check_verdict(body, body["jobs"][i], out["jobs"][i]);
        double moves = body["options"].value("max_moves", 0.0);
        double bytes = body["options"].value("max_bytes_moved", 0.0);
        if (moves > 0)
            CHECK(out["objective"]["moved_count"] <= moves);
        if (bytes > 0)
            CHECK(out["objective"]["bytes_moved"] <= bytes);
        if (!out["objective"]["gain_bound_s"].is_null())
            CHECK(out["objective"]["gain_s"].get<double>() <=
                  out["objective"]["gain_bound_s"].get<double>() * (1 + 1e-9));
        CHECK(timeless(answered(service, body)) == timeless(out));
    }
}

TEST_CASE("slots that are waited for go to one job each", "[property][reschedule_jobs]")
{
    api service;
    for (uint64_t seed = 1; seed <= 15; seed++) {
        dice d(1000 + seed);
        json body = random_body(d);
        body["options"]["max_queue_wait_s"] = 50;
        json out = answered(service, body);
        INFO("seed " << seed);
        check_slots(body, out, 50);
        for (const json &v : out["jobs"])
            if (!v["start_s"].is_null())
                CHECK(v["start_s"] <= 50);
    }
}

TEST_CASE("with thresholds beyond reach only forced jobs move",
          "[property][reschedule_jobs]")
{
    const json beyond = {{"min_gain_s", 1e308}, {"rank_threshold", 1e308}};
    api service;
    for (uint64_t seed = 1; seed <= 15; seed++) {
        dice d(2000 + seed);
        json body = random_body(d);
        for (json &job : body["jobs"]) { // a rate of 0 makes any move pay
            job.erase("contract");
            job.erase("samples");
        }
        body["options"] = beyond;
        json out = answered(service, body);
        for (const json &v : out["jobs"])
            CHECK((v["resource_id"].is_null() || v["forced"] == true));
    }
}

TEST_CASE("all mistakes about running jobs come at once", "[api][reschedule_jobs]")
{
    api service;
    auto pointers = [&](const char *jobs) {
        std::string body = std::string(R"({"algorithm":"gridway","snapshot":{"resources":[
            {"id":"a"},{"id":"b"}]},"jobs":)") +
                           jobs + "}";
        api_reply r = service.post("/v1/reschedules", body);
        INFO(r.body);
        CHECK(r.status == 422);
        auto list = r.pointers();
        return std::set<std::string>(list.begin(), list.end());
    };
    using set = std::set<std::string>;

    CHECK(pointers(R"([{"id":"j","resource_id":"nowhere"}])") ==
          set{"/jobs/0/resource_id"});
    CHECK(pointers(R"([{"id":"j"}])") == set{"/jobs/0/resource_id"});
    CHECK(pointers(R"([{"id":"j","resource_id":"a","estimate_ref_s":5,
                        "work_done_ref_s":6}])") == set{"/jobs/0/work_done_ref_s"});
    CHECK(pointers(R"([{"id":"j","resource_id":"a","work_done_ref_s":-1,"elapsed_s":-1,
                        "suspended_s":-1,"queued_output_bytes":-1,
                        "last_moved_s_ago":-1,"job_cpu_ratio":1.5,
                        "estimate_ref_s":-4}])") ==
          set{"/jobs/0/work_done_ref_s", "/jobs/0/elapsed_s", "/jobs/0/suspended_s",
              "/jobs/0/queued_output_bytes", "/jobs/0/last_moved_s_ago",
              "/jobs/0/job_cpu_ratio", "/jobs/0/estimate_ref_s"});
    CHECK(pointers(R"([{"id":"j","resource_id":"a","estimate_ref_s":9,
                        "work_done_ref_s":5,"restart":{"work_done_ref_s":6}},
                       {"id":"k","resource_id":"a","estimate_ref_s":9,
                        "work_done_ref_s":5,"restart":{"work_done_ref_s":1,
                        "site_id":"s","resource_id":"zz"}}])") ==
          set{"/jobs/0/restart/work_done_ref_s", "/jobs/1/restart/site_id",
              "/jobs/1/restart/resource_id"});
    CHECK(pointers(R"([{"id":"j","resource_id":"a","contract":{},
                        "samples":[{"t_s":5,"value":1},{"t_s":4,"value":2}]},
                       {"id":"k","resource_id":"b","contract":{"expected_per_s":1,
                        "expected_s_per_step":1}}])") ==
          set{"/jobs/0/contract/expected_per_s", "/jobs/0/samples/1/t_s",
              "/jobs/1/contract/expected_per_s"});
    CHECK(pointers(R"([{"id":"j","resource_id":"a","event":"nothing",
                        "failure":{"kind":"ended"}}])") ==
          set{"/jobs/0/event", "/jobs/0/failure/stage"});
    CHECK(pointers(R"([{"id":"j","resource_id":"a","events":["user_requestet"],
                        "failure":{"stage":"prolog","kind":"ended"}}])") ==
          set{"/jobs/0/events/0", "/jobs/0/failure/stage"});
    CHECK(pointers(R"([{"id":"j","resource_id":"a","failure":{"stage":"prolog",
                        "failed_attempts":0}}])") ==
          set{"/jobs/0/failure/failed_attempts"});
    CHECK(pointers(R"([{"id":"j","resource_id":"a","etc_s":[1,2],
                        "work_done_ref_s":1}])") == set{"/jobs/0/estimate_ref_s"});
}

TEST_CASE("mistakes of pending and running jobs have their own pointers",
          "[api][reschedule_jobs]")
{
    api service;
    json body = {{"algorithm", "gridway"},
                 {"snapshot", {{"resources", {{{"id", "a"}}, {{"id", "b"}}}}}},
                 {"jobs",
                  {{{"id", "j"}, {"resource_id", "a"}, {"requirement", "1 <"}},
                   {{"id", "k"}, {"resource_id", "x"}, {"rank", ")"}}}},
                 {"pending",
                  {{{"id", "p"}, {"input_file_ids", {"f"}}},
                   {{"id", "q"}, {"requirement", "((("}}}}};
    auto list = service.post("/v1/reschedules", body.dump()).pointers();
    CHECK(std::set<std::string>(list.begin(), list.end()) ==
          std::set<std::string>{"/jobs/0/requirement", "/jobs/1/resource_id",
                                "/jobs/1/rank", "/pending/0/input_file_ids/0",
                                "/pending/1/requirement"});

    body["jobs"] = {{{"id", "p"}, {"resource_id", "a"}}};
    body["pending"] = {{{"id", "p"}}};
    CHECK(service.post("/v1/reschedules", body.dump()).pointers() ==
          std::vector<std::string>{"/jobs/0/id"});

    body["pending"] = json::array();
    body["options"] = {{"max_moves", -1}, {"min_gain", 1}, {"on_failure", "cry"}};
    CHECK(service.post("/v1/reschedules", body.dump()).pointers() ==
          std::vector<std::string>{"/options/max_moves", "/options/min_gain",
                                   "/options/on_failure"});
    body.erase("options");
    body.erase("snapshot");
    CHECK(service.post("/v1/reschedules", body.dump()).pointers() ==
          std::vector<std::string>{"/snapshot"});
}

TEST_CASE("extreme numbers give numbers or null", "[api][reschedule_jobs]")
{
    api service;
    for (double big : {0.0, 1e-300, 1e100, 1e300}) {
        json body = {{"algorithm", "gridway"},
                     {"snapshot",
                      {{"resources",
                        {{{"id", "a"}, {"mips_total", big}},
                         {{"id", "b"}, {"mips_total", 1e-300}},
                         {{"id", "c"}, {"mips_total", 1e300}}}},
                       {"network", {{"wan_mbps", 1e-300}}}}},
                     {"jobs", json::array()}};
        for (size_t i = 0; i <= EVENT_NONE; i++)
            body["jobs"].push_back(
                {{"id", std::to_string(i)},
                 {"resource_id", i % 2 ? "a" : "b"},
                 {"estimate_ref_s", big},
                 {"work_done_ref_s", big / 2},
                 {"restart", {{"work_done_ref_s", 0}, {"bytes", 1e90}}},
                 {"event", reschedule_event_names[i]},
                 {"job_cpu_ratio", 0},
                 {"idle_cpu_ratio", 0}});
        json out = answered(service, body);
        for (const json &v : out["jobs"])
            for (const char *name : {"stay_s", "move_s", "gain_s", "rank_new"})
                CHECK((v[name].is_null() || std::isfinite(v[name].get<double>())));
    }
}

TEST_CASE("a hundred thousand running jobs are one round", "[reschedule_jobs]")
{
    many m(40, 100000);
    test_arena a(size_t{1} << 31);
    error err = collecting_error(a);
    gridway_out out{};
    REQUIRE(migration_gridway(&m.in, nullptr, 0, &out, a, &err) == OK);
    REQUIRE(out.job_count == 100000);
    // Twenty hosts have 50 free slots.
    CHECK(out.objective.moved_count == 1000);
    CHECK(out.status == DECISION_FEASIBLE);
    size_t kept = 0;
    for (size_t i = 0; i < out.job_count; i++)
        kept += out.jobs[i].reason == REASON_NO_EVENT;
    CHECK(kept == 100000 / (EVENT_NONE + 1));
}

TEST_CASE("running jobs bear any cap of memory and an expired clock",
          "[memory][reschedule_jobs]")
{
    dice d(7);
    json body = random_body(d);
    while (body["jobs"].size() < 8 || body["pending"].empty())
        body = random_body(d);
    api service;
    bool done = false;
    for (size_t cap = 1000; !done && cap < size_t{1} << 26; cap += cap / 12) {
        api_reply r = service.call("POST", "/v1/reschedules", body.dump(), {}, cap);
        done = r.status == 200;
        CHECK((done || r.status == 413 || r.status == 503));
    }
    CHECK(done);

    many m(20, 2000);
    test_arena a;
    error err = collecting_error(a);
    gridway_out out{};
    m.limits.used = [](void *) { return 2.0; };
    REQUIRE(migration_gridway(&m.in, nullptr, 0, &out, a, &err) == OK);
    CHECK(out.job_count == 2000);
}

TEST_CASE("a stored decision on running jobs is replayed", "[api][db][reschedule_jobs]")
{
    NEED_DATABASE();
    api service(test_database_url());
    dice d(11);
    json body = random_body(d);
    body["store"] = true;
    json made = answered(service, body);
    json again = answered(
        service, json::object(),
        ("/v1/decisions/" + made["decision_id"].get<std::string>() + "/replay").c_str());
    CHECK(again["identical"] == true);
    CHECK(again["answer"]["jobs"] == made["jobs"]);
}
