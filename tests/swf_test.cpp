// swf_test.cpp - lines put together again, and logs in Standard Workload Format.
#include "tests/support.hpp"

#include <fstream>
#include <memory>
#include <sstream>

extern "C" {
#include "models/swf.h"
}

static const double NONE = std::nan("");

struct log_read {
    std::vector<swf_job> jobs;
    swf_header header;
    swf_counts counts;
};

static error_code keep_job(void *context, const swf_job *job, error *)
{
    static_cast<std::vector<swf_job> *>(context)->push_back(*job);
    return OK;
}

// The text in pieces of at most `piece` bytes, each an exact copy.
static log_read read_log(const std::string &text, size_t piece = SIZE_MAX)
{
    log_read out;
    auto r = std::make_unique<swf_reader>();
    error err{};
    swf_reader_open(r.get(), keep_job, &out.jobs);
    for (size_t at = 0; at < text.size();) {
        size_t length = std::min(piece, text.size() - at);
        std::vector<char> copy(text.begin() + long(at), text.begin() + long(at + length));
        if (swf_reader_feed(r.get(), copy.data(), length, &err) != OK)
            FAIL(err.text);
        at += length;
    }
    REQUIRE(swf_reader_end(r.get(), &err) == OK);
    out.header = r->header;
    out.counts = r->counts;
    return out;
}

static std::string line_of(const std::string &start)
{
    return start + " -1 -1 -1 -1 -1 -1 -1 -1 -1 -1";
}

// Number, arrival, wait, run time, processors; then cpu, memory, requested processors.
static const std::string good = line_of("1 10 0 100 4 -1 -1 8");

TEST_CASE("a job has 18 columns, -1 is not known", "[swf]")
{
    log_read log = read_log("7 10 3 100.5 4 90 2048 8 600 -1 1 2 3 4 5 6 7 8.25\n");
    REQUIRE(log.jobs.size() == 1);
    const swf_job &j = log.jobs[0];
    CHECK(j.number == 7);
    CHECK(j.submit_s == 10);
    CHECK(j.wait_s == 3);
    CHECK(j.run_s == 100.5);
    CHECK(j.processors == 4);
    CHECK(j.cpu_s == 90);
    CHECK(j.memory_kb == 2048);
    CHECK(j.requested_processors == 8);
    CHECK(j.requested_s == 600);
    CHECK(std::isnan(j.requested_memory_kb));
    CHECK(j.status == 1);
    CHECK(j.user == 2);
    CHECK(j.group == 3);
    CHECK(j.application == 4);
    CHECK(j.queue == 5);
    CHECK(j.partition == 6);
    CHECK(j.preceding_job == 7);
    CHECK(j.think_s == 8.25);
    CHECK(swf_processors(&j) == 8);
    CHECK(swf_estimate_s(&j) == 600);
}

TEST_CASE("a job is not called by a fraction", "[swf]")
{
    log_read log = read_log(line_of("1.5 10 0 100 4 -1 -1 8") + "\n" + good + "\n" +
                            line_of("2.0 20 0 100 4 -1 -1 8") + "\n");

    REQUIRE(log.jobs.size() == 3);
    CHECK(std::isnan(log.jobs[0].number));
    CHECK(log.jobs[0].submit_s == 10);
    CHECK(log.jobs[1].number == 1);
    CHECK(log.jobs[2].number == 2);
}

