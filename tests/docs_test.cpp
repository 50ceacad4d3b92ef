// docs_test.cpp - the manual: every page is there, its links lead somewhere, texts are
// escaped, and what is kept of it.
#include "tests/api.hpp"
#include "tests/description.hpp"
#include "tests/examples.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

extern "C" {
#include "handlers/docs/docs.h"
#include "handlers/docs/markdown.h"
#include "handlers/operations/algorithms.h"
#include "service/asset.h"
#include "service/gzip.h"
#include "service/hash.h"
#include "service/json_layout.h"
#include "service/page_cache.h"
}

namespace
{

std::string markdown(const std::string &text)
{
    test_arena a(1 << 20);
    text_buffer b{};

    b.arena = a;
    markdown_print(text.c_str(), 2, &b);
    return b.data ? std::string(b.data, b.length) : "";
}

struct manual : api {
    config settings = *handle()->config;
    page_cache *cache = page_cache_create(1 << 26);

    manual()
    {
        handle()->config = &settings;
        handle()->pages = cache;
    }
    ~manual()
    {
        page_cache_close(cache);
    }
};

std::vector<std::string> all_paths()
{
    test_arena a(1 << 26);
    size_t count;
    const char *const *paths = docs_paths(routes(), &count, a);

    return std::vector<std::string>(paths, paths + count);
}

std::set<std::string> links_of(const std::string &html)
{
    static const std::regex link("(?:href|src)=\"([^\"#]*)[\"#]");
    std::set<std::string> found;

    for (std::sregex_iterator i(html.begin(), html.end(), link), end; i != end; ++i)
        found.insert((*i)[1]);
    return found;
}

std::string decoded(const std::string &path)
{
    std::string out;

    for (size_t i = 0; i < path.size(); i++)
        if (path[i] == '%' && i + 2 < path.size()) {
            out += (char)std::stoi(path.substr(i + 1, 2), nullptr, 16);
            i += 2;
        } else {
            out += path[i];
        }
    return out;
}

} // namespace

TEST_CASE("markdown becomes HTML, and HTML in it stays text", "[docs]")
{
    const struct {
        const char *text, *html;
    } cases[] = {
        {"", ""},
        {"a & b <i>", "<p>a &amp; b &lt;i&gt;</p>\n"},
        {"# A b!\ntext", "<h2 id=\"a-b\">A b!</h2>\n<p>text</p>\n"},
        {"###### six", "<h6 id=\"six\">six</h6>\n"},
        {"one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>\n"},
        {"- a\n- b\n  more", "<ul>\n<li>a</li>\n<li>b\nmore</li>\n</ul>\n"},
        {"1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n"},
        {"**b** `c<` x*y", "<p><strong>b</strong> <code>c&lt;</code> x*y</p>\n"},
        {"**open `open [open", "<p>**open `open [open</p>\n"},
        {"[t](/docs/)", "<p><a href=\"/docs/\">t</a></p>\n"},
        {"[t](https://e.org/x)", "<p><a href=\"https://e.org/x\">t</a></p>\n"},
        {"[t](javascript:alert(1))", "<p>[t](javascript:alert(1))</p>\n"},
        {"[t](http://e.org)", "<p>[t](http://e.org)</p>\n"},
        {"[t](//e.org)", "<p>[t](//e.org)</p>\n"},
        {"[t](/a\"b)", "<p><a href=\"/a&quot;b\">t</a></p>\n"},
        {"```formula\na < b\n```\nx",
         "<pre id=\"eq-1\" class=\"formula\">a &lt; b\n</pre>\n<p>x</p>\n"},
        {"```\nnever closed", "<pre>never closed\n</pre>\n"},
        {"    curl x\n    more\nend",
         "<pre class=\"sh\">curl x\nmore\n</pre>\n<p>end</p>\n"},
        {"| a | b |\n| --- | --- |\n| 1 | `2` |",
         "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">a</th><th "
         "scope=\"col\">b</th></tr>\n</thead><tbody>\n<tr><td>1</td><td><code>2</code></"
         "td>"
         "</tr>\n</tbody></table></div>\n"},
    };

    for (auto &c : cases) {
        INFO(c.text);
        CHECK(markdown(c.text) == c.html);
    }
}

