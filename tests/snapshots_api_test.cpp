// snapshots_api_test.cpp - changes of single elements of stored snapshots, through
// route_answer() and PostgreSQL.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <atomic>
#include <thread>

using nlohmann::json;

namespace
{
// A stored snapshot of its own.
struct stored : api {
    std::string path;

    explicit stored(const std::string &document = R"({"resources":[{"id":"n0","cpus":4},)"
                                                  R"({"id":"n1","cpus":8}]})")
        : api(test_database_url())
    {
        static int number;
        std::string id =
            "grid-" + std::to_string(getpid()) + "-" + std::to_string(number++);
        path = "/v1/snapshots/" + id;
        INFO(document);
        REQUIRE(post("/v1/snapshots?id=" + id, document).status == 201);
    }
    api_reply patch(const std::string &body, const std::string &if_match = "",
                    const std::string &below = "")
    {
        std::map<std::string, std::string> headers = {
            {"content_type", "application/merge-patch+json"}};
        if (!if_match.empty())
            headers["if_match"] = if_match;
        return call("PATCH", path + below, body, headers);
    }
    api_reply put(const std::string &resource, const std::string &body,
                  std::map<std::string, std::string> headers = {})
    {
        return call("PUT", path + "/resources/" + resource, body, headers);
    }
    json document()
    {
        return get(path).json()["snapshot"];
    }
    int generation()
    {
        return get(path).json()["generation"];
    }
};
} // namespace

TEST_CASE("a patch changes single resources of a stored snapshot", "[api][db]")
{
    NEED_DATABASE();
    stored s;
    std::string tag = s.get(s.path).headers["ETag"];
    api_reply r = s.patch(R"({"home_site_id":"h","resources_by_id":)"
                          R"({"n1":{"cpus":6},"n0":null,"n2":{"n_max":3}}})");

    CHECK(r.status == 200);
    CHECK(r.json()["generation"] == 2);
    CHECK(r.headers["ETag"] != tag);
    CHECK(r.headers["ETag"] == s.get(s.path).headers["ETag"]);
    CHECK(s.document() ==
          json::parse(R"({"home_site_id":"h","resources":)"
                      R"([{"id":"n1","cpus":6},{"id":"n2","n_max":3}]})"));
    CHECK(s.patch(R"({"resources_by_id":{"n1":{"cpus":1}}})", tag).status == 412);
    CHECK(s.generation() == 2);
}

TEST_CASE("what is wrong with a patch by ids is said where it is, and nothing is stored",
          "[api][db]")
{
    NEED_DATABASE();
    stored s;
    struct {
        const char *patch;
        std::vector<std::string> want;
    } cases[] = {
        {R"({"resources_by_id":{"n2":{"cpus":1},"n1":{"cpus":-1},"n0":{"colour":1}}})",
         {"/resources_by_id/n0/colour", "/resources_by_id/n1/cpus"}},
        {R"({"resources_by_id":{"a/b":{"n_max":"x"}},"colour":2})",
         {"/colour", "/resources_by_id/a~1b/n_max"}},
        {R"({"resources_by_id":{"n1":{"id":"n0"}}})", {"/resources_by_id/n1/id"}},
        {R"({"resources_by_id":{"":{}}})", {"/resources_by_id//id"}},
        {R"({"resources":[],"resources_by_id":{}})", {"/resources_by_id"}},
        {R"({"resources":null})", {"/resources"}},
        {R"({"network_by_id":{}})", {"/network_by_id"}},
    };
    for (const auto &c : cases) {
        INFO(c.patch);
        api_reply r = s.patch(c.patch);
        std::vector<std::string> found = r.pointers();
        std::sort(found.begin(), found.end());
        CHECK(r.status == 422);
        CHECK(found == c.want);
        CHECK(r.json()["error_count"] == c.want.size());
    }
    CHECK(s.generation() == 1);
}

