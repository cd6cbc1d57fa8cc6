/* slice-model.h: what the slice views show: the newest snapshot of each plane, and how it is looked at.
 *
 * The views set the wanted plane and index; "wanted" asks whoever can answer (a job, a result). Answers come through
 * lam_slice_model_take (), which refuses those of another generation. Quantiles and histogram of a new snapshot are
 * worked out on another thread; an automatic level follows them. */
#pragma once

#include <gio/gio.h>

#include "run/colour-map.h"
#include "run/snapshot.h"

G_BEGIN_DECLS

/* All planes of the volume and of the scan; each has a model of its own kind, and stays within it. */
#define LAM_ALL_PLANES (LAM_PLANE_SINOGRAM + 1)
/* Along a picture of the scan lie channels, which are no plane's index. */
#define LAM_AXES (LAM_ALL_PLANES + 1)

#define LAM_HISTOGRAM_BINS 192

/* What was worked out about one snapshot. */
typedef struct {
  uint64_t serial;                    /* counts up with each one */
  double low, high;                   /* smallest and largest finite value */
  double auto_low, auto_high;         /* 0.5 and 99.5 percentile */
  double robust_low, robust_high;     /* range of the second histogram: without the outermost 0.1 %, padded */
  int64_t full[LAM_HISTOGRAM_BINS];   /* counts over [low, high] */
  int64_t robust[LAM_HISTOGRAM_BINS]; /* counts over [robust_low, robust_high] */
} LamSliceStats;

#define LAM_TYPE_SLICE_MODEL (lam_slice_model_get_type ())
G_DECLARE_FINAL_TYPE (LamSliceModel, lam_slice_model, LAM, SLICE_MODEL, GObject)

/* Properties, all readable and notified: snapshot (changed; boxed pointer), stats, plane, index, count, low, high,
 * auto-level, inverted, colour-map, cursor, mark, generation, all-planes. Where all planes are shown, snapshot, index and mark
 * are notified for each of them.
 * Signal "wanted" (int plane, gint64 index). */
LamSliceModel *lam_slice_model_new (void);

/* Snapshots. The generation tells runs apart: bump it when data, parameters or the run change. Pictures already shown
 * stay until the first of the new generation comes. */
void lam_slice_model_set_generation (LamSliceModel *self, uint64_t generation);
uint64_t lam_slice_model_get_generation (LamSliceModel *self);
/* Takes the reference; FALSE = stale and dropped. */
gboolean lam_slice_model_take (LamSliceModel *self, LamSnapshot *snapshot);
void lam_slice_model_clear (LamSliceModel *self);
/* Newest of the shown plane, or of @plane; owned by the model, NULL while there is none. */
LamSnapshot *lam_slice_model_get_snapshot (LamSliceModel *self);
LamSnapshot *lam_slice_model_peek (LamSliceModel *self, LamPlane plane);
/* NULL until the first snapshot was worked through; valid until the next notify::stats. */
const LamSliceStats *lam_slice_model_get_stats (LamSliceModel *self);

/* How many slices, rows and columns there are; the wanted indices start in the middle. */
void lam_slice_model_set_extent (LamSliceModel *self, int64_t slices, int64_t rows, int64_t columns);
void lam_slice_model_set_plane (LamSliceModel *self, LamPlane plane);
LamPlane lam_slice_model_get_plane (LamSliceModel *self);
void lam_slice_model_set_index (LamSliceModel *self, int64_t index); /* kept within 0 .. count - 1 */
int64_t lam_slice_model_get_index (LamSliceModel *self);
int64_t lam_slice_model_get_count (LamSliceModel *self);
/* All three planes are wanted and shown at once, through one point of the volume: the crosshair of each is where the other two
 * are, and setting it moves them. The shown plane is then the one that was touched last. */
void lam_slice_model_set_all_planes (LamSliceModel *self, gboolean all);
gboolean lam_slice_model_get_all_planes (LamSliceModel *self);
gboolean lam_slice_model_is_wanted (LamSliceModel *self, LamPlane plane);
void lam_slice_model_set_plane_index (LamSliceModel *self, LamPlane plane, int64_t index);
int64_t lam_slice_model_get_plane_index (LamSliceModel *self, LamPlane plane);
int64_t lam_slice_model_get_plane_count (LamSliceModel *self, LamPlane plane);
/* Which planes' indices run along a picture of @plane: (rows, columns) for a slice; below LAM_AXES. */
void lam_plane_axes (LamPlane plane, LamPlane *down, LamPlane *across);

