#include "config.h"

#include "geometry-tab.h"

#include <glib/gi18n.h>
#include <math.h>

#include "accessible-name.h"
#include "chart.h"
#include "geometry-drag.h"
#include "line-layer.h"
#include "model/sweep-model.h"
#include "model/units.h"
#include "palette.h"
#include "slice-raster.h"
#include "wrap-layout.h"

#define THUMB LAM_SWEEP_SMALL /* pixels of a slice in the strip */

struct _LamGeometryTab {
  AdwBin parent_instance;
  LamSession *session;
  LamSweepModel *sweep;
  GtkWidget *scene, *parameter, *from, *to, *count, *unit, *start;
  GtkWidget *chart_box, *best_label, *take_best, *strip_stack, *strip;
  GtkAdjustment *from_value, *to_value, *count_value;
  guint shown;      /* slices in the strip */
  float low, high;  /* their common level */
  gboolean edited;  /* the range is the person's: not suggested anew */
  gboolean setting; /* by the program */
};

G_DEFINE_FINAL_TYPE (LamGeometryTab, lam_geometry_tab, ADW_TYPE_BIN)

/* -- range -- */

static LamSweepParameter
chosen (LamGeometryTab *self)
{
  return (LamSweepParameter) gtk_drop_down_get_selected (GTK_DROP_DOWN (self->parameter));
}

static void
suggest (LamGeometryTab *self)
{
  double from, to;
  LamSweepParameter parameter = chosen (self);
  if (self->session == NULL || self->edited || lam_sweep_model_get_running (self->sweep))
    return;
  lam_sweep_model_suggest (self->sweep, parameter, &from, &to);
  self->setting = TRUE;
  gtk_adjustment_set_value (self->from_value, from);
  gtk_adjustment_set_value (self->to_value, to);
  self->setting = FALSE;
  gtk_label_set_text (GTK_LABEL (self->unit), lam_sweep_model_get_unit_of (self->sweep, parameter));
}

static void
parameter_notify_cb (GtkDropDown *drop_down, GParamSpec *pspec, LamGeometryTab *self)
{
  self->edited = FALSE;
  suggest (self);
  gtk_widget_set_sensitive (self->start, self->session != NULL
                                             && (lam_sweep_model_get_running (self->sweep)
                                                 || lam_sweep_model_can (self->sweep, chosen (self))));
}

static void
range_changed_cb (GtkAdjustment *adjustment, LamGeometryTab *self)
{
  self->edited |= !self->setting;
}

static void
geometry_changed_cb (LamSession *session, LamGeometryTab *self)
{
  suggest (self);
  gtk_widget_set_sensitive (self->start, lam_sweep_model_get_running (self->sweep)
                                             || lam_sweep_model_can (self->sweep, chosen (self)));
}

/* -- strip -- */

static void
clear_strip (LamGeometryTab *self)
{
  for (GtkWidget *child; (child = gtk_widget_get_first_child (self->strip)) != NULL;)
    gtk_flow_box_remove (GTK_FLOW_BOX (self->strip), child);
  self->shown = 0;
}

/* The slice made to fit into a square; a small picture, made at once. */
static GdkTexture *
thumbnail (LamGeometryTab *self, LamSnapshot *slice)
{
  const LamSnapshotInfo *info = lam_snapshot_info (slice);
  double scale = (double) THUMB / MAX (MAX (info->width, info->height), 1);
  LamSliceLook look = {.origin_x = (THUMB - info->width * scale) / 2,
                       .origin_y = (THUMB - info->height * scale) / 2,
                       .scale_x = scale,
                       .scale_y = scale,
                       .low = self->low,
                       .high = self->high};
  guint8 map[256 * 4];
  size_t bytes = (size_t) THUMB * THUMB * 4;
  guint32 *argb = g_malloc (bytes);
  lam_colour_map_fill (LAM_COLOUR_MAP_GREY, map);
  lam_slice_raster (slice, &look, map, THUMB, THUMB, argb);
  g_autoptr (GBytes) data = g_bytes_new_take (argb, bytes);
  return gdk_memory_texture_new (THUMB, THUMB, GDK_MEMORY_DEFAULT, data, THUMB * 4);
}

static void
take_cb (GtkButton *button, LamGeometryTab *self)
{
  double *value = g_object_get_data (G_OBJECT (button), "value");
  self->edited = TRUE; /* the range of this sweep stays, to be swept again more closely */
  lam_sweep_model_take (self->sweep, *value);
}

