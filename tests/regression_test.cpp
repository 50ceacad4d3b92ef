// regression_test.cpp - run-time models from the parameters of runs.
#include "tests/support.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <zlib.h>

extern "C" {
#include "models/regression/regression.h"
#include "models/regression/triangle.h"
}

namespace
{

const double NONE = std::numeric_limits<double>::quiet_NaN();

struct runs {
    size_t input_count = 1;
    std::vector<double> inputs, time_s;

    void add(std::vector<double> row, double t)
    {
        input_count = row.size();
        inputs.insert(inputs.end(), row.begin(), row.end());
        time_s.push_back(t);
    }
    size_t size() const
    {
        return time_s.size();
    }
    const double *row(size_t i) const
    {
        return inputs.data() + i * input_count;
    }
    regression_data data() const
    {
        return {input_count, inputs.data(), time_s.data(), time_s.size()};
    }
};

const regression_kind &kind_of(const char *name)
{
    const regression_kind *kind = regression_kind_find(name);
    REQUIRE(kind);
    return *kind;
}

struct fitted {
    const regression_kind *kind;
    regression_model model;
    regression_report report;
    std::vector<size_t> outliers;
    std::string formula;
};

fitted fit(const regression_kind &kind, const runs &r,
           regression_options options = {nullptr, NONE})
{
    test_arena a;
    error err{};
    fitted f{&kind, {}, {}, {}, {}};
    regression_data data = r.data();
    REQUIRE(regression_fit(&kind, &data, &options, &f.model, &f.report, a, &err) == OK);
    f.outliers.assign(f.report.outliers, f.report.outliers + f.report.outlier_count);
    f.formula = f.report.formula ? f.report.formula : "";
    return f;
}

fitted fit(const char *kind, const runs &r)
{
    return fit(kind_of(kind), r);
}

regression_prediction predict(const fitted &f, std::vector<double> inputs,
                              double level = 0.8)
{
    regression_prediction p;
    regression_predict(f.kind, &f.model, inputs.data(), level, &p);
    return p;
}

// A level that is worked out changes no bit.
void check_level(const fitted &f, const std::vector<double> &inputs, double level)
{
    regression_level l = regression_level_of(f.kind, &f.model, level);
    regression_prediction once = predict(f, inputs, level), p;

    regression_predict_at(f.kind, &f.model, inputs.data(), &l, &p);
    CHECK(std::memcmp(&once.low_s, &p.low_s, sizeof(p.low_s)) == 0);
    CHECK(std::memcmp(&once.high_s, &p.high_s, sizeof(p.high_s)) == 0);
    CHECK(once.time_s == p.time_s);
    CHECK(once.basis == p.basis);
    if (p.reason == REGRESSION_OK && !std::isnan(level))
        CHECK(std::isnan(l.freedom) == (p.basis != REGRESSION_BASIS_RESIDUALS));
}

double normal(rng *r)
{
    return std::sqrt(-2 * std::log1p(-rng_uniform(r))) *
           std::cos(2 * M_PI * rng_uniform(r));
}

// A time, or a reason; and what holds for each.
void check_sane(const regression_prediction &p)
{
    if (p.reason != REGRESSION_OK) {
        CHECK(std::isnan(p.time_s));
        CHECK(std::isnan(p.low_s));
        CHECK(p.basis == REGRESSION_BASIS_NONE);
        return;
    }
    CHECK(p.time_s > 0);
    CHECK(std::isfinite(p.time_s));
    CHECK(p.extrapolation_ratio >= 1);
    if (p.basis == REGRESSION_BASIS_NONE) {
        CHECK(std::isnan(p.low_s));
        return;
    }
    CHECK(p.low_s >= 0);
    CHECK(p.low_s <= p.time_s);
    CHECK(p.high_s >= p.time_s);
    CHECK(std::isfinite(p.high_s));
}

const char *data_folder()
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data)
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
    return data;
}

std::vector<std::string> split(const std::string &line, char by)
{
    std::vector<std::string> out;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, by);)
        out.push_back(cell);
    return out;
}

// Rows of a table with a head, by column name; .gz files too.
std::vector<std::map<std::string, std::string>> read_table(const std::string &path,
                                                           char by)
{
    std::vector<std::map<std::string, std::string>> rows;
    std::vector<std::string> head;
    gzFile file = gzopen(path.c_str(), "r");
    char line[4096];
    REQUIRE(file);
    while (gzgets(file, line, sizeof(line))) {
        line[std::strcspn(line, "\r\n")] = 0;
        auto cells = split(line, by);
        if (head.empty()) {
            head = cells;
            continue;
        }
        rows.emplace_back();
        for (size_t i = 0; i < std::min(head.size(), cells.size()); i++)
            rows.back()[head[i]] = cells[i];
    }
    gzclose(file);
    return rows;
}

