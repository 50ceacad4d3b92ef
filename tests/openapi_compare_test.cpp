// openapi_compare_test.cpp - what breaks a client, and what does not.
#include "tests/api.hpp"
#include "tests/system.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

extern "C" {
#include "service/openapi.h"
#include "service/openapi_compare.h"
}

using nlohmann::json;

namespace
{

// Two operations: placements are decided, and what was stored of them is read.
// Simulations have kinds.
json description()
{
    return json::parse(R"({
        "openapi":"3.1.0","security":[{},{"bearer":[]}],
        "paths":{
          "/v1/placements":{"post":{"operationId":"decidePlacements","tags":["Placement"],
            "parameters":[{"name":"seed","in":"query","required":false,
                           "schema":{"type":"integer","default":1}}],
            "requestBody":{"required":true,"content":{"application/json":{
              "schema":{"$ref":"#/components/schemas/PlacementsRequest"}}}},
            "responses":{"200":{"headers":{"X-Request-Id":{"schema":{"type":"string"}}},
              "content":{"application/json":{
                "schema":{"$ref":"#/components/schemas/PlacementsAnswer"}}}},
              "422":{"description":"wrong"}}}},
          "/v1/simulations":{"post":{"operationId":"simulate","tags":["Simulation"],
            "requestBody":{"required":true,"content":{"application/json":{
              "schema":{"$ref":"#/components/schemas/AnyRequest"}}}},
            "responses":{"200":{"content":{"application/json":{
              "schema":{"$ref":"#/components/schemas/AnyAnswer"}}}}}}},
          "/v1/simulations/{id}":{"get":{"operationId":"getSimulation",
            "tags":["Simulation"],"security":[],
            "responses":{"200":{"content":{"application/json":{
              "schema":{"$ref":"#/components/schemas/AnyAnswer"}}}}}}}},
        "components":{"schemas":{
          "PlacementsRequest":{"type":"object","additionalProperties":false,
            "required":["jobs"],"properties":{
              "jobs":{"type":"array","maxItems":1000000,
                      "items":{"$ref":"#/components/schemas/Job"}},
              "order":{"type":"string","enum":["plain","priority"]},
              "mips_external":{"description":"load",
                "allOf":[{"type":"number","minimum":0,"default":0}]}}},
          "Job":{"type":"object","required":["id"],"additionalProperties":false,
            "properties":{"id":{"type":"string","minLength":1,"maxLength":256},
              "parts":{"type":"array","items":{"$ref":"#/components/schemas/Job"}},
              "at":{"anyOf":[{"type":"string","format":"date-time"},
                             {"type":"number"}]}}},
          "PlacementsAnswer":{"type":"object","required":["status","placements"],
            "properties":{"status":{"type":"string","enum":["optimal","feasible"]},
              "reason":{"type":"string","x-known-values":["memory","cpus"]},
              "placements":{"type":"array","items":{
                "$ref":"#/components/schemas/Placement"}}}},
          "Placement":{"type":"object","required":["job_id","finish_s"],
            "properties":{"job_id":{"type":"string"},"finish_s":{"type":"number"},
              "slot":{"type":["integer","null"]},
              "best":{"anyOf":[{"$ref":"#/components/schemas/Placement"},
                               {"type":"null"}]}}},
          "AnyRequest":{"oneOf":[{"$ref":"#/components/schemas/GridRequest"}],
            "discriminator":{"propertyName":"kind",
              "mapping":{"grid":"#/components/schemas/GridRequest"}}},
          "GridRequest":{"type":"object","required":["kind"],"properties":{
            "kind":{"type":"string","enum":["grid"]}}},
          "AnyAnswer":{"oneOf":[{"$ref":"#/components/schemas/GridAnswer"}],
            "discriminator":{"propertyName":"kind",
              "mapping":{"grid":"#/components/schemas/GridAnswer"}}},
          "GridAnswer":{"type":"object","required":["kind"],"properties":{
            "kind":{"type":"string","enum":["grid"]}}}}}})");
}

struct verdict {
    size_t breaking, additions, allowed;
    std::string text; // a line each: "breaking OPERATION PLACE: WHAT"
    enum error_code code;
    std::string mistake;
};

