// parallel_property_test.cpp - what every policy for machine sets keeps, on random
// clusters.
#include "tests/parallel_support.hpp"

#include <algorithm>
#include <memory>
#include <set>

namespace
{

struct style {
    const char *name;
    double least_link, missing_share; // links from here to 80; so many are missing
    bool uplinks, levels, waits, rising;
    size_t min_procs;
};

const style styles[] = {
    {"plain", 20, 0, false, false, false, false, 1},
    {"on grid levels", 20, 0, false, true, false, false, 1},
    {"links far down", 0.005, 0, false, false, false, false, 1},
    {"missing links", 20, 0.4, false, false, false, false, 1},
    {"nearly no links", 20, 0.9, false, false, false, false, 2},
    {"at least three", 20, 0.2, false, true, false, false, 3},
    {"uplinks", 2, 0, true, false, false, false, 1},
    {"not monotone", 2, 0.1, false, false, false, true, 1},
    {"queue wait", 2, 0, false, false, true, false, 2},
};

struct instance {
    cluster c;
    model_of model;
    std::vector<double> waits;

    instance(size_t n, std::vector<perf_term> terms) : c(n), model(std::move(terms))
    {
    }
};

double some(rng &r, double low, double high)
{
    return low + (high - low) * rng_uniform(&r);
}

std::vector<perf_term> random_terms(rng &r, const style &s)
{
    std::vector<perf_term> terms;
    for (size_t k = 1 + rng_index(&r, 2); k > 0; k--) {
        int top = s.rising ? 19 : 9;
        auto p_id = [&] { return static_cast<int>(rng_index(&r, size_t(top))); };
        terms.push_back({some(r, 10, 1000), p_id(), some(r, 0, 30000),
                         static_cast<int>(1 + rng_index(&r, 8)), p_id()});
        if (rng_index(&r, 6) == 0)
            terms.back() = {some(r, 10, 1000), 2, 0, PERF_NONE, 0};
    }
    return terms;
}

void random_links(cluster &c, rng &r, const style &s)
{
    size_t n = c.cpu.size();
    if (s.uplinks)
        for (size_t i = 0; i < n; i++)
            c.uplinks.push_back(some(r, s.least_link, 80));
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            double mbps = some(r, s.least_link, 80);
            if (s.levels)
                mbps = 10 * std::floor(mbps / 10);
            if (s.uplinks)
                mbps = std::min(c.uplinks[i], c.uplinks[k]);
            c.link(i, k, rng_uniform(&r) < s.missing_share ? 0 : mbps);
        }
}

std::unique_ptr<instance> random_instance(uint64_t seed, const style &s, size_t n)
{
    rng r = rng_create(seed);
    auto x = std::make_unique<instance>(n, random_terms(r, s));
    for (double &cpu : x->c.cpu)
        cpu = s.levels ? (1.0 + double(rng_index(&r, 10))) / 10 : some(r, 0.01, 1);
    random_links(x->c, r, s);
    x->c.in.seed = seed;
    x->c.in.min_procs = s.min_procs;
    x->c.in.site_id = "x";
    if (s.waits) {
        for (size_t p = 0; p <= n; p++)
            x->waits.push_back(some(r, 0, 500));
        x->c.in.queue_wait_s = x->waits.data();
    }
    return x;
}

double score_s(const instance &x, const std::vector<size_t> &set)
{
    double time_s = plain_time_s(x.c, x.model, set);
    return x.waits.empty() ? time_s : time_s + x.waits[set.size()];
}

bool applies(const struct policy &p, const instance &x)
{
    return std::string(p.name) != "threshold_exact" || !x.c.uplinks.empty();
}

