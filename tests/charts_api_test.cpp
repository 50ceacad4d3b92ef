// charts_api_test.cpp - pictures at addresses of their own: what the query says of them.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <regex>
#include <set>

namespace
{

size_t count_of(const std::string &text, const std::string &what)
{
    size_t count = 0;

    for (size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + 1))
        count++;
    return count;
}

} // namespace

TEST_CASE("a stored decision is drawn as the query says", "[charts][api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_charts");
    api service(own.url);
    nlohmann::json body = nlohmann::json::parse(R"({"snapshot":{"resources":[{"id":"p0"},
        {"id":"p1"}]},"algorithm":"mct","store":true,"jobs":[{"id":"a1","etc_s":[10,20]},
        {"id":"b2","etc_s":[20,10]},{"id":"c3","etc_s":[10,50]}]})");
    api_reply made = service.post("/v1/placements", body.dump());
    REQUIRE(made.status == 200);
    std::string path =
        "/v1/decisions/" + made.json()["decision_id"].get<std::string>() + "/chart";

    api_reply r = service.get(path);
    CHECK(r.status == 200);
    CHECK(r.headers["Content-Type"] == "image/svg+xml");
    CHECK(r.body.rfind("<svg", 0) == 0);
    CHECK(r.headers["Content-Security-Policy"] ==
          "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    CHECK(r.headers["X-Content-Type-Options"] == "nosniff");
    CHECK(r.body.find("prefers-color-scheme") != std::string::npos);
    CHECK(r.body == service.get(path).body); // the same bytes
    for (const char *id : {"a1", "b2", "c3"})
        CHECK(r.body.find(id) != std::string::npos);

    std::string light = service.get(path + "?theme=light").body,
                dark = service.get(path + "?theme=dark").body;
    CHECK(light.find("prefers-color-scheme") == std::string::npos);
    CHECK(dark.find("prefers-color-scheme") == std::string::npos);
    CHECK(light.find("#15181c") == std::string::npos);
    CHECK(dark.find(".gp-ground{fill:#15181c}") != std::string::npos);

    std::string late = service.get(path + "?from_s=12").body;
    CHECK(late.find("c3") != std::string::npos); // 10 to 20 on p0
    CHECK(late.find("a1") == std::string::npos); // ended at 10
    std::string early = service.get(path + "?to_s=5").body;
    CHECK(early.find("a1") != std::string::npos);
    CHECK(early.find("c3") == std::string::npos);

    std::string bars = service.get(path + "?mode=bars").body,
                summary = service.get(path + "?mode=summary").body;
    CHECK(bars == r.body);
    CHECK(summary != r.body);
    CHECK(summary.find("busy") != std::string::npos);
    CHECK(count_of(summary, "<title>") <
          count_of(bars, "<title>")); // no tooltips of bars

    CHECK(service.get(path + "?width=800").body.find("viewBox=\"0 0 800 ") !=
          std::string::npos);
    CHECK(service.get(path + "?width=399").status == 422);
    CHECK(service.get(path + "?width=4001").status == 422);
    CHECK(service.get(path + "?rows=odd").status == 422);
    std::string by_job = service.get(path + "?rows=job").body;
    CHECK(by_job.find("3 jobs on 2 resources") != std::string::npos);
    CHECK(count_of(by_job, ">a1</text>") == 2); // its row, and its bar

    CHECK(service.get(path + "?from_s=5&to_s=5").status == 422);
    CHECK(service.get(path + "?from_s=6&to_s=5").pointers() ==
          std::vector<std::string>{"?/to_s"});
    CHECK(service.get(path + "?mode=odd").status == 422);
    CHECK(service.get(path + "?theme=odd").status == 422);
    CHECK(
        service.get("/v1/decisions/00000000-0000-4000-8000-000000000000/chart").status ==
        404);

    // Nothing with times in it.
    made = service.post("/v1/checkpoint-intervals", R"({"algorithm":"young","store":true,
        "jobs":[{"id":"j","checkpoint_overhead_s":60,"mean_failure_interval_s":3600,
        "execution_time_s":7200,"restart_s":60}]})");
    REQUIRE(made.status == 200);
    r = service.get("/v1/decisions/" + made.json()["decision_id"].get<std::string>() +
                    "/chart");
    CHECK(r.status == 406);
    CHECK(r.json()["detail"].get<std::string>().find("workflow-schedules") !=
          std::string::npos);
}

