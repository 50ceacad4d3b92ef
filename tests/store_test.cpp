// store_test.cpp - what is stored comes back as it was.
#include "database.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

extern "C" {
#include "service/hash.h"
#include "service/store_quota.h"
}

namespace
{

// Everything that a text may not do.
const char *const nasty = "'; DROP TABLE snapshot; --\" \\ $1 %s \x01\t\n\r {,} NULL \\N "
                          "\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x8c\x8d";

const double T0 = 1700000000.123456;

load_sample sample(const char *id, double at_s, double cpu)
{
    return {id, nullptr, at_s, cpu, NAN, NAN, NAN};
}

store_filter all()
{
    store_filter f{};
    f.from_at_s = f.to_at_s = NAN;
    return f;
}

bool same(double a, double b)
{
    return (std::isnan(a) && std::isnan(b)) || a == b;
}

bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

execution a_run(const char *id, double at_s)
{
    execution e{};
    e.execution_id = id;
    e.application_id = "app";
    e.started_at_s = at_s;
    e.run_time_s = 12.5;
    e.processors = 8;
    e.phase_index = e.problem_size = e.cpu_available_ratio = e.bandwidth_mbps = NAN;
    e.memory_peak_bytes = e.exit_code = e.predicted_s = e.model_version = NAN;
    e.queue_wait_s = NAN;
    return e;
}

} // namespace

TEST_CASE("base64url reads back what it wrote", "[store]")
{
    test_arena a;
    for (size_t length = 0; length < 70; length++) {
        std::vector<unsigned char> data(length);
        for (size_t i = 0; i < length; i++)
            data[i] = (unsigned char)(i * 151 + length * 37);
        size_t got = 99;
        const char *text = base64url_encode(data.data(), length, a);
        const unsigned char *back = base64url_decode(text, &got, a);
        REQUIRE(back);
        CHECK(std::vector<unsigned char>(back, back + got) == data);
    }
    CHECK(std::string(base64url_encode("\xfb\xff\xfe", 3, a)) == "-__-");
    size_t length;
    CHECK_FALSE(base64url_decode("a", &length, a));
    CHECK_FALSE(base64url_decode("ab+/", &length, a));
    CHECK_FALSE(base64url_decode("ab==", &length, a));
}

TEST_CASE("sha256 of FIPS 180-2 appendix B.1", "[store]")
{
    char hex[SHA256_HEX_SIZE];
    hash_sha256_hex("abc", 3, hex);
    CHECK(std::string(hex) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hash_equal("abc", "abc", 3));
    CHECK_FALSE(hash_equal("abc", "abd", 3));
}

TEST_CASE("load samples come back bit for bit", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    const load_sample given[] = {
        {"a", nullptr, T0, 0.1, 1e9 / 3, NAN, NAN},
        {"a", "b", T0 + 1e-6, NAN, NAN, 99.7, 5e-324},
        {nasty, nasty, T0 + 2, 1, 0, 1.7976931348623157e308, 1e-9},
        {"a", nullptr, -62135596800.0, 0.5, NAN, NAN, NAN}, // the year 1
        {"a", nullptr, 253402300799.0, 0.5, NAN, NAN, NAN}, // the end of 9999
        {"a", nullptr, 820454400.0, 0.25, NAN, NAN, NAN},   // 1996
    };
    REQUIRE_OK(record_add(f.s, f.tenant, &load_sample_record, given, 6, f.a, &err));

    const load_sample *list;
    size_t count;
    const char *next;
    store_filter filter = all();
    store_page page{nullptr, 100};
    REQUIRE_OK(
        samples_read(f.s, f.tenant, &filter, &page, &list, &count, &next, f.a, &err));
    REQUIRE(count == 6);
    CHECK_FALSE(next);
    const size_t order[] = {3, 5, 0, 1, 2, 4};
    for (size_t i = 0; i < 6; i++) {
        const load_sample &want = given[order[i]];
        CHECK(same(list[i].resource_id, want.resource_id));
        CHECK(same(list[i].to_resource_id, want.to_resource_id));
        CHECK(list[i].observed_at_s == want.observed_at_s);
        CHECK(same(list[i].cpu_available_ratio, want.cpu_available_ratio));
        CHECK(same(list[i].memory_available_bytes, want.memory_available_bytes));
        CHECK(same(list[i].bandwidth_mbps, want.bandwidth_mbps));
        CHECK(same(list[i].latency_s, want.latency_s));
    }
    filter.resource_id = "a";
    filter.to_resource_id = "b";
    REQUIRE_OK(
        samples_read(f.s, f.tenant, &filter, &page, &list, &count, &next, f.a, &err));
    CHECK(count == 1);
    // The range: from is in, to is out.
    filter.to_resource_id = nullptr;
    filter.from_at_s = T0;
    filter.to_at_s = T0 + 1e-6;
    REQUIRE_OK(
        samples_read(f.s, f.tenant, &filter, &page, &list, &count, &next, f.a, &err));
    CHECK(count == 1);
    // Nobody else's.
    REQUIRE_OK(
        samples_read(f.s, "other", &filter, &page, &list, &count, &next, f.a, &err));
    CHECK(count == 0);
}

