// examples.hpp - the examples of openapi/examples.
//
// NAME.json is the body of a request, NAME.answer.json its answer.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

// The requests, in the order of their names.
inline std::vector<std::filesystem::path> example_requests()
{
    std::vector<std::filesystem::path> list;

    for (const auto &entry :
         std::filesystem::directory_iterator(GRIDPLAN_SOURCE_DIR "/openapi/examples"))
        if (entry.path().extension() == ".json" &&
            entry.path().stem().extension().empty())
            list.push_back(entry.path());
    std::sort(list.begin(), list.end());
    return list;
}
