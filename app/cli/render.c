/* render.c: a plane of a volume, a view or sinogram of a scan, or a sequence, as a PNG picture. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/maps.h"
#include "cli/mr-options.h"
#include "cli/progress.h"
#include "cli/pulseq.h"
#include "cli/render-sequence.h"
#include "cli/scan-options.h"
#include "cli/spins.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/map-file.h"
#include "io/png.h"
#include "io/tiff.h"
#include "io/volume.h"
#include "run/dataset.h"
#include "run/snapshot.h"

/* Samples held while one view is picked out of all. */
#define PIECE (INT64_C (16) << 20)

static char *output, *plane_text, *index_text, *level_text, *zoom_text, *view_text, *sinogram_text, *dataset, *layout,
    *slice_text;
static gboolean raw;

static const GOptionEntry entries[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_ ("Picture to write"), "OUT.png"},
    {"plane", 0, 0, G_OPTION_ARG_STRING, &plane_text, N_ ("Volume: slice (default), row or column"), "PLANE"},
    {"index", 0, 0, G_OPTION_ARG_STRING, &index_text, N_ ("Which one, from 0 (default: the middle)"), "N"},
    {"slice", 0, 0, G_OPTION_ARG_STRING, &slice_text, N_ ("The same as --plane slice --index N"), "N"},
    {"view", 0, 0, G_OPTION_ARG_STRING, &view_text, N_ ("Scan: this view, from 0 (default: 0)"), "N"},
    {"sinogram", 0, 0, G_OPTION_ARG_STRING, &sinogram_text, N_ ("Scan: the sinogram of this detector row, from 0"),
     "ROW"},
    {"raw", 0, 0, G_OPTION_ARG_NONE, &raw, N_ ("Scan: the file's own values, not -log transmission"), NULL},
    {"level", 0, 0, G_OPTION_ARG_STRING, &level_text, N_ ("Black and white (default: 0.5 to 99.5 percentile)"),
     "LOW:HIGH"},
    {"zoom", 0, 0, G_OPTION_ARG_STRING, &zoom_text, N_ ("Repeat pixels (1; maps: as it takes to be seen)"), "N"},
    {"dataset", 0, 0, G_OPTION_ARG_STRING, &dataset, N_ ("Which volume, where the file holds several"), "NAME"},
    {"layout", 0, 0, G_OPTION_ARG_STRING, &layout,
     N_ ("Axis order where the file does not say: row-column-slice or slice-column-row"), "ORDER"},
    {NULL},
};

static const LamCliHelp help = {
    "FILE -o OUT.png",
    N_ ("Draws a plane of a volume (a file, or a folder of TIFF images), a view or sinogram of a scan, a map of tissue "
        "or "
        "a NIfTI image in colours with their scale, or a Pulseq sequence over time with the signal of some tissues, as "
        "a "
        "PNG picture. Planes, views and rows count from 0."),
    "  lamina render tooth-recon.h5 --plane slice --index 1 --level 0:0.04 -o slice.png\n"
    "  lamina render tooth.h5 --view 0 -o view.png\n"
    "  lamina render maps.h5 --map T1 --slice 3 -o t1.png\n"
    "  lamina render gre.seq --from 0.1 --to 0.2 --preset \"white matter@3\" -o gre.png",
};

/* What is drawn; pixels with lam_free (). */
typedef struct {
  float *pixels;
  int64_t width, height;
  char *what;
} Picture;

static gboolean
take_plane (LamVolume *v, Picture *out, GError **error)
{
  static const char *const planes[] = {"slice", "row", "column", NULL};
  int plane = 0;
  int64_t count;
  if (!lam_cli_choice ("--plane", plane_text, planes, &plane, error))
    return FALSE;
  lam_volume_plane_size (v, plane, &count, &out->width, &out->height);
  int64_t index = count / 2;
  if (!lam_cli_int ("--index", index_text, 0, count - 1, &index, error))
    return FALSE;
  out->what = g_strdup_printf ("%s %" G_GINT64_FORMAT, planes[plane], index);
  out->pixels = lam_alloc_n (lam_mul_size (out->width, out->height), sizeof (float), "picture", error);
  return out->pixels && lam_volume_read_plane (v, plane, index, out->pixels, error);
}

