/* What the functions that XLA calls have in common: the plan of a call, its buffers, and errors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xla/ffi/api/c_api.h"

/* A plan stands in memory for good. Python adds plans at the head of their chain while calls look for others. */
typedef struct Plan {
  int64_t key;
  struct Plan *next;
  int64_t words[]; /* what the function needs to know */
} Plan;

Plan *plans[CHAINS];

/* The key is the only attribute of a call. */
static const Plan *find_plan(const XLA_FFI_CallFrame *frame) {
  const XLA_FFI_Scalar *attribute = frame->attrs.attrs[0];
  int64_t key = *(const int64_t *)attribute->value;
  const Plan *plan = plans[key & (CHAINS - 1)];
  while (plan && plan->key != key) plan = plan->next;
  return plan;
}

/* The memory of an argument, or of a result, which are numbered after the arguments. */
static void *buffer_of(const XLA_FFI_CallFrame *frame, int64_t index) {
  int64_t n = frame->args.size;
  void *buffer = index < n ? frame->args.args[index] : frame->rets.rets[index - n];
  return ((XLA_FFI_Buffer *)buffer)->data;
}

static XLA_FFI_Error *error_of(const XLA_FFI_CallFrame *frame, const char *message, XLA_FFI_Error_Code code) {
  XLA_FFI_Error_Create_Args args = {
      .struct_size = sizeof args, .message = message, .errc = code};
  return frame->api->XLA_FFI_Error_Create(&args);
}

/* XLA asks once for the version of its interface that a function was made for, instead of calling it. */
static bool answers_version(const XLA_FFI_CallFrame *frame) {
  XLA_FFI_Extension_Base *extension = frame->extension_start;
  if (!extension || extension->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Api_Version *version = &((XLA_FFI_Metadata_Extension *)extension)->metadata->api_version;
  version->major_version = XLA_FFI_API_MAJOR;
  version->minor_version = XLA_FFI_API_MINOR;
  return true;
}
