#include "config.h"

#include "sequence-page-private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "accessible-name.h"
#include "bounds-view.h"
#include "file-signal.h"
#include "kspace-tab.h"
#include "model/sequence-compare.h"
#include "model/sequence-optimise.h"
#include "palette.h"
#include "parameter-row.h"
#include "precision-tab.h"
#include "problems-view.h"
#include "sequence-file-groups.h"
#include "states-tab.h"
#include "tissue-group.h"
#include "timeline-view.h"
#include "times-view.h"
#include "train-view.h"

static guint status_signal, meaning_signal;

G_DEFINE_FINAL_TYPE (LamSequencePage, lam_sequence_page, ADW_TYPE_BIN)

/* ---- what changed ---- */

static void
result_cb (LamSequenceSession *session, LamSequencePage *self)
{
  LamSequenceResult *r = lam_sequence_session_get_result (session), *before = lam_sequence_session_get_before (session);
  if (r == NULL || lam_pulseq_model_get_file (lam_sequence_session_get_pulseq (session)) != NULL)
    return;
  if (!self->part_chosen) {
    Part suits = r->im == NULL ? PART_REAL : PART_MAGNITUDE;
    if (suits != self->part)
      gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->parts[suits]), TRUE);
    self->part_chosen = FALSE;
  }
  lam_sequence_page_draw_signal (self, r, before);
  lam_sequence_page_offer_by (self, r);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "sequence.auto-orders", !r->closed);
  lam_sequence_page_draw_sensitivity (self, r);
  lam_sequence_page_write_legend (self);
  g_autofree char *took = g_strdup_printf (_ ("signal and sensitivities in %.2g ms"), 1e3 * r->seconds);
  gtk_label_set_text (GTK_LABEL (self->took), took);
}

static void
compare_cb (LamSequenceCompare *compare, LamSequencePage *self)
{
  LamSequenceResult *r = lam_sequence_session_get_result (self->session);
  lam_sequence_page_write_legend (self);
  if (r != NULL)
    lam_sequence_page_draw_signal (self, r, lam_sequence_session_get_before (self->session));
}

static void
by_toggled_cb (GtkToggleButton *button, LamSequencePage *self)
{
  LamSequenceResult *r = lam_sequence_session_get_result (self->session);
  if (r != NULL)
    lam_sequence_page_draw_sensitivity (self, r);
}

void
lam_sequence_page_failed (LamSequenceSession *session, const char *text, LamSequencePage *self)
{
  gtk_label_set_text (GTK_LABEL (self->problem), text != NULL ? text : "");
  gtk_widget_set_visible (self->problem, text != NULL);
}

static void
part_toggled_cb (GtkToggleButton *button, LamSequencePage *self)
{
  LamSequenceResult *r = lam_sequence_session_get_result (self->session);
  if (!gtk_toggle_button_get_active (button))
    return;
  for (int i = 0; i < PARTS; i++)
    if (GTK_WIDGET (button) == self->parts[i])
      self->part = i;
  self->part_chosen = TRUE;
  lam_file_signal_set_part (LAM_FILE_SIGNAL (self->file_signal), (LamSignalPart) self->part);
  lam_precision_tab_set_part (LAM_PRECISION_TAB (self->precision), self->part);
  if (r != NULL) {
    lam_sequence_page_draw_signal (self, r, lam_sequence_session_get_before (self->session));
    lam_sequence_page_draw_sensitivity (self, r);
  }
}

static void
pulse_notify_cb (LamTrainView *train, GParamSpec *pspec, LamSequencePage *self)
{
  int i = lam_train_view_get_pulse (train);
  lam_curves_layer_set_mark (self->signal, i >= 0 ? i : NAN);
}

static void
describe_cb (GtkWidget *view, const char *text, LamSequencePage *self)
{
  g_signal_emit (self, status_signal, 0, text);
}

/* ---- a file ---- */

