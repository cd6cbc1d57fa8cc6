#include "config.h"

#include "model/session-parameters.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "model/preparation.h"
#include "run/dataset.h"
#include "run/recon.h"

static const char *const geometry_ids[] = {
    "angle_start", "angle_stop", "beam", "center", "tilt", "reversed", "pitch", "source_detector", "source_axis", NULL};
static const char *const volume_ids[] = {"region", NULL};
static const char *const method_ids[] = {"method",     "sharpness",  "snr_db",        "weights",
                                         "positivity", "row_weight", "column_weight", "slice_weight",
                                         "prior_p",    "prior_q",    "prior_t",       NULL};
static const char *const run_ids[] = {"iterations", "stop_percent", "devices", NULL};

const char *const *
lam_session_group_ids (LamGroupKind group)
{
  return (const char *const *[]){geometry_ids, lam_preparation_ids, volume_ids, method_ids, run_ids}[group];
}

static LamParameter *
add (LamParameterList *list, LamParameter *parameter, const char *edit_name, const char *help)
{
  lam_parameter_set_edit_name (parameter, edit_name);
  lam_parameter_set_help (parameter, help);
  return lam_parameter_list_add (list, parameter);
}

static void
add_devices (LamParameterList *list)
{
  static const char *const ids[] = {"cpu", "2xcpu", "3xcpu", "4xcpu", "5xcpu", "6xcpu", "7xcpu", "8xcpu"};
  LamParameterChoice choices[G_N_ELEMENTS (ids) + 2] = {{"auto", _ ("Automatic")}};
  g_autoptr (GPtrArray) labels = g_ptr_array_new_with_free_func (g_free);
  for (size_t i = 0; i < G_N_ELEMENTS (ids); i++) {
    char *label = g_strdup_printf (_ ("%d × CPU"), (int) i + 1);
    g_ptr_array_add (labels, label);
    choices[i + 1] = (LamParameterChoice){ids[i], label};
  }
  add (list, lam_parameter_new_choice ("devices", _ ("Devices"), choices, "auto"), _ ("Set Devices"),
       _ ("Parts that the work is cut into; the same result on any number"));
}

/* For files that state none; shown then only. */
static void
add_angles (LamParameterList *list)
{
  LamParameter *first = add (list, lam_parameter_new_number ("angle_start", _ ("First angle"), "°", 0, -3600, 3600, 2),
                             _ ("Set First Angle"), _ ("Of the first view"));
  LamParameter *last = add (list, lam_parameter_new_number ("angle_stop", _ ("Last angle"), "°", 180, -3600, 3600, 2),
                            _ ("Set Last Angle"), _ ("Where one view more would be"));
  lam_parameter_set_step (first, 1);
  lam_parameter_set_step (last, 1);
  lam_parameter_set_visible (first, FALSE);
  lam_parameter_set_visible (last, FALSE);
}

/* The prior's form, with what a run has where nobody says otherwise. */
static void
add_prior (LamParameterList *list)
{
  LamReconParams k;
  lam_recon_params_init (&k);
  const struct {
    const char *id, *title, *edit, *help;
  } weights[] = {
      {"row_weight", _ ("Row neighbours"), _ ("Set Weight of Row Neighbours"),
       _ ("How much the voxels above and below count in the prior, beside the others")},
      {"column_weight", _ ("Column neighbours"), _ ("Set Weight of Column Neighbours"),
       _ ("How much the voxels left and right count in the prior, beside the others")},
      {"slice_weight", _ ("Slice neighbours"), _ ("Set Weight of Slice Neighbours"),
       _ ("How much the slices before and after count in the prior; 0 = each slice by itself")},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (weights); i++) {
    LamParameter *w =
        add (list, lam_parameter_new_number (weights[i].id, weights[i].title, "", k.neighbours[i], 0, 100, 2),
             weights[i].edit, weights[i].help);
    lam_parameter_set_step (w, 0.1);
  }
  LamParameter *p = add (list, lam_parameter_new_number ("prior_p", _ ("p"), "", k.p, 1, 2, 2), _ ("Set p"),
                         _ ("Power of small differences, those of noise: 2 smooths them most"));
  lam_parameter_set_step (p, 0.05);
  p = add (list, lam_parameter_new_number ("prior_q", _ ("q"), "", k.q, 1, 2, 2), _ ("Set q"),
           _ ("Power of large differences, those of edges: nearer 1 keeps them sharper; not above p"));
  lam_parameter_set_step (p, 0.05);
  p = add (list, lam_parameter_new_number ("prior_t", _ ("T"), "", k.t, 0.001, 1000, 3), _ ("Set T"),
           _ ("The difference, in units of sigma x, at which the one becomes the other"));
  lam_parameter_set_step (p, 0.1);
}

