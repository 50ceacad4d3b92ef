// world_limits_test.cpp - what one user may have in a partition at once: worked examples
// at the endpoints, and random worlds under all policies.
#include "tests/support.hpp"
#include "tests/world_api_support.hpp"
#include "tests/world_bounds_support.hpp"
#include "tests/world_check_support.hpp"
#include "tests/world_draw.hpp"
#include "tests/world_plan_support.hpp"

#include <set>

extern "C" {
#include "algorithms/world/board.h"
#include "algorithms/world/now.h"
#include "algorithms/world/queue.h"
}

namespace
{

using texts = std::vector<std::string>;

json part_of(const std::string &id, json resource_ids, const json &more)
{
    json p = {{"id", id}, {"resource_ids", std::move(resource_ids)}};

    p.update(more);
    return p;
}

json job_of(const std::string &id, const json &user, double estimate_s,
            json more = json::object())
{
    json j = {{"id", id}, {"estimate_s", estimate_s}, {"partition_ids", {"p"}}};

    if (!user.is_null())
        j["user"] = user;
    j.update(more);
    return j;
}

// Node n of 8 cpus, partition p.
json on_one(const json &limits, const json &given)
{
    const json jobs = given.is_array() ? given : json::array({given});

    return {{"snapshot",
             {{"resources", {{{"id", "n"}, {"cpus", 8}}}},
              {"partitions", {part_of("p", {"n"}, limits)}}}},
            {"jobs", jobs}};
}

texts fates(const json &answer, const texts &jobs)
{
    texts list;

    for (const std::string &id : jobs)
        list.push_back(fate(answer, id));
    return list;
}

json run_of(const std::string &id, const json &user, const json &end_s,
            json more = json::object())
{
    json r = {{"id", id}, {"cpus", 1}, {"expected_end_s", end_s}};

    if (!user.is_null())
        r["user"] = user;
    r.update(more);
    return r;
}

json reason_of(const json &answer, const std::string &id)
{
    for (const json &u : answer["unplaced"])
        if (u["job_id"] == id)
            return u["reasons"].back();
    return nullptr;
}

json answer_of(const std::string &path, const json &body)
{
    static api a;
    api_reply reply = a.post(path, body.dump());

    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return reply.json();
}

texts mistakes(const json &body)
{
    static api a;
    api_reply reply = a.post("/v1/placements", body.dump());
    texts list;

    INFO(reply.body);
    REQUIRE(reply.status == 422);
    const json all = reply.json();
    for (const json &e : all["errors"])
        list.push_back(e["code"].get<std::string>() + " " +
                       e["pointer"].get<std::string>());
    return list;
}

} // namespace

TEST_CASE("a user has so many jobs and cpus of a partition at once", "[api][world]")
{
    const json three = {job_of("a1", "a", 10), job_of("a2", "a", 10),
                        job_of("b1", "b", 10)};
    json out = place(on_one({{"jobs_per_user_max", 1}}, three));
    CHECK(fates(out, {"a1", "a2", "b1"}) == texts{"n 0-10", "n 10-20", "n 0-10"});
    CHECK(out["objective"]["makespan_s"] == 20);
    CHECK(out["status"] == "optimal"); // two jobs of 10 s one after the other

    // Cpus of all nodes; jobs of no length have none.
    json two = {
        {"snapshot",
         {{"resources", {{{"id", "n1"}, {"cpus", 8}}, {{"id", "n2"}, {"cpus", 8}}}},
          {"partitions", {part_of("p", {"n1", "n2"}, {{"cpus_per_user_max", 4}})}}}},
        {"jobs",
         {job_of("wide", "a", 10, {{"nodes", 2}, {"cpus", 2}}),
          job_of("small", "a", 5, {{"cpus", 0.5}}), job_of("none", "a", 0),
          job_of("other", "b", 5, {{"cpus", 4}})}}};
    CHECK(fates(place(two), {"wide", "small", "none", "other"}) ==
          texts{"n1+n2 0-10", "n1 10-15", "n1 0-0", "n1 0-5"});

    // 3.5 cpus * 10 s and 1.5 * 8 on 4: 11.75 s at least, so 12; the best is 18.
    json volume =
        on_one({{"cpus_per_user_max", 4}}, {job_of("x", "a", 10, {{"cpus", 3.5}}),
                                            job_of("y", "a", 8, {{"cpus", 1.5}})});
    out = place(volume);
    CHECK(fates(out, {"x", "y"}) == texts{"n 0-10", "n 10-18"});
    CHECK(out["objective"]["values"][0]["bound"].get<double>() ==
          Approx(12).epsilon(1e-8));
}

