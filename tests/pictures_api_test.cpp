// pictures_api_test.cpp - other tools' files in, pictures out: content types and Accept.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/examples.hpp"
#include "tests/picture_support.hpp"

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace
{

const char *svg = "image/svg+xml";
const char *dot = "text/vnd.graphviz";

const char *dax_file = R"(<adag>
 <job id="split" runtime="4"><uses file="f" link="output" size="125000000"/></job>
 <job id="map_1" runtime="6"><uses file="f" link="input" size="125000000"/></job>
 <job id="map_2" runtime="6"><uses file="f" link="input" size="125000000"/></job>
 <child ref="map_1"><parent ref="split"/></child>
 <child ref="map_2"><parent ref="split"/></child>
</adag>)";
const char *schedules = "/v1/workflow-schedules?algorithm=heft&speeds=1,2";

} // namespace

TEST_CASE("Accept takes the form of the highest quality, JSON among equals",
          "[api][pictures]")
{
    api a;
    struct {
        const char *accept, *type;
        int status;
    } cases[] = {
        {"", "application/json", 200},
        {"*/*", "application/json", 200},
        {"application/json", "application/json", 200},
        {"image/svg+xml", svg, 200},
        {"IMAGE/SVG+XML", svg, 200},
        {"image/*", svg, 200},
        {"image/svg+xml, application/json", "application/json", 200},
        {"image/svg+xml, application/json;q=0.9", svg, 200},
        {"image/svg+xml;q=0.5, application/json;q=0.9", "application/json", 200},
        {"image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", svg, 200},
        {"text/html,application/xhtml+xml,*/*;q=0.8", "application/json", 200},
        {"image/svg+xml;q=0, */*", "application/json", 200},
        {"application/json;q=0, */*", svg, 200},
        {"image/svg+xml;q=0", "application/problem+json", 406},
        {"image/png", "application/problem+json", 406},
        {"text/vnd.graphviz", "application/problem+json", 406},
        {"application/problem+json", "application/json", 200},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.accept)
        {
            api_reply r =
                a.call("POST", "/v1/placements", example_file("placement-min_min.json"),
                       {{"accept", c.accept}});

            CHECK(r.status == c.status);
            CHECK(r.headers["Content-Type"] == c.type);
            if (c.status == 406)
                CHECK(r.json()["detail"].get<std::string>().find(
                          "application/json, image/svg+xml; Accept was") !=
                      std::string::npos);
        }
}

TEST_CASE("a placement is drawn, with idle resources", "[api][pictures]")
{
    api a;
    auto json = a.post("/v1/placements", example_file("placement-min_min.json")).json();
    picture p(a.call("POST", "/v1/placements", example_file("placement-min_min.json"),
                     {{"accept", svg}})
                  .body);

    CHECK(p.bars() == json["placements"].size());
    for (const auto &job : json["placements"]) {
        CHECK(p.has_text(job["job_id"].get<std::string>()));
        CHECK(p.has_text(job["resource_id"].get<std::string>()));
    }
    CHECK(p.has_text("Placement by min_min"));
    CHECK(p.has_text("lower bound"));

    picture idle(a.call("POST", "/v1/placements", R"({"snapshot":{"resources":[
        {"id":"used"},{"id":"idle"}]},"algorithm":"mct",
        "jobs":[{"id":"one","etc_s":[9,90]}]})",
                        {{"accept", svg}})
                     .body);
    CHECK(idle.has_text("idle"));
    CHECK(idle.bars() == 1);
}

TEST_CASE("problems stay problems, whatever is accepted", "[api][pictures]")
{
    api a;
    api_reply r = a.call("POST", "/v1/placements", "{", {{"accept", svg}});

    CHECK(r.status == 400);
    CHECK(r.headers["Content-Type"] == "application/problem+json");
    r = a.call("POST", "/v1/placements", R"({"snapshot":{"resources":[]},"jobs":[]})",
               {{"accept", svg}});
    if (r.status == 200)
        CHECK(picture(r.body).notes() == "Nothing is scheduled.");
    else
        CHECK(r.headers["Content-Type"] == "application/problem+json");
}

