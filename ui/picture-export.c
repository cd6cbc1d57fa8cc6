#include "config.h"

#include "picture-export.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

#include "palette.h"
#include "slice-overlay.h"
#include "slice-view-private.h"

/* Pixels along a side that an image may have. */
#define MOST 16384

typedef struct {
  LamPictureKind kind;
  LamSnapshot *shot;
  LamSliceLook look;
  guint8 map[256 * 4];
  int width, height;
  gboolean scale_bar;
  double thickness;
  char *font, *about, *path, *text;
  guint32 *argb;
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;
  lam_snapshot_unref (work->shot);
  g_free (work->font);
  g_free (work->about);
  g_free (work->path);
  g_free (work->text);
  g_free (work->argb);
  g_free (work);
}

/* The part of the picture in sight, its pixels all of one size. */
static Work *
work_new (LamSliceView *view, LamPictureKind kind, gboolean scale_bar)
{
  LamSnapshot *shot = lam_slice_view_get_shot (view);
  if (shot == NULL)
    return NULL;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  GtkWidget *widget = GTK_WIDGET (view);
  double sx, sy, c0, r0, c1, r1;
  int factor = gtk_widget_get_scale_factor (widget);
  Work *work = g_new0 (Work, 1);
  work->kind = kind;
  work->shot = lam_snapshot_ref (shot);
  work->scale_bar = scale_bar;
  lam_slice_view_get_scale (view, &sx, &sy);
  lam_slice_view_get_look (view, &work->look);
  lam_slice_view_to_picture (view, 0, 0, &c0, &r0);
  lam_slice_view_to_picture (view, gtk_widget_get_width (widget), gtk_widget_get_height (widget), &c1, &r1);
  c0 = CLAMP (floor (c0), 0, info->width - 1.0);
  r0 = CLAMP (floor (r0), 0, info->height - 1.0);
  c1 = CLAMP (ceil (c1), c0 + 1, (double) info->width);
  r1 = CLAMP (ceil (r1), r0 + 1, (double) info->height);
  double aspect = sy / sx, zoom = fmax (rint (sx * factor), 1);
  while (zoom > 1 && fmax ((c1 - c0) * zoom, (r1 - r0) * zoom * aspect) > MOST)
    zoom--;
  work->look.scale_x = zoom;
  work->look.scale_y = zoom * aspect;
  work->look.origin_x = -c0 * zoom;
  work->look.origin_y = -r0 * zoom * aspect;
  work->width = (int) CLAMP ((c1 - c0) * zoom, 1, MOST);
  work->height = (int) CLAMP (rint ((r1 - r0) * zoom * aspect), 1, MOST);
  lam_colour_map_fill (lam_slice_model_get_colour_map (lam_slice_view_get_model (view)), work->map);
  work->font =
      pango_font_description_to_string (pango_context_get_font_description (gtk_widget_get_pango_context (widget)));
  return work;
}

/* In the lower left corner, as in the window, as large as the image asks for. */
static void
draw_scale_bar (Work *work)
{
  const LamSnapshotInfo *info = lam_snapshot_info (work->shot);
  double pitch = info->pitch_x > 0 ? info->pitch_x : 1, size = CLAMP (fmin (work->height, work->width) / 28.0, 9, 48);
  double length = lam_scale_bar_length (work->look.scale_x / pitch, fmin (work->width * 0.35, size * 12));
  double bar = length * work->look.scale_x / pitch, margin = rint (size * 0.6), thick = fmax (rint (size / 5), 2);
  cairo_surface_t *surface = cairo_image_surface_create_for_data ((guint8 *) work->argb, CAIRO_FORMAT_RGB24,
                                                                  work->width, work->height, work->width * 4);
  if (cairo_surface_status (surface) != CAIRO_STATUS_SUCCESS) {
    cairo_surface_destroy (surface);
    return;
  }
  cairo_t *cr = cairo_create (surface);
  g_autoptr (PangoLayout) layout = pango_cairo_create_layout (cr);
  g_autoptr (PangoFontDescription) font = pango_font_description_from_string (work->font);
  g_autofree char *text = g_strdup_printf ("%g %s", length, *info->length_unit != '\0' ? info->length_unit : "px");
  int w, h;
  pango_font_description_set_absolute_size (font, size * PANGO_SCALE);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_size (layout, &w, &h);
  double top = work->height - margin - thick - h;
  cairo_set_source_rgba (cr, 0, 0, 0, 0.55);
  cairo_rectangle (cr, margin - 4, top - 2, fmax (w, bar) + 8, h + thick + 6);
  cairo_fill (cr);
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_rectangle (cr, margin, work->height - margin - thick, bar, thick);
  cairo_fill (cr);
  cairo_move_to (cr, margin, top);
  pango_cairo_show_layout (cr, layout);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  cairo_surface_destroy (surface);
}

