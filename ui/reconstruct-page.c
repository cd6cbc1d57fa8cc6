#include "config.h"

#include "reconstruct-page.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "chart.h"
#include "compare-tab.h"
#include "geometry-tab.h"
#include "group.h"
#include "line-layer.h"
#include "model/session-parameters.h"
#include "potential-row.h"
#include "projections-tab.h"
#include "results-pane.h"
#include "slices-tab.h"

/* Lines the log keeps; the files have all of them. */
#define LOG_LINES 2000

struct _LamReconstructPage {
  AdwBin parent_instance;
  LamSession *session;
  AdwFlap *flap;
  GtkWidget *sidebar, *groups, *main_paned, *lower_paned;
  LamGroup *data_group, *geometry_group, *preparation_group, *volume_group, *method_group, *run_group;
  AdwToastOverlay *toasts; /* over the pictures: curve and log stay to be read */
  GtkWidget *later;        /* said while a run goes: edits are for the next one */
  GtkWidget *tab_switcher, *tabs, *progress_label;
  LamSlicesTab *slices_tab;
  LamGeometryTab *geometry_tab;
  LamBeforeAfter *before_after; /* what both show */
  LamProjectionsTab *views_tab, *sinogram_tab;
  LamCompareTab *compare_tab;
  GtkWidget *chart_box, *legend, *log_view, *log_scroller, *log_title, *curve_title;
  LamResultsPane *results_pane;
  LamChart *chart;
  LamChartLayer *threshold;
  gboolean follow; /* the log's end */
};

G_DEFINE_FINAL_TYPE (LamReconstructPage, lam_reconstruct_page, ADW_TYPE_BIN)

/* -- run -- */

static void
session_notify_cb (LamSession *session, GParamSpec *pspec, LamReconstructPage *self)
{
  const char *doing = lam_session_get_doing (session);
  LamSessionState state = lam_session_get_state (session);
  gboolean paused = state == LAM_SESSION_PAUSED;
  /* How long it will take stands at the bottom of the window. */
  g_autofree char *text = doing == NULL ? NULL : paused ? g_strdup_printf (_ ("paused · %s"), doing) : g_strdup (doing);
  gtk_revealer_set_reveal_child (GTK_REVEALER (self->later), paused || state == LAM_SESSION_RUNNING);
  gtk_label_set_text (GTK_LABEL (self->progress_label), text != NULL ? text : "");
}

/* The log follows its end, unless someone reads further up. */
static void
log_grown_cb (GtkAdjustment *scroll, LamReconstructPage *self)
{
  if (self->follow)
    gtk_adjustment_set_value (scroll, gtk_adjustment_get_upper (scroll) - gtk_adjustment_get_page_size (scroll));
}

static void
log_scrolled_cb (GtkAdjustment *scroll, LamReconstructPage *self)
{
  self->follow = gtk_adjustment_get_value (scroll) + gtk_adjustment_get_page_size (scroll)
                 >= gtk_adjustment_get_upper (scroll) - 8;
}

static void
logged_cb (LamSession *session, const char *line, LamReconstructPage *self)
{
  if (lam_session_get_shown (session) != NULL) /* another log is looked at */
    return;
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->log_view));
  GtkTextIter end, start, cut;
  gtk_text_buffer_get_end_iter (buffer, &end);
  if (gtk_text_buffer_get_char_count (buffer) > 0)
    gtk_text_buffer_insert (buffer, &end, "\n", 1);
  /* A second is not parted from its number. */
  gboolean seconds = g_str_has_suffix (line, " s");
  gtk_text_buffer_insert (buffer, &end, line, seconds ? (int) strlen (line) - 2 : -1);
  if (seconds)
    gtk_text_buffer_insert (buffer, &end, "\u00a0s", -1);
  if (gtk_text_buffer_get_line_count (buffer) > LOG_LINES) {
    gtk_text_buffer_get_start_iter (buffer, &start);
    gtk_text_buffer_get_iter_at_line (buffer, &cut, LOG_LINES / 10);
    gtk_text_buffer_delete (buffer, &start, &cut);
  }
}

