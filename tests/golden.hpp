// golden.hpp - recorded scores: what each heuristic reached on fixed instances.
//
//     golden_scores scores("placement");
//     scores.add("min_min", "200 of 20x4, integers", sum_of_makespans_s);
//     scores.check();
//
// A score is compared with its row of tests/golden/placement.csv. A heuristic that
// quietly got worse, or better, is so a visible line in a diff: where numbers differ, the
// test fails and says which file to copy over the recorded one.
#pragma once
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

class golden_scores
{
  public:
    explicit golden_scores(const std::string &name) : name_(name)
    {
    }
    // Neither name may contain a comma or a quotation mark; the pair is unique.
    void add(const std::string &heuristic, const std::string &instances, double score)
    {
        char number[40];

        snprintf(number, sizeof(number), "%.15g", score);
        rows_.push_back({heuristic + "," + instances, number});
    }
    // Every row as recorded, in the order of add(), none missing and none left over.
    void check() const
    {
        const std::string recorded =
            GRIDPLAN_SOURCE_DIR "/tests/golden/" + name_ + ".csv";
        const std::string found = "golden-" + name_ + ".csv";
        std::string differences = compare(read(recorded));

        REQUIRE_FALSE(rows_.empty());
        if (!differences.empty()) {
            std::ofstream out(found);

            out << head << "\n";
            for (const row &r : rows_)
                out << r.key << "," << r.score << "\n";
        }
        INFO("if the change is meant, copy " << found
                                             << " from the folder of this run to "
                                                "tests/golden/"
                                             << name_ << ".csv");
        CHECK(differences == "");
    }

  private:
    struct row {
        std::string key, score;
    };
    static constexpr const char *head = "heuristic,instances,score";

    static std::vector<row> read(const std::string &path)
    {
        std::ifstream in(path);
        std::vector<row> rows;
        std::string line;

        std::getline(in, line); // the head
        while (std::getline(in, line)) {
            size_t comma = line.rfind(',');
            if (comma != std::string::npos)
                rows.push_back({line.substr(0, comma), line.substr(comma + 1)});
        }
        return rows;
    }
    // Rounding in the last digits may differ from one compiler's options to another's.
    static bool same(const row &a, const row &b)
    {
        double x = std::stod(a.score), y = std::stod(b.score);

        return a.key == b.key &&
               (x == y ||
                std::fabs(x - y) <= 1e-11 * std::max(std::fabs(x), std::fabs(y)));
    }
    std::string compare(const std::vector<row> &recorded) const
    {
        std::ostringstream text;

        for (size_t i = 0; i < std::max(rows_.size(), recorded.size()); i++) {
            bool is_recorded = i < recorded.size(), is_found = i < rows_.size();
            if (is_recorded && is_found && same(recorded[i], rows_[i]))
                continue;
            if (is_recorded)
                text << "recorded " << recorded[i].key << "," << recorded[i].score
                     << "\n";
            if (is_found)
                text << "found    " << rows_[i].key << "," << rows_[i].score << "\n";
        }
        return text.str();
    }

    std::string name_;
    std::vector<row> rows_;
};
