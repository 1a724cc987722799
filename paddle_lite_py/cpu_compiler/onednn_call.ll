%Argument = type { i32, ptr }

@unknown = private constant [47 x i8] c"a convolution that this process has no plan of\00"
@failed = private constant [30 x i8] c"a convolution of oneDNN fails\00"

define private i32 @step(ptr %frame, ptr %step, i64 %n) {
  %made = alloca %Argument, i32 MOST_ARGUMENTS
  %primitive = load ptr, ptr %step
  br label %create
create:
  %i = phi i64 [ 0, %0 ], [ %i2, %created ]
  %kind_at = getelementptr { i64, i64, [0 x [4 x i64]] }, ptr %step, i32 0, i32 2, i64 %i, i32 0
  %described_at = getelementptr i64, ptr %kind_at, i64 1
  %index_at = getelementptr i64, ptr %kind_at, i64 2
  %offset_at = getelementptr i64, ptr %kind_at, i64 3
  %kind = load i64, ptr %kind_at
  %described = load ptr, ptr %described_at
  %index = load i64, ptr %index_at
  %offset = load i64, ptr %offset_at
  %data = call ptr @data(ptr %frame, i64 %index, i64 %offset)
  %argument = getelementptr %Argument, ptr %made, i64 %i
  %short = trunc i64 %kind to i32
  store i32 %short, ptr %argument
  %memory = getelementptr %Argument, ptr %argument, i32 0, i32 1
  %bad = call i32 dnnl_memory_create(ptr %memory, ptr %described, ptr inttoptr (i64 ENGINE to ptr), ptr %data)
  %wrong = icmp ne i32 %bad, 0
  br i1 %wrong, label %ended, label %created
created:
  %i2 = add i64 %i, 1
  %more = icmp ult i64 %i2, %n
  br i1 %more, label %create, label %execute
execute:
  %count = trunc i64 %n to i32
  %stream = inttoptr i64 STREAM to ptr
  %executed = call i32 dnnl_primitive_execute(ptr %primitive, ptr %stream, i32 %count, ptr %made)
  %waited = call i32 dnnl_stream_wait(ptr %stream)
  %both = or i32 %executed, %waited
  br label %ended
ended:
  %status = phi i32 [ %bad, %create ], [ %both, %execute ]
  %there = phi i64 [ %i, %create ], [ %n, %execute ]
  br label %destroy
destroy:
  %j = phi i64 [ 0, %ended ], [ %j2, %destroying ]
  %left = icmp ult i64 %j, %there
  br i1 %left, label %destroying, label %gone
destroying:
  %gone_at = getelementptr %Argument, ptr %made, i64 %j, i32 1
  %object = load ptr, ptr %gone_at
  %ignored = call i32 dnnl_memory_destroy(ptr %object)
  %j2 = add i64 %j, 1
  br label %destroy
gone:
  ret i32 %status
}

define ptr @call(ptr %frame) {
  %question = call i1 @asked(ptr %frame)
  br i1 %question, label %answered, label %find
answered:
  ret ptr null
find:
  %plan = call ptr @plan(ptr %frame)
  %none = icmp eq ptr %plan, null
  br i1 %none, label %unknown, label %known
unknown:
  %what = call ptr @error(ptr %frame, ptr @unknown, i32 5)
  ret ptr %what
known:
  %shared_at = getelementptr i64, ptr %plan, i64 2
  %is_shared = load i64, ptr %shared_at
  %shared = icmp ne i64 %is_shared, 0
  %n_at = getelementptr i64, ptr %plan, i64 3
  %n = load i64, ptr %n_at
  %first = getelementptr i64, ptr %plan, i64 4
  br i1 %shared, label %lock, label %begin
lock:
  %locked = call i32 pthread_mutex_lock(ptr inttoptr (i64 MUTEX to ptr))
  br label %begin
begin:
  br label %run
run:
  %i = phi i64 [ 0, %begin ], [ %i2, %ran ]
  %step = phi ptr [ %first, %begin ], [ %following, %ran ]
  %size_at = getelementptr i64, ptr %step, i64 1
  %size = load i64, ptr %size_at
  %status = call i32 @step(ptr %frame, ptr %step, i64 %size)
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %over, label %ran
ran:
  %following = getelementptr { i64, i64, [0 x [4 x i64]] }, ptr %step, i32 0, i32 2, i64 %size
  %i2 = add i64 %i, 1
  %more = icmp ult i64 %i2, %n
  br i1 %more, label %run, label %over
over:
  br i1 %shared, label %unlock, label %end
unlock:
  %unlocked = call i32 pthread_mutex_unlock(ptr inttoptr (i64 MUTEX to ptr))
  br label %end
end:
  br i1 %bad, label %failed, label %good
failed:
  %why = call ptr @error(ptr %frame, ptr @failed, i32 13)
  ret ptr %why
good:
  ret ptr null
}
