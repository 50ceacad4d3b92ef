// workflow_import_test.cpp - workflows from DAX, STG and WfFormat: what is read, what is
// repaired and counted, what is refused, and with which words.
#include "tests/support.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

extern "C" {
#include "handlers/workflow/workflow_import.h"
#include "models/json_walk.h"
#include "service/gzip.h"
}

namespace
{

struct imported {
    enum error_code code;
    workflow_import out;
    std::map<std::string, uint64_t> repairs;
    std::vector<std::string> pointers, kinds, details;

    const workflow_task &task(const std::string &id) const
    {
        for (size_t i = 0; i < out.workflow.task_count; i++)
            if (out.workflow.tasks[i].id == id)
                return out.workflow.tasks[i];
        FAIL("no task " << id);
        return out.workflow.tasks[0];
    }
    // Bytes of the dependency, -1: there is none.
    double bytes(const std::string &parent, const std::string &child) const
    {
        const workflow_task &t = task(child);

        for (size_t i = 0; i < t.dependency_count; i++)
            if (t.depends_on[i].task_id == parent)
                return t.depends_on[i].bytes;
        return -1;
    }
    bool refused_with(const std::string &kind, const std::string &words) const
    {
        for (size_t i = 0; i < kinds.size(); i++)
            if (kinds[i] == kind && details[i].find(words) != std::string::npos)
                return true;
        return false;
    }
};

imported import_in(arena *a, workflow_format format, const std::string &text)
{
    static const char *const pointers[] = {"/dax", "/stg", "/wfformat"};
    imported in{};
    error err = collecting_error(a);

    in.code = workflow_import_text(format, text.data(), text.size(), pointers[format],
                                   &in.out, a, &err);
    REQUIRE(in.code == err.code);
    for (size_t i = 0; i < in.out.repair_count; i++)
        in.repairs[in.out.repairs[i].kind] = in.out.repairs[i].count;
    for (const error_item *e = err.first; e; e = e->next) {
        in.pointers.push_back(e->pointer);
        in.kinds.push_back(item_kinds[e->code].name);
        in.details.push_back(e->detail);
        UNSCOPED_INFO(e->pointer << ": " << item_kinds[e->code].name << ": "
                                 << e->detail);
    }
    if (in.code != OK)
        UNSCOPED_INFO(err.text);
    return in;
}

std::string dax(const std::string &inside)
{
    return "<?xml version=\"1.0\"?>\n<adag version=\"2.1\">\n" + inside + "\n</adag>\n";
}

std::string file_of(const std::string &name)
{
    std::ifstream in(std::string(getenv("GRIDPLAN_DATA")) + "/" + name, std::ios::binary);
    std::ostringstream text;

    REQUIRE(in);
    text << in.rdbuf();
    return text.str();
}

const char *two_tasks = R"({"name":"w","schemaVersion":"1.5","workflow":{
 "specification":{"tasks":[
   {"name":"make","id":"a","parents":[],"children":["b"],"inputFiles":["in"],
    "outputFiles":["f"]},
   {"name":"use","id":"b","parents":["a"],"children":[],"inputFiles":["f"]}],
  "files":[{"id":"f","sizeInBytes":1000},{"id":"in","sizeInBytes":70}]},
 "execution":{"makespanInSeconds":3,"tasks":[
   {"id":"a","runtimeInSeconds":1.5},{"id":"b","runtimeInSeconds":2}]}}})";

} // namespace

