// reschedule_world_test.cpp - POST /v1/reschedules where amounts count: what running jobs
// hold, where they and pending jobs may go beside it, and bad input.
#include "tests/world_api_support.hpp"

#include <map>
#include <set>

extern "C" {
#include "algorithms/migration/gridway.h"
}

namespace
{

json round_of(json body)
{
    static api a;

    body["algorithm"] = "gridway";
    api_reply reply = a.post("/v1/reschedules", body.dump());
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return reply.json();
}

json node(const std::string &id, json more = json::object())
{
    json n = {{"id", id}, {"cpus", 8}};
    n.update(more);
    return n;
}

// A job of 1000 s, half of it done.
json running(const std::string &id, const std::string &at, json more = json::object())
{
    json j = {{"id", id}, {"estimate_s", 1000}, {"elapsed_s", 500}};
    if (!more.contains("resource_ids"))
        j["resource_id"] = at;
    j.update(more);
    return j;
}

json waits(const std::string &id, json more = json::object())
{
    json j = {{"id", id}, {"estimate_s", 100}};
    j.update(more);
    return j;
}

const json moves = {{"event", "user_requested"}};

json with(json a, const json &b)
{
    a.update(b);
    return a;
}

// "migrate forced n2", or "keep no_free_now".
std::string verdict(const json &answer, size_t i)
{
    const json &v = answer["jobs"][i];
    std::string text =
        v["action"].get<std::string>() + " " + v["reason"].get<std::string>();

    if (v.contains("resource_ids"))
        for (const json &id : v["resource_ids"])
            text += " " + id.get<std::string>();
    else if (!v["resource_id"].is_null())
        text += " " + v["resource_id"].get<std::string>();
    return text;
}

uint64_t dropped(const json &verdict, const std::string &reason)
{
    for (const json &d : verdict["candidates"])
        if (d["reason"] == reason)
            return d["resource_count"];
    return 0;
}

} // namespace

TEST_CASE("what running jobs hold is not given to pending ones",
          "[api][reschedule_jobs][world]")
{
    const json gpus = {{"needs", {{"gpus", 1}}}, {"cpus", 2}};
    json snapshot = {{"resources", {node("n", {{"capacities", {{"gpus", 2}}}})}}};
    json out = round_of({{"snapshot", snapshot},
                         {"jobs", {running("r", "n", gpus)}},
                         {"pending", {waits("a", gpus), waits("b", gpus)}}});

    CHECK(fate(out, "a") == "n 0-100");
    CHECK(fate(out, "b") == "no_free_now");
    CHECK(verdict(out, 0) == "keep no_event");

    // P3: neither slots nor memory of a node twice.
    snapshot = {{"resources",
                 {node("n", {{"cpus", 64}, {"memory_bytes", 256e9}, {"job_count", 1}})}}};
    const json big = {{"cpus", 60}, {"memory_bytes", 200e9}};
    out = round_of({{"snapshot", snapshot},
                    {"jobs", {running("r", "n", big)}},
                    {"pending", {waits("p", big), waits("q", {{"cpus", 4}})}}});
    CHECK(fate(out, "p") == "no_free_now");
    CHECK(fate(out, "q") == "n 0-100");

    // A slot in use that no job of the request is on holds its part: 32 of 64.
    snapshot["resources"][0]["n_max"] = 2;
    snapshot["resources"][0]["job_count"] = 2;
    snapshot["resources"][0]["free_at_s"] = {500, 900};
    out = round_of({{"snapshot", snapshot},
                    {"jobs", {running("r", "n", {{"cpus", 4}})}},
                    {"pending", {waits("p", {{"cpus", 4}})}}});
    CHECK(fate(out, "p") == "no_free_now");
}

