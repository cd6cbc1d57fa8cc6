/* projector-host.c: between host arrays in file order and the shards' own layouts. */
#include <string.h>

#include "core/error.h"
#include "ct/projector-private.h"

typedef struct {
  LamProjector *p;
  LamDevice *device;
  const float *from;
  float *to;
  LamRange rows;
} Transfer;

typedef struct {
  LamProjector *p;
  float *host; /* at the first view of the range */
  LamShards *shards;
  gboolean put, volume;
  LamRange views;
} Call;

/* [a][b] -> [b][a], in small tiles so that both sides stay in cache. */
static void
transpose (int64_t a, int64_t b, const float *from, int64_t from_stride, float *to, int64_t to_stride)
{
  enum { T = 32 };
  for (int64_t i0 = 0; i0 < a; i0 += T)
    for (int64_t j0 = 0; j0 < b; j0 += T)
      for (int64_t i = i0; i < LAM_MIN (i0 + T, a); i++)
        for (int64_t j = j0; j < LAM_MIN (j0 + T, b); j++)
          to[j * to_stride + i] = from[i * from_stride + j];
}

static void
put_view (int64_t v, int worker, void *data)
{
  const Transfer *t = data;
  const LamGeometry *g = t->p->geometry;
  int64_t stride = lam_projector_line_stride (t->p);
  const float *from = t->from + v * g->rows * g->channels;
  float *to = t->to + v * lam_projector_view_floats (t->p);
  if (t->p->layout == LAM_LAYOUT_SLICES)
    transpose (g->rows, g->channels, from, g->channels, to, stride);
  else
    for (int64_t m = 0; m < g->rows; m++)
      memcpy (to + m * stride, from + m * g->channels, g->channels * sizeof *to);
}

static void
get_view (int64_t v, int worker, void *data)
{
  const Transfer *t = data;
  const LamGeometry *g = t->p->geometry;
  int64_t stride = lam_projector_line_stride (t->p);
  const float *from = t->from + v * lam_projector_view_floats (t->p);
  float *to = t->to + v * g->rows * g->channels;
  if (t->p->layout == LAM_LAYOUT_SLICES)
    transpose (g->channels, g->rows, from, stride, to, g->channels);
  else
    for (int64_t m = 0; m < g->rows; m++)
      memcpy (to + m * g->channels, from + m * stride, g->channels * sizeof *to);
}

/* The device's views lie together in the host's sinogram too: the copy and the turn are one step. */
static gboolean
sino_device (LamDevice *device, void *data, GError **error)
{
  const Call *c = data;
  const LamGeometry *g = c->p->geometry;
  LamRange own = c->p->views.range[device->index];
  LamRange part = {LAM_MAX (own.begin, c->views.begin), LAM_MIN (own.end, c->views.end)};
  float *shard = c->shards->at[device->index] + (part.begin - own.begin) * lam_projector_view_floats (c->p);
  float *host = c->host + (part.begin - c->views.begin) * g->rows * g->channels;
  Transfer t = {c->p, device, c->put ? host : shard, c->put ? shard : host, {0, 0}};
  if (lam_range_size (part) == 0)
    return TRUE;
  lam_device_for (device, lam_range_size (part), c->put ? put_view : get_view, &t);
  atomic_fetch_add (c->put ? &device->copied_in : &device->copied_out,
                    lam_range_size (part) * g->rows * g->channels * 4);
  return lam_control_go_on (c->p->control, error);
}

gboolean
lam_projector_put_views (LamProjector *p, LamRange views, const float *host, LamShards *sino, GError **error)
{
  Call c = {p, (float *) host, sino, TRUE, FALSE, views};
  return lam_devices_run (p->set, sino_device, &c, error);
}

gboolean
lam_projector_get_views (LamProjector *p, LamRange views, const LamShards *sino, float *host, GError **error)
{
  Call c = {p, host, (LamShards *) sino, FALSE, FALSE, views};
  return lam_devices_run (p->set, sino_device, &c, error);
}

