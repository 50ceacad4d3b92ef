// workflow_initial_test.cpp - a caller's own schedule as the start of a search.
#include "tests/workflow_api_support.hpp"
#include "tests/workflow_brute.hpp"

using namespace flows;
using workflow_api::answered;
using workflow_api::example;

namespace
{

struct row {
    std::string task, resource;
    double start_s = none, slot = none;
};

struct answer {
    enum decision_status status;
    double makespan_s;
    std::vector<row> rows;
    std::vector<std::string> warnings;
    size_t unplaced;

    // The warning with this text in it; "": there is none.
    std::string warning(const std::string &text) const
    {
        for (const std::string &w : warnings)
            if (w.find(text) != std::string::npos)
                return w;
        return "";
    }
};

// From a schedule, in so many steps; the pointers of mistakes in *wrong.
answer from(flows::request &r, const std::vector<row> &rows, double max_steps,
            const char *policy = "search", bool slots = false,
            std::vector<std::string> *wrong = nullptr)
{
    test_arena a(size_t{1} << 30);
    error err = collecting_error(a);
    const named_value options[] = {{"max_steps", VALUE_NUMBER, max_steps, nullptr},
                                   {"slots", VALUE_BOOLEAN, slots ? 1.0 : 0.0, nullptr}};
    std::vector<workflow_given> given;
    workflow_out out{};
    answer x{};
    bool has_steps = max_steps > 0;

    for (const row &g : rows)
        given.push_back({nullptr, g.task.c_str(),
                         g.resource.empty() ? nullptr : g.resource.c_str(), g.start_s,
                         none, g.slot, nullptr, 0});
    r.in.initial = given.data();
    r.in.initial_count = given.size();
    enum error_code code =
        workflow_decide(r.build(), policy_find(workflow_policies, policy),
                        options + !has_steps, (size_t)has_steps + 1, &out, a, &err);
    r.in.initial = nullptr;
    r.in.initial_count = 0;
    if (wrong)
        for (const error_item *i = err.first; i; i = i->next)
            wrong->push_back(std::string(i->pointer) + " " + item_kinds[i->code].name);
    else if (code != OK)
        FAIL(err.field << ": " << err.text);
    if (code != OK)
        return x;
    x.status = out.status;
    x.makespan_s = out.objective.makespan_s;
    x.unplaced = out.unplaced_count;
    for (size_t i = 0; i < out.schedule_count; i++) {
        const workflow_placement &p = out.schedule[i];

        x.rows.push_back(
            {p.task_id, p.resource_id ? p.resource_id : "", p.start_s, (double)p.slot});
    }
    for (size_t i = 0; i < out.warning_count; i++)
        x.warnings.push_back(out.warnings[i]);
    return x;
}

// 40 tasks in layers on 5 unlike machines: too much for lists and one step.
flows::request layered(uint64_t seed)
{
    rng d = rng_stream(seed, "initial tests");
    std::vector<std::vector<double>> times(40, std::vector<double>(5));
    std::vector<edge> edges;

    for (auto &line : times)
        for (double &time_s : line)
            time_s = 1 + (double)rng_index(&d, 60);
    for (size_t i = 8; i < 40; i++)
        for (size_t k = 0; k < 3; k++)
            edges.push_back(
                {8 * (i / 8 - 1) + (i + k * 3) % 8, i, (double)rng_index(&d, 20)});
    return by_matrix(times, edges);
}

} // namespace

TEST_CASE("a search of workflows starts from the schedule that it is given", "[workflow]")
{
    size_t gained = 0;

    for (uint64_t seed = 0; seed < 4; seed++) {
        flows::request r = layered(seed);
        answer best = from(r, {}, 5000), lists = from(r, {}, 1);

        for (const char *policy : {"search", "auto"}) {
            answer again = from(r, best.rows, 1, policy);

            INFO(seed << " " << policy);
            CHECK(again.warning("initial") == "");
            CHECK(again.makespan_s <= best.makespan_s);
        }
        CHECK(best.makespan_s <= lists.makespan_s);
        gained += best.makespan_s < lists.makespan_s;

        // Without times: in the order of the rows, which is that of the starts.
        std::vector<row> untimed = best.rows;
        for (row &g : untimed)
            g.start_s = none;
        CHECK(from(r, untimed, 1).makespan_s <= best.makespan_s * (1 + 1e-12));
        for (row &g : untimed)
            g.slot = none;
        CHECK(from(r, untimed, 1).makespan_s <= best.makespan_s * (1 + 1e-12));

        // What waits for nothing does no harm, and one on a single machine none either.
        for (row &g : best.rows)
            g.start_s += 1000;
        CHECK(from(r, best.rows, 1).makespan_s <= best.makespan_s);
        for (row &g : untimed)
            g.resource = "p0";
        CHECK(from(r, untimed, 1).makespan_s == lists.makespan_s);
    }
    CHECK(gained >= 3); // else nothing was tested
}

TEST_CASE("auto without a limit is not worse than what it starts from", "[workflow]")
{
    flows::request r = layered(3);
    answer best = from(r, {}, 10000);

    CHECK(from(r, best.rows, 0, "auto").makespan_s <= best.makespan_s);
}