char *
lam_sequence_page_dup_meaning (LamSequencePage *self)
{
  LamPulseqModel *model = lam_sequence_session_get_pulseq (self->session);
  gboolean file = lam_pulseq_model_get_file (model) != NULL;
  g_autofree char *summary = file ? lam_pulseq_model_dup_summary (model) : NULL;
  g_autofree char *plain = g_markup_escape_text (!file ? _ ("M0 = 1 unless given · noise in each real channel")
                                                 : summary != NULL ? _ ("Bloch · M0 = 1 unless given")
                                                                   : _ ("Bloch · M0 = 1 unless given · no problems"),
                                                 -1);
  g_autofree char *escaped = summary != NULL ? g_markup_escape_text (summary, -1) : NULL;
  GdkRGBA c = lam_palette (GTK_WIDGET (self), LAM_COLOUR_ORANGE);
  return escaped == NULL
             ? g_strdup_printf ("<span alpha=\"60%%\">%s</span>", plain)
             : g_strdup_printf ("<span alpha=\"60%%\">%s · </span><span foreground=\"#%02x%02x%02x\">%s</span>", plain,
                                (int) (c.red * 255), (int) (c.green * 255), (int) (c.blue * 255), escaped);
}

static void
problems_changed_cb (LamPulseqModel *model, LamSequencePage *self)
{
  g_autofree char *title = lam_problems_view_dup_title (LAM_PROBLEMS_VIEW (self->problems));
  gtk_label_set_text (GTK_LABEL (self->problems_title), title);
  g_signal_emit (self, meaning_signal, 0);
}

static void
go_to_cb (LamProblemsView *problems, LamSequenceProblem *problem, LamSequencePage *self)
{
  int64_t ps = lam_sequence_problem_get_ps (problem);
  gtk_stack_set_visible_child_name (self->tabs, "timeline");
  lam_pulseq_look_go_to (self->look, ps);
  lam_timeline_view_set_mark (LAM_TIMELINE_VIEW (self->timeline), ps);
}

static void
file_signal_changed_cb (LamPulseqSignal *signal, LamSequencePage *self)
{
  if (lam_pulseq_model_get_file (lam_sequence_session_get_pulseq (self->session)) != NULL
      && lam_pulseq_signal_get_state (signal) == LAM_PULSEQ_SIGNAL_READY)
    gtk_label_set_text (GTK_LABEL (self->file_took), lam_pulseq_signal_get_text (signal));
  else
    gtk_label_set_text (GTK_LABEL (self->file_took), "");
}

static void
show_all (GPtrArray *widgets, gboolean show)
{
  for (guint i = 0; i < widgets->len; i++)
    gtk_widget_set_visible (g_ptr_array_index (widgets, i), show);
}

static void
file_changed_cb (LamPulseqModel *model, LamSequencePage *self)
{
  gboolean file = lam_pulseq_model_get_file (model) != NULL;
  show_all (self->of_file, file);
  show_all (self->of_template, !file);
  gtk_stack_page_set_visible (gtk_stack_get_page (self->tabs, self->states), !file);   /* a file has none */
  gtk_stack_page_set_visible (gtk_stack_get_page (self->tabs, self->precision), file); /* else beside the train */
  if (gtk_stack_get_visible_child (self->tabs) == (file ? self->states : self->precision))
    lam_sequence_page_show_tab (self, "timeline");
  if (file && !self->part_chosen) {
    gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->parts[PART_MAGNITUDE]), TRUE);
    self->part_chosen = FALSE;
  }
  g_signal_emit (self, meaning_signal, 0);
  g_signal_emit (self, status_signal, 0, NULL);
}

LamSequenceCompare *
lam_sequence_page_get_compare (LamSequencePage *self)
{
  return self->compare;
}

LamSequenceOptimise *
lam_sequence_page_get_optimise (LamSequencePage *self)
{
  return self->optimise;
}

/* ---- the sidebar ---- */