TEST_CASE("lines that are no job are counted by reason", "[swf]")
{
    struct {
        const char *what;
        std::string text;
        size_t jobs;
        int reason; // -1: none
    } cases[] = {
        {"good", good + "\n", 1, -1},
        {"good, no line end", good, 1, -1},
        {"good, CR LF", good + "\r\n", 1, -1},
        {"good, tabs", "1\t10\t0\t100\t4" + std::string(13, '\t') + line_of("0 0 0"), 1,
         -1},
        {"further columns", good + " DAG-1 7\n", 1, -1},
        {"empty", "\n", 0, -1},
        {"blank", " \t \n", 0, -1},
        {"comment", " ; 1 2 3\n", 0, -1},
        {"long comment", ";" + std::string(10000, 'x') + "\n", 0, -1},
        {"too few columns", "1 2 3\n", 0, SWF_SKIP_TOO_FEW_COLUMNS},
        {"cut", good + "\n2 10 0 100", 1, SWF_SKIP_CUT_LINE},
        {"cut in the last number",
         good + "\n" + line_of("2 10 0 1 1 1 1 1").substr(0, 44), 1, SWF_SKIP_CUT_LINE},
        {"a word", line_of("1 10 0 abc 4 -1 -1 8"), 0, SWF_SKIP_NOT_A_NUMBER},
        {"NaN", line_of("1 10 0 nan 4 -1 -1 8"), 0, SWF_SKIP_NOT_A_NUMBER},
        {"infinite", line_of("1 10 0 inf 4 -1 -1 8"), 0, SWF_SKIP_NOT_A_NUMBER},
        {"1e999", line_of("1 10 0 1e999 4 -1 -1 8"), 0, SWF_SKIP_NOT_A_NUMBER},
        {"1e308", line_of("1 10 0 1e308 4 -1 -1 8"), 0, SWF_SKIP_NOT_A_NUMBER},
        {"hexadecimal", line_of("1 10 0 0x10 4 -1 -1 8"), 0, SWF_SKIP_NOT_A_NUMBER},
        {"sign alone", line_of("1 10 0 - 4 -1 -1 8"), 0, SWF_SKIP_NOT_A_NUMBER},
        {"header line of another tool", "id submit wait a b c d e f g h i j k l m n o\n",
         0, SWF_SKIP_NOT_A_NUMBER},
        {"NUL inside", good + std::string(1, '\0') + "\n", 0, SWF_SKIP_NOT_A_NUMBER},
        {"too long", good + std::string(3000, ' ') + "\n", 0, SWF_SKIP_TOO_LONG},
        {"no arrival", line_of("1 -1 0 100 4 -1 -1 8"), 0, SWF_SKIP_NO_ARRIVAL},
        {"no run time", line_of("1 10 0 -1 4 -1 -1 8"), 0, SWF_SKIP_NO_RUN_TIME},
        {"no processors", line_of("1 10 0 100 -1 -1 -1 0"), 0, SWF_SKIP_NO_PROCESSORS},
        {"only those it got", line_of("1 10 0 100 4 -1 -1 -1"), 1, -1},
        {"run time 0", line_of("1 10 0 0 4 -1 -1 -1"), 1, -1},
        {"earlier", good + "\n" + line_of("2 9 0 100 4 -1 -1 8") + "\n", 2, -1},
        {"at the same time", good + "\n" + good + "\n", 2, -1},
    };
    for (auto &c : cases) {
        DYNAMIC_SECTION(c.what)
        {
            bool ended = c.text.find('\n') != std::string::npos || c.reason < 0;
            log_read log = read_log(c.text + (ended ? "" : "\n"));
            CHECK(log.jobs.size() == c.jobs);
            CHECK(log.counts.jobs == c.jobs);
            CHECK(log.counts.skipped == (c.reason >= 0));
            CHECK(log.counts.issue_count == (c.reason >= 0));
            if (c.reason < 0)
                return;
            CHECK(log.counts.skipped_by[c.reason] == 1);
            CHECK(log.counts.issues[0].reason == swf_skip(c.reason));
            CHECK(log.counts.issues[0].line == log.counts.lines);
        }
    }
}

