/* info.c: what a file is, and what would be made of it. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/common.h"
#include "cli/dictionary.h"
#include "cli/maps.h"
#include "cli/prepare-options.h"
#include "cli/progress.h"
#include "cli/pulseq.h"
#include "cli/scan-options.h"
#include "core/error.h"
#include "io/checkpoint.h"
#include "io/dictionary-file.h"
#include "io/map-file.h"
#include "io/tiff.h"
#include "io/volume.h"
#include "run/recon.h"

static gboolean checksum, all_samples;
static char *dataset, *layout;

static const GOptionEntry entries[] = {
    {"checksum", 0, 0, G_OPTION_ARG_NONE, &checksum, N_ ("Print the SHA-256 of the voxels as they are now"), NULL},
    {"samples", 0, 0, G_OPTION_ARG_NONE, &all_samples,
     N_ ("Look at all samples of a scan or an image, however many (else up to 256 MB)"), NULL},
    {"dataset", 0, 0, G_OPTION_ARG_STRING, &dataset, N_ ("Which volume, where the file holds several"), "NAME"},
    {"layout", 0, 0, G_OPTION_ARG_STRING, &layout,
     N_ ("Axis order where the file does not say: row-column-slice or slice-column-row"), "ORDER"},
    {NULL},
};

static const LamCliHelp help = {
    "FILE",
    N_ ("Says what a file is: a scan and its import list, a volume, a checkpoint, a folder of TIFF images, "
        "a Pulseq sequence, a dictionary, maps of tissue (HDF5, or a folder of NIfTI files), a NIfTI image."),
    "  lamina info tooth.h5\n  lamina info --checksum tooth-recon.h5\n  lamina info gre.seq\n  lamina info maps.h5",
};

/* ---- scans ---- */

/* Samples up to this many bytes are looked at unasked. */
#define LOOK_BYTES (INT64_C (256) << 20)

static void
add_problem (GPtrArray *problems, GError *error_take)
{
  g_ptr_array_add (problems, g_strdup (error_take->message));
  g_error_free (error_take);
}

/* The volume of a run with the defaults, by the checks that such a run makes before it reads a sample. */
static void
check_geometry (LamScan *scan, LamGeometry *g, GPtrArray *problems)
{
  GError *error = NULL;
  for (guint i = 0; i < scan->findings->len; i++) {
    const LamFinding *f = scan->findings->pdata[i];
    if (f->kind == LAM_FINDING_MISSING)
      g_ptr_array_add (problems,
                       g_strdup_printf (_ ("%s; give %s"), f->text, f->option ? f->option : _ ("another file")));
  }
  if (scan->missing || ((g->recon_rows > 0 || lam_geometry_auto_volume (g, &error)) && lam_geometry_check (g, &error)))
    return;
  add_problem (problems, error);
  g->recon_rows = g->recon_columns = g->recon_slices = 0; /* none is shown that nobody can have */
}

/* What that run would hold; -1 when it is not known. */
static int64_t
check_plan (LamScan *scan, const LamGeometry *g, GPtrArray *problems)
{
  LamReconParams params;
  GError *error = NULL;
  lam_recon_params_init (&params);
  params.consume = TRUE; /* as `reconstruct' does */
  g_autoptr (LamPlan) plan = lam_recon_plan (g, scan->has_weights, TRUE, &params, &error);
  int64_t bytes = plan ? lam_plan_total (plan) : -1;
  if (!plan || !lam_plan_fits (plan, &error))
    add_problem (problems, error);
  lam_recon_params_clear (&params);
  return bytes;
}

/* Reads and prepares the samples as that run would. */
static void
check_samples (LamScan *scan, const LamPrepareParams *prepare, GPtrArray *problems, GPtrArray *told)
{
  GError *error = NULL;
  LamReconParams params;
  LamRegularization found;
  lam_recon_params_init (&params);
  g_autoptr (LamDataset) d = lam_dataset_load (scan, prepare, NULL, &error);
  for (guint i = 0; d && i < d->log->len; i++)
    g_ptr_array_add (told, g_strdup (d->log->pdata[i]));
  if (!d
      || !lam_auto_regularization (d->geometry, d->sinogram, d->weights, params.snr_db, params.sharpness, &found,
                                   &error))
    add_problem (problems, error);
  lam_recon_params_clear (&params);
}

