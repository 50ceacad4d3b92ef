// coallocation_property_test.cpp - what holds for every policy on every grid.
#include "tests/coallocation_place_support.hpp"

using namespace coallocation_place;

namespace
{

// A number from low to high.
size_t between(rng &r, size_t low, size_t high)
{
    return low + rng_index(&r, high - low + 1);
}

void random_grid(multicluster &m, rng &r)
{
    size_t sites = between(r, 1, 7), files = between(r, 1, 3);

    for (size_t s = 0; s < sites; s++) {
        m.site("s" + std::to_string((s * 5) % 7), static_cast<double>(between(r, 0, 40)));
        m.sites[s].processors_busy = static_cast<double>(between(r, 0, 12));
        m.sites[s].usable = rng_index(&r, 8) != 0;
    }
    for (size_t from = 0; from < sites; from++)
        for (size_t to = 0; to < sites; to++)
            if (from != to && rng_index(&r, 3) != 0)
                m.link(m.sites[from].id, m.sites[to].id,
                       static_cast<double>(between(r, 0, 5)) * 8, false);
    for (size_t f = 0; f < files; f++) {
        m.files.push_back({m.keep("f" + std::to_string(f)),
                           static_cast<double>(between(r, 0, 4)) * 1e6,
                           rng_index(&r, 3) ? CO_WHOLE : CO_CHUNK, nullptr, 0});
        for (size_t s = 0; s < sites; s++)
            if (rng_index(&r, 3) == 0)
                m.replica(m.files[f].id, m.sites[s].id, NAN);
    }
    m.has_pairs = rng_index(&r, 2) == 0;
    for (size_t i = between(r, 0, 8); m.has_pairs && i > 0; i--)
        m.pair(m.sites[rng_index(&r, sites)].id, m.sites[rng_index(&r, sites)].id);
    m.build();
}

void random_job(parallel_job &j, const multicluster &m, rng &r, std::string &barred)
{
    bool flexible = j.job.policy->flags & CO_FLEXIBLE_ONLY ||
                    (co_split_of(j.job.policy) != CO_SPLIT_NONE && rng_index(&r, 3) == 0);
    std::string file =
        rng_index(&r, 4) ? "f" + std::to_string(rng_index(&r, m.files.size())) : "";

    if (rng_index(&r, 3) == 0) {
        barred.assign(m.grid.site_count, CO_NO_REASON);
        for (char &bar : barred)
            if (rng_index(&r, 3) == 0)
                bar = rng_index(&r, 2) ? CO_AVOIDED : CO_CAPABILITY;
        j.job.barred = barred.data();
        j.job.avoid_soft = rng_index(&r, 2) == 0;
    }
    j.job.distinct = rng_index(&r, 4) == 0;
    j.job.atomic = rng_index(&r, 3) != 0;
    j.job.min_placed = between(r, 1, 2);
    j.param[CO_PACK_RETRY] = rng_index(&r, 2) == 0;
    if (flexible) {
        j.flexible(m, between(r, 1, 60), file);
        j.job.min_processors = between(r, 0, 5);
        j.job.max_processors = rng_index(&r, 2) ? between(r, 5, 20) : 0;
        j.job.min_components = between(r, 0, 5);
        j.job.max_components = rng_index(&r, 2) ? between(r, 5, 9) : 0;
        j.job.equal_components = rng_index(&r, 4) == 0;
        return;
    }
    j.job.type = CO_SEMI_FIXED;
    for (size_t i = between(r, 1, 6); i > 0; i--) {
        j.component(m, between(r, 1, 16), file,
                    rng_index(&r, 5) ? "" : m.sites[rng_index(&r, m.sites.size())].id);
        j.components.back().bytes *= rng_index(&r, 2) ? 1 : 0.5;
    }
}

// What holds of a placement; `available` is what there was before.
void check_placed(const multicluster &m, const parallel_job &j, const co_placement &p)
{
    std::vector<size_t> left = m.available, used(m.grid.site_count);
    double ftt_s = 0;
    size_t placed = 0, total = 0;

    for (size_t i = 0; i < p.component_count; i++) {
        const co_component &c = p.components[i];
        const co_choice &choice = p.choices[i];

        if (choice.site == CO_NONE)
            continue;
        placed++;
        total += c.processors;
        REQUIRE(left[choice.site] >= c.processors);
        left[choice.site] -= c.processors;
        REQUIRE(m.grid.sites[choice.site].usable);
        if (j.job.barred)
            REQUIRE((j.job.barred[choice.site] == CO_NO_REASON ||
                     (p.avoided_used && j.job.barred[choice.site] == CO_AVOIDED)));
        if (c.fixed_site != CO_NONE)
            REQUIRE(choice.site == c.fixed_site);
        if (j.job.distinct)
            REQUIRE(used[choice.site] == 0);
        used[choice.site]++;
        REQUIRE((choice.file_site == CO_NONE) == (c.file == CO_NONE));
        if (c.file != CO_NONE)
            REQUIRE(choice.transfer_s ==
                    co_transfer_s(&m.grid, choice.site, choice.file_site, c.bytes));
        REQUIRE(std::isfinite(choice.transfer_s));
        ftt_s = fmax(ftt_s, choice.transfer_s);
    }
    REQUIRE(placed == p.placed_count);
    REQUIRE(p.ftt_s == ftt_s);
    REQUIRE(p.lower_bound_s <= ftt_s);
    if (j.job.type == CO_FLEXIBLE) {
        REQUIRE(total == j.job.total_processors);
        REQUIRE(p.component_count >= j.job.min_components);
        if (j.job.max_components)
            REQUIRE(p.component_count <= j.job.max_components);
        for (size_t i = 0; i < p.component_count; i++) {
            REQUIRE(p.components[i].processors >= j.job.min_processors);
            if (j.job.max_processors)
                REQUIRE(p.components[i].processors <= j.job.max_processors);
        }
    } else {
        REQUIRE((placed == j.job.component_count ||
                 (!j.job.atomic && placed >= j.job.min_placed)));
    }
}

void check_refused(const multicluster &m, const parallel_job &j, const co_placement &p)
{
    size_t sites = 0;

    REQUIRE(p.reason != CO_NO_REASON);
    REQUIRE(p.reason < CO_REASON_COUNT);
    for (size_t r = 0; r < CO_REASON_COUNT; r++)
        sites += p.reason_count[r];
    bool one = p.failed_component != CO_NONE &&
               p.components[p.failed_component].fixed_site != CO_NONE;
    REQUIRE(sites == (one ? 1 : m.grid.site_count));
    REQUIRE(p.reason_count[CO_NO_REASON] == 0);
    (void)j;
}

// The least FTT of any placement; infinite: there is none.
double least_ftt(const multicluster &m, const parallel_job &j, size_t i,
                 std::vector<size_t> &left, std::vector<size_t> &used)
{
    double best_s = HUGE_VAL;

    if (i == j.components.size())
        return 0;
    for (size_t s = 0; s < m.grid.site_count; s++) {
        const co_component &c = j.components[i];
        size_t from;

        if (left[s] < c.processors || (j.job.distinct && used[s]) ||
            (c.fixed_site != CO_NONE && c.fixed_site != s))
            continue;
        double time_s = co_replica_s(&m.grid, s, c.file, c.bytes, &from);
        left[s] -= c.processors;
        used[s]++;
        best_s = fmin(best_s, fmax(time_s, least_ftt(m, j, i + 1, left, used)));
        used[s]--;
        left[s] += c.processors;
    }
    return best_s;
}

} // namespace

