#include "config.h"

#include "cli/recon-options.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/prepare-options.h"
#include "core/error.h"

static char *method, *devices, *iterations, *stop, *sharpness, *snr, *sigma_y, *sigma_x, *p, *q, *t, *neighbours, *seed,
    *mask;
static char *slices, *bin, *tilt, *defects, *weights, *init, *center, *checkpoint;
static gboolean positivity, no_damping, resume;

const GOptionEntry lam_cli_prepare_entries[] = {
    {"slices", 0, 0, G_OPTION_ARG_STRING, &slices,
     N_ ("Slices from A to before B, counted from 0 (parallel beam: detector rows)"), "A:B"},
    {"bin", 0, 0, G_OPTION_ARG_STRING, &bin, N_ ("Join N x N detector pixels"), "N"},
    {"tilt", 0, 0, G_OPTION_ARG_STRING, &tilt, N_ ("Turn the detector by this angle"), "DEG"},
    {"defects", 0, 0, G_OPTION_ARG_STRING, &defects, N_ ("Samples without a -log: interpolate or mask"), "POLICY"},
    {"weights", 0, 0, G_OPTION_ARG_STRING, &weights,
     N_ ("How much a sample counts: given (the file's), unweighted, transmission, transmission_root or emission, which "
         "replace the file's; auto: given, else unweighted (the default)"),
     "KIND"},
    {NULL},
};

const GOptionEntry lam_cli_recon_entries[] = {
    {"method", 0, 0, G_OPTION_ARG_STRING, &method, N_ ("fbp (parallel), fdk (cone) or vcd (iterative, the default)"),
     "METHOD"},
    {"devices", 0, 0, G_OPTION_ARG_STRING, &devices, N_ ("auto, cpu, or a count such as 4xcpu"), "SPEC"},
    {"iterations", 0, 0, G_OPTION_ARG_STRING, &iterations, N_ ("Iterations at most (15)"), "N"},
    {"stop-threshold", 0, 0, G_OPTION_ARG_STRING, &stop, N_ ("Stop below this change, in percent (0.2; 0: never)"),
     "PERCENT"},
    {"sharpness", 0, 0, G_OPTION_ARG_STRING, &sharpness, N_ ("Above 1 sharper, below smoother (1)"), "X"},
    {"snr-db", 0, 0, G_OPTION_ARG_STRING, &snr, N_ ("Signal to noise ratio of the data (30)"), "DB"},
    {"sigma-y", 0, 0, G_OPTION_ARG_STRING, &sigma_y, N_ ("Noise of a sample; else from the data"), "X"},
    {"sigma-x", 0, 0, G_OPTION_ARG_STRING, &sigma_x, N_ ("Prior strength; else from the data"), "X"},
    {"p", 0, 0, G_OPTION_ARG_STRING, &p, N_ ("Prior: power near 0 (2)"), "P"},
    {"q", 0, 0, G_OPTION_ARG_STRING, &q, N_ ("Prior: power far out (1.2)"), "Q"},
    {"T", 'T', 0, G_OPTION_ARG_STRING, &t, N_ ("Prior: where the powers meet (1)"), "T"},
    {"neighbours", 0, 0, G_OPTION_ARG_STRING, &neighbours,
     N_ ("Prior: weights of row, column and slice neighbours (1,1,1)"), "R,C,S"},
    {"positivity", 0, 0, G_OPTION_ARG_NONE, &positivity, N_ ("No voxel below 0"), NULL},
    {"no-damping", 0, 0, G_OPTION_ARG_NONE, &no_damping, N_ ("Cone beam: slice means are not damped"), NULL},
    {"mask", 0, 0, G_OPTION_ARG_STRING, &mask, N_ ("Which pixels are made: ellipse or none (all)"), "KIND"},
    {"seed", 0, 0, G_OPTION_ARG_STRING, &seed, N_ ("Of the random order of pixels (0)"), "N"},
    {NULL},
};

const GOptionEntry lam_cli_start_entries[] = {
    {"center", 0, 0, G_OPTION_ARG_STRING, &center, N_ ("Centre of rotation (COR): auto, or a detector channel from 0"),
     "auto|CHANNEL"},
    {"init", 0, 0, G_OPTION_ARG_STRING, &init, N_ ("Start from fbp (or fdk), zero, or a volume file"), "fbp|zero|FILE"},
    {"checkpoint", 0, 0, G_OPTION_ARG_FILENAME, &checkpoint,
     N_ ("Keep the state of the run, in the state folder; --checkpoint=FILE: in FILE, unless that is the state of "
         "another "
         "run"),
     NULL},
    {"resume", 0, 0, G_OPTION_ARG_NONE, &resume, N_ ("Go on from the state that --checkpoint kept"), NULL},
    {NULL},
};

