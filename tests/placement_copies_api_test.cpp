// placement_copies_api_test.cpp - jobs that stand for several equal ones (`count`):
// against the same jobs written out, and what is refused, through route_answer().
#include "tests/api.hpp"
#include "tests/instances.hpp"

#include <random>

using nlohmann::json;

namespace
{
api_reply ask(const std::string &path, const json &body)
{
    static api a;
    return a.post(path, body.dump());
}

json decide(const json &body, const std::string &path = "/v1/placements")
{
    api_reply r = ask(path, body);
    INFO(body.dump().substr(0, 3000) << " " << r.body.substr(0, 3000));
    REQUIRE(r.status == 200);
    return r.json();
}

std::string warned(const json &answer, const std::string &code)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(code + ": ", 0) == 0)
            return w.get<std::string>();
    return "";
}

// First and last copy of a row; {0, 0}: its job has one.
std::pair<size_t, size_t> span(const json &row)
{
    CHECK_FALSE((row.contains("index") && row.contains("indexes")));
    if (row.contains("index"))
        return {row["index"], row["index"]};
    if (row.contains("indexes"))
        return {row["indexes"][0], row["indexes"][1]};
    return {0, 0};
}

// Rows of copies as rows of the jobs that write_out() makes.
json expand(const json &rows, const json &jobs)
{
    json out = json::array();
    for (const json &row : rows) {
        auto [first, last] = span(row);
        size_t count = 1;
        for (const json &j : jobs)
            if (j["id"] == row["job_id"])
                count = j.value("count", size_t{1});
        REQUIRE(last < count);
        for (size_t i = first; i <= last; i++) {
            json one = row;
            one.erase("index");
            one.erase("indexes");
            one.erase("slots");
            if (count > 1)
                one["job_id"] =
                    row["job_id"].get<std::string>() + "#" + std::to_string(i);
            if (row.contains("slots"))
                one["slot"] = row["slots"][i - first];
            else if (row.contains("slot"))
                one["slot"] = row["slot"].get<size_t>() + i - first;
            out.push_back(one);
        }
    }
    return out;
}

// Each copy a job of its own, and `after` names all of them.
json write_out(const json &jobs)
{
    std::map<std::string, json> names;
    json out = json::array();
    for (const json &j : jobs)
        for (size_t i = 0; i < j.value("count", size_t{1}); i++) {
            std::string id = j["id"];
            if (j.value("count", size_t{1}) > 1)
                id += "#" + std::to_string(i);
            names[j["id"]].push_back(id);
        }
    for (const json &j : jobs)
        for (const json &id : names[j["id"]]) {
            json one = j;
            one.erase("count");
            one["id"] = id;
            if (j.contains("after")) {
                one["after"] = json::array();
                for (const json &w : j["after"])
                    for (const json &other : names[w["job_id"]])
                        one["after"].push_back({{"job_id", other}, {"kind", w["kind"]}});
            }
            out.push_back(one);
        }
    return out;
}

