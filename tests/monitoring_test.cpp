// monitoring_test.cpp - what operators install speaks of what there is: alert rules and
// the board of series, manifests and the package's files of settings, ports and probes.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/system.hpp"

#include <filesystem>
#include <regex>
#include <set>

extern "C" {
#include "handlers/routes.h"
#include "service/config.h"
}

namespace
{

const std::string docker = GRIDPLAN_SOURCE_DIR "/docker/";

// Every match of the first group.
std::vector<std::string> all(const std::string &text, const std::string &pattern)
{
    std::vector<std::string> found;
    std::regex r(pattern);
    for (std::sregex_iterator i(text.begin(), text.end(), r), end; i != end; ++i)
        found.push_back((*i)[1]);
    return found;
}

struct family {
    std::string type;
    std::set<std::string> labels;
};

// The rows of /docs/metrics.
std::map<std::string, family> families(const std::string &page)
{
    std::map<std::string, family> found;
    static const std::regex row(
        "<tr id=\"([^\"]+)\">.*?</th><td>([a-z]+)</td><td>(.*?)</td>");
    for (std::sregex_iterator i(page.begin(), page.end(), row), end; i != end; ++i) {
        std::vector<std::string> labels = all((*i)[3], "([a-z_]+)");
        found[(*i)[1]] = {(*i)[2], {labels.begin(), labels.end()}};
    }
    return found;
}

// What is wrong with the names and labels of an expression, or of a series of a test.
std::vector<std::string> mistakes(const std::string &expression,
                                  const std::map<std::string, family> &known)
{
    std::vector<std::string> wrong;
    std::set<std::string> labels = {"instance", "job", "le"};

    for (std::string name : all(expression, "\\b((?:gridplan|process)_[a-z0-9_]+)")) {
        bool part = false;
        for (const char *end : {"_bucket", "_sum", "_count"})
            if (!known.count(name) && name.size() > strlen(end) && name.ends_with(end)) {
                name.resize(name.size() - strlen(end));
                part = true;
            }
        auto f = known.find(name);
        if (f == known.end())
            wrong.push_back("no series " + name);
        else if (part != (f->second.type == "histogram"))
            wrong.push_back(name + " is a " + f->second.type);
        else
            labels.insert(f->second.labels.begin(), f->second.labels.end());
    }
    for (const char *place : {"by \\(([^)]*)\\)", "\\{([^}]*)\\}"})
        for (const std::string &list : all(expression, place))
            for (const std::string &label :
                 all(std::regex_replace(list, std::regex("\"[^\"]*\""), ""), "([a-z_]+)"))
                if (!labels.count(label))
                    wrong.push_back("no label " + label);
    return wrong;
}

std::vector<std::filesystem::path> files()
{
    std::vector<std::filesystem::path> list;
    for (auto &f : std::filesystem::recursive_directory_iterator(docker))
        if (f.is_regular_file())
            list.push_back(f.path());
    return list;
}

} // namespace

TEST_CASE("expressions of series are looked at name by name", "[monitoring]")
{
    std::map<std::string, family> known =
        families("<tr id=\"gridplan_a\"><th>x</th><td>histogram</td><td>work, kind</td>"
                 "<td>y</td></tr>\n<tr id=\"gridplan_b_total\"><th>x</th><td>counter</td>"
                 "<td></td><td>y</td></tr>\n");

    REQUIRE(known.size() == 2);
    CHECK(known["gridplan_a"].labels == std::set<std::string>{"work", "kind"});
    CHECK(mistakes("sum by (work, le) (rate(gridplan_a_bucket{kind=~\"x|no\"}[5m])) > 1",
                   known)
              .empty());
    CHECK(mistakes("gridplan_a", known).size() == 1);
    CHECK(mistakes("gridplan_b_total{kind=\"x\"}", known).size() == 1);
    CHECK(mistakes("gridplan_b_total_bucket", known).size() == 1);
    CHECK(mistakes("gridplan_c", known).size() == 1);
    CHECK(mistakes("sum by (code) (gridplan_b_total)", known).size() == 1);
}

