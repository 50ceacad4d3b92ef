// auto_model_test.cpp - models of the kind auto: whatever runs have, from the first run
// on, through changes of the world.
#include "tests/support.hpp"

extern "C" {
#include "models/fitted/core.h"
}

namespace
{
// A stream of runs that a model learns one by one.
struct stream {
    test_arena memory, scratch;
    error err = {};
    fitted_room room{memory, scratch, nullptr};
    fitted_model m{};
    rng random;
    size_t learnt = 0, changes = 0, outliers = 0;

    explicit stream(uint64_t seed) : random(rng_create(seed))
    {
        model_settings settings{};
        settings.robustness = drift_rule_preset;
        err.arena = memory;
        REQUIRE(fitted_train(MODEL_AUTO, &settings, nullptr, 0, nullptr, &m, nullptr,
                             memory, &err) == OK);
    }
    double normal()
    {
        double sum = -6;
        for (int i = 0; i < 12; i++)
            sum += rng_uniform(&random);
        return sum;
    }
    fitted_run run(double size, double processors, double time_s, double cpu = NAN,
                   double bandwidth = NAN)
    {
        fitted_run r{};
        r.run = {size, processors, cpu, bandwidth, time_s, false, false};
        r.names = m.names;
        perf_query q = {size, processors, cpu, bandwidth};
        fitted_auto_inputs(m.names, &q, nullptr, 0, nullptr, nullptr, r.inputs, memory);
        return r;
    }
    core_update learn(double size, double processors, double time_s, double cpu = NAN,
                      double bandwidth = NAN)
    {
        fitted_run r = run(size, processors, time_s, cpu, bandwidth);
        core_update update;
        REQUIRE(core_learn(&m, &r, false, &room, &update, &err) == OK);
        learnt++;
        changes += update.taken_back > 0;
        outliers += update.verdict == RUN_OUTLIER;
        return update;
    }
    fitted_prediction ask(double size, double processors, double cpu = NAN,
                          double bandwidth = NAN)
    {
        struct fitted_interval interval;
        fitted_prediction p;
        perf_query q = {size, processors, cpu, bandwidth};
        REQUIRE(fitted_interval(&m, 0.9, &interval, memory, &err) == OK);
        fitted_predict(&m, &q, nullptr, &interval, &p);
        return p;
    }
};

// How long a run of the generators takes.
enum { LIN, SO, REP, GENERATORS };
struct asked {
    double size, processors, time_s;
};
asked draw(stream &s, int generator)
{
    double n = 100 + 900 * rng_uniform(&s.random), p = 1;

    if (generator == REP)
        n = 100 * std::exp2(std::floor(4 * rng_uniform(&s.random)));
    if (generator == SO)
        p = std::exp2(std::floor(5 * rng_uniform(&s.random)));
    return {n, p, generator == SO ? 10 + 5 * n / p + 2 * std::log(p) : 10 + 0.5 * n};
}
double error_of(stream &s, int generator, double factor)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        asked q = draw(s, generator);
        fitted_prediction p = s.ask(q.size, q.processors);
        CHECK(p.low_s <= p.time_s);
        CHECK(p.time_s <= p.high_s);
        CHECK(p.low_s > 0);
        sum += std::fabs(p.time_s / (factor * q.time_s) - 1) / 12;
    }
    return sum;
}
void feed(stream &s, int generator, double factor, double noise, int count)
{
    for (int i = 0; i < count; i++) {
        asked q = draw(s, generator);
        s.learn(q.size, q.processors, factor * q.time_s * std::exp(noise * s.normal()));
    }
}
// Runs of which it is known how free machine and link were (learning.md 13.1).
struct loaded {
    double size, processors, cpu, bandwidth, time_s;
};
loaded draw_loaded(stream &s)
{
    const double processors[] = {1, 2, 2, 4, 8};
    loaded r{};

    r.size = 500 + std::floor(1000 * rng_uniform(&s.random));
    r.processors = processors[(int)(5 * rng_uniform(&s.random))];
    r.cpu = 0.3 + 0.7 * rng_uniform(&s.random);
    r.bandwidth = r.processors > 1 ? 20 + 70 * rng_uniform(&s.random) : NAN;
    r.time_s = 2e-4 * r.size * r.size / (r.cpu * r.processors);
    if (r.processors > 1)
        r.time_s += 0.5 * r.size / (r.bandwidth * std::sqrt(r.processors));
    return r;
}
void feed_loaded(stream &s, double factor, double noise, int count)
{
    for (int i = 0; i < count; i++) {
        loaded r = draw_loaded(s);
        s.learn(r.size, r.processors, factor * r.time_s * std::exp(noise * s.normal()),
                r.cpu, r.bandwidth);
    }
}
double loaded_error(stream &s, double factor)
{
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        loaded q = draw_loaded(s);
        fitted_prediction p = s.ask(q.size, q.processors, q.cpu, q.bandwidth);
        CHECK(p.low_s <= p.time_s);
        CHECK(p.time_s <= p.high_s);
        sum += std::fabs(p.time_s / (factor * q.time_s) - 1) / 100;
    }
    return sum;
}
const int seeds = is_long_run() ? 6 : is_sanitized() ? 1 : 3;
} // namespace

