#include "config.h"

#include "model/import.h"

#include <glib/gi18n.h>
#include <math.h>

struct _LamImport {
  GObject parent_instance;
  char *path;
  LamParameterList *parameters;
  GListStore *facts[LAM_IMPORT_LISTS];
};

G_DEFINE_FINAL_TYPE (LamImport, lam_import, G_TYPE_OBJECT)

enum { PROP_0, PROP_PATH, N_PROPS };
static GParamSpec *properties[N_PROPS];

static const char *const ids[] = {"samples",   "angle_unit", "angles",          "angle_start", "angle_stop", "pitch",
                                  "row_pitch", "beam",       "source_detector", "source_axis", "direction",  NULL};

const char *const *
lam_import_ids (void)
{
  return ids;
}

static LamParameter *
find (LamImport *self, const char *id)
{
  return lam_parameter_list_find (self->parameters, id);
}

static void
set (LamImport *self, const char *id, GVariant *value)
{
  lam_parameter_set_value (find (self, id), value, NULL);
}

/* What is not asked for is not shown: a range of angles where the file's are used, distances of parallel rays. */
static void
changed_cb (LamParameterList *list, LamParameter *parameter, LamImport *self)
{
  gboolean given = g_str_equal (lam_parameter_get_text (find (self, "angles")), "given");
  gboolean cone = g_str_equal (lam_parameter_get_text (find (self, "beam")), "cone");
  lam_parameter_set_visible (find (self, "angle_unit"), !given);
  lam_parameter_set_visible (find (self, "angle_start"), given);
  lam_parameter_set_visible (find (self, "angle_stop"), given);
  lam_parameter_set_visible (find (self, "source_detector"), cone);
  lam_parameter_set_visible (find (self, "source_axis"), cone);
}

static LamParameter *
add (LamImport *self, LamParameter *p, const char *help)
{
  lam_parameter_set_help (p, help);
  return lam_parameter_list_add (self->parameters, p);
}

static void
add_length (LamImport *self, const char *id, const char *label, const char *help)
{
  LamParameter *p = add (self, lam_parameter_new_number (id, label, "mm", 0, 0, 1e9, 4), help);
  lam_parameter_set_special (p, 0, _ ("from file"));
}

static void
add_parameters (LamImport *self)
{
  const LamParameterChoice samples[] = {{"file", _ ("As the file says")},
                                        {"counts", _ ("Detector counts")},
                                        {"sinogram", _ ("−log transmission")},
                                        {NULL}};
  const LamParameterChoice units[] = {
      {"file", _ ("As the file says")}, {"deg", _ ("Degrees")}, {"rad", _ ("Radians")}, {NULL}};
  const LamParameterChoice angles[] = {{"file", _ ("Of the file")}, {"given", _ ("Even, given here")}, {NULL}};
  const LamParameterChoice beams[] = {
      {"file", _ ("As the file says")}, {"parallel", _ ("Parallel")}, {"cone", _ ("Cone")}, {NULL}};
  const LamParameterChoice directions[] = {{"file", _ ("As stored")}, {"reversed", _ ("Reversed")}, {NULL}};
  add (self, lam_parameter_new_choice ("samples", _ ("Samples are"), samples, "file"),
       _ ("Counts are divided by flats and turned into −log transmission"));
  add (self, lam_parameter_new_choice ("angles", _ ("Angles"), angles, "file"), _ ("Where the angles come from"));
  add (self, lam_parameter_new_choice ("angle_unit", _ ("Unit of the angles"), units, "file"),
       _ ("Of the numbers in the file"));
  add (self, lam_parameter_new_number ("angle_start", _ ("First angle"), "°", 0, -1e6, 1e6, 3),
       _ ("Of the first view"));
  add (self, lam_parameter_new_number ("angle_stop", _ ("Last angle"), "°", 180, -1e6, 1e6, 3),
       _ ("Where one view more would be"));
  add_length (self, "pitch", _ ("Pixel pitch"), _ ("Distance of two detector channels"));
  add_length (self, "row_pitch", _ ("Row pitch"), _ ("Distance of two detector rows, where it is another"));
  add (self, lam_parameter_new_choice ("beam", _ ("Beam"), beams, "file"), _ ("Parallel rays, or a cone from a point"));
  add_length (self, "source_detector", _ ("Source to detector"), _ ("Along the middle ray"));
  add_length (self, "source_axis", _ ("Source to axis"), _ ("Along the middle ray"));
  add (self, lam_parameter_new_choice ("direction", _ ("Direction"), directions, "file"),
       _ ("Reversed: every angle with the other sign"));
}

static void
add_finding (LamImport *self, const LamFinding *f)
{
  LamImportList list = f->kind == LAM_FINDING_FOUND     ? LAM_IMPORT_FOUND
                       : f->kind == LAM_FINDING_MISSING ? LAM_IMPORT_MISSING
                                                        : LAM_IMPORT_ASSUMED;
  LamFactKind kind = f->kind == LAM_FINDING_FOUND     ? LAM_FACT_PLAIN
                     : f->kind == LAM_FINDING_MISSING ? LAM_FACT_MISSING
                                                      : LAM_FACT_ASSUMED;
  g_autofree char *label = g_strdup (f->field);
  label[0] = g_ascii_toupper (label[0]);
  g_autoptr (LamFact) fact = lam_fact_new (kind, label, f->value != NULL ? f->value : "", f->text);
  g_list_store_append (self->facts[list], fact);
}

