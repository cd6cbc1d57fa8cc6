/* test-core.c: the pool of threads, the order of sums, who owns what, plans, copies and the guard between devices. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/device.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/order.h"
#include "core/placement.h"
#include "core/plan.h"
#include "core/random.h"
#include "core/threadpool.h"

/* ---- pool ---- */

#define POOL_THREADS 4
#define POOL_CALLERS 6
#define POOL_N 700
#define POOL_OWNERS 5 /* more than threads */

typedef struct {
  LamPool *pool;
  int64_t *scratch;    /* [POOL_THREADS] of all calls: plain, so that TSan sees two users of one place */
  _Atomic int *inside; /* [POOL_THREADS] */
  int32_t hits[POOL_N];
  int64_t n;
  _Atomic int64_t busy_ns;
} Calls;

static void
count_hit (int64_t index, int worker, void *data)
{
  Calls *c = data;
  g_assert_cmpint (worker, >=, 0);
  g_assert_cmpint (worker, <, POOL_THREADS);
  g_assert_cmpint (atomic_fetch_add (&c->inside[worker], 1), ==, 0);
  c->scratch[worker] += index;
  c->hits[index]++;
  atomic_fetch_sub (&c->inside[worker], 1);
}

typedef struct {
  Calls *calls;
  int64_t first;
} Share;

static void
count_share (int64_t index, int worker, void *data)
{
  const Share *s = data;
  count_hit (s->first + index, worker, s->calls);
}

/* An owner's share of the indices, in two calls: what the first did is there when the second begins. */
static void
count_owned (int64_t owner, int worker, void *data)
{
  Calls *c = data;
  int64_t begin = c->n * owner / POOL_OWNERS, end = c->n * (owner + 1) / POOL_OWNERS, half = (begin + end) / 2;
  Share first = {c, begin}, second = {c, half};
  lam_pool_for (c->pool, half - begin, count_share, &first, &c->busy_ns);
  for (int64_t i = begin; i < half; i++)
    g_assert_cmpint (c->hits[i], ==, 1);
  lam_pool_for (c->pool, end - half, count_share, &second, &c->busy_ns);
}

static void *
call_often (void *data)
{
  Calls *c = data;
  for (int round = 0; round < 60; round++) {
    int64_t n = c->n = 1 + (round * 37) % POOL_N;
    memset (c->hits, 0, sizeof c->hits);
    if (round % 2)
      lam_pool_for_each_owner (c->pool, POOL_OWNERS, count_owned, c);
    else
      lam_pool_for (c->pool, n, count_hit, c, &c->busy_ns);
    for (int64_t i = 0; i < POOL_N; i++)
      g_assert_cmpint (c->hits[i], ==, i < n ? 1 : 0); /* all were done when it returned, each once */
  }
  return NULL;
}

/* Several callers at a time, with owners and without: each index once, and no place (worker) is used by two threads at a time. */
static void
test_pool_callers (void)
{
  LamPool *pool = lam_pool_new (POOL_THREADS);
  g_assert_cmpint (lam_pool_threads (pool), ==, POOL_THREADS);
  int64_t scratch[POOL_THREADS] = {0};
  _Atomic int inside[POOL_THREADS] = {0};
  Calls *calls = g_new0 (Calls, POOL_CALLERS);
  pthread_t threads[POOL_CALLERS];
  for (int i = 0; i < POOL_CALLERS; i++) {
    calls[i].pool = pool;
    calls[i].scratch = scratch;
    calls[i].inside = inside;
    g_assert_cmpint (pthread_create (&threads[i], NULL, call_often, &calls[i]), ==, 0);
  }
  for (int i = 0; i < POOL_CALLERS; i++)
    pthread_join (threads[i], NULL);
  for (int i = 0; i < POOL_CALLERS; i++)
    g_assert_cmpint (calls[i].busy_ns, >, 0);
  g_free (calls);
  lam_pool_free (pool);
}

typedef struct {
  LamPool *pool;
  _Atomic int64_t sum;
  int worker;
} Nested;

static void
add_inner (int64_t index, int worker, void *data)
{
  Nested *n = data;
  g_assert_cmpint (worker, ==, n->worker);
  atomic_fetch_add (&n->sum, index);
}

