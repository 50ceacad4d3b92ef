// description.hpp - are answers as the API's description says?
#pragma once
#include <functional>
#include <string>

// The value of a header of an answer, by its name; "": it is not there.
using header_value = std::function<std::string(const std::string &name)>;

// What the description has against this answer, a line for each place; "": nothing. Its
// status, its content type, its headers and its JSON body have to be described. The
// answer of a route that is not is not looked at.
std::string broken_promises(const std::string &method, const std::string &path,
                            int status, const header_value &header,
                            const std::string &body);

// Likewise of a request's body.
std::string request_mistakes(const std::string &method, const std::string &path,
                             const std::string &body);

// Does the JSON fit the schema, which refers to no other? Both as text.
bool fits_schema(const std::string &schema, const std::string &value);
