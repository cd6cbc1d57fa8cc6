#include "config.h"

#include "slices-tab.h"

#include <glib/gi18n.h>
#include <math.h>

#include "chosen-name.h"
#include "geometry-drag.h"
#include "histogram.h"
#include "level-controls.h"
#include "ortho-view.h"
#include "picture-export.h"
#include "picture-values.h"
#include "profile-card.h"
#include "region-card.h"
#include "wrap-layout.h"

struct _LamSlicesTab {
  AdwBin parent_instance;
  LamSession *session;
  LamMeasure *measure;
  GtkWidget *plane_slice, *plane_row, *plane_column, *plane_all;
  GtkWidget *index_scale, *picture_stack, *waiting, *slice_view, *ortho_view;
  GtkAdjustment *index_adjustment;
  GtkWidget *tool_pointer, *tool_circle, *tool_rectangle, *tool_profile;
  GtkWidget *geometry_view, *histogram, *region_card, *values, *profile_card, *cards, *level_controls;
  GtkWidget *zoom_fit, *zoom_one;
  GtkFileChooserNative *chooser; /* while it is open */
  LamPictureKind saved_kind;     /* that it asks a name for */
  GFile *folder;                 /* of the picture saved last */
  gboolean scale_bar;
  gboolean updating; /* widgets are being set from the model */
};

G_DEFINE_FINAL_TYPE (LamSlicesTab, lam_slices_tab, ADW_TYPE_BIN)

/* -- slices -- */

static void
slices_notify_cb (LamSliceModel *model, GParamSpec *pspec, LamSlicesTab *self)
{
  const char *name = pspec != NULL ? pspec->name : "";
  if (g_str_equal (name, "cursor") || g_str_equal (name, "low") || g_str_equal (name, "high"))
    return;
  GtkWidget *buttons[LAM_PLANES] = {self->plane_slice, self->plane_row, self->plane_column};
  int64_t count = lam_slice_model_get_count (model);
  self->updating = TRUE;
  gboolean all = lam_slice_model_get_all_planes (model), any = FALSE;
  for (int p = 0; p < LAM_PLANES; p++)
    any |= lam_slice_model_is_wanted (model, p) && lam_slice_model_peek (model, p) != NULL;
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (all ? self->plane_all : buttons[lam_slice_model_get_plane (model)]),
                                TRUE);
  gtk_adjustment_set_upper (self->index_adjustment, MAX (count - 1, 0));
  gtk_adjustment_set_value (self->index_adjustment, lam_slice_model_get_index (model));
  gtk_widget_set_sensitive (self->index_scale, count > 1);
  self->updating = FALSE;
  const char *page = !any ? "empty" : all ? "planes" : "slice";
  GtkStack *stack = GTK_STACK (self->picture_stack);
  if (g_str_equal (gtk_stack_get_visible_child_name (stack), page))
    return;
  gboolean focused = gtk_widget_get_focus_child (GTK_WIDGET (stack)) != NULL;
  gtk_stack_set_visible_child_name (stack, page);
  if (focused && any)
    gtk_widget_grab_focus (GTK_WIDGET (lam_slices_tab_get_slice_view (self)));
}

static void
plane_toggled_cb (GtkToggleButton *button, LamSlicesTab *self)
{
  if (self->updating || !gtk_toggle_button_get_active (button))
    return;
  GtkWidget *widget = GTK_WIDGET (button);
  LamSliceModel *slices = lam_session_get_slices (self->session);
  lam_slice_model_set_all_planes (slices, widget == self->plane_all);
  if (widget != self->plane_all)
    lam_slice_model_set_plane (slices, widget == self->plane_row      ? LAM_PLANE_ROW
                                       : widget == self->plane_column ? LAM_PLANE_COLUMN
                                                                      : LAM_PLANE_SLICE);
}

static void
index_changed_cb (GtkAdjustment *adjustment, LamSlicesTab *self)
{
  if (!self->updating && self->session != NULL)
    lam_slice_model_set_index (lam_session_get_slices (self->session),
                               (int64_t) rint (gtk_adjustment_get_value (adjustment)));
}

