/* test-maps-cli.c: `lamina info` and `lamina render` of maps of tissue, as one file, as a folder, and of NIfTI images: what is in
 * them, over the mask, and the colours of voxels whose values are known. */
#include <math.h>
#include <png.h>
#include <string.h>

#include "cli-util.h"
#include "io/maps.h"

#define NI 6 /* columns */
#define NJ 4 /* rows */
#define NK 3
#define VOXELS (NI * NJ * NK)
#define CONTRASTS 5

/* T1 grows from voxel to voxel: 100 ms and up; outside the mask, the first column, it is NaN or, in the last slice, a number that
 * must not count. */
static void
write_maps (void)
{
  g_autoptr (GError) error = NULL;
  const int64_t dims[3] = {NI, NJ, NK};
  const double size[3] = {2, 1, 4};
  static float t1[VOXELS], phase[VOXELS], mask[VOXELS], flat[VOXELS], re[VOXELS * CONTRASTS], im[VOXELS * CONTRASTS];
  for (int v = 0; v < VOXELS; v++) {
    mask[v] = v % NI != 0;
    t1[v] = mask[v] != 0 ? 100 + 10 * (float) v : v / (NI * NJ) == NK - 1 ? 9000 : NAN;
    phase[v] = mask[v] != 0 ? (float) v / VOXELS - 0.5f : NAN;
    flat[v] = 7;
    for (int c = 0; c < CONTRASTS; c++) {
      re[v * CONTRASTS + c] = 3 * (float) (c + 1);
      im[v * CONTRASTS + c] = 4 * (float) (c + 1);
    }
  }
  g_autoptr (LamNifti) like = lam_nifti_new (dims, size, CONTRASTS);
  LamMrSeries series = {
      .path = (char *) "series.nii", .rank = 3, .voxels = VOXELS, .contrasts = CONTRASTS, .nifti = like};
  memcpy (series.dims, dims, sizeof dims);
  const LamMap maps[] = {{"mask", "1", "1 where a voxel was matched", mask},
                         {"phase", "rad", "phase of the signal", phase},
                         {"flat", "1", "all alike", flat},
                         {"T1", "ms", "Longitudinal relaxation", t1}};
  g_autofree char *file = cli_path ("maps.h5"), *folder = cli_path ("maps"), *nifti = cli_path ("series.nii");
  g_assert_true (lam_maps_write (file, &series, maps, G_N_ELEMENTS (maps),
                                 "{\"dictionary\":\"dict.h5\",\"template\":\"MRF\",\"atoms\":321,\"rank\":5}", NULL,
                                 &error));
  g_assert_true (lam_maps_write (folder, &series, maps, G_N_ELEMENTS (maps), NULL, NULL, &error));
  g_assert_true (lam_nifti_write (nifti, like, re, im, CONTRASTS, "echoes", NULL, &error));
}

static JsonObject *
map_named (JsonObject *o, const char *name)
{
  JsonArray *maps = json_object_get_array_member (o, "maps");
  for (guint i = 0; i < json_array_get_length (maps); i++) {
    JsonObject *m = json_array_get_object_element (maps, i);
    if (g_str_equal (json_object_get_string_member (m, "name"), name))
      return m;
  }
  g_error ("no map %s", name);
}