TEST_CASE("a schedule that breaks a rule is not started from", "[workflow]")
{
    flows::request r = two_tasks();
    std::vector<row> good = {{"a", "p1", 0, none}, {"b", "p1", 5, none}};

    r.tasks()[1].parents[0].transfer_s = 4;
    CHECK(from(r, good, 10).warnings.empty());
    auto first = [&](std::vector<row> rows) {
        answer x = from(r, rows, 10);
        CHECK(x.makespan_s == 10);
        return x.warning("initial_refused");
    };
    const std::string end = "; the search began without it";
    CHECK(first({good[0], {"b", "p0", 8, none}}) ==
          "initial_refused: task 'b' on p0: transfer" + end);
    CHECK(first({good[0], {"b", "p1", 4, none}}) ==
          "initial_refused: task 'b': precedence" + end);
    CHECK(first({good[0], {"b", "p1", 5, 1}}) ==
          "initial_refused: task 'b' on p1: no_slot" + end);
    CHECK(first({{"b", "p1", none, none}, {"a", "p1", none, none}}) ==
          "initial_refused: task 'b' on p1: precedence" + end);
    r.tasks()[1].etc_s = {none, 5};
    CHECK(first({{"a", "p1", none, none}, {"b", "p0", none, none}}) ==
          "initial_refused: task 'b' on p0: cannot_run" + end);
}

TEST_CASE("rows of a start without times say so", "[workflow]")
{
    flows::request r = two_tasks();
    answer x = from(r, {{"a", "p1", 0, none}, {"b", "p1", none, none}}, 10);

    CHECK(x.warnings ==
          std::vector<std::string>{
              "ignored: /initial: start_s of 1 row not used: 1 has none, and "
              "all were placed in their order"});
}

TEST_CASE("mistakes of a schedule to start from", "[workflow]")
{
    flows::request r = two_tasks();
    std::vector<std::string> wrong;

    from(r, {{"x", "p1", 0, none}, {"b", "p9", 5, none}, {"a", "p0", 1e300, none}}, 10,
         "search", false, &wrong);
    CHECK(wrong == std::vector<std::string>{"/initial/0/task_id unknown_id",
                                            "/initial/1/resource_id unknown_id",
                                            "/initial/2/start_s out_of_bounds"});
    wrong.clear();
    from(r, {{"a", "p1", 0, none}, {"b", "p1", 5, none}, {"a", "p1", 0, none}}, 10,
         "search", false, &wrong);
    CHECK(wrong == std::vector<std::string>{"/initial/2/task_id duplicate"});
    wrong.clear();
    from(r, {{"a", "p1", 0, none}}, 10, "search", false, &wrong);
    CHECK(wrong == std::vector<std::string>{"/initial required"});
    wrong.clear();
    from(r, {{"a", "p1", 0, none}}, 0, "heft", false, &wrong);
    CHECK(wrong == std::vector<std::string>{"/initial conflict"});
}

TEST_CASE("what has begun, and what can run nowhere, needs no row", "[workflow]")
{
    flows::request r = two_tasks();

    r.tasks()[0].given.status = WORKFLOW_RUNNING;
    r.tasks()[0].given.resource_id = "p1";
    r.tasks()[0].given.start_s = -1;
    r.tasks()[0].given.finish_s = 3;
    answer x = from(r, {{"a", "", none, none}, {"b", "p1", 3, none}}, 10);
    CHECK(x.warning("initial_refused") == "");
    CHECK(x.warning("ignored: /initial: 1 row of tasks that have begun not looked at") !=
          "");

    flows::request nowhere = two_tasks();
    nowhere.add_task("c", 6).etc_s = {none, none};
    nowhere.add_task("d", 6).parents.push_back({2, none, none});
    x = from(nowhere, {}, 10);
    CHECK(x.unplaced == 2);
    CHECK(from(nowhere, x.rows, 10).warning("initial_refused") == "");
}

TEST_CASE("slots of a schedule to start from", "[workflow]")
{
    flows::request r;

    r.add_resource(1).n_max = 2;
    for (const char *id : {"a", "b", "c"})
        r.add_task(id, 10);
    std::vector<row> rows = {{"a", "p0", none, 1}, {"b", "p0", none, 1}, {"c", "p0"}};
    CHECK(from(r, rows, 1, "search", true).warning("initial_refused") == "");
    CHECK(from(r, rows, 1).warning("initial_refused") != "");
}

TEST_CASE("random schedules to start from: never worse, and valid",
          "[workflow][property]")
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        flows::request r = draw_whole(seed, 9);
        answer best = from(r, {}, 3000), again = from(r, best.rows, 1);

        INFO(seed);
        CHECK(again.warning("initial_refused") == "");
        CHECK(again.makespan_s <= best.makespan_s);
        std::vector<row> untimed = best.rows;
        for (row &g : untimed)
            g.start_s = none;
        CHECK(from(r, untimed, 1).warning("initial_refused") == "");
    }
}

TEST_CASE("a schedule to start from comes as an answer has it", "[api][workflow]")
{
    api a;
    nlohmann::json body = example("workflow-search");
    const std::string path = "/v1/workflow-schedules";

    body["options"]["max_steps"] = 20000;
    nlohmann::json best = answered(a, path, body);
    body["options"]["max_steps"] = 1;
    body["initial"] = best["schedule"];
    nlohmann::json again = answered(a, path, body);
    CHECK(again["objective"]["makespan_s"] <= best["objective"]["makespan_s"]);
    CHECK(again["warnings"] == nlohmann::json::array());
    body["initial"][0]["start_s"] = 1000;
    again = answered(a, path, body);
    CHECK(again["warnings"].dump().find("initial_refused") != std::string::npos);
    body["algorithm"] = "heft";
    body.erase("kind");
    body.erase("options");
    CHECK(workflow_api::refused(a, path, body) == std::set<std::string>{"/initial"});
    body["algorithm"] = "balanced";
    CHECK(workflow_api::refused(a, path, body) == std::set<std::string>{"/initial"});
    body["algorithm"] = "auto";
    body["options"] = {{"moves", "rounds"}};
    again = answered(a, path, body);
    CHECK(again["warnings"].dump().find("a round does not use: /initial (10 rows)") !=
          std::string::npos);
}
