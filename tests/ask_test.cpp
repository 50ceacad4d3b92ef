// ask_test.cpp - decisions without a service: which endpoint a document is for, and what
// is shown of the answer.
#include "tests/api.hpp"
#include "tests/examples.hpp"
#include "tests/system.hpp"

#include <cmath>
#include <fstream>
#include <regex>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include "handlers/operations/routes.h"
#include "handlers/pictures/gantt_terminal.h"
#include "handlers/pictures/pictures.h"
#include "service/ask.h"
#include "service/client/explain.h"
#include "service/client/problem_text.h"
#include "service/client/set.h"
#include "service/client/table.h"
#include "service/client/target.h"
}

namespace
{

struct bar_row {
    const char *id;
    size_t row;
    double start_s, finish_s;
    gantt_state state = GANTT_PLANNED;
    bool critical = false;
};

std::string terminal(const std::vector<bar_row> &rows,
                     const std::vector<const char *> &names, size_t width, bool utf8,
                     bool colour = false)
{
    test_arena a(1 << 24);
    error err{};
    text_buffer b{};
    std::vector<gantt_bar> bars;
    gantt chart{};
    gantt_terminal how{width, utf8, colour};

    err.arena = a;
    b.arena = a;
    for (auto &r : rows) {
        gantt_bar bar{};
        bar.id = r.id;
        bar.row = r.row;
        bar.row_count = 1;
        bar.start_s = r.start_s;
        bar.finish_s = r.finish_s;
        bar.state = r.state;
        bar.critical = r.critical;
        bars.push_back(bar);
    }
    chart.rows = names.data();
    chart.row_count = names.size();
    chart.bars = bars.data();
    chart.bar_count = bars.size();
    REQUIRE(gantt_print_terminal(&chart, &how, &b, a, &err) == OK);
    return std::string(b.data, b.length);
}

std::string times(size_t n, const std::string &text)
{
    std::string out;
    while (n--)
        out += text;
    return out;
}

std::string line_of(const std::string &text, size_t number)
{
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line) && number--)
        ;
    return line;
}

} // namespace

TEST_CASE("a chart in characters", "[ask]")
{
    std::vector<bar_row> bars = {{"a", 0, 0, 3}, {"b", 0, 3, 5}, {"c", 1, 0, 4.5}};
    std::string text = terminal(bars, {"p0", "p1"}, 48, true);

    CHECK(line_of(text, 0) == "p0    |█a" + times(22, "█") + "▓b" + times(14, "▓") + "|");
    CHECK(line_of(text, 1) == "p1    |█c" + times(34, "█") + times(4, " ") + "|");
    text = terminal(bars, {"p0", "p1"}, 48, false);
    CHECK(line_of(text, 0) == "p0    |#a" + times(22, "#") + "=b" + times(14, "=") + "|");
    CHECK(line_of(text, 2).find("0 s") != std::string::npos);
    CHECK(line_of(text, 2).find("5 s") != std::string::npos);
}

TEST_CASE("charts in characters show states, overlaps and odd names", "[ask]")
{
    std::string text = terminal({{"done", 0, 0, 2, GANTT_DONE},
                                 {"runs", 0, 2, 4, GANTT_RUNNING, true},
                                 {"over", 0, 1, 3},
                                 {"e\x1b[31m", 1, 0, 4}},
                                {"m\x07", "n"}, 30, false);
    CHECK(line_of(text, 0).rfind("m?   *|", 0) == 0); // no control characters; critical
    CHECK(line_of(text, 0).find(".done") != std::string::npos);
    CHECK(line_of(text, 0).find("+runs") != std::string::npos);
    CHECK(line_of(text, 1).find("#over") != std::string::npos); // below the two others
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\x07') == std::string::npos);

    // Nothing, a bar without length, times that are none.
    CHECK(line_of(terminal({}, {"m"}, 30, false), 0) == "m     |" + times(22, " ") + "|");
    CHECK(line_of(terminal({{"x", 0, 0, 0}}, {"m"}, 30, false), 0).find('#') !=
          std::string::npos);
    CHECK(line_of(terminal({{"x", 0, NAN, 1}}, {"m"}, 30, false), 0).find('#') ==
          std::string::npos);
    CHECK(
        line_of(terminal({{"z", 0, 5, 5}, {"x", 0, 0, 5}}, {"m"}, 30, false), 0).size() ==
        30);
}

