// base_test.cpp - the vocabulary of every layer: arena, names, random numbers.
#include "tests/support.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

extern "C" {
#include "models/base/order.h"
#include "models/base/plural.h"
#include "models/base/policy.h"
#include "models/base/text_width.h"
}

TEST_CASE("a text has columns: two of an ideograph, none of a mark", "[base]")
{
    const std::pair<const char *, size_t> cases[] = {
        {"", 0},
        {"abc", 3},
        {"\u00e9t\u00e9", 3},
        {"e\u0301", 1},       // an accent of its own
        {"\u6f22\u5b57", 4},  // ideographs
        {"\u30ab\u3099x", 3}, // kana with its mark, behind it a letter
        {"\ud55c\uae00", 4},  // Hangul
        {"\uff21\uff71", 3},  // fullwidth A, halfwidth a
        {"\U0001f600", 2},    // a face
        {"\U0001d400", 1},    // mathematical, of one column
        {"\U00020000", 2},
        {"a\tb", 3},         // shown as '?'
        {"\xff\xe6\xbc", 3}, // no UTF-8: a byte each
        {"\xf0\x9f", 2},
    };
    for (auto &[text, columns] : cases) {
        INFO(text);
        CHECK(text_columns(text) == columns);
    }
    for (const char *text : {"\x1b[31m", "\x7f", "\u009b", "\u202e", "\u2066", "\u200f"})
        CHECK(text_character(text).is_control);
    for (const char *text : {"a", " ", "\u00a0", "\u6f22", "\u0301", "\xff"})
        CHECK_FALSE(text_character(text).is_control);

    size_t columns = 7;
    CHECK(text_fitting("\u6f22\u5b57", 3, &columns) == 3); // no half of one
    CHECK(columns == 2);
    CHECK(text_fitting("e\u0301e", 1, &columns) == 3); // its mark with it
    CHECK(text_fitting("abc", 0, nullptr) == 0);
    CHECK(text_fitting("abc", 9, &columns) == 3);
    CHECK(columns == 3);
}

TEST_CASE("an arena stops at its cap", "[base]")
{
    test_arena a(4096);
    CHECK(arena_try(a, 1, 1000) != nullptr);
    CHECK(arena_try(a, 1, 4000) == nullptr);
    CHECK(arena_try(a, SIZE_MAX / 2, 3) == nullptr);
    arena_reset(a);
    CHECK(arena_used_bytes(a) == 0);
    CHECK(arena_try(a, 1, 4000) != nullptr);
}

namespace
{
struct lent { // what a lender has given and not yet got back
    size_t bytes = 0;
    arena_lease lease{
        [](void *context, size_t bytes) {
            static_cast<lent *>(context)->bytes += bytes;
            return true;
        },
        [](void *context, size_t bytes) { static_cast<lent *>(context)->bytes -= bytes; },
        this, false, false};
};

struct greedy { // takes memory for ever; each level begins a computation of its own
    arena *a;
    int depth;
    int left_count;
    int after_count;
};

void take_all(void *context)
{
    auto *x = static_cast<greedy *>(context);

    arena_create_beside(x->a, 1 << 20);
    if (x->depth-- > 0) {
        x->left_count += !arena_run(x->a, take_all, x);
        arena_try(x->a, 1, 16); // goes on with what is left
        x->after_count++;
        return;
    }
    for (;;)
        arena_alloc(x->a, 1, 100000);
}
} // namespace