static void
paint (Work *work)
{
  work->argb = g_malloc ((gsize) work->width * work->height * 4);
  lam_slice_raster (work->shot, &work->look, work->map, work->width, work->height, work->argb);
  if (work->scale_bar)
    draw_scale_bar (work);
}

/* -- clipboard -- */

static void
copy_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  paint (work);
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_steal_pointer (&work->argb), (gsize) work->width * work->height * 4);
  g_task_return_pointer (task,
                         gdk_memory_texture_new (work->width, work->height, GDK_MEMORY_DEFAULT, bytes, work->width * 4),
                         g_object_unref);
}

static void
copied_cb (GObject *view, GAsyncResult *result, gpointer data)
{
  Work *work = g_task_get_task_data (G_TASK (result));
  g_autoptr (GdkTexture) texture = g_task_propagate_pointer (G_TASK (result), NULL);
  GdkContentProvider *parts[2] = {gdk_content_provider_new_typed (GDK_TYPE_TEXTURE, texture)};
  gsize n = 1;
  if (work->text != NULL)
    parts[n++] = gdk_content_provider_new_typed (G_TYPE_STRING, work->text);
  g_autoptr (GdkContentProvider) all = gdk_content_provider_new_union (parts, n);
  gdk_clipboard_set_content (gtk_widget_get_clipboard (GTK_WIDGET (view)), all);
}

void
lam_picture_export_copy (LamSliceView *view, gboolean scale_bar)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (view));
  Work *work = work_new (view, LAM_PICTURE_PNG, scale_bar);
  if (work == NULL)
    return;
  work->text = lam_slice_model_describe_cursor (lam_slice_view_get_model (view));
  g_autoptr (GTask) task = g_task_new (view, NULL, copied_cb, NULL);
  g_task_set_name (task, "lam_picture_copy");
  g_task_set_task_data (task, work, work_free);
  g_task_run_in_thread (task, copy_thread);
}

/* -- files -- */

static void
save_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  GError *error = NULL;
  gboolean ok;
  if (work->kind == LAM_PICTURE_PNG) {
    paint (work);
    gsize n = (gsize) work->width * work->height;
    guint8 *rgb = (guint8 *) work->argb; /* in place: three bytes never reach the word that is read next */
    for (gsize i = 0; i < n; i++) {
      guint32 colour = work->argb[i];
      rgb[3 * i] = colour >> 16 & 255;
      rgb[3 * i + 1] = colour >> 8 & 255;
      rgb[3 * i + 2] = colour & 255;
    }
    ok = lam_picture_file_write_png (work->path, rgb, work->width, work->height, &error);
  } else
    ok = lam_picture_file_write_values (work->kind, work->path, work->shot, work->thickness, work->about, &error);
  if (ok)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

void
lam_picture_export_save (LamSliceView *view, LamPictureKind kind, gboolean scale_bar, const char *title,
                         double thickness, const char *path, GAsyncReadyCallback done, gpointer data)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (view) && path != NULL);
  Work *work = work_new (view, kind, scale_bar);
  g_return_if_fail (work != NULL);
  work->path = g_strdup (path);
  work->thickness = thickness;
  work->about = lam_picture_file_describe (title, lam_snapshot_info (work->shot));
  g_autoptr (GTask) task = g_task_new (view, NULL, done, data);
  g_task_set_name (task, "lam_picture_save");
  g_task_set_task_data (task, work, work_free);
  g_task_run_in_thread (task, save_thread);
}

gboolean
lam_picture_export_save_finish (LamSliceView *view, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
