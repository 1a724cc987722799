; generated from onednn_call.c, sha256 9cc046069ab3d6215559d18bef4154a377bad30ba8a50a9f301e05cb57b514bd
; ModuleID = 'onednn_call.c'
source_filename = "onednn_call.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { ptr, ptr }
%struct.anon = type { ptr, ptr, ptr, ptr, ptr, ptr }
%struct.XLA_FFI_Error_Create_Args = type { i64, ptr, ptr, i32 }
%struct.Argument = type { i32, ptr }
%struct.XLA_FFI_CallFrame = type { i64, ptr, ptr, ptr, i32, %struct.XLA_FFI_Args, %struct.XLA_FFI_Rets, %struct.XLA_FFI_Attrs, ptr }
%struct.XLA_FFI_Args = type { i64, ptr, i64, ptr, ptr }
%struct.XLA_FFI_Rets = type { i64, ptr, i64, ptr, ptr }
%struct.XLA_FFI_Attrs = type { i64, ptr, i64, ptr, ptr, ptr }
%struct.XLA_FFI_Extension_Base = type { i64, i32, ptr }
%struct.XLA_FFI_Metadata_Extension = type { %struct.XLA_FFI_Extension_Base, ptr }
%struct.XLA_FFI_Metadata = type { i64, %struct.XLA_FFI_Api_Version, i32, %struct.XLA_FFI_TypeId }
%struct.XLA_FFI_Api_Version = type { i64, ptr, i32, i32 }
%struct.XLA_FFI_TypeId = type { i64 }
%struct.XLA_FFI_Scalar = type { i32, ptr }
%struct.Plan = type { i64, ptr, [0 x i64] }
%struct.XLA_FFI_Api = type { i64, ptr, %struct.XLA_FFI_Api_Version, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
%struct.Step = type { ptr, i64, [0 x %struct.Operand] }
%struct.Operand = type { i64, ptr, i64, i64 }
%struct.XLA_FFI_Buffer = type { i64, ptr, i32, ptr, i64, ptr }

@.str = private unnamed_addr constant [47 x i8] c"a convolution that this process has no plan of\00", align 1
@one_at_a_time = internal global %union.pthread_mutex_t zeroinitializer, align 8
@.str.1 = private unnamed_addr constant [30 x i8] c"a convolution of oneDNN fails\00", align 1
@plans = local_unnamed_addr global [4096 x ptr] zeroinitializer, align 16
@onednn = local_unnamed_addr global %struct.anon zeroinitializer, align 8

; Function Attrs: nounwind uwtable(sync)
define ptr @call(ptr nocapture noundef readonly %0) local_unnamed_addr #0 {
  %2 = alloca %struct.XLA_FFI_Error_Create_Args, align 8
  %3 = alloca [4 x %struct.Argument], align 16
  %4 = alloca %struct.XLA_FFI_Error_Create_Args, align 8
  %5 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 1
  %6 = load ptr, ptr %5, align 8, !tbaa !5
  %7 = icmp eq ptr %6, null
  br i1 %7, label %17, label %8

8:                                                ; preds = %1
  %9 = getelementptr inbounds %struct.XLA_FFI_Extension_Base, ptr %6, i64 0, i32 1
  %10 = load i32, ptr %9, align 8, !tbaa !15
  %11 = icmp eq i32 %10, 1
  br i1 %11, label %12, label %17

12:                                               ; preds = %8
  %13 = getelementptr inbounds %struct.XLA_FFI_Metadata_Extension, ptr %6, i64 0, i32 1
  %14 = load ptr, ptr %13, align 8, !tbaa !17
  %15 = getelementptr inbounds %struct.XLA_FFI_Metadata, ptr %14, i64 0, i32 1, i32 2
  store i32 0, ptr %15, align 8, !tbaa !19
  %16 = getelementptr inbounds %struct.XLA_FFI_Metadata, ptr %14, i64 0, i32 1, i32 3
  store i32 3, ptr %16, align 4, !tbaa !21
  br label %149

17:                                               ; preds = %8, %1
  %18 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 7, i32 5
  %19 = load ptr, ptr %18, align 8, !tbaa !22
  %20 = load ptr, ptr %19, align 8, !tbaa !23
  %21 = getelementptr inbounds %struct.XLA_FFI_Scalar, ptr %20, i64 0, i32 1
  %22 = load ptr, ptr %21, align 8, !tbaa !24
  %23 = load i64, ptr %22, align 8, !tbaa !26
  %24 = and i64 %23, 4095
  %25 = getelementptr inbounds [4096 x ptr], ptr @plans, i64 0, i64 %24
  %26 = load ptr, ptr %25, align 8, !tbaa !23
  %27 = icmp eq ptr %26, null
  br i1 %27, label %36, label %28

28:                                               ; preds = %17, %32
  %29 = phi ptr [ %34, %32 ], [ %26, %17 ]
  %30 = load i64, ptr %29, align 8, !tbaa !26
  %31 = icmp eq i64 %30, %23
  br i1 %31, label %45, label %32

32:                                               ; preds = %28
  %33 = getelementptr inbounds %struct.Plan, ptr %29, i64 0, i32 1
  %34 = load ptr, ptr %33, align 8, !tbaa !23
  %35 = icmp eq ptr %34, null
  br i1 %35, label %36, label %28, !llvm.loop !27

36:                                               ; preds = %32, %17
  call void @llvm.lifetime.start.p0(i64 32, ptr nonnull %4) #3
  store i64 32, ptr %4, align 8, !tbaa !29
  %37 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %4, i64 0, i32 1
  store ptr null, ptr %37, align 8, !tbaa !31
  %38 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %4, i64 0, i32 2
  store ptr @.str, ptr %38, align 8, !tbaa !32
  %39 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %4, i64 0, i32 3
  store i32 5, ptr %39, align 8, !tbaa !33
  %40 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 2
  %41 = load ptr, ptr %40, align 8, !tbaa !34
  %42 = getelementptr inbounds %struct.XLA_FFI_Api, ptr %41, i64 0, i32 4
  %43 = load ptr, ptr %42, align 8, !tbaa !35
  %44 = call ptr %43(ptr noundef nonnull %4) #3
  call void @llvm.lifetime.end.p0(i64 32, ptr nonnull %4) #3
  br label %149

45:                                               ; preds = %28
  %46 = getelementptr inbounds %struct.Plan, ptr %29, i64 0, i32 2
  %47 = load i64, ptr %46, align 8, !tbaa !26
  %48 = icmp eq i64 %47, 0
  %49 = getelementptr inbounds %struct.Plan, ptr %29, i64 2
  br i1 %48, label %52, label %50

50:                                               ; preds = %45
  %51 = tail call i32 @pthread_mutex_lock(ptr noundef nonnull @one_at_a_time) #3
  br label %52

52:                                               ; preds = %50, %45
  %53 = getelementptr inbounds %struct.Plan, ptr %29, i64 1, i32 1
  %54 = load i64, ptr %53, align 8, !tbaa !26
  %55 = icmp sgt i64 %54, 0
  br i1 %55, label %56, label %60

56:                                               ; preds = %52
  %57 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 5, i32 2
  %58 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 6, i32 4
  %59 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 5, i32 4
  br label %62

60:                                               ; preds = %129, %52
  %61 = phi i1 [ true, %52 ], [ %135, %129 ]
  br i1 %48, label %139, label %137

62:                                               ; preds = %56, %129
  %63 = phi i64 [ 0, %56 ], [ %132, %129 ]
  %64 = phi ptr [ %49, %56 ], [ %131, %129 ]
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %3) #3
  %65 = getelementptr inbounds %struct.Step, ptr %64, i64 0, i32 1
  %66 = load i64, ptr %65, align 8, !tbaa !26
  %67 = icmp sgt i64 %66, 0
  br i1 %67, label %68, label %106

