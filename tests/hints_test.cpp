// hints_test.cpp - what a mistake in a request says to do.
#include "tests/api.hpp"

#include <filesystem>
#include <fstream>
#include <set>

extern "C" {
#include "models/base/names.h"
#include "models/base/spelling.h"
#include "models/base/warning_codes.h"
#include "service/json_hint.h"
}

namespace
{
// The members that jobs and resources have, or will have.
struct thing {
    const char *id;
    double number[12];
    const named_value *needs;
    size_t need_count;
    double at_s;
    int colour;
    double share_ratio;
    uint64_t count;
    bool urgent;
};

json_field row(const char *name, json_type type, size_t offset)
{
    json_field f{};
    f.name = name;
    f.doc = "doc";
    f.type = type;
    f.offset = offset;
    f.max = 1e18;
    return f;
}

const char *const colours[] = {"red", "green", "grey", nullptr};

const json_object *job_table()
{
    static const char *const numbers[] = {"estimate_s", "time_limit_s", "memory_bytes",
                                          "priority",   "submit_s",     "bandwidth_mbps"};
    static json_field rows[16];
    static json_object table{"Job", "a job", sizeof(thing), rows};
    size_t n = 0;

    rows[n++] = row("id", JSON_TYPE_TEXT, offsetof(thing, id));
    for (size_t i = 0; i < 6; i++)
        rows[n++] = row(numbers[i], JSON_TYPE_NUMBER,
                        offsetof(thing, number) + i * sizeof(double));
    rows[n] = row("needs", JSON_TYPE_VALUES, offsetof(thing, needs));
    rows[n++].count_offset = offsetof(thing, need_count);
    rows[n++] = row("seen_at", JSON_TYPE_INSTANT, offsetof(thing, at_s));
    rows[n] = row("colour", JSON_TYPE_CHOICE, offsetof(thing, colour));
    rows[n++].choices = colours;
    rows[n] = row("share_ratio", JSON_TYPE_NUMBER, offsetof(thing, share_ratio));
    rows[n++].max = 1;
    rows[n] = row("count", JSON_TYPE_INTEGER, offsetof(thing, count));
    rows[n++].max = 9;
    rows[n++] = row("urgent", JSON_TYPE_BOOLEAN, offsetof(thing, urgent));
    rows[n] = json_field{};
    return &table;
}

const json_object *resource_table()
{
    static const char *const numbers[] = {"cpus", "mips_total", "cpu_available_ratio"};
    static json_field rows[8];
    static json_object table{"SnapshotResource", "a resource", sizeof(thing), rows};
    size_t n = 0;

    rows[n] = row("capacities", JSON_TYPE_VALUES, offsetof(thing, needs));
    rows[n++].count_offset = offsetof(thing, need_count);
    rows[n++] = row("id", JSON_TYPE_TEXT, offsetof(thing, id));
    for (size_t i = 0; i < 3; i++)
        rows[n++] = row(numbers[i], JSON_TYPE_NUMBER,
                        offsetof(thing, number) + i * sizeof(double));
    rows[n] = json_field{};
    return &table;
}

struct mistake {
    std::string code, detail, hint, allowed;
    size_t count;
};

// The first mistake of the members in braces.
mistake first(const json_object *table, const std::string &members,
              size_t size = sizeof(thing))
{
    test_arena a;
    error err = collecting_error(a);
    std::string text = "{" + members + "}";
    std::vector<uint64_t> out(size / sizeof(uint64_t) + 1);
    mistake m{};

    json_read(table, text.data(), text.size(), out.data(), nullptr, a, &err);
    m.count = err.item_count;
    if (!err.first)
        return m;
    m.code = item_kinds[err.first->code].name;
    m.detail = err.first->detail;
    m.hint = err.first->hint ? err.first->hint : "";
    for (size_t i = 0; i < err.first->allowed_count; i++)
        m.allowed += std::string(i ? " " : "") + err.first->allowed[i];
    return m;
}
} // namespace