TEST_CASE("what runs has its part of a limit", "[api][world]")
{
    auto of = [&](const json &running, const json &limits = {{"jobs_per_user_max", 2}}) {
        json body = on_one(limits, {job_of("a1", "a", 10), job_of("a2", "a", 10),
                                    job_of("b1", "b", 10)});

        body["snapshot"]["resources"][0]["running"] =
            running.is_array() ? running : json::array({running});
        body["snapshot"]["partitions"].push_back(part_of("q", {"n"}, json::object()));
        return place(body);
    };
    const texts all = {"a1", "a2", "b1"};

    CHECK(fates(of({run_of("r", "a", 6)}), all) == texts{"n 0-10", "n 6-16", "n 0-10"});
    CHECK(fates(of({run_of("r", "c", 6)}), all) == texts{"n 0-10", "n 0-10", "n 0-10"});
    CHECK(fates(of({run_of("r", "a", 6, {{"partition_id", "p"}})}), all)[1] == "n 6-16");
    CHECK(fates(of({run_of("r", "a", 6, {{"partition_id", "q"}})}), all)[1] == "n 0-10");
    CHECK(fates(of({run_of("r", "a", 6, {{"cpus", 3}})}, {{"cpus_per_user_max", 4}}),
                all) == texts{"n 0-10", "n 6-16", "n 0-10"});

    // Nobody knows whose it is.
    json out = of({run_of("r", nullptr, 6)});
    CHECK(fates(out, all)[1] == "n 0-10");
    CHECK(says(out, "no_user: 1 running job has no user"));

    // It never ends as far as anybody knows.
    out = of({run_of("r", "a", nullptr), run_of("s", "a", nullptr)});
    CHECK(fates(out, all) == texts{"user_limit", "user_limit", "n 0-10"});
    CHECK(reason_of(out, "a1")["detail"] ==
          "user 'a' has as much of partition 'p' as its jobs_per_user_max allows");

    // More than there may be: it happens.
    out = of({run_of("r", "a", 4), run_of("s", "a", 6), run_of("t", "a", 8)});
    CHECK(fates(out, all) == texts{"n 6-16", "n 8-18", "n 0-10"});
    CHECK(says(out,
               "overcommitted: what runs exceeds 1 limit of users in partitions; first "
               "user 'a' in 'p': jobs_per_user_max 2, and 3"));
    // Nothing is left until 6, one place until 8, then two: 20 s of jobs need until 17.
    CHECK(out["objective"]["values"][0]["bound"].get<double>() ==
          Approx(17).epsilon(1e-8));

    // On several nodes: one job, all its cpus.
    json body = {
        {"snapshot",
         {{"resources", {{{"id", "n1"}, {"cpus", 8}}, {{"id", "n2"}, {"cpus", 8}}}},
          {"running",
           {run_of("r", "a", 3, {{"cpus", 2}, {"resource_ids", {"n1", "n2"}}})}},
          {"partitions",
           {part_of("o", {"n1"}, {{"jobs_per_user_max", 1}}),
            part_of("p", {"n1", "n2"},
                    {{"cpus_per_user_max", 4}, {"jobs_per_user_max", 2}})}}}},
        {"jobs",
         {job_of("a1", "a", 5), job_of("a2", "a", 5, {{"partition_ids", {"o"}}})}}};
    CHECK(fates(place(body), {"a1", "a2"}) == texts{"n1 3-8", "n1 0-5"});
}

