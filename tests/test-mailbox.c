/* test-mailbox.c: snapshots between threads: the newest wins, nobody waits, nothing is lost or freed twice. TSan runs this
 * too, so threads are pthreads and flags C11 atomics. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "core/memory.h"
#include "run/mailbox.h"

#define WIDTH 8

static LamSnapshot *
make (LamPlane plane, int64_t iteration)
{
  LamSnapshotInfo info = {.plane = plane, .iteration = iteration, .generation = 7, .width = WIDTH, .height = 1};
  float *pixels = lam_alloc (WIDTH * sizeof *pixels, "pixels", NULL);
  for (int i = 0; i < WIDTH; i++)
    pixels[i] = (float) (iteration + i);
  return lam_snapshot_new_take (&info, pixels);
}

/* Whole, unchanged, of the plane asked for. */
static void
check (const LamSnapshot *s, LamPlane plane)
{
  const LamSnapshotInfo *info = lam_snapshot_info (s);
  g_assert_cmpint (info->plane, ==, plane);
  g_assert_cmpuint (info->generation, ==, 7);
  for (int i = 0; i < WIDTH; i++)
    g_assert_cmpfloat (lam_snapshot_pixels (s)[i], ==, (float) (info->iteration + i));
  g_assert_cmpfloat (info->low, ==, (float) info->iteration);
  g_assert_cmpfloat (info->high, ==, (float) (info->iteration + WIDTH - 1));
}

static void
test_newest (void)
{
  int64_t held = lam_memory_bytes ();
  LamMailbox *m = lam_mailbox_new ();
  for (int plane = 0; plane < LAM_PLANES; plane++)
    g_assert_null (lam_mailbox_take (m, plane));
  g_assert_true (lam_mailbox_put (m, make (LAM_PLANE_ROW, 1))); /* was empty: wake the reader */
  g_assert_false (lam_mailbox_put (m, make (LAM_PLANE_ROW, 2)));
  g_assert_false (lam_mailbox_put (m, make (LAM_PLANE_SLICE, 3)));
  g_assert_null (lam_mailbox_take (m, LAM_PLANE_COLUMN));
  g_autoptr (LamSnapshot) row = lam_mailbox_take (m, LAM_PLANE_ROW);
  g_assert_cmpint (lam_snapshot_info (row)->iteration, ==, 2);
  g_assert_null (lam_mailbox_take (m, LAM_PLANE_ROW));
  g_assert_false (lam_mailbox_put (m, make (LAM_PLANE_ROW, 4))); /* the slice is still there */
  g_autoptr (LamSnapshot) slice = lam_mailbox_take (m, LAM_PLANE_SLICE);
  check (slice, LAM_PLANE_SLICE);
  lam_mailbox_free (m); /* with a snapshot inside */
  lam_mailbox_free (NULL);
  g_clear_pointer (&row, lam_snapshot_unref);
  g_clear_pointer (&slice, lam_snapshot_unref);
  g_assert_cmpint (lam_memory_bytes (), ==, held);
}

#define PRODUCERS 3
#define CONSUMERS 2
#define PUTS 20000

typedef struct {
  LamMailbox *mailbox;
  int index;
  _Atomic int64_t *taken;
  _Atomic int *wakes, *running;
} Worker;

/* Producer p fills plane p, so that each plane's order is known. */
static void *
produce (void *data)
{
  Worker *w = data;
  for (int64_t i = 1; i <= PUTS; i++) {
    if (lam_mailbox_put (w->mailbox, make (w->index, i)))
      atomic_fetch_add (w->wakes, 1);
    if (i % 64 == 0)
      sched_yield ();
  }
  atomic_fetch_sub (w->running, 1);
  return NULL;
}

