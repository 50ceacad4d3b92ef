// json_patch_test.cpp - changes of a document by merge patches and by elements' ids.
#include "tests/support.hpp"

extern "C" {
#include "service/json_patch.h"
}

namespace
{
const json_instead instead[] = {{"end_s", "end_at"}, {}};
const json_keyed_list rows[] = {{"rows_by_id", "rows", nullptr, instead}, {}};
const json_keyed_list lists[] = {{"things_by_id", "things", rows, nullptr},
                                 {"rows_by_id", "rows", nullptr, instead},
                                 {}};

struct outcome {
    error_code code;
    std::string text;     // what came out
    std::string mistakes; // "POINTER CODE" of each
};

struct patching {
    test_arena a;
    error err = collecting_error(a);
    json_patched patched{};

    outcome result(error_code code)
    {
        outcome o{code, code == OK && patched.text ? patched.text : "", ""};
        for (const error_item *i = err.first; i; i = i->next)
            o.mistakes += (i == err.first ? "" : "; ") + std::string(i->pointer) + " " +
                          item_kinds[i->code].name;
        return o;
    }
    outcome merge(const char *target, const char *patch)
    {
        return result(json_patch(target, patch, lists, &patched, a, &err));
    }
    outcome change(const char *target, const char *id, json_element_change how,
                   const char *body, bool *found)
    {
        return result(json_change_element(target, &lists[0], id, how, body, found,
                                          &patched, a, &err));
    }
};

const char *const two =
    R"({"things":[{"id":"a","n":1,"rows":[{"id":"x","end_s":5},{"id":"y"}]},{"id":"b"}],"rows":[]})";
} // namespace

TEST_CASE("a patch changes single elements of lists by their ids", "[json]")
{
    struct {
        const char *target, *patch, *want;
    } cases[] = {
        {two, "{}", two},
        {two, R"({"things_by_id":{}})", two},
        {two, R"({"things_by_id":{"a":null}})", R"({"things":[{"id":"b"}],"rows":[]})"},
        {two, R"({"things_by_id":{"c":null}})", two},
        {R"({"things":[{"id":"a","n":1,"m":2},{"id":"b"}]})",
         R"({"things_by_id":{"d":{"n":4},"b":{"n":3},"a":{"n":null},"c":{"id":"c","o":{"p":null,"q":1}}}})",
         R"({"things":[{"id":"a","m":2},{"id":"b","n":3},{"id":"d","n":4},{"id":"c","o":{"q":1}}]})"},
        {"{}", R"({"things_by_id":{"a":{}}})", R"({"things":[{"id":"a"}]})"},
        {R"({"things":[{"id":"a"}]})",
         R"({"things_by_id":{"a":{"rows_by_id":{"x":{"n":1}}}}})",
         R"({"things":[{"id":"a","rows":[{"id":"x","n":1}]}]})"},
        {two,
         R"({"things_by_id":{"a":{"rows_by_id":{"x":{"end_at":"2026-01-01T00:00:00Z"},"y":null}}},"rows_by_id":{"z":{}}})",
         R"({"things":[{"id":"a","n":1,"rows":[{"id":"x","end_at":"2026-01-01T00:00:00Z"}]},{"id":"b"}],"rows":[{"id":"z"}]})"},
        {R"({"rows":[{"id":"x","end_s":5}]})", R"({"rows_by_id":{"x":{"end_at":null}}})",
         R"({"rows":[{"id":"x"}]})"},
        {R"({"rows":[{"id":"x","end_s":5}]})", R"({"rows_by_id":{"x":{"end_s":null}}})",
         R"({"rows":[{"id":"x"}]})"},
        {R"({"rows":[{"id":"x","end_s":5}]})", R"({"rows_by_id":{"x":{"n":1}}})",
         R"({"rows":[{"id":"x","end_s":5,"n":1}]})"},
        {R"({"rows":[]})", R"({"rows_by_id":{"a/b~c":{}}})",
         R"({"rows":[{"id":"a/b~c"}]})"},
        {R"({"rows":[{"n":1},{"id":"x"}]})", R"({"rows_by_id":{"":null,"x":null}})",
         R"({"rows":[{"n":1}]})"},
        {two, R"({"things":[{"id":"z"}]})", R"({"rows":[],"things":[{"id":"z"}]})"},
        {R"({"o":{"a":1}})", R"({"o":{"things_by_id":{"a":1}}})",
         R"({"o":{"a":1,"things_by_id":{"a":1}}})"}, // no list of `o`
        {"1", "{\"a\":null}", "{}"},
        {"{}", "[1]", "[1]"},
    };
    for (const auto &c : cases) {
        patching p;
        INFO(c.target << " + " << c.patch);
        outcome o = p.merge(c.target, c.patch);
        CHECK(o.code == OK);
        CHECK(o.text == c.want);
    }
}