TEST_CASE("jobs that are too much for their user, or have none", "[api][world]")
{
    json out = place(
        on_one({{"cpus_per_user_max", 2}}, {job_of("large", "a", 1, {{"cpus", 3}}),
                                            job_of("nobody", nullptr, 1, {{"cpus", 3}}),
                                            job_of("fits", "a", 1, {{"cpus", 2}})}));

    CHECK(fates(out, {"large", "nobody", "fits"}) ==
          texts{"user_limit", "n 0-1", "n 0-1"});
    CHECK(reason_of(out, "large")["detail"] ==
          "partition 'p' is closed to the job: cpus_per_user_max");
    CHECK(reason_of(out, "large")["resource_count"] == 1);
    CHECK(says(out, "no_user: 1 job has no user (first /jobs/1)"));
    CHECK(fate(place(on_one({{"jobs_per_user_max", 0}}, {job_of("a", "a", 1)})), "a") ==
          "user_limit");
    CHECK(fate(place(on_one(
                   {{"jobs_per_user_max", nullptr}, {"cpus_per_user_max", nullptr}},
                   {job_of("a", nullptr, 1)})),
               "a") == "n 0-1");

    // Another partition of the same node has room.
    json body = on_one({{"jobs_per_user_max", 1}},
                       {job_of("a1", "a", 10, {{"partition_ids", {"p", "q"}}}),
                        job_of("a2", "a", 10, {{"partition_ids", {"p", "q"}}}),
                        job_of("a3", "a", 10, {{"partition_ids", {"q", "p"}}})});
    body["snapshot"]["partitions"].push_back(
        part_of("q", {"n"}, {{"jobs_per_user_max", 1}}));
    for (const char *algorithm : {"mct", "olb", "met", "min_min", "max_min", "sufferage",
                                  "kpb", "duplex", "sufferage_pass", "xsufferage"}) {
        out = place(body, algorithm);
        INFO(algorithm << " " << out.dump());
        std::multiset<double> starts;
        std::set<std::string> used;
        for (const json &p : out["placements"]) {
            starts.insert(p["start_s"].get<double>());
            used.insert(p["partition_id"].get<std::string>());
        }
        CHECK(starts == std::multiset<double>{0, 0, 10});
        CHECK(used == std::set<std::string>{"p", "q"});
    }
}

TEST_CASE("limits of users, and who starts now", "[api][world]")
{
    json jobs = {
        job_of("a1", "a", 10, {{"weight", 1}}), job_of("a2", "a", 10, {{"weight", 3}}),
        job_of("a3", "a", 10, {{"weight", 5}}), job_of("b1", "b", 10, {{"weight", 1}})};
    json body = on_one({{"jobs_per_user_max", 2}}, jobs);
    json out;

    body["objective"] = {"started_now_weight"};
    out = place(body, "auto");
    CHECK(fates(out, {"a1", "a2", "a3", "b1"}) ==
          texts{"user_limit", "n 0-10", "n 0-10", "n 0-10"});
    CHECK(reason_of(out, "a1")["detail"] ==
          "user 'a' has as much of partition 'p' as its jobs_per_user_max allows");
    body["snapshot"]["partitions"][0]["jobs_per_user_max"] = 3;
    out = place(body, "auto");
    CHECK(out["placements"].size() == 4);
    CHECK(out["status"] == "optimal");

    body.erase("objective");
    body["snapshot"]["partitions"][0]["jobs_per_user_max"] = 2;
    out = place(body, "gridway");
    CHECK(out["placements"].size() == 3);
    CHECK(fate(out, "a3") == "user_limit");

    // Queues: the head of user a waits for its own, b goes on.
    body.erase("algorithm");
    for (const char *policy : {"fcfs", "easy", "conservative"}) {
        body["algorithm"] = policy;
        out = answer_of("/v1/queue-orders", body);
        INFO(policy << " " << out.dump());
        bool strict = std::string(policy) == "fcfs";
        REQUIRE(out["waiting"].size() >= 1);
        CHECK(out["starts"].size() == (strict ? 2 : 3));
        CHECK(out["waiting"][0]["job_id"] == "a3");
        CHECK(out["waiting"][0]["reason"] == "user_limit");
        CHECK(out["waiting"][0]["estimated_start_s"] == 10);
    }

    // Nothing is stopped for a job that its own limit keeps.
    body = on_one({{"jobs_per_user_max", 1}},
                  {job_of("a1", "a", 10, {{"priority", 9}, {"cpus", 8}})});
    body["snapshot"]["resources"][0]["running"] = {
        run_of("r", "b", 50, {{"preemptible", true}}), run_of("s", "a", 60)};
    body["preempt"] = true;
    out = place(body);
    CHECK(fate(out, "a1") == "n 60-70");
    CHECK((!out.contains("preemptions") || out["preemptions"].empty()));
}