double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

double mean(const std::vector<double> &v)
{
    double sum = 0;
    for (double x : v)
        sum += x;
    return sum / static_cast<double>(v.size());
}

} // namespace

// ---- least squares ----

TEST_CASE("non-negative least squares is the best of all subsets",
          "[regression][property]")
{
    rng random = rng_create(5);
    for (int round = 0; round < 400; round++) {
        const size_t t = 1 + rng_index(&random, 5), rows = t + rng_index(&random, 10);
        double u[TRIANGLE_SIZE_MAX] = {0}, got[TRIANGLE_COLUMNS_MAX], squares;
        for (size_t i = 0; i < rows; i++) {
            double row[TRIANGLE_COLUMNS_MAX + 1];
            for (size_t k = 0; k <= t; k++)
                row[k] = std::pow(10, 2.0 * double(k)) * normal(&random);
            if (round % 5 == 0 && t > 1)
                row[1] = 3 * row[0]; // dependent columns
            triangle_add(u, t, row);
        }
        triangle_solve_nonnegative(u, t, got, &squares);
        double least = HUGE_VAL;
        for (unsigned mask = 0; mask < 1U << t; mask++) {
            double c[TRIANGLE_COLUMNS_MAX], s;
            if (triangle_solve(u, t, mask, c, &s) && *std::min_element(c, c + t) >= 0)
                least = std::min(least, s);
        }
        INFO("round " << round << ", " << t << " columns, " << rows << " rows");
        CHECK(*std::min_element(got, got + t) >= 0);
        CHECK(squares == Approx(least).epsilon(1e-9).margin(1e-6 * least));
    }
}

// ---- each kind ----

TEST_CASE("linear takes the line where it explains, else the median", "[regression]")
{
    runs line;
    for (int i = 1; i <= 5; i++)
        line.add({double(i)}, 3 + 2 * i);
    fitted f = fit("linear", line);
    CHECK(f.report.correlation == Approx(1).epsilon(1e-12));
    CHECK(predict(f, {7}).time_s == Approx(17).epsilon(1e-12));
    CHECK(predict(f, {7}).extrapolation_ratio == Approx(1.4).epsilon(1e-12));
    CHECK(f.formula == "3 + 2 x1");

    runs cloud;
    const double y[] = {5, 1, 4, 2, 6};
    for (int i = 0; i < 5; i++)
        cloud.add({double(i)}, y[i]);
    f = fit("linear", cloud);
    CHECK(std::fabs(f.report.correlation) < 0.75);
    CHECK(predict(f, {2}).time_s == 4);
    CHECK(predict(f, {2}).basis == REGRESSION_BASIS_QUANTILES);
    CHECK(predict(f, {2}, 0.5).low_s == 2);
    CHECK(predict(f, {2}, 0.5).high_s == 5);
}

TEST_CASE("a level that is worked out once changes no bit, and is fast", "[regression]")
{
    rng r = rng_stream(7, "levels");

    for (const regression_kind *kind = regression_kinds; kind->name; kind++)
        for (size_t count : {1, 2, 3, 4, 5, 9, 30, 300}) {
            runs some;
            for (size_t i = 0; i < count; i++) {
                std::vector<double> row;
                for (size_t k = 0; k < kind->inputs_min; k++)
                    row.push_back(1 + 20 * rng_uniform(&r));
                some.add(row, 5 + row[0] * (1 + 0.2 * rng_uniform(&r)));
            }
            fitted f = fit(*kind, some);
            if (f.report.reason != REGRESSION_OK)
                continue;
            INFO(kind->name << " " << count);
            for (double level : {0.1, 0.5, 0.9, 0.99, NONE})
                check_level(f, {some.row(0), some.row(0) + some.input_count}, level);
        }

    runs line;
    for (int i = 1; i <= 150; i++)
        line.add({double(i)}, 3 + 2 * i + i % 3);
    fitted f = fit("linear", line);
    regression_level l = regression_level_of(f.kind, &f.model, 0.9);
    regression_prediction p;
    double input = 70;
    const int rounds = 2000;
    clock_t start = clock();
    for (int i = 0; i < rounds; i++)
        regression_predict(f.kind, &f.model, &input, 0.9, &p);
    clock_t each = clock() - start;
    start = clock();
    for (int i = 0; i < rounds; i++)
        regression_predict_at(f.kind, &f.model, &input, &l, &p);
    CHECK(each > 5 * (clock() - start));
}

