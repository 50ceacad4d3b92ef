// sessions_api_support.hpp - sessions of workflows over the API, in few words.
#pragma once
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <atomic>
#include <cmath>
#include <unistd.h>

extern "C" {
#include "service/clock.h"
#include "service/session_cache.h"
}

namespace session_api
{

using list = std::vector<std::string>;

inline std::string unique_id(const std::string &prefix)
{
    static std::atomic<int> number;
    return prefix + "-" + std::to_string(getpid()) + "-" + std::to_string(number++);
}

// "2.5" without trailing zeros.
inline std::string shortly(double number)
{
    char text[40];
    snprintf(text, sizeof(text), "%.6g", std::fabs(number) < 1e-9 ? 0 : number);
    return text;
}

// The value of a member of the outermost object, byte for byte.
inline std::string raw_member(const std::string &object, const std::string &name)
{
    size_t at = object.find("\"" + name + "\":");
    REQUIRE(at != std::string::npos);
    at += name.size() + 3;
    int depth = 0;
    bool text = false;
    for (size_t i = at; i < object.size(); i++) {
        char c = object[i];
        if (c == '"' && object[i - 1] != '\\')
            text = !text;
        else if (!text && (c == '[' || c == '{'))
            depth++;
        else if (!text && (c == ']' || c == '}') && --depth <= 0)
            return object.substr(at, i - at + (depth == 0));
    }
    return object.substr(at);
}

static const char two_hosts[] = R"([{"id":"n1","mips_total":1,"cpus":1},)"
                                R"({"id":"n2","mips_total":2,"cpus":1}])";
static const char five_tasks[] =
    R"([{"id":"a","estimate_ref_s":4},)"
    R"({"id":"b","estimate_ref_s":12,"depends_on":["a"]},)"
    R"({"id":"c","estimate_ref_s":8,"depends_on":["a"]},)"
    R"({"id":"d","estimate_ref_s":6},)"
    R"({"id":"e","estimate_ref_s":2,"depends_on":["b","c","d"]}])";

struct stored_snapshot : api {
    std::string id = unique_id("grid");

    explicit stored_snapshot(const std::string &hosts = two_hosts)
        : api(test_database_url())
    {
        REQUIRE(post("/v1/snapshots?id=" + id, "{\"resources\":" + hosts + "}").status ==
                201);
    }
    nlohmann::json leases()
    {
        return get("/v1/snapshots/" + id + "/leases").json()["items"];
    }
    static double now()
    {
        return clock_wall_s();
    }
};

// What a replica keeps of sessions from now on: at most so much.
inline void keep(api &replica, size_t bytes)
{
    session_cache_close(replica.handle()->sessions);
    replica.handle()->sessions = session_cache_create(bytes);
}

inline struct session_cache_stats kept(api &replica)
{
    struct session_cache_stats stats {
    };

    session_cache_stats(replica.handle()->sessions, &stats);
    return stats;
}

// The session of the worked examples; T is an instant of the past.
struct session : api {
    std::string id = unique_id("run"), path = "/v1/workflow-sessions/" + id;
    double t = 1772352000; // 2026-03-01T08:00:00Z