TEST_CASE("files of the reference table give its figures", "[import]")
{
    if (!getenv("GRIDPLAN_DATA")) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    std::istringstream table(file_of("reference/dag_workflows.csv"));
    std::string line, cell;
    size_t rows = 0;

    std::getline(table, line);
    for (; std::getline(table, line); rows++) {
        std::vector<std::string> cells;
        std::istringstream row(line);

        while (std::getline(row, cell, ','))
            cells.push_back(cell);
        test_arena a;
        bool xml = cells[0] == "dax";
        std::string text = file_of(
            "04-dag/" + std::string(xml ? "pegasus-dax/" : "wfinstances/") + cells[1]);
        if (!xml) {
            const char *json;
            size_t length;
            error err = collecting_error(a);

            REQUIRE(gzip_inflate(text.data(), text.size(), 1 << 24, &json, &length, a,
                                 &err) == OK);
            text.assign(json, length);
        }
        imported in = import_in(a, xml ? WORKFLOW_DAX : WORKFLOW_WFFORMAT, text);
        INFO(cells[1]);
        REQUIRE(in.code == OK);
        CHECK(in.out.task_count == std::stoul(cells[2]));
        CHECK(in.out.dependency_count == std::stoul(cells[3]));
        CHECK(in.out.dependency_bytes == std::stod(cells[4]));
        CHECK(in.out.run_time_s == Approx(std::stod(cells[5])).epsilon(1e-12));
        CHECK(in.out.critical_path_s == Approx(std::stod(cells[6])).epsilon(1e-12));
        CHECK(in.repairs.count("added_dependencies") == 0);
        CHECK(in.repairs.count("unknown_sizes") == 0);
    }
    CHECK(rows == 6);
}

TEST_CASE("the published task graph and Topcuoglu's DAX are read", "[import]")
{
    if (!getenv("GRIDPLAN_DATA")) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    test_arena a;
    imported stg = import_in(a, WORKFLOW_STG, file_of("04-dag/stg/rand0000-n100.stg"));

    REQUIRE(stg.code == OK);
    CHECK(stg.out.task_count == 102);
    CHECK(stg.out.dependency_count == 591); // 570 and 21 of dummies
    CHECK(stg.out.run_time_s == 581);
    CHECK(stg.out.critical_path_s == 94);
    CHECK(stg.out.dependency_bytes == 0);
    CHECK(stg.out.repair_count == 0);

    imported heft =
        import_in(a, WORKFLOW_DAX, file_of("04-dag/pegasus-dax/HEFT_paper.xml"));
    REQUIRE(heft.code == OK);
    CHECK(heft.out.task_count == 10);
    CHECK(heft.bytes("ID00001", "ID00002") == 2250);
    CHECK(heft.repairs["missing_counts"] == 1); // its jobCount is that of Montage
}