TEST_CASE("linear's median is of all runs", "[regression]")
{
    runs r;
    for (int i = 0; i < 1001; i++)
        r.add({double(i % 2)}, 1 + i);
    fitted f = fit("linear", r);
    regression_prediction p = predict(f, {1});
    CHECK(p.time_s == 501);
    CHECK(p.low_s == Approx(101).margin(5));
    CHECK(p.high_s == Approx(901).margin(5));
    CHECK(regression_refine(f.kind, &f.model, r.row(0), 10));
    CHECK(predict(f, {1}).time_s == Approx(937.5)); // of the latest 128
}

TEST_CASE("linear's interval is Student's", "[regression]")
{
    // x 1..5, y 2 4 5 4 5: b 0.6, a 2.2, s^2 0.8, r 0.7746; t(3, 80 %) = 1.637744
    runs r;
    const double y[] = {2, 4, 5, 4, 5};
    for (int i = 0; i < 5; i++)
        r.add({double(i + 1)}, y[i]);
    fitted f = fit("linear", r);
    regression_prediction p = predict(f, {6});
    double half = 1.6377443536962102 * std::sqrt(0.8) * std::sqrt(1 + 0.2 + 9.0 / 10);
    CHECK(f.report.correlation == Approx(0.7745966692).epsilon(1e-9));
    CHECK(p.time_s == Approx(5.8).epsilon(1e-12));
    CHECK(p.low_s == Approx(5.8 - half).epsilon(1e-9));
    CHECK(p.high_s == Approx(5.8 + half).epsilon(1e-9));
    CHECK(p.basis == REGRESSION_BASIS_RESIDUALS);
}

TEST_CASE("linear picks the input that explains most", "[regression]")
{
    rng random = rng_create(4);
    runs r;
    for (int i = 0; i < 40; i++) {
        double a = rng_uniform(&random), b = rng_uniform(&random), c = 7;
        r.add({a, c, b}, 10 + 5 * b + 0.2 * a);
    }
    test_arena arena;
    const char *names[] = {"alpha", "same", "beta"};
    fitted f = fit("linear", r);
    const char *formula = regression_formula(f.kind, &f.model, names, arena);
    REQUIRE(formula);
    CHECK(std::string(formula).find("beta") != std::string::npos);
    CHECK(predict(f, {0.5, 7, 0.5}).time_s == Approx(12.6).epsilon(0.02));
}

TEST_CASE("a line that falls below zero gives no such time", "[regression]")
{
    runs r;
    for (double x : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0})
        r.add({x}, x < 3 ? 0.5 : 10 * (x - 2.9));
    fitted f = fit("linear", r);
    regression_prediction p = predict(f, {1});
    CHECK(p.reason == REGRESSION_OK);
    CHECK(p.floored);
    CHECK(p.time_s == 0.5);
    check_sane(p);
    p = predict(f, {0.5});
    CHECK(p.reason == REGRESSION_NOT_POSITIVE);
    check_sane(p);
}

TEST_CASE("scale_out finds its own formula, without negative parts", "[regression]")
{
    runs r;
    for (double n : {2, 4, 6, 8, 12})
        for (double size : {1e4, 2e4, 4e4})
            r.add({n, size}, 12 + 0.03 * size / n + 5 * std::log(n) + 0.5 * n);
    fitted f = fit("scale_out", r);
    REQUIRE(f.report.reason == REGRESSION_OK);
    CHECK(predict(f, {16, 3e4}).time_s ==
          Approx(12 + 0.03 * 3e4 / 16 + 5 * std::log(16) + 8).epsilon(1e-8));

    // falls as n grows although the data say "negative price per machine"
    runs steep;
    for (double n : {1, 2, 4, 8})
        steep.add({n, 100}, 1000 / n - 5 * n + 50);
    f = fit("scale_out", steep);
    for (double n : {1.0, 3.0, 8.0, 100.0, 1000.0}) {
        regression_prediction p = predict(f, {n, 100});
        CHECK(p.reason == REGRESSION_OK);
        check_sane(p);
    }
}

