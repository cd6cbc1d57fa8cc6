/* threadpool.h: the machine's one pool of threads, shared by all CPU devices.
 *
 * Any thread may call lam_pool_for (); it returns when all indices are done. At most lam_pool_threads () threads work at
 * a time, callers included: a caller helps with its own work when a place is free, else it sleeps. Work is handed
 * out one index at a time, from the oldest call that still has some, so no thread is idle while indices remain.
 * Which thread takes which index never shows in a result: a call's indices write to separate places.
 *
 * There are two depths. lam_pool_for_each_owner () hands out owners, such as devices: each runs on one thread and makes
 * calls of lam_pool_for (), whose indices are plain work that any idle thread takes. So N devices share the pool with no
 * thread of their own and nobody to wake: while there are owners left each thread drives one, and at the end all help with the
 * last. A call from inside plain work runs on the calling thread. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef struct _LamPool LamPool;
/* @worker is 0 … lam_pool_threads () - 1 and not used by two running calls at once: an index for scratch memory. */
typedef void (*LamPoolFunc) (int64_t index, int worker, void *data);

/* @threads <= 0: one for each processor this process may use. */
LamPool *lam_pool_new (int threads);
void lam_pool_free (LamPool *pool);
/* The pool that devices share; made at the first call (LAMINA_THREADS sets its size), never freed. */
LamPool *lam_pool_shared (void);
int lam_pool_threads (const LamPool *pool);
/* Calls @func for 0 … @n - 1. When @busy_ns is not NULL the time that threads spent on it is added there. */
void lam_pool_for (LamPool *pool, int64_t n, LamPoolFunc func, void *data, _Atomic int64_t *busy_ns);
/* Calls @func for 0 … @n - 1, each of which may call lam_pool_for (). They may not wait for each other: they may run one
 * after the other. @func may not use @worker: while an index waits for its calls, its thread helps others. */
void lam_pool_for_each_owner (LamPool *pool, int64_t n, LamPoolFunc func, void *data);

/* For a program with a window, before anything else: threads that compute get less of a busy processor than those that
 * draw. The pool's do by themselves, others by calling lam_thread_give_way () when they begin. */
void lam_pool_give_way (void);
void lam_thread_give_way (void);

/* Nanoseconds of a clock that never jumps. */
int64_t lam_clock_ns (void);

G_END_DECLS
