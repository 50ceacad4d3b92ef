// parallel_exact_test.cpp - the exact method and the bound of algorithms/parallel,
// against every set of small clusters and the numbers of the spec.
#include "support.hpp"

#include <algorithm>

extern "C" {
#include "algorithms/parallel/bound.h"
#include "algorithms/parallel/exact_parts.h"
#include "algorithms/parallel/parallel.h"
#include "algorithms/parallel/sites.h"
#include "models/performance/functions.h"
}

namespace
{

struct cluster {
    size_t n = 0;
    std::vector<double> cpu, links, uplinks, waits;
    std::vector<perf_term> terms;
    size_t min_procs = 1;

    explicit cluster(size_t machines)
        : n(machines), cpu(machines, 1.0), links(machines * machines, 0.0)
    {
    }
    void link(size_t i, size_t k, double mbps)
    {
        links[i * n + k] = links[k * n + i] = mbps;
    }
    void link_all(double (*mbps)(size_t i, size_t k, uint64_t *state), uint64_t *state)
    {
        for (size_t i = 0; i < n; i++)
            for (size_t k = i + 1; k < n; k++)
                link(i, k, mbps(i, k, state));
    }
};

double unit(uint64_t *state)
{
    return static_cast<double>(splitmix64(state) >> 11) * 0x1p-53;
}

size_t pick(uint64_t *state, size_t count)
{
    return std::min(count - 1,
                    static_cast<size_t>(unit(state) * static_cast<double>(count)));
}

// T = COMP / (c P) + COMM / (b P), as the spec's fixtures have it.
std::vector<perf_term> plain_model(double comp_s, double comm)
{
    return {{comp_s, 2, comm, 2, 2}};
}

struct run {
    test_arena a;
    error err{};
    error_code code = OK;
    parallel_out out{};

