// Roll-ups of load samples: sketches, moments, and rows of minutes, hours and days.
#include "tests/support.hpp"

extern "C" {
#include "models/rollup/rollup.h"
}

#include <algorithm>
#include <map>
#include <random>

namespace
{

const sketch_bounds &bounds()
{
    static const sketch_bounds made = [] {
        sketch_bounds b;
        sketch_bounds_make(&b);
        return b;
    }();
    return made;
}

struct counted {
    sketch s;
    std::vector<double> values;

    counted()
    {
        sketch_init(&s);
    }
    counted(const std::vector<double> &list) : counted()
    {
        for (double x : list)
            add(x);
    }
    void add(double x)
    {
        sketch_add(&s, &bounds(), x);
        values.push_back(x);
    }
    double quantile(double p) const
    {
        auto [min, max] = std::minmax_element(values.begin(), values.end());

        return sketch_quantile(&s, &bounds(), *min, *max, p);
    }
};

std::string bytes_of(const sketch &s)
{
    std::vector<unsigned char> data(SKETCH_BYTES_MAX);
    size_t length = sketch_encode(&s, data.data());

    return {reinterpret_cast<char *>(data.data()), length};
}

std::string hex(const std::string &bytes)
{
    std::string out;
    char two[3];

    for (unsigned char c : bytes) {
        snprintf(two, sizeof(two), "%02x", c);
        out += two;
    }
    return out;
}

bool read(sketch &s, const std::string &bytes)
{
    return sketch_decode(&s, reinterpret_cast<const unsigned char *>(bytes.data()),
                         bytes.size());
}

// Every quantile is within 1 % of the value of its rank.
void check_quantiles(const counted &c, int steps)
{
    std::vector<double> sorted = c.values;

    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i <= steps; i++) {
        double p = static_cast<double>(i) / steps;
        double at = p * (static_cast<double>(sorted.size()) - 1);
        double want = sorted[static_cast<size_t>(std::floor(at))];
        double got = c.quantile(p);

        INFO("p " << p << " of " << sorted.size());
        if (want >= SKETCH_LEAST)
            CHECK(std::fabs(got - want) <= (SKETCH_ERROR_RATIO + 1e-12) * want);
        else
            CHECK(std::fabs(got) < SKETCH_LEAST);
    }
}

using values_fn = std::vector<double> (*)(std::mt19937_64 &, size_t);

std::vector<double> ratios(std::mt19937_64 &random, size_t n)
{
    std::normal_distribution<double> noise(0, 0.05);
    std::vector<double> out;
    double x = 0.7;

    while (out.size() < n) {
        x = std::clamp(0.7 + 0.95 * (x - 0.7) + noise(random), 0.0, 1.0);
        out.push_back(x);
    }
    return out;
}

std::vector<double> bandwidths(std::mt19937_64 &random, size_t n)
{
    std::lognormal_distribution<double> draw(4, 1.2);
    std::vector<double> out;

    while (out.size() < n)
        out.push_back(draw(random));
    return out;
}

std::vector<double> memories(std::mt19937_64 &random, size_t n)
{
    std::uniform_real_distribution<double> draw(0, 6.4e10);
    std::vector<double> out;

    while (out.size() < n)
        out.push_back(std::floor(draw(random)));
    return out;
}

std::vector<double> latencies(std::mt19937_64 &random, size_t n)
{
    std::uniform_real_distribution<double> draw(0, 1);
    std::vector<double> out;

    while (out.size() < n)
        out.push_back(1e-4 * std::pow(1 - draw(random), -1 / 1.1));
    return out;
}

const values_fn kinds[] = {ratios, memories, bandwidths, latencies};

} // namespace

