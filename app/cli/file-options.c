#include "config.h"

#include "cli/file-options.h"

#include <glib/gi18n.h>
#include <math.h>

#include "cli/common.h"
#include "cli/mr-options.h"
#include "cli/spins.h"
#include "io/file.h"
#include "io/pulseq-read.h"
#include "mr/pulseq-timing.h"

static char *samples_text;

const GOptionEntry lam_file_entries[] = {
    {"samples", 0, 0, G_OPTION_ARG_STRING, &samples_text,
     N_ ("Sequence: centre (of each readout the sample nearest the centre of k-space; all where k stands still) or "
         "all"),
     "WHICH"},
    {NULL},
};

gboolean
lam_file_is_sequence (const char *name)
{
  g_autofree char *lower = g_ascii_strdown (name, -1);
  return g_str_has_suffix (lower, ".seq");
}

static gboolean
read_options (LamBlochModelOptions *o, GError **error)
{
  static const char *const names[] = {"centre", "all", NULL};
  int which = o->sampling;
  if (samples_text && !lam_cli_choice ("--samples", samples_text, names, &which, error))
    return FALSE;
  o->sampling = which;
  return lam_cli_spins_options (o, error);
}

LamModel *
lam_file_model (const char *path, LamBlochSampling sampling, gboolean checksum, GError **error)
{
  LamBlochModelOptions o = {.sampling = sampling};
  if (!lam_mr_no_template_options (error) || !read_options (&o, error))
    return NULL;
  g_autoptr (LamPulseq) seq = lam_pulseq_open (path, NULL, error);
  g_autoptr (LamPulseqTiming) timing = seq ? lam_pulseq_timing_new (seq, error) : NULL;
  g_autofree char *name = g_path_get_basename (path), *sum = NULL;
  if (!timing || (checksum && !(sum = lam_file_checksum (path, error))))
    return NULL;
  o.file = name;
  o.checksum = sum;
  LamBlochModel *m = lam_bloch_model_new (timing, &o, error);
  if (m)
    return lam_model_new_of_pulseq (m);
  g_prefix_error (error, "%s: ", path);
  lam_mr_missing (error);
  return NULL;
}

gboolean
lam_file_no_options (GError **error)
{
  const char *given = samples_text ? "--samples" : lam_cli_spins_given ();
  if (given)
    lam_cli_usage_error (error,
                         _ ("%s is for Pulseq files (.seq): a template has no samples to choose, and counts its "
                            "spins by orders"),
                         given);
  return given == NULL;
}

char *
lam_file_describe (const LamBlochModel *m)
{
  int64_t single, whole, n = lam_bloch_model_samples (m);
  lam_bloch_model_readouts (m, &single, &whole);
  if (whole == 0)
    return g_strdup_printf (_ ("%" G_GINT64_FORMAT " samples: of each readout the one nearest the centre of k-space"),
                            n);
  if (single == 0)
    return g_strdup_printf (_ ("%" G_GINT64_FORMAT " samples: all that the file reads"), n);
  return g_strdup_printf (_ ("%" G_GINT64_FORMAT " samples: of %" G_GINT64_FORMAT
                             " readouts the one nearest the centre of k-space, of %" G_GINT64_FORMAT " all"),
                          n, single, whole);
}

void
lam_file_json (JsonBuilder *b, const LamBlochModelOptions *o, int64_t samples, const int64_t *numbers,
               const double *times)
{
  lam_json_open (b, "sequence");
  lam_json_text (b, "file", o->file);
  lam_json_text (b, "checksum", o->checksum);
  lam_json_text (b, "samples", lam_bloch_sampling_name (o->sampling));
  lam_json_int (b, "spins", o->spins);
  lam_json_numbers (b, "voxel_size_mm", o->size_mm, 3);
  lam_json_numbers (b, "position_mm", o->at_mm, 3);
  lam_json_number (b, "f0_hz", o->f0_hz);
  lam_json_ints (b, "sample_numbers", numbers, (int) samples);
  lam_json_numbers (b, "times_s", times, (int) samples);
  lam_json_close (b);
}
