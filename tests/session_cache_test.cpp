// session_cache_test.cpp - what a replica keeps of sessions: whatever happens, it answers
// as one that keeps nothing.
#include "tests/support.hpp"

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "models/base/rng.h"
#include "service/session_cache.h"
}

namespace
{

// A request as far as the cache sees it.
struct asking {
    test_arena a;
    session_hold hold{};

    explicit asking(session_cache *c)
    {
        hold.cache = c;
        hold.arena = a;
    }
    ~asking()
    {
        session_hold_end(&hold);
    }
    // What it reads of a session: `bytes` beside its number.
    session_kept *read(const char *id, size_t bytes, const char *tenant = "t")
    {
        session_kept *k = session_hold_add(&hold, sizeof(session_kept), tenant, id);

        memset(arena_try(k->arena, 1, bytes), 7, bytes);
        session_hold_read(&hold, k);
        return k;
    }
    session_kept *find(const char *id, const char *tenant = "t")
    {
        return session_hold_find(&hold, tenant, id);
    }
};

struct cache {
    session_cache *c;

    explicit cache(size_t bytes) : c(session_cache_create(bytes))
    {
    }
    ~cache()
    {
        session_cache_close(c);
    }
    cache(const cache &) = delete;
    cache &operator=(const cache &) = delete;
    struct session_cache_stats stats() const
    {
        struct session_cache_stats out {
        };

        session_cache_stats(c, &out);
        return out;
    }
    bool has(const char *id, const char *tenant = "t") const
    {
        return asking(c).find(id, tenant) != nullptr;
    }
};

} // namespace

TEST_CASE("what is kept of a session is one request's at a time", "[session]")
{
    cache c(1 << 20);
    {
        asking one(c.c);

        CHECK(one.find("s") == nullptr);
        one.read("s", 1000);
        CHECK(one.find("s") != nullptr);
        CHECK_FALSE(c.has("s")); // not yet
    }
    CHECK(c.has("s"));
    CHECK_FALSE(c.has("s", "another tenant"));
    CHECK_FALSE(c.has("another"));

    asking one(c.c), two(c.c);
    session_kept *taken = one.find("s");
    REQUIRE(taken);
    CHECK(one.find("s") == taken);
    CHECK(two.find("s") == nullptr);
    two.read("s", 1000);
    CHECK(c.stats().count == 0);
    session_hold_end(&two.hold);
    session_hold_end(&one.hold);
    CHECK(c.stats().count == 2); // of those that ask at the same time
    asking(c.c).read("s", 1000);
    CHECK(c.stats().count == SESSION_CACHE_OF_ONE);
}

TEST_CASE("what of sessions was not used for longest goes first", "[session]")
{
    cache c(300000);

    for (const char *id : {"a", "b", "c"})
        asking(c.c).read(id, 80000);
    CHECK(c.stats().bytes <= 300000);
    CHECK(c.stats().count == 3);
    CHECK(c.has("a")); // used last
    asking(c.c).read("d", 80000);
    CHECK(c.stats().dropped_count == 1);
    CHECK_FALSE(c.has("b"));
    CHECK((c.has("a") && c.has("c") && c.has("d")));
    asking(c.c).read("large", 500000); // more than there is room for
    CHECK_FALSE(c.has("large"));
    CHECK(c.stats().count == 3);

    cache nothing(0);
    asking without(nothing.c);
    CHECK_FALSE(session_hold_keeps(&without.hold));
    CHECK(without.find("a") == nullptr);
    CHECK_FALSE(session_hold_keeps(nullptr));
}

TEST_CASE("what was not committed, or is no more, is not kept", "[session]")
{
    cache c(1 << 20);
    {
        asking one(c.c);
        one.read("pending", 10)->is_pending = true;
        one.read("undone", 10)->is_pending = true;
        session_hold_undone(&one.hold);
        CHECK(one.find("undone") == nullptr);
        session_kept *again = one.read("undone", 10);
        again->is_pending = true;
        session_hold_committed(&one.hold);
        one.read("pending", 10)->is_pending = true;
        session_kept *stale = one.read("stale", 10);
        session_hold_drop(&one.hold, stale);
        CHECK(one.find("stale") == nullptr);
        CHECK(std::string(stale->session_id) == "stale"); // until the end
    }
    CHECK(c.has("undone"));
    CHECK_FALSE(c.has("pending"));
    CHECK_FALSE(c.has("stale"));
}

TEST_CASE("what a request reads to keep counts as its own memory", "[session]")
{
    cache c(1 << 20);
    test_arena a;
    session_hold hold{};
    size_t cap = arena_cap_bytes(a);

    hold.cache = c.c;
    hold.arena = a;
    session_kept *k = session_hold_add(&hold, sizeof(*k), "t", "s");
    CHECK(arena_cap_bytes(k->arena) - arena_used_bytes(k->arena) <= cap);
    arena_try(k->arena, 1, 100000);
    session_hold_read(&hold, k);
    CHECK(arena_cap_bytes(a) <= cap - 100000);
    session_hold_end(&hold);
    CHECK(arena_cap_bytes(a) == cap);
}

TEST_CASE("threads take and give what is kept of sessions", "[session][threads]")
{
    cache c(400000);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};

    for (int t = 0; t < 4; t++)
        threads.emplace_back([&c, &wrong, t] {
            rng r = rng_stream(uint64_t(t), "session cache");

            for (int i = 0; i < 500; i++) {
                std::string id = "s" + std::to_string(rng_index(&r, 6));
                asking one(c.c);
                session_kept *k = one.find(id.c_str());

                if (!k)
                    k = one.read(id.c_str(), 20000 + rng_index(&r, 40000));
                wrong += id != k->session_id;
                k->is_pending = rng_uniform(&r) < 0.1;
                if (rng_uniform(&r) < 0.1)
                    session_hold_drop(&one.hold, k);
                // Its own alone: ThreadSanitizer would see another one.
                char *text = arena_try_text(k->arena, id.c_str(), id.size());
                wrong += text == nullptr;
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(wrong == 0);
    CHECK(c.stats().bytes <= 400000);
}
