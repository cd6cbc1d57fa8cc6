#include "config.h"

#include "model/voxel-fit.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "run/mr-phantom.h"

const char *const lam_voxel_why[LAM_VOXEL_STATES] = {
    [LAM_VOXEL_OUTSIDE] = N_ ("not matched: outside of the mask"),
    [LAM_VOXEL_ZERO] = N_ ("not matched: all its samples are zero"),
    [LAM_VOXEL_NOT_FINITE] = N_ ("not matched: a sample is not finite"),
    [LAM_VOXEL_NO_ATOM] = N_ ("not matched: no atom resembles it"),
};

void
lam_voxel_fit_free (LamVoxelFit *f)
{
  lam_maps_result_unref (f->result);
  g_free (f->data);
  g_free (f->rest);
  for (int i = 0; i < LAM_VOXEL_FIT_MOST; i++)
    g_free (f->fit[i]);
  g_free (f->x);
  g_free (f->y);
  g_free (f->likeness);
  g_free (f);
}

/* <a, s> of atom @i and the voxel's samples. */
static void
product (const LamDictionary *d, int64_t i, const float *re, const float *im, double *out_re, double *out_im)
{
  const float *a = d->re ? d->re + i * d->samples : NULL, *b = d->im ? d->im + i * d->samples : NULL;
  *out_re = (a ? lam_dot (a, re, d->samples) : 0) + (b && im ? lam_dot (b, im, d->samples) : 0);
  *out_im = (a && im ? lam_dot (a, im, d->samples) : 0) - (b ? lam_dot (b, re, d->samples) : 0);
}

/* ---- the picture of the likeness ---- */

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* Distinct values of a column, thinned to the most that are drawn. */
static double *
distinct (const double *column, int64_t n, int *count)
{
  double *v = g_new (double, n);
  int64_t m = 0;
  /* Grids repeat their values: neighbours that are alike need no sorting. */
  for (int64_t i = 0; i < n; i++)
    if (m == 0 || column[i] != v[m - 1])
      v[m++] = column[i];
  qsort (v, m, sizeof *v, compare_doubles);
  int64_t k = 0;
  for (int64_t i = 0; i < m; i++)
    if (k == 0 || v[i] != v[k - 1])
      v[k++] = v[i];
  int64_t most = MIN (k, LAM_VOXEL_FIT_SIDE);
  for (int64_t i = 0; i < most; i++)
    v[i] = v[i * k / most];
  *count = (int) most;
  return v;
}

/* The cell that begins at or before @value. */
static int
cell_of (const double *edges, int n, double value)
{
  int low = 0, high = n;
  while (high - low > 1) {
    int mid = (low + high) / 2;
    if (edges[mid] <= value)
      low = mid;
    else
      high = mid;
  }
  return low;
}

static void
find_axes (LamVoxelFit *f, const LamAtoms *a)
{
  if (a->columns < 2)
    return;
  f->x = distinct (a->values, a->n, &f->nx);
  f->y = distinct (a->values + a->n, a->n, &f->ny);
  f->x_name = g_intern_string (a->names[0]);
  f->y_name = g_intern_string (a->names[1]);
  f->x_unit = lam_tissue_find (a->names[0])->unit;
  f->y_unit = lam_tissue_find (a->names[1])->unit;
  f->likeness = g_new (float, (gsize) f->nx * f->ny);
  for (int i = 0; i < f->nx * f->ny; i++)
    f->likeness[i] = NAN;
}

/* ---- the voxel ---- */

static void
note_atom (LamVoxelFit *f, int64_t atom, double score)
{
  int at = f->atoms;
  while (at > 0 && score > f->score[at - 1])
    at--;
  if (at >= LAM_VOXEL_FIT_MOST)
    return;
  f->atoms = MIN (f->atoms + 1, LAM_VOXEL_FIT_MOST);
  for (int i = f->atoms - 1; i > at; i--) {
    f->atom[i] = f->atom[i - 1];
    f->score[i] = f->score[i - 1];
  }
  f->atom[at] = (int32_t) atom;
  f->score[at] = score;
}