// Numbers and set of an answer fit each other.
void check_answer(const instance &x, const answer &got)
{
    const parallel_out &out = got.out;
    std::set<size_t> distinct(got.members.begin(), got.members.end());
    CHECK(distinct.size() == got.members.size());
    CHECK(std::is_sorted(got.members.begin(), got.members.end()));
    CHECK(out.lower_bound_s >= 0);
    CHECK((out.status == DECISION_OPTIMAL) == (out.gap_ratio == 0));
    if (got.members.empty()) {
        CHECK(out.score_s == HUGE_VAL);
        CHECK((out.status == DECISION_INFEASIBLE || out.status == DECISION_CUT));
        CHECK((out.status == DECISION_INFEASIBLE) == (out.lower_bound_s == HUGE_VAL));
        return;
    }
    CHECK(*distinct.rbegin() < x.c.cpu.size());
    CHECK(distinct.size() >= x.c.in.min_procs);
    CHECK(out.score_s == Approx(score_s(x, got.members)).epsilon(1e-12));
    CHECK(out.score_s == out.time_s + out.queue_wait_s);
    CHECK(out.lower_bound_s <= out.score_s);
    CHECK(std::isnan(out.min_bandwidth_mbps) == (out.count == 1));
    CHECK(out.gap_ratio >= 0);
}

bool same_answer(const answer &a, const answer &b)
{
    return a.members == b.members && a.out.score_s == b.out.score_s &&
           a.out.evaluations == b.out.evaluations &&
           a.out.work_units == b.out.work_units && a.out.status == b.out.status &&
           a.out.lower_bound_s == b.out.lower_bound_s;
}

struct countdown {
    int left;
};

double count_down(void *context)
{
    auto *c = static_cast<countdown *>(context);
    return --c->left > 0 ? 0.5 : 1;
}

const named_value quick_options[] = {{"generations", VALUE_NUMBER, 4, nullptr},
                                     {"rounds", VALUE_NUMBER, 4, nullptr},
                                     {"samples", VALUE_NUMBER, 100, nullptr}};

// Presets, but less of what takes long.
std::vector<named_value> quick(const struct policy &p)
{
    std::vector<named_value> given;
    for (auto &o : quick_options)
        for (size_t i = 0; i < params_count(p.params); i++)
            if (!std::strcmp(p.params[i].name, o.name))
                given.push_back(o);
    return given;
}

template <typename F> void for_each_case(size_t rounds, F f)
{
    for (const style &s : styles)
        for (size_t round = 0; round < rounds; round++) {
            auto x = random_instance(1000 * round + size_t(&s - styles), s,
                                     1 + (round * 7 + size_t(&s - styles)) % 10);
            INFO(s.name << ", round " << round << ", " << x->c.cpu.size() << " machines");
            f(*x);
        }
}

} // namespace

TEST_CASE("every policy keeps its promises on random clusters", "[parallel][property]")
{
    for_each_case(6, [](instance &x) {
        x.c.in.pre_evaluate = true;
        answer best = run("brute_force", x.c.input(x.model));
        double singleton_s = HUGE_VAL;
        std::vector<size_t> all;
        for (size_t i = 0; i < x.c.cpu.size(); i++) {
            singleton_s = std::min(singleton_s, score_s(x, {i}));
            all.push_back(i);
        }
        for (const struct policy *p = parallel_policies; p->name; p++) {
            if (!applies(*p, x))
                continue;
            INFO(p->name);
            answer got = run(p->name, x.c.input(x.model), quick(*p));
            REQUIRE(got.code == OK);
            check_answer(x, got);
            CHECK(got.out.score_s >= best.out.score_s * (1 - 1e-12));
            CHECK(got.out.lower_bound_s <= best.out.score_s * (1 + 1e-12));
            if (x.c.in.min_procs <= 1)
                CHECK(got.out.score_s <= singleton_s * (1 + 1e-12));
            if (all.size() >= x.c.in.min_procs)
                CHECK(got.out.score_s <= score_s(x, all) * (1 + 1e-12));
            CHECK(same_answer(got, run(p->name, x.c.input(x.model), quick(*p))));
        }
    });
}

TEST_CASE("a run is the same with and without the two sets", "[parallel][property]")
{
    for_each_case(3, [](instance &x) {
        for (const struct policy *p = parallel_policies; p->name; p++) {
            if (!applies(*p, x))
                continue;
            INFO(p->name);
            x.c.in.pre_evaluate = false;
            answer raw = run(p->name, x.c.input(x.model), quick(*p));
            x.c.in.pre_evaluate = true;
            answer both = run(p->name, x.c.input(x.model), quick(*p));
            CHECK(both.out.score_s <= raw.out.score_s);
            CHECK(both.out.iterations == raw.out.iterations);
            CHECK(both.out.evaluations >= raw.out.evaluations);
        }
    });
}

