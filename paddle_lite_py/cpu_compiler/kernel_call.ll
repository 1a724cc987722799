; A kernel goes over elements from one number to another, of buffers whose pointers stand side by side.
; Large arrays are cut into pieces: idle threads of XLA's help with them, and nobody waits for a thread that has not begun.
%Task = type { i64, ptr, ptr, ptr, ptr }
%Discard = type { i64, ptr, ptr }
; The next piece, how many are done, who still looks at this; the elements, those of a piece, the pieces; kernel, pointers.
%Work = type { i64, i64, i64, i64, i64, i64, ptr, [MOST_BUFFERS x ptr] }

@unknown = private constant [42 x i8] c"a kernel that this process has no plan of\00"

define private void @gather(ptr %frame, ptr %pointers) {
  %n_at = getelementptr %Frame, ptr %frame, i32 0, i32 5, i32 2
  %n = load i64, ptr %n_at
  %m_at = getelementptr %Frame, ptr %frame, i32 0, i32 6, i32 2
  %m = load i64, ptr %m_at
  %all = add i64 %n, %m
  br label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i2, %next ]
  %data = call ptr @data(ptr %frame, i64 %i, i64 0)
  %at = getelementptr ptr, ptr %pointers, i64 %i
  store ptr %data, ptr %at
  %i2 = add i64 %i, 1
  %more = icmp ult i64 %i2, %all
  br i1 %more, label %next, label %done
done:
  ret void
}

define private void @pieces(ptr %work) {
  %done_at = getelementptr %Work, ptr %work, i32 0, i32 1
  %n_at = getelementptr %Work, ptr %work, i32 0, i32 3
  %n = load i64, ptr %n_at
  %size_at = getelementptr %Work, ptr %work, i32 0, i32 4
  %size = load i64, ptr %size_at
  %count_at = getelementptr %Work, ptr %work, i32 0, i32 5
  %count = load i64, ptr %count_at
  %kernel_at = getelementptr %Work, ptr %work, i32 0, i32 6
  %kernel = load ptr, ptr %kernel_at
  %pointers = getelementptr %Work, ptr %work, i32 0, i32 7
  br label %next
next:
  %i = atomicrmw add ptr %work, i64 1 acq_rel
  %some = icmp ult i64 %i, %count
  br i1 %some, label %one, label %none
one:
  %from = mul i64 %i, %size
  %beyond = add i64 %from, %size
  %to = call i64 @llvm.umin.i64(i64 %beyond, i64 %n)
  call void %kernel(ptr %pointers, i64 %from, i64 %to)
  %done = atomicrmw add ptr %done_at, i64 1 release
  br label %next
none:
  ret void
}

define private void @leave(ptr %work, i64 %who) {
  %looking_at = getelementptr %Work, ptr %work, i32 0, i32 2
  %looking = atomicrmw sub ptr %looking_at, i64 %who acq_rel
  %last = icmp eq i64 %looking, %who
  br i1 %last, label %free, label %kept
free:
  call void free(ptr %work)
  ret void
kept:
  ret void
}

define private void @help(ptr %work) {
  call void @pieces(ptr %work)
  call void @leave(ptr %work, i64 1)
  ret void
}

define private i1 @scheduled(ptr %frame, ptr %work) {
  %api_at = getelementptr %Frame, ptr %frame, i32 0, i32 2
  %api = load ptr, ptr %api_at
  %context_at = getelementptr %Frame, ptr %frame, i32 0, i32 3
  %context = load ptr, ptr %context_at
  %task = alloca %Task
  store %Task { i64 40, ptr null, ptr null, ptr @help, ptr null }, ptr %task
  %its_context = getelementptr %Task, ptr %task, i32 0, i32 2
  store ptr %context, ptr %its_context
  %its_data = getelementptr %Task, ptr %task, i32 0, i32 4
  store ptr %work, ptr %its_data
  %schedule_at = getelementptr %Api, ptr %api, i32 0, i32 15
  %schedule = load ptr, ptr %schedule_at
  %error = call ptr %schedule(ptr %task)
  %good = icmp eq ptr %error, null
  br i1 %good, label %yes, label %no
no:
  %discard = alloca %Discard
  store %Discard { i64 24, ptr null, ptr null }, ptr %discard
  %its_error = getelementptr %Discard, ptr %discard, i32 0, i32 2
  store ptr %error, ptr %its_error
  %destroy_at = getelementptr %Api, ptr %api, i32 0, i32 6
  %destroy = load ptr, ptr %destroy_at
  call void %destroy(ptr %discard)
  ret i1 false
yes:
  ret i1 true
}