TEST_CASE("an instant that makes no sense is refused, and nothing is stored",
          "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    const load_sample given[] = {sample("a", T0, 1), sample("a", 1e300, 1),
                                 sample("a", HUGE_VAL, 1), sample("a", -1e12, 1)};
    REQUIRE(record_add(f.s, f.tenant, &load_sample_record, given, 4, f.a, &f.err) ==
            ERR_INVALID);
    CHECK(f.err.item_count == 3);
    CHECK(std::string(f.err.first->pointer) == "/1/observed_at");
    CHECK(query_number(
              f.s, f.a,
              ("SELECT count(*) FROM load_sample WHERE tenant = '" + f.tenant_text + "'")
                  .c_str()) == 0);
    // NULL where there must be none, or no UTF-8: the statement fails as a whole.
    error err{};
    const load_sample missing[] = {sample("a", T0, 1), sample(nullptr, T0, 1)};
    CHECK(record_add(f.s, f.tenant, &load_sample_record, missing, 2, f.a, &err) ==
          ERR_INVALID);
    const load_sample latin[] = {sample("a", T0, 1), sample("\xe9", T0, 1)};
    CHECK(record_add(f.s, f.tenant, &load_sample_record, latin, 2, f.a, &err) ==
          ERR_INVALID);
    CHECK(record_add(f.s, f.tenant, &load_sample_record, given, 0, f.a, &err) == OK);
    CHECK(query_number(
              f.s, f.a,
              ("SELECT count(*) FROM load_sample WHERE tenant = '" + f.tenant_text + "'")
                  .c_str()) == 0);
}

TEST_CASE("pages give every row once, in both directions", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    std::vector<load_sample> given;
    std::vector<std::string> links;
    for (int i = 0; i < 100; i++)
        links.push_back({char('a' + i / 10), char('a' + i % 10)});
    for (int i = 0; i < 100; i++) { // tens at an instant, in the order of their keys
        given.push_back(sample(i % 10 < 5 ? "a" : "b", T0 + i / 10, i / 128.0));
        given.back().to_resource_id = links[size_t(i)].c_str();
    }
    REQUIRE_OK(record_add(f.s, f.tenant, &load_sample_record, given.data(), given.size(),
                          f.a, &err));
    for (bool newest_first : {false, true})
        for (const char *id : {(const char *)nullptr, "a"})
            for (size_t limit : {1, 7, 50, 100}) {
                CAPTURE(newest_first, limit);
                std::vector<double> seen;
                store_filter filter = all();
                filter.newest_first = newest_first;
                filter.resource_id = id;
                store_page page{nullptr, limit};
                do {
                    const load_sample *list;
                    size_t count;
                    REQUIRE_OK(samples_read(f.s, f.tenant, &filter, &page, &list, &count,
                                            &page.token, f.a, &err));
                    REQUIRE(count <= limit);
                    REQUIRE((count == limit || !page.token));
                    for (size_t i = 0; i < count; i++)
                        seen.push_back(list[i].cpu_available_ratio * 128);
                } while (page.token);
                std::vector<double> want;
                for (int i = 0; i < 100; i++)
                    if (!id || i % 10 < 5)
                        want.push_back(i);
                if (newest_first)
                    std::reverse(want.begin(), want.end());
                CHECK(seen == want);
            }
}

TEST_CASE("a page token that no page gave is refused", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    store_filter filter = all();
    const load_sample *list;
    size_t count;
    const char *next;
    for (const char *token :
         {"", "x", "!!!!", "MSA", "MSAxIA", "AAAA", "MSBhIGI", "MSAxIDIAMw"}) {
        error err = collecting_error(f.a);
        store_page page{token, 10};
        CAPTURE(token);
        CHECK(samples_read(f.s, f.tenant, &filter, &page, &list, &count, &next, f.a,
                           &err) == ERR_INVALID);
        CHECK(std::string(err.field) == "?/page_token");
    }
}

