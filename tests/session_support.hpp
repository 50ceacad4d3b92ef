// session_support.hpp - events and graphs of workflow sessions in few words.
#pragma once
#include "tests/support.hpp"

#include <set>
#include <string>
#include <vector>

extern "C" {
#include "models/session/state.h"
}

namespace sessions
{

struct event {
    std::string id, task, host;
    std::vector<std::string> hosts; // of a started one on several: all of them
    int kind = SESSION_STARTED;
    double at = 0, progress = NAN;
    unsigned attempt = 1;
    bool final = false;

    std::vector<std::string> places() const
    {
        return hosts.empty() ? std::vector<std::string>{host} : hosts;
    }
    bool is_at(const std::string &name) const
    {
        for (const std::string &x : places())
            if (x == name)
                return true;
        return false;
    }
};

inline event of_task(int kind, const std::string &id, double at, const std::string &task,
                     unsigned attempt)
{
    event e;
    e.id = id;
    e.kind = kind;
    e.at = at;
    e.task = task;
    e.attempt = attempt;
    return e;
}
inline event started(const std::string &id, double at, const std::string &task,
                     const std::string &host, unsigned attempt = 1)
{
    event e = of_task(SESSION_STARTED, id, at, task, attempt);
    e.host = host;
    return e;
}
inline event started_on(const std::string &id, double at, const std::string &task,
                        const std::vector<std::string> &hosts, unsigned attempt = 1)
{
    event e = started(id, at, task, hosts[0], attempt);
    e.hosts = hosts;
    return e;
}
inline event ended(const std::string &id, double at, const std::string &task,
                   unsigned attempt = 1)
{
    return of_task(SESSION_ENDED, id, at, task, attempt);
}
inline event failed(const std::string &id, double at, const std::string &task,
                    unsigned attempt = 1)
{
    return of_task(SESSION_FAILED, id, at, task, attempt);
}
inline event cancelled(const std::string &id, double at, const std::string &task,
                       unsigned attempt = 1)
{
    return of_task(SESSION_CANCELLED, id, at, task, attempt);
}
inline event progress(const std::string &id, double at, const std::string &task,
                      double ratio)
{
    event e = of_task(SESSION_PROGRESS, id, at, task, 1);
    e.progress = ratio;
    return e;
}
inline event of_host(int kind, const std::string &id, double at, const std::string &host)
{
    event e;
    e.id = id;
    e.kind = kind;
    e.at = at;
    e.host = host;
    return e;
}
inline event down(const std::string &id, double at, const std::string &host)
{
    return of_host(SESSION_HOST_DOWN, id, at, host);
}
inline event up(const std::string &id, double at, const std::string &host)
{
    return of_host(SESSION_HOST_UP, id, at, host);
}

struct task {
    std::string id;
    size_t attempts_max;
    std::vector<size_t> parents;
    bool removed = false;

    task(const std::string &name, size_t most, const std::vector<size_t> &needs = {})
        : id(name), attempts_max(most), parents(needs)
    {
    }
};

// The state of a graph after events.
struct folded {
    test_arena a{size_t{1} << 24};
    std::vector<task> graph;
    std::vector<event> events;
    std::vector<session_event> list;
    std::vector<std::vector<const char *>> names; // of each event's places
    std::vector<session_task> tasks;
    session_fold fold{};
    session_state state{};

    // `part`: the fold is ended after every so many events; 0: at the end.
    folded(const std::vector<task> &g, const std::vector<event> &e, size_t part = 0)
        : graph(g), events(e)
    {
        for (const event &x : events) {
            session_event s{};
            names.emplace_back();
            for (const std::string &host : x.hosts)
                names.back().push_back(host.c_str());
            s.resource_ids = names.back().data();
            s.resource_id_count = names.back().size();
            s.event_id = x.id.c_str();
            s.kind = x.kind;
            s.observed_at_s = x.at;
            s.task_id = x.task.c_str();
            s.resource_id = x.host.c_str();
            s.attempt = x.attempt;
            s.final = x.final;
            s.progress_ratio = x.progress;
            list.push_back(s);
        }
        for (const task &x : graph)
            tasks.push_back({x.id.c_str(), x.attempts_max, x.removed, x.parents.data(),
                             x.parents.size()});
        error err{};
        REQUIRE(computed(a, &err, [&] {
                    session_fold_begin(&fold, part ? 0 : list.size(), nullptr, a);
                    for (size_t i = 0; i < list.size(); i++) {
                        session_fold_add(&fold, &list[i]);
                        if (part && i % part == 0)
                            session_fold_end(&fold);
                    }
                    session_fold_end(&fold);
                    session_state_of(tasks.data(), tasks.size(), &fold, &state, nullptr,
                                     a);
                    return OK;
                }) == OK);
    }
    int status(size_t i) const
    {
        return state.of[i].status;
    }
    std::set<std::string> cancelled() const
    {
        std::set<std::string> rows;
        for (size_t i = 0; i < state.cancel_count; i++)
            rows.insert(graph[state.cancel[i].task].id + "#" +
                        std::to_string(state.cancel[i].attempt->number) + "@" +
                        state.cancel[i].resource_id);
        return rows;
    }
    std::set<std::string> superseded() const
    {
        std::set<std::string> ids;
        for (const session_event &s : list)
            if (!session_fold_counts(&fold, &s))
                ids.insert(s.event_id);
        return ids;
    }
    // All of it, in its order.
    std::string text() const
    {
        std::string out;
        auto name = [](const session_event *e) {
            return e ? std::string(e->event_id) : std::string("-");
        };
        for (size_t i = 0; i < state.task_count; i++) {
            out += std::to_string(state.of[i].status) + "/" +
                   std::to_string(state.of[i].next_attempt);
            for (const session_attempt *t = state.of[i].attempts; t; t = t->next)
                out += " " + std::to_string(t->number) + name(t->started) +
                       name(t->terminal) + name(t->progress) + std::to_string(t->status);
            out += "\n";
        }
        for (size_t i = 0; i < state.cancel_count; i++)
            out += std::to_string(state.cancel[i].task) + "#" +
                   std::to_string(state.cancel[i].attempt->number) + "@" +
                   state.cancel[i].resource_id + name(state.cancel[i].started) + "\n";
        for (const char *host : {"n0", "n1", "n2"})
            if (const session_host *h = session_host_of(&fold, host))
                out += name(h->up) + name(h->speed) + std::to_string(h->last_down_at_s);
        return out;
    }
};

} // namespace sessions
