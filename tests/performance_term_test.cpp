// performance_term_test.cpp - functions of a performance model, and its time.
#include "tests/performance_support.hpp"

TEST_CASE("functions of processors and bandwidth", "[performance]")
{
    const double p = 8, log_p = std::log(8.0);
    const double want[] = {1,        std::sqrt(p),     p,         std::pow(p, 1.5),
                           p * p,    std::pow(p, 2.5), p * p * p, log_p,
                           p * log_p};

    for (int id = 0; id <= 8; id++) {
        CHECK(perf_p_value(id, p) == Approx(want[id]).epsilon(1e-14));
        if (id > 0) {
            CHECK(perf_bw_value(id, p) == Approx(want[id]).epsilon(1e-14));
            CHECK(perf_p_value(id + 8, p) == Approx(1 / want[id]).epsilon(1e-14));
        }
    }
    CHECK(perf_p_value(17, 2) == Approx(2.885).epsilon(1e-3));
    CHECK(perf_p_value(17, 3) == Approx(2.731).epsilon(1e-3));
    CHECK(perf_p_value(18, p) == Approx(log_p / p));
    for (int id : {-1, 19, 100, -1000}) {
        CHECK(std::isnan(perf_p_value(id, p)));
        CHECK_FALSE(perf_p_id_valid(id));
    }
    for (int id : {-1, 0, 9, 100}) {
        CHECK(std::isnan(perf_bw_value(id, p)));
        CHECK_FALSE(perf_bw_id_valid(id));
    }
    for (int id = 0; id <= 18; id++) // at P = 1 nothing divides by zero
        CHECK(perf_p_value(id, 1) >= 0);
}

TEST_CASE("there are 77 candidates, numbered as in the spec", "[performance]")
{
    const struct {
        int number;
        unsigned mask;
    } named[] = {{1, 1U << 1},
                 {3, 1U << 3},
                 {7, 1U << 7},
                 {8, 1U << 8},
                 {10, 1U << 10},
                 {14, 1U | 1U << 3},
                 {18, 1U | 1U << 7},
                 {45, 1U << 3 | 1U << 7},
                 {57, 1U << 5 | 1U << 6},
                 {60, 1U << 5 | 1U << 9},
                 {65, 1U << 6 | 1U << 9},
                 {69, 1U << 7 | 1U << 9},
                 {70, 1U << 7 | 1U << 10},
                 {77, 1U << 10 | 1U << 11}};

    for (auto &n : named)
        CHECK(perf_candidates[n.number - 1] == n.mask);
    for (int i = 0; i < PERF_CANDIDATES; i++)
        CHECK(perf_candidate_of(perf_candidates[i]) == i + 1);
    for (unsigned mask : {0U, 1U, 7U, 0x1000U, 0xfffU})
        CHECK(perf_candidate_of(mask) == 0);
    CHECK(perf_mask_needs_log(1U << 5));
    CHECK_FALSE(perf_mask_needs_log(1U << 3 | 1U << 10));
    CHECK(perf_basis(5, 100) == Approx(100 * std::log(100.0) * std::log(100.0)));
    CHECK(std::isnan(perf_basis(12, 100)));
}

TEST_CASE("the time of a term is Eq. 3.6", "[performance]")
{
    // W2, the thesis's FFT: f_Pcomm = P / ln P is its own extended id.
    double n = 1048576;
    perf_term fft = {1e-7 * n * std::log(n), 2, 1e-4 * n, 2, 17};
    perf_terms model = {&fft, 1, NAN};
    double computation_s, communication_s;
    perf_term_parts(&fft, 8, 0.5, 50, &computation_s, &communication_s);
    CHECK(computation_s == Approx(0.363408749).epsilon(1e-9));
    CHECK(communication_s == Approx(0.545113124).epsilon(1e-9));
    CHECK(perf_time_s(&model, 8, 0.5, 50) == Approx(0.908521873).epsilon(1e-9));
    CHECK_FALSE(perf_terms_monotone(&model));

    // W3
    perf_combination c = combination(1U << 7, 1U << 3, 2, 2, 1, {2e-4, 0.5});
    perf_query q = {2000, 8, 0.5, 40};
    CHECK(perf_combination_time_s(&c, &q) == Approx(208.838835).epsilon(1e-8));
    q = {3000, 16, 0.5, 40};
    CHECK(perf_combination_time_s(&c, &q) == Approx(234.375).epsilon(1e-12));

    // parallel-scheduling.md 2
    perf_term check = {0.00149 * 2048 * 2048, 2, 3.0 * 2048, 2, 7};
    model = {&check, 1, NAN};
    CHECK(perf_time_s(&model, 256, 0.7, 20) == Approx(90.274004).epsilon(1e-8));
    CHECK(perf_terms_monotone(&model));
}