TEST_CASE("a plan of somebody else has too much of a user", "[api][world]")
{
    json body = on_one({{"jobs_per_user_max", 2}, {"cpus_per_user_max", 7.5}},
                       {job_of("a1", "a", 10), job_of("a2", "a", 10),
                        job_of("a3", "a", 10, {{"partition_ids", {"p", "q"}}})});
    body["snapshot"]["resources"][0]["running"] = json::array({run_of("r", "a", 4)});
    body["snapshot"]["partitions"].push_back(part_of("q", {"n"}, json::object()));
    body["kind"] = "placement";
    body["placements"] = {{{"job_id", "a1"}, {"resource_id", "n"}, {"start_s", 2}},
                          {{"job_id", "a2"}, {"resource_id", "n"}, {"start_s", 3}},
                          {{"job_id", "a3"}, {"resource_id", "n"}, {"start_s", 12}}};
    json out = answer_of("/v1/evaluations", body);
    INFO(out.dump());
    REQUIRE(out["violation_count"] == 1);
    const json &v = out["violations"][0];
    CHECK(v["rule"] == "user_limit");
    CHECK(v["user"] == "a");
    CHECK(v["partition_id"] == "p");
    CHECK(v["amount"] == "jobs_per_user_max");
    CHECK(v["at_s"] == 3);
    CHECK(v["needed"] == 2);
    CHECK(v["free"] == 1);
    CHECK(v["pointer"] == "/placements/1/start_s");
    // At 4 one ends, and the two are allowed; a3 in p at 4 would be the third.
    body["placements"][1]["start_s"] = 4;
    body["placements"][2]["start_s"] = 5;
    CHECK(answer_of("/v1/evaluations", body)["violation_count"] == 1);
    body["placements"][2]["partition_id"] = "q";
    CHECK(answer_of("/v1/evaluations", body)["valid"] == true);
    body["placements"][0]["partition_id"] = "q"; // the job may not go there
    out = answer_of("/v1/evaluations", body);
    CHECK(out["violations"][0]["rule"] == "not_eligible");
    // What we plan ourselves is right.
    body.erase("kind");
    body.erase("placements");
    out = place(body);
    body["kind"] = "placement";
    body["placements"] = out["placements"];
    body.erase("algorithm");
    CHECK(answer_of("/v1/evaluations", body)["valid"] == true);
}

