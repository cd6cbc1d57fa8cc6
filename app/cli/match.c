/* match.c: maps of tissue from a series of images, by a dictionary. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/mr-options.h"
#include "cli/progress.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/select.h"
#include "io/dictionary-file.h"
#include "io/maps.h"
#include "mr/match.h"

static char *output, *rank_text, *mask_path, *mask_dataset, *dataset, *top_text, *chunk_text, *devices;

static const GOptionEntry entries[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_ ("A folder of NIfTI maps, or one HDF5 file"), "MAPS|MAPS.h5"},
    {"rank", 0, 0, G_OPTION_ARG_STRING, &rank_text, N_ ("Project on R modes of the dictionary first: faster"), "R"},
    {"mask", 0, 0, G_OPTION_ARG_FILENAME, &mask_path, N_ ("Match only where this image is not 0"), "FILE"},
    {"mask-dataset", 0, 0, G_OPTION_ARG_STRING, &mask_dataset, N_ ("Which dataset of an HDF5 mask"), "NAME"},
    {"dataset", 0, 0, G_OPTION_ARG_STRING, &dataset, N_ ("Which dataset of an HDF5 series"), "NAME"},
    {"top", 0, 0, G_OPTION_ARG_STRING, &top_text, N_ ("Keep so many atoms of each voxel, best first (1)"), "K"},
    {"chunk", 0, 0, G_OPTION_ARG_STRING, &chunk_text, N_ ("Voxels at a time on a device (chosen from its memory)"),
     "N"},
    {"devices", 0, 0, G_OPTION_ARG_STRING, &devices, N_ ("auto, cpu, or a count such as 4xcpu"), "SPEC"},
    {NULL},
};

static const LamCliHelp help = {
    "DICT.h5 SERIES -o MAPS",
    N_ ("Finds the atom of a dictionary that each voxel of a series (NIfTI, or HDF5 with the contrast last) resembles "
        "most, "
        "and writes maps of its parameters, M0, phase, score and residual."),
    "  lamina match dict.h5 series.nii.gz -o maps\n"
    "  lamina match dict.h5 series.h5 -o maps.h5 --rank 5 --mask brain.nii.gz",
};

typedef struct {
  LamDictionary *dictionary;
  LamMrSeries *series;
  uint8_t *mask;
  LamDevices *set;
  LamMatchOptions options;
  LamMatch match;
  GPtrArray *maps; /* of float *, lam_free () */
  GArray *list;    /* of LamMap */
  GPtrArray *names;
} Job;

/* ---- maps ---- */

static float *
add_map (Job *j, const char *name, int place, const char *units, const char *long_name, GError **error)
{
  float *x = lam_alloc_n (j->series->voxels, 4, "maps", error);
  if (!x)
    return NULL;
  g_ptr_array_add (j->maps, x);
  g_ptr_array_add (j->names, place > 0 ? g_strdup_printf ("%s_%d", name, place + 1) : g_strdup (name));
  LamMap map = {g_ptr_array_index (j->names, j->names->len - 1), units, long_name, x};
  g_array_append_val (j->list, map);
  return x;
}

/* Parameters and score of the second best and so on. */
static gboolean
add_place (Job *j, int place, GError **error)
{
  const LamAtoms *a = j->dictionary->atoms;
  const LamMatch *m = &j->match;
  for (int c = 0; c <= a->columns; c++) {
    const LamTissueInfo *info = c < a->columns ? lam_tissue_find (a->names[c]) : NULL;
    float *x = add_map (j, info ? a->names[c] : "score", place, info && *info->unit ? info->unit : "1",
                        info ? info->title : "score", error);
    if (!x)
      return FALSE;
    for (int64_t v = 0; v < m->voxels; v++) {
      int32_t atom = m->atom[v * m->top + place];
      x[v] = atom < 0 ? NAN : info ? (float) a->values[c * a->n + atom] : m->score[v * m->top + place];
    }
  }
  return TRUE;
}

