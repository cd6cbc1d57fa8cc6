/* convert.c: between volume files, image stacks and scan files. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/export.h"
#include "cli/progress.h"
#include "cli/pulseq.h"
#include "cli/scan-options.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/tiff.h"
#include "io/volume.h"

#define PIECE (INT64_C (16) << 20) /* floats */

static char *layout_text, *from_text, *dataset, *voxel_text, *pulseq_text;

static const GOptionEntry entries[] = {
    {"layout", 0, 0, G_OPTION_ARG_STRING, &layout_text,
     N_ ("Axis order to write: row-column-slice (default), or slice-column-row as MBIRJAX exports"), "ORDER"},
    {"from-layout", 0, 0, G_OPTION_ARG_STRING, &from_text, N_ ("Axis order of IN, where the file does not say"),
     "ORDER"},
    {"dataset", 0, 0, G_OPTION_ARG_STRING, &dataset, N_ ("Which volume, where the file holds several"), "NAME"},
    {"pulseq-version", 0, 0, G_OPTION_ARG_STRING, &pulseq_text,
     N_ ("Version of the Pulseq file to write: 1.4 or 1.5 (default: that of IN, or the nearest)"), "VERSION"},
    {"voxel", 0, 0, G_OPTION_ARG_STRING, &voxel_text, N_ ("Voxel size in mm, where IN does not say"), "MM"},
    {NULL},
};

static const LamCliHelp help = {
    "IN OUT",
    N_ ("Converts: a volume file to a folder of TIFF images and back, or to another axis order; a scan to Lamina's own "
        "scan file; a Pulseq sequence to another version. What OUT is follows from its name: .h5 is a file, anything "
        "else a folder. Images are numbered as "
        "slices "
        "are, from slice_0000.tif; they keep the voxel size, its unit and that of the values."),
    "  lamina convert tooth-recon.h5 slices\n"
    "  lamina convert slices volume.h5 --voxel 0.01\n"
    "  lamina convert volume.h5 export.h5 --layout slice-column-row\n"
    "  lamina convert tooth.h5 scan.h5\n"
    "  lamina convert old.seq new.seq --pulseq-version 1.5",
};

typedef struct {
  const char *in, *out;
  LamCliScan scan;
  LamVolumeLayout from;
  gboolean export; /* write slice-column-row */
  double voxel;    /* NAN = not given */
  int pulseq;      /* 4, 5; 0 = not given */
} Run;

static gboolean
is_h5 (const char *path)
{
  g_autofree char *lower = g_ascii_strdown (path, -1);
  return g_str_has_suffix (lower, ".h5") || g_str_has_suffix (lower, ".hdf5") || g_str_has_suffix (lower, ".hdf");
}

static void
say (const Run *r, const char *kind, int64_t a, int64_t b, int64_t c, const char *checksum)
{
  lam_cli_print ("%s: %s, %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT "%s%s", r->out, kind, a, b,
                 c, checksum ? _ (", checksum ") : "", checksum ? checksum : "");
  if (!lam_cli_json)
    return;
  const int64_t shape[3] = {a, b, c};
  JsonBuilder *j = lam_json_event ("result");
  lam_json_text (j, "output", r->out);
  lam_json_text (j, "type", kind);
  lam_json_ints (j, "shape", shape, 3);
  lam_json_text (j, "checksum", checksum);
  lam_json_print (j);
}

/* ---- volumes ---- */

/* What the copy says: --voxel before what IN says before 1 px. */
static LamVolumeInfo
copied_info (const Run *r, const LamVolume *v)
{
  gboolean given = !isnan (r->voxel), known = given || !isnan (v->voxel_size[0]);
  LamVolumeInfo info = {.units = v->units,
                        .long_name = v->long_name,
                        .length_unit = given            ? "mm"
                                       : v->length_unit ? v->length_unit
                                       : known          ? NULL
                                                        : "px",
                        .parameters = v->parameters,
                        .recon_params = v->recon_params,
                        .model_params = v->model_params,
                        .recon_log = v->recon_log,
                        .notes = v->notes,
                        .provenance = v->provenance};
  for (int i = 0; i < 3; i++)
    info.voxel_size[i] = given ? r->voxel : known ? v->voxel_size[i] : 1;
  return info;
}

