// Static policies of workflows: the examples of spec workflows.md 8.1 and the data of
// shared/data.
#include "tests/workflow_support.hpp"

#include <zlib.h>

extern "C" {
#include "algorithms/workflow/list.h"
#include "models/dax.h"
#include "models/wfformat.h"
}

using namespace flows;

namespace
{

// Figure 2 and Table 1 of Topcuoglu, Hariri, Wu 2002: numbers from the paper.
request topcuoglu()
{
    return by_matrix({{14, 16, 9},
                      {13, 19, 18},
                      {11, 13, 19},
                      {13, 8, 17},
                      {12, 13, 10},
                      {13, 16, 9},
                      {7, 15, 11},
                      {5, 11, 14},
                      {18, 12, 20},
                      {21, 7, 16}},
                     {{0, 1, 18},
                      {0, 2, 12},
                      {0, 3, 9},
                      {0, 4, 11},
                      {0, 5, 14},
                      {1, 7, 19},
                      {1, 8, 16},
                      {2, 6, 23},
                      {3, 7, 27},
                      {3, 8, 23},
                      {4, 8, 13},
                      {5, 7, 15},
                      {6, 9, 17},
                      {7, 9, 11},
                      {8, 9, 13}});
}

// Figure 1 of Arabnejad, Barbosa 2014: numbers from the paper.
request arabnejad()
{
    return by_matrix({{22, 21, 36},
                      {22, 18, 18},
                      {32, 27, 43},
                      {7, 10, 4},
                      {29, 27, 35},
                      {26, 17, 24},
                      {14, 25, 30},
                      {29, 23, 36},
                      {15, 21, 8},
                      {13, 16, 33}},
                     {{0, 1, 17},
                      {0, 2, 31},
                      {0, 3, 29},
                      {0, 4, 13},
                      {0, 5, 7},
                      {1, 7, 3},
                      {1, 8, 30},
                      {2, 6, 16},
                      {3, 7, 11},
                      {3, 8, 7},
                      {4, 8, 57},
                      {5, 7, 5},
                      {6, 9, 9},
                      {7, 9, 42},
                      {8, 9, 7}});
}

struct want {
    const char *task, *resource;
    double start_s, finish_s;
};

void check_schedule(const decision &d, const std::vector<want> &wanted)
{
    REQUIRE(d.schedule.size() == wanted.size());
    for (const want &w : wanted) {
        const placed &p = d.of(w.task);

        INFO(w.task);
        CHECK(p.resource == w.resource);
        CHECK(p.start_s == Approx(w.start_s).margin(1e-9));
        CHECK(p.finish_s == Approx(w.finish_s).margin(1e-9));
    }
}

} // namespace

TEST_CASE("HEFT follows Topcuoglu's example", "[workflow]")
{
    request r = topcuoglu();
    decision d = decide(r, "heft");

    CHECK(d.objective.makespan_s == Approx(80).epsilon(1e-12));
    check_schedule(d, {{"0", "p2", 0, 9},
                       {"2", "p2", 9, 28},
                       {"3", "p1", 18, 26},
                       {"1", "p0", 27, 40},
                       {"4", "p2", 28, 38},
                       {"5", "p1", 26, 42},
                       {"8", "p1", 56, 68},
                       {"6", "p2", 38, 49},
                       {"7", "p0", 57, 62},
                       {"9", "p1", 73, 80}});
    CHECK(d.critical == std::vector<std::string>{"0", "3", "5", "7", "9"});
    CHECK(d.status == DECISION_FEASIBLE);
}

TEST_CASE("PEFT and CPOP follow Topcuoglu's example", "[workflow]")
{
    request r = topcuoglu();
    decision d = decide(r, "peft");

    CHECK(decide(r, "cpop").objective.makespan_s == Approx(86).epsilon(1e-12));
    CHECK(d.objective.makespan_s == Approx(85).epsilon(1e-12));
    check_schedule(d, {{"0", "p1", 0, 16},
                       {"3", "p1", 16, 24},
                       {"1", "p1", 24, 43},
                       {"4", "p2", 27, 37},
                       {"2", "p0", 28, 39},
                       {"5", "p0", 39, 52},
                       {"6", "p0", 52, 59},
                       {"8", "p1", 50, 62},
                       {"7", "p0", 62, 67},
                       {"9", "p1", 78, 85}});
}

