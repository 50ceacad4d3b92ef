// queue_reference.hpp - decisions of conservative as they were made before there were
// blocks: the future as a balanced tree of steps, hints by octaves, every explanation
// with the job taken out of the plan. Slow, and simple enough to be believed.
//
// Jobs whose estimate is 0 are not for it.
#pragma once
#include "tests/support.hpp"

#include <algorithm>

extern "C" {
#include "algorithms/queue/queue.h"
}

// Tests are compiled without optimisation, and 20,000 jobs take this long enough.
#pragma GCC push_options
#pragma GCC optimize("O2")
#define REFERENCE __attribute__((no_sanitize("address", "undefined")))

namespace reference
{

// A treap of changes of what is free, with the sums of each subtree and the extremes of
// their partial sums.
class steps
{
    struct node {
        double at_s;
        int64_t delta, sum, low, high;
        uint64_t weight;
        uint32_t left, right; // 0: none
    };
    static constexpr int64_t FAR = int64_t{1} << 60;
    std::vector<node> store_;
    node *n_;
    uint32_t root_ = 0, spare_ = 0, count_ = 1;
    uint64_t state_ = 0;

    REFERENCE void pull(uint32_t at)
    {
        node &n = n_[at];
        const node &l = n_[n.left], &r = n_[n.right];
        int64_t here = l.sum + n.delta;
        int64_t low = here + (r.low < 0 ? r.low : 0);
        int64_t high = here + (r.high > 0 ? r.high : 0);

        n.sum = here + r.sum;
        n.low = l.low < low ? l.low : low;
        n.high = l.high > high ? l.high : high;
    }
    REFERENCE uint32_t fresh(double at_s, int64_t delta)
    {
        uint32_t at = spare_ ? spare_ : count_++;

        if (spare_)
            spare_ = n_[at].left;
        n_[at] = {at_s, delta, 0, 0, 0, splitmix64(&state_), 0, 0};
        pull(at);
        return at;
    }
    REFERENCE uint32_t join(uint32_t left, uint32_t right)
    {
        if (!left || !right)
            return left ? left : right;
        if (n_[left].weight > n_[right].weight) {
            n_[left].right = join(n_[left].right, right);
            pull(left);
            return left;
        }
        n_[right].left = join(left, n_[right].left);
        pull(right);
        return right;
    }
    REFERENCE uint32_t lift(uint32_t at, bool left)
    {
        uint32_t child = left ? n_[at].left : n_[at].right;

        if (left) {
            n_[at].left = n_[child].right;
            n_[child].right = at;
        } else {
            n_[at].right = n_[child].left;
            n_[child].left = at;
        }
        pull(at);
        pull(child);
        return child;
    }
    REFERENCE uint32_t add(uint32_t at, double at_s, int64_t delta)
    {
        if (!at)
            return fresh(at_s, delta);
        if (n_[at].at_s == at_s) {
            n_[at].delta += delta;
            if (n_[at].delta == 0) {
                uint32_t rest = join(n_[at].left, n_[at].right);

                n_[at].left = spare_;
                spare_ = at;
                return rest;
            }
            pull(at);
            return at;
        }
        bool left = at_s < n_[at].at_s;
        uint32_t child = add(left ? n_[at].left : n_[at].right, at_s, delta);

        (left ? n_[at].left : n_[at].right) = child;
        pull(at);
        return child && n_[child].weight > n_[at].weight ? lift(at, left) : at;
    }
    // The first step after after_s from which on fewer than `need` are free, or enough.
    REFERENCE uint32_t find(uint32_t at, double after_s, int64_t need, bool below,
                            int64_t free) const
    {
        const node &n = n_[at];
        int64_t here = free + n_[n.left].sum + n.delta;

        if (!at || (below ? free + n.low >= need : free + n.high < need))
            return 0;
        if (n.at_s > after_s) {
            uint32_t found = find(n.left, after_s, need, below, free);

            if (found)
                return found;
            if (below ? here < need : here >= need)
                return at;
        }
        return find(n.right, after_s, need, below, here);
    }
    REFERENCE double first(double after_s, int64_t need, bool below) const
    {
        uint32_t found = find(root_, after_s, need, below, free);

        return found ? n_[found].at_s : HUGE_VAL;
    }
    REFERENCE void add_at(double at_s, int64_t delta)
    {
        if (!(at_s > now_s))
            free += delta;
        else
            root_ = add(root_, at_s, delta);
    }

