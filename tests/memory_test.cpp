// memory_test.cpp - who is asked before memory is taken, and that it goes back.
#include "tests/support.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <random>
#include <thread>
#include <unistd.h>

extern "C" {
#include "service/body.h"
#include "service/estimate.h"
#include "service/gzip.h"
#include "service/work_memory.h"
}

namespace
{
constexpr size_t KIB = 1024, MIB = 1024 * KIB;

// A lender that counts, and refuses beyond its limit.
struct lender {
    size_t limit_bytes, lent_bytes = 0, taken_count = 0;
    arena_lease lease{};

    explicit lender(size_t limit) : limit_bytes(limit)
    {
        lease.take = [](void *context, size_t bytes) {
            auto *l = static_cast<lender *>(context);
            if (l->lent_bytes + bytes > l->limit_bytes)
                return false;
            l->lent_bytes += bytes;
            l->taken_count++;
            return true;
        };
        lease.give = [](void *context, size_t bytes) {
            auto *l = static_cast<lender *>(context);
            REQUIRE(bytes <= l->lent_bytes);
            l->lent_bytes -= bytes;
        };
        lease.context = this;
    }
};

size_t resident_now_bytes()
{
    std::ifstream in("/proc/self/statm");
    size_t total = 0, resident = 0;

    in >> total >> resident;
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

struct piece {
    unsigned char *p;
    size_t size;
    unsigned char mark;
};

bool is_intact(const piece &x)
{
    return std::all_of(x.p, x.p + x.size, [&](unsigned char c) { return c == x.mark; });
}
} // namespace

TEST_CASE("an arena asks for a lease beyond its first blocks and gives it back",
          "[lease]")
{
    lender l(10 * MIB);
    test_arena a;

    arena_set_lease(a, &l.lease);
    CHECK(arena_try(a, 1, 10000) != nullptr);
    CHECK(arena_try(a, 1, 20000) != nullptr);
    CHECK(l.taken_count == 0); // what every request may have
    CHECK(arena_try(a, 1, MIB) != nullptr);
    CHECK(l.lent_bytes > MIB - 64 * KIB);
    CHECK(l.lent_bytes <= MIB + 64 * KIB);
    size_t before = l.lent_bytes;
    CHECK(arena_try(a, 1, 20 * MIB) == nullptr);
    CHECK(arena_lacks_lease(a));
    CHECK(l.lent_bytes == before);
    CHECK(arena_try(a, 1, 100) != nullptr);
    CHECK(arena_lacks_lease(a)); // what was refused, not what was asked last
    CHECK(arena_try(a, 1, size_t{2} << 30) == nullptr);
    CHECK_FALSE(arena_lacks_lease(a)); // that was the cap
    arena_reset(a);
    CHECK(l.lent_bytes == 0);
    CHECK(arena_used_bytes(a) == 0);
}

TEST_CASE("arenas of one request ask the same lender", "[lease]")
{
    lender l(4 * MIB);
    test_arena a;

    arena_set_lease(a, &l.lease);
    REQUIRE(arena_try(a, 1, 2 * MIB) != nullptr);
    arena *beside = arena_create_beside(a, 1 << 30);
    REQUIRE(beside != nullptr);
    CHECK(arena_try(beside, 1, MIB) != nullptr);
    CHECK(l.lent_bytes > 3 * MIB - 200 * KIB);
    CHECK(arena_try(beside, 1, 2 * MIB) == nullptr);
    CHECK(arena_lacks_lease(a));
    arena_close(beside);
    CHECK(l.lent_bytes < 2 * MIB + 64 * KIB);
    arena_reset(a);
    CHECK(l.lent_bytes == 0);
}

TEST_CASE("lack of a lease is told from a request that is too large", "[lease]")
{
    lender l(MIB);
    test_arena a(8 * MIB);
    error err = collecting_error(a);

    arena_set_lease(a, &l.lease);
    CHECK(arena_try(a, 1, 2 * MIB) == nullptr);
    CHECK(fail_memory(&err) == ERR_TOO_LARGE);
    CHECK(err.lacks_lease);
    CHECK(arena_try(a, 1, 20 * MIB) == nullptr);
    CHECK(fail_memory(&err) == ERR_TOO_LARGE);
    CHECK_FALSE(err.lacks_lease);
    CHECK_THAT(err.text, Catch::Contains("GRIDPLAN_REQUEST_MEMORY_BYTES"));
}

TEST_CASE("what says why all else is refused needs no lease", "[lease]")
{
    lender l(0);
    test_arena a;

    arena_set_lease(a, &l.lease);
    CHECK(arena_try(a, 1, 200 * KIB) == nullptr);
    arena_allow_overdraft(a, true);
    CHECK(arena_try(a, 1, 200 * KIB) != nullptr);
    arena_allow_overdraft(a, false);
    CHECK(arena_try(a, 1, 500 * KIB) == nullptr);
    arena_reset(a);
    CHECK(l.lent_bytes == 0);
}

TEST_CASE("a large thing that nobody uses any more takes its block along", "[lease]")
{
    lender l(64 * MIB);
    test_arena a;

    arena_set_lease(a, &l.lease);
    void *kept = arena_try(a, 1, 100);
    size_t used = arena_used_bytes(a);
    void *large = arena_try(a, 1, 8 * MIB);
    REQUIRE(kept);
    REQUIRE(large);
    arena_give(a, kept, 1, 100); // not the last: nothing happens
    CHECK(arena_used_bytes(a) > 8 * MIB);
    arena_give(a, large, 1, 8 * MIB);
    CHECK(arena_used_bytes(a) == used);
    CHECK(l.lent_bytes == 0);
    auto *again = static_cast<unsigned char *>(arena_try(a, 1, 100));
    REQUIRE(again);
    memset(again, 7, 100);
    arena_give(a, again, 1, 100);
    again = static_cast<unsigned char *>(arena_try(a, 1, 100));
    CHECK(std::all_of(again, again + 100, [](unsigned char c) { return c == 0; }));
    arena_give(a, nullptr, 1, 100);
}

TEST_CASE("a thing grows over the bounds of how blocks are made", "[lease]")
{
    lender l(64 * MIB);
    test_arena a;
    size_t size = 1;

    arena_set_lease(a, &l.lease);
    auto *p = static_cast<unsigned char *>(arena_try(a, 1, size));
    REQUIRE(p);
    *p = 9;
    for (; size < 20 * MIB; size = size * 3 / 2 + 1) {
        p = static_cast<unsigned char *>(
            arena_try_extend(a, p, 1, size, size * 3 / 2 + 1));
        REQUIRE(p);
        REQUIRE(*p == 9);
        REQUIRE(std::all_of(p + size, p + size * 3 / 2 + 1,
                            [](unsigned char c) { return c == 0; }));
        p[size] = p[size * 3 / 2] = 0;
    }
    CHECK(l.lent_bytes < 32 * MIB); // in place: never the old and the new
    CHECK(arena_try_extend(a, p, 1, size, 65 * MIB) == nullptr);
    CHECK(arena_lacks_lease(a));
    CHECK(*p == 9); // and it is still there
    p[size - 1] = 1;
    arena_reset(a);
    CHECK(l.lent_bytes == 0);
}

TEST_CASE("whatever is taken, extended and given, leases and contents are right",
          "[lease][property]")
{
    std::mt19937_64 random(20261122);
    auto draw = [&](size_t n) { return (size_t)(random() % n); };

    for (int round = 0; round < 40; round++) {
        lender l(draw(3) ? 12 * MIB : draw(MIB));
        test_arena a(16 * MIB);
        std::vector<piece> all;

        arena_set_lease(a, &l.lease);
        for (int i = 0; i < 60; i++) {
            size_t size = draw(4)   ? 1 + draw(3000)
                          : draw(2) ? draw(300 * KIB)
                                    : draw(2 * MIB);
            piece *last = all.empty() ? nullptr : &all.back();
            unsigned char mark = (unsigned char)(1 + draw(255));

            switch (draw(6)) {
            case 0:
                if (last) {
                    arena_give(a, last->p, 1, last->size);
                    all.pop_back();
                }
                break;
            case 1:
                if (last) {
                    auto *p = static_cast<unsigned char *>(
                        arena_try_extend(a, last->p, 1, last->size, last->size + size));
                    if (!p)
                        break;
                    REQUIRE(std::all_of(p + last->size, p + last->size + size,
                                        [](unsigned char c) { return c == 0; }));
                    memset(p + last->size, last->mark, size);
                    *last = {p, last->size + size, last->mark};
                }
                break;
            case 2:
                if (!draw(20)) {
                    arena_reset(a);
                    all.clear();
                    REQUIRE(l.lent_bytes == 0);
                }
                break;
            default: {
                auto *p = static_cast<unsigned char *>(arena_try(a, 1, size));
                if (!p)
                    break;
                REQUIRE(std::all_of(p, p + size, [](unsigned char c) { return c == 0; }));
                memset(p, mark, size);
                all.push_back({p, size, mark});
            }
            }
            REQUIRE(arena_used_bytes(a) <= l.lent_bytes + 64 * KIB);
        }
        REQUIRE(std::all_of(all.begin(), all.end(), is_intact));
        arena_reset(a);
        REQUIRE(l.lent_bytes == 0);
    }
}

TEST_CASE("an arena goes back to a mark", "[lease]")
{
    lender l(64 * MIB);
    test_arena a;
    std::mt19937_64 random(7);

    arena_set_lease(a, &l.lease);
    for (size_t before : {size_t{0}, size_t{100}, 20 * KIB, MIB}) {
        if (before)
            memset(arena_try(a, 1, before), 3, before);
        size_t used = arena_used_bytes(a), lent = l.lent_bytes;
        struct arena_mark mark = arena_mark(a);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 20; i++) {
                size_t size = 1 + random() % (300 * KIB);
                auto *p = static_cast<unsigned char *>(arena_try(a, 1, size));
                REQUIRE(p);
                REQUIRE(std::all_of(p, p + size, [](unsigned char c) { return c == 0; }));
                memset(p, 7, size);
            }
            arena_rewind(a, mark);
            CHECK(arena_used_bytes(a) == used);
            CHECK(l.lent_bytes <= lent + 64 * KIB);
        }
    }
}