TEST_CASE("a computation without memory is left, with the arenas that it created",
          "[base]")
{
    lent l;
    test_arena a(10 << 20);
    greedy x{a, 0, 0, 0};

    arena_set_lease(a, &l.lease);
    CHECK_FALSE(arena_run(a, take_all, &x));
    CHECK(arena_try(a, 1, 1 << 20) == nullptr);
    CHECK(l.bytes > (9u << 20));
    arena_reset(a);
    CHECK(l.bytes == 0);

    // The innermost of three leaves only itself.
    arena *kept = arena_create_beside(a, 4 << 20);
    CHECK(arena_try(kept, 1, 1 << 20) != nullptr);
    x.depth = 2;
    CHECK(arena_run(a, take_all, &x));
    CHECK(x.left_count == 1);
    CHECK(x.after_count == 2);
    CHECK(arena_used_bytes(kept) >= (1u << 20));
    arena_close(kept);
    arena_reset(a);
    CHECK(l.bytes == 0);

    // In a computation of the one, what comes from the other ends it as well.
    struct pair {
        arena *beside;
    } p{arena_create_beside(a, 1000)};
    CHECK_FALSE(arena_run(
        a,
        [](void *context) {
            arena_printf(static_cast<pair *>(context)->beside, "%2000d", 1);
        },
        &p));
    CHECK(arena_used_bytes(p.beside) == 0);
}

TEST_CASE("an arena of its own takes at a request's cost while it joins it", "[base]")
{
    lent l;
    test_arena a(10 << 20);
    arena *own = arena_create(10 << 20);

    arena_set_lease(a, &l.lease);
    REQUIRE(arena_try(own, 1, 1 << 20));
    size_t before = arena_taken_bytes(own);
    arena_join(own, a);
    CHECK(l.bytes == 0); // what it had is its own
    REQUIRE(arena_try(own, 1, 2 << 20));
    CHECK(l.bytes == arena_taken_bytes(own) - before - ARENA_UNLEASED_BYTES);
    // Without memory the request's computation is left, and the arena stays.
    CHECK_FALSE(arena_run(
        a, [](void *x) { arena_alloc(static_cast<arena *>(x), 1, 20 << 20); }, own));
    char *text = arena_try_text(own, "stays", 5);
    arena_reset(a);
    CHECK(l.bytes > 0);
    arena_part(own);
    CHECK(l.bytes == 0);
    CHECK(std::string(text) == "stays");
    REQUIRE(arena_try(own, 1, 4 << 20));
    CHECK(l.bytes == 0);
    // A second time, by another request.
    test_arena other;
    arena_join(own, other);
    arena_part(own);
    arena_close(own);
}

TEST_CASE("arena memory is zeroed and aligned, also after a reset", "[base]")
{
    test_arena a;
    for (int round = 0; round < 2; round++) {
        for (size_t size : {70000, 1, 7, 16, 100, 3 << 20}) {
            auto *p = static_cast<unsigned char *>(arena_try(a, size, 1));
            REQUIRE(p != nullptr);
            CHECK(reinterpret_cast<uintptr_t>(p) % 16 == 0);
            CHECK(std::all_of(p, p + size, [](unsigned char c) { return c == 0; }));
            std::fill(p, p + size, 0xff);
        }
        arena_reset(a);
    }
}

TEST_CASE("what was handed out last grows where it is", "[base]")
{
    arena *a = arena_create(1 << 20);
    char *p = static_cast<char *>(arena_try(a, 1, 100));
    memcpy(p, "kept", 5);
    size_t size = 100;
    for (; size < 400000; size *= 2) {
        p = static_cast<char *>(arena_try_extend(a, p, 1, size, 2 * size));
        REQUIRE(p != nullptr);
        CHECK(std::string(p) == "kept");
        CHECK(p[size] == 0);
        CHECK(p[2 * size - 1] == 0);
        p[2 * size - 1] = 1;
    }
    CHECK(arena_used_bytes(a) < 2 * size); // what it was before does not count as well
    CHECK(arena_try_extend(a, p, 1, size, 2u << 20) == nullptr);
    char *other = static_cast<char *>(arena_try(a, 1, 10));
    char *moved = static_cast<char *>(arena_try_extend(a, p, 1, 100, 200));
    REQUIRE(moved != nullptr); // it was not the last any more
    CHECK(moved != p);
    CHECK(std::string(moved) == "kept");
    CHECK(std::string(p) == "kept");
    other[9] = 1;
    CHECK(arena_try_extend(a, nullptr, 1, 0, 10) != nullptr);
    arena_close(a);
}

