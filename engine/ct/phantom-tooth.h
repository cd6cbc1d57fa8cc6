/* phantom-tooth.h: the tooth phantom's density; used by phantom.c. */
#pragma once

/* Density at a point of the cube [-1, 1]^3; z = -1 is the crown. @edge is half the width over which borders are
 * smoothed. Enamel 1, dentine 0.55, pulp 0.12. */
double lam_phantom_tooth (double x, double y, double z, double edge);
