#include "ct/geometry.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"

/* Largest product of sizes taken: its bytes as doubles still fit in 63 bits. */
#define MAX_SAMPLES (INT64_MAX / 16)

/* Largest angle either way, in radians: a sine of more is that of rounding errors. */
#define MAX_ANGLE (LAM_MAX_DEGREES * G_PI / 180)

/* @n doubles, a copy of @from or zeros; g_free (). NULL with an error: a scan's own count decides how many there are. */
static double *
numbers (int64_t n, const double *from, const char *what, GError **error)
{
  int64_t bytes = lam_mul_size (LAM_MAX (n, 1), sizeof (double));
  double *x = bytes < 0 || lam_memory_inject () ? NULL : g_try_malloc0 ((gsize) bytes);
  if (!x)
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY,
                 "%s of %" G_GINT64_FORMAT " views: the memory could not be had; use fewer views", what, n);
  else if (from)
    memcpy (x, from, (size_t) n * sizeof *x);
  return x;
}

static LamGeometry *
geometry_new (LamGeometryKind kind, int64_t views, int64_t rows, int64_t channels, double *angles_take)
{
  LamGeometry *g = g_new0 (LamGeometry, 1);
  g->kind = kind;
  g_strlcpy (g->length_unit, "px", sizeof g->length_unit);
  g->views = views;
  g->rows = rows;
  g->channels = channels;
  g->channel_pitch = g->row_pitch = 1;
  g->source_detector = g->source_axis = INFINITY;
  g->angles = angles_take;
  g->row_aspect = g->slice_aspect = 1;
  g->mask = LAM_MASK_ELLIPSE;
  return g;
}

LamGeometry *
lam_geometry_try_new (LamGeometryKind kind, int64_t views, int64_t rows, int64_t channels, GError **error)
{
  double *angles = numbers (views, NULL, "angles", error);
  return angles ? geometry_new (kind, views, rows, channels, angles) : NULL;
}

LamGeometry *
lam_geometry_new (LamGeometryKind kind, int64_t views, int64_t rows, int64_t channels)
{
  return geometry_new (kind, views, rows, channels, g_new0 (double, LAM_MAX (views, 0)));
}

gboolean
lam_geometry_set_shifts (LamGeometry *g, const double *shifts, GError **error)
{
  g_return_val_if_fail (g != NULL && shifts != NULL, FALSE);
  double *own = numbers (g->views, shifts, "axial shifts", error);
  if (!own)
    return FALSE;
  g_free (g->shifts);
  g->shifts = own;
  return TRUE;
}

LamGeometry *
lam_geometry_try_copy (const LamGeometry *g, GError **error)
{
  g_return_val_if_fail (g != NULL, NULL);
  LamGeometry *copy = g_memdup2 (g, sizeof *g);
  copy->angles = copy->shifts = NULL;
  if ((!g->angles || (copy->angles = numbers (g->views, g->angles, "angles", error)))
      && (!g->shifts || lam_geometry_set_shifts (copy, g->shifts, error)))
    return copy;
  lam_geometry_free (copy);
  return NULL;
}

static gboolean
same_doubles (const double *a, const double *b, int64_t n)
{
  return (a == NULL) == (b == NULL) && (a == NULL || memcmp (a, b, n * sizeof *a) == 0);
}

gboolean
lam_geometry_equal (const LamGeometry *a, const LamGeometry *b)
{
  return a->kind == b->kind && a->detector == b->detector && strcmp (a->length_unit, b->length_unit) == 0
         && a->views == b->views && a->rows == b->rows && a->channels == b->channels
         && a->channel_pitch == b->channel_pitch && a->row_pitch == b->row_pitch
         && a->channel_offset == b->channel_offset && a->row_offset == b->row_offset
         && a->source_detector == b->source_detector && a->source_axis == b->source_axis
         && a->recon_rows == b->recon_rows && a->recon_columns == b->recon_columns && a->recon_slices == b->recon_slices
         && a->voxel_pitch == b->voxel_pitch && a->row_aspect == b->row_aspect && a->slice_aspect == b->slice_aspect
         && a->slice_offset == b->slice_offset && a->mask == b->mask && same_doubles (a->angles, b->angles, a->views)
         && same_doubles (a->shifts, b->shifts, a->views);
}

