#include "config.h"

#include "cli/render-sequence.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/mr-options.h"
#include "cli/picture.h"
#include "cli/progress.h"
#include "cli/spins.h"
#include "core/error.h"
#include "core/memory.h"
#include "draw/signal.h"
#include "draw/timeline.h"
#include "io/pulseq-read.h"
#include "mr/bloch.h"
#include "mr/presets.h"
#include "mr/pulseq-window.h"
#include "mr/signal-window.h"

#define LEAST_SIDE 64
#define MOST_SIDE 16384
/* Below the events, when there is a signal. */
#define SIGNAL_SHARE 0.45

static char *size_text, *from_text, *to_text, *part_text;
static gboolean no_signal;

const GOptionEntry lam_cli_render_sequence_entries[] = {
    {"size", 0, 0, G_OPTION_ARG_STRING, &size_text, N_ ("Sequence: pixels of the picture (1200x800)"), "WxH"},
    {"from", 0, 0, G_OPTION_ARG_STRING, &from_text, N_ ("Sequence: from this time on, s (0)"), "S"},
    {"to", 0, 0, G_OPTION_ARG_STRING, &to_text, N_ ("Sequence: up to this time, s (its end)"), "S"},
    {"part", 0, 0, G_OPTION_ARG_STRING, &part_text,
     N_ ("Sequence: of the signal: magnitude (default), phase, real or imaginary"), "PART"},
    {"no-signal", 0, 0, G_OPTION_ARG_NONE, &no_signal, N_ ("Sequence: events only"), NULL},
    {NULL},
};

gboolean
lam_cli_render_sequence_given (void)
{
  return size_text || from_text || to_text || part_text || no_signal;
}

/* What is to be drawn. */
typedef struct {
  int64_t width, height;
  int64_t t0, t1; /* ps */
  LamSignalPart part;
  LamPulseqTiming *timing;
  /* The signal; re NULL: none. */
  LamTissues *tissues;
  GStrv labels;
  LamCliSpins spins; /* of its voxels: tissues at positions */
  int64_t first, samples;
  int64_t *ps;
  float *re, *im;
} Job;

static void
clear_job (Job *j)
{
  lam_pulseq_timing_unref (j->timing);
  g_clear_pointer (&j->tissues, lam_tissues_unref);
  g_strfreev (j->labels);
  lam_cli_spins_clear (&j->spins);
  lam_free (j->ps);
  lam_free (j->re);
  lam_free (j->im);
}

static gboolean
read_size (Job *j, GError **error)
{
  j->width = 1200;
  j->height = 800;
  if (!size_text)
    return TRUE;
  g_auto (GStrv) parts = g_strsplit (size_text, "x", -1);
  if (g_strv_length (parts) != 2) {
    lam_cli_usage_error (error, _ ("--size %s: expected WIDTHxHEIGHT, such as 1200x800"), size_text);
    return FALSE;
  }
  return lam_cli_int ("--size", parts[0], LEAST_SIDE, MOST_SIDE, &j->width, error)
         && lam_cli_int ("--size", parts[1], LEAST_SIDE, MOST_SIDE, &j->height, error);
}

static gboolean
read_range (Job *j, GError **error)
{
  int64_t end = lam_pulseq_timing_duration (j->timing);
  double from = 0, to = (double) end * 1e-12;
  if (!lam_cli_double ("--from", from_text, 0, to, &from, error)
      || !lam_cli_double ("--to", to_text, 0, 1e7, &to, error))
    return FALSE;
  j->t0 = (int64_t) rint (from * 1e12);
  j->t1 = to_text ? (int64_t) rint (to * 1e12) : end;
  if (j->t1 <= j->t0 && end > 0) {
    lam_cli_usage_error (error, _ ("--from %s --to %s: the end must be after the start"), lam_cli_number (from),
                         lam_cli_number (to));
    return FALSE;
  }
  j->t1 = LAM_MAX (j->t1, j->t0 + 1);
  return TRUE;
}

