#include "support.hpp"

extern "C" {
#include "models/base/pointer.h"
}

#include <string>

TEST_CASE("pointers are joined from lists, indices and members", "[base]")
{
    CHECK(std::string(pointer_in("/jobs", 0, nullptr).text) == "/jobs/0");
    CHECK(std::string(pointer_in("/jobs", 17, "etc_s/3").text) == "/jobs/17/etc_s/3");
    CHECK(std::string(pointer_in("", 2, "id").text) == "/2/id");
    CHECK(std::string(pointer_in(pointer_in("/a", 1, "b").text, 2, nullptr).text) ==
          "/a/1/b/2");
    CHECK(std::string(pointer_of("", "running").text) == "/running");
    CHECK(std::string(pointer_of("/model", "terms/0").text) == "/model/terms/0");
}

TEST_CASE("a client's own name is escaped as RFC 6901 says", "[base]")
{
    CHECK(std::string(pointer_named("/options", "share").text) == "/options/share");
    CHECK(std::string(pointer_named("/options", "a/b~c").text) == "/options/a~1b~0c");
    CHECK(std::string(pointer_named("/options", "").text) == "/options/");
}

TEST_CASE("a pointer that is too long is cut, and never within an escape", "[base]")
{
    std::string name(POINTER_TEXT_BYTES + 40, 'x'), slashes(POINTER_TEXT_BYTES, '/');

    for (size_t before = 0; before < 4; before++) {
        std::string parent = "/" + std::string(before, 'p');
        std::string cut = pointer_named(parent.c_str(), slashes.c_str()).text;
        CHECK(cut.size() < POINTER_TEXT_BYTES);
        CHECK(cut.back() == '1');
    }
    CHECK(std::string(pointer_of("", name.c_str()).text).size() ==
          POINTER_TEXT_BYTES - 1);
    CHECK(std::string(pointer_named(name.c_str(), "y").text).size() ==
          POINTER_TEXT_BYTES - 1);
}

TEST_CASE("a pointer that is kept is in the arena", "[base]")
{
    test_arena a;

    CHECK(std::string(pointer_keep("/sites", 3, "model", a)) == "/sites/3/model");
}