define private void @shared(ptr %frame, ptr %kernel, i64 %n, i64 %size, i64 %count, i64 %helpers) {
  %bytes = ptrtoint ptr getelementptr (%Work, ptr null, i32 1) to i64
  %work = call ptr malloc(i64 %bytes)
  store i64 0, ptr %work
  %done_at = getelementptr %Work, ptr %work, i32 0, i32 1
  store i64 0, ptr %done_at
  %looking_at = getelementptr %Work, ptr %work, i32 0, i32 2
  %looking = add i64 %helpers, 1
  store i64 %looking, ptr %looking_at
  %n_at = getelementptr %Work, ptr %work, i32 0, i32 3
  store i64 %n, ptr %n_at
  %size_at = getelementptr %Work, ptr %work, i32 0, i32 4
  store i64 %size, ptr %size_at
  %count_at = getelementptr %Work, ptr %work, i32 0, i32 5
  store i64 %count, ptr %count_at
  %kernel_at = getelementptr %Work, ptr %work, i32 0, i32 6
  store ptr %kernel, ptr %kernel_at
  %pointers = getelementptr %Work, ptr %work, i32 0, i32 7
  call void @gather(ptr %frame, ptr %pointers)
  br label %ask
ask:
  %asked = phi i64 [ 0, %0 ], [ %asked2, %helped ]
  %enough = icmp eq i64 %asked, %helpers
  br i1 %enough, label %begin, label %one
one:
  %good = call i1 @scheduled(ptr %frame, ptr %work)
  br i1 %good, label %helped, label %alone
helped:
  %asked2 = add i64 %asked, 1
  br label %ask
alone:
  %missing = sub i64 %helpers, %asked
  br label %begin
begin:
  %left = phi i64 [ 0, %ask ], [ %missing, %alone ]
  call void @pieces(ptr %work)
  br label %wait
wait:
  %done = load atomic i64, ptr %done_at acquire, align 8
  %finished = icmp eq i64 %done, %count
  br i1 %finished, label %over, label %others
others:
  %yielded = call i32 sched_yield()
  br label %wait
over:
  %who = add i64 %left, 1
  call void @leave(ptr %work, i64 %who)
  ret void
}

declare i64 @llvm.umin.i64(i64, i64)

define ptr @call(ptr %frame) {
  %question = call i1 @asked(ptr %frame)
  br i1 %question, label %good, label %find
find:
  %plan = call ptr @plan(ptr %frame)
  %none = icmp eq ptr %plan, null
  br i1 %none, label %unknown, label %known
unknown:
  %what = call ptr @error(ptr %frame, ptr @unknown, i32 5)
  ret ptr %what
known:
  %kernel_at = getelementptr i64, ptr %plan, i64 2
  %kernel = load ptr, ptr %kernel_at
  %n_at = getelementptr i64, ptr %plan, i64 3
  %n = load i64, ptr %n_at
  %size_at = getelementptr i64, ptr %plan, i64 4
  %size = load i64, ptr %size_at
  %count_at = getelementptr i64, ptr %plan, i64 5
  %count = load i64, ptr %count_at
  %helpers_at = getelementptr i64, ptr %plan, i64 6
  %helpers = load i64, ptr %helpers_at
  %small = icmp eq i64 %helpers, 0
  br i1 %small, label %alone, label %many
many:
  call void @shared(ptr %frame, ptr %kernel, i64 %n, i64 %size, i64 %count, i64 %helpers)
  ret ptr null
alone:
  %pointers = alloca ptr, i32 MOST_BUFFERS
  call void @gather(ptr %frame, ptr %pointers)
  call void %kernel(ptr %pointers, i64 0, i64 %n)
  ret ptr null
good:
  ret ptr null
}
