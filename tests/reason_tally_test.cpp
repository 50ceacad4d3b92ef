// reason_tally_test.cpp - the warning of what has no place (world-model.md 5.1).
#include "support.hpp"

extern "C" {
#include "models/reason_tally.h"
}

#include <string>
#include <vector>

TEST_CASE("reasons are counted, most first, equal ones as they came", "[reasons]")
{
    struct {
        std::vector<const char *> met;
        const char *want;
    } cases[] = {
        {{}, "unplaced: 0"},
        {{"too_small"}, "unplaced: 1, too_small: 1"},
        {{"unknown_end", "too_small", "too_small"},
         "unplaced: 3, too_small: 2, unknown_end: 1"},
        {{"b", "a", "c", "c", "a", "b", "d"}, "unplaced: 7, b: 2, a: 2, c: 2, d: 1"},
    };
    test_arena a;

    for (auto &c : cases) {
        reason_tally tally{};
        std::string copy; // a name counts by its letters, not by where it stands

        for (const char *name : c.met) {
            copy = name;
            reason_tally_add(&tally, arena_text(a, copy.c_str(), copy.size()));
        }
        CHECK(std::string(reason_tally_text(&tally, a)) == c.want);
        CHECK(tally.total == c.met.size());
    }
}