TEST_CASE("random numbers follow the published vectors", "[base]")
{
    uint64_t state = 1;
    CHECK(splitmix64(&state) == 0x910a2dec89025cc1U);
    CHECK(splitmix64(&state) == 0xbeeb8da1658eec67U);
    CHECK(splitmix64(&state) == 0xf893a2eefb32555eU);
    rng r = rng_create(1);
    CHECK(rng_next(&r) == 0xb3f2af6d0fc710c5U);
    CHECK(rng_next(&r) == 0x853b559647364ceaU);
    CHECK(rng_next(&r) == 0x92f89756082a4514U);
    rng u = rng_create(1);
    CHECK(rng_uniform(&u) == Approx(0.70292183315885048).epsilon(1e-16));
    CHECK(hash_fnv1a("job.arrival") == 0x03bc8daae5b4e76bU);
    rng s = rng_stream(1, "job.arrival");
    CHECK(rng_uniform(&s) == Approx(0.15283952697012726).epsilon(1e-16));
}

TEST_CASE("the nearest name is suggested, a far one is not", "[base]")
{
    const char *names[] = {"min_min", "max_min", "sufferage"};
    CHECK(std::string(names_nearest("min_mim", names, 3)) == "min_min");
    CHECK(std::string(names_nearest("suferage", names, 3)) == "sufferage");
    CHECK(names_nearest("quite_different", names, 3) == nullptr);
    CHECK(names_nearest("", names, 3) == nullptr);
    const char *swapped[] = {"debug", "batch", nullptr}; // neighbours are one slip
    CHECK(std::string(names_nearest("bacth", swapped, 2)) == "batch");
    CHECK(names_distance("batch", "bacth") == 1);
    CHECK(names_distance("ab", "ba") == 1);
    CHECK(names_distance("", "ba") == 2);
    CHECK(names_distance("abc", "cab") == 2);
    const char *short_names[] = {"cpus", "id"};
    CHECK(names_nearest("gpus", short_names, 2) == nullptr); // another word, not a slip
    const char *const words[] = {"total_flow_s", "conservative", "slurm_backfill",
                                 "weighted_flow", "easy"};
    auto meant = [&](const char *name, size_t from, size_t to) -> std::string {
        const char *found = names_meant(name, words + from, to - from);

        return found ? found : "none";
    };
    CHECK(meant("flow_time", 0, 3) == "total_flow_s");
    CHECK(meant("flow_time", 0, 4) == "none"); // either of two
    CHECK(meant("conservative_backfill", 0, 5) == "conservative");
    CHECK(meant("easy-backfilling", 0, 5) == "easy");
    CHECK(meant("esy", 0, 5) == "easy");
    CHECK(meant("a_s", 0, 5) == "none"); // letters say nothing
    CHECK(meant("", 0, 5) == "none");
    CHECK(std::string(names_nearest("cpu", short_names, 2)) == "cpus");
}

TEST_CASE("words agree with a count", "[base]")
{
    test_arena a(1 << 20);
    CHECK(std::string(counted(0, "job").text) == "0 jobs");
    CHECK(std::string(counted(1, "running job").text) == "1 running job");
    CHECK(std::string(counted(UINT64_MAX, "job").text) == "18446744073709551615 jobs");
    CHECK(std::string(counted(2, std::string(100, 'x').c_str()).text) ==
          "2 " + std::string(40, 'x') + "s");
    CHECK(std::string(plural(1, "is", "are")) == "is");
    CHECK(std::string(plural(0, "is", "are")) == "are");
    auto said = [&](uint64_t count, const char *text) {
        return std::string(plural_text(count, text, a));
    };
    CHECK(said(1, "{has|have} {its|their} end") == "has its end");
    CHECK(said(2, "{has|have} {its|their} end") == "have their end");
    CHECK(said(1, "x{|s} and {y|}") == "x and y");
    CHECK(said(3, "x{|s} and {y|}") == "xs and ");
    for (const char *plain : {"", "{", "{a", "{a|", "{a|b", "{a}", "a|b}", "{}"}) {
        INFO(plain);
        CHECK(said(1, plain) == plain);
        CHECK(said(2, plain) == plain);
    }
}

