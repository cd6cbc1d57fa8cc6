#include "config.h"

#include "help-window.h"

#include <glib/gi18n.h>
#include <string.h>

static const char *const pages[] = {"open",     "centre", "sharpness", "run",          "compare", "save",
                                    "sequence", "maps",   "templates", "command-line", "numbers"};
#define N_PAGES G_N_ELEMENTS (pages)

struct _LamHelpWindow {
  AdwWindow parent_instance;
  GtkWidget *list, *search, *view, *scroller;
  char *text[N_PAGES], *folded[N_PAGES]; /* source; and what a search looks through */
  int page;
};

G_DEFINE_FINAL_TYPE (LamHelpWindow, lam_help_window, ADW_TYPE_WINDOW)

/* -- pages -- */

static char *
load_page (int i)
{
  g_autofree char *path = g_strdup_printf ("/org/lamina/Lamina/help/%s.md", pages[i]);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  gsize size = 0;
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : "";
  return g_strndup (data, size);
}

static char *
title_of (const char *text)
{
  const char *end = strchrnul (text, '\n');
  return g_str_has_prefix (text, "# ") ? g_strndup (text + 2, end - text - 2) : g_strndup (text, end - text);
}

/* "a `b` **c**": runs of one look. */
static void
insert_inline (GtkTextBuffer *buffer, GtkTextIter *at, const char *text, const char *tag)
{
  while (*text != '\0') {
    const char *mark = g_str_has_prefix (text, "**") ? "**" : *text == '`' ? "`" : *text == '*' ? "*" : NULL;
    const char *end = mark != NULL ? strstr (text + strlen (mark), mark) : NULL;
    if (end != NULL) {
      const char *look = *mark == '`' ? "code" : strlen (mark) == 2 ? "strong" : "emphasis";
      gtk_text_buffer_insert_with_tags_by_name (buffer, at, text + strlen (mark), (int) (end - text - strlen (mark)),
                                                look, tag, NULL);
      text = end + strlen (mark);
      continue;
    }
    gsize n = strcspn (text + 1, "`*") + 1;
    gtk_text_buffer_insert_with_tags_by_name (buffer, at, text, (int) n, tag, NULL);
    text += n;
  }
}

static void
insert_line (GtkTextBuffer *buffer, GtkTextIter *at, const char *line)
{
  if (*line == '\0')
    return;
  if (g_str_has_prefix (line, "## "))
    insert_inline (buffer, at, line + 3, "heading");
  else if (g_str_has_prefix (line, "# "))
    insert_inline (buffer, at, line + 2, "title");
  else if (g_str_has_prefix (line, "- ")) {
    gtk_text_buffer_insert_with_tags_by_name (buffer, at, "•\t", -1, "item", NULL);
    insert_inline (buffer, at, line + 2, "item");
  } else if (g_str_has_prefix (line, "    "))
    gtk_text_buffer_insert_with_tags_by_name (buffer, at, line + 4, -1, "code", "block", NULL);
  else
    insert_inline (buffer, at, line, "paragraph");
  gtk_text_buffer_insert (buffer, at, "\n", 1);
}

static void
mark_found (LamHelpWindow *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->view));
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->search));
  GtkTextIter start, end, from, to;
  gtk_text_buffer_get_bounds (buffer, &start, &end);
  gtk_text_buffer_remove_tag_by_name (buffer, "found", &start, &end);
  gboolean first = TRUE;
  while (*text != '\0'
         && gtk_text_iter_forward_search (&start, text, GTK_TEXT_SEARCH_CASE_INSENSITIVE, &from, &to, NULL)) {
    gtk_text_buffer_apply_tag_by_name (buffer, "found", &from, &to);
    if (first)
      gtk_text_view_scroll_to_iter (GTK_TEXT_VIEW (self->view), &from, 0.1, FALSE, 0, 0);
    first = FALSE;
    start = to;
  }
}

static void
show_page (LamHelpWindow *self, int page)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->view));
  g_auto (GStrv) lines = g_strsplit (self->text[page], "\n", -1);
  g_autofree char *title = title_of (self->text[page]), *full = g_strdup_printf (_ ("%s — Help"), title);
  GtkTextIter at;
  self->page = page;
  gtk_text_buffer_set_text (buffer, "", 0);
  gtk_text_buffer_get_start_iter (buffer, &at);
  for (char **line = lines; *line != NULL; line++)
    insert_line (buffer, &at, *line);
  gtk_window_set_title (GTK_WINDOW (self), full);
  gtk_adjustment_set_value (gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scroller)), 0);
  mark_found (self);
}

static int
page_of (GtkListBoxRow *row)
{
  return GPOINTER_TO_INT (g_object_get_data (G_OBJECT (row), "page"));
}