static int
show_scan (LamScan *scan, const LamPrepareParams *prepare)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamGeometry) g = lam_geometry_try_copy (scan->geometry, &error);
  g_autoptr (GPtrArray) problems = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) told = g_ptr_array_new_with_free_func (g_free);
  if (!g)
    return lam_cli_fail (error);
  int64_t frames = g->views + scan->flats + scan->darks + (scan->has_weights ? g->views : 0);
  int64_t read = lam_mul_size (lam_mul_size (lam_mul_size (frames, g->rows), g->channels), 4);
  if (lam_cli_correct_given () && !scan->missing) { /* what is shown is what would be reconstructed */
    LamGeometry *after = lam_prepare_geometry (prepare, scan, &error);
    if (!after)
      return lam_cli_fail (error);
    lam_geometry_free (g);
    g = after;
  }
  int64_t samples = lam_mul_size (lam_mul_size (lam_mul_size (g->views, g->rows), g->channels), 4);
  check_geometry (scan, g, problems);
  gboolean usable = problems->len == 0;
  int64_t bytes = usable ? check_plan (scan, g, problems) : -1;
  gboolean looked = problems->len == 0 && read >= 0 && (all_samples || read <= LOOK_BYTES);
  if (looked)
    check_samples (scan, prepare, problems, told);
  g_autofree char *warnings = scan->missing ? NULL : lam_geometry_warnings (g);
  g_autofree char *direct = scan->missing ? NULL : lam_geometry_direct_warning (g);
  lam_cli_print (_ ("%s: %s, %s"), scan->path, lam_scan_format_name (scan->format),
                 scan->kind == LAM_SCAN_COUNTS ? _ ("detector counts") : _ ("-log transmission"));
  lam_cli_print_geometry (g, scan->center_assumed);
  lam_cli_print (_ ("flats: %" G_GINT64_FORMAT ", darks: %" G_GINT64_FORMAT "%s"), scan->flats, scan->darks,
                 scan->has_weights ? _ (", with weights") : "");
  if (usable)
    lam_cli_print (_ ("memory: %s for the samples, %s for a run with the defaults"), lam_cli_bytes (samples),
                   lam_cli_bytes (bytes));
  lam_cli_print (_ ("import list:"));
  lam_cli_print_findings (scan);
  lam_cli_print_warnings (warnings);
  lam_cli_print_warnings (direct);
  for (guint i = 0; lam_cli_correct_given () && i < told->len; i++)
    lam_cli_print (_ ("prepared: %s"), (const char *) told->pdata[i]);
  for (guint i = 0; i < problems->len; i++)
    lam_cli_print (_ ("cannot be reconstructed: %s"), (const char *) problems->pdata[i]);
  if (!looked && problems->len == 0)
    lam_cli_print (_ ("the samples were not looked at: they are %s; --samples looks at all of them"),
                   lam_cli_bytes (read));
  if (!lam_cli_json)
    return LAM_EXIT_DONE;
  JsonBuilder *b = lam_json_begin ();
  lam_json_text (b, "file", scan->path);
  lam_json_text (b, "type", "scan");
  lam_json_text (b, "format", lam_scan_format_name (scan->format));
  lam_json_text (b, "data", scan->kind == LAM_SCAN_COUNTS ? "counts" : "sinogram");
  lam_json_int (b, "flats", scan->flats);
  lam_json_int (b, "darks", scan->darks);
  lam_json_bool (b, "weights", scan->has_weights);
  lam_json_geometry (b, "geometry", g);
  lam_json_findings (b, "findings", scan);
  lam_json_bool (b, "center_assumed", scan->center_assumed);
  lam_json_bool (b, "complete", !scan->missing);
  lam_json_open_array (b, "problems"); /* why a run with the defaults would refuse it; empty: it would not */
  for (guint i = 0; i < problems->len; i++)
    lam_json_text (b, NULL, problems->pdata[i]);
  lam_json_close_array (b);
  lam_json_open_array (b, "prepared"); /* what preparing them said */
  for (guint i = 0; i < told->len; i++)
    lam_json_text (b, NULL, told->pdata[i]);
  lam_json_close_array (b);
  lam_json_bool (b, "samples_checked", looked);
  lam_json_text (b, "warnings", warnings);
  lam_json_bytes (b, "sample_bytes", samples);
  lam_json_bytes (b, "run_bytes", bytes);
  lam_json_print (b);
  return LAM_EXIT_DONE;
}