TEST_CASE("a hint names all candidates as far as they fit", "[base]")
{
    const char *names[] = {"min_min", "max_min", "sufferage"};
    char text[NAMES_HINT_BYTES];
    CHECK(std::string(names_hint("min_mim", names, 3, text, sizeof(text))) ==
          "did you mean 'min_min'? known: 'min_min', 'max_min', 'sufferage'");
    CHECK(std::string(names_hint("else", names, 3, text, sizeof(text))) ==
          "known: 'min_min', 'max_min', 'sufferage'");
    CHECK(std::string(names_hint("else", names, 0, text, sizeof(text))) == "known:");
    CHECK(std::string(names_hint("else", names, 3, text, 64)) ==
          "known: 'min_min', 'max_min' ... (3 in all)");
    std::vector<std::string> many(100, std::string(40, 'x'));
    std::vector<const char *> list;
    for (auto &s : many)
        list.push_back(s.c_str());
    names_hint("else", list.data(), list.size(), text, sizeof(text));
    CHECK(std::string(text).size() < sizeof(text));
    CHECK(std::string(text).find("... (100 in all)") != std::string::npos);
}

namespace
{
struct watch {
    double used;  // what the budget is told
    size_t asked; // how often
};

double used_of(void *context)
{
    auto *w = static_cast<watch *>(context);

    w->asked++;
    return w->used;
}
} // namespace

TEST_CASE("a budget counts work, asks seldom, and stays spent", "[base]")
{
    watch w{0.5, 0};
    budget b{};

    b.used = used_of;
    b.context = &w;
    CHECK_FALSE(budget_step(&b, 0)); // the first step asks
    CHECK(w.asked == 1);
    CHECK(b.grain == 1024);
    CHECK_FALSE(budget_step(&b, 1023));
    CHECK(w.asked == 1);
    w.used = 1;
    CHECK(budget_step(&b, 1));
    CHECK(w.asked == 2);
    w.used = 0; // it does not come back, and is not asked any more
    CHECK(budget_step(&b, 1));
    CHECK(budget_step(&b, 0));
    CHECK(budget_spent(&b));
    CHECK(w.asked == 2);
    CHECK(budget_used(&b) == 1);
}

TEST_CASE("what has no limit is never spent", "[base]")
{
    budget b{};

    CHECK_FALSE(budget_step(nullptr, SIZE_MAX / 2));
    CHECK_FALSE(budget_spent(nullptr));
    CHECK(budget_used(nullptr) == 0);
    CHECK(budget_finish(nullptr) == nullptr);
    for (size_t i = 0; i < 5000; i++)
        REQUIRE_FALSE(budget_step(&b, 1 << 20));
    CHECK_FALSE(budget_part(&b, 0, 0).spent);
}

TEST_CASE("the grain of a budget follows the clock between 2^10 and 2^22", "[base]")
{
    watch w{0, 0};
    budget b{};

    b.used = used_of;
    b.context = &w;
    for (size_t i = 0; i < 64; i++) // all the work is done in no time
        budget_step(&b, static_cast<size_t>(b.grain));
    CHECK(b.grain == 1 << 22);
    b.looked_at_s -= 0.003; // late by half
    budget_look(&b);
    CHECK(b.grain == 1 << 21);
    b.looked_at_s -= 1;
    budget_look(&b);
    CHECK(b.grain <= 1 << 13);
    b.looked_at_s -= 100;
    budget_look(&b);
    CHECK(b.grain == 1 << 10);
    b.looked_at_s -= 0.001; // as it should be
    budget_look(&b);
    CHECK(b.grain == 1 << 10);
}

