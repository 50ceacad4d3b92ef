// session_test.cpp - the state of a workflow's run as a function of the set of its
// events.
#include "tests/session_support.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace sessions;

namespace
{

enum { IDLE = SESSION_TASK_IDLE, READY, RUNNING, DONE, FAILED, CANCELLED, BLOCKED };

// ---- a second reading of the rules, by brute force over the set of events ----

using key = std::pair<double, std::string>;

struct reference {
    const std::vector<event> &events;

    static key of(const event &e)
    {
        return {e.at, e.id};
    }
    // The event of these kinds that `better` prefers; nullptr: none.
    const event *pick(const std::string &task, unsigned attempt,
                      const std::set<int> &kinds, bool greatest) const
    {
        const event *best = nullptr;

        for (const event &e : events)
            if (e.task == task && e.attempt == attempt && kinds.count(e.kind) &&
                (!best || (greatest ? of(e) > of(*best) : of(e) < of(*best))))
                best = &e;
        return best;
    }
    const event *terminal(const std::string &task, unsigned attempt) const
    {
        for (int kind : {SESSION_ENDED, SESSION_CANCELLED, SESSION_FAILED})
            if (const event *e = pick(task, attempt, {kind}, false))
                return e;
        return nullptr;
    }
    char attempt_status(const std::string &task, unsigned attempt) const
    {
        const event *end = terminal(task, attempt);
        const event *started = pick(task, attempt, {SESSION_STARTED}, false);

        if (end)
            return end->kind == SESSION_ENDED    ? 'e'
                   : end->kind == SESSION_FAILED ? 'f'
                                                 : 'c';
        if (!started)
            return '-';
        for (const event &e : events)
            if (e.kind == SESSION_HOST_DOWN && started->is_at(e.host) &&
                e.at >= started->at)
                return 'l';
        return 'r';
    }
    std::set<unsigned> counted(const std::string &task) const
    {
        std::set<unsigned> all;

        for (const event &e : events)
            if (e.task == task && attempt_status(task, e.attempt) != '-')
                all.insert(e.attempt);
        return all;
    }
    int own(const task &t) const
    {
        std::set<unsigned> all = counted(t.id);
        unsigned failures = 0;

        if (t.removed)
            return CANCELLED;
        for (unsigned a : all) {
            if (attempt_status(t.id, a) == 'e')
                return DONE;
            failures += attempt_status(t.id, a) == 'f';
        }
        if (all.empty())
            return IDLE;
        switch (attempt_status(t.id, *all.rbegin())) {
        case 'r':
            return RUNNING;
        case 'c':
            return CANCELLED;
        case 'f':
            return terminal(t.id, *all.rbegin())->final || failures >= t.attempts_max
                       ? FAILED
                       : IDLE;
        default:
            return IDLE;
        }
    }
    bool stopped(const std::vector<task> &graph, const task &t) const
    {
        for (size_t p : t.parents)
            if (p != SESSION_NO_TASK)
                if (own(graph[p]) == FAILED || own(graph[p]) == CANCELLED ||
                    stopped(graph, graph[p]))
                    return true;
        return false;
    }
    int status(const std::vector<task> &graph, const task &t) const
    {
        int is = own(t);

        if (is != IDLE)
            return is;
        if (stopped(graph, t))
            return BLOCKED;
        for (size_t p : t.parents)
            if (p == SESSION_NO_TASK || own(graph[p]) != DONE)
                return IDLE;
        return READY;
    }
    std::set<std::string> cancel(const task &t) const
    {
        std::set<unsigned> all = counted(t.id);
        std::set<std::string> rows;

        for (unsigned a : all) {
            const event *started = pick(t.id, a, {SESSION_STARTED}, false);
            bool unwanted = own(t) == DONE || own(t) == CANCELLED || a < *all.rbegin();

            if (unwanted && attempt_status(t.id, a) == 'r')
                for (const std::string &host : started->places())
                    rows.insert(t.id + "#" + std::to_string(a) + "@" + host);
            if (terminal(t.id, a))
                continue;
            for (const event &e : events)
                for (const std::string &host : e.places())
                    if (e.kind == SESSION_STARTED && e.task == t.id && e.attempt == a &&
                        !started->is_at(host))
                        rows.insert(t.id + "#" + std::to_string(a) + "@" + host);
        }
        return rows;
    }
};

std::vector<event> draw_events(rng &r, size_t task_count, size_t count)
{
    std::vector<event> list;

    for (size_t i = 0; i < count; i++) {
        event e;

        e.id = "e" + std::to_string(rng_index(&r, 1000)) + "-" + std::to_string(i);
        e.at = double(rng_index(&r, 6)); // ties are common
        e.kind = int(rng_index(&r, SESSION_KIND_COUNT));
        if (rng_uniform(&r) < 0.5)
            e.kind = rng_uniform(&r) < 0.6 ? SESSION_STARTED : SESSION_ENDED;
        if (session_is_of_task(e.kind)) {
            e.task = "t" + std::to_string(rng_index(&r, task_count));
            e.attempt = unsigned(1 + rng_index(&r, 3));
            e.final = rng_uniform(&r) < 0.2;
            e.progress = rng_uniform(&r);
        }
        if (e.kind == SESSION_STARTED || !session_is_of_task(e.kind))
            e.host = "n" + std::to_string(rng_index(&r, 3));
        if (e.kind == SESSION_STARTED &&
            rng_uniform(&r) < 0.4) // on several, in any order
            for (size_t k = 0, first = rng_index(&r, 4), n = 2 + rng_index(&r, 2); k < n;
                 k++)
                e.hosts.push_back("n" + std::to_string((first + k) % 4));
        if (!e.hosts.empty())
            e.host = e.hosts[0];
        list.push_back(e);
    }
    return list;
}

std::vector<task> draw_graph(rng &r, size_t count)
{
    std::vector<task> list;

    for (size_t i = 0; i < count; i++) {
        task t("t" + std::to_string(i), 1 + rng_index(&r, 3));

        for (size_t j = 0; j < i; j++)
            if (rng_uniform(&r) < 0.3)
                t.parents.push_back(j);
        if (rng_uniform(&r) < 0.1)
            t.parents.push_back(SESSION_NO_TASK);
        t.removed = rng_uniform(&r) < 0.1;
        list.push_back(t);
    }
    return list;
}

} // namespace

