// unused_members_test.cpp - what a request carries and its policy does not look at is
// said.
#include "tests/database.hpp"
#include "tests/members_support.hpp"

using members::answer;
using members::with;
using nlohmann::json;

namespace
{

using texts = std::vector<std::string>;

const std::string counts = "/v1/replica-counts", plans = "/v1/fault-tolerance-plans";

texts ignored(const json &answer)
{
    texts list;

    for (const json &warning : answer["warnings"])
        if (warning.get<std::string>().rfind("ignored: ", 0) == 0)
            list.push_back(warning.get<std::string>().substr(9));
    return list;
}

json round(const std::string &algorithm)
{
    return {{"algorithm", algorithm},
            {"snapshot", {{"resources", {{{"id", "r"}, {"n_max", 4}}}}}},
            {"jobs",
             {{{"id", "a"}, {"length_mi", 100}},
              {{"id", "b"},
               {"length_mi", 100},
               {"replicas", {{{"id", "x"}, {"resource_id", "r"}}}}}}}};
}

struct unused {
    std::string place;
    json value;
    std::string warning;
};

const std::vector<unused> job_members = {
    {"/jobs/1/has_checkpoint", true,
     "has_checkpoint of 1 job (first /jobs/1/has_checkpoint): copies begin anew"},
    {"/jobs/1/checkpointing", true,
     "checkpointing of 1 job (first /jobs/1/checkpointing): the policy leaves "
     "checkpoints alone"},
    {"/jobs/1/replicas_started", 3,
     "replicas_started of 1 job (first /jobs/1/replicas_started): it counts with the "
     "option max_restarts"},
    {"/jobs/1/checkpoint_overhead_s", 5,
     "checkpoint_overhead_s of 1 job (first /jobs/1/checkpoint_overhead_s): what a "
     "checkpoint costs is not weighed"},
    {"/jobs/1/restart_s", 5,
     "restart_s of 1 job (first /jobs/1/restart_s): what a failure costs is not weighed"},
    {"/jobs/1/restart_from_scratch_s", 5,
     "restart_from_scratch_s of 1 job (first /jobs/1/restart_from_scratch_s): what a "
     "failure costs is not weighed"},
    {"/jobs/1/reschedule_delay_s", 5,
     "reschedule_delay_s of 1 job (first /jobs/1/reschedule_delay_s): what a failure "
     "costs is not weighed"},
    {"/jobs/1/resource_ids",
     {"r"},
     "resource_ids of 1 job (first /jobs/1/resource_ids): where copies are is what "
     "replicas say"},
    {"/jobs/1/pool_resource_ids",
     {"r"},
     "pool_resource_ids of 1 job (first /jobs/1/pool_resource_ids): copies go where the "
     "algorithm puts them"},
    {"/jobs/1/deadline_s", 5,
     "deadline_s of 1 job (first /jobs/1/deadline_s): when jobs should be done does not "
     "count"},
    {"/jobs/1/replacement", "any",
     "replacement of 1 job (first /jobs/1/replacement): what a failure costs is not "
     "weighed"},
    {"/jobs/1/mttr_s", 5,
     "mttr_s of 1 job (first /jobs/1/mttr_s): what a failure costs is not weighed"},
    {"/jobs/1/replicas/0/completed_mi", 5,
     "replicas/*/completed_mi of 1 job (first /jobs/1/replicas/*/completed_mi): how far "
     "a "
     "copy is does not count"},
};

} // namespace

TEST_CASE("replica counts say which members they do not look at", "[api][replication]")
{
    const json quiet = round("failure_dependent");

    CHECK(ignored(answer(counts, quiet)).empty());
    for (const unused &u : job_members) {
        INFO(u.place);
        CHECK(ignored(answer(counts, with(quiet, u.place, u.value))) == texts{u.warning});
        CHECK(ignored(answer(plans, with(round("expected_time"), u.place, u.value)))
                  .size() == (u.place == "/jobs/1/replicas_started"));
    }
    json both = with(with(quiet, "/jobs/0/restart_s", 1), "/jobs/1/restart_s", 1);
    CHECK(ignored(answer(counts, both)) ==
          texts{"restart_s of 2 jobs (first /jobs/0/restart_s): what a failure costs is "
                "not weighed"});
    // Looked at by other policies, and with other options.
    CHECK(ignored(answer(counts, with(round("fcfs"), "/jobs/1/replicas_started", 3)))
              .empty());
    json limited = with(quiet, "/options/max_restarts", 2);
    CHECK(ignored(answer(counts, with(limited, "/jobs/1/replicas_started", 3))).empty());
    CHECK(
        ignored(answer(counts, with(quiet, "/jobs/1/replicas/0/boot_id", "7"))).empty());
    json polled = with(quiet, "/options/detection", "poll");
    CHECK(ignored(answer(counts, with(polled, "/jobs/1/replicas/0/boot_id", "7"))) ==
          texts{"replicas/*/boot_id of 1 job (first /jobs/1/replicas/*/boot_id): outages "
                "are not detected by it"});
    CHECK(ignored(answer(counts, with(round("target_success"),
                                      "/jobs/1/replicas/0/completed_mi", 5)))
              .empty());
}

TEST_CASE("plans weigh costs that go with checkpoints", "[api][fault_tolerance]")
{
    json plain = with(round("migration"), "/jobs/1/checkpoint_overhead_s", 5);

    CHECK(ignored(answer(plans, plain)).size() == 1);
    CHECK(ignored(answer(plans, with(plain, "/checkpoint", {{"algorithm", "young"}})))
              .empty());
}