LamGeometry *
lam_geometry_copy (const LamGeometry *g)
{
  g_return_val_if_fail (g != NULL, NULL);
  LamGeometry *copy = g_memdup2 (g, sizeof *g);
  size_t bytes = (size_t) LAM_MAX (g->views, 0) * sizeof (double);
  copy->angles = g_memdup2 (g->angles, bytes);
  copy->shifts = g->shifts ? g_memdup2 (g->shifts, bytes) : NULL;
  return copy;
}

void
lam_geometry_free (LamGeometry *g)
{
  if (!g)
    return;
  g_free (g->angles);
  g_free (g->shifts);
  g_free (g);
}

void
lam_geometry_set_angles (LamGeometry *g, double start, double stop)
{
  g_return_if_fail (g != NULL);
  for (int64_t v = 0; v < g->views; v++)
    g->angles[v] = start + (stop - start) * (double) v / (double) g->views;
}

double
lam_geometry_center (const LamGeometry *g)
{
  return 0.5 * (double) (g->channels - 1) + g->channel_offset / g->channel_pitch;
}

void
lam_geometry_set_center (LamGeometry *g, double channel)
{
  g_return_if_fail (g != NULL);
  g->channel_offset = (channel - 0.5 * (double) (g->channels - 1)) * g->channel_pitch;
}

double
lam_geometry_magnification (const LamGeometry *g)
{
  return g->kind == LAM_GEOMETRY_CONE && isfinite (g->source_detector) ? g->source_detector / g->source_axis : 1.0;
}

LamRange
lam_geometry_rows_of_slice (const LamGeometry *g, int64_t k)
{
  if (g->kind != LAM_GEOMETRY_CONE)
    return (LamRange){k, k + 1};
  double dz = g->voxel_pitch * g->slice_aspect;
  double z = g->slice_offset + dz * ((double) k - (double) (g->recon_slices - 1) / 2);
  double reach = hypot ((double) g->recon_columns, (double) g->recon_rows * g->row_aspect) * g->voxel_pitch / 2;
  double low = INFINITY, high = -INFINITY;
  if (g->detector != LAM_DETECTOR_FLAT || !(isfinite (g->source_detector)) || g->source_axis <= reach)
    return (LamRange){0, g->rows};
  for (int64_t v = 0; v < (g->shifts ? g->views : 1); v++)
    for (int side = -1; side <= 1; side += 2)
      for (int end = -1; end <= 1; end += 2) {
        double m = g->source_detector / (g->source_axis + side * reach);
        double row = (m * (z + end * dz / 2 - (g->shifts ? g->shifts[v] : 0)) + g->row_offset) / g->row_pitch
                     + (double) (g->rows - 1) / 2;
        low = fmin (low, row);
        high = fmax (high, row);
      }
  int64_t last = g->rows - 1;
  int64_t begin = (int64_t) fmin (fmax (floor (low) - 3, 0), (double) last),
          end = (int64_t) fmin (fmax (ceil (high) + 4, 1), (double) g->rows);
  return (LamRange){begin, LAM_MAX (end, begin + 1)};
}

void
lam_geometry_shift_range (const LamGeometry *g, double *min, double *max)
{
  *min = *max = g->shifts && g->views > 0 ? g->shifts[0] : 0.0;
  for (int64_t v = 1; g->shifts && v < g->views; v++) {
    *min = fmin (*min, g->shifts[v]);
    *max = fmax (*max, g->shifts[v]);
  }
}

/* --- Checks --- */

static gboolean
refuse (GError **error, const char *field, double value, const char *why)
{
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s = %.10g: %s", field, value, why);
  return FALSE;
}

static gboolean
refuse_at (GError **error, const char *field, int64_t index, double value, const char *why)
{
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s[%" G_GINT64_FORMAT "] = %.10g: %s", field, index, value, why);
  return FALSE;
}

