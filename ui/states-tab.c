#include "config.h"

#include "states-tab.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "accessible-name.h"
#include "model/sequence-approximations.h"
#include "train-view.h"

struct _LamStatesTab {
  GtkBox parent_instance;
  LamSequenceSession *session;
  LamSequenceStates *states;
  GtkWidget *train, *view, *stack, *empty, *tissue, *said, *took;
  GtkStringList *names;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (LamStatesTab, lam_states_tab, GTK_TYPE_BOX)

static guint describe_signal;

/* ---- what is shown ---- */

static void
tissue_cb (GtkDropDown *chooser, GParamSpec *pspec, LamStatesTab *self)
{
  guint i = gtk_drop_down_get_selected (chooser);
  if (!self->updating && i != GTK_INVALID_LIST_POSITION)
    lam_sequence_states_set_tissue (self->states, (int) i);
}

static void
plane_cb (GtkToggleButton *button, LamStatesTab *self)
{
  /* The target is an order of F or of Z: it does not mean the same in the other. */
  lam_sequence_states_clear_target (self->states);
  lam_sequence_states_set_longitudinal (self->states, gtk_toggle_button_get_active (button));
}

static void
logarithmic_cb (GtkToggleButton *button, LamStatesTab *self)
{
  lam_sequence_states_set_logarithmic (self->states, gtk_toggle_button_get_active (button));
}

static void
tissues_cb (GListModel *tissues, guint position, guint removed, guint added, LamStatesTab *self)
{
  guint n = g_list_model_get_n_items (tissues);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, i);
    g_ptr_array_add (names, g_strdup (lam_tissue_item_get_name (item)));
  }
  g_ptr_array_add (names, NULL);
  self->updating = TRUE;
  gtk_string_list_splice (self->names, 0, g_list_model_get_n_items (G_LIST_MODEL (self->names)),
                          (const char *const *) names->pdata);
  int chosen = MIN (lam_sequence_states_get_tissue (self->states), (int) n - 1);
  if (chosen >= 0)
    gtk_drop_down_set_selected (GTK_DROP_DOWN (self->tissue), chosen);
  self->updating = FALSE;
  lam_sequence_states_set_tissue (self->states, chosen);
}

static void
changed_cb (LamSequenceStates *states, LamStatesTab *self)
{
  const LamStatesPicture *p = lam_sequence_states_get_picture (states);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), p->why != NULL ? "empty" : "map");
  if (p->why != NULL) {
    g_autofree char *why = g_markup_escape_text (p->why, -1);
    adw_status_page_set_description (ADW_STATUS_PAGE (self->empty), why);
    gtk_label_set_text (GTK_LABEL (self->said), "");
    gtk_label_set_text (GTK_LABEL (self->took), "");
    return;
  }
  g_autofree char *path = lam_states_view_describe_path (LAM_STATES_VIEW (self->view));
  g_autoptr (GString) hint =
      g_string_new (_ ("Dots: samples, where F0 is the echo. Click a state for the path to it."));
  if (p->states.looks > 2 * p->states.columns)
    g_string_append_printf (hint, _ (" Each column is the largest of %d looks."),
                            (int) ((p->states.looks + p->states.columns - 1) / p->states.columns));
  if (lam_approximations_read (lam_sequence_session_get_model (self->session)).slice)
    g_string_append (hint, _ (" At the centre of the slice."));
  if (p->trains > 1)
    g_string_append_printf (hint, _ (" The first of %d trains."), p->trains);
  gtk_label_set_text (GTK_LABEL (self->said), path != NULL ? path : hint->str);
  g_autofree char *took = g_strdup_printf (_ ("%d events, %d orders in %.2g ms"), (int) p->states.looks,
                                           p->states.orders, 1e3 * p->seconds);
  gtk_label_set_text (GTK_LABEL (self->took), took);
}

static void
describe_cb (GtkWidget *view, const char *text, LamStatesTab *self)
{
  g_signal_emit (self, describe_signal, 0, text);
}

/* ---- the tab ---- */

static GtkWidget *
new_hint (void)
{
  GtkWidget *label = gtk_label_new ("");
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_widget_add_css_class (label, "pane-hint");
  gtk_widget_add_css_class (label, "numeric");
  return label;
}

static GtkWidget *
new_toggle (const char *label, const char *tooltip, GtkWidget *group, gboolean active)
{
  GtkWidget *button = gtk_toggle_button_new_with_label (label);
  gtk_widget_add_css_class (button, "small");
  gtk_widget_set_tooltip_text (button, tooltip);
  if (group != NULL)
    gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (button), GTK_TOGGLE_BUTTON (group));
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (button), active);
  return button;
}

static GtkWidget *
new_linked (GtkWidget *a, GtkWidget *b)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (box, "linked");
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), a);
  gtk_box_append (GTK_BOX (box), b);
  return box;
}

