#include "config.h"

#include "maps-tab.h"

#include <glib/gi18n.h>
#include <string.h>

#include "accessible-name.h"
#include "chosen-name.h"
#include "colour-bar.h"

struct _LamMapsTab {
  AdwBin parent_instance;
  LamMapsModel *model;
  GtkWidget *panel, *stack, *buttons, *view, *card, *trouble;
  GtkFileChooserNative *chooser; /* while it is open */
  gboolean updating;
};

static guint status_signal;

G_DEFINE_FINAL_TYPE (LamMapsTab, lam_maps_tab, ADW_TYPE_BIN)

/* ---- commands ---- */

static void
say_trouble (LamMapsTab *self, const GError *error)
{
  gtk_label_set_text (GTK_LABEL (self->trouble), error != NULL ? error->message : "");
  gtk_widget_set_visible (self->trouble, error != NULL);
}

static void
command_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamMapsTab *self = LAM_MAPS_TAB (widget);
  g_autoptr (GError) error = NULL;
  if (g_str_equal (name, "maps.make"))
    lam_maps_model_make_dictionary (self->model, &error);
  else if (g_str_equal (name, "maps.phantom"))
    lam_maps_model_make_phantom (self->model, &error);
  else if (g_str_equal (name, "maps.match"))
    lam_maps_model_match (self->model, &error);
  else
    lam_maps_model_try (self->model, &error);
  say_trouble (self, error);
}

/* What a name chosen for @action is for. */
static void
chosen_cb (GtkNativeDialog *dialog, int response, LamMapsTab *self)
{
  static const char *const suffixes[] = {".h5", ".hdf5", NULL};
  const char *action = g_object_get_data (G_OBJECT (dialog), "action");
  g_autoptr (GFile) file =
      response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog)) : NULL;
  g_autoptr (GError) error = NULL;
  if (file == NULL)
    return;
  g_autoptr (GFile) whole =
      g_str_equal (action, "maps.save-dictionary") ? lam_chosen_name (file, suffixes, &error) : g_object_ref (file);
  g_autofree char *path = whole != NULL ? g_file_get_path (whole) : NULL;
  if (path == NULL && error == NULL)
    g_set_error (&error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "%s", _ ("Only files of this computer can be used."));
  if (path != NULL && g_str_equal (action, "maps.open-dictionary"))
    lam_maps_model_open_dictionary (self->model, path, &error);
  else if (path != NULL && g_str_equal (action, "maps.save-dictionary"))
    lam_maps_model_save_dictionary (self->model, path, &error);
  else if (path != NULL && g_str_equal (action, "maps.open-series"))
    lam_maps_model_open_series (self->model, path, &error);
  else if (path != NULL)
    lam_maps_model_save_maps (self->model, path, &error);
  say_trouble (self, error);
}

static void
add_filter (GtkFileChooserNative *chooser, const char *name, const char *const *patterns)
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  gtk_file_filter_set_name (filter, name);
  for (; *patterns != NULL; patterns++)
    gtk_file_filter_add_pattern (filter, *patterns);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), filter);
}

