#include "config.h"

#include "region-card.h"

#include <glib/gi18n.h>

enum { MEAN, SD, MIN, MAX, N, BAD, N_VALUES };

struct _LamRegionCard {
  GtkBox parent_instance;
  LamMeasure *measure;
  GtkWidget *title, *size;
  GtkWidget *values[N_VALUES];
};

G_DEFINE_FINAL_TYPE (LamRegionCard, lam_region_card, GTK_TYPE_BOX)

static const char *const names[N_VALUES] = {N_ ("mean"), N_ ("sd"), N_ ("min"), N_ ("max"), N_ ("n"), N_ ("NaN")};

static void
set_text (GtkWidget *inscription, const char *text)
{
  if (g_strcmp0 (gtk_inscription_get_text (GTK_INSCRIPTION (inscription)), text) != 0)
    gtk_inscription_set_text (GTK_INSCRIPTION (inscription), text);
}

static void
update (LamRegionCard *self)
{
  LamSnapshot *shot = lam_slice_model_get_snapshot (lam_measure_get_model (self->measure));
  const char *title = lam_measure_region_name (self->measure);
  gtk_widget_set_visible (GTK_WIDGET (self), title != NULL && shot != NULL);
  if (title == NULL || shot == NULL)
    return;
  const LamShapeStats *stats = lam_measure_get_stats (self->measure);
  g_autofree char *size = lam_measure_region_size (self->measure);
  g_autofree char *hint = g_strdup_printf (_ ("%s · values in %s"), size, lam_snapshot_info (shot)->value_unit);
  set_text (self->title, title);
  set_text (self->size, hint);
  for (int i = 0; i < N_VALUES; i++) {
    g_autofree char *text = NULL;
    if (stats != NULL && i < N)
      text = lam_measure_format (self->measure, (const double[]){stats->mean, stats->sd, stats->min, stats->max}[i]);
    else if (stats != NULL && i == N)
      text = g_strdup_printf ("%ld", (long) stats->n);
    else if (stats != NULL && stats->infinities > 0)
      text = g_strdup_printf (_ ("%ld, inf %ld"), (long) stats->nans, (long) stats->infinities);
    else if (stats != NULL)
      text = g_strdup_printf ("%ld", (long) stats->nans);
    set_text (self->values[i], text != NULL ? text : "–");
  }
  g_autofree char *all = lam_measure_describe (self->measure);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, all != NULL ? all : hint, -1);
}

static void
shape_changed_cb (LamMeasure *measure, int plane, int slot, LamRegionCard *self)
{
  if (slot == LAM_MEASURE_REGION)
    update (self);
}

static void
stats_changed_cb (LamMeasure *measure, LamRegionCard *self)
{
  update (self);
}

static void
plane_cb (LamSliceModel *model, GParamSpec *pspec, LamRegionCard *self)
{
  update (self);
}

const char *
lam_region_card_get_text (LamRegionCard *self, const char *name)
{
  g_return_val_if_fail (LAM_IS_REGION_CARD (self), NULL);
  for (int i = 0; i < N_VALUES; i++)
    if (g_str_equal (names[i], name))
      return gtk_inscription_get_text (GTK_INSCRIPTION (self->values[i]));
  return NULL;
}

void
lam_region_card_set_measure (LamRegionCard *self, LamMeasure *measure)
{
  g_return_if_fail (LAM_IS_REGION_CARD (self) && self->measure == NULL);
  self->measure = g_object_ref (measure);
  g_signal_connect_object (measure, "shape-changed", G_CALLBACK (shape_changed_cb), self, 0);
  g_signal_connect_object (measure, "stats-changed", G_CALLBACK (stats_changed_cb), self, 0);
  g_signal_connect_object (lam_measure_get_model (measure), "notify::plane", G_CALLBACK (plane_cb), self, 0);
  update (self);
}

static void
lam_region_card_dispose (GObject *object)
{
  g_clear_object (&LAM_REGION_CARD (object)->measure);
  G_OBJECT_CLASS (lam_region_card_parent_class)->dispose (object);
}

static void
lam_region_card_class_init (LamRegionCardClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_region_card_dispose;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

/* Numbers that follow a hand: they are drawn anew, and nothing is laid out again. */
static GtkWidget *
new_text (const char *class, float xalign, guint chars)
{
  GtkWidget *text = gtk_inscription_new (NULL);
  gtk_inscription_set_xalign (GTK_INSCRIPTION (text), xalign);
  gtk_inscription_set_min_chars (GTK_INSCRIPTION (text), chars);
  gtk_inscription_set_text_overflow (GTK_INSCRIPTION (text), GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
  gtk_widget_add_css_class (text, class);
  return text;
}

static void
lam_region_card_init (LamRegionCard *self)
{
  static const char *const tips[N_VALUES] = {[SD] = N_ ("Standard deviation, with n − 1"),
                                             [N] = N_ ("Pixels whose middle lies within and whose value is finite"),
                                             [BAD] = N_ ("Pixels within that are not finite; they are left out")};
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *grid = gtk_grid_new ();
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 6);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self), "pane");
  self->title = new_text ("pane-title", 0, 9);
  self->size = new_text ("pane-hint", 1, 10);
  gtk_widget_add_css_class (self->size, "dim-label");
  gtk_widget_set_hexpand (self->size, TRUE);
  gtk_box_append (GTK_BOX (head), self->title);
  gtk_box_append (GTK_BOX (head), self->size);
  gtk_grid_set_column_spacing (GTK_GRID (grid), 10);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 4);
  for (int i = 0; i < N_VALUES; i++) {
    GtkWidget *name = gtk_label_new (_ (names[i]));
    gtk_label_set_xalign (GTK_LABEL (name), 0);
    gtk_widget_add_css_class (name, "dim-label");
    gtk_widget_add_css_class (name, "pane-hint");
    self->values[i] = new_text ("pane-number", 1, 7);
    gtk_widget_set_hexpand (self->values[i], TRUE);
    gtk_widget_set_margin_end (self->values[i], i % 2 == 0 ? 16 : 0);
    gtk_accessible_update_property (GTK_ACCESSIBLE (self->values[i]), GTK_ACCESSIBLE_PROPERTY_LABEL, _ (names[i]), -1);
    if (tips[i] != NULL) {
      gtk_widget_set_tooltip_text (name, _ (tips[i]));
      gtk_widget_set_tooltip_text (self->values[i], _ (tips[i]));
    }
    gtk_grid_attach (GTK_GRID (grid), name, 2 * (i % 2), i / 2, 1, 1);
    gtk_grid_attach (GTK_GRID (grid), self->values[i], 2 * (i % 2) + 1, i / 2, 1, 1);
  }
  gtk_box_append (GTK_BOX (self), head);
  gtk_box_append (GTK_BOX (self), grid);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
