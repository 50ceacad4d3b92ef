// engines_import_test.cpp - workflows as engines print them: DOT and D3 of
// Snakemake, YAML of Pegasus 5.
#include "tests/api.hpp"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

extern "C" {
#include "handlers/workflow/workflow_import.h"
}

using Catch::Detail::Approx;
using nlohmann::json;

namespace
{

std::string file_of(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/tests/data/engines/" + name, std::ios::binary);
    std::ostringstream text;

    REQUIRE(in);
    text << in.rdbuf();
    return text.str();
}

struct imported {
    enum error_code code;
    workflow_import out;
    std::vector<std::string> mistakes; // "code: detail"

    const workflow_task &task(const std::string &id) const
    {
        for (size_t i = 0; i < out.workflow.task_count; i++)
            if (out.workflow.tasks[i].id == id)
                return out.workflow.tasks[i];
        throw std::runtime_error("no task " + id);
    }
    // "a<b,c d<" : tasks with those that they need.
    std::string graph() const
    {
        std::string text;

        for (size_t i = 0; i < out.workflow.task_count; i++) {
            const workflow_task &t = out.workflow.tasks[i];

            text += (i ? " " : "") + std::string(t.id) + "<";
            for (size_t k = 0; k < t.dependency_count; k++)
                text += (k ? "," : "") + std::string(t.depends_on[k].task_id);
        }
        return text;
    }
    std::string label(const std::string &id) const
    {
        const char *name = task(id).name;

        return name ? name : "";
    }
};

imported import_in(arena *a, workflow_format format, const std::string &text)
{
    imported in{};
    error err = collecting_error(a);

    in.code =
        workflow_import_text(format, text.data(), text.size(), "/x", &in.out, a, &err);
    REQUIRE(in.code == err.code);
    for (const error_item *e = err.first; e; e = e->next)
        in.mistakes.push_back(std::string(item_kinds[e->code].name) + ": " + e->detail);
    return in;
}

// Classes and how often, and edges between classes and how often.
std::map<std::string, int> shape_of(const imported &in)
{
    std::map<std::string, int> shape;

    for (size_t i = 0; i < in.out.workflow.task_count; i++) {
        const workflow_task &t = in.out.workflow.tasks[i];

        shape[t.name]++;
        for (size_t k = 0; k < t.dependency_count; k++)
            shape[in.label(t.depends_on[k].task_id) + ">" + t.name]++;
    }
    return shape;
}

std::string first_mistake(workflow_format format, const std::string &text)
{
    test_arena a;
    imported in = import_in(a, format, text);

    return in.mistakes.empty() ? "none" : in.mistakes[0];
}

} // namespace

TEST_CASE("a DAG of Snakemake is the same graph in DOT and in D3", "[import]")
{
    struct {
        const char *folder;
        size_t nodes, edges;
    } cases[] = {{"snakemake-fan", 12, 11}, {"snakemake-failure", 5, 4}};

    for (auto &c : cases) {
        test_arena a;
        std::string folder = c.folder;
        imported dot = import_in(a, WORKFLOW_DOT, file_of(folder + "/dag.dot"));
        imported d3 = import_in(a, WORKFLOW_SNAKEMAKE_D3, file_of(folder + "/d3.json"));

        INFO(folder);
        REQUIRE(dot.code == OK);
        REQUIRE(d3.code == OK);
        CHECK(dot.out.task_count == c.nodes);
        CHECK(dot.out.dependency_count == c.edges);
        CHECK(d3.out.task_count == c.nodes);
        CHECK(d3.out.dependency_count == c.edges);
        CHECK(shape_of(dot) == shape_of(d3));
    }
    test_arena a;
    imported fan = import_in(a, WORKFLOW_DOT, file_of("snakemake-fan/dag.dot"));
    CHECK(shape_of(fan)["align>merge"] == 3);
    CHECK(shape_of(fan)["fetch>trim"] == 3);
    CHECK(shape_of(fan)["report>all"] == 1);
    CHECK(fan.label("5") == "fetch"); // of "fetch\ns: s1"
}

