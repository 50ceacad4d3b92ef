// coallocation_test.cpp - the worked examples of spec coallocation.md 2, 5, 6 and 7.
#include "tests/coallocation_place_support.hpp"

using namespace coallocation_place;

TEST_CASE("available and claimable follow coallocation.md 2", "[coallocation]")
{
    struct {
        const char *when;
        double total, busy, erroneous, idle, outstanding;
        bool usable;
        size_t available, claimable;
        bool inconsistent;
    } cases[] = {
        {"2a", 64, 20, 2, NAN, 16, true, 26, 42, false},
        {"2b: a local job took what was placed", 64, 60, 0, NAN, 16, true, 0, 4, false},
        {"more busy than there are", 64, 60, 5, NAN, 0, true, 0, 0, true},
        {"idle is given", NAN, NAN, NAN, 30, 4, true, 26, 30, false},
        {"not usable", 64, 20, 2, NAN, 16, false, 0, 0, false},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            multicluster m;

            m.site("A", 0);
            m.sites[0].processors_total = c.total;
            m.sites[0].processors_busy = c.busy;
            m.sites[0].processors_erroneous = c.erroneous;
            m.sites[0].processors_idle = c.idle;
            m.sites[0].processors_outstanding = c.outstanding;
            m.sites[0].usable = c.usable;
            m.build();
            CHECK(co_available(&m.grid, 0) == c.available);
            CHECK(co_claimable(&m.grid, 0) == c.claimable);
            CHECK(m.grid.sites[0].inconsistent == c.inconsistent);
        }
}

TEST_CASE("a snapshot's mistakes are all told", "[coallocation]")
{
    multicluster m;
    error err = collecting_error(m.arena);
    co_grid grid{};
    std::string pointers;

    m.site("A", 10).site("A", 4.5).site("C", -1).site("D", NAN);
    m.link("A", "X", 10).link("A", "C", -1).link("A", "D", 1).link("A", "D", 1);
    m.replica("f", "Y", 10).replica("f", "C", 11).replica("g", "C", NAN);
    m.pair("Z", "A");
    m.files.push_back({"h", NAN, CO_WHOLE, nullptr, 0});
    co_snapshot s = m.snapshot();
    CHECK(co_grid_create(&s, "/s", &grid, m.arena, &err) == ERR_INVALID);
    for (const error_item *i = err.first; i; i = i->next)
        pointers += std::string(i->pointer) + " " + item_kinds[i->code].name + "\n";
    CHECK(pointers == "/s/sites/1/processors_total out_of_bounds\n"
                      "/s/sites/1/id duplicate\n"
                      "/s/sites/2/processors_total out_of_bounds\n"
                      "/s/sites/3/processors_idle required\n"
                      "/s/links/0/to_site_id unknown_id\n"
                      "/s/links/1/bandwidth_mbps out_of_bounds\n"
                      "/s/links/3 duplicate\n"
                      "/s/replicas/0/site_id unknown_id\n"
                      "/s/replicas/1/bytes sizes_disagree\n"
                      "/s/files/0/bytes required\n"
                      "/s/replicas/2/bytes required\n"
                      "/s/history_pairs/0/execution_site_id unknown_id\n");
}

TEST_CASE("transfer times follow coallocation.md 5", "[coallocation]")
{
    multicluster m;

    m.site("A", 1).site("B", 1).site("C", 1).site("D", 1);
    m.link("A", "B", 400).link("A", "C", 600).link("A", "D", 100, true, 0.01);
    m.link("D", "A", 0, false).link("B", "C", 0);
    m.build();
    size_t a = m.at("A"), b = m.at("B"), c = m.at("C"), d = m.at("D");
    CHECK(co_transfer_s(&m.grid, b, a, 4e9) == 80);
    CHECK(co_transfer_s(&m.grid, c, a, 6e9) == 80);
    CHECK(co_transfer_s(&m.grid, d, a, 2e9) == Approx(160.01).epsilon(1e-12));
    CHECK(co_transfer_s(&m.grid, b, a, 1e9) == 20);
    CHECK(co_transfer_s(&m.grid, a, b, 4e9) == 80);
    CHECK(co_transfer_s(&m.grid, a, a, 4e9) == 0);
    CHECK(co_transfer_s(&m.grid, d, b, 0) == 0);
    CHECK(std::isinf(co_transfer_s(&m.grid, a, d, 1))); // explicit: no link
    CHECK(std::isinf(co_transfer_s(&m.grid, d, b, 1))); // not listed
    CHECK(std::isinf(co_transfer_s(&m.grid, c, b, 1)));
}

