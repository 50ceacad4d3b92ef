// The search for the best schedule of a workflow, and the bounds that prove it.
#include "tests/workflow_brute.hpp"

#include <algorithm>

extern "C" {
#include "algorithms/workflow/search_anew.h"
#include "algorithms/workflow/search_groups.h"
#include "algorithms/workflow/symmetry.h"
}

using namespace flows;

namespace
{

struct searched {
    enum decision_status status;
    workflow_objective objective;
    std::vector<placed> schedule;
    uint64_t steps;
};

searched search(request &r, double max_steps, const char *policy = "search")
{
    test_arena a(size_t{2} << 30);
    error err = collecting_error(a);
    named_value option = {"max_steps", VALUE_NUMBER, max_steps, nullptr};
    workflow_out out{};
    searched s{};

    if (workflow_decide(r.build(), policy_find(workflow_policies, policy), &option, 1,
                        &out, a, &err) != OK)
        FAIL(err.field << ": " << err.text);
    s.status = out.status;
    s.objective = out.objective;
    s.steps = out.steps;
    for (size_t i = 0; i < out.schedule_count; i++) {
        const workflow_placement &p = out.schedule[i];

        s.schedule.push_back({"", p.task_id, p.resource_id ? p.resource_id : "",
                              p.start_s, p.finish_s, 0, 0, 0});
    }
    return s;
}

// Few tasks with whole times and transfers.
request tiny(uint64_t seed, size_t n, size_t processors)
{
    rng d = rng_stream(seed, "search tests");
    std::vector<std::vector<double>> times(n, std::vector<double>(processors));
    std::vector<edge> edges;

    for (auto &row : times)
        for (double &time_s : row)
            time_s = (double)rng_index(&d, 9);
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (rng_uniform(&d) < 0.4)
                edges.push_back({j, i, (double)rng_index(&d, 7)});
    return by_matrix(times, edges);
}

struct proof {
    double makespan_s, nodes;
    bool proven;
};

// What the exact part needs from the plan of heft on.
proof prove(request &r)
{
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    workflow_searching s{};
    workflow_bound bound{};
    workflow_plan plan{};

    REQUIRE(workflow_problem_make(r.build(), false, &problem, a, &err) == OK);
    s.problem = problem;
    s.arena = a;
    s.clock = workflow_clock_make(nullptr, 1);
    s.steps_most = HUGE_VAL;
    REQUIRE(workflow_plan_make(problem, &plan, a) == OK);
    workflow_order_make(problem, &s.best, a);
    REQUIRE(workflow_heft(problem, nullptr, &plan, a, &err) == OK);
    workflow_order_of_plan(problem, &plan, &s.best, a);
    s.best.makespan_s = workflow_plan_makespan_s(problem, &plan);
    REQUIRE(workflow_bound_parts(problem, EFFORT_FULL, &s.clock, &bound, &s.heads,
                                 &s.area, a) == OK);
    s.grain_s = bound.grain_s;
    workflow_search_exact(&s, 1e6);
    return {s.best.makespan_s, s.steps, s.exact_s == s.best.makespan_s};
}

// "0: 5, 10, 15" rows below #tasks, "0: from, to, transfer" below #edges.
request read_small(const std::string &path)
{
    std::ifstream file(path);
    std::vector<std::vector<double>> times;
    std::vector<edge> edges;
    std::string line, part;

    REQUIRE(file.good());
    while (std::getline(file, line)) {
        std::vector<double> row;
        std::string numbers;

        if (line[0] == '#') {
            part = line.substr(0, line.find_last_not_of(" \r") + 1);
            continue;
        }
        if (line.find(':') == std::string::npos)
            continue;
        numbers = line.substr(line.find(':') + 1);
        std::replace(numbers.begin(), numbers.end(), ',', ' ');
        std::istringstream in(numbers);
        for (double x; in >> x;)
            row.push_back(x);
        if (part == "#tasks")
            times.push_back(row);
        else if (part == "#edges")
            edges.push_back({(size_t)row.at(0), (size_t)row.at(1), row.at(2)});
    }
    return by_matrix(times, edges);
}

} // namespace