static void
selected_cb (GtkListBox *list, GtkListBoxRow *row, LamHelpWindow *self)
{
  if (row != NULL && page_of (row) != self->page)
    show_page (self, page_of (row));
}

/* -- search -- */

static gboolean
has_text (LamHelpWindow *self, int page)
{
  g_autofree char *text = g_utf8_casefold (gtk_editable_get_text (GTK_EDITABLE (self->search)), -1);
  return strstr (self->folded[page], text) != NULL;
}

static gboolean
filter_cb (GtkListBoxRow *row, gpointer data)
{
  return has_text (data, page_of (row));
}

static void
search_cb (GtkSearchEntry *entry, LamHelpWindow *self)
{
  gtk_list_box_invalidate_filter (GTK_LIST_BOX (self->list));
  if (has_text (self, self->page))
    mark_found (self);
  else
    for (guint i = 0; i < N_PAGES; i++)
      if (has_text (self, (int) i)) {
        lam_help_window_show_page (self, pages[i]);
        break;
      }
}

void
lam_help_window_search (LamHelpWindow *self, const char *text)
{
  g_return_if_fail (LAM_IS_HELP_WINDOW (self) && text != NULL);
  gtk_editable_set_text (GTK_EDITABLE (self->search), text);
  search_cb (GTK_SEARCH_ENTRY (self->search), self);
}

guint
lam_help_window_get_n_listed (LamHelpWindow *self)
{
  guint n = 0;
  for (guint i = 0; i < N_PAGES; i++)
    n += has_text (self, (int) i);
  return n;
}

gboolean
lam_help_window_show_page (LamHelpWindow *self, const char *name)
{
  g_return_val_if_fail (LAM_IS_HELP_WINDOW (self), FALSE);
  for (guint i = 0; i < N_PAGES; i++)
    if (g_str_equal (pages[i], name)) {
      gtk_list_box_select_row (GTK_LIST_BOX (self->list),
                               gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), (int) i));
      if (self->page != (int) i)
        show_page (self, (int) i);
      return TRUE;
    }
  return FALSE;
}

const char *
lam_help_window_get_page (LamHelpWindow *self)
{
  return pages[self->page];
}

/* -- window -- */

static gboolean
key_cb (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamHelpWindow *self = LAM_HELP_WINDOW (widget);
  if (g_strcmp0 (data, "find") == 0)
    gtk_widget_grab_focus (self->search);
  else
    gtk_window_close (GTK_WINDOW (self));
  return TRUE;
}

static void
add_key (LamHelpWindow *self, guint key, GdkModifierType state, const char *what)
{
  GtkEventController *keys = gtk_shortcut_controller_new ();
  gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (gtk_keyval_trigger_new (key, state), gtk_callback_action_new (key_cb, (gpointer) what, NULL)));
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
}

static void
make_tags (GtkTextBuffer *buffer)
{
  PangoTabArray *tabs = pango_tab_array_new_with_positions (1, TRUE, PANGO_TAB_LEFT, 18);
  gtk_text_buffer_create_tag (buffer, "title", "scale", 1.5, "weight", PANGO_WEIGHT_BOLD, "pixels-below-lines", 12,
                              NULL);
  gtk_text_buffer_create_tag (buffer, "heading", "scale", 1.12, "weight", PANGO_WEIGHT_BOLD, "pixels-above-lines", 14,
                              "pixels-below-lines", 4, NULL);
  gtk_text_buffer_create_tag (buffer, "paragraph", "pixels-above-lines", 3, "pixels-below-lines", 6, NULL);
  gtk_text_buffer_create_tag (buffer, "item", "left-margin", 34, "indent", -18, "tabs", tabs, "pixels-below-lines", 4,
                              NULL);
  gtk_text_buffer_create_tag (buffer, "block", "left-margin", 34, NULL);
  gtk_text_buffer_create_tag (buffer, "code", "family", "monospace", "scale", 0.92, NULL);
  gtk_text_buffer_create_tag (buffer, "strong", "weight", PANGO_WEIGHT_BOLD, NULL);
  gtk_text_buffer_create_tag (buffer, "emphasis", "style", PANGO_STYLE_ITALIC, NULL);
  gtk_text_buffer_create_tag (buffer, "found", "background", "#f8e45c", "foreground", "#000000", NULL);
  pango_tab_array_free (tabs);
}

static GtkWidget *
new_scroller (GtkWidget *child)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), child);
  gtk_widget_set_vexpand (scroller, TRUE);
  return scroller;
}

static void
fill_list (LamHelpWindow *self)
{
  for (guint i = 0; i < N_PAGES; i++) {
    self->text[i] = load_page ((int) i);
    self->folded[i] = g_utf8_casefold (self->text[i], -1);
    g_autofree char *title = title_of (self->text[i]);
    GtkWidget *label = gtk_label_new (title), *row = gtk_list_box_row_new ();
    gtk_label_set_xalign (GTK_LABEL (label), 0);
    gtk_label_set_wrap (GTK_LABEL (label), TRUE);
    gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), label);
    gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
    g_object_set_data (G_OBJECT (row), "page", GINT_TO_POINTER (i));
    gtk_list_box_append (GTK_LIST_BOX (self->list), row);
  }
}

