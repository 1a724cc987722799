%Range = type { i64, ptr, i64, ptr, ptr }
%Attributes = type { i64, ptr, i64, ptr, ptr, ptr }
%Frame = type { i64, ptr, ptr, ptr, i32, %Range, %Range, %Attributes }
%Extension = type { i64, i32, ptr, ptr }
%Version = type { i64, ptr, i32, i32 }
%Metadata = type { i64, %Version }
%Buffer = type { i64, ptr, i32, ptr }
%Scalar = type { i32, ptr }
%Api = type { i64, ptr, %Version, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
%Error = type { i64, ptr, ptr, i32 }

define private ptr @error(ptr %frame, ptr %message, i32 %code) {
  %args = alloca %Error
  store %Error { i64 28, ptr null, ptr null, i32 0 }, ptr %args
  %text = getelementptr %Error, ptr %args, i32 0, i32 2
  store ptr %message, ptr %text
  %number = getelementptr %Error, ptr %args, i32 0, i32 3
  store i32 %code, ptr %number
  %at = getelementptr %Frame, ptr %frame, i32 0, i32 2
  %api = load ptr, ptr %at
  %create = getelementptr %Api, ptr %api, i32 0, i32 4
  %fn = load ptr, ptr %create
  %made = call ptr %fn(ptr %args)
  ret ptr %made
}

define private ptr @plan(ptr %frame) {
  %at = getelementptr %Frame, ptr %frame, i32 0, i32 7, i32 5
  %attributes = load ptr, ptr %at
  %scalar = load ptr, ptr %attributes
  %value_at = getelementptr %Scalar, ptr %scalar, i32 0, i32 1
  %value = load ptr, ptr %value_at
  %key = load i64, ptr %value
  %chain = and i64 %key, CHAIN_MASK
  %head = getelementptr ptr, ptr inttoptr (i64 TABLE to ptr), i64 %chain
  br label %next
next:
  %from = phi ptr [ %head, %0 ], [ %link, %other ]
  %plan = load ptr, ptr %from
  %none = icmp eq ptr %plan, null
  br i1 %none, label %done, label %some
some:
  %its_key = load i64, ptr %plan
  %same = icmp eq i64 %its_key, %key
  br i1 %same, label %done, label %other
other:
  %link = getelementptr i64, ptr %plan, i64 1
  br label %next
done:
  ret ptr %plan
}

define private ptr @data(ptr %frame, i64 %index, i64 %offset) {
  %n_at = getelementptr %Frame, ptr %frame, i32 0, i32 5, i32 2
  %n = load i64, ptr %n_at
  %is_result = icmp sge i64 %index, %n
  %less = sub i64 %index, %n
  %place = select i1 %is_result, i64 %less, i64 %index
  %arguments = getelementptr %Frame, ptr %frame, i32 0, i32 5, i32 4
  %results = getelementptr %Frame, ptr %frame, i32 0, i32 6, i32 4
  %side = select i1 %is_result, ptr %results, ptr %arguments
  %buffers = load ptr, ptr %side
  %buffer_at = getelementptr ptr, ptr %buffers, i64 %place
  %buffer = load ptr, ptr %buffer_at
  %data_at = getelementptr %Buffer, ptr %buffer, i32 0, i32 3
  %data = load ptr, ptr %data_at
  %start = getelementptr i8, ptr %data, i64 %offset
  ret ptr %start
}

define private i1 @asked(ptr %frame) {
  %extension_at = getelementptr %Frame, ptr %frame, i32 0, i32 1
  %extension = load ptr, ptr %extension_at
  %is_call = icmp eq ptr %extension, null
  br i1 %is_call, label %call, label %extended
extended:
  %type_at = getelementptr %Extension, ptr %extension, i32 0, i32 1
  %type = load i32, ptr %type_at
  %is_question = icmp eq i32 %type, 1
  br i1 %is_question, label %answer, label %call
answer:
  %metadata_at = getelementptr %Extension, ptr %extension, i32 0, i32 3
  %metadata = load ptr, ptr %metadata_at
  %major = getelementptr %Metadata, ptr %metadata, i32 0, i32 1, i32 2
  store i32 0, ptr %major
  %minor = getelementptr %Metadata, ptr %metadata, i32 0, i32 1, i32 3
  store i32 3, ptr %minor
  ret i1 true
call:
  ret i1 false
}
