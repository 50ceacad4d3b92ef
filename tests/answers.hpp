// answers.hpp - recorded answers: what the service said to every example.
//
//     recorded_answers found("examples");
//     found.add("placement-mct", 200, "application/json", body);
//     found.check();
//
// The answers are compared with tests/golden/answers/GROUP/, those of examples with
// openapi/examples/NAME.answer.json, by tests/answers, which knows what differs by
// nature. With GRIDPLAN_RECORD set they are recorded instead.
#pragma once
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

class recorded_answers
{
  public:
    explicit recorded_answers(const std::string &group)
        : group_(group), folder_("answers-" + group)
    {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directory(folder_);
    }
    // `name` is unique, and a file name.
    void add(const std::string &name, int status, const std::string &content_type,
             const std::string &body)
    {
        std::ofstream out(folder_ + "/" + name + ".answer", std::ios::binary);

        out << status << " " << content_type << "\n" << body;
        out.close();
        REQUIRE(out.good());
    }
    // Where they are kept until then, below the folder of this run: NAME.answer is a line
    // with status and content type, and the body.
    const std::string &folder() const
    {
        return folder_;
    }
    // Every answer as recorded, none missing and none left over.
    void check() const
    {
        const char *verb = getenv("GRIDPLAN_RECORD") ? " --record " : " --check ";
        std::string command = GRIDPLAN_SOURCE_DIR "/tests/answers" + std::string(verb) +
                              folder_ + " " GRIDPLAN_SOURCE_DIR +
                              (group_ == "examples" ? "/openapi/examples"
                                                    : "/tests/golden/answers/" + group_);

        INFO("what differs is printed above; if it is meant: GRIDPLAN_RECORD=1 ./test -R "
             "answers");
        CHECK(std::system(command.c_str()) == 0);
    }

  private:
    std::string group_, folder_;
};