TEST_CASE("a job that moves takes its amounts of the target, and holds the old ones",
          "[api][reschedule_jobs][world]")
{
    const json gpu = {{"needs", {{"gpus", 1}}}, {"cpus", 1}};
    json snapshot = {{"resources",
                      {node("n1", {{"capacities", {{"gpus", 1}}}}),
                       node("n2", {{"capacities", {{"gpus", 1}}}}),
                       node("n3", {{"capacities", {{"gpus", 1}}}}), node("n4")}}};
    json jobs = {running("a", "n1", with(gpu, moves)), running("b", "n2", gpu),
                 running("c", "n2", moves), running("d", "n1", with(gpu, moves))};
    jobs[3]["cpus"] = 1;
    json out = round_of({{"snapshot", snapshot}, {"jobs", jobs}});

    CHECK(verdict(out, 0) == "migrate forced n3");
    CHECK(dropped(out["jobs"][0], "no_free_now") == 1); // n2's is b's
    CHECK(dropped(out["jobs"][0], "too_small") == 1);   // n4 has none
    CHECK(verdict(out, 2) == "migrate forced n1");      // cpus are no gpus
    CHECK(verdict(out, 3) == "keep no_free_now");       // n1's is a's until 500
    CHECK(out["jobs"][0]["stay_s"] == 500);
    CHECK(out["jobs"][0]["move_s"] == 1000); // from nothing: there is no restart file
}

TEST_CASE("a shared amount goes with the job that moves", "[api][reschedule_jobs][world]")
{
    const json licence = {{"needs", {{"lic", 1}}}, {"cpus", 1}};
    json snapshot = {{"shared_capacities", {{"lic", 1}}},
                     {"resources", {node("n1"), node("n2")}}};
    json out = round_of({{"snapshot", snapshot},
                         {"jobs", {running("a", "n1", with(licence, moves))}},
                         {"pending", {waits("p", licence)}}});

    CHECK(verdict(out, 0) == "migrate forced n2");
    CHECK(fate(out, "p") == "shared_short");
    // One that has ended holds none, and needs one to be started anew.
    json failed = running("a", "n1", licence);
    failed["failure"] = {{"stage", "wrapper"}, {"kind", "ended"}, {"failed_attempts", 9}};
    out = round_of(
        {{"snapshot", snapshot}, {"jobs", {failed, running("b", "n2", licence)}}});
    CHECK(verdict(out, 0) == "requeue no_free_now");
}

TEST_CASE("reservations, partitions, limits and groups bind moves",
          "[api][reschedule_jobs][world]")
{
    json two = {node("n1"), node("n2")};
    const json job = running("a", "n1", moves); // 1000 s from nothing
    auto ask = [&](const json &snapshot, const json &more = json::object()) {
        return round_of({{"snapshot", snapshot}, {"jobs", {with(job, more)}}});
    };
    auto reserved = [&](double from) {
        json r = two;
        r[1]["reservations"] = {{{"start_s", from}, {"end_s", 9000}, {"all", true}}};
        return json{{"resources", r}};
    };

    CHECK(verdict(ask(reserved(1000)), 0) == "migrate forced n2");
    CHECK(verdict(ask(reserved(999)), 0) == "keep no_free_now");
    // With plan_with limit amounts are held for the limit.
    json body = {{"snapshot", reserved(1500)},
                 {"jobs", {with(job, {{"time_limit_s", 2000}})}},
                 {"options", {{"plan_with", "limit"}}}};
    CHECK(verdict(round_of(body), 0) == "keep no_free_now");
    body["options"] = json::object();
    CHECK(verdict(round_of(body), 0) == "migrate forced n2");
    // Its rest does not fit into its limit there.
    CHECK(dropped(ask({{"resources", two}}, {{"time_limit_s", 999}})["jobs"][0],
                  "time_limit") == 1);

    json parts = {{"resources", two},
                  {"partitions",
                   {{{"id", "p"}, {"resource_ids", {"n1"}}},
                    {{"id", "q"}, {"resource_ids", {"n1", "n2"}}}}}};
    json out = ask(parts, {{"partition_ids", {"p"}}});
    CHECK(verdict(out, 0) == "keep no_resource");
    CHECK(dropped(out["jobs"][0], "partition") == 1);
    CHECK(verdict(ask(parts, {{"partition_ids", {"q"}}}), 0) == "migrate forced n2");

    const json spread = {{"group", {{"id", "g"}, {"policy", "spread"}}}};
    body = {{"snapshot", {{"resources", two}}},
            {"jobs", {with(job, spread), running("b", "n2", spread)}}};
    CHECK(verdict(round_of(body), 0) == "keep no_free_now");
    body["jobs"][1].erase("group");
    CHECK(verdict(round_of(body), 0) == "migrate forced n2");

    CHECK(verdict(round_of(
                      {{"snapshot", {{"resources", two}}},
                       {"jobs", {with(job, {{"exclusive", true}}), running("b", "n2")}}}),
                  0) == "keep no_free_now");
}

