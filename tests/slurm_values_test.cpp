// slurm_values_test.cpp - how Slurm writes numbers, times, amounts and lists of hosts.
#include "tests/support.hpp"

extern "C" {
#include "models/slurm/values.h"
}

TEST_CASE("Slurm's limits are minutes, its clocks have two forms", "[slurm]")
{
    struct {
        const char *text;
        double unit_s, want_s;
    } cases[] = {
        {"90", 60, 5400},
        {"01:30:00", 60, 5400},
        {"2-0", 60, 172800},
        {"2-00:00:00", 60, 172800},
        {"1-12:30", 60, 131400},
        {"30:00", 60, 1800},
        {"4:00:00", 60, 14400},
        {"5 sec", 1, 5},
        {"10 min", 60, 600},
        {"00:00:00", 60, 0},
        {"0", 60, 0},
        {"0.5", 60, 30},
    };
    for (auto &c : cases) {
        INFO(c.text);
        CHECK(slurm_duration_s(c.text, c.unit_s) == c.want_s);
    }
    for (const char *text :
         {"", "N/A", "(null)", "None", "4294967294", "18446744073709551614",
          "Partition_Limit", "1:2:3:4", "-5", "1-", "::", "0x10"}) {
        INFO(text);
        CHECK(std::isnan(slurm_duration_s(text, 60)));
    }
    for (const char *text : {"UNLIMITED", "INFINITE", "infinite", "4294967295", "-1"}) {
        INFO(text);
        CHECK(std::isinf(slurm_duration_s(text, 60)));
    }
    CHECK(std::isnan(slurm_duration_s(nullptr, 60)));
}

TEST_CASE("instants are epoch seconds or local times", "[slurm]")
{
    CHECK(slurm_instant_s("1795343007", 0) == 1795343007);
    CHECK(slurm_instant_s("2026-11-22T10:23:27", 0) == 1795343007);
    CHECK(slurm_instant_s("2026-11-22T11:23:27", 3600) == 1795343007);
    CHECK(slurm_instant_s("2000-02-29T00:00:00", 0) == 951782400);
    CHECK(slurm_instant_s("1970-01-01T00:00:01", 0) == 1);
    // As SLURM_TIME_FORMAT may have it.
    CHECK(slurm_instant_s("2026-11-22 10:23:27", 0) == 1795343007);
    CHECK(slurm_instant_s("2026-11-22T10:23:27Z", 3600) == 1795343007);
    CHECK(slurm_instant_s("2026-11-22T11:23:27+0100", 0) == 1795343007);
    CHECK(slurm_instant_s("2026-11-22T05:53:27-04:30", 0) == 1795343007);
    CHECK(slurm_is_local("2026-11-22T10:23:27"));
    for (const char *text : {"1795343007", "2026-11-22T10:23:27Z", "Unknown"})
        CHECK_FALSE(slurm_is_local(text));
    for (const char *text :
         {"0", "Unknown", "None", "N/A", "2026-13-01T00:00:00", "tomorrow",
          "2026-11-22T10:23:27X", "2026-11-22T10:23:27+1", "2026-11-22T10:23:27+9900",
          "2026-11-22_10:23:27", "4294967294"}) {
        INFO(text);
        CHECK(std::isnan(slurm_instant_s(text, 0)));
    }
}

TEST_CASE("memory is MiB unless a suffix says", "[slurm]")
{
    bool per_cpu = false;

    CHECK(slurm_bytes("8000", nullptr) == 8388608000.0);
    CHECK(slurm_bytes("2000M", nullptr) == 2097152000.0);
    CHECK(slurm_bytes("250G", nullptr) == 268435456000.0);
    CHECK(slurm_bytes("1.50T", nullptr) == 1.5 * 1099511627776.0);
    CHECK(slurm_bytes("512K", nullptr) == 524288.0);
    CHECK(slurm_bytes("500Mc", &per_cpu) == 524288000.0);
    CHECK(per_cpu);
    CHECK(slurm_bytes("500Mn", &per_cpu) == 524288000.0);
    CHECK_FALSE(per_cpu);
    CHECK(std::isnan(slurm_bytes("lots", nullptr)));
    CHECK(std::isnan(slurm_bytes("1.8446744073709552e+19", nullptr)));
}

static std::vector<std::string> hosts(const char *text)
{
    test_arena a;
    const char *const *names = nullptr;
    size_t count = 0;
    bool good = false;
    error err{};

    REQUIRE(computed(a, &err, [&] {
                good = slurm_hosts(text, &names, &count, a);
                return OK;
            }) == OK);
    if (!good)
        return {"(refused)"};
    return {names, names + count};
}

