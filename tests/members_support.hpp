// members_support.hpp - one request with and without a member: what does it change?
#pragma once
#include "tests/api.hpp"

#include <fstream>
#include <set>
#include <sstream>

namespace members
{

using nlohmann::json;

inline std::string file_text(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;

    INFO(path);
    REQUIRE(in);
    text << in.rdbuf();
    return text.str();
}

// openapi/examples/NAME.json
inline json example(const std::string &name)
{
    return json::parse(
        file_text(GRIDPLAN_SOURCE_DIR "/openapi/examples/" + name + ".json"));
}

// The request with something else at `place`; what leads there is made.
inline json with(json request, const std::string &place, json value)
{
    request[json::json_pointer(place)] = std::move(value);
    return request;
}

// The answer, which must be one.
inline json answer(const std::string &path, const json &request)
{
    static api service;
    api_reply reply = service.post(path, request.dump());

    INFO(path << " " << request.dump().substr(0, 2000));
    INFO(reply.body.substr(0, 1000));
    REQUIRE(reply.status == 200);
    return reply.json();
}

} // namespace members