static gboolean
check_positive (const char *field, double value, GError **error)
{
  if (isfinite (value) && value > 0)
    return TRUE;
  return refuse (error, field, value, "must be a finite number above 0");
}

static gboolean
check_finite (const char *field, double value, GError **error)
{
  return isfinite (value) || refuse (error, field, value, "must be a finite number");
}

static gboolean
check_count (const char *field, int64_t value, GError **error)
{
  if (value >= 1)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s = %" G_GINT64_FORMAT ": must be at least 1", field, value);
  return FALSE;
}

static gboolean
check_product (const char *fields, int64_t a, int64_t b, int64_t c, GError **error)
{
  int64_t n = lam_mul_size (lam_mul_size (a, b), c);
  if (n >= 0 && n <= MAX_SAMPLES)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "%s = %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
               ": too large; no machine can address that many samples",
               fields, a, b, c);
  return FALSE;
}

static gboolean
check_distances (const LamGeometry *g, GError **error)
{
  double d = g->source_detector, s = g->source_axis;
  if (isnan (d) || d <= 0)
    return refuse (error, "source_detector", d, "must be above 0 (infinite for parallel rays)");
  if (isnan (s) || s <= 0)
    return refuse (error, "source_axis", s, "must be above 0");
  if (isinf (d)) {
    if (g->detector == LAM_DETECTOR_CURVED)
      return refuse (error, "source_detector", d, "a curved detector needs a finite distance; use a flat one");
    return TRUE;
  }
  if (d > s)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "source_detector = %.10g: must be larger than source_axis = %.10g, since the axis lies between source "
               "and detector; were the two exchanged?",
               d, s);
  return FALSE;
}

gboolean
lam_geometry_check_scan (const LamGeometry *g, GError **error)
{
  g_return_val_if_fail (g != NULL, FALSE);
  if (g->kind != LAM_GEOMETRY_PARALLEL && g->kind != LAM_GEOMETRY_CONE)
    return refuse (error, "kind", g->kind, "not a geometry of this version; use parallel or cone");
  if (g->detector != LAM_DETECTOR_FLAT && (g->kind != LAM_GEOMETRY_CONE || g->detector != LAM_DETECTOR_CURVED))
    return refuse (error, "detector", g->detector, "must be flat, or curved in cone beam");
  if (!check_count ("views", g->views, error) || !check_count ("rows", g->rows, error)
      || !check_count ("channels", g->channels, error)
      || !check_product ("views x rows x channels", g->views, g->rows, g->channels, error)
      || !check_positive ("channel_pitch", g->channel_pitch, error)
      || !check_positive ("row_pitch", g->row_pitch, error)
      || !check_finite ("channel_offset", g->channel_offset, error)
      || !check_finite ("row_offset", g->row_offset, error) || !check_positive ("row_aspect", g->row_aspect, error)
      || !check_positive ("slice_aspect", g->slice_aspect, error))
    return FALSE;
  if (g->kind == LAM_GEOMETRY_PARALLEL && g->slice_aspect != 1)
    return refuse (error, "slice_aspect", g->slice_aspect, "must be 1 in parallel beam: a slice is one detector row");
  if (g->kind == LAM_GEOMETRY_CONE && !check_distances (g, error))
    return FALSE;
  if (!isfinite (g->pad_top) || g->pad_top < 0)
    return refuse (error, "pad_top", g->pad_top, "must be 0 or above");
  if (!isfinite (g->pad_bottom) || g->pad_bottom < 0)
    return refuse (error, "pad_bottom", g->pad_bottom, "must be 0 or above");
  if (!g->angles) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "angles: none are set; %" G_GINT64_FORMAT " are needed",
                 g->views);
    return FALSE;
  }
  for (int64_t v = 0; v < g->views; v++) {
    if (!isfinite (g->angles[v]))
      return refuse_at (error, "angles", v, g->angles[v], "must be a finite angle in radians");
    if (fabs (g->angles[v]) > MAX_ANGLE)
      return refuse_at (error, "angles", v, g->angles[v],
                        "radians, more than 1000000 degrees either way; is their unit right?");
    if (!g->shifts)
      continue;
    if (!isfinite (g->shifts[v]))
      return refuse_at (error, "shifts", v, g->shifts[v], "must be a finite length");
    if (g->kind == LAM_GEOMETRY_PARALLEL && g->shifts[v] != 0)
      return refuse_at (error, "shifts", v, g->shifts[v], "axial shifts need cone beam");
  }
  return TRUE;
}