TEST_CASE("scale_out is not moved by a straggler", "[regression]")
{
    runs r;
    for (double n : {2, 4, 6, 8, 12})
        for (int k = 0; k < 5; k++)
            r.add({n, 1e4}, (20 + 0.05 * 1e4 / n) * (n == 6 && k == 0 ? 10 : 1));
    fitted f = fit("scale_out", r);
    CHECK(predict(f, {6, 1e4}).time_s == Approx(20 + 500.0 / 6).epsilon(1e-6));
}

TEST_CASE("normal_form finds powers, logarithms and products", "[regression]")
{
    struct {
        const char *what;
        double (*time_s)(double, double);
        size_t inputs;
        double x, y;
    } cases[] = {
        {"x^2", [](double x, double) { return 5 + 0.2 * x * x; }, 1, 200, 0},
        {"constant", [](double, double) { return 42.0; }, 1, 300, 0},
        {"x log x", [](double x, double) { return 1 + x * std::log2(x); }, 1, 256, 0},
        {"1.5", [](double x, double) { return 2 + std::pow(x, 1.5); }, 1, 256, 0},
        {"product", [](double x, double y) { return 3 + 0.5 * x * y * y; }, 2, 128, 100},
        {"sum", [](double x, double y) { return 7 + 0.5 * x * x + 4 * y; }, 2, 128, 100},
        {"both", [](double x, double y) { return 9 + x * std::log2(x) * y + 2 * y; }, 2,
         128, 100},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.what)
        {
            runs r;
            for (double x : {4, 8, 16, 32, 64})
                for (double y : {10, 20, 30, 40, 50})
                    if (c.inputs == 2)
                        r.add({x, y}, c.time_s(x, y));
                    else if (y < 20)
                        r.add({x}, c.time_s(x, 0));
            fitted f = fit("normal_form", r);
            std::vector<double> q =
                c.inputs == 2 ? std::vector<double>{c.x, c.y} : std::vector<double>{c.x};
            INFO(f.formula);
            CHECK(predict(f, q).time_s == Approx(c.time_s(c.x, c.y)).epsilon(1e-6));
        }
}

TEST_CASE("normal_form finds three inputs that are not on a grid", "[regression]")
{
    rng random = rng_create(2);
    auto truth = [](double x, double y, double z) {
        return 30 + 0.5 * x * y + 4 * z * z;
    };
    runs r;
    for (int i = 0; i < 60; i++) {
        double x = 2 + 48 * rng_uniform(&random), y = 10 + 990 * rng_uniform(&random),
               z = 1 + 9 * rng_uniform(&random);
        r.add({x, y, z}, truth(x, y, z) * (1 + 0.02 * (2 * rng_uniform(&random) - 1)));
    }
    fitted f = fit("normal_form", r);
    INFO(f.formula);
    CHECK(f.report.cross_appe_pct < 3);
    CHECK(predict(f, {80, 1500, 8}).time_s == Approx(truth(80, 1500, 8)).epsilon(0.05));
}

TEST_CASE("power_law finds the exponent, and who warms up", "[regression]")
{
    rng random = rng_create(9);
    runs r;
    std::vector<size_t> firsts;
    for (double n : {64, 128, 256, 512})
        for (int k = 0; k < 20; k++) {
            if (k == 0)
                firsts.push_back(r.size());
            r.add({n}, 1e-9 * n * n * n * (1 + 0.01 * normal(&random)) *
                           (k == 0 ? (n < 200 ? 8 : 0.8) : 1));
        }
    fitted f = fit("power_law", r);
    CHECK(f.outliers == firsts);
    CHECK(f.report.warm_up_count == 4);
    CHECK(predict(f, {1024}).time_s == Approx(1e-9 * std::pow(1024, 3)).epsilon(0.02));
    CHECK(f.report.used_count == 76);
}

TEST_CASE("power_law leaves out what no series explains", "[regression]")
{
    runs r;
    for (int i = 1; i <= 12; i++)
        r.add({10.0 * i}, 0.5 * std::pow(10 * i, 1.4) * (i == 7 ? 30 : 1));
    fitted f = fit("power_law", r);
    CHECK(f.outliers == std::vector<size_t>{6});
    CHECK(f.report.warm_up_count == 0);
    CHECK(predict(f, {200}).time_s == Approx(0.5 * std::pow(200, 1.4)).epsilon(1e-9));
}