TEST_CASE("charts in characters stand below each other whatever the names' script",
          "[ask]")
{
    const std::vector<bar_row> bars = {{"a", 0, 0, 4}, {"b", 1, 0, 4}, {"c", 2, 0, 4}};
    std::string text =
        terminal(bars, {"\u6f22\u5b57\u5316\u3051", "e\u0301-node", "x"}, 40, true);

    // Four ideographs have eight columns, the letter with its accent one.
    CHECK(line_of(text, 0) == "\u6f22\u5b57\u5316\u3051  |█a" + times(26, "█") + "|");
    CHECK(line_of(text, 1) == "e\u0301-node    |█b" + times(26, "█") + "|");
    CHECK(line_of(text, 2) == "x         |█c" + times(26, "█") + "|");

    // Of a long one as many as have room, never half of one.
    std::string name;
    for (int i = 0; i < 30; i++)
        name += "\u6f22";
    CHECK(line_of(terminal({{"a", 0, 0, 4}}, {name.c_str()}, 60, true), 0) ==
          times(11, "\u6f22") + "  |█a" + times(32, "█") + "|");
    CHECK(line_of(terminal({{"a", 0, 0, 4}}, {("x" + name).c_str()}, 60, true), 0) ==
          "x" + times(10, "\u6f22") + "   |█a" + times(32, "█") + "|");
    // What a terminal obeys in UTF-8, too, and what turns the direction.
    CHECK(line_of(terminal({{"a", 0, 0, 4}}, {"\u009b31m\u202ex"}, 30, true), 0)
              .rfind("?31m?x  |", 0) == 0);
}

TEST_CASE("charts in characters have colours when they are wanted", "[ask]")
{
    std::vector<bar_row> bars = {{"d", 0, 0, 2, GANTT_DONE},
                                 {"r", 0, 2, 4, GANTT_RUNNING},
                                 {"p", 0, 4, 6},
                                 {"c", 0, 6, 8, GANTT_PLANNED, true}};
    std::string plain = terminal(bars, {"m"}, 40, false);
    std::string text = terminal(bars, {"m"}, 40, false, true);

    CHECK(line_of(text, 0) == "m    *|\x1b[90m.d......\x1b[32m+r++++++\x1b[34m#p######"
                              "\x1b[31m=c======\x1b[0m|");
    // Without what a terminal obeys it is the same.
    CHECK(std::regex_replace(text, std::regex("\x1b\\[[0-9]+m"), "") == plain);
}

TEST_CASE("more than sixty rows share lines", "[ask]")
{
    std::vector<std::string> texts;
    std::vector<const char *> names;
    std::vector<bar_row> bars;

    for (int i = 0; i < 100; i++)
        texts.push_back("n" + std::to_string(i));
    for (auto &t : texts)
        names.push_back(t.c_str());
    for (size_t i = 0; i < 100; i += 2)
        bars.push_back({"x", i, 0, 10});
    std::string text = terminal(bars, names, 40, false);
    CHECK(std::count(text.begin(), text.end(), '\n') ==
          52); // 50 lanes of 2, two lines more
    CHECK(line_of(text, 0) == "n0    |" + times(32, "-") + "|"); // half busy: 2 of 4
    CHECK(text.find("100 rows in lines of 2") != std::string::npos);
}

