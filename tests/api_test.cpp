// api_test.cpp - the API without a database: decisions, errors, conventions.
#include "tests/api.hpp"
#include "tests/description.hpp"
#include "tests/examples.hpp"

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

extern "C" {
#include "models/base/work.h"
#include "service/openapi.h"
}

using nlohmann::json;

namespace
{
const char *const plain =
    R"({"snapshot":{"resources":[{"id":"m0"},{"id":"m1"}]},"jobs":[{"id":"j0","etc_s":[3.5,4]}],)"
    R"("algorithm":"min_min","seed":1,"time_limit_s":1})";

std::string file_text(const std::filesystem::path &path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// What must be the same when a request comes again.
json timeless(json answer)
{
    answer.erase("decision_id");
    answer.erase("timings");
    return answer;
}

std::string with_algorithm(const std::string &body, const std::string &name)
{
    json j = json::parse(body);
    j["algorithm"] = name;
    return j.dump();
}
} // namespace

TEST_CASE("the plainest placement", "[api]")
{
    api a;
    api_reply r = a.post("/v1/placements", plain);
    REQUIRE(r.status == 200);
    json j = r.json();
    CHECK(j["algorithm"] == "min_min");
    CHECK(j["seed"] == 1);
    CHECK(j["status"] == "optimal");
    CHECK(j["placements"].size() == 1);
    CHECK(j["placements"][0]["job_id"] == "j0");
    CHECK(j["placements"][0]["resource_id"] == "m0");
    CHECK(j["placements"][0]["start_s"] == 0);
    CHECK(j["placements"][0]["finish_s"] == 3.5);
    CHECK(j["unplaced"].empty());
    CHECK(j["objective"]["makespan_s"] == 3.5);
    CHECK(j["objective"]["lower_bound_s"].get<double>() == Approx(3.5).epsilon(1e-8));
    CHECK(j["objective"]["gap_ratio"].get<double>() == Approx(0).margin(1e-8));
    CHECK(j["decision_id"].get<std::string>().size() == 36);
    CHECK(r.headers["X-Request-Id"].size() == 36);
}

TEST_CASE("the plainest checkpoint interval", "[api]")
{
    api a;
    api_reply r =
        a.post("/v1/checkpoint-intervals",
               R"({"algorithm":"young","jobs":[{"id":"j","checkpoint_overhead_s":60,)"
               R"("mean_failure_interval_s":3600}]})");
    REQUIRE(r.status == 200);
    json j = r.json();
    CHECK(j["intervals"][0]["job_id"] == "j");
    CHECK(j["intervals"][0]["interval_s"].get<double>() ==
          Approx(657.267069).epsilon(1e-8));
}

/* Where the example of an algorithm is: FAMILY-NAME.json, in simulations beneath. */
static std::string example_of(const json &algorithm)
{
    return std::string(GRIDPLAN_SOURCE_DIR "/openapi/examples/") +
           (algorithm["endpoint"] == "/v1/simulations" ? "simulation-" : "") +
           algorithm["family"].get<std::string>() + "-" +
           algorithm["name"].get<std::string>() + ".json";
}

/* A request that every algorithm of the family can answer. */
static json plain_body(const json &algorithm)
{
    if (algorithm["family"] == "placement")
        return json::parse(R"({"snapshot":{"resources":[{"id":"a"},{"id":"b"}]},
                               "jobs":[{"id":"j","estimate_ref_s":2},
                                       {"id":"k","estimate_ref_s":2}]})");
    if (algorithm["family"] == "checkpoint")
        return json::parse(R"({"jobs":[{"id":"j","checkpoint_overhead_s":60,
                               "mean_failure_interval_s":3600,
                               "execution_time_s":86400}]})");
    json body = json::parse(file_text(example_of(algorithm)));
    body.erase("options");
    return body;
}

