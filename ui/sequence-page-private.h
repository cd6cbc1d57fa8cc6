/* sequence-page-private.h: shared by sequence-page.c (the page and what it is made of), sequence-curves.c (signal and
 * sensitivities) and sequence-optimise-bar.c. */
#pragma once

#include "chart.h"
#include "curves-layer.h"
#include "group.h"
#include "sequence-page.h"

G_BEGIN_DECLS

/* What of the complex signal is drawn. */
typedef enum { PART_MAGNITUDE, PART_PHASE, PART_REAL, PART_IMAGINARY, PARTS } Part;

/* Sensitivities that can be drawn, each in its style. */
enum { BY = 3 };
extern const struct LamSensitivity {
  int kind;
  LamCurveStyle style;
  const char *name, *sign;
} lam_sensitivities[BY];

struct _LamSequencePage {
  AdwBin parent_instance;
  LamSequenceSession *session;
  AdwFlap *flap;
  GtkWidget *sidebar, *groups, *train, *times, *train_entry, *summary, *problem, *took, *legend;
  GtkWidget *sequence_slot, *parts[PARTS];
  GtkStack *tabs;
  GtkWidget *states, *tissues;
  GtkWidget *tab_bar, *tab_end; /* the switcher's line, and what a tab says at its end */
  LamGroup *model_group;
  LamChart *signal_chart, *sensitivity_chart;
  LamCurvesLayer *signal, *sensitivity;
  LamAxis *signal_x;
  GtkWidget *bounds, *optimise_label, *optimise_button, *stop_button, *back_button;
  LamSequenceOptimise *optimise;
  GtkWidget *maps;
  LamMapsModel *maps_model;
  LamSequenceCompare *compare;
  GtkWidget *by[BY]; /* which sensitivities are drawn */
  Part part;
  gboolean part_chosen; /* by hand: else what suits the signal */
  /* Of a Pulseq file, and what gives way to it. */
  LamPulseqLook *look;
  GtkWidget *timeline, *file_signal, *file_took, *problems, *problems_title, *kspace, *precision;
  GPtrArray *of_file, *of_template; /* widgets that are seen with a file, or without */
};

/* Signal "failed" of the session, or another reason; NULL: all is well. */
void lam_sequence_page_failed (LamSequenceSession *session, const char *text, LamSequencePage *self);

/* From sequence-curves.c. @before may be NULL. */
void lam_sequence_page_draw_signal (LamSequencePage *self, const LamSequenceResult *r, const LamSequenceResult *before);
void lam_sequence_page_draw_sensitivity (LamSequencePage *self, const LamSequenceResult *r);
/* A template that does not know a quantity has no sensitivity to it. */
void lam_sequence_page_offer_by (LamSequencePage *self, const LamSequenceResult *r);
void lam_sequence_page_write_legend (LamSequencePage *self);

/* A curve @y of LAM_BY_... @kind, where its toggle of @by is down. */
void lam_sensitivity_add (LamCurvesLayer *layer, const double *y, GListModel *tissues, int tissue, int kind,
                          GtkWidget *const by[BY]);
/* Toggles for them, kept in @by. */
GtkWidget *lam_sensitivity_buttons_new (GtkWidget *by[BY], GCallback toggled, gpointer data);

/* From sequence-optimise-bar.c: below the bounds. */
GtkWidget *lam_sequence_page_new_optimise_bar (LamSequencePage *self);

G_END_DECLS
