// workflow_moves_test.cpp - running tasks that are worth moving.
#include "tests/workflow_support.hpp"

using namespace flows;

namespace
{

// A decision with options; what it points to lives in it.
struct answered {
    test_arena a;
    error err = collecting_error(a);
    workflow_out out{};

    answered(request &r, const char *policy, std::vector<named_value> options = {},
             budget *limit = nullptr)
    {
        r.in.budget = limit;
        if (workflow_decide(r.build(), policy_find(workflow_policies, policy),
                            options.data(), options.size(), &out, a, &err) != OK)
            FAIL(err.field << ": " << err.text);
    }
    // "t p0 p1" for each move.
    std::vector<std::string> moves() const
    {
        std::vector<std::string> list;
        for (size_t k = 0; k < out.reschedule_count; k++) {
            const workflow_action &m = out.reschedules[k];
            list.push_back(std::string(m.task_id) + " " + m.from_resource_id + " " +
                           m.to_resource_id);
        }
        return list;
    }
    std::vector<std::string> next() const
    {
        std::vector<std::string> list;
        for (size_t k = 0; k < out.schedule_count; k++)
            if (out.schedule[k].next)
                list.push_back(out.schedule[k].task_id);
        return list;
    }
};

using texts = std::vector<std::string>;

named_value number(const char *name, double value)
{
    return {name, VALUE_NUMBER, value, nullptr};
}

// 600 s of work left on p0 of some speed; p1 of speed 2 is idle. A move costs 3.6 s.
request one_running(double speed)
{
    request r;

    r.add_resource(speed, "s0");
    r.add_resource(2, "s1");
    r.grid.network.wan_mbps = 8; // 1 MB a second
    workflow_task &t = r.add_task("t", 1000).given;
    t.status = WORKFLOW_RUNNING;
    t.resource_id = "p0";
    t.work_done_ref_s = 400;
    t.checkpoint_bytes = 1.6e6;
    return r;
}

const std::vector<named_value> with_restart = {number("restart_s", 2)};

} // namespace

TEST_CASE("a move that pays, and one that does not", "[workflow]")
{
    request slow = one_running(0.05);
    answered d(slow, "auto", with_restart);
    CHECK(d.moves() == texts{"t p0 p1"});
    const workflow_action &m = d.out.reschedules[0];
    CHECK(m.remaining_before_s == Approx(12000));
    CHECK(m.remaining_after_s == Approx(303.6));
    CHECK(m.gain_s == Approx(11696.4));
    CHECK(m.transfer_s == Approx(1.6));
    CHECK(m.seq == 1);
    CHECK(d.out.objective.makespan_s == Approx(12000)); // the schedule is without it

    request fast = one_running(1.7); // gains 49.3 s of 352.9
    CHECK(answered(fast, "auto", with_restart).moves().empty());
    std::vector<named_value> easy = with_restart;
    easy.push_back(number("move_gain_min_ratio", 0.1));
    CHECK(answered(fast, "auto", easy).moves() == texts{"t p0 p1"});
    easy.push_back(number("move_gain_min_s", 50));
    CHECK(answered(fast, "auto", easy).moves().empty());
}

TEST_CASE("a search that took all of the time leaves some for moves", "[workflow]")
{
    request r = one_running(0.05);
    budget spent = make_budget([](void *) { return 2.0; }, nullptr);
    r.in.time_limit_given = true;
    CHECK(answered(r, "auto", with_restart, &spent).moves() == texts{"t p0 p1"});
}

TEST_CASE("who asks for no moves gets none", "[workflow]")
{
    request r = one_running(0.05);
    CHECK(answered(r, "heft").moves().empty());
    CHECK(answered(r, "heft", {{"moves", VALUE_TEXT, 0, "paying"}}).moves().size() == 1);
    CHECK(answered(r, "auto", {{"moves", VALUE_TEXT, 0, "none"}}).moves().empty());
    r.tasks()[0].given.work_done_ref_s = 0; // it has done nothing: it is not running yet
    CHECK(answered(r, "auto").moves().empty());
}

TEST_CASE("without a checkpoint a task begins anew, its inputs come again", "[workflow]")
{
    request r = one_running(0.05);
    workflow_task &t = r.tasks()[0].given;
    t.checkpoint_bytes = 0;
    t.input_bytes = 100e6;
    t.input_site_id = "s0";
    answered d(r, "auto");
    REQUIRE(d.moves().size() == 1);
    CHECK(d.out.reschedules[0].remaining_after_s == Approx(100 + 500));
}