verdict assess(const json &old, const json &now, const char *breaks = nullptr)
{
    test_arena a;
    error err = collecting_error(a);
    openapi_comparison r{};
    verdict v{};

    v.code = openapi_compare(old.dump().c_str(), now.dump().c_str(), breaks, &r, a, &err);
    v.mistake = v.code == OK ? "" : err.text;
    v.breaking = r.breaking_count;
    v.additions = r.addition_count;
    v.allowed = r.allowed_count;
    CHECK(v.breaking + v.additions + v.allowed == r.count);
    for (size_t i = 0; i < r.count; i++)
        v.text += std::string(r.list[i].allowed    ? "allowed "
                              : r.list[i].breaking ? "breaking "
                                                   : "addition ") +
                  r.list[i].operation + " " + r.list[i].place + ": " + r.list[i].what +
                  "\n";
    return v;
}

// The description with one place changed, assessed against itself.
template <class change> verdict after(change &&apply)
{
    json now = description();

    apply(now);
    return assess(description(), now);
}

json &schema(json &d, const char *name)
{
    return d["components"]["schemas"][name];
}

json &members(json &d, const char *name)
{
    return schema(d, name)["properties"];
}

void add_kind(json &d, const char *of, const char *name)
{
    std::string reference = std::string("#/components/schemas/") + name;

    schema(d, of)["oneOf"].push_back({{"$ref", reference}});
    schema(d, of)["discriminator"]["mapping"]["batch"] = reference;
    schema(d, name) = {{"type", "object"}, {"required", json::array({"kind"})}};
    members(d, name)["kind"] = {{"type", "string"}, {"enum", json::array({"batch"})}};
}

json real()
{
    test_arena a;
    text_buffer b{};

    b.arena = a;
    openapi_print(routes(), &b);
    REQUIRE_FALSE(b.failed);
    return json::parse(std::string(b.data, b.length));
}

} // namespace

