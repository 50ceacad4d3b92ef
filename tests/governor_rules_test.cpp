// governor_rules_test.cpp - the governor's rules one by one: shares, quotas, the
// reservation, what waits and what is refused; played without threads.
#include "tests/governor_support.hpp"

#include <random>

namespace
{
// Jobs by hand, on a core of the examples' size.
struct board {
    std::unique_ptr<governor_core> c = std::make_unique<governor_core>();
    std::deque<governor_job> jobs;
    double now_s = 0;

    explicit board(const governor_options &options)
    {
        core_open(c.get(), &options);
    }
    ~board()
    {
        core_close(c.get());
    }
    board(const board &) = delete;
    board &operator=(const board &) = delete;

    governor_job &make(size_t mib, double est_s = 1)
    {
        jobs.emplace_back();
        jobs.back().work_bytes = mib * MIB;
        jobs.back().est_s = est_s;
        return jobs.back();
    }
    governor_answer submit(governor_job &job, const char *owner,
                           governor_quota quota = {}, const char *key = nullptr,
                           governor_quota key_quota = {}, bool background = false)
    {
        governor_who who{};

        who.owner = {owner, quota};
        who.key = {key, key_quota};
        who.background = background;
        return core_submit(c.get(), &who, &job, now_s);
    }
    governor_job *next()
    {
        governor_job *job = core_next(c.get(), GOVERNOR_COMPUTE, now_s);

        if (job)
            job->thread = job;
        return job;
    }
    void end(governor_job &job)
    {
        job.thread = nullptr;
        REQUIRE_FALSE(core_end(c.get(), &job, 0, now_s));
        core_give(c.get(), &job.work, SIZE_MAX);
    }
};
} // namespace

TEST_CASE("bodies: one may have any room, further ones a share", "[governor]")
{
    board b(example_options(4));
    governor_lease one{}, two{}, three{};
    governor_who a{}, other{};

    a.owner.name = "a";
    other.owner.name = "b";
    CHECK(core_body_take(b.c.get(), &a, &one, 351 * MIB) == GOVERNOR_TOO_LARGE);
    CHECK(core_body_check(b.c.get(), &a, 351 * MIB) == GOVERNOR_TOO_LARGE);
    CHECK(core_body_check(b.c.get(), &a, 349 * MIB) == GOVERNOR_OK);
    CHECK(core_body_take(b.c.get(), &a, &one, 100 * MIB) == GOVERNOR_OK);
    CHECK(core_body_take(b.c.get(), &a, &one, 100 * MIB) == GOVERNOR_OK); // it grows
    CHECK(core_body_take(b.c.get(), &a, &one, 151 * MIB) == GOVERNOR_TOO_LARGE);
    CHECK(core_body_take(b.c.get(), &a, &two, 1) == GOVERNOR_BUSY);
    CHECK(core_body_take(b.c.get(), &other, &three, 151 * MIB) == GOVERNOR_BUSY);
    CHECK(core_body_take(b.c.get(), &other, &three, 148 * MIB) == GOVERNOR_OK);
    core_give(b.c.get(), &one, 150 * MIB);
    CHECK(one.bytes == 50 * MIB);
    CHECK(core_body_take(b.c.get(), &a, &two, 124 * MIB) == GOVERNOR_OK);
    CHECK(core_body_take(b.c.get(), &a, &two, 2 * MIB) == GOVERNOR_BUSY); // half of it
    for (auto *lease : {&one, &two, &three}) {
        core_give(b.c.get(), lease, SIZE_MAX);
        core_give(b.c.get(), lease, SIZE_MAX); // nothing more to give
        CHECK(lease->owner == nullptr);
    }
    CHECK(b.c->leased_bytes[GOVERNOR_BODY] == 0);
    CHECK(b.c->refused_count[GOVERNOR_BODY][GOVERNOR_BUSY] == 3);
    CHECK(b.c->refused_count[GOVERNOR_BODY][GOVERNOR_TOO_LARGE] == 3);
}

