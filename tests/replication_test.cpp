// replication_test.cpp - how many copies of a job, and where.
#include "tests/round_support.hpp"

#include <algorithm>

extern "C" {
#include "algorithms/replication/replication.h"
#include "algorithms/replication/slots.h"
#include "algorithms/replication/work.h"
}

static const struct policy *policy(const char *name)
{
    return policy_find(replication_policies, name);
}

static const double RESOURCE_UNIT = 1;

// Two resources of two slots in two sites (spec fault-tolerance.md 6.4).
static grid two_by_two(size_t job_count)
{
    grid g;
    g.resource(0);
    g.resource(1);
    for (size_t i = 0; i < job_count; i++)
        g.job();
    return g;
}

TEST_CASE("copies are placed by fault-tolerance.md 6.1, example C", "[replication]")
{
    grid g;
    for (size_t n : {1, 0, 1}) // a1 a2 a3: 0 1 2
        g.resource(0, 1, 2, n);
    g.resource(1, 1, 2, 0); // b1: 3
    g.resource(1, 2, 2, 1); // b2: 4
    g.resource(2, 4, 2, 1); // c1: 5
    g.resource(2, 4, 2, 0); // c2: 6
    rounds rs;
    SECTION("C1: sites without a replica first, of those the fastest for its load")
    {
        size_t j = g.job();
        g.copy(j, 5);
        g.resources[5].job_count = 1; // the copy is the job that was there
        round_out out = rs.run(policy("unconditional"), g, {{"replicas", 2}});
        CHECK(action_texts(out) == texts{"start J0 R3"});
    }
    SECTION("C2: the fastest site for its load")
    {
        g.job();
        round_out out = rs.run(policy("unconditional"), g, {{"replicas", 1}});
        CHECK(action_texts(out) == texts{"start J0 R6"});
    }
    SECTION("C3: the only resource holds the job already")
    {
        grid one;
        one.resource(0);
        size_t j = one.job(), other = one.job();
        one.copy(j, 0);
        round_out out = rs.run(policy("unconditional"), one, {{"replicas", 2}});
        CHECK(action_texts(out) == texts{"start J1 R0"}); // postponed, the next goes on
        REQUIRE(out.wait_count == 2);
        CHECK(out.waits[0].job == j);
        CHECK(out.waits[1].job == other);
    }
    SECTION("full resources count for the speed of a site, down ones do not")
    {
        grid h;
        h.resource(0, 10, 1, 1); // full
        h.resource(0, 1, 1, 0);  // site 0: 11 / 2
        h.resource(1, 5, 1, 0);  // site 1: 5
        h.resource(2, 90, 1, 0); // down
        h.resource(2, 1, 1, 0);
        h.resources[3].up = false;
        h.job();
        CHECK(action_texts(rs.run(policy("load_dependent"), h, {})) ==
              texts{"start J0 R1"});
    }
}

TEST_CASE("wqr copies only when the queue is empty, example D", "[replication]")
{
    grid g;
    for (size_t i = 0; i < 3; i++)
        g.resource(i, 1, 1);
    g.job();
    g.job();
    for (uint64_t seed : {1, 2, 3, 4, 5}) {
        rounds rs;
        g.seed = seed;
        round_out out = rs.run(policy("wqr"), g, {{"replicas_max", 2}});
        REQUIRE(out.action_count == 3);
        CHECK(out.actions[0].job == 0);
        CHECK(out.actions[1].job == 1);
        CHECK(out.actions[2].job == 0);
    }
    SECTION("fewest copies first, then arrival; where none can be added the next")
    {
        rounds rs;
        grid h;
        for (size_t i = 0; i < 4; i++)
            h.resource(0, 1, 2);
        size_t a = h.job(), b = h.job();
        h.copy(a, 0);
        h.copy(a, 1);
        h.copy(b, 2);
        round_out out = rs.run(policy("wqr"), h, {{"replicas_max", 3}});
        CHECK(action_texts(out) == texts{"start J1 R3", "start J0 R2", "start J1 R0"});
    }
}