TEST_CASE("a session's state is that of a literal reading of its rules", "[property]")
{
    for (uint64_t seed = 0; seed < 600; seed++) {
        rng r = rng_stream(seed, "session state");
        size_t tasks = rng_index(&r, 6);
        std::vector<task> graph = draw_graph(r, tasks);
        std::vector<event> events =
            tasks ? draw_events(r, tasks, rng_index(&r, 30)) : std::vector<event>{};
        reference want{events};
        folded got(graph, events);
        std::set<std::string> cancel;

        INFO("seed " << seed);
        for (size_t i = 0; i < tasks; i++) {
            std::set<unsigned> all = want.counted(graph[i].id);

            INFO("task " << graph[i].id);
            CHECK(got.state.of[i].status == want.status(graph, graph[i]));
            CHECK(got.state.of[i].next_attempt == (all.empty() ? 1 : 1 + *all.rbegin()));
            CHECK(got.state.of[i].attempt_count == all.size());
            cancel.merge(want.cancel(graph[i]));
        }
        CHECK(got.cancelled() == cancel);
        CHECK(got.state.cancel_count == cancel.size());
    }
}

TEST_CASE("an attempt on several hosts is lost with any of them", "[session]")
{
    std::vector<task> graph{{"g", 3}};
    event both = started_on("1", 5, "g", {"n1", "n2"});

    CHECK(folded(graph, {both}).status(0) == RUNNING);
    CHECK(folded(graph, {both, down("2", 6, "n3")}).status(0) == RUNNING);
    CHECK(folded(graph, {both, down("2", 4, "n2")}).status(0) == RUNNING); // before
    folded lost(graph, {both, down("2", 6, "n2")});
    CHECK(lost.status(0) == READY);
    CHECK(lost.state.of[0].next_attempt == 2);
    CHECK(folded(graph, {down("2", 6, "n2"), ended("3", 7, "g"), both}).status(0) ==
          DONE);

    // The next one starts, and the first has still ended nowhere: it is not running.
    CHECK(folded(graph,
                 {both, down("2", 6, "n2"), started_on("3", 8, "g", {"n1", "n3"}, 2)})
              .cancelled()
              .empty());
}