TEST_CASE("options change the way, not the promises", "[parallel][property]")
{
    const std::pair<const char *, named_value> variants[] = {
        {"box_elimination", {"be_mode", VALUE_TEXT, 0, "literal"}},
        {"simulated_annealing", {"sa_break", VALUE_TEXT, 0, "per_temperature"}},
        {"simulated_annealing", {"start_ratio", VALUE_NUMBER, 0.2, nullptr}},
        {"sa_random_start", {"cooling", VALUE_NUMBER, 0.5, nullptr}},
        {"genetic", {"population", VALUE_NUMBER, 3, nullptr}},
        {"genetic", {"mutation_share", VALUE_NUMBER, 1, nullptr}},
        {"ant_colony", {"evaporation", VALUE_TEXT, 0, "per_iteration"}},
        {"ant_colony", {"model_share", VALUE_NUMBER, 1, nullptr}},
        {"ant_colony", {"ants", VALUE_NUMBER, 1, nullptr}},
        {"ant_colony", {"rho", VALUE_NUMBER, 0, nullptr}},
        {"branch_and_bound", {"max_level_nodes", VALUE_NUMBER, 1, nullptr}},
        {"branch_and_bound", {"max_level_nodes", VALUE_NUMBER, 3, nullptr}},
    };
    for_each_case(2, [&](instance &x) {
        x.c.in.pre_evaluate = true;
        double best_s = run("brute_force", x.c.input(x.model)).out.score_s;
        for (auto &[name, option] : variants) {
            INFO(name << ", " << option.name);
            std::vector<named_value> given = quick(*policy_find(parallel_policies, name));
            given.push_back(option);
            answer got = run(name, x.c.input(x.model), given);
            REQUIRE(got.code == OK);
            check_answer(x, got);
            CHECK(got.out.score_s >= best_s * (1 - 1e-12));
            CHECK(same_answer(got, run(name, x.c.input(x.model), given)));
        }
    });
}

TEST_CASE("box_elimination ends where the whole grid does", "[parallel][property]")
{
    const double comms[] = {6000, 12000, 30000, 100000};
    int missed = 0, literal_missed = 0;
    double worst = 1;
    rng r = rng_create(20);
    for (int k = 0; k < 1000; k++) {
        cluster x(5 + rng_index(&r, 10));
        model_of model({{1000, 2, comms[rng_index(&r, 4)], 2, 2}});
        for (double &cpu : x.cpu)
            cpu = some(r, 0.05, 1);
        for (size_t i = 0; i < x.cpu.size(); i++)
            for (size_t j = 0; j < i; j++)
                x.link(i, j, some(r, 20, 80));
        x.in.pre_evaluate = true;
        x.in.seed = uint64_t(k);
        double all_s = run("grid_exhaustive", x.input(model)).out.score_s;
        double ratio = run("box_elimination", x.input(model)).out.score_s / all_s;
        worst = std::max(worst, ratio);
        missed += ratio > 1 + 1e-12;
        literal_missed += run("box_elimination", x.input(model),
                              {{"be_mode", VALUE_TEXT, 0, "literal"}})
                              .out.score_s > all_s * (1 + 1e-12);
    }
    CHECK(missed <= 1);
    CHECK(worst <= 1.12);
    CHECK(literal_missed <= 8);
    CHECK(literal_missed >= missed);
}

TEST_CASE("budgets end every policy, with an answer", "[parallel][property]")
{
    for_each_case(3, [](instance &x) {
        x.c.in.pre_evaluate = true;
        double n = double(x.c.cpu.size());
        for (const struct policy *p = parallel_policies; p->name; p++) {
            if (!applies(*p, x))
                continue;
            INFO(p->name);
            for (double units : {1.0, 20.0, 500.0}) {
                x.c.in.work_budget = units;
                answer got = run(p->name, x.c.input(x.model), quick(*p));
                REQUIRE(got.code == OK);
                check_answer(x, got);
                // The budget, one mapping and its evaluation beyond it, the two sets.
                CHECK(got.out.work_units <= units + 6 * n * n + 2000);
            }
            x.c.in.work_budget = 0;
            for (int calls : {1, 2, 5}) {
                countdown c = {calls};
                budget clock = make_budget(count_down, &c);
                x.c.in.budget = &clock;
                answer got = run(p->name, x.c.input(x.model), quick(*p));
                REQUIRE(got.code == OK);
                check_answer(x, got);
            }
            x.c.in.budget = nullptr;
        }
    });
}