TEST_CASE("bad limits, and where they do not count", "[api][world]")
{
    auto with = [&](const char *member, const json &value) {
        json limits = json::object();
        limits[member] = value;
        return on_one(limits, {job_of("a", "a", 1)});
    };
    for (const json &wrong : {json(-1), json(1.5), json(1e308), json("2"), json(true)}) {
        texts said = mistakes(with("jobs_per_user_max", wrong));
        INFO(wrong.dump());
        REQUIRE(said.size() == 1);
        CHECK(said[0].find(" /snapshot/partitions/0/jobs_per_user_max") !=
              std::string::npos);
    }
    for (const json &wrong : {json(-1), json(1e308), json("2")}) {
        texts said = mistakes(with("cpus_per_user_max", wrong));
        REQUIRE(said.size() == 1);
        CHECK(said[0].find(" /snapshot/partitions/0/cpus_per_user_max") !=
              std::string::npos);
    }
    json body = with("jobs_per_user_max", 1);
    body["snapshot"]["resources"][0]["running"] = {
        run_of("r", "a", 4, {{"partition_id", "x"}}),
        run_of("s", "a", 4, {{"partition_id", 1}})};
    texts said = mistakes(body);
    CHECK(std::count(said.begin(), said.end(),
                     "wrong_type /snapshot/resources/0/running/1/partition_id") == 1);
    body["snapshot"]["resources"][0]["running"].erase(1);
    CHECK(mistakes(body) ==
          texts{"unknown_id /snapshot/resources/0/running/0/partition_id"});

    json flow = {{"algorithm", "heft"},
                 {"snapshot", with("jobs_per_user_max", 1)["snapshot"]},
                 {"workflow", {{"tasks", {{{"id", "t"}, {"estimate_s", 1}}}}}}};
    CHECK(says(answer_of("/v1/workflow-schedules", flow),
               "ignored: jobs_per_user_max and cpus_per_user_max of 1 partition"));
}

// ---- random worlds ----

namespace
{

// Partitions of some of the nodes, users, and what runs of them.
void draw_limits(drawn_world &d)
{
    given_world &g = d.given;

    for (given_resource &n : g.resources)
        n.cpus = (double)(1 + d.below(4)), n.n_max = NAN;
    for (given_job &j : g.jobs)
        j.needs.erase("gpus");
    while (g.jobs.size() < 4) {
        g.jobs.push_back(g.jobs[d.below(g.jobs.size())]);
        g.jobs.back().id = drawn_names[g.jobs.size()];
    }
    for (size_t p = 1 + d.below(2); p-- > 0;) {
        given_partition part{d.some_nodes(1 + d.below(g.resources.size()))};
        if (d.below(3))
            part.jobs_max = (double)(1 + d.below(3)) - (d.below(6) == 0);
        if (d.below(3) == 0)
            part.cpus_max = (double)d.below(4);
        g.partitions.push_back(part);
    }
    for (given_job &j : g.jobs) {
        j.cpus = (double)(1 + d.below(2)) / 2;
        j.parts = {d.below(g.partitions.size())};
        if (g.partitions.size() > 1 && d.below(2))
            j.parts.push_back(1 - j.parts[0]);
        j.user = d.below(3);
        j.only.clear();
    }
    for (given_holder &h : g.holders)
        if (!h.reservation && !h.positions.empty()) {
            h.user = d.below(3);
            h.partition = 1 + d.below(g.partitions.size());
        }
}

// Positions, choices and starts.
std::string plan_text(const world *w, const world_plan *plan)
{
    std::string text;

    for (size_t j = 0; j < w->job_count; j++)
        if (plan->placed[j].positions)
            text += std::to_string(j) + ":" +
                    std::to_string(plan->placed[j].positions[0]) + "@" +
                    std::to_string(plan->placed[j].start_s) + " ";
    return text;
}

const queue_discipline disciplines[] = {
    {QUEUE_ARRIVAL, QUEUE_HEAD, QUEUE_ARRIVAL},
    {QUEUE_ARRIVAL, QUEUE_EASY, QUEUE_ARRIVAL},
    {QUEUE_ARRIVAL, QUEUE_FIT, QUEUE_ARRIVAL},
    {QUEUE_ARRIVAL, QUEUE_CONSERVATIVE, QUEUE_ARRIVAL},
};

} // namespace

