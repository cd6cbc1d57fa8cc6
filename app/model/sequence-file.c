#include "config.h"

#include "model/sequence-file.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "io/file.h"
#include "io/pulseq-read.h"
#include "model/facts.h"
#include "mr/pulseq-window.h"

/* Samples of one event from which on it counts as long. */
#define LONG_EVENT 50000

/* ---- labels ---- */

/* Ids to rows + 1. */
static GHashTable *
index_links (const LamPulseq *s)
{
  GHashTable *rows = g_hash_table_new (NULL, NULL);
  for (int64_t i = 0; i < s->links; i++)
    g_hash_table_insert (rows, GINT_TO_POINTER (s->link[i].id), GSIZE_TO_POINTER (i + 1));
  return rows;
}

/* The objects that set or raise labels: extension and id to row. */
static gpointer
object_key (int32_t type, int32_t id)
{
  return GSIZE_TO_POINTER ((gsize) (guint32) type << 32 | (guint32) id);
}

static GHashTable *
index_objects (const LamPulseq *s)
{
  GHashTable *objects = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < s->extensions->len; i++) {
    const LamPulseqExtension *x = s->extensions->pdata[i];
    for (int64_t r = 0; (x->kind == LAM_PULSEQ_EXT_LABELSET || x->kind == LAM_PULSEQ_EXT_LABELINC) && r < x->rows; r++)
      g_hash_table_insert (objects, object_key (x->type, x->row[r].id), &x->row[r]);
  }
  return objects;
}

static gboolean
raises (const LamPulseq *s, int32_t type)
{
  for (guint i = 0; i < s->extensions->len; i++) {
    const LamPulseqExtension *x = s->extensions->pdata[i];
    if (x->type == type)
      return x->kind == LAM_PULSEQ_EXT_LABELINC;
  }
  return FALSE;
}

static int
find_label (char **labels, const char *name)
{
  for (int i = 0; labels[i]; i++)
    if (strcmp (labels[i], name) == 0)
      return i;
  return -1;
}

/* What the block does to the labels; it holds from the block on. */
static void
apply_labels (const LamSequenceFile *self, int64_t block, int64_t *value)
{
  const LamPulseq *s = lam_sequence_file_seq (self);
  int32_t ext = s->event[LAM_PULSEQ_EXT][block];
  for (int64_t at = ext, steps = 0; at > 0 && steps <= s->links; steps++) {
    const LamPulseqLink *link = &s->link[at - 1];
    const LamPulseqExtensionRow *row = g_hash_table_lookup (self->objects, object_key (link->type, link->ref));
    int i = row && row->label.name ? find_label (self->labels, row->label.name) : -1;
    if (i >= 0)
      value[i] = raises (s, link->type) ? value[i] + row->label.value : row->label.value;
    at = (int64_t) GPOINTER_TO_SIZE (g_hash_table_lookup (self->links, GINT_TO_POINTER (link->next)));
  }
}

/* Values of all labels from time to time, so that none is counted from the start. */
static gboolean
mark_labels (LamSequenceFile *self, GError **error)
{
  const LamPulseq *s = lam_sequence_file_seq (self);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; i < s->extensions->len; i++) {
    const LamPulseqExtension *x = s->extensions->pdata[i];
    for (int64_t r = 0; (x->kind == LAM_PULSEQ_EXT_LABELSET || x->kind == LAM_PULSEQ_EXT_LABELINC) && r < x->rows; r++)
      if (x->row[r].label.name && !g_ptr_array_find_with_equal_func (names, x->row[r].label.name, g_str_equal, NULL))
        g_ptr_array_add (names, g_strdup (x->row[r].label.name));
  }
  int64_t n = names->len, marks = s->blocks / LAM_PULSEQ_STRIDE + 1;
  g_ptr_array_add (names, NULL);
  self->labels = (char **) g_ptr_array_steal (names, NULL);
  if (n == 0)
    return TRUE;
  if (!(self->label = lam_alloc_n (n * marks, sizeof *self->label, "labels", error)))
    return FALSE;
  self->links = index_links (s);
  self->objects = index_objects (s);
  g_autofree int64_t *value = g_new0 (int64_t, n);
  for (int64_t b = 0; b <= s->blocks; b++) {
    for (int64_t i = 0; b % LAM_PULSEQ_STRIDE == 0 && i < n; i++)
      self->label[i * marks + b / LAM_PULSEQ_STRIDE] = (int32_t) CLAMP (value[i], G_MININT32, G_MAXINT32);
    if (b < s->blocks)
      apply_labels (self, b, value);
  }
  return TRUE;
}