static void
choose_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  static const struct {
    const char *action, *title, *accept, *suggested;
    gboolean writes;
  } kinds[] = {
      {"maps.open-dictionary", N_ ("Open a Dictionary"), N_ ("_Open"), NULL, FALSE},
      {"maps.save-dictionary", N_ ("Save the Dictionary"), N_ ("_Save"), "dictionary.h5", TRUE},
      {"maps.open-series", N_ ("Open a Series of Images"), N_ ("_Open"), NULL, FALSE},
      {"maps.save", N_ ("Save the Maps: a Name Ending in .h5, or a New Folder"), N_ ("_Save"), "maps.h5", TRUE}};
  static const char *const hdf5[] = {"*.h5", "*.hdf5", "*.hdf", NULL}, *const images[] = {"*.nii",  "*.nii.gz", "*.h5",
                                                                                          "*.hdf5", "*.hdf",    NULL},
                           *const all[] = {"*", NULL};
  LamMapsTab *self = LAM_MAPS_TAB (widget);
  guint k = 0;
  while (k + 1 < G_N_ELEMENTS (kinds) && !g_str_equal (kinds[k].action, name))
    k++;
  GtkRoot *root = gtk_widget_get_root (widget);
  g_clear_object (&self->chooser);
  self->chooser = gtk_file_chooser_native_new (
      _ (kinds[k].title), GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL,
      kinds[k].writes ? GTK_FILE_CHOOSER_ACTION_SAVE : GTK_FILE_CHOOSER_ACTION_OPEN, _ (kinds[k].accept), NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  g_object_set_data (G_OBJECT (self->chooser), "action", (gpointer) kinds[k].action);
  if (g_str_equal (name, "maps.open-series"))
    add_filter (self->chooser, _ ("Series (NIfTI, HDF5)"), images);
  else if (!g_str_equal (name, "maps.save"))
    add_filter (self->chooser, _ ("Dictionaries (HDF5)"), hdf5);
  add_filter (self->chooser, _ ("All files"), all);
  if (kinds[k].suggested != NULL)
    gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (self->chooser), kinds[k].suggested);
  g_signal_connect_object (self->chooser, "response", G_CALLBACK (chosen_cb), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

/* ---- the maps ---- */

static void
map_toggled_cb (GtkToggleButton *button, LamMapsTab *self)
{
  if (!self->updating && gtk_toggle_button_get_active (button))
    lam_map_pictures_choose (lam_maps_model_get_pictures (self->model), g_object_get_data (G_OBJECT (button), "map"));
}

GtkWidget *
lam_maps_tab_get_map_button (LamMapsTab *self, const char *name)
{
  for (GtkWidget *w = gtk_widget_get_first_child (self->buttons); w != NULL; w = gtk_widget_get_next_sibling (w))
    if (g_strcmp0 (g_object_get_data (G_OBJECT (w), "map"), name) == 0)
      return w;
  return NULL;
}

/* As it is written in the field. */
static const char *
label_of (const char *name)
{
  static const char *const labels[][2] = {
      {"phase", N_ ("Phase")}, {"residual", N_ ("Residual")}, {"score", N_ ("Score")}, {"T2star", "T2*"}};
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    if (g_str_equal (labels[i][0], name))
      return _ (labels[i][1]);
  return name;
}

static void
maps_cb (LamMapPictures *pictures, LamMapsTab *self)
{
  LamMapsResult *result = lam_map_pictures_get_result (pictures);
  GtkWidget *old, *first = NULL;
  while ((old = gtk_widget_get_first_child (self->buttons)) != NULL)
    gtk_box_remove (GTK_BOX (self->buttons), old);
  for (int i = 0; result != NULL && i < result->n; i++) {
    const LamMapsMap *map = &result->maps[i];
    GtkWidget *button = gtk_toggle_button_new_with_label (label_of (map->name));
    g_autofree char *tip = *map->unit ? g_strdup_printf ("%s, %s", map->title, map->unit) : g_strdup (map->title);
    gtk_widget_add_css_class (button, "small");
    lam_accessible_name (button, map->title);
    gtk_widget_set_tooltip_text (button, tip);
    g_object_set_data (G_OBJECT (button), "map", (gpointer) map->name);
    if (first != NULL)
      gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (button), GTK_TOGGLE_BUTTON (first));
    else
      first = button;
    g_signal_connect (button, "toggled", G_CALLBACK (map_toggled_cb), self);
    gtk_box_append (GTK_BOX (self->buttons), button);
  }
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), result != NULL ? "maps" : "empty");
}

static void
map_chosen_cb (LamMapPictures *pictures, LamMapsTab *self)
{
  const LamMapsMap *map = lam_map_pictures_get_chosen (pictures);
  GtkWidget *button = map != NULL ? lam_maps_tab_get_map_button (self, map->name) : NULL;
  if (button == NULL)
    return;
  self->updating = TRUE;
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (button), TRUE);
  self->updating = FALSE;
  lam_slice_view_set_title (LAM_SLICE_VIEW (self->view), map->title);
}