// Names of files and of developers' notes tell a reader nothing.
static void check_text(const json &text)
{
    static const std::regex internal(
        R"(\.(md|txt)\b|\bspec\b(?!:)|\b\d{3}_[0-9a-f]{6}|\[L\d|\bL\d)");
    std::string words = text;
    INFO(words);
    CHECK_FALSE(words.empty());
    CHECK_FALSE(std::regex_search(words, internal));
}

TEST_CASE("a reader can look up where each algorithm comes from", "[api]")
{
    static const std::regex letter(R"((^|[^.\w])[A-Z]($|[^.\w]))");
    api a;
    json list = a.get("/v1/algorithms").json()["items"];
    std::set<std::string> titles;
    for (const json &algorithm : list) {
        INFO(algorithm["family"] << " " << algorithm["name"]);
        bool published = algorithm["origin"] == "published";
        CHECK(published == !algorithm["source"].empty());
        CHECK((published || algorithm.contains("idea")));
        CHECK((published || !algorithm.contains("deviations")));
        check_text(algorithm["purpose"]);
        if (algorithm.contains("idea"))
            check_text(algorithm["idea"]);
        if (algorithm.contains("deviations"))
            for (const json &sentence : algorithm["deviations"])
                check_text(sentence);
        CHECK(algorithm["options"].size() <= PARAMS_MAX);
        for (const json &option : algorithm["options"])
            check_text(option["documentation"]);
        for (const json &work : algorithm["source"]) {
            for (const char *member : {"authors", "title", "published_in"})
                check_text(work[member]);
            CHECK(work["year"].get<int>() >= 1950);
            titles.insert(work["title"]);
            if (work.contains("locator")) {
                check_text(work["locator"]);
                CHECK_FALSE(
                    std::regex_search(work["locator"].get<std::string>(), letter));
            }
        }
    }
    // All works are cited, those in brackets as they stand until somebody has looked.
#define X(id, authors, year, title, published_in, url) CHECK(titles.count(title) == 1);
    WORKS(X)
#undef X
}

TEST_CASE("every algorithm is listed, takes its defaults, and repeats itself",
          "[api][property]")
{
    api a;
    json list = a.get("/v1/algorithms").json()["items"];
    CHECK(list.size() >= 17);
    for (const json &algorithm : list) {
        std::string name = algorithm["name"], path = algorithm["endpoint"];
        INFO(algorithm["family"] << " " << name);
        CHECK_FALSE(algorithm["purpose"].get<std::string>().empty());
        json body = plain_body(algorithm);
        json &taken = path == "/v1/simulations" ? body["compare"][0] : body;
        taken["algorithm"] = name;
        for (const json &option : algorithm["options"]) {
            CHECK_FALSE(option["documentation"].get<std::string>().empty());
            if (option.contains("default"))
                taken["options"][option["name"].get<std::string>()] = option["default"];
            if (option.contains("default") && option["type"] == "boolean")
                taken["options"][option["name"].get<std::string>()] =
                    option["default"] != 0;
            if (option.contains("default_choice"))
                taken["options"][option["name"].get<std::string>()] =
                    option["default_choice"];
        }
        api_reply first = a.post(path, body.dump());
        INFO(first.body.substr(0, 500));
        REQUIRE(first.status == 200);
        CHECK(timeless(first.json()) == timeless(a.post(path, body.dump()).json()));
    }
}

TEST_CASE("every example of the description is answered", "[api]")
{
    api a;
    size_t count = 0;
    std::set<std::string> warnings;
    const json codes = a.get("/v1/errors").json();
    for (const json &row : codes["warning_codes"])
        warnings.insert(row["code"]);
    for (const example &e : examples()) {
        INFO(e.name);
        if (!e.row || !e.row->example || e.row->work == WORK_QUERY ||
            e.body.find("\"store\"") != std::string::npos)
            continue; // with the tests that have a database
        api_reply r = a.call(e.method, e.target, e.body, e.headers);
        INFO(r.body.substr(0, 500));
        CHECK(r.status == 200);
        CHECK(request_mistakes(e.method, e.target, e.body) == "");
        const json sent = r.json().value("warnings", json::array());
        for (const json &warning : sent) {
            std::string text = warning.get<std::string>();
            INFO(text);
            CHECK(warnings.count(text.substr(0, text.find(": "))));
        }
        count++;
    }
    CHECK(count >= 3);
}

