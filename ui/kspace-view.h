/* kspace-view.h: the samples of a Pulseq file in a plane of k-space; the wheel zooms at the pointer, a drag pans, a double
 * click shows all. */
#pragma once

#include <gtk/gtk.h>

#include "model/pulseq-kspace.h"

G_BEGIN_DECLS

#define LAM_TYPE_KSPACE_VIEW (lam_kspace_view_get_type ())
G_DECLARE_FINAL_TYPE (LamKspaceView, lam_kspace_view, LAM, KSPACE_VIEW, GtkWidget)

/* Signal "describe" (text): what is under the pointer, NULL: nothing. */
GtkWidget *lam_kspace_view_new (LamPulseqKspace *kspace);
void lam_kspace_view_set_plane (LamKspaceView *self, LamKspacePlane plane);
LamKspacePlane lam_kspace_view_get_plane (LamKspaceView *self);
void lam_kspace_view_fit (LamKspaceView *self);
/* 1/m for each pixel; 0: nothing is shown. */
double lam_kspace_view_get_scale (LamKspaceView *self);

G_END_DECLS