TEST_CASE("random worlds: queues and starts keep limits", "[world][property]")
{
    size_t limited = 0, started = 0;

    for (uint64_t seed = 1; seed <= (is_shorter() ? 300u : 4000u); seed++) {
        drawn_world d(seed, false);
        draw_limits(d);
        const world *w = d.given.build();
        INFO("seed " << seed);
        for (const queue_discipline &rule : disciplines) {
            test_arena a;
            world_queue_out out{};
            error err{};
            REQUIRE(computed(a, &err, [&] {
                        world_queue(w, &rule, nullptr, &out, a);
                        return OK;
                    }) == OK);
            INFO("rule " << rule.rule);
            require_valid(w, out.plan);
            CHECK(beyond_limits(w, out.plan) == "");
            for (size_t j = 0; j < w->job_count; j++)
                limited += out.plan->placed[j].wait == WORLD_WAIT_USER_LIMIT ||
                           out.verdicts[j].wait == WORLD_WAIT_USER_LIMIT;
        }
        test_arena a;
        now_out now{};
        now_in in{};
        error err{};
        in.w = w;
        REQUIRE(computed(a, &err, [&] {
                    world_start_all(&in, &now, a);
                    return OK;
                }) == OK);
        CHECK(beyond_limits(w, &now.plan) == "");
        started += now.plan.placed_count;
    }
    CHECK(limited > 30);
    CHECK(started > 200);
}

TEST_CASE("random worlds: the best start is no better than its bound",
          "[world][property]")
{
    size_t proven = 0, less = 0;

    for (uint64_t seed = 1; seed <= (is_shorter() ? 300u : 3000u); seed++) {
        drawn_world d(seed, false);
        draw_limits(d);
        for (given_job &j : d.given.jobs) {
            j.after.clear();
            j.group = WORLD_NONE;
            j.nodes = 1;
            j.weight = (double)d.below(4);
            j.etc_s.clear();
            j.estimate_ref_s = NAN;
            j.estimate_s = (double)(1 + d.below(5));
            j.time_limit_s = HUGE_VAL;
        }
        const world *w = d.given.build();
        test_arena a;
        now_out now{};
        now_in in{};
        error err{};
        in.w = w;
        REQUIRE(computed(a, &err, [&] {
                    world_start_all(&in, &now, a);
                    return OK;
                }) == OK);
        // All sets of jobs on all nodes in all choices.
        double best = 0;
        std::vector<world_placed> placed(w->job_count);
        std::vector<size_t> at(w->resource_count);
        for (size_t i = 0; i < at.size(); i++)
            at[i] = i;
        world_plan plan{};
        plan.placed = placed.data();
        auto look = [&](auto &self, size_t j, double weight) -> void {
            if (wrong_with(w, &plan) != "")
                return;
            if (j == w->job_count) {
                best = std::max(best, weight);
                return;
            }
            placed[j] = {};
            self(self, j + 1, weight);
            const world_job &job = w->jobs[j];
            if (job.earliest_s > 0)
                return;
            auto is_closed = [&](size_t p, double run_s) { // for what takes no time
                for (size_t h = 0; h < w->holder_count; h++)
                    for (size_t k = 0; k < w->holders[h].position_count; k++)
                        if (w->holders[h].all && w->holders[h].positions[k] == p &&
                            w->holders[h].start_s <= 0 && w->holders[h].end_s > 0 &&
                            run_s <= 0)
                            return true;
                return false;
            };
            for (size_t c = 0; c < job.choice_count; c++)
                for (size_t p = 0; p < w->resource_count; p++) {
                    double run_s = world_run_s(w, &job, p);
                    if (is_closed(p, run_s) || !world_mask_has(job.choices[c].mask, p) ||
                        run_s == HUGE_VAL || !world_large_enough(w, &job, p))
                        continue;
                    placed[j].positions = &at[p];
                    placed[j].position_count = 1;
                    placed[j].choice = c;
                    placed[j].run_s = placed[j].done_s = run_s;
                    placed[j].end_s = world_held_s(w, &job, run_s);
                    self(self, j + 1, weight + job.weight);
                }
            placed[j] = {};
        };
        look(look, 0, 0);
        double value = 0, bound = 0;
        for (size_t t = 0; t < now.tier_count; t++) {
            value += now.tiers[t].value;
            bound += now.tiers[t].bound;
        }
        INFO("seed " << seed << " best " << best);
        CHECK(value <= best + 1e-9);
        CHECK(bound >= best - 1e-9);
        if (now.proven)
            CHECK(value == Approx(best).margin(1e-9));
        proven += now.proven;
        less += value < best - 1e-9;
    }
    CHECK(proven > 100);
    CHECK(less < 60);
}

