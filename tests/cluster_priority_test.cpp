// cluster_priority_test.cpp - priorities and fair shares as Slurm showed them.
#include "tests/support.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

extern "C" {
#include "algorithms/priority/fair_share.h"
#include "algorithms/priority/multifactor.h"
}

namespace
{

// Amounts: cpus, memory in MiB, gpus.
const double amount_weights[] = {100, 200, 400};

priority_settings settings()
{
    priority_settings s{};

    s.weights = {1000, 0, 2000, 500, 300, 800};
    s.amount_weights = amount_weights;
    s.amount_count = 3;
    s.max_age_s = 86400;
    s.cluster_nodes = 8;
    s.cluster_cpus = 128;
    s.partition_factor_max = 100;
    s.qos_max = 1000;
    return s;
}

priority_job make_job(double nodes, double cpus, double limit_s, const double *asked,
                      const double *there)
{
    priority_job j{};

    j.nodes = nodes;
    j.cpus = cpus;
    j.limit_s = limit_s;
    j.fair_share = 1;
    j.partition_factor = 10;
    j.qos = 100;
    j.asked = asked;
    j.there = there;
    return j;
}

const double batch[] = {96, 256000, 0};

struct given {
    ptrdiff_t parent;
    bool user;
    double shares, use;
};

std::vector<fair_share_member> members(const std::vector<given> &list)
{
    std::vector<fair_share_member> made;
    for (const given &g : list)
        made.push_back({g.parent, g.user, g.shares, g.use});
    return made;
}

std::vector<fair_share> tree(const std::vector<fair_share_member> &m, test_arena &a)
{
    std::vector<fair_share> out(m.size() + 1);
    fair_share_tree(m.data(), m.size(), out.data(), nullptr, a);
    out.resize(m.size());
    return out;
}

std::vector<fair_share> classic(const std::vector<fair_share_member> &m, double damping,
                                test_arena &a)
{
    std::vector<fair_share> out(m.size() + 1);
    fair_share_classic(m.data(), m.size(), damping, out.data(), nullptr, a);
    out.resize(m.size());
    return out;
}

// The rule in its own words: from the list of siblings, one level value after the other.
struct slow_tree {
    const std::vector<fair_share_member> &m;
    const std::vector<fair_share> &level;
    std::vector<double> factor;
    std::vector<size_t> waiting;
    size_t users, left;

    slow_tree(const std::vector<fair_share_member> &given,
              const std::vector<fair_share> &levels)
        : m(given), level(levels), factor(given.size()),
          users(size_t(std::count_if(given.begin(), given.end(),
                                     [](auto &x) { return x.is_user; }))),
          left(users)
    {
        walk(below({-1}));
        give();
    }
    std::vector<size_t> below(const std::vector<ptrdiff_t> &parents) const
    {
        std::vector<size_t> list;
        for (size_t i = 0; i < m.size(); i++)
            if (std::count(parents.begin(), parents.end(), m[i].parent))
                list.push_back(i);
        return list;
    }
    void give()
    {
        for (size_t i : waiting)
            factor[i] = double(left) / double(users);
        left -= waiting.size();
        waiting.clear();
    }
    void walk(std::vector<size_t> list)
    {
        while (!list.empty()) {
            double best = 0;
            std::vector<size_t> others;
            std::vector<ptrdiff_t> accounts;
            for (size_t i : list)
                best = std::max(best, level[i].level);
            for (size_t i : list) {
                if (level[i].level < best)
                    others.push_back(i);
                else if (m[i].is_user)
                    waiting.push_back(i);
                else
                    accounts.push_back(ptrdiff_t(i));
            }
            if (accounts.empty())
                give();
            else
                walk(below(accounts));
            list = others;
        }
    }
};

std::vector<fair_share_member> draw(rng &r)
{
    std::vector<fair_share_member> m(size_t(rng_index(&r, 13)));
    for (size_t i = 0; i < m.size(); i++) {
        std::vector<ptrdiff_t> parents = {FAIR_SHARE_ROOT};
        for (size_t k = 0; k < i; k++)
            if (!m[k].is_user)
                parents.push_back(ptrdiff_t(k));
        m[i] = {parents[rng_index(&r, parents.size())], rng_index(&r, 2) > 0,
                double(rng_index(&r, 4)), double(rng_index(&r, 3))};
    }
    return m;
}

} // namespace

TEST_CASE("a priority is the sum of what its job, user and partition bring", "[priority]")
{
    const double asked[] = {64, 32000, 0};
    priority_job j = make_job(4, 64, 3600, asked, batch);
    priority_settings s = settings();
    double terms[3];

    j.age_s = 15;
    priority p = priority_of(&s, &j, terms);
    CHECK(p.total == 2451);
    CHECK(p.age == Approx(1000 * 15 / 86400.0));
    CHECK(p.fair_share == 2000);
    CHECK(p.job_size == 250);
    CHECK(p.partition == 30);
    CHECK(p.qos == 80);
    CHECK(terms[0] == Approx(66.6666667));
    CHECK(terms[1] == 25);
    CHECK(terms[2] == 0);
    CHECK(p.amounts == Approx(91.6666667));
    j.age_s = 0;
    CHECK(priority_of(&s, &j, nullptr).total == 2451);

    SECTION("age stops at the greatest, and begins at none")
    {
        j.age_s = 1e9;
        CHECK(priority_of(&s, &j, nullptr).age == 1000);
        j.age_s = -5;
        CHECK(priority_of(&s, &j, nullptr).age == 0);
    }
    SECTION("within 1 and the largest; 0 when held")
    {
        j.nice = 1e7;
        CHECK(priority_of(&s, &j, nullptr).total == 1);
        j.nice = -1e10;
        CHECK(priority_of(&s, &j, nullptr).total == PRIORITY_MAX);
        j.held = true;
        CHECK(priority_of(&s, &j, nullptr).total == 0);
    }
    SECTION("nothing to measure against: the factor is 0")
    {
        s.partition_factor_max = s.qos_max = s.cluster_cpus = 0;
        p = priority_of(&s, &j, nullptr);
        CHECK(p.partition + p.qos + p.job_size == 0);
    }
}