TEST_CASE("lists of hosts keep their zeros, several brackets are a product", "[slurm]")
{
    using list = std::vector<std::string>;
    CHECK(hosts("a[01-03,7]b[1-2]") ==
          list{"a01b1", "a01b2", "a02b1", "a02b2", "a03b1", "a03b2", "a7b1", "a7b2"});
    CHECK(hosts("node[2-5]") == list{"node2", "node3", "node4", "node5"});
    CHECK(hosts("node1,node[3-4],x") == list{"node1", "node3", "node4", "x"});
    CHECK(hosts("n[098-101]") == list{"n098", "n099", "n100", "n101"});
    CHECK(hosts("") == list{});
    for (const char *text :
         {"a[", "a]", "a[3-1]", "a[]", "a[x]", "a[1-]", "a[0-100000]",
          "a[1-1000]b[1-1000]", "a[1,]b]", "a[[1]]", "a[99999999999999999999]"}) {
        INFO(text);
        CHECK(hosts(text) == list{"(refused)"});
    }
    CHECK(hosts("a[1-100000]").size() == 100000);
}

TEST_CASE("tasks of arrays", "[slurm]")
{
    size_t count;
    double most;

    REQUIRE(slurm_tasks("1-5%2", &count, &most));
    CHECK(count == 5);
    CHECK(most == 2);
    REQUIRE(slurm_tasks("0-7,9:2", &count, &most));
    CHECK(count == 9);
    CHECK(most == 0);
    REQUIRE(slurm_tasks("0-10:5", &count, &most));
    CHECK(count == 3);
    REQUIRE(slurm_tasks("7", &count, &most));
    CHECK(count == 1);
    REQUIRE(slurm_tasks("0-99999", &count, &most));
    for (const char *text :
         {"", "5-1", "0-10:0", "0-100000", "a", "1,", "1-", "%2", "1%x", "0-7%2,9"}) {
        INFO(text);
        CHECK_FALSE(slurm_tasks(text, &count, &most));
    }
}

TEST_CASE("generic resources, licences and tracked resources", "[slurm]")
{
    test_arena a;
    const slurm_amount *list = nullptr;
    size_t count = 0;
    error err{};

    REQUIRE(computed(a, &err, [&] {
                count = slurm_generic(
                    "gpu:tesla:4(S:0),gres:gpu:2(IDX:0,3),mps,matlab:3,x:1K", &list, a);
                return OK;
            }) == OK);
    REQUIRE(count == 5);
    CHECK(std::string(list[0].name) == "gpu");
    CHECK(std::string(list[0].type) == "tesla");
    CHECK(list[0].count == 4);
    CHECK(std::string(list[1].name) == "gpu");
    CHECK(list[1].type == nullptr);
    CHECK(list[1].count == 2);
    CHECK(list[2].count == 1);
    CHECK(std::string(list[3].name) == "matlab");
    CHECK(list[3].count == 3);
    CHECK(list[4].count == 1024);
    // Newer versions have an = before the number, and a type may be unknown.
    REQUIRE(computed(a, &err, [&] {
                count = slurm_generic("gres/gpu=2,gres/gpu:a100=1,gpu:(null):4(S:0-1),"
                                      "gpu:(null):3(IDX:0)",
                                      &list, a);
                return OK;
            }) == OK);
    REQUIRE(count == 4);
    CHECK(list[0].count == 2);
    CHECK(list[0].type == nullptr);
    CHECK(std::string(list[1].type) == "a100");
    CHECK(list[1].count == 1);
    CHECK(std::string(list[2].name) == "gpu");
    CHECK(list[2].type == nullptr);
    CHECK(list[2].count == 4);
    CHECK(list[3].count == 3);
    REQUIRE(computed(a, &err, [&] {
                count =
                    slurm_tracked("cpu=64,mem=32000M,node=4,gres/gpu:tesla=2,gres/gpu=2,"
                                  "bad,x=y",
                                  &list, a);
                return OK;
            }) == OK);
    REQUIRE(count == 5);
    CHECK(slurm_amount_of(list, count, "cpu") == 64);
    CHECK(slurm_amount_of(list, count, "mem") == 32000 * 1048576.0);
    CHECK(slurm_amount_of(list, count, "gres/gpu") == 2);
    CHECK(std::string(list[3].type) == "tesla");
    CHECK(slurm_amount_of(list, count, "energy") == 0);
}
