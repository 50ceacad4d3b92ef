// world_check_property_test.cpp - the independent checker against a naive one, which
// looks at every unit of time: all times are whole numbers.
#include "tests/world_check_support.hpp"
#include "tests/world_draw.hpp"

#include <set>

namespace
{

constexpr int first_s = -3, last_s = 70;

// What the naive checker knows of a row.
struct row_times {
    bool counts = false, known = false;
    std::vector<size_t> on; // each once
    double start_s = 0, end_s = 0, done_s = 0;

    bool holds_at(double t) const
    {
        return counts && known && start_s <= t && t < end_s;
    }
    bool is_on(size_t p) const
    {
        return std::count(on.begin(), on.end(), p) > 0;
    }
};

class naive_checker
{
  public:
    naive_checker(const world *of, const std::vector<planned_row> &rows)
        : w(of), plan(rows), times(rows.size())
    {
        for (size_t i = 0; i < plan.size(); i++)
            look_at_row(i);
        for (size_t i = 0; i < plan.size(); i++)
            if (times[i].counts)
                look_at_after(i);
        for (size_t p = 0; p < w->resource_count; p++)
            for (size_t k = 0; k < w->node_amount_count; k++)
                look_at_amount(p, k);
        for (size_t k = w->node_amount_count; k < w->amount_count; k++)
            look_at_amount(WORLD_NONE, k);
        for (size_t i = 0; i < plan.size(); i++)
            look_at_point(i);
        for (size_t g = 0; g < w->group_count; g++)
            look_at_group(w->groups[g]);
    }

    std::multiset<std::string> found;

  private:
    const world *w;
    const std::vector<planned_row> &plan;
    std::vector<row_times> times;