TEST_CASE("every algorithm has an example, with the worked makespan", "[api]")
{
    const std::map<std::string, double> makespan_s = {
        {"olb", 34},        {"met", 46},
        {"mct", 29},        {"min_min", 31},
        {"max_min", 33},    {"duplex", 31},
        {"sufferage", 32},  {"sufferage_pass", 27},
        {"search", 25},     {"identical_optimum", 40},
        {"xsufferage", 85}, {"auto", 80}};
    api a;
    json list = a.get("/v1/algorithms").json()["items"];
    for (const json &algorithm : list) {
        std::string name = algorithm["name"], family = algorithm["family"];
        INFO(example_of(algorithm));
        json body = json::parse(file_text(example_of(algorithm)));
        bool is_simulated = algorithm["endpoint"] == "/v1/simulations";
        CHECK((is_simulated ? body["compare"][0] : body)["algorithm"] == name);
        json answer = a.post(algorithm["endpoint"], body.dump()).json();
        auto want = makespan_s.find(name);
        if (want != makespan_s.end() && family == "placement")
            CHECK(answer["objective"]["makespan_s"].get<double>() ==
                  Approx(want->second).epsilon(1e-12));
    }
}

TEST_CASE("no name is used twice in an object of the description", "[api]")
{
    // json::parse() refuses such an object.
    json read = json::parse(file_text(GRIDPLAN_SOURCE_DIR "/openapi/openapi.json"));
    CHECK(read.is_object());
}

TEST_CASE("the committed description is the one that the tables print", "[api]")
{
    test_arena a;
    text_buffer b{};
    b.arena = a;
    openapi_print(routes(), &b);
    REQUIRE_FALSE(b.failed);
    INFO("to renew it: build/release/gridplan openapi > openapi/openapi.json");
    json printed = json::parse(b.data);
    json committed = json::parse(file_text(GRIDPLAN_SOURCE_DIR "/openapi/openapi.json"));
    bool same = printed == committed; // to print both would take half a minute
    CHECK(same);
    CHECK(printed["openapi"] == "3.1.0");
    api served;
    same = json::parse(served.get("/openapi.json").body) == committed;
    CHECK(same);
}

TEST_CASE("a request's mistakes come all at once", "[api]")
{
    api a;
    api_reply r =
        a.post("/v1/placements",
               R"({"snapshot":{"resources":[{"id":"a","cpus":-1},{"id":"a","speed":2}]},
                             "jobs":[{"etc_s":[1]},{"id":"j","etc_s":[1,"x"]}],
                             "seed":-1,"algoritm":"mct"})");
    CHECK(r.status == 422);
    CHECK(r.headers["Content-Type"] == "application/problem+json");
    json j = r.json();
    CHECK(j["status"] == 422);
    CHECK(j["code"] == "invalid");
    CHECK(j["request_id"] == r.headers["X-Request-Id"]);
    CHECK(r.pointers() == std::vector<std::string>{
                              "/snapshot/resources/0/cpus", "/snapshot/resources/1/speed",
                              "/snapshot/resources/1/id", "/jobs/0/id", "/jobs/1/etc_s/1",
                              "/seed", "/algoritm"});
    CHECK(r.body.find("did you mean 'algorithm'") != std::string::npos);

    r = a.post("/v1/placements", with_algorithm(plain, "min_mim"));
    CHECK(r.pointers() == std::vector<std::string>{"/algorithm"});
    CHECK(r.body.find("did you mean 'min_min'") != std::string::npos);
}

