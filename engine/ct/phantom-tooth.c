/* A two-rooted molar as signed distances (negative inside), approximate but smooth:
 *   body = crown joined smoothly to two tapering roots; enamel = the outer shell of the crown, thinning to nothing at
 *   the neck; pulp = a chamber with two horns and one canal in each root; the crack = a thin wavy sheet that enters
 *   from the chewing surface and ends in the dentine. */
#include "ct/phantom-tooth.h"

#include <math.h>

#define ENAMEL 1.0
#define DENTINE 0.55
#define PULP 0.12

static double
clamp (double x, double lo, double hi)
{
  return fmin (fmax (x, lo), hi);
}

/* 0 below @from, 1 above @to, smooth between. */
static double
ramp (double x, double from, double to)
{
  double t = clamp ((x - from) / (to - from), 0, 1);
  return t * t * (3 - 2 * t);
}

/* The union of two bodies with a rounded seam of size @k. */
static double
join (double a, double b, double k)
{
  double h = clamp (0.5 + 0.5 * (b - a) / k, 0, 1);
  return b + (a - b) * h - k * h * (1 - h);
}

/* How much of the border's width around distance @d lies inside. */
static double
inside (double d, double edge)
{
  return clamp (0.5 - 0.5 * d / edge, 0, 1);
}

static double
crown_distance (double x, double y, double z)
{
  double angle = atan2 (y, x), radius = hypot (x / 1.08, y);
  double side = .64 + .05 * ramp (z, -.75, -.35) - .15 * ramp (z, -.35, .15) - .3 * ramp (z, .1, .5);
  side *= 1 + .045 * cos (4 * angle) - .02 * cos (3 * angle + .6);
  /* Four cusps about a fossa with grooves along x and y. */
  double r = radius / .64;
  double top = -.60 - .26 * r * r * (.55 + .45 * pow (sin (2 * angle), 2)) + .30 * pow (fmax (r - .75, 0) / .25, 2);
  return fmax (fmax (radius - side, (top - z) * .8), z - .45);
}

static double
root_distance (double x, double y, double z, double sign)
{
  double axis = sign * (.20 + .17 * ramp (z, .1, .8)), bend = .05 * sin (3 * z + sign);
  double size = .30 - .20 * ramp (z, .1, .95);
  double d = hypot (x - axis, (y - bend) / 1.35) - size;
  return fmax (fmax (d, z - .92 + .4 * d * d), -.05 - z);
}

static double
pulp_distance (double x, double y, double z)
{
  double chamber = hypot (hypot (x / .30, y / .22), (z + .08) / .26);
  double d = (chamber - 1) * .22;
  for (int s = -1; s <= 1; s += 2) {
    double horn = hypot (x - s * .17, y) - .055 * ramp (z, -.5, -.25);
    d = join (d, fmax (horn, fmax (-.48 - z, z)), .05);
    double axis = s * (.20 + .17 * ramp (z, .1, .8)), bend = .05 * sin (3 * z + s);
    double canal = hypot (x - axis, y - bend) - (.06 - .035 * ramp (z, .1, .85));
    d = join (d, fmax (canal, fmax (-z, z - .86)), .05);
  }
  return d;
}

double
lam_phantom_tooth (double x, double y, double z, double edge)
{
  /* The tooth stands a little off the axis and turned, so that left, right, front and back can be told apart. */
  const double c = cos (.35), s = sin (.35);
  double u = c * (x - .04) + s * (y + .03), v = -s * (x - .04) + c * (y + .03);
  double crown = crown_distance (u, v, z);
  double body = join (crown, join (root_distance (u, v, z, -1), root_distance (u, v, z, 1), .08), .12);
  double in = inside (body, edge);
  if (in == 0)
    return 0;

  double thickness = .15 * (1 - ramp (z, -.45, .02));
  double enamel = thickness > 0 ? inside (-body - thickness, edge) : 0;
  /* A spot of caries under the enamel on one side. */
  double decay = inside (hypot (hypot (u - .50, v - .12), z + .35) - .13, 4 * edge);
  double value = enamel * ENAMEL + (1 - enamel) * DENTINE * (1 + .04 * sin (23 * hypot (u, v)));
  value *= 1 - .45 * decay;
  double pulp = inside (pulp_distance (u, v, z), edge);
  value = pulp * PULP + (1 - pulp) * value;

  double sheet = fabs (v + .35 - .25 * u + .025 * sin (14 * u) + .012 * sin (31 * u + 9 * z));
  double reach = ramp (.42 - fabs (u + .12), 0, .1) * (1 - ramp (z, -.2, .1));
  double crack = reach * inside (sheet - fmax (.011, .6 * edge), fmax (edge, .006));
  return in * value * (1 - .92 * crack);
}
