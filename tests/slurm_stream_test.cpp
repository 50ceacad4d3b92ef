// slurm_stream_test.cpp - accounting row by row: in batches, in pieces, and as a whole it
// is the same.
#include "tests/api.hpp"
#include "tests/database.hpp"

extern "C" {
#include "models/slurm/batches.h"
#include "models/slurm/history.h"
#include "models/slurm/pattern.h"
}

#include <algorithm>
#include <ctime>
#include <random>
#include <regex>

using nlohmann::json;

namespace
{

const std::string header =
    "Cluster|JobID|JobIDRaw|JobName|User|Submit|Eligible|Start|End|"
    "State|ExitCode|AllocTRES|NodeList|MaxRSS\n";

// The row of a job with those of its steps, each with a line end.
struct job_rows {
    double submit_s;
    std::string text;
};

// Accounting as sacct -D prints it: attempts in the order of their submission, each with
// its steps behind it.
std::vector<job_rows> accounting(unsigned seed, const std::string &cluster = "c")
{
    std::mt19937 random(seed);
    auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
    const char *states[] = {"COMPLETED", "TIMEOUT", "FAILED", "CANCELLED by 7",
                            "NODE_FAIL", "RUNNING", "STRANGE"};
    std::vector<job_rows> list;

    for (int id = 1; id <= 40; id++) {
        double at_s = 1790000000 + below(2000);
        int attempts = below(4) ? 1 : 1 + below(4);
        std::string name = below(6) ? "run_" + std::to_string(id) : "a|b";

        for (int k = 0; k < attempts; k++) {
            bool is_last = k + 1 == attempts;
            std::string state = is_last ? states[below(7)] : "PREEMPTED";
            double start_s = at_s + below(100), end_s = start_s + 1 + below(500);
            bool waits = is_last && below(10) == 0;
            auto row = [&](const std::string &step, const std::string &rss) {
                char times[200];
                snprintf(times, sizeof times, "%.0f|%.0f|%.0f|%.0f", at_s, at_s, start_s,
                         end_s);
                std::string own = times;
                if (step.empty() && waits)
                    own = std::to_string(static_cast<long>(at_s)) + "||None|Unknown";
                return cluster + "|" + std::to_string(id) + step + "|" +
                       std::to_string(id) + step + "|" + (step.empty() ? name : "batch") +
                       "|ann|" + own + "|" + (waits ? "PENDING" : state) +
                       "|0:0|cpu=4,node=1|" + cluster + "-n" + std::to_string(id % 7) +
                       "|" + rss + "\n";
            };
            std::string text = row("", "");
            int steps = waits ? 0 : below(4);

            for (int s = 0; s < steps; s++)
                text += row(s ? "." + std::to_string(s - 1) : ".batch",
                            below(3) ? std::to_string(below(9000)) + "K" : "1.37M");
            list.push_back({at_s, text});
            at_s = end_s + 1 + below(300);
        }
    }
    std::stable_sort(list.begin(), list.end(), [](const job_rows &x, const job_rows &y) {
        return x.submit_s < y.submit_s;
    });
    return list;
}

std::string table_of(const std::vector<job_rows> &list, size_t from, size_t to)
{
    std::string text = header;

    for (size_t i = from; i < to; i++)
        text += list[i].text;
    return text;
}

// The same set by blanks, below a rule.
std::string with_blanks(const std::string &marked)
{
    const size_t widths[] = {8, 12, 12, 12, 6, 11, 11, 11, 11, 15, 9, 16, 8, 10};
    std::string text;

    for (size_t at = 0, line = 0; at < marked.size(); line++) {
        size_t end = marked.find('\n', at), column = 0;
        std::string rule;
        std::stringstream fields(marked.substr(at, end - at));
        for (std::string field; column < 14; column++) {
            std::getline(fields, field, '|');
            text += field + std::string(widths[column] - field.size(), ' ') + ' ';
            rule += std::string(widths[column], '-') + ' ';
            field.clear();
        }
        text += line ? "\n" : "\n" + rule + "\n";
        at = end + 1;
    }
    return text;
}

std::string told(const slurm_history &h)
{
    char line[600];
    std::string text;

    for (size_t i = 0; i < h.run_count; i++) {
        const slurm_run &r = h.runs[i];
        snprintf(line, sizeof line, "%s %s %s %.0f %.0f %.0f %.17g %.17g %s\n",
                 r.execution_id, r.application_id, r.resource_id ? r.resource_id : "-",
                 r.started_at_s, r.run_time_s, r.queue_wait_s, r.memory_peak_bytes,
                 r.exit_code, r.failure_kind ? r.failure_kind : "-");
        text += line;
    }
    for (size_t i = 0; i < h.failure_count; i++)
        text += std::string(h.failures[i].resource_id) + " " + h.failures[i].cause + "\n";
    return text;
}

std::string counted(const size_t counts[6])
{
    std::string text;

    for (int i = 0; i < 6; i++)
        text += std::to_string(counts[i]) + " ";
    return text;
}

struct collecting {
    slurm_history_options options;
    std::string told;
    size_t counts[6] = {0}, batches = 0;
    void add(const slurm_history &h)
    {
        const size_t more[] = {h.not_ended,      h.never_ran,   h.unusable,
                               h.unknown_states, h.local_times, h.loose_steps};
        for (int i = 0; i < 6; i++)
            counts[i] += more[i];
        told += ::told(h);
    }
};

error_code collect(void *context, const slurm_records *batch, arena *a, error *)
{
    auto *c = static_cast<collecting *>(context);
    slurm_history h;

    slurm_history_read(batch, &c->options, &h, a);
    c->add(h);
    c->batches++;
    return OK;
}

} // namespace