68:                                               ; preds = %62, %82
  %69 = phi i64 [ %101, %82 ], [ 0, %62 ]
  %70 = getelementptr inbounds %struct.Step, ptr %64, i64 0, i32 2, i64 %69
  %71 = getelementptr inbounds %struct.Step, ptr %64, i64 0, i32 2, i64 %69, i32 2
  %72 = load i64, ptr %71, align 8, !tbaa !37
  %73 = load i64, ptr %57, align 8, !tbaa !39
  %74 = icmp sgt i64 %73, %72
  br i1 %74, label %75, label %78

75:                                               ; preds = %68
  %76 = load ptr, ptr %59, align 8, !tbaa !40
  %77 = getelementptr inbounds ptr, ptr %76, i64 %72
  br label %82

78:                                               ; preds = %68
  %79 = load ptr, ptr %58, align 8, !tbaa !41
  %80 = sub nsw i64 %72, %73
  %81 = getelementptr inbounds ptr, ptr %79, i64 %80
  br label %82

82:                                               ; preds = %78, %75
  %83 = phi ptr [ %77, %75 ], [ %81, %78 ]
  %84 = load ptr, ptr %83, align 8, !tbaa !23
  %85 = getelementptr inbounds %struct.XLA_FFI_Buffer, ptr %84, i64 0, i32 3
  %86 = load ptr, ptr %85, align 8, !tbaa !42
  %87 = getelementptr inbounds %struct.Step, ptr %64, i64 0, i32 2, i64 %69, i32 3
  %88 = load i64, ptr %87, align 8, !tbaa !44
  %89 = getelementptr inbounds i8, ptr %86, i64 %88
  %90 = load i64, ptr %70, align 8, !tbaa !45
  %91 = trunc i64 %90 to i32
  %92 = getelementptr inbounds [4 x %struct.Argument], ptr %3, i64 0, i64 %69
  store i32 %91, ptr %92, align 16, !tbaa !46
  %93 = load ptr, ptr @onednn, align 8, !tbaa !48
  %94 = getelementptr inbounds [4 x %struct.Argument], ptr %3, i64 0, i64 %69, i32 1
  %95 = getelementptr inbounds %struct.Step, ptr %64, i64 0, i32 2, i64 %69, i32 1
  %96 = load ptr, ptr %95, align 8, !tbaa !50
  %97 = load ptr, ptr getelementptr inbounds (%struct.anon, ptr @onednn, i64 0, i32 4), align 8, !tbaa !51
  %98 = call i32 %93(ptr noundef nonnull %94, ptr noundef %96, ptr noundef %97, ptr noundef %89) #3
  %99 = icmp eq i32 %98, 0
  %100 = zext i1 %99 to i64
  %101 = add nuw nsw i64 %69, %100
  %102 = load i64, ptr %65, align 8, !tbaa !26
  %103 = icmp slt i64 %101, %102
  %104 = and i1 %99, %103
  br i1 %104, label %68, label %105, !llvm.loop !52