static void
show_train (LamSequencePage *self)
{
  const char *field = lam_sequence_session_get_train (self->session);
  int n = 0;
  if (field != NULL)
    lam_sequence_session_get_list (self->session, field, &n);
  g_autofree char *hint = field == NULL
                              ? g_strdup (_ ("no list in this protocol"))
                              : g_strdup_printf (_ ("%s: %d values · type a list or a formula of n"), field, n);
  gtk_entry_set_placeholder_text (GTK_ENTRY (self->train_entry), hint);
  gtk_widget_set_tooltip_text (
      self->train_entry,
      _ ("5:60:188 is 188 values from 5 to 60, 2*124 is 124 times 2; or a formula such as 30 + 20*sin(2*pi*n/N)"));
  gtk_widget_set_sensitive (self->train_entry, field != NULL);
}

static void
train_activate_cb (GtkEntry *entry, LamSequencePage *self)
{
  const char *field = lam_sequence_session_get_train (self->session);
  g_autoptr (GError) error = NULL;
  int n = 1;
  if (field == NULL)
    return;
  lam_sequence_session_get_list (self->session, field, &n);
  gboolean ok = lam_sequence_session_edit_formula (self->session, field, gtk_editable_get_text (GTK_EDITABLE (entry)),
                                                   MAX (n, 1), &error);
  lam_sequence_page_failed (self->session, ok ? NULL : error->message, self);
  if (ok)
    gtk_widget_remove_css_class (GTK_WIDGET (entry), "error");
  else
    gtk_widget_add_css_class (GTK_WIDGET (entry), "error");
}

static void
train_changed_cb (LamSequenceSession *session, LamSequencePage *self)
{
  show_train (self);
}

/* The protocol's rows, made anew with the template. */
static void
protocol_changed_cb (LamSequenceSession *session, LamSequencePage *self)
{
  LamParameterList *rows = lam_sequence_session_get_protocol (session);
  GtkWidget *old = gtk_widget_get_first_child (self->sequence_slot), *group = lam_group_new (_ ("Sequence"));
  if (old != NULL)
    gtk_box_remove (GTK_BOX (self->sequence_slot), old);
  g_object_set (group, "command", _ ("Open .seq…"), "action-name", "win.open", NULL);
  lam_group_add_row (LAM_GROUP (group), lam_parameter_row_new (lam_sequence_session_get_template (session)));
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (rows)); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (G_LIST_MODEL (rows), i);
    lam_group_add_row (LAM_GROUP (group), lam_parameter_row_new (p));
  }
  gtk_box_append (GTK_BOX (self->sequence_slot), group);
  gtk_label_set_text (GTK_LABEL (self->summary), lam_sequence_session_get_summary (session));
  self->part_chosen = FALSE;
  show_train (self);
}

static void
tissues_changed_cb (GListModel *tissues, guint position, guint removed, guint added, LamSequencePage *self)
{
  lam_sequence_page_write_legend (self);
}

static void
refused_cb (LamTissueGroup *group, const char *text, LamSequencePage *self)
{
  lam_sequence_page_failed (self->session, text, self);
}

static void
add_all (GPtrArray *widgets, ...)
{
  va_list args;
  va_start (args, widgets);
  for (gpointer w; (w = va_arg (args, gpointer)) != NULL;)
    g_ptr_array_add (widgets, w);
  va_end (args);
}

