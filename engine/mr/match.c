#include "mr/match.h"

#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/placement.h"
#include "mr/match-kernels.h"

#define RESERVE ((int64_t) 512 << 20)
/* Most bytes of atoms on a device at once, of rows that a thread works on, and voxels whose best are kept. */
#define PIECE_BYTES ((int64_t) 64 << 20)
#define ROWS_BYTES (1 << 20)
#define CHUNK 65536
/* Blocks of atoms between two looks at the control. */
#define BLOCKS 16
/* Voxels that a thread takes at a time where each is short work. */
#define FEW 32
/* Squares of scores that differ by less may stand in either order in float. */
#define CLOSE 4e-6f

/* The problem in the space that is matched in: all contrasts, or the modes of the basis. */
typedef struct {
  const LamDictionary *d;
  const float *atom_re, *atom_im; /* the dictionary's planes; one alone is the real one */
  gboolean turned;                /* ... and is the imaginary part in truth */
  const float *re, *im;
  int64_t voxels, samples;
  int rank;
  int64_t length; /* numbers of an atom or a voxel */
  int64_t sums;   /* products of a score: twice as many for complex atoms */
  gboolean pair;
  int keep;
  LamMatchOptions options;
  int64_t blocks; /* of atoms */
  double *modes;  /* rank > 0: the atoms there, [atoms][1 or 2 parts][rank] */
} Problem;

/* How it is cut. */
typedef struct {
  LamPlacement owner;
  int64_t chunk, piece; /* voxels; blocks of atoms */
  int64_t tile;         /* blocks of rows */
  int64_t scratch;      /* bytes of a thread */
} Cut;

typedef struct {
  Problem *q;
  Cut cut;
  LamMatch *match;
  LamControl *control;
  LamPlan *plan;
  _Atomic int64_t done;
} Run;

typedef struct {
  Run *run;
  char *scratch;
  float *atoms;
  int64_t first_block, n_blocks; /* in atoms */
  int64_t first, n;              /* voxels of the chunk */
  int64_t active, *voxel;        /* those that are matched */
  float *best;
  int32_t *index;
  int64_t first_tile;
} Chunk;

/* ---- voxels and atoms as doubles ---- */

static double
square (const double *re, const double *im, int64_t n)
{
  double sum = 0;
  for (int64_t k = 0; k < n; k++)
    sum += re[k] * re[k] + im[k] * im[k];
  return sum;
}

static void
gather_voxel (const Problem *q, int64_t v, double *x_re, double *x_im)
{
  const float *re = q->re + v * q->samples, *im = q->im ? q->im + v * q->samples : NULL;
  memset (x_im, 0, q->length * sizeof *x_im);
  if (q->rank > 0) {
    lam_subspace_project (q->d->subspace, q->rank, re, im, x_re, im || q->atom_im ? x_im : NULL);
    return;
  }
  for (int64_t k = 0; k < q->length; k++) {
    x_re[k] = re[k];
    if (im)
      x_im[k] = im[k];
  }
}

/* |s|^2 over all contrasts. */
static double
energy_of (const Problem *q, int64_t v)
{
  const float *re = q->re + v * q->samples, *im = q->im ? q->im + v * q->samples : NULL;
  return lam_dot (re, re, q->samples) + (im ? lam_dot (im, im, q->samples) : 0);
}

static int
parts (const Problem *q)
{
  return q->atom_im ? 2 : 1;
}

static void
project_atom (int64_t a, int worker, void *data)
{
  const Problem *q = data;
  double *to = q->modes + a * parts (q) * q->rank;
  lam_fp_setup ();
  lam_subspace_project (q->d->subspace, q->rank, q->atom_re + a * q->samples,
                        q->atom_im ? q->atom_im + a * q->samples : NULL, to, q->atom_im ? to + q->rank : NULL);
}

static double *
scratch_doubles (const Chunk *c, int worker)
{
  return (double *) (void *) (c->scratch + worker * c->run->cut.scratch);
}

static float *
scratch_rows (const Chunk *c, int worker)
{
  return (float *) (void *) (scratch_doubles (c, worker) + 2 * c->run->q->length);
}

/* ---- steps of a chunk ---- */

