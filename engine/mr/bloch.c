#include "mr/bloch.h"

#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/placement.h"
#include "mr/bloch-private.h"

#define TILE LAM_BLOCH_TILE
/* Samples of a chunk's signal, in bytes, where the caller leaves the chunk to us. */
#define CHUNK_BYTES (INT64_C (64) << 20)

/* What a voxel is made of. */
enum {
  T1 = LAM_BLOCH_T1,
  T2 = LAM_BLOCH_T2,
  M0 = LAM_BLOCH_M0,
  B0 = LAM_BLOCH_B0,
  B1 = LAM_BLOCH_B1,
  X = LAM_BLOCH_X,
  Y = LAM_BLOCH_Y,
  Z = LAM_BLOCH_Z,
  FIELDS = LAM_BLOCH_QUANTITIES
};
enum { SPIN_X, SPIN_Y, SPIN_Z, SPIN_B0, SPIN_WEIGHT, SPIN_FIELDS };

struct _LamBloch {
  const LamBlochParams *p;
  LamDevices *set;
  LamBlochBuilt built;
  LamPlan *plan;
  LamPlacement placement; /* voxels */
  int64_t spins, samples, chunk;
  int64_t voxels_per_tile, tiles_per_voxel; /* one of them is 1 */
  int rows;                                 /* of derivatives */
  int tangents, m0_row, row[LAM_BLOCH_QUANTITIES];
  LamBlochQuantity by[LAM_BLOCH_QUANTITIES]; /* of the tangents: all but M0, with their rows */
  int64_t scratch;                           /* bytes a worker */
  const double *field[FIELDS], *spin[SPIN_FIELDS];
};

static const double defaults[FIELDS] = {INFINITY, INFINITY, 1, 0, 1, 0, 0, 0};

const LamBlochKernels *
lam_bloch_kernels (void)
{
#if defined(__x86_64__)
  switch (lam_isa ()) {
  case LAM_ISA_AVX512:
    return &lam_bloch_kernels_avx512;
  case LAM_ISA_AVX2:
    return &lam_bloch_kernels_avx2;
  case LAM_ISA_SCALAR:
    break;
  }
#endif
  return &lam_bloch_kernels_scalar;
}

void
lam_bloch_params_init (LamBlochParams *p)
{
  *p = (LamBlochParams){.f0_hz = NAN};
}

void
lam_bloch_spread_even (double width, int64_t n, double *offset)
{
  for (int64_t i = 0; i < n; i++)
    offset[i] = width * (((double) i + 0.5) / (double) n - 0.5);
}

void
lam_bloch_spread_box (const double size[3], int64_t n, double *x, double *y, double *z)
{
  double *out[3] = {x, y, z};
  int longest = size[1] > size[0] ? 1 : 0;
  longest = size[2] > size[longest] ? 2 : longest;
  for (int64_t i = 0; i < n; i++) {
    double k = (double) i + 0.5, part[3] = {k / (double) n, k * 0.7548776662466927, k * 0.5698402909980532};
    for (int c = 0; c < 3; c++) {
      int axis = (longest + c) % 3;
      out[axis][i] = (part[c] - floor (part[c]) - 0.5) * size[axis];
    }
  }
}

void
lam_bloch_spread_lorentzian (double t2_prime_ms, int64_t n, double *offset)
{
  double half = 1000 / (2 * G_PI * t2_prime_ms); /* half width at half maximum, Hz */
  for (int64_t i = 0; i < n; i++)
    offset[i] = half * tan (G_PI * (((double) i + 0.5) / (double) n - 0.5));
}

/* ---- checks ---- */

static gboolean
check_field (const double *values, int64_t n, const char *name, gboolean above_0, gboolean infinite, double *most,
             GError **error)
{
  for (int64_t i = 0; values && i < n; i++) {
    if (isnan (values[i]) || (!infinite && isinf (values[i])) || (above_0 && !(values[i] > 0))) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "%s of voxel %" G_GINT64_FORMAT " is %.6g; expected %s number%s", name, i, values[i],
                   infinite ? "a" : "a finite", above_0 ? " above 0" : "");
      return FALSE;
    }
    *most = fmax (*most, fabs (values[i]));
  }
  return TRUE;
}

