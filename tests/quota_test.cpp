// quota_test.cpp - what keys and tenants may take: limits as people write them, buckets
// of requests and of seconds of processor, and what replicas know of each other's use.
#include "database.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "service/clock.h"
#include "service/cpu_quota.h"
#include "service/migrate.h"
#include "service/quota.h"
#include "service/ratelimit.h"
#include "service/store_quota.h"
}

static error_code read_one(quota_index which, const char *text, quota *q)
{
    error err{};
    error_code code = quota_read(&quota_members[which], text, q, &err);

    if (code != OK)
        CHECK_THAT(err.text, Catch::Contains(quota_members[which].doc));
    return code;
}

TEST_CASE("a quota is a number in its bounds, none, or the service's setting", "[quota]")
{
    quota q = quota_none();

    CHECK(std::isnan(q.rate_per_s));
    CHECK(std::isnan(q.weight));
    for (size_t i = 0; i < QUOTA_COUNT; i++) {
        const quota_member &m = quota_members[i];
        double *value = (double *)((char *)&q + m.offset);
        auto text = [](double x) {
            char s[64];
            snprintf(s, sizeof(s), "%.17g", x);
            return std::string(s);
        };
        CAPTURE(m.name);
        CHECK(read_one((quota_index)i, text(m.least).c_str(), &q) == OK);
        CHECK(*value == m.least);
        CHECK(read_one((quota_index)i, text(m.most).c_str(), &q) == OK);
        CHECK(*value == m.most);
        for (const char *bad : {"", "x", "1x", "nan", "-1", "1e308", "inf", " "}) {
            CAPTURE(bad);
            CHECK(read_one((quota_index)i, bad, &q) == ERR_INVALID);
        }
        CHECK(read_one((quota_index)i, text(m.least / 2).c_str(), &q) == ERR_INVALID);
        CHECK(*value == m.most); // a refused one changes nothing
        for (const char *none : {"0", "none", "0.0"}) {
            bool is_weight = i == QUOTA_weight;

            CHECK((read_one((quota_index)i, none, &q) == OK) == !is_weight);
            CHECK(*value == (is_weight ? m.most : 0));
        }
        CHECK(read_one((quota_index)i, "default", &q) == OK);
        CHECK(std::isnan(*value));
    }
}

TEST_CASE("of two quotas the lower is in force", "[quota]")
{
    CHECK(quota_lower(3, 5) == 3);
    CHECK(quota_lower(5, 3) == 3);
    CHECK(quota_lower(5, 5) == 5);
    CHECK(quota_lower(NAN, 3) == 3);
    CHECK(quota_lower(3, NAN) == 3);
    CHECK(quota_lower(0, 3) == 3); // 0: no limit
    CHECK(quota_lower(3, 0) == 3);
    CHECK(std::isnan(quota_lower(0, NAN)));
    CHECK(std::isnan(quota_lower(0, 0)));
}

// Worked example 12 of trust.md.
TEST_CASE("a bucket of processor time: full, used, refilled, in debt", "[quota]")
{
    cpu_bucket b = cpu_bucket_make(3600, 100);
    cpu_state s = cpu_bucket_state(&b);

    CHECK(s.remaining_s == 3600);
    CHECK(s.reset_s == 1);
    CHECK(s.retry_after_s == 0);
    b.level_s -= 12.4;
    s = cpu_bucket_state(&b);
    CHECK(s.remaining_s == 3587);
    CHECK(s.reset_s == 1);
    cpu_bucket_refill(&b, 3600, 105);
    s = cpu_bucket_state(&b);
    CHECK(s.remaining_s == 3592);
    CHECK(s.reset_s == 1);
    b.level_s = -20;
    s = cpu_bucket_state(&b);
    CHECK(s.remaining_s == 0);
    CHECK(s.retry_after_s == 21);
    cpu_bucket_refill(&b, 1800, 105); // half of it from now on
    s = cpu_bucket_state(&b);
    CHECK(s.retry_after_s == 42);
    cpu_bucket_refill(&b, 1800, 104); // a clock that goes back
    CHECK(b.level_s == -20);
    cpu_bucket_refill(&b, 1800, 105 + 42);
    CHECK(cpu_bucket_state(&b).retry_after_s == 0); // exactly one second is there
    cpu_bucket_refill(&b, 1800, 1e9);
    CHECK(b.level_s == 1800); // never more than an hour's
    cpu_bucket_refill(&b, 7200, 1e9);
    CHECK(b.level_s == 1800);
    cpu_bucket_refill(&b, 360, 1e9);
    CHECK(b.level_s == 360);
}