TEST_CASE("meaning is checked too, with pointers into the body", "[api]")
{
    api a;
    api_reply r = a.post(
        "/v1/placements",
        R"({"snapshot":{"resources":[{"id":"a"}],"files":[{"id":"f","site_ids":[]}]},
                             "jobs":[{"id":"x","etc_s":[1,2]},
                                     {"id":"y","etc_s":[1],"input_file_ids":["g"]},
                                     {"id":"z","etc_s":[1],"requirement":"a ==","rank":"1 < 2 < 3"}],
                             "options":{"file_scpoe":"site"}})");
    CHECK(r.status == 422);
    std::vector<std::string> p = r.pointers();
    auto has = [&](const char *pointer) {
        return std::find(p.begin(), p.end(), pointer) != p.end();
    };
    INFO(r.body);
    CHECK(has("/jobs/0/etc_s"));
    CHECK(has("/jobs/1/input_file_ids/0"));
    CHECK(has("/jobs/2/requirement"));
    CHECK(has("/jobs/2/rank"));
    CHECK(has("/snapshot/files/0/site_ids"));
    CHECK(has("/options/file_scpoe"));
}

TEST_CASE("a time limit above the one in force is refused, not cut in silence", "[api]")
{
    api a;
    json placement = json::parse(plain);
    json simulation = json::parse(
        file_text(GRIDPLAN_SOURCE_DIR "/openapi/examples/simulation-jobs.json"));

    for (double limit_s : {600.0, 600.001, 3600.0, 86400.0}) {
        for (auto &c : {std::make_pair("/v1/placements", &placement),
                        std::make_pair("/v1/simulations", &simulation)}) {
            INFO(c.first << " " << limit_s);
            (*c.second)["time_limit_s"] = limit_s;
            api_reply r = a.post(c.first, c.second->dump());
            if (limit_s <= 600) {
                CHECK(r.status == 200);
                continue;
            }
            CHECK(r.status == 422);
            CHECK(r.pointers() == std::vector<std::string>{"/time_limit_s"});
            CHECK(r.json()["errors"][0]["code"] == "out_of_bounds");
            CHECK(r.body.find("more than the 600 s that are in force here") !=
                  std::string::npos);
        }
    }
}

TEST_CASE("the limits in force can be read", "[api]")
{
    api a;
    json limits = json::parse(a.get("/v1/service-info").body)["limits"];
    CHECK(limits["time_limit_max_s"] == 600);
    CHECK(limits["simulation_time_limit_s"] == 3600);
    CHECK(limits["max_body_bytes"] == 67108864);
    CHECK(limits["page_size_max"].get<double>() >= 100);
    CHECK_FALSE(limits.contains("rate_limit_per_s"));
    CHECK(limits["slots"].get<int>() >= 1);
    CHECK(limits["processors"].get<double>() > 0);
    // What it says is what is refused.
    json placement = json::parse(plain);
    placement["time_limit_s"] = limits["time_limit_max_s"].get<double>() + 0.001;
    CHECK(a.post("/v1/placements", placement.dump()).status == 422);
    std::string page = "/v1/algorithms?page_size=" +
                       std::to_string(limits["page_size_max"].get<int>() + 1);
    CHECK(a.get(page).status == 422);
}