TEST_CASE("work: a share binds beside others, R is kept for small ones", "[governor]")
{
    board b(example_options(10)); // R is 65.6 MiB
    governor_job &alone = b.make(500), &more = b.make(480), &small = b.make(60);
    governor_job &third = b.make(30);

    REQUIRE(b.submit(alone, "a") == GOVERNOR_OK);
    REQUIRE(b.submit(more, "a") == GOVERNOR_OK);
    CHECK(b.next() == &alone);
    CHECK(b.next() == &more); // nobody else: beyond the share, up to W - R
    REQUIRE(b.submit(small, "b") == GOVERNOR_OK);
    CHECK(b.next() == &small); // in R
    REQUIRE(b.submit(third, "a") == GOVERNOR_OK);
    CHECK(b.next() == nullptr); // a has more than its share while b runs
    b.end(small);
    CHECK(b.next() == nullptr); // R is not for a, which holds something
    b.end(more);
    CHECK(b.next() == &third);
    b.end(alone);
    b.end(third);
    CHECK(b.c->leased_bytes[GOVERNOR_WORK] == 0);
    CHECK(b.c->busy_count == 0);
}

TEST_CASE("a guess is cut to what can be reserved, an exact need is refused",
          "[governor]")
{
    board b(example_options(4));
    governor_quota little{};
    governor_job &guess = b.make(5000), &own = b.make(5000);
    governor_job &exact = b.make(1000), &over = b.make(101), &of_key = b.make(60);

    little.memory_bytes = 100 * MIB;
    REQUIRE(b.submit(guess, "a") == GOVERNOR_OK);
    CHECK(guess.work_bytes == b.c->share_bytes[GOVERNOR_WORK]);
    REQUIRE(b.submit(own, "b", little) == GOVERNOR_OK);
    CHECK(own.work_bytes == 100 * MIB);
    exact.is_exact = over.is_exact = of_key.is_exact = true;
    CHECK(b.submit(exact, "a") == GOVERNOR_TOO_LARGE); // W - R is 984.4 MiB
    CHECK(b.submit(over, "b", little) == GOVERNOR_QUOTA_MEMORY);
    little.memory_bytes = 50 * MIB;
    CHECK(b.submit(of_key, "b", {}, "key", little) == GOVERNOR_QUOTA_MEMORY);
    CHECK(b.c->refused_count[GOVERNOR_WORK][GOVERNOR_QUOTA_MEMORY] == 2);
}

TEST_CASE("growth never waits, and stays within the quota", "[governor]")
{
    board b(example_options(4));
    governor_quota quota{};
    governor_job &a = b.make(10), &other = b.make(500), &more = b.make(480);

    quota.memory_bytes = 50 * MIB;
    REQUIRE(b.submit(a, "a", quota) == GOVERNOR_OK);
    REQUIRE(b.submit(other, "b") == GOVERNOR_OK);
    REQUIRE(b.submit(more, "c") == GOVERNOR_OK);
    CHECK((b.next() && b.next())); // a and b; c does not fit
    CHECK(b.next() == nullptr);
    CHECK(core_grow(b.c.get(), &a, 41 * MIB) == GOVERNOR_QUOTA_MEMORY);
    CHECK(core_grow(b.c.get(), &a, 40 * MIB) == GOVERNOR_OK);
    CHECK(core_grow(b.c.get(), &other, 434 * MIB) == GOVERNOR_OK); // 984 MiB in all
    CHECK(core_grow(b.c.get(), &other, MIB) == GOVERNOR_BUSY);
    CHECK(core_reserve(b.c.get(), &other, 900 * MIB) == GOVERNOR_OK); // has it
    CHECK(core_reserve(b.c.get(), &other, 2000 * MIB) == GOVERNOR_TOO_LARGE);
    CHECK(core_reserve(b.c.get(), &a, 51 * MIB) == GOVERNOR_QUOTA_MEMORY);
}

