// clients_test.cpp - programs for users of engines: that they are served, and that they
// do what they should with services that are made up (Python) and with a real one.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/system.hpp"

extern "C" {
#include "service/hash.h"
}

using nlohmann::json;

namespace
{

const std::string root = GRIDPLAN_SOURCE_DIR;

bool has_python()
{
    return system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' "
                  ">/dev/null 2>&1") == 0;
}

#define NEED_PYTHON()                                       \
    do {                                                    \
        if (!has_python()) {                                \
            WARN("skipped: there is no python3 of 3.9 on"); \
            return;                                         \
        }                                                   \
    } while (0)

} // namespace

TEST_CASE("clients are served with their checksums, to everybody", "[api]")
{
    api a;
    std::istringstream sums(a.get("/clients/SHA256SUMS").body);
    std::vector<std::string> paths;

    for (std::string line; std::getline(sums, line);) {
        std::string sum = line.substr(0, 64), path = line.substr(66), hex;
        api_reply r = a.get("/clients/" + path);
        unsigned char digest[SHA256_BYTES];

        CHECK(r.status == 200);
        CHECK(r.body == file_text(root + "/openapi/clients/" + path));
        hash_sha256(r.body.data(), r.body.size(), digest);
        for (unsigned char byte : digest) {
            char digits[3];
            snprintf(digits, sizeof(digits), "%02x", byte);
            hex += digits;
        }
        CHECK(hex == sum);
        paths.push_back(path);
    }
    CHECK(paths == std::vector<std::string>{
                       "cwltool/gridplan_cwltool.py",
                       "snakemake-scheduler/pyproject.toml",
                       "snakemake-scheduler/snakemake_scheduler_plugin_gridplan.py",
                       "snakemake/gridplan_snakemake.py", "toil/gridplan_toil.py"});
    CHECK(a.get("/clients/snakemake/other.py").status == 404);
    CHECK(a.get("/clients/../routes.h").status == 404);
}

TEST_CASE("the clients' own tests", "[clients]")
{
    NEED_PYTHON();
    std::string command = "cd '" + root +
                          "' && timeout 500 python3 -B -m unittest -q "
                          "tests/clients/python/test_clients.py 2>&1";
    FILE *out = popen(command.c_str(), "r");
    std::string text;
    char part[4096];

    REQUIRE(out);
    while (size_t count = fread(part, 1, sizeof(part), out))
        text.append(part, count);
    INFO(text);
    CHECK(pclose(out) == 0);
}

/* A file of tests/clients/python with a real engine: its cases skip where that is
 * missing. */
static void run_engine(const std::string &python, const std::string &file)
{
    {
        store_fixture f; // the schema
    }
    int status = -1;
    std::string text = run_command(
        {"env", std::string("build_binary=") + build_binary,
         std::string("GRIDPLAN_TEST_DATABASE_URL=") + test_database_url(), "timeout",
         "500", python, "-B", root + "/tests/clients/python/" + file},
        &status, {}, 510);
    INFO(text);
    CHECK(status == 0);
    if (text.find("skipped") != std::string::npos)
        WARN("skipped: " << text);
}

TEST_CASE("a real Snakemake runs with a real service, and without", "[db]")
{
    NEED_DATABASE();
    NEED_PYTHON();
    run_engine("python3", "test_snakemake_run.py");
}

/* Debian's engines are modules of Debian's Python. */
TEST_CASE("a real Toil runs with a real service, and without", "[db]")
{
    NEED_DATABASE();
    NEED_PYTHON();
    run_engine("/usr/bin/python3", "test_toil_run.py");
}

TEST_CASE("a real cwltool runs with a real service, and without", "[db]")
{
    NEED_DATABASE();
    NEED_PYTHON();
    run_engine("/usr/bin/python3", "test_cwltool_run.py");
}

TEST_CASE("Snakemake's history is stored once by a real service", "[db]")
{
    NEED_DATABASE();
    NEED_PYTHON();
    {
        store_fixture f; // the schema
        error err{};
        REQUIRE_OK(db_execute(f.s, "TRUNCATE execution", &err));
    }
    gridplan g({"--database", test_database_url()});
    folder work;
    std::string data = root + "/tests/data/engines/snakemake-fan";
    REQUIRE(
        system(("mkdir -p " + work.path + "/.snakemake && cp -r " + data + "/metadata " +
                work.path + "/.snakemake/ && cp -r " + data + "/bench " + work.path)
                   .c_str()) == 0);
    std::vector<std::string> command = {
        "python3", "-B",      root + "/openapi/clients/snakemake/gridplan_snakemake.py",
        "history", work.path, "--application",
        "lab",     "--url",   "http://127.0.0.1:" + std::to_string(g.port)};
    int status = -1;
    std::string text = run_command(command, &status);
    INFO(text);
    CHECK(status == 0);
    // A benchmark of each of fetch and trim, two of each align, one of merge.
    CHECK(text.find("11 jobs, 13 benchmarks: 24 new") != std::string::npos);
    text = run_command(command, &status);
    INFO(text);
    CHECK(text.find("11 jobs, 13 benchmarks: 0 new") != std::string::npos);
    json page =
        json::parse(g.get("/v1/executions?application_id=lab/align&page_size=100").body);
    CHECK(page["items"].size() == 9);
}

