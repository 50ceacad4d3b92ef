// test_governor.hpp - a governor with some slots and all the memory one wants.
#pragma once
#include "tests/support.hpp"

extern "C" {
#include "service/governor.h"
}

inline governor_options test_governor_options(size_t slots, size_t queue_length)
{
    governor_options o{};

    o.memory_bytes = size_t{8} << 30;
    o.body_memory_ratio = 0.25;
    o.tenant_memory_ratio = 0.5;
    o.quantum_s = 1;
    o.queue_wait_s = 300;
    o.tenant_queue_length = 64;
    o.queues[GOVERNOR_COMPUTE] = {"compute", slots, 4 * slots + 64, queue_length, 0};
    o.queues[GOVERNOR_QUERY] = {"query", 4, 4, 1024, 0};
    return o;
}

inline governor *test_governor(size_t slots, size_t queue_length)
{
    governor_options options = test_governor_options(slots, queue_length);
    governor *g = governor_create(&options);

    REQUIRE(g);
    return g;
}

// Whether no work memory is leased, soon.
inline bool comes_to_rest(governor *g)
{
    for (int i = 0; i < 2000; i++) {
        struct governor_stats stats {
        };

        governor_stats(g, &stats);
        if (stats.leased_bytes[GOVERNOR_WORK] == 0)
            return true;
        usleep(5000);
    }
    return false;
}