TEST_CASE("a job on several nodes moves to as many others",
          "[api][reschedule_jobs][world]")
{
    json nodes = {node("n1"), node("n2"), node("n3"), node("n4"),
                  node("n5", {{"cpus", 2}})};
    const json wide = {{"resource_ids", {"n1", "n2"}}, {"cpus", 4}};
    auto ask = [&](const json &more, const json &pending = json::array()) {
        return round_of({{"snapshot", {{"resources", nodes}}},
                         {"jobs", {running("w", "", with(wide, more))}},
                         {"pending", pending}});
    };
    json out = ask(moves);

    CHECK(verdict(out, 0) == "migrate forced n3 n4");
    CHECK(out["jobs"][0]["resource_id"] == "n3");
    CHECK(out["jobs"][0]["steps"][0]["step"] == "cancel_wrapper");
    CHECK(out["jobs"][0]["steps"][0]["resource_ids"] == json{"n1", "n2"});
    CHECK(out["jobs"][0]["steps"][1]["resource_ids"] == json{"n3", "n4"});
    CHECK(dropped(out["jobs"][0], "present") == 2);
    CHECK(dropped(out["jobs"][0], "too_small") == 1);
    // One of the two is taken by a job that has just started.
    out = ask(moves, json::array({waits("p", {{"cpus", 8}})}));
    CHECK(fate(out, "p") == "n3 0-100");
    CHECK(verdict(out, 0) == "keep no_free_now");
    // One failed node is enough.
    nodes[1]["failed"] = true;
    CHECK(verdict(ask({{"event", "contract_violated"}}), 0) == "migrate forced n3 n4");
    // Both nodes are taken: 4 of 8 are left on each.
    out = round_of({{"snapshot", {{"resources", {node("n1"), node("n2")}}}},
                    {"jobs", {running("w", "", wide)}},
                    {"pending", {waits("p", {{"cpus", 5}}), waits("q", {{"cpus", 4}})}}});
    CHECK(fate(out, "p") == "no_free_now");
    CHECK(fate(out, "q") == "n1 0-100");
    // A faster pair pays, by time alone.
    json fast = {node("n1"), node("n2"), node("n3", {{"mips_total", 4}}),
                 node("n4", {{"mips_total", 4}})};
    json job = {{"id", "w"},
                {"resource_ids", {"n1", "n2"}},
                {"estimate_ref_s", 1000},
                {"work_done_ref_s", 100},
                {"event", "resource_discovered"},
                {"rank", "mips_total"}};
    out = round_of({{"snapshot", {{"resources", fast}}}, {"jobs", {job}}});
    CHECK(verdict(out, 0) == "migrate worthwhile n3 n4");
    CHECK(out["jobs"][0]["gain_s"] == 650); // 900 against 1000 / 4
    CHECK(out["jobs"][0]["rank_new"].is_null());
}

