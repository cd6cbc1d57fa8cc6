/* phantom.c: a test volume as a file. */
#include "config.h"

#include <glib/gi18n.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/phantom-volume.h"
#include "cli/progress.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/volume.h"

static char *shape_text, *output, *attenuation_text, *voxel_text;

static const GOptionEntry entries[] = {
    {"shape", 0, 0, G_OPTION_ARG_STRING, &shape_text, N_ ("Rows, columns, slices"), "RxCxK"},
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_ ("Volume file to write"), "OUT.h5"},
    {"attenuation", 0, 0, G_OPTION_ARG_STRING, &attenuation_text,
     N_ ("Scale so that the largest line integral is about A"), "A"},
    {"voxel", 0, 0, G_OPTION_ARG_STRING, &voxel_text, N_ ("Voxel size in mm (default: 1 px)"), "MM"},
    {NULL},
};

static const LamCliHelp help = {
    "KIND --shape RxCxK -o OUT.h5",
    N_ ("Makes a test volume. KIND: shepp-logan, shepp-logan-reference, cube, discs, tooth."),
    "  lamina phantom shepp-logan --shape 128x128x64 --attenuation 2 -o phantom.h5",
};

float *
lam_cli_phantom_volume (LamPhantomKind kind, const int64_t shape[3], double attenuation, double voxel, GError **error)
{
  int64_t n = lam_mul_size (lam_mul_size (shape[0], shape[1]), shape[2]);
  if (n < 0 || lam_mul_size (n, sizeof (float)) < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY,
                 _ ("--shape %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT ": too large"), shape[0],
                 shape[1], shape[2]);
    return NULL;
  }
  float *volume = lam_alloc_n (n, sizeof *volume, "phantom", error);
  if (!volume)
    return NULL;
  /* Some slices at a time would need a turn in memory; the rows of all slices lie together. */
  if (!lam_phantom_fill (kind, shape[0], shape[1], shape[2], (LamRange){0, shape[2]}, volume, error)) {
    lam_free (volume);
    return NULL;
  }
  double scale = attenuation > 0 ? lam_phantom_scale (kind, shape[0], shape[1], shape[2], attenuation) / voxel : 1;
  for (int64_t i = 0; attenuation > 0 && i < n; i++)
    volume[i] = (float) (volume[i] * scale);
  return volume;
}

static gboolean
write_phantom (const char *name, const int64_t shape[3], double attenuation, double voxel, GError **error)
{
  LamPhantomKind kind;
  if (!lam_phantom_from_name (name, &kind, error))
    return lam_cli_to_usage (error);
  gboolean mm = voxel_text != NULL;
  g_autofree char *sum = NULL;
  g_autofree char *parameters = g_strdup_printf ("{\"phantom\": \"%s\", \"attenuation\": %s}", name,
                                                 attenuation > 0 ? lam_cli_number (attenuation) : "null");
  LamVolumeInfo info = {.units = mm ? "1/mm" : "1/px",
                        .length_unit = mm ? "mm" : "px",
                        .voxel_size = {voxel, voxel, voxel},
                        .parameters = parameters,
                        .notes = "Phantom"};
  if (!lam_cli_writable (output, error))
    return FALSE;
  float *volume = lam_cli_phantom_volume (kind, shape, attenuation, voxel, error);
  gboolean ok = volume && lam_cli_go_on (error)
                && lam_volume_write (output, volume, shape[0], shape[1], shape[2], &info, lam_cli_io (), &sum, error);
  lam_free (volume);
  if (!ok)
    return FALSE;
  lam_cli_print (_ ("%s: %s, %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT ", checksum %s"), output,
                 name, shape[0], shape[1], shape[2], sum);
  if (lam_cli_json) {
    JsonBuilder *b = lam_json_event ("result");
    lam_json_text (b, "output", output);
    lam_json_text (b, "phantom", name);
    lam_json_ints (b, "shape", shape, 3);
    lam_json_text (b, "checksum", sum);
    lam_json_print (b);
  }
  return TRUE;
}

int
lam_cli_phantom (int argc, char **argv)
{
  const GOptionEntry *groups[] = {entries, NULL};
  g_autoptr (GError) error = NULL;
  int64_t shape[3];
  double attenuation = 0, voxel = 1;
  lam_cli_control ();
  if (!lam_cli_parse (&help, groups, 1, 1, &argc, &argv, &error)
      || !lam_cli_shape ("--shape", shape_text, shape, &error)
      || !lam_cli_length ("--attenuation", attenuation_text, FALSE, &attenuation, &error)
      || !lam_cli_length ("--voxel", voxel_text, FALSE, &voxel, &error))
    return lam_cli_fail (error);
  if (!shape_text || !output)
    lam_cli_usage_error (&error, _ ("%s is missing; expected: lamina phantom %s"), shape_text ? "-o" : "--shape",
                         help.arguments);
  if (error || !write_phantom (argv[1], shape, attenuation, voxel, &error))
    return lam_cli_fail (error);
  return LAM_EXIT_DONE;
}
