// asset_test.cpp - files that the program carries are those of the source tree.
#include "tests/support.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

extern "C" {
#include "service/asset.h"
#include "service/hash.h"
}

namespace fs = std::filesystem;

namespace
{

std::string file_text(const fs::path &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;

    REQUIRE(in);
    text << in.rdbuf();
    return text.str();
}

std::string asset_content(const asset &f)
{
    test_arena a(size_t{1} << 24);
    error err{};
    const char *text = nullptr;

    err.arena = a;
    REQUIRE(asset_text(&f, &text, a, &err) == OK);
    CHECK(text[f.length] == 0);
    return std::string(text, f.length);
}

// Every file below `folder` that ends so is in the table, with its bytes.
void check_table(const asset *list, size_t count, const std::string &folder,
                 const std::string &ending, bool with_ending)
{
    std::set<std::string> paths;

    for (const asset *f = list; f->path; f++) {
        std::string name = f->path + (with_ending ? "" : ending);
        std::string text = file_text(fs::path(GRIDPLAN_SOURCE_DIR) / folder / name);
        char hex[SHA256_HEX_SIZE];

        INFO(name);
        CHECK(asset_content(*f) == text);
        hash_sha256_hex(text.data(), text.size(), hex);
        CHECK(std::string(f->sha256) == std::string(hex).substr(0, 16));
        CHECK(paths.insert(name).second);
        CHECK(asset_find(list, f->path) == f);
    }
    for (auto &entry : fs::directory_iterator(fs::path(GRIDPLAN_SOURCE_DIR) / folder))
        if (entry.path().extension() == ending || ending.empty())
            CHECK(paths.count(entry.path().filename().string()) == 1);
    CHECK(paths.size() == count);
}

std::string run_embed(const fs::path &folder, const std::string &list)
{
    std::ofstream(folder / "list") << list;
    std::string command = std::string(build_embed) + " " + (folder / "out.c").string() +
                          " " + (folder / "list").string() + " 2>/dev/null";
    return std::system(command.c_str()) == 0 ? file_text(folder / "out.c") : "refused";
}

} // namespace

TEST_CASE("migrations and examples are in the program as they are on disk", "[asset]")
{
    check_table(migrations, migration_count, "migrations", ".sql", false);
    check_table(example_files, example_file_count, "openapi/examples", "", true);
    CHECK(asset_find(example_files, "nothing.json") == nullptr);
}

TEST_CASE("migrations have numbers without gaps", "[asset]")
{
    for (size_t i = 0; i < migration_count; i++) {
        char number[32];

        snprintf(number, sizeof(number), "%04zu_", i + 1);
        CHECK(std::string(migrations[i].path).rfind(number, 0) == 0);
        CHECK(migrations[i].data);
    }
}

TEST_CASE("names of embedded files follow their bytes, leaves first", "[asset]")
{
    fs::path folder = fs::temp_directory_path() / ("embed_" + std::to_string(getpid()));
    fs::create_directories(folder);
    auto put = [&](const char *name, const std::string &text) {
        std::ofstream(folder / name, std::ios::binary) << text;
        return (folder / name).string();
    };
    auto name_of = [](const std::string &made, const std::string &stem) {
        size_t at = made.find("\"" + stem);
        REQUIRE(at != std::string::npos);
        return made.substr(at + 1, made.find('"', at + 1) - at - 1);
    };
    std::string leaf = put("leaf.js", "export const n = 1;\n");
    std::string root = put("root.js", "import {n} from '/ui/leaf.js';\n");
    std::string list = "files counter\n/ui/leaf.js\t" + leaf + "\tnamed\n/ui/root.js\t" +
                       root + "\tnamed\n";
    std::string first = run_embed(folder, list), again = run_embed(folder, list);

    CHECK(first == again); // no time in it
    CHECK(first.find("const size_t counter = 2;") != std::string::npos);
    put("leaf.js", "export const n = 2;\n");
    std::string other = run_embed(folder, list);
    CHECK(name_of(first, "/ui/leaf.") != name_of(other, "/ui/leaf."));
    CHECK(name_of(first, "/ui/root.") != name_of(other, "/ui/root."));
    char hex[SHA256_HEX_SIZE];
    hash_sha256_hex("export const n = 2;\n", 20, hex);
    CHECK(name_of(other, "/ui/leaf.") ==
          "/ui/leaf." + std::string(hex).substr(0, 10) + ".js");

    CHECK(run_embed(folder, "files counter\nx\t/nonexistent\tplain\n") == "refused");
    CHECK(run_embed(folder, "files counter\nx\t" + leaf + "\todd\n") == "refused");
    std::string empty = put("empty.txt", "");
    std::string made = run_embed(folder, "files counter\ne\t" + empty + "\tplain\n");
    CHECK(made.find("text_1, 0, NULL, 0}") != std::string::npos);
    fs::remove_all(folder);
}