TEST_CASE("what the header says is kept", "[swf]")
{
    log_read log =
        read_log("; Version: 2.2\n;Computer: IBM SP2 \n; MaxProcs: 100\n"
                 "; MaxProcs: 7\n; MaxNodes: many\n; UnixStartTime: 843480031\n"
                 "; TimeZone: -3600\n; Note: : ;\n;\n");
    CHECK(log.header.version == 2.2);
    CHECK(std::string(log.header.computer) == "IBM SP2");
    CHECK(log.header.max_procs == 100);
    CHECK(std::isnan(log.header.max_nodes));
    CHECK(std::isnan(log.header.max_jobs));
    CHECK(log.header.unix_start_at_s == 843480031);
    CHECK(log.header.time_zone_s == -3600);
    CHECK(log.counts.comments == 9);
    char buffer[1024];
    std::string text(buffer, swf_print_header(&log.header, buffer, sizeof(buffer)));
    CHECK(text == "; Version: 2.2\n; Computer: IBM SP2\n; UnixStartTime: 843480031\n"
                  "; TimeZone: -3600\n; MaxProcs: 100\n");
}

static std::string print(const swf_job &job)
{
    char buffer[SWF_LINE_BYTES];
    return std::string(buffer, swf_print_job(&job, buffer, sizeof(buffer)));
}

static bool same(const swf_job &a, const swf_job &b)
{
    auto *x = reinterpret_cast<const double *>(&a),
         *y = reinterpret_cast<const double *>(&b);
    for (size_t i = 0; i < SWF_COLUMN_COUNT; i++)
        if (!(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))))
            return false;
    return true;
}

TEST_CASE("what is written reads back the same", "[swf][property]")
{
    rng r = rng_stream(1, "swf_test.write");
    double submit_s = 0;
    std::string text;
    std::vector<swf_job> jobs;
    for (int i = 0; i < 300; i++) {
        swf_job job;
        for (size_t k = 0; k < SWF_COLUMN_COUNT; k++) {
            double u = rng_uniform(&r);
            double x = u < 0.2   ? NONE
                       : u < 0.6 ? double(rng_index(&r, 1000000))
                                 : 1e15 * std::exp(-60 * rng_uniform(&r));
            reinterpret_cast<double *>(&job)[k] = x;
        }
        submit_s += rng_uniform(&r);
        job.number = std::floor(job.number); // a fraction calls no job
        job.submit_s = submit_s;
        job.run_s = 1e6 * rng_uniform(&r);
        job.processors = 1 + double(rng_index(&r, 100));
        jobs.push_back(job);
        CHECK(print(job).size() < SWF_LINE_BYTES);
        text += print(job) + "\n";
    }
    log_read log = read_log(text);
    REQUIRE(log.jobs.size() == jobs.size());
    for (size_t i = 0; i < jobs.size(); i++)
        CHECK(same(log.jobs[i], jobs[i]));
}

static bool alike(const log_read &a, const log_read &b)
{
    if (a.jobs.size() != b.jobs.size() || a.counts.skipped != b.counts.skipped ||
        a.counts.lines != b.counts.lines || a.counts.comments != b.counts.comments ||
        a.counts.issue_count != b.counts.issue_count ||
        memcmp(a.counts.skipped_by, b.counts.skipped_by, sizeof(a.counts.skipped_by)))
        return false;
    for (size_t i = 0; i < a.jobs.size(); i++)
        if (!same(a.jobs[i], b.jobs[i]))
            return false;
    for (size_t i = 0; i < a.counts.issue_count; i++)
        if (a.counts.issues[i].line != b.counts.issues[i].line ||
            a.counts.issues[i].reason != b.counts.issues[i].reason)
            return false;
    return true;
}

// What holds for any input.
static void check_any(const log_read &log)
{
    uint64_t sum = 0;
    for (auto n : log.counts.skipped_by)
        sum += n;
    CHECK(sum == log.counts.skipped);
    CHECK(log.counts.issue_count == std::min<size_t>(sum, SWF_ISSUES_MAX));
    CHECK(log.counts.jobs + log.counts.skipped + log.counts.comments <= log.counts.lines);
    CHECK(log.counts.unsorted <= log.counts.jobs);
    for (auto &j : log.jobs) {
        bool ok = j.submit_s >= 0 && std::isfinite(j.submit_s) && j.run_s >= 0 &&
                  std::isfinite(j.run_s) && swf_processors(&j) >= 1 &&
                  std::isfinite(swf_processors(&j));
        if (!ok)
            FAIL("job " << j.number);
    }
}