TEST_CASE("a member that there is not: what is meant", "[hints]")
{
    struct {
        const char *sent, *hint, *allowed;
    } cases[] = {
        {R"("memory_mb": 4000)",
         "did you mean 'memory_bytes'? Here: 4000000000 (or 4194304000, if yours are "
         "powers of 1024)",
         "memory_bytes"},
        {R"("mem_gib": 16)", "did you mean 'memory_bytes'? Here: 17179869184",
         "memory_bytes"},
        {R"("name": "a")", "did you mean 'id'?", "id"},
        {R"("runtime_s": 60)", "did you mean 'estimate_s'?", "estimate_s"},
        {R"("runtimeMs": 1500)", "did you mean 'estimate_s'? Here: 1.5", "estimate_s"},
        {R"("copies": 3)", "did you mean 'count'?", "count"},
        {R"("walltime": "1:00:00")", "did you mean 'time_limit_s'? Here: 3600",
         "time_limit_s"},
        {R"("time_limit_min": 90)", "did you mean 'time_limit_s'? Here: 5400",
         "time_limit_s"},
        {R"("timeLimitS": 60)", "did you mean 'time_limit_s'? (names are snake_case)",
         "time_limit_s"},
        {R"("gpus": "2")", "consumables of a free name go into 'needs': {\"gpus\": 2}",
         "needs"},
        {R"("gpus": 2)", "consumables of a free name go into 'needs': {\"gpus\": 2}",
         "needs"},
        {R"("gpu": "a100")",
         "consumables of a free name go into 'needs': {\"gpu\": \"a100\"}", "needs"},
        {R"("ram": "4GiB")", "did you mean 'memory_bytes'? Here: 4294967296",
         "memory_bytes"},
        {R"("bandwidth_gbps": 2.5)", "did you mean 'bandwidth_mbps'? Here: 2500",
         "bandwidth_mbps"},
        {R"("time-limit-h": 0.5)", "did you mean 'time_limit_s'? Here: 1800",
         "time_limit_s"},
        {R"("durationd": 1)",
         "known here: bandwidth_mbps, colour, count, estimate_s, id, memory_bytes, "
         "needs, priority, seen_at, share_ratio, submit_s, time_limit_s, urgent",
         "bandwidth_mbps colour count estimate_s id memory_bytes needs priority seen_at "
         "share_ratio submit_s time_limit_s urgent"},
        {R"("priorty": 1)", "did you mean 'priority'?", "priority"},
        {R"("nice": 1)", "did you mean 'priority'?", "priority"},
        {R"("bandwidth": 4)", "did you mean 'bandwidth_mbps'?", "bandwidth_mbps"},
        {R"("time limit s": 60)", "did you mean 'time_limit_s'? (names are snake_case)",
         "time_limit_s"},
        {R"("Priority": 1)", "did you mean 'priority'? (names are snake_case)",
         "priority"},
        {R"("parents": ["a"])",
         "what waits for others is a task of POST /v1/workflow-schedules", ""},
        {R"("partition": "batch")", // has no partition_ids
         "known here: bandwidth_mbps, colour, count, estimate_s, id, memory_bytes, "
         "needs, priority, seen_at, share_ratio, submit_s, time_limit_s, urgent",
         "bandwidth_mbps colour count estimate_s id memory_bytes needs priority seen_at "
         "share_ratio submit_s time_limit_s urgent"},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.sent)
        {
            mistake m = first(job_table(), c.sent);
            CHECK(m.code == "unknown_member");
            CHECK(m.detail.find("a job has no member '") == 0);
            CHECK(m.hint == c.hint);
            CHECK(m.allowed == c.allowed);
            CHECK(m.count == 1);
        }
}

TEST_CASE("a name in the spelling of names", "[hints]")
{
    const struct {
        const char *name, *spelling;
    } cases[] = {
        {"timeLimitS", "time_limit_s"},   {"time-limit s", "time_limit_s"},
        {"Min-Min", "min_min"},           {"HEFT", "heft"},
        {"load1Min", "load1_min"},        {"", ""},
        {"\xc3\x84rger", "\xc3\x84rger"},
    };
    char spelling[16];

    for (auto &c : cases) {
        INFO(c.name);
        REQUIRE(name_spell(c.name, strlen(c.name), spelling, sizeof(spelling)));
        CHECK(std::string(spelling) == c.spelling);
    }
    CHECK(name_spell("aB", 2, spelling, 4)); // a_b and its NUL
    CHECK_FALSE(name_spell("aB", 2, spelling, 3));
    CHECK(name_spell("aBc", 1, spelling, 2));
    CHECK(std::string(spelling) == "a");
}

TEST_CASE("a resource's member that there is not", "[hints]")
{
    CHECK(first(resource_table(), R"("cpu_available_pct": 75)").hint ==
          "did you mean 'cpu_available_ratio'? Here: 0.75");
    CHECK(first(resource_table(), R"("ncpus": 4)").hint == "did you mean 'cpus'?");
    CHECK(first(resource_table(), R"("speed": 4)").hint == "did you mean 'mips_total'?");
    CHECK(first(resource_table(), R"("gpus": 2)").hint ==
          "consumables of a free name go into 'capacities': {\"gpus\": 2}");
    CHECK(first(resource_table(), R"("gpus": 2)").allowed == "capacities");
    CHECK(first(resource_table(), R"("zzz": 1)").hint ==
          "known here: capacities, cpu_available_ratio, cpus, id, mips_total");
    CHECK(first(resource_table(), R"("zzz": 1)").detail ==
          "a snapshot resource has no member 'zzz'");
    CHECK(first(resource_table(), "\"" + std::string(200, 'x') + "\": 1").hint ==
          "known here: capacities, cpu_available_ratio, cpus, id, mips_total");
}

