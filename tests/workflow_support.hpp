// workflow_support.hpp - workflows, grids and decisions for the tests of static policies.
#pragma once
#include "tests/support.hpp"

#include <deque>
#include <fstream>
#include <sstream>

extern "C" {
#include "algorithms/workflow/check.h"
#include "algorithms/workflow/problem.h"
}

namespace flows
{

inline const double none = std::nan("");

struct dependency {
    size_t parent; // of the same workflow
    double transfer_s = none;
    double bytes = none;
};

struct task {
    workflow_task given{};
    std::string id;
    std::vector<double> etc_s;
    std::vector<dependency> parents;
    std::vector<std::string> files;

    task() : task("")
    {
    }
    explicit task(std::string name, double estimate_ref_s = none) : id(std::move(name))
    {
        given.estimate_ref_s = estimate_ref_s;
        given.estimate_s = none;
        given.start_s = given.finish_s = given.progress_pct = given.elapsed_s = none;
        given.work_done_ref_s = given.checkpoint_work_ref_s = none;
        given.since_last_move_s = given.weight = none;
    }
};

inline resource make_resource(const char *id, double mips = 1, const char *site = nullptr)
{
    resource r{};

    r.id = id;
    r.site_id = site;
    r.mips_total = mips;
    r.cpu_available_ratio = 1;
    r.cpus = r.memory_bytes = r.n_max = none;
    r.observed_at_s = r.observed_since_s = r.last_failure_at_s = r.up_since_s = none;
    return r;
}

// A request with everything that it points to.
struct request {
    std::vector<std::vector<task>> workflows{1};
    std::vector<std::string> workflow_ids;
    std::vector<resource> resources;
    std::deque<std::string> names; // of resources
    std::vector<file> files;
    std::vector<network_route> routes;
    std::vector<workflow_window> windows;
    snapshot grid{};
    workflow_in in{};
    bool single = true;

    request()
    {
        grid.taken_at_s = grid.list_observed_at_s = none;
        grid.network.wan_mbps = grid.network.wan_latency_s = none;
        grid.network.lan_mbps = grid.network.lan_latency_s = none;
        in.seed = 1;
    }
    std::vector<task> &tasks()
    {
        return workflows[0];
    }
    resource &add_resource(double mips = 1, const char *site = nullptr)
    {
        names.push_back("p" + std::to_string(names.size()));
        resources.push_back(make_resource(names.back().c_str(), mips, site));
        return resources.back();
    }
    task &add_task(const std::string &id, double estimate_ref_s = none)
    {
        tasks().emplace_back(id, estimate_ref_s);
        return tasks().back();
    }

    // The input; good until the request changes.
    const workflow_in *build()
    {
        built_.clear();
        built_.resize(workflows.size());
        workflows_.assign(workflows.size(), workflow{});
        for (size_t w = 0; w < workflows.size(); w++)
            build_workflow(w);
        grid.resources = resources.data();
        grid.resource_count = resources.size();
        grid.files = files.data();
        grid.file_count = files.size();
        grid.network.routes = routes.data();
        grid.network.route_count = routes.size();
        in.snapshot = &grid;
        in.workflows = workflows_.data();
        in.workflow_count = workflows_.size();
        in.windows = windows.data();
        in.window_count = windows.size();
        in.single = single;
        return &in;
    }

  private:
    struct built {
        std::vector<workflow_task> tasks;
        std::vector<std::vector<workflow_dependency>> dependencies;
        std::vector<std::vector<const char *>> files;
    };
    std::deque<built> built_;
    std::vector<workflow> workflows_;

    void build_workflow(size_t w)
    {
        const auto &list = workflows[w];
        built &b = built_[w];

        b.dependencies.resize(list.size());
        b.files.resize(list.size());
        for (size_t i = 0; i < list.size(); i++) {
            workflow_task t = list[i].given;

            for (const dependency &d : list[i].parents)
                b.dependencies[i].push_back(
                    {d.parent < list.size() ? list[d.parent].id.c_str() : "nobody",
                     d.transfer_s, d.bytes});
            for (const std::string &f : list[i].files)
                b.files[i].push_back(f.c_str());
            t.id = list[i].id.c_str();
            t.etc_s = list[i].etc_s.data();
            t.etc_count = list[i].etc_s.size();
            t.depends_on = b.dependencies[i].data();
            t.dependency_count = b.dependencies[i].size();
            t.input_file_ids = b.files[i].data();
            t.input_file_count = b.files[i].size();
            b.tasks.push_back(t);
        }
        workflows_[w].id = w < workflow_ids.size() ? workflow_ids[w].c_str() : nullptr;
        workflows_[w].submitted_at_s = none;
        workflows_[w].tasks = b.tasks.data();
        workflows_[w].task_count = b.tasks.size();
    }
};

// a -> b, 10 reference seconds each, on two resources of speed 1 and 2.
inline request two_tasks()
{
    request r;

    r.add_resource(1, "s0");
    r.add_resource(2, "s1");
    r.add_task("a", 10);
    r.add_task("b", 10).parents.push_back({0, none, none});
    return r;
}

struct placed {
    std::string workflow, task, resource;
    double start_s, finish_s, data_ready_s;
    uint64_t slot;
    int status;
};

struct refused {
    std::string task, reason, detail;
    uint64_t resource_count;
};

struct decision {
    enum decision_status status;
    std::string algorithm, because;
    std::vector<placed> schedule;
    std::vector<refused> unplaced;
    std::vector<std::string> critical, warnings;
    workflow_objective objective;

