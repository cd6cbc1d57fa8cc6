/* sequence-curves.c: a result as curves: signals of all tissues, what lies beside them, and sensitivities. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "accessible-name.h"
#include "model/sequence-compare.h"
#include "palette.h"
#include "sequence-page-private.h"

const struct LamSensitivity lam_sensitivities[BY] = {{LAM_BY_T1, LAM_CURVE_SOLID, "T1", "―"},
                                                     {LAM_BY_T2, LAM_CURVE_DASHED, "T2", "╌╌"},
                                                     {LAM_BY_B1, LAM_CURVE_DASH_DOT, "B1", "╌·"}};

static double
part_of (Part part, double re, double im)
{
  switch (part) {
  case PART_MAGNITUDE:
    return hypot (re, im);
  case PART_PHASE:
    return hypot (re, im) > 1e-9 ? atan2 (im, re) * 180 / G_PI : NAN;
  case PART_REAL:
    return re;
  default:
    return im;
  }
}

static void
fill_part (double *y, Part part, const float *re, const float *im, int n)
{
  for (int i = 0; i < n; i++)
    y[i] = part_of (part, re != NULL ? re[i] : 0, im != NULL ? im[i] : 0);
}

/* Over sample numbers: times of a list of repetitions lie as even as their numbers, and closed forms have none. */
static double *
make_x (const LamSequenceResult *r)
{
  double *x = g_new (double, MAX (r->samples, 1));
  for (int i = 0; i < r->samples; i++)
    x[i] = i;
  return x;
}

void
lam_sequence_page_draw_signal (LamSequencePage *self, const LamSequenceResult *r, const LamSequenceResult *before)
{
  GListModel *tissues = lam_sequence_session_get_tissues (self->session);
  const LamSpinSum *sum = lam_sequence_compare_get_sum (self->compare);
  g_autofree double *x = make_x (r), *y = g_new (double, MAX (r->samples, 1));
  lam_curves_layer_begin (self->signal, x, r->samples);
  for (int v = 0; v < r->tissues && v < (int) g_list_model_get_n_items (tissues); v++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, v);
    int colour = lam_tissue_item_get_colour (item), at = v * r->samples;
    if (before != NULL && before->samples == r->samples && before->tissues == r->tissues) {
      fill_part (y, self->part, before->re != NULL ? before->re + at : NULL,
                 before->im != NULL ? before->im + at : NULL, r->samples);
      lam_curves_layer_add (self->signal, y, colour, LAM_CURVE_DOTTED, NULL);
    }
    if (r->theory_re != NULL) {
      fill_part (y, self->part, r->theory_re + at, r->theory_im + at, r->samples);
      lam_curves_layer_add (self->signal, y, colour, LAM_CURVE_DASHED, NULL);
    }
    if (sum != NULL && sum->samples == r->samples && v < sum->tissues) {
      g_autofree char *label = g_strdup_printf (_ ("%s (Bloch)"), lam_tissue_item_get_name (item));
      fill_part (y, self->part, sum->re + at, sum->im != NULL ? sum->im + at : NULL, r->samples);
      lam_curves_layer_add (self->signal, y, colour, LAM_CURVE_DASHED, label);
    }
    fill_part (y, self->part, r->re != NULL ? r->re + at : NULL, r->im != NULL ? r->im + at : NULL, r->samples);
    lam_curves_layer_add (self->signal, y, colour, LAM_CURVE_SOLID, lam_tissue_item_get_name (item));
    if (isfinite (r->cut[v]) && r->cut[v] > 1e-3 && self->part != PART_PHASE) {
      double peak = 0;
      for (int i = 0; i < r->samples; i++)
        peak = fmax (peak, hypot (r->re != NULL ? r->re[at + i] : 0, r->im != NULL ? r->im[at + i] : 0));
      lam_curves_layer_band (self->signal, r->cut[v] * peak);
    }
  }
  lam_curves_layer_end (self->signal);
}

