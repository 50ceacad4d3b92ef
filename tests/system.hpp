// system.hpp - for tests with the tag [system]: the program itself as a child, real
// HTTP over sockets, and a PostgreSQL that may be killed. Nothing of ours is linked.
#pragma once
#include "client.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "tests/this_build.h"
}

// What sanitizers cost: limits of time and memory are multiplied by it.
const int SLOWER = build_is_sanitized ? 5 : 1;

inline void pause_s(double seconds)
{
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

inline bool eventually(const std::function<bool()> &condition, double limit_s = 30)
{
    double end_s = now_s() + limit_s;

    while (!condition()) {
        if (now_s() > end_s)
            return false;
        pause_s(0.005);
    }
    return true;
}

inline std::string file_text(const std::string &name)
{
    std::ifstream in(name, std::ios::binary);
    std::ostringstream text;

    text << in.rdbuf();
    return text.str();
}

inline size_t occurrences(const std::string &text, const std::string &what)
{
    size_t count = 0;

    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;
         at += what.size())
        count++;
    return count;
}

// The value below which this share of the (sorted here) list is.
inline double percentile(std::vector<double> list, double share)
{
    REQUIRE(!list.empty());
    std::sort(list.begin(), list.end());
    return list[std::min(list.size() - 1, (size_t)(share * (double)list.size()))];
}

// A number for the record, in the output of the test; ctest shows it with -V.
#define REPORT(text) (std::ostringstream() << "    report: " << text << "\n").str()
inline void report(const std::string &line)
{
    fputs(line.c_str(), stdout);
    fflush(stdout);
}

// Longer runs than ctest's: tests/soak.sh sets it.
inline int soak_factor()
{
    const char *text = getenv("GRIDPLAN_SOAK");

    return text ? std::max(1, atoi(text)) : 1;
}

// ---- folders ----

// Anybody may look into it: PostgreSQL runs as a user of its own.
struct folder {
    std::string path;

    folder()
    {
        char name[] = "/tmp/gridplan-system.XXXXXX";
        REQUIRE(mkdtemp(name));
        REQUIRE(chmod(name, 0755) == 0);
        path = name;
    }
    ~folder()
    {
        CHECK(system(("rm -rf " + path).c_str()) == 0);
    }
    folder(const folder &) = delete;
    folder &operator=(const folder &) = delete;
};

// ---- processes ----

// A child with its own environment; what it prints goes to a file.
class process
{
  public:
    pid_t pid = -1;
    std::string output; // a file

    process() = default;
    // Variables without a value are taken out of the environment.
    void start(const std::vector<std::string> &arguments, const std::string &output_name,
               const std::map<std::string, std::string> &variables = {})
    {
        std::vector<char *> argv;

        output = output_name;
        for (auto &a : arguments)
            argv.push_back(const_cast<char *>(a.c_str()));
        argv.push_back(nullptr);
        pid = fork();
        REQUIRE(pid >= 0);
        if (pid > 0)
            return;
        int out = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(out, 1);
        dup2(out, 2);
        for (auto &v : variables)
            v.second.empty() ? unsetenv(v.first.c_str())
                             : setenv(v.first.c_str(), v.second.c_str(), 1);
        execvp(argv[0], argv.data());
        perror(argv[0]);
        _exit(127);
    }
    virtual ~process()
    {
        kill_now();
    }
    process(const process &) = delete;
    process &operator=(const process &) = delete;

    std::string text() const
    {
        return file_text(output);
    }
    void send_signal(int number) const
    {
        REQUIRE(kill(pid, number) == 0);
    }
    bool runs() const
    {
        return pid > 0 &&
               waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               info.si_pid == 0;
    }
    // Waits for the end: the exit status, 1000 + signal, or -1 after the time.
    int end(double limit_s = 60)
    {
        int status = 0;

        if (!eventually([&] { return !runs(); }, limit_s))
            return -1;
        waitpid(pid, &status, 0);
        pid = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    }
    void kill_now()
    {
        if (pid > 0) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
        pid = -1;
    }