static void
test_info (void)
{
  static const char *const files[] = {"maps.h5", "maps"};
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (CliRun) text = cli_ok ("info %s", files[i]), json = cli_ok ("info %s --json", files[i]);
    cli_assert_says (text->out, "shape: 4 rows x 6 columns x 3 slices");
    cli_assert_says (text->out, "voxel: 1 x 2 x 4 mm (row, column, slice)");
    cli_assert_says (text->out, "mask: 60 of 72 voxels, 12 left out");
    cli_assert_says (text->out, "  T1         110 to 810 ms, median 4");
    cli_assert_says (text->out, "  phase      -0.4861 to 0.4861 rad");
    g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
    JsonObject *o = cli_json_last (lines), *t1 = map_named (o, "T1");
    g_assert_cmpstr (json_object_get_string_member (o, "type"), ==, "maps");
    g_assert_cmpint (json_object_get_int_member (o, "inside_mask"), ==, 60);
    g_assert_cmpstr (json_object_get_string_member (t1, "unit"), ==, "ms");
    g_assert_cmpfloat (json_object_get_double_member (t1, "least"), ==, 110);
    g_assert_cmpfloat (json_object_get_double_member (t1, "most"), ==, 810);
    g_assert_cmpint (json_object_get_int_member (t1, "values"), ==, 60);
  }
  g_autoptr (CliRun) file = cli_ok ("info maps.h5"), one = cli_ok ("info maps/T1.nii.gz"),
                     series = cli_ok ("info series.nii");
  cli_assert_says (file->out, "by: dictionary dict.h5, 321 atoms of MRF, on a basis");
  cli_assert_says (file->out, "made of: series.nii");
  cli_assert_says (file->out, "Longitudinal relaxation");
  cli_assert_says (one->out, "T1         110 to 9000 ms"); /* alone it has no mask */
  cli_assert_says (one->out, "8 of 72 values are not finite");
  cli_assert_says (series->out, "samples: complex64, NIfTI-1");
  cli_assert_says (series->out, "series     5 to 25, median 15, 5 contrasts, complex; echoes");
}

/* ---- pictures ---- */

typedef struct {
  unsigned char *rgb;
  int width, height;
} Png;

static Png
read_png (const char *name)
{
  g_autofree char *path = cli_path (name);
  png_image image = {.version = PNG_IMAGE_VERSION};
  g_assert_true (png_image_begin_read_from_file (&image, path));
  image.format = PNG_FORMAT_RGB;
  Png p = {g_malloc (PNG_IMAGE_SIZE (image)), (int) image.width, (int) image.height};
  g_assert_true (png_image_finish_read (&image, NULL, p.rgb, 0, NULL));
  return p;
}

/* The middle of the voxel in @row and @column, where pixels of a voxel are @across x @down. */
static guint32
colour_at (const Png *p, int row, int column, int across, int down)
{
  int x = 12 + column * across + across / 2, y = 34 + row * down + down / 2;
  const unsigned char *c = p->rgb + 3 * (y * p->width + x);
  return (guint32) c[0] << 16 | (guint32) c[1] << 8 | c[2];
}

static void
test_render (void)
{
  g_autoptr (CliRun) first = cli_ok ("render maps.h5 -o t1.png --zoom 10 --slice 0 --level 110:330 --json"),
                     folder = cli_ok ("render maps --map t1 -o folder.png --zoom 10 --slice 0 --level 110:330"),
                     middle = cli_ok ("render maps.h5 -o middle.png"),
                     phase = cli_ok ("render maps.h5 --map phase -o phase.png"),
                     row = cli_ok ("render maps.h5 --plane row --index 3 -o row.png"),
                     flat = cli_ok ("render maps.h5 --map flat -o flat.png"),
                     contrast = cli_ok ("render series.nii --contrast 4 --level 0:25 -o c4.png --zoom 10");
  g_autoptr (GPtrArray) lines = cli_json_lines (first->out);
  JsonObject *o = cli_json_last (lines);
  g_assert_cmpstr (json_object_get_string_member (o, "map"), ==, "T1");
  g_assert_cmpstr (json_object_get_string_member (o, "unit"), ==, "ms");
  Png t1 = read_png ("t1.png"), same = read_png ("folder.png"), c4 = read_png ("c4.png");
  g_assert_cmpint (t1.width, ==, json_object_get_int_member (o, "width"));
  g_assert_cmpint (t1.width, ==, same.width);
  g_assert_cmpmem (t1.rgb, (gsize) (3 * t1.width * t1.height), same.rgb, (gsize) (3 * same.width * same.height));
  /* Voxels are 2 mm across and 1 mm down: the picture's are too. The ends of lipari, and its middle. */
  g_assert_cmphex (colour_at (&t1, 0, 1, 20, 10), ==, 0x031326);
  g_assert_cmphex (colour_at (&t1, 3, 5, 20, 10), ==, 0xfdf5da);
  guint32 half = colour_at (&t1, 2, 0, 20, 10), between = colour_at (&t1, 1, 5, 20, 10);
  g_assert_cmpuint (half >> 16, >, 200); /* no number: hatched paper */
  g_assert_cmpuint (between >> 16, >, 0x60);
  g_assert_cmpuint (between >> 16, <, 0xa4);
  g_assert_cmphex (colour_at (&c4, 2, 2, 20, 10), ==, 0xffffff); /* |3 + 4i| times 5 */
  /* The level is of the mask in the whole map, not of this slice: 9000 ms is outside. */
  cli_assert_says (middle->out, "T1, slice 1,");
  cli_assert_says (middle->out, "colours from 110 to 810 ms");
  cli_assert_says (phase->out, "colours from -3.14159 to 3.14159 rad");
  cli_assert_says (row->out, "T1, row 3,");
  cli_assert_says (flat->out, "flat, slice 1");
  cli_assert_says (contrast->out, "series, contrast 4 of 5, slice 1");
  g_free (t1.rgb);
  g_free (same.rgb);
  g_free (c4.rgb);
}

