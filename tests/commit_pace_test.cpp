// Who has to wait while the database takes long to commit.
#include "tests/support.hpp"

extern "C" {
#include "service/commit_pace.h"
}

namespace
{
struct pace {
    commit_pace p;
    pace()
    {
        commit_pace_init(&p);
    }
    ~pace()
    {
        commit_pace_close(&p);
    }
    void note(int count, double now_s, double took_s)
    {
        for (int i = 0; i < count; i++)
            commit_pace_note(&p, now_s, took_s);
    }
    int wait(const char *owner, double now_s)
    {
        return commit_pace_wait_s(&p, owner, now_s);
    }
};
} // namespace

TEST_CASE("owners wait while the median COMMIT takes more than a second", "[pace]")
{
    pace p;

    CHECK(p.wait("a", 0) == 0);
    p.note(9, 0, 5); // too few to say
    CHECK(p.wait("a", 0) == 0);
    p.note(1, 0, 5);
    CHECK(p.wait("a", 0) == 1);
    CHECK(p.wait("a", 0.5) == 1);
    CHECK(p.wait("b", 0.5) == 1); // each owner by itself
    CHECK(p.wait("a", 1) == 0);   // let in once
    CHECK(p.wait("a", 1) == 2);
    CHECK(p.wait("a", 3) == 0);
    CHECK(p.wait("a", 3) == 4);
    double now_s = 3;
    for (int wait_s : {4, 8, 16, 30, 30}) {
        CHECK(p.wait("a", now_s) == wait_s);
        now_s += wait_s;
        p.note(10, now_s, 5);
        CHECK(p.wait("a", now_s) == 0);
    }
    CHECK(p.wait("a", now_s + 1) == 29);
    p.note(100, now_s + 2, 0.01); // quick again
    CHECK(p.wait("a", now_s + 2) == 0);
    p.note(100, now_s + 3, 2);
    CHECK(p.wait("a", now_s + 3) == 1);  // from the beginning
    CHECK(p.wait("a", now_s + 64) == 0); // nobody has committed for a minute
}

TEST_CASE("half of the commits may be slow, and more owners than are kept may wait",
          "[pace]")
{
    pace p;

    p.note(51, 0, 0.1);
    p.note(49, 0, 9);
    CHECK(p.wait("a", 0) == 0);
    p.note(60, 0, 9);
    for (int i = 0; i < 3 * PACE_OWNERS; i++)
        CHECK(p.wait(std::to_string(i).c_str(), 0.001 * i) == 1);
}
