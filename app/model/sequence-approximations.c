#include "config.h"

#include "model/sequence-approximations.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "mr/approximations.h"
#include "mr/isochromats.h"

/* ---- rows ---- */

static LamParameter *
add_switch (LamParameterList *model, const char *id, const char *label, gboolean value, const char *help)
{
  LamParameter *p = lam_parameter_list_add (model, lam_parameter_new_switch (id, label, value));
  lam_parameter_set_help (p, help);
  return p;
}

void
lam_approximations_add (LamParameterList *model)
{
  LamParameter *p =
      lam_parameter_list_add (model, lam_parameter_new_integer ("orders", _ ("Orders kept"), "", 0, 0, 10000));
  lam_parameter_set_special (p, 0, _ ("automatic"));
  lam_parameter_set_help (
      p, _ ("Orders of dephasing that are followed. More cost time, fewer cost truth: the error is shown."));
  add_switch (model, "slice", _ ("Slice profile"), FALSE,
              _ ("Pulses select a slice, across which the flip angle varies: 21 positions over two thicknesses."));
  p = lam_parameter_list_add (
      model, lam_parameter_new_number ("slice_bandwidth_time", _ ("Bandwidth × time"), "", 4, 1, 12, 1));
  lam_parameter_set_help (p, _ ("Of the sinc pulses: larger is a sharper slice."));
  lam_parameter_set_step (p, 1);
  add_switch (model, "pools", _ ("Second pool"), TRUE,
              _ ("Exchange with the pools that the tissues have, semisolid ones too. Off: they are water alone."));
  add_switch (model, "off_resonance", _ ("Off-resonance"), TRUE,
              _ ("The off-resonance that the tissues have. Off: all are on resonance."));
  add_switch (model, "compare", _ ("Compare with Bloch"), FALSE,
              _ ("A second curve, dashed: the same events played by single spins that are then added up."));
  p = lam_parameter_list_add (model, lam_parameter_new_integer ("spins", _ ("Spins"), "", 512, 1, 100000));
  lam_parameter_set_help (
      p, _ ("How many are spread over one winding. More than the orders that matter, and both agree."));
}

LamApproximations
lam_approximations_read (LamParameterList *model)
{
#define ROW(id) lam_parameter_list_find (model, id)
  return (LamApproximations){
      .orders = (int) lam_parameter_get_integer (ROW ("orders")),
      .slice = lam_parameter_get_boolean (ROW ("slice")),
      .bandwidth_time = lam_parameter_get_number (ROW ("slice_bandwidth_time")),
      .pools = lam_parameter_get_boolean (ROW ("pools")),
      .off_resonance = lam_parameter_get_boolean (ROW ("off_resonance")),
      .compare = lam_parameter_get_boolean (ROW ("compare")),
      .spins = (int) lam_parameter_get_integer (ROW ("spins")),
  };
}

static gboolean
is_of_pools (const char *quantity)
{
  return g_str_has_prefix (quantity, "bound_") || g_str_has_prefix (quantity, "poolB_");
}

gboolean
lam_approximations_take (const LamApproximations *a, const char *quantity)
{
  if (is_of_pools (quantity))
    return a->pools;
  return a->off_resonance || !g_str_equal (quantity, "B0");
}

/* ---- what they do, on the worker's thread ---- */

void
lam_approximations_apply (const LamApproximations *a, LamModel *m, LamSimulateOptions *options)
{
  gboolean slice = a->slice && lam_model_slice_obstacle (m) == NULL;
  options->positions = slice ? LAM_SLICE_POSITIONS : 0;
  options->extent = 0;
  lam_model_set_orders (m, a->orders);
  lam_model_set_slice_profile (m, slice ? a->bandwidth_time : 0, options);
}

/* Tissues without what @left_out says of a quantity's name. */
static LamTissues *
without (const LamTissues *tissues, gboolean (*left_out) (const char *))
{
  LamTissues *t = lam_tissues_new (lam_tissues_voxels (tissues));
  for (const char *const *name = lam_tissues_names (tissues); *name; name++) {
    int64_t n;
    const double *values = lam_tissues_get (tissues, *name, &n);
    if (!left_out (*name))
      lam_tissues_set (t, *name, values, n, NULL);
  }
  return t;
}

static gboolean
is_b0 (const char *quantity)
{
  return g_str_equal (quantity, "B0");
}

static gboolean
has_any (const LamTissues *tissues, gboolean (*of) (const char *))
{
  for (const char *const *name = lam_tissues_names (tissues); *name; name++)
    if (of (*name))
      return TRUE;
  return FALSE;
}

static double
largest_effect (LamModel *m, const LamTissues *tissues, const LamSimulateOptions *options, LamDevices *devices,
                const LamSignal *with)
{
  LamSignal plain = {0};
  double change[LAM_SEQUENCE_MOST_TISSUES], worst = 0;
  if (!lam_model_simulate (m, tissues, options, devices, NULL, &plain, NULL))
    return NAN;
  if (plain.voxels == with->voxels && plain.samples == with->samples)
    lam_signal_changes (&plain, with, change);
  else
    plain.voxels = 0;
  for (int64_t v = 0; v < plain.voxels; v++)
    worst = fmax (worst, change[v]);
  lam_signal_clear (&plain);
  return worst;
}