TEST_CASE("load_dependent fills jobs while CPUs are free, example E", "[replication]")
{
    for (double unit : {0.0, RESOURCE_UNIT})
        for (const char *name : {"load_dependent", "failure_dependent"}) {
            rounds rs;
            grid g = two_by_two(4);
            std::map<std::string, double> options = {{"replicas_min", 1},
                                                     {"replicas_max", 2},
                                                     {"free_cpu_limit", 2},
                                                     {"capacity_unit", unit}};
            CAPTURE(name, unit);
            round_out out = rs.run(policy(name), g, options);
            CHECK(out.free_cpus == (unit == RESOURCE_UNIT ? 2 : 4));
            CHECK(out.free_cpu_limit == 2);
            CHECK(action_texts(out) ==
                  texts{"start J0 R0", "start J0 R1", "start J1 R0", "start J2 R1"});
            CHECK(out.wait_count == 3); // J1 and J2 below two copies, J3 has none
            CHECK(out.waits[2].job == 3);
            CHECK(out.waits[2].count[ROUND_NO_FREE_SLOT] == 2);
            g.apply(out);

            g.replicas[0][0].state = REPLICA_FINISHED; // J0 on R0
            g.resources[0].job_count--;
            g.has_finished = true;
            out = rs.run(policy(name), g, options);
            CHECK(out.free_cpus == 2);
            CHECK(action_texts(out) ==
                  texts{"cancel J0 R1 finished", "start J1 R1", "start J3 R0"});
        }
}

TEST_CASE("load_dependent keeps replicas_min under load, example F", "[replication]")
{
    rounds rs;
    grid g = two_by_two(3);
    round_out out =
        rs.run(policy("load_dependent"), g,
               {{"replicas_min", 2}, {"replicas_max", 3}, {"free_cpu_limit", 3}});
    CHECK(action_texts(out) ==
          texts{"start J0 R0", "start J0 R1", "start J1 R0", "start J1 R1"});
}

TEST_CASE("failure_dependent replaces what failed, example G", "[replication]")
{
    for (double unit : {0.0, RESOURCE_UNIT}) {
        rounds rs;
        grid g = two_by_two(4);
        std::map<std::string, double> options = {{"replicas_min", 1},
                                                 {"replicas_max", 2},
                                                 {"free_cpu_limit", 2},
                                                 {"capacity_unit", unit}};
        g.apply(rs.run(policy("failure_dependent"), g, options));
        for (size_t j : {0, 1}) // R0 is down: J0 and J1 lost a copy there
            g.replicas[j][0].state = REPLICA_FAILED;
        g.resources[0].job_count = 0;
        g.resources[0].up = false;
        round_out out = rs.run(policy("failure_dependent"), g, options);
        CHECK(out.free_cpus == 0);
        CHECK(out.action_count == 0);
        g.resources[0].up = true;
        out = rs.run(policy("failure_dependent"), g, options);
        if (unit == RESOURCE_UNIT)
            CHECK(action_texts(out) == texts{"start J1 R0", "start J3 R0"});
        else
            CHECK(action_texts(out) == texts{"start J0 R0", "start J1 R0"});
        // what was started counts for load_dependent: nothing is replaced
        out = rs.run(policy("load_dependent"), g, options);
        if (unit == RESOURCE_UNIT)
            CHECK(action_texts(out) == texts{"start J3 R0"});
        else
            CHECK(action_texts(out) == texts{"start J1 R0", "start J3 R0"});
    }
}