TEST_CASE("the scheduler plugin of Snakemake selects with a real service", "[clients]")
{
    NEED_PYTHON();
    gridplan g;
    std::string program = R"(
import sys
sys.path.insert(0, sys.argv[1])
from test_clients import Dag, Job, Logger, plugin
def jobs(count, name, cores, mem_mb):
    return [Job({"_cores": cores, "mem_mb": mem_mb}, ["%s/%d.x" % (name, i)])
            for i in range(count)]
a, b, c = jobs(3, "a", 8, 16000), jobs(2, "b", 4, 32000), jobs(10, "c", 1, 4000)
end = Job({"_cores": 1})
chain = [Job({"_cores": 1}) for _ in range(2)]
needs = {end: b, chain[0]: a, chain[1]: [chain[0]]}
needs.update({job: [] for job in a + b + c})
logger = Logger()
s = plugin.Scheduler(Dag(needs), plugin.SchedulerSettings(url=sys.argv[2], timeout_ms=20000),
                     logger)
got = s.select_jobs(a + b + c, a + b + c, {"_cores": 16, "mem_mb": 64000}, {})
print(logger.lines, len(got & set(a)), len(got & set(b)), len(got & set(c)))
)";
    int status = -1;
    std::string text =
        run_command({"python3", "-B", "-c", program, root + "/tests/clients/python",
                     "http://127.0.0.1:" + std::to_string(g.port)},
                    &status);
    INFO(text);
    CHECK(status == 0);
    // Weights are ranks, 3, 2 and 1: the most is 1 x 3 + 8 x 1.
    CHECK(text.find("[] 1 0 8") != std::string::npos);
}

TEST_CASE("a key in a path is in no answer and in no log", "[db]")
{
    NEED_DATABASE();
    {
        store_fixture f; // the schema
    }
    auto key = [](const char *scopes) {
        int status = -1;
        std::string text =
            run_command({build_binary, "key", "create", "--tenant", "lab", "--scopes",
                         scopes, "--database", test_database_url()},
                        &status);
        INFO(text);
        REQUIRE(status == 0);
        return text.substr(text.find("gp_"), 80);
    };
    gridplan g({"--database", test_database_url(), "--auth", "on"});
    std::string facade = key("facade"), decide = key("decide");
    std::string message = R"({"event":"process_started"})";

    CHECK(g.post("/compat/nextflow/k/" + facade, message).status == 200);
    CHECK(g.post("/compat/k8s/k/" + facade + "/prioritize", "{}").body == "[]");
    answer r = g.post("/compat/nextflow/k/" + decide, message);
    CHECK(r.status == 404);
    CHECK(r.body.find("gp_") == std::string::npos);
    CHECK(g.post("/compat/nextflow/k/" + facade + "0", message).status == 401);
    CHECK(g.post("/compat/nextflow", message).status == 401);
    CHECK(g.post("/compat/nothing/k/" + facade, message).status == 404);
    CHECK(g.get("/compat/nextflow/k/" + facade).status == 405);
    CHECK(g.get("/clients/SHA256SUMS").status == 200); // to everybody
    CHECK(g.get("/metrics").body.find("gp_") == std::string::npos);
    g.send_signal(SIGTERM);
    CHECK(g.end() == 0);
    INFO(g.text());
    for (const std::string &k : {facade, decide})
        CHECK(g.text().find(k.substr(16, 20)) == std::string::npos);
}

TEST_CASE("other tools need not say what their bodies are, or send one", "[db]")
{
    NEED_DATABASE();
    {
        store_fixture f; // the schema
    }
    gridplan g({"--database", test_database_url()});
    std::string plain = "Content-Type: text/html\r\n", at = "/compat/cws/v1/scheduler/r";
    auto status = [&](const std::string &method, const std::string &path,
                      const std::string &body) {
        // No Content-Type at all: as it comes from the wire.
        std::string text = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" +
                           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                           body;
        return client(g.port).call(text, 60).status;
    };
    CHECK(status("POST", at, R"({"strategy":"fifo"})") == 200);
    CHECK(status("PUT", at + "/startBatch", "") == 200);
    CHECK(status("PUT", at + "/endBatch", "3") == 200);
    CHECK(status("POST", "/compat/cws/v1/file/r/publish", "") == 200);
    CHECK(status("POST", "/v1/ingest/nextflow", "") == 400);
    CHECK(status("POST", "/v1/ingest/nextflow", R"({"event":"completed"})") == 200);
    CHECK(status("POST", "/compat/k8s/filter", "") == 200);
    CHECK(status("POST", "/compat/tpv/process_data", "") == 400);
    CHECK(call(g.port, "POST", "/compat/tpv/process_data", "{}", plain).status == 200);
    CHECK(call(g.port, "POST",
               "/v1/executions?format=nextflow_trace&application_id=a&run_id=r", " ",
               "Content-Type: text/tab-separated-values\r\n")
              .status == 422);
    CHECK(status("POST", "/v1/selections", R"({"jobs":[],"capacities":{}})") == 415);
}