TEST_CASE("pending jobs are jobs of placements", "[api][reschedule_jobs][world]")
{
    json two = {{"resources", {node("n1"), node("n2")}}};
    json out =
        round_of({{"snapshot", two},
                  {"jobs", {running("r", "n1", {{"cpus", 8}})}},
                  {"pending",
                   {waits("w", {{"nodes", 2}}),
                    waits("x", {{"after", {{{"job_id", "r"}, {"kind", "ok"}}}}}),
                    waits("y", {{"after", {{{"job_id", "r"}, {"kind", "start"}}}}}),
                    waits("z", {{"after", {"done"}}})}},
                  {"finished_jobs", {{{"id", "done"}, {"ok", false}}}}});
    CHECK(fate(out, "w") == "no_free_now");
    CHECK(fate(out, "x") == "not_released");
    CHECK(fate(out, "y") == "n2 0-100");
    CHECK(fate(out, "z") == "after_failed");

    // What to stop, what would help, what it is worth.
    out = round_of(
        {{"snapshot", two},
         {"jobs",
          {running("r", "n1", {{"cpus", 8}, {"preemptible", true}, {"weight", 2}}),
           running("s", "n2", {{"cpus", 8}})}},
         {"pending",
          {waits("p", {{"cpus", 8}, {"priority", 1}}), waits("big", {{"cpus", 16}})}},
         {"preempt", true},
         {"what_if", true},
         {"objective", {"late_jobs", "makespan_s"}}});
    REQUIRE(out["preemptions"].size() == 1);
    CHECK(out["preemptions"][0]["job_id"] == "p");
    CHECK(out["preemptions"][0]["stop"] == json{"r"});
    CHECK(out["preemptions"][0]["weight"] == 2);
    REQUIRE(out["what_if"].size() >= 1);
    CHECK(out["what_if"][0]["amount"] == "cpus");
    CHECK(out["what_if"][0]["value"] == 16);
    REQUIRE(out["values"].size() == 2);
    CHECK(out["values"][0]["name"] == "late_jobs");
    CHECK(says(out, "policy_ignores_objective: gridway"));
    CHECK_FALSE(says(out, "ignored: 1 option (/options/assume_preempted)"));
    CHECK_FALSE(says(out, "ignored: weight"));

    out = round_of(
        {{"snapshot", two},
         {"jobs",
          {running("r", "n1",
                   {{"cpus", 8}, {"preemptible", true}, {"weight", 2}, {"after", {"s"}}}),
           running("s", "n2")}},
         {"options", {{"assume_preempted", true}}}});
    CHECK(says(out, "ignored: 1 option (/options/assume_preempted)"));
    CHECK(says(out, "ignored: weight of 1 running job (first /jobs/0/weight)"));
    CHECK(says(out, "ignored: preemptible of 1 running job"));
    CHECK(says(out, "ignored: after of 1 running job"));
    CHECK_FALSE(out.contains("values"));
}

TEST_CASE("a row of the snapshot and a running job of one id are one",
          "[api][reschedule_jobs][world]")
{
    json two = {{"resources",
                 {node("n1", {{"running", {{{"id", "r"}, {"cpus", 4}}}}}), node("n2")}}};
    json body = {{"algorithm", "gridway"},
                 {"snapshot", two},
                 {"jobs", {running("r", "n1", with(moves, {{"cpus", 4}}))}},
                 {"pending", {waits("p", {{"cpus", 4}})}}};
    json out = round_of(body);

    CHECK(fate(out, "p") == "n1 0-100");
    CHECK(verdict(out, 0) == "migrate forced n2");
    body["jobs"][0]["resource_id"] = "n2";
    api a;
    api_reply reply = a.post("/v1/reschedules", body.dump());
    CHECK(reply.status == 422);
    CHECK(reply.pointers() == std::vector<std::string>{"/jobs/0/resource_id"});
    CHECK(reply.json()["errors"][0]["code"] == "conflict");
}