105:                                              ; preds = %82
  br i1 %99, label %106, label %117

106:                                              ; preds = %105, %62
  %107 = phi i64 [ %101, %105 ], [ 0, %62 ]
  %108 = load ptr, ptr getelementptr inbounds (%struct.anon, ptr @onednn, i64 0, i32 2), align 8, !tbaa !53
  %109 = load ptr, ptr %64, align 8, !tbaa !23
  %110 = load ptr, ptr getelementptr inbounds (%struct.anon, ptr @onednn, i64 0, i32 5), align 8, !tbaa !54
  %111 = trunc i64 %107 to i32
  %112 = call i32 %108(ptr noundef %109, ptr noundef %110, i32 noundef %111, ptr noundef nonnull %3) #3
  %113 = load ptr, ptr getelementptr inbounds (%struct.anon, ptr @onednn, i64 0, i32 3), align 8, !tbaa !55
  %114 = load ptr, ptr getelementptr inbounds (%struct.anon, ptr @onednn, i64 0, i32 5), align 8, !tbaa !54
  %115 = call i32 %113(ptr noundef %114) #3
  %116 = or i32 %115, %112
  br label %117

117:                                              ; preds = %106, %105
  %118 = phi i64 [ %101, %105 ], [ %107, %106 ]
  %119 = phi i32 [ %98, %105 ], [ %116, %106 ]
  %120 = icmp sgt i64 %118, 0
  br i1 %120, label %121, label %129

