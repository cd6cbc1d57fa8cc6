#include "config.h"

#include "cli/pulseq.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "core/error.h"
#include "io/pulseq-read.h"
#include "io/pulseq-write.h"
#include "mr/pulseq-timing.h"
#include "mr/pulseq-window.h"

/* Pulses of one use and flip, and how often they play. */
typedef struct {
  LamPulseqUse use;
  double degrees;
  int64_t count;
} Flip;

static int
compare_flips (gconstpointer a, gconstpointer b)
{
  const Flip *x = a, *y = b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                              : (x->degrees > y->degrees) - (x->degrees < y->degrees);
}

/* Flips to a hundredth of a degree, the most frequent first. */
static GArray *
find_flips (const LamPulseqTiming *t)
{
  const LamPulseq *s = t->seq;
  GArray *flips = g_array_new (FALSE, FALSE, sizeof (Flip));
  g_autofree int64_t *plays = g_new0 (int64_t, LAM_MAX (s->rfs, 1));
  g_autoptr (GHashTable) rows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int64_t b = 0; b < s->blocks; b++)
    if (s->event[LAM_PULSEQ_RF][b] > 0)
      plays[s->event[LAM_PULSEQ_RF][b] - 1]++;
  for (int64_t i = 0; i < s->rfs; i++) {
    Flip f = {s->rf[i].use, t->rf[i].flip * 180 / G_PI, plays[i]};
    if (f.count == 0)
      continue;
    g_autofree char *key = g_strdup_printf ("%d %.0f", f.use, f.degrees * 100);
    gpointer row = g_hash_table_lookup (rows, key);
    if (row)
      g_array_index (flips, Flip, GPOINTER_TO_UINT (row) - 1).count += f.count;
    else {
      g_array_append_val (flips, f);
      g_hash_table_insert (rows, g_steal_pointer (&key), GUINT_TO_POINTER (flips->len));
    }
  }
  g_array_sort (flips, compare_flips);
  return flips;
}

/* ---- intervals, as the window's rulers measure them ---- */

/* Blocks that are looked at. */
#define MOST_BLOCKS 20000

typedef struct {
  int64_t n, usual, times; /* how many; the most frequent, ps, and how often */
  int64_t least, most;     /* ps */
} Interval;

static int
compare_times (gconstpointer a, gconstpointer b)
{
  int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
  return (x > y) - (x < y);
}

static void
summarise (GArray *lengths, Interval *out)
{
  *out = (Interval){.n = lengths->len};
  g_array_sort (lengths, compare_times);
  int64_t *x = (int64_t *) (void *) lengths->data;
  for (int64_t i = 0, run = 0; i < out->n; i++) {
    run = i > 0 && x[i] == x[i - 1] ? run + 1 : 1;
    if (run > out->times) {
      out->times = run;
      out->usual = x[i];
    }
  }
  out->least = out->n ? x[0] : 0;
  out->most = out->n ? x[out->n - 1] : 0;
}

/* TR, TE and echo spacing to a microsecond; n is 0 where there is none. FALSE: they could not be looked for. */
static gboolean
find_intervals (const LamPulseqTiming *t, Interval intervals[3])
{
  int64_t blocks = LAM_MIN (t->seq->blocks, MOST_BLOCKS);
  memset (intervals, 0, 3 * sizeof *intervals);
  g_autoptr (GArray) instants = lam_pulseq_instants (t, 0, t->start[blocks], 4 * MOST_BLOCKS, NULL);
  g_autoptr (GArray) rulers = instants ? lam_pulseq_rulers (instants) : NULL;
  for (int kind = LAM_PULSEQ_TR; rulers && kind <= LAM_PULSEQ_ESP; kind++) {
    g_autoptr (GArray) lengths = g_array_new (FALSE, FALSE, sizeof (int64_t));
    for (guint i = 0; i < rulers->len; i++) {
      const LamPulseqRuler *r = &g_array_index (rulers, LamPulseqRuler, i);
      int64_t us = (r->to - r->from + 500000) / 1000000 * 1000000;
      if ((int) r->kind == kind)
        g_array_append_val (lengths, us);
    }
    summarise (lengths, &intervals[kind]);
  }
  return rulers != NULL;
}