TEST_CASE("each host of a process that nobody needs is named", "[session]")
{
    std::vector<task> graph{{"g", 3}};

    CHECK(folded(graph, {started_on("1", 5, "g", {"n1", "n2"}),
                         started_on("2", 6, "g", {"n3", "n4"}, 2)})
              .cancelled() == std::set<std::string>{"g#1@n1", "g#1@n2"});
    // The least start is the attempt; of another one what only that names.
    folded twice(graph, {started_on("2", 6, "g", {"n2", "n3"}),
                         started_on("1", 5, "g", {"n1", "n2"})});
    CHECK(twice.cancelled() == std::set<std::string>{"g#1@n3"});
    CHECK(twice.superseded() == std::set<std::string>{"2"});
}

TEST_CASE("no order and no repetition of events changes a session's state", "[property]")
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        rng r = rng_stream(seed, "session order");
        std::vector<task> graph = draw_graph(r, 5);
        std::vector<event> events = draw_events(r, 5, 25);
        std::string want = folded(graph, events).text();

        for (int round = 0; round < 20; round++) {
            for (size_t i = events.size(); i > 1; i--)
                std::swap(events[i - 1], events[rng_index(&r, i)]);
            std::vector<event> doubled = events;
            doubled.insert(doubled.end(), events.begin(),
                           events.begin() + long(rng_index(&r, events.size() + 1)));
            REQUIRE(folded(graph, doubled).text() == want);
            REQUIRE(folded(graph, doubled, 1 + rng_index(&r, 7)).text() == want);
        }
    }
}

TEST_CASE("what was folded takes events of ever more tasks and hosts", "[property]")
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        rng r = rng_stream(seed, "session growth");
        std::vector<task> graph = draw_graph(r, 50);
        std::vector<event> events = draw_events(r, 50, 300);

        for (event &e : events)
            if (!session_is_of_task(e.kind))
                e.host = "n" + std::to_string(rng_index(&r, 60));
        INFO("seed " << seed);
        folded once(graph, events), grown(graph, events, 1 + rng_index(&r, 20));
        REQUIRE(grown.text() == once.text());
        for (int i = 0; i < 60; i++) {
            std::string host = "n" + std::to_string(i);
            const session_host *want = session_host_of(&once.fold, host.c_str());
            const session_host *got = session_host_of(&grown.fold, host.c_str());

            REQUIRE((want == nullptr) == (got == nullptr));
            if (want)
                CHECK(got->last_down_at_s == want->last_down_at_s);
        }
    }
}

TEST_CASE("an attempt that ended is done whether its host went down before or after",
          "[session]")
{
    std::vector<event> events = {started("1", 0, "a", "n1"), down("2", 5, "n1"),
                                 ended("3", 6, "a")};

    CHECK(folded({{"a", 3}}, events).status(0) == DONE);
    std::reverse(events.begin(), events.end());
    CHECK(folded({{"a", 3}}, events).status(0) == DONE);
    events.erase(events.begin()); // without ended: lost, and to be tried anew
    CHECK(folded({{"a", 3}}, events).status(0) == READY);
    CHECK(folded({{"a", 3}}, events).state.of[0].next_attempt == 2);
}

TEST_CASE("a task fails after attempts_max failures, of which lost attempts are none",
          "[session]")
{
    std::vector<task> graph = {{"a", 3}, {"b", 3, {0}}, {"d", 3}};
    std::vector<event> events;
    const int want[] = {READY, READY, FAILED};

    for (unsigned i = 1; i <= 3; i++) {
        events.push_back(failed("f" + std::to_string(i), i, "a", i));
        CHECK(folded(graph, events).status(0) == want[i - 1]);
    }
    CHECK(folded(graph, events).status(1) == BLOCKED);
    CHECK(folded(graph, events).status(2) == READY);
    events[1] = started("s2", 2, "a", "n1", 2);
    events.push_back(down("x", 2.5, "n1"));
    CHECK(folded(graph, events).status(0) == READY);
    CHECK(folded(graph, events).status(1) == IDLE);
    events[0].final = true; // an older attempt's word is not the last
    CHECK(folded(graph, events).status(0) == READY);
    events[2].final = true;
    CHECK(folded(graph, events).status(0) == FAILED);
}

