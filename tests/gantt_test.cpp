// gantt_test.cpp - charts: valid XML, escaped, bounded, the same for the same bars.
#include "tests/picture_support.hpp"

extern "C" {
#include "handlers/pictures/gantt_summary.h"
#include "models/base/duration.h"
}

namespace
{

struct chart_of {
    std::vector<std::string> ids, names;
    std::vector<gantt_bar> bars;
    std::vector<const char *> rows;
    gantt g{};

    // `count` bars on `rows` rows, drawn.
    std::string print(arena *a)
    {
        text_buffer b{};
        error err = collecting_error(a);

        b.arena = a;
        g.bars = bars.data();
        g.bar_count = bars.size();
        if (!g.title)
            g.title = "Chart";
        REQUIRE(gantt_print(&g, &b, &err) == OK);
        return std::string(b.data, b.length);
    }
    void name_rows(size_t count)
    {
        for (size_t i = 0; i < count; i++)
            names.push_back("r" + std::to_string(i));
        for (auto &n : names)
            rows.push_back(n.c_str());
        g.rows = rows.data();
        g.row_count = count;
    }
    void bar(const char *id, size_t row, double start_s, double finish_s,
             size_t row_count = 1)
    {
        gantt_bar b{};
        b.id = id;
        b.row = row;
        b.row_count = row_count;
        b.start_s = start_s;
        b.finish_s = finish_s;
        bars.push_back(b);
    }
};

} // namespace

TEST_CASE("a chart has its bars, names, ticks and tooltips", "[gantt]")
{
    test_arena a;
    chart_of c;

    c.name_rows(2);
    c.bar("first", 0, 0, 60);
    c.bar("second", 1, 60, 90);
    c.bars[0].detail = "on r0, slot 1";
    gantt_mark mark{"lower bound", 80};
    c.g.marks = &mark;
    c.g.mark_count = 1;
    c.g.subtitle = "2 bars";
    picture p(c.print(a));

    CHECK(p.bars() == 2);
    CHECK(p.has_text("first"));
    CHECK(p.has_text("r0"));
    CHECK(p.has_text("r1"));
    CHECK(p.has_text("lower bound"));
    CHECK(p.has_text("2 bars"));
    CHECK(p.has_text("1 min"));
    CHECK(p.has_text("30 s"));
    CHECK(p.has_title("first\n0 s \xe2\x80\x93 60 s\nfor 60 s\non r0, slot 1"));
    CHECK(p.has_title("second\n60 s \xe2\x80\x93 90 s\nfor 30 s"));
    CHECK(p.elements.count("script") == 0);
    CHECK(p.text.find("prefers-color-scheme:dark") != std::string::npos);
    CHECK(p.text.find("class=\"gp-ground\" fill=\"#fff\"") != std::string::npos);
    CHECK(p.notes().empty());
    CHECK(c.print(a) == p.text);
}

TEST_CASE("what XML cannot have is escaped or replaced", "[gantt]")
{
    test_arena a;
    chart_of c;

    c.name_rows(1);
    c.names[0] = "<script>&\"'";
    c.rows[0] = c.names[0].c_str();
    c.g.title = "a\x01z\xff\xc3\xa9 <b> ]]> \xef\xbf\xbf \xed\xa0\x80";
    c.g.subtitle = "&amp;";
    c.bar("<a href='x'>\xf0\x9f\x98\x80", 0, 0, 1);
    picture p(c.print(a));

    CHECK(p.has_text("<script>&\"'"));
    CHECK(p.has_text("&amp;"));
    CHECK(p.has_text("a?z?\xc3\xa9 <b> ]]> ??? ???"));
    CHECK(p.has_text("<a href='x'>\xf0\x9f\x98\x80"));
    CHECK(p.elements.count("a") == 0);
}

