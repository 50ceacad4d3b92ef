// experiment_test.cpp - labels x runs: the order of trials, what an earlier owner has
// played, where the budget ends it, and figures over the runs.
#include "tests/support.hpp"

#include <map>
#include <set>

extern "C" {
#include "algorithms/simulation/experiment.h"
#include "models/base/rng.h"
}

namespace
{

const char *const two_figures[] = {"value", "product", nullptr};
const char *const other_figures[] = {"value", "quotient", nullptr};

// A simulator of which everything is known: value = seed + label, product = value x that
// of the first label; a rest of as many bytes as the label says.
struct toy {
    experiment_in in{};
    budget clock{};
    experiment_owner owner{};
    std::map<uint64_t, std::string> kept;
    std::vector<std::pair<size_t, size_t>> played; // run, label
    std::vector<std::string> rests;                // that were taken
    std::set<double> ratios;
    struct told {
        double ratio;
        uint64_t events;
        size_t runs;
    };
    std::vector<told> notes;
    size_t trials_max = SIZE_MAX; // then the time is up
    size_t cut_within = SIZE_MAX; // the time is up in the middle of this trial
    bool takes = true;
    test_arena a, trial, scratch;

    toy(size_t labels, size_t runs, bool all_at_once = false)
    {
        owner = {note, find, keep, this};
        clock.used = [](void *context) {
            auto *t = static_cast<toy *>(context);
            return t->played.size() < t->trials_max ? 0.0 : 1.0;
        };
        clock.context = this;
        in.figure_names = two_figures;
        in.label_count = labels;
        in.run_count = runs;
        in.all_at_once = all_at_once;
        in.seed = 100;
        in.seed_scheme = EXPERIMENT_SEEDS_SEQUENCE;
        in.play = play;
        in.take = take;
        in.context = this;
        in.budget = &clock;
        in.trial = trial;
        in.scratch = scratch;
        in.owner = &owner;
    }

    static void fill(const experiment_trial *g, size_t label, double *figures)
    {
        figures[0] = double(g->seed) + double(label);
        figures[1] = figures[0] * g->run_figures[0];
    }

    static enum error_code play(void *context, experiment_trial *g)
    {
        auto *t = static_cast<toy *>(context);
        size_t count = t->in.all_at_once ? t->in.label_count : 1;

        CHECK(arena_used_bytes(g->arena) == 0);
        CHECK(arena_used_bytes(g->scratch) == 0);
        arena_alloc(g->arena, 1, 1000);
        arena_alloc(g->scratch, 1, 1000);
        for (size_t i = 0; i < count; i++)
            fill(g, g->label + i, g->figures + 2 * i);
        g->progress.events = 10;
        g->progress.time_ratio = 0.5;
        budget_used(g->budget);
        g->is_cut = t->played.size() == t->cut_within;
        if (g->is_cut)
            return OK;
        char *rest = NEW(t->a, char, g->label + 1);
        for (size_t i = 0; i < g->label; i++)
            rest[i] = char('a' + g->run);
        g->rest = {rest, g->label};
        t->played.emplace_back(g->run, g->label);
        return OK;
    }

    static bool take(void *context, const experiment_trial *g, experiment_bytes rest)
    {
        auto *t = static_cast<toy *>(context);

        CHECK(rest.length == g->label);
        t->rests.emplace_back(static_cast<const char *>(rest.data), rest.length);
        return t->takes;
    }

    static void note(void *context, double ratio, uint64_t events, size_t runs)
    {
        static_cast<toy *>(context)->notes.push_back({ratio, events, runs});
        static_cast<toy *>(context)->ratios.insert(ratio);
    }

    static bool find(void *context, uint64_t number, experiment_bytes *content)
    {
        auto *t = static_cast<toy *>(context);
        auto at = t->kept.find(number);

        if (at == t->kept.end())
            return false;
        *content = {at->second.data(), at->second.size()};
        return true;
    }

    static void keep(void *context, uint64_t number, experiment_bytes content)
    {
        static_cast<toy *>(context)->kept[number] =
            std::string(static_cast<const char *>(content.data), content.length);
    }

    experiment run()
    {
        experiment e;

        played.clear();
        rests.clear();
        CHECK(experiment_play(&in, &e, a) == OK);
        return e;
    }
};

} // namespace

