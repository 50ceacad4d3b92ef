// requests_1_0_0_test.cpp - requests of release 1.0.0 are accepted for ever.
//
// data/requests-1.0.0/ holds the examples of that release, NAME.json, and the commands of
// its README, readme.sh: they never change.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/system.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

using nlohmann::json;

namespace
{

const char *const old_requests = GRIDPLAN_SOURCE_DIR "/tests/data/requests-1.0.0";

std::vector<std::filesystem::path> examples()
{
    std::vector<std::filesystem::path> list;

    for (const auto &entry : std::filesystem::directory_iterator(old_requests))
        if (entry.path().extension() == ".json")
            list.push_back(entry.path());
    std::sort(list.begin(), list.end());
    return list;
}

const route *route_of(const std::string &name)
{
    const route *found = nullptr;

    for (const route *r = routes(); r->method; r++)
        if (r->example && name.rfind(r->example, 0) == 0)
            found = r;
    return found;
}

// An answer without what differs by nature, and apart from it what it says was renamed.
json stable(json answer, std::set<std::string> *renamed)
{
    for (const char *member : {"decision_id", "timings"})
        answer.erase(member);
    if (!answer.contains("warnings"))
        return answer;
    json kept = json::array();
    for (const json &warning : answer["warnings"])
        if (warning.get<std::string>().rfind("renamed: ", 0) == 0)
            renamed->insert(warning);
        else
            kept.push_back(warning);
    answer["warnings"] = kept;
    return answer;
}

// One would search until its time is over; 10 s may be too short for a busy machine.
json quick(const std::string &name, const std::string &path)
{
    json body = json::parse(file_text(path));

    if (name == "placement-braun") {
        body.erase("time_limit_s");
        body["options"]["max_steps"] = 2000;
    }
    if (name == "checkpoint-weibull") { // today's is one whose programme is small
        body["options"]["bound"] = "none";
        for (auto &j : body["jobs"])
            j["checkpoint_overhead_s"] = 600;
    }
    if (name.rfind("simulation-", 0) == 0)
        body["time_limit_s"] = 600;
    return body;
}

} // namespace

TEST_CASE("the examples of 1.0.0 are answered as those of today", "[api][renamed]")
{
    size_t count = 0, renamed_count = 0;
    std::set<std::string> renamed;

    for (const auto &path : examples()) {
        const route *r = route_of(path.stem());
        INFO(path.stem());
        REQUIRE(r != nullptr);
        if (!(r->flags & ROUTE_DECISION))
            continue; // it stores: see the next case
        api before, now;
        std::set<std::string> told, none;
        std::string today =
            GRIDPLAN_SOURCE_DIR "/openapi/examples/" + path.filename().string();
        api_reply old_reply =
            before.call(r->method, r->path, quick(path.stem(), path.string()).dump());
        if (old_reply.status == 503)
            continue; // needs what is stored: see the next case
        INFO(old_reply.body.substr(0, 2000));
        REQUIRE(old_reply.status == 200);
        api_reply new_reply =
            now.call(r->method, r->path, quick(path.stem(), today).dump());
        REQUIRE(new_reply.status == 200);
        CHECK(stable(old_reply.json(), &told) == stable(new_reply.json(), &none));
        CHECK(none.empty());
        renamed_count += !told.empty();
        renamed.insert(told.begin(), told.end());
        count++;
    }
    CHECK(count > 100);
    CHECK(renamed_count > 15);
    CHECK(renamed.count("renamed: 'run_s' is now 'run_time_s'") == 1);
    CHECK(renamed.count("renamed: 'run_s' is now 'elapsed_s'") == 1);
    CHECK(renamed.count("renamed: 'runtime_s' is now 'run_time_s'") == 1);
    CHECK(renamed.count("renamed: 'end_s' is now 'expected_end_s'") == 1);
    CHECK(renamed.count("renamed: 'event' is now 'kind'") == 1);
    CHECK(renamed.count("renamed: 'mode' is now 'kind'") == 1);
}

TEST_CASE("the examples of 1.0.0 are accepted", "[api][renamed][db]")
{
    NEED_DATABASE();
    api a(test_database_url());

    for (const auto &path : examples()) {
        const route *r = route_of(path.stem());
        INFO(path.stem());
        REQUIRE(r != nullptr);
        api_reply reply =
            a.call(r->method, r->path, quick(path.stem(), path.string()).dump());
        INFO(reply.body.substr(0, 2000));
        CHECK(reply.status >= 200);
        CHECK(reply.status < 300);
    }
}

