/* io-util.h: what the file tests share: a folder of their own, damaged copies, children that may crash, a full disk. */
#pragma once

#include <glib.h>

#include "core/types.h"
#include "io/control.h"
#include "io/hdf5.h"

/* One folder for the program, emptied at its end. Paths are g_free'd by the caller. */
char *test_path (const char *name);
void test_clean (void);
/* A file of the shared data folder, or NULL after g_test_skip () with the reason. */
char *test_data_file (const char *name);

char *test_read_file (const char *path, gsize *size);
void test_write_file (const char *path, const void *data, gsize size);
/* Files in the folder of @path whose name holds ".part": what a failed save left behind. */
int test_leftovers (const char *path);

/* Checks the error's code and that its message holds each of the texts (NULL-terminated), then frees it. */
void test_error (GError *error, int code, ...) G_GNUC_NULL_TERMINATED;

/* Runs @f in a child that may crash, hang or be killed. */
typedef enum {
  TEST_CHILD_FINE,
  TEST_CHILD_LIBRARY, /* crashed or hung with a frame of libhdf5 or libtiff on the stack */
  TEST_CHILD_OURS,    /* crashed or hung elsewhere */
} TestChild;
TestChild test_child (void (*f) (gpointer data), gpointer data);

/* Copies of @path damaged @n times (some bytes overwritten, fixed seed), each given to @f in a child. Reports. */
void test_damage (const char *path, int n, guint32 seed, void (*f) (const char *path));
/* Copies of @path cut off at about @n lengths, each given to @f in a child, which must not crash in our code. */
void test_cut (const char *path, int n, void (*f) (const char *path));

/* A file system of @kib KiB at a fresh folder; NULL where it cannot be mounted. test_small_disk_free () takes it away. */
char *test_small_disk (int kib);
void test_small_disk_free (char *folder);

/* LC_ALL = de_DE.UTF-8, made with localedef if need be. FALSE after g_test_skip (). test_plain_locale () goes back. */
gboolean test_german (void);
void test_plain_locale (void);

/* A control that cancels at its @after-th question and checks that progress grows. */
typedef struct {
  LamIoControl control;
  int after, asked;
  double last;
} TestControl;
void test_control (TestControl *c, int after);

/* Makes HDF5 things the way other programs do. Text kinds: */
typedef enum {
  TEXT_VARIABLE_UTF8,
  TEXT_VARIABLE_ASCII,
  TEXT_FIXED_NULLTERM,
  TEXT_FIXED_NULLPAD,
  TEXT_FIXED_SPACEPAD,
  TEXT_FIXED_UTF8,
  TEXT_KINDS,
} TextKind;
void test_put_text (hid_t id, const char *name, const char *text, TextKind kind, gboolean as_array);
/* A dataset of @type in the file from doubles; chunked with @chunk (may be NULL). */
void test_put_numbers (hid_t file, const char *path, hid_t type, int rank, const hsize_t *dims, const hsize_t *chunk,
                       int deflate, const double *values);
