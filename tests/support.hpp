// support.hpp - what every test includes: Catch2, the common headers of the
// project, and small helpers.
#pragma once
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "models/base/arena.h"
#include "models/base/budget.h"
#include "models/base/error.h"
#include "models/base/names.h"
#include "models/base/param.h"
#include "models/base/rng.h"
#include "models/base/value.h"
#include "tests/this_build.h"
}

// ./test --long: the same draws, more of them.
inline bool is_long_run()
{
    return getenv("GRIDPLAN_LONG") != nullptr;
}

// Under a sanitizer a request of a million jobs takes minutes; the release build, whose
// tests CI runs too, takes seconds.
inline bool is_sanitized()
{
    return build_is_sanitized;
}

// Where what takes long may do less: `./test --long` does it all, and so do the release
// build's tests of `.ci/run --full`.
inline bool is_shorter()
{
    return !is_long_run();
}

// What a test gives an algorithm to ask; used nullptr: no limit in time.
inline budget make_budget(double (*used)(void *), void *context, size_t max_steps = 0)
{
    budget b{};

    b.used = used;
    b.context = context;
    b.max_steps = max_steps;
    return b;
}

// An arena that goes with its scope.
struct test_arena {
    arena *a;
    explicit test_arena(size_t cap_bytes = size_t{1} << 30) : a(arena_create(cap_bytes))
    {
    }
    ~test_arena()
    {
        arena_close(a);
    }
    test_arena(const test_arena &) = delete;
    test_arena &operator=(const test_arena &) = delete;
    operator arena *() const
    {
        return a;
    }
};

// The code of f(), a computation in `a`; ERR_TOO_LARGE when memory ends it.
template <class F> enum error_code computed(arena *a, error *err, F f)
{
    struct call {
        F &f;
        enum error_code code;
    } c{f, OK};

    if (!arena_run(
            a,
            [](void *context) {
                auto *x = static_cast<call *>(context);
                x->code = x->f();
            },
            &c))
        return fail_memory(err);
    return c.code;
}

// An error that collects its items in `a`.
inline error collecting_error(arena *a)
{
    error err{};
    err.arena = a;
    return err;
}
