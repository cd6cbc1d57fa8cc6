#include "config.h"

#include "precision-tab.h"

#include <glib/gi18n.h>
#include <math.h>

#include "bounds-view.h"
#include "sequence-page-private.h"

#define SHOW_MS 500

struct _LamPrecisionTab {
  GtkBox parent_instance;
  LamSequenceSession *session;
  LamPulseqEstimate *estimate;
  LamChart *chart;
  LamCurvesLayer *layer;
  GtkWidget *by[BY], *bounds, *of, *samples, *why, *overlay, *box, *text, *bar, *button;
  Part part;
  guint show_source; /* progress is shown after a while only */
};

G_DEFINE_FINAL_TYPE (LamPrecisionTab, lam_precision_tab, GTK_TYPE_BOX)

/* ---- what there is ---- */

static void
draw (LamPrecisionTab *self)
{
  const LamSensitivityCurves *c = lam_pulseq_estimate_get_curves (self->estimate);
  GListModel *tissues = lam_sequence_session_get_tissues (self->session);
  lam_curves_layer_begin (self->layer, c != NULL ? c->x : NULL, c != NULL ? c->points : 0);
  for (int v = 0; c != NULL && v < c->tissues && v < (int) g_list_model_get_n_items (tissues); v++)
    for (int k = 0; k < c->kinds; k++)
      lam_sensitivity_add (self->layer, lam_sensitivity_curves_get (c, (LamSignalPart) self->part, v, k), tissues, v,
                           c->kind[k], self->by);
  lam_curves_layer_end (self->layer);
  gtk_label_set_text (GTK_LABEL (self->of), self->part == PART_REAL        ? _ ("of the real part, per 100 % of")
                                            : self->part == PART_IMAGINARY ? _ ("of the imaginary part, per 100 % of")
                                                                           : _ ("of the magnitude, per 100 % of"));
}

/* Why a tissue has no bounds: each reason once, with the tissues that it is of. */
static char *
reasons (LamPrecisionTab *self, const LamSequenceResult *r)
{
  GListModel *tissues = lam_sequence_session_get_tissues (self->session);
  g_autoptr (GString) text = g_string_new (NULL);
  for (int v = 0; r != NULL && v < r->tissues; v++) {
    gboolean said = r->why[v] == NULL;
    for (int u = 0; u < v; u++)
      said |= g_strcmp0 (r->why[u], r->why[v]) == 0;
    if (said)
      continue;
    g_string_append (text, text->len ? "\n" : "");
    for (int u = v, n = 0; u < r->tissues && u < (int) g_list_model_get_n_items (tissues); u++)
      if (g_strcmp0 (r->why[u], r->why[v]) == 0) {
        g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, u);
        g_string_append_printf (text, "%s%s", n++ ? ", " : "", lam_tissue_item_get_name (item));
      }
    g_string_append_printf (text, ": %s", r->why[v]);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
result_cb (LamPulseqEstimate *estimate, LamPrecisionTab *self)
{
  g_autofree char *why = reasons (self, lam_pulseq_estimate_get_result (estimate));
  gtk_label_set_text (GTK_LABEL (self->why), why);
  gtk_widget_set_visible (self->why, *why != '\0');
  draw (self);
}

static void
toggled_cb (GtkToggleButton *button, LamPrecisionTab *self)
{
  draw (self);
}

void
lam_precision_tab_set_part (LamPrecisionTab *self, int part)
{
  self->part = part;
  draw (self);
}

/* ---- what goes on ---- */

static void
update (LamPrecisionTab *self)
{
  LamPulseqSignalState state = lam_pulseq_estimate_get_state (self->estimate);
  gboolean running = state == LAM_PULSEQ_SIGNAL_RUNNING, ready = state == LAM_PULSEQ_SIGNAL_READY;
  const char *text = lam_pulseq_estimate_get_text (self->estimate);
  if (ready)
    gtk_label_set_text (GTK_LABEL (self->samples), text);
  else if (!running)
    gtk_label_set_text (GTK_LABEL (self->samples), "");
  gtk_label_set_text (GTK_LABEL (self->text), text != NULL ? text : "");
  gtk_widget_set_visible (self->bar, running);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), lam_pulseq_estimate_get_fraction (self->estimate));
  gtk_button_set_label (GTK_BUTTON (self->button), running ? _ ("Stop") : _ ("Compute"));
  gtk_widget_set_visible (self->button,
                          running || state == LAM_PULSEQ_SIGNAL_LARGE || state == LAM_PULSEQ_SIGNAL_STOPPED);
  gtk_widget_set_visible (self->box, !ready && (!running || self->show_source == 0));
  /* An empty grid is no paper for words. */
  gtk_widget_set_opacity (GTK_WIDGET (self->chart), ready || running ? 1 : 0);
  gtk_widget_queue_draw (self->bounds);
}

