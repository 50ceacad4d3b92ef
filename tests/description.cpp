// description.cpp - the part of JSON Schema that the description uses.
#include "tests/description.hpp"

#include "tests/json.hpp"
#include "tests/support.hpp"

#include <cmath>
#include <stdexcept>
#include <unordered_map>
#include <vector>

extern "C" {
#include "handlers/routes.h"
#include "service/openapi.h"
}

using nlohmann::json;

namespace
{

constexpr size_t MISTAKES_MAX = 8;

const json &description()
{
    static const json read = [] {
        test_arena a(size_t{1} << 28);
        text_buffer b{};

        b.arena = a;
        openapi_print(routes(), &b);
        if (b.failed)
            throw std::runtime_error("the description cannot be printed");
        return json::parse(std::string(b.data, b.length));
    }();

    return read;
}

class checker
{
  public:
    std::vector<std::string> mistakes;

    void check(const json &schema, const json &value, const std::string &at)
    {
        if (mistakes.size() >= MISTAKES_MAX)
            return;
        for (const auto &[name, rule] : schema.items())
            apply(name, schema, rule, value, at);
    }

  private:
    void mistake(const std::string &at, const std::string &what)
    {
        if (mistakes.size() < MISTAKES_MAX)
            mistakes.push_back((at.empty() ? "/" : at) + ": " + what);
    }

    static bool is_type(const json &value, const std::string &type)
    {
        if (type == "null")
            return value.is_null();
        if (type == "boolean")
            return value.is_boolean();
        if (type == "string")
            return value.is_string();
        if (type == "array")
            return value.is_array();
        if (type == "object")
            return value.is_object();
        if (type == "number")
            return value.is_number();
        if (type == "integer")
            return value.is_number() &&
                   std::floor(value.get<double>()) == value.get<double>() &&
                   std::fabs(value.get<double>()) <= 9007199254740991.0;
        throw std::runtime_error("the description has an unknown type: " + type);
    }

    static bool fits(const json &schema, const json &value)
    {
        checker c;

        c.check(schema, value, "");
        return c.mistakes.empty();
    }

    void apply(const std::string &name, const json &schema, const json &rule,
               const json &value, const std::string &at)
    {
        if (name == "$ref")
            check(resolve(rule.get<std::string>()), value, at);
        else if (name == "type")
            check_type(rule, value, at);
        else if (name == "enum")
            check_enum(rule, value, at);
        else if (name == "properties" && value.is_object())
            check_properties(rule, value, at);
        else if (name == "required" && value.is_object())
            check_required(rule, value, at);
        else if (name == "additionalProperties" && value.is_object())
            check_additional(schema, rule, value, at);
        else if (name == "items" && value.is_array())
            check_items(rule, value, at);
        else if (name == "allOf")
            for (const json &s : rule)
                check(s, value, at);
        else if (name == "anyOf" || name == "oneOf")
            check_some(name == "oneOf", rule, value, at);
        else if (rule.is_number())
            check_bound(name, rule.get<double>(), value, at);
    }

    static const json &resolve(const std::string &reference)
    {
        static const std::unordered_map<std::string, const json *> schemas = [] {
            std::unordered_map<std::string, const json *> all;

            for (const auto &[name, s] : description()["components"]["schemas"].items())
                all["#/components/schemas/" + name] = &s;
            return all;
        }();
        auto found = schemas.find(reference);

        if (found == schemas.end())
            throw std::runtime_error("a reference to nothing: " + reference);
        return *found->second;
    }

    void check_type(const json &types, const json &value, const std::string &at)
    {
        bool list = types.is_array();

        for (size_t i = 0; i < (list ? types.size() : 1); i++)
            if (is_type(value, (list ? types[i] : types).get<std::string>()))
                return;
        mistake(at, "is no " + types.dump() + ": " + value.dump().substr(0, 120));
    }

    void check_enum(const json &rule, const json &value, const std::string &at)
    {
        for (const json &v : rule)
            if (v == value)
                return;
        mistake(at, "is none of the values: " + value.dump().substr(0, 120));
    }

    void check_properties(const json &rule, const json &value, const std::string &at)
    {
        for (const auto &[name, v] : value.items())
            if (rule.contains(name))
                check(rule[name], v, at + "/" + name);
    }

    void check_required(const json &rule, const json &value, const std::string &at)
    {
        for (const json &name : rule)
            if (!value.contains(name.get<std::string>()))
                mistake(at, "lacks " + name.get<std::string>());
    }

    void check_additional(const json &schema, const json &rule, const json &value,
                          const std::string &at)
    {
        for (const auto &[name, v] : value.items()) {
            if (schema.contains("properties") && schema["properties"].contains(name))
                continue;
            if (rule.is_object())
                check(rule, v, at + "/" + name);
            else if (rule == false)
                mistake(at, "has an unknown member " + name);
        }
    }

    void check_items(const json &rule, const json &value, const std::string &at)
    {
        for (size_t i = 0; i < value.size() && mistakes.size() < MISTAKES_MAX; i++)
            check(rule, value[i], at + "/" + std::to_string(i));
    }

