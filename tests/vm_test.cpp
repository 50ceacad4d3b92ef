// vm_test.cpp - sessions on resources, and Erlang's formula.
#include "tests/support.hpp"

#include <functional>
#include <memory>

extern "C" {
#include "algorithms/simulation/vm.h"
}

static const double NONE = std::nan("");

static const struct policy &policy_of(const std::string &name)
{
    const struct policy *p = policy_find(vm_policies, name.c_str());
    REQUIRE(p);
    return *p;
}

// A pool with its options and memory.
struct cloud {
    test_arena a;
    double param[PARAMS_MAX];
    vm_pool pool;

    cloud(const struct policy &policy, const std::vector<double> &capacity, size_t users,
          const std::vector<double> &options = {})
    {
        error err{};
        REQUIRE(params_bind(policy.params, nullptr, 0, param, &err) == OK);
        for (size_t i = 0; i < options.size(); i++)
            param[i] = options[i];
        REQUIRE(vm_pool_create(&pool, &policy, param, capacity.data(), capacity.size(),
                               users, 1, 3600, a, &err) == OK);
    }

    size_t arrive(size_t user, double mips, double now_s = 0, vm_reason *reason = nullptr)
    {
        vm_session s = {user, mips};
        size_t resource;
        vm_reason r = vm_pool_arrive(&pool, &s, now_s, &resource);
        CHECK((r == VM_PLACED) == (resource != VM_REJECTED));
        if (reason)
            *reason = r;
        return resource;
    }
};

TEST_CASE("Erlang B has the values of simulator.md 10", "[vm]")
{
    struct {
        double load;
        size_t servers;
        double want;
    } cases[] = {
        {5, 8, 0.0700479},   {5, 9, 0.0374578},   {5, 10, 0.0183846},
        {10, 10, 0.2145823}, {20, 20, 0.1588920}, {0.5, 1, 1.0 / 3},
        {0, 3, 0},           {7, 0, 1},           {1e9, 10, 1 - 1e-8},
    };
    for (auto &c : cases) {
        CAPTURE(c.load, c.servers);
        CHECK(erlang_b(c.load, c.servers) == Approx(c.want).margin(6e-8));
    }
    CHECK(erlang_servers(5, 0.02, 100) == 10);
    CHECK(erlang_servers(5, 0.02, 7) == 7);
    CHECK(erlang_servers(0, 0.02, 100) == 1);
    CHECK(erlang_servers(5, 1, 100) == 0);
}

TEST_CASE("policies place the sessions of simulator.md 10", "[vm]")
{
    const size_t R = VM_REJECTED;
    struct {
        const char *policy;
        std::vector<double> options;
        std::vector<size_t> want;
    } cases[] = {
        {"user_clustering", {}, {0, 1, 1, 0, 0}}, {"full_fill", {}, {0, 1, 0, 1, 0}},
        {"round_robin", {}, {0, 1, 0, 1, 0}},     {"limit", {5}, {R, R, 0, 1, 0}},
        {"limit", {NONE}, {R, R, 0, 1, 0}}, // half of the capacity is 5 too
    };
    struct {
        size_t user;
        double mips;
    } sessions[] = {{1, 6}, {2, 6}, {2, 3}, {1, 3}, {3, 1}};
    for (auto &c : cases) {
        DYNAMIC_SECTION(c.policy << (c.options.empty() ? 0 : c.options[0]))
        {
            cloud w(policy_of(c.policy), {10, 10}, 4, c.options);
            for (size_t i = 0; i < 5; i++)
                CHECK(w.arrive(sessions[i].user, sessions[i].mips) == c.want[i]);
        }
    }
}

TEST_CASE("the dynamic limit rises with the light sessions", "[vm]")
{
    // load 5: 100 arrivals in 20 s on one resource, each of 1 s
    for (auto [light, want] :
         {std::pair<size_t, double>{0, 5}, {4, 9}, {10, 15}, {12, 15}}) {
        cloud w(policy_of("dynamic_limit"), {15}, 1, {1, 0.02});
        w.pool.resources[0].light_count = light;
        w.pool.light_arrivals = 100;
        w.pool.light_mips_sum = 100;
        w.pool.light_ended = 50;
        w.pool.light_time_s_sum = 50;
        vm_reason reason;
        CHECK(w.arrive(0, 15.5, 20, &reason) == VM_REJECTED); // only to take the limit
        CHECK(w.pool.servers >= 10);
        CHECK(reason == VM_ABOVE_LIMIT);
        CHECK(vm_limit_mips(&w.pool, 0) == Approx(want).epsilon(1e-12));
        CHECK(w.arrive(0, want, 20) == 0);
    }
}