TEST_CASE("a round with amounts reports all mistakes where they are",
          "[api][reschedule_jobs][world]")
{
    json body = {
        {"algorithm", "gridway"},
        {"snapshot", {{"resources", {node("n1"), node("n2")}}}},
        {"jobs",
         {running("a", "n1", {{"partition_ids", {"none"}}}),
          running("b", "", {{"resource_ids", {"n1", "n1", "n9"}}}),
          running("c", "n1", {{"nodes", 2}}), running("d", "n1", {{"estimate_ref_s", 5}}),
          running("e", "n1", {{"group", {{"id", "g"}, {"policy", "pack"}}}})}},
        {"pending",
         {waits("d"), waits("f", {{"after", {"nobody"}}}),
          waits("h", {{"group", {{"id", "g"}, {"policy", "gang"}}}}),
          waits("k", {{"estimate_ref_s", 5}})}}};
    api a;
    api_reply reply = a.post("/v1/reschedules", body.dump());
    std::map<std::string, std::string> found;

    INFO(reply.body);
    REQUIRE(reply.status == 422);
    const json answer = reply.json();
    for (const json &e : answer["errors"]) {
        CHECK(found.count(e["pointer"]) == 0); // each once
        found[e["pointer"]] = e["code"];
    }
    CHECK(found["/jobs/0/partition_ids/0"] == "unknown_id");
    CHECK(found["/jobs/1/resource_ids/1"] == "duplicate");
    CHECK(found["/jobs/1/resource_ids/2"] == "unknown_id");
    CHECK(found["/jobs/2/nodes"] == "conflict");
    CHECK(found["/jobs/3/estimate_s"] == "conflict");
    CHECK(found["/jobs/3/id"] == "duplicate"); // d waits as well
    CHECK(found["/pending/1/after/0/job_id"] == "unknown_id");
    CHECK(found["/pending/2/group/policy"] == "conflict"); // e runs, and packs
    CHECK(found["/pending/3/estimate_s"] == "conflict");
}

// ---- whatever is asked, no node is overcommitted ----

