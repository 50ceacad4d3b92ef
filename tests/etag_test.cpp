// etag_test.cpp - conditions of requests: which tags match, and that everything with an
// ETag honours them.
#include "tests/database.hpp"
#include "tests/model_support.hpp"

extern "C" {
#include "service/etag.h"
}

using nlohmann::json;

TEST_CASE("tags match as RFC 9110 says", "[etag]")
{
    const char *tag = "\"g1-5\"";
    struct {
        const char *list;
        bool strong, weak;
    } cases[] = {
        {nullptr, false, false},
        {"", false, false},
        {"*", true, true},
        {"\"g1-5\"", true, true},
        {"W/\"g1-5\"", false, true},
        {"w/\"g1-5\"", false, false}, // W is case-sensitive
        {"\"x\", \"g1-5\"", true, true},
        {"\"x\",\"g1-5\" , \"y\"", true, true},
        {"\"x\", W/\"g1-5\"", false, true},
        {"\"x\", *", false, false},
        {",, \"g1-5\"", true, true},
        {"\"g1-5", false, false},
        {"g1-5", false, false},
        {"\"g1-50\"", false, false},
        {"\"ag1-5\"", false, false},
        {"x\"g1-5\"", false, false},
        {"\"g1-5\"x", false, false},
        {"\"a,\"g1-5\"", false, false},
        {"\"a, \\\"g1-5\\\"\"", false, false},
    };

    for (const auto &c : cases) {
        INFO((c.list ? c.list : "none"));
        CHECK(etag_matches(c.list, tag) == c.strong);
        CHECK(etag_matches_weakly(c.list, tag) == c.weak);
    }
    CHECK(etag_matches("\"x\", \"a, b\"", "\"a, b\"")); // a comma within quotes
    CHECK_FALSE(etag_matches("\"a, b\"", "\"b\""));
}

TEST_CASE("a weak tag never allows a change", "[etag][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string id = unique_name("etag");
    std::string model = "/v1/models/" + id, workload = "/v1/workloads/" + id,
                trace = "/v1/failure-traces/" + id, snapshot = "/v1/snapshots/" + id;

    REQUIRE(
        a.post("/v1/models", json{{"id", id}, {"application_id", id}}.dump()).status ==
        201);
    REQUIRE(a.call("POST", "/v1/workloads?id=" + id,
                   "1 0 0 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n",
                   {{"content_type", "text/plain"}})
                .status == 201);
    REQUIRE(a.call("POST", "/v1/failure-traces?id=" + id,
                   "0 0 0 1 m 1 0.0 200.0 NULL\n0 0 0 1 m 0 200.0 700.0 NULL\n",
                   {{"content_type", "text/tab-separated-values"}})
                .status == 201);
    REQUIRE(a.call("PUT", snapshot, R"({"resources":[{"id":"m"}]})").status == 201);
    for (const std::string &path : {model, workload, trace, snapshot}) {
        std::string tag = a.get(path).headers["ETag"];

        INFO(path);
        REQUIRE(tag.substr(0, 1) == "\"");
        CHECK(a.call("GET", path, "", {{"if_none_match", "W/" + tag}}).status == 304);
        for (const std::string &wrong : {"W/" + tag, "x" + tag, std::string("\"other\"")})
            CHECK(a.call("DELETE", path, "", {{"if_match", wrong}}).status == 412);
        // It has not changed, so reading it again would not help.
        auto weak = a.call("DELETE", path, "", {{"if_match", "W/" + tag}}).json();
        CHECK(weak["detail"] == "If-Match was W/" + tag +
                                    ": a weak tag never allows a change; send " + tag);
        CHECK(weak["errors"][0]["name"] == "If-Match");
        if (path == model)
            for (const char *verb : {"/train", "/refine"})
                CHECK(
                    a.call("POST", path + verb, "", {{"if_match", "W/" + tag}}).status ==
                    412);
        tag = a.get(path).headers["ETag"];
        CHECK(a.call("DELETE", path, "", {{"if_match", "\"other\", " + tag}}).status ==
              204);
        CHECK(a.call("DELETE", path, "", {{"if_match", tag}}).status == 404);
    }
}