static void
add_outer (int64_t index, int worker, void *data)
{
  Nested *outer = data, inner = {.pool = outer->pool, .worker = worker};
  lam_pool_for (outer->pool, 10, add_inner, &inner, NULL);
  atomic_fetch_add (&outer->sum, inner.sum);
}

/* A call from inside a call runs on the caller's own place; nothing to do is done at once. */
static void
test_pool_nested (void)
{
  for (int threads = 1; threads <= 5; threads += 2) {
    LamPool *pool = lam_pool_new (threads);
    Nested n = {.pool = pool};
    lam_pool_for (pool, 0, add_outer, &n, NULL);
    lam_pool_for (pool, -3, add_outer, &n, NULL);
    g_assert_cmpint (n.sum, ==, 0);
    lam_pool_for (pool, 50, add_outer, &n, NULL);
    g_assert_cmpint (n.sum, ==, 50 * 45);
    lam_pool_free (pool);
  }
}

/* ---- order of sums ---- */

/* The tree by its definition (core/order.h), written a second time. */
static float
tree_sum (const LamBlocks *b, LamNode node, const float *x)
{
  LamRange r = lam_node_blocks (b, node);
  if (node.level == 0)
    return x[r.begin];
  LamNode left = {node.level - 1, node.index * 2}, right = {node.level - 1, node.index * 2 + 1};
  float sum = tree_sum (b, left, x);
  return lam_range_size (lam_node_blocks (b, right)) > 0 ? sum + tree_sum (b, right, x) : sum;
}

static float
root_sum (const LamBlocks *b, const float *x)
{
  int level = 0;
  while ((INT64_C (1) << level) < b->count)
    level++;
  return tree_sum (b, (LamNode){level, 0}, x);
}

static void
test_blocks (void)
{
  static const struct {
    int64_t views, size, count;
  } known[] = {{1, 1, 1}, {32, 1, 32}, {33, 2, 17}, {180, 6, 30}, {512, 16, 32}, {513, 16, 33}, {10000, 16, 625}};
  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    LamBlocks b = lam_blocks_new (known[i].views);
    g_assert_cmpint (b.size, ==, known[i].size);
    g_assert_cmpint (b.count, ==, known[i].count);
    int64_t at = 0;
    for (int64_t k = 0; k < b.count; k++) {
      LamRange r = lam_blocks_views (&b, k);
      g_assert_cmpint (r.begin, ==, at);
      g_assert_cmpint (lam_range_size (r), >, 0);
      at = r.end;
    }
    g_assert_cmpint (at, ==, known[i].views);
  }
}

/* Whatever the cuts between devices, empty shards among them, and however fine the nodes: the same bits as the tree. */
static void
test_fold (void)
{
  LamRandom random;
  lam_random_init (&random, 20, 1);
  for (int round = 0; round < 3000; round++) {
    LamBlocks b = lam_blocks_new (1 + (int64_t) lam_random_below (&random, round % 2 ? 700 : 60));
    g_autofree float *x = g_new (float, b.count);
    for (int64_t i = 0; i < b.count; i++)
      x[i] = (float) (lam_random_normal (&random) * pow (10, (double) lam_random_below (&random, 6)));
    int devices = 1 + (int) lam_random_below (&random, 9), at_least = 1 + (int) lam_random_below (&random, 12);
    int64_t cut[10] = {0};
    for (int d = 1; d < devices; d++)
      cut[d] = (int64_t) lam_random_below (&random, b.count + 1);
    cut[devices] = b.count;
    for (int d = 1; d < devices; d++) /* ascending */
      for (int e = d; e > 1 && cut[e] < cut[e - 1]; e--) {
        int64_t t = cut[e];
        cut[e] = cut[e - 1];
        cut[e - 1] = t;
      }
    LamNode nodes[LAM_MAX_NODES];
    uint8_t merges[LAM_MAX_NODES];
    int n = 0;
    for (int d = 0; d < devices; d++) {
      int fewest = lam_blocks_nodes (&b, (LamRange){cut[d], cut[d + 1]}, 1, nodes + n);
      int log = 1;
      while ((INT64_C (1) << log) < b.count)
        log++;
      g_assert_cmpint (fewest, <=, 2 * log);
      n += lam_blocks_nodes (&b, (LamRange){cut[d], cut[d + 1]}, at_least, nodes + n);
    }
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
      g_assert_cmpint (lam_node_blocks (&b, nodes[i]).begin, ==, at);
      at = lam_node_blocks (&b, nodes[i]).end;
    }
    g_assert_cmpint (at, ==, b.count);
    int deepest = lam_fold_program (&b, (LamRange){0, b.count}, nodes, n, merges);
    g_assert_cmpint (deepest, >, 0);
    float stack[80];
    int depth = 0;
    for (int i = 0; i < n; i++) {
      stack[depth++] = tree_sum (&b, nodes[i], x);
      g_assert_cmpint (depth, <=, deepest);
      for (int m = 0; m < merges[i]; m++, depth--)
        stack[depth - 2] += stack[depth - 1];
    }
    g_assert_cmpint (depth, ==, 1);
    float root = root_sum (&b, x);
    g_assert_true (memcmp (&root, stack, sizeof root) == 0);
  }
}

