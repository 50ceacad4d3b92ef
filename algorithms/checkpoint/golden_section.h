/* checkpoint/golden_section.h - where a function of one variable is least. */
#ifndef GRIDPLAN_CHECKPOINT_GOLDEN_SECTION_H
#define GRIDPLAN_CHECKPOINT_GOLDEN_SECTION_H

/* Looks between low and high, 0 < low < high, on a scale of logarithms; f has one
 * valley there and may be infinite to the right of it. Ends when the bracket is
 * narrower than the relative width, > 0: below about 1e-8 rounding decides. The valley
 * may lie at an end. */
double golden_least_at(double (*f)(const void *context, double x), const void *context,
                       double low, double high, double width_ratio);

#endif