TEST_CASE("a chart has sites for rows, groups, deadlines and what has no place",
          "[charts][api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_charts_sites");
    api service(own.url);
    api_reply made = service.post("/v1/placements", R"({"snapshot":{"resources":[
        {"id":"p0","site_id":"lab","memory_bytes":9},{"id":"p1","site_id":"lab",
        "memory_bytes":9},{"id":"q0","site_id":"attic","memory_bytes":9}]},"algorithm":"mct","store":true,"jobs":[
        {"id":"a1","estimate_ref_s":100,"deadline_s":50},
        {"id":"b2","estimate_ref_s":100},{"id":"c3","estimate_ref_s":100},
        {"id":"big","estimate_ref_s":1,"memory_bytes":10}]})");
    INFO(made.body);
    REQUIRE(made.status == 200);
    std::string path =
        "/v1/decisions/" + made.json()["decision_id"].get<std::string>() + "/chart";
    std::string sites = service.get(path + "?rows=site").body,
                all = service.get(path).body;

    for (const char *row : {">lab</text>", ">attic</text>"}) {
        CHECK(sites.find(row) != std::string::npos);
        CHECK(all.find(row) == std::string::npos);
    }
    CHECK(all.find(">p1</text>") != std::string::npos);
    CHECK(sites.find(">p1</text>") == std::string::npos);
    CHECK(all.find(">b</text>") != std::string::npos); // a group of one
    CHECK(sites.find("on 2 sites") != std::string::npos);
    CHECK(all.find(">!</text>") != std::string::npos);
    CHECK(all.find("1 without a place: big (too_small).") != std::string::npos);
}

TEST_CASE("a chart tells what has no place in whichever form it is listed",
          "[charts][api]")
{
    api service;
    const std::pair<const char *, const char *> forms[] = {
        {"jobs", "2 without a place: big (too_small), more (too_small)."},
        {"classes", "2 without a place: big (too_small) ..."},
        {"ids", "2 without a place."},
    };

    for (auto [form, told] : forms) {
        std::string body =
            R"({"snapshot":{"resources":[{"id":"p0","memory_bytes":9}]},"algorithm":"mct",
            "jobs":[{"id":"a","estimate_ref_s":100},
                    {"id":"big","estimate_ref_s":1,"memory_bytes":10},
                    {"id":"more","estimate_ref_s":1,"memory_bytes":10}],
            "unplaced_form":")";
        api_reply r = service.call("POST", "/v1/placements", body + form + "\"}",
                                   {{"accept", "image/svg+xml"}});

        INFO(form << " " << r.body);
        CHECK(r.status == 200);
        CHECK(r.body.find(told) != std::string::npos);
        CHECK(r.body.find(">1 job on 1 resource \xc2\xb7") != std::string::npos);
    }
}

TEST_CASE("the critical path and transfers are drawn when they are wanted",
          "[charts][api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_charts_workflow");
    api service(own.url);
    api_reply made = service.post("/v1/workflow-schedules", R"({"store":true,
        "algorithm":"heft","snapshot":{"resources":[{"id":"p0"},{"id":"p1"}]},
        "workflow":{"id":"w","tasks":[{"id":"a","etc_s":[3,9]},
        {"id":"b","etc_s":[9,2],"depends_on":[{"task_id":"a"}]}]}})");
    INFO(made.body);
    REQUIRE(made.status == 200);
    std::string path =
        "/v1/decisions/" + made.json()["decision_id"].get<std::string>() + "/chart";
    std::string with = service.get(path).body,
                without = service.get(path + "?critical=false").body;

    CHECK(with.find("on the chain that ends last") != std::string::npos);
    CHECK(without.find("on the chain that ends last") == std::string::npos);
    CHECK(service.get(path + "?transfers=false")
              .body.find("its last input is on its way") == std::string::npos);
    CHECK(service.get("/v1/simulations/00000000-0000-4000-8000-000000000000/chart")
              .status == 404);
}

