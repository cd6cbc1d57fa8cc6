#include "config.h"

#include "model/settings.h"

#include <glib/gstdio.h>
#include <pthread.h>
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
  gboolean loading, loaded;
  guint touched; /* bits of the properties that were set, but by the file */
};

G_DEFINE_FINAL_TYPE (LamSettings, lam_settings, G_TYPE_OBJECT)

/* Those with a key in the file come first, in its order. */
enum {
  PROP_0,
  PROP_COLOUR_SCHEME,
  PROP_AUTOSAVE,
  PROP_DEVICES,
  PROP_RESULTS_FOLDER,
  PROP_LENGTH_UNITS,
  PROP_LOADED,
  N_PROPS
};
#define N_KEYS (PROP_LOADED - 1)
static GParamSpec *properties[N_PROPS];
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

gboolean
lam_settings_get_loaded (LamSettings *self)
{
  return self->loaded;
}

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

/* -- file: read and written by workers -- */

/* What goes into the file: pairs of key and text, NULL = no such key. */
typedef struct {
  char *path, *texts[N_KEYS];
} Writing;

static const char *const keys[N_KEYS] = {"colour-scheme", "autosave", "devices", "results-folder", "length-units"};

static void
writing_free (gpointer data)
{
  Writing *w = data;
  for (int i = 0; i < N_KEYS; i++)
    g_free (w->texts[i]);
  g_free (w->path);
  g_free (w);
}

static Writing *
describe (LamSettings *self)
{
  Writing *w = g_new0 (Writing, 1);
  *w = (Writing){g_strdup (self->path),
                 {g_strdup (self->colour_scheme), g_strdup_printf ("%u", self->autosave), g_strdup (self->devices),
                  g_strdup (self->results_folder), g_strdup (self->length_units)}};
  return w;
}

static void
write_file (const Writing *w)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_path_get_dirname (w->path);
  /* What another version wrote stays. */
  g_key_file_load_from_file (file, w->path, G_KEY_FILE_KEEP_COMMENTS, NULL);
  for (int i = 0; i < N_KEYS; i++)
    if (w->texts[i] != NULL)
      g_key_file_set_string (file, GROUP, keys[i], w->texts[i]);
    else
      g_key_file_remove_key (file, GROUP, keys[i], NULL);
  g_mkdir_with_parents (folder, 0700);
  if (!g_key_file_save_to_file (file, w->path, &error))
    g_debug ("the settings were not written: %s", error->message);
}

static void
write_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  pthread_mutex_lock (&writing); /* one after the other, the newest last */
  write_file (data);
  pthread_mutex_unlock (&writing);
  g_task_return_boolean (task, TRUE);
}

static gboolean
write_cb (gpointer data)
{
  LamSettings *self = data;
  if (!self->loaded) /* else what the file has would be lost */
    return G_SOURCE_CONTINUE;
  self->source = 0;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, NULL, NULL);
  g_task_set_name (task, "lam_settings_write");
  g_task_set_task_data (task, describe (self), writing_free);
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
  Writing *w = describe (self);
  pthread_mutex_lock (&writing);
  write_file (w);
  pthread_mutex_unlock (&writing);
  writing_free (w);
}

typedef struct {
  GWeakRef settings;
  char *path;
} Reading;

static void
reading_free (gpointer data)
{
  Reading *r = data;
  g_weak_ref_clear (&r->settings);
  g_free (r->path);
  g_free (r);
}

static void
read_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GKeyFile *file = g_key_file_new ();
  g_key_file_load_from_file (file, ((Reading *) data)->path, G_KEY_FILE_NONE, NULL);
  g_task_return_pointer (task, file, (GDestroyNotify) g_key_file_unref);
}

/* What was set since it was asked for stays as it was set. */
static void
read_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Reading *r = g_task_get_task_data (G_TASK (result));
  g_autoptr (LamSettings) self = g_weak_ref_get (&r->settings);
  g_autoptr (GKeyFile) file = g_task_propagate_pointer (G_TASK (result), NULL);
  if (self == NULL)
    return;
  self->loading = TRUE;
  for (int i = 0; file != NULL && i < N_KEYS; i++) {
    g_autofree char *text = g_key_file_get_string (file, GROUP, keys[i], NULL);
    if (text == NULL || (self->touched & (1u << (i + 1))))
      continue;
    if (i + 1 != PROP_AUTOSAVE)
      g_object_set (self, keys[i], text, NULL);
    else {
      guint64 seconds;
      if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT32, &seconds, NULL))
        g_object_set (self, keys[i], (guint) MIN (seconds, 3600), NULL);
    }
  }
  self->loading = FALSE;
  self->loaded = TRUE;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_LOADED]);
}

static void
load (LamSettings *self)
{
  Reading *r = g_new0 (Reading, 1);
  g_weak_ref_init (&r->settings, self);
  r->path = g_strdup (self->path);
  g_autoptr (GTask) task = g_task_new (NULL, NULL, read_done_cb, NULL);
  g_task_set_name (task, "lam_settings_read");
  g_task_set_priority (task, G_PRIORITY_HIGH); /* before the first frame */
  g_task_set_task_data (task, r, reading_free);
  g_task_run_in_thread (task, read_thread);
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
  self->touched |= 1u << id;
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
  case PROP_LOADED:
    g_value_set_boolean (value, self->loaded);
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
  properties[PROP_LOADED] =
      g_param_spec_boolean ("loaded", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
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