    run(const cluster &c, const char *name, std::vector<named_value> options = {},
        double known_s = 0, uint64_t seed = 1)
    {
        const struct policy *policy = policy_find(parallel_policies, name);
        parallel_machines m{c.n, c.cpu.data(), c.links.data(),
                            c.uplinks.empty() ? nullptr : c.uplinks.data(), 100};
        perf_terms model{c.terms.data(), c.terms.size(), NAN};
        double value[PARAMS_MAX];
        parallel_in in{};

        REQUIRE(policy);
        err.arena = a;
        REQUIRE(policy_bind(policy, options.data(), options.size(), value, &err) == OK);
        in.machines = &m;
        in.model = &model;
        in.min_procs = c.min_procs;
        in.queue_wait_s = c.waits.empty() ? nullptr : c.waits.data();
        in.pre_evaluate = value[PARALLEL_PRE_EVALUATE] != 0;
        in.perturbation_ratio = value[PARALLEL_PERTURBATION];
        in.work_budget = value[PARALLEL_WORK_BUDGET];
        in.known_s = known_s;
        in.seed = seed;
        code = parallel_decide(&in, policy, value + PARALLEL_COMMON_COUNT, &out, a, &err);
    }
};

named_value number_option(const char *name, double value)
{
    return {name, VALUE_NUMBER, value, nullptr};
}

// The score of a set, straight from the definition.
double score(const cluster &c, const std::vector<size_t> &members)
{
    perf_terms model{c.terms.data(), c.terms.size(), NAN};
    double cpu = HUGE_VAL, link = HUGE_VAL;

    for (size_t i = 0; i < members.size(); i++) {
        cpu = std::min(cpu, c.cpu[members[i]]);
        for (size_t k = 0; k < i; k++)
            link = std::min(link, c.links[members[i] * c.n + members[k]]);
    }
    if (members.size() > 1 && !(link > 0))
        return HUGE_VAL;
    double time_s = perf_time_s(&model, static_cast<double>(members.size()), cpu, link);
    return time_s + (c.waits.empty() ? 0 : c.waits[members.size()]);
}

double least_score(const cluster &c)
{
    double least = HUGE_VAL;

    for (unsigned set = 1; set < 1U << c.n; set++) {
        std::vector<size_t> members;

        for (size_t i = 0; i < c.n; i++)
            if (set >> i & 1)
                members.push_back(i);
        if (members.size() >= c.min_procs)
            least = std::min(least, score(c, members));
    }
    return least;
}

std::vector<size_t> members_of(const parallel_out &out)
{
    return {out.members, out.members + out.count};
}

enum shape { INDEPENDENT, ON_LEVELS, HOLES, UPLINKS, TREE, EQUAL, SHAPES };

// Links between the leaves of a random tree of switches.
void tree_links(cluster &c, uint64_t *state)
{
    std::vector<size_t> group(c.n);

    for (size_t i = 0; i < c.n; i++)
        group[i] = i;
    double width = 80;
    for (size_t left = c.n; left > 1; left--) {
        std::vector<size_t> heads;
        for (size_t i = 0; i < c.n; i++)
            if (group[i] == i)
                heads.push_back(i);
        size_t one = heads[pick(state, heads.size())], other = one;
        while (other == one)
            other = heads[pick(state, heads.size())];
        for (size_t i = 0; i < c.n; i++)
            for (size_t k = 0; k < c.n; k++)
                if (group[i] == one && group[k] == other)
                    c.link(i, k, width);
        for (size_t i = 0; i < c.n; i++)
            if (group[i] == other)
                group[i] = one;
        if (pick(state, 3) > 0) // some neighbours are equal
            width *= 0.5 + 0.5 * unit(state);
    }
}

void random_links(cluster &c, shape links, uint64_t *state)
{
    switch (links) {
    case ON_LEVELS:
        c.link_all([](size_t, size_t,
                      uint64_t *s) { return 20 + 10 * static_cast<double>(pick(s, 7)); },
                   state);
        break;
    case HOLES:
        c.link_all(
            [](size_t, size_t, uint64_t *s) {
                return pick(s, 3) == 0 ? 0 : 20 + 10 * static_cast<double>(pick(s, 7));
            },
            state);
        break;
    case UPLINKS:
        for (size_t i = 0; i < c.n; i++)
            c.uplinks.push_back(pick(state, 4) == 0 ? 20 : 2 + 78 * unit(state));
        for (size_t i = 0; i < c.n; i++)
            for (size_t k = i + 1; k < c.n; k++)
                c.link(i, k, std::min(c.uplinks[i], c.uplinks[k]));
        break;
    case TREE:
        tree_links(c, state);
        break;
    case EQUAL:
        c.link_all([](size_t, size_t, uint64_t *) { return 40.0; }, state);
        break;
    default:
        c.link_all([](size_t, size_t, uint64_t *s) { return 2 + 78 * unit(s); }, state);
    }
}

// Any function of bandwidth and processors, one or two terms.
void random_model(cluster &c, bool any, uint64_t *state)
{
    double comms[] = {100, 6000, 30000, 1e5};

    for (size_t i = 0; i < 1 + pick(state, 2); i++) {
        perf_term t{1000, 2, comms[pick(state, 4)], 2, 2};
        if (any) {
            t.bw_id = 1 + static_cast<int>(pick(state, 8));
            t.pcomp_id = static_cast<int>(pick(state, 19));
            t.pcomm_id = static_cast<int>(pick(state, 19));
            t.comm *= perf_bw_value(t.bw_id, 40) / 40;
        }
        c.terms.push_back(t);
    }
}

cluster random_cluster(shape links, bool any_model, uint64_t *state)
{
    cluster c(1 + pick(state, 9));

    for (double &cpu : c.cpu)
        cpu = pick(state, 2) ? 0.1 * static_cast<double>(1 + pick(state, 10))
                             : 0.05 + 0.95 * unit(state);
    random_links(c, links, state);
    random_model(c, any_model, state);
    if (pick(state, 4) == 0)
        c.min_procs = 1 + pick(state, c.n);
    if (pick(state, 4) == 0)
        for (size_t p = 0; p <= c.n; p++)
            c.waits.push_back(500 * unit(state));
    return c;
}

// The reference cluster of spec 9.2: 30/40/30.
cluster reference(size_t n, double capacity, uint64_t seed)
{
    cluster c(n);
    std::vector<size_t> order(n);
    auto light = static_cast<size_t>(std::round(0.3 * static_cast<double>(n)));
    auto medium = static_cast<size_t>(std::round(0.4 * static_cast<double>(n)));

    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n - 1; i > 0; i--)
        std::swap(order[i], order[pick(&seed, i + 1)]);
    for (size_t i = 0; i < n; i++) {
        double low = i < light ? 0.701 : i < light + medium ? 0.351 : 0.05;
        double high = i < light ? 1.0 : i < light + medium ? 0.7 : 0.35;
        c.cpu[order[i]] = low + (high - low) * unit(&seed);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            c.link(i, k, capacity * (0.2 + 0.6 * unit(&seed)));
    return c;
}

struct fixture {
    const char *name;
    std::vector<double> cpu, links; // links: upper triangle
    double comm, best_s;
    std::vector<size_t> members;
};

const std::vector<fixture> fixtures = {
    {"A",
     {0.9, 0.8, 0.75, 0.5, 0.3, 0.2},
     {70, 65, 60, 40, 50, 25, 55, 45, 60, 70, 35, 65, 50, 55, 30},
     6000,
     524.4444444444,
     {0, 1, 2}},
    {"B",
     {1.0, 1.0, 1.0, 0.3, 0.6, 0.9},
     {20, 20, 70, 40, 80, 70, 20, 70, 40, 40, 20, 70, 70, 70, 70},
     30000,
     620.3703703704,
     {1, 2, 5}},
    {"C",
     {0.1, 0.7, 0.7, 1.0, 0.1},
     {70, 50, 40, 70, 80, 30, 60, 20, 40, 20},
     12000,
     676.1904761905,
     {1, 2, 3}},
    {"D",
     {0.7, 0.8, 0.6, 0.7, 0.6},
     {20, 60, 60, 60, 80, 60, 40, 50, 60, 20},
     12000,
     453.3333333333,
     {0, 1, 2, 3, 4}},
    {"E",
     {0.8, 0.8, 0.4, 1.0, 1.0},
     {20, 20, 40, 20, 40, 40, 70, 20, 30, 80},
     100000,
     1000,
     {3}},
};

cluster make(const fixture &f)
{
    cluster c(f.cpu.size());
    size_t at = 0;

    c.cpu = f.cpu;
    c.terms = plain_model(1000, f.comm);
    for (size_t i = 0; i < c.n; i++)
        for (size_t k = i + 1; k < c.n; k++)
            c.link(i, k, f.links[at++]);
    return c;
}

} // namespace