TEST_CASE("a bucket of requests says when one more is left", "[quota]")
{
    ratelimit *limits = ratelimit_create(64);
    ratelimit_state s{};

    ratelimit_look(limits, "key", 10, 20, 100, &s);
    CHECK(s.remaining_count == 20);
    CHECK(s.reset_s == Approx(0.1).epsilon(1e-12)); // full: of one
    CHECK(ratelimit_take(limits, "key", 10, 20, 100, &s));
    CHECK(s.remaining_count == 19);
    CHECK(s.reset_s == Approx(0.1).epsilon(1e-12));
    ratelimit_look(limits, "key", 10, 20, 100.05, &s);
    CHECK(s.remaining_count == 19);
    CHECK(s.reset_s == Approx(0.05).epsilon(1e-9));
    ratelimit_give(limits, "key", 10, 20, 100.05);
    ratelimit_look(limits, "key", 10, 20, 100.05, &s);
    CHECK(s.remaining_count == 20); // no more than the burst
    ratelimit_close(limits);
}

TEST_CASE("without a database the level is the process's own", "[quota]")
{
    cpu_quota *q = cpu_quota_create(nullptr, 3600);
    cpu_state s{};

    REQUIRE(q);
    CHECK(cpu_quota_look(q, "t", "k", 360, &s));
    CHECK(s.remaining_s == 360);
    cpu_quota_charge(q, "t", "k", 360);
    CHECK_FALSE(cpu_quota_look(q, "t", "k", 360, &s));
    CHECK(s.remaining_s == 0);
    CHECK(s.retry_after_s >= 9);
    CHECK(s.retry_after_s <= 10);               // a tenth of a second comes each second
    CHECK(cpu_quota_look(q, "t", "", 360, &s)); // the tenant's is another
    CHECK(cpu_quota_look(q, "tk", "", 360, &s));
    cpu_quota_charge(q, "nobody", "", 5); // no such bucket
    cpu_quota_charge(q, "t", "", 0);
    cpu_quota_charge(q, "t", "", NAN);
    cpu_quota_sync(q);
    CHECK_FALSE(cpu_quota_look(q, "t", "k", 360, &s));
    cpu_quota_close(q);
    CHECK(cpu_quota_look(nullptr, "t", "k", 360, &s));
    cpu_quota_charge(nullptr, "t", "k", 1);
    cpu_quota_close(nullptr);
}

TEST_CASE("replicas share what a tenant has left", "[quota][db]")
{
    NEED_DATABASE();
    test_db d;
    error err{};
    size_t applied;
    cpu_state s{};
    std::string tenant =
        "quota " + std::to_string(getpid()) + " " + std::to_string(clock_wall_s());
    const char *t = tenant.c_str();

    REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));
    cpu_quota *one = cpu_quota_create(d, 3600), *two = cpu_quota_create(d, 3600);
    REQUIRE((one && two));
    CHECK(cpu_quota_look(one, t, "", 100, &s));
    CHECK(cpu_quota_look(two, t, "", 100, &s));
    usleep(500000); // a new bucket is looked up in the background, before it is used here
    cpu_quota_charge(one, t, "", 60);
    cpu_quota_charge(two, t, "", 70);
    CHECK(cpu_quota_look(one, t, "", 100, &s));
    CHECK(s.remaining_s == 40); // it does not know of the other
    cpu_quota_sync(one);
    CHECK(cpu_quota_look(one, t, "", 100, &s));
    CHECK(s.remaining_s == 40);
    cpu_quota_sync(two);
    CHECK_FALSE(cpu_quota_look(two, t, "", 100, &s)); // 100 - 60 - 70, and some refill
    CHECK(s.retry_after_s >= 31 * 36 - 36);
    cpu_quota_sync(one); // nothing new was used: nothing is asked
    CHECK(cpu_quota_look(one, t, "", 100, &s));
    cpu_quota_charge(one, t, "", 0.5);
    cpu_quota_sync(one);
    CHECK_FALSE(cpu_quota_look(one, t, "", 100, &s));
    cpu_quota *late = cpu_quota_create(d, 3600); // starts when all is used up
    REQUIRE(late);
    cpu_quota_look(late, t, "", 100, &s);
    for (int i = 0; i < 500 && cpu_quota_look(late, t, "", 100, &s); i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(s.remaining_s == 0); // learnt at once, not with the next round
    cpu_quota_close(late);
    cpu_quota_close(one);
    cpu_quota_close(two);

    test_session session(d);
    test_arena a;
    double level_s = 0;
    REQUIRE_OK(
        store_quota_spend(session, t, "", 100, 100 / 3600.0, 0, &level_s, a, &err));
    CHECK(level_s == Approx(-30.5).margin(1)); // what both have used, once
    quota q = quota_none(), got{};
    REQUIRE_OK(store_quota_find(session, t, &got, a, &err));
    CHECK(std::isnan(got.cpu_s_per_hour)); // nothing said
    q.cpu_s_per_hour = 100;
    q.weight = 2;
    q.concurrent_count = 0;
    REQUIRE_OK(store_quota_set(session, t, &q, &err));
    REQUIRE_OK(store_quota_find(session, t, &got, a, &err));
    CHECK(got.cpu_s_per_hour == 100);
    CHECK(got.weight == 2);
    CHECK(got.concurrent_count == 0);
    CHECK(std::isnan(got.memory_bytes));
}