TEST_CASE("what a patch by ids may not say has its place in the patch", "[json]")
{
    struct {
        const char *patch, *want;
    } cases[] = {
        {R"({"things_by_id":[]})", "/things_by_id wrong_type"},
        {R"({"things_by_id":null})", "/things_by_id wrong_type"},
        {R"({"things_by_id":{"a":1,"b":[]}})",
         "/things_by_id/a wrong_type; /things_by_id/b wrong_type"},
        {R"({"things":[],"things_by_id":{}})", "/things_by_id conflict"},
        {R"({"things_by_id":{"a/~":{"id":"b"}}})", "/things_by_id/a~1~0/id conflict"},
        {R"({"things_by_id":{"a":{"id":null}}})", "/things_by_id/a/id conflict"},
        {R"({"things_by_id":{"a":{},"a":{}}})", "/things_by_id/a duplicate"},
        {R"({"things_by_id":{"a":{"n":{"m":1,"m":2}}}})",
         "/things_by_id/a/n/m duplicate"},
        {R"({"rows_by_id":{"x":{"end_s":1}}})", "/rows_by_id/x/end_s not_allowed"},
        {R"({"rows":[{"id":"x"},{"end_s":1}]})", "/rows/1/end_s not_allowed"},
        {R"({"things":[{"id":"a","rows":[{"end_s":1}]}]})",
         "/things/0/rows/0/end_s not_allowed"},
        {R"({"things_by_id":{"a":{"rows":[{"end_s":1}]}}})",
         "/things_by_id/a/rows/0/end_s not_allowed"},
        {R"({"things_by_id":{"a":{"rows_by_id":{"x":{"end_s":1}}}}})",
         "/things_by_id/a/rows_by_id/x/end_s not_allowed"},
        {R"({"things_by_id":{"a":{"n":1e309,"m":[1,-1e999]}},"n":1e400})",
         "/things_by_id/a/n out_of_bounds; /things_by_id/a/m/1 out_of_bounds; "
         "/n out_of_bounds"},
    };
    for (const auto &c : cases) {
        patching p;
        INFO(c.patch);
        outcome o = p.merge(two, c.patch);
        CHECK(o.code == ERR_INVALID);
        CHECK(o.mistakes == c.want);
    }
}

TEST_CASE("mistakes of the changed document are found in the patch", "[json]")
{
    patching p;
    REQUIRE(p.merge(two, R"({"things_by_id":{"b":{"n":1},"a":{"rows_by_id":{"y":{"n":2},)"
                         R"("new/":{}}},"c":{"rows":[{"id":"q"}]}},"rows":[{"id":"r"}]})")
                .code == OK);
    struct {
        const char *in_document, *in_patch;
    } cases[] = {
        {"", ""},
        {"/things", "/things_by_id"},
        {"/things/0", "/things_by_id/a"},
        {"/things/0/rows", "/things_by_id/a/rows_by_id"},
        {"/things/0/rows/0/n", "/things_by_id/a/rows/0/n"}, // x: as it was
        {"/things/0/rows/1/n", "/things_by_id/a/rows_by_id/y/n"},
        {"/things/0/rows/2/n", "/things_by_id/a/rows_by_id/new~1/n"},
        {"/things/1/n/0", "/things_by_id/b/n/0"},
        {"/things/2/rows/0/n", "/things_by_id/c/rows/0/n"},
        {"/things/9/n", "/things/9/n"},
        {"/rows/0/n", "/rows/0/n"},
        {"/other", "/other"},
        {"/thingsome/0", "/thingsome/0"},
        {"/things/x", "/things/x"},
    };
    for (const auto &c : cases) {
        INFO(c.in_document);
        CHECK(std::string(json_patch_pointer(&p.patched, c.in_document, p.a)) ==
              c.in_patch);
    }
}