TEST_CASE("a DAX gives tasks, files and dependencies", "[import]")
{
    test_arena a;
    imported in = import_in(a, WORKFLOW_DAX, dax(R"(
<job id="a" name="make" runtime="8">
  <uses file="f" link="output" size="100"/><uses file="g" link="output" size="20"/>
  <uses file="in" link="input" size="7"/></job>
<job id="b" name="use" runtime="5"><uses file="f" link="input" size="100"/></job>
<job id="c" name="use" runtime="1"><uses file="f" link="input" size="100"/>
  <uses file="g" link="input" size="20"/></job>
<child ref="b"><parent ref="a"/></child>
<child ref="c"><parent ref="a"/><parent ref="b"/></child>)"));

    REQUIRE(in.code == OK);
    CHECK(in.out.format == std::string("dax"));
    CHECK(in.out.repair_count == 0);
    CHECK(in.bytes("a", "b") == 100);
    CHECK(in.bytes("a", "c") == 120);
    CHECK(in.bytes("b", "c") == 0);
    CHECK(in.task("a").input_bytes == 7);
    CHECK(in.task("a").output_bytes == 120);
    CHECK(in.task("b").input_bytes == 0);
    CHECK(in.task("a").estimate_ref_s == 8);
    CHECK(in.out.labels[1] == std::string("use"));
    CHECK(in.out.critical_path_s == 14);
    CHECK(std::isnan(in.task("b").depends_on[0].transfer_s));
}

TEST_CASE("DAX 3: names, profiles and metadata, prefixes, jobs that are workflows",
          "[import]")
{
    test_arena a;
    imported in = import_in(a, WORKFLOW_DAX, R"(<p:adag xmlns:p="http://x" version="3.6">
<p:file name="in"><p:metadata key="size">33</p:metadata></p:file>
<p:job id="a" name="m">
  <p:argument>-i <p:file name="in"/></p:argument>
  <p:profile namespace="pegasus" key="runtime"> 60 </p:profile>
  <p:profile namespace="env" key="runtime">9</p:profile>
  <p:uses name="in" link="input"/>
  <p:uses name="o" link="output"><p:metadata key="size">12.5</p:metadata></p:uses>
  <p:uses name="log" link="checkpoint" size="9"/></p:job>
<p:dax id="b" file="sub.dax"><p:uses name="o" link="inout" size="12.5"/></p:dax>
<p:child ref="b"><p:parent ref="a"/></p:child></p:adag>)");

    REQUIRE(in.code == OK);
    CHECK(in.task("a").estimate_ref_s == 60);
    CHECK(in.task("a").input_bytes == 33);
    CHECK(in.bytes("a", "b") == 12.5);
    CHECK(std::isnan(in.task("b").estimate_ref_s));
    CHECK(in.out.labels[1] == std::string("sub.dax"));
    // The argument and the profile that says nothing of Pegasus.
    CHECK(in.repairs ==
          std::map<std::string, uint64_t>{{"left_out", 2}, {"unknown_run_times", 1}});
}

TEST_CASE("dirt of published files is repaired and counted", "[import]")
{
    test_arena a;
    const std::map<std::string, uint64_t> none;
    struct {
        const char *when;
        std::string inside;
        std::map<std::string, uint64_t> repairs;
        double input_bytes, dependency_bytes;
    } cases[] = {
        {"a negative run time",
         R"(<job id="a" runtime="-1"/><job id="b" runtime="1"/>)",
         {{"unknown_run_times", 1}},
         0,
         0},
        {"a negative size of a written file",
         R"(<job id="a" runtime="1"><uses file="f" link="output" size="-5"/></job>
            <job id="b" runtime="1"><uses file="f" link="input" size="9"/></job>
            <child ref="b"><parent ref="a"/></child>)",
         none, // its reader knows better
         0, 9},
        {"no size at all",
         R"(<job id="a" runtime="1"><uses file="f" link="output"/></job>
            <job id="b" runtime="1"><uses file="f" link="input"/></job>
            <child ref="b"><parent ref="a"/></child>)",
         {{"unknown_sizes", 1}},
         0,
         0},
        {"another size where it is read",
         R"(<job id="a" runtime="1"><uses file="f" link="output" size="4"/></job>
            <job id="b" runtime="1"><uses file="f" link="input" size="9"/></job>
            <child ref="b"><parent ref="a"/></child>)",
         {{"differing_sizes", 1}},
         0,
         4},
        {"a dependency twice",
         R"(<job id="a" runtime="1"/><job id="b" runtime="1"/>
            <child ref="b"><parent ref="a"/><parent ref="a"/></child>
            <child ref="b"><parent ref="a"/></child>)",
         {{"repeated_dependencies", 2}},
         0,
         0},
        {"a file twice",
         R"(<job id="a" runtime="1"><uses file="f" link="input" size="3"/>
            <uses file="f" link="input" size="3"/></job>)",
         {{"repeated_files", 1}},
         3,
         0},
        {"a dependency that only a file shows",
         R"(<job id="a" runtime="1"><uses file="f" link="output" size="4"/></job>
            <job id="b" runtime="1"><uses file="f" link="input" size="4"/></job>)",
         {{"added_dependencies", 1}},
         0,
         4},
        {"two of them that would close a circle",
         R"(<job id="a" runtime="1"><uses file="f" link="output" size="4"/>
              <uses file="g" link="input" size="6"/></job>
            <job id="b" runtime="1"><uses file="f" link="input" size="4"/>
              <uses file="g" link="output" size="6"/></job>)",
         {{"unordered_reads", 2}},
         10,
         0},
        {"a file that a task changes in place",
         R"(<job id="a" runtime="1"><uses file="f" link="inout" size="4"/></job>)", none,
         4, 0},
        {"a file of several writers comes from those that are parents",
         R"(<job id="a" runtime="1"><uses file="f" link="output" size="4"/></job>
            <job id="b" runtime="1"><uses file="f" link="output" size="4"/></job>
            <job id="c" runtime="1"><uses file="f" link="input" size="4"/></job>
            <child ref="c"><parent ref="b"/></child>)",
         none, 0, 4},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            imported in = import_in(a, WORKFLOW_DAX, dax(c.inside));

            REQUIRE(in.code == OK);
            CHECK(in.repairs == c.repairs);
            CHECK(in.out.warning_count == c.repairs.size());
            CHECK(in.out.input_bytes == c.input_bytes);
            CHECK(in.out.dependency_bytes == c.dependency_bytes);
        }
}

