// answers_test.cpp - the answers to all examples are the recorded ones.
//
// Every example is posted to one service with an empty database, in the order of their
// names, so that what is stored is the same each time. A change of an answer is a visible
// line in a diff (tests/golden/README.md).
#include "tests/answers.hpp"
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/examples.hpp"
#include "tests/exposition.hpp"
#include "tests/system.hpp"

#include <fstream>
#include <sstream>

using nlohmann::json;

namespace
{

// What goes on until its time is over would never answer the same twice: steps instead.
const std::map<std::string, size_t> steps_of = {{"placement-braun", 2000}};

std::string body_of(const example &e)
{
    auto steps = steps_of.find(e.name);
    if (steps != steps_of.end()) {
        json body = json::parse(e.body);
        body.erase("time_limit_s");
        body["options"]["max_steps"] = steps->second;
        return body.dump();
    }
    if (e.name.rfind("simulation-", 0) == 0) { // 10 s may be too short for a busy machine
        json body = json::parse(e.body);
        body["time_limit_s"] = 600;
        return body.dump();
    }
    return e.body;
}

// {NAME.decision_id} in a target is what the answer to the example NAME had.
std::string filled(std::string target, const std::map<std::string, std::string> &seen)
{
    for (size_t at = 0; (at = target.find('{', at)) != std::string::npos;) {
        size_t end = target.find('}', at);
        target.replace(at, end + 1 - at, seen.at(target.substr(at + 1, end - at - 1)));
    }
    return target;
}

void remember(const std::string &example, const api_reply &reply,
              std::map<std::string, std::string> &seen)
{
    if (reply.headers.at("Content-Type").find("json") == std::string::npos)
        return;
    const json answer = reply.json();
    if (!answer.is_object())
        return;
    for (const auto &[name, value] : answer.items())
        if (value.is_string())
            seen[example + "." + name] = value.get<std::string>();
}

// What tests/answers --map prints about one answer under two names, and its exit status.
std::string mapped(const std::string &renames, const std::string &before,
                   const std::string &after, int *status)
{
    folder f;

    REQUIRE(std::filesystem::create_directory(f.path + "/old"));
    REQUIRE(std::filesystem::create_directory(f.path + "/new"));
    std::ofstream(f.path + "/old/a.json")
        << R"({"status":200,"answer":)" << before << "}";
    std::ofstream(f.path + "/new/a.json") << R"({"status":200,"answer":)" << after << "}";
    std::ofstream(f.path + "/map") << renames;
    return run_command({GRIDPLAN_SOURCE_DIR "/tests/answers", "--map", f.path + "/map",
                        f.path + "/old", f.path + "/new"},
                       status);
}

} // namespace

TEST_CASE("a map of names explains what was renamed and nothing else", "[answers]")
{
    const char *before =
        R"({"jobs":[{"progress_pct":6.4,"because":"late","end_s":7},{"progress_pct":null}]})";
    const char *after =
        R"({"jobs":[{"progress_ratio":0.064,"reason":"overdue","end_s":7},)"
        R"({"progress_ratio":null}]})";
    const char *renames = "progress_pct progress_ratio 0.01 # a share\n"
                          "/jobs/*/because /jobs/*/reason\n= late = overdue\n";
    int status = -1;

    CHECK(mapped(renames, before, after, &status) ==
          "1 answers, 0 differences that the map does not explain\n");
    CHECK(status == 0);

    std::string printed = mapped("progress_pct progress_ratio 0.01\n/because /reason\n",
                                 before, after, &status);
    CHECK(status == 1);
    CHECK(printed.find("a /answer/jobs/0/because\n    recorded \"late\"\n    found    "
                       "nothing") != std::string::npos);
    CHECK(printed.find("'/because /reason' explains nothing") != std::string::npos);
    CHECK(printed.find("/progress") == std::string::npos);

    printed = mapped("", R"({"a":1})", R"({"a":1.0})", &status);
    CHECK(status == 1);
    CHECK(printed.find("recorded 1\n    found    1.0\n") != std::string::npos);
    mapped("a", R"({"a":1})", R"({"a":1})", &status);
    CHECK(status == 1);
}

TEST_CASE("every operation has an example", "[answers]")
{
    // What differs wholly from one run to the next; itself; pictures; what works or
    // learns in the background; a model of several machines, or of several versions;
    // files that are served as they are; the interface of nf-cws, of which a recorded run
    // is played.
    const std::set<std::string> without = {"getCwsHealth",      "getCwsRun",
                                           "publishCwsFiles",   "endCwsRun",
                                           "startCwsRun",       "removeCwsEdges",
                                           "addCwsEdges",       "endCwsBatch",
                                           "removeCwsVertices", "addCwsVertices",
                                           "startCwsBatch",     "endCwsTask",
                                           "addCwsMetrics",     "getCwsTask",
                                           "addCwsTask",        "deleteSimulation",
                                           "getDecisionChart",  "getSimulationChart",
                                           "getDescription",    "getMetrics",
                                           "getSimulation",     "getSimulationSchedule",
                                           "portModel",         "rollBackModel",
                                           "getClient",         "listClients"};
    const std::vector<example> all = examples();

    for (const route *r = routes(); r->method; r++) {
        bool has = std::any_of(all.begin(), all.end(),
                               [&](const example &e) { return e.row == r; });
        if (r->flags & ROUTE_ASSET)
            continue; // pages
        INFO(r->operation);
        CHECK(has == (without.count(r->operation) == 0));
    }
}

TEST_CASE("the answers to all examples are the recorded ones", "[answers][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    recorded_answers found("examples");

    std::map<std::string, std::string> seen;
    for (const example &e : examples()) {
        INFO(e.name);
        api_reply reply = a.call(e.method, filled(e.target, seen), body_of(e), e.headers);
        found.add(e.name, reply.status, reply.headers["Content-Type"], reply.body);
        remember(e.name, reply, seen);
    }
    std::string metrics = a.get("/metrics").body;
    CHECK(check_exposition(metrics) <= 1500);
    CHECK(metrics.size() <= 150 * 1024);
    found.check();
}