/* ---- volumes ---- */

/* @text with its lines indented, some at most. */
static void
print_text (const char *title, const char *text)
{
  if (!text || !*text)
    return;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  lam_cli_print ("%s:", title);
  for (int i = 0; lines[i] && i < 40; i++)
    if (*lines[i])
      lam_cli_print ("  %.200s%s", lines[i], strlen (lines[i]) > 200 ? "…" : "");
}

/* A member of @o as text for people; "" where it is absent or null. */
static const char *
word (JsonObject *o, const char *name)
{
  return o && json_object_has_member (o, name) ? json_object_get_string_member_with_default (o, name, "") : "";
}

static const char *
number (JsonObject *o, const char *name, const char *format)
{
  double x = json_object_has_member (o, name) ? json_object_get_double_member_with_default (o, name, NAN) : NAN;
  return isnan (x) ? "-" : lam_cli_format (format, x);
}

static int64_t
whole (JsonObject *o, const char *name)
{
  return json_object_has_member (o, name) ? json_object_get_int_member_with_default (o, name, 0) : 0;
}

static void
print_transmission (JsonObject *o)
{
  JsonNode *node = json_object_get_member (o, "transmission");
  if (!node || !JSON_NODE_HOLDS_OBJECT (node)) {
    lam_cli_print (_ ("  samples: -log transmission in the file"));
    return;
  }
  JsonObject *t = json_node_get_object (node);
  int64_t defects =
      whole (t, "listed") + whole (t, "not_finite") + whole (t, "flat_is_dark") + whole (t, "at_or_below_0");
  lam_cli_print (_ ("  samples: %" G_GINT64_FORMAT " counts made -log transmission, %" G_GINT64_FORMAT
                    " without one (policy: %s; %" G_GINT64_FORMAT " filled, %" G_GINT64_FORMAT
                    " became 0, %" G_GINT64_FORMAT " masked), %" G_GINT64_FORMAT " above 1"),
                 whole (t, "samples"), defects, word (t, "defects"), whole (t, "filled"), whole (t, "became_0"),
                 whole (t, "masked"), whole (t, "above_1"));
}

