/* checkpoint.h: a solver's state on disk, written often.
 *
 * Our own binary container, not HDF5: a flat list of named sections, each with a CRC-32C of its header and of its
 * payload, and a closing record with the section count. It is written to a temporary file beside the old one, flushed
 * to the disk and renamed, so a kill or a power cut at any moment leaves the previous state whole; opening verifies
 * everything and refuses a torn file. Little-endian. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

#define LAM_CHECKPOINT_MAX_RANK 8

typedef enum {
  LAM_CHECKPOINT_FLOAT = 1,
  LAM_CHECKPOINT_DOUBLE = 2,
  LAM_CHECKPOINT_INT64 = 3,
  LAM_CHECKPOINT_TEXT = 4, /* UTF-8, rank 1 */
  LAM_CHECKPOINT_INT32 = 5,
  LAM_CHECKPOINT_UINT64 = 6,
} LamCheckpointType;

/* ---- writing ---- */
typedef struct _LamCheckpointWriter LamCheckpointWriter;

/* Nothing at @path changes before lam_checkpoint_writer_finish () returned TRUE. */
LamCheckpointWriter *lam_checkpoint_writer_new (const char *path, GError **error);
/* A section in pieces: begin with the whole shape, append shards in C order, end checks that all bytes came. */
gboolean lam_checkpoint_writer_begin (LamCheckpointWriter *w, const char *name, LamCheckpointType type, int rank,
                                      const int64_t *shape, GError **error);
gboolean lam_checkpoint_writer_append (LamCheckpointWriter *w, const void *data, int64_t bytes, GError **error);
gboolean lam_checkpoint_writer_end (LamCheckpointWriter *w, GError **error);
/* Whole sections. Names are unique within a file. */
gboolean lam_checkpoint_put (LamCheckpointWriter *w, const char *name, LamCheckpointType type, int rank,
                             const int64_t *shape, const void *data, GError **error);
gboolean lam_checkpoint_put_double (LamCheckpointWriter *w, const char *name, double value, GError **error);
gboolean lam_checkpoint_put_int (LamCheckpointWriter *w, const char *name, int64_t value, GError **error);
gboolean lam_checkpoint_put_text (LamCheckpointWriter *w, const char *name, const char *text, GError **error);
/* Closing record, fsync, rename. The writer must still be freed. */
gboolean lam_checkpoint_writer_finish (LamCheckpointWriter *w, GError **error);
/* Removes the temporary file unless finished. */
void lam_checkpoint_writer_free (LamCheckpointWriter *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamCheckpointWriter, lam_checkpoint_writer_free)

/* ---- reading ---- */
typedef struct _LamCheckpoint LamCheckpoint;

typedef struct {
  const char *name;
  LamCheckpointType type;
  int rank;
  int64_t shape[LAM_CHECKPOINT_MAX_RANK];
  int64_t count; /* elements */
} LamCheckpointSection;

/* Verifies every byte. LAM_ERROR_FORMAT: not a checkpoint, another version, cut off or damaged (section and place). */
LamCheckpoint *lam_checkpoint_open (const char *path, GError **error);
/* Whether @path begins like a checkpoint, whole or not. */
gboolean lam_checkpoint_is_one (const char *path);
void lam_checkpoint_free (LamCheckpoint *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamCheckpoint, lam_checkpoint_free)

int64_t lam_checkpoint_n_sections (const LamCheckpoint *c);
const LamCheckpointSection *lam_checkpoint_section (const LamCheckpoint *c, int64_t index);
/* NULL when there is none of that name. */
const LamCheckpointSection *lam_checkpoint_find (const LamCheckpoint *c, const char *name);
/* Elements [first, first + n) of section @name into @out; the type must match. LAM_ERROR_MISSING: no such section;
 * LAM_ERROR_INVALID: other type, or fewer elements (both numbers named). */
gboolean lam_checkpoint_read (LamCheckpoint *c, const char *name, LamCheckpointType type, int64_t first, int64_t n,
                              void *out, GError **error);
gboolean lam_checkpoint_get_double (LamCheckpoint *c, const char *name, double *value, GError **error);
gboolean lam_checkpoint_get_int (LamCheckpoint *c, const char *name, int64_t *value, GError **error);
/* g_free. */
char *lam_checkpoint_get_text (LamCheckpoint *c, const char *name, GError **error);

/* ---- where they live ---- */
/* $XDG_STATE_HOME/lamina/@kind-<hash of @key>.ckpt; the folder is made. @kind: a short plain word. g_free. */
char *lam_state_file (const char *kind, const char *key, GError **error);

/* CRC-32C of @bytes at @data, continued from @crc (0 to start). */
uint32_t lam_crc32c (uint32_t crc, const void *data, size_t bytes);

G_END_DECLS
