// failure_trace_test.cpp - failure logs of LANL and the Failure Trace Archive.
#include "tests/support.hpp"

#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

extern "C" {
#include "models/failure_stats.h"
#include "models/failure_trace.h"
}

static const double NONE = std::nan("");

struct row {
    std::string resource, cause, component; // "-": NULL
    double down_at_s, up_at_s;
    bool operator==(const row &o) const
    {
        return resource == o.resource && cause == o.cause && component == o.component &&
               down_at_s == o.down_at_s &&
               (up_at_s == o.up_at_s || (std::isnan(up_at_s) && std::isnan(o.up_at_s)));
    }
};

struct trace_read {
    std::vector<row> rows;
    failure_trace_counts counts;
};

static error_code keep_failure(void *context, const failure *f, error *)
{
    auto text = [](const char *t) { return t ? std::string(t) : std::string("-"); };
    static_cast<std::vector<row> *>(context)->push_back(
        {text(f->resource_id), text(f->cause), text(f->component), f->down_at_s,
         f->up_at_s});
    return OK;
}

static trace_read read_trace(failure_trace_format format, const std::string &text,
                             size_t piece = SIZE_MAX, double utc_offset_s = 0)
{
    trace_read out;
    auto r = std::make_unique<failure_trace_reader>();
    error err{};
    failure_trace_open(r.get(), format, utc_offset_s, keep_failure, &out.rows);
    for (size_t at = 0; at < text.size();) {
        size_t length = std::min(piece, text.size() - at);
        std::vector<char> copy(text.begin() + long(at), text.begin() + long(at + length));
        if (failure_trace_feed(r.get(), copy.data(), length, &err) != OK)
            FAIL(err.text);
        at += length;
    }
    REQUIRE(failure_trace_end(r.get(), &err) == OK);
    out.counts = r->counts;
    return out;
}

static double instant(int year, int month, int day, int hour, int minute)
{
    struct tm tm = {};
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    tm.tm_mday = day;
    tm.tm_hour = hour;
    tm.tm_min = minute;
    return double(timegm(&tm));
}

// A LANL row of system 6, node 3; what follows the fixed part is given.
static std::string lanl(const std::string &times_and_causes)
{
    return "6,cluster,32,128,4,0,3,3-Aug,3-Sep,current,part,16,2,2,1,compute," +
           times_and_causes + "\n";
}

struct trace_case {
    const char *what;
    std::string text;
    std::vector<row> rows;
    int refusal; // -1: none
};

static void check_cases(failure_trace_format format, const std::vector<trace_case> &cases)
{
    for (auto &c : cases) {
        DYNAMIC_SECTION(c.what)
        {
            trace_read t = read_trace(format, c.text);
            CHECK(t.rows == c.rows);
            CHECK(t.counts.failures == c.rows.size());
            CHECK(t.counts.refused == (c.refusal >= 0));
            if (c.refusal < 0)
                return;
            CHECK(t.counts.refused_by[c.refusal] == 1);
            REQUIRE(t.counts.issue_count == 1);
            CHECK(t.counts.issues[0].line == t.counts.lines);
            CHECK(t.counts.issues[0].reason == failure_trace_refusal(c.refusal));
        }
    }
}

