/* maps-data.h: what the jobs of the Maps tab make: a dictionary, a series, maps. Counted and immutable, so that one job can
 * still read what another has replaced. Any thread. */
#pragma once

#include "io/file.h"
#include "io/mr-series.h"
#include "model/maps-source.h"
#include "mr/match.h"

G_BEGIN_DECLS

typedef struct {
  gatomicrefcount refs;
  LamDictionary *d;
  char *path;         /* of the file that it is from; NULL: made here */
  double seconds;     /* that making it took; 0: it is from a file */
  LamFileStamp stamp; /* of the file */
} LamMapsDictionary;

typedef struct {
  gatomicrefcount refs;
  LamMrSeries *s;        /* of maps that a session kept: without samples */
  LamMapsSource *source; /* of a phantom; NULL: it is from a file */
  LamFileStamp stamp;    /* of the file */
  double noise;          /* of a phantom */
} LamMapsSeries;

typedef struct {
  const char *name, *unit; /* "T1", "ms"; interned */
  const char *title;
  float *values;   /* [voxels] */
  float low, high; /* 0.5 and 99.5 % of what is finite; 0, 1 where nothing is */
  int64_t finite;
} LamMapsMap;

typedef struct {
  gatomicrefcount refs;
  LamMapsDictionary *dictionary; /* NULL: a session kept these maps, and nothing of what they are from but who it was */
  LamMapsSeries *series;
  LamMatch match; /* of kept ones: voxels, state and count alone */
  int rank;       /* that was matched with; 0: full */
  char *mask;     /* the file; NULL: none, or not said */
  int n;
  LamMapsMap *maps;
  uint32_t crc; /* of the maps and the states */
} LamMapsResult;

/* Take what they hold over; @source NULL: from a file. */
LamMapsDictionary *lam_maps_dictionary_new (LamDictionary *d, const char *path, double seconds);
LamMapsSeries *lam_maps_series_new (LamMrSeries *s, LamMapsSource *source);
/* Matches, on the calling thread, where @mask (NULL: everywhere) is not 0; the maps are the parameters of the dictionary, M0, phase, score and residual. */
LamMapsResult *lam_maps_result_new (LamMapsDictionary *dictionary, LamMapsSeries *series, int rank, const uint8_t *mask,
                                    LamControl *control, GError **error);
/* Maps that a session kept: why voxels have none, as numbers of LamVoxelState, then each map; takes @values. */
LamMapsResult *lam_maps_result_new_kept (LamMapsSeries *series, int rank, const float *state, GError **error);
void lam_maps_result_take (LamMapsResult *r, const char *name, const char *unit, const char *title, float *values);
const LamMapsMap *lam_maps_result_find (const LamMapsResult *r, const char *name); /* NULL: none */
/* Once all of them are there: works out the CRC, by which maps are known to be the same to the last bit. */
void lam_maps_result_seal (LamMapsResult *r);
gboolean lam_maps_result_same (const LamMapsResult *a, const LamMapsResult *b);
gboolean lam_maps_result_same (const LamMapsResult *a, const LamMapsResult *b);
LamMapsDictionary *lam_maps_dictionary_ref (LamMapsDictionary *d);
LamMapsSeries *lam_maps_series_ref (LamMapsSeries *s);
LamMapsResult *lam_maps_result_ref (LamMapsResult *r);
void lam_maps_dictionary_unref (LamMapsDictionary *d);
void lam_maps_series_unref (LamMapsSeries *s);
void lam_maps_result_unref (LamMapsResult *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamMapsDictionary, lam_maps_dictionary_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamMapsSeries, lam_maps_series_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamMapsResult, lam_maps_result_unref)

/* As it is looked at: rows, columns, slices; and the voxel at a place. */
void lam_maps_series_shape (const LamMapsSeries *s, int64_t shape[3]);
int64_t lam_maps_series_voxel (const LamMapsSeries *s, int64_t slice, int64_t row, int64_t column);
/* mm along rows, columns, slices; 1 where the file does not say. */
void lam_maps_series_pitch (const LamMapsSeries *s, double pitch[3]);

G_END_DECLS
