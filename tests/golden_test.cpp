// golden_test.cpp - what every policy reaches on fixed instances, over the API. The list
// of policies is that of GET /v1/algorithms: a new one needs a row.
#include "tests/api.hpp"
#include "tests/golden.hpp"

#include <random>
#include <set>

using nlohmann::json;

namespace
{

// std::uniform_int_distribution differs from library to library, this does not.
struct dice {
    std::mt19937_64 bits;

    explicit dice(uint64_t seed) : bits(seed)
    {
    }
    uint64_t below(uint64_t n)
    {
        return bits() % n;
    }
    double between(double least, double greatest)
    {
        return least + (greatest - least) * (double)(bits() >> 11) * 0x1p-53;
    }
};

std::vector<std::string> policies(api &a, const std::string &family,
                                  const std::set<std::string> &except = {})
{
    std::vector<std::string> names;

    const json list = a.get("/v1/algorithms").json();
    for (const json &p : list["items"])
        if (p["family"] == family && !except.count(p["name"].get<std::string>()))
            names.push_back(p["name"].get<std::string>());
    REQUIRE_FALSE(names.empty());
    return names;
}

json answered(api &a, const std::string &path, const json &body)
{
    api_reply r = a.post(path, body.dump());

    INFO(r.body.substr(0, 500));
    REQUIRE(r.status == 200);
    return r.json();
}

json resources(size_t count)
{
    json list = json::array();

    for (size_t i = 0; i < count; i++)
        list.push_back({{"id", "m" + std::to_string(i)}});
    return {{"resources", list}};
}

// Times 0 to 9, so with many ties and zeros.
std::vector<double> small_times(dice &d, size_t machines)
{
    std::vector<double> row;

    for (size_t i = 0; i < machines; i++)
        row.push_back((double)d.below(10));
    return row;
}

// Few long jobs, many short ones, and machines that are good at different things.
std::vector<double> skewed_times(dice &d, size_t machines)
{
    double work = std::exp(d.between(0, 6));
    std::vector<double> row;

    for (size_t i = 0; i < machines; i++)
        row.push_back(std::floor(work * d.between(1, i % 4 ? 20 : 2) * 100) / 100);
    return row;
}

using maker = std::vector<double> (*)(dice &, size_t);

json placement_body(dice &d, size_t jobs, size_t machines, maker times)
{
    json body = {{"snapshot", resources(machines)}, {"jobs", json::array()}, {"seed", 1}};

    for (size_t i = 0; i < jobs; i++)
        body["jobs"].push_back(
            {{"id", "j" + std::to_string(i)}, {"etc_s", times(d, machines)}});
    return body;
}

double sum_of_makespans_s(api &a, const std::string &policy, size_t sets, size_t jobs,
                          size_t machines, maker times)
{
    dice d(7);
    double sum = 0;

    for (size_t i = 0; i < sets; i++) {
        json body = placement_body(d, jobs, machines, times);
        body["algorithm"] = policy;
        if (policy == "search" || policy == "auto")
            body["options"] = {{"max_steps", 300}};
        json answer = answered(a, "/v1/placements", body);
        // gridway starts what can start now, and leaves the rest for its next round.
        REQUIRE((policy == "gridway" || answer["placements"].size() == jobs));
        sum += answer["objective"]["makespan_s"].get<double>();
    }
    return sum;
}

// Layers of tasks; times 0 to 20, some of them 0; transfers of about the same length.
json workflow_body(dice &d, size_t tasks, size_t processors)
{
    json body = {{"snapshot", resources(processors)}, {"seed", 1}};
    json list = json::array();

    for (size_t i = 0; i < tasks; i++) {
        json task = {{"id", "t" + std::to_string(i)}, {"etc_s", json::array()}};
        bool nothing = d.below(6) == 0;
        for (size_t p = 0; p < processors; p++)
            task["etc_s"].push_back(nothing ? 0.0 : (double)(1 + d.below(20)));
        json parents = json::array();
        std::set<size_t> chosen;
        for (size_t k = 0; i >= 4 && k < 1 + d.below(3); k++)
            chosen.insert(i - 1 - d.below(4 + i / 4 < i ? 4 + i / 4 : i));
        for (size_t p : chosen)
            parents.push_back({{"task_id", "t" + std::to_string(p)},
                               {"transfer_s", (double)d.below(15)}});
        task["depends_on"] = parents;
        list.push_back(task);
    }
    body["workflow"] = {{"tasks", list}};
    return body;
}

json queue_log(size_t jobs, uint64_t processors)
{
    dice d(3);
    json list = json::array();
    double submit_s = 0;

    for (size_t i = 0; i < jobs; i++) {
        double run_s = std::floor(std::exp(d.between(2, 9)));
        submit_s += (double)d.below(400);
        list.push_back({{"id", "j" + std::to_string(i)},
                        {"submit_s", submit_s},
                        {"processors", 1 + d.below(d.below(4) ? 8 : processors)},
                        {"run_time_s", run_s},
                        {"requested_s", run_s * (double)(1 + d.below(4))}});
    }
    return list;
}

} // namespace

