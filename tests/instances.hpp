// instances.hpp - what nearly every test file would compile again: the members of the
// usual texts, lists and maps are compiled once, in instances.cpp. C++20 compiles those
// of std::string wherever they are used: a tenth of the time of a test file.
#pragma once
#include "json.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#ifndef INSTANCES
#define INSTANCES extern template
#endif

INSTANCES class std::basic_string<char>;
INSTANCES class std::vector<std::string>;
INSTANCES class std::vector<double>;
INSTANCES class std::vector<unsigned long>;
INSTANCES class std::vector<long>;
INSTANCES class std::vector<int>;
INSTANCES class std::vector<const char *>;
INSTANCES class std::vector<json>;
INSTANCES class std::vector<std::vector<double>>;
INSTANCES class std::vector<std::vector<unsigned long>>;
INSTANCES class std::map<std::string, std::string>;
INSTANCES class std::map<std::string, double>;
INSTANCES class std::map<std::string, int>;
INSTANCES class std::map<std::string, unsigned long>;
INSTANCES class std::map<std::string, json>;
INSTANCES class std::set<std::string>;
INSTANCES class std::set<unsigned long>;