    // Whom an excess is blamed on is not compared.
    void say(const std::string &rule, size_t row, size_t position = WORLD_NONE,
             size_t amount = WORLD_NONE, double at_s = NAN, int64_t needed = 0,
             int64_t free = 0)
    {
        found.insert(
            found_violation{rule, row, position, amount, at_s, needed, free}.text());
    }
    const world_job &job_of(size_t i) const
    {
        return w->jobs[plan[i].job];
    }
    size_t row_of(size_t job) const
    {
        for (size_t i = 0; i < plan.size(); i++)
            if (times[i].counts && plan[i].job == job)
                return i;
        return WORLD_NONE;
    }
    void look_at_row(size_t i);
    void look_at_nodes(size_t i);
    void look_at_run(size_t i);
    void look_at_after(size_t i);
    void look_at_amount(size_t p, size_t k);
    void look_at_point(size_t i);
    void look_at_group(const world_group &g);
    void look_at_key(const world_group &g, size_t key);
};

void naive_checker::look_at_row(size_t i)
{
    if (plan[i].job == WORLD_NONE)
        return say("unknown_id", i);
    if (row_of(plan[i].job) != WORLD_NONE)
        return say("duplicate", i);
    times[i].counts = true;
    times[i].start_s = plan[i].start_s;
    look_at_nodes(i);
    look_at_run(i);
    if (plan[i].start_s < 0 || plan[i].start_s < job_of(i).release_s)
        say("before_release", i, WORLD_NONE, WORLD_NONE, plan[i].start_s);
}

void naive_checker::look_at_nodes(size_t i)
{
    const world_job &j = job_of(i);
    std::set<size_t> once, twice;

    for (size_t p : plan[i].on)
        if (p == WORLD_NONE)
            say("unknown_id", i);
        else if (!once.insert(p).second)
            twice.insert(p);
    for (size_t p : twice)
        say("same_node_twice", i, p);
    times[i].on.assign(once.begin(), once.end());
    if (plan[i].on.size() != j.nodes)
        say("node_count", i, WORLD_NONE, WORLD_NONE, NAN, (int64_t)j.nodes,
            (int64_t)plan[i].on.size());
    for (size_t p : once) {
        if (!world_mask_has(j.choices[0].mask, p))
            say("not_eligible", i, p);
        for (size_t k = 0; k < w->node_amount_count; k++)
            if (j.needs[k] > w->resources[p].capacity[k])
                say("too_large", i, p, k, NAN, j.needs[k], w->resources[p].capacity[k]);
    }
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (j.needs[k] > w->shared_capacity[k])
            say("too_large", i, WORLD_NONE, k, NAN, j.needs[k], w->shared_capacity[k]);
}

void naive_checker::look_at_run(size_t i)
{
    const world_job &j = job_of(i);
    double run = 0;

    // What has no run time holds until it says it ends.
    times[i].known = !std::isnan(plan[i].finish_s);
    times[i].done_s = times[i].end_s = plan[i].finish_s;
    if (!j.etc_s && std::isnan(j.estimate_ref_s) && std::isnan(j.estimate_s))
        return say("no_estimate", i);
    bool runs = !times[i].on.empty();
    for (size_t p : times[i].on) {
        double t = j.etc_s ? j.etc_s[p]
                   : !std::isnan(j.estimate_ref_s)
                       ? j.estimate_ref_s / w->resources[p].speed
                       : j.estimate_s;
        if (t == HUGE_VAL) {
            if (world_mask_has(j.choices[0].mask, p)) // else that has been said
                say("not_eligible", i, p);
            runs = false;
        }
        run = std::max(run, std::min(t, j.time_limit_s));
    }
    if (!runs)
        return;
    times[i].known = true;
    bool longer = w->plan_with_limit && j.time_limit_s < HUGE_VAL;
    times[i].done_s = plan[i].start_s + run;
    times[i].end_s = plan[i].start_s + (longer ? j.time_limit_s : run);
    if (!std::isnan(plan[i].finish_s) && plan[i].finish_s != times[i].done_s)
        say("finish_differs", i);
}

void naive_checker::look_at_after(size_t i)
{
    const world_job &j = job_of(i);

    for (size_t k = 0; k < j.after_count; k++) {
        size_t other = row_of(j.after[k].job);
        bool early = other == WORLD_NONE;

        if (!early && j.after[k].kind == AFTER_START)
            early = plan[i].start_s < plan[other].start_s;
        else if (!early)
            early = times[other].known && plan[i].start_s < times[other].done_s;
        if (early)
            say("before_after", i, WORLD_NONE, WORLD_NONE, plan[i].start_s);
    }
}

void naive_checker::look_at_amount(size_t p, size_t k)
{
    int64_t capacity =
        p == WORLD_NONE ? w->shared_capacity[k] : w->resources[p].capacity[k];
    bool was_over = false;

    if (capacity >= AMOUNT_UNLIMITED)
        return;
    for (int t = first_s; t < last_s; t++) {
        int64_t left = capacity, planned = 0;
        bool closed = false;

        for (size_t h = 0; h < w->holder_count; h++) {
            const world_holder &x = w->holders[h];
            bool here = p == WORLD_NONE ||
                        std::count(x.positions, x.positions + x.position_count, p);
            if (!here || t < x.start_s || t >= x.end_s)
                continue;
            if (x.all)
                closed |= p != WORLD_NONE;
            else
                left -= x.amounts[k];
        }
        if (closed)
            left = std::min<int64_t>(left, 0);
        for (size_t i = 0; i < plan.size(); i++)
            if (times[i].holds_at(t) && (p == WORLD_NONE || times[i].is_on(p)) &&
                job_of(i).needs[k] <= capacity)
                planned += job_of(i).needs[k];
        bool over = planned > 0 && planned > left;
        if (over && !was_over)
            say(p == WORLD_NONE ? "shared_exceeded" : "amount_exceeded", 0, p, k, t,
                planned, left);
        was_over = over;
    }
}

void naive_checker::look_at_point(size_t i)
{
    double s = plan[i].start_s;

    if (!times[i].counts || !times[i].known || times[i].end_s != s)
        return;
    for (size_t p : times[i].on)
        for (size_t h = 0; h < w->holder_count; h++) {
            const world_holder &x = w->holders[h];
            if (x.all && std::count(x.positions, x.positions + x.position_count, p) &&
                x.start_s < s && s < x.end_s) {
                say("amount_exceeded", i, p, AMOUNT_PRESENCE, s,
                    job_of(i).needs[AMOUNT_PRESENCE], 0);
                break;
            }
        }
}

void naive_checker::look_at_group(const world_group &g)
{
    size_t placed = 0;
    double earliest = HUGE_VAL;
    std::set<size_t> keys;

    for (size_t j = 0; j < g.job_count; j++)
        if (row_of(g.jobs[j]) != WORLD_NONE) {
            placed++;
            earliest = std::min(earliest, plan[row_of(g.jobs[j])].start_s);
        }
    if (g.policy != GROUP_GANG) {
        size_t key_count = g.key == GROUP_BY_RESOURCE    ? w->resource_count
                           : g.key == GROUP_BY_ATTRIBUTE ? g.values->count
                                                         : w->site_count;
        for (size_t key = 0; key < key_count; key++)
            look_at_key(g, key);
        return;
    }
    bool said = false;
    for (size_t j = 0; j < g.job_count; j++) {
        size_t i = row_of(g.jobs[j]);
        if (i == WORLD_NONE)
            continue;
        if (plan[i].start_s > earliest)
            say("group_gang", i);
        else if (placed < g.job_count && !said) {
            say("group_gang", i);
            said = true;
        }
    }
}

// Pack is told apart by whether there is any: which member is wrong depends on which is
// right.
void naive_checker::look_at_key(const world_group &g, size_t key)
{
    auto key_of = [&](size_t p) {
        return g.key == GROUP_BY_RESOURCE    ? p
               : g.key == GROUP_BY_ATTRIBUTE ? g.values->of[p]
                                             : w->resources[p].site;
    };
    bool was_over = false;

    for (int t = first_s; t < last_s; t++) {
        size_t running = 0, planned = 0, ever = 0, runs = 0, planned_elsewhere = 0;
        for (size_t h = 0; h < g.holder_count; h++) {
            const world_holder &x = w->holders[g.holders[h]];
            for (size_t n = 0; n < x.position_count; n++)
                runs += key_of(x.positions[n]) != WORLD_NONE;
            for (size_t n = 0; n < x.position_count; n++)
                if (key_of(x.positions[n]) == key) {
                    running += x.start_s <= t && t < x.end_s;
                    ever++;
                }
        }
        size_t held = ever, all_planned = 0;
        for (size_t j = 0; j < g.job_count; j++) {
            size_t i = row_of(g.jobs[j]);
            for (size_t p : i == WORLD_NONE ? std::vector<size_t>{} : times[i].on)
                if (key_of(p) == key) {
                    planned += times[i].holds_at(t);
                    ever++;
                    all_planned++;
                } else if (key_of(p) != WORLD_NONE) {
                    planned_elsewhere++;
                }
        }
        bool over =
            g.policy == GROUP_EXCLUDE && planned > 0 && planned + running > g.max_per_key;
        if (over && !was_over)
            say("group_exclude", 0, WORLD_NONE, WORLD_NONE, t,
                (int64_t)(planned + running), (int64_t)g.max_per_key);
        was_over = over;
        if (t > first_s)
            continue;
        if (g.policy == GROUP_SPREAD && ever > g.max_per_key && all_planned > 0)
            say("group_spread", 0, WORLD_NONE, WORLD_NONE, NAN, (int64_t)ever,
                (int64_t)g.max_per_key);
        bool wrong = planned_elsewhere > 0 || (runs > 0 && held == 0);
        if (g.policy == GROUP_PACK && all_planned > 0 && wrong)
            found.insert("group_pack");
    }
}

// What the checker says, without what the naive one does not say.
std::multiset<std::string> comparable(const std::vector<found_violation> &all)
{
    std::multiset<std::string> texts;

    for (found_violation v : all) {
        bool is_point = v.rule == "amount_exceeded" && !v.detail.empty();
        if (v.rule == "group_pack") {
            texts.insert(v.rule);
            continue;
        }
        if (v.rule == "group_exclude" || v.rule == "group_spread")
            v.row = 0, v.position = WORLD_NONE;
        if (v.rule == "group_gang")
            v.position = WORLD_NONE;
        if ((v.rule == "amount_exceeded" && !is_point) || v.rule == "shared_exceeded")
            v.row = 0;
        texts.insert(v.text());
    }
    return texts;
}

// What both say of a plan; true: it is valid.
bool compare(const world *w, const std::vector<planned_row> &plan)
{
    naive_checker naive(w, plan);
    std::vector<found_violation> all = violations_of(w, plan);
    std::multiset<std::string> texts = comparable(all);

    CHECK((texts.count("group_pack") > 0) == (naive.found.count("group_pack") > 0));
    texts.erase("group_pack");
    naive.found.erase("group_pack");
    CHECK(texts == naive.found);
    for (size_t i = 1; i < all.size(); i++) {
        auto time = [&](const found_violation &v) {
            return std::isnan(v.at_s) ? plan[v.row].start_s : v.at_s;
        };
        CHECK(time(all[i - 1]) <= time(all[i]));
    }
    return all.empty();
}

// Rows one after the other, each at the first start and nodes that nobody objects to.
std::vector<planned_row> plan_by_trying(drawn_world &d, const world *w)
{
    std::vector<planned_row> plan;

    for (size_t j = 0; j < d.given.jobs.size(); j++) {
        bool done = false;
        for (int t = 0; t < 24 && !done; t++) {
            planned_row row{j, {}, (double)t};
            if (d.given.jobs[j].nodes > d.given.resources.size())
                break;
            row.on = d.some_nodes(d.given.jobs[j].nodes);
            plan.push_back(row);
            // A gang is whole only at the end.
            std::multiset<std::string> said = naive_checker(w, plan).found;
            done = said.empty();
            if (!done)
                plan.pop_back();
        }
    }
    return plan;
}

// One thing is changed.
void spoil(drawn_world &d, std::vector<planned_row> &plan)
{
    planned_row &row = plan[d.below(plan.size())];

    switch (d.below(7)) {
    case 0:
        row.start_s += (double)d.below(9) - 5;
        break;
    case 1:
        row.on[0] = d.below(d.given.resources.size());
        break;
    case 2:
        row.finish_s = row.start_s + (double)d.below(6);
        break;
    case 3:
        row.on.push_back(d.below(d.given.resources.size()));
        break;
    case 4:
        row.job = d.below(d.given.jobs.size());
        break;
    case 5:
        row.on[0] = WORLD_NONE;
        break;
    default:
        plan.erase(plan.begin() + (&row - plan.data()));
    }
}

} // namespace

