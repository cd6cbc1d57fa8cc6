/* hdf5-heap.c: variable-length texts, read from the file itself.
 *
 * Such a text lies in a "global heap collection"; the attribute holds its length, the collection's address and an index.
 * HDF5 1.10 believes all of these: one flipped bit makes it write past its buffers or loop for ever (H5HG_read,
 * H5HG__cache_heap_deserialize). Nearly every file has such texts, so they are looked up here with every number checked:
 * the object header's messages (versions 1 and 2, continuations) lead to the attribute, that to the collection. What is
 * stored otherwise (dense or shared attributes, offsets of other than 8 bytes, another driver) is left to the library.
 * Layout: HDF5 File Format Specification 3.0, sections III.E, IV.A. */
#include <string.h>
#include <unistd.h>

#include "io/hdf5-private.h"

/* Blocks of one object header, and bytes of one block or collection, that are followed. */
#define MAX_BLOCKS 256
#define MAX_BLOCK (INT64_C (16) << 20)

#define MESSAGE_ATTRIBUTE 0x0c
#define MESSAGE_CONTINUATION 0x10
#define MESSAGE_ATTRIBUTE_INFO 0x15
#define FLAG_SHARED 0x02
#define DESCRIPTOR 16 /* u32 length, u64 address, u32 index */

typedef struct {
  int fd;
  int64_t base; /* user block: addresses count from its end */
  int64_t size; /* of the file */
} Raw;

static uint64_t
number (const uint8_t *p, int bytes)
{
  uint64_t x = 0;
  for (int i = bytes - 1; i >= 0; i--)
    x = x << 8 | p[i];
  return x;
}

static gboolean
raw_open (hid_t id, Raw *raw)
{
  hid_t file = H5Iget_file_id (id);
  hid_t plist = file < 0 ? -1 : H5Fget_create_plist (file), access = file < 0 ? -1 : H5Fget_access_plist (file);
  size_t offsets = 0, lengths = 0;
  hsize_t block = 0, size = 0;
  unsigned intent = H5F_ACC_RDWR;
  int *fd = NULL;
  /* Only a file that this process cannot have changed, on the plain driver, is the same on the disk. */
  gboolean ok = plist >= 0 && access >= 0 && H5Pget_driver (access) == H5FD_SEC2 && H5Fget_intent (file, &intent) >= 0
                && !(intent & H5F_ACC_RDWR) && H5Pget_sizes (plist, &offsets, &lengths) >= 0 && offsets == 8
                && lengths == 8 && H5Pget_userblock (plist, &block) >= 0 && H5Fget_filesize (file, &size) >= 0
                && H5Fget_vfd_handle (file, H5P_DEFAULT, (void **) &fd) >= 0 && fd && block < INT64_MAX;
  if (ok) {
    off_t end = lseek (*fd, 0, SEEK_END); /* the library uses pread */
    *raw = (Raw){*fd, (int64_t) block, end};
    ok = end > 0;
  }
  if (plist >= 0)
    H5Pclose (plist);
  if (access >= 0)
    H5Pclose (access);
  if (file >= 0)
    H5Fclose (file);
  H5Eclear2 (H5E_DEFAULT);
  return ok;
}

/* @bytes at @address of the file, or FALSE when they are not all there. */
static gboolean
raw_read (const Raw *raw, uint64_t address, void *out, int64_t bytes)
{
  if (address > INT64_MAX / 2 || bytes < 0 || (int64_t) address > raw->size - raw->base - bytes)
    return FALSE;
  return pread (raw->fd, out, (size_t) bytes, raw->base + (int64_t) address) == bytes;
}