static const char *const names[FIELDS] = {"T1", "T2", "M0", "B0", "B1", "x", "y", "z"};

/* Picks are numbers of samples, each larger than the one before. */
static gboolean
check_picks (const LamBlochParams *p, const LamPulseqTiming *t, GError **error)
{
  for (int64_t i = 0; i < p->n_picks; i++)
    if (p->picks[i] < (i ? p->picks[i - 1] + 1 : 0) || p->picks[i] >= t->samples) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "sample %" G_GINT64_FORMAT " is wanted after %" G_GINT64_FORMAT "; expected growing numbers below "
                   "%" G_GINT64_FORMAT,
                   p->picks[i], i ? p->picks[i - 1] : -1, t->samples);
      return FALSE;
    }
  return TRUE;
}

/* M0 is a factor; all else has a tangent. */
static gboolean
take_by (LamBloch *b, GError **error)
{
  const LamBlochParams *p = b->p;
  b->m0_row = -1;
  for (int i = 0; i < p->n_by; i++) {
    gboolean twice = FALSE, known = (int) p->by[i] >= 0 && (int) p->by[i] < (int) FIELDS;
    for (int j = 0; j < i; j++)
      twice |= p->by[j] == p->by[i];
    if (twice || !known) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s to derive by %s", known ? names[p->by[i]] : "a quantity",
                   known ? "is there twice" : "is none of a voxel");
      return FALSE;
    }
    if (p->by[i] == LAM_BLOCH_M0)
      b->m0_row = i;
    else {
      b->by[b->tangents] = p->by[i];
      b->row[b->tangents++] = i;
    }
  }
  b->rows = p->n_by;
  return TRUE;
}

static gboolean
check_params (LamBloch *b, const LamPulseqTiming *t, LamBlochReach *reach, GError **error)
{
  const LamBlochParams *p = b->p;
  static const char *const spin_names[SPIN_FIELDS] = {"spin x", "spin y", "spin z", "spin B0", "spin weight"};
  double most[FIELDS], spin_most[SPIN_FIELDS] = {0, 0, 0, 0, 0};
  if (p->voxels < 1 || p->spins < 0 || p->spins > G_MAXINT32) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "there are %" G_GINT64_FORMAT " voxels of %" G_GINT64_FORMAT " spins; expected 1 or more of each",
                 p->voxels, p->spins);
    return FALSE;
  }
  for (int i = 0; i < FIELDS; i++) {
    most[i] = b->field[i] || i < M0 ? 0 : fabs (defaults[i]);
    if (!check_field (b->field[i], p->voxels, names[i], i <= T2, i <= T2, &most[i], error))
      return FALSE;
  }
  for (int i = 0; i < SPIN_FIELDS; i++)
    if (!check_field (b->spin[i], b->spins, spin_names[i], FALSE, FALSE, &spin_most[i], error))
      return FALSE;
  if (isnan (p->f0_hz) && lam_pulseq_needs_f0 (t->seq)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                 "the sequence has offsets in ppm, so the scanner's frequency must be known: give its field "
                 "(--field on the command line)");
    return FALSE;
  }
  if (p->first < 0 || p->count < 0 || p->first > t->samples || p->count > t->samples - p->first) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "samples from %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                 " of them, are wanted; the sequence has %" G_GINT64_FORMAT,
                 p->first, p->count, t->samples);
    return FALSE;
  }
  if (!check_picks (p, t, error) || !take_by (b, error))
    return FALSE;
  *reach = (LamBlochReach){.b0 = most[B0] + spin_most[SPIN_B0],
                           .b1 = most[B1],
                           .x = most[X] + spin_most[SPIN_X],
                           .y = most[Y] + spin_most[SPIN_Y],
                           .z = most[Z] + spin_most[SPIN_Z]};
  return TRUE;
}