TEST_CASE("a sketch of eight values has these buckets, bytes and quantiles", "[rollup]")
{
    counted c({0, 0.001, 0.25, 0.5, 0.5, 0.75, 1, 100});
    const std::map<int, uint64_t> want = {{-345, 1}, {-69, 1}, {-34, 2},
                                          {-14, 1},  {0, 1},   {231, 1}};
    struct {
        double p, want;
    } cases[] = {{0, 0},
                 {0.25, 0.000997478114637},
                 {0.5, 0.501539453403},
                 {0.75, 0.748218920213},
                 {0.9, 0.99},
                 {1, 100}};

    CHECK(c.s.zero_count == 1);
    for (int i = SKETCH_LOWEST; i <= SKETCH_HIGHEST; i++)
        CHECK(c.s.count[i - SKETCH_LOWEST] == (want.count(i) ? want.at(i) : 0));
    CHECK(hex(bytes_of(c.s)) == "010106b10501a80401460228011c01ce0301");
    for (auto &q : cases)
        CHECK(c.quantile(q.p) == Approx(q.want).epsilon(1e-12).margin(1e-300));
}

TEST_CASE("bounds of buckets are powers of gamma, and belong to the bucket below them",
          "[rollup]")
{
    const double gamma = 1.01 / 0.99;

    CHECK(sizeof(bounds().bound) / sizeof(double) == 3111);
    CHECK(sketch_index(&bounds(), 1e-9) == SKETCH_LOWEST);
    CHECK(sketch_index(&bounds(), 1e18) == SKETCH_HIGHEST);
    for (int i = SKETCH_LOWEST; i <= SKETCH_HIGHEST; i++) {
        double b = sketch_bound(&bounds(), i);

        CHECK(b == Approx(std::pow(gamma, i)).epsilon(4e-13));
        if (b < 1e-9 || b > 1e18)
            continue;
        CHECK(sketch_index(&bounds(), b) == i);
        CHECK(sketch_index(&bounds(), std::nextafter(b, 2e18)) ==
              std::min(i + 1, +SKETCH_HIGHEST));
        CHECK(sketch_index(&bounds(), std::nextafter(b, 0)) == i);
    }
}

TEST_CASE("what is not within the bounds of a sketch is 0 or none", "[rollup]")
{
    counted c({0, 1e-10, std::nextafter(1e-9, 0)});

    CHECK(c.s.zero_count == 3);
    CHECK(c.s.low > c.s.high);
    CHECK(c.quantile(0.5) == 0);
    CHECK(hex(bytes_of(c.s)) == "010300");
    sketch_clear(&c.s);
    CHECK(hex(bytes_of(c.s)) == "010000");
    CHECK(counted({5}).quantile(0.3) == 5);
    CHECK(counted({0}).quantile(1) == 0);
    CHECK(counted({2, 2, 2, 2}).quantile(0.4) == 2);
}

TEST_CASE("sketches added up in any order are the sketch of the whole", "[rollup]")
{
    std::mt19937_64 random(18);

    for (auto kind : kinds) {
        counted whole(kind(random, 8640));
        std::vector<sketch> parts(1440);
        sketch merged;

        for (size_t i = 0; i < parts.size(); i++) {
            sketch_init(&parts[i]);
            for (size_t k = 0; k < 6; k++)
                sketch_add(&parts[i], &bounds(), whole.values[i * 6 + k]);
        }
        std::shuffle(parts.begin(), parts.end(), random);
        sketch_init(&merged);
        for (const sketch &part : parts)
            if (random() & 1)
                sketch_merge(&merged, &part);
            else
                REQUIRE(read(merged, bytes_of(part)));
        CHECK(bytes_of(merged) == bytes_of(whole.s));
        CHECK(sketch_count(&merged) == 8640);
        check_quantiles(whole, 1000);
    }
}

TEST_CASE("quantiles of few, equal and integer values keep the bound", "[rollup]")
{
    std::mt19937_64 random(5);

    for (size_t n = 1; n <= 40; n++)
        for (int kind = 0; kind < 4; kind++) {
            std::vector<double> list;

            while (list.size() < n)
                list.push_back(
                    kind == 0   ? 0
                    : kind == 1 ? static_cast<double>(random() % 4)
                    : kind == 2
                        ? 1e-12 * static_cast<double>(random() % 2000)
                        : std::pow(10, -9.5 + 27.4 *
                                                  static_cast<double>(random() % 1000) /
                                                  1000));
            check_quantiles(counted(list), 50);
        }
}