/* Atoms of a block, of length 1, beside each other; what is missing in the last block is 0 and can never be best. */
static void
pack_block (int64_t index, int worker, void *data)
{
  Chunk *c = data;
  const Problem *q = c->run->q;
  double *re = scratch_doubles (c, worker), *im = re + q->length;
  float *to = c->atoms + index * LAM_MATCH_ATOMS * q->sums;
  int64_t first = (c->first_block + index) * LAM_MATCH_ATOMS;
  lam_fp_setup ();
  for (int l = 0; l < LAM_MATCH_ATOMS; l++) {
    int64_t a = first + l;
    gboolean there = a < q->d->atoms->n;
    for (int64_t k = 0; there && k < q->length; k++) {
      re[k] = q->modes ? q->modes[a * q->sums + k] : q->atom_re[a * q->samples + k];
      im[k] = !q->atom_im ? 0 : q->modes ? q->modes[a * q->sums + q->length + k] : q->atom_im[a * q->samples + k];
    }
    double norm = there ? sqrt (square (re, im, q->length)) : 0;
    for (int64_t k = 0; k < q->sums; k++)
      to[k * LAM_MATCH_ATOMS + l] = norm > 0 ? (float) ((k < q->length ? re[k] : im[k - q->length]) / norm) : 0;
  }
}

static void
look_at_voxels (int64_t index, int worker, void *data)
{
  Chunk *c = data;
  const Problem *q = c->run->q;
  for (int64_t v = c->first + index * FEW; v < MIN (c->first + (index + 1) * FEW, c->first + c->n); v++) {
    double sum = energy_of (q, v);
    c->run->match->state[v] = q->options.mask && !q->options.mask[v] ? LAM_VOXEL_OUTSIDE
                              : !isfinite (sum)                      ? LAM_VOXEL_NOT_FINITE
                              : sum <= 0                             ? LAM_VOXEL_ZERO
                                                                     : LAM_VOXEL_MATCHED;
  }
}

static void
pack_rows (const Problem *q, const Chunk *c, int64_t first, int64_t n, double *re, float *rows)
{
  double *im = re + q->length;
  int64_t step = q->pair ? 2 : 1;
  for (int64_t i = 0; i < n; i++) {
    gather_voxel (q, c->voxel[first + i], re, im);
    double norm = sqrt (square (re, im, q->length)), factor = norm > 0 ? 1 / norm : 0;
    int64_t row = i * step;
    float *to = rows + row / LAM_MATCH_ROWS * LAM_MATCH_ROWS * q->sums + row % LAM_MATCH_ROWS;
    for (int64_t k = 0; k < q->length; k++, to += LAM_MATCH_ROWS) {
      to[0] = (float) (factor * re[k]);
      if (q->pair)
        to[1] = (float) (factor * im[k]);
      if (q->atom_im) { /* conj (a) s in two real sums */
        to[q->length * LAM_MATCH_ROWS] = (float) (factor * im[k]);
        to[q->length * LAM_MATCH_ROWS + 1] = (float) (-factor * re[k]);
      }
    }
  }
}

static void
match_tile (int64_t index, int worker, void *data)
{
  Chunk *c = data;
  Run *r = c->run;
  const Problem *q = r->q;
  int64_t each = LAM_MATCH_ROWS / (q->pair ? 2 : 1), first = (c->first_tile + index) * r->cut.tile * each;
  int64_t n = MIN (r->cut.tile * each, c->active - first), row_blocks = (n + each - 1) / each;
  float *rows = scratch_rows (c, worker);
  lam_fp_setup ();
  if (lam_control_cancelled (r->control))
    return;
  memset (rows, 0, row_blocks * LAM_MATCH_ROWS * q->sums * sizeof *rows);
  pack_rows (q, c, first, n, scratch_doubles (c, worker), rows);
  for (int64_t b = 0; b < c->n_blocks && !lam_control_cancelled (r->control); b += BLOCKS) {
    LamMatchArgs a = {.length = q->sums,
                      .atoms = c->atoms + b * LAM_MATCH_ATOMS * q->sums,
                      .first = (c->first_block + b) * LAM_MATCH_ATOMS,
                      .blocks = MIN (BLOCKS, c->n_blocks - b),
                      .rows = rows,
                      .row_blocks = row_blocks,
                      .pair = q->pair,
                      .keep = q->keep,
                      .best = c->best + first * q->keep,
                      .atom = c->index + first * q->keep};
    lam_match_kernels ()->match (&a);
  }
}

typedef struct {
  int32_t atom;
  double score, re, im, square; /* <a, s> and |a|^2 */
} Candidate;

