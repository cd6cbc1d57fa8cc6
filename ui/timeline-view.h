/* timeline-view.h: the events of a Pulseq file over time, with rulers; the wheel zooms at the pointer, a drag pans, Shift and a
 * drag measure, a double click shows all. */
#pragma once

#include <gtk/gtk.h>

#include "model/pulseq-look.h"

G_BEGIN_DECLS

#define LAM_TYPE_TIMELINE_VIEW (lam_timeline_view_get_type ())
G_DECLARE_FINAL_TYPE (LamTimelineView, lam_timeline_view, LAM, TIMELINE_VIEW, GtkWidget)

/* Signal "describe" (text): what is under the pointer, NULL: nothing. */
GtkWidget *lam_timeline_view_new (LamPulseqLook *look);
/* A place that is meant, as a line; -1: none. */
void lam_timeline_view_set_mark (LamTimelineView *self, int64_t ps);
int64_t lam_timeline_view_get_mark (LamTimelineView *self);
/* Where @ps is in the widget, and what time is at @x. */
double lam_timeline_view_get_x (LamTimelineView *self, int64_t ps);
int64_t lam_timeline_view_get_time (LamTimelineView *self, double x);
/* What Shift and a drag measured, ps; FALSE: nothing. */
gboolean lam_timeline_view_get_measured (LamTimelineView *self, int64_t *from, int64_t *to);
/* What the last picture of the events took to make, us of the main thread. */
gint64 lam_timeline_view_get_paint_us (LamTimelineView *self);

G_END_DECLS