TEST_CASE("mistakes in a DAX are named with their lines, all of them", "[import]")
{
    test_arena a;
    imported in = import_in(a, WORKFLOW_DAX, dax(R"(<job id="a" runtime="x"/>
<job id="a" runtime="1"/>
<job runtime="1"/>
<job id="b" runtime="1e999"/>
<child ref="b"><parent ref="z"/>
<parent/></child>)"));

    REQUIRE(in.code == ERR_INVALID);
    REQUIRE(in.kinds.size() == 6);
    CHECK(in.refused_with("wrong_type", "line 3: the run time 'x'"));
    CHECK(in.refused_with("duplicate", "line 4: there is a task 'a'"));
    CHECK(in.refused_with("required", "line 5: <job> needs the attribute id"));
    CHECK(in.refused_with("wrong_type", "line 6: the run time '1e999'"));
    CHECK(in.refused_with("unknown_id", "line 7: there is no task 'z'"));
    CHECK(in.refused_with("required", "line 8: <parent> needs the attribute ref"));
    CHECK(in.pointers[0] == "/dax");
}

TEST_CASE("XML that is no DAX, or is dangerous, is refused", "[import]")
{
    struct {
        const char *when, *kind, *words;
        std::string text;
    } cases[] = {
        {"nothing", "malformed", "no element found", ""},
        {"no task", "required", "no task", dax("")},
        {"cut", "malformed", "line 3", "<adag>\n<job id=\"a\" runtime=\"1\"/>\n<chi"},
        {"wrong nesting", "malformed", "mismatched tag", "<adag><job></adag></job>"},
        {"another document", "not_dax", "<html>", "<html></html>"},
        {"entities that grow", "doctype", "line 1",
         "<!DOCTYPE adag [<!ENTITY a \"xxxxxxxxxx\"><!ENTITY b \"&a;&a;&a;&a;\">]>"
         "<adag name=\"&b;\"/>"},
        {"a DTD from elsewhere", "doctype", "line 1",
         "<!DOCTYPE adag SYSTEM \"file:///etc/passwd\"><adag/>"},
        {"an entity that is not XML's", "malformed", "undefined entity",
         "<adag name=\"&x;\"/>"},
        {"circle", "cycle", "2 tasks need each other",
         dax("<job id='a' runtime='1'/><job id='b' runtime='1'/><job id='c' runtime='1'/>"
             "<child ref='a'><parent ref='b'/></child>"
             "<child ref='b'><parent ref='a'/></child>"
             "<child ref='c'><parent ref='b'/></child>")},
        {"itself", "cycle", "1 tasks need each other: 'a' needs 'a'",
         dax("<job id='a' runtime='1'/><child ref='a'><parent ref='a'/></child>")},
        {"a long id", "too_long", "line 3",
         dax("<job id='" + std::string(300, 'x') + "' runtime='1'/>")},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            test_arena a;
            imported in = import_in(a, WORKFLOW_DAX, c.text);

            REQUIRE(in.code == ERR_INVALID);
            CHECK(in.refused_with(c.kind, c.words));
        }
    test_arena a;
    std::string deep;
    for (int i = 0; i < 100000; i++)
        deep += "<x>";
    CHECK(import_in(a, WORKFLOW_DAX, "<adag>" + deep).refused_with("too_deep", ""));
}

TEST_CASE("a task graph is read with and without costs of communication", "[import]")
{
    test_arena a;
    imported plain = import_in(a, WORKFLOW_STG,
                               "# head\n  2\n 0 0 0\n 1 8 1 0 # note\n 2 5 2 0 1\n"
                               " 3 0 1 2\n# Tasks : 2\n");
    REQUIRE(plain.code == OK);
    CHECK(plain.out.task_count == 4);
    CHECK(plain.out.dependency_count == 4);
    CHECK(plain.out.critical_path_s == 13);
    CHECK(plain.task("2").depends_on[0].transfer_s == 0);
    CHECK(plain.out.repair_count == 0);

    for (const char *text : {"2 4\n0 0 0\n1 8 1 0 0\n2 5 2 0 1.5 1 7\n3 0 1 2 0\n",
                             "2\n0 0 0\n1 8 1\n0 0\n2 5 2\n0 1.5\n1 7\n3 0 1\n2 0\n"}) {
        imported costs = import_in(a, WORKFLOW_STG, text);

        REQUIRE(costs.code == OK);
        CHECK(costs.out.task_count == 4);
        const workflow_task &t = costs.task("2");
        REQUIRE(t.dependency_count == 2);
        CHECK(t.depends_on[0].transfer_s == 1.5);
        CHECK(t.depends_on[1].transfer_s == 7);
        CHECK(t.depends_on[1].bytes == 0);
    }
}

TEST_CASE("mistakes in a task graph are named with their lines", "[import]")
{
    struct {
        const char *when, *kind, *words, *text;
    } cases[] = {
        {"nothing", "cut", "line 1", ""},
        {"a word", "wrong_type", "line 2: 'x'", "1\nx 0 0\n"},
        {"cut in a task", "cut", "line 4: the text ends where a predecessor",
         "1\n0 0 0\n1 5 2 0\n"},
        {"cut between tasks", "cut", "2 tasks are there", "5\n0 0 0\n1 5 1 0\n"},
        {"a predecessor that is not there", "unknown_id", "line 3: there is no task '9'",
         "1\n0 0 0\n1 5 1 9\n2 0 1 1\n"},
        {"a number twice", "duplicate", "line 3", "1\n0 0 0\n0 5 0\n2 0 0\n"},
        {"half a task", "out_of_bounds", "line 2", "1\n0.5 0 0\n"},
        {"very many tasks", "out_of_bounds", "line 1", "1e15\n"},
        {"very many predecessors", "out_of_bounds", "line 2", "1\n0 0 1e9\n"},
        {"a negative cost", "out_of_bounds", "line 3", "1\n0 0 0\n1 5 1 0 -2\n2 0 0\n"},
        {"circle", "cycle", "2 tasks", "1\n0 0 1 1\n1 5 1 0\n2 0 0\n"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            test_arena a;
            imported in = import_in(a, WORKFLOW_STG, c.text);

            REQUIRE(in.code == ERR_INVALID);
            CHECK(in.refused_with(c.kind, c.words));
            CHECK(in.pointers[0] == "/stg");
        }
    test_arena a;
    imported negative =
        import_in(a, WORKFLOW_STG, "1\n0 0 0\n1 -5 1 0\n2 0 1 1\n3 0 0\n");
    REQUIRE(negative.code == OK);
    CHECK(negative.repairs["unknown_run_times"] == 1);
    CHECK(negative.repairs["missing_counts"] == 1);
}

TEST_CASE("WfFormat 1.5 is read", "[import]")
{
    test_arena a;
    imported in = import_in(a, WORKFLOW_WFFORMAT, two_tasks);

    REQUIRE(in.code == OK);
    // name, schemaVersion, makespanInSeconds
    CHECK(in.repairs == std::map<std::string, uint64_t>{{"left_out", 3}});
    CHECK(in.out.dependency_count == 1);
    CHECK(in.bytes("a", "b") == 1000);
    CHECK(in.task("a").input_bytes == 70);
    CHECK(in.out.run_time_s == 3.5);
    CHECK(in.out.labels[0] == std::string("make"));
}

TEST_CASE("older layouts of WfFormat are read", "[import]")
{
    test_arena a;
    imported v14 = import_in(a, WORKFLOW_WFFORMAT, R"({"schemaVersion":"1.4","workflow":{
      "machines":[{"nodeName":"n","cpu":{"speed":1200}}],
      "tasks":[
       {"parents":[],"files":[{"link":"output","name":"f","sizeInBytes":5}],
        "name":"x","id":"ID1","runtimeInSeconds":2,"machines":["n","m"]},
       {"name":"y","id":"ID2","runtimeInSeconds":3,"parents":["ID1"],"children":[],
        "files":[{"link":"input","id":"f","sizeInBytes":5}]}]}})");
    REQUIRE(v14.code == OK);
    CHECK(v14.bytes("ID1", "ID2") == 5);
    CHECK(v14.repairs == std::map<std::string, uint64_t>{
                             {"left_out", 1}, {"machines", 1}, {"several_machines", 1}});

    imported v13 = import_in(a, WORKFLOW_WFFORMAT, R"({"schemaVersion":"1.3","workflow":{
      "jobs":[{"name":"x","runtime":2,"parents":[],"files":[{"link":"output",
                "name":"f","size":5}]},
              {"name":"y","id":"ID2","runtime":3,"parents":["x"],
               "files":[{"link":"input","name":"f","size":5}]}]}})");
    REQUIRE(v13.code == OK);
    CHECK(v13.bytes("x", "ID2") == 5);
    CHECK(v13.out.run_time_s == 5);

    imported named = import_in(a, WORKFLOW_WFFORMAT, R"({"workflow":{"tasks":[
      {"name":"x","id":"1","runtime":1},{"name":"y","id":"2","runtime":1,
       "parents":["x"]}]}})");
    REQUIRE(named.code == OK);
    CHECK(named.bytes("1", "2") == 0);
    CHECK(named.repairs["references_by_name"] == 1);
}

