#include "core/threadpool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "core/cpu-features.h"

/* What a thread is in: nothing of the pool's, an index that may make calls of its own (lam_pool_for_each_owner ()), or one
 * that is plain work. */
typedef enum { OUTSIDE, OWNER, WORK } Depth;

/* One call that is under way; lives on its caller's stack. */
typedef struct _Call {
  Depth depth; /* of its indices */
  LamPoolFunc func;
  void *data;
  int64_t n;
  _Atomic int64_t next; /* next index to hand out */
  _Atomic int64_t done; /* indices finished */
  int users;            /* threads inside, under the lock: the caller may not return before it is 0 */
  _Atomic int64_t *busy_ns;
  pthread_cond_t cond; /* its caller's: all is done, or a place is given */
  bool waiting;        /* the caller sleeps */
  int given;           /* the place, -1 = none */
  struct _Call *link;
} Call;

struct _LamPool {
  pthread_mutex_t lock;
  pthread_cond_t work; /* a call was added, or a place became free */
  Call *calls;         /* oldest first */
  int threads;
  uint64_t free_places; /* bit i: place i (a worker index) is free */
  int sleepers;         /* workers asleep */
  _Atomic int pending;  /* rises with every call: what an idle thread spins on */
  bool quit;
  pthread_t *workers;
};

static _Thread_local int my_place = -1;
static _Thread_local Depth my_depth = OUTSIDE;

int64_t
lam_clock_ns (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C (1000000000) + t.tv_nsec;
}

static void
relax (void)
{
#if defined(__x86_64__)
  __builtin_ia32_pause ();
#endif
}

static int
take_place (LamPool *pool)
{
  if (!pool->free_places)
    return -1;
  int place = __builtin_ctzll (pool->free_places);
  pool->free_places &= pool->free_places - 1;
  return place;
}

/* The oldest call with indices left whose depth is @least or more. */
static Call *
find_call (LamPool *pool, Depth least)
{
  for (Call *c = pool->calls; c; c = c->link)
    if (c->depth >= least && atomic_load (&c->next) < c->n)
      return c;
  return NULL;
}

/* A place is free again. One sleeping thread at most is woken for it: a caller that waits with work of its own, which has
 * to be woken anyway, or a worker. */
static void
release_place (LamPool *pool, int place)
{
  for (Call *c = pool->calls; c; c = c->link)
    if (c->waiting && c->given < 0 && atomic_load (&c->next) < c->n) {
      c->given = place;
      pthread_cond_signal (&c->cond);
      return;
    }
  pool->free_places |= UINT64_C (1) << place;
  if (find_call (pool, OWNER)) {
    atomic_fetch_add (&pool->pending, 1);
    if (pool->sleepers)
      pthread_cond_signal (&pool->work);
  }
}

/* Works on @c until nothing is left to hand out. Called and returns with the lock held; @place is the caller's. */
static void
work_on (LamPool *pool, Call *c, int place)
{
  c->users++;
  pthread_mutex_unlock (&pool->lock);
  int64_t start = c->busy_ns ? lam_clock_ns () : 0, i, count = 0;
  int outer_place = my_place;
  Depth outer_depth = my_depth;
  my_place = place;
  my_depth = c->depth;
  while ((i = atomic_fetch_add (&c->next, 1)) < c->n) {
    c->func (i, place, c->data);
    count++;
  }
  my_place = outer_place;
  my_depth = outer_depth;
  if (c->busy_ns)
    atomic_fetch_add (c->busy_ns, lam_clock_ns () - start);
  atomic_fetch_add (&c->done, count);
  pthread_mutex_lock (&pool->lock);
  c->users--;
  if (c->users == 0 && atomic_load (&c->done) == c->n && c->waiting)
    pthread_cond_signal (&c->cond);
}

static _Atomic bool give_way;

void
lam_pool_give_way (void)
{
  atomic_store (&give_way, true);
}

void
lam_thread_give_way (void)
{
  enum { NICE = 5 };
  /* Linux keeps this for each thread; what the person asked for (nice lamina-gtk) is not undone. */
  if (atomic_load (&give_way) && getpriority (PRIO_PROCESS, 0) < NICE)
    setpriority (PRIO_PROCESS, 0, NICE);
}

static void *
worker_main (void *data)
{
  LamPool *pool = data;
  lam_fp_setup ();
  lam_thread_give_way ();
  pthread_mutex_lock (&pool->lock);
  while (!pool->quit) {
    Call *c = find_call (pool, OWNER);
    int place = c ? take_place (pool) : -1;
    if (place >= 0) {
      for (; c; c = find_call (pool, OWNER))
        work_on (pool, c, place);
      release_place (pool, place);
      continue;
    }
    /* A solver makes calls in quick succession: look a while before sleeping. */
    int seen = atomic_load (&pool->pending);
    pthread_mutex_unlock (&pool->lock);
    for (int spin = 0; spin < 2000 && atomic_load (&pool->pending) == seen; spin++)
      relax ();
    pthread_mutex_lock (&pool->lock);
    if (atomic_load (&pool->pending) == seen && !pool->quit) {
      pool->sleepers++;
      pthread_cond_wait (&pool->work, &pool->lock);
      pool->sleepers--;
    }
  }
  pthread_mutex_unlock (&pool->lock);
  return NULL;
}