TEST_CASE("a batch queue is drawn on its processors, from now on", "[api][pictures]")
{
    api a;
    picture p(a.call("POST", "/v1/queue-orders", example_file("queue-easy.json"),
                     {{"accept", svg}})
                  .body);

    CHECK(p.has_text("Batch queue by easy"));
    // 2 that run, 4 jobs, 1 reservation; jobs in several pieces have several bars.
    CHECK(p.bars() >= 7);
    CHECK(p.has_text("course"));
    for (const char *id : {"r2", "long", "narrow", "wide"})
        CHECK(p.y_of(id) > 0);
    CHECK(p.has_title("r1\n0 s \xe2\x80\x93 100 s\nfor 100 s\n50 processors, runs"));
    for (const char *name : {"queue-fcfs", "queue-conservative", "queue-first_fit"})
        picture(a.call("POST", "/v1/queue-orders",
                       example_file(name + std::string(".json")), {{"accept", svg}})
                    .body);
}

TEST_CASE("jobs and tasks on several nodes are drawn on each of them", "[api][pictures]")
{
    api a;
    auto drawn = [&](const char *path, const std::string &body) {
        api_reply r = a.call("POST", path, body, {{"accept", svg}});
        INFO(r.body);
        REQUIRE(r.status == 200);
        return picture(r.body);
    };
    auto places = [](const picture &p, const std::string &id) {
        std::set<double> rows;
        for (auto &[name, y] : p.bar_places)
            if (name == id)
                rows.insert(y);
        return rows.size();
    };
    const std::string nodes = R"("snapshot":{"resources":[{"id":"n1","cpus":4},
        {"id":"n2","cpus":4},{"id":"n3","cpus":4}]},)";
    picture placed = drawn("/v1/placements", "{" + nodes + R"("jobs":[
        {"id":"mpi","nodes":2,"cpus":3,"estimate_s":50},{"id":"one","cpus":4,
        "estimate_s":50}]})");
    CHECK(places(placed, "mpi") == 2);
    CHECK(places(placed, "one") == 1);
    CHECK(placed.has_text("2 jobs on 3 resources \xc2\xb7 makespan 50 s \xc2\xb7 lower "
                          "bound 50 s"));
    picture flow = drawn("/v1/workflow-schedules", "{" + nodes + R"("workflow":{"tasks":[
        {"id":"wide","nodes":3,"cpus":4,"estimate_s":10},{"id":"tail","cpus":1,
        "estimate_s":10,"depends_on":[{"task_id":"wide"}]}]}})");
    CHECK(places(flow, "wide") == 3);
    CHECK(places(flow, "tail") == 1);

    // What runs, and what is reserved before the plan ends, is there, too.
    picture around = drawn("/v1/placements", R"({"snapshot":{"resources":[
        {"id":"n1","cpus":4,"running":[{"id":"r7","cpus":1,"expected_end_s":30}]},
        {"id":"n2","cpus":4,"reservations":[{"id":"soon","start_s":10,"end_s":20,
        "all":true},{"id":"far","start_s":1000,"end_s":2000,"all":true}]}]},
        "jobs":[{"id":"j","cpus":2,"estimate_s":50}]})");
    CHECK(places(around, "r7") == 1);
    CHECK(places(around, "soon") == 1);
    CHECK(places(around, "far") == 0);
    CHECK(around.has_title("r7\n0 s \xe2\x80\x93 30 s\nfor 30 s\non n1, running"));
    CHECK(around.text.find(">1 job") != std::string::npos);

    // A queue on nodes: what runs, starts, waits for its time, and is reserved.
    picture queue =
        drawn("/v1/queue-orders", example_file("queue-cluster-conservative.json"));
    for (const char *node : {"n1", "n2"})
        CHECK(queue.has_text(node));
    CHECK(places(queue, "J1") == 2);
    CHECK(places(queue, "J2") == 1);
    CHECK(queue.has_title("R2\n0 s \xe2\x80\x93 30 s\nfor 30 s\non n1, runs"));
    CHECK(queue.has_title("J1\n80 s \xe2\x80\x93 380 s (6 min 20 s)\nfor 300 s (5 min)\n"
                          "on n1, n2, 10 processors, planned"));
    picture slurm = drawn("/v1/queue-orders", example_file("queue-slurm_backfill.json"));
    CHECK(places(slurm, "101") == 2);
    CHECK(places(slurm, "104_0") == 1); // of the array 104
    CHECK(places(slurm, "maintenance") == 1);
}