static gboolean
score_all (LamVoxelFit *f, const float *re, const float *im, double norm, const _Atomic int64_t *newest, int64_t serial,
           GError **error)
{
  const LamDictionary *d = f->result->dictionary->d;
  const LamAtoms *a = d->atoms;
  for (int64_t i = 0; i < a->n; i++) {
    double p, q;
    if (i % 256 == 0 && newest && atomic_load (newest) != serial) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_CANCELLED, "another voxel is wanted");
      return FALSE;
    }
    product (d, i, re, im, &p, &q);
    double score = hypot (p, q) / (d->norm[i] * norm);
    note_atom (f, i, score);
    if (f->likeness) {
      float *cell =
          f->likeness + cell_of (f->y, f->ny, a->values[a->n + i]) * f->nx + cell_of (f->x, f->nx, a->values[i]);
      if (!(*cell >= score))
        *cell = (float) score;
    }
  }
  return TRUE;
}

/* The atom that was matched stands first: with a basis it need not be the one that resembles the whole signal most. */
static void
put_first (LamVoxelFit *f, int32_t atom, double score)
{
  int at = 0;
  while (at < f->atoms - 1 && f->atom[at] != atom)
    at++;
  for (; at > 0; at--) {
    f->atom[at] = f->atom[at - 1];
    f->score[at] = f->score[at - 1];
  }
  f->atom[0] = atom;
  f->score[0] = score;
}

/* What is drawn of s = (re, im) against a phase: its magnitude, or its parts along and across. */
static void
turn (const LamVoxelFit *f, const float *re, const float *im, double c, double d, double *along, double *across)
{
  for (int64_t k = 0; k < f->samples; k++) {
    double x = re ? re[k] : 0, y = im ? im[k] : 0;
    along[k] = f->magnitude ? hypot (x, y) : c * x + d * y;
    if (across)
      across[k] = c * y - d * x;
  }
}

static void
draw (LamVoxelFit *f, const float *re, const float *im)
{
  const LamDictionary *d = f->result->dictionary->d;
  f->magnitude = d->re && d->im;
  f->data = g_new (double, f->samples);
  for (int i = 0; i < f->atoms; i++) {
    int64_t atom = f->atom[i];
    double p, q;
    product (d, atom, re, im, &p, &q);
    double length = hypot (p, q), c = length > 0 ? p / length : 1, s = length > 0 ? q / length : 0;
    double scale = length / (d->norm[atom] * d->norm[atom]);
    f->fit[i] = g_new (double, f->samples);
    const float *a = d->re ? d->re + atom * d->samples : NULL, *b = d->im ? d->im + atom * d->samples : NULL;
    /* Atoms of an imaginary part alone are drawn as that. */
    turn (f, a ? a : b, a ? b : NULL, 1, 0, f->fit[i], NULL);
    for (int64_t k = 0; k < f->samples; k++)
      f->fit[i][k] *= scale;
    if (i > 0)
      continue;
    f->m0 = hypot (f->result->match.scale_re[f->voxel], f->result->match.scale_im[f->voxel]);
    f->phase = atan2 (f->result->match.scale_im[f->voxel], f->result->match.scale_re[f->voxel]);
    if (!f->magnitude)
      f->rest = g_new (double, f->samples);
    /* Such atoms are i times what is drawn: the voxel is turned back by a quarter more. */
    turn (f, re, im, a ? c : -s, a ? s : c, f->data, f->rest);
  }
  if (f->atoms == 0)
    for (int64_t k = 0; k < f->samples; k++)
      f->data[k] = hypot (re[k], im ? im[k] : 0);
}

static double
value_of (const LamMapsResult *r, const char *name, int64_t voxel)
{
  const LamMapsMap *m = lam_maps_result_find (r, name);
  return m ? m->values[voxel] : NAN;
}

