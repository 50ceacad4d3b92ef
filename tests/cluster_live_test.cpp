// cluster_live_test.cpp - a cluster's queue decided again and again, as a client would
// that starts what it is told to, against recordings of a Slurm that ran to their end.
#include "tests/api.hpp"

#include <fstream>

namespace
{

using nlohmann::json;

// A job or task of the recording on its way.
struct live_job {
    json members, nodes, cpus;
    double submit_s, run_s, start_s = NAN, end_s = NAN, recorded_s = NAN;
    bool held;
    std::string after, kind; // a job, or the array whose tasks it waits for
};

class live_cluster
{
    api service;
    json recording;
    std::map<std::string, live_job> jobs;
    double tick_s, looked_s = 0, put_off_s = HUGE_VAL;
    const double every_s = 5, least_s = 0.5; // between two runs of the main loop

    void read_jobs()
    {
        std::map<std::string, json> actual;
        for (const json &a : recording["actual"])
            actual[a["job"].get<std::string>()] = a;
        double base_s = recording["base_s"].get<double>();
        for (const json &x : recording["submissions"])
            for (const json &task : x["tasks"]) {
                live_job j{};
                std::string id = task["id"].get<std::string>();
                j.members = x["job"];
                j.members.update(task);
                j.start_s = j.end_s = j.recorded_s = NAN;
                j.submit_s = base_s + x["at_s"].get<double>();
                j.run_s = x["run_s"].get<double>();
                j.held = x["held"].get<bool>();
                j.members["submit_s"] = std::floor(j.submit_s);
                if (x.contains("begin_s"))
                    j.members["begin_s"] =
                        std::floor(j.submit_s) + x["begin_s"].get<double>();
                if (x.contains("after")) {
                    j.after = x["after"].get<std::string>();
                    j.kind = x["kind"].get<std::string>();
                }
                if (actual.count(id)) {
                    if (actual[id]["priority_at_start"].get<double>() > 0)
                        j.members["priority"] = actual[id]["priority_at_start"];
                    if (actual[id]["state"] == "COMPLETED")
                        j.recorded_s = actual[id]["start_s"].get<double>();
                }
                jobs[id] = j;
            }
    }
    // Whether `id` is the job, or a task of the array, that is named.
    static bool is_named(const std::string &id, const std::string &name)
    {
        return id == name || id.substr(0, name.size() + 1) == name + "_";
    }
    json running_row(const std::string &id, const live_job &j, size_t i, double now_s)
    {
        json row = {
            {"id", id},
            {"resource_ids", json::array({j.nodes[i]})},
            {"cpus", j.cpus[i]},
            {"elapsed_s", now_s - j.start_s},
            {"expected_end_s", j.start_s + j.members["time_limit_s"].get<double>()},
            {"partition_id", j.members["partition_ids"][0]}};
        for (const char *m : {"user", "account_id", "qos_id", "needs", "exclusive"})
            if (j.members.contains(m))
                row[m] = j.members[m];
        if (j.members.contains("array"))
            row["array_id"] = j.members["array"]["id"];
        double memory = j.members.contains("memory_bytes")
                            ? j.members["memory_bytes"].get<double>()
                            : 500 * 1048576.0 * j.cpus[i].get<double>();
        row["memory_bytes"] = memory;
        return row;
    }
    json request(double now_s, bool tick)
    {
        json body = {{"now_s", now_s},
                     {"algorithm", "slurm_backfill"},
                     {"cluster", recording["cluster"]},
                     {"finished_jobs", json::array()},
                     {"jobs", json::array()}};
        body["cluster"]["running"] = json::array();
        body["cluster"]["reservations"] = recording["reservations"];
        body["cluster"]["policy_settings"]["preempt_mode"] = "off";
        if (!tick)
            body["cluster"]["policy_settings"]["bf_interval_s"] = -1;
        for (auto &[id, j] : jobs) {
            if (j.submit_s > now_s)
                continue;
            if (j.end_s <= now_s) {
                body["finished_jobs"].push_back({{"id", id}, {"ok", true}});
            } else if (!std::isnan(j.start_s)) {
                for (size_t i = 0; i < j.nodes.size(); i++)
                    body["cluster"]["running"].push_back(running_row(id, j, i, now_s));
            } else {
                json job = j.members;
                if (j.held)
                    job["held"] = true;
                if (!j.after.empty()) {
                    job["after"] = json::array();
                    for (auto &[other, unused] : jobs)
                        if (is_named(other, j.after))
                            job["after"].push_back({{"job_id", other}, {"kind", j.kind}});
                }
                body["jobs"].push_back(job);
            }
        }
        return body;
    }
    double next_event(double now_s) const
    {
        double next_s = tick_s;
        auto at = [&](double t) {
            if (t > now_s && t < next_s)
                next_s = t;
        };
        at(put_off_s);
        for (auto &[id, j] : jobs) {
            at(j.submit_s);
            at(j.end_s);
        }
        for (const json &x : recording["releases"])
            at(recording["base_s"].get<double>() + x["at_s"].get<double>());
        return next_s;
    }
    // True: more jobs started than were left.
    void step(double now_s)
    {
        bool tick = now_s >= tick_s;
        if (tick)
            tick_s += every_s;
        if (!tick && now_s < looked_s + least_s) {
            put_off_s = looked_s + least_s;
            return;
        }
        looked_s = now_s;
        for (const json &x : recording["releases"])
            if (recording["base_s"].get<double>() + x["at_s"].get<double>() <= now_s)
                jobs[x["job"].get<std::string>()].held = false;
        json body = request(now_s, tick);
        if (!body["jobs"].size())
            return;
        api_reply r = service.post("/v1/queue-orders", body.dump());
        INFO(r.body.substr(0, 2000));
        REQUIRE(r.status == 200);
        json answer = r.json();
        for (const json &row : answer["starts"]) {
            live_job &j = jobs[row["job_id"].get<std::string>()];
            j.start_s = now_s;
            j.end_s = now_s + j.run_s;
            j.nodes = row["resource_ids"];
            j.cpus = row["cpus_by_resource"];
        }
        check(now_s);
    }
    // Nobody has more than there is.
    void check(double now_s)
    {
        std::map<std::string, double> cpus;
        double matlab = 0;
        for (auto &[id, j] : jobs) {
            if (std::isnan(j.start_s) || j.end_s <= now_s)
                continue;
            for (size_t i = 0; i < j.nodes.size(); i++)
                cpus[j.nodes[i].get<std::string>()] += j.cpus[i].get<double>();
            if (j.members.contains("needs"))
                matlab += j.members["needs"].value("licence.matlab", 0.0);
        }
        for (auto &[node, used] : cpus)
            REQUIRE(used <= 16);
        REQUIRE(matlab <= 3);
    }

