/* numbers.h: threads that write logs and files write numbers with a point, whatever the person's language. */
#pragma once

#include <locale.h>
#include <pthread.h>

/* This thread formats and reads numbers as in the C locale from now on. One locale object serves all threads for ever. */
static inline void
lam_thread_c_numbers (void)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static locale_t numbers;
  pthread_mutex_lock (&lock);
  if (!numbers)
    numbers = newlocale (LC_NUMERIC_MASK, "C", duplocale (LC_GLOBAL_LOCALE));
  locale_t l = numbers;
  pthread_mutex_unlock (&lock);
  if (l)
    uselocale (l);
}
