// json_value_test.cpp - what the other tests read and compare JSON with.
#include "tests/json.hpp"
#include "tests/support.hpp"

TEST_CASE("what is not JSON is no JSON for tests either", "[json_value]")
{
    const char *const broken[] = {
        "",
        "1 2",
        "01",
        "+1",
        "-",
        "1.",
        ".5",
        "1e",
        "1e999",
        "nul",
        "True",
        "NaN",
        "[1,]",
        "[1 2]",
        "[",
        "{a:1}",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "\"\x01\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"",
        R"({"a":1,"b":{"c":1,"c":2}})",
    };
    for (const char *text : broken) {
        INFO(text);
        CHECK_THROWS(json::parse(text));
    }
    CHECK_THROWS(json::parse(std::string(5000, '[')));
}

TEST_CASE("a JSON value for tests is read and printed without loss", "[json_value]")
{
    const char *const same[] = {
        "null",
        "true",
        "[]",
        "{}",
        "-1",
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        "0.1",
        "100000.0",
        "1e+15",
        "1.7976931348623157e+308",
        "5e-324",
        R"("a\"\\\b\f\n\r\t\u0001/)"
        "\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
        R"({"a":[1,2.5,{"b":null}],"c":""})",
    };
    for (const char *text : same)
        CHECK(json::parse(text).dump() == text);
    CHECK(json::parse(" { \"b\" : [ ] ,\t\"a\":\r\n\"\\u00e9\\ud83d\\ude00\\/\" } ")
              .dump() == "{\"a\":\"\xc3\xa9\xf0\x9f\x98\x80/\",\"b\":[]}");
    CHECK("[1,{\"a\":2}]"_json.dump(2) == "[\n  1,\n  {\n    \"a\": 2\n  }\n]");
    CHECK(json(std::nan("")).dump() == "null");

    rng r = rng_create(1);
    for (int i = 0; i < 2000; i++) {
        double x =
            ldexp(rng_uniform(&r) - 0.5, static_cast<int>(rng_index(&r, 2000)) - 1000);
        if (json::parse(json(x).dump()).get<double>() != x)
            FAIL("not the same: " << json(x).dump());
    }
}

TEST_CASE("JSON values for tests are compared by what they mean", "[json_value]")
{
    CHECK(json(1) == json(1.0));
    CHECK(json(1) == 1u);
    CHECK(json(0.0) == json(-0.0));
    CHECK_FALSE(json(-1) == 18446744073709551615u);
    CHECK(json(-1) < 18446744073709551615u);
    CHECK_FALSE(json(9007199254740992) == 9007199254740993);
    CHECK_FALSE(json(1) == json(true));
    CHECK_FALSE(json("1") == json(1));
    CHECK_FALSE(json() == json(0));
    CHECK_FALSE(json(std::nan("")) == json(std::nan("")));
    CHECK_FALSE(json(std::nan("")) < 1);
    CHECK(R"({"a":1,"b":[2,{"c":3}]})"_json ==
          json({{"b", {2, {{"c", 3}}}}, {"a", 1.0}}));
    CHECK_FALSE("[1,2]"_json == "[2,1]"_json);
    CHECK_FALSE("[1]"_json == "[1,null]"_json);
    CHECK_FALSE(R"({"a":1})"_json == R"({"b":1})"_json);
    CHECK_FALSE(R"({"a":null})"_json == "{}"_json);
    CHECK("[]"_json != "{}"_json);
}

TEST_CASE("JSON values for tests refuse what they are not", "[json_value]")
{
    json j = {{"text", "x"}, {"third", 1.5}, {"big", 300}, {"list", {1, 2}}};
    const json &fixed = j;

    CHECK_THROWS(fixed["missing"]);
    CHECK_THROWS(fixed["list"][2]);
    CHECK_THROWS(j.at("missing"));
    CHECK_THROWS(j["text"].get<double>());
    CHECK_THROWS(j["text"]["a"]);
    CHECK_THROWS(j["third"].get<int>());
    CHECK_THROWS(j["third"].get<std::string>());
    CHECK_THROWS(j["big"].get<uint8_t>());
    CHECK_THROWS(json(-1).get<size_t>());
    CHECK_THROWS(json(1).get<bool>());
    CHECK_THROWS(j["text"].push_back(1));
    CHECK(j.size() == 4);
}

TEST_CASE("a JSON value for tests changes in place", "[json_value]")
{
    json j;

    j["/a/0/b~1c"_json_pointer] = 1;
    j["a"].push_back("x");
    CHECK(j == R"({"a":[{"b/c":1},"x"]})"_json);
    CHECK(j.at("/a/1"_json_pointer) == "x");
    CHECK(j.contains("/a/1"_json_pointer));
    CHECK_FALSE(j.contains("/a/2"_json_pointer));
    j.merge_patch(R"({"a":null,"n":{"x":null,"y":[null]}})"_json);
    CHECK(j == R"({"n":{"y":[null]}})"_json);
    j.update({{"n", 2}, {"m", 3}});
    CHECK(j.erase("n") == 1);
    CHECK(j.erase("n") == 0);
    CHECK(j.value("m", 0.0) == 3);
    CHECK(j.value("n", "none") == "none");
    json list = std::vector<double>{1, 2, 3};
    list.erase(1);
    for (json &x : list)
        x = x.get<double>() * 2;
    CHECK(list.get<std::vector<int>>() == std::vector<int>{2, 6});
    for (auto &[name, value] : j.items())
        value = name;
    CHECK(j.find("m") != j.end());
    CHECK(j.find("n") == j.end());
    CHECK(j.find("m").key() == *j.find("m"));
}