static GtkWidget *
new_sidebar (LamSequencePage *self)
{
  self->sidebar = gtk_scrolled_window_new ();
  self->groups = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->sidebar), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_size_request (self->sidebar, 316, -1);
  gtk_widget_set_hexpand (self->sidebar, FALSE);
  gtk_widget_set_margin_start (self->groups, 12);
  gtk_widget_set_margin_end (self->groups, 12);
  gtk_widget_set_margin_top (self->groups, 10);
  gtk_widget_set_margin_bottom (self->groups, 12);
  self->sequence_slot = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->summary = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (self->summary), TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->summary), 0);
  gtk_widget_add_css_class (self->summary, "dim-label");
  gtk_widget_add_css_class (self->summary, "pane-hint");
  self->train_entry = gtk_entry_new ();
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->train_entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Train as a list or a formula"), -1);
  g_signal_connect (self->train_entry, "activate", G_CALLBACK (train_activate_cb), self);
  self->model_group = LAM_GROUP (lam_group_new (_ ("Model")));
  g_object_set (self->model_group, "command", _ ("auto to 0.1 %"), "action-name", "sequence.auto-orders", NULL);
  GtkWidget *facts = lam_sequence_file_facts_new (self->session),
            *settings = lam_sequence_file_settings_new (self->session);
  gtk_box_append (GTK_BOX (self->groups), facts);
  gtk_box_append (GTK_BOX (self->groups), self->sequence_slot);
  gtk_box_append (GTK_BOX (self->groups), self->summary);
  gtk_box_append (GTK_BOX (self->groups), self->train_entry);
  self->tissues = lam_tissue_group_new (self->session);
  g_signal_connect_object (self->tissues, "describe", G_CALLBACK (describe_cb), self, 0);
  g_signal_connect_object (self->tissues, "refused", G_CALLBACK (refused_cb), self, 0);
  gtk_box_append (GTK_BOX (self->groups), self->tissues);
  gtk_box_append (GTK_BOX (self->groups), GTK_WIDGET (self->model_group));
  gtk_box_append (GTK_BOX (self->groups), settings);
  add_all (self->of_file, facts, settings, NULL);
  add_all (self->of_template, self->sequence_slot, self->summary, self->train_entry, self->model_group, NULL);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->sidebar), self->groups);
  return self->sidebar;
}

/* ---- the main view ---- */

static GtkWidget *
new_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, class);
  return label;
}

/* A card with a title, a hint at the right, and a body. */
static GtkWidget *
new_card (const char *title, GtkWidget *right, GtkWidget *body)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4), *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8),
            *label = new_label (title, "pane-title");
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "pane");
  gtk_widget_set_hexpand (label, TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_NONE); /* the hint gives way first */
  gtk_box_append (GTK_BOX (head), label);
  if (right != NULL)
    gtk_box_append (GTK_BOX (head), right);
  gtk_box_append (GTK_BOX (card), head);
  gtk_widget_set_vexpand (body, TRUE);
  gtk_box_append (GTK_BOX (card), body);
  return card;
}

static GtkWidget *
new_dim (const char *text)
{
  GtkWidget *label = new_label (text, "dim-label");
  gtk_widget_add_css_class (label, "pane-hint");
  return label;
}

static GtkWidget *
new_part_buttons (LamSequencePage *self)
{
  static const char *const names[PARTS] = {N_ ("Magnitude"), N_ ("Phase"), N_ ("Real"), N_ ("Imaginary")};
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (box, "linked");
  for (int i = 0; i < PARTS; i++) {
    self->parts[i] = gtk_toggle_button_new_with_label (_ (names[i]));
    gtk_widget_add_css_class (self->parts[i], "small");
    if (i > 0)
      gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (self->parts[i]), GTK_TOGGLE_BUTTON (self->parts[0]));
    gtk_box_append (GTK_BOX (box), self->parts[i]);
  }
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->parts[PART_REAL]), TRUE);
  self->part = PART_REAL;
  for (int i = 0; i < PARTS; i++)
    g_signal_connect (self->parts[i], "toggled", G_CALLBACK (part_toggled_cb), self);
  return box;
}

static GtkWidget *
new_by_buttons (LamSequencePage *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_box_append (GTK_BOX (box), new_dim (_ ("per 100 % of")));
  gtk_box_append (GTK_BOX (box), lam_sensitivity_buttons_new (self->by, G_CALLBACK (by_toggled_cb), self));
  return box;
}

static LamChart *
new_chart (LamCurvesLayer **layer, const char *name, const char *y_label)
{
  g_autoptr (LamAxis) x = lam_axis_new (_ ("sample"), FALSE), y = lam_axis_new (y_label, FALSE);
  lam_axis_set_integer (x, TRUE);
  GtkWidget *chart = lam_chart_new (x, y, NULL);
  *layer = LAM_CURVES_LAYER (lam_curves_layer_new (y));
  lam_chart_add_layer (LAM_CHART (chart), LAM_CHART_LAYER (*layer));
  lam_chart_set_label (LAM_CHART (chart), name);
  return LAM_CHART (chart);
}

