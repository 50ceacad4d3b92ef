// reschedule_jobs_description_test.cpp - which kind of POST /v1/reschedules a body is,
// and what the description says of it.
#include "tests/api.hpp"
#include "tests/description.hpp"

TEST_CASE("exactly one kind of the description fits a body", "[api][reschedule_jobs]")
{
    const std::pair<const char *, bool> cases[] = {
        // Without `kind` the service guesses; the description promises nothing then.
        {R"({"snapshot":{"resources":[]},"jobs":[],"algorithm":"gridway"})", false},
        {R"({"kind":"running_jobs","snapshot":{"resources":[]},"jobs":[],"pending":[]})",
         true},
        {R"({"kind":"phase_end","snapshot":{"resources":[]},"jobs":[],"pending":[]})",
         false},
        {R"({"kind":"burnt","snapshot":{"resources":[]},"jobs":[]})", false},
    };
    for (const auto &[body, fits] : cases) {
        INFO(body);
        CHECK((request_mistakes("POST", "/v1/reschedules", body) == "") == fits);
    }
}

TEST_CASE("a body without kind is told by its algorithm", "[api][reschedule_jobs]")
{
    api service;
    auto pointers = [&](const char *body) {
        return service.post("/v1/reschedules", body).pointers();
    };
    auto has = [](const std::vector<std::string> &list, const std::string &pointer) {
        return std::find(list.begin(), list.end(), pointer) != list.end();
    };

    // phase_end knows no `pending`.
    CHECK(has(pointers(R"({"pending":[]})"), "/pending"));
    CHECK(has(pointers(R"({"pending":[],"algorithm":"multi_phase"})"), "/pending"));
    CHECK_FALSE(has(pointers(R"({"pending":[],"algorithm":"gridway"})"), "/pending"));
    CHECK_FALSE(has(pointers(R"({"pending":[],"kind":"running_jobs"})"), "/pending"));

    api_reply r = service.post("/v1/reschedules",
                               R"({"kind":"running_jobs","algorithm":"auto",
                                   "snapshot":{"resources":[]},"jobs":[]})");
    CHECK(r.status == 200);
    CHECK(r.json()["kind"] == "running_jobs");
    CHECK(r.json()["algorithm"] == "gridway");
    CHECK(r.json()["status"] == "feasible");
    r = service.post("/v1/reschedules",
                     R"({"kind":"running_jobs","algorithm":"multi_phase",
                         "snapshot":{"resources":[]},"jobs":[]})");
    CHECK(r.pointers() == std::vector<std::string>{"/algorithm"});
}
