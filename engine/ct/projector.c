/* projector.c: what a projector is made of: kernel geometry, placements, layouts, the workspace and its plan.
 * The passes are in projector-run.c, host transfers in projector-host.c. */
#include "ct/projector.h"

#include <math.h>
#include <stdlib.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/projector-private.h"

/* 1/cos(phi) = sqrt (1 + u) on [0, umax] as a polynomial in u: Chebyshev interpolation, the lowest degree that is exact
 * to float. Leaves path_degree at -1 (a square root each time) for cones too wide for that. */
static void
fit_path (LamProjectorGeometry *g, double umax)
{
  enum { MOST = 11 };
  g->path_degree = -1;
  if (!(umax <= 1.5))
    return;
  umax = LAM_MAX (umax, 1e-12);
  for (int degree = 1; degree <= MOST; degree++) {
    int n = degree + 1;
    double node[MOST + 1], divided[MOST + 1], mono[MOST + 1] = {0}, worst = 0;
    for (int i = 0; i < n; i++) {
      node[i] = umax / 2 * (1 - cos (M_PI * (i + 0.5) / n));
      divided[i] = sqrt (1 + node[i]);
    }
    for (int j = 1; j < n; j++)
      for (int i = n - 1; i >= j; i--)
        divided[i] = (divided[i] - divided[i - 1]) / (node[i] - node[i - j]);
    mono[0] = divided[n - 1];
    for (int i = n - 2; i >= 0; i--) {
      for (int k = MOST; k > 0; k--)
        mono[k] = mono[k - 1] - node[i] * mono[k];
      mono[0] = divided[i] - node[i] * mono[0];
    }
    for (int t = 0; t <= 200; t++) {
      double u = umax * t / 200, r = 0;
      for (int k = degree; k >= 0; k--)
        r = r * u + mono[k];
      worst = fmax (worst, fabs (r / sqrt (1 + u) - 1));
    }
    if (worst < 2e-8) {
      g->path_degree = degree;
      for (int k = 0; k <= degree; k++)
        g->path[k] = (float) mono[k];
      return;
    }
  }
}

/* Whether the kernels for few slices in fixed point apply: footprints of at most two channels, and fractional channels
 * within 2^19 wherever a hand moves the axis. */
static gboolean
is_planar_two_tap (const LamGeometry *s, LamLayout layout)
{
  double reach = hypot ((double) s->recon_columns, (double) s->recon_rows * s->row_aspect) * s->voxel_pitch;
  return s->kind == LAM_GEOMETRY_PARALLEL && layout == LAM_LAYOUT_PLANAR && s->channels >= 2 && s->channels < 1 << 18
         && reach / s->channel_pitch < 1 << 18 && s->voxel_pitch * fmax (1, s->row_aspect) <= s->channel_pitch;
}

static LamPlanarView
planar_view (const LamProjectorGeometry *g, int64_t view)
{
  double c = g->cosines[view], d = g->sines[view], inv_dc = 1 / g->dc;
  double f = fmax (g->dx * fabs (c), g->dy * fabs (d)), width = f * inv_dc, path = g->dx * g->dy / f;
  return (LamPlanarView){.c = c * inv_dc,
                         .d = -d * inv_dc,
                         .left = c<0, .near = d> 0,
                         .most = (float) (width * path),
                         .half = (float) ((width + 1) / 2 * path),
                         .slope = (float) (-path * 0x1p-24)};
}