TEST_CASE("the endpoint of a document is known by its members", "[ask]")
{
    size_t one = 0, several = 0;

    for (const example &e : examples()) {
        if (!e.row || e.method != "POST" || !(e.row->flags & ROUTE_DECISION) ||
            e.name.rfind("error-", 0) == 0 || e.body.empty() || e.body[0] != '{')
            continue;
        test_arena a(1 << 28);
        const route *list[64];
        size_t count = ask_endpoints(routes(), e.body.c_str(), e.body.size(), list, a);
        std::set<const route *> found(list, list + count);
        // Rows of the rooms are copied into one table: compare by path.
        bool has = false;
        for (const route *r : found)
            has |= std::string(r->path) == e.row->path;
        INFO(e.name);
        CHECK(has);
        one += count == 1;
        several += count > 1;
    }
    CHECK(one > 100);
    CHECK(several < one / 4);
}

TEST_CASE("of several endpoints the one that a document looks like is asked", "[ask]")
{
    auto meant = [](const std::string &body) {
        test_arena a(1 << 26);
        error err = collecting_error(a);
        const route *found = nullptr;
        struct ask how {
        };
        how.endpoint_of = algorithm_endpoint;
        return ask_route(routes(), &how, body.c_str(), body.size(), &found, a, &err) == OK
                   ? std::string(found->path)
                   : "refused: " + std::string(err.text);
    };
    const std::string world = R"("snapshot":{"resources":[{"id":"m"}]})";

    // What README and manual begin with, whether or not it is right.
    CHECK(meant("{" + world + R"(,"jobs":[{"id":"a","estimate_s":5}]})") ==
          "/v1/placements");
    CHECK(meant("{" + world + R"(,"jobs":[{"id":"a","estimat_s":5}]})") ==
          "/v1/placements");
    CHECK(meant(R"({"snapshot_id":"lab","jobs":[{"id":"a"}],"algoritm":"mct"})") ==
          "/v1/placements");
    // In the order of what says most.
    CHECK(meant(R"({"workflows":[],"jobs":[],"x":1})") == "/v1/workflow-schedules");
    CHECK(meant(R"({"jobs":[{"id":"a","checkpoint_overhead_s":1,"x":1}]})") ==
          "/v1/checkpoint-intervals");
    CHECK(meant(R"({"processors":4,"jobs":[{"id":"a","x":1}]})") == "/v1/queue-orders");
    CHECK(meant(R"({"cluster":{},"x":1})") == "/v1/queue-orders");
    CHECK(meant("{" + world + R"(,"jobs":[{"id":"a","components":[],"x":1}]})") ==
          "/v1/coallocations");
    CHECK(meant(R"({"snapshot":{"sites":[{"links":{}}]},"jobs":[{"model":{},
        "problem_size":1,"x":1}]})") == "/v1/parallel-schedules");
    CHECK(meant(R"({"preset":"ch4_checkpoint","x":1})") == "/v1/simulations");
    CHECK(meant(R"({"kind":"queue","x":1})") == "/v1/simulations");
    CHECK(meant(R"({"kind":"running_jobs","x":1})") == "/v1/reschedules");
    CHECK(meant(R"({"kind":"claim","x":1})") == "/v1/claims");
    // Not clear, nothing, and no document.
    CHECK(meant(R"({"jobs":[]})").find("placements queue-orders") != std::string::npos);
    CHECK(meant(R"({"x":1})").find("does not look like") != std::string::npos);
    CHECK(meant("[1]").find("does not look like") != std::string::npos);
    CHECK(meant("{\n\"a\": }").find("line 2") != std::string::npos);
    CHECK(meant("").find("line 1") != std::string::npos);
}

