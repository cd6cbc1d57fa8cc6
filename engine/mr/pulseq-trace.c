/* pulseq-trace.c: extremes of a window, by a tree over blocks. A leaf stands for 16 blocks, every node above for 8 of those
 * below. A bucket is made of at most a few blocks at its ends, and of whole nodes between them. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "mr/pulseq-timing.h"

#define LEAF 16
#define FAN 8
#define LEVELS 12

typedef struct {
  float low[LAM_PULSEQ_TRACES], high[LAM_PULSEQ_TRACES];
  gboolean adc;
} Node;

struct _LamPulseqTree {
  int levels;
  int64_t nodes[LEVELS], blocks[LEVELS]; /* of a level, and of one of its nodes */
  Node *node[LEVELS];
};

static void
widen (Node *a, int trace, double low, double high)
{
  a->low[trace] = fminf (a->low[trace], (float) low);
  a->high[trace] = fmaxf (a->high[trace], (float) high);
}

static void
join (Node *a, const Node *b)
{
  for (int i = 0; i < LAM_PULSEQ_TRACES; i++)
    widen (a, i, b->low[i], b->high[i]);
  a->adc = a->adc || b->adc;
}

static Node
nothing (void)
{
  Node n = {.adc = FALSE};
  for (int i = 0; i < LAM_PULSEQ_TRACES; i++) {
    n.low[i] = INFINITY;
    n.high[i] = -INFINITY;
  }
  return n;
}

/* From the three raw ranges to the turned ones: a bound. */
static void
turn (Node *a, const double R[9], const double low[3], const double high[3])
{
  for (int i = 0; i < 3; i++) {
    double least = 0, most = 0;
    for (int c = 0; c < 3; c++) {
      double x = R[3 * i + c] * low[c], y = R[3 * i + c] * high[c];
      least += LAM_MIN (x, y);
      most += LAM_MAX (x, y);
    }
    widen (a, LAM_PULSEQ_TRACE_GX + i, least, most);
  }
}

/* Hz at @ps of the pulse; 0 outside. */
static double
magnitude_at (const LamPulseqPulse *p, int64_t raster, int64_t ps)
{
  if (ps < 0 || ps >= p->duration || p->samples == 0)
    return 0;
  int64_t low = -1, high = p->samples;
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (lam_pulseq_pulse_time (p, raster, middle) <= (double) ps)
      low = middle;
    else
      high = middle;
  }
  if (low < 0 || high == p->samples)
    return p->magnitude[low < 0 ? 0 : p->samples - 1];
  double a = lam_pulseq_pulse_time (p, raster, low), b = lam_pulseq_pulse_time (p, raster, high);
  return p->magnitude[low] + (p->magnitude[high] - p->magnitude[low]) * (b > a ? ((double) ps - a) / (b - a) : 1);
}

static void
pulse_range (Node *out, const LamPulseqTiming *t, int32_t row, int64_t t0, int64_t t1)
{
  const LamPulseqRf *rf = &t->seq->rf[row];
  const LamPulseqPulse *p = &t->rf[row].pulse;
  int64_t raster = t->seq->rf_raster, from = t0 - rf->delay, to = t1 - rf->delay;
  double scale = fabs (rf->amplitude), a = scale * fabs (magnitude_at (p, raster, from)),
         b = scale * fabs (magnitude_at (p, raster, to));
  widen (out, LAM_PULSEQ_TRACE_RF, LAM_MIN (a, b), LAM_MAX (a, b));
  if (to < 0 || from >= p->duration)
    return;
  int64_t i = 0;
  if (!p->times)
    i = LAM_MAX (from / raster - 1, 0);
  else
    for (int64_t high = p->samples; high - i > 1;) {
      int64_t middle = (i + high) / 2;
      if (lam_pulseq_pulse_time (p, raster, middle) < (double) from)
        i = middle;
      else
        high = middle;
    }
  for (; i < p->samples && lam_pulseq_pulse_time (p, raster, i) <= (double) to; i++)
    if (lam_pulseq_pulse_time (p, raster, i) >= (double) from) {
      double m = scale * fabs (p->magnitude[i]);
      widen (out, LAM_PULSEQ_TRACE_RF, m, m);
    }
}

