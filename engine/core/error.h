/* error.h: the one error domain. A message says what, where (file, dataset, index), what was expected, what to do. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

#define LAM_ERROR (lam_error_quark ())

typedef enum {
  LAM_ERROR_FAILED,        /* anything without a better name */
  LAM_ERROR_INVALID,       /* a parameter or a value in the data is not usable */
  LAM_ERROR_MISSING,       /* something needed is not in the file and was not given */
  LAM_ERROR_FORMAT,        /* the file is not what it says, is cut off, or is of an unknown kind */
  LAM_ERROR_IO,            /* the operating system refused: no file, no space, no permission */
  LAM_ERROR_NO_MEMORY,     /* an allocation failed, or the plan does not fit */
  LAM_ERROR_CANCELLED,     /* the person stopped it */
  LAM_ERROR_NOT_SUPPORTED, /* understood, and not built */
  LAM_ERROR_CHANGED,       /* the file changed while it was open */
} LamErrorCode;

GQuark lam_error_quark (void);

/* Set @error from a kernel's status; returns TRUE when @status is LAM_OK. @what names the operation. */
gboolean lam_error_from_status (LamStatus status, const char *what, GError **error);

G_END_DECLS