TEST_CASE("an answer in the process is that of the service", "[ask][api]")
{
    api service;

    for (const char *name : {"workflow-heft", "placement-mct", "queue-easy"}) {
        test_arena a(1 << 28);
        error err{};
        ask_outcome outcome;
        const char *text = nullptr;
        std::string body = example_file(std::string(name) + ".json");
        struct ask how {
        };

        err.arena = a;
        how.draw = picture_terminal;
        how.endpoint_of = algorithm_endpoint;
        how.form = ASK_JSON;
        INFO(name);
        REQUIRE(ask(service.handle(), &how, body.c_str(), body.size(), &outcome, &text, a,
                    &err) == OK);
        CHECK(outcome == ASK_DONE);
        auto got = nlohmann::json::parse(text),
             recorded =
                 nlohmann::json::parse(example_file(std::string(name) + ".answer.json"));
        for (const char *member : {"algorithm", "status", "objective"})
            CHECK(got[member] == recorded[member]);
        how.form = ASK_TEXT;
        how.look.width = 80;
        REQUIRE(ask(service.handle(), &how, body.c_str(), body.size(), &outcome, &text, a,
                    &err) == OK);
        CHECK(std::string(text).find(recorded["algorithm"].get<std::string>()) !=
              std::string::npos);
        CHECK(std::string(text).find('|') != std::string::npos);
        how.form = ASK_SVG;
        REQUIRE(ask(service.handle(), &how, body.c_str(), body.size(), &outcome, &text, a,
                    &err) == OK);
        CHECK(std::string(text).rfind("<svg", 0) == 0);
    }
}

TEST_CASE("workflows of other tools are asked by the end of their file's name",
          "[ask][api]")
{
    api service;
    auto wrapped = [&](const char *name, const std::string &text) {
        test_arena a(1 << 22);
        error err = collecting_error(a);
        const char *document = text.c_str();
        size_t length = text.size();
        REQUIRE(ask_wrap(name, &document, &length, a, &err) == OK);
        CHECK(strlen(document) == length);
        return std::string(document);
    };
    CHECK(wrapped("a.json", "{}") == "{}");
    CHECK(wrapped(".stg", "x") == "x"); // no name, but hidden
    CHECK(wrapped("f/b.DAX", "<a b=\"c\"/>\n") == R"({"dax":"<a b=\"c\"/>\u000a"})");
    CHECK(wrapped("w.wfformat.json", "{}") == R"({"wfformat":"{}"})");
    CHECK(wrapped("l.swf", ";\n") == R"({"kind":"queue","swf":";\u000a"})");

    test_arena a(1 << 26);
    error err = collecting_error(a);
    std::string stg = wrapped("s.stg", "2\n0 0 0\n1 8 1 0\n2 5 1 1\n3 0 1 2\n");
    const char *set = "/speeds=[1,2]", *text = nullptr;
    ask_outcome outcome;
    struct ask how {
    };
    how.form = ASK_JSON;
    how.sets = &set;
    how.set_count = 1;
    REQUIRE(ask(service.handle(), &how, stg.c_str(), stg.size(), &outcome, &text, a,
                &err) == OK);
    INFO(text);
    CHECK(outcome == ASK_DONE);
    CHECK(nlohmann::json::parse(text)["objective"]["makespan_s"] == 6.5);

    // A log: two jobs of the whole machine, one behind the other.
    std::string swf = wrapped("log.swf", "; MaxProcs: 2\n"
                                         "1 0 -1 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n"
                                         "2 0 -1 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n");
    how.set_count = 0;
    REQUIRE(ask(service.handle(), &how, swf.c_str(), swf.size(), &outcome, &text, a,
                &err) == OK);
    INFO(text);
    CHECK(outcome == ASK_DONE);
    CHECK(nlohmann::json::parse(text)["results"][0]["mean_wait_s"] == 5);
}

TEST_CASE("what a service refuses is told in lines", "[ask]")
{
    test_arena a(1 << 20);
    auto told = [&](int status, const std::string &body) {
        text_buffer b{};
        b.arena = a;
        problem_print(status, body.c_str(), &b);
        return std::string(b.data, b.length);
    };
    CHECK(told(422, R"({"title":"T","detail":"d","code":"invalid","errors":[
        {"pointer":"/a","detail":"is wrong","hint":"right?"},{"pointer":"","detail":"e"},
        {"in":"query","name":"q","detail":"\u001b[31m"},{}, 3]})") ==
          "422 T\n  /a: is wrong; right?\n  the document: e\n  query q: ?[31m\n"
          "  the document: \n  see: gridplan errors invalid\n");
    CHECK(told(503, R"({"title":"T","detail":"d","hint":"wait"})") ==
          "503 T: d\n  wait\n");
    CHECK(told(502, "<html>") == "502 <html>\n");
    CHECK(told(500, "") == "500 \n");
}

