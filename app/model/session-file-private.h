/* session-file-private.h: what the files of session-file.h share. */
#pragma once

#include "model/session-file.h"

#include "io/checkpoint.h"
#include "io/hdf5.h"

G_BEGIN_DECLS

#define LAM_SESSION_LAYOUT 1
#define LAM_SESSION_MARK "lamina_session"

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamSessionResult, lam_session_result_free)

/* "/results/NUMBER", or @name in it; g_free (). */
char *lam_result_path (guint i, const char *name);

/* -- session-fields.c: structs, dictionaries and iterations in the file -- */

typedef enum {
  LAM_FIELD_DOUBLE,
  LAM_FIELD_INT64,
  LAM_FIELD_INT,   /* or an enum, or a gboolean */
  LAM_FIELD_TEXT,  /* char *; NULL is left out */
  LAM_FIELD_CHARS, /* char [size] */
} LamFileFieldKind;

/* A member of a struct, as an attribute of that name. A table ends with a name of NULL. */
typedef struct {
  const char *name;
  LamFileFieldKind kind;
  gsize offset, size;
} LamFileField;

extern const LamFileField lam_session_fields[], lam_scan_fields[]; /* LamSessionFile */
extern const LamFileField lam_view_fields[];                       /* LamSessionView */
extern const LamFileField lam_result_fields[];                     /* LamSessionResult */
extern const LamFileField lam_recon_fields[];                      /* LamReconResult */
extern const LamFileField lam_params_fields[];                     /* LamReconParams */
extern const LamFileField lam_geometry_fields[];                   /* LamGeometry */
extern const LamFileField lam_made_fields[];                       /* LamProvenance */
extern const LamFileField lam_regularization_fields[];             /* LamRegularization */
extern const LamFileField lam_device_fields[];                     /* LamReconDevice */
extern const LamFileField lam_prepare_fields[];                    /* LamPrepareParams */

gboolean lam_fields_put_at (hid_t id, const LamFileField *field, gconstpointer from, const char *place, GError **error);
/* What is not in the file stays as it was. */
gboolean lam_fields_get_at (hid_t id, const LamFileField *field, gpointer to, const char *place, GError **error);
/* A group of its own. */
gboolean lam_fields_put (LamH5File *h5, const char *path, const LamFileField *fields, gconstpointer from,
                         GError **error);
gboolean lam_fields_get (LamH5File *h5, const char *path, const LamFileField *fields, gpointer to, GError **error);

gboolean lam_prepared_put (LamH5File *h5, const char *path, const LamPrepareParams *prepared, GError **error);
gboolean lam_prepared_get (LamH5File *h5, const char *path, LamPrepareParams *prepared, GError **error);

/* "a{sv}" or "a{ss}"; NULL = an empty group. */
gboolean lam_dict_put (LamH5File *h5, const char *path, GVariant *dict, GError **error);
/* @texts: "a{ss}", of what is text. */
GVariant *lam_dict_get (LamH5File *h5, const char *path, gboolean texts, GError **error);

/* Of LamReconIteration. */
gboolean lam_iterations_put (LamH5File *h5, const char *path, const GArray *iterations, GError **error);
gboolean lam_iterations_get (LamH5File *h5, const char *path, GArray *iterations, GError **error);

/* -- session-voxels.c: the volume of a result -- */

/* Samples in a row; bytes of all. */
int64_t lam_voxels_line (const LamGeometry *g);
int64_t lam_voxels_bytes (const LamReconResult *r);
/* Its voxels lie in a file of their own, which is as it was. */
gboolean lam_voxels_are_safe (const LamSessionResult *r);

typedef gboolean (*LamTakeRows) (LamRange rows, const float *data, gpointer to, GError **error);
/* All rows of @r, from memory or from where they lie, to @take (may be NULL); its CRC is made on the way. */
gboolean lam_voxels_walk (LamSessionResult *r, const char *doing, LamTakeRows take, gpointer to, LamControl *control,
                          GError **error);

/* -- session-seal.c: the CRC at the end -- */

/* Where voxels lie in the file. */
typedef struct {
  int64_t begin, bytes;
} LamVoxelRange;

/* @ranges ascend. */
gboolean lam_seal_put (LamAtomicFile *file, const LamVoxelRange *ranges, int64_t n, GError **error);
/* It is as it was written. */
gboolean lam_seal_check (const char *path, GError **error);
/* Its end looks like a seal, whether it holds or not. */
gboolean lam_seal_is_there (const char *path);

G_END_DECLS
