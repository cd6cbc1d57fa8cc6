#include "io/control.h"

#include "core/error.h"

gboolean
lam_io_control_step (const LamIoControl *control, double fraction, const char *what, GError **error)
{
  if (!control)
    return TRUE;
  if (control->cancelled && control->cancelled (control->data)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_CANCELLED, "%s: cancelled", what);
    return FALSE;
  }
  if (control->progress)
    control->progress (fraction, what, control->data);
  return TRUE;
}
