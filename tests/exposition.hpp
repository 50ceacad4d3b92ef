// exposition.hpp - whether a text is what Prometheus reads without a complaint.
#pragma once
#include <catch2/catch.hpp>

#include <cmath>
#include <regex>
#include <set>
#include <sstream>
#include <string>

/* What the parser of Prometheus and `promtool check metrics` want: each family described
 * once and its samples together, no series twice, counters and only they end in _total,
 * base units, reserved suffixes for histograms only, buckets that grow
 * up to _count. How many series there are. */
inline size_t check_exposition(const std::string &text)
{
    static const std::regex described("# (HELP|TYPE) ([a-z_]+) (.+)"),
        sample("([a-z_]+)(\\{(.*)\\})? ([-+0-9.e]+)"),
        label("([a-z_]+)=\"(([^\"\\\\]|\\\\.)*)\",?"), bound("le=\"([^\"]*)\"");
    std::istringstream lines(text);
    std::set<std::string> families, series;
    std::string family, type;
    double last_bucket = 0, last_bound = -1;

    for (std::string line; std::getline(lines, line);) {
        std::smatch m;

        INFO(line);
        if (std::regex_match(line, m, described)) {
            if (m[1] == "TYPE") {
                CHECK(m[2] == family);
                type = m[3];
                CHECK((type == "counter" || type == "gauge" || type == "histogram"));
                CHECK((type == "counter") ==
                      std::regex_search(family, std::regex("_total$")));
                CHECK_FALSE(std::regex_search(
                    family,
                    std::regex("_(count|sum|bucket|ms|us|s|b|kb|mb|h|m|d|pct|"
                               "percent|milliseconds|minutes|hours|counter|gauge|"
                               "histogram)$|:|__|"
                               "_(milliseconds|minutes|hours|days|kilobytes|bits)_"
                               "total$")));
                continue;
            }
            family = m[2];
            CHECK(families.insert(family).second);
            continue;
        }
        REQUIRE(std::regex_match(line, m, sample));
        std::string name = m[1], labels = m[3];
        double value = std::stod(m[4]);

        CHECK(series.insert(name + labels).second);
        CHECK(std::regex_replace(labels, label, "").empty());
        if (type != "histogram") {
            CHECK(name == family);
            CHECK(labels.find("le=") == std::string::npos);
            continue;
        }
        if (name == family + "_bucket") {
            REQUIRE(std::regex_search(labels, m, bound));
            double le = m[1] == "+Inf" ? INFINITY : std::stod(m[1]);

            CHECK(le > last_bound);
            CHECK(value >= last_bucket);
            last_bound = le;
            last_bucket = value;
        } else if (name == family + "_count") {
            CHECK(std::isinf(last_bound));
            CHECK(value == last_bucket);
            last_bound = -1;
            last_bucket = 0;
        } else
            CHECK(name == family + "_sum");
    }
    return series.size();
}