static void
describe_labels (const LamSequenceFile *self, int64_t block, GString *text)
{
  const LamPulseq *s = lam_sequence_file_seq (self);
  int64_t n = g_strv_length (self->labels), marks = s->blocks / LAM_PULSEQ_STRIDE + 1, mark = block / LAM_PULSEQ_STRIDE;
  g_autofree int64_t *value = g_new0 (int64_t, n + 1);
  for (int64_t i = 0; i < n; i++)
    value[i] = self->label[i * marks + mark];
  for (int64_t b = mark * LAM_PULSEQ_STRIDE; b <= block; b++)
    apply_labels (self, b, value);
  for (int64_t i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s %" G_GINT64_FORMAT, i ? " " : " · ", self->labels[i], value[i]);
}

/* ---- opening ---- */

static void
find_long (LamSequenceFile *self)
{
  const LamPulseq *s = lam_sequence_file_seq (self);
  for (int64_t i = 0; i < s->shapes; i++)
    self->long_events |= s->shape[i].samples > LONG_EVENT;
}

LamSequenceFile *
lam_sequence_file_open (const char *path, const LamIoControl *control, GError **error)
{
  g_autoptr (LamPulseq) seq = lam_pulseq_open (path, control, error);
  g_autoptr (LamPulseqTiming) timing = seq ? lam_pulseq_timing_new (seq, error) : NULL;
  g_autofree char *checksum = timing ? lam_file_checksum (path, error) : NULL;
  if (!checksum)
    return NULL;
  LamSequenceFile *self = g_new0 (LamSequenceFile, 1);
  g_atomic_ref_count_init (&self->refs);
  self->path = g_strdup (path);
  self->name = g_filename_display_basename (path);
  self->checksum = g_steal_pointer (&checksum);
  self->timing = g_steal_pointer (&timing);
  lam_pulseq_largest (self->timing, &self->rf, &self->gradient);
  find_long (self);
  if (!mark_labels (self, error))
    g_clear_pointer (&self, lam_sequence_file_unref);
  return self;
}

LamSequenceFile *
lam_sequence_file_ref (LamSequenceFile *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

void
lam_sequence_file_unref (LamSequenceFile *self)
{
  if (!self || !g_atomic_ref_count_dec (&self->refs))
    return;
  lam_pulseq_timing_unref (self->timing);
  g_strfreev (self->labels);
  lam_free (self->label);
  g_clear_pointer (&self->links, g_hash_table_unref);
  g_clear_pointer (&self->objects, g_hash_table_unref);
  g_free (self->path);
  g_free (self->name);
  g_free (self->checksum);
  g_free (self);
}

/* ---- what there is to say ---- */

int64_t
lam_sequence_file_block_name (const LamSequenceFile *self, int64_t block)
{
  const LamPulseq *s = lam_sequence_file_seq (self);
  return s->block_id ? s->block_id[block] : block + 1;
}

static void add (GPtrArray *facts, LamFactKind kind, const char *label, const char *note, const char *format, ...)
    G_GNUC_PRINTF (5, 6);

static void
add (GPtrArray *facts, LamFactKind kind, const char *label, const char *note, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *value = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (facts, lam_fact_new (kind, label, value, note));
}

/* Names of the extensions that play no part in what is drawn and simulated; NULL: none. */
static char *
not_simulated (const LamPulseq *s)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < s->extensions->len; i++) {
    const LamPulseqExtension *x = s->extensions->pdata[i];
    gboolean simulated =
        x->kind == LAM_PULSEQ_EXT_ROTATIONS || x->kind == LAM_PULSEQ_EXT_LABELSET || x->kind == LAM_PULSEQ_EXT_LABELINC;
    if (!simulated && x->rows > 0)
      g_string_append_printf (names, "%s%s", names->len ? ", " : "", x->name);
    else if (x->kind == LAM_PULSEQ_EXT_UNKNOWN)
      g_string_append_printf (names, "%s%s", names->len ? ", " : "", x->name);
  }
  return names->len ? g_string_free (g_steal_pointer (&names), FALSE) : NULL;
}