static void
test_refused (void)
{
  static const struct {
    const char *command;
    int status;
    const char *says;
  } cases[] = {
      {"render maps.h5 --map T3 -o x.png", 2, "--map T3: maps.h5 has T1, flat, phase, mask"},
      {"render maps.h5 --slice 3 -o x.png", 2, "--slice 3: expected a whole number from 0 to 2"},
      {"render maps.h5 --plane row --index 4 -o x.png", 2, "--index 4"},
      {"render maps.h5 --slice 1 --index 1 -o x.png", 2, "one or the other"},
      {"render maps.h5 --contrast 1 -o x.png", 2, "--contrast 1"},
      {"render maps.h5 --level 5:5 -o x.png", 2, "--level 5:5"},
      {"render maps.h5 -o x.gif", 2, ".png"},
      {"render maps.h5 --from 1 -o x.png", 2, "for Pulseq files"},
      {"render dict.txt --map T1 -o x.png", 2, "--map and --contrast are for maps"},
      {"info mixed", 1, "differ in shape"},
      {"info cut.nii", 1, "cut.nii"},
      {"render cut.nii -o x.png", 1, "cut.nii"},
  };
  g_autoptr (GError) error = NULL;
  g_autofree char *text = cli_path ("dict.txt"), *cut = cli_path ("cut.nii"), *whole = cli_path ("series.nii"),
                  *mixed = cli_path ("mixed"), *data = NULL;
  gsize length;
  g_assert_true (g_file_get_contents (whole, &data, &length, &error) && g_file_set_contents (cut, data, 700, &error)
                 && g_file_set_contents (text, "no maps\n", -1, &error));
  g_assert_cmpint (g_mkdir_with_parents (mixed, 0700), ==, 0);
  for (int i = 0; i < 2; i++) {
    const int64_t dims[3] = {2 + i, 2, 1};
    const double size[3] = {1, 1, 1};
    const float values[6] = {0};
    g_autofree char *path = g_strdup_printf ("%s/%c.nii", mixed, 'a' + i);
    g_autoptr (LamNifti) like = lam_nifti_new (dims, size, 1);
    g_assert_true (lam_nifti_write (path, like, values, NULL, 1, "", NULL, &error));
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (CliRun) run = cli_run ("%s", cases[i].command);
    g_test_message ("%s: %s", cases[i].command, run->err);
    cli_assert_status (run, cases[i].status);
    cli_assert_says (run->err, cases[i].says);
  }
  g_autofree char *x = cli_path ("x.png");
  g_assert_false (g_file_test (x, G_FILE_TEST_EXISTS));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init ();
  write_maps ();
  g_test_add_func ("/maps-cli/info", test_info);
  g_test_add_func ("/maps-cli/render", test_render);
  g_test_add_func ("/maps-cli/refused", test_refused);
  int status = g_test_run ();
  cli_finish ();
  return status;
}
