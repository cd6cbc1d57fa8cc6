/* checkpoint.c: see checkpoint.h. The file, little-endian, records one after another without padding:
 *
 *   start    "LAMCKPT\1", u32 version 1, u32 CRC of the 12 bytes before
 *   section  Header (fixed size), name, payload, u32 CRC of the payload
 *   end      Header with type 0 and the number of sections in shape[0]; then nothing more
 *
 * A header's CRC covers the header (its crc as 0) and the name, so a damaged size is noticed before it is used. */
#include "io/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);

#define VERSION 1
#define MAX_NAME 255
#define MAX_SECTIONS 4096
#define PIECE (INT64_C (1) << 20)

static const char magic[8] = {'L', 'A', 'M', 'C', 'K', 'P', 'T', 1};

typedef struct {
  char magic[8];
  uint32_t version;
  uint32_t crc;
} Start;

typedef struct {
  uint32_t crc;
  uint32_t type; /* LamCheckpointType; 0 = end */
  uint32_t rank;
  uint32_t name_bytes;
  int64_t bytes; /* of the payload */
  int64_t shape[LAM_CHECKPOINT_MAX_RANK];
} Header;

G_STATIC_ASSERT (sizeof (Start) == 16 && sizeof (Header) == 24 + 8 * LAM_CHECKPOINT_MAX_RANK);

struct _LamCheckpointWriter {
  LamAtomicFile *file;
  int64_t offset; /* where the next byte goes */
  int64_t left;   /* of the open section's payload */
  gboolean open;  /* between begin and end */
  gboolean finished;
  gboolean failed; /* nothing more is accepted after an error */
  uint32_t crc;
  GHashTable *names;
};

typedef struct {
  LamCheckpointSection section;
  int64_t offset;
} Entry;

struct _LamCheckpoint {
  char *path;
  int fd;
  int64_t size;
  GArray *entries; /* of Entry */
};

/* ---- checksum: CRC-32C (Castagnoli), eight bytes a step ---- */

static uint32_t table[8][256];

static void
fill_table (void)
{
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++)
      c = c & 1 ? (c >> 1) ^ 0x82f63b78u : c >> 1;
    table[0][i] = c;
  }
  for (uint32_t i = 0; i < 256; i++)
    for (int k = 1; k < 8; k++)
      table[k][i] = (table[k - 1][i] >> 8) ^ table[0][table[k - 1][i] & 0xff];
}

uint32_t
lam_crc32c (uint32_t crc, const void *data, size_t bytes)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT; /* not GLib's: TSan must see it */
  pthread_once (&once, fill_table);
  const unsigned char *p = data;
  crc = ~crc;
  for (; bytes >= 8; p += 8, bytes -= 8) {
    uint64_t w;
    memcpy (&w, p, 8);
    w ^= crc;
    crc = table[7][w & 0xff] ^ table[6][w >> 8 & 0xff] ^ table[5][w >> 16 & 0xff] ^ table[4][w >> 24 & 0xff]
          ^ table[3][w >> 32 & 0xff] ^ table[2][w >> 40 & 0xff] ^ table[1][w >> 48 & 0xff] ^ table[0][w >> 56];
  }
  while (bytes--)
    crc = (crc >> 8) ^ table[0][(crc ^ *p++) & 0xff];
  return ~crc;
}

static int64_t
element_size (uint32_t type)
{
  switch (type) {
  case LAM_CHECKPOINT_FLOAT:
  case LAM_CHECKPOINT_INT32:
    return 4;
  case LAM_CHECKPOINT_DOUBLE:
  case LAM_CHECKPOINT_INT64:
  case LAM_CHECKPOINT_UINT64:
    return 8;
  case LAM_CHECKPOINT_TEXT:
    return 1;
  }
  return 0;
}

static uint32_t
header_crc (const Header *h, const char *name)
{
  Header copy = *h;
  copy.crc = 0;
  return lam_crc32c (lam_crc32c (0, &copy, sizeof copy), name, h->name_bytes);
}

/* ---- writing ---- */

static gboolean
append (LamCheckpointWriter *w, const void *data, int64_t bytes, GError **error)
{
  if (!lam_atomic_pwrite (w->file, data, bytes, w->offset, error)) {
    w->failed = TRUE;
    return FALSE;
  }
  w->offset += bytes;
  return TRUE;
}

LamCheckpointWriter *
lam_checkpoint_writer_new (const char *path, GError **error)
{
  g_autoptr (LamCheckpointWriter) w = g_new0 (LamCheckpointWriter, 1);
  w->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  lam_atomic_sweep (path, LAM_SWEEP_SECONDS);
  w->file = lam_atomic_new (path, error);
  if (!w->file)
    return NULL;
  Start start = {.version = VERSION};
  memcpy (start.magic, magic, sizeof magic);
  start.crc = lam_crc32c (0, &start, offsetof (Start, crc));
  return append (w, &start, sizeof start, error) ? g_steal_pointer (&w) : NULL;
}

