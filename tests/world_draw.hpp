// world_draw.hpp - tiny random worlds with everything in them: zeros, ties, whole times.
#ifndef GRIDPLAN_WORLD_DRAW_HPP
#define GRIDPLAN_WORLD_DRAW_HPP

#include "tests/support.hpp"
#include "tests/world_support.hpp"

// A tiny world with everything in it.
class drawn_world
{
  public:
    given_world given;
    rng r{};

    drawn_world(uint64_t seed, bool with_unknown)
    {
        r = rng_create(seed);
        draw_resources();
        draw_groups();
        draw_jobs(with_unknown);
        draw_holders();
        given.plan_with_limit = below(3) == 0;
        draw_racks(seed);
    }
    size_t below(size_t n)
    {
        return rng_index(&r, n);
    }
    std::vector<size_t> some_nodes(size_t n)
    {
        std::vector<size_t> on;
        while (on.size() < n) {
            size_t p = below(given.resources.size());
            if (!std::count(on.begin(), on.end(), p))
                on.push_back(p);
        }
        std::sort(on.begin(), on.end());
        return on;
    }

  private:
    void draw_resources();
    void draw_groups();
    void draw_jobs(bool with_unknown);
    void draw_holders();
    void draw_racks(uint64_t seed);
};

inline const char *const drawn_names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

inline void drawn_world::draw_resources()
{
    for (size_t p = 1 + below(3); p > 0; p--) {
        given_resource n{drawn_names[p]};
        if (below(4) > 0)
            n.cpus = (double)below(5);
        if (below(3) == 0)
            n.n_max = (double)below(3);
        if (below(2) == 0)
            n.capacities = {{"gpus", (double)below(3)}};
        n.speed = 1.0 / (double)(1 + below(2));
        n.site = below(2);
        given.resources.push_back(n);
    }
    if (below(2) == 0)
        given.shared = {{"licence", (double)below(3)}};
}

inline void drawn_world::draw_groups()
{
    for (size_t g = below(3); g > 0; g--) {
        given_group x{drawn_names[g], (world_group_policy)below(4),
                      (world_group_key)below(2)};
        if (x.policy == GROUP_SPREAD || x.policy == GROUP_EXCLUDE)
            x.max_per_key = 1 + below(2);
        given.groups.push_back(x);
    }
}

inline void drawn_world::draw_jobs(bool with_unknown)
{
    size_t count = 1 + below(5);

    for (size_t i = 0; i < count; i++) {
        given_job j{drawn_names[i]};
        size_t source = below(with_unknown ? 12 : 11);
        if (source < 5)
            j.estimate_ref_s = (double)below(6);
        else if (source < 8)
            j.estimate_s = (double)below(6);
        else if (source < 11)
            for (size_t p = 0; p < given.resources.size(); p++)
                j.etc_s.push_back(below(8) == 0 ? HUGE_VAL : (double)below(6));
        j.cpus = (double)below(3);
        if (below(3) == 0)
            j.needs["gpus"] = (double)below(3);
        if (!given.shared.empty() && below(2) == 0)
            j.needs["licence"] = 1;
        j.nodes = 1 + (below(4) == 0) * below(given.resources.size());
        j.exclusive = below(8) == 0;
        if (below(3) == 0)
            j.time_limit_s = (double)(1 + below(7));
        j.release_s = (double)(below(2) * below(6));
        if (!given.groups.empty() && below(2) == 0)
            j.group = below(given.groups.size());
        if (i > 0 && below(3) == 0)
            j.after = {{below(i), (world_after_kind)below(3)}};
        if (below(4) == 0)
            j.only = {below(given.resources.size())};
        given.jobs.push_back(j);
    }
}

inline void drawn_world::draw_holders()
{
    for (size_t h = below(4); h > 0; h--) {
        given_holder x{drawn_names[h], some_nodes(below(given.resources.size() + 1)),
                       below(5) == 0 ? HUGE_VAL : (double)(1 + below(12))};
        x.cpus = (double)below(4);
        x.exclusive = below(10) == 0;
        if (!given.shared.empty() && below(2) == 0)
            x.needs["licence"] = (double)below(3);
        if (below(2) == 0) {
            x.reservation = true;
            x.start_s = std::min(x.end_s - 1, (double)below(8));
            x.all = below(2) == 0;
        } else if (!given.groups.empty() && below(2) == 0) {
            x.group = below(given.groups.size());
        }
        given.holders.push_back(x);
    }
}

// Some groups go by an attribute, which some resources have not. By numbers of their own:
// all else is as without.
inline void drawn_world::draw_racks(uint64_t seed)
{
    rng own = rng_create(seed ^ 0x5a5a);

    for (given_resource &n : given.resources)
        n.rack = rng_index(&own, 4) == 0 ? WORLD_NONE : rng_index(&own, 2);
    for (given_group &g : given.groups)
        if (rng_index(&own, 3) == 0)
            g.key = GROUP_BY_ATTRIBUTE;
}

#endif