/* dS/dq times q: what 100 % more would bring, to first order; of the part that is drawn. */
void
lam_sequence_page_draw_sensitivity (LamSequencePage *self, const LamSequenceResult *r)
{
  GListModel *tissues = lam_sequence_session_get_tissues (self->session);
  g_autofree double *x = make_x (r), *y = g_new (double, MAX (r->samples, 1));
  lam_curves_layer_begin (self->sensitivity, x, r->samples);
  for (int v = 0; v < r->tissues && v < (int) g_list_model_get_n_items (tissues); v++)
    for (int k = 0; k < r->kinds; k++) {
      int at = (v * r->kinds + k) * r->samples, own = v * r->samples;
      for (int i = 0; i < r->samples; i++)
        y[i] = r->value[v][r->kind[k]]
               * lam_sensitivity_of ((LamSignalPart) self->part, r->re != NULL ? r->re[own + i] : 0,
                                     r->im != NULL ? r->im[own + i] : 0, r->d_re != NULL ? r->d_re[at + i] : 0,
                                     r->d_im != NULL ? r->d_im[at + i] : 0);
      lam_sensitivity_add (self->sensitivity, y, tissues, v, r->kind[k], self->by);
    }
  lam_curves_layer_end (self->sensitivity);
}

/* One curve, where its button is down. */
void
lam_sensitivity_add (LamCurvesLayer *layer, const double *y, GListModel *tissues, int tissue, int kind,
                     GtkWidget *const by[BY])
{
  for (int i = 0; i < BY; i++) {
    if (lam_sensitivities[i].kind != kind || !gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (by[i])))
      continue;
    g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, tissue);
    g_autofree char *label = g_strdup_printf ("%s %s", lam_tissue_item_get_name (item), lam_sensitivities[i].name);
    lam_curves_layer_add (layer, y, lam_tissue_item_get_colour (item), lam_sensitivities[i].style, label);
  }
}

/* T1, T2, B1: which sensitivities are drawn, and how. */
GtkWidget *
lam_sensitivity_buttons_new (GtkWidget *by[BY], GCallback toggled, gpointer data)
{
  GtkWidget *linked = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (linked, "linked");
  for (int i = 0; i < BY; i++) {
    g_autofree char *label = g_strdup_printf ("%s %s", lam_sensitivities[i].name, lam_sensitivities[i].sign);
    g_autofree char *name = g_strdup_printf (_ ("Sensitivity to %s, for 100 %% more"), lam_sensitivities[i].name);
    by[i] = gtk_toggle_button_new_with_label (label);
    gtk_widget_add_css_class (by[i], "small");
    gtk_widget_set_tooltip_text (by[i], name);
    lam_accessible_name (by[i], name);
    gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (by[i]), lam_sensitivities[i].kind != LAM_BY_B1);
    g_signal_connect (by[i], "toggled", toggled, data);
    gtk_box_append (GTK_BOX (linked), by[i]);
  }
  return linked;
}

/* A template that does not know a quantity has no sensitivity to it. */
void
lam_sequence_page_offer_by (LamSequencePage *self, const LamSequenceResult *r)
{
  for (int by = 0; by < BY; by++) {
    gboolean there = FALSE;
    for (int k = 0; k < r->kinds; k++)
      there |= r->kind[k] == lam_sensitivities[by].kind;
    gtk_widget_set_sensitive (self->by[by], there);
  }
}

void
lam_sequence_page_write_legend (LamSequencePage *self)
{
  GListModel *tissues = lam_sequence_session_get_tissues (self->session);
  g_autoptr (GString) markup = g_string_new (NULL);
  for (guint i = 0; i < g_list_model_get_n_items (tissues); i++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, i);
    GdkRGBA c = lam_palette_series (GTK_WIDGET (self), lam_tissue_item_get_colour (item));
    g_autofree char *name = g_markup_escape_text (lam_tissue_item_get_name (item), -1);
    g_string_append_printf (markup, "%s<span foreground=\"#%02x%02x%02x\">―</span> %s", i ? "   " : "",
                            (int) (c.red * 255), (int) (c.green * 255), (int) (c.blue * 255), name);
  }
  /* Which model a curve comes from. */
  const LamSpinSum *sum = lam_sequence_compare_get_sum (self->compare);
  LamSequenceResult *r = lam_sequence_session_get_result (self->session);
  if (sum != NULL) {
    g_autofree char *of = g_strdup_printf (_ ("line: EPG · dashes: Bloch, %d spins"), sum->spins);
    g_string_append_printf (markup, "   <span alpha=\"70%%\">%s</span>", of);
  } else if (r != NULL && r->theory_re != NULL)
    g_string_append_printf (markup, "   <span alpha=\"70%%\">%s</span>", _ ("line: EPG · dashes: closed form"));
  if (g_strcmp0 (gtk_label_get_label (GTK_LABEL (self->legend)), markup->str) != 0)
    gtk_label_set_markup (GTK_LABEL (self->legend), markup->str);
}
