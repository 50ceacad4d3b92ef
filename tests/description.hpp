// description.hpp - are answers as the API's description says?
#pragma once
#include <string>

// What the description has against this answer, a line for each place; "": nothing. An
// answer of a route that is not described, or without a JSON body, is not looked at.
std::string broken_promises(const std::string &method, const std::string &path,
                            int status, const std::string &content_type,
                            const std::string &body);

// Likewise of a request's body.
std::string request_mistakes(const std::string &method, const std::string &path,
                             const std::string &body);