  public:
    std::vector<double> apart_s; // of the recorded starts
    double wait_s = 0, recorded_wait_s = 0;
    std::string text;

    explicit live_cluster(const std::string &name)
    {
        std::ifstream in(GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/requests/" +
                         name + ".replay.json");
        REQUIRE(in);
        recording = json::parse(in);
        read_jobs();
        tick_s = recording["first_pass_s"].get<double>();
        double now_s = recording["base_s"].get<double>(), end_s = now_s + 900;
        while ((now_s = next_event(now_s)) < end_s)
            step(now_s);
        for (auto &[id, j] : jobs) {
            if (std::isnan(j.recorded_s))
                continue;
            INFO(id);
            REQUIRE(!std::isnan(j.start_s));
            apart_s.push_back(std::abs(j.start_s - j.recorded_s));
            wait_s += j.start_s - j.submit_s;
            recorded_wait_s += j.recorded_s - j.submit_s;
            text += id + " " + std::to_string(j.start_s - j.recorded_s) + " " +
                    std::to_string(j.start_s - recording["base_s"].get<double>()) + "\n";
        }
        std::sort(apart_s.begin(), apart_s.end());
    }
};

} // namespace

TEST_CASE("a queue decided again and again starts jobs when a recorded Slurm did",
          "[api][cluster]")
{
    struct {
        const char *name;
        double median_s;
    } cases[] = {{"live1", 16}, {"live3", 25}};
    for (const auto &c : cases) {
        live_cluster live(c.name);
        size_t n = live.apart_s.size();
        double median_s = (live.apart_s[(n - 1) / 2] + live.apart_s[n / 2]) / 2;
        INFO(c.name << ": median " << median_s << " s, waits " << live.wait_s
                    << " against " << live.recorded_wait_s << " of "
                    << live.apart_s.size() << "\n"
                    << live.text);
        CHECK(median_s <= c.median_s);
        CHECK(live.wait_s == Approx(live.recorded_wait_s).epsilon(0.15));
    }
}

namespace
{

// A recording as a simulation: what was submitted when, with the limits, run times and
// priorities of that time.
class simulated_recording
{
    json recording;
    std::map<std::string, std::vector<json>> actual;