TEST_CASE("a model answers from its first run on", "[models]")
{
    double error[61] = {};

    for (int seed = 1; seed <= 3 * seeds; seed++) {
        stream s((uint64_t)seed);
        CHECK(s.m.reason != nullptr);
        for (int n = 1; n <= 60; n++) {
            feed(s, LIN, 1, 0.15, 1);
            if (n == 1 || n == 3 || n == 5 || n == 10 || n == 20 || n == 60)
                error[n] += error_of(s, LIN, 1) / (3 * seeds);
        }
    }
    CHECK(error[3] < 0.22);
    CHECK(error[5] < 0.19);
    CHECK(error[10] < 0.09);
    CHECK(error[20] < 0.06);
    CHECK(error[60] < 0.04);
}

TEST_CASE("a change of all run times is noticed and learnt", "[models]")
{
    for (int generator = 0; generator < GENERATORS; generator++)
        for (double factor : {2., 0.5, 5., 0.2})
            for (int seed = 1; seed <= seeds; seed++) {
                if (is_sanitized() && is_shorter() && (factor < 1) == (generator == SO))
                    continue; // growth or drops; the release build tries both
                CAPTURE(generator, factor, seed);
                stream s((uint64_t)(10 * seed + generator));
                int noticed = 0;

                feed(s, generator, 1, 0.05, 60);
                CHECK(s.changes == 0);
                for (int n = 1; n <= 10; n++) {
                    feed(s, generator, factor, 0.05, 1);
                    if (s.changes > 0 && noticed == 0)
                        noticed = n;
                }
                CHECK(noticed >= 1);
                CHECK(noticed <= 5);
                CHECK(error_of(s, generator, factor) < 0.10);
                CHECK(s.m.core->change_factor == Approx(factor).epsilon(0.25));
                CHECK((s.m.core->notes & 1u << CORE_BIT_CHANGED) != 0);
            }
}

// learning.md 12, example 2
TEST_CASE("a change is centred by the median of the runs since it began", "[models]")
{
    stream s(1);
    core_update last{};

    for (int i = 0; i < 60; i++)
        s.learn(500, 1, 100);
    for (double times : {2.1, 1.9, 2.05}) {
        CHECK(s.changes == 0);
        last = s.learn(500, 1, 100 * times);
    }
    CHECK(s.changes == 1);
    CHECK(last.taken_back == 3);
    CHECK(s.m.core->change_factor == Approx(2.05).epsilon(0.01));
    CHECK(std::log(s.m.core->change_factor) == Approx(0.71783979).epsilon(0.01));
    CHECK(s.ask(500, 1).time_s == Approx(205).epsilon(0.03));
}

