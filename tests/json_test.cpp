// json_test.cpp - JSON by tables: what is refused, and how numbers come back.
#include "tests/support.hpp"

extern "C" {
#include "service/json.h"
#include "service/json_patch.h"
}

namespace
{
struct point {
    double x_s;
    uint64_t count;
    bool flag;
    const char *name;
    int colour;
    double seen_at_s;
    const double *list;
    size_t list_count;
    const char *const *tags;
    size_t tag_count;
    const named_value *values;
    size_t value_count;
    const char *raw;
};

const char *const colours[] = {"red", "green", nullptr};

json_field row(const char *name, json_type type, size_t offset, unsigned flags = 0)
{
    json_field f{};
    f.name = name;
    f.doc = "doc";
    f.type = type;
    f.offset = offset;
    f.flags = flags;
    f.min = 0;
    f.max = 1000;
    return f;
}

const json_object *point_table()
{
    static json_field rows[12];
    static json_object table{"Point", "a point", sizeof(point), rows};
    rows[0] = row("x_s", JSON_TYPE_NUMBER, offsetof(point, x_s), JSON_REQUIRED);
    rows[1] = row("count", JSON_TYPE_INTEGER, offsetof(point, count));
    rows[1].preset = 7;
    rows[2] = row("flag", JSON_TYPE_BOOLEAN, offsetof(point, flag));
    rows[3] = row("name", JSON_TYPE_TEXT, offsetof(point, name), JSON_NULLABLE);
    rows[4] = row("colour", JSON_TYPE_CHOICE, offsetof(point, colour));
    rows[4].choices = colours;
    rows[5] = row("seen_at", JSON_TYPE_INSTANT, offsetof(point, seen_at_s));
    rows[5].preset = NAN;
    rows[6] = row("list", JSON_TYPE_NUMBERS, offsetof(point, list), JSON_NULLABLE);
    rows[6].count_offset = offsetof(point, list_count);
    rows[7] = row("tags", JSON_TYPE_TEXTS, offsetof(point, tags));
    rows[7].count_offset = offsetof(point, tag_count);
    rows[7].max = 2;
    rows[8] = row("values", JSON_TYPE_VALUES, offsetof(point, values));
    rows[8].count_offset = offsetof(point, value_count);
    rows[9] = row("raw", JSON_TYPE_RAW, offsetof(point, raw), JSON_OPTIONAL);
    rows[10] = json_field{};
    return &table;
}

// A body so large that its tree does not stay.
std::string large_point()
{
    return R"({"x_s":1,"name":"kept","tags":["also","this"],"values":{"k":"v"},"list":[)" +
           std::string(600000 / 2, ' ') + "1," + std::string(1 << 20, ' ') + "2]}";
}

struct outcome {
    error_code code;
    std::string text;
    std::vector<std::string> pointers;
};

outcome read_point(const std::string &text, point *out = nullptr)
{
    static test_arena a;
    point p;
    error err = collecting_error(a);
    outcome o{};
    o.code = json_read(point_table(), text.data(), text.size(), out ? out : &p, nullptr,
                       a, &err);
    o.text = err.text;
    for (error_item *i = err.first; i; i = i->next)
        o.pointers.push_back(std::string(i->pointer) + " " + item_kinds[i->code].name);
    return o;
}

std::string print_number(double d)
{
    test_arena a;
    text_buffer b{};
    b.arena = a;
    json_print_number(d, &b);
    return b.data;
}
} // namespace

TEST_CASE("a body is bound member by member", "[json]")
{
    point p;
    REQUIRE(read_point(R"( {"x_s":1.5e2,"flag":true,"name":"\u00e9\n","colour":"green",
        "seen_at":"2026-01-31T12:00:00.5+01:00","list":[1,null,3],"tags":["a","b"],
        "values":{"arch":"i686","mhz":2400,"smp":false},"raw":{"k":[1,{"z":null}]}} )",
                       &p)
                .code == OK);
    CHECK(p.x_s == 150);
    CHECK(p.count == 7);
    CHECK(p.flag);
    CHECK(std::string(p.name) == "\xc3\xa9\n");
    CHECK(p.colour == 1);
    CHECK(p.seen_at_s == Approx(1769857200.5).epsilon(1e-15));
    REQUIRE(p.list_count == 3);
    CHECK(std::isnan(p.list[1]));
    CHECK(p.tag_count == 2);
    REQUIRE(p.value_count == 3);
    CHECK(std::string(p.values[0].text) == "i686");
    CHECK(p.values[1].number == 2400);
    CHECK(p.values[2].type == VALUE_BOOLEAN);
    CHECK(std::string(p.raw) == R"({"k":[1,{"z":null}]})");
}