TEST_CASE("fourteen changes of a description are assessed", "[openapi]")
{
    const json number = {{"type", "number"}};
    const std::string post = "POST /v1/placements ";

    SECTION("1: an optional member of a request")
    {
        CHECK(after([&](json &d) { members(d, "Job")["cpus"] = number; }).text ==
              "addition " + post + "request/jobs[]/cpus: a new member\n");
    }
    SECTION("2: a required one")
    {
        CHECK(after([&](json &d) {
                  members(d, "Job")["cpus"] = number;
                  schema(d, "Job")["required"].push_back("cpus");
              }).text == "breaking " + post +
                             "request/jobs[]/cpus: a new member that must be there\n");
    }
    SECTION("3: a member of an answer")
    {
        CHECK(after([&](json &d) { members(d, "Placement")["cost"] = number; }).text ==
              "addition " + post + "200/placements[]/cost: a new member\n");
    }
    SECTION("4: a member of an answer may be null")
    {
        CHECK(after([&](json &d) {
                  members(d, "Placement")["finish_s"]["type"] = {"number", "null"};
              }).text ==
              "breaking " + post +
                  "200/placements[]/finish_s: type that clients do not know: null\n");
    }
    SECTION("5: it is not always there")
    {
        CHECK(after([&](json &d) {
                  schema(d, "Placement")["required"] = json::array({"job_id"});
              }).text == "breaking " + post +
                             "200/placements[]/finish_s: the member is not always there "
                             "now\n");
    }
    SECTION("6: fewer elements")
    {
        CHECK(after([&](json &d) {
                  members(d, "PlacementsRequest")["jobs"]["maxItems"] = 1000;
              }).text == "breaking " + post +
                             "request/jobs: maxItems is tighter: 1000, was 1000000\n");
    }
    SECTION("7: a word of a request")
    {
        CHECK(after([&](json &d) {
                  members(d, "PlacementsRequest")["order"]["enum"].push_back("due");
              }).text == "addition " + post +
                             "request/order: a value that clients do not know: due\n");
        // Any word instead: lengths are bounded by the words that there were.
        CHECK(after([&](json &d) {
                  members(d, "PlacementsRequest")["order"] = {
                      {"type", "string"}, {"minLength", 5}, {"maxLength", 9}};
              }).text.find("breaking") == std::string::npos);
        CHECK(after([&](json &d) {
                  members(d, "PlacementsRequest")["order"] = {{"type", "string"},
                                                              {"maxLength", 7}};
              }).text.find("maxLength is tighter: 7, was 8") != std::string::npos);
    }
    SECTION("8: a word of an answer")
    {
        CHECK(after([&](json &d) {
                  members(d, "PlacementsAnswer")["status"]["enum"].push_back("cut");
              }).text ==
              "breaking " + post + "200/status: a value that clients do not know: cut\n");
    }
    SECTION("9: an operation's id")
    {
        CHECK(after([&](json &d) {
                  d["paths"]["/v1/placements"]["post"]["operationId"] = "place";
              }).text == "breaking " + post +
                             ": the operation's id is place, was decidePlacements\n");
    }
    SECTION("10: a default")
    {
        CHECK(after([&](json &d) {
                  members(
                      d, "PlacementsRequest")["mips_external"]["allOf"][0]["default"] = 7;
              }).text ==
              "breaking " + post + "request/mips_external: the default is 7, was 0\n");
    }
    SECTION("11: a status")
    {
        verdict v = after([&](json &d) {
            json &answers = d["paths"]["/v1/placements"]["post"]["responses"];
            answers["201"] = answers["200"];
            answers.erase("200");
        });
        CHECK(v.text == "breaking " + post + "200: the status is gone\n" + "breaking " +
                            post + "201: a new status\n");
        CHECK(v.breaking == 2);
    }
    SECTION("12: a kind of an answer")
    {
        verdict v = after([&](json &d) { add_kind(d, "AnyAnswer", "BatchAnswer"); });
        CHECK(v.breaking == 2);
        CHECK(v.additions == 0);
    }
    SECTION("13: a kind of a request, and the answer to it alone")
    {
        CHECK(after([&](json &d) { add_kind(d, "AnyRequest", "BatchRequest"); }).text ==
              "addition POST /v1/simulations request: a new kind: batch\n");
        verdict v = after([&](json &d) {
            add_kind(d, "AnyRequest", "BatchRequest");
            add_kind(d, "AnyAnswer", "BatchAnswer");
        });
        CHECK(v.breaking == 0);
        CHECK(v.additions == 3);
    }
    SECTION("14: a path")
    {
        CHECK(after([&](json &d) { d["paths"].erase("/v1/placements"); }).text ==
              "breaking " + post + ": the operation is gone\n");
        json less = description();
        less["paths"].erase("/v1/placements");
        CHECK(assess(less, description()).text ==
              "addition " + post + ": a new operation\n");
    }
}

TEST_CASE("the other way round a change means the opposite", "[openapi]")
{
    json more = description();

    members(more, "PlacementsRequest")["order"]["enum"].push_back("due");
    CHECK(assess(more, description()).breaking == 1);
    more = description();
    members(more, "PlacementsAnswer")["status"]["enum"].push_back("cut");
    CHECK(assess(more, description()).additions == 1);
    more = description();
    members(more, "PlacementsRequest")["jobs"]["maxItems"] = 1000;
    CHECK(assess(more, description()).additions == 1);
    more = description();
    members(more, "Placement")["finish_s"]["type"] = {"number", "null"};
    CHECK(assess(more, description()).additions == 1);
    more = description();
    members(more, "Job")["cpus"] = {{"type", "number"}};
    CHECK(
        assess(more, description()).text ==
        "breaking POST /v1/placements request/jobs[]/cpus: the member is gone; an alias "
        "would still take it\n");
}

