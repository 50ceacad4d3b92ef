/* checkpoint/survival_integrals.c - integrals of the survival of a Weibull law.
 *
 * Gauss-Legendre: from 0, where the hazard has a root or a pole, four panels of eight
 * points after x = l y^3, more for large shapes; in steps far from there four or two
 * points each. */
#include "algorithms/checkpoint/renewal.h"

#include <math.h>

static double hazard_sum(const struct weibull_law *law, double x_s)
{
    return pow(x_s / law->scale_s, law->shape);
}

double weibull_lives(const struct weibull_law *law, double age_s, double l_s)
{
    return exp(hazard_sum(law, age_s) - hazard_sum(law, age_s + l_s));
}

double weibull_lived_s(const struct weibull_law *law, double age_s, double l_s)
{
    enum { HALF = 4 };
    static const double node[HALF] = {0.1834346424956498, 0.5255324099163290,
                                      0.7966664774136267, 0.9602898564975363};
    static const double weight[HALF] = {0.3626837833783620, 0.3137066458778873,
                                        0.2223810344533745, 0.1012285362903763};
    /* The drop of a large shape is as much steeper. */
    int panels = 4 * (int)fmin(fmax(1, ceil(law->shape / 2)), 64);
    double begun = hazard_sum(law, age_s), sum = 0;

    for (int panel = 0; panel < panels; panel++)
        for (int i = 0; i < 2 * HALF; i++) {
            double at = i < HALF ? node[i] : -node[i - HALF];
            double y = (panel + (1 + at) / 2) / panels;

            sum += weight[i % HALF] * 3 * y * y *
                   exp(begun - hazard_sum(law, age_s + l_s * y * y * y));
        }
    return sum * l_s / (2 * panels);
}

/* The time lived between l and l + step, of one who lived at `begun`. */
static double step_lived_s(const struct weibull_law *law, double begun, double from_s,
                           double step_s, bool is_smooth)
{
    static const double node[3] = {0.3399810435848563, 0.8611363115940526,
                                   0.5773502691896258};
    static const double weight[3] = {0.6521451548625461, 0.3478548451374538, 1};
    double middle_s = from_s + step_s / 2, sum = 0;

    for (int i = is_smooth ? 2 : 0; i < (is_smooth ? 3 : 2); i++)
        sum +=
            weight[i] * (exp(begun - hazard_sum(law, middle_s - node[i] * step_s / 2)) +
                         exp(begun - hazard_sum(law, middle_s + node[i] * step_s / 2)));
    return sum * step_s / 2;
}

void weibull_lived_steps(const struct weibull_law *law, double age_s, double first_s,
                         double step_s, size_t count, double *lives, double *lived_s)
{
    enum { NEAR = 2, FAR = 32 };
    double begun = hazard_sum(law, age_s);
    bool is_fine = step_s * fmax(1, law->shape) * FAR <= law->scale_s;

    for (size_t m = 0; m < count; m++) {
        double l_s = first_s + (double)m * step_s;
        double from_s = age_s + l_s - step_s;

        lives[m] = exp(begun - hazard_sum(law, age_s + l_s));
        if (m == 0 || from_s < NEAR * step_s)
            lived_s[m] = weibull_lived_s(law, age_s, l_s);
        else
            lived_s[m] = lived_s[m - 1] + step_lived_s(law, begun, from_s, step_s,
                                                       is_fine && from_s >= FAR * step_s);
    }
}