TEST_CASE("accounting in batches is what it is as a whole", "[slurm][property]")
{
    for (unsigned seed = 1; seed <= (is_shorter() ? 12 : 60); seed++) {
        test_arena a;
        error err = collecting_error(a);
        std::mt19937 random(seed);
        std::vector<job_rows> list = accounting(seed);
        std::string text = table_of(list, 0, list.size());
        bool blanks = seed % 3 == 0;
        slurm_pattern application{};
        slurm_records records{};
        slurm_history h;

        INFO("seed " << seed);
        if (blanks)
            text = with_blanks(std::regex_replace(text, std::regex("a\\|b"), "a,b"));
        if (seed % 4 == 0)
            text = std::regex_replace(text, std::regex("\n"), "\r\n");
        REQUIRE(slurm_pattern_read("{name}", &application, a) == nullptr);
        collecting whole, parts;
        whole.options.application = parts.options.application = &application;
        whole.options.cluster = parts.options.cluster = "cluster";
        records.updated_s = std::nan("");
        REQUIRE(slurm_records_read(text.data(), text.size(), "", &records, a, &err) ==
                OK);
        slurm_history_read(&records, &whole.options, &h, a);
        whole.add(h);
        CHECK(h.run_count > 20);

        slurm_batches *b = slurm_batches_open("", 1 + random() % 20, collect, &parts, a);
        for (size_t at = 0; at < text.size();) {
            size_t length = std::min<size_t>(1 + random() % 300, text.size() - at);
            REQUIRE(slurm_batches_feed(b, text.data() + at, length, &err) == OK);
            at += length;
        }
        REQUIRE(slurm_batches_end(b, &err) == OK);
        REQUIRE_FALSE(slurm_batches_need_whole(b));
        CHECK(parts.batches > 1);
        CHECK(parts.told.size() == whole.told.size());
        auto lines = [](const std::string &all) { // failures stand behind runs
            std::vector<std::string> sorted;
            std::stringstream in(all);
            for (std::string line; std::getline(in, line);)
                sorted.push_back(line);
            std::sort(sorted.begin(), sorted.end());
            return sorted;
        };
        CHECK(lines(parts.told) == lines(whole.told));
        CHECK(counted(parts.counts) == counted(whole.counts));
        CHECK(slurm_batches_records(b)->cut_rows == records.cut_rows);
        CHECK(slurm_batches_records(b)->odd_rows == records.odd_rows);
    }
}

