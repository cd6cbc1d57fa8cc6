/* sweep.h: one slice over a range of one parameter, each judged by its sharpness; where the sharpest lies and how sure that is.
 *
 * The slice is filtered back projection's (live.h). It is blurred by one pixel first, which takes most of the noise and
 * little of the shape. Then, which score can see a wrong axis depends on the turn:
 *   more than half a turn: energy, the sum of squares. Every edge is measured from two sides; where the two do not meet, it is
 *     blurred, and energy falls. Noise has the same energy wherever the axis is, so it takes nothing from the top.
 *   half a turn (parallel beam): no sum of squares can tell, since a shift only turns the phases of the slice's spectrum.
 *     The entropy of the grey values is taken, negated: a wrong axis smears each edge to one side and so fills the histogram
 *     between the grey values of the object. Noise widens all of it alike.
 *   a tilt: entropy too, since energy depends on what else the tilted plane cuts.
 *   source to detector: the energy of the gradient by that of the values, since the values themselves change with it. It needs
 *     structure far from the axis and a wide fan; else the top lies at an end of the range and the confidence is 0.1 at most.
 *   source to axis: none. In cone beam this distance only scales the object (the fan is the detector's and its distance's), so
 *     its slices are made, and the answer says that they cannot tell.
 * Scores are told per pixel, so that sizes compare. For the tilt all views are resampled with a smooth kernel (cubic
 * B-spline), also at 0: with a sharp one the noise, and with it the score, would depend on where samples fall between pixels.
 * For the distances the voxels keep their size on the detector, so that only the fan changes and not the scale.
 *
 * The sharpest is looked for between the slices too, at positions that halve the step; the best value is the top of a
 * parabola through what lies about it. Its width is a jackknife over eight parts of the picture, as of LamCenter, and so is
 * the confidence: clear, single and inside of the range. */
#pragma once

#include "run/dataset.h"
#include "run/job.h"
#include "run/snapshot.h"

G_BEGIN_DECLS

typedef enum {
  LAM_SWEEP_CENTER,          /* channel index of the dataset's detector */
  LAM_SWEEP_TILT,            /* radians, beyond what the dataset was prepared with */
  LAM_SWEEP_SOURCE_AXIS,     /* cone beam; a length */
  LAM_SWEEP_SOURCE_DETECTOR, /* cone beam; a length */
  LAM_SWEEP_COUNT
} LamSweepParameter;

/* "center", "tilt", "source-axis", "source-detector". */
const char *lam_sweep_parameter_name (LamSweepParameter parameter);
gboolean lam_sweep_parameter_from_name (const char *name, LamSweepParameter *parameter, GError **error);

typedef struct {
  LamSweepParameter parameter;
  double from, to;     /* the first and the last value; from < to */
  int count;           /* slices: 3 to 99 (9) */
  int64_t slice;       /* of the volume; -1: lam_sweep_slice () */
  const char *devices; /* as of lam_devices_new (); not owned */
  int64_t small;       /* of a job: its steps' slices are shrunk to about so many pixels; 0: as they are */
} LamSweepParams;

void lam_sweep_params_init (LamSweepParams *params, LamSweepParameter parameter);
/* The middle; for a tilt, which the middle does not feel in its axis, a quarter from the top. */
int64_t lam_sweep_slice (const LamGeometry *g, LamSweepParameter parameter);

typedef struct {
  double value, score; /* higher is sharper */
  LamSnapshot *slice;
} LamSweepStep;

/* Counted. */
typedef struct {
  gatomicrefcount refs;
  LamSweepParams params; /* devices: NULL; slice: which */
  LamSweepStep *steps;   /* [params.count], by value */
  int sharpest;          /* of them */
  double best;           /* by the parabola */
  double width;          /* standard error of best, in the parameter's unit */
  double confidence;     /* 0: a guess, 1: a clear and single top */
  const char *method;    /* static text: the score */
  const char *note;      /* static text: why the confidence is low, or NULL */
} LamSweepResult;

void lam_sweep_result_unref (LamSweepResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamSweepResult, lam_sweep_result_unref)

/* Called on the caller's thread for each slice as it is made, by value; @step lives as long as the call. */
typedef void (*LamSweepFunc) (const LamSweepStep *step, int index, gpointer data);

/* FALSE naming what cannot be swept; nothing is made. */
gboolean lam_sweep_check (const LamDataset *dataset, const LamSweepParams *params, GError **error);
LamSweepResult *lam_sweep (LamDataset *dataset, const LamSweepParams *params, LamControl *control, LamSweepFunc func,
                           gpointer data, GError **error);

/* The same as a job: "changed" comes for each slice, its result is a LamSweepResult. */
LamJob *lam_job_new_sweep (LamDataset *dataset, const LamSweepParams *params);
/* Any thread: the slices made so far, from the @from-th on: of LamSweepStep, each with a reference; g_array_unref (). NULL for
 * another kind of job. */
GArray *lam_job_sweep_dup_steps (LamJob *job, guint from);

G_END_DECLS
