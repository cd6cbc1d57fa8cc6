#include "config.h"

#include "maps-panel.h"

#include <glib/gi18n.h>

#include "accessible-name.h"
#include "group.h"
#include "level-controls.h"
#include "model/units.h"
#include "parameter-row.h"

/* Below the buttons of a step: what there is, what goes on, what went wrong. */
typedef struct {
  GtkWidget *text, *error, *progress, *bar, *doing;
} Step;

struct _LamMapsPanel {
  AdwBin parent_instance;
  LamMapsModel *model;
  GtkWidget *box, *forecast, *stale, *lacks, *saved, *levels;
  Step steps[LAM_MAPS_KINDS];
  GHashTable *buttons; /* by action */
};

G_DEFINE_FINAL_TYPE (LamMapsPanel, lam_maps_panel, ADW_TYPE_BIN)

/* ---- parts ---- */

static GtkWidget *
add_label (GtkWidget *box, const char *class)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_widget_add_css_class (label, "pane-hint");
  gtk_widget_add_css_class (label, "numeric");
  if (class != NULL)
    gtk_widget_add_css_class (label, class);
  gtk_widget_set_visible (label, FALSE);
  gtk_box_append (GTK_BOX (box), label);
  return label;
}

static void
set_text (GtkWidget *label, const char *text)
{
  gtk_label_set_text (GTK_LABEL (label), text != NULL ? text : "");
  gtk_widget_set_visible (label, text != NULL);
}

static GtkWidget *
add_button (LamMapsPanel *self, GtkWidget *box, const char *label, const char *name, const char *action,
            const char *tooltip)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (label);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  gtk_widget_set_tooltip_text (button, tooltip);
  lam_accessible_name (button, name); /* there are three that save */
  gtk_box_append (GTK_BOX (box), button);
  g_hash_table_insert (self->buttons, (gpointer) action, button);
  return button;
}

static GtkWidget *
add_line (GtkWidget *box)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_widget_add_css_class (line, "compact");
  gtk_box_append (GTK_BOX (box), line);
  return line;
}

static void
cancel_cb (GtkButton *button, LamMapsPanel *self)
{
  lam_maps_model_cancel (self->model, GPOINTER_TO_INT (g_object_get_data (G_OBJECT (button), "kind")));
}

static void
add_step (LamMapsPanel *self, GtkWidget *box, LamMapsKind kind)
{
  static const char *const names[LAM_MAPS_KINDS] = {N_ ("Cancel the dictionary"), N_ ("Cancel the series"),
                                                    N_ ("Cancel the match")};
  Step *step = &self->steps[kind];
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *cancel = gtk_button_new_with_label (_ ("Cancel"));
  step->progress = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  step->bar = gtk_progress_bar_new ();
  gtk_widget_set_hexpand (step->bar, TRUE);
  gtk_widget_set_valign (step->bar, GTK_ALIGN_CENTER);
  g_object_set_data (G_OBJECT (cancel), "kind", GINT_TO_POINTER (kind));
  lam_accessible_name (cancel, _ (names[kind]));
  g_signal_connect (cancel, "clicked", G_CALLBACK (cancel_cb), self);
  gtk_widget_add_css_class (line, "compact");
  gtk_box_append (GTK_BOX (line), step->bar);
  gtk_box_append (GTK_BOX (line), cancel);
  gtk_box_append (GTK_BOX (step->progress), line);
  step->doing = add_label (step->progress, "dim-label");
  gtk_widget_set_visible (step->progress, FALSE);
  gtk_box_append (GTK_BOX (box), step->progress);
  step->text = add_label (box, NULL);
  step->error = add_label (box, "error");
}

static GtkWidget *
add_part (LamMapsPanel *self, const char *title)
{
  GtkWidget *part = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  if (title != NULL) {
    GtkWidget *label = gtk_label_new (title);
    gtk_label_set_xalign (GTK_LABEL (label), 0);
    gtk_widget_add_css_class (label, "group-title");
    gtk_box_append (GTK_BOX (part), label);
  }
  gtk_box_append (GTK_BOX (self->box), part);
  return part;
}

/* ---- following the model ---- */

static void
progress_cb (LamMapsModel *model, int kind, LamMapsPanel *self)
{
  LamJob *job = lam_maps_model_get_job (model, kind);
  Step *step = &self->steps[kind];
  gtk_widget_set_visible (step->progress, job != NULL);
  if (job == NULL)
    return;
  double fraction = lam_job_get_fraction (job);
  g_autofree char *doing = lam_job_dup_doing (job), *left = lam_units_format_left (lam_job_get_seconds_left (job));
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (step->bar), CLAMP (fraction, 0, 1));
  g_autofree char *text = lam_job_get_state (job) == LAM_JOB_WAITING ? g_strdup (_ ("waits for another job"))
                          : left != NULL                             ? g_strdup_printf ("%s · %s", doing, left)
                                                                     : g_strdup (doing);
  set_text (step->doing, text);
}

static void
changed_cb (LamMapsModel *model, LamMapsPanel *self)
{
  gboolean refused, failed, stale = lam_maps_model_is_stale (model);
  const char *forecast = lam_maps_model_get_forecast (model, &refused),
             *saved = lam_maps_model_get_saved (model, &failed);
  set_text (self->forecast, forecast);
  if (refused)
    gtk_widget_add_css_class (self->forecast, "error");
  else
    gtk_widget_remove_css_class (self->forecast, "error");
  set_text (self->stale,
            stale ? _ ("It is of another train: the sequence was changed since, or is another one.") : NULL);
  set_text (self->lacks, lam_maps_model_get_lacks (model));
  set_text (self->saved, saved);
  if (failed)
    gtk_widget_add_css_class (self->saved, "error");
  else
    gtk_widget_remove_css_class (self->saved, "error");
  for (int kind = 0; kind < LAM_MAPS_KINDS; kind++) {
    set_text (self->steps[kind].text, lam_maps_model_get_text (model, kind));
    set_text (self->steps[kind].error, lam_maps_model_get_error (model, kind));
    progress_cb (model, kind, self);
  }
  gtk_widget_set_visible (self->levels, lam_map_pictures_get_result (lam_maps_model_get_pictures (model)) != NULL);
}