LamVoxelFit *
lam_voxel_fit_new (LamMapsResult *result, int64_t slice, int64_t row, int64_t column, const _Atomic int64_t *newest,
                   int64_t serial, GError **error)
{
  const LamMrSeries *s = result->series->s;
  g_autoptr (LamVoxelFit) f = g_new0 (LamVoxelFit, 1);
  f->result = lam_maps_result_ref (result);
  f->voxel = lam_maps_series_voxel (result->series, slice, row, column);
  f->serial = serial;
  f->slice = slice;
  f->row = row;
  f->column = column;
  f->state = result->match.state[f->voxel];
  if (result->dictionary == NULL) { /* kept maps: there is nothing to fit, and nothing to fit it to */
    f->m0 = value_of (result, "M0", f->voxel);
    f->phase = value_of (result, "phase", f->voxel);
    f->residual = value_of (result, "residual", f->voxel);
    return g_steal_pointer (&f);
  }
  const LamDictionary *d = result->dictionary->d;
  f->samples = s->contrasts;
  const float *re = s->re + f->voxel * f->samples, *im = s->im ? s->im + f->voxel * f->samples : NULL;
  double norm = sqrt (lam_dot (re, re, f->samples) + (im ? lam_dot (im, im, f->samples) : 0));
  f->residual = NAN;
  if (f->state == LAM_VOXEL_MATCHED) {
    find_axes (f, d->atoms);
    if (!score_all (f, re, im, norm, newest, serial, error))
      return NULL;
    put_first (f, result->match.atom[f->voxel * result->match.top], result->match.score[f->voxel * result->match.top]);
    f->residual = result->match.residual[f->voxel];
    if (f->likeness) {
      f->best_x = cell_of (f->x, f->nx, d->atoms->values[f->atom[0]]);
      f->best_y = cell_of (f->y, f->ny, d->atoms->values[d->atoms->n + f->atom[0]]);
    }
  }
  draw (f, re, im);
  return g_steal_pointer (&f);
}

/* What else it could be. */
static void
describe_rivals (const LamVoxelFit *f, GString *text)
{
  const LamAtoms *a = f->atoms > 1 ? f->result->dictionary->d->atoms : NULL;
  for (int i = 1; i < f->atoms; i++) {
    g_string_append (text, i == 1 ? _ (" · next best ") : ", ");
    for (int c = 0; c < a->columns; c++)
      g_string_append_printf (text, "%s%.4g", c > 0 ? "/" : "", a->values[c * a->n + f->atom[i]]);
  }
}

char *
lam_voxel_fit_describe (const LamVoxelFit *f)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_printf (text, _ ("row %ld, column %ld, slice %ld"), (long) f->row, (long) f->column, (long) f->slice);
  if (f->state != LAM_VOXEL_MATCHED) {
    g_string_append_printf (text, " · %s", _ (lam_voxel_why[f->state]));
    return g_string_free (g_steal_pointer (&text), FALSE);
  }
  /* What was found stands first of the maps. */
  for (int i = 0; i < f->result->n && !g_str_equal (f->result->maps[i].name, "M0"); i++) {
    const LamMapsMap *m = &f->result->maps[i];
    g_string_append_printf (text, " · %s %.4g%s%s", m->name, m->values[f->voxel], *m->unit ? " " : "", m->unit);
  }
  g_string_append_printf (text, _ (" · M0 %.4g · phase %.0f° · residual %.2g %%"), f->m0,
                          rint (f->phase * 180 / G_PI) + 0.0, 100 * f->residual);
  if (f->atoms > 0)
    g_string_append_printf (text, _ (" · atom %d"), f->atom[0]);
  describe_rivals (f, text);
  if (f->result->series->source != NULL) {
    LamMrPhantomTruth truth = lam_mr_phantom_truth (f->slice, f->row, f->column);
    g_string_append_printf (text, _ (" · made of T1 %.4g, T2 %.4g, M0 %.2g, phase %.0f°"), truth.t1, truth.t2, truth.m0,
                            truth.phase * 180 / G_PI);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}