TEST_CASE("exact proves the fixtures of spec 10", "[parallel]")
{
    for (const fixture &f : fixtures)
        for (const char *name : {"exact", "auto"})
            DYNAMIC_SECTION(f.name << " " << name)
            {
                run r(make(f), name);
                REQUIRE(r.code == OK);
                CHECK(r.out.status == DECISION_OPTIMAL);
                CHECK(r.out.score_s == Approx(f.best_s).epsilon(1e-12));
                CHECK(r.out.lower_bound_s == r.out.score_s);
                CHECK(r.out.gap_ratio == 0);
                CHECK(members_of(r.out) == f.members);
                CHECK_FALSE(r.out.stopped_early);
            }
}

TEST_CASE("exact proves the optima of the reference clusters", "[parallel]")
{
    const double big = 2048.0 * 2048;
    struct {
        const char *app;
        size_t n;
        perf_term term;
        double want_s;
        size_t machines;
    } cases[] = {
        {"md", 32, {1.49e-3 * big, 2, 3.0 * 2048, 2, 7}, 664.457069, 19},
        {"md", 64, {1.49e-3 * big, 2, 3.0 * 2048, 2, 7}, 425.822769, 39},
        {"eigen", 32, {5e-5 * 1e8, 3, 5e-2 * 1e8, 2, 2}, 1160.402639, 24},
        {"eigen", 64, {5e-5 * 1e8, 3, 5e-2 * 1e8, 2, 2}, 4079.484913, 64},
        {"ssor", 32, {1.07e-3 * 3328 * 3328, 2, 3.0 * 3328, 2, 1}, 1251.721398, 19},
        {"ssor", 64, {1.07e-3 * 3328 * 3328, 2, 3.0 * 3328, 2, 1}, 728.542276, 39},
        {"is", 32, {2.2e-2 * 400000, 2, 0.05 * 400000, 2, 2}, 926.258839, 19},
        {"is", 64, {2.2e-2 * 400000, 2, 0.05 * 400000, 2, 2}, 507.327570, 39},
    };

    for (auto &x : cases)
        DYNAMIC_SECTION(x.app << " " << x.n)
        {
            cluster c = reference(x.n, x.n == 32 ? 1000 : 100, 12345);
            c.terms = {x.term};
            run r(c, "exact");
            REQUIRE(r.code == OK);
            CHECK(r.out.status == DECISION_OPTIMAL);
            CHECK(r.out.score_s == Approx(x.want_s).epsilon(1e-9));
            CHECK(r.out.count == x.machines);
        }
}