void
lam_approximations_measure (const LamApproximations *a, LamModel *m, LamModel *other, const LamTissues *tissues,
                            LamDevices *devices, LamSequenceResult *result)
{
  static gboolean (*const of[]) (const char *) = {[LAM_EFFECT_POOLS] = is_of_pools, [LAM_EFFECT_OFF_RESONANCE] = is_b0};
  const LamSignal with = {.voxels = result->tissues, .samples = result->samples, .re = result->re, .im = result->im};
  LamSimulateOptions options = {0};
  LamApproximations plain = *a;
  for (int i = 0; i < LAM_EFFECTS; i++)
    result->effect[i] = NAN;
  result->slice_obstacle = lam_model_slice_obstacle (m);
  result->compare_obstacle = lam_isochromats_obstacle (m, tissues);
  result->closed = lam_model_is_closed (m);
  plain.slice = FALSE;
  if (a->slice && result->slice_obstacle == NULL) {
    lam_approximations_apply (&plain, other, &options);
    result->effect[LAM_EFFECT_SLICE] = largest_effect (other, tissues, &options, devices, &with);
  }
  for (int i = LAM_EFFECT_POOLS; i < LAM_EFFECTS; i++) {
    if (!has_any (tissues, of[i]))
      continue;
    g_autoptr (LamTissues) less = without (tissues, of[i]);
    lam_approximations_apply (a, other, &options);
    result->effect[i] = largest_effect (other, less, &options, devices, &with);
  }
}

/* ---- words ---- */

static void
say (LamParameter *p, gboolean sensitive, const char *note)
{
  lam_parameter_set_note (p, note);
  lam_parameter_set_sensitive (p, sensitive);
}

/* Of the switch of something that tissues may have: whether any has it, and what it does. */
static void
say_of_tissues (LamParameter *p, GListModel *tissues, gboolean (*of) (const char *), double effect, const char *none)
{
  const char *const *quantities = lam_tissue_item_quantities ();
  int having = 0;
  for (guint i = 0; i < g_list_model_get_n_items (tissues); i++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, i);
    gboolean any = FALSE, given;
    for (int q = 0; quantities[q]; q++) {
      double v = lam_tissue_item_get (item, quantities[q], &given);
      any |= of (quantities[q]) && given && v != 0
             && (!is_of_pools (quantities[q]) || g_str_has_suffix (quantities[q], "_fraction"));
    }
    having += any;
  }
  if (having == 0)
    say (p, FALSE, none);
  else if (!lam_parameter_get_boolean (p)) {
    g_autofree char *note = g_strdup_printf (
        ngettext ("%d tissue has it: left out", "%d tissues have it: left out", (gulong) having), having);
    say (p, TRUE, note);
  } else {
    g_autofree char *note =
        isfinite (effect) ? g_strdup_printf (_ ("changes the signal by up to %.2g %%"), 100 * effect) : NULL;
    say (p, TRUE, note);
  }
}

static void
say_orders (LamParameter *p, const LamSequenceResult *r)
{
  double worst = 0;
  gboolean any = FALSE;
  for (int v = 0; v < r->tissues; v++)
    if (isfinite (r->cut[v])) {
      worst = fmax (worst, r->cut[v]);
      any = TRUE;
    }
  g_autofree char *cut = r->closed             ? g_strdup (_ ("a closed form has no orders"))
                         : any && worst < 1e-6 ? g_strdup_printf (_ ("%d kept: costs nothing to speak of"), r->orders)
                         : any ? g_strdup_printf (_ ("%d kept: costs at most %.2g %%"), r->orders, 100 * worst)
                               : g_strdup_printf (_ ("%d kept: all that matter"), r->orders);
  g_autofree char *note = r->residual > 0 ? g_strdup_printf (_ ("%s · %d playings"), cut, r->played) : g_strdup (cut);
  say (p, !r->closed, note);
}

void
lam_approximations_say (LamParameterList *model, const LamSequenceResult *result, GListModel *tissues)
{
  LamParameter *slice = ROW ("slice"), *compare = ROW ("compare");
  const double *effect = result->effect;
  say_orders (ROW ("orders"), result);
  g_autofree char *changes =
      isfinite (effect[LAM_EFFECT_SLICE])
          ? g_strdup_printf (_ ("changes the signal by up to %.2g %%"), 100 * effect[LAM_EFFECT_SLICE])
          : g_strdup (_ ("off: pulses turn everything alike"));
  say (slice, result->slice_obstacle == NULL, result->slice_obstacle != NULL ? result->slice_obstacle : changes);
  lam_parameter_set_visible (ROW ("slice_bandwidth_time"),
                             lam_parameter_get_boolean (slice) && result->slice_obstacle == NULL);
  say_of_tissues (ROW ("pools"), tissues, is_of_pools, effect[LAM_EFFECT_POOLS],
                  _ ("no tissue has one: give it a fraction"));
  say_of_tissues (ROW ("off_resonance"), tissues, is_b0, effect[LAM_EFFECT_OFF_RESONANCE],
                  _ ("all tissues are on resonance"));
  lam_parameter_set_sensitive (compare, result->compare_obstacle == NULL);
  if (result->compare_obstacle != NULL)
    lam_parameter_set_note (compare, result->compare_obstacle);
  else if (!lam_parameter_get_boolean (compare))
    lam_parameter_set_note (compare, NULL);
  lam_parameter_set_visible (ROW ("spins"), lam_parameter_get_boolean (compare) && result->compare_obstacle == NULL);
}
