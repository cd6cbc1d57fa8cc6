#include "config.h"

#include "cli/picture.h"

#include <glib/gi18n.h>
#include <string.h>

#include "cli/common.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/png.h"

cairo_surface_t *
lam_cli_picture_new (int64_t width, int64_t height, GError **error)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) MIN (width, G_MAXINT), (int) MIN (height, G_MAXINT));
  if (cairo_surface_status (surface) != CAIRO_STATUS_SUCCESS) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, _ ("picture of %s x %s pixels: %s"),
                 lam_cli_number ((double) width), lam_cli_number ((double) height),
                 cairo_status_to_string (cairo_surface_status (surface)));
    cairo_surface_destroy (surface);
    return NULL;
  }
  LamCanvas canvas = lam_canvas_paper ();
  cairo_t *cr = cairo_create (surface);
  lam_canvas_ink (&canvas, cr, LAM_INK_PAPER);
  cairo_paint (cr);
  cairo_destroy (cr);
  return surface;
}

gboolean
lam_cli_picture_write (cairo_surface_t *surface, const char *output, GError **error)
{
  int64_t width = cairo_image_surface_get_width (surface), height = cairo_image_surface_get_height (surface),
          stride = cairo_image_surface_get_stride (surface);
  unsigned char *rgb = lam_alloc_n (lam_mul_size (width, height), 3, "picture", error);
  if (!rgb)
    return FALSE;
  cairo_surface_flush (surface);
  const unsigned char *pixels = cairo_image_surface_get_data (surface);
  for (int64_t r = 0; r < height; r++)
    for (int64_t c = 0; c < width; c++) {
      guint32 x;
      memcpy (&x, pixels + r * stride + 4 * c, sizeof x);
      unsigned char *to = rgb + 3 * (r * width + c);
      to[0] = (unsigned char) (x >> 16);
      to[1] = (unsigned char) (x >> 8);
      to[2] = (unsigned char) x;
    }
  gboolean ok = lam_png_write_pixels (output, rgb, width, height, 3, error);
  lam_free (rgb);
  return ok;
}