TEST_CASE("JSON is laid out for readers, and stays the same JSON", "[docs][property]")
{
    auto laid = [](const std::string &text) {
        test_arena a(1 << 24);
        text_buffer b{};
        b.arena = a;
        json_layout(text.c_str(), &b);
        return std::string(b.data ? b.data : "", b.length);
    };
    const std::string long_name(90, 'n');

    CHECK(laid(R"({"a":[1,2,{"b":null}],"c":{},"d":[]})") ==
          R"({"a": [1, 2, {"b": null}], "c": {}, "d": []})");
    CHECK(laid("{\n \"a\" : [ 1.50 , \"x,]\\\"y\" ] }\n") ==
          R"({"a": [1.50, "x,]\"y"]})");
    CHECK(laid("{\"" + long_name + "\":[1,{}],\"b\":2}") ==
          "{\n  \"" + long_name + "\": [\n    1,\n    {}\n  ],\n  \"b\": 2\n}");
    CHECK(laid("[\"" + long_name + "\",1,2,3]") ==
          "[\n  \"" + long_name + "\",\n  1, 2, 3\n]");
    CHECK(laid("7") == "7");
    CHECK(laid("not json [1,") == "not json [1,");
    CHECK(laid("") == "");

    size_t count = 0;
    for (const auto &file : std::filesystem::directory_iterator(examples_folder())) {
        std::string text = example_file(file.path().filename().string());
        // Those of errors may be no JSON.
        if (file.path().extension() != ".json" || text.size() > 40000 ||
            file.path().filename().string().rfind("error-", 0) == 0)
            continue;
        std::string out = laid(text), line;
        INFO(file.path().filename());
        CHECK(nlohmann::json::parse(out) == nlohmann::json::parse(text));
        CHECK(laid(out) == out);
        std::istringstream lines(out);
        size_t wide = 0;
        while (std::getline(lines, line)) // more than one value, and too long
            wide += line.size() > JSON_LAYOUT_WIDTH + 1 &&
                    line.find(", ") != std::string::npos &&
                    line.find('"') == std::string::npos;
        CHECK(wide == 0);
        count++;
    }
    CHECK(count > 300);
}

TEST_CASE("any text as markdown gives balanced tags", "[docs][property]")
{
    const std::string letters = "#-*`[]()| \n<>1.a&\"";
    unsigned state = 1;

    for (int round = 0; round < 2000; round++) {
        std::string text;
        for (unsigned n = round % 60; n > 0; n--) {
            state = state * 1664525u + 1013904223u;
            text += letters[(state >> 16) % letters.size()];
        }
        std::string html = markdown(text);
        std::vector<std::string> open;
        static const std::regex tag("<(/?)([a-z0-9]+)[^>]*>");
        bool balanced = true;

        for (std::sregex_iterator i(html.begin(), html.end(), tag), end; i != end; ++i) {
            if ((*i)[1].length() == 0)
                open.push_back((*i)[2]);
            else if (!open.empty() && open.back() == (*i)[2])
                open.pop_back();
            else
                balanced = false;
        }
        INFO(text << "\n" << html);
        CHECK((balanced && open.empty()));
    }
}

TEST_CASE("every page is there, and every link leads somewhere", "[docs][api]")
{
    manual service;
    std::vector<std::string> paths = all_paths();
    std::map<std::string, std::string> pages;
    size_t pictures = 0;

    CHECK(paths.size() > 900);
    for (const std::string &path : paths) {
        api_reply r = service.get(path);
        bool chart = path.size() > 4 && path.substr(path.size() - 4) == ".svg";

        INFO(path);
        CHECK((r.status == 200 || (chart && r.status == 404)));
        pictures += chart && r.status == 200 && path != "/favicon.svg";
        if (r.status != 200)
            continue;
        std::string type = r.headers["Content-Type"];
        pages[path] = type.rfind("text/html", 0) == 0 ? r.body : "";
        if (type.rfind("text/html", 0) == 0) {
            CHECK(r.headers["Content-Security-Policy"].find("default-src 'none'") == 0);
            CHECK(r.body.find("<script") == std::string::npos);
            CHECK(r.body.find(" style=") == std::string::npos);
            CHECK(r.body.find("<title>") != std::string::npos);
        }
    }
    CHECK(pictures > 30);
    std::set<std::string> seen;
    for (auto &[path, html] : pages)
        for (const std::string &link : links_of(html)) {
            if (link.empty() || link.rfind("https://", 0) == 0 ||
                !seen.insert(link).second)
                continue;
            INFO(path << " links to " << link);
            CHECK(link[0] == '/');
            int status =
                pages.count(decoded(link)) ? 200 : service.get(decoded(link)).status;
            CHECK(status == 200);
        }
    CHECK(seen.size() > 500);
}