// What does not depend on which copy is which, in an order of its own.
std::vector<std::string> places(const json &rows)
{
    std::vector<std::string> out;
    for (json row : rows) {
        std::string id = row["job_id"];
        row["job_id"] = id.substr(0, id.find('#'));
        out.push_back(row.dump());
    }
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<std::string> ids(const json &rows)
{
    std::vector<std::string> out;
    for (const json &row : rows)
        out.push_back(row["job_id"]);
    std::sort(out.begin(), out.end());
    return out;
}

json on(const json &resources, const json &jobs, const json &more = json::object())
{
    json body = {
        {"snapshot", {{"resources", resources}}}, {"jobs", jobs}, {"algorithm", "mct"}};
    body.update(more);
    return body;
}

struct draw {
    std::mt19937 random;
    int upto(int n)
    {
        return int(random() % unsigned(n));
    }
};

json some_resources(draw &d, bool slots)
{
    json out = json::array();
    for (int i = 0; i < 1 + d.upto(3); i++) {
        json r = {{"id", "n" + std::to_string(i)}, {"mips_total", 1 + d.upto(2)}};
        if (slots)
            r["n_max"] = 1 + d.upto(3);
        else
            r["cpus"] = 1 + d.upto(4);
        if (!slots && d.upto(3) == 0)
            r["running"] = {{{"id", "r" + std::to_string(i)},
                             {"cpus", 1},
                             {"preemptible", true},
                             {"expected_end_s", 1 + d.upto(9)}}};
        out.push_back(r);
    }
    return out;
}

json some_jobs(draw &d, bool slots)
{
    json out = json::array();
    int count = 1 + d.upto(4);
    for (int i = 0; i < count; i++) {
        json j = {{"id", "j" + std::to_string(i)}, {"estimate_ref_s", 1 + d.upto(9)}};
        if (d.upto(3))
            j["count"] = 1 + d.upto(5);
        if (!slots) {
            j["cpus"] = 1 + d.upto(5);
            j["weight"] = 1 + d.upto(3);
            if (i && d.upto(3) == 0)
                j["after"] = {{{"job_id", "j" + std::to_string(d.upto(i))},
                               {"kind", d.upto(2) ? "ok" : "start"}}};
            if (d.upto(4) == 0)
                j["group"] = {{"id", "g" + std::to_string(i)},
                              {"policy", d.upto(2) ? "gang" : "spread"}};
        }
        if (d.upto(5) == 0)
            j["requirement"] = "resource_id == \"n1\"";
        out.push_back(j);
    }
    return out;
}

double most_after(const json &rows, const std::string &id, const std::string &member)
{
    double most = -1;
    for (const json &row : rows)
        if (row["job_id"] == id)
            most = std::max(most, row[member].get<double>());
    return most;
}
} // namespace

TEST_CASE("copies of one start and node are one row", "[placement][copies]")
{
    // Four cpus: four copies of one cpu at 0, four at 10, two at 20.
    json answer = decide(on({{{"id", "n"}, {"cpus", 4}}},
                            {{{"id", "a"}, {"estimate_s", 10}, {"count", 10}}}));
    REQUIRE(answer["placements"].size() == 3);
    CHECK(answer["placement_count"] == 10);
    CHECK(answer["unplaced_count"] == 0);
    CHECK(answer["placements"][0]["indexes"] == json{0, 3});
    CHECK(answer["placements"][1]["indexes"] == json{4, 7});
    CHECK(answer["placements"][2]["indexes"] == json{8, 9});
    CHECK(answer["placements"][2]["start_s"] == 20);
    CHECK(answer["objective"]["makespan_s"] == 30);
    CHECK(answer["objective"]["flow_time_s"] == 4 * 10 + 4 * 20 + 2 * 30);
    CHECK(answer["loads"][0]["job_count"] == 10);
    CHECK(answer["status"] == "optimal");
    CHECK_FALSE(answer["placements"][0].contains("index"));
}

TEST_CASE("copies on resources in turn are numbered by start and resource",
          "[placement][copies]")
{
    // mct goes from n1 to n2 and back; n1 has copies 0 and 1 at 0 and 10, n2 too.
    json answer =
        decide(on({{{"id", "n1"}, {"cpus", 1}}, {{"id", "n2"}, {"cpus", 2}}},
                  {{{"id", "x"}, {"estimate_s", 1}, {"cpus", 2}},
                   {{"id", "a"}, {"estimate_s", 10}, {"count", 4}, {"release_s", 5}}}));
    const json &p = answer["placements"];
    REQUIRE(p.size() == 4);
    CHECK(p[0]["job_id"] == "x");
    CHECK_FALSE(p[0].contains("index"));
    CHECK(p[1]["index"] == 0);
    CHECK(p[1]["resource_id"] == "n1");
    CHECK(p[2]["indexes"] == json{1, 2});
    CHECK(p[2]["resource_id"] == "n2");
    CHECK(p[3]["index"] == 3);
    CHECK(p[3]["start_s"] == 15);
    CHECK(p[3]["resource_id"] == "n1");
}