TEST_CASE("search proves the optimum of small graphs", "[workflow][property]")
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        request r = tiny(seed, 2 + seed % 5, 1 + seed % 3);
        test_arena a;
        searched s = search(r, 1e6);

        INFO("seed " << seed);
        CHECK(s.status == DECISION_OPTIMAL);
        CHECK(s.objective.makespan_s == Approx(least_makespan_s(r)).margin(1e-9));
        CHECK(check(r, s.schedule, a).valid);
    }
}

TEST_CASE("no bound is above the optimum", "[workflow][property]")
{
    for (uint64_t seed = 100; seed < 200; seed++) {
        request r = tiny(seed, 2 + seed % 5, 1 + seed % 3);
        test_arena a;
        error err = collecting_error(a);
        workflow_problem *problem = nullptr;
        workflow_heads heads;
        workflow_area area;
        workflow_clock clock = workflow_clock_make(nullptr, 1);
        double best_s = least_makespan_s(r), path_s = 0;

        REQUIRE(workflow_problem_make(r.build(), false, &problem, a, &err) == OK);
        REQUIRE(workflow_heads_make(problem, &clock, &heads, a) == OK);
        workflow_area_make(problem, &heads, AREA_STEPS_MOST, &clock, &area, a);
        for (size_t i = 0; i < problem->task_count; i++) {
            double least_s = HUGE_VAL;

            for (size_t p = 0; p < problem->processor_count; p++) {
                size_t at = i * problem->processor_count + p;

                least_s = std::min(least_s, heads.head_s[at] + heads.tail_s[at]);
            }
            path_s = std::max(path_s, least_s);
        }
        INFO("seed " << seed);
        CHECK(path_s <= best_s + 1e-9);
        CHECK(area.area_s <= best_s + 1e-9);
    }
}

TEST_CASE("two parents meet: beside each other with a transfer, or one after the other",
          "[workflow]")
{
    /* 4 and 4, then 2; transfers of 3: 4 + 3 + 2 = 9 with one of them elsewhere, 4 + 4 +
     * 2 = 10 on one processor; the plain critical path says 6. */
    request r = by_matrix({{4, 4}, {4, 4}, {2, 2}}, {{0, 2, 3}, {1, 2, 3}});
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    workflow_bound bound;

    REQUIRE(workflow_problem_make(r.build(), false, &problem, a, &err) == OK);
    REQUIRE(workflow_bound_make(problem, &bound, a) == OK);
    CHECK(bound.critical_path_s == 6);
    CHECK(bound.lower_bound_s == Approx(9).epsilon(1e-9));
    CHECK(search(r, 100).status == DECISION_OPTIMAL);
}

TEST_CASE("equal processors and tasks are tried once", "[workflow]")
{
    const double times_s[] = {17, 13, 11, 19, 23, 7, 29, 5, 3, 31};
    const double best_s[] = {53, 40};

    for (size_t k = 0; k < 2; k++) {
        std::vector<std::vector<double>> times;

        for (double time_s : times_s)
            times.push_back(std::vector<double>(3 + k, time_s));
        request r = by_matrix(times, {});
        proof p = prove(r);

        CHECK(p.makespan_s == best_s[k]);
        CHECK(p.proven);
        CHECK(p.nodes <= 50);
    }
    // Twelve tasks of the same length, on processors of two kinds.
    request same = by_matrix(std::vector<std::vector<double>>(12, {7, 7, 7, 9, 9}), {});
    proof p = prove(same);
    CHECK(p.proven);
    CHECK(p.makespan_s == 21);
    CHECK(p.nodes <= 200);
}

