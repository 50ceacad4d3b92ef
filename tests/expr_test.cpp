// expr_test.cpp - requirement and rank expressions.
#include "tests/support.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <regex.h>
#include <vector>

extern "C" {
#include "models/expr.h"
}

using std::string;

namespace
{

using resource_values = std::map<string, expr_value>;

// The resource of the examples in spec gridway.md 2.2.
const resource_values example = {
    {"resource_id", expr_text("r1")},
    {"mips_total", expr_number(2)},
    {"mips_external", expr_number(0.5)},
    {"mips_free", expr_number(1.5)},
    {"cpu_free", expr_number(75)},
    {"n_max", expr_number(4)},
    {"slots_free", expr_number(1)},
    {"arch", expr_text("i686")},
    {"cpu_mhz", expr_number(2400)},
    {"free_mem_mb", expr_number(512)},
    {"os_name", expr_text("Linux 2.4")},
    {"lrms_type", expr_text("pbs")},
    {"good", expr_boolean(true)},
    {"bad", expr_boolean(false)},
    {"empty", expr_text("")},
};

std::vector<expr_value> slots_of(const expr &e, const resource_values &resource)
{
    std::vector<expr_value> values(e.name_count + 1);
    for (size_t i = 0; i < e.name_count; i++)
        if (auto found = resource.find(e.names[i].name); found != resource.end())
            values[i] = found->second;
    return values;
}

string shown(const expr_value &v)
{
    char text[64];
    switch (v.type) {
    case VALUE_NUMBER:
        snprintf(text, sizeof(text), "%.17g", v.number + 0.0); // no -0
        return text;
    case VALUE_BOOLEAN:
        return v.number != 0 ? "true" : "false";
    case VALUE_TEXT:
        return "\"" + string(v.text) + "\"";
    default:
        return "undefined";
    }
}

expr parsed(const string &text, arena *a, expr_dialect dialect = EXPR_NATIVE,
            expr_purpose purpose = EXPR_REQUIREMENT)
{
    expr e{};
    error err = collecting_error(a);
    INFO(text);
    enum error_code code = expr_parse(text.c_str(), purpose, dialect, "/p", &e, a, &err);
    INFO(err.text);
    REQUIRE(code == OK);
    return e;
}

// The value on the example, or the mistake.
string value_of(const string &text, expr_dialect dialect = EXPR_NATIVE,
                expr_purpose purpose = EXPR_REQUIREMENT)
{
    test_arena a;
    expr e{};
    error err = collecting_error(a);
    if (expr_parse(text.c_str(), purpose, dialect, "/jobs/0/requirement", &e, a, &err) !=
        OK) {
        CHECK(err.code == ERR_INVALID);
        CHECK(string(err.field) == "/jobs/0/requirement");
        REQUIRE(err.item_count == 1);
        CHECK(string(item_kinds[err.first->code].name) == "expression");
        CHECK(string(err.first->pointer) == "/jobs/0/requirement");
        CHECK(e.ops == nullptr);
        return err.text;
    }
    auto values = slots_of(e, example);
    size_t used_bytes = arena_used_bytes(a);
    string first = shown(expr_eval(&e, values.data()));
    CHECK(shown(expr_eval(&e, values.data())) == first);
    CHECK(arena_used_bytes(a) == used_bytes);
    return first;
}

string repeated(const string &text, size_t count)
{
    string all;
    for (size_t i = 0; i < count; i++)
        all += text;
    return all;
}

} // namespace

