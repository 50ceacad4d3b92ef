/* checkpoint/silent_errors.h - checkpoints where results may be wrong unnoticed.
 *
 * Beside failures, of the rate f = 1/M, silent errors come with the rate s while the
 * job works. Nobody sees one until a verification of V s does, so before each checkpoint
 * the work is verified, and only verified images are written. A segment is work w, the
 * verification, and the checkpoint C (the last one of a job ends with its verification).
 * Found wrong, it goes back to the last image without the delay D. With
 *
 *     p1 = e^(-f (w + V))      the segment comes to the end of its verification
 *     ps = e^(-s w)            and was right
 *     p2 = e^(-f C)            and its image is written
 *     z  = (M + D) (e^(R/M) - 1)      reading an image, until it works
 *
 *     T(w) = [ M (1 - p1) + p1 ps M (1 - p2) + (1 - p1 + p1 ps (1 - p2)) (D + z)
 *              + p1 (1 - ps) z ] / (p1 ps p2)
 *
 * Without silent errors and V it is a segment of finite_plan.h. The best w has the least
 * T(w)/w, near sqrt((V + C)/(s + f/2)).
 *
 * Source: A. Benoit, A. Cavelan, Y. Robert, H. Sun, "Assessing general-purpose algorithms
 * to cope with fail-stop and silent errors", ACM Transactions on Parallel Computing 3(2),
 * 2016, for the model. Deviation: exact time in place of the first order. Times are
 * seconds.
 */
#ifndef GRIDPLAN_CHECKPOINT_SILENT_ERRORS_H
#define GRIDPLAN_CHECKPOINT_SILENT_ERRORS_H

struct silent_job {
    double mean_s;         /* M, > 0 and finite */
    double silent_mean_s;  /* 1/s, > 0; infinite: there are none */
    double verification_s; /* V, >= 0, likewise the next */
    double overhead_s;     /* C */
    double restart_s;      /* R: from an image */
    double scratch_s;      /* R0: where there is none */
    double delay_s;        /* D */
};

/* T of a segment of work_s behind an image; infinite: it never ends. */
double silent_segment_s(const struct silent_job *job, double work_s);

/* The work between checkpoints of least T(w)/w, at least least_s > 0. */
double silent_best_interval_s(const struct silent_job *job, double least_s);

/* By first order. */
double silent_first_order_interval_s(const struct silent_job *job);

/* Expected time of a job of work_s > 0 with verified checkpoints after every interval_s
 * of work; at its end it is verified and takes none. */
double silent_expected_s(const struct silent_job *job, double work_s, double interval_s);

#endif