TEST_CASE("what makes two processors, or two tasks, different", "[workflow]")
{
    auto classes = [](request &r, bool slots = false) {
        test_arena a;
        error err = collecting_error(a);
        workflow_problem *problem = nullptr;
        workflow_clock clock = workflow_clock_make(nullptr, 1);
        size_t *same = nullptr;

        REQUIRE(workflow_problem_make(r.build(), slots, &problem, a, &err) == OK);
        workflow_equal_processors(problem, &clock, &same, a);
        return std::vector<size_t>(same, same + problem->processor_count);
    };
    using list = std::vector<size_t>;
    request r;

    for (size_t p = 0; p < 3; p++)
        r.add_resource(1);
    r.add_task("a", 3).given.output_bytes = 1e9;
    r.add_task("b", 3).parents.push_back({0, none, none});
    CHECK(classes(r) == list{0, 0, 0});
    r.resources[1].ready_s = 1;
    CHECK(classes(r) == list{0, 1, 0});
    r.resources[1].ready_s = 0;
    r.resources[1].mips_total = 2;
    CHECK(classes(r) == list{0, 1, 0});
    r.resources[1].mips_total = 1;
    r.windows = {{"p2", 0, 9}};
    CHECK(classes(r) == list{0, 0, 2});
    r.windows.clear();
    r.tasks()[0].given.status = WORKFLOW_DONE; // its output is on p1
    r.tasks()[0].given.resource_id = "p1";
    r.grid.network.wan_mbps = 8;
    for (size_t p = 0; p < 3; p++)
        r.resources[p].site_id = p == 0 ? "s0" : p == 1 ? "s1" : "s2";
    CHECK(classes(r) == list{0, 1, 0});
    r.tasks()[0].given.status = WORKFLOW_IDLE;
    CHECK(classes(r) == list{0, 0, 0});
    r.routes = {{"s0", "s1", 80, 0}};
    CHECK(classes(r) != list{0, 0, 0});
    r.routes.clear();
    r.resources[0].n_max = 2; // slots of one resource, and of another
    r.resources[1].n_max = 2;
    r.tasks()[1].parents[0].transfer_s = 5;
    CHECK(classes(r, true) == list{0, 0, 2, 2, 4});

    request t = by_matrix({{1, 1}, {2, 3}, {2, 3}, {2, 3}, {4, 4}},
                          {{0, 1, 5}, {0, 2, 5}, {0, 3, 6}, {1, 4, 1}, {2, 4, 1}});
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    REQUIRE(workflow_problem_make(t.build(), false, &problem, a, &err) == OK);
    CHECK(workflow_equal_tasks(problem, 1, 2));
    CHECK_FALSE(workflow_equal_tasks(problem, 1, 3));
    CHECK_FALSE(workflow_equal_tasks(problem, 0, 4));
}

TEST_CASE("search: the same steps give the same schedule, more are never worse",
          "[workflow][property]")
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        request r = tiny(seed, 40, 4);
        double last_s = HUGE_VAL;

        for (double steps : {1.0, 100.0, 3000.0}) {
            searched s = search(r, steps), again = search(r, (double)s.steps);
            test_arena a;

            INFO("seed " << seed << ", " << steps << " steps");
            CHECK(s.steps <= steps);
            CHECK(s.objective.makespan_s <= last_s);
            CHECK(s.objective.makespan_s == again.objective.makespan_s);
            CHECK(s.objective.lower_bound_s <= s.objective.makespan_s);
            CHECK(check(r, s.schedule, a).valid);
            last_s = s.objective.makespan_s;
        }
        CHECK(last_s <= decide(r, "heft").objective.makespan_s);
        CHECK(last_s <= decide(r, "peft").objective.makespan_s);
    }
}

TEST_CASE("search finds the known optimum of published graphs", "[workflow]")
{
    const char *data = getenv("GRIDPLAN_DATA");
    struct known {
        const char *file;
        double best_s;
    };

    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    for (const known &k :
         {known{"Ahmad-3-9", 27}, known{"Hamid-3-10", 100}, known{"Ilavarasan-3-10", 73},
          known{"Kuan-3-10", 26}, known{"Sample-3-8", 81}}) {
        request r =
            read_small(std::string(data) + "/04-dag/small-literature/" + k.file + ".txt");
        searched s = search(r, 1e6);

        INFO(k.file << ", " << s.steps << " steps");
        CHECK(s.objective.makespan_s == Approx(k.best_s).epsilon(1e-12));
        CHECK(s.status == DECISION_OPTIMAL);
    }
}

