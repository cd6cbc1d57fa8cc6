#include "config.h"

#include "slice-gl.h"

#include <epoxy/gl.h>
#include <glib/gi18n.h>

#include "core/error.h"

/* Floats stay floats until the last step: level and colours are uniforms, so that moving them costs one draw. The
 * value is looked up by integer index (texelFetch): nearest neighbour without relying on filtering of R32F, and NaN
 * is told by its bits because compilers may take isnan () for constant false. */
struct _LamSliceGl {
  GLuint program, vertices, picture, map;
  GLint origin, scale, size, level, height, inverted, grid;
  LamSnapshot *uploaded; /* a reference, so that the pointer stays its own */
  int64_t width, rows;   /* of the texture's storage */
  GLint largest;
};

static const char vertex_source[] = "void main () {\n"
                                    "  vec2 p = vec2 (gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);\n"
                                    "  gl_Position = vec4 (p, 0.0, 1.0);\n"
                                    "}\n";

#define STRING(...) #__VA_ARGS__
#define RGB(...) "vec3 (" STRING (__VA_ARGS__) ") / 255.0"
#define SURROUND RGB (LAM_SURROUND)
#define BAD_LIGHT RGB (LAM_HATCH_LIGHT)
#define BAD_DARK RGB (LAM_HATCH_DARK)
#define QUIET_LIGHT RGB (LAM_QUIET_LIGHT)
#define QUIET_DARK RGB (LAM_QUIET_DARK)
#define PERIOD G_STRINGIFY (LAM_HATCH_PERIOD)

static const char fragment_source[] =
    "uniform highp sampler2D picture;\n"
    "uniform sampler2D colours;\n"
    "uniform vec2 origin, scale, level;\n"
    "uniform ivec2 size;\n"
    "uniform float height;\n"
    "uniform bool inverted, grid;\n"
    "out vec4 result;\n"
    "void main () {\n"
    "  vec2 at = vec2 (gl_FragCoord.x, height - gl_FragCoord.y);\n"
    "  vec2 inside = (at - origin) / scale;\n"
    "  ivec2 texel = ivec2 (floor (inside));\n"
    "  if (any (lessThan (inside, vec2 (0.0))) || any (greaterThanEqual (texel, size))) {\n"
    "    result = vec4 (" SURROUND ", 1.0);\n"
    "    return;\n"
    "  }\n"
    "  highp float value = texelFetch (picture, texel, 0).r;\n"
    "  highp uint bits = floatBitsToUint (value);\n"
    "  vec3 colour;\n"
    "  if ((bits & 0x7f800000u) == 0x7f800000u) {\n"
    "    ivec2 p = ivec2 (floor (at));\n"
    "    bool nan = (bits & 0x7fffffu) != 0u;\n"
    "    int along = nan ? p.x + p.y : p.x - p.y + 1048576;\n"
    "    bool light = along % " PERIOD " < " PERIOD " / 2;\n"
    "    bool quiet = nan && (bits & 0xffu) != 0u && (bits & 0x80u) == 0u;\n" /* lam_is_quiet () */
    "    if (quiet)\n"
    "      colour = light ? " QUIET_LIGHT " : " QUIET_DARK ";\n"
    "    else\n"
    "      colour = light ? " BAD_LIGHT " : " BAD_DARK ";\n"
    "  } else {\n"
    "    float t = clamp ((value - level.x) / (level.y - level.x), 0.0, 1.0);\n"
    "    int i = int (t * 255.0 + 0.5);\n"
    "    colour = texelFetch (colours, ivec2 (inverted ? 255 - i : i, 0), 0).rgb;\n"
    "  }\n"
    "  ivec2 before = ivec2 (floor ((at - 1.0 - origin) / scale));\n"
    "  if (grid && (before.x != texel.x || before.y != texel.y))\n"
    "    colour = mix (colour, vec3 (0.5), 0.35);\n"
    "  result = vec4 (colour, 1.0);\n"
    "}\n";

static GLuint
compile (GLenum kind, gboolean es, const char *source, GError **error)
{
  const char *parts[] = {es ? "#version 300 es\nprecision highp float;\nprecision highp int;\n" : "#version 330\n",
                         source};
  GLuint shader = glCreateShader (kind);
  glShaderSource (shader, 2, parts, NULL);
  glCompileShader (shader);
  GLint ok = 0;
  glGetShaderiv (shader, GL_COMPILE_STATUS, &ok);
  if (ok)
    return shader;
  char log[512] = "";
  glGetShaderInfoLog (shader, sizeof log, NULL, log);
  g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, _ ("the picture's shader does not compile: %s"), log);
  glDeleteShader (shader);
  return 0;
}