TEST_CASE("every policy keeps to the rules on random grids", "[coallocation][property]")
{
    size_t placed = 0, refused = 0;

    for (const struct policy *policy = coallocation_policies; policy->name; policy++)
        for (uint64_t seed = 1; seed <= 400; seed++) {
            rng r = rng_stream(seed, policy->name);
            multicluster m;
            parallel_job j(policy->name);
            std::string barred;

            INFO(policy->name << " " << seed);
            random_grid(m, r);
            random_job(j, m, r, barred);
            co_history before = m.history;
            REQUIRE(co_history_create(&m.grid, &m.history, m.arena) == OK);
            co_placement p = place(m, j);
            m.history = before;
            co_placement again = place(m, j);
            REQUIRE(choices(m, p) == choices(m, again));
            REQUIRE(pairs_of(m, p) == pairs_of(m, again));
            if (p.placed) {
                placed++;
                check_placed(m, j, p);
            } else {
                refused++;
                check_refused(m, j, p);
            }
            if (!p.never_fits)
                continue;
            for (size_t s = 0; s < m.grid.site_count; s++)
                m.available[s] = static_cast<size_t>(m.grid.sites[s].total);
            REQUIRE_FALSE(place(m, j).placed);
        }
    CHECK(placed > 500);
    CHECK(refused > 300);
}

