#include "config.h"

#include "file-signal.h"

#include <glib/gi18n.h>

#include "chart.h"
#include "curves-layer.h"
#include "draw/timeline.h"
#include "model/tissue-item.h"

struct _LamFileSignal {
  GtkWidget parent_instance;
  LamPulseqSignal *signal;
  LamPulseqLook *look;
  GListModel *tissues;
  LamChart *chart;
  LamCurvesLayer *layer;
  LamSignalPart part;
  GtkWidget *overlay, *box, *text, *bar, *button;
  guint show_source; /* progress is shown after a while only */
};

G_DEFINE_FINAL_TYPE (LamFileSignal, lam_file_signal, GTK_TYPE_WIDGET)

#define SHOW_MS 500

static void
ask (LamFileSignal *self)
{
  int64_t t0, t1;
  lam_pulseq_look_get_range (self->look, &t0, &t1);
  lam_chart_set_x_span (self->chart, (double) t0 * 1e-12, (double) t1 * 1e-12);
  lam_pulseq_signal_set_window (self->signal, t0, t1, MAX (gtk_widget_get_width (GTK_WIDGET (self)), 100), self->part);
}

static void
range_changed_cb (LamPulseqLook *look, LamFileSignal *self)
{
  ask (self);
}

static void
curves_cb (LamPulseqSignal *signal, LamFileSignal *self)
{
  LamPulseqCurves c;
  gboolean any = lam_pulseq_signal_get_curves (signal, &c);
  lam_curves_layer_begin (self->layer, c.x, any ? (int) c.n : 0);
  for (int v = 0; any && v < c.tissues && v < (int) g_list_model_get_n_items (self->tissues); v++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (self->tissues, v);
    lam_curves_layer_add (self->layer, c.y + v * c.stride, lam_tissue_item_get_colour (item), LAM_CURVE_SOLID,
                          lam_tissue_item_get_name (item));
  }
  lam_curves_layer_end (self->layer);
}

static void
update_box (LamFileSignal *self)
{
  LamPulseqSignalState state = lam_pulseq_signal_get_state (self->signal);
  gboolean running = state == LAM_PULSEQ_SIGNAL_RUNNING, large = state == LAM_PULSEQ_SIGNAL_LARGE;
  const char *text = lam_pulseq_signal_get_text (self->signal);
  gtk_label_set_text (GTK_LABEL (self->text), text != NULL ? text : "");
  gtk_widget_set_visible (self->bar, running);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), lam_pulseq_signal_get_fraction (self->signal));
  gtk_button_set_label (GTK_BUTTON (self->button), running ? _ ("Stop") : _ ("Simulate"));
  gtk_widget_set_visible (self->button, running || large || state == LAM_PULSEQ_SIGNAL_STOPPED);
  gtk_widget_set_visible (self->box, state != LAM_PULSEQ_SIGNAL_READY && (!running || self->show_source == 0));
}

static gboolean
show_cb (gpointer data)
{
  LamFileSignal *self = data;
  self->show_source = 0;
  update_box (self);
  return G_SOURCE_REMOVE;
}

static void
changed_cb (LamPulseqSignal *signal, LamFileSignal *self)
{
  gboolean running = lam_pulseq_signal_get_state (signal) == LAM_PULSEQ_SIGNAL_RUNNING;
  if (!running)
    g_clear_handle_id (&self->show_source, g_source_remove);
  else if (self->show_source == 0 && !gtk_widget_get_visible (self->box))
    self->show_source = g_timeout_add (SHOW_MS, show_cb, self);
  update_box (self);
}

static void
clicked_cb (GtkButton *button, LamFileSignal *self)
{
  if (lam_pulseq_signal_get_state (self->signal) == LAM_PULSEQ_SIGNAL_RUNNING)
    lam_pulseq_signal_stop (self->signal);
  else
    lam_pulseq_signal_start (self->signal);
}

void
lam_file_signal_set_part (LamFileSignal *self, LamSignalPart part)
{
  self->part = part;
  ask (self);
}