TEST_CASE("rows of what runs, of reservations and of partitions are patched by id",
          "[api][db]")
{
    NEED_DATABASE();
    stored s(R"({"taken_at":"2026-01-05T10:00:00Z","resources":[{"id":"n0","cpus":4,)"
             R"("running":[{"id":"r","cpus":2,"expected_end_s":60,"elapsed_s":5}]},)"
             R"({"id":"n1"}],"reservations":[{"id":"m","resource_ids":["n1"],)"
             R"("start_s":10,"end_s":20,"all":true}]})");
    api_reply r = s.patch(
        R"({"resources_by_id":{"n0":{"running_by_id":{"r":{"expected_end_at":)"
        R"("2026-01-05T10:30:00Z","cpus":3},"r2":{"needs":{"gpus":1}}}},)"
        R"("n1":{"reservations_by_id":{"x":{"end_at":"2026-01-05T12:00:00Z","cpus":1}}}},)"
        R"("running_by_id":{"r3":{"resource_ids":["n0","n1"]}},)"
        R"("reservations_by_id":{"m":null},"partitions_by_id":{"p":{"default":true,)"
        R"("requirement":"true"}}})");
    INFO(r.body);
    CHECK(r.status == 200);
    CHECK(r.json()["generation"] == 2);
    CHECK(
        s.document() ==
        json::parse(
            R"({"taken_at":"2026-01-05T10:00:00Z","resources":[{"id":"n0","cpus":4,)"
            R"("running":[{"id":"r","elapsed_s":5,"expected_end_at":)"
            R"("2026-01-05T10:30:00Z","cpus":3},{"id":"r2","needs":{"gpus":1}}]},)"
            R"({"id":"n1","reservations":[{"id":"x","end_at":"2026-01-05T12:00:00Z",)"
            R"("cpus":1}]}],"reservations":[],"running":[{"id":"r3",)"
            R"("resource_ids":["n0","n1"]}],"partitions":[{"id":"p","default":true,"requirement":"true"}]})"));

    r = s.patch(
        R"({"resources_by_id":{"n0":{"running_by_id":{"r":{"elapsed_s":1,)"
        R"("started_at":"2026-01-05T09:00:00Z"}}}},"reservations_by_id":)"
        R"({"m":{"start_s":1,"end_s":2}},"running":[{"id":"q","expected_end_s":3}]})");
    CHECK(r.status == 422);
    CHECK(r.pointers() ==
          std::vector<std::string>{"/resources_by_id/n0/running_by_id/r/elapsed_s",
                                   "/running/0/expected_end_s",
                                   "/reservations_by_id/m/start_s",
                                   "/reservations_by_id/m/end_s"});
    CHECK(r.json()["errors"][0]["code"] == "not_allowed");
    CHECK(r.json()["errors"][0]["hint"] == "give the instant, as 'started_at'");
    r = s.patch(R"({"running_by_id":{"n":{"cpus":-1}},"resources_by_id":{"n0":)"
                R"({"running_by_id":{"r2":{"weight":-1}}}}})");
    std::vector<std::string> found = r.pointers();
    std::sort(found.begin(), found.end());
    CHECK(found == std::vector<std::string>{"/resources_by_id/n0/running_by_id/r2/weight",
                                            "/running_by_id/n/cpus"});
    CHECK(s.put("n0", R"({"running":[{"id":"r","expected_end_s":3}]})").pointers() ==
          std::vector<std::string>{"/running/0/expected_end_s"});
    r = s.patch(R"({"running_by_id":{"r2":null,"r":{"started_at":null}}})", "",
                "/resources/n0");
    CHECK(r.status == 200);
    CHECK(
        r.json()["resource"]["running"] ==
        json::parse(R"([{"id":"r","expected_end_at":"2026-01-05T10:30:00Z","cpus":3}])"));
    CHECK(s.generation() == 3);
}