/* What log and curve are of: neither passes for that of a slice it does not belong to. */
static void
update_titles (LamReconstructPage *self)
{
  if (self->session == NULL) /* the window is going */
    return;
  LamResult *shown = lam_session_get_shown (self->session), *curve = lam_session_get_curve_of (self->session);
  gboolean results = g_list_model_get_n_items (G_LIST_MODEL (lam_session_get_results (self->session))) > 0;
  g_autofree char *log = shown != NULL ? g_strdup_printf (_ ("Log of %s"), lam_result_get_name (shown))
                         : results     ? g_strdup (_ ("Log of the session"))
                                       : g_strdup (_ ("Log"));
  g_autofree char *title = curve == NULL ? g_strdup (_ ("Convergence"))
                           : curve == shown
                               ? g_strdup_printf (_ ("Convergence of %s"), lam_result_get_name (curve))
                               : g_strdup_printf (_ ("Convergence of %s · not in view"), lam_result_get_name (curve));
  gtk_label_set_text (GTK_LABEL (self->log_title), log);
  gtk_label_set_text (GTK_LABEL (self->curve_title), title);
  gtk_widget_set_opacity (GTK_WIDGET (self->chart), curve != NULL && curve != shown ? 0.5 : 1);
}

static void
log_changed_cb (LamSession *session, LamReconstructPage *self)
{
  g_autofree char *text = g_strdup (lam_session_get_log (session));
  gsize length = strlen (text);
  if (length > 0 && text[length - 1] == '\n')
    text[length - 1] = '\0';
  update_titles (self);
  self->follow = TRUE;
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->log_view)), text, -1);
}

static void
stop_changed_cb (LamParameter *parameter, GParamSpec *pspec, LamReconstructPage *self)
{
  double percent = lam_parameter_get_number (parameter);
  g_autofree char *label = g_strdup_printf (_ ("stop below %g %%"), percent);
  lam_line_layer_set_threshold (LAM_LINE_LAYER (self->threshold), percent > 0 ? percent : NAN, label);
}

static void
iterations_changed_cb (LamParameter *parameter, GParamSpec *pspec, LamReconstructPage *self)
{
  lam_chart_set_x_span (self->chart, 1, lam_parameter_get_number (parameter));
}

static void
update_legend (LamReconstructPage *self)
{
  GdkRGBA blue = lam_palette (GTK_WIDGET (self), LAM_COLOUR_BLUE),
          orange = lam_palette (GTK_WIDGET (self), LAM_COLOUR_ORANGE);
  g_autofree char *markup = g_strdup_printf (
      "<span foreground=\"#%02x%02x%02x\">● %s</span>   <span foreground=\"#%02x%02x%02x\">― %s</span>",
      (int) (blue.red * 255), (int) (blue.green * 255), (int) (blue.blue * 255), _ ("change %"),
      (int) (orange.red * 255), (int) (orange.green * 255), (int) (orange.blue * 255), _ ("cost (right)"));
  gtk_label_set_markup (GTK_LABEL (self->legend), markup);
}

static void
dark_notify_cb (AdwStyleManager *manager, GParamSpec *pspec, LamReconstructPage *self)
{
  update_legend (self);
}

static void
build_chart (LamReconstructPage *self)
{
  LamSeries *series = lam_session_get_series (self->session);
  g_autoptr (LamAxis) x = lam_axis_new (_ ("iteration"), FALSE), left = lam_axis_new (_ ("change %"), TRUE),
                      right = lam_axis_new (_ ("cost"), FALSE);
  lam_axis_set_integer (x, TRUE);
  GtkWidget *chart = lam_chart_new (x, left, right);
  self->chart = LAM_CHART (chart);
  gtk_widget_set_vexpand (chart, TRUE);
  lam_chart_set_label (self->chart, _ ("Convergence: change and cost by iteration"));
  self->threshold = lam_line_layer_new_threshold (left, LAM_COLOUR_RED);
  lam_chart_add_layer (self->chart, lam_line_layer_new (series, 1, right, LAM_COLOUR_ORANGE, FALSE));
  lam_chart_add_layer (self->chart, lam_line_layer_new (series, 0, left, LAM_COLOUR_BLUE, TRUE));
  lam_chart_add_layer (self->chart, self->threshold);
  gtk_box_append (GTK_BOX (self->chart_box), chart);
}

/* -- page -- */