TEST_CASE("a part of a budget ends before it, a part of a part before that", "[base]")
{
    watch w{0.2, 0};
    budget whole{}, finish{};

    whole.used = used_of;
    whole.context = &w;
    whole.finish = &finish;
    budget part = budget_part(&whole, 0.2, 0.6), last = budget_part(&part, 0.5, 1);
    CHECK(budget_used(&part) == 0);
    w.used = 0.5;
    CHECK(budget_used(&part) == Approx(0.75).epsilon(1e-12));
    CHECK(budget_used(&last) == Approx(0.5).epsilon(1e-12));
    CHECK_FALSE(budget_spent(&part));
    w.used = 0.6000001;
    CHECK(budget_spent(&part));
    CHECK(budget_spent(&last));
    CHECK_FALSE(budget_spent(&whole));
    CHECK(budget_part(&part, 0, 1).spent);
    CHECK(budget_part(&whole, 0.5, 0.5).spent);
    CHECK(budget_finish(&last) == &finish);
}

TEST_CASE("a name index finds what was added and reports repeats", "[base]")
{
    test_arena a;
    name_index index;
    REQUIRE(name_index_create(&index, 1000, a));
    std::vector<std::string> names;
    for (size_t i = 0; i < 1000; i++)
        names.push_back("id" + std::to_string(i));
    for (size_t i = 0; i < 1000; i++)
        CHECK(name_index_add(&index, names[i].c_str(), i) == NAME_NOT_FOUND);
    CHECK(name_index_add(&index, "id7", 5000) == 7);
    CHECK(name_index_find(&index, "id999") == 999);
    CHECK(name_index_find(&index, "id1000") == NAME_NOT_FOUND);
}

TEST_CASE("options are bound with all mistakes at once", "[base]")
{
    static const char *const orders[] = {"fifo", "priority", nullptr};
    static const param rows[] = {
        {"share", 0, 1, 0.5, "a share", PARAM_NUMBER, nullptr},
        {"count", 0, 9, 3, "a count", PARAM_INTEGER, nullptr},
        {"flag", 0, 1, 0, "a flag", PARAM_BOOLEAN, nullptr},
        {"order", 0, 1, 0, "an order", PARAM_CHOICE, orders},
        {},
    };
    double value[PARAMS_MAX];
    test_arena a;
    error err = collecting_error(a);
    named_value good[] = {{"order", VALUE_TEXT, 0, "priority"},
                          {"flag", VALUE_BOOLEAN, 1, nullptr}};
    REQUIRE(params_bind(rows, good, 2, value, &err) == OK);
    CHECK(value[0] == 0.5);
    CHECK(value[2] == 1);
    CHECK(value[3] == 1);
    named_value bad[] = {{"share", VALUE_NUMBER, 2, nullptr},
                         {"count", VALUE_NUMBER, 1.5, nullptr},
                         {"flag", VALUE_NUMBER, 1, nullptr},
                         {"order", VALUE_TEXT, 0, "x"},
                         {"shere", VALUE_NUMBER, 0, nullptr}};
    CHECK(params_bind(rows, bad, 5, value, &err) == ERR_INVALID);
    CHECK(err.item_count == 5);
    CHECK(std::string(err.first->pointer) == "/options/share");
    CHECK(std::string(err.last->detail).find("did you mean 'share'") !=
          std::string::npos);
}