static void
slices_notify_cb (LamSliceModel *slices, GParamSpec *pspec, LamMapsTab *self)
{
  if (g_str_equal (pspec->name, "cursor") || g_str_equal (pspec->name, "mark")
      || g_str_equal (pspec->name, "snapshot")) {
    g_autofree char *text = lam_slice_model_describe_cursor (slices);
    g_signal_emit (self, status_signal, 0, text);
  }
}

static void
model_changed_cb (LamMapsModel *model, LamMapsTab *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gboolean making = lam_maps_model_get_job (model, LAM_MAPS_DICTIONARY) != NULL, refused;
  lam_maps_model_get_forecast (model, &refused);
  gtk_widget_action_set_enabled (widget, "maps.make", !making && !refused);
  gtk_widget_action_set_enabled (widget, "maps.try", !refused && !lam_maps_model_is_busy (model));
  gtk_widget_action_set_enabled (widget, "maps.open-dictionary", !making);
  gtk_widget_action_set_enabled (widget, "maps.save-dictionary", lam_maps_model_get_dictionary (model) != NULL);
  gboolean reading = lam_maps_model_get_job (model, LAM_MAPS_SERIES) != NULL;
  gtk_widget_action_set_enabled (widget, "maps.open-series", !reading);
  gtk_widget_action_set_enabled (widget, "maps.phantom", !reading);
  gtk_widget_action_set_enabled (widget, "maps.match",
                                 lam_maps_model_get_lacks (model) == NULL
                                     && lam_maps_model_get_job (model, LAM_MAPS_MATCH) == NULL);
  gtk_widget_action_set_enabled (widget, "maps.save",
                                 lam_map_pictures_get_result (lam_maps_model_get_pictures (model)) != NULL);
}

/* ---- reading ---- */

LamMapsModel *
lam_maps_tab_get_model (LamMapsTab *self)
{
  return self->model;
}

LamMapsPanel *
lam_maps_tab_get_panel (LamMapsTab *self)
{
  return LAM_MAPS_PANEL (self->panel);
}

LamSliceView *
lam_maps_tab_get_slice_view (LamMapsTab *self)
{
  return LAM_SLICE_VIEW (self->view);
}

LamVoxelCard *
lam_maps_tab_get_voxel_card (LamMapsTab *self)
{
  return LAM_VOXEL_CARD (self->card);
}

/* ---- object ---- */

static GtkWidget *
new_empty (void)
{
  GtkWidget *page = adw_status_page_new (), *button = gtk_button_new_with_mnemonic (_ ("_Try It with a Phantom"));
  gtk_widget_add_css_class (page, "compact");
  adw_status_page_set_title (ADW_STATUS_PAGE (page), _ ("No Maps Yet"));
  adw_status_page_set_description (
      ADW_STATUS_PAGE (page),
      _ ("Make a dictionary of the present sequence, open a series of images or take the phantom, then match."));
  gtk_widget_set_halign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "pill");
  gtk_widget_set_tooltip_text (button,
                               _ ("Makes a dictionary and a series of eight discs of known tissue, and matches them"));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "maps.try");
  lam_accessible_mend (button);
  adw_status_page_set_child (ADW_STATUS_PAGE (page), button);
  return page;
}

static GtkWidget *
new_maps (LamMapsTab *self)
{
  LamMapPictures *pictures = lam_maps_model_get_pictures (self->model);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 10), *pane = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6),
            *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *picture = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8),
            *hint = gtk_label_new (_ ("wheel: slice · right drag: level · click: voxel"));
  self->buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (self->buttons, "linked");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->buttons), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Map"), -1);
  gtk_widget_add_css_class (hint, "dim-label");
  gtk_widget_add_css_class (hint, "pane-hint");
  gtk_label_set_ellipsize (GTK_LABEL (hint), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (hint), 1);
  gtk_widget_set_hexpand (hint, TRUE);
  self->view = lam_slice_view_new (lam_map_pictures_get_slices (pictures));
  gtk_widget_set_vexpand (self->view, TRUE);
  gtk_widget_set_hexpand (self->view, TRUE);
  self->card = lam_voxel_card_new (pictures);
  gtk_widget_set_size_request (self->card, -1, 240);
  gtk_widget_add_css_class (pane, "card");
  gtk_widget_add_css_class (pane, "pane");
  gtk_box_append (GTK_BOX (head), self->buttons);
  gtk_box_append (GTK_BOX (head), hint);
  gtk_box_append (GTK_BOX (pane), head);
  gtk_box_append (GTK_BOX (picture), self->view);
  gtk_box_append (GTK_BOX (picture), lam_colour_bar_new (lam_map_pictures_get_slices (pictures)));
  gtk_box_append (GTK_BOX (pane), picture);
  gtk_box_append (GTK_BOX (box), pane);
  gtk_box_append (GTK_BOX (box), self->card);
  return box;
}