static void
bind_group (LamReconstructPage *self, LamGroup *group, LamGroupKind kind, int facts)
{
  if (facts >= 0)
    lam_group_bind_facts (group, lam_session_get_facts (self->session, facts));
  lam_group_add_parameters (group, lam_session_get_parameters (self->session), lam_session_group_ids (kind));
}

void
lam_reconstruct_page_set_session (LamReconstructPage *self, LamSession *session)
{
  g_return_if_fail (LAM_IS_RECONSTRUCT_PAGE (self) && LAM_IS_SESSION (session) && self->session == NULL);
  self->session = g_object_ref (session);
  LamParameterList *parameters = lam_session_get_parameters (session);

  lam_group_bind_facts (self->data_group, lam_session_get_facts (session, LAM_FACTS_DATA));
  bind_group (self, self->geometry_group, LAM_GROUP_GEOMETRY, LAM_FACTS_GEOMETRY);
  bind_group (self, self->preparation_group, LAM_GROUP_PREPARATION, LAM_FACTS_PREPARATION);
  bind_group (self, self->volume_group, LAM_GROUP_VOLUME, LAM_FACTS_VOLUME);
  bind_group (self, self->method_group, LAM_GROUP_METHOD, -1);
  lam_group_add_row (self->method_group, lam_potential_row_new (parameters));
  bind_group (self, self->run_group, LAM_GROUP_RUN, -1);
  lam_group_bind_facts (self->run_group, lam_session_get_facts (session, LAM_FACTS_RUN));

  lam_slices_tab_set_session (self->slices_tab, session);
  lam_geometry_tab_set_session (self->geometry_tab, session);
  self->before_after = lam_before_after_new (session);
  lam_projections_tab_set_pictures (self->views_tab, self->before_after, LAM_PLANE_VIEW);
  lam_projections_tab_set_pictures (self->sinogram_tab, self->before_after, LAM_PLANE_SINOGRAM);
  lam_compare_tab_set_session (self->compare_tab, session);
  build_chart (self);

  LamParameter *stop = lam_parameter_list_find (parameters, "stop_percent");
  LamParameter *iterations = lam_parameter_list_find (parameters, "iterations");
  g_signal_connect_object (stop, "notify::value", G_CALLBACK (stop_changed_cb), self, 0);
  g_signal_connect_object (iterations, "notify::value", G_CALLBACK (iterations_changed_cb), self, 0);
  g_signal_connect_object (session, "logged", G_CALLBACK (logged_cb), self, 0);
  g_signal_connect_object (session, "log-changed", G_CALLBACK (log_changed_cb), self, 0);
  g_signal_connect_object (session, "notify::curve-of", G_CALLBACK (update_titles), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (lam_session_get_results (session), "changed", G_CALLBACK (update_titles), self,
                           G_CONNECT_SWAPPED);
  lam_results_pane_set_session (self->results_pane, session);
  g_signal_connect_object (session, "notify", G_CALLBACK (session_notify_cb), self, 0);
  stop_changed_cb (stop, NULL, self);
  iterations_changed_cb (iterations, NULL, self);
  session_notify_cb (session, NULL, self);
  update_legend (self);
}

LamSliceView *
lam_reconstruct_page_get_slice_view (LamReconstructPage *self)
{
  return lam_slices_tab_get_slice_view (self->slices_tab);
}

AdwToastOverlay *
lam_reconstruct_page_get_toasts (LamReconstructPage *self)
{
  return self->toasts;
}

void
lam_reconstruct_page_set_show_sidebar (LamReconstructPage *self, gboolean show)
{
  adw_flap_set_reveal_flap (self->flap, show);
}

void
lam_reconstruct_page_show_tab (LamReconstructPage *self, int tab)
{
  static const char *const names[] = {"slices", "views", "sinogram", "geometry", "compare"};
  g_return_if_fail (tab >= 0 && tab < (int) G_N_ELEMENTS (names));
  gboolean focused = gtk_widget_get_focus_child (self->tabs) != NULL;
  gtk_stack_set_visible_child_name (GTK_STACK (self->tabs), names[tab]);
  /* The focus stays with what is seen. */
  if (focused)
    gtk_widget_child_focus (gtk_stack_get_visible_child (GTK_STACK (self->tabs)), GTK_DIR_TAB_FORWARD);
}

void
lam_reconstruct_page_next_pane (LamReconstructPage *self, int step)
{
  GtkWidget *panes[9] = {self->sidebar};
  GtkWidget *tab = gtk_stack_get_visible_child (GTK_STACK (self->tabs));
  int n = 1, at = -1;
  if (tab == GTK_WIDGET (self->slices_tab))
    n += lam_slices_tab_get_panes (self->slices_tab, panes + n);
  else if (LAM_IS_PROJECTIONS_TAB (tab))
    n += lam_projections_tab_get_panes (LAM_PROJECTIONS_TAB (tab), panes + n);
  else
    panes[n++] = tab;
  panes[n++] = GTK_WIDGET (self->results_pane);
  panes[n++] = GTK_WIDGET (self->chart);
  panes[n++] = self->log_view;
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (GTK_WIDGET (self)));
  for (int i = 0; i < n && focus != NULL; i++)
    if (focus == panes[i] || gtk_widget_is_ancestor (focus, panes[i]))
      at = i;
  /* The next one that can take it: a folded sidebar cannot. */
  for (int k = 1; k <= n; k++) {
    GtkWidget *pane = panes[((at < 0 && step < 0 ? 0 : at) + step * k + 2 * n) % n];
    if (gtk_widget_get_mapped (pane) && gtk_widget_child_focus (pane, GTK_DIR_TAB_FORWARD))
      return;
  }
}

