#include "config.h"

#include "model/settings.h"

#include <glib/gstdio.h>
#include <string.h>

#define GROUP "Lamina"
#define AUTOSAVE_SECONDS 30
/* Written so long after the last change. */
#define WAIT_MS 400

struct _LamSettings {
  GObject parent_instance;
  char *path, *colour_scheme, *results_folder, *devices, *length_units;
  guint autosave;
  guint source;
  gboolean loading;
};

G_DEFINE_FINAL_TYPE (LamSettings, lam_settings, G_TYPE_OBJECT)

enum { PROP_0, PROP_COLOUR_SCHEME, PROP_AUTOSAVE, PROP_RESULTS_FOLDER, PROP_DEVICES, PROP_LENGTH_UNITS, N_PROPS };
static GParamSpec *properties[N_PROPS];

guint
lam_settings_get_autosave (LamSettings *self)
{
  return self->autosave;
}

const char *
lam_settings_get_results_folder (LamSettings *self)
{
  return self->results_folder;
}

const char *
lam_settings_get_devices (LamSettings *self)
{
  return self->devices;
}

const char *
lam_settings_get_length_units (LamSettings *self)
{
  return self->length_units;
}

const char *
lam_settings_get_colour_scheme (LamSettings *self)
{
  return self->colour_scheme;
}

/* -- file -- */

static void
put_text (GKeyFile *file, const char *key, const char *text)
{
  if (text != NULL)
    g_key_file_set_string (file, GROUP, key, text);
  else
    g_key_file_remove_key (file, GROUP, key, NULL);
}

static char *
to_text (LamSettings *self)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  /* What another version wrote stays. */
  g_key_file_load_from_file (file, self->path, G_KEY_FILE_KEEP_COMMENTS, NULL);
  g_key_file_set_string (file, GROUP, "colour-scheme", self->colour_scheme);
  g_key_file_set_integer (file, GROUP, "autosave", (int) self->autosave);
  g_key_file_set_string (file, GROUP, "devices", self->devices);
  put_text (file, "results-folder", self->results_folder);
  put_text (file, "length-units", self->length_units);
  return g_key_file_to_data (file, NULL, NULL);
}

static gboolean
write_text (const char *path, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_path_get_dirname (path);
  g_mkdir_with_parents (folder, 0700);
  if (!g_file_set_contents (path, text, -1, &error))
    g_debug ("the settings were not written: %s", error->message);
  return error == NULL;
}

static void
write_thread (GTask *task, gpointer source, gpointer text, GCancellable *cancellable)
{
  write_text (LAM_SETTINGS (source)->path, text);
  g_task_return_boolean (task, TRUE);
}

static gboolean
write_cb (gpointer data)
{
  LamSettings *self = data;
  self->source = 0;
  g_autoptr (GTask) task = g_task_new (self, NULL, NULL, NULL);
  g_task_set_name (task, "lam_settings_write");
  g_task_set_task_data (task, to_text (self), g_free);
  g_task_run_in_thread (task, write_thread);
  return G_SOURCE_REMOVE;
}

void
lam_settings_flush (LamSettings *self)
{
  g_return_if_fail (LAM_IS_SETTINGS (self));
  if (self->source == 0)
    return;
  g_clear_handle_id (&self->source, g_source_remove);
  g_autofree char *text = to_text (self);
  write_text (self->path, text);
}

static void
load (LamSettings *self)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) error = NULL;
  if (!g_key_file_load_from_file (file, self->path, G_KEY_FILE_NONE, NULL))
    return;
  g_autofree char *scheme = g_key_file_get_string (file, GROUP, "colour-scheme", NULL),
                  *folder = g_key_file_get_string (file, GROUP, "results-folder", NULL),
                  *devices = g_key_file_get_string (file, GROUP, "devices", NULL),
                  *units = g_key_file_get_string (file, GROUP, "length-units", NULL);
  int seconds = g_key_file_get_integer (file, GROUP, "autosave", &error);
  self->loading = TRUE;
  if (scheme != NULL)
    g_object_set (self, "colour-scheme", scheme, NULL);
  if (folder != NULL)
    g_object_set (self, "results-folder", folder, NULL);
  if (devices != NULL)
    g_object_set (self, "devices", devices, NULL);
  if (units != NULL)
    g_object_set (self, "length-units", units, NULL);
  if (error == NULL && seconds >= 0)
    g_object_set (self, "autosave", (guint) MIN (seconds, 3600), NULL);
  self->loading = FALSE;
}