TEST_CASE("Arabnejad's example", "[workflow]")
{
    request r = arabnejad();

    CHECK(decide(r, "heft").objective.makespan_s == Approx(133).epsilon(1e-12));
    CHECK(decide(r, "peft").objective.makespan_s == Approx(122).epsilon(1e-12));
    CHECK(decide(r, "cpop").objective.makespan_s == Approx(167).epsilon(1e-12));
    CHECK(decide(r, "auto").objective.makespan_s <=
          decide(r, "peft").objective.makespan_s);
}

// ---- shared/data ----

namespace
{

std::string data_file(const std::string &name)
{
    const char *folder = std::getenv("GRIDPLAN_DATA");
    gzFile file = folder ? gzopen((folder + ("/" + name)).c_str(), "rb") : nullptr;
    std::string text;
    char piece[4096];

    for (int got = 1; file && got > 0;) { // reads what is not compressed too
        got = gzread(file, piece, sizeof(piece));
        if (got > 0)
            text.append(piece, (size_t)got);
    }
    if (file)
        gzclose(file);
    return text;
}

std::vector<std::vector<std::string>> rows_of(const std::string &text)
{
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text);
    std::string line, cell;

    while (std::getline(lines, line)) {
        std::istringstream cells(line);

        rows.emplace_back();
        while (std::getline(cells, cell, ','))
            rows.back().push_back(cell);
    }
    return rows;
}

// Matrices with a row and a column of names.
request from_matrices(const std::string &folder, const std::string &prefix)
{
    auto times = rows_of(data_file(folder + prefix + "_task_exe_time.csv"));
    auto links = rows_of(data_file(folder + prefix + "_task_connectivity.csv"));
    std::vector<std::vector<double>> time_s;
    std::vector<edge> edges;

    for (size_t i = 1; i < times.size(); i++) {
        time_s.emplace_back();
        for (size_t p = 1; p < times[i].size(); p++)
            time_s.back().push_back(std::stod(times[i][p]));
    }
    for (size_t i = 1; i < links.size(); i++)
        for (size_t j = 1; j < links[i].size(); j++)
            if (std::stod(links[i][j]) > 0)
                edges.push_back({i - 1, j - 1, std::stod(links[i][j])});
    return by_matrix(time_s, edges);
}

// Sections #tasks "task: times" and #edges "number: parent, child, time".
request from_text(const std::string &name)
{
    std::vector<std::vector<double>> time_s;
    std::vector<edge> edges;
    std::string section;

    for (auto &row : rows_of(data_file("04-dag/small-literature/" + name + ".txt"))) {
        size_t colon = row[0].find(':');

        if (row[0][0] == '#')
            section = row[0];
        if (colon == std::string::npos)
            continue;
        row[0] = row[0].substr(colon + 1);
        if (section == "#tasks") {
            time_s.emplace_back();
            for (const std::string &cell : row)
                time_s.back().push_back(std::stod(cell));
        } else {
            edges.push_back({std::stoul(row[0]), std::stoul(row[1]), std::stod(row[2])});
        }
    }
    return by_matrix(time_s, edges);
}

request small_graph(const std::string &name)
{
    if (name.find("heft-canonical") != std::string::npos)
        return from_matrices("04-dag/heft-canonical/", "canonicalgraph");
    if (name.find("peft-example") != std::string::npos)
        return from_matrices("04-dag/peft-example/", "peftgraph");
    return from_text(name);
}

// A workflow that a reader of models/ made, on the machines of dag_workflows.csv.
decision decide_imported(const workflow &imported, const char *policy)
{
    request r;
    test_arena a;
    error err = collecting_error(a);
    workflow_out out{};
    workflow_in in;
    decision d{};

    for (double speed : {1.0, 1.5, 2.0, 3.0})
        r.add_resource(speed);
    r.grid.network.wan_mbps = 1000;
    in = *r.build();
    in.workflows = &imported;
    in.workflow_count = 1;
    REQUIRE(workflow_decide(&in, policy_find(workflow_policies, policy), nullptr, 0, &out,
                            a, &err) == OK);
    d.objective = out.objective;
    CHECK(out.schedule_count == imported.task_count);
    return d;
}

} // namespace