static void
make_geometry (LamProjector *p)
{
  const LamGeometry *s = p->geometry;
  LamProjectorGeometry *g = &p->g;
  gboolean cone = s->kind == LAM_GEOMETRY_CONE;
  g->cone = cone;
  g->curved = cone && s->detector == LAM_DETECTOR_CURVED;
  g->layout = p->layout;
  g->views = s->views;
  g->rows = s->rows;
  g->channels = s->channels;
  g->slices = s->recon_slices;
  g->columns = s->recon_columns;
  g->dx = s->voxel_pitch;
  g->dy = s->voxel_pitch * s->row_aspect;
  g->dz = s->voxel_pitch * s->slice_aspect;
  g->cx = (double) (s->recon_columns - 1) / 2;
  g->cy = (double) (s->recon_rows - 1) / 2;
  g->z0 = s->slice_offset - g->dz * (double) (s->recon_slices - 1) / 2;
  g->dc = s->channel_pitch;
  g->dr = s->row_pitch;
  g->c0 = s->channel_offset / s->channel_pitch + (double) (s->channels - 1) / 2;
  g->r0 = s->row_offset / s->row_pitch + (double) (s->rows - 1) / 2;
  g->inv_m0 = 1 / lam_geometry_magnification (s);
  g->inv_sd = cone && isfinite (s->source_detector) ? 1 / s->source_detector : 0;
  g->source_axis = s->source_axis;
  for (int64_t v = 0; v < s->views; v++) {
    p->cosines[v] = cos (s->angles[v]);
    p->sines[v] = sin (s->angles[v]);
  }
  g->cosines = p->cosines;
  g->sines = p->sines;
  for (int64_t v = 0; p->planar && v < s->views; v++)
    p->planar[v] = planar_view (g, v);
  g->planar = p->planar;
  g->shifts = cone ? s->shifts : NULL;
  if (!cone)
    return;
  double zmax = 0, e = hypot (g->cx + 0.5, 0) * g->dx, f = (g->cy + 0.5) * g->dy;
  for (int64_t v = 0; v < (g->shifts ? s->views : 1); v++) {
    double h = g->shifts ? g->shifts[v] : 0;
    zmax = fmax (zmax, fmax (fabs (g->z0 - h), fabs (g->z0 + g->dz * (double) (g->slices - 1) - h)));
  }
  double least = g->inv_m0 - hypot (e, f) * g->inv_sd;
  fit_path (g, least > 0 ? pow (zmax * g->inv_sd / least, 2) : INFINITY);
}

static int
compare_tiles (const void *a, const void *b, void *data)
{
  const LamProjector *p = data;
  int64_t columns = p->geometry->recon_columns, x = *(const int32_t *) a, y = *(const int32_t *) b;
  int64_t xr = x / columns, xc = x % columns, yr = y / columns, yc = y % columns;
  if (xr / 16 != yr / 16)
    return xr / 16 < yr / 16 ? -1 : 1;
  if (xc / 16 != yc / 16)
    return xc / 16 < yc / 16 ? -1 : 1;
  return (x > y) - (x < y);
}

void
lam_projector_sort_tiles (const LamProjector *p, int32_t *pixel, int64_t n)
{
  if (p->layout == LAM_LAYOUT_SLICES) /* PLANAR wants whole rows side by side */
    qsort_r (pixel, n, sizeof *pixel, compare_tiles, (void *) p);
}

static int64_t
setting (const char *name)
{
  const char *text = g_getenv (name);
  return text ? LAM_MAX (g_ascii_strtoll (text, NULL, 10), 0) : 0;
}

LamProjector *
lam_projector_new_sizes (const LamGeometry *g, LamDevices *set, GError **error)
{
  if (!lam_geometry_check (g, error))
    return NULL;
  g_autoptr (LamProjector) p = g_new0 (LamProjector, 1);
  p->geometry = lam_geometry_copy (g);
  p->set = lam_devices_ref (set);
  p->kernels = lam_kernels ();
  int64_t few = g->kind == LAM_GEOMETRY_PARALLEL ? LAM_FEW_SLICES : 1;
  p->layout = g->recon_slices <= few ? LAM_LAYOUT_PLANAR : LAM_LAYOUT_SLICES;
  p->pixels = g->recon_rows * g->recon_columns;
  p->list_n = g->mask == LAM_MASK_NONE ? p->pixels : (int64_t) (G_PI / 4 * (double) p->pixels) + 1;
  p->blocks = lam_blocks_new (g->views);
  p->views = lam_placement_split (g->views, p->blocks.size, 0, lam_devices_count (set));
  p->slices = lam_placement_split (g->recon_slices, 1, 1, lam_devices_count (set));
  p->g.layout = p->layout;
  p->g.cone = g->kind == LAM_GEOMETRY_CONE;
  p->g.rows = g->rows;
  p->g.channels = g->channels;
  p->g.slices = g->recon_slices;
  p->band = setting ("LAMINA_BAND");
  if (g->kind == LAM_GEOMETRY_CONE) /* its vectors begin at whole multiples */
    p->band = lam_round_up (p->band, LAM_LANES);
  p->batch = setting ("LAMINA_BATCH");
  double bytes =
      4 * ((double) p->pixels * (double) g->recon_slices + (double) g->views * (double) g->rows * (double) g->channels);
  p->fuse_bytes = (int64_t) LAM_CLAMP (bytes / 16, 1 << 16, 4 << 20);
  p->node_bytes = (int64_t) LAM_CLAMP (bytes / 8, 1 << 20, 128 << 20);
  return g_steal_pointer (&p);
}