TEST_CASE("a job that begins again keeps its arrival, and does so once", "[governor]")
{
    board b(example_options(1));
    governor_lease held{};
    governor_who upkeep{};
    governor_job &job = b.make(1), &later = b.make(1);

    upkeep.owner.name = "upkeep";
    REQUIRE(core_work_take(b.c.get(), &upkeep, &held, 800 * MIB) == GOVERNOR_OK);
    REQUIRE(b.submit(job, "a") == GOVERNOR_OK);
    b.now_s = 2;
    REQUIRE(b.next() == &job);
    CHECK(job.wait_s == 2);
    REQUIRE(core_reserve(b.c.get(), &job, 300 * MIB) == GOVERNOR_AGAIN);
    job.thread = nullptr;
    REQUIRE(core_end(b.c.get(), &job, 0.5, b.now_s));
    CHECK(job.state == JOB_QUEUED);
    CHECK(job.work.bytes == 0);
    CHECK(job.arrived_s == 0);
    REQUIRE(b.submit(later, "a") == GOVERNOR_OK);
    CHECK(job.next == &later); // before it
    CHECK(b.next() == &later); // which fits
    b.end(later);
    CHECK(b.next() == nullptr);
    core_give(b.c.get(), &held, 300 * MIB);
    b.now_s = 5;
    REQUIRE(b.next() == &job);
    CHECK(job.wait_s == 5);
    CHECK(job.work.bytes == 300 * MIB);
    CHECK(core_reserve(b.c.get(), &job, 500 * MIB) == GOVERNOR_BUSY);
    b.end(job);
    CHECK(job.cpu_s == 0.5);
    core_give(b.c.get(), &held, SIZE_MAX);
    CHECK(b.c->leased_bytes[GOVERNOR_WORK] == 0);
}

TEST_CASE("who has been passed sixteen times gets the next room", "[governor]")
{
    board b(example_options(4));
    governor_job &first = b.make(600), &large = b.make(500);
    governor_job *running[3] = {};
    size_t begun = 0;

    REQUIRE(b.submit(first, "x") == GOVERNOR_OK);
    REQUIRE(b.next() == &first);
    REQUIRE(b.submit(large, "large") == GOVERNOR_OK);
    CHECK(b.next() == nullptr);   // 1,100 of 984
    for (; begun < 40; begun++) { // a stream of others that fit beside the first
        const char *owners[] = {"a", "b", "c"};
        governor_job *&slot = running[begun % 3];

        if (slot)
            b.end(*slot);
        REQUIRE(b.submit(b.make(120), owners[begun % 3]) == GOVERNOR_OK);
        slot = b.next();
        if (!slot)
            break;
        CHECK(slot != &large);
    }
    CHECK(large.passed_count >= 16);
    CHECK(b.c->reserved == &large);
    // The reservation leaves 984 - 500 for what begins under it: 4 of 120 MiB.
    b.end(first);
    CHECK(b.next() == &large);
    CHECK(b.c->reserved == nullptr);
}

TEST_CASE("under a reservation later ones take only what it leaves", "[governor]")
{
    board b(example_options(10));
    governor_job &first = b.make(520), &large = b.make(500);
    std::vector<governor_job *> later;

    REQUIRE(b.submit(first, "x") == GOVERNOR_OK);
    REQUIRE(b.next() == &first);
    REQUIRE(b.submit(large, "large") == GOVERNOR_OK);
    for (int i = 0; i < 16; i++) { // one after the other
        REQUIRE(b.submit(b.make(100), "y") == GOVERNOR_OK);
        governor_job *job = b.next();
        REQUIRE(job);
        b.end(*job);
    }
    REQUIRE(b.c->reserved == &large);
    for (const char *owner : {"a", "b", "c", "d", "e"}) {
        REQUIRE(b.submit(b.make(110), owner) == GOVERNOR_OK);
        if (governor_job *job = b.next())
            later.push_back(job);
    }
    CHECK(later.size() == 4); // 440 of 984.4 - 500
    CHECK(b.c->begun_bytes == 440 * MIB);
    REQUIRE(b.submit(b.make(20), "small") == GOVERNOR_OK);
    CHECK(b.next()); // a small first lease
    b.end(first);
    CHECK(b.next() == &large);
}

TEST_CASE("concurrent_count holds back, and then refuses", "[governor]")
{
    board b(example_options(8));
    governor_quota two{};
    std::vector<governor_job *> jobs;

    two.concurrent_count = 2;
    for (int i = 0; i < 5; i++)
        jobs.push_back(&b.make(1));
    for (int i = 0; i < 2; i++) {
        REQUIRE(b.submit(*jobs[(size_t)i], "a", two) == GOVERNOR_OK);
        CHECK(b.next() == jobs[(size_t)i]);
    }
    for (int i = 2; i < 4; i++) {
        REQUIRE(b.submit(*jobs[(size_t)i], "a", two) == GOVERNOR_OK);
        CHECK(b.next() == nullptr);
    }
    CHECK(b.submit(*jobs[4], "a", two) == GOVERNOR_QUOTA_CONCURRENT);
    CHECK(b.submit(*jobs[4], "b", two) == GOVERNOR_OK);
    CHECK(b.next() == jobs[4]);
    b.end(*jobs[0]);
    CHECK(b.next() == jobs[2]);
}