TEST_CASE("of a stored decision only the parts that are asked for are answered",
          "[charts][api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_parts");
    api service(own.url);
    auto store = [&](const std::string &labels) {
        api_reply r = service.post("/v1/placements", R"({"snapshot":{"resources":[
            {"id":"p0"}]},"algorithm":"mct","store":true,"jobs":[{"id":"a","etc_s":[10]}]
            )" + labels + "}");
        REQUIRE(r.status == 200);
        return r.json()["decision_id"].get<std::string>();
    };
    std::string id = store(R"(,"labels":{"run":"nightly-7","tags":["green"]})"),
                bare = store("");
    auto members = [&](const std::string &query) {
        nlohmann::json d = service.get("/v1/decisions/" + id + query).json();
        std::string found;
        for (const char *m : {"request", "answer", "snapshot", "history"})
            found += d.contains(m) ? std::string(m) + " " : "";
        return found;
    };
    CHECK(members("") == "request answer ");
    CHECK(members("?parts=answer") == "answer ");
    CHECK(members("?parts=request,answer") == "request answer ");
    CHECK(members("?parts=snapshot") == "");
    api_reply r = service.get("/v1/decisions/" + id + "?parts=x");
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"?/parts"});
    CHECK(r.json()["errors"][0]["code"] == "not_a_choice");

    // Lists of objects column by column, or as they were.
    nlohmann::json columns =
        service.get("/v1/decisions/" + id + "?parts=answer&lists=columns").json();
    CHECK_FALSE(columns["answer"].contains("placements"));
    CHECK(columns["answer"]["placement_count"] == 1);
    CHECK(columns["answer_columns"]["placements"]["count"] == 1);
    CHECK(columns["answer_columns"]["placements"]["columns"]["job_id"]["values"] ==
          nlohmann::json::parse(R"(["a"])"));
    CHECK_FALSE(columns.contains("request"));
    CHECK(service.get("/v1/decisions/" + id + "?parts=answer&lists=rows").json() ==
          service.get("/v1/decisions/" + id + "?parts=answer").json());
    CHECK_FALSE(service.get("/v1/decisions/" + id + "?parts=request&lists=columns")
                    .json()
                    .contains("answer_columns"));
    CHECK(service.get("/v1/decisions/" + id + "?lists=x").pointers() ==
          std::vector<std::string>{"?/lists"});

    // What is stored never changes: one ETag of each form and choice of parts.
    auto tag = [&](const std::string &path, const std::string &accept) {
        return service.call("GET", "/v1/decisions/" + path, "", {{"accept", accept}})
            .headers.at("ETag");
    };
    std::set<std::string> tags = {
        tag(id, "application/json"), tag(id, "image/svg+xml"),
        tag(id + "?parts=answer", "application/json"),
        tag(id + "?parts=answer&lists=columns", "application/json"),
        tag(bare, "application/json")};
    CHECK(tags.size() == 5);
    CHECK(tags.count(tag(id, "application/json")) == 1);
    r = service.call("GET", "/v1/decisions/" + id, "",
                     {{"if_none_match", tag(id, "application/json")}});
    CHECK(r.status == 304);
    CHECK(r.body == "");
    CHECK(service
              .call("GET", "/v1/decisions/" + id + "?parts=answer", "",
                    {{"if_none_match", tag(id, "application/json")}})
              .status == 200);

    // Labels are in lists, and are looked for by how they begin.
    auto found = [&](const std::string &q) {
        nlohmann::json items = service.get("/v1/decisions?q=" + q).json()["items"];
        return items.size() == 1 ? items[0] : nlohmann::json(items.size());
    };
    CHECK(found("nightly")["labels"] ==
          nlohmann::json::parse(R"({"run":"nightly-7","tags":["green"]})"));
    CHECK(found("gree")["decision_id"] == id);
    CHECK(found("reen") == 0);
    CHECK(found(bare.substr(0, 23))["decision_id"] == bare);
    CHECK_FALSE(found(bare)["decision_id"].is_null());
    CHECK_FALSE(found(bare).contains("labels"));
    CHECK(service.get("/v1/decisions?q=" + std::string(201, 'a')).status == 422);
}

TEST_CASE("resources are listed by how available they were", "[charts][api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_available");
    api service(own.url);
    api_reply r = service.post("/v1/observations", R"([
        {"resource_id":"good","from_at":1000000,"to_at":1001000},
        {"resource_id":"zbad","from_at":1000000,"to_at":1001000},
        {"resource_id":"fair","from_at":1000000,"to_at":1001000}])");
    INFO(r.body);
    REQUIRE(r.status < 300);
    r = service.post("/v1/failures", R"([
        {"resource_id":"zbad","down_at":1000100,"up_at":1000500},
        {"resource_id":"zbad","down_at":1000600,"up_at":1000700},
        {"resource_id":"fair","down_at":1000100,"up_at":1000200}])");
    INFO(r.body);
    REQUIRE(r.status < 300);
    auto ids = [&](const std::string &query) {
        r = service.get("/v1/failures/statistics/resources" + query);
        INFO(r.body);
        REQUIRE(r.status == 200);
        nlohmann::json items = r.json()["items"];
        std::string text;
        for (auto &i : items)
            text += i["resource_id"].get<std::string>() + " ";
        return text;
    };
    CHECK(ids("?from=1000000&to=1001000") == "fair good zbad ");
    nlohmann::json bad = r.json()["items"][2];
    CHECK(bad["failure_count"] == 2);
    CHECK(bad["availability_ratio"].get<double>() == Approx(0.5).epsilon(1e-12));
    CHECK(bad["mttr_s"].get<double>() == Approx(250).epsilon(1e-12));
    nlohmann::json good = r.json()["items"][1];
    CHECK(good["failure_count"] == 0);
    CHECK(good["availability_ratio"] == 1);
    CHECK_FALSE(good.contains("mttr_s"));
    CHECK(ids("?order=availability&from=1000000&to=1001000") == "zbad fair good ");
    CHECK(ids("?order=availability&from=1000000&to=1001000&page_size=2") == "zbad fair ");
    CHECK(ids("?order=availability&from=1000000&to=1001000&page_size=2&page_token=" +
              r.json()["next_page_token"].get<std::string>()) == "good ");
    CHECK(service.get("/v1/failures/statistics/resources?order=odd").status == 422);
}
