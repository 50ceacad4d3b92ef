// image_test.cpp - what the image is made of is told truly.
#include "support.hpp"
#include "tests/json.hpp"

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using nlohmann::json;

static std::string run(const std::string &command, int *status)
{
    FILE *p = popen(command.c_str(), "r");
    std::string text;
    char buffer[4096];

    REQUIRE(p);
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), p)) > 0;)
        text.append(buffer, n);
    *status = WEXITSTATUS(pclose(p));
    return text;
}

TEST_CASE("the bill of materials names what the program loads", "[program][image]")
{
    const std::string script = GRIDPLAN_SOURCE_DIR "/docker/sbom.sh ",
                      program = build_binary;
    std::string name = "/tmp/gridplan-sbom." + std::to_string(getpid());
    int status = 0;
    std::string text = run("SOURCE_DATE_EPOCH=1000000000 " + script + program, &status);

    REQUIRE(status == 0);
    json bill = json::parse(text);
    CHECK(bill["spdxVersion"] == "SPDX-2.3");
    CHECK(bill["dataLicense"] == "CC0-1.0");
    CHECK(bill["creationInfo"]["created"] == "2001-09-09T01:46:40Z");
    std::set<std::string> ids, names;
    for (auto &p : bill["packages"]) {
        CHECK(ids.insert(p["SPDXID"].get<std::string>()).second);
        names.insert(p["name"].get<std::string>());
        CHECK_FALSE(p["versionInfo"].get<std::string>().empty());
        CHECK_FALSE(p["licenseDeclared"].get<std::string>().empty());
    }
    for (const char *wanted :
         {"gridplan", "libmicrohttpd12", "libpq5", "libcjson1", "libc6"})
        CHECK(names.count(wanted) == 1);
    std::set<std::string> related;
    for (auto &r : bill["relationships"]) {
        std::string to = r["relatedSpdxElement"].get<std::string>(),
                    kind = r["relationshipType"].get<std::string>();
        CHECK(ids.count(to) == 1);
        CHECK(related.insert(to).second);
        if (to == "SPDXRef-libmicrohttpd12")
            CHECK(kind == "DYNAMIC_LINK");
    }
    CHECK(related.size() == ids.size());
    json &ours = bill["packages"][0];
    std::string sum = run("sha256sum " + program, &status).substr(0, 64);
    CHECK(ours["checksums"][0]["checksumValue"] == sum);

    std::ofstream(name) << text;
    run(script + "--check " + name + " " + program, &status);
    CHECK(status == 0);
    size_t at = text.find("\"name\": \"libpq5\", \"versionInfo\": \"");
    REQUIRE(at != std::string::npos);
    text.insert(at + 34, "9");
    std::ofstream(name) << text;
    run(script + "--check " + name + " " + program + " 2>&1", &status);
    CHECK(status == 1);
    unlink(name.c_str());
}

TEST_CASE("images are pinned in the form that the list has", "[image]")
{
    char folder[] = "/tmp/gridplan-pin.XXXXXX";
    int status = 0;

    REQUIRE(mkdtemp(folder));
    std::string to = folder, from = GRIDPLAN_SOURCE_DIR "/docker/";
    run("cp " + from + "{pin.sh,Dockerfile,compose.yaml} " + to + " 2>/dev/null || cp " +
            from + "pin.sh " + from + "Dockerfile " + from + "compose.yaml " + to,
        &status);
    REQUIRE(status == 0);
    std::string images = run(to + "/pin.sh --check; true", &status), list = "# digests\n";
    std::ofstream(to + "/digests.txt") << list;
    images = run(to + "/pin.sh --check", &status);
    CHECK(status == 1);
    CHECK(images.find("debian:12-slim\n") != std::string::npos);
    CHECK(images.find("gridplan:") == std::string::npos);
    std::istringstream lines(images);
    char digit = 'a';
    for (std::string image; std::getline(lines, image); digit++)
        list += image.substr(0, image.rfind(':')) + " " +
                image.substr(image.rfind(':') + 1) + " sha256:" + std::string(64, digit) +
                "\n";
    std::ofstream(to + "/digests.txt") << list;
    for (int round = 0; round < 2; round++) { // again: nothing changes
        run(to + "/pin.sh --apply", &status);
        CHECK(status == 0);
        CHECK(run(to + "/pin.sh --check", &status).empty());
        CHECK(status == 0);
        std::string file = run("cat " + to + "/Dockerfile", &status);
        CHECK(file.find("FROM debian:12-slim@sha256:") != std::string::npos);
        CHECK(file.find(" AS build\n") != std::string::npos);
        CHECK(file.find("FROM scratch\n") != std::string::npos);
    }
    run("rm -r " + to, &status);
}
