/* hdf5-private.h: between the parts of the HDF5 wrapper. */
#pragma once

#include <glib.h>
#include <hdf5.h>

#include "core/types.h"

typedef enum {
  LAM_RAW_READ,    /* *text is set */
  LAM_RAW_DAMAGED, /* what is stored contradicts itself: the library must not be asked for it */
  LAM_RAW_UNKNOWN, /* stored in a way that is not followed here: ask the library */
} LamRawText;

/* The one variable-length text in attribute @name of @object, or in the scalar @dataset; g_free. */
LamRawText lam_h5_raw_attribute (hid_t object, const char *name, char **text);
LamRawText lam_h5_raw_dataset (hid_t dataset, char **text);
/* The names of all attributes of @object, into @names. (H5Aiterate () frees what it has not made when one is damaged.) */
LamRawText lam_h5_raw_names (hid_t object, GPtrArray *names);