static void
add_slice (LamGeometryTab *self, guint i)
{
  double value, score;
  LamSnapshot *slice;
  lam_sweep_model_get_step (self->sweep, i, &value, &score, &slice);
  GtkWidget *button = gtk_button_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  g_autoptr (GdkTexture) texture = thumbnail (self, slice);
  GtkWidget *picture = gtk_picture_new_for_paintable (GDK_PAINTABLE (texture));
  g_autofree char *number = lam_units_format (value, 2);
  g_autofree char *text = g_strdup_printf ("%s %s", number, lam_sweep_model_get_unit (self->sweep));
  g_autofree char *name = g_strdup_printf (_ ("Take %s"), text);
  GtkWidget *label = gtk_label_new (text);
  gtk_widget_add_css_class (label, "pane-number");
  gtk_widget_set_size_request (picture, THUMB, THUMB);
  gtk_box_append (GTK_BOX (box), picture);
  gtk_box_append (GTK_BOX (box), label);
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "thumb");
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  double *kept = g_new (double, 1);
  *kept = value;
  g_object_set_data_full (G_OBJECT (button), "value", kept, g_free);
  g_signal_connect (button, "clicked", G_CALLBACK (take_cb), self);
  gtk_flow_box_append (GTK_FLOW_BOX (self->strip), button);
}

static int
by_value (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;
  return (x > y) - (x < y);
}

/* As the large picture's automatic level, from some of the pixels. */
static void
find_level (LamGeometryTab *self, LamSnapshot *slice)
{
  enum { SAMPLES = 4096 };
  const LamSnapshotInfo *info = lam_snapshot_info (slice);
  int64_t n = info->width * info->height, step = MAX (n / SAMPLES, 1), count = 0;
  g_autofree float *some = g_new (float, n / step + 1);
  for (int64_t i = 0; i < n; i += step)
    if (isfinite (lam_snapshot_pixels (slice)[i]))
      some[count++] = lam_snapshot_pixels (slice)[i];
  self->low = 0;
  self->high = 1;
  if (count == 0)
    return;
  qsort (some, count, sizeof *some, by_value);
  self->low = some[count / 200];
  self->high = MAX (some[count - 1 - count / 200], self->low + 1e-9f);
}

/* The slices nearest to the best value are framed. */
static void
mark_best (LamGeometryTab *self, double best)
{
  guint n = lam_sweep_model_get_n_steps (self->sweep), nearest = 0;
  double least = INFINITY, score;
  LamSnapshot *slice;
  for (guint i = 0; i < n; i++) {
    double value;
    lam_sweep_model_get_step (self->sweep, i, &value, &score, &slice);
    if (fabs (value - best) < least) {
      least = fabs (value - best);
      nearest = i;
    }
  }
  GtkFlowBoxChild *child = gtk_flow_box_get_child_at_index (GTK_FLOW_BOX (self->strip), (int) nearest);
  if (child != NULL)
    gtk_widget_add_css_class (gtk_flow_box_child_get_child (child), "sharpest");
}

static void
sweep_changed_cb (LamSweepModel *sweep, LamGeometryTab *self)
{
  guint n = lam_sweep_model_get_n_steps (sweep);
  gboolean running = lam_sweep_model_get_running (sweep);
  double best, width, confidence;
  const char *note;
  if (n < self->shown || n == 0)
    clear_strip (self);
  if (n > 0 && self->shown == 0) {
    double value, score;
    LamSnapshot *slice;
    lam_sweep_model_get_step (sweep, 0, &value, &score, &slice);
    find_level (self, slice);
  }
  for (; self->shown < n; self->shown++)
    add_slice (self, self->shown);
  gtk_stack_set_visible_child_name (GTK_STACK (self->strip_stack), n > 0 ? "strip" : "empty");
  gtk_button_set_label (GTK_BUTTON (self->start), running ? _ ("_Stop") : _ ("S_weep"));
  lam_accessible_mend (self->start);
  gboolean done = lam_sweep_model_get_best (sweep, &best, &width, &confidence, &note);
  gtk_widget_set_visible (self->take_best, done);
  if (!done) {
    g_autofree char *text = running ? g_strdup_printf (_ ("%u slices so far"), n) : g_strdup ("");
    gtk_label_set_text (GTK_LABEL (self->best_label), text);
    return;
  }
  g_autofree char *number = lam_units_format (best, 2), *error = lam_units_format (fmax (width, 0.005), 2);
  g_autofree char *text = g_strdup_printf (_ ("sharpest at %s ± %s %s, confidence %.2f%s%s"), number, error,
                                           lam_sweep_model_get_unit (sweep), confidence, note != NULL ? ": " : "",
                                           note != NULL ? note : "");
  gtk_label_set_text (GTK_LABEL (self->best_label), text);
  mark_best (self, best);
}

static void
sweep_failed_cb (LamSweepModel *sweep, GError *error, LamGeometryTab *self)
{
  gtk_label_set_text (GTK_LABEL (self->best_label), error->message);
}