/* ---- the panel ---- */

static void
build_dictionary (LamMapsPanel *self)
{
  LamParameterList *list = lam_maps_model_get_parameters (self->model);
  GtkWidget *part = add_part (self, NULL), *group = lam_group_new (_ ("Dictionary")), *line;
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (list)); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (G_LIST_MODEL (list), i);
    lam_group_add_row (LAM_GROUP (group), lam_parameter_row_new (p));
  }
  gtk_box_append (GTK_BOX (part), group);
  self->forecast = add_label (part, "dim-label");
  line = add_line (part);
  add_button (self, line, _ ("_Make"), _ ("Make the dictionary"), "maps.make",
              _ ("Simulates the present sequence for every combination of these values"));
  add_button (self, line, _ ("Open…"), _ ("Open a dictionary"), "maps.open-dictionary",
              _ ("Open a dictionary that was saved before (HDF5)"));
  add_button (self, line, _ ("Save…"), _ ("Save the dictionary"), "maps.save-dictionary",
              _ ("Save this dictionary (HDF5), for here and for the command line"));
  add_step (self, part, LAM_MAPS_DICTIONARY);
  self->stale = add_label (part, "warning");
}

static void
build_series (LamMapsPanel *self)
{
  LamParameterList *list = lam_maps_model_get_inputs (self->model);
  GtkWidget *part = add_part (self, NULL), *group = lam_group_new (_ ("Series")), *line;
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (list)); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (G_LIST_MODEL (list), i);
    lam_group_add_row (LAM_GROUP (group), lam_parameter_row_new (p));
  }
  gtk_box_append (GTK_BOX (part), group);
  line = add_line (part);
  add_button (self, line, _ ("Open…"), _ ("Open a series"), "maps.open-series",
              _ ("Open a series of images, NIfTI or HDF5 with the contrast last"));
  add_button (self, line, _ ("_Phantom Series"), _ ("Phantom series"), "maps.phantom",
              _ ("A series of eight discs of known tissue, simulated with the present sequence and noise"));
  add_step (self, part, LAM_MAPS_SERIES);
}

static void
build_match (LamMapsPanel *self)
{
  GtkWidget *part = add_part (self, _ ("Maps")), *line = add_line (part),
            *match = add_button (self, line, _ ("Ma_tch"), _ ("Match the series"), "maps.match",
                                 _ ("Finds the atom that each voxel of the series resembles most"));
  gtk_widget_add_css_class (match, "suggested-action");
  add_button (self, line, _ ("Save…"), _ ("Save the maps"), "maps.save",
              _ ("Save the maps: one HDF5 file (.h5), or with any other name a folder of NIfTI files"));
  self->lacks = add_label (part, "dim-label");
  add_step (self, part, LAM_MAPS_MATCH);
  self->saved = add_label (part, "dim-label");
  self->levels = add_part (self, _ ("Levels"));
  GtkWidget *controls = g_object_new (LAM_TYPE_LEVEL_CONTROLS, NULL);
  lam_level_controls_set_model (LAM_LEVEL_CONTROLS (controls),
                                lam_map_pictures_get_slices (lam_maps_model_get_pictures (self->model)));
  gtk_box_append (GTK_BOX (self->levels), controls);
}

GtkWidget *
lam_maps_panel_get_button (LamMapsPanel *self, const char *action)
{
  return g_hash_table_lookup (self->buttons, action);
}

GtkWidget *
lam_maps_panel_new (LamMapsModel *model)
{
  LamMapsPanel *self = g_object_new (LAM_TYPE_MAPS_PANEL, NULL);
  self->model = g_object_ref (model);
  build_dictionary (self);
  build_series (self);
  build_match (self);
  g_signal_connect_object (model, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (model, "progress", G_CALLBACK (progress_cb), self, 0);
  changed_cb (model, self);
  return GTK_WIDGET (self);
}

static void
lam_maps_panel_dispose (GObject *object)
{
  g_clear_object (&LAM_MAPS_PANEL (object)->model);
  G_OBJECT_CLASS (lam_maps_panel_parent_class)->dispose (object);
}

static void
lam_maps_panel_finalize (GObject *object)
{
  g_hash_table_unref (LAM_MAPS_PANEL (object)->buttons);
  G_OBJECT_CLASS (lam_maps_panel_parent_class)->finalize (object);
}

static void
lam_maps_panel_class_init (LamMapsPanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_maps_panel_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_maps_panel_finalize;
}

static void
lam_maps_panel_init (LamMapsPanel *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();
  self->buttons = g_hash_table_new (g_str_hash, g_str_equal);
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  gtk_widget_set_margin_end (self->box, 12);
  gtk_widget_set_margin_start (self->box, 2);
  gtk_widget_set_margin_top (self->box, 2);
  gtk_widget_set_margin_bottom (self->box, 10);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->box);
  gtk_widget_set_size_request (scroller, 280, -1);
  gtk_widget_set_hexpand (GTK_WIDGET (self), FALSE); /* rows would have it all */
  adw_bin_set_child (ADW_BIN (self), scroller);
}