const char *
lam_cli_bare_checkpoint (int argc, char **argv)
{
  const char *next = NULL;
  for (int i = 1; i < argc && !g_str_equal (argv[i], "--"); i++)
    if (g_str_equal (argv[i], "--checkpoint")) {
      argv[i] = (char *) "--checkpoint=";
      next = i + 1 < argc && *argv[i + 1] != '-' ? argv[i + 1] : NULL;
    }
  return next;
}

void
lam_cli_checkpoint_error (const char *word, GError **error)
{
  g_clear_error (error);
  lam_cli_usage_error (error, _ ("--checkpoint %s: its file comes after \"=\": --checkpoint=%s"), word, word);
}

gboolean
lam_cli_use_center (const LamCliRecon *o, LamScan *scan, GError **error)
{
  LamGeometry *g = scan->geometry;
  if (isnan (o->center))
    return TRUE;
  if (!(o->center >= 0 && o->center <= (double) (g->channels - 1))) {
    lam_cli_usage_error (error, _ ("--center %s: the detector has channels 0 to %" G_GINT64_FORMAT),
                         lam_cli_number (o->center), g->channels - 1);
    return FALSE;
  }
  lam_geometry_set_center (g, o->center);
  lam_scan_center_given (scan, "--center");
  return TRUE;
}

gboolean
lam_cli_check_devices (const char *spec, GError **error)
{
  g_autoptr (LamDevices) set = lam_devices_new (spec, error);
  if (!set && error && g_error_matches (*error, LAM_ERROR, LAM_ERROR_INVALID))
    lam_cli_to_usage (error);
  return set != NULL;
}

static gboolean
read_prepare (LamCliRecon *o, GError **error)
{
  double degrees = 0;
  LamPrepareParams *k = &o->prepare;
  lam_prepare_params_init (k);
  if (!lam_cli_range ("--slices", slices, &o->slices, error) || !lam_cli_int ("--bin", bin, 1, 64, &k->bin, error)
      || !lam_cli_double ("--tilt", tilt, -45, 45, &degrees, error))
    return FALSE;
  if ((defects && !lam_defect_policy_from_name (defects, &k->transmission.policy, error))
      || (weights && !lam_prepare_weights_from_name (weights, k, error)))
    return lam_cli_to_usage (error);
  k->tilt = degrees * G_PI / 180;
  return lam_cli_correct_options (k, error);
}

static gboolean
read_neighbours (LamReconParams *k, GError **error)
{
  if (!neighbours)
    return TRUE;
  g_auto (GStrv) parts = g_strsplit (neighbours, ",", -1);
  double sum = 0;
  gboolean ok = g_strv_length (parts) == 3;
  for (int i = 0; i < 3 && ok; i++) {
    ok = lam_cli_double ("--neighbours", parts[i], 0, 1e6, &k->neighbours[i], NULL);
    sum += k->neighbours[i];
  }
  if (!ok || sum <= 0)
    lam_cli_usage_error (error,
                         _ ("--neighbours %s: three weights from 0 were expected, one of them above 0, such as "
                            "1,1,0.5"),
                         neighbours);
  return ok && sum > 0;
}

/* Ranges that the engine does not know or names less well; the rest is checked there. */
static gboolean
read_numbers (LamReconParams *k, GError **error)
{
  int64_t number = 0;
  if (!lam_cli_int ("--iterations", iterations, 1, 100000, &k->iterations, error)
      || !lam_cli_double ("--stop-threshold", stop, 0, 100, &k->stop_percent, error)
      || !lam_cli_double ("--sharpness", sharpness, -20, 20, &k->sharpness, error)
      || !lam_cli_double ("--snr-db", snr, -20, 120, &k->snr_db, error)
      || !lam_cli_length ("--sigma-y", sigma_y, FALSE, &k->sigma_y, error)
      || !lam_cli_length ("--sigma-x", sigma_x, FALSE, &k->sigma_x, error)
      || !lam_cli_double ("--p", p, 1, 2, &k->p, error) || !lam_cli_double ("--q", q, 1, 2, &k->q, error)
      || !lam_cli_double ("--T", t, 1e-6, 1e6, &k->t, error) || !read_neighbours (k, error)
      || !lam_cli_int ("--seed", seed, 0, INT64_MAX, &number, error))
    return FALSE;
  if (k->q > k->p) {
    if (q)
      lam_cli_usage_error (error, _ ("--q %s: must be at most --p, which is %s"), q, lam_cli_number (k->p));
    else
      lam_cli_usage_error (error, _ ("--p %s: must be at least --q, which is %s"), p, lam_cli_number (k->q));
    return FALSE;
  }
  k->seed = (uint64_t) number;
  k->positivity = positivity;
  k->damping = !no_damping;
  return TRUE;
}

