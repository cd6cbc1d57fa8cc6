/* project.c: a volume to a scan: forward projection, with noise if wanted. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "cli/common.h"
#include "cli/geometry-options.h"
#include "cli/phantom-volume.h"
#include "cli/progress.h"
#include "cli/recon-options.h"
#include "cli/resident.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/volume.h"

static char *output, *phantom, *shape_text, *attenuation_text, *photons_text, *seed_text, *devices;

static const GOptionEntry entries[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_ ("Scan file to write"), "SCAN.h5"},
    {"phantom", 0, 0, G_OPTION_ARG_STRING, &phantom, N_ ("A phantom in place of a volume file"), "KIND"},
    {"shape", 0, 0, G_OPTION_ARG_STRING, &shape_text, N_ ("The phantom's rows, columns, slices"), "RxCxK"},
    {"attenuation", 0, 0, G_OPTION_ARG_STRING, &attenuation_text, N_ ("The phantom's largest line integral"), "A"},
    {"photons", 0, 0, G_OPTION_ARG_STRING, &photons_text, N_ ("Noise of so many photons in air"), "N"},
    {"seed", 0, 0, G_OPTION_ARG_STRING, &seed_text, N_ ("Of the noise (0)"), "N"},
    {"devices", 0, 0, G_OPTION_ARG_STRING, &devices, N_ ("auto, cpu, or a count such as 4xcpu"), "SPEC"},
    {NULL},
};

static const LamCliHelp help = {
    "VOLUME|--phantom KIND --shape RxCxK -o SCAN.h5",
    N_ ("Projects a volume: makes the scan (-log transmission) that an ideal machine would measure."),
    "  lamina project phantom.h5 --views 180 --photons 20000 -o scan.h5\n"
    "  lamina project --phantom tooth --shape 128x128x64 --source-detector 512 --source-axis 256 -o cone.h5",
};

typedef struct {
  const char *input; /* NULL: a phantom */
  int64_t shape[3];
  double attenuation, photons;
  int64_t seed;
  LamCliScan scan;
  LamPhantomKind kind;
} Run;

static float *
read_volume (Run *r, double voxel[3], char unit[8], gboolean *has_voxel, GError **error)
{
  g_autoptr (LamVolume) v = lam_volume_open (r->input, NULL, LAM_LAYOUT_FROM_FILE, error);
  if (!v)
    return NULL;
  r->shape[0] = v->rows;
  r->shape[1] = v->columns;
  r->shape[2] = v->slices;
  *has_voxel = v->voxel_size[0] > 0 && v->voxel_size[1] > 0 && v->voxel_size[2] > 0;
  for (int i = 0; i < 3; i++)
    voxel[i] = v->voxel_size[i];
  g_strlcpy (unit, v->length_unit && g_str_equal (v->length_unit, "mm") ? "mm" : "px", 8);
  float *volume =
      lam_alloc_n (lam_mul_size (lam_mul_size (v->rows, v->columns), v->slices), sizeof *volume, "volume", error);
  if (volume && !lam_volume_read_rows (v, (LamRange){0, v->rows}, volume, lam_cli_io (), error)) {
    lam_free (volume);
    return NULL;
  }
  return volume;
}

static gboolean
check_finite (const Run *r, const float *volume, GError **error)
{
  int64_t row = r->shape[1] * r->shape[2];
  for (int64_t i = 0; i < r->shape[0] * row; i++)
    if (!isfinite (volume[i])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   _ ("%s: voxel (%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ") is not finite"),
                   r->input, i / row, i % row / r->shape[2], i % r->shape[2]);
      return FALSE;
    }
  return TRUE;
}

/* What reconstructing makes anyway need not be in the file. */
static void
drop_automatic_volume (LamGeometry *g)
{
  g_autoptr (LamGeometry) a = lam_geometry_copy (g);
  g->mask = LAM_MASK_ELLIPSE;
  if (lam_geometry_auto_volume (a, NULL) && a->recon_rows == g->recon_rows && a->recon_columns == g->recon_columns
      && a->recon_slices == g->recon_slices && fabs (a->voxel_pitch - g->voxel_pitch) < 1e-12 * g->voxel_pitch)
    g->recon_rows = g->recon_columns = g->recon_slices = 0;
}