/* -- tools -- */

static void
tool_toggled_cb (GtkToggleButton *button, LamSlicesTab *self)
{
  if (self->updating || !gtk_toggle_button_get_active (button))
    return;
  GtkWidget *buttons[LAM_SLICE_TOOLS] = {self->tool_pointer, self->tool_circle, self->tool_rectangle,
                                         self->tool_profile};
  for (int i = 0; i < LAM_SLICE_TOOLS; i++)
    if (GTK_WIDGET (button) == buttons[i])
      lam_slice_view_set_tool (LAM_SLICE_VIEW (self->slice_view), i);
}

static void
tool_notify_cb (LamSliceView *view, GParamSpec *pspec, LamSlicesTab *self)
{
  GtkWidget *buttons[LAM_SLICE_TOOLS] = {self->tool_pointer, self->tool_circle, self->tool_rectangle,
                                         self->tool_profile};
  self->updating = TRUE;
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (buttons[lam_slice_view_get_tool (view)]), TRUE);
  self->updating = FALSE;
}

/* Buttons beside the picture do what its keys do. */
static void
zoom_cb (GtkButton *button, LamSlicesTab *self)
{
  gtk_widget_activate_action (GTK_WIDGET (lam_slices_tab_get_slice_view (self)),
                              GTK_WIDGET (button) == self->zoom_fit ? "slice.fit" : "slice.zoom-one", NULL);
}

static void
next_bad_cb (LamPictureValues *values, LamSlicesTab *self)
{
  gtk_widget_activate_action (GTK_WIDGET (lam_slices_tab_get_slice_view (self)), "slice.next-bad", NULL);
}

/* A card that has come below what is seen is brought into sight. */
static gboolean
reveal_cb (GtkWidget *card, GdkFrameClock *clock, gpointer data)
{
  LamSlicesTab *self = data;
  graphene_rect_t bounds;
  GtkAdjustment *scroll = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->cards));
  GtkWidget *content = gtk_widget_get_parent (card);
  if (gtk_widget_get_height (card) == 0)
    return G_SOURCE_CONTINUE;
  if (gtk_widget_compute_bounds (card, content, &bounds))
    gtk_adjustment_clamp_page (scroll, bounds.origin.y, bounds.origin.y + bounds.size.height + 2);
  return G_SOURCE_REMOVE;
}

static void
card_visible_cb (GtkWidget *card, GParamSpec *pspec, LamSlicesTab *self)
{
  if (gtk_widget_get_visible (card))
    gtk_widget_add_tick_callback (card, reveal_cb, self, NULL);
}

/* -- copies and files -- */

enum { PROP_0, PROP_SCALE_BAR, N_PROPS };
static GParamSpec *properties[N_PROPS];

static double
plane_thickness (LamSlicesTab *self, LamPlane plane)
{
  const LamGeometry *g = lam_session_get_geometry (self->session);
  return g == NULL                  ? 1
         : plane == LAM_PLANE_SLICE ? g->voxel_pitch * g->slice_aspect
         : plane == LAM_PLANE_ROW   ? g->voxel_pitch * g->row_aspect
                                    : g->voxel_pitch;
}

typedef struct {
  LamSession *session;
  GFile *file;
} Saving;

static void
saved_cb (GObject *view, GAsyncResult *result, gpointer data)
{
  Saving *saving = data;
  g_autoptr (GError) error = NULL;
  if (!lam_picture_export_save_finish (LAM_SLICE_VIEW (view), result, &error))
    lam_session_fail (saving->session, error);
  else {
    g_autoptr (GFile) folder = g_file_get_parent (saving->file);
    g_autofree char *name = g_file_get_basename (saving->file), *where = g_file_get_parse_name (folder);
    g_autofree char *text = g_strdup_printf (_ ("Saved as %s in %s"), name, where);
    g_signal_emit_by_name (saving->session, "message", text, FALSE);
  }
  g_object_unref (saving->session);
  g_object_unref (saving->file);
  g_free (saving);
}

