/* projector-run.c: the passes. The order in which things are added is that of core/order.h; everything else here is transport. */
#include <string.h>

#include "core/error.h"
#include "ct/projector-private.h"

/* ---- small pieces ---- */

static void *
scratch (const LamProjector *p, int d, int worker)
{
  return p->work[d].scratch + worker * lam_kernel_scratch (&p->g);
}

static gboolean
planar (const LamProjector *p)
{
  return p->layout == LAM_LAYOUT_PLANAR;
}

/* dst += src over @lines lines of @n floats (a product with 1 is exact). */
static void
add_lines (const LamProjector *p, int64_t lines, int64_t n, float *dst, int64_t dst_stride, const float *src,
           int64_t src_stride)
{
  for (int64_t j = 0; j < lines; j++)
    p->kernels->axpy (n, 1, src + j * src_stride, dst + j * dst_stride);
}

/* error (view @v of device @d) -= alpha (w) A d. Where A d was not kept it is made again, into the error itself; weights
 * need it apart. */
static void
take_step (LamProjector *p, int d, int worker, int64_t view, float *error_view, const float *weights_view,
           const LamStep *step)
{
  int64_t floats = lam_projector_view_floats (p), own = view - p->views.range[d].begin;
  float *s = p->work[d].view + worker * floats;
  const float *made = step->stored ? step->stored->at[d] + own * floats : s;
  if (!step->stored) {
    gboolean direct = weights_view == NULL;
    LamForwardArgs f = {
        .geometry = &p->g,
        .v0 = view,
        .v1 = view + 1,
        .pixel = step->pixel,
        .n = step->n,
        .x = step->full.at[d],
        .x_stride = lam_projector_packed_stride (p, LAM_HOST, step->n),
        .k0 = 0,
        .k1 = p->g.slices,
        .scale = direct ? -step->alpha : 1,
        .view_data = direct ? error_view : s,
        .line_stride = lam_projector_line_stride (p),
        .scratch = scratch (p, d, worker),
    };
    if (!direct)
      memset (s, 0, floats * sizeof *s);
    p->kernels->forward (&f);
    if (direct)
      return;
  }
  if (weights_view) {
    p->kernels->multiply (floats, weights_view, made, s);
    made = s;
  }
  p->kernels->axpy (floats, -step->alpha, made, error_view);
}

/* ---- back projection ---- */

typedef struct {
  LamProjector *p;
  const int32_t *pixel; /* of the batch */
  int64_t n;
  LamRange k; /* the band of slices */
  gboolean square, fused;
  const LamShards *sino, *weights;
  const LamStep *step;   /* taken on the way: fused lists only */
  float *const *out;     /* by device: packed list of own slices, or the volume */
  gboolean indexed;      /* out is the volume */
  int64_t out_n, out_at; /* packed: length of the whole list and where the batch begins in it */
  int64_t stride;        /* of a node's packed batch */
  int64_t node_floats;
  LamListCut *cuts;             /* by device */
  LamNode nodes[LAM_MAX_NODES]; /* of all devices, in block order */
  int first_node[LAM_MAX_DEVICES + 1];
  uint8_t merges[LAM_MAX_NODES];
  int n_nodes;
  LamDeviceFunc then; /* on each device, after its fold */
  void *then_data;
} Back;

typedef struct {
  Back *b;
  int d;
  int64_t chunk; /* pixels of a task */
} BackDevice;