    json task_ids(const std::string &array) const
    {
        json ids = json::array();
        for (const json &x : recording["submissions"])
            for (const json &task : x["tasks"]) {
                std::string id = task["id"];
                if (id == array || id.substr(0, array.size() + 1) == array + "_")
                    ids.push_back(id);
            }
        return ids;
    }
    json job_of(const json &x, const json &task)
    {
        json job = x["job"];
        job.update(task);
        std::string id = task["id"];
        double submit_s = recording["base_s"].get<double>() + x["at_s"].get<double>();
        job["submit_s"] = submit_s;
        job["run_time_s"] = x["run_s"];
        if (x.contains("begin_s"))
            job["begin_s"] = std::floor(submit_s) + x["begin_s"].get<double>();
        if (x["held"].get<bool>())
            job["held"] = true;
        for (const json &release : recording["releases"])
            if (release["job"] == id) {
                job.erase("held");
                job["eligible_s"] =
                    recording["base_s"].get<double>() + release["at_s"].get<double>();
            }
        if (x.contains("after")) {
            job["after"] = json::array();
            for (const json &other : task_ids(x["after"].get<std::string>()))
                job["after"].push_back({{"job_id", other}, {"kind", x["kind"]}});
        }
        if (actual.count(id) && actual[id][0]["priority_at_start"].get<double>() > 0)
            job["priority"] = actual[id][0]["priority_at_start"];
        return job;
    }

  public:
    std::vector<double> apart_s;
    double wait_s = 0, recorded_wait_s = 0;
    std::vector<std::string> preempted, recorded_preempted;

    explicit simulated_recording(const std::string &name)
    {
        std::ifstream in(GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/requests/" +
                         name + ".replay.json");
        REQUIRE(in);
        recording = json::parse(in);
        for (const json &a : recording["actual"])
            actual[a["job"].get<std::string>()].push_back(a);
        json body = {{"kind", "queue"},
                     {"policies", {"slurm_backfill"}},
                     {"cluster", recording["cluster"]},
                     {"per_job", true},
                     {"jobs", json::array()}};
        body["cluster"]["reservations"] = recording["reservations"];
        body["cluster"]["policy_settings"]["sched_interval_s"] = 5;
        body["cluster"]["policy_settings"]["sched_min_interval_s"] = 0.5;
        for (const json &x : recording["submissions"])
            for (const json &task : x["tasks"])
                body["jobs"].push_back(job_of(x, task));
        api service;
        api_reply r = service.post("/v1/simulations", body.dump());
        INFO(r.body.substr(0, 2000));
        REQUIRE(r.status == 200);
        json answer = r.json();
        for (const json &row : answer["results"][0]["jobs"])
            compare(row);
        std::sort(apart_s.begin(), apart_s.end());
        std::sort(preempted.begin(), preempted.end());
        std::sort(recorded_preempted.begin(), recorded_preempted.end());
    }
    void compare(const json &row)
    {
        std::string id = row["job_id"];
        double first_s = HUGE_VAL;
        bool completed = false, was_preempted = false;
        for (const json &a : actual[id]) {
            completed |= a["state"] == "COMPLETED";
            was_preempted |= a["state"] == "PREEMPTED";
            first_s = std::min(first_s, a["start_s"].get<double>());
        }
        if (row["preempted_count"].get<int>() > 0)
            preempted.push_back(id);
        if (was_preempted)
            recorded_preempted.push_back(id);
        if (!completed)
            return;
        INFO(id);
        REQUIRE(row["start_s"].is_number());
        apart_s.push_back(std::abs(row["start_s"].get<double>() - first_s));
        wait_s += row["start_s"].get<double>() - row["submit_s"].get<double>();
        recorded_wait_s += first_s - row["submit_s"].get<double>();
    }
};

} // namespace

TEST_CASE("a simulation starts and preempts jobs as a recorded Slurm did",
          "[api][cluster]")
{
    struct {
        const char *name;
        size_t jobs, preempted;
        double median_s;
    } cases[] = {{"live1", 28, 0, 16}, {"live3", 45, 0, 25}, {"live4", 17, 6, 10}};
    for (const auto &c : cases) {
        simulated_recording s(c.name);
        size_t n = s.apart_s.size();
        double median_s = (s.apart_s[(n - 1) / 2] + s.apart_s[n / 2]) / 2;
        INFO(c.name << ": median " << median_s << " s, waits " << s.wait_s << " against "
                    << s.recorded_wait_s << " of " << n);
        CHECK(n == c.jobs);
        CHECK(median_s <= c.median_s);
        CHECK(s.wait_s == Approx(s.recorded_wait_s).epsilon(0.15));
        CHECK(s.preempted == s.recorded_preempted);
        CHECK(s.preempted.size() == c.preempted);
    }
}