static void
print_intervals (const LamPulseqTiming *t, const Interval intervals[3])
{
  static const char *const names[] = {N_ ("TR"), N_ ("TE (to the first echo)"), N_ ("echo spacing (ESP)")};
  for (int i = 0; i < 3; i++) {
    const Interval *x = &intervals[i];
    const char *usual = lam_cli_format ("%.9g", 1e-9 * (double) x->usual);
    if (x->n > 0 && x->least == x->most)
      lam_cli_print (_ ("%s: %s ms, %" G_GINT64_FORMAT " times"), _ (names[i]), usual, x->n);
    else if (x->n > 0)
      lam_cli_print (_ ("%s: %s to %s ms, most often %s ms (%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " times)"),
                     _ (names[i]), lam_cli_format ("%.9g", 1e-9 * (double) x->least),
                     lam_cli_format ("%.9g", 1e-9 * (double) x->most), usual, x->times, x->n);
  }
  if (t->seq->blocks > MOST_BLOCKS)
    lam_cli_print (_ ("these are of the first %d blocks"), MOST_BLOCKS);
}

static void
json_intervals (JsonBuilder *b, const Interval intervals[3])
{
  static const char *const names[] = {"tr", "te", "esp"};
  for (int i = 0; i < 3; i++) {
    const Interval *x = &intervals[i];
    if (x->n == 0) {
      lam_json_text (b, names[i], NULL);
      continue;
    }
    lam_json_open (b, names[i]);
    lam_json_number (b, "usual_s", 1e-12 * (double) x->usual);
    lam_json_number (b, "least_s", 1e-12 * (double) x->least);
    lam_json_number (b, "most_s", 1e-12 * (double) x->most);
    lam_json_int (b, "count", x->n);
    lam_json_close (b);
  }
}

static const char *
severity_name (LamPulseqSeverity severity)
{
  static const char *const names[] = {N_ ("note"), N_ ("warning"), N_ ("error")};
  return names[severity];
}

/* "line 14, column 8: ", or nothing. g_free (). */
static char *
place_text (const LamPulseq *s, const LamPulseqProblem *p)
{
  return p->line == 0 ? g_strdup ("")
         : s->binary  ? g_strdup_printf (_ ("byte %" G_GINT64_FORMAT ": "), p->line)
         : p->column
             ? g_strdup_printf (_ ("line %" G_GINT64_FORMAT ", column %" G_GINT64_FORMAT ": "), p->line, p->column)
             : g_strdup_printf (_ ("line %" G_GINT64_FORMAT ": "), p->line);
}

