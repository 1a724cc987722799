/* A convolution by oneDNN: the steps of its plan, one after the other. */
#include <pthread.h>

#include "xla_call.h"

/* oneDNN's own types, as far as they are needed (dnnl_types.h). */
typedef struct {
  int kind;
  void *memory;
} Argument;

/* What Python fills in: oneDNN's functions and objects. */
struct {
  int (*create_memory)(void **memory, const void *description, void *engine, void *data);
  int (*destroy_memory)(void *memory);
  int (*execute)(const void *primitive, void *stream, int n, const Argument *arguments);
  int (*wait)(void *stream);
  void *engine, *stream;
} onednn;

typedef struct {
  int64_t kind;
  const void *description;
  int64_t buffer, offset;
} Operand;

typedef struct {
  const void *primitive;
  int64_t n;
  Operand operands[];
} Step;

/* A primitive for all threads has the machine to itself; each step waits until it has ended. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int run(const XLA_FFI_CallFrame *frame, const Step *step) {
  Argument arguments[MOST_ARGUMENTS]; /* memory objects of this call alone: several threads may call */
  int status = 0;
  int64_t n = 0;
  for (; n < step->n && !status; n += !status) {
    const Operand *o = &step->operands[n];
    char *data = (char *)buffer_of(frame, o->buffer) + o->offset;
    arguments[n].kind = (int)o->kind;
    status = onednn.create_memory(&arguments[n].memory, o->description, onednn.engine, data);
  }
  if (!status) {
    status = onednn.execute(step->primitive, onednn.stream, (int)n, arguments);
    status |= onednn.wait(onednn.stream);
  }
  while (n > 0) onednn.destroy_memory(arguments[--n].memory);
  return status;
}

XLA_FFI_Error *call(XLA_FFI_CallFrame *frame) {
  if (answers_version(frame)) return NULL;
  const Plan *plan = find_plan(frame);
  if (!plan) return error_of(frame, "a convolution that this process has no plan of", XLA_FFI_Error_Code_NOT_FOUND);
  bool takes_all_threads = plan->words[0];
  const Step *step = (const Step *)&plan->words[2];
  int status = 0;
  if (takes_all_threads) pthread_mutex_lock(&one_at_a_time);
  for (int64_t i = 0; i < plan->words[1] && !status; i++) {
    status = run(frame, step);
    step = (const Step *)&step->operands[step->n];
  }
  if (takes_all_threads) pthread_mutex_unlock(&one_at_a_time);
  return status ? error_of(frame, "a convolution of oneDNN fails", XLA_FFI_Error_Code_INTERNAL) : NULL;
}