TEST_CASE("what is no table with places for its columns is read as a whole", "[slurm]")
{
    for (const char *text :
         {"{\"jobs\": []}", "JobID  State\n12     COMPLETED\n", "JobId=12 JobName=x\n",
          "neither\n", "a|b\n1|2\n", "  \n\n {\"jobs\": []}"}) {
        test_arena a;
        error err = collecting_error(a);
        collecting c;
        slurm_batches *b = slurm_batches_open("", 4, collect, &c, a);

        INFO(text);
        CHECK(slurm_batches_feed(b, text, strlen(text), &err) == OK);
        CHECK(slurm_batches_end(b, &err) == OK);
        CHECK(slurm_batches_need_whole(b));
    }
}

namespace
{

json import_history(api &a, const std::string &text, const std::string &query = "",
                    int status = 200)
{
    api_reply r = a.call("POST", "/v1/imports/slurm/history?" + query, text,
                         {{"content_type", "text/plain"}});

    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == status);
    return r.json();
}

// What two histories have not in common.
std::string differing(const std::vector<std::string> &x,
                      const std::vector<std::string> &y)
{
    std::vector<std::string> list;
    std::string text;

    std::set_symmetric_difference(x.begin(), x.end(), y.begin(), y.end(),
                                  std::back_inserter(list));
    for (const std::string &line : list)
        text += line + "\n";
    return text;
}

// What the history has of a cluster, whose name is in all that is named.
std::vector<std::string> stored(api &a, const std::string &cluster)
{
    std::vector<std::string> lines;
    auto take = [&](const std::string &target) {
        std::string next;
        do {
            json page = a.get(target + next).json();
            REQUIRE(page.contains("items"));
            for (const auto &item : page.at("items")) {
                json row = item;
                row.erase("received_at");
                lines.push_back(
                    std::regex_replace(row.dump(), std::regex(cluster), "CLUSTER"));
            }
            next = page.contains("next_page_token") && !page["next_page_token"].is_null()
                       ? "&page_token=" + page["next_page_token"].get<std::string>()
                       : "";
        } while (!next.empty());
    };

    take("/v1/executions?page_size=100&application_id=" + cluster);
    for (int i = 0; i < 7; i++)
        take("/v1/failures?page_size=100&resource_id=" + cluster + "-n" +
             std::to_string(i));
    std::sort(lines.begin(), lines.end());
    return lines;
}

} // namespace