namespace
{

// How often it found something better.
size_t repeats(uint64_t seed)
{
    request r = tiny(seed, 40, 4);
    test_arena a(size_t{1} << 30);
    error err = collecting_error(a);
    const struct policy *policy = policy_find(workflow_policies, "search");
    workflow_out first{}, again{}, none{};
    named_value steps = {"max_steps", VALUE_NUMBER, 300, nullptr};

    REQUIRE(workflow_decide(r.build(), policy, &steps, 1, &first, a, &err) == OK);
    REQUIRE(first.best_list != nullptr);
    CHECK(std::string(first.bound_effort) == "full");
    CHECK(first.best_list->value >= first.objective.makespan_s);
    CHECK(first.check_failure == nullptr);
    REQUIRE(first.bound_count >= 2);
    CHECK(first.bounds[0].value_s == first.objective.lower_bound_s);
    for (size_t i = 1; i < first.bound_count; i++)
        CHECK(first.bounds[i].value_s <= first.bounds[i - 1].value_s);
    CHECK(first.improvement_count <= IMPROVEMENTS_MAX);
    for (size_t i = 1; i < first.improvement_count; i++)
        CHECK(first.improved_at_steps[i].value < first.improved_at_steps[i - 1].value);

    named_value same[] = {
        {"max_steps", VALUE_NUMBER, (double)first.steps, nullptr},
        {"bound_effort", VALUE_TEXT, 0, first.bound_effort},
        {"start", VALUE_TEXT, 0, first.best_list->algorithm},
    };
    REQUIRE(workflow_decide(r.build(), policy, same, 3, &again, a, &err) == OK);
    REQUIRE(again.schedule_count == first.schedule_count);
    for (size_t i = 0; i < first.schedule_count; i++) {
        CHECK(std::string(first.schedule[i].task_id) == again.schedule[i].task_id);
        CHECK(std::string(first.schedule[i].resource_id) ==
              again.schedule[i].resource_id);
        CHECK(first.schedule[i].start_s == again.schedule[i].start_s);
    }

    named_value no_bounds = {"bound_effort", VALUE_TEXT, 0, "none"};
    REQUIRE(workflow_decide(r.build(), policy, &no_bounds, 1, &none, a, &err) == OK);
    CHECK(none.objective.lower_bound_s <= first.objective.lower_bound_s);
    CHECK(none.bound_count == 2); // of rung 0: the path and the area
    return first.improvement_count;
}

} // namespace

TEST_CASE("a search repeats by steps, effort and start, and says what it gained",
          "[workflow]")
{
    size_t improvements = 0;

    for (uint64_t seed = 0; seed < (is_shorter() ? 3 : 6); seed++) {
        INFO("seed " << seed);
        improvements += repeats(seed);
    }
    CHECK(improvements > 0);
}