TEST_CASE("a workflow of Pegasus 5 is read", "[import]")
{
    test_arena a;
    imported in = import_in(a, WORKFLOW_PEGASUS, file_of("pegasus/diamond.yml"));

    REQUIRE(in.code == OK);
    CHECK(in.out.task_count == 4);
    CHECK(in.out.dependency_count == 4);
    CHECK(in.graph() == "ID0000001< ID0000002<ID0000001 ID0000003<ID0000001 "
                        "ID0000004<ID0000002,ID0000003");
    const workflow_task &first = in.task("ID0000001");
    CHECK(first.estimate_ref_s == 60);
    CHECK(first.cpus == 2);
    CHECK(first.memory_bytes == 2048e6);
    CHECK(first.input_bytes == 4e6);
    CHECK(in.label("ID0000001") == "preprocess");
    CHECK(in.task("ID0000002").estimate_ref_s == 30); // in quotes
    CHECK(in.task("ID0000002").depends_on[0].bytes == 2e6);
    CHECK(isnan(in.task("ID0000003").estimate_ref_s));
    CHECK(in.task("ID0000003").time_limit_s == 120);
    CHECK(isnan(in.task("ID0000004").estimate_ref_s));
    CHECK(in.task("ID0000004").time_limit_s == 0);

    // What the file does not say.
    const char *none[] = {"analyze"};
    workflow_assumed assumed = {none, 1, 500};
    workflow_import_assume(&in.out, &assumed);
    CHECK(in.task("ID0000003").estimate_ref_s == 120); // its time limit
    CHECK(in.task("ID0000004").estimate_ref_s == 0);
    CHECK(in.out.run_time_s == 210);
    CHECK(in.out.critical_path_s == 180);
    CHECK(in.out.input_bytes == 4e6);
    std::set<std::string> repairs;
    for (size_t i = 0; i < in.out.repair_count; i++)
        repairs.insert(in.out.repairs[i].kind + std::string(" ") +
                       std::to_string(in.out.repairs[i].count));
    CHECK(repairs.count("run_time_defaulted 1") == 1);
    CHECK(repairs.count("zero_run_times 1") == 1);
    CHECK(repairs.count("unknown_run_times 2") == 0);
}

TEST_CASE("Pegasus: files order jobs, other kinds of jobs and wrong ones", "[import]")
{
    test_arena a;
    std::string head = "pegasus: 5.0.4\njobs:\n";
    imported in = import_in(
        a, WORKFLOW_PEGASUS,
        head + "- {id: a, type: pegasusWorkflow, uses: [{lfn: f, type: output}]}\n"
               "- id: b\n"
               "  uses:\n"
               "  - {lfn: f, type: inout, size: 10}\n"
               "  - {lfn: c, type: checkpoint}\n"
               "  profiles:\n"
               "    pegasus: {cores: '4', diskspace: 3}\n"
               "- {id: c, uses: [{lfn: f, type: input, size: 7}]}\n");
    REQUIRE(in.code == OK);
    CHECK(in.task("b").cpus == 4);
    CHECK(in.task("b").disk_bytes == 3e6);
    CHECK(in.task("b").depends_on[0].task_id == std::string("a"));

    // As the Python interface writes them, and people do.
    imported other = import_in(
        a, WORKFLOW_PEGASUS,
        "\xef\xbb\xbf" + head +
            "- id: a\n"
            "  uses: [{lfn: f, type: output, metadata: {size: '1000000', x: y}}]\n"
            "  profiles:\n"
            "    pegasus: {memory: 2 GB, diskspace: '512 MB'}\n"
            "    globus: {maxwalltime: '2'}\n"
            "- {id: b, uses: [{lfn: f, type: input}], profiles: {pegasus: {memory: "
            "1024}}}\n");
    REQUIRE(other.code == OK);
    CHECK(other.task("a").memory_bytes == 2048e6);
    CHECK(other.task("a").disk_bytes == 512e6);
    CHECK(other.task("a").time_limit_s == 120);
    CHECK(other.task("b").memory_bytes == 1024e6);
    CHECK(other.task("b").depends_on[0].bytes == 1e6);

    auto wrong = [](const std::string &text) {
        return first_mistake(WORKFLOW_PEGASUS, text);
    };
    CHECK(wrong(head + "- {id: x, profiles: {pegasus: {memory: 2 GiBs}}}\n") ==
          "wrong_type: line 3: column 40: memory must be a number of at most 1e15");
    CHECK(wrong("jobs: []") == "not_a_choice: 'pegasus: \"5.0\"' is required; other "
                               "versions are not understood");
    CHECK(wrong("pegasus: '4.9'\njobs: []") ==
          "not_a_choice: 'pegasus: \"5.0\"' is required; other versions are not "
          "understood");
    CHECK(wrong(head + "- {name: x}\n") ==
          "required: line 3: column 3: a job without id");
    CHECK(wrong(head + "- {id: x, uses: 3}\n") ==
          "wrong_type: line 3: column 17: uses must be a list");
    CHECK(wrong(head + "- {id: x, uses: [{lfn: f, type: both}]}\n") ==
          "not_a_choice: line 3: column 18: the type of 'f' must be input, "
          "output, inout "
          "or checkpoint");
    CHECK(wrong(head + "- {id: x, profiles: {pegasus: {runtime: long}}}\n") ==
          "wrong_type: line 3: column 41: runtime must be a number of at most "
          "1e15");
    CHECK(wrong(head + "- {id: x}\njobDependencies: [{id: x, children: [y]}]\n") ==
          "unknown_id: line 4: there is no task 'y'");
    CHECK(wrong(head + "- {id: x}\n- {id: x}\n") ==
          "duplicate: line 4: there is a task 'x' already");
    CHECK(wrong("pegasus: '5.0'\n") == "required: there is no task");
}