TEST_CASE("bars without times or rows are left out, and the chart says so", "[gantt]")
{
    test_arena a;
    chart_of c;

    c.name_rows(1);
    c.bar("nan", 0, NAN, 1);
    c.bar("infinite", 0, 0, HUGE_VAL);
    c.bar("backwards", 0, 2, 1);
    c.bar("row", 1, 0, 1);
    c.bar("wide", 0, 0, 1, 2);
    c.bar("none", 0, 0, 1, 0);
    c.bar("overflow", 0, 0, 1, SIZE_MAX);
    c.bar("instant", 0, 5, 5);
    c.bar("huge", 0, 0, 1e308);
    picture p(c.print(a));
    CHECK(p.notes().find("7 bars are left out: they have no time or row.") !=
          std::string::npos);

    chart_of none;
    picture empty(none.print(a));
    CHECK(empty.notes() == "Nothing is scheduled.");
    CHECK(empty.bars() == 0);
}

TEST_CASE("bars that overlap in a row stand below each other", "[gantt]")
{
    test_arena a;
    chart_of c;

    c.name_rows(2);
    c.bar("x", 0, 0, 10);
    c.bar("y", 0, 5, 15);
    c.bar("z", 0, 10, 20);
    c.bar("w", 1, 0, 20);
    picture p(c.print(a));

    REQUIRE(p.bars() == 4);
    CHECK(p.y_of("x") == p.y_of("z"));
    CHECK(p.y_of("y") > p.y_of("x"));
    CHECK(p.y_of("w") > p.y_of("y"));
}

TEST_CASE("a label has room by the columns of its characters", "[gantt]")
{
    test_arena a;
    chart_of c;

    // The area is 1,124.6 px wide, and as many seconds long.
    c.name_rows(1);
    c.bar("\u6f22\u5b57\u6f22\u5b57", 0, 0, 50); // 8 columns: 49.6 px, and 8
    c.bar("\u6f22\u5b57\u6f22\u6f22", 0, 100, 160);
    c.bar("e\u0301e\u0301e\u0301e\u0301", 0, 200, 240); // 4 columns
    c.bar("last", 0, 1000, 1124.6);
    for (gantt_bar &bar : c.bars)
        bar.group = "one"; // the legend has no names then
    picture p(c.print(a));
    CHECK_FALSE(p.has_text("\u6f22\u5b57\u6f22\u5b57"));
    CHECK(p.has_text("\u6f22\u5b57\u6f22\u6f22"));
    CHECK(p.has_text("e\u0301e\u0301e\u0301e\u0301"));

    // Names of rows: twice as wide, and cut when they have no room at all.
    chart_of wide;
    wide.name_rows(2);
    wide.names[0] = "\u6f22\u5b57\u6f22\u5b57";
    wide.rows[0] = wide.names[0].c_str();
    wide.bar("x", 0, 0, 1);
    // 1200 - 16 - (14 + 6.7 * 8) - 32
    CHECK(wide.print(a).find("width=\"1083.8\"") != std::string::npos);
    std::string name;
    for (int i = 0; i < 40; i++)
        name += "\u6f22";
    wide.rows[0] = name.c_str();
    picture cut(wide.print(a));
    CHECK(cut.has_text(name.substr(0, 3 * 15) + "\u2026")); // 206 px of 13.4 each
}

TEST_CASE("ticks are what people count in", "[gantt]")
{
    struct {
        double finish_s;
        std::vector<const char *> some;
    } cases[] = {
        {1e-6, {"0 \xc2\xb5s", "0.2 \xc2\xb5s", "1 \xc2\xb5s"}},
        {0.02, {"5 ms", "20 ms"}},
        {0.5, {"0.1 s", "0.5 s"}},
        {9, {"1 s", "9 s"}},
        {100, {"20 s", "1 min 20 s"}},
        {3600, {"10 min", "1 h"}},
        {7200, {"15 min", "1 h 45 min"}},
        {86400.0 * 2, {"6 h", "1 d 12 h"}},
        {86400.0 * 30, {"7 d", "28 d"}},
        {86400.0 * 3650, {"448 d", "3584 d"}},
        {1e15, {"1.879e+09 d"}},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.finish_s)
        {
            test_arena a;
            chart_of chart;

            chart.name_rows(1);
            chart.bar("x", 0, 0, c.finish_s);
            picture p(chart.print(a));
            INFO(p.text);
            for (const char *tick : c.some)
                CHECK(p.has_text(tick));
        }
    test_arena a;
    chart_of before;
    before.name_rows(1);
    before.bar("x", 0, -90, 30);
    CHECK(picture(before.print(a))
              .has_text("\xe2\x88\x92"
                        "1 min"));
    chart_of late;
    late.name_rows(1);
    late.bar("x", 0, 1e9, 1e9 + 100);
    CHECK(picture(late.print(a)).bars() == 1);
}

