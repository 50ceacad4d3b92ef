// openapi_test.cpp - what the description promises follows from the tables' flags.
#include "tests/api.hpp"

#include <set>

extern "C" {
#include "service/openapi.h"
}

using nlohmann::json;

namespace
{

struct made {
    double mean;
    uint64_t count;
    int state;
    const char *text;
};

const char *const states[] = {"up", "down", nullptr};

json_field row(const char *name, json_type type, size_t offset, unsigned flags)
{
    json_field f{};

    f.name = name;
    f.doc = "null: none";
    f.type = type;
    f.offset = offset;
    f.flags = flags;
    f.choices = type == JSON_TYPE_CHOICE ? states : nullptr;
    return f;
}

// One row of each type, all with these flags.
struct table {
    json_field rows[5];
    json_object object;

    explicit table(unsigned flags)
        : rows{row("mean", JSON_TYPE_NUMBER, offsetof(made, mean), flags),
               row("count", JSON_TYPE_INTEGER, offsetof(made, count), flags),
               row("state", JSON_TYPE_CHOICE, offsetof(made, state), flags),
               row("text", JSON_TYPE_TEXT, offsetof(made, text), flags), json_field{}},
          object{"Made", "For this test", sizeof(made), rows}
    {
    }
};

std::string printed(unsigned flags, const made &value)
{
    test_arena a;
    text_buffer b{};
    table t(flags);

    b.arena = a;
    json_print(&t.object, &value, &b);
    return std::string(b.data, b.length);
}

json described(const json_object *request, const json_object *response)
{
    test_arena a;
    text_buffer b{};
    route list[2] = {};

    b.arena = a;
    list[0].method = "POST";
    list[0].path = "/v1/made";
    list[0].summary = list[0].doc = "For this test";
    list[0].request = request;
    list[0].response = response;
    openapi_print(list, &b);
    REQUIRE_FALSE(b.failed);
    return json::parse(std::string(b.data, b.length))["components"]["schemas"];
}

// Every row of every table that this one reaches.
void walk(const json_object *t, std::set<const json_object *> &seen)
{
    if (!t || !seen.insert(t).second)
        return;
    for (const json_field *f = t->fields; f->type != JSON_END; f++) {
        walk(f->of, seen);
        for (const json_kind *k = f->kinds; k && k->name; k++)
            walk(k->of, seen);
    }
}

} // namespace

TEST_CASE("what has no value is null or left out, by its flag", "[json]")
{
    const made nothing = {NAN, JSON_NO_INTEGER, -1, nullptr};
    const made all = {1.5, 7, 1, "x"};
    const uint64_t before = json_broken_promises();

    CHECK(printed(JSON_MAY_BE_NULL, nothing) ==
          R"({"mean":null,"count":null,"state":null,"text":null})");
    CHECK(printed(JSON_OPTIONAL, nothing) == "{}");
    for (unsigned flags : {0u, (unsigned)JSON_MAY_BE_NULL, (unsigned)JSON_OPTIONAL})
        CHECK(printed(flags, all) ==
              R"({"mean":1.5,"count":7,"state":"down","text":"x"})");
    CHECK(json_broken_promises() == before);
}

TEST_CASE("flags mean one thing in requests and another in answers", "[json]")
{
    table plain(0), nullable(JSON_NULLABLE), optional(JSON_OPTIONAL),
        maybe(JSON_MAY_BE_NULL), required(JSON_REQUIRED);
    json names = {"mean", "count", "state", "text"};

    json s = described(nullptr, &plain.object)["Made"];
    CHECK(s["required"] == names);
    CHECK(s["properties"]["mean"]["type"] == "number");
    CHECK_FALSE(s.contains("additionalProperties"));

    s = described(nullptr, &maybe.object)["Made"];
    CHECK(s["required"] == names);
    CHECK(s["properties"]["count"]["type"] == json({"integer", "null"}));
    CHECK(s["properties"]["state"]["enum"] == json({"up", "down", nullptr}));

    s = described(nullptr, &optional.object)["Made"];
    CHECK_FALSE(s.contains("required"));
    CHECK(s["properties"]["text"]["type"] == "string");

    s = described(&nullable.object, nullptr)["Made"];
    CHECK(s["additionalProperties"] == false);
    CHECK_FALSE(s.contains("required"));
    CHECK(s["properties"]["mean"]["type"] == json({"number", "null"}));

    s = described(&required.object, &required.object);
    CHECK(s["MadeInput"]["required"] == names);
    CHECK(s["MadeInput"]["additionalProperties"] == false);
    CHECK(s["Made"]["required"] == names);
    CHECK_FALSE(s["Made"].contains("additionalProperties"));
}

TEST_CASE("no row is optional and null at once", "[json]")
{
    std::set<const json_object *> tables;

    for (const route *r = routes(); r->method; r++)
        walk(r->response, tables);
    CHECK(tables.size() > 100);
    for (const json_object *t : tables)
        for (const json_field *f = t->fields; f->type != JSON_END; f++) {
            INFO(t->name << "." << f->name);
            CHECK_FALSE(((f->flags & JSON_OPTIONAL) && (f->flags & JSON_MAY_BE_NULL)));
        }
}