TEST_CASE("rules and board speak of series that there are", "[monitoring][system][db]")
{
    gridplan g({"--database", test_database()});
    REQUIRE(eventually([&] { return g.is_ready(); }));
    std::map<std::string, family> known = families(g.get("/docs/metrics").body);
    std::string rules = file_text(docker + "monitoring/alerts.yml");
    const json board = json::parse(file_text(docker + "monitoring/grafana.json"));
    size_t rule_count = 0, panel_count = 0;

    CHECK(known.size() > 50);
    for (const std::string &e : all(rules, "\n +expr: ([^\n]*)")) {
        INFO(e);
        CHECK(mistakes(e, known) == std::vector<std::string>{});
        rule_count++;
    }
    CHECK(rule_count == 7);
    for (const std::string &e :
         all(file_text(docker + "monitoring/alerts_test.yml"), "series: '?([^'\n]*)")) {
        INFO(e);
        CHECK(mistakes(e, known) == std::vector<std::string>{});
    }
    for (const std::string &page : all(rules, "runbook_url: ([^\n]*)")) {
        INFO(page);
        CHECK(g.get(page).status == 200);
    }
    for (const json &panel : board["panels"])
        for (const json &target : panel["targets"]) {
            INFO(panel["title"].get<std::string>());
            CHECK(mistakes(target["expr"].get<std::string>(), known) ==
                  std::vector<std::string>{});
            panel_count++;
        }
    CHECK(panel_count >= 12);
    g.stop();
}

TEST_CASE("each correction is a line of the log", "[monitoring][system][db]")
{
    gridplan g({"--database", test_database()});
    REQUIRE(eventually([&] { return g.is_ready(); }));
    std::string id = "corrected-" + std::to_string(getpid()),
                path = "/v1/site-errors?site_id=" + id;
    auto store = [&](int errors) {
        return g
            .post("/v1/site-errors?on_conflict=replace",
                  "{\"site_id\":\"" + id +
                      "\",\"observed_at\":1764000000,\"error_count\":" +
                      std::to_string(errors) + "}")
            .status;
    };

    CHECK(store(1) == 201);
    CHECK(store(2) == 200);
    CHECK(call(g.port, "PATCH", path + "&observed_at=1764000000", "{\"error_count\":3}",
               "Content-Type: application/merge-patch+json\r\n")
              .status == 200);
    CHECK(call(g.port, "DELETE", path + "&dry_run=true").status == 200);
    CHECK(call(g.port, "DELETE", path).status == 200);
    g.stop();
    std::string log = g.text();
    for (const char *method : {"POST", "PATCH", "DELETE"}) {
        INFO(method << log);
        CHECK(occurrences(log, std::string("corrected: ") + method +
                                   " /v1/site-errors, 1 record, key none, of "
                                   "default") == 1);
    }
}

TEST_CASE("manifests and packages name settings that there are", "[monitoring]")
{
    // What the commands that ask take from the environment.
    std::set<std::string> known = {"GRIDPLAN_URL", "GRIDPLAN_KEY_FILE"};
    size_t count = 0;

#define X(type, name, ...) #name,
    for (std::string setting : {CONFIG_SETTINGS(X)}) {
#undef X
        std::transform(setting.begin(), setting.end(), setting.begin(), ::toupper);
        known.insert("GRIDPLAN_" + setting);
        known.insert("GRIDPLAN_" + setting + "_FILE");
    }
    for (const auto &file : files())
        for (const std::string &name :
             all(file_text(file.string()), "\\b(GRIDPLAN_[A-Z0-9_]+)")) {
            INFO(file << " " << name);
            CHECK(known.count(name) == 1);
            count++;
        }
    CHECK(count > 50);
}

TEST_CASE("probes and ports of the manifests are those of the service",
          "[monitoring][system]")
{
    std::string deployment = file_text(docker + "kubernetes/deployment.yaml"),
                values = file_text(docker + "kubernetes/configmap.yaml");
    std::map<std::string, std::string> set;
    std::vector<std::string> command = {"env", "-i"};
    int status = -1;
    size_t probes = 0;

    for (const std::string &line : all(values, "\n( *GRIDPLAN_[^\n]*)")) {
        std::string name = all(line, "(GRIDPLAN_[A-Z_0-9]+)")[0];
        set[name] = all(line, ": *\"?([^\"\n]*)")[0];
        command.push_back(name + "=" + set[name]);
    }
    command.push_back(build_binary);
    command.push_back("--check-config");
    std::string said = run_command(command, &status);
    INFO(said);
    CHECK(status == 0);
    for (const std::string &path : all(deployment, "httpGet: \\{path: ([^,]*)")) {
        bool found = false;
        for (const route *r = routes(); r->method; r++)
            found |= path == r->path && r->flags & ROUTE_PROBE;
        INFO(path);
        CHECK(found);
        probes++;
    }
    CHECK(probes == 3);
    CHECK(all(deployment, "prometheus.io/port: \"([0-9]+)\"") ==
          std::vector<std::string>{set["GRIDPLAN_ADMIN_PORT"]});
    CHECK(all(deployment, "containerPort: ([0-9]+)") ==
          std::vector<std::string>{set["GRIDPLAN_PORT"], set["GRIDPLAN_ADMIN_PORT"]});
}