/* Below the signal of a file: what is wrong with it. */
static GtkWidget *
new_file_row (LamSequencePage *self)
{
  self->problems = lam_problems_view_new (lam_sequence_session_get_pulseq (self->session));
  GtkWidget *problems = new_card (_ ("Problems"), NULL, self->problems);
  self->problems_title = gtk_widget_get_first_child (gtk_widget_get_first_child (problems));
  gtk_widget_set_size_request (problems, -1, 96);
  return problems;
}

/* Train, signal, sensitivity and precision: what moves under the hand. */
static GtkWidget *
new_timeline (LamSequencePage *self)
{
  GtkWidget *main = gtk_box_new (GTK_ORIENTATION_VERTICAL, 10), *lower = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10),
            *right = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 14);
  self->train = lam_train_view_new (self->session);
  self->times = lam_times_view_new (self->session);
  self->took = new_dim ("");
  self->signal_chart = new_chart (&self->signal, _ ("Signal by sample"), _ ("signal"));
  self->sensitivity_chart = new_chart (&self->sensitivity, _ ("Sensitivity by sample"), _ ("sensitivity"));
  self->bounds = lam_bounds_view_new (self->session);
  self->legend = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->legend, "pane-hint");
  LamPulseqSignal *file_signal = lam_sequence_session_get_pulseq_signal (self->session);
  GtkWidget *curves = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->look = lam_pulseq_look_new (lam_sequence_session_get_pulseq (self->session));
  self->timeline = lam_timeline_view_new (self->look);
  self->file_signal = lam_file_signal_new (file_signal, self->look, lam_sequence_session_get_tissues (self->session));
  self->file_took = new_dim ("");
  gtk_widget_set_vexpand (GTK_WIDGET (self->signal_chart), TRUE);
  gtk_widget_set_vexpand (self->file_signal, TRUE);
  gtk_box_append (GTK_BOX (curves), GTK_WIDGET (self->signal_chart));
  gtk_box_append (GTK_BOX (curves), self->file_signal);
  gtk_box_append (GTK_BOX (right), self->file_took);
  gtk_box_append (GTK_BOX (right), self->legend);
  gtk_box_append (GTK_BOX (right), new_part_buttons (self));
  GtkWidget *train = new_card (_ ("Train"), self->took, self->train),
            *events = new_card (_ ("Events"), new_dim (_ ("wheel zooms · drag moves · Shift and drag measure")),
                                self->timeline),
            *signal = new_card (_ ("Signal"), right, curves), *file_row = new_file_row (self),
            *sensitivity = new_card (_ ("Sensitivity"), new_by_buttons (self), GTK_WIDGET (self->sensitivity_chart)),
            *bounds =
                new_card (_ ("Precision"), new_dim (_ ("Cramér–Rao, % of the value · grey: before")), self->bounds);
  gtk_box_append (GTK_BOX (train), self->times);
  gtk_box_append (GTK_BOX (bounds), lam_sequence_page_new_optimise_bar (self));
  gtk_widget_set_hexpand (sensitivity, TRUE);
  gtk_widget_set_size_request (bounds, 320, -1);
  gtk_widget_set_vexpand (signal, TRUE);
  gtk_box_append (GTK_BOX (lower), sensitivity);
  gtk_box_append (GTK_BOX (lower), bounds);
  gtk_widget_set_size_request (lower, -1, 160);
  gtk_widget_set_hexpand (main, TRUE);
  gtk_widget_set_margin_start (main, 10);
  gtk_widget_set_margin_end (main, 10);
  gtk_widget_set_margin_bottom (main, 10);
  gtk_box_append (GTK_BOX (main), train);
  gtk_box_append (GTK_BOX (main), events);
  gtk_box_append (GTK_BOX (main), signal);
  gtk_box_append (GTK_BOX (main), lower);
  gtk_box_append (GTK_BOX (main), file_row);
  gtk_widget_set_vexpand (events, TRUE);
  add_all (self->of_file, events, self->file_signal, self->file_took, file_row, NULL);
  add_all (self->of_template, train, self->signal_chart, lower, NULL);
  return main;
}