TEST_CASE("the limits of a key and of its tenant both hold", "[governor]")
{
    board b(example_options(8));
    governor_quota one{}, two{};
    governor_job &k1 = b.make(1), &k1_more = b.make(1), &k2 = b.make(1), &k3 = b.make(1);

    one.concurrent_count = 1;
    two.concurrent_count = 2;
    REQUIRE(b.submit(k1, "t", two, "k1", one) == GOVERNOR_OK);
    REQUIRE(b.submit(k1_more, "t", two, "k1", one) == GOVERNOR_OK);
    CHECK(b.next() == &k1);
    CHECK(b.next() == nullptr); // of the key
    REQUIRE(b.submit(k2, "t", two, "k2", one) == GOVERNOR_OK);
    CHECK(b.next() == &k2);
    REQUIRE(b.submit(k3, "t", two, "k3", one) == GOVERNOR_OK);
    CHECK(b.next() == nullptr); // of the tenant
    b.end(k1);
    CHECK(b.next() == &k1_more);
}

TEST_CASE("one owner does not fill the queue", "[governor]")
{
    governor_options options = example_options(1, 8);

    options.tenant_queue_length = 2;
    board b(options);
    REQUIRE(b.submit(b.make(1), "x") == GOVERNOR_OK);
    REQUIRE(b.next());
    for (int i = 0; i < 4; i++) // half of the queue: no limit of its own
        REQUIRE(b.submit(b.make(1), "a") == GOVERNOR_OK);
    CHECK(b.submit(b.make(1), "a") == GOVERNOR_QUOTA_CONCURRENT);
    for (const char *owner : {"b", "b", "c", "c"})
        CHECK(b.submit(b.make(1), owner) == GOVERNOR_OK);
    CHECK(b.submit(b.make(1), "d") == GOVERNOR_BUSY);            // full
    CHECK(core_retry_after_s(b.c.get(), GOVERNOR_COMPUTE) == 8); // 8 x 1 s on a slot
}

TEST_CASE("work without a client comes behind its tenant's", "[governor]")
{
    governor_options options = example_options(1);
    board b(options);
    governor_job &back = b.make(1), &front = b.make(1);
    governor_quota quota{};

    quota.weight = 2;
    REQUIRE(b.submit(back, "t", quota, nullptr, {}, true) == GOVERNOR_OK);
    REQUIRE(b.submit(front, "t", quota) == GOVERNOR_OK);
    CHECK(back.share != front.share);
    CHECK(back.share->account == front.share->account); // memory and quotas are one
    CHECK(back.share->weight == 0.5);
    CHECK(front.share->weight == 2);
    CHECK(b.next() == &front);
    CHECK(core_look(b.c.get(), &front, 1, b.now_s, true)); // v 0.5 against 0
    CHECK(b.next() == &back);
    CHECK(core_look(b.c.get(), &back, 1, b.now_s, true)); // v 2
    CHECK(b.next() == &front);
    for (int i = 0; i < 3; i++) // v 1, 1.5, 2
        CHECK_FALSE(core_look(b.c.get(), &front, 1, b.now_s, true));
    CHECK(core_look(b.c.get(), &front, 1, b.now_s, true)); // a fifth of the time
    CHECK(b.next() == &back);
}

TEST_CASE("without a thread left nobody is parked", "[governor]")
{
    governor_options options = example_options(1);

    options.queues[GOVERNOR_COMPUTE].thread_count = 2;
    board b(options);
    governor_job &a = b.make(0), &second = b.make(0), &third = b.make(0);

    REQUIRE(b.submit(a, "a") == GOVERNOR_OK);
    REQUIRE(b.next() == &a);
    REQUIRE(b.submit(second, "b") == GOVERNOR_OK);
    REQUIRE(core_look(b.c.get(), &a, 1, b.now_s, true));
    REQUIRE(b.next() == &second);
    REQUIRE(b.submit(third, "c") == GOVERNOR_OK);
    CHECK(core_look(b.c.get(), &second, 2.5, b.now_s, true)); // for a, which has a thread
    CHECK(b.next() == &a);
    CHECK_FALSE(core_look(b.c.get(), &a, 1, b.now_s, true)); // c has none
    b.end(a);
    CHECK(b.next() == &third);
}