TEST_CASE("a resource of a stored snapshot is read, made, replaced, changed and removed",
          "[api][db]")
{
    NEED_DATABASE();
    stored s;
    std::string n1 = s.path + "/resources/n1";
    api_reply read = s.get(n1);
    std::string tag = read.headers["ETag"];

    CHECK(read.json()["resource"] == json::parse(R"({"id":"n1","cpus":8})"));
    CHECK(read.json()["id"] == "n1");
    CHECK(read.json()["generation"] == 1);
    CHECK(tag == s.get(s.path).headers["ETag"]);
    CHECK(s.call("GET", n1, "", {{"if_none_match", tag}}).status == 304);
    CHECK(s.get(s.path + "/resources/none").status == 404);
    CHECK(s.get("/v1/snapshots/none/resources/n1").status == 404);

    api_reply r = s.put("n0", R"({"id":"n0","n_max":2})", {{"if_match", tag}});
    CHECK(r.status == 200);
    CHECK(r.json()["generation"] == 2);
    CHECK(r.json()["resource"] == json::parse(R"({"id":"n0","n_max":2})"));
    r = s.put("n 2", R"({"cpus":1})");
    CHECK(r.status == 201);
    CHECK(r.headers["Location"] == s.path + "/resources/n%202");
    CHECK(r.headers["ETag"] == s.get(s.path).headers["ETag"]);
    CHECK(s.document()["resources"] ==
          json::parse(R"([{"id":"n0","n_max":2},{"id":"n1","cpus":8},)"
                      R"({"cpus":1,"id":"n 2"}])"));
    CHECK(s.put("n0", "{}", {{"if_none_match", "*"}}).status == 412);
    CHECK(s.put("n0", "{}", {{"if_match", tag}}).status == 412);
    CHECK(s.put("n0", R"({"id":"n1","cpus":-1})").pointers() ==
          std::vector<std::string>{"/id"});
    CHECK(s.put("n0", R"({"cpus":-1,"colour":1})").pointers() ==
          std::vector<std::string>{"/cpus", "/colour"});
    CHECK(s.put("n0", "[]").status == 422);
    CHECK(s.put("n0", "{").status == 400);
    CHECK(s.generation() == 3);

    r = s.patch(R"({"cpus":null,"mips_total":2})", "", "/resources/n1");
    CHECK(r.status == 200);
    CHECK(r.json()["generation"] == 4);
    CHECK(r.json()["resource"] == json::parse(R"({"id":"n1","mips_total":2})"));
    CHECK(s.patch("{}", "", "/resources/none").status == 404);
    CHECK(s.patch("{}", tag, "/resources/n1").status == 412);
    CHECK(s.patch(R"({"mips_total":"fast"})", "", "/resources/n1").pointers() ==
          std::vector<std::string>{"/mips_total"});

    CHECK(s.call("DELETE", n1, "", {{"if_match", tag}}).status == 412);
    CHECK(s.call("DELETE", n1).status == 204);
    CHECK(s.call("DELETE", n1).status == 404);
    CHECK(s.call("DELETE", "/v1/snapshots/none/resources/n1").status == 404);
    CHECK(s.document()["resources"].size() == 2);
    CHECK(s.generation() == 5);
}

TEST_CASE("resources that are changed at the same time are all changed", "[api][db]")
{
    NEED_DATABASE();
    stored s;
    std::atomic<int> other{0};
    std::vector<std::thread> threads;

    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 5; i++) {
                std::string id = std::to_string(t) + "-" + std::to_string(i);
                other +=
                    t % 2 ? s.put(id, "{}").status != 201
                          : s.patch("{\"resources_by_id\":{\"" + id + "\":{}}}").status !=
                                200;
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(other == 0);
    CHECK(s.document()["resources"].size() == 22);
    CHECK(s.generation() == 21);
}

TEST_CASE("only a whole write moves what a snapshot's seconds count from", "[api][db]")
{
    NEED_DATABASE();
    stored s;
    auto written = [&] { return s.get(s.path).json()["written_at"].get<std::string>(); };
    std::string first = written();

    REQUIRE(s.patch(R"({"resources_by_id":{"n1":{"cpus":6}}})").status == 200);
    CHECK(written() == first);
    CHECK(s.get(s.path).json()["updated_at"] != first);
    REQUIRE(s.call("PUT", s.path, R"({"resources":[]})").status == 200);
    CHECK(written() != first);
}