TEST_CASE("bytes that are no sketch are refused, and change nothing", "[rollup]")
{
    std::string good = bytes_of(counted({0, 0.5, 0.5, 7}).s);
    std::mt19937_64 random(9);
    sketch s, again;

    sketch_init(&s);
    for (size_t length = 0; length < good.size(); length++)
        CHECK_FALSE(read(s, good.substr(0, length)));
    CHECK_FALSE(read(s, good + std::string(1, '\0')));
    CHECK_FALSE(read(s, "\x02" + good.substr(1)));
    CHECK_FALSE(read(s, std::string("\x01\x00\x01\x00\x00", 5)));         // count 0
    CHECK_FALSE(read(s, std::string("\x01\x00\x01\xff\x7f\x01", 6)));     // far outside
    CHECK_FALSE(read(s, std::string("\x01\x00\x02\x02\x01\x00\x01", 7))); // twice
    CHECK_FALSE(
        read(s, "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")); // too long a number
    CHECK(hex(bytes_of(s)) == "010000");
    for (int i = 0; i < 20000; i++) {
        std::string other = good;

        other[random() % other.size()] = static_cast<char>(random());
        sketch_clear(&s);
        if (!read(s, other))
            continue;
        sketch_init(&again);
        REQUIRE(read(again, bytes_of(s)));
        CHECK(bytes_of(again) == bytes_of(s));
    }
}

TEST_CASE("moments of parts make those of the whole", "[rollup]")
{
    moments x = {2, 1, 2, 0, 2}, y = {3, 4, 6, 2, 6};
    moments sum = moments_merge(&x, &y), same = moments_merge(&moments_none, &y);

    CHECK(sum.count == 5);
    CHECK(sum.mean == Approx(2.8).epsilon(1e-15));
    CHECK(sum.m2 == Approx(18.8).epsilon(1e-15));
    CHECK(sum.min == 0);
    CHECK(sum.max == 6);
    CHECK(same.mean == 4);
    same = moments_merge(&y, &moments_none);
    CHECK(same.m2 == 6);
}

namespace
{

struct rows {
    std::vector<load_rollup> list;
    std::vector<std::string> sketches;
};

// The rows of samples, as the maker gives them, taken every `every` samples.
std::vector<load_rollup> rows_of(const std::vector<load_sample> &samples, arena *a,
                                 size_t every)
{
    rollup_maker *m = rollup_maker_create(a);
    std::vector<load_rollup> out;
    auto take = [&] {
        size_t count;
        const load_rollup *list = rollup_rows(m, &count);

        for (size_t i = 0; i < count; i++) {
            load_rollup row = list[i];

            row.resource_id = arena_text(a, row.resource_id, strlen(row.resource_id));
            row.to_resource_id =
                arena_text(a, row.to_resource_id, strlen(row.to_resource_id));
            for (auto &x : row.measure)
                if (x.sketch)
                    x.sketch = reinterpret_cast<const unsigned char *>(arena_text(
                        a, reinterpret_cast<const char *>(x.sketch), x.sketch_bytes));
            out.push_back(row);
        }
        rollup_forget(m);
    };

    for (size_t i = 0; i < samples.size(); i++) {
        rollup_add_sample(m, &samples[i]);
        if ((i + 1) % every == 0)
            take();
    }
    rollup_end(m);
    take();
    return out;
}

std::string sketch_of(const rollup_measure &x)
{
    return {reinterpret_cast<const char *>(x.sketch), x.sketch_bytes};
}

} // namespace