TEST_CASE("what waits for a slot or is parked hears of its end", "[governor]")
{
    governor_options options = example_options(1);
    bool cancelled = true; // atomic

    options.queue_wait_s = 10;
    board b(options);
    governor_job &a = b.make(0), &late = b.make(0), &gone = b.make(0), &u = b.make(0);
    governor_answer answer = GOVERNOR_OK;

    REQUIRE(b.submit(a, "a") == GOVERNOR_OK);
    REQUIRE(b.next() == &a);
    REQUIRE(b.submit(late, "a") == GOVERNOR_OK);
    gone.cancelled = &cancelled;
    REQUIRE(b.submit(gone, "a") == GOVERNOR_OK);
    CHECK(core_overdue(b.c.get(), GOVERNOR_COMPUTE, 10, &answer) == &gone);
    CHECK(answer == GOVERNOR_GONE);
    CHECK(core_overdue(b.c.get(), GOVERNOR_COMPUTE, 10, &answer) == nullptr);
    CHECK(core_overdue(b.c.get(), GOVERNOR_COMPUTE, 10.01, &answer) == &late);
    CHECK(answer == GOVERNOR_BUSY);
    CHECK(late.state == JOB_IDLE);
    b.now_s = 11;
    REQUIRE(b.submit(u, "u") == GOVERNOR_OK);
    a.deadline_s = 20;
    REQUIRE(core_look(b.c.get(), &a, 5, b.now_s, true));
    REQUIRE(b.next() == &u);
    CHECK(core_parked_overdue(b.c.get(), GOVERNOR_COMPUTE, 19.9) == nullptr);
    CHECK(core_parked_overdue(b.c.get(), GOVERNOR_COMPUTE, 20) == &a);
    CHECK(a.state == JOB_ENDING);
    CHECK_FALSE(
        core_look(b.c.get(), &a, 5, b.now_s, true)); // without a slot: charged only
    b.end(a);
    CHECK(u.state == JOB_RUNNING);
    b.end(u);
    CHECK(b.c->queues[GOVERNOR_COMPUTE].running_count == 0);
    CHECK(b.c->queues[GOVERNOR_COMPUTE].ending_count == 0);
    REQUIRE(b.submit(b.make(0), "a") == GOVERNOR_OK);
    REQUIRE(b.submit(u, "u") == GOVERNOR_OK);
    CHECK(b.next() == &u); // a has had more, which is not forgotten
}

TEST_CASE("queries go in the owners' order, and take no room before they begin",
          "[governor]")
{
    board b(example_options(1));
    auto query = [&](double now_s) {
        return core_next(b.c.get(), GOVERNOR_QUERY, now_s);
    };
    auto end = [&](governor_job &job, double held_s) {
        REQUIRE_FALSE(core_end(b.c.get(), &job, held_s, 0));
    };
    governor_job *a[3], &first_of_b = b.make(0), &second_of_b = b.make(0),
                        &third_of_b = b.make(0), &large = b.make(900);

    for (auto &job : a) {
        job = &b.make(0);
        job->queue = GOVERNOR_QUERY;
        REQUIRE(b.submit(*job, "a") == GOVERNOR_OK);
    }
    REQUIRE(query(0) == a[0]);
    REQUIRE(query(0) == nullptr); // one slot
    for (auto *job : {&first_of_b, &second_of_b, &third_of_b})
        job->queue = GOVERNOR_QUERY;
    REQUIRE(b.submit(first_of_b, "b") == GOVERNOR_OK);
    REQUIRE(b.submit(second_of_b, "b") == GOVERNOR_OK);
    CHECK_FALSE(core_look(b.c.get(), a[0], 5, 5, true)); // charged, never parked
    CHECK(a[0]->state == JOB_RUNNING);
    end(*a[0], 0);
    REQUIRE(query(5) == &first_of_b);
    end(first_of_b, 1);
    REQUIRE(query(6) == &second_of_b); // v: b 1, a 5
    REQUIRE(b.submit(large, "b") == GOVERNOR_OK);
    REQUIRE(b.next() == &large); // another queue, and more than b's share of the pool
    end(second_of_b, 5);
    REQUIRE(query(11) == a[1]);
    REQUIRE(b.submit(third_of_b, "b") == GOVERNOR_OK);
    end(*a[1], 3);
    CHECK(query(14) == &third_of_b); // though b holds all it may
}