TEST_CASE("a snapshot that contradicts itself is not stored", "[api][db]")
{
    NEED_DATABASE();
    stored s;
    struct {
        const char *document;
        std::vector<std::string> want;
    } cases[] = {
        {R"({"resources":[{"id":"n","cpus":4,"capacities":{"lic":1},"job_count":1,
                           "running":[{"id":"a","expected_end_s":5}],
                           "reservations":[{"id":"r","start_s":9,"end_s":9,"all":true}]}],
             "shared_capacities":{"lic":2},
             "running":[{"id":"b","resource_ids":["n","gone"]},
                        {"id":"c","resource_ids":["gone"]}],
             "partitions":[{"id":"p","resource_ids":["gone"],"default":true},
                           {"id":"q","requirement":"cpus <","default":true}]})",
         {"/partitions/0/resource_ids/0", "/partitions/1/default",
          "/partitions/1/requirement", "/resources/0/job_count",
          "/resources/0/reservations/0/end_s", "/running/0/resource_ids/1",
          "/running/1/resource_ids/0", "/shared_capacities/lic"}},
        {R"({"resources":[{"id":"n","running":[{"id":"a","expected_end_s":5,
                           "expected_end_at":"2026-01-01T00:00:00Z"}]},
                          {"id":"m","running":[{"id":"b","weight":1}]},
                          {"id":"o","running":[{"id":"b","weight":2}]}]})",
         {"/resources/0/running/0/expected_end_at", "/resources/2/running/0/weight"}},
    };
    for (const auto &c : cases) {
        INFO(c.document);
        for (bool put : {false, true}) {
            api_reply r = put ? s.call("PUT", s.path, c.document)
                              : s.post("/v1/snapshots", c.document);
            std::vector<std::string> found = r.pointers();
            std::sort(found.begin(), found.end());
            INFO(r.body);
            CHECK(r.status == 422);
            CHECK(found == c.want);
        }
    }
    // By a patch: where that says it.
    api_reply r = s.patch(R"({"running_by_id":{"x":{"resource_ids":["n1","n7"]}}})");
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/running_by_id/x/resource_ids/1"});
    r = s.put("n1", R"({"capacities":{"no name":1}})");
    CHECK(r.status == 422);
    CHECK(s.generation() == 1);

    // More taken than there is, and a clock that goes before ours, are no contradictions.
    json ahead = json::parse(
        R"({"resources":[{"id":"n","cpus":1,"running":[{"id":"a","cpus":3}]}]})");
    ahead["resources"][0]["running"][0]["started_at"] = double(time(nullptr)) + 30;
    CHECK(s.call("PUT", s.path, ahead.dump()).status == 200);
}

TEST_CASE("a resource that the snapshot names elsewhere is not removed alone",
          "[api][db]")
{
    NEED_DATABASE();
    stored s(R"({"resources":[{"id":"n0","cpus":4},{"id":"n1","cpus":8},{"id":"n2"}],
                 "running":[{"id":"a","resource_ids":["n0","n1"],"expected_end_s":9}],
                 "reservations":[{"id":"r","resource_ids":["n1"],"start_s":0,"all":true}],
                 "partitions":[{"id":"p","resource_ids":["n0","n2","n1"]}]})");
    api_reply r = s.call("DELETE", s.path + "/resources/n1");
    INFO(r.body);
    CHECK(r.status == 409);
    CHECK(r.json()["code"] == "conflict");
    CHECK(r.pointers() == std::vector<std::string>{"/running/0/resource_ids/1",
                                                   "/reservations/0/resource_ids/0",
                                                   "/partitions/0/resource_ids/2"});
    CHECK(s.call("DELETE", s.path + "/resources/n9").status == 404);
    CHECK(s.generation() == 1);
    CHECK(s.document()["resources"].size() == 3);
    // Without the rows, or together with them.
    CHECK(s.patch(R"({"resources_by_id":{"n2":null}})").status == 422);
    REQUIRE(s.patch(R"({"partitions_by_id":{"p":null},"resources_by_id":{"n2":null}})")
                .status == 200);
    REQUIRE(s.patch(R"({"running_by_id":{"a":null},"reservations":[]})").status == 200);
    CHECK(s.call("DELETE", s.path + "/resources/n1").status == 204);
    CHECK(s.document()["resources"].size() == 1);
}