TEST_CASE("the commands of the README of 1.0.0 are accepted", "[system][renamed][db]")
{
    gridplan g({"--database", test_database()});
    folder f;
    std::string url = "http://127.0.0.1:" + std::to_string(g.port);
    std::string commands = file_text(std::string(old_requests) + "/readme.sh");
    auto replace = [&](const std::string &old, const std::string &now) {
        REQUIRE(occurrences(commands, old) > 0);
        for (size_t at = 0; (at = commands.find(old, at)) != std::string::npos;
             at += now.size())
            commands.replace(at, old.size(), now);
    };
    int status = -1;

    REQUIRE(eventually([&] { return g.is_ready(); }));
    replace("http://127.0.0.1:8080", url);
    replace("sleep 2", "wait_for_model");
    replace("/tmp/", f.path + "/");
    std::string output = run_command(
        {"bash", "-c",
         "cd " GRIDPLAN_SOURCE_DIR "\ncurl() { command curl -w '%{stderr}status "
         "%{http_code}\\n' \"$@\" 2>>" +
             f.path +
             "/status; }\n"
             "wait_for_model() { for _ in $(seq 600); do command curl -s " +
             url +
             "/v1/models/solver | jq -e '.state == \"trained\"' >/dev/null && return; "
             "sleep 0.05; done; exit 1; }\n" +
             commands},
        &status);
    INFO(output);
    CHECK(status == 0);
    std::istringstream statuses(file_text(f.path + "/status"));
    size_t count = 0, refused = 0;
    for (std::string word; statuses >> word;)
        if (word != "status") {
            INFO(word);
            CHECK((word[0] == '2' || word == "422"));
            refused += word == "422"; // the README shows what a mistake looks like
            count++;
        }
    CHECK(count > 15);
    CHECK(refused == 1);
}

namespace
{

void add_tables(const json_object *table, std::set<const json_object *> *all)
{
    if (!table || !all->insert(table).second)
        return;
    for (const json_field *f = table->fields; f->type != JSON_END; f++) {
        add_tables(f->of, all);
        for (const json_kind *k = f->kinds; k && k->name; k++)
            add_tables(k->of, all);
    }
}

std::set<const json_object *> all_tables()
{
    std::set<const json_object *> all;

    for (const route *r = routes(); r->method; r++)
        for (const json_object *table : {r->request, r->response, r->query})
            add_tables(table, &all);
    return all;
}

bool is_numeric(const json_field *f)
{
    return f->type == JSON_TYPE_NUMBER || f->type == JSON_TYPE_INTEGER ||
           f->type == JSON_TYPE_NUMBERS;
}

} // namespace

TEST_CASE("a former name is no name of today, and a factor is that of a number",
          "[json][renamed]")
{
    size_t count = 0;

    for (const json_object *table : all_tables()) {
        std::set<std::string> names;

        for (const json_field *f = table->fields; f->type != JSON_END; f++)
            names.insert(f->name);
        for (const json_field *f = table->fields; f->type != JSON_END; f++)
            for (const json_alias *old = f->aliases; old && old->name; old++) {
                INFO(table->name << "." << f->name << " was " << old->name);
                CHECK(names.insert(old->name).second);
                CHECK((old->factor >= 0 || old->factor == -1)); // -1: rounded up
                CHECK((old->factor == 0 || is_numeric(f)));
                count++;
            }
    }
    CHECK(count > 12);
}

TEST_CASE("a member under both names is refused at both, also as a parameter",
          "[api][renamed]")
{
    api a;
    json body = json::parse(
        file_text(GRIDPLAN_SOURCE_DIR "/openapi/examples/claim-timeline.json"));

    body["mode"] = "timeline";
    api_reply reply = a.post("/v1/claims", body.dump());
    CHECK(reply.status == 422);
    CHECK(reply.pointers() == std::vector<std::string>{"/kind", "/mode"});
    body.erase("kind");
    reply = a.post("/v1/claims", body.dump());
    CHECK(reply.status == 200);
    CHECK(reply.json()["warnings"].back() == "renamed: 'mode' is now 'kind'");
    CHECK(reply.json()["kind"] == "timeline");

    reply = a.get("/v1/decisions?route=/v1/placements&endpoint=placements");
    CHECK(reply.status == 422);
    CHECK(reply.pointers() == std::vector<std::string>{"?/route", "?/endpoint"});
    CHECK(occurrences(a.get("/metrics").body, "gridplan_renamed_members_total 1\n") == 1);
}