TEST_CASE("work outside of slots is paid for while others wait", "[governor]")
{
    board b(example_options(1));
    governor_who who{};
    governor_job &a = b.make(0), &mine = b.make(0), &other = b.make(0);

    who.owner.name = "a_small";
    core_charge(b.c.get(), GOVERNOR_COMPUTE, &who, 5); // nobody was kept waiting
    CHECK(b.c->queues[GOVERNOR_COMPUTE].shares == nullptr);
    REQUIRE(b.submit(a, "x") == GOVERNOR_OK);
    REQUIRE(b.next() == &a);
    core_charge(b.c.get(), GOVERNOR_COMPUTE, &who, 0.25);
    REQUIRE(b.submit(mine, "a_small") == GOVERNOR_OK);
    CHECK(mine.share->virtual_s == 0.25);
    REQUIRE(b.submit(other, "b") == GOVERNOR_OK);
    b.end(a);
    CHECK(b.next() == &other); // its name comes later, its virtual time is less
}

TEST_CASE("of owners without work a few are kept, and they begin as new ones do",
          "[governor]")
{
    board b(example_options(1));
    const governor_core_queue &queue = b.c->queues[GOVERNOR_COMPUTE];

    for (int i = 0; i < 100; i++) {
        governor_job &job = b.make(0);

        REQUIRE(b.submit(job, ("owner" + std::to_string(i)).c_str()) == GOVERNOR_OK);
        CHECK(job.share->virtual_s == queue.virtual_s);
        REQUIRE(b.next() == &job);
        core_end(b.c.get(), &job, 0.5, 0);
        core_give(b.c.get(), &job.work, SIZE_MAX);
    }
    CHECK(queue.share_count <= 33);

    governor_job &again = b.make(0);

    REQUIRE(b.submit(again, "owner99") == GOVERNOR_OK);
    CHECK(again.share->virtual_s >= queue.virtual_s);
}

TEST_CASE("the largest owners are shown, the rest is one", "[governor]")
{
    board b(example_options(1));
    struct governor_stats stats;
    size_t sum = 0;

    for (int i = 0; i < 30; i++)
        for (int k = 0; k <= i; k++)
            REQUIRE(b.submit(b.make(0), ("owner" + std::to_string(i)).c_str()) ==
                    GOVERNOR_OK);
    core_stats(b.c.get(), &stats);
    const governor_queue_stats &q = stats.queues[GOVERNOR_COMPUTE];
    REQUIRE(q.owner_count == 21);
    CHECK(q.owners[0].name == std::string("owner29"));
    CHECK(q.owners[19].name == std::string("owner10"));
    CHECK(q.owners[20].name == std::string("other"));
    CHECK(q.owners[20].queued_count == 55);
    for (size_t i = 0; i < q.owner_count; i++)
        sum += q.owners[i].queued_count;
    CHECK(sum == q.queued_count);
    CHECK(stats.pool_bytes[GOVERNOR_BODY] + stats.pool_bytes[GOVERNOR_WORK] <=
          1400 * MIB);
}