TEST_CASE("a task that stands still goes anywhere", "[workflow]")
{
    request r = one_running(0);
    answered d(r, "auto");
    CHECK(d.moves() == texts{"t p0 p1"});
    CHECK(std::isnan(d.out.reschedules[0].gain_s));
}

TEST_CASE("only what stays idle long enough takes a task", "[workflow]")
{
    request r = one_running(0.05);
    r.add_task("next", 20).etc_s = {none, 10}; // p1 has work now
    CHECK(answered(r, "auto").moves().empty());
    r.tasks()[1].given.release_s = 303.61; // there is time before it
    CHECK(answered(r, "auto", with_restart).moves().size() == 1);
    r.tasks()[1].given.release_s = 303.59;
    CHECK(answered(r, "auto", with_restart).moves().empty());
    r.tasks()[1].given.release_s = 1e6;
    r.windows.push_back({"p1", -1, 300});
    CHECK(answered(r, "auto").moves().empty());
}

TEST_CASE("what waits for its inputs is in the way of a move", "[workflow]")
{
    request r = one_running(0.05);
    workflow_task &done = r.add_task("done", 1).given;
    done.status = WORKFLOW_DONE;
    done.resource_id = "p0";
    r.add_task("waits").etc_s = {none, 10};
    r.tasks()[2].parents = {{1, 1000, none}};
    answered d(r, "auto", with_restart);
    CHECK(d.next() == texts{"waits"}); // p1 is to begin with it now
    CHECK(d.moves().empty());
    r.tasks()[2].given.release_s = 303.61; // there is time before it
    CHECK(answered(r, "auto", with_restart).moves() == texts{"t p0 p1"});
    r.tasks()[2].given.release_s = 0;
    r.tasks()[1].given.status = WORKFLOW_RUNNING;
    answered later(r, "auto", with_restart);
    CHECK(later.next().empty());
    CHECK(later.moves() == texts{"t p0 p1"});
}

TEST_CASE("each task and each place once, those that gain most first", "[workflow]")
{
    request r = one_running(0.05);
    r.add_resource(0.5, "s2");
    workflow_task &u = r.add_task("u", 1000).given;
    u.status = WORKFLOW_RUNNING;
    u.resource_id = "p2";
    u.work_done_ref_s = 1;
    u.checkpoint_work_ref_s = 1;
    CHECK(answered(r, "auto").moves() == texts{"t p0 p1"});
    r.add_resource(1, "s3");
    CHECK(answered(r, "auto").moves() == texts{"t p0 p1", "u p2 p3"});
}

TEST_CASE("no move makes the rest later", "[workflow]")
{
    // t ends at 1000 where it is, and its child goes on there. Elsewhere t would be done
    // after 300 s, but its output needs 1000 s back to the only place of the child.
    request r = one_running(0.6);
    workflow_task &child = r.add_task("child").given;
    r.tasks()[1].etc_s = {10, none};
    r.tasks()[1].parents = {{0, 1000, none}};
    child.release_s = 0;
    CHECK(answered(r, "auto").moves().empty());
    r.tasks()[1].parents = {{0, 600, none}};
    CHECK(answered(r, "auto").moves() == texts{"t p0 p1"});
}

TEST_CASE("what to start next on each resource", "[workflow]")
{
    request r;
    r.add_resource();
    r.add_resource();
    workflow_task &done = r.add_task("done", 1).given;
    done.status = WORKFLOW_DONE;
    done.resource_id = "p0";
    r.add_task("a").etc_s = {5, none};
    r.tasks()[1].parents = {{0, 0, none}};
    r.add_task("b").etc_s = {5, none}; // behind a
    r.add_task("c").etc_s = {none, 5}; // waits for a
    r.tasks()[3].parents = {{1, 0, none}};
    CHECK(answered(r, "heft").next() == texts{"a"});
    r.tasks()[1].given.status = WORKFLOW_RUNNING;
    r.tasks()[1].given.resource_id = "p0";
    CHECK(answered(r, "heft").next() == texts{"b"}); // when a is done
    answered d(r, "heft");
    for (size_t i = 0; i < d.out.schedule_count; i++)
        CHECK((d.out.schedule[i].remaining_source != nullptr) ==
              (std::string(d.out.schedule[i].task_id) == "a"));
}
