// placement_change_test.cpp - which change of an attribute would let most jobs run,
// against every change tried on its own.
#include "tests/api.hpp"
#include "tests/instances.hpp"

#include <random>
#include <set>
#include <tuple>

extern "C" {
#include "models/expr.h"
}

using nlohmann::json;

namespace
{
json decide(const json &body)
{
    static api a;
    api_reply r = a.post("/v1/placements", body.dump());
    INFO(body.dump() << " " << r.body.substr(0, 3000));
    REQUIRE(r.status == 200);
    return r.json();
}

json asked(const json &resources, const json &jobs)
{
    return {{"snapshot", {{"resources", resources}}},
            {"jobs", jobs},
            {"algorithm", "mct"},
            {"what_if", true}};
}

json job(const std::string &id, const std::string &requirement, double weight = 1)
{
    return {{"id", id},
            {"estimate_ref_s", 1},
            {"requirement", requirement},
            {"weight", weight}};
}

std::string canonical(const std::string &text, expr_dialect dialect = EXPR_NATIVE)
{
    test_arena a;
    error err{};
    expr e{};
    REQUIRE(expr_parse(text.c_str(), EXPR_REQUIREMENT, dialect, "", &e, a.a, &err) == OK);
    REQUIRE(e.clause_count == 1);
    return expr_clause_canonical(&e, 0, dialect, a.a);
}

// A clause of the draws: how it is written, and in its canonical form.
struct clause {
    const char *written, *text;
    bool (*holds)(const json &attributes);
};

bool number_is(const json &a, bool (*test)(double))
{
    return a.contains("ghz") && test(a["ghz"]);
}

const clause clauses[] = {
    {"arch==\"x\"", "arch == \"x\"", [](const json &a) { return a["arch"] == "x"; }},
    {"( ARCH != \"z\" )", "arch != \"z\"",
     [](const json &a) { return a["arch"] != "z"; }},
    {"ghz>2", "ghz > 2",
     [](const json &a) { return number_is(a, [](double g) { return g > 2; }); }},
    {"2.0 < ghz", "ghz > 2",
     [](const json &a) { return number_is(a, [](double g) { return g > 2; }); }},
    {"ghz >= 3", "ghz >= 3",
     [](const json &a) { return number_is(a, [](double g) { return g >= 3; }); }},
    {"(ghz > 1||fast)", "ghz > 1 || fast",
     [](const json &a) {
         return number_is(a, [](double g) { return g > 1; }) || a.value("fast", false);
     }},
};

struct found {
    size_t count;
    double weight;
    int kind; // 0: raise_capacity
    double ratio;
    size_t resource;
    std::string text; // of the clause
    double value;     // of the capacity
    std::vector<std::string> ids;

    auto key() const
    {
        return std::make_tuple(-double(count), -weight, kind, ratio, resource, text,
                               value);
    }
};

// Every change, tried on its own.
std::vector<found> try_all(const json &resources, const json &jobs,
                           const std::vector<std::set<size_t>> &needs,
                           const std::set<std::string> &unplaced)
{
    std::vector<found> all;
    auto lacks = [&](size_t j, size_t r) {
        std::set<std::string> out;
        for (size_t c : needs[j])
            if (!clauses[c].holds(resources[r]["attributes"]))
                out.insert(clauses[c].text);
        return out;
    };
    for (size_t r = 0; r < resources.size(); r++) {
        double cpus = resources[r]["cpus"];
        std::map<std::string, found> by_text;
        std::set<double> values;
        for (size_t j = 0; j < jobs.size(); j++) {
            if (!unplaced.count(jobs[j]["id"]))
                continue;
            std::set<std::string> not_true = lacks(j, r);
            if (not_true.empty() && jobs[j]["cpus"] > cpus)
                values.insert(jobs[j]["cpus"].get<double>());
            if (not_true.size() != 1 || jobs[j]["cpus"] > cpus)
                continue;
            found &f = by_text[*not_true.begin()];
            f.kind = 1;
            f.resource = r;
            f.text = *not_true.begin();
            f.count++;
            f.weight += jobs[j]["weight"].get<double>();
            if (f.ids.size() < 10)
                f.ids.push_back(jobs[j]["id"]);
        }
        for (auto &[text, f] : by_text)
            all.push_back(f);
        for (double value : values) {
            found f{0, 0, 0, value / cpus, r, "", value, {}};
            for (size_t j = 0; j < jobs.size(); j++) {
                if (!unplaced.count(jobs[j]["id"]) || !lacks(j, r).empty() ||
                    jobs[j]["cpus"] <= cpus || jobs[j]["cpus"] > value)
                    continue;
                f.count++;
                f.weight += jobs[j]["weight"].get<double>();
                if (f.ids.size() < 10)
                    f.ids.push_back(jobs[j]["id"]);
            }
            all.push_back(f);
        }
    }
    std::sort(all.begin(), all.end(),
              [](const found &a, const found &b) { return a.key() < b.key(); });
    if (all.size() > 5)
        all.resize(5);
    return all;
}
} // namespace

