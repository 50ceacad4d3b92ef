// slurm_dependency_test.cpp - what a job of Slurm waits for, and options of sbatch.
#include "tests/support.hpp"

extern "C" {
#include "models/slurm/dependency.h"
}

#include <string>
#include <vector>

namespace
{

std::string said(const char *text)
{
    test_arena a;
    slurm_dependency found;
    std::string out;

    slurm_dependency_read(text, &found, a);
    for (size_t i = 0; i < found.after_count; i++) {
        char one[200];

        snprintf(one, sizeof(one), "%s %s +%g; ", found.after[i].kind,
                 found.after[i].job_id, found.after[i].delay_s);
        out += one;
    }
    out += found.is_any ? "any" : "all";
    out += found.is_mixed ? " mixed" : "";
    out += found.singleton ? " singleton" : "";
    out += found.burst_count ? " burst" : "";
    return out + (found.bad_count ? " bad " + std::to_string(found.bad_count) : "");
}

} // namespace

TEST_CASE("dependencies by clauses of jobs", "[slurm]")
{
    struct {
        const char *text, *want;
    } cases[] = {
        {"afterok:12_3:13,afterany:14", "ok 12_3 +0; ok 13 +0; any 14 +0; all"},
        {"afterok:12(unfulfilled)?singleton", "ok 12 +0; any singleton"},
        {"after:7+5,aftercorr:8_*,afternotok:9",
         "start 7 +300; corr 8 +0; notok 9 +0; all"},
        {"singleton", "all singleton"},
        {"singleton(unfulfilled)", "all singleton"},
        {"afterburstbuffer:3", "any 3 +0; all burst"},
        {"afterok:1,afterok:2?afterok:3", "ok 1 +0; ok 2 +0; ok 3 +0; any mixed"},
        {"afterok", "all bad 1"},
        {"later:12", "all bad 1"},
        {"afterok:x:5", "ok 5 +0; all bad 1"},
        {"afterok:5+x", "all bad 1"},
        {"", "all"},
        {"(null)", "all"},
        {nullptr, "all"},
    };
    for (auto &c : cases) {
        INFO((c.text ? c.text : "-"));
        CHECK(said(c.text) == c.want);
    }
}

TEST_CASE("an option of the command that submitted a job", "[slurm]")
{
    struct {
        const char *line, *want;
    } cases[] = {
        {"sbatch --dependency=afterok:12 run.sh", "afterok:12"},
        {"sbatch --dependency afterok:12 run.sh", "afterok:12"},
        {"sbatch --depend=afterok:12 run.sh", "afterok:12"},
        {"sbatch -d afterok:12 run.sh", "afterok:12"},
        {"sbatch   -dafterok:12 run.sh", "afterok:12"},
        {"sbatch -p x --deadline=now+1hour -D /tmp run.sh", nullptr},
        {"sbatch --de=afterok:12", nullptr}, // not one option's begin alone
        {"sbatch --dependency=", ""},
        {"sbatch -d", nullptr},
        {"sbatch --dependencyx=1", nullptr},
        {"-", nullptr},
        {"", nullptr},
        {nullptr, nullptr},
    };
    for (auto &c : cases) {
        test_arena a;
        const char *value = slurm_option(c.line, "dependency", 3, 'd', a);

        INFO((c.line ? c.line : "-"));
        REQUIRE((value != nullptr) == (c.want != nullptr));
        if (value)
            CHECK(std::string(value) == c.want);
    }
}