void
lam_session_add_parameters (LamParameterList *list)
{
  lam_preparation_add_parameters (list);
  add_angles (list);
  add_devices (list);
  const LamParameterChoice beams[] = {{"parallel", _ ("Parallel")}, {"cone", _ ("Cone")}, {NULL}};
  const LamParameterChoice regions[] = {{"ellipse", _ ("Circle, full width")}, {"none", _ ("All pixels")}, {NULL}};
  const LamParameterChoice methods[] = {{"vcd", _ ("VCD · qGGMRF")}, {"fbp", _ ("FBP / FDK")}, {NULL}};

  add (list, lam_parameter_new_choice ("beam", _ ("Beam"), beams, "parallel"), _ ("Set Beam"),
       _ ("Parallel rays, or a cone from a point"));
  LamParameter *p =
      add (list, lam_parameter_new_number ("center", _ ("Centre of rotation"), "px", 0, -1e6, 1e6, 2),
           _ ("Set Centre of Rotation"), _ ("Detector channel on which the axis falls (COR), counted from 0"));
  lam_parameter_set_step (p, 0.1);
  p = add (list, lam_parameter_new_number ("tilt", _ ("Tilt"), "°", 0, -30, 30, 2), _ ("Set Tilt"),
           _ ("The detector is turned by this in its plane; the live slice follows"));
  lam_parameter_set_step (p, 0.05);
  add (list, lam_parameter_new_switch ("reversed", _ ("Reverse the rotation"), FALSE), _ ("Reverse the Rotation"),
       _ ("Every angle with the other sign"));
  p = add (list, lam_parameter_new_number ("pitch", _ ("Pixel pitch"), "mm", 0, 0, 1000, 4), _ ("Set Pixel Pitch"),
           _ ("Distance of two detector channels; 0 = not known, lengths are px"));
  lam_parameter_set_special (p, 0, _ ("unknown"));
  add (list, lam_parameter_new_number ("source_detector", _ ("Source to detector"), "mm", INFINITY, 0, INFINITY, 2),
       _ ("Set Source to Detector"), _ ("Along the middle ray, at a right angle to the detector"));
  add (list, lam_parameter_new_number ("source_axis", _ ("Source to axis"), "mm", INFINITY, 0, INFINITY, 2),
       _ ("Set Source to Axis"), _ ("Along the middle ray; shorter than the way to the detector"));

  add (list, lam_parameter_new_choice ("region", _ ("Region"), regions, "ellipse"), _ ("Set Region"),
       _ ("Which pixels of a slice are reconstructed"));

  add (list, lam_parameter_new_choice ("method", _ ("Method"), methods, "vcd"), _ ("Set Method"),
       _ ("Iterative with a prior (VCD), or filtered back projection"));
  p = add (list, lam_parameter_new_number ("sharpness", _ ("Sharpness"), "", 1, -10, 10, 1), _ ("Set Sharpness"),
           _ ("Larger = sharper and noisier; the prior's strength follows"));
  lam_parameter_set_step (p, 0.5);
  p = add (list, lam_parameter_new_number ("snr_db", _ ("Assumed SNR"), "dB", 30, 0, 100, 0), _ ("Set Assumed SNR"),
           _ ("How far the data are trusted"));
  lam_parameter_set_step (p, 1);
  add (list, lam_parameter_new_switch ("positivity", _ ("Positivity"), FALSE), _ ("Set Positivity"),
       _ ("No value below zero"));

  add_prior (list);

  add (list, lam_parameter_new_integer ("iterations", _ ("Iterations"), "", 15, 1, 1000), _ ("Set Iterations"),
       _ ("At most this many; it may stop earlier"));
  add (list, lam_parameter_new_number ("stop_percent", _ ("Stop below"), "%", 0.2, 0, 100, 2), _ ("Set Stop Threshold"),
       _ ("Ends when an iteration changes the volume by less; 0 = never"));
}

/* A file that states nothing about @id leaves what is there. */
static void
set_default (LamParameterList *list, const char *id, GVariant *value)
{
  LamParameter *p = lam_parameter_list_find (list, id);
  lam_parameter_set_default (p, value, NULL);
}