TEST_CASE("unconditional is fcfs for one copy, and load_dependent without limits",
          "[replication][property]")
{
    rng r = rng_stream(1, "replication_test.same");
    for (int i = 0; i < 200; i++) {
        rounds rs;
        grid g = random_grid(r, false);
        CHECK(action_texts(rs.run(policy("fcfs"), g)) ==
              action_texts(rs.run(policy("unconditional"), g,
                                  {{"replicas", 1}, {"placement", 1}})));
        CHECK(action_texts(rs.run(policy("unconditional"), g, {{"replicas", 2}})) ==
              action_texts(rs.run(policy("load_dependent"), g,
                                  {{"replicas_min", 2}, {"replicas_max", 2}})));
        CHECK(action_texts(rs.run(policy("failure_detection_replication"), g,
                                  {{"replicas", 2}})) ==
              action_texts(rs.run(policy("failure_dependent"), g,
                                  {{"replicas_min", 2}, {"replicas_max", 2}})));
    }
}

TEST_CASE("fcfs draws among the free resources as fault-tolerance.md 1 says",
          "[replication]")
{
    rounds rs;
    grid g;
    for (size_t i = 0; i < 5; i++)
        g.resource(0, 1, 1, i == 1 || i == 3); // free: 0, 2, 4
    g.job();
    g.job();
    g.seed = 42;
    uint64_t state = 42;
    size_t free[] = {0, 2, 4};
    size_t first = free[round_draw(&state, 3)];
    std::vector<size_t> left;
    for (size_t r : free)
        if (r != first)
            left.push_back(r);
    size_t second = left[round_draw(&state, 2)];
    round_out out = rs.run(policy("fcfs"), g);
    REQUIRE(out.action_count == 2);
    CHECK(out.actions[0].resource == first);
    CHECK(out.actions[1].resource == second);
    CHECK(out.random_state == state);
}

