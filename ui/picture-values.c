#include "config.h"

#include "picture-values.h"

#include <glib/gi18n.h>

enum { LOW, HIGH, AUTO_LOW, AUTO_HIGH, PIXELS, BAD, N_VALUES };

struct _LamPictureValues {
  GtkGrid parent_instance;
  LamSliceModel *model;
  GtkWidget *values[N_VALUES];
  GtkWidget *bad_row, *bad_text; /* there while some are not finite */
};

G_DEFINE_FINAL_TYPE (LamPictureValues, lam_picture_values, GTK_TYPE_GRID)

enum { NEXT, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
set_text (GtkWidget *inscription, const char *text)
{
  if (g_strcmp0 (gtk_inscription_get_text (GTK_INSCRIPTION (inscription)), text) != 0)
    gtk_inscription_set_text (GTK_INSCRIPTION (inscription), text);
}

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
    set_text (self->values[i], text != NULL ? text : "–");
  }
  g_autofree char *bad = shot != NULL ? lam_slice_model_describe_bad (model, shot) : NULL;
  gtk_widget_set_visible (self->bad_row, bad != NULL);
  if (bad != NULL)
    set_text (self->bad_text, bad);
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
next_cb (GtkButton *button, LamPictureValues *self)
{
  g_signal_emit (self, signals[NEXT], 0);
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
  signals[NEXT] =
      g_signal_new ("next", LAM_TYPE_PICTURE_VALUES, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_picture_values_init (LamPictureValues *self)
{
  const char *const names[N_VALUES] = {_ ("min"), _ ("max"), _ ("0.5 %"), _ ("99.5 %"), _ ("pixels"), _ ("not finite")};
  gtk_grid_set_column_spacing (GTK_GRID (self), 10);
  gtk_grid_set_row_spacing (GTK_GRID (self), 4);
  for (int i = 0; i < N_VALUES; i++) {
    GtkWidget *name = gtk_label_new (names[i]);
    /* They change with every picture: they are drawn anew, and nothing is laid out again. */
    self->values[i] = gtk_inscription_new ("–");
    gtk_label_set_xalign (GTK_LABEL (name), 0);
    gtk_inscription_set_xalign (GTK_INSCRIPTION (self->values[i]), 1);
    gtk_inscription_set_min_chars (GTK_INSCRIPTION (self->values[i]), 7);
    gtk_widget_set_hexpand (self->values[i], TRUE);
    gtk_widget_set_margin_end (self->values[i], i % 2 == 0 ? 16 : 0);
    gtk_widget_add_css_class (name, "dim-label");
    gtk_widget_add_css_class (name, "pane-hint");
    gtk_widget_add_css_class (self->values[i], "pane-number");
    gtk_accessible_update_property (GTK_ACCESSIBLE (self->values[i]), GTK_ACCESSIBLE_PROPERTY_LABEL, names[i], -1);
    gtk_grid_attach (GTK_GRID (self), name, 2 * (i % 2), i / 2, 1, 1);
    gtk_grid_attach (GTK_GRID (self), self->values[i], 2 * (i % 2) + 1, i / 2, 1, 1);
  }
  self->bad_row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  self->bad_text = gtk_inscription_new (NULL);
  gtk_inscription_set_min_chars (GTK_INSCRIPTION (self->bad_text), 20);
  gtk_widget_set_hexpand (self->bad_text, TRUE);
  gtk_widget_add_css_class (self->bad_text, "pane-number");
  GtkWidget *next = gtk_button_new_with_label (_ ("Next"));
  gtk_widget_add_css_class (next, "flat");
  gtk_widget_add_css_class (next, "small");
  gtk_widget_set_tooltip_text (next, _ ("Crosshair to the next value that is not finite (N)"));
  g_signal_connect (next, "clicked", G_CALLBACK (next_cb), self);
  gtk_box_append (GTK_BOX (self->bad_row), self->bad_text);
  gtk_box_append (GTK_BOX (self->bad_row), next);
  gtk_widget_set_visible (self->bad_row, FALSE);
  gtk_grid_attach (GTK_GRID (self), self->bad_row, 0, N_VALUES / 2, 4, 1);
}