TEST_CASE("very many bars stay a picture of bounded size", "[gantt]")
{
    test_arena a;
    struct {
        const char *when;
        size_t rows, bars, row_count;
    } cases[] = {
        {"10000 bars on 10 rows", 10, 10000, 1},
        {"100000 bars on 500 rows", 500, 100000, 1},
        {"50000 bars on 50000 rows", 50000, 50000, 1},
        {"30000 bars over several rows", 40000, 30000, 7},
        {"one bar over very many rows", 1000000, 1, 1000000},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            chart_of chart;

            if (c.row_count == 1)
                chart.name_rows(c.rows);
            chart.g.row_count = c.rows;
            for (size_t i = 0; i < c.bars; i++) {
                size_t row = c.bars == 1 ? 0 : i * 7919 % (c.rows - c.row_count + 1);
                double start_s = (double)(i / c.rows) * 10;

                chart.bar("job", row, start_s, start_s + 3 + (double)(i % 7),
                          c.row_count);
            }
            std::string text = chart.print(a);
            picture p(text);
            CHECK(text.size() < 250000);
            if (c.bars == 1) {
                CHECK(p.bars() == 1);
                return;
            }
            CHECK(p.bars() == 0);
            CHECK(p.notes().find(std::to_string(c.bars) +
                                 " bars are more than can be told apart") == 0);
            CHECK(p.notes().find("Busiest: ") != std::string::npos);
            CHECK(p.has_text("100 %"));
        }
}

TEST_CASE("what bars are and do is told apart, and explained", "[gantt]")
{
    test_arena a;
    chart_of c;

    c.name_rows(2);
    c.bar("rnaseq/align_1", 0, -30, 0);
    c.bar("rnaseq/align_2", 0, 0, 50);
    c.bar("rnaseq/sort_1", 1, 60, 90);
    c.bars[0].state = GANTT_DONE;
    c.bars[1].state = GANTT_RUNNING;
    c.bars[2].critical = true;
    c.bars[2].transfer_from_s = 50;
    c.bars[2].transfer_to_s = 60;
    c.bars[0].transfer_from_s = c.bars[0].transfer_to_s = NAN;
    picture p(c.print(a));
    CHECK(p.bars() == 3);
    for (const char *text :
         {"align_2", "align", "sort", "done", "running, filled up to its progress",
          "on the chain that ends last", "its last input is on its way"})
        CHECK(p.has_text(text));
    CHECK_FALSE(p.has_text("rnaseq/align_2"));
    CHECK(p.has_title("rnaseq/align_2\n0 s \xe2\x80\x93 50 s\nfor 50 s"));
    CHECK(p.notes() == "All labels begin with \"rnaseq/\".");
    c.bars[2].critical = false;
    c.bars[2].transfer_to_s = 0;
    picture plain(c.print(a));
    CHECK_FALSE(plain.has_text("on the chain that ends last"));
    CHECK_FALSE(plain.has_text("its last input is on its way"));
}