TEST_CASE("any bytes are read, in pieces of any size", "[swf][property]")
{
    rng r = rng_stream(2, "swf_test.bytes");
    const char *words[] = {"1",
                           "-1",
                           " ",
                           "\t",
                           "\n",
                           "\r\n",
                           ";",
                           "nan",
                           "1e308",
                           "1e999",
                           "0x1",
                           "-",
                           "+5",
                           "99999999999999999",
                           ".5",
                           "inf",
                           "\x80",
                           "\"",
                           "; MaxProcs: 5\n"};
    for (int round = 0; round < 120; round++) {
        std::string text;
        for (size_t n = rng_index(&r, 300); n > 0; n--) {
            double u = rng_uniform(&r);
            if (u < 0.2)
                text += good + "\n";
            else if (u < 0.3)
                text += char(rng_index(&r, 256));
            else if (u < 0.31)
                text += std::string(rng_index(&r, 5000), '1');
            else
                text += words[rng_index(&r, std::size(words))] + std::string(" ");
        }
        log_read whole = read_log(text);
        check_any(whole);
        CHECK(alike(whole, read_log(text, 1)));
        CHECK(alike(whole, read_log(text, 1 + rng_index(&r, 40))));
    }
}

TEST_CASE("quotes and commas are taken apart", "[swf]")
{
    struct {
        const char *text;
        std::vector<std::string> want;
    } cases[] = {
        {"", {""}},
        {"a,b", {"a", "b"}},
        {" a , b ", {"a", "b"}},
        {",,", {"", "", ""}},
        {"\"a,b\",c", {"a,b", "c"}},
        {"\"say \"\"x\"\"\",c", {"say \"x\"", "c"}},
        {"\"open,c", {"open,c"}},
        {"\"a\" ,c", {"a", "c"}},
        {"\"\",c", {"", "c"}},
        {"\"", {""}},
    };
    for (auto &c : cases) {
        CAPTURE(c.text);
        std::string text = c.text;
        char *cells[8];
        size_t count = line_cells(text.data(), cells, 8);
        CHECK(std::vector<std::string>(cells, cells + count) == c.want);
    }
    char text[] = "a,b,c,d";
    char *cells[2];
    CHECK(line_cells(text, cells, 2) == 4);
    char fields[] = "a b c d";
    CHECK(line_fields(fields, cells, 2) == 4);
}

TEST_CASE("a log is held in an arena, or does not fit", "[swf][memory]")
{
    std::string text;
    for (int i = 0; i < 1000; i++)
        text += good + "\n";
    for (size_t cap : {size_t{0}, size_t{100000}, size_t{1} << 20}) {
        test_arena a(cap);
        error err{};
        swf_log log;
        swf_header header;
        swf_counts counts;
        error_code code = computed(a, &err, [&] {
            return swf_read(text.data(), text.size(), &log, &header, &counts, a, &err);
        });
        CHECK(code == (cap < 1000000 ? ERR_TOO_LARGE : OK));
        if (code == OK)
            CHECK(log.count == 1000);
    }
}

static swf_log read_whole(const std::string &text, swf_counts *counts, arena *a)
{
    error err{};
    swf_log log;
    swf_header header;

    if (swf_read(text.data(), text.size(), &log, &header, counts, a, &err) != OK)
        FAIL(err.text);
    return log;
}

TEST_CASE("lines in any order are sorted by arrival, and counted", "[swf]")
{
    std::string text = "; a comment\n";
    for (const char *job :
         {"1 10", "2 30", "3 20", "4 30", "5 9", "6 1e12", "7 40", "8 10"})
        text += line_of(std::string(job) + " 0 100 4 -1 -1 8") + "\n";
    test_arena a;
    swf_counts counts;
    swf_log log = read_whole(text, &counts, a);
    std::vector<double> numbers;
    for (size_t i = 0; i < log.count; i++)
        numbers.push_back(log.jobs[i].number);
    CHECK(numbers == std::vector<double>{5, 1, 8, 3, 2, 4, 7, 6});
    CHECK(counts.skipped == 0);
    CHECK(counts.unsorted == 4); // 3, 5, 7, 8
    CHECK(counts.first_unsorted_line == 4);
    CHECK(read_whole(good, &counts, a).count == 1);
    CHECK(counts.unsorted == 0);
    CHECK(counts.first_unsorted_line == 0);
    CHECK(read_whole("", &counts, a).count == 0);
}