TEST_CASE("seeds of runs are the experiment's and others", "[experiment]")
{
    CHECK(experiment_seed(7, EXPERIMENT_SEEDS_SEQUENCE, 3) == 10);
    CHECK(experiment_seed(7, EXPERIMENT_SEEDS_SPREAD, 0) == 7);
    std::set<uint64_t> seen;
    for (uint64_t seed = 0; seed < 20; seed++)
        for (uint64_t run = 1; run < 20; run++)
            seen.insert(experiment_seed(seed, EXPERIMENT_SEEDS_SPREAD, run));
    CHECK(seen.size() == 20 * 19);
    CHECK(*seen.rbegin() < uint64_t(1) << 53);
}

TEST_CASE("every label is played in every run, and figures are those of the trials",
          "[experiment]")
{
    for (bool all : {false, true})
        for (size_t labels = 1; labels <= 3; labels++)
            for (size_t runs = 1; runs <= 4; runs++) {
                toy t(labels, runs, all);
                experiment e = t.run();
                size_t trials = all ? runs : runs * labels;

                CHECK(t.played.size() == trials);
                CHECK(e.trials_done == trials);
                CHECK(e.runs_done == runs);
                CHECK(e.event_count == 10 * trials);
                CHECK_FALSE(e.is_cut);
                CHECK(*t.ratios.rbegin() == 1);
                CHECK(*t.ratios.begin() == Approx(0).margin(1e-12));
                CHECK(t.ratios.count(0.5 / double(trials)) == 1);
                for (size_t label = 0; label < labels; label++) {
                    std::vector<double> values;
                    for (size_t run = 0; run < runs; run++) {
                        double first = 100.0 + double(run), own = first + double(label);
                        CHECK(experiment_figure(&e, run, label, 0) == own);
                        CHECK(experiment_figure(&e, run, label, 1) == own * first);
                        values.push_back(own * first);
                    }
                    sim_summary want = sim_summarise(values.data(), runs);
                    sim_summary got = experiment_summary(&e, label, 1);
                    CHECK(got.count == runs);
                    CHECK(got.mean == want.mean);
                    if (runs > 1) {
                        CHECK(got.variance == want.variance);
                        CHECK(got.ci95 == want.ci95);
                    }
                }
            }
}

TEST_CASE("a run that is not complete for all labels does not count", "[experiment]")
{
    for (size_t trials = 0; trials <= 6; trials++) {
        toy t(3, 2);
        t.trials_max = trials;
        experiment e = t.run();

        CHECK(t.played.size() == trials);
        CHECK(e.trials_done == trials);
        CHECK(e.runs_done == trials / 3);
        CHECK(e.is_cut == (trials < 6));
        CHECK(t.kept.size() == trials);
        CHECK(experiment_summary(&e, 0, 0).count == trials / 3);
    }
}

TEST_CASE("the progress of what was cut stays where it was", "[experiment]")
{
    for (size_t trial = 0; trial < 6; trial++) {
        toy t(3, 2);
        double before = 0;

        t.cut_within = trial;
        CHECK(t.run().is_cut);
        for (const toy::told &n : t.notes) {
            CHECK(n.ratio >= before);
            before = n.ratio;
        }
        CHECK(before == Approx((double(trial) + 0.5) / 6).epsilon(1e-12));
        CHECK(t.notes.back().events == 10 * (trial + 1));
        CHECK(t.notes.back().runs == trial / 3);
    }
}

TEST_CASE("an experiment ends when it has runs enough", "[experiment]")
{
    toy t(2, 10);

    t.in.enough = [](void *, const experiment *e) { return e->runs_done == 3; };
    experiment e = t.run();
    CHECK(e.runs_done == 3);
    CHECK_FALSE(e.is_cut);
    CHECK(t.played.size() == 6);
}

TEST_CASE("trials that an earlier owner has ended are not played again", "[experiment]")
{
    for (bool all : {false, true})
        for (size_t trials = 0; trials <= 6; trials++) {
            toy first(all ? 1 : 3, all ? 6 : 2, all),
                second(first.in.label_count, first.in.run_count, all);
            experiment whole = first.run();
            for (auto &part : first.kept)
                if (part.first < trials)
                    second.kept.insert(part);
            experiment e = second.run();

            CHECK(second.played.size() == 6 - trials);
            CHECK(second.rests.size() == trials);
            if (trials > 4 && !all)
                CHECK(second.rests[4] == "b"); // the second label of the second run
            CHECK(e.event_count == whole.event_count);
            CHECK(e.runs_done == whole.runs_done);
            for (size_t i = 0; i < 2 * first.in.label_count * first.in.run_count; i++)
                CHECK(e.figures[i] == whole.figures[i]);
            CHECK(second.kept == first.kept);
        }
}