TEST_CASE("intervals hold mean, extremes and percentiles", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    std::vector<load_sample> given;
    for (int i = 0; i <= 100; i++) // 0, 0.01 ... 1 in the first minute
        given.push_back(sample("a", 1700000000 + i * 0.5, i / 100.0));
    given.push_back(sample("a", 1700000000 + 130, 0.5));
    given.push_back({"a", nullptr, 1700000000 + 140.0, NAN, 5, NAN, NAN});
    given.push_back({"a", "b", 1700000000 + 150.0, NAN, NAN, 7, 0.25});
    given.push_back(sample("b", 1700000000 + 1, 0.9));
    REQUIRE_OK(record_add(f.s, f.tenant, &load_sample_record, given.data(), given.size(),
                          f.a, &err));

    const load_interval *list;
    size_t count;
    store_filter filter = all();
    filter.resource_id = "a";
    filter.from_at_s = 1700000000;
    filter.to_at_s = 1700000000 + 600;
    REQUIRE_OK(store_load_intervals(f.s, f.tenant, &filter, LOAD_CPU_AVAILABLE_RATIO, 60,
                                    &list, &count, f.a, &err));
    REQUIRE(count == 2);
    CHECK(list[0].start_at_s == 1700000000);
    CHECK(list[0].sample_count == 101);
    CHECK(list[0].mean == Approx(0.5).epsilon(1e-12));
    CHECK(list[0].min == 0);
    CHECK(list[0].max == 1);
    CHECK(list[0].p05 == Approx(0.05).epsilon(1e-12));
    CHECK(list[0].p25 == Approx(0.25).epsilon(1e-12));
    CHECK(list[0].p50 == Approx(0.5).epsilon(1e-12));
    CHECK(list[0].p75 == Approx(0.75).epsilon(1e-12));
    CHECK(list[0].p95 == Approx(0.95).epsilon(1e-12));
    CHECK(list[1].start_at_s == 1700000120);
    CHECK(list[1].sample_count == 1);
    const struct {
        load_measure measure;
        double mean;
    } others[] = {{LOAD_MEMORY_AVAILABLE_BYTES, 5},
                  {LOAD_BANDWIDTH_MBPS, 7},
                  {LOAD_LATENCY_S, 0.25}};
    for (auto &o : others) {
        REQUIRE_OK(store_load_intervals(f.s, f.tenant, &filter, o.measure, 600, &list,
                                        &count, f.a, &err));
        REQUIRE(count == 1);
        CHECK(list[0].mean == o.mean);
    }
    CHECK(store_load_intervals(f.s, f.tenant, &filter, LOAD_LATENCY_S, 0.05, &list,
                               &count, f.a, &err) == ERR_INVALID);
}

TEST_CASE("failures: overlap, closing, order", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    auto row = [](const char *id, double down_s, double up_s, const char *cause,
                  const char *component) {
        return failure{id,  down_s, up_s,    cause, component, FAILURE_FAILURE,
                       "s", down_s, nullptr, NAN};
    };
    const failure given[] = {
        row("a", 100, 200, "hardware", "disk"), row("a", 300, NAN, nullptr, nullptr),
        row("b", 150, 160, nasty, nasty),       row("a", 400, 400, "blink", nullptr),
        row("a", 50, 60, "before", nullptr),    row(nasty, 500, NAN, nullptr, nullptr),
    };
    REQUIRE_OK(record_add(f.s, f.tenant, &failure_record, given, 6, f.a, &err));

    const failure *list;
    size_t count;
    bool cut;
    REQUIRE_OK(store_failures_overlapping(f.s, f.tenant, nullptr, 155, 400, &list, &count,
                                          &cut, f.a, &err));
    REQUIRE(count == 3);
    CHECK_FALSE(cut);
    CHECK(list[0].down_at_s == 100);
    CHECK(same(list[0].component, "disk"));
    CHECK(same(list[1].cause, nasty));
    CHECK(std::isnan(list[2].up_at_s));
    REQUIRE_OK(store_failures_overlapping(f.s, f.tenant, "a", 400, 401, &list, &count,
                                          &cut, f.a, &err));
    CHECK(count == 2); // the open one and the one without length

    size_t closed;
    REQUIRE_OK(store_failure_close(f.s, f.tenant, "a", 299, &closed, &err));
    CHECK(closed == 0);
    REQUIRE_OK(store_failure_close(f.s, f.tenant, "a", 350, &closed, &err));
    CHECK(closed == 1);
    REQUIRE_OK(store_failure_close(f.s, f.tenant, nasty, 600, &closed, &err));
    CHECK(closed == 1);

    const char *next;
    record_filter filter = all_records();
    store_page page{nullptr, 4};
    filter_by(filter, &failure_record, "resource_id", &given[0]);
    filter.newest_first = true;
    REQUIRE_OK(record_read(f.s, f.tenant, &failure_record, &filter, &page,
                           (const void **)&list, &count, &next, f.a, &err));
    REQUIRE(count == 4);
    CHECK_FALSE(next);
    CHECK(list[0].down_at_s == 400);
    CHECK(list[1].up_at_s == 350);
    CHECK(list[3].down_at_s == 50);
}