TEST_CASE("insertion: what a move is estimated at, and what it comes to", "[workflow]")
{
    // a, b, c, d, e; p0: a b e, p1: c d
    request r = by_matrix({{4, 5}, {6, 7}, {5, 5}, {3, 3}, {4, 4}},
                          {{0, 3, 2}, {1, 4, 3}, {2, 4, 1}});
    const size_t tasks[] = {0, 1, 2, 3, 4}, at[] = {0, 0, 1, 1, 0};
    const double starts_s[] = {0, 4, 0, 6, 10}, tails_s[] = {10, 4, 5, 0, 0};
    const double times_s[] = {4, 6, 5, 3, 4};
    struct place {
        size_t task, spot;
        double est_s, comes_to_s;
    };
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    workflow_searching s{};
    workflow_state state{};

    REQUIRE(workflow_problem_make(r.build(), false, &problem, a, &err) == OK);
    s.problem = problem;
    s.arena = a;
    workflow_order_make(problem, &s.best, a);
    std::copy(tasks, tasks + 5, s.best.task);
    std::copy(at, at + 5, s.best.processor);
    workflow_state_make(&state, &s);
    workflow_state_load(&state, &s.best);
    CHECK(state.makespan_s == 14);
    for (size_t i = 0; i < 5; i++) {
        CHECK(state.start_s[i] == starts_s[i]);
        CHECK(state.rest_s[i] == tails_s[i] + times_s[i]);
    }
    // To p1, before the task at `spot` of c, d.
    for (const place &x : {place{1, 0, 17, 17}, place{1, 1, 19, 19}, place{1, 2, 23, 23},
                           place{4, 1, 20, 20}, place{4, 2, 17, 17}}) {
        const workflow_lane &lane = state.lanes[1];
        double ready_s = workflow_state_ready_s(&state, x.task, 1);
        double follows_s = workflow_state_follows_s(&state, x.task, 1);

        if (x.spot > 0)
            ready_s = std::max(ready_s, state.finish_s[lane.task[x.spot - 1]]);
        if (x.spot < lane.count)
            follows_s = std::max(follows_s, state.rest_s[lane.task[x.spot]]);
        INFO(x.task << " at " << x.spot);
        CHECK(ready_s + workflow_state_time_s(&state, x.task, 1) + follows_s == x.est_s);
        workflow_state_put(&state, x.task, {1, x.spot}, 0);
        workflow_state_work_out(&state);
        CHECK(state.makespan_s == x.comes_to_s);
        workflow_state_load(&state, &s.best);
    }
}

// b and c cost two transfers where they are; each of them alone would still cost two.
TEST_CASE("a group moves with what hangs on it", "[workflow]")
{
    // a, b, c, d one after the other; p0: a d, p1: b c
    request r =
        by_matrix({{1, 1}, {1, 2}, {1, 1}, {1, 1}}, {{0, 1, 10}, {1, 2, 10}, {2, 3, 10}});
    const size_t tasks[] = {0, 1, 2, 3}, at[] = {0, 1, 1, 0};
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    workflow_searching s{};
    workflow_state state{};
    workflow_groups groups{};
    workflow_group_move move{};
    double units = 0;

    REQUIRE(workflow_problem_make(r.build(), false, &problem, a, &err) == OK);
    s.problem = problem;
    s.arena = a;
    workflow_order_make(problem, &s.best, a);
    std::copy(tasks, tasks + 4, s.best.task);
    std::copy(at, at + 4, s.best.processor);
    workflow_state_make(&state, &s);
    workflow_state_load(&state, &s.best);
    CHECK(state.makespan_s == 25);
    workflow_groups_make(&groups, &state, a);
    for (workflow_direction way : {WORKFLOW_CHILDREN, WORKFLOW_PARENTS}) {
        size_t task = way == WORKFLOW_CHILDREN ? 1 : 2, other = 3 - task;

        move.est_s = HUGE_VAL;
        CHECK(workflow_groups_weigh(&groups, other, way, &units, &move) == 0);
        CHECK(workflow_groups_weigh(&groups, task, way, &units, &move) == 1);
        CHECK(move.est_s == 4);
        CHECK(move.group.count == 2);
        CHECK(move.to.processor == 0);
        CHECK(move.to.spot == 1);
    }
    workflow_group_put(&state, &move);
    workflow_state_work_out(&state);
    CHECK(state.makespan_s == 4);
}

