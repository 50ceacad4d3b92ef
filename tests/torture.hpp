// torture.hpp - long runs of property tests, each time with other seeds:
//
//     GRIDPLAN_TORTURE_SEED=777000 GRIDPLAN_TORTURE_ROUNDS=500 gridplan_tests
//     '[search_torture]'
//
#ifndef GRIDPLAN_TORTURE_HPP
#define GRIDPLAN_TORTURE_HPP

#include <cstdint>
#include <cstdlib>

// `look` at each seed; which failed is in the message of the check.
template <typename Look> void torture(uint64_t first, uint64_t rounds, Look look)
{
    const char *seed = getenv("GRIDPLAN_TORTURE_SEED");
    const char *count = getenv("GRIDPLAN_TORTURE_ROUNDS");

    first = seed ? strtoull(seed, nullptr, 10) : first;
    rounds = count ? strtoull(count, nullptr, 10) : rounds;
    for (uint64_t k = 0; k < rounds; k++)
        look(first + k);
}

#endif
