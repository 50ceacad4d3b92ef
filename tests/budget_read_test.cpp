// budget_read_test.cpp - what reads and prints ends when nobody waits any more, and what
// a decision leaves out when its time is up.
#include "tests/placement_support.hpp"

extern "C" {
#include "handlers/pictures/gantt.h"
#include "models/base/budget_read.h"
#include "models/json_walk.h"
#include "models/stg.h"
#include "models/swf.h"
#include "service/gzip.h"
#include "service/xml_text.h"
}

namespace
{

// Spent after so many questions.
struct patience {
    size_t asked, most;
};

double used_of(void *context)
{
    auto *p = static_cast<patience *>(context);

    return p->asked++ < p->most ? 0 : 2;
}

// Reading and printing on this thread count on it, as long as it is there.
struct reading {
    patience p;
    budget b;
    explicit reading(size_t most) : p{0, most}, b(make_budget(used_of, &p))
    {
        budget_read_on(&b);
    }
    ~reading()
    {
        budget_read_on(nullptr);
    }
    reading(const reading &) = delete;
    reading &operator=(const reading &) = delete;
};

std::string swf_of(size_t lines)
{
    std::string text;

    for (size_t i = 0; i < lines; i++)
        text += std::to_string(i + 1) + " " + std::to_string(i) +
                " 0 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n";
    return text;
}

} // namespace

TEST_CASE("a log, a graph and a list are read to their end only while somebody waits",
          "[base][import]")
{
    const std::string log = swf_of(20000);
    std::string graph = "5000\n", list = "[0";
    for (int i = 0; i < 5000; i++)
        graph += std::to_string(i) + " 1 0\n";
    for (int i = 0; i < 50000; i++)
        list += ",1";
    list += "]";
    for (size_t most : {size_t{0}, size_t{2}, SIZE_MAX}) {
        test_arena a;
        error err = collecting_error(a);
        swf_log jobs{};
        swf_header header{};
        swf_counts counts{};
        workflow_import flow{};
        json_walk walk{};
        enum error_code want = most == SIZE_MAX ? OK : ERR_CANCELLED;
        {
            reading r(most);
            CHECK(swf_read(log.data(), log.size(), &jobs, &header, &counts, a, &err) ==
                  want);
        }
        err = collecting_error(a);
        {
            reading r(most);
            CHECK(stg_read(graph.data(), graph.size(), "/stg", &flow, a, &err) == want);
        }
        err = collecting_error(a);
        {
            reading r(most);
            size_t count = 0;

            json_walk_open(&walk, list.data(), list.size(), a);
            for (json_walk_enter(&walk, '['); json_walk_element(&walk); count++)
                json_walk_number(&walk);
            CHECK(json_walk_end(&walk, "", &err) == want);
            CHECK((count == 50001) == (want == OK));
        }
        CHECK(swf_read(log.data(), log.size(), &jobs, &header, &counts, a, &err) == OK);
        CHECK(jobs.count == 20000);
    }
}

TEST_CASE("gzip looks up after 64 KiB, in and out", "[base][gzip]")
{
    std::string text, packed;
    for (uint64_t i = 0; text.size() < 3'000'000; i++)
        text += std::to_string(i * 0x9e3779b97f4a7c15U);
    for (size_t most : {SIZE_MAX, size_t{0}, size_t{3}}) {
        test_arena a;
        error err{};
        const char *out = nullptr;
        size_t length = 0;
        bool goes_on = most == SIZE_MAX;
        {
            reading r(most);
            CHECK(gzip_deflate(text.data(), text.size(), &out, &length, a) == goes_on);
        }
        if (goes_on)
            packed.assign(out, length);
        {
            reading r(most);
            CHECK(gzip_inflate(packed.data(), packed.size(), 4'000'000, &out, &length, a,
                               &err) == (goes_on ? OK : ERR_CANCELLED));
        }
        if (goes_on)
            CHECK(std::string(out, length) == text);
    }
}

TEST_CASE("a chart is not drawn to its end for nobody", "[base][pictures]")
{
    std::vector<gantt_bar> bars(30000);
    for (size_t i = 0; i < bars.size(); i++) {
        bars[i].id = "job";
        bars[i].row = i % 50;
        bars[i].row_count = 1;
        bars[i].start_s = static_cast<double>(i);
        bars[i].finish_s = static_cast<double>(i) + 1;
        bars[i].transfer_from_s = bars[i].transfer_to_s = NAN;
    }
    for (size_t most : {size_t{1}, SIZE_MAX}) {
        test_arena a;
        error err{};
        gantt chart{};
        text_buffer b{};
        reading r(most);

        chart.title = "t";
        chart.row_count = 50;
        chart.bars = bars.data();
        chart.bar_count = bars.size();
        b.arena = a;
        CHECK(gantt_print(&chart, &b, &err) == (most == SIZE_MAX ? OK : ERR_CANCELLED));
    }
}

TEST_CASE("reasons beyond the first hundred wait for no clock", "[base][placement]")
{
    world w;
    test_arena a;
    patience p{0, 0};
    size_t looked_for = 0;

    w.limits = make_budget(used_of, &p);
    for (int i = 0; i < 200; i++)
        w.host("r" + std::to_string(i)).cpus = 1;
    for (int i = 0; i < 300; i++)
        w.task("j" + std::to_string(i), 1).cpus = 2 + i; // fits nowhere
    placement_out out = decided(w, "olb", a);
    REQUIRE(out.unplaced_count == 300);
    for (size_t i = 0; i < out.unplaced_count; i++)
        looked_for += std::string(out.unplaced[i].reasons[0].reason) == "too_small";
    CHECK(looked_for == 100);
    w.limits = budget{};
    out = decided(w, "olb", a);
    for (size_t i = 0; i < out.unplaced_count; i++)
        CHECK(std::string(out.unplaced[i].reasons[0].reason) == "too_small");
}

TEST_CASE("busy slots in any order make one profile", "[base][placement]")
{
    // The k-th of many ends is when the k-th job starts, whatever their order.
    for (bool falling : {false, true}) {
        world w;
        test_arena a;
        std::vector<double> ends;
        for (int i = 0; i < 500; i++)
            ends.push_back(falling ? 500 - i : i + 1);
        resource &r = w.host("r");
        r.n_max = r.cpus = 500;
        w.busy(r, ends);
        for (int i = 0; i < 5; i++)
            w.task("j" + std::to_string(i), 1000);
        placement_out out = decided(w, "mct", a);
        REQUIRE(out.placement_count == 5);
        for (size_t i = 0; i < 5; i++)
            CHECK(out.placements[i].start_s == static_cast<double>(i + 1));
    }
}