TEST_CASE("one strange run moves nothing", "[models]")
{
    for (double times : {1000., 0.001}) {
        stream s(7);
        feed(s, LIN, 1, 0.15, 60);
        fitted_prediction before = s.ask(550, 1);
        s.learn(500, 1, 260 * times);
        fitted_prediction after = s.ask(550, 1);
        CHECK(s.outliers == 1);
        CHECK(after.time_s == Approx(before.time_s).epsilon(0.01));
        CHECK(after.low_s == Approx(before.low_s).epsilon(0.01));
        CHECK(after.high_s == Approx(before.high_s).epsilon(0.01));
    }
}

TEST_CASE("what nobody has seen is learnt, not doubted", "[models]")
{
    stream s(11);
    double ratio = 0;

    feed(s, LIN, 1, 0.05, 60);
    size_t outliers = s.outliers, changes = s.changes;
    for (int i = 0; i < 30; i++) {
        double n = 5000 + 5000 * rng_uniform(&s.random), time_s = 0.002 * n * n;
        if (i >= 20)
            ratio += std::fabs(std::log(s.ask(n, 1).time_s / time_s)) / 10;
        s.learn(n, 1, time_s * std::exp(0.05 * s.normal()));
    }
    CHECK(s.outliers == outliers);
    CHECK(s.changes == changes);
    CHECK(std::exp(ratio) < 1.3);
}

TEST_CASE("intervals hold on a stream", "[models]")
{
    size_t inside = 0, count = 0, changes = 0;

    for (int generator = 0; generator < GENERATORS; generator++) {
        stream s((uint64_t)(100 + generator));
        for (int i = 0; i < (is_shorter() ? 150 : 600); i++) {
            asked q = draw(s, generator);
            double time_s = q.time_s * std::exp(0.15 * s.normal());
            if (i >= 20) {
                fitted_prediction p = s.ask(q.size, q.processors);
                inside += time_s >= p.low_s && time_s <= p.high_s;
                count++;
            }
            s.learn(q.size, q.processors, time_s);
        }
        changes += s.changes;
    }
    CHECK(double(inside) / double(count) > 0.86);
    CHECK(double(inside) / double(count) < 0.98);
    CHECK(changes <= 1);
}

TEST_CASE("a model that was stored goes on as if it had not been", "[models]")
{
    stream s(3);
    feed(s, SO, 1, 0.1, 45);
    const double *packed;
    size_t count;
    fitted_model copy{};

    fitted_pack(&s.m, true, &packed, &count, s.memory);
    CHECK(fitted_packed_kind(packed, count) == MODEL_AUTO);
    REQUIRE(fitted_unpack(MODEL_AUTO, &s.m.settings, packed, count, &copy, s.memory,
                          &s.err) == OK);
    fitted_prediction before = s.ask(300, 4);
    std::swap(s.m, copy);
    fitted_prediction after = s.ask(300, 4);
    CHECK(before.time_s == after.time_s);
    CHECK(before.low_s == after.low_s);
    s.learn(300, 4, 400);
    std::swap(s.m, copy);
    s.learn(300, 4, 400);
    fitted_prediction one = s.ask(310, 4);
    std::swap(s.m, copy);
    CHECK(s.ask(310, 4).time_s == one.time_s);
    for (size_t cut = 0; cut < count; cut += 1 + count / 50)
        CHECK(fitted_unpack(MODEL_AUTO, &s.m.settings, packed, cut, &copy, s.memory,
                            &s.err) != OK);
}