TEST_CASE("dirt of WfFormat is repaired and counted", "[import]")
{
    test_arena a;
    // children only, parents only, twice, a run time of nobody, one that is missing, one
    // that is null, files without sizes, tasks of one name.
    imported in =
        import_in(a, WORKFLOW_WFFORMAT, R"({"workflow":{"specification":{"tasks":[
      {"id":"a","name":"n","children":["b","b","c"],"outputFiles":["f","f"]},
      {"id":"b","name":"n","parents":["a"],"inputFiles":["f"],"outputFiles":null},
      {"id":"c","name":"n","parents":[]},
      {"id":"d","name":"n","parents":["c"]}],
      "files":[{"id":"g","sizeInBytes":3},{"id":"f","sizeInBytes":-3}]},
      "execution":{"tasks":[{"id":"a","runtimeInSeconds":1},{"id":"z","runtimeInSeconds":1},
        {"id":"b","runtimeInSeconds":null},{"id":"d","runtimeInSeconds":-2},
        {"id":"c","avgCPU":3}],
       "machines":[{"nodeName":"x","cpu":{"speedInMHz":1200}}]}}})");

    REQUIRE(in.code == OK);
    CHECK(in.out.dependency_count == 3);
    CHECK(in.repairs == std::map<std::string, uint64_t>{{"left_out", 1},
                                                        {"machines", 1},
                                                        {"one_sided_dependencies", 2},
                                                        {"repeated_dependencies", 1},
                                                        {"repeated_files", 1},
                                                        {"run_times_of_no_task", 1},
                                                        {"unknown_run_times", 3},
                                                        {"unknown_sizes", 1}});
    CHECK(in.out.warnings[0] ==
          std::string("wfformat: unknown_run_times: 3. Tasks without a run time, or with "
                      "a negative one: not known"));
}