  private:
    mutable siginfo_t info{};
};

// What a command printed on both outputs, and its exit status.
inline std::string run_command(const std::vector<std::string> &arguments,
                               int *status = nullptr,
                               const std::map<std::string, std::string> &variables = {},
                               double limit_s = 180)
{
    folder f;
    process p;

    p.start(arguments, f.path + "/output", variables);
    int code = p.end(limit_s);
    if (status)
        *status = code;
    return p.text();
}

inline size_t resident_bytes(pid_t pid)
{
    std::string text = file_text("/proc/" + std::to_string(pid) + "/status");
    size_t at = text.find("VmRSS:");

    return at == std::string::npos ? 0
                                   : strtoull(text.c_str() + at + 6, nullptr, 10) * 1024;
}

// ---- HTTP ----

// `headers`: whole lines, each with its CRLF.
inline std::string request(const std::string &method, const std::string &target,
                           const std::string &body = "", const std::string &headers = "")
{
    bool typed = headers.find("Content-Type:") != std::string::npos;

    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
           (body.empty()
                ? ""
                : std::string(typed ? "" : "Content-Type: application/json\r\n") +
                      "Content-Length: " + std::to_string(body.size()) + "\r\n") +
           "\r\n" + body;
}

inline answer call(int port, const std::string &method, const std::string &target,
                   const std::string &body = "", const std::string &headers = "",
                   double limit_s = 60)
{
    return client(port).call(request(method, target, body, headers), limit_s);
}

// ---- the program ----

inline const char *const NDJSON = "Content-Type: application/x-ndjson\r\n";

inline const std::string &checkpoint_body()
{
    static const std::string text =
        R"({"algorithm":"young","jobs":[{"id":"j","checkpoint_overhead_s":60,)"
        R"("mean_failure_interval_s":3600}]})";
    return text;
}

inline const std::string &placement_body()
{
    static const std::string text =
        R"({"snapshot":{"resources":[{"id":"m0"},{"id":"m1"}]},"jobs":[{"id":"j0","etc_s":[3.5,4]},)"
        R"({"id":"j1","etc_s":[5,2]}],"algorithm":"min_min","seed":7})";
    return text;
}

// A search that goes on for as long as it may: 512 jobs on 16 machines.
inline std::string search_body(double time_limit_s)
{
    auto body = nlohmann::json::parse(
        file_text(GRIDPLAN_SOURCE_DIR "/openapi/examples/placement-braun.json"));

    body["algorithm"] = "search";
    body["time_limit_s"] = time_limit_s;
    body.erase("options");
    return body.dump();
}

// gridplan with these flags on a port of its own. `check()` at the end of a test:
// it has ended well, and no sanitizer found anything.
class gridplan : public process
{
  public:
    int port = 0;

    explicit gridplan(std::vector<std::string> flags = {}, bool wait = true)
    {
        bool has_port = std::find(flags.begin(), flags.end(), "--port") != flags.end();

        flags.insert(flags.begin(), build_binary);
        if (!has_port)
            flags.insert(flags.end(), {"--port", "0"});
        start(flags, files.path + "/log",
              {{"DATABASE_URL", ""},
               {"PGHOST", ""},
               {"PGDATABASE", ""},
               {"PGSERVICE", ""},
               {"PORT", ""}});
        if (wait)
            wait_for_port();
    }
    ~gridplan() override
    {
        kill_now();
        check_log();
    }
    void wait_for_port()
    {
        bool started = eventually([&] { return find_port() || !runs(); }, 60);

        INFO(text());
        REQUIRE(started);
        REQUIRE(port > 0);
    }
    answer get(const std::string &target, const std::string &headers = "",
               double limit_s = 60) const
    {
        return call(port, "GET", target, "", headers, limit_s);
    }
    answer post(const std::string &target, const std::string &body,
                const std::string &headers = "", double limit_s = 60) const
    {
        return call(port, "POST", target, body, headers, limit_s);
    }
    bool is_ready() const
    {
        return get("/readyz").status == 200;
    }
    // A value of /metrics; -1: it is not there.
    double metric(const std::string &name) const
    {
        std::string text = "\n" + get("/metrics").body;
        size_t at = text.find("\n" + name + " ");

        return at == std::string::npos ? -1 : atof(text.c_str() + at + name.size() + 2);
    }
    void stop()
    {
        send_signal(SIGTERM);
        int status = end();
        INFO(text().substr(text().size() > 4000 ? text().size() - 4000 : 0));
        CHECK(status == 0);
    }
    void check_log() const
    {
        std::string all = text();
        size_t at = std::min(
            {all.find("Sanitizer"), all.find("runtime error:"), all.find("Assertion")});

        INFO(all.substr(std::min(at, all.size()), 6000));
        CHECK(at == std::string::npos);
    }