TEST_CASE("pieces of accounting are stored as the whole is, again and again",
          "[slurm][api][db][property]")
{
    NEED_DATABASE();
    api a(test_database_url());
    const std::string tag = "p" + std::to_string(std::time(nullptr));

    for (unsigned seed = 1; seed <= (is_shorter() ? 4 : 20); seed++) {
        std::mt19937 random(seed);
        auto names = [&](const char *how) {
            return tag + how + std::to_string(seed) + "x";
        };
        auto query = [&](const std::string &c) {
            return "application_pattern=s/.*/" + c + "/";
        };
        const std::string whole = names("w"), pieces = names("k"), json_body = names("j");
        std::vector<job_rows> list = accounting(seed, whole);
        json one = import_history(a, table_of(list, 0, list.size()), query(whole));

        INFO("seed " << seed);
        std::vector<std::string> want = stored(a, whole);
        CHECK(one.at("ingested").at("executions_stored").get<size_t>() > 20);
        CHECK(want.size() > 20);

        // As JSON with the rows in a member, in one.
        list = accounting(seed, json_body);
        json body = {{"sacct", table_of(list, 0, list.size())},
                     {"ingest", true},
                     {"application_pattern", "s/.*/" + json_body + "/"}};
        api_reply r = a.post("/v1/imports/slurm", body.dump());
        INFO(r.body.substr(0, 1000));
        REQUIRE(r.status == 200);
        CHECK(r.json().at("ingested").dump() == one.at("ingested").dump());
        CHECK(differing(stored(a, json_body), want) == "");

        // In pieces, each of which may begin before the last one ended.
        list = accounting(seed, pieces);
        size_t stored_count = 0;
        for (size_t from = 0; from < list.size();) {
            size_t to = std::min<size_t>(from + 1 + random() % 20, list.size());
            size_t begin = from - std::min<size_t>(from, random() % 8);
            json piece = import_history(a, table_of(list, begin, to), query(pieces));

            stored_count += piece.at("ingested").at("executions_stored").get<size_t>();
            CHECK(piece.at("warnings").dump().find("unsorted") == std::string::npos);
            from = to;
        }
        CHECK(stored_count == one.at("ingested").at("executions_stored").get<size_t>());
        CHECK(differing(stored(a, pieces), want) == "");

        // All of it once more, and any piece.
        json again = import_history(a, table_of(list, 0, list.size()), query(pieces));
        CHECK(again.at("ingested").at("executions_stored") == 0);
        CHECK(again.at("ingested").at("failures_stored") == 0);
        size_t from = random() % list.size();
        import_history(a, table_of(list, from, std::min(from + 9, list.size())),
                       query(pieces));
        CHECK(differing(stored(a, pieces), want) == "");
    }
}

TEST_CASE("accounting is larger than a body of JSON may be, and than memory",
          "[slurm][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    const std::string tag = "l" + std::to_string(std::time(nullptr));
    std::string text = header;
    size_t rows = is_sanitized() ? 40000 : 200000;

    // Steps and comments are what makes it long, not jobs.
    for (size_t i = 0; i < rows; i++) {
        std::string id = std::to_string(i / 20 + 1), step = i % 20 ? ".7" : "";
        text += tag + "|" + id + step + "|" + id + step + "|" + tag +
                std::string(300, 'x') +
                "|ann|1790000000|1790000000|1790000010|1790000020|" +
                (i % 20 ? "COMPLETED" : "CANCELLED by 7") + "|0:0|cpu=1|n1|1000K\n";
    }
    api_reply r = a.call("POST", "/v1/imports/slurm/history?application_pattern=" + tag,
                         text, {{"content_type", "text/plain"}}, 128 << 20);
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    CHECK(r.json().at("line_count") == rows + 1);
    CHECK(r.json().at("ingested").at("executions_stored") == rows / 20);
    json items =
        a.get("/v1/executions?page_size=1&application_id=" + tag).json().at("items");
    REQUIRE(items.size() == 1);
    CHECK(items.at(0).at("memory_peak_bytes") == 1024000);
}

TEST_CASE("what is read as a whole and is too long says what is not", "[slurm][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string row = "1   2026-01-01T00:00:00  2026-01-01T00:00:10  COMPLETED\n";
    std::string text = "JobID   Start   End   State\n";

    while (text.size() < 16 << 20)
        text += row;
    json r = a.call("POST", "/v1/imports/slurm/history", text,
                    {{"content_type", "text/plain"}}, 128 << 20)
                 .json();
    INFO(r.dump());
    CHECK(r.at("status") == 413);
    std::string told = r.at("errors").at(0).dump();
    CHECK(told.find("GRIDPLAN_REQUEST_MEMORY_BYTES") != std::string::npos);
    CHECK(told.find("sacct -P prints is read row by row") != std::string::npos);
}