void
lam_slices_tab_save_picture (LamSlicesTab *self, LamPictureKind kind, GFile *file)
{
  g_return_if_fail (LAM_IS_SLICES_TAB (self) && G_IS_FILE (file));
  LamSliceView *view = lam_slices_tab_get_slice_view (self);
  LamPlane plane = lam_slice_view_get_plane (view);
  g_autofree char *path = g_file_get_path (file);
  if (path == NULL || lam_slice_model_peek (lam_session_get_slices (self->session), plane) == NULL)
    return;
  g_clear_object (&self->folder);
  self->folder = g_file_get_parent (file);
  Saving *saving = g_new0 (Saving, 1);
  saving->session = g_object_ref (self->session);
  saving->file = g_object_ref (file);
  lam_picture_export_save (view, kind, self->scale_bar, lam_session_get_title (self->session),
                           plane_thickness (self, plane), path, saved_cb, saving);
}

static const char *const suffixes[][4] = {{".png", NULL}, {".tif", ".tiff", NULL}, {".h5", ".hdf5", ".hdf", NULL}};

static void
save_response_cb (GtkNativeDialog *dialog, int response, LamSlicesTab *self)
{
  g_autoptr (GFile) chosen =
      response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog)) : NULL;
  if (chosen == NULL)
    return;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = lam_chosen_name (chosen, suffixes[self->saved_kind], &error);
  if (file != NULL)
    lam_slices_tab_save_picture (self, self->saved_kind, file);
  else
    lam_session_fail (self->session, error);
}

static void
save_action (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamSlicesTab *self = LAM_SLICES_TAB (widget);
  int kind = g_variant_get_int32 (parameter);
  LamPlane plane = lam_slice_view_get_plane (lam_slices_tab_get_slice_view (self));
  LamSnapshot *shot = lam_slice_model_peek (lam_session_get_slices (self->session), plane);
  if (shot == NULL || kind < LAM_PICTURE_PNG || kind > LAM_PICTURE_HDF5) {
    gtk_widget_error_bell (widget);
    return;
  }
  const char *titles[] = {_ ("Save the Picture"), _ ("Save the Values"), _ ("Save the Values")};
  const char *filters[] = {_ ("Pictures (PNG)"), _ ("Images (TIFF)"), _ ("Volumes (HDF5)")};
  g_clear_object (&self->chooser);
  self->chooser = gtk_file_chooser_native_new (titles[kind], GTK_WINDOW (gtk_widget_get_root (widget)),
                                               GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), NULL);
  self->saved_kind = kind;
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  gtk_file_filter_set_name (filter, filters[kind]);
  for (int i = 0; suffixes[kind][i] != NULL; i++)
    gtk_file_filter_add_suffix (filter, suffixes[kind][i]);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (self->chooser), filter);
  g_autoptr (GFile) beside = lam_session_suggest_file (self->session), folder = g_file_get_parent (beside);
  g_autofree char *base = lam_picture_file_name (kind, lam_session_get_title (self->session), lam_snapshot_info (shot));
  gtk_file_chooser_set_current_folder (GTK_FILE_CHOOSER (self->chooser), self->folder != NULL ? self->folder : folder,
                                       NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (self->chooser), base);
  g_signal_connect (self->chooser, "response", G_CALLBACK (save_response_cb), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

static void
copy_action (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_widget_activate_action (GTK_WIDGET (lam_slices_tab_get_slice_view (LAM_SLICES_TAB (widget))), "slice.copy", NULL);
}

static void
lam_slices_tab_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_boolean (value, LAM_SLICES_TAB (object)->scale_bar);
}