TEST_CASE("an arena takes smaller steps when larger ones are refused", "[lease]")
{
    lender l(10 * MIB);
    test_arena a;
    size_t count = 0;

    arena_set_lease(a, &l.lease);
    while (arena_try(a, 1, 10000))
        count++;
    CHECK(arena_lacks_lease(a));
    CHECK(count * 10000 > 10 * MIB - 100 * KIB); // nearly all of it is used
}

TEST_CASE("resident memory follows the leases", "[lease]")
{
    lender l(512 * MIB);
    test_arena a;

    arena_set_lease(a, &l.lease);
    REQUIRE(arena_try(a, 1, 1000) != nullptr);
    size_t before = resident_now_bytes();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 96; i++)
            memset(arena_try(a, 1, MIB), 1, MIB);
        CHECK(resident_now_bytes() > before + 90 * MIB);
        CHECK(l.lent_bytes < 128 * MIB);
        arena_reset(a);
        CHECK(l.lent_bytes == 0);
        // What a sanitizer notes about 96 MiB is an eighth of them, and stays.
        CHECK(resident_now_bytes() < before + (is_sanitized() ? 20 : 1) * MIB);
    }
}

// ---- estimates ----

TEST_CASE("a route's factor follows large needs quickly and small ones slowly", "[lease]")
{
    struct {
        double factor, ratio, next;
    } cases[] = {
        {1, 1, 1},                // as estimated: stays
        {1, 3, 3},                // more: at once
        {1, 100, 8},              // but not beyond 8
        {8, 100, 8},              //
        {8, 9, 8},                // 9 counts as 8, which is above 0.99 * 8
        {1, 0.5, 0.995},          // less: a hundredth of the way
        {1, 0, 0.9925},           // nothing at all counts as a quarter
        {0.25, 0, 0.25},          // and there it ends
        {2, 2.0000001, 2.0000001} //
    };
    for (auto &c : cases) {
        CAPTURE(c.factor, c.ratio);
        CHECK(estimate_next_factor(c.factor, c.ratio) == Approx(c.next).epsilon(1e-12));
    }
    double factor = 1;
    for (int i = 0; i < 2000; i++)
        factor = estimate_next_factor(factor, 0.01);
    CHECK(factor == Approx(0.25).epsilon(1e-6));
}