/* One node, one chunk of pixels: blocks in order, each from zero, folded as the tree says. */
static void
back_task (int64_t index, int worker, void *data)
{
  const BackDevice *bd = data;
  Back *b = bd->b;
  LamProjector *p = b->p;
  int d = bd->d;
  const LamListCut *cut = &b->cuts[d];
  int64_t chunks = (b->n + bd->chunk - 1) / bd->chunk, at = index % chunks * bd->chunk;
  int node = (int) (index / chunks);
  int64_t n = LAM_MIN (bd->chunk, b->n - at), view_floats = lam_projector_view_floats (p);
  LamRange blocks = lam_node_blocks (&p->blocks, cut->nodes[node]);
  int64_t lines = planar (p) ? lam_range_size (b->k) : n, width = planar (p) ? n : lam_range_size (b->k);
  /* The first partial sum lies in the result itself, the others in this worker's memory. */
  float *place[72];
  int64_t stride[72], tree_stride = planar (p) ? lam_round_up (cut->tree_pixels, LAM_LANES) : b->stride;
  int64_t level_floats = lam_projector_packed_floats (p, LAM_HOST, lam_round_up (cut->tree_pixels, LAM_LANES));
  place[0] = p->work[d].nodes + node * b->node_floats + (planar (p) ? at : at * b->stride);
  stride[0] = b->stride;
  for (int l = 1; l < cut->depth; l++) {
    place[l] = p->work[d].tree + (worker * (cut->depth - 1) + l - 1) * level_floats;
    stride[l] = tree_stride;
  }
  int depth = 0;
  for (int64_t block = blocks.begin, next; block < blocks.end; block = next) {
    LamRange views = lam_blocks_views (&p->blocks, block);
    next = block + 1;
    if (p->g.planar && !b->step) { /* the kernel folds by itself */
      next = blocks.end;
      views.end = lam_blocks_views (&p->blocks, next - 1).end;
    }
    if (lam_control_cancelled (p->control))
      return;
    int64_t own = views.begin - p->views.range[d].begin;
    float *sino = b->sino->at[d] + own * view_floats;
    if (b->step)
      for (int64_t v = views.begin; v < views.end; v++)
        take_step (p, d, worker, v, sino + (v - views.begin) * view_floats,
                   b->weights ? b->weights->at[d] + (own + v - views.begin) * view_floats : NULL, b->step);
    LamBackArgs args = {
        .geometry = &p->g,
        .v0 = views.begin,
        .v1 = views.end,
        .block = next - block > 1 ? p->blocks.size : 0,
        .pixel = b->pixel + at,
        .n = n,
        .sino = sino,
        .view_stride = view_floats,
        .line_stride = lam_projector_line_stride (p),
        .out = place[depth],
        .out_stride = stride[depth],
        .k0 = b->k.begin,
        .k1 = b->k.end,
        .square = b->square,
        .scratch = scratch (p, d, worker),
    };
    p->kernels->back (&args);
    depth++;
    /* Complete pairs: the count of finished blocks in this node tells how many. */
    for (int64_t done = next - blocks.begin; !(done & 1) && depth > 1; done >>= 1) {
      depth--;
      add_lines (p, lines, width, place[depth - 1], stride[depth - 1], place[depth], stride[depth]);
    }
  }
  for (; depth > 1; depth--) /* cut off at the last block: the rest folds from the end */
    add_lines (p, lines, width, place[depth - 2], stride[depth - 2], place[depth - 1], stride[depth - 1]);
}

static gboolean
back_device (LamDevice *device, void *data, GError **error)
{
  Back *b = data;
  BackDevice bd = {b, device->index, b->fused ? b->n : LAM_MIN (b->n, b->cuts[device->index].tree_pixels)};
  int64_t chunks = (b->n + bd.chunk - 1) / bd.chunk;
  lam_device_for (device, b->cuts[device->index].n_nodes * chunks, back_task, &bd);
  return lam_control_go_on (b->p->control, error);
}

typedef struct {
  Back *b;
  int d;
  LamRange own;        /* own slices in the band */
  int64_t tile_floats; /* room of a worker for a tile of one node from elsewhere */
} Fold;

/* A node's sums for one tile of pixels: its first line, and floats between lines. */
typedef struct {
  const float *at;
  int64_t stride;
} Piece;