TEST_CASE("target_success starts as few copies as fault-tolerance.md 7.3 says",
          "[replication]")
{
    struct {
        double p, target;
        size_t want;
    } cases[] = {{0.9, 0.99, 2},   {0.7, 0.99, 4}, {0.9, 0.9999, 4},
                 {0.95, 0.999, 3}, {1, 0.99, 1},   {0.9492498, 0.99, 2}};
    for (auto &c : cases) {
        CAPTURE(c.p, c.target);
        rounds rs;
        grid g;
        for (size_t i = 0; i < 8; i++) {
            g.resource(i, 1, 1);
            g.resources[i].mean_failure_interval_s =
                c.p < 1 ? -1000 / std::log(c.p) : HUGE_VAL;
        }
        g.job(1000);
        round_out out = rs.run(policy("target_success"), g,
                               {{"target_success", c.target}, {"replicas_max", 8}});
        CHECK(out.action_count == c.want);
        CHECK(out.status == DECISION_FEASIBLE);
        REQUIRE(out.success_count == 1);
        CHECK(out.successes[0].reached);
        CHECK(out.successes[0].needed_count == c.want);
        CHECK(out.successes[0].probability ==
              Approx(1 - std::pow(1 - c.p, (double)c.want)).epsilon(1e-6));
    }
    SECTION("2.5 h, mean up 48 h")
    {
        rounds rs;
        grid g;
        for (size_t i = 0; i < 4; i++) {
            g.resource(i, 1, 1);
            g.resources[i].mean_failure_interval_s = 48 * 3600;
        }
        g.job(2.5 * 3600);
        round_out out = rs.run(policy("target_success"), g, {});
        CHECK(out.successes[0].replica_count == 2);
        out = rs.run(policy("target_success"), g, {{"target_success", 0.949}});
        CHECK(out.successes[0].replica_count == 1);
        CHECK(out.successes[0].probability == Approx(0.9492498).epsilon(1e-7));
        for (auto &x : g.resources) {
            x.uptime_s = 0;
            x.weibull_shape = 0.7;
            x.weibull_scale_s = 136511.92;
        }
        out = rs.run(policy("target_success"), g, {});
        CHECK(out.successes[0].replica_count == 3);
        out = rs.run(policy("target_success"), g, {{"target_success", 0.861}});
        CHECK(out.successes[0].probability == Approx(0.8615206).epsilon(1e-6));
    }
    SECTION("what a copy has done need not survive again")
    {
        rounds rs;
        grid g;
        for (size_t i = 0; i < 3; i++) {
            g.resource(i, 1, 1);
            g.resources[i].mean_failure_interval_s = 1000;
        }
        g.job(1000);
        g.copy(0, 0, 900);
        // exp(-100 / 1000), and with a second, whole copy 1 - (1 - it)(1 - exp(-1)).
        round_out out = rs.run(policy("target_success"), g, {{"target_success", 0.9}});
        CHECK(out.action_count == 0);
        CHECK(out.successes[0].probability == Approx(0.9048374180).epsilon(1e-9));
        out = rs.run(policy("target_success"), g, {{"target_success", 0.93}});
        CHECK(out.action_count == 1);
        CHECK(out.successes[0].probability == Approx(0.9398457755).epsilon(1e-9));
    }
    SECTION("hosts on which a copy is likeliest to succeed come first")
    {
        rounds rs;
        grid g;
        const double means[] = {1000, 4000, 4000, 2000, UNKNOWN};
        const double speeds[] = {1, 1, 1, 4, 9};
        for (size_t i = 0; i < 5; i++) {
            g.resource(i % 2, speeds[i], 1);
            g.resources[i].mean_failure_interval_s = means[i];
        }
        g.job(1000);
        // exp(-1000/8000), twice exp(-1000/4000), exp(-1), 0
        round_out out = rs.run(policy("target_success"), g,
                               {{"target_success", 0.9999}, {"replicas_max", 8}});
        CHECK(action_texts(out) == texts{"start J0 R3", "start J0 R1", "start J0 R2",
                                         "start J0 R0", "start J0 R4"});
        double q = (1 - std::exp(-0.125)) * std::pow(1 - std::exp(-0.25), 2);
        CHECK(out.successes[0].probability ==
              Approx(1 - q * (1 - std::exp(-1))).epsilon(1e-12));
        CHECK(out.successes[0].needed_count == 0);
        out = rs.run(policy("target_success"), g, {{"target_success", 0.97}});
        CHECK(action_texts(out) == texts{"start J0 R3", "start J0 R1"});
        out = rs.run(policy("target_success"), g,
                     {{"target_success", 0.99}, {"replicas_max", 1}});
        CHECK(out.successes[0].needed_count == 3);
        CHECK(out.successes[0].probability == Approx(std::exp(-0.125)).epsilon(1e-12));
    }
    SECTION("by a deadline restarts count")
    {
        rounds rs;
        grid g;
        for (size_t i = 0; i < 4; i++) {
            g.resource(i, 1, 1);
            g.resources[i].mean_failure_interval_s = 10800;
        }
        g.job(9000);
        g.jobs[0].reschedule_delay_s = 900;
        g.jobs[0].deadline_s = 12000;
        // one attempt, a second after a failure before 2100 s, a third
        const double m = 10800, p0 = std::exp(-9000 / m);
        const double gamma2 = 1 - std::exp(-1200 / m) * (1 + 1200 / m);
        const double p = p0 * (1 + (1 - std::exp(-2100 / m)) + gamma2);
        for (size_t k = 1; k <= 3; k++) {
            round_out out =
                rs.run(policy("target_success"), g,
                       {{"target_success", 0.9}, {"replicas_max", (double)k}});
            CHECK(out.action_count == k);
            CHECK(out.successes[0].probability ==
                  Approx(1 - std::pow(1 - p, (double)k)).epsilon(1e-3));
            CHECK(out.successes[0].needed_count == 4);
        }
        g.jobs[0].deadline_s = 8999;
        round_out out = rs.run(policy("target_success"), g, {});
        CHECK(out.successes[0].probability == 0);
        CHECK(out.status == DECISION_INFEASIBLE);
        g.jobs[0].deadline_s = 1e9;
        out = rs.run(policy("target_success"), g, {});
        CHECK(out.action_count == 1);
    }
    SECTION("not within replicas_max: infeasible, with what would do")
    {
        rounds rs;
        grid g;
        for (size_t i = 0; i < 8; i++) {
            g.resource(i, 1, 1);
            g.resources[i].mean_failure_interval_s = -1000 / std::log(0.7);
        }
        g.job(1000);
        round_out out = rs.run(policy("target_success"), g, {{"replicas_max", 2}});
        CHECK(out.status == DECISION_INFEASIBLE);
        CHECK(out.action_count == 2);
        CHECK_FALSE(out.successes[0].reached);
        CHECK(out.successes[0].probability == Approx(0.91));
        CHECK(out.successes[0].needed_count == 4);
        g.resources.resize(3);
        out = rs.run(policy("target_success"), g, {{"replicas_max", 2}});
        CHECK(out.successes[0].needed_count == 0);
        g.resources.resize(1); // no room is no reason to call it infeasible
        out = rs.run(policy("target_success"), g, {{"replicas_max", 2}});
        CHECK(out.status == DECISION_FEASIBLE);
        CHECK(out.wait_count == 1);
    }
}