    const placed &of(const std::string &id) const
    {
        for (const placed &p : schedule)
            if (p.task == id)
                return p;
        FAIL("no place for " << id);
        return schedule.front();
    }
    const refused *missing(const std::string &id) const
    {
        for (const refused &u : unplaced)
            if (u.task == id)
                return &u;
        return nullptr;
    }
};

// Policies that search do so for some steps.
inline decision decide(request &r, const char *policy, bool slots = false,
                       budget *limit = nullptr)
{
    test_arena a(size_t{2} << 30);
    error err = collecting_error(a);
    std::vector<named_value> options;
    workflow_out out{};
    decision d{};

    INFO(policy);
    REQUIRE(policy_find(workflow_policies, policy) != nullptr);
    options.push_back({"slots", VALUE_BOOLEAN, slots ? 1.0 : 0.0, nullptr});
    for (const param *p = policy_find(workflow_policies, policy)->params; p->name; p++)
        if (std::strcmp(p->name, "max_steps") == 0)
            options.push_back({"max_steps", VALUE_NUMBER, 100, nullptr});
    r.in.budget = limit;
    if (workflow_decide(r.build(), policy_find(workflow_policies, policy), options.data(),
                        options.size(), &out, a, &err) != OK)
        FAIL(err.field << ": " << err.text);
    d.status = out.status;
    d.algorithm = out.algorithm;
    d.because = out.because ? out.because : "";
    d.objective = out.objective;
    for (size_t i = 0; i < out.schedule_count; i++) {
        const workflow_placement &p = out.schedule[i];

        d.schedule.push_back({p.workflow_id ? p.workflow_id : "", p.task_id,
                              p.resource_id ? p.resource_id : "", p.start_s, p.finish_s,
                              p.data_ready_s, p.slot, p.status});
    }
    for (size_t i = 0; i < out.unplaced_count; i++)
        d.unplaced.push_back({out.unplaced[i].task_id, out.unplaced[i].reason,
                              out.unplaced[i].detail, out.unplaced[i].resource_count});
    for (size_t i = 0; i < out.critical_count; i++)
        d.critical.push_back(out.critical_tasks[i]);
    for (size_t i = 0; i < out.warning_count; i++)
        d.warnings.push_back(out.warnings[i]);
    return d;
}

// All mistakes of a request, as "pointer kind".
inline std::vector<std::string> mistakes(request &r, std::string *text = nullptr)
{
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    std::vector<std::string> list;
    enum error_code code = workflow_problem_make(r.build(), false, &problem, a, &err);

    CHECK((code == OK) == (err.item_count == 0));
    for (const error_item *i = err.first; i; i = i->next) {
        list.push_back(std::string(i->pointer) + " " + item_kinds[i->code].name);
        if (text)
            *text = i->detail;
    }
    return list;
}

// The schedule as rows of check.h.
inline workflow_check_out check(request &r, const std::vector<placed> &schedule, arena *a)
{
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    workflow_check_out out{};
    std::vector<workflow_given> given;

    if (workflow_problem_make(r.build(), false, &problem, a, &err) != OK)
        FAIL(err.field << ": " << err.text);
    for (const placed &p : schedule)
        given.push_back({p.workflow.empty() ? nullptr : p.workflow.c_str(),
                         p.task.c_str(), p.resource.c_str(), p.start_s, p.finish_s, none,
                         nullptr, 0});
    if (workflow_check(problem, nullptr, given.data(), given.size(), &out, a, &err) != OK)
        FAIL(err.field << ": " << err.text);
    return out;
}

// A graph by its matrices: times[task][processor], edges {parent, child, transfer}.
struct edge {
    size_t parent, child;
    double transfer_s;
};

inline request by_matrix(const std::vector<std::vector<double>> &times,
                         const std::vector<edge> &edges)
{
    request r;

    for (size_t p = 0; p < times[0].size(); p++)
        r.add_resource(0); // its speed must not matter
    for (size_t i = 0; i < times.size(); i++)
        r.add_task(std::to_string(i)).etc_s = times[i];
    for (const edge &e : edges)
        r.tasks()[e.child].parents.push_back({e.parent, e.transfer_s, none});
    return r;
}

} // namespace flows