TEST_CASE("errors of prediction change the choice, not the report",
          "[parallel][property]")
{
    for_each_case(2, [](instance &x) {
        x.c.in.pre_evaluate = true;
        x.c.in.perturbation_ratio = 0.3;
        for (const struct policy *p = parallel_policies; p->name; p++) {
            if (!applies(*p, x))
                continue;
            INFO(p->name);
            answer got = run(p->name, x.c.input(x.model), quick(*p));
            REQUIRE(got.code == OK);
            check_answer(x, got);
            CHECK(same_answer(got, run(p->name, x.c.input(x.model), quick(*p))));
        }
    });
}

TEST_CASE("odd clusters are answered by every policy", "[parallel][property]")
{
    model_of model({{1000, 2, 6000, 2, 2}});
    auto each = [&](cluster &x, auto check) {
        for (const struct policy *p = parallel_policies; p->name; p++)
            for (bool pre : {false, true}) {
                INFO(p->name << (pre ? ", with the two sets" : ", alone"));
                x.in.pre_evaluate = pre;
                answer got = run(p->name, x.input(model), quick(*p));
                REQUIRE(got.code == OK);
                check(got, std::string(p->name));
            }
    };
    SECTION("no machine")
    {
        cluster x(0);
        each(x, [](const answer &got, const std::string &) {
            CHECK(got.out.status == DECISION_INFEASIBLE);
            CHECK(got.members.empty());
        });
    }
    SECTION("fewer than are needed")
    {
        cluster x(3);
        x.uplinks = {1, 1, 1};
        x.in.min_procs = 4;
        each(x, [](const answer &got, const std::string &) {
            CHECK(got.out.status == DECISION_INFEASIBLE);
        });
    }
    SECTION("one machine")
    {
        cluster x(1);
        x.uplinks = {10};
        x.cpu[0] = 0.5;
        each(x, [](const answer &got, const std::string &) {
            CHECK(got.out.time_s == Approx(2000));
            CHECK(got.members.size() == 1);
        });
    }
    SECTION("no links")
    {
        cluster x({0.5, 1, 0.7}, "");
        x.uplinks = {0, 0, 0};
        each(x, [](const answer &got, const std::string &name) {
            if (got.members.size() == 1)
                CHECK(got.out.time_s == Approx(1000));
            else
                CHECK(got.members.empty());
            if (name == "brute_force" || name == "exact")
                CHECK(got.members == std::vector<size_t>{1});
        });
        x.in.min_procs = 2;
        each(x, [](const answer &got, const std::string &name) {
            CHECK(got.members.empty());
            CHECK(got.out.status != DECISION_OPTIMAL);
            if (name == "brute_force" || name == "exact")
                CHECK(got.out.status == DECISION_INFEASIBLE);
        });
    }
    SECTION("machines with hardly any cpu")
    {
        cluster x({0.01, 1, 0.01, 0.8}, "01:20 02:30 03:40 12:50 13:60 23:70");
        x.uplinks = {70, 70, 70, 70};
        each(x, [](const answer &got, const std::string &name) {
            if (name == "brute_force" || name == "exact")
                CHECK(got.members == std::vector<size_t>{1, 3});
            CHECK(got.out.time_s >= Approx(1000 / 0.8 / 2 + 6000 / 60.0 / 2));
        });
    }
    SECTION("all alike")
    {
        cluster x(9);
        x.uplinks.assign(9, 50);
        for (size_t i = 0; i < 9; i++)
            for (size_t k = 0; k < i; k++)
                x.link(i, k, 50);
        each(x, [](const answer &got, const std::string &) {
            CHECK(got.members.size() == 9);
        });
    }
    SECTION("links far above the capacity")
    {
        cluster x(4);
        x.uplinks.assign(4, 1e9);
        for (size_t i = 0; i < 4; i++)
            for (size_t k = 0; k < i; k++)
                x.link(i, k, i == 1 ? 0.01 : 1e9);
        x.uplinks[0] = x.uplinks[1] = 0.01;
        x.machines.link_capacity_mbps = 1;
        for (const char *p : {"box_elimination", "grid_exhaustive"})
            CHECK(run(p, x.input(model)).members.size() >= 3);
    }
}