TEST_CASE("before any light session the limit follows what is expected", "[vm]")
{
    cloud w(policy_of("dynamic_limit"), {10, 10}, 1, {2, 0.02});
    CHECK(w.arrive(0, 9, 0) == 0); // load 0: one place is kept
    CHECK(w.arrive(0, 9.5, 0) == VM_REJECTED);
    CHECK(w.pool.servers == 1);
}

TEST_CASE("why a session is rejected", "[vm]")
{
    vm_reason reason;
    cloud w(policy_of("limit"), {10, 20}, 1, {NONE});
    CHECK(w.arrive(0, 10, 0, &reason) == 1); // equal passes
    CHECK(w.arrive(0, 10.1, 0, &reason) == VM_REJECTED);
    CHECK(reason == VM_ABOVE_LIMIT);
    CHECK(w.arrive(0, 10, 0) == 1);
    CHECK(w.arrive(0, 10, 0, &reason) == VM_REJECTED);
    CHECK(reason == VM_NO_ROOM);
    vm_pool_set_up(&w.pool, 1, false);
    CHECK(w.arrive(0, 10, 0, &reason) == VM_REJECTED);
    CHECK(reason == VM_ABOVE_LIMIT);
    vm_pool_set_up(&w.pool, 0, false);
    CHECK(w.arrive(0, 1, 0, &reason) == VM_REJECTED);
    CHECK(reason == VM_NO_RESOURCE_UP);
    cloud none(policy_of("full_fill"), {}, 1);
    CHECK(none.arrive(0, 1, 0, &reason) == VM_REJECTED);
    CHECK(reason == VM_NO_RESOURCE_UP);
    CHECK(std::string(vm_reason_names[VM_ABOVE_LIMIT]) == "above_limit");
}

TEST_CASE("a rejection does not move the round", "[vm]")
{
    cloud w(policy_of("round_robin"), {10, 10, 10}, 1);
    CHECK(w.arrive(0, 6) == 0);
    CHECK(w.arrive(0, 11) == VM_REJECTED);
    CHECK(w.arrive(0, 6) == 1);
    CHECK(w.arrive(0, 6) == 2);
    CHECK(w.arrive(0, 4) == 0);
}

TEST_CASE("shares that add up to the capacity fit", "[vm]")
{
    cloud w(policy_of("full_fill"), {1}, 1);
    for (int i = 0; i < 10; i++)
        CHECK(w.arrive(0, 0.1) == 0);
    CHECK(w.arrive(0, 0.1) == VM_REJECTED);
}

TEST_CASE("policies are sorted and found by name", "[vm]")
{
    size_t count = 0;
    for (const struct policy *p = vm_policies; p->name; p++, count++) {
        CHECK(policy_find(vm_policies, p->name) == p);
        CHECK((!p[1].name || std::string(p->name) < p[1].name));
    }
    CHECK(count == 5);
    CHECK(policy_find(vm_policies, "random") == nullptr);
}

// Sessions that come and go on resources that fail, beside a plain account of them.
struct account {
    struct session {
        vm_session s;
        size_t resource;
        double since_s;
    };
    std::vector<session> sessions;

    double used(size_t resource) const
    {
        double sum = 0;
        for (auto &x : sessions)
            sum += x.resource == resource ? x.s.mips_required : 0;
        return sum;
    }
};

static void check_account(const cloud &w, const account &now)
{
    std::vector<size_t> count(w.pool.resource_count), light(w.pool.resource_count);
    for (auto &x : now.sessions) {
        count[x.resource]++;
        light[x.resource] += x.s.mips_required <= w.pool.light_mips;
    }
    for (size_t i = 0; i < w.pool.resource_count; i++) {
        const vm_resource &r = w.pool.resources[i];
        if (r.session_count != count[i] || r.light_count != light[i])
            FAIL("counts of resource " << i);
        if (r.used_mips > r.capacity_mips * (1 + 1e-6))
            FAIL("above capacity: " << r.used_mips);
        if (std::fabs(r.used_mips - now.used(i)) > 1e-6)
            FAIL("account of resource " << i);
    }
}