/* A folder of images is a volume of as many slices. */
static gboolean
take_stack (LamTiffStack *s, Picture *out, GError **error)
{
  static const char *const planes[] = {"slice", "row", "column", NULL};
  int plane = 0;
  int64_t slices = s->files->len, pixels = s->width * s->height;
  if (!lam_cli_choice ("--plane", plane_text, planes, &plane, error))
    return FALSE;
  int64_t count = plane == LAM_VOLUME_SLICE ? slices
                  : plane == LAM_VOLUME_ROW ? s->height
                                            : s->width,
          index = count / 2;
  if (!lam_cli_int ("--index", index_text, 0, count - 1, &index, error))
    return FALSE;
  out->width = plane == LAM_VOLUME_COLUMN ? s->height : s->width;
  out->height = plane == LAM_VOLUME_SLICE ? s->height : slices;
  out->what = g_strdup_printf ("%s %" G_GINT64_FORMAT, planes[plane], index);
  out->pixels = lam_alloc_n (lam_mul_size (out->width, out->height), sizeof (float), "picture", error);
  if (!out->pixels)
    return FALSE;
  if (plane == LAM_VOLUME_SLICE)
    return lam_tiff_read_plane (s->files->pdata[index], out->pixels, s->width, s->height, error);
  float *image = lam_alloc_n (pixels, sizeof *image, "slice", error);
  gboolean ok = image != NULL;
  for (int64_t k = 0; ok && k < slices; k++) {
    ok = lam_io_control_step (lam_cli_io (), (double) k / (double) slices, "slices", error)
         && lam_tiff_read_plane (s->files->pdata[k], image, s->width, s->height, error);
    for (int64_t i = 0; ok && i < out->width; i++)
      out->pixels[k * out->width + i] =
          plane == LAM_VOLUME_ROW ? image[index * s->width + i] : image[i * s->width + index];
  }
  lam_free (image);
  return ok;
}

/* Counts of @views views and @n rows to -log transmission. */
static gboolean
to_log (const LamScan *scan, float *data, int64_t views, int64_t n, const float *flats, const float *darks,
        GError **error)
{
  LamTransmissionOptions options;
  LamTransmissionReport report = {0};
  int64_t channels = scan->geometry->channels, pixels = n * channels;
  lam_transmission_options_init (&options);
  float *mean = lam_alloc_n (2 * pixels, sizeof *mean, "mean flat and dark", error);
  if (!mean)
    return FALSE;
  gboolean ok = lam_mean_frames (flats, scan->flats, n, channels, mean, error)
                && (!darks || lam_mean_frames (darks, scan->darks, n, channels, mean + pixels, error))
                && lam_transmission (data, views, n, channels, mean, darks ? mean + pixels : NULL, &options, NULL,
                                     &report, lam_cli_control (), error);
  lam_free (mean);
  return ok;
}

/* Rows @rows, all views; -log where it can be. */
static float *
read_rows (LamScan *scan, LamRange rows, gboolean log, GError **error)
{
  const LamGeometry *g = scan->geometry;
  int64_t view = lam_range_size (rows) * g->channels;
  float *data = lam_alloc_n (lam_mul_size (g->views, view), sizeof *data, "projections", error), *flats = NULL,
        *darks = NULL;
  gboolean ok = data != NULL;
  if (ok && log && scan->flats > 0)
    ok = (flats = lam_alloc_n (lam_mul_size (scan->flats, view), sizeof *flats, "flats", error)) != NULL;
  if (ok && log && scan->darks > 0)
    ok = (darks = lam_alloc_n (lam_mul_size (scan->darks, view), sizeof *darks, "darks", error)) != NULL;
  ok = ok && lam_scan_read (scan, rows, data, flats, darks, NULL, lam_cli_io (), error);
  if (ok && log)
    ok = to_log (scan, data, g->views, lam_range_size (rows), flats, darks, error);
  lam_free (flats);
  lam_free (darks);
  if (ok)
    return data;
  lam_free (data);
  return NULL;
}

