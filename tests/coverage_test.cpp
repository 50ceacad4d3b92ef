// coverage_test.cpp - nothing is described that no test and no example has.
#include "tests/examples.hpp"
#include "tests/members_support.hpp"

#include <map>
#include <set>

extern "C" {
#include "service/openapi.h"
}

using nlohmann::json;

namespace
{

using words = std::set<std::string>;

words words_of(const std::string &text)
{
    words found;
    std::string word;

    for (char c : text + ' ')
        if (isalnum((unsigned char)c) || c == '_') {
            word += c;
        } else if (!word.empty()) {
            found.insert(word);
            word.clear();
        }
    return found;
}

bool ends_with(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The words of every test file but this one, and of every example.
const std::vector<words> &covering()
{
    static const std::vector<words> read = [] {
        std::vector<words> list;

        for (const auto &entry :
             std::filesystem::directory_iterator(GRIDPLAN_SOURCE_DIR "/tests")) {
            std::string name = entry.path().filename().string();

            if (name != "coverage_test.cpp" && ends_with(name, "_test.cpp"))
                list.push_back(words_of(members::file_text(entry.path().string())));
        }
        for (const example &e : examples())
            if (e.row) // not what is wrong in requests that are refused
                list.push_back(words_of(e.body));
        return list;
    }();

    REQUIRE(read.size() > 200);
    return read;
}

void collect_references(const json &value, words &names)
{
    if (value.is_object())
        for (const auto &[name, content] : value.items())
            if (name == "$ref") {
                std::string text = content;
                names.insert(text.substr(text.rfind('/') + 1));
            } else {
                collect_references(content, names);
            }
    else if (value.is_array())
        for (const json &element : value)
            collect_references(element, names);
}

// Members of requests, with the schemas that have them.
std::map<std::string, words> request_members()
{
    test_arena a(size_t{1} << 28);
    text_buffer b{};
    words todo, done;
    std::map<std::string, words> found;

    b.arena = a;
    openapi_print(routes(), &b);
    REQUIRE_FALSE(b.failed);
    const json description = json::parse(std::string(b.data, b.length));
    for (const auto &[path, methods] : description["paths"].items())
        for (const auto &[method, operation] : methods.items())
            if (operation.is_object() && operation.contains("requestBody"))
                collect_references(operation["requestBody"], todo);
    while (!todo.empty()) {
        std::string name = *todo.begin();
        const json &schema = description["components"]["schemas"][name];
        words next;

        todo.erase(todo.begin());
        if (!done.insert(name).second)
            continue;
        if (schema.contains("properties"))
            for (const auto &[member, type] : schema["properties"].items())
                found[member].insert(name);
        collect_references(schema, next);
        todo.insert(next.begin(), next.end());
    }
    return found;
}

bool any_has(const std::string &name)
{
    for (const words &file : covering())
        if (file.count(name))
            return true;
    return false;
}

// A file with the option and the name of one of the family's policies that take it.
bool any_has(const std::string &option, const words &policies)
{
    for (const words &file : covering())
        if (file.count(option))
            for (const std::string &policy : policies)
                if (file.count(policy))
                    return true;
    return false;
}

} // namespace

TEST_CASE("every member of a request is in a test or an example", "[coverage]")
{
    const std::map<std::string, words> members = request_members();
    std::string missing;

    CHECK(members.size() > 600);
    for (const auto &[member, schemas] : members)
        if (!any_has(member))
            for (const std::string &schema : schemas)
                missing += schema + "." + member + "\n";
    CHECK(missing == "");
}

TEST_CASE("every option of a family is in a test or an example of it", "[coverage]")
{
    api service;
    std::map<std::pair<std::string, std::string>, words> options;
    std::string missing;

    const json list = service.get("/v1/algorithms").json()["items"];
    for (const json &algorithm : list)
        for (const json &option : algorithm["options"])
            options[{algorithm["family"], option["name"]}].insert(algorithm["name"]);
    CHECK(options.size() > 200);
    for (const auto &[option, policies] : options) {
        if (!any_has(option.second, policies))
            missing += option.first + ": " + option.second + "\n";
    }
    CHECK(missing == "");
}