TEST_CASE("clauses have one form", "[expr][what_if]")
{
    CHECK(canonical("a==1") == "a == 1");
    CHECK(canonical("  1  <A ") == "a > 1");
    CHECK(canonical("((a == 1.50))") == "a == 1.5");
    CHECK(canonical("(a)+(b)>2") == "(a) + (b) > 2");
    CHECK(canonical("HOSTNAME == \"N1\"") == "resource_id == \"N1\"");
    CHECK(canonical("arch == \"a\\\"b\\\\\"") == "arch == \"a\\\"b\\\\\"");
    CHECK(canonical("!(a||b)") == "!(a || b)");
    CHECK(canonical("x > - 5") == "x > -5");
    CHECK(canonical("x - -y > 0") == "x - -y > 0");
    CHECK(canonical("member( arch ,{\"x\",\"y\"} )") == "member(arch, {\"x\", \"y\"})");
    CHECK(canonical("isUndefined(os)") == "isundefined(os)");
    CHECK(canonical("a") == "a");
    CHECK(canonical("(a||b)") == canonical("a  || b"));
    CHECK(canonical("CPU_MHZ>1000", EXPR_GRIDWAY) == "cpu_mhz > 1000");
    CHECK(canonical("(ARCH=\"i686\")", EXPR_GRIDWAY) == "arch = \"i686\"");
    CHECK(canonical("x == 123456789012345678") == "x == 1.2345678901234568e+17");
}

TEST_CASE("an attribute that would help", "[placement][what_if]")
{
    // n1 lacks os only for a, b, c; n2 lacks two of a's clauses.
    json resources = {
        {{"id", "n1"}, {"cpus", 4}, {"attributes", {{"arch", "x"}, {"os", "bsd"}}}},
        {{"id", "n2"}, {"cpus", 8}, {"attributes", {{"arch", "y"}, {"os", "bsd"}}}}};
    json jobs = {job("a", "arch == \"x\" && os == \"linux\"", 2),
                 job("b", "os==\"linux\"", 3),
                 job("c", "(os == \"linux\") && arch==\"x\""),
                 job("d", "os == \"linux\""), job("e", "arch == \"x\" && os == \"bsd\"")};
    jobs[3]["cpus"] = 6; // n1 is too small, n2 is not
    jobs[1]["count"] = 4;
    json answer = decide(asked(resources, jobs));
    CHECK(answer["placement_count"] == 1);
    const json &w = answer["what_if"];
    REQUIRE(w.size() == 2);
    CHECK(w[0] == json{{"change", "change_attribute"},
                       {"resource_id", "n1"},
                       {"amount", "os"},
                       {"clause", "os == \"linux\""},
                       {"capacity", 0},
                       {"value", 1},
                       {"job_count", 6},
                       {"weight", 15},
                       {"job_ids", {"a", "b", "c"}}});
    CHECK(w[1]["resource_id"] == "n2");
    CHECK(w[1]["job_count"] == 5);
    CHECK(w[1]["weight"] == 13);
    CHECK(w[1]["job_ids"] == json{"b", "d"});
}

TEST_CASE("only what a resource is counts as a change", "[placement][what_if]")
{
    json resources = {{{"id", "n1"}, {"cpus", 4}, {"attributes", {{"a", 1}}}}};
    auto first = [&](const std::string &requirement) {
        json w =
            decide(asked(resources, json::array({job("j", requirement)})))["what_if"];
        return w.empty() ? std::string() : w[0]["amount"].get<std::string>();
    };
    CHECK(first("resource_id == \"n9\"").empty());
    CHECK(first("site_id == \"s\"").empty());
    CHECK(first("execution_s > 100").empty());
    CHECK(first("cpus_free_now > 100").empty());
    CHECK(first("free_now.gpus > 100").empty());
    CHECK(first("mips_total > 100") == "mips_total");
    CHECK(first("cpus_total > 100") == "cpus_total");
    CHECK(first("b == 2") == "b"); // no value: not true either
    CHECK(first("a == 2 && a ==2") == "a");
    CHECK(first("a == 2 && b == 2").empty());
    // With values of the job beside it.
    CHECK(first("a == 2 && execution_s < 100") == "a");
    CHECK(first("a == 2 && execution_s > 100").empty());
}