/* to = a + b; a may be @to itself. */
static void
add (int64_t n, const float *a, const float *restrict b, float *restrict to)
{
  if (a == to)
    for (int64_t i = 0; i < n; i++)
      to[i] += b[i];
  else
    for (int64_t i = 0; i < n; i++)
      to[i] = a[i] + b[i];
}

/* Folds n floats of one line of all nodes into out. */
static void
fold_line (const Back *b, const Piece *piece, int64_t line, int64_t n, float *out)
{
  enum { LENGTH = 256 };
  float sum[12][LENGTH];
  const float *stack[12];
  for (int64_t at = 0; at < n; at += LENGTH) {
    int64_t m = LAM_MIN (LENGTH, n - at);
    int depth = 0;
    for (int i = 0; i < b->n_nodes; i++) {
      stack[depth++] = piece[i].at + line * piece[i].stride + at;
      for (int j = 0; j < b->merges[i]; j++) {
        depth--;
        add (m, stack[depth - 1], stack[depth], sum[depth - 1]);
        stack[depth - 1] = sum[depth - 1];
      }
    }
    memcpy (out + at, stack[0], m * sizeof (float));
  }
}

/* One tile of pixels: fetches its sums from the devices that made them, and folds them. */
static void
fold_task (int64_t index, int worker, void *data)
{
  const Fold *f = data;
  Back *b = f->b;
  LamProjector *p = b->p;
  int64_t at = index * LAM_FOLD_PIXELS, n = LAM_MIN (LAM_FOLD_PIXELS, b->n - at), wide = lam_range_size (f->own);
  int64_t k0 = f->own.begin - p->slices.range[f->d].begin, in_band = f->own.begin - b->k.begin;
  float *out = b->out[f->d];
  Piece piece[LAM_MAX_NODES];
  for (int o = 0; o < p->slices.devices; o++)
    for (int i = b->first_node[o]; i < b->first_node[o + 1]; i++) {
      const float *from = p->work[o].nodes + (i - b->first_node[o]) * b->node_floats
                          + (planar (p) ? in_band * b->stride + at : in_band + at * b->stride);
      piece[i] = (Piece){from, b->stride};
      if (o != f->d) {
        int64_t stride = lam_round_up (planar (p) ? n : wide, LAM_LANES);
        float *to = p->work[f->d].received + ((int64_t) worker * b->n_nodes + i) * f->tile_floats;
        lam_copy (p->set, f->d, to, stride * 4, o, from, b->stride * 4, (planar (p) ? n : wide) * 4,
                  planar (p) ? wide : n);
        piece[i] = (Piece){to, stride};
      }
    }
  if (planar (p)) {
    int64_t stride = lam_projector_packed_stride (p, f->d, b->indexed ? p->pixels : b->out_n);
    for (int64_t k = 0; k < wide; k++) {
      float line[LAM_FOLD_PIXELS];
      fold_line (b, piece, k, n, line);
      if (b->indexed)
        for (int64_t i = 0; i < n; i++)
          out[(k0 + k) * stride + b->pixel[at + i]] = line[i];
      else
        memcpy (out + (k0 + k) * stride + b->out_at + at, line, n * sizeof *line);
    }
    return;
  }
  int64_t stride = lam_projector_packed_stride (p, f->d, 0);
  for (int64_t i = 0; i < n; i++)
    fold_line (b, piece, i, wide, out + (b->indexed ? b->pixel[at + i] : b->out_at + at + i) * stride + k0);
}

/* The slice owner's half: collects the nodes of all devices for own slices and folds them, tile by tile. */
static gboolean
fold_device (LamDevice *device, void *data, GError **error)
{
  Back *b = data;
  LamProjector *p = b->p;
  int d = device->index;
  LamRange own = p->slices.range[d];
  Fold f = {b, d, {LAM_MAX (own.begin, b->k.begin), LAM_MIN (own.end, b->k.end)}, 0};
  if (lam_range_size (f.own) == 0)
    return !b->then || b->then (device, b->then_data, error);
  f.tile_floats = lam_projector_packed_floats (p, d, LAM_FOLD_PIXELS);
  lam_device_for (device, (b->n + LAM_FOLD_PIXELS - 1) / LAM_FOLD_PIXELS, fold_task, &f);
  return lam_control_go_on (p->control, error) && (!b->then || b->then (device, b->then_data, error));
}