TEST_CASE("an element is changed, replaced and taken out", "[json]")
{
    const char *small = R"({"n":0,"things":[{"id":"a","n":1},{"id":"b"}]})";
    struct {
        const char *id;
        json_element_change change;
        const char *body;
        bool found;
        const char *want; // "": nothing was done
    } cases[] = {
        {"a", JSON_ELEMENT_MERGE, R"({"m":2})", true,
         R"({"n":0,"things":[{"id":"a","n":1,"m":2},{"id":"b"}]})"},
        {"a", JSON_ELEMENT_REPLACE, R"({"m":2})", true,
         R"({"n":0,"things":[{"m":2,"id":"a"},{"id":"b"}]})"},
        {"c", JSON_ELEMENT_REPLACE, R"({"id":"c","m":2})", false,
         R"({"n":0,"things":[{"id":"a","n":1},{"id":"b"},{"id":"c","m":2}]})"},
        {"a", JSON_ELEMENT_REMOVE, nullptr, true, R"({"n":0,"things":[{"id":"b"}]})"},
        {"c", JSON_ELEMENT_REMOVE, nullptr, false, ""},
        {"c", JSON_ELEMENT_MERGE, "{}", false, ""},
    };
    for (const auto &c : cases) {
        patching p;
        bool found = !c.found;
        INFO(c.id << " " << c.change);
        outcome o = p.change(small, c.id, c.change, c.body, &found);
        CHECK(o.code == OK);
        CHECK(found == c.found);
        CHECK(o.text == c.want);
    }
    struct {
        const char *body, *want;
    } wrong[] = {
        {"[]", " wrong_type"},
        {"null", " wrong_type"},
        {R"({"id":"b"})", "/id conflict"},
        {R"({"n":1,"n":2})", "/n duplicate"},
        {R"({"n":1e309})", "/n out_of_bounds"},
        {R"({"rows":[{"id":"x","end_s":1}]})", "/rows/0/end_s not_allowed"},
        {R"({"rows_by_id":{"x":{"end_s":1}}})", "/rows_by_id/x/end_s not_allowed"},
    };
    for (const auto &c : wrong)
        for (json_element_change how : {JSON_ELEMENT_MERGE, JSON_ELEMENT_REPLACE}) {
            patching p;
            bool found;
            INFO(c.body);
            CHECK(p.change(small, "a", how, c.body, &found).mistakes == c.want);
        }
    patching p;
    bool found;
    const char *text = "";
    REQUIRE(p.change(two, "b", JSON_ELEMENT_MERGE, R"({"rows_by_id":{"k":{}}})", &found)
                .code == OK);
    CHECK(std::string(json_patch_pointer(&p.patched, "/things/1/rows/0/n", p.a)) ==
          "/rows_by_id/k/n");
    CHECK(std::string(json_patch_pointer(&p.patched, "/things/0/n", p.a)) ==
          "/things/0/n");
    REQUIRE(json_element(two, &lists[0], "b", &text, p.a, &p.err) == OK);
    CHECK(std::string(text) == R"({"id":"b"})");
    REQUIRE(json_element(two, &lists[0], "c", &text, p.a, &p.err) == OK);
    CHECK(text == nullptr);
}

TEST_CASE("twenty thousand elements are changed by id at once", "[json]")
{
    std::string target = "{\"things\":[", patch = "{\"things_by_id\":{", want = target;
    for (int i = 0; i < 20000; i++) {
        std::string comma = i ? "," : "", id = std::to_string(i);
        target += comma + "{\"id\":\"" + id + "\"}";
        patch += comma + "\"" + id + "\":{\"n\":" + id + "}";
        want += comma + "{\"id\":\"" + id + "\",\"n\":" + id + "}";
    }
    patching p;
    outcome o = p.merge((target + "]}").c_str(), (patch + "}}").c_str());
    CHECK(o.code == OK);
    CHECK(o.text == want + "]}");
}
