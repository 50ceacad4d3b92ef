// api.hpp - the API without a socket: route_answer() on a service made for the
// test, with or without a database. Half of the tests include this: compiled in api.cpp.
#pragma once
#include "tests/json.hpp"
#include "tests/support.hpp"

#include <map>
#include <string>
#include <vector>

extern "C" {
#include "handlers/routes.h"
#include "service/config.h"
#include "service/db.h"
#include "service/metrics.h"
#include "service/openapi.h"
#include "service/service.h"
}

// The description as it is served; made once.
const openapi_document *test_document();

struct api_reply {
    int status;
    std::string body;
    std::map<std::string, std::string> headers;

    nlohmann::json json() const;
    // Pointers of the mistakes, in order; "?/NAME" for those in the query.
    std::vector<std::string> pointers() const;
};

class api
{
  public:
    // `database`: a connection string, or empty for none; then the schema is made.
    explicit api(const std::string &database = "");
    ~api();
    api(const api &) = delete;
    api &operator=(const api &) = delete;

    // Headers by the names of struct message: "if_match", "idempotency_key" ...
    api_reply call(const std::string &method, const std::string &target,
                   const std::string &body = "",
                   std::map<std::string, std::string> headers = {},
                   size_t cap_bytes = size_t{1} << 30);
    api_reply post(const std::string &path, const std::string &body);
    api_reply get(const std::string &target);
    service *handle()
    {
        return &service_;
    }

  private:
    test_arena settings;
    config config_{};
    service service_{};
};