TEST_CASE("an estimate is 1 MiB and so many bytes for a byte of the body, corrected",
          "[lease]")
{
    route table[4]{};
    table[0].method = table[1].method = table[2].method = "POST";
    table[0].flags = ROUTE_BULK;
    table[1].flags = ROUTE_DECISION;
    CHECK(estimate_plain_bytes(&table[0], 1000) == MIB + 4 * 1000);
    CHECK(estimate_plain_bytes(&table[1], 1000) == MIB + 64 * 1000);
    CHECK(estimate_plain_bytes(&table[2], 1000) == MIB + 20 * 1000);
    CHECK(estimate_plain_bytes(&table[2], SIZE_MAX / 2) == SIZE_MAX);
    CHECK(estimate_bytes(nullptr, &table[1], MIB, SIZE_MAX) == 65 * MIB);
    CHECK(estimate_bytes(nullptr, &table[1], MIB, 50 * MIB) == 50 * MIB);

    // Of processor time likewise; on an I/O thread at most 2 ms of it.
    struct message m {
    };
    table[0].work = WORK_QUERY;
    table[1].work = WORK_COMPUTE;
    CHECK(route_estimate_s(&table[0], 1'000'000) == Approx(0.1).epsilon(1e-12));
    CHECK(route_estimate_s(&table[1], 1'000'000) == Approx(5).epsilon(1e-12));
    CHECK(route_estimate_s(&table[2], 20'000) == Approx(0.002).epsilon(1e-12));
    m.body_length = 20'000;
    CHECK(route_work_of(&table[2], &m) == WORK_INLINE);
    m.body_length++;
    CHECK(route_work_of(&table[2], &m) == WORK_COMPUTE);

    estimates *e = estimates_create(table);
    REQUIRE(e);
    CHECK(estimate_bytes(e, &table[1], MIB, SIZE_MAX) == 65 * MIB);
    estimate_learn(e, &table[1], MIB, 130 * MIB);
    CHECK(estimate_bytes(e, &table[1], MIB, SIZE_MAX) == 130 * MIB);
    CHECK(estimate_bytes(e, &table[0], MIB, SIZE_MAX) == 5 * MIB); // a route of its own
    estimate_learn(e, &table[1], MIB, 65 * MIB);
    CHECK(estimate_bytes(e, &table[1], MIB, SIZE_MAX) ==
          (size_t)((0.99 * 2 + 0.01) * 65 * (double)MIB));
    estimate_learn(e, nullptr, 5, 5);
    estimates_close(e);
    estimates_close(nullptr);
}

TEST_CASE("what a gzip body says of its length is believed within reason", "[lease]")
{
    message m{};
    std::string packed(1000, 'x');
    auto says = [&](uint32_t n) {
        for (int i = 0; i < 4; i++)
            packed[996 + (size_t)i] = (char)(n >> 8 * i);
        m.body = packed.data();
        m.body_length = packed.size();
        return estimate_body_bytes(&m, 700000);
    };
    CHECK(says(5000) == 1000); // it is not said to be packed
    m.content_encoding = "gzip";
    CHECK(says(5000) == 5000);
    CHECK(says(5) == 1000);
    CHECK(says(650000) == 650000);
    CHECK(says(800000) == 700000);
    m.body_length = 17;
    CHECK(estimate_body_bytes(&m, 700000) == 17);
    packed.resize(100);
    memset(&packed[96], 255, 4);
    m.body = packed.data();
    m.body_length = 100;
    CHECK(estimate_body_bytes(&m, 700000) == 103200); // deflate does no better
}

// ---- bodies ----

namespace
{
std::string packed_text(const std::string &text)
{
    test_arena a;
    const char *out = nullptr;
    size_t length = 0;

    REQUIRE(gzip_deflate(text.data(), text.size(), &out, &length, a));
    return std::string(out, length);
}

void fill(body &b, const std::string &text, size_t most)
{
    REQUIRE(body_reserve(&b, text.size(), most) == GOVERNOR_OK);
    memcpy(b.data + b.length, text.data(), text.size());
    b.length += text.size();
}
} // namespace

TEST_CASE("a body's buffer doubles and never passes what was announced", "[lease]")
{
    body b{};
    std::string piece(10000, 'p');

    for (size_t sent = 0; sent + piece.size() <= 1000000; sent += piece.size()) {
        fill(b, piece, 1000000);
        CHECK(b.size >= b.length);
        CHECK(b.size <=
              std::min<size_t>(1000000, std::max<size_t>(64 * KIB, 2 * b.length)));
        b.data[b.length] = 0;
    }
    CHECK(b.length == 1000000);
    CHECK(std::string(b.data) == std::string(1000000, 'p'));
    body_empty(&b);
    CHECK(b.data == nullptr); // too large to keep
    fill(b, "small", 5);
    body_empty(&b);
    CHECK(b.data != nullptr);
    CHECK(b.length == 0);
    body_release(&b);
}

TEST_CASE("a packed body inflates to its last allowed byte and not one further",
          "[lease][gzip]")
{
    for (size_t size : {size_t{0}, size_t{1}, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1,
                        256 * KIB, 300 * KIB + 7, 3 * MIB}) {
        test_arena a;
        error err = collecting_error(a);
        std::string text(size, 'z'), packed;
        if (size > 64)
            packed = packed_text(text);
        else
            packed = std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) +
                     (size ? std::string("\xab\x02\0\xaf\x77\xd2\x62\x01\0\0\0", 11)
                           : std::string("\x03\0\0\0\0\0\0\0\0\0", 10));
        CAPTURE(size);
        for (int less = 0; less < 2 && (size_t)less <= size; less++) {
            body b{};
            fill(b, packed, packed.size());
            enum error_code code = body_inflate(&b, size - (size_t)less, a, &err);
            if (less) {
                CHECK(code == ERR_TOO_LARGE);
                CHECK(b.length == packed.size()); // as it was
                CHECK_FALSE(b.is_inflated);
            } else {
                INFO(err.text);
                REQUIRE(code == OK);
                CHECK(std::string(b.data) == text);
                CHECK(b.length == size);
                CHECK(b.size <= std::max<size_t>(size, 1));
                CHECK(b.is_inflated);
            }
            body_release(&b);
        }
    }
}

// ---- a request and the governor ----

namespace
{
struct computation {
    governor_job job{};
    work_memory memory{};
    arena *a = arena_create(1 << 30);
    error err{};
    size_t reserved_bytes = 0, taken_bytes = 0;
    std::atomic<int> runs{0};
    std::atomic<int> ended{-1}; // enum governor_answer

    void submit(governor *g, const governor_who *who, size_t estimate_bytes)
    {
        work_memory_begin(&memory, g, who);
        arena_set_lease(a, &memory.lease);
        err.arena = a;
        job.queue = GOVERNOR_COMPUTE;
        job.work_bytes = estimate_bytes;
        job.run = [](void *context) { static_cast<computation *>(context)->run(); };
        job.ended = [](void *context, enum governor_answer answer) {
            static_cast<computation *>(context)->ended = answer;
        };
        job.context = this;
        REQUIRE(governor_submit(g, who, &job) == GOVERNOR_OK);
    }
    void run()
    {
        work_memory_enter(&memory, &job);
        enum error_code code = work_memory_reserve(&memory, reserved_bytes, &err);
        if (code == OK && taken_bytes)
            arena_try(a, 1, taken_bytes);
        work_memory_leave(&memory);
        runs++;
    }
    ~computation()
    {
        arena_close(a);
        work_memory_end(&memory);
    }
};

bool soon(const std::function<bool()> &condition)
{
    for (int i = 0; i < 20000 && !condition(); i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return condition();
}

size_t work_leased_bytes(governor *g)
{
    struct governor_stats stats = {};

    governor_stats(g, &stats);
    return stats.leased_bytes[GOVERNOR_WORK];
}

governor *small_governor()
{
    governor_options options{};

    options.memory_bytes = 64 * MIB; // 32 for work, of which 2 are kept
    options.body_memory_ratio = 0.25;
    options.tenant_memory_ratio = 0.5;
    options.quantum_s = 1;
    options.queue_wait_s = 60;
    options.tenant_queue_length = 64;
    options.queues[GOVERNOR_COMPUTE] = {"compute", 1, 2, 16, 0};
    return governor_create(&options);
}
} // namespace

TEST_CASE("what needs more room than there is begins again when there is",
          "[lease][threads]")
{
    governor *g = small_governor();
    governor_who other{}, self{};
    governor_lease held{};

    REQUIRE(g);
    other.owner.name = "other";
    self.owner.name = "self";
    REQUIRE(governor_work_take(g, &other, &held, 20 * MIB) == GOVERNOR_OK);
    {
        computation c;
        c.reserved_bytes = 16 * MIB;
        c.taken_bytes = 10 * MIB;
        c.submit(g, &self, MIB);
        REQUIRE(soon([&] { return c.runs == 1; }));
        CHECK(soon([&] { return work_leased_bytes(g) == 20 * MIB; })); // it holds none
        CHECK(c.ended == -1);
        governor_give(g, &held, SIZE_MAX);
        REQUIRE(soon([&] { return c.ended == GOVERNOR_OK; }));
        CHECK(c.runs == 2);
        CHECK(c.memory.was_again);
        CHECK_FALSE(c.memory.is_again);
        CHECK(work_leased_bytes(g) == 16 * MIB);
        work_memory_trim(&c.memory); // the reply is in what was taken
        CHECK(work_leased_bytes(g) == c.memory.used_bytes);
        CHECK(c.memory.used_bytes >= 10 * MIB - 64 * KIB);
        CHECK(c.memory.most_bytes == c.memory.used_bytes);
    }
    CHECK(work_leased_bytes(g) == 0);
    governor_close(g);
}

TEST_CASE("what there will never be room for is refused at once", "[lease][threads]")
{
    governor *g = small_governor();
    governor_who self{};

    REQUIRE(g);
    self.owner.name = "self";
    {
        computation c;
        c.reserved_bytes = 31 * MIB; // W - R is 30
        c.submit(g, &self, MIB);
        REQUIRE(soon([&] { return c.ended == GOVERNOR_OK; }));
        CHECK(c.runs == 1);
        CHECK(c.err.code == ERR_TOO_LARGE);
        CHECK_THAT(c.err.text, Catch::Contains("memory_bytes"));
    }
    {
        computation c; // takes without having said so: no waiting
        c.taken_bytes = 40 * MIB;
        c.submit(g, &self, MIB);
        REQUIRE(soon([&] { return c.ended == GOVERNOR_OK; }));
        CHECK(arena_lacks_lease(c.a));
        CHECK(c.memory.refusal == GOVERNOR_BUSY);
        CHECK(work_memory_fail(&c.memory, &c.err) == ERR_BUSY);
        CHECK(c.err.retry_after_s >= 1);
    }
    CHECK(work_leased_bytes(g) == 0);
    governor_close(g);
}