TEST_CASE("the kind comprehensive is a member where machines and links are known",
          "[models]")
{
    for (int seed = 1; seed <= seeds; seed++) {
        CAPTURE(seed);
        stream s((uint64_t)seed);
        const ensemble *e;

        feed_loaded(s, 1, 0.05, 60);
        e = s.m.ensemble;
        // It has predicted runs that it had not seen, and weighs more than others.
        CHECK(e->noted_count > 20);
        CHECK(e->member_runs[ENSEMBLE_COMPREHENSIVE] > 0);
        CHECK(e->member_error[LOG_INSIDE][ENSEMBLE_COMPREHENSIVE] < 0.12);
        CHECK(loaded_error(s, 1) < 0.10);
        feed_loaded(s, 0.2, 0.05, 10);
        CHECK(s.changes == 1);
        // What the world before said of this one is not held against it.
        CHECK(s.m.ensemble->member_error[LOG_INSIDE][ENSEMBLE_COMPREHENSIVE] < 0.12);
        CHECK(loaded_error(s, 0.2) < 0.15);

        const double *packed;
        size_t count;
        fitted_model copy{};
        fitted_pack(&s.m, true, &packed, &count, s.memory);
        REQUIRE(fitted_unpack(MODEL_AUTO, &s.m.settings, packed, count, &copy, s.memory,
                              &s.err) == OK);
        fitted_prediction before = s.ask(700, 4, 0.5, 50), alone = s.ask(700, 1, 0.5);
        std::swap(s.m, copy);
        CHECK(s.ask(700, 4, 0.5, 50).time_s == before.time_s);
        CHECK(s.ask(700, 1, 0.5).time_s == alone.time_s);
        // A question that does not say how fast the link is, is answered all the same.
        CHECK(s.ask(700, 4, 0.5).time_s > 0);
    }
}

TEST_CASE("one run whose machine is not known ends the member comprehensive", "[models]")
{
    stream s(5);
    fitted_room room{s.memory, s.scratch, nullptr};
    const char *reason;
    bool done;

    feed_loaded(s, 1, 0.05, 40);
    CHECK(s.m.ensemble->member_runs[ENSEMBLE_COMPREHENSIVE] > 0);
    s.learn(700, 2, 40);
    REQUIRE(core_train(&s.m, &room, &done, &reason, &s.err) == OK);
    CHECK(done);
    CHECK(s.m.ensemble->member_runs[ENSEMBLE_COMPREHENSIVE] == 0);
    CHECK(s.ask(700, 2, 0.5, 50).time_s > 0);
}

TEST_CASE("runs that say nothing of size and processors are learnt as well", "[models]")
{
    stream s(6);

    for (int i = 0; i < 30; i++)
        s.learn(NAN, NAN, 20 * std::exp(0.05 * s.normal()), 0.2 + 0.02 * i);
    CHECK(s.ask(NAN, NAN, 0.5).time_s == Approx(20).epsilon(0.2));
    CHECK(s.m.ensemble->member_runs[ENSEMBLE_COMPREHENSIVE] == 0);
}

TEST_CASE("a model says when it predicts worse than it did", "[models]")
{
    stream s(7);

    feed(s, LIN, 1, 0.03, 60);
    CHECK((s.m.core->notes & 1u << CORE_BIT_ERROR_HIGH) == 0);
    SECTION("errors to both sides, which are no change")
    {
        for (int i = 0; i < 10; i++) {
            asked q = draw(s, LIN);
            s.learn(q.size, q.processors, q.time_s * (i % 2 ? 1.35 : 0.7));
        }
        CHECK(s.changes == 0);
        CHECK(s.outliers == 0);
        CHECK((s.m.core->notes & 1u << CORE_BIT_ERROR_HIGH) != 0);
        feed(s, LIN, 1, 0.03, 12);
        CHECK((s.m.core->notes & 1u << CORE_BIT_ERROR_HIGH) == 0);
    }
    SECTION("three outliers among the last ten")
    {
        for (int i = 0; i < 9; i++) {
            asked q = draw(s, LIN);
            s.learn(q.size, q.processors, q.time_s * (i % 3 == 0 ? 50 : 1));
        }
        CHECK(s.changes == 0);
        CHECK(s.outliers == 3);
        CHECK((s.m.core->notes & 1u << CORE_BIT_ERROR_HIGH) != 0);
        CHECK((s.m.core->notes & 1u << CORE_BIT_OUTLIERS) != 0); // 3 of 69
    }
}
