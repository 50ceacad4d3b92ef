// auto_model_data_test.cpp - models of the kind auto on published run times: C3O grep (J.
// Will et al., 2021) and Lotaru's nf-core traces (J. Bader et al., 2022).
// learning.md 13.2.
#include "tests/support.hpp"

#include <algorithm>
#include <map>
#include <zlib.h>

extern "C" {
#include "models/fitted/core.h"
}

namespace
{
using row = std::map<std::string, std::string>;

std::vector<row> read_table(const std::string &name, char separator)
{
    const char *folder = getenv("GRIDPLAN_DATA");
    std::vector<row> out;
    std::vector<std::string> head;
    char line[8192];

    if (!folder) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return out;
    }
    gzFile file = gzopen((std::string(folder) + "/05-runtimes/" + name).c_str(), "rb");
    REQUIRE(file != nullptr);
    while (gzgets(file, line, sizeof(line))) {
        std::vector<std::string> cell(1);
        for (char *c = line; *c && *c != '\r' && *c != '\n'; c++)
            if (*c == separator)
                cell.emplace_back();
            else
                cell.back() += *c;
        if (head.empty()) {
            head = cell;
            continue;
        }
        row r;
        for (size_t i = 0; i < head.size() && i < cell.size(); i++)
            r[head[i]] = cell[i];
        out.push_back(r);
    }
    gzclose(file);
    return out;
}

struct given {
    double size, processors, time_s;
    std::vector<std::pair<const char *, double>> parameters;
    std::string machine;
};

// A model of some runs, and how it does on others.
struct trial {
    test_arena memory;
    error err{};
    ensemble_names names{};
    std::vector<double> error_pct;
    size_t inside = 0;

    fitted_run run(const given &g)
    {
        std::vector<named_value> parameters;
        fitted_run r{};
        perf_query q = {g.size > 0 ? g.size : NAN, g.processors, NAN, NAN};

        for (auto &p : g.parameters)
            parameters.push_back({p.first, VALUE_NUMBER, p.second, nullptr});
        r.run = {q.problem_size, g.processors, NAN, NAN, g.time_s, false, false};
        r.names = &names;
        fitted_auto_inputs(&names, &q, parameters.data(), parameters.size(),
                           g.machine.empty() ? nullptr : g.machine.c_str(), nullptr,
                           r.inputs, memory);
        return r;
    }
    void operator()(const std::vector<given> &train, const std::vector<given> &test)
    {
        model_settings settings{};
        fitted_model m{};
        struct fitted_interval interval {
        };
        std::vector<fitted_run> runs;

        arena_reset(memory);
        err.arena = memory;
        ensemble_names_create(&names, nullptr, 0);
        settings.robustness = drift_rule_preset;
        for (auto &g : train)
            runs.push_back(run(g));
        REQUIRE(fitted_train(MODEL_AUTO, &settings, runs.data(), runs.size(), nullptr, &m,
                             nullptr, memory, &err) == OK);
        REQUIRE(fitted_interval(&m, 0.9, &interval, memory, &err) == OK);
        for (auto &g : test) {
            fitted_run r = run(g);
            fitted_prediction p;
            perf_query q = {r.run.problem_size, g.processors, NAN, NAN};
            fitted_predict(&m, &q, r.inputs, &interval, &p);
            REQUIRE(p.reason == nullptr);
            CHECK(p.low_s <= p.time_s);
            CHECK(p.time_s <= p.high_s);
            error_pct.push_back(100 * std::fabs(p.time_s / g.time_s - 1));
            inside += g.time_s >= p.low_s && g.time_s <= p.high_s;
        }
    }
    double mean_pct() const
    {
        double sum = 0;
        for (double e : error_pct)
            sum += e;
        return sum / double(error_pct.size());
    }
    double covered_pct() const
    {
        return 100 * double(inside) / double(error_pct.size());
    }
};

// Fisher-Yates from the end, by splitmix64.
template <typename list> void shuffle(list &l, uint64_t seed)
{
    for (size_t i = l.size() - 1; i > 0; i--) {
        double u = double(splitmix64(&seed) >> 11) * 0x1p-53;
        std::swap(l[i], l[size_t(std::floor(u * double(i + 1)))]);
    }
}