namespace
{

enum bystander { NO_PLACE, DONE_EVERYWHERE, DONE_SOMEWHERE, RUNS, STAGES, BYSTANDERS };

// A task that no search moves, below one of the first `own` tasks and above a later one.
void add_bystander(request &r, size_t own, bystander kind, rng &d)
{
    size_t n = r.tasks().size(), processors = r.resources.size();
    size_t above = rng_index(&d, own), below = rng_index(&d, own);
    bool bytes = rng_uniform(&d) < 0.5;
    double size = (double)rng_index(&d, 3) * (bytes ? 1e8 : 1);
    task &t = r.add_task("by" + std::to_string(n));

    t.etc_s.assign(processors, kind == NO_PLACE ? none : (double)rng_index(&d, 9));
    t.parents.push_back({above, bytes ? none : size, bytes ? size : none});
    if (kind == DONE_EVERYWHERE || kind == DONE_SOMEWHERE)
        t.given.status = WORKFLOW_DONE;
    if (kind == RUNS || kind == STAGES)
        t.given.status = kind == RUNS ? WORKFLOW_RUNNING : WORKFLOW_STAGING;
    if (kind == RUNS)
        t.given.progress_pct = 50;
    if (kind > DONE_EVERYWHERE)
        t.given.resource_id = r.resources[rng_index(&d, processors)].id;
    if (above < below)
        r.tasks()[below].parents.push_back({n, bytes ? none : size, bytes ? size : none});
}

// The longest ways to the end of all, from the definition.
std::vector<double> rests_of(const workflow_problem *problem, const workflow_state &state)
{
    std::vector<double> rest_s(problem->task_count, -HUGE_VAL);
    std::vector<double> lane_s(problem->processor_count); // from the next one there

    for (size_t k = state.n; k-- > 0;) {
        size_t i = state.order[k], p = state.at[i];
        double time_s = workflow_time_s(problem, i, p);
        double longest_s = time_s > 0 ? lane_s[p] : 0;

        for (size_t c = problem->child_first[i]; c < problem->child_first[i + 1]; c++) {
            const workflow_edge &x = problem->edges[problem->child_edge[c]];

            if (state.place[x.child] != WORKFLOW_NONE)
                longest_s = std::max(
                    longest_s, workflow_transfer_s(problem, &x, p, state.at[x.child]) +
                                   rest_s[x.child]);
        }
        rest_s[i] = longest_s + time_s;
        if (time_s > 0)
            lane_s[p] = rest_s[i];
    }
    return rest_s;
}

// All that is kept is what the order alone comes to.
void check_times(const workflow_problem *problem, const workflow_state &state)
{
    std::vector<double> start_s(problem->task_count), finish_s(start_s);
    std::vector<double> free_s(problem->processor_count);
    std::vector<size_t> order(problem->open_count, WORKFLOW_NONE);
    std::vector<double> rest_s = rests_of(problem, state);
    workflow_order now = {order.data(), state.at, 0};

    std::copy(state.order, state.order + state.n, order.begin());
    REQUIRE(state.makespan_s == workflow_order_times(problem, &now, state.begun_s,
                                                     start_s.data(), finish_s.data(),
                                                     free_s.data()));
    for (size_t k = 0; k < state.n; k++) {
        size_t i = state.order[k];

        REQUIRE(state.start_s[i] == start_s[i]);
        REQUIRE(state.finish_s[i] == finish_s[i]);
        REQUIRE(state.rest_s[i] == rest_s[i]);
        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++) {
            size_t parent = problem->edges[e].parent;

            REQUIRE((!workflow_is_open(problem, parent) ||
                     state.place[parent] < state.place[i]));
        }
    }
}

const size_t *all_usable(void *context, size_t, size_t *count)
{
    const auto *usable = static_cast<const std::vector<size_t> *>(context);

    *count = usable->size();
    return usable->data();
}

// Parts that are placed anew: only what was drawn may be elsewhere.
void check_anew(const workflow_problem *problem, workflow_state &state, rng &d, arena *a)
{
    std::vector<size_t> usable;
    workflow_anew anew{};

    for (size_t p = 0; p < problem->processor_count; p++)
        if (problem->processors[p].usable)
            usable.push_back(p);
    workflow_anew_make(&anew, &state, a);
    for (size_t k = 0; k < 4 && state.n > 0; k++) {
        std::vector<size_t> before(state.at, state.at + problem->task_count);

        workflow_anew_place(&anew, &d, all_usable, &usable);
        REQUIRE(anew.count > 0);
        check_times(problem, state);
        for (size_t i = 0; i < problem->task_count; i++)
            REQUIRE((anew.drawn[i] || state.at[i] == before[i]));
    }
}