static GLuint
link_program (gboolean es, GError **error)
{
  GLuint vertex = compile (GL_VERTEX_SHADER, es, vertex_source, error);
  GLuint fragment = vertex != 0 ? compile (GL_FRAGMENT_SHADER, es, fragment_source, error) : 0;
  GLuint program = 0;
  GLint ok = 0;
  if (fragment != 0) {
    program = glCreateProgram ();
    glAttachShader (program, vertex);
    glAttachShader (program, fragment);
    glLinkProgram (program);
    glGetProgramiv (program, GL_LINK_STATUS, &ok);
    if (!ok) {
      char log[512] = "";
      glGetProgramInfoLog (program, sizeof log, NULL, log);
      g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, _ ("the picture's shader does not link: %s"), log);
      glDeleteProgram (program);
      program = 0;
    }
  }
  glDeleteShader (vertex);
  glDeleteShader (fragment);
  return program;
}

static GLuint
new_texture (void)
{
  GLuint texture;
  glGenTextures (1, &texture);
  glBindTexture (GL_TEXTURE_2D, texture);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return texture;
}

LamSliceGl *
lam_slice_gl_new (gboolean es, GError **error)
{
  int version = epoxy_gl_version ();
  if (version < (es ? 30 : 33)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, _ ("GL %d.%d is too old for float textures"), version / 10,
                 version % 10);
    return NULL;
  }
  GLuint program = link_program (es, error);
  if (program == 0)
    return NULL;
  LamSliceGl *self = g_new0 (LamSliceGl, 1);
  self->program = program;
  self->origin = glGetUniformLocation (program, "origin");
  self->scale = glGetUniformLocation (program, "scale");
  self->size = glGetUniformLocation (program, "size");
  self->level = glGetUniformLocation (program, "level");
  self->height = glGetUniformLocation (program, "height");
  self->inverted = glGetUniformLocation (program, "inverted");
  self->grid = glGetUniformLocation (program, "grid");
  glUseProgram (program);
  glUniform1i (glGetUniformLocation (program, "picture"), 0);
  glUniform1i (glGetUniformLocation (program, "colours"), 1);
  glGenVertexArrays (1, &self->vertices);
  self->picture = new_texture ();
  self->map = new_texture ();
  glTexImage2D (GL_TEXTURE_2D, 0, GL_RGBA8, 256, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  glGetIntegerv (GL_MAX_TEXTURE_SIZE, &self->largest);
  return self;
}

void
lam_slice_gl_free (LamSliceGl *self)
{
  glDeleteTextures (1, &self->picture);
  glDeleteTextures (1, &self->map);
  glDeleteVertexArrays (1, &self->vertices);
  glDeleteProgram (self->program);
  g_clear_pointer (&self->uploaded, lam_snapshot_unref);
  g_free (self);
}

gboolean
lam_slice_gl_set_snapshot (LamSliceGl *self, LamSnapshot *shot)
{
  if (shot == self->uploaded)
    return TRUE;
  g_clear_pointer (&self->uploaded, lam_snapshot_unref);
  if (shot == NULL)
    return TRUE;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  if (info->width > self->largest || info->height > self->largest)
    return FALSE;
  glBindTexture (GL_TEXTURE_2D, self->picture);
  glPixelStorei (GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei (GL_UNPACK_ROW_LENGTH, 0);
  if (info->width != self->width || info->height != self->rows) {
    glTexImage2D (GL_TEXTURE_2D, 0, GL_R32F, info->width, info->height, 0, GL_RED, GL_FLOAT,
                  lam_snapshot_pixels (shot));
    self->width = info->width;
    self->rows = info->height;
  } else
    glTexSubImage2D (GL_TEXTURE_2D, 0, 0, 0, info->width, info->height, GL_RED, GL_FLOAT, lam_snapshot_pixels (shot));
  self->uploaded = lam_snapshot_ref (shot);
  return TRUE;
}

void
lam_slice_gl_set_map (LamSliceGl *self, const guint8 *map)
{
  glBindTexture (GL_TEXTURE_2D, self->map);
  glPixelStorei (GL_UNPACK_ALIGNMENT, 4);
  glTexSubImage2D (GL_TEXTURE_2D, 0, 0, 0, 256, 1, GL_RGBA, GL_UNSIGNED_BYTE, map);
}

void
lam_slice_gl_draw (LamSliceGl *self, const LamSliceLook *look, int height)
{
  gboolean shown = self->uploaded != NULL;
  glUseProgram (self->program);
  glUniform2f (self->origin, look->origin_x, look->origin_y);
  glUniform2f (self->scale, look->scale_x, look->scale_y);
  glUniform2i (self->size, shown ? self->width : 0, shown ? self->rows : 0);
  glUniform2f (self->level, look->low, look->high);
  glUniform1f (self->height, height);
  glUniform1i (self->inverted, look->inverted);
  glUniform1i (self->grid, MIN (look->scale_x, look->scale_y) >= LAM_GRID_SCALE);
  glActiveTexture (GL_TEXTURE1);
  glBindTexture (GL_TEXTURE_2D, self->map);
  glActiveTexture (GL_TEXTURE0);
  glBindTexture (GL_TEXTURE_2D, self->picture);
  glDisable (GL_BLEND);
  glDisable (GL_DEPTH_TEST);
  glBindVertexArray (self->vertices);
  glDrawArrays (GL_TRIANGLES, 0, 3);
  glBindVertexArray (0);
  glUseProgram (0);
}
