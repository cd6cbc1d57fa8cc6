#include "ct/center.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/center-private.h"

#define MAX_ROWS 4
#define MAX_VIEWS 720

void
lam_center_clear (LamCenter *center)
{
  lam_free (center->curve_channel);
  lam_free (center->curve_score);
  center->curve_channel = center->curve_score = NULL;
  center->n = 0;
}

double *
center_alloc0 (int64_t n, GError **error)
{
  double *x = lam_alloc_n (n, sizeof *x, "centre search", error);
  if (x)
    memset (x, 0, sizeof *x * (size_t) n);
  return x;
}

gboolean
center_curve_init (CenterCurve *curve, double first, double step, int64_t n, GError **error)
{
  *curve = (CenterCurve){.n = n, .first = first, .step = step};
  curve->top = center_alloc0 (CENTER_GROUPS * n, error);
  curve->bottom = curve->top ? center_alloc0 (CENTER_GROUPS * n, error) : NULL;
  return curve->bottom != NULL;
}

void
center_curve_clear (CenterCurve *curve)
{
  lam_free (curve->top);
  lam_free (curve->bottom);
  *curve = (CenterCurve){0};
}

/* --- Evenly spaced views --- */

typedef struct {
  double angle;
  int64_t view;
} Entry;

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  double x = ((const Entry *) a)->angle, y = ((const Entry *) b)->angle;
  return x < y ? -1 : x > y;
}

/* The views of the first turn by angle; the count. */
static int64_t
sort_views (const LamGeometry *g, Entry *entries)
{
  int64_t n = 0;
  for (int64_t v = 0; v < g->views; v++)
    entries[v] = (Entry){g->angles[v], v};
  qsort (entries, (size_t) g->views, sizeof *entries, compare_entries);
  while (n < g->views && entries[n].angle < entries[0].angle + 2 * G_PI - 1e-6)
    n++;
  return n;
}

/* @bin channels at a time averaged; what is not finite becomes what stands before it. */
static void
copy_row (const float *in, int64_t channels, int64_t bin, float weight, float *out)
{
  float last = 0;
  for (int64_t n = 0; n < channels; n++) {
    float sum = 0;
    for (int64_t b = 0; b < bin; b++) {
      last = isfinite (in[n * bin + b]) ? in[n * bin + b] : last;
      sum += last;
    }
    out[n] += weight * sum / (float) bin;
  }
}

static void
fill_views (const LamGeometry *g, const float *sinogram, const Entry *entries, int64_t n, const int64_t *rows,
            int64_t bin, CenterViews *d)
{
  memset (d->data, 0, sizeof (float) * (size_t) (d->rows * d->views * d->channels));
  int64_t i = 0;
  for (int64_t v = 0; v < d->views; v++) {
    double angle = d->start + (double) v * d->step;
    while (i < n - 2 && entries[i + 1].angle <= angle)
      i++;
    int64_t next = LAM_MIN (i + 1, n - 1);
    double gap = entries[next].angle - entries[i].angle;
    double t = gap > 0 ? LAM_CLAMP ((angle - entries[i].angle) / gap, 0, 1) : 0;
    if (t < 0.02 || t > 0.98) /* as good as a view of its own */
      t = t < 0.5 ? 0 : 1;
    for (int64_t m = 0; m < d->rows; m++) {
      float *out = d->data + (m * d->views + v) * d->channels;
      const float *a = sinogram + (entries[i].view * g->rows + rows[m]) * g->channels;
      const float *b = sinogram + (entries[next].view * g->rows + rows[m]) * g->channels;
      if (t < 1)
        copy_row (a, d->channels, bin, (float) (1 - t), out);
      if (t > 0)
        copy_row (b, d->channels, bin, (float) t, out);
    }
  }
}

static int
compare_floats (gconstpointer a, gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;
  return x < y ? -1 : x > y;
}

/* Takes the median of the border off and returns how much the border moves with the angle, relative to the data.
 * @edges: room for four numbers a view. */
static double
remove_background (CenterViews *d, float *edges)
{
  int64_t strip = LAM_CLAMP (d->channels / 100, 1, 8), count = d->rows * d->views, n = 2 * count;
  double moves = 0, size = 0;
  for (int64_t p = 0; p < count; p++) {
    const float *view = d->data + p * d->channels;
    float left = 0, right = 0;
    for (int64_t i = 0; i < strip; i++) {
      left += view[i] / (float) strip;
      right += view[d->channels - 1 - i] / (float) strip;
    }
    edges[2 * p] = left;
    edges[2 * p + 1] = right;
  }
  float *sorted = edges + n;
  memcpy (sorted, edges, sizeof *edges * (size_t) n);
  qsort (sorted, (size_t) n, sizeof *sorted, compare_floats);
  float background = sorted[n / 2];
  /* Neighbouring views, so that noise, which they do not share, does not count. */
  for (int64_t i = 0; i < n - 2; i++)
    moves += ((double) edges[i] - background) * ((double) edges[i + 2] - background) / (double) n;
  for (int64_t i = 0; i < count * d->channels; i++) {
    d->data[i] -= background;
    size += (double) d->data[i] * d->data[i] / (double) (count * d->channels);
  }
  return size > 0 && moves > 0 ? sqrt (moves / size) : 0;
}