TEST_CASE("DOT: what of the language is understood", "[import]")
{
    test_arena a;
    imported in = import_in(a, WORKFLOW_DOT,
                            "# by hand\nstrict DiGraph \"g\" { // c\n"
                            " rankdir=LR; graph [a=b] node [shape=box]\n"
                            " a -> \"b c\" -> -1.5 [color=\"red\"] /* x\n y */;\n"
                            " a [label=\"make\\lit\", gridplan_estimate_ref_s=7,"
                            "gridplan_cpus=\"2\"; gridplan_memory_bytes=\"1e9\"]\n"
                            " \"b c\" [label=\"say \\\"hi\\\"\\\\n\" style=\"rounded,"
                            "dashed\"] [x=y]\n"
                            " \"jo\" + \"ined\" [label=\"\"]; }\n# behind\n");
    REQUIRE(in.code == OK);
    CHECK(in.graph() == "a< b c<a -1.5<b c joined<");
    CHECK(in.task("a").estimate_ref_s == 7);
    CHECK(in.task("a").cpus == 2);
    CHECK(in.task("a").memory_bytes == 1e9);
    CHECK(in.label("a") == "make");
    CHECK(in.label("b c") == "say \"hi\"\\n");
    CHECK(in.task("b c").status == WORKFLOW_DONE);
    CHECK(in.task("a").status == WORKFLOW_IDLE);
    CHECK(in.label("-1.5") == "-1.5");
    CHECK(in.label("joined") == "joined");

    auto wrong = [](const std::string &text) {
        return first_mistake(WORKFLOW_DOT, text);
    };
    CHECK(wrong("graph { a -- b }") ==
          "not_allowed: line 1: an undirected graph; tasks need a digraph");
    CHECK(wrong("digraph {\n a -- b }") == "not_allowed: line 2: an edge without "
                                           "direction; tasks need edges a -> b");
    CHECK(wrong("digraph { subgraph x { a } }") ==
          "not_allowed: line 1: subgraphs are not understood");
    CHECK(wrong("digraph { a -> { b c } }") ==
          "not_allowed: line 1: subgraphs are not understood");
    CHECK(wrong("digraph { a:n -> b }") ==
          "not_allowed: line 1: ports are not understood");
    CHECK(wrong("digraph { a [label=<b>] }") ==
          "not_allowed: line 1: labels in HTML are not understood");
    CHECK(wrong("digraph { a -> b") ==
          "cut: line 1: the text ends before the graph does");
    CHECK(wrong("digraph { \"a") == "cut: line 1: the quotes are not closed");
    CHECK(wrong("digraph { a } b") ==
          "malformed: line 1: there is more behind the graph");
    CHECK(wrong("digraph { a; }") == "none");
    CHECK(wrong("digraph { }") == "required: there is no task");
    CHECK(wrong("digraph { a [gridplan_cpus=many] }") ==
          "wrong_type: line 1: 'many' is no number from 0 to 1e15");
    CHECK(wrong("digraph { a -> b -> a }").rfind("cycle: line 1: 2 tasks need", 0) == 0);
}