/* ---- making it ---- */

static void
write_plan (LamBloch *b)
{
  int64_t threads = lam_pool_threads (lam_devices_pool (b->set));
  g_clear_pointer (&b->plan, lam_plan_unref);
  b->plan = lam_plan_new (b->set);
  lam_plan_set_parts (b->plan, "voxels at a time", "--chunk on the command line", b->chunk);
  int phase = lam_plan_add_phase (b->plan, "simulate");
  for (int d = 0; d < b->placement.devices; d++) {
    int64_t voxels = lam_placement_count (&b->placement, d), chunk = b->chunk;
    if (voxels == 0)
      continue;
    int64_t signal = lam_mul_size (lam_mul_size (chunk, b->samples), 2 * sizeof (float));
    lam_plan_add_buffer (b->plan, d, "signal", signal, phase, phase);
    if (b->rows > 0)
      lam_plan_add_buffer (b->plan, d, "derivatives", lam_mul_size (signal, b->rows), phase, phase);
    lam_plan_add_buffer (b->plan, d, "tissue", lam_mul_size (chunk, FIELDS * sizeof (double)), phase, phase);
    lam_plan_add_buffer (b->plan, d, "spins", lam_mul_size (b->spins, SPIN_FIELDS * sizeof (double)), phase, phase);
    lam_plan_add_buffer (b->plan, d, "scratch", lam_mul_size (threads, b->scratch), phase, phase);
    lam_plan_add_copy (b->plan, "tissue", LAM_HOST, d, lam_mul_size (voxels, FIELDS * sizeof (double)), phase);
    lam_plan_add_copy (b->plan, "spins", LAM_HOST, d, lam_mul_size (b->spins, SPIN_FIELDS * sizeof (double)), phase);
    signal = lam_mul_size (lam_mul_size (voxels, b->samples), 2 * sizeof (float));
    lam_plan_add_copy (b->plan, "signal", d, LAM_HOST, signal, phase);
    if (b->rows > 0)
      lam_plan_add_copy (b->plan, "derivatives", d, LAM_HOST, lam_mul_size (signal, b->rows), phase);
  }
}

LamBloch *
lam_bloch_new (const LamPulseqTiming *t, const LamBlochParams *p, LamDevices *set, GError **error)
{
  LamBloch *b = g_new0 (LamBloch, 1);
  LamBlochReach reach;
  const double *field[FIELDS] = {p->t1_ms, p->t2_ms, p->m0, p->b0_hz, p->b1, p->x, p->y, p->z};
  const double *spin[SPIN_FIELDS] = {p->spin_x, p->spin_y, p->spin_z, p->spin_b0, p->spin_weight};
  b->p = p;
  b->set = lam_devices_ref (set);
  b->spins = LAM_MAX (p->spins, 1);
  memcpy (b->field, field, sizeof field);
  memcpy (b->spin, spin, sizeof spin);
  if (!check_params (b, t, &reach, error)) {
    lam_bloch_free (b);
    return NULL;
  }
  b->samples = p->picks ? p->n_picks : p->count ? p->count : t->samples - p->first;
  b->voxels_per_tile = LAM_MAX (TILE / b->spins, 1);
  b->tiles_per_voxel = (b->spins + TILE - 1) / TILE;
  b->placement = lam_placement_split (p->voxels, 1, 0, lam_devices_count (set));
  b->chunk =
      p->chunk > 0 ? p->chunk : CHUNK_BYTES / LAM_MAX (b->samples * (1 + b->rows) * 2 * (int64_t) sizeof (float), 1);
  b->chunk = LAM_CLAMP (lam_round_up (b->chunk, b->voxels_per_tile), 1, LAM_MAX (b->placement.largest, 1));
  /* A signal that does not fit is refused before the program, which is as long as a readout, is made. */
  write_plan (b);
  if (!lam_plan_fits (b->plan, error) || !lam_bloch_build (&b->built, t, &reach, p, error)) {
    lam_bloch_free (b);
    return NULL;
  }
  /* Maps, their marks, a piece of a readout, and a tile's numbers: 4 doubles and 7 floats a lane; of tangents what they share
   * and the state of each. */
  int64_t each = 1 + b->tangents;
  b->scratch = lam_round_up (b->built.program.maps * (each * LAM_BLOCH_MAP * TILE * 4 + 1), LAM_ALIGN)
               + each * 2 * LAM_BLOCH_PIECE * TILE * 4 + TILE * (4 * 8 + 7 * 4) + LAM_ALIGN
               + TILE * 3 * 4 * (each + (b->rows > 0));
  b->scratch = lam_round_up (b->scratch, LAM_ALIGN);
  write_plan (b);
  return b;
}