gboolean
lam_projector_put_sino (LamProjector *p, const float *host, LamShards *sino, GError **error)
{
  return lam_projector_put_views (p, (LamRange){0, p->g.views}, host, sino, error);
}

gboolean
lam_projector_get_sino (LamProjector *p, const LamShards *sino, float *host, GError **error)
{
  return lam_projector_get_views (p, (LamRange){0, p->g.views}, sino, host, error);
}

/* One row of the volume: [column][slice] of all slices on the host, own slices on the device. */
static void
write_row (int64_t index, int worker, void *data)
{
  const Transfer *t = data;
  LamProjector *p = t->p;
  int d = t->device->index;
  int64_t row = t->rows.begin + index, columns = p->geometry->recon_columns, all = p->geometry->recon_slices;
  LamRange own = p->slices.range[d];
  int64_t n = lam_range_size (own), stride = lam_projector_packed_stride (p, d, p->pixels);
  float *shard = t->to;
  const float *host = t->from + index * columns * all + own.begin;
  for (int64_t j = 0; j < columns; j++) {
    int64_t pixel = row * columns + j;
    if (p->layout == LAM_LAYOUT_SLICES)
      memcpy (shard + pixel * stride, host + j * all, n * sizeof *host);
    else
      for (int64_t k = 0; k < n; k++)
        shard[k * stride + pixel] = host[j * all + k];
  }
}

static void
read_row (int64_t index, int worker, void *data)
{
  const Transfer *t = data;
  LamProjector *p = t->p;
  int d = t->device->index;
  int64_t columns = p->geometry->recon_columns, all = p->geometry->recon_slices;
  LamRange own = p->slices.range[d];
  int64_t n = lam_range_size (own), stride = lam_projector_packed_stride (p, d, p->pixels);
  float *host = t->to + index * columns * all + own.begin;
  for (int64_t j = 0; j < columns; j++) {
    int64_t pixel = (t->rows.begin + index) * columns + j;
    if (p->layout == LAM_LAYOUT_SLICES)
      memcpy (host + j * all, t->from + pixel * stride, n * sizeof *host);
    else
      for (int64_t k = 0; k < n; k++)
        host[j * all + k] = t->from[k * stride + pixel];
  }
}

typedef struct {
  LamProjector *p;
  const float *from;
  float *to;
  LamShards *shards;
  LamRange rows;
} VolumeCall;

static gboolean
put_volume_device (LamDevice *device, void *data, GError **error)
{
  const VolumeCall *c = data;
  Transfer t = {c->p, device, c->from, c->shards->at[device->index], c->rows};
  lam_device_for (device, lam_range_size (c->rows), write_row, &t);
  atomic_fetch_add (&device->copied_in, lam_placement_count (&c->p->slices, device->index) * lam_range_size (c->rows)
                                            * c->p->geometry->recon_columns * 4);
  return lam_control_go_on (c->p->control, error);
}

static gboolean
get_rows_device (LamDevice *device, void *data, GError **error)
{
  const VolumeCall *c = data;
  Transfer t = {c->p, device, c->shards->at[device->index], c->to, c->rows};
  lam_device_for (device, lam_range_size (c->rows), read_row, &t);
  int64_t pixels = lam_range_size (c->rows) * c->p->geometry->recon_columns;
  atomic_fetch_add (&device->copied_out, lam_placement_count (&c->p->slices, device->index) * pixels * 4);
  return TRUE;
}

gboolean
lam_projector_put_rows (LamProjector *p, LamRange rows, const float *host, LamShards *volume, GError **error)
{
  VolumeCall c = {p, host, NULL, volume, rows};
  return lam_devices_run (p->set, put_volume_device, &c, error);
}

gboolean
lam_projector_put_volume (LamProjector *p, const float *host, LamShards *volume, GError **error)
{
  return lam_projector_put_rows (p, (LamRange){0, p->geometry->recon_rows}, host, volume, error);
}