/* --- Picking --- */

static double
score (const CenterCurve *c, int64_t i, int without)
{
  double top = 0, bottom = 0;
  for (int g = 0; g < CENTER_GROUPS; g++)
    if (g != without) {
      top += c->top[g * c->n + i];
      bottom += c->bottom[g * c->n + i];
    }
  return bottom > 0 ? LAM_MAX (top / bottom, 0) : 1;
}

/* Position of the dip, by a parabola through it and its neighbours. */
static double
pick (const CenterCurve *c, int without, int64_t *at)
{
  int64_t best = 0;
  double least = INFINITY;
  for (int64_t i = 0; i < c->n; i++) {
    double s = score (c, i, without);
    if (s < least) {
      least = s;
      best = i;
    }
  }
  *at = best;
  double x = (double) best;
  if (best > 0 && best < c->n - 1) {
    double l = score (c, best - 1, without), r = score (c, best + 1, without), bend = l - 2 * least + r;
    x += bend > 0 ? 0.5 * (l - r) / bend : 0;
  }
  return c->first + x * c->step;
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

/* The lowest value that lies across a rise from the dip at @at. */
static double
second_dip (const double *s, int64_t n, int64_t at, double typical)
{
  double lowest = typical, rise = s[at] + 0.25 * (typical - s[at]);
  for (int side = -1; side <= 1; side += 2) {
    double top = s[at];
    for (int64_t i = at; i >= 0 && i < n; i += side) {
      top = fmax (top, s[i]);
      if (top > rise)
        lowest = fmin (lowest, s[i]);
    }
  }
  return lowest;
}

/* Jackknife over the groups: how far the pick moves when a part of the data is left out. */
static double
pick_width (const CenterCurve *c)
{
  double sum = 0, squares = 0;
  for (int g = 0; g < CENTER_GROUPS; g++) {
    int64_t at;
    double x = pick (c, g, &at);
    sum += x;
    squares += x * x;
  }
  return sqrt (fmax (0, squares - sum * sum / CENTER_GROUPS) * (CENTER_GROUPS - 1) / CENTER_GROUPS);
}

static gboolean
judge (const CenterCurve *fine, const CenterCurve *wide, double nothing, LamCenter *out, GError **error)
{
  out->n = wide->n;
  out->curve_channel = lam_alloc_n (wide->n, sizeof (double), "centre search: the curve", error);
  out->curve_score =
      out->curve_channel ? lam_alloc_n (wide->n, sizeof (double), "centre search: the curve", error) : NULL;
  double *sorted = out->curve_score ? center_alloc0 (wide->n, error) : NULL;
  if (!sorted)
    return FALSE;
  for (int64_t i = 0; i < wide->n; i++) {
    out->curve_channel[i] = wide->first + (double) i * wide->step;
    out->curve_score[i] = sorted[i] = score (wide, i, -1);
  }
  qsort (sorted, (size_t) wide->n, sizeof *sorted, compare_doubles);
  double typical = sorted[wide->n / 2];
  lam_free (sorted);

  int64_t at;
  double found = pick (fine, -1, &at), least = score (fine, at, -1);
  pick (wide, -1, &at);
  if (!(typical - least > 1e-6)) {
    out->channel = nothing;
    out->note = "the data do not depend on the position of the axis: are they empty or constant?";
    return TRUE;
  }
  double depth = LAM_CLAMP (1 - least / typical, 0, 1);
  double rival = least / second_dip (out->curve_score, out->n, at, typical);
  out->channel = found;
  out->width = pick_width (fine);
  out->confidence = depth * (1 - LAM_CLAMP (rival * rival, 0, 1)) / (1 + 4 * out->width * out->width);
  if (depth < 0.3)
    out->note = "opposite views match badly at every position";
  else if (rival > 0.8)
    out->note = "a second position fits almost as well";
  else if (out->width > 0.5)
    out->note = "parts of the data disagree about the position";
  return TRUE;
}

/* --- Less than half a turn --- */

/* The centre of mass of a view lies at c + a cos + b sin; least squares over the views. */
static gboolean
find_by_moments (const CenterViews *d, double truncation, LamCenter *out, GError **error)
{
  double normal[3][4] = {{0}}, squares = 0;
  out->method = "centre of mass";
  out->note = "less than half a turn: no view sees the object from the other side";
  for (int64_t v = 0; v < d->views; v++) {
    double mass = 0, moment = 0, angle = d->start + (double) v * d->step, x[4] = {1, cos (angle), sin (angle)};
    for (int64_t m = 0; m < d->rows; m++)
      for (int64_t n = 0; n < d->channels; n++) {
        mass += center_view (d, m, v)[n];
        moment += (double) n * center_view (d, m, v)[n];
      }
    if (!(mass > 0))
      return TRUE;
    x[3] = moment / mass;
    squares += x[3] * x[3];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 4; j++)
        normal[i][j] += x[i] * x[j];
  }
  /* Eliminate the circle's two terms; what is left is the axis and its own weight. */
  double residual = squares;
  for (int i = 2; i >= 0; i--) {
    if (normal[i][i] <= 1e-6 * (double) d->views)
      return TRUE;
    residual -= normal[i][3] * normal[i][3] / normal[i][i];
    for (int j = 0; j < i; j++) {
      double f = normal[j][i] / normal[i][i];
      for (int k = 0; k < 4; k++)
        normal[j][k] -= f * normal[i][k];
    }
  }
  double weight = normal[0][0], center = normal[0][3] / weight;
  residual = fmax (residual, 0);
  out->n = 2 * d->channels - 1;
  out->curve_channel = lam_alloc_n (out->n, sizeof (double), "centre search: the curve", error);
  out->curve_score =
      out->curve_channel ? lam_alloc_n (out->n, sizeof (double), "centre search: the curve", error) : NULL;
  if (!out->curve_score)
    return FALSE;
  double far = residual + weight * (double) (d->channels * d->channels) / 16;
  for (int64_t i = 0; i < out->n; i++) {
    double c = 0.5 * (double) i;
    out->curve_channel[i] = c;
    out->curve_score[i] = (residual + weight * (c - center) * (c - center)) / far;
  }
  if (!(center > 0 && center < (double) d->channels))
    return TRUE;
  out->channel = center;
  out->width = sqrt (residual / (double) LAM_MAX (d->views - 3, 1) / weight);
  out->confidence = (truncation > 0.05 ? 0.1 : 0.5) / (1 + 4 * out->width * out->width);
  return TRUE;
}