/* What was asked for, else what the window begins with. */
static gboolean
choose_tissues (Job *j, GError **error)
{
  static const char *const usual[] = {"white matter@3", "grey matter@3", "blood@3"};
  double t1[G_N_ELEMENTS (usual)], t2[G_N_ELEMENTS (usual)];
  if (lam_mr_tissues_given ())
    return (j->tissues = lam_mr_tissues (&j->labels, error)) != NULL;
  j->labels = g_new0 (char *, G_N_ELEMENTS (usual) + 1);
  for (guint i = 0; i < G_N_ELEMENTS (usual); i++) {
    const LamTissuePreset *p = lam_tissue_preset (usual[i]);
    t1[i] = p->t1;
    t2[i] = p->t2;
    j->labels[i] = g_strndup (usual[i], strcspn (usual[i], "@"));
  }
  j->tissues = lam_tissues_new (G_N_ELEMENTS (usual));
  return lam_tissues_set (j->tissues, "T1", t1, G_N_ELEMENTS (usual), error)
         && lam_tissues_set (j->tissues, "T2", t2, G_N_ELEMENTS (usual), error);
}

/* The samples of the range: which, and when. */
static gboolean
find_samples (Job *j, GError **error)
{
  const LamPulseqTiming *t = j->timing;
  int64_t b = 0, blocks = t->seq->blocks;
  for (; b < blocks && t->start[b + 1] < j->t0; b++)
    j->first += t->seq->event[LAM_PULSEQ_ADC][b] > 0 ? t->seq->adc[t->seq->event[LAM_PULSEQ_ADC][b] - 1].samples : 0;
  for (; b < blocks && t->start[b] <= j->t1; b++)
    j->samples += t->seq->event[LAM_PULSEQ_ADC][b] > 0 ? t->seq->adc[t->seq->event[LAM_PULSEQ_ADC][b] - 1].samples : 0;
  if (j->samples == 0)
    return TRUE;
  return (j->ps = lam_alloc_n (j->samples, sizeof *j->ps, "times of the samples", error)) != NULL
         && lam_pulseq_kspace (t, j->first, j->samples, NULL, j->ps, error);
}

static gboolean
simulate (Job *j, GError **error)
{
  if (!choose_tissues (j, error) || !find_samples (j, error))
    return FALSE;
  if (j->samples == 0)
    return TRUE;
  if (!lam_cli_spins_read (&j->spins, j->tissues, j->labels, error))
    return FALSE;
  LamBlochParams *params = &j->spins.params;
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", error);
  params->first = j->first;
  params->count = j->samples;
  g_autoptr (LamBloch) b = set ? lam_bloch_new (j->timing, params, set, error) : NULL;
  int64_t all = lam_mul_size (params->voxels, j->samples);
  return b && (j->re = lam_alloc_n (all, sizeof *j->re, "signal", error))
         && (j->im = lam_alloc_n (all, sizeof *j->im, "signal", error))
         && lam_bloch_run (b, j->re, j->im, lam_cli_control (), error);
}

/* Eight that colour-blind eyes can tell apart, as in the window. */
static const double inks[][3] = {{0.11, 0.44, 0.85}, {0.85, 0.34, 0.05}, {0.07, 0.52, 0.37}, {0.64, 0.28, 0.56},
                                 {0.54, 0.43, 0},    {0.17, 0.56, 0.79}, {0.42, 0.42, 0.42}, {0.70, 0.15, 0.12}};

static void
draw_signal (cairo_t *cr, const LamCanvas *canvas, const Job *j, double top)
{
  static const char *const titles[] = {N_ ("signal, magnitude"), N_ ("signal, phase in degrees"), N_ ("signal, real"),
                                       N_ ("signal, imaginary")};
  int n = (int) LAM_MIN (j->spins.params.voxels, 64);
  int64_t columns = LAM_MAX (j->width - LAM_TIMELINE_LEFT - LAM_TIMELINE_RIGHT, 1),
          room = lam_signal_window_room (columns);
  LamSignalCurve *curves = g_new0 (LamSignalCurve, n);
  double *x = g_new (double, room), *y = g_new (double, n *room);
  int64_t points = lam_signal_window (j->ps, j->re, j->im, n, j->samples, j->part, j->t0, j->t1, columns, x, y);
  for (int v = 0; v < n; v++) {
    curves[v] = (LamSignalCurve){.name = j->spins.labels[v], .x = x, .y = y + v * room, .n = points};
    memcpy (curves[v].ink, inks[v % G_N_ELEMENTS (inks)], sizeof curves[v].ink);
  }
  lam_signal_draw (cr, canvas, LAM_TIMELINE_LEFT, top, (double) j->width - LAM_TIMELINE_RIGHT, (double) j->height - 14,
                   (double) j->t0 * 1e-12, (double) j->t1 * 1e-12, _ (titles[j->part]), curves, n);
  g_free (curves);
  g_free (x);
  g_free (y);
}