TEST_CASE("a count is the same as the jobs written out", "[placement][copies][property]")
{
    static const char *const policies[] = {"mct",    "min_min", "max_min", "sufferage",
                                           "olb",    "met",     "search",  "auto",
                                           "duplex", "kpb",     "gridway", "xsufferage"};
    draw d{std::mt19937(17)};
    for (int round = 0; round < (is_shorter() ? 150 : 1000); round++) {
        bool slots = d.upto(4) == 0;
        json body = on(some_resources(d, slots), some_jobs(d, slots),
                       {{"algorithm", policies[d.upto(12)]}});
        if (!slots && d.upto(2))
            body["objective"] = {"weighted_completion_s", "makespan_s"};
        if (body["algorithm"] == "search" || body["algorithm"] == "auto")
            body["options"] = {{"max_steps", 300}};
        json plain = body;
        plain["jobs"] = write_out(body["jobs"]);
        INFO(body.dump());
        json a = decide(body), b = decide(plain);
        CHECK(a["objective"] == b["objective"]);
        CHECK(a["loads"] == b["loads"]);
        CHECK(a["status"] == b["status"]);
        CHECK(a["bounds"] == b["bounds"]);
        CHECK(a["placement_count"] == b["placement_count"]);
        CHECK(a["unplaced_count"] == b["unplaced_count"]);
        json placed = expand(a["placements"], body["jobs"]);
        json without = expand(a["unplaced"], body["jobs"]);
        CHECK(places(placed) == places(b["placements"]));
        std::vector<std::string> all = ids(placed), names = ids(without);
        all.insert(all.end(), names.begin(), names.end());
        std::sort(all.begin(), all.end());
        std::vector<std::string> jobs;
        for (const json &j : plain["jobs"])
            jobs.push_back(j["id"]);
        std::sort(jobs.begin(), jobs.end());
        CHECK(all == jobs); // each copy once
        if (slots)
            continue;
        // No two rows could be one, and the plan is valid.
        for (size_t i = 1; i < a["placements"].size(); i++) {
            const json &x = a["placements"][i - 1], &y = a["placements"][i];
            CHECK_FALSE((x["job_id"] == y["job_id"] && x["start_s"] == y["start_s"] &&
                         x["resource_id"] == y["resource_id"]));
        }
        json judged = {{"kind", "placement"},
                       {"snapshot", body["snapshot"]},
                       {"jobs", body["jobs"]},
                       {"placements", a["placements"]}};
        json verdict = decide(judged, "/v1/evaluations");
        INFO(verdict.dump());
        CHECK(verdict["valid"] == true);
    }
}

TEST_CASE("who waits for a job with copies waits for all of them", "[placement][copies]")
{
    json jobs = {{{"id", "a"}, {"estimate_s", 10}, {"count", 3}},
                 {{"id", "b"},
                  {"estimate_s", 1},
                  {"count", 2},
                  {"after", {{{"job_id", "a"}, {"kind", "ok"}}}}},
                 {{"id", "c"},
                  {"estimate_s", 1},
                  {"after", {{{"job_id", "a"}, {"kind", "start"}}}}}};
    json answer = decide(on({{{"id", "n"}, {"cpus", 2}}}, jobs));
    CHECK(most_after(answer["placements"], "a", "finish_s") == 20);
    for (const json &row : answer["placements"])
        if (row["job_id"] != "a")
            CHECK(row["start_s"] == (row["job_id"] == "b" ? 20 : 10));
    CHECK(answer["placements"].size() == 4); // a 0-1, a 2, b 0-1, c

    jobs[0]["after"] = {{{"job_id", "b"}, {"kind", "ok"}}};
    api_reply r = ask("/v1/placements", on({{{"id", "n"}, {"cpus", 2}}}, jobs));
    CHECK(r.status == 422);
    CHECK(r.body.find("\"cycle\"") != std::string::npos);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/after"});
    jobs[0]["after"] = {{{"job_id", "a"}, {"kind", "ok"}}};
    r = ask("/v1/placements", on({{{"id", "n"}, {"cpus", 2}}}, jobs));
    CHECK(r.status == 422);
}

