// examples.hpp - the examples of openapi/examples, each a request and its answer.
//
// What the files of an example are: openapi/README.md.
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
#include "handlers/routes.h"
#include "service/openapi.h"
}

struct example {
    std::string name, method, target, body;
    std::map<std::string, std::string> headers; // by the names of struct message
    const route *row;                           // nullptr: an error's
};

inline std::filesystem::path examples_folder()
{
    return GRIDPLAN_SOURCE_DIR "/openapi/examples";
}

// "" when there is no such file.
inline std::string example_file(const std::string &name)
{
    std::ifstream in(examples_folder() / name, std::ios::binary);

    return {std::istreambuf_iterator<char>(in), {}};
}

// NAME.http: a line METHOD TARGET, and lines of headers.
inline void read_head(const std::string &head, example &e)
{
    std::istringstream lines(head);
    std::string line;

    if (head.empty())
        return;
    lines >> e.method >> e.target >> std::ws;
    while (std::getline(lines, line)) {
        std::string name = line.substr(0, line.find(':'));

        for (char &c : name)
            c = c == '-' ? '_' : (char)tolower(c);
        e.headers[name] = line.substr(name.size() + 2);
    }
}

// The order in which they are sent: what decides; what stores, things before what belongs
// to them; what changes and reads that; requests that are refused; what removes. In each
// by name.
inline int example_turn(const example &e)
{
    static const std::map<std::string, int> turns = {
        {"POST", 1}, {"PUT", 4}, {"PATCH", 5}, {"GET", 6}, {"DELETE", 8}};

    if (!e.row)
        return 7;
    if (e.row->example)
        return 0;
    std::string path = e.row->path;

    if (e.method == "POST" && path.rfind("/v1/workflow-sessions/", 0) == 0)
        return turns.at("PUT") + 1; // which makes the session
    // ".../leases" comes before its "{lease_id}/confirm"
    int belongs = e.method == "POST" && path.rfind("/v1/snapshots/", 0) == 0
                      ? (int)std::count(path.begin(), path.end(), '{')
                      : 0;
    return turns.at(e.method) + belongs;
}

inline std::vector<example> examples()
{
    std::vector<example> list;
    std::set<std::string> names;

    for (const auto &file : std::filesystem::directory_iterator(examples_folder())) {
        std::string name = file.path().filename().string();
        names.insert(name.substr(0, name.find('.')));
    }
    for (const std::string &name : names) {
        example e{name, "", "", example_file(name + ".json"), {}, nullptr};

        if (e.body.empty())
            e.body = example_file(name + ".txt");
        for (const route *r = routes(); r->method; r++)
            if (openapi_is_example(r, name.c_str()))
                e.row = r;
        if (e.row) {
            e.method = e.row->method;
            e.target = e.row->path;
        }
        read_head(example_file(name + ".http"), e);
        list.push_back(e);
    }
    std::stable_sort(list.begin(), list.end(), [](const example &a, const example &b) {
        return example_turn(a) < example_turn(b);
    });
    return list;
}