TEST_CASE("rows of the LANL file are failures of a node", "[failure_trace]")
{
    double from = instant(2003, 9, 26, 16, 40);
    check_cases(
        FAILURE_TRACE_LANL_CFDR,
        {
            {"facilities",
             lanl("9/26/2003 16:40,9/27/2003 15:45,1385,Power Outage,,,,,,No"),
             {{"6.3", "facilities", "Power Outage", from, from + 1385 * 60}},
             -1},
            {"a cause in quotes",
             lanl("9/26/2003 16:40,9/26/2003 16:41,1,,\"CPU, memory\",,,,,No"),
             {{"6.3", "hardware", "CPU, memory", from, from + 60}},
             -1},
            {"no cause",
             lanl("9/26/2003 16:40,9/26/2003 16:41,1,,,,,,,No"),
             {{"6.3", "-", "-", from, from + 60}},
             -1},
            {"clocks changed: Down Time counts",
             lanl("9/26/2003 16:40,9/26/2003 16:10,30,,,,,,OS,No"),
             {{"6.3", "software", "OS", from, from + 1800}},
             -1},
            {"without Down Time",
             lanl("9/26/2003 16:40,9/26/2003 16:45,,,,,,,OS,No"),
             {{"6.3", "software", "OS", from, from + 300}},
             -1},
            {"open",
             lanl("9/26/2003 16:40,,,,,Operator,,,,No"),
             {{"6.3", "human_error", "Operator", from, NONE}},
             -1},
            {"no length",
             lanl("9/26/2003 16:40,9/26/2003 16:40,0,,,,,,,No"),
             {{"6.3", "-", "-", from, from}},
             -1},
            {"leap day",
             lanl("2/29/2000 0:00,,,,,,,,,No"),
             {{"6.3", "-", "-", instant(2000, 2, 29, 0, 0), NONE}},
             -1},
            {"header", "System,machine type,nodes" + std::string(23, ',') + "\n", {}, -1},
            {"empty", " \r\n", {}, -1},
            {"no leap day",
             lanl("2/29/1900 0:00,,,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_BAD_TIME},
            {"month 13",
             lanl("13/1/2003 0:00,,,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_BAD_TIME},
            {"hour 24",
             lanl("1/1/2003 24:00,,,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_BAD_TIME},
            {"something behind the time",
             lanl("1/1/2003 2:00 PM,,,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_BAD_TIME},
            {"end is no time",
             lanl("1/1/2003 2:00,soon,,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_BAD_TIME},
            {"no begin",
             lanl(",1/1/2003 2:00,5,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_NO_BEGIN},
            {"ends before it begins",
             lanl("1/2/2003 2:00,1/1/2003 2:00,5,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_UP_BEFORE_DOWN},
            {"the same without Down Time",
             lanl("1/2/2003 2:00,1/2/2003 1:59,,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_UP_BEFORE_DOWN},
            {"negative Down Time",
             lanl("1/2/2003 2:00,,-5,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_UP_BEFORE_DOWN},
            {"Down Time NaN",
             lanl("1/2/2003 2:00,,nan,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_BAD_NUMBER},
            {"Down Time 1e308",
             lanl("1/2/2003 2:00,,1e308,,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_BAD_NUMBER},
            {"cut",
             lanl("1/2/2003 2:00,,5,,,,,,,No").substr(0, 90),
             {},
             FAILURE_TRACE_REFUSED_COLUMNS},
            {"too many columns",
             lanl("1/2/2003 2:00,,5,,,,,,,No,x"),
             {},
             FAILURE_TRACE_REFUSED_COLUMNS},
            {"no node",
             std::string(15, ',') + ",1/2/2003 2:00,,5,,,,,,,No\n",
             {},
             FAILURE_TRACE_REFUSED_NO_RESOURCE},
            {"not ASCII",
             lanl("1/2/2003 2:00,,5,caf\xe9,,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_NOT_TEXT},
            {"too long",
             lanl("1/2/2003 2:00,,5," + std::string(3000, 'x') + ",,,,,,No"),
             {},
             FAILURE_TRACE_REFUSED_TOO_LONG},
        });
    trace_read west = read_trace(FAILURE_TRACE_LANL_CFDR,
                                 lanl("9/26/2003 16:40,,5,,,,,,,No"), 1, -25200);
    CHECK(west.rows[0].down_at_s == from + 25200);
    CHECK(west.rows[0].up_at_s == from + 25200 + 300);
}

TEST_CASE("rows of type 0 in event_trace.tab are failures", "[failure_trace]")
{
    check_cases(
        FAILURE_TRACE_FTA,
        {
            {"down",
             "0 0 948 3 12.670 0 1077807120 1077870300 8000\n",
             {{"12.670", "8000", "-", 1077807120, 1077870300}},
             -1},
            {"up", "0 0 948 3 12.670 1 1 2 8000\n", {}, -1},
            {"no reason",
             "0 0 1 1 n1 0 1.5 2.25 NULL\n",
             {{"n1", "-", "-", 1.5, 2.25}},
             -1},
            {"reason left out", "0 0 1 1 n1 0 1 2\n", {{"n1", "-", "-", 1, 2}}, -1},
            {"component", "0 7 1 1 n1 0 1 2 NULL\n", {{"n1", "-", "7", 1, 2}}, -1},
            {"no name", "0 0 55 1 NULL 0 1 2 NULL", {{"55", "-", "-", 1, 2}}, -1},
            {"open", "0 0 1 1 n1 0 1 NULL NULL\n", {{"n1", "-", "-", 1, NONE}}, -1},
            {"open, as -1", "0 0 1 1 n1 0 1 -1 NULL\n", {{"n1", "-", "-", 1, NONE}}, -1},
            {"no length", "0 0 1 1 n1 0 1 1 NULL\n", {{"n1", "-", "-", 1, 1}}, -1},
            {"comment", "# event_id component_id\n", {}, -1},
            {"header", "event_id component_id node_id\n", {}, -1},
            {"overlapping",
             "0 0 1 1 n1 0 1 9 NULL\n1 0 1 1 n1 0 5 7 NULL\n1 0 1 1 n1 0 5 7 x\n",
             {{"n1", "-", "-", 1, 9}, {"n1", "-", "-", 5, 7}, {"n1", "x", "-", 5, 7}},
             -1},
            {"reversed",
             "0 0 1 1 n1 0 2 1 NULL\n",
             {},
             FAILURE_TRACE_REFUSED_UP_BEFORE_DOWN},
            {"up, reversed",
             "0 0 1 1 n1 1 2 1 NULL\n",
             {},
             FAILURE_TRACE_REFUSED_UP_BEFORE_DOWN},
            {"type 2", "0 0 1 1 n1 2 1 2 NULL\n", {}, FAILURE_TRACE_REFUSED_BAD_TYPE},
            {"no begin",
             "0 0 1 1 n1 0 NULL 2 NULL\n",
             {},
             FAILURE_TRACE_REFUSED_NO_BEGIN},
            {"begin NaN",
             "0 0 1 1 n1 0 nan 2 NULL\n",
             {},
             FAILURE_TRACE_REFUSED_BAD_TIME},
            {"stop 1e308",
             "0 0 1 1 n1 0 1 1e308 NULL\n",
             {},
             FAILURE_TRACE_REFUSED_BAD_TIME},
            {"nobody",
             "0 0 NULL 1 NULL 0 1 2 NULL\n",
             {},
             FAILURE_TRACE_REFUSED_NO_RESOURCE},
            {"a long name",
             "0 0 1 1 " + std::string(201, 'n') + " 0 1 2 NULL\n",
             {},
             FAILURE_TRACE_REFUSED_NO_RESOURCE},
            {"cut", "0 0 1 1 n1 0 1", {}, FAILURE_TRACE_REFUSED_COLUMNS},
            {"too many columns",
             "0 0 1 1 n1 0 1 2 3 4\n",
             {},
             FAILURE_TRACE_REFUSED_COLUMNS},
            {"NUL",
             std::string("0 0 1 1 n\0 0 1 2 3\n", 19),
             {},
             FAILURE_TRACE_REFUSED_NOT_TEXT},
        });
}

static void check_any(const trace_read &t)
{
    uint64_t sum = 0, open = 0;
    for (auto n : t.counts.refused_by)
        sum += n;
    for (auto &r : t.rows) {
        open += std::isnan(r.up_at_s);
        bool ok = std::isfinite(r.down_at_s) && !(r.up_at_s < r.down_at_s) &&
                  !std::isinf(r.up_at_s) && !r.resource.empty() && r.resource != "-" &&
                  line_is_printable(r.cause.data(), r.cause.size());
        if (!ok)
            FAIL(r.resource << " " << r.down_at_s << " " << r.up_at_s);
    }
    CHECK(sum == t.counts.refused);
    CHECK(open == t.counts.open);
    CHECK(t.counts.issue_count == std::min<size_t>(sum, FAILURE_TRACE_ISSUES_MAX));
    CHECK(t.counts.failures + t.counts.refused + t.counts.up <= t.counts.lines);
}

TEST_CASE("any bytes are read as a trace, in pieces of any size",
          "[failure_trace][property]")
{
    rng r = rng_stream(1, "failure_trace_test.bytes");
    const char *words[] = {"0",
                           "1",
                           "NULL",
                           " ",
                           "\t",
                           "\n",
                           "\r\n",
                           "#",
                           ",",
                           "\"",
                           "nan",
                           "1e308",
                           "-",
                           "9",
                           "1/1/2000 0:00",
                           "12/31/9999 23:59",
                           "0 0 1 1 n1 0 ",
                           "6,a,1,1,1,1,1,a,a,a,a,a,"};
    for (int round = 0; round < 160; round++) {
        auto format = failure_trace_format(round % 2);
        std::string text;
        for (size_t n = rng_index(&r, 200); n > 0; n--) {
            double u = rng_uniform(&r);
            if (u < 0.1)
                text += lanl("1/2/2003 2:00,1/2/2003 2:05,5,,CPU,,,,,No");
            else if (u < 0.2)
                text += "0 0 948 3 12.670 0 1077807120 1077870300 8000\n";
            else if (u < 0.3)
                text += char(rng_index(&r, 256));
            else if (u < 0.31)
                text += std::string(rng_index(&r, 5000), ',');
            else
                text += words[rng_index(&r, std::size(words))];
        }
        trace_read whole = read_trace(format, text);
        check_any(whole);
        for (size_t piece : {size_t{1}, 1 + rng_index(&r, 60)}) {
            trace_read again = read_trace(format, text, piece);
            CHECK(again.rows == whole.rows);
            CHECK(memcmp(&again.counts, &whole.counts, sizeof(whole.counts)) == 0);
        }
    }
}

TEST_CASE("a trace is held in an arena, or does not fit", "[failure_trace][memory]")
{
    std::string text;
    for (int i = 0; i < 1000; i++)
        text += "0 5 948 3 12.670 0 1077807120 1077870300 8000\n";
    for (size_t cap : {size_t{0}, size_t{50000}, size_t{1} << 20}) {
        test_arena a(cap);
        error err{};
        failure_log log;
        failure_trace_counts counts;
        error_code code = computed(a, &err, [&] {
            return failure_trace_read(FAILURE_TRACE_FTA, text.data(), text.size(), 0,
                                      &log, &counts, a, &err);
        });
        CHECK(code == (cap < 1000000 ? ERR_TOO_LARGE : OK));
        if (code != OK)
            continue;
        REQUIRE(log.count == 1000);
        CHECK(std::string(log.failures[999].resource_id) == "12.670");
        CHECK(std::string(log.failures[999].cause) == "8000");
        CHECK(std::string(log.failures[999].component) == "5");
    }
}

// ---- real traces ----

static std::string file_of(const std::string &name)
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return "";
    }
    std::ifstream in(std::string(data) + name, std::ios::binary);
    REQUIRE(in);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST_CASE("the LANL file gives the fits of lanl_systems.csv", "[failure_trace]")
{
    std::string text = file_of("/02-failures/lanl-cfdr/sample-systems-6-15-24.csv");
    if (text.empty())
        return;
    trace_read t = read_trace(FAILURE_TRACE_LANL_CFDR, text, 1000);
    check_any(t);
    CHECK(t.counts.refused == 0);
    CHECK(t.counts.failures == 273);
    CHECK(t.counts.lines == 274);
    std::map<std::string, std::vector<failure_interval>> systems;
    for (auto &r : t.rows)
        systems[r.resource.substr(0, r.resource.find('.'))].push_back(
            {r.down_at_s, r.up_at_s});
    std::istringstream reference(file_of("/reference/lanl_systems.csv"));
    std::string line;
    std::getline(reference, line);
    size_t rows = 0;
    for (; std::getline(reference, line); rows++) {
        std::vector<std::string> cell;
        std::string part;
        for (std::istringstream in(line); std::getline(in, part, ',');)
            cell.push_back(part);
        auto &f = systems[cell[0]];
        test_arena a;
        error err{};
        failure_stats s;
        CAPTURE(cell[0]);
        REQUIRE(failure_stats_fit(f.data(), f.size(), NONE, NONE, &s, a, &err) == OK);
        CHECK(s.failure_count == std::stoul(cell[3]));
        CHECK(s.mean_gap_s / 3600 == Approx(std::stod(cell[6])).margin(6e-4));
        CHECK(s.weibull.shape == Approx(std::stod(cell[8])).margin(6e-5));
        CHECK(s.weibull.scale_s / 3600 == Approx(std::stod(cell[9])).margin(6e-5));
        CHECK(s.mttr_s / 60 == Approx(std::stod(cell[15])).margin(0.051));
        CHECK(s.repair_median_s / 60 == Approx(std::stod(cell[16])).margin(0.51));
    }
    CHECK(rows == 3);
}

TEST_CASE("traces of the Failure Trace Archive are read", "[failure_trace]")
{
    std::string lanl_nodes = file_of("/02-failures/fta-lanl/sample-12nodes.tab");
    if (lanl_nodes.empty())
        return;
    trace_read t = read_trace(FAILURE_TRACE_FTA, lanl_nodes);
    check_any(t);
    CHECK(t.counts.failures == 177);
    CHECK(t.counts.up == 165);
    CHECK(t.counts.refused == 0);
    CHECK(t.counts.open == 0);
    CHECK(t.rows[0] == row{"12.670", "8000", "-", 1077807120, 1077870300});
    trace_read sample =
        read_trace(FAILURE_TRACE_FTA, file_of("/02-failures/fta-sample/event_trace.tab"));
    CHECK(sample.counts.failures == 6);
    CHECK(sample.counts.up == 9);
    CHECK(sample.rows[0] == row{"0", "-", "-", 200, 700});
    // cut anywhere, the last line is lost and nothing else
    for (size_t cut = lanl_nodes.size() - 200; cut < lanl_nodes.size(); cut++) {
        trace_read part = read_trace(FAILURE_TRACE_FTA, lanl_nodes.substr(0, cut));
        check_any(part);
        CHECK(part.counts.failures >= 174);
        CHECK(part.counts.refused <= 1);
    }
}