TEST_CASE("exact finds the best set of small clusters, whatever links and model",
          "[parallel][property]")
{
    uint64_t state = 7;

    for (int shape_number = 0; shape_number < SHAPES; shape_number++)
        for (int any_model = 0; any_model < 2; any_model++)
            for (int i = 0; i < 250; i++) {
                cluster c =
                    random_cluster(static_cast<shape>(shape_number), any_model, &state);
                double want_s = least_score(c);
                run r(c, "exact");
                CAPTURE(shape_number, any_model, i, c.n, c.min_procs);
                REQUIRE(r.code == OK);
                if (want_s == HUGE_VAL) {
                    REQUIRE(r.out.status == DECISION_INFEASIBLE);
                    REQUIRE(r.out.count == 0);
                    continue;
                }
                REQUIRE(r.out.status == DECISION_OPTIMAL);
                REQUIRE(r.out.score_s == Approx(want_s).epsilon(1e-12));
                REQUIRE(r.out.count >= c.min_procs);
                REQUIRE(score(c, members_of(r.out)) ==
                        Approx(r.out.score_s).epsilon(1e-12));
            }
}

TEST_CASE("exact finds the best set of eleven machines", "[parallel][property]")
{
    uint64_t state = 11;

    for (int i = 0; i < 12; i++) {
        cluster c(11);
        for (double &cpu : c.cpu)
            cpu = 0.05 + 0.95 * unit(&state);
        random_links(c, i % 2 ? INDEPENDENT : HOLES, &state);
        random_model(c, i % 3 == 0, &state);
        run r(c, "exact");
        REQUIRE(r.out.status == DECISION_OPTIMAL);
        CHECK(r.out.score_s == Approx(least_score(c)).epsilon(1e-12));
    }
}

TEST_CASE("trees of links are recognised, others are not", "[parallel]")
{
    uint64_t state = 3;

    for (int shape_number = 0; shape_number < SHAPES; shape_number++) {
        test_arena a;
        cluster c(40);
        bool structured = false;
        parallel_search s;

        random_links(c, static_cast<shape>(shape_number), &state);
        c.terms = plain_model(1000, 6000);
        parallel_machines m{c.n, c.cpu.data(), c.links.data(), nullptr, 100};
        perf_terms model{c.terms.data(), 1, NAN};
        parallel_in in{};
        in.machines = &m;
        in.model = &model;
        REQUIRE(search_create(&in, &s, a) == OK);
        REQUIRE(exact_tree(&s, &structured) == OK);
        CAPTURE(shape_number);
        CHECK(structured == (shape_number >= UPLINKS));
        // One link that does not fit makes it no tree.
        c.link(5, 9, c.links[5 * c.n + 9] + (shape_number == EQUAL ? -1 : 1));
        REQUIRE(search_create(&in, &s, a) == OK);
        REQUIRE(exact_tree(&s, &structured) == OK);
        CHECK_FALSE(structured);
    }
}

TEST_CASE("a cluster of uplinks: threshold_exact, exact and boxes agree", "[parallel]")
{
    uint64_t state = 5;

    for (size_t n : {32U, 64U}) {
        cluster c(n);
        for (double &cpu : c.cpu)
            cpu = 0.05 + 0.95 * unit(&state);
        random_links(c, UPLINKS, &state);
        c.terms = {{1.49e-3 * 2048 * 2048, 2, 3.0 * 2048, 2, 7}};
        run threshold(c, "threshold_exact"), exact(c, "exact");
        CHECK(threshold.out.status == DECISION_OPTIMAL);
        CHECK(exact.out.score_s == threshold.out.score_s);
        // The general method finds the same without knowing.
        cluster bent = c;
        bent.uplinks.clear();
        bent.link(0, 1, bent.links[1] * 0.999);
        run boxes(bent, "exact");
        CHECK(boxes.out.status == DECISION_OPTIMAL);
        CHECK(boxes.out.score_s >= threshold.out.score_s * (1 - 1e-12));
        CHECK(boxes.out.iterations > 0);
        // Each cpu value, each prefix by falling uplink: spec 4.7.
        double least = 1e300;
        for (double cpu : c.cpu) {
            std::vector<double> up;
            for (size_t i = 0; i < n; i++)
                if (c.cpu[i] >= cpu)
                    up.push_back(c.uplinks[i]);
            std::sort(up.rbegin(), up.rend());
            perf_terms model{c.terms.data(), 1, NAN};
            for (size_t p = 1; p <= up.size(); p++)
                least = std::min(
                    least, perf_time_s(&model, static_cast<double>(p), cpu, up[p - 1]));
        }
        CHECK(threshold.out.score_s == Approx(least).epsilon(1e-12));
    }
}