TEST_CASE("parallel schedules and plans of phases are drawn", "[api][pictures]")
{
    api a;
    auto drawn = [&](const char *path, const std::string &name) {
        api_reply r =
            a.call("POST", path, example_file(name + ".json"), {{"accept", svg}});
        INFO(r.body);
        REQUIRE(r.status == 200);
        return picture(r.body);
    };
    picture set = drawn("/v1/parallel-schedules", "parallel-all_machines");
    CHECK(set.bars() == 6); // one job on six machines
    CHECK(set.has_text("Parallel schedule by all_machines"));
    CHECK(set.has_title("md-1\n0 s \xe2\x80\x93 873.3333333 s (14 min 33 s)\nfor "
                        "873.3333333 s (14 min 33 s)\non alpha-1, alpha-2, alpha-3, "
                        "alpha-4, alpha-5, alpha-6"));
    // Three phases on four machines, a move, three on four others.
    picture plan = drawn("/v1/rescheduling-plans", "plan-mcrp_optimal");
    CHECK(plan.has_text("Rescheduling plan by mcrp_optimal"));
    CHECK(plan.has_title(
        "phases 1-3\n0 s \xe2\x80\x93 3382.5 s (56 min 23 s)\nfor 3382.5 s "
        "(56 min 23 s)\non a1, a2, a3, a4"));
    size_t second = 0;
    for (const std::string &title : plan.titles)
        second += title.rfind("phases 4-6\n3382.5 s", 0) == 0 &&
                  title.find("5041.284248 s") != std::string::npos;
    CHECK(second == 4);
    for (const example &e : examples())
        if (e.row && e.method == "POST" && e.row->flags & ROUTE_ANSWERS_CHART &&
            (std::string(e.row->path) == "/v1/parallel-schedules" ||
             std::string(e.row->path) == "/v1/rescheduling-plans") &&
            e.headers.empty()) {
            INFO(e.name);
            api_reply r = a.call("POST", e.target, e.body, {{"accept", svg}});
            if (r.status == 200)
                CHECK(picture(r.body).bars() > 0);
        }
}

TEST_CASE("the last time of an axis stays inside the picture", "[api][pictures]")
{
    api a;
    std::smatch last;
    std::string drawn =
        a.call("POST", "/v1/placements", R"({"snapshot":{"resources":[{"id":"m0"}]},
            "jobs":[{"id":"a","estimate_s":160}]})",
               {{"accept", svg}})
            .body;

    INFO(drawn);
    REQUIRE(std::regex_search(
        drawn, last, std::regex("<text x=\"([0-9.]+)\"[^>]*>2 min 40 s</text>")));
    CHECK(std::stod(last[1]) + 10 * 6.7 / 2 <= 1200);
}

