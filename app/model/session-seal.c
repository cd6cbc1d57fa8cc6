#include "config.h"

#include "model/session-file-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

/* The library does not survive every damaged file, so none reaches it: the end of a session holds the CRC of all but the
 * voxels, which have their own. Little-endian: [n] ranges of voxels (begin, bytes); then this. */
typedef struct {
  int64_t n, body; /* ranges; bytes before them */
  uint32_t crc, zero;
  char magic[8];
} Seal;

#define MAGIC "LamSeal1"
#define MAX_RANGES 4096

G_STATIC_ASSERT (sizeof (Seal) == 32 && sizeof (LamVoxelRange) == 16 && G_BYTE_ORDER == G_LITTLE_ENDIAN);

/* The CRC of [0, @body) without @ranges, which ascend. */
static gboolean
sum_outside (int fd, int64_t body, const LamVoxelRange *ranges, int64_t n, uint32_t *crc)
{
  g_autofree char *buffer = g_malloc (1 << 16);
  int64_t at = 0, next = 0;
  for (*crc = 0; at < body;) {
    if (next < n && at == ranges[next].begin) {
      at += ranges[next++].bytes;
      continue;
    }
    int64_t end = next < n ? ranges[next].begin : body;
    ssize_t got = pread (fd, buffer, (size_t) MIN (end - at, 1 << 16), at);
    if (got <= 0)
      return FALSE;
    *crc = lam_crc32c (*crc, buffer, (size_t) got);
    at += got;
  }
  return at == body;
}

gboolean
lam_seal_put (LamAtomicFile *file, const LamVoxelRange *ranges, int64_t n, GError **error)
{
  Seal seal = {.n = n, .body = lseek (file->fd, 0, SEEK_END)};
  memcpy (seal.magic, MAGIC, sizeof seal.magic);
  if (seal.body < 0 || !sum_outside (file->fd, seal.body, ranges, n, &seal.crc)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, _ ("%s: could not be read back"), file->path);
    return FALSE;
  }
  seal.crc = lam_crc32c (seal.crc, ranges, (size_t) n * sizeof *ranges);
  return lam_atomic_pwrite (file, ranges, n * (int64_t) sizeof *ranges, seal.body, error)
         && lam_atomic_pwrite (file, &seal, sizeof seal, seal.body + n * (int64_t) sizeof *ranges, error);
}

static gboolean
is_sealed (int fd)
{
  Seal seal;
  uint32_t crc;
  int64_t size = lseek (fd, 0, SEEK_END), before = 0;
  if (size < (int64_t) sizeof seal || pread (fd, &seal, sizeof seal, size - (int64_t) sizeof seal) != sizeof seal
      || memcmp (seal.magic, MAGIC, sizeof seal.magic) != 0 || seal.zero != 0 || seal.n < 0 || seal.n > MAX_RANGES
      || seal.body != size - (int64_t) sizeof seal - seal.n * (int64_t) sizeof (LamVoxelRange))
    return FALSE;
  ssize_t bytes = (ssize_t) (seal.n * (int64_t) sizeof (LamVoxelRange));
  g_autofree LamVoxelRange *ranges = g_new0 (LamVoxelRange, seal.n + 1);
  if (pread (fd, ranges, (size_t) bytes, seal.body) != bytes)
    return FALSE;
  for (int64_t i = 0; i < seal.n; i++) {
    if (ranges[i].begin < before || ranges[i].bytes < 1 || ranges[i].bytes > seal.body - ranges[i].begin)
      return FALSE;
    before = ranges[i].begin + ranges[i].bytes;
  }
  return sum_outside (fd, seal.body, ranges, seal.n, &crc) && lam_crc32c (crc, ranges, (size_t) bytes) == seal.crc;
}

gboolean
lam_seal_check (const char *path, GError **error)
{
  struct stat s;
  int fd = stat (path, &s) == 0 && S_ISREG (s.st_mode) ? open (path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) {
    int code = errno;
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, _ ("%s: cannot be opened: %s"), path,
                 code != 0 ? g_strerror (code) : _ ("it is not a plain file"));
    return FALSE;
  }
  gboolean good = is_sealed (fd);
  close (fd);
  if (!good)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 _ ("%s: the session is damaged or cut off, or another program has written to it; copy it again"),
                 path);
  return good;
}

gboolean
lam_seal_is_there (const char *path)
{
  struct stat s;
  Seal seal;
  int fd = stat (path, &s) == 0 && S_ISREG (s.st_mode) ? open (path, O_RDONLY | O_CLOEXEC) : -1;
  gboolean is = fd >= 0 && s.st_size >= (off_t) sizeof seal
                && pread (fd, &seal, sizeof seal, s.st_size - (off_t) sizeof seal) == sizeof seal
                && memcmp (seal.magic, MAGIC, sizeof seal.magic) == 0;
  if (fd >= 0)
    close (fd);
  return is;
}