/* The text that the descriptor at @d means. */
static LamRawText
from_heap (const Raw *raw, const uint8_t *d, char **text)
{
  uint64_t length = number (d, 4), address = number (d + 4, 8), index = number (d + 12, 4);
  uint8_t head[16];
  if (length == 0 || address == 0) {
    *text = g_strdup ("");
    return LAM_RAW_READ;
  }
  if (!raw_read (raw, address, head, sizeof head) || memcmp (head, "GCOL\1", 5) != 0)
    return LAM_RAW_DAMAGED;
  uint64_t size = number (head + 8, 8);
  if (size < sizeof head || size > (uint64_t) raw->size || length > size)
    return LAM_RAW_DAMAGED;
  /* Object after object, headers only: index, count, size; a text may be long. */
  for (uint64_t at = sizeof head; at + 16 <= size;) {
    uint8_t object[16];
    if (!raw_read (raw, address + at, object, sizeof object))
      return LAM_RAW_DAMAGED;
    uint64_t here = number (object, 2), bytes = number (object + 8, 8);
    if (here == 0) /* free space to the end */
      break;
    if (bytes > size - at - 16)
      return LAM_RAW_DAMAGED;
    if (here == index) {
      char *buffer = bytes == length ? g_try_malloc (bytes + 1) : NULL;
      if (!buffer || !raw_read (raw, address + at + 16, buffer, (int64_t) bytes)) {
        g_free (buffer);
        return LAM_RAW_DAMAGED;
      }
      buffer[bytes] = 0;
      *text = g_utf8_make_valid (buffer, -1);
      g_free (buffer);
      return LAM_RAW_READ;
    }
    at += 16 + (bytes + 7) / 8 * 8;
  }
  return LAM_RAW_DAMAGED;
}

/* What is looked for in an object header: the text of one attribute, or every name. */
typedef struct {
  const Raw *raw;
  const char *name;
  char **text;
  GPtrArray *names;
  gboolean elsewhere; /* some attributes are shared or dense: the list is not whole */
  gboolean followed;  /* every block was read */
  GArray *more;       /* continuations: address, bytes */
} Search;

static LamRawText
take_attribute (Search *s, const uint8_t *m, int64_t bytes)
{
  int version = bytes >= 9 ? m[0] : 0;
  if (version < 1 || version > 3)
    return LAM_RAW_DAMAGED;
  int64_t sizes[3] = {(int64_t) number (m + 2, 2), (int64_t) number (m + 4, 2), (int64_t) number (m + 6, 2)};
  int64_t start = version == 3 ? 9 : 8, at = start;
  for (int i = 0; i < 3; i++)
    at += version == 1 ? (sizes[i] + 7) / 8 * 8 : sizes[i];
  if (start + sizes[0] > bytes || sizes[0] < 1 || m[start + sizes[0] - 1] != 0)
    return LAM_RAW_DAMAGED;
  const char *name = (const char *) m + start;
  if (s->names)
    g_ptr_array_add (s->names, g_strdup (name));
  if (s->names || strcmp (name, s->name) != 0)
    return LAM_RAW_UNKNOWN;
  return at + DESCRIPTOR <= bytes ? from_heap (s->raw, m + at, s->text) : LAM_RAW_DAMAGED;
}

/* One block of messages; UNKNOWN: go on. */
static LamRawText
search_block (Search *s, const uint8_t *block, int64_t bytes, int version, gboolean ordered)
{
  int head = version == 1 ? 8 : 4 + (ordered ? 2 : 0);
  for (int64_t at = 0; at + head <= bytes;) {
    const uint8_t *p = block + at, *message = p + head;
    int type = version == 1 ? (int) number (p, 2) : p[0], flags = version == 1 ? p[4] : p[3];
    int64_t size = version == 1 ? (int64_t) number (p + 2, 2) : (int64_t) number (p + 1, 2);
    if (size > bytes - at - head)
      return LAM_RAW_DAMAGED;
    if (type == MESSAGE_CONTINUATION && size >= 16 && s->more->len < 2 * MAX_BLOCKS) {
      const uint64_t place[2] = {number (message, 8), number (message + 8, 8)};
      g_array_append_vals (s->more, place, 2);
    }
    if (type == MESSAGE_ATTRIBUTE_INFO && size >= 10) {
      int64_t heap = message[1] & 1 ? 4 : 2; /* the address of dense storage: all ones when there is none */
      s->elsewhere = s->elsewhere || size < heap + 8 || number (message + heap, 8) != UINT64_MAX;
    }
    if (type == MESSAGE_ATTRIBUTE && flags & FLAG_SHARED)
      s->elsewhere = TRUE;
    else if (type == MESSAGE_ATTRIBUTE) {
      LamRawText result = take_attribute (s, message, size);
      if (result != LAM_RAW_UNKNOWN)
        return result;
    }
    at += head + size;
  }
  return LAM_RAW_UNKNOWN;
}