GPtrArray *
lam_sequence_file_facts (const LamSequenceFile *self)
{
  const LamPulseq *s = lam_sequence_file_seq (self);
  GPtrArray *facts = g_ptr_array_new_with_free_func (g_object_unref);
  double seconds = (double) lam_pulseq_timing_duration (self->timing) * 1e-12;
  int64_t assumed = lam_pulseq_problems (s, LAM_PULSEQ_NOTE);
  g_autofree char *left_out = not_simulated (s);
  const char *name = lam_pulseq_definition (s, "Name");
  add (facts, LAM_FACT_PLAIN, _ ("File"), NULL, "%s", self->name);
  if (name && *name)
    add (facts, LAM_FACT_PLAIN, _ ("Name"), NULL, "%.80s", name);
  add (facts, LAM_FACT_PLAIN, _ ("Pulseq"), NULL, "%d.%d.%d, %s", s->major, s->minor, s->revision,
       s->binary ? _ ("binary") : _ ("text"));
  add (facts, s->signature == LAM_PULSEQ_SIGNATURE_DIFFERS ? LAM_FACT_MISSING : LAM_FACT_PLAIN, _ ("Signature"),
       s->signature == LAM_PULSEQ_SIGNATURE_DIFFERS ? _ ("The file was changed after it was signed.") : NULL, "%s",
       _ (lam_pulseq_signature_name (s->signature)));
  add (facts, LAM_FACT_PLAIN, _ ("Blocks"), NULL, "%" G_GINT64_FORMAT, s->blocks);
  add (facts, LAM_FACT_PLAIN, _ ("Duration"), NULL, seconds >= 1 ? _ ("%.4g s") : _ ("%.4g ms"),
       seconds >= 1 ? seconds : seconds * 1e3);
  add (facts, LAM_FACT_PLAIN, _ ("Pulses"), NULL, "%" G_GINT64_FORMAT, self->timing->pulses);
  add (facts, LAM_FACT_PLAIN, _ ("Readouts"), NULL, "%" G_GINT64_FORMAT, self->timing->readouts);
  add (facts, LAM_FACT_PLAIN, _ ("Samples"), NULL, "%" G_GINT64_FORMAT, self->timing->samples);
  if (assumed > 0)
    add (facts, LAM_FACT_ASSUMED, _ ("Assumed"), _ ("What the file does not say; listed under Problems."),
         "%" G_GINT64_FORMAT, assumed);
  if (left_out)
    add (facts, LAM_FACT_ASSUMED, _ ("Not simulated"), _ ("Extensions that are kept, but play no part in the signal."),
         "%s", left_out);
  return facts;
}

static double
larger (float low, float high)
{
  return fabs (low) > fabs (high) ? low : high;
}

char *
lam_sequence_file_describe (const LamSequenceFile *self, int64_t ps, int64_t resolution)
{
  const LamPulseq *s = lam_sequence_file_seq (self);
  float low[LAM_PULSEQ_TRACES] = {0}, high[LAM_PULSEQ_TRACES] = {0};
  guint8 open = 0;
  LamPulseqTrace trace = {.adc = &open};
  int64_t block = lam_pulseq_block_at (self->timing, ps);
  double seconds = (double) ps * 1e-12, unit = resolution < INT64_C (100000000) ? 1e3 : 1; /* 0.1 ms */
  if (block < 0 || block >= s->blocks)
    return NULL;
  for (int i = 0; i < LAM_PULSEQ_TRACES; i++) {
    trace.low[i] = &low[i];
    trace.high[i] = &high[i];
  }
  if (!lam_pulseq_trace (self->timing, ps, ps + 1, 1, &trace, NULL))
    return NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  /* TRANSLATORS: "t 12.3456 ms · block 924 · ..." */
  g_string_append_printf (
      text, unit == 1 ? _ ("t %.4f s · block %" G_GINT64_FORMAT) : _ ("t %.4f ms · block %" G_GINT64_FORMAT),
      seconds * unit, lam_sequence_file_block_name (self, block));
  double rf = high[LAM_PULSEQ_TRACE_RF];
  if (s->event[LAM_PULSEQ_RF][block] > 0)
    g_string_append_printf (text, _ (" · RF %.4g Hz, %.3g µT"), rf, rf / LAM_GAMMA_1H * 1e6);
  g_string_append_printf (text, _ (" · G %.3g, %.3g, %.3g mT/m"), larger (low[1], high[1]) / LAM_GAMMA_1H * 1e3,
                          larger (low[2], high[2]) / LAM_GAMMA_1H * 1e3, larger (low[3], high[3]) / LAM_GAMMA_1H * 1e3);
  if (open)
    g_string_append (text, _ (" · ADC"));
  if (self->label)
    describe_labels (self, block, text);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