TEST_CASE("what cannot be asked is refused with the reason", "[ask][api]")
{
    api service;
    test_arena a(1 << 26);
    error err = collecting_error(a);
    ask_outcome outcome;
    const char *text = nullptr;
    struct ask how {
    };
    auto run = [&](const std::string &body) {
        err = collecting_error(a);
        return ask(service.handle(), &how, body.c_str(), body.size(), &outcome, &text, a,
                   &err);
    };

    how.draw = picture_terminal;
    how.look.width = 100;
    CHECK(run("{\"nothing\":1}") == ERR_INVALID);
    CHECK(run("not JSON") == ERR_INVALID);
    CHECK(run("") == ERR_INVALID);
    how.endpoint = "nowhere";
    CHECK(run("{}") == ERR_INVALID);
    how.endpoint = "placements";
    REQUIRE(run(example_file("workflow-heft.json")) == OK);
    CHECK(outcome == ASK_REFUSED);
    CHECK(std::string(text).rfind("422 Some values are not acceptable\n  /kind: ", 0) ==
          0);
    how.json_problems = true;
    REQUIRE(run(example_file("workflow-heft.json")) == OK);
    CHECK(outcome == ASK_REFUSED);
    CHECK(nlohmann::json::parse(text)["status"] == 422);
    REQUIRE(
        run(R"({"snapshot":{"resources":[{"id":"m","memory_bytes":1}]},"algorithm":"mct",
        "jobs":[{"id":"a","estimate_ref_s":1,"memory_bytes":2}]})") == OK);
    CHECK(outcome == ASK_SHORT);
    CHECK(std::string(text).find("too_small") != std::string::npos);
    // Classes and ids are lists of other names; one job of three has a place.
    for (const char *form : {"jobs", "classes", "ids"}) {
        std::string body =
            R"({"snapshot":{"resources":[{"id":"m","memory_bytes":1}]},"algorithm":"mct",
            "jobs":[{"id":"a","estimate_ref_s":1,"memory_bytes":2},
                    {"id":"b","estimate_ref_s":1,"memory_bytes":2},
                    {"id":"c","estimate_ref_s":1}],"unplaced_form":")";

        INFO(form);
        REQUIRE(run(body + form + "\"}") == OK);
        CHECK(outcome == ASK_SHORT);
        CHECK(std::string(text).find(form == std::string("ids")
                                         ? "without a place: 2\n"
                                         : "without a place:\n") != std::string::npos);
        CHECK((std::string(text).find("too_small") != std::string::npos) ==
              (form != std::string("ids")));
    }
}

TEST_CASE("ask and explain take files of other tools, and no larger one than a service",
          "[ask][system]")
{
    folder f;
    int status = -1;
    auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"env", "-u", "GRIDPLAN_URL", build_binary});
        return run_command(words, &status);
    };
    std::ofstream(f.path + "/w.stg") << "2\n0 0 0\n1 8 1 0\n2 5 1 1\n3 0 1 2\n";
    std::string text = run({"explain", f.path + "/w.stg"});
    CHECK(text.find("status 422: /snapshot: the resources are missing") !=
          std::string::npos);
    std::ofstream(f.path + "/large.json")
        << R"({"jobs": ")" << std::string(3000, 'a') << "\"}";
    text = run({"ask", f.path + "/large.json", "--max-body-bytes", "2048"});
    CHECK(status == 2);
    CHECK(text.find("3012 bytes are more than max_body_bytes, 2048") !=
          std::string::npos);
    std::ofstream(f.path + "/w.json") << example_file("workflow-heft.json");
    CHECK(run({"ask", f.path + "/w.json", "--svg", f.path + "/w.svg"}) == "");
    CHECK(status == 0);
    CHECK(file_text(f.path + "/w.svg").rfind("<svg", 0) == 0);
    text = run({"ask", f.path + "/w.json", "--endpoint", "placements"});
    CHECK(status == 1);
    CHECK(text.rfind("422 ", 0) == 0);
    for (std::vector<std::string> key : {std::vector<std::string>{"--key", "gp_secret"},
                                         std::vector<std::string>{"--token=gp_secret"}}) {
        key.insert(key.begin(), {"ask", f.path + "/w.json"});
        text = run(key);
        CHECK(status == 2);
        CHECK(text.find("--key-file FILE") != std::string::npos);
        CHECK(text.find("gp_secret") == std::string::npos);
    }
    text = run({"docs", "which"});
    CHECK(status == 0);
    CHECK(text.rfind("Which endpoint do I need?\n", 0) == 0);
    run({"docs", "no-such-page"});
    CHECK(status == 1);
}