TEST_CASE("co-allocations are drawn by site, from the claim on", "[api][pictures]")
{
    api a;
    auto drawn = [&](const std::string &body) {
        api_reply r = a.call("POST", "/v1/coallocations", body, {{"accept", svg}});
        INFO(r.body);
        REQUIRE(r.status == 200);
        return picture(r.body);
    };
    nlohmann::json body =
        nlohmann::json::parse(example_file("coallocation-worst_fit.json"));
    // Claimed 120 s after the placement, when a quarter of the longest transfer is left;
    // starts at 160 s. Nobody said how long the job runs: a quarter more is drawn.
    picture open_end = drawn(body.dump());
    CHECK(open_end.has_text("Co-allocation by worst_fit"));
    CHECK(open_end.has_text("4 components on 5 sites"));
    CHECK(
        open_end.has_title("c2\n120 s (2 min) \xe2\x80\x93 200 s (3 min 20 s)\nfor 80 s\n"
                           "on C, 16 processors"));
    CHECK(open_end.notes().find("4 without estimate_s") != std::string::npos);
    for (const char *site : {"A", "B", "C", "D", "E"})
        CHECK(open_end.has_text(site));
    CHECK(open_end.y_of("c0") > open_end.y_of("c2"));

    body["jobs"][0]["estimate_s"] = 600;
    body["jobs"].push_back(
        {{"id", "wide"}, {"components", {{{"id", "w"}, {"processors", 999}}}}});
    picture timed = drawn(body.dump());
    CHECK(timed.has_title("c2\n120 s (2 min) \xe2\x80\x93 760 s (12 min 40 s)\nfor 640 s "
                          "(10 min 40 s)\non C, 16 processors"));
    CHECK(timed.notes().find("without estimate_s") == std::string::npos);
    CHECK(timed.notes().find("1 without a place: wide (") != std::string::npos);
    CHECK(timed.text.find("its inputs are on their way") != std::string::npos);
    CHECK(timed.text.find("its last input is on its way") != std::string::npos);

    body["jobs"][1]["components"][0]["processors"] = 1; // two jobs: names say which
    picture both = drawn(body.dump());
    CHECK(both.y_of("j1/c2") > 0);
    CHECK(both.y_of("wide/w") > 0);
}

TEST_CASE("what becomes of running jobs and tasks is drawn", "[api][pictures]")
{
    api a;
    auto drawn = [&](const std::string &name) {
        api_reply r = a.call("POST", "/v1/reschedules", example_file(name + ".json"),
                             {{"accept", svg}});
        INFO(r.body);
        REQUIRE(r.status == 200);
        return picture(r.body);
    };
    picture jobs = drawn("migration-gridway");
    CHECK(jobs.has_text("Reschedule by gridway"));
    // cfd4 waits for its retry: nobody knows how long its rest takes.
    CHECK(jobs.has_text("4 of 5 jobs on 5 resources"));
    CHECK(jobs.has_title("cfd1\n-40 s \xe2\x80\x93 257.6 s (4 min 18 s)\nfor 297.6 s "
                         "(4 min 58 s)\non ursa, running"));
    CHECK(jobs.has_title("cfd2\n0 s \xe2\x80\x93 58.25 s\nfor 58.25 s\non pegasus, from "
                         "draco, migrate"));
    CHECK(jobs.has_title(
        "cfd5\n0 s \xe2\x80\x93 319.3133047 s (5 min 19 s)\nfor 319.3133047 s "
        "(5 min 19 s)\non babieca"));

    picture tasks = drawn("migration-workflow_round");
    CHECK(tasks.has_text("Reschedule by balanced"));
    CHECK(tasks.bars() >= 2);
    CHECK(tasks.has_title(
        "a\n0 s \xe2\x80\x93 5000.007 s (1 h 23 min)\nfor 5000.007 s (1 h 23 "
        "min)\non CR2, from CR1, migrate"));
    CHECK(tasks.notes().find("Tasks that stay are not") != std::string::npos);

    picture phases = drawn("migration-multi_phase");
    CHECK(phases.has_text("Rescheduling plan by multi_phase"));
    CHECK(phases.has_text("b1"));

    for (const char *name : {"migration-runner_liveness", "migration-component_error"}) {
        api_reply r =
            a.call("POST", "/v1/reschedules", example_file(name + std::string(".json")),
                   {{"accept", svg}});
        CHECK(r.status == 406);
        CHECK(r.json()["detail"].get<std::string>().find("running_jobs") !=
              std::string::npos);
    }
}

