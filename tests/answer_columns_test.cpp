// answer_columns_test.cpp - lists of objects column by column, and back.
#include "tests/examples.hpp"
#include "tests/json.hpp"
#include "tests/support.hpp"

extern "C" {
#include "handlers/pictures/answer_columns.h"
}

namespace
{

struct divided {
    std::string rest, columns;
};

divided divide(const std::string &answer)
{
    test_arena a;
    error err = collecting_error(a);
    const char *rest = nullptr, *columns = nullptr;
    divided d;

    REQUIRE(computed(a, &err, [&] {
                return answer_columns(answer.c_str(), &rest, &columns, a, &err);
            }) == OK);
    d.rest = rest;
    d.columns = columns;
    return d;
}

// The rows of a list, as a client makes them, by the rules of the header.
nlohmann::json rows_of(const nlohmann::json &list)
{
    std::vector<nlohmann::json> rows(list["count"].get<size_t>(),
                                     nlohmann::json::object());
    nlohmann::json out = nlohmann::json::array();

    for (const auto &[name, column] : list["columns"].items()) {
        const nlohmann::json &values = column["values"];
        size_t count = column.contains("at") ? column["at"].size() : rows.size();

        REQUIRE(
            (values.size() == 1 || column.contains("index") || values.size() == count));
        for (size_t k = 0; k < count; k++) {
            size_t row = column.contains("at") ? column["at"][k].get<size_t>() : k;
            size_t which = values.size() == 1         ? 0
                           : column.contains("index") ? column["index"][k].get<size_t>()
                                                      : k;

            rows.at(row)[name] = values[which];
        }
    }
    for (const nlohmann::json &row : rows)
        out.push_back(row);
    return out;
}

} // namespace

TEST_CASE("a list of objects stands column by column", "[answer_columns]")
{
    divided d = divide(R"({"a":1,"jobs":[{"id":"a","on":"m"},)"
                       R"({"id":"b","on":"m","late":true}],"none":[],"texts":["x"]})");

    CHECK(d.rest == R"({"a":1,"none":[],"texts":["x"]})");
    CHECK(d.columns == R"({"jobs":{"count":2,"columns":{"id":{"values":["a","b"]},)"
                       R"("on":{"values":["m"]},"late":{"at":[1],"values":[true]}}}})");
}

TEST_CASE("texts that come often are numbered", "[answer_columns]")
{
    std::string list;

    for (int i = 0; i < 12; i++)
        list += (i ? "," : "") + std::string(R"({"on":"m)") + std::to_string(i % 3) +
                R"(","n":)" + std::to_string(i % 3) + "}";
    CHECK(divide(R"({"jobs":[)" + list + "]}").columns ==
          R"({"jobs":{"count":12,"columns":{"on":{"index":[0,1,2,0,1,2,0,1,2,0,1,2],)"
          R"("values":["m0","m1","m2"]},"n":{"values":[0,1,2,0,1,2,0,1,2,0,1,2]}}}})");
}

TEST_CASE("what does not fit into columns stays", "[answer_columns]")
{
    std::string wide;

    for (int i = 0; i <= ANSWER_COLUMNS_MAX; i++)
        wide += (i ? ",\"m" : "\"m") + std::to_string(i) + "\":1";
    for (const std::string &list :
         {std::string("[]"), std::string("[1,2]"), std::string(R"([{"a":1},2])"),
          std::string(R"([{"a":1},null])"), std::string(R"([{"a":1,"a":2}])"),
          "[{" + wide + "}]"}) {
        INFO(list);
        divided d = divide("{\"list\":" + list + "}");

        CHECK(d.rest == "{\"list\":" + list + "}");
        CHECK(d.columns == "{}");
    }
    CHECK(divide("{}").rest == "{}");
    // Brackets and quotes in texts, values of any kind, spaces between them.
    divided d =
        divide("{ \"l\" : [ { \"t\" : \"}],\\\"{\" , \"o\" : {\"x\": [ 1, {} ]} } , "
               "{ } ] }");
    CHECK(d.rest == "{}");
    CHECK(d.columns == "{\"l\":{\"count\":2,\"columns\":{\"t\":{\"at\":[0],\"values\":"
                       "[\"}],\\\"{\"]},\"o\":{\"at\":[0],\"values\":"
                       "[{\"x\": [ 1, {} ]}]}}}}");
}

TEST_CASE("nothing of an answer is lost in columns", "[answer_columns][property]")
{
    size_t lists = 0;

    for (const auto &file : std::filesystem::directory_iterator(examples_folder())) {
        std::string name = file.path().filename().string();

        if (!name.ends_with(".answer.json"))
            continue;
        INFO(name);
        std::string text = example_file(name);
        nlohmann::json answer = nlohmann::json::parse(text);

        if (!answer.is_object())
            continue;
        divided d = divide(text);
        nlohmann::json again = nlohmann::json::parse(d.rest);
        const nlohmann::json tables = nlohmann::json::parse(d.columns);

        for (const auto &[list, columns] : tables.items()) {
            CHECK_FALSE(again.contains(list));
            again[list] = rows_of(columns);
            lists++;
        }
        CHECK(again == answer);
    }
    CHECK(lists > 300);
}
