// simulations_width_test.cpp - POST /v1/simulations never runs a job narrower than it is.
#include "tests/members_support.hpp"

#include <map>

using members::answer;
using members::with;
using nlohmann::json;

namespace
{

// The smallest request of a kind, and where its job is.
struct of_kind {
    const char *kind, *job;
    json body;
};

const std::vector<of_kind> kinds = {
    {"grid",
     "/workload/jobs/0",
     {{"runs", 1},
      {"stop", {{"time_s", 100}}},
      {"sites",
       {{{"id", "s"}, {"resources", {{{"id", "r"}, {"mips_total", 1}, {"n_max", 2}}}}}}},
      {"workload", {{"jobs", {{{"id", "a"}, {"length_mi", 10}}}}}},
      {"compare", {{{"algorithm", "fjbcr"}}}}}},
    {"queue",
     "/jobs/0",
     {{"kind", "queue"},
      {"processors", 4},
      {"policies", {"fcfs"}},
      {"jobs", {{{"id", "a"}, {"run_time_s", 10}}}}}},
    {"coallocation",
     "/jobs/0",
     {{"kind", "coallocation"},
      {"runs", 1},
      {"grid", {{"sites", {{{"id", "s"}, {"processors_total", 4}}}}}},
      {"jobs",
       {{{"id", "a"}, {"run_time_s", 10}, {"components", {{{"processors", 2}}}}}}}}},
    {"workflow",
     "/workflows/0/tasks/0",
     {{"kind", "workflow"},
      {"runs", 1},
      {"grid", {{"resources", {{{"id", "r"}, {"mips_total", 1}}}}}},
      {"workflows",
       {{{"id", "w"}, {"tasks", {{{"id", "a"}, {"estimate_ref_s", 10}}}}}}}}},
};

} // namespace

TEST_CASE("a job that takes more than a kind can play is refused, with what to say",
          "[simulations][api]")
{
    struct {
        const char *member;
        json value;
        std::map<std::string, std::string> meant; // by kind
    } rows[] = {
        {"nodes", 2, {{"queue", "conflict"}, {"workflow", "not_allowed"}}},
        {"exclusive", true, {{"queue", "conflict"}, {"workflow", "not_allowed"}}},
        {"memory_bytes", 8e9, {{"queue", "conflict"}, {"workflow", "not_allowed"}}},
        {"needs", {{"gpus", 1}}, {{"queue", "conflict"}, {"workflow", "not_allowed"}}},
        {"disk_bytes", 1, {{"workflow", "not_allowed"}}},
        {"requirement", "n_max > 1", {{"workflow", "not_allowed"}}},
        {"cpus",
         2,
         {{"queue", "conflict"}, {"grid", "not_allowed"}, {"workflow", "not_allowed"}}},
        {"cores", 2, {{"queue", "cpus"}, {"grid", "cpus"}, {"workflow", "cpus"}}},
        {"ntasks", 2, {{"queue", "cpus"}, {"grid", "cpus"}, {"workflow", "cpus"}}},
    };
    api a;

    for (const of_kind &k : kinds) {
        INFO(k.kind);
        REQUIRE(a.post("/v1/simulations", k.body.dump()).status == 200);
        for (auto &row : rows) {
            const std::string at = std::string(k.job) + "/" + row.member;
            api_reply r = a.post("/v1/simulations", with(k.body, at, row.value).dump());
            INFO(at << " " << r.body);
            REQUIRE(r.status == 422);
            CHECK(r.pointers() == std::vector<std::string>{at});
            const json mistake = r.json()["errors"][0];
            const std::string meant = row.meant.count(k.kind) ? row.meant[k.kind] : "";
            if (meant == "not_allowed" || meant == "conflict") { // a cluster's job
                CHECK(mistake["code"] == meant);
                continue;
            }
            CHECK(mistake["code"] == "unknown_member");
            if (meant.empty())
                CHECK(mistake["hint"].get<std::string>().rfind("known here: ", 0) == 0);
            else
                CHECK(mistake["hint"] == "did you mean '" + meant + "'?");
        }
    }
}

TEST_CASE("a job wider than all there is never runs, and is counted",
          "[simulations][api]")
{
    json queue = answer("/v1/simulations", with(kinds[1].body, "/jobs/0/processors", 5));
    CHECK(queue["never_fits"][0]["job_id"] == "a");
    CHECK(queue["results"][0]["job_count"] == 0);

    const std::string place = "/jobs/0/components/0/processors";
    for (int processors : {4, 5}) {
        json j = answer("/v1/simulations", with(kinds[2].body, place, processors));
        INFO(j.dump());
        for (const json &result : j["results"]) {
            const json &figures = result["figures"];
            CHECK(figures["never_fit_count"]["mean"] == (processors > 4 ? 1 : 0));
            CHECK(figures["finished_count"]["mean"] == (processors > 4 ? 0 : 1));
        }
    }
}