// Numbers that are no short decimals have seventeen digits, rounded as printf rounds.
TEST_CASE("a computed number is printed as %.17g prints it", "[json]")
{
    std::mt19937_64 random(7);
    auto check = [](double number) {
        char text[40];
        std::string printed = print_number(number);
        CHECK(strtod(printed.c_str(), nullptr) == number);
        if (printed.size() - printed.find('.') <= 10)
            return; // up to nine decimals that read back the same
        snprintf(text, sizeof(text), "%.17g", number);
        CHECK(printed == text);
    };

    for (int i = 0; i < 100000; i++) {
        double power = -3 + 15 * std::generate_canonical<double, 53>(random);
        double number = std::pow(10, power);
        check(i % 2 ? number : -number);
    }
    // half way between two numbers of seventeen digits: to the even one
    for (int i = 0; i < 20000; i++)
        check(1e10 + (double)(random() % 90000000000) +
              (double)(2 * (random() % 64) + 1) / 128);
    for (double end : {1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e5, 1e10, 1e11, 1e12})
        for (double number : {end, std::nextafter(end, 0), std::nextafter(end, 1e300),
                              std::nextafter(std::nextafter(end, 0), 0)})
            check(number);
}

TEST_CASE("all mistakes are found at once, each with its pointer", "[json]")
{
    outcome o = read_point(
        R"({"count":-1,"flag":1,"nmae":"x","colour":"blue","seen_at":"tomorrow",
        "list":[1,"2",2000],"tags":["a","b","c"],"values":{"a/b~":[]},"count":2})");
    CHECK(o.code == ERR_INVALID);
    CHECK(o.pointers ==
          std::vector<std::string>{
              "/count out_of_bounds", "/flag wrong_type", "/nmae unknown_member",
              "/colour not_a_choice", "/seen_at not_an_instant", "/list/1 wrong_type",
              "/list/2 out_of_bounds", "/tags too_long", "/values/a~1b~0 wrong_type",
              "/count duplicate", "/x_s required"});
}

TEST_CASE("text that is not JSON is malformed", "[json]")
{
    const std::string bad[] = {
        "",
        "{",
        "{}x",
        "{\"x_s\":1}{}",
        "{\"x_s\":01}",
        "{\"x_s\":1.}",
        "{\"x_s\":.5}",
        "{\"x_s\":+1}",
        "{\"x_s\":0x10}",
        "{\"x_s\":NaN}",
        "{\"x_s\":Infinity}",
        "{\"x_s\":1,}",
        "{'x_s':1}",
        "{\"name\":\"a\\u0000b\",\"x_s\":1}",
        "{\"name\":\"a\\q\",\"x_s\":1}",
        "{\"name\":\"\xff\",\"x_s\":1}",
        "{\"name\":\"\xc0\x80\",\"x_s\":1}",
        "{\"name\":\"\xed\xa0\x80\",\"x_s\":1}",
        "{\"name\":\"\\ud800\",\"x_s\":1}",
        "{\"name\":\"a\nb\",\"x_s\":1}",
        std::string("{\"x_s\":1}\0", 10),
        std::string("\x01{\"x_s\":1}"),
        std::string(1000000, '['),
        std::string(40, '[') + std::string(40, ']'),
    };
    for (const std::string &text : bad) {
        INFO(text.substr(0, 60));
        CHECK(read_point(text).code == ERR_MALFORMED);
    }
}

TEST_CASE("numbers beyond a double and beyond 2^53 are refused", "[json]")
{
    CHECK(read_point(R"({"x_s":1e999})").pointers ==
          std::vector<std::string>{"/x_s out_of_bounds"});
    CHECK(read_point(
              R"({"x_s":1,"values":{"a":1e309},"raw":{"k":[1,{"z":-1e999}],"l":1e400}})")
              .pointers == std::vector<std::string>{"/values/a out_of_bounds",
                                                    "/raw/k/1/z out_of_bounds",
                                                    "/raw/l out_of_bounds"});
    CHECK(read_point(R"({"x_s":1,"count":9007199254740993})").code == ERR_INVALID);
    CHECK(read_point(R"({"x_s":1,"count":1.5})").pointers ==
          std::vector<std::string>{"/count not_an_integer"});
}

