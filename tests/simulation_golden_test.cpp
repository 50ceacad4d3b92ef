// simulation_golden_test.cpp - the shapes of published experiments, on short runs.
// bench_simulation plays them in full.
#include "tests/simulation_support.hpp"

// A preset of chapter 4 with as many jobs a day, but fewer days.
struct short_preset {
    test_arena a{size_t{1} << 32};
    sim_scenario s{};
    workload w{};

    short_preset(const char *name, double days)
    {
        error err = collecting_error(a);
        REQUIRE(sim_preset_load(name, &s, a, &err) == OK);
        w = *s.workload;
        w.job_count = (uint64_t)((double)w.job_count * days / 7);
        s.workload = &w;
        s.stop_time_s = days * 86400;
    }
    // Means over the first seeds.
    sim_metrics mean(const bound_policy &p, uint64_t seeds)
    {
        std::vector<sim_metrics> runs;
        sim_metrics m{};
        for (uint64_t seed = 1; seed <= seeds; seed++)
            runs.push_back(run_scenario(s, p, seed, a).metrics);
        for (size_t i = 0; i < SIM_METRIC_COUNT; i++)
            reinterpret_cast<double *>(&m)[i] =
                sim_summarise_every(reinterpret_cast<double *>(runs.data()) + i,
                                    runs.size(), SIM_METRIC_COUNT)
                    .mean;
        return m;
    }
};

TEST_CASE("jobs lost on a desktop grid: fault-tolerance.md 9.1", "[simulation][golden]")
{
    const char *rows[] = {"100", "80", "60", "50"};
    double want[4][3] = {
        {3.9, 30.3, 57.4}, {6.4, 45.4, 76.9}, {6.4, 45.4, 76.9}, {9.5, 60.5, 100}};
    double got[4][3];
    for (size_t i = 0; i < 4; i++) {
        const char *classes[] = {"short", "medium", "long"};
        for (size_t c = 0; c < 3; c++) {
            test_arena a;
            error err = collecting_error(a);
            sim_scenario s;
            bound_policy p;
            std::string name = std::string("ch3_desktop_") + classes[c] + "_" + rows[i];
            REQUIRE(sim_preset_load(name.c_str(), &s, a, &err) == OK);
            s.stop_time_s /= 2;
            p.round("fcfs");
            got[i][c] = 100 * run_scenario(s, p, 1, a).metrics.jobs_lost_ratio;
            INFO(name);
            CHECK(got[i][c] == Approx(want[i][c]).margin(2.5));
        }
        CHECK(got[i][0] < got[i][1]);
        CHECK(got[i][1] < got[i][2]);
    }
    // where the time to failure changes the loss jumps, more so for longer jobs
    CHECK(got[3][1] - got[2][1] > got[3][0] - got[2][0]);
    for (size_t c = 0; c < 3; c++)
        CHECK(got[1][c] == Approx(got[2][c]).margin(1.5));
    CHECK(got[3][2] == 100);
}

TEST_CASE("checkpoint intervals: fault-tolerance.md 9.4", "[simulation][golden]")
{
    // smallest interval, near the best, largest; a day, one seed
    const double intervals[] = {30, 900, 28800};
    sim_metrics periodic[3], last[3], mean[3];
    short_preset preset("ch4_checkpoint_stress", 1);
    for (size_t i = 0; i < 3; i++) {
        for (auto &c :
             {std::make_pair("periodic", periodic), std::make_pair("last_failure", last),
              std::make_pair("mean_failure", mean)}) {
            bound_policy p;
            p.round("migration")
                .checkpoint(c.first, {option("initial_interval_s", intervals[i])});
            c.second[i] = preset.mean(p, 1);
        }
        INFO(intervals[i] << ": " << periodic[i].jobs_done << " / " << last[i].jobs_done
                          << " / " << mean[i].jobs_done);
        CHECK(mean[i].jobs_lost == 0);
        CHECK(mean[i].jobs_done >= 0.88 * periodic[1].jobs_done);
    }
    // (a) periodic has its best inside
    CHECK(periodic[0].jobs_done < 0.75 * periodic[1].jobs_done);
    CHECK(periodic[2].jobs_done < 0.97 * periodic[1].jobs_done);
    // (b) at the smallest interval, (c) at the largest
    CHECK(mean[0].jobs_done > last[0].jobs_done);
    CHECK(last[0].jobs_done > periodic[0].jobs_done);
    CHECK(mean[2].jobs_done > periodic[2].jobs_done);
    // (e) mean_failure takes fewer checkpoints as the interval nears the best
    CHECK(mean[0].checkpoints_per_job > mean[1].checkpoints_per_job);
    // (f), (g)
    CHECK(periodic[0].job_length_mi < periodic[1].job_length_mi);
    CHECK(periodic[0].job_run_time_s > periodic[1].job_run_time_s);
    CHECK(mean[0].job_run_time_s < periodic[0].job_run_time_s);
}

enum { FCFS, TWO, THREE, BY_LOAD, BY_FAILURE, MEAN_FAILURE, COMBINED, POLICIES };