/* The score of @atom for voxel @v, whose modes are @x and whose norm is @x_norm, in double, into the sorted list of @n. */
static int
weigh (const Problem *q, int32_t atom, int64_t v, const double *x, double x_norm, Candidate *list, int n)
{
  Candidate c = {.atom = atom};
  if (q->modes) {
    const double *a_re = q->modes + atom * q->sums, *a_im = q->atom_im ? a_re + q->rank : NULL;
    for (int k = 0; k < q->rank; k++) {
      double re = a_re[k], im = a_im ? a_im[k] : 0;
      c.re += re * x[k] + im * x[q->rank + k];
      c.im += re * x[q->rank + k] - im * x[k];
      c.square += re * re + im * im;
    }
  } else {
    const float *x_re = q->re + v * q->samples, *x_im = q->im ? q->im + v * q->samples : NULL;
    const float *a_re = q->atom_re + atom * q->samples, *a_im = q->atom_im ? q->atom_im + atom * q->samples : NULL;
    c.re = lam_dot (a_re, x_re, q->samples) + (a_im && x_im ? lam_dot (a_im, x_im, q->samples) : 0);
    c.im = (x_im ? lam_dot (a_re, x_im, q->samples) : 0) - (a_im ? lam_dot (a_im, x_re, q->samples) : 0);
    c.square = q->d->norm[atom] * q->d->norm[atom];
  }
  c.score = c.square > 0 ? hypot (c.re, c.im) / (sqrt (c.square) * x_norm) : 0;
  int at = n;
  for (; at > 0 && (c.score > list[at - 1].score || (c.score == list[at - 1].score && atom < list[at - 1].atom)); at--)
    list[at] = list[at - 1];
  list[at] = c;
  return n + 1;
}

static void
settle_voxel (Run *r, int64_t v, const float *best, const int32_t *index, double *x)
{
  const Problem *q = r->q;
  LamMatch *m = r->match;
  Candidate list[LAM_MATCH_MOST + 1];
  int n = 0;
  float most = 0;
  double whole = energy_of (q, v), norm = sqrt (whole);
  if (q->rank > 0) {
    gather_voxel (q, v, x, x + q->length);
    norm = sqrt (square (x, x + q->length, q->length));
  }
  for (int i = 0; i < q->keep; i++)
    most = MAX (most, best[i]);
  for (int i = 0; i < q->keep; i++)
    if (index[i] >= 0 && (m->top > 1 || best[i] >= most - CLOSE))
      n = weigh (q, index[i], v, x, norm, list, n);
  if (n == 0) {
    m->state[v] = LAM_VOXEL_NO_ATOM;
    return;
  }
  for (int i = 0; i < MIN (n, m->top); i++) {
    m->atom[v * m->top + i] = list[i].atom;
    m->score[v * m->top + i] = (float) list[i].score;
  }
  /* An imaginary atom i b: <i b, s> = -i <b, s>. */
  m->scale_re[v] = (float) ((q->turned ? list->im : list->re) / list->square);
  m->scale_im[v] = (float) ((q->turned ? -list->re : list->im) / list->square);
  double left = whole - (list->re * list->re + list->im * list->im) / list->square;
  m->residual[v] = (float) sqrt (MAX (left, 0) / whole);
}

static void
settle_voxels (int64_t index, int worker, void *data)
{
  Chunk *c = data;
  const Problem *q = c->run->q;
  lam_fp_setup ();
  for (int64_t i = index * FEW; i < MIN ((index + 1) * FEW, c->active); i++)
    settle_voxel (c->run, c->voxel[i], c->best + i * q->keep, c->index + i * q->keep, scratch_doubles (c, worker));
}

/* ---- on the devices ---- */

static gboolean
match_piece (LamDevice *device, Chunk *c, GError **error)
{
  Run *r = c->run;
  const Problem *q = r->q;
  int64_t each = r->cut.tile * LAM_MATCH_ROWS / (q->pair ? 2 : 1), tiles = (c->active + each - 1) / each;
  int64_t batch = 4 * lam_pool_threads (lam_devices_pool (device->set));
  for (c->first_tile = 0; c->first_tile < tiles; c->first_tile += batch) {
    int64_t n = MIN (batch, tiles - c->first_tile);
    lam_device_for (device, n, match_tile, c);
    if (!lam_control_go_on (r->control, error))
      return FALSE;
    int64_t voxels = MIN (n * each, c->active - c->first_tile * each);
    int64_t done = atomic_fetch_add (&r->done, voxels * c->n_blocks) + voxels * c->n_blocks;
    lam_control_progress (r->control, "matching", (double) done, (double) q->voxels * (double) q->blocks);
  }
  return TRUE;
}