TEST_CASE("the groups with the most work have colours, the rest are others", "[gantt]")
{
    test_arena a;
    chart_of c;

    c.name_rows(1);
    // Nine kinds; kind k takes k + 1 seconds, and "z" as much as "i" has.
    const char *names[] = {"a_1", "b_1", "c_1", "d_1", "e_1", "f_1", "g_1", "h_1", "i_1"};
    for (int k = 0; k < 9; k++)
        c.bar(names[k], 0, 10 * k, 10 * k + k + 1);
    c.bar("z1", 0, 100, 109);
    c.bar("mine", 0, 200, 201);
    c.bars.back().group = "chosen";
    c.bar("7", 0, 300, 300.5); // begins with a digit
    picture p(c.print(a));
    std::vector<std::string> wanted = {"i", "z", "h", "g", "f", "e", "d", "others"};
    size_t last = 0;
    for (auto &name : wanted) {
        size_t at = p.text.rfind(">" + name + "</text>");
        INFO(name);
        REQUIRE(at != std::string::npos);
        CHECK(at > last); // in this order
        last = at;
    }
    for (const char *name : {"c", "b", "a", "chosen"})
        CHECK_FALSE(p.has_text(name));
    // The fifth to seventh are hatched, as well.
    for (const char *id : {"gp4", "gp5", "gp6"})
        CHECK(p.text.find("fill=\"url(#" + std::string(id) + ")\"") != std::string::npos);
    CHECK(p.text.find("gp7") == std::string::npos);

    chart_of one;
    one.name_rows(1);
    one.bar("n1", 0, 0, 1);
    one.bar("n2", 0, 1, 2);
    CHECK_FALSE(picture(one.print(a)).has_text("n")); // nothing to tell apart
}

TEST_CASE("marks: late, reserved, progress, stage-in, remarks and the width", "[gantt]")
{
    test_arena a;
    chart_of c;
    const char *remark = "1 without a place: big (memory).";
    gantt_view view{};

    c.name_rows(1);
    c.bar("tardy", 0, 0, 100);
    c.bars[0].late = true;
    c.bars[0].stage_in_s = 25;
    c.bar("half", 0, 100, 200);
    c.bars[1].state = GANTT_RUNNING;
    c.bars[1].progress_ratio = 0.5;
    c.bar("maintenance of all that there is, and then some", 0, 200, 300);
    c.bars[2].state = GANTT_RESERVED;
    c.bars[2].group = "upkeep";
    c.g.remarks = &remark;
    c.g.remark_count = 1;
    view.from_s = view.to_s = NAN;
    view.width = 600;
    c.g.view = &view;
    picture p(c.print(a));
    for (const char *text : {"!", "late", "reserved", "its inputs are on their way"})
        CHECK(p.has_text(text));
    CHECK(p.notes() == remark);
    CHECK(p.text.find("width=\"600\"") != std::string::npos);
    CHECK(p.text.find("url(#gpx)") != std::string::npos);
    // A label that does not fit is not there at all; its tooltip is.
    CHECK(p.text.find("\xe2\x80\xa6") == std::string::npos);
    CHECK(p.text.find("<title>maintenance of all that there is") != std::string::npos);
    CHECK(p.text.find(">maintenance") == p.text.find(">maintenance of all", 0));
    // 100 s are (600 - 43.4 - 32) / 3 = 174.87 wide: a quarter, and a half.
    CHECK(p.text.find("h43.72v") != std::string::npos);
    CHECK(p.text.find("h87.43v") != std::string::npos);

    view.mode = GANTT_SUMMARY;
    CHECK(picture(c.print(a)).has_text("busy"));
}

TEST_CASE("what all labels begin with is left out", "[gantt]")
{
    struct {
        std::vector<const char *> labels;
        std::string prefix;
    } cases[] = {
        {{"demo/a", "demo/b"}, "demo/"},
        {{"cluster-a-node-001", "cluster-a-node-002", "cluster-a-node-100"},
         "cluster-a-node-"},
        {{"align_s1", "align_s2", "sort_s1"}, ""},
        {{"n1", "n2"}, ""},
        {{"alone/x"}, ""},
        {{"abc", "abcd"}, ""},
        {{"abc/", "abc/d"}, ""},
        {{"rnaseq/align_sample_00001", "rnaseq/align_sample_00002"},
         "rnaseq/align_sample_"},
        {{}, ""},
    };
    for (auto &c : cases) {
        size_t length = gantt_prefix(c.labels.data(), c.labels.size());
        CHECK(length == c.prefix.size());
        if (length)
            CHECK(std::string(c.labels[0]).substr(0, length) == c.prefix);
    }
}