/* One batch of pixels, one band of slices: nodes everywhere, then the fold. */
static gboolean
back_batch (Back *b, GError **error)
{
  LamProjector *p = b->p;
  int64_t wide = lam_range_size (b->k);
  b->stride = lam_round_up (planar (p) ? b->n : wide, LAM_LANES);
  b->node_floats = b->stride * (planar (p) ? wide : b->n);
  for (int d = 0; d < p->slices.devices; d++) {
    const LamListCut *cut = &b->cuts[d];
    int64_t level = lam_projector_packed_floats (p, LAM_HOST, lam_round_up (cut->tree_pixels, LAM_LANES));
    if (cut->n_nodes * b->node_floats > p->work[d].node_floats || (cut->depth - 1) * level > p->work[d].tree_floats
        || (p->slices.devices > 1 && b->n_nodes > p->work[d].received_nodes)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED,
                   "back projection of %" G_GINT64_FORMAT " pixels needs more than was planned", b->n);
      return FALSE;
    }
  }
  return lam_devices_run (p->set, back_device, b, error) && lam_devices_run (p->set, fold_device, b, error);
}

static gboolean
back (LamProjector *p, const int32_t *pixel, int64_t n, LamShards *sino, const LamShards *weights, const LamStep *step,
      float *const *out, gboolean indexed, gboolean square, gboolean bands, LamDeviceFunc then, void *data,
      GError **error)
{
  g_autofree Back *b = g_new0 (Back, 1);
  g_autofree LamListCut *cuts = g_new0 (LamListCut, p->slices.devices);
  int64_t batch, all = p->g.slices, band = bands && p->band > 0 ? LAM_MIN (p->band, all) : all;
  gboolean fused;
  *b = (Back){.p = p,
              .square = square,
              .sino = sino,
              .weights = weights,
              .out = out,
              .indexed = indexed,
              .out_n = n,
              .cuts = cuts};
  lam_projector_cut_all (p, n, &batch, &fused);
  for (int d = 0; d < p->slices.devices; d++) {
    lam_projector_cut_list (p, d, n, &cuts[d]);
    b->first_node[d] = b->n_nodes;
    for (int i = 0; i < cuts[d].n_nodes; i++)
      b->nodes[b->n_nodes++] = cuts[d].nodes[i];
  }
  b->first_node[p->slices.devices] = b->n_nodes;
  int deepest = lam_fold_program (&p->blocks, (LamRange){0, p->blocks.count}, b->nodes, b->n_nodes, b->merges);
  if (deepest < 0 || deepest > 12) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED,
                 "back projection: the blocks of the devices do not tile the views");
    return FALSE;
  }
  b->fused = fused;
  if (step && !fused && !lam_projector_apply_step (p, sino, weights, step, NULL, error))
    return FALSE;
  b->step = fused ? step : NULL;
  for (int64_t k = 0; k < all; k += band)
    for (int64_t at = 0; at < n; at += batch) {
      b->k = (LamRange){k, LAM_MIN (k + band, all)};
      b->pixel = pixel + at;
      b->n = LAM_MIN (batch, n - at);
      b->out_at = at;
      b->then = at + b->n == n && b->k.end == all ? then : NULL;
      b->then_data = data;
      if (!back_batch (b, error))
        return FALSE;
      b->step = NULL;
    }
  return TRUE;
}

