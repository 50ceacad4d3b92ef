// ui_test.cpp - the dashboard's files: what they weigh, that they find each other, and
// that their colours can be told apart. What it does in a browser: tests/ui/run.
#include "tests/api.hpp"

#include <cmath>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

extern "C" {
#include "service/asset.h"
}

namespace
{

std::string source_text(const std::string &name)
{
    std::ifstream in(std::string(GRIDPLAN_SOURCE_DIR "/service/ui/") + name);
    std::stringstream text;

    REQUIRE(in);
    text << in.rdbuf();
    return text.str();
}

// Relative luminance of #rrggbb (WCAG 2.1).
double luminance(const std::string &colour)
{
    const double weights[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        double c = std::stoi(colour.substr(1 + 2 * (size_t)i, 2), nullptr, 16) / 255.0;
        sum +=
            weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double contrast(const std::string &a, const std::string &b)
{
    double x = luminance(a), y = luminance(b);

    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

// The variables of the block that begins with `selector`.
std::map<std::string, std::string> variables(const std::string &css,
                                             const std::string &selector)
{
    std::map<std::string, std::string> found;
    size_t at = css.find(selector + " {");
    REQUIRE(at != std::string::npos);
    std::string block = css.substr(at, css.find('}', at) - at);
    static const std::regex variable("--([a-z0-9]+): (#[0-9a-f]{6});");

    for (std::sregex_iterator i(block.begin(), block.end(), variable), end; i != end; ++i)
        found[(*i)[1]] = (*i)[2];
    return found;
}

} // namespace

TEST_CASE("colours of the dashboard have the contrast that they need", "[ui]")
{
    const struct {
        const char *selector, *name;
        double contrast;
    } wanted[] = {
        {":root", "text", 16.56},      {":root", "dim", 6.39},
        {":root", "edge", 3.04},       {":root", "link", 6.44},
        {":root", "s1", 6.44},         {":root", "s2", 5.08},
        {":root", "s3", 5.05},         {":root", "s4", 4.87},
        {":root", "bad", 5.36},        {":root", "line", 1.45},
        {":root.dark", "text", 16.02}, {":root.dark", "dim", 7.48},
        {":root.dark", "edge", 4.12},  {":root.dark", "link", 8.52},
        {":root.dark", "s2", 10.47},   {":root.dark", "s3", 9.10},
        {":root.dark", "s4", 9.72},    {":root.dark", "bad", 7.51},
        {":root.dark", "line", 1.55},
    };
    std::string css = source_text("app.css");

    for (auto &w : wanted) {
        auto colours = variables(css, w.selector);
        INFO(w.selector << " " << w.name);
        CHECK(contrast(colours[w.name], colours["ground"]) ==
              Approx(w.contrast).margin(0.006));
        if (std::string(w.name) != "line")
            CHECK(contrast(colours[w.name], colours["ground"]) >=
                  (std::string(w.name) == "edge" ? 3.0 : 4.5));
    }
    for (const char *selector : {":root", ":root.dark"}) {
        auto colours = variables(css, selector);
        CHECK(contrast(colours["text"], colours["shade"]) >= 4.5);
    }
    // The manual has the same ones.
    auto manual = variables(source_text("docs.css"), ":root"),
         own = variables(css, ":root");
    for (const char *name : {"ground", "text", "dim", "edge", "link"})
        CHECK(manual[name] == own[name]);
}

TEST_CASE("the dashboard is small, and its files find each other", "[ui][api]")
{
    api service;
    size_t gz = 0, files = 0;
    std::set<std::string> named;

    for (const asset *f = ui_files; f->path; f++) {
        if (std::string(f->path).find("/ui/docs.") != 0)
            gz += f->gz_length;
        files++;
        test_arena a(1 << 22);
        error err{};
        const char *text;
        err.arena = a;
        REQUIRE(asset_text(f, &text, a, &err) == OK);
        std::string content(text, f->length);
        static const std::regex part("[\"'](/ui/[^\"']+)[\"']");
        INFO(f->path);
        for (std::sregex_iterator i(content.begin(), content.end(), part), end; i != end;
             ++i) {
            INFO((*i)[1]);
            CHECK(std::regex_match((*i)[1].str(),
                                   std::regex("/ui/[a-z-]+\\.[0-9a-f]{10}\\.(js|css)")));
            CHECK(service.get((*i)[1]).status == 200);
            named.insert((*i)[1]);
        }
    }
    CHECK(files > 10);
    CHECK(named.size() >= files - 4); // all but docs.css, the icon, index.html
    CHECK(gz <= 90000);
}

TEST_CASE("dashboard, manual and examples make the program little larger", "[ui]")
{
    const std::pair<const char *, const asset *> tables[] = {
        {"dashboard", ui_files}, {"manual", doc_files}, {"examples", example_files}};
    size_t all = 0;

    for (auto &[name, files] : tables) {
        size_t bytes = 0;
        for (const asset *f = files; f->path; f++)
            bytes += f->gz ? f->gz_length + (f->data ? f->length : 0) : f->length;
        UNSCOPED_INFO(name << " " << bytes);
        CHECK(bytes > 50000);
        all += bytes;
    }
    CHECK(all <= 1500000);
}

TEST_CASE("the page needs nothing that its policy forbids", "[ui][api]")
{
    api service;
    api_reply r = service.call("GET", "/", "", {{"accept", "text/html"}});

    CHECK(r.status == 200);
    CHECK(r.headers["Content-Type"] == "text/html; charset=utf-8");
    CHECK(r.headers["Cache-Control"] == "no-cache");
    CHECK(r.headers["Vary"] == "Accept, Accept-Encoding");
    CHECK(
        r.headers["Content-Security-Policy"] ==
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors "
        "'none'");
    CHECK(r.headers["Referrer-Policy"] == "no-referrer");
    CHECK(r.headers["Cross-Origin-Opener-Policy"] == "same-origin");
    CHECK(r.headers["Permissions-Policy"] == "camera=(), microphone=(), geolocation=()");
    CHECK(r.body.find("<script>") == std::string::npos);
    CHECK(r.body.find("importmap") == std::string::npos);
    CHECK(r.body.find("style=") == std::string::npos);
    CHECK(r.body.find("http") == std::string::npos);
    CHECK(service.call("HEAD", "/", "", {{"accept", "text/html"}}).status == 200);
    CHECK(service.get("/favicon.svg").headers["Content-Type"] == "image/svg+xml");
    for (const char *module :
         {"app.js", "api.js", "decisions.js", "history.js", "runs.js", "gantt.js",
          "live.js", "chart.js", "format.js", "sessions.js", "columns.js"}) {
        std::string text = source_text(module);
        INFO(module);
        for (const char *word : {"localStorage", "sessionStorage", "document.cookie",
                                 "eval(", "innerHTML", "dangerouslySetInnerHTML"})
            CHECK(text.find(word) == std::string::npos);
        if (std::string(module) != "api.js")
            CHECK(text.find("fetch(") == std::string::npos);
    }
    // One POST, which stores nothing.
    std::string calls = source_text("api.js");
    CHECK(calls.find("\"POST\"") == calls.rfind("\"POST\""));
    CHECK(calls.find("/replay`") != std::string::npos);
}