TEST_CASE("options of the load contradict each other by name", "[replication]")
{
    for (const char *name : {"load_dependent", "failure_dependent"}) {
        test_arena a;
        error err = collecting_error(a);
        grid g = two_by_two(1);
        round_in in = g.in();
        round_out out{};
        double param[PARAMS_MAX];
        REQUIRE(params_bind(policy(name)->params, nullptr, 0, param, &err) == OK);
        param[0] = 3; // replicas_min
        param[1] = 2; // replicas_max
        CHECK(round_fn_of(policy(name))(&in, param, &out, a, &err) == ERR_INVALID);
        CHECK(std::string(err.first->pointer) == "/options/replicas_min");
    }
}

TEST_CASE("a limit can be a share of the grid", "[replication]")
{
    rounds rs;
    grid g = two_by_two(4);
    struct {
        double unit, fraction;
        size_t want;
    } cases[] = {{0, 0.5, 2}, {0, 0.51, 3}, {0, 0, 1}, {RESOURCE_UNIT, 1, 2}};
    for (auto &c : cases)
        CHECK(rs.run(policy("load_dependent"), g,
                     {{"free_cpu_limit_fraction", c.fraction}, {"capacity_unit", c.unit}})
                  .free_cpu_limit == c.want);
}

TEST_CASE("without a resource that is up jobs wait in vain", "[replication]")
{
    for (const struct policy *p = replication_policies; p->name; p++) {
        rounds rs;
        grid g = two_by_two(1);
        for (auto &x : g.resources)
            x.up = false;
        round_out out = rs.run(p, g);
        CAPTURE(p->name);
        CHECK(out.status == DECISION_INFEASIBLE);
        CHECK(out.action_count == 0);
        REQUIRE(out.wait_count == 1);
        CHECK(out.waits[0].count[ROUND_NO_RESOURCE_UP] == 2);
        grid none = two_by_two(0);
        CHECK(rs.run(p, none).status == DECISION_FEASIBLE);
        grid empty;
        CHECK(rs.run(p, empty).status == DECISION_FEASIBLE);
    }
}

TEST_CASE("replication policies keep their promises", "[replication][property]")
{
    check_table(replication_policies, "replication_test");
}

TEST_CASE("replication policies are documented", "[replication]")
{
    check_rows(replication_policies);
}

// ---- the index of free slots ----

