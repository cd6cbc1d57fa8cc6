/* preprocess.h: from counts to a -log sinogram, and corrections of it (spec/ct.md section 10).
 *
 * Arrays are [view][row][channel] floats, changed in place unless said otherwise. Views are independent of each other
 * but where a function says so: threads may share the work by views. Nothing is repaired silently: a report counts it. */
#pragma once

#include <glib.h>

#include "core/control.h"
#include "ct/geometry.h"

G_BEGIN_DECLS

/* --- Counts to -log transmission --- */

/* What becomes of a sample that has no -log: at or below 0, flat = dark, not finite, or on the list of defects. */
typedef enum {
  LAM_DEFECT_INTERPOLATE, /* mean of the finite 3 x 3 neighbours in its view; what no pass reaches becomes 0 */
  LAM_DEFECT_MASK,        /* 0, with weight 0 */
  LAM_DEFECT_COUNT
} LamDefectPolicy;

/* "interpolate", "mask". */
const char *lam_defect_policy_name (LamDefectPolicy policy);
gboolean lam_defect_policy_from_name (const char *name, LamDefectPolicy *policy, GError **error);

typedef struct {
  LamDefectPolicy policy;
  int passes;             /* of the interpolation */
  gboolean clamp_above;   /* transmission above 1 becomes 1; else it is kept (a negative -log) */
  gboolean magnitude;     /* |counts - dark| / |flat - dark|, as MBIRJAX: counts below the dark are not seen as such */
  const int32_t *defects; /* [n_defects][2] (row, channel), or NULL; not owned */
  int64_t n_defects;
} LamTransmissionOptions;

/* Interpolate in 3 passes, keep what is above 1. */
void lam_transmission_options_init (LamTransmissionOptions *options);

/* What was met; a sample counts under the first that holds. */
typedef struct {
  int64_t samples;
  int64_t listed;     /* on the list of defects */
  int64_t non_finite; /* counts, flat or dark */
  int64_t flat_dark;  /* flat = dark */
  int64_t below;      /* transmission at or below 0 */
  int64_t above;      /* transmission above 1: no defect */
  int64_t filled;     /* defects interpolated */
  int64_t left;       /* defects that became 0 */
  int64_t masked;     /* defects given weight 0 */
} LamTransmissionReport;

void lam_transmission_report_add (LamTransmissionReport *sum, const LamTransmissionReport *part);
/* "2 at or below 0, 1 above 1, 1 with flat = dark: 3 filled from their neighbours"; g_free (). */
char *lam_transmission_report_text (const LamTransmissionReport *report, const LamTransmissionOptions *options);

/* Mean of @n frames of rows x channels, sums in double. */
gboolean lam_mean_frames (const float *frames, int64_t n, int64_t rows, int64_t channels, float *mean, GError **error);

/* @data: counts in, -log transmission out, always finite. @flat, @dark (or NULL: 0): [row][channel]. @weights: as
 * @data, or NULL; needed by LAM_DEFECT_MASK, which writes zeros into it and leaves the rest; interpolation puts zeros
 * where nothing could be filled. @report is added to (start from zeros). @control may be NULL. */
gboolean lam_transmission (float *data, int64_t views, int64_t rows, int64_t channels, const float *flat,
                           const float *dark, const LamTransmissionOptions *options, float *weights,
                           LamTransmissionReport *report, LamControl *control, GError **error);

/* Fills the samples of one view that are not finite; @scratch: rows x channels floats. Returns how many were filled,
 * and in @left how many became 0. */
int64_t lam_fill_defects (float *view, int64_t rows, int64_t channels, int passes, float *scratch, int64_t *left);

/* --- Detector --- */

/* Turns each view by @angle (radians) about the detector's middle: out (m, n) is sampled, bilinearly, at row
 * c (m - cm) + s (n - cn) + cm, channel -s (m - cm) + c (n - cn) + cn; 0 outside. */
gboolean lam_rotate_detector (float *data, int64_t views, int64_t rows, int64_t channels, double angle,
                              LamControl *control, GError **error);
/* The same for rows @out_rows of one view of @rows, from @in, which holds its rows @in_rows: lam_rotate_needs () of them.
 * Places less than @margin outside take what the edge has: with 0 half of the first and last row of a view that is turned
 * by next to nothing would be lost. Returns how many samples became 0. */
int64_t lam_rotate_rows (const float *in, LamRange in_rows, int64_t rows, int64_t channels, double angle, double margin,
                         LamRange out_rows, float *out);
LamRange lam_rotate_needs (int64_t rows, int64_t channels, double angle, LamRange out_rows);

/* Mean of blocks of row_factor x channel_factor, samples that are not finite left out (a block of none becomes NaN);
 * rows and channels that fill no block are dropped at the end. @out: [view][rows / row_factor][channels /
 * channel_factor]; may be @in. */
gboolean lam_bin (const float *in, int64_t views, int64_t rows, int64_t channels, int64_t row_factor,
                  int64_t channel_factor, float *out, GError **error);
/* The same for the geometry: pitches grow, offsets follow the dropped samples, so that the axis stays where it is in
 * lengths. The volume is left alone: lam_geometry_auto_volume () comes next. */
gboolean lam_geometry_bin (LamGeometry *g, int64_t row_factor, int64_t channel_factor, GError **error);
/* Keeps rows and channels of these ranges; offsets follow. */
gboolean lam_geometry_crop (LamGeometry *g, LamRange rows, LamRange channels, GError **error);

/* --- Offsets --- */

/* What the detector reads beside the object: the median over (some) views of the lower of its two side medians. */
gboolean lam_air_level (const float *data, int64_t views, int64_t rows, int64_t channels, double *air, GError **error);
/* "air reads 0.050: ..." when it is further from 0 than 0.02; else NULL. g_free (). */
char *lam_air_warning (double air);

typedef enum {
  LAM_BACKGROUND_GLOBAL,   /* one number: the 10th percentile over the views */
  LAM_BACKGROUND_PER_VIEW, /* each view's own */
} LamBackgroundMode;

/* Takes the background off: of each view the median of the medians of its left, right and top edge. Looks at all
 * views. @removed, if not NULL, gets the largest amount. */
gboolean lam_remove_background (float *data, int64_t views, int64_t rows, int64_t channels, int64_t edge_width,
                                LamBackgroundMode mode, double *removed, GError **error);
/* The two steps of it: one view's own (@scratch: rows x channels), and the 10th percentile of all, which are sorted. */
double lam_view_background (const float *view, int64_t rows, int64_t channels, int64_t edge_width, double *scratch);
double lam_background_level (double *offsets, int64_t views);
/* Every line gets the mean that its row's lowest view has. Looks at all views. */
gboolean lam_equalize_means (float *data, int64_t views, int64_t rows, int64_t channels, GError **error);
/* Beam hardening: sum of coefficients[k] y^(k + 1). */
void lam_apply_polynomial (float *samples, int64_t n, const double *coefficients, int count);
/* Bright spots: samples below -ratio times the object's rms, and those not finite, are filled. @count gets how many. */
gboolean lam_remove_zingers (float *data, const LamGeometry *g, double ratio, int passes, int64_t *count,
                             GError **error);
/* The two steps of it: the limit from (some) views of @data, and one view (@scratch: as long); how many were filled. */
gboolean lam_zinger_limit (const float *data, const LamGeometry *g, double ratio, double *limit, GError **error);
int64_t lam_fill_zingers (float *view, int64_t rows, int64_t channels, double limit, int passes, float *scratch);

G_END_DECLS