TEST_CASE("texts that mean seconds or bytes", "[hints]")
{
    struct {
        const char *text;
        double seconds, bytes;
    } cases[] = {
        {"1:00:00", 3600, NAN},
        {"1-12:00:00", 129600, NAN},
        {"90:00", 5400, NAN},
        {"1-06:00", 108000, NAN},
        {"2h", 7200, NAN},
        {"90s", 90, NAN},
        {"1500ms", 1.5, NAN},
        {"PT1H30M", 5400, NAN},
        {"P1DT1S", 86401, NAN},
        {"60", 60, 60},
        {"abc", NAN, NAN},
        {"", NAN, NAN},
        {"P", NAN, NAN},
        {"PT", NAN, NAN},
        {"PT5", NAN, NAN},
        {"P1H", NAN, NAN},
        {"1:2:3:4", NAN, NAN},
        {":30", NAN, NAN},
        {"1-", NAN, NAN},
        {"-1", NAN, NAN},
        {"0x10", NAN, NAN},
        {"4G", NAN, 4e9},
        {"4GiB", NAN, 4294967296.0},
        {"512MB", NAN, 512e6},
        {"1.5T", NAN, 1.5e12},
        {"7 kB", NAN, 7000},
        {"4X", NAN, NAN},
        {"4GiBs", NAN, NAN},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            CHECK(isnan(json_seconds(c.text)) == isnan(c.seconds));
            CHECK(isnan(json_bytes(c.text)) == isnan(c.bytes));
            if (!isnan(c.seconds))
                CHECK(json_seconds(c.text) == c.seconds);
            if (!isnan(c.bytes))
                CHECK(json_bytes(c.text) == c.bytes);
        }
}

TEST_CASE("a value that a member does not take: what is meant", "[hints]")
{
    struct {
        const char *sent, *code, *hint, *allowed;
    } cases[] = {
        {R"("time_limit_s": "1-12:00:00")", "wrong_type", "did you mean 129600?", ""},
        {R"("time_limit_s": "abc")", "wrong_type", "", ""},
        {R"("memory_bytes": "1.5T")", "wrong_type", "did you mean 1500000000000?", ""},
        {R"("memory_bytes": "2h")", "wrong_type", "", ""},
        {R"("priority": "2h")", "wrong_type", "", ""},
        {R"("priority": "5")", "wrong_type", "did you mean 5?", ""},
        {R"("priority": "-2.5")", "wrong_type", "did you mean -2.5?", ""},
        {R"("priority": "0x10")", "wrong_type", "", ""},
        {R"("priority": null)", "wrong_type", "give a value, or leave the member out",
         ""},
        {R"("priority": -1)", "out_of_bounds", "take at least 0", ""},
        {R"("id": 7)", "wrong_type", "did you mean \"7\"?", ""},
        {R"("id": true)", "wrong_type", "did you mean \"true\"?", ""},
        {R"("id": {"name": "a"})", "wrong_type", "did you mean \"a\"?", ""},
        {R"("id": [])", "wrong_type", "", ""},
        {R"("share_ratio": 75)", "out_of_bounds", "1 is 100 %; did you mean 0.75?", ""},
        {R"("share_ratio": 175)", "out_of_bounds", "take at most 1", ""},
        {R"("share_ratio": "75 %")", "wrong_type", "did you mean 0.75?", ""},
        {R"("count": 1.5)", "not_an_integer", "did you mean 2?", ""},
        {R"("count": 9.6)", "out_of_bounds", "take at most 9", ""},
        {R"("urgent": "yes")", "wrong_type", "did you mean true?", ""},
        {R"("urgent": "No")", "wrong_type", "did you mean false?", ""},
        {R"("urgent": 1)", "wrong_type", "did you mean true?", ""},
        {R"("urgent": 2)", "wrong_type", "", ""},
        {R"("urgent": "perhaps")", "wrong_type", "write true or false", ""},
        {R"("needs": ["gpu"])", "wrong_type", "did you mean {\"gpu\": true}?", ""},
        {R"("seen_at": "2026-10-01")", "not_an_instant",
         "did you mean \"2026-10-01T00:00:00Z\"?", ""},
        {R"("seen_at": "2026-10-01T12:30:00")", "not_an_instant",
         "did you mean \"2026-10-01T12:30:00Z\"?", ""},
        {R"("seen_at": "2026-10-01 12:30")", "not_an_instant",
         "did you mean \"2026-10-01 12:30:00Z\"?", ""},
        {R"("seen_at": "2026-10-01T12:30:00+0200")", "not_an_instant",
         "did you mean \"2026-10-01T12:30:00+02:00\"?", ""},
        {R"("seen_at": "2026-13-01")", "not_an_instant", "", ""},
        {R"("seen_at": "1795219200")", "not_an_instant",
         "did you mean the number 1795219200?", ""},
        {R"("seen_at": 1795219200000)", "not_an_instant",
         "looks like milliseconds; did you mean 1795219200?", ""},
        {R"("seen_at": 1795219200000000)", "not_an_instant",
         "looks like microseconds; did you mean 1795219200?", ""},
        {R"("seen_at": 1795219200500)", "not_an_instant",
         "looks like milliseconds; did you mean 1795219200.5?", ""},
        {R"("seen_at": "2026-11-21T00:00:00 01:00")", "not_an_instant",
         "a '+' in a query must be written %2B", ""},
        {R"("seen_at": "yesterday")", "not_an_instant", "", ""},
        {R"("seen_at": -1e12)", "not_an_instant", "", ""},
        {R"("colour": "gren")", "not_a_choice", "did you mean 'green'?",
         "green grey red"},
        {R"("colour": "violet")", "not_a_choice", "", "red green grey"},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.sent)
        {
            mistake m = first(job_table(), c.sent);
            CHECK(m.code == c.code);
            CHECK(m.hint == c.hint);
            CHECK(m.allowed == c.allowed);
        }
    CHECK(first(job_table(), R"("seen_at": 86400)").count == 0);
}

