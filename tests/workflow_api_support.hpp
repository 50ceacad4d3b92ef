// workflow_api_support.hpp - workflows as bodies of requests, for the tests of the
// endpoints that take them.
#pragma once
#include "tests/api.hpp"

#include <algorithm>
#include <fstream>
#include <set>

namespace workflow_api
{
using nlohmann::json;

inline json example(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/" + name + ".json");
    REQUIRE(in.good());
    return json::parse(in);
}

// Posts, expects 200.
inline json answered(api &a, const std::string &path, const json &body)
{
    api_reply r = a.post(path, body.dump());
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == 200);
    return r.json();
}

// Posts, expects 422; the pointers of the mistakes.
inline std::set<std::string> refused(api &a, const std::string &path, const json &body)
{
    api_reply r = a.post(path, body.dump());
    INFO(r.body.substr(0, 4000));
    CHECK(r.status == 422);
    std::set<std::string> pointers;
    if (r.status == 422)
        for (const std::string &p : r.pointers())
            pointers.insert(p);
    return pointers;
}

// What must be the same when a request comes again.
inline json timeless(json answer)
{
    answer.erase("decision_id");
    answer.erase("timings");
    return answer;
}

inline const json &row_of(const json &list, const std::string &task)
{
    for (const json &row : list)
        if (row.at("task_id") == task)
            return row;
    FAIL("no row of task " << task);
    return list;
}

// The simplest cluster: resources p0, p1 ...
inline json plain_snapshot(size_t count)
{
    json list = json::array();
    for (size_t i = 0; i < count; i++)
        list.push_back({{"id", "p" + std::to_string(i)}});
    return {{"resources", list}};
}

// Example A of workflows.md 11, with the finished root that makes a and b dependents.
inline json example_a(const json &options)
{
    json body = example("workflow_round-balanced");
    body["options"] = options;
    return body;
}

// "migrate a CR1 CR2 5000.007" for each move.
inline std::vector<std::string> moves_of(const json &answer)
{
    std::vector<std::string> list;
    for (const json &m : answer.at("reschedules")) {
        char text[160];
        snprintf(text, sizeof(text), "%s %s %s %s %.3f",
                 m.at("action").get<std::string>().c_str(),
                 m.at("task_id").get<std::string>().c_str(),
                 m.at("from_resource_id").get<std::string>().c_str(),
                 m.at("to_resource_id").is_null()
                     ? "-"
                     : m.at("to_resource_id").get<std::string>().c_str(),
                 m.at("remaining_after_s").is_null()
                     ? -1.0
                     : m.at("remaining_after_s").get<double>());
        list.push_back(text);
    }
    return list;
}

} // namespace workflow_api
