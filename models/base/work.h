/* base/work.h - published works that policies come from.
 *
 * A policy's row cites them with CITES(IN_WORK(young1974, ""), ...), so that a reader can
 * look up where it comes from. A work is one row here: id, authors, year, title, where it
 * was published, address (NULL: none). A title in brackets is not confirmed, as it says.
 */
#ifndef GRIDPLAN_BASE_WORK_H
#define GRIDPLAN_BASE_WORK_H

struct cited_work {
    const char *authors;
    int year;
    const char *title, *published_in;
    const char *url; /* NULL: none */
};

/* clang-format off */
#define WORKS(X) \
    X(arabnejad2014, "H. Arabnejad, J. Barbosa", 2014, \
      "List Scheduling Algorithm for Heterogeneous Systems by an Optimistic Cost Table", \
      "IEEE TPDS 25(3)", NULL) \
    X(braun2001, "T. Braun et al.", 2001, \
      "A Comparison of Eleven Static Heuristics for Mapping a Class of Independent Tasks" \
      " onto Heterogeneous Distributed Computing Systems", "JPDC 61(6)", NULL) \
    X(casanova2000, "H. Casanova, A. Legrand, D. Zagorodnov, F. Berman", 2000, \
      "Heuristics for Scheduling Parameter Sweep Applications in Grid Environments", \
      "HCW 2000", NULL) \
    X(chtepen2009, \
      "M. Chtepen, F. Claeys, B. Dhoedt, F. De Turck, P. Demeester, P. Vanrolleghem", 2009, \
      "Adaptive Task Checkpointing and Replication: Toward Efficient Fault-Tolerant Grids", \
      "IEEE TPDS 20(2)", NULL) \
    X(chtepen2010, "M. Chtepen", 2010, \
      "[Dynamic scheduling in distributed environments; title unverified]", \
      "PhD thesis, Ghent University", NULL) \
    X(daly2006, "J. Daly", 2006, \
      "A Higher Order Estimate of the Optimum Checkpoint Interval for Restart Dumps", \
      "FGCS 22(3)", NULL) \
    X(golub1973, "G. Golub, V. Pereyra", 1973, \
      "The Differentiation of Pseudo-Inverses and Nonlinear Least Squares Problems Whose" \
      " Variables Separate", "SIAM J. Numer. Anal. 10(2)", NULL) \
    X(huedo2004, "E. Huedo, R. Montero, I. Llorente", 2004, \
      "Experiences on Adaptive Grid Scheduling of Parameter Sweep Applications", \
      "12th Euromicro PDP", NULL) \
    X(ibarra1977, "O. Ibarra, C. Kim", 1977, \
      "Heuristic Algorithms for Scheduling Independent Tasks on Nonidentical Processors", \
      "J. ACM 24(2)", NULL) \
    X(maheswaran1999, "M. Maheswaran et al.", 1999, \
      "Dynamic Mapping of a Class of Independent Tasks onto Heterogeneous Computing Systems", \
      "JPDC 59(2)", NULL) \
    X(mohamed2007, "H. Mohamed", 2007, \
      "The Design and Implementation of the KOALA Grid Resource Management System", \
      "PhD thesis, TU Delft", NULL) \
    X(mualem2001, "A. Mu'alem, D. Feitelson", 2001, \
      "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the" \
      " IBM SP2 with Backfilling", "IEEE TPDS 12(6)", NULL) \
    X(nelder1965, "J. Nelder, R. Mead", 1965, \
      "A Simplex Method for Function Minimization", "Computer Journal 7(4)", NULL) \
    X(sanjay2008, "H. A. Sanjay", 2008, \
      "[Performance modelling, scheduling and rescheduling of parallel applications on" \
      " grids; title unverified]", \
      "PhD thesis (adviser S. Vadhiyar), Indian Institute of Science, Bangalore", \
      "https://etd.iisc.ac.in/handle/2005/701") \
    X(silva2003, "D. da Silva, W. Cirne, F. Brasileiro", 2003, \
      "Trading Cycles for Information: Using Replication to Schedule Bag-of-Tasks" \
      " Applications on Computational Grids", "Euro-Par 2003", NULL) \
    X(slurm2022, "SchedMD", 2022, "Slurm Workload Manager, version 22.05: documentation", \
      "slurm.schedmd.com", "https://slurm.schedmd.com/archive/slurm-22.05-latest/") \
    X(topcuoglu2002, "H. Topcuoglu, S. Hariri, M.-Y. Wu", 2002, \
      "Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous Computing", \
      "IEEE TPDS 13(3)", NULL) \
    X(tsafrir2007, "D. Tsafrir, Y. Etsion, D. Feitelson", 2007, \
      "Backfilling Using System-Generated Predictions Rather Than User Runtime Estimates", \
      "IEEE TPDS 18(6)", NULL) \
    X(yarkhan2002, "A. YarKhan, J. Dongarra", 2002, \
      "Experiments with Scheduling Using Simulated Annealing in a Grid Environment", \
      "GRID 2002, LNCS 2536", NULL) \
    X(young1974, "J. Young", 1974, \
      "A First Order Approximation to the Optimum Checkpoint Interval", "CACM 17(9)", NULL)
/* clang-format on */

#define X(id, authors, year, title, published_in, url) \
    extern const struct cited_work work_##id;
WORKS(X)
#undef X

struct citation {
    const struct cited_work *work; /* NULL: behind the last */
    const char *locator;           /* as "chapter 4.3.2"; NULL: the work as a whole */
};

/* Where a policy comes from: last part of a row of struct policy, as initialisers. Its
 * idea, one sentence, is needed where there is no work to read. */
#define IN_WORK(id, locator) \
    {                        \
        &work_##id, locator  \
    }
#define CITES(...)                     \
    .cites = (const struct citation[]) \
    {                                  \
        __VA_ARGS__,                   \
        {                              \
            0                          \
        }                              \
    }
#define OURS(sentence)     .origin = POLICY_OURS, .idea = (sentence)
#define FOLKLORE(sentence) .origin = POLICY_FOLKLORE, .idea = (sentence)
/* How it differs from the work: sentences. */
#define BUT(...)                        \
    .deviations = (const char *const[]) \
    {                                   \
        __VA_ARGS__, NULL               \
    }
/* Both of these. */
#define FROM(...) __VA_ARGS__

#endif