TEST_CASE("simulations are drawn by their rows of jobs", "[api][pictures]")
{
    api a;
    picture queue(a.call("POST", "/v1/simulations", example_file("simulation-queue.json"),
                         {{"accept", svg}})
                      .body);
    CHECK(queue.has_text("Simulation: fcfs"));
    CHECK(queue.has_text("wide"));
    CHECK(queue.bars() >= 4);

    picture grid(a.call("POST", "/v1/simulations", example_file("simulation-jobs.json"),
                        {{"accept", svg}})
                     .body);
    CHECK(grid.has_text("CR1"));
    CHECK(grid.bars() == 1); // two of its jobs are lost: no end

    picture flows(a.call("POST", "/v1/simulations",
                         example_file("simulation-workflow-given.json"),
                         {{"accept", svg}})
                      .body);
    CHECK(flows.has_text("fast"));
    CHECK(flows.bars() == 4);

    api_reply none = a.call("POST", "/v1/simulations", R"({"kind":"queue",
        "processors":2,"policies":["fcfs"],"jobs":[
        {"id":"a","submit_s":0,"processors":1,"run_time_s":1}]})",
                            {{"accept", svg}});
    CHECK(none.status == 406);
    CHECK(none.json()["detail"].get<std::string>().find("per_job") != std::string::npos);

    // A job log as the body, a chart as the answer.
    api_reply log = a.call("POST", "/v1/simulations?policies=easy&per_job=true",
                           "; MaxProcs: 4\n"
                           "1 0 -1 60 2 -1 -1 2 90 -1 1 1 1 -1 1 -1 -1 -1\n"
                           "2 10 -1 30 4 -1 -1 4 30 -1 1 1 1 -1 1 -1 -1 -1\n",
                           {{"accept", svg}, {"content_type", "text/plain"}});
    REQUIRE(log.status == 200);
    CHECK(picture(log.body).bars() == 2);
}

TEST_CASE("wide clusters are drawn as lines of processors", "[api][pictures]")
{
    api a;
    std::string jobs;

    for (int i = 0; i < 500; i++)
        jobs += (i ? "," : "") + std::string(R"({"id":"j)") + std::to_string(i) +
                R"(","submit_s":)" + std::to_string(i) + R"(,"processors":)" +
                std::to_string(1 + i * 37 % 9000) + R"(,"run_time_s":)" +
                std::to_string(100 + i % 50) + "}";
    api_reply r = a.call("POST", "/v1/simulations",
                         R"({"kind":"queue","processors":10000,"policies":["easy"],
                            "per_job":true,"jobs":[)" +
                             jobs + "]}",
                         {{"accept", svg}});
    REQUIRE(r.status == 200);
    picture p(r.body);
    CHECK(p.bars() == 0); // on free lines only: more than a thousand pieces
    CHECK(p.notes().find("bars are more than can be told apart") != std::string::npos);
    CHECK(p.has_text("0"));
}