  private:
    bool find_port()
    {
        std::string all = text();
        size_t at = all.find(" on http://");

        if (at == std::string::npos)
            return false;
        at = all.find(',', at);
        if (at == std::string::npos)
            return false;
        port = atoi(all.c_str() + all.rfind(':', at) + 1);
        return port > 0;
    }
    folder files;
};

// ---- PostgreSQL ----

// The database that the ctest fixture gives to a test with the tag [db].
inline std::string test_database()
{
    const char *url = getenv("GRIDPLAN_TEST_DATABASE_URL");

    if (!url)
        FAIL("GRIDPLAN_TEST_DATABASE_URL names no database: run it by ctest, or by "
             "tests/postgres.sh run");
    return url;
}

// One value, as text.
inline std::string sql(const std::string &url, const std::string &statement)
{
    int status = -1;
    std::string text = run_command({"psql", "-X", "-q", "-A", "-t", "-v",
                                    "ON_ERROR_STOP=1", "-d", url, "-c", statement},
                                   &status);

    INFO(text);
    REQUIRE(status == 0);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

// A PostgreSQL of this test alone, as careful with its data as in production.
class cluster
{
  public:
    std::string url;

    cluster()
    {
        start();
    }
    ~cluster()
    {
        CHECK(system((std::string(script) + " stop " + files.path + " >/dev/null 2>&1")
                         .c_str()) == 0);
    }
    void start()
    {
        int status = -1;
        std::string text = run_command({script, "start", files.path}, &status);

        INFO(text);
        REQUIRE(status == 0);
        while (!text.empty() && text.back() == '\n')
            text.pop_back();
        url = text.substr(text.rfind('\n') + 1);
        REQUIRE_THAT(url, Catch::StartsWith("postgresql://"));
    }
    const std::string &path() const
    {
        return files.path;
    }
    // kill -9, of the server and of all its processes.
    void kill_now()
    {
        int server = atoi(file_text(files.path + "/cluster/data/postmaster.pid").c_str());

        REQUIRE(server > 1);
        std::vector<pid_t> all = children(server);
        all.insert(all.begin(), server);
        for (pid_t p : all)
            kill(p, SIGKILL);
        REQUIRE(
            eventually([&] { return std::none_of(all.begin(), all.end(), is_alive); }));
    }

  private:
    static std::vector<pid_t> children(pid_t parent)
    {
        std::string task = "/proc/" + std::to_string(parent) + "/task/" +
                           std::to_string(parent) + "/children";
        std::istringstream text(file_text(task));
        std::vector<pid_t> list;

        for (pid_t p; text >> p;)
            list.push_back(p);
        return list;
    }
    static bool is_alive(pid_t p)
    {
        std::string status = file_text("/proc/" + std::to_string(p) + "/status");

        return !status.empty() && status.find("State:\tZ") == std::string::npos &&
               status.find("State:\tX") == std::string::npos;
    }

    static constexpr const char *script = GRIDPLAN_SOURCE_DIR "/tests/postgres.sh";
    folder files;
};
