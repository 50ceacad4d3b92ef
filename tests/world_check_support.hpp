// world_check_support.hpp - plans for the independent checker, and what it says of them.
#ifndef GRIDPLAN_WORLD_CHECK_SUPPORT_HPP
#define GRIDPLAN_WORLD_CHECK_SUPPORT_HPP

#include "tests/support.hpp"
#include "tests/world_support.hpp"

#include <ostream>

extern "C" {
#include "algorithms/world/check.h"
}

// A row of a plan.
struct planned_row {
    size_t job;
    std::vector<size_t> on;
    double start_s = 0;
    double finish_s = NAN;
    double stage_in_s = 0;
};

// A violation with what it needs to be compared.
struct found_violation {
    std::string rule;
    size_t row; // of the plan
    size_t position = WORLD_NONE, amount = WORLD_NONE;
    double at_s = NAN;
    int64_t needed = 0, free = 0;
    std::vector<size_t> others = {};
    std::string detail = {};

    std::string text() const
    {
        auto index = [](size_t i) {
            return i == WORLD_NONE ? std::string("-") : std::to_string(i);
        };
        return rule + " row " + std::to_string(row) + " on " + index(position) +
               " amount " + index(amount) + " at " + std::to_string(at_s) + ": " +
               std::to_string(needed) + " of " + std::to_string(free);
    }
};

inline std::ostream &operator<<(std::ostream &out, const found_violation &v)
{
    return out << v.text();
}

inline std::vector<world_claim> claims_of(const std::vector<planned_row> &plan)
{
    std::vector<world_claim> claims;

    for (auto &row : plan) {
        world_claim c{};
        c.job = row.job;
        c.positions = row.on.data();
        c.position_count = row.on.size();
        c.choice = WORLD_NONE;
        c.start_s = row.start_s;
        c.stage_in_s = row.stage_in_s;
        c.finish_s = row.finish_s;
        claims.push_back(c);
    }
    return claims;
}

// What the checker says of the plan.
inline std::vector<found_violation> violations_of(const world *w,
                                                  const std::vector<planned_row> &plan)
{
    test_arena a;
    std::vector<world_claim> claims = claims_of(plan);
    struct world_check out {
    };
    std::vector<found_violation> found;

    world_check(w, claims.data(), claims.size(), &out, a);
    CHECK_FALSE(out.cut);
    CHECK(out.listed_count == std::min<size_t>(out.violation_count, 1000));
    for (size_t i = 0; i < out.listed_count; i++) {
        const world_violation &v = out.violations[i];
        found.push_back({world_rule_names[v.rule], v.claim, v.position, v.amount, v.at_s,
                         v.needed, v.free,
                         std::vector<size_t>(v.others, v.others + v.other_count),
                         v.detail ? v.detail : ""});
    }
    return found;
}

inline std::vector<std::string> rules_of(const world *w,
                                         const std::vector<planned_row> &plan)
{
    std::vector<std::string> rules;

    for (auto &v : violations_of(w, plan))
        rules.push_back(v.rule);
    return rules;
}

// A plan of ours breaks nothing: what every test of a policy may ask.
inline void require_valid(const world *w, const world_plan *plan)
{
    test_arena a;
    size_t count;
    const world_claim *claims = world_claims(w, plan, &count, a);
    struct world_check out {
    };

    world_check(w, claims, count, &out, a);
    REQUIRE_FALSE(out.cut);
    for (size_t i = 0; i < out.listed_count; i++) {
        const world_violation &v = out.violations[i];
        INFO("job " << w->jobs[claims[v.claim].job].id << " breaks "
                    << world_rule_names[v.rule] << " at " << v.at_s << " on "
                    << (v.position == WORLD_NONE ? "-" : w->resources[v.position].id)
                    << ", amount "
                    << (v.amount == WORLD_NONE ? "-" : w->amounts[v.amount].name) << ": "
                    << v.needed << " of " << v.free);
        REQUIRE(i == out.listed_count);
    }
    REQUIRE(out.violation_count == 0);
}

#endif
