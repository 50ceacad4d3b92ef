// queue_unsorted_test.cpp - a log whose lines are not in the order of arrival.
#include "tests/api.hpp"

using nlohmann::json;

TEST_CASE("lines out of order are sorted, none is dropped", "[queue]")
{
    api a;
    const std::string rest = " -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1 -1\n";
    json r =
        a.call("POST", "/v1/simulations?kind=queue&processors=4&policies=fcfs,easy",
               "1 100 -1 50 4" + rest + "2 0 -1 100 4" + rest + "3 50 -1 10 2" + rest,
               {{"content_type", "text/plain"}})
            .json();

    INFO(r.dump());
    CHECK(r.at("job_count").get<double>() == 3);
    CHECK(r.at("skipped_count").get<double>() == 0);
    REQUIRE(r.at("results").size() == 2);
    for (size_t i = 0; i < 2; i++)
        CHECK(r.at("results").at(i).at("mean_wait_s").get<double>() == 20); // 0, 50, 10
    CHECK(r.at("warnings").dump().find("in the order of arrival, and have been sorted") !=
          std::string::npos);
}