TEST_CASE("all copies are members of the group", "[placement][copies]")
{
    json nodes = {{{"id", "n1"}, {"cpus", 4}}, {{"id", "n2"}, {"cpus", 4}}};
    json spread = decide(on(
        nodes, {{{"id", "a"},
                 {"estimate_s", 1},
                 {"count", 5},
                 {"group", {{"id", "g"}, {"policy", "spread"}, {"max_per_key", 2}}}}}));
    CHECK(spread["placement_count"] == 4);
    REQUIRE(spread["placements"].size() == 2);
    CHECK(spread["placements"][1]["indexes"] == json{2, 3});
    REQUIRE(spread["unplaced"].size() == 1);
    CHECK(spread["unplaced"][0]["index"] == 4);
    CHECK(spread["unplaced"][0]["reasons"][0]["reason"] == "group_spread");
    json gang = decide(on(nodes, {{{"id", "b"}, {"estimate_s", 5}, {"cpus", 4}},
                                  {{"id", "a"},
                                   {"estimate_s", 1},
                                   {"count", 8},
                                   {"group", {{"id", "g"}, {"policy", "gang"}}}}}));
    for (const json &row : gang["placements"])
        if (row["job_id"] == "a")
            CHECK(row["start_s"] == 5);
}

TEST_CASE("copies without a place are counted and folded", "[placement][copies]")
{
    json body = on({{{"id", "n"}, {"cpus", 2}, {"kind", "x"}}},
                   {{{"id", "a"}, {"estimate_s", 1}, {"cpus", 4}, {"count", 12}},
                    {{"id", "b"}, {"estimate_s", 1}, {"cpus", 4}, {"weight", 3}}},
                   {{"what_if", true}});
    body["snapshot"]["resources"][0].erase("kind");
    json answer = decide(body);
    CHECK(answer["unplaced_count"] == 13);
    REQUIRE(answer["unplaced"].size() == 2);
    CHECK(answer["unplaced"][0]["indexes"] == json{0, 11});
    CHECK_FALSE(answer["unplaced"][1].contains("index"));
    CHECK(warned(answer, "unplaced").find("13") != std::string::npos);
    REQUIRE(answer["what_if"].size() == 1);
    CHECK(answer["what_if"][0]["job_count"] == 13);
    CHECK(answer["what_if"][0]["weight"] == 15);
    CHECK(answer["what_if"][0]["job_ids"] == json{"a", "b"});
    body["unplaced_form"] = "ids";
    CHECK(decide(body)["unplaced_ids"] == json{"a", "b"});
    body["unplaced_form"] = "classes";
    json classes = decide(body)["unplaced_classes"];
    REQUIRE(classes.size() == 1);
    CHECK(classes[0]["job_count"] == 13);
    CHECK(classes[0]["job_ids"] == json{"a", "b"});
    body.erase("unplaced_form");
    body["include"] = {"unplaced"};
    CHECK(decide(body)["unplaced"][0]["indexes"] == json{0, 11});
}

TEST_CASE("copies have one proposal of what to stop", "[placement][copies]")
{
    json answer = decide(on(
        {{{"id", "n"},
          {"cpus", 2},
          {"running",
           {{{"id", "r"}, {"cpus", 2}, {"preemptible", true}, {"expected_end_s", 50}}}}}},
        {{{"id", "a"},
          {"estimate_s", 1},
          {"count", 5},
          {"priority", 1},
          {"preempt", true}}}));
    REQUIRE(answer["preemptions"].size() == 1);
    CHECK(answer["preemptions"][0]["indexes"] == json{0, 4});
    CHECK(answer["preemptions"][0]["stop"] == json{"r"});
}

TEST_CASE("copies on slots tell their slots", "[placement][copies]")
{
    // Slots 1 and 2 are taken by x until 5, so that the copies have 0, 3 and 4.
    json answer =
        decide(on({{{"id", "n"}, {"n_max", 5}}},
                  {{{"id", "y"}, {"estimate_s", 1}},
                   {{"id", "x"}, {"estimate_s", 5}, {"count", 2}},
                   {{"id", "a"}, {"estimate_s", 5}, {"count", 3}, {"release_s", 1}}}));
    json a = json::array();
    for (const json &row : answer["placements"])
        if (row["job_id"] == "a")
            a.push_back(row);
        else if (row["job_id"] == "x")
            CHECK(row["slot"] == 1);
    REQUIRE(a.size() == 1);
    CHECK(a[0]["slot"] == 0);
    CHECK(a[0]["slots"] == json{0, 3, 4});
}

