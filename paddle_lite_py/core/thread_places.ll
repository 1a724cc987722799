; Each thread that calls OpenMP has a team with one more thread, which is to run on the other CPU. A caller knows of
; itself the number of its team's thread, and on which of the two CPUs it was when it last called.
%Known = type { i32, i32 }

define private void @tell(ptr %known) {
  %member = call i32 omp_get_thread_num()
  %is_caller = icmp eq i32 %member, 0
  br i1 %is_caller, label %done, label %other
other:
  %number = call i32 gettid()
  store i32 %number, ptr %known
  br label %done
done:
  ret void
}

define void @settle() {
  %found = call ptr pthread_getspecific(i32 KNOWN)
  %new = icmp eq ptr %found, null
  br i1 %new, label %meet, label %look
meet:
  %made = call ptr malloc(i64 8)
  store %Known { i32 0, i32 -1 }, ptr %made
  %noted = call i32 pthread_setspecific(i32 KNOWN, ptr %made)
  call void GOMP_parallel(ptr @tell, ptr %made, i32 2, i32 0)
  br label %look
look:
  %known = phi ptr [ %found, %0 ], [ %made, %meet ]
  %number = load i32, ptr %known
  %last_at = getelementptr %Known, ptr %known, i32 0, i32 1
  %last = load i32, ptr %last_at
  %cpu = call i32 sched_getcpu()
  %stays = icmp eq i32 %cpu, %last
  %alone = icmp eq i32 %number, 0
  %nothing = or i1 %alone, %stays
  br i1 %nothing, label %done, label %follow
follow:
  store i32 %cpu, ptr %last_at
  %is_first = icmp eq i32 %cpu, FIRST
  %start = select i1 %is_first, i64 CPUS_BYTES, i64 0
  %cpus = getelementptr i8, ptr inttoptr (i64 CPUS to ptr), i64 %start
  %ignored = call i32 sched_setaffinity(i32 %number, i64 CPUS_BYTES, ptr %cpus)
  br label %done
done:
  ret void
}