static gboolean
refuse (LamCheckpointWriter *w, const char *name, const char *why, GError **error)
{
  w->failed = TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s: section %s: %s", w->file->path, name, why);
  return FALSE;
}

gboolean
lam_checkpoint_writer_begin (LamCheckpointWriter *w, const char *name, LamCheckpointType type, int rank,
                             const int64_t *shape, GError **error)
{
  Header h = {.type = type, .rank = (uint32_t) rank, .name_bytes = (uint32_t) strlen (name)};
  int64_t count = 1;
  if (w->open || w->finished || w->failed)
    return refuse (w, name, w->open ? "another one is still open" : "the file was ended by an error or is finished",
                   error);
  if (!*name || strlen (name) > MAX_NAME || !element_size (type) || rank < 0 || rank > LAM_CHECKPOINT_MAX_RANK
      || g_hash_table_contains (w->names, name) || g_hash_table_size (w->names) >= MAX_SECTIONS)
    return refuse (w, name, "its name, type or rank cannot be written, or the name is taken", error);
  for (int i = 0; i < rank; i++) {
    h.shape[i] = shape[i];
    count = lam_mul_size (count, shape[i]);
  }
  h.bytes = lam_mul_size (count, element_size (type));
  if (count < 0 || h.bytes < 0)
    return refuse (w, name, "its size does not fit into 64 bits", error);
  h.crc = header_crc (&h, name);
  if (h.bytes > 0
      && !lam_atomic_reserve (w->file, w->offset + (int64_t) sizeof h + h.name_bytes + h.bytes + 4, error)) {
    w->failed = TRUE;
    return FALSE;
  }
  if (!append (w, &h, sizeof h, error) || !append (w, name, h.name_bytes, error))
    return FALSE;
  g_hash_table_add (w->names, g_strdup (name));
  w->open = TRUE;
  w->left = h.bytes;
  w->crc = 0;
  return TRUE;
}

gboolean
lam_checkpoint_writer_append (LamCheckpointWriter *w, const void *data, int64_t bytes, GError **error)
{
  if (!w->open || w->failed || bytes < 0 || bytes > w->left)
    return refuse (w, "(open)", "more bytes than its shape holds", error);
  /* In pieces, so that what is summed is still in the cache when it is written. */
  for (int64_t at = 0; at < bytes; at += PIECE) {
    int64_t n = LAM_MIN (PIECE, bytes - at);
    w->crc = lam_crc32c (w->crc, (const char *) data + at, (size_t) n);
    if (!append (w, (const char *) data + at, n, error))
      return FALSE;
  }
  w->left -= bytes;
  return TRUE;
}

gboolean
lam_checkpoint_writer_end (LamCheckpointWriter *w, GError **error)
{
  if (!w->open || w->failed || w->left > 0)
    return refuse (w, "(open)", "fewer bytes than its shape holds", error);
  w->open = FALSE;
  return append (w, &w->crc, sizeof w->crc, error);
}

gboolean
lam_checkpoint_put (LamCheckpointWriter *w, const char *name, LamCheckpointType type, int rank, const int64_t *shape,
                    const void *data, GError **error)
{
  if (!lam_checkpoint_writer_begin (w, name, type, rank, shape, error))
    return FALSE;
  return lam_checkpoint_writer_append (w, data, w->left, error) && lam_checkpoint_writer_end (w, error);
}

gboolean
lam_checkpoint_put_double (LamCheckpointWriter *w, const char *name, double value, GError **error)
{
  return lam_checkpoint_put (w, name, LAM_CHECKPOINT_DOUBLE, 0, NULL, &value, error);
}

gboolean
lam_checkpoint_put_int (LamCheckpointWriter *w, const char *name, int64_t value, GError **error)
{
  return lam_checkpoint_put (w, name, LAM_CHECKPOINT_INT64, 0, NULL, &value, error);
}

gboolean
lam_checkpoint_put_text (LamCheckpointWriter *w, const char *name, const char *text, GError **error)
{
  int64_t bytes = (int64_t) strlen (text);
  return lam_checkpoint_put (w, name, LAM_CHECKPOINT_TEXT, 1, &bytes, text, error);
}

