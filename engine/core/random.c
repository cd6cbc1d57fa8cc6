#include "core/random.h"

#include <math.h>

/* Philox4x32-10: multipliers and key increments of the paper. */
void
lam_random_block (uint64_t key, uint64_t stream, uint64_t index, uint32_t out[4])
{
  uint32_t c[4] = {(uint32_t) index, (uint32_t) (index >> 32), (uint32_t) stream, (uint32_t) (stream >> 32)};
  uint32_t k0 = (uint32_t) key, k1 = (uint32_t) (key >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t) 0xD2511F53u * c[0], b = (uint64_t) 0xCD9E8D57u * c[2];
    uint32_t next[4] = {(uint32_t) (b >> 32) ^ c[1] ^ k0, (uint32_t) b, (uint32_t) (a >> 32) ^ c[3] ^ k1, (uint32_t) a};
    for (int i = 0; i < 4; i++)
      c[i] = next[i];
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; i++)
    out[i] = c[i];
}

void
lam_random_init (LamRandom *random, uint64_t key, uint64_t stream)
{
  *random = (LamRandom){.key = key, .stream = stream};
}

uint32_t
lam_random_u32 (LamRandom *random)
{
  if (random->left == 0) {
    lam_random_block (random->key, random->stream, random->index++, random->words);
    random->left = 4;
  }
  return random->words[4 - random->left--];
}

uint64_t
lam_random_u64 (LamRandom *random)
{
  uint64_t low = lam_random_u32 (random);
  return low | (uint64_t) lam_random_u32 (random) << 32;
}

uint64_t
lam_random_below (LamRandom *random, uint64_t bound)
{
  g_return_val_if_fail (bound > 0, 0);
  /* The first 2^64 mod bound values would make small results likelier: draw again. */
  uint64_t low = -bound % bound, x;
  do
    x = lam_random_u64 (random);
  while (x < low);
  return x % bound;
}

double
lam_random_double (LamRandom *random)
{
  return (double) (lam_random_u64 (random) >> 11) * 0x1p-53;
}

double
lam_random_normal (LamRandom *random)
{
  double u = 1 - lam_random_double (random); /* in (0, 1] */
  return sqrt (-2 * log (u)) * cos (2 * G_PI * lam_random_double (random));
}

/* lgamma () itself writes a global. */
static double
log_factorial (double k)
{
  int sign;
  return lgamma_r (k + 1, &sign);
}

int64_t
lam_random_poisson (LamRandom *random, double mean)
{
  if (!(mean > 0))
    return 0;
  if (mean < 30) {
    double limit = exp (-mean), product = lam_random_double (random);
    int64_t n = 0;
    for (; product > limit; n++)
      product *= lam_random_double (random);
    return n;
  }
  double root = sqrt (mean), log_mean = log (mean);
  double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = lam_random_double (random) - 0.5, v = 1 - lam_random_double (random);
    double us = 0.5 - fabs (u), k = floor ((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r)
      return (int64_t) k;
    if (k < 0 || (us < 0.013 && v > us))
      continue;
    if (log (v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial (k))
      return (int64_t) k;
  }
}

void
lam_random_permute (LamRandom *random, int32_t *values, int64_t n)
{
  for (int64_t i = n - 1; i > 0; i--) {
    int64_t j = (int64_t) lam_random_below (random, (uint64_t) i + 1);
    int32_t t = values[i];
    values[i] = values[j];
    values[j] = t;
  }
}