/* Axes have their label for life: one chart for each parameter. */
static void
build_chart (LamGeometryTab *self)
{
  static const char *const names[] = {N_ ("centre of rotation"), N_ ("tilt"), N_ ("source to axis"),
                                      N_ ("source to detector")};
  const char *unit = gtk_label_get_text (GTK_LABEL (self->unit));
  g_autofree char *label = g_strdup_printf (_ ("%s (%s)"), _ (names[chosen (self)]), unit);
  g_autoptr (LamAxis) x = lam_axis_new (*unit != '\0' ? label : _ (names[chosen (self)]), FALSE),
                      y = lam_axis_new (_ ("sharpness"), FALSE);
  GtkWidget *chart = lam_chart_new (x, y, NULL), *old = gtk_widget_get_first_child (self->chart_box);
  lam_chart_set_label (LAM_CHART (chart), _ ("Sharpness over the range of the sweep"));
  lam_chart_add_layer (LAM_CHART (chart),
                       lam_line_layer_new (lam_sweep_model_get_series (self->sweep), 0, y, LAM_COLOUR_BLUE, TRUE));
  gtk_widget_set_hexpand (chart, TRUE);
  if (old != NULL)
    gtk_box_remove (GTK_BOX (self->chart_box), old);
  gtk_box_append (GTK_BOX (self->chart_box), chart);
}

static void
start_cb (GtkButton *button, LamGeometryTab *self)
{
  g_autoptr (GError) error = NULL;
  if (lam_sweep_model_get_running (self->sweep)) {
    lam_sweep_model_cancel (self->sweep);
    return;
  }
  if (!lam_sweep_model_start (self->sweep, chosen (self), gtk_adjustment_get_value (self->from_value),
                              gtk_adjustment_get_value (self->to_value),
                              (int) gtk_adjustment_get_value (self->count_value), &error))
    gtk_label_set_text (GTK_LABEL (self->best_label), error->message);
  else
    build_chart (self);
}

static void
take_best_cb (GtkButton *button, LamGeometryTab *self)
{
  double best, width, confidence;
  const char *note;
  if (!lam_sweep_model_get_best (self->sweep, &best, &width, &confidence, &note))
    return;
  self->edited = TRUE;
  lam_sweep_model_take (self->sweep, best);
}

/* -- tab -- */

void
lam_geometry_tab_set_session (LamGeometryTab *self, LamSession *session)
{
  g_return_if_fail (LAM_IS_GEOMETRY_TAB (self) && LAM_IS_SESSION (session) && self->session == NULL);
  self->session = g_object_ref (session);
  self->sweep = lam_sweep_model_new (session);
  build_chart (self);
  lam_geometry_drag_connect (LAM_GEOMETRY_VIEW (self->scene), session);
  g_signal_connect_object (self->sweep, "changed", G_CALLBACK (sweep_changed_cb), self, 0);
  g_signal_connect_object (self->sweep, "failed", G_CALLBACK (sweep_failed_cb), self, 0);
  g_signal_connect_object (session, "geometry-changed", G_CALLBACK (geometry_changed_cb), self, 0);
  geometry_changed_cb (session, self);
}

static void
lam_geometry_tab_dispose (GObject *object)
{
  LamGeometryTab *self = LAM_GEOMETRY_TAB (object);
  g_clear_object (&self->sweep);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_geometry_tab_parent_class)->dispose (object);
}

static void
lam_geometry_tab_class_init (LamGeometryTabClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_geometry_tab_dispose;
  g_type_ensure (LAM_TYPE_GEOMETRY_VIEW);
  g_type_ensure (LAM_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/lamina/Lamina/geometry-tab.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LamGeometryTab, name)
  BIND (scene);
  BIND (parameter);
  BIND (from);
  BIND (to);
  BIND (count);
  BIND (unit);
  BIND (start);
  BIND (chart_box);
  BIND (best_label);
  BIND (take_best);
  BIND (strip_stack);
  BIND (strip);
  BIND (from_value);
  BIND (to_value);
  BIND (count_value);
#undef BIND
}

static void
lam_geometry_tab_init (LamGeometryTab *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  lam_accessible_name_chooser (GTK_DROP_DOWN (self->parameter), _ ("Parameter to sweep"));
  g_signal_connect (self->parameter, "notify::selected", G_CALLBACK (parameter_notify_cb), self);
  g_signal_connect (self->from_value, "value-changed", G_CALLBACK (range_changed_cb), self);
  g_signal_connect (self->to_value, "value-changed", G_CALLBACK (range_changed_cb), self);
  g_signal_connect (self->start, "clicked", G_CALLBACK (start_cb), self);
  g_signal_connect (self->take_best, "clicked", G_CALLBACK (take_best_cb), self);
}