void
lam_bloch_free (LamBloch *b)
{
  if (!b)
    return;
  lam_bloch_built_clear (&b->built);
  lam_plan_unref (b->plan);
  lam_devices_unref (b->set);
  g_free (b);
}

LamPlan *
lam_bloch_plan (LamBloch *b)
{
  return b->plan;
}

int64_t
lam_bloch_samples (const LamBloch *b)
{
  return b->samples;
}

int64_t
lam_bloch_maps (const LamBloch *b)
{
  return b->built.program.maps;
}

/* ---- running it ---- */

typedef struct {
  LamBloch *b;
  float *re, *im, *d_re, *d_im; /* of the caller */
  LamControl *control;
  int64_t round; /* which chunk of each device */
} Run;

typedef struct {
  const Run *run;
  int64_t voxels, base; /* of the chunk; voxel number of its first */
  float *re, *im, *d_re, *d_im;
  const double *tissue, *spins;
  char *scratch;
} Chunk;

static double
field_of (const Chunk *c, int field, int64_t voxel)
{
  return c->run->b->field[field] ? c->tissue[field * c->run->b->chunk + voxel] : defaults[field];
}

static double
spin_of (const Chunk *c, int field, int64_t spin)
{
  const LamBloch *b = c->run->b;
  return b->spin[field] ? c->spins[field * b->spins + spin] : field == SPIN_WEIGHT ? 1 / (double) b->spins : 0;
}

/* A tile's lanes: @voxels from @v0 on, their spins from @s0 on. */
static void
fill_lanes (const Chunk *c, LamBlochArgs *a, int64_t v0, int64_t voxels, int64_t s0, int64_t spins)
{
  double *b0 = (double *) a->b0, *x = (double *) a->x, *y = (double *) a->y, *z = (double *) a->z;
  float *b1 = (float *) a->b1, *r1 = (float *) a->r1, *r2 = (float *) a->r2, *weight = (float *) a->weight;
  a->lanes = voxels * spins;
  a->spins = spins;
  for (int64_t l = 0; l < TILE; l++) {
    int64_t v = v0 + LAM_MIN (l / spins, voxels - 1), s = s0 + l % spins; /* lanes to spare do as the last voxel does */
    b0[l] = field_of (c, B0, v) + spin_of (c, SPIN_B0, s);
    x[l] = field_of (c, X, v) + spin_of (c, SPIN_X, s);
    y[l] = field_of (c, Y, v) + spin_of (c, SPIN_Y, s);
    z[l] = field_of (c, Z, v) + spin_of (c, SPIN_Z, s);
    b1[l] = (float) field_of (c, B1, v);
    r1[l] = (float) (1000 / field_of (c, T1, v));
    r2[l] = (float) (1000 / field_of (c, T2, v));
    weight[l] = (float) (field_of (c, M0, v) * spin_of (c, SPIN_WEIGHT, s));
    a->mx[l] = a->my[l] = 0;
    a->mz[l] = 1;
    if (a->rows > 0) {
      double t1 = field_of (c, T1, v), t2 = field_of (c, T2, v);
      ((float *) a->dr1)[l] = (float) (-1000 / t1 / t1);
      ((float *) a->dr2)[l] = (float) (-1000 / t2 / t2);
      ((float *) a->unit_weight)[l] = (float) spin_of (c, SPIN_WEIGHT, s);
    }
  }
  for (int64_t i = 0; i < a->tangents * TILE; i++)
    a->tx[i] = a->ty[i] = a->tz[i] = 0;
}

