; Each thread of XLA's that calls OpenMP has a team with one more thread: both are put where they do not meet.
; A thread takes the CPU from which fewer calls came so far. Threads of Python's are left alone, since what they start
; would stay on one CPU as well, and so are those that have called a few times only, which do other work.
@calls = private global [2 x i64] zeroinitializer

define private void @put(ptr %first) {
  %member = call i32 omp_get_thread_num()
  %wide = sext i32 %member to i64
  %from = ptrtoint ptr %first to i64
  %which = xor i64 %from, %wide
  %start = mul i64 %which, CPUS_BYTES
  %cpus = getelementptr i8, ptr inttoptr (i64 CPUS to ptr), i64 %start
  %ignored = call i32 sched_setaffinity(i32 0, i64 CPUS_BYTES, ptr %cpus)
  ret void
}

; What a thread knows of itself: how often it has called, and then FEW_CALLS and the number of its CPU.
define void @settle() {
  %known = call ptr pthread_getspecific(i32 KNOWN)
  %calls = ptrtoint ptr %known to i64
  %settled = icmp uge i64 %calls, FEW_CALLS
  br i1 %settled, label %count, label %new
count:
  %place = sub i64 %calls, FEW_CALLS
  %counted = getelementptr i64, ptr @calls, i64 %place
  %before = atomicrmw add ptr %counted, i64 1 monotonic
  ret void
new:
  %python = call ptr PyGILState_GetThisThreadState()
  %foreign = icmp eq ptr %python, null
  br i1 %foreign, label %note, label %done
note:
  %more = add i64 %calls, 1
  %enough = icmp eq i64 %more, FEW_CALLS
  br i1 %enough, label %choose, label %keep
choose:
  %second = getelementptr i64, ptr @calls, i64 1
  %of_first = load atomic i64, ptr @calls monotonic, align 8
  %of_second = load atomic i64, ptr %second monotonic, align 8
  %is_second = icmp ult i64 %of_second, %of_first
  %which = zext i1 %is_second to i64
  %chosen = inttoptr i64 %which to ptr
  call void GOMP_parallel(ptr @put, ptr %chosen, i32 2, i32 0)
  %number = add i64 %which, FEW_CALLS
  %its = getelementptr i64, ptr @calls, i64 %which
  %those = atomicrmw add ptr %its, i64 FEW_CALLS monotonic
  br label %keep
keep:
  %now = phi i64 [ %more, %note ], [ %number, %choose ]
  %kept = inttoptr i64 %now to ptr
  %noted = call i32 pthread_setspecific(i32 KNOWN, ptr %kept)
  br label %done
done:
  ret void
}