TEST_CASE("every row of dag_small_optimal.csv comes out exactly", "[workflow]")
{
    auto rows = rows_of(data_file("reference/dag_small_optimal.csv"));

    if (rows.empty()) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    REQUIRE(rows.size() == 8);
    for (size_t i = 1; i < rows.size(); i++) {
        request r = small_graph(rows[i][0]);
        static const char *const policies[] = {"heft", "cpop", "peft"};
        double optimum_s = std::stod(rows[i][7]);

        INFO(rows[i][0]);
        REQUIRE(r.tasks().size() == std::stoul(rows[i][1]));
        for (size_t k = 0; k < 3; k++) {
            decision d = decide(r, policies[k]);

            INFO(policies[k]);
            CHECK(d.objective.makespan_s ==
                  Approx(std::stod(rows[i][4 + k])).epsilon(1e-12));
            CHECK(d.objective.lower_bound_s <= optimum_s * (1 + 1e-12));
        }
        // The published optimal schedule, as somebody's plan.
        test_arena a;
        std::vector<placed> optimal;
        std::istringstream list(rows[i][8]);
        std::string entry;
        while (list >> entry) {
            size_t at = entry.find('@'), colon = entry.find(':');

            optimal.push_back({"", entry.substr(0, at),
                               entry.substr(at + 1, colon - at - 1),
                               std::stod(entry.substr(colon + 1)), none, none, 0, 0});
        }
        workflow_check_out c = check(r, optimal, a);
        CHECK(c.valid);
        CHECK(c.objective.makespan_s == Approx(optimum_s).epsilon(1e-12));
        CHECK(c.repaired_makespan_s == Approx(optimum_s).epsilon(1e-12));
    }
}

TEST_CASE("every row of dag_workflows.csv comes out", "[workflow]")
{
    auto rows = rows_of(data_file("reference/dag_workflows.csv"));

    if (rows.empty()) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    REQUIRE(rows.size() == 7);
    for (size_t i = 1; i < rows.size(); i++) {
        bool dax = rows[i][0] == "dax";
        std::string text = data_file(
            "04-dag/" + std::string(dax ? "pegasus-dax/" : "wfinstances/") + rows[i][1]);
        static const char *const policies[] = {"heft", "cpop", "peft"};
        test_arena a;
        error err = collecting_error(a);
        workflow_import read{};

        INFO(rows[i][1]);
        REQUIRE((dax ? dax_read : wfformat_read)(text.data(), text.size(), "", &read, a,
                                                 &err) == OK);
        CHECK(read.task_count == std::stoul(rows[i][2]));
        CHECK(read.dependency_count == std::stoul(rows[i][3]));
        for (size_t k = 0; k < 3; k++) {
            INFO(policies[k]);
            // Its DAX rows are exact to the digits given; the others within 2 %.
            CHECK(decide_imported(read.workflow, policies[k]).objective.makespan_s ==
                  Approx(std::stod(rows[i][7 + k]))
                      .epsilon(dax ? 0 : 0.02)
                      .margin(dax ? 6e-5 : 0));
        }
    }
}

TEST_CASE("ranks of Topcuoglu's example", "[workflow]")
{
    request r = topcuoglu();
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    double *up, *down;
    const double rank_u[] = {108,       77,        80,        80,        69,
                             190.0 / 3, 128.0 / 3, 107.0 / 3, 133.0 / 3, 44.0 / 3};
    const double prio[] = {108, 108, 105, 102, 93, 271.0 / 3, 105, 307.0 / 3, 108, 108};

    REQUIRE(workflow_problem_make(r.build(), false, &problem, a, &err) == OK);
    workflow_ranks(problem, &up, &down, a);
    for (size_t i = 0; i < 10; i++) {
        INFO(i);
        CHECK(up[i] == Approx(rank_u[i]).epsilon(1e-12));
        CHECK(up[i] + down[i] == Approx(prio[i]).epsilon(1e-12));
    }
}

// ---- time limits, and auto ----

static bool warns(const decision &d, const std::string &of)
{
    for (const std::string &w : d.warnings)
        if (w.rfind(of, 0) == 0)
            return true;
    return false;
}

