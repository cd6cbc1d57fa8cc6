/* vector-math.h: exp, sin and cos of vectors (core/vector.h first). Ours, since the library's differ by processor; the
 * same operations in every lane, so that a voxel's result does not depend on its neighbours.
 * Absolute error below 2e-7 for sin and cos up to some 1000 turns, relative below 2e-7 for exp. */
#pragma once

static inline vf
vexp (vf x)
{
  x = vmax (vmin (x, vset (88.0f)), vset (-87.0f));
  vf n = vround (vmul (x, vset (1.44269504f)));
  vf r = vfnma (n, vset (0.693145752f), x);
  r = vfnma (n, vset (1.42860677e-6f), r);
  vf p = vset (1.0f / 5040);
  p = vfma (p, r, vset (1.0f / 720));
  p = vfma (p, r, vset (1.0f / 120));
  p = vfma (p, r, vset (1.0f / 24));
  p = vfma (p, r, vset (1.0f / 6));
  p = vfma (p, r, vset (0.5f));
  p = vfma (p, r, vset (1.0f));
  p = vfma (p, r, vset (1.0f));
  return vldexp (p, n);
}

/* exp (x) - 1, of which little is left for small x: relative error below 2e-7. */
static inline vf
vexpm1 (vf x)
{
  x = vmax (vmin (x, vset (88.0f)), vset (-87.0f));
  vf n = vround (vmul (x, vset (1.44269504f)));
  vf r = vfnma (n, vset (0.693145752f), x);
  r = vfnma (n, vset (1.42860677e-6f), r);
  vf p = vset (1.0f / 5040);
  p = vfma (p, r, vset (1.0f / 720));
  p = vfma (p, r, vset (1.0f / 120));
  p = vfma (p, r, vset (1.0f / 24));
  p = vfma (p, r, vset (1.0f / 6));
  p = vfma (p, r, vset (0.5f));
  p = vfma (vmul (p, r), r, r);
  vf two = vldexp (vset (1.0f), n);
  return vfma (p, two, vsub (two, vset (1.0f)));
}

static inline void
vsincos (vf x, vf *sine, vf *cosine)
{
  vf n = vround (vmul (x, vset (0.318309886f)));
  vf r = vfnma (n, vset (3.140625f), x);
  r = vfnma (n, vset (9.67502593994140625e-4f), r);
  r = vfnma (n, vset (1.509957990978376432e-7f), r);
  /* (-1)^n: half of an odd n rounds half a unit away. */
  vf sign = vfnma (vset (2.0f), vabs (vfnma (vset (2.0f), vround (vmul (n, vset (0.5f))), n)), vset (1.0f));
  vf q = vmul (r, r);
  vf s = vset (-2.5052108e-8f);
  s = vfma (s, q, vset (2.7557319e-6f));
  s = vfma (s, q, vset (-1.98412698e-4f));
  s = vfma (s, q, vset (8.33333333e-3f));
  s = vfma (s, q, vset (-1.66666667e-1f));
  s = vfma (vmul (s, q), r, r);
  vf c = vset (2.0876757e-9f);
  c = vfma (c, q, vset (-2.7557319e-7f));
  c = vfma (c, q, vset (2.48015873e-5f));
  c = vfma (c, q, vset (-1.38888889e-3f));
  c = vfma (c, q, vset (4.16666667e-2f));
  c = vfma (c, q, vset (-0.5f));
  c = vfma (c, q, vset (1.0f));
  *sine = vmul (s, sign);
  *cosine = vmul (c, sign);
}