/* Where a result came from, as lines. */
static void
print_provenance (const char *text)
{
  g_autoptr (JsonNode) root = text ? json_from_string (text, NULL) : NULL;
  if (!root || !JSON_NODE_HOLDS_OBJECT (root)) {
    lam_cli_print (_ ("made of: not said"));
    return;
  }
  JsonObject *o = json_node_get_object (root);
  gboolean file = json_object_has_member (o, "scan_bytes"), searched = *number (o, "center_confidence", "%.2f") != '-';
  lam_cli_print (_ ("made of:"));
  lam_cli_print (file ? _ ("  scan: %s, %" G_GINT64_FORMAT " bytes, last changed %s") : _ ("  scan: %s"),
                 word (o, "scan"), whole (o, "scan_bytes"), word (o, "scan_modified"));
  if (searched)
    lam_cli_print (_ ("  centre of rotation (COR): channel %s ± %s, confidence %s, from %s"),
                   number (o, "center_channel", "%.2f"), number (o, "center_width", "%.2f"),
                   number (o, "center_confidence", "%.2f"), word (o, "center_from"));
  else
    lam_cli_print (_ ("  centre of rotation (COR): channel %s, from %s"), number (o, "center_channel", "%.6g"),
                   word (o, "center_from"));
  JsonArray *slices = json_object_has_member (o, "slices") ? json_object_get_array_member (o, "slices") : NULL;
  if (slices && json_array_get_length (slices) == 2)
    lam_cli_print (_ ("  slices: %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                      " (counted from 0), bin %" G_GINT64_FORMAT ", detector tilt %s degrees"),
                   json_array_get_int_element (slices, 0), json_array_get_int_element (slices, 1),
                   whole (o, "slices_of"), whole (o, "bin"), number (o, "tilt_degrees", "%.6g"));
  if (*word (o, "bad_pixels"))
    lam_cli_print (_ ("  bad pixels: listed in %s"), word (o, "bad_pixels"));
  print_transmission (o);
  lam_cli_print (_ ("  method: %s, mask %s%s%s%s"), word (o, "method"), word (o, "mask"),
                 *word (o, "weights") ? _ (", weights: ") : "", word (o, "weights"),
                 json_object_get_boolean_member_with_default (o, "stopped", FALSE) ? _ (", stopped before its end")
                                                                                   : "");
  lam_cli_print (_ ("  made by: %s, %s, %s"), word (o, "program"), word (o, "date"), word (o, "command"));
}

static int
show_volume (LamVolume *v)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sum = checksum ? lam_volume_file_checksum (v, lam_cli_io (), &error) : NULL;
  const int64_t shape[3] = {v->rows, v->columns, v->slices};
  if (checksum && !sum)
    return lam_cli_fail (error);
  if (lam_cli_json) {
    JsonBuilder *b = lam_json_begin ();
    lam_json_text (b, "file", v->path);
    lam_json_text (b, "type", "volume");
    lam_json_text (b, "dataset", v->dataset);
    lam_json_ints (b, "shape", shape, 3);
    lam_json_text (b, "layout", v->layout == LAM_LAYOUT_SLICE_COLUMN_ROW ? "slice-column-row" : "row-column-slice");
    lam_json_bool (b, "layout_assumed", v->layout_assumed);
    lam_json_text (b, "units", v->units);
    lam_json_text (b, "long_name", v->long_name);
    lam_json_text (b, "length_unit", v->length_unit);
    lam_json_numbers (b, "voxel_size", v->voxel_size, 3);
    lam_json_text (b, "checksum_stated", v->checksum);
    if (sum)
      lam_json_text (b, "checksum", sum);
    lam_json_text (b, "program", v->program);
    lam_json_text (b, "version", v->version);
    lam_json_raw (b, "parameters", v->parameters);
    lam_json_raw (b, "provenance", v->provenance);
    lam_json_text (b, "recon_params", v->recon_params);
    lam_json_text (b, "model_params", v->model_params);
    lam_json_text (b, "log", v->recon_log);
    lam_json_text (b, "notes", v->notes);
    lam_json_print (b);
    return LAM_EXIT_DONE;
  }
  if (sum) {
    printf ("%s  %s\n", sum, v->path);
    if (v->checksum && g_ascii_strcasecmp (sum, v->checksum) != 0)
      lam_cli_warn (_ ("%s: the file states %s: the voxels are not those that were written"), v->path, v->checksum);
    return LAM_EXIT_DONE;
  }
  lam_cli_print (_ ("%s: volume %s"), v->path, v->dataset);
  lam_cli_print (_ ("shape: %" G_GINT64_FORMAT " rows x %" G_GINT64_FORMAT " columns x %" G_GINT64_FORMAT
                    " slices (in the file: %s%s)"),
                 v->rows, v->columns, v->slices,
                 v->layout == LAM_LAYOUT_SLICE_COLUMN_ROW ? _ ("slice, column, row") : _ ("row, column, slice"),
                 v->layout_assumed ? _ (", assumed") : "");
  lam_cli_print (_ ("values: %s, in %s"), v->long_name ? v->long_name : _ ("not said what"),
                 v->units ? v->units : _ ("no stated unit"));
  if (!isnan (v->voxel_size[0]))
    lam_cli_print (_ ("voxel: %s x %s x %s %s (row, column, slice)"), lam_cli_number (v->voxel_size[0]),
                   lam_cli_number (v->voxel_size[1]), lam_cli_number (v->voxel_size[2]),
                   v->length_unit ? v->length_unit : "");
  lam_cli_print (_ ("memory: %s"), lam_cli_bytes (lam_mul_size (lam_mul_size (v->rows, v->columns), v->slices * 4)));
  lam_cli_print (_ ("checksum stated: %s"), v->checksum ? v->checksum : _ ("none"));
  lam_cli_print (_ ("program: %s %s"), v->program ? v->program : _ ("not said"), v->version ? v->version : "");
  print_provenance (v->provenance);
  print_text (_ ("parameters"), v->parameters);
  print_text (_ ("notes"), v->notes);
  print_text (_ ("log"), v->recon_log);
  return LAM_EXIT_DONE;
}

/* ---- checkpoints ---- */