TEST_CASE("when the time for lists is up, the rest is placed in haste; then in turn",
          "[workflow]")
{
    request r;
    double share = 0.9;
    budget limit = make_budget(
        [](void *context) { return *static_cast<double *>(context); }, &share);

    r.add_resource(1);
    r.add_resource(0);
    for (size_t i = 0; i < 100; i++)
        r.add_task("t" + std::to_string(i), 1).parents.push_back({i ? i - 1 : 0});
    r.tasks()[0].parents.clear();
    for (const char *policy : {"heft", "cpop", "peft", "search"}) {
        INFO(policy);
        share = 0.9;
        decision d = decide(r, policy, false, &limit);
        CHECK(d.schedule.size() == 100);
        CHECK(d.objective.makespan_s == 100);
        share = 1;
        d = decide(r, policy, false, &limit);
        CHECK(d.status == DECISION_CUT);
        CHECK(d.schedule.size() == 100); // only one resource can run them
        CHECK(d.objective.makespan_s == 100);
        CHECK(warns(d, "cut_to_round_robin"));
        CHECK_FALSE(warns(d, "bound_skipped")); // so few tasks take no time
        // Nobody waits for the answer any more.
        budget gone = make_budget([](void *) { return 2.0; }, nullptr);
        limit.finish = &gone;
        d = decide(r, policy, false, &limit);
        limit.finish = nullptr;
        CHECK(d.status == DECISION_CUT);
        CHECK(d.schedule.empty());
        CHECK(d.missing("t99")->reason == "time_limit");
    }
}

TEST_CASE("bounds that the time limit leaves no time for are told", "[workflow]")
{
    request r;
    budget spent = make_budget([](void *) { return 1.0; }, nullptr);

    for (size_t p = 0; p < 200; p++)
        r.add_resource(1 + (double)(p % 3));
    for (size_t i = 0; i < 3000; i++)
        r.add_task("t" + std::to_string(i), 1 + (double)(i % 7)).parents = {{i / 2}};
    r.tasks()[0].parents.clear();
    decision d = decide(r, "heft", false, &spent);
    CHECK(d.status == DECISION_CUT);
    CHECK(d.schedule.size() == 3000);
    CHECK(warns(d, "cut_to_round_robin"));
    CHECK(warns(d, "bound_skipped"));
    CHECK(d.objective.lower_bound_s > 0);
    CHECK(d.objective.lower_bound_s <= d.objective.makespan_s);
}

// What `auto` says without any option.
std::string choice_of_auto(request &r)
{
    test_arena a(size_t{2} << 30);
    error err = collecting_error(a);
    workflow_out out{};

    r.in.budget = nullptr;
    REQUIRE(workflow_decide(r.build(), policy_find(workflow_policies, "auto"), nullptr, 0,
                            &out, a, &err) == OK);
    return std::string(out.algorithm) + ": " + out.because;
}

TEST_CASE("auto says what it chose and why", "[workflow]")
{
    request r = topcuoglu(), large;

    CHECK(choice_of_auto(r) == "search: the best of heft 80 s, cpop 86 s, peft 85 s, "
                               "search 73 s");
    CHECK(decide(r, "auto").objective.makespan_s <= 80);
    r.in.time_limit_given = true;
    CHECK(choice_of_auto(r) == "search: the request allows time for a search");
    for (int p = 0; p < 3; p++)
        large.add_resource(1);
    for (int i = 0; i < 2001; i++)
        large.add_task("t" + std::to_string(i), 3);
    CHECK(choice_of_auto(large) ==
          "heft: the best of heft 2001 s, cpop 2001 s, peft 2001 s");
}

TEST_CASE("several ends are worth a warning", "[workflow]")
{
    request r;

    r.add_resource(1);
    r.add_task("a", 1);
    r.add_task("b", 1);
    CHECK(decide(r, "heft").warnings ==
          std::vector<std::string>{
              "several_ends: the workflow has 2 entry tasks and 2 exit tasks"});
    r.add_task("c", 1).parents = {{0}, {1}};
    r.workflow_ids = {"w1"};
    CHECK(decide(r, "heft").warnings ==
          std::vector<std::string>{
              "several_ends: workflow 'w1' has 2 entry tasks and 1 exit task"});
    r.tasks()[1].parents = {{0}};
    CHECK(decide(r, "heft").warnings.empty());
}