TEST_CASE("executions: equal names are stored once", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    execution whole = a_run("run 1", T0);
    execution full = a_run(nasty, T0 + 1);
    full.application_id = full.site_id = full.resource_id = nasty;
    full.parameters = "{\"b\":[1,2.5e-3,\"'\\\"\\\\\"],\"a\":null}";
    full.phase_index = 3;
    full.problem_size = 1e9 / 3;
    full.cpu_available_ratio = 0.1;
    full.bandwidth_mbps = 99.7;
    full.memory_peak_bytes = 1e15;
    full.exit_code = -2147483648.0;
    full.queue_wait_s = 0.25;
    full.predicted_s = 11;
    full.model_version = 52;
    full.dedicated = true;
    full.outlier = true;
    execution later = a_run("run 1", T0 + 5); // another instant: still the same run
    later.run_time_s = 99;
    execution phase = a_run("run 1", T0);
    phase.phase_index = 0;
    execution given[] = {whole, later, full, phase};
    size_t stored;
    REQUIRE_OK(record_add(f.s, f.tenant, &execution_record, given, 4, f.a, &err, &stored,
                          RECORD_KEEP));
    CHECK(stored == 3);
    REQUIRE_OK(record_add(f.s, f.tenant, &execution_record, given, 4, f.a, &err, &stored,
                          RECORD_KEEP));
    CHECK(stored == 0);
    REQUIRE_OK(record_add(f.s, "of another tenant", &execution_record, given, 1, f.a,
                          &err, &stored));
    REQUIRE_OK(
        record_add(f.s, f.tenant, &execution_record, given, 0, f.a, &err, &stored));

    const execution *list;
    size_t count;
    const char *next;
    record_filter filter = all_records();
    execution like = whole;
    like.site_id = "elsewhere";
    store_page page{nullptr, 100};
    REQUIRE_OK(record_read(f.s, f.tenant, &execution_record, &filter, &page,
                           (const void **)&list, &count, &next, f.a, &err));
    REQUIRE(count == 3);
    const execution &got = list[2];
    CHECK(same(got.execution_id, nasty));
    CHECK(same(got.application_id, nasty));
    CHECK(same(got.site_id, nasty));
    CHECK(same(got.resource_id, nasty));
    CHECK(std::string(got.parameters) == R"({"a": null, "b": [1, 0.0025, "'\"\\"]})");
    CHECK(got.started_at_s == full.started_at_s);
    CHECK(got.run_time_s == 12.5);
    CHECK(got.phase_index == 3);
    CHECK(got.problem_size == full.problem_size);
    CHECK(got.processors == 8);
    CHECK(got.cpu_available_ratio == 0.1);
    CHECK(got.bandwidth_mbps == 99.7);
    CHECK(got.memory_peak_bytes == 1e15);
    CHECK(got.exit_code == -2147483648.0);
    CHECK(got.queue_wait_s == 0.25);
    CHECK(got.predicted_s == 11);
    CHECK(got.model_version == 52);
    CHECK(got.dedicated);
    CHECK(got.outlier);
    CHECK(std::isnan(list[0].phase_index));
    CHECK(list[0].run_time_s == 12.5);
    CHECK_FALSE(list[0].parameters);
    CHECK(std::isnan(list[0].exit_code));
    CHECK(std::isnan(list[0].queue_wait_s));
    filter_by(filter, &execution_record, "application_id", &like);
    REQUIRE_OK(record_read(f.s, f.tenant, &execution_record, &filter, &page,
                           (const void **)&list, &count, &next, f.a, &err));
    CHECK(count == 2);
    filter_by(filter, &execution_record, "site_id", &like);
    REQUIRE_OK(record_read(f.s, f.tenant, &execution_record, &filter, &page,
                           (const void **)&list, &count, &next, f.a, &err));
    CHECK(count == 0);
    given[0].parameters = "{no json";
    given[0].execution_id = "run 2";
    CHECK(record_add(f.s, f.tenant, &execution_record, given, 1, f.a, &err, &stored) ==
          ERR_INVALID);
}

TEST_CASE("snapshots change only from the generation that was read", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    store_snapshot snapshot{}, read{};
    const char *document = "{\"x\" : 1e5,\n \"x\":0.1 }"; // jsonb would tidy it
    REQUIRE_OK(
        store_snapshot_create(f.s, f.tenant, nasty, document, &snapshot, f.a, &err));
    CHECK(snapshot.generation == 1);
    CHECK(snapshot.document_bytes == strlen(document));
    CHECK(store_snapshot_create(f.s, f.tenant, nasty, "{}", &read, f.a, &err) ==
          ERR_CONFLICT);
    REQUIRE_OK(store_snapshot_read(f.s, f.tenant, nasty, &read, f.a, &err));
    CHECK(same(read.document, document));
    CHECK(same(read.snapshot_id, nasty));
    CHECK(read.created_at_s == snapshot.created_at_s);
    CHECK(std::fabs(read.created_at_s - (double)time(nullptr)) < 60);

    REQUIRE_OK(store_snapshot_update(f.s, f.tenant, nasty, 1, "{}", &read, f.a, &err));
    CHECK(read.generation == 2);
    CHECK(store_snapshot_update(f.s, f.tenant, nasty, 1, "{}", &read, f.a, &err) ==
          ERR_STALE);
    REQUIRE_OK(store_snapshot_update(f.s, f.tenant, nasty, 0, "[]", &read, f.a, &err));
    CHECK(read.generation == 3);
    CHECK(store_snapshot_update(f.s, f.tenant, "none", 1, "{}", &read, f.a, &err) ==
          ERR_NOT_FOUND);
    CHECK(store_snapshot_read(f.s, "another tenant", nasty, &read, f.a, &err) ==
          ERR_NOT_FOUND);
    CHECK(store_snapshot_delete(f.s, f.tenant, nasty, 1, f.a, &err) == ERR_STALE);
    REQUIRE_OK(store_snapshot_delete(f.s, f.tenant, nasty, 3, f.a, &err));
    CHECK(store_snapshot_delete(f.s, f.tenant, nasty, 0, f.a, &err) == ERR_NOT_FOUND);

    std::vector<std::string> names = {"B", "a", "a b", "\xc3\xa9", "z"}; // bytewise
    for (auto &name : names)
        REQUIRE_OK(
            store_snapshot_create(f.s, f.tenant, name.c_str(), "{}", &read, f.a, &err));
    std::sort(names.begin(), names.end());
    std::vector<std::string> seen;
    store_page page{nullptr, 2};
    do {
        const store_snapshot *list;
        size_t count;
        REQUIRE_OK(store_snapshots_list(f.s, f.tenant, &page, &list, &count, &page.token,
                                        f.a, &err));
        for (size_t i = 0; i < count; i++) {
            seen.push_back(list[i].snapshot_id);
            CHECK_FALSE(list[i].document);
        }
    } while (page.token);
    CHECK(seen == names);
}

TEST_CASE("of many who change one generation, one wins", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    store_snapshot snapshot{};
    REQUIRE_OK(store_snapshot_create(f.s, f.tenant, "s", "{}", &snapshot, f.a, &err));
    int won = 0, stale = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&] {
            test_session s(f.d);
            store_snapshot out{};
            error own{};
            error_code code =
                store_snapshot_update(s, f.tenant, "s", 1, "{}", &out, s.a, &own);
            __atomic_fetch_add(code == OK ? &won : &stale,
                               code == OK || code == ERR_STALE, __ATOMIC_SEQ_CST);
        });
    for (auto &t : threads)
        t.join();
    CHECK(won == 1);
    CHECK(stale == 7);
}