  public:
    double now_s;
    int64_t free;

    steps(double now, uint64_t processors, size_t changes)
        : store_(2 * changes + 2), n_(store_.data()), now_s(now),
          free(int64_t(processors))
    {
        n_[0] = {0, 0, 0, FAR, -FAR, 0, 0, 0};
    }
    REFERENCE void take(double start_s, double end_s, int64_t processors)
    {
        if (!(end_s > start_s))
            return;
        add_at(start_s, -processors);
        add_at(end_s, processors);
    }
    REFERENCE double first_below(int64_t need) const
    {
        return free < need ? now_s : first(now_s, need, true);
    }
    REFERENCE double first_above(int64_t need) const
    {
        return free >= need ? now_s : first(now_s, need, false);
    }
    REFERENCE int64_t free_at(double at_s) const
    {
        int64_t there = free;

        for (uint32_t at = root_; at;) {
            bool passed = n_[at].at_s <= at_s;

            there += passed ? n_[n_[at].left].sum + n_[at].delta : 0;
            at = passed ? n_[at].right : n_[at].left;
        }
        return there;
    }
    REFERENCE double fit(int64_t need, double duration_s, double from_s) const
    {
        double start_s = from_s > now_s ? from_s : now_s;

        if (free_at(start_s) < need)
            start_s = first(start_s, need, false);
        while (start_s < HUGE_VAL) {
            double end_s = first(start_s, need, true);

            if (start_s + duration_s <= end_s)
                break;
            start_s = first(end_s, need, false);
        }
        return start_s;
    }
};

// Where no job that is as wide and as long can fit, by 1/32 of an octave of its length.
class hints
{
    static constexpr size_t COLUMNS = 2048;
    std::vector<uint64_t> widths_;
    std::vector<double> latest_s_;

    static double column_of(double length_s)
    {
        return (std::log2(length_s) + 10) * 32 + 1;
    }
    size_t row_of(uint64_t width) const
    {
        return size_t(std::lower_bound(widths_.begin(), widths_.end(), width) -
                      widths_.begin()) +
               1;
    }

  public:
    explicit hints(const queue_in &in)
    {
        for (size_t i = 0; i < in.job_count; i++)
            widths_.push_back(in.jobs[i].processors);
        std::sort(widths_.begin(), widths_.end());
        widths_.erase(std::unique(widths_.begin(), widths_.end()), widths_.end());
        latest_s_.assign((widths_.size() + 1) * (COLUMNS + 1), -HUGE_VAL);
    }
    REFERENCE void note(const queue_job &job, double start_s)
    {
        double column = std::ceil(column_of(job.estimate_s)) + 1;
        double *latest_s = latest_s_.data();
        size_t begin = column < 1 ? 1 : size_t(column), rows = widths_.size();

        for (size_t r = row_of(job.processors); r <= rows; r += r & -r)
            for (size_t c = begin; c <= COLUMNS; c += c & -c)
                if (latest_s[r * (COLUMNS + 1) + c] < start_s)
                    latest_s[r * (COLUMNS + 1) + c] = start_s;
    }
    REFERENCE double earliest(const queue_job &job) const
    {
        double column = std::floor(column_of(job.estimate_s)), found = -HUGE_VAL;
        const double *latest_s = latest_s_.data();

        if (column < 1)
            return found;
        for (size_t r = row_of(job.processors); r > 0; r -= r & -r)
            for (size_t c = std::min(size_t(column), COLUMNS); c > 0; c -= c & -c)
                if (latest_s[r * (COLUMNS + 1) + c] > found)
                    found = latest_s[r * (COLUMNS + 1) + c];
        return found;
    }
};

struct mark {
    double at_s;
    queue_blocker by;
    size_t index;