static void
list_section (JsonBuilder *b, LamCheckpoint *c, const LamCheckpointSection *s)
{
  g_autofree char *value = NULL;
  double x;
  int64_t n;
  if (s->type == LAM_CHECKPOINT_TEXT && s->count < 60)
    value = lam_checkpoint_get_text (c, s->name, NULL);
  else if (s->type == LAM_CHECKPOINT_DOUBLE && s->count == 1 && lam_checkpoint_get_double (c, s->name, &x, NULL))
    value = g_strdup (lam_cli_number (x));
  else if (s->type == LAM_CHECKPOINT_INT64 && s->count == 1 && lam_checkpoint_get_int (c, s->name, &n, NULL))
    value = g_strdup_printf ("%" G_GINT64_FORMAT, n);
  g_autoptr (GString) shape = g_string_new (NULL);
  for (int i = 0; i < s->rank; i++)
    g_string_append_printf (shape, "%s%" G_GINT64_FORMAT, i ? " x " : "", s->shape[i]);
  lam_cli_print ("  %-18s %s", s->name, value ? value : shape->str);
  if (!b)
    return;
  lam_json_open (b, NULL);
  lam_json_text (b, "name", s->name);
  lam_json_ints (b, "shape", s->shape, s->rank);
  lam_json_text (b, "value", value);
  lam_json_close (b);
}

static int
show_checkpoint (const char *path, LamCheckpoint *c)
{
  int64_t iteration = -1;
  JsonBuilder *b = lam_cli_json ? lam_json_begin () : NULL;
  lam_checkpoint_get_int (c, "iteration", &iteration, NULL);
  if (iteration >= 0)
    lam_cli_print (_ ("%s: checkpoint of a reconstruction after iteration %" G_GINT64_FORMAT
                      "; go on with `lamina reconstruct ... --checkpoint=FILE --resume'"),
                   path, iteration);
  else
    lam_cli_print (_ ("%s: checkpoint"), path);
  if (b) {
    lam_json_text (b, "file", path);
    lam_json_text (b, "type", "checkpoint");
    if (iteration >= 0)
      lam_json_int (b, "iteration", iteration);
    lam_json_open_array (b, "sections");
  }
  for (int64_t i = 0; i < lam_checkpoint_n_sections (c); i++)
    list_section (b, c, lam_checkpoint_section (c, i));
  if (b) {
    lam_json_close_array (b);
    lam_json_print (b);
  }
  return LAM_EXIT_DONE;
}

/* ---- images ---- */

