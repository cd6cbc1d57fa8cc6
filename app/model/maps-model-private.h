/* maps-model-private.h: shared by maps-model.c and maps-keep.c (what a session keeps of it). */
#pragma once

#include "model/maps-jobs.h"
#include "model/maps-model.h"
#include "run/newest.h"

G_BEGIN_DECLS

struct _LamMapsModel {
  GObject parent_instance;
  LamSequenceSession *session;
  LamQueue *queue;
  LamParameterList *parameters, *inputs;
  LamMapPictures *pictures;
  LamMapsDictionary *dictionary;
  LamMapsSeries *series;
  LamJob *jobs[LAM_MAPS_KINDS];
  char *errors[LAM_MAPS_KINDS], *texts[LAM_MAPS_KINDS], *forecast, *lacks, *saved;
  gboolean refused, stale, stale_phantom, save_failed, active, then_match;
  /* The forecast. */
  LamNewest *newest;
  LamControl control;
  guint forecast_source;
  gboolean forecasting, forecast_due;
  /* maps-keep.c */
  GVariant *kept;              /* of the session that was opened, until all that it tells of is here again; or NULL */
  gboolean asked_again, again; /* its things were asked for once; are being had again now */
  char *folder;                /* of the session's file, NULL: not known */
  GVariant *asked_rows, *made_rows; /* of the dictionary that is being made here, and of the one that was */
  gint64 asked_orders, made_orders;
  double made_seconds;
};

/* From maps-model.c. Takes @job; @now: it needs no device. */
gboolean lam_maps_model_start (LamMapsModel *self, LamMapsKind kind, LamJob *job, gboolean now);
void lam_maps_model_say_changed (LamMapsModel *self);
void lam_maps_model_say_error (LamMapsModel *self, LamMapsKind kind, const char *text);
/* Drops what goes on, without a word. */
void lam_maps_model_drop_jobs (LamMapsModel *self);

/* From maps-keep.c. */
void lam_maps_keep_init (LamMapsModel *self);
void lam_maps_keep_clear (LamMapsModel *self);
/* Somebody looks: what an opened session tells of is had again, once. */
void lam_maps_keep_begin (LamMapsModel *self);
/* Whether these maps, made again, are to be shown in the place of those that the session kept. */
gboolean lam_maps_keep_accepts (LamMapsModel *self, LamMapsResult *again);
/* A job ended, and none goes on; @failed: one of them. */
void lam_maps_keep_end (LamMapsModel *self, gboolean failed);
/* The dictionary that was asked for is there. */
void lam_maps_keep_made (LamMapsModel *self);
/* The person makes or opens something: that is what there is from now on. */
void lam_maps_keep_drop (LamMapsModel *self);

G_END_DECLS