TEST_CASE("rounds say which members of resources they do not look at",
          "[api][replication]")
{
    json body = round("failure_dependent");
    json &r = body["snapshot"]["resources"][0];

    r["ready_s"] = 100;
    r["job_count"] = 1;
    r["free_at_s"] = {50};
    r["allowed"] = {"user:me"};
    r["failure_count"] = 3;
    body["now_s"] = 1000;
    const std::string at = "of 1 resource (first /snapshot/resources/0/";
    const std::string now = "a round starts copies now, on what is free now";
    CHECK(ignored(answer(counts, body)) ==
          texts{"failure_count " + at +
                    "failure_count): how resources fail is not looked at",
                "ready_s " + at + "ready_s): " + now,
                "free_at_s " + at + "free_at_s): " + now,
                "allowed " + at + "allowed): jobs of a round have no users",
                "/now_s: how resources fail is not looked at"});
    body["algorithm"] = "target_success";
    CHECK(ignored(answer(counts, body)).size() == 3);
}

TEST_CASE("a round keeps to the time limit", "[api][fault_tolerance]")
{
    json body = round("expected_time");

    for (size_t i = 0; i < 3000; i++)
        body["jobs"].push_back(
            {{"id", "j" + std::to_string(i)}, {"length_mi", 1000 + 7 * i}});
    for (size_t i = 0; i < 400; i++)
        body["snapshot"]["resources"].push_back({{"id", "h" + std::to_string(i)},
                                                 {"n_max", 8},
                                                 {"observed_since_s", 0},
                                                 {"failure_count", 5 + i % 3},
                                                 {"up_since_s", 1000}});
    body["now_s"] = 100000;
    body["time_limit_s"] = 1e-4;
    CHECK(answer(plans, body)["status"] == "cut");
}

TEST_CASE("experiment plans say what they do not look at", "[api][models]")
{
    const std::string path = "/v1/experiment-plans";
    json first = {{"min_problem_size", 500}, {"max_problem_size", 5000}};

    CHECK(ignored(answer(path, first)).empty());
    first["want"] = 7;
    first["candidates"] = {{{"problem_size", 500}, {"processors", 2}}};
    first["cpu_available_ratio"] = 0.5;
    first["bandwidth_mbps"] = 10;
    first["time_limit_s"] = 5;
    CHECK(ignored(answer(path, first)) ==
          texts{"5 members (/want, /candidates, /cpu_available_ratio, /bandwidth_mbps, "
                "/time_limit_s): the plan of a first training, without a model, is a "
                "table"});

    json fit = answer("/v1/model-fits", members::example("model-fit-comprehensive"));
    json next = {{"model",
                  {{"kind", fit["kind"]},
                   {"settings", fit["settings"]},
                   {"packed", fit["packed"]}}},
                 {"candidates",
                  {{{"problem_size", 500}, {"processors", 2}, {"bandwidth_mbps", 10}}}}};
    CHECK(ignored(answer(path, next)).empty());
    next["size"] = "minimum";
    next["task_count"] = 9;
    next["max_processors"] = 4;
    next["min_problem_size"] = 3;
    next["bandwidth_mbps"] = 50;
    next["cpu_available_ratio"] = 0.5;
    CHECK(ignored(answer(path, next)) ==
          texts{"5 members (/size, /task_count, /min_problem_size, /max_processors, "
                "/bandwidth_mbps): runs of a model are chosen out of the candidates"});
}

TEST_CASE("fits say which settings they do not look at", "[api][models]")
{
    const std::string path = "/v1/model-fits";
    json fit = members::example("model-fit-linear");

    CHECK(ignored(answer(path, fit)).empty());
    fit["settings"]["search"] = "pruned";
    fit["settings"]["comp_degree"] = 2;
    fit["settings"]["min_input"] = 2;
    CHECK(ignored(answer(path, fit)) ==
          texts{"3 settings (/settings/search, /settings/comp_degree, "
                "/settings/min_input): a model of the kind linear does not look at them "
                "with these settings"});
    fit["settings"] = {{"profile", "thesis"}, {"robustness", {{"cusum_slack", 2}}}};
    CHECK(ignored(answer(path, fit)) ==
          texts{"1 setting (/settings/robustness): a model of the kind linear does not "
                "look at it with these settings"});
    json searched = members::example("model-fit-comprehensive");
    searched["settings"]["min_processors"] = 2;
    searched["settings"]["seed"] = 5;
    CHECK(ignored(answer(path, searched)).size() == 1);
    searched["settings"]["search"] = "pruned";
    CHECK(ignored(answer(path, searched)).empty());
}

TEST_CASE("a new model says which settings it does not look at", "[models][db]")
{
    if (!test_database_url()) {
        WARN("skipped: GRIDPLAN_TEST_DATABASE_URL is not set (tests/postgres.sh)");
        return;
    }
    api service(test_database_url());
    json body = {{"application_id", "app"},
                 {"kind", "linear"},
                 {"train", false},
                 {"settings", {{"extended_functions", true}, {"comm_degree", 1}}}};
    api_reply made = service.post("/v1/models", body.dump());

    INFO(made.body);
    REQUIRE(made.status == 201);
    CHECK(
        ignored(made.json()) ==
        texts{"2 settings (/settings/extended_functions, /settings/comm_degree): a model "
              "of the kind linear does not look at them with these settings"});
    body.erase("settings");
    CHECK_FALSE(service.post("/v1/models", body.dump()).json().contains("warnings"));
}