TEST_CASE("workflows come as DAX, STG and WfFormat", "[api][pictures][import]")
{
    api a;
    const char *wfformat = R"({"workflow":{"specification":{"tasks":[
        {"id":"a","children":["b"]},{"id":"b","parents":["a"]}]},
        "execution":{"tasks":[{"id":"a","runtimeInSeconds":8},
                              {"id":"b","runtimeInSeconds":4}]}}})";
    struct {
        const char *type, *body, *format;
        size_t tasks;
    } cases[] = {
        {"application/xml", dax_file, "dax", 3},
        {"text/xml; charset=utf-8", dax_file, "dax", 3},
        {"text/plain", "2\n0 0 0\n1 8 1 0\n2 5 1 1\n3 0 1 2\n", "stg", 4},
        {"application/vnd.wfcommons.wfformat+json", wfformat, "wfformat", 2},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.type)
        {
            api_reply r = a.call("POST", schedules, c.body, {{"content_type", c.type}});

            INFO(r.body);
            REQUIRE(r.status == 200);
            CHECK(r.json()["import"]["format"] == c.format);
            CHECK(r.json()["schedule"].size() == c.tasks);
            CHECK(r.json()["status"] != "infeasible");

            r = a.call("POST", schedules, c.body,
                       {{"content_type", c.type}, {"accept", svg}});
            CHECK(picture(r.body).has_text("Workflow schedule by heft"));
        }
    // The same as members of a JSON body: an object, a string.
    for (std::string member : {std::string(wfformat), nlohmann::json(wfformat).dump()}) {
        api_reply r =
            a.post("/v1/workflow-schedules",
                   R"({"algorithm":"heft","speeds":[1,2],"wfformat":)" + member + "}");
        INFO(r.body);
        REQUIRE(r.status == 200);
        CHECK(r.json()["objective"]["makespan_s"] == 6);
    }
    api_reply r = a.call("POST", schedules, "<adag><job/></adag>",
                         {{"content_type", "application/xml"}});
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/dax", "/dax"});
    r = a.call("POST", schedules, "a,b", {{"content_type", "text/csv"}});
    CHECK(r.status == 415);
    CHECK(r.json()["detail"].get<std::string>().find("application/xml") !=
          std::string::npos);
    r = a.call("POST", schedules, "{}", {{"content_type", "application/json"}});
    CHECK(r.status == 422); // the query goes with a file only
    // Bytes that are no UTF-8, and NUL, do not stop a reader.
    r = a.call("POST", schedules,
               "1\n0 0 0\n1 1 1 0\n2 0 1 1\n# caf\xe9 " + std::string(1, 0),
               {{"content_type", "text/plain"}});
    CHECK(r.status == 200);
}

TEST_CASE("a workflow is drawn as a graph", "[api][pictures]")
{
    api a;
    api_reply r = a.call("POST", schedules, dax_file,
                         {{"content_type", "application/xml"}, {"accept", dot}});

    REQUIRE(r.status == 200);
    CHECK(r.headers["Content-Type"] == "text/vnd.graphviz; charset=utf-8");
    INFO(r.body);
    CHECK(r.body.find("digraph workflow {") == 0);
    CHECK(r.body.find("\"split\" -> \"map_1\" [label=\"125 MB\"];") != std::string::npos);
    CHECK(r.body.find("\"split\" [label=\"split\\nr2\\n0 to 2 s\"") != std::string::npos);
    CHECK(r.body.find("penwidth=2.5") != std::string::npos);
    CHECK(r.body == a.call("POST", schedules, dax_file,
                           {{"content_type", "application/xml"}, {"accept", dot}})
                        .body);

    r = a.call("POST", "/v1/workflow-schedules", R"({"algorithm":"heft","speeds":[1],
        "workflow":{"tasks":[{"id":"a\"b\\c\n","estimate_ref_s":1}]}})",
               {{"accept", dot}});
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.body.find("\"a\\\"b\\\\c\\n\" [label=") != std::string::npos);
}