// Rule 6.1 as it is written.
static size_t spread_by_hand(const slots &s, const std::vector<size_t> &held)
{
    size_t best_site = NOWHERE, best_replicas = 0, best = NOWHERE;
    double best_speed = 0;
    for (size_t site = 0; site < s.in->site_count; site++) {
        double mips = 0;
        size_t n = 0, open = 0, replicas = 0;
        for (size_t r = 0; r < s.in->resource_count; r++) {
            if (s.in->resources[r].site != site)
                continue;
            bool is_held = std::count(held.begin(), held.end(), r) > 0;
            replicas += is_held;
            if (is_held || !s.in->resources[r].up)
                continue;
            mips += s.in->resources[r].mips;
            n += s.job_count[r];
            open += slots_is_open(&s, r);
        }
        double speed = mips / (double)(n + 1);
        if (open && (best_site == NOWHERE || replicas < best_replicas ||
                     (replicas == best_replicas && speed > best_speed))) {
            best_site = site;
            best_replicas = replicas;
            best_speed = speed;
        }
    }
    double best_mips = -1;
    for (size_t r = 0; r < s.in->resource_count; r++) {
        double mips = s.in->resources[r].mips / (double)(s.job_count[r] + 1);
        if (s.in->resources[r].site == best_site && slots_is_open(&s, r) &&
            !std::count(held.begin(), held.end(), r) && mips > best_mips) {
            best = r;
            best_mips = mips;
        }
    }
    return best;
}

TEST_CASE("the index finds what a search by hand finds", "[replication][property]")
{
    rng r = rng_stream(1, "replication_test.slots");
    for (int i = 0; i < 500; i++) {
        test_arena a;
        error err{};
        grid g = random_grid(r, false);
        round_in in = g.in();
        slots s;
        REQUIRE(slots_create(&s, &in, false, a, &err) == OK);
        REQUIRE(slots_index(&s, &err) == OK);
        for (int step = 0; step < 30; step++) {
            std::vector<size_t> held;
            for (size_t k = rng_index(&r, 5); k > 0; k--) {
                size_t x = rng_index(&r, in.resource_count);
                if (!std::count(held.begin(), held.end(), x))
                    held.push_back(x);
            }
            struct held h = {held.data(), held.size()};
            CHECK(slots_spread(&s, h) == spread_by_hand(s, held));

            std::vector<size_t> open;
            size_t fastest = NOWHERE, free_count = 0, open_count = 0;
            double mips = -1;
            for (size_t x = 0; x < in.resource_count; x++) {
                if (!slots_is_open(&s, x))
                    continue;
                double speed = in.resources[x].mips / (double)(s.job_count[x] + 1);
                if (speed > mips) {
                    fastest = x;
                    mips = speed;
                }
                open_count++;
                free_count += in.resources[x].n_max - s.job_count[x];
                if (!std::count(held.begin(), held.end(), x))
                    open.push_back(x);
            }
            CHECK(slots_fastest(&s) == fastest);
            CHECK(s.open_count == open_count);
            CHECK(s.free_count == free_count);
            uint64_t state = rng_next(&r), same = state;
            size_t drawn = slots_random(&s, h, &state);
            CHECK(drawn ==
                  (open.empty() ? NOWHERE : open[round_draw(&same, open.size())]));

            size_t x = rng_index(&r, in.resource_count);
            if (slots_is_open(&s, x) && rng_index(&r, 2))
                slots_take(&s, x);
            else
                slots_give(&s, x);
        }
    }
}

