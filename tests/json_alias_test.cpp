// json_alias_test.cpp - members under former names.
#include "tests/json.hpp"
#include "tests/support.hpp"

extern "C" {
#include "service/json.h"
}

namespace
{

struct run {
    double run_time_s;
    double done_ratio;
    const double *error_ratios;
    std::size_t error_count;
    const char *name;
};
struct walk {
    int kind;
    double run_time_s;
};
struct either {
    json_of_kind of;
};

json_field member(const char *name, json_type type, std::size_t offset,
                  const json_alias *aliases = nullptr)
{
    json_field f{};
    f.name = name;
    f.doc = "A member";
    f.type = type;
    f.offset = offset;
    f.max = 100;
    f.aliases = aliases;
    return f;
}

const json_alias of_time[] = {{"run_s", 0}, {"run_ms", 0.001}, {}};
const json_alias of_done[] = {{"done_pct", 0.01}, {}};
const json_alias of_errors[] = {{"errors_pct", 0.01}, {}};

const json_object *run_table()
{
    static json_field rows[] = {
        member("run_time_s", JSON_TYPE_NUMBER, offsetof(run, run_time_s), of_time),
        member("done_ratio", JSON_TYPE_NUMBER, offsetof(run, done_ratio), of_done),
        member("error_ratios", JSON_TYPE_NUMBERS, offsetof(run, error_ratios), of_errors),
        member("name", JSON_TYPE_TEXT, offsetof(run, name)),
        {}};
    static const json_object table = {"Run", "A run", sizeof(run), rows};

    rows[0].flags = JSON_REQUIRED;
    rows[1].max = rows[2].max = 1;
    rows[2].flags = JSON_NULLABLE;
    rows[2].count_offset = offsetof(run, error_count);
    return &table;
}

const json_object *either_table()
{
    static const char *const walk_names[] = {"walk", nullptr};
    static const char *const stroll_names[] = {"stroll", nullptr};
    static json_field walks[] = {
        member("kind", JSON_TYPE_CHOICE, offsetof(walk, kind)),
        member("run_time_s", JSON_TYPE_NUMBER, offsetof(walk, run_time_s), of_time),
        {}};
    static json_field strolls[] = {walks[0], walks[1], {}};
    static const json_object walk_table = {"Walk", "A walk", sizeof(walk), walks};
    static const json_object stroll_table = {"Stroll", "A stroll", sizeof(walk), strolls};
    static const json_kind kinds[] = {
        {"walk", &walk_table}, {"stroll", &stroll_table}, {}};
    static const json_alias of_kind[] = {{"mode", 0}, {}};
    static json_field rows[] = {
        member("kind", JSON_TYPE_KIND, offsetof(either, of), of_kind), {}};
    static const json_object table = {"Either", "A walk or a stroll", sizeof(either),
                                      rows};

    walks[0].choices = walk_names;
    strolls[0].choices = stroll_names;
    rows[0].kinds = kinds;
    return &table;
}

struct outcome {
    error_code code;
    std::string mistakes; // "POINTER CODE, ..."
    std::string hint;     // of the first
    std::string renames;  // "old>now old>now 3"
};

outcome result(error_code code, const error &err, const json_renames &renames)
{
    outcome o{code, "", "", ""};

    for (const error_item *i = err.first; i; i = i->next)
        o.mistakes += (i == err.first ? "" : ", ") + std::string(i->pointer) + " " +
                      item_kinds[i->code].name;
    if (err.first && err.first->hint)
        o.hint = err.first->hint;
    std::size_t count = 0;
    for (const json_rename *r = renames.first; r; r = r->next, count++)
        o.renames += std::string(r->old) + ">" + r->now + " ";
    CHECK(count == renames.pair_count);
    o.renames += std::to_string(renames.total_count);
    return o;
}

outcome read(const json_object *table, const std::string &text, void *out)
{
    static test_arena a;
    error err = collecting_error(a);
    json_renames renames{};
    error_code code = json_read(table, text.data(), text.size(), out, &renames, a, &err);

    return result(code, err, renames);
}

} // namespace

TEST_CASE("a former name is read as the member, and told", "[json]")
{
    run r{};
    CHECK(read(run_table(), R"({"run_s":7,"name":"a"})", &r).renames ==
          "run_s>run_time_s 1");
    CHECK(r.run_time_s == 7);
    CHECK(read(run_table(), R"({"run_ms":7})", &r).renames == "run_ms>run_time_s 1");
    CHECK(r.run_time_s == 0.007);
    CHECK(read(run_table(), R"({"run_time_s":7})", &r).renames == "0");
    // Nobody asked: stored documents.
    test_arena a;
    error err = collecting_error(a);
    std::string text = R"({"run_s":8})";
    REQUIRE(json_read(run_table(), text.data(), text.size(), &r, nullptr, a, &err) == OK);
    CHECK(r.run_time_s == 8);
}