/* All blocks of the header of @object. */
static LamRawText
search_object (hid_t object, Search *s)
{
  Raw raw;
  H5O_info_t info;
  uint8_t head[64] = {0};
  if (!raw_open (object, &raw))
    return LAM_RAW_UNKNOWN;
  s->raw = &raw;
  if (H5Oget_info2 (object, &info, H5O_INFO_BASIC) < 0 || (!raw_read (&raw, info.addr, head, 40))) {
    H5Eclear2 (H5E_DEFAULT);
    return LAM_RAW_UNKNOWN;
  }
  int version = head[0] == 1 ? 1 : memcmp (head, "OHDR\2", 5) == 0 ? 2 : 0;
  if (version == 0)
    return LAM_RAW_UNKNOWN;
  gboolean ordered = version == 2 && (head[5] & 0x04);
  uint64_t address = info.addr, bytes;
  if (version == 1) {
    bytes = number (head + 8, 4);
    address += 16;
  } else {
    int skip = 6 + (head[5] & 0x20 ? 16 : 0) + (head[5] & 0x10 ? 4 : 0), wide = 1 << (head[5] & 3);
    bytes = number (head + skip, wide);
    address += (uint64_t) (skip + wide);
  }
  LamRawText result = LAM_RAW_UNKNOWN;
  for (guint next = 0;; next += 2) {
    uint8_t *block = bytes <= (uint64_t) MAX_BLOCK ? g_try_malloc (bytes + 1) : NULL;
    gboolean ok = block && raw_read (&raw, address, block, (int64_t) bytes);
    int64_t skip = 0, length = (int64_t) bytes;
    if (ok && version == 2 && next > 0) { /* a continuation: signature before, checksum behind */
      ok = length >= 8 && memcmp (block, "OCHK", 4) == 0;
      skip = 4;
      length -= 8;
    }
    if (ok)
      result = search_block (s, block + skip, length, version, ordered);
    g_free (block);
    if (!ok)
      return LAM_RAW_DAMAGED;
    s->followed = next >= s->more->len;
    if (result != LAM_RAW_UNKNOWN || s->followed)
      return result;
    address = g_array_index (s->more, uint64_t, next);
    bytes = g_array_index (s->more, uint64_t, next + 1);
  }
}

LamRawText
lam_h5_raw_attribute (hid_t object, const char *name, char **text)
{
  Search s = {.name = name, .text = text, .more = g_array_new (FALSE, FALSE, sizeof (uint64_t))};
  LamRawText result = search_object (object, &s);
  g_array_unref (s.more);
  return result;
}

LamRawText
lam_h5_raw_names (hid_t object, GPtrArray *names)
{
  Search s = {.names = names, .more = g_array_new (FALSE, FALSE, sizeof (uint64_t))};
  LamRawText result = search_object (object, &s);
  g_array_unref (s.more);
  if (result == LAM_RAW_UNKNOWN && s.raw && !s.elsewhere && s.followed)
    return LAM_RAW_READ;
  g_ptr_array_set_size (names, 0);
  return result;
}

LamRawText
lam_h5_raw_dataset (hid_t dataset, char **text)
{
  Raw raw;
  uint8_t descriptor[DESCRIPTOR];
  haddr_t offset = H5Dget_offset (dataset); /* counts from the start of the file, user block included */
  H5Eclear2 (H5E_DEFAULT);
  if (offset == HADDR_UNDEF || !raw_open (dataset, &raw))
    return LAM_RAW_UNKNOWN;
  if (offset < (uint64_t) raw.base || !raw_read (&raw, offset - (uint64_t) raw.base, descriptor, sizeof descriptor))
    return LAM_RAW_DAMAGED;
  return from_heap (&raw, descriptor, text);
}