LamProjector *
lam_projector_new (const LamGeometry *g, LamDevices *set, GError **error)
{
  g_autoptr (LamProjector) p = lam_projector_new_sizes (g, set, error);
  if (!p)
    return NULL;
  if (p->pixels > INT32_MAX) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "volume of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 " pixels in a slice: at most 2147483647 can be indexed",
                 g->recon_rows, g->recon_columns);
    return NULL;
  }
  p->cosines = lam_alloc_n (g->views, sizeof (double), "view tables", error);
  p->sines = p->cosines ? lam_alloc_n (g->views, sizeof (double), "view tables", error) : NULL;
  if (!p->sines
      || (is_planar_two_tap (g, p->layout)
          && !(p->planar = lam_alloc_n (g->views, sizeof *p->planar, "view tables", error))))
    return NULL;
  make_geometry (p);
  p->list = lam_geometry_mask_pixels (g, &p->list_n, error);
  if (!p->list)
    return NULL;
  lam_projector_sort_tiles (p, p->list, p->list_n);
  return g_steal_pointer (&p);
}

void
lam_projector_set_offset (LamProjector *p, double channel_offset)
{
  p->geometry->channel_offset = channel_offset;
  p->g.c0 = channel_offset / p->geometry->channel_pitch + (double) (p->geometry->channels - 1) / 2;
}

void
lam_projector_free (LamProjector *p)
{
  if (!p)
    return;
  lam_geometry_free (p->geometry);
  lam_devices_unref (p->set);
  lam_free (p->cosines);
  lam_free (p->sines);
  lam_free (p->planar);
  lam_free (p->list);
  g_free (p);
}

/* ---- sizes ---- */

static int64_t
own_slices (const LamProjector *p, int d)
{
  return d < 0 ? p->geometry->recon_slices : lam_placement_count (&p->slices, d);
}

int64_t
lam_projector_line_stride (const LamProjector *p)
{
  return lam_round_up (p->layout == LAM_LAYOUT_SLICES ? p->geometry->rows : p->geometry->channels, LAM_LANES);
}

int64_t
lam_projector_view_floats (const LamProjector *p)
{
  return (p->layout == LAM_LAYOUT_SLICES ? p->geometry->channels : p->geometry->rows) * lam_projector_line_stride (p);
}

int64_t
lam_projector_sino_floats (const LamProjector *p, int d)
{
  return lam_placement_count (&p->views, d) * lam_projector_view_floats (p);
}

int64_t
lam_projector_packed_stride (const LamProjector *p, int d, int64_t n)
{
  return lam_round_up (p->layout == LAM_LAYOUT_SLICES ? own_slices (p, d) : n, LAM_LANES);
}

int64_t
lam_projector_packed_floats (const LamProjector *p, int d, int64_t n)
{
  return (p->layout == LAM_LAYOUT_SLICES ? n : own_slices (p, d)) * lam_projector_packed_stride (p, d, n);
}

int64_t
lam_projector_volume_floats (const LamProjector *p, int d)
{
  return lam_projector_packed_floats (p, d, p->pixels);
}

/* ---- how a list is cut ---- */