    bool operator<(const mark &other) const
    {
        return std::tie(at_s, by, index) < std::tie(other.at_s, other.by, other.index);
    }
};

// A decision of conservative; the jobs in order of arrival, none of which never fits.
inline std::vector<queue_verdict> conservative(const queue_in &in)
{
    size_t changes = in.job_count + in.running_count + in.reservation_count;
    steps plan(in.now_s, in.processors, changes), fixed(in.now_s, in.processors, changes);
    std::vector<queue_verdict> verdicts(in.job_count);
    std::vector<mark> ends, begins;
    hints known(in);

    for (size_t i = 0; i < in.reservation_count; i++) {
        auto &r = in.reservations[i];

        plan.take(r.start_s, r.end_s, int64_t(r.processors));
        fixed.take(r.start_s, r.end_s, int64_t(r.processors));
        ends.push_back({r.end_s, QUEUE_BY_RESERVATION, i});
        begins.push_back({std::max(r.start_s, in.now_s), QUEUE_BY_RESERVATION, i});
    }
    for (size_t i = 0; i < in.running_count; i++) {
        auto &r = in.running[i];
        double end_s = r.expected_end_s > in.now_s ? r.expected_end_s : in.now_s + 1;

        plan.take(in.now_s, end_s, int64_t(r.processors));
        fixed.take(in.now_s, end_s, int64_t(r.processors));
        ends.push_back({end_s, QUEUE_BY_RUNNING, i});
    }
    for (size_t i = 0; i < in.job_count; i++) {
        auto &j = in.jobs[i];
        double start_s = plan.fit(int64_t(j.processors), j.estimate_s, known.earliest(j));

        known.note(j, start_s);
        plan.take(start_s, start_s + j.estimate_s, int64_t(j.processors));
        verdicts[i].start_s = start_s;
        if (start_s > in.now_s) {
            begins.push_back({start_s, QUEUE_BY_JOB, i});
            continue;
        }
        fixed.take(start_s, start_s + j.estimate_s, int64_t(j.processors));
        ends.push_back({start_s + j.estimate_s, QUEUE_BY_JOB, i});
    }
    std::sort(ends.begin(), ends.end());
    std::sort(begins.begin(), begins.end());
    for (size_t i = 0; i < in.job_count; i++) {
        auto &j = in.jobs[i];
        queue_verdict &v = verdicts[i];
        double start_s = v.start_s, end_s = start_s + j.estimate_s;
        auto need = int64_t(j.processors);
        const std::vector<mark> *marks = &begins;
        double at_s;

        if (start_s <= in.now_s)
            continue; // QUEUE_REASON_STARTS
        if (fixed.first_above(need) > in.now_s) {
            v.reason = QUEUE_REASON_PROCESSORS;
            at_s = fixed.first_above(need);
            marks = &ends;
        } else if (in.now_s + j.estimate_s > fixed.first_below(need)) {
            v.reason = QUEUE_REASON_RESERVATION;
            at_s = fixed.first_below(need);
        } else {
            v.reason = QUEUE_REASON_WOULD_DELAY;
            plan.take(start_s, end_s, -need);
            at_s = plan.first_below(need);
            plan.take(start_s, end_s, need);
        }
        auto who =
            std::lower_bound(marks->begin(), marks->end(), mark{at_s, QUEUE_NOTHING, 0});
        if (who == marks->end())
            continue;
        if (v.reason == QUEUE_REASON_WOULD_DELAY && who->by == QUEUE_BY_RESERVATION)
            v.reason = QUEUE_REASON_RESERVATION;
        v.by = who->by;
        v.blocker = who->index;
        v.until_s = who->at_s;
    }
    return verdicts;
}

} // namespace reference

#undef REFERENCE
#pragma GCC pop_options