/* Half the larger in-plane side, or half the diagonal when every pixel counts (spec sections 3.2 and 4). */
static double
support_radius (const LamGeometry *g)
{
  double width = (double) g->recon_columns * g->voxel_pitch;
  double depth = (double) g->recon_rows * g->voxel_pitch * g->row_aspect;
  return g->mask == LAM_MASK_ELLIPSE ? 0.5 * fmax (width, depth) : 0.5 * hypot (width, depth);
}

/* The term of the ellipse's equation for index @i of @n; 0 for a single one (0/0 means inside). */
static inline double
ellipse_term (int64_t i, int64_t n)
{
  double center = 0.5 * (double) (n - 1), t = n > 1 ? ((double) i - center) / center : 0.0;
  return t * t;
}

static gboolean
check_mask (const LamGeometry *g, GError **error)
{
  if (g->mask == LAM_MASK_NONE
      || ellipse_term (g->recon_columns / 2, g->recon_columns) + ellipse_term (g->recon_rows / 2, g->recon_rows) <= 1)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "mask = ellipse: a slice of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
               " pixels (recon_rows x recon_columns) has no pixel inside it; switch the mask off or use more pixels",
               g->recon_rows, g->recon_columns);
  return FALSE;
}

/* How far a reach of detector rows or channels and one of the volume, both from the axis, lie apart; < 0: they meet. */
static double
gap (double low, double high, double volume_low, double volume_high)
{
  return fmax (volume_low - high, low - volume_high);
}

/* Refuses a volume of which no view sees a voxel: an offset without proportion would give nothing but zeros. Bounds are
 * those of the circle around a slice: what is refused is surely unseen. */
static gboolean
check_seen (const LamGeometry *g, GError **error)
{
  double radius = support_radius (g), half = 0.5 * (double) g->channels * g->channel_pitch;
  double d = g->source_detector, s = g->source_axis, reach = radius, least = 1, most = 1;
  if (g->kind == LAM_GEOMETRY_CONE && isfinite (d)) {
    reach =
        g->detector == LAM_DETECTOR_CURVED ? d * asin (radius / s) : d * radius / sqrt ((s - radius) * (s + radius));
    least = d / (s + radius);
    most = d / (s - radius);
  }
  if (gap (-half - g->channel_offset, half - g->channel_offset, -reach, reach) > g->channel_pitch) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "channel_offset = %.10g: the axis falls on channel %.10g, so far outside the detector's 0 "
                 "to %" G_GINT64_FORMAT
                 " that no voxel is seen, the volume reaching %.6g channels from it; correct the "
                 "offset or the centre of rotation",
                 g->channel_offset, lam_geometry_center (g), g->channels - 1, reach / g->channel_pitch);
    return FALSE;
  }
  if (g->kind == LAM_GEOMETRY_PARALLEL)
    return TRUE;
  double height = 0.5 * (double) g->rows * g->row_pitch, nearest = INFINITY;
  double depth = 0.5 * (double) g->recon_slices * g->voxel_pitch * g->slice_aspect;
  for (int64_t v = 0; v < (g->shifts ? g->views : 1) && nearest > 0; v++) {
    double z = g->slice_offset - (g->shifts ? g->shifts[v] : 0), low = z - depth, high = z + depth;
    low *= low < 0 ? most : least;
    high *= high > 0 ? most : least;
    nearest = fmin (nearest, gap (-height - g->row_offset, height - g->row_offset, low, high));
  }
  if (nearest <= g->row_pitch)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "row_offset = %.10g, slice_offset = %.10g: in no view does a slice of the volume fall on the detector's "
               "rows, the nearest being %.6g rows away; correct the offsets or the axial shifts",
               g->row_offset, g->slice_offset, nearest / g->row_pitch);
  return FALSE;
}