TEST_CASE("every policy has a text of its own: idea, formula, when, when not, ties, cost",
          "[docs]")
{
    test_arena a(1 << 24);
    std::set<std::string> wanted;
    size_t count = 0;

    for (const policy_family *f = policy_families; f->name; f++)
        for (const policy *p = f->policies; p->name; p++, count++) {
            std::string name =
                std::string("algorithms/") + f->name + "." + p->name + ".md";
            const char *text = docs_file(name.c_str(), a);

            INFO(name);
            wanted.insert("docs/" + name);
            CHECK(text != nullptr);
            for (const char *part : {"# Idea", "# Formula\n\n```formula\n",
                                     "# When to use", "# When not", "# Ties", "# Cost"})
                CHECK((text && strstr(text, part)));
            const char *cost = text ? strstr(text, "# Cost") : nullptr;
            CHECK(
                (cost && strstr(cost, "O("))); // in words alone it compares with nothing
        }
    CHECK(count > 90);
    for (const asset *f = doc_files; f->path; f++)
        if (std::string(f->path).rfind("docs/algorithms/", 0) == 0) {
            INFO(f->path);
            CHECK(wanted.count(f->path) == 1);
        }
}

TEST_CASE("each algorithm says where the manual has its formula", "[docs][api]")
{
    manual service;
    size_t count = 0;

    const nlohmann::json with = service.get("/v1/algorithms").json();
    for (const auto &item : with["items"]) {
        std::string at = item["formula"];
        size_t hash = at.find('#');

        INFO(at);
        REQUIRE(hash != std::string::npos);
        CHECK(service.get(at.substr(0, hash))
                  .body.find("id=\"" + at.substr(hash + 1) + "\"") != std::string::npos);
        count++;
    }
    CHECK(count > 90);
    service.settings.docs = false;
    const nlohmann::json without = service.get("/v1/algorithms").json();
    for (const auto &item : without["items"])
        CHECK(!item.contains("formula"));
}

TEST_CASE("engines and running it have pages, with the rules for alerts", "[docs][api]")
{
    api a;
    std::string engines = a.get("/docs/engines").body;

    CHECK(engines.find("gridplan_snakemake.py init --url http://127.0.0.1:") !=
          std::string::npos);
    CHECK(engines.find("http://gridplan") == std::string::npos);
    CHECK(a.get("/docs/operation").body.find("/docs/monitoring/alerts.yml") !=
          std::string::npos);
    CHECK(a.get("/docs/start").body.find("./run") == std::string::npos);
    for (const char *name : {"alerts.yml", "grafana.json"}) {
        std::ifstream file(std::string(GRIDPLAN_SOURCE_DIR) + "/docker/monitoring/" +
                           name);
        std::stringstream text;

        text << file.rdbuf();
        CHECK(text.str().size() > 1000);
        CHECK(a.get(std::string("/docs/monitoring/") + name).body == text.str());
    }
    CHECK(a.get("/docs/monitoring/other.yml").status == 404);
    // Words are looked for in the part of the README that a page shows.
    for (const char *word : {"alerts", "snakemake"}) {
        std::string found = a.get(std::string("/docs/search?q=") + word).body;
        CHECK((found.find("href=\"/docs/operation\">Running") != std::string::npos) ==
              (std::string(word) == "alerts"));
        CHECK((found.find("href=\"/docs/engines\">Connect") != std::string::npos) ==
              (std::string(word) == "snakemake"));
    }
}

TEST_CASE("every policy says what it costs at three sizes", "[docs][api]")
{
    api a;
    std::ifstream file(std::string(GRIDPLAN_SOURCE_DIR) + "/openapi/docs/costs.csv");
    std::map<std::string, std::vector<double>> sizes;
    std::string line;

    REQUIRE(file);
    std::getline(file, line);
    CHECK(line.rfind("machine,", 0) == 0);
    while (std::getline(file, line)) {
        std::stringstream fields(line);
        std::string family, policy, what, size, time_s;

        for (std::string *to : {&family, &policy, &what, &size, &time_s})
            std::getline(fields, *to, ',');
        CHECK(!what.empty());
        CHECK(std::stod(time_s) > 0);
        sizes[family + "/" + policy].push_back(std::stod(size));
    }
    for (const policy_family *f = policy_families; f->name; f++)
        for (const policy *p = f->policies; p->name; p++) {
            std::string name = std::string(f->name) + "/" + p->name;
            INFO(name);
            REQUIRE(sizes[name].size() == 3); // tests/bench/costs.py
            CHECK((sizes[name][0] < sizes[name][1] && sizes[name][1] < sizes[name][2]));
            std::string page = a.get("/docs/algorithms/" + name).body;
            CHECK(page.find("<h2 id=\"measured\">") != std::string::npos);
            for (double size : sizes[name]) {
                char row[64];
                snprintf(row, sizeof(row), "<th scope=\"row\">%.0f</th>", size);
                CHECK(page.find(row) != std::string::npos);
            }
            sizes.erase(name);
        }
    CHECK(sizes.empty()); // of policies that there are not
}

