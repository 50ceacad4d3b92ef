// description.cpp - the part of JSON Schema that the description uses.
#include "tests/description.hpp"

#include "tests/json.hpp"
#include "tests/support.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <vector>

extern "C" {
#include "handlers/routes.h"
#include "models/base/warning_codes.h"
#include "models/fitted/core.h"
#include "models/performance/performance.h"
#include "models/progress/progress.h"
#include "service/json.h"
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
        for (const auto &[name, rule] : schema.items()) {
            if (!is_keyword(name))
                throw std::runtime_error("the description has an unknown keyword: " +
                                         name);
            apply(name, schema, rule, value, at);
        }
    }

    static bool fits(const json &schema, const json &value)
    {
        checker c;

        c.check(schema, value, "");
        return c.mistakes.empty();
    }

  private:
    void mistake(const std::string &at, const std::string &what)
    {
        if (mistakes.size() < MISTAKES_MAX)
            mistakes.push_back((at.empty() ? "/" : at) + ": " + what);
    }

    // What apply() looks at, and what says nothing about a value.
    static bool is_keyword(const std::string &name)
    {
        static const std::unordered_set<std::string> known = {
            "$ref",     "type",      "enum",           "properties",
            "required", "items",     "allOf",          "anyOf",
            "oneOf",    "minimum",   "maximum",        "exclusiveMinimum",
            "maxItems", "minLength", "maxLength",      "additionalProperties",
            "format",   "const",     "discriminator",  "description",
            "default",  "minItems",  "x-known-values", "x-gridplan-setting",
            "not"};

        return known.count(name) != 0;
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

    void apply(const std::string &name, const json &schema, const json &rule,
               const json &value, const std::string &at)
    {
        if (name == "$ref")
            check(resolve(rule.get<std::string>()), value, at);
        else if (name == "type")
            check_type(rule, value, at);
        else if (name == "enum")
            check_enum(rule, value, at);
        else if (name == "x-known-values" && value.is_string())
            check_word(rule, value, at);
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
        else if (name == "oneOf" && schema.contains("discriminator"))
            check_kind(schema["discriminator"], value, at);
        else if (name == "anyOf" || name == "oneOf")
            check_some(name == "oneOf", rule, value, at);
        else if (name == "not" && fits(rule, value))
            mistake(at, "is what must not be: " + rule.dump().substr(0, 120));
        else if (name == "const" && rule != value)
            mistake(at, "is not the only value: " + value.dump().substr(0, 120));
        else if (name == "format" && value.is_string())
            check_format(rule.get<std::string>(), value.get<std::string>(), at);
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

    // A list may grow in a later version; what this one prints is in it.
    void check_word(const json &rule, const json &value, const std::string &at)
    {
        for (const json &v : rule)
            if (v == value)
                return;
        mistake(at, "is a word that its list lacks: " + value.dump().substr(0, 120));
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

    // The branch that the property names; a case of openapi_test.cpp sees that the
    // branches exclude each other by it.
    void check_kind(const json &rule, const json &value, const std::string &at)
    {
        std::string name = rule["propertyName"].get<std::string>();

        if (!value.is_object() || !value.contains(name) || !value[name].is_string() ||
            !rule["mapping"].contains(value[name].get<std::string>()))
            mistake(at, "does not say its " + name);
        else
            check(resolve(
                      rule["mapping"][value[name].get<std::string>()].get<std::string>()),
                  value, at);
    }

    void check_format(const std::string &format, const std::string &text,
                      const std::string &at)
    {
        double at_s;

        if (format != "date-time")
            throw std::runtime_error("the description has an unknown format: " + format);
        if (text.size() < 20 || text[10] != 'T' || !instant_read(text.c_str(), &at_s))
            mistake(at, "is no instant: " + text.substr(0, 120));
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
            ((name == "maxItems" || name == "minItems") && value.is_array()) ||
            ((name == "minLength" || name == "maxLength") && value.is_string());
        bool of_value = value.is_number();

        if (!of_length && !of_value)
            return;
        if ((name == "minimum" && v < bound) || (name == "maximum" && v > bound) ||
            (name == "exclusiveMinimum" && v <= bound) ||
            (name == "maxItems" && v > bound) || (name == "minItems" && v < bound) ||
            (name == "minLength" && v < bound) || (name == "maxLength" && v > bound))
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

// Statuses of any path, which stand in no operation.
bool is_general(int status)
{
    return status == 405 || status == 414 || status == 431;
}

const json &component(const json &maybe_reference)
{
    if (!maybe_reference.contains("$ref"))
        return maybe_reference;
    std::string text = maybe_reference["$ref"].get<std::string>(); // #/components/X/NAME
    size_t kind = text.find('/', 2) + 1, name = text.find('/', kind) + 1;

    return description()["components"][text.substr(kind, name - kind - 1)]
                        [text.substr(name)];
}

// Headers of the answer that are described, but not with this status.
std::string stray_headers(const json &response, const header_value &header)
{
    std::string all;

    for (const auto &[name, h] : description()["components"]["headers"].items())
        if (!header(name).empty() &&
            !(response.contains("headers") && response["headers"].contains(name)))
            all +=
                (all.empty() ? "" : "\n") + ("the header " + name) + " is not described";
    return all;
}

// A body that is wrong in one place, mostly: `number` says where and how.
json spoilt(const json &body, size_t number)
{
    json changed = body;
    json *at = &changed;

    for (size_t depth = number % 4; at->is_object() || at->is_array(); depth--) {
        if (at->size() == 0)
            break;
        size_t pick = number / 4 % at->size();
        if (at->is_array()) {
            at = &(*at)[pick];
            continue;
        }
        std::string name;
        for (const auto &[n, v] : at->items())
            if (pick-- == 0)
                name = n;
        if (depth > 0 && ((*at)[name].is_object() || (*at)[name].is_array())) {
            at = &(*at)[name];
            continue;
        }
        switch (number % 5) {
        case 0:
            (*at)[name] = nullptr;
            break;
        case 1:
            (*at)[name] = json::array({name});
            break;
        case 2:
            (*at)[name] = -0.5;
            break;
        case 3:
            (*at)[name] = "no such word";
            break;
        default:
            (*at)[name + "_"] = (*at)[name];
            at->erase(name);
        }
        break;
    }
    return changed;
}

// For tests/ajv/run: each body with its schema and our verdict, and now and then one that
// is spoilt.
void record(const json &schema, const json &body)
{
    static const char *const path = getenv("GRIDPLAN_ANSWERS");
    static std::mutex one_at_a_time;
    static size_t number = 0;

    if (!path)
        return;
    std::lock_guard<std::mutex> guard(one_at_a_time);
    std::ofstream out(path, std::ios::app);
    for (bool spoil : {false, true}) {
        if (spoil && ++number % 8 != 0)
            continue;
        json sent = spoil ? spoilt(body, number / 8) : body;
        checker c;

        c.check(schema, sent, "");
        out << json{{"schema", schema},
                    {"body", sent},
                    {"fits", c.mistakes.empty()},
                    {"spoilt", spoil}}
                   .dump()
            << "\n";
    }
}

std::string verdict(const json &schema, const std::string &body)
{
    checker c;
    std::string all;
    json value = json::parse(body);

    c.check(schema, value, "");
    record(schema, value);
    for (const std::string &m : c.mistakes)
        all += (all.empty() ? "" : "\n") + m;
    return all;
}

// What may stand before the colon of a warning, as GET /v1/errors lists it.
const std::unordered_set<std::string> &warning_codes()
{
    static const std::unordered_set<std::string> codes = [] {
        std::unordered_set<std::string> all = {
#define X(name, meaning) #name,
            WARNING_CODES(X)
#undef X
        };
        for (const char *const *names :
             {perf_warning_names, core_note_names, progress_warning_names})
            for (; *names; names++)
                all.insert(*names);
        return all;
    }();
    return codes;
}

// The first warning at any depth whose code is in no table; "": there is none.
std::string unknown_warning(const json &value)
{
    if (value.is_object() || value.is_array())
        for (const json &inner : value) {
            std::string found = unknown_warning(inner);
            if (!found.empty())
                return found;
        }
    if (!value.is_object() || !value.contains("warnings") ||
        !value["warnings"].is_array())
        return "";
    for (const json &w : value["warnings"]) {
        std::string text = w.is_string() ? w.get<std::string>() : "";
        if (w.is_string() && !warning_codes().count(text.substr(0, text.find(": "))))
            return "a warning without a code of warning_codes.h: " + text;
    }
    return "";
}

} // namespace

std::string broken_promises(const std::string &method, const std::string &path,
                            int status, const header_value &header,
                            const std::string &body)
{
    std::string content_type = header("Content-Type");
    std::string type = content_type.substr(0, content_type.find(';'));
    std::string name = std::to_string(status);
    const json *o = operation(method == "HEAD" ? "GET" : method, path);

    if (!o || is_general(status))
        return "";
    if (!(*o)["responses"].contains(name))
        return "the status " + name + " is not described";
    const json &r = component((*o)["responses"][name]);
    std::string stray = stray_headers(r, header);

    if (body.empty() || !stray.empty())
        return stray;
    if (r.contains("content") && r["content"].contains(type)) {
        if (type.find("json") == std::string::npos)
            return "";
        std::string wrong = verdict(r["content"][type]["schema"], body);
        bool warns = body.find("\"warnings\":[\"") != std::string::npos ||
                     body.find("\"warnings\": [\"") != std::string::npos;
        return wrong.empty() && warns ? unknown_warning(json::parse(body)) : wrong;
    }
    if (status < 300 && o->contains("x-also-answers"))
        for (const json &other : (*o)["x-also-answers"])
            if (other == type)
                return "";
    return "the content type " + type + " is not described with status " + name;
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

bool fits_schema(const std::string &schema, const std::string &value)
{
    return checker::fits(json::parse(schema), json::parse(value));
}