gboolean
lam_geometry_check (const LamGeometry *g, GError **error)
{
  if (!lam_geometry_check_scan (g, error))
    return FALSE;
  if (!check_count ("recon_rows", g->recon_rows, error) || !check_count ("recon_columns", g->recon_columns, error)
      || !check_count ("recon_slices", g->recon_slices, error)
      || !check_product ("recon_rows x recon_columns x recon_slices", g->recon_rows, g->recon_columns, g->recon_slices,
                         error)
      || !check_positive ("voxel_pitch", g->voxel_pitch, error)
      || !check_finite ("slice_offset", g->slice_offset, error))
    return FALSE;
  if (lam_mul_size (g->recon_rows, g->recon_columns) > INT32_MAX) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "recon_rows x recon_columns = %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 ": too large; a slice may hold 2147483647 pixels",
                 g->recon_rows, g->recon_columns);
    return FALSE;
  }
  if (g->mask != LAM_MASK_ELLIPSE && g->mask != LAM_MASK_NONE)
    return refuse (error, "mask", g->mask, "must be ellipse or none");
  if (!check_mask (g, error))
    return FALSE;
  if (g->kind == LAM_GEOMETRY_PARALLEL && g->recon_slices != g->rows) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "recon_slices = %" G_GINT64_FORMAT ": must equal rows = %" G_GINT64_FORMAT
                 " in parallel beam, where a slice is one detector row",
                 g->recon_slices, g->rows);
    return FALSE;
  }
  if (g->kind == LAM_GEOMETRY_CONE && isfinite (g->source_detector)) {
    double radius = support_radius (g);
    if (g->source_axis <= radius) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "source_axis = %.10g: the source lies inside the volume, which reaches %.10g from the axis; "
                   "reduce the volume or check the distances",
                   g->source_axis, radius);
      return FALSE;
    }
  }
  return check_seen (g, error);
}

/* --- Automatic volume --- */

/* A size from a float32 quotient @x that was rounded already, or -1 when it is not a count. */
static int64_t
size_from (double x)
{
  return x >= 0 && x < 9e15 ? (int64_t) x : -1;
}

static gboolean
automatic_size (const char *field, double x, int64_t *size, GError **error)
{
  *size = size_from (x);
  if (*size >= 1)
    return TRUE;
  return refuse (error, field, x, "the automatic volume has no usable size; check the pitches and distances");
}

static int64_t
pad_slices (double fraction, double reach, double half_height, double slice_pitch)
{
  return fraction > 0 ? size_from (ceil ((float) (fraction * fmax (0, reach - half_height) / slice_pitch))) : 0;
}

gboolean
lam_geometry_auto_volume (LamGeometry *g, GError **error)
{
  if (!lam_geometry_check_scan (g, error))
    return FALSE;
  LamGeometry a = *g; /* @g changes only on success */
  double m0 = lam_geometry_magnification (g);
  gboolean cone = g->kind == LAM_GEOMETRY_CONE;

  a.voxel_pitch = g->channel_pitch / m0;
  double row_pitch = a.voxel_pitch * g->row_aspect, slice_pitch = a.voxel_pitch * g->slice_aspect;
  float columns = (float) ((double) g->channels * g->channel_pitch / (a.voxel_pitch * m0));
  float rows = (float) ((double) g->channels * g->channel_pitch / (row_pitch * m0));
  if (!automatic_size ("recon_columns", cone ? rint (columns) : ceil (columns), &a.recon_columns, error)
      || !automatic_size ("recon_rows", cone ? rint (rows) : ceil (rows), &a.recon_rows, error))
    return FALSE;
  a.recon_slices = g->rows;
  a.slice_offset = 0;

  if (cone) {
    double lo, hi, height = (double) g->rows * g->row_pitch;
    lam_geometry_shift_range (g, &lo, &hi);
    /* 1e-5 of the rows is taken off so that a quotient a rounding above a whole number does not add a slice. */
    double slices = (float) ((height / m0 + hi - lo) / slice_pitch) - 1e-5 * (double) g->rows;
    if (!automatic_size ("recon_slices", fmax (1, ceil (slices)), &a.recon_slices, error))
      return FALSE;
    double spread = 1 / m0 + (isfinite (g->source_detector) ? support_radius (&a) / g->source_detector : 0);
    double half = 0.5 * height / m0;
    int64_t top = pad_slices (g->pad_top, (0.5 * height + g->row_offset) * spread, half, slice_pitch);
    int64_t bottom = pad_slices (g->pad_bottom, (0.5 * height - g->row_offset) * spread, half, slice_pitch);
    if (top < 0 || bottom < 0)
      return refuse (error, top < 0 ? "pad_top" : "pad_bottom", top < 0 ? g->pad_top : g->pad_bottom,
                     "asks for more slices than can be counted");
    a.recon_slices += top + bottom;
    a.slice_offset = 0.5 * (lo + hi) + 0.5 * (double) (bottom - top) * slice_pitch;
  }
  *g = a;
  return TRUE;
}