static gboolean
make_maps (Job *j, GError **error)
{
  static const char *const names[][3] = {{"M0", "1", "proton density, in units of the series"},
                                         {"phase", "rad", "phase of the signal against the dictionary's"},
                                         {"score", "1", "normalised product with the best atom, 0 to 1"},
                                         {"residual", "1", "length of what is left, relative to the voxel's signal"}};
  const LamAtoms *a = j->dictionary->atoms;
  for (int c = 0; c < a->columns; c++) {
    const LamTissueInfo *info = lam_tissue_find (a->names[c]);
    float *x = add_map (j, a->names[c], 0, *info->unit ? info->unit : "1", info->title, error);
    if (!x || !lam_match_map (&j->match, j->dictionary, a->names[c], x))
      return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    float *x = add_map (j, names[i][0], 0, names[i][1], names[i][2], error);
    if (!x || !lam_match_map (&j->match, j->dictionary, names[i][0], x))
      return FALSE;
  }
  float *mask = add_map (j, "mask", 0, "1", "1 where a voxel was matched", error);
  for (int64_t v = 0; mask && v < j->match.voxels; v++)
    mask[v] = j->match.state[v] == LAM_VOXEL_MATCHED;
  for (int place = 1; mask && place < j->match.top; place++)
    if (!add_place (j, place, error))
      return FALSE;
  return mask != NULL;
}

/* No map would be written over the series or the mask, which can lie in the same folder. */
static gboolean
spares_inputs (const Job *j, const char *series, GError **error)
{
  static const char *const always[] = {"M0", "phase", "score", "residual", "mask"};
  const LamAtoms *a = j->dictionary->atoms;
  if (lam_maps_one_file (output))
    return lam_cli_not_same (mask_path, output, error);
  for (int i = 0; i < a->columns + (int) G_N_ELEMENTS (always); i++)
    for (int place = 0; place < MAX (j->options.top, 1); place++) {
      const char *name = i < a->columns ? a->names[i] : always[i - a->columns];
      g_autofree char *file = place > 0 ? g_strdup_printf ("%s_%d.nii.gz", name, place + 1)
                                        : g_strconcat (name, ".nii.gz", NULL),
                      *path = g_build_filename (output, file, NULL);
      if (!lam_cli_not_same (series, path, error) || !lam_cli_not_same (mask_path, path, error))
        return FALSE;
    }
  return TRUE;
}

/* ---- what is said ---- */

/* What goes with the maps, as JSON text. */
static char *
parameters_text (const Job *j, const char *dictionary)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  json_builder_begin_object (b);
  lam_json_text (b, "dictionary", dictionary);
  lam_json_text (b, "template", j->dictionary->template);
  if (j->dictionary->pulseq) {
    lam_json_text (b, "sequence_file", j->dictionary->pulseq->options.file);
    lam_json_text (b, "sequence_checksum", j->dictionary->pulseq->options.checksum);
  }
  lam_json_int (b, "atoms", j->dictionary->atoms->n);
  lam_json_text (b, "series", j->series->path);
  lam_json_text (b, "mask", mask_path);
  lam_json_int (b, "rank", j->options.rank);
  lam_json_int (b, "matched", j->match.count[LAM_VOXEL_MATCHED]);
  json_builder_end_object (b);
  g_autoptr (JsonNode) root = json_builder_get_root (b);
  json_generator_set_root (generator, root);
  return json_generator_to_data (generator, NULL);
}

static double
seconds_since (int64_t start)
{
  return (double) (lam_clock_ns () - start) / 1e9;
}

typedef struct {
  double least, middle;
} Scores;

/* Of the matched voxels' best atoms. */
static gboolean
look_at_scores (const LamMatch *m, Scores *s, GError **error)
{
  float *x = lam_alloc_n (MAX (m->voxels, 1), sizeof *x, "scores", error);
  int64_t n = 0;
  if (!x)
    return FALSE;
  for (int64_t v = 0; v < m->voxels; v++)
    if (m->state[v] == LAM_VOXEL_MATCHED)
      x[n++] = m->score[v * m->top];
  *s = (Scores){NAN, NAN};
  if (n > 0)
    *s = (Scores){lam_select (x, n, 0), lam_select (x, n, n / 2)};
  lam_free (x);
  return TRUE;
}

