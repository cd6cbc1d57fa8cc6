#include "config.h"

#include "profile-card.h"

#include <glib/gi18n.h>
#include <math.h>

#include "line-layer.h"
#include "model/units.h"

struct _LamProfileCard {
  GtkBox parent_instance;
  LamMeasure *measure;
  GtkWidget *hint, *chart;
  LamSeries *series;
  char *unit, *value_unit; /* that the chart was made for */
};

G_DEFINE_FINAL_TYPE (LamProfileCard, lam_profile_card, GTK_TYPE_BOX)

/* Axes and columns have their units for life. */
static void
build_chart (LamProfileCard *self, const LamProfile *profile)
{
  if (self->chart != NULL && g_str_equal (self->unit, profile->unit)
      && g_str_equal (self->value_unit, profile->value_unit))
    return;
  if (self->chart != NULL)
    gtk_box_remove (GTK_BOX (self), self->chart);
  g_clear_object (&self->series);
  g_free (self->unit);
  g_free (self->value_unit);
  self->unit = g_strdup (profile->unit);
  self->value_unit = g_strdup (profile->value_unit);
  g_autofree char *label = g_strdup_printf (_ ("length (%s)"), self->unit);
  g_autoptr (LamAxis) x = lam_axis_new (label, FALSE), y = lam_axis_new (self->value_unit, FALSE);
  self->series = lam_series_new (label);
  lam_series_add_column (self->series, "value", _ ("value"), self->value_unit);
  self->chart = lam_chart_new (x, y, NULL);
  gtk_widget_set_size_request (self->chart, -1, 132);
  gtk_widget_set_overflow (self->chart, GTK_OVERFLOW_HIDDEN);
  lam_chart_set_label (LAM_CHART (self->chart), _ ("Values along the line"));
  lam_chart_add_layer (LAM_CHART (self->chart), lam_line_layer_new (self->series, 0, y, LAM_COLOUR_BLUE, FALSE));
  gtk_box_append (GTK_BOX (self), self->chart);
}

static void
update (LamProfileCard *self)
{
  LamPlane plane = lam_slice_model_get_plane (lam_measure_get_model (self->measure));
  const LamProfile *profile = lam_measure_get_profile (self->measure);
  gboolean drawn = lam_measure_get_shape (self->measure, plane, LAM_MEASURE_LINE)->kind != LAM_SHAPE_NONE;
  gtk_widget_set_visible (GTK_WIDGET (self), drawn && (profile != NULL || self->chart != NULL));
  if (!drawn || profile == NULL)
    return;
  build_chart (self, profile);
  lam_series_clear (self->series);
  for (int i = 0; i < profile->n; i++)
    lam_series_append (self->series, profile->length * i / (profile->n - 1), (double[]){profile->values[i]});
  lam_series_flush (self->series);
  double pixel = profile->length / (profile->n - 1);
  int digits = pixel > 0 ? CLAMP ((int) ceil (-log10 (pixel) - 0.2) + 1, 0, 9) : 0;
  g_autofree char *length = lam_units_format (profile->length, digits);
  g_autofree char *text = g_strdup_printf (_ ("%s %s long · in %s"), length, profile->unit, profile->value_unit);
  if (g_strcmp0 (gtk_inscription_get_text (GTK_INSCRIPTION (self->hint)), text) != 0)
    gtk_inscription_set_text (GTK_INSCRIPTION (self->hint), text);
}

static void
shape_changed_cb (LamMeasure *measure, int plane, int slot, LamProfileCard *self)
{
  if (slot == LAM_MEASURE_LINE)
    update (self);
}

static void
profile_changed_cb (LamMeasure *measure, LamProfileCard *self)
{
  update (self);
}

LamChart *
lam_profile_card_get_chart (LamProfileCard *self)
{
  return self->chart != NULL ? LAM_CHART (self->chart) : NULL;
}

void
lam_profile_card_set_measure (LamProfileCard *self, LamMeasure *measure)
{
  g_return_if_fail (LAM_IS_PROFILE_CARD (self) && self->measure == NULL);
  self->measure = g_object_ref (measure);
  g_signal_connect_object (measure, "shape-changed", G_CALLBACK (shape_changed_cb), self, 0);
  g_signal_connect_object (measure, "profile-changed", G_CALLBACK (profile_changed_cb), self, 0);
  update (self);
}

static void
lam_profile_card_dispose (GObject *object)
{
  LamProfileCard *self = LAM_PROFILE_CARD (object);
  g_clear_object (&self->measure);
  g_clear_object (&self->series);
  g_clear_pointer (&self->unit, g_free);
  g_clear_pointer (&self->value_unit, g_free);
  G_OBJECT_CLASS (lam_profile_card_parent_class)->dispose (object);
}

static void
lam_profile_card_class_init (LamProfileCardClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_profile_card_dispose;
}

static void
lam_profile_card_init (LamProfileCard *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *title = gtk_label_new (_ ("Line profile"));
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 4);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self), "pane");
  gtk_widget_add_css_class (title, "pane-title");
  self->hint = gtk_inscription_new (NULL);
  gtk_inscription_set_xalign (GTK_INSCRIPTION (self->hint), 1);
  gtk_inscription_set_min_chars (GTK_INSCRIPTION (self->hint), 8);
  gtk_inscription_set_text_overflow (GTK_INSCRIPTION (self->hint), GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
  gtk_widget_add_css_class (self->hint, "pane-hint");
  gtk_widget_add_css_class (self->hint, "dim-label");
  gtk_widget_set_hexpand (self->hint, TRUE);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), self->hint);
  gtk_box_append (GTK_BOX (self), head);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