void check_moves(request &r, uint64_t seed, size_t &group_moves)
{
    workflow_groups groups{};
    double units = 0;
    rng d = rng_stream(seed, "moves");
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    workflow_searching s{};
    workflow_state state{};
    workflow_plan plan{};

    if (workflow_problem_make(r.build(), seed % 3 == 0, &problem, a, &err) != OK)
        FAIL(err.field << ": " << err.text);
    s.problem = problem;
    s.arena = a;
    for (size_t i = 0; i < problem->task_count; i++)
        if (!workflow_is_open(problem, i))
            s.begun_s = std::max(s.begun_s, problem->fixed_finish_s[i]);
    REQUIRE(workflow_plan_make(problem, &plan, a) == OK);
    REQUIRE(workflow_heft(problem, nullptr, &plan, a, &err) == OK);
    workflow_order_make(problem, &s.best, a);
    workflow_order_of_plan(problem, &plan, &s.best, a);
    workflow_state_make(&state, &s);
    workflow_state_load(&state, &s.best);
    check_times(problem, state);
    workflow_groups_make(&groups, &state, a);
    std::fill(groups.heavy, groups.heavy + problem->edge_count, true);
    groups.any = true;
    for (size_t k = 0; k < 40 && state.n > 0; k++) {
        size_t task = state.order[rng_index(&d, state.n)], low, high;
        size_t p = rng_index(&d, problem->processor_count);
        workflow_group_move group{};

        workflow_state_room(&state, task, &low, &high);
        size_t first = workflow_state_find(&state, p, low);
        size_t end = workflow_state_find(&state, p, high);
        workflow_spot to = {p, first + rng_index(&d, end - first + 1)};
        group.est_s = HUGE_VAL;
        workflow_groups_weigh(&groups, task, k % 2 ? WORKFLOW_CHILDREN : WORKFLOW_PARENTS,
                              &units, &group);
        if (group.est_s < HUGE_VAL)
            workflow_group_put(&state, &group);
        else
            workflow_state_put(&state, task, to, 0);
        group_moves += group.est_s < HUGE_VAL;
        workflow_state_work_out(&state);
        check_times(problem, state);
    }
    check_anew(problem, state, d, a);
}

} // namespace

// Times that are worked out where they change are those of the whole order, also among
// tasks that have begun or have no place.
TEST_CASE("after any moves the times are those of the order", "[workflow][property]")
{
    size_t group_moves = 0;

    for (uint64_t seed = 0; seed < 90; seed++) {
        request r = draw_whole(seed, 12);
        rng d = rng_stream(seed, "bystanders");
        size_t own = r.tasks().size();

        INFO("seed " << seed);
        r.grid.network.wan_mbps = 1000;
        r.grid.network.wan_latency_s = 0.25;
        for (size_t p = 0; p < r.resources.size(); p++) {
            r.resources[p].site_id = p ? "s1" : "s0";
            r.resources[p].n_max = 1 + (double)rng_index(&d, 2);
        }
        for (size_t k = 0; seed >= 30 && k < 1 + seed % 4; k++)
            add_bystander(r, own, (bystander)rng_index(&d, BYSTANDERS), d);
        check_moves(r, seed, group_moves);
    }
    CHECK(group_moves > 100);
}

TEST_CASE("search: a child that is done, or has no place, holds nobody up",
          "[workflow][property]")
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        request r = tiny(seed, 6, 2);
        double best_s = least_makespan_s(r);

        for (size_t i = 0; i < 6; i++) {
            task &t = r.add_task("by" + std::to_string(i));

            t.etc_s.assign(2, none);
            t.parents.push_back({i, none, 1e9});
            if (i % 2) {
                t.given.status = WORKFLOW_DONE;
                t.given.resource_id = i % 4 == 1 ? r.resources[0].id : nullptr;
            }
        }
        INFO("seed " << seed);
        for (const char *policy : {"search", "auto"}) {
            searched s = search(r, 2000, policy);

            INFO(policy);
            CHECK(s.schedule.size() == 9);
            CHECK(s.objective.makespan_s == Approx(best_s).epsilon(1e-12));
        }
    }
}