121:                                              ; preds = %117, %121
  %122 = phi i64 [ %124, %121 ], [ %118, %117 ]
  %123 = load ptr, ptr getelementptr inbounds (%struct.anon, ptr @onednn, i64 0, i32 1), align 8, !tbaa !56
  %124 = add nsw i64 %122, -1
  %125 = getelementptr inbounds [4 x %struct.Argument], ptr %3, i64 0, i64 %124, i32 1
  %126 = load ptr, ptr %125, align 8, !tbaa !57
  %127 = call i32 %123(ptr noundef %126) #3
  %128 = icmp ugt i64 %122, 1
  br i1 %128, label %121, label %129, !llvm.loop !58

129:                                              ; preds = %121, %117
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %3) #3
  %130 = load i64, ptr %65, align 8, !tbaa !26
  %131 = getelementptr inbounds %struct.Step, ptr %64, i64 0, i32 2, i64 %130
  %132 = add nuw nsw i64 %63, 1
  %133 = load i64, ptr %53, align 8, !tbaa !26
  %134 = icmp slt i64 %132, %133
  %135 = icmp eq i32 %119, 0
  %136 = select i1 %134, i1 %135, i1 false
  br i1 %136, label %62, label %60, !llvm.loop !59

137:                                              ; preds = %60
  %138 = call i32 @pthread_mutex_unlock(ptr noundef nonnull @one_at_a_time) #3
  br label %139

139:                                              ; preds = %137, %60
  br i1 %61, label %149, label %140

140:                                              ; preds = %139
  call void @llvm.lifetime.start.p0(i64 32, ptr nonnull %2) #3
  store i64 32, ptr %2, align 8, !tbaa !29
  %141 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %2, i64 0, i32 1
  store ptr null, ptr %141, align 8, !tbaa !31
  %142 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %2, i64 0, i32 2
  store ptr @.str.1, ptr %142, align 8, !tbaa !32
  %143 = getelementptr inbounds %struct.XLA_FFI_Error_Create_Args, ptr %2, i64 0, i32 3
  store i32 13, ptr %143, align 8, !tbaa !33
  %144 = getelementptr inbounds %struct.XLA_FFI_CallFrame, ptr %0, i64 0, i32 2
  %145 = load ptr, ptr %144, align 8, !tbaa !34
  %146 = getelementptr inbounds %struct.XLA_FFI_Api, ptr %145, i64 0, i32 4
  %147 = load ptr, ptr %146, align 8, !tbaa !35
  %148 = call ptr %147(ptr noundef nonnull %2) #3
  call void @llvm.lifetime.end.p0(i64 32, ptr nonnull %2) #3
  br label %149