static gboolean
take_scan (LamScan *scan, Picture *out, GError **error)
{
  const LamGeometry *g = scan->geometry;
  int64_t view = 0, row = -1;
  gboolean log = !raw && scan->kind == LAM_SCAN_COUNTS && scan->flats > 0;
  if (!lam_cli_int ("--view", view_text, 0, g->views - 1, &view, error)
      || !lam_cli_int ("--sinogram", sinogram_text, 0, scan->file_rows - 1, &row, error))
    return FALSE;
  if (view_text && sinogram_text) {
    lam_cli_usage_error (error, _ ("--view and --sinogram: give one of them"));
    return FALSE;
  }
  out->width = g->channels;
  out->height = row >= 0 ? g->views : scan->file_rows;
  out->what = row >= 0 ? g_strdup_printf ("sinogram of row %" G_GINT64_FORMAT, row)
                       : g_strdup_printf ("view %" G_GINT64_FORMAT, view);
  if (row >= 0)
    return (out->pixels = read_rows (scan, (LamRange){row, row + 1}, log, error)) != NULL;
  out->pixels = lam_alloc_n (lam_mul_size (out->width, out->height), sizeof (float), "picture", error);
  if (!out->pixels)
    return FALSE;
  int64_t step = LAM_CLAMP (PIECE / LAM_MAX (g->views * g->channels, 1), 1, scan->file_rows);
  for (int64_t m = 0; m < scan->file_rows; m += step) {
    LamRange rows = {m, LAM_MIN (m + step, scan->file_rows)};
    int64_t n = lam_range_size (rows) * g->channels;
    float *part = read_rows (scan, rows, log, error);
    if (!part)
      return FALSE;
    memcpy (out->pixels + m * g->channels, part + view * n, n * sizeof *part);
    lam_free (part);
  }
  return TRUE;
}

/* A picture's own level, or the one given. */
static gboolean
choose_level (Picture *p, double *low, double *high, GError **error)
{
  if (level_text)
    return lam_cli_pair ("--level", "LOW:HIGH", level_text, low, high, error);
  LamSnapshotInfo info = {.width = p->width, .height = p->height, .count = 1};
  float *copy = lam_alloc_n (p->width * p->height, sizeof *copy, "levels of the picture", error);
  if (!copy)
    return FALSE;
  memcpy (copy, p->pixels, p->width * p->height * sizeof *copy);
  g_autoptr (LamSnapshot) snapshot = lam_snapshot_new_take (&info, copy);
  float a, b;
  if (!lam_snapshot_quantiles (snapshot, 0.005, 0.995, &a, &b)) {
    lam_cli_warn ("%s", _ ("no finite value in the picture: all of it is hatched"));
    a = 0;
    b = 1;
  }
  *low = a;
  *high = b;
  return TRUE;
}

static gboolean
open_any (const char *path, const LamCliScan *options, LamVolumeLayout axes, Picture *p, GError **error)
{
  gboolean volume_wanted = plane_text || index_text || dataset, scan_wanted = view_text || sinogram_text || raw;
  g_autoptr (GError) as_scan = NULL, as_volume = NULL;
  if (!scan_wanted && g_file_test (path, G_FILE_TEST_IS_DIR)) {
    g_autoptr (LamTiffStack) stack = lam_tiff_stack_open (path, error);
    return stack && take_stack (stack, p, error);
  }
  g_autoptr (LamScan) scan = volume_wanted ? NULL : lam_cli_open_scan (path, options, &as_scan);
  if (scan)
    return take_scan (scan, p, error);
  if (scan_wanted) {
    if (volume_wanted)
      lam_cli_usage_error (error, _ ("--plane and --index are for volumes, --view, --sinogram and --raw for scans"));
    else
      g_propagate_error (error, g_steal_pointer (&as_scan));
    return FALSE;
  }
  g_autoptr (LamVolume) v = lam_volume_open (path, dataset, axes, &as_volume);
  if (v)
    return take_plane (v, p, error);
  g_propagate_error (error, as_scan && !strstr (as_scan->message, "this is a volume")
                                    && !g_error_matches (as_volume, LAM_ERROR, LAM_ERROR_INVALID)
                                ? g_steal_pointer (&as_scan)
                                : g_steal_pointer (&as_volume));
  return FALSE;
}

static gboolean
is_sequence (const char *path)
{
  return lam_cli_pulseq_is (path);
}

/* Maps in one file or in a folder, which may as well be one of TIFF images. */
static gboolean
is_map (const char *path)
{
  if (dataset || view_text || sinogram_text || raw || !lam_map_file_is (path))
    return FALSE;
  g_autoptr (LamTiffStack) stack = g_file_test (path, G_FILE_TEST_IS_DIR) ? lam_tiff_stack_open (path, NULL) : NULL;
  return stack == NULL;
}

static gboolean
refuse_for_sequence (GError **error)
{
  if (!lam_cli_render_map_given () && !plane_text && !index_text && !level_text && !zoom_text && !view_text
      && !sinogram_text && !dataset && !layout && !raw)
    return FALSE;
  lam_cli_usage_error (error,
                       _ ("a Pulseq file is drawn over time: --size, --from, --to, --part, --no-signal, --tissue, "
                          "--preset and --spins are for it, not planes, maps, views and levels"));
  return TRUE;
}