LamRange
lam_projector_own_blocks (const LamProjector *p, int d)
{
  LamRange v = p->views.range[d];
  if (lam_range_size (v) == 0) /* an empty range may begin inside the last block */
    return (LamRange){0, 0};
  return (LamRange){v.begin / p->blocks.size, (v.end + p->blocks.size - 1) / p->blocks.size};
}

void
lam_projector_cut_list (const LamProjector *p, int d, int64_t n, LamListCut *cut)
{
  int threads = lam_pool_threads (lam_devices_pool (p->set));
  LamRange blocks = lam_projector_own_blocks (p, d);
  int64_t most = p->longest > 0 ? LAM_MIN (n, p->longest) : n,
          all = 4 * lam_projector_packed_floats (p, LAM_HOST, most);
  cut->fused = all <= p->fuse_bytes && most == n;
  cut->batch = most;
  int64_t chunks = cut->fused ? 1 : (most + LAM_KERNEL_PIXELS - 1) / LAM_KERNEL_PIXELS;
  int64_t tasks = LAM_MAX (4 * threads / p->slices.devices, 1); /* the devices share the threads */
  int64_t wanted = (tasks + chunks - 1) / chunks;
  cut->n_nodes = lam_blocks_nodes (&p->blocks, blocks, (int) wanted, cut->nodes);
  if (!cut->fused && cut->n_nodes > 0) {
    int64_t rows = p->node_bytes / (all / most * cut->n_nodes) / LAM_KERNEL_PIXELS * LAM_KERNEL_PIXELS;
    cut->batch = LAM_CLAMP (rows, LAM_MIN (LAM_KERNEL_PIXELS, most), most);
  }
  if (p->batch > 0 && p->batch < cut->batch) {
    cut->batch = p->batch;
    cut->fused = FALSE;
  }
  cut->depth = 1;
  for (int i = 0; i < cut->n_nodes; i++) {
    int64_t size = lam_range_size (lam_node_blocks (&p->blocks, cut->nodes[i]));
    int depth = 1;
    while (size > 1) {
      depth++;
      size = (size + 1) / 2;
    }
    cut->depth = LAM_MAX (cut->depth, depth);
  }
  cut->tree_pixels = cut->fused ? n : LAM_MIN (cut->batch, LAM_KERNEL_PIXELS);
}

/* The largest pieces over all lists: the longest that is still fused, and of the cut ones the longest for each count of chunks,
 * until so many chunks that nodes are no longer split. Lists beyond p->longest are cut as one of that length. */
static void
worst_cut (const LamProjector *p, int d, int64_t longest, int64_t *tree, int64_t *nodes, int *n_nodes, int64_t *batch)
{
  int threads = lam_pool_threads (lam_devices_pool (p->set));
  int64_t per_pixel = 4 * lam_projector_packed_floats (p, LAM_HOST, LAM_LANES) / LAM_LANES;
  int64_t fused = LAM_CLAMP (p->fuse_bytes / LAM_MAX (per_pixel, 1) / LAM_LANES * LAM_LANES, 1, longest);
  *tree = *nodes = *batch = 0;
  *n_nodes = 0;
  for (int64_t c = -1; c <= 4 * threads; c++) {
    int64_t length = c < 0 ? fused : c == 0 ? longest + 1 : LAM_MIN (c * LAM_KERNEL_PIXELS, longest);
    LamListCut cut;
    if (c > 0 && length <= fused)
      continue;
    lam_projector_cut_list (p, d, length, &cut);
    int64_t t = (cut.depth - 1) * lam_projector_packed_floats (p, LAM_HOST, lam_round_up (cut.tree_pixels, LAM_LANES));
    int64_t s = cut.n_nodes * lam_projector_packed_floats (p, LAM_HOST, lam_round_up (cut.batch, LAM_LANES));
    *tree = LAM_MAX (*tree, t);
    *nodes = LAM_MAX (*nodes, s);
    *n_nodes = LAM_MAX (*n_nodes, cut.n_nodes);
    *batch = LAM_MAX (*batch, cut.batch);
  }
}

