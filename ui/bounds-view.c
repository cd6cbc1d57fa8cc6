#include "config.h"

#include "bounds-view.h"

#include <glib/gi18n.h>
#include <math.h>

#include "palette.h"

#define BOTTOM 34

struct _LamBoundsView {
  GtkWidget parent_instance;
  LamSequenceSession *session;
};

G_DEFINE_FINAL_TYPE (LamBoundsView, lam_bounds_view, GTK_TYPE_WIDGET)

static const char *const names[LAM_BY_KINDS] = {"T1", "T2", "M0", "B1"};

/* What is shown: of the open file, or of the template. */
static LamSequenceResult *
current (LamBoundsView *self)
{
  return lam_pulseq_model_get_file (lam_sequence_session_get_pulseq (self->session)) != NULL
             ? lam_pulseq_estimate_get_result (lam_sequence_session_get_pulseq_estimate (self->session))
             : lam_sequence_session_get_result (self->session);
}

/* Percent of the value; NAN: cannot be told. */
static double
percent (const LamSequenceResult *r, int tissue, int kind)
{
  return 100 * r->bound[tissue][kind] / fabs (r->value[tissue][kind]);
}

static void
draw_text (LamBoundsView *self, GtkSnapshot *snapshot, const char *text, LamColour role, double x, double y,
           double scale)
{
  lam_small_text (GTK_WIDGET (self), snapshot, text, scale, role, x, y, 0.5);
}

/* Why there is nothing of the open file. */
static void
draw_obstacle (LamBoundsView *self, GtkSnapshot *snapshot, double x, double y)
{
  LamPulseqEstimate *estimate = lam_sequence_session_get_pulseq_estimate (self->session);
  LamPulseqSignalState state = lam_pulseq_estimate_get_state (estimate);
  const char *text = lam_pulseq_estimate_get_text (estimate);
  if (text != NULL && (state == LAM_PULSEQ_SIGNAL_NONE || state == LAM_PULSEQ_SIGNAL_FAILED))
    draw_text (self, snapshot, text, LAM_COLOUR_DIM, x, y, 0.85);
}

static gboolean
shows (const LamSequenceResult *r, int kind)
{
  for (int k = 0; kind != LAM_BY_B1 && k < r->kinds; k++)
    if (r->kind[k] == kind)
      return TRUE;
  return FALSE;
}

static void
describe (LamBoundsView *self, const LamSequenceResult *r)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GListModel *tissues = lam_sequence_session_get_tissues (self->session);
  for (int v = 0; v < r->tissues && v < (int) g_list_model_get_n_items (tissues); v++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, v);
    g_string_append_printf (text, "%s%s:", text->len ? "; " : "", lam_tissue_item_get_name (item));
    for (int k = 0; k < LAM_BY_KINDS; k++)
      if (shows (r, k))
        g_string_append_printf (text, isfinite (percent (r, v, k)) ? " %s %.3g %%" : _ (" %s cannot be told"), names[k],
                                percent (r, v, k));
  }
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text->str, -1);
}

static void
lam_bounds_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamBoundsView *self = LAM_BOUNDS_VIEW (widget);
  const LamSequenceResult *r = current (self), *b = lam_sequence_session_get_before (self->session);
  double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget), room = height - BOTTOM - 18;
  GListModel *tissues = lam_sequence_session_get_tissues (self->session);
  if (room < 10)
    return;
  if (r == NULL) {
    draw_obstacle (self, snapshot, width / 2, height / 2);
    return;
  }
  int n = MIN (r->tissues, (int) g_list_model_get_n_items (tissues)), groups = 0;
  double most = 0;
  if (b != NULL && (b->tissues != r->tissues || r != lam_sequence_session_get_result (self->session)))
    b = NULL;
  for (int k = 0; k < LAM_BY_KINDS; k++) {
    groups += shows (r, k);
    for (int v = 0; shows (r, k) && v < n; v++)
      for (int old = 0; old < (b != NULL ? 2 : 1); old++) {
        double p = percent (old ? b : r, v, k);
        if (isfinite (p))
          most = fmax (most, p);
      }
  }
  if (groups == 0 || most <= 0) {
    draw_text (self, snapshot, _ ("Nothing can be told from these samples."), LAM_COLOUR_DIM, width / 2, height / 2,
               0.85);
    return;
  }
  GdkRGBA grey = lam_palette_alpha (widget, LAM_COLOUR_DIM, 0.35), grid = lam_palette (widget, LAM_COLOUR_GRID);
  double base = height - BOTTOM, group = width / groups;
  gtk_snapshot_append_color (snapshot, &grid, &GRAPHENE_RECT_INIT (0, floor (base), width, 1));
  for (int k = 0, g = 0; k < LAM_BY_KINDS; k++) {
    if (!shows (r, k))
      continue;
    double left = g++ * group, bar = MIN (24, (group - 20) / MAX (n, 1)), start = left + (group - n * bar) / 2;
    for (int v = 0; v < n; v++) {
      g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, v);
      GdkRGBA colour = lam_palette_series (widget, lam_tissue_item_get_colour (item));
      double now = percent (r, v, k), before = b != NULL ? percent (b, v, k) : NAN, x = start + v * bar;
      if (isfinite (before))
        gtk_snapshot_append_color (
            snapshot, &grey, &GRAPHENE_RECT_INIT (x, base - before / most * room, bar * 0.42, before / most * room));
      if (isfinite (now)) {
        gtk_snapshot_append_color (
            snapshot, &colour,
            &GRAPHENE_RECT_INIT (x + bar * 0.45, base - now / most * room, bar * 0.42, now / most * room));
        g_autofree char *text = g_strdup_printf (now < 10 ? "%.2g" : "%.3g", now);
        draw_text (self, snapshot, text, LAM_COLOUR_DIM, x + bar * 0.5,
                   base - fmax (now, isfinite (before) ? before : 0) / most * room - 8, 0.7);
      } else
        draw_text (self, snapshot, "∞", LAM_COLOUR_RED, x + bar * 0.6, base - 10, 0.9);
    }
    draw_text (self, snapshot, names[k], LAM_COLOUR_TEXT, left + group / 2, base + 12, 0.85);
  }
}

static void
lam_bounds_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                         int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 200 : 110;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 380 : 160;
}

static void
result_cb (gpointer source, LamBoundsView *self)
{
  LamSequenceResult *r = current (self);
  if (r != NULL)
    describe (self, r);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
lam_bounds_view_dispose (GObject *object)
{
  g_clear_object (&LAM_BOUNDS_VIEW (object)->session);
  G_OBJECT_CLASS (lam_bounds_view_parent_class)->dispose (object);
}

static void
lam_bounds_view_class_init (LamBoundsViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_bounds_view_dispose;
  widget_class->snapshot = lam_bounds_view_snapshot;
  widget_class->measure = lam_bounds_view_measure;
  gtk_widget_class_set_css_name (widget_class, "boundsview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
lam_bounds_view_init (LamBoundsView *self)
{
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Precision"), -1);
}

GtkWidget *
lam_bounds_view_new (LamSequenceSession *session)
{
  LamBoundsView *self = g_object_new (LAM_TYPE_BOUNDS_VIEW, NULL);
  self->session = g_object_ref (session);
  g_signal_connect_object (session, "result", G_CALLBACK (result_cb), self, 0);
  g_signal_connect_object (lam_sequence_session_get_pulseq_estimate (session), "result", G_CALLBACK (result_cb), self,
                           0);
  return GTK_WIDGET (self);
}