TEST_CASE("decisions come back byte for byte, newest first", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    unsigned char hash[SHA256_BYTES];
    hash_sha256("x", 1, hash);
    for (int i = 0; i < 5; i++) {
        store_decision d{};
        std::string id = "01234567-89ab-cdef-0123-45678901234" + std::to_string(i);
        d.decision_id = id.c_str();
        d.endpoint = i % 2 ? "/v1/placements" : nasty;
        d.algorithm = i == 0 ? nullptr : nasty;
        d.status = "feasible";
        d.seed = 9007199254740991;
        d.request_sha256 = {hash, sizeof(hash)};
        d.request = nasty;
        d.snapshot_document = i == 0 ? nullptr : nasty;
        d.history_document = d.snapshot_document;
        d.answer = "{ }";
        REQUIRE_OK(store_decision_create(f.s, f.tenant, &d, &err));
        if (i == 4)
            CHECK(store_decision_create(f.s, f.tenant, &d, &err) == ERR_CONFLICT);
    }
    store_decision got{};
    REQUIRE_OK(store_decision_read(f.s, f.tenant, "01234567-89AB-cdef-0123-456789012341",
                                   &got, f.a, &err));
    CHECK(same(got.decision_id, "01234567-89ab-cdef-0123-456789012341"));
    CHECK(same(got.request, nasty));
    CHECK(same(got.snapshot_document, nasty));
    CHECK(same(got.history_document, nasty));
    CHECK(same(got.algorithm, nasty));
    CHECK(same(got.answer, "{ }"));
    CHECK(got.seed == 9007199254740991);
    REQUIRE(got.request_sha256.length == SHA256_BYTES);
    CHECK(!memcmp(got.request_sha256.data, hash, SHA256_BYTES));
    for (const char *id : {"01234567-89ab-cdef-0123-456789012349", "", "x", nasty})
        CHECK(store_decision_read(f.s, f.tenant, id, &got, f.a, &err) == ERR_NOT_FOUND);

    std::string seen;
    store_page page{nullptr, 2};
    // Long documents come in pieces: on their edges, and with letters across them.
    for (size_t length : {131072UL, 131073UL, 196608UL, 300001UL}) {
        std::string text = "é\"";
        while (text.size() + 2 <= length)
            text += "é";
        text.resize(length, 'x');
        INFO(length);
        store_decision d = got;
        std::string id = "31234567-89ab-cdef-0123-456789" + std::to_string(length);
        d.decision_id = id.c_str();
        d.snapshot_document = d.request = text.c_str();
        d.history_document = nullptr;
        std::string answer = "{\"a\":\"" + std::string(length - 8, 'y') + "\"}";
        d.answer = answer.c_str();
        REQUIRE_OK(store_decision_create(f.s, f.tenant, &d, &err));
        store_decision back{};
        REQUIRE_OK(store_decision_read(f.s, f.tenant, d.decision_id, &back, f.a, &err));
        CHECK(same(back.request, text.c_str()));
        CHECK(same(back.snapshot_document, text.c_str()));
        CHECK_FALSE(back.history_document);
        CHECK(same(back.answer, answer.c_str()));
        store_decision_parts parts{false, false, false, true};
        REQUIRE_OK(store_decision_read_parts(f.s, f.tenant, d.decision_id, &parts, &back,
                                             f.a, &err));
        CHECK_FALSE(back.request);
        CHECK_FALSE(back.snapshot_document);
        CHECK(same(back.answer, answer.c_str()));
        REQUIRE_OK(store_decision_remove(f.s, f.tenant, d.decision_id, &err));
    }

    store_decision_filter any{};
    any.from_at_s = any.to_at_s = NAN;
    do {
        const store_decision *list;
        size_t count;
        REQUIRE_OK(store_decisions_list(f.s, f.tenant, &any, &page, &list, &count,
                                        &page.token, f.a, &err));
        for (size_t i = 0; i < count; i++)
            seen += list[i].decision_id[35];
    } while (page.token);
    CHECK(seen == "43210");
    const store_decision *list;
    size_t count;
    page.limit = 100;
    auto found = [&](const store_decision_filter &filter) {
        REQUIRE_OK(store_decisions_list(f.s, f.tenant, &filter, &page, &list, &count,
                                        &page.token, f.a, &err));
        return count;
    };
    store_decision_filter one = any;
    one.endpoint = "/v1/placements";
    CHECK(found(one) == 2);
    one = any;
    one.to_at_s = T0;
    CHECK(found(one) == 0);

    store_decision d = got;
    d.decision_id = "fedcba98-89ab-cdef-0123-456789012345";
    d.algorithm = "min\"min";
    d.status = "cut";
    d.answer =
        R"({"objective":{"makespan_s":7.5,"gap_ratio":null},"timings":{"decide_s":0.25},
"placements":[{"job_id":"a\"b","start_s":0},{"job_id":"c","start_s":1}],
"unplaced":[{"job_id":"d"}],"schedule":{"x":[1,2]},"warnings":["1","2"]})";
    REQUIRE_OK(store_decision_create(f.s, f.tenant, &d, &err));
    REQUIRE_OK(store_decision_read(f.s, f.tenant, d.decision_id, &got, f.a, &err));
    CHECK(got.job_count == 3);
    CHECK(got.unplaced_count == 1);
    CHECK(got.makespan_s == 7.5);
    CHECK(std::isnan(got.gap_ratio));
    CHECK(got.decide_s == 0.25);
    d.decision_id = "fdcba987-89ab-cdef-0123-456789012346"; // its rows were not asked for
    d.algorithm = "max";
    d.status = "feasible";
    d.answer =
        R"({"placements":[],"unplaced":[],"placement_count":7,"unplaced_count":2})";
    REQUIRE_OK(store_decision_create(f.s, f.tenant, &d, &err));
    REQUIRE_OK(store_decision_read(f.s, f.tenant, d.decision_id, &got, f.a, &err));
    CHECK(got.job_count == 9);
    CHECK(got.unplaced_count == 2);
    CHECK(std::isnan(got.decide_s));
    const struct {
        const char *algorithm, *status, *job_id, *q;
        size_t count;
    } cases[] = {
        {"min\"min", nullptr, nullptr, nullptr, 1},
        {"min", nullptr, nullptr, nullptr, 0},
        {nullptr, "cut", nullptr, nullptr, 1},
        {nullptr, nullptr, "a\"b", nullptr, 1},
        {nullptr, nullptr, "a", nullptr, 0},
        {nullptr, nullptr, "d", nullptr, 1},
        {nullptr, nullptr, nullptr, "FEDCBA98", 1},
        {nullptr, nullptr, nullptr, "edcba", 0},
        {nullptr, nullptr, nullptr, "%", 0},
        {nullptr, nullptr, nullptr, "0", 5},
        {"min\"min", "cut", "c", "fe", 1},
        {"min\"min", "optimal", "c", "fe", 0},
    };
    for (auto &c : cases) {
        store_decision_filter filter = any;
        filter.algorithm = c.algorithm;
        filter.status = c.status;
        filter.job_id = c.job_id;
        filter.q = c.q;
        INFO((c.algorithm ? c.algorithm : "")
             << "," << (c.status ? c.status : "") << "," << (c.job_id ? c.job_id : "")
             << "," << (c.q ? c.q : ""));
        CHECK(found(filter) == c.count);
    }
    REQUIRE_OK(store_decision_read(f.s, f.tenant, "01234567-89ab-cdef-0123-456789012341",
                                   &got, f.a, &err));
    CHECK(got.job_count == JSON_NO_INTEGER); // nothing of these in "{ }"
    CHECK(got.unplaced_count == JSON_NO_INTEGER);
    CHECK(std::isnan(got.makespan_s));
    d.decision_id = "ecba9876-89ab-cdef-0123-456789012347";
    d.answer = R"({"plan":[{}, {}],"unplaced":[]})"; // of phases: its jobs are no rows
    REQUIRE_OK(store_decision_create(f.s, f.tenant, &d, &err));
    REQUIRE_OK(store_decision_read(f.s, f.tenant, d.decision_id, &got, f.a, &err));
    CHECK(got.job_count == JSON_NO_INTEGER);
    CHECK(got.unplaced_count == 0);
}