void
lam_session_parameters_from (LamParameterList *list, const LamGeometry *base)
{
  LamParameter *center = lam_parameter_list_find (list, "center");
  gboolean mm = g_str_equal (base->length_unit, "mm"), cone = base->kind == LAM_GEOMETRY_CONE;
  double pixel = mm ? base->channel_pitch : 0;
  lam_parameter_set_range (center, 0, base->channels - 1);
  set_default (list, "center", g_variant_new_double (lam_geometry_center (base)));
  set_default (list, "beam", g_variant_new_string (cone ? "cone" : "parallel"));
  set_default (list, "pitch", g_variant_new_double (pixel));
  lam_session_parameters_follow_pitch (list);
  set_default (list, "source_detector", g_variant_new_double (cone ? base->source_detector : INFINITY));
  set_default (list, "source_axis", g_variant_new_double (cone ? base->source_axis : INFINITY));
  set_default (list, "region", g_variant_new_string (base->mask == LAM_MASK_NONE ? "none" : "ellipse"));
  lam_parameter_set_note (lam_parameter_list_find (list, "pitch"), mm ? NULL : _ ("not in the file: lengths are px"));
  for (const char *const *id = (const char *const[]){"source_detector", "source_axis", NULL}; *id != NULL; id++) {
    lam_parameter_set_unit (lam_parameter_list_find (list, *id), base->length_unit);
    lam_parameter_set_special (lam_parameter_list_find (list, *id), INFINITY, cone ? _ ("infinite") : _ ("unknown"));
  }
}

double
lam_session_distance_scale (LamParameterList *list)
{
  double pitch = lam_parameter_get_number (lam_parameter_list_find (list, "pitch"));
  gboolean px = g_str_equal (lam_parameter_get_unit (lam_parameter_list_find (list, "source_axis")), "px");
  return px && pitch > 0 ? pitch : 1;
}

/* The rows whose lengths can be shown in either unit follow what a px is. */
void
lam_session_parameters_follow_pitch (LamParameterList *list)
{
  static const char *const ids[] = {"center", "source_detector", "source_axis"};
  double pitch = lam_parameter_get_number (lam_parameter_list_find (list, "pitch"));
  for (size_t i = 0; i < G_N_ELEMENTS (ids); i++)
    lam_parameter_set_pixel (lam_parameter_list_find (list, ids[i]), pitch);
}

LamPlaceValues
lam_session_place_values (LamParameterList *list)
{
  return (LamPlaceValues){lam_parameter_get_number (lam_parameter_list_find (list, "center")),
                          lam_parameter_get_number (lam_parameter_list_find (list, "source_detector")),
                          lam_parameter_get_number (lam_parameter_list_find (list, "source_axis"))};
}

LamGeometry *
lam_session_geometry_from (LamParameterList *list, const LamPlaceValues *place, const LamGeometry *base,
                           const LamProvenance *made, GError **error)
{
  /* Crop and bin: channel k of the data is channel first + k step of the file. */
  double first = made != NULL ? lam_provenance_channel (made, 0) : 0;
  double step = made != NULL ? lam_provenance_channel (made, 1) - first : 1;
  g_autoptr (LamGeometry) g = lam_geometry_copy (base);
  double pitch = lam_parameter_get_number (lam_parameter_list_find (list, "pitch"));
  gboolean cone = g_str_equal (lam_parameter_get_text (lam_parameter_list_find (list, "beam")), "cone");
  g->kind = cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL;
  g->mask = g_str_equal (lam_parameter_get_text (lam_parameter_list_find (list, "region")), "none") ? LAM_MASK_NONE
                                                                                                    : LAM_MASK_ELLIPSE;
  if (pitch > 0 && pitch * step != g->channel_pitch) {
    double factor = pitch * step / g->channel_pitch;
    g->row_pitch *= factor;
    g->row_offset *= factor;
    g->channel_pitch = pitch * step;
  }
  if (pitch > 0)
    g_strlcpy (g->length_unit, "mm", sizeof g->length_unit);
  if (cone) {
    if (base->kind != LAM_GEOMETRY_CONE && (isinf (place->source_detector) || isinf (place->source_axis))) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                   _ ("Cone beam: the data state no distances. Set Source to detector and Source to axis."));
      return NULL;
    }
    double scale = lam_session_distance_scale (list);
    g->source_detector = place->source_detector * scale;
    g->source_axis = place->source_axis * scale;
  }
  if (lam_parameter_get_boolean (lam_parameter_list_find (list, "reversed")))
    for (int64_t v = 0; v < g->views; v++)
      g->angles[v] = -g->angles[v];
  lam_geometry_set_center (g, (place->center - first) / step);
  if (!lam_geometry_auto_volume (g, error))
    return NULL;
  return g_steal_pointer (&g);
}