static int
show_stack (const char *path, const LamTiffStack *s)
{
  const int64_t shape[3] = {s->height, s->width, s->files->len};
  lam_cli_print (_ ("%s: stack of %u TIFF images of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " pixels"), path,
                 s->files->len, s->width, s->height);
  lam_cli_print (_ ("shape: %" G_GINT64_FORMAT " rows x %" G_GINT64_FORMAT " columns x %u slices; memory: %s"),
                 s->height, s->width, s->files->len,
                 lam_cli_bytes (lam_mul_size (s->width * s->height, s->files->len * 4)));
  if (!isnan (s->voxel_size[0]))
    lam_cli_print (_ ("voxel: %s x %s x %s %s (row, column, slice); values in %s"), lam_cli_number (s->voxel_size[0]),
                   lam_cli_number (s->voxel_size[1]), lam_cli_number (s->voxel_size[2]),
                   s->length_unit ? s->length_unit : "", s->units ? s->units : _ ("no stated unit"));
  if (s->provenance)
    print_provenance (s->provenance);
  if (lam_cli_json) {
    JsonBuilder *b = lam_json_begin ();
    lam_json_text (b, "file", path);
    lam_json_text (b, "type", "tiff-stack");
    lam_json_ints (b, "shape", shape, 3);
    lam_json_numbers (b, "voxel_size", s->voxel_size, 3);
    lam_json_text (b, "length_unit", s->length_unit);
    lam_json_text (b, "units", s->units);
    lam_json_raw (b, "provenance", s->provenance);
    lam_json_print (b);
  }
  return LAM_EXIT_DONE;
}

static int
show_image (const char *path)
{
  g_autoptr (GError) error = NULL;
  int64_t width, height;
  if (!lam_tiff_size (path, &width, &height, &error))
    return lam_cli_fail (error);
  lam_cli_print (_ ("%s: TIFF image of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " pixels"), path, width, height);
  if (lam_cli_json) {
    JsonBuilder *b = lam_json_begin ();
    lam_json_text (b, "file", path);
    lam_json_text (b, "type", "tiff");
    lam_json_int (b, "width", width);
    lam_json_int (b, "height", height);
    lam_json_print (b);
  }
  return LAM_EXIT_DONE;
}

/* A TIFF image by its first bytes. */
static gboolean
is_tiff (const char *path)
{
  unsigned char head[4] = {0};
  FILE *f = fopen (path, "rb");
  gboolean ok = f && fread (head, 1, 4, f) == 4
                && ((head[0] == 'I' && head[1] == 'I' && head[3] == 0 && (head[2] == 42 || head[2] == 43))
                    || (head[0] == 'M' && head[1] == 'M' && head[2] == 0 && (head[3] == 42 || head[3] == 43)));
  if (f)
    fclose (f);
  return ok;
}

int
lam_cli_info (int argc, char **argv)
{
  const GOptionEntry *groups[] = {entries, lam_cli_geometry_entries, lam_cli_scan_entries, lam_cli_correct_entries,
                                  NULL};
  static const char *const layouts[] = {"row-column-slice", "slice-column-row", NULL};
  g_autoptr (GError) error = NULL;
  LamCliScan options;
  LamPrepareParams prepare; /* a list of bad pixels in it lives as long as the program */
  int order = -1;
  lam_prepare_params_init (&prepare);
  if (!lam_cli_parse (&help, groups, 1, 1, &argc, &argv, &error) || !lam_cli_scan_options (&options, &error)
      || !lam_cli_choice ("--layout", layout, layouts, &order, &error) || !lam_cli_correct_options (&prepare, &error))
    return lam_cli_fail (error);
  LamVolumeLayout axes = order < 0    ? LAM_LAYOUT_FROM_FILE
                         : order == 0 ? LAM_LAYOUT_ROW_COLUMN_SLICE
                                      : LAM_LAYOUT_SLICE_COLUMN_ROW;
  const char *path = argv[1];
  g_autoptr (GError) as_scan = NULL, as_volume = NULL, as_checkpoint = NULL;
  g_autoptr (LamScan) scan = NULL;
  g_autoptr (LamVolume) v = NULL;
  if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
    g_autoptr (LamTiffStack) stack = lam_tiff_stack_open (path, &error);
    return stack                    ? show_stack (path, stack)
           : lam_map_file_is (path) ? lam_cli_show_maps (path, all_samples)
                                    : lam_cli_fail (error);
  }
  if (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR)) { /* a pipe would block */
    g_set_error (&error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s: is not a plain file"), path);
    return lam_cli_fail (error);
  }
  if (is_tiff (path))
    return show_image (path);
  if (!checksum && !dataset && lam_cli_pulseq_is (path))
    return lam_cli_show_pulseq (path);
  if (!checksum && !dataset && lam_dictionary_is_file (path)) {
    g_autoptr (LamDictionary) d = lam_dictionary_load (path, lam_cli_io (), &error);
    return d ? lam_cli_show_dictionary (path, d) : lam_cli_fail (error);
  }
  if (!checksum && !dataset && lam_map_file_is (path))
    return lam_cli_show_maps (path, all_samples);
  if (!checksum && !dataset && (scan = lam_cli_open_scan (path, &options, &as_scan)))
    return show_scan (scan, &prepare);
  if (g_error_matches (as_scan, LAM_ERROR, LAM_ERROR_IO))
    return lam_cli_fail (as_scan);
  if ((v = lam_volume_open (path, dataset, axes, &as_volume)))
    return show_volume (v);
  g_autoptr (LamCheckpoint) c = lam_checkpoint_open (path, &as_checkpoint);
  if (c && !checksum)
    return show_checkpoint (path, c);
  /* The scan's message tells most of an HDF5 file, unless it said that this is a volume or several of them. */
  gboolean several = g_error_matches (as_volume, LAM_ERROR, LAM_ERROR_INVALID);
  return lam_cli_fail (as_scan && !several && !strstr (as_scan->message, "this is a volume") ? as_scan : as_volume);
}