static void
add_tab (LamSequencePage *self, const char *name, const char *title, GtkWidget *body)
{
  gtk_stack_add_titled (self->tabs, body, name, title);
}

/* The tabs, and above them their names and what stands in the way. */
static GtkWidget *
new_main (LamSequencePage *self)
{
  GtkWidget *main = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8), *switcher = gtk_stack_switcher_new ();
  self->tabs = GTK_STACK (gtk_stack_new ());
  self->tab_bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->tab_end = new_dim ("");
  self->problem = new_label ("", "error");
  gtk_label_set_wrap (GTK_LABEL (self->problem), TRUE);
  gtk_widget_set_visible (self->problem, FALSE);
  gtk_widget_set_margin_start (self->problem, 12);
  gtk_stack_switcher_set_stack (GTK_STACK_SWITCHER (switcher), self->tabs);
  gtk_accessible_update_property (GTK_ACCESSIBLE (switcher), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("What the middle shows"),
                                  -1);
  gtk_widget_add_css_class (switcher, "compact");
  gtk_widget_set_halign (switcher, GTK_ALIGN_START);
  gtk_widget_set_hexpand (switcher, TRUE);
  gtk_widget_set_margin_start (self->tab_bar, 10);
  gtk_widget_set_margin_end (self->tab_bar, 12);
  gtk_widget_set_margin_top (self->tab_bar, 8);
  gtk_box_append (GTK_BOX (self->tab_bar), switcher);
  gtk_box_append (GTK_BOX (self->tab_bar), self->tab_end);
  add_tab (self, "timeline", _ ("Timeline"), new_timeline (self));
  self->states = lam_states_tab_new (self->session);
  add_tab (self, "states", _ ("States"), self->states);
  self->kspace = lam_kspace_tab_new (lam_sequence_session_get_pulseq (self->session));
  add_tab (self, "kspace", _ ("k-space"), self->kspace);
  self->precision = lam_precision_tab_new (self->session);
  add_tab (self, "precision", _ ("Precision"), self->precision);
  gtk_widget_set_hexpand (main, TRUE);
  gtk_box_append (GTK_BOX (main), self->tab_bar);
  gtk_box_append (GTK_BOX (main), self->problem);
  gtk_box_append (GTK_BOX (main), lam_opening_line_new (lam_sequence_session_get_pulseq (self->session)));
  gtk_box_append (GTK_BOX (main), GTK_WIDGET (self->tabs));
  return main;
}

void
lam_sequence_page_set_session (LamSequencePage *self, LamSequenceSession *session)
{
  g_return_if_fail (LAM_IS_SEQUENCE_PAGE (self) && self->session == NULL);
  self->session = g_object_ref (session);
  self->compare = lam_sequence_compare_new (session);
  adw_flap_set_flap (self->flap, new_sidebar (self));
  adw_flap_set_separator (self->flap, gtk_separator_new (GTK_ORIENTATION_VERTICAL));
  adw_flap_set_content (self->flap, new_main (self));
  LamParameterList *model = lam_sequence_session_get_model (session);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (model)); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (G_LIST_MODEL (model), i);
    lam_group_add_row (self->model_group, lam_parameter_row_new (p));
  }
  g_signal_connect_object (lam_sequence_session_get_tissues (session), "items-changed", G_CALLBACK (tissues_changed_cb),
                           self, 0);
  g_signal_connect_object (session, "protocol-changed", G_CALLBACK (protocol_changed_cb), self, 0);
  g_signal_connect_object (session, "train-changed", G_CALLBACK (train_changed_cb), self, 0);
  g_signal_connect_object (session, "result", G_CALLBACK (result_cb), self, 0);
  g_signal_connect_object (session, "failed", G_CALLBACK (lam_sequence_page_failed), self, 0);
  g_signal_connect_object (self->compare, "changed", G_CALLBACK (compare_cb), self, 0);
  g_signal_connect_object (self->train, "notify::pulse", G_CALLBACK (pulse_notify_cb), self, 0);
  g_signal_connect_object (self->train, "describe", G_CALLBACK (describe_cb), self, 0);
  g_signal_connect_object (self->times, "describe", G_CALLBACK (describe_cb), self, 0);
  g_signal_connect_object (self->states, "describe", G_CALLBACK (describe_cb), self, 0);
  LamPulseqModel *pulseq = lam_sequence_session_get_pulseq (session);
  g_signal_connect_object (self->timeline, "describe", G_CALLBACK (describe_cb), self, 0);
  g_signal_connect_object (lam_kspace_tab_get_view (LAM_KSPACE_TAB (self->kspace)), "describe",
                           G_CALLBACK (describe_cb), self, 0);
  g_signal_connect_object (pulseq, "file-changed", G_CALLBACK (file_changed_cb), self, 0);
  g_signal_connect_object (pulseq, "problems-changed", G_CALLBACK (problems_changed_cb), self, 0);
  g_signal_connect_object (lam_sequence_session_get_pulseq_signal (session), "changed",
                           G_CALLBACK (file_signal_changed_cb), self, 0);
  g_signal_connect_object (self->problems, "go-to", G_CALLBACK (go_to_cb), self, 0);
  protocol_changed_cb (session, self);
  file_changed_cb (pulseq, self);
  lam_sequence_page_write_legend (self);
  result_cb (session, self);
}