static void
print_all (const LamPulseqTiming *t, const GArray *flips)
{
  const LamPulseq *s = t->seq;
  lam_cli_print (_ ("%s: Pulseq %d.%d.%d, %s"), s->path, s->major, s->minor, s->revision,
                 s->binary ? _ ("binary") : _ ("text"));
  lam_cli_print (_ ("signature: %s"), _ (lam_pulseq_signature_name (s->signature)));
  lam_cli_print (_ ("blocks: %" G_GINT64_FORMAT ", duration: %s s"), s->blocks,
                 lam_cli_format ("%.9g", (double) lam_pulseq_timing_duration (t) * 1e-12));
  lam_cli_print (_ ("readouts: %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " samples"), t->readouts, t->samples);
  lam_cli_print (_ ("pulses: %" G_GINT64_FORMAT), t->pulses);
  for (guint i = 0; i < flips->len && i < 12; i++) {
    const Flip *f = &g_array_index (flips, Flip, i);
    lam_cli_print (_ ("  %" G_GINT64_FORMAT " of %s degrees, %s"), f->count,
                   lam_cli_format (fabs (f->degrees) < 1e6 ? "%.2f" : "%.4g", f->degrees),
                   _ (lam_pulseq_use_name (f->use)));
  }
  if (flips->len > 12)
    lam_cli_print (_ ("  and %u other flips"), flips->len - 12);
  Interval intervals[3];
  if (find_intervals (t, intervals))
    print_intervals (t, intervals);
  lam_cli_print (_ ("events: %" G_GINT64_FORMAT " RF, %" G_GINT64_FORMAT " gradients, %" G_GINT64_FORMAT
                    " ADC, %" G_GINT64_FORMAT " shapes"),
                 s->rfs, s->gradients, s->adcs, s->shapes);
  for (guint i = 0; i < s->extensions->len; i++) {
    const LamPulseqExtension *x = s->extensions->pdata[i];
    lam_cli_print (_ ("extension: %s, %" G_GINT64_FORMAT " objects%s"), x->name, x->rows,
                   x->kind == LAM_PULSEQ_EXT_UNKNOWN ? _ (" (not known)") : "");
  }
  lam_cli_print (_ ("definitions:"));
  for (guint i = 0; i < s->definitions->len; i++) {
    const LamPulseqDefinition *d = s->definitions->pdata[i];
    lam_cli_print ("  %s %.200s", d->key, d->value);
  }
  for (guint i = 0; i < s->problems->len; i++) {
    const LamPulseqProblem *p = s->problems->pdata[i];
    g_autofree char *where = place_text (s, p);
    lam_cli_print ("%s: %s%s%s%s", _ (severity_name (p->severity)), where, p->text, p->assumed ? _ ("; assumed: ") : "",
                   p->assumed ? p->assumed : "");
  }
}

static void
print_json (const LamPulseqTiming *t, const GArray *flips)
{
  const LamPulseq *s = t->seq;
  g_autofree char *version = g_strdup_printf ("%d.%d.%d", s->major, s->minor, s->revision);
  JsonBuilder *b = lam_json_begin ();
  lam_json_text (b, "file", s->path);
  lam_json_text (b, "type", "sequence");
  lam_json_text (b, "format", s->binary ? "pulseq-binary" : "pulseq");
  lam_json_text (b, "version", version);
  lam_json_text (b, "signature", lam_pulseq_signature_name (s->signature));
  lam_json_text (b, "hash", s->signature_hash);
  lam_json_int (b, "blocks", s->blocks);
  lam_json_number (b, "duration_s", (double) lam_pulseq_timing_duration (t) * 1e-12);
  lam_json_int (b, "pulses", t->pulses);
  lam_json_int (b, "readouts", t->readouts);
  lam_json_int (b, "samples", t->samples);
  lam_json_open_array (b, "flips");
  for (guint i = 0; i < flips->len; i++) {
    const Flip *f = &g_array_index (flips, Flip, i);
    lam_json_open (b, NULL);
    lam_json_text (b, "use", lam_pulseq_use_name (f->use));
    lam_json_number (b, "degrees", f->degrees);
    lam_json_int (b, "count", f->count);
    lam_json_close (b);
  }
  lam_json_close_array (b);
  Interval intervals[3];
  find_intervals (t, intervals);
  json_intervals (b, intervals);
  lam_json_int (b, "rf_events", s->rfs);
  lam_json_int (b, "gradient_events", s->gradients);
  lam_json_int (b, "adc_events", s->adcs);
  lam_json_int (b, "shapes", s->shapes);
  lam_json_open_array (b, "extensions");
  for (guint i = 0; i < s->extensions->len; i++)
    lam_json_text (b, NULL, ((LamPulseqExtension *) s->extensions->pdata[i])->name);
  lam_json_close_array (b);
  lam_json_open (b, "definitions");
  for (guint i = 0; i < s->definitions->len; i++) {
    const LamPulseqDefinition *d = s->definitions->pdata[i];
    lam_json_text (b, d->key, d->value);
  }
  lam_json_close (b);
  lam_json_open_array (b, "problems");
  for (guint i = 0; i < s->problems->len; i++) {
    const LamPulseqProblem *p = s->problems->pdata[i];
    lam_json_open (b, NULL);
    lam_json_text (b, "severity", severity_name (p->severity));
    lam_json_int (b, s->binary ? "byte" : "line", p->line);
    if (!s->binary)
      lam_json_int (b, "column", p->column);
    lam_json_text (b, "text", p->text);
    lam_json_text (b, "assumed", p->assumed);
    lam_json_close (b);
  }
  lam_json_close_array (b);
  lam_json_print (b);
}

gboolean
lam_cli_pulseq_is (const char *path)
{
  g_autofree char *lower = g_ascii_strdown (path, -1);
  return g_file_test (path, G_FILE_TEST_IS_REGULAR) && (g_str_has_suffix (lower, ".seq") || lam_pulseq_file_is (path));
}

int
lam_cli_show_pulseq (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamPulseq) s = lam_pulseq_open (path, lam_cli_io (), &error);
  g_autoptr (LamPulseqTiming) t = s ? lam_pulseq_timing_new (s, &error) : NULL;
  if (!t)
    return lam_cli_fail (error);
  g_autoptr (GArray) flips = find_flips (t);
  if (lam_cli_json)
    print_json (t, flips);
  else
    print_all (t, flips);
  return LAM_EXIT_DONE;
}

gboolean
lam_cli_convert_pulseq (const char *in, const char *out, int minor, GError **error)
{
  static const char *const suffixes[] = {".seq", NULL};
  if (!lam_cli_suffix (out, _ ("a Pulseq file is written as text"), suffixes, error))
    return FALSE;
  g_autoptr (LamPulseq) s = lam_pulseq_open (in, lam_cli_io (), error);
  g_autoptr (GPtrArray) told = NULL;
  g_autofree char *hash = NULL;
  if (!s)
    return FALSE;
  if (minor == 0)
    minor = LAM_CLAMP (s->minor, 4, 5);
  for (guint i = 0; i < s->problems->len; i++) {
    const LamPulseqProblem *p = s->problems->pdata[i];
    g_autofree char *where = place_text (s, p);
    if (p->severity == LAM_PULSEQ_ERROR)
      lam_cli_warn ("%s: %s%s%s%s", in, where, p->text, p->assumed ? _ ("; assumed: ") : "",
                    p->assumed ? p->assumed : "");
    else if (p->assumed) /* what stands in the new file, and not in the old one */
      lam_cli_print (_ ("%s: %s; assumed: %s"), in, p->text, p->assumed);
  }
  if (!lam_pulseq_write (s, out, minor, LAM_PULSEQ_SIGN, lam_cli_io (), &told, &hash, error))
    return FALSE;
  for (guint i = 0; i < told->len; i++)
    lam_cli_print (_ ("changed: %s"), (const char *) told->pdata[i]);
  lam_cli_print (_ ("%s: Pulseq 1.%d, %" G_GINT64_FORMAT " blocks, signature %s"), out, minor, s->blocks, hash);
  if (lam_cli_json) {
    g_autofree char *version = g_strdup_printf ("1.%d", minor);
    JsonBuilder *b = lam_json_event ("result");
    lam_json_text (b, "output", out);
    lam_json_text (b, "type", "sequence");
    lam_json_text (b, "version", version);
    lam_json_int (b, "blocks", s->blocks);
    lam_json_text (b, "hash", hash);
    lam_json_open_array (b, "assumed");
    for (guint i = 0; i < s->problems->len; i++) {
      const LamPulseqProblem *p = s->problems->pdata[i];
      g_autofree char *text = p->assumed ? g_strdup_printf ("%s; assumed: %s", p->text, p->assumed) : NULL;
      if (text)
        lam_json_text (b, NULL, text);
    }
    lam_json_close_array (b);
    lam_json_open_array (b, "changed");
    for (guint i = 0; i < told->len; i++)
      lam_json_text (b, NULL, told->pdata[i]);
    lam_json_close_array (b);
    lam_json_print (b);
  }
  return TRUE;
}