/* Block @b from @t0 to @t1 after its start. @whole: all of it, from what is known of its events. */
static gboolean
block_range (const LamPulseqTiming *t, int64_t b, gboolean whole, int64_t t0, int64_t t1, Node *out, GError **error)
{
  const LamPulseq *s = t->seq;
  double R[9], low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
  gboolean turned = lam_pulseq_rotation (s, b, R);
  int32_t row = s->event[LAM_PULSEQ_RF][b] - 1;
  if (row < 0)
    widen (out, LAM_PULSEQ_TRACE_RF, 0, 0);
  else if (whole)
    widen (out, LAM_PULSEQ_TRACE_RF, 0, fabs (s->rf[row].amplitude) * t->rf[row].pulse.peak);
  else
    pulse_range (out, t, row, t0, t1);
  for (int c = 0; c < 3; c++) {
    if ((row = s->event[LAM_PULSEQ_GX + c][b] - 1) < 0)
      continue;
    if (whole) {
      low[c] = t->gradient[row].low;
      high[c] = t->gradient[row].high;
      continue;
    }
    LamPulseqLine l;
    if (!lam_pulseq_line (s, &s->gradient[row], &l, error))
      return FALSE;
    if (l.points == 0)
      continue;
    low[c] = INFINITY;
    high[c] = -INFINITY;
    lam_pulseq_line_range (&l, t0, t1, &low[c], &high[c]);
  }
  if (turned)
    turn (out, R, low, high);
  else
    for (int c = 0; c < 3; c++)
      widen (out, LAM_PULSEQ_TRACE_GX + c, low[c], high[c]);
  row = s->event[LAM_PULSEQ_ADC][b] - 1;
  if (row >= 0 && s->adc[row].delay < t1 && lam_pulseq_adc_end (&s->adc[row]) > t0)
    out->adc = TRUE;
  return TRUE;
}

gboolean
lam_pulseq_tree_new (LamPulseqTiming *t, GError **error)
{
  struct _LamPulseqTree *tree = t->tree = g_new0 (struct _LamPulseqTree, 1);
  int64_t below = t->seq->blocks, size = LEAF, nodes = (below + LEAF - 1) / LEAF;
  for (int level = 0; level < LEVELS && nodes > 0;
       level++, size *= FAN, nodes = nodes > 1 ? (nodes + FAN - 1) / FAN : 0) {
    Node *node = tree->node[level] = lam_alloc_n (nodes, sizeof *node, "levels of detail", error);
    if (!node)
      return FALSE;
    tree->levels = level + 1;
    tree->nodes[level] = nodes;
    tree->blocks[level] = size;
    for (int64_t i = 0; i < nodes; i++) {
      node[i] = nothing ();
      int64_t per = level ? FAN : LEAF, from = i * per, to = LAM_MIN (from + per, below);
      for (int64_t k = from; k < to; k++)
        if (level)
          join (&node[i], &tree->node[level - 1][k]);
        else if (!block_range (t, k, TRUE, 0, t->seq->duration[k], &node[i], error))
          return FALSE;
    }
    below = nodes;
  }
  return TRUE;
}

void
lam_pulseq_tree_free (struct _LamPulseqTree *tree)
{
  for (int level = 0; tree && level < LEVELS; level++)
    lam_free (tree->node[level]);
  g_free (tree);
}

/* Everything in [@t0, @t1]; @block is at or before the first block there, and is left at the last one. */
static gboolean
bucket (const LamPulseqTiming *t, int64_t t0, int64_t t1, int64_t *block, Node *out, GError **error)
{
  const struct _LamPulseqTree *tree = t->tree;
  int64_t b = *block, blocks = t->seq->blocks;
  while (b < blocks && t->start[b + 1] < t0)
    b++;
  *block = b;
  while (b < blocks && t->start[b] <= t1) {
    *block = b;
    int level = -1;
    while (level + 1 < tree->levels && b % tree->blocks[level + 1] == 0 && t->start[b] >= t0
           && t->start[LAM_MIN (b + tree->blocks[level + 1], blocks)] <= t1)
      level++;
    if (level >= 0) {
      join (out, &tree->node[level][b / tree->blocks[level]]);
      b += tree->blocks[level];
      *block = LAM_MIN (b, blocks) - 1;
      continue;
    }
    gboolean whole = t->start[b] >= t0 && t->start[b + 1] <= t1;
    if (!block_range (t, b, whole, t0 - t->start[b], t1 - t->start[b], out, error))
      return FALSE;
    b++;
  }
  return TRUE;
}

gboolean
lam_pulseq_trace (const LamPulseqTiming *t, int64_t t0, int64_t t1, int64_t n, LamPulseqTrace *out, GError **error)
{
  int64_t width = t1 - t0, block = LAM_MAX (lam_pulseq_block_at (t, t0) - 1, 0);
  for (int64_t i = 0; i < n; i++) {
    /* width * i / n without a product that is too large */
    int64_t a = t0 + width / n * i + width % n * i / n, z = t0 + width / n * (i + 1) + width % n * (i + 1) / n;
    Node node = nothing ();
    if (!bucket (t, a, LAM_MAX (z, a), &block, &node, error))
      return FALSE;
    block = LAM_MAX (block - 1, 0); /* a block of length 0 may lie on the edge */
    for (int c = 0; c < LAM_PULSEQ_TRACES; c++) {
      gboolean any = node.low[c] <= node.high[c]; /* else before the start or behind the end */
      if (out->low[c])
        out->low[c][i] = any ? node.low[c] : 0;
      if (out->high[c])
        out->high[c][i] = any ? node.high[c] : 0;
    }
    if (out->adc)
      out->adc[i] = node.adc != FALSE;
  }
  return TRUE;
}