TEST_CASE("rules that the fourteen do not reach", "[openapi]")
{
    struct {
        const char *what;
        void (*apply)(json &);
        size_t breaking, additions;
    } cases[] = {
        {"an answer's integer becomes a number", // others do not know 1.5
         [](json &d) {
             members(d, "Placement")["slot"]["type"] = {"number", "null"};
         },
         1, 0},
        {"an answer's number becomes an integer",
         [](json &d) { members(d, "Placement")["finish_s"]["type"] = "integer"; }, 0, 1},
        {"an instant that is no number any more",
         [](json &d) { members(d, "Job")["at"]["anyOf"].erase(1); }, 1, 0},
        {"a request may be null",
         [](json &d) {
             members(d, "Job")["id"]["type"] = {"string", "null"};
         },
         0, 1},
        {"a nullable object that is never null",
         [](json &d) { members(d, "Placement")["best"]["anyOf"].erase(1); }, 0, 1},
        {"an open list grows",
         [](json &d) {
             members(d, "PlacementsAnswer")["reason"]["x-known-values"].push_back("gpus");
         },
         0, 1},
        {"a list becomes open",
         [](json &d) {
             json &status = members(d, "PlacementsAnswer")["status"];
             status.erase("enum");
             status["x-known-values"] = {"optimal", "feasible"};
         },
         1, 0},
        {"a bound becomes exclusive",
         [](json &d) {
             json &number = members(d, "PlacementsRequest")["mips_external"]["allOf"][0];
             number.erase("minimum");
             number["exclusiveMinimum"] = 0;
         },
         1, 0},
        {"a longer text", [](json &d) { members(d, "Job")["id"]["maxLength"] = 1024; }, 0,
         1},
        {"a request member must be there",
         [](json &d) { schema(d, "PlacementsRequest")["required"].push_back("order"); },
         1, 0},
        {"a request member may be left out",
         [](json &d) { schema(d, "Job").erase("required"); }, 0, 1},
        {"a member is always there",
         [](json &d) { schema(d, "PlacementsAnswer")["required"].push_back("reason"); },
         0, 1},
        {"members of any name",
         [](json &d) { schema(d, "Job").erase("additionalProperties"); }, 0, 1},
        {"a parameter is gone",
         [](json &d) { d["paths"]["/v1/placements"]["post"].erase("parameters"); }, 1, 0},
        {"a header is gone",
         [](json &d) {
             d["paths"]["/v1/placements"]["post"]["responses"]["200"].erase("headers");
         },
         1, 0},
        {"a further mistake",
         [](json &d) {
             d["paths"]["/v1/placements"]["post"]["responses"]["429"] = {
                 {"description", "too many"}};
         },
         0, 1},
        {"a key where none was needed",
         [](json &d) { d["paths"]["/v1/simulations/{id}"]["get"].erase("security"); }, 1,
         0},
        {"a tag",
         [](json &d) {
             d["paths"]["/v1/placements"]["post"]["tags"] = json::array({"Jobs"});
         },
         1, 0},
        {"another content type of a request",
         [](json &d) {
             d["paths"]["/v1/placements"]["post"]["requestBody"]["content"]["text/csv"] =
                 json::object();
         },
         0, 1},
        {"a content type is named instead of described",
         [](json &d) {
             json &post = d["paths"]["/v1/placements"]["post"];
             post["responses"]["200"]["content"]["image/svg+xml"] = json::object();
             post["x-also-answers"] = json::array({"text/plain"});
         },
         0, 2},
        {"another member tells the kinds",
         [](json &d) {
             schema(d, "AnyRequest")["discriminator"]["propertyName"] = "mode";
         },
         1, 0},
        {"descriptions, titles, examples",
         [](json &d) {
             members(d, "Job")["id"]["description"] = "a name";
             members(d, "Job")["id"]["example"] = "x";
             schema(d, "Job")["title"] = "Job";
             d["paths"]["/v1/placements"]["post"]["summary"] = "Where?";
         },
         0, 0},
    };

    for (auto &c : cases) {
        verdict v = after(c.apply);
        INFO(c.what << "\n" << v.text << v.mistake);
        CHECK(v.code == OK);
        CHECK(v.breaking == c.breaking);
        CHECK(v.additions == c.additions);
    }
}

TEST_CASE("the description of today breaks nothing of itself", "[openapi]")
{
    json now = real(), changed = now;
    verdict v = assess(now, now);

    CHECK(v.text == "");
    CHECK(v.code == OK);

    // One enum of the answers is in many places, each of them an answer that changes.
    changed["components"]["schemas"]["Problem"]["properties"]["status"]["type"] =
        "number";
    CHECK(assess(now, changed).breaking > 50);
    size_t paths = 0;
    for (const auto &[path, methods] : now["paths"].items())
        paths += methods.size();
    changed = now;
    changed["paths"] = json::object();
    CHECK(assess(now, changed).breaking == paths);
    CHECK(assess(changed, now).additions == paths);
}

