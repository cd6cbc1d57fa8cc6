#include "config.h"

#include "model/sensitivity-curves.h"

#include <string.h>

static const LamSignalPart parts[] = {LAM_PART_MAGNITUDE, LAM_PART_REAL, LAM_PART_IMAGINARY};

static double
at (const float *plane, gsize i)
{
  return plane ? plane[i] : 0;
}

static double
value (const LamSequenceResult *r, LamSignalPart part, int tissue, int row, int sample)
{
  gsize own = (gsize) tissue * r->samples + sample, by = (gsize) (tissue * r->kinds + row) * r->samples + sample;
  return r->value[tissue][r->kind[row]]
         * lam_sensitivity_of (part, at (r->re, own), at (r->im, own), at (r->d_re, by), at (r->d_im, by));
}

/* The samples [begin, end) as two points: their extremes, in the order in which they come. */
static void
take_extremes (const LamSequenceResult *r, LamSignalPart part, int tissue, int row, int begin, int end, double *y)
{
  double low = INFINITY, high = -INFINITY;
  int low_at = begin, high_at = begin;
  for (int i = begin; i < end; i++) {
    double v = value (r, part, tissue, row, i);
    if (v < low) {
      low = v;
      low_at = i;
    }
    if (v > high) {
      high = v;
      high_at = i;
    }
  }
  y[0] = low_at <= high_at ? low : high;
  y[1] = low_at <= high_at ? high : low;
}

LamSensitivityCurves *
lam_sensitivity_curves_new (const LamSequenceResult *r, int most)
{
  LamSensitivityCurves *c = g_new0 (LamSensitivityCurves, 1);
  int buckets = most / 2;
  c->thinned = r->samples > most;
  c->points = c->thinned ? 2 * buckets : r->samples;
  c->tissues = r->tissues;
  c->kinds = r->kinds;
  memcpy (c->kind, r->kind, sizeof c->kind);
  c->x = g_new (double, MAX (c->points, 1));
  c->y = g_new (double, MAX ((gsize) G_N_ELEMENTS (parts) * r->tissues * r->kinds * c->points, 1));
  for (int b = 0; c->thinned && b < buckets; b++) {
    c->x[2 * b] = r->time[(int64_t) b * r->samples / buckets];
    c->x[2 * b + 1] = r->time[(int64_t) (b + 1) * r->samples / buckets - 1];
  }
  if (!c->thinned)
    memcpy (c->x, r->time, (gsize) r->samples * sizeof *c->x);
  double *y = c->y;
  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    for (int v = 0; v < r->tissues; v++)
      for (int k = 0; k < r->kinds; k++, y += c->points) {
        for (int b = 0; c->thinned && b < buckets; b++)
          take_extremes (r, parts[p], v, k, (int) ((int64_t) b * r->samples / buckets),
                         (int) ((int64_t) (b + 1) * r->samples / buckets), y + 2 * b);
        for (int i = 0; !c->thinned && i < r->samples; i++)
          y[i] = value (r, parts[p], v, k, i);
      }
  return c;
}

void
lam_sensitivity_curves_free (LamSensitivityCurves *c)
{
  g_free (c->x);
  g_free (c->y);
  g_free (c);
}

const double *
lam_sensitivity_curves_get (const LamSensitivityCurves *c, LamSignalPart part, int tissue, int row)
{
  gsize plane = part == LAM_PART_REAL ? 1 : part == LAM_PART_IMAGINARY ? 2 : 0;
  return c->y + ((plane * c->tissues + tissue) * c->kinds + row) * c->points;
}