TEST_CASE("1,024 machines with uplinks are solved exactly", "[parallel]")
{
    uint64_t state = 1;
    cluster c(1024);

    for (double &cpu : c.cpu)
        cpu = 0.05 + 0.95 * unit(&state);
    random_links(c, UPLINKS, &state);
    c.terms = {{1.49e-3 * 2048 * 2048, 2, 3.0 * 2048, 2, 7}};
    run threshold(c, "threshold_exact");
    c.uplinks.clear();
    run exact(c, "exact");
    CHECK(threshold.out.status == DECISION_OPTIMAL);
    CHECK(exact.out.status == DECISION_OPTIMAL);
    CHECK(exact.out.score_s == threshold.out.score_s);
    CHECK(exact.out.gap_ratio == 0);
}

TEST_CASE("threshold_exact refuses links that are no uplinks", "[parallel]")
{
    cluster c = make(fixtures[0]);
    run r(c, "threshold_exact");

    CHECK(r.code == ERR_INVALID);
    CHECK(std::string(r.err.field) == "/algorithm");
}

TEST_CASE("the bound of every policy's answer holds", "[parallel][property]")
{
    uint64_t state = 17;

    for (int i = 0; i < 40; i++) {
        cluster c = random_cluster(static_cast<shape>(i % SHAPES), i % 2, &state);
        double want_s = least_score(c);

        for (const struct policy *p = parallel_policies; p->name; p++) {
            run r(c, p->name);
            CAPTURE(i, p->name, c.n);
            if (r.code == ERR_INVALID)
                continue; // threshold_exact without uplinks
            REQUIRE(r.code == OK);
            if (want_s == HUGE_VAL) {
                CHECK(r.out.count == 0);
                continue;
            }
            CHECK(r.out.lower_bound_s <= want_s * (1 + 1e-12));
            CHECK(r.out.lower_bound_s >= 0);
            if (r.out.count == 0)
                continue;
            CHECK(r.out.score_s >= want_s * (1 - 1e-12));
            CHECK(r.out.lower_bound_s <= r.out.score_s);
            if (r.out.status == DECISION_OPTIMAL)
                CHECK(r.out.score_s == Approx(want_s).epsilon(1e-9));
        }
    }
}

TEST_CASE("a budget cuts exact, and leaves a bound", "[parallel]")
{
    uint64_t state = 23;
    cluster c(96);

    for (double &cpu : c.cpu)
        cpu = 0.05 + 0.95 * unit(&state);
    random_links(c, INDEPENDENT, &state);
    c.terms = {{1.49e-3 * 2048 * 2048, 2, 3.0 * 2048, 2, 7}};
    run whole(c, "exact");
    REQUIRE(whole.out.status == DECISION_OPTIMAL);
    double before = 0;
    for (double boxes : {1.0, 10.0, 100.0, 1000.0}) {
        run r(c, "exact", {number_option("max_boxes", boxes)});
        CAPTURE(boxes);
        CHECK(r.out.lower_bound_s <= whole.out.score_s);
        CHECK(r.out.lower_bound_s >= before);
        CHECK(r.out.score_s >= whole.out.score_s);
        if (r.out.status != DECISION_OPTIMAL) {
            CHECK(r.out.status == DECISION_CUT);
            CHECK(r.out.stopped_early);
            CHECK(r.out.gap_ratio > 0);
        }
        before = r.out.lower_bound_s;
    }
    run units(c, "exact", {number_option("work_budget", 20000)});
    CHECK(units.out.status == DECISION_CUT);
    CHECK(units.out.count > 0);
    CHECK(units.out.lower_bound_s > 0);
}

TEST_CASE("max_clique_nodes leaves a box unsettled, never a false proof", "[parallel]")
{
    uint64_t state = 29;

    for (int i = 0; i < 30; i++) {
        cluster c(10);
        for (double &cpu : c.cpu)
            cpu = 0.5 + 0.1 * static_cast<double>(pick(&state, 3));
        random_links(c, HOLES, &state);
        c.terms = plain_model(1000, 100);
        run r(c, "exact", {number_option("max_clique_nodes", 1)});
        double want_s = least_score(c);
        CHECK(r.out.lower_bound_s <= want_s * (1 + 1e-12));
        if (r.out.status == DECISION_OPTIMAL)
            CHECK(r.out.score_s == Approx(want_s).epsilon(1e-12));
    }
}