/* A list is cut alike on all devices: the smallest batch of all, fused if all fuse. */
void
lam_projector_cut_all (const LamProjector *p, int64_t n, int64_t *batch, gboolean *fused)
{
  *batch = n;
  *fused = TRUE;
  for (int d = 0; d < p->slices.devices; d++) {
    LamListCut cut;
    lam_projector_cut_list (p, d, n, &cut);
    *batch = LAM_MIN (*batch, cut.batch);
    *fused &= cut.fused;
  }
}

/* ---- the workspace ---- */

void
lam_projector_plan (LamProjector *p, LamPlan *plan, int64_t longest, int first, int last)
{
  int devices = p->slices.devices;
  int64_t threads = lam_pool_threads (lam_devices_pool (p->set)), tree, nodes, batch;
  int n_nodes, all_nodes = 0;
  p->longest = longest;
  for (int d = 0; d < devices; d++) {
    worst_cut (p, d, longest, &tree, &nodes, &n_nodes, &batch);
    all_nodes += n_nodes;
  }
  for (int d = 0; d < devices; d++) {
    worst_cut (p, d, longest, &tree, &nodes, &n_nodes, &batch);
    lam_plan_add_buffer (plan, d, "kernel scratch", threads * lam_kernel_scratch (&p->g), first, last);
    lam_plan_add_buffer (plan, d, "partial sums", threads * tree * 4, first, last);
    lam_plan_add_buffer (plan, d, "block sums", nodes * 4, first, last);
    p->work[d].tree_floats = tree;
    p->work[d].node_floats = nodes;
    p->work[d].received_nodes = 0;
    lam_plan_add_buffer (plan, d, "one view", threads * lam_projector_view_floats (p) * 4, first, last);
    lam_plan_add_buffer (plan, d, "view sums", LAM_MAX (lam_placement_count (&p->views, d), 1) * 8, first, last);
    if (devices > 1) {
      p->work[d].received_nodes = all_nodes;
      lam_plan_add_buffer (plan, d, "received sums",
                           threads * all_nodes * lam_projector_packed_floats (p, d, LAM_FOLD_PIXELS) * 4, first, last);
      lam_plan_add_buffer (plan, d, "cylinders", lam_projector_packed_floats (p, LAM_HOST, longest) * 4, first, last);
    }
  }
}

void
lam_projector_plan_copies (LamProjector *p, LamPlan *plan, const char *name, int64_t length, double forward,
                           double back, int phase)
{
  int devices = p->slices.devices;
  for (int d = 0; d < devices; d++) {
    g_autofree LamListCut *cut = g_new (LamListCut, 1);
    lam_projector_cut_list (p, d, length, cut); /* how many sums the device sends for each pixel */
    for (int o = 0; o < devices; o++) {
      int64_t slices = lam_placement_count (&p->slices, o), own = lam_placement_count (&p->views, d) > 0;
      if (o == d)
        continue;
      lam_plan_add_copy (plan, name, o, d, (int64_t) (forward * (double) (p->list_n * slices * 4)), phase);
      lam_plan_add_copy (plan, name, d, o, (int64_t) (back * (double) (own * p->list_n * slices * 4 * cut->n_nodes)),
                         phase);
    }
  }
}

gboolean
lam_projector_open (LamProjector *p, LamPlan *plan, GError **error)
{
  p->plan = plan;
  for (int d = 0; d < p->slices.devices; d++) {
    struct {
      const char *name;
      void **to;
    } take[] = {
        {"kernel scratch", (void **) &p->work[d].scratch}, {"partial sums", (void **) &p->work[d].tree},
        {"block sums", (void **) &p->work[d].nodes},       {"one view", (void **) &p->work[d].view},
        {"view sums", (void **) &p->work[d].sums},         {"received sums", (void **) &p->work[d].received},
        {"cylinders", (void **) &p->work[d].cylinders},
    };
    for (int i = 0; i < (int) G_N_ELEMENTS (take) - (p->slices.devices > 1 ? 0 : 2); i++)
      if (!(*take[i].to = lam_plan_take (plan, d, take[i].name, error)))
        return FALSE;
  }
  return TRUE;
}