    void check_some(bool exactly_one, const json &rule, const json &value,
                    const std::string &at)
    {
        size_t count = 0;

        for (const json &s : rule)
            count += fits(s, value);
        if (count == 1 || (count > 1 && !exactly_one))
            return;
        mistake(at, "fits " + std::to_string(count) + " of the alternatives");
        if (count == 0)
            explain(rule, value, at);
    }

    // What keeps the value from the alternative that it fits best.
    void explain(const json &rule, const json &value, const std::string &at)
    {
        std::vector<std::string> best(MISTAKES_MAX + 1);

        for (const json &s : rule) {
            checker c;

            c.check(s, value, at);
            if (c.mistakes.size() < best.size())
                best = c.mistakes;
        }
        for (const std::string &m : best)
            if (mistakes.size() < MISTAKES_MAX)
                mistakes.push_back("  nearest: " + m);
    }

    void check_bound(const std::string &name, double bound, const json &value,
                     const std::string &at)
    {
        double v = value.is_number()   ? value.get<double>()
                   : value.is_string() ? code_points(value.get<std::string>())
                                       : static_cast<double>(value.size());
        bool of_length =
            (name == "maxItems" && value.is_array()) ||
            ((name == "minLength" || name == "maxLength") && value.is_string());
        bool of_value = value.is_number();

        if (!of_length && !of_value)
            return;
        if ((name == "minimum" && v < bound) || (name == "maximum" && v > bound) ||
            (name == "exclusiveMinimum" && v <= bound) ||
            (name == "maxItems" && v > bound) || (name == "minLength" && v < bound) ||
            (name == "maxLength" && v > bound))
            mistake(at, "breaks " + name);
    }

    static double code_points(const std::string &text)
    {
        double count = 0;

        for (char c : text)
            count += (c & 0xc0) != 0x80;
        return count;
    }
};

std::vector<std::string> segments(const std::string &path)
{
    std::vector<std::string> parts;
    size_t at = 0;

    while (at < path.size() && path[at] != '?') {
        size_t end = path.find_first_of("/?", at + 1);
        parts.push_back(path.substr(at, end == std::string::npos ? end : end - at));
        at = end == std::string::npos ? path.size() : end;
    }
    return parts;
}

// The operation that a message is of; fixed segments go before {values}. NULL: none.
const json *operation(const std::string &method, const std::string &path)
{
    std::vector<std::string> asked = segments(path);
    const json *best = nullptr;
    size_t best_fixed = 0;
    std::string lower;

    for (const auto &[name, p] : description()["paths"].items()) {
        std::vector<std::string> parts = segments(name);
        size_t fixed = 0, fitting = 0;

        for (size_t i = 0; parts.size() == asked.size() && i < parts.size(); i++) {
            fixed += parts[i] == asked[i];
            fitting += parts[i] == asked[i] || parts[i].substr(0, 2) == "/{";
        }
        if (parts.size() != asked.size() || fitting != parts.size() ||
            (best && fixed <= best_fixed))
            continue;
        best = &p;
        best_fixed = fixed;
    }
    for (char c : method)
        lower += static_cast<char>(c | 0x20);
    return best && best->contains(lower) ? &(*best)[lower] : nullptr;
}

// The schema of an answer; NULL: it has none.
const json *response(const json &operation, int status, const std::string &type)
{
    const json &all = operation["responses"];
    std::string exact = std::to_string(status);
    std::string range = std::to_string(status / 100) + "XX";
    std::string name = all.contains(exact)   ? exact
                       : all.contains(range) ? range
                       : all.contains("200") ? "200"
                                             : "201";
    const json *r = all.contains(name) ? &all[name] : nullptr;

    if (r && r->contains("$ref")) {
        std::string ref = (*r)["$ref"].get<std::string>();
        r = &description()["components"]["responses"][ref.substr(ref.rfind('/') + 1)];
    }
    if (!r || !r->contains("content") || !(*r)["content"].contains(type))
        return nullptr;
    return &(*r)["content"][type]["schema"];
}

std::string verdict(const json &schema, const std::string &body)
{
    checker c;
    std::string all;

    c.check(schema, json::parse(body), "");
    for (const std::string &m : c.mistakes)
        all += (all.empty() ? "" : "\n") + m;
    return all;
}

} // namespace

std::string broken_promises(const std::string &method, const std::string &path,
                            int status, const std::string &content_type,
                            const std::string &body)
{
    std::string type = content_type.substr(0, content_type.find(';'));
    const json *o = operation(method, path);
    const json *schema = o ? response(*o, status, type) : nullptr;

    if (!schema || type.find("json") == std::string::npos || body.empty())
        return "";
    return verdict(*schema, body);
}

std::string request_mistakes(const std::string &method, const std::string &path,
                             const std::string &body)
{
    const json *o = operation(method, path);

    if (!o || !o->contains("requestBody") ||
        !(*o)["requestBody"]["content"].contains("application/json"))
        return "there is no such operation";
    return verdict((*o)["requestBody"]["content"]["application/json"]["schema"], body);
}
