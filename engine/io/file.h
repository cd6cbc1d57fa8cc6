/* file.h: files that are replaced whole or not at all, and noticing that one changed. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

/* A file's identity, to notice that it changed while it was open. */
typedef struct {
  int64_t size, mtime_ns, inode, device;
} LamFileStamp;

/* LAM_ERROR_IO when the file cannot be looked at. */
gboolean lam_file_stamp (const char *path, LamFileStamp *stamp, GError **error);
gboolean lam_file_stamp_equal (const LamFileStamp *a, const LamFileStamp *b);
/* Whether what lies at @path has @stamp's size and time: all that is kept over a restart, or when a file is copied. */
gboolean lam_file_is_as_stamped (const char *path, const LamFileStamp *stamp);

/* "sha256:" and the digits over the file's bytes; g_free (). LAM_ERROR_IO. */
char *lam_file_checksum (const char *path, GError **error);

/* A file being written beside its final place. */
typedef struct {
  char *path;      /* where it will be; a symbolic link is followed, so that the link stays */
  char *temporary; /* in the same folder */
  int fd;          /* open for reading and writing; -1 once closed */
} LamAtomicFile;

/* Makes the temporary file. LAM_ERROR_IO when the folder is missing or read-only, or @path is no plain file. */
LamAtomicFile *lam_atomic_new (const char *path, GError **error);
/* Removes what writers of @path that were killed left beside it: their files are unlocked, and @seconds old or
 * older: LAM_SWEEP_SECONDS, so that one just being made is safe; 0 where nobody else may write @path. */
#define LAM_SWEEP_SECONDS 10
void lam_atomic_sweep (const char *path, int seconds);
/* Claims @bytes on the disk now, so that a full one shows before the work; keeps the file's size at least @bytes. */
gboolean lam_atomic_reserve (LamAtomicFile *f, int64_t bytes, GError **error);
/* FALSE: behave as on a file system that cannot claim space ahead (tests). */
void lam_atomic_set_reserve (gboolean on);
gboolean lam_atomic_pwrite (LamAtomicFile *f, const void *data, int64_t bytes, int64_t offset, GError **error);
gboolean lam_atomic_pread (LamAtomicFile *f, void *data, int64_t bytes, int64_t offset, GError **error);
/* fsync, rename over the final path, fsync the folder. */
gboolean lam_atomic_commit (LamAtomicFile *f, GError **error);
/* Removes the temporary file unless committed. */
void lam_atomic_free (LamAtomicFile *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamAtomicFile, lam_atomic_free)

G_END_DECLS