static void
maps_status_cb (LamMapsTab *maps, const char *text, LamSequencePage *self)
{
  g_signal_emit (self, status_signal, 0, text);
}

void
lam_sequence_page_add_maps (LamSequencePage *self, LamQueue *queue)
{
  g_return_if_fail (LAM_IS_SEQUENCE_PAGE (self) && self->session != NULL && self->maps == NULL);
  self->maps_model = lam_maps_model_new (self->session, queue);
  self->maps = lam_maps_tab_new (self->maps_model);
  g_signal_connect_object (self->maps, "status", G_CALLBACK (maps_status_cb), self, 0);
  add_tab (self, "maps", _ ("Maps"), self->maps);
  file_changed_cb (lam_sequence_session_get_pulseq (self->session), self);
}

LamMapsTab *
lam_sequence_page_get_maps (LamSequencePage *self)
{
  return self->maps != NULL ? LAM_MAPS_TAB (self->maps) : NULL;
}

LamPulseqLook *
lam_sequence_page_get_look (LamSequencePage *self)
{
  return self->look;
}

GtkWidget *
lam_sequence_page_get_problems (LamSequencePage *self)
{
  return self->problems;
}

GtkWidget *
lam_sequence_page_get_precision (LamSequencePage *self)
{
  return self->precision;
}

GtkWidget *
lam_sequence_page_get_kspace (LamSequencePage *self)
{
  return self->kspace;
}

GtkWidget *
lam_sequence_page_get_timeline (LamSequencePage *self)
{
  return self->timeline;
}

GtkWidget *
lam_sequence_page_get_train (LamSequencePage *self)
{
  return self->train;
}

GtkWidget *
lam_sequence_page_get_times (LamSequencePage *self)
{
  return self->times;
}

GtkWidget *
lam_sequence_page_get_tissues (LamSequencePage *self)
{
  return self->tissues;
}

GtkWidget *
lam_sequence_page_get_states (LamSequencePage *self)
{
  return self->states;
}

void
lam_sequence_page_show_tab (LamSequencePage *self, const char *name)
{
  if (gtk_stack_get_child_by_name (self->tabs, name) != NULL)
    gtk_stack_set_visible_child_name (self->tabs, name);
}

const char *
lam_sequence_page_get_tab (LamSequencePage *self)
{
  return gtk_stack_get_visible_child_name (self->tabs);
}

void
lam_sequence_page_set_show_sidebar (LamSequencePage *self, gboolean show)
{
  adw_flap_set_reveal_flap (self->flap, show);
}

