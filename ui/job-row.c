#include "config.h"

#include "job-row.h"

#include <glib/gi18n.h>

#include "model/run-job.h"
#include "model/units.h"

struct _LamJobRow {
  GtkListBoxRow parent_instance;
  LamJob *job;
  LamSession *session; /* of the window that shows it */
  GtkWidget *title, *left, *bar, *doing, *buttons, *pause, *stop, *finished;
};

G_DEFINE_FINAL_TYPE (LamJobRow, lam_job_row, GTK_TYPE_LIST_BOX_ROW)

static const char *
state_text (LamJobState state)
{
  switch (state) {
  case LAM_JOB_WAITING:
    return _ ("waiting");
  case LAM_JOB_PAUSED:
    return _ ("paused");
  case LAM_JOB_DONE:
    return _ ("done");
  case LAM_JOB_STOPPED:
    return _ ("stopped and kept");
  case LAM_JOB_CANCELLED:
    return _ ("discarded");
  case LAM_JOB_FAILED:
    return _ ("failed");
  case LAM_JOB_RUNNING:
    break;
  }
  return NULL;
}

static void
changed_cb (LamJob *job, LamJobRow *self)
{
  LamJobState state = lam_job_get_state (job);
  double fraction = lam_job_get_fraction (job);
  gboolean active = lam_job_is_active (job);
  g_autofree char *doing = lam_job_dup_doing (job), *time = lam_units_format_left (lam_job_get_seconds_left (job));
  g_autoptr (GError) error = active ? NULL : lam_job_dup_error (job);
  const char *words = state_text (state);
  gtk_label_set_text (GTK_LABEL (self->left), words != NULL ? words : time != NULL ? time : "");
  gtk_label_set_text (GTK_LABEL (self->doing), error != NULL ? error->message : doing != NULL ? doing : "");
  gtk_widget_set_visible (self->doing, active || state == LAM_JOB_FAILED);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), CLAMP (fraction, 0, 1));
  gtk_widget_set_visible (self->bar, active);
  gtk_widget_set_visible (self->buttons, active);
  gtk_widget_set_visible (self->finished, !active);
  /* A file that is half written is not kept. */
  gtk_widget_set_visible (self->stop, lam_run_job_is (job));
  gtk_widget_set_visible (self->pause, lam_run_job_is (job));
  gtk_button_set_label (GTK_BUTTON (self->pause), state == LAM_JOB_PAUSED ? _ ("Go On") : _ ("Pause"));
}

static void
discard_cb (GtkButton *button, LamJobRow *self)
{
  lam_job_cancel (self->job);
}

static void
stop_keep_cb (GtkButton *button, LamJobRow *self)
{
  lam_job_stop_keep (self->job);
}

static void
pause_cb (GtkButton *button, LamJobRow *self)
{
  lam_job_pause (self->job, lam_job_get_state (self->job) != LAM_JOB_PAUSED);
  changed_cb (self->job, self);
}

static void
remove_cb (GtkButton *button, LamJobRow *self)
{
  g_autoptr (LamJob) job = g_object_ref (self->job);
  lam_queue_remove (lam_session_get_queue (self->session), job);
}

static void
lam_job_row_dispose (GObject *object)
{
  g_clear_object (&LAM_JOB_ROW (object)->session);
  g_clear_object (&LAM_JOB_ROW (object)->job);
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
  gtk_widget_class_bind_template_child (widget_class, LamJobRow, buttons);
  gtk_widget_class_bind_template_child (widget_class, LamJobRow, pause);
  gtk_widget_class_bind_template_child (widget_class, LamJobRow, finished);
  gtk_widget_class_bind_template_child (widget_class, LamJobRow, stop);
  gtk_widget_class_bind_template_callback (widget_class, remove_cb);
  gtk_widget_class_bind_template_callback (widget_class, discard_cb);
  gtk_widget_class_bind_template_callback (widget_class, stop_keep_cb);
  gtk_widget_class_bind_template_callback (widget_class, pause_cb);
}

static void
lam_job_row_init (LamJobRow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

GtkWidget *
lam_job_row_new (LamJob *job, LamSession *session)
{
  LamJobRow *self = g_object_new (LAM_TYPE_JOB_ROW, NULL);
  self->job = g_object_ref (job);
  self->session = g_object_ref (session);
  gtk_label_set_text (GTK_LABEL (self->title), lam_job_get_title (job));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, lam_job_get_title (job), -1);
  g_signal_connect_object (job, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (job, "finished", G_CALLBACK (changed_cb), self, 0);
  changed_cb (job, self);
  return GTK_WIDGET (self);
}