TEST_CASE("no linked set of the size asked for is proven infeasible", "[parallel]")
{
    cluster c(8);

    c.terms = plain_model(1000, 6000);
    c.min_procs = 3;
    for (size_t i = 0; i < c.n; i += 2)
        c.link(i, i + 1, 50);
    run pairs(c, "exact");
    CHECK(pairs.out.status == DECISION_INFEASIBLE);
    CHECK(pairs.out.lower_bound_s == HUGE_VAL);
    // A ring has no triangle, and no structure.
    for (size_t i = 0; i < c.n; i++)
        c.link(i, (i + 1) % c.n, 50 + static_cast<double>(i));
    for (const char *name : {"exact", "auto"}) {
        run ring(c, name);
        CHECK(ring.out.status == DECISION_INFEASIBLE);
    }
    c.min_procs = 2;
    run two(c, "exact");
    CHECK(two.out.status == DECISION_OPTIMAL);
    CHECK(two.out.min_bandwidth_mbps == 57);
}

TEST_CASE("an answer elsewhere spares work, and the bound still holds", "[parallel]")
{
    uint64_t state = 31;
    cluster c(64);

    for (double &cpu : c.cpu)
        cpu = 0.05 + 0.95 * unit(&state);
    random_links(c, INDEPENDENT, &state);
    c.terms = {{1.49e-3 * 2048 * 2048, 2, 3.0 * 2048, 2, 7}};
    run alone(c, "exact");
    double known_s = alone.out.score_s * 0.8;
    run beaten(c, "exact", {}, known_s);
    CHECK(beaten.out.lower_bound_s >= known_s);
    CHECK(beaten.out.lower_bound_s <= alone.out.score_s);
    CHECK(beaten.out.iterations < alone.out.iterations);
    CHECK_FALSE(beaten.out.stopped_early);
}

TEST_CASE("perturbation does not change what is proven", "[parallel]")
{
    cluster c = make(fixtures[0]);

    for (const char *name : {"exact", "auto"}) {
        run r(c, name, {number_option("perturbation_ratio", 0.4)});
        CHECK(r.out.score_s == Approx(524.4444444444).epsilon(1e-12));
        CHECK(r.out.perturbation_ignored);
    }
}

// ---- cliques ----

TEST_CASE("the clique search finds a largest clique", "[parallel][property]")
{
    uint64_t state = 41;

    for (int i = 0; i < 200; i++) {
        test_arena a;
        size_t n = 2 + pick(&state, 13);
        link_graph g;
        graph_scratch w;
        clique_search c;
        double density = unit(&state);

        link_graph_create(n, &g, a);
        graph_scratch_create(n, &w, a);
        clique_search_create(n, &c, a);
        g.count = n;
        for (size_t x = 0; x < n; x++)
            for (size_t y = x + 1; y < n; y++)
                if (unit(&state) < density) {
                    bit_set(&g.row[x * g.words], y);
                    bit_set(&g.row[y * g.words], x);
                    g.degree[x]++;
                    g.degree[y]++;
                }
        size_t largest = 0;
        for (unsigned set = 1; set < 1U << n; set++) {
            bool clique = true;
            for (size_t x = 0; clique && x < n; x++)
                if (set >> x & 1)
                    clique = ((g.row[x] | UINT64_C(1) << x) & set) == set;
            if (clique)
                largest = std::max(largest, static_cast<size_t>(__builtin_popcount(set)));
        }
        double units;
        std::vector<uint32_t> member(n);
        size_t greedy = graph_clique(&g, member.data(), &units, &w);
        CHECK(greedy >= 1);
        CHECK(greedy <= largest);
        CHECK(graph_core(&g, &w) >= largest);
        CHECK(graph_colours(&g, &w) >= largest);
        c.need = 1;
        c.enough = n;
        c.node_cap = 1000000;
        clique_search_run(&c, &g, nullptr, &w, a);
        CHECK(c.found == largest);
        for (size_t x = 0; x < c.found; x++)
            for (size_t y = 0; y < x; y++)
                CHECK(bit_has(&g.row[c.member[x] * g.words], c.member[y]));
        c.need = largest + 1;
        clique_search_run(&c, &g, nullptr, &w, a);
        CHECK(c.found == 0);
        CHECK_FALSE(c.cut);
    }
}

// ---- sites ----

namespace
{

struct test_site {
    std::vector<site_machine> machines;
    std::vector<double> triangle;
    std::vector<site_wait> waits;
    std::vector<site_link> overrides;
    site s{};

