#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"

/* At most this in one system call, so that a signal or a full disk is seen soon. */
#define PIECE (INT64_C (64) << 20)

/* Bytes of a name that its temporary file repeats: what is added must fit into 255 too. */
#define MAX_BASE 200

static void
set_errno (GError **error, const char *path, const char *what, int code)
{
  g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: %s: %s", path, what, g_strerror (code));
}

gboolean
lam_file_stamp (const char *path, LamFileStamp *stamp, GError **error)
{
  struct stat s;
  if (stat (path, &s) != 0) {
    set_errno (error, path, "cannot be opened", errno);
    return FALSE;
  }
  *stamp = (LamFileStamp){.size = s.st_size,
                          .mtime_ns = s.st_mtim.tv_sec * INT64_C (1000000000) + s.st_mtim.tv_nsec,
                          .inode = (int64_t) s.st_ino,
                          .device = (int64_t) s.st_dev};
  return TRUE;
}

gboolean
lam_file_stamp_equal (const LamFileStamp *a, const LamFileStamp *b)
{
  return a->size == b->size && a->mtime_ns == b->mtime_ns && a->inode == b->inode && a->device == b->device;
}

gboolean
lam_file_is_as_stamped (const char *path, const LamFileStamp *stamp)
{
  LamFileStamp now;
  return lam_file_stamp (path, &now, NULL) && now.size == stamp->size && now.mtime_ns == stamp->mtime_ns;
}

char *
lam_file_checksum (const char *path, GError **error)
{
  enum { CHUNK = 1 << 20 };
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree guchar *bytes = g_malloc (CHUNK);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  gssize n = fd < 0 ? -1 : 0;
  while (fd >= 0 && ((n = read (fd, bytes, CHUNK)) > 0 || (n < 0 && errno == EINTR)))
    if (n > 0)
      g_checksum_update (sum, bytes, n);
  if (n < 0)
    set_errno (error, path, "cannot be read", errno);
  if (fd >= 0)
    close (fd);
  return n < 0 ? NULL : g_strconcat ("sha256:", g_checksum_get_string (sum), NULL);
}

/* A lock of the open file, which goes when its last holder dies; apart from the flock () that HDF5 takes. */
static gboolean
lock (int fd)
{
  struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl (fd, F_OFD_SETLK, &l) == 0;
}

void
lam_atomic_sweep (const char *path, int seconds)
{
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (path);
  g_autofree char *start = g_strdup_printf (".%.*s.", MAX_BASE, base);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));) {
    struct stat s;
    if (!g_str_has_prefix (name, start) || !g_str_has_suffix (name, ".part") || strlen (name) != strlen (start) + 13)
      continue;
    g_autofree char *full = g_build_filename (folder, name, NULL);
    int fd = open (full, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
      continue;
    if (fstat (fd, &s) == 0 && S_ISREG (s.st_mode) && s.st_mtime <= time (NULL) - seconds && lock (fd))
      g_unlink (full);
    close (fd);
  }
}

LamAtomicFile *
lam_atomic_new (const char *path, GError **error)
{
  struct stat s;
  gboolean there = lstat (path, &s) == 0;
  g_autofree char *final = NULL;
  if (there && S_ISLNK (s.st_mode)) {
    char *target = realpath (path, NULL); /* NULL: a dangling link, which the new file replaces */
    final = g_strdup (target ? target : path);
    free (target);
    there = stat (final, &s) == 0;
  } else
    final = g_strdup (path);
  if (there && !S_ISREG (s.st_mode)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be written: it is not a plain file; give another name",
                 path);
    return NULL;
  }

  g_autofree char *folder = g_path_get_dirname (final), *base = g_path_get_basename (final);
  LamAtomicFile *f = g_new0 (LamAtomicFile, 1);
  f->fd = -1;
  for (int attempt = 0; attempt < 100 && f->fd < 0; attempt++) {
    g_autofree char *name = g_strdup_printf (".%.*s.%08x.part", MAX_BASE, base, g_random_int ());
    g_free (f->temporary);
    f->temporary = g_build_filename (folder, name, NULL);
    f->fd = open (f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f->fd < 0 && errno != EEXIST)
      break;
  }
  if (f->fd < 0) {
    int code = errno;
    g_clear_pointer (&f->temporary, g_free);
    lam_atomic_free (f);
    set_errno (error, path, "cannot be written", code);
    return NULL;
  }
  if (!lock (f->fd))
    g_debug ("%s: no lock: %s", path, g_strerror (errno));
  if (there && fchmod (f->fd, s.st_mode & 07777) != 0)
    g_debug ("%s: keeps default permissions: %s", path, g_strerror (errno));
  f->path = g_steal_pointer (&final);
  return f;
}

static _Atomic gboolean no_reserve;

void
lam_atomic_set_reserve (gboolean on)
{
  no_reserve = !on;
}

gboolean
lam_atomic_reserve (LamAtomicFile *f, int64_t bytes, GError **error)
{
  int r;
  if (no_reserve)
    return TRUE;
  do
    r = fallocate (f->fd, 0, 0, bytes);
  while (r != 0 && errno == EINTR);
  if (r == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
    return TRUE;
  int code = errno;
  g_autofree char *size = g_format_size (bytes);
  g_set_error (error, LAM_ERROR, LAM_ERROR_IO,
               "%s: %s cannot be had on this disk: %s; free some space or write elsewhere", f->path, size,
               g_strerror (code));
  return FALSE;
}

gboolean
lam_atomic_pwrite (LamAtomicFile *f, const void *data, int64_t bytes, int64_t offset, GError **error)
{
  const char *p = data;
  while (bytes > 0) {
    ssize_t n = pwrite (f->fd, p, LAM_MIN (bytes, PIECE), offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      set_errno (error, f->path, "could not be written", n < 0 ? errno : ENOSPC);
      return FALSE;
    }
    p += n;
    offset += n;
    bytes -= n;
  }
  return TRUE;
}

gboolean
lam_atomic_pread (LamAtomicFile *f, void *data, int64_t bytes, int64_t offset, GError **error)
{
  char *p = data;
  while (bytes > 0) {
    ssize_t n = pread (f->fd, p, LAM_MIN (bytes, PIECE), offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      set_errno (error, f->path, "could not be read back", n < 0 ? errno : EIO);
      return FALSE;
    }
    p += n;
    offset += n;
    bytes -= n;
  }
  return TRUE;
}

gboolean
lam_atomic_commit (LamAtomicFile *f, GError **error)
{
  if (fsync (f->fd) != 0) {
    set_errno (error, f->path, "could not be written", errno);
    return FALSE;
  }
  int r = close (f->fd);
  f->fd = -1;
  if (r != 0) {
    set_errno (error, f->path, "could not be written", errno);
    return FALSE;
  }
  if (g_rename (f->temporary, f->path) != 0) {
    set_errno (error, f->path, "could not be put in place", errno);
    return FALSE;
  }
  g_clear_pointer (&f->temporary, g_free);

  /* The name itself must survive a power cut too. A file system that cannot do this has its own rules. */
  g_autofree char *folder = g_path_get_dirname (f->path);
  int d = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (d >= 0) {
    if (fsync (d) != 0)
      g_debug ("%s: fsync: %s", folder, g_strerror (errno));
    close (d);
  }
  return TRUE;
}

void
lam_atomic_free (LamAtomicFile *f)
{
  if (!f)
    return;
  if (f->fd >= 0)
    close (f->fd);
  if (f->temporary)
    g_unlink (f->temporary);
  g_free (f->temporary);
  g_free (f->path);
  g_free (f);
}
