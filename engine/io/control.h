/* control.h: what a long read or write may ask of its caller. Any member may be NULL; so may the whole struct. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  /* TRUE when the person stopped it. Asked every few MB, from the calling thread; the call then ends with
   * LAM_ERROR_CANCELLED and leaves no half-written file. */
  gboolean (*cancelled) (gpointer data);
  /* @fraction 0..1 of this call; @what in words ("projections"). Called at most once every few MB. */
  void (*progress) (double fraction, const char *what, gpointer data);
  gpointer data;
} LamIoControl;

/* FALSE with LAM_ERROR_CANCELLED (naming @what) when the caller wants to stop; else reports progress. */
gboolean lam_io_control_step (const LamIoControl *control, double fraction, const char *what, GError **error);

G_END_DECLS