TEST_CASE("a plan with copies can be started from and judged", "[placement][copies]")
{
    json body = on({{{"id", "n1"}, {"cpus", 2}}, {{"id", "n2"}, {"cpus", 3}}},
                   {{{"id", "a"}, {"estimate_s", 4}, {"count", 9}},
                    {{"id", "b"}, {"estimate_s", 3}, {"cpus", 2}}});
    json answer = decide(body);
    body["initial"] = answer["placements"];
    body["algorithm"] = "search";
    body["options"] = {{"max_steps", 50}};
    json again = decide(body);
    CHECK(warned(again, "initial_refused").empty());
    CHECK(again["objective"]["makespan_s"].get<double>() <=
          answer["objective"]["makespan_s"].get<double>());

    // Four copies at once on three cpus: the second row is no good.
    body["initial"] = {
        {{"job_id", "a"}, {"indexes", {0, 1}}, {"resource_id", "n1"}, {"start_s", 0}},
        {{"job_id", "a"}, {"indexes", {2, 5}}, {"resource_id", "n2"}, {"start_s", 0}},
        {{"job_id", "a"}, {"indexes", {6, 8}}, {"resource_id", "n2"}, {"start_s", 4}},
        {{"job_id", "b"}, {"resource_id", "n1"}, {"start_s", 4}}};
    CHECK(warned(decide(body), "initial_refused").find("row 1,") != std::string::npos);
    body["initial"][2]["job_id"] = "b";
    api_reply r = ask("/v1/placements", body);
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/initial/2/indexes"});
    body["initial"][2] = body["initial"][1];
    r = ask("/v1/placements", body);
    CHECK(r.status == 422); // each of these copies has two rows
    CHECK(r.pointers()[0] == "/initial/2/job_id");

    json judged = {{"kind", "placement"},
                   {"snapshot", body["snapshot"]},
                   {"jobs", body["jobs"]},
                   {"placements", answer["placements"]}};
    CHECK(decide(judged, "/v1/evaluations")["valid"] == true);
    judged["placements"] = {
        {{"job_id", "a"}, {"indexes", {0, 6}}, {"resource_id", "n1"}, {"start_s", 0}},
        {{"job_id", "a"}, {"index", 3}, {"resource_id", "n2"}, {"start_s", 0}}};
    json broken = decide(judged, "/v1/evaluations");
    CHECK(broken["valid"] == false);
    CHECK(broken["unplaced_ids"] == json{"a", "b"});
    bool twice = false;
    for (const json &v : broken["violations"]) {
        std::string at = v["pointer"];
        CHECK((at.rfind("/placements/0/", 0) == 0 || at.rfind("/placements/1/", 0) == 0));
        if (v["rule"] != "duplicate")
            continue;
        twice = true;
        CHECK(v["index"] == 3);
        CHECK(v["detail"].get<std::string>().find("/placements/0 ") != std::string::npos);
    }
    CHECK(twice);
}

