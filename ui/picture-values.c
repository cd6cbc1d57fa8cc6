#include "config.h"

#include "picture-values.h"

#include <glib/gi18n.h>

enum { LOW, HIGH, AUTO_LOW, AUTO_HIGH, PIXELS, BAD, N_VALUES };

struct _LamPictureValues {
  GtkGrid parent_instance;
  LamSliceModel *model;
  GtkWidget *values[N_VALUES];
};

G_DEFINE_FINAL_TYPE (LamPictureValues, lam_picture_values, GTK_TYPE_GRID)

static void
stats_notify_cb (LamSliceModel *model, GParamSpec *pspec, LamPictureValues *self)
{
  const LamSliceStats *stats = lam_slice_model_get_stats (model);
  LamSnapshot *shot = lam_slice_model_get_snapshot (model);
  for (int i = 0; i < N_VALUES; i++) {
    g_autofree char *text = NULL;
    if (stats != NULL && shot != NULL) {
      const LamSnapshotInfo *info = lam_snapshot_info (shot);
      const double numbers[] = {stats->low, stats->high, stats->auto_low, stats->auto_high};
      text = i < PIXELS ? lam_slice_model_format_value (numbers[i], stats->high - stats->low)
                        : g_strdup_printf ("%ld", (long) (i == BAD ? info->bad : info->width * info->height));
    }
    gtk_label_set_text (GTK_LABEL (self->values[i]), text != NULL ? text : "–");
  }
}

void
lam_picture_values_set_model (LamPictureValues *self, LamSliceModel *model)
{
  g_return_if_fail (LAM_IS_PICTURE_VALUES (self) && self->model == NULL);
  self->model = g_object_ref (model);
  g_signal_connect_object (model, "notify::stats", G_CALLBACK (stats_notify_cb), self, 0);
  stats_notify_cb (model, NULL, self);
}

static void
lam_picture_values_dispose (GObject *object)
{
  g_clear_object (&LAM_PICTURE_VALUES (object)->model);
  G_OBJECT_CLASS (lam_picture_values_parent_class)->dispose (object);
}

static void
lam_picture_values_class_init (LamPictureValuesClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_picture_values_dispose;
}

static void
lam_picture_values_init (LamPictureValues *self)
{
  const char *const names[N_VALUES] = {_ ("min"), _ ("max"), _ ("0.5 %"), _ ("99.5 %"), _ ("pixels"), _ ("not finite")};
  gtk_grid_set_column_spacing (GTK_GRID (self), 10);
  gtk_grid_set_row_spacing (GTK_GRID (self), 4);
  for (int i = 0; i < N_VALUES; i++) {
    GtkWidget *name = gtk_label_new (names[i]);
    self->values[i] = gtk_label_new ("–");
    gtk_label_set_xalign (GTK_LABEL (name), 0);
    gtk_label_set_xalign (GTK_LABEL (self->values[i]), 1);
    gtk_widget_set_hexpand (self->values[i], TRUE);
    gtk_widget_set_margin_end (self->values[i], i % 2 == 0 ? 16 : 0);
    gtk_widget_add_css_class (name, "dim-label");
    gtk_widget_add_css_class (name, "pane-hint");
    gtk_widget_add_css_class (self->values[i], "pane-number");
    gtk_accessible_update_property (GTK_ACCESSIBLE (self->values[i]), GTK_ACCESSIBLE_PROPERTY_LABEL, names[i], -1);
    gtk_grid_attach (GTK_GRID (self), name, 2 * (i % 2), i / 2, 1, 1);
    gtk_grid_attach (GTK_GRID (self), self->values[i], 2 * (i % 2) + 1, i / 2, 1, 1);
  }
}