int
lam_cli_render (int argc, char **argv)
{
  const GOptionEntry *groups[] = {entries,
                                  lam_cli_render_map_entries,
                                  lam_cli_render_sequence_entries,
                                  lam_cli_spins_entries,
                                  lam_mr_tissue_entries,
                                  lam_cli_geometry_entries,
                                  lam_cli_scan_entries,
                                  NULL};
  static const char *const layouts[] = {"row-column-slice", "slice-column-row", NULL};
  g_autoptr (GError) error = NULL;
  LamCliScan options;
  Picture p = {0};
  int64_t zoom = 1;
  int order = -1;
  double low = 0, high = 1;
  lam_cli_control ();
  if (!lam_cli_parse (&help, groups, 1, 1, &argc, &argv, &error) || !lam_cli_scan_options (&options, &error)
      || !lam_cli_int ("--zoom", zoom_text, 1, 64, &zoom, &error)
      || !lam_cli_pair ("--level", "LOW:HIGH", level_text, &low, &high, &error)
      || !lam_cli_choice ("--layout", layout, layouts, &order, &error))
    return lam_cli_fail (error);
  if (slice_text && (plane_text || index_text)) {
    lam_cli_usage_error (&error, _ ("--slice N is --plane slice --index N: give one or the other"));
    return lam_cli_fail (error);
  }
  const char *index_option = slice_text ? "--slice" : "--index";
  index_text = slice_text ? slice_text : index_text;
  plane_text = slice_text ? (char *) "slice" : plane_text;
  if (!output) {
    lam_cli_usage_error (&error, _ ("-o is missing; expected: lamina render %s"), help.arguments);
    return lam_cli_fail (error);
  }
  g_autofree char *lower = g_ascii_strdown (output, -1);
  if (!g_str_has_suffix (lower, ".png")) {
    lam_cli_usage_error (
        &error,
        _ ("-o %s: pictures are written as PNG: a name that ends in .png was expected (numbers instead "
           "of a picture: `lamina convert' to TIFF images)"),
        output);
    return lam_cli_fail (error);
  }
  if (!lam_cli_not_same (argv[1], output, &error))
    return lam_cli_fail (error);
  if (is_sequence (argv[1])) {
    if (refuse_for_sequence (&error))
      return lam_cli_fail (error);
    return lam_cli_render_sequence (argv[1], output);
  }
  if (lam_cli_render_sequence_given () || lam_mr_tissues_given () || lam_cli_spins_given ()) {
    lam_cli_usage_error (&error,
                         _ ("--size, --from, --to, --part, --no-signal, --tissue, --preset, --spins, --voxel-size, "
                            "--position and --field are for Pulseq files"));
    return lam_cli_fail (error);
  }
  if (is_map (argv[1])) {
    const LamCliMapLook look = {plane_text, index_text, index_option, level_text, zoom_text ? zoom : 0};
    return lam_cli_render_map (argv[1], &look, output);
  }
  if (lam_cli_render_map_given ()) {
    lam_cli_usage_error (&error, _ ("--map and --contrast are for maps of tissue and NIfTI images; %s is none"),
                         argv[1]);
    return lam_cli_fail (error);
  }
  LamVolumeLayout axes = order < 0    ? LAM_LAYOUT_FROM_FILE
                         : order == 0 ? LAM_LAYOUT_ROW_COLUMN_SLICE
                                      : LAM_LAYOUT_SLICE_COLUMN_ROW;
  gboolean ok = open_any (argv[1], &options, axes, &p, &error) && choose_level (&p, &low, &high, &error)
                && lam_png_write (output, p.pixels, p.width, p.height, low, high, NULL, (int) zoom, &error);
  if (ok) {
    lam_cli_print (_ ("%s: %s, %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " pixels, black %s, white %s"), output, p.what,
                   p.width * zoom, p.height * zoom, lam_cli_number (low), lam_cli_number (high));
    if (lam_cli_json) {
      JsonBuilder *b = lam_json_event ("result");
      lam_json_text (b, "output", output);
      lam_json_text (b, "picture", p.what);
      lam_json_int (b, "width", p.width * zoom);
      lam_json_int (b, "height", p.height * zoom);
      lam_json_number (b, "low", low);
      lam_json_number (b, "high", high);
      lam_json_print (b);
    }
  }
  lam_free (p.pixels);
  g_free (p.what);
  return ok ? LAM_EXIT_DONE : lam_cli_fail (error);
}