static void
report (const Job *j, const Scores *scores, int64_t start)
{
  const LamMatch *m = &j->match;
  const int64_t *n = m->count;
  lam_cli_print (_ ("%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " voxels matched with %" G_GINT64_FORMAT
                    " atoms of %" G_GINT64_FORMAT " contrasts"),
                 output, n[LAM_VOXEL_MATCHED], m->voxels, j->dictionary->atoms->n, j->dictionary->samples);
  if (j->dictionary->pulseq) {
    const LamBlochModelOptions *o = &j->dictionary->pulseq->options;
    lam_cli_print (_ ("the dictionary is of %s, %" G_GINT64_FORMAT " spins in a voxel of %s x %s x %s mm"),
                   o->file ? o->file : "?", MAX (o->spins, 1), lam_cli_number (o->size_mm[0]),
                   lam_cli_number (o->size_mm[1]), lam_cli_number (o->size_mm[2]));
  }
  if (n[LAM_VOXEL_MATCHED])
    lam_cli_print (_ ("likeness (score): %s at the least, %s in the middle; far below 1, the dictionary is not of what "
                      "was measured"),
                   lam_cli_format ("%.4f", scores->least), lam_cli_format ("%.4f", scores->middle));
  if (n[LAM_VOXEL_OUTSIDE])
    lam_cli_print (_ ("left out: %" G_GINT64_FORMAT " voxels outside the mask"), n[LAM_VOXEL_OUTSIDE]);
  if (n[LAM_VOXEL_ZERO])
    lam_cli_print (_ ("left out: %" G_GINT64_FORMAT " voxels that are zero"), n[LAM_VOXEL_ZERO]);
  if (n[LAM_VOXEL_NOT_FINITE])
    lam_cli_print (_ ("left out: %" G_GINT64_FORMAT " voxels with a value that is not finite"),
                   n[LAM_VOXEL_NOT_FINITE]);
  if (n[LAM_VOXEL_NO_ATOM])
    lam_cli_print (_ ("left out: %" G_GINT64_FORMAT " voxels that no atom resembles"), n[LAM_VOXEL_NO_ATOM]);
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_begin ();
  lam_json_text (b, "output", output);
  lam_json_int (b, "voxels", m->voxels);
  lam_json_int (b, "matched", n[LAM_VOXEL_MATCHED]);
  lam_json_int (b, "outside_mask", n[LAM_VOXEL_OUTSIDE]);
  lam_json_int (b, "zero", n[LAM_VOXEL_ZERO]);
  lam_json_int (b, "not_finite", n[LAM_VOXEL_NOT_FINITE]);
  lam_json_int (b, "no_atom", n[LAM_VOXEL_NO_ATOM]);
  lam_json_number (b, "least_score", scores->least);
  lam_json_number (b, "median_score", scores->middle);
  lam_json_int (b, "atoms", j->dictionary->atoms->n);
  lam_json_int (b, "contrasts", j->dictionary->samples);
  lam_json_int (b, "rank", j->options.rank);
  lam_json_text (b, "route", m->route);
  lam_json_number (b, "seconds", seconds_since (start));
  lam_json_open_array (b, "maps");
  for (guint i = 0; i < j->names->len; i++)
    lam_json_text (b, NULL, g_ptr_array_index (j->names, i));
  lam_json_close_array (b);
  lam_json_open_array (b, "found");
  for (guint i = 0; i < j->series->notes->len; i++)
    lam_json_text (b, NULL, g_ptr_array_index (j->series->notes, i));
  lam_json_close_array (b);
  lam_json_print (b);
}

/* ---- the command ---- */

static gboolean
work (Job *j, const char *dictionary, const char *series, GError **error)
{
  int64_t start = lam_clock_ns ();
  Scores scores;
  if (!(j->set = lam_mr_device_set (devices, error))
      || !(j->dictionary = lam_dictionary_load (dictionary, lam_cli_io (), error)) || !spares_inputs (j, series, error)
      || !(j->series = lam_mr_series_read (series, dataset, j->dictionary->samples, lam_cli_io (), error)))
    return FALSE;
  for (guint i = 0; i < j->series->notes->len; i++)
    lam_cli_print ("%s: %s", series, (const char *) g_ptr_array_index (j->series->notes, i));
  if (mask_path && !(j->mask = lam_mr_mask_read (mask_path, mask_dataset, j->series, lam_cli_io (), error)))
    return FALSE;
  j->options.mask = j->mask;
  /* A basis of the file serves as far as it goes. */
  if (j->options.rank > 0 && (!j->dictionary->subspace || j->dictionary->subspace->rank < j->options.rank)
      && !lam_dictionary_compress (j->dictionary, j->options.rank, 0, j->set, lam_cli_control (), error))
    return FALSE;
  if (!lam_match (j->dictionary, j->series->re, j->series->im, j->series->voxels, j->series->contrasts, &j->options,
                  j->set, lam_cli_control (), &j->match, error)
      || !look_at_scores (&j->match, &scores, error) || !make_maps (j, error))
    return FALSE;
  g_autofree char *parameters = parameters_text (j, dictionary);
  if (!lam_maps_write (output, j->series, (const LamMap *) (void *) j->list->data, (int) j->list->len, parameters,
                       lam_cli_io (), error))
    return FALSE;
  lam_cli_progress_clear ();
  report (j, &scores, start);
  return TRUE;
}