/* Nodes with a gap, with an overlap or without the end are not folded. */
static void
test_fold_refused (void)
{
  LamBlocks b = lam_blocks_new (32 * 7);
  uint8_t merges[8];
  const LamNode gap[] = {{3, 0}, {3, 2}}, overlap[] = {{3, 0}, {2, 1}}, short_of[] = {{4, 0}};
  g_assert_cmpint (lam_fold_program (&b, (LamRange){0, b.count}, gap, 2, merges), ==, -1);
  g_assert_cmpint (lam_fold_program (&b, (LamRange){0, b.count}, overlap, 2, merges), ==, -1);
  g_assert_cmpint (lam_fold_program (&b, (LamRange){0, b.count}, short_of, 1, merges), ==, -1);
}

/* ---- placement ---- */

static void
test_placement (void)
{
  LamRandom random;
  lam_random_init (&random, 21, 1);
  for (int round = 0; round < 2000; round++) {
    int64_t size = 1 + (int64_t) lam_random_below (&random, 300), unit = 1 + (int64_t) lam_random_below (&random, 20);
    int devices = 1 + (int) lam_random_below (&random, round % 3 ? 12 : LAM_MAX_DEVICES);
    LamPlacement p = lam_placement_split (size, unit, 1, devices);
    int64_t at = 0, least = size, most = 0;
    for (int d = 0; d < devices; d++) {
      int64_t n = lam_placement_count (&p, d);
      g_assert_cmpint (p.range[d].begin, ==, at);
      g_assert_cmpint (p.range[d].end, >=, at);
      g_assert_true (p.range[d].end % unit == 0 || p.range[d].end == size);
      for (int64_t i = p.range[d].begin; i < p.range[d].end; i++)
        g_assert_cmpint (lam_placement_owner (&p, i), ==, d);
      at = p.range[d].end;
      least = MIN (least, (n + unit - 1) / unit);
      most = MAX (most, (n + unit - 1) / unit);
      g_assert_cmpint (n, <=, p.largest);
    }
    g_assert_cmpint (at, ==, size);
    g_assert_cmpint (most - least, <=, 1); /* as even as the unit allows */
    g_assert_cmpint (lam_placement_owner (&p, -1), ==, -1);
    g_assert_cmpint (lam_placement_owner (&p, size), ==, -1);
  }
}

/* ---- plans ---- */

static LamDevices *
devices_new (const char *spec)
{
  g_autoptr (GError) error = NULL;
  LamDevices *set = lam_devices_new (spec, &error);
  g_assert_no_error (error);
  return set;
}

