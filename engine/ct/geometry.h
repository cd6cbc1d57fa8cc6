/* geometry.h: one scan's geometry and the volume to reconstruct from it (spec/ct.md sections 0, 3, 4).
 *
 * Axes: at angle 0 the columns of a slice run with the channels, larger rows lie nearer the source, larger slices and
 * detector rows lie further down the axis. A growing angle turns the object from +x to +y. The centre of N samples is
 * index (N-1)/2. All lengths share one unit: mm, or px when the file states no pitch (length_unit). */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef enum {
  LAM_GEOMETRY_PARALLEL,
  LAM_GEOMETRY_CONE,
} LamGeometryKind;

typedef enum {
  LAM_DETECTOR_FLAT,
  LAM_DETECTOR_CURVED, /* a cylinder about the source; cone only */
} LamDetectorShape;

/* Which in-slice pixels are reconstructed. */
typedef enum {
  LAM_MASK_ELLIPSE, /* those inside the ellipse inscribed in the slice */
  LAM_MASK_NONE,    /* all */
} LamMaskKind;

typedef struct {
  LamGeometryKind kind;
  LamDetectorShape detector;
  char length_unit[8]; /* "mm" or "px" */

  int64_t views, rows, channels;
  double channel_pitch, row_pitch;   /* centre to centre, > 0 */
  double channel_offset, row_offset; /* axis (iso) relative to the detector's centre, towards higher index */
  double source_detector;            /* cone; may be INFINITY */
  double source_axis;                /* cone */
  double *angles;                    /* [views] radians; owned */
  double *shifts;                    /* [views] axial shift of source and detector (helical), or NULL; owned */

  int64_t recon_rows, recon_columns, recon_slices;
  double voxel_pitch;              /* along columns */
  double row_aspect, slice_aspect; /* pitch along rows and slices relative to voxel_pitch */
  double slice_offset;             /* cone: z of the volume's centre */
  double pad_top, pad_bottom;      /* cone: axial padding fractions of the automatic volume */
  LamMaskKind mask;
} LamGeometry;

/* Angles beyond this, either way, are taken for a mistake. */
#define LAM_MAX_DEGREES 1e6

/* A geometry with the defaults of the spec, @views angles all zero and no volume yet. */
LamGeometry *lam_geometry_new (LamGeometryKind kind, int64_t views, int64_t rows, int64_t channels);
LamGeometry *lam_geometry_copy (const LamGeometry *g);
/* The same where the number of views comes from a file: NULL with LAM_ERROR_NO_MEMORY, in place of the program's end. */
LamGeometry *lam_geometry_try_new (LamGeometryKind kind, int64_t views, int64_t rows, int64_t channels, GError **error);
LamGeometry *lam_geometry_try_copy (const LamGeometry *g, GError **error);
/* Whether both say the same, volume included. */
gboolean lam_geometry_equal (const LamGeometry *a, const LamGeometry *b);
/* Takes a copy of @shifts, one a view. */
gboolean lam_geometry_set_shifts (LamGeometry *g, const double *shifts, GError **error);
void lam_geometry_free (LamGeometry *g);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamGeometry, lam_geometry_free)

/* Angles from @start to @stop (radians, @stop excluded), evenly. */
void lam_geometry_set_angles (LamGeometry *g, double start, double stop);

/* Refuses what no projector can use with "FIELD = VALUE: why; what to do"; call before any work. The first checks
 * the scan alone (a volume need not be set yet), the second the scan and the volume. Nothing is allocated. */
gboolean lam_geometry_check_scan (const LamGeometry *g, GError **error);
gboolean lam_geometry_check (const LamGeometry *g, GError **error);
/* Things worth saying that do not stop a run: a short scan, a cone wider than 45 degrees, angles that look like
 * degrees. One line each, newline-separated, or NULL. */
char *lam_geometry_warnings (const LamGeometry *g);

/* What FBP and FDK make of these angles beside: they give every view the same weight, which is right for half turns (cone
 * beam: whole turns) and nothing over. One line, or NULL; the iterative method does not mind. g_free (). */
char *lam_geometry_direct_warning (const LamGeometry *g);

/* The automatic volume (spec section 4): sets voxel_pitch, the three sizes and slice_offset from the detector, the
 * aspects, the shifts and the padding. K is the row count in parallel beam. Refuses a scan that is not usable. */
gboolean lam_geometry_auto_volume (LamGeometry *g, GError **error);

/* Detector channel index of the axis, and setting the offset from it. */
double lam_geometry_center (const LamGeometry *g);
void lam_geometry_set_center (LamGeometry *g, double channel);

/* Magnification at the axis; 1 for parallel beam and for an infinite distance. */
double lam_geometry_magnification (const LamGeometry *g);
/* Smallest and largest axial shift; both 0 without shifts. */
void lam_geometry_shift_range (const LamGeometry *g, double *min, double *max);

/* Detector rows that slice @k can meet, with a margin for footprints; all where that is not known. */
LamRange lam_geometry_rows_of_slice (const LamGeometry *g, int64_t k);

/* Angle range in degrees (largest - smallest + one mean step), and what the geometry needs: 180 (+ fan), or 360 when
 * the detector reaches less than half as far on one side of the axis as on the other. */
double lam_geometry_span (const LamGeometry *g);
double lam_geometry_span_needed (const LamGeometry *g);
/* The angle the detector subtends at the source, in degrees; 0 for parallel beam. */
double lam_geometry_fan (const LamGeometry *g);

/* The region of reconstruction: ascending indices row * columns + column. @n gets the count; never empty for a
 * valid geometry but when the ellipse holds no pixel (an error that says so). Freed with lam_free (). */
int32_t *lam_geometry_mask_pixels (const LamGeometry *g, int64_t *n, GError **error);

G_END_DECLS