namespace
{

// Whether a request is accepted, and decides: none of the lists is empty that are not
// when all is said.
bool decides(api &a, const example &e, const nlohmann::json &body,
             const std::vector<std::string> &lists)
{
    api_reply r = a.call(e.method, e.target, body.dump());

    if (r.status != 200)
        return false;
    nlohmann::json answer = r.json();
    for (const std::string &name : lists)
        if (answer[name].empty())
            return false;
    return answer.value("status", "") != "infeasible";
}

// Pointers to members of `part` that `body` can do without; now_s is said where answers
// would follow the clock.
void find_spare(api &a, const example &e, nlohmann::json &body, nlohmann::json &part,
                const std::string &at, const std::vector<std::string> &lists,
                std::vector<std::string> &spare)
{
    nlohmann::json whole = part;

    if (part.is_object())
        for (auto &[name, value] : whole.items()) {
            part.erase(name);
            if (name != "now_s" && decides(a, e, body, lists) &&
                request_mistakes(e.method, e.target, body.dump()).empty())
                spare.push_back(e.name + at + "/" + name);
            part = whole;
        }
    if (part.is_object())
        for (auto &[name, value] : whole.items())
            if (value.is_structured())
                find_spare(a, e, body, part[name], at + "/" + name, lists, spare);
    for (size_t i = 0; part.is_array() && i < part.size(); i++)
        if (part[i].is_structured())
            find_spare(a, e, body, part[i], at + "/" + std::to_string(i), lists, spare);
}

} // namespace

TEST_CASE("the least request of a decision has what is required and nothing else",
          "[docs][api]")
{
    api a;
    std::set<std::string> least, wanted;
    std::vector<std::string> spare;

    for (const example &e : examples()) {
        if (e.name.size() < 6 || e.name.substr(e.name.size() - 6) != "-least")
            continue;
        INFO(e.name);
        nlohmann::json body = nlohmann::json::parse(e.body);
        api_reply r = a.call(e.method, e.target, e.body);
        INFO(r.body);
        REQUIRE(r.status == 200);
        std::vector<std::string> lists;
        nlohmann::json answer = r.json();
        for (auto &[name, value] : answer.items())
            if (value.is_array() && !value.empty() && name != "warnings")
                lists.push_back(name);
        CHECK(decides(a, e, body, lists));
        find_spare(a, e, body, body, "", lists, spare);
        least.insert(e.row->operation);
        std::string page = a.get(std::string("/docs/api/") + e.row->operation).body;
        CHECK(page.find("id=\"less\"") < page.find("/docs/examples/" + e.name + ".json"));
        CHECK(page.find("/docs/examples/" + e.name + ".json") < page.find("id=\"more\""));
    }
    CHECK(spare == std::vector<std::string>{});
    for (const route *r = routes(); r->method; r++)
        if (r->flags & ROUTE_DECISION && r->request &&
            std::string(r->path).rfind("/v1/", 0) == 0)
            wanted.insert(r->operation);
    for (const std::string &operation : wanted) {
        INFO(operation);
        CHECK(least.count(operation) == 1);
    }
}

TEST_CASE("pictures of the manual have bars", "[docs][api]")
{
    api a;
    std::set<std::string> pictures;
    std::regex source("src=\"(/docs/examples/[^\"]*)\"");

    for (const route *r = routes(); r->method; r++)
        for (std::string path :
             {std::string("/docs/rooms/") + (r->tag ? r->tag->name : ""),
              std::string("/docs/api/") + r->operation}) {
            if (!(r->flags & ROUTE_ANSWERS_CHART))
                continue;
            std::string page = a.get(path).body;
            for (std::sregex_iterator i(page.begin(), page.end(), source), end; i != end;
                 ++i)
                pictures.insert((*i)[1]);
        }
    CHECK(pictures.size() > 10);
    for (const std::string &path : pictures) {
        INFO(path);
        std::string svg = a.get(path).body;
        CHECK(svg.rfind("<svg", 0) == 0);
        CHECK(svg.find("Nothing is scheduled") == std::string::npos);
    }
}

TEST_CASE("every operation, policy and code has its page in the index", "[docs]")
{
    std::vector<std::string> list = all_paths();
    std::set<std::string> paths(list.begin(), list.end());

    for (const route *r = routes(); r->method; r++)
        if (!(r->flags & ROUTE_ASSET))
            CHECK(paths.count(std::string("/docs/api/") + r->operation) == 1);
    for (const policy_family *f = policy_families; f->name; f++)
        for (const policy *p = f->policies; p->name; p++)
            CHECK(paths.count(std::string("/docs/algorithms/") + f->name + "/" +
                              p->name) == 1);
    for (const char *code : {"invalid", "unknown_member", "conflict", "rate_limited"})
        CHECK(paths.count(std::string("/docs/errors/") + code) == 1);
    CHECK(paths.size() == list.size()); // each once
}