TEST_CASE("DOT may begin with the mark of UTF-8", "[import]")
{
    test_arena a;

    CHECK(import_in(a, WORKFLOW_DOT,
                    "\xef\xbb\xbf"
                    "digraph { a -> b }")
              .code == OK);
    CHECK(first_mistake(WORKFLOW_DOT, "\xef\xbb"
                                      "digraph { a }") != "none");
}

TEST_CASE("D3 of Snakemake: ids of both kinds, and what is wrong", "[import]")
{
    test_arena a;
    imported in = import_in(a, WORKFLOW_SNAKEMAKE_D3,
                            R"({"links":[{"u":"x","v":7},{"v":7,"u":8}],"more":1,
            "nodes":[{"value":{"label":"L"},"id":"x"},{"id":7,"value":{"rule":"r"}},
                     {"id":8}]})");
    REQUIRE(in.code == OK);
    CHECK(in.graph() == "x< 7<x,8 8<");
    CHECK(in.label("x") == "L");
    CHECK(in.label("7") == "r");
    CHECK(in.label("8") == "8");
    CHECK(in.out.repairs[1].kind == std::string("left_out"));

    auto wrong = [](const char *text) {
        return first_mistake(WORKFLOW_SNAKEMAKE_D3, text);
    };
    CHECK(wrong("[]") == "wrong_type: must be an object");
    CHECK(wrong(R"({"nodes":{}})") == "wrong_type: must be a list");
    CHECK(wrong(R"({"nodes":[1]})") == "wrong_type: must be an object");
    CHECK(wrong(R"({"nodes":[{"id":1.5}]})") ==
          "required: the node has no id, a whole number or a text");
    CHECK(wrong(R"({"nodes":[{"id":1}],"links":[{"u":1}]})") ==
          "required: the link has no u or no v");
    CHECK(wrong(R"({"nodes":[{"id":1}],"links":[{"u":1,"v":2}]})") ==
          "unknown_id: there is no task '2'");
}

TEST_CASE("engines' graphs are scheduled as they are", "[api]")
{
    api a;
    auto post = [&](const std::string &query, const std::string &type,
                    const std::string &text) {
        return a.call("POST", "/v1/workflow-schedules?" + query, text,
                      {{"content_type", type}});
    };
    std::string dot = file_of("snakemake-fan/dag.dot");
    api_reply r = post("speeds=1,2", "text/vnd.graphviz", dot);
    INFO(r.body);
    REQUIRE(r.status == 200);
    json j = r.json();
    CHECK(j["import"]["format"] == "dot");
    CHECK(j["import"]["task_count"] == 12);
    CHECK(j["import"]["dependency_count"] == 11);
    CHECK(j["import"]["run_time_s"] == 660); // 11 of 60 s; `all` takes no time
    CHECK(j["import"]["critical_path_s"] == 300);
    CHECK(j["schedule"].size() == 12);

    j = post("speeds=1,2&default_ref_s=10&zero_classes=report,merge", "text/vnd.graphviz",
             dot)
            .json();
    CHECK(j["import"]["run_time_s"] == 100);

    std::string d3 = file_of("snakemake-fan/d3.json");
    j = post("speeds=1,2&format=snakemake_d3", "application/json", d3).json();
    CHECK(j["import"]["format"] == "snakemake_d3");
    CHECK(j["import"]["run_time_s"] == 660);
    json body = {{"speeds", {1, 2}}, {"snakemake_d3", json::parse(d3)}};
    CHECK(a.post("/v1/workflow-schedules", body.dump()).json()["schedule"] ==
          j["schedule"]);
    CHECK(post("format=d3", "application/json", d3).status == 422);

    std::string yaml = file_of("pegasus/diamond.yml");
    r = post("speeds=1,1&default_ref_s=40", "application/yaml", yaml);
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["import"]["run_time_s"] == 60 + 30 + 40 + 40);
    body = {{"speeds", {1, 1}}, {"pegasus", yaml}, {"dot", dot}};
    r = a.post("/v1/workflow-schedules", body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/pegasus"});
    r = post("speeds=1", "text/yaml", "pegasus: '5.0'\njobs:\n- id: a\n  id: b\n");
    CHECK(r.status == 422);
    CHECK(r.json()["errors"][0]["pointer"] == "/pegasus");
    CHECK(r.json()["errors"][0]["code"] == "duplicate");

    // A task that is done takes nothing.
    r = post("speeds=1", "text/vnd.graphviz",
             "digraph { a [style=dashed]; a -> b [x=y]; b "
             "[gridplan_estimate_ref_s=5] }");
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["objective"]["makespan_s"] == 5);
}