TEST_CASE("the bound holds and all ways are searched", "[coallocation][property]")
{
    size_t found = 0, tight = 0;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        rng r = rng_stream(seed, "bound");
        multicluster m;
        parallel_job j("worst_fit");
        std::string barred;

        INFO(seed);
        random_grid(m, r);
        random_job(j, m, r, barred);
        if (j.job.type == CO_FLEXIBLE || j.components.size() > 5)
            continue;
        j.job.barred = nullptr;
        j.job.atomic = true;
        j.param[CO_PACK_RETRY] = 1;
        std::vector<size_t> left = m.available, used(m.grid.site_count);
        double least_s = least_ftt(m, j, 0, left, used), bound_s;
        co_place_in in{&m.grid, &j.job, m.available.data(), &m.history, nullptr};
        error err{};

        REQUIRE(co_ftt_bound(&in, j.components.data(), j.components.size(), &bound_s,
                             m.arena, &err) == OK);
        REQUIRE(bound_s <= least_s);
        co_placement p = place(m, j);
        REQUIRE(p.placed == std::isfinite(least_s));
        if (p.placed) {
            REQUIRE(p.ftt_s >= least_s);
            found++;
            tight += bound_s == least_s;
        }
    }
    CHECK(found > 50);
    CHECK(tight > found / 2);
}

TEST_CASE("claims succeed at the first try with gain : waste = L : 1 - L",
          "[coallocation][property]")
{
    const co_claim_steps steps = CO_CLAIM_STEPS;

    for (double l : {0.25, 0.5, 0.75})
        for (double ftt_s : {8.0, 40.0, 640.0, 1e6}) {
            co_times t{0,   0,   10, 10 + ftt_s, co_first_claim_s(10, ftt_s, l, &steps),
                       NAN, NAN, NAN};
            struct co_durations d = co_durations(&t);

            CHECK(d.gained_s * (1 - l) == Approx(d.wasted_s * l).epsilon(1e-12));
        }
}

TEST_CASE("times of all sites at once are as those one by one",
          "[coallocation][property]")
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        rng r = rng_stream(seed, "times");
        multicluster m;

        INFO(seed);
        random_grid(m, r);
        for (size_t f = 0; f <= m.grid.file_count; f++)
            for (double bytes : {0.0, 1e6, 3.7e6}) {
                std::vector<double> time_s(m.grid.site_count);
                std::vector<size_t> from(m.grid.site_count);

                co_replica_all(&m.grid, f, bytes, time_s.data(), from.data());
                for (size_t e = 0; e < m.grid.site_count; e++) {
                    size_t one;

                    REQUIRE(time_s[e] == co_replica_s(&m.grid, e, f, bytes, &one));
                    REQUIRE(from[e] == one);
                }
            }
    }
}