TEST_CASE("degenerate requests have plain answers", "[api]")
{
    api a;
    struct {
        const char *body;
        int status;
        const char *outcome;
    } cases[] = {
        {R"({"snapshot":{"resources":[]},"jobs":[]})", 200, "optimal"},
        {R"({"snapshot":{"resources":[{"id":"a"}]},"jobs":[]})", 200, "optimal"},
        {R"({"snapshot":{"resources":[]},"jobs":[{"id":"j","estimate_ref_s":1}]})", 200,
         "infeasible"},
        {R"({"snapshot":{"resources":[{"id":"a","mips_total":0}]},"jobs":[{"id":"j","estimate_ref_s":1}]})",
         200, "infeasible"},
        {R"({"snapshot":{"resources":[{"id":"a"}]},"jobs":[{"id":"j","estimate_ref_s":0}]})",
         200, "optimal"},
        {R"({"snapshot":{"resources":[{"id":"a"}]},"jobs":[{"id":"j","etc_s":[null]}]})",
         200, "infeasible"},
        {R"({"snapshot":{"resources":[{"id":"a","mips_total":1e-300}]},"jobs":[{"id":"j","estimate_ref_s":1e308}]})",
         200, "infeasible"},
        {R"({"jobs":[]})", 422, nullptr},
        {R"({"snapshot":{"resources":[]},"snapshot_id":"x","jobs":[]})", 422, nullptr},
        {R"({"snapshot":{"resources":[]}})", 422, nullptr},
        {R"([])", 422, nullptr},
        {R"(null)", 422, nullptr},
        {R"({"snapshot":{"resources":[{"id":"a"}]},"jobs":[{"id":"j","etc_s":[1e999]}]})",
         422, nullptr},
        {R"({"snapshot":{"resources":[{"id":"a"}]},"jobs":[{"id":"j","etc_s":[-1]}]})",
         422, nullptr},
        {R"({"snapshot":{"resources":[{"id":""}]},"jobs":[]})", 422, nullptr},
        {"", 400, nullptr},
        {"{", 400, nullptr},
    };
    for (auto &c : cases) {
        api_reply r = a.post("/v1/placements", c.body);
        INFO(c.body << "\n" << r.body);
        CHECK(r.status == c.status);
        if (c.outcome)
            CHECK(r.json()["status"] == c.outcome);
    }
}

TEST_CASE("metrics are in the form that is asked for, or none", "[api][metrics]")
{
    api a;
    const char *plain = "text/plain; version=0.0.4; charset=utf-8",
               *open = "application/openmetrics-text; version=1.0.0; charset=utf-8",
               *problem = "application/problem+json";
    const struct {
        const char *accept, *type;
    } cases[] = {
        {"", plain},
        {"*/*", plain},
        {"text/*", plain},
        {"application/openmetrics-text", open},
        {"application/openmetrics-text, text/plain", open},
        {"application/openmetrics-text;version=1.0.0;q=0.5,"
         "application/openmetrics-text;version=0.0.1;q=0.4,"
         "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
         open},
        {"application/openmetrics-text;q=0.1, text/plain;q=0.5", plain},
        {"application/openmetrics-text;q=0, text/plain", plain},
        {"application/vnd.google.protobuf, */*;q=0.1", plain},
        {"application/json", problem},
        {"text/plain;q=0", problem},
        {"application/vnd.google.protobuf", problem},
    };

    for (const auto &c : cases) {
        api_reply r = a.call("GET", "/metrics", "", {{"accept", c.accept}});

        INFO(c.accept << "\n" << r.body);
        CHECK(r.status == (c.type == problem ? 406 : 200));
        CHECK(r.headers["Content-Type"] == c.type);
        CHECK(r.headers["Vary"] == (c.type == problem ? "" : "Accept"));
        if (c.type == problem) {
            CHECK_THAT(r.body,
                       Catch::Contains("text/plain, application/openmetrics-text"));
        }
    }
}

TEST_CASE("a job without a place says why", "[api]")
{
    api a;
    json j = a.post("/v1/placements",
                    R"({"snapshot":{"resources":[{"id":"a","memory_bytes":8e9,"cpus":4},
                                                 {"id":"b","memory_bytes":4e9,"cpus":16},
                                                 {"id":"c","failed":true}]},
                        "jobs":[{"id":"big","estimate_ref_s":1,"memory_bytes":9e9},
                                {"id":"picky","estimate_ref_s":1,"requirement":"arch == \"arm\""},
                                {"id":"fine","estimate_ref_s":1}]})")
                 .json();
    CHECK(j["status"] == "feasible");
    CHECK(j["placements"].size() == 1);
    REQUIRE(j["unplaced"].size() == 2);
    CHECK(j["unplaced"][0]["job_id"] == "big");
    for (const json &u : j["unplaced"]) {
        uint64_t dropped = 0;
        for (const json &reason : u["reasons"])
            dropped += reason["resource_count"].get<uint64_t>();
        CHECK(dropped == 3);
    }
    CHECK(j["unplaced"][0]["reasons"].dump().find("\"a\"") !=
          std::string::npos); // nearest miss
}

