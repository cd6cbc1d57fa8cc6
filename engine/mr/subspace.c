/* subspace.c: the eigenvectors of S^H S, S the signals as rows: K x K however many signals there are. */
#include "mr/subspace.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "mr/match-kernels.h"

/* Signals summed at a time: floats of a row of the block. */
#define BLOCK 1024
#define SIDE LAM_MATCH_SQUARE

typedef struct {
  const float *re, *im;
  int64_t rows, length, first, n; /* the block */
  int parts;                      /* doubles of a number: 1, or 2 for complex */
  float *block;                   /* [parts][sides SIDE][BLOCK]: contrasts are rows there */
  double *gram;                   /* [length][length]: the upper triangle */
} Sum;

static int64_t
sides (const Sum *s)
{
  return (s->length + SIDE - 1) / SIDE;
}

static float *
block_of (const Sum *s, int part, int64_t side)
{
  return s->block + (part * sides (s) + side) * SIDE * BLOCK;
}

/* SIDE contrasts of the block's signals, 0 where there are none. */
static void
turn (int64_t side, int worker, void *data)
{
  Sum *s = data;
  for (int part = 0; part < s->parts; part++) {
    const float *from = part ? s->im : s->re;
    float *to = block_of (s, part, side);
    for (int64_t a = 0; a < BLOCK; a++)
      for (int64_t k = side * SIDE; k < (side + 1) * SIDE; k++)
        to[(k - side * SIDE) * BLOCK + a] = a < s->n && k < s->length ? from[(s->first + a) * s->length + k] : 0;
  }
}

/* SIDE rows of the sum: blocks follow each other in one order, so that it is the same for any number of threads. */
static void
add_block (int64_t side, int worker, void *data)
{
  Sum *s = data;
  lam_fp_setup ();
  for (int64_t other = side; other < sides (s); other++)
    for (int p = 0; p < s->parts; p++)
      for (int q = 0; q < s->parts; q++) {
        double sum[SIDE * SIDE];
        lam_match_kernels ()->square (block_of (s, p, side), block_of (s, q, other), BLOCK, BLOCK, sum);
        for (int i = 0; i < SIDE; i++)
          for (int j = 0; j < SIDE; j++) {
            int64_t row = side * SIDE + i, column = other * SIDE + j;
            if (row >= s->length || column >= s->length)
              continue;
            /* conj (x) y: re re + im im, and i (re im - im re) */
            double *to = s->gram + (row * s->length + column) * s->parts + (p != q);
            *to += p == 1 && q == 0 ? -sum[i * SIDE + j] : sum[i * SIDE + j];
          }
      }
}

static gboolean
sum_squares (Sum *s, LamDevices *devices, LamControl *control, GError **error)
{
  LamPool *pool = lam_devices_pool (devices);
  for (s->first = 0; s->first < s->rows; s->first += BLOCK) {
    s->n = MIN (BLOCK, s->rows - s->first);
    if (!lam_control_go_on (control, error))
      return FALSE;
    lam_pool_for (pool, sides (s), turn, s, NULL);
    lam_pool_for (pool, sides (s), add_block, s, NULL);
    lam_control_progress (control, "compressing", (double) (s->first + s->n), (double) s->rows);
  }
  return TRUE;
}

/* Eigenvectors are found up to a factor of modulus 1: here their largest element is real and positive. */
static void
take_mode (const Sum *s, int64_t column, int64_t mode, LamSubspace *u)
{
  double best = 0, re = 1, im = 0;
  for (int64_t k = 0; k < s->length; k++) {
    const double *x = s->gram + (k * s->length + column) * s->parts;
    double size = s->parts == 2 ? hypot (x[0], x[1]) : fabs (x[0]);
    if (size > best * (1 + 1e-6)) {
      best = size;
      re = x[0] / size;
      im = s->parts == 2 ? x[1] / size : 0;
    }
  }
  for (int64_t k = 0; k < s->length; k++) {
    const double *x = s->gram + (k * s->length + column) * s->parts;
    /* S^H S has V of S = c V^H: U is its conjugate. */
    double a = s->parts == 2 ? x[0] * re + x[1] * im : x[0] * re, b = s->parts == 2 ? x[1] * re - x[0] * im : 0;
    u->re[mode * s->length + k] = (float) a;
    if (u->im)
      u->im[mode * s->length + k] = (float) -b;
  }
}

static gboolean
choose_rank (LamSubspace *u, int rank, double energy, GError **error)
{
  int kept = 0;
  while (kept < u->values && u->singular[kept] > 1e-7 * u->singular[0])
    kept++;
  if (u->values == 0 || !(u->singular[0] > 0)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "the signals are all zero: there is nothing to compress");
    return FALSE;
  }
  if (rank > u->values) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "a rank of %d is asked for, and the signals have at most %d",
                 rank, u->values);
    return FALSE;
  }
  u->rank = rank;
  for (u->rank = rank > 0 ? rank : 1; rank <= 0 && u->rank < kept && lam_subspace_energy (u, u->rank) < energy;)
    u->rank++;
  u->retained = lam_subspace_energy (u, u->rank);
  return TRUE;
}