TEST_CASE("numbers of a row that is whole have no fraction", "[json]")
{
    json_field rows[3] = {
        row("x_s", JSON_TYPE_NUMBER, offsetof(point, x_s), JSON_WHOLE | JSON_NULLABLE),
        row("list", JSON_TYPE_NUMBERS, offsetof(point, list), JSON_WHOLE)};
    const json_object table = {"Whole", "whole numbers", sizeof(point), rows};
    rows[0].preset = NAN;
    rows[1].count_offset = offsetof(point, list_count);

    struct {
        const char *text, *pointers;
    } cases[] = {
        {R"({"x_s":2,"list":[0,1,1000]})", ""},
        {R"({"x_s":2.0,"list":[1e2]})", ""},
        {R"({"x_s":null})", ""},
        {R"({})", ""},
        {R"({"x_s":0.5,"list":[1,1.5,-0.25,2]})",
         "/x_s not_an_integer /list/1 not_an_integer /list/2 out_of_bounds "},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            test_arena a;
            error err = collecting_error(a);
            point p;
            std::string found;

            json_read(&table, c.text, strlen(c.text), &p, nullptr, a, &err);
            for (const error_item *i = err.first; i; i = i->next)
                found += std::string(i->pointer) + " " + item_kinds[i->code].name + " ";
            CHECK(found == c.pointers);
        }
}

TEST_CASE("a malformed body says where", "[json]")
{
    CHECK(read_point("{\"x_s\":1,\n \"name\":\"\t\"}").text.find("line 2, column 10") !=
          std::string::npos);
}

TEST_CASE("numbers print so that they read back the same", "[json]")
{
    CHECK(print_number(0.1) == "0.1");
    CHECK(print_number(1.0 / 3) == "0.33333333333333331");
    CHECK(print_number(-1234.000001) == "-1234.000001");
    CHECK(print_number(1e-6) == "0.000001");
    CHECK(print_number(1e15) == "1000000000000000");
    CHECK(print_number(5e-324) == "4.94065645841247e-324");
    CHECK(print_number(1e21) == "1e+21");
    CHECK(print_number(-3) == "-3");
    CHECK(print_number(-0.0) == "0");
    CHECK(print_number(NAN) == "null");
    CHECK(print_number(HUGE_VAL) == "null");
    rng r = rng_create(7);
    for (int i = 0; i < 20000; i++) {
        double decimal = (double)(int64_t)(rng_next(&r) >> (i % 50)) / 1e6;
        CHECK(strtod(print_number(decimal).c_str(), nullptr) == decimal);
        CHECK(strtod(print_number(-decimal).c_str(), nullptr) == -decimal);
        uint64_t bits = rng_next(&r);
        double d;
        memcpy(&d, &bits, sizeof(d));
        if (!std::isfinite(d))
            continue;
        CHECK(strtod(print_number(d).c_str(), nullptr) == d);
    }
}

TEST_CASE("instants are read and printed", "[json]")
{
    struct {
        const char *text;
        double at_s;
    } good[] = {{"1970-01-01T00:00:00Z", 0},
                {"2000-02-29t12:00:00z", 951825600},
                {"1969-12-31T23:59:59.25Z", -0.75},
                {"2026-11-21T00:00:00+05:30", 1795199400}};
    for (auto &c : good) {
        double at_s = NAN;
        INFO(c.text);
        REQUIRE(instant_read(c.text, &at_s));
        CHECK(at_s == Approx(c.at_s).margin(1e-9));
    }
    const char *bad[] = {"",
                         "2026-02-30T00:00:00Z",
                         "2026-01-01",
                         "2026-01-01T25:00:00Z",
                         "2026-01-01T00:00:00",
                         "0000-01-01T00:00:00Z",
                         "0001-01-01T00:00:00+01:00",
                         "2026-01-01T00:00:00Zx",
                         "2026-01-01T00:00:00.Z"};
    for (const char *text : bad) {
        double at_s;
        INFO(text);
        CHECK_FALSE(instant_read(text, &at_s));
    }
    char buffer[48];
    CHECK(std::string(instant_print(951825600, buffer, sizeof(buffer))) ==
          "2000-02-29T12:00:00Z");
    CHECK(std::string(instant_print(-53895456000, buffer, sizeof(buffer))) ==
          "0262-02-14T00:00:00Z");
    CHECK(std::string(instant_print(2e12, buffer, sizeof(buffer))).empty());
    CHECK(std::string(instant_print(-0.75, buffer, sizeof(buffer))) ==
          "1969-12-31T23:59:59.250000Z");
}

TEST_CASE("NDJSON: good lines are read, bad ones are named", "[json]")
{
    test_arena a;
    error err = collecting_error(a);
    json_lines lines{};
    std::string text =
        "{\"x_s\":1,\"name\":\"a\"}\r\n\n{\"x_s\":\"2\"}\n[]\n{\n{\"x_s\":3}";
    REQUIRE(json_read_lines(point_table(), text.data(), text.size(), &lines, nullptr, a,
                            &err) == OK);
    const point *p = static_cast<const point *>(lines.items);
    REQUIRE(lines.count == 2);
    CHECK(std::string(p[0].name) == "a");
    CHECK(p[1].x_s == 3);
    CHECK(lines.line[0] == 1);
    CHECK(lines.line[1] == 6);
    CHECK(lines.refused_count == 3);
    CHECK(std::string(lines.refused->pointer) == "/x_s");
    CHECK(lines.refused->line == 3);
    CHECK(lines.refused->next->line == 4);
}