/* Peaks by phase; memory only through the plan; what was taken is what was measured. */
static void
test_plan (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = devices_new ("2xcpu");
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  int one = lam_plan_add_phase (plan, "one"), two = lam_plan_add_phase (plan, "two"),
      three = lam_plan_add_phase (plan, "three");
  lam_plan_add_buffer (plan, 0, "a", 1000, one, two);
  lam_plan_add_buffer (plan, 0, "b", 500, two, three);
  lam_plan_add_buffer (plan, 0, "c", 900, three, three);
  lam_plan_add_buffer (plan, 1, "a", 70, one, three);
  lam_plan_add_buffer (plan, LAM_HOST, "h", 30, two, two);
  lam_plan_add_copy (plan, "halo", 0, 1, 64, two);
  lam_plan_add_copy (plan, "halo", 1, 1, 64, two); /* no copy at all */
  lam_plan_add_copy (plan, "out", 0, LAM_HOST, 640, three);
  g_assert_cmpint (lam_plan_phase_bytes (plan, 0, one), ==, 1000);
  g_assert_cmpint (lam_plan_phase_bytes (plan, 0, two), ==, 1500);
  g_assert_cmpint (lam_plan_peak (plan, 0), ==, 1500);
  g_assert_cmpint (lam_plan_peak (plan, 1), ==, 70);
  g_assert_cmpint (lam_plan_peak (plan, LAM_HOST), ==, 30);
  g_assert_cmpint (lam_plan_total (plan), ==, 1600);
  g_assert_cmpint (lam_plan_copied (plan), ==, 64);
  g_assert_true (lam_plan_fits (plan, &error));

  g_assert_null (lam_plan_take (plan, 1, "b", &error)); /* planned on device 0 only */
  g_assert_error (error, LAM_ERROR, LAM_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "\"b\""));
  g_clear_error (&error);
  void *a = lam_plan_take (plan, 0, "a", &error);
  g_assert_nonnull (a);
  g_assert_true (lam_plan_take (plan, 0, "a", &error) == a && lam_plan_get (plan, 0, "a") == a);
  g_assert_cmpint (lam_plan_measured (plan, 0), ==, 1000);
  g_assert_cmpint (lam_devices_get (set, 0)->bytes, ==, 1000);
  g_assert_nonnull (lam_plan_take (plan, 0, "b", &error));
  g_assert_nonnull (lam_plan_take (plan, LAM_HOST, "h", &error));
  lam_plan_release (plan, 0, "a");
  g_assert_null (lam_plan_get (plan, 0, "a"));
  g_assert_nonnull (lam_plan_take (plan, 0, "c", &error));
  g_assert_cmpint (lam_plan_measured (plan, 0), ==, 1500);
  lam_plan_release_others (plan, "c");
  g_assert_cmpint (lam_devices_get (set, 0)->bytes, ==, 900);
  lam_plan_release_all (plan);
  g_assert_cmpint (lam_devices_get (set, 0)->bytes, ==, 0);
  g_assert_cmpint (lam_plan_measured (plan, 0), ==, lam_plan_peak (plan, 0));
}