static void
run_tile (int64_t index, int worker, void *data)
{
  const Chunk *c = data;
  LamBloch *b = c->run->b;
  char *at = c->scratch + worker * b->scratch;
  int64_t maps = b->built.program.maps, v0 = index * b->voxels_per_tile;
  LamBlochArgs a = {.program = &b->built.program,
                    .first = b->p->picks ? 0 : b->p->first,
                    .count = b->samples,
                    .re = c->re + v0 * b->samples,
                    .im = c->im + v0 * b->samples,
                    .stride = b->samples,
                    .cancel = c->run->control ? &c->run->control->cancel : NULL,
                    .permille = index == 0 ? b->p->permille : NULL,
                    .tangents = b->tangents,
                    .rows = b->rows,
                    .m0_row = b->m0_row};
  if (b->rows > 0) {
    a.dre = c->d_re + v0 * b->rows * b->samples;
    a.dim = c->d_im + v0 * b->rows * b->samples;
    memcpy (a.by, b->by, sizeof a.by);
    memcpy (a.row, b->row, sizeof a.row);
  }
#define TAKE(to, type, n) (to = (void *) at, at += (n) * sizeof (type))
  TAKE (a.b0, double, TILE);
  TAKE (a.x, double, TILE);
  TAKE (a.y, double, TILE);
  TAKE (a.z, double, TILE);
  TAKE (a.b1, float, TILE);
  TAKE (a.r1, float, TILE);
  TAKE (a.r2, float, TILE);
  TAKE (a.weight, float, TILE);
  TAKE (a.mx, float, TILE);
  TAKE (a.my, float, TILE);
  TAKE (a.mz, float, TILE);
  if (b->rows > 0) {
    TAKE (a.dr1, float, TILE);
    TAKE (a.dr2, float, TILE);
    TAKE (a.unit_weight, float, TILE);
    TAKE (a.tx, float, b->tangents *TILE);
    TAKE (a.ty, float, b->tangents *TILE);
    TAKE (a.tz, float, b->tangents *TILE);
  }
  TAKE (a.piece, float, (1 + b->tangents) * 2 * LAM_BLOCH_PIECE * TILE);
  TAKE (a.maps, float, maps *(1 + b->tangents) * LAM_BLOCH_MAP * TILE);
  TAKE (a.made, uint8_t, maps);
#undef TAKE
  for (int64_t part = 0; part < b->tiles_per_voxel; part++) {
    int64_t s0 = part * TILE, spins = LAM_MIN (b->spins - s0, TILE);
    fill_lanes (c, &a, v0, LAM_MIN (c->voxels - v0, b->voxels_per_tile), s0, spins);
    if (maps > 0)
      memset (a.made, 0, maps);
    a.add = part > 0;
    if (lam_bloch_kernels ()->run (&a) != LAM_OK)
      return; /* cancelled, which the caller finds out by itself */
  }
}