TEST_CASE("older attempts that come later are told of, and orphaned steps",
          "[slurm][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    const std::string tag = "o" + std::to_string(std::time(nullptr));
    auto row = [&](const char *step, const char *start) {
        return tag + "|5" + step + "|5" + step + "|x|ann|1790000000|1790000000|" + start +
               "|1790009000|COMPLETED|0:0|cpu=1|" + tag + "-n1|2000K\n";
    };

    json r = import_history(a, header + row("", "1790001000"));
    CHECK(r.at("warnings").empty());
    r = import_history(a, header + row("", "1790000500"));
    REQUIRE(r.at("warnings").size() == 1);
    CHECK(r.at("warnings").at(0).get<std::string>().substr(0, 12) == "unsorted: 1:");
    r = import_history(a, header + row(".0", "1790000500"));
    REQUIRE(r.at("warnings").size() == 1);
    CHECK(r.at("warnings").at(0).get<std::string>().find("skipped: 1: steps") == 0);
}

TEST_CASE("events of nodes come by the same way, and jobs do not shorten them",
          "[slurm][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    const std::string tag = "e" + std::to_string(std::time(nullptr));
    const std::string job = header + tag +
                            "|5|5|x|ann|1790000000|1790000000|1790000000|"
                            "1790009000|NODE_FAIL|0:0|cpu=1|" +
                            tag + "-n1|\n";
    const std::string event = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n" + tag +
                              "|" + tag + "-n1|1790009000|1790010000|DOWN|power\n";

    for (const std::string *first : {&job, &event, &job, &event})
        import_history(a, *first);
    json down = a.get("/v1/failures?resource_id=" + tag + "-n1").json().at("items");
    REQUIRE(down.size() == 1);
    CHECK(down.at(0).at("cause") == "power");
    CHECK(down.at(0).at("up_at") != down.at(0).at("down_at"));
    import_history(a, job); // what it says comes last, and changes nothing
    CHECK(a.get("/v1/failures?resource_id=" + tag + "-n1").json().at("items") == down);
}

TEST_CASE("what is no accounting says what to do", "[slurm][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    struct {
        const char *what, *text, *detail, *hint;
    } cases[] = {
        {"nothing", "", "nothing in the document", "standard error"},
        {"blank lines", "\n\n \n", "nothing in the document", "standard error"},
        {"a proxy", "<!DOCTYPE html>\n<html><title>502</title></html>\n", "HTML",
         "curl -i"},
        {"no controller",
         "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n",
         "an error of a Slurm command", "scontrol ping"},
        {"no accounting", "Slurm accounting storage is disabled\n", "an error of sacct",
         "sacctmgr show cluster"},
        {"no database",
         "sacct: error: slurm_persist_conn_open_without_init: failed to open\n",
         "an error of a Slurm command", "slurmdbd"},
        {"a column it does not know",
         "sacct: error: Invalid field requested: \"SubmitLine\"\n", "an error of sacct",
         "sacct -e"},
        {"no sacct", "bash: sacct: command not found\n", "an error of a shell", "PATH"},
        {"errors before the table", "sacct: error: x\nJobID|State\n1|COMPLETED\n",
         "an error of sacct", "2>"},
        {"another table", "RawShares|NormShares\n1|2\n", "neither of sacct nor",
         "sacct -P"},
        {"not enough columns", "JobID|State\n1|COMPLETED\n", "no column Start", nullptr},
        {"no header", "12|COMPLETED\n13|FAILED\n", "no known column", "-n"},
        {"broken JSON", "{\"jobs\": [{\"job_id\": 1", "byte", nullptr},
    };
    for (const auto &c : cases) {
        INFO(c.what);
        json r = import_history(a, c.text, "", 422);
        INFO(r.dump());
        const json &mistake = r.at("errors").at(0);
        CHECK(mistake.at("detail").get<std::string>().find(c.detail) !=
              std::string::npos);
        if (c.hint) {
            REQUIRE(mistake.contains("hint"));
            CHECK(mistake.at("hint").get<std::string>().find(c.hint) !=
                  std::string::npos);
        }
    }
    json r = import_history(a, header);
    REQUIRE(r.at("warnings").size() == 1);
    CHECK(r.at("warnings").at(0).get<std::string>().find("no_rows: ") == 0);
    r = import_history(a, header + "c|1|1|x|ann|1790000000|17900");
    CHECK(r.at("warnings").dump().find("breaks off") != std::string::npos);
}
