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
    const char *machine = nullptr, *site = nullptr; // of the runs that come
    fitted_run run(double size, double processors, double time_s, double cpu = NAN,
                   double bandwidth = NAN)
    {
        fitted_run r{};
        r.run = {size, processors, cpu, bandwidth, time_s, false, false};
        r.names = m.names;
        perf_query q = {size, processors, cpu, bandwidth};
        fitted_auto_inputs(m.names, &q, nullptr, 0, machine, site, r.inputs, memory);
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
        fitted_run asked = run(size, processors, 1, cpu, bandwidth);
        REQUIRE(fitted_interval(&m, 0.9, &interval, memory, &err) == OK);
        fitted_predict(&m, &q, machine || site ? asked.inputs : nullptr, &interval, &p);
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

// learning.md 16, 1: sums of 2, 4, 6, 8 with four clamped errors; the limit is 7
TEST_CASE("one machine that changes is noticed at its fourth run, and the others stay",
          "[models]")
{
    const char *names[] = {"a", "b", "c"};
    for (bool by_site : {false, true}) {
        CAPTURE(by_site);
        stream s(1);
        auto on = [&](const char *name) {
            s.machine = by_site ? "all" : name;
            s.site = by_site ? name : "all";
        };
        for (int i = 0; i < 60; i++) {
            on(names[i % 3]);
            s.learn(500, 1, 100);
        }
        size_t before = s.m.core->row_count;
        for (int round = 1; round <= 4; round++)
            for (const char *name : names) {
                on(name);
                CHECK(s.changes == 0);
                core_update last = s.learn(500, 1, *name == 'c' ? 200 : 100);
                if (round < 4 || *name != 'c')
                    continue;
                CHECK(last.taken_back == 4);
                CHECK(last.spot.scope == (by_site ? CORE_SCOPE_SITE : CORE_SCOPE_CLASS));
                CHECK(last.spot.key == ensemble_text("c"));
            }
        CHECK(s.changes == 1);
        CHECK(s.m.core->row_count == before + 12); // nothing is of before a change of all
        CHECK(s.m.core->old_count == 0);
        CHECK(s.m.core->change_factor == Approx(2).epsilon(0.03));
        CHECK(s.m.core->change_earlier_count == 20);
        CHECK((s.m.core->notes & 1u << CORE_BIT_CHANGED) != 0);
        on("c");
        CHECK(s.ask(500, 1).time_s == Approx(200).epsilon(0.03));
        on("a");
        CHECK(s.ask(500, 1).time_s == Approx(100).epsilon(0.03));
        // its 20 runs of before weigh 10 / (10 + 4) each, all others 1
        const double *weight = core_spot_weights(&s.m, nullptr, s.memory);
        double sum = 0;
        for (size_t i = 0; i < s.m.core->row_count; i++)
            sum += weight[i];
        CHECK(sum == Approx(40 + 12 + 20 * 10. / 14));
    }
}

TEST_CASE("changes of single machines: few false ones, and all are stored", "[models]")
{
    for (int seed = 1; seed <= seeds; seed++) {
        CAPTURE(seed);
        stream s((uint64_t)(50 + seed));
        const char *names[] = {"a", "b", "c", "d", "e"};
        const double speed[] = {1, 1.5, 0.7, 2, 1};
        auto one = [&](int k, double factor) {
            asked q = draw(s, LIN);
            s.machine = names[k];
            return s.learn(q.size, 1,
                           factor * speed[k] * q.time_s * std::exp(0.1 * s.normal()));
        };
        for (int i = 0; i < 150; i++)
            one((int)(5 * rng_uniform(&s.random)), 1);
        CHECK(s.changes == 0);
        double factor = seed % 2 ? 3 : 0.4;
        int runs = 0;
        for (int i = 0; i < 60 && s.changes == 0; i++) {
            int k = i % 5;
            runs += k == 3;
            core_update last = one(k, k == 3 ? factor : 1);
            if (last.taken_back > 0 && last.spot.scope != CORE_SCOPE_ALL)
                CHECK(last.spot.key == ensemble_text("d"));
            if (i == 17) { // stored and read again on the way
                const double *packed;
                size_t count;
                fitted_model copy{};
                fitted_pack(&s.m, true, &packed, &count, s.memory);
                REQUIRE(fitted_unpack(MODEL_AUTO, &s.m.settings, packed, count, &copy,
                                      s.memory, &s.err) == OK);
                s.m = copy;
            }
        }
        CHECK(runs <= 6);
        CHECK(s.changes == 1);
        CHECK(s.m.core->change_scope == CORE_SCOPE_CLASS);
        CHECK(s.m.core->change_factor == Approx(factor).epsilon(0.35));
        for (int k = 0; k < 5; k++) {
            s.machine = names[k];
            CHECK(s.ask(550, 1).time_s ==
                  Approx(285 * speed[k] * (k == 3 ? factor : 1)).epsilon(0.25));
        }
        const double *packed, *again;
        size_t count, again_count;
        fitted_model copy{};
        fitted_pack(&s.m, true, &packed, &count, s.memory);
        REQUIRE(fitted_unpack(MODEL_AUTO, &s.m.settings, packed, count, &copy, s.memory,
                              &s.err) == OK);
        fitted_pack(&copy, true, &again, &again_count, s.memory);
        REQUIRE(again_count == count);
        for (size_t i = 0; i < count; i++)
            CHECK((packed[i] == again[i] || std::isnan(packed[i])));
    }
}

TEST_CASE("sums are kept of the machines that were seen last", "[models]")
{
    stream s(2);
    for (int i = 0; i < 200; i++) {
        std::string name = "m" + std::to_string(i < 10 ? 0 : i);
        s.machine = name.c_str();
        s.learn(500, 1, 100);
    }
    const core_spots &spots = s.m.core->spots[CORE_SCOPE_CLASS];
    CHECK(spots.count <= CORE_SPOTS_MAX);
    for (size_t i = 0; i + 1 < spots.count; i++)
        CHECK(spots.list[i].key != spots.list[i + 1].key);
    CHECK(s.m.core->spots[CORE_SCOPE_SITE].count == 0);
}