TEST_CASE("what else keeps a job away", "[placement][what_if]")
{
    json resources = {
        {{"id", "n1"}, {"cpus", 4}, {"attributes", {{"a", 1}}}},
        {{"id", "n2"}, {"cpus", 4}, {"attributes", {{"a", 1}}}, {"failed", true}},
        {{"id", "n3"}, {"cpus", 4}, {"attributes", {{"a", 1}}}, {"allowed", {"user:u"}}},
        {{"id", "n4"}, {"cpus", 4}, {"attributes", {{"a", 1}}}}};
    json body = asked(resources, json::array({job("j", "a == 2")}));
    body["jobs"][0]["partition_ids"] = {"p"};
    body["snapshot"]["partitions"] = {{{"id", "p"}, {"resource_ids", {"n1", "n2", "n3"}}},
                                      {{"id", "q"}, {"resource_ids", {"n4"}}}};
    json w = decide(body)["what_if"];
    REQUIRE(w.size() == 1);
    CHECK(w[0]["resource_id"] == "n1");
    body["jobs"][0]["partition_ids"] = {"p", "q"};
    body["jobs"][0]["user"] = "u";
    w = decide(body)["what_if"];
    REQUIRE(w.size() == 3);
    CHECK(w[0]["resource_id"] == "n1");
    CHECK(w[1]["resource_id"] == "n3");
    CHECK(w[2]["resource_id"] == "n4");
    body["snapshot"]["partitions"][0]["time_limit_max_s"] = 0.5; // closed to a run of 1 s
    w = decide(body)["what_if"];
    REQUIRE(w.size() == 1);
    CHECK(w[0]["resource_id"] == "n4");
}

TEST_CASE("changes are those of trying each", "[placement][what_if][property]")
{
    std::mt19937 random(5);
    auto upto = [&](int n) { return int(random() % unsigned(n)); };
    size_t seen = 0;
    for (int round = 0; round < (is_shorter() ? 300 : 2000); round++) {
        json resources = json::array(), jobs = json::array();
        std::vector<std::set<size_t>> needs;
        for (int r = 0; r < 1 + upto(5); r++) {
            json a = {{"arch", std::string(1, char('x' + upto(3)))}};
            if (upto(4))
                a["ghz"] = upto(5);
            if (upto(2))
                a["fast"] = bool(upto(2));
            resources.push_back({{"id", "n" + std::to_string(r)},
                                 {"cpus", 1 + upto(3)},
                                 {"attributes", a}});
        }
        for (int j = 0; j < 1 + upto(30); j++) {
            std::string text;
            needs.emplace_back();
            for (int k = upto(4); k > 0; k--) {
                size_t c = size_t(upto(6));
                needs.back().insert(c);
                text += (text.empty() ? "" : " && ") + std::string(clauses[c].written);
            }
            json one = job("j" + std::to_string(j), text, 1 + upto(3));
            one["cpus"] = 1 + upto(4);
            jobs.push_back(one);
        }
        json body = asked(resources, jobs);
        INFO(body.dump());
        json answer = decide(body);
        std::set<std::string> unplaced;
        for (const json &u : answer["unplaced"])
            unplaced.insert(u["job_id"].get<std::string>());
        std::vector<found> best = try_all(resources, jobs, needs, unplaced);
        json w = answer.value("what_if", json::array());
        INFO(w.dump());
        REQUIRE(w.size() == best.size());
        for (size_t k = 0; k < best.size(); k++) {
            CHECK(w[k]["change"] ==
                  (best[k].kind ? "change_attribute" : "raise_capacity"));
            CHECK(w[k]["resource_id"] == "n" + std::to_string(best[k].resource));
            CHECK(w[k]["job_count"] == best[k].count);
            CHECK(w[k]["weight"] == best[k].weight);
            CHECK(w[k]["job_ids"] == json(best[k].ids));
            if (best[k].kind)
                CHECK(w[k]["clause"] == best[k].text);
            else
                CHECK(w[k]["value"] == best[k].value);
            seen += size_t(best[k].kind);
        }
    }
    CHECK(seen > 100);
}