GtkWidget *
lam_maps_tab_new (LamMapsModel *model)
{
  LamMapsTab *self = g_object_new (LAM_TYPE_MAPS_TAB, NULL);
  LamMapPictures *pictures = lam_maps_model_get_pictures (model);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0), *main = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  self->model = g_object_ref (model);
  self->panel = lam_maps_panel_new (model);
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), new_empty (), "empty");
  gtk_stack_add_named (GTK_STACK (self->stack), new_maps (self), "maps");
  self->trouble = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (self->trouble), TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->trouble), 0);
  gtk_widget_add_css_class (self->trouble, "error");
  gtk_widget_set_visible (self->trouble, FALSE);
  gtk_widget_set_hexpand (main, TRUE);
  gtk_widget_set_vexpand (self->stack, TRUE);
  gtk_box_append (GTK_BOX (main), self->trouble);
  gtk_box_append (GTK_BOX (main), self->stack);
  gtk_box_append (GTK_BOX (box), self->panel);
  gtk_box_append (GTK_BOX (box), main);
  gtk_widget_set_margin_start (box, 10);
  gtk_widget_set_margin_end (box, 10);
  gtk_widget_set_margin_bottom (box, 10);
  adw_bin_set_child (ADW_BIN (self), box);
  g_signal_connect_object (model, "changed", G_CALLBACK (model_changed_cb), self, 0);
  g_signal_connect_object (pictures, "maps", G_CALLBACK (maps_cb), self, 0);
  g_signal_connect_object (pictures, "chosen", G_CALLBACK (map_chosen_cb), self, 0);
  g_signal_connect_object (lam_map_pictures_get_slices (pictures), "notify", G_CALLBACK (slices_notify_cb), self, 0);
  maps_cb (pictures, self);
  map_chosen_cb (pictures, self);
  model_changed_cb (model, self);
  return GTK_WIDGET (self);
}

/* Forecasts are made while somebody looks. */
static void
lam_maps_tab_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lam_maps_tab_parent_class)->map (widget);
  lam_maps_model_set_active (LAM_MAPS_TAB (widget)->model, TRUE);
}

static void
lam_maps_tab_unmap (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lam_maps_tab_parent_class)->unmap (widget);
  if (LAM_MAPS_TAB (widget)->model != NULL)
    lam_maps_model_set_active (LAM_MAPS_TAB (widget)->model, FALSE);
}

static void
lam_maps_tab_dispose (GObject *object)
{
  LamMapsTab *self = LAM_MAPS_TAB (object);
  g_clear_object (&self->chooser);
  g_clear_object (&self->model);
  G_OBJECT_CLASS (lam_maps_tab_parent_class)->dispose (object);
}

static void
lam_maps_tab_class_init (LamMapsTabClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const char *const commands[] = {"maps.make", "maps.phantom", "maps.match", "maps.try"},
                           *const choosers[] = {"maps.open-dictionary", "maps.save-dictionary", "maps.open-series",
                                                "maps.save"};
  G_OBJECT_CLASS (klass)->dispose = lam_maps_tab_dispose;
  widget_class->map = lam_maps_tab_map;
  widget_class->unmap = lam_maps_tab_unmap;
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    gtk_widget_class_install_action (widget_class, commands[i], NULL, command_cb);
  for (guint i = 0; i < G_N_ELEMENTS (choosers); i++)
    gtk_widget_class_install_action (widget_class, choosers[i], NULL, choose_cb);
  status_signal =
      g_signal_new ("status", LAM_TYPE_MAPS_TAB, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
lam_maps_tab_init (LamMapsTab *self)
{
}