TEST_CASE("every placement policy reaches its recorded makespans",
          "[api][placement][quality]")
{
    api a;
    golden_scores scores("placement");

    for (const std::string &p : policies(a, "placement", {"identical_optimum"})) {
        scores.add(p, "60 of 12 x 3; times 0 to 9",
                   sum_of_makespans_s(a, p, 60, 12, 3, small_times));
        scores.add(p, "12 of 60 x 8; skewed",
                   sum_of_makespans_s(a, p, 12, 60, 8, skewed_times));
    }
    scores.check();
}

TEST_CASE("every policy for workflows reaches its recorded makespans",
          "[api][workflow][quality]")
{
    api a;
    golden_scores scores("workflow");

    for (const std::string &p : policies(a, "workflow")) {
        dice d(11);
        double sum_s = 0;
        for (size_t i = 0; i < 40; i++) {
            json body = workflow_body(d, 10 + i, 2 + i % 3);
            body["algorithm"] = p;
            if (p == "search")
                body["options"] = {{"max_steps", 200}};
            sum_s +=
                answered(a, "/v1/workflow-schedules", body)["objective"]["makespan_s"]
                    .get<double>();
        }
        scores.add(p, "40 of 10 to 49 tasks", sum_s);
    }
    for (const std::string &p : policies(a, "workflow_round")) {
        json body = {{"kind", "workflow"},
                     {"preset", "ch5_workflow"},
                     {"grid", {{"sites", 2}, {"resources_per_site", 4}}},
                     {"workload", {{"parallelism", 5}, {"estimates", "under"}}},
                     {"algorithm", p},
                     {"runs", 1},
                     {"seed", 1}};
        json result = answered(a, "/v1/simulations", body)["results"][0];
        scores.add(p, "ch5_workflow on 8 resources",
                   result["figures"]["mean_makespan_s"]["mean"].get<double>());
    }
    scores.check();
}

TEST_CASE("every queue policy reaches its recorded slowdown", "[api][queue][quality]")
{
    api a;
    golden_scores scores("queue");
    json body = {{"kind", "queue"},
                 {"processors", 64},
                 {"jobs", queue_log(600, 64)},
                 {"estimates", "requested"},
                 {"policies", policies(a, "queue", {"slurm_backfill"})}};

    const json answer = answered(a, "/v1/simulations", body);
    for (const json &r : answer["results"])
        scores.add(r["policy"].get<std::string>(),
                   "mean bounded slowdown of 600 jobs on 64",
                   r["mean_bounded_slowdown"].get<double>());
    scores.check();
}

TEST_CASE("every co-allocation policy reaches its recorded response",
          "[api][coallocation][quality]")
{
    api a;
    golden_scores scores("coallocation");
    const char *flexible = "flexible_cluster_minimisation"; // takes no other jobs
    json body = {{"kind", "coallocation"},
                 {"workload", "w30"},
                 {"replica_count", 2},
                 {"job_count", 80},
                 {"policies", json::array()},
                 {"runs", 2},
                 {"seed", 1}};

    for (const std::string &p : policies(a, "coallocation", {flexible}))
        body["policies"].push_back(p);
    const json answer = answered(a, "/v1/simulations", body);
    for (const json &r : answer["results"])
        scores.add(r["policy"].get<std::string>(), "mean response of 80 jobs",
                   r["figures"]["mean_response_s"]["mean"].get<double>());

    dice d(5);
    json split = {
        {"kind", "coallocation"}, {"policies", {flexible}}, {"runs", 1}, {"seed", 1}};
    for (const char *id : {"A", "B", "C"})
        split["grid"]["sites"].push_back({{"id", id}, {"processors_total", 32}});
    for (size_t i = 0; i < 40; i++)
        split["jobs"].push_back({{"id", "j" + std::to_string(i)},
                                 {"submit_s", (double)(60 * i)},
                                 {"run_time_s", (double)(60 + d.below(600))},
                                 {"request_type", "flexible"},
                                 {"components", {{{"processors", 1 + d.below(60)}}}}});
    scores.add(flexible, "mean response of 40 flexible jobs",
               answered(a, "/v1/simulations",
                        split)["results"][0]["figures"]["mean_response_s"]["mean"]
                   .get<double>());
    scores.check();
}

TEST_CASE("every policy of the grid simulator reaches its recorded counts",
          "[api][simulation][quality]")
{
    api a;
    golden_scores scores("simulation");
    json jobs = {
        {"kind", "grid"}, {"preset", "ch4_high_80"},     {"runs", 1},
        {"seed", 1},      {"stop", {{"time_s", 43200}}}, {"compare", json::array()}};

    for (const char *family :
         {"dispatch", "replication", "checkpoint", "fault_tolerance"})
        for (const std::string &p : policies(a, family, {"expected_time", "joint"}))
            jobs["compare"].push_back({{"label", p}, {"algorithm", p}});
    const json answer = answered(a, "/v1/simulations", jobs);
    for (const json &r : answer["results"]) {
        std::string label = r["label"].get<std::string>();
        scores.add(label, "jobs done in 12 h",
                   r["metrics"]["jobs_done"]["mean"].get<double>());
        scores.add(label, "mean turnaround",
                   r["metrics"]["job_turnaround_s"]["mean"].get<double>());
    }
    scores.check();
}