TEST_CASE("a deliberate break is allowed beside the next major version", "[openapi]")
{
    json old = description(), now = description();
    const char *line = " POST /v1/placements | 200/placements[]/finish_s | seconds were "
                       "wrong | 2027-06-30 \n";

    members(now, "Placement").erase("finish_s");
    schema(now, "Placement")["required"] = json::array({"job_id"});
    CHECK(assess(old, now, "# nothing\n\n").breaking == 1);
    CHECK(assess(old, now, line).mistake.find("no path in the next major version") !=
          std::string::npos);
    now["paths"]["/v2/placements"] = now["paths"]["/v1/placements"];
    verdict v = assess(old, now, line);
    CHECK(v.code == OK);
    CHECK(v.breaking == 0);
    CHECK(v.allowed == 1);
    CHECK(assess(old, now, "POST /v1/placements | 200/status | why | 2027-06-30")
              .mistake.find("nothing breaks there") != std::string::npos);
    for (const char *wrong : {"POST /v1/placements", "POST /v1/placements | | why | soon",
                              "POST /v1/placements | 200/status | | 2027-06-30"})
        CHECK(assess(old, now, wrong).mistake.find("line 1 is not") != std::string::npos);
    CHECK(assess(json::object(), now).mistake.find("it has no paths") !=
          std::string::npos);
}

TEST_CASE("gridplan openapi --compare says what breaks by its exit status",
          "[openapi][system]")
{
    folder f;
    json old = real();
    int status = -1;

    std::ofstream(f.path + "/released.json") << old.dump();
    std::string text = run_command(
        {build_binary, "openapi", "--compare", f.path + "/released.json"}, &status);
    CHECK(text == "0 breaking, 0 allowed, 0 additions\n");
    CHECK(status == 0);

    old["paths"]["/v1/gone"] = old["paths"]["/livez"];
    std::ofstream(f.path + "/released.json") << old.dump();
    text = run_command({build_binary, "openapi", "--compare", f.path + "/released.json"},
                       &status);
    CHECK(text == "breaking  GET /v1/gone: the operation is gone\n"
                  "1 breaking, 0 allowed, 0 additions\n");
    CHECK(status == 1);

    std::ofstream(f.path + "/breaks.txt") << "GET /v1/gone | why\n";
    text = run_command({build_binary, "openapi", "--compare", f.path + "/released.json"},
                       &status);
    CHECK(text.find("line 1 is not") != std::string::npos);
    CHECK(status == 2);
    run_command({build_binary, "openapi", "--compare", f.path + "/none.json"}, &status);
    CHECK(status == 2);
}

namespace
{

// A row of the change log: | 2026-11-23 | 2 | decidePlacements | what |
struct change {
    int revision;
    std::string operation, what;
};

std::vector<change> changes_of(std::istream &log)
{
    std::vector<change> list;
    for (std::string line; std::getline(log, line);) {
        if (line.rfind("| 20", 0) != 0)
            continue;
        std::vector<std::string> cells;
        std::istringstream in(line.substr(1));
        for (std::string cell; std::getline(in, cell, '|');) {
            size_t from = cell.find_first_not_of(' '), to = cell.find_last_not_of(' ');
            cells.push_back(from == std::string::npos ? ""
                                                      : cell.substr(from, to + 1 - from));
        }
        REQUIRE(cells.size() >= 4);
        list.push_back({std::stoi(cells[1]), cells[2], cells[3]});
    }
    return list;
}

// Additions since the release of which no row of a later revision speaks. A row names an
// operation by its id or as method and path, several with commas, or says "all".
std::vector<std::string> unsaid(const std::string &compared, const json &present,
                                int released, const std::vector<change> &log)
{
    std::vector<std::string> list;
    std::istringstream lines(compared);
    for (std::string line, word, method, path; std::getline(lines, line);) {
        std::istringstream words(line);
        words >> word >> method >> path;
        if (word != "addition")
            continue;
        while (!path.empty() && (path.back() == ':' || path.back() == ','))
            path.pop_back();
        std::string small = method, id;
        std::transform(small.begin(), small.end(), small.begin(), ::tolower);
        if (present["paths"].contains(path) && present["paths"][path].contains(small))
            id = present["paths"][path][small]["operationId"].get<std::string>();
        bool said = false;
        for (const change &c : log) {
            std::istringstream names(c.operation);
            for (std::string name;
                 c.revision > released && std::getline(names, name, ',');) {
                name.erase(0, name.find_first_not_of(" `"));
                name.erase(name.find_last_not_of(" `") + 1);
                said |= name == "all" || name == method + " " + path || name == id;
            }
        }
        if (!said)
            list.push_back(line);
    }
    return list;
}

} // namespace

