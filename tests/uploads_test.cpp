// uploads_test.cpp - logs that are read and stored piece by piece are used as those that
// are there as a whole.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <ctime>

using nlohmann::json;

namespace
{

// Longer than what a row of the database has as a whole, and than the memory that a
// request is given.
const size_t LONG_BYTES = size_t{36} << 20, CAP_BYTES = size_t{32} << 20;

api_reply upload(api &a, const std::string &path, const std::string &text,
                 size_t cap_bytes = size_t{1} << 30)
{
    return a.call("POST", path, text, {{"content_type", "text/plain"}}, cap_bytes);
}

json played(api &a, json body)
{
    api_reply r = a.post("/v1/simulations", body.dump());

    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == 200);
    return r.json().at("results");
}

} // namespace

TEST_CASE("a long failure trace is used as a short one", "[simulations][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    const std::string tag = "t" + std::to_string(std::time(nullptr));
    std::string rows[] = {"0 0 0 1 s-2 0 200.0 700.0 NULL\n",
                          "0 0 0 1 s-2 0 9000.0 9400.0 NULL\n",
                          "0 0 0 1 elsewhere 0 100.0 NULL NULL\n"},
                filler = "#" + std::string(2000, ' ') + "\n", text, all;

    for (int i = 0; i < 3; i++) {
        while (text.size() < LONG_BYTES / 3 * (i + 1))
            text += filler;
        text += rows[i];
        all += rows[i];
    }
    api_reply r = upload(a, "/v1/failure-traces?format=fta&id=" + tag, text, CAP_BYTES);
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 201);
    CHECK(r.json().at("failure_count") == 3);
    CHECK(r.json().at("document_bytes") == text.size());
    CHECK(r.json().at("summary").at("resource_count") == 2);
    REQUIRE(upload(a, "/v1/failure-traces?format=fta&id=s" + tag, all).status == 201);
    CHECK((a.get("/v1/failure-traces/" + tag + "/document").body == text));

    json body = json::parse(R"({"runs": 2, "seed": 3, "stop": {"time_s": 40000},
        "sites": [{"id": "s", "resources": [{"number": 4, "n_max": 2}]}],
        "workload": {"generator": "poisson", "length_mi": 1500,
                     "arrival_gap_s": {"distribution": "exponential", "mean": 800}},
        "compare": [{"label": "a", "algorithm": "fcfs"}]})");
    body["failure_trace_id"] = tag;
    json longer = played(a, body);
    body["failure_trace_id"] = "s" + tag;
    CHECK(longer == played(a, body));
    CHECK(longer.at(0).at("metrics").at("failures").at("mean") == 2);
    CHECK(a.call("DELETE", "/v1/failure-traces/" + tag).status == 204);
    CHECK(a.call("DELETE", "/v1/failure-traces/s" + tag).status == 204);
}

TEST_CASE("long accounting is a workload as short one is", "[simulations][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    const std::string tag = "w" + std::to_string(std::time(nullptr));
    const std::string head = "JobID|JobIDRaw|JobName|User|Account|QOS|Partition|Submit|"
                             "Start|End|TimelimitRaw|State|AllocTRES|SubmitLine\n";
    std::string whole = head, longer = head;

    for (int i = 1; i <= 300; i++) {
        std::string id = std::to_string(i), at = std::to_string(1790000000 + 60 * i);
        std::string job = id + "|" + id + "|a|b|u" + std::to_string(i % 5) + "|x|n|p|" +
                          at + "|" + at + "|" +
                          std::to_string(1790000000 + 60 * i + 50 * (i % 9)) + "|60|" +
                          (i % 7 ? "COMPLETED" : "CANCELLED by 1") +
                          "|cpu=" + std::to_string(i % 4 + 1) +
                          ",node=1|sbatch -d afterok:" + std::to_string(i / 2) + " x\n";
        whole += job;
        longer += job;
        while (longer.size() < LONG_BYTES / 300 * i) // its steps
            longer += id + ".0|" + id + ".0|" + std::string(3000, 'x') + "||||||||||||\n";
    }
    longer += "301|3"; // it breaks off
    api_reply r = upload(a, "/v1/workloads?kind=sacct&id=" + tag, longer, CAP_BYTES);
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 201);
    CHECK(r.json().at("job_count") == 300);
    CHECK(r.json().at("summary").at("warnings").dump().find("breaks off") !=
          std::string::npos);
    REQUIRE(upload(a, "/v1/workloads?kind=sacct&id=s" + tag, whole).status == 201);
    CHECK((a.get("/v1/workloads/" + tag + "/document").body == longer));

    json body = {{"kind", "queue"}, {"processors", 16}, {"policies", {"easy", "fcfs"}}};
    body["workload_id"] = tag;
    json played_long = played(a, body);
    body["workload_id"] = "s" + tag;
    CHECK(played_long == played(a, body));
    CHECK(a.get("/v1/workloads/" + tag + "/summary").json().at("users") ==
          a.get("/v1/workloads/s" + tag + "/summary").json().at("users"));
    CHECK(a.call("DELETE", "/v1/workloads/" + tag).status == 204);
    CHECK(a.call("DELETE", "/v1/workloads/s" + tag).status == 204);

    r = upload(a, "/v1/workloads?kind=sacct", head);
    CHECK(r.status == 422);
    CHECK(r.json().at("errors").at(0).at("hint").get<std::string>().find(
              "-S now-30days") != std::string::npos);
}