// A rejected session fits nowhere, or only where the limit forbids it; a placed one
// runs where it may.
static void check_decision(const cloud &w, const account &before, const vm_session &s,
                           size_t resource, vm_reason reason)
{
    bool any_allowed = false, any_up = false;
    for (size_t i = 0; i < w.pool.resource_count; i++) {
        const vm_resource &r = w.pool.resources[i];
        double free_mips = r.capacity_mips - before.used(i);
        // the session's own arrival may have changed light_count of its resource
        bool room = r.up && s.mips_required <= free_mips * (1 - 1e-6);
        bool allowed = r.up && s.mips_required <= vm_limit_mips(&w.pool, i);
        any_up |= r.up;
        any_allowed |= allowed;
        if (reason != VM_PLACED && room && allowed)
            FAIL("rejected though resource " << i << " would do");
        if (resource == i && !(r.up && s.mips_required <= free_mips + 1e-6))
            FAIL("placed without room on " << i);
        if (resource == i && !allowed)
            FAIL("placed above the limit of " << i);
    }
    CHECK(((reason == VM_NO_RESOURCE_UP) == !any_up || reason == VM_PLACED));
    if (reason == VM_ABOVE_LIMIT)
        CHECK(!any_allowed);
    if (reason == VM_NO_ROOM)
        CHECK(any_allowed);
}

static void step(cloud &w, account &now, rng *r, double now_s)
{
    double u = rng_uniform(r);
    size_t resources = w.pool.resource_count;

    if (u < 0.02) {
        size_t i = rng_index(r, resources);
        bool up = !w.pool.resources[i].up;
        vm_pool_set_up(&w.pool, i, up);
        std::erase_if(now.sessions, [&](auto &x) {
            if (up || x.resource != i)
                return false;
            vm_pool_drop(&w.pool, &x.s, i);
            return true;
        });
    } else if (u < 0.45 && !now.sessions.empty()) {
        size_t i = rng_index(r, now.sessions.size());
        auto x = now.sessions[i];
        vm_pool_leave(&w.pool, &x.s, x.resource, now_s - x.since_s);
        now.sessions.erase(now.sessions.begin() + long(i));
    } else {
        vm_session s = {rng_index(r, w.pool.user_count), 0.1 + 8 * rng_uniform(r)};
        size_t resource;
        vm_reason reason = vm_pool_arrive(&w.pool, &s, now_s, &resource);
        check_decision(w, now, s, resource, reason);
        if (resource != VM_REJECTED)
            now.sessions.push_back({s, resource, now_s});
    }
    check_account(w, now);
}

TEST_CASE("every policy keeps to capacity and rejects only by its rule", "[vm][property]")
{
    for (const struct policy *p = vm_policies; p->name; p++) {
        CAPTURE(p->name);
        for (uint64_t seed = 0; seed < 10; seed++) {
            rng r = rng_stream(seed, "vm_test.property");
            std::vector<double> capacity;
            for (size_t n = 1 + rng_index(&r, 8); n > 0; n--)
                capacity.push_back(20 * rng_uniform(&r));
            cloud w(*p, capacity, 5), again(*p, capacity, 5);
            account now, now_again;
            rng same = r;
            double now_s = 0;
            for (int i = 0; i < 200; i++, now_s += 10) {
                step(w, now, &r, now_s);
                step(again, now_again, &same, now_s);
            }
            REQUIRE(now.sessions.size() == now_again.sessions.size());
            for (size_t i = 0; i < now.sessions.size(); i++)
                CHECK(now.sessions[i].resource == now_again.sessions[i].resource);
        }
    }
}

TEST_CASE("a pool fails cleanly when it does not fit", "[vm][memory]")
{
    double capacity[100] = {};
    for (const struct policy *p = vm_policies; p->name; p++) {
        double param[PARAMS_MAX] = {5, 0.02};
        vm_pool pool;
        error err{};
        test_arena none(0);
        CHECK(computed(none, &err, [&] {
                  return vm_pool_create(&pool, p, param, capacity, 100, 10, 1, 1, none,
                                        &err);
              }) == ERR_TOO_LARGE);
        test_arena a;
        CHECK(computed(a, &err, [&] {
                  return vm_pool_create(&pool, p, param, capacity, 100, size_t{1} << 40,
                                        1, 1, a, &err);
              }) == (p->flags & VM_BY_USER ? ERR_TOO_LARGE : OK));
    }
}
