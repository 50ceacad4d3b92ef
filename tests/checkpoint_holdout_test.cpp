// checkpoint_holdout_test.cpp - policies chosen on the first two thirds of real failure
// logs, played on the last third.
#include "tests/support.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

extern "C" {
#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/checkpoint/trials.h"
}

namespace
{
struct cost {
    double c, r, w;
};

// The time of a job that starts at `at_s` and meets the failures as they were logged.
double replay(const std::vector<double> &failures, double at_s, const cost &job,
              trial_plan_fn *next, const void *plan)
{
    auto fails = std::upper_bound(failures.begin(), failures.end(), at_s);
    double clock_s = at_s, done_s = 0;
    double failed_s = fails == failures.begin() ? at_s : *(fails - 1);
    size_t segment = 0;
    bool is_restarted = false;

    for (;;) {
        trial_state state{};
        state.done_s = done_s;
        state.left_s = job.w - done_s;
        state.segment = segment;
        state.age_s = clock_s - failed_s;
        state.is_restarted = is_restarted;
        trial_segment s = next(plan, &state);
        bool is_last = s.work_s >= state.left_s;
        double end_s = clock_s + (is_restarted ? job.r : 0) +
                       (is_last ? state.left_s : s.work_s + job.c);
        if (fails == failures.end() || end_s <= *fails) {
            clock_s = end_s;
            if (is_last)
                return clock_s - at_s;
            done_s += s.work_s;
            segment++;
            is_restarted = false;
            continue;
        }
        clock_s = failed_s = *fails++;
        is_restarted = true;
    }
}

// The mean of 200 starts, over W.
double mean_ratio(const std::vector<double> &failures, double cut_s, const cost &job,
                  trial_plan_fn *next, const void *plan)
{
    double sum = 0, end_s = failures.back();

    for (int q = 0; q < 200; q++)
        sum += replay(failures, cut_s + (end_s - cut_s - 1.6 * job.w) * q / 199, job,
                      next, plan);
    return sum / 200 / job.w;
}

double interval_ratio(const std::vector<double> &failures, double cut_s, const cost &job,
                      double interval_s)
{
    trial_interval each = {interval_s, job.c};

    return mean_ratio(failures, cut_s, job, trial_next_interval, &each);
}

std::map<std::string, std::vector<double>> read_logs(const std::string &file)
{
    std::map<std::string, std::vector<double>> systems;
    std::ifstream log(file);
    std::string line;

    REQUIRE(std::getline(log, line));
    while (std::getline(log, line)) {
        std::istringstream in(line);
        std::string cell, system;
        struct tm tm = {};
        for (int i = 0; i <= 16; i++) {
            std::getline(in, cell, ',');
            if (i == 0)
                system = cell;
        }
        REQUIRE(strptime(cell.c_str(), "%m/%d/%Y %H:%M", &tm) != nullptr);
        systems[system].push_back(double(timegm(&tm)));
    }
    for (auto &s : systems)
        std::sort(s.second.begin(), s.second.end());
    return systems;
}
} // namespace

TEST_CASE("chosen on two thirds of a log, played on the last", "[checkpoint_laws]")
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    const std::map<std::string, double> means = {
        {"6", 1081970}, {"15", 357182}, {"24", 1147974}};
    auto systems = read_logs(std::string(data) +
                             "/02-failures/lanl-cfdr/sample-systems-6-15-24.csv");
    size_t cases = 0;

    for (const auto &known : means) {
        const std::vector<double> &failures = systems[known.first];
        double cut_s = failures[0] + (failures.back() - failures[0]) * 2 / 3;
        std::vector<double> gaps;
        for (size_t i = 1; i < failures.size() && failures[i] <= cut_s; i++)
            gaps.push_back(failures[i] - failures[i - 1]);
        // The first failure is the condition.
        double mean_s = (cut_s - failures[0]) / (double(gaps.size()) + 0.5);
        CHECK(mean_s == Approx(known.second).margin(1));
        gaps.erase(std::remove(gaps.begin(), gaps.end(), 0.0), gaps.end());
        weibull_fit fit = failure_fit_weibull(gaps.data(), gaps.size());
        failure_law law = {fit.shape, fit.scale_s, 0, NAN, 1};

        for (const cost &job : {cost{300, 600, 172800}, cost{1200, 1200, 172800},
                                cost{1200, 1200, 864000}}) {
            finite_job whole = {job.w, mean_s, job.c, job.r, job.r, 0, 1};
            trial_finite plan = {finite_best(&whole), job.c};
            trial_midpoint middle = trial_midpoint_of(&law, job.c, job.r, 1, job.w);
            double finite = mean_ratio(failures, cut_s, job, trial_next_finite, &plan);
            double weibull =
                mean_ratio(failures, cut_s, job, trial_next_midpoint, &middle);
            double exact_s = finite_endless_interval_s(job.c, mean_s);
            double formulas = std::min(
                interval_ratio(failures, cut_s, job, std::sqrt(2 * job.c * mean_s)),
                interval_ratio(failures, cut_s, job, exact_s));
            double hindsight = HUGE_VAL;
            for (int i = 0; i < 28; i++)
                hindsight = std::min(
                    hindsight, interval_ratio(failures, cut_s, job,
                                              exact_s * std::pow(2, (i - 14) / 4.0)));
            CAPTURE(known.first, job.c, job.w, finite, weibull, formulas, hindsight);
            CHECK(finite <= formulas * 1.005);
            CHECK(weibull <= formulas * 1.005);
            CHECK(finite <= hindsight * 1.012);
            CHECK(weibull <= hindsight * 1.012);
            cases++;
        }
    }
    CHECK(cases == 9);
}