    test_site(const char *id, std::vector<double> cpu)
    {
        static const char *const names[] = {"m0", "m1", "m2", "m3",
                                            "m4", "m5", "m6", "m7"};
        for (size_t i = 0; i < cpu.size(); i++)
            machines.push_back({names[i], cpu[i], NAN});
        s.id = id;
        s.link_capacity_mbps = NAN;
        s.cpu_scaling_factor = s.bandwidth_scaling_factor = 1;
        s.links.form = SITE_LINKS_DEFAULT_WITH_OVERRIDES;
        s.links.default_mbps = 40;
    }
    const site *get()
    {
        s.resources = machines.data();
        s.resource_count = machines.size();
        s.links.bandwidth_mbps = triangle.data();
        s.links.bandwidth_count = triangle.size();
        s.links.overrides = overrides.data();
        s.links.override_count = overrides.size();
        s.queue_wait_history = waits.data();
        s.wait_count = waits.size();
        return &s;
    }
};

} // namespace

TEST_CASE("queue waits follow spec 6.2", "[parallel]")
{
    test_arena a;
    error err{};
    std::vector<site_machine> machines(41, site_machine{"m", 0.5, NAN});
    site_wait history[] = {{16, 1000}, {4, 100}, {4, 200}};
    site s{};
    site_machines out;

    s.kind = SITE_BATCH;
    s.link_capacity_mbps = NAN;
    s.links.form = SITE_LINKS_DEFAULT_WITH_OVERRIDES;
    s.links.default_mbps = 10;
    s.resources = machines.data();
    s.resource_count = machines.size();
    s.queue_wait_history = history;
    s.wait_count = 3;
    REQUIRE(site_machines_make(&s, "", &out, a, &err) == OK);
    CHECK(out.queue_wait_known);
    CHECK(out.queue_wait_s[1] == 150);
    CHECK(out.queue_wait_s[6] == 150);
    CHECK(out.queue_wait_s[9] == 150);
    CHECK(out.queue_wait_s[10] == 1000);
    CHECK(out.queue_wait_s[40] == 1000);
    CHECK(out.machines.cpu_available_ratio[0] == 1);
    s.wait_count = 0;
    REQUIRE(site_machines_make(&s, "", &out, a, &err) == OK);
    CHECK_FALSE(out.queue_wait_known);
    CHECK(out.queue_wait_s[5] == 0);
}

TEST_CASE("machines without cpu are left out, small numbers are raised", "[parallel]")
{
    test_arena a;
    error err{};
    test_site t("x", {0.5, 0, 0.001, NAN, 1});
    site_machines out;

    t.s.links.form = SITE_LINKS_UPPER_TRIANGLE;
    t.triangle = {1, 0.001, 3, NAN, 5, 6, 7, 8, 9, 10};
    REQUIRE(site_machines_make(t.get(), "", &out, a, &err) == OK);
    REQUIRE(out.machines.count == 3);
    CHECK(out.unusable_count == 2);
    CHECK(out.raised_cpu_count == 1);
    CHECK(out.raised_link_count == 1);
    CHECK(out.resource[1] == 2);
    CHECK(out.resource[2] == 4);
    CHECK(out.machines.cpu_available_ratio[1] == 0.01);
    CHECK(out.machines.bandwidth_mbps[0 * 3 + 1] == 0.01);
    CHECK(out.machines.bandwidth_mbps[2 * 3 + 0] == 0);
    CHECK(out.machines.bandwidth_mbps[1 * 3 + 2] == 9);
    CHECK(out.machines.link_capacity_mbps == 9);
}

TEST_CASE("mistakes in links have pointers, all at once", "[parallel]")
{
    test_arena a;
    error err = collecting_error(a);
    site_machines out;
    test_site triangle("t", {1, 1, 1}), uplinks("u", {1, 1}), other("o", {1, 1});

    triangle.s.links.form = SITE_LINKS_UPPER_TRIANGLE;
    triangle.triangle = {1, 2};
    uplinks.s.links.form = SITE_LINKS_UPLINKS;
    uplinks.machines[0].uplink_mbps = 5;
    other.overrides = {{"m0", "none", 5}, {"m1", "m1", 5}};
    site_machines_make(triangle.get(), "/snapshot/sites/0", &out, a, &err);
    site_machines_make(uplinks.get(), "/snapshot/sites/1", &out, a, &err);
    site_machines_make(other.get(), "/snapshot/sites/2", &out, a, &err);
    std::vector<std::string> pointers;
    for (const error_item *i = err.first; i; i = i->next)
        pointers.push_back(i->pointer);
    CHECK(pointers ==
          std::vector<std::string>{"/snapshot/sites/0/links/bandwidth_mbps",
                                   "/snapshot/sites/1/resources/1/uplink_mbps",
                                   "/snapshot/sites/2/links/overrides/0/peer_id",
                                   "/snapshot/sites/2/links/overrides/1/peer_id"});
}