TEST_CASE("what is not there is answered with the nearest pages", "[docs][api]")
{
    manual service;
    api_reply r = service.get("/docs/api/decidePlacement");

    CHECK(r.status == 404);
    CHECK(r.headers["Content-Type"] == "text/html; charset=utf-8");
    CHECK(r.body.find("/docs/api/decidePlacements") != std::string::npos);
    // Words count more than letters.
    for (auto [wanted, near] :
         {std::pair{"/docs/api/orderQueue", "/docs/api/decideQueueOrders"},
          std::pair{"/docs/algorithms/mct", "/docs/algorithms/placement/mct"},
          std::pair{"/docs/errors/too_big_header", "/docs/errors/header_too_large"}}) {
        INFO(wanted);
        CHECK(service.get(wanted).body.find(near) != std::string::npos);
    }
    CHECK(links_of(r.body).size() >= 3);
    r = service.get("/docs/<script>x</script>");
    CHECK(r.status == 404);
    CHECK(r.body.find("<script>x") == std::string::npos);
    r = service.get("/docs");
    CHECK(r.status == 308);
    CHECK(r.headers["Location"] == "/docs/");
    CHECK(service.get("/ui/app.js").status == 404);
    CHECK(service.get("/ui/app.js").json()["code"] == "not_found");
    CHECK(service.get("/ui/").status == 404);
}

TEST_CASE("pages have a tag for each encoding, and are asked for again", "[docs][api]")
{
    manual service;
    api_reply plain = service.get("/docs/which");
    api_reply packed =
        service.call("GET", "/docs/which", "", {{"accept_encoding", "gzip"}});
    std::string tag = plain.headers["ETag"], packed_tag = packed.headers["ETag"];

    CHECK(plain.headers["Cache-Control"] == "no-cache");
    CHECK(plain.headers["Vary"] == "Accept-Encoding");
    CHECK(packed.headers["Content-Encoding"] == "gzip");
    CHECK(tag != packed_tag);
    test_arena a(1 << 22);
    error err{};
    const char *text;
    size_t length;
    REQUIRE(gzip_inflate(packed.body.data(), packed.body.size(), 1 << 20, &text, &length,
                         a, &err) == OK);
    CHECK(std::string(text, length) == plain.body);
    for (const std::string &known :
         {tag, packed_tag, "\"x\", " + tag, std::string("*")}) {
        api_reply again =
            service.call("GET", "/docs/which", "", {{"if_none_match", known}});
        INFO(known);
        CHECK(again.status == 304);
        CHECK(again.body.empty());
        CHECK(again.headers["Vary"] == "Accept-Encoding");
    }
    CHECK(service.call("GET", "/docs/which", "", {{"if_none_match", "\"x\""}}).status ==
          200);

    std::string css;
    for (const std::string &link : links_of(plain.body))
        if (link.rfind("/ui/docs.", 0) == 0)
            css = link;
    api_reply style = service.get(css);
    CHECK(std::regex_match(css, std::regex("/ui/docs\\.[0-9a-f]{10}\\.css")));
    CHECK(style.status == 200);
    CHECK(style.headers["Content-Type"] == "text/css; charset=utf-8");
    CHECK(style.headers["Cache-Control"] == "public, max-age=31536000, immutable");
    CHECK(style.headers["X-Content-Type-Options"] == "nosniff");
    CHECK(
        service.call("GET", css, "", {{"if_none_match", style.headers["ETag"]}}).status ==
        304);
}

TEST_CASE("the root is a page for browsers and service-info for programs", "[docs][api]")
{
    manual service;
    api_reply info = service.get("/v1/service-info");

    for (const char *accept : {"*/*", "application/json", "text/plain, */*"}) {
        api_reply r = service.call("GET", "/", "", {{"accept", accept}});
        INFO(accept);
        CHECK(r.status == 200);
        CHECK(r.headers["Content-Type"] == "application/json");
        CHECK(r.headers["Vary"] == "Accept");
        CHECK(r.json() == info.json());
    }
    CHECK(service.get("/").status == 200);
    service.settings.ui = false;
    api_reply off = service.call("GET", "/", "", {{"accept", "text/html,*/*;q=0.8"}});
    CHECK(off.status == 404);
    CHECK(off.json()["errors"][0]["hint"].is_string());
    service.settings.docs = false;
    CHECK(service.get("/docs/").status == 404);
}