TEST_CASE("a decision is told in sentences", "[ask][api]")
{
    api service;
    asked who{};
    who.routes = service.handle()->routes;
    who.config = service.handle()->config;
    auto told = [&](const std::string &endpoint, const std::string &request,
                    const std::string &answer, const char *job_id) {
        test_arena a(1 << 28);
        error err = collecting_error(a);
        text_buffer b{};
        struct explain e = {&who,           endpoint.c_str(), request.c_str(),
                            answer.c_str(), nullptr,          job_id};
        b.arena = a;
        if (explain(&e, &b, &err) != OK)
            return "refused: " + std::string(err.text);
        return std::string(b.data);
    };
    auto example = [&](const std::string &endpoint, const std::string &name,
                       const char *job_id) {
        return told("/v1/" + endpoint, example_file(name + ".json"),
                    example_file(name + ".answer.json"), job_id);
    };
    auto has = [](const std::string &text, const std::string &part) {
        INFO(text);
        CHECK(text.find(part) != std::string::npos);
    };

    // What has no place, when like jobs are told together.
    std::string classes = example("placements", "placement-unplaced_classes", nullptr);
    has(classes, "2 jobs, as wide1, have no place: too_small (on 1 resource)");
    has(example("placements", "placement-unplaced_classes", "wide2"),
        "wide2 has no place, as 1 other: too_small");
    // Why this algorithm, how far from the best, what the end hangs on.
    std::string heft = example("workflow-schedules", "workflow-heft", nullptr);
    has(heft, "workflow-schedules by heft: the request names it.\n");
    has(heft, "No plan can be faster than 1 min 3 s (bound: grain): this one is at most "
              "27.0 % above the best possible.\n");
    has(heft,
        "The end hangs on 5 tasks, one behind the other: n0 (start), n3 (transfer, 9 "
        "s), n5 (resource), n7 (transfer, 15 s), n9 (transfer, 11 s).\n");
    has(example("placements", "placement-auto", nullptr), "auto chose it. Because: ");
    has(example("placements", "placement-plain", nullptr), "placements by ");

    // Of a job: why here. Topcuoglu's graph with n3 on p2 or p0 takes 6 and 7 s more.
    has(example("workflow-schedules", "workflow-heft", "n3"),
        "n3 runs on p1, from 18 s to 26 s. Held on another one and planned anew: On p2 "
        "it "
        "would end as early as here, and the whole plan 6 s later than here. On p0 it "
        "would end 5 s later than here, and the whole plan 7 s later than here.\n");

    // Why not, and what would help.
    has(example("placements", "placement-what_if", nullptr),
        "u2 has no place: too_small (on 2 resources): it has less than the job needs: "
        "cpus needs 12, the largest has 16, memory_bytes needs 2.4e+10, the largest has "
        "3.2e+10. What would help: the nearest miss is A, which has 33.3 % too "
        "little.\n");
    has(example("queue-orders", "queue-easy", "wide"),
        "wide waits (processors): needs 40 processors, 0 are free until job r1 ends at "
        "1100. It is expected to start in 1 min 40 s.\n");
    has(example("queue-orders", "queue-easy", "short"), "short starts now.\n");

    // A resource that lacks something; a name that could obey nobody.
    std::string request = R"({"snapshot":{"resources":[{"id":"m0","memory_bytes":1},
        {"id":"m1","memory_bytes":9},{"id":"m\u001b2","memory_bytes":9}]},
        "algorithm":"mct","jobs":[{"id":"a","estimate_ref_s":5,"memory_bytes":2,
        "requirement":"resource_id != \"m7\""}]})";
    std::string lacks = told("/v1/placements", request,
                             service.post("/v1/placements", request).body, "a");
    has(lacks, "a runs on m1, from 0 s to 5 s.");
    has(lacks, "Not on m0: the job needs more memory than the resource has.");
    CHECK(lacks.find('\x1b') == std::string::npos);

    CHECK(example("workflow-schedules", "workflow-heft", "nope") ==
          "refused: the answer does not speak of 'nope'");
    CHECK(told("/v1/placements", "[]", "{}", nullptr).find("refused: ") == 0);
    CHECK(told("/v1/placements", "{}", "x", nullptr).find("refused: ") == 0);
    CHECK(told("/v1/placements", "{}", "{}", nullptr) == "placements.\n\n");
}