TEST_CASE("a policy is found by name or abbreviation, with its options", "[base]")
{
    static const param common[] = {{"share", 0, 1, 0.5, "a share", PARAM_NUMBER, nullptr},
                                   {}};
    static const param own[] = {{"count", 0, 9, 3, "a count", PARAM_INTEGER, nullptr},
                                {}};
    auto row = [](const char *name, const char *abbreviation, const param *shared,
                  const param *params) {
        policy p = {};
        p.name = name;
        p.abbreviation = abbreviation;
        p.common = shared;
        p.params = params;
        return p;
    };
    const policy first[] = {row("fast", "F", common, own),
                            row("faster", nullptr, common, nullptr),
                            row("plain", nullptr, nullptr, nullptr),
                            {}},
                 second[] = {row("slow", nullptr, nullptr, own), {}};
    CHECK(policy_find(first, "faster") == &first[1]);
    CHECK(policy_find(first, "F") == &first[0]);
    CHECK(policy_find(first, "slow") == nullptr);
    CHECK(policy_find(first, "") == nullptr);
    CHECK(policy_option_count(&first[0]) == 2);
    CHECK(policy_option(&first[0], 0) == &common[0]);
    CHECK(policy_option(&first[0], 1) == &own[0]);
    CHECK(policy_option(&second[0], 0) == &own[0]);
    CHECK(policy_option_count(&first[2]) == 0);

    test_arena a;
    error err = collecting_error(a);
    double value[PARAMS_MAX];
    named_value given[] = {{"count", VALUE_NUMBER, 7, nullptr},
                           {"coumt", VALUE_NUMBER, 1, nullptr}};
    REQUIRE(policy_bind(&first[0], given, 1, value, &err) == OK);
    CHECK(value[0] == 0.5);
    CHECK(value[1] == 7);
    CHECK(policy_bind(&first[0], given, 2, value, &err) == ERR_INVALID);
    CHECK(err.item_count == 1);
    CHECK(std::string(err.first->detail) == "no such option; did you mean 'count'?");
    CHECK(policy_bind(&first[2], given, 1, value, &err) == ERR_INVALID);

    const policy *const both[] = {first, second, nullptr};
    char text[NAMES_HINT_BYTES];
    CHECK(std::string(policy_hint("slou", both, text, sizeof(text))) ==
          "did you mean 'slow'? known: 'fast', 'faster', 'plain', 'slow'");
    CHECK(std::string(policy_hint("x", both, text, 64)) ==
          "known: 'fast', 'faster' ... (4 in all)");
}

TEST_CASE("medians and quantiles of numbers in any order, with ties", "[base]")
{
    double one[] = {7}, two[] = {HUGE_VAL, 1}, large[] = {1.5e308, 1.7e308};
    CHECK(sort_median(one, 1) == 7);
    CHECK(sort_median(two, 2) == HUGE_VAL);
    CHECK(two[0] == 1);
    CHECK(sort_median(large, 2) == Approx(1.6e308));
    double ties[] = {3, -1, 3, 0, 3};
    CHECK(sort_median(ties, 5) == 3);
    CHECK(std::is_sorted(ties, ties + 5));
    double four[] = {4, 1, 3, 2};
    sort_numbers(four, 4);
    CHECK(sorted_quantile(four, 4, 0) == 1);
    CHECK(sorted_quantile(four, 4, 0.5) == 2.5);
    CHECK(sorted_quantile(four, 4, 1) == 4);
    CHECK(sorted_quantile(four, 1, 0.3) == 1);
}

TEST_CASE("numbers come out sorted, whatever their order was", "[base][property]")
{
    rng random = rng_stream(4, "base_test");

    for (size_t count : {0, 1, 2, 3, 16, 17, 18, 33, 100, 1000, 20000})
        for (int kind = 0; kind < 8; kind++) {
            std::vector<double> v(count);
            for (size_t i = 0; i < count; i++) {
                double at = static_cast<double>(i), n = static_cast<double>(count);
                const double values[] = {rng_uniform(&random) - 0.5,
                                         at,
                                         -at,
                                         7,
                                         std::floor(3 * rng_uniform(&random)),
                                         at < n / 2 ? at : n - at, // up and down
                                         i % 2 ? 1e300 : -HUGE_VAL,
                                         i + 1 == count ? -1 : at};
                v[i] = values[kind];
            }
            std::vector<double> want = v;
            std::sort(want.begin(), want.end());
            sort_numbers(v.data(), count);
            CAPTURE(count, kind);
            REQUIRE(v == want);
        }
}