static void
lam_slices_tab_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  LamSlicesTab *self = LAM_SLICES_TAB (object);
  self->scale_bar = g_value_get_boolean (value);
  lam_slice_view_set_bar_in_copies (LAM_SLICE_VIEW (self->slice_view), self->scale_bar);
  for (int p = 0; p < LAM_PLANES; p++)
    lam_slice_view_set_bar_in_copies (lam_ortho_view_get_view (LAM_ORTHO_VIEW (self->ortho_view), p), self->scale_bar);
}

/* -- tab -- */

static void
session_notify_cb (LamSession *session, GParamSpec *pspec, LamSlicesTab *self)
{
  const char *problem = lam_session_get_problem (session);
  if (pspec != NULL && !g_str_equal (pspec->name, "problem") && !g_str_equal (pspec->name, "state"))
    return;
  adw_status_page_set_description (ADW_STATUS_PAGE (self->waiting),
                                   problem != NULL ? problem
                                   : lam_session_get_state (session) == LAM_SESSION_RUNNING
                                       ? _ ("The first slice is on its way.")
                                       : _ ("Run reconstructs the scan; slices appear here while it goes."));
}

void
lam_slices_tab_set_session (LamSlicesTab *self, LamSession *session)
{
  g_return_if_fail (LAM_IS_SLICES_TAB (self) && LAM_IS_SESSION (session) && self->session == NULL);
  self->session = g_object_ref (session);
  LamSliceModel *slices = lam_session_get_slices (session);
  lam_slice_view_set_model (LAM_SLICE_VIEW (self->slice_view), slices);
  lam_histogram_set_model (LAM_HISTOGRAM (self->histogram), slices);
  self->measure = lam_measure_new (slices);
  lam_slice_view_set_measure (LAM_SLICE_VIEW (self->slice_view), self->measure);
  lam_ortho_view_set_model (LAM_ORTHO_VIEW (self->ortho_view), slices, self->measure);
  lam_profile_card_set_measure (LAM_PROFILE_CARD (self->profile_card), self->measure);
  lam_region_card_set_measure (LAM_REGION_CARD (self->region_card), self->measure);
  lam_level_controls_set_model (LAM_LEVEL_CONTROLS (self->level_controls), slices);
  lam_picture_values_set_model (LAM_PICTURE_VALUES (self->values), slices);
  g_signal_connect_object (slices, "notify", G_CALLBACK (slices_notify_cb), self, 0);
  g_signal_connect_object (session, "notify", G_CALLBACK (session_notify_cb), self, 0);
  slices_notify_cb (slices, NULL, self);
  lam_geometry_drag_connect (LAM_GEOMETRY_VIEW (self->geometry_view), session);
  session_notify_cb (session, NULL, self);
}

LamSliceView *
lam_slices_tab_get_slice_view (LamSlicesTab *self)
{
  LamSliceModel *slices = self->session != NULL ? lam_session_get_slices (self->session) : NULL;
  if (slices != NULL && lam_slice_model_get_all_planes (slices))
    return lam_ortho_view_get_view (LAM_ORTHO_VIEW (self->ortho_view), lam_slice_model_get_plane (slices));
  return LAM_SLICE_VIEW (self->slice_view);
}

int
lam_slices_tab_get_panes (LamSlicesTab *self, GtkWidget **panes)
{
  panes[0] = self->picture_stack;
  panes[1] = self->geometry_view;
  panes[2] = self->histogram;
  return 3;
}

static void
lam_slices_tab_dispose (GObject *object)
{
  g_clear_object (&LAM_SLICES_TAB (object)->chooser);
  g_clear_object (&LAM_SLICES_TAB (object)->folder);
  g_clear_object (&LAM_SLICES_TAB (object)->measure);
  g_clear_object (&LAM_SLICES_TAB (object)->session);
  G_OBJECT_CLASS (lam_slices_tab_parent_class)->dispose (object);
}

