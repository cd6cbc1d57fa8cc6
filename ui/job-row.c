#include "config.h"

#include "job-row.h"

#include <glib/gi18n.h>

struct _LamJobRow {
  GtkListBoxRow parent_instance;
  LamSession *session;
  GtkWidget *title, *left, *bar, *doing, *pause;
};

G_DEFINE_FINAL_TYPE (LamJobRow, lam_job_row, GTK_TYPE_LIST_BOX_ROW)

static void
notify_cb (LamSession *session, GParamSpec *pspec, LamJobRow *self)
{
  double fraction = lam_session_get_fraction (session);
  const char *title = lam_session_get_title (session), *left = lam_session_get_left (session);
  const char *doing = lam_session_get_doing (session);
  gboolean paused = lam_session_get_state (session) == LAM_SESSION_PAUSED;
  gtk_label_set_text (GTK_LABEL (self->title), title != NULL ? title : "");
  gtk_label_set_text (GTK_LABEL (self->left), paused ? _ ("paused") : left != NULL ? left : "");
  gtk_label_set_text (GTK_LABEL (self->doing), doing != NULL ? doing : "");
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), CLAMP (fraction, 0, 1));
  gtk_button_set_label (GTK_BUTTON (self->pause), paused ? _ ("Go On") : _ ("Pause"));
}

static void
lam_job_row_dispose (GObject *object)
{
  g_clear_object (&LAM_JOB_ROW (object)->session);
  G_OBJECT_CLASS (lam_job_row_parent_class)->dispose (object);
}

static void
lam_job_row_class_init (LamJobRowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_job_row_dispose;
  gtk_widget_class_set_template_from_resource (widget_class, "/org/lamina/Lamina/job-row.ui");
  gtk_widget_class_bind_template_child (widget_class, LamJobRow, title);
  gtk_widget_class_bind_template_child (widget_class, LamJobRow, left);
  gtk_widget_class_bind_template_child (widget_class, LamJobRow, bar);
  gtk_widget_class_bind_template_child (widget_class, LamJobRow, doing);
  gtk_widget_class_bind_template_child (widget_class, LamJobRow, pause);
}

static void
lam_job_row_init (LamJobRow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

GtkWidget *
lam_job_row_new (LamSession *session)
{
  LamJobRow *self = g_object_new (LAM_TYPE_JOB_ROW, NULL);
  self->session = g_object_ref (session);
  g_signal_connect_object (session, "notify", G_CALLBACK (notify_cb), self, 0);
  notify_cb (session, NULL, self);
  return GTK_WIDGET (self);
}