static gboolean
to_stack (const Run *r, LamVolume *v, GError **error)
{
  int64_t n = lam_mul_size (lam_mul_size (v->rows, v->columns), v->slices);
  LamVolumeInfo info = copied_info (r, v);
  float *data = lam_alloc_n (n, sizeof *data, "volume", error);
  gboolean ok =
      data && lam_volume_read_rows (v, (LamRange){0, v->rows}, data, lam_cli_io (), error)
      && lam_tiff_write_stack (r->out, "slice", data, v->rows, v->columns, v->slices, &info, lam_cli_io (), error);
  lam_free (data);
  if (ok)
    lam_cli_check_stack (r->out, v->slices);
  if (ok)
    say (r, "tiff-stack", v->rows, v->columns, v->slices, NULL);
  return ok;
}

static gboolean
to_volume (const Run *r, LamVolume *v, GError **error)
{
  LamVolumeInfo info = copied_info (r, v);
  g_autoptr (LamVolumeWriter) w = lam_volume_writer_new (r->out, v->rows, v->columns, v->slices, &info, error);
  g_autofree char *sum = NULL;
  int64_t row = v->columns * v->slices, step = LAM_CLAMP (PIECE / LAM_MAX (row, 1), 1, v->rows);
  float *slab = w ? lam_alloc_n (lam_mul_size (step, row), sizeof *slab, "slab of the volume", error) : NULL;
  gboolean ok = slab != NULL;
  for (int64_t i = 0; ok && i < v->rows; i += step) {
    LamRange rows = {i, LAM_MIN (i + step, v->rows)};
    ok = lam_io_control_step (lam_cli_io (), (double) i / (double) v->rows, "converting", error)
         && lam_volume_read_rows (v, rows, slab, NULL, error) && lam_volume_writer_put_rows (w, rows, slab, error);
  }
  lam_free (slab);
  ok = ok && lam_volume_writer_finish (w, lam_cli_io (), &sum, error);
  if (ok)
    say (r, "volume", v->rows, v->columns, v->slices, sum);
  return ok;
}

static gboolean
convert_volume (const Run *r, LamVolume *v, GError **error)
{
  if (v->layout_assumed && r->from == LAM_LAYOUT_FROM_FILE)
    lam_cli_print (_ ("%s does not say its axis order: row-column-slice assumed [--from-layout ORDER]"), r->in);
  if (!is_h5 (r->out)) {
    if (r->export)
      lam_cli_usage_error (error, _ ("--layout is for volume files; %s is a folder"), r->out);
    return !r->export && to_stack (r, v, error);
  }
  if (!r->export)
    return to_volume (r, v, error);
  if (!lam_cli_export_scr (v, r->out, lam_cli_io (), error))
    return FALSE;
  say (r, "volume", v->rows, v->columns, v->slices, NULL);
  return TRUE;
}

static gboolean
convert_stack (const Run *r, GError **error)
{
  g_autoptr (LamTiffStack) s = lam_tiff_stack_open (r->in, error);
  if (!s)
    return FALSE;
  if (!is_h5 (r->out) || r->export) {
    lam_cli_usage_error (error, _ ("a folder of images becomes a volume file in row-column-slice order: OUT.h5"));
    return FALSE;
  }
  gboolean given = !isnan (r->voxel), stated = !isnan (s->voxel_size[0]);
  if (!given && !stated)
    lam_cli_print (_ ("the images do not say their voxel size: 1 px assumed [--voxel MM]"));
  LamVolumeInfo info = {.units = s->units,
                        .long_name = s->long_name ? s->long_name : "image values",
                        .length_unit = given    ? "mm"
                                       : stated ? s->length_unit
                                                : "px",
                        .provenance = s->provenance};
  for (int i = 0; i < 3; i++)
    info.voxel_size[i] = given ? r->voxel : stated ? s->voxel_size[i] : 1;
  g_autofree char *sum = NULL;
  int64_t n = s->files->len;
  float *data = lam_alloc_n (lam_mul_size (lam_mul_size (s->width, s->height), n), sizeof *data, "volume", error);
  gboolean ok = data && lam_tiff_stack_read (s, data, lam_cli_io (), error)
                && lam_volume_write (r->out, data, s->height, s->width, n, &info, lam_cli_io (), &sum, error);
  lam_free (data);
  if (ok)
    say (r, "volume", s->height, s->width, n, sum);
  return ok;
}

/* ---- scans ---- */