TEST_CASE("what is kept from round to round decides as what is counted afresh",
          "[replication][property]")
{
    rng r = rng_stream(1, "replication_test.kept");
    for (int i = 0; i < 60; i++) {
        test_arena lasting;
        error err{};
        grid g = random_grid(r, false);
        slots_kept *kept = slots_keep(g.resources.size(), lasting);
        REQUIRE(kept);
        for (int round = 0; round < 30; round++) {
            test_arena a;
            round_in in = g.in(), again = g.in();
            slots s, fresh;
            in.kept = kept;
            REQUIRE(slots_create(&s, &in, round % 2, a, &err) == OK);
            REQUIRE(slots_create(&fresh, &again, round % 2, a, &err) == OK);
            REQUIRE(slots_index(&s, &err) == OK);
            REQUIRE(slots_index(&fresh, &err) == OK);
            for (int step = 0; step < 10; step++) {
                std::vector<size_t> held;
                for (size_t k = rng_index(&r, 4); k > 0; k--)
                    held.push_back(rng_index(&r, in.resource_count));
                struct held h = {held.data(), held.size()};
                uint64_t state = rng_next(&r), same = state;
                size_t x = rng_index(&r, in.resource_count);

                REQUIRE(slots_spread(&s, h) == slots_spread(&fresh, h));
                REQUIRE(slots_fastest(&s) == slots_fastest(&fresh));
                REQUIRE(slots_random(&s, h, &state) == slots_random(&fresh, h, &same));
                REQUIRE(s.up_count == fresh.up_count);
                REQUIRE(s.open_count == fresh.open_count);
                REQUIRE(s.free_count == fresh.free_count);
                if (slots_is_open(&s, x) && rng_index(&r, 2)) {
                    slots_take(&s, x);
                    slots_take(&fresh, x);
                } else {
                    slots_give(&s, x);
                    slots_give(&fresh, x);
                }
            }
            // Some of that comes about, and other things happen.
            for (size_t k = rng_index(&r, 4); k > 0; k--) {
                size_t x = rng_index(&r, in.resource_count);
                round_resource &resource = g.resources[x];

                if (rng_index(&r, 3) == 0)
                    resource.up = !resource.up;
                if (rng_index(&r, 3) == 0)
                    resource.mips = (double)rng_index(&r, 4) * 0.1;
                resource.job_count = rng_index(&r, resource.n_max + 1);
                slots_changed(kept, x);
            }
        }
    }
}

TEST_CASE("jobs that are as they should be are passed by eight at a time",
          "[replication]")
{
    rng r = rng_stream(1, "replication_test.settled");
    for (size_t size : {0, 1, 7, 8, 9, 16, 31, 100})
        for (int i = 0; i < 40; i++) {
            std::vector<uint8_t> settled(size);
            for (auto &bits : settled)
                bits = (uint8_t)(rng_index(&r, 20) ? 3 : rng_index(&r, 4));
            round_in in{};
            in.job_count = size;
            in.settled = settled.data();
            for (uint8_t bit : {ROUND_KEEPS_ONE, ROUND_KEEPS_COPIES})
                for (size_t job = 0; job < size; job++) {
                    size_t seen = 5, found = work_next_unsettled(&in, bit, job, &seen);
                    REQUIRE(found <= size);
                    REQUIRE(seen == 5 + (found - job));
                    for (size_t k = job; k < found; k++)
                        REQUIRE((settled[k] & bit) == bit);
                    bool near = size - found < 8; // or one of the next is not settled
                    for (size_t k = found; k < found + 8 && !near; k++)
                        near = (settled[k] & bit) != bit;
                    REQUIRE(near);
                }
            in.settled = nullptr; // it may be any job
            size_t seen = 0;
            CHECK(work_next_unsettled(&in, ROUND_KEEPS_ONE, size / 2, &seen) == size / 2);
            CHECK(seen == 0);
        }
}

TEST_CASE("the next job with few copies is found among the counts", "[replication]")
{
    rng r = rng_stream(1, "replication_test.counts");
    for (size_t size : {0, 1, 2, 7, 8, 9, 16, 31, 100})
        for (int i = 0; i < 40; i++) {
            std::vector<uint8_t> counts(size), none(size, 1);
            for (auto &c : counts)
                c = (uint8_t)(rng_index(&r, 9) ? rng_index(&r, 40)
                                               : 127 + rng_index(&r, 129));
            round_in in{};
            in.job_count = size;
            in.active_counts = counts.data();
            in.started_counts = none.data();
            size_t limit = 1 + rng_index(&r, i % 2 ? REPLICAS_MAX + 1 : 3), job = 0;
            for (size_t found = 0; found < size; job = found + 1) {
                found = work_next_below(&in, true, job, limit);
                size_t want = job;
                while (want < size && counts[want] >= limit)
                    want++;
                REQUIRE(found == want);
            }
            CHECK(work_next_below(&in, false, 0, 1) == size);
            in.active_counts = nullptr; // it may be any job
            CHECK(work_next_below(&in, true, size / 2, limit) == size / 2);
        }
}
