/* bounds-view.h: Cramér–Rao bounds as bars: per quantity and tissue, in percent of the value, grey for before the drag. */
#pragma once

#include <gtk/gtk.h>

#include "model/sequence-session.h"

G_BEGIN_DECLS

#define LAM_TYPE_BOUNDS_VIEW (lam_bounds_view_get_type ())
G_DECLARE_FINAL_TYPE (LamBoundsView, lam_bounds_view, LAM, BOUNDS_VIEW, GtkWidget)

GtkWidget *lam_bounds_view_new (LamSequenceSession *session);

G_END_DECLS