static void choose(bound_policy &p, int which)
{
    auto unit = option("capacity_unit", "resource");
    switch (which) {
    case FCFS:
        p.round("fcfs");
        break;
    case TWO:
    case THREE:
        p.round("unconditional", {option("replicas", which == TWO ? 2 : 3)});
        break;
    case BY_LOAD:
        p.round("load_dependent", {unit});
        break;
    case BY_FAILURE:
        p.round("failure_dependent", {unit});
        break;
    case MEAN_FAILURE:
        p.round("migration");
        break;
    default:
        p.round("combined", {unit});
    }
    if (which >= MEAN_FAILURE)
        p.checkpoint("mean_failure", {option("initial_interval_s", 1800),
                                      option("min_interval_fraction", 0.05)});
}

TEST_CASE("replication, checkpoints, both: fault-tolerance.md 9.5",
          "[simulation][golden]")
{
    sim_metrics m[POLICIES];
    SECTION("high load, available 70 %")
    {
        short_preset preset("ch4_high_daily_70", 3);
        for (int i = 0; i < POLICIES; i++) {
            bound_policy p;
            choose(p, i);
            m[i] = preset.mean(p, 1);
        }
        for (int i = 0; i < MEAN_FAILURE; i++)
            CHECK(m[MEAN_FAILURE].jobs_done > m[i].jobs_done);
        CHECK(m[MEAN_FAILURE].jobs_done >= 0.99 * m[COMBINED].jobs_done);
        CHECK(m[COMBINED].jobs_done > m[BY_FAILURE].jobs_done);
        CHECK(m[BY_LOAD].jobs_done > m[THREE].jobs_done);
        CHECK(m[FCFS].jobs_lost > m[TWO].jobs_lost);
        CHECK(m[TWO].jobs_lost > m[THREE].jobs_lost);
        CHECK(m[BY_FAILURE].jobs_lost < m[THREE].jobs_lost);
        CHECK(m[MEAN_FAILURE].jobs_lost == 0);
        CHECK(m[COMBINED].jobs_lost <= 0.005 * m[COMBINED].jobs_submitted);
        CHECK(m[BY_FAILURE].job_length_mi > m[FCFS].job_length_mi);
    }
    SECTION("high load, available 95 %")
    {
        short_preset preset("ch4_high_daily_95", 3);
        for (int i = 0; i < BY_FAILURE; i++) {
            bound_policy p;
            choose(p, i);
            m[i] = preset.mean(p, 1);
        }
        CHECK(m[FCFS].jobs_done > m[TWO].jobs_done);
        CHECK(m[TWO].jobs_done > m[THREE].jobs_done);
        CHECK(m[BY_LOAD].jobs_done > m[FCFS].jobs_done);
    }
    SECTION("low load, available 70 %")
    {
        short_preset preset("ch4_low_daily_70", 7);
        for (int i = 0; i < POLICIES; i++) {
            bound_policy p;
            choose(p, i);
            m[i] = preset.mean(p, 1);
        }
        CHECK(m[FCFS].jobs_done < m[TWO].jobs_done);
        CHECK(m[TWO].jobs_done <= m[THREE].jobs_done);
        CHECK(m[THREE].jobs_done <= 1.01 * m[BY_LOAD].jobs_done);
        CHECK(m[MEAN_FAILURE].job_run_time_s > m[COMBINED].job_run_time_s);
        CHECK(m[COMBINED].jobs_done == Approx(m[BY_FAILURE].jobs_done).epsilon(0.01));
    }
}

// The numbers as they are now: a change here is a change of behaviour.
TEST_CASE("regression values of one run", "[simulation][golden]")
{
    bound_policy p;
    short_preset preset("ch4_high_daily_90", 1);
    choose(p, COMBINED);
    sim_metrics m = preset.mean(p, 1);
    CHECK(m.jobs_submitted == 1000);
    CHECK(m.jobs_done + m.jobs_lost + m.jobs_left == 1000);
    CHECK(m.availability_ratio == Approx(0.9).margin(0.04));
    CHECK(m.jobs_lost == 0);
}

TEST_CASE("weibull checkpoints fit what the run has shown", "[simulation][golden]")
{
    short_preset preset("ch4_checkpoint_stress", 3);
    bound_policy young, weibull, given;
    young.round("migration").checkpoint("young");
    weibull.round("migration").checkpoint("weibull");
    given.round("migration")
        .checkpoint("weibull",
                    {option("weibull_shape", 1.0), option("weibull_scale_s", 345600.0)});
    sim_metrics y = preset.mean(young, 1), w = preset.mean(weibull, 1),
                g = preset.mean(given, 1);
    INFO(y.checkpoints_taken << " " << w.checkpoints_taken << " " << g.checkpoints_taken);
    CHECK(w.checkpoints_taken != y.checkpoints_taken); // not its fallback
    CHECK(w.checkpoints_taken != g.checkpoints_taken);
    CHECK(w.jobs_done > 0.97 * y.jobs_done);
    CHECK(w.jobs_lost == 0);
}