namespace
{

struct dice {
    ::rng r;
    explicit dice(uint64_t seed) : r(rng_stream(seed, "reschedule_world"))
    {
    }
    size_t below(size_t n)
    {
        return static_cast<size_t>(rng_uniform(&r) * static_cast<double>(n));
    }
    bool chance(double p)
    {
        return rng_uniform(&r) < p;
    }
};

json needs_of(dice &d)
{
    json j = {{"cpus", 1 + d.below(4)}};
    if (d.chance(0.4))
        j["needs"]["gpus"] = d.below(3);
    if (d.chance(0.3))
        j["needs"]["lic"] = 1;
    if (d.chance(0.2))
        j["memory_bytes"] = d.below(5);
    return j;
}

json random_round(dice &d)
{
    static const char *const policies[] = {"spread", "exclude", "gang", "pack"};
    json resources = json::array(), jobs = json::array(), pending = json::array();
    size_t m = 1 + d.below(5);
    for (size_t i = 0; i < m; i++) {
        json r = node("n" + std::to_string(i), {{"cpus", d.below(9)},
                                                {"mips_total", 1 + d.below(3)},
                                                {"failed", d.chance(0.1)},
                                                {"capacities", {{"gpus", d.below(4)}}}});
        if (d.chance(0.5))
            r["memory_bytes"] = d.below(10);
        if (d.chance(0.3))
            r["running"] = {with(needs_of(d), {{"id", "x" + std::to_string(i)}})};
        if (d.chance(0.3) && r.contains("running"))
            r["running"][0]["expected_end_s"] = d.below(3) * 100;
        if (d.chance(0.2))
            r["reservations"] = {
                {{"start_s", d.below(4) * 50}, {"end_s", 500}, {"cpus", d.below(4)}}};
        resources.push_back(r);
    }
    for (size_t i = 0, n = d.below(6); i < n; i++) {
        json j = with(needs_of(d),
                      {{"id", "r" + std::to_string(i)},
                       {"event", reschedule_event_names[d.below(EVENT_NONE + 1)]}});
        if (d.chance(0.7)) {
            j["estimate_ref_s"] = d.below(5) * 100;
            j["work_done_ref_s"] = j["estimate_ref_s"].get<double>() / 2;
        } else if (d.chance(0.5)) {
            j["estimate_s"] = d.below(5) * 100;
        }
        size_t first = d.below(m), second = d.below(m);
        if (d.chance(0.2) && first != second)
            j["resource_ids"] = {"n" + std::to_string(first),
                                 "n" + std::to_string(second)};
        else
            j["resource_id"] = "n" + std::to_string(first);
        if (d.chance(0.2))
            j["group"] = {{"id", "g"}, {"policy", "spread"}, {"max_per_key", 2}};
        jobs.push_back(j);
    }
    const char *policy = policies[d.below(4)];
    for (size_t i = 0, n = d.below(6); i < n; i++) {
        json j = with(needs_of(d), {{"id", "p" + std::to_string(i)}});
        if (d.chance(0.8))
            j["estimate_s"] = d.below(4) * 100;
        if (d.chance(0.2))
            j["nodes"] = 2;
        if (d.chance(0.2))
            j["exclusive"] = true;
        if (d.chance(0.3))
            j["group"] = {{"id", "h"}, {"policy", policy}};
        pending.push_back(j);
    }
    json body = {
        {"snapshot",
         {{"resources", resources}, {"shared_capacities", {{"lic", d.below(4)}}}}},
        {"jobs", jobs},
        {"pending", pending}};
    if (d.chance(0.3))
        body["options"]["max_queue_wait_s"] = 150;
    if (d.chance(0.2))
        body["options"]["hold_back"] = true;
    if (d.chance(0.2))
        body["options"]["resource_order"] = "gridway_priority";
    return body;
}

const double FOR_EVER = 1e30;

// Somebody who holds amounts of nodes, or wants to.
struct hold {
    json of;
    std::vector<std::string> at;
    double start_s, end_s;
    bool new_here, carries_shared;
};

double amount_of(const json &j, const std::string &name)
{
    if (name == "cpus")
        return j.value("cpus", 1.0);
    if (name == "memory_bytes")
        return j.value("memory_bytes", 0.0);
    return j.contains("needs") ? j["needs"].value(name, 0.0) : 0.0;
}

// The most that is taken at a time at which somebody new takes some.
void check_amount(const std::vector<hold> &holds, const std::string &node,
                  const std::string &name, double capacity)
{
    auto takes = [&](const hold &h) {
        bool here = node.empty();
        for (const std::string &id : h.at)
            here = here || id == node;
        return here && !(node.empty() && h.carries_shared) ? amount_of(h.of, name) : 0.0;
    };
    for (const hold &point : holds) {
        double sum = 0;
        bool is_new = false;
        for (const hold &h : holds)
            if (h.start_s <= point.start_s && point.start_s < h.end_s && takes(h) > 0) {
                sum += takes(h);
                is_new = is_new || h.new_here;
            }
        INFO(node << " " << name << " at " << point.start_s);
        if (is_new)
            CHECK(sum <= capacity + 1e-9);
    }
}

std::vector<std::string> places_of(const json &j)
{
    return j.contains("resource_ids") && !j["resource_ids"].empty()
               ? j["resource_ids"].get<std::vector<std::string>>()
               : std::vector<std::string>{j["resource_id"].get<std::string>()};
}

double rest_of(const json &j, const json &resources)
{
    double most = 0;
    if (j.contains("estimate_s"))
        return j["estimate_s"];
    if (!j.contains("estimate_ref_s"))
        return FOR_EVER;
    for (const std::string &id : places_of(j))
        for (const json &r : resources)
            if (r["id"] == id)
                most = std::max(most, (j["estimate_ref_s"].get<double>() -
                                       j["work_done_ref_s"].get<double>()) /
                                          r["mips_total"].get<double>());
    return most;
}

std::vector<hold> holds_of(const json &body, const json &out)
{
    const json &resources = body["snapshot"]["resources"];
    std::vector<hold> holds;
    for (const json &r : resources) {
        std::vector<std::string> here = {r["id"]};
        if (r.contains("running"))
            holds.push_back(
                {r["running"][0], here, 0,
                 std::max(1.0, r["running"][0].value("expected_end_s", FOR_EVER)), false,
                 false});
        if (r.contains("reservations"))
            holds.push_back({r["reservations"][0], here, r["reservations"][0]["start_s"],
                             r["reservations"][0]["end_s"], false, false});
    }
    for (const json &j : body["jobs"])
        holds.push_back(
            {j, places_of(j), 0, std::max(1.0, rest_of(j, resources)), false, false});
    for (const json &p : out["placements"])
        for (const json &j : body["pending"])
            if (j["id"] == p["job_id"])
                holds.push_back(
                    {j, places_of(p), p["start_s"],
                     p["finish_s"].is_null() ? FOR_EVER : p["finish_s"].get<double>(),
                     true, false});
    for (size_t i = 0; i < out["jobs"].size(); i++) {
        const json &v = out["jobs"][i];
        if (v["resource_id"].is_null())
            continue;
        double run_s = FOR_EVER;
        for (const json &s : v["steps"])
            if (s["step"] == "wrapper" && !s["duration_s"].is_null())
                run_s = s["duration_s"];
        double start_s = v["start_s"];
        holds.push_back(
            {body["jobs"][i], places_of(v), start_s, start_s + run_s, true, true});
    }
    return holds;
}

} // namespace