TEST_CASE("paths, methods and headers are answered as HTTP asks", "[api]")
{
    api a;
    CHECK(a.get("/nowhere").status == 404);
    CHECK(a.get("/v1/placements").status == 405);
    CHECK(a.get("/v1/placements").headers["Allow"] == "POST, OPTIONS");
    CHECK(a.call("HEAD", "/livez").status == 200);
    CHECK(a.call("OPTIONS", "/livez").status == 204);
    CHECK(a.call("OPTIONS", "/livez").headers["Allow"] == "GET, HEAD, OPTIONS");
    CHECK(a.call("OPTIONS", "/nowhere").status == 404);
    CHECK(a.call("BREW", "/livez").status == 405);
    CHECK(a.get("/livez?x=1").status == 422);
    CHECK(a.call("POST", "/v1/placements", plain, {{"content_type", "text/plain"}})
              .status == 415);
    CHECK(a.call("POST", "/v1/placements", plain,
                 {{"content_type", "application/json; charset=utf-8"}})
              .status == 200);
    CHECK(a.call("POST", "/v1/placements", plain, {{"accept", "text/html"}}).status ==
          406);
    CHECK(a.call("POST", "/v1/placements", plain,
                 {{"accept", "text/html, application/*;q=0.5"}})
              .status == 200);
    CHECK(a.call("POST", "/v1/placements", plain, {{"accept", "application/json;q=0"}})
              .status == 406);
    CHECK(a.call("POST", "/v1/placements", plain, {{"content_encoding", "br"}}).status ==
          415);
    CHECK(a.call("GET", "/livez", "", {{"request_id", "my-id.1"}})
              .headers["X-Request-Id"] == "my-id.1");
    CHECK(a.call("GET", "/livez", "", {{"request_id", "a\"b\r\n"}})
              .headers["X-Request-Id"]
              .size() == 36);
    const char *trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    CHECK(a.call("GET", "/livez", "", {{"traceparent", trace}}).headers["traceparent"] ==
          trace);
    CHECK(a.call("GET", "/livez", "", {{"traceparent", "junk"}})
              .headers.count("traceparent") == 0);
    api_reply description = a.get("/openapi.json");
    std::string tag = description.headers["ETag"];
    CHECK(tag.size() == 18);
    CHECK(a.call("GET", "/openapi.json", "", {{"if_none_match", tag}}).status == 304);
    CHECK(a.call("GET", "/openapi.json", "", {{"if_none_match", "\"other\""}}).status ==
          200);
    api_reply packed = a.call("GET", "/openapi.json", "", {{"accept_encoding", "gzip"}});
    CHECK(packed.headers["Content-Encoding"] == "gzip");
    CHECK(packed.headers["Vary"] == "Accept-Encoding");
    // Other bytes, another tag; either says that the client has it.
    CHECK(packed.headers["ETag"] != tag);
    for (const std::string &known : {tag, packed.headers["ETag"]}) {
        api_reply same =
            a.call("GET", "/openapi.json", "",
                   {{"accept_encoding", "gzip"}, {"if_none_match", "\"x\", " + known}});
        CHECK(same.status == 304);
        CHECK(same.body == "");
        CHECK(same.headers["ETag"] == known);
        CHECK(same.headers["Vary"] == "Accept-Encoding");
        CHECK(same.headers.count("Content-Encoding") == 0);
    }
}

TEST_CASE("caches keep what is the same for everybody only", "[api]")
{
    api a;

    CHECK(a.get("/openapi.json").headers["Cache-Control"] == "no-cache");
    CHECK(a.get("/v1/nothing").headers["Cache-Control"] == "no-cache");
    CHECK(a.post("/v1/placements", plain).headers["Cache-Control"] == "no-store");
    CHECK(a.call("GET", "/v1/algorithms", "", {{"authorization", "Bearer x"}})
              .headers["Cache-Control"] == "no-store");
}

