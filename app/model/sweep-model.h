/* sweep-model.h: slices over a range of one parameter of the geometry, as they come, and where the sharpest lies.
 *
 * Main thread; the work is a job of the session's queue (run/sweep.h). */
#pragma once

#include "model/session.h"
#include "run/sweep.h"

G_BEGIN_DECLS

#define LAM_TYPE_SWEEP_MODEL (lam_sweep_model_get_type ())
G_DECLARE_FINAL_TYPE (LamSweepModel, lam_sweep_model, LAM, SWEEP_MODEL, GObject)

/* Signals: changed (slices, numbers or running changed); failed (GError *). Values are in the unit of the parameter's row:
 * channels, degrees, the geometry's length. */
LamSweepModel *lam_sweep_model_new (LamSession *session);

/* Pixels that a slice of the sweep has at least on its longer side, where it has more. */
#define LAM_SWEEP_SMALL 168

/* Which parameters can be swept now: those of a cone only there. */
gboolean lam_sweep_model_can (LamSweepModel *self, LamSweepParameter parameter);
/* A range about the present value that suits: from @from to @to. */
void lam_sweep_model_suggest (LamSweepModel *self, LamSweepParameter parameter, double *from, double *to);
/* Replaces what was swept before. FALSE = refused, with the reason. */
gboolean lam_sweep_model_start (LamSweepModel *self, LamSweepParameter parameter, double from, double to, int count,
                                GError **error);
void lam_sweep_model_cancel (LamSweepModel *self);

gboolean lam_sweep_model_get_running (LamSweepModel *self);
const char *lam_sweep_model_get_unit (LamSweepModel *self); /* of the sweep that is there */
const char *lam_sweep_model_get_unit_of (LamSweepModel *self, LamSweepParameter parameter); /* of the next one */
/* By value, as far as they have come; slices are small pictures, made by the sweep's own thread. */
guint lam_sweep_model_get_n_steps (LamSweepModel *self);
void lam_sweep_model_get_step (LamSweepModel *self, guint i, double *value, double *score, LamSnapshot **slice);
/* x = value, one column "sharpness". */
LamSeries *lam_sweep_model_get_series (LamSweepModel *self);
/* When it is through: the sharpest value, its standard error and the confidence in it, and a word of why it is low, or NULL. */
gboolean lam_sweep_model_get_best (LamSweepModel *self, double *value, double *width, double *confidence,
                                   const char **note);
/* Sets the parameter to @value, as an edit. */
void lam_sweep_model_take (LamSweepModel *self, double value);

G_END_DECLS
