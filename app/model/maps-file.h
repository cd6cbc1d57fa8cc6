/* maps-file.h: maps in a session's file: /maps, a group of one float32 dataset a map and one of why voxels have none, with all
 * that is told of the series they are of; its samples and the dictionary stay where they are. Any thread. */
#pragma once

#include "io/file.h"
#include "io/hdf5.h"
#include "model/maps-data.h"

G_BEGIN_DECLS

/* What the arrays take in a file; and what the library needs beside them, at most. */
int64_t lam_maps_file_bytes (const LamMapsResult *r);
int64_t lam_maps_file_overhead (const LamMapsResult *r);

/* The group, with room for the arrays: @places [r->n + 1] gets where. They are written past the library, as volumes are. */
gboolean lam_maps_file_lay_out (LamH5File *h5, const LamMapsResult *r, int64_t *places, GError **error);
gboolean lam_maps_file_fill (LamAtomicFile *file, const LamMapsResult *r, const int64_t *places, GError **error);
/* A file of nothing else. */
gboolean lam_maps_file_keep (const LamMapsResult *r, const char *path, GError **error);

/* Without a dictionary, and with a series that has no samples. */
LamMapsResult *lam_maps_file_read (LamH5File *h5, GError **error);

G_END_DECLS