TEST_CASE("power_law begins where the law does", "[regression]")
{
    runs bent, straight;
    rng random = rng_create(6);
    for (double n : {8, 16, 32, 64, 128, 256, 512, 1024, 2048})
        for (int k = 0; k < 3; k++) {
            double noise = 1 + 0.1 * normal(&random);
            bent.add({n}, 1e-3 + 1e-7 * n * n * n);
            straight.add({n}, 1e-7 * n * n * n * noise);
        }
    CHECK(predict(fit("power_law", bent), {4096}).time_s ==
          Approx(1e-7 * std::pow(4096, 3)).epsilon(0.02));
    CHECK(fit("power_law", straight).report.used_count >= 26);
    fitted all = fit(kind_of("power_law"), bent, {nullptr, 0});
    CHECK(all.report.used_count == 27);
    fitted some = fit(kind_of("power_law"), bent, {nullptr, 256});
    CHECK(some.report.used_count == 12);
}

// ---- what holds for every kind ----

TEST_CASE("degenerate runs are answered with a reason or a sane time",
          "[regression][property]")
{
    for (const regression_kind *k = regression_kinds; k->name; k++) {
        size_t inputs = k->inputs_min;
        auto row = [&](double x) { return std::vector<double>(inputs, x); };
        std::map<std::string, runs> cases;
        cases["nothing"].input_count = inputs;
        cases["one run"].add(row(3), 7);
        for (int i = 0; i < 10; i++) {
            cases["identical"].add(row(3), 7);
            cases["equal inputs"].add(row(3), 7 + i);
            cases["equal times"].add(row(3 + i), 7);
            cases["zero times"].add(row(3 + i), 0);
            cases["negative times"].add(row(3 + i), -1);
            cases["negative inputs"].add(row(-3 - i), 5 + i);
            cases["zero inputs"].add(row(0), 5 + i);
            cases["huge times"].add(row(3 + i), 1e308);
            cases["huge inputs"].add(row(1e308), 5 + i);
            cases["huge but usable"].add(row(1e100 * (1 + i)), 1e100 * (1 + i));
            cases["tiny"].add(row(1e-100 * (1 + i)), 1e-100 * (1 + i));
            cases["not numbers"].add(row(NONE), i % 2 ? NONE : HUGE_VAL);
            cases["mixed"].add(row(i % 3 ? i : NONE), i % 4 ? i * i : -1);
            cases["steep"].add(row(1 + 1e-9 * i), std::pow(10, i));
        }
        for (auto &c : cases) {
            INFO(k->name << ": " << c.first);
            fitted f = fit(*k, c.second);
            CHECK(f.report.used_count + f.report.unusable_count <= c.second.size());
            if (c.first == "nothing" || c.first == "zero times" ||
                c.first == "not numbers" || c.first == "huge times" ||
                c.first == "huge inputs" || c.first == "negative times")
                CHECK(f.report.reason == REGRESSION_NO_DATA);
            if (f.report.reason != REGRESSION_OK)
                continue;
            CHECK(!f.formula.empty());
            for (double x : {3.0, 5.0, 0.0, -1.0, 1e-300, 1e6, 1e308, NONE, HUGE_VAL})
                check_sane(predict(f, row(x)));
        }
    }
}

TEST_CASE("far outside there is no answer, nearer by there is a measure",
          "[regression][property]")
{
    for (const regression_kind *k = regression_kinds; k->name; k++) {
        INFO(k->name);
        runs r;
        for (int i = 1; i <= 10; i++) {
            std::vector<double> row(k->inputs_min, i);
            row.back() = 100.0 * i;
            r.add(row, 50 + 3.0 * i * (k->inputs_min == 1 ? i : 1));
        }
        fitted f = fit(*k, r);
        REQUIRE(f.report.reason == REGRESSION_OK);
        std::vector<double> q(k->inputs_min, 5);
        q.back() = 3000;
        CHECK(predict(f, q).extrapolation_ratio == Approx(3).epsilon(1e-12));
        CHECK(predict(f, q).extrapolated_input == k->inputs_min - 1);
        q.back() = 1e7;
        CHECK(predict(f, q).reason == REGRESSION_FAR);
        q.back() = 1e308;
        CHECK(predict(f, q).reason == REGRESSION_FAR);
    }
}