gboolean
lam_projector_back (LamProjector *p, const LamShards *sino, LamShards *volume, gboolean everywhere, gboolean square,
                    GError **error)
{
  if (!everywhere)
    return lam_projector_zero (p, volume, TRUE, error)
           && back (p, p->list, p->list_n, (LamShards *) sino, NULL, NULL, volume->at, TRUE, square, TRUE, NULL, NULL,
                    error);
  /* All pixels, a few rows at a time: the list is short-lived. */
  int64_t columns = p->geometry->recon_columns;
  int64_t rows = LAM_MAX (1, LAM_MIN (p->longest, 1 << 16) / columns), most = LAM_MIN (rows * columns, p->longest);
  g_autofree int32_t *list = g_new (int32_t, most);
  for (int64_t at = 0; at < p->pixels; at += most) {
    int64_t n = LAM_MIN (most, p->pixels - at);
    for (int64_t i = 0; i < n; i++)
      list[i] = (int32_t) (at + i);
    lam_projector_sort_tiles (p, list, n);
    if (!back (p, list, n, (LamShards *) sino, NULL, NULL, volume->at, TRUE, square, TRUE, NULL, NULL, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lam_projector_back_list (LamProjector *p, const int32_t *pixel, int64_t n, LamShards *error_sino,
                         const LamShards *weights, const LamStep *step, LamShards *packed, LamDeviceFunc then,
                         void *data, GError **error)
{
  return back (p, pixel, n, error_sino, weights, step, packed->at, FALSE, FALSE, FALSE, then, data, error);
}

/* ---- collecting slices ---- */

typedef struct {
  LamProjector *p;
  const LamShards *from;
  const int32_t *pixel; /* not NULL: from is a volume */
  int64_t n, from_n;
  LamRange k;
} Collect;

typedef struct {
  const Collect *c;
  int d;
} CollectDevice;

/* Own copy of the band's slices of a packed list, or of a volume's listed pixels: one tile of the list. */
static void
collect_task (int64_t index, int worker, void *data)
{
  const CollectDevice *cd = data;
  const Collect *c = cd->c;
  LamProjector *p = c->p;
  int d = cd->d;
  float *to = p->work[d].cylinders;
  int64_t stride = lam_round_up (planar (p) ? c->n : lam_range_size (c->k), LAM_LANES);
  int64_t begin = index * LAM_KERNEL_PIXELS, end = LAM_MIN (begin + LAM_KERNEL_PIXELS, c->n);
  for (int o = 0; o < p->slices.devices; o++) {
    LamRange own = p->slices.range[o];
    LamRange k = {LAM_MAX (own.begin, c->k.begin), LAM_MIN (own.end, c->k.end)};
    int64_t wide = lam_range_size (k), s = lam_projector_packed_stride (p, o, c->from_n);
    if (wide == 0)
      continue;
    for (int64_t i = begin, run; i < end; i += run) {
      run = c->pixel ? 1 : end - begin;
      while (c->pixel && i + run < end && c->pixel[i + run] == c->pixel[i] + run)
        run++;
      int64_t at = c->pixel ? c->pixel[i] : i;
      if (planar (p))
        lam_copy (p->set, d, to + (k.begin - c->k.begin) * stride + i, stride * 4, o,
                  c->from->at[o] + (k.begin - own.begin) * s + at, s * 4, run * 4, wide);
      else
        lam_copy (p->set, d, to + i * stride + k.begin - c->k.begin, stride * 4, o,
                  c->from->at[o] + at * s + k.begin - own.begin, s * 4, wide * 4, run);
    }
  }
}

static gboolean
collect_device (LamDevice *device, void *data, GError **error)
{
  const Collect *c = data;
  CollectDevice cd = {c, device->index};
  lam_device_for (device, (c->n + LAM_KERNEL_PIXELS - 1) / LAM_KERNEL_PIXELS, collect_task, &cd);
  return lam_control_go_on (c->p->control, error);
}

gboolean
lam_projector_collect (LamProjector *p, const LamShards *packed, int64_t n, LamShards *full, GError **error)
{
  if (p->slices.devices == 1) {
    *full = *packed;
    return TRUE;
  }
  Collect c = {p, packed, NULL, n, n, {0, p->g.slices}};
  for (int d = 0; d < p->slices.devices; d++)
    full->at[d] = p->work[d].cylinders;
  return lam_devices_run (p->set, collect_device, &c, error);
}

/* ---- forward projection ---- */

typedef struct {
  LamProjector *p;
  LamDevice *device;
  const int32_t *pixel;
  int64_t n;
  LamRange k;
  const float *x;
  int64_t x_stride;
  gboolean indexed, zero;
  float *sino; /* own views; NULL: into the worker's view */
  const float *weights;
  double *sums;  /* <s, w s> of own views, or NULL */
  int64_t group; /* views of a task */
} Forward;

/* Slices at a time where only <s, s> is wanted: so many that a view's worth stays in the nearest cache. A function of the
 * problem, as it orders the sum; 0 = not for this one. */
static int64_t
norm_slices (const LamProjector *p)
{
  int64_t fit = (32 << 10) / 4 / p->g.channels / LAM_LANES * LAM_LANES;
  return p->g.cone || planar (p) ? 0 : LAM_MAX (fit, LAM_LANES);
}

/* <s, s> of one view with s = A x, a few slices at a time. */
static double
view_norm_of (const Forward *f, int64_t view, int worker)
{
  LamProjector *p = f->p;
  int d = f->device->index;
  float *s = p->work[d].view + worker * lam_projector_view_floats (p);
  double sum = 0;
  for (int64_t k = 0, step = norm_slices (p); k < p->g.slices; k += step) {
    int64_t n = LAM_MIN (step, p->g.slices - k), line = lam_round_up (n, LAM_LANES);
    LamForwardArgs a = {
        .geometry = &p->g,
        .v0 = view,
        .v1 = view + 1,
        .pixel = f->pixel,
        .n = f->n,
        .x = f->x + k,
        .x_stride = f->x_stride,
        .k0 = 0,
        .k1 = n,
        .scale = 1,
        .view_data = s,
        .line_stride = line,
        .scratch = scratch (p, d, worker),
    };
    memset (s, 0, p->g.channels * line * sizeof *s);
    p->kernels->forward (&a);
    sum += p->kernels->dot (p->g.channels, n, line, s, s, NULL);
  }
  return sum;
}

static void
forward_task (int64_t index, int worker, void *data)
{
  const Forward *f = data;
  LamProjector *p = f->p;
  int d = f->device->index;
  LamRange own = p->views.range[d];
  int64_t floats = lam_projector_view_floats (p), line = lam_projector_line_stride (p);
  int64_t first = index * f->group, views = LAM_MIN (f->group, lam_range_size (own) - first);
  float *out = f->sino ? f->sino + first * floats : p->work[d].view + worker * floats;
  if (f->sums && !f->sino && !f->weights && norm_slices (p) > 0) {
    f->sums[first] = lam_control_cancelled (p->control) ? 0 : view_norm_of (f, own.begin + first, worker);
    return;
  }
  if (f->zero)
    memset (out, 0, views * floats * sizeof *out);
  for (int64_t at = 0; at < f->n; at += LAM_KERNEL_PIXELS) {
    LamForwardArgs a = {
        .geometry = &p->g,
        .v0 = own.begin + first,
        .v1 = own.begin + first + views,
        .pixel = f->pixel + at,
        .n = LAM_MIN (LAM_KERNEL_PIXELS, f->n - at),
        .x = f->indexed ? f->x : f->x + (planar (p) ? at : at * f->x_stride),
        .x_stride = f->x_stride,
        .indexed = f->indexed,
        .k0 = f->k.begin,
        .k1 = f->k.end,
        .scale = 1,
        .view_data = out,
        .view_stride = floats,
        .line_stride = line,
        .scratch = scratch (p, d, worker),
    };
    if (lam_control_cancelled (p->control))
      return;
    p->kernels->forward (&a);
  }
  if (f->sums)
    for (int64_t v = 0; v < views; v++)
      f->sums[first + v] =
          p->kernels->dot (planar (p) ? p->g.rows : p->g.channels, planar (p) ? p->g.channels : p->g.rows, line,
                           out + v * floats, out + v * floats, f->weights ? f->weights + (first + v) * floats : NULL);
}

typedef struct {
  LamProjector *p;
  const int32_t *pixel;
  int64_t n;
  LamRange k;
  const LamShards *x;
  int64_t x_n; /* packed: list length; volume: pixels */
  gboolean indexed, zero;
  const LamShards *sino, *weights;
  gboolean sums, own_slices; /* own_slices: x holds the device's own slices (one device) */
} ForwardCall;

static gboolean
forward_device (LamDevice *device, void *data, GError **error)
{
  const ForwardCall *c = data;
  LamProjector *p = c->p;
  int d = device->index, threads = lam_pool_threads (lam_devices_pool (p->set));
  int64_t views = lam_placement_count (&p->views, d);
  Forward f = {
      .p = p,
      .device = device,
      .pixel = c->pixel,
      .n = c->n,
      .k = c->k,
      .x = c->x->at[d],
      .indexed = c->indexed,
      .zero = c->zero,
      .sino = c->sino ? c->sino->at[d] : NULL,
      .weights = c->weights ? c->weights->at[d] : NULL,
      .sums = c->sums ? p->work[d].sums : NULL,
  };
  f.x_stride = planar (p) ? lam_round_up (c->x_n, LAM_LANES)
                          : lam_round_up (c->own_slices ? lam_placement_count (&p->slices, d) : lam_range_size (c->k),
                                          LAM_LANES);
  if (c->own_slices) /* the band inside the device's own, whole volume */
    f.x += planar (p) ? c->k.begin * f.x_stride : c->k.begin;
  f.group = f.sino ? LAM_CLAMP (views / (4 * threads), 1, 16) : 1;
  lam_device_for (device, (views + f.group - 1) / f.group, forward_task, &f);
  return lam_control_go_on (p->control, error);
}

/* A device's collecting and projecting need nothing of the others in between. */
typedef struct {
  Collect *collect; /* NULL: nothing to collect */
  ForwardCall *forward;
} CollectForward;

static gboolean
collect_forward_device (LamDevice *device, void *data, GError **error)
{
  const CollectForward *c = data;
  return (!c->collect || collect_device (device, c->collect, error)) && forward_device (device, c->forward, error);
}

gboolean
lam_projector_forward (LamProjector *p, const LamShards *volume, LamShards *sino, GError **error)
{
  int64_t all = p->g.slices, band = p->band > 0 && !p->g.cone ? LAM_MIN (p->band, all) : all;
  gboolean copies = p->slices.devices > 1;
  int64_t batch = !copies ? p->list_n : p->batch > 0 ? p->batch : LAM_MIN (p->longest, p->list_n);
  batch = LAM_MIN (batch, p->longest > 0 && copies ? p->longest : p->list_n);
  if (copies && p->batch == 0) /* whole volumes pass in pieces that stay small beside a shard */
    batch = LAM_CLAMP (p->node_bytes / (4 * lam_round_up (band, LAM_LANES)), LAM_MIN (256, batch), batch);
  LamShards x = *volume;
  for (int d = 0; copies && d < p->slices.devices; d++)
    x.at[d] = p->work[d].cylinders;
  if (!lam_projector_zero (p, sino, FALSE, error))
    return FALSE;
  for (int64_t k = 0; k < all; k += band)
    for (int64_t at = 0; at < p->list_n; at += batch) {
      int64_t n = LAM_MIN (batch, p->list_n - at);
      LamRange kk = {k, LAM_MIN (k + band, all)};
      Collect c = {p, volume, p->list + at, n, p->pixels, kk};
      ForwardCall f = {p, p->list + at, n, kk, &x, copies ? n : p->pixels, !copies, FALSE, sino, NULL, FALSE, !copies};
      CollectForward both = {copies ? &c : NULL, &f};
      if (!lam_devices_run (p->set, collect_forward_device, &both, error))
        return FALSE;
    }
  return TRUE;
}

/* Adds the views' sums by index. */
static gboolean
sum_views (LamProjector *p, double *sum, GError **error)
{
  *sum = 0;
  for (int d = 0; d < p->slices.devices; d++) {
    int64_t n = lam_placement_count (&p->views, d);
    g_autofree double *host = g_new (double, n + 1);
    lam_copy (p->set, LAM_HOST, host, n * 8, d, p->work[d].sums, n * 8, n * 8, 1);
    for (int64_t v = 0; v < n; v++)
      *sum += host[v];
  }
  return TRUE;
}

gboolean
lam_projector_forward_list (LamProjector *p, const int32_t *pixel, int64_t n, const LamShards *packed, LamShards *full,
                            const LamShards *weights, LamShards *store, double *ss, GError **error)
{
  gboolean copies = p->slices.devices > 1;
  *full = *packed;
  for (int d = 0; copies && d < p->slices.devices; d++)
    full->at[d] = p->work[d].cylinders;
  Collect c = {p, packed, NULL, n, n, {0, p->g.slices}};
  ForwardCall f = {p, pixel, n, {0, p->g.slices}, full, n, FALSE, TRUE, store, weights, TRUE, FALSE};
  CollectForward both = {copies ? &c : NULL, &f};
  return lam_devices_run (p->set, collect_forward_device, &both, error) && sum_views (p, ss, error);
}

/* ---- taking a step apart ---- */

typedef struct {
  LamProjector *p;
  LamDevice *device;
  LamShards *sino;
  const LamShards *weights;
  const LamStep *step;
  gboolean sums;
} Apply;

/* sum of e^2 / w (0 where w is 0) over one view; a is w e, or e without weights. */
static double
view_norm (const LamProjector *p, const float *a, const float *w)
{
  int64_t lines = planar (p) ? p->g.rows : p->g.channels, n = planar (p) ? p->g.channels : p->g.rows;
  int64_t stride = lam_projector_line_stride (p);
  if (!w)
    return p->kernels->dot (lines, n, stride, a, a, NULL);
  double lane[LAM_LANES] = {0}, sum = 0;
  for (int64_t j = 0; j < lines; j++)
    for (int64_t i = 0; i < n; i++) {
      double x = a[j * stride + i], y = w[j * stride + i];
      lane[i % LAM_LANES] += y > 0 ? x * x / y : 0;
    }
  for (int l = 0; l < LAM_LANES; l++)
    sum += lane[l];
  return sum;
}

static void
apply_task (int64_t v, int worker, void *data)
{
  const Apply *a = data;
  LamProjector *p = a->p;
  int d = a->device->index;
  int64_t floats = lam_projector_view_floats (p);
  float *view = a->sino->at[d] + v * floats;
  const float *w = a->weights ? a->weights->at[d] + v * floats : NULL;
  if (a->step)
    take_step (p, d, worker, p->views.range[d].begin + v, view, w, a->step);
  if (a->sums)
    p->work[d].sums[v] = view_norm (p, view, w);
}

static gboolean
apply_device (LamDevice *device, void *data, GError **error)
{
  Apply a = *(const Apply *) data;
  a.device = device;
  lam_device_for (device, lam_placement_count (&a.p->views, device->index), apply_task, &a);
  return TRUE; /* never half a step: a cancelled run still leaves error and image in agreement */
}

gboolean
lam_projector_apply_step (LamProjector *p, LamShards *error_sino, const LamShards *weights, const LamStep *step,
                          double *ee, GError **error)
{
  Apply a = {p, NULL, error_sino, weights, step, ee != NULL};
  return lam_devices_run (p->set, apply_device, &a, error) && (!ee || sum_views (p, ee, error));
}