TEST_CASE("bandwidth 0 is no link even with a default", "[coallocation]")
{
    multicluster m;

    m.site("A", 1).site("B", 1).site("C", 1).link("A", "B", 0);
    m.default_bandwidth_mbps = 8;
    m.build();
    CHECK(std::isinf(co_transfer_s(&m.grid, 1, 0, 1e6)));
    CHECK(co_transfer_s(&m.grid, 2, 0, 1e6) == 1);
}

TEST_CASE("the nearest replica of coallocation.md 5", "[coallocation]")
{
    multicluster m;
    struct {
        const char *site, *replica;
        double time_s;
    } cases[] = {
        {"A", "A", 0}, {"B", "A", 80}, {"C", "A", 160}, {"D", "D", 0}, {"E", "D", 40},
    };

    example_6a(m);
    m.replica("f", "D", 4e9).build(); // listed twice: counts once
    CHECK(m.grid.files[0].site_count == 2);
    for (auto &c : cases) {
        size_t from;

        CHECK(co_replica_s(&m.grid, m.at(c.site), 0, 4e9, &from) == c.time_s);
        CHECK(m.name(from) == c.replica);
    }
}

TEST_CASE("close_to_files follows example 6a", "[coallocation]")
{
    struct {
        const char *when, *pairs, *want;
        double ftt_s;
        const char *added;
    } cases[] = {
        {"all pairs", nullptr, "D<-D 0, A<-A 0, E<-D 40, E<-D 40", 40, "(E,A)(E,D)"},
        {"C known", "CACD", "D<-D 0, A<-A 0, C<-A 160, C<-A 160", 160, "(C,A)(C,D)"},
        {"a poor pair, then it learns", "EA", "D<-D 0, A<-A 0, E<-A 640, E<-D 40", 640,
         "(E,A)(E,D)"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            multicluster m;
            parallel_job j("CF");

            example_6a(m);
            for (const char *p = c.pairs; p && *p; p += 2)
                m.pair(std::string(1, p[0]), std::string(1, p[1]));
            m.build();
            j.component(m, 16).component(m, 8).component(m, 16).component(m, 8);
            co_placement p = place(m, j);
            CHECK(p.placed);
            CHECK(choices(m, p) == c.want);
            CHECK(p.ftt_s == c.ftt_s);
            CHECK(pairs_of(m, p) == c.added);
            CHECK(p.lower_bound_s == 40);
            CHECK(p.gap_ratio == (c.ftt_s - 40) / 40);
            if (!c.pairs) {
                co_hold(&p, m.available.data());
                CHECK(m.available == std::vector<size_t>{2, 20, 30, 0, 16});
                CHECK(p.site_count == 3);
            }
        }
}

TEST_CASE("close_to_files with an empty history table uses file sites only",
          "[coallocation]")
{
    multicluster m;
    parallel_job j("close_to_files");

    example_6a(m);
    m.has_pairs = true;
    m.build();
    j.component(m, 16).component(m, 8).component(m, 16).component(m, 8);
    co_placement p = place(m, j);
    CHECK_FALSE(p.placed);
    CHECK(p.failed_component == 2);
    CHECK(p.reason == CO_NO_HISTORY_PAIR);
    CHECK(p.reason_count[CO_TOO_FEW_PROCESSORS] == 2);
    CHECK(p.reason_count[CO_NO_HISTORY_PAIR] == 3);
    CHECK(m.name(p.nearest_site) == "A");
    CHECK(p.processors_short == 6);
    CHECK_FALSE(p.never_fits);

    j.param[CO_COMMON_COUNT] = 1; // full_search_on_miss
    CHECK(choices(m, place(m, j)) == "D<-D 0, A<-A 0, E<-D 40, E<-D 40");
}

TEST_CASE("example 6b: DAS-2 names, equal links", "[coallocation]")
{
    struct {
        const char *policy, *want;
    } cases[] = {
        {"CF", "UvA<-UvA 0, UvA<-UvA 0, Delft<-UvA 96, Delft<-UvA 96"},
        {"WF", "VU<-UvA 96, VU<-UvA 96, VU<-UvA 96, VU<-UvA 96"},
        {"CM", "VU<-UvA 96, VU<-UvA 96, VU<-UvA 96, VU<-UvA 96"},
    };
    for (auto &c : cases) {
        multicluster m;
        parallel_job j(c.policy);

        m.site("Delft", 41).site("Leiden", 36).site("UvA", 38);
        m.site("Utrecht", 40).site("VU", 95);
        m.replica("f", "UvA", 6e9);
        m.default_bandwidth_mbps = 500;
        m.build();
        for (int i = 0; i < 4; i++)
            j.component(m, 16);
        co_placement p = place(m, j);
        CHECK(choices(m, p) == c.want);
        CHECK(p.ftt_s == 96);
        CHECK(p.site_count == (c.policy == std::string("CF") ? 2 : 1));
    }
}

TEST_CASE("worst_fit follows example 6c", "[coallocation]")
{
    multicluster m;
    parallel_job j("WF");

    example_6a(m);
    m.build();
    j.component(m, 16).component(m, 8).component(m, 16).component(m, 8);
    co_placement p = place(m, j);
    CHECK(choices(m, p) == "E<-D 40, E<-D 40, C<-A 160, B<-A 80");
    CHECK(p.gap_ratio == 3);
    j.job.distinct = true;
    CHECK(choices(m, place(m, j)) == "E<-D 40, B<-A 80, C<-A 160, D<-D 0");
    j.job.distinct = false;
    co_hold(&p, m.available.data());
    CHECK(m.available == std::vector<size_t>{10, 12, 14, 16, 16});
}

TEST_CASE("example 6e: one by one fails where all at once fits", "[coallocation]")
{
    multicluster m;
    parallel_job j("WF");

    m.site("A", 10).site("B", 6).build();
    j.component(m, 5, "").component(m, 6, "").component(m, 5, "");
    co_placement p = place(m, j);
    CHECK_FALSE(p.placed);
    CHECK(p.failed_component == 2);
    CHECK(p.reason == CO_NO_SITE_WITH_ENOUGH_PROCESSORS);
    CHECK(m.name(p.nearest_site) == "A");
    CHECK(p.processors_short == 1);
    CHECK_FALSE(p.never_fits);

    j.param[CO_PACK_RETRY] = 1;
    CHECK(choices(m, place(m, j)) == "A<-- 0, B<-- 0, A<-- 0");

    j.param[CO_PACK_RETRY] = 0;
    j.job.atomic = false;
    p = place(m, j);
    CHECK(choices(m, p) == "B<-- 0, A<-- 0, -");
    CHECK(p.placed);
    CHECK(p.placed_count == 2);
    j.job.min_placed = 3;
    CHECK_FALSE(place(m, j).placed);
}

TEST_CASE("fixed and semi-fixed jobs follow coallocation.md 6.4", "[coallocation]")
{
    for (auto &policy : {"CF", "WF", "CM", "GB"}) {
        multicluster m;
        parallel_job two(policy), full(policy), large(policy);

        example_6a(m);
        m.build();
        two.component(m, 16, "f", "E").component(m, 8, "f", "B");
        co_placement p = place(m, two);
        CHECK(choices(m, p) == "E<-D 40, B<-A 80");
        CHECK(p.ftt_s == 80);
        CHECK(p.lower_bound_s == 80);
        full.component(m, 41, "f", "E");
        p = place(m, full);
        CHECK_FALSE(p.placed);
        CHECK(p.reason == CO_FIXED_SITE_FULL);
        CHECK(p.processors_short == 1);
        CHECK(p.never_fits);
        m.available[m.at("E")] = 7;
        large.component(m, 8, "f", "E");
        CHECK_FALSE(place(m, large).never_fits);
    }
    struct {
        const char *policy, *want;
        double ftt_s;
    } cases[] = {
        {"WF", "A<-A 0, C<-A 160, E<-D 40, E<-D 40", 160},
        {"CF", "A<-A 0, E<-D 40, D<-D 0, E<-D 40", 40},
    };
    for (auto &c : cases) {
        multicluster m;
        parallel_job j(c.policy);

        example_6a(m);
        m.build();
        j.component(m, 8, "f", "A").component(m, 8).component(m, 16).component(m, 8);
        co_placement p = place(m, j);
        CHECK(choices(m, p) == c.want);
        CHECK(p.lower_bound_s == 40);
        if (c.policy == std::string("CF"))
            CHECK(pairs_of(m, p) == "(E,A)(E,D)");
    }
}

TEST_CASE("cluster_minimisation and the baselines", "[coallocation]")
{
    multicluster m;
    parallel_job few("CM"), near("GB"), data("data_present");

    example_6a(m);
    m.build();
    few.component(m, 16).component(m, 8).component(m, 16).component(m, 8);
    CHECK(choices(m, place(m, few)) == "E<-D 40, E<-D 40, E<-D 40, C<-A 160");
    near.component(m, 16);
    CHECK(choices(m, place(m, near)) == "B<-A 80");
    data.component(m, 16);
    CHECK(choices(m, place(m, data)) == "D<-D 0");
    data.component(m, 16);
    co_placement p = place(m, data);
    CHECK_FALSE(p.placed);
    CHECK(p.reason == CO_NO_REPLICA);
    CHECK(p.reason_count[CO_NO_REPLICA] == 3);
}

TEST_CASE("flexible jobs follow example 6f", "[coallocation]")
{
    struct {
        const char *policy, *file;
        size_t total, min_size, max_size, min_count, max_count;
        bool equal;
        const char *want;
    } cases[] = {
        {"FCM", "", 50, 0, 0, 0, 0, false, "E40 C10"},
        {"CM", "", 50, 0, 0, 0, 0, false, "E40 C10"},
        {"FCM", "", 50, 0, 16, 0, 0, false, "E14,13,13 C10"},
        {"FCM", "", 42, 4, 0, 0, 0, false, "E38 C4"},
        {"FCM", "", 43, 4, 0, 0, 0, false, "E39 C4"},
        {"FCM", "", 116, 0, 0, 0, 0, false, "E40 C30 B20 D16 A10"},
        {"FCM", "", 117, 0, 0, 0, 0, false, "fail"},
        {"WF", "", 50, 0, 0, 0, 0, false, "B6 C16 D2 E26"},
        {"WF", "", 50, 4, 0, 0, 0, false, "B7 C17 E26"},
        {"WF", "", 50, 0, 0, 0, 3, false, "B7 C17 E26"},
        {"CF", "f", 50, 0, 0, 0, 0, false, "A10 D16 E24"},
        {"FCM", "", 50, 0, 0, 4, 0, false, "E20,10,10 C10"},
        {"FCM", "", 50, 11, 0, 5, 0, false, "fail"},
        {"FCM", "", 50, 0, 0, 0, 1, false, "fail"},
        {"FCM", "", 41, 15, 20, 0, 0, false, "fail"},
        {"WF", "", 48, 0, 0, 0, 0, true, "C24 E24"},
        {"WF", "", 64, 0, 0, 0, 0, true, "E16 C16 E16 B16"},
        {"WF", "", 112, 0, 0, 0, 16, true, "fail"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.policy << " " << c.total << " " << c.want)
        {
            multicluster m;
            parallel_job j(c.policy);

            example_6a(m);
            m.build();
            j.flexible(m, c.total, c.file);
            j.job.min_processors = c.min_size;
            j.job.max_processors = c.max_size;
            j.job.min_components = c.min_count;
            j.job.max_components = c.max_count;
            j.job.equal_components = c.equal;
            co_placement p = place(m, j);
            std::string got = shares(m, p);
            if (c.equal && c.total == 48) // the policy's order of ties
                CHECK((got == "E24 C24" || got == "C24 E24"));
            else
                CHECK(got == c.want);
            if (p.placed)
                CHECK(std::string(p.components[0].id) == "c0");
            else
                CHECK(p.reason ==
                      (c.total == 117 ? CO_NO_SITE_WITH_ENOUGH_PROCESSORS : CO_BOUNDS));
            CHECK(p.never_fits == (c.total == 117 || c.min_count * c.min_size > c.total));
            if (c.file[0])
                CHECK(p.ftt_s == 40);
        }
}

TEST_CASE("a split is found whenever there is one", "[coallocation]")
{
    struct {
        const char *policy;
        size_t total, c_room;
        const char *want;
    } cases[] = {
        {"FCM", 12, 4, "A4 B4 C4"},
        {"FCM", 7, 4, "fail"},
        {"CF", 11, 100, "A5 C6"},
    };
    for (auto &c : cases) {
        multicluster m;
        parallel_job j(c.policy);

        m.site("A", 5).site("B", 5).site("C", static_cast<double>(c.c_room));
        m.link("A", "B", 100).link("A", "C", 50).replica("f", "A", 1e9).build();
        j.flexible(m, c.total, "f");
        j.job.min_processors = 4;
        CHECK(shares(m, place(m, j)) == c.want);
    }
}

TEST_CASE("a flexible job's chunks follow its shares", "[coallocation]")
{
    multicluster m;
    parallel_job j("FCM");

    m.site("A", 10).site("B", 5).link("A", "B", 8);
    m.files.push_back({"f", 100, CO_CHUNK, nullptr, 0});
    m.replica("f", "A", NAN).build();
    j.flexible(m, 13, "f");
    co_placement p = place(m, j);
    REQUIRE(shares(m, p) == "A10 B3");
    CHECK(p.components[0].bytes == 77);
    CHECK(p.components[1].bytes == 24);
}

TEST_CASE("sites are barred, avoided and counted by reason", "[coallocation]")
{
    multicluster m;
    parallel_job j("CF");
    const char barred[] = {CO_CAPABILITY, CO_NO_REASON, CO_NOT_USABLE, CO_AVOIDED,
                           CO_AVOIDED};

    example_6a(m);
    m.sites[1].usable = false;
    m.build();
    j.component(m, 16);
    j.job.barred = barred;
    co_placement p = place(m, j);
    CHECK_FALSE(p.placed);
    CHECK(p.reason_count[CO_CAPABILITY] == 1);
    CHECK(p.reason_count[CO_NOT_USABLE] == 2);
    CHECK(p.reason_count[CO_AVOIDED] == 2);
    j.job.avoid_soft = true;
    p = place(m, j);
    CHECK(choices(m, p) == "D<-D 0");
    CHECK(p.avoided_used);
}

TEST_CASE("no replica, no link", "[coallocation]")
{
    multicluster m;
    parallel_job lost("CF"), far("WF"), far_gb("GB");

    m.site("A", 4).site("B", 8).site("C", 8);
    m.files.push_back({"g", 5, CO_WHOLE, nullptr, 0});
    m.replica("f", "A", 1).build();
    lost.component(m, 2, "g");
    CHECK(place(m, lost).reason == CO_NO_REPLICA);
    for (auto *j : {&far, &far_gb}) {
        j->component(m, 8);
        co_placement p = place(m, *j);
        CHECK(p.reason == CO_NO_LINK);
        CHECK(p.reason_count[CO_NO_LINK] == 2);
        CHECK(p.reason_count[CO_TOO_FEW_PROCESSORS] == 1);
    }
}

TEST_CASE("never_fits is said at once", "[coallocation]")
{
    multicluster m;
    auto never = [&](std::vector<size_t> sizes, bool atomic, bool distinct) {
        parallel_job j("WF");

        for (size_t size : sizes)
            j.component(m, size, "");
        j.job.atomic = atomic;
        j.job.distinct = distinct;
        return place(m, j).never_fits;
    };

    m.site("A", 10).site("B", 6).build();
    CHECK(never({11}, true, false));
    CHECK(never({10, 7}, true, false));
    CHECK_FALSE(never({5, 6, 5}, true, false)); // one by one only
    CHECK(never({2, 2, 2}, true, true));
    CHECK(never({11, 12}, false, false));
    m.grid.sites[1].total = NAN; // not known
    CHECK_FALSE(never({11}, true, false));
}

TEST_CASE("one transfer for a whole file on a site, one for each chunk", "[coallocation]")
{
    for (bool chunk : {false, true}) {
        multicluster m;
        parallel_job j("CF");
        const co_transfer *list;
        size_t count;

        example_6a(m);
        m.files.push_back({"f", 4e9, chunk ? CO_CHUNK : CO_WHOLE, nullptr, 0});
        m.build();
        j.component(m, 16).component(m, 8).component(m, 16).component(m, 8);
        for (auto &c : j.components)
            c.bytes = chunk ? 1e9 : 4e9;
        co_placement p = place(m, j);
        co_transfers(&m.grid, &p, &list, &count, m.arena);
        REQUIRE(count == (chunk ? 2 : 1));
        CHECK(list[0].bytes == (chunk ? 1e9 : 4e9));
        CHECK(list[0].estimated_s == (chunk ? 10 : 40));
        CHECK(m.name(list[0].from_site) == "D");
        CHECK(m.name(list[0].to_site) == "E");
    }
}

TEST_CASE("one component by itself, for claiming", "[coallocation]")
{
    multicluster m;
    parallel_job j("CM");
    co_choice choice{};
    const co_pair *added;
    size_t count;
    bool found, used[5] = {false, true, false, false, false};

    example_6a(m);
    m.build();
    j.component(m, 8);
    co_place_in in{&m.grid, &j.job, m.available.data(), &m.history, nullptr};
    co_choose(&in, &j.components[0], used, &choice, &found, &added, &count, m.arena);
    CHECK(found);
    CHECK(m.name(choice.site) == "B");
    CHECK(choice.transfer_s == 80);
}

TEST_CASE("the timeline follows coallocation.md 7 and 8", "[coallocation]")
{
    const co_claim_steps steps = CO_CLAIM_STEPS;
    co_times first{0, 0, 60, 460, 360, NAN, NAN, NAN};
    struct co_durations d = co_durations(&first);

    CHECK(co_jst_s(60, 400) == 460);
    CHECK(co_first_claim_s(60, 400, 0.75, &steps) == 360);
    CHECK(d.gained_s == 300);
    CHECK(d.wasted_s == 100);
    CHECK(d.waiting_s == 460);
    CHECK(d.placement_s == 60);
    CHECK(d.start_s + 192 == 652);

    co_times again{0, 470, 710, 710, 710, NAN, 460, 60};
    d = co_durations(&again);
    CHECK(d.placement_s == 240);
    CHECK(d.total_placement_s == 300);
    CHECK(d.start_delay_s == 250);

    co_times late{0, 0, 60, 460, 500, 480, NAN, NAN};
    CHECK(co_durations(&late).wasted_s == 0);
    CHECK(co_durations(&late).start_s == 500);
}

TEST_CASE("claims are planned as in coallocation.md 8", "[coallocation]")
{
    const co_claim_steps steps = CO_CLAIM_STEPS;
    auto schedule = [&](double jpt_s, double ftt_s, double l) {
        test_arena a;
        error err{};
        const double *list;
        size_t count;

        REQUIRE(co_claim_schedule(jpt_s, ftt_s, l, &steps, &list, &count, a, &err) == OK);
        return std::vector<double>(list, list + count);
    };
    using list = std::vector<double>;

    CHECK(schedule(1000, 400, 1) == list{1400});
    CHECK(schedule(1000, 400, 0.75) == list{1300, 1375, 1393.75, 1398.4375, 1400});
    CHECK(schedule(1000, 400, 0.5) ==
          list{1200, 1300, 1350, 1375, 1387.5, 1393.75, 1396.875, 1398.4375, 1400});
    CHECK(schedule(1000, 400, 0.25).size() == 20);
    CHECK(schedule(1000, 400, 0.25)[18] == Approx(1398.9932212727144).epsilon(1e-15));
    CHECK(schedule(1000, 400, 0).size() == 41);
    CHECK(schedule(0, 160, 0.75) == list{120, 150, 157.5, 160});
    CHECK(schedule(7, 0, 0.75) == list{7});
    CHECK(schedule(0, 3, 0.75) == list{3});
    CHECK(schedule(0, 3.9, 0.75) == list{3.9});
    CHECK(schedule(0, 4, 0.75) == list{3, 4});
}

TEST_CASE("policies are found by name and abbreviation", "[coallocation]")
{
    for (const struct policy *p = coallocation_policies; p->name; p++) {
        CHECK(policy_find(coallocation_policies, p->name) == p);
        if (p->abbreviation)
            CHECK(policy_find(coallocation_policies, p->abbreviation) == p);
        if (p != coallocation_policies)
            CHECK(strcmp(p[-1].name, p->name) < 0);
    }
    CHECK(policy_find(coallocation_policies, "nothing") == nullptr);
}