/* Window. Setting one ends the automatic level. */
void lam_slice_model_set_level (LamSliceModel *self, double low, double high);
void lam_slice_model_get_level (LamSliceModel *self, double *low, double *high);
gboolean lam_slice_model_get_auto_level (LamSliceModel *self);
void lam_slice_model_level_auto (LamSliceModel *self); /* 0.5 to 99.5 percentile, now and for what follows */
/* Automatic levels stay as they are: pictures that follow a hand are to be compared with each other. */
void lam_slice_model_hold_level (LamSliceModel *self, gboolean hold);
void lam_slice_model_level_full (LamSliceModel *self);  /* smallest to largest finite value */
void lam_slice_model_level_reset (LamSliceModel *self); /* automatic, upright, the colours it has at home: grey */
void lam_slice_model_set_home_colours (LamSliceModel *self, LamColourMap map);
/* The window lies evenly about 0, and the colours are those of a difference. */
void lam_slice_model_set_symmetric (LamSliceModel *self, gboolean symmetric);
void lam_slice_model_set_inverted (LamSliceModel *self, gboolean inverted);
gboolean lam_slice_model_get_inverted (LamSliceModel *self);
void lam_slice_model_set_colour_map (LamSliceModel *self, LamColourMap map);
LamColourMap lam_slice_model_get_colour_map (LamSliceModel *self);

/* Pixel under the pointer, and the one marked by a click or the keyboard (the crosshair). FALSE = none. */
void lam_slice_model_set_cursor (LamSliceModel *self, int64_t row, int64_t column);
void lam_slice_model_unset_cursor (LamSliceModel *self);
gboolean lam_slice_model_get_cursor (LamSliceModel *self, int64_t *row, int64_t *column);
void lam_slice_model_set_mark (LamSliceModel *self, int64_t row, int64_t column);
void lam_slice_model_unset_mark (LamSliceModel *self);
gboolean lam_slice_model_get_mark (LamSliceModel *self, int64_t *row, int64_t *column);
/* The same in a plane that need not be the shown one. */
void lam_slice_model_set_cursor_in (LamSliceModel *self, LamPlane plane, int64_t row, int64_t column);
LamPlane lam_slice_model_get_cursor_plane (LamSliceModel *self); /* the shown one while there is no cursor */
void lam_slice_model_set_mark_in (LamSliceModel *self, LamPlane plane, int64_t row, int64_t column);
gboolean lam_slice_model_get_mark_in (LamSliceModel *self, LamPlane plane, int64_t *row, int64_t *column);
/* The stored value of the cursor's plane, the shown one while there is none: nan and inf as such. FALSE = outside. */
gboolean lam_slice_model_get_value (LamSliceModel *self, int64_t row, int64_t column, float *value);
/* Why pixels can have no value, by lam_absent_why (), 0 left out, as N_ () texts that outlive the model; NULL: they all have one,
 * or nobody knows. */
void lam_slice_model_set_absent_words (LamSliceModel *self, const char *const *words, int n);
/* In words; NULL: it has a value, or it is not known. */
const char *lam_slice_model_get_absent (LamSliceModel *self, float value);
gboolean lam_slice_model_has_absent_words (LamSliceModel *self);
/* Line i of a sinogram is view @order[i] (@n of them; NULL = i): what is said of its pixels. */
void lam_slice_model_set_order (LamSliceModel *self, const int64_t *order, int64_t n);
int64_t lam_slice_model_get_ordered (LamSliceModel *self, int64_t line);
/* "row 412 col 233 · 0.00713 1/px" of the cursor, else of the mark; NULL when there is neither. */
char *lam_slice_model_describe_cursor (LamSliceModel *self);
/* How many values are not finite, or that none is, in words; NULL: all are. g_free (). */
char *lam_slice_model_describe_bad (LamSliceModel *self, LamSnapshot *shot);
/* Marks the next value after the mark that is not finite; FALSE = the picture has none. */
gboolean lam_slice_model_mark_next_bad (LamSliceModel *self);

/* A value with the digits that suit a window of width @window, typographic minus; nan and inf as such. */
char *lam_slice_model_format_value (double value, double window);

/* Nothing is being worked out any more; for tests. */
gboolean lam_slice_model_is_settled (LamSliceModel *self);

G_END_DECLS