    explicit session(const std::string &snapshot_id = "",
                     const std::string &tasks = five_tasks, const std::string &more = "",
                     const std::string &hosts = two_hosts)
        : api(test_database_url())
    {
        std::string grid = snapshot_id.empty()
                               ? "\"snapshot\":{\"resources\":" + hosts + "}"
                               : "\"snapshot_id\":\"" + snapshot_id + "\"";
        api_reply made =
            put("{\"workflow\":{\"tasks\":" + tasks + "}," + grid + more + "}");
        INFO(made.body);
        REQUIRE(made.status == 201);
    }
    api_reply put(const std::string &definition,
                  std::map<std::string, std::string> headers = {})
    {
        return call("PUT", path, definition, headers);
    }
    std::string at(double s) const
    {
        char text[40];
        snprintf(text, sizeof(text), "%.6f", t + s);
        return text;
    }
    nlohmann::json report(const std::string &events)
    {
        api_reply r = post(path + "/events", events);
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json();
    }
    nlohmann::json event(const std::string &name, double s, const std::string &kind,
                         const std::string &more)
    {
        return report("{\"event_id\":\"" + name + "\",\"kind\":\"" + kind +
                      "\",\"observed_at\":" + at(s) + more + "}");
    }
    static std::string of(const std::string &task, int attempt)
    {
        return ",\"task_id\":\"" + task + "\",\"attempt\":" + std::to_string(attempt);
    }
    nlohmann::json started(const std::string &name, double s, const std::string &task,
                           const std::string &host, int attempt = 1)
    {
        return event(name, s, "started",
                     of(task, attempt) + ",\"resource_id\":\"" + host + "\"");
    }
    nlohmann::json ended(const std::string &name, double s, const std::string &task,
                         int attempt = 1)
    {
        return event(name, s, "ended", of(task, attempt));
    }
    nlohmann::json failed(const std::string &name, double s, const std::string &task,
                          int attempt = 1)
    {
        return event(name, s, "failed", of(task, attempt));
    }
    nlohmann::json progress(const std::string &name, double s, const std::string &task,
                            double ratio)
    {
        return event(name, s, "progress",
                     of(task, 1) + ",\"progress_ratio\":" + shortly(ratio));
    }
    nlohmann::json host(const std::string &name, double s, const std::string &kind,
                        const std::string &host, const std::string &more = "")
    {
        return event(name, s, kind, ",\"resource_id\":\"" + host + "\"" + more);
    }
    nlohmann::json speed(const std::string &name, double s, const std::string &host_id,
                         double mips)
    {
        return host(name, s, "host_speed", host_id, ",\"mips_total\":" + shortly(mips));
    }
    nlohmann::json next(double s)
    {
        api_reply r = get(path + "/next?now=" + at(s));
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json();
    }
    nlohmann::json ask(const std::string &holder, const std::string &more = "")
    {
        api_reply r =
            post(path + "/starts", "{\"holder\":\"" + holder + "\"" + more + "}");
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json();
    }
    static list starts(const nlohmann::json &answer)
    {
        list out;
        for (const auto &s : answer["start"])
            out.push_back(s["task_id"].get<std::string>() + "@" +
                          s["resource_id"].get<std::string>() + "#" +
                          shortly(s["attempt"].get<double>()));
        return out;
    }
    static list queues(const nlohmann::json &answer)
    {
        list out;
        for (const auto &q : answer["queues"]) {
            std::string text = q["resource_id"].get<std::string>() + ":";
            for (const auto &task : q["tasks"])
                text += " " + task["task_id"].get<std::string>();
            out.push_back(text);
        }
        return out;
    }
    // "task host start-finish"
    list plan(double s)
    {
        api_reply r = get(path + "/plan?now=" + at(s));
        INFO(r.body);
        REQUIRE(r.status == 200);
        list out;
        nlohmann::json answer = r.json();
        for (const auto &row : answer["schedule"])
            if (row["start_s"].is_null())
                out.push_back(row["task_id"].get<std::string>() + " done");
            else
                out.push_back(row["task_id"].get<std::string>() + " " +
                              row["resource_id"].get<std::string>() + " " +
                              shortly(row["start_s"].get<double>()) + "-" +
                              shortly(row["finish_s"].get<double>()));
        return out;
    }
    // Without what has ended by now.
    static list open(const list &rows)
    {
        list out;
        for (const std::string &row : rows) {
            size_t dash = row.rfind('-');
            bool past = dash == std::string::npos || row[dash - 1] == '-' ||
                        row.substr(dash + 1) == "0";
            if (!past)
                out.push_back(row);
        }
        return out;
    }
};

} // namespace session_api