TEST_CASE("rows of the change log speak of additions", "[openapi]")
{
    std::istringstream text("# Changes\n\n| date | revision | operation | what |\n"
                            "| --- | --- | --- | --- |\n"
                            "| 2026-11-23 | 1 | all | the first |\n"
                            "| 2026-12-01 | 2 | addRuns, `POST /v1/a` | new |\n");
    std::vector<change> log = changes_of(text);
    json now = json::parse(R"({"paths":{"/v1/a":{"post":{"operationId":"addA"}},
        "/v1/runs":{"post":{"operationId":"addRuns"},"get":{"operationId":"runs"}}}})");
    const std::string compared = "addition  POST /v1/a: a member\n"
                                 "addition  POST /v1/runs: the operation is new\n"
                                 "breaking  GET /v1/b: the operation is gone\n"
                                 "addition  GET /v1/runs: 200/items: new\n"
                                 "1 breaking, 0 allowed, 3 additions\n";

    REQUIRE(log.size() == 2);
    CHECK(unsaid(compared, now, 1, log) ==
          std::vector<std::string>{"addition  GET /v1/runs: 200/items: new"});
    CHECK(unsaid(compared, now, 2, log).size() == 3);
    log.push_back({3, "all", ""});
    CHECK(unsaid(compared, now, 2, log).empty());
}

// openapi/released.json is the description of the last release: nothing of it may break,
// and what has come since is a row of the change log under a later revision.
TEST_CASE("nothing that was released is broken, and what is new is said",
          "[openapi][system]")
{
    const std::string folder = GRIDPLAN_SOURCE_DIR "/openapi/";
    std::ifstream log(folder + "CHANGES.md"), in(folder + "released.json");
    const std::vector<change> rows = changes_of(log);
    std::vector<int> revisions;

    REQUIRE_FALSE(rows.empty());
    for (const change &row : rows) {
        revisions.push_back(row.revision);
        CHECK_FALSE(row.what.empty());
    }
    CHECK(std::is_sorted(revisions.begin(), revisions.end()));
    CHECK(revisions.back() == API_REVISION);
    for (int revision = 1; revision <= API_REVISION; revision++)
        CHECK(std::count(revisions.begin(), revisions.end(), revision) > 0);
    if (!in) {
        WARN("openapi/released.json is made with the first release");
        return;
    }
    const json released =
        json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
    int status = -1;
    std::string text = run_command(
        {build_binary, "openapi", "--compare", folder + "released.json"}, &status);
    INFO(text);
    CHECK(status == 0);
    CHECK(unsaid(text, real(), released["info"]["x-gridplan-api-revision"], rows) ==
          std::vector<std::string>{});
}

TEST_CASE("a bound that is a setting breaks nobody", "[openapi]")
{
    auto limited = [](double maximum, bool setting) {
        json d = description();
        json &p = members(d, "Job")["time_limit_s"];
        p = {{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", maximum}};
        if (setting)
            p["x-gridplan-setting"] = "time_limit_max_s";
        return d;
    };

    CHECK(assess(limited(600, true), limited(60, true)).breaking == 0);
    CHECK(assess(limited(600, false), limited(60, false)).breaking == 1);
    json more = limited(600, true);
    members(more, "Job")["time_limit_s"]["exclusiveMinimum"] = 1;
    CHECK(assess(limited(600, true), more).breaking == 1);
}