TEST_CASE("mistakes in WfFormat have JSON Pointers, all of them", "[import]")
{
    test_arena a;
    imported in =
        import_in(a, WORKFLOW_WFFORMAT, R"({"workflow":{"specification":{"tasks":[
      {"id":"a","parents":["x",3]},
      {"id":"a","children":{}},
      {"parents":[]}, 7,
      {"id":"e","name":"n","inputFiles":[{}]},
      {"id":"f","name":"n"},
      {"id":"g","parents":["n"]}],
      "files":[{"sizeInBytes":3},{"id":"f","sizeInBytes":"3"}]},
      "execution":{"tasks":[{"id":"a","runtimeInSeconds":1e30}]}}})");
    std::map<std::string, std::string> found;

    REQUIRE(in.code == ERR_INVALID);
    for (size_t i = 0; i < in.kinds.size(); i++)
        found[in.pointers[i]] = in.kinds[i];
    const std::string tasks = "/wfformat/workflow/specification/tasks";
    CHECK(
        found ==
        std::map<std::string, std::string>{
            {tasks + "/0/parents/0", "unknown_id"},
            {tasks + "/0/parents/1", "wrong_type"},
            {tasks + "/1/children", "wrong_type"},
            {tasks + "/1/id", "duplicate"},
            {tasks + "/2", "required"},
            {tasks + "/3", "wrong_type"},
            {tasks + "/4/inputFiles/0", "wrong_type"},
            {tasks + "/6/parents/0", "ambiguous"},
            {"/wfformat/workflow/specification/files/0", "required"},
            {"/wfformat/workflow/specification/files/1/sizeInBytes", "wrong_type"},
            {"/wfformat/workflow/execution/tasks/0/runtimeInSeconds", "out_of_bounds"}});
}

