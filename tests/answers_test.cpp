// answers_test.cpp - the answers to all examples are the recorded ones.
//
// Every example is posted to one service with an empty database, in the order of their
// names, so that what is stored is the same each time. A change of an answer is a visible
// line in a diff (tests/golden/README.md).
#include "tests/answers.hpp"
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/examples.hpp"
#include "tests/system.hpp"

#include <fstream>
#include <sstream>

using nlohmann::json;

namespace
{

// What goes on until its time is over would never answer the same twice: steps instead.
const std::map<std::string, size_t> steps_of = {{"placement-braun", 2000}};

const route *route_of(const std::string &name)
{
    const route *found = nullptr;

    for (const route *r = routes(); r->method; r++)
        if (r->example && name.rfind(r->example, 0) == 0)
            found = r;
    return found;
}

std::string request_of(const std::filesystem::path &path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;

    REQUIRE(in);
    text << in.rdbuf();
    std::string name = path.stem();
    auto steps = steps_of.find(name);
    if (steps != steps_of.end()) {
        json body = json::parse(text.str());
        body.erase("time_limit_s");
        body["options"]["max_steps"] = steps->second;
        return body.dump();
    }
    if (name.rfind("simulation-", 0) == 0) { // 10 s may be too short for a busy machine
        json body = json::parse(text.str());
        body["time_limit_s"] = 600;
        return body.dump();
    }
    return text.str();
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

TEST_CASE("the answers to all examples are the recorded ones", "[answers][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    recorded_answers found("examples");

    for (const std::filesystem::path &path : example_requests()) {
        const route *r = route_of(path.stem());

        INFO(path.stem());
        REQUIRE(r != nullptr);
        api_reply reply = a.call(r->method, r->path, request_of(path));
        found.add(path.stem(), reply.status, reply.headers["Content-Type"], reply.body);
    }
    found.check();
}