gboolean
lam_checkpoint_writer_finish (LamCheckpointWriter *w, GError **error)
{
  if (w->open || w->failed || w->finished)
    return refuse (w, "(end)", "a section is still open, or an error came before", error);
  Header h = {.shape = {g_hash_table_size (w->names)}};
  h.crc = header_crc (&h, "");
  if (!append (w, &h, sizeof h, error))
    return FALSE;
  if (ftruncate (w->file->fd, w->offset) != 0)
    g_debug ("%s: ftruncate: %s", w->file->path, g_strerror (errno));
  w->finished = lam_atomic_commit (w->file, error);
  w->failed = !w->finished;
  return w->finished;
}

void
lam_checkpoint_writer_free (LamCheckpointWriter *w)
{
  if (!w)
    return;
  lam_atomic_free (w->file);
  g_hash_table_unref (w->names);
  g_free (w);
}

char *
lam_state_file (const char *kind, const char *key, GError **error)
{
  g_autofree char *folder = g_build_filename (g_get_user_state_dir (), "lamina", NULL);
  if (g_mkdir_with_parents (folder, 0700) != 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: the folder cannot be made: %s", folder, g_strerror (errno));
    return NULL;
  }
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, key, -1);
  g_autofree char *name = g_strdup_printf ("%s-%.24s.ckpt", kind, hash);
  return g_build_filename (folder, name, NULL);
}

/* ---- reading ---- */

static gboolean
fetch (LamCheckpoint *c, void *out, int64_t bytes, int64_t offset, GError **error)
{
  char *p = out;
  while (bytes > 0) {
    ssize_t n = pread (c->fd, p, (size_t) LAM_MIN (bytes, INT64_C (64) << 20), offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      if (n == 0)
        g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: the checkpoint is cut off at byte %" G_GINT64_FORMAT,
                     c->path, offset);
      else
        g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: byte %" G_GINT64_FORMAT ": %s", c->path, offset,
                     g_strerror (errno));
      return FALSE;
    }
    p += n;
    offset += n;
    bytes -= n;
  }
  return TRUE;
}

static gboolean
damaged (LamCheckpoint *c, const char *what, int64_t offset, GError **error)
{
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
               "%s: the checkpoint is damaged: %s at byte %" G_GINT64_FORMAT "; start again without it", c->path, what,
               offset);
  return FALSE;
}

static gboolean
check_payload (LamCheckpoint *c, const Entry *e, int64_t bytes, void *buffer, GError **error)
{
  uint32_t crc = 0, stored;
  for (int64_t at = 0; at < bytes; at += PIECE) {
    int64_t n = LAM_MIN (PIECE, bytes - at);
    if (!fetch (c, buffer, n, e->offset + at, error))
      return FALSE;
    crc = lam_crc32c (crc, buffer, (size_t) n);
  }
  if (!fetch (c, &stored, sizeof stored, e->offset + bytes, error))
    return FALSE;
  if (crc == stored)
    return TRUE;
  g_autofree char *what = g_strdup_printf ("the checksum of section %s differs", e->section.name);
  return damaged (c, what, e->offset, error);
}

/* One record at *@at; *@end after the closing one. */
static gboolean
take_record (LamCheckpoint *c, int64_t *at, gboolean *end, void *buffer, GError **error)
{
  Header h;
  char name[MAX_NAME + 1] = "";
  if (!fetch (c, &h, sizeof h, *at, error))
    return FALSE;
  if (h.name_bytes > MAX_NAME)
    return damaged (c, "a name is too long", *at, error);
  if (!fetch (c, name, h.name_bytes, *at + (int64_t) sizeof h, error))
    return FALSE;
  if (h.crc != header_crc (&h, name))
    return damaged (c, "the checksum of a header differs", *at, error);
  if (h.type == 0) {
    *end = TRUE;
    *at += sizeof h;
    return h.shape[0] == c->entries->len || damaged (c, "sections are missing", *at, error);
  }
  int64_t count = 1, size = element_size (h.type);
  for (uint32_t i = 0; i < h.rank && i < LAM_CHECKPOINT_MAX_RANK; i++)
    count = lam_mul_size (count, h.shape[i]);
  Entry e = {.offset = *at + (int64_t) sizeof h + h.name_bytes};
  if (!size || h.rank > LAM_CHECKPOINT_MAX_RANK || count < 0 || lam_mul_size (count, size) != h.bytes
      || c->entries->len >= MAX_SECTIONS || h.bytes > c->size - e.offset - 4)
    return damaged (c, "the size of a section is wrong", *at, error);
  e.section = (LamCheckpointSection){.name = g_strdup (name), .type = h.type, .rank = (int) h.rank, .count = count};
  memcpy (e.section.shape, h.shape, sizeof h.shape);
  g_array_append_val (c->entries, e);
  *at = e.offset + h.bytes + 4;
  return check_payload (c, &e, h.bytes, buffer, error);
}

static void
entry_clear (void *entry)
{
  g_free ((char *) ((Entry *) entry)->section.name);
}

