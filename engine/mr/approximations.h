/* approximations.h: what leaving something out of a model costs. */
#pragma once

#include <glib.h>

#include "mr/model.h"

G_BEGIN_DECLS

/* For each voxel, the largest change from @less to @more, as a part of @more's peak. Of the same shape. */
void lam_signal_changes (const LamSignal *less, const LamSignal *more, double *change);

/* The least orders with which no voxel's signal is off by more than @most of its peak. @m and @finer are models of one protocol; their
 * orders are set by this. LAM_ERROR_NOT_SUPPORTED where it cannot be said: closed forms, several trains. */
gboolean lam_model_least_orders (LamModel *m, LamModel *finer, const LamTissues *tissues,
                                 const LamSimulateOptions *options, double most, LamDevices *devices,
                                 LamControl *control, int *orders, GError **error);

G_END_DECLS
