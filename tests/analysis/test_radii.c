/* Spectral radii of the two-mass models against the values of the method specification (Li 8.2), to 1e-7 relative. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "tags.h"

enum { MAX_COLUMNS = 5 };

typedef struct point {
  double        re, im;
  const double *ratios;
} point;

static const double heavy[3] = {10.0, 1.0, 1.0}, damped[3] = {1.0, 10.0, 1.0}, fast[3] = {1.0, 1.0, 10.0},
                    doubled[3] = {2.0, 2.0, 2.0};

static void check_row(const char *decomposition, char family, const yoke_test_method *method, const point *points,
                      int n, const double *expected) {
  for (int i = 0; i < n; ++i) {
    const double rho = radius_at(family, method, points[i].re, points[i].im, points[i].ratios);
    if (!(fabs(rho - expected[i]) <= 1e-7 * expected[i])) {
      fail_msg("%s-%c degree %d, column %d: rho = %.10g, expected %.10g", decomposition, family, method->order, i, rho,
               expected[i]);
    }
  }
}

typedef struct row {
  const char *decomposition;
  char        family;
  int         order;
  double      rho[MAX_COLUMNS];
} row;

static const row laws[] = {
    {"FF", 'E', 0, {0.951593525, 1.24929396, 9.70245251, 292.919606}},
    {"FF", 'E', 1, {0.904837418, 2.64759564, 14.6975658, 473.269543}},
    {"FF", 'E', 2, {0.904837418, 3.8466328, 18.7250405, 649.679665}},
    {"FF", 'E', 3, {0.904837418, 4.96197275, 22.292372, 823.613658}},
    {"FF", 'O', 0, {0.904837418, 0.60653066, 0.316754919, 0.604177771}},
    {"FF", 'O', 1, {1.51017686, 0.616086486, 1.25689332, 0.621714623}},
    {"FF", 'O', 2, {1.94121269, 0.60653066, 2.02306958, 0.666729514}},
    {"FF", 'O', 3, {2.33625685, 0.608472348, 2.67273221, 0.725759497}},
    {"FF", 'D', 0, {0.904837418, 0.60653066, 0.367041321, 0.00794065996}},
    {"FF", 'D', 1, {0.904837418, 0.60653066, 0.424367519, 3.6968964}},
    {"FF", 'D', 2, {0.904837418, 0.60653066, 0.440367261, 0.316757811}},
    {"FF", 'I', 0, {0.904837418, 0.60653066, 0.424367519, 3.6968964}},
    {"FF", 'I', 1, {0.904837418, 1.13811458, 0.425269587, 0.793631611}},
    {"FF", 'I', 2, {0.904837418, 1.10128429, 0.425459548, 0.570981563}},
    {"FD", 'E', 0, {0.898308058, 0.809770543, 9.62709731, 292.892853}},
    {"FD", 'E', 1, {0.90554008, 1.97399818, 14.59461, 473.214707}},
    {"FD", 'E', 2, {0.927436911, 2.96763507, 18.5990997, 649.596736}},
    {"FD", 'E', 3, {0.912610854, 3.89724761, 22.1459101, 823.502636}},
    {"FD", 'O', 0, {1.38479532, 0.545891621, 0.294633788, 0.604177728}},
    {"FD", 'O', 1, {1.22974601, 0.611398924, 1.2321454, 0.621714617}},
    {"FD", 'O', 2, {1.27068819, 0.604377491, 2.00622578, 0.666729498}},
    {"FD", 'O', 3, {1.60702443, 0.607510355, 2.65699013, 0.725759468}},
    {"FD", 'D', 0, {3.64603443, 2.19588955, 0.415302896, 0.00384892862}},
    {"FD", 'D', 1, {1.45542844, 0.596477163, 0.593040749, 3.66879655}},
    {"FD", 'D', 2, {1.10260697, 0.591925346, 0.560574157, 0.317261863}},
    {"FD", 'I', 0, {1.06357777, 0.576501939, 0.352914701, 3.8125818}},
    {"FD", 'I', 1, {0.877204947, 0.648235197, 0.370304152, 0.793531477}},
    {"FD", 'I', 2, {0.880248089, 0.81327232, 0.389164968, 0.571022105}},
    {"DD", 'E', 0, {0.841425548, 0.52090348, 0.644199632, 0.392966427}},
    {"DD", 'E', 1, {0.907884015, 1.11605677, 1.34596149, 1.13019496}},
    {"DD", 'E', 2, {0.946124007, 1.77470527, 2.04416345, 1.90077828}},
    {"DD", 'E', 3, {0.925142875, 2.40346268, 2.72956057, 2.68000646}},
    {"DD", 'O', 0, {5.05186625, 0.598405663, 0.347259867, 0.00295493157}},
    {"DD", 'O', 1, {1.39756776, 0.406535964, 0.36960328, 0.00302229178}},
    {"DD", 'O', 2, {1.08392635, 0.459038729, 0.330599279, 0.0125156384}},
    {"DD", 'O', 3, {1.01316656, 0.542957094, 0.445738096, 0.0432565646}},
    {"DD", 'D', 0, {6.1460538, 0.603435228, 0.331586657, 0.00295701645}},
    {"DD", 'D', 1, {1.60578354, 0.392040129, 0.467670152, 0.00284638137}},
    {"DD", 'D', 2, {1.16564454, 0.45499743, 0.433273279, 0.017943933}},
    {"DD", 'I', 0, {1.31085507, 1.06480644, 0.531247611, 0.00304994912}},
    {"DD", 'I', 1, {0.85489659, 0.399417052, 0.324111974, 0.00460242008}},
    {"DD", 'I', 2, {0.859134575, 0.372587608, 0.373260317, 0.02141736}},
};

static void coupling_laws_have_the_specified_radii(void **state) {
  (void)state;
  static const point implicit[] = {
      {-0.1, 2.5, symmetrical}, {-0.5, 6.0, symmetrical}, {-0.1, 0.3, unsymmetrical}, {-0.5, 9.5, unsymmetrical}};
  static const point explicit[] = {
      {-0.1, 0.7, symmetrical}, {-0.5, 1.0, symmetrical}, {-0.1, 0.3, unsymmetrical}, {-0.5, 9.5, unsymmetrical}};
  for (size_t i = 0; i < sizeof laws / sizeof *laws; ++i) {
    const yoke_test_method method = method_of(laws[i].decomposition, laws[i].family, laws[i].order);
    check_row(laws[i].decomposition, laws[i].family, &method, laws[i].family == 'E' ? explicit : implicit, 4,
              laws[i].rho);
  }
}

static const row links[] = {
    {"FF", 'B', 0, {0.818730753, 0.818730753, 0.719033677, 1.13998217, 0.797892815}},
    {"FF", 'B', 1, {0.818730753, 0.818730753, 0.513045412, 0.841070586, 0.520390754}},
    {"FF", 'B', 2, {0.818730753, 0.818730753, 0.445905515, 0.873061885, 0.629497918}},
    {"FF", 'W', 0, {4.89973458, 4.89973458, 1.13088673, 0.981870775, 0.923158981}},
    {"FF", 'W', 1, {0.818730753, 0.818730753, 0.634308824, 0.873570572, 0.626252753}},
    {"FF", 'W', 2, {0.818730753, 0.818730753, 0.633231243, 0.973683028, 0.773443698}},
    {"FF", 'P', 0, {0.818730753, 0.818730753, 1.94773029, 34.1460553, 1.55804542}},
    {"FF", 'P', 1, {1.09362773, 1.09362773, 1.76108343, 18.2640391, 2.30679938}},
    {"FF", 'P', 2, {1.09231494, 1.09231494, 1.67809377, 13.9845589, 2.12084682}},
    {"FD", 'B', 0, {0.753415829, 0.66242881, 0.548472014, 0.921661228, 0.654323582}},
    {"FD", 'B', 1, {0.840137977, 0.859833381, 0.482117056, 3.38098323, 0.858516229}},
    {"FD", 'B', 2, {0.859238928, 0.889564789, 0.543398248, 4.77784069, 1.01528958}},
    {"FD", 'W', 0, {0.893614289, 20.437263, 2.26404314, 6.00135546, 8.703575}},
    {"FD", 'W', 1, {0.844825633, 0.861150537, 0.610352031, 3.38653635, 0.878913378}},
    {"FD", 'W', 2, {0.857763173, 0.889223783, 0.862028686, 4.79567381, 0.969395337}},
    {"FD", 'P', 0, {0.84360653, 1.87151743, 1.32587479, 13.4315915, 6.6881237}},
    {"FD", 'P', 1, {0.863331255, 0.976324758, 0.535191465, 3.98550942, 0.892572938}},
    {"FD", 'P', 2, {0.863473549, 0.976234445, 0.489334206, 5.24220609, 1.03939319}},
    {"DD", 'P', 0, {0.626839141, 0.626839141, 0.43294506, 0.915996966, 0.442735106}},
    {"DD", 'P', 1, {0.864350746, 0.864350746, 0.466418202, 3.3717397, 0.85498656}},
    {"DD", 'P', 2, {0.895993202, 0.895993202, 0.424540497, 4.76698303, 1.02910018}},
};

static void rigid_links_have_the_specified_radii(void **state) {
  (void)state;
  static const point points[] = {
      {-0.2, 1.5, symmetrical}, {-0.2, 1.5, heavy}, {-0.2, 1.5, damped}, {-0.2, 1.5, fast}, {-0.2, 1.5, doubled}};
  for (size_t i = 0; i < sizeof links / sizeof *links; ++i) {
    const yoke_test_method method = method_of(links[i].decomposition, links[i].family, links[i].order);
    check_row(links[i].decomposition, links[i].family, &method, points, 5, links[i].rho);
  }
}

typedef struct parameter_row {
  char   family;
  int    index;
  double mu, a, b;
  double rho[3]; /* by degree */
} parameter_row;