gboolean
lam_checkpoint_is_one (const char *path)
{
  char begin[sizeof magic];
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return FALSE;
  gboolean is = read (fd, begin, sizeof begin) == (ssize_t) sizeof begin && memcmp (begin, magic, sizeof magic) == 0;
  close (fd);
  return is;
}

LamCheckpoint *
lam_checkpoint_open (const char *path, GError **error)
{
  g_autoptr (LamCheckpoint) c = g_new0 (LamCheckpoint, 1);
  struct stat s;
  c->path = g_strdup (path);
  c->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_array_set_clear_func (c->entries, entry_clear);
  c->fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (c->fd < 0 || fstat (c->fd, &s) != 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be opened: %s", path, g_strerror (errno));
    return NULL;
  }
  c->size = S_ISREG (s.st_mode) ? s.st_size : 0;
  Start start = {0};
  if (c->size < (int64_t) sizeof start || !fetch (c, &start, sizeof start, 0, error)
      || memcmp (start.magic, magic, sizeof magic) != 0 || start.crc != lam_crc32c (0, &start, offsetof (Start, crc))) {
    g_clear_error (error);
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: is not a checkpoint, or its start is damaged", path);
    return NULL;
  }
  if (start.version != VERSION) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, "%s: checkpoint version %u; %d was expected", path,
                 start.version, VERSION);
    return NULL;
  }
  void *buffer = lam_alloc (PIECE, "checking a checkpoint", error);
  gboolean ok = buffer != NULL, end = FALSE;
  int64_t at = sizeof start;
  while (ok && !end)
    ok = take_record (c, &at, &end, buffer, error);
  lam_free (buffer);
  if (ok && at != c->size)
    ok = damaged (c, "there is something after its end", at, error);
  return ok ? g_steal_pointer (&c) : NULL;
}

void
lam_checkpoint_free (LamCheckpoint *c)
{
  if (!c)
    return;
  if (c->fd >= 0)
    close (c->fd);
  g_array_unref (c->entries);
  g_free (c->path);
  g_free (c);
}

int64_t
lam_checkpoint_n_sections (const LamCheckpoint *c)
{
  return c->entries->len;
}

const LamCheckpointSection *
lam_checkpoint_section (const LamCheckpoint *c, int64_t index)
{
  return index >= 0 && index < c->entries->len ? &g_array_index (c->entries, Entry, index).section : NULL;
}

static const Entry *
find (const LamCheckpoint *c, const char *name)
{
  for (guint i = 0; i < c->entries->len; i++)
    if (strcmp (g_array_index (c->entries, Entry, i).section.name, name) == 0)
      return &g_array_index (c->entries, Entry, i);
  return NULL;
}

const LamCheckpointSection *
lam_checkpoint_find (const LamCheckpoint *c, const char *name)
{
  const Entry *e = find (c, name);
  return e ? &e->section : NULL;
}

gboolean
lam_checkpoint_read (LamCheckpoint *c, const char *name, LamCheckpointType type, int64_t first, int64_t n, void *out,
                     GError **error)
{
  const Entry *e = find (c, name);
  if (!e) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "%s: the checkpoint has no section %s", c->path, name);
    return FALSE;
  }
  if (e->section.type != type || first < 0 || n < 0 || first > e->section.count - n) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: section %s: elements %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of type %d asked for; it has "
                 "%" G_GINT64_FORMAT " of type %d",
                 c->path, name, first, first + n, (int) type, e->section.count, (int) e->section.type);
    return FALSE;
  }
  int64_t size = element_size (type);
  return fetch (c, out, n * size, e->offset + first * size, error);
}

gboolean
lam_checkpoint_get_double (LamCheckpoint *c, const char *name, double *value, GError **error)
{
  return lam_checkpoint_read (c, name, LAM_CHECKPOINT_DOUBLE, 0, 1, value, error);
}

gboolean
lam_checkpoint_get_int (LamCheckpoint *c, const char *name, int64_t *value, GError **error)
{
  return lam_checkpoint_read (c, name, LAM_CHECKPOINT_INT64, 0, 1, value, error);
}

char *
lam_checkpoint_get_text (LamCheckpoint *c, const char *name, GError **error)
{
  const LamCheckpointSection *s = lam_checkpoint_find (c, name);
  int64_t bytes = s ? s->count : 0;
  char *raw = lam_alloc (bytes + 1, name, error);
  if (!raw)
    return NULL;
  char *text = NULL;
  if (lam_checkpoint_read (c, name, LAM_CHECKPOINT_TEXT, 0, bytes, raw, error)) {
    raw[bytes] = 0;
    text = g_utf8_make_valid (raw, -1);
  }
  lam_free (raw);
  return text;
}
