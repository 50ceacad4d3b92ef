// memory_http_test.cpp - many requests that each want much memory: the process stays
// within memory_bytes, what does not fit is refused, and afterwards all is as before.
#include "tests/support.hpp"
#include "tests/system.hpp"

#include <zlib.h>

namespace
{
constexpr size_t MIB = 1 << 20, MEMORY = 64 * MIB;
// What a sanitizer keeps of what was freed, and notes about what is used.
const size_t SLACK = SLOWER == 1 ? 64 * MIB : 320 * MIB;

std::string gzip(const std::string &text)
{
    z_stream z{};
    std::string out(text.size() / 2 + 1000, '\0');

    REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (Bytef *)text.data();
    z.avail_in = (uInt)text.size();
    z.next_out = (Bytef *)out.data();
    z.avail_out = (uInt)out.size();
    REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
}

// Tables of tasks and resources are most of what it takes.
std::string workflow_body(int tasks, int resources)
{
    std::string text = R"({"algorithm":"heft","snapshot":{"resources":[)";

    for (int r = 0; r < resources; r++)
        text += (r ? ",{\"id\":\"r" : "{\"id\":\"r") + std::to_string(r) +
                "\",\"mips_total\":" + std::to_string(1 + r % 7) + "}";
    text += "]},\"workflow\":{\"id\":\"w\",\"tasks\":[";
    for (int t = 0; t < tasks; t++)
        text += (t ? ",{\"id\":\"t" : "{\"id\":\"t") + std::to_string(t) +
                "\",\"estimate_ref_s\":" + std::to_string(10 + t % 13) + "}";
    return text + "]}}";
}

// So many bytes of a placement that is right, most of them blanks.
std::string wide_placement(size_t bytes)
{
    std::string text = placement_body();

    return text.substr(0, text.size() - 1) + std::string(bytes - text.size(), ' ') + "}";
}

size_t peak_bytes(pid_t pid)
{
    std::string text = file_text("/proc/" + std::to_string(pid) + "/status");
    size_t at = text.find("VmHWM:");

    REQUIRE(at != std::string::npos);
    return strtoull(text.c_str() + at + 6, nullptr, 10) * 1024;
}

void check_recovered(const gridplan &g)
{
    for (const char *pool : {"body", "work"}) {
        std::string name =
            std::string("gridplan_memory_leased_bytes{pool=\"") + pool + "\"}";
        CAPTURE(name, g.metric(name));
        // The answer of /metrics itself is in such memory.
        CHECK(eventually([&] { return g.metric(name) <= 256 * 1024; }, 10));
    }
    CHECK(g.post("/v1/placements", placement_body()).status == 200);
    CHECK(g.is_ready());
    CHECK(eventually([&] { return resident_bytes(g.pid) < MEMORY + SLACK; }, 10));
}

// What it was answered, by status.
std::map<int, int> all_at_once(const gridplan &g,
                               const std::vector<std::string> &requests)
{
    std::map<int, int> count;
    std::mutex lock;
    std::vector<std::thread> threads;

    for (auto &r : requests)
        threads.emplace_back([&, r] {
            client c(g.port);
            answer a = c.put(r) ? c.get(120) : answer();
            if (a.status == 0)
                a = c.get(1); // refused before all of it was sent
            std::lock_guard<std::mutex> hold(lock);
            count[a.status]++;
            if (a.status == 503 && a.field("Retry-After").empty())
                count[-1]++;
        });
    for (auto &t : threads)
        t.join();
    return count;
}
} // namespace

TEST_CASE("ten requests that want more memory than there is do not get it",
          "[system][threads]")
{
    gridplan g({"--memory-bytes", std::to_string(MEMORY), "--max-body-bytes", "8388608",
                "--request-memory-bytes", "33554432", "--compute-workers", "4"});
    std::string packed = gzip(wide_placement(6 * MIB)), tables = workflow_body(900, 300);
    std::vector<std::string> requests;

    REQUIRE(packed.size() < 64 * 1024);
    for (int i = 0; i < 2; i++)
        requests.push_back(request("POST", "/v1/workflow-schedules", tables));
    for (int i = 0; i < 8; i++)
        requests.push_back(
            request("POST", "/v1/placements", packed, "Content-Encoding: gzip\r\n"));
    for (int round = 0; round < 3; round++) {
        std::map<int, int> count = all_at_once(g, requests);
        std::string said;
        for (auto &c : count)
            said += std::to_string(c.second) + " x " + std::to_string(c.first) + " ";
        report(REPORT("round " << round << ": " << said << "; at most "
                               << peak_bytes(g.pid) / MIB << " MiB resident"));
        CAPTURE(round, said);
        CHECK(count[200] + count[503] + count[413] == 10);
        CHECK(count[-1] == 0);
        // One always has room; how many more depends on who comes first.
        CHECK(count[200] >= 1);
        CHECK(peak_bytes(g.pid) <= MEMORY + SLACK);
    }
    check_recovered(g);
    g.stop();
}

