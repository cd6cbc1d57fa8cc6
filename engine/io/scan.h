/* scan.h: an opened scan. Opening reads information only; the samples are read on demand, any thread, no lock held
 * between calls.
 *
 * Formats: DXchange (/exchange), Lamina's own scan file, MBIRJAX's two-stage file (spec/ct.md section 12). Nothing is
 * guessed silently: what was found, assumed and missing is listed in findings, each with the option that changes it. */
#pragma once

#include <glib.h>
#include <math.h>

#include "core/types.h"
#include "ct/geometry.h"
#include "io/control.h"
#include "io/file.h"

G_BEGIN_DECLS

typedef enum {
  LAM_SCAN_COUNTS,   /* detector counts; flats and darks make transmission of them */
  LAM_SCAN_SINOGRAM, /* -log transmission, ready to reconstruct */
} LamScanKind;

typedef enum {
  LAM_SCAN_DXCHANGE,
  LAM_SCAN_LAMINA,
  LAM_SCAN_MBIRJAX,
} LamScanFormat;

typedef enum {
  LAM_FINDING_FOUND,   /* stated by the file, or given by an option */
  LAM_FINDING_ASSUMED, /* not stated: this is what will be used */
  LAM_FINDING_WARNING, /* stated, and odd */
  LAM_FINDING_MISSING, /* needed and unknown: reading refuses until it is given */
} LamFindingKind;

/* One line of the import list. */
typedef struct {
  LamFindingKind kind;
  char *field;  /* "angles", "pitch", "distances", "flats", ... stable, for the window and --json */
  char *text;   /* in words: "no distances in the file: parallel beam assumed" */
  char *value;  /* what is used, with its unit ("0 to 180 degrees, 181 views"), or NULL */
  char *option; /* the command-line option that gives or changes it ("--angles START:STOP"), or NULL */
} LamFinding;

typedef enum {
  LAM_ANGLE_UNIT_FROM_FILE,
  LAM_ANGLE_UNIT_DEGREES,
  LAM_ANGLE_UNIT_RADIANS,
} LamAngleUnit;

/* What the person gave; it overrides the file and clears the matching "missing". NAN = not given. Lengths are mm, or px
 * when neither file nor person states a pitch. */
typedef struct {
  gboolean geometry_set;
  LamGeometryKind geometry;
  double source_detector, source_axis;
  double channel_pitch, row_pitch; /* row_pitch NAN: as channel_pitch */
  gboolean angles_set;
  double angle_start, angle_stop; /* degrees; evenly, stop not included */
  LamAngleUnit angle_unit;        /* of the file's own angles */
  int direction;                  /* 0 not given; +1 as the file says; -1 reversed: every angle negated */
  gboolean kind_set;
  LamScanKind kind; /* what the samples are, where the file does not say */
  LamRange slices;  /* parallel: detector rows to use; {0, 0} = all. Cone: left to the caller */
} LamScanOptions;

#define LAM_SCAN_OPTIONS_INIT                                                                                          \
  {                                                                                                                    \
    .source_detector = NAN, .source_axis = NAN, .channel_pitch = NAN, .row_pitch = NAN                                 \
  }

typedef struct {
  char *path;
  LamScanFormat format;
  LamScanKind kind;
  LamGeometry *geometry; /* owned; rows = those of @rows. recon_* are 0 but where the file states a volume */
  int64_t file_rows;     /* detector rows in the file */
  LamRange rows;         /* the rows that geometry describes (all, or options.slices for parallel beam) */
  int64_t flats, darks;  /* frames; 0 = none */
  gboolean has_weights;
  gboolean missing_angles; /* no usable angles: lam_scan_read () refuses */
  gboolean missing;        /* any finding of kind LAM_FINDING_MISSING */
  GPtrArray *findings;     /* of LamFinding, in the order of the import list */
  LamFileStamp stamp;
  gboolean center_assumed; /* nobody said where the axis is: the middle of the detector */
  const char *center_from; /* who did, static text: "the file", "--center" */
  /* private: where the arrays are */
  char *data_path, *flats_path, *darks_path, *weights_path;
} LamScan;

/* @options may be NULL. Errors: LAM_ERROR_IO no such file; LAM_ERROR_FORMAT not a scan, cut off, or its counts disagree
 * (both numbers are named); LAM_ERROR_INVALID an unusable value (field, index, value); LAM_ERROR_NOT_SUPPORTED an NXtomo
 * file, a folder of TIFF images, a geometry that is not built. Missing things are findings, not errors. */
LamScan *lam_scan_open (const char *path, const LamScanOptions *options, GError **error);
void lam_scan_free (LamScan *scan);
/* What is known of it, for whoever asks after the scan itself has gone to a reader. */
LamScan *lam_scan_copy (const LamScan *scan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamScan, lam_scan_free)

/* Reads detector rows @rows of the file ({0, 0} = scan->rows), with n = their number, C order, into what is not NULL:
 *   @projections [views][n][channels], @flats [flats][n][channels], @darks [darks][n][channels], @weights as projections.
 * Errors as lam_scan_open (), and LAM_ERROR_MISSING when the angles are missing (names --angles START:STOP),
 * LAM_ERROR_CHANGED when the file is no longer the one that was opened, LAM_ERROR_CANCELLED. */
gboolean lam_scan_read (LamScan *scan, LamRange rows, float *projections, float *flats, float *darks, float *weights,
                        const LamIoControl *control, GError **error);

/* Some views of them: @projections is [views][n][channels]. */
gboolean lam_scan_read_views (LamScan *scan, LamRange views, LamRange rows, float *projections,
                              const LamIoControl *control, GError **error);

/* LAM_ERROR_CHANGED (or LAM_ERROR_IO when it is gone) unless the file is still the one that was opened. */
gboolean lam_scan_unchanged (const LamScan *scan, GError **error);

/* FALSE with LAM_ERROR_MISSING, naming the first missing thing and its option. */
gboolean lam_scan_complete (const LamScan *scan, GError **error);

/* The axis of scan->geometry was given: @from is static text, such as "--center". */
void lam_scan_center_given (LamScan *scan, const char *from);

const char *lam_scan_format_name (LamScanFormat format);

/* What lam_scan_write () writes; pointers are borrowed. */
typedef struct {
  const LamGeometry *geometry; /* complete; recon_* are kept too when recon_rows > 0 */
  LamScanKind kind;
  const float *projections;   /* [views][rows][channels] */
  const float *flats, *darks; /* [n][rows][channels], counts only */
  int64_t n_flats, n_darks;
  const float *weights;   /* as projections, or NULL */
  const char *parameters; /* JSON text of how it was made, or NULL */
} LamScanData;

/* Lamina's own scan file, atomically: /scan/{projections,flats,darks,weights,angles,shifts} and attributes. Angles are
 * stored in radians (units "rad"), so that they come back bit for bit. */
gboolean lam_scan_write (const char *path, const LamScanData *data, const LamIoControl *control, GError **error);

G_END_DECLS