TEST_CASE("what a policy cannot treat is refused", "[parallel]")
{
    model_of model({{1000, 2, 6000, 2, 2}});
    cluster x(21);
    CHECK(run("brute_force", x.input(model)).code == ERR_INVALID);
    CHECK(run("threshold_exact", x.input(model)).code == ERR_INVALID);
    CHECK(policy_find(parallel_policies, "nothing") == nullptr);
}

TEST_CASE("the table of policies is sorted and complete", "[parallel][property]")
{
    for (const struct policy *p = parallel_policies; p->name; p++) {
        CHECK(*p->purpose);
        CHECK((p->cites || p->idea));
        if (p > parallel_policies)
            CHECK(std::strcmp(p[-1].name, p->name) < 0);
        CHECK(policy_find(parallel_policies, p->name) == p);
        for (const param *row = p->params; row->name; row++) {
            CHECK(row->preset >= row->min);
            CHECK(row->preset <= row->max);
        }
    }
}

TEST_CASE("streams of random numbers are named by the site", "[parallel]")
{
    model_of model({{1000, 2, 6000, 2, 2}});
    cluster x(4);
    test_arena a;
    parallel_search s{};
    x.in.seed = 12;
    x.in.site_id = "iisc";
    REQUIRE(search_create(&x.input(model), &s, a) == OK);
    CHECK(s.random == (12 ^ hash_fnv1a("parallel.iisc")));
    CHECK(s.perturb == (12 ^ hash_fnv1a("perturbation.iisc")));
}

TEST_CASE("a set that changes has the minima of its members", "[parallel][property]")
{
    rng r = rng_create(5);
    auto x = random_instance(77, styles[3], 12);
    test_arena a;
    parallel_search s{};
    parallel_set set{}, copy{};
    REQUIRE(search_create(&x->c.input(x->model), &s, a) == OK);
    set_create(&s, &set);
    set_create(&s, &copy);
    auto check = [&](struct set_minima m, std::vector<size_t> list) {
        CHECK(m.cpu == search_least_cpu(&s, list.data(), list.size()));
        CHECK(m.bandwidth_mbps == search_least_link(&s, list.data(), list.size()));
    };
    for (int step = 0; step < 400; step++) {
        size_t machine = rng_index(&r, 12);
        size_t other = rng_index(&r, 12);
        if (!set_has(&set, machine))
            set_add(&set, machine);
        else if (!set_has(&set, other))
            set_replace(&set, machine, other);
        else
            set_remove(&set, machine);
        if (step % 50 == 49)
            set_copy(&copy, &set), std::swap(copy, set);
        std::vector<size_t> members(set.order, set.order + set.count);
        check(set_minima(&set, NO_MACHINE), members);
        for (size_t leaves : members) {
            std::vector<size_t> rest = members;
            rest.erase(std::find(rest.begin(), rest.end(), leaves));
            auto m = set_minima(&set, leaves);
            check(m, rest);
            for (size_t comes = 0; comes < 12; comes++) {
                if (set_has(&set, comes))
                    continue;
                rest.push_back(comes);
                check(set_with(&set, m, leaves, comes), rest);
                rest.pop_back();
            }
        }
    }
}

TEST_CASE("a full arena is an error, never a crash", "[parallel][memory]")
{
    auto x = random_instance(3, styles[6], 8);
    for (const struct policy *p = parallel_policies; p->name; p++) {
        INFO(p->name);
        error_code code = ERR_TOO_LARGE;
        for (size_t cap = 0; code != OK && cap < (size_t{1} << 26); cap += 97 + cap / 3) {
            answer got = run(p->name, x->c.input(x->model), quick(*p), cap);
            code = got.code;
            if (code != OK)
                REQUIRE(code == ERR_TOO_LARGE);
        }
        CHECK(code == OK);
    }
}