TEST_CASE("bodies that are announced and never come hold next to nothing",
          "[system][threads]")
{
    gridplan g({"--memory-bytes", std::to_string(MEMORY), "--max-body-bytes", "8388608",
                "--request-memory-bytes", "33554432"});
    std::vector<client> waiting;

    for (int i = 0; i < 100; i++) { // 800 MB in words
        waiting.emplace_back(g.port);
        REQUIRE(waiting.back().put(
            "POST /v1/placements HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            "application/json\r\nContent-Length: 8000000\r\n\r\n{"));
    }
    // What they announce is looked at, what they sent is leased: the first step of those
    // whose body would still fit.
    size_t open = 0;
    for (auto &c : waiting)
        open += c.get(0.02 * SLOWER).status == 0;
    CHECK(open >= 2);
    CHECK(eventually([&] {
        return g.metric("gridplan_memory_leased_bytes{pool=\"body\"}") ==
               65536.0 * (double)open;
    }));
    CHECK(g.post("/v1/placements", placement_body()).status == 200);
    // Of two that go on sending one is refused when its buffer cannot grow.
    std::string rest(7999999, ' ');
    int refused = 0, read = 0;
    REQUIRE(waiting[0].put(rest.substr(1)));
    REQUIRE(waiting[1].put(rest.substr(1)));
    for (size_t i = 0; i < 2; i++) {
        answer a = waiting[i].get(0.5 * SLOWER);
        // Not to one that is refused: a reset would take its answer.
        if (a.status == 0 && waiting[i].put(" "))
            a = waiting[i].get();
        read += a.status == 400; // it is no JSON
        // A reset behind bytes that were still under way takes the answer with it.
        refused += a.status == 0 ||
                   (a.status == 503 && a.closes() && !a.field("Retry-After").empty());
    }
    CHECK(refused == 1);
    CHECK(read == 1);
    waiting.clear();
    check_recovered(g);
    g.stop();
}

TEST_CASE("a body beyond what all bodies may have is refused by name",
          "[system][threads]")
{
    gridplan g({"--memory-bytes", std::to_string(MEMORY), "--max-body-bytes", "33554432",
                "--request-memory-bytes", "33554432"});
    client c(g.port);

    REQUIRE(c.put("POST /v1/placements HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nContent-Length: 20000000\r\n\r\n"));
    answer a = c.get();
    CHECK(a.status == 413);
    CHECK_THAT(a.body, Catch::Contains("MEMORY_BYTES"));
    a = g.post("/v1/placements", gzip(wide_placement(20 * MIB)),
               "Content-Encoding: gzip\r\n");
    CHECK(a.status == 413);
    CHECK_THAT(a.body, Catch::Contains("MEMORY_BYTES"));
    a = g.post("/v1/workflow-schedules", workflow_body(2000, 600));
    CHECK(a.status == 413); // 32 * 2000 * 600 bytes
    CHECK_THAT(a.body, Catch::Contains("bytes of memory"));
    check_recovered(g);
    g.stop();
}

TEST_CASE("a log that is uploaded is packed as it comes", "[system][threads]")
{
    gridplan g({"--memory-bytes", std::to_string(MEMORY), "--max-body-bytes", "8388608",
                "--request-memory-bytes", "33554432", "--max-upload-bytes", "209715200"});
    const size_t bytes = (is_sanitized() ? 32 : 96) * MIB; // more than bodies have
    std::string log;

    for (int i = 0; log.size() < bytes; i++)
        log += std::to_string(i + 1) + " " + std::to_string(i * 20) +
               " -1 100 1 -1 -1 1 200 -1 1 " + std::to_string(i % 7) + " 1 1 1 1 -1 -1\n";
    // Read to its end, and then there is no database. Bodies have 16 MiB.
    size_t before = resident_bytes(g.pid);
    client c(g.port);
    REQUIRE(c.put(request("POST", "/v1/workloads", log, "Content-Type: text/plain\r\n")));
    answer a = c.get(300);
    INFO(a.body);
    CHECK(a.status == 503);
    CHECK_THAT(a.body, Catch::Contains("database"));
    report(REPORT(log.size() / MIB
                  << " MiB of a log: " << (peak_bytes(g.pid) - before) / MIB
                  << " MiB more at most"));
    CHECK(peak_bytes(g.pid) <= MEMORY + SLACK);
    check_recovered(g);

    // What cannot be packed has no room: it is read to its end, and said by its name.
    std::string noise(bytes * 2 / 3, ' ');
    uint64_t state = 1;
    for (char &letter : noise) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        letter = char(state >> 56);
    }
    a = g.post("/v1/workloads", noise, "Content-Type: text/plain\r\n");
    CHECK(a.status == 413);
    CHECK_THAT(a.body, Catch::Contains("MEMORY_BYTES"));
    client d(g.port);
    REQUIRE(d.put("POST /v1/workloads HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "text/plain\r\nContent-Length: 209715201\r\n\r\n"));
    a = d.get();
    CHECK(a.status == 413);
    CHECK_THAT(a.body, Catch::Contains("MAX_UPLOAD_BYTES"));
    check_recovered(g);
    g.stop();
}