TEST_CASE("hosts made of speeds have room for everything", "[api]")
{
    api a;
    api_reply r = a.call("POST", "/v1/workflow-schedules?speeds=1,2",
                         "pegasus: '5.0'\njobs:\n- {id: x, profiles: {pegasus: "
                         "{runtime: 1, cores: 64,"
                         " memory: 1e6, diskspace: 1e6}}}\n",
                         {{"content_type", "application/yaml"}});

    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["unplaced"].empty());
    CHECK(r.json()["schedule"].size() == 1);
}

TEST_CASE("amounts that cannot be are left out, and that is said", "[api]")
{
    api a;
    auto warnings = [&](const std::string &type, const std::string &text) {
        api_reply r = a.call("POST", "/v1/workflow-schedules?speeds=1,2&default_ref_s=60",
                             text, {{"content_type", type}});
        INFO(r.body);
        REQUIRE(r.status == 200);
        CHECK(r.json()["unplaced"].empty());
        return r.json()["warnings"].dump();
    };
    auto pegasus = [&](const std::string &profiles) {
        return warnings("application/yaml",
                        "pegasus: '5.0'\njobs:\n- {id: x, profiles: {" + profiles +
                            "}}\n");
    };
    auto has = [](const std::string &text, const std::string &what) {
        INFO(text);
        return text.find(what) != std::string::npos;
    };

    CHECK_FALSE(
        has(pegasus("pegasus: {runtime: 1, cores: 2, memory: 2048, diskspace: 100},"
                    " globus: {maxWallTime: 2}"),
            "left_out"));
    CHECK_FALSE(
        has(pegasus("pegasus: {runtime: 1, memory: 0, diskspace: 0}"), "left_out"));
    CHECK(has(pegasus("pegasus: {runtime: 1, cores: 0}"),
              "left_out: 1. Members that are not used: cpus that cannot be (1)"));
    CHECK(
        has(pegasus("pegasus: {runtime: -1, cores: -2, memory: -5, diskspace: -1},"
                    " globus: {maxWallTime: -3}"),
            "left_out: 4. Members that are not used: cpus that cannot be (1), memory "
            "that cannot be (1), disk space that cannot be (1), time limits that cannot "
            "be (1)"));
    CHECK(has(warnings("application/vnd.wfcommons.wfformat+json",
                       R"({"workflow":{"specification":{"tasks":[{"name":"a","id":"a",)"
                       R"("parents":[]}]},"execution":{"tasks":[{"id":"a",)"
                       R"("runtimeInSeconds":-5,"coreCount":-1,"memoryInBytes":-1}]}}})"),
              "cpus that cannot be (1), memory that cannot be (1)"));
    CHECK(
        has(warnings("text/vnd.graphviz",
                     "digraph g { node [gridplan_cpus=4]; a [gridplan_cpu=2, color=red];"
                     " b [gridplan_cpus=0]; a -> b [gridplan_bytes=5] }"),
            "left_out: 4. Members that are not used: gridplan_ attributes of what is "
            "no "
            "node (2), gridplan_cpu (1), cpus that cannot be (1)"));
}

TEST_CASE("engines' graphs are evaluated, too", "[api]")
{
    api a;
    json body = {{"kind", "workflow"},
                 {"speeds", {1}},
                 {"snakemake_d3", json::parse(file_of("snakemake-failure/d3.json"))},
                 {"zero_classes", {"all", "a"}},
                 {"default_ref_s", 3},
                 {"schedule", json::array()}};
    double at = 0;
    for (const char *id : {"2", "4", "1", "3", "0"}) {
        double run = id[0] == '2' || id[0] == '0' ? 0 : 3;

        body["schedule"].push_back({{"task_id", id},
                                    {"resource_id", "r1"},
                                    {"start_s", at},
                                    {"finish_s", at + run}});
        at += run;
    }
    api_reply r = a.post("/v1/evaluations", body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["valid"] == true);
}