/* A folder of maps that is named as a file of another kind is. */
static gboolean
check_name (GError **error)
{
  static const char *const files[] = {".csv",  ".txt", ".nii", ".gz",  ".png",  ".seq", ".tif",
                                      ".tiff", ".mat", ".hdf", ".npy", ".json", ".img"};
  g_autofree char *lower = g_ascii_strdown (output, -1);
  for (guint i = 0; i < G_N_ELEMENTS (files) && !lam_maps_one_file (output); i++)
    if (g_str_has_suffix (lower, files[i])) {
      lam_cli_usage_error (
          error,
          _ ("-o %s: maps are written to a folder of NIfTI files, or to one HDF5 file whose name ends in "
             ".h5 or .hdf5; a folder is not called %s"),
          output, files[i]);
      return FALSE;
    }
  return TRUE;
}

static gboolean
run (int argc, char **argv, GError **error)
{
  const GOptionEntry *groups[] = {entries, NULL};
  int64_t rank = 0, top = 1;
  Job j = {0};
  if (!lam_cli_parse (&help, groups, 2, 2, &argc, &argv, error)
      || !lam_cli_int ("--rank", rank_text, 1, 100000, &rank, error)
      || !lam_cli_int ("--top", top_text, 1, LAM_MATCH_MOST_TOP, &top, error)
      || !lam_cli_int ("--chunk", chunk_text, 1, G_MAXINT32, &j.options.chunk, error))
    return FALSE;
  if (!output) {
    lam_cli_usage_error (error, _ ("-o MAPS is needed: a folder for NIfTI maps, or a name ending in .h5"));
    return FALSE;
  }
  if (!check_name (error))
    return FALSE;
  if (mask_dataset && !mask_path) {
    lam_cli_usage_error (error, _ ("--mask-dataset %s goes with --mask FILE.h5"), mask_dataset);
    return FALSE;
  }
  const char *flat = dataset && lam_nifti_is_one (argv[2])          ? argv[2]
                     : mask_dataset && lam_nifti_is_one (mask_path) ? mask_path
                                                                    : NULL;
  if (flat) {
    lam_cli_usage_error (error, _ ("%s is a NIfTI file, which has no datasets: leave %s out"), flat,
                         flat == argv[2] ? "--dataset" : "--mask-dataset");
    return FALSE;
  }
  if (!lam_cli_not_same (argv[1], output, error) || !lam_cli_not_same (argv[2], output, error)
      || (lam_maps_one_file (output) && !lam_cli_writable (output, error)))
    return FALSE;
  j.options.rank = (int) rank;
  j.options.top = (int) top;
  j.maps = g_ptr_array_new_with_free_func (lam_free);
  j.names = g_ptr_array_new_with_free_func (g_free);
  j.list = g_array_new (FALSE, FALSE, sizeof (LamMap));
  gboolean ok = work (&j, argv[1], argv[2], error);
  lam_match_clear (&j.match);
  g_array_unref (j.list);
  g_ptr_array_unref (j.names);
  g_ptr_array_unref (j.maps);
  lam_free (j.mask);
  g_clear_pointer (&j.series, lam_mr_series_free);
  g_clear_pointer (&j.dictionary, lam_dictionary_free);
  g_clear_pointer (&j.set, lam_devices_unref);
  return ok;
}

int
lam_cli_match (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  return run (argc, argv, &error) ? LAM_EXIT_DONE : lam_cli_fail (error);
}
