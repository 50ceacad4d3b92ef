// world_api_support.hpp - POST /v1/placements where amounts count, and what became of
// jobs.
#ifndef GRIDPLAN_WORLD_API_SUPPORT_HPP
#define GRIDPLAN_WORLD_API_SUPPORT_HPP

#include "tests/api.hpp"

#include <sstream>

using Catch::Detail::Approx;
using nlohmann::json;

inline json place(json body, const std::string &algorithm = "")
{
    static api a;

    if (!algorithm.empty() || !body.contains("algorithm"))
        body["algorithm"] = algorithm.empty() ? "mct" : algorithm;
    api_reply reply = a.post("/v1/placements", body.dump());
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return reply.json();
}

// "node start-finish" of a job, several nodes with "+" between them, or the reason that
// comes last.
inline std::string fate(const json &answer, const std::string &job)
{
    for (const json &p : answer["placements"]) {
        std::ostringstream text;

        if (p["job_id"] != job)
            continue;
        if (p.contains("resource_ids"))
            for (const json &id : p["resource_ids"])
                text << (text.str().empty() ? "" : "+") << id.get<std::string>();
        else
            text << p["resource_id"].get<std::string>();
        text << " " << p["start_s"].get<double>() << "-" << p["finish_s"].get<double>();
        return text.str();
    }
    for (const json &u : answer["unplaced"])
        if (u["job_id"] == job)
            return u["reasons"].back()["reason"];
    return "nowhere";
}

inline bool says(const json &answer, const std::string &start)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(start, 0) == 0)
            return true;
    return false;
}

#endif