TEST_CASE("a member that belongs one level down, and what is no object", "[hints]")
{
    struct request {
        json_of_kind unused;
        thing one;
        const thing *list;
        size_t count;
        const char *stored;
    };
    static json_field rows[4];
    static const json_object table{"Request", "a request", sizeof(request), rows};

    rows[0] = row("machine", JSON_TYPE_OBJECT, offsetof(request, one));
    rows[0].of = resource_table();
    rows[1] = row("jobs", JSON_TYPE_LIST, offsetof(request, list));
    rows[1].of = job_table();
    rows[1].count_offset = offsetof(request, count);
    rows[2] = row("machine_id", JSON_TYPE_TEXT, offsetof(request, stored));

    struct {
        const char *sent, *hint, *allowed;
    } cases[] = {
        {R"("mips_total": 1)", "it belongs into 'machine': {\"mips_total\": ...}",
         "machine"},
        {R"("estimate_s": 1)", "it belongs into 'jobs': [{\"estimate_s\": ...}]", "jobs"},
        {R"("tasks": [])", "did you mean 'jobs'?", "jobs"},
        {R"("jobs": {})", "a list of one stands in brackets: [{...}]", ""},
        {R"("machine": "m")", "the name of a stored one goes into 'machine_id'", ""},
        {R"("machine": 5)", "", ""},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.sent)
        {
            mistake m = first(&table, c.sent, sizeof(request));
            CHECK(m.hint == c.hint);
            CHECK(m.allowed == c.allowed);
            CHECK(m.count == 1);
        }
}

TEST_CASE("what is no JSON, but is elsewhere: what is meant", "[hints]")
{
    struct {
        const char *text, *hint;
    } cases[] = {
        {"{'a': 1}", "strings stand in double quotes"},
        {"{a: 1}", "names and texts stand in double quotes"},
        {"{\"a\": 1,}", "the last one has no comma behind it"},
        {"[1, ]", "the last one has no comma behind it"},
        {R"({"a": [{"b": 1,}]})", "the last one has no comma behind it"},
        {"[1] // one", "JSON has no comments"},
        {"[NaN]", "JSON has no NaN; leave the member out"},
        {"[-Infinity]", "JSON has no infinity; leave the member out"},
        {"[True]", "did you mean true?"},
        {"[None]", "did you mean null?"},
        {"\xef\xbb\xbf[]", "leave out the byte order mark; JSON is UTF-8 anyway"},
        {"[1", "a bracket is not closed"},
        {R"({"a": [{"b": "}"}])", "a bracket is not closed"},
        {"[.5]", "a number begins with a digit: 0.5"},
        {"[+5]", "a number has no plus before it"},
        {"@job.json", "this is the name of a file, not what stands in it"},
        {"{\"id\": \"a\"}\n{\"id\": \"b\"}", "several stand in [ ] with commas between "
                                             "them, or a line each under Content-Type: "
                                             "application/x-ndjson where many are taken"},
        {"[\"a", "close it with \""},
        {"[\"a\\", "close it with \""},
        {"[\"a\nb\"]", nullptr},
        {"[\"a\xff\"]", nullptr},
        {"[\"a\\u0000\"]", "leave it out"},
        {R"(["a\ud800"])",
         R"(behind a backslash stands one of " \ / b f n r t, or u and )"
         R"(four hex digits; \uD800 to \uDFFF come in pairs)"},
        {"", "send a JSON object, and its length"},
        {"[1 2]", nullptr},
        {"[1}", nullptr},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            test_arena a;
            error err = collecting_error(a);
            thing t;

            CHECK(json_read(job_table(), c.text, strlen(c.text), &t, nullptr, a, &err) ==
                  ERR_MALFORMED);
            CHECK(std::string(err.hint ? err.hint : "") == (c.hint ? c.hint : ""));
        }
}

