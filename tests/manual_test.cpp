// manual_test.cpp - manual pages, completions and the file of settings are as the tables
// print them.
#include "tests/support.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

extern "C" {
#include "handlers/routes.h"
#include "service/cli.h"
#include "service/client/page_text.h"
#include "service/completion.h"
#include "service/config.h"
#include "service/manual.h"
}

namespace
{

std::string printed(const char *name)
{
    test_arena a(1 << 22);
    text_buffer b{};
    error err = collecting_error(a);

    b.arena = a;
    REQUIRE(manual_print(name, &b, &err) == OK);
    return std::string(b.data, b.length);
}

std::string completion(const char *shell)
{
    test_arena a(1 << 22);
    text_buffer b{};
    error err = collecting_error(a);

    b.arena = a;
    REQUIRE(completion_print(shell, routes(), &b, &err) == OK);
    return std::string(b.data, b.length);
}

// What bash offers for the last of these words, with blanks around each.
std::string offered(const std::string &words)
{
    std::string folder = std::filesystem::path(build_binary).parent_path().string();
    std::string command =
        "PATH=" + folder +
        ":$PATH bash -c 'source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
        "_gridplan; echo \" ${COMPREPLY[*]} \"' " GRIDPLAN_SOURCE_DIR
        "/docker/package/gridplan.bash gridplan " +
        words;
    std::string text;
    char part[4096];
    FILE *out = popen(command.c_str(), "r");

    REQUIRE(out);
    for (size_t n; (n = fread(part, 1, sizeof(part), out)) > 0;)
        text.append(part, n);
    CHECK(pclose(out) == 0);
    return text;
}

} // namespace

TEST_CASE("the package's manual and completions are those of the program", "[manual]")
{
    const struct {
        const char *page, *file;
    } files[] = {{"gridplan.1", "gridplan.1"},
                 {"gridplan-ask.1", "gridplan-ask.1"},
                 {"gridplan-client.conf.5", "gridplan-client.conf.5"},
                 {"default", "gridplan.default"}};

    auto kept = [](const std::string &file) {
        std::ifstream in(GRIDPLAN_SOURCE_DIR "/docker/package/" + file);
        std::stringstream text;
        text << in.rdbuf();
        return text.str();
    };

    for (auto &f : files) {
        INFO(f.file << ": gridplan man prints it anew");
        CHECK(kept(f.file) == printed(f.page));
    }
    INFO("gridplan completion prints them anew");
    CHECK(kept("gridplan.bash") == completion("bash"));
    CHECK(kept("_gridplan") == completion("zsh"));
}

TEST_CASE("bash is offered commands, flags, choices and names of policies", "[manual]")
{
    const struct {
        const char *words;
        std::vector<std::string> offered, not_offered;
    } cases[] = {
        {"''", {"ask", "serve", "slurm"}, {"mct"}},
        {"he", {"help", "health"}, {"ask"}},
        {"help ''", {"ask", "completion"}, {}},
        {"ask --", {"--endpoint", "--gantt", "--strict"}, {"--port", "--scopes"}},
        {"ask --endpoint ''",
         {"placements", "queue-orders", "workflow-schedules"},
         {"executions"}},
        {"ask --color a", {"auto", "always"}, {"never"}},
        {"serve --", {"--port", "--time-limit-max-s"}, {"--gantt"}},
        {"serve --auth ''", {"auto", "on", "off"}, {}},
        {"--ui ''", {"true", "false"}, {}},
        {"key ''", {"create", "list", "revoke", "set"}, {}},
        {"key create --", {"--scopes", "--rate-per-s", "--port"}, {"--json"}},
        {"key create --scopes ''", {"decide", "facade", "read"}, {}},
        {"slurm ''", {"advise", "what-if"}, {}},
        {"slurm what-if --", {"--since", "--add-nodes"}, {"--gantt"}},
        {"algorithms ''", {"mct", "heft", "slurm_backfill"}, {}},
        {"errors not_", {"not_found", "not_a_choice"}, {"gone"}},
        {"completion ''", {"bash", "zsh"}, {}},
    };

    for (auto &c : cases) {
        std::string text = offered(c.words);
        INFO(c.words << ":" << text);
        for (auto &word : c.offered)
            CHECK(text.find(" " + word + " ") != std::string::npos);
        for (auto &word : c.not_offered)
            CHECK(text.find(" " + word + " ") == std::string::npos);
    }
    test_arena a(1 << 16);
    text_buffer b{};
    error err = collecting_error(a);
    b.arena = a;
    CHECK(completion_print("fish", routes(), &b, &err) == ERR_INVALID);
}