// Gangs start whole, packs on one resource.
static void check_groups(const json &body, const json &out)
{
    std::set<std::string> members, placed, nodes;
    std::string policy;

    for (const json &j : body["pending"])
        if (j.contains("group")) {
            members.insert(j["id"].get<std::string>());
            policy = j["group"]["policy"];
        }
    for (const json &p : out["placements"])
        if (members.count(p["job_id"])) {
            placed.insert(p["job_id"].get<std::string>());
            for (const std::string &id : places_of(p))
                nodes.insert(id);
        }
    if (policy == "gang")
        CHECK((placed.empty() || placed == members));
    if (policy == "pack")
        CHECK(nodes.size() <= 1);
}

TEST_CASE("no round overcommits a node, whatever runs, waits and moves",
          "[api][reschedule_jobs][world][property]")
{
    size_t moved = 0, started = 0;
    for (uint64_t seed = 1; seed <= (is_shorter() ? 300 : 1500); seed++) {
        dice d(seed);
        json body = random_round(d);
        json out = round_of(body);
        INFO(seed << " " << body.dump() << "\n" << out.dump());
        REQUIRE(out["jobs"].size() == body["jobs"].size());
        CHECK(out["placements"].size() + out["unplaced"].size() ==
              body["pending"].size());
        std::vector<hold> holds = holds_of(body, out);
        for (const json &r : body["snapshot"]["resources"]) {
            check_amount(holds, r["id"], "cpus", r["cpus"]);
            check_amount(holds, r["id"], "gpus", r["capacities"]["gpus"]);
            if (r.contains("memory_bytes"))
                check_amount(holds, r["id"], "memory_bytes", r["memory_bytes"]);
        }
        check_amount(holds, "", "lic", body["snapshot"]["shared_capacities"]["lic"]);
        check_groups(body, out);
        moved += out["objective"]["moved_count"].get<size_t>();
        started += out["placements"].size();
        CHECK(round_of(body)["jobs"] == out["jobs"]);
    }
    CHECK(moved > 50);
    CHECK(started > 100);
}