static gboolean
show_cb (gpointer data)
{
  LamPrecisionTab *self = data;
  self->show_source = 0;
  update (self);
  return G_SOURCE_REMOVE;
}

static void
changed_cb (LamPulseqEstimate *estimate, LamPrecisionTab *self)
{
  gboolean running = lam_pulseq_estimate_get_state (estimate) == LAM_PULSEQ_SIGNAL_RUNNING;
  if (!running)
    g_clear_handle_id (&self->show_source, g_source_remove);
  else if (self->show_source == 0 && !gtk_widget_get_visible (self->box))
    self->show_source = g_timeout_add (SHOW_MS, show_cb, self);
  update (self);
}

static void
clicked_cb (GtkButton *button, LamPrecisionTab *self)
{
  if (lam_pulseq_estimate_get_state (self->estimate) == LAM_PULSEQ_SIGNAL_RUNNING)
    lam_pulseq_estimate_stop (self->estimate);
  else
    lam_pulseq_estimate_start (self->estimate);
}

/* ---- the tab ---- */

LamChart *
lam_precision_tab_get_chart (LamPrecisionTab *self)
{
  return self->chart;
}

GtkWidget *
lam_precision_tab_get_bounds (LamPrecisionTab *self)
{
  return self->bounds;
}

GtkWidget *
lam_precision_tab_get_button (LamPrecisionTab *self)
{
  return self->button;
}

const char *
lam_precision_tab_get_text (LamPrecisionTab *self)
{
  return gtk_label_get_text (GTK_LABEL (self->samples));
}

const char *
lam_precision_tab_get_why (LamPrecisionTab *self)
{
  return gtk_label_get_text (GTK_LABEL (self->why));
}

static GtkWidget *
new_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, class);
  return label;
}

static GtkWidget *
new_hint (const char *text)
{
  GtkWidget *label = new_label (text, "dim-label");
  gtk_widget_add_css_class (label, "pane-hint");
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  return label;
}

/* A card with a title, what stands at its end, and a body. */
static GtkWidget *
new_card (const char *title, GtkWidget *end, GtkWidget *body)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4), *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8),
            *label = new_label (title, "pane-title");
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "pane");
  gtk_widget_set_hexpand (label, TRUE);
  gtk_box_append (GTK_BOX (head), label);
  gtk_box_append (GTK_BOX (head), end);
  gtk_box_append (GTK_BOX (card), head);
  gtk_widget_set_vexpand (body, TRUE);
  gtk_box_append (GTK_BOX (card), body);
  return card;
}