static gboolean
draw (Job *j, const char *output, GError **error)
{
  double width = (double) j->width, height = (double) j->height, events = height - 8;
  LamCanvas canvas = lam_canvas_paper ();
  LamTimelineLayout layout;
  if (j->re)
    events = floor (events * (1 - SIGNAL_SHARE));
  lam_timeline_layout (width, events, &layout);
  int64_t columns = LAM_MAX ((int64_t) (layout.right - layout.left), 1);
  g_autoptr (LamPulseqWindow) w =
      lam_pulseq_window_new (j->timing, j->t0, (j->t1 - j->t0 + columns - 1) / columns, columns, NULL, error);
  g_autoptr (GArray) instants = w ? lam_pulseq_instants (j->timing, j->t0, j->t1, 64, error) : NULL;
  if (!instants)
    return FALSE;
  cairo_surface_t *surface = lam_cli_picture_new (j->width, j->height, error);
  if (!surface)
    return FALSE;
  LamTimelinePicture p = {.t0 = j->t0, .t1 = j->t1, .window = w, .instants = instants};
  cairo_t *cr = cairo_create (surface);
  lam_pulseq_largest (j->timing, &p.rf, &p.gradient);
  cairo_translate (cr, 0, 8);
  lam_timeline_draw (cr, &canvas, &layout, &p);
  cairo_translate (cr, 0, -8);
  if (j->re)
    draw_signal (cr, &canvas, j, events + 40);
  cairo_destroy (cr);
  gboolean ok = lam_cli_picture_write (surface, output, error);
  cairo_surface_destroy (surface);
  return ok;
}

static void
report (const Job *j, const char *output)
{
  double from = (double) j->t0 * 1e-12, to = (double) j->t1 * 1e-12;
  int64_t voxels = j->re ? j->spins.params.voxels : 0;
  lam_cli_print (_ ("%s: %s to %s s of %s, %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " pixels"), output,
                 lam_cli_format ("%.9g", from), lam_cli_format ("%.9g", to), j->timing->seq->path, j->width, j->height);
  if (j->re)
    lam_cli_print (_ ("signal of %" G_GINT64_FORMAT " tissues by Bloch's equations, %" G_GINT64_FORMAT " samples"),
                   voxels, j->samples);
  if (j->re)
    lam_cli_spins_say (&j->spins);
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("result");
  lam_json_text (b, "output", output);
  lam_json_text (b, "picture", "sequence");
  lam_json_int (b, "width", j->width);
  lam_json_int (b, "height", j->height);
  lam_json_number (b, "from_s", from);
  lam_json_number (b, "to_s", to);
  lam_json_int (b, "tissues", voxels);
  lam_json_int (b, "samples", j->re ? j->samples : 0);
  lam_json_int (b, "spins", j->re ? MAX (j->spins.params.spins, 1) : 0);
  lam_json_text (b, "model", j->re ? "bloch" : NULL);
  lam_json_print (b);
}

int
lam_cli_render_sequence (const char *path, const char *output)
{
  static const char *const parts[] = {"magnitude", "phase", "real", "imaginary", NULL};
  g_autoptr (GError) error = NULL;
  int part = 0;
  Job j = {0};
  gboolean ok = read_size (&j, &error) && lam_cli_choice ("--part", part_text, parts, &part, &error);
  j.part = (LamSignalPart) part;
  if (ok && no_signal && (lam_mr_tissues_given () || part_text || lam_cli_spins_given ())) {
    lam_cli_usage_error (&error, _ ("--no-signal goes without --tissue, --preset, --part and %s"),
                         lam_cli_spins_given () ? lam_cli_spins_given () : "--spins");
    ok = FALSE;
  }
  g_autoptr (LamPulseq) seq = ok ? lam_pulseq_open (path, lam_cli_io (), &error) : NULL;
  ok = seq && (j.timing = lam_pulseq_timing_new (seq, &error)) && read_range (&j, &error);
  if (ok && !no_signal && !simulate (&j, &error)) {
    /* A file that cannot be simulated can be looked at. */
    ok = g_error_matches (error, LAM_ERROR, LAM_ERROR_MISSING) && !lam_mr_tissues_given () && !lam_cli_spins_given ();
    if (ok)
      lam_cli_warn (_ ("without its signal: %s"), error->message);
    g_clear_pointer (&j.re, lam_free);
    if (ok)
      g_clear_error (&error);
  }
  ok = ok && draw (&j, output, &error);
  if (ok)
    report (&j, output);
  clear_job (&j);
  return ok ? LAM_EXIT_DONE : lam_cli_fail (error);
}