// Whatever happens in whatever order: counts are those of the jobs, pools are kept.
TEST_CASE("random lives of jobs keep every count", "[governor][property]")
{
    for (unsigned seed = 0; seed < 40; seed++) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        governor_options options = example_options(1 + seed % 4, 20);
        bool cancelled = true;

        options.queue_wait_s = 50;
        options.queues[GOVERNOR_COMPUTE].thread_count = 1 + seed % 4 + seed % 3;
        options.tenant_queue_length = 5;
        board b(options);
        governor_quota quota{};
        std::vector<governor_job *> live, ended;
        governor_answer answer;

        auto finish = [&](governor_job *job) {
            live.erase(std::find(live.begin(), live.end(), job));
            ended.push_back(job);
        };
        for (int step = 0; step < 400; step++) {
            const char *owners[] = {"a", "b", "c"}, *keys[] = {nullptr, "k", "l"};
            governor_job *job = live.empty() ? nullptr : live[random() % live.size()];

            b.now_s += (double)(random() % 3);
            switch (random() % 6) {
            case 0: {
                governor_job &fresh =
                    b.make(random() % 3 ? random() % 600 : 0, (double)(random() % 5));

                fresh.is_exact = random() % 2;
                fresh.cancelled = random() % 10 ? nullptr : &cancelled;
                quota.concurrent_count = random() % 4;
                quota.memory_bytes = random() % 2 ? 0 : 700 * MIB;
                if (b.submit(fresh, owners[random() % 3], quota, keys[random() % 3], {},
                             random() % 4 == 0) == GOVERNOR_OK)
                    live.push_back(&fresh);
                break;
            }
            case 1:
                if (job && (job->state == JOB_RUNNING || job->state == JOB_ENDING))
                    core_look(b.c.get(), job, (double)(random() % 3), b.now_s,
                              random() % 4);
                break;
            case 2:
                if (job && (job->state == JOB_RUNNING || job->state == JOB_ENDING)) {
                    job->thread = nullptr;
                    if (!core_end(b.c.get(), job, 0.5, b.now_s))
                        finish(job);
                }
                break;
            case 3:
                if (job && job->state == JOB_RUNNING && !job->is_again)
                    random() % 2 ? core_grow(b.c.get(), job, random() % (100 * MIB))
                                 : core_reserve(b.c.get(), job, random() % (1000 * MIB));
                break;
            case 4:
                while (governor_job *late =
                           core_overdue(b.c.get(), GOVERNOR_COMPUTE, b.now_s, &answer))
                    finish(late);
                core_parked_overdue(b.c.get(), GOVERNOR_COMPUTE, b.now_s);
                break;
            default:
                if (!ended.empty()) {
                    core_give(b.c.get(), &ended.back()->work, SIZE_MAX);
                    ended.pop_back();
                }
            }
            while (b.next())
                ;
            size_t leased = 0, begun = 0, begun_bytes = 0, counts[5] = {};
            const governor_core_queue &q = b.c->queues[GOVERNOR_COMPUTE];

            for (auto &j : b.jobs) {
                leased += j.work.bytes;
                counts[j.state]++;
                if (b.c->reserved && j.reservation_number == b.c->reservation_number)
                    begun_bytes += j.work.bytes;
            }
            begun = counts[JOB_RUNNING] + counts[JOB_PARKED] + counts[JOB_ENDING];
            bool same = leased == b.c->leased_bytes[GOVERNOR_WORK] &&
                        counts[JOB_QUEUED] == q.queued_count &&
                        counts[JOB_RUNNING] == q.running_count &&
                        counts[JOB_PARKED] == q.parked_count &&
                        counts[JOB_ENDING] == q.ending_count;
            CAPTURE(step);
            if (!same || leased > b.c->sizes.work_bytes || begun > q.thread_count ||
                q.running_count > q.slot_count ||
                (b.c->reserved && begun_bytes != b.c->begun_bytes))
                FAIL("the counts are wrong");
        }
        while (!live.empty()) { // all can be ended
            governor_job *job = live.back();

            b.now_s += 100;
            while (governor_job *late =
                       core_overdue(b.c.get(), GOVERNOR_COMPUTE, b.now_s, &answer))
                finish(late);
            if (live.empty() || live.back() != job)
                continue;
            if (job->state == JOB_PARKED)
                core_parked_end(b.c.get(), job);
            job->thread = nullptr;
            if (!core_end(b.c.get(), job, 0, b.now_s))
                finish(job);
        }
        for (auto &j : b.jobs)
            core_give(b.c.get(), &j.work, SIZE_MAX);
        CHECK(b.c->leased_bytes[GOVERNOR_WORK] == 0);
        CHECK(b.c->busy_count == 0);
        CHECK(b.c->reserved == nullptr);
        CHECK(b.c->queues[GOVERNOR_COMPUTE].waiting_est_s == 0);
    }
}