static GtkWidget *
build_side (LamHelpWindow *self)
{
  GtkWidget *side = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6), *scroller;
  self->search = gtk_search_entry_new ();
  gtk_widget_set_margin_top (self->search, 6);
  gtk_widget_set_margin_start (self->search, 6);
  gtk_widget_set_margin_end (self->search, 6);
  gtk_widget_set_tooltip_text (self->search, _ ("Search all pages (Ctrl+F)"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->search), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Search"), -1);
  self->list = gtk_list_box_new ();
  gtk_widget_add_css_class (self->list, "navigation-sidebar");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list), GTK_SELECTION_BROWSE);
  gtk_list_box_set_filter_func (GTK_LIST_BOX (self->list), filter_cb, self, NULL);
  GtkWidget *nothing = gtk_label_new (_ ("No page has this."));
  gtk_widget_add_css_class (nothing, "dim-label");
  gtk_widget_set_margin_top (nothing, 18);
  gtk_list_box_set_placeholder (GTK_LIST_BOX (self->list), nothing);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Pages"), -1);
  scroller = new_scroller (self->list);
  gtk_widget_set_size_request (side, 232, -1);
  gtk_box_append (GTK_BOX (side), self->search);
  gtk_box_append (GTK_BOX (side), scroller);
  return side;
}

static GtkWidget *
build_view (LamHelpWindow *self)
{
  self->view = gtk_text_view_new ();
  GtkTextView *view = GTK_TEXT_VIEW (self->view);
  gtk_text_view_set_editable (view, FALSE);
  gtk_text_view_set_cursor_visible (view, FALSE);
  gtk_text_view_set_accepts_tab (view, FALSE);
  gtk_text_view_set_wrap_mode (view, GTK_WRAP_WORD_CHAR);
  gtk_text_view_set_left_margin (view, 24);
  gtk_text_view_set_right_margin (view, 24);
  gtk_text_view_set_top_margin (view, 18);
  gtk_text_view_set_bottom_margin (view, 24);
  gtk_text_view_set_pixels_inside_wrap (view, 2);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Help"), -1);
  make_tags (gtk_text_view_get_buffer (view));
  self->scroller = new_scroller (self->view);
  gtk_widget_set_hexpand (self->scroller, TRUE);
  return self->scroller;
}

/* Escape in the search: first what was typed goes, then the window. */
static void
stop_search_cb (GtkSearchEntry *search, LamHelpWindow *self)
{
  if (*gtk_editable_get_text (GTK_EDITABLE (search)) == '\0')
    gtk_window_close (GTK_WINDOW (self));
  else
    gtk_editable_set_text (GTK_EDITABLE (search), "");
}

static void
lam_help_window_finalize (GObject *object)
{
  LamHelpWindow *self = LAM_HELP_WINDOW (object);
  for (guint i = 0; i < N_PAGES; i++) {
    g_free (self->text[i]);
    g_free (self->folded[i]);
  }
  G_OBJECT_CLASS (lam_help_window_parent_class)->finalize (object);
}

static void
lam_help_window_class_init (LamHelpWindowClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lam_help_window_finalize;
}

static void
lam_help_window_init (LamHelpWindow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *panes = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  self->page = -1;
  gtk_window_set_default_size (GTK_WINDOW (self), 860, 620);
  GtkWidget *side = build_side (self);
  gtk_box_append (GTK_BOX (panes), side);
  gtk_box_append (GTK_BOX (panes), gtk_separator_new (GTK_ORIENTATION_VERTICAL));
  gtk_box_append (GTK_BOX (panes), build_view (self));
  fill_list (self);
  gtk_box_append (GTK_BOX (box), adw_header_bar_new ());
  gtk_box_append (GTK_BOX (box), panes);
  adw_window_set_content (ADW_WINDOW (self), box);
  g_signal_connect (self->list, "row-selected", G_CALLBACK (selected_cb), self);
  g_signal_connect (self->search, "search-changed", G_CALLBACK (search_cb), self);
  g_signal_connect (self->search, "stop-search", G_CALLBACK (stop_search_cb), self);
  add_key (self, GDK_KEY_f, GDK_CONTROL_MASK, "find");
  add_key (self, GDK_KEY_Escape, 0, "close");
  add_key (self, GDK_KEY_w, GDK_CONTROL_MASK, "close");
  lam_help_window_show_page (self, pages[0]);
}

GtkWidget *
lam_help_window_new (void)
{
  return g_object_new (LAM_TYPE_HELP_WINDOW, NULL);
}