static gboolean
solve (Sum *s, int rank, double energy, LamSubspace *u, GError **error)
{
  int n = (int) s->length;
  g_autofree double *w = g_try_new (double, n);
  int info = !w ? LAPACK_WORK_MEMORY_ERROR
             : s->parts == 1
                 ? LAPACKE_dsyevd (LAPACK_ROW_MAJOR, 'V', 'U', n, s->gram, n, w)
                 : LAPACKE_zheevd (LAPACK_ROW_MAJOR, 'V', 'U', n, (lapack_complex_double *) (void *) s->gram, n, w);
  if (info != 0) {
    g_set_error (error, LAM_ERROR, info < -1000 ? LAM_ERROR_NO_MEMORY : LAM_ERROR_FAILED,
                 info < -1000 ? "compressing: there is no memory for %d contrasts"
                              : "compressing: the singular values of %d contrasts were not found",
                 n);
    return FALSE;
  }
  u->values = (int) MIN (s->length, s->rows);
  u->singular = g_new (double, u->values);
  for (int i = 0; i < u->values; i++) /* rising, and what should be 0 may be below */
    u->singular[i] = sqrt (MAX (w[n - 1 - i], 0));
  if (!choose_rank (u, rank, energy, error))
    return FALSE;
  u->re = lam_alloc_n (lam_mul_size (u->rank, s->length), 4, "basis", error);
  if (s->parts == 2 && u->re)
    u->im = lam_alloc_n (lam_mul_size (u->rank, s->length), 4, "basis", error);
  if (!u->re || (s->parts == 2 && !u->im))
    return FALSE;
  for (int i = 0; i < u->rank; i++)
    take_mode (s, n - 1 - i, i, u);
  return TRUE;
}

LamSubspace *
lam_subspace_new (const float *re, const float *im, int64_t rows, int64_t length, int rank, double energy,
                  LamDevices *devices, LamControl *control, GError **error)
{
  Sum s = {.re = re, .im = im, .rows = rows, .length = length, .parts = im ? 2 : 1};
  g_autoptr (LamSubspace) u = g_new0 (LamSubspace, 1);
  u->length = length;
  if (rows < 1 || length < 1 || length > 46340) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%" G_GINT64_FORMAT " signals of %" G_GINT64_FORMAT " contrasts cannot be compressed (1 to 46340)",
                 rows, length);
    return NULL;
  }
  s.block = lam_alloc_n (sides (&s) * SIDE, BLOCK * 4 * s.parts, "signals by contrast", error);
  s.gram = s.block ? lam_alloc_n (lam_mul_size (length, length), 8 * s.parts, "products of contrasts", error) : NULL;
  gboolean ok = s.gram != NULL;
  if (ok) {
    memset (s.gram, 0, length * length * 8 * s.parts);
    ok = sum_squares (&s, devices, control, error) && solve (&s, rank, energy, u, error);
  }
  lam_free (s.block);
  lam_free (s.gram);
  return ok ? g_steal_pointer (&u) : NULL;
}

void
lam_subspace_free (LamSubspace *s)
{
  lam_free (s->re);
  lam_free (s->im);
  g_free (s->singular);
  g_free (s);
}

void
lam_subspace_project (const LamSubspace *s, int rank, const float *re, const float *im, double *c_re, double *c_im)
{
  int64_t n = s->length;
  for (int r = 0; r < rank; r++) {
    const float *u = s->re + r * n, *v = s->im ? s->im + r * n : NULL;
    c_re[r] = lam_dot (re, u, n) + (im && v ? lam_dot (im, v, n) : 0);
    if (c_im)
      c_im[r] = (im ? lam_dot (im, u, n) : 0) - (v ? lam_dot (re, v, n) : 0);
  }
}

void
lam_subspace_expand (const LamSubspace *s, int rank, const double *c_re, const double *c_im, float *re, float *im)
{
  for (int64_t k = 0; k < s->length; k++) {
    double a = 0, b = 0;
    for (int r = 0; r < rank; r++) {
      double x = c_re[r], y = c_im ? c_im[r] : 0, p = s->re[r * s->length + k],
             q = s->im ? s->im[r * s->length + k] : 0;
      a += x * p - y * q;
      b += y * p + x * q;
    }
    re[k] = (float) a;
    if (im)
      im[k] = (float) b;
  }
}

double
lam_subspace_energy (const LamSubspace *s, int rank)
{
  double kept = 0, all = 0;
  for (int i = 0; i < s->values; i++) {
    all += s->singular[i] * s->singular[i];
    kept += i < rank ? s->singular[i] * s->singular[i] : 0;
  }
  return kept / all;
}