TEST_CASE("names by distance: at most so many, the nearest first", "[hints]")
{
    const char *names[] = {"ab", "abc", "xyz", "abd", nullptr, "never"};
    const char *sorted[8];

    CHECK(names_by_distance("abc", names, 6, sorted, 8) == 4);
    CHECK(std::string(sorted[0]) == "abc");
    CHECK(std::string(sorted[1]) == "ab");
    CHECK(std::string(sorted[2]) == "abd");
    CHECK(std::string(sorted[3]) == "xyz");
    CHECK(names_by_distance("xyz", names, 6, sorted, 1) == 1);
    CHECK(std::string(sorted[0]) == "xyz");
    CHECK(names_by_distance(nullptr, names, 2, sorted, 8) == 2);
    CHECK(std::string(sorted[1]) == "abc");
    CHECK(names_by_distance("a", names, 0, sorted, 8) == 0);
}

TEST_CASE("a mistake of another list comes with all that belongs to it", "[hints]")
{
    test_arena a, other;
    error one = collecting_error(other), all = collecting_error(a);
    const char *names[] = {"x", "y"};

    invalid(&one, "/a", ITEM_NOT_A_CHOICE, "none of them");
    error_hint(&one, "take %s", "x");
    error_allow(&one, "z", names, 2);
    error_allow_number(&one, 5);
    error_at_line(&one, 7);
    CHECK(invalid_again(&all, "/jobs/3", one.first) == ERR_INVALID);
    REQUIRE(all.first);
    CHECK(std::string(all.first->pointer) == "/jobs/3/a");
    CHECK(all.first->code == ITEM_NOT_A_CHOICE);
    CHECK(std::string(all.first->hint) == "take x");
    CHECK(all.first->hint != one.first->hint);
    REQUIRE(all.first->allowed_count == 2);
    CHECK(std::string(all.first->allowed[1]) == "y");
    CHECK(*all.first->allowed_number == 5);
    CHECK(all.first->line == 7);
    CHECK(all.item_count == 1);
}

TEST_CASE("hints for mistakes that are only counted change no other", "[hints]")
{
    test_arena a;
    error err = collecting_error(a);

    for (int i = 0; i <= ERROR_ITEMS_MAX; i++)
        invalid(&err, "/a", ITEM_REQUIRED, "number %d", i);
    error_hint(&err, "lost");
    error_allow_number(&err, 1);
    CHECK(!err.last->hint);
    CHECK(!err.last->allowed_number);
}

TEST_CASE("several things are not one", "[hints]")
{
    const json_field none[] = {{}};
    const struct {
        const char *name, *noun;
    } cases[] = {{"SilentErrors", "the silent errors"},
                 {"ModelSettingsInput", "a model settings input"},
                 {"FileAccess", "a file access"},
                 {"Image", "an image"},
                 {"S", "a s"}};

    for (auto &c : cases) {
        json_object table = {c.name, "", 0, none};
        char buffer[NOUN_BYTES];
        CHECK(std::string(json_noun(&table, buffer, sizeof(buffer))) == c.noun);
    }
}