static gboolean
read_start (LamCliRecon *o, GError **error)
{
  LamReconParams *k = &o->recon;
  o->center = NAN;
  o->center_auto = center && g_str_equal (center, "auto");
  if (center && !o->center_auto && !lam_cli_double ("--center", center, -1e6, 1e6, &o->center, error))
    return FALSE;
  if (init && (g_str_equal (init, "fbp") || g_str_equal (init, "fdk")))
    k->init = LAM_INIT_DIRECT;
  else if (init && g_str_equal (init, "zero"))
    k->init = LAM_INIT_ZERO;
  else if (init) {
    k->init = LAM_INIT_FILE;
    k->init_path = g_strdup (init);
  }
  o->checkpoint = checkpoint || resume;
  k->checkpoint = checkpoint && *checkpoint ? g_strdup (checkpoint) : NULL;
  k->resume = resume;
  k->other_state = k->checkpoint ? LAM_STATE_REFUSE : LAM_STATE_TELL;
  return TRUE;
}

/* What only the iterative method has is refused with another, never taken and forgotten. */
static gboolean
check_direct (const LamCliRecon *o, GError **error)
{
  static const char iterative[] = N_ ("iterations"), noise[] = N_ ("noise level"), prior[] = N_ ("prior"),
                    start[] = N_ ("start image"), state[] = N_ ("state to keep");
  const struct {
    const char *option;
    gboolean given;
    const char *what;
  } parts[] = {
      {"--iterations", iterations != NULL, iterative},
      {"--stop-threshold", stop != NULL, iterative},
      {"--sharpness", sharpness != NULL, prior},
      {"--snr-db", snr != NULL, noise},
      {"--sigma-y", sigma_y != NULL, noise},
      {"--sigma-x", sigma_x != NULL, prior},
      {"--p", p != NULL, prior},
      {"--q", q != NULL, prior},
      {"--T", t != NULL, prior},
      {"--neighbours", neighbours != NULL, prior},
      {"--positivity", positivity, N_ ("bound on its voxels")},
      {"--no-damping", no_damping, iterative},
      {"--seed", seed != NULL, N_ ("random order")},
      {"--init", init != NULL, start},
      {"--weights", weights != NULL, N_ ("weights")},
      {"--resume", resume, state},
      {"--checkpoint", checkpoint != NULL, state},
  };
  for (gsize i = 0; o->method != LAM_CLI_VCD && i < G_N_ELEMENTS (parts); i++)
    if (parts[i].given) {
      lam_cli_usage_error (error, _ ("%s: %s has no %s; leave it out or use --method vcd"), parts[i].option,
                           o->method == LAM_CLI_FBP ? "FBP" : "FDK", _ (parts[i].what));
      return FALSE;
    }
  return TRUE;
}

gboolean
lam_cli_recon_options (LamCliRecon *o, GError **error)
{
  static const char *const methods[] = {"fbp", "fdk", "vcd", NULL}, *const masks[] = {"ellipse", "none", NULL};
  int which = -1;
  *o = (LamCliRecon){.method = LAM_CLI_VCD};
  lam_recon_params_init (&o->recon);
  if (!lam_cli_choice ("--method", method, methods, &o->method, error) || !check_direct (o, error)
      || !lam_cli_choice ("--mask", mask, masks, &which, error) || !read_prepare (o, error)
      || !read_numbers (&o->recon, error) || !read_start (o, error) || !lam_cli_check_devices (devices, error))
    return FALSE;
  o->mask_set = which >= 0;
  o->mask = which == 1 ? LAM_MASK_NONE : LAM_MASK_ELLIPSE;
  o->recon.method = o->method == LAM_CLI_VCD ? LAM_METHOD_VCD : LAM_METHOD_DIRECT;
  o->recon.devices = g_strdup (devices);
  return TRUE;
}

gboolean
lam_cli_check_method (const LamCliRecon *o, LamGeometryKind kind, GError **error)
{
  if (o->method == LAM_CLI_VCD || (o->method == LAM_CLI_FDK) == (kind == LAM_GEOMETRY_CONE))
    return TRUE;
  lam_cli_usage_error (error, kind == LAM_GEOMETRY_CONE
                                  ? _ ("--method fbp is for parallel beam and this scan is cone beam: use fdk or vcd")
                                  : _ ("--method fdk is for cone beam and this scan is parallel beam: use fbp or vcd"));
  return FALSE;
}

gboolean
lam_cli_cut_slices (LamGeometry *g, LamRange range, GError **error)
{
  if (lam_range_size (range) == 0 || g->kind != LAM_GEOMETRY_CONE)
    return TRUE;
  if (range.end > g->recon_slices) {
    lam_cli_usage_error (
        error, _ ("--slices %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT ": the volume has slices 0:%" G_GINT64_FORMAT),
        range.begin, range.end, g->recon_slices);
    return FALSE;
  }
  double middle = 0.5 * (double) (range.begin + range.end - 1), was = 0.5 * (double) (g->recon_slices - 1);
  g->slice_offset += (middle - was) * g->voxel_pitch * g->slice_aspect;
  g->recon_slices = lam_range_size (range);
  return TRUE;
}