/* --- Angles --- */

static void
angle_range (const LamGeometry *g, double *min, double *max)
{
  *min = *max = g->views > 0 ? g->angles[0] : 0;
  for (int64_t v = 1; v < g->views; v++) {
    *min = fmin (*min, g->angles[v]);
    *max = fmax (*max, g->angles[v]);
  }
}

double
lam_geometry_span (const LamGeometry *g)
{
  double min, max;
  angle_range (g, &min, &max);
  return g->views > 1 ? (max - min) * (double) g->views / (double) (g->views - 1) * 180 / G_PI : 0;
}

/* How far the detector reaches on either side of the axis, in its own lengths. */
static void
detector_reach (const LamGeometry *g, double *low, double *high)
{
  double half = 0.5 * (double) g->channels * g->channel_pitch;
  *low = half + g->channel_offset;
  *high = half - g->channel_offset;
}

static double
ray_angle (const LamGeometry *g, double u)
{
  if (g->kind != LAM_GEOMETRY_CONE || isinf (g->source_detector))
    return 0;
  return 180 / G_PI * (g->detector == LAM_DETECTOR_CURVED ? u / g->source_detector : atan2 (u, g->source_detector));
}

double
lam_geometry_fan (const LamGeometry *g)
{
  double low, high;
  detector_reach (g, &low, &high);
  return ray_angle (g, low) + ray_angle (g, high);
}

double
lam_geometry_span_needed (const LamGeometry *g)
{
  double low, high;
  detector_reach (g, &low, &high);
  if (fmin (low, high) < 0.5 * fmax (low, high))
    return 360;
  return fmin (360, 180 + 2 * ray_angle (g, fmax (low, high)));
}

static void
warn_angles (const LamGeometry *g, GString *text)
{
  double span = lam_geometry_span (g), needed = lam_geometry_span_needed (g);
  double min, max, step = span / 180 * G_PI / (double) g->views;
  angle_range (g, &min, &max);
  if (g->views > 1 && max == min) {
    g_string_append_printf (text, "all %" G_GINT64_FORMAT " views have the same angle, %.4g degrees\n", g->views,
                            min * 180 / G_PI);
    return;
  }
  /* Three turns without a shift, or half a radian a view: nobody scans so, but a file in degrees reads so. */
  if (span > 3 * 360 && (step > 0.5 || !g->shifts)) {
    g_string_append_printf (text,
                            "the angles run from %.4g to %.4g radians, %.1f turns: they look like degrees; state the "
                            "unit of the angles\n",
                            min, max, span / 360);
    return;
  }
  if (span >= needed - 1e-3)
    return;
  double fan = needed - 180;
  if (needed == 360 || fan == 0)
    g_string_append_printf (text, "short scan: needs %.2f degrees, has %.6g\n", needed, span);
  else
    g_string_append_printf (text, "short scan: needs %.2f degrees (180 + fan %.2f), has %.6g\n", needed, fan, span);
}