TEST_CASE("portals that may show pages in frames are named", "[docs][api]")
{
    manual service;

    CHECK(service.get("/docs/which")
              .headers["Content-Security-Policy"]
              .find("frame-ancestors 'none'") != std::string::npos);
    service.settings.frame_ancestors = "https://a.example,https://b.example";
    CHECK(service.get("/docs/glossary")
              .headers["Content-Security-Policy"]
              .find("frame-ancestors https://a.example https://b.example") !=
          std::string::npos);
}

TEST_CASE("commands on pages have the address that the client uses", "[docs][api]")
{
    manual service;

    service.settings.public_url = "https://plan.example.org";
    CHECK(service.get("/docs/api/decidePlacements")
              .body.find("https://plan.example.org/v1/placements") != std::string::npos);
    service.settings.public_url = "";
    service.settings.port = 8081;
    CHECK(service.get("/docs/api/decidePlacements")
              .body.find("http://127.0.0.1:8081/v1/placements") != std::string::npos);
}

TEST_CASE("the larger example of an operation is one that can be read", "[docs][api]")
{
    manual service;
    std::string body = service.get("/docs/api/decidePlacements").body;
    size_t more = body.find("Say more");

    REQUIRE(more != std::string::npos);
    CHECK(body.find("placement-braun.json |", more) == std::string::npos);
    CHECK(body.find("placement-", more) != std::string::npos);
}

TEST_CASE("the page of an operation has the words of its answer", "[docs][api]")
{
    manual service;
    std::string body = service.get("/docs/api/decidePlacements").body;

    for (const char *word : {"kpb", "mct longest", "cpus"}) {
        INFO(word);
        CHECK(body.find("<code>" + std::string(word) + "</code>") != std::string::npos);
    }
}

TEST_CASE("the search weighs titles, names and texts", "[docs][api]")
{
    manual service;
    auto first = [&](const std::string &q) {
        std::string body = service.get("/docs/search?q=" + q).body;
        size_t at = body.find("<li><a href=\"");
        return at == std::string::npos
                   ? ""
                   : body.substr(at + 13, body.find('"', at + 13) - at - 13);
    };

    CHECK(first("sufferage_pass") == "/docs/algorithms/placement/sufferage_pass");
    CHECK(first("etc_s") == "/docs/glossary#etc-s");
    CHECK(first("GRIDPLAN_PORT") == "/docs/settings#port");
    CHECK(first("several_ends") == "/docs/errors/#warning-several_ends");
    CHECK(first("gridplan+slurm") == "/docs/cli#slurm");
    CHECK(first("nothingofthekind") == "");
    CHECK(service.get("/docs/search?q=nothingofthekind")
              .body.find("No place has this word. ") != std::string::npos);
    CHECK(service.get("/docs/search?q=nothingofthekind+norofthat")
              .body.find("href=\"/docs/questions\">How do I?") != std::string::npos);
    // What members are called, and what is said of them; parts of their names.
    auto all = [&](const std::string &q) {
        return service.get("/docs/search?q=" + q).body;
    };
    for (const char *q : {"deadline", "gpus", "memory", "licence"}) {
        INFO(q);
        CHECK(all(q).find("/docs/api/decidePlacements\"") != std::string::npos);
    }
    CHECK(all("mtbf").find("/docs/api/getFailureStatistics") != std::string::npos);
    CHECK(all("deadline+nothingofthekind").find("some of these words, none has all") !=
          std::string::npos);
    // Singular and plural, in whichever case.
    CHECK(first("gpu") != "");
    CHECK(first("gpu") == first("GPUs"));
    CHECK(first("class") == first("CLASS"));
    CHECK(service.get("/docs/search").status == 200);
    CHECK(service.get("/docs/search?q=" + std::string(201, 'a')).status == 422);
    CHECK(service.get("/docs/search?q=<script>").body.find("value=\"&lt;script&gt;\"") !=
          std::string::npos);
}

TEST_CASE("an excerpt keeps the brackets of lists, and no marks of links", "[docs][api]")
{
    manual service;
    std::string body = service.get("/docs/search?q=gpu").body;

    CHECK(body.find("&quot;resources&quot;: [{&quot;id&quot;") != std::string::npos);
    CHECK(body.find("](") == std::string::npos);
    CHECK(body.find("[POST") == std::string::npos);
}

