/* A kernel goes over elements from one number to another, of buffers whose pointers stand side by side.

   Large arrays are cut into pieces: idle threads of XLA's help with them, and nobody waits for a thread that has not
   begun. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "xla_call.h"

typedef void Kernel(void **buffers, int64_t from, int64_t to);

typedef struct {
  Kernel *kernel;
  int64_t elements, piece, pieces, helpers;
} Task;

typedef struct {
  _Atomic int64_t next, done, readers; /* pieces that are taken, and computed; who still looks at this */
  Task task;
  void *buffers[MOST_BUFFERS];
} Work;

static void gather(const XLA_FFI_CallFrame *frame, void **buffers) {
  for (int64_t i = 0; i < frame->args.size + frame->rets.size; i++) buffers[i] = buffer_of(frame, i);
}

static void compute_pieces(Work *work) {
  const Task *task = &work->task;
  for (int64_t i; (i = atomic_fetch_add(&work->next, 1)) < task->pieces; atomic_fetch_add(&work->done, 1)) {
    int64_t from = i * task->piece, to = from + task->piece;
    task->kernel(work->buffers, from, to < task->elements ? to : task->elements);
  }
}

static void leave(Work *work, int64_t readers) {
  if (atomic_fetch_sub(&work->readers, readers) == readers) free(work);
}

static void help(void *work) {
  compute_pieces(work);
  leave(work, 1);
}

static bool schedule(const XLA_FFI_CallFrame *frame, Work *work) {
  XLA_FFI_ThreadPool_Schedule_Args args = {
      .struct_size = sizeof args, .ctx = frame->ctx, .task = help, .data = work};
  XLA_FFI_Error *error = frame->api->XLA_FFI_ThreadPool_Schedule(&args);
  if (!error) return true;
  XLA_FFI_Error_Destroy_Args destroyed = {.struct_size = sizeof destroyed, .error = error};
  frame->api->XLA_FFI_Error_Destroy(&destroyed);
  return false;
}

static XLA_FFI_Error *share(const XLA_FFI_CallFrame *frame, const Task *task) {
  Work *work = malloc(sizeof *work);
  if (!work) return error_of(frame, "no memory for a kernel", XLA_FFI_Error_Code_RESOURCE_EXHAUSTED);
  *work = (Work){.readers = task->helpers + 1, .task = *task};
  gather(frame, work->buffers);
  int64_t helpers = 0;
  while (helpers < task->helpers && schedule(frame, work)) helpers++;
  compute_pieces(work);
  while (atomic_load(&work->done) < task->pieces) sched_yield();
  leave(work, 1 + task->helpers - helpers);
  return NULL;
}

XLA_FFI_Error *call(XLA_FFI_CallFrame *frame) {
  if (answers_version(frame)) return NULL;
  const Plan *plan = find_plan(frame);
  if (!plan) return error_of(frame, "a kernel that this process has no plan of", XLA_FFI_Error_Code_NOT_FOUND);
  const Task *task = (const Task *)plan->words;
  if (task->helpers) return share(frame, task);
  void *buffers[MOST_BUFFERS];
  gather(frame, buffers);
  task->kernel(buffers, 0, task->elements);
  return NULL;
}