149:                                              ; preds = %12, %36, %139, %140
  %150 = phi ptr [ null, %12 ], [ %44, %36 ], [ %148, %140 ], [ null, %139 ]
  ret ptr %150
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: nounwind
declare i32 @pthread_mutex_lock(ptr noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: nounwind
declare i32 @pthread_mutex_unlock(ptr noundef) local_unnamed_addr #2

attributes #0 = { nounwind uwtable(sync) "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "tune-cpu"="generic" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "tune-cpu"="generic" }
attributes #3 = { nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.ident = !{!4}

!0 = !{i32 7, !"Dwarf Version", i32 4}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 8, !"PIC Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 1}
!4 = !{!"clang version 18.1.6 (https://github.com/ziglang/zig-bootstrap 98bc6bf4fc4009888d33941daf6b600d20a42a56)"}
!5 = !{!6, !10, i64 8}
!6 = !{!"XLA_FFI_CallFrame", !7, i64 0, !10, i64 8, !10, i64 16, !10, i64 24, !11, i64 32, !12, i64 40, !13, i64 80, !14, i64 120, !10, i64 168}
!7 = !{!"long", !8, i64 0}
!8 = !{!"omnipotent char", !9, i64 0}
!9 = !{!"Simple C/C++ TBAA"}
!10 = !{!"any pointer", !8, i64 0}
!11 = !{!"int", !8, i64 0}
!12 = !{!"XLA_FFI_Args", !7, i64 0, !10, i64 8, !7, i64 16, !10, i64 24, !10, i64 32}
!13 = !{!"XLA_FFI_Rets", !7, i64 0, !10, i64 8, !7, i64 16, !10, i64 24, !10, i64 32}
!14 = !{!"XLA_FFI_Attrs", !7, i64 0, !10, i64 8, !7, i64 16, !10, i64 24, !10, i64 32, !10, i64 40}
!15 = !{!16, !11, i64 8}
!16 = !{!"XLA_FFI_Extension_Base", !7, i64 0, !11, i64 8, !10, i64 16}
!17 = !{!18, !10, i64 24}
!18 = !{!"XLA_FFI_Metadata_Extension", !16, i64 0, !10, i64 24}
!19 = !{!20, !11, i64 16}
!20 = !{!"XLA_FFI_Api_Version", !7, i64 0, !10, i64 8, !11, i64 16, !11, i64 20}
!21 = !{!20, !11, i64 20}
!22 = !{!6, !10, i64 160}
!23 = !{!10, !10, i64 0}
!24 = !{!25, !10, i64 8}
!25 = !{!"XLA_FFI_Scalar", !11, i64 0, !10, i64 8}
!26 = !{!7, !7, i64 0}
!27 = distinct !{!27, !28}
!28 = !{!"llvm.loop.mustprogress"}
!29 = !{!30, !7, i64 0}
!30 = !{!"XLA_FFI_Error_Create_Args", !7, i64 0, !10, i64 8, !10, i64 16, !11, i64 24}
!31 = !{!30, !10, i64 8}
!32 = !{!30, !10, i64 16}
!33 = !{!30, !11, i64 24}
!34 = !{!6, !10, i64 16}
!35 = !{!36, !10, i64 48}
!36 = !{!"XLA_FFI_Api", !7, i64 0, !10, i64 8, !20, i64 16, !10, i64 40, !10, i64 48, !10, i64 56, !10, i64 64, !10, i64 72, !10, i64 80, !10, i64 88, !10, i64 96, !10, i64 104, !10, i64 112, !10, i64 120, !10, i64 128, !10, i64 136, !10, i64 144, !10, i64 152, !10, i64 160, !10, i64 168, !10, i64 176, !10, i64 184}
!37 = !{!38, !7, i64 16}
!38 = !{!"", !7, i64 0, !10, i64 8, !7, i64 16, !7, i64 24}
!39 = !{!6, !7, i64 56}
!40 = !{!6, !10, i64 72}
!41 = !{!6, !10, i64 112}
!42 = !{!43, !10, i64 24}
!43 = !{!"XLA_FFI_Buffer", !7, i64 0, !10, i64 8, !11, i64 16, !10, i64 24, !7, i64 32, !10, i64 40}
!44 = !{!38, !7, i64 24}
!45 = !{!38, !7, i64 0}
!46 = !{!47, !11, i64 0}
!47 = !{!"", !11, i64 0, !10, i64 8}
!48 = !{!49, !10, i64 0}
!49 = !{!"", !10, i64 0, !10, i64 8, !10, i64 16, !10, i64 24, !10, i64 32, !10, i64 40}
!50 = !{!38, !10, i64 8}
!51 = !{!49, !10, i64 32}
!52 = distinct !{!52, !28}
!53 = !{!49, !10, i64 16}
!54 = !{!49, !10, i64 40}
!55 = !{!49, !10, i64 24}
!56 = !{!49, !10, i64 8}
!57 = !{!47, !10, i64 8}
!58 = distinct !{!58, !28}
!59 = distinct !{!59, !28}