static gboolean
match_chunk (LamDevice *device, Chunk *c, int64_t *packed, GError **error)
{
  Run *r = c->run;
  const Problem *q = r->q;
  lam_device_for (device, (c->n + FEW - 1) / FEW, look_at_voxels, c);
  c->active = 0;
  for (int64_t v = c->first; v < c->first + c->n; v++)
    if (r->match->state[v] == LAM_VOXEL_MATCHED)
      c->voxel[c->active++] = v;
  for (int64_t i = 0; i < (c->active + LAM_MATCH_ROWS) * q->keep; i++) {
    c->best[i] = 0;
    c->index[i] = -1;
  }
  for (int64_t b = 0; b < q->blocks && c->active > 0; b += r->cut.piece) {
    c->first_block = b;
    c->n_blocks = MIN (r->cut.piece, q->blocks - b);
    if (*packed != b)
      lam_device_for (device, c->n_blocks, pack_block, c);
    *packed = b;
    if (!match_piece (device, c, error))
      return FALSE;
  }
  lam_device_for (device, (c->active + FEW - 1) / FEW, settle_voxels, c);
  atomic_fetch_add (&r->done, (c->n - c->active) * q->blocks);
  return lam_control_go_on (r->control, error);
}

static gboolean
match_device (LamDevice *device, void *data, GError **error)
{
  Run *r = data;
  LamRange own = r->cut.owner.range[device->index];
  int64_t packed = -1;
  Chunk c = {.run = r};
  if (own.end <= own.begin)
    return TRUE;
  if (!(c.atoms = lam_plan_take (r->plan, device->index, "atoms", error))
      || !(c.best = lam_plan_take (r->plan, device->index, "best scores", error))
      || !(c.index = lam_plan_take (r->plan, device->index, "best atoms", error))
      || !(c.voxel = lam_plan_take (r->plan, device->index, "voxels", error))
      || !(c.scratch = lam_plan_take (r->plan, device->index, "rows", error)))
    return FALSE;
  for (c.first = own.begin; c.first < own.end; c.first += r->cut.chunk) {
    c.n = MIN (r->cut.chunk, own.end - c.first);
    if (!match_chunk (device, &c, &packed, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- how it is cut ---- */

static void
choose_cut (const Problem *q, LamDevices *set, Cut *cut)
{
  int devices = lam_devices_count (set), workers = lam_pool_threads (lam_devices_pool (set));
  cut->owner = lam_placement_split (q->voxels, 1, 0, devices);
  int64_t share = MAX (cut->owner.largest, 1), each = LAM_MATCH_ROWS / (q->pair ? 2 : 1);
  int64_t budget = q->options.budget > 0 ? q->options.budget / devices : G_MAXINT64;
  for (int d = 0; d < devices && q->options.budget <= 0; d++)
    budget = MIN (budget, lam_devices_get (set, d)->budget - RESERVE);
  int64_t kept = q->keep * 8 + 8, block = LAM_MATCH_ATOMS * q->sums * 4, row_block = LAM_MATCH_ROWS * q->sums * 4;
  cut->chunk = q->options.chunk > 0 ? q->options.chunk : MIN (CHUNK, budget / 4 / kept);
  cut->chunk = CLAMP (cut->chunk, 1, share);
  cut->tile = MIN (ROWS_BYTES / row_block, (cut->chunk + 2 * workers * each - 1) / (2 * workers * each));
  cut->tile = CLAMP (cut->tile, 1, 64);
  cut->scratch = lam_round_up (2 * q->length * (int64_t) sizeof (double) + cut->tile * row_block, LAM_ALIGN);
  int64_t left = budget - workers * cut->scratch - cut->chunk * kept;
  cut->piece = q->options.piece > 0 ? (q->options.piece + LAM_MATCH_ATOMS - 1) / LAM_MATCH_ATOMS
                                    : MIN (PIECE_BYTES, left) / block;
  cut->piece = CLAMP (cut->piece, 1, q->blocks);
}

static LamPlan *
make_plan (const Problem *q, LamDevices *set, const Cut *cut)
{
  LamPlan *plan = lam_plan_new (set);
  lam_plan_set_parts (plan, "voxels at a time", "--chunk on the command line", cut->chunk);
  int phase = lam_plan_add_phase (plan, "match"), workers = lam_pool_threads (lam_devices_pool (set));
  for (int d = 0; d < lam_devices_count (set); d++) {
    int64_t n = MIN (cut->chunk, lam_placement_count (&cut->owner, d));
    if (n == 0)
      continue;
    lam_plan_add_buffer (plan, d, "atoms", lam_mul_size (cut->piece * LAM_MATCH_ATOMS, q->sums * 4), phase, phase);
    /* A kernel fills its last block of rows. */
    lam_plan_add_buffer (plan, d, "best scores", (n + LAM_MATCH_ROWS) * q->keep * 4, phase, phase);
    lam_plan_add_buffer (plan, d, "best atoms", (n + LAM_MATCH_ROWS) * q->keep * 4, phase, phase);
    lam_plan_add_buffer (plan, d, "voxels", n * 8, phase, phase);
    lam_plan_add_buffer (plan, d, "rows", workers * cut->scratch, phase, phase);
  }
  if (q->rank > 0)
    lam_plan_add_buffer (plan, LAM_HOST, "modes of the atoms", lam_mul_size (q->d->atoms->n, q->sums * 8), phase,
                         phase);
  return plan;
}

static gboolean
init (Problem *q, const LamDictionary *d, const float *re, const float *im, gboolean is_complex, int64_t voxels,
      const LamMatchOptions *options, GError **error)
{
  *q = (Problem){.d = d, .re = re, .im = im, .voxels = voxels, .samples = d->samples};
  if (options)
    q->options = *options;
  q->options.top = MAX (q->options.top, 1);
  if (q->options.top > LAM_MATCH_MOST_TOP || q->options.top > d->atoms->n) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%d atoms a voxel are asked for; at most %" G_GINT64_FORMAT " can be kept", q->options.top,
                 MIN ((int64_t) LAM_MATCH_MOST_TOP, d->atoms->n));
    return FALSE;
  }
  q->rank = q->options.rank;
  if (q->rank > 0 && (!d->subspace || q->rank > d->subspace->rank)) {
    if (d->subspace)
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "rank %d is asked for, and the dictionary's basis has %d",
                   q->rank, d->subspace->rank);
    else
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "rank %d is asked for, and the dictionary has no basis",
                   q->rank);
    return FALSE;
  }
  q->turned = d->re == NULL;
  q->atom_re = d->re ? d->re : d->im;
  q->atom_im = d->re ? d->im : NULL;
  q->length = q->rank > 0 ? q->rank : q->samples;
  q->sums = q->atom_im ? 2 * q->length : q->length;
  q->pair = is_complex || q->atom_im;
  q->keep = q->options.top == 1 ? LAM_MATCH_ATOMS : q->options.top + 3;
  q->blocks = (d->atoms->n + LAM_MATCH_ATOMS - 1) / LAM_MATCH_ATOMS;
  return TRUE;
}