TEST_CASE("small jobs first, relative to their time", "[priority]")
{
    const double asked[] = {4, 2000, 0};
    priority_job j = make_job(2, 4, 900, asked, batch);
    priority_settings s = settings();

    s.relative_to_time = s.favors_small = true;
    priority p = priority_of(&s, &j, nullptr);
    CHECK(p.job_size == Approx(491.6666667));
    CHECK(p.total == 2607);
    s.favors_small = false;
    CHECK(priority_of(&s, &j, nullptr).job_size == Approx(8.3333333));
}

TEST_CASE("fair tree: the account decides before the user does", "[priority]")
{
    test_arena a;
    auto m = members({{-1, true, 1, 0},
                      {-1, false, 60, 2628},
                      {1, true, 20, 815},
                      {1, true, 20, 1812},
                      {-1, false, 40, 12140},
                      {4, true, 10, 10118},
                      {4, true, 30, 2022}});
    auto f = tree(m, a);

    CHECK(f[0].factor == 1);
    CHECK(f[2].factor == 0.8);
    CHECK(f[3].factor == 0.6);
    CHECK(f[6].factor == 0.4);
    CHECK(f[5].factor == 0.2);
    CHECK(f[1].level == Approx(3.339).epsilon(1e-3));
    CHECK(f[4].level == Approx(0.481779).epsilon(1e-3));
    CHECK(f[2].level == Approx(1.610865).epsilon(1e-3));
    CHECK(f[3].level == Approx(0.725050).epsilon(1e-3));
    CHECK(f[6].level == Approx(4.501757).epsilon(1e-3));
    CHECK(f[5].level == Approx(0.299977).epsilon(1e-3));
    CHECK(std::isinf(f[0].level));

    for (auto &x : m)
        x.use = 0;
    f = tree(m, a);
    for (size_t i : {0, 2, 3, 5, 6})
        CHECK(f[i].factor == 1);
}

TEST_CASE("classic fair share: use counts by the share of its account", "[priority]")
{
    test_arena a;
    auto m = members({{-1, true, 1, 0},
                      {-1, false, 60, 0.108254},
                      {1, true, 20, 0.064360},
                      {1, true, 20, 0.031721},
                      {-1, false, 40, 0.891746},
                      {4, true, 10, 0.583398},
                      {4, true, 30, 0.296753}});
    auto f = classic(m, 1, a);

    CHECK(f[2].effective == Approx(0.086307).epsilon(1e-5));
    CHECK(f[2].factor == Approx(0.817580).epsilon(3e-6));
    CHECK(f[3].factor == Approx(0.849317).epsilon(3e-6));
    CHECK(f[5].effective == Approx(0.660485).epsilon(1e-5));
    CHECK(f[5].factor == Approx(0.009814).epsilon(5e-5));
    CHECK(f[6].factor == Approx(0.176602).epsilon(3e-6));
    CHECK(f[1].factor == Approx(0.881341).epsilon(3e-6));
    CHECK(f[4].factor == Approx(0.209983).epsilon(3e-6));
    CHECK(f[0].factor == 1);
    CHECK(classic(m, 2, a)[2].factor == Approx(std::sqrt(f[2].factor)));

    m[2].shares = 0;
    CHECK(classic(m, 1, a)[2].factor == 0);
    m[2].shares = 20;
    for (auto &x : m)
        x.use = 0;
    for (auto &x : classic(m, 1, a))
        CHECK(x.factor == 1);
}

TEST_CASE("fair tree is what its rule says, on small trees with ties",
          "[priority][property]")
{
    rng r = rng_stream(7, "trees");

    for (int round = 0; round < 3000; round++) {
        test_arena a;
        auto m = draw(r);
        auto f = tree(m, a);
        slow_tree slow(m, f);
        for (size_t i = 0; i < m.size(); i++) {
            INFO("round " << round << " member " << i);
            REQUIRE(f[i].factor == (m[i].is_user ? slow.factor[i] : 0));
        }
        for (auto &x : classic(m, 1, a)) {
            REQUIRE(x.factor >= 0);
            REQUIRE(x.factor <= 1);
        }
    }
}

TEST_CASE("a chain of a hundred thousand accounts is walked", "[priority]")
{
    test_arena a;
    std::vector<fair_share_member> m(100001);
    for (size_t i = 0; i < m.size(); i++)
        m[i] = {ptrdiff_t(i) - 1, false, 1, 0};
    m.back() = {ptrdiff_t(m.size()) - 2, true, 1, 5};
    fair_share_sum(m.data(), m.size(), a);
    CHECK(m[0].use == 5);
    CHECK(tree(m, a)[m.size() - 1].factor == 1);
    CHECK(classic(m, 1, a)[m.size() - 1].factor == Approx(0.5));
}

TEST_CASE("use is forgotten by halves", "[priority]")
{
    CHECK(fair_share_left(100, 604800, 604800) == 50);
    CHECK(fair_share_left(100, 0, 604800) == 100);
    CHECK(fair_share_left(100, 1e9, 0) == 100);
    CHECK(fair_share_left(fair_share_left(80, 100, 604800), 200, 604800) ==
          Approx(fair_share_left(80, 300, 604800)).epsilon(1e-14));
}
