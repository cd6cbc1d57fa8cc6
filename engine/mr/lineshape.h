/* lineshape.h: the absorption line of the semisolid pool. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Super-Lorentzian of T2 = 12 us at @offset_hz, in s: the orientation average, with a spline across the middle, where
 * the average has a pole (Morrison and Henkelman, 1995; the knots are those of spec section 2.9). @slope: its derivative
 * by the offset, s/Hz; may be NULL. Offsets beyond the last knot of @reach_hz count as there. */
double lam_lineshape (double offset_hz, double *slope);

G_END_DECLS