TEST_CASE("codes: each is there once and says what to do", "[hints]")
{
    std::set<std::string> names;

    for (int i = 0; i < ITEM_CODE_COUNT; i++) {
        const item_kind &k = item_kinds[i];
        INFO(k.name);
        CHECK(names.insert(k.name).second);
        CHECK(*k.title);
        CHECK(*k.cause);
        CHECK(*k.remedy);
        if (i)
            CHECK(std::string(item_kinds[i - 1].name) < k.name);
    }
    std::string before;
#define X(name, meaning)                \
    CHECK(before < std::string(#name)); \
    before = #name;
    WARNING_CODES(X)
#undef X
}

TEST_CASE("each code of a warning is sent by some code", "[hints]")
{
    namespace fs = std::filesystem;
    std::string sources;

    for (const char *folder : {"models", "algorithms", "service", "handlers"})
        for (auto &f : fs::recursive_directory_iterator(
                 std::string(GRIDPLAN_SOURCE_DIR "/") + folder)) {
            std::string name = f.path().filename().string(),
                        end = f.path().extension().string();
            if ((end != ".c" && end != ".h") || name == "warning_codes.h")
                continue;
            std::ifstream in(f.path());
            sources.append(std::istreambuf_iterator<char>(in), {});
        }
    REQUIRE(sources.size() > 1000000);
#define X(name, meaning)                                         \
    CHECK((sources.find("\"" #name ": ") != std::string::npos || \
           sources.find("\"" #name "\"") != std::string::npos));
    WARNING_CODES(X)
#undef X
}

TEST_CASE("words of other tools are known where their members are", "[hints][api]")
{
    api a;
    auto hints = [&](const char *path, const std::string &body) {
        std::map<std::string, std::string> found;
        const nlohmann::json answer = a.post(path, body).json();
        for (auto &e : answer["errors"])
            found[e["pointer"].get<std::string>()] =
                e.contains("hint") ? e["hint"].get<std::string>() : "";
        return found;
    };
    auto job = hints("/v1/checkpoint-intervals",
                     R"({"jobs":[{"id":"j","mtbf_s":3600,"mtbf_h":2,"runtime":60,
        "checkpoint_cost":60,"restart_time_min":2,"runtime_h":1}]})");
    CHECK(job["/jobs/0/mtbf_s"] == "did you mean 'mean_failure_interval_s'?");
    CHECK(job["/jobs/0/mtbf_h"] == "did you mean 'mean_failure_interval_s'? Here: 7200");
    CHECK(job["/jobs/0/runtime"] == "did you mean 'execution_time_s'?");
    CHECK(job["/jobs/0/runtime_h"] == "did you mean 'execution_time_s'? Here: 3600");
    CHECK(job["/jobs/0/checkpoint_cost"] == "did you mean 'checkpoint_overhead_s'?");
    CHECK(job["/jobs/0/restart_time_min"] == "did you mean 'restart_s'? Here: 120");
    auto log = hints("/v1/simulations", R"({"kind":"queue","processors":4,"jobs":[
        {"id":"a","submit_s":0,"run_time_s":5,"cpus":4}]})");
    CHECK(log["/jobs/0/cpus"] == "in a pool it is 'processors'");
}

TEST_CASE("what newcomers write: what is meant", "[hints][api]")
{
    const struct {
        const char *path, *body, *pointer, *hint;
    } cases[] = {
        {"/v1/placements", R"({"jobs": [{"id": "j", "depends_on": ["a"]}]})",
         "/jobs/0/depends_on",
         "did you mean 'after': [{\"job_id\": ...}]? With data that goes from one to the "
         "other they are tasks of POST /v1/workflow-schedules"},
        {"/v1/placements",
         R"({"jobs": [{"id": "j", "deadline": "2026-12-01T00:00:00Z"}]})",
         "/jobs/0/deadline", "did you mean 'deadline_at'?"},
        {"/v1/simulations",
         R"({"kind": "cluster", "cluster": {"resources": [{"id": "n", "count": 4}]}})",
         "/cluster/resources/0/count", "did you mean 'number'?"},
        {"/v1/simulations",
         R"({"kind": "cluster", "jobs": [{"execution_time_s": 5, "submit_s": 0}]})",
         "/jobs/0/submit_s", "did you mean 'arrival_s'?"},
        {"/v1/placements", R"({"jobs": [{"id": "j", "deadline": 60}]})",
         "/jobs/0/deadline", "did you mean 'deadline_s'?"},
        {"/v1/placements", R"({"snapshot": {"resources": [{"id": "n", "load": 0.75}]}})",
         "/snapshot/resources/0/load",
         "'cpu_available_ratio' is what is free of a processor, not what is used; here: "
         "0.25"},
        {"/v1/placements", R"({"snapshot": {"resources": [{"id": "n", "load": 300}]}})",
         "/snapshot/resources/0/load",
         "'cpu_available_ratio' is what is free of a processor, not what is used"},
        {"/v1/load-samples", R"({"cpu_used_pct": 0.5})", "/cpu_used_pct",
         "'cpu_available_ratio' is what is free of a processor, not what is used; here: "
         "0.995"},
        {"/v1/load-samples", R"({"cpu": 0.5})", "/cpu",
         "did you mean 'cpu_available_ratio'?"},
        {"/v1/load-samples", R"({"timestamp": 5})", "/timestamp",
         "did you mean 'observed_at'?"},
        {"/v1/executions", R"({"job_id": "j"})", "/job_id",
         "did you mean 'execution_id'?"},
        {"/v1/executions", R"({"start_time": 5})", "/start_time",
         "did you mean 'started_at'?"},
        {"/v1/failures", R"({"node": "n"})", "/node", "did you mean 'resource_id'?"},
        {"/v1/failures", R"({"time": 5})", "/time", "did you mean 'down_at'?"},
        {"/v1/checkpoint-intervals", R"({"mtbf_h": 2})", "/mtbf_h",
         "it belongs into 'jobs': [{\"mean_failure_interval_s\": ...}]"},
        // no letter wrong in mttr_s, which is of a repair
        {"/v1/replica-counts", R"({"jobs": [{"id": "j", "mtbf_s": 9}]})",
         "/jobs/0/mtbf_s", "known here: "},
        {"/v1/placements", R"({"jobs": [{"id": "j", "allowed": ["n"]}]})",
         "/jobs/0/allowed", "did you mean 'requirement'?"},
        {"/v1/snapshots", R"({"id": "lab"})", "/id",
         "a stored one is named by 'snapshot_id' in a decision; to store it, its name "
         "stands "
         "in the path, PUT /v1/snapshots/NAME, or in the query, ?id=NAME"},
        {"/v1/replica-counts", R"({"jobs": [{"id": "j", "estimate_ref_s": 9}]})",
         "/jobs/0/estimate_ref_s", "did you mean 'execution_time_s'?"},
        {"/v1/simulations", R"({"policies": ["fcfs"], "processors": 4, "zzz": 1})",
         "/policies", "say \"kind\": \"queue\"; without it this is 'grid'"},
        {"/v1/simulations", R"({"policies": ["fcfs"], "processors": 4, "zzz": 1})",
         "/zzz", "known here: "},
        {"/v1/simulations", R"({"kind": "grid", "policies": ["fcfs"]})", "/policies",
         "known here: "},
        {"/v1/simulations", R"({"stop": {"policies": ["fcfs"]}})", "/stop/policies",
         "known here: "},
        {"/v1/placements",
         R"({"snapshot": {"resources": []}, "jobs": [], "algorithm": "HEFT"})",
         "/algorithm", "'heft' belongs to POST /v1/workflow-schedules"},
        {"/v1/placements",
         R"({"snapshot": {"resources": []}, "jobs": [], "algorithm": "Min-Min"})",
         "/algorithm", "did you mean 'min_min'?"},
        {"/v1/queue-orders", R"({"processors": 4, "jobs": [], "algorithm": "Backfill"})",
         "/algorithm", "did you mean 'easy'?"},
    };
    api a;

    for (auto &c : cases) {
        api_reply reply = a.post(c.path, c.body);
        INFO(c.path << " " << c.body << "\n" << reply.body);
        CHECK(reply.status == 422);
        std::string hint = "no such mistake";
        const nlohmann::json answer = reply.json();
        for (auto &e : answer["errors"])
            if (e.value("pointer", "") == c.pointer)
                hint = e.value("hint", "");
        if (std::string(c.hint) == "known here: ")
            hint = hint.substr(0, strlen(c.hint));
        CHECK(hint == c.hint);
    }
    const std::map<std::string, std::string> paths = {
        {"/v1/jobs", "/v1/placements"},
        {"/v1/job/7", ""},
        {"/schedule", "/v1/workflow-schedules"},
        {"/v1/Workflows", "/v1/workflow-schedules"},
        {"/v1/policies", "GET /v1/algorithms"},
        {"/v1/placement", "/v1/placements"},
    };
    const std::map<std::string, std::string> queries = {
        {"/v1/failures?limit=10", "did you mean 'page_size'?"},
        {"/v1/failures?cursor=x", "did you mean 'page_token'?"},
        {"/v1/failures?since=2026-01-01", "did you mean 'from'?"},
        {"/v1/failures?end=2026-01-01", "did you mean 'to'?"},
    };
    for (auto &[path, meant] : queries) {
        api_reply reply = a.get(path);
        INFO(path << "\n" << reply.body);
        CHECK(reply.status == 422);
        CHECK(reply.json()["errors"][0].value("hint", "") == meant);
    }
    CHECK(a.call("POST", "/v1/workflow-schedules?speed=1", "<adag/>",
                 {{"content_type", "application/xml"}})
              .json()["errors"][0]["hint"] == "did you mean 'speeds'?");
    CHECK(a.get("/v1/placements").json()["errors"][0].value("hint", "") ==
          "POST /v1/placements");
    for (auto &[path, meant] : paths) {
        api_reply reply = a.post(path, "{}");
        INFO(path << "\n" << reply.body);
        CHECK(reply.status == 404);
        CHECK(reply.json()["errors"][0].value("hint", "") == meant);
    }
}

TEST_CASE("a list where an object belongs: into the member that it is about",
          "[hints][api]")
{
    api a;
    const struct {
        const char *body, *pointer, *member;
    } cases[] = {
        {R"({"snapshot": [{"id": "n"}], "jobs": []})", "/snapshot", "resources"},
        {R"({"snapshot": [], "jobs": []})", "/snapshot", "resources"},
        {"[]", "", "jobs"},
    };
    for (auto &c : cases) {
        INFO(c.body);
        nlohmann::json mistake = a.post("/v1/placements", c.body).json()["errors"][0];
        CHECK(mistake["pointer"] == c.pointer);
        CHECK(mistake["hint"] == "a list goes into a member of it: {\"" +
                                     std::string(c.member) + "\": [...]}");
    }
    nlohmann::json mistake = a.post("/v1/workflow-schedules",
                                    R"({"snapshot": {"resources": []}, "workflow": []})")
                                 .json()["errors"][0];
    CHECK(mistake["hint"] == "a list goes into a member of it: {\"tasks\": [...]}");
}

TEST_CASE("what newcomers write, and what they are told", "[hints][api]")
{
    const std::string nodes = R"([{"id": "n1", "cpus": 8}])";
    const std::string snapshot = R"("snapshot": {"resources": )" + nodes + "}";
    struct {
        const char *path;
        std::string body;
        const char *pointer, *hint;
    } cases[] = {
        {"/v1/placements",
         "{" + snapshot + R"(, "jobs": [{"job_id": "a", "estimate_s": 1}]})",
         "/jobs/0/job_id", "did you mean 'id'?"},
        {"/v1/workflow-schedules",
         "{" + snapshot +
             R"(, "workflow": {"tasks": [{"task_id": "a", "estimate_s": 1}]}})",
         "/workflow/tasks/0/id",
         "did you mean 'id' by 'task_id'? it is something else here"},
        {"/v1/placements", R"({"nodes": )" + nodes + R"(, "jobs": [{"id": "a"}]})",
         "/nodes", "it belongs into 'snapshot': {\"resources\": ...}"},
        {"/v1/placements",
         "{" + snapshot + R"(, "jobs": [{"id": "a", "requests": {"cpu": "500m"}}]})",
         "/jobs/0/requests",
         "amounts stand here themselves: 'cpus', 'memory_bytes', and in 'needs' those of "
         "a free name"},
        {"/v1/placements",
         "{" + snapshot + R"(, "jobs": [{"id": "a", "resources": {"cpus": 1}}]})",
         "/jobs/0/resources",
         "amounts stand here themselves: 'cpus', 'memory_bytes', and in 'needs' those of "
         "a free name"},
        {"/v1/placements", "{" + snapshot + R"(, "jobs": {"a": {"estimate_s": 1}}})",
         "/jobs", "each element of the list names itself: [{\"id\": \"a\", ...}]"},
        {"/v1/placements", "{" + snapshot + R"(, "jobs": {"id": "a"}})", "/jobs",
         "a list of one stands in brackets: [{...}]"},
        {"/v1/placements",
         "{" + snapshot + R"(, "jobs": [{"id": "a"}], "objective": ["flow_time"]})",
         "/objective/0", "did you mean 'total_flow_s'?"},
        {"/v1/queue-orders",
         R"({"processors": 8, "jobs": [], "algorithm": "conservative_backfill"})",
         "/algorithm", "did you mean 'conservative'?"},
        {"/v1/simulations",
         R"({"kind": "queue", "processors": 8, "jobs": [{"run_time_s": 5,)"
         R"( "estimate_s": 9}]})",
         "/jobs/0/estimate_s", "did you mean 'requested_s'?"},
        {"/v1/failures", R"([{"resource_id": "m", "failed_at": "2026-10-01T10:00:00Z"}])",
         "/0/failed_at", "did you mean 'down_at'?"},
        {"/v1/failures",
         R"([{"resource_id": "m", "down_at": "2026-10-01T10:00:00Z",)"
         R"( "repaired_at": "2026-10-01T11:00:00Z"}])",
         "/0/repaired_at", "did you mean 'up_at'?"},
        {"/v1/selections", R"({"ready": [{"id": "a"}], "cpus": 8})", "/ready",
         "did you mean 'jobs'?"},
        {"/v1/selections", R"({"ready": [{"id": "a"}], "cpus": 8})", "/cpus",
         "amounts of the pool go into 'capacities': {\"cpus\": 8}"},
    };
    api a;

    for (auto &c : cases)
        DYNAMIC_SECTION(c.path << " " << c.pointer)
        {
            api_reply r = a.post(c.path, c.body);
            bool told = false;

            CHECK(r.status == 422);
            INFO(r.body);
            const json errors = r.json().at("errors");
            for (const json &e : errors)
                told = told ||
                       (e.at("pointer") == c.pointer && e.value("hint", "") == c.hint);
            CHECK(told);
        }
}