static gboolean
run_device (LamDevice *device, void *data, GError **error)
{
  Run *r = data;
  LamBloch *b = r->b;
  LamRange range = b->placement.range[device->index];
  int64_t from = range.begin + r->round * b->chunk, to = LAM_MIN (from + b->chunk, range.end), n = to - from;
  int64_t pitch = b->samples * (int64_t) sizeof (float);
  int d = device->index;
  if (n <= 0)
    return TRUE;
  double *tissue = lam_plan_get (b->plan, d, "tissue"), *spins = lam_plan_get (b->plan, d, "spins");
  float *signal = lam_plan_get (b->plan, d, "signal");
  for (int i = 0; i < FIELDS; i++)
    if (b->field[i])
      lam_copy (b->set, d, tissue + i * b->chunk, 0, LAM_HOST, b->field[i] + from, 0, n * (int64_t) sizeof (double), 1);
  for (int i = 0; i < SPIN_FIELDS && r->round == 0; i++)
    if (b->spin[i])
      lam_copy (b->set, d, spins + i * b->spins, 0, LAM_HOST, b->spin[i], 0, b->spins * (int64_t) sizeof (double), 1);
  Chunk c = {.run = r,
             .voxels = n,
             .base = from,
             .re = signal,
             .im = signal + b->chunk * b->samples,
             .tissue = tissue,
             .spins = spins,
             .scratch = lam_plan_get (b->plan, d, "scratch")};
  if (b->rows > 0) {
    c.d_re = lam_plan_get (b->plan, d, "derivatives");
    c.d_im = c.d_re + b->chunk * b->rows * b->samples;
  }
  lam_device_for (device, (n + b->voxels_per_tile - 1) / b->voxels_per_tile, run_tile, &c);
  if (lam_control_cancelled (r->control))
    return TRUE;
  lam_copy (b->set, LAM_HOST, r->re + from * b->samples, pitch, d, c.re, pitch, pitch, n);
  lam_copy (b->set, LAM_HOST, r->im + from * b->samples, pitch, d, c.im, pitch, pitch, n);
  if (b->rows > 0) {
    int64_t at = from * b->rows * b->samples;
    lam_copy (b->set, LAM_HOST, r->d_re + at, pitch, d, c.d_re, pitch, pitch, n * b->rows);
    lam_copy (b->set, LAM_HOST, r->d_im + at, pitch, d, c.d_im, pitch, pitch, n * b->rows);
  }
  return TRUE;
}

gboolean
lam_bloch_run (LamBloch *b, float *re, float *im, LamControl *control, GError **error)
{
  g_return_val_if_fail (b->rows == 0, FALSE);
  return lam_bloch_jacobian (b, re, im, NULL, NULL, control, error);
}

gboolean
lam_bloch_jacobian (LamBloch *b, float *re, float *im, float *d_re, float *d_im, LamControl *control, GError **error)
{
  static const char *const buffers[] = {"signal", "tissue", "spins", "scratch", "derivatives"};
  const guint n_buffers = b->rows > 0 ? G_N_ELEMENTS (buffers) : G_N_ELEMENTS (buffers) - 1;
  Run r = {b, re, im, d_re, d_im, control, 0};
  int64_t rounds = (b->placement.largest + b->chunk - 1) / b->chunk;
  gboolean ok = lam_plan_fits (b->plan, error);
  if (b->samples == 0)
    return TRUE;
  for (int d = 0; ok && d < b->placement.devices; d++)
    for (guint i = 0; ok && i < n_buffers && lam_placement_count (&b->placement, d) > 0; i++)
      ok = lam_plan_take (b->plan, d, buffers[i], error) != NULL;
  for (; ok && r.round < rounds; r.round++) {
    lam_control_progress (control, "simulating", (double) r.round, (double) rounds);
    ok = lam_control_go_on (control, error) && lam_devices_run (b->set, run_device, &r, error)
         && (!lam_control_cancelled (control) || lam_control_go_on (control, error));
  }
  if (ok)
    lam_control_progress (control, "simulating", (double) rounds, (double) rounds);
  lam_plan_release_all (b->plan);
  return ok;
}

gboolean
lam_bloch_simulate (LamPulseq *seq, const LamBlochParams *params, LamDevices *set, LamControl *control, float **re,
                    float **im, int64_t *samples, GError **error)
{
  *re = *im = NULL;
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (seq, error);
  g_autoptr (LamBloch) b = t ? lam_bloch_new (t, params, set, error) : NULL;
  if (!b)
    return FALSE;
  *samples = b->samples;
  int64_t n = lam_mul_size (params->voxels, b->samples);
  if ((*re = lam_alloc_n (n, sizeof **re, "signal", error)) && (*im = lam_alloc_n (n, sizeof **im, "signal", error))
      && lam_bloch_run (b, *re, *im, control, error))
    return TRUE;
  lam_free (*re);
  lam_free (*im);
  *re = *im = NULL;
  return FALSE;
}