TEST_CASE("schedules of the reference workflows come out as in the table",
          "[api][pictures][import]")
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    struct {
        const char *file;
        double heft_s;
    } cases[] = {{"CyberShake_30.xml", 122.3753},
                 {"Epigenomics_24.xml", 2953.7794},
                 {"Montage_25.xml", 37.8123}};
    api a;
    for (auto &c : cases)
        DYNAMIC_SECTION(c.file)
        {
            std::ifstream in(std::string(data) + "/04-dag/pegasus-dax/" + c.file);
            std::ostringstream text;

            REQUIRE(in);
            text << in.rdbuf();
            api_reply r =
                a.call("POST", "/v1/workflow-schedules?algorithm=heft&speeds=1,1.5,2,3",
                       text.str(), {{"content_type", "application/xml"}});
            INFO(r.body.substr(0, 500));
            REQUIRE(r.status == 200);
            CHECK(r.json()["objective"]["makespan_s"].get<double>() ==
                  Approx(c.heft_s).epsilon(0.02));
        }
}

TEST_CASE("the description names content types with examples that work",
          "[api][pictures][openapi]")
{
    api a;
    auto paths = a.get("/openapi.json").json()["paths"];
    size_t posted = 0;

    for (const char *path : {"/v1/workflow-schedules", "/v1/simulations"}) {
        auto &operation = paths[path]["post"];
        CHECK(operation["requestBody"]["content"].size() == 1);
        for (auto &[type, content] : operation["x-also-takes"].items()) {
            auto &text = content["example"];
            std::string target = path;

            if (target == "/v1/workflow-schedules")
                target = schedules;
            api_reply r = a.call("POST", target,
                                 text.is_string() ? text.get<std::string>() : text.dump(),
                                 {{"content_type", type}});
            INFO(type << r.body.substr(0, 300));
            CHECK(r.status == 200);
            posted++;
        }
    }
    CHECK(posted == 9);
    CHECK(paths["/v1/workflow-schedules"]["post"]["x-also-answers"] == json({svg, dot}));
    CHECK(paths["/v1/simulations"]["post"]["x-also-answers"] ==
          json({"text/plain", svg}));
}

TEST_CASE("what was stored as JSON is drawn later", "[api][pictures][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    auto request = nlohmann::json::parse(example_file("placement-min_min.json"));

    request["store"] = true;
    api_reply posted =
        a.call("POST", "/v1/placements", request.dump(), {{"accept", svg}});
    REQUIRE(posted.status == 200);
    std::string location = posted.headers["Location"];
    REQUIRE(location != "");
    api_reply stored = a.get(location);
    CHECK(stored.json()["answer"]["placements"].is_array());
    api_reply drawn = a.call("GET", location, "", {{"accept", svg}});
    REQUIRE(drawn.status == 200);
    CHECK(drawn.headers["Content-Type"] == svg);
    CHECK(drawn.headers["Vary"] == "Accept");
    CHECK(drawn.body == posted.body);
    CHECK(a.call("POST", location + "/replay", "", {{"accept", "*/*"}})
              .json()["identical"] == true);

    // The same key gives the same answer again, drawn as it was.
    for (int i = 0; i < 2; i++) {
        api_reply once =
            a.call("POST", "/v1/placements", example_file("placement-min_min.json"),
                   {{"accept", svg}, {"idempotency_key", location}});
        CHECK(picture(once.body).bars() == picture(posted.body).bars());
        CHECK(once.headers["Content-Type"] == svg);
    }
    request = nlohmann::json::parse(example_file("workflow-heft.json"));
    request["store"] = true;
    location = a.post("/v1/workflow-schedules", request.dump()).headers["Location"];
    REQUIRE(location != "");
    CHECK(picture(a.call("GET", location, "", {{"accept", svg}}).body)
              .has_text("Workflow schedule by heft"));

    // An imported file is stored with the decision, and replayed.
    posted = a.call("POST", std::string(schedules) + "&store=true", dax_file,
                    {{"content_type", "application/xml"}, {"accept", dot}});
    REQUIRE(posted.status == 200);
    location = posted.headers["Location"];
    CHECK(a.get(location).json()["request"]["dax"] == dax_file);
    CHECK(a.post(location + "/replay", "").json()["identical"] == true);
    CHECK(picture(a.call("GET", location, "", {{"accept", svg}}).body).has_text("r1"));
}