char *
lam_geometry_warnings (const LamGeometry *g)
{
  g_return_val_if_fail (g != NULL, NULL);
  if (!lam_geometry_check_scan (g, NULL))
    return NULL;
  GString *text = g_string_new (NULL);
  double low, high;
  warn_angles (g, text);
  detector_reach (g, &low, &high);
  if (low <= 0 || high <= 0)
    g_string_append_printf (text, "the axis falls on channel %.6g, outside the detector's 0 to %" G_GINT64_FORMAT "\n",
                            lam_geometry_center (g), g->channels - 1);
  if (g->kind == LAM_GEOMETRY_CONE && 0.5 * (double) g->rows * g->row_pitch + fabs (g->row_offset) > g->source_detector)
    g_string_append_printf (
        text,
        "the cone's half angle is %.1f degrees, above 45: expect artefacts far from the "
        "mid-plane\n",
        180 / G_PI * atan ((0.5 * (double) g->rows * g->row_pitch + fabs (g->row_offset)) / g->source_detector));
  if (text->len == 0) {
    g_string_free (text, TRUE);
    return NULL;
  }
  g_string_truncate (text, text->len - 1);
  return g_string_free (text, FALSE);
}

/* Each view a little further than the one before, the same way round. */
static gboolean
turns_steadily (const LamGeometry *g)
{
  double way = g->views > 1 ? g->angles[1] - g->angles[0] : 0;
  for (int64_t v = 1; v < g->views; v++) {
    double step = g->angles[v] - g->angles[v - 1];
    if (!(step * way > 0) || fabs (step) > G_PI / 4)
      return FALSE;
  }
  return g->views > 1;
}

char *
lam_geometry_direct_warning (const LamGeometry *g)
{
  g_return_val_if_fail (g != NULL, NULL);
  gboolean fan = g->kind == LAM_GEOMETRY_CONE && isfinite (g->source_detector);
  double span = lam_geometry_span (g), step = span / (double) LAM_MAX (g->views, 1), turn = fan ? 360 : 180;
  if (g->shifts || !turns_steadily (g))
    return NULL;
  double whole = floor ((span + 0.5 * step) / turn), over = span - whole * turn;
  if (whole >= 1 && over > 0.5 * step)
    return g_strdup_printf ("the views cover %.6g degrees, %.6g more than %s: %s counts the directions that come again "
                            "double; use the iterative method (VCD), or data without the views that repeat. Where "
                            "angles are given as START:STOP, STOP is where one view more would be",
                            span, over,
                            whole > 1 ? "whole turns"
                            : fan     ? "a turn"
                                      : "half a turn",
                            fan ? "FDK" : "FBP");
  /* A short scan of a fan sees some rays twice; as many as there are degrees over the half turn. */
  if (fan && whole == 0 && span > 180 * 1.02)
    return g_strdup_printf (
        "the views cover %.6g of 360 degrees: FDK counts double what is seen twice; use the iterative "
        "method (VCD), or views over the whole turn",
        span);
  return NULL;
}

/* --- Region of reconstruction --- */

int32_t *
lam_geometry_mask_pixels (const LamGeometry *g, int64_t *n, GError **error)
{
  g_return_val_if_fail (g != NULL && n != NULL, NULL);
  *n = 0;
  int64_t rows = g->recon_rows, columns = g->recon_columns, count = 0;
  if (!check_count ("recon_rows", rows, error) || !check_count ("recon_columns", columns, error)
      || !check_mask (g, error))
    return NULL;
  int32_t *pixels = lam_alloc_n (lam_mul_size (rows, columns), sizeof *pixels, "the list of masked pixels", error);
  if (!pixels)
    return NULL;
  for (int64_t i = 0; i < rows; i++) {
    double y = ellipse_term (i, rows);
    for (int64_t j = 0; j < columns; j++)
      if (g->mask == LAM_MASK_NONE || rows == 1 || columns == 1 || ellipse_term (j, columns) + y <= 1)
        pixels[count++] = (int32_t) (i * columns + j);
  }
  *n = count;
  return pixels;
}