TEST_CASE("a later owner's progress begins where the earlier one was", "[experiment]")
{
    const bool again = GENERATE(false, true);
    const size_t labels = 3, runs = 4;
    for (size_t ended = 0; ended <= labels * runs; ended++) {
        INFO(ended << " trials ended"
                   << (again ? ", the first run is played again" : ""));
        toy first(labels, runs), second(labels, runs);
        experiment e;
        first.in.first_run_again = second.in.first_run_again = again;
        first.trials_max = ended;
        REQUIRE(experiment_play(&first.in, &e, first.a) == OK);
        second.kept = first.kept;
        REQUIRE(experiment_play(&second.in, &e, second.a) == OK);
        // Never less than what is kept, and never backwards.
        size_t kept = first.kept.size();
        CHECK(kept == (again && ended ? ended - std::min(ended, labels) : ended));
        double ratio = double(kept) / double(labels * runs);
        uint64_t events = 10 * kept;
        size_t done = kept / labels;
        REQUIRE_FALSE(second.notes.empty());
        if (kept)
            CHECK(second.notes[0].ratio == ratio);
        for (const toy::told &n : second.notes) {
            CHECK(n.ratio >= ratio);
            CHECK(n.events >= events);
            CHECK(n.runs >= done);
            CHECK(double(n.events) <= 10 * n.ratio * labels * runs + 5 + 1e-9);
            ratio = n.ratio;
            events = n.events;
            done = n.runs;
        }
        CHECK(ratio == 1);
        CHECK(events == 10 * labels * runs);
        CHECK(done == runs);
        CHECK(second.played.size() == labels * runs - kept);
    }
}

TEST_CASE("what cannot be used of an earlier owner is played again", "[experiment]")
{
    toy first(2, 2);
    first.run();

    SECTION("nothing is wrong")
    {
        toy t(2, 2);
        t.kept = first.kept;
        t.run();
        CHECK(t.played.empty());
    }
    SECTION("of a program with other figures")
    {
        toy t(2, 2);
        t.kept = first.kept;
        t.in.figure_names = other_figures;
        t.run();
        CHECK(t.played.size() == 4);
        CHECK(t.rests.empty());
    }
    SECTION("too short")
    {
        for (size_t length : {0, 1, 8, 16, 31}) {
            toy t(2, 2);
            for (auto &part : first.kept)
                t.kept[part.first] = part.second.substr(0, length);
            t.run();
            CHECK(t.played.size() == 4);
        }
    }
    SECTION("its rest is not taken")
    {
        toy t(2, 2);
        t.kept = first.kept;
        t.takes = false;
        t.run();
        CHECK(t.played.size() == 4);
    }
    SECTION("a rest that nobody takes")
    {
        toy t(2, 2);
        t.kept = first.kept;
        t.in.take = nullptr;
        t.run();
        CHECK(t.played.size() == 2); // the second label's
    }
    SECTION("the first run has rows")
    {
        toy t(2, 2);
        t.kept = first.kept;
        t.in.first_run_again = true;
        t.run();
        CHECK(t.played == std::vector<std::pair<size_t, size_t>>{{0, 0}, {0, 1}});
    }
}

TEST_CASE("rows rank by their keys, then by name", "[experiment]")
{
    const double nan = std::nan("");
    const char *names[] = {"d", "c", "b", "a", "e"};
    const double values[] = {5, 0, 1, 9, 0, 7, 5, 0, 1, 5, 0, 0, 5, 0, nan};
    const experiment_key keys[] = {{0, true}, {2, false}};
    size_t order[5];

    experiment_rank(values, 5, 3, keys, 2, names, order);
    CHECK(std::vector<size_t>(order, order + 4) == std::vector<size_t>{1, 3, 2, 0});
    CHECK(order[4] == 4); // not known: by name
    experiment_rank(values, 2, 3, keys + 1, 1, names, order);
    CHECK(order[0] == 0);
    experiment_rank(values, 0, 3, keys, 2, names, order);
}
