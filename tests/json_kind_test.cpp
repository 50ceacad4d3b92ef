// json_kind_test.cpp - objects of several kinds, told apart by one member, or by a second
// one that implies it.
#include "tests/json.hpp"
#include "tests/support.hpp"

extern "C" {
#include "service/json.h"
}

using nlohmann::json;

namespace
{

struct apple {
    int kind;
    const char *policy;
    double mass_kg;
};
struct pear {
    int kind;
    const char *policy;
    double length_m;
};
struct fruit {
    json_of_kind of;
};

const char *const apple_names[] = {"apple", nullptr};
const char *const pear_names[] = {"pear", nullptr};

json_field member(const char *name, json_type type, size_t offset,
                  const char *const *choices = nullptr)
{
    json_field f{};
    f.name = name;
    f.doc = "a member";
    f.type = type;
    f.offset = offset;
    f.choices = choices;
    f.max = type == JSON_TYPE_TEXT ? 100 : JSON_LARGEST;
    return f;
}

const json_object *fruit_table()
{
    static const json_field apples[] = {
        member("kind", JSON_TYPE_CHOICE, offsetof(apple, kind), apple_names),
        member("policy", JSON_TYPE_TEXT, offsetof(apple, policy)),
        member("mass_kg", JSON_TYPE_NUMBER, offsetof(apple, mass_kg)),
        {},
    };
    static const json_field pears[] = {
        member("kind", JSON_TYPE_CHOICE, offsetof(pear, kind), pear_names),
        member("policy", JSON_TYPE_TEXT, offsetof(pear, policy)),
        member("length_m", JSON_TYPE_NUMBER, offsetof(pear, length_m)),
        {},
    };
    static const json_object apple_table = {"Apple", "An apple", sizeof(apple), apples};
    static const json_object pear_table = {"Pear", "A pear", sizeof(pear), pears};
    static const json_kind kinds[] = {{"apple", &apple_table}, {"pear", &pear_table}, {}};
    static const json_hint hints[] = {
        {"conference", "pear"}, {"williams", "pear"}, {"boskoop", "apple"}, {}};
    static json_field rows[2];
    static const json_object table = {"Fruit", "A fruit", sizeof(fruit), rows};

    rows[0] = member("kind", JSON_TYPE_KIND, offsetof(fruit, of));
    rows[0].kinds = kinds;
    rows[0].hint_member = "policy";
    rows[0].hints = hints;
    return &table;
}

// "0" or "1", the kind that was read, or the mistakes.
std::string kind_of(const std::string &text)
{
    test_arena a;
    error err = collecting_error(a);
    fruit f{};
    std::string out;

    if (json_read(fruit_table(), text.data(), text.size(), &f, nullptr, a, &err) == OK)
        return std::to_string(f.of.kind);
    for (const error_item *e = err.first; e; e = e->next)
        out += (out.empty() ? "" : ", ") + std::string(e->pointer) + " " +
               item_kinds[e->code].name;
    return out;
}

} // namespace

TEST_CASE("the member says the kind, else the second member, else the first is meant",
          "[json]")
{
    CHECK(kind_of(R"({})") == "0");
    CHECK(kind_of(R"({"kind":"pear"})") == "1");
    CHECK(kind_of(R"({"policy":"williams"})") == "1");
    CHECK(kind_of(R"({"length_m":1,"policy":"conference"})") == "1");
    CHECK(kind_of(R"({"policy":"boskoop"})") == "0");
    CHECK(kind_of(R"({"policy":"Williams"})") == "0"); // case counts
    CHECK(kind_of(R"({"policy":"other","mass_kg":1})") == "0");
    CHECK(kind_of(R"({"policy":"williams","kind":"apple"})") == "0");
    CHECK(kind_of(R"({"policy":"boskoop","kind":"pear"})") == "1");
}

TEST_CASE("what does not fit the kind is refused", "[json]")
{
    CHECK(kind_of(R"({"kind":"plum","policy":"williams"})") == "/kind not_a_choice");
    CHECK(kind_of(R"({"kind":7,"policy":"williams"})") == "/kind wrong_type");
    CHECK(kind_of(R"({"kind":null,"policy":"williams"})") == "/kind wrong_type");
    CHECK(kind_of(R"({"policy":"williams","mass_kg":1})") == "/mass_kg unknown_member");
    CHECK(kind_of(R"({"policy":7})") == "/policy wrong_type");
    CHECK(kind_of(R"({"policy":["williams"],"length_m":1})") ==
          "/policy wrong_type, /length_m unknown_member");
    CHECK(kind_of(R"([1])") == " wrong_type");
}