static gboolean
write_scan (const Run *r, LamGeometry *g, const float *sinogram, GError **error)
{
  g_autofree char *input = r->input ? g_path_get_basename (r->input) : g_strdup (lam_phantom_name (r->kind));
  g_autofree char *plain = g_utf8_make_valid (input, -1);
  JsonBuilder *b = lam_json_begin ();
  lam_json_text (b, "projected", plain);
  lam_json_ints (b, "shape", r->shape, 3);
  lam_json_number (b, "photons", r->photons > 0 ? r->photons : NAN);
  lam_json_int (b, "seed", r->seed);
  json_builder_end_object (b);
  g_autoptr (JsonNode) root = json_builder_get_root (b);
  g_autofree char *parameters = json_to_string (root, FALSE);
  g_object_unref (b);
  drop_automatic_volume (g);
  LamScanData data = {.geometry = g, .kind = LAM_SCAN_SINOGRAM, .projections = sinogram, .parameters = parameters};
  if (!lam_scan_write (output, &data, lam_cli_io (), error))
    return FALSE;
  lam_cli_print (_ ("%s: scan of %" G_GINT64_FORMAT " views, %" G_GINT64_FORMAT " rows, %" G_GINT64_FORMAT " channels"),
                 output, g->views, g->rows, g->channels);
  if (lam_cli_json) {
    b = lam_json_event ("result");
    lam_json_text (b, "output", output);
    lam_json_geometry (b, "geometry", g);
    lam_json_print (b);
  }
  return TRUE;
}

static gboolean
run (Run *r, GError **error)
{
  double voxel[3] = {1, 1, 1};
  char unit[8] = "px";
  gboolean has_voxel = FALSE;
  float *volume = NULL, *sinogram = NULL;
  if (!lam_cli_writable (output, error))
    return FALSE;
  if (r->input) {
    if (!lam_cli_not_same (r->input, output, error) || !(volume = read_volume (r, voxel, unit, &has_voxel, error)))
      return FALSE;
  }
  /* A volume in px on a detector in mm: its voxels get the size that the detector gives them, its values follow. */
  gboolean to_mm = r->input && g_str_equal (unit, "px") && !isnan (r->scan.scan.channel_pitch);
  g_autoptr (LamGeometry) g =
      lam_cli_make_geometry (&r->scan, r->shape, has_voxel && !to_mm ? voxel : NULL, unit, error);
  gboolean ok = g && (r->input ? check_finite (r, volume, error) : TRUE);
  for (int64_t i = 0; ok && to_mm && i < r->shape[0] * r->shape[1] * r->shape[2]; i++)
    volume[i] = (float) (volume[i] / g->voxel_pitch);
  if (ok && !r->input)
    ok = (volume = lam_cli_phantom_volume (r->kind, r->shape, r->attenuation, g->voxel_pitch, error)) != NULL;
  if (ok) {
    lam_control_progress (lam_cli_control (), "projecting", 0, 1);
    g_autoptr (LamResident) resident = lam_resident_new (g, devices, FALSE, error);
    sinogram = resident ? lam_resident_project (resident, volume, error) : NULL;
  }
  lam_free (volume);
  ok = sinogram && lam_cli_go_on (error);
  if (ok && r->photons > 0)
    lam_noise_transmission (sinogram, 0, g->views * g->rows * g->channels, r->photons, 0, (uint64_t) r->seed);
  ok = ok && write_scan (r, g, sinogram, error);
  lam_free (sinogram);
  return ok;
}

static gboolean
read_options (Run *r, int argc, char **argv, GError **error)
{
  r->attenuation = 2;
  if (!lam_cli_scan_options (&r->scan, error) || !lam_cli_shape ("--shape", shape_text, r->shape, error)
      || !lam_cli_length ("--attenuation", attenuation_text, FALSE, &r->attenuation, error)
      || !lam_cli_double ("--photons", photons_text, 1, 1e15, &r->photons, error)
      || !lam_cli_int ("--seed", seed_text, 0, INT64_MAX, &r->seed, error) || !lam_cli_check_devices (devices, error))
    return FALSE;
  if (phantom && !lam_phantom_from_name (phantom, &r->kind, error))
    return lam_cli_to_usage (error);
  if (!output || (argc > 1) == (phantom != NULL) || (phantom != NULL) != (shape_text != NULL)) {
    lam_cli_usage_error (error, _ ("%s; expected: lamina project %s"),
                         !output                                ? _ ("-o is missing")
                         : argc > 1 && phantom                  ? _ ("a volume file and --phantom are both given")
                         : argc > 1 || (phantom && !shape_text) ? _ ("--phantom and --shape belong together")
                                                                : _ ("a volume file is missing"),
                         help.arguments);
    return FALSE;
  }
  r->input = argc > 1 ? argv[1] : NULL;
  return TRUE;
}

int
lam_cli_project (int argc, char **argv)
{
  const GOptionEntry *groups[] = {entries, lam_cli_detector_entries, lam_cli_geometry_entries, lam_cli_scan_entries,
                                  NULL};
  g_autoptr (GError) error = NULL;
  Run r = {0};
  lam_cli_control ();
  if (!lam_cli_parse (&help, groups, 0, 1, &argc, &argv, &error) || !read_options (&r, argc, argv, &error)
      || !run (&r, &error))
    return lam_cli_fail (error);
  return LAM_EXIT_DONE;
}