TEST_CASE("every command and every setting is in the manual", "[manual]")
{
    std::string page = printed("gridplan.1"), file = printed("default"),
                bash = completion("bash"), zsh = completion("zsh");
    const char *name, *doc;

    for (size_t i = 0; cli_command(i, &name, &doc); i++) {
        INFO(name);
        CHECK(page.find(std::string(".B ") + name + "\n") != std::string::npos);
        CHECK(bash.find(name) != std::string::npos);
        CHECK(zsh.find(name) != std::string::npos);
    }
#define X(type, name, ...)                                                       \
    {                                                                            \
        std::string flag =                                                       \
            "--" + std::regex_replace(std::string(#name), std::regex("_"), "-"); \
        std::string variable = "#GRIDPLAN_" + std::string(#name) + "=";          \
        for (char &c : variable)                                                 \
            c = (char)toupper(c);                                                \
        INFO(flag);                                                              \
        CHECK(page.find(std::regex_replace(flag, std::regex("-"), "\\-")) !=     \
              std::string::npos);                                                \
        CHECK(file.find(variable) != std::string::npos);                         \
        CHECK(bash.find(flag) != std::string::npos);                             \
        CHECK(zsh.find(flag) != std::string::npos);                              \
    }
    CONFIG_SETTINGS(X)
#undef X
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) // nothing else is a control line
        if (line[0] == '.')
            CHECK(std::regex_match(line,
                                   std::regex("\\.(TH|SH|TP|B|BI|BR|I|IR|PP)( .*)?")));
    test_arena a(1 << 16);
    text_buffer b{};
    error err = collecting_error(a);
    b.arena = a;
    CHECK(manual_print("nothing", &b, &err) == ERR_INVALID);
}

TEST_CASE("pages of the manual become lines of a terminal", "[manual]")
{
    auto text = [](const std::string &html, size_t width = 40) {
        test_arena a(1 << 20);
        text_buffer b{};
        b.arena = a;
        page_text(html.c_str(), width, &b);
        REQUIRE_FALSE(b.failed);
        return std::string(b.data, b.length);
    };

    CHECK(text("x<main id=\"m\"><h1>A &amp; B</h1>\n<p>one\n two</p></main>y") ==
          "A & B\n\none two\n");
    CHECK(text("<ul>\n<li>a <a href=\"x\">b</a></li>\n<li>c</li></ul><p>d") ==
          "- a b\n- c\n\nd\n");
    CHECK(text("<p>aaaa bbbb cccc</p>", 10) == "aaaa bbbb\ncccc\n");
    CHECK(text("<ul><li>aaaa bbbb cccc</li></ul>", 11) == "- aaaa bbbb\n  cccc\n");
    CHECK(text("<pre class=\"sh\">a\n\n  b &lt;c&#62;\n</pre><p>d</p>") ==
          "    a\n\n      b <c>\n\nd\n");
    CHECK(text("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2 3</td></tr>"
               "</table>") == "a | b\n1 | 2 3\n");
    CHECK(text("<p>\x1b[31m &bad; &#7; &</p>") == "?[31m &bad; ? &\n");
    CHECK(text("<p>a<br>b</p>") == "a\nb\n");
    CHECK(text("") == "\n");
    CHECK(text("<") == "\n");
    // Characters, not bytes, are counted.
    CHECK(text("<p>\u00e4\u00f6\u00fc\u00e4 bb</p>", 7) ==
          "\u00e4\u00f6\u00fc\u00e4 bb\n");
}