TEST_CASE("keys: found without the tenant, revoked once", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    unsigned char digest[SHA256_BYTES] = {0, 1, 2};
    std::string id = "id " + f.tenant_text;
    store_key key{};
    key.tenant = f.tenant;
    key.key_id = id.c_str();
    key.digest_sha256 = {digest, sizeof(digest)};
    key.scopes = 5;
    key.label = nasty;
    key.expires_at_s = T0;
    key.quota = quota_none();
    key.quota.burst_count = 7;
    key.quota.memory_bytes = 1048576;
    REQUIRE_OK(store_key_create(f.s, &key, &err));
    CHECK(store_key_create(f.s, &key, &err) == ERR_CONFLICT);
    key.tenant = "another tenant";
    CHECK(store_key_create(f.s, &key, &err) == ERR_CONFLICT);
    store_key got{};
    REQUIRE_OK(store_key_find(f.s, id.c_str(), &got, f.a, &err));
    CHECK(same(got.tenant, f.tenant));
    CHECK(got.digest_sha256.length == SHA256_BYTES);
    CHECK(!memcmp(got.digest_sha256.data, digest, SHA256_BYTES));
    CHECK(got.scopes == 5);
    CHECK(same(got.label, nasty));
    CHECK(got.expires_at_s == T0);
    CHECK(std::isnan(got.revoked_at_s));
    CHECK(std::isnan(got.quota.rate_per_s));
    CHECK(got.quota.burst_count == 7);
    CHECK(got.quota.memory_bytes == 1048576);
    CHECK(std::isnan(got.tenant_quota.rate_per_s)); // the tenant has none
    quota of_tenant = quota_none();
    of_tenant.rate_per_s = 3;
    of_tenant.weight = 0.5;
    REQUIRE_OK(store_quota_set(f.s, f.tenant, &of_tenant, &err));
    key.quota.burst_count = NAN;
    key.quota.time_limit_max_s = 0;
    REQUIRE_OK(store_key_set_quota(f.s, f.tenant, id.c_str(), &key.quota, &err));
    CHECK(store_key_set_quota(f.s, f.tenant, "no such", &key.quota, &err) ==
          ERR_NOT_FOUND);
    REQUIRE_OK(store_key_find(f.s, id.c_str(), &got, f.a, &err));
    CHECK(std::isnan(got.quota.burst_count));
    CHECK(got.quota.memory_bytes == 1048576);
    CHECK(got.quota.time_limit_max_s == 0);
    CHECK(got.tenant_quota.rate_per_s == 3);
    CHECK(got.tenant_quota.weight == 0.5);
    CHECK(store_key_find(f.s, "no such", &got, f.a, &err) == ERR_NOT_FOUND);
    CHECK(store_key_revoke(f.s, "another tenant", id.c_str(), &err) == ERR_NOT_FOUND);
    REQUIRE_OK(store_key_revoke(f.s, f.tenant, id.c_str(), &err));
    REQUIRE_OK(store_key_find(f.s, id.c_str(), &got, f.a, &err));
    double revoked_at_s = got.revoked_at_s;
    CHECK(revoked_at_s > T0);
    REQUIRE_OK(store_key_revoke(f.s, f.tenant, id.c_str(), &err));
    const store_key *list;
    size_t count;
    store_page page{nullptr, 10};
    REQUIRE_OK(
        store_keys_list(f.s, f.tenant, &page, &list, &count, &page.token, f.a, &err));
    REQUIRE(count == 1);
    CHECK(list[0].revoked_at_s == revoked_at_s);
}