/* Not GTK's own F8: that one stands still at a border that is in no sight, and one is in another tab. */
void
lam_reconstruct_page_next_border (LamReconstructPage *self, int step)
{
  GtkWidget *borders[] = {self->main_paned, self->lower_paned, adw_bin_get_child (ADW_BIN (self->geometry_tab))};
  int n = G_N_ELEMENTS (borders), at = step > 0 ? -1 : 0;
  for (int i = 0; i < n; i++)
    if (gtk_widget_is_focus (borders[i]))
      at = i;
  for (int k = 1; k <= n; k++) {
    GtkWidget *border = borders[(at + step * k + 2 * n) % n];
    if (gtk_widget_get_mapped (border) && gtk_widget_grab_focus (border))
      return;
  }
}

static void
lam_reconstruct_page_dispose (GObject *object)
{
  LamReconstructPage *self = LAM_RECONSTRUCT_PAGE (object);
  g_clear_object (&self->before_after);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_reconstruct_page_parent_class)->dispose (object);
}

static void
lam_reconstruct_page_class_init (LamReconstructPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_reconstruct_page_dispose;
  g_type_ensure (LAM_TYPE_GROUP);
  g_type_ensure (LAM_TYPE_PROJECTIONS_TAB);
  g_type_ensure (LAM_TYPE_RESULTS_PANE);
  g_type_ensure (LAM_TYPE_SLICES_TAB);
  g_type_ensure (LAM_TYPE_GEOMETRY_TAB);
  g_type_ensure (LAM_TYPE_COMPARE_TAB);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/lamina/Lamina/reconstruct-page.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LamReconstructPage, name)
  BIND (flap);
  BIND (sidebar);
  BIND (groups);
  BIND (later);
  BIND (toasts);
  BIND (main_paned);
  BIND (lower_paned);
  BIND (data_group);
  BIND (geometry_group);
  BIND (preparation_group);
  BIND (volume_group);
  BIND (method_group);
  BIND (run_group);
  BIND (tab_switcher);
  BIND (tabs);
  BIND (slices_tab);
  BIND (geometry_tab);
  BIND (views_tab);
  BIND (sinogram_tab);
  BIND (compare_tab);
  BIND (progress_label);
  BIND (chart_box);
  BIND (legend);
  BIND (log_view);
  BIND (log_scroller);
  BIND (log_title);
  BIND (curve_title);
  BIND (results_pane);
#undef BIND
}

static void
lam_reconstruct_page_init (LamReconstructPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  GtkAdjustment *scroll = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->log_scroller));
  self->follow = TRUE;
  g_signal_connect_object (scroll, "changed", G_CALLBACK (log_grown_cb), self, 0);
  g_signal_connect_object (scroll, "value-changed", G_CALLBACK (log_scrolled_cb), self, 0);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (dark_notify_cb), self, 0);
}