void
lam_sequence_page_next_pane (LamSequencePage *self, int step)
{
  GtkWidget *maps = self->maps, *none = self->train;
  GtkWidget *panes[] = {self->sidebar,
                        self->train,
                        self->times,
                        self->timeline,
                        self->states,
                        GTK_WIDGET (self->signal_chart),
                        lam_file_signal_get_chart (LAM_FILE_SIGNAL (self->file_signal)),
                        GTK_WIDGET (self->sensitivity_chart),
                        self->bounds,
                        self->problems,
                        lam_kspace_tab_get_view (LAM_KSPACE_TAB (self->kspace)),
                        GTK_WIDGET (lam_precision_tab_get_chart (LAM_PRECISION_TAB (self->precision))),
                        lam_precision_tab_get_bounds (LAM_PRECISION_TAB (self->precision)),
                        maps != NULL ? GTK_WIDGET (lam_maps_tab_get_panel (LAM_MAPS_TAB (maps))) : none,
                        maps != NULL ? GTK_WIDGET (lam_maps_tab_get_slice_view (LAM_MAPS_TAB (maps))) : none,
                        maps != NULL ? GTK_WIDGET (lam_maps_tab_get_voxel_card (LAM_MAPS_TAB (maps))) : none};
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (GTK_WIDGET (self)));
  int n = G_N_ELEMENTS (panes), at = -1;
  for (int i = 0; i < n && focus != NULL; i++)
    if (focus == panes[i] || gtk_widget_is_ancestor (focus, panes[i]))
      at = i;
  for (int k = 1; k <= n; k++) {
    GtkWidget *pane = panes[((at < 0 && step < 0 ? 0 : at) + step * k + 2 * n) % n];
    if (gtk_widget_get_mapped (pane)
        && (gtk_widget_get_focusable (pane) ? gtk_widget_grab_focus (pane)
                                            : gtk_widget_child_focus (pane, GTK_DIR_TAB_FORWARD)))
      return;
  }
}

static void
dark_notify_cb (AdwStyleManager *manager, GParamSpec *pspec, LamSequencePage *self)
{
  if (self->session == NULL)
    return;
  lam_sequence_page_write_legend (self);
  g_signal_emit (self, meaning_signal, 0);
}

static void
lam_sequence_page_dispose (GObject *object)
{
  LamSequencePage *self = LAM_SEQUENCE_PAGE (object);
  if (self->optimise != NULL)
    lam_sequence_optimise_close (self->optimise);
  g_clear_object (&self->optimise);
  if (self->maps_model != NULL)
    lam_maps_model_close (self->maps_model);
  g_clear_object (&self->maps_model);
  if (self->compare != NULL)
    lam_sequence_compare_close (self->compare);
  g_clear_object (&self->compare);
  if (self->look != NULL)
    lam_pulseq_look_close (self->look);
  g_clear_object (&self->look);
  g_clear_pointer (&self->of_file, g_ptr_array_unref);
  g_clear_pointer (&self->of_template, g_ptr_array_unref);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_sequence_page_parent_class)->dispose (object);
}

static void
auto_orders_action (GtkWidget *widget, const char *name, GVariant *target)
{
  lam_sequence_session_find_orders (LAM_SEQUENCE_PAGE (widget)->session);
}

static void
lam_sequence_page_class_init (LamSequencePageClass *klass)
{
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (klass), "sequence.auto-orders", NULL, auto_orders_action);
  G_OBJECT_CLASS (klass)->dispose = lam_sequence_page_dispose;
  status_signal = g_signal_new ("status", LAM_TYPE_SEQUENCE_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                1, G_TYPE_STRING);
  meaning_signal =
      g_signal_new ("meaning", LAM_TYPE_SEQUENCE_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_sequence_page_init (LamSequencePage *self)
{
  self->of_file = g_ptr_array_new ();
  self->of_template = g_ptr_array_new ();
  self->flap = ADW_FLAP (adw_flap_new ());
  adw_flap_set_fold_policy (self->flap, ADW_FLAP_FOLD_POLICY_AUTO);
  adw_bin_set_child (ADW_BIN (self), GTK_WIDGET (self->flap));
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (dark_notify_cb), self, 0);
}