/* --- The search --- */

typedef struct {
  const LamGeometry *g;
  const float *sinogram;
  Entry *entries;
  int64_t n; /* views of the first turn */
  int64_t rows[MAX_ROWS], row_count;
} Search;

/* Evenly spaced views of @views steps of @step; frees with lam_free (d->data). */
static gboolean
make_views (const Search *s, int64_t views, double step, gboolean full_turn, int64_t bin, CenterViews *d,
            double *truncation, GError **error)
{
  *d = (CenterViews){.rows = s->row_count,
                     .views = views,
                     .channels = s->g->channels / bin,
                     .start = s->entries[0].angle,
                     .step = step,
                     .full_turn = full_turn};
  int64_t size = lam_mul_size (d->rows * d->views, d->channels);
  d->data = lam_alloc_n (size, sizeof (float), "centre search: the views looked at", error);
  float *edges = d->data ? lam_alloc_n (4 * d->rows * d->views, sizeof (float), "centre search", error) : NULL;
  if (!edges)
    return FALSE;
  fill_views (s->g, s->sinogram, s->entries, s->n, s->rows, bin, d);
  *truncation = remove_background (d, edges);
  lam_free (edges);
  return TRUE;
}

static gboolean
find_parallel (const Search *s, double range, LamCenter *out, GError **error)
{
  CenterViews d = {0};
  CenterCurve curve = {0};
  double truncation, mean_step = range / (double) (s->n - 1);
  gboolean full = range + mean_step > 2 * G_PI * (1 - 1e-4) || range > 2 * G_PI - 1.5 * mean_step, ok;
  if (range >= G_PI * 7 / 6) {
    int64_t views = LAM_MIN (s->n, MAX_VIEWS);
    out->method = "opposite views";
    ok = make_views (s, views, full ? 2 * G_PI / (double) views : range / (double) (views - 1), full, 1, &d,
                     &truncation, error)
         && center_pairs (&d, &curve, error);
  } else if (range >= G_PI - 2.5 * mean_step && s->n >= 4) {
    int64_t views = LAM_CLAMP ((int64_t) rint (G_PI / mean_step), 2, MAX_VIEWS);
    out->method = "half turn and its mirror image";
    ok = make_views (s, views, G_PI / (double) views, FALSE, 1, &d, &truncation, error);
    if (ok && truncation > 0.1) {
      out->method = "views at the two ends of the half turn";
      ok = center_seam (&d, &curve, error);
    } else if (ok)
      ok = center_wedge (&d, &curve, error);
  } else {
    int64_t views = LAM_MIN (s->n, MAX_VIEWS);
    ok = make_views (s, views, views > 1 ? range / (double) (views - 1) : 0, FALSE, 1, &d, &truncation, error)
         && find_by_moments (&d, truncation, out, error);
  }
  if (ok && curve.n)
    ok = judge (&curve, &curve, out->channel, out, error);
  center_curve_clear (&curve);
  lam_free (d.data);
  return ok;
}