TEST_CASE("a decision of an earlier release is answered anew, and not compared",
          "[api][renamed][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    test_db d;
    test_session s(d);
    error err{};
    json body =
        json::parse(file_text(std::string(old_requests) + "/claim-timeline.json"));

    body["store"] = true;
    json made = a.post("/v1/claims", body.dump()).json();
    std::string id = made["decision_id"], replay = "/v1/decisions/" + id + "/replay";
    json again = a.post(replay, "").json();
    CHECK(again["identical"] == true); // with its warning that a member has a new name
    CHECK(again["answer"]["warnings"] == made["warnings"]);
    CHECK_FALSE(again.contains("warnings"));

    REQUIRE_OK(db_execute(
        s,
        ("UPDATE decision SET api_revision = NULL WHERE decision_id = '" + id + "'")
            .c_str(),
        &err));
    again = a.post(replay, "").json();
    CHECK(again["identical"] == false);
    CHECK(again["differences"].empty());
    REQUIRE(again["warnings"].size() == 1);
    CHECK(again["warnings"][0].get<std::string>().rfind("earlier_release: ", 0) == 0);
    CHECK(again["answer"]["kind"] == "timeline");
}

TEST_CASE("algorithms come in pages of any size", "[api][renamed]")
{
    api a;
    json all = a.get("/v1/algorithms").json(), parts = json::array();
    std::string token;

    CHECK_FALSE(all.contains("next_page_token"));
    do {
        api_reply reply = a.get("/v1/algorithms?page_size=40" +
                                (token.empty() ? "" : "&page_token=" + token));
        REQUIRE(reply.status == 200);
        json page = reply.json();
        for (const json &item : page["items"])
            parts.push_back(item);
        token = page.value("next_page_token", "");
        CHECK(reply.headers.count("Link") == (token.empty() ? 0 : 1));
        CHECK(page["items"].size() <= 40);
    } while (!token.empty() && parts.size() < 1000);
    CHECK(parts == all["items"]);
    CHECK(a.get("/v1/algorithms?page_size=0").status == 422);
    CHECK(a.get("/v1/algorithms?page_size=1001").status == 422);
    CHECK(a.get("/v1/algorithms?page_token=x").status == 422);
    CHECK(a.get("/v1/algorithms?page_token=99999").json()["items"].empty());
}

TEST_CASE("a page token is of one list with its parameters", "[api]")
{
    api a;
    const std::string token =
        a.get("/v1/algorithms?page_size=2&family=queue").json()["next_page_token"];
    auto refused = [&](const std::string &target) {
        api_reply r = a.get(target);

        CHECK(r.status == 422);
        json e = r.json()["errors"][0];
        CHECK(e["code"] == "page_token");
        CHECK(e["in"] == "query");
        CHECK(e["name"] == "page_token");
        return e["detail"].get<std::string>();
    };

    // The size of pages may change, and the order of parameters.
    CHECK(a.get("/v1/algorithms?family=queue&page_token=" + token + "&page_size=3")
              .json()["items"][0] ==
          a.get("/v1/algorithms?family=queue").json()["items"][2]);
    CHECK_THAT(refused("/v1/algorithms?page_token=" + token),
               Catch::Contains("with other parameters"));
    CHECK_THAT(refused("/v1/algorithms?family=placement&page_token=" + token),
               Catch::Contains("with other parameters"));
    CHECK_THAT(refused("/v1/failures?page_token=" + token),
               Catch::Contains("another list"));
    // Neither a part of a token nor one with another seal.
    for (const std::string &wrong : {"." + token, token.substr(1), token.substr(0, 17)})
        CHECK_THAT(refused("/v1/algorithms?family=queue&page_token=" + wrong),
                   Catch::Contains("page of"));
    // As 1.1.0 gave them.
    CHECK(a.get("/v1/algorithms?page_size=2&page_token=" +
                token.substr(token.find('.') + 1))
              .status == 200);
}