TEST_CASE("same runs, same bits; wrong numbers of inputs are refused",
          "[regression][property]")
{
    rng random = rng_create(12);
    for (const regression_kind *k = regression_kinds; k->name; k++) {
        INFO(k->name);
        runs r;
        for (int i = 0; i < 30; i++) {
            std::vector<double> row(k->inputs_min);
            for (auto &x : row)
                x = 1 + 9 * rng_uniform(&random);
            r.add(row, 1 + 100 * rng_uniform(&random));
        }
        fitted one = fit(*k, r), two = fit(*k, r);
        CHECK(std::memcmp(&one.model, &two.model, sizeof(one.model)) == 0);
        CHECK(one.formula == two.formula);
        for (int i = 0; i < 50; i++) {
            std::vector<double> q(k->inputs_min);
            for (auto &x : q)
                x = 30 * rng_uniform(&random);
            check_sane(predict(one, q));
        }

        test_arena a;
        error err = collecting_error(a);
        regression_data data = r.data();
        data.input_count = k->inputs_max + 1;
        data.sample_count = REGRESSION_SAMPLES_MAX + 1;
        CHECK(regression_fit(k, &data, nullptr, &one.model, &one.report, a, &err) ==
              ERR_INVALID);
        CHECK(err.item_count == 2);
    }
    CHECK(regression_kind_find("no such kind") == nullptr);
}

TEST_CASE("coefficients alone predict; broken ones are survived",
          "[regression][property]")
{
    rng random = rng_create(8);
    for (const regression_kind *k = regression_kinds; k->name; k++) {
        INFO(k->name);
        runs r;
        for (int i = 0; i < 20; i++) {
            std::vector<double> row(k->inputs_min, 1 + i % 7);
            row[0] = 2 + i;
            r.add(row, 5 + i + 3 * (i % 7));
        }
        fitted f = fit(*k, r);
        REQUIRE(f.report.reason == REGRESSION_OK);
        fitted stored = f;
        std::memset(&stored.model, 0, sizeof(stored.model));
        stored.model.input_count = f.model.input_count;
        stored.model.coefficient_count = f.model.coefficient_count;
        std::copy_n(f.model.coefficients, f.model.coefficient_count,
                    stored.model.coefficients);
        std::vector<double> q(k->inputs_min, 5);
        CHECK(predict(stored, q).time_s == predict(f, q).time_s);
        CHECK_FALSE(regression_refine(k, &stored.model, q.data(), 10));

        const double odd[] = {NONE, HUGE_VAL, -HUGE_VAL, -1, 1e308, 0.5, 3};
        for (int i = 0; i < 300; i++) {
            fitted broken = f;
            size_t at = rng_index(&random, broken.model.coefficient_count);
            broken.model.coefficients[at] = odd[rng_index(&random, 7)];
            if (i % 3 == 0)
                broken.model.coefficient_count = rng_index(&random, 300);
            check_sane(predict(broken, q));
            test_arena a;
            regression_formula(k, &broken.model, nullptr, a);
        }
    }
}

TEST_CASE("refining run by run gives what a fit of all gives", "[regression]")
{
    rng random = rng_create(21);
    for (const char *name : {"linear", "power_law"}) {
        INFO(name);
        runs first, all;
        for (int i = 0; i < 60; i++) {
            double x = 10 + 90 * rng_uniform(&random);
            double t = (4 + 0.7 * x) * (1 + 0.02 * normal(&random));
            if (i < 20)
                first.add({x}, t);
            all.add({x}, t);
        }
        fitted f = fit(kind_of(name), first, {nullptr, 0}),
               want = fit(kind_of(name), all, {nullptr, 0});
        for (size_t i = 20; i < 60; i++)
            REQUIRE(regression_refine(f.kind, &f.model, all.row(i), all.time_s[i]));
        for (double x : {10.0, 42.0, 150.0}) {
            CHECK(predict(f, {x}).time_s ==
                  Approx(predict(want, {x}).time_s).epsilon(1e-9));
            CHECK(predict(f, {x}).low_s ==
                  Approx(predict(want, {x}).low_s).epsilon(1e-6));
        }
        double bad[] = {NONE};
        CHECK_FALSE(regression_refine(f.kind, &f.model, bad, 5));
        CHECK_FALSE(regression_refine(f.kind, &f.model, all.row(0), -5));
        CHECK_FALSE(regression_refine(f.kind, &f.model, all.row(0), 1e308));
    }
}