TEST_CASE("a log out of order has the jobs of the log in order", "[swf][property]")
{
    rng r = rng_stream(3, "swf_test.order");
    for (size_t size : {1, 2, 3, 50}) {
        std::vector<std::string> lines;
        std::string sorted, shuffled;
        test_arena a;
        swf_counts counts;
        for (size_t i = 0; i < size; i++)
            lines.push_back(line_of(std::to_string(i + 1) + " " + std::to_string(i / 2) +
                                    " 0 0 1 -1 -1 1"));
        for (auto &line : lines)
            sorted += line + "\n";
        for (size_t i = size; i > 1; i--)
            std::swap(lines[i - 1], lines[rng_index(&r, i)]);
        for (auto &line : lines)
            shuffled += line + "\n";
        swf_log want = read_whole(sorted, &counts, a);
        swf_log got = read_whole(shuffled, &counts, a);
        REQUIRE(got.count == want.count);
        double sum = 0;
        for (size_t i = 0; i < size; i++) {
            CHECK(got.jobs[i].submit_s == want.jobs[i].submit_s);
            sum += got.jobs[i].number;
        }
        CHECK(sum == double(size * (size + 1) / 2));
    }
}

// ---- real logs ----

static std::string file_of(const std::string &name)
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return "";
    }
    std::ifstream in(std::string(data) + "/01-workloads/" + name, std::ios::binary);
    REQUIRE(in);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST_CASE("the first 1000 jobs of KTH-SP2 are all usable", "[swf]")
{
    std::string text = file_of("swf/KTH-SP2-first1000.swf");
    if (text.empty())
        return;
    log_read log = read_log(text);
    CHECK(log.counts.jobs == 1000);
    CHECK(log.counts.skipped == 0);
    CHECK(log.header.max_procs == 100);
    CHECK(std::string(log.header.computer) == "IBM SP2");
    CHECK(log.jobs[0].run_s == 97225);
    CHECK(log.jobs[999].submit_s == 1386405);
    CHECK(log.jobs[999].user == 13);
}

TEST_CASE("3145 jobs of 3170 in the head of HPC2N are usable", "[swf]")
{
    std::string text = file_of("swf/HPC2N-2002-first3171.swf");
    if (text.empty())
        return;
    log_read log = read_log(text);
    CHECK(log.counts.jobs == 3145);
    CHECK(log.counts.skipped == 25);
    CHECK(log.counts.skipped_by[SWF_SKIP_NO_RUN_TIME] == 25);
    CHECK(log.header.max_procs == 240);
    // the file cut anywhere loses its last line and nothing else
    for (size_t cut = text.size() - 300; cut < text.size(); cut += 7) {
        log_read part = read_log(text.substr(0, cut), 4096);
        check_any(part);
        CHECK(part.counts.jobs >= 3141);
        CHECK(part.counts.skipped - part.counts.skipped_by[SWF_SKIP_CUT_LINE] == 25);
    }
}

TEST_CASE("logs of other tools give their jobs", "[swf]")
{
    std::string text = file_of("swf/alea-FIT/jaros1.swf");
    if (text.empty())
        return;
    log_read log = read_log(text);
    CHECK(log.counts.jobs == 12);
    CHECK(log.counts.skipped_by[SWF_SKIP_NOT_A_NUMBER] == 1);
    CHECK(log.jobs[1].processors == 5);
    const char *data = getenv("GRIDPLAN_DATA");
    std::ifstream in(std::string(data) + "/02-failures/fta-sample/workload_bot.txt");
    std::ostringstream bot;
    bot << in.rdbuf();
    CHECK(read_log(bot.str()).counts.jobs == 5);
}