TEST_CASE("times are said as people say them", "[gantt]")
{
    const std::pair<double, const char *> cases[] = {
        {0, "0 s"},
        {0.00042, "420 \xc2\xb5s"},
        {0.25, "250 ms"},
        {3.5, "3.5 s"},
        {59.96, "60 s"},
        {86.6466667, "1 min 27 s"},
        {3600, "1 h"},
        {5400, "1 h 30 min"},
        {86400, "1 d"},
        {121605, "1 d 9 h"},
        {1000000, "11 d 13 h"},
        {31536000, "365 d"},
        {0.0009999, "1000 \xc2\xb5s"},
        {1e9, "11574 d 1 h"},
        {86401, "1 d"}, // the two largest units, of which one is 0
        {-90, "-1 min 30 s"},
        {1e-300, "0 s"},
    };
    for (auto &[time_s, text] : cases) {
        char said[64];
        duration_text(time_s, said, sizeof(said));
        CHECK(std::string(said) == text);
    }
}

TEST_CASE("a summary has each cell's share of busy time", "[gantt]")
{
    test_arena a;
    error err = collecting_error(a);
    chart_of c;
    gantt_summary s{};

    c.bar("a", 0, 0, 5);
    c.bar("b", 0, 5, 12);
    c.bar("c", 1, 3, 9);
    c.g.bars = c.bars.data();
    c.g.bar_count = c.bars.size();
    c.g.row_count = 2;
    REQUIRE(gantt_summarise(&c.g, 0, 12, 4, &s, a, &err) == OK);
    CHECK(std::vector<double>(s.share, s.share + 8) ==
          std::vector<double>{1, 1, 1, 1, 0, 1, 1, 0});
    CHECK(s.row_share[1] == 0.5);
    c.g.row_count = 61; // two rows a line
    REQUIRE(gantt_summarise(&c.g, 0, 12, 4, &s, a, &err) == OK);
    CHECK(s.lane_count == 31);
    CHECK(std::vector<double>(s.share, s.share + 4) ==
          std::vector<double>{0.5, 1, 1, 0.5});
    // Shades 2 4 4 2; of a thousand rows the first lane has 0 to 16, the last 986 to 999.
    const std::vector<unsigned> shades = {2, 4, 4, 2};
    for (size_t i = 0; i < 4; i++)
        CHECK(gantt_shade(s.share[i]) == shades[i]);
    c.g.row_count = 1000;
    REQUIRE(gantt_summarise(&c.g, 0, 12, 4, &s, a, &err) == OK);
    REQUIRE(s.lane_count == 59);
    CHECK(s.rows_per_lane == 17);
    CHECK(gantt_summary_rows(&c.g, &s, 0) == 17);
    CHECK(58 * s.rows_per_lane == 986);
    CHECK(gantt_summary_rows(&c.g, &s, 58) == 14);
    CHECK(gantt_shade(0) == 0);
    CHECK(gantt_shade(0.01) == 1);
    CHECK(gantt_shade(0.5) == 2);
    CHECK(gantt_shade(1) == 4);
    for (auto [rows, lanes] : {std::pair<size_t, size_t>{60, 60},
                               {100, 50},
                               {1000, 59},
                               {5000, 60},
                               {1, 1},
                               {0, 0}}) {
        c.g.row_count = rows;
        REQUIRE(gantt_summarise(&c.g, 0, 12, 4, &s, a, &err) == OK);
        CHECK(s.lane_count == lanes);
    }
}

TEST_CASE("a chart needs no more than the arena has", "[gantt][memory]")
{
    chart_of c;

    c.name_rows(3);
    c.bar("a", 0, 0, 1);
    c.bar("b", 2, 1, 2);
    for (size_t cap = 0;; cap += 509) {
        test_arena a(cap);
        text_buffer b{};
        error err{};
        gantt g = c.g;

        b.arena = a;
        g.title = "t";
        g.bars = c.bars.data();
        g.bar_count = c.bars.size();
        enum error_code code =
            computed(a, &err, [&] { return gantt_print(&g, &b, &err); });
        if (code == OK)
            break;
        REQUIRE(code == ERR_TOO_LARGE);
        REQUIRE(cap < 1000000);
    }
}