static gboolean
convert_scan (const Run *r, LamScan *scan, GError **error)
{
  const LamGeometry *g = scan->geometry;
  int64_t view = lam_mul_size (g->rows, g->channels);
  float *data[4] = {NULL};
  const int64_t frames[4] = {g->views, scan->flats, scan->darks, scan->has_weights ? g->views : 0};
  static const char *const names[4] = {"projections", "flats", "darks", "weights"};
  lam_cli_print_findings (scan);
  if (!is_h5 (r->out) || r->export) {
    lam_cli_usage_error (error, _ ("a scan becomes a scan file: OUT.h5, without --layout"));
    return FALSE;
  }
  gboolean ok = lam_scan_complete (scan, error);
  for (int i = 0; ok && i < 4; i++)
    if (frames[i] > 0)
      ok = (data[i] = lam_alloc_n (lam_mul_size (frames[i], view), sizeof (float), names[i], error)) != NULL;
  LamScanData out = {.geometry = g, .kind = scan->kind, .n_flats = scan->flats, .n_darks = scan->darks};
  ok = ok && lam_scan_read (scan, (LamRange){0, 0}, data[0], data[1], data[2], data[3], lam_cli_io (), error);
  out.projections = data[0];
  out.flats = data[1];
  out.darks = data[2];
  out.weights = data[3];
  ok = ok && lam_scan_write (r->out, &out, lam_cli_io (), error);
  for (int i = 0; i < 4; i++)
    lam_free (data[i]);
  if (ok)
    say (r, "scan", g->views, g->rows, g->channels, NULL);
  return ok;
}

static gboolean
run (const Run *r, GError **error)
{
  if (!lam_cli_not_same (r->in, r->out, error) || (is_h5 (r->out) && !lam_cli_writable (r->out, error)))
    return FALSE;
  if (g_file_test (r->in, G_FILE_TEST_IS_DIR))
    return convert_stack (r, error);
  if (lam_cli_pulseq_is (r->in))
    return lam_cli_convert_pulseq (r->in, r->out, r->pulseq, error);
  if (r->pulseq) {
    lam_cli_usage_error (error, _ ("--pulseq-version is for Pulseq files; %s is none"), r->in);
    return FALSE;
  }
  g_autoptr (GError) as_scan = NULL, as_volume = NULL;
  g_autoptr (LamScan) scan = dataset ? NULL : lam_cli_open_scan (r->in, &r->scan, &as_scan);
  if (scan)
    return convert_scan (r, scan, error);
  g_autoptr (LamVolume) v = lam_volume_open (r->in, dataset, r->from, &as_volume);
  if (v)
    return convert_volume (r, v, error);
  g_propagate_error (error, as_scan && !strstr (as_scan->message, "this is a volume")
                                    && !g_error_matches (as_volume, LAM_ERROR, LAM_ERROR_INVALID)
                                ? g_steal_pointer (&as_scan)
                                : g_steal_pointer (&as_volume));
  return FALSE;
}

int
lam_cli_convert (int argc, char **argv)
{
  const GOptionEntry *groups[] = {entries, lam_cli_geometry_entries, lam_cli_scan_entries, NULL};
  static const char *const layouts[] = {"row-column-slice", "slice-column-row", NULL};
  static const char *const versions[] = {"1.4", "1.5", NULL};
  g_autoptr (GError) error = NULL;
  Run r = {.voxel = NAN};
  int to = 0, from = -1, version = -4;
  lam_cli_control ();
  if (!lam_cli_parse (&help, groups, 2, 2, &argc, &argv, &error) || !lam_cli_scan_options (&r.scan, &error)
      || !lam_cli_choice ("--layout", layout_text, layouts, &to, &error)
      || !lam_cli_choice ("--from-layout", from_text, layouts, &from, &error)
      || !lam_cli_choice ("--pulseq-version", pulseq_text, versions, &version, &error)
      || !lam_cli_length ("--voxel", voxel_text, FALSE, &r.voxel, &error))
    return lam_cli_fail (error);
  r.in = argv[1];
  r.out = argv[2];
  r.pulseq = version + 4;
  r.export = to == 1;
  r.from = from < 0 ? LAM_LAYOUT_FROM_FILE : from == 0 ? LAM_LAYOUT_ROW_COLUMN_SLICE : LAM_LAYOUT_SLICE_COLUMN_ROW;
  return run (&r, &error) ? LAM_EXIT_DONE : lam_cli_fail (error);
}