LamPlan *
lam_match_plan (const LamDictionary *d, gboolean is_complex, int64_t voxels, const LamMatchOptions *options,
                LamDevices *devices, GError **error)
{
  Problem q;
  Cut cut;
  if (!init (&q, d, NULL, NULL, is_complex, voxels, options, error))
    return NULL;
  choose_cut (&q, devices, &cut);
  LamPlan *plan = make_plan (&q, devices, &cut);
  lam_plan_add_buffer (plan, LAM_HOST, "matches", lam_mul_size (voxels, q.options.top * 8 + 13), 0, 0);
  return plan;
}

/* ---- the call ---- */

static gboolean
allocate (LamMatch *m, GError **error)
{
  int64_t n = lam_mul_size (m->voxels, m->top);
  if (!(m->atom = lam_alloc_n (n, 4, "matches", error)) || !(m->score = lam_alloc_n (n, 4, "matches", error))
      || !(m->scale_re = lam_alloc_n (m->voxels, 4, "matches", error))
      || !(m->scale_im = lam_alloc_n (m->voxels, 4, "matches", error))
      || !(m->residual = lam_alloc_n (m->voxels, 4, "matches", error))
      || !(m->state = lam_alloc_n (m->voxels, 1, "matches", error)))
    return FALSE;
  for (int64_t i = 0; i < n; i++) {
    m->atom[i] = -1;
    m->score[i] = NAN;
  }
  for (int64_t v = 0; v < m->voxels; v++)
    m->scale_re[v] = m->scale_im[v] = m->residual[v] = NAN;
  return TRUE;
}