static void
lam_slices_tab_class_init (LamSlicesTabClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_slices_tab_dispose;
  G_OBJECT_CLASS (klass)->get_property = lam_slices_tab_get_property;
  G_OBJECT_CLASS (klass)->set_property = lam_slices_tab_set_property;
  properties[PROP_SCALE_BAR] =
      g_param_spec_boolean ("scale-bar", NULL, NULL, FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (G_OBJECT_CLASS (klass), N_PROPS, properties);
  gtk_widget_class_install_property_action (widget_class, "picture.scale-bar", "scale-bar");
  gtk_widget_class_install_action (widget_class, "picture.save", "i", save_action);
  gtk_widget_class_install_action (widget_class, "picture.copy", NULL, copy_action);
  g_type_ensure (LAM_TYPE_SLICE_VIEW);
  g_type_ensure (LAM_TYPE_ORTHO_VIEW);
  g_type_ensure (LAM_TYPE_GEOMETRY_VIEW);
  g_type_ensure (LAM_TYPE_HISTOGRAM);
  g_type_ensure (LAM_TYPE_PICTURE_VALUES);
  g_type_ensure (LAM_TYPE_LEVEL_CONTROLS);
  g_type_ensure (LAM_TYPE_PROFILE_CARD);
  g_type_ensure (LAM_TYPE_REGION_CARD);
  g_type_ensure (LAM_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/lamina/Lamina/slices-tab.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LamSlicesTab, name)
  BIND (plane_slice);
  BIND (plane_row);
  BIND (plane_column);
  BIND (plane_all);
  BIND (index_scale);
  BIND (index_adjustment);
  BIND (picture_stack);
  BIND (waiting);
  BIND (slice_view);
  BIND (ortho_view);
  BIND (geometry_view);
  BIND (histogram);
  BIND (region_card);
  BIND (profile_card);
  BIND (cards);
  BIND (level_controls);
  BIND (zoom_fit);
  BIND (zoom_one);
  BIND (tool_pointer);
  BIND (tool_circle);
  BIND (tool_rectangle);
  BIND (tool_profile);
  BIND (values);
#undef BIND
}

static void
lam_slices_tab_init (LamSlicesTab *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  GtkWidget *buttons[] = {self->plane_slice, self->plane_row, self->plane_column, self->plane_all};
  for (int i = 0; i <= LAM_PLANES; i++)
    g_signal_connect (buttons[i], "toggled", G_CALLBACK (plane_toggled_cb), self);
  GtkWidget *tools[LAM_SLICE_TOOLS] = {self->tool_pointer, self->tool_circle, self->tool_rectangle, self->tool_profile};
  for (int i = 0; i < LAM_SLICE_TOOLS; i++)
    g_signal_connect (tools[i], "toggled", G_CALLBACK (tool_toggled_cb), self);
  g_object_set (self, "scale-bar", TRUE, NULL);
  g_signal_connect (self->zoom_fit, "clicked", G_CALLBACK (zoom_cb), self);
  g_signal_connect (self->zoom_one, "clicked", G_CALLBACK (zoom_cb), self);
  g_signal_connect (self->values, "next", G_CALLBACK (next_bad_cb), self);
  g_signal_connect_object (self->region_card, "notify::visible", G_CALLBACK (card_visible_cb), self, 0);
  g_signal_connect_object (self->profile_card, "notify::visible", G_CALLBACK (card_visible_cb), self, 0);
  for (int p = 0; p < LAM_PLANES; p++) {
    LamSliceView *view = lam_ortho_view_get_view (LAM_ORTHO_VIEW (self->ortho_view), p);
    lam_slice_view_set_offers_planes (view, TRUE);
    if (p == 0) {
      g_object_bind_property (self->slice_view, "tool", view, "tool", G_BINDING_BIDIRECTIONAL);
      g_object_bind_property (self->slice_view, "window-tool", view, "window-tool", G_BINDING_BIDIRECTIONAL);
    }
  }
  lam_slice_view_set_offers_planes (LAM_SLICE_VIEW (self->slice_view), TRUE);
  g_signal_connect_object (self->slice_view, "notify::tool", G_CALLBACK (tool_notify_cb), self, 0);
  g_signal_connect (self->index_adjustment, "value-changed", G_CALLBACK (index_changed_cb), self);
}