TEST_CASE("plans at random: the same is found as by looking at every second",
          "[world][check][property]")
{
    size_t worlds = is_shorter() ? 400 : 20000;

    for (uint64_t seed = 1; seed <= worlds; seed++) {
        drawn_world d(seed, true);
        const world *w = d.given.build();
        std::vector<planned_row> plan;
        INFO("seed " << seed);
        for (size_t j = 0; j < w->job_count; j++) {
            size_t n = std::min(d.given.jobs[j].nodes, w->resource_count);
            plan.push_back({j, d.some_nodes(n), (double)d.below(15)});
        }
        compare(w, plan);
        spoil(d, plan);
        compare(w, plan);
    }
}

TEST_CASE("valid plans are accepted, and one change in them is judged as by hand",
          "[world][check][property]")
{
    size_t worlds = is_shorter() ? 200 : 5000, valid = 0, spoilt = 0;

    for (uint64_t seed = 1; seed <= worlds; seed++) {
        drawn_world d(seed, true);
        const world *w = d.given.build();
        std::vector<planned_row> plan = plan_by_trying(d, w);
        INFO("seed " << seed);
        valid += compare(w, plan) && !plan.empty();
        if (plan.empty())
            continue;
        spoil(d, plan);
        spoilt += !compare(w, plan);
    }
    CHECK(valid > worlds / 2);
    CHECK(spoilt > worlds / 4);
}