TEST_CASE("query parameters are bound like members", "[json]")
{
    test_arena a;
    error err = collecting_error(a);
    point p;
    query_pair good[] = {
        {"x_s", "1.5"}, {"name", "12"}, {"flag", "true"}, {"colour", "green"}};
    REQUIRE(json_read_query(point_table(), good, 4, &p, nullptr, a, &err) == OK);
    CHECK(p.x_s == 1.5);
    CHECK(std::string(p.name) == "12");
    CHECK(p.flag);
    query_pair bad[] = {{"x_s", "1x"}, {"flag", "yes"}, {"x_s", "2"}, {"nam", ""}};
    CHECK(json_read_query(point_table(), bad, 4, &p, nullptr, a, &err) == ERR_INVALID);
    CHECK(err.item_count == 4);
    CHECK(std::string(err.first->pointer) == "?/x_s");
}

TEST_CASE("merge patch follows RFC 7396", "[json]")
{
    struct {
        const char *target, *patch, *want;
    } cases[] = {
        {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
        {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
        {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
        {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
        {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
        {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
        {R"({"a":"foo"})", R"("bar")", R"("bar")"},
        {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
        {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
    };
    for (auto &c : cases) {
        test_arena a;
        error err = collecting_error(a);
        const char *merged = nullptr;
        INFO(c.target << " + " << c.patch);
        REQUIRE(json_merge_patch(c.target, c.patch, &merged, a, &err) == OK);
        CHECK(std::string(merged) == c.want);
    }
}

TEST_CASE("numbers of any JSON keep every bit", "[json][property]")
{
    rng r = rng_create(7);
    for (int i = 0; i < 2000; i++) {
        test_arena a;
        error err = collecting_error(a);
        double number = 1.8e9 + rng_uniform(&r); // cJSON prints 1 in 4 of these otherwise
        char text[64];
        const char *member = nullptr, *merged = nullptr;
        snprintf(text, sizeof(text), "{\"a\":[%.17g,null,true,\"\\n\"]}", number);
        REQUIRE(json_member(text, "a", &member, a, &err) == OK);
        REQUIRE(strtod(member + 1, nullptr) == number);
        CHECK(std::string(strchr(member, ',')) == ",null,true,\"\\u000a\"]");
        REQUIRE(json_merge_patch(text, R"({"b":{}})", &merged, a, &err) == OK);
        REQUIRE(strtod(merged + 6, nullptr) == number);
    }
}

TEST_CASE("reading fails cleanly at every memory cap", "[json][memory]")
{
    const std::string text =
        R"({"x_s":1,"name":"n","list":[1,2,3],"tags":["a"],"values":{"a":1},"raw":[1,2]})";
    for (size_t cap = 0;; cap += 64) {
        test_arena a(cap);
        error err = collecting_error(a);
        point p;
        error_code code =
            json_read(point_table(), text.data(), text.size(), &p, nullptr, a, &err);
        if (code == OK)
            break;
        REQUIRE(code == ERR_TOO_LARGE);
        REQUIRE(cap < 100000);
    }
}

TEST_CASE("a large text leaves no tree behind", "[json]")
{
    test_arena a;
    point p;
    error err = collecting_error(a);
    std::string text = large_point();
    REQUIRE(json_read(point_table(), text.data(), text.size(), &p, nullptr, a, &err) ==
            OK);
    std::fill(text.begin(), text.end(), 'x');
    CHECK(std::string(p.name) == "kept");
    REQUIRE(p.tag_count == 2);
    CHECK(std::string(p.tags[1]) == "this");
    REQUIRE(p.value_count == 1);
    CHECK(std::string(p.values[0].text) == "v");
    REQUIRE(p.list_count == 2);
    CHECK(p.list[1] == 2);
    text = large_point() + "!";
    CHECK(json_read(point_table(), text.data(), text.size(), &p, nullptr, a, &err) ==
          ERR_MALFORMED);
    // The tree counts while it is there.
    arena *tight = arena_create(4096);
    std::string many = R"({"x_s":1,"list":[)";
    for (int i = 0; i < 600000; i++)
        many += i ? ",1" : "1";
    many += "]}";
    error full = collecting_error(a);
    CHECK(json_read(point_table(), many.data(), many.size(), &p, nullptr, tight, &full) ==
          ERR_TOO_LARGE);
    CHECK(arena_cap_bytes(tight) == 4096);
    arena_close(tight);
}