/* -- object -- */

static void
set_text (char **field, const GValue *value, const char *fallback)
{
  const char *text = g_value_get_string (value);
  g_free (*field);
  *field = g_strdup (text != NULL && *text != '\0' ? text : fallback);
}

static void
lam_settings_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  LamSettings *self = LAM_SETTINGS (object);
  switch (id) {
  case PROP_COLOUR_SCHEME:
    set_text (&self->colour_scheme, value, "system");
    break;
  case PROP_AUTOSAVE:
    self->autosave = g_value_get_uint (value);
    break;
  case PROP_RESULTS_FOLDER:
    set_text (&self->results_folder, value, NULL);
    break;
  case PROP_DEVICES:
    set_text (&self->devices, value, "auto");
    break;
  case PROP_LENGTH_UNITS:
    set_text (&self->length_units, value, NULL);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  if (self->loading || self->path == NULL)
    return;
  g_clear_handle_id (&self->source, g_source_remove);
  self->source = g_timeout_add (WAIT_MS, write_cb, self);
}

static void
lam_settings_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamSettings *self = LAM_SETTINGS (object);
  switch (id) {
  case PROP_COLOUR_SCHEME:
    g_value_set_string (value, self->colour_scheme);
    break;
  case PROP_AUTOSAVE:
    g_value_set_uint (value, self->autosave);
    break;
  case PROP_RESULTS_FOLDER:
    g_value_set_string (value, self->results_folder);
    break;
  case PROP_DEVICES:
    g_value_set_string (value, self->devices);
    break;
  case PROP_LENGTH_UNITS:
    g_value_set_string (value, self->length_units);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_settings_dispose (GObject *object)
{
  lam_settings_flush (LAM_SETTINGS (object));
  G_OBJECT_CLASS (lam_settings_parent_class)->dispose (object);
}

static void
lam_settings_finalize (GObject *object)
{
  LamSettings *self = LAM_SETTINGS (object);
  g_free (self->path);
  g_free (self->colour_scheme);
  g_free (self->results_folder);
  g_free (self->devices);
  g_free (self->length_units);
  G_OBJECT_CLASS (lam_settings_parent_class)->finalize (object);
}

static void
lam_settings_class_init (LamSettingsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->set_property = lam_settings_set_property;
  object_class->get_property = lam_settings_get_property;
  object_class->dispose = lam_settings_dispose;
  object_class->finalize = lam_settings_finalize;
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  properties[PROP_COLOUR_SCHEME] = g_param_spec_string ("colour-scheme", NULL, NULL, "system", flags);
  properties[PROP_AUTOSAVE] = g_param_spec_uint ("autosave", NULL, NULL, 0, 3600, AUTOSAVE_SECONDS, flags);
  properties[PROP_RESULTS_FOLDER] = g_param_spec_string ("results-folder", NULL, NULL, NULL, flags);
  properties[PROP_DEVICES] = g_param_spec_string ("devices", NULL, NULL, "auto", flags);
  properties[PROP_LENGTH_UNITS] = g_param_spec_string ("length-units", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
lam_settings_init (LamSettings *self)
{
  self->colour_scheme = g_strdup ("system");
  self->devices = g_strdup ("auto");
  self->autosave = AUTOSAVE_SECONDS;
}

LamSettings *
lam_settings_new (const char *path)
{
  LamSettings *self = g_object_new (LAM_TYPE_SETTINGS, NULL);
  self->path = path != NULL ? g_strdup (path) : g_build_filename (g_get_user_config_dir (), "lamina", "settings", NULL);
  load (self);
  return self;
}