static gboolean
find_cone (const Search *s, double range, LamCenter *out, GError **error)
{
  const LamGeometry *g = s->g;
  CenterViews d = {0};
  CenterCurve wide = {0}, fine = {0};
  double truncation, mean_step = range / (double) (s->n - 1);
  gboolean full = range > 2 * G_PI - 1.5 * mean_step, ok;
  out->method = "conjugate rays of the mid-plane";

  int64_t bin = LAM_MAX (1, g->channels / 128), views = LAM_MIN (s->n, 180);
  ok = make_views (s, views, full ? 2 * G_PI / (double) views : range / (double) (views - 1), full, bin, &d,
                   &truncation, error)
       && center_curve_init (&wide, 0, 0.5, 2 * d.channels - 1, error);
  if (ok) {
    center_conjugate (&d, g, bin, &wide);
    int64_t at;
    double coarse = pick (&wide, -1, &at) * (double) bin + 0.5 * (double) (bin - 1);
    wide.first = 0.5 * (double) (bin - 1); /* now in channels of the detector */
    wide.step *= (double) bin;
    lam_free (d.data);
    d.data = NULL;
    views = LAM_MIN (s->n, 360);
    double reach = LAM_MAX (2, 1.5 * (double) bin);
    ok = make_views (s, views, full ? 2 * G_PI / (double) views : range / (double) (views - 1), full, 1, &d,
                     &truncation, error)
         && center_curve_init (&fine, floor (2 * (coarse - reach)) / 2, 0.5, 4 * (int64_t) ceil (reach) + 1, error);
    if (ok)
      center_conjugate (&d, g, 1, &fine);
  }
  ok = ok && judge (&fine, &wide, out->channel, out, error);
  center_curve_clear (&wide);
  center_curve_clear (&fine);
  lam_free (d.data);
  return ok;
}

gboolean
lam_center_find (const LamGeometry *g, const float *sinogram, LamCenter *out, GError **error)
{
  g_return_val_if_fail (g != NULL && sinogram != NULL && out != NULL, FALSE);
  *out = (LamCenter){.channel = 0.5 * (double) (g->channels - 1), .method = "none"};
  if (!lam_geometry_check_scan (g, error))
    return FALSE;
  if (g->views < 3 || g->channels < 4) {
    out->note = "too few views or channels to find the axis";
    return TRUE;
  }
  Search s = {.g = g, .sinogram = sinogram};
  gboolean cone = g->kind == LAM_GEOMETRY_CONE && isfinite (g->source_detector);
  s.row_count = cone ? 1 : LAM_MIN (g->rows, MAX_ROWS);
  for (int64_t i = 0; i < s.row_count; i++)
    s.rows[i] = cone ? (int64_t) LAM_CLAMP (rint (0.5 * (double) (g->rows - 1) + g->row_offset / g->row_pitch), 0,
                                            (double) (g->rows - 1))
                     : (2 * i + 1) * g->rows / (2 * s.row_count);
  s.entries = lam_alloc_n (g->views, sizeof *s.entries, "centre search: the order of the views", error);
  if (!s.entries)
    return FALSE;
  s.n = sort_views (g, s.entries);
  double range = s.entries[s.n - 1].angle - s.entries[0].angle;
  gboolean ok = TRUE;
  if (s.n < 3 || !(range > 0))
    out->note = "the views have too few different angles to find the axis";
  else if (cone && range >= (180 + lam_geometry_fan (g) / 2) * G_PI / 180)
    ok = find_cone (&s, range, out, error);
  else
    ok = find_parallel (&s, range, out, error);
  if (ok && cone && out->method && out->confidence > 0.5 && range < G_PI * 7 / 6 && !out->note)
    out->note = "the fan was taken as parallel";
  lam_free (s.entries);
  if (!ok)
    lam_center_clear (out);
  return ok;
}