TEST_CASE("a former unit is converted before the bounds are checked", "[json]")
{
    run r{};
    REQUIRE(
        read(run_table(), R"({"run_s":1,"done_pct":100,"errors_pct":[0,null,35]})", &r)
            .renames == "run_s>run_time_s done_pct>done_ratio "
                        "errors_pct>error_ratios 3");
    CHECK(r.done_ratio == 1);
    REQUIRE(r.error_count == 3);
    CHECK(r.error_ratios[0] == 0);
    CHECK(std::isnan(r.error_ratios[1]));
    CHECK(r.error_ratios[2] == 0.35); // not 0.35000000000000003
    CHECK(read(run_table(), R"({"run_s":1,"done_pct":6.4})", &r).code == OK);
    CHECK(r.done_ratio == 0.064);
    CHECK(read(run_table(), R"({"run_s":1,"done_pct":101})", &r).mistakes ==
          "/done_pct out_of_bounds");
    CHECK(read(run_table(), R"({"run_s":1,"done_ratio":2})", &r).mistakes ==
          "/done_ratio out_of_bounds");
    // The factor ends with its member.
    CHECK(read(run_table(), R"({"done_pct":50,"run_time_s":50})", &r).code == OK);
    CHECK(r.run_time_s == 50);
}

TEST_CASE("a member under two names is refused at both", "[json]")
{
    run r{};
    CHECK(read(run_table(), R"({"run_s":1,"run_time_s":1})", &r).mistakes ==
          "/run_s conflict, /run_time_s conflict");
    CHECK(read(run_table(), R"({"run_time_s":1,"name":"a","run_s":1})", &r).mistakes ==
          "/run_time_s conflict, /run_s conflict");
    CHECK(read(run_table(), R"({"run_ms":1,"run_s":1})", &r).mistakes ==
          "/run_ms conflict, /run_s conflict");
    CHECK(read(run_table(), R"({"run_s":1,"run_s":1})", &r).mistakes ==
          "/run_s duplicate");
    CHECK(read(run_table(), R"({})", &r).mistakes == "/run_time_s required");
}

TEST_CASE("hints know former names", "[json]")
{
    run r{};
    CHECK(read(run_table(), R"({"run_s":1,"donePct":50})", &r).hint ==
          "did you mean 'done_ratio'? Here: 0.5");
    CHECK(read(run_table(), R"({"run_s":1,"done_pctt":50})", &r).hint ==
          "did you mean 'done_ratio'? Here: 0.5");
    CHECK(read(run_table(), R"({"runS":1})", &r).hint ==
          "did you mean 'run_time_s'? (names are snake_case)");
    CHECK(read(run_table(), R"({"run_min":2})", &r).hint ==
          "did you mean 'run_time_s'? Here: 120");
    CHECK(read(run_table(), R"({"quite_another":2})", &r).hint ==
          "known here: done_ratio, error_ratios, name, run_time_s");
}

TEST_CASE("the member that tells the kind may have its former name", "[json]")
{
    either e{};
    CHECK(read(either_table(), R"({"mode":"stroll","run_s":3})", &e).renames ==
          "mode>kind run_s>run_time_s 2");
    CHECK(e.of.kind == 1);
    CHECK(static_cast<const walk *>(e.of.value)->run_time_s == 3);
    CHECK(read(either_table(), R"({"kind":"stroll"})", &e).renames == "0");
    CHECK(e.of.kind == 1);
    CHECK(read(either_table(), R"({"mode":"walk","kind":"walk"})", &e).mistakes ==
          "/kind conflict, /mode conflict");
    CHECK(read(either_table(), R"({"mode":"run"})", &e).mistakes == "/mode not_a_choice");
    CHECK(read(either_table(), R"({"mode":7})", &e).mistakes == "/mode wrong_type");
}

TEST_CASE("elements, lines and parameters have former names too", "[json]")
{
    test_arena a;
    error err = collecting_error(a);
    json_renames renames{};
    json_lines lines{};
    std::string list = R"([{"run_s":1},{"run_s":2},{"run_time_s":3}])";
    REQUIRE(json_read_list(run_table(), list.data(), list.size(), &lines, &renames, a,
                           &err) == OK);
    CHECK(result(OK, err, renames).renames == "run_s>run_time_s 2");
    CHECK(static_cast<const run *>(lines.items)[1].run_time_s == 2);

    std::string ndjson = "{\"run_s\":1}\n{\"run_s\":1,\"run_time_s\":2}\n{\"run_ms\":2}";
    renames = {};
    REQUIRE(json_read_lines(run_table(), ndjson.data(), ndjson.size(), &lines, &renames,
                            a, &err) == OK);
    CHECK(lines.count == 2);
    CHECK(lines.refused_count == 1);
    CHECK(result(OK, err, renames).renames == "run_s>run_time_s run_ms>run_time_s 3");

    run r{};
    query_pair old[] = {{"run_s", "4"}, {"errors_pct", "1,2"}};
    renames = {};
    REQUIRE(json_read_query(run_table(), old, 2, &r, &renames, a, &err) == OK);
    CHECK(r.run_time_s == 4);
    CHECK(r.error_ratios[1] == 0.02);
    CHECK(result(OK, err, renames).renames ==
          "run_s>run_time_s errors_pct>error_ratios 2");
    query_pair both[] = {{"run_s", "4"}, {"run_time_s", "4"}};
    CHECK(json_read_query(run_table(), both, 2, &r, &renames, a, &err) == ERR_INVALID);
    CHECK(result(OK, err, renames).mistakes == "?/run_s conflict, ?/run_time_s conflict");
}