TEST_CASE("what has no time is infinite", "[performance]")
{
    perf_term t = {100, 2, 50, 8, 1};
    perf_terms model = {&t, 1, NAN};

    CHECK(perf_time_s(&model, 1, 0.5, NAN) == 200); // no communication, f_P = 1
    model.single_s = 90;
    CHECK(perf_time_s(&model, 1, 0.5, NAN) == 180);
    t.pcomp_id = 15;
    model.single_s = NAN;
    CHECK(perf_time_s(&model, 1, 0.5, NAN) == 200);
    t.pcomp_id = 2;
    for (double bad : {0.0, -1.0, (double)NAN}) {
        CHECK(std::isinf(perf_time_s(&model, 4, bad, 10)));
        CHECK(std::isinf(perf_time_s(&model, 4, 0.5, bad)));
        CHECK(std::isinf(perf_time_s(&model, bad, 0.5, 10)));
    }
    // Little is raised: CPU to 0.01, bandwidth to 0.01, to 1.001 under a logarithm.
    CHECK(perf_time_s(&model, 4, 1e-9, 10) == perf_time_s(&model, 4, 0.01, 10));
    CHECK(perf_time_s(&model, 4, 1, 0.5) == perf_time_s(&model, 4, 1, 1.001));
    t.bw_id = 2;
    CHECK(perf_time_s(&model, 4, 1, 1e-9) == perf_time_s(&model, 4, 1, 0.01));
    t.comm = -1e6;
    CHECK(std::isinf(perf_time_s(&model, 4, 0.5, 10)));
    CHECK_FALSE(perf_terms_monotone(&model));
    t.comm = 0;
    t.bw_id = PERF_NONE;
    CHECK(perf_time_s(&model, 4, 0.5, NAN) == 50);
    t.comp_s = HUGE_VAL;
    CHECK(std::isinf(perf_time_s(&model, 4, 0.5, 10)));
}

TEST_CASE("a sum of terms is monotone if every term is", "[performance]")
{
    perf_term terms[] = {{1, 2, 1, 2, 1}, {1, 0, 1, 2, 8}};
    perf_terms model = {terms, 2, NAN};

    CHECK(perf_terms_monotone(&model));
    for (int id = 9; id <= 18; id++) {
        terms[1].pcomm_id = id;
        CHECK_FALSE(perf_terms_monotone(&model));
    }
}

TEST_CASE("a combination survives packing", "[performance]")
{
    perf_combination c = combination(1U << 7 | 1U, 1U << 3, 2, 2, 1);
    uint64_t state = 3;
    for (auto &run : g1_runs(state, 0.1))
        perf_combination_add(&c, &run, {true, true});
    perf_combination_solve(&c, {true, true});
    c.low_rank_streak = 3;

    double packed[PERF_PACKED];
    perf_combination_pack(&c, packed);
    perf_combination back{};
    REQUIRE(perf_combination_unpack(packed, PERF_PACKED, &back));
    CHECK(std::memcmp(back.triangle, c.triangle, sizeof(c.triangle)) == 0);
    CHECK(std::memcmp(back.coefficients, c.coefficients, sizeof(c.coefficients)) == 0);
    CHECK(perf_combination_same(&back, &c));
    CHECK(back.sample_count == c.sample_count);
    CHECK(back.low_rank_streak == 3);
    CHECK(back.rank_error == c.rank_error);
    CHECK(back.time_sum == c.time_sum);

    CHECK_FALSE(perf_combination_unpack(packed, PERF_PACKED - 1, &back));
    for (size_t i : {0, 1, 2, 3, 4, 8, 10, 11, 12})
        for (double bad : {-2.0, 0.5, 1e300, (double)NAN}) {
            double broken[PERF_PACKED];
            std::memcpy(broken, packed, sizeof(packed));
            broken[i] = bad;
            INFO("number " << i << " is " << bad);
            CHECK_FALSE(perf_combination_unpack(broken, PERF_PACKED, &back));
        }
}