static GtkWidget *
new_head (LamStatesTab *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10), *title = gtk_label_new (_ ("States"));
  GtkWidget *f = new_toggle ("F", _ ("Transverse states, of both signs"), NULL, TRUE),
            *z = new_toggle ("Z", _ ("Longitudinal states"), f, FALSE),
            *log = new_toggle (_ ("Logarithmic"), _ ("Colours from a thousandth of the peak to the peak"), NULL, TRUE),
            *linear = new_toggle (_ ("Linear"), _ ("Colours from 0 to the peak"), log, FALSE);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_widget_add_css_class (title, "pane-title");
  self->names = gtk_string_list_new (NULL);
  self->tissue = gtk_drop_down_new (G_LIST_MODEL (self->names), NULL);
  gtk_widget_add_css_class (self->tissue, "compact");
  gtk_widget_add_css_class (self->tissue, "flat");
  lam_accessible_name_chooser (GTK_DROP_DOWN (self->tissue), _ ("Tissue whose states are shown"));
  self->took = new_hint ();
  g_signal_connect (self->tissue, "notify::selected", G_CALLBACK (tissue_cb), self);
  g_signal_connect (z, "toggled", G_CALLBACK (plane_cb), self);
  g_signal_connect (log, "toggled", G_CALLBACK (logarithmic_cb), self);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), self->took);
  gtk_box_append (GTK_BOX (head), self->tissue);
  gtk_box_append (GTK_BOX (head), new_linked (f, z));
  gtk_box_append (GTK_BOX (head), new_linked (log, linear));
  return head;
}

static GtkWidget *
new_card (GtkWidget *head, GtkWidget *body)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "pane");
  if (head != NULL)
    gtk_box_append (GTK_BOX (card), head);
  gtk_box_append (GTK_BOX (card), body);
  return card;
}

GtkWidget *
lam_states_tab_get_train (LamStatesTab *self)
{
  return self->train;
}

LamSequenceStates *
lam_states_tab_get_states (LamStatesTab *self)
{
  return self->states;
}

LamStatesView *
lam_states_tab_get_view (LamStatesTab *self)
{
  return LAM_STATES_VIEW (self->view);
}

static void
lam_states_tab_dispose (GObject *object)
{
  LamStatesTab *self = LAM_STATES_TAB (object);
  if (self->states != NULL)
    lam_sequence_states_close (self->states);
  g_clear_object (&self->states);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_states_tab_parent_class)->dispose (object);
}

static void
lam_states_tab_class_init (LamStatesTabClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_states_tab_dispose;
  describe_signal = g_signal_new ("describe", LAM_TYPE_STATES_TAB, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                  1, G_TYPE_STRING);
}

static void
lam_states_tab_init (LamStatesTab *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 10);
  gtk_widget_set_margin_start (GTK_WIDGET (self), 10);
  gtk_widget_set_margin_end (GTK_WIDGET (self), 10);
  gtk_widget_set_margin_bottom (GTK_WIDGET (self), 10);
}

/* The view stays mapped beside the words that there is nothing: it is what asks. */
GtkWidget *
lam_states_tab_new (LamSequenceSession *session)
{
  LamStatesTab *self = g_object_new (LAM_TYPE_STATES_TAB, NULL);
  GtkWidget *overlay = gtk_overlay_new ();
  self->session = g_object_ref (session);
  self->states = lam_sequence_states_new (session);
  self->train = lam_train_view_new (session);
  self->view = lam_states_view_new (self->states);
  self->said = new_hint ();
  self->empty = adw_status_page_new ();
  adw_status_page_set_title (ADW_STATUS_PAGE (self->empty), _ ("No states to show"));
  gtk_widget_add_css_class (self->empty, "compact");
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), "map");
  gtk_stack_add_named (GTK_STACK (self->stack), self->empty, "empty");
  gtk_widget_set_can_target (self->stack, FALSE);
  gtk_widget_set_vexpand (self->view, TRUE);
  gtk_overlay_set_child (GTK_OVERLAY (overlay), self->view);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), self->stack);
  GtkWidget *map = new_card (new_head (self), overlay);
  gtk_box_append (GTK_BOX (map), self->said);
  gtk_widget_set_vexpand (map, TRUE);
  gtk_box_append (GTK_BOX (self), new_card (NULL, self->train));
  gtk_box_append (GTK_BOX (self), map);
  GListModel *tissues = lam_sequence_session_get_tissues (session);
  g_signal_connect_object (tissues, "items-changed", G_CALLBACK (tissues_cb), self, 0);
  g_signal_connect_object (self->states, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (self->view, "describe", G_CALLBACK (describe_cb), self, 0);
  g_signal_connect_object (self->train, "describe", G_CALLBACK (describe_cb), self, 0);
  tissues_cb (tissues, 0, 0, 0, self);
  return GTK_WIDGET (self);
}
