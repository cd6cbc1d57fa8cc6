/* slice-view-private.h: shared by slice-view.c (what is shown), slice-input.c (the hands on it) and slice-tools.c (the hands
 * on measured shapes). */
#pragma once

#include "slice-gl.h"
#include "slice-port.h"
#include "slice-view.h"

G_BEGIN_DECLS

typedef enum { LAM_DRAG_NONE, LAM_DRAG_PAN, LAM_DRAG_LEVEL, LAM_DRAG_MARK, LAM_DRAG_SHAPE } LamSliceDrag;

struct _LamSliceView {
  GtkWidget parent_instance;
  LamSliceModel *model;
  LamMeasure *measure; /* of that model, or NULL */
  LamSliceTool tool;
  GtkWidget *area; /* GtkGLArea */
  LamSliceGl *gl;  /* while realized and GL works */
  LamSnapshot *drawn;
  gboolean use_gl, gl_decided, map_stale; /* gl_decided: not by what draws the window */
  gboolean crosshair, window_tool, offers_planes, bar_in_copies;

  LamSliceLine line;
  double stretch;
  LamSlicePort *port; /* where the picture is */
  int plane;          /* shown always; -1 = the model's */
  char *title;        /* of several views, for screen readers; or NULL */
  char *placeholder;  /* said where there is no picture */

  /* The CPU's picture. One worker at a time; again = something changed meanwhile. */
  cairo_surface_t *picture; /* by the CPU */
  gboolean working, again;

  /* A drag under way, with the state it began with. */
  LamSliceDrag drag;
  double start_low, start_high, start_centre_x, start_centre_y, start_zoom, pointer_x, pointer_y;
  int grip; /* what of start_shape is held; LAM_SHAPE_OUTSIDE = a new one is drawn */
  LamMeasureSlot grip_slot;
  LamShape start_shape;
  const char *cursor_name; /* of the pointer, as it was set last */
  double wheel;            /* smooth scrolling collected until it makes a step */
};

/* From slice-input.c. */
void lam_slice_input_class_init (GtkWidgetClass *klass);
void lam_slice_input_init (LamSliceView *self);
/* What a drag of ten pixels that way does to the level; with fractions a finer step. */
void lam_slice_input_nudge_level (LamSliceView *self, double dx, double dy);

/* From slice-tools.c. */
void lam_slice_tools_class_init (GtkWidgetClass *klass);
gboolean lam_slice_tools_press (LamSliceView *self, double x, double y); /* TRUE = a shape is drawn or held from here */
void lam_slice_tools_drag (LamSliceView *self, double x, double y, double dx, double dy);
void lam_slice_tools_motion (LamSliceView *self, double x, double y);
gboolean lam_slice_tools_remove (LamSliceView *self);
const char *lam_slice_tools_hint (LamSliceView *self);

LamSnapshot *lam_slice_view_get_shot (LamSliceView *self);             /* to be shown; NULL = none */
void lam_slice_view_get_look (LamSliceView *self, LamSliceLook *look); /* in device pixels */
/* Widget pixels per pixel along both axes, and the picture's size; FALSE = no picture. */
gboolean lam_slice_view_get_scale (LamSliceView *self, double *scale_x, double *scale_y);
void lam_slice_view_redraw (LamSliceView *self); /* picture and overlay */
void lam_slice_view_set_zoom (LamSliceView *self, double zoom, double centre_x, double centre_y);

G_END_DECLS