TEST_CASE("an idempotency key gives the same answer again", "[store][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    const struct db_bytes hash = {
        (const unsigned char *)"12345678901234567890123456789012", 32};
    const struct db_bytes other = {
        (const unsigned char *)"x2345678901234567890123456789012", 32};
    const char *route = "POST /v1/failures";
    store_answer answer{}, got{};
    bool found = true;
    answer.status = 201;
    answer.content_type = "application/json";
    answer.body = {(const unsigned char *)"a\0b", 3};

    // The first one: its own writes and the answer go together.
    test_session second(f.d);
    REQUIRE_OK(db_begin(f.s, &err));
    REQUIRE_OK(
        store_answer_find(f.s, f.tenant, nasty, route, hash, &found, &got, f.a, &err));
    CHECK_FALSE(found);
    REQUIRE_OK(db_begin(second, &err));
    CHECK(store_answer_find(second, f.tenant, nasty, route, hash, &found, &got, f.a,
                            &err) == ERR_CONFLICT);
    // Another tenant's key of that name is another key.
    CHECK(store_answer_find(second, "another", nasty, route, hash, &found, &got, f.a,
                            &err) == OK);
    db_rollback(second);
    failure one{};
    one.resource_id = "a";
    one.down_at_s = 1;
    one.up_at_s = 2;
    one.detected_at_s = one.level = NAN;
    REQUIRE_OK(record_add(f.s, f.tenant, &failure_record, &one, 1, f.a, &err));
    SECTION("rolled back: neither is there")
    {
        REQUIRE_OK(store_answer_save(f.s, f.tenant, nasty, route, hash, &answer, &err));
        db_rollback(f.s);
        REQUIRE_OK(db_begin(f.s, &err));
        REQUIRE_OK(store_answer_find(f.s, f.tenant, nasty, route, hash, &found, &got, f.a,
                                     &err));
        CHECK_FALSE(found);
        db_rollback(f.s);
        CHECK(query_number(
                  f.s, f.a,
                  ("SELECT count(*) FROM failure WHERE tenant = '" + f.tenant_text + "'")
                      .c_str()) == 0);
    }
    SECTION("committed: repeated for a day")
    {
        REQUIRE_OK(store_answer_save(f.s, f.tenant, nasty, route, hash, &answer, &err));
        REQUIRE_OK(db_commit(f.s, &err));
        REQUIRE_OK(db_begin(f.s, &err));
        REQUIRE_OK(store_answer_find(f.s, f.tenant, nasty, route, hash, &found, &got, f.a,
                                     &err));
        CHECK(found);
        CHECK(got.status == 201);
        CHECK(same(got.content_type, "application/json"));
        CHECK_FALSE(got.location);
        REQUIRE(got.body.length == 3);
        CHECK(!memcmp(got.body.data, "a\0b", 3));
        CHECK(store_answer_find(f.s, f.tenant, nasty, route, other, &found, &got, f.a,
                                &err) == ERR_INVALID);
        CHECK(store_answer_find(f.s, f.tenant, nasty, "POST /", hash, &found, &got, f.a,
                                &err) == ERR_INVALID);
        REQUIRE_OK(db_execute(
            f.s, "UPDATE idempotency_key SET created_at = now() - interval '25h'", &err));
        REQUIRE_OK(store_answer_find(f.s, f.tenant, nasty, route, other, &found, &got,
                                     f.a, &err));
        CHECK_FALSE(found);
        answer.body = {nullptr, 0};
        REQUIRE_OK(store_answer_save(f.s, f.tenant, nasty, route, other, &answer, &err));
        REQUIRE_OK(db_commit(f.s, &err));
    }
}

TEST_CASE("reading needs memory only up to the arena's cap", "[store][db][memory]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    std::vector<load_sample> given;
    for (int i = 0; i < 300; i++)
        given.push_back(sample(nasty, T0 + i, 1));
    REQUIRE_OK(record_add(f.s, f.tenant, &load_sample_record, given.data(), given.size(),
                          f.a, &err));
    size_t cap = 0, refused = 0;
    for (;; cap += 1000) {
        test_arena a(cap);
        const load_sample *list;
        size_t count;
        const char *next;
        store_filter filter = all();
        store_page page{nullptr, 200};
        error own{};
        error_code code =
            samples_read(f.s, f.tenant, &filter, &page, &list, &count, &next, a, &own);
        if (code == OK)
            break;
        INFO(own.text);
        REQUIRE(code == ERR_TOO_LARGE);
        refused++;
    }
    CHECK(refused > 10);
    CHECK(cap < 1000000);
}