/* Each taker sees a plane only move forward. */
static void *
consume (void *data)
{
  Worker *w = data;
  int64_t last[LAM_PLANES] = {0};
  for (gboolean more = TRUE; more;) {
    more = atomic_load (w->running) > 0;
    for (int plane = 0; plane < LAM_PLANES; plane++) {
      g_autoptr (LamSnapshot) s = lam_mailbox_take (w->mailbox, plane);
      if (!s)
        continue;
      g_autoptr (LamSnapshot) second = lam_snapshot_ref (s);
      check (second, plane);
      g_assert_cmpint (lam_snapshot_info (s)->iteration, >, last[plane]);
      last[plane] = lam_snapshot_info (s)->iteration;
      atomic_fetch_add (&w->taken[plane], 1);
      more = TRUE;
    }
  }
  return NULL;
}

static void
test_race (void)
{
  int64_t held = lam_memory_bytes ();
  for (int round = 0; round < 3; round++) {
    LamMailbox *m = lam_mailbox_new ();
    _Atomic int64_t taken[LAM_PLANES] = {0};
    _Atomic int wakes = 0, running = PRODUCERS;
    pthread_t threads[PRODUCERS + CONSUMERS];
    Worker workers[PRODUCERS + CONSUMERS];
    for (int i = 0; i < PRODUCERS + CONSUMERS; i++) {
      workers[i] = (Worker){m, i % PRODUCERS, taken, &wakes, &running};
      g_assert_cmpint (pthread_create (&threads[i], NULL, i < PRODUCERS ? produce : consume, &workers[i]), ==, 0);
    }
    for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
      pthread_join (threads[i], NULL);
    int64_t sum = 0;
    for (int plane = 0; plane < LAM_PLANES; plane++) {
      g_assert_null (lam_mailbox_take (m, plane)); /* nothing was left behind */
      g_assert_cmpint (taken[plane], >, 0);
      g_assert_cmpint (taken[plane], <=, PUTS);
      sum += taken[plane];
    }
    g_assert_cmpint (wakes, >, 0);
    g_assert_cmpint (wakes, <=, sum);
    g_test_message ("%d put, %" G_GINT64_FORMAT " taken, %d wake-ups", PRODUCERS * PUTS, sum, wakes);
    lam_mailbox_free (m);
  }
  g_assert_cmpint (lam_memory_bytes (), ==, held);
}

/* One snapshot, many readers: the last one frees it. */
static void *
share (void *data)
{
  for (int i = 0; i < 20000; i++) {
    g_autoptr (LamSnapshot) s = lam_snapshot_ref (data);
    check (s, LAM_PLANE_COLUMN);
  }
  lam_snapshot_unref (data);
  return NULL;
}

static void
test_shared (void)
{
  int64_t held = lam_memory_bytes ();
  LamSnapshot *s = make (LAM_PLANE_COLUMN, 11);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    g_assert_cmpint (pthread_create (&threads[i], NULL, share, lam_snapshot_ref (s)), ==, 0);
  lam_snapshot_unref (s);
  for (int i = 0; i < 4; i++)
    pthread_join (threads[i], NULL);
  g_assert_cmpint (lam_memory_bytes (), ==, held);
}

/* Means of squares; what is left over at the ends is not shown. */
static void
test_shrink (void)
{
  LamSnapshotInfo info = {.width = 7, .height = 5};
  float *pixels = lam_alloc_n (35, sizeof *pixels, "test", NULL);
  for (int i = 0; i < 35; i++)
    pixels[i] = (float) i;
  g_autoptr (LamSnapshot) large = lam_snapshot_new_take (&info, pixels);
  g_autoptr (LamSnapshot) same = lam_snapshot_shrink (large, 4), small = lam_snapshot_shrink (large, 3);
  g_assert_true (same == large);
  g_assert_cmpint (lam_snapshot_info (small)->width, ==, 3);
  g_assert_cmpint (lam_snapshot_info (small)->height, ==, 2);
  g_assert_cmpfloat (lam_snapshot_pixels (small)[0], ==, 4);
  g_assert_cmpfloat (lam_snapshot_pixels (small)[5], ==, 22);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mailbox/newest", test_newest);
  g_test_add_func ("/mailbox/race", test_race);
  g_test_add_func ("/mailbox/shared", test_shared);
  g_test_add_func ("/snapshot/shrink", test_shrink);
  return g_test_run ();
}