static const parameter_row parameters[] = {
    {'B', 2, 0.25, 1, 1, {0.529750013, 0.861188126, 1.47014905}},
    {'B', 2, 1, 1, 1, {0.649513611, 0.799011797, 0.868621183}},
    {'B', 2, 5, 1, 1, {0.871551155, 0.9048468, 0.904841416}},
    {'B', 1, 0.25, 1, 1, {0.635954024, 0.796386442, 0.913213511}},
    {'B', 1, 5, 1, 1, {2.06139686, 0.876885416, 0.825560472}},
    {'B', 3, 1, 1, 1, {0.765220979, 2.22636391, 3.44904387}},
    {'W', 2, 1, 0.5, 0, {0.490059324, 1.25098521, 2.29071712}},
    {'W', 2, 1, 1, 0, {0.605706574, 0.860291572, 1.7535386}},
    {'W', 2, 1, 2.5, 0, {0.649851505, 0.829093649, 1.12456182}},
    {'W', 2, 1, 5, 0, {0.711826998, 0.799231683, 0.889441783}},
    {'W', 1, 1, 0.5, 0.25, {0.795238293, 0.779688702, 1.49819069}},
    {'W', 1, 1, 2.5, 5, {1.06476315, 0.683857487, 0.612198309}},
};

static void parameters_of_rigid_links_have_the_specified_radii(void **state) {
  (void)state;
  static const point points[] = {{-0.2, 1.5, doubled}};
  for (size_t i = 0; i < sizeof parameters / sizeof *parameters; ++i) {
    const parameter_row *r = &parameters[i];
    for (int order = 0; order < 3; ++order) {
      yoke_test_method method = method_of("FF", r->family, order);
      method.index            = r->index;
      method.mu               = r->mu;
      method.a                = r->a;
      method.b                = r->b;
      check_row("FF", r->family, &method, points, 1, &r->rho[order]);
    }
  }
}