TEST_CASE("registers keep the least start, the strongest end and the latest progress",
          "[session]")
{
    std::vector<event> events = {
        started("b", 1, "a", "n2"),
        started("a", 1, "a", "n1"),
        failed("c", 0, "a"),
        ended("e", 3, "a"),
        ended("d", 3, "a"),
        progress("p", 4, "a", 0.5),
        progress("q", 3.5, "a", 0.9),
        down("x", 7, "n3"),
        down("y", 6, "n3"),
        up("z", 8, "n3"),
        up("w", 5, "n3"),
    };
    folded f({{"a", 3}}, events);

    CHECK(f.status(0) == DONE);
    CHECK(f.superseded() == std::set<std::string>{"b", "c", "e", "q", "w"});
    CHECK(f.cancelled().empty()); // it has ended
    CHECK_FALSE(session_host_is_down(session_host_of(&f.fold, "n3")));
    CHECK(session_host_of(&f.fold, "n3")->last_down_at_s == 7);
}

TEST_CASE("two processes of one attempt: the later one is to be cancelled", "[session]")
{
    std::vector<event> events = {started("1", 0, "a", "n2"), started("2", 1, "a", "n1"),
                                 started("3", 2, "a", "n3"), started("4", 2, "a", "n2")};
    folded f({{"a", 3}}, events);

    CHECK(f.status(0) == RUNNING);
    CHECK(f.cancelled() == std::set<std::string>{"a#1@n1", "a#1@n3"});
    CHECK(f.state.cancel[0].holds);
    events.push_back(down("5", 4, "n2"));
    folded lost({{"a", 3}}, events);
    CHECK(lost.cancelled() == std::set<std::string>{"a#1@n1", "a#1@n3"});
    CHECK_FALSE(lost.state.cancel[0].holds);
}

TEST_CASE("a session is finished, stuck or running", "[session]")
{
    std::vector<task> graph = {{"a", 1}, {"b", 1, {0}}};
    auto status = [&](const std::vector<event> &events, size_t granted = 0) {
        folded f(graph, events);
        return session_status_of(&f.state, granted);
    };

    CHECK(status({}) == SESSION_IS_RUNNING);
    CHECK(status({ended("1", 0, "a")}) == SESSION_IS_RUNNING);
    CHECK(status({ended("1", 0, "a"), ended("2", 0, "b")}) == SESSION_IS_FINISHED);
    CHECK(status({ended("1", 0, "a"), cancelled("2", 0, "b")}) == SESSION_IS_FINISHED);
    CHECK(status({failed("1", 0, "a")}) == SESSION_IS_STUCK);
    CHECK(status({failed("1", 0, "a")}, 1) == SESSION_IS_RUNNING);
    graph.clear();
    CHECK(status({}) == SESSION_IS_RUNNING);
}

TEST_CASE("an overdue attempt lasts another quarter of what it has lasted", "[session]")
{
    struct {
        double total_s, elapsed_s, want_s;
    } cases[] = {{6, 3, 3},  {6, 8, 2},        {6, 0, 6},
                 {10, 8, 2}, {10, 8.5, 2.125}, {0, 0, 0}};

    for (auto &c : cases)
        CHECK(session_remaining_s(c.total_s, c.elapsed_s) == Approx(c.want_s));
}

TEST_CASE("progress tells the whole of a running attempt", "[session]")
{
    std::vector<event> events = {started("1", 10, "a", "n1")};
    auto total = [&](double ratio, double at) {
        std::vector<event> all = events;
        all.push_back(progress("2", at, "a", ratio));
        folded f({{"a", 3}}, all);
        return session_total_s(6, f.state.of[0].shown);
    };

    CHECK(total(0.25, 16) == 24);
    CHECK(total(0, 16) == 6);
    CHECK(total(1, 16) == 6);
    CHECK(total(0.5, 10) == 6); // at its start, and before
    CHECK(total(0.5, 9) == 6);
}

TEST_CASE("attempts of a task that are gone through are counted", "[session]")
{
    test_arena a;
    std::vector<std::string> ids;
    std::vector<session_event> events(2000);
    budget b{};
    session_fold fold;

    for (int i = 0; i < 2000; i++)
        ids.push_back("e" + std::to_string(i));
    for (size_t i = 0; i < events.size(); i++) {
        events[i].event_id = ids[i].c_str();
        events[i].task_id = "t";
        events[i].kind = SESSION_PROGRESS;
        events[i].attempt = unsigned(i % 1000 + 1);
    }
    b.left = 1000000000;
    session_fold_all(events.data(), events.size(), &fold, &b, a);
    CHECK(1000000000 - b.left >= 2 * 1000 * 999 / 2);
    b.left = 1000000000;
    for (const session_event &e : events)
        session_fold_counts(&fold, &e);
    CHECK(1000000000 - b.left >= 2 * 1000 * 999 / 2);
}
