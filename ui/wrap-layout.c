#include "config.h"

#include "wrap-layout.h"

#define SPACING 6
#define LINE_SPACING 6

struct _LamWrapLayout {
  GtkLayoutManager parent_instance;
};

G_DEFINE_FINAL_TYPE (LamWrapLayout, lam_wrap_layout, GTK_TYPE_LAYOUT_MANAGER)

static GtkSizeRequestMode
lam_wrap_layout_get_request_mode (GtkLayoutManager *manager, GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

/* The children of one line, beginning with @child: how many, and what they need. */
static int
take_line (GtkWidget *child, int width, int *used, int *height, int *expanders)
{
  int n = 0;
  *used = *height = *expanders = 0;
  for (; child != NULL; child = gtk_widget_get_next_sibling (child)) {
    int natural, h;
    if (!gtk_widget_should_layout (child))
      continue;
    gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &natural, NULL, NULL);
    gtk_widget_measure (child, GTK_ORIENTATION_VERTICAL, -1, NULL, &h, NULL, NULL);
    if (n > 0 && *used + SPACING + natural > width)
      break;
    *used += (n > 0 ? SPACING : 0) + natural;
    *height = MAX (*height, h);
    *expanders += gtk_widget_compute_expand (child, GTK_ORIENTATION_HORIZONTAL);
    n++;
  }
  return n;
}

static GtkWidget *
next_shown (GtkWidget *child)
{
  while (child != NULL && !gtk_widget_should_layout (child))
    child = gtk_widget_get_next_sibling (child);
  return child;
}

static void
lam_wrap_layout_measure (GtkLayoutManager *manager, GtkWidget *widget, GtkOrientation orientation, int for_size,
                         int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
  GtkWidget *child = next_shown (gtk_widget_get_first_child (widget));
  *minimum = *natural = 0;
  if (orientation == GTK_ORIENTATION_HORIZONTAL) {
    for (; child != NULL; child = next_shown (gtk_widget_get_next_sibling (child))) {
      int min, nat;
      gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, &min, &nat, NULL, NULL);
      *minimum = MAX (*minimum, min);
      *natural += (*natural > 0 ? SPACING : 0) + nat;
    }
    return;
  }
  int used, height, expanders;
  while (child != NULL) {
    int n = take_line (child, for_size >= 0 ? for_size : G_MAXINT / 2, &used, &height, &expanders);
    *minimum += (*minimum > 0 ? LINE_SPACING : 0) + height;
    while (n-- > 0)
      child = next_shown (gtk_widget_get_next_sibling (child));
  }
  *natural = *minimum;
}

static void
lam_wrap_layout_allocate (GtkLayoutManager *manager, GtkWidget *widget, int width, int height, int baseline)
{
  GtkWidget *child = next_shown (gtk_widget_get_first_child (widget));
  gboolean rtl = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  int y = 0;
  while (child != NULL) {
    int used, line, expanders, x = 0, n = take_line (child, width, &used, &line, &expanders);
    int spare = MAX (width - used, 0);
    for (; n > 0; n--, child = next_shown (gtk_widget_get_next_sibling (child))) {
      int w, h;
      gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &w, NULL, NULL);
      gtk_widget_measure (child, GTK_ORIENTATION_VERTICAL, -1, NULL, &h, NULL, NULL);
      if (expanders > 0 && gtk_widget_compute_expand (child, GTK_ORIENTATION_HORIZONTAL)) {
        int share = spare / expanders--;
        spare -= share;
        w += share;
      }
      w = MIN (w, MAX (width, 1));
      gtk_widget_size_allocate (child, &(GtkAllocation){rtl ? width - x - w : x, y + (line - h) / 2, w, h}, -1);
      x += w + SPACING;
    }
    y += line + LINE_SPACING;
  }
}

static void
lam_wrap_layout_class_init (LamWrapLayoutClass *klass)
{
  GtkLayoutManagerClass *layout_class = GTK_LAYOUT_MANAGER_CLASS (klass);
  layout_class->get_request_mode = lam_wrap_layout_get_request_mode;
  layout_class->measure = lam_wrap_layout_measure;
  layout_class->allocate = lam_wrap_layout_allocate;
}

static void
lam_wrap_layout_init (LamWrapLayout *self)
{
}

GtkLayoutManager *
lam_wrap_layout_new (void)
{
  return g_object_new (LAM_TYPE_WRAP_LAYOUT, NULL);
}