// What newcomers ask, and one of the pages that answer it: among the first three found.
TEST_CASE("questions find their answers", "[docs][api]")
{
    manual service;
    const struct {
        const char *words, *page;
    } cases[] = {
        {"how do I say that a job needs a licence", "questions#how-do-i-say-that-a-job-"},
        {"license", "questions#how-do-i-say-that-a-job-needs-a-licence"},
        {"what does gap mean", "questions#what-does-gap-mean"},
        {"gap_ratio", "glossary#gap-ratio"},
        {"checkpoint interval for a job on 64 nodes with my own failure log",
         "questions#how-do-i-get-a-checkpoint-interval-from-my-own-failure-log"},
        {"what happens when the database is down",
         "questions#what-happens-when-the-database-is-down"},
        {"which policies use deadlines", "questions#how-do-i-set-a-deadline"},
        {"workflow deadline", "questions#how-do-i-set-a-deadline"},
        {"how do I make an answer reproducible", "questions#how-do-i-make-an-answer-"},
        {"same result twice", "questions#how-do-i-make-an-answer-reproducible"},
        {"how do I correct a wrong execution", "questions#how-do-i-correct-a-wrong-"},
        {"fix a mistake in a stored run", "questions#how-do-i-correct-a-wrong-"},
        {"delete old failures", "questions#how-do-i-delete-stored-data"},
        {"rate limit", "questions#how-do-i-limit-what-a-user-may-take"},
        {"api key authentication", "questions#how-do-i-authenticate"},
        {"why is my job waiting", "questions#why-was-my-job-not-placed"},
        {"pagination", "questions#how-do-i-read-long-lists"},
        {"idempotency", "questions#how-do-i-send-a-request-again-safely"},
        {"stop a computation after 10 seconds", "questions#how-do-i-limit-how-long-"},
        {"two jobs must not run on the same machine", "questions#how-do-i-keep-two-"},
        {"preempt lower priority jobs", "questions#how-do-i-give-a-job-priority"},
        {"run a simulation in background", "questions#how-do-i-run-a-long-simulation"},
        {"what units are bandwidth", "questions#which-units-do-times-"},
        {"model drift", "glossary#drift"},
        {"roll back a model", "api/rollBackModel"},
        {"stage in time of files", "questions#how-do-i-say-where-files-are"},
        {"too many requests 429", "errors/rate_limited"},
        {"min_min", "algorithms/placement/min_min"},
        {"prometheus alerts", "questions#how-do-i-monitor-it"},
        {"bring my own ETC matrix", "questions#how-do-i-say-how-long-a-job-takes-"},
        {"nextflow trace file", "questions#how-do-i-feed-it-a-nextflow-trace-file"},
        {"memory in MiB", "questions#which-units-do-times-"},
        {"svg of a plan", "questions#how-do-i-get-a-picture"},
        {"embed in an iframe", "questions#how-do-i-embed-the-dashboard"},
        {"read only key", "questions#how-do-i-authenticate"},
        {"revoke an api key", "questions#how-do-i-authenticate"},
        {"data retention", "questions#how-do-i-delete-stored-data"},
        {"privacy", "questions#how-do-i-delete-stored-data"},
        {"reserve two clusters at once", "questions#how-do-i-run-a-job-over-several-"},
        {"how many copies on unreliable machines", "questions#should-i-checkpoint-"},
        {"cancel a long search", "questions#how-do-i-run-a-long-simulation"},
        {"squeue json", "questions#how-do-i-use-it-with-slurm"},
        {"how much memory should I request", "questions#how-much-memory-should-a-job"},
    };

    for (auto &c : cases) {
        std::string q = c.words;
        INFO(q);
        for (char &x : q)
            x = x == ' ' ? '+' : x;
        std::string body = service.get("/docs/search?q=" + q).body;
        size_t at = 0;
        for (int i = 0; i < 4 && at != std::string::npos; i++)
            at = body.find("<li><a href=", at + 1);
        std::string found = body.substr(0, at);
        INFO(found.substr(std::min(found.find("<ol>"), found.size())));
        CHECK(found.find(std::string("<li><a href=\"/docs/") + c.page) !=
              std::string::npos);
    }
}

TEST_CASE("an index of pages has all pages, and nothing of what they say", "[docs]")
{
    test_arena a(64 << 20), small(64 << 20);
    struct docs_index ix = docs_index(routes(), a);
    struct docs_index pages = docs_pages_index(routes(), small);
    size_t n = 0;

    for (size_t i = 0; i < ix.count; i++) {
        if (ix.items[i].anchor)
            continue;
        REQUIRE(n < pages.count);
        const docs_entry &e = pages.items[n++];
        INFO(e.path);
        CHECK(std::string(e.path) == ix.items[i].path);
        CHECK(std::string(e.title) == ix.items[i].title);
        CHECK_FALSE(e.anchor);
    }
    CHECK(n == pages.count);
    // A page that is not there, as each picture that an example has not, takes this one.
    CHECK(10 * arena_used_bytes(small) < arena_used_bytes(a));
}

