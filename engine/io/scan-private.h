/* scan-private.h: what the reader of one format tells the part that all formats share. */
#pragma once

#include "io/hdf5.h"
#include "io/scan.h"

/* Views above this are taken for a damaged file. */
#define LAM_SCAN_MAX_VIEWS (INT64_C (1) << 24)

/* What the file states; scan->geometry holds the numbers. */
typedef struct {
  LamScan *scan;
  LamH5File *file;
  const LamScanOptions *options;
  gboolean kind_stated;      /* parallel or cone */
  gboolean distances_stated; /* source_detector and source_axis */
  gboolean pitch_stated;     /* lengths are mm; else px */
  gboolean voxel_stated;     /* voxel_pitch */
  char *pitch_from;          /* where the pitch stands */
  double *angles;            /* lam_alloc; NULL: the file has none */
  int64_t n_angles;
  char *angles_from;       /* where they stand */
  LamAngleUnit angle_unit; /* FROM_FILE: not stated */
  GPtrArray *unused;       /* names of things that are in the file and are not used */
} ScanFacts;

/* Each fills in scan->{kind, geometry, flats, darks, *_path, has_weights, file_rows} and the facts. */
gboolean lam_scan_open_dxchange (ScanFacts *f, GError **error);
gboolean lam_scan_open_lamina (ScanFacts *f, GError **error);
gboolean lam_scan_open_mbirjax (ScanFacts *f, GError **error);

/* Sizes of the samples at scan->data_path, checked; makes scan->geometry. */
gboolean lam_scan_take_data (ScanFacts *f, LamGeometryKind kind, GError **error);
/* Frames of the dataset at @path, which must match the detector; *@frames = 0 when it is absent. */
gboolean lam_scan_take_frames (ScanFacts *f, const char *path, const char *what, int64_t *frames, GError **error);
/* Angles of a dataset with a units attribute, when it is there. */
gboolean lam_scan_take_angles (ScanFacts *f, const char *path, GError **error);
void lam_scan_unused (ScanFacts *f, const char *folder, const char *const *known);

void lam_scan_found (LamScan *scan, LamFindingKind kind, const char *field, const char *option, char *value_take,
                     const char *format, ...) G_GNUC_PRINTF (6, 7);
/* "%g" in the C locale; g_free. */
char *lam_scan_number (double x);
/* mm in one @unit, or NAN for a unit that is unknown; "px" is 0. */
double lam_scan_unit_mm (const char *unit);
/* FALSE when @text is no unit of angle. */
gboolean lam_scan_angle_unit (const char *text, LamAngleUnit *unit);
/* Multiplies every length of @g by @factor. */
void lam_scan_scale_lengths (LamGeometry *g, double factor);
