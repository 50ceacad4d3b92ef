// openapi_test.cpp - what the description promises follows from the tables' flags.
#include "tests/api.hpp"
#include "tests/description.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <vector>

extern "C" {
#include "models/base/policy.h"
#include "service/config.h"
#include "service/json_holds.h"
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

json_field row_of(const char *name, json_type type, size_t offset, double least,
                  double most, double preset, unsigned flags)
{
    json_field f = row(name, type, offset, flags);

    f.min = least;
    f.max = most;
    f.preset = preset;
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

json printed_description()
{
    test_arena a(size_t{1} << 28);
    text_buffer b{};

    b.arena = a;
    openapi_print(routes(), &b);
    REQUIRE_FALSE(b.failed);
    return json::parse(std::string(b.data, b.length));
}

bool allows_null(const json &schema)
{
    if (schema.contains("type")) {
        const json &type = schema["type"];
        bool found = type == "null";

        for (size_t i = 0; type.is_array() && i < type.size(); i++)
            found |= type[i] == "null";
        return found;
    }
    for (const char *name : {"anyOf", "allOf"})
        if (schema.contains(name))
            for (const json &s : schema[name])
                if (allows_null(s))
                    return true;
    return false;
}

// Every table with rows that this one reaches.
void walk(const json_object *t, std::set<const json_object *> &seen)
{
    if (!t || t->fields->type == JSON_END || !seen.insert(t).second)
        return;
    for (const json_field *f = t->fields; f->type != JSON_END; f++) {
        walk(f->of, seen);
        for (const json_kind *k = f->kinds; k && k->name; k++)
            walk(k->of, seen);
    }
}

// The bound of a member in the request schemas that have it, by the schema's name.
std::map<std::string, double> maxima(const json &description, const std::string &member)
{
    std::map<std::string, double> found;

    for (auto &[name, schema] : description["components"]["schemas"].items()) {
        if (!schema.contains("properties") || !schema["properties"].contains(member))
            continue;
        const json &p = schema["properties"][member];
        for (const json &s : {p, p.value("allOf", json::array({p}))[0]})
            if (s.contains("maximum"))
                found[name] = s["maximum"];
    }
    return found;
}

json served_description(double time_limit_max_s, double simulation_time_limit_s)
{
    openapi_document d{};
    openapi_limits limits{time_limit_max_s, simulation_time_limit_s};
    error err{};

    REQUIRE(openapi_document_create(routes(), &limits, &d, &err) == OK);
    json parsed = json::parse(std::string(d.plain.data, d.plain.length));
    openapi_document_close(&d);
    return parsed;
}

} // namespace

TEST_CASE("the description says which time limit is in force", "[json][openapi]")
{
    config defaults{};
    test_arena a;
    const char *nothing[] = {nullptr};
    error err{};
    REQUIRE(config_read(nothing, nothing, &defaults, a, &err) == OK);

    std::map<std::string, double> committed =
        maxima(printed_description(), "time_limit_s");
    CHECK(committed.at("PlacementRequest") == defaults.time_limit_max_s);
    CHECK(committed.at("QueueSimulationRequest") == defaults.simulation_time_limit_s);
    std::map<std::string, double> other =
        maxima(served_description(60, 100), "time_limit_s");
    CHECK(other.at("PlacementRequest") == 60);
    CHECK(other.at("QueueSimulationRequest") == 100);
    CHECK(other.size() == committed.size());
    CHECK(
        maxima(served_description(60, 20), "time_limit_s").at("QueueSimulationRequest") ==
        60);
}

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

TEST_CASE("a boolean may be left out of an answer, which is not false", "[json]")
{
    struct maybe {
        double said;
    } in;
    static json_field rows[2] = {
        row_of("said", JSON_TYPE_BOOLEAN, 0, 0, 0, 0, JSON_MAYBE | JSON_OPTIONAL)};
    static const json_object table = {"Maybe", "For this test", sizeof(maybe), rows};
    auto print = [&](double said) {
        test_arena a;
        text_buffer b{};
        b.arena = a;
        in.said = said;
        json_print(&table, &in, &b);
        return std::string(b.data, b.length);
    };

    CHECK(print(1) == R"({"said":true})");
    CHECK(print(0) == R"({"said":false})");
    CHECK(print(NAN) == "{}");
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

namespace
{
// Rows that exclude, replace and need each other: a and b exclude each other, c must be
// there without them, and d needs a and c.
struct together {
    double a, d;
    const char *b;
    const double *c;
    size_t c_count;
};

const json_object *together_table()
{
    static const char *const b[] = {"b", nullptr}, *const ab[] = {"a", "b", nullptr},
                             *const ac[] = {"a", "c", nullptr};
    static const json_alias older[] = {{"was_a", 0}, {}};
    static json_field rows[5] = {
        row_of("a", JSON_TYPE_NUMBER, offsetof(together, a), 0, 9, 0, 0),
        row_of("b", JSON_TYPE_TEXT, offsetof(together, b), 1, 9, 0, JSON_NULLABLE),
        row_of("c", JSON_TYPE_NUMBERS, offsetof(together, c), 0, 9, 0, 0),
        row_of("d", JSON_TYPE_NUMBER, offsetof(together, d), 0, 9, 0, 0)};
    static const json_object table = {"Together", "For this test", sizeof(together),
                                      rows};

    rows[0].aliases = older;
    rows[0].not_with = b;
    rows[2].count_offset = offsetof(together, c_count);
    rows[2].unless = ab;
    rows[3].with = ac;
    return &table;
}

std::vector<std::string> mistakes_together(const std::string &text)
{
    test_arena a;
    error err = collecting_error(a);
    together out{};
    std::vector<std::string> found;

    json_read(together_table(), text.data(), text.size(), &out, nullptr, a, &err);
    for (const error_item *i = err.first; i; i = i->next)
        found.push_back(std::string(i->pointer) + " " + item_kinds[i->code].name);
    return found;
}

} // namespace

TEST_CASE("rows exclude, replace and need each other as they are described",
          "[json][openapi]")
{
    const std::string schema = described(together_table(), nullptr)["Together"].dump();
    const std::vector<std::string> as = {"", "1"}, bs = {"", "null", "\"x\""},
                                   cs = {"", "[]", "[1]"}, ds = {"", "2"};
    size_t good = 0, bad = 0;

    for (const auto &a : as)
        for (const auto &b : bs)
            for (const auto &c : cs)
                for (const auto &d : ds) {
                    std::string text = "{";
                    for (auto [name, value] : {std::pair{"a", &a}, std::pair{"b", &b},
                                               std::pair{"c", &c}, std::pair{"d", &d}})
                        if (!value->empty())
                            text += std::string(text.size() > 1 ? "," : "") + "\"" +
                                    name + "\":" + *value;
                    text += "}";
                    bool has_a = !a.empty(), has_b = b.size() == 3, has_c = c.size() == 3;
                    bool fits = !(has_a && has_b) && (has_a || has_b || has_c) &&
                                (d.empty() || (has_a && has_c));

                    INFO(text << " " << schema);
                    CHECK(mistakes_together(text).empty() == fits);
                    CHECK(fits_schema(schema, text) == fits);
                    (fits ? good : bad)++;
                }
    CHECK(good > 5);
    CHECK(bad > 5);
    CHECK(mistakes_together(R"({"was_a":1,"b":"x"})") ==
          std::vector<std::string>{"/a conflict"});
    CHECK(mistakes_together(R"({"d":1})") ==
          std::vector<std::string>{"/c required", "/a required", "/c required"});
}

TEST_CASE("each flag stands where it means something", "[json][openapi]")
{
    std::set<const json_object *> asked, answered;

    for (const route *r = routes(); r->method; r++) {
        walk(r->request, asked);
        walk(r->query, asked);
        walk(r->response, answered);
    }
    CHECK(answered.size() > 100);
    for (const json_object *t : answered)
        for (const json_field *f = t->fields; f->type != JSON_END; f++) {
            INFO(t->name << "." << f->name << ": " << f->doc);
            CHECK_FALSE(((f->flags & JSON_OPTIONAL) && (f->flags & JSON_MAY_BE_NULL)));
            if (f->flags & JSON_MAY_BE_NULL)
                CHECK(std::string(f->doc).find("null:") != std::string::npos);
            else if (!(f->flags & JSON_NULLABLE) && f->type != JSON_TYPE_OBJECT)
                CHECK(std::string(f->doc).find("null:") == std::string::npos);
            if (!asked.count(t) && f->type != JSON_TYPE_NUMBERS)
                CHECK_FALSE((f->flags & JSON_NULLABLE));
            if (f->flags & JSON_OPEN)
                CHECK((f->choices && f->choices[0]));
            if (f->words) {
                CHECK(f->type == JSON_TYPE_TEXT);
                CHECK_FALSE(f->choices);
            }
        }
    for (const json_object *t : asked)
        for (const json_field *f = t->fields; f->type != JSON_END; f++)
            for (const char *const *list : {f->not_with, f->unless, f->with})
                for (; list && *list; list++) {
                    INFO(t->name << "." << f->name << ": " << *list);
                    const json_field *g = t->fields;
                    while (g->type != JSON_END && std::string(g->name) != *list)
                        g++;
                    CHECK(g->type != JSON_END);
                    CHECK_FALSE((f->flags & JSON_REQUIRED));
                }
    for (const json_object *t : asked)
        for (const json_field *f = t->fields; f->type != JSON_END; f++) {
            INFO(t->name << "." << f->name << " " << f->preset);
            if (!answered.count(t))
                CHECK_FALSE((f->flags & (JSON_MAY_BE_NULL | JSON_OPEN) || f->words));
            if ((f->type == JSON_TYPE_NUMBER || f->type == JSON_TYPE_INTEGER) &&
                !(f->flags & (JSON_REQUIRED | JSON_BOUND_ONLY)) &&
                std::isfinite(f->preset))
                CHECK((f->preset > f->min ||
                       (f->preset >= f->min && !(f->flags & JSON_ABOVE_MIN))));
        }
}

TEST_CASE("kinds exclude each other by the member that tells them", "[openapi]")
{
    const json all = printed_description();
    const json &schemas = all["components"]["schemas"];
    size_t seen = 0;

    for (const auto &[name, s] : schemas.items()) {
        if (!s.contains("discriminator"))
            continue;
        std::string member = s["discriminator"]["propertyName"];
        std::set<std::string> branches;

        for (const json &b : s["oneOf"])
            branches.insert(b["$ref"].get<std::string>());
        CHECK(branches.size() == s["discriminator"]["mapping"].size());
        for (const auto &[kind, ref] : s["discriminator"]["mapping"].items()) {
            std::string text = ref;
            const json &branch = schemas[text.substr(text.rfind('/') + 1)];
            const json &required = branch["required"];
            json values = branch["properties"][member].contains("allOf")
                              ? branch["properties"][member]["allOf"][0]
                              : branch["properties"][member];

            INFO(name << " " << kind);
            CHECK(branches.count(text) == 1);
            CHECK(values["enum"] == json::array({kind}));
            CHECK(std::find(required.begin(), required.end(), member) != required.end());
        }
        seen++;
    }
    CHECK(seen > 8);
}

TEST_CASE("each operation has a name and a room of its own", "[openapi]")
{
    const json all = printed_description();
    std::set<std::string> ids, tags;

    for (const json &tag : all["tags"])
        CHECK(tags.insert(tag["name"].get<std::string>()).second);
    CHECK(tags.size() == 11);
    for (const auto &[path, methods] : all["paths"].items())
        for (const auto &[method, o] : methods.items()) {
            INFO(method << " " << path);
            CHECK(ids.insert(o["operationId"].get<std::string>()).second);
            REQUIRE(o["tags"].size() == 1);
            CHECK(tags.count(o["tags"][0].get<std::string>()) == 1);
            for (const auto &[status, r] : o["responses"].items())
                CHECK(status.find_first_not_of("0123456789") == std::string::npos);
            CHECK(o["responses"].contains("400"));
            CHECK(o["responses"].contains("503"));
        }
    CHECK(ids.count("getHealth") + ids.count("decidePlacements") +
              ids.count("addLoadSamples") + ids.count("changeSnapshot") ==
          4);
}

TEST_CASE("each operation says its statuses, and each status its headers", "[openapi]")
{
    json d = printed_description();
    auto resolved = [&](const json &response) {
        if (!response.contains("$ref"))
            return response;
        std::string name = response["$ref"].get<std::string>();
        return d["components"]["responses"][name.substr(name.rfind('/') + 1)];
    };

    for (const auto &[path, operations] : d["paths"].items())
        for (const auto &[method, o] : operations.items()) {
            const json &r = o["responses"];
            bool has_key = !o.contains("security") || o["security"].size() > 1;
            bool has_body = o.contains("requestBody");
            std::vector<std::string> wanted{"400", "421", "500", "503"};

            INFO(method << ' ' << path);
            if (has_key && path.compare(0, 4, "/v1/") == 0)
                wanted.insert(wanted.end(), {"401", "403", "429"});
            if (has_body)
                wanted.insert(wanted.end(), {"408", "413", "415", "422"});
            if (!o["parameters"].empty() && path.find('{') != std::string::npos)
                wanted.push_back("404");
            if (method == "post" && path.compare(0, 4, "/v1/") == 0)
                wanted.push_back("409");
            if (o.contains("x-also-answers"))
                wanted.push_back("406");
            for (const std::string &status : wanted) {
                INFO(status);
                CHECK(r.contains(status));
            }
            for (const auto &[status, response] : r.items()) {
                json headers = resolved(response)["headers"];

                INFO(status);
                CHECK(status.find_first_not_of("0123456789") == std::string::npos);
                CHECK(status != "428");
                CHECK(headers.contains("X-Request-Id"));
                if (status == "202" || status == "408" || status == "429" ||
                    status == "503")
                    CHECK(headers.contains("Retry-After"));
                CHECK(headers.contains("WWW-Authenticate") == (status == "401"));
                if (status == "202")
                    CHECK(headers.contains("Location"));
            }
        }
}

TEST_CASE("the description is laid out in lines that can be compared", "[openapi]")
{
    test_arena a(size_t{1} << 28);
    text_buffer b{};
    std::string text, line;

    b.arena = a;
    openapi_print_lines(routes(), &b);
    REQUIRE_FALSE(b.failed);
    text.assign(b.data, b.length);
    CHECK((json::parse(text) == printed_description()));
    std::istringstream in(text);
    size_t longest = 0, count = 0;
    while (std::getline(in, line)) {
        longest = std::max(longest, line.size());
        count++;
    }
    CHECK(longest <= 4200);
    CHECK(count > 5000);
}

TEST_CASE("a default stands inside allOf, and only what means itself is one", "[openapi]")
{
    struct asked {
        double amount, above, marked;
        bool flag;
        int state;
    };
    const json_field rows[] = {
        row_of("amount", JSON_TYPE_NUMBER, offsetof(asked, amount), 0, 10, 1, 0),
        row_of("above", JSON_TYPE_NUMBER, offsetof(asked, above), 0, 10, 0,
               JSON_ABOVE_MIN | JSON_BOUND_ONLY),
        row_of("marked", JSON_TYPE_NUMBER, offsetof(asked, marked), 1, 10, 2,
               JSON_BOUND_ONLY),
        row_of("flag", JSON_TYPE_BOOLEAN, offsetof(asked, flag), 0, 0, 1, 0),
        row_of("state", JSON_TYPE_CHOICE, offsetof(asked, state), 0, 0, 1, JSON_NULLABLE),
        json_field{}};
    const json_object object{"Asked", "For this test", sizeof(asked), rows};
    json p = described(&object, nullptr)["Asked"]["properties"];

    CHECK(p["amount"] == json::parse(R"({"description":"null: none","allOf":[
        {"type":"number","minimum":0,"maximum":10,"default":1}]})"));
    CHECK(p["above"] == json::parse(R"({"description":"null: none",
        "type":"number","exclusiveMinimum":0,"maximum":10})"));
    CHECK_FALSE(p["marked"].contains("allOf"));
    CHECK(p["flag"]["allOf"][0]["default"] == true);
    CHECK(p["state"]["allOf"][0]["default"] == "down");
    CHECK(p["state"]["allOf"][0]["enum"] == json({"up", "down", nullptr}));
}

TEST_CASE("an open list names its words and takes others", "[openapi]")
{
    json_field rows[] = {row("state", JSON_TYPE_CHOICE, offsetof(made, state), JSON_OPEN),
                         row("text", JSON_TYPE_TEXT, offsetof(made, text), JSON_OPEN),
                         json_field{}};
    rows[1].choices = states;
    const json_object object{"Made", "For this test", sizeof(made), rows};
    json p = described(nullptr, &object)["Made"]["properties"];

    for (const char *name : {"state", "text"}) {
        CHECK(p[name]["type"] == "string");
        CHECK(p[name]["x-known-values"] == json({"up", "down"}));
        CHECK_FALSE(p[name].contains("enum"));
    }
}

TEST_CASE("a word of joined tables is named once, and none that is empty", "[openapi]")
{
    static const char *const joined[] = {"", "up", "down", "up", "", "down", nullptr};
    json_field rows[] = {row("text", JSON_TYPE_TEXT, offsetof(made, text), JSON_OPEN),
                         json_field{}};
    const json_object object{"Made", "For this test", sizeof(made), rows};

    rows[0].choices = joined;
    CHECK(described(nullptr, &object)["Made"]["properties"]["text"]["x-known-values"] ==
          json({"up", "down"}));
}

TEST_CASE("what is whole is an integer", "[openapi]")
{
    json s = printed_description()["components"]["schemas"];
    struct {
        const char *schema, *member;
    } cases[] = {
        {"Combination", "f_comp_mask"},
        {"CombinationInput", "f_comp_mask"},
        {"Combination", "f_comm_mask"},
        {"Combination", "f_pcomp_id"},
        {"ModelSample", "processors"},
        {"ModelSample", "version"},
        {"EvaluationLoss", "processors"},
        {"EvaluationConfiguration", "processors"},
        {"PlanModel", "model_version"},
        {"Sizing", "model_version"},
        {"QueueSimulationRow", "number"},
        {"QueueSimulationUnplaced", "number"},
        {"ClusterSimulationRow", "number"},
        {"ParallelSchedule", "model_version"},
        {"CheckpointBasis", "failure_count"},
        {"CheckpointSurvival", "failure_count"},
        {"CheckpointPattern", "dropped_levels"},
        {"FailureStatistics", "kill_count"},
        {"ResourceFailureRate", "kill_count"},
        {"SlurmExecution", "exit_code"},
        {"SlurmExecution", "attempt"},
        {"ModelWindow", "run_count"},
        {"ModelWindow", "version"},
        {"PredictionsAnswer", "rank"},
        {"Prediction", "rank"},
        {"Prediction", "phase_index"},
        {"ProgressApplication", "task_count"},
        {"ProgressKnown", "psi2_task_count"},
        {"PlanInterval", "reschedule_cost_samples"},
        {"SimulationAnswer", "seeds"},
        {"ClusterSimulationAnswer", "seeds"},
        {"WorkloadSummary", "processor_count"},
        {"WorkloadSummary", "most_processors"},
        {"WorkloadOverview", "processors"},
    };

    for (const auto &c : cases) {
        std::string member = s[c.schema]["properties"][c.member].dump();

        INFO(c.schema << ' ' << c.member << ' ' << member);
        CHECK(member.find("\"integer\"") != std::string::npos);
        CHECK(member.find("\"number\"") == std::string::npos);
    }
}

TEST_CASE("a simulation and its result are told apart by kind", "[openapi]")
{
    json s = printed_description()["components"]["schemas"];

    for (const char *schema : {"SimulationInfo", "StoredSimulation"}) {
        CHECK(s[schema]["properties"]["kind"]["enum"] == json({"stored"}));
        CHECK(s[schema]["required"].dump().find("\"kind\"") != std::string::npos);
    }
    for (const auto &[kind, r] :
         s["AnySimulationAnswer"]["discriminator"]["mapping"].items()) {
        INFO(kind << ' ' << r);
        CHECK(kind != "stored");
    }
}

TEST_CASE("words of answers are named", "[openapi]")
{
    json s = printed_description()["components"]["schemas"];
    auto known = [&](const char *schema, const char *member) {
        return s[schema]["properties"][member]["x-known-values"];
    };

    CHECK(known("RoundOption", "remedy") ==
          json({"none", "checkpointing", "replication", "both"}));
    CHECK(known("QueuePreemption", "mode") == json({"requeue", "cancel"}));
    CHECK(known("WorkflowSkip", "reason").size() > 3);
    CHECK(known("FlowAction", "action").size() > 3);
    CHECK(known("PlacementAnswer", "bound_effort") == json({"none", "fast", "full"}));
    CHECK(known("ProvenBound", "kind").size() > 5);
    for (const char *schema : {"ModelInfo", "StoredModel", "PredictionModel"}) {
        CHECK(known(schema, "kind").dump().find("\"linear\"") != std::string::npos);
        CHECK(known(schema, "state") ==
              json({"untrained", "stale", "trained", "ported"}));
    }
    CHECK(known("Algorithm", "family").dump().find("\"scan\"") != std::string::npos);
    CHECK(known("PlanInterval", "reschedule_cost_basis").size() == 4);
    CHECK(known("CheckpointBasis", "prior_scope") == json({"site", "all"}));
    CHECK(known("QueueFailure", "reason") == json({"max_placement_tries", "max_wait_s"}));
    CHECK(known("StoredDecision", "status").size() == 4);
    CHECK(known("SimulationInfo", "status").size() == 6);
    CHECK(known("StoredSimulation", "simulates") == known("SimulationInfo", "simulates"));
    CHECK(known("WorkloadInfo", "format") == json({"swf", "sacct"}));
    CHECK(known("FailureTraceInfo", "format").size() > 1);
    CHECK(known("LaunchPlanBarrier", "type") == json({"none", "duroc"}));
    CHECK(known("RemainingTimeAnswer", "source").size() > 5);
    CHECK(known("ModelVersion", "state") == json({"trained", "ported"}));
    CHECK(known("ModelVersion", "cause") == known("LearnOutcome", "cause"));
    CHECK(known("Prediction", "method").size() > 5);
    for (const char *word : {"\"untrained\"", "\"rank_deficient\"", "\"no_data\""})
        for (const char *schema : {"Prediction", "PredictionReason", "ModelFitReason"}) {
            std::string words = known(schema, "reason").dump();

            CHECK(words.find(word) != std::string::npos);
            CHECK(words.find("\"ok\"") == std::string::npos);
            CHECK(words.find("\"ready\"") == std::string::npos);
        }
    for (const char *schema : {"Reason", "UnselectedJobs", "DroppedCandidates"})
        for (const char *word : {"failed", "too_small", "no_free_now", "partition"}) {
            size_t count = 0;

            for (const json &one : known(schema, "reason"))
                count += one == word;
            INFO(schema << ' ' << word);
            CHECK(count == 1);
        }
}

TEST_CASE("words of answers come from the tables that they are printed from", "[openapi]")
{
    json s = printed_description()["components"]["schemas"];
    struct {
        const char *schema, *member, *word;
        size_t least;
    } cases[] = {
        {"ComponentErrorAnswer", "actions", "restart_job", 2},
        {"CwsTaskOrder", "state", "SCHEDULED", 3},
        {"ClusterSimulationDifference", "metric", "job_wait_s", 5},
        {"ClusterSimulationRow", "reason", "never_fits", 1},
        {"ExperimentPlanReason", "reason", "too_few_processors", 5},
        {"FlowStepAnswer", "queue", "super_high", 4},
        {"Health", "status", "read_only", 7},
        {"Health", "synchronous", "on", 2},
        {"LaunchPlan", "runner", "KRunner", 5},
        {"LaunchPlanAnswer", "pre_phase", "stage_in", 3},
        {"LaunchPlanAnswer", "post_phase", "cleanup", 3},
        {"MachineEffect", "source", "runs", 1},
        {"MigrationStep", "step", "job_manager", 6},
        {"PhaseEndAnswer", "reason", "plan_marker", 7},
        {"PlanReason", "reason", "site_unusable", 1},
        {"ProgressApplication", "policy", "extrapolation", 2},
        {"QueueScanAnswer", "scanned_queue", "low", 4},
        {"QueueSimulationUnplaced", "reason", "never_fits", 10},
        {"QueueStudyResult", "interval_absent", "no_jobs", 2},
        {"QueueUnplacedReason", "reason", "unknown_end", 20},
        {"QueueWait", "slurm_reason", "JobHeldAdmin", 10},
        {"Quota", "policy", "concurrent", 5},
        {"Quota", "scope", "tenant", 3},
        {"Quota", "unit", "cpu-seconds", 5},
        {"RemainingCandidate", "flags", "at_upper_bound", 4},
        {"RemainingTimeAnswer", "flags", "corrected", 4},
        {"RemainingTimeAnswer", "source_reason", "no_fit", 2},
        {"RunTimeBasis", "source", "model", 4},
        {"RunningJobVerdict", "event", "stage_failed", 10},
        {"ServiceInfo", "scopes", "facade", 5},
        {"SlurmAfter", "kind", "notok", 5},
        {"SlurmCensored", "failure_kind", "host", 5},
        {"SlurmExecution", "failure_kind", "time_limit", 5},
        {"SlurmGroup", "policy", "gang", 1},
        {"SlurmJob", "after_mode", "any", 2},
        {"SlurmJob", "held_by", "admin", 2},
        {"SlurmLoss", "what", "reservation_repeats", 5},
        {"SlurmNode", "state", "maint", 5},
        {"SlurmPartition", "sharing", "exclusive", 4},
        {"SlurmPartition", "state", "inactive", 4},
        {"SlurmPriority", "fair_share", "classic", 2},
        {"SlurmPriority", "type", "basic", 2},
        {"SlurmQos", "flags", "no_reserve", 4},
        {"SlurmQos", "preempt_mode", "cancel", 2},
        {"SlurmReservation", "flags", "flex", 5},
        {"SlurmSettings", "preempt_type", "partition_prio", 3},
        {"SlurmSettings", "select", "whole_nodes", 5},
        {"SlurmUnplaced", "reason", "unknown_reservation", 2},
        {"UploadSkip", "reason", "no_run_time", 10},
        {"WhatIf", "change", "raise_capacity", 1},
        {"WorkflowEstimate", "source", "work_integral", 8},
        {"WorkflowImport", "format", "snakemake_d3", 6},
        {"WorkflowPlacement", "remaining_source", "guess", 7},
        {"WorkflowReason", "reason", "after_unplaced", 15},
        {"WorkflowRepair", "kind", "machines", 10},
        {"WorkflowStart", "how", "in_turn", 6},
    };

    for (const auto &c : cases) {
        json member = s[c.schema]["properties"][c.member];
        json words =
            (member.contains("items") ? member["items"] : member)["x-known-values"];
        bool has = false;

        INFO(c.schema << ' ' << c.member << ' ' << words);
        for (const json &word : words) {
            has |= word == c.word;
            CHECK(word != "");
        }
        CHECK(has);
        CHECK(words.size() >= c.least);
    }
}

TEST_CASE("who decided is one of a list of words", "[openapi]")
{
    const json s = printed_description()["components"]["schemas"];
    auto words = [&](const json &member) {
        std::string name = member.value("$ref", "");
        return (name.empty() ? member : s[name.substr(name.rfind('/') + 1)])
            .value("x-known-values", json());
    };
    std::set<const json_object *> asked, answered;
    size_t count = 0;

    for (const route *r = routes(); r->method; r++) {
        walk(r->request, asked);
        walk(r->response, answered);
    }
    for (const json_object *t : answered)
        for (const char *member : {"algorithm", "policy"}) {
            if (asked.count(t) || !s[t->name].contains("properties") ||
                !s[t->name]["properties"].contains(member))
                continue;
            INFO(t->name << ' ' << member);
            CHECK(words(s[t->name]["properties"][member]).size() > 0);
            count++;
        }
    CHECK(count > 50);
    CHECK(words(s["PlacementBestList"]["properties"]["algorithm"]).size() > 10);
    CHECK(s["PlacementPolicy"]["type"] == "string");
    for (const char *word : {"min_min", "search", "mct longest"})
        CHECK(s["PlacementPolicy"]["x-known-values"].dump().find(
                  std::string("\"") + word + "\"") != std::string::npos);
    CHECK(s["QueuePolicy"]["x-known-values"].back() == "slurm_backfill");
    // A stored decision has the word of the answer that it keeps, whatever endpoint's.
    const json any = words(s["StoredDecision"]["properties"]["algorithm"]);
    CHECK(words(s["DecisionInfo"]["properties"]["algorithm"]) == any);
    for (const json_object *t : answered) {
        const json members = s[t->name].value("properties", json::object());
        if (!members.contains("decision_id") || !members.contains("algorithm"))
            continue;
        for (const json &word : words(members["algorithm"])) {
            INFO(t->name << ' ' << word);
            CHECK(std::find(any.begin(), any.end(), word) != any.end());
        }
    }
    CHECK(words(s["SimulationResult"]["properties"]["algorithm"]).back() == "pinned");
    CHECK(words(s["ResourceSizings"]["properties"]["algorithm"]) ==
          json({"ladder", "quantile"}));
}

TEST_CASE("a list of words may be null, and has each word once", "[openapi]")
{
    static policy first[3], second[2]; // the last ones end them
    static const policy *const tables[] = {first, second, nullptr};
    static const char *const others[] = {"up", "away", nullptr};
    static const json_words list{"Way", "Where to", tables, others};
    struct texts {
        const char *text, *other;
    };
    json_field rows[] = {row("text", JSON_TYPE_TEXT, 0, 0),
                         row("other", JSON_TYPE_TEXT, sizeof(char *), JSON_MAY_BE_NULL),
                         json_field{}};
    const json_object object{"Made", "For this test", sizeof(texts), rows};

    first[0].name = "up";
    first[1].name = second[0].name = "down";
    rows[0].words = rows[1].words = &list;
    json s = described(nullptr, &object);
    CHECK(s["Way"]["x-known-values"] == json({"up", "down", "away"}));
    CHECK(s["Made"]["properties"]["text"]["$ref"] == "#/components/schemas/Way");
    CHECK(s["Made"]["properties"]["other"]["anyOf"] ==
          json({{{"$ref", "#/components/schemas/Way"}}, {{"type", "null"}}}));
    s = described(&object, nullptr);
    CHECK(s["Made"]["properties"]["text"]["type"] == "string");
    CHECK_FALSE(s.contains("Way"));
}

TEST_CASE("a word that its list lacks is a mistake to our validator", "[openapi]")
{
    const char *schema = R"({"type":"array","items":{"type":["string","null"],)"
                         R"("x-known-values":["up","down"]}})";

    CHECK(fits_schema(schema, R"(["up",null,"down"])"));
    CHECK_FALSE(fits_schema(schema, R"(["up","sideways"])"));
}

TEST_CASE("texts of a list have their words, of answers only", "[openapi]")
{
    static const char *const words[] = {"up", "down", nullptr};
    struct texts {
        const char *const *list;
        size_t count;
    };
    json_field rows[] = {row("list", JSON_TYPE_TEXTS, 0, JSON_OPEN), json_field{}};
    const json_object object{"Made", "For this test", sizeof(texts), rows};

    rows[0].choices = words;
    rows[0].count_offset = offsetof(texts, count);
    json s = described(&object, &object);
    CHECK(s["Made"]["properties"]["list"]["items"] ==
          json({{"type", "string"}, {"x-known-values", {"up", "down"}}}));
    CHECK(s["MadeInput"]["properties"]["list"]["items"] == json({{"type", "string"}}));
}

TEST_CASE("whole numbers are integers in requests and answers", "[openapi]")
{
    json_field rows[] = {row("mean", JSON_TYPE_NUMBER, offsetof(made, mean),
                             JSON_WHOLE | JSON_NULLABLE | JSON_MAY_BE_NULL),
                         json_field{}};
    const json_object object{"Made", "For this test", sizeof(made), rows};
    json s = described(&object, &object);
    test_arena a;
    text_buffer b{};
    made seven{};

    for (const char *name : {"Made", "MadeInput"})
        CHECK(s[name]["properties"]["mean"]["type"] == json({"integer", "null"}));
    b.arena = a;
    seven.mean = 7;
    json_print(&object, &seven, &b);
    CHECK(std::string(b.data, b.length) == R"({"mean":7})");
}

TEST_CASE("a kept text says what it holds", "[openapi]")
{
    json_field inner_rows[] = {row("mean", JSON_TYPE_NUMBER, offsetof(made, mean), 0),
                               json_field{}};
    const json_object inner{"Inner", "For this test", sizeof(made), inner_rows};
    json_field rows[] = {
        row("any", JSON_TYPE_RAW, offsetof(made, text), 0),
        row("object", JSON_TYPE_RAW, offsetof(made, text), 0),
        row("one", JSON_TYPE_RAW, offsetof(made, text), 0),
        row("null", JSON_TYPE_RAW, offsetof(made, text), JSON_MAY_BE_NULL),
        row("list", JSON_TYPE_RAW, offsetof(made, text), 0),
        json_field{}};
    rows[0].max = rows[1].max = rows[2].max = rows[3].max = 0;
    rows[1].of = &json_any_object;
    rows[2].of = rows[3].of = rows[4].of = &inner;
    rows[4].max = JSON_LIST_MAX;
    const json_object object{"Made", "For this test", sizeof(made), rows};
    json s = described(nullptr, &object), p = s["Made"]["properties"];
    const char *ref = "#/components/schemas/Inner";

    CHECK(p["any"].size() == 1); // its description
    CHECK(p["object"]["type"] == "object");
    CHECK(p["object"]["additionalProperties"] == true);
    CHECK(p["one"]["$ref"] == ref);
    CHECK(p["null"]["anyOf"] == json({{{"$ref", ref}}, {{"type", "null"}}}));
    CHECK(p["list"]["type"] == "array");
    CHECK(p["list"]["items"]["$ref"] == ref);
    CHECK(s["Inner"]["properties"].contains("mean"));
    CHECK_FALSE(s.contains("Object"));
}

TEST_CASE("a problem names the codes that there are, and what it always has", "[openapi]")
{
    json s = printed_description()["components"]["schemas"]["Problem"];
    json codes = s["properties"]["code"]["x-known-values"];
    json item = s["properties"]["errors"]["items"];

    for (const char *always :
         {"type", "title", "status", "detail", "instance", "code", "request_id"})
        CHECK(std::find(s["required"].begin(), s["required"].end(), always) !=
              s["required"].end());
    CHECK(item["required"] == json({"code", "detail"}));
    CHECK(std::find(codes.begin(), codes.end(), "invalid") != codes.end());
    CHECK(std::find(codes.begin(), codes.end(), "ok") == codes.end());
    codes = item["properties"]["code"]["x-known-values"];
    for (const char *of_all : {"not_acceptable", "too_large"}) // of a request as a whole
        CHECK(codes.dump().find(of_all) != std::string::npos);
    CHECK(std::find(codes.begin(), codes.end(), "unknown_id") != codes.end());
}

TEST_CASE("a list says how many elements it has at least", "[json][openapi]")
{
    static json_field rows[2] = {
        row_of("c", JSON_TYPE_NUMBERS, offsetof(together, c), 0, 9, 0, 0)};
    const json_object few = {"Few", "For this test", sizeof(together), rows};
    test_arena a;
    together out{};

    rows[0].count_offset = offsetof(together, c_count);
    rows[0].least = 2;
    CHECK(described(&few, nullptr)["Few"]["properties"]["c"]["minItems"] == 2);
    for (const char *text : {"{}", R"({"c":[1,2]})", R"({"c":[1]})", R"({"c":[]})"}) {
        error err = collecting_error(a);
        bool is_short = std::string(text).size() < 11 && text[1] == '"';

        INFO(text);
        json_read(&few, text, std::string(text).size(), &out, nullptr, a, &err);
        CHECK((err.code == OK) == !is_short);
        if (is_short)
            CHECK(err.first->code == ITEM_TOO_SHORT);
    }
}

TEST_CASE("null is taken where the description says so, and nowhere else",
          "[json][openapi]")
{
    std::set<const json_object *> asked;
    size_t taken = 0, refused = 0;

    for (const route *r = routes(); r->method; r++)
        walk(r->request, asked);
    for (const json_object *t : asked) {
        if (t->fields->type == JSON_TYPE_KIND)
            continue;
        json schema = described(t, nullptr)[t->name]["properties"];
        for (const json_field *f = t->fields; f->type != JSON_END; f++) {
            if (f->type == JSON_TYPE_RAW || f->type == JSON_TYPE_NUMBERS)
                continue; // any JSON; of a list of numbers the elements may be null
            test_arena a;
            error err = collecting_error(a);
            std::string text = std::string("{\"") + f->name + "\":null}";
            std::vector<char> out(t->size);
            bool wrong = false;

            json_read(t, text.c_str(), text.size(), out.data(), nullptr, a, &err);
            for (const error_item *i = err.first; i; i = i->next)
                wrong |= std::string(i->pointer) == std::string("/") + f->name &&
                         !(f->unless && i->code == ITEM_REQUIRED);
            bool may = allows_null(schema[f->name]);
            INFO(t->name << "." << f->name << " " << schema[f->name].dump());
            CHECK(wrong != may);
            (wrong ? refused : taken)++;
        }
    }
    CHECK(taken > 100);
    CHECK(refused > 500);
}