/* Over the chart, in the place of what is not there. */
static GtkWidget *
new_box (LamPrecisionTab *self)
{
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  self->text = gtk_label_new ("");
  self->bar = gtk_progress_bar_new ();
  self->button = gtk_button_new_with_label (_ ("Compute"));
  gtk_label_set_wrap (GTK_LABEL (self->text), TRUE);
  gtk_label_set_justify (GTK_LABEL (self->text), GTK_JUSTIFY_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->bar), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Derivatives"), -1);
  gtk_widget_add_css_class (self->button, "compact");
  gtk_widget_set_halign (self->button, GTK_ALIGN_CENTER);
  gtk_widget_set_halign (self->box, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->box, GTK_ALIGN_CENTER);
  g_signal_connect (self->button, "clicked", G_CALLBACK (clicked_cb), self);
  gtk_box_append (GTK_BOX (self->box), self->text);
  gtk_box_append (GTK_BOX (self->box), self->bar);
  gtk_box_append (GTK_BOX (self->box), self->button);
  return self->box;
}

static GtkWidget *
new_sensitivity (LamPrecisionTab *self)
{
  g_autoptr (LamAxis) x = lam_axis_new (_ ("time, s"), FALSE), y = lam_axis_new (_ ("sensitivity"), FALSE);
  GtkWidget *end = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *overlay = gtk_overlay_new ();
  self->chart = LAM_CHART (lam_chart_new (x, y, NULL));
  self->layer = LAM_CURVES_LAYER (lam_curves_layer_new (y));
  lam_chart_add_layer (self->chart, LAM_CHART_LAYER (self->layer));
  lam_chart_set_label (self->chart, _ ("Sensitivity of the file's samples over time"));
  gtk_overlay_set_child (GTK_OVERLAY (overlay), GTK_WIDGET (self->chart));
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), new_box (self));
  self->of = new_hint ("");
  gtk_box_append (GTK_BOX (end), self->of);
  gtk_box_append (GTK_BOX (end), lam_sensitivity_buttons_new (self->by, G_CALLBACK (toggled_cb), self));
  return new_card (_ ("Sensitivity"), end, overlay);
}

static GtkWidget *
new_precision (LamPrecisionTab *self)
{
  GtkWidget *card;
  self->bounds = lam_bounds_view_new (self->session);
  self->why = new_hint ("");
  gtk_label_set_wrap (GTK_LABEL (self->why), TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (self->why), PANGO_ELLIPSIZE_NONE);
  gtk_widget_set_visible (self->why, FALSE);
  gtk_widget_set_size_request (self->bounds, -1, 150);
  card = new_card (_ ("Precision"), new_hint (_ ("Cramér–Rao, % of the value · T1, T2 and M0 together, B1 known")),
                   self->bounds);
  gtk_box_append (GTK_BOX (card), self->why);
  return card;
}

static void
lam_precision_tab_dispose (GObject *object)
{
  LamPrecisionTab *self = LAM_PRECISION_TAB (object);
  g_clear_handle_id (&self->show_source, g_source_remove);
  g_clear_object (&self->estimate);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_precision_tab_parent_class)->dispose (object);
}

static void
lam_precision_tab_class_init (LamPrecisionTabClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_precision_tab_dispose;
}

static void
lam_precision_tab_init (LamPrecisionTab *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 10);
  gtk_widget_set_margin_start (GTK_WIDGET (self), 10);
  gtk_widget_set_margin_end (GTK_WIDGET (self), 10);
  gtk_widget_set_margin_bottom (GTK_WIDGET (self), 10);
}

GtkWidget *
lam_precision_tab_new (LamSequenceSession *session)
{
  LamPrecisionTab *self = g_object_new (LAM_TYPE_PRECISION_TAB, NULL);
  self->session = g_object_ref (session);
  self->estimate = g_object_ref (lam_sequence_session_get_pulseq_estimate (session));
  GtkWidget *sensitivity = new_sensitivity (self), *precision = new_precision (self);
  self->samples = new_hint ("");
  gtk_widget_set_vexpand (sensitivity, TRUE);
  gtk_box_append (GTK_BOX (self), self->samples);
  gtk_box_append (GTK_BOX (self), sensitivity);
  gtk_box_append (GTK_BOX (self), precision);
  g_signal_connect_object (self->estimate, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (self->estimate, "result", G_CALLBACK (result_cb), self, 0);
  update (self);
  draw (self);
  return GTK_WIDGET (self);
}