void
lam_import_take (LamImport *self, const LamScan *scan, const LamScanOptions *options)
{
  g_return_if_fail (LAM_IS_IMPORT (self));
  for (int i = 0; i < LAM_IMPORT_LISTS; i++)
    g_list_store_remove_all (self->facts[i]);
  for (guint i = 0; scan != NULL && i < scan->findings->len; i++) {
    const LamFinding *f = g_ptr_array_index (scan->findings, i);
    if (!g_str_equal (f->field, "center")) /* it is looked for, and has a row of its own */
      add_finding (self, f);
  }
  const LamScanOptions none = LAM_SCAN_OPTIONS_INIT, *o = options != NULL ? options : &none;
  set (self, "samples",
       g_variant_new_string (!o->kind_set                 ? "file"
                             : o->kind == LAM_SCAN_COUNTS ? "counts"
                                                          : "sinogram"));
  set (self, "angles",
       g_variant_new_string (o->angles_set || (scan != NULL && scan->missing_angles) ? "given" : "file"));
  set (self, "angle_unit",
       g_variant_new_string (o->angle_unit == LAM_ANGLE_UNIT_DEGREES   ? "deg"
                             : o->angle_unit == LAM_ANGLE_UNIT_RADIANS ? "rad"
                                                                       : "file"));
  set (self, "angle_start", g_variant_new_double (o->angles_set ? o->angle_start : 0));
  set (self, "angle_stop", g_variant_new_double (o->angles_set ? o->angle_stop : 180));
  set (self, "pitch", g_variant_new_double (isnan (o->channel_pitch) ? 0 : o->channel_pitch));
  set (self, "row_pitch", g_variant_new_double (isnan (o->row_pitch) ? 0 : o->row_pitch));
  set (self, "beam",
       g_variant_new_string (!o->geometry_set                   ? "file"
                             : o->geometry == LAM_GEOMETRY_CONE ? "cone"
                                                                : "parallel"));
  set (self, "source_detector", g_variant_new_double (isnan (o->source_detector) ? 0 : o->source_detector));
  set (self, "source_axis", g_variant_new_double (isnan (o->source_axis) ? 0 : o->source_axis));
  set (self, "direction", g_variant_new_string (o->direction < 0 ? "reversed" : "file"));
  changed_cb (self->parameters, NULL, self);
  g_free (self->path);
  self->path = scan != NULL ? g_strdup (scan->path) : NULL;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PATH]);
}

static double
length (LamImport *self, const char *id)
{
  double value = lam_parameter_get_number (find (self, id));
  return value > 0 ? value : NAN;
}

void
lam_import_get_options (LamImport *self, LamScanOptions *options)
{
  const char *samples = lam_parameter_get_text (find (self, "samples"));
  const char *unit = lam_parameter_get_text (find (self, "angle_unit"));
  const char *beam = lam_parameter_get_text (find (self, "beam"));
  *options = (LamScanOptions) LAM_SCAN_OPTIONS_INIT;
  options->kind_set = !g_str_equal (samples, "file");
  options->kind = g_str_equal (samples, "counts") ? LAM_SCAN_COUNTS : LAM_SCAN_SINOGRAM;
  options->angles_set = g_str_equal (lam_parameter_get_text (find (self, "angles")), "given");
  options->angle_start = lam_parameter_get_number (find (self, "angle_start"));
  options->angle_stop = lam_parameter_get_number (find (self, "angle_stop"));
  options->angle_unit = g_str_equal (unit, "deg")   ? LAM_ANGLE_UNIT_DEGREES
                        : g_str_equal (unit, "rad") ? LAM_ANGLE_UNIT_RADIANS
                                                    : LAM_ANGLE_UNIT_FROM_FILE;
  options->channel_pitch = length (self, "pitch");
  options->row_pitch = length (self, "row_pitch");
  options->geometry_set = !g_str_equal (beam, "file");
  options->geometry = g_str_equal (beam, "cone") ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL;
  if (g_str_equal (beam, "cone")) {
    options->source_detector = length (self, "source_detector");
    options->source_axis = length (self, "source_axis");
  }
  options->direction = g_str_equal (lam_parameter_get_text (find (self, "direction")), "reversed") ? -1 : 0;
}

const char *
lam_import_get_path (LamImport *self)
{
  return self->path;
}

GListModel *
lam_import_get_facts (LamImport *self, LamImportList list)
{
  return G_LIST_MODEL (self->facts[list]);
}

LamParameterList *
lam_import_get_parameters (LamImport *self)
{
  return self->parameters;
}

static void
lam_import_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_string (value, LAM_IMPORT (object)->path);
}

static void
lam_import_finalize (GObject *object)
{
  LamImport *self = LAM_IMPORT (object);
  for (int i = 0; i < LAM_IMPORT_LISTS; i++)
    g_object_unref (self->facts[i]);
  g_signal_handlers_disconnect_by_data (self->parameters, self);
  g_object_unref (self->parameters);
  g_free (self->path);
  G_OBJECT_CLASS (lam_import_parent_class)->finalize (object);
}

static void
lam_import_class_init (LamImportClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->finalize = lam_import_finalize;
  object_class->get_property = lam_import_get_property;
  properties[PROP_PATH] = g_param_spec_string ("path", NULL, NULL, NULL,
                                               G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
lam_import_init (LamImport *self)
{
  for (int i = 0; i < LAM_IMPORT_LISTS; i++)
    self->facts[i] = g_list_store_new (LAM_TYPE_FACT);
  self->parameters = lam_parameter_list_new (NULL);
  add_parameters (self);
  g_signal_connect (self->parameters, "changed", G_CALLBACK (changed_cb), self);
  changed_cb (self->parameters, NULL, self);
}

LamImport *
lam_import_new (void)
{
  return g_object_new (LAM_TYPE_IMPORT, NULL);
}