LamPool *
lam_pool_new (int threads)
{
  if (threads <= 0) {
    cpu_set_t set;
    threads = sched_getaffinity (0, sizeof set, &set) == 0 ? CPU_COUNT (&set) : 1;
  }
  LamPool *pool = g_new0 (LamPool, 1);
  pool->threads = LAM_CLAMP (threads, 1, 64);
  pool->free_places = pool->threads == 64 ? UINT64_MAX : (UINT64_C (1) << pool->threads) - 1;
  pthread_mutex_init (&pool->lock, NULL);
  pthread_cond_init (&pool->work, NULL);
  pool->workers = g_new0 (pthread_t, pool->threads);
  for (int i = 0; i < pool->threads - 1; i++)
    if (pthread_create (&pool->workers[i], NULL, worker_main, pool) != 0) {
      g_warning ("thread pool: only %d of %d threads could be started", i + 1, pool->threads);
      pool->threads = i + 1;
      pool->free_places = (UINT64_C (1) << pool->threads) - 1;
      break;
    }
  return pool;
}

void
lam_pool_free (LamPool *pool)
{
  pthread_mutex_lock (&pool->lock);
  pool->quit = true;
  atomic_fetch_add (&pool->pending, 1);
  pthread_cond_broadcast (&pool->work);
  pthread_mutex_unlock (&pool->lock);
  for (int i = 0; i < pool->threads - 1; i++)
    pthread_join (pool->workers[i], NULL);
  pthread_mutex_destroy (&pool->lock);
  pthread_cond_destroy (&pool->work);
  g_free (pool->workers);
  g_free (pool);
}

LamPool *
lam_pool_shared (void)
{
  static LamPool *pool;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock (&lock);
  if (!pool) {
    const char *text = g_getenv ("LAMINA_THREADS");
    pool = lam_pool_new (text ? (int) g_ascii_strtoll (text, NULL, 10) : 0);
  }
  LamPool *p = pool;
  pthread_mutex_unlock (&lock);
  return p;
}

int
lam_pool_threads (const LamPool *pool)
{
  return pool->threads;
}

static void
call (LamPool *pool, Depth depth, int64_t n, LamPoolFunc func, void *data, _Atomic int64_t *busy_ns)
{
  if (n <= 0)
    return;
  if (my_depth >= depth) { /* called from inside: the pool is busy with the outer call */
    for (int64_t i = 0; i < n; i++)
      func (i, my_place, data);
    return;
  }
  lam_fp_setup ();
  Call c = {.depth = depth, .func = func, .data = data, .n = n, .busy_ns = busy_ns, .given = -1};
  pthread_cond_init (&c.cond, NULL);
  pthread_mutex_lock (&pool->lock);
  Call **tail = &pool->calls;
  while (*tail)
    tail = &(*tail)->link;
  *tail = &c;
  gboolean keeps = my_place >= 0; /* an owner's: its place stays its own until its index ends */
  int place = keeps ? my_place : take_place (pool);
  if (pool->free_places && (n > 1 || place < 0)) {
    atomic_fetch_add (&pool->pending, 1);
    if (pool->sleepers)
      pthread_cond_broadcast (&pool->work);
  }
  for (;;) {
    if (place >= 0) {
      work_on (pool, &c, place);
      /* While others end what they took of it: help with plain work, which costs no switch of threads; else look a while. */
      for (int spin = 0; c.users && spin < 200;) {
        Call *other = find_call (pool, WORK);
        if (other)
          work_on (pool, other, place);
        else {
          spin++;
          pthread_mutex_unlock (&pool->lock);
          for (int i = 0; i < 16; i++)
            relax ();
          pthread_mutex_lock (&pool->lock);
        }
      }
      if (!keeps)
        release_place (pool, place);
      place = -1;
    }
    if (!c.users && atomic_load (&c.done) == n)
      break;
    c.waiting = true;
    while (c.given < 0 && (c.users || atomic_load (&c.done) < n))
      pthread_cond_wait (&c.cond, &pool->lock);
    c.waiting = false;
    place = c.given;
    c.given = -1;
    if (place >= 0 && !c.users && atomic_load (&c.done) == n) { /* both came at once */
      release_place (pool, place);
      break;
    }
  }
  for (Call **p = &pool->calls; *p; p = &(*p)->link)
    if (*p == &c) {
      *p = c.link;
      break;
    }
  pthread_mutex_unlock (&pool->lock);
  pthread_cond_destroy (&c.cond);
}

void
lam_pool_for (LamPool *pool, int64_t n, LamPoolFunc func, void *data, _Atomic int64_t *busy_ns)
{
  call (pool, WORK, n, func, data, busy_ns);
}

void
lam_pool_for_each_owner (LamPool *pool, int64_t n, LamPoolFunc func, void *data)
{
  call (pool, OWNER, n, func, data, NULL);
}