/* Case S4, the planner's part: sizes that overflow are too large, never a wrapped number. */
static void
test_plan_overflow (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = devices_new ("1xcpu");
  int64_t voxels = lam_mul_size (lam_mul_size (1024, 1024), 2049);
  g_assert_cmpint (voxels, ==, INT64_C (2148532224));
  g_assert_cmpint (lam_mul_size (voxels, 4), ==, INT64_C (8594128896));
  int64_t cubed = lam_mul_size (lam_mul_size (1 << 21, 1 << 21), 1 << 21);
  g_assert_cmpint (cubed, ==, -1);
  g_assert_cmpint (lam_mul_size (cubed, 4), ==, -1);
  {
    g_autoptr (LamPlan) plan = lam_plan_new (set);
    lam_plan_add_phase (plan, "all");
    lam_plan_add_buffer (plan, 0, "volume", cubed, 0, 0);
    g_assert_cmpint (lam_plan_peak (plan, 0), ==, -1);
    g_assert_false (lam_plan_fits (plan, &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    g_assert_nonnull (strstr (error->message, "too large"));
    g_clear_error (&error);
    g_assert_null (lam_plan_take (plan, 0, "volume", &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    g_clear_error (&error);
  }
  /* What is advised can be done: 4 rows are not binned by 16, half a slice is none. */
  {
    int64_t budget = lam_devices_get (set, 0)->budget;
    g_autoptr (LamPlan) plan = lam_plan_new (set);
    lam_plan_add_phase (plan, "all");
    lam_plan_add_buffer (plan, 0, "volume", budget * 100 * lam_devices_count (set), 0, 0);
    g_assert_false (lam_plan_fits (plan, &error));
    g_assert_nonnull (strstr (error->message, "1 % of the slices (--slices), or --bin 8"));
    g_clear_error (&error);
    lam_plan_set_limits (plan, 4, 4);
    g_assert_false (lam_plan_fits (plan, &error));
    g_assert_nonnull (strstr (error->message, "neither fewer slices nor binning is enough"));
    g_clear_error (&error);
    lam_plan_set_limits (plan, 4, 8);
    g_assert_false (lam_plan_fits (plan, &error));
    g_assert_nonnull (strstr (error->message, "Smallest change that fits: --bin 8"));
    g_clear_error (&error);
    /* What has other parts is told of these, and of nothing else. */
    lam_plan_set_parts (plan, "atoms", "shorter ranges", 100000 * lam_devices_count (set));
    g_assert_false (lam_plan_fits (plan, &error));
    g_assert_nonnull (strstr (error->message, "Smallest change that fits: about "));
    g_assert_nonnull (strstr (error->message, " atoms instead of "));
    g_assert_nonnull (strstr (error->message, "(shorter ranges)"));
    g_assert_null (strstr (error->message, "slices"));
    g_assert_null (strstr (error->message, "--bin"));
    g_clear_error (&error);
    lam_plan_set_parts (plan, "atoms", "shorter ranges", 3);
    g_assert_false (lam_plan_fits (plan, &error));
    g_assert_nonnull (strstr (error->message, "Fewer atoms are not enough"));
    g_clear_error (&error);
  }
  g_autoptr (LamPlan) sum = lam_plan_new (set);
  lam_plan_add_phase (sum, "all");
  for (int i = 0; i < 3; i++) {
    g_autofree char *name = g_strdup_printf ("part %d", i);
    lam_plan_add_buffer (sum, 0, name, INT64_MAX / 2, 0, 0);
  }
  g_assert_cmpint (lam_plan_total (sum), ==, -1);
  g_assert_false (lam_plan_fits (sum, NULL));
}

/* Every allocation can fail on demand, says what it was for, and leaves nothing behind. */
static void
test_memory (void)
{
  g_autoptr (LamDevices) set = devices_new ("1xcpu");
  int64_t held = lam_memory_bytes ();
  for (int device = LAM_HOST; device <= 0; device++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LamPlan) plan = lam_plan_new (set);
    lam_plan_add_phase (plan, "all");
    lam_plan_add_buffer (plan, device, "sinogram", 5000, 0, 0);
    lam_memory_fail_at (1);
    g_assert_null (lam_plan_take (plan, device, "sinogram", &error));
    lam_memory_fail_at (0);
    g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    g_assert_true (g_str_has_prefix (error->message, "sinogram: "));
    g_assert_cmpint (lam_plan_measured (plan, device), ==, 0);
    g_clear_error (&error);
    float *memory = lam_plan_take (plan, device, "sinogram", &error);
    g_assert_no_error (error);
    g_assert_cmpint ((intptr_t) memory % LAM_ALIGN, ==, 0);
    g_assert_true (!lam_poison_enabled () || isnan (memory[1249]));
  }
  g_assert_cmpint (lam_memory_bytes (), ==, held);
}

/* ---- devices ---- */

typedef struct {
  LamDevices *set;
  float *at[3];
  int64_t read;
} Copies;

static gboolean
fetch_left (LamDevice *device, void *data, GError **error)
{
  Copies *c = data;
  int d = device->index, from = (d + 2) % 3;
  /* 3 rows of 5 floats out of rows of 8. */
  lam_copy (c->set, d, c->at[d] + 32, 20, from, c->at[from], 32, 20, 3);
  return TRUE;
}

/* What was copied is right, and counted on both sides; a copy in place is none. */
static void
test_copies (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = devices_new ("3xcpu");
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  Copies c = {.set = set};
  lam_plan_add_phase (plan, "all");
  for (int d = 0; d < 3; d++)
    lam_plan_add_buffer (plan, d, "x", 64 * 4, 0, 0);
  for (int d = 0; d < 3; d++) {
    float host[32];
    c.at[d] = lam_plan_take (plan, d, "x", &error);
    g_assert_no_error (error);
    for (int i = 0; i < 32; i++)
      host[i] = (float) (100 * d + i);
    lam_copy (set, d, c.at[d], sizeof host, LAM_HOST, host, sizeof host, sizeof host, 1);
  }
  lam_devices_reset_counters (set);
  g_assert_true (lam_devices_run (set, fetch_left, &c, &error));
  for (int d = 0; d < 3; d++) {
    float got[15];
    int from = (d + 2) % 3;
    lam_copy (set, LAM_HOST, got, sizeof got, d, c.at[d] + 32, sizeof got, sizeof got, 1);
    for (int i = 0; i < 15; i++)
      g_assert_cmpfloat (got[i], ==, (float) (100 * from + i / 5 * 8 + i % 5));
    g_assert_cmpint (lam_devices_get (set, d)->copied_in, ==, 60);
    g_assert_cmpint (lam_devices_get (set, d)->copied_out, ==, 60 + 60); /* to a neighbour, and here to the host */
  }
  g_assert_cmpint (lam_devices_copied (set), ==, 3 * 60);
  lam_copy (set, 1, c.at[1], 16, 1, c.at[1] + 8, 16, 16, 1);
  g_assert_cmpint (lam_devices_copied (set), ==, 3 * 60);
}

static gboolean
fail_some (LamDevice *device, void *data, GError **error)
{
  _Atomic int *calls = data;
  atomic_fetch_add (calls, 1);
  if (device->index == 0)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "device %d", device->index);
  return FALSE;
}

/* All devices take the step to its end; the first device's error is the one reported; the set goes on working. */
static void
test_device_errors (void)
{
  g_autoptr (LamDevices) set = devices_new ("4xcpu");
  for (int round = 0; round < 50; round++) {
    g_autoptr (GError) error = NULL;
    _Atomic int calls = 0;
    g_assert_false (lam_devices_run (set, fail_some, &calls, &error));
    g_assert_cmpint (calls, ==, 4);
    g_assert_error (error, LAM_ERROR, LAM_ERROR_FAILED);
    g_assert_cmpstr (error->message, ==, "device 1");
  }
}

static gboolean
peek (LamDevice *device, void *data, GError **error)
{
  Copies *c = data;
  if (device->index == 1)
    c->read += *(volatile float *) c->at[0] == 0 ? 1 : 2; /* of another device, and not by lam_copy () */
  return TRUE;
}

/* Under the guard a read across devices ends the process. */
static void
test_guard (void)
{
  if (g_test_subprocess ()) {
    g_autoptr (LamDevices) set = devices_new ("2xcpu");
    g_autoptr (LamPlan) plan = lam_plan_new (set);
    Copies c = {.set = set};
    lam_plan_add_phase (plan, "all");
    lam_plan_add_buffer (plan, 0, "x", 4096, 0, 0);
    c.at[0] = lam_plan_take (plan, 0, "x", NULL);
    g_assert_true (lam_devices_run (set, peek, &c, NULL));
    return;
  }
  g_setenv ("LAMINA_DEVICE_GUARD", "0", TRUE);
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_setenv ("LAMINA_DEVICE_GUARD", "1", TRUE);
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_unsetenv ("LAMINA_DEVICE_GUARD");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/pool/callers", test_pool_callers);
  g_test_add_func ("/core/pool/nested", test_pool_nested);
  g_test_add_func ("/core/order/blocks", test_blocks);
  g_test_add_func ("/core/order/fold", test_fold);
  g_test_add_func ("/core/order/fold-refused", test_fold_refused);
  g_test_add_func ("/core/placement", test_placement);
  g_test_add_func ("/core/plan", test_plan);
  g_test_add_func ("/core/plan/overflow", test_plan_overflow);
  g_test_add_func ("/core/memory", test_memory);
  g_test_add_func ("/core/devices/copies", test_copies);
  g_test_add_func ("/core/devices/errors", test_device_errors);
  g_test_add_func ("/core/devices/guard", test_guard);
  return g_test_run ();
}