TEST_CASE("scale_out learns from further runs, but not from nonsense", "[regression]")
{
    rng random = rng_create(22);
    auto truth = [](double n, double size) { return 20 + 0.05 * size / n + n; };
    runs r;
    for (double n : {2, 4, 6})
        r.add({n, 1e4}, truth(n, 1e4) * (n == 4 ? 1.2 : 1));
    fitted f = fit("scale_out", r);
    double before = std::fabs(predict(f, {16, 2e4}).time_s - truth(16, 2e4));
    for (int i = 0; i < 200; i++) {
        double q[] = {2 + std::floor(14 * rng_uniform(&random)),
                      1e4 + 1e4 * rng_uniform(&random)};
        REQUIRE(regression_refine(f.kind, &f.model, q,
                                  truth(q[0], q[1]) * (1 + 0.03 * normal(&random))));
    }
    CHECK(predict(f, {16, 2e4}).time_s == Approx(truth(16, 2e4)).epsilon(0.03));
    CHECK(std::fabs(predict(f, {16, 2e4}).time_s - truth(16, 2e4)) < before);
    double q[] = {4, 1e4};
    CHECK_FALSE(regression_refine(f.kind, &f.model, q, 1e7));
}

TEST_CASE("the interval holds the share of runs that it promises",
          "[regression][property]")
{
    rng random = rng_create(31);
    for (const regression_kind *k = regression_kinds; k->name; k++) {
        bool normal_form = std::string(k->name) == "normal_form";
        bool line = std::string(k->name) == "linear" || normal_form;
        double inside = 0, count = 0;
        auto draw = [&](std::vector<double> &row) {
            double t;
            row[0] = std::floor(2 + 14 * rng_uniform(&random));
            row.back() = 100 + 900 * rng_uniform(&random);
            if (row.size() == 2)
                t = 20 + row[1] / row[0] + row[0];
            else
                t = line ? 100 + 2 * row[0] : std::pow(row[0], 1.3);
            // additive where the kind assumes it
            return line ? t + 10 * normal(&random) : t * std::exp(0.1 * normal(&random));
        };
        for (int set = 0; set < (normal_form ? 15 : 60); set++) {
            std::vector<double> row(k->inputs_min);
            runs r;
            for (int i = 0; i < 30; i++) {
                double t = draw(row);
                r.add(row, t);
            }
            fitted f = fit(*k, r);
            for (int i = 0; i < 20; i++) {
                double t = draw(row);
                regression_prediction p = predict(f, row);
                if (p.basis == REGRESSION_BASIS_NONE)
                    continue;
                count++;
                inside += t >= p.low_s && t <= p.high_s;
            }
        }
        INFO(k->name << " " << inside / count);
        CHECK(count >= 300);
        CHECK(inside / count > 0.7);
        CHECK(inside / count < 0.9);
    }
}

// ---- measured ----

TEST_CASE("Lotaru: local tasks of bacass and methylseq", "[regression][data]")
{
    const char *folder = data_folder();
    if (!folder)
        return;
    struct {
        const char *workflow;
        double want_pct;
    } cases[] = {{"bacass", 10.1}, {"methylseq", 11.6}};
    for (auto &c : cases) {
        std::map<std::string, std::vector<std::map<std::string, std::string>>> tasks;
        for (auto &row :
             read_table(std::string(folder) + "/05-runtimes/lotaru/local__results_" +
                            c.workflow + "__execution_report_local.csv.gz",
                        ','))
            tasks[row["Task"]].push_back(row);
        std::vector<double> error_pct;
        for (auto &task : tasks) {
            runs r;
            for (auto &row : task.second)
                if (row["Label"] != "test")
                    r.add({std::stod(row["TaskInputSizeUncompressed"])},
                          std::stod(row["Realtime"]) / 1000);
            fitted f = fit("linear", r);
            for (auto &row : task.second) {
                if (row["Label"] != "test")
                    continue;
                double actual_s = std::stod(row["Realtime"]) / 1000;
                auto p = predict(f, {std::stod(row["TaskInputSizeUncompressed"])});
                REQUIRE(p.reason == REGRESSION_OK);
                error_pct.push_back(100 * std::fabs(p.time_s - actual_s) / actual_s);
            }
        }
        UNSCOPED_INFO(c.workflow << ": median absolute error " << median(error_pct)
                                 << " %");
        CHECK(median(error_pct) < c.want_pct + 0.05); // the reference is rounded
    }
}