namespace
{

sites_out decide(std::vector<test_site *> sites, const char *name, arena *a,
                 const std::vector<perf_term> &terms)
{
    std::vector<sites_problem> problems(sites.size());
    std::vector<perf_terms> models(sites.size());
    perf_terms model{terms.data(), terms.size(), NAN};
    double param[PARAMS_MAX];
    error err{};
    sites_in in{};
    sites_out out{};

    in.policy = policy_find(parallel_policies, name);
    REQUIRE(in.policy);
    REQUIRE(policy_bind(in.policy, nullptr, 0, param, &err) == OK);
    for (size_t k = 0; k < sites.size(); k++) {
        problems[k].site = sites[k]->get();
        REQUIRE(site_machines_make(problems[k].site, "", &problems[k].machines, a,
                                   &err) == OK);
        REQUIRE(site_scale_model(problems[k].site, &model, &models[k], a) == OK);
        problems[k].model = &models[k];
    }
    in.sites = problems.data();
    in.site_count = problems.size();
    in.param = param;
    in.min_processors = 1;
    in.seed = 1;
    REQUIRE(sites_decide(&in, &out, a, &err) == OK);
    return out;
}

} // namespace

TEST_CASE("the site of the least score is chosen, ties: the first", "[parallel]")
{
    test_arena a;
    auto terms = plain_model(1000, 6000);
    test_site slow("slow", {1, 1, 1, 1}), fast("fast", {1, 1, 1, 1}),
        same("same", {1, 1, 1, 1});

    slow.s.cpu_scaling_factor = 1.4;
    sites_out out = decide({&slow, &fast, &same}, "exact", a, terms);
    CHECK(out.chosen == 1);
    CHECK(out.status == DECISION_OPTIMAL);
    CHECK(out.each[1].score_s == Approx(1000.0 / 4 + 6000.0 / 160));
    CHECK(out.lower_bound_s == out.each[1].score_s);
    CHECK(out.each[0].score_s == Approx(1400.0 / 4 + 6000.0 / 160));
    CHECK(out.heterogeneity_ratio == Approx(1.4));
    // Every policy says the same of a site, whatever other sites there are.
    for (const struct policy *p = parallel_policies; p->name; p++) {
        if (std::string(p->name) == "threshold_exact")
            continue;
        sites_out both = decide({&slow, &fast}, p->name, a, terms);
        sites_out alone = decide({&fast}, p->name, a, terms);
        CAPTURE(p->name);
        CHECK(both.each[1].score_s == alone.each[0].score_s);
        CHECK(members_of(both.each[1]) == members_of(alone.each[0]));
    }
}

TEST_CASE("a queue wait decides how many machines are asked for", "[parallel]")
{
    test_arena a;
    auto terms = plain_model(1000, 6000);
    test_site batch("batch", {0.1, 0.2, 0.3, 0.4});

    batch.s.kind = SITE_BATCH;
    batch.waits = {{1, 0}, {2, 10}, {4, 5000}};
    for (const char *name : {"exact", "auto", "brute_force", "cpu_prefix",
                             "dynamic_programming", "box_elimination", "genetic"}) {
        sites_out out = decide({&batch}, name, a, terms);
        CAPTURE(name);
        // cpu counts as 1; P = 3 is as far from 2 as from 4, the larger wait counts
        CHECK(out.each[0].count == 2);
        CHECK(out.each[0].queue_wait_s == 10);
        CHECK(out.each[0].score_s == Approx(500 + 75 + 10));
        CHECK_FALSE(out.monotone);
    }
}

TEST_CASE("a site without usable machines, or a model, has no part in it", "[parallel]")
{
    test_arena a;
    auto terms = plain_model(1000, 6000);
    test_site empty("empty", {0, 0}), good("good", {1, 1});
    sites_out out = decide({&empty, &good}, "auto", a, terms);

    CHECK(out.chosen == 1);
    CHECK(out.status == DECISION_OPTIMAL);
    out = decide({&empty}, "auto", a, terms);
    CHECK(out.chosen == SIZE_MAX);
    CHECK(out.status == DECISION_INFEASIBLE);
}
