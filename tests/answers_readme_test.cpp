// answers_readme_test.cpp - the answers to the README's tour, and what is stored after
// it, are the recorded ones.
#include "tests/answers.hpp"
#include "tests/system.hpp"

#include <set>
#include <sstream>

namespace
{

// What stands between the answers of two blocks.
const std::string between = "=== the next one ===\n";

// The README's commands that call the service: indented lines up to a blank one; and what
// it says that they print, "" where it says nothing, likewise with `between` behind each.
struct tour {
    std::string commands, printed;
};

tour read_tour()
{
    std::istringstream readme(file_text(GRIDPLAN_SOURCE_DIR "/README.md"));
    std::string block, answer;
    tour found;
    bool asked = false, fenced = false;

    for (std::string line; std::getline(readme, line);) {
        if (line.rfind("```", 0) == 0) {
            fenced = !fenced;
        } else if (fenced && asked) {
            answer += line + "\n";
        } else if (line.rfind("    ", 0) == 0) {
            block += line + "\n";
        } else if (block.find("curl -s ") != std::string::npos) {
            if (asked) {
                found.printed += answer + between;
                found.commands +=
                    "echo '" + between.substr(0, between.size() - 1) + "'\n";
            }
            found.commands += block;
            answer.clear();
            block.clear();
            asked = true;
        } else {
            block.clear();
            if (line.rfind("## The API", 0) == 0)
                break;
        }
    }
    found.printed += answer;
    return found;
}

std::vector<std::string> split(std::string text)
{
    std::vector<std::string> parts;
    for (size_t end; (end = text.find(between)) != std::string::npos;) {
        parts.push_back(text.substr(0, end));
        text.erase(0, end + between.size());
    }
    parts.push_back(text);
    return parts;
}

// The JSON values of a text one behind the other; none: it has something else.
std::vector<nlohmann::json> values(const std::string &text)
{
    std::vector<nlohmann::json> list;
    size_t depth = 0, from = 0;
    bool quoted = false;

    for (size_t i = 0; i < text.size(); i++) {
        char c = text[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            from = depth++ == 0 ? i : from;
        else if (!quoted && (c == '}' || c == ']') && --depth == 0)
            list.push_back(nlohmann::json::parse(text.substr(from, i + 1 - from)));
    }
    return list;
}

// "...": there are more members.
bool is_as_said(const nlohmann::json &said, const nlohmann::json &got)
{
    if (said.is_array() && got.is_array()) {
        bool same = said.size() == got.size();
        for (size_t i = 0; same && i < said.size(); i++)
            same = is_as_said(said[i], got[i]);
        return same;
    }
    if (!said.is_object() || !got.is_object())
        return said == got;
    bool same = said.contains("...") || said.size() == got.size();
    for (const auto &[name, value] : said.items())
        same = same &&
               (name == "..." || (got.contains(name) && is_as_said(value, got[name])));
    return same;
}

void check_printed(const std::string &said, const std::string &got)
{
    std::vector<nlohmann::json> a = values(said), b = values(got);

    INFO("README:\n" << said << "\nprinted:\n" << got);
    if (a.empty()) {
        CHECK((said.empty() || said == got));
        return;
    }
    REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); i++)
        CHECK(is_as_said(a[i], b[i]));
}

std::string with(std::string text, const std::string &old, const std::string &now)
{
    REQUIRE(occurrences(text, old) > 0);
    for (size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += now.size())
        text.replace(at, old.size(), now);
    return text;
}