GtkWidget *
lam_file_signal_get_chart (LamFileSignal *self)
{
  return GTK_WIDGET (self->chart);
}

GtkWidget *
lam_file_signal_get_button (LamFileSignal *self)
{
  return self->button;
}

static void
lam_file_signal_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LamFileSignal *self = LAM_FILE_SIGNAL (widget);
  gtk_widget_size_allocate (self->overlay, &(GtkAllocation){0, 0, width, height}, baseline);
  ask (self);
}

static void
lam_file_signal_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                         int *minimum_baseline, int *natural_baseline)
{
  gtk_widget_measure (LAM_FILE_SIGNAL (widget)->overlay, orientation, for_size, minimum, natural, NULL, NULL);
}

static void
lam_file_signal_dispose (GObject *object)
{
  LamFileSignal *self = LAM_FILE_SIGNAL (object);
  g_clear_handle_id (&self->show_source, g_source_remove);
  g_clear_pointer (&self->overlay, gtk_widget_unparent);
  g_clear_object (&self->signal);
  g_clear_object (&self->look);
  g_clear_object (&self->tissues);
  G_OBJECT_CLASS (lam_file_signal_parent_class)->dispose (object);
}

static void
lam_file_signal_class_init (LamFileSignalClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_file_signal_dispose;
  widget_class->size_allocate = lam_file_signal_size_allocate;
  widget_class->measure = lam_file_signal_measure;
}

static void
lam_file_signal_init (LamFileSignal *self)
{
  g_autoptr (LamAxis) x = lam_axis_new (_ ("time, s"), FALSE), y = lam_axis_new (_ ("signal"), FALSE);
  self->chart = LAM_CHART (lam_chart_new (x, y, NULL));
  self->layer = LAM_CURVES_LAYER (lam_curves_layer_new (y));
  lam_chart_add_layer (self->chart, LAM_CHART_LAYER (self->layer));
  lam_chart_fix_x (self->chart, LAM_TIMELINE_LEFT, LAM_TIMELINE_RIGHT);
  lam_chart_set_label (self->chart, _ ("Signal of the file over time"));
  self->overlay = gtk_overlay_new ();
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  self->text = gtk_label_new ("");
  self->bar = gtk_progress_bar_new ();
  self->button = gtk_button_new_with_label (_ ("Simulate"));
  gtk_label_set_wrap (GTK_LABEL (self->text), TRUE);
  gtk_label_set_justify (GTK_LABEL (self->text), GTK_JUSTIFY_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->bar), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Simulation"), -1);
  gtk_widget_add_css_class (self->button, "compact");
  gtk_widget_set_halign (self->button, GTK_ALIGN_CENTER);
  gtk_widget_set_halign (self->box, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->box, GTK_ALIGN_CENTER);
  g_signal_connect (self->button, "clicked", G_CALLBACK (clicked_cb), self);
  gtk_box_append (GTK_BOX (self->box), self->text);
  gtk_box_append (GTK_BOX (self->box), self->bar);
  gtk_box_append (GTK_BOX (self->box), self->button);
  gtk_overlay_set_child (GTK_OVERLAY (self->overlay), GTK_WIDGET (self->chart));
  gtk_overlay_add_overlay (GTK_OVERLAY (self->overlay), self->box);
  gtk_widget_set_parent (self->overlay, GTK_WIDGET (self));
}

GtkWidget *
lam_file_signal_new (LamPulseqSignal *signal, LamPulseqLook *look, GListModel *tissues)
{
  LamFileSignal *self = g_object_new (LAM_TYPE_FILE_SIGNAL, NULL);
  self->signal = g_object_ref (signal);
  self->look = g_object_ref (look);
  self->tissues = g_object_ref (tissues);
  g_signal_connect_object (signal, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (signal, "curves", G_CALLBACK (curves_cb), self, 0);
  g_signal_connect_object (look, "range-changed", G_CALLBACK (range_changed_cb), self, 0);
  update_box (self);
  return GTK_WIDGET (self);
}