TEST_CASE("C3O grep: each configuration predicted from the others", "[regression][data]")
{
    const char *folder = data_folder();
    if (!folder)
        return;
    using key = std::vector<std::string>;
    std::map<key, std::map<key, std::vector<double>>> contexts;
    for (auto &row : read_table(std::string(folder) + "/05-runtimes/c3o/grep.tsv", '\t'))
        contexts[{row["machine_type"], row["p_occurrence"]}]
                [{row["instance_count"], row["data_size_MB"]}]
                    .push_back(std::stod(row["gross_runtime"]));
    std::vector<double> each_pct, configuration_pct;
    double inside = 0;
    for (auto &context : contexts)
        for (auto &left_out : context.second) {
            runs r;
            for (auto &c : context.second)
                for (double t : c.second)
                    if (c.first != left_out.first)
                        r.add({std::stod(c.first[0]), std::stod(c.first[1])}, t);
            fitted f = fit("scale_out", r);
            auto p =
                predict(f, {std::stod(left_out.first[0]), std::stod(left_out.first[1])});
            REQUIRE(p.reason == REGRESSION_OK);
            for (double t : left_out.second) {
                each_pct.push_back(100 * std::fabs(p.time_s - t) / t);
                inside += t >= p.low_s && t <= p.high_s;
            }
            double middle = median(left_out.second);
            configuration_pct.push_back(100 * std::fabs(p.time_s - middle) / middle);
        }
    UNSCOPED_INFO("mean absolute error " << mean(each_pct) << " % of runs, "
                                         << mean(configuration_pct)
                                         << " % of configurations");
    CHECK(each_pct.size() == 810);
    CHECK(mean(each_pct) < 7.3);
    CHECK(mean(configuration_pct) < 7.3);
    CHECK(inside / 810 > 0.65);
    CHECK(inside / 810 < 0.95);
}

TEST_CASE("Extra-P: text files of its own", "[regression][data]")
{
    const char *folder = data_folder();
    if (!folder)
        return;
    struct {
        const char *file;
        double constant, coefficient, power;
    } cases[] = {{"text__one_parameter_1.txt", -0.88979, 0.20168, 2},
                 {"docs__examples__input.txt", NONE, 1.031, 1.5}};
    for (auto &c : cases) {
        std::ifstream in(std::string(folder) + "/05-runtimes/extra-p/" + c.file);
        std::vector<double> points;
        runs r;
        size_t at = 0;
        REQUIRE(in);
        for (std::string line; std::getline(in, line);) {
            std::replace(line.begin(), line.end(), '(', ' ');
            std::replace(line.begin(), line.end(), ')', ' ');
            std::istringstream words(line);
            std::string word;
            words >> word;
            double value;
            while (words >> value)
                if (word == "POINTS")
                    points.push_back(value);
                else if (word == "DATA")
                    r.add({points.at(at)}, value);
            at += word == "DATA";
        }
        fitted f = fit("normal_form", r);
        INFO(f.formula);
        double zero = predict(f, {points[0]}).time_s,
               far = predict(f, {points.back()}).time_s;
        double got = (far - zero) /
                     (std::pow(points.back(), c.power) - std::pow(points[0], c.power));
        CHECK(got == Approx(c.coefficient).epsilon(1e-3));
        if (!std::isnan(c.constant)) {
            CHECK(got == Approx(c.coefficient).margin(5e-6));
            CHECK(zero - got * std::pow(points[0], c.power) ==
                  Approx(c.constant).margin(5e-6));
        }
        CHECK(f.formula.find(c.power == 2 ? "x1^2" : "x1^1.5") != std::string::npos);
    }
}

TEST_CASE("dgemm: the exponent and the warm-ups", "[regression][data]")
{
    const char *folder = data_folder();
    if (!folder)
        return;
    runs all, large;
    std::vector<size_t> firsts;
    for (auto &row : read_table(std::string(folder) +
                                    "/05-runtimes/cholesky-kernels/dgemm_timing.csv",
                                ',')) {
        double n = std::stod(row["Size"]), t = std::stod(row["time(us)"]) * 1e-6;
        if (row["runIndex"] == "0")
            firsts.push_back(all.size());
        all.add({n}, t);
        if (n >= 256)
            large.add({n}, t);
    }
    for (const runs *r : {&all, &large}) {
        fitted f = fit("power_law", *r);
        INFO(f.formula);
        double exponent = std::log2(predict(f, {1024}).time_s / predict(f, {512}).time_s);
        CHECK(exponent == Approx(2.977).margin(0.003));
        CHECK(f.report.warm_up_count == (r == &all ? 6 : 3));
        if (r == &all)
            CHECK(std::includes(f.outliers.begin(), f.outliers.end(), firsts.begin(),
                                firsts.end()));
        CHECK(f.report.outlier_count < 30);
    }
}
