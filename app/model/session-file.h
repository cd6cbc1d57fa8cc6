/* session-file.h: a session as a file: FILE.lamina.h5, HDF5, which other programs can look into.
 *
 *   /                 attribute lamina_session (the version of this layout), program, version
 *   /session          title, edits, shown, home, run; sequence (the other workspace, as text);
 *                     groups scan, prepared, parameters, defaults, notes, view; datasets of the curve
 *   /maps             of the Sequence workspace (maps-file.h), if there are any; without voxels, /session names their file
 *   /results/000 ...  name, log, the groups params, geometry, made, regularization, parameters; iterations [n][8], and
 *                     volume [row][column][slice] float32, or the file and dataset where its voxels lie
 *
 * After HDF5's own end lies a seal: the CRC of all but the voxels, which have their own. A file that is not as it was written
 * is refused before the library sees it, which does not survive every damage.
 *
 * Numbers are kept exactly. Volumes are contiguous and written past the library, as result files are (volume-write.c), for
 * the same reason: a full disk shows before the first byte, and the library never meets one half-way. Written to a temporary
 * file beside its place and renamed. Any thread; nothing here is an object. */
#pragma once

#include <gio/gio.h>

#include "core/control.h"
#include "io/scan.h"
#include "model/maps-data.h"
#include "run/recon.h"

G_BEGIN_DECLS

#define LAM_SESSION_SUFFIX ".lamina.h5"

/* Where a result's voxels lie on the disk. */
typedef enum {
  LAM_VOXELS_MEMORY, /* nowhere yet */
  LAM_VOXELS_KEPT,   /* a file of the state folder: goes with the session that made it */
  LAM_VOXELS_SAVED,  /* a file that the person saved: a link to it is enough */
  LAM_VOXELS_INSIDE, /* a session file */
} LamVoxels;

typedef struct {
  char *name;
  LamReconResult *recon; /* its volume is NULL when it could not be read: problem says why */
  char *problem;
  GVariant *parameters; /* "a{sv}" of the run, or NULL */
  double tilt_degrees;
  LamPrepareParams prepared; /* how its data were */
  LamVoxels where;
  char *path, *dataset; /* with where */
  LamFileStamp stamp;   /* of path */
  gboolean has_crc;
  uint32_t crc; /* CRC-32C of the voxels */
} LamSessionResult;

typedef struct {
  int plane;
  int64_t index[3];
  double low, high;
  gboolean automatic, inverted;
  int colour_map;
  double zoom;                          /* 0 = the whole picture; else widget pixels per pixel */
  char workspace[16], tab[16], map[16]; /* that is looked at, and of Sequence its tab and map; empty: not said */
} LamSessionView;

typedef struct {
  char *title;
  char *scan; /* absolute path; NULL = the bundled example, or with @bare no scan at all: a sequence alone */
  gboolean bare;
  char *relative; /* from the session file's folder, when it was read; or NULL */
  LamFileStamp stamp;
  LamScanOptions options;
  LamPrepareParams prepared;       /* what the data were read with; the parameters may say something else by now */
  GVariant *parameters, *defaults; /* "a{sv}" */
  GVariant *notes;                 /* "a{ss}" */
  LamSessionView view;
  GVariant *sequence;  /* "a{sv}", the Sequence workspace's (sequence-session.h), or NULL */
  LamMapsResult *maps; /* the same workspace's, or NULL */
  char *maps_path;     /* where they lie alone (lam_maps_file_keep ()); NULL: nowhere, or in the file itself */
  GPtrArray *results;  /* of LamSessionResult */
  gboolean has_results;
  int64_t shown; /* index of the result in view; -1 = the live slice */
  int64_t edits; /* steps that could be undone */
  char *log;
  GArray *curve; /* of LamReconIteration; what the chart shows: change and cost */
  char *home;    /* the file that the person saved it as, or NULL */
  char *run;     /* note of the run that goes on (session-recovery.c), or NULL */
} LamSessionFile;

LamSessionFile *lam_session_file_new (void);
void lam_session_file_free (LamSessionFile *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamSessionFile, lam_session_file_free)
LamSessionResult *lam_session_result_new (const char *name, LamReconResult *recon);
void lam_session_result_free (LamSessionResult *r);

/* Each result is told its CRC and where its voxels lie now. @embed: volumes go into the file, but for those that the person saved and that are still as they were. Else none does:
 * those that lie nowhere are left out. */
gboolean lam_session_file_write (LamSessionFile *f, const char *path, gboolean embed, LamControl *control,
                                 GError **error);
/* Reads all of it, volumes too; one that cannot be had is left NULL with its problem. */
LamSessionFile *lam_session_file_read (const char *path, LamControl *control, GError **error);
/* Only what a question needs: title, scan, edits, run. */
LamSessionFile *lam_session_file_peek (const char *path, GError **error);
gboolean lam_session_file_is_one (const char *path);

/* The voxels of @r alone, as /recon of @path: written once, so that later autosaves only name it. */
gboolean lam_session_result_keep (LamSessionResult *r, const char *path, LamControl *control, GError **error);

/* Where the scan of @f (read from @path) is now: its absolute path if it is there as it was, else the one beside the
 * session file, else any that is there. @changed: it is not as it was. NULL = nowhere. */
char *lam_session_file_find_scan (const LamSessionFile *f, const char *path, gboolean *changed);

G_END_DECLS