gboolean
lam_projector_get_rows (LamProjector *p, const LamShards *volume, LamRange rows, float *host, GError **error)
{
  VolumeCall c = {p, NULL, host, (LamShards *) volume, rows};
  return lam_devices_run (p->set, get_rows_device, &c, error);
}

gboolean
lam_projector_get_volume (LamProjector *p, const LamShards *volume, float *host, GError **error)
{
  return lam_projector_get_rows (p, volume, (LamRange){0, p->geometry->recon_rows}, host, error)
         && lam_control_go_on (p->control, error);
}

static void
zero_piece (int64_t index, int worker, void *data)
{
  const Transfer *t = data;
  int64_t begin = index << 20, end = LAM_MIN (begin + (1 << 20), t->rows.end);
  memset (t->to + begin, 0, (end - begin) * sizeof *t->to);
}

static gboolean
zero_device (LamDevice *device, void *data, GError **error)
{
  const Call *c = data;
  int64_t n =
      c->volume ? lam_projector_volume_floats (c->p, device->index) : lam_projector_sino_floats (c->p, device->index);
  Transfer t = {c->p, device, NULL, c->shards->at[device->index], {0, n}};
  lam_device_for (device, (n + (1 << 20) - 1) >> 20, zero_piece, &t);
  return TRUE;
}

gboolean
lam_projector_zero (LamProjector *p, LamShards *shards, gboolean volume, GError **error)
{
  Call c = {p, NULL, shards, TRUE, volume, {0, 0}};
  return lam_devices_run (p->set, zero_device, &c, error);
}

/* ---- one plane, for a picture ---- */

typedef struct {
  LamProjector *p;
  const LamShards *volume;
  int axis; /* 0 slice, 1 row, 2 column */
  int64_t index;
  float *host;
  int d;
} Plane;

/* Line @j of the picture: pixels of one row for a slice; one pixel's own slices for the other two. */
static void
plane_line (int64_t j, int worker, void *data)
{
  const Plane *a = data;
  LamProjector *p = a->p;
  LamRange own = p->slices.range[a->d];
  int64_t columns = p->geometry->recon_columns, stride = lam_projector_packed_stride (p, a->d, p->pixels);
  int64_t ps = p->layout == LAM_LAYOUT_SLICES ? stride : 1, ks = p->layout == LAM_LAYOUT_SLICES ? 1 : stride;
  const float *x = a->volume->at[a->d];
  if (a->axis == 0) {
    for (int64_t i = 0; i < columns; i++)
      a->host[j * columns + i] = x[(j * columns + i) * ps + (a->index - own.begin) * ks];
    return;
  }
  int64_t width = a->axis == 1 ? columns : p->geometry->recon_rows;
  int64_t pixel = a->axis == 1 ? a->index * columns + j : j * columns + a->index;
  for (int64_t k = own.begin; k < own.end; k++)
    a->host[k * width + j] = x[pixel * ps + (k - own.begin) * ks];
}

static gboolean
plane_device (LamDevice *device, void *data, GError **error)
{
  Plane a = *(const Plane *) data;
  const LamGeometry *g = a.p->geometry;
  LamRange own = a.p->slices.range[device->index];
  a.d = device->index;
  if (lam_range_size (own) == 0 || (a.axis == 0 && (a.index < own.begin || a.index >= own.end)))
    return TRUE;
  int64_t lines = a.axis == 1 ? g->recon_columns : g->recon_rows;
  lam_device_for (device, lines, plane_line, &a);
  atomic_fetch_add (&device->copied_out, lines * (a.axis == 0 ? g->recon_columns : lam_range_size (own)) * 4);
  return TRUE;
}

gboolean
lam_projector_get_plane (LamProjector *p, const LamShards *volume, int axis, int64_t index, float *host, GError **error)
{
  Plane a = {p, volume, axis, index, host, 0};
  return lam_devices_run (p->set, plane_device, &a, error);
}
