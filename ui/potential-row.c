#include "config.h"

#include "potential-row.h"

#include <glib/gi18n.h>

#include "chart.h"
#include "line-layer.h"
#include "model/potential.h"

enum { HEIGHT = 128 };

GtkWidget *
lam_potential_row_new (LamParameterList *list)
{
  g_autoptr (LamSeries) series = lam_potential_new (list);
  g_autoptr (LamAxis) x = lam_axis_new (lam_series_get_x_label (series), FALSE), y = lam_axis_new ("ρ", FALSE);
  GtkWidget *row = gtk_list_box_row_new (), *chart = lam_chart_new (x, y, NULL);
  gtk_widget_set_size_request (chart, -1, HEIGHT);
  gtk_widget_set_overflow (chart, GTK_OVERFLOW_HIDDEN);
  lam_chart_set_label (LAM_CHART (chart), _ ("Potential of the prior over the difference of two neighbours"));
  lam_chart_add_layer (LAM_CHART (chart), lam_line_layer_new (series, 1, y, LAM_COLOUR_DIM, FALSE));
  lam_chart_add_layer (LAM_CHART (chart), lam_line_layer_new (series, 0, y, LAM_COLOUR_BLUE, FALSE));
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Potential"), -1);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), chart);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  g_object_bind_property (lam_parameter_list_find (list, "prior_p"), "visible", row, "visible", G_BINDING_SYNC_CREATE);
  return row;
}