std::vector<given> read_grep()
{
    std::vector<given> out;
    for (row &r : read_table("c3o/grep.tsv", '\t'))
        out.push_back({std::stod(r["data_size_MB"]),
                       std::stod(r["instance_count"]),
                       std::stod(r["gross_runtime"]),
                       {{"line_length", std::stod(r["line_length"])},
                        {"p_occurrence", std::stod(r["p_occurrence"])}},
                       r["machine_type"]});
    return out;
}
std::string configuration(const given &g)
{
    return std::to_string(g.processors) + " " + std::to_string(g.size) + " " + g.machine +
           " " + std::to_string(g.parameters[1].second);
}
void cut(const std::vector<given> &all, size_t first, trial &t)
{
    t({all.begin(), all.begin() + long(first)}, {all.begin() + long(first), all.end()});
}
} // namespace

TEST_CASE("the shuffle of the measurements", "[models]")
{
    std::vector<int> list = {0, 1, 2, 3, 4, 5, 6, 7};
    shuffle(list, 7);
    CHECK(list == std::vector<int>{7, 4, 6, 1, 2, 5, 0, 3});
}

// The bars of learning.md are 2.6, 6.0 and 4.2 %; without the member pairs the last two
// are 5.2 and 3.8.
TEST_CASE("C3O grep: rows, and configurations that were never seen", "[models][data]")
{
    const std::vector<given> all = read_grep();
    double error[3] = {}, covered = 0;

    if (all.empty())
        return;
    REQUIRE(all.size() == 810);
    for (uint64_t seed = 7; seed <= 9; seed++) {
        std::vector<given> rows = all;
        std::vector<std::string> order;
        std::map<std::string, std::vector<given>> of;

        shuffle(rows, seed);
        for (auto &g : all) {
            auto &list = of[configuration(g)];
            if (list.empty())
                order.push_back(configuration(g));
            list.push_back(g);
        }
        REQUIRE(order.size() == 162);
        shuffle(order, seed);
        trial t[3];
        cut(rows, 567, t[0]);
        cut(rows, 81, t[1]);
        std::vector<given> part[2];
        for (size_t c = 0; c < order.size(); c++)
            for (auto &g : of[order[c]])
                part[c >= 113].push_back(g);
        shuffle(part[0], seed); // configurations in a row are no stream
        t[2](part[0], part[1]);
        for (int i = 0; i < 3; i++) {
            CAPTURE(seed, i);
            error[i] += t[i].mean_pct() / 3;
            covered += t[i].covered_pct() / 9;
            CHECK(t[i].covered_pct() >= 86);
        }
    }
    CHECK(error[0] <= 2.4);
    CHECK(error[1] <= 6.0);
    CHECK(error[2] <= 4.2);
    CHECK(covered >= 88);
}

TEST_CASE("Lotaru: large inputs from small ones", "[models][data]")
{
    trial t;
    std::map<std::string, std::vector<given>> train, test;

    for (const char *name : {"bacass", "methylseq"})
        for (row &r : read_table(std::string("lotaru/local__results_") + name +
                                     "__execution_report_local.csv.gz",
                                 ',')) {
            bool trains = r["Label"].compare(0, 5, "train") == 0;
            (trains ? train : test)[name + (" " + r["Task"])].push_back(
                {std::stod(r["TaskInputSizeUncompressed"]),
                 1,
                 std::stod(r["Realtime"]) / 1000,
                 {},
                 ""});
        }
    if (train.empty())
        return;
    for (auto &task : train)
        if (task.second.size() >= 3)
            t(task.second, test[task.first]);
    CHECK(t.error_pct.size() == 24);
    std::sort(t.error_pct.begin(), t.error_pct.end());
    CHECK((t.error_pct[11] + t.error_pct[12]) / 2 <= 12);
    CHECK(t.mean_pct() <= 14);
    CHECK(t.covered_pct() >= 88);
}