TEST_CASE("values of a document are set by their place", "[ask]")
{
    test_arena a(1 << 22);
    auto set = [&](const std::string &document, const std::string &what) {
        error err{};
        const char *text = nullptr;
        err.arena = a;
        if (set_value(document.c_str(), document.size(), what.c_str(), &text, a, &err) !=
            OK)
            return "refused: " + std::string(err.text);
        return std::string(text);
    };
    CHECK(set(R"({"a":1})", "/a=2") == R"({"a":2})");
    CHECK(set(R"({"a":1})", "/b=true") == R"({"a":1,"b":true})");
    CHECK(set(R"({})", "/a/b/c=x y") == R"({"a":{"b":{"c":"x y"}}})");
    CHECK(set(R"({"l":[1,2]})", "/l/1=[3]") == R"({"l":[1,[3]]})");
    CHECK(set(R"({"l":[]})", "/l/-={\"id\":\"x\"}") == R"({"l":[{"id":"x"}]})");
    CHECK(set(R"({"a/b":1,"m~n":2})", "/a~1b=3") == R"({"a/b":3,"m~n":2})");
    CHECK(set(R"({"a/b":1,"m~n":2})", "/m~0n=\"=\"") == R"({"a/b":1,"m~n":"="})");
    CHECK(set(R"({"a":0.1})", "/b=") == R"({"a":0.1,"b":""})");
    CHECK(set(R"({"l":[1]})", "/l/5=1").find("refused: nothing can stand") == 0);
    CHECK(set(R"({"l":[1]})", "/l/x=1").find("refused: nothing can stand") == 0);
    CHECK(set(R"({"n":1})", "/n/x=1").find("refused: nothing can stand") == 0);
    CHECK(set("[]", "a=1").find("refused: --set /path") == 0);
    CHECK(set("[]", "/a").find("refused: --set /path") == 0);
    CHECK(set("{", "/a=1").find("refused: ") == 0);
}