TEST_CASE("rows about copies that are not there are refused", "[placement][copies]")
{
    json body = {{"kind", "placement"},
                 {"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 9}}}}}},
                 {"jobs",
                  {{{"id", "a"}, {"estimate_s", 4}, {"count", 3}},
                   {{"id", "b"}, {"estimate_s", 4}}}}};
    json row = {{"job_id", "a"}, {"resource_id", "n"}, {"start_s", 0}};
    auto refused = [&](const json &more) {
        json changed = row;
        changed.update(more);
        body["placements"] = {{{"job_id", "b"}, {"resource_id", "n"}, {"start_s", 0}},
                              changed};
        api_reply r = ask("/v1/evaluations", body);
        INFO(r.body);
        CHECK(r.status == 422);
        return r.pointers();
    };
    using list = std::vector<std::string>;
    CHECK(refused(json::object()) == list{"/placements/1/index"});
    CHECK(refused({{"index", 3}}) == list{"/placements/1/index"});
    CHECK(refused({{"index", 0.5}}) == list{"/placements/1/index"});
    CHECK(refused({{"indexes", {1, 0}}}) == list{"/placements/1/indexes"});
    CHECK(refused({{"indexes", {0, 3}}}) == list{"/placements/1/indexes"});
    CHECK(refused({{"indexes", {0}}}) == list{"/placements/1/indexes"});
    CHECK(refused({{"index", 0}, {"indexes", {0, 1}}}) == list{"/placements/1/index"});
    CHECK(refused({{"job_id", "b"}, {"index", 1}}) == list{"/placements/1/index"});
    body["placements"] = {row};
    body["placements"][0]["indexes"] = {0, 2};
    CHECK(decide(body, "/v1/evaluations")["valid"] == true);
}

TEST_CASE("counts are bounded, one by one and together", "[placement][copies]")
{
    json nodes = {{{"id", "n"}, {"cpus", 1000000}}};
    auto sent = [&](const json &jobs) {
        return ask("/v1/placements", on(nodes, jobs, {{"include", {"placements"}}}));
    };
    auto one = [&](const std::string &count) {
        static api a;
        return a.post("/v1/placements",
                      R"({"snapshot":{"resources":[{"id":"n","cpus":4}]},"jobs":[{"id":)"
                      R"("a","estimate_s":1,"count":)" +
                          count + "}]}");
    };
    for (const char *count : {"0", "-1", "1.5", "1e308", "1000001", "\"2\"", "true"}) {
        INFO(count);
        api_reply r = one(count);
        CHECK(r.status == 422);
        CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/count"});
    }
    CHECK(one("1").status == 200);
    CHECK_FALSE(one("1").json()["placements"][0].contains("index"));
    size_t most = is_sanitized() ? 1000 : 1000000;
    static api a; // with more memory than a request may take by default, 1 GiB
    api_reply all = a.call("POST", "/v1/placements",
                           on(nodes, {{{"id", "a"}, {"estimate_s", 1}, {"count", most}}},
                              {{"include", {"placements"}}})
                               .dump(),
                           {}, size_t{3} << 30);
    INFO(all.body.substr(0, 1000));
    REQUIRE(all.status == 200);
    json answer = all.json();
    REQUIRE(answer["placements"].size() == 1);
    CHECK(answer["placements"][0]["indexes"] == json{0, most - 1});
    CHECK(answer.dump().size() < 3000);
    api_reply r = sent({{{"id", "a"}, {"estimate_s", 1}, {"count", 1000000}},
                        {{"id", "b"}, {"estimate_s", 1}}});
    CHECK(r.status == 413);
    CHECK(r.json()["code"] == "too_large");
    CHECK(r.body.find("/jobs/1/count") != std::string::npos);
    r = sent({{{"id", "a"}, {"estimate_s", 1}, {"count", 4000}},
              {{"id", "b"},
               {"estimate_s", 1},
               {"count", 4000},
               {"after", {{{"job_id", "a"}, {"kind", "ok"}}}}}});
    CHECK(r.status == 413); // 16 million pairs
}

TEST_CASE("mistakes and warnings have the rows of the request", "[placement][copies]")
{
    json nodes = {{{"id", "n"}, {"cpus", 4}}};
    api_reply r = ask(
        "/v1/placements",
        on(nodes, {{{"id", "a"}, {"estimate_s", 1}, {"count", 50}},
                   {{"id", "b"}, {"estimate_s", 1}, {"count", 7}, {"requirement", "1 +"}},
                   {{"id", "c"},
                    {"estimate_s", 1},
                    {"count", 9},
                    {"partition_ids", {"none"}},
                    {"after", {{{"job_id", "who"}, {"kind", "ok"}}}}}}));
    CHECK(r.status == 422);
    std::vector<std::string> at = r.pointers();
    std::sort(at.begin(), at.end());
    CHECK(at == std::vector<std::string>{"/jobs/1/requirement", "/jobs/2/after/0/job_id",
                                         "/jobs/2/partition_ids/0"});
    json answer = decide(on(
        nodes,
        {{{"id", "a"}, {"estimate_s", 1}, {"count", 50}},
         {{"id", "b"}, {"estimate_s", 1}, {"count", 7}, {"needs", {{"licence", 1}}}}}));
    std::string text = warned(answer, "unknown_amount");
    CHECK(text.find("7 jobs") != std::string::npos);
    CHECK(text.find("/jobs/1/needs") != std::string::npos);
    json running = {
        {{"id", "n"},
         {"cpus", 4},
         {"running", {{{"id", "a[3]"}, {"cpus", 1}, {"expected_end_s", 5}}}}}};
    r = ask("/v1/placements",
            on(running, {{{"id", "a"}, {"estimate_s", 1}, {"count", 4}}}));
    CHECK(r.status == 422); // this copy runs
    r = ask("/v1/placements",
            on(running, {{{"id", "a"}, {"estimate_s", 1}, {"count", 3}}}));
    CHECK(r.status == 200);
}

TEST_CASE("files of copies are those of their own numbers", "[placement][copies]")
{
    json body = on(
        {{{"id", "n"}, {"cpus", 4}, {"site_id", "s"}}},
        {{{"id", "a"}, {"estimate_s", 1}, {"count", 2}, {"input_file_ids", {"none"}}}});
    api_reply r = ask("/v1/placements", body);
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/input_file_ids/0"});
    body["options"] = {{"dialect", "gridway"}};
    body["jobs"][0]["input_file_ids"] = {"in.${GW_TASK_ID}"};
    body["snapshot"]["files"] = json::array();
    for (int i = 0; i < 2; i++)
        body["snapshot"]["files"].push_back(
            {{"id", "in." + std::to_string(i)}, {"bytes", 0}, {"site_ids", {"s"}}});
    json p = decide(body)["placements"];
    REQUIRE(p.size() == 2); // what they read is not alike
    for (size_t i = 0; i < 2; i++) {
        CHECK(p[i]["index"] == i);
        CHECK(p[i]["files"] == json::array({"in." + std::to_string(i)}));
    }
}

TEST_CASE("elsewhere count is no member", "[placement][copies]")
{
    api_reply tasks =
        ask("/v1/workflow-schedules",
            {{"snapshot", {{"resources", {{{"id", "n"}}}}}},
             {"workflow",
              {{"tasks", {{{"id", "a"}, {"estimate_ref_s", 1}, {"count", 2}}}}}}});
    CHECK(tasks.status == 422);
    CHECK(tasks.body.find("unknown_member") != std::string::npos);
    json job = {{"id", "a"}, {"estimate_s", 1}, {"count", 2}, {"processors", 1}};
    api_reply r = ask("/v1/queue-orders", {{"processors", 4}, {"jobs", {job}}});
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/count"});
}

TEST_CASE("a queue on resources takes copies", "[queue][copies]")
{
    json body = {
        {"snapshot",
         {{"resources",
           {{{"id", "n1"}, {"cpus", 2}},
            {{"id", "n2"},
             {"cpus", 2},
             {"running", {{{"id", "r"}, {"cpus", 1}, {"expected_end_s", 30}}}}}}}}},
        {"algorithm", "conservative"},
        {"jobs",
         {{{"id", "a"}, {"estimate_s", 10}, {"count", 5}},
          {{"id", "b"}, {"estimate_s", 5}, {"cpus", 2}}}}};
    json answer = decide(body, "/v1/queue-orders");
    REQUIRE(answer["starts"].size() == 2); // two on n1, one on n2
    CHECK(answer["starts"][0]["indexes"] == json{0, 1});
    CHECK(answer["starts"][1]["index"] == 2);
    REQUIRE(answer["waiting"].size() == 2);
    CHECK(answer["waiting"][0]["indexes"] == json{3, 4});
    CHECK(answer["waiting"][0]["estimated_start_s"] == 10);
    CHECK_FALSE(answer["waiting"][0].contains("planned_start_s"));
    CHECK(answer["waiting"][1]["estimated_start_s"] == 20);
    CHECK(answer["objective"]["mean_wait_s"].get<double>() ==
          Approx((0 * 3 + 10 * 2 + 20) / 6.0));

    json plain = body;
    plain["jobs"] = write_out(body["jobs"]);
    json other = decide(plain, "/v1/queue-orders");
    CHECK(answer["objective"] == other["objective"]);

    body["jobs"][0]["planned_start_s"] = 4;
    api_reply r = ask("/v1/queue-orders", body);
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/planned_start_s"});
    body["jobs"] = {{{"id", "a"}, {"estimate_s", 10}, {"cpus", 3}, {"count", 4}},
                    {{"id", "b"}, {"estimate_s", 10}}};
    json none = decide(body, "/v1/queue-orders");
    REQUIRE(none["unplaced"].size() == 1);
    CHECK(none["unplaced"][0]["indexes"] == json{0, 3});
    body["jobs"][0]["count"] = 200000;
    CHECK(ask("/v1/queue-orders", body).status == 413);
}

TEST_CASE("a queue with counts is the queue written out", "[queue][copies][property]")
{
    static const char *const policies[] = {"fcfs", "easy", "conservative"};
    draw d{std::mt19937(23)};
    for (int round = 0; round < (is_shorter() ? 100 : 600); round++) {
        json body = {{"snapshot", {{"resources", some_resources(d, false)}}},
                     {"jobs", some_jobs(d, false)},
                     {"algorithm", policies[d.upto(3)]}};
        for (json &j : body["jobs"])
            j.erase("weight");
        json plain = body;
        plain["jobs"] = write_out(body["jobs"]);
        INFO(body.dump());
        json a = decide(body, "/v1/queue-orders"), b = decide(plain, "/v1/queue-orders");
        INFO(a.dump() << b.dump());
        CHECK(a["objective"] == b["objective"]);
        CHECK(places(expand(a["starts"], body["jobs"])) == places(b["starts"]));
        std::vector<std::string> all = ids(expand(a["starts"], body["jobs"]));
        for (const char *list : {"waiting", "unplaced"})
            for (const std::string &id : ids(expand(a[list], body["jobs"])))
                all.push_back(id);
        std::sort(all.begin(), all.end());
        std::vector<std::string> jobs;
        for (const json &j : plain["jobs"])
            jobs.push_back(j["id"]);
        std::sort(jobs.begin(), jobs.end());
        CHECK(all == jobs);
        std::vector<double> waits, other;
        for (const json &row : expand(a["waiting"], body["jobs"]))
            waits.push_back(row["estimated_start_s"]);
        for (const json &row : b["waiting"])
            other.push_back(row["estimated_start_s"]);
        std::sort(waits.begin(), waits.end());
        std::sort(other.begin(), other.end());
        CHECK(waits == other);
    }
}

TEST_CASE("pending jobs of a round may have copies", "[reschedule][copies]")
{
    json body = {
        {"kind", "running_jobs"},
        {"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 4}}}}}},
        {"jobs", {{{"id", "r"}, {"estimate_s", 9}, {"cpus", 1}, {"resource_id", "n"}}}},
        {"pending",
         {{{"id", "a"}, {"estimate_s", 10}, {"count", 5}}, {{"id", "b"}, {"cpus", 9}}}}};
    json answer = decide(body, "/v1/reschedules");
    REQUIRE(answer["placements"].size() == 1);
    CHECK(answer["placements"][0]["indexes"] == json{0, 2});
    REQUIRE(answer["unplaced"].size() == 2);
    CHECK(answer["unplaced"][0]["indexes"] == json{3, 4});
    body["pending"][1]["requirement"] = "(";
    api_reply r = ask("/v1/reschedules", body);
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/pending/1/requirement"});
    body["jobs"][0]["count"] = 2;
    r = ask("/v1/reschedules", body);
    CHECK(r.body.find("unknown_member") != std::string::npos);
}

TEST_CASE("charts name the copies of a bar", "[placement][copies]")
{
    static api a;
    json body = on({{{"id", "n"}, {"cpus", 4}}},
                   {{{"id", "sweep"}, {"estimate_s", 10}, {"count", 9}}});
    api_reply r =
        a.call("POST", "/v1/placements", body.dump(), {{"accept", "image/svg+xml"}});
    REQUIRE(r.status == 200);
    for (const char *name : {"sweep[0-3]", "sweep[4-7]", "sweep[8]"})
        CHECK(r.body.find(name) != std::string::npos);
}