// curl as the README calls it, which keeps what came, whatever the command does with it.
const char *const keeping_curl = R"(set -euo pipefail
curl()
{
    local arguments=() path= number name shown=1
    while [ $# -gt 0 ]; do
        case $1 in
        -o) # away with it: it is kept
            shift
            shown=
            ;;
        http://*)
            path=${1#http://*/}
            arguments+=("$1")
            ;;
        *) arguments+=("$1") ;;
        esac
        shift
    done
    number=$(find "$found" -name '*.answer' | wc -l)
    name=$(sed -E 's/[?].*//; s/[0-9a-f-]{36}/ID/; s|/|-|g' <<<"$path")
    name=$found/$(printf '%02d' $((number + 1)))-$name
    command curl -o "$name.body" -w '%{http_code} %{content_type}\n' "${arguments[@]}" >"$name.head"
    cat "$name.head" "$name.body" >"$name.answer"
    [ -z "$shown" ] || cat "$name.body"
}
wait_for_model()
{
    for _ in $(seq 600); do
        command curl -s "$1/v1/models/solver" | jq -e '.state == "trained"' >/dev/null && return
        sleep 0.05
    done
    exit 1
}
)";

void add_get(const gridplan &g, recorded_answers &found, const std::string &target)
{
    answer a = g.get(target);
    std::string name = "get" + target.substr(0, target.find('?'));

    if (target.find("?family=") != std::string::npos)
        name += "-" + target.substr(target.find('=') + 1);
    std::replace(name.begin(), name.end(), '/', '-');
    found.add(name, a.status, a.field("Content-Type"), a.body);
}

std::set<std::string> families(const gridplan &g)
{
    std::set<std::string> names;
    nlohmann::json list = g.get("/v1/algorithms").json();

    for (const nlohmann::json &algorithm : list["items"])
        names.insert(algorithm["family"].get<std::string>());
    CHECK(names.size() > 10);
    return names;
}

} // namespace

TEST_CASE("the answers to the README's tour are the recorded ones",
          "[answers][system][db]")
{
    gridplan g({"--database", test_database()});
    recorded_answers found("readme");
    std::string url = "http://127.0.0.1:" + std::to_string(g.port), commands;
    const tour readme = read_tour();
    int status = -1;

    // Not before: a read while partitions are made may overlook rows.
    REQUIRE(eventually([&] { return g.is_ready(); }));
    commands = with(readme.commands, "http://127.0.0.1:8080", url);
    commands = with(commands, "sleep 2", "wait_for_model " + url);
    commands = with(commands, "\"runs\": 3,", "\"runs\": 3, \"time_limit_s\": 600,");
    commands = with(commands, "/tmp/", found.folder() + "/");
    CHECK(occurrences(commands, "curl -s ") > 15);
    std::string output =
        run_command({"bash", "-c",
                     std::string(keeping_curl) + "found=$PWD/" + found.folder() +
                         "\ncd " GRIDPLAN_SOURCE_DIR "\n" +
                         with(commands, found.folder() + "/", "$found/")},
                    &status);
    if (status != 0)
        FAIL(output);
    const std::vector<std::string> said = split(readme.printed), got = split(output);
    REQUIRE(said.size() == got.size());
    for (size_t i = 0; i < said.size(); i++)
        check_printed(said[i], got[i]);

    for (const char *target : {"/v1/checkpoint-logs",
                               "/v1/claim-attempts",
                               "/v1/decisions",
                               "/v1/executions",
                               "/v1/failure-traces",
                               "/v1/failures",
                               "/v1/forecasts?at=2026-11-20T10:02:00Z",
                               "/v1/load-samples",
                               "/v1/models",
                               "/v1/models/solver",
                               "/v1/models/solver/samples",
                               "/v1/models/solver/versions",
                               "/v1/models/solver/versions/1",
                               "/v1/observations",
                               "/v1/progress-applications?application_id=cfd",
                               "/v1/progress-samples",
                               "/v1/quotas",
                               "/v1/replicas",
                               "/v1/reschedule-events",
                               "/v1/service-info",
                               "/v1/simulations",
                               "/v1/site-errors",
                               "/v1/snapshots",
                               "/v1/snapshots/lab",
                               "/v1/transfers",
                               "/v1/workloads",
                               "/v1/no-such-thing"})
        add_get(g, found, target);
    for (const std::string &family : families(g))
        add_get(g, found, "/v1/algorithms?family=" + family);
    found.check();
    g.stop();
}