TEST_CASE("rows of an answer are lines of a terminal", "[ask]")
{
    test_arena a(1 << 22);
    auto table = [&](const std::string &answer, const char *of, size_t width) {
        error err{};
        text_buffer b{};
        bool found;
        err.arena = b.arena = a;
        REQUIRE(table_print(answer.c_str(), of, width, &b, &found, &err) == OK);
        CHECK(found == (b.length > 0));
        return std::string(b.data ? b.data : "", b.length);
    };
    std::string answer = R"({"warnings":[{"w":1}],"status":"x","rows":[
        {"id":"a","n":1.5,"ok":true,"inner":{}},{"id":"b\tb","n":20,"late":null}],
        "unplaced":[{"job_id":"z"}]})";
    CHECK(table(answer, nullptr, 80) == "id     n   ok  late\n"
                                        "a    1.5  yes     -\n"
                                        "b?b   20    -     -\n");
    CHECK(table(answer, nullptr, 8) ==
          "id     n\na    1.5\nb?b   20\n(left out: ok late)\n");
    CHECK(table(answer, "unplaced", 80) == "job_id\nz\n");
    CHECK(table(R"({"unplaced":[{"id":"z","reasons":[{"count":2,"reason":"memory"},
                {"reason":"down"}],"ids":["a","b"],"none":[]}]})",
                "unplaced", 80) == "id  reasons       ids\nz   memory, down  a, b\n");
    CHECK(table("{\"rows\":[{\"id\":\"\u6f22\u5b57\",\"n\":1},{\"id\":\"e\u0301\u202e\","
                "\"n\":2}]}",
                nullptr, 80) == "id    n\n\u6f22\u5b57  1\ne\u0301?    2\n");
    CHECK(table(R"({"placements":[{"job_id":"a","indexes":[0,11]},{"job_id":"b"}]})",
                nullptr, 80) == "job_id  indexes\na       0-11\nb       -\n");
    CHECK(table("{}", nullptr, 80).empty());
    CHECK(table(R"({"rows":[]})", "rows", 80).empty());
    CHECK(table(R"({"rows":[1]})", nullptr, 80).empty());
}

TEST_CASE("a command knows whom to ask by flags, environment and file", "[ask]")
{
    test_arena a(1 << 22);
    char folder[] = "/tmp/gridplan-conf-XXXXXX";
    REQUIRE(mkdtemp(folder));
    std::string conf = std::string(folder) + "/gridplan";
    REQUIRE(mkdir(conf.c_str(), 0700) == 0);
    conf += "/client.conf";
    auto write = [&](const std::string &text) { std::ofstream(conf) << text; };
    auto find = [&](const char *url, const char *profile) {
        error err{};
        asked who{};
        target_flags flags{url, nullptr, profile};
        err.arena = a;
        if (target_find(&flags, &who, a, &err) != OK)
            return "refused: " + std::string(err.text);
        char text[300];
        snprintf(text, sizeof(text), "%s %s %s %g", who.url ? who.url : "-",
                 who.key_file ? who.key_file : "-", who.ca_file ? who.ca_file : "-",
                 who.time_limit_s);
        return std::string(text);
    };
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("GRIDPLAN_URL");
    unsetenv("GRIDPLAN_KEY_FILE");
    CHECK(find(nullptr, nullptr) == "- - - 60");
    write("# whom to ask\n url = http://a:1 # the first\nprofile.lab.url=http://lab\n"
          "profile.lab.timeout_s = 5\nkey_file = /k\nca_file = /ca\n\n");
    CHECK(find(nullptr, nullptr) == "http://a:1 /k /ca 60");
    CHECK(find(nullptr, "lab") == "http://lab /k /ca 5");
    CHECK(find("http://flag", "lab") == "http://flag /k /ca 5");
    CHECK(find("", nullptr) == "- /k /ca 60");
    setenv("GRIDPLAN_URL", "http://env", 1);
    CHECK(find(nullptr, "lab") == "http://env /k /ca 5");
    unsetenv("GRIDPLAN_URL");
    CHECK(find(nullptr, "other").find("has no line of profile.other") !=
          std::string::npos);
    write("url\n");
    CHECK(find(nullptr, nullptr).find("client.conf:1: key = value") != std::string::npos);
    write("\nurls = x\n");
    CHECK(find(nullptr, nullptr).find("client.conf:2: a key is one of") !=
          std::string::npos);
    write("color = red\n");
    CHECK(find(nullptr, nullptr).find("color is auto, always or never") !=
          std::string::npos);
    write("timeout_s = -1\n");
    CHECK(find(nullptr, nullptr).find("timeout_s is a number") != std::string::npos);
    unlink(conf.c_str());
    rmdir((std::string(folder) + "/gridplan").c_str());
    rmdir(folder);
    unsetenv("XDG_CONFIG_HOME");
}
