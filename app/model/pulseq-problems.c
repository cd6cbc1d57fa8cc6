#include "config.h"

#include "model/pulseq-problems.h"

#include <glib/gi18n.h>

#include "model/pulseq-model.h"

struct _LamSequenceProblem {
  GObject parent_instance;
  char *text, *where;
  int64_t ps;
  gboolean note;
};

G_DEFINE_FINAL_TYPE (LamSequenceProblem, lam_sequence_problem, G_TYPE_OBJECT)

static void
lam_sequence_problem_finalize (GObject *object)
{
  LamSequenceProblem *self = LAM_SEQUENCE_PROBLEM (object);
  g_free (self->text);
  g_free (self->where);
  G_OBJECT_CLASS (lam_sequence_problem_parent_class)->finalize (object);
}

static void
lam_sequence_problem_class_init (LamSequenceProblemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lam_sequence_problem_finalize;
}

static void
lam_sequence_problem_init (LamSequenceProblem *self)
{
}

const char *
lam_sequence_problem_get_text (LamSequenceProblem *self)
{
  return self->text;
}

const char *
lam_sequence_problem_get_where (LamSequenceProblem *self)
{
  return self->where;
}

int64_t
lam_sequence_problem_get_ps (LamSequenceProblem *self)
{
  return self->ps;
}

gboolean
lam_sequence_problem_is_note (LamSequenceProblem *self)
{
  return self->note;
}

/* ---- words ---- */

/* A value of a rule in the unit that people use. */
static char *
quantity (LamRule rule, double value)
{
  switch (rule) {
  case LAM_RULE_GRADIENT:
  case LAM_RULE_GRADIENT_JUMP:
    return g_strdup_printf ("%.4g mT/m", value / LAM_GAMMA_1H * 1e3);
  case LAM_RULE_SLEW:
    return g_strdup_printf ("%.4g T/m/s", value / LAM_GAMMA_1H);
  case LAM_RULE_RF:
    return g_strdup_printf ("%.4g µT", value / LAM_GAMMA_1H * 1e6);
  default:
    return value >= 1      ? g_strdup_printf ("%.6g s", value)
           : value >= 1e-3 ? g_strdup_printf ("%.6g ms", value * 1e3)
                           : g_strdup_printf ("%.6g µs", value * 1e6);
  }
}

/* Times off a raster break no maximum: their limit is the raster. */
static const char *
bound_name (LamRule rule)
{
  switch (rule) {
  case LAM_RULE_BLOCK_RASTER:
  case LAM_RULE_RF_RASTER:
  case LAM_RULE_GRADIENT_RASTER:
  case LAM_RULE_ADC_RASTER:
  case LAM_RULE_ADC_DELAY:
    return _ ("raster");
  case LAM_RULE_RF_DEAD:
  case LAM_RULE_RF_RINGDOWN:
  case LAM_RULE_ADC_DEAD:
    return _ ("least");
  case LAM_RULE_BLOCK_END:
    return _ ("block ends at");
  default:
    return _ ("limit");
  }
}

char *
lam_pulseq_breach_text (const LamBreach *b)
{
  static const char *const axes[] = {"Gx", "Gy", "Gz"};
  g_autofree char *value = quantity (b->rule, b->value), *limit = quantity (b->rule, b->limit);
  return g_strdup_printf ("%s%s%s: %s (%s %s)", _ (lam_rule_name (b->rule)), b->axis >= 0 ? " " : "",
                          b->axis >= 0 ? axes[b->axis] : "", value, bound_name (b->rule), limit);
}

static char *
seconds_text (int64_t ps)
{
  double s = (double) ps * 1e-12;
  return s >= 1 ? g_strdup_printf (_ ("%.6g s"), s) : g_strdup_printf (_ ("%.6g ms"), s * 1e3);
}

char *
lam_pulseq_breach_line (const LamSequenceFile *file, const LamBreach *b)
{
  g_autofree char *value = quantity (b->rule, b->value), *at = seconds_text (b->ps);
  /* TRANSLATORS: "slew rate 190 T/m/s at 2.31 s (block 924)" */
  return g_strdup_printf (_ ("%s %s at %s (block %" G_GINT64_FORMAT ")"), _ (lam_rule_name (b->rule)), value, at,
                          lam_sequence_file_block_name (file, b->block));
}

/* ---- the list ---- */

static void
take (GPtrArray *list, gboolean note, int64_t ps, char *text, char *where)
{
  LamSequenceProblem *p = g_object_new (LAM_TYPE_SEQUENCE_PROBLEM, NULL);
  p->text = text;
  p->where = where;
  p->ps = ps;
  p->note = note;
  g_ptr_array_add (list, p);
}

static char *
place (const LamPulseq *s, const LamPulseqProblem *p)
{
  return p->line == 0 ? g_strdup (_ ("the file"))
         : s->binary  ? g_strdup_printf (_ ("byte %" G_GINT64_FORMAT), p->line)
         : p->column  ? g_strdup_printf (_ ("line %" G_GINT64_FORMAT ", column %" G_GINT64_FORMAT), p->line, p->column)
                      : g_strdup_printf (_ ("line %" G_GINT64_FORMAT), p->line);
}

static void
add_read (GPtrArray *list, const LamPulseq *s, gboolean notes)
{
  for (guint i = 0; i < s->problems->len; i++) {
    const LamPulseqProblem *p = s->problems->pdata[i];
    if ((p->severity == LAM_PULSEQ_NOTE) != notes)
      continue;
    take (list, notes, -1,
          p->assumed ? g_strdup_printf (_ ("%s; assumed: %s"), p->text, p->assumed) : g_strdup (p->text), place (s, p));
  }
}

void
lam_pulseq_problems_fill (GListStore *store, const LamSequenceFile *file, const LamLimitReport *report)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; report && i < report->breaches->len; i++) {
    const LamBreach *b = &g_array_index (report->breaches, LamBreach, i);
    g_autofree char *at = seconds_text (b->ps);
    take (list, FALSE, b->ps, lam_pulseq_breach_text (b),
          g_strdup_printf (_ ("%s, block %" G_GINT64_FORMAT), at, lam_sequence_file_block_name (file, b->block)));
  }
  if (file) {
    add_read (list, lam_sequence_file_seq (file), FALSE);
    add_read (list, lam_sequence_file_seq (file), TRUE);
  }
  g_list_store_splice (store, 0, g_list_model_get_n_items (G_LIST_MODEL (store)), list->pdata, list->len);
}
