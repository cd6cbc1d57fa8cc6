#include "core/error.h"

GQuark
lam_error_quark (void)
{
  return g_quark_from_static_string ("lam-error-quark");
}

gboolean
lam_error_from_status (LamStatus status, const char *what, GError **error)
{
  switch (status) {
  case LAM_OK:
    return TRUE;
  case LAM_STATUS_CANCELLED:
    g_set_error (error, LAM_ERROR, LAM_ERROR_CANCELLED, "%s: cancelled", what);
    return FALSE;
  case LAM_STATUS_NO_MEMORY:
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "%s: out of memory", what);
    return FALSE;
  case LAM_STATUS_INVALID:
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s: sizes that the kernel does not accept", what);
    return FALSE;
  case LAM_STATUS_NOT_SUPPORTED:
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, "%s: not supported on this device", what);
    return FALSE;
  }
  g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "%s: unknown status %d", what, (int) status);
  return FALSE;
}