TEST_CASE("minutes, hours and days of samples say what the samples say", "[rollup]")
{
    test_arena arena;
    std::mt19937_64 random(14);
    std::vector<load_sample> samples;
    const char *const from[] = {"a", "a", "a", "bb"}, *const to[] = {"", "b", "c", ""};
    const double begin_s = 1700006400; // a day begins

    for (size_t series = 0; series < 4; series++) {
        std::vector<double> value[ROLLUP_MEASURES];

        for (size_t k = 0; k < ROLLUP_MEASURES; k++)
            value[k] = kinds[k](random, 8640);
        for (size_t i = 0; i < 8640; i++) {
            load_sample s = {from[series],
                             *to[series] ? to[series] : nullptr,
                             begin_s + 10 * static_cast<double>(i),
                             value[0][i],
                             random() % 3 ? value[1][i] : NAN,
                             series == 3 ? NAN : value[2][i],
                             value[3][i]};

            if (series == 1 && i > 100 && i < 3000)
                continue; // hours without any
            samples.push_back(s);
        }
    }

    std::vector<load_rollup> list = rows_of(samples, arena.a, 1000);
    std::vector<load_rollup> again = rows_of(samples, arena.a, 7);
    rollup_maker *days = rollup_maker_create(arena.a);

    REQUIRE(list.size() == again.size());
    for (size_t i = 0; i < list.size(); i++)
        if (list[i].level_s > 60)
            REQUIRE(rollup_add_hour(days, &list[i]));
    rollup_end(days);
    size_t day_count;
    const load_rollup *day = rollup_rows(days, &day_count);
    CHECK(day_count == 4);
    list.insert(list.end(), day, day + day_count);
    size_t seen[3] = {0, 0, 0};
    for (size_t i = 0; i < list.size(); i++) {
        const load_rollup &row = list[i];
        size_t level = row.level_s > 3600 ? 2 : row.level_s > 60 ? 1 : 0;

        CHECK(std::fmod(row.at_s, row.level_s) == 0);
        if (level > 0 && i % 7 && level < 2)
            continue;
        if (level == 0 && i % 101)
            continue;
        seen[level]++;
        for (size_t k = 0; k < ROLLUP_MEASURES; k++) {
            const rollup_measure &got = row.measure[k];
            counted want;
            double sum = 0, m2 = 0;

            for (const load_sample &s : samples) {
                double x = rollup_value(&s, static_cast<load_measure>(k));

                if (strcmp(s.resource_id, row.resource_id) == 0 &&
                    std::string(s.to_resource_id ? s.to_resource_id : "") ==
                        row.to_resource_id &&
                    s.observed_at_s >= row.at_s &&
                    s.observed_at_s < row.at_s + row.level_s && !std::isnan(x))
                    want.add(x);
            }
            REQUIRE(got.moments.count == static_cast<double>(want.values.size()));
            if (i < again.size())
                CHECK(memcmp(&got.moments, &again[i].measure[k].moments,
                             sizeof(moments)) == 0);
            if (want.values.empty()) {
                CHECK(std::isnan(got.moments.mean));
                CHECK(got.sketch == nullptr);
                continue;
            }
            for (double x : want.values)
                sum += x;
            double mean = sum / got.moments.count;
            for (double x : want.values)
                m2 += (x - mean) * (x - mean);
            auto [min, max] = std::minmax_element(want.values.begin(), want.values.end());
            CHECK(got.moments.mean == Approx(mean).epsilon(1e-12));
            CHECK(got.moments.m2 == Approx(m2).epsilon(1e-9).margin(1e-12 * mean * mean));
            CHECK(got.moments.min == *min);
            CHECK(got.moments.max == *max);
            CHECK(sketch_of(got) == bytes_of(want.s));
        }
    }
    CHECK(seen[0] > 40);
    CHECK(seen[1] > 10);
    CHECK(seen[2] == 4);
}

TEST_CASE("no samples make no rows, one sample makes two", "[rollup]")
{
    test_arena arena;

    CHECK(rows_of({}, arena.a, 1).empty());
    auto list = rows_of({{"a", "b", 3600.5, NAN, NAN, 3, NAN}}, arena.a, 1);
    REQUIRE(list.size() == 2);
    CHECK(list[0].level_s == 60);
    CHECK(list[0].at_s == 3600);
    CHECK(list[1].level_s == 3600);
    CHECK(list[1].measure[LOAD_BANDWIDTH_MBPS].moments.mean == 3);
    CHECK(std::string(list[1].to_resource_id) == "b");
}