TEST_CASE("a page of an allowed origin may read each header that is described", "[api]")
{
    api a;
    std::string exposed, page = "https://plan.example";
    auto all = a.get("/openapi.json").json()["components"]["headers"];

    CHECK(a.call("GET", "/livez", "", {{"origin", page}}).headers.count("Vary") == 0);
    const_cast<config *>(a.handle()->config)->cors_origins = page.c_str();
    CHECK(a.get("/livez").headers["Vary"] == "Origin");
    api_reply other = a.call("GET", "/livez", "", {{"origin", "https://evil.example"}});
    CHECK(other.headers["Vary"] == "Origin");
    CHECK(other.headers.count("Access-Control-Allow-Origin") == 0);
    exposed = a.call("GET", "/livez", "", {{"origin", page}})
                  .headers["Access-Control-Expose-Headers"];
    for (const auto &[name, h] : all.items()) {
        INFO(name);
        CHECK((exposed + ",").find(name + ",") != std::string::npos);
    }
    CHECK(exposed.find("Content-Encoding") != std::string::npos);
}

TEST_CASE("without a database, what needs one says so and the rest goes on", "[api]")
{
    api a;
    CHECK(a.post("/v1/placements", plain).status == 200);
    CHECK(a.get("/readyz").status == 200);
    CHECK(a.get("/readyz?verbose=true").json()["database"] == "none");
    for (const char *body : {R"({"snapshot_id":"s","jobs":[]})",
                             R"({"snapshot":{"resources":[]},"jobs":[],"store":true})"}) {
        api_reply r = a.post("/v1/placements", body);
        CHECK(r.status == 503);
        CHECK(r.body.find("DATABASE_URL") != std::string::npos);
    }
    api_reply keyed = a.call("POST", "/v1/placements", plain, {{"idempotency_key", "k"}});
    CHECK(keyed.status == 200);
    CHECK(keyed.headers["Idempotency-Stored"] == "false");
    CHECK(a.call("POST", "/v1/load-samples",
                 R"({"resource_id":"r","observed_at":1,"latency_s":1})",
                 {{"idempotency_key", "k"}})
              .status == 503);
}

TEST_CASE("labels come back as they were", "[api]")
{
    api a;
    json body = json::parse(plain);
    body["labels"] = json::parse(R"({"run":"r1","n":[1,2,{"x":null}]})");
    CHECK(a.post("/v1/placements", body.dump()).json()["labels"] == body["labels"]);
}

TEST_CASE("requests of a million jobs are bounded, not fatal", "[api][million]")
{
    api a;
    std::string body =
        R"({"snapshot":{"resources":[{"id":"a"},{"id":"b","mips_total":2}]},)"
        R"("algorithm":"mct","jobs":[)";
    for (int i = 0; i < 1000000; i++)
        body += (i ? ",{\"id\":\"" : "{\"id\":\"") + std::to_string(i) +
                "\",\"estimate_ref_s\":1}";
    body += "]}";
    if (!is_sanitized() || is_long_run())
        CHECK(a.call("POST", "/v1/placements", body, {}, size_t{4} << 30).status == 200);
    CHECK(a.call("POST", "/v1/placements", body, {}, size_t{64} << 20).status == 413);
    body.insert(body.size() - 2, R"(,{"id":"last","estimate_ref_s":1})");
    api_reply r = a.call("POST", "/v1/placements", body, {}, size_t{4} << 30);
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs"});
}

TEST_CASE("an answer fails cleanly at every memory cap", "[api][memory]")
{
    api a;
    for (size_t cap = 256;; cap += 512) {
        api_reply r = a.call("POST", "/v1/placements", plain, {}, cap);
        if (r.status == 200)
            break;
        REQUIRE(r.status == 413);
        REQUIRE(cap < 1000000);
    }
}