typedef struct stabilized_row {
  char   family;
  int    order;
  double rho[MAX_COLUMNS];
} stabilized_row;

static const stabilized_row stabilized[] = {
    {'2', 0, {0.904837418, 0.367879441, 0.368969246, 0.830037683, 1}},
    {'2', 1, {1.37147838, 0.482190247, 1.37433762, 0.977085654, 1}},
    {'2', 2, {0.904837418, 0.530940726, 0.545901455, 0.981762245, 1}},
    {'1', 0, {0.904837418, 0.367879441, 0.406926869, 0.831256418, 1}},
    {'1', 1, {0.904837418, 0.367879441, 0.376731558, 0.832404237, 1}},
    {'1', 3, {0.904837418, 0.367879441, 0.371135562, 0.831998077, 1}},
};

static void stabilized_links_have_the_specified_radii(void **state) {
  (void)state;
  static const point points[] = {{-0.1, 9.8, symmetrical},
                                 {-1.0, 5.0, symmetrical},
                                 {-0.1, 9.8, unsymmetrical},
                                 {-0.02, 0.3, unsymmetrical},
                                 {0.0, 3.0, symmetrical}};
  for (size_t i = 0; i < sizeof stabilized / sizeof *stabilized; ++i) {
    const yoke_test_method method = method_of("FF", stabilized[i].family, stabilized[i].order);
    check_row("FF", stabilized[i].family, &method, points, 5, stabilized[i].rho);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coupling_laws_have_the_specified_radii),
      cmocka_unit_test(rigid_links_have_the_specified_radii),
      cmocka_unit_test(parameters_of_rigid_links_have_the_specified_radii),
      cmocka_unit_test(stabilized_links_have_the_specified_radii),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