TEST_CASE("native expressions have the values of spec gridway.md 2.2", "[expr]")
{
    struct {
        const char *text, *want;
    } cases[] = {
        {"arch == \"i686\" && cpu_mhz > 1000", "true"},
        {"ARCH == \"I686\"", "false"},
        {"free_mem_mb >= 1024 || slots_free >= 1", "true"},
        {"gpu_count > 0", "undefined"},
        {"!(gpu_count > 0)", "undefined"},
        {"gpu_count > 0 || true", "true"},
        {"gpu_count > 0 && false", "false"},
        {"cpu_mhz * 2 + free_mem_mb", "5312"},
        {"mips_free", "1.5"},
        {"cpu_free", "75"},
        {"1 / 0", "undefined"},
        {"-7 % 3", "-1"},
        {"2 - 3 - 4", "-5"},
        {"7 / 2 * 2", "7"},
        {"member(lrms_type, {\"pbs\", \"sge\"})", "true"},
        {"regexp(\"^Linux\", os_name)", "true"},
        {"isUndefined(gpu_count)", "true"},
        {"ifThenElse(slots_free > 1, 10, 20)", "20"},
        {"round(-2.5)", "-3"},
        {"arch < 5", "undefined"},
        {"\"a\" < \"b\"", "true"},
        {"true + 1", "2"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            CHECK(value_of(c.text) == c.want);
        }
}

TEST_CASE("operators, values and functions follow the rules", "[expr]")
{
    struct {
        const char *text, *want;
    } cases[] = {
        {"", "true"},
        {" \t\r\n", "true"},
        {"TRUE", "true"},
        {"UNdefined", "undefined"},
        {"trueish", "undefined"},
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"8 / 4 / 2", "1"},
        {"- - 2", "2"},
        {"-(2)", "-2"},
        {"+true", "1"},
        {"-true", "-1"},
        {"-arch", "undefined"},
        {"+arch", "undefined"},
        {"1e3 + 0.5", "1000.5"},
        {"1E-2 * 100", "1"},
        {"1e308 * 10", "undefined"},
        {"7 % 0", "undefined"},
        {"7.5 % 2", "1.5"},
        {"\"a\" + 1", "undefined"},
        {"undefined + 1", "undefined"},
        {"good + good", "2"},
        // comparison binds tighter than !
        {"!cpu_mhz == 2400", "false"},
        {"!good == false", "true"},
        {"!!good", "true"},
        {"true == 1", "true"},
        {"false < true", "true"},
        {"true == \"true\"", "undefined"},
        {"\"a\" == \"a\"", "true"},
        {"\"a\" != \"A\"", "true"},
        {"\"B\" < \"a\"", "true"},
        {"\"\" == empty", "true"},
        {"\"ab\" > \"a\"", "true"},
        {"\"a\\\"b\\\\\" == \"a\\\"b\\\\\"", "true"},
        {"undefined == undefined", "undefined"},
        {"1000 < cpu_mhz", "true"},
        {"2400 <= CPU_mhz", "true"},
        {"2400 < cpu_mhz", "false"},
        {"2400 >= cpu_mhz", "true"},
        {"2399 >= cpu_mhz", "false"},
        {"2400 != cpu_mhz", "false"},
        {"\"i686\" == arch", "true"},
        {"\"i7\" > arch", "true"},
        {"cpu_mhz > -5", "true"},
        {"good > 0", "true"},
        // three-valued logic
        {"true && undefined", "undefined"},
        {"undefined && true", "undefined"},
        {"false && undefined", "false"},
        {"undefined && false", "false"},
        {"undefined || undefined", "undefined"},
        {"false || undefined", "undefined"},
        {"undefined || true", "true"},
        {"true || undefined", "true"},
        {"!undefined", "undefined"},
        {"!5", "undefined"},
        {"!arch", "undefined"},
        {"5 && true", "undefined"},
        {"5 && false", "false"},
        {"arch || true", "true"},
        {"1 || false", "undefined"},
        {"false && 1 / 0 > 2", "false"},
        {"true || false && false", "true"},
        {"(true || false) && false", "false"},
        // functions
        {"min(3)", "3"},
        {"MIN(3, 1, 2)", "1"},
        {"max(3, 1, true, 7)", "7"},
        {"min(1, undefined)", "undefined"},
        {"min(\"a\")", "undefined"},
        {"min(true)", "1"},
        {"abs(-2)", "2"},
        {"floor(-1.5)", "-2"},
        {"ceil(-1.5)", "-1"},
        {"round(2.5)", "3"},
        {"round(0.49999999999999994)", "0"},
        {"pow(2, 10)", "1024"},
        {"pow(-1, 0.5)", "undefined"},
        {"pow(undefined, 0)", "undefined"},
        {"log(0)", "undefined"},
        {"log(exp(1))", "1"},
        {"exp(1000)", "undefined"},
        {"sqrt(-1)", "undefined"},
        {"sqrt(16)", "4"},
        {"member(2, {1, 2, 3})", "true"},
        {"member(5, {1, 2, 3})", "false"},
        {"member(5, {1, undefined, 3})", "undefined"},
        {"member(3, {1, undefined, 3})", "true"},
        {"member(gpu_count, {1})", "undefined"},
        {"member(arch, {1, arch})", "true"},
        {"member(2, {1 + 1})", "true"},
        {"regexp(\"x\", 5)", "undefined"},
        {"regexp(\"x\", gpu_count)", "undefined"},
        {"regexp(\"\\\\.\", os_name)", "true"},
        {"isUndefined(1)", "false"},
        {"isUndefined(1 / 0)", "true"},
        {"ifThenElse(undefined, 1, 2)", "undefined"},
        {"ifThenElse(5, 1, 2)", "undefined"},
        {"ifThenElse(true, \"a\", 2)", "\"a\""},
        {"ifThenElse(false, 1, undefined)", "undefined"},
        {"ifThenElse(true, ifThenElse(false, 1, 2), 3) + 1", "3"},
        {"ifThenElse(false, ifThenElse(false, 1, 2), 3) + 1", "4"},
        {"ifThenElse(gpu_count > 1, 1, 2) + 1", "undefined"},
        // GridWay's names
        {"HOSTNAME == \"r1\"", "true"},
        {"NODECOUNT + QUEUE_FREENODECOUNT", "5"},
        {"min > 3", "undefined"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            CHECK(value_of(c.text) == c.want);
        }
}

TEST_CASE("a mistake is reported with its column", "[expr]")
{
    struct {
        const char *text;
        size_t column;
    } cases[] = {
        {"1 < 2 < 3", 7},
        {"1 +", 4},
        {"(1", 3},
        {"1)", 2},
        {"()", 2},
        {"1 2", 3},
        {"a b", 3},
        {"a = 1", 3},
        {"a & b", 3},
        {"a | b", 3},
        {"a == !b", 6},
        {"#", 1},
        {"  \xc3\xa4 > 1", 3},
        {"007", 1},
        {"1 + 1.", 5},
        {"1 + .5", 5},
        {"1e", 1},
        {"0x10", 1},
        {"12ab", 1},
        {"1e999", 1},
        {"\"abc", 1},
        {"\"a\\n\"", 3},
        {"a; ", 2},
        {"{1}", 1},
        {"1 == {1}", 6},
        {"nosuch(1)", 1},
        {"1 + flor(2)", 5},
        {"true(1)", 1},
        {"min()", 1},
        {"1 + abs(1, 2)", 5},
        {"pow(1)", 1},
        {"pow(1, 2, 3)", 1},
        {"min(1,)", 7},
        {"min(1 2)", 7},
        {"min(1", 6},
        {"ifThenElse(1, 2)", 1},
        {"ifThenElse(1, 2, 3, 4)", 1},
        {"isUndefined()", 1},
        {"member(1)", 1},
        {"member(1, 2)", 11},
        {"member(1, {})", 12},
        {"member(1, {1)", 13},
        {"member(1, {1}, 2)", 1},
        {"member()", 1},
        {"regexp(\"a\")", 1},
        {"regexp()", 1},
        {"regexp(arch, \"a\")", 8},
        {"regexp(\"a\", b, c)", 1},
        {"regexp(\"a{2}\", arch)", 8},
        {"regexp(\"(a)\\\\1\", arch)", 8},
        {"regexp(\"(a\", arch)", 8},
        {"regexp(\"[a\", arch)", 8},
        {"1 + regexp(\"*a\", arch)", 12},
        {"regexp(\"[b-a]\", arch)", 8},
        {"regexp(\"[[:nosuch:]]\", arch)", 8},
        {"a && || b", 6},
        {"a &&", 5},
        {"* 2", 1},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            string want = "column " + std::to_string(c.column) + ": ";
            CHECK(value_of(c.text).substr(0, want.size()) == want);
        }
    CHECK(value_of("1 + flor(2)") == "column 5: no function 'flor'; did you mean floor?");
    CHECK(value_of("max(1, 2,,)") == "column 10: ',' where a value should be");
}

TEST_CASE("the gridway dialect reads GridWay job templates", "[expr]")
{
    struct {
        const char *text, *want;
    } cases[] = {
        {"ARCH = \"i?86\" & CPU_MHZ > 1000;", "true"},
        {"ARCH = \"i686\" | CPU_MHZ = 1 & OS_NAME = \"Sun*\"", "false"},
        {"OS_NAME = \"Sun*\" & CPU_MHZ = 1 | ARCH = \"i686\"", "true"},
        {"", "true"},
        {" ; ", "true"},
        {"ARCH = \"i686\" ;", "true"},
        {"ARCH = \"I686\"", "false"},
        {"ARCH = \"[ij]*\"", "true"},
        {"ARCH != \"[!i]*\"", "true"},
        {"ARCH != \"i*\"", "false"},
        {"ARCH = \"*\"", "true"},
        {"ARCH > \"i5*\"", "true"},
        {"CPU_MHZ = \"*\"", "undefined"},
        {"CPU_MHZ = 2400", "true"},
        {"CPU_MHZ != 2400", "false"},
        {"CPU_MHZ < 2400", "false"},
        {"CPU_MHZ > -1", "true"},
        {"GPU > 1", "undefined"},
        {"GPU > 1 | ARCH = \"i*\"", "true"},
        {"!ARCH = \"i*\"", "false"},
        {"! ARCH = \"sun\" & CPU_MHZ > 1", "true"},
        {"!(ARCH = \"i*\" & CPU_MHZ > 9999)", "true"},
        {"CPU_MHZ > 9999 & ! ARCH = \"i*\" | FREE_MEM_MB > 1", "true"},
        {"!!(CPU_MHZ > 1)", "true"},
        {"mips_free > 1", "false"}, // integers only: 1
        {"mips_free = 1", "true"},
        {"true = 1", "undefined"}, // a name like any other
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            CHECK(value_of(c.text, EXPR_GRIDWAY) == c.want);
        }

    struct {
        const char *text, *want;
    } ranks[] = {
        {"CPU_MHZ * 2 + FREE_MEM_MB;", "5312"},
        {"CPU_MHZ / 1000", "2"},
        {"-CPU_MHZ / 1000", "-2"},
        {"7 / 2 * 2", "6"},
        {"2 - 3 - 4", "-5"},
        {"(2 + 3) * -4", "-20"},
        {"1 / 0", "undefined"},
        {"MIPS_FREE + MIPS_FREE", "2"},
        {"ARCH", "\"i686\""},
        {"GPU", "undefined"},
        {"", "undefined"}, // -turnaround_s, which the example lacks
    };
    for (auto &c : ranks)
        DYNAMIC_SECTION("rank " << c.text)
        {
            CHECK(value_of(c.text, EXPR_GRIDWAY, EXPR_RANK) == c.want);
        }

    struct {
        const char *text;
        size_t column;
        expr_purpose purpose;
    } mistakes[] = {
        {"ARCH == \"a\"", 7, EXPR_REQUIREMENT},
        {"A && B", 3, EXPR_REQUIREMENT},
        {"A >= 1", 4, EXPR_REQUIREMENT},
        {"A > 1.5", 5, EXPR_REQUIREMENT},
        {"A > 1e3", 5, EXPR_REQUIREMENT},
        {"A", 2, EXPR_REQUIREMENT},
        {"1 > A", 1, EXPR_REQUIREMENT},
        {"A > B", 5, EXPR_REQUIREMENT},
        {"A > 1 + 1", 7, EXPR_REQUIREMENT},
        {"A > 1;;", 7, EXPR_REQUIREMENT},
        {"A > 1; B > 1", 8, EXPR_REQUIREMENT},
        {"abs(A) > 1", 4, EXPR_REQUIREMENT},
        {"(A > 1", 7, EXPR_REQUIREMENT},
        {"A > -\"a\"", 6, EXPR_REQUIREMENT},
        {";;", 1, EXPR_REQUIREMENT},
        {"1.5", 1, EXPR_RANK},
        {"A % 2", 3, EXPR_RANK},
        {"A > 1", 3, EXPR_RANK},
        {"\"a\"", 1, EXPR_RANK},
        {"abs(1)", 4, EXPR_RANK},
    };
    for (auto &c : mistakes)
        DYNAMIC_SECTION("mistake " << c.text)
        {
            string want = "column " + std::to_string(c.column) + ": ";
            CHECK(value_of(c.text, EXPR_GRIDWAY, c.purpose).substr(0, want.size()) ==
                  want);
        }
}

TEST_CASE("expressions are accepted up to their limits and not beyond", "[expr]")
{
    string padded = "true" + repeated(" ", 4092);
    CHECK(value_of(padded) == "true");
    CHECK(value_of(padded + " ").substr(0, 13) == "column 4097: ");

    CHECK(value_of(repeated("(", 64) + "1" + repeated(")", 64)) == "1");
    CHECK(value_of(repeated("(", 65) + "1" + repeated(")", 65)).substr(0, 11) ==
          "column 65: ");
    CHECK(value_of(repeated("!", 64) + "true") == "true");
    CHECK(value_of(repeated("!", 65) + "true").substr(0, 11) == "column 65: ");
    CHECK(value_of(repeated("-", 64) + "1") == "1");
    CHECK(value_of(repeated("-", 65) + "1").substr(0, 11) == "column 65: ");
    CHECK(value_of(repeated("abs(", 64) + "-1" + repeated(")", 64)).substr(0, 12) ==
          "column 257: ");
    CHECK(value_of(repeated("abs(", 64) + "1" + repeated(")", 64)) == "1");
    CHECK(value_of(repeated("(", 4096)).substr(0, 11) == "column 65: ");
    CHECK(value_of(repeated("(", 64) + "A>1" + repeated(")", 64), EXPR_GRIDWAY) ==
          "undefined");
    CHECK(value_of(repeated("!", 65) + "A>1", EXPR_GRIDWAY).substr(0, 11) ==
          "column 65: ");

    // a chain of 500 values has 499 operators; with the sign that makes 1,000
    CHECK(value_of("-1" + repeated("+1", 499)) == "498");
    CHECK(value_of("- -1" + repeated("+1", 499)).substr(0, 13) == "column 1002: ");
    CHECK(value_of("true" + repeated("&&good", 499)) == "true");
    CHECK(value_of("false" + repeated("||bad", 499)) == "false");
    CHECK(value_of("A>1" + repeated("|A>1", 249), EXPR_GRIDWAY) == "undefined");
    CHECK(value_of("A>1" + repeated("|A>1", 250), EXPR_GRIDWAY).substr(0, 12) ==
          "column 1001:");

    CHECK(value_of("min(" + repeated("1,", 15) + "0)") == "0");
    CHECK(value_of("1+min(" + repeated("1,", 16) + "0)").substr(0, 10) == "column 3: ");

    string pattern = repeated("a", 256);
    CHECK(value_of("regexp(\"" + pattern + "\", arch)") == "false");
    CHECK(value_of("regexp(\"" + pattern + "a\", arch)").substr(0, 10) == "column 8: ");
    CHECK(value_of("regexp(\"b\", \"" + repeated("a", 1024) + "\")") == "false");
    CHECK(value_of("regexp(\"b\", \"" + repeated("a", 1025) + "\")") == "undefined");
    CHECK(value_of("A = \"" + repeated("*", 256) + "\"", EXPR_GRIDWAY) == "undefined");
    CHECK(value_of("A = \"" + repeated("*", 257) + "\"", EXPR_GRIDWAY).substr(0, 10) ==
          "column 5: ");
}

TEST_CASE("the fullest stack of values fits", "[expr]")
{
    // every level holds a left operand of each precedence
    CHECK(value_of(repeated("undefined||undefined&&1<1+1*(", 39) + "1" +
                   repeated(")", 39)) == "undefined");
    string lists = repeated("0||1&&1<1+1*member(1,{0,", 32) + "1" + repeated("})", 32);
    CHECK(value_of(lists) == "undefined");
}

TEST_CASE("the names of an expression are its slots", "[expr]")
{
    test_arena a;
    expr e = parsed("Arch == \"x\" && ARCH != \"y\" && QUEUE_FREENODECOUNT > 1 && "
                    "slots_free < 9 && lrms.kind_2 == 1",
                    a);
    REQUIRE(e.name_count == 3);
    CHECK(string(e.names[0].name) == "arch");
    CHECK(string(e.names[0].written) == "Arch");
    CHECK(e.names[0].kind == EXPR_ATTRIBUTE);
    CHECK(string(e.names[1].name) == "slots_free");
    CHECK(string(e.names[1].written) == "QUEUE_FREENODECOUNT");
    CHECK(e.names[1].kind == EXPR_SLOTS_FREE);
    CHECK(string(e.names[2].name) == "lrms.kind_2");
    CHECK(e.on_plan);
    CHECK(!parsed("execution_s + mips_free + hostname + cpu_free", a).on_plan);
    for (const char *name : {"slots_free", "queue_wait_s", "TRANSFER_S", "turnaround_s"})
        CHECK(parsed(name, a).on_plan);
    CHECK(parsed("", a, EXPR_NATIVE, EXPR_RANK).on_plan);
    CHECK(parsed("", a).name_count == 0);
    CHECK(string(expr_derived_names[EXPR_N_MAX].alias) == "nodecount");
}

TEST_CASE("a requirement passes only if true, a rank needs a number", "[expr]")
{
    test_arena a;
    struct {
        const char *text;
        expr_truth requirement;
        std::optional<double> rank;
    } cases[] = {
        {"true", EXPR_TRUE, 1},
        {"1 > 2", EXPR_FALSE, 0},
        {"5", EXPR_UNDEFINED, 5},
        {"arch", EXPR_UNDEFINED, {}},
        {"gpu > 1", EXPR_UNDEFINED, {}},
        {"gpu > 1 && false", EXPR_FALSE, 0},
        {"", EXPR_TRUE, {}},
        {"true && 5", EXPR_UNDEFINED, {}},
        {"-cpu_mhz", EXPR_UNDEFINED, -2400},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            expr e = parsed(c.text, a);
            expr r = parsed(c.text, a, EXPR_NATIVE, EXPR_RANK);
            CHECK(expr_requirement(&e, slots_of(e, example).data()) == c.requirement);
            double rank = expr_rank(&r, slots_of(r, example).data());
            if (c.rank)
                CHECK(rank == *c.rank);
            else
                CHECK(std::isnan(rank));
        }
}

TEST_CASE("attributes become values", "[expr]")
{
    named_value attributes[] = {
        {"a", VALUE_NUMBER, 2, nullptr},   {"a", VALUE_BOOLEAN, 1, nullptr},
        {"a", VALUE_TEXT, 0, "x"},         {"a", VALUE_UNDEFINED, 0, nullptr},
        {"a", VALUE_NUMBER, HUGE_VAL, ""}, {"a", VALUE_TEXT, 0, nullptr},
    };
    const char *want[] = {"2", "true", "\"x\"", "undefined", "undefined", "undefined"};
    for (size_t i = 0; i < 6; i++)
        CHECK(shown(expr_attribute(&attributes[i])) == want[i]);
}

TEST_CASE("clauses are the operands of the outermost chain", "[expr]")
{
    test_arena a;
    struct {
        const char *text;
        expr_dialect dialect;
        std::vector<string> clauses;
    } cases[] = {
        {"a > 1", EXPR_NATIVE, {"a > 1"}},
        {" a>1 && !(b && c)&&d ", EXPR_NATIVE, {"a>1", "!(b && c)", "d"}},
        {"a && b || c", EXPR_NATIVE, {"a && b || c"}},
        {"a || b && c", EXPR_NATIVE, {"a || b && c"}},
        {"(a && b) && min(c && d, 2)", EXPR_NATIVE, {"(a && b)", "min(c && d, 2)"}},
        {"", EXPR_NATIVE, {}},
        {"a>1 & b<2 ;", EXPR_GRIDWAY, {"a>1", "b<2"}},
        {"a>1 & b<2 | c=3 & d=4 & (e=5 & f=6);",
         EXPR_GRIDWAY,
         {"a>1 & b<2 | c=3", "d=4", "(e=5 & f=6)"}},
        {";", EXPR_GRIDWAY, {}},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            expr e = parsed(c.text, a, c.dialect);
            std::vector<string> found;
            for (size_t i = 0; i < e.clause_count; i++)
                found.push_back(e.clauses[i].text);
            CHECK(found == c.clauses);
        }
}

TEST_CASE("reasons and nearest miss follow spec gridway.md 2.3", "[expr]")
{
    test_arena a;
    expr e = parsed("arch == \"i686\" && free_mem_mb >= 1024 && cpu_mhz >= 2000", a);
    struct {
        const char *arch;
        double free_mem_mb, cpu_mhz;
    } resources[] = {{"i686", 512, 2400},
                     {"alpha", 2048, 466},
                     {"i686", 256, 3000},
                     {"i686", 900, 1900}};
    expr_tally tally[3] = {};
    expr_miss best{}, misses[4];
    size_t nearest = 0;
    for (size_t i = 0; i < 4; i++) {
        auto values = slots_of(e, {{"arch", expr_text(resources[i].arch)},
                                   {"free_mem_mb", expr_number(resources[i].free_mem_mb)},
                                   {"cpu_mhz", expr_number(resources[i].cpu_mhz)}});
        CHECK(expr_requirement(&e, values.data()) == EXPR_FALSE);
        misses[i] = expr_tally_add(&e, values.data(), tally);
        if (i == 0 || expr_miss_nearer(&misses[i], &best)) {
            best = misses[i];
            nearest = i;
        }
    }
    CHECK(tally[0].untrue == 1);
    CHECK(tally[1].untrue == 3);
    CHECK(tally[2].untrue == 2);
    CHECK(tally[0].alone == 0);
    CHECK(tally[1].alone == 2);
    CHECK(tally[2].alone == 0);
    CHECK(nearest == 0);
    CHECK(best.untrue_count == 1);
    CHECK(best.shortfall == 0.5);
    CHECK(misses[2].shortfall == 0.75);
    CHECK(misses[1].untrue_count == 2);
    CHECK(misses[3].untrue_count == 2);
}

TEST_CASE("the shortfall of a clause", "[expr]")
{
    test_arena a;
    struct {
        const char *text;
        double want;
    } cases[] = {
        {"cpu_mhz > 1000", 0},    {"cpu_mhz >= 4800", 0.5},
        {"4800 <= cpu_mhz", 0.5}, {"(cpu_mhz >= 4800)", 0.5},
        {"cpu_mhz < 2400", 0},    {"mips_free > 3", 0.5},
        {"mips_free < 0.5", 1},   {"mips_free < -0.5", 2},
        {"mips_free < -2", 1.75}, {"bad == 1", 1},
        {"bad == 4", 1},          {"good == 4", 0.75},
        {"arch == \"x\"", 1},     {"arch > 5", 1},
        {"gpu > 5", 1},           {"cpu_mhz + 0 >= 4800", 1},
        {"!(cpu_mhz < 4800)", 1}, {"cpu_mhz != 2400", 0},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.text)
        {
            expr e = parsed(c.text, a);
            REQUIRE(e.clause_count == 1);
            CHECK(expr_clause_shortfall(&e, 0, slots_of(e, example).data()) ==
                  Approx(c.want).epsilon(1e-15));
        }
}

TEST_CASE("interned texts are equal without a look", "[expr]")
{
    test_arena a;
    expr e = parsed("arch == \"i686\" && member(arch, {\"x\", \"i686\"})", a);
    static const char *const pool[] = {"i686", "x"};
    int count = 0;
    expr_intern(
        &e,
        [](void *context, const char *text) {
            ++*static_cast<int *>(context);
            return pool[strcmp(text, "x") == 0];
        },
        &count);
    CHECK(count == 3);
    auto values = slots_of(e, {{"arch", expr_text(pool[0])}});
    CHECK(expr_requirement(&e, values.data()) == EXPR_TRUE);
    expr literal = parsed("\"i686\"", a);
    expr_intern(
        &literal, [](void *, const char *) { return pool[0]; }, nullptr);
    CHECK(expr_eval(&literal, nullptr).text == pool[0]);
}

namespace
{

// An expression with its value by the rules of the spec, worked out on a tree
// with std::optional instead of by the program under test.
struct tree {
    string text;
    int level; // of the grammar: 0 or, 1 and, 2 not, 3 cmp, 4 sum, 5 term, 6 unary, 7
               // atom
    expr_value value;
};

struct generator {
    rng random;

    size_t pick(size_t count)
    {
        return rng_index(&random, count);
    }

    static std::optional<double> number(const expr_value &v)
    {
        if (v.type == VALUE_NUMBER || v.type == VALUE_BOOLEAN)
            return v.number;
        return {};
    }

    static std::optional<bool> truth(const expr_value &v)
    {
        if (v.type == VALUE_BOOLEAN)
            return v.number != 0;
        return {};
    }

    static expr_value wrap(std::optional<bool> v)
    {
        return v ? expr_boolean(*v) : expr_value{};
    }

    string spaced(const string &text)
    {
        return string(pick(2), ' ') + text + string(pick(2), ' ');
    }

    // In brackets where the grammar needs them, sometimes where not.
    string at_level(const tree &t, int level)
    {
        return t.level < level || pick(8) == 0 ? "(" + t.text + ")" : t.text;
    }

    tree atom()
    {
        static const std::vector<std::pair<const char *, expr_value>> atoms = {
            {"0", expr_number(0)},           {"1", expr_number(1)},
            {"2.5", expr_number(2.5)},       {"1e300", expr_number(1e300)},
            {"true", expr_boolean(true)},    {"False", expr_boolean(false)},
            {"undefined", expr_value{}},     {"\"\"", expr_text("")},
            {"\"i686\"", expr_text("i686")}, {"\"x\\\"\"", expr_text("x\"")},
            {"arch", expr_text("i686")},     {"cpu_mhz", expr_number(2400)},
            {"Slots_Free", expr_number(1)},  {"good", expr_boolean(true)},
            {"bad", expr_boolean(false)},    {"gpu", expr_value{}},
        };
        auto &a = atoms[pick(atoms.size())];
        return {a.first, 7, a.second};
    }

    static std::optional<bool> compared(int op, const expr_value &a, const expr_value &b)
    {
        int order;
        auto x = number(a), y = number(b);
        if (x && y)
            order = *x < *y ? -1 : *x > *y;
        else if (a.type == VALUE_TEXT && b.type == VALUE_TEXT)
            order = string(a.text).compare(b.text);
        else
            return {};
        switch (op) {
        case 0:
            return order == 0;
        case 1:
            return order != 0;
        case 2:
            return order < 0;
        case 3:
            return order <= 0;
        case 4:
            return order > 0;
        default:
            return order >= 0;
        }
    }

    static std::optional<bool> anded(std::optional<bool> a, std::optional<bool> b)
    {
        if ((a && !*a) || (b && !*b))
            return false;
        return a && b ? std::optional(true) : std::nullopt;
    }

    static std::optional<bool> negated(std::optional<bool> a)
    {
        return a ? std::optional(!*a) : std::nullopt;
    }

    tree logic(int depth, bool is_or)
    {
        tree a = make(depth), b = make(depth);
        auto x = truth(a.value), y = truth(b.value);
        auto v = is_or ? negated(anded(negated(x), negated(y))) : anded(x, y);
        int level = is_or ? 0 : 1;
        return {at_level(a, level) + spaced(is_or ? "||" : "&&") + at_level(b, level + 1),
                level, wrap(v)};
    }

    tree comparison(int depth)
    {
        static const char *names[] = {"==", "!=", "<", "<=", ">", ">="};
        tree a = make(depth), b = make(depth);
        size_t op = pick(6);
        return {at_level(a, 4) + spaced(names[op]) + at_level(b, 4), 3,
                wrap(compared(int(op), a.value, b.value))};
    }

    tree arithmetic(int depth)
    {
        tree a = make(depth), b = make(depth);
        auto x = number(a.value), y = number(b.value);
        size_t op = pick(5);
        int level = op < 2 ? 4 : 5;
        expr_value v{};
        if (x && y && (op < 3 || *y != 0)) {
            double results[] = {*x + *y, *x - *y, *x * *y, op == 3 ? *x / *y : 0,
                                op == 4 ? std::fmod(*x, *y) : 0};
            v = std::isfinite(results[op]) ? expr_number(results[op]) : expr_value{};
        }
        return {at_level(a, level) + spaced(string(1, "+-*/%"[op])) +
                    at_level(b, level + 1),
                level, v};
    }

    tree prefix(int depth)
    {
        tree a = make(depth);
        if (pick(2))
            return {"!" + spaced(at_level(a, 2)), 2, wrap(negated(truth(a.value)))};
        auto x = number(a.value);
        return {"-" + spaced(at_level(a, 6)), 6, x ? expr_number(-*x) : expr_value{}};
    }

    tree call(int depth)
    {
        tree a = make(depth), b = make(depth), c = make(depth);
        auto x = number(a.value), y = number(b.value);
        switch (pick(5)) {
        case 0:
            return {"MAX(" + a.text + "," + b.text + ")", 7,
                    x && y ? expr_number(std::max(*x, *y)) : expr_value{}};
        case 1:
            return {"isUndefined(" + a.text + ")", 7,
                    expr_boolean(a.value.type == VALUE_UNDEFINED)};
        case 2: {
            auto t = truth(a.value);
            return {"ifThenElse(" + a.text + ", " + b.text + ", " + c.text + ")", 7,
                    t ? (*t ? b.value : c.value) : expr_value{}};
        }
        case 3: {
            auto same = [](const tree &l, const tree &r) {
                return negated(compared(0, l.value, r.value));
            };
            return {"member(" + a.text + ", {" + b.text + ", " + c.text + "})", 7,
                    wrap(negated(anded(same(a, b), same(a, c))))};
        }
        default:
            return {"floor(" + a.text + ")", 7,
                    x ? expr_number(std::floor(*x)) : expr_value{}};
        }
    }

    tree make(int depth)
    {
        if (depth <= 0 || pick(6) == 0)
            return atom();
        switch (pick(8)) {
        case 0:
        case 1:
            return logic(depth - 1, false);
        case 2:
            return logic(depth - 1, true);
        case 3:
        case 4:
            return comparison(depth - 1);
        case 5:
            return arithmetic(depth - 1);
        case 6:
            return prefix(depth - 1);
        default:
            return call(depth - 1);
        }
    }
};

} // namespace

TEST_CASE("random expressions have the values worked out on their trees",
          "[expr][property]")
{
    test_arena a;
    generator g{rng_create(4)};
    size_t tested = 0;
    for (int i = 0; i < 60000; i++) {
        arena_reset(a);
        tree t = g.make(1 + i % 6);
        if (t.text.size() > EXPR_BYTES_MAX)
            continue;
        expr e{};
        error err = collecting_error(a);
        if (expr_parse(t.text.c_str(), EXPR_REQUIREMENT, EXPR_NATIVE, "", &e, a, &err) !=
            OK) {
            INFO(t.text << ": " << err.text);
            REQUIRE(strstr(err.text, "more than 1000"));
            continue;
        }
        tested++;
        auto values = slots_of(e, example);
        if (shown(expr_eval(&e, values.data())) != shown(t.value)) {
            INFO(t.text);
            REQUIRE(shown(expr_eval(&e, values.data())) == shown(t.value));
        }
        expr_truth want = t.value.type != VALUE_BOOLEAN ? EXPR_UNDEFINED
                          : t.value.number != 0         ? EXPR_TRUE
                                                        : EXPR_FALSE;
        if (expr_requirement(&e, values.data()) != want ||
            (expr_tally_add(&e, values.data(), nullptr).untrue_count == 0) !=
                (want == EXPR_TRUE))
            FAIL(t.text);
    }
    CHECK(tested > 50000);
}

TEST_CASE("regular expressions agree with regexec(3)", "[expr][property]")
{
    test_arena a;
    rng r = rng_create(5);
    const char *pieces[] = {"a", "b", "c", ".",    "*",     "+",     "?",
                            "|", "(", ")", "[ab]", "[^ab]", "[a-b]", "[[:digit:]]"};
    size_t tested = 0;
    for (int i = 0; i < 40000; i++) {
        string pattern = rng_index(&r, 4) == 0 ? "^" : "";
        for (size_t k = rng_index(&r, 10) + 1; k; k--)
            pattern += pieces[rng_index(&r, 14)];
        if (rng_index(&r, 4) == 0)
            pattern += "$";
        regex_t regex;
        expr e{};
        error err{};
        arena_reset(a);
        string text = "regexp(\"" + pattern + "\", s)";
        if (expr_parse(text.c_str(), EXPR_REQUIREMENT, EXPR_NATIVE, "", &e, a, &err) !=
            OK)
            continue;
        if (regcomp(&regex, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
            continue;
        for (int k = 0; k < 10; k++) {
            string subject;
            for (size_t n = rng_index(&r, 8); n; n--)
                subject += "abc1"[rng_index(&r, 4)];
            expr_value s = expr_text(subject.c_str());
            bool want = regexec(&regex, subject.c_str(), 0, nullptr, 0) == 0;
            if ((expr_requirement(&e, &s) == EXPR_TRUE) != want)
                FAIL_CHECK(pattern << " on " << subject << " should give " << want);
            tested++;
        }
        regfree(&regex);
    }
    CHECK(tested > 50000);
}

TEST_CASE("regular expressions: lists, classes, anchors", "[expr]")
{
    struct {
        const char *pattern, *subject;
        bool want;
    } cases[] = {
        {"", "", true},
        {"^$", "", true},
        {"$^", "", true},
        {"^$", "a", false},
        {"^a|b$", "cb", true},
        {"^a|b$", "ba", false},
        {"(^|x)a", "xa", true},
        {"(^|x)a", "ya", false},
        {"a(^|x)a", "aa", false},
        {"a($|x)", "ba", true},
        {"^^a$$", "a", true},
        {"a|", "b", true},
        {"()", "", true},
        {"[]a]", "]", true},
        {"[^]a]", "]", false},
        {"[a-]", "-", true},
        {"[-a]", "-", true},
        {"[a\\]b", "\\b", true},
        {"[[.-.]]x", "-x", true},
        {"[[=a=]-c]", "b", true},
        {"[[:alpha:][:digit:]_]+$", "-a_9", true},
        {"^[[:upper:]]", "a", false},
        {"[[:space:]]", "a b", true},
        {"a\\.b", "axb", false},
        {"a\\.b", "a.b", true},
        {"\\*\\(\\)\\[\\\\", "*()[\\", true},
        {".", "\n", true},
        {"^.$", "\xc3\xa4", false},
        {"^..$", "\xc3\xa4", true},
        {"(a+)+$", "aaaaaaaaab", false},
        {"a**b", "aab", true},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.pattern << " on " << c.subject)
        {
            test_arena a;
            string quoted;
            for (const char *p = c.pattern; *p; p++)
                quoted += *p == '\\' ? "\\\\" : string(1, *p);
            expr e = parsed("regexp(\"" + quoted + "\", s)", a);
            expr_value s = expr_text(c.subject);
            CHECK((expr_requirement(&e, &s) == EXPR_TRUE) == c.want);
        }
    for (const char *bad : {"(",
                            ")",
                            "a)",
                            "[",
                            "[]",
                            "[a",
                            "[[:alpha]",
                            "[[:x:]]",
                            "[[.ab.]]",
                            "[b-a]",
                            "[a-[:alpha:]]",
                            "a|*b",
                            "+",
                            "\\\\w",
                            "\\\\1",
                            "\\\\",
                            "a{1}",
                            "(?:a)",
                            "[[:",
                            "[a-"})
        DYNAMIC_SECTION("refused: " << bad)
        {
            CHECK(value_of("regexp(\"" + string(bad) + "\", arch)").substr(0, 10) ==
                  "column 8: ");
        }
}

TEST_CASE("patterns that blow up elsewhere stay cheap", "[expr]")
{
    string nested = repeated("(", 80) + "a" + repeated("+)", 80) + "b";
    string many = "(a|b)*a" + repeated("(a|b)", 45) + "c";
    string stars = repeated("a*", 127) + "b";
    string subject = repeated("ab", 512), same = repeated("a", 1024);
    for (const string &pattern : {nested, many, stars}) {
        test_arena a(size_t{1} << 20);
        expr e = parsed("regexp(\"" + pattern + "\", s)", a);
        expr_value s = expr_text(subject.c_str());
        size_t used_bytes = arena_used_bytes(a);
        CHECK(expr_requirement(&e, &s) == (pattern == many ? EXPR_FALSE : EXPR_TRUE));
        s = expr_text(same.c_str());
        CHECK(expr_requirement(&e, &s) == EXPR_FALSE);
        CHECK(arena_used_bytes(a) == used_bytes);
    }
}

TEST_CASE("an expression is read or refused at every cap of the arena", "[expr][memory]")
{
    const char *text = "arch == \"i686\" && member(os_name, {\"a\", \"b\"}) && "
                       "regexp(\"^L(i|o)nux\", os_name) && ifThenElse(cpu_mhz > 1, x, y)";
    bool done = false;
    for (size_t cap = 0; !done && cap < 100000; cap += 64) {
        test_arena a(cap);
        expr e{};
        error err{};
        enum error_code code = computed(a, &err, [&] {
            return expr_parse(text, EXPR_REQUIREMENT, EXPR_NATIVE, "", &e, a, &err);
        });
        done = code == OK;
        if (!done) {
            CHECK(code == ERR_TOO_LARGE);
            CHECK(err.code == ERR_TOO_LARGE);
            CHECK(e.ops == nullptr);
        }
    }
    CHECK(done);
}