TEST_CASE("limits that keep nobody change nothing", "[world][property]")
{
    for (uint64_t seed = 1; seed <= (is_shorter() ? 200u : 2000u); seed++) {
        drawn_world with(seed, false), without(seed, false);
        draw_limits(with);
        draw_limits(without);
        for (given_partition &p : with.given.partitions)
            p.jobs_max = 1000, p.cpus_max = 1000;
        for (given_partition &p : without.given.partitions)
            p.jobs_max = p.cpus_max = NAN;
        const world *w = with.given.build(), *v = without.given.build();
        INFO("seed " << seed);
        for (const queue_discipline &rule : disciplines) {
            test_arena a;
            world_queue_out x{}, y{};
            error err{};
            REQUIRE(computed(a, &err, [&] {
                        world_queue(w, &rule, nullptr, &x, a);
                        world_queue(v, &rule, nullptr, &y, a);
                        return OK;
                    }) == OK);
            CHECK(plan_text(w, x.plan) == plan_text(v, y.plan));
        }
    }
}

// Serial placing in all orders, each job at its earliest in each choice: the shortest of
// these plans is the shortest of all.
TEST_CASE("no bound of a limit is above the optimum", "[world][property]")
{
    size_t by_limit = 0;

    for (uint64_t seed = 1; seed <= (is_shorter() ? 120u : 1500u); seed++) {
        drawn_world d(seed, false);
        d.given.jobs.resize(std::min<size_t>(d.given.jobs.size(), 4));
        draw_limits(d);
        for (given_job &j : d.given.jobs) {
            j.after.clear();
            j.group = WORLD_NONE;
            j.nodes = 1;
        }
        const world *w = d.given.build();
        test_arena a;
        error err{};
        double optimum = HUGE_VAL;
        size_t most = 0;
        std::vector<size_t> order(w->job_count);
        for (size_t j = 0; j < order.size(); j++)
            order[j] = j;
        REQUIRE(computed(a, &err, [&] {
                    board *b = board_create(w, nullptr, a);
                    auto place_all = [&](auto &self, size_t k, double end_s,
                                         size_t count) -> void {
                        if (k == order.size()) {
                            if (count > most)
                                most = count, optimum = HUGE_VAL;
                            if (count == most)
                                optimum = std::min(optimum, end_s);
                            return;
                        }
                        size_t job = order[k];
                        bool any = false;
                        for (size_t c = 0; c < w->jobs[job].choice_count; c++)
                            for (size_t p = 0; p < w->resource_count; p++) {
                                board_spot s = board_fit(b, job, c, p, 0, HUGE_VAL);
                                if (!s.positions)
                                    continue;
                                any = true;
                                board_take(b, job, &s);
                                self(self, k + 1, std::max(end_s, s.done_s), count + 1);
                                board_give(b, job);
                            }
                        if (!any)
                            self(self, k + 1, end_s, count);
                    };
                    do
                        place_all(place_all, 0, 0, 0);
                    while (std::next_permutation(order.begin(), order.end()));
                    return OK;
                }) == OK);
        if (most < w->job_count || optimum == HUGE_VAL)
            continue;
        INFO("seed " << seed << " optimum " << optimum);
        CHECK(bound_of(w, OBJECTIVE_MAKESPAN) <= optimum * (1 + 1e-9) + 1e-9);
        world without = *w;
        without.limit_count = 0;
        by_limit +=
            bound_of(w, OBJECTIVE_MAKESPAN) > bound_of(&without, OBJECTIVE_MAKESPAN);
    }
    CHECK(by_limit > 2);
}