TEST_CASE("what is no WfFormat is refused", "[import]")
{
    struct {
        const char *kind, *pointer, *words, *text;
    } cases[] = {
        {"malformed", "/wfformat", "an object is expected", ""},
        {"wrong_type", "/wfformat", "must be an object", "[1]"},
        {"required", "/wfformat", "no task", "{}"},
        {"wrong_type", "/wfformat/workflow", "must be an object", "{\"workflow\":3}"},
        {"wrong_type", "/wfformat/workflow/specification/tasks", "must be a list",
         "{\"workflow\":{\"specification\":{\"tasks\":{}}}}"},
        {"malformed", "/wfformat", "line 2, column 6: a string", "{\n\"a:3}"},
        {"malformed", "/wfformat", "more text", "{} 3"},
        {"malformed", "/wfformat", "',' or '}'", "{\"a\":1 \"b\":2}"},
        {"malformed", "/wfformat", "U+0000",
         "{\"workflow\":{\"tasks\":[{\"id\":\"\\u0000\"}]}}"},
        {"cycle", "/wfformat/workflow/tasks/0/parents/0", "2 tasks",
         "{\"workflow\":{\"tasks\":[{\"id\":\"a\",\"parents\":[\"b\"]},{\"id\":\"b\","
         "\"parents\":[\"a\"]}]}}"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            test_arena a;
            imported in = import_in(a, WORKFLOW_WFFORMAT, c.text);

            REQUIRE(in.code == ERR_INVALID);
            CHECK(in.refused_with(c.kind, c.words));
            CHECK(in.pointers[0] == c.pointer);
        }
}

TEST_CASE("a request has one file; a document may stand in a string", "[import]")
{
    test_arena a;
    error err = collecting_error(a);
    workflow_import out{};
    workflow_import_request in{};
    std::string quoted = "\"";

    CHECK_FALSE(workflow_import_given(&in));
    for (const char *p = two_tasks; *p; p++)
        quoted += *p == '"' ? "\\\"" : *p == '\n' ? "\\n" : std::string(1, *p);
    quoted += "\"";
    in.wfformat = quoted.c_str();
    CHECK(workflow_import_given(&in));
    REQUIRE(workflow_import_read(&in, &out, a, &err) == OK);
    CHECK(out.task_count == 2);
    in.stg = "1\n0 0 0\n";
    CHECK(workflow_import_read(&in, &out, a, &err) == ERR_INVALID);
    CHECK(err.first->pointer == std::string("/wfformat"));
}

TEST_CASE("a workflow in a circle of files and many writers stays cheap", "[import]")
{
    test_arena a;
    std::string text = "<adag>";

    for (int i = 0; i < 2000; i++) {
        std::string id = std::to_string(i);

        text += "<job id='" + id + "' runtime='1'><uses file='f' link='" +
                (i < 1000 ? "output" : "input") + "' size='1'/></job>";
    }
    imported in = import_in(a, WORKFLOW_DAX, text + "</adag>");
    REQUIRE(in.code == OK);
    CHECK(in.repairs["added_dependencies"] == 1000000);
}

TEST_CASE("the readers survive an arena of any size", "[import][memory]")
{
    const std::pair<workflow_format, std::string> texts[] = {
        {WORKFLOW_DAX,
         dax(R"(<job id="a" runtime="8"><uses file="f" link="output" size="1"/>
            </job><job id="b" runtime="5"><uses file="f" link="input" size="1"/></job>)")},
        {WORKFLOW_STG, "1\n0 0 0\n1 5 1 0\n2 0 1 1\n"},
        {WORKFLOW_WFFORMAT, two_tasks},
    };
    for (const auto &[format, text] : texts)
        for (size_t cap = 0;; cap += 997) {
            test_arena a(cap);
            workflow_import out{};
            error err{};
            enum error_code code = computed(a, &err, [&] {
                return workflow_import_text(format, text.data(), text.size(), "/x", &out,
                                            a, &err);
            });
            if (code == OK)
                break;
            REQUIRE(code == ERR_TOO_LARGE);
            REQUIRE(cap < 1000000);
        }
}

TEST_CASE("a walk through JSON meets every kind of value", "[import][json]")
{
    test_arena a;
    json_walk w;
    std::string text =
        R"( {"a":[1,-2.5e3,true,null,"x\u00e9\ud83d\ude00\n"],"b":{"c":[]},"d":7} )";
    error err = collecting_error(a);

    json_walk_open(&w, text.data(), text.size(), a);
    REQUIRE(json_walk_enter(&w, '{'));
    CHECK(json_walk_member(&w) == std::string("a"));
    REQUIRE(json_walk_enter(&w, '['));
    REQUIRE(json_walk_element(&w));
    CHECK(json_walk_number(&w) == 1);
    REQUIRE(json_walk_element(&w));
    CHECK(json_walk_number(&w) == -2500);
    REQUIRE(json_walk_element(&w));
    CHECK(json_walk_type(&w) == 't');
    CHECK(std::isnan(json_walk_number(&w)));
    REQUIRE(json_walk_element(&w));
    json_walk_skip(&w);
    REQUIRE(json_walk_element(&w));
    CHECK(json_walk_string(&w) == std::string("x\xc3\xa9\xf0\x9f\x98\x80\n"));
    CHECK_FALSE(json_walk_element(&w));
    CHECK(json_walk_member(&w) == std::string("b"));
    json_walk_skip(&w);
    CHECK(json_walk_member(&w) == std::string("d"));
    CHECK(json_walk_number(&w) == 7);
    CHECK(json_walk_member(&w) == nullptr);
    CHECK(json_walk_end(&w, "", &err) == OK);

    for (const char *bad :
         {"",   "{",  "[1,]",   "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}",    "{a:1}",
          "01", "1.", "-",      "1e",   "tru",   "\"\\x\"", "\"\\ud800\"", "\"a",
          "[}", "{]", "\"\t\"", "[[[]]"}) {
        INFO(bad);
        error e = collecting_error(a);
        json_walk_open(&w, bad, strlen(bad), a);
        if (json_walk_type(&w) == '"')
            json_walk_string(&w);
        else
            json_walk_skip(&w);
        CHECK(json_walk_end(&w, "", &e) == ERR_INVALID);
    }
    std::string deep(1000, '[');
    json_walk_open(&w, deep.data(), deep.size(), a);
    json_walk_skip(&w);
    error e = collecting_error(a);
    CHECK(json_walk_end(&w, "", &e) == ERR_INVALID);
}