TEST_CASE("what the search finds is there, its part of the page too", "[docs][api]")
{
    manual service;
    test_arena a(64 << 20);
    struct docs_index ix = docs_index(routes(), a);
    std::map<std::string, std::string> pages;
    size_t parts = 0;

    for (size_t i = 0; i < ix.count; i++) {
        const docs_entry &e = ix.items[i];
        if (!e.anchor)
            continue;
        std::string &page = pages[e.path];
        if (page.empty())
            page = service.get(e.path).body;
        INFO(e.path << "#" << e.anchor);
        CHECK(page.find(std::string(" id=\"") + e.anchor + "\"") != std::string::npos);
        parts++;
    }
    CHECK(parts > 200);
    // A sentence of it stands below the link.
    std::string found = service.get("/docs/search?q=several_ends").body;
    CHECK(found.find("<span class=\"dim\">") != std::string::npos);
}

TEST_CASE("the requests of the questions are answered", "[docs][api]")
{
    manual service;
    std::ifstream file(std::string(GRIDPLAN_SOURCE_DIR) + "/openapi/docs/questions.md");
    std::string line, path, body;
    size_t run = 0;
    static const std::regex post("\\[POST (/v1/[^\\]]*)\\]");

    for (bool in = false; std::getline(file, line);) {
        std::smatch m;
        if (!in && line == "```json") {
            in = true;
            body.clear();
        } else if (in && line == "```") {
            in = false;
            INFO(path << " " << body);
            auto answer = service.post(path, body);
            // History goes to the database, which is not there: the request was read.
            CHECK(answer.status == (path == "/v1/executions" ? 503 : 200));
            if (path == "/v1/placements")
                CHECK(answer.json()["unplaced"].empty());
            run++;
        } else if (in) {
            body += line + "\n";
        } else {
            for (std::sregex_iterator i(line.begin(), line.end(), post), end; i != end;
                 ++i)
                path = (*i)[1];
        }
    }
    CHECK(run >= 10);
}

TEST_CASE("kept pages: the oldest go when there is no room", "[docs]")
{
    test_arena a(1 << 20);
    cached_page page{"text/html", "0123456789", 10, 20, "tag"}, got{};
    page_cache *c = page_cache_create(1000);

    REQUIRE(c);
    CHECK_FALSE(page_cache_take(c, "a", &got, a));
    page_cache_keep(c, "a", &page);
    page_cache_keep(c, "a", &page); // once
    size_t one = page_cache_bytes(c);
    REQUIRE(page_cache_take(c, "a", &got, a));
    CHECK(std::string(got.gz, got.gz_length) == "0123456789");
    CHECK(std::string(got.etag) == "tag");
    CHECK(got.length == 20);
    for (char key = 'b'; key <= 'z'; key++) {
        const char text[] = {key, 0};
        page_cache_keep(c, text, &page);
        CHECK(page_cache_bytes(c) <= 1000);
        CHECK(page_cache_take(c, text, &got, a));
    }
    CHECK_FALSE(page_cache_take(c, "a", &got, a));
    CHECK(page_cache_bytes(c) / one == 1000 / one);
    page.gz_length = 2000; // larger than all
    page_cache_keep(c, "large", &page);
    CHECK_FALSE(page_cache_take(c, "large", &got, a));
    page_cache_close(c);
    CHECK_FALSE(page_cache_take(nullptr, "a", &got, a));
    page_cache_close(nullptr);
}

TEST_CASE("vendored files are those that MANIFEST names", "[docs]")
{
    std::filesystem::path folder = GRIDPLAN_SOURCE_DIR "/service/ui/vendor";
    std::ifstream manifest(folder / "MANIFEST");
    std::set<std::string> listed;
    size_t rows = 0;

    for (std::string line; std::getline(manifest, line);) {
        if (line[0] == '#')
            continue;
        std::istringstream in(line);
        std::string name, version, licence, integrity, sha256, file;
        in >> name >> version >> licence >> integrity >> sha256 >> file;
        std::ifstream data(folder / file, std::ios::binary);
        std::stringstream text;
        text << data.rdbuf();
        char hex[SHA256_HEX_SIZE];
        hash_sha256_hex(text.str().data(), text.str().size(), hex);
        INFO(file);
        CHECK(sha256 == hex);
        listed.insert(file);
        rows++;
    }
    CHECK(rows >= 4);
    for (auto &entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".js" || entry.path().extension() == ".css")
            CHECK(listed.count(
                      std::filesystem::relative(entry.path(), folder).string()) == 1);
}
