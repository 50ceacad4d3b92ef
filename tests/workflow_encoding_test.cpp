// workflow_encoding_test.cpp - XML bodies of other encodings than UTF-8, and what
// importers leave out.
#include "tests/workflow_api_support.hpp"

extern "C" {
#include "service/xml_text.h"
}

using namespace workflow_api;

namespace
{

std::string dax(const std::string &encoding, const std::string &first,
                const std::string &second)
{
    return "<?xml version='1.0' encoding=\"" + encoding + "\"?>\n<adag>\n<job id='" +
           first + "' runtime='1'/>\n<job id='" + second + "' runtime='2'/>\n</adag>";
}

api_reply post_xml(api &a, const std::string &text)
{
    return a.call("POST", "/v1/workflow-schedules?speeds=1", text,
                  {{"content_type", "application/xml"}});
}

// As UTF-8, or the mistake's kind and text.
std::string as_utf8(const std::string &text)
{
    test_arena a;
    error err = collecting_error(a);
    const char *out = nullptr;
    size_t length = 0;

    if (xml_text_to_utf8(text.data(), text.size(), "/dax", &out, &length, a, &err) == OK)
        return std::string(out, length);
    return std::string(item_kinds[err.first->code].name) + ": " + err.first->detail;
}

std::string utf16(const std::string &ascii, bool little)
{
    std::string text = little ? "\xff\xfe" : "\xfe\xff";
    for (char c : ascii) {
        text += little ? c : '\0';
        text += little ? '\0' : c;
    }
    return text;
}

} // namespace

TEST_CASE("XML is read in the encoding that it declares", "[workflow][import]")
{
    const std::string euro = "\xe2\x82\xac";
    CHECK(as_utf8("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9\xa4</a>")
              .find("<a>\xc3\xa9\xc2\xa4</a>") != std::string::npos);
    CHECK(as_utf8("<?xml version='1.0' encoding = \"iso-8859-15\"?>\xa4").find(euro) !=
          std::string::npos);
    CHECK(as_utf8("<?xml version='1.0' encoding='windows-1252'?>\x80").find(euro) !=
          std::string::npos);
    CHECK(as_utf8("<a>" + euro + "</a>") == "<a>" + euro + "</a>");
    CHECK(as_utf8("\xef\xbb\xbf<a/>") == "<a/>");
    CHECK(as_utf8(utf16("<a/>", true)) == "<a/>");
    CHECK(as_utf8(utf16("<a/>", false)) == "<a/>");
    CHECK(as_utf8("") == "");
    // A pair of UTF-16: U+1F600.
    CHECK(as_utf8(std::string("\xff\xfe\x3d\xd8\x00\xde", 6)) == "\xf0\x9f\x98\x80");
}

TEST_CASE("bytes that are none of the encoding are a mistake with a line",
          "[workflow][import]")
{
    CHECK(as_utf8("<a>\n\xe9</a>") ==
          "malformed: line 2: byte 0xe9 is not of the document's encoding");
    CHECK(as_utf8("<?xml version='1.0' encoding='US-ASCII'?>\n\n\x80").find("line 3") !=
          std::string::npos);
    CHECK(as_utf8("<?xml version='1.0' encoding='windows-1252'?>\x81").find("0x81") !=
          std::string::npos);
    CHECK(as_utf8("<?xml version='1.0' encoding='EBCDIC'?><a/>")
              .find("unknown_encoding: line 1: the encoding 'EBCDIC'") == 0);
    for (const std::string &bad :
         {std::string("a\0b", 3), std::string("\xc0\x80"), std::string("\xed\xa0\x80"),
          std::string("\xe2\x82"), std::string("\xf5\x80\x80\x80"),
          std::string("\xff\xfe\x3d", 3), std::string("\xff\xfe\x3d\xd8", 4)})
        CHECK(as_utf8(bad).find("malformed") == 0);
}

TEST_CASE("ids of a DAX in ISO-8859-1 stay apart", "[api][workflow][import]")
{
    api a;
    api_reply r = post_xml(a, dax("ISO-8859-1", "t\xe9", "t\xe8"));
    INFO(r.body);
    REQUIRE(r.status == 200);
    json j = r.json();
    std::set<std::string> ids;
    for (const json &row : j["schedule"])
        ids.insert(row["task_id"]);
    CHECK(ids == std::set<std::string>{"t\xc3\xa9", "t\xc3\xa8"});

    r = post_xml(a, dax("UTF-8", "a", "t\xe8"));
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/dax"});
    CHECK(r.body.find("line 4: byte 0xe8") != std::string::npos);
}

TEST_CASE("what importers leave out is said, with how often", "[api][workflow][import]")
{
    api a;
    json task = {{"id", "a"},
                 {"name", "n"},
                 {"parents", json::array()},
                 {"children", json::array()}};
    json body = {{"speeds", {1}},
                 {"wfformat",
                  {{"name", "w"},
                   {"workflow",
                    {{"specification", {{"tasks", {task}}}},
                     {"execution",
                      {{"makespanInSeconds", 3},
                       {"tasks",
                        {{{"id", "a"},
                          {"runtimeInSeconds", 3},
                          {"coreCount", 8},
                          {"memoryInBytes", 1e9}}}}}}}}}}};
    json j = answered(a, "/v1/workflow-schedules", body);
    std::string said = j["warnings"][0];
    INFO(said);
    CHECK(said == "wfformat: left_out: 2. Members that are not used: /name (1), "
                  "/workflow/execution/makespanInSeconds (1)");
    CHECK(said.find(" /name (1)") != std::string::npos);
    CHECK(said.find("parents") == std::string::npos);

    api_reply r = post_xml(
        a, "<adag><job id='a' runtime='1'><argument>-x <file name='f'/></argument>"
           "<profile namespace='pegasus' key='cores'>8</profile></job>"
           "<job id='b' runtime='1'><argument/></job></adag>");
    REQUIRE(r.status == 200);
    said = r.json()["warnings"][0];
    CHECK(said == "dax: left_out: 3. Members that are not used: <argument> (2), <job> "
                  "pegasus cores (1)");
}