static gboolean
match_all (Run *r, LamDevices *set, GError **error)
{
  choose_cut (r->q, set, &r->cut);
  for (;;) {
    g_autoptr (GError) local = NULL;
    g_autoptr (LamPlan) plan = r->plan = make_plan (r->q, set, &r->cut);
    gboolean ok = lam_plan_fits (plan, &local);
    if (ok && r->q->rank > 0) {
      ok = (r->q->modes = lam_plan_take (plan, LAM_HOST, "modes of the atoms", &local)) != NULL;
      if (ok)
        lam_pool_for (lam_devices_pool (set), r->q->d->atoms->n, project_atom, r->q, NULL);
    }
    ok = ok && lam_devices_run (set, match_device, r, &local);
    lam_plan_release_all (plan);
    if (ok) {
      int n = r->cut.owner.devices;
      r->match->route =
          g_strdup_printf ("%d device%s, %" G_GINT64_FORMAT " voxels by %" G_GINT64_FORMAT " atoms at a time", n,
                           n == 1 ? "" : "s", r->cut.chunk, r->cut.piece * LAM_MATCH_ATOMS);
      return TRUE;
    }
    /* Memory that was there when the cut was chosen is gone: half of it may do. */
    if (!g_error_matches (local, LAM_ERROR, LAM_ERROR_NO_MEMORY) || (r->cut.piece <= 1 && r->cut.chunk <= 1)) {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
    r->cut.piece = (r->cut.piece + 1) / 2;
    r->cut.chunk = (r->cut.chunk + 1) / 2;
    atomic_store (&r->done, 0);
  }
}

gboolean
lam_match (const LamDictionary *d, const float *re, const float *im, int64_t voxels, int64_t contrasts,
           const LamMatchOptions *options, LamDevices *devices, LamControl *control, LamMatch *match, GError **error)
{
  Problem q;
  lam_match_clear (match);
  if (contrasts != d->samples) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "the series has %" G_GINT64_FORMAT " contrasts and the dictionary %" G_GINT64_FORMAT
                 ": they are not of one protocol",
                 contrasts, d->samples);
    return FALSE;
  }
  if (voxels < 1) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "the series has no voxel");
    return FALSE;
  }
  if (!init (&q, d, re, im, im != NULL, voxels, options, error))
    return FALSE;
  Run r = {.q = &q, .match = match, .control = control};
  match->voxels = voxels;
  match->top = q.options.top;
  if (!allocate (match, error) || !match_all (&r, devices, error)) {
    lam_match_clear (match);
    return FALSE;
  }
  for (int64_t v = 0; v < voxels; v++)
    match->count[match->state[v]]++;
  return TRUE;
}

void
lam_match_clear (LamMatch *m)
{
  lam_free (m->atom);
  lam_free (m->score);
  lam_free (m->scale_re);
  lam_free (m->scale_im);
  lam_free (m->residual);
  lam_free (m->state);
  g_free (m->route);
  memset (m, 0, sizeof *m);
}

gboolean
lam_match_map (const LamMatch *m, const LamDictionary *d, const char *name, float *map)
{
  const double *column = lam_atoms_column (d->atoms, name);
  static const char *const names[] = {"M0", "phase", "score", "residual"};
  int which = -1;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (name, names[i]))
      which = (int) i;
  if (!column && which < 0)
    return FALSE;
  for (int64_t v = 0; v < m->voxels; v++) {
    int32_t atom = m->atom[v * m->top];
    map[v] = atom < 0     ? NAN
             : column     ? (float) column[atom]
             : which == 0 ? hypotf (m->scale_re[v], m->scale_im[v])
             : which == 1 ? atan2f (m->scale_im[v], m->scale_re[v])
             : which == 2 ? m->score[v * m->top]
                          : m->residual[v];
  }
  return TRUE;
}

G_STATIC_ASSERT (LAM_MATCH_MOST_TOP + 3 < LAM_MATCH_ATOMS && LAM_MATCH_ATOMS <= LAM_MATCH_MOST);
